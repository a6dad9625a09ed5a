//! Pages' own calls and those of AI clients: who is asked, where, and what happens where nobody is.

use harbor_tests::{Client, LIMIT};
use serde_json::json;

use super::scene::{Held, Scene};

const SITE: &str = "https://a.example";

fn scene() -> Scene {
    let scene = Scene::new();
    scene.server("s", Held::Closed, &["wipe!", "note"], &json!({}));
    scene
}

#[test]
fn a_page_is_asked_about_what_destroys_and_after_three_questions_without_a_yes_about_nothing() {
    let scene = scene();
    let browser = Client::attach_browser(&scene.home, "one");
    let page = browser.speaking_for(SITE);
    page.grant("mcp:tools.call", "ALLOW_ALWAYS", &json!({}));
    let refused = page.tool("s/wipe", &json!({})).unwrap_err();
    assert_eq!(refused.details["reason"], "permission_required", "nobody is there: {refused:?}");
    assert!(page.tool("s/note", &json!({})).is_ok(), "it destroys nothing");
    browser.call("approvals_watch", &json!({})).unwrap();
    for n in 0..3 {
        let pending = page.send_tool("s/wipe", &json!({"n": n}));
        let push = browser.wait_for_push("approval", LIMIT, |push| push["waits"] == true);
        let approval = &push["approval"];
        assert_eq!(
            (&approval["who"], &approval["principal"], &approval["own"]),
            (&json!("page"), &json!(SITE), &json!(true))
        );
        scene.answer(approval, &["no"]);
        assert_eq!(pending.wait(LIMIT).unwrap_err().details["reason"], "declined");
    }
    for n in 3..1000 {
        let refused = page.tool("s/wipe", &json!({"n": n})).unwrap_err();
        assert!(matches!(refused.code.as_str(), "ERR_PERMISSION_DENIED" | "ERR_RATE_LIMITED"), "{refused:?}");
    }
    assert!(browser.push_now("approval").is_none_or(|push| push["waits"] == false));
}

#[test]
fn a_missed_question_of_an_ai_client_lets_the_same_call_through_once_it_is_answered() {
    let scene = scene();
    let client = Client::attach_ai(&scene.home, "ai").speaking(&json!({}));
    scene.bridge.speaking_for("client://ai").grant("mcp:tools.call", "ALLOW_ALWAYS", &json!({}));
    let refused = client.tool("s/wipe", &json!({"x": 1})).unwrap_err();
    assert_eq!(refused.details["reason"], "permission_required");
    assert!(refused.message.contains("harbor approvals"), "{refused:?}");
    let missed = scene.bridge.call("approvals_list", &json!({})).unwrap()["waiting"][0].clone();
    assert_eq!((&missed["state"], &missed["who"]), (&json!("missed"), &json!("client")));
    scene.answer(&missed, &["once"]);
    assert!(client.tool("s/wipe", &json!({"x": 2})).is_err(), "it is another call");
    assert!(client.tool("s/wipe", &json!({"x": 1})).is_ok());
}

#[test]
fn an_ai_client_asks_before_its_first_use_of_a_server_and_each_answer_gives_what_it_says() {
    let scene = scene();
    let owner = scene.bridge.speaking_for("client://ai");
    owner.grant("mcp:tools.call", "ALLOW_ALWAYS", &json!({"allowed_tools": ["other/x"]}));
    let client = Client::attach_ai(&scene.home, "ai").speaking(&json!({}));
    let refused = client.tool("s/note", &json!({"x": 1})).unwrap_err();
    assert_eq!(refused.details["permission_required"], "s/note", "{refused:?}");
    let missed = scene.bridge.call("approvals_list", &json!({})).unwrap()["waiting"][0].clone();
    assert_eq!(missed["answers"], json!(["once", "ten_minutes", "always", "no", "never"]));
    scene.answer(&missed, &["once"]);
    assert!(client.tool("s/note", &json!({"x": 2})).is_err(), "it is another call");
    assert!(client.tool("s/note", &json!({"x": 1})).is_ok());
    assert!(client.tool("s/note", &json!({"x": 1})).is_err(), "once");

    scene.bridge.call("approvals_watch", &json!({})).unwrap();
    let asked = |said: &str| {
        let pending = client.send_tool("s/note", &json!({"said": said}));
        let push = scene.bridge.wait_for_push("approval", LIMIT, |push| push["waits"] == true);
        assert_eq!(push["approval"]["reason"], "first_use");
        scene.answer(&push["approval"], &[said]);
        pending.wait(LIMIT)
    };
    assert_eq!(asked("no").unwrap_err().details["reason"], "declined");
    assert!(asked("always").is_ok());
    assert!(client.tool("s/note", &json!({"x": 3})).is_ok());
    let grant = owner.grants()[0].clone();
    assert_eq!(grant["allowed_tools"], json!(["other/x", "s/*"]), "what was given before stays");

    owner.grant("mcp:tools.call", "ALLOW_ALWAYS", &json!({"allowed_tools": ["other/x"]}));
    assert_eq!(asked("never").unwrap_err().details["reason"], "declined");
    let refused = client.tool("s/note", &json!({"x": 4})).unwrap_err();
    assert_eq!(refused.code, "ERR_TOOL_NOT_ALLOWED", "it is not asked about again: {refused:?}");
    scene.bridge.call("approvals_revoke", &json!({"approval_id": "client://ai"})).unwrap();
    assert!(asked("ten_minutes").is_ok());
}

#[test]
fn a_call_of_a_server_that_the_person_stopped_asks_and_starts_it_with_a_yes_or_the_grant() {
    let scene = scene();
    let stop = || scene.bridge.call("disconnect_server", &json!({"server_id": "s"})).unwrap();
    let owner = scene.bridge.speaking_for("client://ai");
    owner.grant("mcp:tools.call", "ALLOW_ALWAYS", &json!({}));
    let client = Client::attach_ai(&scene.home, "ai").speaking(&json!({}));
    stop();
    let refused = client.tool("s/note", &json!({})).unwrap_err();
    assert_eq!(refused.code, "ERR_SERVER_UNAVAILABLE", "nobody is there to be asked: {refused:?}");

    scene.bridge.call("approvals_watch", &json!({})).unwrap();
    let asked = |said: &str| {
        stop();
        let pending = client.send_tool("s/note", &json!({"said": said}));
        let push = scene.bridge.wait_for_push("approval", LIMIT, |push| push["waits"] == true);
        let approval = &push["approval"];
        let told = (&approval["reason"], &approval["answers"]);
        assert_eq!(told, (&json!("starts"), &json!(["once", "always", "no"])));
        scene.answer(approval, &[said]);
        pending.wait(LIMIT)
    };
    assert_eq!(asked("no").unwrap_err().details["reason"], "declined");
    assert!(asked("once").is_ok());
    assert!(asked("always").is_ok(), "once was for that call");
    stop();
    owner.grant("mcp:tools.list", "ALLOW_ALWAYS", &json!({}));
    let tools = client.tools().unwrap();
    assert!(tools.contains(&"s/note".to_owned()), "what its calls start it finds: {tools:?}");
    assert!(client.tool("s/note", &json!({})).is_ok(), "its calls start servers now");
    owner.grant("mcp:server.connect", "DENY", &json!({}));
    stop();
    assert_eq!(client.tool("s/note", &json!({})).unwrap_err().code, "ERR_SERVER_UNAVAILABLE");
    assert_eq!(
        scene.bridge.speaking_for(SITE).tool("s/note", &json!({})).unwrap_err().code,
        "ERR_SCOPE_REQUIRED"
    );
}
