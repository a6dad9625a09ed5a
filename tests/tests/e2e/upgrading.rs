//! What was locked, accepted or left behind, and is another one, gone, or somebody else's by now.

use std::fs;

use harbor_tests::npm_registry::{NpmRegistry, write_server};
use harbor_tests::said::said;
use harbor_tests::{Bridge, DOWN_LIMIT, Home, wait_until};
use serde_json::{Value, json};

/// What the disk has of the changed tools of all servers.
fn stored_changes(home: &Home) -> String {
    let database = rusqlite::Connection::open(home.path().join("harbor.db")).unwrap();
    let query = "SELECT coalesce(group_concat(shown), '') FROM changed_tools";
    database.query_row(query, [], |row| row.get(0)).unwrap_or_default()
}

#[test]
fn a_tool_that_has_changed_is_known_after_a_bridge_that_was_killed_and_compared_with_what_was_accepted() {
    let (home, registry) = (Home::new(), NpmRegistry::start());
    registry.publish(&home, "1.0.0", &["a", "b"], "first");
    let mut bridge = registry.bridge(&home);
    bridge.ask("install_server", &json!({"source": "npm:tiny"}));
    registry.publish(&home, "2.0.0", &["a", "b"], "second");
    let said = home.done(&["upgrade", "tiny", "--yes"]);
    assert!(said.contains("- first") && said.contains("+ second"), "{said}");
    wait_until("it to be on disk", DOWN_LIMIT, || stored_changes(&home).contains("second"));
    bridge.kill();
    let mut bridge = registry.bridge(&home);
    assert_eq!(
        (&bridge.server("tiny")["state"], bridge.server("tiny")["changed_tools"].as_u64()),
        (&json!("stopped"), Some(2))
    );
    let (listed, remarks, code) = home.harbor(&["tools", "tiny"]);
    assert!(listed.contains("tiny/a") && listed.contains("second") && code == Some(0), "{listed}{remarks}");
    assert!(remarks.contains("is not running") && remarks.contains("2 tools have changed"), "{remarks}");
    let shown = home.done(&["tools", "tiny", "--changed"]);
    assert!(shown.contains("- first") && shown.contains("+ second"), "{shown}");

    // The next version, too, is compared with what was accepted.
    registry.publish(&home, "3.0.0", &["a", "b"], "third");
    let said = home.done(&["upgrade", "tiny", "--yes"]);
    assert!(said.contains("- first") && said.contains("+ third") && !said.contains("new tools"), "{said}");
    assert!(said.contains("origins cannot use changed tools") && said.contains("--undo"), "{said}");
    wait_until("it to be on disk", DOWN_LIMIT, || stored_changes(&home).contains("third"));
    bridge.kill();
    let mut bridge = registry.bridge(&home);
    let accepted = home.done(&["accept", "tiny"]);
    assert!(accepted.contains("accepted tiny/a") && accepted.contains("accepted tiny/b"), "{accepted}");
    assert_eq!(stored_changes(&home), "");
    bridge.kill();
    let bridge = registry.bridge(&home);
    assert_eq!(bridge.server("tiny").get("changed_tools"), None);
    assert_eq!(home.harbor(&["tools", "tiny"]).0.matches("third").count(), 2);

    // Back at a version that was not accepted: nothing is said of it before it runs.
    let (_, remarks, _) = home.harbor(&["upgrade", "tiny", "--undo"]);
    assert!(remarks.contains("it is not running"), "{remarks}");
    assert_eq!(bridge.started_tool("tiny", "a", &json!({})), "2.0.0");
    wait_until("its change to be seen", DOWN_LIMIT, || bridge.server("tiny")["changed_tools"] == 2);
}

