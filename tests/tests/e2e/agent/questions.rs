//! Questions of servers during the calls of a turn, tools that run as tasks, and several calls at once.

use harbor_tests::{Answer, Double, ErrorValue, LIMIT, PROMPT, Pending, wait_until};
use serde_json::{Value, json};

use super::provider::Say;
use super::scene::Scene;

/// Tools of which all but the first only run as tasks.
const TASKS: &str = r#"[
    {"name":"ask_elicitation","inputSchema":{"type":"object"},"annotations":{"readOnlyHint":true}},
    {"name":"task_echo","inputSchema":{"type":"object"},"annotations":{"readOnlyHint":true},"execution":{"taskSupport":"required"}},
    {"name":"task_asks","inputSchema":{"type":"object"},"annotations":{"readOnlyHint":true},"execution":{"taskSupport":"required"}},
    {"name":"task_fails","inputSchema":{"type":"object"},"annotations":{"readOnlyHint":true},"execution":{"taskSupport":"required"}},
    {"name":"task_hangs","inputSchema":{"type":"object"},"annotations":{"readOnlyHint":true},"execution":{"taskSupport":"required"}}]"#;

/// A turn that calls this tool, with the server that has it.
fn calls(tool: &'static str) -> (Scene, Double) {
    calls_of(tool, |double| double)
}

/// The same with another generation of the server.
fn calls_of(tool: &'static str, era: fn(Double) -> Double) -> (Scene, Double) {
    let scene = Scene::new(move |round| match round.results.len() {
        0 => round.call("c", tool, &json!({"n": 7})),
        _ => Say::Text("done".into()),
    });
    let double = era(Double::sound(&scene.home)).closed().offering(TASKS);
    scene.bridge.add_and_connect("t", &double);
    (scene, double)
}

/// A message whose sender answers what servers ask.
fn send_answering(scene: &Scene) -> Pending {
    scene.send_over(&scene.bridge, "go", &json!({"answers": {"elicitation": {"form": {}}}}))
}

/// Answers the next question of a server, and gives it.
fn answer_next(scene: &Scene) -> Value {
    let ask = scene.bridge.next_push("ask", LIMIT);
    let result = json!({"action": "accept", "content": {"name": "Ada"}});
    scene.bridge.call("mcp_answer", &json!({"ask_id": ask["ask_id"], "result": result})).unwrap();
    ask
}

fn told(scene: &Scene) -> String {
    scene.provider.rounds()[1].results[0].clone()
}

fn ended(pending: Pending) -> Result<Answer, ErrorValue> {
    pending.wait(LIMIT)
}

#[test]
fn a_server_asks_whoever_runs_the_turn_and_hears_at_once_that_nobody_is_there() {
    let (scene, _) = calls("ask_elicitation");
    let pending = send_answering(&scene);
    let ask = answer_next(&scene);
    assert_eq!((&ask["server_id"], &ask["params"]["message"]), (&json!("t"), &json!("Your name?")));
    ended(pending).unwrap();
    assert!(told(&scene).contains("Ada"), "{}", told(&scene));

    let (scene, _) = calls("ask_elicitation");
    scene.send("go").wait(PROMPT).unwrap();
    assert!(told(&scene).contains("cancel"), "{}", told(&scene));
}

