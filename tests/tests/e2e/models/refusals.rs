//! Refusals of models, and answers that say nothing: settings are left out and remembered, and no answer is said to be none.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use harbor_tests::scripted::{answer, begin_events, event};
use harbor_tests::{Bridge, Home, LIMIT, Scripted};
use serde_json::{Value, json};

use super::commands::{done, harbor};
use super::scene::begin;

fn refuse(stream: &mut std::net::TcpStream, message: &str) -> bool {
    let error = json!({"error": {"message": message, "type": "invalid_request_error"}});
    answer(stream, "400 Bad Request", "application/json", "", &error.to_string())
}

/// Says these deltas, and ends with this reason.
fn say(stream: &mut std::net::TcpStream, deltas: &[Value], finish: &str) -> bool {
    begin_events(stream);
    for delta in deltas {
        event(stream, &format!("data: {}\n\n", json!({"choices": [{"delta": delta}]})));
    }
    event(stream, &format!("data: {}\n\n", json!({"choices": [{"delta": {}, "finish_reason": finish}]})));
    event(stream, "data: [DONE]\n\n")
}

/// A home to which a provider was added that answers chats by `script`.
fn added(
    script: impl Fn(&Value, &mut std::net::TcpStream) -> bool + Send + Sync + 'static,
) -> (Scripted, Home, Bridge) {
    let server = Scripted::start(move |asked, stream| match asked.verb.as_str() {
        "POST" => script(&asked.body, stream),
        _ => answer(
            stream,
            "200 OK",
            "application/json",
            "",
            &json!({"data": [{"id": "m"}, {"id": "n"}]}).to_string(),
        ),
    });
    let home = Home::new();
    let bridge = Bridge::start(&home);
    let url = format!("http://127.0.0.1:{}/v1", server.port);
    done(&home, &["models", "add", "openai-compatible", "--name", "p", "--url", &url]);
    (server, home, bridge)
}

fn chats(server: &Scripted) -> Vec<Value> {
    server.asked().into_iter().filter(|asked| asked.verb == "POST").map(|asked| asked.body).collect()
}

#[test]
fn a_setting_that_a_model_refuses_is_left_out_and_remembered() {
    let (server, home, mut bridge) = added(|body, stream| {
        if !body["temperature"].is_null() {
            return refuse(stream, "Unsupported value: 'temperature' does not support 0.7 with this model.");
        }
        if !body["max_tokens"].is_null() {
            return refuse(
                stream,
                "'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
            );
        }
        say(stream, &[json!({"content": "ok"})], "stop")
    });
    let fields = json!({"temperature": 0.7, "max_tokens": 9});
    let ask =
        |bridge: &Bridge| begin(bridge, "llm_chat", "p:m", &fields).wait(LIMIT).unwrap()["response"].clone();
    let left_out = json!({"left_out": ["temperature"], "tools_left_out": []});
    assert_eq!(ask(&bridge)["details"], left_out);
    assert_eq!(chats(&server).len(), 3);
    bridge.stop();
    bridge = Bridge::start(&home);
    assert_eq!(ask(&bridge)["details"], left_out, "whoever asks is told each time");
    let asked = chats(&server);
    assert_eq!(asked.len(), 4, "it is remembered");
    assert_eq!((&asked[3]["max_completion_tokens"], asked[3].get("temperature")), (&json!(9), None));
    let out_of_range =
        refused_with(&bridge, "p:n", &json!({"messages": [{"role": "user", "content": "x"}], "top_p": 2}));
    assert_eq!(out_of_range, "invalid_params");
}

fn refused_with(bridge: &Bridge, model: &str, fields: &Value) -> String {
    begin(bridge, "llm_chat", model, fields).wait(LIMIT).unwrap_err().code
}

#[test]
fn a_model_is_asked_something_and_its_answer_says_something() {
    let (server, home, bridge) =
        added(|body, stream| match body["messages"][0]["content"].as_str().unwrap_or_default() {
            "think" => say(stream, &[json!({"reasoning_content": "hm"})], "stop"),
            "long" => say(stream, &[json!({"reasoning_content": "hm"})], "length"),
            "stop" => say(stream, &[], "stop"),
            _ => say(stream, &[json!({"content": " "})], "stop"),
        });
    let user = |text: &str| json!({"role": "user", "content": text});
    for nothing in [
        json!({"messages": [{"role": "system", "content": "x"}]}),
        json!({"messages": [user("  ")], "system_prompt": "x"}),
        json!({"messages": [user("a"), {"role": "assistant", "content": "{"}]}),
    ] {
        assert_eq!(refused_with(&bridge, "p:m", &nothing), "invalid_params", "{nothing}");
    }
    assert_eq!(chats(&server).len(), 0, "nothing of it was sent");
    for (question, more, wanted) in [
        ("think", &[][..], "only thought"),
        ("long", &["--max-tokens", "40"][..], "its limit of 40 tokens"),
        ("other", &[][..], "neither a text nor a call"),
    ] {
        for tools in [&[][..], &["--tools", "all"][..]] {
            let args = [&["ask", question, "--model", "p:m"], more, tools].concat();
            let (out, err, code) = harbor(&home, &args, "");
            assert_eq!((out.trim(), code), ("", Some(5)), "{args:?}: {err}");
            if tools.is_empty() {
                assert!(err.contains(wanted), "{args:?}: {err}");
            }
        }
    }
    let error =
        begin(&bridge, "llm_chat", "p:m", &json!({"messages": [user("think")]})).wait(LIMIT).unwrap_err();
    assert_eq!((error.code.as_str(), &error.details["cause"]), ("ERR_MODEL_FAILED", &json!("empty")));
    let stops = json!({"messages": [user("stop")], "stop": ["x"]});
    assert!(begin(&bridge, "llm_chat", "p:m", &stops).wait(LIMIT).is_ok(), "a stop may come first");
}