#[test]
fn a_locked_version_that_is_gone_is_called_that_and_an_upgrade_named() {
    let (home, registry) = (Home::new(), NpmRegistry::start());
    registry.publish(&home, "1.0.0", &["a"], "first");
    let bridge = registry.bridge(&home);
    // It lacks a secret: the version is locked, and not installed.
    let (said, ..) = home.harbor(&["install", "npm:tiny", "--secret", "API_KEY", "--yes"]);
    assert!(said.contains("the version is locked"), "{said}");
    registry.withdraw("1.0.0");
    registry.publish(&home, "2.0.0", &["a"], "first");
    let secret = json!({"server_id": "tiny", "key": "API_KEY", "value": "opensesame"});
    bridge.ask("set_credential", &secret);
    let (said, _) = home.refused(&["start", "tiny"]);
    let gone = "the locked tiny 1.0.0, or a package that it requires, is no longer available; `harbor upgrade tiny` \
                installs the current one";
    assert!(said.contains(gone), "{said}");
    // What was never installed is nothing to go back to.
    let said = home.done(&["upgrade", "tiny", "--yes"]);
    assert!(
        said.contains(
            "tiny is now 2.0.0; it cannot be undone, since the earlier version was never installed here"
        ) && !said.contains("--undo"),
        "{said}"
    );
    assert_eq!(bridge.started_tool("tiny", "a", &json!({})), "2.0.0");
}

#[test]
fn an_upgrade_says_that_a_newer_version_does_not_fit_and_goes_back_to_an_older_one_only_by_its_name() {
    let (home, registry) = (Home::new(), NpmRegistry::start());
    let publish = |version: &str, node: &str| {
        let dir = home.scratch(version);
        write_server(&dir, version, &["a"], "first");
        let engines =
            json!({"name": "tiny", "version": version, "bin": "index.js", "engines": {"node": node}});
        fs::write(dir.join("package.json"), engines.to_string()).unwrap();
        registry.publish_dir(&dir, version);
    };
    publish("1.0.0", ">=18");
    let bridge = registry.bridge(&home);
    bridge.ask("install_server", &json!({"source": "npm:tiny"}));
    publish("1.5.0", ">=18");
    publish("2.0.0", ">=99");
    let why = "2.0.0 requires Node.js >=99, which this machine does not have";
    let note = format!("1.5.0 is not the newest version: {why}");
    let upgraded = |more: &[&str]| {
        let (out, remarks, code) = home.harbor(&[&["upgrade", "tiny", "--yes"], more].concat());
        assert_eq!(code, Some(0), "{out}{remarks}");
        (out, remarks)
    };
    let (out, _) = upgraded(&[]);
    assert!(out.contains("tiny: 1.0.0 → 1.5.0\n") && out.contains(&format!("note       {note}")), "{out}");

    // What is used already, too.
    let (out, remarks) = upgraded(&[]);
    assert!(out == "tiny is 1.5.0 already\n" && remarks.contains(&note), "{out}{remarks}");
    let said: Value = serde_json::from_str(&upgraded(&["--json"]).0).unwrap();
    assert_eq!((&said["upgrade"]["after"], &said["upgrade"]["newest"]), (&json!("1.5.0"), &json!("2.0.0")));

    // Who names one has it; the next one that fits is older, and nothing goes there by itself.
    upgraded(&["--to", "2.0.0"]);
    let (said, code) = home.refused(&["upgrade", "tiny", "--yes"]);
    let refused =
        format!("tiny has 2.0.0, but the version that fits this machine now is 1.5.0, which is older: {why}");
    let back = "; `harbor upgrade tiny --to 1.5.0` goes back to it";
    assert!(said.contains(&refused) && said.contains(back) && code == Some(2), "{code:?} {said}");
    let version = |bridge: &Bridge| bridge.ask("list_installed", &json!({}))["servers"][0]["version"].clone();
    assert_eq!(version(&bridge), "2.0.0");
    let (out, _) = upgraded(&["--to", "1.5.0"]);
    assert!(out.contains("tiny is now 1.5.0"), "{out}");

    // With JSON, what was tried out says it, too; a version that is gone is no reason to go back in silence.
    bridge.ask("undo_upgrade", &json!({"server_id": "tiny"}));
    registry.withdraw("2.0.0");
    let (said, _) = home.refused(&["upgrade", "tiny", "--yes"]);
    assert!(said.contains("its registry's version now is 1.5.0, which is older; "), "{said}");
    publish("2.1.0", ">=18");
    publish("3.0.0", ">=99");
    let (out, remarks) = upgraded(&["--json"]);
    let said: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(
        (&said["upgrade"]["after"], &said["upgrade"]["newest"]),
        (&json!("2.1.0"), &json!("3.0.0")),
        "{said}"
    );
    assert!(remarks.contains("2.1.0 is not the newest version: 3.0.0 requires"), "{remarks}");
}

