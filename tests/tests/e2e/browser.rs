//! The person's browser as a source of tools, with an extension that is the test's: whose tab is whose, which addresses are opened,
//! who may use it, and what becomes of a call whose browser goes.

use harbor_tests::browser::Browser;
use harbor_tests::{
    Answer, Asker, Bridge, Client, Direct, ErrorValue, Home, LIMIT, PROMPT, Pending, wait_until,
};
use serde_json::{Value, json};

const CONFIG: &str = "[browser]\nblocked = [\"*.bank.example\", \"127.0.0.1\"]\n";

pub(super) fn scene(home: &Home) -> (Bridge, Browser) {
    home.configure(CONFIG);
    let bridge = Bridge::start(home);
    assert!(bridge.is_alive());
    (bridge, Browser::start(home, "Chromium", "one"))
}

/// An AI client on a connection of its own that was granted the browser.
pub(super) fn granted(home: &Home, bridge: &Bridge, name: &str) -> Asker {
    let origin = format!("client://{name}");
    for scope in ["mcp:tools.list", "mcp:tools.call"] {
        bridge.asking(&origin).granted(scope, "ALLOW_ALWAYS", &json!({"allowed_tools": ["browser/*"]}));
    }
    Client::attach_ai(home, name).asking(&origin)
}

pub(super) fn call(asker: &Asker, tool: &str, arguments: Value) -> Pending {
    asker.send_call(&format!("browser/browser_{tool}"), &arguments)
}

pub(super) fn text(answer: Result<Answer, ErrorValue>) -> String {
    let answer = answer.unwrap();
    answer["result"]["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{}", answer.text)).to_owned()
}

/// Why a call was denied.
pub(super) fn denied(pending: Pending) -> String {
    let answer = pending.wait(LIMIT).unwrap();
    assert_eq!(answer["result"]["isError"], true, "{}", answer.text);
    answer["result"]["structuredContent"]["denied"]["reason"]
        .as_str()
        .unwrap_or_else(|| panic!("{}", answer.text))
        .to_owned()
}

/// A call that the extension answers after it has opened this tab for it.
pub(super) fn with_tab(browser: &Browser, asker: &Asker, tab: u64) {
    let pending = call(asker, "navigate", json!({"url": "https://a.example"}));
    let called = browser.next_call();
    assert_eq!(called.shown().1, None);
    browser.open_tab(&called, tab);
    assert!(browser.answer(&called, "there"));
    assert_eq!(text(pending.wait(LIMIT)), "there");
}

#[test]
fn a_call_goes_to_the_extension_and_back() {
    let home = Home::new();
    let (bridge, browser) = scene(&home);
    let sources = bridge.call("list_sources", &json!({})).unwrap();
    let source = &sources["sources"][0];
    assert_eq!(
        (&source["source_id"], &source["kind"], &source["label"]),
        (&json!("browser"), &json!("browser"), &json!("Chromium"))
    );
    let tools = bridge.call("mcp_list_tools", &json!({"server_id": "browser"})).unwrap()["tools"].clone();
    assert_eq!(tools.as_array().unwrap().len(), 26);
    let ask = json!({"server_id": "browser", "tool_name": "browser_navigate", "arguments": {"url": "HTTPS://A.example/x y#canary"}});
    let pending = bridge.request("mcp_call_tool", &ask);
    let called = browser.next_call();
    assert_eq!(called.shown(), ("browser_navigate", None, &[][..]));
    assert_eq!(
        called.arguments,
        json!({"url": "https://a.example/x%20y#canary"}),
        "what is opened is what was judged"
    );
    assert_eq!(
        (called.call.principal.as_str(), called.call.session.label.as_str()),
        ("owner", "harbor call")
    );
    browser.open_tab(&called, 7);
    let there = browser
        .tell("navigated", &json!({"tab_id": 7, "url": "https://a.example/canary", "title": "canary"}));
    assert_eq!(there.verdict.as_deref(), Some("allowed"));
    assert!(browser.answer(&called, "canary"));
    assert_eq!(text(pending.wait(LIMIT)), "canary");
    assert!(!browser.answer(&called, "again"), "once");
    // The person's commands share a session.
    let owner = Client::attach(&home);
    let pending =
        owner.request("mcp_call_tool", &json!({"server_id": "browser", "tool_name": "browser_snapshot"}));
    let called = browser.next_call();
    assert_eq!(called.shown(), ("browser_snapshot", Some(7), &[7][..]));
    browser.answer(&called, "seen");
    assert_eq!(text(pending.wait(LIMIT)), "seen");
    let wrong = json!({"server_id": "browser", "tool_name": "browser_click", "arguments": {"x": 1}});
    assert_eq!(bridge.call("mcp_call_tool", &wrong).unwrap_err().code, "invalid_params");
    let audit = bridge.call("host_get_audit", &json!({})).unwrap();
    assert!(audit.text.contains("browser_navigate") && !audit.text.contains("canary"), "{}", audit.text);
}

