//! The catalog worker's process and the link to it.
//!
//! ```text
//!  Worker::start ─► process, link on its stdin ─► WorkerEvent … ─► Closed, once, when both are gone
//!     └─ dropped: it is told to end, and is killed if it does not
//! ```
//!
//! Owns one process. What it says is bounded: texts are cut and made one line, since they may be other people's words. Must
//! be used from the bridge's main thread only, as `runner` is.

use std::collections::BTreeMap;
use std::io;
use std::rc::Rc;
use std::time::Duration;

use harbor_child::link::Reader;
use harbor_child::outbox::Outbox;
use harbor_child::reaper::{Exit, Reaper};
use harbor_child::turn::Turn;
use harbor_ipc_proto::frame::{FrameDecoder, Popped};
use harbor_ipc_proto::link::codec::{get_message, put_message};
use harbor_ipc_proto::link::worker::{
    Activity, Changes, FromWorker, SourceOutcome, ToWorker, WorkerFailure, WorkerStatus, WorkerStep,
};
use harbor_ipc_proto::{BUILD, LINK_PROTOCOL};
use tokio::sync::{Notify, mpsc};
use tokio::task::JoinHandle;

use super::process::{Process, Program};
use super::runner::Executable;

/// What the worker is called on its command line.
pub const WORKER: &str = "harbor-catalog-worker";

/// No message of the worker is longer, in bytes; nor what may wait for it.
const MAX_MESSAGE: usize = 1024 * 1024;

/// Events that may wait; the worker is read no further then.
const EVENTS: usize = 64;

/// More of a text says nothing more, in characters.
const MAX_TEXT: usize = 300;

/// The most sources that one answer tells of.
const MAX_SOURCES: usize = 64;

/// How long one that nobody needs may take to end.
const LAST_GRACE: Duration = Duration::from_secs(3);

/// What a worker says, or what becomes of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WorkerEvent {
    /// It has greeted.
    Greeted,
    /// The database can be read; what happened to the file before, if anything did.
    Opened(Option<String>),
    /// Until when it waits, and what it has.
    Status {
        /// Whether it does nothing.
        idle: bool,
    },
    /// What it does right now.
    Step(Step),
    /// A request is done.
    Done(u32, Outcome),
    /// A request is not.
    Failed(u32, Reason),
    /// Process and link are gone, and how it ended.
    Closed(String),
}

/// A step of a refresh or an enrichment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// It begins.
    Refreshing,
    /// Pages of a source come.
    Fetching {
        /// Which.
        source: String,
        /// The page's number.
        page: u32,
        /// Entries so far.
        entries: u32,
    },
    /// A source is done, or failed for this reason.
    SourceDone(String, Option<String>),
    /// So many entries are looked up.
    Enriching(u32),
}

/// What a request has brought.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Outcome {
    /// What has changed.
    pub changes: Changes,
    /// Why sources failed, by their ids, and when they may be tried again at the earliest, in milliseconds since 1970.
    pub failed: BTreeMap<String, (String, Option<u64>)>,
    /// How many entries were looked up,
    pub enriched: u32,
    /// and how many of them could not be.
    pub not_enriched: u32,
}

/// Why a request was not carried out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reason {
    /// There is nothing to do it with.
    Nothing,
    /// This went wrong.
    Because(String),
}

/// A worker's process.
#[derive(Debug)]
pub struct Worker {
    outbox: Rc<Outbox>,
    process: Process,
}

impl Worker {
    /// Starts one and greets it. The receiver gets what it says.
    ///
    /// # Errors
    /// When the system is out of processes or file descriptors.
    pub fn start(
        executable: &Executable,
        environment: &BTreeMap<String, String>,
        reaper: &Reaper,
    ) -> io::Result<(Self, mpsc::Receiver<WorkerEvent>)> {
        let program = Program { executable: executable.file(), name: WORKER, grace: LAST_GRACE };
        let (process, mine, ended) = Process::start(&program, reaper, |command| {
            command.envs(environment).current_dir("/");
        })?;
        let (reader, writer) = mine.watch()?;
        let worker = Self { outbox: Rc::new(Outbox::new(MAX_MESSAGE)), process };
        worker.send(&ToWorker::Hello { protocol: LINK_PROTOCOL, build: BUILD.into() });
        let (events, receiver) = mpsc::channel(EVENTS);
        let outbox = worker.outbox.clone();
        tokio::task::spawn_local(async move {
            // An error means that the worker is gone; the reader sees that too.
            let _ = outbox.drive(&writer).await;
        });
        let link = (reader, worker.outbox.clone(), worker.process.released());
        tokio::task::spawn_local(follow(link, events, ended));
        Ok((worker, receiver))
    }

    /// Its process id.
    #[must_use]
    pub fn pid(&self) -> u32 {
        self.process.pid()
    }

    /// Sends a message; one that finds the worker gone is dropped: its end is an event.
    pub fn send(&self, message: &ToWorker<'_>) {
        let _ = self.outbox.push(|out| put_message(out, message));
    }

    /// Tells it to finish what it writes and end.
    pub fn shut_down(&self) {
        self.send(&ToWorker::Shutdown);
        self.outbox.close();
    }

    /// Ends it at once.
    pub fn kill(&self) {
        self.process.kill();
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        self.shut_down();
    }
}

