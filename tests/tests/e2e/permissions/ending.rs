//! How an ALLOW_ONCE ends: by its time, with its tab, with its browser session, with the bridge.

use std::time::{Duration, Instant};

use harbor_tests::client::{CALL, wall_clock};
use harbor_tests::{Bridge, Client, Double, Home, LIMIT, PROMPT, Speaker};
use serde_json::{Value, json};

use super::{SITE, bridge_with_server, restarted};

const SECOND: Duration = Duration::from_secs(1);

fn expires(watcher: &Client, wanted: &Value) {
    let push = watcher.next_grant_change();
    assert_eq!((&push["change"], &push["grant"]), (&json!("expired"), wanted));
}

#[test]
fn an_allow_once_ends_after_its_time_and_not_before() {
    let home = Home::new();
    home.configure("[grants]\nonceSeconds = 1\n");
    let bridge = bridge_with_server(&home);
    let site = bridge.speaking_for(SITE);
    bridge.watch_host();
    for (after, length) in [(None, SECOND), (Some(2 * SECOND), 2 * SECOND)] {
        let (begin, asked) = (Instant::now(), after.map(wall_clock));
        let more = asked.map_or_else(|| json!({}), |at| json!({"expires_at": at}));
        let grant = site.grant(CALL, "ALLOW_ONCE", &more);
        assert_eq!(bridge.next_grant_change()["change"], "granted");
        let created_at = grant["created_at"].as_u64().unwrap();
        assert_eq!(grant["expires_at"], asked.unwrap_or(created_at + 1000));
        assert_eq!(site.try_tool("s/echo"), "ok");
        expires(&bridge, &grant);
        let took = begin.elapsed();
        assert!(took + Duration::from_millis(2) >= length && took < length + PROMPT, "{took:?}");
        let error = site.tool("s/echo", &json!({})).unwrap_err();
        assert_eq!((error.code.as_str(), &error.details["scope"]), ("ERR_SCOPE_REQUIRED", &json!(CALL)));
        assert_eq!(site.grants(), Vec::<Value>::new());
    }
}

/// Whoever asks at that very moment is refused too, whether or not the end was told yet.
#[test]
fn no_call_passes_once_the_time_is_over() {
    let home = Home::new();
    let bridge = bridge_with_server(&home);
    let site = bridge.speaking_for(SITE);
    let ends = wall_clock(SECOND);
    site.grant(CALL, "ALLOW_ONCE", &json!({"expires_at": ends}));
    let mut answers = Vec::new();
    let is_enough = |answers: &[(u64, _)]| answers.iter().filter(|(asked, _)| *asked > ends).count() > 1;
    while wall_clock(Duration::ZERO) <= ends + 100 || !is_enough(&answers) {
        let asked = wall_clock(Duration::ZERO);
        answers.push((asked, site.tool("s/echo", &json!({}))));
    }
    let (before, after): (Vec<_>, Vec<_>) = answers.iter().partition(|(asked, _)| *asked < ends);
    assert!(before.iter().any(|(_, answer)| answer.is_ok()));
    // The clocks that decide and that are read may differ by the milliseconds that it takes to ask.
    let late = after.iter().filter(|(asked, answer)| answer.is_ok() && *asked > ends + 5).count();
    assert!(late == 0 && after.len() > 1, "{late} of {}", after.len());
}

#[test]
fn a_call_whose_permission_ends_while_it_waits_is_not_made() {
    let home = Home::new();
    let bridge = Bridge::start(&home);
    let double = Double::sound(&home).delay_ms(2500);
    bridge.add("s", &double);
    let site = bridge.speaking_for(SITE);
    site.grant(CALL, "ALLOW_ONCE", &json!({"expires_at": wall_clock(SECOND)}));
    let error = site.tool("s/echo", &json!({})).unwrap_err();
    assert_eq!(error.code, "ERR_SCOPE_REQUIRED", "{error:?}");
    assert_eq!((double.journal().count("start"), double.journal().count("call")), (1, 0));
}

