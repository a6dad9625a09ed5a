//! Answers: streamed with and without credit, whole, with calls of tools, cancelled.

use harbor_tests::{LIMIT, PROMPT, wait_until};
use serde_json::{Value, json};

use super::scene::{ASKED, LONG, SAID, Scene};

fn kinds(events: &[Value]) -> Vec<String> {
    events.iter().map(|push| push["event"]["type"].as_str().unwrap().to_owned()).collect()
}

fn texts(events: &[Value]) -> String {
    let of_text = events.iter().filter(|push| push["event"]["type"] == "text");
    of_text.map(|push| push["event"]["text"].as_str().unwrap()).collect()
}

#[test]
fn an_answer_is_streamed_and_its_end_has_all_of_it() {
    let scene = Scene::new();
    let answer = scene.chat("p:m").unwrap();
    assert_eq!((&answer["provider"], &answer["model"]), (&json!("p"), &json!("m")));
    let usage = json!({"input_tokens": 11, "output_tokens": 7, "cached_tokens": 0, "reasoning_tokens": 0,
        "exactness": "exact", "cost_microdollars": 0});
    let wanted = json!({"message": {"role": "assistant", "content": format!("Hello {SAID}")},
        "usage": usage, "finishReason": "stop", "raw_finish": "stop"});
    assert_eq!(answer["response"], wanted);
    let events = scene.events();
    let mut kinds = kinds(&events);
    // Pieces that come together may be one.
    kinds.dedup();
    assert_eq!(kinds, ["start", "text", "usage", "end"]);
    assert_eq!(texts(&events), format!("Hello {SAID}"));
    let numbers: Vec<_> = events.iter().map(|push| push["seq"].as_u64().unwrap()).collect();
    assert_eq!(numbers, (0..numbers.len() as u64).collect::<Vec<_>>());
    let chats = scene.provider.chats();
    assert_eq!(chats[0].body["messages"], json!([{"role": "user", "content": ASKED}]));
}

#[test]
fn without_a_model_and_without_a_stream_the_first_model_answers_at_once() {
    let scene = Scene::new();
    let fields = json!({"messages": [{"role": "user", "content": "hi"}], "system_prompt": "be brief"});
    let answer = scene.bridge.call("llm_chat", &fields).unwrap();
    assert_eq!((&answer["model"], scene.events()), (&json!("m"), Vec::new()));
    let told = &scene.provider.chats()[0].body["messages"];
    assert_eq!((&told[0]["role"], &told[0]["content"]), (&json!("system"), &json!("be brief")));
}

#[test]
fn a_client_that_counts_gets_what_it_gave_credit_for() {
    let scene = Scene::new();
    let pending = scene.begin("many", &json!({"credit": true}));
    let first: Vec<_> = (0..64).map(|_| scene.bridge.next_push("llm_event", LIMIT)).collect();
    assert_eq!(first.last().unwrap()["seq"], 63);
    // Whatever comes now came without credit.
    scene.bridge.call("ping", &json!({})).unwrap();
    assert_eq!(scene.bridge.push_now("llm_event"), None);
    let more = scene.bridge.call("llm_more", &json!({"target": pending.id, "n": 1000})).unwrap();
    assert_eq!(more["accepted"], true);
    let answer = pending.wait(LIMIT).unwrap();
    let whole: String = (0..200).map(|n| format!("{n} ")).collect();
    let parts = answer["response"]["message"]["content"].as_array().unwrap();
    assert_eq!(parts.len(), 400);
    assert_eq!(
        parts[..2],
        [json!({"type": "reasoning", "text": "hm"}), json!({"type": "text", "text": "0 "})]
    );
    assert_eq!(texts(&[first, scene.events()].concat()), whole);
}

