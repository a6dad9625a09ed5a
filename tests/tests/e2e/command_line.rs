//! The command line where it decides who may use what: against a real bridge and a real server.

use std::fs;
use std::path::Path;

use harbor_tests::double::Double;
use harbor_tests::{Bridge, Home, LIMIT, Terminal, programs, wait_until};
use serde_json::{Value, json};

const ORIGIN: &str = "https://a.example";

/// What `harbor` with these arguments printed on stdout and on stderr, and its exit code.
fn harbor(home: &Home, args: &[&str]) -> (String, String, Option<i32>) {
    let output = home.command("harbor").args(args).output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (text(output.stdout), text(output.stderr), output.status.code())
}

/// Stdout of one that did what was asked for.
fn done(home: &Home, args: &[&str]) -> String {
    let (out, err, code) = harbor(home, args);
    assert_eq!((code, err.as_str()), (Some(0), ""), "{args:?}");
    out
}

/// Stderr and exit code of one that did not.
fn refused(home: &Home, args: &[&str]) -> (String, Option<i32>) {
    let (out, err, code) = harbor(home, args);
    assert_eq!(out, "", "{args:?}");
    (err, code)
}

#[test]
fn data_that_a_removed_server_left_is_told_and_can_be_deleted() {
    let home = Home::new();
    let bridge = Bridge::start(&home);
    assert!(bridge.is_alive(), "the commands find it");
    let (add, data) = (["add", "s", "--no-start", "--", "/bin/true"], home.path().join("servers/s/data"));
    let added = "added s\nit starts when it is used; start it now: `harbor start s`\n";
    assert_eq!(done(&home, &add), added);
    assert_eq!(done(&home, &["remove", "s"]), "removed s\n");

    fs::create_dir_all(data.join(".local")).unwrap();
    assert_eq!(
        done(&home, &["--json", "add", "other", "--no-start", "--", "/bin/true"]).matches("old_data").count(),
        0
    );
    let (out, remark, code) = harbor(&home, &["add", "s", "--no-start", "--keep-data", "--", "/bin/true"]);
    let named = format!(
        "s: it uses the data of an earlier server of this name, in {}; `harbor remove s --data` ",
        data.display()
    );
    assert!(out == added && remark.starts_with(&named) && code == Some(0), "{remark}");
    assert_eq!(done(&home, &add), added.replacen("added", "replaced", 1), "they are its own by now");
    let (out, remark, _) = harbor(&home, &["remove", "s"]);
    assert!(
        out == "removed s\n" && remark.starts_with(&format!("s: its data stays in {}; ", data.display()))
    );
    assert!(data.join(".local").is_dir());
    // Who does not say so begins without them.
    let (out, remark, _) = harbor(&home, &add);
    let (_, aside) = remark.split_once("is set aside in ").unwrap();
    let aside = Path::new(aside.split(". ").next().unwrap());
    assert!(out == added && aside.join(".local").is_dir() && !data.exists(), "{remark}");

    let removed = "removed s and its data\n";
    assert_eq!(done(&home, &["remove", "s", "--data"]), removed);
    assert!(!data.parent().unwrap().exists());
    fs::create_dir_all(&data).unwrap();
    assert_eq!(refused(&home, &["remove", "s"]).1, Some(4), "there is no server");
    assert_eq!(done(&home, &["remove", "s", "--data"]), removed);
    assert!(!data.parent().unwrap().exists(), "also an empty one goes");
    fs::create_dir_all(data.with_extension("old").join("rest")).unwrap();
    assert_eq!(done(&home, &["remove", "s", "--data"]), removed);
    assert!(!data.parent().unwrap().exists(), "also what an earlier removal has left");
    let (said, code) = refused(&home, &["remove", "s", "--data"]);
    assert!(
        said.starts_with("harbor: there is no server s, and no data of one\n") && code == Some(4),
        "{said}"
    );
    assert_eq!(done(&home, &add), added);
    fs::create_dir_all(data.join(".local")).unwrap();
    assert_eq!(done(&home, &["remove", "--data", "s"]), removed);
    assert!(!data.exists());
    assert_eq!(done(&home, &add), added);

    // A person at a terminal is asked; nobody is who said what they want.
    let remove = |more: &[&str]| {
        fs::create_dir_all(data.join(".local")).unwrap();
        Terminal::start(home.command("harbor").args(["remove", "s"]).args(more))
    };
    let mut terminal = remove(&[]);
    terminal.wait_for("[y/d/N]");
    terminal.press("n\r");
    assert!(terminal.last_words().contains("nothing was removed") && data.exists());
    let mut terminal = remove(&[]);
    terminal.wait_for("[y/d/N]");
    terminal.press("y\r");
    assert!(terminal.last_words().contains("its data stays in") && data.exists());
    harbor(&home, &add);
    let mut terminal = remove(&[]);
    terminal.wait_for("[y/d/N]");
    terminal.press("d\r");
    terminal.wait_for("removed s and its data");
    assert!(terminal.end().0 == 0 && !data.exists());
    harbor(&home, &add);
    let mut terminal = remove(&["--keep-data"]);
    assert!(terminal.last_words().contains("its data stays in") && !terminal.text().contains("[y/d/N]"));
}

