//! Finds the user's one bridge, and starts it when there is none.
//!
//! ```text
//!  connect ─► a socket that takes us? ─yes─► attach {token, role} ─► the stream
//!                │ no                           │ token out of date, bridge on its way out: again in 50 ms
//!                ├─ a bridge holds the lock: it comes, goes, or makes its socket anew: again in 50 ms
//!                └─► `harbor-bridge serve --detached` ─► `ready`, or exit 75 (another one was faster) ─► again
//! ```
//!
//! Owns the way from "this program wants the bridge" to an attached stream. Must never say more than `attach`
//! on that stream, talk to a socket that somebody else could have made, or wait longer than its caller allows.
//! It blocks: its callers are small programs without a runtime.

mod errors;
mod start;

use std::fs::{self, OpenOptions};
use std::io::{self, Read, Write};
use std::os::fd::AsRawFd;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use harbor_ipc_proto::client::answer::{Heard, Refusal, VersionDetails, request_frame};
use harbor_ipc_proto::client::{Attach, AttachResult};
use harbor_ipc_proto::codes::Code;
use harbor_ipc_proto::field::{Message as _, read_object};
use harbor_ipc_proto::frame::HEADER;
use harbor_ipc_proto::json::Json;
use harbor_ipc_proto::{BUILD, CLIENT_PROTOCOL};
use nix::errno::Errno;
use nix::fcntl::OFlag;
use nix::sys::socket::sockopt::PeerCredentials;
use nix::sys::socket::{
    AddressFamily, SockFlag, SockType, UnixAddr, connect as connect_fd, getsockopt, socket,
};
use nix::unistd::geteuid;

pub use self::errors::{DialError, Version};
pub use self::start::EXIT_LOCKED;
use crate::Paths;
use crate::lock::holder;

/// The time that a program looks for the bridge when it sets no limit of its own.
pub const DIAL_LIMIT: Duration = Duration::from_secs(10);

/// The pause between two tries.
const RETRY: Duration = Duration::from_millis(50);

/// The pause between two starts: a bridge that is ending holds its lock for a while.
const RESTART: Duration = Duration::from_millis(500);

/// No answer to `attach` is longer than this, in bytes.
const MAX_ANSWER: usize = 64 * 1024;

/// No token is longer than this, in bytes.
const MAX_TOKEN: u64 = 4096;

/// The role of this program for the bridge; stated once, in the first frame.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Role {
    /// The native host of a browser.
    Relay {
        /// The extension that the browser started it for.
        extension_id: String,
    },
    /// The command line.
    Cli,
    /// The MCP server of an AI client.
    Mcp {
        /// The name under which the person has configured it.
        client: String,
        /// An id of its own token, where it came with one.
        token_id: Option<String>,
    },
}

/// Connects to the bridge in this role, starting it if need be, within `limit`.
///
/// # Errors
/// Why there is no bridge to talk to, and what to do.
pub fn connect(paths: &Paths, role: &Role, limit: Duration) -> Result<UnixStream, DialError> {
    let dial = Dial::new(paths, role, limit)?;
    dial.run(true)?.ok_or_else(|| dial.slow("the bridge to start"))
}

/// Connects to the bridge if one runs. None if none does.
///
/// # Errors
/// As for [`connect`].
pub fn connect_running(paths: &Paths, role: &Role, limit: Duration) -> Result<Option<UnixStream>, DialError> {
    Dial::new(paths, role, limit)?.run(false)
}

/// One search for the bridge: where to look, as what, and until when.
struct Dial {
    home: PathBuf,
    run_dir: PathBuf,
    socket: PathBuf,
    token: PathBuf,
    lock: PathBuf,
    log: PathBuf,
    program: PathBuf,
    role: Role,
    until: Instant,
}

enum Tried {
    Attached(UnixStream),
    Absent,
    /// It may work soon; the error is for the case that it does not.
    NotYet(DialError),
}

impl Dial {
    fn new(paths: &Paths, role: &Role, limit: Duration) -> Result<Self, DialError> {
        Ok(Self {
            home: paths.home().to_owned(),
            run_dir: paths.run_dir(),
            socket: paths.socket().map_err(DialError::Config)?,
            token: paths.token(),
            lock: paths.lock(),
            log: paths.log_file(),
            program: bridge_program(role)?,
            role: role.clone(),
            until: Instant::now() + limit,
        })
    }

