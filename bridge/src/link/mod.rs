//! The bridge's end of the link to a runner: calls with their answers, and events; and that to the catalog worker (`worker`).
//!
//! ```text
//!  supervisor ──call──► Link ──ToRunner──► runner
//!      ▲  ▲               │
//!      │  └─ the answer: the call's future has it
//!      └──── what nobody asked for: LinkEvent, on a channel that this room owns
//! ```
//!
//! Owns the open calls of one runner: each ends exactly once, by an answer, by the end of its server, by the end
//! of the link, or by being dropped (the runner is told then). Everything a runner sends is taken for hostile:
//! bounded, typed, and its JSON checked to be contained.

mod answer;
mod calls;
mod deadlines;
mod events;
mod large;
mod limit_reports;
mod page_search;
mod process;
mod questions;
pub mod runner;
mod tools;
pub mod worker;

use std::cell::RefCell;
use std::io;
use std::rc::{Rc, Weak};
use std::time::{Duration, Instant};

use harbor_child::link::{Ends, LinkReader};
use harbor_child::outbox::Outbox;
use harbor_child::turn::{LARGE, Turn};
use harbor_ipc_proto::contained::is_contained;
use harbor_ipc_proto::frame::{FrameDecoder, Popped};
use harbor_ipc_proto::json::Json;
use harbor_ipc_proto::link::codec::{MAX_MESSAGE, get_message, put_message};
use harbor_ipc_proto::link::oauth::Renewal;
use harbor_ipc_proto::link::runner::{EndCause, FromRunner, Operation, ToRunner};
use harbor_ipc_proto::{BUILD, LINK_PROTOCOL};
use harbor_policy::redaction::Redactor;
use tokio::sync::{Notify, mpsc, oneshot};

pub use answer::{Failure, ServerAnswer, one_line};
pub use calls::{
    Audience, CallError, CallParty, CallResult, OnProgress, Progress, TIME_TO_ANSWER, TimeLimit,
};
pub use events::{
    Containment, EndReport, Info, LinkEvent, MISSING_SECRETS, NEEDS_AUTHORIZATION, NOT_EXECUTABLE,
    UNKNOWN_METHOD,
};
pub use page_search::{FoundPlaces, PageSearch, PageSearchWork, WantedPlaces};
use questions::RoutedQuestion;
pub use questions::{Answerer, Question, REJECTED, nobody_answers};
pub use tools::{Tool, ToolHash, ToolList};

use calls::{LinkCallGuard, OpenCalls};
use large::Large;
use limit_reports::{HeldStart, HeldStarts};

/// Bytes that may wait for a runner that does not read. Beyond them calls are refused.
const LIMIT: usize = 128 * 1024 * 1024;

/// The largest first message.
const MAX_GREETING: usize = 4 * 1024;

/// Events that may wait for the supervisor; the runner is read no further then.
const EVENTS: usize = 256;

/// The link to one runner.
#[derive(Debug)]
pub struct Link {
    outbox: Outbox,
    calls: RefCell<OpenCalls>,
    /// The limits and secrets of its servers, by start.
    held: RefCell<HeldStarts>,
    /// Set off when the timer of the calls' deadlines must be armed anew.
    rearm: Notify,
}

impl Link {
    /// Takes over the bridge's ends of a link and greets.
    ///
    /// # Errors
    /// When the runtime takes no more descriptors.
    pub fn begin(ends: Ends) -> io::Result<(Rc<Self>, mpsc::Receiver<LinkEvent>)> {
        let (reader, writer) = ends.watch()?;
        let link = Rc::new(Self {
            outbox: Outbox::new(LIMIT),
            calls: RefCell::default(),
            held: RefCell::default(),
            rearm: Notify::new(),
        });
        link.send(&ToRunner::Hello { protocol: LINK_PROTOCOL, build: BUILD.into() });
        let (events, receiver) = mpsc::channel(EVENTS);
        tokio::task::spawn_local({
            let link = link.clone();
            async move {
                // An error means that the runner is gone; the reader sees that too.
                let _ = link.outbox.drive(&writer).await;
            }
        });
        tokio::task::spawn_local(keep_deadlines(Rc::downgrade(&link)));
        tokio::task::spawn_local(read(Rc::downgrade(&link), reader, events));
        Ok((link, receiver))
    }

    /// Sends a message that is not a call. If the runner is gone, the message is dropped.
    pub fn send(&self, message: &ToRunner<'_>) {
        if let ToRunner::Connect { server, launch }
        | ToRunner::Run { server, launch }
        | ToRunner::Authorize { server, launch, .. }
        | ToRunner::Revoke { server, launch }
        | ToRunner::Renew { server, launch } = message
        {
            self.held.borrow_mut().insert(*server, HeldStart::of(launch));
        }
        // Before it is there: what is said of the server from then on may have the new tokens in it.
        if let ToRunner::Renewed { server, renewal: Renewal::Granted(grant) } = message
            && let Some(held) = self.held.borrow_mut().get_mut(server)
        {
            held.note_renewed(grant);
        }
        let _ = self.outbox.push(|out| put_message(out, message));
    }

