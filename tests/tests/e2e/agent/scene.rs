//! A bridge with a scripted model and servers, and a session there.

use harbor_tests::{Answer, Bridge, Client, Double, ErrorValue, Home, LIMIT, Pending};
use serde_json::{Value, json};

use super::provider::{Provider, Round, Say};

/// Tools of which the first two only read, and the last one reaches the world.
pub const TOOLS: &str = r#"[
    {"name":"look","description":"Looks.","inputSchema":{"type":"object"},"annotations":{"readOnlyHint":true,"openWorldHint":false}},
    {"name":"find","description":"Finds.","inputSchema":{"type":"object"},"annotations":{"readOnlyHint":true,"openWorldHint":false}},
    {"name":"write","description":"Writes.","inputSchema":{"type":"object"},"annotations":{"readOnlyHint":false,"openWorldHint":false}},
    {"name":"post","description":"Posts.","inputSchema":{"type":"object"},"annotations":{"readOnlyHint":false,"openWorldHint":true}}]"#;

pub struct Scene {
    pub bridge: Bridge,
    pub home: Home,
    pub provider: Provider,
    pub session: String,
}

impl Scene {
    /// With the server `s` that has [`TOOLS`], each of which answers its arguments.
    pub fn new(script: impl Fn(&Round) -> Say + Send + Sync + 'static) -> Self {
        Self::of("chat", &json!({}), script)
    }

    /// The same in another format, and with a session of other fields.
    pub fn of(
        dialect: &str,
        session: &Value,
        script: impl Fn(&Round) -> Say + Send + Sync + 'static,
    ) -> Self {
        let (provider, home) = (Provider::start(script), Home::new());
        let bridge = Bridge::start(&home);
        let mut scene = Self { bridge, home, provider, session: String::new() };
        scene.add_provider(dialect);
        scene.bridge.add_and_connect("s", &Double::sound(&scene.home).closed().offering(TOOLS));
        scene.session = scene.begin(session);
        scene
    }

    pub fn add_provider(&self, dialect: &str) {
        let port = self.provider.server.port;
        let base = match dialect {
            "ollama" | "gemini" => format!("http://127.0.0.1:{port}"),
            _ => format!("http://127.0.0.1:{port}/v1"),
        };
        let fields =
            json!({"provider_type": "openai-compatible", "name": "p", "base_url": base, "dialect": dialect});
        self.bridge.call("llm_add_provider", &fields).unwrap();
    }

    /// Adds the server `many`, with 200 tools.
    pub fn add_many(&self) {
        let tool = |n: usize| {
            json!({"name": format!("t{n}"), "description": format!("Tool number {n}."), "inputSchema": {"type": "object"},
            "annotations": {"readOnlyHint": true}})
        };
        let tools = json!((0..200).map(tool).collect::<Vec<_>>()).to_string();
        self.bridge.add_and_connect("many", &Double::sound(&self.home).closed().offering(&tools));
    }

    /// Begins a session.
    pub fn begin(&self, fields: &Value) -> String {
        let begun = self.bridge.call("chat_create_session", fields).unwrap();
        begun["session"]["id"].as_str().unwrap().to_owned()
    }

    /// Says something, without waiting for the end.
    pub fn send(&self, text: &str) -> Pending {
        self.send_over(&self.bridge, text, &json!({}))
    }

    pub fn send_over(&self, client: &Client, text: &str, more: &Value) -> Pending {
        let mut fields = json!({"session_id": self.session, "message": text, "stream": true, "model": "p:m"});
        for (name, value) in more.as_object().unwrap() {
            fields[name] = value.clone();
        }
        client.request("chat_send_message", &fields)
    }

    /// Says something, and waits for the end.
    pub fn say(&self, text: &str) -> Result<Answer, ErrorValue> {
        self.send(text).wait(LIMIT)
    }

    /// Waits for an event of this type.
    pub fn event(&self, kind: &str) -> Value {
        self.bridge.wait_for_push("chat_event", LIMIT, |push| push["event"]["type"] == kind)["event"].clone()
    }

    /// Answers the question of an event.
    pub fn decide(&self, event: &Value, answer: &str) -> Value {
        let fields = json!({"approval_id": event["approval"]["id"], "answer": answer});
        self.bridge.call("approvals_answer", &fields).unwrap()["answered"].clone()
    }

    /// What was said in the session.
    pub fn messages(&self) -> Vec<Value> {
        let got = self.bridge.call("chat_get_session", &json!({"session_id": self.session})).unwrap();
        got["messages"].as_array().unwrap().clone()
    }
}