#[test]
fn a_new_allow_once_takes_the_place_of_the_one_before() {
    let home = Home::new();
    let bridge = bridge_with_server(&home);
    let site = bridge.speaking_for(SITE);
    bridge.watch_host();
    let at = |after| json!({"expires_at": wall_clock(after)});
    site.grant(CALL, "ALLOW_ONCE", &at(LIMIT));
    let last = site.grant(CALL, "ALLOW_ONCE", &at(SECOND));
    assert_eq!((site.grants().len(), &site.grants()[0]), (1, &last));
    assert_eq!([(); 2].map(|()| bridge.next_grant_change()["change"].clone()), ["granted", "granted"]);
    expires(&bridge, &last);
    assert_eq!(site.try_tool("s/echo"), "ERR_SCOPE_REQUIRED");
}

#[test]
fn an_allow_once_ends_with_the_bridge() {
    let home = Home::new();
    let mut bridge = bridge_with_server(&home);
    bridge.speaking_for(SITE).grant(CALL, "ALLOW_ONCE", &json!({"expires_at": wall_clock(LIMIT * 100)}));
    bridge.stop();
    let mut bridge = restarted(&home);
    let site = bridge.speaking_for(SITE);
    assert_eq!((site.try_tool("s/echo").as_str(), site.grants()), ("ERR_SCOPE_REQUIRED", Vec::new()));
    site.grant(CALL, "ALLOW_ONCE", &json!({}));
    bridge.kill();
    let bridge = restarted(&home);
    assert_eq!(bridge.speaking_for(SITE).try_tool("s/echo"), "ERR_SCOPE_REQUIRED");
}

/// Speaks for the tab 7 of the site.
fn in_tab(client: &Client) -> Speaker {
    client.speaking(&json!({"origin": SITE, "tab_id": 7}))
}

#[test]
fn no_call_overtakes_the_end_of_its_grant() {
    let home = Home::new();
    let _owner = bridge_with_server(&home);
    let client = Client::attach_browser(&home, "one");
    in_tab(&client).grant(CALL, "ALLOW_ONCE", &json!({}));
    assert_eq!(in_tab(&client).try_tool("s/echo"), "ok");
    let call = json!({"origin": SITE, "tab_id": 7, "tool_name": "s/echo", "args": {}});
    let requests =
        [("end", "host_expire_tab_grants", json!({"tab_id": 7})), ("call", "host_call_tool", call)];
    let [end, call] = client.request_together(&requests).try_into().unwrap();
    assert_eq!(end.wait(LIMIT).unwrap()["expired"], 1);
    assert_eq!(call.wait(LIMIT).unwrap_err().code, "ERR_SCOPE_REQUIRED");
}

#[test]
fn a_grant_for_a_tab_is_for_that_tab_of_that_browser_session() {
    let home = Home::new();
    let owner = bridge_with_server(&home);
    let [first, second] = [(); 2].map(|()| Client::attach_browser(&home, "one"));
    let other = Client::attach_browser(&home, "two");
    let unnamed = Client::attach(&home);
    let grant = in_tab(&first).grant(CALL, "ALLOW_ONCE", &json!({}));
    assert_eq!(grant["tab_id"], 7);
    assert_eq!([&first, &second].map(|client| in_tab(client).try_tool("s/echo")), ["ok", "ok"]);
    let no = "ERR_SCOPE_REQUIRED";
    assert_eq!([&other, &unnamed, &owner].map(|client| in_tab(client).try_tool("s/echo")), [no; 3]);
    let elsewhere = [
        first.speaking_for(SITE),
        in_tab(&first).with(&json!({"tab_id": 8})),
        in_tab(&first).with(&json!({"profile": "other"})),
        in_tab(&first).with(&json!({"origin": "https://other.example"})),
    ];
    assert_eq!(elsewhere.map(|speaker| speaker.try_tool("s/echo")), [no; 4]);
    // A tab sees its own grants and those for all tabs.
    first.speaking_for(SITE).grant(CALL, "ALLOW_ALWAYS", &json!({"allowed_tools": []}));
    let seen = |speaker: &Speaker| speaker.grants().len();
    assert_eq!((seen(&in_tab(&first)), seen(&in_tab(&other)), seen(&owner.speaking_for(SITE))), (2, 1, 2));
    // To take it back, it takes a connection of that session, or the whole origin.
    assert!(!in_tab(&other).revoke(CALL, None) && !in_tab(&owner).revoke(CALL, None));
    assert_eq!(in_tab(&first).try_tool("s/echo"), "ok");
    assert!(in_tab(&second).revoke(CALL, None));
    assert_eq!(in_tab(&first).try_tool("s/echo"), "ERR_TOOL_NOT_ALLOWED", "the one for all tabs is left");
}

