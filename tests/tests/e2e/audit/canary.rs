//! A word that stands in arguments and results, and in no file, no log and no line on stderr.
//!
//! What is searched is the whole of HARBOR_HOME as bytes, the database with its WAL too, while the bridge runs and after
//! it has ended, at the most talkative level of its log. The servers here write nothing of it to their own logs.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use harbor_tests::bridge::shut_down_detached;
use harbor_tests::client::{CALL, LIST};
use harbor_tests::{Bridge, Client, Double, Home, LIMIT, Relay, wait_until};
use serde_json::{Value, json};

use super::{SITE, connect_parrot, wait_for_line};

/// No escape of any encoding changes it.
const CANARY: &str = "canary7f3e91b2d5";

const TRACE: &[(&str, &str)] = &[("HARBOR_LOG", "trace")];

/// Every file below `dir`, with its bytes.
fn files(dir: &Path, found: &mut BTreeMap<PathBuf, Vec<u8>>) {
    for entry in fs::read_dir(dir).unwrap() {
        let entry = entry.unwrap();
        let kind = entry.file_type().unwrap();
        if kind.is_dir() {
            files(&entry.path(), found);
        } else if kind.is_file() {
            // One that was renamed or removed meanwhile is found under its other name, or gone.
            found.extend(fs::read(entry.path()).ok().map(|bytes| (entry.path(), bytes)));
        }
    }
}

fn has(bytes: &[u8], word: &str) -> bool {
    bytes.windows(word.len()).any(|window| window == word.as_bytes())
}

/// Demands that no file has the word. That the search finds what is there, it shows with the origin.
fn assert_nowhere(home: &Home) {
    let mut all = BTreeMap::new();
    files(&home.path(), &mut all);
    let with = |word: &str| -> Vec<_> {
        all.iter().filter(|(_, bytes)| has(bytes, word)).map(|(path, _)| path.file_name().unwrap()).collect()
    };
    assert_eq!(with(CANARY), Vec::<&str>::new());
    let names = with(SITE);
    assert!(names.iter().any(|name| *name == "audit.jsonl"), "{names:?}");
    assert!(names.iter().any(|name| name.to_string_lossy().starts_with("harbor.db")), "{names:?}");
}

fn assert_not_said(stderr: &str) {
    assert!(!stderr.contains(CANARY), "{stderr}");
    assert!(stderr.len() < 1_000_000, "more would not have been kept: {}", stderr.len());
}

/// Sends the word through every place of arguments, results and errors.
fn send_everywhere(client: &Client, double: &Double) {
    let site = client.speaking_for(SITE);
    let say = |how: &str| json!({"as": how, "text": CANARY});
    // In each of these the server repeats it, and the client sees it.
    for how in ["result", "is_error", "twice", "nobody", "wrong_type"] {
        let answer = site.tool("p/say", &say(how)).unwrap();
        assert!(answer.field_text("result").contains(CANARY), "{how}");
        assert!(client.tool("p", "say", &say(how)).unwrap().text.contains(CANARY), "{how}");
    }
    let error = site.tool("p/say", &say("rpc_error")).unwrap_err();
    assert_eq!((error.code.as_str(), &error.details["data"]["said"]), ("ERR_TOOL_FAILED", &json!(CANARY)));
    let call = json!({"tool_name": "p/say", "args": say("progress"), "progress": true});
    assert!(site.ask("host_call_tool", &call).is_ok());
    assert_eq!(client.push_now("progress").unwrap()["message"], CANARY);

    // Here the answer or the arguments are wrong, so that somebody has something to complain about.
    let code = |arguments: &Value| site.tool("p/say", arguments).unwrap_err().code;
    for how in ["wrong_kind", "neither"] {
        assert_eq!(code(&say(how)), "ERR_PROTOCOL_ERROR", "{how}");
    }
    let wrong = [
        json!({"as": "result", "text": [CANARY]}),
        json!({"as": {CANARY: 1}, "text": "x"}),
        json!({"as": "result", "text": "x", CANARY: CANARY}),
        json!({"as": CANARY}),
        json!({"as": "result", "text": CANARY.repeat(1000)}),
    ];
    assert_eq!(wrong.map(|arguments| code(&arguments)), ["invalid_params"; 5]);
    // So much is checked against no schema, and its echo is too large for this client.
    assert_eq!(code(&json!({"as": "result", "text": CANARY.repeat(100_000)})), "message_too_large");
    let not_an_object = json!({"tool_name": "p/say", "args": CANARY});
    assert_eq!(site.ask("host_call_tool", &not_an_object).unwrap_err().code, "invalid_params");
    for broken in [format!("{{\"type\":\"host_call_tool\",\"args\":\"{CANARY}"), format!("[\"{CANARY}\"]")] {
        client.send(broken.as_bytes());
        assert_eq!(client.next_stray(LIMIT).code, "invalid_message");
    }

    // Refused, too many, too slow, cancelled, and dead in the middle of it.
    let stranger = client.speaking_for("https://stranger.example");
    assert_eq!(stranger.tool("p/say", &say("result")).unwrap_err().code, "ERR_SCOPE_REQUIRED");
    assert_eq!(site.tool("p/nothing", &say("result")).unwrap_err().code, "ERR_TOOL_NOT_FOUND");
    let slow = json!({"tool_name": "s/late", "args": {CANARY: CANARY}, "timeout_ms": 50});
    assert_eq!(site.ask("host_call_tool", &slow).unwrap_err().code, "ERR_TOOL_TIMEOUT");
    let waiting = site.send_tool("s/sleep", &json!({"ms": 60_000, "note": CANARY}));
    let _ = double.journal().wait_for("call sleep");
    client.call("cancel", &json!({"target": waiting.id})).unwrap();
    assert_eq!(waiting.wait(LIMIT).unwrap_err().code, "cancelled");
    let echoed = site.tool("s/echo", &json!({CANARY: [CANARY, {CANARY: null}]})).unwrap();
    assert!(echoed.content_text().contains(CANARY));
    let prompt = json!({"server_id": "s", "prompt_name": "greet", "arguments": {"who": CANARY}});
    assert!(client.call("mcp_get_prompt", &prompt).unwrap().text.contains(CANARY));
    let complete = json!({"server_id": "s", "reference": {"type": "ref/prompt", "name": "greet"},
        "argument": {"name": "who", "value": CANARY}, "context": {"arguments": {"who": CANARY}}});
    client.call("mcp_complete", &complete).unwrap();
    assert_eq!(site.tool("p/say", &say("die")).unwrap_err().code, "ERR_SERVER_UNAVAILABLE");
    wait_until("the server to be up again", LIMIT, || client.server("p")["state"] == "running");
    assert!(site.tool("p/say", &say("result")).is_ok());
}