    /// Has the secrets of a start, which was sent before, hidden in what is told of its end and its progress.
    pub fn hide(&self, server: u32, secrets: Rc<Redactor>) {
        if let Some(held) = self.held.borrow_mut().get_mut(&server) {
            held.redactor = secrets;
        }
    }

    /// A text of a server, without its secrets.
    fn hidden(&self, server: u32, text: &str) -> String {
        match self.held.borrow().get(&server) {
            Some(held) => held.hidden(text).into_owned(),
            None => text.to_owned(),
        }
    }

    /// Asks `server`. Within `limit` comes its answer, or the reason why there is none. Dropping the future tells the runner.
    ///
    /// # Errors
    /// When the runner is gone or does not read.
    pub fn call(
        self: &Rc<Self>,
        server: u32,
        operation: Operation<'_>,
        limit: TimeLimit,
        audience: Audience,
    ) -> Result<impl Future<Output = CallResult> + use<>, CallError> {
        let id = self.calls.borrow_mut().next_id();
        let progress = audience.progress.is_some();
        let capabilities = audience.answerer.as_ref().and_then(|answerer| answerer.capabilities());
        let capabilities = capabilities.map(Into::into);
        let message = ToRunner::Call { server, id, progress, capabilities, operation };
        self.outbox.push(|out| put_message(out, &message))?;
        let (caller, answer) = oneshot::channel();
        let call = LinkCallGuard::open((self, server, id), limit, audience, caller);
        Ok(async move {
            let _call = call;
            answer.await.unwrap_or(Err(CallError::RunnerLost))
        })
    }

    /// A question about a call is answered.
    fn on_answered(&self, call: u64) {
        self.calls.borrow_mut().answered(call, Instant::now());
        self.arm_if_need_be();
    }

    fn arm_if_need_be(&self) {
        if self.calls.borrow_mut().take_rearm() {
            self.rearm.notify_one();
        }
    }

    /// Ends a call whose time has come: its caller and its server are told.
    fn expire(&self, id: u64) {
        let open = self.calls.borrow_mut().forget(id);
        if let Some(open) = open {
            self.send(&ToRunner::Cancel { server: open.server(), id, reason: "timeout".into() });
            let late = open.late();
            open.end(Err(late));
        }
    }

    /// Lets no more through; the runner sees the end of its link once all is written.
    pub fn close(&self) {
        self.outbox.close();
        self.rearm.notify_one();
    }

    fn is_closed(&self) -> bool {
        self.outbox.is_closed()
    }
}

/// A timer that fires this much too late shows that this process did not run meanwhile. Then messages are read for as long first.
const STALL: Duration = Duration::from_millis(250);

/// Ends calls whose time has come, until the link is gone.
async fn keep_deadlines(link: Weak<Link>) {
    while let Some(link) = link.upgrade() {
        let next = link.calls.borrow_mut().deadlines.arm();
        let rearm = link.rearm.notified();
        match next {
            None => rearm.await,
            // Whichever comes first, the other is looked at again.
            Some(at) => {
                drop(tokio::time::timeout_at(at.into(), rearm).await);
                // This process was stopped, or starved: answers may lie ready that came in time.
                if at.elapsed() > STALL {
                    tokio::time::sleep(STALL).await;
                }
            }
        }
        let due = link.calls.borrow_mut().deadlines.take_due(Instant::now());
        due.into_iter().for_each(|id| link.expire(id));
        if link.is_closed() {
            return;
        }
    }
}

/// Reads what the runner sends until the link ends, then ends what is open.
async fn read(link: Weak<Link>, mut reader: LinkReader, events: mpsc::Sender<LinkEvent>) {
    let report = match read_messages(&link, &mut reader, &events).await {
        // What this file says itself is about the protocol.
        Err(error) if error.kind() == io::ErrorKind::Other => {
            EndReport::because("protocol_error", format!("its runner violated the protocol: {error}"))
        }
        // Anything else is the system's word for a runner that died.
        Ok(()) | Err(_) => EndReport::because("runner_lost", "its runner has ended"),
    };
    if let Some(link) = link.upgrade() {
        link.close();
        let open = link.calls.borrow_mut().take_all();
        open.for_each(|open| open.end(Err(CallError::RunnerLost)));
    }
    // The receiver may be gone already, when the bridge is on its way out.
    let _ = events.send(LinkEvent::Closed { report: Rc::new(report) }).await;
}

