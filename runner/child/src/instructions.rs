//! What a runner tells its launcher: which server, by the arguments, and in a file the profile and the environment.
//!
//! Owns the form of both, as it is written and as it is read. Must never start anything.

use std::ffi::{CString, OsString};
use std::os::fd::RawFd;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

/// A program to start.
#[derive(Debug, Clone)]
pub struct Server {
    /// A path, or a name to look up in the PATH of `env`.
    pub command: OsString,
    /// Its arguments.
    pub args: Vec<OsString>,
    /// Its whole environment.
    pub env: Vec<(OsString, OsString)>,
    /// Its working directory.
    pub cwd: OsString,
    /// Its profile, encoded for the launcher.
    pub profile: Vec<u8>,
    /// The entrance of its control group.
    pub group: Option<PathBuf>,
}

/// The descriptors that a launcher inherits besides the standard streams.
#[derive(Debug)]
pub(crate) struct Inherited {
    /// The pipe to the runner, for failures and handed-over descriptors.
    pub report: RawFd,
    /// The profile, encoded.
    pub profile: RawFd,
    /// The mounts of the runner's PID namespace.
    pub mounts: Option<RawFd>,
}

/// Stands among the arguments for an argument that is absent.
pub(crate) const NONE: &str = "-";

/// The arguments with which the parent starts the launcher: `exec PARENT REPORT PROFILE MOUNTS GROUP CWD
/// COMMAND ARGS…`. PARENT is 0 in a PID namespace, whose processes cannot see their runner; MOUNTS is `-`
/// without a mount namespace, GROUP is `-` without a control group.
pub(crate) fn arguments(inherited: &Inherited, server: &Server) -> Vec<OsString> {
    let parent = inherited.mounts.map_or_else(std::process::id, |_| 0);
    let mounts = inherited.mounts.map_or_else(|| NONE.into(), |mounts| mounts.to_string());
    let numbers = [parent.to_string(), inherited.report.to_string(), inherited.profile.to_string(), mounts];
    let mut arguments: Vec<OsString> = vec!["exec".into()];
    arguments.extend(numbers.map(OsString::from));
    let group = server.group.clone().map_or_else(|| NONE.into(), PathBuf::into_os_string);
    arguments.extend([group, server.cwd.clone(), server.command.clone()]);
    arguments.extend(server.args.iter().cloned());
    arguments
}

/// The profile that a launcher is to apply, and the environment of the server. This is not the launcher's own environment:
/// the loader of programs would follow it before anything is confined.
pub(crate) fn instructions(server: &Server) -> Vec<u8> {
    let length = u32::try_from(server.profile.len()).unwrap_or(u32::MAX);
    let mut bytes = length.to_le_bytes().to_vec();
    bytes.extend(&server.profile);
    for (name, value) in &server.env {
        bytes.extend([name.as_bytes(), b"=", value.as_bytes(), b"\0"].concat());
    }
    bytes
}

/// The profile, and the variables as execve(2) takes them.
pub(crate) fn split(bytes: &[u8]) -> Option<(&[u8], Vec<CString>)> {
    let (length, rest) = bytes.split_first_chunk()?;
    let (profile, env) = rest.split_at_checked(usize::try_from(u32::from_le_bytes(*length)).ok()?)?;
    let variables = env.split_inclusive(|byte| *byte == 0);
    Some((
        profile,
        variables.map(|one| CString::from_vec_with_nul(one.to_vec()).ok()).collect::<Option<_>>()?,
    ))
}
