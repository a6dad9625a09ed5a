//! A worker's process and the link to it: the catalog's, the models'.
//!
//! ```text
//!  Worker::start ─► process, link on its stdin ─► WorkerEvent … ─► Closed, once, when both are gone
//!     └─ dropped: it is told to end, and is killed if it does not
//! ```
//!
//! Owns one process; what it speaks is its [`Pair`]'s. Must be used from the bridge's main thread only, as `runner` is.

pub mod catalog;
pub mod model;

use std::collections::BTreeMap;
use std::io;
use std::rc::Rc;
use std::time::Duration;

use harbor_child::link::LinkReader;
use harbor_child::outbox::{Outbox, Refused};
use harbor_child::reaper::{Exit, Reaper};
use harbor_child::turn::Turn;
use harbor_ipc_proto::frame::{FrameDecoder, Popped};
use harbor_ipc_proto::link::codec::{BorrowDecode, Encode, get_message, put_message};
use harbor_ipc_proto::{BUILD, LINK_PROTOCOL};
use tokio::sync::{Notify, mpsc};
use tokio::task::JoinHandle;

use super::process::{ChildProgram, Process};
use super::runner::Executable;

/// Events that may wait; the worker is read no further then.
const EVENTS: usize = 64;

/// The most characters of a text.
const MAX_TEXT: usize = 300;

/// How long an unneeded worker may take to end.
const LAST_GRACE: Duration = Duration::from_secs(3);

/// The two message types between the bridge and a worker.
pub trait Pair: 'static {
    /// The worker's name on its command line, and beside the bridge's own program.
    const PROGRAM: &'static str;

    /// The longest message, in bytes; no more than that may wait for the worker either.
    const MAX_MESSAGE: usize;

    /// A message from the bridge.
    type To<'a>: Encode;

    /// A message to the bridge.
    type From<'a>: BorrowDecode<'a, ()>;

    /// A message to the bridge, bounded and owned.
    type CatalogWorkerMessage: 'static;

    /// The bridge's first message.
    fn hello() -> Self::To<'static>;

    /// Its last one.
    fn shutdown() -> Self::To<'static>;

    /// Link protocol and build, if this is the worker's first message.
    fn greeting<'m>(message: &'m Self::From<'_>) -> Option<(u32, &'m str)>;

    /// Any other message.
    ///
    /// # Errors
    /// When it does not belong behind the first one.
    fn said(message: Self::From<'_>) -> io::Result<Self::CatalogWorkerMessage>;
}

/// A worker's message, or a change in its life.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WorkerEvent<S> {
    /// It has greeted.
    Greeted,
    /// A message.
    Said(S),
    /// Process and link are gone, and how it ended.
    Closed(String),
}

type Events<P> = mpsc::Sender<WorkerEvent<<P as Pair>::CatalogWorkerMessage>>;

/// A worker's process.
#[derive(Debug)]
pub struct WorkerProcess<P: Pair> {
    outbox: Rc<Outbox>,
    process: Process,
    pair: std::marker::PhantomData<P>,
}

impl<P: Pair> WorkerProcess<P> {
    /// Starts a worker and greets it. The receiver gets its messages.
    ///
    /// # Errors
    /// When the system is out of processes or file descriptors.
    pub fn start(
        executable: &Executable,
        environment: &BTreeMap<String, String>,
        reaper: &Reaper,
    ) -> io::Result<(Self, mpsc::Receiver<WorkerEvent<P::CatalogWorkerMessage>>)> {
        let program = ChildProgram { executable: executable.file(), name: P::PROGRAM, grace: LAST_GRACE };
        let (process, mine, ended) = Process::start(&program, reaper, |command| {
            command.envs(environment).current_dir("/");
        })?;
        let (reader, writer) = mine.watch()?;
        let outbox = Rc::new(Outbox::new(P::MAX_MESSAGE));
        let worker = Self { outbox, process, pair: std::marker::PhantomData };
        worker.send(&P::hello());
        let (events, receiver) = mpsc::channel(EVENTS);
        let outbox = worker.outbox.clone();
        tokio::task::spawn_local(async move {
            // An error means that the worker is gone; the reader sees that too.
            let _ = outbox.drive(&writer).await;
        });
        let link = (reader, worker.outbox.clone(), worker.process.released());
        tokio::task::spawn_local(follow::<P>(link, events, ended));
        Ok((worker, receiver))
    }

