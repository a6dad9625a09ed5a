//! Programs that are not in the bridge's PATH: a browser starts it with a bare one.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};

use harbor_tests::npm_registry::write_server;
use harbor_tests::{Bridge, Home};
use serde_json::{Value, json};

/// Where a program really is, on the machine of these tests.
fn real(name: &str) -> PathBuf {
    let path = std::env::var_os("PATH").unwrap();
    let found = std::env::split_paths(&path).map(|dir| dir.join(name)).find(|file| file.is_file());
    found.unwrap().canonicalize().unwrap()
}

fn link(dir: &Path, name: &str, to: &Path) -> String {
    fs::create_dir_all(dir).unwrap();
    symlink(to, dir.join(name)).unwrap();
    dir.join(name).to_str().unwrap().to_owned()
}

fn shell(path: &Path, text: &str) {
    fs::write(path, format!("#!/bin/sh\n{text}\n")).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}

/// A home as version managers leave it, and a login shell that is noisy and knows one more directory.
struct Person {
    home: PathBuf,
    shell: PathBuf,
    nvm: PathBuf,
    node: String,
    git: String,
}

impl Person {
    fn new(home: &Home) -> Self {
        let (person, shelf) = (home.scratch("person"), home.scratch("elsewhere"));
        link(&person.join(".nvm/versions/node/v22.0.0/bin"), "node", Path::new("/bin/false"));
        // The variable says that another one is used.
        let nvm = home.scratch("nvm");
        let node = link(&nvm.join("versions/node/v20.1.0/bin"), "node", &real("node"));
        let git = link(&shelf, "git", &real("git"));
        let login = home.scratch("login-shell");
        let said = format!("echo Welcome; export PATH={}; eval \"$2\"", shelf.display());
        shell(&login, &said);
        Self { home: person, shell: login, nvm, node, git }
    }

    fn bridge(&self, home: &Home) -> Bridge {
        let env = [
            ("HOME", self.home.to_str().unwrap()),
            ("PATH", "/nonexistent"),
            ("NVM_DIR", self.nvm.to_str().unwrap()),
            ("SHELL", self.shell.to_str().unwrap()),
        ];
        Bridge::start_with(home, &env)
    }
}

fn found(bridge: &Bridge, name: &str) -> Value {
    let looked = bridge.call("check_runtimes", &json!({})).unwrap().into_value();
    let all = looked["runtimes"]["programs"].as_array().unwrap();
    all.iter().find(|program| program["name"] == name).unwrap().clone()
}

#[test]
fn what_version_managers_and_the_login_shell_know_is_found_and_used() {
    let home = Home::new();
    let person = Person::new(&home);
    let bridge = person.bridge(&home);
    let node = found(&bridge, "node");
    assert_eq!((&node["path"], &node["found_by"]), (&json!(person.node), &json!("nvm")));
    assert!(node["version"].as_str().unwrap().starts_with(|c: char| c.is_ascii_digit()), "{node}");
    let git = found(&bridge, "git");
    assert_eq!((&git["path"], &git["found_by"]), (&json!(person.git), &json!("the login shell")));
    let shown = home.done(&["runtimes"]);
    assert!(shown.contains("nvm") && shown.contains("can install:"), "{shown}");
    let looked = bridge.call("check_runtimes", &json!({})).unwrap().into_value();
    let kinds = looked["runtimes"]["can_install"].as_array().unwrap().clone();
    let has_engine = ["podman", "docker"].iter().any(|name| found(&bridge, name)["path"].is_string());
    assert!(kinds.contains(&json!("binary")) && kinds.contains(&json!("oci")) == has_engine, "{kinds:?}");
    assert_eq!(shown.contains("cannot install oci: it requires podman or docker"), !has_engine, "{shown}");

    // A server's command is found there, too, inside its sandbox.
    let dir = home.scratch("server");
    write_server(&dir, "1.0.0", &["a"], "first");
    let script = dir.join("index.js");
    let definition = json!({"server_id": "s", "command": "node", "args": [script.to_str().unwrap()]});
    bridge.call("add_server", &definition).unwrap();
    bridge.connect("s");
    assert_eq!(bridge.tool_text("s", "a", &json!({})), "1.0.0");
}

#[test]
fn what_is_nowhere_is_said_with_the_places() {
    let home = Home::new();
    let person = Person::new(&home);
    // One that never answers is not waited for beyond its limit.
    shell(&person.shell, "sleep 600");
    let bridge = person.bridge(&home);
    bridge.call("add_server", &json!({"server_id": "s", "command": "no-such-program"})).unwrap();
    let error = bridge.fail_to_connect("s");
    assert!(
        error.message.contains("there is no program no-such-program; Harbor looked in PATH (1), nvm (2)"),
        "{error:?}"
    );
    assert!(error.message.contains("`harbor runtimes`"), "{error:?}");
    let missing = home.harbor(&["runtimes", "--json"]);
    let looked: Value = serde_json::from_str(&missing.0).unwrap();
    let dirs = looked["runtimes"]["looked_in"].as_array().unwrap();
    assert!(dirs.iter().any(|place| place["found_by"] == "nvm"), "{dirs:?}");
}
