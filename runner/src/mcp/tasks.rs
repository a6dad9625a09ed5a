//! Tools that run as tasks: the words of a server about a task, and the requests about it.
//!
//! ```text
//!  2025-11-25, for tools that need it
//!  tools/call {task} ─► {task} ─► tasks/get, at the server's interval ─┬─ working ──────────────────────┐
//!                                  ▲                                   └─ over, or it asks something ─┐ │
//!                                  └──────────────────────────────────────────────────────────────────┼─┘
//!                                                                    tasks/result ◄───────────────────┘ ─► the tool's own result
//!
//!  2026-07-28, where the server has the extension and chooses so
//!  tools/call ─► resultType task ─► tasks/get, likewise ─┬─ working ──────────────────────────────────────────────────┐
//!                                    ▲                   ├─ completed {result} ─► the tool's own result               │
//!                                    │                   └─ input_required {inputRequests} ─► ask above, tasks/update ┤
//!                                    └────────────────────────────────────────────────────────────────────────────────┘
//! ```
//!
//! Owns the bounds of an interval. The server's name for a task is passed back unread. Must never take a task for a result.

use std::borrow::Cow;

use harbor_ipc_proto::link::runner::{CallFailure, Era, Outcome};
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
    /// How far it is.
    pub stage: Stage,
    /// How long to wait until the next look, in milliseconds.
    pub pause_ms: u64,
}

/// How far a task is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Stage {
    /// It is looked at again.
    Working,
    /// Legacy: its result is asked for now: it is over, or it has questions, which come while the result is waited for.
    Due,
    /// Modern: it waits for answers to the `inputRequests` beside.
    Asks,
    /// Modern: it is over, with the tool's own result, JSON text.
    Completed(String),
    /// Modern: it is over without one.
    Ended(Outcome<'static>),
}

#[derive(Deserialize)]
struct TaskText<'a> {
    #[serde(rename = "taskId", borrow)]
    id: &'a RawValue,
    status: &'a str,
    #[serde(rename = "pollInterval", alias = "pollIntervalMs", borrow)]
    pause: Option<&'a RawValue>,
    #[serde(rename = "resultType", borrow)]
    result_type: Option<&'a str>,
    #[serde(borrow)]
    result: Option<&'a RawValue>,
    #[serde(borrow)]
    error: Option<TaskError<'a>>,
}

#[derive(Deserialize)]
struct TaskError<'a> {
    code: i64,
    #[serde(borrow)]
    message: Cow<'a, str>,
    #[serde(borrow)]
    data: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Created<'a> {
    #[serde(borrow)]
    task: TaskText<'a>,
}

impl ServerTask {
    /// The task that a call has begun; none if `result` tells of none.
    #[must_use]
    pub fn created(result: &str, era: Era) -> Option<Self> {
        if era == Era::Legacy {
            let created: Created<'_> = serde_json::from_str(result).ok()?;
            return Self::of(&created.task, era);
        }
        // All other results cost only the search for the word.
        memchr::memmem::find(result.as_bytes(), b"\"task\"")?;
        let text: TaskText<'_> = serde_json::from_str(result).ok()?;
        // What has ended already says so, with its result, when it is looked at.
        let begun = |task| Self { stage: Stage::Working, ..task };
        (text.result_type == Some("task")).then(|| Self::of(&text, era).map(begun))?
    }

    /// The state of a task; none if `result` tells of none.
    #[must_use]
    pub fn told(result: &str, era: Era) -> Option<Self> {
        Self::of(&serde_json::from_str(result).ok()?, era)
    }

    fn of(text: &TaskText<'_>, era: Era) -> Option<Self> {
        let id = text.id.get();
        let is_id = id.starts_with('"') && id.len() <= LONGEST_ID;
        let named = text.pause.and_then(|pause| pause.get().parse().ok());
        is_id.then(|| Self {
            id: id.to_owned(),
            stage: text.stage(era),
            pause_ms: named.unwrap_or(PAUSE).clamp(SHORTEST_PAUSE, LONGEST_PAUSE),
        })
    }
}

