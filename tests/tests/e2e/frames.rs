//! What the bridge does with frames, good and bad: one answer for each, to the right request, and a connection
//! that survives everything a client can send.

use std::time::Duration;

use harbor_ipc_proto::CLIENT_PROTOCOL;
use harbor_ipc_proto::frame::{MAX_CLIENT_FRAME, NATIVE_MESSAGING_LIMIT};
use harbor_tests::{Bridge, Client, Double, Home, LIMIT, PROMPT};
use serde_json::json;

/// A sleep that no test waits for.
const LONG_MS: u64 = 60_000;

#[test]
fn a_frame_that_is_no_json_object_is_an_error_and_the_connection_stays() {
    let home = Home::new();
    let bridge = Bridge::start(&home);
    for body in
        ["{", "", "[]", "7", "\"ping\"", "\u{0}", "{\"type\":\"ping\",\"request_id\":\"1\",}", "{} {}"]
    {
        bridge.send(body.as_bytes());
        let error = bridge.next_stray(LIMIT);
        assert_eq!((error.code.as_str(), error.request_id.as_str()), ("invalid_message", ""), "{body:?}");
        assert!(!error.message.is_empty());
    }
    bridge.send(b"{\"type\":\"ping\",\"request_id\":\"\xff\"}");
    assert_eq!(bridge.next_stray(LIMIT).code, "invalid_message", "not UTF-8");
    assert!(bridge.is_alive());
}

#[test]
fn a_frame_without_type_or_id_is_an_error_that_belongs_to_nobody() {
    let home = Home::new();
    let bridge = Bridge::start(&home);
    for frame in [
        json!({}),
        json!({"type": "ping"}),
        json!({"request_id": "1"}),
        json!({"type": 7, "request_id": "1"}),
        json!({"type": "ping", "request_id": ""}),
        json!({"type": "ping", "request_id": 7}),
        json!({"type": "rpc", "method": "ping"}),
        json!({"type": "rpc", "id": 1.5, "method": "ping"}),
    ] {
        bridge.send(frame.to_string().as_bytes());
        let error = bridge.next_stray(LIMIT);
        assert_eq!((error.code.as_str(), error.request_id.as_str()), ("invalid_message", ""), "{frame}");
    }
    assert!(bridge.is_alive());
}

#[test]
fn an_unknown_type_is_named_in_the_error() {
    let home = Home::new();
    let bridge = Bridge::start(&home);
    let error = bridge.call("make_coffee", &json!({})).unwrap_err();
    assert_eq!(
        (error.code.as_str(), &error.details),
        ("unknown_message_type", &json!({"received_type": "make_coffee"}))
    );
    assert!(bridge.is_alive());
}

#[test]
fn a_missing_or_wrong_field_is_named_with_what_was_expected() {
    let home = Home::new();
    let bridge = Bridge::start(&home);
    let add = |fields: serde_json::Value| {
        let mut whole = json!({"server_id": "s", "command": "true"});
        whole.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        ("add_server", whole)
    };
    let rows = [
        ("server_id", ("mcp_connect", json!({}))),
        ("tool_name", ("mcp_call_tool", json!({"server_id": "s"}))),
        ("arguments", ("mcp_call_tool", json!({"server_id": "s", "tool_name": "t", "arguments": []}))),
        ("timeout_ms", ("mcp_call_tool", json!({"server_id": "s", "tool_name": "t", "timeout_ms": -1}))),
        ("timeout_ms", ("mcp_call_tool", json!({"server_id": "s", "tool_name": "t", "timeout_ms": "5"}))),
        ("progress", ("mcp_call_tool", json!({"server_id": "s", "tool_name": "t", "progress": 1}))),
        ("echo", ("ping", json!({"echo": 1}))),
        ("target", ("cancel", json!({}))),
        ("command", ("add_server", json!({"server_id": "s"}))),
        ("args", add(json!({"args": "x"}))),
        ("args", add(json!({"args": [1]}))),
        ("env", add(json!({"env": {"A": 1}}))),
        ("server_id", add(json!({"server_id": ""}))),
        ("server_id", add(json!({"server_id": "../x"}))),
        ("server_id", add(json!({"server_id": "a__b"}))),
        ("server_id", add(json!({"server_id": "a..b"}))),
        ("server_id", add(json!({"server_id": ".a"}))),
        ("server_id", add(json!({"server_id": "a".repeat(65)}))),
    ];
    for (field, (tag, fields)) in rows {
        let error = bridge.call(tag, &fields).unwrap_err();
        assert_eq!(error.code, "invalid_params", "{tag} {fields}: {error:?}");
        assert_eq!(error.details["field"], field, "{tag} {fields}");
        assert!(error.details["expected"].is_string() && error.message.contains(field), "{error:?}");
    }
    assert_eq!(bridge.call("list_servers", &json!({})).unwrap()["servers"], json!([]));
}

