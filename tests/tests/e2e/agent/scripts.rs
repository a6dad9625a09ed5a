//! Scripts of a model: with many tools it writes one in which each call is judged as a call of the turn.

use harbor_tests::{Client, Double, LIMIT, PROMPT};
use serde_json::{Value, json};

use super::provider::{Round, Say};
use super::scene::Scene;

/// Runs this script in the first round.
fn runs(script: &'static str) -> impl Fn(&Round) -> Say + Send + Sync + 'static {
    move |round| match round.results.len() {
        0 => Say::Calls(vec![("c1", "run_script".into(), json!({"script": script}).to_string())]),
        _ => Say::Text("done".into()),
    }
}

/// The next question that waits.
fn question(client: &Client) -> Value {
    let is_asked = |push: &Value| push["event"]["type"] == "approval" && push["event"]["waits"] == true;
    client.wait_for_push("chat_event", LIMIT, is_asked)["event"].clone()
}

#[test]
fn a_model_searches_for_declarations_and_calls_by_a_script() {
    let scene = Scene::new(|round| match round.results.len() {
        0 => Say::Calls(vec![("c1", "search_tools".into(), json!({"query": "number 77"}).to_string())]),
        1 => Say::Calls(vec![("c2", "describe_tool".into(), json!({"name": "many/t77"}).to_string())]),
        2 => {
            let script = "const all = await Promise.all([76, 77].map((n) => tools.many[`t${n}`]({ n })));
                return all.map(({ n }) => n).join(' and ');";
            Say::Calls(vec![("c3", "run_script".into(), json!({"script": script}).to_string())])
        }
        _ => Say::Text("done".into()),
    });
    scene.add_many();
    let answer = scene.say("use the 77th").unwrap();
    let rounds = scene.provider.rounds();
    assert_eq!(rounds[0].tools, ["search_tools", "describe_tool", "run_script"]);
    let declared = "/** Tool number 77. */\ntools.many.t77(): Promise<any>\n";
    assert!(rounds[1].results[0].contains(declared), "{}", rounds[1].results[0]);
    assert!(rounds[2].results[1].contains("Tool number 77."), "{}", rounds[2].results[1]);
    let result = &rounds[3].results[2];
    assert!(result.contains("76 and 77") && result.contains("run_script"), "{result}");
    assert_eq!(
        (&answer["steps"][2]["tool"], &answer["steps"][2]["is_error"]),
        (&json!("run_script"), &json!(false))
    );
    let audit = scene.bridge.audit(&json!({"origin": "owner"}));
    let mut calls: Vec<_> =
        audit.iter().filter(|line| line["event"] == "call").map(|call| call["tool"].to_string()).collect();
    calls.sort_unstable();
    assert_eq!(calls, ["\"t76\"", "\"t77\""], "{audit:?}");
}

#[test]
fn a_yes_is_for_one_call_and_the_question_stands_at_the_step_of_the_script() {
    let script = "await tools.s.look(); const said = [];
        for (const to of ['one', 'two']) said.push(await tools.pub.web({ to }).then(() => 'sent', (error) => error.message));
        return said;";
    let scene = Scene::of("chat", &json!({"mode": "auto"}), runs(script));
    scene.add_many();
    let web = r#"[{"name":"web","inputSchema":{"type":"object"},"annotations":{"readOnlyHint":true}}]"#;
    scene.bridge.add_and_connect("pub", &Double::sound(&scene.home).offering(web));
    let pending = scene.send("go");
    for (to, answer, read) in [("one", "once", json!(["s"])), ("two", "no", json!(["pub", "s"]))] {
        let asked = question(&scene.bridge);
        let approval = &asked["approval"];
        assert_eq!((&approval["tool"], &approval["call_id"]), (&json!("pub/web"), &json!("c1")), "{asked}");
        assert_eq!(approval["fields"], json!([{"key": "to", "text": to}]));
        assert_eq!(
            (&approval["reason"], &approval["private"]),
            (&json!("leaves"), &read),
            "the script has read it"
        );
        scene.decide(&asked, answer);
    }
    assert_eq!(pending.wait(LIMIT).unwrap()["ended"], "done");
    let result = scene.provider.rounds()[1].results[0].clone();
    assert!(result.contains("sent"), "{result}");
}

#[test]
fn a_script_of_a_turn_has_its_tools_and_its_limit_and_ends_with_it() {
    let script = "const all = await Promise.allSettled([tools.s.look(), tools.many.t1(), tools.many.t2(), tools.many.t3()]);
        return all.map(({ status, reason }) => reason?.message ?? status);";
    let mut scene = Scene::new(runs(script));
    scene.add_many();
    scene.session = scene.begin(&json!({"enabled_servers": ["many"]}));
    let few = json!({"max_tool_calls": 2});
    scene.send_over(&scene.bridge, "go", &few).wait(LIMIT).unwrap();
    let result = scene.provider.rounds()[1].results[0].clone();
    assert!(result.contains("there is no tool s/look"), "{result}");
    assert_eq!(
        (result.matches("fulfilled").count(), result.matches("limit of calls").count()),
        (2, 1),
        "{result}"
    );

    let scene = Scene::new(runs("await tools.s.post({}); return 'sent'"));
    scene.add_many();
    let pending = scene.send("go");
    let asked = question(&scene.bridge);
    scene.bridge.call("chat_stop", &json!({"session_id": scene.session})).unwrap();
    assert_eq!(pending.wait(PROMPT).unwrap()["ended"], "stopped");
    assert_eq!(scene.decide(&asked, "once"), false);
}
