//! The events of a turn, and the list of them that watchers follow.
//!
//! ```text
//!  driver ─► TurnLog: 0, 1, 2, … ─┬─► Follower of one client, at its own pace
//!                                 └─► Follower of another one: the same, in the same order
//! ```
//!
//! Owns their order. Whoever comes late or reads slowly hears all of them: nothing waits for a watcher, and nothing is
//! left out. Must never be written down.

use std::cell::{Cell, Ref, RefCell};
use std::rc::Rc;
use std::time::Instant;

use harbor_ipc_proto::client::envelope::ErrorBody;
use harbor_ipc_proto::client::{Approval, ChatUsage, Citation, TurnEvent};
use harbor_ipc_proto::codes::Code;
use harbor_ipc_proto::json::Json;
use tokio::sync::Notify;

/// Bytes of a result that watchers are shown.
const SHOWN: usize = 64 * 1024;

/// Bytes of whole results that a turn keeps, all together: a page that watches it gets results whole.
const WHOLE: usize = 16 * 1024 * 1024;

/// An event.
#[derive(Debug, Clone)]
pub enum TurnLogItem {
    /// The person's message is in the session, with this number.
    Message(u64),
    /// A sentence.
    Status(String),
    /// A piece of the answer.
    Text(String),
    /// A piece of the model's thoughts.
    Reasoning(String),
    /// The model wants a call.
    Call(Shown),
    /// The person is asked about a call, or not any more.
    Approval {
        /// The question.
        approval: Box<Approval>,
        /// True if it still waits.
        waits: bool,
    },
    /// A call has its result.
    Result {
        /// The call.
        call: Shown,
        /// The text that the model is told; only its beginning, once it is in a log.
        text: String,
        /// The tool's answer, as MCP writes it, or the reason why there is no answer. Not all long answers
        /// are kept.
        answer: Result<Json, ErrorBody>,
        /// True if the call failed.
        is_error: bool,
        /// How long it took, in milliseconds.
        took: u64,
    },
    /// The tokens that the turn has used so far.
    Usage(ChatUsage),
    /// The end.
    Final {
        /// The answer.
        text: String,
        /// Why it ended.
        ended: &'static str,
        /// The tokens that the turn has used.
        usage: ChatUsage,
        /// The sources of the answer, if it has to name them.
        citations: Option<Vec<Citation>>,
    },
    /// The end without an answer.
    Error(ErrorBody),
}

/// A call as it is shown.
#[derive(Debug, Clone)]
pub struct Shown {
    /// The id that the model gave it.
    pub id: String,
    /// `server/tool`, or the model's own text.
    pub tool: String,
    /// A JSON value.
    pub arguments: Json,
}

impl TurnLogItem {
    /// The event for a client that follows a session.
    #[must_use]
    pub fn event(&self) -> TurnEvent {
        match self {
            Self::Message(number) => TurnEvent { message_id: Some(*number), ..nothing("message") },
            Self::Status(text) => said("status", text),
            Self::Text(text) => said("text", text),
            Self::Reasoning(text) => said("reasoning", text),
            Self::Call(call) => {
                TurnEvent { arguments: Some(call.arguments.clone()), ..about("tool_call", call) }
            }
            Self::Approval { approval, waits } => TurnEvent {
                text: Some(approval.why.clone()),
                call_id: approval.call_id.clone(),
                tool: Some(approval.tool.clone()),
                approval: Some(Approval::clone(approval)),
                waits: Some(*waits),
                ..nothing("approval")
            },
            Self::Result { call, text, is_error, took, .. } => TurnEvent {
                text: Some(beginning(text).to_owned()),
                is_error: Some(*is_error),
                duration_ms: Some(*took),
                ..about("tool_result", call)
            },
            Self::Usage(usage) => TurnEvent { usage: Some(usage.clone()), ..nothing("usage") },
            Self::Final { text, ended, usage, .. } => TurnEvent {
                code: Some((*ended).to_owned()),
                usage: Some(usage.clone()),
                ..said("final", text)
            },
            Self::Error(error) => {
                TurnEvent { code: Some(error.code.as_str().to_owned()), ..said("error", &error.message) }
            }
        }
    }
}

fn nothing(kind: &'static str) -> TurnEvent {
    TurnEvent {
        r#type: kind.into(),
        text: None,
        call_id: None,
        tool: None,
        arguments: None,
        approval: None,
        waits: None,
        is_error: None,
        duration_ms: None,
        usage: None,
        code: None,
        message_id: None,
    }
}

fn said(kind: &'static str, text: &str) -> TurnEvent {
    TurnEvent { text: Some(text.to_owned()), ..nothing(kind) }
}

fn about(kind: &'static str, call: &Shown) -> TurnEvent {
    TurnEvent { call_id: Some(call.id.clone()), tool: Some(call.tool.clone()), ..nothing(kind) }
}

fn beginning(text: &str) -> &str {
    &text[..text.floor_char_boundary(SHOWN)]
}

/// All events of one turn.
#[derive(Debug)]
pub struct TurnLog {
    /// The turn's id.
    pub turn: String,
    /// The number of its first event in its session.
    first: u64,
    happened: RefCell<Vec<TurnLogItem>>,
    /// Bytes of whole results in it.
    whole: Cell<usize>,
    is_over: Cell<bool>,
    began: Instant,
    more: Notify,
}

