//! Servers that are scripts, from the command line to the interpreter: added, called, changed, ended.

use std::fs;
use std::path::{Path, PathBuf};

use harbor_tests::processes::Process;
use harbor_tests::said::said;
use harbor_tests::{Bridge, Home};
use serde_json::{Value, json};

/// Runs `harbor` in a directory of the person's.
fn harbor_in(home: &Home, directory: &Path, args: &[&str]) -> (String, String, Option<i32>) {
    fs::create_dir_all(directory).unwrap();
    said(home.command("harbor").current_dir(directory).args(args))
}

/// A file with a script whose tools are these.
fn script(home: &Home, tools: &str) -> PathBuf {
    let file = home.scratch("tools.js");
    let text =
        format!("import {{ serve }} from 'harbor:mcp';\nserve({{ name: 'tools', tools: {{ {tools} }} }});\n");
    fs::write(&file, text).unwrap();
    file
}

/// Adds a script as the server `s`.
#[track_caller]
fn add(home: &Home, file: &Path, more: &[&str]) {
    let (out, err, code) = home.harbor(&[&["add", "s", "--js", file.to_str().unwrap()], more].concat());
    assert_eq!(code, Some(0), "{out}{err}");
}

#[test]
fn a_new_server_is_written_added_and_called() {
    let home = Home::new();
    let _bridge = Bridge::start(&home);
    let own = home.scratch("work");
    let (out, err, code) = harbor_in(&home, &own, &["new", "server", "hello", "--js"]);
    assert_eq!(code, Some(0), "{out}{err}");
    assert_eq!(out, "wrote hello.js\nadded hello\nhello is running: 1 tool (`harbor tools hello`)\n");
    assert!(err.contains("`harbor call hello/greet name=World`"), "{err}");
    assert_eq!(home.done(&["call", "hello/greet", "name=World"]), "Hello, World!\n");

    let (_, err, code) = harbor_in(&home, &own, &["new", "server", "hello", "--js"]);
    assert_eq!((code, err.contains("there is a server hello already")), (Some(2), true), "{err}");
    fs::write(own.join("other.js"), "mine").unwrap();
    let (_, err, code) = harbor_in(&home, &own, &["new", "server", "other", "--js"]);
    assert_eq!((code, err.contains("other.js exists and stays as it is")), (Some(2), true), "{err}");
    assert_eq!(fs::read_to_string(own.join("other.js")).unwrap(), "mine");
}

#[test]
fn an_edited_file_changes_nothing_until_it_is_added_again() {
    let home = Home::new();
    let bridge = Bridge::start(&home);
    let file = script(&home, "say: { run: () => 'one' }");
    add(&home, &file, &[]);
    let is = |wanted: &str| assert_eq!(bridge.started_tool("s", "say", &json!({})), wanted);
    script(&home, "say: { run: () => 'two' }");
    let _ = home.harbor(&["restart", "s"]);
    is("one");
    // Nor does another copy's change.
    let copy = home.path().join("servers/s/script/tools.js");
    fs::write(&copy, "throw 1;").unwrap();
    let _ = home.harbor(&["restart", "s"]);
    is("one");
    let _ = home.harbor(&["set", "s", "--", "--memory", "32"]);
    fs::remove_file(&file).unwrap();
    let _ = home.harbor(&["restart", "s"]);
    is("one");
    add(&home, &script(&home, "say: { run: () => 'two' }"), &[]);
    is("two");
    assert!(home.done(&["list"]).contains("harbor-runner-js"), "its command is shown");
    let _ = home.harbor(&["remove", "s"]);
    assert!(!copy.exists());
}

#[test]
fn an_endless_loop_is_a_crash_with_its_cause_and_the_server_comes_back() {
    let home = Home::new();
    let bridge = Bridge::start(&home);
    bridge.watch();
    let tools = "loop: { run() { for (;;); } }, deep: { run: () => { const deep = () => deep() + 1; return deep(); } },
        say: { run: () => 'here' }";
    add(&home, &script(&home, tools), &["--restart-delays", "0.05", "--", "--busy", "0.3"]);
    let error = bridge.tool("s", "loop", &json!({})).unwrap_err();
    assert_eq!(error.details["cause"], "exited", "{error:?}");
    assert!(
        error.details["stderr_tail"].as_str().unwrap().contains("computed for more than 0.3 s"),
        "{error:?}"
    );
    let crashed = bridge.wait_for_state("s", "crashed");
    assert_eq!(crashed["cause"], "exited");
    assert_eq!(bridge.server("s")["last_exit"]["exit_code"], 124);
    let _ = bridge.wait_for_state("s", "running");
    assert_eq!(bridge.tool_text("s", "say", &json!({})), "here");
    let answer = bridge.tool("s", "deep", &json!({})).unwrap();
    assert_eq!(answer["result"]["isError"], true, "recursion is only an error: {answer:?}");
    assert_eq!(bridge.tool_text("s", "say", &json!({})), "here");
}

