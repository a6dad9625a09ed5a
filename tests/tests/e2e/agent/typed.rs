//! `harbor ask --tools`, `harbor sessions`, and a model that calls no tools, all of it typed.

use std::io::Read as _;
use std::os::unix::process::ExitStatusExt as _;
use std::process::Stdio;

use harbor_tests::{Double, LIMIT, Terminal, programs, wait_until};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::json;

use super::provider::Say;
use super::scene::Scene;

/// Stdout, stderr and exit code of `harbor`.
fn harbor(scene: &Scene, args: &[&str]) -> (String, String, Option<i32>) {
    let mut command = scene.home.command("harbor");
    command.args(args).stdin(Stdio::null());
    let output = command.output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (text(output.stdout), text(output.stderr), output.status.code())
}

#[test]
fn harbor_ask_calls_tools_in_each_format_and_prints_each_call() {
    for dialect in ["chat", "anthropic", "ollama", "responses", "gemini"] {
        let scene = Scene::of(dialect, &json!({}), |round| match round.results.len() {
            0 => round.call("c1", "get_current_time", &json!({"timezone": "Asia/Tokyo"})),
            _ => Say::Text("It is 21:04 there.".into()),
        });
        let tools = r#"[{"name":"get_current_time","inputSchema":{"type":"object"},"annotations":{"readOnlyHint":true}}]"#;
        scene.bridge.add_and_connect("time", &Double::sound(&scene.home).closed().offering(tools));
        let question = "what time is it in Tokyo?";
        let (out, err, code) = harbor(&scene, &["ask", "--model", "p:m", "--tools", "time", question]);
        assert_eq!((out.as_str(), code), ("It is 21:04 there.\n", Some(0)), "{dialect}: {err}");
        assert!(err.contains("time/get_current_time") && err.contains("Asia/Tokyo"), "{dialect}: {err}");
        let rounds = scene.provider.rounds();
        assert_eq!(rounds[0].tools, ["time_get_current_time"], "{dialect}: of this server alone");
        let (out, _, code) = harbor(&scene, &["sessions", "--json"]);
        assert!(!out.contains("Tokyo") && code == Some(0), "{dialect}: it was private: {out}");
    }
}

#[test]
fn a_task_with_three_servers_runs_and_what_changes_something_is_refused_without_a_terminal() {
    let scene = Scene::new(|round| match round.results.len() {
        0 => round.call("c1", "a_look", &json!({"n": 1})),
        1 => round.call("c2", "b_look", &json!({"n": 2})),
        2 => round.call("c3", "c_write", &json!({"n": 3})),
        _ => Say::Text("done".into()),
    });
    for name in ["a", "b", "c"] {
        scene
            .bridge
            .add_and_connect(name, &Double::sound(&scene.home).closed().offering(super::scene::TOOLS));
    }
    let ask = |more: &[&str]| {
        harbor(&scene, &[&["ask", "--model", "p:m", "--tools", "a,b,c", "--json"], more, &["do it"]].concat())
    };
    let (out, err, code) = ask(&[]);
    let last = out.lines().last().unwrap_or_default();
    let answer: serde_json::Value = serde_json::from_str(last).unwrap_or_else(|_| panic!("{out} {err}"));
    let failed: Vec<_> =
        answer["steps"].as_array().unwrap().iter().map(|step| step["is_error"].clone()).collect();
    assert_eq!((failed, code), (vec![json!(false), json!(false), json!(true)], Some(0)), "{err}");
    let (_, err, code) = harbor(&scene, &["ask", "--model", "p:m", "--tools", "nope", "do it"]);
    assert!(err.contains("nope") && code != Some(0), "{err}");

    let by_prompt = |more: &[&str]| {
        harbor(&scene, &[&["ask", "--model", "p:m", "--tools", "a,b,c", "--prompt", "search"], more].concat())
    };
    let (_, err, code) = by_prompt(&["question=Do herons migrate?"]);
    let last = scene.provider.rounds().pop().unwrap().body["messages"].to_string();
    assert!(last.contains("Find out on the web: Do herons migrate?") && code == Some(0), "{last} {err}");
    for wrong in [&[][..], &["question=@/etc/hosts"], &["x=y", "question=z"]] {
        let (_, err, code) = by_prompt(wrong);
        assert!(err.contains("--prompt") && code == Some(2), "{wrong:?}: {err}");
    }
}

