//! Tools that run as tasks: whoever calls them without `task`, or without the extension in the modern generation, is refused.
//!
//! ```text
//!  task_echo     working, working, completed; its result is its arguments
//!  task_asks     working, working, input_required; its result is what the client answers to a question
//!  task_fails    working, working, failed; its result is an error
//!  task_hangs    working for ever
//! ```

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use crate::server::{Request, Server};
use crate::tools::put_text;
use crate::wire::quoted;

/// The beginning of their names.
pub const PREFIX: &str = "task_";

/// The number of times that it is asked about a task before that is over.
const LOOKS: u32 = 2;

/// The tasks that were begun.
pub type Tasks = Mutex<HashMap<String, Begun>>;

#[derive(Debug, Clone)]
pub struct Begun {
    tool: String,
    arguments: String,
    /// How often it was asked about.
    looks: u32,
    /// Modern: the answers to its question, and the look at which they came.
    answers: Option<(String, u32)>,
}

/// Begins a task.
pub fn begin(server: &Server, request: &Request) {
    let capabilities = request.params.object("_meta").object("io.modelcontextprotocol/clientCapabilities");
    let is_wanted = match server.settings.modern {
        true => capabilities.object("extensions").raw("io.modelcontextprotocol/tasks").is_some(),
        false => request.params.raw("task").is_some(),
    };
    if !is_wanted {
        return server.out.error(&request.id, -32601, "this tool requires task augmentation", None);
    }
    let (tool, arguments) = (request.params.text("name"), request.params.raw("arguments").unwrap_or("{}"));
    let id = format!("task of {}", request.id);
    let begun = Begun { tool, arguments: arguments.to_owned(), looks: 0, answers: None };
    server.tasks.lock().unwrap().insert(id.clone(), begun);
    match server.settings.modern {
        true => {
            server.out.result(&request.id, &format!("{{\"resultType\":\"task\",{}}}", told(&id, "working")))
        }
        false => server.complete(&request.id, &format!("\"task\":{{{}}}", told(&id, "working"))),
    }
}

/// Answers a request about a task that was begun; false if it is none.
pub fn answer(server: &Arc<Server>, request: &Request) -> bool {
    if !request.method.starts_with("tasks/") {
        return false;
    }
    let id = request.params.text("taskId");
    let Some(task) = server.tasks.lock().unwrap().get_mut(&id).map(|task| {
        task.looks += u32::from(request.method == "tasks/get");
        if let Some(responses) = request.params.raw("inputResponses") {
            task.answers = Some((responses.to_owned(), task.looks));
        }
        task.clone()
    }) else {
        return false;
    };
    match request.method.as_str() {
        "tasks/get" if server.settings.modern => server.complete(&request.id, &look(&id, &task)),
        "tasks/get" => server.complete(&request.id, &told(&id, task.status())),
        "tasks/update" => server.complete(&request.id, ""),
        "tasks/result" => give(server, request, &task),
        _ => {
            server.journal.write(&format!("gave up {}", task.tool));
            server.complete(&request.id, &told(&id, "cancelled"));
        }
    }
    true
}

impl Begun {
    fn status(&self) -> &'static str {
        match (self.tool.as_str(), &self.answers) {
            _ if self.looks <= LOOKS => "working",
            ("task_hangs", _) => "working",
            // It takes the answers at the second look after them.
            ("task_asks", Some((_, at))) if self.looks > at + 1 => "completed",
            ("task_asks", _) => "input_required",
            ("task_fails", _) => "failed",
            _ => "completed",
        }
    }
}

/// A task as the modern generation tells of it, with its result, error or questions.
fn look(id: &str, task: &Begun) -> String {
    let status = task.status();
    let more = match (status, &task.answers) {
        ("completed", answers) => {
            let text = answers.as_ref().map_or(&task.arguments, |(responses, _)| responses);
            format!(",\"result\":{{\"content\":[{{\"type\":\"text\",\"text\":{}}}]}}", quoted(text))
        }
        ("failed", _) => ",\"error\":{\"code\":-32050,\"message\":\"the task has failed\"}".into(),
        ("input_required", _) => {
            let (method, params) = crate::asks::question("ask_elicitation");
            format!(",\"inputRequests\":{{\"q\":{{\"method\":\"{method}\",\"params\":{params}}}}}")
        }
        _ => String::new(),
    };
    told(id, status) + &more
}

fn give(server: &Arc<Server>, request: &Request, task: &Begun) {
    match task.tool.as_str() {
        "task_asks" => crate::tools::ask(server, request, "ask_elicitation"),
        "task_fails" => server.out.error(&request.id, -32050, "the task has failed", None),
        _ => put_text(server, &request.id, &task.arguments),
    }
}

/// The members of a task, as both generations tell of it.
fn told(id: &str, status: &str) -> String {
    let at = "\"2026-01-01T00:00:00Z\"";
    format!(
        "\"taskId\":{},\"status\":\"{status}\",\"createdAt\":{at},\"lastUpdatedAt\":{at},\"ttl\":null,\"pollInterval\":25",
        quoted(id)
    )
}
