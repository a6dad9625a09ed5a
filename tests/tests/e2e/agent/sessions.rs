//! Sessions: listed, changed, exported, watched by two, deleted; on disk as secrets are, and private ones nowhere.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use harbor_tests::{Bridge, Client, LIMIT, wait_until};
use serde_json::{Value, json};

use super::provider::Say;
use super::scene::Scene;

/// A word of what is said, which no log may have.
const CANARY: &str = "canaryagent7731";

fn of(scene: &Scene) -> Value {
    json!({"session_id": scene.session})
}

#[test]
fn a_session_is_listed_changed_exported_cleared_and_deleted() {
    let scene = Scene::new(|round| {
        Say::Text(format!("as {}", round.body["messages"].as_array().map_or(0, Vec::len)))
    });
    scene.say("what is   it?\nnow").unwrap();
    let listed = scene.bridge.call("chat_list_sessions", &json!({})).unwrap();
    let session = &listed["sessions"][0];
    assert_eq!((&session["name"], &session["messageCount"]), (&json!("what is it? now"), &json!(2)));
    let updates = json!({"name": "mine", "systemPrompt": "be brief", "mode": "auto"});
    let updated = scene
        .bridge
        .call("chat_update_session", &json!({"session_id": scene.session, "updates": updates}))
        .unwrap();
    assert_eq!((&updated["session"]["name"], &updated["session"]["mode"]), (&json!("mine"), &json!("auto")));
    scene.say("again").unwrap();
    let listed = scene.bridge.call("chat_list_sessions", &json!({})).unwrap();
    assert_eq!(listed["sessions"][0]["usage"]["input_tokens"], 22, "of both turns");
    let chats = scene.home.done(&["models", "usage", "--chats"]);
    assert!(chats.contains(" 22 ") && chats.trim_end().ends_with("mine"), "{chats}");
    let system = &scene.provider.rounds()[1].body["messages"][0];
    assert!(system["content"].as_str().unwrap().ends_with("be brief"), "{system}");
    let export = |format: &str| {
        scene.bridge.call("chat_export", &json!({"session_id": scene.session, "format": format}))
    };
    assert!(
        export("markdown").unwrap()["text"]
            .as_str()
            .unwrap()
            .starts_with("# mine\n\n## You\n\nwhat is   it?")
    );
    let json: Value = serde_json::from_str(export("json").unwrap()["text"].as_str().unwrap()).unwrap();
    assert_eq!(json["messages"].as_array().unwrap().len(), 4);
    assert_eq!(export("pdf").unwrap_err().code, "invalid_params");
    assert_eq!(scene.bridge.call("chat_clear_messages", &of(&scene)).unwrap()["cleared"], 4);
    assert_eq!(scene.bridge.call("chat_delete_session", &of(&scene)).unwrap()["deleted"], true);
    assert_eq!(scene.bridge.call("chat_delete_session", &of(&scene)).unwrap()["deleted"], false);
    assert_eq!(scene.bridge.call("chat_get_session", &of(&scene)).unwrap_err().code, "not_found");
    assert_eq!(
        scene.bridge.call("chat_get_session", &json!({"session_id": "../harbor"})).unwrap_err().code,
        "not_found"
    );
}

#[test]
fn a_session_is_the_persons_alone_on_disk_and_a_private_one_is_not_there() {
    let scene = Scene::new(|_| Say::Text("noted".into()));
    scene.say(CANARY).unwrap();
    let directory = scene.home.path().join("sessions");
    let path = directory.join(format!("{}.json", scene.session));
    assert!(fs::read_to_string(&path).unwrap().contains(CANARY));
    let mode = |path: &std::path::Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(&directory), mode(&path)), (0o700, 0o600));
    let private = scene.begin(&json!({"private": true}));
    let fields = json!({"session_id": private, "message": CANARY, "model": "p:m"});
    assert_eq!(scene.bridge.call("chat_send_message", &fields).unwrap()["response"], "noted");
    assert_eq!(fs::read_dir(&directory).unwrap().count(), 1);
    let logs = scene.home.path().join("logs");
    let logged: String = fs::read_dir(logs)
        .unwrap()
        .filter_map(|entry| fs::read_to_string(entry.unwrap().path()).ok())
        .collect();
    assert!(!logged.contains(CANARY) && !scene.bridge.stderr().contains(CANARY));
}

#[test]
fn a_session_is_encrypted_where_the_secrets_are() {
    let mut scene = Scene::new(|_| Say::Text("noted".into()));
    scene.say(CANARY).unwrap();
    let path = scene.home.path().join("sessions").join(format!("{}.json", scene.session));
    let secret = json!({"server_id": "s", "key": "K", "value": "v", "credential_type": "env"});
    let _ = scene.bridge.call("set_credential", &secret);
    scene.bridge.call("encrypt_secrets", &json!({"passphrase": "a long passphrase"})).unwrap();
    assert!(fs::read(&path).unwrap().starts_with(b"age-encryption.org/v1"), "what was plain is not any more");
    scene.say("again").unwrap();
    assert!(fs::read(&path).unwrap().starts_with(b"age-encryption.org/v1"));
    scene.bridge.stop();
    scene.bridge = Bridge::start(&scene.home);
    assert_eq!(scene.bridge.call("chat_get_session", &of(&scene)).unwrap_err().code, "secrets_locked");
    scene.bridge.call("unlock_secrets", &json!({"passphrase": "a long passphrase"})).unwrap();
    assert_eq!(scene.messages().len(), 4);
    scene.bridge.call("decrypt_secrets", &json!({})).unwrap();
    assert_eq!(scene.messages().len(), 4, "its key outlives every change of how secrets are kept");
}

