//! A provider of models that says what a test wants, in each format, and looks at the order of what it is sent.
//!
//! ```text
//!  POST /v1/chat/completions ─┐
//!  POST /v1/messages          │
//!  POST /api/chat             ├─► Round (how many rounds there were, what was said) ─► script ─► Say, in the same format
//!  POST /v1/responses         │        └─► the format's rules of order: a request that breaks them is answered by 400
//!  POST /v1beta/models/m:…    ┘
//! ```

use std::net::TcpStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use crate::scripted::{Asked, answer, begin_events, begin_stream, event};
use crate::{LIMIT, Scripted};
use serde_json::{Value, json};

/// Where chats go, by their format.
/// What is below `/stepwise` says that its model calls no tools, what is below `/listless` does not say what models it has.
const CHATS: [&str; 7] = [
    "/v1/chat/completions",
    "/v1/messages",
    "/api/chat",
    "/v1/responses",
    GEMINI,
    "/stepwise/v1/chat/completions",
    "/listless/v1/chat/completions",
];

/// Gemini names the model in the address.
const GEMINI: &str = "/v1beta/models/m:streamGenerateContent?alt=sse";

/// The encrypted thoughts of Responses that have to come back before the calls that they led to, and the signature of
/// Gemini that has to come back at the first call.
const THOUGHTS: &str = "gAAAAABthoughts";

/// What the model does.
#[derive(Debug, Clone)]
pub enum Say {
    /// Says this.
    Text(String),
    /// Wants these tools called: id, name, the text of the arguments.
    Calls(Vec<(&'static str, String, String)>),
    /// Says this, and ends with another word than that it is done (format `chat`): `length`, `content_filter`.
    Ends(String, &'static str),
    /// Says a piece, and nothing more until the connection ends.
    Hang,
    /// Says a piece, and the connection breaks.
    Cut,
    /// Says pieces of 64 KiB for as long as somebody listens.
    Endless,
    /// Refuses with this status and body.
    Refuse(&'static str, Value),
}

/// One request.
#[derive(Debug, Clone)]
pub struct Round {
    /// The results that the model has of its calls, in their order.
    pub results: Vec<String>,
    /// The names of the tools that it is told of.
    pub tools: Vec<String>,
    /// The whole request.
    pub body: Value,
}

impl Round {
    /// The name that the model was told of for a tool, by its end.
    ///
    /// # Panics
    /// When it was told of none.
    #[must_use]
    pub fn tool(&self, end: &str) -> String {
        let found = self.tools.iter().find(|name| name.ends_with(end));
        found.unwrap_or_else(|| panic!("{end}: {:?}", self.tools)).clone()
    }

    /// A call of that tool.
    #[must_use]
    pub fn call(&self, id: &'static str, end: &str, arguments: &Value) -> Say {
        Say::Calls(vec![(id, self.tool(end), arguments.to_string())])
    }
}

/// The provider.
#[derive(Debug)]
pub struct Provider {
    /// Where it listens.
    pub server: Scripted,
    left: Arc<AtomicUsize>,
}

impl Provider {
    /// Starts one whose model does what the script says.
    #[must_use]
    pub fn start(script: impl Fn(&Round) -> Say + Send + Sync + 'static) -> Self {
        let left = Arc::<AtomicUsize>::default();
        let noted = left.clone();
        let server = Scripted::start(move |asked, stream| match (asked.verb.as_str(), asked.path.as_str()) {
            ("GET", "/stepwise/props") => {
                let props = json!({"chat_template_caps": {"supports_tools": false}, "total_slots": 1});
                answer(stream, "200 OK", "application/json", "", &props.to_string())
            }
            ("GET", "/v1/models" | "/stepwise/v1/models") => {
                let models = json!({"object": "list", "data": [{"id": "m", "context_window": 128_000, "max_model_len": 128_000}]});
                answer(stream, "200 OK", "application/json", "", &models.to_string())
            }
            ("GET", "/v1beta/models?pageSize=1000") => {
                let model = json!({"name": "models/m", "inputTokenLimit": 128_000, "supportedGenerationMethods": ["generateContent"]});
                let models = json!({"models": [model]});
                answer(stream, "200 OK", "application/json", "", &models.to_string())
            }
            ("GET", "/api/tags") => {
                let models = json!({"models": [{"name": "m", "model": "m"}]});
                answer(stream, "200 OK", "application/json", "", &models.to_string())
            }
            ("POST", path) if CHATS.contains(&path) => {
                let round = round(asked);
                if let Err(why) = in_order(asked) {
                    let body = json!({"error": {"message": format!("order: {why}"), "type": "invalid_request_error"}});
                    return answer(stream, "400 Bad Request", "application/json", "", &body.to_string());
                }
                speak(asked, stream, script(&round), &noted)
            }
            _ => answer(stream, "404 Not Found", "text/plain", "", "nothing here"),
        });
        Self { server, left }
    }

    /// How many callers have left in the middle of an answer.
    #[must_use]
    pub fn left(&self) -> usize {
        self.left.load(Ordering::SeqCst)
    }

    /// What came in as chats.
    #[must_use]
    pub fn rounds(&self) -> Vec<Round> {
        let is_chat = |asked: &&Asked| CHATS.contains(&asked.path.as_str());
        self.server.asked().iter().filter(is_chat).map(round).collect()
    }
}

fn array<'a>(value: &'a Value, name: &str) -> &'a [Value] {
    value[name].as_array().map_or(&[], Vec::as_slice)
}

fn text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), ToOwned::to_owned)
}

