//! Tokens end; what is granted goes on.

use std::sync::mpsc;

use harbor_tests::authority::{Authority, Twists};
use harbor_tests::{Bridge, Home, LIMIT, wait_until};
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
    wait_until("it is stored", LIMIT, || stored(&home).contains("refresh-token-2"));
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

/// The refresh token is used by then: an answer that nobody hears would be the end of the login.
#[test]
fn a_renewal_is_heard_to_its_end_though_its_call_is_cancelled_or_its_server_stopped() {
    for is_stopped in [false, true] {
        let (release, held) = mpsc::channel();
        let (home, authority) =
            (Home::new(), Authority::start(Twists { holds_renewals: Some(held), ..Twists::default() }));
        let bridge = Bridge::start(&home);
        let_in(&bridge, &authority);
        authority.end_tokens();
        let call = bridge.send_tool("s", "t", &json!({}));
        wait_until("the renewal", LIMIT, || authority.grants("refresh_token") == 1);
        let stop = is_stopped.then(|| bridge.request("disconnect_server", &json!({"server_id": "s"})));
        if !is_stopped {
            bridge.call("cancel", &json!({"target": call.id})).unwrap();
        }
        drop(release);
        assert!(call.wait(LIMIT).is_err());
        stop.into_iter().for_each(|stop| drop(stop.wait(LIMIT).unwrap()));
        start(&bridge).unwrap();
        assert_eq!(bridge.tool_text("s", "t", &json!({})), "done");
        assert_eq!(authority.grants("refresh_token"), 1);
    }
}
