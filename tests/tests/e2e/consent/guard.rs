//! The guard of an AI client: what it was answered from a private source does not go to one that could tell somebody, before the
//! person has said yes to the two of them; by a tool, a resource, or an answer to a server's question.

use harbor_tests::{Client, ErrorValue, LIMIT, Speaker};
use serde_json::{Value, json};

use super::scene::{Held, Scene};

const CLIENT: &str = "client://ai";

fn scene() -> Scene {
    let scene = Scene::new();
    let none = json!({});
    scene.server("files", Held::Files, &["read?"], &none);
    scene.server("web", Held::Web, &["look?"], &none);
    scene.server("liar", Held::Web, &["look?"], &none);
    scene.bridge.speaking_for(CLIENT).grant("mcp:tools.call", "ALLOW_ALWAYS", &json!({}));
    scene
}

fn guard(scene: &Scene, set: &Value) -> bool {
    let fields = json!({"origin": CLIENT, "guard": set});
    scene.bridge.call("approvals_guard", &fields).unwrap()["guard"] == true
}

fn attached(scene: &Scene) -> Speaker {
    Client::attach_ai(&scene.home, "ai").speaking(&json!({}))
}

fn look(client: &Speaker, tool: &str, word: &str) -> Result<(), ErrorValue> {
    client.tool(tool, &json!({"word": word})).map(drop)
}

/// The question that was missed last.
fn missed(scene: &Scene) -> Value {
    let all = scene.bridge.call("approvals_list", &json!({})).unwrap();
    all["waiting"].as_array().unwrap().last().cloned().unwrap()
}

#[test]
fn with_the_guard_each_private_source_and_each_server_with_reach_is_asked_about_once() {
    let mut scene = scene();
    assert!(!guard(&scene, &Value::Null));
    assert!(guard(&scene, &json!(true)));
    let wrong = json!({"origin": "https://a.example", "guard": true});
    assert_eq!(scene.bridge.call("approvals_guard", &wrong).unwrap_err().code, "invalid_params");
    scene.bridge.stop();
    scene.bridge = harbor_tests::Bridge::start(&scene.home);
    ["files", "web", "liar"].iter().for_each(|id| drop(scene.bridge.connect(id)));

    let client = attached(&scene);
    look(&client, "web/look", "anything").unwrap();
    look(&client, "files/read", "secret").unwrap();
    let refused = look(&client, "web/look", "TOP SECRET").unwrap_err();
    assert_eq!(refused.details["reason"], "permission_required", "{refused:?}");
    let question = missed(&scene);
    assert_eq!((&question["reason"], &question["private"]), (&json!("leaves"), &json!(["files"])));
    assert_eq!(question["answers"], json!(["once", "pair", "no"]));
    scene.answer(&question, &["pair"]);
    look(&client, "web/look", "TOP SECRET").unwrap();
    look(&client, "web/look", "another").unwrap();
    assert!(look(&client, "liar/look", "TOP SECRET").is_err(), "it is another server");

    let other = attached(&scene);
    assert!(
        look(&other, "liar/look", "TOP SECRET").is_err(),
        "another connection may be the same conversation"
    );
    look(&other, "web/look", "TOP SECRET").unwrap();

    assert!(!guard(&scene, &json!(false)));
    look(&client, "liar/look", "TOP SECRET").unwrap();
    assert!(guard(&scene, &json!(true)));
    scene.bridge.call("approvals_revoke", &json!({"approval_id": CLIENT})).unwrap();
    assert!(look(&client, "web/look", "TOP SECRET").is_err(), "it is taken back");
    guard(&scene, &json!(false));
    let late = Client::attach_ai(&scene.home, "late").speaking(&json!({}));
    scene.bridge.speaking_for("client://late").grant("mcp:tools.call", "ALLOW_ALWAYS", &json!({}));
    look(&late, "files/read", "secret").unwrap();
    scene.bridge.call("approvals_guard", &json!({"origin": "client://late", "guard": true})).unwrap();
    assert!(look(&late, "web/look", "TOP SECRET").is_err(), "what was read before counts");
}