fn round(asked: &Asked) -> Round {
    let body = asked.body.clone();
    let described = array(&body, "tools").iter().flat_map(|tool| match array(tool, "functionDeclarations") {
        [] => std::slice::from_ref(tool),
        declared => declared,
    });
    let tools = described
        .map(|tool| text(if tool["function"].is_null() { &tool["name"] } else { &tool["function"]["name"] }));
    let of_anthropic = array(&body, "messages").iter().flat_map(|message| array(message, "content"));
    let of_anthropic = of_anthropic.filter(|part| part["type"] == "tool_result").map(|part| &part["content"]);
    let of_others = array(&body, "messages")
        .iter()
        .filter(|message| message["role"] == "tool")
        .map(|message| &message["content"]);
    let of_responses = array(&body, "input").iter().map(|item| &item["output"]);
    let of_gemini = array(&body, "contents").iter().flat_map(|content| array(content, "parts"));
    let of_gemini = of_gemini.map(|part| &part["functionResponse"]["response"]["output"]);
    let of_newer = of_responses.chain(of_gemini).filter(|output| !output.is_null());
    Round {
        results: of_others.chain(of_anthropic).chain(of_newer).map(text).collect(),
        tools: tools.collect(),
        body: body.clone(),
    }
}

/// The format's rules: each call has one result, at the place where the format wants it, and every call's id is its own.
fn in_order(asked: &Asked) -> Result<(), String> {
    match asked.path.as_str() {
        "/v1/messages" => of_anthropic(&asked.body),
        "/v1/responses" => of_responses(&asked.body),
        GEMINI => of_gemini(&asked.body),
        _ => of_chat(&asked.body),
    }
}

fn of_chat(body: &Value) -> Result<(), String> {
    let mut open: Vec<String> = Vec::new();
    for message in array(body, "messages") {
        match message["role"].as_str().unwrap_or_default() {
            "tool" => {
                let id =
                    message["tool_call_id"].as_str().or(message["tool_name"].as_str()).unwrap_or_default();
                let at = open
                    .iter()
                    .position(|call| call == id)
                    .ok_or(format!("a result without a call: {message}"))?;
                open.remove(at);
            }
            _ if !open.is_empty() => return Err(format!("{open:?} have no result before {message}")),
            _ => {}
        }
        let calls = array(message, "tool_calls").iter();
        open.extend(
            calls
                .map(|call| text(if call["id"].is_null() { &call["function"]["name"] } else { &call["id"] })),
        );
    }
    if open.is_empty() { Ok(()) } else { Err(format!("{open:?} have no result")) }
}

