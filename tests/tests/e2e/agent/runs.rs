//! Runs of origins: what they were granted, and nothing else.

use harbor_tests::{Double, LIMIT, PROMPT, wait_until};
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
    for named in [json!({"provider": "p"}), json!({"model": "p:m"}), json!({"provider": "no-such"})] {
        let refused = run(&named);
        assert_eq!(refused.details["scope"], "model:list", "{refused:?}");
    }
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

/// Three calls: nothing was read before the first; after it the model has read a result, so the third needs a yes.
fn writes_after_untrusted() -> Scene {
    let scene = granted(|round| match round.results.len() {
        0 => round.call("c1", "write", &json!({})),
        1 => round.call("c2", "look", &json!({"x": 1})),
        2 => round.call("c3", "write", &json!({"y": 2})),
        _ => Say::Text("done".into()),
    });
    grant(&scene, "mcp:tools.call", &json!({"allowed_tools": ["s/look", "s/write", "s/post"]}));
    scene
}

fn started(scene: &Scene, more: &Value) -> harbor_tests::Pending {
    let mut fields = json!({"origin": SITE, "task": "x"});
    for (name, value) in more.as_object().unwrap() {
        fields[name] = value.clone();
    }
    scene.bridge.request("run_start", &fields)
}

fn question(scene: &Scene, waits: bool) -> Value {
    scene.bridge.wait_for_push("approval", LIMIT, |push| push["waits"] == waits)["approval"].clone()
}

/// The bridge's own client shows questions to the person from now on.
fn watch(scene: &Scene) {
    scene.bridge.call("approvals_watch", &json!({})).unwrap();
}

#[test]
fn where_nobody_can_ask_nothing_is_written_after_untrusted_text() {
    let scene = writes_after_untrusted();
    let answer = started(&scene, &json!({})).wait(LIMIT).unwrap();
    assert_eq!(answer["output"], "done");
    let results = &scene.provider.rounds()[3].results;
    let refused = |at: usize| results[at].contains("nobody is here to approve it");
    assert_eq!([refused(0), refused(1), refused(2)], [false, false, true], "{results:?}");
    assert!(scene.bridge.push_now("approval").is_none());
}

#[test]
fn the_person_is_asked_and_their_yes_is_for_this_call() {
    let scene = writes_after_untrusted();
    watch(&scene);
    for (said, is_error) in [("once", false), ("no", true)] {
        let run = started(&scene, &json!({"stream": true}));
        let asked = question(&scene, true);
        assert_eq!(
            (&asked["tool"], &asked["who"], &asked["principal"], &asked["own"]),
            (&json!("s/write"), &json!("run"), &json!(SITE), &json!(true))
        );
        assert_eq!((&asked["reason"], &asked["answers"]), (&json!("untrusted"), &json!(["once", "no"])));
        let fields = json!({"approval_id": asked["id"], "answer": said});
        let answer = || scene.bridge.call("approvals_answer", &fields).unwrap()["answered"].clone();
        assert_eq!((answer(), answer()), (json!(true), json!(false)), "it is answered once");
        assert_eq!(question(&scene, false)["id"], asked["id"]);
        assert_eq!(run.wait(LIMIT).unwrap()["output"], "done");
        let third = scene.bridge.wait_for_push("run_event", LIMIT, |push| {
            push["event"]["type"] == "tool_result" && push["event"]["callId"] == "c3"
        });
        assert_eq!(third["event"]["error"].is_null(), !is_error, "{third}");
    }
}

#[test]
fn a_question_ends_with_its_run() {
    let scene = writes_after_untrusted();
    watch(&scene);
    let run = started(&scene, &json!({}));
    let asked = question(&scene, true);
    scene.bridge.call("cancel", &json!({"target": run.id})).unwrap();
    assert_eq!(run.wait(PROMPT).unwrap_err().code, "cancelled");
    let fields = json!({"approval_id": asked["id"], "answer": "once"});
    assert_eq!(scene.bridge.call("approvals_answer", &fields).unwrap()["answered"], false);
    let audit = scene.bridge.audit(&json!({"origin": SITE}));
    assert_eq!(audit.iter().filter(|line| line["event"] == "call" && line["tool"] == "write").count(), 1);
}

