//! What is used is counted, and a budget ends.

use harbor_tests::{Bridge, LIMIT, wait_until};
use serde_json::{Value, json};

use super::scene::{SITE, Scene, begin};

fn budget(scene: &Scene, principal: &str) -> Value {
    let all = scene.bridge.call("llm_list_budgets", &json!({})).unwrap();
    let found =
        all["budgets"].as_array().unwrap().iter().find(|budget| budget["principal"] == principal).cloned();
    found.unwrap_or_default()
}

#[test]
fn what_is_used_is_counted_by_provider_model_principal_and_day() {
    let scene = Scene::new();
    scene.chat("m").unwrap();
    scene.chat("m").unwrap();
    scene.chat("mute").unwrap();
    wait_until("all of it to be counted", LIMIT, || scene.usage().len() == 2);
    let short = |row: &Value| ["model", "principal", "requests", "exactness"].map(|name| row[name].clone());
    let usage: Vec<_> = scene.usage().iter().map(short).collect();
    let row = |model: &str, requests: u32, exactness: &str| {
        [json!(model), json!("owner"), json!(requests), json!(exactness)]
    };
    assert_eq!(usage, [row("m", 2, "exact"), row("mute", 1, "estimated")]);
    assert_eq!(
        (&scene.usage()[0]["input_tokens"], &scene.usage()[0]["output_tokens"]),
        (&json!(22), &json!(14))
    );
    let by_provider = scene.bridge.call("llm_usage", &json!({"group_by": "provider"})).unwrap();
    assert_eq!(
        (by_provider["usage"].as_array().unwrap().len(), &by_provider["usage"][0]["requests"]),
        (1, &json!(3))
    );
}

#[test]
fn a_budget_that_is_used_up_says_when_there_is_more_and_holds_after_a_restart() {
    let mut scene = Scene::new();
    let set = |scene: &Scene, principal: &str, tokens: Value| {
        let fields = json!({"principal": principal, "tokens_per_day": tokens});
        scene.bridge.call("llm_set_budget", &fields).unwrap()["budget"].clone()
    };
    let chat = |scene: &Scene| begin(&scene.bridge, "llm_chat", "m", &json!({"max_tokens": 10})).wait(LIMIT);
    assert_eq!(set(&scene, "*", json!(60))["is_set"], true);
    chat(&scene).unwrap();
    assert_eq!(budget(&scene, "*")["used"], 18);
    let refused = |scene: &Scene| {
        let error = (0..3).find_map(|_| chat(scene).err()).unwrap();
        assert_eq!((error.code.as_str(), &error.details["principal"]), ("ERR_BUDGET_EXCEEDED", &json!("*")));
        assert!(error.details["retry_after_ms"].as_u64().unwrap() <= 86_400_000, "{error:?}");
    };
    refused(&scene);
    let asked = scene.provider.chats().len();
    scene.bridge.call("shutdown", &json!({})).unwrap();
    assert!(scene.bridge.wait(LIMIT).is_some());
    scene.bridge = Bridge::start(&scene.home);
    refused(&scene);
    assert_eq!(scene.provider.chats().len(), asked, "nothing more was sent");
    set(&scene, "*", Value::Null);
    assert!(chat(&scene).is_ok());
}

#[test]
fn an_origin_has_a_day_of_its_own_and_few_requests_at_once() {
    let scene = Scene::new();
    for scope in ["model:prompt", "model:list"] {
        scene.bridge.speaking_for(SITE).grant(scope, "ALLOW_ALWAYS", &json!({}));
    }
    let begin = |model: &str, more: &Value| {
        let mut fields = more.clone();
        fields["origin"] = json!(SITE);
        begin(&scene.bridge, "host_llm_chat", model, &fields)
    };
    let error = begin("m", &json!({"max_tokens": 50_001})).wait(LIMIT).unwrap_err();
    assert_eq!((error.code.as_str(), &error.details["left"]), ("ERR_BUDGET_EXCEEDED", &json!(50_000)));
    let schema = json!({"type": "object", "description": "word ".repeat(40_000)});
    let error = begin("m", &json!({"response_schema": schema})).wait(LIMIT).unwrap_err();
    assert_eq!(error.code, "ERR_BUDGET_EXCEEDED", "a schema is read, too");
    let open: Vec<_> = (0..4).map(|_| begin("hangs", &json!({"max_tokens": 100}))).collect();
    wait_until("them to be under way", LIMIT, || scene.provider.chats().len() == 4);
    assert_eq!(begin("m", &json!({})).wait(LIMIT).unwrap_err().code, "ERR_RATE_LIMITED");
    assert!(scene.chat("m").is_ok(), "the person has places of their own");
    assert_eq!(scene.provider.chats()[0].body["max_tokens"], 100);
    for pending in open {
        scene.bridge.call("cancel", &json!({"target": pending.id})).unwrap();
        assert_eq!(pending.wait(LIMIT).unwrap_err().code, "cancelled");
    }
    let listed = scene.bridge.call("llm_list_budgets", &json!({})).unwrap();
    assert_eq!(listed["of_an_origin"], 50_000);
    assert_eq!(
        (&budget(&scene, SITE)["is_set"], &budget(&scene, SITE)["tokens_per_day"]),
        (&json!(false), &json!(50_000))
    );
    assert_eq!(budget(&scene, SITE)["reserved"], 0);
    assert!(budget(&scene, SITE)["used"].as_u64().unwrap() > 0);
    assert!(begin("m", &json!({})).wait(LIMIT).is_ok());
    let told = scene.provider.chats().last().unwrap().body["max_tokens"].clone();
    assert_eq!(told, 4096, "an answer that is counted has a bound");
}
