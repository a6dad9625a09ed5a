//! What happens to a question while it is open: the tool changes, answers are taken back, its caller leaves, two are open at once.

use harbor_tests::{Client, Double, LIMIT, PROMPT};
use serde_json::{Value, json};

use super::scene::{Held, Scene};

/// Begins a turn that asks about a call of `tool`; the turn, and the question.
fn asked(
    scene: &Scene,
    chat: &str,
    typed: &str,
    tool: &'static str,
    arguments: Value,
) -> (harbor_tests::Pending, Value) {
    let pending = scene.begins(chat, typed, &vec![(tool, arguments)]);
    let push = scene.bridge.wait_for_push("chat_event", LIMIT, |push| push["event"]["waits"] == true);
    (pending, push["event"]["approval"].clone())
}

fn made(pending: &harbor_tests::Pending) -> bool {
    pending.wait(LIMIT).unwrap()["steps"][0]["is_error"] == false
}

fn answer(scene: &Scene, question: &Value, answer: &str) -> bool {
    let fields = json!({"approval_id": question["id"], "answer": answer});
    scene.bridge.call("approvals_answer", &fields).unwrap()["answered"] == true
}

#[test]
fn a_yes_for_always_that_is_taken_back_covers_nothing_in_the_session_that_gave_it() {
    let scene = Scene::new();
    scene.server("s", Held::Web, &["write"], &json!({}));
    let chat = scene.chat("ask");
    for cover in ["always", "chat_tool", "chat_server"] {
        let (pending, question) = asked(&scene, &chat, cover, "s_write", json!({"x": cover}));
        assert!(answer(&scene, &question, cover) && made(&pending), "{cover}");
        assert_eq!(
            scene.does(&chat, &format!("{cover} again"), &vec![("s_write", json!({"y": 1}))], &[]).asked,
            [""; 0]
        );
        let standing = scene.bridge.call("approvals_list", &json!({})).unwrap();
        assert_eq!(
            (&standing["standing"][0]["covers"], &standing["standing"][1]),
            (&json!(cover), &Value::Null)
        );
        let id = standing["standing"][0]["id"].clone();
        let revoked = scene.bridge.call("approvals_revoke", &json!({"approval_id": id})).unwrap();
        assert_eq!(revoked["revoked"], 1);
        let (pending, question) =
            asked(&scene, &chat, &format!("{cover} once more"), "s_write", json!({"z": 1}));
        assert!(answer(&scene, &question, "no") && !made(&pending), "{cover}");
    }
}

#[test]
fn a_tool_that_changes_while_its_question_is_open_does_not_run() {
    let scene = Scene::new();
    let tool = |about: &str| {
        json!([{"name": "write", "description": about, "inputSchema": {"type": "object"}}]).to_string()
    };
    let double = Double::sound(&scene.home).closed().offering(&tool("a"));
    scene.bridge.add_and_connect("d", &double);
    let (pending, question) = asked(&scene, &scene.chat("ask"), "go", "d_write", json!({"x": 1}));
    double.offer(&tool("another"));
    scene.bridge.call("mcp_disconnect", &json!({"server_id": "d"})).unwrap();
    scene.bridge.connect("d");
    assert!(answer(&scene, &question, "once"));
    assert!(!made(&pending));
    assert_eq!(double.journal().count("call write"), 0);
}

#[test]
fn what_is_asked_again_is_stricter_and_an_answer_to_the_milder_question_is_none() {
    let scene = Scene::new();
    scene.server("s", Held::Web, &["write"], &json!({}));
    let (pending, question) = asked(&scene, &scene.chat("ask"), "go", "s_write", json!({"x": 1}));
    assert_eq!(question["reason"], "writes");
    scene
        .bridge
        .call("set_supervision", &json!({"server_id": "s", "supervision": {"destroys": ["write"]}}))
        .unwrap();
    assert!(answer(&scene, &question, "chat_server"));
    let push = scene.bridge.wait_for_push("chat_event", LIMIT, |push| push["event"]["waits"] == true);
    let again = &push["event"]["approval"];
    assert_eq!(again["reason"], "destroys");
    assert!(answer(&scene, again, "once") && made(&pending));
}

#[test]
fn a_server_that_is_removed_or_a_caller_that_leaves_ends_its_question() {
    let scene = Scene::new();
    scene.server("s", Held::Web, &["write"], &json!({}));
    let chat = scene.chat("ask");
    let (pending, question) = asked(&scene, &chat, "go", "s_write", json!({"x": 1}));
    scene.bridge.call("chat_stop", &json!({"session_id": chat})).unwrap();
    pending.wait(PROMPT).unwrap();
    assert!(!answer(&scene, &question, "once"), "nobody waits for it");
    let (pending, question) = asked(&scene, &chat, "go on", "s_write", json!({"x": 2}));
    scene.bridge.call("remove_server", &json!({"server_id": "s"})).unwrap();
    answer(&scene, &question, "once");
    assert!(!made(&pending));
}

#[test]
fn the_first_answer_counts_wherever_it_comes_from_and_all_are_told() {
    let scene = Scene::new();
    scene.server("s", Held::Web, &["write"], &json!({}));
    let other = Client::attach_browser(&scene.home, "other");
    other.call("approvals_watch", &json!({})).unwrap();
    let (pending, question) = asked(
        &scene,
        &scene.chat("ask"),
        "go",
        "s_write",
        json!({"text": "x".repeat(5000), "note": "a\u{200b}b"}),
    );
    let shown = other.wait_for_push("approval", LIMIT, |push| push["waits"] == true);
    assert_eq!((&shown["approval"]["id"], &shown["approval"]["who"]), (&question["id"], &json!("chat")));
    let text = question["fields"].as_array().unwrap().iter().find(|field| field["key"] == "text").unwrap();
    assert_eq!(text["bytes"], 5000, "it says that it is cut");
    let whole = other.call("approvals_list", &json!({"approval_id": question["id"]})).unwrap();
    assert_eq!(whole["arguments"]["text"].as_str().unwrap().len(), 5000);
    assert!(question["fields"].to_string().contains("u{200b}"), "{question}");
    let fields = json!({"approval_id": question["id"], "answer": "once"});
    assert_eq!(other.call("approvals_answer", &fields).unwrap()["answered"], true);
    let _ = other.wait_for_push("approval", LIMIT, |push| push["waits"] == false);
    assert!(!answer(&scene, &question, "no"), "it is answered");
    assert!(made(&pending));
}

#[test]
fn what_a_question_does_not_offer_is_no_answer() {
    let scene = Scene::new();
    scene.server("s", Held::Files, &["read?"], &json!({}));
    scene.server("web", Held::Web, &["look?"], &json!({}));
    let chat = scene.chat("ask");
    scene.does(&chat, "read", &vec![("s_read", json!({"path": "a"}))], &[]);
    let (pending, question) = asked(&scene, &chat, "go", "web_look", json!({"x": 1}));
    let fields = json!({"approval_id": question["id"], "answer": "always"});
    assert_eq!(scene.bridge.call("approvals_answer", &fields).unwrap_err().code, "invalid_params");
    assert!(answer(&scene, &question, "no") && !made(&pending));
}

#[test]
fn arguments_of_more_than_a_mebibyte_are_not_asked_about() {
    let scene = Scene::new();
    scene.server("s", Held::Web, &["write"], &json!({}));
    let came =
        scene.does(&scene.chat("ask"), "go", &vec![("s_write", json!({"x": "a".repeat(1_100_000)}))], &[]);
    assert_eq!((came.asked.len(), came.made), (0, vec![false]));
}
