//! Turns: the model's calls reach their servers, and what came of them the model.

use harbor_tests::browser::Browser;
use harbor_tests::{Double, LIMIT};
use serde_json::{Value, json};

use super::provider::Say;
use super::scene::Scene;

fn kinds(scene: &Scene) -> Vec<String> {
    let events = std::iter::from_fn(|| scene.bridge.push_now("chat_event"));
    let mut kinds: Vec<_> = events.map(|push| push["event"]["type"].as_str().unwrap().to_owned()).collect();
    kinds.dedup();
    kinds
}

#[test]
fn a_call_of_the_model_reaches_its_server_and_its_result_the_model_in_each_format() {
    for dialect in ["chat", "anthropic", "ollama", "responses", "gemini"] {
        let scene = Scene::of(dialect, &json!({}), |round| match round.results.len() {
            0 => round.call("c1", "look", &json!({"at": "the harbour"})),
            _ => Say::Text(format!("It says {}", round.results[0].len())),
        });
        let answer = scene.say("look at it").unwrap();
        let told = &scene.provider.rounds()[1].results[0];
        assert!(told.contains("the harbour") && told.contains("s/look"), "{dialect}: {told}");
        assert_eq!(answer["response"], format!("It says {}", told.len()), "{dialect}");
        assert_eq!((&answer["ended"], &answer["iterations"]), (&json!("done"), &json!(2)), "{dialect}");
        assert_eq!(answer["steps"][0]["tool"], "s/look", "{dialect}");
        assert_eq!(answer["usage"]["input_tokens"], 22, "{dialect}");
        assert_eq!(
            kinds(&scene),
            ["message", "usage", "tool_call", "tool_result", "text", "usage", "final"],
            "{dialect}"
        );
        let audit = scene.bridge.audit(&json!({"origin": "owner"}));
        let calls: Vec<_> = audit.iter().filter(|line| line["event"] == "call").collect();
        assert_eq!(
            (calls.len(), &calls[0]["tool"], &calls[0]["run_id"]),
            (1, &json!("look"), &answer["turn_id"])
        );
        let messages = scene.messages();
        let roles: Vec<_> = messages.iter().map(|message| message["role"].as_str().unwrap()).collect();
        assert_eq!(roles, ["user", "assistant", "tool", "assistant"], "{dialect}");
    }
}

#[test]
fn calls_that_only_read_run_beside_each_other() {
    let scene = Scene::new(|round| match round.results.len() {
        0 => {
            let call = |id, name| (id, round.tool(name), json!({}).to_string());
            Say::Calls(vec![call("c1", "look"), call("c2", "find"), call("c3", "look")])
        }
        _ => Say::Text("done".into()),
    });
    let answer = scene.say("look around").unwrap();
    assert_eq!(answer["steps"].as_array().unwrap().len(), 3);
    let ids: Vec<_> = scene.messages()[2..5].iter().map(|message| message["toolCallId"].clone()).collect();
    assert_eq!(ids, ["c1", "c2", "c3"], "results stand in the order of the calls");
}

#[test]
fn a_turn_uses_the_browser_where_its_session_names_it() {
    let mut scene = Scene::new(|round| match round.results.len() {
        0 => round.call("c1", "browser_snapshot", &json!({})),
        _ => Say::Text("done".into()),
    });
    let browser = Browser::start(&scene.home, "Chromium", "one");
    scene.session = scene.begin(&json!({"enabled_servers": ["browser"]}));
    let turn = scene.send("look at my page");
    let called = browser.next_call();
    assert_eq!((called.call.principal.as_str(), called.call.session.label.as_str()), ("agent", "Harbor"));
    assert!(browser.answer(&called, "a headline"));
    assert_eq!(turn.wait(LIMIT).unwrap()["steps"][0]["tool"], "browser/browser_snapshot");
    assert!(scene.provider.rounds()[1].results[0].contains("a headline"));
    // The next turn goes on in it, and with the conversation it ends: its tabs are the person's.
    let turn = scene.send("look again");
    assert!(turn.wait(LIMIT).is_ok());
    scene.bridge.call("chat_delete_session", &json!({"session_id": scene.session})).unwrap();
    let ended = browser.next_ended();
    assert_eq!((&ended.session_id, ended.close_tabs), (&called.call.session_id, false));
}