/// Passes on what it says until its link ends, then how its process ended. One without a link ends, or is killed.
async fn follow(
    (mut reader, outbox, released): (Reader, Rc<Outbox>, Rc<Notify>),
    events: mpsc::Sender<WorkerEvent>,
    ended: JoinHandle<Option<Exit>>,
) {
    let broken = match read_messages(&mut reader, &events).await {
        // What this file says itself is about the protocol; anything else is the system's word for a worker that died.
        Err(error) if error.kind() == io::ErrorKind::Other => Some(format!("it broke the protocol: {error}")),
        _ => None,
    };
    // That is the end of its standard input, too.
    outbox.cut();
    drop(reader);
    released.notify_one();
    let ended = match ended.await {
        Ok(Some(Exit::Code(code))) => format!("it exited with code {code}"),
        Ok(Some(Exit::Signal(signal))) => format!("it was ended by signal {signal}"),
        Ok(None) | Err(_) => "it has ended".into(),
    };
    // The receiver may be gone already, when the bridge is on its way out.
    let _ = events.send(WorkerEvent::Closed(broken.unwrap_or(ended))).await;
}

async fn read_messages(reader: &mut Reader, events: &mpsc::Sender<WorkerEvent>) -> io::Result<()> {
    let mut frames = FrameDecoder::new(MAX_MESSAGE);
    let (mut turn, mut greeted) = (Turn::default(), false);
    loop {
        let lacking = frames.lacking();
        let n = turn.read(reader, frames.space(), lacking).await?;
        if n == 0 {
            return Ok(());
        }
        frames.filled(n);
        while let Some(popped) = frames.pop() {
            let Popped::Frame(body) = popped else { return Err(io::Error::other("a message is too long")) };
            let length = body.len();
            let message: FromWorker<'_> = get_message(body).map_err(io::Error::other)?;
            let event =
                if std::mem::replace(&mut greeted, true) { event(message)? } else { greet(&message)? };
            if events.send(event).await.is_err() {
                return Ok(());
            }
            turn.handled(length).await;
        }
    }
}

fn greet(message: &FromWorker<'_>) -> io::Result<WorkerEvent> {
    match message {
        FromWorker::Hello { protocol: LINK_PROTOCOL, build } if build == BUILD => Ok(WorkerEvent::Greeted),
        FromWorker::Hello { build, .. } => {
            Err(io::Error::other(format!("it is of build {build:.80}, this bridge of {BUILD}")))
        }
        _ => Err(io::Error::other("it did not greet first")),
    }
}

fn event(message: FromWorker<'_>) -> io::Result<WorkerEvent> {
    Ok(match message {
        FromWorker::Hello { .. } => return Err(io::Error::other("it greeted twice")),
        FromWorker::Opened { set_aside } => WorkerEvent::Opened(set_aside.as_deref().map(line)),
        FromWorker::Status(WorkerStatus { activity, .. }) => {
            WorkerEvent::Status { idle: activity == Activity::Idle }
        }
        FromWorker::Progress(step) => WorkerEvent::Step(match step {
            WorkerStep::Refreshing { .. } => Step::Refreshing,
            WorkerStep::Fetching { source, page, entries } => {
                Step::Fetching { source: line(&source), page, entries }
            }
            WorkerStep::SourceDone(outcome) => {
                Step::SourceDone(line(&outcome.source), outcome.error.as_deref().map(line))
            }
            WorkerStep::Enriching { count } => Step::Enriching(count),
        }),
        FromWorker::Done { id, changes, sources, enriched, not_enriched } => {
            let failed = sources.into_iter().take(MAX_SOURCES).filter_map(failure).collect();
            WorkerEvent::Done(id, Outcome { changes, failed, enriched, not_enriched })
        }
        FromWorker::Failed { id, why } => WorkerEvent::Failed(id, reason(&why)),
    })
}

fn failure(outcome: SourceOutcome<'_>) -> Option<(String, (String, Option<u64>))> {
    let SourceOutcome { source, error, not_before, .. } = outcome;
    Some((line(&source), (line(&error?), not_before)))
}

fn reason(why: &WorkerFailure<'_>) -> Reason {
    match why {
        WorkerFailure::Nothing => Reason::Nothing,
        WorkerFailure::NotConfigured => Reason::Because("it has no database".into()),
        WorkerFailure::Settings(what) | WorkerFailure::Database(what) => Reason::Because(line(what)),
    }
}

/// One bounded line.
fn line(text: &str) -> String {
    text.chars().take(MAX_TEXT).map(|c| if c.is_control() { ' ' } else { c }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_it_says_is_bounded_and_one_line() {
        let hostile = format!("a\u{1b}[2J\nb{}", "x".repeat(10_000));
        let outcome = |error: Option<&'static str>| SourceOutcome {
            source: "registry".into(),
            entries: 1,
            changes: Changes::default(),
            error: error.map(Into::into),
            not_before: Some(7),
        };
        let opened = event(FromWorker::Opened { set_aside: Some(hostile.into()) }).unwrap();
        let WorkerEvent::Opened(Some(said)) = opened else { panic!("{opened:?}") };
        assert_eq!((said.chars().count(), said.starts_with("a [2J b")), (MAX_TEXT, true));
        let sources = vec![outcome(None), outcome(Some("no\nroute"))];
        let done =
            FromWorker::Done { id: 3, changes: Changes::default(), sources, enriched: 2, not_enriched: 1 };
        let failed = BTreeMap::from([("registry".to_owned(), ("no route".to_owned(), Some(7)))]);
        let outcome = Outcome { failed, enriched: 2, not_enriched: 1, ..Outcome::default() };
        assert_eq!(event(done).unwrap(), WorkerEvent::Done(3, outcome));
    }

    #[test]
    fn it_greets_first_and_once_and_is_of_this_build() {
        let hello = |build: &'static str| FromWorker::Hello { protocol: LINK_PROTOCOL, build: build.into() };
        assert_eq!(greet(&hello(BUILD)).unwrap(), WorkerEvent::Greeted);
        assert!(greet(&hello("another")).is_err());
        assert!(greet(&FromWorker::Opened { set_aside: None }).is_err());
        assert!(event(hello(BUILD)).is_err());
    }
}