#[test]
fn each_client_has_tabs_of_its_own() {
    let home = Home::new();
    let (bridge, browser) = scene(&home);
    let (one, two) = (granted(&home, &bridge, "one"), granted(&home, &bridge, "two"));
    with_tab(&browser, &one, 7);
    with_tab(&browser, &two, 8);
    for (asker, tab) in [(&one, 7), (&two, 8)] {
        let pending = call(asker, "snapshot", json!({}));
        let called = browser.next_call();
        assert_eq!(called.shown(), ("browser_snapshot", Some(tab), &[tab][..]));
        browser.answer(&called, "seen");
        assert_eq!(text(pending.wait(LIMIT)), "seen");
    }
    // Nothing of these comes to the extension.
    for (tool, arguments) in [
        ("snapshot", json!({"tabId": 8})),
        ("click", json!({"tabId": 8, "target": "e1"})),
        ("read", json!({"tabIds": [7, 8]})),
        ("tabs", json!({"action": "close", "tabId": 8})),
        ("snapshot", json!({"tabId": 99})),
    ] {
        assert_eq!(denied(call(&one, tool, arguments)), "foreign_tab");
    }
    assert_eq!(denied(call(&one, "tabs", json!({"action": "claim", "tabId": 99}))), "consent");
    // A popup joins its opener's session; the person gives one, and takes one.
    assert!(browser.tell("tab_opened", &json!({"tab_id": 9, "opener_tab_id": 7})).accepted);
    assert!(!browser.tell("tab_opened", &json!({"tab_id": 10, "opener_tab_id": 99})).accepted);
    assert!(browser.tell("released", &json!({"tab_id": 7})).accepted);
    let pending = call(&one, "snapshot", json!({}));
    let called = browser.next_call();
    assert_eq!(called.shown(), ("browser_snapshot", Some(9), &[9][..]));
    // What the other client's browser session is told of is not this one's to answer.
    assert!(!browser.answer_id("0", "x"));
    browser.answer(&called, "seen");
    pending.wait(LIMIT).unwrap();
}

#[test]
fn addresses_that_may_not_be_opened_are_denied() {
    let home = Home::new();
    let (bridge, browser) = scene(&home);
    let client = granted(&home, &bridge, "one");
    with_tab(&browser, &client, 7);
    for (url, reason) in [
        ("file:///etc/passwd", "scheme"),
        ("chrome://settings", "scheme"),
        ("javascript:alert(1)", "scheme"),
        ("https://me:secret@a.example", "credentials"),
        ("https://www.BANK.example.", "blocked"),
        ("http://0x7f.1/", "blocked"),
    ] {
        assert_eq!(denied(call(&client, "navigate", json!({"url": url}))), reason, "{url}");
        let tabs = json!({"action": "new", "urls": ["https://a.example", url]});
        assert_eq!(denied(call(&client, "tabs", tabs)), reason, "{url}");
        // So is where a page leads by itself.
        let said = browser.tell("navigated", &json!({"tab_id": 7, "url": url}));
        assert_eq!((said.accepted, said.verdict.as_deref()), (true, Some("denied")), "{url}");
        assert!(!said.reason.unwrap().contains("secret"));
    }
    assert!(!browser.tell("navigated", &json!({"tab_id": 99, "url": "https://a.example"})).accepted);
}

