//! `harbor install`, `harbor upgrade`, and what they promise: what is locked stays as it is, what failed leaves nothing.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "test support")]

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use harbor_tests::npm_registry::{NpmRegistry, write_server};
use harbor_tests::said::said;
use harbor_tests::{Bridge, DOWN_LIMIT, Home, Program, Terminal, wait_until};
use nix::sys::signal::Signal;
use serde_json::{Value, json};

/// What a download may take.
const INSTALL: Duration = Duration::from_secs(300);

fn ask(bridge: &Bridge, tag: &str, fields: &Value) -> Value {
    let answer = bridge.request(tag, fields).wait(INSTALL);
    answer.unwrap_or_else(|error| panic!("{tag}: {error:?}")).into_value()
}

/// What a tool says, of a server that is started for it.
fn tool(bridge: &Bridge, id: &str, tool: &str, arguments: &Value) -> String {
    ask(bridge, "connect_server", &json!({"server_id": id}));
    bridge.tool_text(id, tool, arguments)
}

fn harbor(home: &Home, args: &[&str]) -> (String, String, Option<i32>) {
    said(home.command("harbor").args(args))
}

/// The directories of a server's installations.
fn places(home: &Home, id: &str) -> Vec<String> {
    let entries = fs::read_dir(home.path().join("servers").join(id).join("package")).into_iter().flatten();
    let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

fn is_gone(home: &Home, id: &str) -> bool {
    !home.path().join("servers").join(id).exists()
}

/// A bridge whose npm knows only the test's own registry.
fn with_registry(home: &Home, registry: &NpmRegistry) -> Bridge {
    Bridge::start_with(home, &[("npm_config_registry", &registry.url())])
}

#[test]
fn a_package_of_npm_is_installed_upgraded_and_brought_back() {
    let home = Home::new();
    let bridge = Bridge::start(&home);
    let package = "@modelcontextprotocol/server-sequential-thinking";
    let source = format!("npm:{package}@2025.7.1");
    let (out, err, code) = harbor(&home, &["install", &source, "--yes", "--lazy", "--name", "think"]);
    assert_eq!(code, Some(0), "{err}");
    assert!(
        out.starts_with(&format!("installed think: {package} 2025.7.1\nit has 1 tool: sequentialthinking\n")),
        "{out}"
    );
    assert!(out.contains("`harbor call think/sequentialthinking` calls one"), "{out}");
    let listed = &ask(&bridge, "list_installed", &json!({}))["servers"][0];
    assert_eq!((&listed["version"], &listed["kind"]), (&json!("2025.7.1"), &json!("npm")));
    assert!(listed["integrity"].as_str().unwrap().starts_with("sha512-"), "{listed}");
    assert_eq!(bridge.server("think")["state"], "stopped");

    let (out, err, code) = harbor(&home, &["upgrade", "think", "--to", "2026.8.31", "--yes"]);
    assert_eq!(code, Some(0), "{err}");
    assert!(
        out.starts_with("think: 2025.7.1 → 2026.8.31\n") && out.contains("changed    sequentialthinking"),
        "{out}"
    );
    assert!(bridge.server("think")["package"].as_str().unwrap().ends_with("@2026.8.31"));
    // The tool is not what the person saw first: origins do not get it.
    assert_eq!(bridge.server("think")["changed_tools"], 1);
    let view = || fs::read_to_string(home.path().join("installed_servers.json")).unwrap_or_default();
    wait_until("the file to say so", DOWN_LIMIT, || view().contains("\"version\": \"2026.8.31\""));

    let again = home.done(&["upgrade", "think", "--undo"]);
    assert_eq!(again, "think is 2025.7.1 again\n");
    assert!(bridge.server("think")["package"].as_str().unwrap().ends_with("@2025.7.1"));
    let _ = harbor(&home, &["start", "think"]);
    assert_eq!(bridge.server("think")["state"], "running");
    assert_eq!(places(&home, "think"), ["1", "2"]);
    ask(&bridge, "uninstall_server", &json!({"server_id": "think"}));
    wait_until("its package to go", DOWN_LIMIT, || places(&home, "think").is_empty());
}

#[test]
fn a_package_of_pypi_that_is_lost_comes_back_as_it_was() {
    let home = Home::new();
    let bridge = Bridge::start(&home);
    let (out, err, code) = harbor(&home, &["install", "pypi:mcp-server-time==2026.10.19", "--yes", "--json"]);
    assert_eq!(code, Some(0), "{err}");
    let installed: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(installed["installed"]["server_id"], "time");
    let before = ask(&bridge, "list_installed", &json!({}))["servers"][0].clone();
    assert!(before["integrity"].as_str().unwrap().starts_with("sha256:"), "{before}");
    fs::remove_dir_all(home.path().join("servers/time/package/1/venv")).unwrap();
    let _ = bridge.fail_to_connect("time");
    ask(&bridge, "connect_server", &json!({"server_id": "time"}));
    let after = ask(&bridge, "list_installed", &json!({}))["servers"][0].clone();
    for field in ["version", "integrity", "packages", "installed_at"] {
        assert_eq!(before[field], after[field], "{field}");
    }
    assert!(!tool(&bridge, "time", "get_current_time", &json!({"timezone": "UTC"})).is_empty());
}

/// The registry serves another file under the same version.
#[test]
fn what_has_another_hash_is_refused() {
    let (home, registry) = (Home::new(), NpmRegistry::start());
    registry.publish(&home, "1.0.0", &["a"], "first");
    let bridge = with_registry(&home, &registry);
    // The first start of one that was added pins it, too.
    ask(&bridge, "add_server", &json!({"server_id": "tiny", "command": "npx", "args": ["-y", "tiny"]}));
    ask(&bridge, "connect_server", &json!({"server_id": "tiny"}));
    assert_eq!(bridge.server("tiny")["package"], "tiny@1.0.0");
    registry.publish(&home, "2.0.0", &["b"], "second");
    ask(&bridge, "disconnect_server", &json!({"server_id": "tiny"}));
    fs::remove_dir_all(home.path().join("servers/tiny/package/1/node_modules")).unwrap();
    let _ = bridge.fail_to_connect("tiny");
    ask(&bridge, "connect_server", &json!({"server_id": "tiny"}));
    assert_eq!(tool(&bridge, "tiny", "a", &json!({})), "1.0.0", "the newer version is none that was locked");

    registry.tamper(&home, "1.0.0");
    ask(&bridge, "disconnect_server", &json!({"server_id": "tiny"}));
    fs::remove_dir_all(home.path().join("servers/tiny/package/1/node_modules")).unwrap();
    let _ = bridge.fail_to_connect("tiny");
    let refused = bridge.request("connect_server", &json!({"server_id": "tiny"})).wait(INSTALL).unwrap_err();
    assert_eq!(refused.details["cause"], "install_failed", "{refused:?}");
    assert!(refused.message.contains("its hash is another one"), "{refused:?}");
}

#[test]
fn an_upgrade_is_used_after_a_yes_and_what_was_not_wanted_goes() {
    let (home, registry) = (Home::new(), NpmRegistry::start());
    registry.publish(&home, "1.0.0", &["a", "b"], "first");
    let mut bridge = with_registry(&home, &registry);
    ask(&bridge, "install_server", &json!({"source": "npm:tiny"}));
    ask(&bridge, "connect_server", &json!({"server_id": "tiny"}));
    let same = ask(&bridge, "upgrade_server", &json!({"server_id": "tiny"}));
    assert_eq!((&same["upgrade"]["apply"], &same["upgrade"]["after"]), (&Value::Null, &json!("1.0.0")));
    registry.publish(&home, "2.0.0", &["b", "c"], "first");
    let tried = &ask(&bridge, "upgrade_server", &json!({"server_id": "tiny"}))["upgrade"];
    assert_eq!(
        (&tried["added"], &tried["removed"], &tried["changed"]),
        (&json!(["c"]), &json!(["a"]), &json!([]))
    );
    assert_eq!(tool(&bridge, "tiny", "a", &json!({})), "1.0.0", "the old one goes on");
    let wrong = bridge.call("upgrade_server", &json!({"server_id": "tiny", "apply": "x"})).unwrap_err();
    assert_eq!(wrong.details["field"], "apply");

    // Killed before the yes: the old one, whole, and nothing else.
    bridge.kill();
    let mut bridge = with_registry(&home, &registry);
    ask(&bridge, "connect_server", &json!({"server_id": "tiny"}));
    assert_eq!(tool(&bridge, "tiny", "a", &json!({})), "1.0.0");
    assert_eq!(places(&home, "tiny"), ["1"]);
    assert!(!home.path().join("servers/tiny/trial").exists());

    // Killed after it: the new one, and the way back.
    let tried = ask(&bridge, "upgrade_server", &json!({"server_id": "tiny"}))["upgrade"]["apply"].clone();
    let apply = bridge.request("upgrade_server", &json!({"server_id": "tiny", "apply": tried}));
    assert_eq!(apply.wait(INSTALL).unwrap()["upgrade"]["applied"], true);
    bridge.kill();
    let bridge = with_registry(&home, &registry);
    ask(&bridge, "connect_server", &json!({"server_id": "tiny"}));
    assert_eq!(tool(&bridge, "tiny", "c", &json!({})), "2.0.0");
    ask(&bridge, "undo_upgrade", &json!({"server_id": "tiny"}));
    ask(&bridge, "connect_server", &json!({"server_id": "tiny"}));
    assert_eq!(tool(&bridge, "tiny", "a", &json!({})), "1.0.0");
    let changed = ask(&bridge, "update_server_args", &json!({"server_id": "tiny", "args": ["--x"]}));
    assert_eq!(
        (&changed["server"]["args"], &changed["server"]["package"]),
        (&json!(["--x"]), &json!("tiny@1.0.0"))
    );
}

/// The bridge is killed, and the person presses Ctrl-C, while a file is under way.
#[test]
fn an_installation_that_is_ended_leaves_nothing() {
    let (home, registry) = (Home::new(), NpmRegistry::start());
    registry.publish(&home, "1.0.0", &["a"], "first");
    registry.hang(true);
    let mut bridge = with_registry(&home, &registry);
    let _installing = bridge.request("install_server", &json!({"source": "npm:tiny"}));
    wait_until("the installer to wait for a file", INSTALL, || registry.held() > 0);
    bridge.kill();
    let bridge = with_registry(&home, &registry);
    wait_until("nothing to be left", DOWN_LIMIT, || is_gone(&home, "tiny"));
    assert_eq!(ask(&bridge, "list_servers", &json!({}))["servers"], json!([]));

    wait_until("the old installer to have gone", DOWN_LIMIT, || registry.held() == 0);
    // The plan needs no file of the package.
    let typed = Program::start(home.command("harbor").args(["install", "npm:tiny", "--yes"]));
    wait_until("the installer to wait for a file", INSTALL, || registry.held() > 0);
    typed.signal(Signal::SIGINT);
    wait_until("nothing to be left", DOWN_LIMIT, || is_gone(&home, "tiny") && registry.held() == 0);

    registry.hang(false);
    let (out, err, code) = harbor(&home, &["install", "npm:tiny", "--yes"]);
    assert_eq!(code, Some(0), "{out}{err}");
    assert_eq!(tool(&bridge, "tiny", "a", &json!({})), "1.0.0");
}

#[test]
fn nothing_is_installed_without_a_yes() {
    let (home, registry) = (Home::new(), NpmRegistry::start());
    registry.publish(&home, "1.0.0", &["a"], "first");
    let bridge = with_registry(&home, &registry);
    let (said, code) = home.refused(&["install", "npm:tiny"]);
    assert_eq!(code, Some(2));
    assert!(said.contains("no terminal to ask on; --yes says yes"), "{said}");
    let (said, _) = home.refused(&["install", "cargo:x", "--yes"]);
    assert!(said.contains("not of a kind that this Harbor knows: npm:, pypi:, git:, oci:"), "{said}");
    let mut command = home.command("harbor");
    let mut terminal = Terminal::start(command.args(["install", "npm:tiny"]));
    terminal.wait_for("sandbox standard, network all");
    terminal.wait_for("Install it? [y/N]");
    terminal.press("n\r");
    assert_eq!(terminal.end().0, 1);
    wait_until("nothing to be left", DOWN_LIMIT, || is_gone(&home, "tiny"));
    let mut command = home.command("harbor");
    let mut terminal = Terminal::start(command.args(["install", "npm:tiny"]));
    terminal.wait_for("Install it? [y/N]");
    terminal.press("y\r");
    assert_eq!(terminal.end().0, 0);
    assert_eq!(bridge.server("tiny")["package"], "tiny@1.0.0");
    assert!(!bridge.stderr().contains("ERROR"), "nothing has failed: {}", bridge.stderr());
    let _ = home.refused(&["install", "npm:there-is-no-such-thing-as-this", "--yes"]);
    let said = bridge.stderr();
    assert!(
        said.contains("ERROR could not be installed server=") && said.contains("install_failed"),
        "{said}"
    );
}

fn git(dir: &Path, args: &[&str]) -> String {
    let identity = ["-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "init.defaultBranch=main"];
    let output = Command::new("git").args(identity).args(args).current_dir(dir).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    String::from_utf8_lossy(&output.stdout).trim().to_owned()
}

fn commit(dir: &Path) -> String {
    git(dir, &["add", "-A"]);
    git(dir, &["commit", "-qm", "x"]);
    git(dir, &["rev-parse", "HEAD"])
}

#[test]
fn a_repository_of_npm_is_installed_at_its_commit() {
    let home = Home::new();
    let repository = home.scratch("tiny-mcp");
    write_server(&repository, "1.0.0", &["a"], "first");
    git(&repository, &["init", "-q"]);
    let first = commit(&repository);
    let bridge = Bridge::start(&home);
    let source = format!("git:file://{}", repository.display());
    let (_, err, code) = harbor(&home, &["install", &source, "--yes"]);
    assert_eq!(code, Some(0), "{err}");
    assert_eq!(ask(&bridge, "list_installed", &json!({}))["servers"][0]["version"], json!(first));
    assert_eq!(tool(&bridge, "tiny", "a", &json!({})), "1.0.0");

    write_server(&repository, "2.0.0", &["a"], "first");
    let second = commit(&repository);
    // Lost, it comes back at the commit that is locked, although there is a newer one.
    ask(&bridge, "disconnect_server", &json!({"server_id": "tiny"}));
    fs::remove_dir_all(home.path().join("servers/tiny/package/1/src")).unwrap();
    let _ = bridge.fail_to_connect("tiny");
    ask(&bridge, "connect_server", &json!({"server_id": "tiny"}));
    assert_eq!(tool(&bridge, "tiny", "a", &json!({})), "1.0.0");
    let (out, err, code) = harbor(&home, &["upgrade", "tiny", "--yes"]);
    assert_eq!(code, Some(0), "{err}");
    assert!(out.contains(&second), "{out}");
    assert_eq!(tool(&bridge, "tiny", "a", &json!({})), "2.0.0");
}

const PYTHON: &str = r#"
import json, sys
def main():
    for line in sys.stdin:
        message = json.loads(line)
        if "id" not in message:
            continue
        answer = {"jsonrpc": "2.0", "id": message["id"]}
        if message["method"] == "initialize":
            answer["result"] = {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": {"name": "snake", "version": "1"}}
        elif message["method"] == "tools/list":
            answer["result"] = {"tools": [{"name": "hiss", "inputSchema": {"type": "object"}}]}
        elif message["method"] == "tools/call":
            answer["result"] = {"content": [{"type": "text", "text": "sss"}]}
        else:
            answer["error"] = {"code": -32601, "message": "no"}
        print(json.dumps(answer), flush=True)
"#;

#[test]
fn a_repository_of_python_is_installed_with_what_it_needs() {
    let home = Home::new();
    let repository = home.scratch("snake");
    fs::create_dir_all(&repository).unwrap();
    fs::write(repository.join("snake.py"), PYTHON).unwrap();
    let project = "[build-system]\nrequires = [\"setuptools\"]\nbuild-backend = \"setuptools.build_meta\"\n\
        [project]\nname = \"snake\"\nversion = \"1.0\"\ndependencies = [\"tzdata==2025.2\"]\n\
        [project.scripts]\nsnake-server = \"snake:main\"\n[tool.setuptools]\npy-modules = [\"snake\"]\n";
    fs::write(repository.join("pyproject.toml"), project).unwrap();
    git(&repository, &["init", "-q"]);
    let at = commit(&repository);
    let bridge = Bridge::start(&home);
    let source = format!("git:file://{}#main", repository.display());
    let installed = ask(&bridge, "install_server", &json!({"source": source}));
    assert_eq!(installed["installed"]["version"], json!(at));
    assert_eq!(
        (&installed["installed"]["packages"], &installed["installed"]["tools"]),
        (&json!(1), &json!(["hiss"]))
    );
    ask(&bridge, "connect_server", &json!({"server_id": "snake"}));
    assert_eq!(tool(&bridge, "snake", "hiss", &json!({})), "sss");
}
