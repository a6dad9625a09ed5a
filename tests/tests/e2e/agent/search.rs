//! History: found by words, pinned, imported; what is encrypted, deleted or private leaves no word on the disk.

use std::fs;
use std::path::Path;

use harbor_tests::{Answer, Bridge};
use serde_json::{Value, json};

use super::provider::Say;
use super::scene::Scene;

const SENTENCE: &str = "the Heron nests at Lake Orta";

fn list(scene: &Scene, fields: &Value) -> Answer {
    scene.bridge.call("chat_list_sessions", fields).unwrap()
}

fn found(scene: &Scene, query: &str) -> Vec<(String, String)> {
    let listed = list(scene, &json!({"query": query}));
    let excerpts = listed["excerpts"].as_array().unwrap().iter();
    let found: Vec<_> = excerpts.map(|one| (text(&one["session_id"]), text(&one["text"]))).collect();
    let sessions: Vec<_> =
        listed["sessions"].as_array().unwrap().iter().map(|one| text(&one["id"])).collect();
    assert_eq!(sessions, found.iter().map(|one| one.0.clone()).collect::<Vec<_>>());
    assert_eq!((&listed["total"], &listed["is_partial"]), (&json!(sessions.len()), &json!(false)));
    found
}

fn text(value: &Value) -> String {
    value.as_str().unwrap().to_owned()
}

/// All files below the directory that have the words.
fn files_with(directory: &Path, words: &str) -> Vec<String> {
    let mut found = Vec::new();
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        match fs::symlink_metadata(&path).unwrap() {
            kind if kind.is_dir() => found.extend(files_with(&path, words)),
            kind if kind.is_file() => {
                let content = fs::read(&path).unwrap();
                if content.windows(words.len()).any(|window| window.eq_ignore_ascii_case(words.as_bytes())) {
                    found.push(path.display().to_string());
                }
            }
            _ => {}
        }
    }
    found
}

#[test]
fn words_are_found_in_what_was_said_in_names_and_in_names_of_tools() {
    let scene = Scene::new(|round| match round.body["messages"].to_string() {
        said if said.contains("look there") && round.results.is_empty() => {
            round.call("c", "look", &json!({"x": "Basalt"}))
        }
        _ => Say::Text("Granite is hard".into()),
    });
    scene.say(&format!("I saw that {SENTENCE}, {}", "and so on ".repeat(50))).unwrap();
    let other = scene.begin(&json!({"name": "Stones"}));
    let fields = json!({"session_id": other, "message": "look there", "model": "p:m"});
    scene.bridge.call("chat_send_message", &fields).unwrap();

    let hit = found(&scene, "ORTA heron");
    assert_eq!((hit.len(), &hit[0].0), (1, &scene.session));
    assert!(hit[0].1.contains(SENTENCE) && hit[0].1.chars().count() <= 122, "{}", hit[0].1);
    assert_eq!(found(&scene, "granite").len(), 2);
    assert_eq!(found(&scene, "granite stones basalt")[0].0, other, "a name, an answer, a result");
    assert_eq!(found(&scene, "s_look").len() + found(&scene, "s/look").len(), 1, "the name of a tool");
    assert_eq!((found(&scene, "instruction").len(), found(&scene, "granite heron lion").len()), (0, 0));
    let refused = scene.bridge.call("chat_list_sessions", &json!({"query": "x".repeat(1001)})).unwrap_err();
    assert!(refused.message.contains("`query`"), "{refused:?}");

    let (out, err, code) = scene.home.harbor(&["sessions", "list", "--search", "heron"]);
    assert!(code == Some(0) && out.contains(SENTENCE), "{out} {err}");
}

#[test]
fn pinned_sessions_come_first_also_after_a_restart() {
    let mut scene = Scene::new(|_| Say::Text("noted".into()));
    scene.say("one").unwrap();
    let mut begun = vec![scene.session.clone()];
    begun.extend((0..3).map(|number| scene.begin(&json!({"name": format!("n{number}")}))));
    let pin = |scene: &Scene, is: bool| {
        let fields = json!({"session_id": begun[0], "updates": {"pinned": is}});
        scene.bridge.call("chat_update_session", &fields).unwrap()["session"]["pinned"].clone()
    };
    assert_eq!(pin(&scene, true), true);
    scene.bridge.stop();
    scene.bridge = Bridge::start(&scene.home);
    let first = |scene: &Scene| text(&list(scene, &json!({}))["sessions"][0]["id"]);
    assert_eq!(first(&scene), begun[0]);
    let page = |offset: u64| {
        let listed = list(&scene, &json!({"limit": 2, "offset": offset}));
        assert_eq!(listed["total"], 4);
        listed["sessions"].as_array().unwrap().iter().map(|one| text(&one["id"])).collect::<Vec<_>>()
    };
    let (mut all, mut wanted) = ([page(0), page(2), page(4)].concat(), begun.clone());
    all.sort_unstable();
    wanted.sort_unstable();
    assert_eq!(all, wanted);
    assert_eq!(pin(&scene, false), Value::Null);
    assert_ne!(first(&scene), begun[0]);
}

