//! What is counted, against what was done.

use harbor_tests::{Bridge, Client, Double, Home, PROMPT, wait_until};
use serde_json::{Value, json};

use super::{PAGE, scene};

const CANARY: &str = "sesame";

fn stats(bridge: &Bridge) -> Value {
    bridge.call("host_get_stats", &json!({})).unwrap()["stats"].clone()
}

/// Of each name, how many calls and how many failures.
fn numbers(of: &Value) -> Value {
    let counts = of.as_object().unwrap().iter();
    counts
        .map(|(name, counts)| (name.clone(), json!([counts["calls"], counts["failures"]])))
        .collect::<serde_json::Map<_, _>>()
        .into()
}

#[test]
fn counts_agree_with_what_was_done() {
    let home = Home::new();
    let double = Double::sound(&home);
    let (bridge, page) = scene(&home, &double);
    bridge.add_and_connect("t", &Double::sound(&home));
    bridge.add("off", &Double::sound(&home).manual());
    let guest = bridge.asking("https://guest.example");
    guest.granted("mcp:tools.call", "ALLOW_ONCE", &json!({"allowed_tools": ["s/echo"]}));
    for _ in 0..3 {
        page.call("s/echo", &json!({"text": CANARY})).unwrap();
    }
    page.call("t/echo", &json!({})).unwrap();
    assert_eq!(page.call("s/fail", &json!({})).unwrap_err().code, "ERR_TOOL_FAILED");
    assert_eq!(page.call("off/echo", &json!({})).unwrap_err().code, "ERR_SERVER_UNAVAILABLE");
    assert!(page.call("s/tool_error", &json!({})).is_ok(), "no failure of the call");
    guest.call("s/echo", &json!({})).unwrap();
    assert_eq!(guest.call("s/sleep", &json!({})).unwrap_err().code, "ERR_TOOL_NOT_ALLOWED");
    assert!(guest.ask("host_list_tools", &json!({})).is_err());
    bridge.tool("s", "echo", &json!({})).unwrap();
    let run = page.run(1);

    let now = stats(&bridge);
    assert_eq!(numbers(&json!({"all": now["calls"]})), json!({"all": [9, 2]}));
    assert_eq!(now["calls"]["failuresByCode"], json!({"ERR_TOOL_FAILED": 1, "ERR_SERVER_UNAVAILABLE": 1}));
    assert_eq!(numbers(&now["callsByServer"]), json!({"s": [7, 1], "t": [1, 0], "off": [1, 1]}));
    assert_eq!(
        numbers(&now["callsByTool"]),
        json!({"s/echo": [5, 0], "s/fail": [1, 1], "s/tool_error": [1, 0], "t/echo": [1, 0], "off/(others)": [1, 1]})
    );
    assert_eq!(
        numbers(&now["callsByOrigin"]),
        json!({PAGE: [7, 2], "https://guest.example": [1, 0], "owner": [1, 0]})
    );
    let decision = |origin: &str, scope: &str, decision: &str, count: u64| json!({"origin": origin, "scope": scope, "decision": decision, "count": count});
    assert_eq!(
        now["decisions"],
        json!([
            decision("https://guest.example", "mcp:tools.call", "ERR_TOOL_NOT_ALLOWED", 1),
            decision("https://guest.example", "mcp:tools.call", "allowed", 1),
            decision("https://guest.example", "mcp:tools.list", "ERR_SCOPE_REQUIRED", 1),
            decision(PAGE, "mcp:tools.call", "allowed", 8),
            decision("owner", "mcp:tools.call", "allowed", 1),
        ])
    );
    assert_eq!(
        (&now["servers"], &now["grants"], &now["runs"]),
        (&json!({"total": 3, "running": 2}), &json!(3), &json!(1))
    );
    assert_eq!((&now["underWay"], &now["waiting"]), (&json!(0), &json!(0)));
    assert_eq!(now["audit"], json!({"failing": false, "unaudited": 0}));
    assert_eq!(now["tools"]["serverCount"], 2);
    assert!(!now.to_string().contains(CANARY));
    page.ask("host_end_run", &json!({"run_id": run})).unwrap();
    assert_eq!(stats(&bridge)["runs"], 0);

    let own = guest.stats();
    assert_eq!((&own["calls"]["calls"], &own["grants"]), (&json!(1), &json!(1)));
    assert_eq!(own["decisions"].as_array().unwrap().len(), 3);
    for others in ["servers", "tools", "callsByServer", "callsByTool", "callsByOrigin", "runs", "audit"] {
        assert_eq!(own[others], Value::Null, "{others}");
    }
}

