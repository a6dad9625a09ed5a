//! `harbor install`, `harbor upgrade`, and what they promise: what is locked stays as it is, what failed leaves nothing.

use std::fs;
use std::path::Path;

use harbor_tests::git::{commit, git};
use harbor_tests::npm_registry::{NpmRegistry, write_server};
use harbor_tests::pypi_index::PypiIndex;
use harbor_tests::{Bridge, Client, DOWN_LIMIT, Home, INSTALL, Program, Terminal, wait_until};
use nix::sys::signal::Signal;
use serde_json::{Value, json};

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

#[test]
fn a_package_of_npm_is_installed_upgraded_and_brought_back() {
    let home = Home::new();
    let bridge = Bridge::start(&home);
    let package = "@modelcontextprotocol/server-sequential-thinking";
    let source = format!("npm:{package}@2025.7.1");
    let (out, err, code) = home.harbor(&["install", &source, "--yes", "--name", "think"]);
    assert_eq!(code, Some(0), "{err}");
    assert!(
        out.starts_with(&format!("installed think: {package} 2025.7.1\nit has 1 tool: sequentialthinking\n")),
        "{out}"
    );
    assert!(
        out.contains("call one: `harbor call think/sequentialthinking`; arguments: `harbor tools think/sequentialthinking`"),
        "{out}"
    );
    let listed = &bridge.ask("list_installed", &json!({}))["servers"][0];
    assert_eq!((&listed["version"], &listed["kind"]), (&json!("2025.7.1"), &json!("npm")));
    assert!(listed["integrity"].as_str().unwrap().starts_with("sha512-"), "{listed}");
    assert_eq!(bridge.server("think")["state"], "stopped");

    let (out, err, code) = home.harbor(&["upgrade", "think", "--to", "2026.8.31", "--yes"]);
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

    // What was listed when it was tried out is known, though it does not run.
    let (listed, remarks, _) = home.harbor(&["tools", "think"]);
    assert!(listed.contains("think/sequentialthinking"), "{listed}");
    assert!(
        remarks.starts_with("think is not running, so these are the tools that it listed last\n"),
        "{remarks}"
    );

    let (again, remarks, _) = home.harbor(&["upgrade", "think", "--undo"]);
    assert_eq!(again, "think is 2025.7.1 again\n");
    assert!(remarks.contains("Origins cannot use changed tools until `harbor accept think`"), "{remarks}");
    assert!(remarks.contains("it is not running") && remarks.contains("`harbor start think`"), "{remarks}");
    assert!(bridge.server("think")["package"].as_str().unwrap().ends_with("@2025.7.1"));
    let _ = home.harbor(&["start", "think"]);
    assert_eq!(bridge.server("think")["state"], "running");
    assert_eq!(places(&home, "think"), ["1", "2"]);
    bridge.ask("uninstall_server", &json!({"server_id": "think"}));
    wait_until("its package to go", DOWN_LIMIT, || places(&home, "think").is_empty());
}

