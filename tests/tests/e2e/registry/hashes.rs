//! What identifies a tool, against computations that are not Harbor's: Python's, and constants made by hand.

use harbor_tests::{Double, Home};
use serde_json::{Value, json};

use super::{listed, scene};

/// `printf '{"name":"plain"}' | sha256sum`
const PLAIN: &str = "2756a557b4acbe939c3a6ab962fab42d2642449192b630f254e10e9dee30fc34";

/// The same of `{"annotations":{"readOnlyHint":true,"title":null},"description":"Reads € and 😀.\n","inputSchema":
/// {"properties":{"a":{"maximum":100,"minimum":1,"multipleOf":0.5},"😀":{},"～":{}},"type":"object"},"name":"full",
/// "outputSchema":{"type":"object"},"title":"A \"title\""}` in one line: RFC 8785 sorts by UTF-16.
const FULL: &str = "4df11874af11824fb6a37cb58fd8af19efed0fc41f8348ee9877cae196d57366";

/// Three ways to write the tool of [`FULL`], with members that say nothing.
const WRITTEN: [&str; 3] = [
    r#"{"name":"full","title":"A \"title\"","description":"Reads € and 😀.\n","inputSchema":{"type":"object",
        "properties":{"a":{"minimum":1,"maximum":100,"multipleOf":0.5},"～":{},"😀":{}}},
        "outputSchema":{"type":"object"},"annotations":{"title":null,"readOnlyHint":true}}"#,
    r#"{"_meta":{"harbor/via":["0123456789abcdef"]},"annotations":{"readOnlyHint":true,"title":null},"outputSchema":{"type":"object"},
        "inputSchema":{"properties":{"😀":{},"～":{},"a":{"multipleOf":5e-1,"maximum":1e2,"minimum":1.0}},"type":"object"},
        "description":"Reads \u20ac and \ud83d\ude00.\u000a","title":"\u0041 \u0022title\"","name":"f\u0075ll"}"#,
    r#"{ "icons" : null , "name" : "full", "title" : "A \"title\"",
        "description" : "Reads € and 😀.\n", "inputSchema" : { "type" : "object", "properties" :
        { "\uff5e" : { }, "a" : { "minimum" : 1, "maximum" : 100.0, "multipleOf" : 0.50 }, "\ud83d\ude00" : { } } },
        "outputSchema" : { "type" : "object" }, "annotations" : { "readOnlyHint" : true, "title" : null } }"#,
];

#[test]
fn a_hash_is_of_what_a_tool_says_however_it_is_written() {
    let home = Home::new();
    let double = Double::sound(&home).offering(r#"[{"name":"plain"}]"#);
    let (bridge, page) = scene(&home, &double);
    assert_eq!(listed(&page, "s/plain").unwrap()["toolHash"], PLAIN);
    for written in WRITTEN {
        double.offer(&format!("[{written}]"));
        bridge.call("connect_server", &json!({"server_id": "s", "restart": true})).unwrap();
        let tool = listed(&page, "s/full").unwrap_or_else(|| panic!("it is no other tool: {written}"));
        assert_eq!(tool["toolHash"], FULL, "{written}");
    }
    assert_eq!(bridge.call("host_list_tool_changes", &json!({})).unwrap()["changes"], json!([]));
}

#[test]
fn whatever_a_tool_says_otherwise_makes_another_one_of_it() {
    let home = Home::new();
    let double = Double::sound(&home).offering(r#"[{"name":"t"}]"#);
    let (bridge, page) = scene(&home, &double);
    let base: Value = json!({"name": "t"});
    let members = [
        ("title", json!("T")),
        ("title", json!("t")),
        ("description", json!("")),
        ("inputSchema", json!({})),
        ("inputSchema", json!({"type": "object"})),
        ("outputSchema", json!({"type": "object"})),
        ("annotations", json!({})),
        ("annotations", json!({"readOnlyHint": false})),
        ("icons", json!([])),
        ("_meta", json!({"ui": {"resourceUri": "ui://x"}})),
        ("execution", json!({"taskSupport": "optional"})),
    ];
    double.offer(r#"[{"name":"t","title":null,"annotations":null}]"#);
    bridge.call("connect_server", &json!({"server_id": "s", "restart": true})).unwrap();
    let changes = bridge.call("host_list_tool_changes", &json!({})).unwrap();
    assert_eq!(changes["changes"], json!([]), "null says nothing");
    let mut hashes = vec![listed(&page, "s/t").unwrap()["toolHash"].as_str().unwrap().to_owned()];
    for (name, value) in members {
        let mut tool = base.clone();
        tool[name] = value;
        double.offer(&json!([tool]).to_string());
        bridge.call("connect_server", &json!({"server_id": "s", "restart": true})).unwrap();
        let changes = bridge.call("host_list_tool_changes", &json!({"server_id": "s"})).unwrap();
        let hash =
            changes["changes"][0]["tool_hash"].as_str().unwrap_or_else(|| panic!("{tool}: {}", changes.text));
        assert!(!hashes.contains(&hash.to_owned()), "{tool}");
        hashes.push(hash.to_owned());
    }
}

#[test]
fn hidden_characters_are_flagged_wherever_they_stand() {
    let home = Home::new();
    let tools = json!([
        {"name": "clean", "description": "Plain text, é 日本 👩\u{200d}💻.\n\tMore."},
        {"name": "width", "description": "Reads\u{200b} it."},
        {"name": "bidi", "title": "Reads \u{202e}ti"},
        {"name": "tags", "description": "Reads it.\u{e0041}\u{e0042}"},
        {"name": "schema", "inputSchema": {"properties": {"a": {"description": "\u{2066}b\u{2069}"}}}},
        {"name": "key", "outputSchema": {"properties": {"a\u{feff}": {}}}},
        {"name": "note", "annotations": {"title": "x\u{7}"}},
    ]);
    let double = Double::sound(&home).offering(&tools.to_string());
    let (bridge, page) = scene(&home, &double);
    for tool in page.tools() {
        let wanted = if tool["originalName"] == "clean" { Value::Null } else { json!(true) };
        assert_eq!(tool["hiddenCharacters"], wanted, "{tool}");
    }
    assert_eq!(page.tools().len(), 7);
    double.offer(&json!([{"name": "clean", "description": "Not\u{200b} any more."}]).to_string());
    bridge.call("connect_server", &json!({"server_id": "s", "restart": true})).unwrap();
    let changes = bridge.call("host_list_tool_changes", &json!({})).unwrap();
    assert_eq!(changes["changes"][0]["hidden_characters"], true, "{}", changes.text);
}
