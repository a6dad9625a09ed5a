//! Harbor in the configurations of AI clients: put in, used exactly as it stands there, taken out; and servers taken over.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use harbor_tests::bridge::shut_down_detached;
use harbor_tests::home::TEST_ID;
use harbor_tests::processes::assert_gone;
use harbor_tests::{Bridge, Client, DOWN_LIMIT, Direct, Double, Home, Process, programs, said};
use serde_json::{Value, json};

/// Each client: where its file is, and one as a person may have it.
const CLIENTS: [(&str, &str, &str); 8] = [
    (
        "claude-code",
        ".claude.json",
        "{\n  \"numStartups\": 7,\n  \"mcpServers\": {\n    \"time\": {\n      \"type\": \"stdio\",\n      \"command\": \"uvx\"\n    }\n  },\
         \n  \"projects\": {\"/home/me/x\": {\"allowedTools\": []}}\n}",
    ),
    ("claude-desktop", ".config/Claude/claude_desktop_config.json", "{\"globalShortcut\":\"\"}\n"),
    ("cursor", ".cursor/mcp.json", "{\n    \"mcpServers\": {}\n}\n"),
    (
        "vscode",
        ".config/Code/User/mcp.json",
        "{\r\n\t// mine\r\n\t\"inputs\": [],\r\n\t\"servers\": {\r\n\t\t\"a\": { \"type\": \"http\", \"url\": \"https://x\" },\r\n\t}\r\n}\r\n",
    ),
    (
        "zed",
        ".config/zed/settings.json",
        "// Zed settings\n//\n{\n  \"theme\": {\n    \"mode\": \"dark\", // at night\n  },\n  /* servers */ \"context_servers\": {\n\
         \x20   // the clock\n    \"time\": {\"command\": \"uvx\", \"args\": [\"mcp-server-time\"],}, // last\n  },\n}\n",
    ),
    ("windsurf", ".codeium/windsurf/mcp_config.json", "{ \"mcpServers\" : {\n} }"),
    ("gemini-cli", ".gemini/settings.json", "\u{feff}{\n\t\"ui\": {\"theme\": \"Ayu\"}\n}\n"),
    (
        "codex",
        ".codex/config.toml",
        "model = \"o\" # mine\n\n[mcp_servers.time]\ncommand = \"uvx\"\n\n[tui] # last\nx = 1",
    ),
];

/// The person's home, and Harbor's in it.
pub(super) struct Person {
    pub(super) home: Home,
    directory: PathBuf,
}

impl Person {
    pub(super) fn new() -> Self {
        let home = Home::new();
        let directory = home.scratch("p");
        fs::create_dir(&directory).unwrap();
        Self { home, directory }
    }

    fn path(&self, file: &str) -> PathBuf {
        self.directory.join(file)
    }

    fn write(&self, file: &str, text: &str) {
        let path = self.path(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn read(&self, file: &str) -> String {
        fs::read_to_string(self.path(file)).unwrap()
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = self.home.command("harbor");
        for name in ["XDG_CONFIG_HOME", "CLAUDE_CONFIG_DIR", "CODEX_HOME"] {
            command.env_remove(name);
        }
        command.env("HOME", &self.directory).args(args);
        command
    }

    pub(super) fn harbor(&self, args: &[&str]) -> (String, String, Option<i32>) {
        said(&mut self.command(args))
    }

    pub(super) fn done(&self, args: &[&str]) -> String {
        let (out, err, code) = self.harbor(args);
        assert_eq!(code, Some(0), "{args:?}: {out}{err}");
        out
    }

    fn refused(&self, args: &[&str]) -> String {
        let (out, err, code) = self.harbor(args);
        assert_eq!((out.as_str(), code), ("", Some(1)), "{args:?}: {err}");
        err
    }

    /// Every file and directory of the home, with what is in it.
    fn tree(&self) -> BTreeMap<PathBuf, Vec<u8>> {
        let (mut all, mut todo) = (BTreeMap::new(), vec![self.directory.clone()]);
        while let Some(directory) = todo.pop() {
            for entry in fs::read_dir(&directory).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    todo.push(path.clone());
                }
                all.insert(path.clone(), fs::read(&path).unwrap_or_default());
            }
        }
        all
    }

