//! The native host: browsers start it, it finds or starts the user's one bridge, and relays.

use harbor_tests::bridge::shut_down_detached;
use harbor_tests::processes::{Process, assert_gone};
use harbor_tests::{Bridge, Client, DOWN_LIMIT, Double, Home, Relay};
use nix::sys::signal::Signal;
use serde_json::json;

/// A bridge that a relay started, alive until it is told to end.
fn bridge_behind(relay: &Relay) -> Process {
    let hello = relay.call("hello", &json!({"client": "test", "chunks": true})).unwrap();
    Process::named_by(&hello["pid"])
}

#[test]
fn a_relay_starts_a_bridge_when_there_is_none() {
    let home = Home::new();
    let relay = Relay::chrome(&home, &[]);
    let bridge = bridge_behind(&relay);
    assert_ne!(bridge, relay.process());
    assert_eq!(home.locked_by(), Some(bridge.pid));
    relay.add_and_connect("s", &Double::sound(&home));
    assert_eq!(relay.tool_text("s", "big", &json!({"bytes": 3_000_000})).len(), 3_000_000);
    drop(relay);
    shut_down_detached(&home);
}

#[test]
fn two_browsers_share_one_bridge_also_when_they_start_at_once() {
    let home = Home::new();
    let relays = [Relay::chrome(&home, &[]), Relay::firefox(&home, &[]), Relay::chrome(&home, &[])];
    let bridges: Vec<_> = relays.iter().map(bridge_behind).collect();
    assert!(bridges.iter().all(|bridge| *bridge == bridges[0]), "{bridges:?}");
    let [first, second, _] = &relays;
    let double = Double::sound(&home);
    let connected = first.add_and_connect("s", &double);
    assert_eq!(second.connect("s")["pid"], connected["pid"]);
    assert_eq!(double.journal().count("start"), 1);
    drop(relays);
    shut_down_detached(&home);
}

#[test]
fn a_bridge_and_its_servers_survive_a_relay_that_dies() {
    let home = Home::new();
    let mut relay = Relay::chrome(&home, &[]);
    let bridge = bridge_behind(&relay);
    let double = Double::sound(&home);
    let server = Process::named_by(&relay.add_and_connect("s", &double)["pid"]);
    let _ = relay.send_tool("s", "sleep", &json!({"ms": 60_000}));
    let id = double.journal().wait_for("call sleep");
    relay.kill();
    // Its call is cancelled like that of any client that is gone.
    let _ = double.journal().wait_for(&format!("cancelled {id} "));
    let next = Relay::chrome(&home, &[]);
    assert_eq!(bridge_behind(&next), bridge);
    assert_eq!(next.tool_text("s", "pid", &json!({})), server.own_id().unwrap().to_string());
    drop(next);
    assert!(!bridge.is_gone() && !server.is_gone());
    shut_down_detached(&home);
    assert_gone(&[server], DOWN_LIMIT);
}

#[test]
fn a_relay_uses_the_bridge_that_runs_already() {
    let home = Home::new();
    let bridge = Bridge::foreground(&home);
    let relay = Relay::firefox(&home, &[]);
    assert_eq!(bridge_behind(&relay), bridge.process());
    assert!(relay.is_alive());
    // The bridge ends, and with it the port: the browser sees that.
    drop(bridge);
    assert!(relay.wait_closed(DOWN_LIMIT));
}

#[test]
fn a_bridge_that_a_relay_started_ends_some_time_after_its_last_client() {
    let home = Home::new();
    let env = [("HARBOR_IDLE_EXIT_SECONDS", "1")];
    let relay = Relay::chrome(&home, &env);
    let bridge = bridge_behind(&relay);
    let server = Process::named_by(&relay.add_and_connect("s", &Double::sound(&home))["pid"]);
    let other = Client::attach(&home);
    drop(relay);
    assert!(other.is_alive());
    other.close();
    assert_gone(&[bridge, server], DOWN_LIMIT + std::time::Duration::from_secs(1));
}

#[test]
fn a_relay_finds_a_new_bridge_after_the_old_one_was_killed() {
    let home = Home::new();
    let relay = Relay::chrome(&home, &[]);
    let bridge = bridge_behind(&relay);
    home.place().remember(bridge.pid);
    bridge.signal(Signal::SIGKILL);
    assert!(relay.wait_closed(DOWN_LIMIT), "the browser sees that its port ended");
    let next = Relay::chrome(&home, &[]);
    assert_ne!(bridge_behind(&next), bridge);
    drop(next);
    shut_down_detached(&home);
}

#[test]
fn a_bad_frame_hurts_only_the_relay_that_sent_it() {
    let home = Home::new();
    let (first, second) = (Relay::chrome(&home, &[]), Relay::firefox(&home, &[]));
    assert!(first.is_alive() && second.is_alive());
    first.send(b"{");
    assert_eq!(first.next_stray(harbor_tests::LIMIT).code, "invalid_message");
    assert!(first.is_alive() && second.is_alive());
    drop((first, second));
    shut_down_detached(&home);
}