#[test]
fn an_oversize_frame_is_skipped_by_its_length_and_hurts_only_its_sender() {
    let home = Home::new();
    let bridge = Bridge::foreground(&home);
    let other = Client::attach(&home);
    let length = MAX_CLIENT_FRAME + 1;
    bridge.send_bytes(&u32::try_from(length).unwrap().to_le_bytes());
    let error = bridge.next_stray(LIMIT);
    assert_eq!((error.code.as_str(), error.request_id.as_str()), ("message_too_large", ""));
    let piece = vec![b'x'; 1024 * 1024];
    for _ in 0..length / piece.len() {
        bridge.send_bytes(&piece);
    }
    assert!(other.is_alive(), "while the rest of it is still on its way");
    bridge.send_bytes(b"x");
    assert!(bridge.is_alive());
}

#[test]
fn a_frame_may_come_in_pieces_and_several_in_one() {
    let home = Home::new();
    let bridge = Bridge::start(&home);
    let frame = |id: &str| {
        let body = format!("{{\"type\":\"ping\",\"request_id\":\"{id}\",\"echo\":\"{id}\"}}");
        [&u32::try_from(body.len()).unwrap().to_le_bytes()[..], body.as_bytes()].concat()
    };
    let slow = bridge.expect("slow", "ping");
    frame("slow").iter().for_each(|byte| bridge.send_bytes(&[*byte]));
    assert_eq!(slow.wait(LIMIT).unwrap()["echo"], "slow");
    let many: Vec<_> = (0..100).map(|n| bridge.expect(&format!("m{n}"), "ping")).collect();
    bridge.send_bytes(&many.iter().flat_map(|pending| frame(&pending.id)).collect::<Vec<_>>());
    for pending in many {
        assert_eq!(pending.wait(LIMIT).unwrap()["echo"], pending.id.as_str());
    }
}

#[test]
fn an_id_that_is_still_open_is_refused_while_the_first_request_goes_on() {
    let home = Home::new();
    let bridge = Bridge::start(&home);
    let double = Double::sound(&home);
    bridge.add_and_connect("s", &double);
    let call = |ms: u64| {
        let call = json!({"type": "mcp_call_tool", "request_id": "twice", "server_id": "s", "tool_name": "sleep",
            "arguments": {"ms": ms}});
        call.to_string()
    };
    let first = bridge.expect("twice", "the first");
    bridge.send(call(1500).as_bytes());
    bridge.send(call(0).as_bytes());
    bridge.send(b"{\"type\":\"rpc\",\"id\":\"twice\",\"method\":\"ping\"}");
    for _ in 0..2 {
        let error = bridge.next_stray(LIMIT);
        assert_eq!((error.code.as_str(), error.request_id.as_str()), ("duplicate_request_id", ""));
        assert_eq!(error.details["request_id"], "twice");
    }
    assert!(first.is_open());
    assert_eq!(first.wait(LIMIT).unwrap().content_text(), "slept");
    // Once answered, the id is free again.
    assert_eq!(
        bridge.request_as("twice", "ping", &json!({"echo": "again"})).wait(LIMIT).unwrap()["echo"],
        "again"
    );
    assert_eq!(double.journal().count("call sleep"), 1);
}

