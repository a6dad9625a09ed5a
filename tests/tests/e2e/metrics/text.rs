//! What the text says after real calls, and what it never says.

use harbor_tests::{Bridge, Client, Double, Home, LIMIT, wait_until};
use serde_json::{Value, json};

use super::{metrics, value};

const ORIGIN: &str = "https://secret-hobby.example";

/// A call of an origin that may, and one of an origin that may not.
fn call_as_origins(bridge: &Bridge) {
    bridge.asking(ORIGIN).allowed().call("s/echo", &json!({"text": "x"})).unwrap();
    let asker = bridge.asking("https://other-hobby.example");
    assert!(asker.call("s/echo", &json!({})).is_err());
}

#[test]
fn calls_and_states_are_counted_and_what_was_not_measured_is_absent() {
    let home = Home::new();
    let bridge = Bridge::start(&home);
    bridge.add_and_connect("s", &Double::sound(&home));
    bridge.add_and_connect("dies", &Double::sound(&home).supervision(&json!({"restart": "never"})));
    for _ in 0..3 {
        bridge.tool("s", "echo", &json!({"text": "x"})).unwrap();
    }
    assert!(bridge.tool("s", "absent", &json!({})).is_err());
    assert!(bridge.tool("dies", "die", &json!({})).is_err());
    let never = json!({"server_id": "never", "command": "/bin/true"});
    bridge.call("add_server", &never).unwrap();
    let text = metrics(&bridge);
    for (sample, wanted) in [
        ("harbor_up", 1.0),
        ("harbor_health{state=\"degraded\"}", 1.0),
        ("harbor_health{state=\"ok\"}", 0.0),
        ("harbor_health_reason{code=\"server_failed\",server=\"dies\",state=\"degraded\"}", 1.0),
        ("harbor_clients{kind=\"owner\"}", 1.0),
        ("harbor_clients{kind=\"mcp\"}", 0.0),
        ("harbor_open_requests", 1.0),
        ("harbor_audit_failing", 0.0),
        ("harbor_server_state{server=\"s\",state=\"running\"}", 1.0),
        ("harbor_server_state{server=\"dies\",state=\"running\"}", 0.0),
        ("harbor_server_state{server=\"dies\",state=\"failed\"}", 1.0),
        ("harbor_server_calls_total{server=\"s\",code=\"ok\"}", 3.0),
        ("harbor_server_calls_total{server=\"s\",code=\"ERR_TOOL_NOT_FOUND\"}", 1.0),
        ("harbor_server_calls_total{server=\"dies\",code=\"ok\"}", 0.0),
        ("harbor_server_call_duration_seconds_count{server=\"s\"}", 4.0),
        ("harbor_server_call_duration_seconds_bucket{server=\"s\",le=\"+Inf\"}", 4.0),
        ("harbor_server_call_wait_seconds_count{server=\"s\"}", 4.0),
        ("harbor_server_calls_in_flight{server=\"s\"}", 0.0),
    ] {
        assert_eq!(value(&text, sample), Some(wanted), "{sample}\n{text}");
    }
    for sample in ["harbor_memory_bytes", "harbor_server_memory_bytes{server=\"s\"}"] {
        assert!(value(&text, sample).unwrap() > 100_000.0, "{sample}\n{text}");
    }
    assert!(value(&text, "harbor_usage_age_seconds").unwrap() <= 10.0, "{text}");
    for absent in ["harbor_server_memory_bytes", "harbor_server_tools", "harbor_server_calls_total"] {
        assert_eq!(text.matches(&format!("{absent}{{server=\"never\"")).count(), 0, "{absent}\n{text}");
    }
    assert!(text.ends_with("\n# EOF\n"));
}

