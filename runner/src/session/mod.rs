//! One MCP server: its process, its contact, its open requests.
//!
//! ```text
//!   servers ──call, cancel, answer, stop──► Session ──lines──► server's stdin
//!   bridge  ◄──replies and events (Up)──────   │    ◄─lines─── server's stdout   (process::run reads)
//! ```
//!
//! Owns what the bridge may ask of a running server. Nothing here waits: each step happens when a message comes
//! in, so a slow server delays only its own callers.

pub mod afterwards;
mod alive;
mod asks;
mod calls;
mod contacting;
mod deadlines;
pub mod ended;
mod exits;
mod heard;
mod incoming;
mod ladder;
mod launching;
mod listening;
mod news;
mod open;
mod open_questions;
mod output;
pub mod plan;
pub mod process;
mod proxy;
mod refusals;
pub mod remote;
mod schemas;
mod stream;
mod tasks;
mod told_refusals;
mod tools;
mod unmounting;
mod watcher;

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::time::Instant;

use harbor_child::outbox::{Outbox, Refused};
use harbor_ipc_proto::link::oauth::Renewal;
use harbor_ipc_proto::link::runner::{CallFailure, EndCause, Era, FromRunner, Launch, Outcome, ServerInfo};
use harbor_ipc_proto::link::sandbox::Sandbox;
use tokio::sync::{Notify, oneshot};

use crate::mcp::contact::Contact;
use crate::mcp::requests::Requests;
use crate::mcp::shown::Shown;
use crate::mcp::write::RequestMeta;
use crate::to_bridge::Up;
use ended::Ended;
use heard::Alive;
use news::News;
use open::Open;
use open_questions::Asks;
use schemas::Tools;
use told_refusals::Refusals;

/// Facts about a server that are known once contact is made.
#[derive(Debug)]
struct Contacted {
    era: Era,
    offers: Offers,
}

/// The parts of MCP that a server announced.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Offers {
    tools: bool,
    resources: bool,
    prompts: bool,
    completions: bool,
    logging: bool,
    subscribe: bool,
    /// The extension of tasks, modern.
    tasks: bool,
}

/// One start of one server.
#[derive(Debug)]
pub struct Session {
    number: u32,
    /// The identity of the Harbor that this runner is of.
    own: Rc<str>,
    up: Rc<Up>,
    /// The server's stdin. Replaced when the server is started again during contact.
    stdin: RefCell<Rc<Outbox>>,
    open: RefCell<Requests<Open>>,
    tools: RefCell<Tools>,
    asks: RefCell<Asks>,
    meta: RefCell<RequestMeta>,
    contact: RefCell<Option<Contact>>,
    contacted: RefCell<Option<Contacted>>,
    /// The newest facts that the server has told about itself.
    said: RefCell<Option<ServerInfo<'static>>>,
    /// The reason why contact failed and the process is ended.
    verdict: RefCell<Option<EndCause<'static>>>,
    /// URIs of the modern generation's subscriptions, and the request that carries them.
    listening: RefCell<(Vec<String>, Option<u64>)>,
    /// Facts from the beginning of an overlong line that did not end a call; kept until the line's end.
    overlong: Cell<Option<Shown>>,
    /// How many more lines may be pieces of a message on several lines.
    pieces: Cell<u32>,
    alive: Alive,
    news: RefCell<News>,
    refusals: Rc<Refusals>,
    /// True if the server has a sandbox: only then its words are searched for refusals.
    is_held: bool,
    is_remote: bool,
    /// The sender for the renewed login, to the task that waits for it.
    renewal: RefCell<Option<oneshot::Sender<Renewal<'static>>>>,
    was_death_told: Cell<bool>,
    stop_wanted: Cell<bool>,
    kill_wanted: Cell<bool>,
    stop: Notify,
    max_line: u64,
}

/// Bytes that may wait for a server that does not read; beyond that, calls are refused.
const STDIN_LIMIT: usize = 64 * 1024 * 1024;

impl Session {
    /// A session that is not connected yet.
    pub fn new(number: u32, own: Rc<str>, up: Rc<Up>, launch: &Launch<'_>) -> Self {
        Self {
            number,
            own,
            up,
            stdin: RefCell::new(Rc::new(Outbox::new(STDIN_LIMIT))),
            open: RefCell::default(),
            tools: RefCell::default(),
            asks: RefCell::default(),
            meta: RefCell::new(RequestMeta { offers_roots: launch.offers_roots, log_level: None }),
            contact: RefCell::default(),
            contacted: RefCell::default(),
            said: RefCell::default(),
            verdict: RefCell::default(),
            listening: RefCell::default(),
            overlong: Cell::default(),
            pieces: Cell::default(),
            alive: Alive::new(Instant::now()),
            news: RefCell::default(),
            refusals: Rc::default(),
            is_remote: launch.remote.is_some(),
            renewal: RefCell::default(),
            is_held: launch.sandbox != Sandbox::default(),
            was_death_told: Cell::new(false),
            stop_wanted: Cell::new(false),
            kill_wanted: Cell::new(false),
            stop: Notify::new(),
            max_line: launch.max_line,
        }
    }

    /// Has the server ended by the ladder.
    pub fn stop(&self) {
        self.stop_wanted.set(true);
        self.stop.notify_one();
    }

    /// Has the server killed: it is hung.
    pub fn kill(&self) {
        self.kill_wanted.set(true);
        self.stop.notify_one();
    }

    /// Tells the bridge, once, that its process is gone or will say no more. Nothing is told if it had no process, or if the
    /// end was asked for. Callers that wait for an answer need not wait for the end of all that it left behind.
    pub fn tell_death(&self, (cause, stderr_tail): &Ended) {
        let was_asked_for = self.stop_wanted.get() || self.kill_wanted.get();
        if !self.is_remote && !was_asked_for && !self.was_death_told.replace(true) {
            self.tell_late();
            let (cause, stderr_tail) = (cause.clone(), stderr_tail.into());
            self.up.send(&FromRunner::Died { server: self.number, cause, stderr_tail });
        }
    }

    /// Tells the bridge that it is gone, all of it.
    pub fn tell_end(&self, (cause, stderr_tail): Ended) {
        self.tell_late();
        self.up.send(&FromRunner::Ended { server: self.number, cause, stderr_tail: stderr_tail.into() });
    }

    fn reply(&self, id: u64, outcome: Outcome<'_>) {
        self.tell_news_before_an_answer();
        self.up.send(&FromRunner::Reply { server: self.number, id, outcome });
    }

    fn fail(&self, id: u64, failure: CallFailure<'_>) {
        self.reply(id, Outcome::Failed(failure));
    }

    /// Queues a line that may be lost when the server does not read, or is gone.
    fn write(&self, fill: impl FnOnce(&mut Vec<u8>)) {
        let _ = self.try_write(fill);
    }

    fn try_write(&self, fill: impl FnOnce(&mut Vec<u8>)) -> Result<(), CallFailure<'static>> {
        self.stdin.borrow().push(fill).map_err(|refused| match refused {
            Refused::Full => CallFailure::Congested,
            Refused::Closed => CallFailure::NotConnected,
        })
    }

    fn era(&self) -> Option<Era> {
        self.contacted.borrow().as_ref().map(|contacted| contacted.era)
    }
}