/// A model that wants its thoughts back with its calls, like DeepSeek's.
#[test]
fn thoughts_go_back_with_calls_and_calls_of_another_model_as_text() {
    let refusals = Arc::<AtomicUsize>::default();
    let counted = refusals.clone();
    let (server, _home, bridge) = added(move |body, stream| {
        let messages = body["messages"].as_array().unwrap();
        let calls = messages.iter().filter(|message| !message["tool_calls"].is_null());
        let lacks = calls
            .filter(|message| message["reasoning_content"].as_str().unwrap_or_default().is_empty())
            .count();
        if lacks > 0 {
            counted.fetch_add(1, Ordering::SeqCst);
            return refuse(
                stream,
                "The `reasoning_content` in the thinking mode must be passed back to the API.",
            );
        }
        if messages.len() > 1 {
            return say(stream, &[json!({"content": "noon"})], "stop");
        }
        let call =
            json!({"tool_calls": [{"index": 0, "id": "c1", "function": {"name": "now", "arguments": "{}"}}]});
        say(stream, &[json!({"reasoning_content": "the clock"}), call], "tool_calls")
    });
    let tools = json!([{"name": "now", "inputSchema": {"type": "object"}}]);
    let chat = |model: &str, messages: &Value| {
        let asked = begin(&bridge, "llm_chat", model, &json!({"messages": messages, "tools": tools}));
        asked.wait(LIMIT).unwrap()["response"]["message"].clone()
    };
    let question = json!({"role": "user", "content": "when?"});
    let called = chat("p:m", &json!([question]));
    let result = json!({"role": "tool", "toolCallId": "c1", "content": "12:00"});
    let messages = json!([question, called, result]);
    assert_eq!(chat("p:m", &messages)["content"], "noon");
    assert_eq!(chats(&server)[1]["messages"][1]["reasoning_content"], "the clock");
    assert_eq!(refusals.load(Ordering::SeqCst), 0);
    // Another model of the same provider has not thought this.
    assert_eq!(chat("p:n", &messages)["content"], "noon");
    assert_eq!(chat("p:n", &messages)["content"], "noon");
    assert_eq!(refusals.load(Ordering::SeqCst), 1, "it is remembered");
    let last = chats(&server).last().unwrap()["messages"].clone();
    assert_eq!(last[1]["content"], "(I called now with {}.)");
    assert_eq!((&last[2]["role"], &last[2]["content"]), (&json!("user"), &json!("(now answered:)\n12:00")));
}

/// A provider's word on an error of its own.
const INTERNAL: &str = r#"{"error":{"message":"internal"}}"#;

#[test]
fn a_failure_says_when_to_try_again() {
    let (_server, home, _bridge) =
        added(|body, stream| match body["messages"].to_string().contains("later") {
            true => answer(
                stream,
                "429 Too Many Requests",
                "application/json",
                "retry-after: 400\r\n",
                r#"{"error":{"message":"slow down"}}"#,
            ),
            false => answer(stream, "500 Oops", "application/json", "x-should-retry: false\r\n", INTERNAL),
        });
    for (question, wanted) in
        [("later", "p: slow down; try again in 400 s"), ("now", "p: internal; try again later")]
    {
        let (_, err, code) = harbor(&home, &["ask", question], "");
        assert!(err.contains(wanted) && code == Some(5), "{err}");
    }
}

#[test]
fn a_pause_before_the_next_try_is_told_and_can_be_cancelled() {
    let (_server, _home, bridge) = added(|_, stream| {
        answer(stream, "429 Too Many Requests", "application/json", "retry-after: 15\r\n", INTERNAL)
    });
    let pending = begin(&bridge, "llm_chat", "p:m", &json!({}));
    let told = bridge.wait_for_push("llm_event", LIMIT, |push| push["event"]["type"] == "waiting");
    assert_eq!(told["event"]["retry_after_ms"], 15_000);
    bridge.call("cancel", &json!({"target": pending.id})).unwrap();
    assert_eq!(pending.wait(LIMIT).unwrap_err().code, "cancelled");
}