/// A tab may show it for a moment before it is left.
#[test]
fn nothing_is_told_of_a_page_that_may_not_be_there() {
    let home = Home::new();
    let (bridge, browser) = scene(&home);
    let client = granted(&home, &bridge, "one");
    with_tab(&browser, &client, 7);
    let page = json!({"page": {"tab_id": 7, "url": "https://bank.example/x", "title": "canary"}});
    for answer in [Browser::answer_with, Browser::fail_with] {
        let pending = call(&client, "snapshot", json!({}));
        answer(&browser, &browser.next_call(), &page);
        assert_eq!(denied(pending), "address");
    }
}

#[test]
fn the_person_is_asked_about_some_sites() {
    let home = Home::new();
    home.configure("[browser]\naskFirst = [\"*.shop.example\"]\n");
    let bridge = Bridge::start(&home);
    let browser = Browser::start(&home, "Chromium", "one");
    let client = granted(&home, &bridge, "one");
    with_tab(&browser, &client, 7);
    let visit = |host: &str| call(&client, "navigate", json!({"url": format!("https://{host}/x")}));
    let asked = |host: &str, answer: &Value| {
        let pending = visit(host);
        let question = browser.next_call();
        assert_eq!(question.shown(), ("ask_site", None, &[7][..]));
        assert_eq!(question.arguments, json!({"host": host}));
        assert!(browser.answer_with(&question, answer));
        pending
    };
    let leads = |host: &str| {
        browser.tell("navigated", &json!({"tab_id": 7, "url": format!("https://{host}/")})).verdict
    };
    // Where a page leads by itself nobody is asked.
    assert_eq!(leads("a.shop.example").as_deref(), Some("denied"));
    // Without an answer nothing is opened, and the next call asks again; a no holds.
    assert_eq!(denied(asked("a.shop.example", &json!({}))), "ask_first");
    assert_eq!(denied(asked("a.shop.example", &json!({"allowed": false}))), "refused");
    assert_eq!(denied(visit("a.shop.example")), "refused");
    // A yes holds for that host in this session.
    let pending = asked("b.shop.example", &json!({"allowed": true}));
    for pending in [pending, visit("b.shop.example")] {
        let called = browser.next_call();
        assert_eq!(called.shown().0, "browser_navigate");
        browser.answer(&called, "there");
        assert_eq!(text(pending.wait(LIMIT)), "there");
    }
    assert_eq!(leads("b.shop.example").as_deref(), Some("allowed"));
    let other = granted(&home, &bridge, "two");
    let pending = call(&other, "navigate", json!({"url": "https://b.shop.example"}));
    let question = browser.next_call();
    assert_eq!(question.shown().0, "ask_site");
    browser.answer_with(&question, &json!({"allowed": false}));
    assert_eq!(denied(pending), "refused");
}

#[test]
fn what_was_granted_for_servers_does_not_cover_a_browser() {
    let home = Home::new();
    let (bridge, browser) = scene(&home);
    let mut mcp = Direct::start(home.command("harbor").args(["mcp", "--client", "ai"])).initialized();
    let listed = mcp.ask("tools/list", &json!({}));
    let described =
        listed["result"]["tools"].as_array().unwrap().iter().filter_map(|tool| tool["description"].as_str());
    assert_eq!(described.filter(|said| said.starts_with("(asks first")).count(), 26, "{listed}");
    let refused = mcp.tool("browser_snapshot", &json!({}));
    let said = refused["result"]["content"][0]["text"].as_str().unwrap();
    assert!(
        said.contains("`harbor tools --client ai --on 'browser/*'`") && said.contains("`harbor approvals`"),
        "{said}"
    );
    // The call that was missed is let through once, after a yes.
    let missed = bridge.call("approvals_list", &json!({})).unwrap()["waiting"][0].clone();
    assert_eq!(
        (&missed["tool"], &missed["reason"]),
        (&json!("browser/browser_snapshot"), &json!("first_use"))
    );
    bridge.call("approvals_answer", &json!({"approval_id": missed["id"], "answer": "once"})).unwrap();
    let id = mcp.send_request("tools/call", &json!({"name": "browser_snapshot", "arguments": {}}));
    browser.answer(&browser.next_call(), "let in");
    let answered = std::iter::repeat_with(|| mcp.next_message()).find(|message| message["id"] == id).unwrap();
    assert_eq!(answered["result"]["content"][0]["text"], "let in", "{answered}");
    let allowed =
        home.command("harbor").args(["tools", "--client", "ai", "--on", "browser/*"]).output().unwrap();
    assert!(allowed.status.success(), "{allowed:?}");
    let grants = bridge.speaking_for("client://ai").grants();
    assert!(grants.iter().all(|grant| grant["allowed_tools"] == json!(["*", "browser/*"])), "{grants:?}");
    let listed = mcp.ask("tools/list", &json!({}));
    let names: Vec<_> =
        listed["result"]["tools"].as_array().unwrap().iter().map(|tool| tool["name"].clone()).collect();
    assert!(
        names.contains(&json!("browser_click")) && names.contains(&json!("browser_session")),
        "{names:?}"
    );
    let id = mcp.send_request("tools/call", &json!({"name": "browser_snapshot", "arguments": {}}));
    let called = browser.next_call();
    assert_eq!((called.call.principal.as_str(), called.call.session.label.as_str()), ("client://ai", "ai"));
    browser.answer(&called, "seen");
    let answered = std::iter::repeat_with(|| mcp.next_message()).find(|message| message["id"] == id).unwrap();
    assert_eq!(answered["result"]["content"][0]["text"], "seen", "{answered}");
    // A web page never gets it by a list of tools.
    let page = bridge.asking("https://page.example");
    page.granted("mcp:tools.call", "ALLOW_ALWAYS", &json!({"allowed_tools": ["browser/*"]}));
    assert_eq!(call(&page, "snapshot", json!({})).wait(LIMIT).unwrap_err().code, "ERR_TOOL_NOT_ALLOWED");
}

