//! An Ollama says which of its models run elsewhere.

use harbor_tests::scripted::answer;
use harbor_tests::{Bridge, Home, Scripted};
use serde_json::json;

use super::commands::done;

/// Some models of an Ollama on this machine run in its makers' cloud.
#[test]
fn what_runs_elsewhere_is_not_called_local() {
    let server = Scripted::start(|asked, stream| {
        let body = match asked.path.as_str() {
            "/api/tags" => {
                json!({"models": [{"name": "here"}, {"name": "cloud", "remote_model": "cloud", "remote_host": "https://ollama.example"}]})
            }
            _ => json!({"capabilities": ["tools"], "model_info": {"x.context_length": 4096}}),
        };
        answer(stream, "200 OK", "application/json", "", &body.to_string())
    });
    let home = Home::new();
    let bridge = Bridge::start(&home);
    done(&home, &["models", "add", "ollama", "--url", &format!("http://127.0.0.1:{}", server.port)]);
    let listed = bridge.call("llm_list_models", &json!({})).unwrap();
    let local = |at: usize| (listed["models"][at]["id"].clone(), listed["models"][at]["is_local"].clone());
    assert_eq!(
        [local(0), local(1)],
        [(json!("ollama:here"), json!(true)), (json!("ollama:cloud"), json!(false))]
    );
    let table = done(&home, &["models"]);
    let says = |id: &str, place: &str| {
        table.lines().any(|line| line.starts_with(id) && line.split_whitespace().any(|word| word == place))
    };
    assert!(says("ollama:here", "here") && says("ollama:cloud", "elsewhere"), "{table}");
}