impl TaskText<'_> {
    fn stage(&self, era: Era) -> Stage {
        match (self.status, era) {
            ("working", _) => Stage::Working,
            (_, Era::Legacy) => Stage::Due,
            ("input_required", Era::Modern) => Stage::Asks,
            ("completed", Era::Modern) => match self.result {
                Some(result) => Stage::Completed(result.get().to_owned()),
                None => Stage::malformed("its task is completed and has no result"),
            },
            ("failed", Era::Modern) => match &self.error {
                Some(error) => Stage::Ended(error.outcome()),
                None => Stage::malformed("its task has failed and has no error"),
            },
            ("cancelled", Era::Modern) => Stage::malformed("it has cancelled the task of this call"),
            (_, Era::Modern) => Stage::malformed("its task is in a state that MCP does not have"),
        }
    }
}

impl Stage {
    fn malformed(why: &'static str) -> Self {
        Self::Ended(Outcome::Failed(CallFailure::Malformed(why.into())))
    }
}

impl TaskError<'_> {
    fn outcome(&self) -> Outcome<'static> {
        let data = self.data.map(|data| data.get().to_owned().into());
        Outcome::ServerError { code: self.code, message: self.message.clone().into_owned().into(), data }
    }
}

/// A request about the task of this name: `tasks/get`, `tasks/result`, `tasks/update` or `tasks/cancel`.
#[must_use]
pub fn about(method: &'static str, id: &str) -> Request {
    let mut members = Vec::new();
    put_json_member(&mut members, "taskId", id);
    Request { tasks: true, ..Request::new(method, members) }
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
        let of = |text: &str| {
            let task = ServerTask::created(text, Era::Legacy)?;
            Some((task.id, task.stage == Stage::Due, task.pause_ms))
        };
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
            let told =
                ServerTask::told(&format!(r#"{{"taskId":"1","status":"{status}"}}"#), Era::Legacy).unwrap();
            assert_eq!(told.stage, Stage::Due, "{status}");
        }
        let long = format!(r#"{{"task":{{"taskId":"{}","status":"working"}}}}"#, "x".repeat(LONGEST_ID));
        for none in [r#"{"content":[]}"#, r#"{"task":{"taskId":7,"status":"working"}}"#, "7", &long] {
            assert_eq!(of(none), None, "{none}");
        }
    }

    #[test]
    fn a_modern_task_has_its_result_and_its_error_with_it() {
        let begun =
            r#"{"resultType":"task","taskId":"1","status":"completed","pollIntervalMs":250,"ttlMs":null}"#;
        let task = ServerTask::created(begun, Era::Modern).unwrap();
        assert_eq!((task.stage, task.pause_ms), (Stage::Working, 250));
        for none in [
            r#"{"content":[{"text":"\"task\""}]}"#,
            r#"{"resultType":"complete","taskId":"task","status":"working"}"#,
        ] {
            assert_eq!(ServerTask::created(none, Era::Modern), None, "{none}");
        }
        let stage = |rest: &str| {
            ServerTask::told(&format!(r#"{{"resultType":"complete","taskId":"1",{rest}}}"#), Era::Modern)
                .unwrap()
                .stage
        };
        assert_eq!(stage(r#""status":"working""#), Stage::Working);
        assert_eq!(stage(r#""status":"input_required","inputRequests":{}"#), Stage::Asks);
        assert_eq!(
            stage(r#""status":"completed","result":{"content":[]}"#),
            Stage::Completed(r#"{"content":[]}"#.into())
        );
        let failed = stage(r#""status":"failed","error":{"code":-5,"message":"no \"luck\"","data":[1]}"#);
        let error =
            Outcome::ServerError { code: -5, message: "no \"luck\"".into(), data: Some("[1]".into()) };
        assert_eq!(failed, Stage::Ended(error));
        for odd in ["completed", "failed", "cancelled", "of a newer MCP"] {
            let stage = stage(&format!(r#""status":"{odd}""#));
            assert!(matches!(stage, Stage::Ended(Outcome::Failed(_))), "{odd}");
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
