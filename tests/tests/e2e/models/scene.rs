//! A provider that says what a test wants, and a home in which it was added.

use std::net::TcpStream;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use harbor_tests::scripted::{Asked, answer, begin_events, event};
use harbor_tests::{Answer, Bridge, Client, ErrorValue, Home, Pending, Scripted};
use serde_json::{Value, json};

/// The key that it wants. It may be in no file but the one for secrets.
pub const KEY: &str = "sk-canary4c1d9e77";

/// A word of what is said to it, and one of what it says; they may be in no file at all.
pub const ASKED: &str = "canaryask58b0";
pub const SAID: &str = "canarysaid91fe";

/// A site, as origins are written.
pub const SITE: &str = "https://example.com";

/// How long it waits for somebody to leave.
const PATIENCE: Duration = Duration::from_secs(30);

/// The models of the scripted provider, which does with a chat what the model's name says.
///
/// - `m`: says `Hello canarysaid91fe` in pieces, with usage
/// - `mute`: the same without usage
/// - `marked`: says [`MARKED`] in pieces
/// - `many`: 200 thoughts, each with a piece behind it
/// - `hangs`: says one piece, and nothing more until the connection ends
/// - `silent`: the same without a word
/// - `calling`: the same in the arguments of a call
/// - `tool`: calls `now`
/// - `long`: says [`LONG`] in one piece, then has the same as an argument
pub const MODELS: [&str; 9] = ["m", "marked", "many", "mute", "hangs", "silent", "calling", "tool", "long"];

/// A short answer in Markdown, in the pieces in which it comes.
pub const MARKED: [&str; 4] = ["# Her", "ons\nThey **st", "and** and `wa", "it`.\n"];

/// Characters of what `long` says: more than one frame of a browser takes.
pub const LONG: usize = 700_000;

/// A provider that has these models.
pub struct Provider {
    pub server: Scripted,
    left: Arc<Mutex<Vec<Instant>>>,
    mute: Arc<AtomicBool>,
}

impl Provider {
    pub fn start() -> Self {
        let (left, mute) = (Arc::<Mutex<Vec<Instant>>>::default(), Arc::<AtomicBool>::default());
        let (noted, is_mute) = (left.clone(), mute.clone());
        let server = Scripted::start(move |asked, stream| {
            if asked.header("authorization") != format!("Bearer {KEY}") {
                let body = json!({"error": {"message": "no such key here", "type": "invalid_request_error"}});
                return answer(stream, "401 Unauthorized", "application/json", "", &body.to_string());
            }
            match (asked.verb.as_str(), asked.path.as_str()) {
                ("GET", _) if is_mute.load(Ordering::SeqCst) => hang(stream, &noted),
                ("GET", "/v1/models") => {
                    let data: Vec<_> = MODELS.map(|id| json!({"id": id})).into();
                    let models = json!({"object": "list", "data": data});
                    answer(stream, "200 OK", "application/json", "", &models.to_string())
                }
                ("POST", "/v1/chat/completions") => chat(asked, stream, &noted),
                _ => answer(stream, "404 Not Found", "text/plain", "", "nothing here"),
            }
        });
        Self { server, left, mute }
    }

    /// Whether it says nothing to whoever asks for its models.
    pub fn set_mute(&self, mute: bool) {
        self.mute.store(mute, Ordering::SeqCst);
    }

    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}/v1", self.server.port)
    }

    /// How many callers have left in the middle of an answer.
    pub fn left(&self) -> usize {
        self.left.lock().unwrap().len()
    }

    /// When the last of them left.
    pub fn last_left(&self) -> Instant {
        *self.left.lock().unwrap().last().unwrap()
    }

    /// What came in as chats.
    pub fn chats(&self) -> Vec<Asked> {
        self.server.asked().into_iter().filter(|asked| asked.verb == "POST").collect()
    }
}

