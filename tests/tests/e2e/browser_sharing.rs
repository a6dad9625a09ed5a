//! A session of the browser is its client's, in whichever connection: the same name, and the same token where it came with one.

use harbor_tests::browser::{Browser, Called};
use harbor_tests::client::attach_fields;
use harbor_tests::{Bridge, Client, Home, HttpServer, LIMIT, token, wait_until};
use serde_json::{Value, json};

use super::browser::{call, granted, scene, text, with_tab};
use super::mcp_http::wire::Caller;

/// The bridge has noticed that the connections of AI clients besides these have ended.
fn wait_for_clients(bridge: &Bridge, left: u64) {
    wait_until("the connections that have ended", LIMIT, || {
        bridge.call("status", &json!({})).unwrap()["status"]["bridge"]["clients"]["mcp"] == left
    });
}

#[test]
fn two_connections_of_a_client_work_in_one_session_until_the_last_has_ended() {
    let home = Home::new();
    let (bridge, browser) = scene(&home);
    let two = granted(&home, &bridge, "one");
    let connection = Client::attach_ai(&home, "one");
    let one = connection.asking("client://one");
    with_tab(&browser, &one, 7);
    let seen = |asker: &_| {
        let pending = call(asker, "snapshot", json!({}));
        let called = browser.next_call();
        let shown = (called.call.session_id.clone(), called.call.session.tabs.clone());
        browser.answer(&called, "seen");
        assert_eq!(text(pending.wait(LIMIT)), "seen");
        shown
    };
    let (of_one, of_two) = (seen(&one), seen(&two));
    assert_eq!((&of_one, &of_one.1), (&of_two, &vec![7]));
    connection.close();
    wait_for_clients(&bridge, 1);
    assert_eq!(seen(&two), of_one, "the other one is still there");
}

/// As much as a client may do at once is open in one tab: that holds up nothing that only looks at another one, in the same
/// connection and in another one.
#[test]
fn reading_in_a_tab_does_not_wait_for_acting_in_another_one() {
    let home = Home::new();
    let (bridge, browser) = scene(&home);
    let (one, two) = (granted(&home, &bridge, "one"), granted(&home, &bridge, "one"));
    with_tab(&browser, &one, 7);
    let pending = call(&one, "tabs", json!({"action": "new"}));
    let called = browser.next_call();
    browser.open_tab(&called, 8);
    browser.answer(&called, "opened");
    assert_eq!(text(pending.wait(LIMIT)), "opened");
    let acting: Vec<(_, Called)> = (0..2)
        .map(|_| {
            let pending = call(&one, "click", json!({"target": "f1e1", "tabId": 7}));
            (pending, browser.next_call())
        })
        .collect();
    for asker in [&one, &two] {
        let pending = call(asker, "snapshot", json!({"tabId": 8}));
        browser.answer(&browser.next_call(), "seen");
        assert_eq!(text(pending.wait(LIMIT)), "seen");
    }
    for (pending, called) in acting {
        browser.answer(&called, "clicked");
        assert_eq!(text(pending.wait(LIMIT)), "clicked");
    }
}

/// Calls a tool with a request of its own, and answers it by what `served` does; the session of the call.
fn asked(caller: &Caller<'_>, browser: &Browser, tool: &str, arguments: &Value, tab: Option<u64>) -> String {
    let params = json!({"name": format!("browser_{tool}"), "arguments": arguments});
    std::thread::scope(|scope| {
        let answering = scope.spawn(|| {
            let called = browser.next_call();
            tab.into_iter().for_each(|tab| browser.open_tab(&called, tab));
            browser.answer(&called, "done");
            called.call.session_id
        });
        let answer = caller.ask_modern(&json!(1), "tools/call", &params).answer();
        assert_eq!(answer["result"]["content"][0]["text"], "done", "{answer}");
        answering.join().unwrap()
    })
}

#[test]
fn over_http_a_token_is_a_client_and_its_next_request_goes_on() {
    let home = Home::new();
    let (bridge, browser) = scene(&home);
    let granted = granted(&home, &bridge, "ai");
    let first = token(&home, "ai");
    let server = HttpServer::start(&home, &[]);
    let caller = Caller::new(&server, &first);
    let begun = asked(&caller, &browser, "navigate", &json!({"url": "https://a.example"}), Some(7));
    wait_for_clients(&bridge, 1);
    assert_eq!(asked(&caller, &browser, "snapshot", &json!({"tabId": 7}), None), begun);
    // A session of MCP's older generation is the same client's.
    let older = Caller::begun(&server, &first);
    std::thread::scope(|scope| {
        let answering = scope.spawn(|| {
            let called = browser.next_call();
            browser.answer(&called, "seen");
            called.call.session_id
        });
        let answer = older.tool(&json!(2), "browser_snapshot", &json!({})).answer();
        assert_eq!(answer["result"]["content"][0]["text"], "seen", "{answer}");
        assert_eq!(answering.join().unwrap(), begun);
    });
    // Whoever has another token of that name is somebody else, and so is the client on standard input.
    let newer = token(&home, "ai");
    let other = asked(&Caller::new(&server, &newer), &browser, "snapshot", &json!({}), None);
    let pending = call(&granted, "snapshot", json!({}));
    let called = browser.next_call();
    browser.answer(&called, "seen");
    assert_eq!(text(pending.wait(LIMIT)), "seen");
    assert!(other != begun && called.call.session_id != begun && called.call.session_id != other);
    assert!(called.call.session.tabs.is_empty());
    let foreign = call(&granted, "snapshot", json!({"tabId": 7}));
    assert_eq!(super::browser::denied(foreign), "foreign_tab");
}

#[test]
fn an_id_of_a_token_that_is_none_is_refused() {
    let home = Home::new();
    let bridge = Bridge::start(&home);
    assert!(bridge.is_alive());
    let mut fields = attach_fields(&home);
    fields["role"] = json!("mcp");
    fields["client"] = json!("ai");
    fields["token_id"] = json!("a guess");
    let refused = Client::over_socket(home.dial()).call("attach", &fields).unwrap_err();
    assert_eq!(refused.code, "invalid_params");
}
