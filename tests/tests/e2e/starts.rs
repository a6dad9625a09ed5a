//! Servers that cannot be started: each way to fail has its own cause, a sentence that says what to do, and
//! leaves a bridge that works and no process.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::time::{Duration, Instant};

use harbor_tests::faults::{LAST_WORDS, OLD_VERSION, REFUSAL};
use harbor_tests::home::TEST_ID;
use harbor_tests::processes::descendants;
use harbor_tests::{Bridge, Double, ErrorValue, Fault, Home, PROMPT, wait_until};
use serde_json::{Value, json};

/// Demands what holds for every failed start; returns the error for what is special about it.
fn failed_start(bridge: &Bridge, id: &str, cause: &str) -> ErrorValue {
    let error = bridge.fail_to_connect(id);
    assert_eq!(
        (error.code.as_str(), error.details["cause"].as_str()),
        ("connection_failed", Some(cause)),
        "{error:?}"
    );
    assert!(error.message.len() > 20 && !error.message.contains("EndCause"), "a sentence: {}", error.message);
    let server = bridge.server(id);
    assert_eq!(server["state"], "failed", "{server}");
    assert!(server["last_error"].as_str().is_some_and(|text| !text.is_empty()), "{server}");
    assert_eq!(bridge.connection(id), None);
    error
}

fn fail_with(bridge: &Bridge, double: &Double, cause: &str) -> ErrorValue {
    bridge.add("s", double);
    let error = failed_start(bridge, "s", cause);
    no_server_process(bridge);
    error
}

fn no_server_process(bridge: &Bridge) {
    wait_until("the failed server's process to be gone", PROMPT, || {
        let below = descendants(bridge.process().pid);
        below.iter().all(|process| !process.command_line().contains("misbehaving-server"))
    });
}

fn add(bridge: &Bridge, home: &Home, fields: Value) {
    let mut whole = json!({"server_id": "s", "env": {TEST_ID: home.id()}});
    whole.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
    bridge.call("add_server", &whole).unwrap();
}

#[test]
fn the_command_is_not_found() {
    let home = Home::new();
    let bridge = Bridge::start(&home);
    for command in ["/nowhere/to/be/found", "harbor-no-such-command"] {
        add(&bridge, &home, json!({"command": command}));
        let error = failed_start(&bridge, "s", "spawn_failed");
        assert!(error.message.contains(command), "{}", error.message);
    }
    assert!(bridge.is_alive());
}

#[test]
fn the_command_is_not_executable() {
    let home = Home::new();
    let bridge = Bridge::start(&home);
    let plain = home.scratch("plain");
    fs::write(&plain, "#!/bin/sh\n").unwrap();
    fs::set_permissions(&plain, fs::Permissions::from_mode(0o644)).unwrap();
    for command in [plain.to_string_lossy().into_owned(), home.scratch("").to_string_lossy().into_owned()] {
        add(&bridge, &home, json!({"command": command}));
        let error = failed_start(&bridge, "s", "spawn_failed");
        assert!(error.message.contains(&command), "{}", error.message);
    }
}

#[test]
fn the_interpreter_of_a_script_is_not_there() {
    let home = Home::new();
    let bridge = Bridge::start(&home);
    let script = home.scratch("script");
    fs::write(&script, "#!/no/such/interpreter -x\n").unwrap();
    fs::set_permissions(&script, fs::Permissions::from_mode(0o700)).unwrap();
    add(&bridge, &home, json!({"command": script}));
    let error = failed_start(&bridge, "s", "spawn_failed");
    let by = format!("could not run {} by its interpreter /no/such/interpreter: ", script.display());
    assert!(error.message.contains(&by), "{error:?}");
}

#[test]
fn the_directory_is_not_there() {
    let home = Home::new();
    let bridge = Bridge::start(&home);
    add(&bridge, &home, json!({"command": "/bin/sh", "cwd": "/nowhere/to/be/found"}));
    let error = failed_start(&bridge, "s", "spawn_failed");
    assert!(error.message.contains("/nowhere/to/be/found"), "{}", error.message);
}

#[test]
fn the_server_exits_at_once() {
    let home = Home::new();
    let bridge = Bridge::start(&home);
    let error = fail_with(&bridge, &Double::new(&home, Fault::ExitsAtOnce), "exited");
    assert!(error.message.contains('3'), "the exit code: {}", error.message);
    assert!(error.details["stderr_tail"].as_str().unwrap().contains(LAST_WORDS), "{error:?}");
    let logs = bridge.logs("s");
    assert!(logs.iter().any(|line| line["source"] == "stderr" && line["text"] == LAST_WORDS), "{logs:?}");
}

