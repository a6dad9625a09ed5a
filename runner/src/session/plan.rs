//! The facts that a start needs, from the bridge's message.

use std::ffi::OsString;
use std::time::Duration;

use harbor_child::instructions::Server;
use harbor_ipc_proto::link::runner::{Era, Launch};
use harbor_ipc_proto::link::sandbox::{Sandbox, SandboxLimits};

use super::listening::Allowed;
use crate::confinement;

/// The bridge sets it; see the policy on environments.
const SERVER_MARK: &str = "HARBOR_SERVER";

/// A start of a server, or a run of a program.
#[derive(Debug)]
pub struct Plan {
    pub(super) server: Server,
    /// True for a server, with which contact is made; false for a program that runs to its end.
    pub is_server: bool,
    pub(super) known_era: Option<Era>,
    pub(super) known_revision: Option<String>,
    pub(super) start_timeout: Duration,
    pub(super) max_line: usize,
    pub(super) eof_grace: Duration,
    pub(super) term_grace: Duration,
    pub(super) limits: SandboxLimits<'static>,
    /// True if the server sees a /dev/shm of its own.
    pub(super) own_shared_memory: bool,
    /// How its egress proxy is started, where it has one.
    pub(super) proxy: Option<Server>,
    /// How its calls to `bind` and `listen` are answered; none if the kernel does not ask.
    pub(super) allowed: Option<Allowed>,
    /// The program that runs once it has ended.
    pub(crate) afterwards: Option<Server>,
}

impl Plan {
    /// The plan of a server.
    #[must_use]
    pub fn server(launch: &Launch<'_>) -> Self {
        let os = |text: &str| OsString::from(text);
        Self {
            server: Server {
                command: os(&launch.command),
                args: launch.args.iter().map(|arg| os(arg)).collect(),
                env: launch.env.iter().map(|(name, value)| (os(name), os(value))).collect(),
                cwd: os(&launch.cwd),
                profile: confinement::encoded(&launch.sandbox),
                group: None,
            },
            is_server: true,
            known_era: launch.known_era,
            known_revision: launch.known_revision.as_deref().map(str::to_owned),
            start_timeout: Duration::from_millis(launch.start_timeout_ms),
            max_line: usize::try_from(launch.max_line).unwrap_or(usize::MAX),
            eof_grace: Duration::from_millis(launch.eof_grace_ms),
            term_grace: Duration::from_millis(launch.term_grace_ms),
            limits: owned(&launch.sandbox.limits),
            own_shared_memory: launch.sandbox.mounts.is_some(),
            proxy: confinement::proxy(&launch.sandbox, &launch.env),
            allowed: Allowed::of(&launch.sandbox),
            afterwards: afterwards(launch),
        }
    }

    /// The plan of a program that is no server.
    #[must_use]
    pub fn program(launch: &Launch<'_>) -> Self {
        Self { is_server: false, ..Self::server(launch) }
    }

    /// The environment, as text.
    pub(crate) fn environment(&self) -> Vec<(String, String)> {
        let text = |(name, value): &(OsString, OsString)| {
            Some((name.to_str()?.to_owned(), value.to_str()?.to_owned()))
        };
        self.server.env.iter().filter_map(text).collect()
    }

    /// The server's name.
    pub(super) fn name(&self) -> &str {
        let mark = self.server.env.iter().find(|(name, _)| name == SERVER_MARK);
        mark.and_then(|(_, value)| value.to_str()).unwrap_or_default()
    }

    /// The variable that marks all processes of this server, `NAME=VALUE`.
    pub(crate) fn mark(&self) -> Option<String> {
        let (name, value) = self.server.env.iter().find(|(name, _)| name == SERVER_MARK)?;
        Some(format!("{}={}", name.to_str()?, value.to_str()?))
    }
}

/// The program that cleans up behind an outside start, in the same environment and without confinement.
fn afterwards(launch: &Launch<'_>) -> Option<Server> {
    let (command, args) = launch.afterwards.split_first()?;
    let os = |text: &str| OsString::from(text);
    Some(Server {
        command: os(command),
        args: args.iter().map(|arg| os(arg)).collect(),
        env: launch.env.iter().map(|(name, value)| (os(name), os(value))).collect(),
        cwd: os(&launch.cwd),
        profile: confinement::encoded(&Sandbox::default()),
        group: None,
    })
}

fn owned(limits: &SandboxLimits<'_>) -> SandboxLimits<'static> {
    let writable = limits.writable.iter().map(|path| path.to_string().into()).collect();
    let SandboxLimits { memory, processes, open_files, file_size, nice, disk, .. } = *limits;
    SandboxLimits { memory, processes, open_files, file_size, nice, disk, writable }
}
