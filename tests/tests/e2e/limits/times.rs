//! How long a call may take: who says so, and from when on it counts.

use std::time::{Duration, Instant};

use harbor_tests::{Bridge, Double, Home, LIMIT};
use serde_json::json;

use super::{FOR_EVER, PAGE, assert_limited, cancel, hold, queue, scene};

/// A call of `origin` to this server is given up after so many milliseconds.
fn given_up_after(bridge: &Bridge, origin: &str, server: &str, ms: u64) {
    let page = bridge.asking(origin).allowed();
    let begin = Instant::now();
    let error = page.call(&format!("{server}/sleep"), &json!({"ms": FOR_EVER})).unwrap_err();
    assert!(begin.elapsed() >= Duration::from_millis(ms), "{origin} {server}");
    assert_eq!(error.code, "ERR_TOOL_TIMEOUT", "{error:?}");
    assert!(error.message.contains(&format!("within {ms} ms")), "{origin} {server}: {}", error.message);
}

#[test]
fn the_default_is_of_the_server_else_of_the_definition_else_of_the_origin_else_of_all() {
    let home = Home::new();
    home.configure(
        "[limits]\ndefaultTimeoutMs = 300\n\
         [limits.origin.\"https://slow.example\"]\ndefaultTimeoutMs = 400\n\
         [limits.server.other]\ndefaultTimeoutMs = 500\n",
    );
    let bridge = Bridge::start(&home);
    bridge.add_and_connect("s", &Double::sound(&home));
    bridge.add_and_connect("other", &Double::sound(&home).supervision(&json!({"call_timeout_ms": 100})));
    bridge.add_and_connect("defined", &Double::sound(&home).supervision(&json!({"call_timeout_ms": 600})));
    given_up_after(&bridge, PAGE, "s", 300);
    for origin in [PAGE, "https://slow.example"] {
        given_up_after(&bridge, origin, "other", 500);
        given_up_after(&bridge, origin, "defined", 600);
    }
    given_up_after(&bridge, "https://slow.example", "s", 400);
    assert_eq!(
        bridge.tool_text("s", "sleep", &json!({"ms": 1000})),
        "slept",
        "the owner's is the definition's"
    );
}

#[test]
fn the_time_of_a_call_counts_from_when_it_was_asked_for() {
    let home = Home::new();
    let double = Double::sound(&home);
    let (_bridge, page) = scene(&home, "[limits]\nmaxConcurrentPerOrigin = 1\n", &double);
    let first = page.send_call("s/sleep", &json!({"ms": 2000}));
    let _ = double.journal().wait_for("call sleep");
    let begin = Instant::now();
    let call = page.send_call_with("s/sleep", &json!({"ms": FOR_EVER}), &json!({"timeout_ms": 3000}));
    let error = call.wait(LIMIT).unwrap_err();
    let took = begin.elapsed();
    assert_eq!(error.code, "ERR_TOOL_TIMEOUT", "{error:?}");
    assert!(took >= Duration::from_millis(2990) && took < Duration::from_millis(4990), "{took:?}");
    assert!(first.wait(LIMIT).is_ok());
    let _ = double.journal().wait_for("cancelled");
}

#[test]
fn nobody_waits_for_a_turn_longer_than_the_call_may_take() {
    let home = Home::new();
    let double = Double::sound(&home);
    let (bridge, page) = scene(&home, "[limits]\nmaxConcurrentPerOrigin = 1\n", &double);
    let held = hold(&page, &double);
    let begin = Instant::now();
    let error = page.call_with("s/echo", &json!({}), &json!({"timeout_ms": 300})).unwrap_err();
    let took = begin.elapsed();
    assert_limited(&error, "concurrent");
    assert!(took >= Duration::from_millis(300) && took < Duration::from_secs(3), "{took:?}");
    let waits = queue(&page, "s/echo", &json!({}));
    cancel(&bridge, &held);
    assert!(waits.wait(LIMIT).is_ok());
    assert_eq!(double.journal().count("call echo"), 1);
}

#[test]
fn a_time_out_of_range_is_refused() {
    let home = Home::new();
    let double = Double::sound(&home);
    let (_bridge, page) = scene(&home, "", &double);
    for wrong in [0, 3_600_001] {
        let error = page.call_with("s/echo", &json!({}), &json!({"timeout_ms": wrong})).unwrap_err();
        let said = (error.code.as_str(), &error.details["field"]);
        assert_eq!(said, ("invalid_params", &json!("timeout_ms")), "{wrong}");
    }
    assert_eq!(double.journal().count("call"), 0);
}
