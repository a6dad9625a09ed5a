//! What a server asks of its client, by requests (legacy) or by results that require input (modern): roots where
//! they are defined, MCP's refusal for everything else, and no end to the patience of neither side.

use harbor_tests::{Bridge, Double, ErrorValue, Fault, Home, PROMPT};
use serde_json::{Value, json};

const ROOT: &str = "file:///srv/project%20one";

/// What the client told a legacy server: `{"result":…}` or `{"error":…}`.
fn told(bridge: &Bridge, tool: &str) -> Value {
    let answer = bridge.send_tool("s", tool, &json!({})).wait(PROMPT).unwrap();
    serde_json::from_str(answer.content_text()).unwrap_or_else(|_| panic!("{tool}: {}", answer.text))
}

fn assert_refused(error: &ErrorValue) {
    let cause = error.details["cause"].as_str();
    assert_eq!((error.code.as_str(), cause), ("ERR_TOOL_FAILED", Some("input_refused")), "{error:?}");
    assert!(!error.message.is_empty());
}

#[test]
fn a_legacy_server_is_refused_what_nobody_handles() {
    let home = Home::new();
    let bridge = Bridge::start(&home);
    bridge.add_and_connect("s", &Double::sound(&home));
    for (tool, code) in [("ask_sampling", -1), ("ask_roots", -32601)] {
        let answer = told(&bridge, tool);
        assert_eq!(answer["error"]["code"], code, "{tool}: {answer}");
        assert!(answer["error"]["message"].is_string());
    }
    assert_eq!(told(&bridge, "ask_elicitation"), json!({"result": {"action": "cancel"}}));
}

#[test]
fn roots_are_given_where_the_definition_lists_them() {
    let home = Home::new();
    let bridge = Bridge::start(&home);
    bridge.add_and_connect("s", &Double::sound(&home).roots(&[ROOT, "file:///tmp"]));
    let answer = told(&bridge, "ask_roots");
    let uris: Vec<_> =
        answer["result"]["roots"].as_array().unwrap().iter().map(|root| root["uri"].clone()).collect();
    assert_eq!(uris, [ROOT, "file:///tmp"]);
    assert_eq!(told(&bridge, "ask_sampling")["error"]["code"], -1);
}

#[test]
fn a_modern_server_gets_roots_in_a_second_round() {
    let home = Home::new();
    let bridge = Bridge::start(&home);
    let double = Double::sound(&home).modern().roots(&[ROOT]);
    bridge.add_and_connect("s", &double);
    let answer = told(&bridge, "ask_roots");
    assert_eq!(answer["q"]["roots"][0]["uri"], ROOT);
    assert_eq!(double.journal().count("call ask_roots"), 2);
}

#[test]
fn a_modern_server_that_requires_what_it_was_not_offered_fails_the_call() {
    let home = Home::new();
    let bridge = Bridge::start(&home);
    let double = Double::sound(&home).modern();
    bridge.add_and_connect("s", &double);
    for tool in ["ask_elicitation", "ask_sampling", "ask_roots"] {
        let error = bridge.send_tool("s", tool, &json!({})).wait(PROMPT).unwrap_err();
        assert_refused(&error);
        assert_eq!(double.journal().count(&format!("call {tool}")), 1, "it is not tried again");
    }
    assert_eq!(bridge.tool_text("s", "sleep", &json!({"ms": 1})), "slept");
}

#[test]
fn a_modern_server_that_requires_input_for_ever_is_stopped_after_some_rounds() {
    let home = Home::new();
    let bridge = Bridge::start(&home);
    let double = Double::sound(&home).modern().roots(&[ROOT]);
    bridge.add_and_connect("s", &double);
    let error = bridge.send_tool("s", "ask_forever", &json!({})).wait(PROMPT).unwrap_err();
    assert_refused(&error);
    let rounds = double.journal().count("call ask_forever");
    assert!((2..=20).contains(&rounds), "{rounds} rounds");
    assert_eq!(bridge.tool_text("s", "sleep", &json!({"ms": 1})), "slept");
}

/// By a state without a question, as servers do with what takes long.
#[test]
fn what_a_modern_server_puts_off_is_asked_for_again_as_long_as_its_call_lasts() {
    let home = Home::new();
    let bridge = Bridge::start(&home);
    let double = Double::new(&home, Fault::PutsOff).modern();
    bridge.add_and_connect("s", &double);
    let ask = |tag: &str, fields: &[(&str, Value)]| {
        let mut all = json!({"server_id": "s"});
        fields.iter().for_each(|(name, value)| all[name] = value.clone());
        bridge.request(tag, &all)
    };
    let loud = ask("mcp_call_tool", &[("tool_name", json!("sleep")), ("progress", json!(true))]);
    let endless = ask("mcp_call_tool", &[("tool_name", json!("hang")), ("timeout_ms", json!(500))]);
    let read = ask("mcp_read_resource", &[("uri", json!("double://note"))]);
    let prompt =
        ask("mcp_get_prompt", &[("prompt_name", json!("greet")), ("arguments", json!({"who": "Ada"}))]);
    assert_eq!(endless.wait(PROMPT).unwrap_err().code, "ERR_TOOL_TIMEOUT");
    assert_eq!(loud.wait(PROMPT).unwrap().content_text(), "slept");
    assert_eq!(read.wait(PROMPT).unwrap()["resource"]["contents"][0]["text"], "a note");
    let prompt = prompt.wait(PROMPT).unwrap();
    assert_eq!(prompt["prompt"]["messages"][0]["content"]["text"], "Hello, Ada!");
    // Told before each of the three delays, and while nothing was asked.
    let told: Vec<_> =
        std::iter::from_fn(|| bridge.push_now("progress")).map(|push| push["progress"].as_u64()).collect();
    assert_eq!(told, (1..=6).map(Some).collect::<Vec<_>>());
    let before = double.journal().count("put off tools/call");
    assert_eq!(bridge.tool_text("s", "sleep", &json!({})), "slept");
    let after = double.journal().count("put off tools/call");
    assert_eq!(after, before + 3, "nobody waits for the endless one any more, and it is not sent again");
}