    /// Its process id.
    #[must_use]
    pub fn pid(&self) -> u32 {
        self.process.pid()
    }

    /// Sends a message. If the worker is gone, the message is dropped, and its end is an event. False if
    /// there is no room, since a worker that does not read has a limited queue.
    pub fn send(&self, message: &P::To<'_>) -> bool {
        self.outbox.push(|out| put_message(out, message)) != Err(Refused::Full)
    }

    /// Tells it to finish what it writes and end.
    pub fn shut_down(&self) {
        self.send(&P::shutdown());
        self.outbox.close();
    }

    /// Ends it at once.
    pub fn kill(&self) {
        self.process.kill();
    }
}

impl<P: Pair> Drop for WorkerProcess<P> {
    fn drop(&mut self) {
        self.shut_down();
    }
}

/// Passes on a worker's messages until its link ends, then the end of its process. A worker without a link ends, or is killed.
async fn follow<P: Pair>(
    (mut reader, outbox, released): (LinkReader, Rc<Outbox>, Rc<Notify>),
    events: Events<P>,
    ended: JoinHandle<Option<Exit>>,
) {
    let broken = match read_messages::<P>(&mut reader, &events).await {
        // What this file says itself is about the protocol; anything else is the system's word for a worker that died.
        Err(error) if error.kind() == io::ErrorKind::Other => {
            Some(format!("it violated the protocol: {error}"))
        }
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

async fn read_messages<P: Pair>(reader: &mut LinkReader, events: &Events<P>) -> io::Result<()> {
    let mut frames = FrameDecoder::new(P::MAX_MESSAGE);
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
            let event = event::<P>(body, &mut greeted)?;
            if events.send(event).await.is_err() {
                return Ok(());
            }
            turn.handled(length).await;
        }
    }
}

fn event<P: Pair>(body: &[u8], greeted: &mut bool) -> io::Result<WorkerEvent<P::CatalogWorkerMessage>> {
    let message: P::From<'_> = get_message(body).map_err(io::Error::other)?;
    if std::mem::replace(greeted, true) {
        return P::said(message).map(WorkerEvent::Said);
    }
    match P::greeting(&message) {
        Some((LINK_PROTOCOL, BUILD)) => Ok(WorkerEvent::Greeted),
        Some((_, build)) => {
            Err(io::Error::other(format!("it is from build {build:.80}, this bridge from {BUILD}")))
        }
        None => Err(io::Error::other("its first message was not a greeting")),
    }
}

/// The error about a second greeting.
fn greeted_twice() -> io::Error {
    io::Error::other("it greeted twice")
}

/// One bounded line.
fn line(text: &str) -> String {
    text.chars().take(MAX_TEXT).map(|c| if c.is_control() { ' ' } else { c }).collect()
}

#[cfg(test)]
mod tests {
    use harbor_ipc_proto::link::model::{FromModel, ToModel};
    use harbor_ipc_proto::link::worker::FromWorker;

    use super::catalog::CatalogLink;
    use super::model::ModelLink;
    use super::*;

    fn first<P: Pair>(
        message: &impl Encode,
        greeted: bool,
    ) -> io::Result<WorkerEvent<P::CatalogWorkerMessage>> {
        let mut frame = Vec::new();
        put_message(&mut frame, message);
        let mut frames = FrameDecoder::new(1 << 20);
        frames.push(&frame);
        let Some(Popped::Frame(body)) = frames.pop() else { panic!("no frame") };
        event::<P>(body, &mut { greeted })
    }

    #[test]
    fn it_greets_first_and_once_and_is_of_this_build() {
        let hello = |build: &'static str| FromWorker::Hello { protocol: LINK_PROTOCOL, build: build.into() };
        assert_eq!(first::<CatalogLink>(&hello(BUILD), false).unwrap(), WorkerEvent::Greeted);
        assert!(first::<CatalogLink>(&hello("another"), false).is_err());
        assert!(first::<CatalogLink>(&FromWorker::Opened { set_aside: None }, false).is_err());
        assert!(first::<CatalogLink>(&hello(BUILD), true).is_err());
        let hello = FromModel::Hello { protocol: LINK_PROTOCOL, build: BUILD.into() };
        assert_eq!(first::<ModelLink>(&hello, false).unwrap(), WorkerEvent::Greeted);
        assert!(first::<ModelLink>(&hello, true).is_err());
        assert!(first::<ModelLink>(&ToModel::Shutdown, false).is_err(), "that is no message of it");
    }
}
