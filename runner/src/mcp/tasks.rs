//! Tools that run as tasks (MCP 2025-11-25): the words of a server about a task, and the requests about it.
//!
//! ```text
//!  tools/call {task} ─► {task} ─► tasks/get, at the server's interval ─┬─ working ──────────────────────┐
//!                                  ▲                                   └─ over, or it asks something ─┐ │
//!                                  └──────────────────────────────────────────────────────────────────┼─┘
//!                                                                    tasks/result ◄───────────────────┘ ─► the tool's own result
//! ```
//!
//! Owns the bounds of an interval. The server's name for a task is passed back unread. Must never take a task for a result.

use serde::Deserialize;
use serde_json::value::RawValue;

use super::write::{Request, put_json_member};

/// The parameters of a task: how long its result is kept at most, in milliseconds. No call lasts longer.
pub const PARAMS: &str = "{\"ttl\":3600000}";

/// The pauses between two looks at a task, where the server does not name one, and the shortest and longest that it may name, in
/// milliseconds.
const PAUSE: u64 = 1000;
const SHORTEST_PAUSE: u64 = 20;
const LONGEST_PAUSE: u64 = 60_000;

/// The longest name of a task, in bytes.
const LONGEST_ID: usize = 1024;

/// A task, as its server tells of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerTask {
    /// The server's name for it, a JSON string.
    pub id: String,
    /// True if its result is asked for now: it is over, or it has questions, which come while the result is waited for.
    pub is_due: bool,
    /// How long to wait until the next look, in milliseconds.
    pub pause_ms: u64,
}

#[derive(Deserialize)]
struct TaskText<'a> {
    #[serde(rename = "taskId", borrow)]
    id: &'a RawValue,
    status: &'a str,
    #[serde(rename = "pollInterval", borrow)]
    pause: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Created<'a> {
    #[serde(borrow)]
    task: TaskText<'a>,
}

impl ServerTask {
    /// The task that a call has begun; none if `result` tells of none.
    #[must_use]
    pub fn created(result: &str) -> Option<Self> {
        let created: Created<'_> = serde_json::from_str(result).ok()?;
        Self::of(&created.task)
    }

    /// The state of a task; none if `result` tells of none.
    #[must_use]
    pub fn told(result: &str) -> Option<Self> {
        Self::of(&serde_json::from_str(result).ok()?)
    }

    fn of(text: &TaskText<'_>) -> Option<Self> {
        let id = text.id.get();
        let is_id = id.starts_with('"') && id.len() <= LONGEST_ID;
        let named = text.pause.and_then(|pause| pause.get().parse().ok());
        is_id.then(|| Self {
            id: id.to_owned(),
            is_due: text.status != "working",
            pause_ms: named.unwrap_or(PAUSE).clamp(SHORTEST_PAUSE, LONGEST_PAUSE),
        })
    }
}

/// A request about the task of this name: `tasks/get`, `tasks/result` or `tasks/cancel`.
#[must_use]
pub fn about(method: &'static str, id: &str) -> Request {
    let mut members = Vec::new();
    put_json_member(&mut members, "taskId", id);
    Request::new(method, members)
}

/// True if a tool can only be called as a task. `more`: its members that are not read one by one, a JSON object.
#[must_use]
pub fn is_required(more: Option<&str>) -> bool {
    #[derive(Deserialize)]
    struct More<'a> {
        #[serde(borrow)]
        execution: Option<Execution<'a>>,
    }
    #[derive(Deserialize)]
    struct Execution<'a> {
        #[serde(rename = "taskSupport", borrow)]
        support: Option<&'a str>,
    }
    let read = more.and_then(|more| serde_json::from_str::<More<'_>>(more).ok());
    read.and_then(|more| more.execution?.support) == Some("required")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_task_is_read_within_bounds_and_a_result_is_none() {
        let of = |text: &str| ServerTask::created(text).map(|task| (task.id, task.is_due, task.pause_ms));
        let task = |more: &str| format!(r#"{{"task":{{"taskId":"a\"1","status":"working"{more}}}}}"#);
        let id = || r#""a\"1""#.to_owned();
        assert_eq!(of(&task(r#","pollInterval":250"#)), Some((id(), false, 250)));
        assert_eq!(of(&task("")), Some((id(), false, 1000)));
        assert_eq!(of(&task(r#","pollInterval":1"#)), Some((id(), false, 20)));
        assert_eq!(of(&task(r#","pollInterval":10000000"#)), Some((id(), false, 60_000)));
        for odd in ["-5", "1e300"] {
            assert_eq!(of(&task(&format!(r#","pollInterval":{odd}"#))), Some((id(), false, 1000)));
        }
        for status in ["completed", "failed", "cancelled", "input_required", "of a newer MCP"] {
            let told = ServerTask::told(&format!(r#"{{"taskId":"1","status":"{status}"}}"#)).unwrap();
            assert!(told.is_due, "{status}");
        }
        let long = format!(r#"{{"task":{{"taskId":"{}","status":"working"}}}}"#, "x".repeat(LONGEST_ID));
        for none in [r#"{"content":[]}"#, r#"{"task":{"taskId":7,"status":"working"}}"#, "7", &long] {
            assert_eq!(of(none), None, "{none}");
        }
    }

    #[test]
    fn only_a_tool_that_says_so_needs_a_task() {
        assert!(is_required(Some(r#"{"execution":{"taskSupport":"required"}}"#)));
        for more in [
            None,
            Some("{}"),
            Some(r#"{"execution":{"taskSupport":"optional"}}"#),
            Some(r#"{"execution":7}"#),
        ] {
            assert!(!is_required(more), "{more:?}");
        }
    }

    #[test]
    fn a_request_names_its_task() {
        let request = about("tasks/get", "\"a\"");
        assert_eq!((&*request.method, &*request.members), ("tasks/get", &b"\"taskId\":\"a\""[..]));
    }
}