#[test]
fn the_rpc_envelope_means_the_same() {
    let home = Home::new();
    let bridge = Bridge::start(&home);
    bridge.add("s", &Double::sound(&home));
    for id in [json!(7), json!("seven"), json!(0)] {
        assert_eq!(bridge.rpc(&id, "ping", &json!({"echo": "x"})).wait(LIMIT).unwrap()["echo"], "x");
    }
    let listed = bridge.rpc(&json!(1), "list.servers", &json!({})).wait(LIMIT).unwrap();
    assert_eq!(listed["servers"][0]["server_id"], "s");
    bridge.rpc(&json!(2), "mcp.connect", &json!({"server_id": "s"})).wait(LIMIT).unwrap();
    let call = json!({"server_id": "s", "tool_name": "big", "arguments": {"bytes": 3}});
    assert_eq!(bridge.rpc(&json!(3), "mcp_call_tool", &call).wait(LIMIT).unwrap().content_text(), "xxx");

    let rows = [
        ("make_coffee", json!({}), "unknown_message_type", -32601),
        ("mcp_connect", json!({}), "invalid_params", -32602),
        ("mcp_connect", json!({"server_id": "nobody"}), "not_found", -32004),
        ("mcp_call_tool", json!({"server_id": "s", "tool_name": "fail"}), "ERR_TOOL_FAILED", -32023),
    ];
    for (n, (method, params, code, number)) in rows.into_iter().enumerate() {
        let error = bridge.rpc(&json!(100 + n), method, &params).wait(LIMIT).unwrap_err();
        assert_eq!((error.code.as_str(), error.rpc_code), (code, Some(number)), "{method} {params}");
        assert!(!error.message.is_empty());
    }
}

#[test]
fn hello_says_who_speaks_and_what_was_agreed() {
    let home = Home::new();
    let bridge = Bridge::start(&home);
    let hello = bridge.call("hello", &json!({"protocol": CLIENT_PROTOCOL, "client": "test"})).unwrap();
    assert_eq!(
        (&hello["protocol"], &hello["pid"], &hello["chunks"], &hello["max_frame"]),
        (
            &json!(CLIENT_PROTOCOL),
            &json!(bridge.process().pid),
            &json!(false),
            &json!(NATIVE_MESSAGING_LIMIT)
        )
    );
    assert!(hello["bridge_version"].is_string() && hello["build"].is_string());
    let hello = bridge.call("hello", &json!({"chunks": true, "max_frame": 4096})).unwrap();
    assert_eq!((&hello["chunks"], &hello["max_frame"]), (&json!(true), &json!(4096)));
}

#[test]
fn a_larger_answer_travels_in_chunks_to_a_client_that_takes_them() {
    let home = Home::new();
    let bridge = Bridge::start(&home);
    bridge.call("hello", &json!({"chunks": true, "max_frame": 65_536})).unwrap();
    bridge.add_and_connect("s", &Double::sound(&home));
    let sizes = [60_000, 70_000, 1_000_000, 65_536, 10];
    let calls: Vec<_> =
        sizes.iter().map(|size| bridge.send_tool("s", "big", &json!({"bytes": size}))).collect();
    for (call, size) in calls.iter().zip(sizes) {
        assert_eq!(call.wait(LIMIT).unwrap().content_text().len(), size);
    }
    let (largest, chunks) = bridge.frames_seen();
    assert!(largest <= 65_536 && chunks > 20, "the largest frame has {largest} bytes, {chunks} chunks came");
    // The other envelope's answers are cut the same way.
    let call = json!({"server_id": "s", "tool_name": "big", "arguments": {"bytes": 200_000}});
    let answer = bridge.rpc(&json!(7), "mcp_call_tool", &call).wait(LIMIT).unwrap();
    assert_eq!(answer.content_text().len(), 200_000);
}