#[test]
fn the_end_of_a_browser_ends_its_calls_and_keeps_its_tabs_for_a_while() {
    let home = Home::new();
    let (bridge, mut browser) = scene(&home);
    let client = granted(&home, &bridge, "one");
    with_tab(&browser, &client, 7);
    let open = call(&client, "snapshot", json!({}));
    let called = browser.next_call();
    browser.kill();
    let error = open.wait(PROMPT).unwrap_err();
    assert_eq!(
        (error.code.as_str(), &error.details["cause"]),
        ("ERR_SERVER_UNAVAILABLE", &json!("browser_gone"))
    );
    let gone = || call(&client, "snapshot", json!({})).wait(LIMIT).unwrap_err();
    assert_eq!(gone().details["cause"], "no_browser");
    // It comes back: the same tabs. Another one has others with the same numbers.
    let browser = Browser::start(&home, "Chromium", "one");
    assert_eq!(browser.source, "browser");
    assert!(!browser.answer(&called, "late"));
    let pending = call(&client, "snapshot", json!({}));
    let called = browser.next_call();
    assert_eq!(called.shown(), ("browser_snapshot", Some(7), &[7][..]));
    browser.answer(&called, "seen");
    pending.wait(LIMIT).unwrap();
    let second = Browser::start(&home, "Firefox", "two");
    assert_eq!(second.source, "browser:firefox");
    let pending = call(&client, "snapshot", json!({}));
    let called = browser.next_call();
    assert!(!second.answer(&called, "another browser's call"));
    assert!(browser.answer(&called, "its own"));
    assert_eq!(text(pending.wait(LIMIT)), "its own");
    browser.unregister();
    assert_eq!(gone().details["cause"], "no_browser");
    let fresh = Browser::start(&home, "Chromium", "three");
    let pending = call(&client, "snapshot", json!({}));
    let called = fresh.next_call();
    assert_eq!(called.shown(), ("browser_snapshot", None, &[][..]));
    fresh.answer(&called, "seen");
    pending.wait(LIMIT).unwrap();
}

#[test]
fn calls_that_nobody_waits_for_are_cancelled() {
    let home = Home::new();
    let (bridge, browser) = scene(&home);
    let client = granted(&home, &bridge, "one");
    let late = client.send_call_with("browser/browser_snapshot", &json!({}), &json!({"timeout_ms": 50}));
    let called = browser.next_call();
    assert_eq!(late.wait(LIMIT).unwrap_err().code, "ERR_TOOL_TIMEOUT");
    browser.wait_for_cancel(&called);
    let ask = json!({"server_id": "browser", "tool_name": "browser_snapshot"});
    let open = bridge.request("mcp_call_tool", &ask);
    let called = browser.next_call();
    bridge.call("cancel", &json!({"target": open.id})).unwrap();
    assert_eq!(open.wait(PROMPT).unwrap_err().code, "cancelled");
    browser.wait_for_cancel(&called);
    assert!(!browser.answer(&called, "late"));
}