    fn run(&self, may_start: bool) -> Result<Option<UnixStream>, DialError> {
        let mut next_start = Instant::now();
        // What was heard last: a try that the limit cuts off says less.
        let mut heard = None;
        loop {
            let tried = match (self.try_once(), heard.take()) {
                (Err(DialError::Slow { .. }), Some(reason)) => return Err(reason),
                (tried, _) => tried?,
            };
            let reason = match tried {
                Tried::Attached(stream) => return Ok(Some(stream)),
                Tried::NotYet(reason) => reason,
                Tried::Absent if holder(&self.lock).is_some() => self.slow("the bridge that holds the lock"),
                Tried::Absent if !may_start => return Ok(None),
                Tried::Absent => {
                    if Instant::now() >= next_start {
                        next_start = Instant::now() + RESTART;
                        if self.start_bridge()? {
                            continue;
                        }
                    }
                    self.slow("another bridge that holds the lock")
                }
            };
            if self.left() <= RETRY {
                return Err(reason);
            }
            heard = Some(reason);
            thread::sleep(RETRY);
        }
    }

    fn try_once(&self) -> Result<Tried, DialError> {
        let socket_dir = self.socket.parent().unwrap_or(&self.run_dir);
        if !is_ours(&self.run_dir)? || !is_ours(socket_dir)? || !is_ours(&self.socket)? {
            return Ok(Tried::Absent);
        }
        let Some(stream) = self.open_socket()? else { return Ok(Tried::Absent) };
        if !listens_as_us(&stream) {
            return Err(DialError::NotOurs(self.socket.clone()));
        }
        let read = |error| DialError::Io("read", self.token.clone(), error);
        let token = match read_token(&self.token) {
            Ok(token) => token,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Tried::NotYet(read(error))),
            Err(error) => return Err(read(error)),
        };
        match self.attach(&stream, token.trim_end()) {
            Ok(answer) => self.judge(stream, &answer),
            Err(error) if is_timeout(&error) => Err(self.slow("the bridge to answer")),
            Err(error) if error.kind() == io::ErrorKind::InvalidData => {
                Err(DialError::NoBridge(self.socket.clone()))
            }
            // It closed on us: a bridge that ends does. Its socket will be gone, or its successor there.
            Err(error) => Ok(Tried::NotYet(DialError::Io("speak on", self.socket.clone(), error))),
        }
    }

    /// Opens the socket. None if nobody listens there.
    fn open_socket(&self) -> Result<Option<UnixStream>, DialError> {
        match connect_within(&self.socket, self.left()) {
            Ok(stream) => Ok(Some(stream)),
            Err(error) if is_timeout(&error) => Err(self.slow("the bridge to take the connection")),
            Err(error) => match error.kind() {
                io::ErrorKind::NotFound | io::ErrorKind::ConnectionRefused => Ok(None),
                _ => Err(DialError::Io("connect to", self.socket.clone(), error)),
            },
        }
    }

    fn attach(&self, mut stream: &UnixStream, token: &str) -> io::Result<Vec<u8>> {
        stream.write_all(&request_frame(Attach::TAG, &attach(&self.role, token)))?;
        // Exactly one frame is read: what follows belongs to the caller.
        let mut header = [0; HEADER];
        self.fill(stream, &mut header)?;
        let length = usize::try_from(u32::from_le_bytes(header)).unwrap_or(usize::MAX);
        if length > MAX_ANSWER {
            return Err(io::ErrorKind::InvalidData.into());
        }
        let mut answer = vec![0; length];
        self.fill(stream, &mut answer)?;
        stream.set_read_timeout(None)?;
        stream.set_write_timeout(None)?;
        Ok(answer)
    }

    /// Like `read_exact`, but the limit holds for all of it, whatever ends a read early.
    fn fill(&self, mut stream: &UnixStream, mut wanted: &mut [u8]) -> io::Result<()> {
        while !wanted.is_empty() {
            if Instant::now() >= self.until {
                return Err(io::ErrorKind::TimedOut.into());
            }
            stream.set_read_timeout(Some(self.left()))?;
            match stream.read(wanted) {
                Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
                Ok(n) => wanted = &mut wanted[n..],
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    fn judge(&self, stream: UnixStream, answer: &[u8]) -> Result<Tried, DialError> {
        let no_bridge = || DialError::NoBridge(self.socket.clone());
        let heard = Heard::parse(answer).map_err(|_| no_bridge())?;
        match heard.refusal() {
            Some(refusal) => self.judge_refusal(refusal.map_err(|_| no_bridge())?),
            None if heard.answers::<Attach>() => {
                let AttachResult { protocol, build, .. } = heard.read().map_err(|_| no_bridge())?;
                match protocol == CLIENT_PROTOCOL {
                    true => Ok(Tried::Attached(stream)),
                    false => Err(DialError::Version(Some(Version {
                        protocol: protocol.into(),
                        build: build.into_owned(),
                    }))),
                }
            }
            None => Err(no_bridge()),
        }
    }

    fn judge_refusal(&self, refusal: Refusal) -> Result<Tried, DialError> {
        let Refusal { code, message, details } = refusal;
        let code = Code::ALL.iter().copied().find(|known| known.as_str() == code).unwrap_or(Code::Internal);
        match code {
            Code::VersionMismatch => Err(DialError::Version(details.as_ref().and_then(version_of))),
            Code::Unauthorized | Code::ShuttingDown => Ok(Tried::NotYet(DialError::Refused(code, message))),
            _ => Err(DialError::Refused(code, message)),
        }
    }

    fn left(&self) -> Duration {
        left(self.until)
    }

    fn slow(&self, waited_for: &'static str) -> DialError {
        DialError::Slow { waited_for, log: self.log.clone() }
    }
}

/// The time left until `until`. Never zero, since a socket would take zero for "no limit".
#[must_use]
pub fn left(until: Instant) -> Duration {
    until.saturating_duration_since(Instant::now()).max(Duration::from_millis(1))
}

/// Like `UnixStream::connect`, but within a limit: a bridge that hangs stops taking connections.
fn connect_within(path: &Path, limit: Duration) -> io::Result<UnixStream> {
    let stream =
        UnixStream::from(socket(AddressFamily::Unix, SockType::Stream, SockFlag::SOCK_CLOEXEC, None)?);
    let (until, address) = (Instant::now() + limit, UnixAddr::new(path)?);
    loop {
        stream.set_write_timeout(Some(left(until)))?;
        match connect_fd(stream.as_raw_fd(), &address) {
            // A call with a limit is not begun again by the kernel: a program that is stopped and continued comes here.
            Err(Errno::EINTR) => {}
            connected => return Ok(connected.map(|()| stream)?),
        }
    }
}

/// The bridge's executable: the relay is one itself, the command line lies beside it.
///
/// # Errors
/// When this program's own place cannot be found.
pub fn bridge_program(role: &Role) -> Result<PathBuf, DialError> {
    let own = std::env::current_exe()
        .map_err(|error| DialError::Io("find", PathBuf::from("this program"), error))?;
    Ok(match role {
        Role::Relay { .. } => own,
        Role::Cli | Role::Mcp { .. } => own.with_file_name("harbor-bridge"),
    })
}

fn attach(role: &Role, token: &str) -> Attach {
    let (word, extension_id, client, token_id) = match role {
        Role::Relay { extension_id } => ("relay", Some(extension_id.clone()), None, None),
        Role::Cli => ("cli", None, None, None),
        Role::Mcp { client, token_id } => ("mcp", None, Some(client.clone()), token_id.clone()),
    };
    Attach {
        token: token.to_owned(),
        role: word.to_owned(),
        protocol: Some(CLIENT_PROTOCOL),
        build: Some(BUILD.to_owned()),
        extension_id,
        client,
        token_id,
    }
}

fn version_of(details: &Json) -> Option<Version> {
    let VersionDetails { protocol, build } = read_object(details.as_str()).ok()?;
    Some(Version { protocol, build: build.unwrap_or_else(|| "unknown".into()) })
}

/// True if this user's process listens there: the listener need not be the file's owner.
fn listens_as_us(stream: &UnixStream) -> bool {
    getsockopt(stream, PeerCredentials).is_ok_and(|peer| peer.uid() == geteuid().as_raw())
}

/// Reads the token, if a file is at its place.
fn read_token(path: &Path) -> io::Result<String> {
    let flags = (OFlag::O_NOFOLLOW | OFlag::O_NONBLOCK).bits();
    let file = OpenOptions::new().read(true).custom_flags(flags).open(path)?;
    let mut token = String::new();
    file.take(MAX_TOKEN).read_to_string(&mut token)?;
    Ok(token)
}

/// True if `path` exists. An error if anybody but this user could have put it there, or if it leads
/// elsewhere.
fn is_ours(path: &Path) -> Result<bool, DialError> {
    let metadata = match fs::symlink_metadata(path) {
        Ok(metadata) => metadata,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
        Err(error) => return Err(DialError::Io("look at", path.to_owned(), error)),
    };
    let open_to_others = metadata.is_dir() && metadata.mode() & 0o022 != 0;
    if metadata.is_symlink() || metadata.uid() != geteuid().as_raw() || open_to_others {
        return Err(DialError::NotOurs(path.to_owned()));
    }
    Ok(true)
}

fn is_timeout(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut)
}

#[cfg(test)]
mod tests;
