//! What a page and an AI client may do with models.

use harbor_tests::{Client, LIMIT, PROMPT, wait_until};
use serde_json::json;

use super::scene::{ASKED, SAID, SITE, Scene, begin};

const PROMPT_SCOPE: &str = "model:prompt";

#[test]
fn an_origin_needs_the_scope_and_hears_nothing_of_the_provider() {
    let scene = Scene::new();
    let who = json!({"origin": SITE});
    let chat = |model: &str, more: &serde_json::Value| {
        let mut fields = more.clone();
        fields["origin"] = json!(SITE);
        begin(&scene.bridge, "host_llm_chat", model, &fields).wait(LIMIT)
    };
    let refused = chat("m", &json!({})).unwrap_err();
    assert_eq!(
        (refused.code.as_str(), &refused.details["scope"]),
        ("ERR_SCOPE_REQUIRED", &json!(PROMPT_SCOPE))
    );
    assert_eq!(scene.bridge.call("host_llm_list_models", &who).unwrap_err().code, "ERR_SCOPE_REQUIRED");
    let site = scene.bridge.speaking_for(SITE);
    site.grant(PROMPT_SCOPE, "ALLOW_ALWAYS", &json!({}));
    let named = chat("m", &json!({})).unwrap_err();
    assert_eq!(named.details["scope"], "model:list", "who may not know of models names none");
    site.grant("model:list", "ALLOW_ALWAYS", &json!({}));
    assert_eq!(chat("m", &json!({})).unwrap()["response"]["message"]["content"], format!("Hello {SAID}"));
    let tools = json!({"tools": [{"name": "now"}]});
    // A page's own tools need no more: it calls them itself.
    assert!(chat("tool", &tools).unwrap()["response"]["message"]["toolCalls"].is_array());
    let listed = scene.bridge.call("host_llm_list_models", &who).unwrap();
    assert_eq!(listed["models"][0], json!({"id": "p:m", "provider": "p", "model": "m"}));
    // The provider's words are the person's.
    let wrong = json!({"provider_id": "p", "api_key": "sk-wrong"});
    scene.bridge.call("llm_set_api_key", &wrong).unwrap();
    let error = chat("m", &json!({})).unwrap_err();
    assert_eq!(error.details["cause"], "unauthorized");
    assert!(!error.message.contains("no such key here"), "{}", error.message);
    assert!(scene.chat("m").unwrap_err().message.contains("no such key here"));
    site.revoke(PROMPT_SCOPE, None);
    assert_eq!(chat("m", &json!({})).unwrap_err().code, "ERR_SCOPE_REQUIRED");
    assert_eq!(scene.provider.chats().iter().filter(|asked| asked.text.contains(ASKED)).count(), 4);
}

#[test]
fn what_is_revoked_ends_in_the_middle_of_an_answer() {
    let scene = Scene::new();
    let site = scene.bridge.speaking_for(SITE);
    site.grant(PROMPT_SCOPE, "ALLOW_ALWAYS", &json!({}));
    site.grant("model:list", "ALLOW_ALWAYS", &json!({}));
    let pending = begin(&scene.bridge, "host_llm_chat", "hangs", &json!({"origin": SITE}));
    wait_until("it to be under way", LIMIT, || scene.provider.chats().len() == 1);
    assert!(site.revoke(PROMPT_SCOPE, None));
    assert_eq!(pending.wait(PROMPT).unwrap_err().code, "ERR_SCOPE_REQUIRED");
    wait_until("its connection to end", PROMPT, || scene.provider.left() == 1);
}

#[test]
fn an_ai_client_asks_for_itself_and_may_do_nothing_of_the_owners() {
    let scene = Scene::new();
    let client = Client::attach_ai(&scene.home, "helper");
    for (tag, fields) in [
        ("llm_chat", json!({"messages": []})),
        ("llm_list_providers", json!({})),
        ("llm_set_api_key", json!({"provider_id": "p", "api_key": "x"})),
        ("llm_set_budget", json!({"principal": "*"})),
    ] {
        assert_eq!(client.call(tag, &fields).unwrap_err().code, "ERR_PERMISSION_DENIED", "{tag}");
    }
    let chat = || begin(&client, "host_llm_chat", "m", &json!({})).wait(LIMIT);
    assert_eq!(chat().unwrap_err().code, "ERR_SCOPE_REQUIRED");
    for scope in [PROMPT_SCOPE, "model:list"] {
        scene.bridge.speaking_for("client://helper").grant(scope, "ALLOW_ALWAYS", &json!({}));
    }
    assert!(chat().is_ok());
    assert!(client.push_now("llm_event").is_some());
    let usage = scene.usage();
    assert_eq!((&usage[0]["principal"], &usage[0]["input_tokens"]), (&json!("client://helper"), &json!(11)));
}
