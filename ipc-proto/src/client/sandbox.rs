//! What a server may do on this machine: as its definition says it, where what is left out has the value that the text names; and
//! what is shown of what holds it.

use super::{define_sent, define_settings};
use crate::field::{FromField, PutField, Word, room_of};
use crate::strings::put_str;

define_settings! {
    /// What a server may do on this machine. What is absent has the default.
    "sandbox" SandboxSettings {
        /// `off`; `basic`: its own environment and limits; `standard` (default): files, system calls and signals too, as far
        /// as the kernel can hold them; `strict`: no network either, and namespaces are required.
        level: Level,
        /// Whether it is refused to start where the kernel cannot hold all of its level; false.
        required: bool,
        /// Absolute paths that it may read besides.
        read: Vec<String>,
        /// Absolute paths that it may read and write besides.
        write: Vec<String>,
        /// Unix sockets that it may connect to.
        sockets: Vec<String>,
        /// `none`, `loopback` (its own), `hosts` (those of `hosts`) or `all` (default, but for `strict`: `none`).
        network: NetworkKind,
        /// With the network `hosts`: `example.com`, `*.example.com`, `192.0.2.7`, `[2001:db8::1]`, each with or without
        /// `:PORT` (443 and 80 when absent).
        hosts: Vec<String>,
        /// With the network `all`: a TCP port of 127.0.0.1 (and of ::1) on which it may listen, 1,024 to 65,535; none.
        listen: u64,
        /// Memory of all its processes together, in MiB: 64 to 1,048,576; 2,048.
        memory_mb: u64,
        /// Processes and threads: 8 to 65,536; 512.
        processes: u64,
        /// Open files of each process: 64 to 1,048,576; 4,096.
        open_files: u64,
        /// The largest file that it may write, in MiB: 1 to 1,048,576; 1,024.
        file_size_mb: u64,
        /// Its data and temporary files together, in MiB: 1 to 1,048,576; 4,096.
        disk_mb: u64,
        /// How much it steps back when others want the processor, 0 to 19 (nice(1)); 5.
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

            /// The value of a word.
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
    /// How closely a server is held.
    Level, "off, basic, standard or strict" {
        /// Not at all.
        Off = "off",
        /// Environment, limits, process group.
        Basic = "basic",
        /// All that the kernel offers.
        #[default]
        Standard = "standard",
        /// All, and no network.
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
        /// As its definition names it.
        reference: String,
        /// `podman` or `docker`; absent until one was found, unless its definition says which.
        engine: Option<Word>,
        /// The image's own id, by which it is run whatever the reference means by now; absent until it was found.
        id: Option<String>,
        /// What the registry calls it: `registry.example/name@sha256:…`; absent where none does.
        digest: Option<String>,
    }
    /// What holds a server, in short.
    "SandboxSummary" SandboxSummary {
        /// `off`, `basic`, `standard` or `strict`.
        level: Word,
        /// What of the kernel does it: `landlock 7, seccomp, namespaces`, or less.
        held_by: String,
        /// `none`, `loopback`, `hosts` or `all`.
        network: Word,
        /// What the level asks for and this kernel cannot do, a sentence each.
        missing: Vec<String>,
        /// Ways in which this server may leave its sandbox or reach more than one would think, a sentence each.
        warnings: Vec<String>,
    }
    /// What a server may do on this machine.
    "Sandbox" SandboxView {
        /// As its definition says.
        settings: SandboxSettings,
        /// What holds it.
        summary: SandboxSummary,
        /// Why it would not be started; absent when it would.
        refused: Option<String>,
        /// What it may reach of the file system.
        paths: Vec<SandboxPath>,
        /// Directories that look empty to it, but for what it may reach below them.
        hidden: Vec<String>,
        /// What it may use up: `2048 MiB of memory`, one after the other; empty where nothing is limited.
        limits: Vec<String>,
        /// Names of its environment variables.
        env_names: Vec<String>,
        /// What it was refused since the bridge began, newest last.
        denied: Vec<DeniedView>,
        /// Whom it may tell, as far as consent sees it: `closed` (nobody), `enforced` (those whom Harbor holds it to) or `open`.
        reach: Word,
    }
    /// A place that a server may reach.
    "SandboxPath" SandboxPath {
        /// The file or directory.
        path: String,
        /// `read` (list and execute too), `write` or `device`.
        access: Word,
        /// Why: `system`, `program`, `package`, `data`, `temporary`, `argument`, `cwd`, `granted`.
        why: Word,
        /// Of what was granted by another name, that one: the way there has symbolic links on it.
        granted_as: Option<String>,
    }
    /// Something that a server was refused.
    "Denied" DeniedView {
        /// A path as the server wrote it. What begins with no `/` is something else, in words: `more memory than 2048 MiB`,
        /// `the host example.com`.
        path: String,
        /// Whether it wanted to write, of a path.
        write: bool,
        /// The option of `harbor sandbox` that would allow it; absent where nothing does.
        allow: Option<String>,
        /// What to mind before it is given: a sentence, where it leads out of the sandbox.
        mind: Option<Word>,
        /// Why nothing does.
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