fn piece(stream: &mut TcpStream, delta: &Value, finish: Option<&str>) -> bool {
    let chunk = json!({"id": "c", "object": "chat.completion.chunk", "model": "m",
        "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]});
    event(stream, &format!("data: {chunk}\n\n"))
}

fn chat(asked: &Asked, stream: &mut TcpStream, left: &Mutex<Vec<Instant>>) -> bool {
    if asked.body["model"] == "silent" {
        return hang(stream, left);
    }
    begin_events(stream);
    piece(stream, &json!({"role": "assistant", "content": ""}), None);
    let finish = match asked.body["model"].as_str().unwrap_or_default() {
        "many" => {
            // Neighbours of one kind may come as one.
            for n in 0..200 {
                piece(stream, &json!({"reasoning_content": "hm"}), None);
                piece(stream, &json!({"content": format!("{n} ")}), None);
            }
            "stop"
        }
        "hangs" => {
            piece(stream, &json!({"content": "and"}), None);
            return hang(stream, left);
        }
        "calling" => {
            begin_call(stream);
            return hang(stream, left);
        }
        "tool" => {
            begin_call(stream);
            let call = |call: Value| json!({"tool_calls": [call]});
            for part in ["{\"zone\":", "\"UTC\"}"] {
                piece(stream, &call(json!({"index": 0, "function": {"arguments": part}})), None);
            }
            "tool_calls"
        }
        "long" => {
            let long = "ü".repeat(LONG);
            piece(stream, &json!({"content": long}), None);
            begin_call(stream);
            let arguments = json!({"text": long}).to_string();
            let call = json!({"index": 0, "function": {"arguments": arguments}});
            piece(stream, &json!({"tool_calls": [call]}), None);
            "tool_calls"
        }
        "marked" => {
            for text in MARKED {
                piece(stream, &json!({"content": text}), None);
            }
            "stop"
        }
        _ => {
            for text in ["Hello ", SAID] {
                piece(stream, &json!({"content": text}), None);
            }
            "stop"
        }
    };
    piece(stream, &json!({}), Some(finish));
    if asked.body["model"] != "mute" {
        let usage = json!({"id": "c", "object": "chat.completion.chunk", "choices": [],
            "usage": {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18}});
        event(stream, &format!("data: {usage}\n\n"));
    }
    event(stream, "data: [DONE]\n\n")
}

fn begin_call(stream: &mut TcpStream) {
    let begin =
        json!({"index": 0, "id": "call_1", "type": "function", "function": {"name": "now", "arguments": ""}});
    piece(stream, &json!({"tool_calls": [begin]}), None);
}

/// Says nothing more until the other side closes the connection, and notes when that is.
fn hang(stream: &mut TcpStream, left: &Mutex<Vec<Instant>>) -> bool {
    use std::io::Read as _;
    let _ = stream.set_read_timeout(Some(PATIENCE));
    if matches!(stream.read(&mut [0; 16]), Ok(0)) || stream.peek(&mut [0; 1]).is_err() {
        left.lock().unwrap().push(Instant::now());
    }
    true
}

/// A bridge to which the provider was added under the id `p`.
pub struct Scene {
    pub bridge: Bridge,
    pub home: Home,
    pub provider: Provider,
}

impl Scene {
    pub fn new() -> Self {
        Self::with(&[])
    }

    pub fn with(env: &[(&str, &str)]) -> Self {
        let (provider, home) = (Provider::start(), Home::new());
        let bridge = Bridge::start_with(&home, env);
        let scene = Self { bridge, home, provider };
        scene.add(&json!({"name": "p", "api_key": KEY})).unwrap();
        scene
    }

    /// Adds the provider once more, with these fields.
    pub fn add(&self, more: &Value) -> Result<Answer, ErrorValue> {
        let mut fields = json!({"provider_type": "openai-compatible", "base_url": self.provider.url()});
        for (name, value) in more.as_object().unwrap() {
            fields[name] = value.clone();
        }
        self.bridge.call("llm_add_provider", &fields)
    }

    /// Asks a model of the provider, and streams.
    pub fn begin(&self, model: &str, more: &Value) -> Pending {
        begin(&self.bridge, "llm_chat", model, more)
    }

    pub fn chat(&self, model: &str) -> Result<Answer, ErrorValue> {
        self.begin(model, &json!({})).wait(harbor_tests::LIMIT)
    }

    /// The rows of the usage, without their days.
    pub fn usage(&self) -> Vec<Value> {
        let usage = self.bridge.call("llm_usage", &json!({})).unwrap();
        usage["usage"].as_array().unwrap().clone()
    }

    /// The events of a request that have come.
    pub fn events(&self) -> Vec<Value> {
        std::iter::from_fn(|| self.bridge.push_now("llm_event")).collect()
    }

    /// Waits until the worker has ended all requests, and gives its process id.
    pub fn status(&self) -> Value {
        self.bridge.call("status", &json!({})).unwrap()["status"]["models"].clone()
    }
}

pub fn begin(client: &Client, tag: &str, model: &str, more: &Value) -> Pending {
    let mut fields =
        json!({"model": model, "stream": true, "messages": [{"role": "user", "content": ASKED}]});
    for (name, value) in more.as_object().unwrap() {
        fields[name] = value.clone();
    }
    client.request(tag, &fields)
}
