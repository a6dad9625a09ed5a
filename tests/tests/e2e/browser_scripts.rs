//! Several steps in one call of the browser, and scripts of a client in its pages, with an extension that is the test's.

use harbor_tests::browser::Browser;
use harbor_tests::{Asker, Bridge, Client, Home, LIMIT};
use serde_json::{Value, json};

use super::browser::{call, denied, text, with_tab};

fn granted(home: &Home, bridge: &Bridge, name: &str, tools: &[&str]) -> Asker {
    let origin = format!("client://{name}");
    for scope in ["mcp:tools.list", "mcp:tools.call"] {
        bridge.asking(&origin).granted(scope, "ALLOW_ALWAYS", &json!({"allowed_tools": tools}));
    }
    Client::attach_ai(home, name).asking(&origin)
}

fn structured(pending: harbor_tests::Pending) -> Value {
    pending.wait(LIMIT).unwrap()["result"]["structuredContent"].clone()
}

#[test]
fn each_step_of_a_batch_is_a_call_by_itself() {
    let home = Home::new();
    let bridge = Bridge::start(&home);
    let browser = Browser::start(&home, "Chromium", "one");
    let tools = ["browser/browser_batch", "browser/browser_snapshot", "browser/browser_navigate"];
    let client = granted(&home, &bridge, "steps", &tools);
    with_tab(&browser, &client, 7);
    let snapshot = json!({"tool": "browser_snapshot"});
    let batch = |steps: Value| call(&client, "batch", json!({"steps": steps}));
    // A dialog ends it; what stands behind is not begun.
    let pending = batch(json!([snapshot, snapshot, snapshot]));
    for dialogs in [0, 1] {
        let called = browser.next_call();
        assert_eq!(called.shown(), ("browser_snapshot", Some(7), &[7][..]));
        browser.answer_with(&called, &json!({"dialogs": dialogs}));
    }
    let came = structured(pending);
    assert_eq!((&came["stopped"], &came["begun"]), (&json!("dialog"), &json!(2)), "{came}");
    // So does a step that the client may not make: its permission is asked for that tool.
    let pending =
        batch(json!([snapshot, {"tool": "browser_click", "arguments": {"target": "e1"}}, snapshot]));
    browser.answer(&browser.next_call(), "seen");
    let came = structured(pending);
    assert_eq!((&came["stopped"], &came["begun"]), (&json!("failure"), &json!(2)), "{came}");
    assert_eq!(came["steps"][1]["structuredContent"]["error"]["code"], "ERR_TOOL_NOT_ALLOWED", "{came}");
    // And one that is taken back meanwhile.
    let pending = batch(json!([snapshot, snapshot]));
    let called = browser.next_call();
    let fewer = json!({"allowed_tools": ["browser/browser_batch"]});
    bridge.asking("client://steps").granted("mcp:tools.call", "ALLOW_ALWAYS", &fewer);
    browser.wait_for_cancel(&called);
    let came = structured(pending);
    assert_eq!((&came["stopped"], &came["begun"]), (&json!("failure"), &json!(1)), "{came}");
    let wrong = batch(json!([{"tool": "browser_batch", "arguments": {"steps": [snapshot]}}]));
    assert_eq!(wrong.wait(LIMIT).unwrap_err().code, "invalid_params");
    let audit = bridge.call("host_get_audit", &json!({})).unwrap();
    assert!(audit.text.matches("browser_snapshot").count() >= 4, "{}", audit.text);
}

