//! An origin that asks without end for what it does not get: it cannot push the others out of the log.

use harbor_tests::client::CALL;
use harbor_tests::{Bridge, Client, Home, LIMIT};
use serde_json::{Value, json};

use super::{SITE, lines};

const CALLS: usize = 5000;

fn of_site(line: &Value) -> bool {
    line["event"] == "refused" && line["origin"] == SITE
}

/// How many refusals these lines stand for.
fn stand_for(lines: &[Value]) -> u64 {
    lines.iter().filter(|line| of_site(line)).map(|line| line["count"].as_u64().unwrap_or(1)).sum()
}

#[test]
fn a_flood_of_refused_calls_makes_few_lines_and_is_counted() {
    let home = Home::new();
    let mut bridge = Bridge::start(&home);
    let site = bridge.speaking_for(SITE);
    let sent = |n: usize| (0..n).map(|_| site.send_tool("s/echo", &json!({}))).collect::<Vec<_>>();
    for _ in 0..CALLS / 100 {
        for call in sent(100) {
            assert_eq!(call.wait(LIMIT).unwrap_err().code, "ERR_SCOPE_REQUIRED");
        }
    }
    let found = lines(&home);
    let written = found.iter().filter(|line| of_site(line)).count();
    // Sixty a minute; a minute may have passed meanwhile.
    assert!((60..=130).contains(&written), "{written}");
    let stats = bridge.call("host_get_stats", &json!({})).unwrap();
    let counted =
        json!([{"origin": "(others)", "scope": CALL, "decision": "ERR_SCOPE_REQUIRED", "count": CALLS}]);
    assert_eq!(stats["stats"]["decisions"], counted);

    // Others have lines of their own.
    let ai = Client::attach_ai(&home, "ai");
    assert!(ai.speaking(&json!({})).tools().is_err());
    assert_eq!(lines(&home).last().unwrap()["origin"], "client://ai");
    bridge.speaking_for(SITE).grant(CALL, "DENY", &json!({}));
    assert_eq!(lines(&home).last().unwrap()["event"], "grant", "nor are decisions of the person left out");

    bridge.stop();
    assert_eq!(stand_for(&lines(&home)), CALLS as u64);
}