#[test]
fn with_many_tools_the_model_searches_for_them() {
    let scene = Scene::new(|round| match round.results.len() {
        0 => Say::Calls(vec![("c1", "search_tools".into(), json!({"query": "number 77"}).to_string())]),
        1 => Say::Calls(vec![("c2", "describe_tool".into(), json!({"name": "many_t77"}).to_string())]),
        2 => Say::Calls(vec![(
            "c3",
            "call_tool".into(),
            json!({"name": "many_t77", "arguments": {"x": 1}}).to_string(),
        )]),
        _ => Say::Text("done".into()),
    });
    scene.add_many();
    // A model of this window is not offered scripts.
    scene.bridge.call("llm_set_model_options", &json!({"model": "p:m", "context_window": 32_000})).unwrap();
    let answer = scene.say("use the 77th").unwrap();
    let rounds = scene.provider.rounds();
    assert_eq!(rounds[0].tools, ["search_tools", "describe_tool", "call_tool"]);
    assert!(rounds[1].results[0].contains("many_t77"), "{}", rounds[1].results[0]);
    assert!(rounds[2].results[1].contains("Tool number 77."), "{}", rounds[2].results[1]);
    assert_eq!(answer["steps"][2]["tool"], "many/t77");
    assert!(scene.messages()[6]["content"].as_str().unwrap().contains("\"x\""));
}

#[test]
fn at_a_limit_the_last_answer_has_no_tools() {
    let scene = Scene::new(|round| match round.tools.is_empty() {
        false => round.call("c", "look", &json!({"n": round.results.len()})),
        true => Say::Text("enough".into()),
    });
    let answer = scene.send_over(&scene.bridge, "go on", &json!({"max_tool_calls": 2})).wait(LIMIT).unwrap();
    assert_eq!((&answer["response"], &answer["ended"]), (&json!("enough"), &json!("calls")));
    assert_eq!(
        (answer["steps"].as_array().unwrap().len(), &answer["reachedMaxIterations"]),
        (2, &json!(true))
    );
}

#[test]
fn a_model_that_repeats_itself_is_told_and_then_ended() {
    let scene = Scene::new(|round| match round.tools.is_empty() {
        false => round.call("c", "look", &json!({"same": 1})),
        true => Say::Text("I repeat myself".into()),
    });
    let answer = scene.say("go on").unwrap();
    assert_eq!((&answer["ended"], answer["steps"].as_array().unwrap().len()), (&json!("repeats"), 5));
    let results = &scene.provider.rounds()[5].results;
    assert!(!results[1].contains("3 times") && results[2].contains("3 times"), "{results:?}");
}

#[test]
fn the_first_answer_has_to_call_a_tool_where_that_is_wanted() {
    let scene = Scene::new(|round| match round.results.len() {
        0 => round.call("c", "look", &json!({})),
        _ => Say::Text("done".into()),
    });
    scene.send_over(&scene.bridge, "go", &json!({"tool_choice": "required"})).wait(LIMIT).unwrap();
    let rounds = scene.provider.rounds();
    assert_eq!(
        (&rounds[0].body["tool_choice"], &rounds[1].body["tool_choice"]),
        (&json!("required"), &Value::Null)
    );
    scene
        .bridge
        .call(
            "chat_update_session",
            &json!({"session_id": scene.session, "updates": {"enabledServers": ["nope"]}}),
        )
        .unwrap();
    assert_eq!(scene.say("go").unwrap_err().code, "not_found");
}

