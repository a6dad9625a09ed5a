//! A server of a foreign file that may be imported, its secrets, and what became of it.
//!
//! Must never show a value.

use std::path::PathBuf;

use harbor_client_configs::{AiClient, Launch};
use harbor_ipc_proto::client::CredentialType;

use super::super::definition_secrets::{self, Apart};

/// The outcome for one server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Outcome {
    Imported(Start),
    WouldBe,
    /// It was here before; for `--replace`, whether it starts.
    Here(Start),
    Skipped(String),
    Failed(String),
}

/// The outcome of the first start of a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Start {
    /// There was none.
    Not,
    /// The number of its tools.
    Tools(u32),
    Failed(String),
}

/// One server of a file.
pub(super) struct ImportCandidate {
    pub(super) name: String,
    pub(super) file: PathBuf,
    /// The client whose own file it is, unless it is for one project only.
    pub(super) client: Option<&'static AiClient>,
    /// Its id here.
    pub(super) id: String,
    pub(super) launch: Result<Launch, String>,
}

/// The secrets of a launch.
pub(super) fn secrets_of(launch: &Launch) -> Vec<Apart> {
    let mut all = definition_secrets::secrets_of(&launch.env, CredentialType::ApiKey);
    let headers = launch.remote.iter();
    all.extend(
        headers.flat_map(|remote| definition_secrets::secrets_of(&remote.headers, CredentialType::Header)),
    );
    all
}