#[test]
fn no_word_is_left_on_the_disk_after_encrypting_after_deleting_and_of_a_private_session() {
    let scene = Scene::new(|_| Say::Text("noted".into()));
    scene.say(SENTENCE).unwrap();
    let home = scene.home.path().to_owned();
    assert_eq!(files_with(&home, SENTENCE).len(), 1);
    scene.bridge.call("encrypt_secrets", &json!({"passphrase": "a long passphrase"})).unwrap();
    let branched = json!({"session_id": scene.session, "message_id": 0});
    scene.bridge.call("chat_branch", &branched).unwrap();
    assert_eq!(found(&scene, "heron orta").len(), 2, "the branch has its name");
    assert_eq!(files_with(&home, SENTENCE), [""; 0], "encrypted");

    scene.bridge.call("decrypt_secrets", &json!({})).unwrap();
    scene.say("again").unwrap();
    let private = scene.begin(&json!({"private": true}));
    let fields = json!({"session_id": private, "message": "a Kingfisher at Lago Maggiore", "model": "p:m"});
    scene.bridge.call("chat_send_message", &fields).unwrap();
    assert_eq!(found(&scene, "kingfisher"), [], "a private session is in the list, and in no search");
    let ids: Vec<_> =
        list(&scene, &json!({}))["sessions"].as_array().unwrap().iter().map(|one| text(&one["id"])).collect();
    assert!(ids.contains(&private));
    assert_eq!(files_with(&home, "Kingfisher"), [""; 0], "private");
    for (session, _) in found(&scene, "noted").into_iter().chain(found(&scene, "heron")) {
        scene.bridge.call("chat_delete_session", &json!({"session_id": session})).unwrap();
    }
    assert_eq!(found(&scene, "heron").len() + found(&scene, "kingfisher").len(), 0);
    assert_eq!((files_with(&home, SENTENCE), files_with(&home, "Kingfisher")), (vec![], vec![]));
}

#[test]
fn an_export_becomes_a_session_that_nobody_vouches_for() {
    let scene =
        Scene::of("chat", &json!({"mode": "auto", "system_prompt": "obey"}), |_| Say::Text("noted".into()));
    let page = json!({"type": "page", "url": "https://a.example/", "title": "A", "text": "words"});
    let fields = json!({"attachments": [page]});
    scene.send_over(&scene.bridge, SENTENCE, &fields).wait(harbor_tests::LIMIT).unwrap();
    let fields = json!({"session_id": scene.session, "format": "json"});
    let exported = text(&scene.bridge.call("chat_export", &fields).unwrap()["text"]);
    let imported = |text: &str| scene.bridge.call("chat_import", &json!({"text": text}));
    let session = imported(&exported).unwrap()["session"].clone();
    assert_eq!((&session["name"], &session["messageCount"]), (&json!(SENTENCE), &json!(2)));
    assert_eq!((&session["readUntrusted"], &session["privateNames"]), (&json!(true), &json!(["attached"])));
    assert_eq!(
        (&session["mode"], &session["systemPrompt"], &session["model"]),
        (&json!("ask"), &Value::Null, &Value::Null)
    );
    let got = scene.bridge.call("chat_get_session", &json!({"session_id": session["id"]})).unwrap();
    assert_eq!(got["messages"], json!(scene.messages()));
    let fields = json!({"session_id": session["id"], "message": "go on", "model": "p:m"});
    scene.bridge.call("chat_send_message", &fields).unwrap();

    let with = |messages: &str| {
        let mut whole: Value = serde_json::from_str(&exported).unwrap();
        whole["messages"] = serde_json::from_str(messages).unwrap();
        whole.to_string()
    };
    for (text, said) in [
        (String::new(), "not JSON"),
        (exported[..exported.len() - 10].to_owned(), "line 1, column"),
        ("[]".into(), "no session"),
        (r#"{"messages": []}"#.into(), "`session`"),
        (exported.replace("\"messages\"", "\"m\""), "`messages`"),
        (with(r#"[{"role": "robot", "content": "x"}]"#), "roles"),
        (with(r#"[{"role": "system", "content": "x"}]"#), "`system`"),
        (
            with(r#"[{"role": "assistant", "toolCalls": [{"id": "a", "name": "t", "arguments": {}}]}]"#),
            "no result",
        ),
        (
            with(r#"[{"role": "user", "content": [{"type": "page", "url": "file:///x", "text": "x"}]}]"#),
            "http",
        ),
    ] {
        let refused = imported(&text).unwrap_err();
        assert_eq!(refused.code, "invalid_params", "{refused:?}");
        assert!(
            refused.message.starts_with("field `text`: ") && refused.message.contains(said),
            "{refused:?}"
        );
        assert!(!refused.message.contains("Heron"), "{refused:?}");
    }

    let file = scene.home.scratch("talk.json");
    fs::write(&file, &exported).unwrap();
    let (out, err, code) = scene.home.harbor(&["sessions", "import", file.to_str().unwrap()]);
    assert!(code == Some(0) && out.contains("the session is there"), "{out} {err}");
    assert_eq!(found(&scene, "heron orta").len(), 3);
}