#[test]
fn turns_and_questions_are_counted_and_written_down_without_a_word_of_them() {
    let scene = Scene::new(|round| match round.results.len() {
        0 => round.call("c", "write", &json!({"note": "canary-argument"})),
        _ => Say::Text("canary-answer".into()),
    });
    let pending = scene.send("canary-question");
    let approval = scene.event("approval");
    let status = || scene.bridge.call("status", &json!({})).unwrap()["status"]["agent"].clone();
    let during = status();
    assert_eq!((&during["running"], &during["waiting"]), (&json!(1), &json!(1)), "{during}");
    scene.decide(&approval, "once");
    let answer = pending.wait(LIMIT).unwrap();
    let after = status();
    assert_eq!((&after["running"], &after["waiting"]), (&json!(0), &json!(0)), "{after}");
    assert_eq!((&after["ended"], &after["answered"]), (&json!({"done": 1}), &json!({"once": 1})));
    assert_eq!(
        (&after["rounds"], &after["calls"], &after["input_tokens"]),
        (&json!(2), &json!(1), &json!(22))
    );

    let audit = scene.bridge.audit(&json!({"origin": "owner"}));
    let all = scene.bridge.audit(&json!({}));
    let of = |event: &str| {
        all.iter().find(|line| line["event"] == event).unwrap_or_else(|| panic!("{all:#?}")).clone()
    };
    let (turn, question) = (of("turn"), of("approval"));
    assert_eq!((&turn["outcome"], &turn["count"], &turn["model"]), (&json!("done"), &json!(1), &json!("m")));
    assert_eq!((&turn["run_id"], &question["run_id"]), (&answer["turn_id"], &answer["turn_id"]));
    assert_eq!((&question["tool"], &question["outcome"]), (&json!("write"), &json!("once")));
    assert!(!format!("{audit:?}{all:?}").contains("canary"));
    let metrics = scene.bridge.call("get_metrics", &json!({})).unwrap()["text"].as_str().unwrap().to_owned();
    for line in [
        "harbor_turns_total{ended=\"done\"} 1",
        "harbor_approvals_total{decision=\"once\"} 1",
        "harbor_turn_tokens_total{direction=\"input\"} 22",
        "harbor_turns_running 0",
        "harbor_server_instances{server=\"s\"} 0",
    ] {
        assert!(metrics.contains(line), "{line}\n{metrics}");
    }
}

#[test]
fn a_conversation_that_outgrows_its_model_is_shortened_and_goes_on() {
    // The window is one of 128,000 tokens, about 384,000 bytes.
    let scene = Scene::new(|round| match round.results.len() {
        rounds @ 0..20 => {
            let ids = [
                "c0", "c1", "c2", "c3", "c4", "c5", "c6", "c7", "c8", "c9", "d0", "d1", "d2", "d3", "d4",
                "d5", "d6", "d7", "d8", "d9",
            ];
            round.call(ids[rounds], "big", &json!({"bytes": 30_000 + rounds}))
        }
        _ => Say::Text("done".into()),
    });
    let tools = r#"[{"name":"big","inputSchema":{"type":"object"},"annotations":{"readOnlyHint":true,"openWorldHint":false}}]"#;
    scene.bridge.add_and_connect("large", &Double::sound(&scene.home).closed().offering(tools));
    let answer = scene.say("read it all").unwrap();
    assert_eq!((&answer["response"], &answer["ended"]), (&json!("done"), &json!("done")));
    let rounds = scene.provider.rounds();
    let last = &rounds.last().unwrap().results;
    assert_eq!(last.len(), 20, "each call keeps its result");
    assert!(last[0].contains("the call was made and succeeded") && last[19].contains("xxx"), "{}", last[0]);
    let said = std::iter::from_fn(|| scene.bridge.push_now("chat_event"));
    let told = said.filter(|push| push["event"]["type"] == "status").any(|push| {
        push["event"]["text"].as_str().is_some_and(|text| text.contains("longer than the model's window"))
    });
    assert!(told, "it is said");
    assert!(
        scene.messages().iter().any(|message| message["content"].to_string().len() > 20_000),
        "the session has all"
    );
}
