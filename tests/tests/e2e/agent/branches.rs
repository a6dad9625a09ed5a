//! Branches: a session goes on from an earlier point of another one, which stays as it is.

use harbor_tests::{Client, LIMIT};
use serde_json::{Value, json};

use super::provider::Say;
use super::scene::Scene;

fn get(scene: &Scene, id: &str) -> Value {
    Value::clone(&scene.bridge.call("chat_get_session", &json!({"session_id": id})).unwrap())
}

fn branch(scene: &Scene, id: &str, at: u64) -> String {
    let branched = scene.bridge.call("chat_branch", &json!({"session_id": id, "message_id": at}));
    branched.unwrap()["session"]["id"].as_str().unwrap().to_owned()
}

fn ids(got: &Value) -> Vec<&str> {
    got["branches"].as_array().unwrap().iter().map(|branch| branch["id"].as_str().unwrap()).collect()
}

#[test]
fn a_branch_takes_over_what_was_said_before_and_all_settings() {
    let scene =
        Scene::of("chat", &json!({"enabled_servers": ["s"], "mode": "reads"}), |_| Say::Text("noted".into()));
    let page = json!({"type": "page", "url": "https://mail.example/1", "title": "Inbox", "text": "secret"});
    scene.send_over(&scene.bridge, "one", &json!({"attachments": [page]})).wait(LIMIT).unwrap();
    scene.say("two").unwrap();
    let before = get(&scene, &scene.session);
    assert_eq!(ids(&before), [&scene.session]);
    let other = branch(&scene, &scene.session, 2);
    let got = get(&scene, &other);
    assert_eq!(got["messages"], json!(before["messages"].as_array().unwrap()[..2]));
    for field in ["name", "mode", "enabledServers", "model", "private", "readUntrusted", "privateNames"] {
        assert_eq!(got["session"][field], before["session"][field], "{field}");
    }
    assert_eq!(got["session"]["privateNames"], json!(["browser:mail.example"]));
    assert_eq!(
        (&got["session"]["branchOf"], &got["session"]["branchAt"]),
        (&json!(scene.session), &json!(2))
    );
    assert_eq!(ids(&got), [&scene.session, &other]);
    assert_eq!(get(&scene, &scene.session)["messages"], before["messages"], "the old one stays as it is");

    // It goes on by itself, and a branch of it belongs to the same family, also after the first one is gone.
    let fields = json!({"session_id": other, "message": "three"});
    scene.bridge.call("chat_send_message", &fields).unwrap();
    let third = branch(&scene, &other, 2);
    assert_eq!(get(&scene, &third)["session"]["branchOf"], json!(scene.session));
    scene.bridge.call("chat_delete_session", &json!({"session_id": scene.session})).unwrap();
    assert_eq!(ids(&get(&scene, &third)), [&other, &third]);
    assert_eq!(get(&scene, &other)["messages"].as_array().unwrap().len(), 4);
}

#[test]
fn only_before_a_message_of_the_persons_and_also_during_a_turn() {
    let scene = Scene::new(|round| match round.body["messages"].to_string().contains("hang here") {
        true => Say::Hang,
        false => Say::Text("noted".into()),
    });
    scene.say("one").unwrap();
    let pending = scene.send("hang here");
    let _ = scene.bridge.wait_for_push("chat_event", LIMIT, |push| push["event"]["message_id"] == 2);
    let branched =
        |at: u64| scene.bridge.call("chat_branch", &json!({"session_id": scene.session, "message_id": at}));
    for at in [1, 3, u64::MAX] {
        let refused = branched(at).unwrap_err();
        assert_eq!(refused.code, "invalid_params");
        assert!(refused.message.contains("`message_id`"), "{refused:?}");
    }
    let session = branched(2).unwrap()["session"].clone();
    assert_eq!((&session["messageCount"], &session["turn_id"]), (&json!(2), &Value::Null));
    assert_eq!(branched(0).unwrap()["session"]["messageCount"], 0);
    scene.bridge.call("chat_stop", &json!({"session_id": scene.session})).unwrap();
    pending.wait(LIMIT).unwrap();
}

#[test]
fn a_branch_of_a_private_session_is_private_and_outlives_no_bridge() {
    let scene = Scene::of("chat", &json!({"private": true}), |_| Say::Text("noted".into()));
    scene.say("one").unwrap();
    let other = branch(&scene, &scene.session, 0);
    let got = get(&scene, &other);
    assert_eq!(got["session"]["private"], true);
    assert_eq!(ids(&got), [&scene.session, &other]);
    assert!(!scene.home.path().join("sessions").exists());
}

#[test]
fn a_window_that_comes_later_has_the_message_of_the_turn_with_its_attachments() {
    let scene = Scene::new(|_| Say::Hang);
    let other = Client::attach(&scene.home);
    let of = json!({"session_id": scene.session});
    other.call("chat_watch", &of).unwrap();
    let page = json!({"type": "page", "url": "https://a.example/", "title": "A", "text": "words"});
    let pending = scene.send_over(&scene.bridge, "go", &json!({"attachments": [page]}));
    let first = other.next_push("chat_event", LIMIT).clone();
    assert_eq!((&first["event"]["type"], &first["event"]["message_id"]), (&json!("message"), &json!(0)));
    let got = other.call("chat_get_session", &of).unwrap();
    assert_eq!(got["messages"][0]["content"], json!([page, {"type": "text", "text": "go"}]));
    assert_eq!(got["session"]["turn_id"], first["turn_id"]);
    // A number of another turn leaves nothing out.
    let late = Client::attach(&scene.home);
    let fields = json!({"session_id": scene.session, "after_seq": 0, "turn_id": "of an earlier bridge"});
    assert_eq!(late.call("chat_watch", &fields).unwrap()["turn_id"], first["turn_id"]);
    assert_eq!(late.next_push("chat_event", LIMIT)["event"]["type"], "message");
    let fields = json!({"session_id": scene.session, "after_seq": 0, "turn_id": first["turn_id"]});
    late.call("chat_watch", &fields).unwrap();
    assert_eq!(late.next_push("chat_event", LIMIT)["seq"], 1);
    scene.bridge.call("chat_stop", &of).unwrap();
    pending.wait(LIMIT).unwrap();
}
