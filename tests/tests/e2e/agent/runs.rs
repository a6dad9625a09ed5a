//! Runs of origins: what they were granted, and nothing else.

use harbor_tests::{LIMIT, PROMPT, wait_until};
use serde_json::{Value, json};

use super::provider::Say;
use super::scene::Scene;

const SITE: &str = "https://example.com";

fn grant(scene: &Scene, scope: &str, more: &Value) {
    let mut fields = json!({"origin": SITE, "scope": scope, "grant_type": "ALLOW_ALWAYS"});
    for (name, value) in more.as_object().unwrap() {
        fields[name] = value.clone();
    }
    scene.bridge.call("host_grant_permission", &fields).unwrap();
}

fn granted(script: impl Fn(&super::provider::Round) -> Say + Send + Sync + 'static) -> Scene {
    let scene = Scene::new(script);
    scene.bridge.call("llm_set_active", &json!({"provider_id": "p", "model_id": "m"})).unwrap();
    for scope in ["model:prompt", "model:tools"] {
        grant(&scene, scope, &json!({}));
    }
    grant(&scene, "mcp:tools.call", &json!({"allowed_tools": ["s/look", "s/write"]}));
    scene
}

#[test]
fn a_run_uses_what_was_granted_and_tells_what_happens() {
    let scene = granted(|round| match round.results.len() {
        0 => round.call("c", "look", &json!({"at": 1})),
        _ => Say::Text("seen".into()),
    });
    let run = scene.bridge.request("run_start", &json!({"origin": SITE, "task": "look", "stream": true}));
    let answer = run.wait(LIMIT).unwrap();
    assert_eq!((&answer["output"], &answer["usage"]["output_tokens"]), (&json!("seen"), &json!(14)));
    let pushes: Vec<_> = std::iter::from_fn(|| scene.bridge.push_now("run_event")).collect();
    let kinds: Vec<_> = pushes.iter().map(|push| push["event"]["type"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["tool_call", "tool_result", "token", "final"]);
    assert_eq!(pushes[1]["event"]["result"]["structuredContent"], json!({"at": 1}), "{}", pushes[1]);
    let numbers: Vec<_> = pushes.iter().map(|push| push["seq"].as_u64().unwrap()).collect();
    assert_eq!(numbers, [0, 1, 2, 3]);
    let rounds = scene.provider.rounds();
    assert_eq!(rounds[0].tools, ["s_look", "s_write"], "it is told of nothing else");
    let audit = scene.bridge.audit(&json!({"origin": SITE}));
    let call = audit.iter().find(|line| line["event"] == "call").unwrap();
    assert_eq!((&call["tool"], &call["run_id"]), (&json!("look"), &answer["run_id"]));
}

#[test]
fn what_was_not_granted_is_refused_before_anything_is_asked() {
    let scene = Scene::new(|_| Say::Text("never".into()));
    let run = |more: &Value| {
        let mut fields = json!({"origin": SITE, "task": "x"});
        for (name, value) in more.as_object().unwrap() {
            fields[name] = value.clone();
        }
        scene.bridge.call("run_start", &fields).unwrap_err()
    };
    assert_eq!(run(&json!({})).code, "ERR_SCOPE_REQUIRED");
    for scope in ["model:prompt", "model:tools"] {
        grant(&scene, scope, &json!({}));
    }
    grant(&scene, "mcp:tools.call", &json!({"allowed_tools": ["s/look"]}));
    assert_eq!(run(&json!({"tools": ["s/write"]})).code, "ERR_TOOL_NOT_ALLOWED");
    assert_eq!(run(&json!({"task": " "})).code, "invalid_params");
    assert!(scene.provider.rounds().is_empty());
}

#[test]
fn a_run_ends_with_its_budget_its_request_and_its_grant() {
    let scene = granted(|round| {
        match (round.tools.is_empty(), round.body["messages"].to_string().contains("hang")) {
            (_, true) => Say::Hang,
            (true, _) => Say::Text("enough".into()),
            (false, _) => round.call("c", "look", &json!({"n": round.results.len()})),
        }
    });
    let answer =
        scene.bridge.call("run_start", &json!({"origin": SITE, "task": "x", "max_tool_calls": 2})).unwrap();
    assert_eq!(answer["output"], "enough");
    let task = json!({"origin": SITE, "task": "hang", "stream": true});
    let run = scene.bridge.request("run_start", &task);
    let _ = scene.bridge.wait_for_push("run_event", LIMIT, |push| {
        push["event"]["type"] == "token" && push["event"]["token"] == "and"
    });
    scene.bridge.call("cancel", &json!({"target": run.id})).unwrap();
    assert_eq!(run.wait(PROMPT).unwrap_err().code, "cancelled");
    wait_until("the provider is left", PROMPT, || scene.provider.left() == 1);
    let run = scene.bridge.request("run_start", &task);
    let _ = scene.bridge.wait_for_push("run_event", LIMIT, |push| push["event"]["token"] == "and");
    scene.bridge.call("host_revoke_permission", &json!({"origin": SITE, "scope": "model:tools"})).unwrap();
    assert_eq!(run.wait(PROMPT).unwrap_err().code, "ERR_SCOPE_REQUIRED");
    wait_until("the provider is left", PROMPT, || scene.provider.left() == 2);
}

#[test]
fn a_run_asks_nobody_and_writes_nothing_after_untrusted_text() {
    let scene = granted(|round| match round.results.len() {
        0 => round.call("c1", "write", &json!({})),
        1 => round.call("c2", "post", &json!({"x": 1})),
        2 => round.call("c3", "write", &json!({})),
        _ => Say::Text("done".into()),
    });
    grant(&scene, "mcp:tools.call", &json!({"allowed_tools": ["s/look", "s/write", "s/post"]}));
    let answer = scene.bridge.call("run_start", &json!({"origin": SITE, "task": "x"})).unwrap();
    assert_eq!(answer["output"], "done");
    let results = &scene.provider.rounds()[3].results;
    assert!(
        !results[0].contains("a run does not ask") && !results[1].contains("a run does not ask"),
        "{results:?}"
    );
    assert!(results[2].contains("a run does not ask"), "{results:?}");
}
