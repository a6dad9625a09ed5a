//! The reasons why the catalog cannot be read or refreshed.
//!
//! Owns the sentences, with the next step, and the words for programs.

use std::fmt;

use harbor_ipc_proto::client::envelope::ErrorBody;
use harbor_ipc_proto::codes::Code;

/// A reason.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CatalogError {
    /// The environment says that there is no worker.
    WorkerOff,
    /// The configuration says that nothing is fetched.
    Disabled,
    /// The worker was given up, or did not do its work.
    WorkerFailed(String),
    /// There is no source to read, and no place for look-ups.
    NothingToDo,
    /// The bridge ends.
    Ending,
    /// There is no file.
    Missing,
    /// The file is of a newer Harbor; the number is its version.
    Newer(i64),
    /// The file is damaged, and SQLite says how.
    Corrupt(String),
    /// The system does not let the file be read.
    Unreadable(String),
}

impl CatalogError {
    /// The word for programs.
    #[must_use]
    pub fn cause(&self) -> &'static str {
        match self {
            Self::WorkerOff => "worker_off",
            Self::Disabled => "disabled",
            Self::WorkerFailed(_) => "worker_failed",
            Self::NothingToDo => "nothing_to_do",
            Self::Ending => "ending",
            Self::Missing => "missing",
            Self::Newer(_) => "newer",
            Self::Corrupt(_) => "corrupt",
            Self::Unreadable(_) => "unreadable",
        }
    }

    /// True if a worker can make the file anew, or readable.
    #[must_use]
    pub fn is_healed_by_a_worker(&self) -> bool {
        matches!(self, Self::Missing | Self::Corrupt(_))
    }

    /// The error for a client.
    #[must_use]
    pub fn told(&self) -> ErrorBody {
        match self {
            Self::Ending => ErrorBody::new(
                Code::ShuttingDown,
                "the bridge is shutting down; repeat the request, which starts it again",
            ),
            _ => ErrorBody::new(Code::CatalogUnavailable, self.to_string()).with("cause", self.cause()),
        }
    }
}

impl fmt::Display for CatalogError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::WorkerOff => f.write_str(
                "the catalog worker is off: start the bridge without HARBOR_CATALOG_WORKER=0 (`harbor shutdown`)",
            ),
            Self::Disabled => {
                f.write_str("the catalog is switched off: set `enabled = true` under [catalog] in config.toml")
            }
            Self::WorkerFailed(why) => {
                write!(f, "the catalog worker failed: {why}; `harbor catalog refresh` tries again")
            }
            Self::NothingToDo => f.write_str("there is no source to ask: set its address under [catalog] in config.toml"),
            Self::Ending => f.write_str("the bridge is shutting down"),
            Self::Missing => f.write_str("there is no catalog yet; make one: `harbor catalog refresh`"),
            Self::Newer(version) => write!(
                f,
                "catalog.db comes from a newer Harbor (its version is {version}); make a new one: `harbor catalog refresh`"
            ),
            Self::Corrupt(how) => {
                write!(f, "catalog.db is damaged ({how}); make a new one: `harbor catalog refresh`")
            }
            Self::Unreadable(why) => write!(f, "catalog.db cannot be read: {why}; check the file and its disk"),
        }
    }
}

impl std::error::Error for CatalogError {}
