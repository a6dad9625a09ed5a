//! A server of other people's that imitates providers: asked in their formats, and made to call a tool.

use std::process::Command;

use harbor_tests::programs::installed;
use harbor_tests::{Bridge, Direct, Home, LIMIT};
use serde_json::{Value, json};

use super::commands::{done, harbor};
use super::scene::begin;

/// The answer of the imitation.
const ANSWERS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/e2e/models/imitations.json");

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

/// Greets the model, and has it call a tool and hear of the result; gives the last answer.
fn speaks(home: &Home, bridge: &Bridge, model: &str) -> Value {
    let (said, err, code) = harbor(home, &["ask", "greet me", "--model", model], "");
    assert_eq!(
        (said.as_str(), code),
        ("Hello from a server that imitates others.\n", Some(0)),
        "{model}: {err}"
    );
    let tools = json!([{"name": "get_weather", "inputSchema": {"type": "object"}}]);
    let asked = json!({"role": "user", "content": "How is the weather?"});
    let chat = |messages| {
        let more = json!({"tools": tools, "messages": messages});
        begin(bridge, "llm_chat", model, &more).wait(LIMIT).unwrap()["response"].clone()
    };
    let response = chat(json!([asked]));
    assert_eq!(response["finishReason"], "tool_calls", "{model}: {response}");
    let call = &response["message"]["toolCalls"][0];
    assert_eq!(
        (&call["name"], &call["arguments"]),
        (&json!("get_weather"), &json!({"city": "Paris"})),
        "{model}"
    );
    let result = json!({"role": "tool", "toolCallId": call["id"], "content": "sunny"});
    let response = chat(json!([asked, response["message"], result]));
    assert_eq!(response["message"]["content"], "It is sunny in Paris.", "{model}");
    response
}

#[test]
fn a_server_that_speaks_as_others_do_is_asked_and_calls_a_tool() {
    let ((_server, url), home) = (imitation(), Home::new());
    let bridge = Bridge::start(&home);
    assert!(bridge.is_alive());
    done(&home, &["models", "add", "ollama", "--url", &url]);
    assert!(done(&home, &["models"]).contains("ollama:gpt-4o"));
    let response = speaks(&home, &bridge, "ollama:gpt-4o");
    // It says that 0 tokens were used, which nobody has counted.
    assert_eq!(response["usage"]["exactness"], "estimated");
    assert!(response["usage"]["input_tokens"].as_u64() > Some(0), "{response}");

    for (kind, dialect, path) in [
        ("openai-compatible", "responses", "/v1"),
        ("openai-compatible", "chat", "/v1"),
        ("openai-compatible", "gemini", "/v1beta"),
        ("openai-compatible", "anthropic", ""),
    ] {
        let add = [
            "models",
            "add",
            kind,
            "--name",
            dialect,
            "--dialect",
            dialect,
            "--url",
            &format!("{url}{path}"),
        ];
        harbor(&home, &add, "");
        assert_eq!(harbor(&home, &["models", "key", dialect], "sk-imitated").2, Some(0));
        speaks(&home, &bridge, &format!("{dialect}:gpt-4o"));
    }
}
