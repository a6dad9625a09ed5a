//! Why there is no bridge to talk to, in words for people and in a code for programs.
//!
//! Owns the texts, which say what to do next. Must never quote the token.

use std::fmt;
use std::io;
use std::path::PathBuf;
use std::process::ExitStatus;

use harbor_ipc_proto::codes::Code;
use harbor_ipc_proto::{BUILD, CLIENT_PROTOCOL};

use crate::PathError;
use crate::files::{FileError, advice};

/// A program's or a bridge's version.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Version {
    /// The client protocol.
    pub protocol: u64,
    /// The build.
    pub build: String,
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "build {}, protocol {}", self.build, self.protocol)
    }
}

/// The reason why there is no stream.
#[derive(Debug)]
pub enum DialError {
    /// The paths cannot be used.
    Config(PathError),
    /// Somebody else owns this file, or could replace it.
    NotOurs(PathBuf),
    /// The home is not to be used, or could not be made.
    Home(FileError),
    /// The system refused an operation on this file.
    Io(&'static str, PathBuf, io::Error),
    /// The bridge that was started ended before it was ready.
    Ended {
        /// Its exit status.
        status: ExitStatus,
        /// The place of its log.
        log: PathBuf,
        /// The end of its log.
        tail: String,
    },
    /// The limit has passed.
    Slow {
        /// The thing that did not happen in time.
        waited_for: &'static str,
        /// The place of the bridge's log.
        log: PathBuf,
    },
    /// The bridge refused the role.
    Refused(Code, String),
    /// Program and bridge do not fit together. `None`: the bridge did not say which it is.
    Version(Option<Version>),
    /// The program that listens there is no bridge.
    NoBridge(PathBuf),
}

impl DialError {
    /// The code for programs.
    #[must_use]
    pub fn code(&self) -> Code {
        match self {
            Self::Refused(code, _) => *code,
            Self::Version(_) => Code::VersionMismatch,
            Self::NotOurs(_) => Code::PermissionDenied,
            Self::Home(error) if error.source.kind() == io::ErrorKind::PermissionDenied => {
                Code::PermissionDenied
            }
            _ => Code::BridgeUnreachable,
        }
    }
}

impl fmt::Display for DialError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Config(error) => error.fmt(f),
            Self::NotOurs(path) => write!(
                f,
                "Harbor does not use {}: it belongs to another user, another user can change it, or it is a symbolic \
                 link. Set HARBOR_HOME to a directory that only you can write to",
                path.display()
            ),
            Self::Home(error) => write!(f, "cannot {error}"),
            Self::Io(doing, path, error) => {
                write!(f, "cannot {doing} {}: {error}{}", path.display(), advice(error.kind()))
            }
            Self::Ended { status, log, tail } => {
                let tail = if tail.is_empty() { "it logged nothing" } else { tail };
                write!(f, "the bridge ended while it started ({status}):\n{tail}\nIts log: {}", log.display())
            }
            Self::Slow { waited_for, log } => {
                write!(f, "gave up waiting for {waited_for}; try again. The bridge's log: {}", log.display())
            }
            Self::Refused(code, message) => {
                write!(f, "the bridge refused this program: {message} ({})", code.as_str())
            }
            Self::Version(theirs) => explain_versions(f, theirs.as_ref()),
            Self::NoBridge(path) => {
                write!(
                    f,
                    "the program that listens on {} does not answer as a bridge; end it and try again",
                    path.display()
                )
            }
        }
    }
}

impl std::error::Error for DialError {}

fn explain_versions(f: &mut fmt::Formatter<'_>, theirs: Option<&Version>) -> fmt::Result {
    let ours = Version { protocol: CLIENT_PROTOCOL.into(), build: BUILD.into() };
    match theirs {
        Some(theirs) if theirs.protocol < ours.protocol => write!(
            f,
            "the running bridge ({theirs}) is older than this program ({ours}). End it with `harbor shutdown`; the \
             next command starts the new one"
        ),
        Some(theirs) => write!(
            f,
            "this program ({ours}) is older than the running bridge ({theirs}). Upgrade this program, or end \
             the bridge with `harbor shutdown`"
        ),
        None => write!(
            f,
            "the running bridge and this program ({ours}) have versions that do not fit. Install one version of \
             Harbor, then end the bridge with `harbor shutdown`"
        ),
    }
}
