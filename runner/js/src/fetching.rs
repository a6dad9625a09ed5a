//! The fetch process of a script: requests go in, answers come out.
//!
//! ```text
//!  fetch() ─► ask ─► stdin ─► harbor-runner-http requests ─► the server's egress proxy
//!  event loop ◄─ Fetched ◄─ stdout ◄┘                        it ends with this process: its stdin does
//! ```
//!
//! Owns its start, at the first request, and which requests are open. Must never connect itself, and must never wait for an
//! answer: the event loop does.

use std::collections::BTreeSet;
use std::env;
use std::io::{self, Read as _, Write as _};
use std::os::fd::{AsFd as _, BorrowedFd};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Duration;

use harbor_ipc_proto::BUILD;
use harbor_ipc_proto::frame::{FrameDecoder, Popped};
use harbor_ipc_proto::link::codec::{MAX_MESSAGE, get_message, put_message};
use harbor_ipc_proto::link::fetch::{Answer, FromFetcher, ToFetcher, WebRequest};

/// Variables that the fetch process gets: where the system's certificates are, and the marks by which Harbor finds what was
/// left behind.
const PASSED: &[&str] = &["HARBOR_INSTANCE", "HARBOR_SERVER", "SSL_CERT_DIR", "SSL_CERT_FILE"];

const ENDED: &str = "the fetch process has ended; the next fetch starts another one";

/// How a script fetches.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Way {
    /// The program of the fetch process.
    pub(crate) program: PathBuf,
    /// The address of the server's egress proxy.
    pub(crate) proxy: String,
}

/// The end of a request.
#[derive(Debug)]
pub(crate) struct Fetched {
    pub(crate) id: u32,
    /// The answer, or a sentence.
    pub(crate) outcome: Result<Answer, String>,
}

/// The requests that are open, and the process that has them.
#[derive(Debug)]
pub(crate) struct Fetching {
    way: Option<Way>,
    limit: Duration,
    process: Option<Fetcher>,
    open: BTreeSet<u32>,
}

#[derive(Debug)]
struct Fetcher {
    child: Child,
    to: ChildStdin,
    from: ChildStdout,
    frames: FrameDecoder,
    has_ended: bool,
}

impl Fetching {
    /// Nothing yet. Each request may take as long as `limit`.
    pub(crate) fn new(way: Option<Way>, limit: Duration) -> Self {
        Self { way, limit, process: None, open: BTreeSet::new() }
    }

    /// True if the script may fetch.
    pub(crate) fn is_allowed(&self) -> bool {
        self.way.is_some()
    }

    /// Sends a request. Its limit is set here.
    ///
    /// # Errors
    /// A sentence: there is no fetch process.
    pub(crate) fn ask(&mut self, ask: WebRequest) -> Result<(), String> {
        let id = ask.id;
        let limit_ms = u64::try_from(self.limit.as_millis()).unwrap_or(u64::MAX);
        let message = ToFetcher::Ask(WebRequest { limit_ms, ..ask });
        self.started().map_err(|error| format!("the fetch process does not start: {error}"))?;
        if self.send(&message).is_err() {
            // It had ended while nothing was open, and has been cleared away.
            self.started().map_err(|error| format!("the fetch process does not start: {error}"))?;
            self.send(&message).map_err(|_| ENDED.to_owned())?;
        }
        self.open.insert(id);
        Ok(())
    }

    /// Forgets a request.
    pub(crate) fn abandon(&mut self, id: u32) {
        if self.open.remove(&id) {
            // If the process is gone, so is the request.
            let _ = self.send(&ToFetcher::Abandon { id });
        }
    }

    /// What to wait at for the next answer. None if there is none to come.
    pub(crate) fn source(&self) -> Option<BorrowedFd<'_>> {
        let process = self.process.as_ref().filter(|process| !process.has_ended);
        process.filter(|_| !self.open.is_empty()).map(|process| process.from.as_fd())
    }

    /// Takes what has come. It is read once.
    ///
    /// # Errors
    /// The system's; an interruption is none.
    pub(crate) fn fill(&mut self) -> io::Result<()> {
        let Some(process) = self.process.as_mut() else { return Ok(()) };
        match process.from.read(process.frames.space()) {
            Ok(0) => process.has_ended = true,
            Ok(n) => process.frames.filled(n),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
        Ok(())
    }

    /// The next end of an open request that is known.
    pub(crate) fn next(&mut self) -> Option<Fetched> {
        let process = self.process.as_mut()?;
        while let Some(popped) = process.frames.pop() {
            let message = match popped {
                Popped::Frame(body) => get_message(body).ok(),
                Popped::Oversize(_) => None,
            };
            let fetched = match message {
                Some(FromFetcher::Answered(answer)) => Fetched { id: answer.id, outcome: Ok(answer) },
                Some(FromFetcher::Failed { id, why }) => Fetched { id, outcome: Err(why) },
                None => {
                    process.has_ended = true;
                    break;
                }
            };
            if self.open.remove(&fetched.id) {
                return Some(fetched);
            }
        }
        if !process.has_ended {
            return None;
        }
        match self.open.pop_first() {
            Some(id) => Some(Fetched { id, outcome: Err(ENDED.into()) }),
            None => {
                self.end();
                None
            }
        }
    }

    fn started(&mut self) -> io::Result<()> {
        if self.process.is_some() {
            return Ok(());
        }
        let way = self.way.as_ref().ok_or(io::ErrorKind::NotFound)?;
        let own = std::process::id().to_string();
        let mut command = Command::new(&way.program);
        command.args(["requests", BUILD, &own, &way.proxy]).env_clear();
        command.envs(PASSED.iter().filter_map(|name| Some((name, env::var_os(name)?))));
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let (to, from) = (child.stdin.take(), child.stdout.take());
        let (to, from) = to.zip(from).ok_or(io::ErrorKind::BrokenPipe)?;
        let frames = FrameDecoder::new(MAX_MESSAGE);
        self.process = Some(Fetcher { child, to, from, frames, has_ended: false });
        Ok(())
    }

    fn send(&mut self, message: &ToFetcher) -> io::Result<()> {
        let Some(process) = self.process.as_mut() else { return Ok(()) };
        let mut frame = Vec::new();
        put_message(&mut frame, message);
        let sent = process.to.write_all(&frame);
        process.has_ended |= sent.is_err();
        if sent.is_err() && self.open.is_empty() {
            self.end();
        }
        sent
    }

    /// Ends a process that is of no use any more.
    fn end(&mut self) {
        if let Some(mut process) = self.process.take() {
            // It may have ended already.
            let _ = process.child.kill();
            let _ = process.child.wait();
        }
    }
}
