//! A real model in a real llama-server: asked in all formats that it speaks, made to call a tool, cancelled, made to count.
//!
//! Looks at structure alone: what so small a model says is right whatever it is.

use std::io::{self, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::process::Command;
use std::time::{Duration, Instant};

use harbor_tests::programs::installed;
use harbor_tests::{Bridge, Double, Home, LIMIT, Program, wait_until};
use serde_json::{Value, json};

use super::commands::{done, harbor};
use super::scene::begin;

/// The server's key: without one it answers every web page.
const KEY: &str = "sk-of-the-real-server";

/// The template with which this server has a model call a tool, whatever the model is like.
const TOOLS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/e2e/models/tools.jinja");

/// From the request to cancel until the server does nothing any more.
const IDLE: Duration = Duration::from_secs(1);

/// The formats that it speaks. Each is a provider of this name.
const FORMATS: [&str; 3] = ["chat", "anthropic", "responses"];

/// A bridge that knows the server by all of its formats.
struct Real {
    bridge: Bridge,
    home: Home,
    port: u16,
    _server: Program,
}

impl Real {
    /// None where `scripts/model` has found no server that runs on this machine.
    fn start() -> Option<Self> {
        Self::with(&["--jinja", "--chat-template-file", TOOLS])
    }

    /// The same with other arguments of the server's.
    fn with(args: &[&str]) -> Option<Self> {
        let program = installed("model/installed").with_file_name("start");
        if !program.exists() {
            let said =
                writeln!(io::stderr(), "no real model was asked: no server for it runs on this machine");
            said.expect("stderr takes a line");
            return None;
        }
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let mut command = Command::new(program);
        // Two threads would wait for each other where other tests run.
        command.arg(port.to_string()).args(["--threads", "1"]).args(args);
        command.env("LLAMA_API_KEY", KEY);
        let (server, home) = (Program::start(&mut command), Home::new());
        let bridge = Bridge::start(&home);
        assert!(bridge.is_alive());
        for dialect in FORMATS {
            let path = if dialect == "anthropic" { "" } else { "/v1" };
            let url = format!("http://127.0.0.1:{port}{path}");
            let add =
                ["models", "add", "llama-server", "--name", dialect, "--dialect", dialect, "--url", &url];
            done(&home, &add);
            assert_eq!(harbor(&home, &["models", "key", dialect], KEY).2, Some(0));
        }
        let real = Self { bridge, home, port, _server: server };
        wait_until("the model to be loaded", LIMIT, || real.is_loaded());
        Some(real)
    }

    /// Whether the server works on an answer.
    fn is_busy(&self) -> bool {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        write!(stream, "GET /slots HTTP/1.0\r\nAuthorization: Bearer {KEY}\r\n\r\n").unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let slots: Value = serde_json::from_str(answer.split_once("\r\n\r\n").unwrap().1).unwrap();
        slots.as_array().unwrap().iter().any(|slot| slot["is_processing"] == true)
    }

    fn is_loaded(&self) -> bool {
        self.bridge.call("llm_check_provider", &json!({"provider_id": "chat"})).unwrap()["available"] == true
    }

    /// The kinds of events that come until the answer, and the answer.
    fn chat(&self, model: &str, more: &Value) -> (Vec<String>, Value) {
        let answer = begin(&self.bridge, "llm_chat", model, more).wait(LIMIT).unwrap();
        let events = std::iter::from_fn(|| self.bridge.push_now("llm_event"));
        let kinds = events.map(|push| push["event"]["type"].as_str().unwrap().to_owned()).collect();
        (kinds, answer["response"].clone())
    }
}

#[test]
fn a_real_model_answers_in_each_format() {
    let Some(real) = Real::start() else { return };
    for provider in FORMATS {
        done(&real.home, &["models", "default", provider]);
        let ask = ["ask", "Say something.", "--max-tokens", "12"];
        let (said, err, code) = harbor(&real.home, &ask, "");
        assert!(!said.trim().is_empty() && code == Some(0), "{provider}: {err}");
        assert_eq!(err, "harbor: the answer was cut off at its token limit\n");
        let (whole, ..) = harbor(&real.home, &[&ask[..], &["--json"]].concat(), "");
        let whole: Value = serde_json::from_str(whole.lines().last().unwrap()).unwrap();
        assert_eq!((&whole["provider"], &whole["model"]), (&json!(provider), &json!("smollm2")));
        let usage = &whole["response"]["usage"];
        assert_eq!((&usage["exactness"], &usage["output_tokens"]), (&json!("exact"), &json!(12)), "{usage}");
        assert_eq!(whole["response"]["finishReason"], "length");
    }
}

#[test]
fn a_real_model_calls_a_tool_and_is_told_its_result() {
    let Some(real) = Real::start() else { return };
    let schema = json!({"type": "object", "properties": {"city": {"enum": ["Paris"]}}, "required": ["city"],
        "additionalProperties": false});
    let tools = json!([{"name": "get_weather", "description": "The weather.", "inputSchema": schema}]);
    for provider in FORMATS {
        let model = format!("{provider}:smollm2");
        let asked = json!({"tools": tools, "tool_choice": "required", "max_tokens": 60});
        let (kinds, response) = real.chat(&model, &asked);
        assert_eq!(response["finishReason"], "tool_calls", "{provider}: {response}");
        let call = &response["message"]["toolCalls"][0];
        assert_eq!((&call["name"], &call["arguments"]), (&json!("get_weather"), &json!({"city": "Paris"})));
        for kind in ["start", "tool_call_start", "tool_call_arguments", "tool_call_end", "usage", "end"] {
            assert!(kinds.iter().any(|one| one == kind), "{provider}: no {kind} in {kinds:?}");
        }
        let messages = json!([{"role": "user", "content": "How is the weather?"}, response["message"],
            {"role": "tool", "toolCallId": call["id"], "content": "sunny"}]);
        let (kinds, response) = real.chat(&model, &json!({"messages": messages, "max_tokens": 8}));
        // It says what it likes, one word perhaps.
        assert!(kinds.iter().any(|kind| kind == "text"), "{provider}: {kinds:?}");
        assert!(response["message"]["toolCalls"].is_null());
    }
}

/// A turn of the agent's with a server that tells the time: what came of it.
fn asks_for_the_time(real: &Real, model: &str, more: &[&str]) -> Value {
    let zone = json!({"type": "object", "properties": {"timezone": {"enum": ["Asia/Tokyo"]}}, "required": ["timezone"],
        "additionalProperties": false});
    let tools = json!([{"name": "get_current_time", "description": "Tells the time.", "inputSchema": zone,
        "annotations": {"readOnlyHint": true, "openWorldHint": false}}]);
    if real.bridge.call("get_server_status", &json!({"server_id": "time"})).is_err() {
        real.bridge.add_and_connect("time", &Double::sound(&real.home).offering(&tools.to_string()));
    }
    let ask =
        ["ask", "--json", "--model", model, "--tools", "time", "--max-tool-calls", "1", "--max-tokens", "60"];
    let (out, err, code) = harbor(&real.home, &[&ask[..], more, &["What time is it in Tokyo?"]].concat(), "");
    assert_eq!(code, Some(0), "{err}");
    let last = out.lines().last().unwrap_or_default();
    serde_json::from_str(last).unwrap_or_else(|_| panic!("{out} {err}"))
}

#[test]
fn in_a_turn_a_real_models_call_reaches_its_server_and_a_last_answer_is_text() {
    let Some(real) = Real::start() else { return };
    for provider in FORMATS {
        let answer = asks_for_the_time(&real, &format!("{provider}:smollm2"), &["--tool-choice", "required"]);
        let step = &answer["steps"][0];
        assert_eq!(
            (&step["tool"], &step["is_error"]),
            (&json!("time/get_current_time"), &json!(false)),
            "{answer}"
        );
        assert!(answer["response"].as_str().is_some_and(|text| !text.is_empty()), "{answer}");
        assert_eq!((&answer["ended"], &answer["iterations"]), (&json!("calls"), &json!(2)), "{answer}");
    }
}

#[test]
fn a_real_model_without_tools_writes_a_step_that_its_server_forces() {
    let Some(real) = Real::with(&[]) else { return };
    for provider in ["chat", "responses"] {
        let listed = real.bridge.call("llm_list_models_for", &json!({"provider_id": provider})).unwrap();
        assert_eq!(listed["models"][0]["tools"], false, "{listed:?}");
        let answer = asks_for_the_time(&real, &format!("{provider}:smollm2"), &["--tool-choice", "required"]);
        let step = &answer["steps"][0];
        assert_eq!(
            (&step["tool"], &step["is_error"]),
            (&json!("time/get_current_time"), &json!(false)),
            "{answer}"
        );
        assert!(answer["response"].is_string(), "{answer}");
    }
}

#[test]
fn a_cancelled_answer_frees_the_place_at_the_real_server() {
    let Some(real) = Real::start() else { return };
    for provider in FORMATS {
        let model = format!("{provider}:smollm2");
        let pending = begin(&real.bridge, "llm_chat", &model, &json!({"max_tokens": 1500}));
        while real.bridge.next_push("llm_event", LIMIT)["event"]["type"] != "text" {}
        assert!(real.is_busy());
        let began = Instant::now();
        real.bridge.call("cancel", &json!({"target": pending.id})).unwrap();
        wait_until("the server to be idle", LIMIT, || !real.is_busy());
        assert!(began.elapsed() <= IDLE, "{provider}: {:?}", began.elapsed());
        assert_eq!(pending.wait(LIMIT).unwrap_err().code, "cancelled");
        while real.bridge.push_now("llm_event").is_some() {}
    }
}

#[test]
fn a_real_server_counts_what_it_would_read() {
    let Some(real) = Real::start() else { return };
    let messages = json!([{"role": "user", "content": "How deep is a harbor?"}]);
    for provider in FORMATS {
        let model = format!("{provider}:smollm2");
        let fields = json!({"messages": messages, "model": model, "system_prompt": "Be brief."});
        let counted = real.bridge.call("llm_count_tokens", &fields).unwrap();
        assert_eq!(counted["exactness"], "exact", "{provider}");
        let more = json!({"messages": messages, "system_prompt": "Be brief.", "max_tokens": 2});
        let (_, response) = real.chat(&model, &more);
        assert_eq!(counted["input_tokens"], response["usage"]["input_tokens"], "{provider}");
    }
}
