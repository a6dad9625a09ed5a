//! The person's own names of models, and a model for each use.

use harbor_tests::LIMIT;
use serde_json::{Value, json};

use super::commands::{done, harbor};
use super::scene::{ASKED, SAID, Scene, begin};

fn asked(scene: &Scene) -> Value {
    scene.provider.chats().last().unwrap().body["model"].clone()
}

#[test]
fn a_name_stands_for_its_model_wherever_one_is_named() {
    let mut scene = Scene::new();
    let (_, err, code) = harbor(&scene.home, &["models", "alias"], "");
    assert!(err.contains("`harbor models alias NAME MODEL`") && code == Some(0), "{err}");
    assert_eq!(done(&scene.home, &["models", "alias", "quick", "p:mute"]), "quick stands for p:mute now\n");
    assert_eq!(done(&scene.home, &["ask", ASKED, "--model", "quick"]), format!("Hello {SAID}\n"));
    assert_eq!(asked(&scene), "mute");
    let answer = begin(&scene.bridge, "llm_chat", "quick", &json!({})).wait(LIMIT).unwrap();
    assert_eq!((&answer["provider"], &answer["model"]), (&json!("p"), &json!("mute")));
    scene.bridge.stop();
    scene.bridge = harbor_tests::Bridge::start(&scene.home);
    let session = scene.bridge.call("chat_create_session", &json!({"model": "quick"})).unwrap();
    let said = json!({"session_id": session["session"]["id"], "message": "hi"});
    assert_eq!(scene.bridge.call("chat_send_message", &said).unwrap()["model"], "mute", "it is kept");
    let listed = || scene.bridge.call("llm_list_configured_models", &json!({})).unwrap()["models"].clone();
    assert_eq!(listed(), json!([{"name": "quick", "model_id": "p:mute", "is_default": false}]));
    let default = scene.bridge.call("llm_set_configured_model_default", &json!({"name": "quick"})).unwrap();
    assert_eq!((&default["model_id"], &listed()[0]["is_default"]), (&json!("p:mute"), &json!(true)));
    assert_eq!(scene.bridge.call("llm_get_active", &json!({})).unwrap()["model"], "mute");
    let made = scene.bridge.call("llm_add_configured_model", &json!({"model_id": "p:many"})).unwrap();
    assert_eq!(made["name"], "many");
    for (args, wanted) in [
        (&["models", "alias", "a:b", "p:m"][..], "beginning with a letter"),
        (&["models", "alias", "p", "p:m"][..], "no provider's id"),
        (&["models", "alias", "other", "--remove"][..], "no model has the name other"),
        (&["models", "alias", "other"][..], "no model has the name other"),
    ] {
        let (_, err, code) = harbor(&scene.home, args, "");
        assert!(err.contains(wanted) && code != Some(0), "{args:?}: {err}");
    }
    done(&scene.home, &["models", "alias", "many", "--remove"]);
    assert_eq!(done(&scene.home, &["models", "alias"]), "NAME   MODEL\nquick  p:mute (default)\n");
    // It goes with its provider, and never leads to another one.
    done(&scene.home, &["models", "remove", "p"]);
    assert_eq!(scene.bridge.call("llm_list_configured_models", &json!({})).unwrap()["models"], json!([]));
}

#[test]
fn a_use_has_a_model_of_its_own() {
    let scene = Scene::new();
    let picture = json!({"messages": [{"role": "user", "content": [{"type": "text", "text": "what?"},
        {"type": "image", "mediaType": "image/png", "data": "AAAA"}]}]});
    let ask = |fields: &Value| {
        scene.bridge.call("llm_chat", fields).unwrap();
        asked(&scene)
    };
    assert_eq!(ask(&picture), "m");
    let set = done(&scene.home, &["models", "default", "--for", "vision", "p:mute"]);
    assert_eq!(set, "p:mute is for vision now\n");
    assert_eq!(ask(&picture), "mute");
    assert_eq!(ask(&json!({"messages": [{"role": "user", "content": "x"}]})), "m");
    let session = scene.bridge.call("chat_create_session", &json!({})).unwrap()["session"]["id"].clone();
    let image = json!([{"type": "image", "mediaType": "image/png", "data": "AAAA"}]);
    let said = json!({"session_id": session, "message": "what?", "attachments": image});
    assert_eq!(scene.bridge.call("chat_send_message", &said).unwrap()["model"], "mute");
    let again = json!({"session_id": session, "message": "and?"});
    assert_eq!(
        scene.bridge.call("chat_send_message", &again).unwrap()["model"],
        "mute",
        "the picture is still there"
    );
    done(&scene.home, &["models", "default", "--for", "fast", "p:many"]);
    assert_eq!(ask(&json!({"model": "fast", "messages": [{"role": "user", "content": "x"}]})), "many");
    let alone = json!({"session_id": session, "message": "short?", "tool_choice": "none"});
    assert_eq!(
        scene.bridge.call("chat_send_message", &alone).unwrap()["model"],
        "mute",
        "pictures come first"
    );
    let text = json!([{"role": "user", "content": "x"}]);
    assert_eq!(ask(&json!({"messages": text, "tool_choice": "none"})), "many");
    assert_eq!(ask(&json!({"messages": text})), "m");
    let uses = scene.bridge.call("llm_get_config", &json!({})).unwrap()["uses"].clone();
    assert_eq!(uses, json!([{"use": "fast", "model_id": "p:many"}, {"use": "vision", "model_id": "p:mute"}]));
    assert_eq!(done(&scene.home, &["models", "default", "--for", "fast"]), "p:many is for fast now\n");
    done(&scene.home, &["models", "default", "--for", "vision", "--forget"]);
    assert_eq!(ask(&picture), "m");
    let wrong =
        scene.bridge.call("llm_set_default_for", &json!({"use": "music", "model": "p:m"})).unwrap_err();
    assert_eq!(wrong.code, "invalid_params");
    let (_, err, code) = harbor(&scene.home, &["models", "default", "--for", "fast", "p:nobody"], "");
    assert!(err.contains("no model nobody") && code == Some(5), "{err}");
}
