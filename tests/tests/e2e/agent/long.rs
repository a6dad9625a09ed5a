//! Conversations that are longer than the window of their model, which its provider does not tell.

use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use harbor_tests::{Bridge, LIMIT};
use serde_json::{Value, json};

use super::provider::{Round, Say};
use super::scene::Scene;

const SUMMARY: &str = "They spoke of herons.";

/// True if the model is asked to summarise.
fn is_summary(round: &Round) -> bool {
    round.body["messages"][0]["content"].as_str().unwrap_or_default().starts_with("You summarise")
}

/// The content of a message of a request.
fn said(round: &Round, at: usize) -> &str {
    round.body["messages"][at]["content"].as_str().unwrap_or_default()
}

/// Says `ok`, or a summary, or that more than 4000 tokens are too many. A token is three bytes.
fn small(refused: &AtomicUsize, round: &Round, says_number: bool) -> Say {
    let counted = round.body.to_string().len() / 3;
    if counted <= 4000 {
        return Say::Text(if is_summary(round) { SUMMARY } else { "ok" }.into());
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
    let scene = untold(Scene::new(move |round| small(&counted, round, says_number)));
    for turn in 0..12 {
        say_long(&scene, turn);
    }
    (scene, refused)
}

/// With a provider that does not tell its models' windows.
fn untold(scene: Scene) -> Scene {
    let base = format!("http://127.0.0.1:{}/listless/v1", scene.provider.server.port);
    let fields = json!({"provider_type": "openai-compatible", "name": "untold", "base_url": base});
    scene.bridge.call("llm_add_provider", &fields).unwrap();
    scene
}

/// Says about 830 tokens, and is answered.
fn say_long(scene: &Scene, turn: usize) {
    let text = format!("{turn} {}", "word ".repeat(500));
    let said = scene.send_over(&scene.bridge, &text, &json!({"model": "untold:m"})).wait(LIMIT);
    assert_eq!(said.unwrap()["response"], "ok", "turn {turn}");
}

#[test]
fn a_conversation_that_is_refused_for_its_length_is_summarised_and_the_session_keeps_all_of_it() {
    let (mut scene, refused) = talk(true);
    assert_eq!(refused.load(Ordering::SeqCst), 1, "the next turns are short enough at once");
    let step = scene.bridge.wait_for_push("chat_event", LIMIT, |push| push["event"]["tool"] == "summary");
    assert_eq!(step["event"]["type"], "tool_call");
    assert_eq!(scene.messages().len(), 24, "the session has all of it");
    let rounds = scene.provider.rounds();
    let (summaries, answers): (Vec<_>, Vec<_>) = rounds.iter().partition(|round| is_summary(round));
    assert!(summaries.len() < answers.len() / 2, "not each turn needs one: {}", summaries.len());
    assert!(summaries.iter().all(|round| round.tools.is_empty()));
    assert!(said(summaries.last().unwrap(), 1).contains(SUMMARY), "the next one has what the last one said");
    let last = answers.last().unwrap();
    assert!(said(last, 1).contains(SUMMARY) && said(last, 1).contains("summarised by the model untold:m"));
    let messages = last.body["messages"].as_array().unwrap();
    assert!(messages.last().unwrap()["content"].as_str().unwrap().starts_with("11 "));

    // The file of the session has none of it, and the next bridge makes no other one.
    let directory = scene.home.path().join("sessions");
    let file = |end: &str| directory.join(format!("{}.{end}", scene.session));
    assert!(!fs::read_to_string(file("json")).unwrap().contains(SUMMARY));
    assert!(fs::read_to_string(file("summary")).unwrap().contains(SUMMARY));
    let asked = scene.provider.rounds().len();
    assert!(scene.bridge.stop().success());
    scene.bridge = Bridge::start(&scene.home);
    scene.send_over(&scene.bridge, "short", &json!({"model": "untold:m"})).wait(LIMIT).unwrap();
    let rounds = scene.provider.rounds();
    assert!(rounds[asked..].iter().all(|round| !is_summary(round) && said(round, 1).contains(SUMMARY)));
    scene.bridge.call("chat_delete_session", &json!({"session_id": scene.session})).unwrap();
    assert!(!directory.join(format!("{}.summary", scene.session)).exists());
}

#[test]
fn a_summary_that_fails_or_is_empty_or_too_long_is_dropped_and_the_turn_goes_on_without_the_oldest() {
    let answers = Arc::<AtomicUsize>::default();
    let counted = answers.clone();
    let scene = untold(Scene::new(move |round| match is_summary(round) {
        false => small(&AtomicUsize::default(), round, true),
        true => match counted.fetch_add(1, Ordering::SeqCst) {
            0 => Say::Refuse("400 Bad Request", json!({"error": {"message": "no summaries here"}})),
            1 => Say::Text(" \n".into()),
            _ => Say::Text("x".repeat(60_000)),
        },
    }));
    for turn in 0..7 {
        say_long(&scene, turn);
    }
    let rounds = scene.provider.rounds();
    assert!(answers.load(Ordering::SeqCst) >= 3 && !rounds.windows(2).any(|two| two.iter().all(is_summary)));
    for why in ["no summaries here", "no shorter"] {
        let told = |push: &Value| {
            let text = push["event"]["text"].to_string();
            push["event"]["type"] == "status" && text.contains("left out") && text.contains(why)
        };
        let _ = scene.bridge.wait_for_push("chat_event", LIMIT, |push| told(push));
    }
    let last = rounds.last().unwrap();
    assert!(
        said(last, 1).starts_with("(The earlier part of the conversation was left out"),
        "{}",
        said(last, 1)
    );
    assert_eq!(scene.messages().len(), 14);
    assert!(!scene.home.path().join("sessions").join(format!("{}.summary", scene.session)).exists());
}

#[test]
fn a_result_that_is_left_out_is_said_to_be_done_and_the_model_can_read_it_again() {
    let scene = untold(Scene::new(|round| {
        let counted = round.body.to_string().len() / 3;
        let done = round.results.len();
        match counted > 6000 {
            true => small(&AtomicUsize::default(), round, true),
            false if done < 4 => {
                let ids = ["c0", "c1", "c2", "c3"];
                round.call(ids[done], "look", &json!({"at": format!("{done} {}", "herons ".repeat(700))}))
            }
            false if done == 4 => round.call("again", "read_more", &json!({"result": "c0", "offset": 0})),
            false => Say::Text("ok".into()),
        }
    }));
    let answer = scene.send_over(&scene.bridge, "look", &json!({"model": "untold:m"})).wait(LIMIT).unwrap();
    assert_eq!(answer["response"], "ok");
    let last = scene.provider.rounds().pop().unwrap();
    let first = &last.results[0];
    assert!(first.contains("the call was made and succeeded"), "{first}");
    assert!(first.contains(r#"read_more {"result":"c0","offset":0} shows it"#), "{first}");
    assert!(last.results[4].contains("0 herons herons"), "{}", last.results[4]);
    assert_eq!(answer["steps"].as_array().unwrap().len(), 5, "no call is made twice");
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
