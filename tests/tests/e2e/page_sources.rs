//! The tools of a page as a source: who may call them, and when they are gone.

use harbor_tests::browser::Browser;
use harbor_tests::{Bridge, Client, Home, LIMIT};
use serde_json::{Value, json};

const SHOP: &str = "https://shop.example:8443";
const SOURCE: &str = "page:shop.example:8443";

fn tools(said: &str) -> Value {
    json!([{"name": "buy", "description": said, "annotations": {"readOnlyHint": true}}])
}

#[test]
fn a_pages_tools_are_called_with_a_grant_that_names_them_until_the_page_goes() {
    let home = Home::new();
    let bridge = Bridge::start(&home);
    let browser = Browser::start(&home, "Chromium", "one");
    assert_eq!(browser.offer_page(SHOP, 7, &tools("Buys")).unwrap(), SOURCE);
    assert_eq!(browser.offer_page(SHOP, 8, &tools("Buys")).unwrap(), format!("{SOURCE}~2"));
    let tool = format!("{SOURCE}/buy");
    let client = |name: &str, tools: &str| {
        let owner = bridge.speaking_for(&format!("client://{name}"));
        owner.grant("mcp:tools.call", "ALLOW_ALWAYS", &json!({"allowed_tools": [tools]}));
        Client::attach_ai(&home, name).speaking(&json!({}))
    };
    let all = client("all", "*");
    assert_eq!(all.tool(&tool, &json!({})).unwrap_err().details["permission_required"], json!(tool));

    let ai = client("ai", "page:shop.example:8443/*");
    let pending = ai.send_tool(&tool, &json!({"number": 2}));
    let called = browser.next_call();
    assert_eq!(called.shown(), ("buy", Some(7), &[7][..]));
    let told = (called.call.source_id.as_str(), called.call.principal.as_str(), &called.arguments);
    assert_eq!(told, (SOURCE, "client://ai", &json!({"number": 2})));
    assert!(browser.answer(&called, "bought"));
    assert_eq!(pending.wait(LIMIT).unwrap()["result"]["content"][0]["text"], "bought");

    // What the person has not seen is kept from the client.
    assert_eq!(browser.offer_page(SHOP, 7, &tools("Buys everything")).unwrap(), SOURCE);
    assert_eq!(ai.tool(&tool, &json!({})).unwrap_err().code, "ERR_TOOL_NOT_ALLOWED");
    assert_eq!(browser.offer_page(SHOP, 7, &json!([])).unwrap(), SOURCE);
    assert_eq!(ai.tool(&tool, &json!({})).unwrap_err().code, "ERR_TOOL_NOT_FOUND");
    assert_eq!(browser.offer_page(SHOP, 7, &tools("Buys")).unwrap(), SOURCE);

    let open = ai.send_tool(&tool, &json!({}));
    let called = browser.next_call();
    browser.take_back(SOURCE);
    assert_eq!(open.wait(LIMIT).unwrap_err().details["cause"], "page_gone");
    assert!(!browser.answer(&called, "late"));
    assert!(ai.tool(&tool, &json!({})).is_err());
    // The same page in the same tab, after it was loaded again: its tools are as it says now.
    assert_eq!(browser.offer_page(SHOP, 7, &tools("Buys anew")).unwrap(), SOURCE);
    let pending = ai.send_tool(&tool, &json!({}));
    assert!(browser.answer(&browser.next_call(), "again"));
    pending.wait(LIMIT).unwrap();
}

#[test]
fn what_no_page_may_offer_is_refused_and_a_lost_connection_takes_its_pages_along() {
    let home = Home::new();
    let bridge = Bridge::start(&home);
    let mut browser = Browser::start(&home, "Chromium", "one");
    for (origin, tools) in [
        ("client://ai", tools("Buys")),
        ("null", tools("Buys")),
        (SHOP, json!({})),
        (SHOP, json!([{"name": "a/b"}])),
        (SHOP, json!(vec![json!({"name": "a"}); 65])),
    ] {
        assert_eq!(browser.offer_page(origin, 7, &tools).unwrap_err().code, "invalid_params", "{origin}");
    }
    assert_eq!(browser.offer_page(SHOP, 7, &tools("Buys")).unwrap(), SOURCE);
    let watching = || bridge.call("list_sources", &json!({})).unwrap()["sources"].as_array().unwrap().len();
    assert_eq!(watching(), 2, "the browser and the page");
    browser.kill();
    harbor_tests::wait_until("the sources to be gone", LIMIT, || watching() == 0);
}