    /// What the entry says, as this client would read it.
    fn entry(&self, file: &str) -> Value {
        let text = self.read(file);
        let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
        let at = text.find("\"harbor\":").map(|at| at + "\"harbor\":".len());
        match at {
            Some(at) => serde_json::Deserializer::from_str(&text[at..]).into_iter().next().unwrap().unwrap(),
            None => {
                let value = |name: &str| {
                    let line = text.split("[mcp_servers.harbor]").nth(1).unwrap();
                    let line = line.lines().find_map(|line| line.strip_prefix(name)).unwrap();
                    line.trim_start_matches([' ', '=']).replace("HARBOR_HOME =", "\"HARBOR_HOME\":")
                };
                let [command, args, env] = ["command", "args", "env"]
                    .map(|name| serde_json::from_str::<Value>(&value(name)).unwrap());
                json!({"command": command, "args": args, "env": env})
            }
        }
    }
}

/// What a client does with an entry: the command, its environment, and nothing else.
fn start(entry: &Value) -> Direct {
    let mut command = Command::new(entry["command"].as_str().unwrap());
    command.env_clear().current_dir("/");
    command.args(entry["args"].as_array().unwrap().iter().map(|arg| arg.as_str().unwrap()));
    for (name, value) in entry["env"].as_object().unwrap() {
        command.env(name, value.as_str().unwrap());
    }
    Direct::start(&mut command)
}

#[test]
fn every_client_finds_harbor_as_it_stands_there_and_gets_its_file_back() {
    let person = Person::new();
    CLIENTS.iter().for_each(|(_, file, text)| person.write(file, text));
    fs::set_permissions(person.path(".codex/config.toml"), fs::Permissions::from_mode(0o644)).unwrap();
    let before = person.tree();
    let bridge = Bridge::start(&person.home);
    assert!(bridge.is_alive());
    bridge.add_and_connect("s", &Double::sound(&person.home));
    for (client, file, text) in CLIENTS {
        let said = person.done(&["mcp", "install", client, "--only", "s/echo"]);
        for part in
            [person.path(file).to_str().unwrap(), &format!("`harbor grants client://{client}`"), "s/echo"]
        {
            assert!(said.contains(part), "{client}: {said}");
        }
        let entry = person.entry(file);
        assert_eq!(entry["command"], programs::product("harbor").canonicalize().unwrap().to_str().unwrap());
        assert_eq!(entry["args"], json!(["mcp", "--client", client, "--only", "s/echo"]));
        assert_eq!(entry["env"], json!({"HARBOR_HOME": person.home.path()}));
        let typed = ["claude-code", "vscode"].contains(&client);
        assert_eq!(entry.get("type"), typed.then_some(&json!("stdio")), "{client}");

        let mut mcp = start(&entry).initialized();
        let answer = mcp.ask("tools/list", &json!({}));
        let names: Vec<_> =
            answer["result"]["tools"].as_array().unwrap().iter().map(|tool| &tool["name"]).collect();
        assert_eq!(names, ["s__echo"], "{client}");
        mcp.close();
        assert!(mcp.wait(DOWN_LIMIT).unwrap().success());

        let installed = person.read(file);
        assert!(person.done(&["mcp", "install", client, "--only", "s/echo"]).contains("was already in"));
        assert_eq!(person.read(file), installed);
        for line in text.lines().map(|line| line.trim_end_matches(['}', ' ', '\r'])) {
            assert!(installed.contains(line), "{client}: {line}");
        }
    }
    for (client, file, _) in CLIENTS {
        let said = person.done(&["mcp", "uninstall", client]);
        assert!(said.ends_with("; the file is as it was before\n"), "{client}: {said}");
        assert!(person.done(&["mcp", "uninstall", client]).starts_with("Harbor is not in "), "{file}");
    }
    assert_eq!(person.tree(), before);
    person.done(&["mcp", "install", "--all"]);
    let said = person.done(&["mcp", "uninstall", "--all"]);
    assert_eq!(
        (said.matches("; the file is as it was before\n").count(), person.tree()),
        (CLIENTS.len(), before)
    );
    assert!(!person.home.path().join("clients").exists());
    let mode = person.path(".codex/config.toml").metadata().unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o644);
}

