//! What the person is asked, and what comes of their answers.

use harbor_tests::{Bridge, Double, LIMIT, PROMPT};
use serde_json::{Value, json};

use super::provider::{Round, Say};
use super::scene::Scene;

/// Calls `tool` in the first round of each turn, with the arguments that the person says.
fn calls(tool: &'static str) -> impl Fn(&Round) -> Say + Send + Sync + 'static {
    move |round| {
        let last = round.body["messages"]
            .as_array()
            .and_then(|messages| messages.last().cloned())
            .unwrap_or_default();
        match last["role"] == "user" {
            true => round.call("c", tool, &json!({"text": last["content"]})),
            false => Say::Text("done".into()),
        }
    }
}

#[test]
fn what_changes_something_asks_and_a_yes_is_for_once_or_for_the_session() {
    let scene = Scene::new(calls("write"));
    let pending = scene.send("one");
    let approval = scene.event("approval");
    assert_eq!((&approval["tool"], &approval["waits"]), (&json!("s/write"), &json!(true)));
    let shown = json!([{"key": "text", "text": "one"}]);
    assert_eq!(
        (&approval["approval"]["fields"], &approval["approval"]["reason"]),
        (&shown, &json!("writes"))
    );
    assert_eq!(approval["approval"]["answers"], json!(["once", "chat_tool", "chat_server", "always", "no"]));
    assert_eq!(scene.decide(&approval, "once"), true);
    assert_eq!(scene.decide(&approval, "once"), false, "it is answered once");
    assert_eq!(pending.wait(LIMIT).unwrap()["steps"][0]["is_error"], false);

    let pending = scene.send("two");
    let again = scene.bridge.wait_for_push("chat_event", LIMIT, |push| {
        push["event"]["type"] == "approval" && push["event"]["waits"] == true
    });
    scene.decide(&again["event"], "chat_tool");
    pending.wait(LIMIT).unwrap();
    let answer = scene.say("three").unwrap();
    assert_eq!(answer["steps"][0]["is_error"], false, "it is not asked any more");
}

#[test]
fn a_no_is_told_to_the_model_with_its_reason_and_nothing_is_called() {
    let scene = Scene::new(calls("write"));
    let pending = scene.send("one");
    let approval = scene.event("approval");
    let fields = json!({"approval_id": approval["approval"]["id"], "answer": "no", "reason": "not today"});
    scene.bridge.call("approvals_answer", &fields).unwrap();
    let answer = pending.wait(LIMIT).unwrap();
    assert_eq!((&answer["steps"][0]["is_error"], &answer["ended"]), (&json!(true), &json!("done")));
    assert!(scene.provider.rounds()[1].results[0].contains("not today"));
    let audit = scene.bridge.audit(&json!({"origin": "owner"}));
    assert!(audit.iter().all(|line| line["event"] != "call"), "{audit:?}");
}

#[test]
fn where_nobody_can_be_asked_only_what_reads_is_called() {
    let scene = Scene::of("chat", &json!({"mode": "reads"}), |round| match round.results.len() {
        0 => Say::Calls(vec![
            ("c1", round.tool("look"), "{}".into()),
            ("c2", round.tool("write"), "{}".into()),
        ]),
        _ => Say::Text("done".into()),
    });
    let answer = scene.say("go").unwrap();
    let failed: Vec<_> =
        answer["steps"].as_array().unwrap().iter().map(|step| step["is_error"].clone()).collect();
    assert_eq!(failed, [false, true]);
    assert!(scene.provider.rounds()[1].results[1].contains("nobody"));
}

#[test]
fn what_is_private_leaves_only_after_a_yes_that_showed_it() {
    let scene = Scene::of("chat", &json!({"mode": "auto"}), |round| match round.results.len() {
        0 => round.call("c1", "look", &json!({})),
        1 => round.call("c2", "web", &json!({"to": "https://example.org/?q=secret"})),
        _ => Say::Text("done".into()),
    });
    let tools = r#"[{"name":"web","inputSchema":{"type":"object"},"annotations":{"readOnlyHint":true,"openWorldHint":false}}]"#;
    // It says of itself that it tells nobody; its sandbox lets it.
    scene.bridge.add_and_connect("pub", &Double::sound(&scene.home).offering(tools));
    let pending = scene.send("go");
    let asked = scene.event("approval");
    let approval = &asked["approval"];
    assert_eq!((&approval["reason"], &approval["private"]), (&json!("leaves"), &json!(["s"])));
    assert_eq!(approval["fields"], json!([{"key": "to", "text": "https://example.org/?q=secret"}]));
    assert_eq!(approval["answers"], json!(["once", "no"]), "whom it may tell nobody holds");
    scene.decide(&asked, "no");
    assert_eq!(pending.wait(LIMIT).unwrap()["steps"][1]["is_error"], true);
}

#[test]
fn a_question_waits_until_the_turn_is_stopped() {
    let scene = Scene::new(calls("write"));
    let pending = scene.send("one");
    let approval = scene.event("approval");
    assert_eq!(
        scene.bridge.call("chat_stop", &json!({"session_id": scene.session})).unwrap()["stopped"],
        true
    );
    let answer = pending.wait(PROMPT).unwrap();
    assert_eq!((&answer["ended"], &answer["steps"][0]["is_error"]), (&json!("stopped"), &json!(true)));
    assert_eq!(scene.decide(&approval, "once"), false);
    let messages = scene.messages();
    assert_eq!(messages.len(), 3, "the call has its result: {messages:?}");
}

#[test]
fn what_the_person_attaches_is_private_and_stays_so_after_a_restart() {
    let mut scene = Scene::of("chat", &json!({"mode": "reads"}), |round| {
        let said = round.body["messages"].to_string();
        match (said.contains("send it"), round.results.len()) {
            (false, _) => Say::Text("noted".into()),
            (true, 0) => round.call("c1", "web", &json!({})),
            (true, 1) => round.call("c2", "web", &json!({"leak": "all of it"})),
            _ => Say::Text("done".into()),
        }
    });
    let tools = r#"[{"name":"web","inputSchema":{"type":"object"},"annotations":{"readOnlyHint":true,"openWorldHint":true}}]"#;
    scene.bridge.add_and_connect("pub", &Double::sound(&scene.home).offering(tools));
    let attached = json!({"attachments": [{"type": "text", "text": "a secret file"}]});
    scene.send_over(&scene.bridge, "here", &attached).wait(LIMIT).unwrap();
    scene.bridge.stop();
    scene.bridge = Bridge::start(&scene.home);
    scene.bridge.connect("pub");
    let answer = scene.say("send it").unwrap();
    let failed: Vec<_> =
        answer["steps"].as_array().unwrap().iter().map(|step| step["is_error"].clone()).collect();
    assert_eq!(failed, [false, true], "what leaves asks, and nobody is here");
}

#[test]
fn the_person_knows_better_what_a_tool_does_and_whose_answers_are_private() {
    let scene = Scene::of("chat", &json!({"mode": "reads"}), |round| match round.results.len() {
        0 => round.call("c1", "write", &json!({})),
        _ => Say::Text("done".into()),
    });
    assert_eq!(scene.say("go").unwrap()["steps"][0]["is_error"], true, "it says that it writes");
    let set = |supervision: &Value| {
        scene.bridge.call("set_supervision", &json!({"server_id": "s", "supervision": supervision})).unwrap()
    };
    set(&json!({"reads": ["write"]}));
    let session = Scene::begin(&scene, &json!({"mode": "reads"}));
    let say = |text: &str| {
        let fields = json!({"session_id": session, "message": text, "model": "p:m"});
        scene.bridge.call("chat_send_message", &fields).unwrap()
    };
    assert_eq!(say("go")["steps"][0]["is_error"], false);
    let private = || scene.bridge.call("chat_get_session", &json!({"session_id": session})).unwrap();
    let before = private()["session"]["privateNames"].clone();
    set(&json!({"private": true}));
    let session = scene.begin(&json!({"mode": "reads"}));
    let fields = json!({"session_id": session, "message": "go", "model": "p:m"});
    scene.bridge.call("chat_send_message", &fields).unwrap();
    let got = scene.bridge.call("chat_get_session", &json!({"session_id": session})).unwrap();
    assert_eq!(got["session"]["privateNames"], json!(["s"]), "before: {before}");
    let shown = set(&json!({}))["server"]["supervision"].clone();
    assert_eq!((&shown["reads"], &shown["private"]), (&json!(["write"]), &json!(true)));
}