#[test]
fn a_session_tells_what_happened_is_closed_and_is_stopped() {
    let home = Home::new();
    let (bridge, browser) = scene(&home);
    let client = granted(&home, &bridge, "one");
    with_tab(&browser, &client, 7);
    browser.tell("dialog", &json!({"tab_id": 7, "title": "Leave?"}));
    let session = |arguments: Value| {
        let answer = call(&client, "session", arguments).wait(LIMIT).unwrap();
        answer["result"]["structuredContent"].clone()
    };
    let info = session(json!({"action": "name", "name": "errands"}));
    assert_eq!(
        (&info["name"], &info["tabs"], &info["currentTabId"]),
        (&json!("errands"), &json!([7]), &json!(7))
    );
    let events = session(json!({"action": "events"}));
    let happened: Vec<_> =
        events["events"].as_array().unwrap().iter().map(|event| event["event"].clone()).collect();
    assert_eq!(happened, ["tab_opened", "call", "dialog"]);
    // Another client may not go on with it.
    let stranger = granted(&home, &bridge, "two");
    let join = || call(&stranger, "session", json!({"action": "info", "id": info["id"]}));
    assert_eq!(denied(join()), "no_such_session");
    assert_eq!(session(json!({"action": "close"}))["closed"], 1);
    let ended = browser.next_ended();
    assert!(ended.close_tabs && json!(ended.session_id) == info["id"]);

    with_tab(&browser, &client, 8);
    let open = call(&client, "snapshot", json!({}));
    let called = browser.next_call();
    assert!(browser.tell("stop", &json!({"session_id": called.call.session_id})).accepted);
    assert_eq!(denied(open), "stopped");
    assert!(!browser.next_ended().close_tabs);
    assert_eq!(denied(call(&client, "snapshot", json!({}))), "stopped");
}

#[test]
fn a_session_outlives_its_connection_for_a_while() {
    let home = Home::new();
    let (bridge, browser) = scene(&home);
    let origin = "client://one";
    let again = granted(&home, &bridge, "one");
    let connection = Client::attach_ai(&home, "one");
    let first = connection.asking(origin);
    with_tab(&browser, &first, 7);
    let info = call(&first, "session", json!({"action": "info"})).wait(LIMIT).unwrap();
    let id = info["result"]["structuredContent"]["id"].clone();
    connection.close();
    wait_until("the bridge has noticed the end", LIMIT, || {
        bridge.call("status", &json!({})).unwrap()["status"]["bridge"]["clients"]["mcp"] == 1
    });
    let join = |asker: &Asker| call(asker, "session", json!({"action": "info", "id": id}));
    assert_eq!(denied(join(&granted(&home, &bridge, "two"))), "no_such_session");
    // Without the id it would begin anew.
    let pending = call(&again, "session", json!({"action": "list"}));
    let listed = pending.wait(LIMIT).unwrap()["result"]["structuredContent"]["sessions"].clone();
    assert_eq!(listed.as_array().unwrap().len(), 2, "{listed}");
    assert_eq!(join(&again).wait(LIMIT).unwrap()["result"]["structuredContent"]["tabs"], json!([7]));
    let pending = call(&again, "snapshot", json!({}));
    let called = browser.next_call();
    assert_eq!(called.shown(), ("browser_snapshot", Some(7), &[7][..]));
    browser.answer(&called, "seen");
    assert_eq!(text(pending.wait(LIMIT)), "seen");
}

#[test]
fn the_command_line_knows_the_browser() {
    let home = Home::new();
    let (_bridge, browser) = scene(&home);
    let harbor = |args: &[&str]| {
        let output = home.command("harbor").args(args).output().unwrap();
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    assert!(harbor(&["tools", "browser"]).contains("browser/browser_snapshot"));
    std::thread::scope(|scope| {
        let answering = scope.spawn(|| {
            let called = browser.next_call();
            browser.answer(&called, "what the page says")
        });
        assert_eq!(harbor(&["call", "browser/browser_snapshot"]), "what the page says\n");
        assert!(answering.join().unwrap());
    });
}
