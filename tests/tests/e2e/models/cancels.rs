//! A cancelled answer has left Harbor at once, wherever it was: the provider sees its connection end.

use std::time::{Duration, Instant};

use harbor_tests::{LIMIT, PROMPT, wait_until};
use serde_json::json;

use super::scene::Scene;

/// From the request to cancel to the end of the connection at the provider.
const AT_ONCE: Duration = Duration::from_millis(200);

/// Times of each point; the middle one counts, as a machine that does much else may hold up one of them.
const TIMES: usize = 5;

/// Begins an answer, cancels it once it is where its model hangs, and gives how long its connection stayed.
fn cancelled(scene: &Scene, model: &str) -> Duration {
    let (asked, left) = (scene.provider.chats().len(), scene.provider.left());
    let pending = scene.begin(model, &json!({}));
    wait_until("the provider to be asked", LIMIT, || scene.provider.chats().len() > asked);
    let last = match model {
        "hangs" => "text",
        "calling" => "tool_call_start",
        _ => "",
    };
    while !last.is_empty() && scene.bridge.next_push("llm_event", LIMIT)["event"]["type"] != last {}
    let began = Instant::now();
    scene.bridge.call("cancel", &json!({"target": pending.id})).unwrap();
    wait_until("its connection to end", PROMPT, || scene.provider.left() > left);
    let stayed = scene.provider.last_left().saturating_duration_since(began);
    assert_eq!(pending.wait(PROMPT).unwrap_err().code, "cancelled");
    stayed
}

#[test]
fn a_cancel_has_left_harbor_at_once_wherever_the_answer_is() {
    let scene = Scene::new();
    for model in ["silent", "hangs", "calling"] {
        let mut times: Vec<_> = (0..TIMES).map(|_| cancelled(&scene, model)).collect();
        times.sort();
        assert!(times[TIMES / 2] <= AT_ONCE, "{model}: {times:?}");
    }
    assert_eq!(scene.status()["open_requests"], 0);
    assert!(scene.chat("m").is_ok());
}