#[test]
fn a_call_of_a_tool_comes_back_whole_and_its_result_goes_to_the_model() {
    let scene = Scene::new();
    let tools = json!([{"name": "now", "inputSchema": {"type": "object"}}]);
    let answer = scene.begin("tool", &json!({"tools": tools})).wait(LIMIT).unwrap();
    let response = &answer["response"];
    assert_eq!(response["finishReason"], "tool_calls");
    let calls = json!([{"id": "call_1", "name": "now", "arguments": {"zone": "UTC"}}]);
    assert_eq!(response["message"]["toolCalls"], calls);
    let mut of_calls = kinds(&scene.events());
    of_calls.retain(|kind| kind.starts_with("tool"));
    of_calls.dedup();
    assert_eq!(of_calls, ["tool_call_start", "tool_call_arguments", "tool_call_end"]);
    let messages = json!([{"role": "user", "content": "when?"}, response["message"],
        {"role": "tool", "toolCallId": "call_1", "content": "noon"}]);
    scene.begin("m", &json!({"messages": messages, "tools": tools})).wait(LIMIT).unwrap();
    let told = &scene.provider.chats()[1].body["messages"];
    assert_eq!(told[1]["tool_calls"][0]["function"]["name"], "now");
    assert_eq!((&told[2]["tool_call_id"], &told[2]["content"]), (&json!("call_1"), &json!("noon")));
}

/// Whatever a client's frames hold, all of the text reaches it.
#[test]
fn a_piece_that_is_longer_than_a_frame_comes_in_several() {
    let scene = Scene::new();
    let said = "ü".repeat(LONG);
    for max_frame in [1024 * 1024, 65_536] {
        scene.bridge.call("hello", &json!({"chunks": true, "max_frame": max_frame})).unwrap();
        let answer = scene.begin("long", &json!({})).wait(LIMIT).unwrap();
        let events = scene.events();
        assert!(texts(&events) == said, "of the text something is missing");
        let of = |kind: &'static str| events.iter().filter(move |push| push["event"]["type"] == kind);
        let pieces = of("tool_call_arguments").map(|push| push["event"]["arguments"].as_str().unwrap());
        let arguments: Value = serde_json::from_str(&pieces.collect::<String>()).unwrap();
        assert!(arguments["text"] == said.as_str(), "of the arguments something is missing");
        assert!(answer["response"]["message"]["toolCalls"][0]["arguments"] == arguments);
        // It repeats what came, and is longer than any frame here.
        assert_eq!(
            of("tool_call_end").map(|push| push["event"]["arguments"].clone()).collect::<Vec<_>>(),
            [Value::Null]
        );
        let numbers: Vec<_> = events.iter().map(|push| push["seq"].as_u64().unwrap()).collect();
        assert_eq!(numbers, (0..numbers.len() as u64).collect::<Vec<_>>());
    }
}

#[test]
fn a_cancelled_answer_ends_at_the_provider_too() {
    let scene = Scene::new();
    let pending = scene.begin("hangs", &json!({}));
    let mut said = String::new();
    while said != "and" {
        said.push_str(&texts(&[scene.bridge.next_push("llm_event", LIMIT)]));
    }
    scene.bridge.call("cancel", &json!({"target": pending.id})).unwrap();
    assert_eq!(pending.wait(PROMPT).unwrap_err().code, "cancelled");
    wait_until("its connection to end", PROMPT, || scene.provider.left() == 1);
    assert_eq!(scene.status()["open_requests"], 0);
    // What came is counted, by its length.
    wait_until("it to be counted", LIMIT, || scene.usage().len() == 1);
    assert_eq!(scene.usage()[0]["exactness"], "estimated");
}

#[test]
fn two_answers_come_at_once() {
    let scene = Scene::new();
    let (slow, other) = (scene.begin("hangs", &json!({})), scene.begin("hangs", &json!({})));
    wait_until("both to be under way", LIMIT, || scene.provider.chats().len() == 2);
    assert!(scene.chat("m").is_ok(), "nobody waits for them");
    assert!(slow.is_open() && other.is_open());
}

#[test]
fn what_is_wrong_is_refused_before_anybody_is_asked() {
    let scene = Scene::new();
    let before = scene.provider.server.asked().len();
    let image = json!([{"role": "user", "content": [{"type": "image", "mediaType": "image/png", "data": "https://a.example/b.png"}]}]);
    for wrong in [
        json!({"messages": []}),
        json!({"messages": [{"role": "owner", "content": "x"}]}),
        json!({"messages": image}),
        json!({"temperature": 3}),
        json!({"max_tokens": 0}),
        json!({"tool_choice": "nothing"}),
    ] {
        let error = scene.begin("m", &wrong).wait(LIMIT).unwrap_err();
        assert_eq!(error.code, "invalid_params", "{wrong}");
    }
    assert_eq!(scene.begin("m", &json!({"provider": "q"})).wait(LIMIT).unwrap_err().code, "not_found");
    assert_eq!(scene.provider.server.asked().len(), before);
}
