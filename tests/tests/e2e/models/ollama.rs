//! Ollama's own format, at a server of other people's that imitates it: asked by the command line, and made to call a tool.

use std::process::Command;

use harbor_tests::programs::installed;
use harbor_tests::scripted::answer;
use harbor_tests::{Bridge, Direct, Home, LIMIT, Scripted};
use serde_json::json;

use super::commands::{done, harbor};
use super::scene::begin;

/// What the imitation answers.
const ANSWERS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/e2e/models/ollama.json");

/// Starts the imitation; gives it and its address.
fn imitation() -> (Direct, String) {
    let mut command = Command::new("node");
    command.arg(installed("npm/node_modules/@copilotkit/aimock/dist/cli.js"));
    let server = Direct::start(command.args(["--port", "0", "--strict", "--fixtures", ANSWERS]));
    let lines = std::iter::repeat_with(|| String::from_utf8(server.next_line(LIMIT).unwrap()).unwrap());
    let url = lines.map(|line| line.trim().to_owned()).find_map(|line| {
        let (_, url) = line.split_once("listening on ")?;
        Some(url.to_owned())
    });
    let url = url.unwrap();
    (server, url)
}

#[test]
fn a_server_that_speaks_as_ollama_is_asked_and_calls_a_tool() {
    let ((_server, url), home) = (imitation(), Home::new());
    let bridge = Bridge::start(&home);
    assert!(bridge.is_alive());
    done(&home, &["models", "add", "ollama", "--url", &url]);
    assert!(done(&home, &["models"]).contains("ollama:gpt-4o"));
    let (said, err, code) = harbor(&home, &["ask", "greet me", "--model", "ollama:gpt-4o"], "");
    assert_eq!(
        (said.as_str(), code),
        ("Hello from a server that speaks as Ollama does.\n", Some(0)),
        "{err}"
    );

    let tools = json!([{"name": "get_weather", "inputSchema": {"type": "object"}}]);
    let asked = json!({"role": "user", "content": "How is the weather?"});
    let chat = |messages| {
        let more = json!({"tools": tools, "messages": messages});
        begin(&bridge, "llm_chat", "ollama:gpt-4o", &more).wait(LIMIT).unwrap()["response"].clone()
    };
    let response = chat(json!([asked]));
    assert_eq!(response["finishReason"], "tool_calls", "{response}");
    let call = &response["message"]["toolCalls"][0];
    assert_eq!((&call["name"], &call["arguments"]), (&json!("get_weather"), &json!({"city": "Paris"})));
    let result = json!({"role": "tool", "toolCallId": call["id"], "content": "sunny"});
    let response = chat(json!([asked, response["message"], result]));
    assert_eq!(response["message"]["content"], "It is sunny in Paris.");
    // It says that 0 tokens were used, which nobody has counted.
    assert_eq!(response["usage"]["exactness"], "estimated");
    assert!(response["usage"]["input_tokens"].as_u64() > Some(0), "{response}");
}

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
    let ends = |id: &str, end: &str| table.lines().any(|line| line.starts_with(id) && line.ends_with(end));
    assert!(ends("ollama:here", "here") && ends("ollama:cloud", "elsewhere"), "{table}");
}