#[test]
fn a_package_of_pypi_that_is_lost_comes_back_as_it_was() {
    let (home, index) = (Home::new(), PypiIndex::start());
    index.publish(&home.scratch("files"), "");
    let bridge = index.bridge(&home, &[]);
    let (out, err, code) = home.harbor(&["install", "pypi:snake", "--yes", "--json"]);
    assert_eq!(code, Some(0), "{err}");
    let installed: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(installed["installed"]["server_id"], "snake");
    let before = bridge.ask("list_installed", &json!({}))["servers"][0].clone();
    assert!(before["integrity"].as_str().unwrap().starts_with("sha256:"), "{before}");
    fs::remove_dir_all(home.path().join("servers/snake/package/1/venv")).unwrap();
    let failed = bridge.fail_to_connect("snake");
    let package = home.path().join("servers/snake/package/1").display().to_string();
    let gone = format!("its package snake==1.0 is missing or incomplete ({package})");
    let back = "; `harbor start snake` reinstalls the locked version";
    assert!(failed.message.contains(&gone) && failed.message.ends_with(back), "{failed:?}");
    let (said, _) = home.refused(&["call", "snake/hiss"]);
    assert!(said.contains(&gone) && said.lines().count() == 1, "{said}");
    drop(bridge);
    // The next bridge says so before anybody calls it.
    fs::remove_dir_all(home.path().join("servers/snake/package")).unwrap();
    let bridge = index.bridge(&home, &[]);
    let told = bridge.server("snake")["last_error"].as_str().unwrap_or_default().to_owned();
    assert!(told == format!("{gone}{back}"), "{told}");
    bridge.said("its package is gone server=snake");
    bridge.ask("connect_server", &json!({"server_id": "snake"}));
    let after = bridge.ask("list_installed", &json!({}))["servers"][0].clone();
    for field in ["version", "integrity", "packages", "installed_at"] {
        assert_eq!(before[field], after[field], "{field}");
    }
    assert!(!bridge.started_tool("snake", "hiss", &json!({})).is_empty());
}

/// The registry serves another file under the same version.
#[test]
fn what_has_another_hash_is_refused() {
    let (home, registry) = (Home::new(), NpmRegistry::start());
    registry.publish(&home, "1.0.0", &["a"], "first");
    let bridge = registry.bridge(&home);
    // The first start of one that was added pins it, too.
    bridge.ask("add_server", &json!({"server_id": "tiny", "command": "npx", "args": ["-y", "tiny"]}));
    bridge.ask("connect_server", &json!({"server_id": "tiny"}));
    assert_eq!(bridge.server("tiny")["package"], "tiny@1.0.0");
    registry.publish(&home, "2.0.0", &["b"], "second");
    bridge.ask("disconnect_server", &json!({"server_id": "tiny"}));
    fs::remove_dir_all(home.path().join("servers/tiny/package/1/node_modules")).unwrap();
    let _ = bridge.fail_to_connect("tiny");
    bridge.ask("connect_server", &json!({"server_id": "tiny"}));
    assert_eq!(
        bridge.started_tool("tiny", "a", &json!({})),
        "1.0.0",
        "the newer version is none that was locked"
    );

    registry.tamper(&home, "1.0.0");
    bridge.ask("disconnect_server", &json!({"server_id": "tiny"}));
    fs::remove_dir_all(home.path().join("servers/tiny/package/1/node_modules")).unwrap();
    let _ = bridge.fail_to_connect("tiny");
    let refused = bridge.request("connect_server", &json!({"server_id": "tiny"})).wait(INSTALL).unwrap_err();
    assert_eq!(refused.details["cause"], "install_failed", "{refused:?}");
    assert!(refused.message.contains("does not have the locked hash"), "{refused:?}");
}

