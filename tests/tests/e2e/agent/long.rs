//! Conversations that are longer than the window of their model, which its provider does not tell.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use harbor_tests::LIMIT;
use serde_json::{Value, json};

use super::provider::{Round, Say};
use super::scene::Scene;

/// Says `ok`, or that more than 4000 tokens are too many. A token is three bytes.
fn small(refused: &AtomicUsize, round: &Round, says_number: bool) -> Say {
    let counted = round.body.to_string().len() / 3;
    if counted <= 4000 {
        return Say::Text("ok".into());
    }
    refused.fetch_add(1, Ordering::SeqCst);
    let message = match says_number {
        true => format!(
            "This model's maximum context length is 4000 tokens. However, your messages have {counted} tokens."
        ),
        false => "Please reduce the length of the messages.".into(),
    };
    let error =
        json!({"message": message, "type": "invalid_request_error", "code": "context_length_exceeded"});
    Say::Refuse("400 Bad Request", json!({"error": error}))
}

fn talk(says_number: bool) -> (Scene, Arc<AtomicUsize>) {
    let refused = Arc::<AtomicUsize>::default();
    let counted = refused.clone();
    let scene = Scene::new(move |round| small(&counted, round, says_number));
    let base = format!("http://127.0.0.1:{}/listless/v1", scene.provider.server.port);
    let fields = json!({"provider_type": "openai-compatible", "name": "untold", "base_url": base});
    scene.bridge.call("llm_add_provider", &fields).unwrap();
    for turn in 0..12 {
        let text = format!("{turn} {}", "word ".repeat(500));
        let said = scene.send_over(&scene.bridge, &text, &json!({"model": "untold:m"})).wait(LIMIT);
        assert_eq!(said.unwrap()["response"], "ok", "turn {turn}");
    }
    (scene, refused)
}

#[test]
fn a_refused_conversation_is_shortened_and_the_window_is_learned() {
    let (scene, refused) = talk(true);
    assert_eq!(refused.load(Ordering::SeqCst), 1, "the next turns are short enough at once");
    let status = scene.bridge.wait_for_push("chat_event", LIMIT, |push| push["event"]["type"] == "status");
    let told = status["event"]["text"].as_str().unwrap();
    assert!(told.contains("longer than the model's window"), "{told}");
    assert_eq!(scene.messages().len(), 24, "the session has all of it");
    let last = scene.provider.rounds().last().unwrap().body["messages"].clone();
    assert!(
        last.as_array().unwrap().last().unwrap()["content"].as_str().unwrap().starts_with("11 "),
        "{last}"
    );
}

#[test]
fn without_a_number_half_of_what_was_refused_is_the_window() {
    let (_scene, refused) = talk(false);
    assert_eq!(refused.load(Ordering::SeqCst), 1);
}

#[test]
fn a_message_that_is_too_long_by_itself_is_refused_and_the_session_goes_on() {
    let refused = Arc::<AtomicUsize>::default();
    let scene = Scene::new(move |round| small(&refused, round, true));
    let error = scene.say(&"x".repeat(20_000)).unwrap_err();
    let told = |name: &str| error.details[name].clone();
    assert_eq!((told("cause"), told("context_window")), (json!("context_full"), json!(4000)));
    assert_eq!(scene.provider.rounds().len(), 2, "once more, and no more");
    assert_eq!(scene.say("short").unwrap()["response"], Value::from("ok"));
}