#[test]
fn files_of_an_earlier_server_of_that_name_are_named_before_the_question() {
    let (home, registry) = (Home::new(), NpmRegistry::start());
    registry.publish(&home, "1.0.0", &["a"], "first");
    let _bridge = registry.bridge(&home);
    let data = home.path().join("servers/tiny/data");
    fs::create_dir_all(&data).unwrap();
    fs::write(data.join("token"), "of another publisher").unwrap();
    let plan = |more: &[&str]| {
        let mut command = home.command("harbor");
        let (plan, _, code) = said(command.args(["install", "npm:tiny", "--dry-run"]).args(more));
        assert_eq!(code, Some(0), "{plan}");
        plan
    };
    let mind = |what: &str| format!("an earlier server of this name{what} in {}", data.display());
    let aside = plan(&[]);
    assert!(aside.contains(&mind(" left data")) && aside.contains("or used with `--keep-data`"), "{aside}");
    let kept = plan(&["--keep-data"]);
    assert!(
        kept.contains(&mind(", whoever published that,")) && kept.contains("`--name` gives it another name"),
        "{kept}"
    );
    let (_, remarks, code) = home.harbor(&["install", "npm:tiny", "--yes"]);
    assert!(
        remarks.contains("of an earlier server of this name is set aside in") && code == Some(0),
        "{remarks}"
    );
    assert!(!data.join("token").exists());
}

/// Publishes a server whose tool names the directory of its package and its home.
fn publish_naming(home: &Home, registry: &NpmRegistry, version: &str, words: &str) {
    let dir = home.scratch(&format!("naming-{version}"));
    write_server(&dir, version, &["a"], words);
    let script = fs::read_to_string(dir.join("index.js")).unwrap();
    let named = format!("'{words}; files in ' + __dirname + ', at home in ' + process.env.HOME");
    let other = script.replace(&json!(words).to_string(), &named);
    assert!(other.contains("__dirname"), "{script}");
    fs::write(dir.join("index.js"), other).unwrap();
    registry.publish_dir(&dir, version);
}

