//! Tools that run as tasks, of the older generation: whoever calls them without `task` is refused.
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

/// The tasks that were begun: their tools, their arguments, and how often they were asked about.
pub type Tasks = Mutex<HashMap<String, (String, String, u32)>>;

/// Begins a task.
pub fn begin(server: &Server, request: &Request) {
    if request.params.raw("task").is_none() {
        return server.out.error(&request.id, -32601, "this tool requires task augmentation", None);
    }
    let (tool, arguments) = (request.params.text("name"), request.params.raw("arguments").unwrap_or("{}"));
    let id = format!("task of {}", request.id);
    server.tasks.lock().unwrap().insert(id.clone(), (tool, arguments.to_owned(), 0));
    server.complete(&request.id, &format!("\"task\":{{{}}}", told(&id, "working")));
}

/// Answers a request about a task that was begun; false if it is none.
pub fn answer(server: &Arc<Server>, request: &Request) -> bool {
    if !request.method.starts_with("tasks/") {
        return false;
    }
    let id = request.params.text("taskId");
    let Some((tool, arguments, looks)) = server.tasks.lock().unwrap().get_mut(&id).map(|task| {
        task.2 += u32::from(request.method == "tasks/get");
        task.clone()
    }) else {
        return false;
    };
    match request.method.as_str() {
        "tasks/get" => {
            let status = match tool.as_str() {
                _ if looks <= LOOKS => "working",
                "task_hangs" => "working",
                "task_asks" => "input_required",
                "task_fails" => "failed",
                _ => "completed",
            };
            server.complete(&request.id, &told(&id, status));
        }
        "tasks/result" => give(server, request, &tool, &arguments),
        _ => {
            server.journal.write(&format!("gave up {tool}"));
            server.complete(&request.id, &told(&id, "cancelled"));
        }
    }
    true
}

fn give(server: &Arc<Server>, request: &Request, tool: &str, arguments: &str) {
    match tool {
        "task_asks" => crate::tools::ask(server, request, "ask_elicitation"),
        "task_fails" => server.out.error(&request.id, -32050, "the task has failed", None),
        _ => put_text(server, &request.id, arguments),
    }
}

/// The members of a task, as the server tells of it.
fn told(id: &str, status: &str) -> String {
    let at = "\"2026-01-01T00:00:00Z\"";
    format!(
        "\"taskId\":{},\"status\":\"{status}\",\"createdAt\":{at},\"lastUpdatedAt\":{at},\"ttl\":null,\"pollInterval\":25",
        quoted(id)
    )
}
