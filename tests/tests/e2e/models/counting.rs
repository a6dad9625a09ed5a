//! Tokens are counted by the provider where it does so, and estimated elsewhere.

use harbor_tests::scripted::answer;
use harbor_tests::{ErrorValue, LIMIT, Scripted};
use serde_json::{Value, json};

use super::scene::{ASKED, KEY, Scene};

/// The provider's count and how exact it is.
fn count(scene: &Scene, more: &Value) -> Result<(u64, String), ErrorValue> {
    let mut fields = json!({"messages": [{"role": "user", "content": ASKED}]});
    for (name, value) in more.as_object().unwrap() {
        fields[name] = value.clone();
    }
    let counted = scene.bridge.request("llm_count_tokens", &fields).wait(LIMIT)?;
    Ok((counted["input_tokens"].as_u64().unwrap(), counted["exactness"].as_str().unwrap().to_owned()))
}

#[test]
fn a_provider_counts_where_it_can_and_the_length_decides_elsewhere() {
    let counting =
        Scripted::start(|asked, stream| match (asked.path.as_str(), asked.body["model"].as_str()) {
            ("/v1/messages/count_tokens", Some("m")) => {
                answer(stream, "200 OK", "application/json", "", r#"{"input_tokens": 4217}"#)
            }
            _ => answer(stream, "404 Not Found", "text/plain", "", "nothing here"),
        });
    let scene = Scene::new();
    let url = format!("http://127.0.0.1:{}", counting.port);
    let claude = json!({"provider_type": "anthropic", "base_url": url, "api_key": KEY});
    scene.bridge.call("llm_add_provider", &claude).unwrap();
    let tools = json!([{"name": "now", "inputSchema": {"type": "object"}}]);
    let of_claude = json!({"model": "anthropic:m", "system_prompt": "be brief", "tools": tools});
    assert_eq!(count(&scene, &of_claude).unwrap(), (4217, "exact".into()));
    let all = counting.asked();
    let asked = all.iter().find(|asked| asked.verb == "POST").unwrap();
    assert_eq!((asked.header("x-api-key"), asked.header("authorization")), (KEY, ""));
    assert!(asked.text.contains(ASKED) && asked.text.contains("be brief") && asked.text.contains("now"));

    let (estimate, exactness) = count(&scene, &json!({"model": "p:m"})).unwrap();
    assert_eq!((estimate > 0, exactness.as_str()), (true, "estimated"));
    assert_eq!(scene.provider.chats().len(), 0, "who does not count is not asked");
    // The default provider's, and what is not counted for once.
    assert_eq!(count(&scene, &json!({})).unwrap(), (estimate, "estimated".into()));
    assert_eq!(count(&scene, &json!({"model": "anthropic:n"})).unwrap(), (estimate, "estimated".into()));
    assert_eq!(count(&scene, &json!({"provider": "q"})).unwrap_err().code, "not_found");
    assert_eq!(count(&scene, &json!({"messages": []})).unwrap_err().code, "invalid_params");
    // A length needs no model at all; a count costs nothing.
    for id in ["p", "anthropic"] {
        scene.bridge.call("llm_remove_provider", &json!({"id": id})).unwrap();
    }
    assert_eq!(count(&scene, &json!({})).unwrap(), (estimate, "estimated".into()));
    assert!(scene.usage().is_empty());
}
