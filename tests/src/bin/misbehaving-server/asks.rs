//! What the server asks of its client: by requests of its own (legacy), or by results that require input (modern).

use std::collections::HashMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::time::Duration;

use harbor_tests::faults::Fault;

use crate::server::{Request, Server};
use crate::tools::{put_text, step_forward};
use crate::wire::{Object, Out};

/// How long a question waits for its answer.
const PATIENCE: Duration = Duration::from_secs(20);

/// What the modern generation gives along and must get back unchanged.
const STATE: &str = "\"st\\u0061te \\\"1\\\"\"";

/// Legacy questions that wait for their answer.
#[derive(Debug, Default)]
pub struct Asks {
    next: AtomicU64,
    open: Mutex<HashMap<String, Sender<String>>>,
}

impl Asks {
    /// Asks, and waits for the answer: `{"result":…}` or `{"error":…}` as the client wrote it.
    pub fn ask(&self, out: &Out, method: &str, params: &str) -> String {
        let id = format!("\"ask-{}\"", self.next.fetch_add(1, Ordering::Relaxed));
        let (sender, answer) = channel();
        self.open.lock().unwrap().insert(id.clone(), sender);
        out.request(&id, method, params);
        answer.recv_timeout(PATIENCE).unwrap_or_else(|_| "no answer".into())
    }

    /// The client answered.
    pub fn on_answer(&self, id: &str, message: &Object) {
        let part = |name: &str| message.raw(name).map(|raw| format!("{{\"{name}\":{raw}}}"));
        let answer = part("result").or_else(|| part("error")).unwrap_or_default();
        if let Some(sender) = self.open.lock().unwrap().remove(id) {
            let _ = sender.send(answer);
        }
    }
}

/// What a tool asks: the method and its parameters.
pub fn question(tool: &str) -> (&'static str, &'static str) {
    match tool {
        "ask_roots" => ("roots/list", "{}"),
        "ask_sampling" => (
            "sampling/createMessage",
            "{\"messages\":[{\"role\":\"user\",\"content\":{\"type\":\"text\",\"text\":\"Hi\"}}],\"maxTokens\":5,\
             \"includeContext\":\"thisServer\"}",
        ),
        _ => (
            "elicitation/create",
            "{\"mode\":\"form\",\"message\":\"Your name?\",\"requestedSchema\":{\"type\":\"object\",\
             \"properties\":{\"name\":{\"type\":\"string\"}}}}",
        ),
    }
}

/// Asks in the modern way; answers with what came back.
pub fn require_input(server: &Server, request: &Request, tool: &str) {
    let (method, params) = question(tool);
    let Some(responses) = request.params.raw("inputResponses") else {
        let asked = format!("\"q\":{{\"method\":\"{method}\",\"params\":{params}}}");
        let result = format!(
            "{{\"resultType\":\"input_required\",\"inputRequests\":{{{asked}}},\"requestState\":{STATE}}}"
        );
        server.out.result(&request.id, &result);
        return;
    };
    let given: serde_json::Value = serde_json::from_str(STATE).expect("a string");
    if request.params.value("requestState") == given {
        put_text(server, &request.id, responses);
    } else {
        server.out.error(&request.id, -32602, "requestState is not what was given", None);
    }
}

/// Never has enough: asks again whatever came.
pub fn require_for_ever(server: &Server, request: &Request) {
    let asked = "{\"q\":{\"method\":\"roots/list\",\"params\":{}}}";
    let result = format!("{{\"resultType\":\"input_required\",\"inputRequests\":{asked}}}");
    server.out.result(&request.id, &result);
}

/// So often [`Fault::PutsOff`] puts a request off.
const DELAYS: u64 = 3;

/// Answers by a state only, which counts, as long as the fault says so; before and after it, progress is told.
pub fn puts_off(server: &Server, request: &Request) -> bool {
    let takes_long = ["tools/call", "resources/read", "prompts/get"].contains(&request.method.as_str());
    let count = request.params.number("requestState").unwrap_or(0);
    let is_endless = request.params.text("name") == "hang";
    if server.settings.fault != Fault::PutsOff || !takes_long || (count >= DELAYS && !is_endless) {
        return false;
    }
    server.journal.write(&format!("put off {}", request.method));
    let token = request.params.object("_meta").raw("progressToken").map(str::to_owned);
    let step = |step| token.iter().for_each(|token| step_forward(server, token, step, 2 * DELAYS));
    step(2 * count + 1);
    let state = count + 1;
    server
        .out
        .result(&request.id, &format!("{{\"resultType\":\"input_required\",\"requestState\":{state}}}"));
    step(2 * count + 2);
    true
}
