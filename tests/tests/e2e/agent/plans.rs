//! Plans: approved once as data, changed with a reason and another yes, and gone with their turn.

use harbor_tests::{Double, LIMIT, Pending};
use serde_json::{Value, json};

use super::provider::{Round, Say};
use super::scene::{Scene, TOOLS};

/// A call of the tool by which a model proposes a plan.
fn proposes(id: &'static str, servers: &[&str], reason: &str) -> (&'static str, String, String) {
    let plan = json!({"servers": servers, "kinds": ["write"], "reason": reason});
    (id, "update_plan".into(), plan.to_string())
}

fn writes(round: &Round, id: &'static str, server: &str) -> (&'static str, String, String) {
    (id, round.tool(&format!("{server}_write")), json!({"n": id}).to_string())
}

/// A session in mode `plan`, with two servers, whose model makes these calls, one in each round of a turn.
fn scene(
    script: impl Fn(&Round, usize) -> Vec<(&'static str, String, String)> + Send + Sync + 'static,
) -> Scene {
    let scene = Scene::of("chat", &json!({"mode": "plan"}), move |round| {
        let messages = round.body["messages"].as_array().unwrap();
        let said = messages.iter().rposition(|message| message["role"] == "user").unwrap();
        let results = messages[said..].iter().filter(|message| message["role"] == "tool").count();
        match script(round, results) {
            calls if calls.is_empty() => Say::Text("done".into()),
            calls => Say::Calls(calls),
        }
    });
    scene.bridge.add_and_connect("other", &Double::sound(&scene.home).closed().offering(TOOLS));
    scene
}

fn asked(scene: &Scene) -> Value {
    let push = scene.bridge.wait_for_push("chat_event", LIMIT, |push| {
        push["event"]["type"] == "approval" && push["event"]["waits"] == true
    });
    push["event"].clone()
}

fn failed(pending: Pending) -> Vec<Value> {
    let answer = pending.wait(LIMIT).unwrap();
    answer["steps"].as_array().unwrap().iter().map(|step| step["is_error"].clone()).collect()
}

#[test]
fn a_plan_is_asked_about_once_as_data_and_then_calls_within_it_run_alone() {
    let scene = scene(|round, results| match results {
        0 => vec![proposes("p", &["s"], "tidy up"), writes(round, "w1", "s")],
        2 => vec![writes(round, "w2", "s"), writes(round, "w3", "other")],
        4 => vec![proposes("q", &["s", "other"], "it lies there, too"), writes(round, "w4", "other")],
        _ => vec![],
    });
    let pending = scene.send("tidy up");
    let plan = asked(&scene);
    let shown = &plan["approval"];
    assert_eq!(
        (&shown["tool"], &shown["reason"], &shown["who"]),
        (&json!("update_plan"), &json!("plan"), &json!("chat"))
    );
    assert_eq!(shown["answers"], json!(["once", "no"]));
    let kinds = "write: call tools of these servers that change something";
    let fields = json!([{"key": "servers", "text": "s"}, {"key": "kinds", "text": kinds}, {"key": "the model's reason", "text": "tidy up"}]);
    assert_eq!(shown["fields"], fields);
    let whole = scene.bridge.call("approvals_list", &json!({"approval_id": shown["id"]})).unwrap();
    assert_eq!(whole["arguments"]["servers"], "s");
    assert_eq!(scene.decide(&plan, "once"), true);
    // What is beyond the plan is asked about by itself.
    let beyond = asked(&scene);
    assert_eq!(beyond["tool"], "other/write");
    let standing = scene.bridge.call("approvals_list", &json!({})).unwrap()["standing"].clone();
    assert_eq!((&standing[0]["covers"], &standing[0]["what"]), (&json!("plan"), &json!("s, write")));
    scene.decide(&beyond, "no");
    // A change shows what is new.
    let larger = asked(&scene);
    let new = json!({"key": "new", "text": "other"});
    assert!(larger["approval"]["fields"].as_array().unwrap().contains(&new), "{larger}");
    scene.decide(&larger, "once");
    assert_eq!(failed(pending), [false, false, false, true, false, false]);
    // It ends with its turn.
    let pending = scene.send("again");
    let again = asked(&scene);
    assert_eq!(again["tool"], "update_plan");
    scene.decide(&again, "no");
    let single = asked(&scene);
    assert_eq!(single["tool"], "s/write");
    scene.bridge.call("chat_stop", &json!({"session_id": scene.session})).unwrap();
    pending.wait(LIMIT).unwrap();
    assert_eq!(scene.bridge.call("approvals_list", &json!({})).unwrap()["standing"], json!([]));
}

#[test]
fn a_plan_that_asks_for_everything_is_not_shown_nor_a_change_without_a_reason() {
    let scene = scene(|_, results| match results {
        0 => vec![
            proposes("p1", &["*"], "all"),
            proposes("p2", &["browser"], "the browser"),
            proposes("p3", &["s"], "x"),
        ],
        3 => vec![proposes("p4", &["s", "other"], "")],
        _ => vec![],
    });
    let pending = scene.send("do all");
    let plan = asked(&scene);
    assert_eq!(
        plan["approval"]["fields"][0],
        json!({"key": "servers", "text": "s"}),
        "the first that is one"
    );
    scene.decide(&plan, "once");
    assert_eq!(failed(pending), [true, true, false, true]);
    let results = &scene.provider.rounds()[2].results;
    let told = ["one by one", "do not have", "approved", "`reason`"];
    told.iter().zip(results).for_each(|(told, result)| assert!(result.contains(told), "{result}"));
}

#[test]
fn a_plan_covers_nothing_that_destroys_or_leaves() {
    let tools = r#"[{"name":"wipe","inputSchema":{"type":"object"},"annotations":{"destructiveHint":true}},
        {"name":"send","inputSchema":{"type":"object"},"annotations":{"readOnlyHint":false}}]"#;
    let scene = scene(|round, results| match results {
        0 => vec![proposes("p", &["s", "net"], "x"), ("r", round.tool("s_look"), "{}".into())],
        2 => vec![
            ("w", round.tool("net_wipe"), "{}".into()),
            ("s", round.tool("net_send"), r#"{"x":"all of it"}"#.into()),
        ],
        _ => vec![],
    });
    scene.bridge.add_and_connect("net", &Double::sound(&scene.home).offering(tools));
    let pending = scene.send("go");
    scene.decide(&asked(&scene), "once");
    for reason in ["destroys", "leaves"] {
        let call = asked(&scene);
        assert_eq!(call["approval"]["reason"], reason, "{call}");
        scene.decide(&call, "no");
    }
    assert_eq!(failed(pending), [false, false, true, true]);
}

/// A branch of a session from its beginning on.
fn branch(scene: &Scene, id: &str) -> Value {
    let branched = scene.bridge.call("chat_branch", &json!({"session_id": id, "message_id": 0})).unwrap();
    branched["session"].clone()
}

#[test]
fn a_branch_of_a_branch_while_a_turn_runs_has_nothing_of_its_plan() {
    let mut scene = scene(|round, results| match results {
        0 if round.body["messages"].to_string().contains("begin") => {
            vec![proposes("p", &["s"], "x"), writes(round, "w", "other")]
        }
        _ => vec![],
    });
    scene.say("one").unwrap();
    let root = std::mem::take(&mut scene.session);
    let child = branch(&scene, &root);
    assert_eq!(child["mode"], "plan");
    scene.session = child["id"].as_str().unwrap().to_owned();
    let pending = scene.send("begin");
    scene.decide(&asked(&scene), "once");
    // The plan holds, and the call beyond it waits: the turn runs.
    let waiting = asked(&scene);
    let grandchild = branch(&scene, &scene.session);
    assert_eq!((&grandchild["branchOf"], &grandchild["turn_id"]), (&json!(root), &Value::Null));
    scene.session = grandchild["id"].as_str().unwrap().to_owned();
    let other = scene.send("begin");
    let plan = asked(&scene);
    assert_eq!(plan["tool"], "update_plan", "it has no plan of its own");
    scene.decide(&plan, "no");
    let single = asked(&scene);
    assert_eq!(
        (&single["tool"], &single["approval"]["session_id"]),
        (&json!("other/write"), &json!(scene.session))
    );
    scene.decide(&single, "no");
    assert_eq!(failed(other), [true, true]);
    scene.decide(&waiting, "once");
    assert_eq!(failed(pending), [false, false]);
}