#[test]
fn an_upgrade_is_used_after_a_yes_and_what_was_not_wanted_goes() {
    let (home, registry) = (Home::new(), NpmRegistry::start());
    registry.publish(&home, "1.0.0", &["a", "b"], "first");
    let mut bridge = registry.bridge(&home);
    bridge.ask("install_server", &json!({"source": "npm:tiny"}));
    bridge.ask("connect_server", &json!({"server_id": "tiny"}));
    let fetched = registry.fetched();
    let same = bridge.ask("upgrade_server", &json!({"server_id": "tiny"}));
    assert_eq!((&same["upgrade"]["apply"], &same["upgrade"]["after"]), (&Value::Null, &json!("1.0.0")));
    assert_eq!(home.done(&["upgrade", "tiny", "--yes"]), "tiny is 1.0.0 already\n");
    assert_eq!(registry.fetched(), fetched, "what is used already is not tried out");
    registry.publish(&home, "2.0.0", &["b", "c"], "first");
    let tried = &bridge.ask("upgrade_server", &json!({"server_id": "tiny"}))["upgrade"];
    assert_eq!(
        (&tried["added"], &tried["removed"], &tried["changed"]),
        (&json!(["c"]), &json!(["a"]), &json!([]))
    );
    assert_eq!(bridge.started_tool("tiny", "a", &json!({})), "1.0.0", "the old one goes on");
    let wrong = bridge.call("upgrade_server", &json!({"server_id": "tiny", "apply": "x"})).unwrap_err();
    assert_eq!(wrong.details["field"], "apply");

    // Killed before the yes: the old one, whole, and nothing else.
    bridge.kill();
    let mut bridge = registry.bridge(&home);
    bridge.ask("connect_server", &json!({"server_id": "tiny"}));
    assert_eq!(bridge.started_tool("tiny", "a", &json!({})), "1.0.0");
    assert_eq!(places(&home, "tiny"), ["1"]);
    assert!(!home.path().join("servers/tiny/trial").exists());

    // Killed after it: the new one, and the way back.
    let tried = bridge.ask("upgrade_server", &json!({"server_id": "tiny"}))["upgrade"]["apply"].clone();
    let apply = bridge.request("upgrade_server", &json!({"server_id": "tiny", "apply": tried}));
    assert_eq!(apply.wait(INSTALL).unwrap()["upgrade"]["applied"], true);
    bridge.kill();
    let bridge = registry.bridge(&home);
    bridge.ask("connect_server", &json!({"server_id": "tiny"}));
    assert_eq!(bridge.started_tool("tiny", "c", &json!({})), "2.0.0");
    bridge.ask("undo_upgrade", &json!({"server_id": "tiny"}));
    bridge.ask("connect_server", &json!({"server_id": "tiny"}));
    assert_eq!(bridge.started_tool("tiny", "a", &json!({})), "1.0.0");
    let changed = bridge.ask("update_server_args", &json!({"server_id": "tiny", "args": ["--x"]}));
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
    let mut bridge = registry.bridge(&home);
    let _installing = bridge.request("install_server", &json!({"source": "npm:tiny"}));
    wait_until("the installer to wait for a file", INSTALL, || registry.held() > 0);
    bridge.kill();
    let bridge = registry.bridge(&home);
    wait_until("nothing to be left", DOWN_LIMIT, || is_gone(&home, "tiny"));
    assert_eq!(bridge.ask("list_servers", &json!({}))["servers"], json!([]));

    wait_until("the old installer to have gone", DOWN_LIMIT, || registry.held() == 0);
    // The plan needs no file of the package.
    let typed = Program::start(home.command("harbor").args(["install", "npm:tiny", "--yes"]));
    wait_until("the installer to wait for a file", INSTALL, || registry.held() > 0);
    typed.signal(Signal::SIGINT);
    wait_until("nothing to be left", DOWN_LIMIT, || is_gone(&home, "tiny") && registry.held() == 0);

    registry.hang(false);
    let (out, err, code) = home.harbor(&["install", "npm:tiny", "--yes"]);
    assert_eq!(code, Some(0), "{out}{err}");
    assert_eq!(bridge.started_tool("tiny", "a", &json!({})), "1.0.0");
}