/// Each version has a directory of its own, and is tried out in another home than it will have.
#[test]
fn a_tool_that_names_its_directory_has_not_changed_by_an_upgrade_or_over_data_that_is_there() {
    let (home, registry) = (Home::new(), NpmRegistry::start());
    publish_naming(&home, &registry, "1.0.0", "reads");
    let mut bridge = registry.bridge(&home);
    bridge.ask("install_server", &json!({"source": "npm:tiny"}));
    let described = |bridge: &Bridge| {
        let tools = bridge.call("mcp_list_tools", &json!({"server_id": "tiny"})).unwrap();
        tools["tools"][0]["description"].as_str().unwrap().to_owned()
    };
    let place = |bridge: &Bridge| {
        let said = described(bridge);
        assert!(
            said.ends_with(&format!(" at home in {}", home.path().join("servers/tiny/data").display())),
            "{said}"
        );
        let number = said.split_once("/servers/tiny/package/").unwrap().1.split('/').next().unwrap();
        number.parse::<u32>().unwrap()
    };
    let is_same = |bridge: &Bridge, version: &str| {
        assert_eq!(bridge.started_tool("tiny", "a", &json!({})), version);
        let page = bridge.asking("https://page.example").allowed();
        assert_eq!((bridge.server("tiny").get("changed_tools"), page.tools().len()), (None, 1), "{version}");
    };
    is_same(&bridge, "1.0.0");
    let first = place(&bridge);

    publish_naming(&home, &registry, "2.0.0", "reads");
    let said = home.done(&["upgrade", "tiny", "--yes"]);
    assert!(said.contains("its tools are unchanged\ntiny is now 2.0.0"), "{said}");
    is_same(&bridge, "2.0.0");
    assert_ne!(place(&bridge), first, "it names another directory");
    bridge.kill();
    let bridge = registry.bridge(&home);
    is_same(&bridge, "2.0.0");
    let said = home.done(&["upgrade", "tiny", "--undo"]);
    assert!(!said.contains("accept"), "{said}");
    is_same(&bridge, "1.0.0");
    assert_eq!(place(&bridge), first);

    // What it says otherwise is told.
    publish_naming(&home, &registry, "3.0.0", "reads and sends");
    let said = home.done(&["upgrade", "tiny", "--yes"]);
    assert!(said.contains("changed    a") && said.contains("+ reads and sends; files in"), "{said}");
    assert_eq!(bridge.started_tool("tiny", "a", &json!({})), "3.0.0");
    wait_until("its change to be seen", DOWN_LIMIT, || bridge.server("tiny")["changed_tools"] == 1);

    // Over what an earlier server has left it is tried out apart from that, whether it gets that or not.
    for keep_data in [true, false] {
        let _ = home.done(&["remove", "tiny"]);
        assert!(home.path().join("servers/tiny/data").exists());
        bridge.ask("install_server", &json!({"source": "npm:tiny", "keep_data": keep_data}));
        is_same(&bridge, "3.0.0");
        let _ = place(&bridge);
    }
}

/// A tool that names its directory is the same one once the server runs; what the trial wrote there is not the server's.
#[test]
fn a_server_is_tried_out_in_the_directories_that_it_will_have() {
    let (home, registry) = (Home::new(), NpmRegistry::start());
    let dir = home.scratch("tiny-homely");
    write_server(&dir, "1.0.0", &["a"], "HOME");
    let script = fs::read_to_string(dir.join("index.js")).unwrap();
    assert!(script.contains("\"HOME\""), "{script}");
    let homely = "(fs => { fs.appendFileSync(process.env.HOME + '/starts', '.'); return process.env.HOME })(require('fs'))";
    fs::write(dir.join("index.js"), script.replace("\"HOME\"", homely)).unwrap();
    registry.publish_dir(&dir, "1.0.0");
    let bridge = registry.bridge(&home);
    let place = home.path().join("servers/tiny");
    // Sockets of its own are its own at the trial, too.
    let sandbox = json!({"sockets": [place.join("data")]});
    bridge.ask("install_server", &json!({"source": "npm:tiny", "sandbox": sandbox}));
    assert!(!place.join("data").exists() && !place.join("trial").exists());
    let described = |bridge: &Bridge| {
        let tools = bridge.call("mcp_list_tools", &json!({"server_id": "tiny"})).unwrap();
        tools["tools"][0]["description"].as_str().unwrap().to_owned()
    };
    bridge.ask("connect_server", &json!({"server_id": "tiny"}));
    assert_eq!(described(&bridge), place.join("data").display().to_string());
    assert_eq!(fs::read_to_string(place.join("data/starts")).unwrap(), ".");
    let page = bridge.asking("https://page.example").allowed();
    assert_eq!(page.tools().len(), 1, "it is the one that was pinned at its trial");

    // Beside a server that is there, a trial has directories of its own, and its sockets are there.
    let script = fs::read_to_string(dir.join("package.json")).unwrap();
    fs::write(dir.join("package.json"), script.replace("1.0.0", "2.0.0")).unwrap();
    registry.publish_dir(&dir, "2.0.0");
    let tried = bridge.ask("upgrade_server", &json!({"server_id": "tiny"}));
    assert_eq!(tried["upgrade"]["after"], "2.0.0");
    assert_eq!(fs::read_to_string(place.join("data/starts")).unwrap(), ".");
}