#[test]
fn scripts_run_where_they_were_granted_by_name_and_the_person_said_yes() {
    let home = Home::new();
    let bridge = Bridge::start(&home);
    let browser = Browser::able(&home, "Chromium", "one", &["evaluate"]);
    let star = granted(&home, &bridge, "star", &["browser/*"]);
    with_tab(&browser, &star, 6);
    let refused = call(&star, "evaluate", json!({"function": "() => 1"})).wait(LIMIT).unwrap_err();
    assert_eq!(refused.code, "ERR_TOOL_NOT_ALLOWED");
    let client = granted(&home, &bridge, "scripts", &["browser/*", "browser/browser_evaluate"]);
    with_tab(&browser, &client, 7);
    let leads = |url: &str| browser.tell("navigated", &json!({"tab_id": 7, "url": url})).verdict;
    let evaluate = || call(&client, "evaluate", json!({"function": "() => 1"}));
    let asked = |answer: &Value| {
        let pending = evaluate();
        let question = browser.next_call();
        assert_eq!(question.shown().0, "ask_evaluate");
        browser.answer_with(&question, answer);
        (question.arguments, pending)
    };
    leads("https://a.example/x");
    let (about, pending) = asked(&json!({}));
    assert_eq!((about, denied(pending)), (json!({"host": "a.example"}), "consent".to_owned()));
    let (_, first) = asked(&json!({"allowed": true}));
    for pending in [first, evaluate()] {
        let called = browser.next_call();
        assert_eq!(called.arguments, json!({"function": "() => 1", "site": "https://a.example"}));
        browser.answer(&called, "1");
        assert_eq!(text(pending.wait(LIMIT)), "1");
    }
    // Another site is another question, and a no holds.
    leads("https://b.example/");
    assert_eq!(denied(asked(&json!({"allowed": false})).1), "refused");
    assert_eq!(denied(evaluate()), "refused");
    leads("about:blank");
    assert_eq!(denied(evaluate()), "address");
}

#[test]
fn logins_are_given_where_they_were_granted_by_name_and_the_person_said_yes() {
    let home = Home::new();
    home.configure("[browser]\ngroups = [\"storage\", \"network\"]\n");
    let bridge = Bridge::start(&home);
    let browser = Browser::able(&home, "Chromium", "one", &["cookies"]);
    let star = granted(&home, &bridge, "star", &["browser/*"]);
    with_tab(&browser, &star, 6);
    for tool in ["cookie_list", "localstorage_list", "sessionstorage_list", "network_body"] {
        let arguments = if tool == "network_body" { json!({"index": 0}) } else { json!({}) };
        let refused = call(&star, tool, arguments).wait(LIMIT).unwrap_err();
        assert_eq!(refused.code, "ERR_TOOL_NOT_ALLOWED", "{tool}");
    }
    let named = [
        "browser/*",
        "browser/browser_cookie_list",
        "browser/browser_localstorage_get",
        "browser/browser_network_body",
    ];
    let client = granted(&home, &bridge, "logins", &named);
    with_tab(&browser, &client, 7);
    let leads = |url: &str| browser.tell("navigated", &json!({"tab_id": 7, "url": url})).verdict;
    let asked = |pending: harbor_tests::Pending, answer: &Value| {
        let question = browser.next_call();
        assert_eq!(question.shown().0, "ask_storage");
        browser.answer_with(&question, answer);
        pending
    };
    leads("https://a.example/x");
    let list = || call(&client, "cookie_list", json!({}));
    assert_eq!(denied(asked(list(), &json!({}))), "consent");
    let first = asked(list(), &json!({"allowed": true}));
    let called = browser.next_call();
    assert_eq!(called.arguments, json!({"site": "https://a.example"}));
    browser.answer(&called, "a=1");
    assert_eq!(text(first.wait(LIMIT)), "a=1");
    // One yes is for both; another site, scheme or client is another question, and a no holds.
    let get = || call(&client, "localstorage_get", json!({"key": "k"}));
    let pending = get();
    let called = browser.next_call();
    assert_eq!(called.arguments, json!({"key": "k", "site": "https://a.example"}));
    browser.answer(&called, "v");
    assert_eq!(text(pending.wait(LIMIT)), "v");
    // What pages say to servers is a question of its own.
    let pending = call(&client, "network_body", json!({"index": 0}));
    let question = browser.next_call();
    assert_eq!((question.shown().0, &question.arguments), ("ask_bodies", &json!({"host": "a.example"})));
    browser.answer_with(&question, &json!({"allowed": false}));
    assert_eq!(denied(pending), "refused");
    leads("http://a.example/");
    assert_eq!(denied(asked(get(), &json!({"allowed": false}))), "refused");
    assert_eq!(denied(list()), "refused");
    let other = granted(&home, &bridge, "others", &named);
    with_tab(&browser, &other, 8);
    browser.tell("navigated", &json!({"tab_id": 8, "url": "https://a.example/"}));
    assert_eq!(denied(asked(call(&other, "cookie_list", json!({})), &json!({}))), "consent");
    leads("about:blank");
    assert_eq!(denied(list()), "address");
}
