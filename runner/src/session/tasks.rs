//! Calls of tools that run as tasks: their callers wait for the result, as with any other call.
//!
//! Owns when a server is asked about a task, and that a task nobody waits for is cancelled. Must never give a task to a caller as
//! a result.

use std::borrow::Cow;
use std::time::{Duration, Instant};

use harbor_ipc_proto::link::runner::{CallFailure, Era, Operation};

use super::Session;
use super::open::{Again, Call, Open};
use crate::mcp::tasks::{PARAMS, ServerTask, Stage, about};

/// How long a server has to take the answers to a task's questions until it is asked about the task again.
pub(super) const AFTER_ANSWERS: Duration = Duration::from_millis(100);

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

    /// A server's answer, by the request `wire_id`, to a call that may run as a task. Gives the call back with the tool's own result if
    /// that is there.
    pub(super) fn on_task_told<'a>(
        &self,
        mut call: Call,
        wire_id: u64,
        result: &'a str,
    ) -> Option<(Call, Cow<'a, str>)> {
        let era = self.era().unwrap_or(Era::Legacy);
        let task = call.task.as_mut()?;
        if task.is_due {
            return Some((call, result.into()));
        }
        if std::mem::take(&mut task.is_updating) {
            self.look_later(call, AFTER_ANSWERS);
            return None;
        }
        let has_begun = task.id.is_some();
        let told = if has_begun { ServerTask::told(result, era) } else { ServerTask::created(result, era) };
        match told {
            // It has answered at once.
            None if !has_begun => return Some((call, result.into())),
            None => self.fail(call.id, CallFailure::Malformed("it tells nothing of its task".into())),
            Some(told) => return self.follow(call, told, wire_id, result),
        }
        None
    }

    fn follow<'a>(
        &self,
        mut call: Call,
        told: ServerTask,
        wire_id: u64,
        result: &'a str,
    ) -> Option<(Call, Cow<'a, str>)> {
        let task = call.task.as_mut()?;
        // It keeps the name that it began with.
        let id = task.id.get_or_insert(told.id).clone();
        match told.stage {
            Stage::Working => self.look_later(call, Duration::from_millis(told.pause_ms)),
            Stage::Due => {
                task.is_due = true;
                self.send(Open::Call(call), &about("tasks/result", &id), false);
            }
            Stage::Completed(result) => return Some((call, result.into())),
            Stage::Ended(outcome) => self.reply(call.id, outcome),
            Stage::Asks => {
                let rounds = call.again.as_ref().map_or(0, |again| again.rounds);
                call.again = Some(Box::new(Again { rounds, ..Again::of(about("tasks/update", &id)) }));
                self.on_input_required(call, wire_id, result);
            }
        }
        None
    }

    /// Asks about the task after a pause.
    pub(super) fn look_later(&self, mut call: Call, pause: Duration) {
        let Some(task) = call.task.as_mut() else { return };
        task.look_at = Some(Instant::now() + pause);
        self.asks.borrow_mut().tasks.insert(call.id, call);
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
            // One of the newest generation that has begun none is cancelled as any other.
            let is_its = |call: &Call| {
                let task = call.task.as_ref();
                call.id == id && task.is_some_and(|task| task.id.is_some() || call.again.is_none())
            };
            let wire_id = open.find(|open| matches!(open, Open::Call(call) if is_its(call)));
            match wire_id.and_then(|wire_id| open.get_mut(wire_id)) {
                Some(open) => match std::mem::replace(open, Open::Unwanted { may_begin: true }) {
                    Open::Call(call) => Some(call),
                    _ => None,
                },
                None => None,
            }
        };
        waiting.or(begun).iter().for_each(|call| self.give_up_task_of(call));
    }

    /// The answer to a call that nobody waits for: perhaps it has begun a task.
    pub(super) fn on_unwanted(&self, result: &str) {
        if let Some(task) = ServerTask::created(result, self.era().unwrap_or(Era::Legacy)) {
            self.give_up(&task.id);
        }
    }

    /// Cancels the task of a call, if that has begun.
    pub(super) fn give_up_task_of(&self, call: &Call) {
        if let Some(id) = call.task.as_ref().and_then(|task| task.id.as_ref()) {
            self.give_up(id);
        }
    }

    fn give_up(&self, id: &str) {
        self.send(Open::Unwanted { may_begin: false }, &about("tasks/cancel", id), false);
    }
}
