//! How turns end: what is said of an answer that is not whole, and what a stopped turn has used.

use harbor_tests::{LIMIT, PROMPT};
use serde_json::{Value, json};

use super::provider::Say;
use super::scene::Scene;

/// All sentences of status events that have come.
fn sentences(scene: &Scene) -> Vec<String> {
    let events = std::iter::from_fn(|| scene.bridge.push_now("chat_event"));
    let told = events.filter(|push| push["event"]["type"] == "status");
    told.map(|push| push["event"]["text"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn an_answer_that_is_cut_off_or_kept_back_is_told_so_with_tools_as_without() {
    for tool_choice in ["auto", "none"] {
        let scene = Scene::new(|round| {
            let finish =
                if round.body["messages"].to_string().contains("two") { "content_filter" } else { "length" };
            Say::Ends("cut he".into(), finish)
        });
        let say = |text: &str| {
            scene.send_over(&scene.bridge, text, &json!({"tool_choice": tool_choice})).wait(LIMIT)
        };
        let cut = say("one").unwrap();
        assert_eq!((&cut["response"], &cut["ended"]), (&json!("cut he"), &json!("done")), "{tool_choice}");
        let told = sentences(&scene);
        assert!(told.iter().any(|told| told.contains("cut off")), "{tool_choice}: {told:?}");
        let kept_back = say("two").unwrap_err();
        assert_eq!((&*kept_back.code, &kept_back.details["cause"]), ("ERR_MODEL_FAILED", &json!("refused")));
        assert!(kept_back.message.contains("content_filter"), "{tool_choice}: {}", kept_back.message);
    }
}

/// Adds a provider of a kind that forces answers into schemas, and names its model.
fn forcing(scene: &Scene) -> Value {
    let base = format!("http://127.0.0.1:{}/v1", scene.provider.server.port);
    let fields = json!({"provider_type": "vllm", "name": "f", "base_url": base});
    scene.bridge.call("llm_add_provider", &fields).unwrap();
    json!({"tool_choice": "required", "model": "f:m"})
}

#[test]
fn a_call_that_is_required_and_does_not_come_is_forced() {
    let scene = Scene::new(|round| match (&round.body["response_format"], round.results.len()) {
        (Value::Null, 0) if !round.body["messages"].to_string().contains("answered:") => {
            Say::Text("I could call look".into())
        }
        (Value::Null, _) => Say::Text("done".into()),
        _ => Say::Text(format!(r#"{{"tool":"{}","arguments":{{"at":"once"}}}}"#, "s_look")),
    });
    let more = forcing(&scene);
    let answer = scene.send_over(&scene.bridge, "look", &more).wait(LIMIT).unwrap();
    assert_eq!((&answer["steps"][0]["tool"], &answer["response"]), (&json!("s/look"), &json!("done")));
    assert_eq!(answer["usage"]["input_tokens"], 33, "of all three requests");
    let told = sentences(&scene);
    assert!(told.iter().any(|told| told.contains("once more")), "{told:?}");
    let said = scene.messages();
    assert!(!json!(said).to_string().contains("could call"), "{said:?}");
}

#[test]
fn a_call_that_is_required_and_cannot_be_forced_is_told_as_missing() {
    let scene = Scene::new(|_| Say::Text("I could call look".into()));
    let more = json!({"tool_choice": "required"});
    let answer = scene.send_over(&scene.bridge, "look", &more).wait(LIMIT).unwrap();
    assert_eq!(answer["response"], "I could call look");
    let told = sentences(&scene);
    assert!(told.iter().any(|told| told.contains("called no tool")), "{told:?}");
    // A step that is cut off is told as such, and its text stays.
    let scene = Scene::new(|round| match &round.body["response_format"] {
        Value::Null => Say::Text("no".into()),
        _ => Say::Ends(r#"{ "answer":"Time is a ve"#.into(), "length"),
    });
    let more = forcing(&scene);
    let answer = scene.send_over(&scene.bridge, "look", &more).wait(LIMIT).unwrap();
    assert_eq!(answer["response"], "Time is a ve");
}

#[test]
fn a_stopped_turn_counts_the_request_that_was_under_way() {
    let scene = Scene::new(|_| Say::Hang);
    let pending = scene.send("go");
    scene.event("text");
    scene.bridge.call("chat_stop", &json!({"session_id": scene.session})).unwrap();
    let answer = pending.wait(PROMPT).unwrap();
    let used = &answer["usage"];
    assert!(used["input_tokens"].as_u64() > Some(10) && used["output_tokens"].as_u64() > Some(0), "{used}");
    assert_eq!((&used["exactness"], &answer["model"]), (&json!("estimated"), &json!("m")));
    let got = scene.bridge.call("chat_get_session", &json!({"session_id": scene.session})).unwrap();
    assert_eq!(got["session"]["usage"]["input_tokens"], used["input_tokens"]);
}
