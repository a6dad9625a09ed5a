//! The limits that a server has exceeded, in sentences.
//!
//! Owns what the link remembers of each start, and the commands that would give more. Must never take them from a runner: its
//! words are not trusted.

use std::borrow::Cow;
use std::collections::HashMap;
use std::rc::Rc;

use harbor_ipc_proto::link::oauth::Grant;
use harbor_ipc_proto::link::runner::{Launch, Resource};
use harbor_policy::environment::SERVER_MARK;
use harbor_policy::oauth::KEY;
use harbor_policy::redaction::Redactor;
use harbor_policy::sandbox::hint::shell;

/// The largest numbers that can be set: of MiB, of processes.
const MOST: u64 = 1 << 20;
const MOST_PROCESSES: u64 = 65_536;

/// The starts of one runner, by their numbers.
pub(super) type HeldStarts = HashMap<u32, HeldStart>;

/// The facts of a start that are remembered.
#[derive(Debug, Default)]
pub(super) struct HeldStart {
    /// The server's name.
    pub name: String,
    /// The directory of its data; empty where its disk is not limited.
    data: String,
    /// Bytes of memory.
    memory: Option<u64>,
    /// Finds the secrets that it was given.
    pub redactor: Rc<Redactor>,
    /// Finds the tokens that were renewed since.
    renewed: Redactor,
}

impl HeldStart {
    pub(super) fn of(launch: &Launch<'_>) -> Self {
        let name = launch.env.iter().find(|(name, _)| name == SERVER_MARK);
        let limits = &launch.sandbox.limits;
        Self {
            name: name.map(|(_, value)| value.to_string()).unwrap_or_default(),
            data: limits.writable.first().map(ToString::to_string).unwrap_or_default(),
            memory: limits.memory,
            redactor: Rc::default(),
            renewed: Redactor::default(),
        }
    }

    /// Adds these tokens to the ones it hides.
    pub(super) fn note_renewed(&mut self, grant: &Grant) {
        let tokens = [Some(&grant.access_token), grant.refresh_token.as_ref()];
        self.renewed = Redactor::new(tokens.into_iter().flatten().map(|token| (KEY, token.expose())));
    }

    /// A server's text, without the secrets that it was given.
    pub(super) fn hidden<'t>(&self, text: &'t str) -> Cow<'t, str> {
        match self.redactor.redact(text) {
            Cow::Borrowed(text) => self.renewed.redact(text),
            Cow::Owned(text) => Cow::Owned(self.renewed.redact(&text).into_owned()),
        }
    }

    /// The sentence about a server that ended by itself for want of memory.
    pub(super) fn out_of_memory(&self) -> String {
        let of = |limit: u64| {
            let more = self.more("--memory", mib(limit), MOST, " MiB");
            format!("it ran out of memory; each of its processes may use {} MiB: {more}", mib(limit))
        };
        self.memory.map_or_else(|| "it ran out of memory".into(), of)
    }

    /// The cause in one word, and in a sentence.
    pub(super) fn over_limit(&self, resource: Resource, limit: u64, used: u64) -> (&'static str, String) {
        if used == u64::MAX {
            let what = "Harbor cannot see the size of all its files (some are in directories that cannot be listed or \
                        are too deep, or are open in processes that hide them)";
            return ("disk_full", format!("{what}, and was killed"));
        }
        let (word, what, more) = match resource {
            Resource::Memory => (
                "out_of_memory",
                format!("{} MiB of memory and may use {}", mib(used), mib(limit)),
                self.more("--memory", mib(limit), MOST, " MiB"),
            ),
            Resource::Disk => (
                "disk_full",
                format!("{} MiB in its data and temporary files and may use {}", mib(used), mib(limit)),
                format!("{}, or {}", self.less(), self.more("--disk", mib(limit), MOST, " MiB")),
            ),
            Resource::FreeSpace => (
                "disk_full",
                format!("{} MiB while its disk has less than {} MiB left", mib(used), mib(limit)),
                self.less(),
            ),
            Resource::Processes => (
                "too_many_processes",
                format!("{used} processes and threads and may have {limit}"),
                self.more("--processes", limit, MOST_PROCESSES, ""),
            ),
        };
        (word, format!("it used {what} and was killed; {more}"))
    }

    /// The advice about its data. Its temporary files are removed anyway.
    fn less(&self) -> String {
        let all = format!("`harbor remove {} --data`", shell(&self.name));
        format!(
            "delete what it does not need in {}, or remove the server with all its data: {all}",
            self.data
        )
    }

    /// The advice to allow twice as much.
    fn more(&self, option: &str, limit: u64, most: u64, unit: &str) -> String {
        let more = limit.saturating_mul(2).min(most);
        match more > limit {
            true => format!("`harbor sandbox {} {option} {more}` allows more", shell(&self.name)),
            false => format!("Harbor cannot allow more than {most}{unit}"),
        }
    }
}

fn mib(bytes: u64) -> u64 {
    bytes.div_ceil(1 << 20)
}

#[cfg(test)]
mod tests {
    use harbor_ipc_proto::link::sandbox::{Sandbox, SandboxLimits};

    use super::*;

    fn held() -> HeldStart {
        let limits = SandboxLimits {
            memory: Some(2 << 30),
            writable: vec!["/h/s/data".into(), "/h/s/tmp".into()],
            ..SandboxLimits::default()
        };
        HeldStart::of(&Launch {
            env: vec![("PATH".into(), "/bin".into()), (SERVER_MARK.into(), "time".into())],
            sandbox: Sandbox { limits, ..Sandbox::default() },
            ..Launch::default()
        })
    }

    #[test]
    fn who_used_up_too_much_is_told_with_the_whole_command() {
        let said = |resource, limit, used| held().over_limit(resource, limit, used).1;
        assert_eq!(
            said(Resource::Disk, 4 << 30, (4 << 30) + 1),
            "it used 4097 MiB in its data and temporary files and may use 4096 and was killed; delete what it does not need \
             in /h/s/data, or remove the server with all its data: `harbor remove time --data`, or `harbor sandbox time --disk 8192` allows more"
        );
        assert_eq!(
            said(Resource::FreeSpace, 256 << 20, 300 << 20),
            "it used 300 MiB while its disk has less than 256 MiB left and was killed; delete what it does not need in \
             /h/s/data, or remove the server with all its data: `harbor remove time --data`"
        );
        assert_eq!(
            said(Resource::Memory, 64 << 20, 70 << 20),
            "it used 70 MiB of memory and may use 64 and was killed; `harbor sandbox time --memory 128` allows more"
        );
        assert_eq!(
            said(Resource::Processes, 65_536, 70_000),
            "it used 70000 processes and threads and may have 65536 and was killed; Harbor cannot allow more than 65536"
        );
        assert!(!said(Resource::Disk, 1, u64::MAX).contains("harbor sandbox"));
        assert_eq!(
            held().out_of_memory(),
            "it ran out of memory; each of its processes may use 2048 MiB: `harbor sandbox time --memory 4096` allows more"
        );
        assert_eq!(HeldStart::default().out_of_memory(), "it ran out of memory");
    }
}
