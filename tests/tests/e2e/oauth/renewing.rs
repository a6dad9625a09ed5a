//! Tokens end; what is granted goes on.

use std::sync::mpsc;

use harbor_tests::authority::{Authority, Twists};
use harbor_tests::{Bridge, Home, LIMIT, Process, wait_until};
use nix::sys::signal::Signal;
use serde_json::json;

use super::{let_in, sound, start, told};

fn stored(home: &Home) -> String {
    std::fs::read_to_string(home.path().join("secrets/credentials.json")).unwrap()
}

#[test]
fn a_token_that_ends_is_renewed_inside_the_connection_by_one_of_all_who_wait() {
    let (home, authority) = (Home::new(), sound());
    let mut bridge = Bridge::start(&home);
    let_in(&bridge, &authority);
    let sessions = || authority.mcp.count(|asked| asked.method() == "initialize");
    let before = sessions();
    authority.end_tokens();
    let calls: Vec<_> = (0..8).map(|_| bridge.send_tool("s", "t", &json!({}))).collect();
    for call in calls {
        assert_eq!(call.wait(LIMIT).unwrap().content_text(), "done");
    }
    assert_eq!((authority.grants("refresh_token"), sessions()), (1, before));
    assert!(stored(&home).contains("refresh-token-2"), "stored before it is used");
    assert!(!stored(&home).contains("token-1"), "the old ones are good for nothing");

    // The bridge that comes next has the one that is good.
    bridge.stop();
    authority.end_tokens();
    let bridge = Bridge::start(&home);
    start(&bridge).unwrap();
    assert_eq!(bridge.tool_text("s", "t", &json!({})), "done");
    assert_eq!(authority.grants("refresh_token"), 2);
    assert!(!told(&bridge).contains("token-"), "{}", told(&bridge));
}

#[test]
fn a_token_whose_time_is_known_is_renewed_before_it_is_refused() {
    let short = Twists { expires_in: Some(1), ..Twists::default() };
    let (home, authority) = (Home::new(), Authority::start(short));
    let bridge = Bridge::start(&home);
    let_in(&bridge, &authority);
    let refused = || authority.mcp.count(|asked| asked.header("authorization").is_empty());
    let before = refused();
    assert_eq!(bridge.tool_text("s", "t", &json!({})), "done");
    assert!(authority.grants("refresh_token") > 0);
    assert_eq!(refused(), before);
}

#[test]
fn what_is_not_renewed_needs_the_person_and_no_restart() {
    let (home, authority) = (Home::new(), sound());
    let bridge = Bridge::start(&home);
    let_in(&bridge, &authority);
    authority.end_tokens();
    authority.good().refresh.clear();
    let error = bridge.tool("s", "t", &json!({})).unwrap_err();
    assert_eq!(error.details["cause"], "needs_authorization", "{}", error.message);
    wait_until("it is given up", LIMIT, || bridge.server("s")["state"] == "failed");
    // Nobody is told that it goes on.
    let shown = || home.done(&["auth", "s", "--status"]);
    wait_until("it is stored", LIMIT, || !shown().contains("renewed"));
    assert!(
        shown().contains("s: was signed in") && shown().contains("the token has expired: `harbor auth s`"),
        "{}",
        shown()
    );
    let asked = authority.mcp.count(|_| true);
    let error = bridge.tool("s", "t", &json!({})).unwrap_err();
    assert_eq!((error.code.as_str(), authority.mcp.count(|_| true)), ("ERR_AUTHORIZATION_REQUIRED", asked));
    assert_eq!(authority.grants("refresh_token"), 1);
}

#[test]
fn tokens_are_hidden_in_what_the_server_says_also_new_ones() {
    let tells = Twists { tells_tokens: true, ..Twists::default() };
    let (home, authority) = (Home::new(), Authority::start(tells));
    let bridge = Bridge::start(&home);
    let_in(&bridge, &authority);
    for round in 0..2 {
        assert_eq!(bridge.tool_text("s", "other", &json!({})), "done");
        let said = told(&bridge);
        assert!(said.contains("wrong token [OAUTH]") && !said.contains("access-token"), "{round}: {said}");
        authority.end_tokens();
    }
    assert_eq!(authority.grants("refresh_token"), 1);
}

