//! Calls beyond those that may be made at once: who waits, in which order, how long, and who is refused.

use std::time::{Duration, Instant};

use harbor_tests::{Double, Home, LIMIT, PROMPT, wait_until};
use serde_json::json;

use super::{assert_limited, cancel, hold, queue, quick, scene, under_way, waiting};

#[test]
fn a_third_call_waits_and_is_answered_when_one_ends() {
    let home = Home::new();
    let double = Double::sound(&home);
    let (bridge, page) = scene(&home, "", &double);
    let first = [hold(&page, &double), hold(&page, &double)];
    let third = queue(&page, "s/echo", &json!({"n": 3}));
    assert_eq!((under_way(&page), waiting(&page), third.is_open()), (2, 1, true));
    assert_eq!(double.journal().count("call echo"), 0, "the server has not seen it");
    cancel(&bridge, &first[0]);
    assert_eq!(third.wait(LIMIT).unwrap()["result"]["structuredContent"], json!({"n": 3}));
    cancel(&bridge, &first[1]);
}

#[test]
fn the_limits_of_one_origin_do_not_touch_another() {
    let home = Home::new();
    let double = Double::sound(&home);
    let (bridge, page) = scene(&home, "[limits]\nqueueLength = 0\n", &double);
    let other = bridge.asking("https://other.example").allowed();
    // The same host at another port is another origin; a profile is none.
    let port = bridge.asking("https://page.example:8443").allowed();
    let profile = page.in_profile("work").allowed();
    let held = [hold(&page, &double), hold(&page, &double)];
    assert_limited(&quick(&page).unwrap_err(), "concurrent");
    assert_limited(&quick(&profile).unwrap_err(), "concurrent");
    assert_limited(&quick(&page.in_tab(7)).unwrap_err(), "concurrent");
    for free in [&other, &port] {
        quick(free).unwrap();
        assert_eq!(under_way(free), 0);
    }
    assert_eq!(bridge.tool_text("s", "sleep", &json!({"ms": 1})), "slept", "nor the owner");
    held.iter().for_each(|call| cancel(&bridge, call));
}

#[test]
fn two_tabs_take_turns() {
    let home = Home::new();
    let names = ["sleep", "a1", "a2", "a3", "b1", "b2"];
    let tools: Vec<_> = names.iter().map(|name| json!({"name": name})).collect();
    let double = Double::sound(&home).offering(&json!(tools).to_string());
    let (bridge, page) = scene(&home, "[limits]\nmaxConcurrentPerOrigin = 1\n", &double);
    let (a, b) = (page.in_tab(1), page.in_tab(2));
    let held = hold(&a, &double);
    // All of one tab are there before the first of the other.
    let calls: Vec<_> = [(&a, "a1"), (&a, "a2"), (&a, "a3"), (&b, "b1"), (&b, "b2")]
        .into_iter()
        .map(|(tab, name)| queue(tab, &format!("s/{name}"), &json!({})))
        .collect();
    cancel(&bridge, &held);
    for call in &calls {
        call.wait(LIMIT).unwrap();
    }
    let order: Vec<_> = double
        .journal()
        .lines()
        .iter()
        .filter_map(|line| line.strip_prefix("call ")?.split(' ').next().map(str::to_owned))
        .collect();
    assert_eq!(order, ["sleep", "a1", "b1", "a2", "b2", "a3"]);
}

#[test]
fn one_tab_that_fills_the_queue_does_not_shut_out_another() {
    let home = Home::new();
    let double = Double::sound(&home);
    let config = "[limits]\nmaxConcurrentPerOrigin = 1\nqueueLength = 2\n";
    let (bridge, page) = scene(&home, config, &double);
    let (a, b) = (page.in_tab(1), page.in_tab(2));
    let held = hold(&a, &double);
    let waits = [queue(&a, "s/echo", &json!({})), queue(&a, "s/echo", &json!({}))];
    assert_limited(&quick(&a).unwrap_err(), "concurrent");
    let other = b.send_call("s/echo", &json!({}));
    assert_limited(&waits[1].wait(PROMPT).unwrap_err(), "concurrent");
    assert!(other.is_open() && waits[0].is_open());
    assert_eq!(waiting(&page), 2);
    cancel(&bridge, &held);
    assert!(other.wait(LIMIT).is_ok() && waits[0].wait(LIMIT).is_ok());
}

#[test]
fn no_queue_means_refused_at_once() {
    for config in ["queueLength = 0", "queueWaitMs = 0"] {
        let home = Home::new();
        let double = Double::sound(&home);
        let (bridge, page) = scene(&home, &format!("[limits]\n{config}\n"), &double);
        let held = [hold(&page, &double), hold(&page, &double)];
        let begin = Instant::now();
        assert_limited(&quick(&page).unwrap_err(), "concurrent");
        assert!(begin.elapsed() < PROMPT, "{config}");
        held.iter().for_each(|call| cancel(&bridge, call));
        quick(&page).unwrap();
    }
}