#[test]
fn a_sandbox_is_changed_in_the_words_of_the_command_line() {
    let home = Home::new();
    let bridge = Bridge::start(&home);
    bridge.add_and_connect("s", &Double::sound(&home));
    let pid = bridge.server("s")["pid"].clone();
    let shown = done(&home, &["sandbox", "s"]);
    let same = |args: &[&str], said: &str| {
        let wanted = (shown.clone(), format!("{said}nothing changed\n"), Some(0));
        assert_eq!(harbor(&home, &[&["sandbox", "s"], args].concat()), wanted, "{args:?}");
        assert_eq!(bridge.server("s")["pid"], pid, "{args:?}");
    };
    same(&["--forget", "/unknown"], "/unknown was not granted\n");
    same(&["--reset", "memory", "--reset", "network"], "");
    let (said, code) = refused(&home, &["sandbox", "s", "--memory", "0"]);
    assert_eq!((said.as_str(), code), ("harbor: --memory must be 64 to 1048576 MiB\n", Some(2)));
    let (said, code) = refused(&home, &["sandbox", "s", "--sandbox", "off", "--read", "/etc"]);
    assert!(said.starts_with("harbor: /etc is never granted as a whole") && code == Some(2), "{said}");
    assert_eq!(bridge.server("s")["pid"], pid);

    let changed = |args: &[&str]| harbor(&home, &[&["sandbox", "s"], args].concat());
    let (out, said, code) = changed(&["--host", "example.com"]);
    assert!(out.contains("network  hosts: example.com\n"), "{out}");
    assert_eq!((said.as_str(), code), ("s is being restarted with this\n", Some(0)));
    assert_eq!(changed(&["--host", "example.com"]).1, "nothing changed\n");
    let (out, said, _) = changed(&["--reset", "network"]);
    assert!(out.contains("network  all\n"), "{out}");
    assert_eq!(said, "s is being restarted with this\n", "its hosts went with it");
}