#[test]
fn nothing_private_leaves_by_a_resource_or_by_an_answer_to_a_servers_question() {
    let scene = scene();
    guard(&scene, &json!(true));
    let connection = Client::attach_ai(&scene.home, "ai");
    let client = connection.speaking(&json!({}));
    let read = |uri: &str| client.ask("mcp_read_resource", &json!({"server_id": "liar", "uri": uri}));
    read("liar://x").unwrap();
    look(&client, "files/read", "secret").unwrap();
    let refused = read("liar://x?d=SECRET").unwrap_err();
    assert_eq!(refused.details["reason"], "permission_required", "{refused:?}");
    assert_eq!(missed(&scene)["tool"], "liar/resources/read");
    scene.answer(&missed(&scene), &["once"]);
    read("liar://x?d=SECRET").unwrap();
    assert!(read("liar://x?d=MORE").is_err());

    scene.bridge.call("approvals_watch", &json!({})).unwrap();
    let sampled = |said: &str, word: &str| {
        let fields = json!({"sample": word});
        let pending = client.with(&json!({"answers": {"sampling": {}}})).send_tool("liar/look", &fields);
        let next = |is_of: &dyn Fn(&Value) -> bool| {
            let push =
                scene.bridge.wait_for_push("approval", LIMIT, |push| push["waits"] == true && is_of(push));
            push["approval"].clone()
        };
        scene.answer(&next(&|push| push["approval"]["tool"] == "liar/look"), &["once"]);
        let asked = connection.wait_for_push("ask", LIMIT, |_| true);
        let answer =
            json!({"role": "assistant", "model": "m", "content": {"type": "text", "text": "TOP SECRET"}});
        connection.call("mcp_answer", &json!({"ask_id": asked["ask_id"], "result": answer})).unwrap();
        scene.answer(&next(&|push| push["approval"]["tool"] == "liar/sampling/createMessage"), &[said]);
        pending.wait(LIMIT).unwrap().content_text().contains("TOP SECRET")
    };
    assert!(sampled("once", "a"));
    assert!(!sampled("no", "b"));
}

#[test]
fn what_a_server_asks_during_a_call_is_read_before_it_is_answered() {
    let scene = scene();
    guard(&scene, &json!(true));
    let connection = Client::attach_ai(&scene.home, "ai");
    let client = connection.speaking(&json!({}));
    let asking = client.with(&json!({"answers": {"sampling": {}}}));
    let pending = asking.send_tool("files/read", &json!({"sample": "a"}));
    let asked = connection.wait_for_push("ask", LIMIT, |_| true);
    assert!(look(&client, "web/look", "TOP SECRET").is_err());
    let answer = json!({"role": "assistant", "model": "m", "content": {"type": "text", "text": "x"}});
    connection.call("mcp_answer", &json!({"ask_id": asked["ask_id"], "result": answer})).unwrap();
    assert!(pending.wait(LIMIT).unwrap().content_text().contains("assistant"), "a closed one tells nobody");
}

#[test]
fn what_lies_in_closed_stores_counts_as_private_once_it_was_lost_what_that_is() {
    let mut scene = scene();
    scene.server("memory", Held::Closed, &["search?"], &json!({}));
    scene.bridge.stop();
    ["harbor.db", "harbor.db-wal", "harbor.db-shm"].iter().for_each(|name| {
        let _ = std::fs::remove_file(scene.home.path().join(name));
    });
    scene.bridge = harbor_tests::Bridge::start(&scene.home);
    scene.bridge.speaking_for(CLIENT).grant("mcp:tools.call", "ALLOW_ALWAYS", &json!({}));
    guard(&scene, &json!(true));
    ["memory", "web"].iter().for_each(|id| drop(scene.bridge.connect(id)));
    let client = attached(&scene);
    look(&client, "web/look", "anything").unwrap();
    look(&client, "web/look", "it keeps nothing that came from elsewhere").unwrap();
    look(&client, "memory/search", "anything").unwrap();
    assert!(look(&client, "web/look", "what it kept").is_err());
}

#[test]
fn a_call_that_a_script_builds_out_of_a_private_result_is_asked_about_as_that_call() {
    let scene = scene();
    assert!(guard(&scene, &json!(true)));
    let client = attached(&scene);
    let run =
        |script: &str| client.ask("host_run_script", &json!({"script": script})).unwrap()["result"].clone();
    assert!(run("return await tools.web.look({ word: 'anything' })")["isError"] != true);
    let script = "const secret = await tools.files.read({ word: 'secret' });
        return await tools.web.look({ word: `${secret}` });";
    let refused = run(script);
    assert_eq!(refused["isError"], true, "{refused}");
    let question = missed(&scene);
    assert_eq!(
        (&question["reason"], &question["tool"]),
        (&json!("leaves"), &json!("web/look")),
        "{question}"
    );
    assert_eq!(question["private"], json!(["files"]));
    scene.answer(&question, &["once"]);
    assert!(run(script)["isError"] != true);
    assert_eq!(run(script)["isError"], true, "once is for one call");
}
