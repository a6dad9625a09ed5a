//! Sessions of origins: what their runs share, and when they end.

use harbor_tests::{LIMIT, PROMPT};
use serde_json::{Value, json};

use super::provider::{Round, Say};
use super::scene::Scene;

const SITE: &str = "https://example.com";
const OTHER: &str = "https://other.example";

fn scene(script: impl Fn(&Round) -> Say + Send + Sync + 'static) -> Scene {
    let scene = Scene::new(script);
    scene.bridge.call("llm_set_active", &json!({"provider_id": "p", "model_id": "m"})).unwrap();
    for origin in [SITE, OTHER] {
        let site = scene.bridge.speaking_for(origin);
        site.grant("model:prompt", "ALLOW_ALWAYS", &json!({}));
        site.grant("model:tools", "ALLOW_ALWAYS", &json!({}));
        site.grant("mcp:tools.call", "ALLOW_ALWAYS", &json!({"allowed_tools": ["s/look", "s/find"]}));
    }
    scene
}

fn with(fields: &Value, more: &Value) -> Value {
    let mut all = fields.clone();
    for (name, value) in more.as_object().unwrap() {
        all[name] = value.clone();
    }
    all
}

fn create(scene: &Scene, more: &Value) -> Value {
    let fields = json!({"origin": SITE, "tab_id": 7, "llm": true, "tools": ["s/look"]});
    scene.bridge.call("session_create", &with(&fields, more)).unwrap()["session"].clone()
}

fn of(session: &Value, more: &Value) -> Value {
    with(&json!({"origin": SITE, "tab_id": 7, "session_id": session["sessionId"]}), more)
}

#[test]
fn runs_of_a_session_know_what_was_said_and_share_its_limit() {
    let scene = scene(|round| {
        let messages = round.body["messages"].as_array().unwrap();
        match messages.last().unwrap()["role"] == "user" && !round.tools.is_empty() {
            true => round.call("c", "look", &json!({"n": messages.len()})),
            false => Say::Text("seen".into()),
        }
    });
    let session = create(&scene, &json!({"name": "Trip", "max_tool_calls": 2, "temperature": 0.5}));
    assert_eq!(
        (&session["status"], &session["type"], &session["name"]),
        (&json!("active"), &json!("explicit"), &json!("Trip"))
    );
    let can = json!({"hasLLM": true, "toolCount": 1, "hasBrowserAccess": false});
    assert_eq!(session["capabilities"], can);
    let run = |task: &str| scene.bridge.call("run_start", &of(&session, &json!({"task": task})));
    for task in ["first", "second"] {
        assert_eq!(run(task).unwrap()["output"], "seen");
    }
    let rounds = scene.provider.rounds();
    assert_eq!(rounds[0].tools, ["s_look"], "no more than the session may");
    assert_eq!(rounds[0].body["temperature"], 0.5);
    let said = rounds[2].body["messages"].to_string();
    assert!(said.contains("first") && said.contains("second"), "{said}");
    assert_eq!(run("third").unwrap_err().code, "ERR_BUDGET_EXCEEDED");
    let got = scene.bridge.call("session_get", &of(&session, &json!({}))).unwrap()["session"].clone();
    assert_eq!((&got["usage"]["promptCount"], &got["usage"]["toolCallCount"]), (&json!(2), &json!(2)));
    assert!(got["usage"]["tokensUsed"].as_u64() > Some(0), "{got}");
    let fields = of(&session, &json!({"task": "x", "tools": ["s/find"]}));
    assert_eq!(scene.bridge.call("run_start", &fields).unwrap_err().code, "ERR_BUDGET_EXCEEDED");
}

#[test]
fn a_session_is_its_tabs_and_its_origins_and_ends_with_the_tab() {
    let scene = scene(|_| Say::Hang);
    let session = create(&scene, &json!({}));
    let get = |more: &Value| scene.bridge.call("session_get", &of(&session, more));
    for other in [json!({"origin": OTHER}), json!({"tab_id": 8})] {
        assert_eq!(get(&other).unwrap_err().code, "not_found");
    }
    let list = |more: &Value| {
        let fields = with(&json!({"origin": SITE, "tab_id": 7}), more);
        scene.bridge.call("session_list", &fields).unwrap()["sessions"].as_array().unwrap().len()
    };
    assert_eq!((list(&json!({})), list(&json!({"origin": OTHER}))), (1, 0));
    let run = scene.bridge.request("run_start", &of(&session, &json!({"task": "x", "stream": true})));
    let _ = scene.bridge.wait_for_push("run_event", LIMIT, |push| push["event"]["type"] == "token");
    let busy = scene.bridge.call("run_start", &of(&session, &json!({"task": "y"}))).unwrap_err();
    assert_eq!(busy.code, "ERR_RATE_LIMITED");
    scene.bridge.call("host_expire_tab_grants", &json!({"tab_id": 7})).unwrap();
    assert_eq!(run.wait(PROMPT).unwrap_err().code, "cancelled");
    assert_eq!((get(&json!({})).unwrap_err().code.as_str(), list(&json!({}))), ("not_found", 0));
}

#[test]
fn ending_a_session_ends_its_run_and_is_answered_with_what_it_was() {
    let scene = scene(|_| Say::Hang);
    let session = create(&scene, &json!({}));
    let run = scene.bridge.request("run_start", &of(&session, &json!({"task": "x", "stream": true})));
    let _ = scene.bridge.wait_for_push("run_event", LIMIT, |push| push["event"]["type"] == "token");
    let ended = scene.bridge.call("session_end", &of(&session, &json!({}))).unwrap();
    assert_eq!(ended["session"]["status"], "terminated");
    let last = scene.bridge.wait_for_push("run_event", LIMIT, |push| push["event"]["type"] != "token");
    assert_eq!(
        (&last["event"]["type"], &last["event"]["error"]["code"]),
        (&json!("error"), &json!("cancelled"))
    );
    assert_eq!(run.wait(PROMPT).unwrap_err().code, "cancelled");
    assert_eq!(scene.bridge.call("session_end", &of(&session, &json!({}))).unwrap_err().code, "not_found");
}

#[test]
fn a_session_gets_only_what_its_origin_was_granted() {
    let scene = scene(|_| Say::Text("never".into()));
    let refused = |more: &Value| {
        let fields = with(&json!({"origin": SITE}), more);
        scene.bridge.call("session_create", &fields).unwrap_err().code
    };
    assert_eq!(refused(&json!({"origin": "https://nobody.example", "llm": true})), "ERR_SCOPE_REQUIRED");
    assert_eq!(refused(&json!({"llm": true, "tools": ["s/write"]})), "ERR_TOOL_NOT_ALLOWED");
    assert_eq!(refused(&json!({})), "invalid_params");
    assert_eq!(refused(&json!({"llm": true, "temperature": 3})), "invalid_params");
    let session = create(&scene, &json!({}));
    let more = json!({"task": "x", "tools": ["s/find"]});
    assert_eq!(
        scene.bridge.call("run_start", &of(&session, &more)).unwrap_err().code,
        "ERR_TOOL_NOT_ALLOWED"
    );
    let silent = create(&scene, &json!({"llm": false}));
    let error = scene.bridge.call("run_start", &of(&silent, &json!({"task": "x"}))).unwrap_err();
    assert_eq!(error.code, "ERR_SCOPE_REQUIRED");
    assert!(scene.provider.rounds().is_empty());
}
