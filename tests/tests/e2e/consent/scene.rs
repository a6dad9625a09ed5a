//! Servers with exactly the facts of the tasks, a model that makes the calls of one, and a person who answers.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use harbor_tests::{Bridge, Home, LIMIT, Pending};
use serde_json::{Value, json};

use crate::agent::provider::{Provider, Round, Say};

const SERVER: &str = include_str!("server.py");

/// What holds a server, and what of the person's is open to it.
#[derive(Debug, Clone, Copy)]
pub enum Held {
    /// No network; nothing of the person's.
    Closed,
    /// No network; a directory of theirs to read and write.
    Files,
    /// No network; a directory of theirs by an argument.
    Argument,
    /// Some hosts, and a key.
    Api,
    /// The whole network; nothing of the person's.
    Web,
    /// The whole network, and a key.
    Account,
}

/// A call of a task: `server_tool` and its arguments.
pub type Calls = Vec<(&'static str, Value)>;

pub struct Scene {
    pub bridge: Bridge,
    pub home: Home,
    _provider: Provider,
    /// What the model does, by what is said to it.
    script: Script,
}

type Script = Arc<Mutex<HashMap<String, Calls>>>;

/// What came of a task.
#[derive(Debug, PartialEq, Eq)]
pub struct Came {
    /// How often the person was asked, and why.
    pub asked: Vec<String>,
    /// Whether each call was made.
    pub made: Vec<bool>,
}

impl Scene {
    /// A bridge with a scripted model: in a session that says `calls`, it makes them one after the other.
    pub fn new() -> Self {
        let script = Script::default();
        let heard = script.clone();
        let provider = Provider::start(move |round| next(round, &heard.lock().unwrap()));
        let home = Home::new();
        let bridge = Bridge::start(&home);
        let base = format!("http://127.0.0.1:{}/v1", provider.server.port);
        let fields =
            json!({"provider_type": "openai-compatible", "name": "p", "base_url": base, "dialect": "chat"});
        bridge.call("llm_add_provider", &fields).unwrap();
        std::fs::create_dir_all(home.scratch("theirs")).unwrap();
        Self { bridge, home, _provider: provider, script }
    }

    /// A server of these tools: `name`, or `name!` for one that declares to destroy, `name?` for one that says that it reads.
    pub fn server(&self, id: &str, held: Held, tools: &[&str], supervision: &Value) {
        let script = self.home.scratch("server.py");
        std::fs::write(&script, SERVER).unwrap();
        let tools: Vec<_> = tools.iter().map(|tool| described(tool)).collect();
        let theirs = self.home.scratch("theirs");
        let (sandbox, more) = match held {
            Held::Closed => (json!({"network": "none"}), None),
            Held::Files => (json!({"network": "none", "write": [theirs]}), None),
            Held::Argument => (json!({"network": "none"}), Some(theirs)),
            Held::Api => (json!({"network": "hosts", "hosts": ["api.example.com"]}), None),
            Held::Web | Held::Account => (json!({}), None),
        };
        let mut args = vec![json!(script), json!(json!(tools).to_string())];
        args.extend(more.map(|path| json!(path)));
        let mut fields = json!({"server_id": id, "command": "python3", "args": args, "sandbox": sandbox, "supervision": supervision});
        if matches!(held, Held::Api | Held::Account) {
            fields["secrets"] = json!(["KEY"]);
        }
        self.bridge.call("add_server", &fields).unwrap();
        if matches!(held, Held::Api | Held::Account) {
            let key = json!({"server_id": id, "key": "KEY", "value": "a-key-of-the-persons"});
            self.bridge.call("set_credential", &key).unwrap();
        }
        self.bridge.connect(id);
    }

    /// A chat of the person's in this mode.
    pub fn chat(&self, mode: &str) -> String {
        let begun = self.bridge.call("chat_create_session", &json!({"mode": mode})).unwrap();
        begun["session"]["id"].as_str().unwrap().to_owned()
    }

    /// Has the model begin to make these calls in a chat.
    pub fn begins(&self, chat: &str, typed: &str, calls: &Calls) -> Pending {
        self.script.lock().unwrap().insert(typed.to_owned(), calls.clone());
        let fields = json!({"session_id": chat, "message": typed, "stream": true, "model": "p:m"});
        self.bridge.request("chat_send_message", &fields)
    }

    /// Has the model make these calls in a chat, of which the person has typed `typed`; they answer each question with the first
    /// of `says` that it offers.
    pub fn does(&self, chat: &str, typed: &str, calls: &Calls, says: &[&str]) -> Came {
        let pending = self.begins(chat, typed, calls);
        let mut asked = Vec::new();
        loop {
            let event = self.bridge.wait_for_push("chat_event", LIMIT, |push| {
                let event = &push["event"];
                event["waits"] == true || ["final", "error"].iter().any(|end| event["type"] == *end)
            });
            let approval = &event["event"]["approval"];
            if approval.is_null() {
                break;
            }
            asked.push(approval["reason"].as_str().unwrap().to_owned());
            self.answer(approval, says);
        }
        let answer = pending.wait(LIMIT).unwrap();
        let made = answer["steps"].as_array().unwrap().iter().map(|step| step["is_error"] == false);
        Came { asked, made: made.collect() }
    }

    /// Answers a question with the first of `says` that it offers.
    pub fn answer(&self, approval: &Value, says: &[&str]) {
        let offered = approval["answers"].as_array().unwrap();
        let answer = says.iter().find(|answer| offered.contains(&json!(answer)));
        let answer = answer.unwrap_or_else(|| panic!("{approval}"));
        let fields = json!({"approval_id": approval["id"], "answer": answer});
        self.bridge.call("approvals_answer", &fields).unwrap();
    }
}

/// The next call of what was said last.
fn next(round: &Round, script: &HashMap<String, Calls>) -> Say {
    let messages = round.body["messages"].as_array().unwrap();
    let last = messages.iter().rposition(|message| message["role"] == "user").unwrap();
    let text = messages[last]["content"].to_string();
    let calls =
        script.iter().filter(|(said, _)| text.contains(said.as_str())).max_by_key(|(said, _)| said.len());
    let made = messages[last..].iter().filter(|message| message["role"] == "tool").count();
    match calls.and_then(|(_, calls)| calls.get(made)) {
        Some((tool, arguments)) => round.call("c", tool, arguments),
        None => Say::Text("done".into()),
    }
}

fn described(tool: &str) -> Value {
    let name = tool.trim_end_matches(['!', '?']);
    let mut described = json!({"name": name, "inputSchema": {"type": "object"}});
    if tool.ends_with('!') {
        described["annotations"] = json!({"destructiveHint": true});
    }
    if tool.ends_with('?') {
        described["annotations"] = json!({"readOnlyHint": true, "openWorldHint": false});
    }
    described
}