#[test]
fn the_program_is_no_server_and_ends_well() {
    let home = Home::new();
    let bridge = Bridge::start(&home);
    add(&bridge, &home, json!({"command": "true"}));
    let error = failed_start(&bridge, "s", "exited");
    assert!(error.message.contains('0'), "the exit code: {}", error.message);
}

#[test]
fn the_server_never_answers_initialize() {
    let home = Home::new();
    let bridge = Bridge::start(&home);
    for double in [
        Double::new(&home, Fault::NeverAnswersInitialize),
        Double::new(&home, Fault::NeverAnswersInitialize).modern(),
        Double::sound(&home).delay_ms(60_000),
    ] {
        let begin = Instant::now();
        let error = fail_with(&bridge, &double.start_timeout_ms(1000), "timeout");
        let took = begin.elapsed();
        assert!(took >= Duration::from_secs(1) && took < Duration::from_secs(8), "took {took:?}");
        assert!(
            error.message.contains("1000") || error.message.contains("1 s"),
            "the limit: {}",
            error.message
        );
    }
}

#[test]
fn the_server_refuses() {
    let home = Home::new();
    let bridge = Bridge::start(&home);
    let error = fail_with(&bridge, &Double::new(&home, Fault::RefusesInitialize), "refused");
    assert!(error.message.contains(REFUSAL), "{}", error.message);
    // A modern one refuses both ways to make contact.
    fail_with(&bridge, &Double::new(&home, Fault::RefusesInitialize).modern(), "refused");
}

#[test]
fn the_server_answers_with_something_that_is_no_mcp() {
    let home = Home::new();
    let bridge = Bridge::start(&home);
    fail_with(&bridge, &Double::new(&home, Fault::MalformedInitialize), "malformed");
}

#[test]
fn the_server_speaks_an_unknown_protocol_version() {
    let home = Home::new();
    let bridge = Bridge::start(&home);
    for double in
        [Double::new(&home, Fault::UnknownVersion), Double::new(&home, Fault::UnknownVersion).modern()]
    {
        let error = fail_with(&bridge, &double, "unknown_protocol_version");
        assert!(error.message.contains(OLD_VERSION), "{}", error.message);
    }
}

#[test]
fn a_server_with_a_grandchild_leaves_nothing_when_it_fails() {
    let home = Home::new();
    let bridge = Bridge::start(&home);
    let script = home.scratch("with-child.sh");
    fs::write(&script, "#!/bin/sh\nsleep 60 &\nexit 5\n").unwrap();
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
    add(&bridge, &home, json!({"command": script}));
    // The sleeper holds stdout and stderr open: only the exit tells.
    let begin = Instant::now();
    let error = failed_start(&bridge, "s", "exited");
    assert!(error.message.contains('5'), "{}", error.message);
    assert!(begin.elapsed() < PROMPT, "took {:?}", begin.elapsed());
    wait_until("the sleeper to be gone", PROMPT, || {
        descendants(bridge.process().pid).iter().all(|process| !process.command_line().contains("sleep"))
    });
}

#[test]
fn a_definition_that_was_corrected_starts() {
    let home = Home::new();
    let bridge = Bridge::start(&home);
    fail_with(&bridge, &Double::new(&home, Fault::ExitsAtOnce), "exited");
    let replaced = bridge.call("add_server", &Double::sound(&home).definition("s")).unwrap();
    assert_eq!(replaced["replaced"], true);
    bridge.connect("s");
    let server = bridge.server("s");
    assert_eq!((&server["state"], &server["last_error"]), (&json!("running"), &Value::Null), "{server}");
}

#[test]
fn many_requests_to_start_one_server_start_it_once() {
    let home = Home::new();
    let bridge = Bridge::start(&home);
    let double = Double::sound(&home).delay_ms(200);
    bridge.add("s", &double);
    let starts: Vec<_> = (0..20)
        .map(|n| bridge.request(["mcp_connect", "connect_server"][n % 2], &json!({"server_id": "s"})))
        .collect();
    for start in starts {
        start.wait(harbor_tests::LIMIT).unwrap();
    }
    assert_eq!(double.journal().count("start"), 1);
}
