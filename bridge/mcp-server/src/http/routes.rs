//! Which of a machine's lines goes on which stream of its client.
//!
//! ```text
//!  answer ────────────────────► the request with its id
//!  progress ──────────────────► the request with its token
//!  request to the client ─────► the newest open request, else the listener; else it is refused
//!  log message, cancellation ─► the same; else nobody
//!  anything else ─────────────► the listener, or whoever listens next
//! ```
//!
//! Owns that table. A message goes on one stream only, and an answer on none but that of its request. It never waits: a
//! stream that is not read loses its notifications, never its answer.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use harbor_ipc_proto::json::Fields;
use tokio::sync::mpsc::{Receiver, Sender, channel};

use crate::driver::Lines;
use crate::line::REFUSED;
use crate::write;

/// The number of messages that a stream holds for a slower reader; the last place is the answer's.
const QUEUE: usize = 256;

/// The number of messages that may wait for a listener.
const BACKLOG: usize = 32;

/// The most open requests of a session, including abandoned ones.
const OPEN: usize = 256;

/// The reason why a request is not taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NotAsked {
    /// Another request with its id is open.
    Taken,
    TooMany,
}

/// A thing that comes on a stream.
#[derive(Debug, PartialEq, Eq)]
pub enum Said {
    /// A line; more may follow.
    Line(Vec<u8>),
    /// The line with which the stream ends.
    Answer(Vec<u8>),
    /// The client has cancelled the request, which is not answered then.
    Cancelled,
}

/// A request of the client, by the JSON texts that tell it apart from others.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Asked {
    pub id: String,
    /// The token of its progress.
    pub token: Option<String>,
}

/// The table.
#[derive(Debug, Default)]
pub struct Routes {
    /// Open requests by age. A request without a stream was abandoned, and its answer is dropped.
    open: BTreeMap<u64, (Asked, Option<Sender<Said>>)>,
    listener: Option<(u64, Sender<Said>)>,
    backlog: VecDeque<Vec<u8>>,
    next: u64,
}

impl Routes {
    /// Opens a request's stream.
    fn ask(&mut self, asked: Asked) -> Result<(u64, Receiver<Said>), NotAsked> {
        if self.open.values().any(|(other, _)| other.id == asked.id) {
            return Err(NotAsked::Taken);
        }
        if self.open.len() >= OPEN {
            return Err(NotAsked::TooMany);
        }
        let (sender, stream) = channel(QUEUE);
        let number = self.number();
        self.open.insert(number, (asked, Some(sender)));
        Ok((number, stream))
    }

    /// Opens the stream for lines that belong to no request. It replaces an earlier stream, which may be a
    /// dead connection without our knowledge.
    fn listen(&mut self) -> (u64, Receiver<Said>) {
        let (sender, stream) = channel(QUEUE);
        for line in self.backlog.drain(..) {
            let _ = put(&sender, line);
        }
        let number = self.number();
        self.listener = Some((number, sender));
        (number, stream)
    }

    /// Nobody reads this stream any more.
    fn leave(&mut self, number: u64) {
        if let Some((_, stream)) = self.open.get_mut(&number) {
            *stream = None;
        }
        self.listener.take_if(|(listener, _)| *listener == number);
    }

    /// True if the client reads any stream.
    fn is_read(&self) -> bool {
        self.listener.is_some() || self.open.values().any(|(_, stream)| stream.is_some())
    }

    fn number(&mut self) -> u64 {
        self.next += 1;
        self.next
    }

    fn pass(&mut self, line: Vec<u8>) -> Option<Vec<u8>> {
        match LineKind::of(&line) {
            LineKind::Answer(id) => self.end(&id, Said::Answer(line)),
            LineKind::Progress(token) => {
                let stream = self.open.values().find(|(asked, _)| asked.token.as_ref() == Some(&token));
                if let Some((_, Some(stream))) = stream {
                    let _ = put(stream, line);
                }
            }
            LineKind::Request(id) => {
                if self.put_anywhere(line).is_err() {
                    let why = "the client has no open stream for questions";
                    return Some(write::error(Some(&id), REFUSED, why, None));
                }
            }
            LineKind::Aside => {
                let _ = self.put_anywhere(line);
            }
            LineKind::News => {
                let unread = match &self.listener {
                    Some((_, listener)) => put(listener, line),
                    None => Err(line),
                };
                if let Err(line) = unread {
                    self.backlog.push_back(line);
                    if self.backlog.len() > BACKLOG {
                        self.backlog.pop_front();
                    }
                }
            }
        }
        None
    }

