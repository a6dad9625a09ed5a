//! Calls per minute, of an origin and of a server.

use std::time::{Duration, Instant};

use harbor_tests::{Double, ErrorValue, Home, LIMIT, wait_until};
use serde_json::json;

use super::{assert_limited, cancel, hold, quick, scene};

fn retry_after(error: &ErrorValue) -> Duration {
    Duration::from_millis(error.details["retry_after_ms"].as_u64().unwrap_or_else(|| panic!("{error:?}")))
}

#[test]
fn an_origin_has_so_many_calls_a_minute() {
    let home = Home::new();
    let double = Double::sound(&home);
    let (bridge, page) = scene(&home, "[limits]\ncallsPerMinutePerOrigin = 3\n", &double);
    for _ in 0..3 {
        quick(&page).unwrap();
    }
    for _ in 0..2 {
        let error = quick(&page.in_tab(4)).unwrap_err();
        assert_limited(&error, "per_minute");
        let retry = retry_after(&error);
        assert!(retry > Duration::ZERO && retry <= Duration::from_secs(20), "{retry:?}");
    }
    assert_eq!(double.journal().count("call"), 3);
    quick(&bridge.asking("https://other.example").allowed()).unwrap();
    for _ in 0..5 {
        assert_eq!(bridge.tool_text("s", "sleep", &json!({"ms": 1})), "slept", "the owner has no limit");
    }
}

#[test]
fn after_the_time_that_was_told_there_is_a_call_again() {
    let home = Home::new();
    let double = Double::sound(&home);
    // One call more in each 300 ms.
    let (_bridge, page) = scene(&home, "[limits]\ncallsPerMinutePerOrigin = 200\n", &double);
    let (begin, refused) = loop {
        let begin = Instant::now();
        if let Err(error) = quick(&page) {
            break (begin, error);
        }
    };
    assert_limited(&refused, "per_minute");
    let retry = retry_after(&refused);
    assert!(retry <= Duration::from_millis(300), "{retry:?}");
    // A refused call takes no token, so it is harmless to ask again and again.
    wait_until("a call again", LIMIT, || quick(&page).is_ok());
    assert!(begin.elapsed() >= retry && begin.elapsed() < Duration::from_secs(5));
}

#[test]
fn a_server_has_so_many_calls_a_minute_of_all_origins_together() {
    let home = Home::new();
    let double = Double::sound(&home);
    let config =
        "[limits]\ncallsPerMinutePerServer = 4\n[limits.server.narrow]\ncallsPerMinutePerServer = 1\n";
    let (bridge, page) = scene(&home, config, &double);
    let other = bridge.asking("https://other.example").allowed();
    for page in [&page, &other, &page, &other] {
        quick(page).unwrap();
    }
    for page in [&page, &other] {
        let error = quick(page).unwrap_err();
        assert_limited(&error, "server_per_minute");
        let retry = retry_after(&error);
        assert!(retry > Duration::ZERO && retry <= Duration::from_secs(15), "{retry:?}");
    }
    let narrow = Double::sound(&home);
    bridge.add_and_connect("narrow", &narrow);
    assert!(page.call("narrow/echo", &json!({})).is_ok(), "another server has a count of its own");
    assert_limited(&other.call("narrow/echo", &json!({})).unwrap_err(), "server_per_minute");
    assert_eq!((double.journal().count("call"), narrow.journal().count("call")), (4, 1));
}

#[test]
fn an_origin_and_the_owner_can_have_rates_of_their_own() {
    let home = Home::new();
    let double = Double::sound(&home);
    let config = "[limits]\ncallsPerMinutePerOrigin = 1\n\
                  [limits.origin.\"https://page.example\"]\ncallsPerMinutePerOrigin = 3\n\
                  [limits.origin.owner]\ncallsPerMinutePerOrigin = 2\n";
    let (bridge, page) = scene(&home, config, &double);
    for _ in 0..3 {
        quick(&page).unwrap();
    }
    assert_limited(&quick(&page).unwrap_err(), "per_minute");
    let other = bridge.asking("https://other.example").allowed();
    quick(&other).unwrap();
    assert_limited(&quick(&other).unwrap_err(), "per_minute");
    for _ in 0..2 {
        assert_eq!(bridge.tool_text("s", "sleep", &json!({"ms": 1})), "slept");
    }
    assert_limited(&bridge.tool("s", "sleep", &json!({"ms": 1})).unwrap_err(), "per_minute");
}

/// Else a page that is refused all the time would starve itself.
#[test]
fn a_call_that_finds_no_place_takes_no_token() {
    let home = Home::new();
    let double = Double::sound(&home);
    let config = "[limits]\nmaxConcurrentPerOrigin = 1\nqueueLength = 0\ncallsPerMinutePerOrigin = 2\n";
    let (bridge, page) = scene(&home, config, &double);
    let held = hold(&page, &double);
    for _ in 0..5 {
        assert_limited(&quick(&page).unwrap_err(), "concurrent");
    }
    cancel(&bridge, &held);
    quick(&page).unwrap();
    assert_limited(&quick(&page).unwrap_err(), "per_minute");
}