fn of_anthropic(body: &Value) -> Result<(), String> {
    let mut open: Vec<String> = Vec::new();
    let mut before = "";
    for message in array(body, "messages") {
        let role = message["role"].as_str().unwrap_or_default();
        if role == before {
            return Err(format!("two messages of {role}"));
        }
        before = role;
        let parts = array(message, "content");
        let results = parts.iter().take_while(|part| part["type"] == "tool_result");
        let results: Vec<_> = results.map(|part| text(&part["tool_use_id"])).collect();
        if results.iter().collect::<std::collections::BTreeSet<_>>() != open.iter().collect()
            || results.len() != open.len()
        {
            return Err(format!("calls {open:?}, results {results:?}"));
        }
        if parts.iter().skip(results.len()).any(|part| part["type"] == "tool_result") {
            return Err("a result behind something else".into());
        }
        open = parts.iter().filter(|part| part["type"] == "tool_use").map(|part| text(&part["id"])).collect();
    }
    if open.is_empty() { Ok(()) } else { Err(format!("{open:?} have no result")) }
}

fn of_responses(body: &Value) -> Result<(), String> {
    if body["store"] != false || !body["previous_response_id"].is_null() {
        return Err("something would be stored".into());
    }
    let mut open: Vec<String> = Vec::new();
    let mut before = "";
    for item in array(body, "input") {
        let kind = item["type"].as_str().unwrap_or_default();
        let id = text(&item["call_id"]);
        match kind {
            "function_call" if before != "reasoning" && before != "function_call" => {
                return Err(format!("its thoughts are missing before {item}"));
            }
            "function_call" => open.push(id),
            "function_call_output" => {
                let at = open.iter().position(|call| *call == id);
                open.remove(at.ok_or(format!("a result without a call: {item}"))?);
            }
            "reasoning" if item["encrypted_content"] != THOUGHTS => {
                return Err(format!("other thoughts: {item}"));
            }
            _ if !open.is_empty() => return Err(format!("{open:?} have no result before {item}")),
            _ => {}
        }
        before = kind;
    }
    let ends_well = open.is_empty() && before != "reasoning";
    if ends_well { Ok(()) } else { Err(format!("{open:?} have no result, or thoughts led to nothing")) }
}

fn of_gemini(body: &Value) -> Result<(), String> {
    let mut open: Vec<String> = Vec::new();
    let mut before = "";
    for content in array(body, "contents") {
        let role = content["role"].as_str().unwrap_or_default();
        if role == before {
            return Err(format!("two contents of {role}"));
        }
        before = role;
        let parts = array(content, "parts");
        let names = |field: &str| -> Vec<String> {
            parts
                .iter()
                .filter(|part| !part[field].is_null())
                .map(|part| text(&part[field]["name"]))
                .collect()
        };
        if names("functionResponse") != open {
            return Err(format!("calls {open:?}, results {:?}", names("functionResponse")));
        }
        open = names("functionCall");
        let first = parts.iter().find(|part| !part["functionCall"].is_null());
        if first.is_some_and(|part| part["thoughtSignature"] != THOUGHTS) {
            return Err(format!("the signature is missing: {content}"));
        }
    }
    if open.is_empty() { Ok(()) } else { Err(format!("{open:?} have no result")) }
}

fn speak(asked: &Asked, stream: &mut TcpStream, say: Say, left: &AtomicUsize) -> bool {
    let format = Format::of(&asked.path);
    if let Say::Refuse(status, body) = &say {
        return answer(stream, status, "application/json", "", &body.to_string());
    }
    match format {
        Format::Ollama => begin_stream(stream, "application/x-ndjson"),
        _ => begin_events(stream),
    }
    format.begin(stream);
    match say {
        Say::Text(text) => {
            for piece in text.split_inclusive(' ') {
                format.text(stream, piece);
            }
            format.end(stream, false)
        }
        Say::Ends(text, finish) => {
            format.text(stream, &text);
            format.delta(stream, &json!({}), Some(finish));
            event(stream, "data: [DONE]\n\n")
        }
        Say::Calls(calls) => {
            for (at, (id, name, arguments)) in calls.iter().enumerate() {
                format.call(stream, at, id, name, arguments);
            }
            format.end(stream, true)
        }
        Say::Hang => {
            format.text(stream, "and");
            if is_left(stream) {
                left.fetch_add(1, Ordering::SeqCst);
            }
            true
        }
        Say::Cut => format.text(stream, "and"),
        Say::Endless => {
            let piece = "x".repeat(64 * 1024);
            while format.text(stream, &piece) {}
            true
        }
        Say::Refuse(..) => true,
    }
}