#[test]
fn a_full_queue_refuses_at_once() {
    let home = Home::new();
    let double = Double::sound(&home);
    let (bridge, page) = scene(&home, "[limits]\nmaxConcurrentPerOrigin = 1\nqueueLength = 2\n", &double);
    let held = hold(&page, &double);
    let waits = [queue(&page, "s/echo", &json!({})), queue(&page, "s/echo", &json!({}))];
    let begin = Instant::now();
    assert_limited(&quick(&page).unwrap_err(), "concurrent");
    assert!(begin.elapsed() < PROMPT);
    // One that leaves makes room.
    cancel(&bridge, &waits[0]);
    let third = queue(&page, "s/echo", &json!({}));
    cancel(&bridge, &held);
    assert!(waits[1].wait(LIMIT).is_ok() && third.wait(LIMIT).is_ok());
}

#[test]
fn nobody_waits_longer_than_agreed() {
    let home = Home::new();
    let double = Double::sound(&home);
    let config = "[limits]\nmaxConcurrentPerOrigin = 1\nqueueWaitMs = 400\n";
    let (bridge, page) = scene(&home, config, &double);
    let held = hold(&page, &double);
    let begin = Instant::now();
    assert_limited(&quick(&page).unwrap_err(), "concurrent");
    let took = begin.elapsed();
    assert!(took >= Duration::from_millis(400) && took < Duration::from_secs(3), "{took:?}");
    wait_until("the queue to be empty", PROMPT, || waiting(&page) == 0);
    cancel(&bridge, &held);
    assert_eq!(double.journal().count("call sleep"), 1);
}

#[test]
fn an_origin_and_the_owner_can_have_limits_of_their_own() {
    let home = Home::new();
    let double = Double::sound(&home);
    let config = "[limits]\nqueueLength = 0\n\
                  [limits.origin.\"https://wide.example\"]\nmaxConcurrentPerOrigin = 3\n\
                  [limits.origin.owner]\nmaxConcurrentPerOrigin = 1\nqueueLength = 0\n";
    let (bridge, page) = scene(&home, config, &double);
    let wide = bridge.asking("https://wide.example").allowed();
    let mut held = vec![hold(&page, &double), hold(&page, &double)];
    held.extend((0..3).map(|_| hold(&wide, &double)));
    assert_limited(&quick(&page).unwrap_err(), "concurrent");
    assert_limited(&quick(&wide).unwrap_err(), "concurrent");
    let before = double.journal().count("call sleep");
    held.push(bridge.send_tool("s", "sleep", &json!({"ms": super::FOR_EVER})));
    wait_until("the owner's call", LIMIT, || double.journal().count("call sleep") > before);
    assert_limited(&bridge.tool("s", "sleep", &json!({"ms": 1})).unwrap_err(), "concurrent");
    held.iter().for_each(|call| cancel(&bridge, call));
}

#[test]
fn the_owner_has_no_limit_unless_he_gives_himself_one() {
    let home = Home::new();
    let double = Double::sound(&home);
    let config = "[limits]\nmaxConcurrentPerOrigin = 1\nqueueLength = 0\ncallsPerMinutePerOrigin = 1\n";
    let (bridge, _) = scene(&home, config, &double);
    let calls: Vec<_> = (0..20).map(|_| bridge.send_tool("s", "sleep", &json!({"ms": 300}))).collect();
    wait_until("all to be made", LIMIT, || double.journal().count("call sleep") == 20);
    for call in calls {
        assert_eq!(call.wait(LIMIT).unwrap().content_text(), "slept");
    }
}

#[test]
fn a_server_can_take_fewer_at_once_of_each_origin_and_keeps_no_place_from_others() {
    let home = Home::new();
    let double = Double::sound(&home);
    let config = "[limits]\nmaxConcurrentPerOrigin = 2\n[limits.server.s]\nmaxConcurrentPerOrigin = 1\n";
    let (bridge, page) = scene(&home, config, &double);
    bridge.add_and_connect("t", &Double::sound(&home));
    let held = hold(&page, &double);
    let waits = page.send_call("s/sleep", &json!({"ms": 1}));
    // While it waits for its server, the page's other place is free.
    assert!(page.call("t/echo", &json!({})).is_ok());
    assert_eq!(under_way(&page), 1);
    assert!(bridge.asking("https://other.example").allowed().call("s/echo", &json!({})).is_ok());
    cancel(&bridge, &held);
    assert_eq!(waits.wait(LIMIT).unwrap().content_text(), "slept");
    assert_eq!((under_way(&page), waiting(&page)), (0, 0));
}