/// Whoever may do what, before the word is sent.
fn prepare(client: &Client, home: &Home) -> Double {
    connect_parrot(client, home, "Hello.");
    let double = Double::sound(home);
    client.add_and_connect("s", &double);
    for scope in [LIST, CALL] {
        client.speaking_for(SITE).grant(scope, "ALLOW_ALWAYS", &json!({}));
    }
    double
}

#[test]
fn arguments_and_results_are_on_no_disk_and_in_no_log() {
    let home = Home::new();
    home.configure("[host]\ncheckOutput = true\n");
    let mut bridge = Bridge::start_with(&home, TRACE);
    let double = prepare(&bridge, &home);
    send_everywhere(&bridge, &double);
    // Somebody who leaves in the middle of it, and a bridge that is killed in the middle of it.
    let client = Client::attach(&home);
    let abandoned = client.send_tool("s", "late", &json!({CANARY: CANARY}));
    wait_until("the call to be made", LIMIT, || double.journal().count("call late") == 2);
    client.close();
    let _ = wait_for_line(&home, |line| line["tool"] == "late" && line["code"] == "cancelled");
    drop(abandoned);
    assert_nowhere(&home);
    let _ = bridge.send_tool("s", "sleep", &json!({"ms": 60_000, "note": CANARY}));
    wait_until("the call to be made", LIMIT, || double.journal().count("call sleep") == 2);
    bridge.kill();
    assert_nowhere(&home);
    assert_not_said(&bridge.stderr());
    bridge.said("serving");

    let mut bridge = Bridge::start_with(&home, TRACE);
    for id in ["p", "s"] {
        bridge.connect(id);
        assert!(!bridge.logs(id).iter().any(|line| line.to_string().contains(CANARY)));
    }
    bridge.stop();
    assert_nowhere(&home);
    assert_not_said(&bridge.stderr());
}

/// A bridge that a browser started has a log file in place of stderr, and the relay before it.
#[test]
fn nor_are_they_behind_a_relay_nor_in_the_log_of_a_detached_bridge() {
    let home = Home::new();
    home.configure("[host]\ncheckOutput = true\n");
    let relay = Relay::chrome(&home, TRACE);
    let double = prepare(&relay, &home);
    send_everywhere(&relay, &double);
    let log = fs::read(home.path().join("logs/bridge.log")).unwrap();
    assert!(has(&log, "serving"));
    assert_nowhere(&home);
    assert_not_said(&relay.stderr());
    drop(relay);
    shut_down_detached(&home);
    assert_nowhere(&home);
}