async fn read_messages(
    link: &Weak<Link>,
    reader: &mut LinkReader,
    events: &mpsc::Sender<LinkEvent>,
) -> io::Result<()> {
    let mut frames = FrameDecoder::new(MAX_GREETING);
    let (mut turn, mut greeted) = (Turn::default(), false);
    loop {
        let lacking = frames.lacking();
        let n = turn.read(reader, frames.space(), lacking).await?;
        if n == 0 {
            return Ok(());
        }
        frames.filled(n);
        loop {
            let event = if let Some(frame) = frames.take_longer_than(LARGE) {
                let message = large::read(frame).await?;
                let_pass(events).await;
                let Some(link) = link.upgrade() else { return Ok(()) };
                link.on_large(message)?
            } else if let Some(popped) = frames.pop() {
                let Popped::Frame(body) = popped else {
                    return Err(io::Error::other("a message is too long"));
                };
                turn.handled(body.len()).await;
                let message: FromRunner<'_> = get_message(body).map_err(io::Error::other)?;
                if let FromRunner::Reply { .. } = message {
                    let_pass(events).await;
                }
                let Some(link) = link.upgrade() else { return Ok(()) };
                if std::mem::replace(&mut greeted, true) {
                    link.on_message(message)?
                } else {
                    greet(&message)?;
                    frames = frames.with_max(MAX_MESSAGE);
                    None
                }
            } else {
                break;
            };
            if let Some(event) = event
                && events.send(event).await.is_err()
            {
                return Ok(());
            }
        }
    }
}

/// Has whoever hears of events have its turn, if some wait: no answer overtakes what its server has told before it.
async fn let_pass(events: &mpsc::Sender<LinkEvent>) {
    if events.capacity() < events.max_capacity() {
        tokio::task::yield_now().await;
    }
}

fn greet(message: &FromRunner<'_>) -> io::Result<()> {
    match message {
        FromRunner::Hello { protocol: LINK_PROTOCOL, build } if build == BUILD => Ok(()),
        FromRunner::Hello { build, .. } => {
            Err(io::Error::other(format!("it is from build {build:.80}, this bridge from {BUILD}")))
        }
        _ => Err(io::Error::other("its first message was not a greeting")),
    }
}

impl Link {
    /// Takes a message that was read aside.
    fn on_large(self: &Rc<Self>, message: Large) -> io::Result<Option<LinkEvent>> {
        match message {
            Large::Reply { server, id, answer } => Ok(self.on_reply(server, id, || answer)),
            Large::Other(frame) => self.on_message(get_message(frame.bytes()).map_err(io::Error::other)?),
        }
    }

    /// An answer ends its call, if that is still open.
    fn on_reply(&self, server: u32, id: u64, answer: impl FnOnce() -> ServerAnswer) -> Option<LinkEvent> {
        let Some(open) = self.calls.borrow_mut().close(id, server) else {
            return Some(LinkEvent::LateReply { server });
        };
        open.end(Ok(answer()));
        None
    }

    /// Takes a message: answers and questions go to their calls, the rest is an event.
    fn on_message(self: &Rc<Self>, message: FromRunner<'_>) -> io::Result<Option<LinkEvent>> {
        match message {
            FromRunner::Hello { .. } => Err(io::Error::other("it greeted twice")),
            FromRunner::Reply { server, id, outcome } => Ok(self.on_reply(server, id, || outcome.into())),
            FromRunner::Progress { server, id, progress, total, message } => {
                let on_progress = self.calls.borrow_mut().progress(id, server, Instant::now());
                let message = message.map(|message| self.hidden(server, &message));
                if let (Some(on_progress), Some(progress)) =
                    (on_progress, Progress::checked(&progress, total.as_deref(), message.as_deref()))
                {
                    on_progress(&progress);
                }
                Ok(None)
            }
            FromRunner::Ask { server, ask, call, method, params } => {
                let asked = is_contained(&params)
                    .then(|| self.calls.borrow_mut().asked(server, call, &method, Instant::now()))
                    .flatten();
                let Some(RoutedQuestion { call, answerer, method, until }) = asked else {
                    let (unoffered, method) = (call.is_some(), method.into_owned());
                    return Ok(Some(LinkEvent::Ask { server, ask, unoffered, method }));
                };
                let params = Json::from_valid(params.into_owned());
                self.arm_if_need_be();
                answerer.ask(Question::new(self, (server, call, ask), (method, until), params));
                Ok(None)
            }
            FromRunner::Died { server, cause, stderr_tail } => {
                let report = self.end_calls(server, &cause, &stderr_tail);
                Ok(Some(LinkEvent::Died { server, report }))
            }
            FromRunner::Ended { server, cause, stderr_tail } => {
                let report = self.end_calls(server, &cause, &stderr_tail);
                self.held.borrow_mut().remove(&server);
                Ok(Some(LinkEvent::Ended { server, report }))
            }
            other => events::from_message(other).map_err(io::Error::other),
        }
    }

    /// Ends all open calls to a server that is gone, and returns the report that their callers get.
    fn end_calls(&self, server: u32, cause: &EndCause<'_>, stderr_tail: &str) -> Rc<EndReport> {
        let report = match self.held.borrow().get(&server) {
            Some(held) => EndReport::new(cause, stderr_tail, held),
            None => EndReport::new(cause, stderr_tail, &HeldStart::default()),
        };
        let report = Rc::new(report);
        let open = self.calls.borrow_mut().take_of(server);
        open.for_each(|open| open.end(Err(CallError::Ended(report.clone()))));
        report
    }
}