#[test]
fn a_yes_for_every_session_lasts_until_it_is_revoked_or_the_tool_changes() {
    let mut scene = Scene::new(|round| match round.results.len() {
        0 => round.call("c", "write_it", &json!({})),
        _ => Say::Text("done".into()),
    });
    let tools = |about: &str| {
        json!([{"name": "write_it", "description": about, "inputSchema": {"type": "object"}}]).to_string()
    };
    let double = Double::sound(&scene.home).closed().offering(&tools("a"));
    scene.bridge.add_and_connect("other", &double);
    let pending = scene.send("go");
    let approval = scene.event("approval");
    scene.decide(&approval, "always");
    pending.wait(LIMIT).unwrap();
    scene.bridge.stop();
    scene.bridge = harbor_tests::Bridge::start(&scene.home);
    scene.bridge.connect("other");
    scene.session = scene.begin(&json!({}));
    assert_eq!(scene.say("go").unwrap()["steps"][0]["is_error"], false, "nobody was asked");
    let (out, _, _) = harbor(&scene, &["approvals"]);
    assert!(out.contains("other/write_it"), "{out}");
    let (_, err, code) = harbor(&scene, &["approvals", "revoke", "other/write_it"]);
    assert!(code == Some(0), "{err}");
    scene.session = scene.begin(&json!({"mode": "reads"}));
    assert_eq!(scene.say("go").unwrap()["steps"][0]["is_error"], true);
}

#[test]
fn a_model_that_calls_no_tools_writes_steps_that_its_server_forces() {
    let scene = Scene::new(|round| match round.body["response_format"].is_null() {
        true => Say::Text("never".into()),
        false if round.body["messages"].as_array().unwrap().len() == 2 => {
            Say::Text(r#"{"tool":"s_look","arguments":{"at":"noon"}}"#.into())
        }
        false => Say::Text(r#"{"answer":"I looked."}"#.into()),
    });
    let base = format!("http://127.0.0.1:{}/stepwise/v1", scene.provider.server.port);
    let fields =
        json!({"provider_type": "llama-server", "name": "steps", "base_url": base, "dialect": "chat"});
    scene.bridge.call("llm_add_provider", &fields).unwrap();
    let pending = scene.send_over(&scene.bridge, "look", &json!({"model": "steps:m"}));
    let answer = pending.wait(LIMIT).unwrap();
    assert_eq!((&answer["response"], &answer["steps"][0]["tool"]), (&json!("I looked."), &json!("s/look")));
    let rounds = scene.provider.rounds();
    assert!(rounds.iter().all(|round| round.tools.is_empty()), "it is told of tools in words");
    let last = rounds[1].body["messages"].as_array().unwrap().last().unwrap().clone();
    assert!(last["role"] == "user" && last["content"].to_string().contains("noon"), "{last}");
}

#[test]
fn a_private_conversation_goes_with_the_terminal_that_is_ended_in_its_middle() {
    let scene = Scene::new(|_| Say::Hang);
    let mut usual = scene.home.command("harbor");
    usual.args(["chat", "--private", "--model", "p:m"]);
    let mut terminal =
        Terminal::start(&programs::behind(&["/bin/sh", "-c", "exec \"$@\" 2>&1", "sh"], &usual));
    terminal.wait_for("nothing is stored");
    terminal.press("hello\r");
    let sessions = || scene.bridge.call("chat_list_sessions", &json!({})).unwrap()["total"].clone();
    wait_until("it has begun", LIMIT, || sessions() == 2);
    terminal.wait_for("and");
    terminal.signal(Signal::SIGTERM);
    assert_eq!(terminal.end().0, -15);
    assert_eq!(sessions(), 1, "nothing of it is left");
}

#[test]
fn a_question_with_tools_that_is_ended_in_its_middle_leaves_no_session() {
    let scene = Scene::new(|_| Say::Hang);
    let sessions = || scene.bridge.call("chat_list_sessions", &json!({})).unwrap()["total"].clone();
    let before = sessions();
    let mut command = scene.home.command("harbor");
    command.args(["ask", "--model", "p:m", "--tools", "all", "hello"]).stdin(Stdio::null());
    let mut question = command.stdout(Stdio::piped()).spawn().unwrap();
    let mut said = [0; 3];
    question.stdout.as_mut().unwrap().read_exact(&mut said).unwrap();
    kill(Pid::from_raw(i32::try_from(question.id()).unwrap()), Signal::SIGTERM).unwrap();
    assert_eq!(question.wait().unwrap().signal(), Some(15));
    assert_eq!(sessions(), before);
}