#[test]
fn a_histogram_grows_with_its_bounds() {
    let home = Home::new();
    let bridge = Bridge::start(&home);
    bridge.add_and_connect("s", &Double::sound(&home));
    (0..5).for_each(|_| drop(bridge.tool("s", "echo", &json!({"text": "x"})).unwrap()));
    let text = metrics(&bridge);
    let start = "harbor_server_call_duration_seconds_bucket{server=\"s\",le=\"";
    let buckets: Vec<(f64, f64)> = text
        .lines()
        .filter_map(|line| line.strip_prefix(start)?.split_once("\"} "))
        .map(|(le, count)| (le.parse().unwrap(), count.parse().unwrap()))
        .collect();
    assert!(buckets.len() > 10 && buckets.last() == Some(&(f64::INFINITY, 5.0)), "{buckets:?}");
    assert!(buckets.windows(2).all(|pair| pair[0].0 < pair[1].0 && pair[0].1 <= pair[1].1), "{buckets:?}");
    let sum = value(&text, "harbor_server_call_duration_seconds_sum{server=\"s\"}").unwrap();
    assert!(sum > 0.0 && sum < LIMIT.as_secs_f64());
}

#[test]
fn a_label_can_hold_anything() {
    let home = Home::new();
    let bridge = Bridge::start(&home);
    let label = "a \"quoted\" \\ name\nharbor_up 7\r";
    let definition = json!({"server_id": "s", "command": "/bin/true", "label": label});
    bridge.call("add_server", &definition).unwrap();
    let text = metrics(&bridge);
    let wanted =
        "harbor_server_info{server=\"s\",label=\"a \\\"quoted\\\" \\\\ name\\nharbor_up 7?\",sandbox=\"\"} 1";
    assert!(text.lines().any(|line| line == wanted), "{text}");
    assert_eq!(text.lines().filter(|line| line.starts_with("harbor_up ")).count(), 1);
}

#[test]
fn origins_are_told_only_where_the_person_says_so() {
    let home = Home::new();
    let bridge = Bridge::start(&home);
    bridge.add_and_connect("s", &Double::sound(&home));
    call_as_origins(&bridge);
    let text = metrics(&bridge);
    assert!(!text.contains("hobby") && !text.contains("origin="), "{text}");
    assert_eq!(value(&text, "harbor_server_calls_total{server=\"s\",code=\"ok\"}"), Some(1.0), "{text}");
    let allowed = "harbor_decisions_total{scope=\"mcp:tools.call\",decision=\"allowed\"}";
    assert_eq!(value(&text, allowed), Some(1.0), "{text}");

    home.configure("[metrics]\norigins = true\n");
    let sample = format!("harbor_origin_calls_total{{origin=\"{ORIGIN}\",code=\"ok\"}}");
    wait_until("the origins to be told", LIMIT, || value(&metrics(&bridge), &sample) == Some(1.0));
    home.configure("");
    wait_until("them to be told no more", LIMIT, || !metrics(&bridge).contains("hobby"));
}

#[test]
fn the_command_prints_what_the_bridge_says() {
    let home = Home::new();
    let bridge = Bridge::start(&home);
    assert!(bridge.is_alive());
    let printed = |args: &[&str]| {
        let output = home.command("harbor").args(args).output().unwrap();
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    let text = printed(&["metrics"]);
    assert!(text.starts_with("# HELP harbor_build ") && text.ends_with("\n# EOF\n"), "{text}");
    assert_eq!(value(&text, "harbor_clients{kind=\"owner\"}"), Some(2.0), "{text}");
    let json: Value = serde_json::from_str(&printed(&["metrics", "--json"])).unwrap();
    assert!(json["metrics"].as_str().unwrap().ends_with("# EOF\n"));
}

#[test]
fn only_the_owner_gets_metrics() {
    let home = Home::new();
    let _bridge = Bridge::start(&home);
    let client = Client::attach_ai(&home, "curious");
    assert_eq!(client.call("get_metrics", &json!({})).unwrap_err().code, "ERR_PERMISSION_DENIED");
}