#[test]
fn a_larger_answer_is_an_error_with_its_requests_id_to_a_client_without_chunks() {
    let home = Home::new();
    let bridge = Bridge::start(&home);
    bridge.add_and_connect("s", &Double::sound(&home));
    let error = bridge.tool("s", "big", &json!({"bytes": NATIVE_MESSAGING_LIMIT})).unwrap_err();
    assert_eq!(error.code, "message_too_large");
    let answer = bridge.tool("s", "big", &json!({"bytes": NATIVE_MESSAGING_LIMIT - 1000})).unwrap();
    assert_eq!(answer.content_text().len(), NATIVE_MESSAGING_LIMIT - 1000);
    let (largest, chunks) = bridge.frames_seen();
    assert!(largest <= NATIVE_MESSAGING_LIMIT && chunks == 0);
    // A client that says it can take more gets more.
    bridge.call("hello", &json!({"max_frame": 16 * 1024 * 1024})).unwrap();
    let answer = bridge.tool("s", "big", &json!({"bytes": 4_000_000})).unwrap();
    assert_eq!((answer.content_text().len(), bridge.frames_seen().1), (4_000_000, 0));
}

#[test]
fn a_cancelled_request_ends_as_cancelled_and_the_server_is_told() {
    let home = Home::new();
    let bridge = Bridge::start(&home);
    let double = Double::sound(&home);
    bridge.add_and_connect("s", &double);
    let call = bridge.send_tool("s", "sleep", &json!({"ms": LONG_MS}));
    let id = double.journal().wait_for("call sleep");
    let answer = bridge.call("cancel", &json!({"target": call.id})).unwrap();
    assert_eq!(answer["cancelled"], true);
    assert_eq!(call.wait(PROMPT).unwrap_err().code, "cancelled");
    let _ = double.journal().wait_for(&format!("cancelled {id} "));
    // It has ended already, and what never was cannot be ended.
    for target in [call.id.as_str(), "nobody"] {
        assert_eq!(bridge.call("cancel", &json!({"target": target})).unwrap()["cancelled"], false);
    }
    assert_eq!(bridge.tool_text("s", "sleep", &json!({"ms": 1})), "slept");
}

#[test]
fn a_start_can_be_cancelled_too() {
    let home = Home::new();
    let bridge = Bridge::start(&home);
    let double = Double::new(&home, harbor_tests::Fault::NeverAnswersInitialize);
    bridge.add("s", &double);
    let start = bridge.request("mcp_connect", &json!({"server_id": "s"}));
    let _ = double.journal().wait_for("request initialize");
    assert_eq!(bridge.call("cancel", &json!({"target": start.id})).unwrap()["cancelled"], true);
    assert_eq!(start.wait(PROMPT).unwrap_err().code, "cancelled");
    assert!(bridge.is_alive());
}

#[test]
fn a_slow_request_delays_no_other() {
    let home = Home::new();
    let bridge = Bridge::start(&home);
    bridge.add_and_connect("slow", &Double::sound(&home));
    bridge.add_and_connect("quick", &Double::sound(&home));
    let slow = bridge.send_tool("slow", "sleep", &json!({"ms": LONG_MS}));
    for server in ["quick", "slow"] {
        let quick = bridge.send_tool(server, "big", &json!({"bytes": 1}));
        assert_eq!(quick.wait(PROMPT).unwrap().content_text(), "x", "{server}");
    }
    assert!(slow.is_open());
    bridge.call("cancel", &json!({"target": slow.id})).unwrap();
    assert_eq!(slow.wait(Duration::from_secs(5)).unwrap_err().code, "cancelled");
}
