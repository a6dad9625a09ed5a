//! Servers that are modules of WebAssembly, from the command line to the interpreter: added, installed, called, ended.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use harbor_tests::downloads::{Served, Signer, sha256};
use harbor_tests::processes::Process;
use harbor_tests::said::said;
use harbor_tests::wasm::{self, path_with_rustc};
use harbor_tests::{Bridge, Downloads, Home, INSTALL};
use serde_json::{Value, json};

/// Runs `harbor new server NAME --rust-wasm` in a directory of the person's, with this PATH.
fn new_server(home: &Home, directory: &Path, name: &str, path: &str) -> (String, String, Option<i32>) {
    fs::create_dir_all(directory).unwrap();
    let args = ["new", "server", name, "--rust-wasm"];
    // Where rustup is, it is to take the toolchain of the tests.
    let mut command = home.command("harbor");
    said(command.current_dir(directory).env("PATH", path).args(args))
}

/// Adds a module as the server `s`.
#[track_caller]
fn add(home: &Home, file: &Path, more: &[&str]) {
    let (out, err, code) = home.harbor(&[&["add", "s", "--wasm", file.to_str().unwrap()], more].concat());
    assert_eq!(code, Some(0), "{out}{err}");
}

/// The person's copy of a module.
fn copied(home: &Home, module: &Path) -> PathBuf {
    let file = home.scratch("tools.wasm");
    fs::copy(module, &file).unwrap();
    file
}

#[test]
fn a_new_server_is_built_added_and_called() {
    let home = Home::new();
    let bridge = Bridge::start(&home);
    let own = home.scratch("work");
    let (out, err, code) = new_server(&home, &own, "hello", &path_with_rustc());
    assert_eq!(code, Some(0), "{out}{err}");
    let told =
        "wrote hello.rs\nwrote hello.wasm\nadded hello\nhello is running: 1 tool (`harbor tools hello`)\n";
    assert_eq!(out, told);
    assert!(err.contains("`harbor call hello/greet name=World`"), "{err}");
    assert_eq!(home.done(&["call", "hello/greet", "name=Wörld 😀"]), "Hello, Wörld 😀!\n");
    assert_eq!(bridge.ask("list_servers", &json!({}))["servers"][0]["protocol_version"], "2026-07-28");

    let (_, err, code) = new_server(&home, &own, "hello", &path_with_rustc());
    assert_eq!((code, err.contains("there is a server hello already")), (Some(2), true), "{err}");
    fs::write(own.join("other.wasm"), "mine").unwrap();
    let (_, err, code) = new_server(&home, &own, "other", &path_with_rustc());
    assert_eq!((code, err.contains("other.wasm exists and stays as it is")), (Some(2), true), "{err}");
    assert!(!own.join("other.rs").exists());
}