#[test]
fn a_grant_for_a_tab_ends_when_the_tab_is_closed() {
    let home = Home::new();
    let owner = bridge_with_server(&home);
    owner.watch_host();
    let (first, second) = (Client::attach_browser(&home, "one"), Client::attach_browser(&home, "one"));
    let other = Client::attach_browser(&home, "two");
    let closed = |client: &Client, tab: u64, more: Value| {
        let mut fields = json!({"tab_id": tab});
        fields.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        client.call("host_expire_tab_grants", &fields).unwrap()["expired"].clone()
    };
    let grant = in_tab(&first).grant(CALL, "ALLOW_ONCE", &json!({}));
    assert_eq!(owner.next_grant_change()["change"], "granted");
    assert_eq!((closed(&other, 7, json!({})), closed(&first, 8, json!({}))), (json!(0), json!(0)));
    assert_eq!(closed(&first, 7, json!({"profile": "other"})), 0);
    assert_eq!(in_tab(&first).try_tool("s/echo"), "ok");
    assert_eq!(closed(&second, 7, json!({})), 1);
    expires(&owner, &grant);
    assert_eq!(in_tab(&first).try_tool("s/echo"), "ERR_SCOPE_REQUIRED");
    // Who has not named a session means the tab in all of them.
    for client in [&first, &other] {
        in_tab(client).grant(CALL, "ALLOW_ONCE", &json!({}));
    }
    assert_eq!(closed(&owner, 7, json!({})), 2);
}

#[test]
fn a_session_without_a_name_ends_with_its_connection() {
    let home = Home::new();
    let owner = bridge_with_server(&home);
    let client = Client::attach(&home);
    let in_tab_grant = in_tab(&client).grant(CALL, "ALLOW_ONCE", &json!({}));
    let for_all = client.speaking_for(SITE).grant(CALL, "ALLOW_ONCE", &json!({"allowed_tools": []}));
    owner.watch_host();
    client.close();
    expires(&owner, &in_tab_grant);
    assert_eq!(owner.all_grants(), [for_all], "what is bound to no tab stays");
}

#[test]
fn a_session_with_a_name_outlives_one_connection() {
    let home = Home::new();
    let owner = bridge_with_server(&home);
    let client = Client::attach_browser(&home, "one");
    in_tab(&client).grant(CALL, "ALLOW_ONCE", &json!({}));
    client.close();
    assert!(client.wait_closed(LIMIT));
    // The extension was restarted, and comes back with the same name.
    let again = Client::attach_browser(&home, "one");
    assert_eq!(in_tab(&again).try_tool("s/echo"), "ok");
    assert_eq!(owner.all_grants().len(), 1);
    let error = again.call("hello", &json!({"browser_session": "two"})).unwrap_err();
    assert_eq!(
        (error.code.as_str(), &error.details["field"]),
        ("invalid_params", &json!("browser_session")),
        "one connection is of one session"
    );
    assert_eq!(in_tab(&again).try_tool("s/echo"), "ok");
}