#[test]
fn sizes_and_times_are_those_of_the_call() {
    let home = Home::new();
    home.configure("[limits]\nmaxConcurrentPerOrigin = 1\n");
    let (bridge, page) = scene(&home, &Double::sound(&home));
    let first = page.send_call("s/sleep", &json!({"ms": 400}));
    let second = page.send_call("s/sleep", &json!({"ms": 1}));
    let bytes_out: usize =
        [first, second].iter().map(|call| call.wait(PROMPT).unwrap().field_text("result").len()).sum();
    let sleep = stats(&bridge)["callsByTool"]["s/sleep"].clone();
    let bytes_in = r#"{"ms":400}"#.len() + r#"{"ms":1}"#.len();
    assert_eq!((&sleep["bytesIn"], &sleep["bytesOut"]), (&json!(bytes_in), &json!(bytes_out)));
    let of = |times: &str, what: &str| sleep[times][what].as_u64().unwrap();
    assert!((400_000..3_000_000).contains(&of("durationUs", "max")), "{sleep}");
    assert!(of("durationUs", "sum") >= 800_000, "the second one waited for the first: {sleep}");
    assert!((300_000..3_000_000).contains(&of("queuedUs", "max")), "{sleep}");
}

#[test]
fn no_name_is_kept_that_a_caller_made_up() {
    let home = Home::new();
    let (bridge, page) = scene(&home, &Double::sound(&home));
    bridge.add("off", &Double::sound(&home).manual());
    let names = [format!("s/{CANARY}"), format!("{CANARY}/echo"), format!("off/{CANARY}")];
    for name in &names {
        assert!(page.call(name, &json!({})).is_err());
    }
    assert!(bridge.tool("s", CANARY, &json!({})).is_err());
    assert!(bridge.tool(CANARY, "echo", &json!({})).is_err());
    let stranger = bridge.asking(&format!("https://{CANARY}.example"));
    assert!(stranger.ask("host_get_stats", &json!({})).is_ok());
    let now = stats(&bridge);
    assert_eq!(now["calls"]["calls"], 5);
    assert!(!now.to_string().contains(CANARY), "{now:#}");
    assert_eq!(numbers(&now["callsByServer"]), json!({"s": [2, 2], "off": [1, 1], "(others)": [2, 2]}));
}

#[test]
fn a_call_under_way_is_shown_and_one_whose_client_vanished_is_counted() {
    let home = Home::new();
    let double = Double::sound(&home);
    let (bridge, page) = scene(&home, &double);
    let client = Client::attach(&home);
    let _open = page.over(&client).send_call("s/sleep", &json!({"ms": 60_000}));
    let _ = double.journal().wait_for("call sleep");
    assert_eq!((&page.stats()["underWay"], &stats(&bridge)["calls"]["calls"]), (&json!(1), &json!(0)));
    client.close();
    wait_until("its end", PROMPT, || page.stats()["underWay"] == 0);
    wait_until("it to be counted", PROMPT, || {
        stats(&bridge)["calls"]["failuresByCode"] == json!({"cancelled": 1})
    });
}

#[test]
fn the_limits_that_hold_are_shown() {
    let home = Home::new();
    home.configure(
        "[limits]\nqueueLength = 3\n[limits.origin.\"https://page.example\"]\nmaxConcurrentPerOrigin = 7\n",
    );
    let (bridge, page) = scene(&home, &Double::sound(&home));
    let limits = |concurrent: u32| {
        json!({"maxCallsPerRun": 5, "maxConcurrentPerOrigin": concurrent, "defaultTimeoutMs": 30000,
            "queueLength": 3, "queueWaitMs": 10000, "callsPerMinutePerOrigin": 600})
    };
    assert_eq!((&stats(&bridge)["rateLimits"], &page.stats()["rateLimits"]), (&limits(2), &limits(7)));
}
