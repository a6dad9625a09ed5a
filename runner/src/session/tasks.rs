//! Calls of tools that run as tasks: their callers wait for the result, as with any other call.
//!
//! Owns when a server is asked about a task, and that a task nobody waits for is cancelled. Must never give a task to a caller as
//! a result.

use std::time::{Duration, Instant};

use harbor_ipc_proto::link::runner::{CallFailure, Operation};

use super::Session;
use super::open::{Call, Open};
use crate::mcp::tasks::{PARAMS, ServerTask, about};

impl Session {
    /// The call with the parameters of a task, if the tool can only be called so.
    pub(super) fn as_task<'a>(&self, operation: &Operation<'a>) -> Option<Operation<'a>> {
        match operation {
            Operation::CallTool { name, arguments, task: None } if self.tools.borrow().needs_task(name) => {
                let (name, arguments) = (name.clone(), arguments.clone());
                Some(Operation::CallTool { name, arguments, task: Some(PARAMS.into()) })
            }
            _ => None,
        }
    }

    /// A server's answer to a request about the task of this call. Gives the call back if that is its result.
    pub(super) fn on_task_told(&self, call: Call, result: &str) -> Option<Call> {
        let (has_begun, is_due) = call.task.as_ref().map(|task| (task.id.is_some(), task.is_due))?;
        let told = match (has_begun, is_due) {
            (_, true) => return Some(call),
            (false, _) => ServerTask::created(result),
            (true, _) => ServerTask::told(result),
        };
        match told {
            // It has answered at once.
            None if !has_begun => return Some(call),
            None => self.fail(call.id, CallFailure::Malformed("it tells nothing of its task".into())),
            Some(told) => self.follow(call, told),
        }
        None
    }

    fn follow(&self, mut call: Call, told: ServerTask) {
        let Some(task) = call.task.as_mut() else { return };
        // It keeps the name that it began with.
        let id = task.id.get_or_insert(told.id).clone();
        task.is_due = told.is_due;
        if told.is_due {
            self.send(Open::Call(call), &about("tasks/result", &id), false);
        } else {
            task.look_at = Some(Instant::now() + Duration::from_millis(told.pause_ms));
            self.asks.borrow_mut().tasks.insert(call.id, call);
        }
    }

    /// The time at which a server is asked about a task.
    pub(super) fn next_look(&self) -> Option<Instant> {
        self.asks.borrow().tasks.values().filter_map(|call| call.task.as_ref()?.look_at).min()
    }

    /// Asks about the tasks that are due.
    pub(super) fn look_at_tasks(&self, now: Instant) {
        let is_due =
            |call: &Call| call.task.as_ref().and_then(|task| task.look_at).is_some_and(|due| due <= now);
        let due: Vec<_> = self.asks.borrow_mut().tasks.extract_if(|_, call| is_due(call)).collect();
        for (_, call) in due {
            if let Some(id) = call.task.as_ref().and_then(|task| task.id.clone()) {
                self.send(Open::Call(call), &about("tasks/get", &id), false);
            }
        }
    }

    /// Nobody waits for the call any more: its task is cancelled, also one that is only about to begin.
    pub(super) fn cancel_task(&self, id: u64) {
        let waiting = self.asks.borrow_mut().tasks.remove(&id);
        let begun = {
            let mut open = self.open.borrow_mut();
            let wire_id =
                open.find(|open| matches!(open, Open::Call(call) if call.id == id && call.task.is_some()));
            match wire_id.and_then(|wire_id| open.get_mut(wire_id)) {
                Some(open) => match std::mem::replace(open, Open::Unwanted { may_begin: true }) {
                    Open::Call(call) => Some(call),
                    _ => None,
                },
                None => None,
            }
        };
        if let Some(task) = waiting.or(begun).and_then(|call| call.task?.id) {
            self.give_up(&task);
        }
    }

    /// The answer to a call that nobody waits for: perhaps it has begun a task.
    pub(super) fn on_unwanted(&self, result: &str) {
        if let Some(task) = ServerTask::created(result) {
            self.give_up(&task.id);
        }
    }

    fn give_up(&self, id: &str) {
        self.send(Open::Unwanted { may_begin: false }, &about("tasks/cancel", id), false);
    }
}