#[test]
fn a_script_without_memory_or_with_an_error_does_not_start_and_says_why() {
    let home = Home::new();
    let bridge = Bridge::start(&home);
    for (text, words) in [
        ("const all = []; for (;;) all.push(new Array(1000).fill(0));", "needed more than 64 MiB"),
        ("throw new Error('not today');", "uncaught Error: not today"),
        ("import 'fs';", "only harbor:mcp can be imported"),
    ] {
        let file = home.scratch("tools.js");
        fs::write(&file, text).unwrap();
        let (_, err, code) = home.harbor(&["add", "s", "--js", file.to_str().unwrap(), "--restart", "never"]);
        assert_ne!(code, Some(0), "{err}");
        let exit = bridge.exit("s");
        assert_eq!(exit["cause"], "exited", "{exit}");
        assert!(exit["stderr_tail"].as_str().unwrap().contains(words), "{exit}");
    }
}

#[test]
fn the_interpreter_has_no_network_no_home_and_nothing_but_its_pipes() {
    let home = Home::new();
    let bridge = Bridge::start(&home);
    add(&home, &script(&home, "env: { run: () => process.env }"), &["--env", "MODE=fast"]);
    let process = Process::named_by(&bridge.connect("s")["pid"]);
    let proc = PathBuf::from(format!("/proc/{}", process.pid));
    let interfaces = fs::read_to_string(proc.join("net/dev")).unwrap();
    let names: Vec<_> =
        interfaces.lines().filter_map(|line| line.split_once(':')).map(|(name, _)| name.trim()).collect();
    assert_eq!(names, ["lo"]);
    let inside = |path: &Path| proc.join("root").join(path.strip_prefix("/").unwrap());
    assert!(!inside(&home.path().join("harbor.db")).exists(), "Harbor's home is hidden");
    assert!(!inside(&home.scratch("tools.js")).exists(), "the person's file is not there");
    let open: Vec<_> = fs::read_dir(proc.join("fd"))
        .unwrap()
        .flatten()
        .map(|entry| fs::read_link(entry.path()).unwrap())
        .collect();
    assert!(open.iter().all(|file| file.to_string_lossy().starts_with("pipe:")), "{open:?}");
    let shown: Value = serde_json::from_str(&bridge.tool_text("s", "env", &json!({}))).unwrap();
    assert_eq!(shown["MODE"], "fast");
}

#[test]
fn what_is_no_script_is_refused_before_anything_is_kept() {
    let home = Home::new();
    let bridge = Bridge::start(&home);
    let file = home.scratch("a.js");
    fs::write(&file, b"\xff").unwrap();
    let (err, code) = home.refused(&["add", "s", "--js", file.to_str().unwrap()]);
    assert!(code == Some(2) && err.contains("is not UTF-8; save it as UTF-8"), "{err}");
    let (err, code) = home.refused(&["add", "s", "--js", "/nowhere.js"]);
    assert!(code == Some(2) && err.contains("cannot read /nowhere.js"), "{err}");
    let big = "x".repeat(512 * 1024 + 1);
    for (command, args, script, field) in [
        ("node", json!(["/a.js"]), "", "script"),
        ("harbor-runner-js", json!(["a.js"]), "", "args"),
        ("harbor-runner-js", json!([]), "", "args"),
        ("harbor-runner-js", json!(["/a.js"]), big.as_str(), "script"),
    ] {
        let ask = json!({"server_id": "s", "command": command, "args": args, "script": script});
        let error = bridge.call("add_server", &ask).unwrap_err();
        assert_eq!(error.details["field"], field, "{error:?}");
    }
    assert_eq!(bridge.ask("list_servers", &json!({}))["servers"], json!([]));
}

#[test]
fn the_manifest_of_a_script_is_installed_as_it_is_shown() {
    let home = Home::new();
    let _bridge = Bridge::start(&home);
    let script = "import { serve } from 'harbor:mcp'; serve({ name: 'e', tools: { mode: { run: () => process.env.MODE } } });";
    let file = home.scratch("echo.json");
    let manifest = |more: Value| {
        let mut all = json!({"id": "echo", "name": "Echo", "runtime": "js", "scriptUrl": "echo-server.js", "env": ["MODE=fast"]});
        all.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        fs::write(&file, all.to_string()).unwrap();
        home.harbor(&["install", file.to_str().unwrap(), "--yes"])
    };
    let (_, err, code) = manifest(json!({"scriptUrl": "../echo-server.js"}));
    assert_eq!((code, err.contains("does not lie beside it")), (Some(2), true), "{err}");
    fs::write(file.with_file_name("echo-server.js"), script).unwrap();
    let (out, err, code) = manifest(json!({"capabilities": {"network": {"hosts": ["a.example"]}}}));
    assert_eq!(code, Some(0), "{out}{err}");
    assert_eq!(home.done(&["call", "echo/mode"]), "fast\n");
    assert!(home.done(&["sandbox", "echo"]).contains("a.example"));
    let (_, err, code) = manifest(json!({"name": "Another"}));
    assert_eq!((code, err.contains("there is a server echo already")), (Some(2), true), "{err}");
}