impl TurnLog {
    /// A log without events.
    #[must_use]
    pub fn new(turn: String, first: u64) -> Rc<Self> {
        Rc::new(Self {
            turn,
            first,
            happened: RefCell::default(),
            whole: Cell::default(),
            is_over: Cell::default(),
            began: Instant::now(),
            more: Notify::new(),
        })
    }

    /// Adds an event.
    pub fn add(&self, mut happening: TurnLogItem) {
        if let TurnLogItem::Result { text, answer, .. } = &mut happening {
            text.truncate(beginning(text).len());
            text.shrink_to_fit();
            self.keep_little(answer);
        }
        self.happened.borrow_mut().push(happening);
        self.more.notify_waiters();
    }

    /// A turn may have a hundred results of any length. Beyond the limit for whole results, only short ones
    /// are kept.
    fn keep_little(&self, answer: &mut Result<Json, ErrorBody>) {
        let Ok(json) = &answer else { return };
        let (length, whole) = (json.as_str().len(), self.whole.get());
        if length > SHOWN && whole.saturating_add(length) > WHOLE {
            let message = format!(
                "Harbor did not keep this result of {length} bytes; the model was given as much of it as fits"
            );
            *answer = Err(ErrorBody::new(Code::MessageTooLarge, message));
        } else {
            self.whole.set(whole + length);
        }
    }

    /// Ends the log: no event follows.
    pub fn end(&self) {
        self.is_over.set(true);
        self.more.notify_waiters();
    }

    /// How long ago it began, in milliseconds.
    #[must_use]
    pub fn took(&self) -> u64 {
        u64::try_from(self.began.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    /// The number that the next event has.
    #[must_use]
    pub fn next(&self) -> u64 {
        self.first + self.happened.borrow().len() as u64
    }

    /// True if its end is told: it is written down now, and is over soon.
    #[must_use]
    pub fn is_told(&self) -> bool {
        matches!(self.happened.borrow().last(), Some(TurnLogItem::Final { .. } | TurnLogItem::Error(_)))
    }

    /// True if no event follows.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.is_over.get()
    }

    /// Follows the log from event `from` on; from the first one, if that is later.
    #[must_use]
    pub fn follow(self: &Rc<Self>, from: u64) -> Follower {
        let at = usize::try_from(from.saturating_sub(self.first)).unwrap_or(usize::MAX);
        // A number of an earlier bridge means nothing here.
        let at = if at > self.happened.borrow().len() { 0 } else { at };
        Follower { log: self.clone(), at }
    }
}

/// A follower of a turn.
#[derive(Debug)]
pub struct Follower {
    log: Rc<TurnLog>,
    at: usize,
}

impl Follower {
    /// The next event and its number, once there is one. None if the turn is over and all of it was told.
    pub async fn next<T>(&mut self, read: impl FnOnce(&TurnLogItem) -> T) -> Option<(u64, T)> {
        loop {
            let more = self.log.more.notified();
            let mut more = std::pin::pin!(more);
            // From here on no event is missed.
            more.as_mut().enable();
            let happened = Ref::filter_map(self.log.happened.borrow(), |happened| happened.get(self.at)).ok();
            if let Some(happening) = happened {
                let seq = self.log.first + self.at as u64;
                self.at += 1;
                return Some((seq, read(&happening)));
            }
            if self.log.is_over() {
                return None;
            }
            more.await;
        }
    }

    /// The turn's id.
    #[must_use]
    pub fn turn(&self) -> &str {
        &self.log.turn
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(flavor = "local")]
    async fn all_followers_hear_the_same_however_late_or_slow() {
        let log = TurnLog::new("t".into(), 7);
        let hear = |mut follower: Follower| async move {
            let mut heard = Vec::new();
            while let Some((seq, event)) = follower.next(TurnLogItem::event).await {
                heard.push((seq, event.text.unwrap()));
                tokio::task::yield_now().await;
            }
            heard
        };
        let early = tokio::task::spawn_local(hear(log.follow(0)));
        for text in ["a", "b", "c"] {
            log.add(TurnLogItem::Text(text.into()));
            tokio::task::yield_now().await;
        }
        let late = tokio::task::spawn_local(hear(log.follow(9)));
        let lost = tokio::task::spawn_local(hear(log.follow(4711)));
        log.end();
        let all = vec![(7, "a".to_owned()), (8, "b".to_owned()), (9, "c".to_owned())];
        assert_eq!(early.await.unwrap(), all);
        assert_eq!(late.await.unwrap(), all[2..]);
        assert_eq!(lost.await.unwrap(), all, "a number of another bridge means: all of it");
        assert_eq!(log.next(), 10);
    }

    /// However long they are: the log keeps little of each, and all of some.
    #[test]
    fn a_turn_keeps_little_of_long_results() {
        let log = TurnLog::new("t".into(), 0);
        let result = |length: usize| TurnLogItem::Result {
            call: Shown { id: "1".into(), tool: "s/t".into(), arguments: Json::string("") },
            text: "é".repeat(length / 2),
            answer: Ok(Json::string(&"x".repeat(length))),
            is_error: false,
            took: 0,
        };
        for length in [10, WHOLE - 1000, SHOWN + 1000, 2 * WHOLE, 20] {
            log.add(result(length));
        }
        let kept = |happening: &TurnLogItem| match happening {
            TurnLogItem::Result { text, answer, .. } => (text.len() <= SHOWN, answer.is_ok()),
            _ => panic!("no result"),
        };
        let kept: Vec<_> = log.happened.borrow().iter().map(kept).collect();
        assert_eq!(kept, [(true, true), (true, true), (true, false), (true, false), (true, true)]);
    }
}