#[test]
fn without_the_compilers_target_nothing_is_made_and_the_command_is_told() {
    let home = Home::new();
    let bridge = Bridge::start(&home);
    let (own, programs) = (home.scratch("work"), home.scratch("programs"));
    fs::create_dir(&programs).unwrap();
    let program = |name: &str, text: &str| {
        fs::write(programs.join(name), format!("#!/bin/sh\n{text}\n")).unwrap();
        fs::set_permissions(programs.join(name), fs::Permissions::from_mode(0o755)).unwrap();
    };
    let refused = |words: &str| {
        let (out, err, code) = new_server(&home, &own, "hello", programs.to_str().unwrap());
        assert!(code == Some(2) && err.contains(words), "{out}{err}");
        assert_eq!(fs::read_dir(&own).unwrap().count(), 0);
        assert_eq!(bridge.ask("list_servers", &json!({}))["servers"], json!([]));
    };
    refused("rustc is needed");
    program("rustc", "echo /nowhere/lib");
    program("rustup", "exit 1");
    refused("get it: `rustup target add wasm32-wasip1`");
    program("rustc", r#"case "$*" in *--print*) echo /tmp ;; *) echo 'no linker' >&2; exit 1 ;; esac"#);
    refused("rustc could not build the template: no linker");
}

#[test]
fn the_time_server_tells_the_time_and_is_kept_by_its_hash() {
    let home = Home::new();
    let bridge = Bridge::start(&home);
    let file = copied(&home, &wasm::time());
    add(&home, &file, &[]);
    let now = bridge.tool_text("s", "time.now", &json!({}));
    assert!(now.starts_with("20") && now.ends_with('Z') && now.len() == 20, "{now}");
    let hash = sha256(&fs::read(&file).unwrap());
    let kept = home.path().join(format!("servers/s/module/{hash}.wasm"));
    assert_eq!(fs::read(&kept).unwrap(), fs::read(&file).unwrap());
    assert!(home.done(&["list"]).contains("harbor-runner-wasm"), "its command is shown");

    // Neither the person's file nor other settings change it.
    fs::write(&file, "gone").unwrap();
    let _ = home.harbor(&["set", "s", "--", "--memory", "32"]);
    let _ = home.harbor(&["restart", "s"]);
    assert!(bridge.started_tool("s", "time.now", &json!({})).ends_with('Z'));
    // Another file in its place is never run.
    fs::copy(wasm::tools("one"), &kept).unwrap();
    let (_, err, code) = home.harbor(&["restart", "s"]);
    assert!(
        code != Some(0) && err.contains("is gone, or is not the module that was added; add it again"),
        "{err}"
    );
    let _ = home.harbor(&["remove", "s"]);
    assert!(!kept.exists());
}

#[test]
fn the_same_file_again_is_a_new_version() {
    let home = Home::new();
    let bridge = Bridge::start(&home);
    add(&home, &copied(&home, &wasm::tools("one")), &[]);
    assert_eq!(bridge.tool_text("s", "say", &json!({})), "one");
    add(&home, &copied(&home, &wasm::tools("two")), &["--", "--", "--utc", "x"]);
    assert_eq!(bridge.tool_text("s", "say", &json!({})), "two");
    assert_eq!(bridge.tool_text("s", "args", &json!({})), "--utc x");
    assert_eq!(fs::read_dir(home.path().join("servers/s/module")).unwrap().count(), 1);
}

#[test]
fn each_trouble_is_a_crash_with_its_cause_and_the_server_comes_back() {
    let home = Home::new();
    let bridge = Bridge::start(&home);
    bridge.watch();
    let limits =
        ["--restart-delays", "0.05", "--restart-attempts", "20", "--", "--busy", "0.3", "--memory", "16"];
    add(&home, &copied(&home, &wasm::tools("here")), &limits);
    for (tool, words, code) in [
        ("loop", "computed for more than 0.3 s", 124),
        ("bomb", "needed more than 16 MiB", 125),
        ("deep", "trap: ", 1),
        ("exit", "ended itself with exit code 42", 42),
    ] {
        let error = bridge.tool("s", tool, &json!({})).unwrap_err();
        assert_eq!(error.details["cause"], "exited", "{tool}: {error:?}");
        assert!(error.details["stderr_tail"].as_str().unwrap().contains(words), "{tool}: {error:?}");
        assert!(!error.message.contains("harbor sandbox"), "the sandbox has no part in it: {error:?}");
        let _ = bridge.wait_for_state("s", "crashed");
        assert_eq!(bridge.server("s")["last_exit"]["exit_code"], code, "{tool}");
        let _ = bridge.wait_for_state("s", "running");
        assert_eq!(bridge.tool_text("s", "say", &json!({})), "here", "{tool}");
    }
}

#[test]
fn an_answer_of_more_than_64_mib_is_an_error_and_the_server_goes_on() {
    let home = Home::new();
    let bridge = Bridge::start(&home);
    // An interpreter that is not optimised looks for ends of lines in all of it for seconds.
    add(&home, &copied(&home, &wasm::tools("here")), &["--", "--busy", "120"]);
    let error = bridge.tool("s", "long", &json!({})).unwrap_err();
    assert_eq!(error.details["cause"], "too_large", "{error:?}");
    assert_eq!(bridge.tool_text("s", "say", &json!({})), "here");
}

#[test]
fn it_reaches_the_granted_directories_and_nothing_else() {
    let home = Home::new();
    let bridge = Bridge::start(&home);
    let (books, notes) = (home.scratch("books"), home.scratch("notes"));
    for dir in [&books, &notes] {
        fs::create_dir(dir).unwrap();
        fs::write(dir.join("a"), "a page").unwrap();
    }
    let grants =
        ["--read", books.to_str().unwrap(), "--write", notes.to_str().unwrap(), "--env", "MODE=fast"];
    add(&home, &copied(&home, &wasm::tools("one")), &grants);
    let tool = |name: &str, path: &Path| {
        let answer = bridge.tool("s", name, &json!({"path": path})).unwrap();
        (
            answer["result"]["isError"] == true,
            answer["result"]["content"][0]["text"].as_str().unwrap().to_owned(),
        )
    };
    for dir in [&books, &notes] {
        assert_eq!(tool("read", &dir.join("a")), (false, "a page".into()));
    }
    assert_eq!(tool("write", &notes.join("b")), (false, "written".into()));
    assert!(tool("write", &books.join("b")).0);
    assert_eq!(tool("write", Path::new("own")), (false, "written".into()));
    assert!(home.path().join("servers/s/data/own").exists(), "its own directory is the current one");
    let outside = [
        "/etc/passwd".into(),
        home.path().join("harbor.db"),
        home.scratch("tools.wasm"),
        notes.join("../books/a"),
    ];
    for path in &outside {
        assert!(tool("read", path).0, "{}", path.display());
    }
    assert!(bridge.tool("s", "connect", &json!({})).unwrap()["result"]["isError"] == true);
    assert!(bridge.tool_text("s", "env", &json!({})).contains("MODE=fast"));

    let process = Process::named_by(&bridge.server("s")["pid"]);
    let proc = PathBuf::from(format!("/proc/{}", process.pid));
    let interfaces = fs::read_to_string(proc.join("net/dev")).unwrap();
    let names: Vec<_> =
        interfaces.lines().filter_map(|line| line.split_once(':')).map(|(name, _)| name.trim()).collect();
    assert_eq!(names, ["lo"]);
}

#[test]
fn what_is_no_module_is_refused_before_anything_is_kept() {
    let home = Home::new();
    let bridge = Bridge::start(&home);
    let file = home.scratch("a.wasm");
    for (bytes, words) in [
        (&b"#!/bin/sh"[..], "is no module of WebAssembly; build one for WASI preview 1"),
        (b"\0asm\x0d\0\x01\0", "is a component (WASI preview 2)"),
    ] {
        fs::write(&file, bytes).unwrap();
        let (err, code) = home.refused(&["add", "s", "--wasm", file.to_str().unwrap()]);
        assert!(code == Some(2) && err.contains(words), "{err}");
    }
    let (err, code) = home.refused(&["add", "s", "--wasm", "/nowhere.wasm"]);
    assert!(code == Some(2) && err.contains("cannot read /nowhere.wasm"), "{err}");
    let module = "AGFzbQEAAAA=";
    for (command, args, module, field) in [
        ("node", json!(["/a.wasm"]), module, "module"),
        ("harbor-runner-wasm", json!(["a.wasm"]), module, "args"),
        ("harbor-runner-wasm", json!([]), module, "args"),
        ("harbor-runner-wasm", json!(["/a.wasm"]), "%", "module"),
        ("harbor-runner-wasm", json!(["/a.wasm"]), "IyEvYmluL3No", "module"),
    ] {
        let ask = json!({"server_id": "s", "command": command, "args": args, "module": module});
        let error = bridge.call("add_server", &ask).unwrap_err();
        assert_eq!(error.details["field"], field, "{error:?}");
    }
    assert_eq!(bridge.ask("list_servers", &json!({}))["servers"], json!([]));
    // What only the interpreter can see: it says so, and the definition stays, as that of any program that does not start.
    fs::write(&file, b"\0asm\x01\0\0\0").unwrap();
    let (_, err, code) = home.harbor(&["add", "s", "--wasm", file.to_str().unwrap(), "--restart", "never"]);
    assert_ne!(code, Some(0), "{err}");
    let exit = bridge.exit("s");
    assert!(exit["stderr_tail"].as_str().unwrap().contains("no function _start"), "{exit}");
}

#[test]
fn a_module_is_installed_from_an_address_by_its_hash_or_its_key() {
    let (home, place) = (Home::new(), Downloads::start());
    let bridge = Bridge::start(&home);
    let (one, two) = (fs::read(wasm::time()).unwrap(), fs::read(wasm::tools("two")).unwrap());
    place.offer("/mcp-time.wasm", Served::File(one.clone()));
    let url = place.url("/mcp-time.wasm");
    let install = |more: &[&str]| {
        let args = [&["install", &url, "--allow-http", "--allow-private", "--yes"], more].concat();
        said(home.command("harbor").args(args))
    };
    let (_, err, code) = install(&[]);
    assert!(code == Some(2) && err.contains("by --sha256 HEX"), "{err}");
    let (_, err, code) = install(&["--sha256", &sha256(&two)]);
    assert!(code != Some(0) && err.contains("is not the expected file"), "{err}");
    let (out, err, code) = install(&["--sha256", &sha256(&one)]);
    assert_eq!(code, Some(0), "{out}{err}");
    assert!((out + &err).contains("installed time: "));
    bridge.ask("connect_server", &json!({"server_id": "time"}));
    assert!(bridge.tool_text("time", "time.now", &json!({})).ends_with('Z'));
    let sandbox = bridge.ask("get_sandbox", &json!({"server_id": "time"}));
    assert_eq!(sandbox["sandbox"]["settings"]["network"], Value::from("none"), "{sandbox}");

    // A key that the person names is held to.
    let (signer, other) = (Signer::new(&home, "publish"), Signer::new(&home, "somebody"));
    let public = signer.public();
    let signed =
        |signature: String| place.offer("/mcp-time.wasm.minisig", Served::File(signature.into_bytes()));
    signed(other.sign(&one));
    let (_, err, code) = install(&["--key", &public, "--name", "signed"]);
    assert!(code != Some(0) && err.contains("by a different key"), "{err}");
    signed(signer.sign(&one));
    let (out, err, code) = install(&["--key", &public, "--name", "signed"]);
    assert_eq!(code, Some(0), "{out}{err}");
    place.offer("/mcp-time.wasm", Served::File(two.clone()));
    signed(other.sign(&two));
    let refused =
        bridge.request("upgrade_server", &json!({"server_id": "signed"})).wait(INSTALL).unwrap_err();
    assert!(refused.message.contains("by a different key"), "{refused:?}");
    signed(signer.sign(&two));
    let (out, err, code) = said(home.command("harbor").args(["upgrade", "signed", "--yes"]));
    assert_eq!(code, Some(0), "{out}{err}");
    assert_eq!(bridge.started_tool("signed", "say", &json!({})), "two");
}