#[derive(Clone, Copy)]
enum Format {
    Chat,
    Anthropic,
    Ollama,
    Responses,
    Gemini,
}

impl Format {
    fn of(path: &str) -> Self {
        match path {
            "/v1/messages" => Self::Anthropic,
            "/api/chat" => Self::Ollama,
            "/v1/responses" => Self::Responses,
            GEMINI => Self::Gemini,
            _ => Self::Chat,
        }
    }

    fn put(self, stream: &mut TcpStream, value: &Value) -> bool {
        match self {
            Self::Chat | Self::Gemini => event(stream, &format!("data: {value}\n\n")),
            Self::Anthropic | Self::Responses => {
                event(stream, &format!("event: {}\ndata: {value}\n\n", value["type"].as_str().unwrap()))
            }
            Self::Ollama => event(stream, &format!("{value}\n")),
        }
    }

    fn delta(self, stream: &mut TcpStream, delta: &Value, finish: Option<&str>) -> bool {
        let choice = json!({"index": 0, "delta": delta, "finish_reason": finish});
        self.put(
            stream,
            &json!({"id": "c", "object": "chat.completion.chunk", "model": "m", "choices": [choice]}),
        )
    }

    fn parts(self, stream: &mut TcpStream, parts: &Value, finish: Option<&str>) -> bool {
        let candidate =
            json!({"content": {"role": "model", "parts": parts}, "finishReason": finish, "index": 0});
        let usage = json!({"promptTokenCount": 11, "candidatesTokenCount": 4, "thoughtsTokenCount": 3, "totalTokenCount": 18});
        self.put(stream, &json!({"candidates": [candidate], "usageMetadata": usage, "modelVersion": "m"}))
    }

    fn begin(self, stream: &mut TcpStream) {
        match self {
            Self::Chat => drop(self.delta(stream, &json!({"role": "assistant", "content": ""}), None)),
            Self::Anthropic => {
                let usage = json!({"input_tokens": 11, "output_tokens": 1});
                let message = json!({"id": "m", "type": "message", "role": "assistant", "content": [], "model": "m", "usage": usage});
                self.put(stream, &json!({"type": "message_start", "message": message}));
            }
            Self::Ollama | Self::Gemini => {}
            Self::Responses => {
                let response = json!({"id": "r", "object": "response", "status": "in_progress", "model": "m", "output": [], "usage": null});
                self.put(
                    stream,
                    &json!({"type": "response.created", "sequence_number": 0, "response": response}),
                );
                self.put(stream, &json!({"type": "response.of_next_year", "item": 7}));
            }
        }
    }