#[test]
fn how_a_server_is_supervised_is_changed_while_it_runs() {
    let home = Home::new();
    let mut bridge = Bridge::start(&home);
    bridge.add_and_connect("s", &Double::sound(&home));
    bridge.call("add_server", &Double::sound(&home).manual().definition("other")).unwrap();
    let pid = bridge.server("s")["pid"].clone();
    let by_default = "manual      no\nauto-start  no\n";
    let shown = done(&home, &["set", "s"]);
    assert!(shown.starts_with(&format!("label       s\n{by_default}")), "{shown}");

    assert!(bridge.tool("other", "echo", &json!({})).is_err(), "no call starts it");
    bridge.watch_host();
    let set = done(&home, &["set", "other", "--no-manual", "--label", "The other", "--reset", "auto-start"]);
    assert!(set.starts_with("label       The other\nmanual      no\nauto-start  no\n"), "{set}");
    let _ = bridge.wait_for_push("tools_changed", LIMIT, |push| push["server_id"] == "other");
    assert_eq!(bridge.tool_text("other", "echo", &json!({"a": 1})), r#"{"a":1}"#, "a call starts it now");

    let (out, said, code) =
        harbor(&home, &["set", "s", "--eof-grace", "0.5", "--restart", "never", "--auto-start"]);
    assert!(
        out.contains("auto-start  yes\n") && out.contains("  --eof-grace 0.5\n  --restart never\n"),
        "{out}"
    );
    assert_eq!(
        (said.as_str(), code),
        ("--eof-grace: takes effect at the next start: `harbor restart s`\n", Some(0))
    );
    assert_eq!(bridge.server("s")["pid"], pid, "it goes on running");
    for (args, said) in [
        (&["set", "s", "--manual", "--no-manual"][..], "'--manual' cannot be used with '--no-manual'"),
        (&["set", "s", "--reset", "color"], "[possible values: label, restart,"),
    ] {
        let (told, code) = refused(&home, args);
        assert!(told.starts_with("harbor: ") && told.contains(said) && code == Some(2), "{told}");
    }
    assert_eq!(refused(&home, &["set", "nobody", "--manual"]).1, Some(4));

    // What a server that runs can take over at once, it does.
    bridge.watch();
    done(&home, &["set", "s", "--idle-stop", "1"]);
    let _ = bridge.wait_for_event(|event| event["server_id"] == "s" && event["new_state"] == "stopped");
    assert!(bridge.stop().success());
    let bridge = Bridge::start(&home);
    wait_until("it starts with the bridge", LIMIT, || bridge.server("s")["state"] == "running");
    assert_eq!(bridge.server("other")["label"], "The other");
    let audit = fs::read_to_string(home.path().join("logs/audit.jsonl")).unwrap();
    assert_eq!(audit.matches("\"set_supervision\"").count(), 3);
}

#[test]
fn one_tool_is_shown_whole_and_a_value_of_another_type_is_told_how_to_type_it() {
    let home = Home::new();
    let bridge = Bridge::start(&home);
    let tool = json!([{"name": "count", "description": "Counts.\nA lot.", "annotations": {"readOnlyHint": true},
        "inputSchema": {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}}]);
    bridge.add_and_connect("s", &Double::sound(&home).offering(&tool.to_string()));
    let shown = done(&home, &["tools", "s/count"]);
    assert!(
        shown.starts_with(
            "s/count\n\nCounts.\nA lot.\n\nannotations\n{\n  \"readOnlyHint\": true\n}\n\narguments\n"
        ),
        "{shown}"
    );
    let json: Value = serde_json::from_str(&done(&home, &["tools", "s/count", "--json"])).unwrap();
    assert_eq!(json, tool[0]);
    let (said, code) = refused(&home, &["tools", "s/cont"]);
    assert!(
        said.starts_with("harbor: there is no tool s/cont; did you mean count?\n") && code == Some(4),
        "{said}"
    );
    let (said, code) = refused(&home, &["tools", "s/count", "--changed"]);
    assert!(
        said.starts_with("harbor: --changed goes with a server: leave /count out\n") && code == Some(2),
        "{said}"
    );
    // What fits the schema as JSON is sent as that; what does not is refused.
    assert_eq!(done(&home, &["call", "s/count", "n=1"]), "{\"n\":1}\n");
    let (said, code) = refused(&home, &["call", "s/count", "n=one"]);
    assert!(
        said.contains(
            "\n`n:=VALUE` gives a value as JSON, such as n:=1; `harbor tools s/count` shows the schema"
        ),
        "{said}"
    );
    assert_eq!(code, Some(2));
}

#[test]
fn a_stopped_server_is_started_by_the_call_and_no_failure_is_counted() {
    let home = Home::new();
    let bridge = Bridge::start(&home);
    bridge.call("add_server", &Double::sound(&home).definition("s")).unwrap();
    assert_eq!(done(&home, &["call", "s/echo", "a=1"]), "{\"a\":\"1\"}\n");
    let status = bridge.call("status", &json!({})).unwrap();
    let counts = &status["status"]["servers"][0]["calls"];
    assert_eq!([&counts["calls"], &counts["failures"]], [1, 0]);
    let read = ["resources", "read", "s", "file:///no/such"];
    let _ = harbor(&home, &read);
    let audit = done(&home, &["audit"]);
    assert!(audit.contains("s: resources/read") && !audit.contains("no/such"), "{audit}");
}

#[test]
fn an_origin_may_what_was_granted_until_it_is_revoked() {
    let home = Home::new();
    let bridge = Bridge::start(&home);
    bridge.add_and_connect("s", &Double::sound(&home));
    let call = ["call", "s/echo", "{}", "--as", ORIGIN];
    let needs = "harbor: https://a.example needs permission for mcp:tools.call; ask the person for it\n\
                 `harbor grant https://a.example mcp:tools.call` allows it temporarily\n";
    assert_eq!(refused(&home, &call), (needs.to_owned(), Some(8)));

    let scope = [ORIGIN, "mcp:tools.call"];
    let granted = done(&home, &[&["grant"][..], &scope, &["--always", "--tool", "s/echo"]].concat());
    assert_eq!(granted, "https://a.example may mcp:tools.call: s/echo, always\n");
    assert_eq!(
        done(&home, &["grants"]),
        "ORIGIN             SCOPE           GRANT   TOOLS   UNTIL\n\
         https://a.example  mcp:tools.call  always  s/echo  -\n"
    );
    assert_eq!(done(&home, &call), "{}\n");
    let (said, code) = refused(&home, &["call", "s/env", "--as", ORIGIN]);
    assert!(said.contains("\n`harbor grants https://a.example` shows the tools that it may use"), "{said}");
    assert_eq!(code, Some(8));

    let denied = done(&home, &[&["grant"][..], &scope, &["--deny"]].concat());
    assert_eq!(denied, "https://a.example may not mcp:tools.call\n");
    let (said, _) = refused(&home, &call);
    assert!(said.ends_with("`harbor revoke https://a.example mcp:tools.call --deny` revokes the denial\n"));
    let revoke = [&["revoke"][..], &scope, &["--deny"]].concat();
    assert_eq!(done(&home, &revoke), "revoked mcp:tools.call of https://a.example: deny\n");
    assert_eq!(refused(&home, &revoke).1, Some(4));
    assert_eq!(done(&home, &call), "{}\n");

    let lines = done(&home, &["audit", "--origin", ORIGIN, "--since", "1h", "--json"]);
    let lines: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let told: Vec<_> = lines.iter().map(|line| (line["event"].clone(), line["code"].clone())).collect();
    let told_of = |event: &str, code: Value| (json!(event), code);
    assert_eq!(
        told,
        [
            told_of("refused", json!("ERR_SCOPE_REQUIRED")),
            told_of("grant", Value::Null),
            told_of("call", Value::Null),
            told_of("refused", json!("ERR_TOOL_NOT_ALLOWED")),
            told_of("grant", Value::Null),
            told_of("refused", json!("ERR_PERMISSION_DENIED")),
            told_of("revoke", Value::Null),
            told_of("call", Value::Null),
        ]
    );
    let stats: Value = serde_json::from_str(&done(&home, &["stats", ORIGIN, "--json"])).unwrap();
    assert_eq!((&stats["stats"]["calls"]["calls"], &stats["stats"]["grants"]), (&json!(2), &json!(1)));
}

/// What is said of a server that has just been added.
const REACHES: &str = "s: its network is unrestricted: services of this machine, the local network and the metadata of a cloud \
                       (169.254.169.254) are within reach\n\
                       s: to limit its network: `harbor sandbox s --network none`, or `--network hosts --host HOST`\n";

#[test]
fn a_tool_that_has_changed_is_shown_and_accepted() {
    let home = Home::new();
    let bridge = Bridge::start(&home);
    let program = home.scratch("server");
    fs::copy(programs::double("misbehaving-server"), &program).unwrap();
    let mut definition = Double::sound(&home).definition("s");
    definition["command"] = json!(program);
    bridge.call("add_server", &definition).unwrap();
    bridge.connect("s");
    done(&home, &["grant", ORIGIN, "mcp:tools.call"]);
    done(&home, &["grant", ORIGIN, "mcp:tools.list"]);
    let call = ["call", "s/echo", "{}", "--as", ORIGIN];
    assert_eq!(done(&home, &call), "{}\n");
    assert_eq!(
        harbor(&home, &["tools", "--changed"]),
        (String::new(), "no tool has changed\n".into(), Some(0))
    );

    // Another version of the same program, with a tool of the same name.
    fs::remove_file(&program).unwrap();
    fs::copy(programs::double("echo-server"), &program).unwrap();
    let changed = "s: 1 tool has changed since you first saw it: `harbor tools --changed s`\n";
    let told = |args: &[&str]| harbor(&home, args).1;
    let journals = home.scratch("journals");
    let gone = format!(
        "s: its earlier sandbox settings are gone; restore them: `harbor sandbox s --write {}`\n",
        journals.display()
    );
    assert_eq!(told(&["add", "s", "--", program.to_str().unwrap()]), format!("{gone}{changed}{REACHES}"));
    for args in [&["list"][..], &["tools"], &["tools", "s"], &["tools", "--as", ORIGIN], &["restart", "s"]] {
        let said = told(args);
        assert!(said.ends_with(changed), "{args:?}: {said}");
    }
    assert_eq!((told(&["list", "--json"]), told(&["start", "s", "--json"])), (String::new(), String::new()));
    assert_eq!(bridge.server("s")["changed_tools"], 1);
    let (said, code) = refused(&home, &call);
    assert!(
        said.ends_with("\n`harbor tools --changed s` shows the change, and how to accept it\n"),
        "{said}"
    );
    assert_eq!(code, Some(8));
    let shown = done(&home, &["tools", "s", "--changed"]);
    let lines: Vec<_> = shown.lines().collect();
    assert_eq!(
        lines[..4],
        [
            "s/echo: has changed; origins cannot use it until you accept it",
            "  description",
            "    - The tool echo.",
            "  inputSchema"
        ]
    );
    let command = lines.last().unwrap().strip_prefix("accept it: harbor ").unwrap();
    let command: Vec<_> = command.split(' ').collect();
    assert_eq!(command[..2], ["accept", "s/echo"]);

    let stale = "0".repeat(64);
    let (said, code) = refused(&home, &["accept", "s/echo", &stale]);
    assert!(said.ends_with("\n`harbor tools --changed s` shows its present hash\n"), "{said}");
    assert_eq!(code, Some(2));
    assert_eq!(done(&home, &command), "accepted s/echo\n");
    done(&home, &call);
    assert_eq!(refused(&home, &["accept", "s"]).1, Some(4));
    assert_eq!(told(&["list"]), "");
    assert_eq!(bridge.server("s").get("changed_tools"), None);
}

#[test]
fn a_list_with_faults_is_shown_and_remarked_on() {
    let home = Home::new();
    let bridge = Bridge::start(&home);
    assert!(bridge.is_alive(), "the commands find it");
    let tools = json!([{"name": "good"}, 5, {"name": "sly", "description": "a\u{200b}b"}]);
    let double = Double::sound(&home).offering(&tools.to_string());
    let command = double.command();
    let journals = home.scratch("journals");
    let add = ["add", "s", "--write", journals.to_str().unwrap(), "--"];
    let add: Vec<_> = add.into_iter().chain(command.iter().map(String::as_str)).collect();
    let sly = "s: the texts of sly contain hidden or control characters: a model may read something there that you \
               cannot see\n";
    let none = "s: 1 items of tools/list are left out; the first because it is not an object\n";
    let added = "added s\ns is running: 2 tools (`harbor tools s`)\n".to_owned();
    assert_eq!(harbor(&home, &add), (added, format!("{none}{sly}{REACHES}"), Some(0)));
    assert_eq!(harbor(&home, &["start", "s"]).1, format!("{none}{sly}"));
    let shown = "TOOL    DESCRIPTION\ns/good\ns/sly   a\\u{200b}b\n".to_owned();
    let left_out = format!("s: 1 item of its list is not a tool and was left out\n{none}");
    for args in [&["tools", "s"][..], &["tools"]] {
        assert_eq!(harbor(&home, args), (shown.clone(), left_out.clone(), Some(0)));
    }
}

#[test]
fn for_an_origin_a_server_that_only_a_person_starts_is_not_started() {
    let home = Home::new();
    let bridge = Bridge::start(&home);
    bridge.call("add_server", &Double::sound(&home).manual().definition("s")).unwrap();
    bridge.call("add_server", &Double::sound(&home).definition("lazy")).unwrap();
    assert_eq!(
        harbor(&home, &["grants", ORIGIN]),
        (
            String::new(),
            format!("{ORIGIN} has no grants; `harbor grant {ORIGIN} SCOPE` makes one\n"),
            Some(0)
        )
    );
    let granted =
        harbor(&home, &["grant", ORIGIN, "mcp:tools.call", "--always", "--tool=s/*", "--tool=lzy/x"]);
    let warning = "warning: there is no server lzy now; did you mean lazy?\n";
    assert_eq!((granted.1.as_str(), granted.2), (warning, Some(0)));
    done(&home, &["grant", ORIGIN, "mcp:tools.call"]);
    let (said, code) = refused(&home, &["call", "s/echo", "--as", ORIGIN]);
    assert!(said.ends_with("\nstart it: `harbor start s`\n"), "{said}");
    assert_eq!(code, Some(5));
    assert_eq!(done(&home, &["call", "lazy/echo", "--as", ORIGIN]), "{}\n");
    assert_eq!(done(&home, &["call", "s/echo"]), "{}\n");
}