#[test]
fn a_tool_that_only_runs_as_a_task_is_called_as_one_and_gives_its_own_result() {
    for era in [|double| double, Double::modern] {
        for (tool, is_error, says) in
            [("task_echo", false, r#"{"n":7}"#), ("task_fails", true, "the task has failed")]
        {
            let (scene, double) = calls_of(tool, era);
            let answer = ended(scene.send("go")).unwrap();
            assert_eq!(answer["steps"][0]["is_error"], is_error, "{tool}: {}", told(&scene));
            assert!(told(&scene).contains(says), "{tool}: {}", told(&scene));
            assert_eq!(
                double.journal().count("request tasks/get"),
                3,
                "{tool}: at its interval, until it is over"
            );
        }
        let (scene, _) = calls_of("task_asks", era);
        let pending = send_answering(&scene);
        answer_next(&scene);
        ended(pending).unwrap();
        assert!(told(&scene).contains("Ada"), "what a task asks is asked, too, and once: {}", told(&scene));
    }
}

#[test]
fn a_task_ends_with_its_turn() {
    for era in [|double| double, Double::modern] {
        let (scene, double) = calls_of("task_hangs", era);
        let pending = scene.send("go");
        wait_until("the task to be looked at", LIMIT, || double.journal().count("request tasks/get") > 0);
        scene.bridge.call("chat_stop", &json!({"session_id": scene.session})).unwrap();
        let answer = pending.wait(PROMPT).unwrap();
        assert_eq!((&answer["ended"], &answer["steps"][0]["is_error"]), (&json!("stopped"), &json!(true)));
        wait_until("the task to be given up", LIMIT, || double.journal().count("gave up task_hangs") == 1);
    }

    // One that asks, while the person thinks.
    let (scene, double) = calls_of("task_asks", Double::modern);
    let pending = send_answering(&scene);
    let _ = scene.bridge.next_push("ask", LIMIT);
    scene.bridge.call("chat_stop", &json!({"session_id": scene.session})).unwrap();
    pending.wait(PROMPT).unwrap();
    wait_until("the task to be given up", LIMIT, || double.journal().count("gave up task_asks") == 1);
}

#[test]
fn three_calls_at_once_with_mixed_answers_keep_their_order_and_ids_in_each_format() {
    for (dialect, answers) in [
        ("chat", ["once", "no", "once"]),
        ("anthropic", ["no", "once", "no"]),
        ("ollama", ["no", "chat_tool", ""]),
    ] {
        let scene = Scene::of(dialect, &json!({}), |round| match round.results.len() {
            0 => {
                let call = |id, n: u32| (id, round.tool("s_write"), json!({"n": n}).to_string());
                Say::Calls(vec![call("c1", 1), call("c2", 2), call("c3", 3)])
            }
            _ => Say::Text("done".into()),
        });
        let pending = scene.send("go");
        // The third is covered by the second's answer where that is for the tool.
        for answer in answers.iter().filter(|answer| !answer.is_empty()) {
            let asked = scene.bridge.wait_for_push("chat_event", LIMIT, |push| {
                push["event"]["type"] == "approval" && push["event"]["waits"] == true
            });
            scene.decide(&asked["event"].clone(), answer);
        }
        let answer = ended(pending).unwrap();
        let failed = answers.map(|answer| json!(answer == "no"));
        let steps = answer["steps"].as_array().unwrap();
        assert_eq!(
            steps.iter().map(|step| step["is_error"].clone()).collect::<Vec<_>>(),
            failed,
            "{dialect}"
        );
        let results = &scene.provider.rounds()[1].results;
        for (at, (result, answer)) in results.iter().zip(answers).enumerate() {
            let says = if answer == "no" { "refused".to_owned() } else { format!("{}", at + 1) };
            assert!(result.contains(&says), "{dialect} {at}: {result}");
        }
        let ids: Vec<_> =
            scene.messages()[2..5].iter().map(|message| message["toolCallId"].clone()).collect();
        let unique: std::collections::BTreeSet<_> = ids.iter().map(Value::to_string).collect();
        assert_eq!(unique.len(), 3, "{dialect}: {ids:?}");
    }
}

#[test]
fn a_thousand_tools_that_change_in_mid_turn_are_not_called_as_they_were_told() {
    let tools = |about: &str| {
        let tool = |n: usize| {
            json!({"name": format!("t{n}"), "description": format!("Tool number {n}, {about}."),
            "inputSchema": {"type": "object"}, "annotations": {"readOnlyHint": true}})
        };
        json!((0..1000).map(tool).collect::<Vec<_>>()).to_string()
    };
    let call = |id, name: &str| {
        Say::Calls(vec![(id, "call_tool".into(), json!({"name": name, "arguments": {}}).to_string())])
    };
    let scene = Scene::new(move |round| match round.results.len() {
        0 => call("c1", "many_t77"),
        1 => call("w", "s_write"),
        2 => call("c2", "many_t77"),
        _ => Say::Text("done".into()),
    });
    scene.bridge.add_and_connect("many", &Double::sound(&scene.home).closed().offering(&tools("once")));
    let pending = scene.send("go");
    let asked = scene.event("approval");
    scene.bridge.call("remove_server", &json!({"server_id": "many"})).unwrap();
    scene.bridge.add_and_connect("many", &Double::sound(&scene.home).closed().offering(&tools("twice")));
    scene.decide(&asked, "once");
    let answer = ended(pending).unwrap();
    let failed: Vec<_> =
        answer["steps"].as_array().unwrap().iter().map(|step| step["is_error"].clone()).collect();
    assert_eq!(failed, [false, false, true], "{answer:?}");
    let last = scene.provider.rounds()[3].results[2].clone();
    assert!(last.contains("has changed"), "{last}");
}
