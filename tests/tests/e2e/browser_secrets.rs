//! Secrets of the person's that browser tools type by their names: stored for a site, put in there, and told to nobody.

use harbor_tests::{Home, LIMIT};
use serde_json::json;

use super::browser::{call, denied, granted, scene, with_tab};

const VALUE: &str = "correct \"horse\" battery";
const SITE: &str = "https://a.example";

#[test]
fn a_secret_is_put_in_at_its_own_site_and_taken_out_of_every_answer() {
    let home = Home::new();
    let (bridge, browser) = scene(&home);
    let set = json!({"server_id": "browser", "key": "PIN", "value": VALUE, "site": "https://A.example/"});
    let stored = bridge.call("set_credential", &set).unwrap();
    assert_eq!((&stored["credential"]["site"], &stored["running"]), (&json!(SITE), &json!(false)));
    let client = granted(&home, &bridge, "typist");
    with_tab(&browser, &client, 7);
    let secret = json!({"secret": "PIN"});
    let typing = || call(&client, "type", json!({"target": "e1", "text": secret}));
    let come = |url: &str| assert!(browser.tell("navigated", &json!({"tab_id": 7, "url": url})).accepted);

    // Nobody knows where the tab is; it is elsewhere; there is none of that name; it is no field for text.
    assert_eq!(denied(typing()), "secret");
    come("https://a.example.evil.example/");
    assert_eq!(denied(typing()), "secret");
    come("https://a.example/in");
    assert_eq!(denied(call(&client, "type", json!({"target": "e1", "text": {"secret": "OTHER"}}))), "secret");
    let ticked = json!({"fields": [{"target": "e1", "name": "x", "type": "checkbox", "value": secret}]});
    assert!(call(&client, "fill_form", ticked).wait(LIMIT).is_err());

    let pending = typing();
    let called = browser.next_call();
    assert_eq!(called.arguments["text"], json!({"secret": "PIN", "site": SITE, "value": VALUE}));
    // A page shows it as it is, as JSON, in an address, and in what is told to programs.
    let title = json!(VALUE).to_string();
    let address = "https://a.example/?q=correct%20%22horse%22%20battery";
    let shown = json!({"result": VALUE, "page": {"tab_id": 7, "url": address, "title": title}});
    assert!(browser.answer_with(&called, &shown));
    let answer = pending.wait(LIMIT).unwrap();
    assert!(answer.text.contains("[PIN]") && !answer.text.contains("horse"), "{}", answer.text);
    come(address);
    let events = call(&client, "session", json!({"action": "events"})).wait(LIMIT).unwrap();
    assert!(events.text.contains("[PIN]") && !events.text.contains("horse"), "{}", events.text);

    // It is gone for the next call, and nothing of it was written down.
    let listed = bridge.call("list_credentials", &json!({"server_id": "browser"})).unwrap();
    assert_eq!(
        (&listed["credentials"][0]["key"], &listed["credentials"][0]["site"]),
        (&json!("PIN"), &json!(SITE))
    );
    let elsewhere = json!({"server_id": "browser", "key": "PIN", "site": "https://b.example"});
    assert_eq!(bridge.call("delete_credential", &elsewhere).unwrap()["deleted"], false);
    assert_eq!(
        bridge.call("delete_credential", &json!({"server_id": "browser", "key": "PIN"})).unwrap()["deleted"],
        true
    );
    assert_eq!(denied(typing()), "secret");
    let audit = bridge.audit(&json!({}));
    let told = json!(audit).to_string();
    assert!(told.contains("set_credential") && !told.contains("horse"), "{told}");
}

#[test]
fn a_secret_of_a_site_needs_one() {
    let home = Home::new();
    let (bridge, _browser) = scene(&home);
    for (more, field) in [
        (json!({}), "site"),
        (json!({"site": "a.example"}), "site"),
        (json!({"site": "https://a.example/x"}), "site"),
        (json!({"site": SITE, "credential_type": "header"}), "credential_type"),
        (json!({"site": SITE, "username": "ada"}), "username"),
        (json!({"site": SITE, "expires_at": 1}), "expires_at"),
    ] {
        let mut ask = json!({"server_id": "browser", "key": "PIN", "value": VALUE});
        more.as_object().unwrap().iter().for_each(|(name, value)| ask[name] = value.clone());
        let refused = bridge.call("set_credential", &ask).unwrap_err();
        let said = (refused.code.as_str(), &refused.details["field"]);
        assert_eq!(said, ("invalid_params", &json!(field)), "{more}");
    }
    assert_eq!(bridge.call("list_credentials", &json!({})).unwrap()["credentials"], json!([]));
}