/// The refresh token is used by then: an answer that nobody hears, or that nobody stores, would be the end of the login.
#[test]
fn a_renewal_is_heard_to_its_end_and_stored_whatever_ends_its_call() {
    for ending in [
        "cancel",
        "stop",
        "restart",
        "edit",
        "death of its runner",
        "shutdown",
        "end of the system",
        "kill of the bridge behind it",
    ] {
        let (release, held) = mpsc::channel();
        let twists = Twists { holds_renewals: Some(held), ..Twists::default() };
        let (home, authority) = (Home::new(), Authority::start(twists));
        let mut bridge = Bridge::start(&home);
        let_in(&bridge, &authority);
        authority.end_tokens();
        let call = bridge.send_tool("s", "t", &json!({}));
        wait_until("the renewal", LIMIT, || authority.grants("refresh_token") == 1);
        let id = json!({"server_id": "s"});
        let ended = match ending {
            "cancel" => Some(bridge.request("cancel", &json!({"target": call.id}))),
            "stop" => Some(bridge.request("disconnect_server", &id)),
            "restart" => Some(bridge.request("connect_server", &json!({"server_id": "s", "restart": true}))),
            "edit" => {
                let anew = json!({"server_id": "s", "url": authority.mcp.url(), "allow_private": true});
                bridge.call("add_remote_server", &anew).unwrap();
                None
            }
            "death of its runner" => {
                Process::named_by(&bridge.server("s")["runner_pid"]).signal(Signal::SIGKILL);
                None
            }
            "shutdown" => {
                bridge.signal(Signal::SIGTERM);
                None
            }
            // As a system that shuts down tells all processes.
            "end of the system" => {
                bridge.tree().iter().for_each(|process| process.signal(Signal::SIGTERM));
                None
            }
            _ => None,
        };
        drop(release);
        let answered = call.wait(LIMIT);
        if ending == "kill of the bridge behind it" {
            // At once: what was used was stored.
            bridge.kill();
            assert_eq!(answered.unwrap().content_text(), "done");
        }
        ended.into_iter().for_each(|ended| drop(ended.wait(LIMIT)));
        if ["shutdown", "end of the system"].contains(&ending) {
            bridge.wait(LIMIT).unwrap();
        }
        if ["shutdown", "end of the system", "kill of the bridge behind it"].contains(&ending) {
            bridge = Bridge::start(&home);
        }
        start(&bridge).unwrap();
        assert_eq!(bridge.tool_text("s", "t", &json!({})), "done", "{ending}");
        assert_eq!((authority.grants("refresh_token"), authority.good().reuses), (1, 0), "{ending}");
    }
}

#[test]
fn a_renewal_that_finds_the_secrets_locked_is_told_and_stored_at_the_end() {
    let (release, held) = mpsc::channel();
    let twists = Twists { holds_renewals: Some(held), ..Twists::default() };
    let (home, authority) = (Home::new(), Authority::start(twists));
    let mut bridge = Bridge::start(&home);
    let_in(&bridge, &authority);
    let passphrase = json!({"passphrase": "a long passphrase"});
    bridge.call("encrypt_secrets", &passphrase).unwrap();
    authority.end_tokens();
    let call = bridge.send_tool("s", "t", &json!({}));
    wait_until("the renewal", LIMIT, || authority.grants("refresh_token") == 1);
    bridge.call("lock_secrets", &json!({})).unwrap();
    drop(release);
    assert_eq!(call.wait(LIMIT).unwrap().content_text(), "done");
    let health = bridge.call("health", &json!({})).unwrap()["health"].clone();
    assert_eq!(health["reasons"][0]["code"], "logins_unstored", "{health}");
    bridge.call("unlock_secrets", &passphrase).unwrap();
    bridge.signal(Signal::SIGTERM);
    bridge.wait(LIMIT).unwrap();
    bridge = Bridge::start(&home);
    bridge.call("unlock_secrets", &passphrase).unwrap();
    start(&bridge).unwrap();
    assert_eq!(bridge.tool_text("s", "t", &json!({})), "done");
    assert_eq!((authority.grants("refresh_token"), authority.good().reuses), (1, 0));
}
