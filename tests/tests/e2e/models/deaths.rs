//! The model worker is killed, wherever a request is: that request fails, and nothing else notices.

use harbor_tests::{Answer, Double, ErrorValue, LIMIT, PROMPT, Pending, wait_until};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::{Value, json};

use super::scene::Scene;

fn signal_worker(scene: &Scene, signal: Signal) {
    let pid = scene.status()["pid"].as_i64().unwrap();
    kill(Pid::from_raw(i32::try_from(pid).unwrap()), signal).unwrap();
}

/// Sends a request, kills the worker once the provider has been asked, and gives what became of the request.
fn killed(scene: &Scene, begin: impl FnOnce() -> Pending) -> Result<Answer, ErrorValue> {
    let before = scene.provider.server.asked().len();
    let pending = begin();
    wait_until("the provider to be asked", LIMIT, || scene.provider.server.asked().len() > before);
    signal_worker(scene, Signal::SIGKILL);
    pending.wait(PROMPT)
}

#[test]
fn the_workers_death_ends_what_is_open_and_nothing_else() {
    let scene = Scene::new();
    scene.bridge.add_and_connect("s", &Double::sound(&scene.home));
    let server = scene.bridge.server("s")["pid"].clone();
    let call = scene.bridge.send_tool("s", "sleep", &json!({"ms": 600_000}));
    let is_lost = |error: &ErrorValue| {
        assert_eq!(
            (error.code.as_str(), &error.details["cause"]),
            ("ERR_MODEL_FAILED", &json!("worker_lost"))
        );
    };
    // What models there are is known then: all that a request asks the provider is the request itself.
    assert!(scene.chat("m").is_ok());
    // Before the answer's head, in its text, and in the arguments of a call.
    for model in ["silent", "hangs", "calling"] {
        is_lost(&killed(&scene, || scene.begin(model, &json!({}))).unwrap_err());
        assert!(scene.chat("m").is_ok(), "the next one starts it again");
    }
    // Two at once.
    let before = scene.provider.server.asked().len();
    let others = [scene.begin("hangs", &json!({})), scene.begin("silent", &json!({}))];
    let both = |scene: &Scene| scene.provider.server.asked().len() == before + 2;
    wait_until("both to be under way", LIMIT, || both(&scene));
    is_lost(&killed(&scene, || scene.begin("hangs", &json!({}))).unwrap_err());
    others.into_iter().for_each(|pending| is_lost(&pending.wait(PROMPT).unwrap_err()));
    assert!(scene.chat("m").is_ok());
    // What is asked of a provider besides chats.
    let ask = |tag: &str, fields: Value| {
        scene.provider.set_mute(true);
        let answer = killed(&scene, || scene.bridge.request(tag, &fields));
        scene.provider.set_mute(false);
        answer
    };
    assert_eq!(ask("llm_list_models", json!({})).unwrap()["failed"], json!(["p"]));
    is_lost(&ask("llm_list_models_for", json!({"provider_id": "p"})).unwrap_err());
    let checked = ask("llm_check_provider", json!({"provider_id": "p"})).unwrap();
    assert_eq!((&checked["available"], &checked["cause"]), (&json!(false), &json!("worker_lost")));
    assert!(scene.chat("m").is_ok());
    // The server and its open call are as they were.
    assert!(call.is_open());
    assert_eq!(scene.bridge.server("s")["pid"], server);
    assert_eq!(scene.bridge.tool_text("s", "echo", &json!({"text": "here"})), r#"{"text":"here"}"#);
}

/// It would wait until the worker counts as dead, and with it all others.
#[test]
fn what_a_worker_that_does_not_read_has_no_room_for_is_refused_at_once() {
    let scene = Scene::new();
    assert!(scene.chat("m").is_ok());
    signal_worker(&scene, Signal::SIGSTOP);
    // Two of them fill what may wait.
    let long = json!({"messages": [{"role": "user", "content": "x".repeat(34 << 20)}]});
    let waiting = [scene.begin("m", &long), scene.begin("m", &long)];
    let refused = scene.begin("m", &long).wait(LIMIT).unwrap_err();
    assert_eq!(
        (refused.code.as_str(), &refused.details["cause"]),
        ("ERR_MODEL_FAILED", &json!("overloaded"))
    );
    assert!(waiting.iter().all(Pending::is_open));
    signal_worker(&scene, Signal::SIGCONT);
    for pending in waiting {
        assert!(pending.wait(LIMIT).is_ok());
    }
}