/// A limit holds for whoever comes under the name, before the first contact and after it, and every place tells the same.
#[test]
fn what_a_client_may_use_is_told_alike_everywhere_and_a_limit_is_a_limit_of_its_grants() {
    let person = Person::new();
    person.write(".cursor/mcp.json", "{}");
    let bridge = Bridge::start(&person.home);
    bridge.add_and_connect("s", &Double::sound(&person.home));
    let listed = |name: &str| {
        let mut mcp =
            Direct::start(person.home.command("harbor").args(["mcp", "--client", name])).initialized();
        let tools = mcp.ask("tools/list", &json!({}))["result"]["tools"].take();
        tools
            .as_array()
            .unwrap()
            .iter()
            .map(|tool| tool["name"].as_str().unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    // Before it was here.
    let (_, said, _) = person.home.harbor(&["grants", "client://codex"]);
    assert!(said.contains("codex has not connected yet. When it does, it may use all tools."), "{said}");
    let (off, _, _) = person.home.harbor(&["tools", "--client", "codex", "--off", "s/echo"]);
    assert!(off.starts_with("codex may use "), "{off}");
    let names = listed("codex");
    assert!(!names.is_empty() && !names.contains(&"s__echo".to_owned()), "{names:?}");

    // One that has all: the limit that is typed is one of its grants.
    assert!(listed("cursor").len() > 1);
    let said = person.done(&["mcp", "install", "cursor"]);
    assert!(said.contains("Cursor may use all tools."), "{said}");
    let said = person.done(&["mcp", "install", "cursor", "--only", "s/echo"]);
    assert!(said.contains("Cursor may use s/echo."), "{said}");
    assert_eq!(listed("cursor"), ["s__echo"], "without the argument of its file");
    for asked in [&["grants", "client://cursor"][..], &["tools", "--client", "cursor"]] {
        let (_, said, _) = person.home.harbor(asked);
        assert!(said.contains("may use s/echo."), "{said}");
    }
    // What is typed is what it may use, also where it is another part; what is denied stays so.
    let (out, said, _) = person.harbor(&["mcp", "install", "cursor", "--only", "s/fail", "--only", "S/x"]);
    assert!(out.contains("Cursor may use S/x, s/fail."), "{out}");
    let lifted = person.done(&["mcp", "install", "cursor", "--only", "*"]);
    assert!(lifted.contains("Cursor may use all tools."), "{lifted}");
    assert_eq!(person.entry(".cursor/mcp.json")["args"], json!(["mcp", "--client", "cursor"]));
    assert!(said.contains("warning: there is no server S now; did you mean s?"), "{said}");
    for pattern in ["s/ech*", "s/**"] {
        let (_, said, code) = person.harbor(&["mcp", "install", "cursor", "--only", pattern]);
        assert!(code == Some(2) && said.contains("a * can only stand for all tools of a server"), "{said}");
    }
}

#[test]
fn what_was_not_there_is_made_and_goes_again() {
    let person = Person::new();
    // Where it will be is not where it is said to be.
    person.write("dotfiles/config/other", "");
    symlink("dotfiles/config", person.path(".config")).unwrap();
    let before = person.tree();
    for (client, file, _) in CLIENTS {
        person.done(&["mcp", "install", client]);
        let mode = person.path(file).metadata().unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{client}");
    }
    let status: Value = serde_json::from_str(&person.done(&["mcp", "status", "--json"])).unwrap();
    for (seen, (client, file, _)) in status["clients"].as_array().unwrap().iter().zip(CLIENTS) {
        let wanted = json!({"client": client, "file": person.path(file), "present": true, "installed": true,
            "name": client, "problems": []});
        assert_eq!(*seen, wanted);
    }
    CLIENTS.iter().for_each(|(client, ..)| drop(person.done(&["mcp", "uninstall", client])));
    assert_eq!(person.tree(), before);
    assert!(person.home.locked_by().is_none(), "no bridge is needed for it");
}

#[test]
fn a_file_that_its_client_has_written_anew_keeps_what_is_new() {
    let person = Person::new();
    person.done(&["mcp", "install", "claude-code"]);
    let entry = person.entry(".claude.json");
    let anew = |servers: &Value| json!({"numStartups": 1, "mcpServers": servers}).to_string();
    person.write(".claude.json", &anew(&json!({"harbor": entry, "new": {"command": "x"}})));
    let said = person.done(&["mcp", "uninstall", "claude-code"]);
    assert!(said.ends_with("; the rest of the file is unchanged\n"), "{said}");
    assert_eq!(person.read(".claude.json"), anew(&json!({"new": {"command": "x"}})));

    person.write(".claude.json", "{}");
    person.done(&["mcp", "install", "claude-code"]);
    person.done(&["mcp", "install", "claude-code", "--client", "cc"]);
    assert_eq!(person.entry(".claude.json")["args"], json!(["mcp", "--client", "cc"]));
    person.done(&["mcp", "uninstall", "claude-code"]);
    assert_eq!(person.read(".claude.json"), "{}", "also after it was renewed");
}

#[test]
fn dotfiles_stay_links_and_others_entries_stay_theirs() {
    let person = Person::new();
    let theirs =
        "{\"mcpServers\": {\"harbor\": {\"command\": \"/opt/boats\", \"env\": {\"K\": \"s3cret\"}}}}";
    person.write("dotfiles/cursor.json", theirs);
    fs::create_dir(person.path(".cursor")).unwrap();
    symlink("../dotfiles/cursor.json", person.path(".cursor/mcp.json")).unwrap();
    let said = person.refused(&["mcp", "install", "cursor"]);
    assert!(said.contains("starts another program; --replace"), "{said}");
    assert!(person.refused(&["mcp", "uninstall", "cursor"]).contains("starts another program, and stays"));
    let dry = person.done(&["mcp", "install", "cursor", "--replace", "--dry-run"]);
    assert!(dry.contains("HARBOR_HOME") && !dry.contains("s3cret"), "{dry}");
    assert_eq!(person.read("dotfiles/cursor.json"), theirs);
    person.done(&["mcp", "install", "cursor", "--replace"]);
    assert!(person.path(".cursor/mcp.json").symlink_metadata().unwrap().is_symlink());
    assert!(person.read("dotfiles/cursor.json").contains("HARBOR_HOME"));
    person.done(&["mcp", "uninstall", "cursor"]);
    assert_eq!(person.read("dotfiles/cursor.json"), theirs);
}

#[test]
fn a_file_that_is_wrong_is_told_with_its_place_and_left_alone() {
    let person = Person::new();
    for (client, file, text, why) in [
        ("zed", ".config/zed/settings.json", "{\n  \"a\": 1\n  \"b\": 2\n}", "line 2, column "),
        ("codex", ".codex/config.toml", "a = 1\n[x\n", "line 2, column "),
        ("cursor", ".cursor/mcp.json", "{\"mcpServers\": []}", "mcpServers is not an object"),
        ("gemini-cli", ".gemini/settings.json", "[]", "the file is not an object"),
        ("codex", ".codex/config.toml", "mcp_servers = {}\n", "change it by hand"),
    ] {
        person.write(file, text);
        let said = person.refused(&["mcp", "install", client]);
        assert!(said.contains(why) && said.contains(file), "{client}: {said}");
        assert_eq!(person.read(file), text);
    }
    let status = person.done(&["mcp", "status"]);
    assert!(status.contains("zed: line 2, column "), "{status}");
    assert!(!person.home.path().join("clients").exists());
}

#[test]
fn an_entry_that_fits_no_more_is_noticed_and_renewed() {
    let person = Person::new();
    person.done(&["mcp", "install", "zed"]);
    let file = ".config/zed/settings.json";
    let program = programs::product("harbor").canonicalize().unwrap();
    let moved =
        person.read(file).replace(program.to_str().unwrap(), "/gone/harbor").replace("/h\"", "/other\"");
    person.write(file, &moved);
    let status = person.done(&["mcp", "status"]);
    for part in [
        "zed: it starts /gone/harbor, which is missing",
        "zed: its HARBOR_HOME is ",
        "`harbor mcp install zed`",
    ] {
        assert!(status.contains(part), "{status}");
    }
    assert!(person.done(&["mcp", "install", "zed"]).contains("is now in"));
    assert!(!person.done(&["mcp", "status"]).contains("see below"));
    person.done(&["mcp", "uninstall", "zed"]);
    assert!(!person.path(file).exists(), "it was made for this");
}

/// A server that needs nothing: its path, and what marks it as this test's.
fn echo(person: &Person) -> (String, String) {
    let program = programs::double("echo-server").canonicalize().unwrap();
    (program.to_str().unwrap().to_owned(), person.home.id().to_owned())
}

#[test]
fn servers_of_every_client_are_taken_over_and_work() {
    let person = Person::new();
    let (program, mark) = echo(&person);
    let entry = json!({"command": program, "env": {TEST_ID: mark, "KEY": "s3cret"}});
    for (client, file, _) in CLIENTS {
        let text = match client {
            "codex" => {
                format!("[mcp_servers.codex-s]\ncommand = \"{program}\"\nenv_vars = [\"{TEST_ID}\"]\n")
            }
            "vscode" => format!("{{\"servers\": {{\"vscode s\": {entry},}}, // mine\n}}"),
            "zed" => format!("{{\"context_servers\": {{\"zed-s\": {entry}}}}}"),
            client => format!("{{\"mcpServers\": {{\"{client}-s\": {entry}}}}}"),
        };
        person.write(file, &text);
    }
    let before = person.tree();
    let bridge = Bridge::start(&person.home);
    assert!(bridge.is_alive());
    let dry = person.done(&["import", "--dry-run", "--expand"]);
    assert_eq!(dry.matches("would be imported").count(), 8, "{dry}");
    assert_eq!(bridge.call("list_servers", &json!({})).unwrap()["servers"], json!([]));
    let said = person.done(&["import", "--expand", "--yes"]);
    assert!(said.contains("8 servers imported") && said.contains("vscode s as vscode-s: imported"), "{said}");
    assert!(!said.contains("s3cret"), "values are not shown");
    let list = person.done(&["list"]);
    for (client, ..) in CLIENTS {
        let server = format!("{client}-s");
        assert!(list.contains(&server), "{list}");
        person.done(&["call", &format!("{server}/echo"), "text=hi"]);
    }
    let kept = person.done(&["secrets", "list", "zed-s"]);
    assert!(kept.contains("KEY"), "what is secret by its name is kept apart: {kept}");
    let again = person.done(&["import"]);
    assert_eq!(again.matches("already here").count(), 8, "{again}");
    assert_eq!(person.tree(), before, "no client's file is changed");
}

#[test]
fn setup_takes_over_what_a_client_has_and_puts_harbor_into_it() {
    let person = Person::new();
    let (program, mark) = echo(&person);
    let mine = json!({"command": program, "env": {TEST_ID: mark}});
    let broken = json!({"command": "/bin/false"});
    let before = json!({"mcpServers": {"mine": mine, "broken": broken}}).to_string();
    person.write(".claude.json", &before);
    let mut bridge = Bridge::start(&person.home);
    // Whatever its doctor finds on this machine in the end.
    let (out, err, _) = person.harbor(&["setup", "--yes"]);
    assert!(out.starts_with("AI clients: Claude Code\n"), "{out}{err}");
    assert_eq!(bridge.server("mine")["command"], program.as_str(), "{out}{err}");
    let written: Value = serde_json::from_str(&person.read(".claude.json")).unwrap();
    assert_eq!(written["mcpServers"]["harbor"]["args"], json!(["mcp", "--client", "claude-code"]));
    let names: Vec<_> = written["mcpServers"].as_object().unwrap().keys().collect();
    assert_eq!(
        names,
        ["broken", "harbor"],
        "the tools of mine would come twice, and what does not start here may there"
    );
    assert!(out.contains(": 3 tools\n") && out.contains("; it does not start: "), "{out}");
    assert!(err.contains("broken also stays in the client's file"), "{err}");
    assert_eq!(person.done(&["call", "mine/echo", "text=hi"]), "hi\n");
    // What does not start stays there the second time, too.
    let (out, err, _) = person.harbor(&["import", "--replace"]);
    assert!(out.contains("broken: already here") && out.contains("; it does not start: "), "{out}{err}");
    assert!(person.read(".claude.json").contains("/bin/false"), "{out}{err}");

    // And off again: what the client had is back, and what is left is said.
    let (out, err, code) = person.harbor(&["uninstall", "--yes"]);
    assert_eq!((code, person.read(".claude.json")), (Some(0), before), "{out}{err}");
    assert!(out.starts_with("clients   Claude Code\n") && out.contains("the bridge has ended"), "{out}");
    assert!(err.contains(".claude.json.before-harbor, a copy from before Harbor; it may hold keys"), "{err}");
    assert!(bridge.wait(DOWN_LIMIT).is_some() && person.home.path().join("harbor.db").exists());
    let (out, err, code) = person.harbor(&["uninstall", "--data", "--yes"]);
    assert_eq!((code, person.home.path().exists()), (Some(0), false), "{out}{err}");
}

#[test]
fn a_clients_first_list_starts_what_was_never_listed_and_nothing_twice() {
    let person = Person::new();
    let (program, mark) = echo(&person);
    let bridge = Bridge::start(&person.home);
    let define = |id: &str, command: &str| {
        let fields = json!({"server_id": id, "command": command, "env": {TEST_ID: mark}});
        bridge.call("add_server", &fields).unwrap();
    };
    define("good", &program);
    define("broken", "/bin/false");
    define("not-given", &program);
    let tools = ["good/*", "broken/*"];
    let owner = bridge.speaking_for("client://ai");
    ["mcp:tools.list", "mcp:tools.call"].iter().for_each(|scope| {
        owner.grant(scope, "ALLOW_ALWAYS", &json!({"allowed_tools": tools}));
    });
    let client = Client::attach_ai(&person.home, "ai").speaking(&json!({}));
    assert_eq!(client.tools().unwrap(), ["good/echo", "good/text", "good/structured"]);
    let state = |id: &str| bridge.server(id)["state"].clone();
    assert_eq!((state("broken"), state("not-given")), (json!("failed"), json!("stopped")));
    let before = bridge.server("broken");
    assert_eq!(client.tools().unwrap(), ["good/echo", "good/text", "good/structured"]);
    assert_eq!(bridge.server("broken"), before, "what failed is not started again by a list");
}

#[test]
fn what_cannot_be_taken_over_is_told_and_what_is_here_stays() {
    let person = Person::new();
    let (program, mark) = echo(&person);
    person.write(
        "project/.vscode/mcp.json",
        &json!({"servers": {
            "asked": {"command": "x", "env": {"KEY": "${input:api-key}", "OTHER": "s3cret"}},
            "unset": {"command": "x", "args": ["${env:NOT_SET_HERE}"]},
            "filled": {"command": "x", "env": {"ITS": "${env:NOT_SET_HERE}"}},
            "off": {"command": "x", "disabled": true},
            "taken": {"command": "/bin/false", "env": {"A": "s3cret"}},
            "here": {"command": program, "args": [], "env": {TEST_ID: mark, "B": "${env:MARK}"}, "cwd": "${workspaceFolder}"},
        }})
        .to_string(),
    );
    let bridge = Bridge::start(&person.home);
    assert!(bridge.is_alive());
    bridge.call("add_server", &json!({"server_id": "taken", "command": "/bin/true"})).unwrap();
    let file = person.path("project/.vscode/mcp.json");
    let file = file.to_str().unwrap();
    let import = |args: &[&str]| said(person.command(&["import", file]).args(args).env("MARK", "a-s3cret"));
    let (dry, _, _) = import(&["--dry-run", "--expand"]);
    let (out, err, code) = import(&["--expand", "--yes"]);
    assert_eq!(code, Some(0), "{out}{err}");
    for part in [
        "asked: imported",
        "unset: skipped: the variable NOT_SET_HERE is not set here; set it, or add it with `harbor add`",
        "filled: skipped: the variable NOT_SET_HERE is not set here; set it, or add it with `harbor add`: `--env ITS=VALUE`",
        "off: skipped: it is disabled in that file",
        "taken: skipped: another server has the name taken here",
        &format!("here: imported from {file}, runs "),
        &format!(", in {}, with B, ", person.path("project").display()),
        "with your MARK in its variable B",
    ] {
        assert!(out.contains(part), "{part}: {out}");
    }
    let (json, ..) = import(&["--json"]);
    for text in [&dry, &out, &err, &json] {
        assert!(!text.contains("s3cret"), "{text}");
    }
    let listed = bridge.call("list_servers", &json!({})).unwrap();
    let listed = listed["servers"].as_array().unwrap();
    let shown = |id: &str| listed.iter().find(|server| server["server_id"] == id).unwrap();
    assert!(err.contains("asked needs a key: `harbor secrets set asked KEY`"), "{err}");
    assert_eq!((listed.len(), &shown("taken")["command"]), (3, &json!("/bin/true")));
    assert_eq!(
        (&shown("here")["state"], &shown("here")["cwd"]),
        (&json!("running"), &json!(person.path("project")))
    );
}

#[test]
fn nothing_to_take_over_is_a_failure_of_its_own() {
    let person = Person::new();
    let exit = |args: &[&str]| person.harbor(args).2;
    assert_eq!(exit(&["import"]), Some(4));
    assert_eq!(exit(&["import", "zed"]), Some(4));
    assert_eq!(exit(&["import", "./none.json"]), Some(4));
    person.write(".cursor/mcp.json", "{");
    assert_eq!(exit(&["import"]), Some(1));
    assert_eq!(exit(&["import", "cursor"]), Some(1));
    person.write(".claude.json", "{}");
    assert_eq!(exit(&["import"]), Some(1), "a file that is broken stays a failure");
    assert!(person.home.locked_by().is_none());
}

/// What gives a client its tools where it gets none by itself: two scopes, and each line can be typed.
#[test]
fn a_client_that_gets_nothing_by_itself_is_given_it_by_hand() {
    let by_hand = |person: &Person, why: &str| {
        let said = person.done(&["mcp", "install", "cursor"]);
        assert!(said.contains(&format!("Cursor may use no tools yet{why}")), "{said}");
        for scope in ["mcp:tools.list", "mcp:tools.call"] {
            assert!(said.contains(&format!("`harbor grant client://cursor {scope} --always`")), "{said}");
            person.done(&["grant", "client://cursor", scope, "--always"]);
        }
        let mut mcp = start(&person.entry(".cursor/mcp.json")).initialized();
        let called = mcp.ask("tools/call", &json!({"name": "s__echo", "arguments": {"text": "hi"}}));
        assert!(called["result"]["content"].is_array(), "{called}");
        mcp.close();
        assert!(mcp.wait(DOWN_LIMIT).unwrap().success());
    };
    let person = Person::new();
    person.home.configure("[mcp]\nfirstUse = \"none\"\n");
    {
        let bridge = Bridge::start(&person.home);
        bridge.add("s", &Double::sound(&person.home));
        bridge.connect("s");
        by_hand(&person, " (mcp.firstUse in config.toml);");
        person.done(&["mcp", "uninstall", "cursor"]);
    }
    // Who was known is not, once that is lost.
    person.home.configure("");
    fs::write(person.home.path().join("harbor.db"), "no database").unwrap();
    let _ = fs::remove_file(person.home.path().join("harbor.db-wal"));
    let bridge = Bridge::start(&person.home);
    bridge.connect("s");
    by_hand(&person, ", because harbor.db was lost;");
}

/// Also when there is no bridge yet: the client's start of Harbor starts it.
#[test]
fn a_client_starts_the_bridge_from_its_bare_environment() {
    let person = Person::new();
    person.done(&["mcp", "install", "cursor"]);
    let entry = person.entry(".cursor/mcp.json");
    assert!(Path::new(entry["command"].as_str().unwrap()).is_absolute());
    let mut mcp = start(&entry).initialized();
    assert_eq!(mcp.ask("tools/list", &json!({}))["result"]["tools"], json!([]));
    mcp.close();
    assert!(mcp.wait(DOWN_LIMIT).unwrap().success());
    shut_down_detached(&person.home);
}

/// What the README begins with, and then nobody uses anything until nothing runs any more.
#[test]
fn when_everything_has_gone_to_rest_a_client_has_all_tools() {
    let person = Person::new();
    let (program, mark) = echo(&person);
    let adding = ["add", "mine", "--env", &format!("{TEST_ID}={mark}"), "--", &program];
    let (out, err, code) = said(person.command(&adding).env("HARBOR_IDLE_EXIT_SECONDS", "1"));
    assert_eq!(code, Some(0), "{out}{err}");
    person.done(&["mcp", "install", "claude-code"]);
    let bridge = Process::of(person.home.locked_by().unwrap()).unwrap();
    assert_gone(&[bridge], DOWN_LIMIT + Duration::from_secs(1));

    let mut mcp = start(&person.entry(".claude.json")).initialized();
    let answer = mcp.ask("tools/list", &json!({}));
    assert_eq!(answer["result"]["tools"][0]["name"], "mine__echo", "{answer}");
    assert_eq!(mcp.tool("mine__echo", &json!({"text": "hi"}))["result"]["content"][0]["text"], "hi");
    mcp.close();
    assert!(mcp.wait(DOWN_LIMIT).unwrap().success());
    shut_down_detached(&person.home);
}
