//! A server's sandbox: the settings in its definition, with the defaults that the text names, and the objects that show
//! what enforces them.

use super::{define_sent, define_settings};
use crate::field::{FromField, PutField, Word, room_of};
use crate::strings::put_str;

define_settings! {
    /// The sandbox of a server: what it may do on this machine. A field that is absent has its default.
    "sandbox" SandboxSettings {
        /// `off`; `basic`: an environment and limits of its own; `standard` (default): also rules for files, system calls
        /// and signals, as far as the kernel can enforce them; `strict`: also no network, and namespaces are required.
        level: Level,
        /// True: the server does not start if the kernel cannot enforce its whole level. Default: false.
        required: bool,
        /// Further absolute paths that it may read.
        read: Vec<String>,
        /// Further absolute paths that it may read and write.
        write: Vec<String>,
        /// Unix sockets that it may connect to.
        sockets: Vec<String>,
        /// `none`, `loopback` (its own), `hosts` (those in `hosts`) or `all` (the default; with `strict` the default is
        /// `none`).
        network: NetworkKind,
        /// The hosts of the network `hosts`: `example.com`, `*.example.com`, `192.0.2.7`, `[2001:db8::1]`, each with or
        /// without `:PORT`. Without a port: 443 and 80.
        hosts: Vec<String>,
        /// With the network `all`: a TCP port of 127.0.0.1 (and of ::1) on which it may listen, 1,024 to 65,535. Default: none.
        listen: u64,
        /// Memory of all its processes together, in MiB: 64 to 1,048,576. Default: 2,048.
        memory_mb: u64,
        /// Processes and threads together: 8 to 65,536. Default: 512.
        processes: u64,
        /// Open files of each process: 64 to 1,048,576. Default: 4,096.
        open_files: u64,
        /// The largest file that it may write, in MiB: 1 to 1,048,576. Default: 1,024.
        file_size_mb: u64,
        /// The size of its data and temporary files together, in MiB: 1 to 1,048,576. Default: 4,096.
        disk_mb: u64,
        /// How far it gives way to other programs for the processor, 0 to 19 (nice(1)). Default: 5.
        nice: u64,
    }
}

/// A word of a fixed list, on the wire.
macro_rules! words {
    ($(#[doc = $doc:literal])* $name:ident, $expected:literal { $($(#[$meta:meta])* $variant:ident = $word:literal,)* }) => {
        $(#[doc = $doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
        pub enum $name { $($(#[$meta])* $variant,)* }

        impl $name {
            /// Every value.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)*];

            /// The word on the wire.
            #[must_use]
            pub fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $word,)* }
            }

            /// The value with the word `word`.
            #[must_use]
            pub fn of(word: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|value| value.as_str() == word)
            }
        }

        impl FromField for $name {
            const EXPECTED: &'static str = $expected;
            fn from_text(text: &str) -> Option<Self> {
                Self::of(&String::from_text(text)?)
            }
        }

        impl PutField for $name {
            const TYPE: &'static str = "string";
            fn put(&self, out: &mut Vec<u8>) {
                put_str(out, self.as_str());
            }
            fn room(&self) -> usize {
                room_of(self.as_str())
            }
        }
    };
}

words! {
    /// How strictly a server's sandbox is enforced.
    Level, "off, basic, standard or strict" {
        /// Not at all.
        Off = "off",
        /// Environment, limits, process group.
        Basic = "basic",
        /// Everything that the kernel can enforce.
        #[default]
        Standard = "standard",
        /// Everything, and no network.
        Strict = "strict",
    }
}

words! {
    /// Where a server's connections may go.
    NetworkKind, "none, loopback, hosts or all" {
        /// Nowhere.
        None = "none",
        /// To itself.
        Loopback = "loopback",
        /// To the listed hosts.
        Hosts = "hosts",
        /// Anywhere.
        #[default]
        All = "all",
    }
}

define_sent! {
    /// Objects about sandboxes.
    SANDBOX_OBJECTS:
    /// The image of a server.
    "Image" ImageView {
        /// The image's name in the definition.
        reference: String,
        /// `podman` or `docker`. Absent until one was found, unless the definition names one.
        engine: Option<Word>,
        /// The image's own id. The image is run by it, even if the reference now means another image. Absent until it was
        /// found.
        id: Option<String>,
        /// The registry's name for it: `registry.example/name@sha256:…`; absent when no registry has it.
        digest: Option<String>,
    }
    /// The sandbox of a server in short.
    "SandboxSummary" SandboxSummary {
        /// `off`, `basic`, `standard` or `strict`.
        level: Word,
        /// The features of the kernel that enforce it: `landlock 7, seccomp, namespaces`, or fewer.
        held_by: String,
        /// `none`, `loopback`, `hosts` or `all`.
        network: Word,
        /// The rules of the level that this kernel cannot enforce, a sentence each.
        missing: Vec<String>,
        /// Ways in which this server may leave its sandbox or reach more than one would expect, a sentence each.
        warnings: Vec<String>,
    }
    /// The sandbox of a server: what it may do on this machine.
    "Sandbox" SandboxView {
        /// The settings in its definition.
        settings: SandboxSettings,
        /// What enforces them.
        summary: SandboxSummary,
        /// Why the server would not start; absent when it would.
        refused: Option<String>,
        /// The parts of the file system that it may reach.
        paths: Vec<SandboxPath>,
        /// Directories that look empty to it, except for the `paths` below them.
        hidden: Vec<String>,
        /// Its limits, such as `2048 MiB of memory`; empty when nothing is limited.
        limits: Vec<String>,
        /// Names of its environment variables.
        env_names: Vec<String>,
        /// What it was refused since the bridge began, the newest last.
        denied: Vec<DeniedView>,
        /// The server's reach, as far as consent knows it: `closed` (nobody), `enforced` (only the hosts that Harbor lets
        /// it reach) or `open`.
        reach: Word,
    }
    /// A place that a server may reach.
    "SandboxPath" SandboxPath {
        /// The file or directory.
        path: String,
        /// `read` (includes list and execute), `write` or `device`.
        access: Word,
        /// Why it may reach it: `system`, `program`, `package`, `data`, `temporary`, `argument`, `cwd`, `granted`.
        why: Word,
        /// The path in the settings, if it has symbolic links and so differs from `path`; otherwise absent.
        granted_as: Option<String>,
    }
    /// Something that a server was refused.
    "Denied" DeniedView {
        /// The path as the server wrote it. A text without `/` at its start names something else: `more memory than 2048
        /// MiB`, `the host example.com`.
        path: String,
        /// True if the server wanted to write to the path.
        write: bool,
        /// The option of `harbor sandbox` that would allow it; absent when none does.
        allow: Option<String>,
        /// A warning about that option, as a sentence, if it leads out of the sandbox; otherwise absent.
        mind: Option<Word>,
        /// Why no option allows it; absent when one does.
        never: Option<String>,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_go_both_ways() {
        let text =
            r#"{"level":"strict","read":["/a"],"network":"hosts","hosts":["*.example.com:443"],"nice":3}"#;
        let settings = SandboxSettings::parse(text).unwrap();
        assert_eq!((settings.level, settings.network), (Some(Level::Strict), Some(NetworkKind::Hosts)));
        let mut out = Vec::new();
        settings.put(&mut out);
        assert_eq!(String::from_utf8(out).unwrap(), text);
        assert_eq!(SandboxSettings::parse(r#"{"level":"tight"}"#).unwrap_err().field, "level");
    }
}