#[test]
fn two_watchers_see_the_same_and_who_comes_late_catches_up() {
    let scene = Scene::new(|_| Say::Text("one two three four".into()));
    let other = Client::attach(&scene.home);
    other.call("chat_watch", &of(&scene)).unwrap();
    scene.say("go").unwrap();
    let all = |client: &Client| -> Vec<Value> {
        let mut seen = Vec::new();
        loop {
            let push = client.next_push("chat_event", LIMIT);
            seen.push(json!([push["seq"], push["event"]]));
            if push["event"]["type"] == "final" {
                return seen;
            }
        }
    };
    let (here, there) = (all(&scene.bridge), all(&other));
    assert_eq!(here, there);
    let late = Client::attach(&scene.home);
    late.call("chat_watch", &json!({"session_id": scene.session, "after_seq": 1})).unwrap();
    assert_eq!(all(&late), here[2..]);
    // Both follow the next turn, too.
    scene.say("go on").unwrap();
    assert_eq!(all(&late), all(&other));
}

#[test]
fn what_a_killed_bridge_left_plain_is_encrypted_at_the_next_start() {
    let mut scene = Scene::new(|_| Say::Text("noted".into()));
    scene.say(CANARY).unwrap();
    let path = scene.home.path().join("sessions").join(format!("{}.json", scene.session));
    let plain = fs::read(&path).unwrap();
    let passphrase = scene.home.scratch("passphrase");
    fs::write(&passphrase, "a long passphrase").unwrap();
    fs::set_permissions(&passphrase, fs::Permissions::from_mode(0o600)).unwrap();
    scene.bridge.call("encrypt_secrets", &json!({"passphrase": "a long passphrase"})).unwrap();
    scene.bridge.stop();
    fs::write(&path, &plain).unwrap();
    scene.home.configure(&format!("[secrets]\npassphraseFile = \"{}\"\n", passphrase.display()));
    scene.bridge = Bridge::start(&scene.home);
    wait_until("it is encrypted", LIMIT, || fs::read(&path).unwrap().starts_with(b"age-encryption.org/v1"));
    assert_eq!(scene.messages().len(), 2);
}

/// It would pay again, if the conversation forgot that it has paid.
#[test]
fn calls_and_results_of_a_round_are_there_after_the_bridge_was_killed_in_it() {
    let mut scene = Scene::new(|round| match round.results.len() {
        0 => Say::Calls(vec![
            ("c1", round.tool("look"), json!({"x": "PAYMENT"}).to_string()),
            ("c2", round.tool("write"), json!({"x": 2}).to_string()),
        ]),
        _ => Say::Text("done".into()),
    });
    let pending = scene.send("pay once");
    scene.event("tool_result");
    scene.event("approval");
    // What else is written down meanwhile takes nothing away.
    let renamed = json!({"session_id": scene.session, "updates": {"name": "paid"}});
    scene.bridge.call("chat_update_session", &renamed).unwrap();
    scene.bridge.kill();
    drop(pending);
    scene.bridge = Bridge::start(&scene.home);
    let messages = scene.messages();
    let said: Vec<_> = messages.iter().map(|message| message["role"].as_str().unwrap()).collect();
    assert_eq!(said, ["user", "assistant", "tool", "tool"], "{messages:?}");
    assert!(messages[2].to_string().contains("PAYMENT"), "{messages:?}");
    assert!(messages[3].to_string().contains("It may have taken effect"), "{messages:?}");
}

#[test]
fn what_the_disk_refuses_is_told_and_written_down_when_it_can_be() {
    let mut scene = Scene::new(|_| Say::Text("noted".into()));
    let directory = scene.home.path().join("sessions");
    let aside = scene.home.scratch("aside");
    fs::rename(&directory, &aside).unwrap();
    fs::write(&directory, "in the way").unwrap();
    scene.say("keep this").unwrap();
    let health = scene.bridge.call("health", &json!({})).unwrap()["health"].clone();
    assert_eq!(health["reasons"][0]["code"], "sessions_unsaved", "{health}");
    fs::remove_file(&directory).unwrap();
    scene.bridge.stop();
    scene.bridge = Bridge::start(&scene.home);
    assert_eq!(scene.messages().len(), 2);
    assert_eq!(scene.bridge.call("health", &json!({})).unwrap()["health"]["state"], "ok");

    // A file that has lost its end is read up to there, and kept.
    scene.bridge.stop();
    let file = directory.join(format!("{}.json", scene.session));
    let whole = fs::read(&file).unwrap();
    fs::write(&file, &whole[..whole.len() - 10]).unwrap();
    scene.bridge = Bridge::start(&scene.home);
    let listed = scene.bridge.call("chat_list_sessions", &json!({})).unwrap();
    assert!(
        listed["unreadable"][0].as_str().unwrap().contains("only its first 1 messages are readable"),
        "{listed:?}"
    );
    assert_eq!(scene.messages().len(), 1);
    assert_eq!(fs::read(file.with_extension("json.damaged")).unwrap(), whole[..whole.len() - 10]);
}

/// Another turn is under way: the message is refused, and its model with it.
#[test]
fn a_refused_message_does_not_change_the_sessions_model() {
    let scene = Scene::new(|_| Say::Hang);
    let pending = scene.send("one");
    scene.event("text");
    let fields = json!({"session_id": scene.session, "message": "two", "model": "p:other"});
    assert!(scene.bridge.call("chat_send_message", &fields).is_err());
    let model = scene.bridge.call("chat_get_session", &of(&scene)).unwrap()["session"]["model"].clone();
    assert_eq!(model, "p:m");
    scene.bridge.call("chat_stop", &of(&scene)).unwrap();
    let _ = pending.wait(LIMIT);
}