#[test]
fn nothing_is_installed_without_a_yes() {
    let (home, registry) = (Home::new(), NpmRegistry::start());
    registry.publish(&home, "1.0.0", &["a"], "first");
    let bridge = registry.bridge(&home);
    let (said, code) = home.refused(&["install", "npm:tiny"]);
    assert_eq!(code, Some(2));
    assert!(said.contains("no terminal to ask on; pass --yes"), "{said}");
    // What is wrong with the source is said first.
    let (said, _) = home.refused(&["install", "what:x"]);
    assert!(
        said.contains("not a kind of source that this Harbor knows: npm:, pypi:, git:, binary:, oci:"),
        "{said}"
    );
    assert_eq!(registry.fetched(), 0);
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
    terminal.wait_for("It started without the network. Keep it without?");
    terminal.press("\r");
    assert_eq!(terminal.end().0, 0);
    assert_eq!(bridge.server("tiny")["package"], "tiny@1.0.0");
    let held = home.harbor(&["sandbox", "tiny"]).0;
    assert!(held.contains("network  none\nasks     least: it can tell nobody"), "{held}");
    assert_eq!(home.harbor(&["call", "tiny/a"]).0, "1.0.0\n");
    // Who has one key has one whom it is for.
    let mut command = home.command("harbor");
    let keyed = ["install", "npm:tiny", "--name", "two", "--secret", "BRAVE_API_KEY"];
    let mut terminal = Terminal::start(command.args(keyed));
    terminal.wait_for("BRAVE_API_KEY is for api.search.brave.com. Allow it to reach only that?");
    terminal.press("\r");
    terminal.wait_for("network hosts");
    terminal.wait_for("Install it? [y/N]");
    terminal.press("n\r");
    assert_eq!(terminal.end().0, 1);
    assert!(!bridge.stderr().contains("ERROR"), "nothing has failed: {}", bridge.stderr());
    let _ = home.refused(&["install", "npm:there-is-no-such-thing-as-this", "--yes"]);
    let said = bridge.said("ERROR could not be installed server=");
    assert!(said.contains("install_failed"), "{said}");
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
    let (_, err, code) = home.harbor(&["install", &source, "--yes"]);
    assert_eq!(code, Some(0), "{err}");
    assert_eq!(bridge.ask("list_installed", &json!({}))["servers"][0]["version"], json!(first));
    assert_eq!(bridge.started_tool("tiny", "a", &json!({})), "1.0.0");

    write_server(&repository, "2.0.0", &["a"], "first");
    let second = commit(&repository);
    // Lost, it comes back at the commit that is locked, although there is a newer one.
    bridge.ask("disconnect_server", &json!({"server_id": "tiny"}));
    fs::remove_dir_all(home.path().join("servers/tiny/package/1/src")).unwrap();
    let _ = bridge.fail_to_connect("tiny");
    bridge.ask("connect_server", &json!({"server_id": "tiny"}));
    assert_eq!(bridge.started_tool("tiny", "a", &json!({})), "1.0.0");
    // Its history was written anew.
    git(&repository, &["update-ref", "-d", "HEAD"]);
    let second_again = commit(&repository);
    git(&repository, &["reflog", "expire", "--expire=now", "--all"]);
    git(&repository, &["gc", "--quiet", "--prune=now"]);
    assert_ne!(second, second_again);
    bridge.ask("disconnect_server", &json!({"server_id": "tiny"}));
    fs::remove_dir_all(home.path().join("servers/tiny/package/1/src")).unwrap();
    let _ = bridge.fail_to_connect("tiny");
    let (said, _) = home.refused(&["start", "tiny"]);
    let gone = format!(
        "the locked commit {first} is no longer in its repository; `harbor upgrade tiny` installs the current one"
    );
    assert!(said.contains(&gone), "{said}");
    let second = second_again;
    let (out, err, code) = home.harbor(&["upgrade", "tiny", "--yes"]);
    assert_eq!(code, Some(0), "{err}");
    assert!(out.contains(&second), "{out}");
    assert_eq!(bridge.started_tool("tiny", "a", &json!({})), "2.0.0");
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

/// Its build says that it is another commit than it is.
const SETUP: &str = "from setuptools import setup\nopen('.git/HEAD', 'w').write('a' * 40)\nsetup()\n";

#[test]
fn a_repository_of_python_is_built_after_a_yes_and_cannot_say_which_commit_it_is() {
    let home = Home::new();
    let repository = home.scratch("snake");
    fs::create_dir_all(&repository).unwrap();
    fs::write(repository.join("snake.py"), PYTHON).unwrap();
    fs::write(repository.join("setup.py"), SETUP).unwrap();
    let project = "[build-system]\nrequires = [\"setuptools\"]\nbuild-backend = \"setuptools.build_meta\"\n\
        [project]\nname = \"snake\"\nversion = \"1.0\"\ndependencies = [\"tzdata\"]\n\
        [project.scripts]\nsnake-server = \"snake:main\"\n[tool.setuptools]\npy-modules = [\"snake\"]\n";
    fs::write(repository.join("pyproject.toml"), project).unwrap();
    let lock = "[[package]]\nname = \"tzdata\"\nversion = \"2025.1\"\nsource = { registry = \"r\" }\n";
    fs::write(repository.join("uv.lock"), lock).unwrap();
    git(&repository, &["init", "-q"]);
    let at = commit(&repository);
    let bridge = Bridge::start(&home);
    let source = format!("git:file://{}#main", repository.display());
    let plan = bridge.ask("install_server", &json!({"source": source, "plan": true}))["installed"].clone();
    assert_eq!((&plan["needs_build"], &plan["version"]), (&json!(true), &json!(at)));
    let refused = bridge.request("install_server", &json!({"source": source})).wait(INSTALL).unwrap_err();
    assert_eq!(refused.details["cause"], "needs_build", "{refused:?}");

    let mut command = home.command("harbor");
    let mut terminal = Terminal::start(command.args(["install", &source]));
    terminal.wait_for("it runs in a sandbox without access to your files");
    terminal.wait_for("Run it? [y/N]");
    terminal.press("n\r");
    assert_eq!(terminal.end().0, 1);
    let (out, err, code) = home.harbor(&["install", &source, "--yes", "--json", "--with", "six"]);
    assert_eq!(code, Some(0), "{err}");
    let lib =
        fs::read_dir(home.path().join("servers/snake/package/1/venv/lib")).unwrap().next().unwrap().unwrap();
    let has = |name: &str| lib.path().join("site-packages").join(name).exists();
    assert!(has("tzdata-2025.1.dist-info") && has("six.py"), "its own lock's version, and what is beside it");
    let installed: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(installed["installed"]["version"], json!(at), "read before anything of it ran");
    assert_eq!(
        (&installed["installed"]["packages"], &installed["installed"]["tools"]),
        (&json!(2), &json!(["hiss"]))
    );
    bridge.ask("connect_server", &json!({"server_id": "snake"}));
    assert_eq!(bridge.started_tool("snake", "hiss", &json!({})), "sss");
    assert!(
        !bridge.stderr().contains("cause=\"planned\"") && !bridge.stderr().contains("cause=\"needs_build\"")
    );
}

/// npm would have its own npm prepare what it fetches from a repository.
#[test]
fn a_package_of_npm_that_needs_a_repository_is_asked_about() {
    let (home, registry) = (Home::new(), NpmRegistry::start());
    let needed = home.scratch("needed");
    fs::create_dir_all(&needed).unwrap();
    let mark = home.scratch("ran");
    let prepare = format!("node -e \"require('fs').writeFileSync('{}', '')\"", mark.display());
    let manifest = json!({"name": "needed", "version": "1.0.0", "scripts": {"prepare": prepare}});
    fs::write(needed.join("package.json"), manifest.to_string()).unwrap();
    git(&needed, &["init", "-q"]);
    commit(&needed);
    let tiny = home.scratch("tiny");
    write_server(&tiny, "1.0.0", &["a"], "first");
    let mut manifest: Value = serde_json::from_slice(&fs::read(tiny.join("package.json")).unwrap()).unwrap();
    manifest["dependencies"] = json!({"needed": format!("git+file://{}", needed.display())});
    fs::write(tiny.join("package.json"), manifest.to_string()).unwrap();
    registry.publish_dir(&tiny, "1.0.0");
    let bridge = registry.bridge(&home);
    let plan =
        bridge.ask("install_server", &json!({"source": "npm:tiny", "plan": true}))["installed"].clone();
    assert_eq!((&plan["needs_build"], &plan["version"]), (&json!(true), &Value::Null), "{plan}");
    let refused = bridge.request("install_server", &json!({"source": "npm:tiny"})).wait(INSTALL).unwrap_err();
    assert_eq!(refused.details["cause"], "needs_build", "{refused:?}");
    let mut command = home.command("harbor");
    let mut terminal = Terminal::start(command.args(["install", "npm:tiny"]));
    terminal.wait_for("Run it? [y/N]");
    terminal.press("n\r");
    assert_eq!(terminal.end().0, 1);
    assert!(!mark.exists() && registry.fetched() == 0, "nothing of it ran, nor was fetched");
    wait_until("nothing to be left", DOWN_LIMIT, || is_gone(&home, "tiny"));
}

/// Who plans has the name for that long only; what each has planned is its own.
#[test]
fn two_clients_plan_one_name_at_once() {
    let (home, registry) = (Home::new(), NpmRegistry::start());
    registry.publish(&home, "1.0.0", &["a"], "first");
    let bridge = registry.bridge(&home);
    let other = Client::attach(&home);
    let fields = json!({"source": "npm:tiny", "plan": true});
    let (mine, theirs) =
        (bridge.request("install_server", &fields), other.request("install_server", &fields));
    let planned = |answer: Result<harbor_tests::Answer, harbor_tests::ErrorValue>| {
        answer.unwrap_or_else(|error| panic!("{error:?}"))["installed"].clone()
    };
    let (mine, theirs) = (planned(mine.wait(INSTALL)), planned(theirs.wait(INSTALL)));
    assert_eq!((&mine["version"], &mine["integrity"]), (&theirs["version"], &theirs["integrity"]));
    assert_ne!(mine["planned"], theirs["planned"]);
    let install = |token: &Value| json!({"source": "npm:tiny", "planned": token});
    let wrong = other.call("install_server", &install(&mine["planned"])).unwrap_err();
    assert_eq!(wrong.details["field"], "planned", "it is another's: {wrong:?}");
    let installed = &bridge.ask("install_server", &install(&mine["planned"]))["installed"];
    assert_eq!(installed["version"], "1.0.0");
    let late = other.request("install_server", &install(&theirs["planned"])).wait(INSTALL).unwrap_err();
    assert!(late.message.contains("a server tiny exists already"), "{late:?}");
    assert_eq!(places(&home, "tiny"), ["1"]);
    other.close();
}

/// Says at its installation what it sees, and does not start without a key.
fn write_curious(dir: &Path, version: &str, tools: &[&str], granted: &Path) {
    write_server(dir, version, tools, "first");
    let mut manifest: Value = serde_json::from_slice(&fs::read(dir.join("package.json")).unwrap()).unwrap();
    manifest["scripts"] = json!({"postinstall": "node look.js"});
    fs::write(dir.join("package.json"), manifest.to_string()).unwrap();
    let look = format!(
        "const fs = require('fs'); let read; try {{ read = fs.readFileSync({:?}, 'utf8') }} catch {{}}\n\
         fs.writeFileSync('seen.json', JSON.stringify({{ env: process.env, read }}));\n",
        granted.display().to_string()
    );
    fs::write(dir.join("look.js"), look).unwrap();
    let server = fs::read_to_string(dir.join("index.js")).unwrap();
    let need = "if (!process.env.TINY_KEY) { console.error('TINY_KEY is required'); process.exit(1); }\n";
    let (first, rest) = server.split_once('\n').unwrap();
    fs::write(dir.join("index.js"), format!("{first}\n{need}{rest}")).unwrap();
}

/// Stands in the address of the registry.
const REGISTRY_PASSWORD: &str = "geheim";

/// What the script of its first installation saw.
fn assert_saw_nothing(home: &Home, id: &str) {
    let seen = home.path().join("servers").join(id).join("package/1/node_modules/tiny/seen.json");
    let seen: Value = serde_json::from_slice(&fs::read(seen).unwrap()).unwrap();
    assert_eq!(seen["read"], Value::Null, "what the server may read is not its installer's");
    for name in ["TINY_KEY", "TINY_TOKEN"] {
        assert_eq!(seen["env"][name], Value::Null, "{name}");
    }
    assert!(seen["env"]["PATH"].is_string(), "{seen}");
    assert!(!seen.to_string().contains(REGISTRY_PASSWORD), "its registry is not the script's: {seen}");
    let of_registry = |name: &&String| name.to_ascii_uppercase().contains("REGISTRY");
    assert_eq!(seen["env"].as_object().unwrap().keys().find(of_registry), None, "{seen}");
    assert!(seen["env"]["HOME"].as_str().unwrap().ends_with("/installer/data"), "{seen}");
    assert!(!home.path().join("servers").join(id).join("installer").exists());
}

#[test]
fn an_installer_gets_nothing_of_what_its_server_is_given() {
    let (home, registry) = (Home::new(), NpmRegistry::start());
    let granted = home.scratch("granted").join("diary");
    fs::create_dir_all(granted.parent().unwrap()).unwrap();
    fs::write(&granted, "dear").unwrap();
    write_curious(&home.scratch("curious"), "1.0.0", &["a"], &granted);
    registry.publish_dir(&home.scratch("curious"), "1.0.0");
    let address = registry.url().replace("//", &format!("//me:{REGISTRY_PASSWORD}@"));
    let others = [("PIP_INDEX_URL", address.as_str()), ("npm_config_registry", &address)];
    let bridge = Bridge::start_with(&home, &others);
    let (out, err, code) = home.harbor(&["install", "npm:tiny", "--yes"]);
    assert_eq!(code, Some(5), "{out}{err}");
    assert!(
        err.contains("nothing was installed; if the server needs the key TINY_KEY, `--secret TINY_KEY`"),
        "{err}"
    );
    wait_until("nothing to be left", DOWN_LIMIT, || is_gone(&home, "tiny"));

    let read = granted.parent().unwrap().display().to_string();
    let mut command = home.command("harbor");
    let line = ["install", "npm:tiny", "--secret", "TINY_KEY", "--env", "TINY_TOKEN=t", "--read", &read];
    let mut terminal = Terminal::start(command.args(line));
    terminal.wait_for("Install it? [y/N]");
    terminal.press("y\r");
    terminal.wait_for("TINY_KEY of tiny (not shown");
    terminal.press("hunter2hunter2\r");
    assert_eq!(terminal.end().0, 0);
    assert_saw_nothing(&home, "tiny");
    let status = &bridge.ask("get_credential_status", &json!({"server_id": "tiny"}))["status"];
    assert_eq!((&status["configured"], &status["missing"]), (&json!(["TINY_KEY"]), &json!([])));
    assert_eq!(bridge.started_tool("tiny", "a", &json!({})), "1.0.0");

    let by_npx = json!({"server_id": "other", "command": "npx", "args": ["-y", "tiny"],
        "env": {"TINY_TOKEN": "t", "TINY_KEY": "k"}, "sandbox": {"level": "off", "read": [read]}});
    bridge.ask("add_server", &by_npx);
    assert_eq!(bridge.started_tool("other", "a", &json!({})), "1.0.0");
    assert_saw_nothing(&home, "other");
}

#[test]
fn a_new_version_gets_what_the_server_may_use_after_a_yes_only() {
    let (home, registry) = (Home::new(), NpmRegistry::start());
    let nowhere = home.scratch("nowhere");
    for (version, tool) in [("1.0.0", "a"), ("2.0.0", "b")] {
        write_curious(&home.scratch(version), version, &[tool], &nowhere);
    }
    registry.publish_dir(&home.scratch("1.0.0"), "1.0.0");
    let bridge = registry.bridge(&home);
    let fields = json!({"source": "npm:tiny", "secrets": ["TINY_KEY"], "secret_values": {"TINY_KEY": "hunter2hunter2"}});
    bridge.ask("install_server", &fields);
    registry.publish_dir(&home.scratch("2.0.0"), "2.0.0");
    let alone = &bridge.ask("upgrade_server", &json!({"server_id": "tiny"}))["upgrade"];
    assert!(alone["failed"].is_string() && alone["apply"].is_null(), "{alone}");
    let again = json!({"server_id": "tiny", "planned": alone["planned"], "with_all": true});
    let fetched = registry.fetched();
    let tried = &bridge.ask("upgrade_server", &again)["upgrade"];
    assert_eq!((&tried["added"], &tried["removed"]), (&json!(["b"]), &json!(["a"])));
    assert_eq!(registry.fetched(), fetched, "it was installed already");
    // `--yes` is the yes to all of it.
    let (out, err, code) = home.harbor(&["upgrade", "tiny", "--yes"]);
    assert_eq!(code, Some(0), "{out}{err}");
    assert_eq!(bridge.started_tool("tiny", "b", &json!({})), "2.0.0");
    // It runs, so what comes back is looked at.
    let out = home.done(&["upgrade", "tiny", "--undo"]);
    assert_eq!(out, "tiny is 1.0.0 again\n");
}

#[test]
fn what_was_planned_is_what_is_installed() {
    let (home, registry) = (Home::new(), NpmRegistry::start());
    registry.publish(&home, "1.0.0", &["a"], "first");
    let bridge = registry.bridge(&home);
    let plan =
        bridge.ask("install_server", &json!({"source": "npm:tiny", "plan": true}))["installed"].clone();
    assert_eq!(registry.fetched(), 0, "a plan fetches no package, so it can run none");
    assert!(plan["integrity"].as_str().unwrap().starts_with("sha512-"), "{plan}");
    registry.publish(&home, "2.0.0", &["b"], "second");
    let of = |source: &str| json!({"source": source, "server_id": "tiny", "planned": plan["planned"]});
    let wrong = bridge.call("install_server", &of("npm:tiny@2.0.0")).unwrap_err();
    assert_eq!(wrong.details["field"], "planned", "{wrong:?}");
    let installed = &bridge.ask("install_server", &of("npm:tiny"))["installed"];
    assert_eq!((&installed["version"], &installed["integrity"]), (&json!("1.0.0"), &plan["integrity"]));
    // What is known of its tools is known to the next bridge, too.
    drop(bridge);
    let bridge = registry.bridge(&home);
    let listed = bridge.call("mcp_list_tools", &json!({"server_id": "tiny"})).unwrap();
    assert_eq!((&listed["last_listed"], &listed["tools"][0]["name"]), (&json!(true), &json!("a")));
}

#[test]
fn why_nothing_could_be_installed_is_said_in_words() {
    let home = Home::new();
    let bridge = Bridge::start(&home);
    for (source, wanted) in [
        ("npm:server-that-nobody-ever-wrote", "there is no package server-that-nobody-ever-wrote on npm"),
        (
            "npm:@modelcontextprotocol/server-everything@99.0.0",
            "there is no version 99.0.0 of @modelcontextprotocol/server-everything on npm",
        ),
        ("pypi:server-that-nobody-ever-wrote", "there is no package server-that-nobody-ever-wrote on PyPI"),
        ("pypi:mcp-server-time==9.9", "there is no version 9.9 of mcp-server-time on PyPI"),
    ] {
        let (said, code) = home.refused(&["install", source, "--yes"]);
        assert_eq!(code, Some(5), "{said}");
        assert!(
            said.starts_with(&format!("harbor: the package could not be installed: {wanted}\n")),
            "{said}"
        );
        // That is all of it: the installer's own pages about it are in nobody's way.
        assert!(said.ends_with("nothing was installed\n") && !said.contains("it said:"), "{said}");
        // What was run is Harbor's own business.
        assert!(!said.contains("    $ "), "{said}");
    }
    // All that there is of it would have to be built.
    let plan = &bridge.ask("install_server", &json!({"source": "pypi:docopt", "plan": true}))["installed"];
    assert_eq!((&plan["needs_build"], &plan["version"]), (&json!(true), &Value::Null), "{plan}");
}