    fn text(self, stream: &mut TcpStream, text: &str) -> bool {
        match self {
            Self::Chat => self.delta(stream, &json!({"content": text}), None),
            Self::Anthropic => {
                self.put(stream, &json!({"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}));
                self.put(stream, &json!({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": text}}));
                self.put(stream, &json!({"type": "content_block_stop", "index": 0}))
            }
            Self::Ollama => self.put(
                stream,
                &json!({"model": "m", "message": {"role": "assistant", "content": text}, "done": false}),
            ),
            Self::Responses => {
                let delta = json!({"type": "response.output_text.delta", "item_id": "msg", "output_index": 0, "content_index": 0, "delta": text});
                self.put(stream, &delta)
            }
            Self::Gemini => self.parts(stream, &json!([{"text": text}]), None),
        }
    }

    fn call(self, stream: &mut TcpStream, at: usize, id: &str, name: &str, arguments: &str) {
        match self {
            Self::Chat => {
                let begin = json!({"index": at, "id": id, "type": "function", "function": {"name": name, "arguments": ""}});
                self.delta(stream, &json!({"tool_calls": [begin]}), None);
                let rest = json!({"index": at, "function": {"arguments": arguments}});
                self.delta(stream, &json!({"tool_calls": [rest]}), None);
            }
            Self::Anthropic => {
                let block = json!({"type": "tool_use", "id": id, "name": name, "input": {}});
                self.put(
                    stream,
                    &json!({"type": "content_block_start", "index": at, "content_block": block}),
                );
                let delta = json!({"type": "input_json_delta", "partial_json": arguments});
                self.put(stream, &json!({"type": "content_block_delta", "index": at, "delta": delta}));
                self.put(stream, &json!({"type": "content_block_stop", "index": at}));
            }
            Self::Ollama => {
                let arguments: Value = serde_json::from_str(arguments).unwrap_or_else(|_| json!(arguments));
                let call = json!({"function": {"name": name, "arguments": arguments}});
                self.put(stream, &json!({"model": "m", "message": {"role": "assistant", "content": "", "tool_calls": [call]}, "done": false}));
            }
            Self::Responses => self.responses_call(stream, at, id, name, arguments),
            Self::Gemini => {
                let args: Value = serde_json::from_str(arguments).unwrap_or_else(|_| json!({}));
                let mut part = json!({"functionCall": {"name": name, "args": args, "id": id}});
                if at == 0 {
                    part["thoughtSignature"] = json!(THOUGHTS);
                }
                self.parts(stream, &json!([part]), None);
            }
        }
    }

    /// A call, the first one behind the thoughts that led to it.
    fn responses_call(self, stream: &mut TcpStream, at: usize, id: &str, name: &str, arguments: &str) {
        let item = |kind: &str, index: usize, item: &Value| json!({"type": kind, "output_index": index, "item": item});
        if at == 0 {
            let thoughts =
                json!({"id": "rs", "type": "reasoning", "encrypted_content": THOUGHTS, "summary": []});
            self.put(stream, &item("response.output_item.added", 0, &thoughts));
            self.put(stream, &item("response.output_item.done", 0, &thoughts));
        }
        let call = |arguments: &str, status: &str| json!({"id": format!("fc_{at}"), "type": "function_call", "call_id": id, "name": name, "arguments": arguments, "status": status});
        self.put(stream, &item("response.output_item.added", at + 1, &call("", "in_progress")));
        let delta = json!({"type": "response.function_call_arguments.delta", "item_id": format!("fc_{at}"), "output_index": at + 1, "delta": arguments});
        self.put(stream, &delta);
        self.put(stream, &item("response.output_item.done", at + 1, &call(arguments, "completed")));
    }

    fn end(self, stream: &mut TcpStream, calls: bool) -> bool {
        match self {
            Self::Chat => {
                self.delta(stream, &json!({}), Some(if calls { "tool_calls" } else { "stop" }));
                let usage = json!({"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18});
                self.put(stream, &json!({"id": "c", "object": "chat.completion.chunk", "choices": [], "usage": usage}));
                event(stream, "data: [DONE]\n\n")
            }
            Self::Anthropic => {
                let why = if calls { "tool_use" } else { "end_turn" };
                self.put(stream, &json!({"type": "message_delta", "delta": {"stop_reason": why}, "usage": {"output_tokens": 7}}));
                self.put(stream, &json!({"type": "message_stop"}))
            }
            Self::Ollama => self.put(
                stream,
                &json!({"model": "m", "message": {"role": "assistant", "content": ""}, "done": true, "done_reason": "stop",
                    "prompt_eval_count": 11, "eval_count": 7}),
            ),
            Self::Responses => {
                let details = json!({"cached_tokens": 0});
                let usage = json!({"input_tokens": 11, "output_tokens": 7, "total_tokens": 18, "input_tokens_details": details});
                let response = json!({"id": "r", "object": "response", "status": "completed", "model": "m", "output": [], "usage": usage});
                self.put(stream, &json!({"type": "response.completed", "response": response}))
            }
            // Google says so of calls, too.
            Self::Gemini => self.parts(stream, &json!([{"text": ""}]), Some("STOP")),
        }
    }
}

/// Waits until the other side closes the connection.
fn is_left(stream: &mut TcpStream) -> bool {
    use std::io::Read as _;
    let _ = stream.set_read_timeout(Some(LIMIT.max(Duration::from_secs(1))));
    matches!(stream.read(&mut [0; 16]), Ok(0)) || stream.peek(&mut [0; 1]).is_err()
}