    /// The last that is said to this request.
    fn end(&mut self, id: &str, said: Said) {
        let number = self.open.iter().find(|(_, (asked, _))| asked.id == id).map(|(number, _)| *number);
        let asked = number.and_then(|number| self.open.remove(&number));
        if let Some((_, Some(stream))) = asked {
            let _ = stream.try_send(said);
        }
    }

    fn put_anywhere(&self, mut line: Vec<u8>) -> Result<(), Vec<u8>> {
        let requests = self.open.values().rev().filter_map(|(_, stream)| stream.as_ref());
        let listener = self.listener.iter().map(|(_, stream)| stream);
        for stream in requests.chain(listener) {
            match put(stream, line) {
                Ok(()) => return Ok(()),
                Err(back) => line = back,
            }
        }
        Err(line)
    }
}

/// Puts a line that is no answer. Returns it if there is no room, or no reader.
pub fn put(stream: &Sender<Said>, line: Vec<u8>) -> Result<(), Vec<u8>> {
    if stream.capacity() < 2 {
        return Err(line);
    }
    stream.try_send(Said::Line(line)).map_err(|error| match error.into_inner() {
        Said::Line(line) | Said::Answer(line) => line,
        Said::Cancelled => Vec::new(),
    })
}

/// The kind of a line, for the choice of its stream.
#[derive(Debug, PartialEq, Eq)]
pub enum LineKind {
    Answer(String),
    Request(String),
    Progress(String),
    /// A line about work in progress, which is worthless later.
    Aside,
    News,
}

impl LineKind {
    pub fn of(line: &[u8]) -> Self {
        let fields = Fields::parse(line).unwrap_or_default();
        let id = fields.get("id").map(str::to_owned);
        let Some(method) = fields.get("method") else { return Self::Answer(id.unwrap_or_default()) };
        match (method, id) {
            (_, Some(id)) => Self::Request(id),
            ("\"notifications/progress\"", None) => {
                let params = fields.get("params").and_then(|params| Fields::parse(params.as_bytes()).ok());
                let token = params.and_then(|params| params.get("progressToken").map(str::to_owned));
                Self::Progress(token.unwrap_or_default())
            }
            ("\"notifications/message\"" | "\"notifications/cancelled\"", None) => Self::Aside,
            _ => Self::News,
        }
    }
}

/// The table between the machine's thread and the streams.
#[derive(Debug, Clone, Default)]
pub struct SharedRoutes(Arc<Mutex<Routes>>);

impl SharedRoutes {
    fn table(&self) -> MutexGuard<'_, Routes> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// As for [`Routes::ask`].
    pub fn ask(&self, asked: Asked) -> Result<Stream, NotAsked> {
        let (number, said) = self.table().ask(asked)?;
        Ok(Stream { said, number, routes: self.clone() })
    }

    /// The client has cancelled the request with this id: nothing answers it any more.
    pub fn cancel(&self, id: &str) {
        self.table().end(id, Said::Cancelled);
    }

    /// As for [`Routes::listen`].
    pub fn listen(&self) -> Stream {
        let (number, said) = self.table().listen();
        Stream { said, number, routes: self.clone() }
    }

    pub fn is_read(&self) -> bool {
        self.table().is_read()
    }

    /// Ends all streams.
    pub fn close(&self) {
        *self.table() = Routes::default();
    }
}

impl Lines for SharedRoutes {
    fn pass(&mut self, line: Vec<u8>) -> Option<Vec<u8>> {
        self.table().pass(line)
    }
}

/// A stream; its end takes it out of the table.
#[derive(Debug)]
pub struct Stream {
    pub said: Receiver<Said>,
    number: u64,
    routes: SharedRoutes,
}

impl Drop for Stream {
    fn drop(&mut self) {
        self.routes.table().leave(self.number);
    }
}

#[cfg(test)]
mod tests;
