//! What comes back to an origin: the server's own bytes, where they come from, and progress on the way.

use harbor_tests::double::echo_result;
use harbor_tests::{Bridge, Double, Home, LIMIT};
use serde_json::json;

use super::{PAGE, scene};

#[test]
fn a_result_is_byte_for_byte_what_the_server_wrote() {
    let home = Home::new();
    let bridge = Bridge::start(&home);
    bridge.add_and_connect("legacy", &Double::sound(&home));
    bridge.add_and_connect("modern", &Double::sound(&home).modern());
    let _page = bridge.asking(PAGE).allowed();
    let rows = [
        "{}",
        r#"{"big":12345678901234567890,"bigger":123456789012345678901234567890,"neg":-0,"exp":1e2,"dec":1.50}"#,
        r#"{"z":"\u0041\/ \ud83d\ude00","a":"é😀","__proto__":null,"result":{"error":{}}}"#,
        r#"{ "spaced" : [ 1 , 2 ,	3 ] }"#,
    ];
    for (server, modern) in [("legacy", false), ("modern", true)] {
        for args in rows {
            let members = format!(r#""origin":"{PAGE}","tool_name":"{server}/echo","args":{args}"#);
            let answer = bridge.request_text("host_call_tool", &members).wait(LIMIT).unwrap();
            assert_eq!(answer.field_text("result"), echo_result(args, modern), "{server}");
        }
    }
}

#[test]
fn a_result_says_where_it_comes_from() {
    let home = Home::new();
    let (_bridge, page) = scene(&home, &Double::sound(&home));
    let listed = page.tools().into_iter().find(|tool| tool["name"] == "s/sleep").unwrap();
    let answer = page.call("s/sleep", &json!({"ms": 300})).unwrap();
    let took = answer["provenance"]["durationMs"].as_u64().unwrap();
    assert!((300..3000).contains(&took), "{took}");
    let provenance =
        json!({"serverId": "s", "toolName": "sleep", "durationMs": took, "toolHash": listed["toolHash"]});
    assert_eq!(answer["provenance"], provenance);
}

/// The time in the queue is none of the server's.
#[test]
fn the_duration_is_the_servers() {
    let home = Home::new();
    home.configure("[limits]\nmaxConcurrentPerOrigin = 1\n");
    let (_bridge, page) = scene(&home, &Double::sound(&home));
    let slow = page.send_call("s/sleep", &json!({"ms": 1500}));
    let quick = page.send_call("s/sleep", &json!({"ms": 1}));
    slow.wait(LIMIT).unwrap();
    let took = quick.wait(LIMIT).unwrap()["provenance"]["durationMs"].as_u64().unwrap();
    assert!(took < 1000, "{took}");
}

#[test]
fn is_error_is_a_result() {
    let home = Home::new();
    let (_bridge, page) = scene(&home, &Double::sound(&home));
    let answer = page.call("s/tool_error", &json!({})).unwrap();
    let wanted = r#"{"content":[{"type":"text","text":"it did not work"}],"isError":true}"#;
    assert_eq!(answer.field_text("result"), wanted);
    assert_eq!(answer["provenance"]["toolName"], "tool_error");
}

#[test]
fn progress_goes_to_the_call_that_asked_for_it() {
    let home = Home::new();
    let (bridge, page) = scene(&home, &Double::sound(&home));
    let quiet = page.send_call("s/progress", &json!({"steps": 2}));
    let loud = page.send_call_with("s/progress", &json!({"steps": 2}), &json!({"progress": true}));
    for call in [&quiet, &loud] {
        assert_eq!(call.wait(LIMIT).unwrap().content_text(), "done");
    }
    for step in 1..=2 {
        let wanted = json!({"type": "progress", "request_id": loud.id, "progress": step, "total": 2.0,
            "message": format!("step {step}")});
        assert_eq!(bridge.push_now("progress"), Some(wanted));
    }
    assert_eq!(bridge.push_now("progress"), None);
}
