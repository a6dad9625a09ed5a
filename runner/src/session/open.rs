//! What is open at a server: what each of its answers will end.
//!
//! Owns what is remembered for an open request. Must never send anything.

use std::collections::BTreeSet;
use std::time::Instant;

use crate::mcp::pages::Pages;
use crate::mcp::rounds::Round;
use crate::mcp::write::Request;

/// The calls that wait for a stream to stand, with the resource that each wants to hear of.
pub(super) type Waiting = Vec<(u64, Option<String>)>;

/// An open request, by what its answer ends.
#[derive(Debug)]
pub(super) enum Open {
    /// The probe of contact.
    Probe,
    /// The handshake of contact.
    Initialize,
    /// A call of the bridge.
    Call(Call),
    /// A list of which this is one page.
    Page {
        /// The bridge's id.
        id: u64,
        /// The pages that have come so far.
        pages: Pages,
        /// Says how the tools are taken apart, if they are.
        fetch: Option<Fetch>,
        /// True if the server has announced such a list.
        announced: bool,
    },
    /// A question for a sign of life; its answer needs no reading.
    Ping,
    /// A request about a task for which nobody waits any more.
    Unwanted {
        /// True if its answer may begin the task.
        may_begin: bool,
    },
    /// The stream of the modern generation's notifications.
    Listen(Waiting),
}

/// How a list of tools is fetched.
#[derive(Debug, Clone, Copy)]
pub(super) struct Fetch {
    /// True if results are checked, too.
    pub check_output: bool,
}

/// A call of the bridge.
#[derive(Debug)]
pub(super) struct Call {
    /// The bridge's id.
    pub id: u64,
    /// The tool whose result is checked.
    pub tool: Option<Box<str>>,
    /// True if progress is wanted.
    pub progress: bool,
    /// Its task, if it runs as one.
    pub task: Option<Box<TaskOfCall>>,
    /// Modern generation: what to send again once the server's questions are answered.
    pub again: Option<Box<Again>>,
}

/// A request that may have to be sent again.
#[derive(Debug)]
pub(super) struct Again {
    pub request: Request,
    /// How often the server has asked.
    pub rounds: u32,
    /// How often in a row the server has put the request off.
    pub delays: u32,
    /// When the request is sent again, if it does not wait for answers.
    pub due: Option<Instant>,
    pub round: Option<Round>,
    /// The id of the first request, by which progress is told however often it is sent.
    pub token: Option<u64>,
}

/// The task of a call.
#[derive(Debug, Default)]
pub(super) struct TaskOfCall {
    /// The server's name for it, a JSON string, once it has begun.
    pub id: Option<String>,
    /// Legacy: true if its result is asked for.
    pub is_due: bool,
    /// Modern: true if answers to its questions are on their way.
    pub is_updating: bool,
    /// Modern: the names of the questions that it has asked.
    pub asked: BTreeSet<String>,
    /// When its server is asked about it next.
    pub look_at: Option<Instant>,
}

impl Again {
    pub(super) fn of(request: Request) -> Self {
        Self { request, rounds: 0, delays: 0, due: None, round: None, token: None }
    }
}

impl Call {
    /// True if progress of an earlier try has this token.
    pub(super) fn is_told_by(&self, token: u64) -> bool {
        self.again.as_ref().is_some_and(|again| again.token == Some(token))
    }
}

impl Open {
    /// The bridge's call that waits for this and for nothing else.
    pub(super) fn bridge_id(&self) -> Option<u64> {
        match self {
            Self::Call(call) => Some(call.id),
            Self::Page { id, .. } => Some(*id),
            Self::Listen(_) | Self::Probe | Self::Initialize | Self::Ping | Self::Unwanted { .. } => None,
        }
    }
}