#[test]
fn a_run_calls_what_declares_that_it_destroys_only_after_a_yes() {
    let scene = granted(|round| match round.results.len() {
        0 => round.call("c1", "wipe", &json!({"x": "all"})),
        _ => Say::Text("done".into()),
    });
    let tools = r#"[{"name":"wipe","inputSchema":{"type":"object"},"annotations":{"destructiveHint":true}}]"#;
    let double = Double::sound(&scene.home).closed().offering(tools);
    scene.bridge.add_and_connect("lab", &double);
    grant(&scene, "mcp:tools.call", &json!({"allowed_tools": ["lab/wipe"]}));
    started(&scene, &json!({})).wait(LIMIT).unwrap();
    assert!(scene.provider.rounds()[1].results[0].contains("delete or overwrite"), "nobody is here");
    watch(&scene);
    let run = started(&scene, &json!({}));
    assert_eq!(question(&scene, true)["reason"], "destroys");
    assert_eq!(double.journal().count("call wipe"), 0);
    scene.bridge.call("cancel", &json!({"target": run.id})).unwrap();
    run.wait(PROMPT).unwrap_err();
}

#[test]
fn more_calls_than_the_origin_may_make_are_capped() {
    let scene = granted(|round| match round.tools.is_empty() {
        true => Say::Text("enough".into()),
        false => round.call("c", "look", &json!({"n": round.results.len()})),
    });
    let answer = started(&scene, &json!({"max_tool_calls": 1000})).wait(LIMIT).unwrap();
    assert_eq!(answer["output"], "enough");
    assert_eq!(scene.provider.rounds().last().unwrap().results.len(), 5, "limits.maxCallsPerRun");
}

#[test]
fn an_answer_with_citations_points_at_its_calls() {
    let scene = granted(|round| match round.results.len() {
        0 => round.call("c1", "look", &json!({"at": 1})),
        1 => round.call("c2", "look", &json!({"at": 2})),
        _ => Say::Text(r#"Two [2]. Nine [9]. One [1: "{"AT": 1}"]. Three [1: "at three, they say"]."#.into()),
    });
    let answer = started(&scene, &json!({"require_citations": true})).wait(LIMIT).unwrap();
    assert_eq!(answer["output"], "Two [1]. Nine. One [2]. Three.", "words that are not there cite nothing");
    let quoted = answer["citations"][1]["excerpt"].as_str().unwrap();
    assert_eq!(quoted.to_lowercase().replace(' ', ""), r#"{"at":1}"#);
    let cited = &answer["citations"][0];
    assert_eq!((&cited["source"], &cited["ref"]), (&json!("s/look"), &json!("c2")));
    assert!(cited["excerpt"].as_str().unwrap().contains('2'), "{cited}");
    let last = &scene.provider.rounds()[2].results;
    assert!(last[0].starts_with("[1]\n") && last[1].starts_with("[2]\n"), "{last:?}");
    assert!(started(&scene, &json!({})).wait(LIMIT).unwrap()["citations"].is_null());
}

#[test]
fn what_is_switched_off_for_pages_no_page_has() {
    let scene = granted(|_| Say::Text("hello".into()));
    scene.home.configure("[pages]\nagentRuns = false\n");
    harbor_tests::wait_until("the file is read", LIMIT, || {
        scene.bridge.call("get_config", &json!({})).unwrap()["config"]
            .as_str()
            .unwrap()
            .contains("agentRuns = false")
    });
    let error = started(&scene, &json!({})).wait(LIMIT).unwrap_err();
    assert_eq!(
        (error.code.as_str(), &error.details["feature"]),
        ("ERR_FEATURE_DISABLED", &json!("agentRuns"))
    );
    let session = json!({"origin": SITE, "llm": true});
    assert_eq!(scene.bridge.call("session_create", &session).unwrap_err().code, "ERR_FEATURE_DISABLED");
    assert!(scene.provider.rounds().is_empty());
}

#[test]
fn what_is_too_large_for_an_event_is_said_and_its_end_is_in_the_answer() {
    let large = "a".repeat(100_000);
    let said = large.clone();
    let scene = granted(move |round| match round.results.len() {
        0 => round.call("c", "look", &json!({"at": said})),
        _ => Say::Text(said.clone()),
    });
    scene.bridge.call("hello", &json!({"chunks": true, "max_frame": 65_536})).unwrap();
    let run = scene.bridge.request("run_start", &json!({"origin": SITE, "task": "look", "stream": true}));
    assert_eq!(run.wait(LIMIT).unwrap()["output"], large);
    let pushes: Vec<_> = std::iter::from_fn(|| scene.bridge.push_now("run_event")).collect();
    let told = |kind: &str| pushes.iter().find(|push| push["event"]["type"] == kind);
    for kind in ["tool_call", "tool_result"] {
        assert_eq!(told(kind).unwrap()["event"]["error"]["code"], "message_too_large", "{kind}");
    }
    assert!(told("final").is_none(), "the answer says it");
    let numbers: Vec<_> = pushes.iter().map(|push| push["seq"].as_u64().unwrap()).collect();
    assert_eq!(numbers, (0..numbers.len() as u64).collect::<Vec<_>>());
}
