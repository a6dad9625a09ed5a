//! The things that a start has found and made on the disk, or the reason why there are none.
//!
//! Owns that form. Must never look at the disk itself: that is `launch`'s.

use std::collections::BTreeMap;
use std::path::PathBuf;

use harbor_ipc_proto::client::SandboxSettings;
use harbor_policy::credentials::Credentials;
use harbor_policy::sandbox::SandboxFacts;

use crate::link::EndReport;

/// A start of a server, or of one command of its installer.
#[derive(Debug, Clone, Default)]
pub(super) struct LaunchTarget {
    /// The installer's command. None for the server itself.
    pub installer: Option<Vec<String>>,
}

/// The things that a start has found and made on the disk.
#[derive(Debug)]
pub(super) struct Prepared {
    pub command: String,
    pub args: Vec<String>,
    pub cwd: String,
    /// The directory of the package's other programs: as under npx and uvx, they are found.
    pub programs: Option<PathBuf>,
    /// The PATH for programs.
    pub path: String,
    /// Its rights.
    pub sandbox: SandboxSettings,
    /// Variables of its own.
    pub env: BTreeMap<String, String>,
    pub facts: SandboxFacts,
    /// The secrets that the server alone is given.
    pub secrets: Credentials,
}

/// Why a start could not be prepared, as the end of the sentence "could not …".
#[derive(Debug, Default)]
pub(super) struct Unprepared {
    pub why: String,
    /// True if its package is not what was installed.
    pub package_lost: bool,
    /// Secrets that it needs and that are not set: then that is why.
    pub missing: Vec<String>,
    /// Its secrets cannot be read: the end of its start, which is tried again when they can.
    pub barred: Option<Box<EndReport>>,
}

impl From<String> for Unprepared {
    fn from(why: String) -> Self {
        Self { why, ..Self::default() }
    }
}
