//! The processes of a home by what they are there.

use std::fs;

use harbor_tests::{Home, Process};

/// What a process is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// The bridge.
    Bridge,
    /// A native host.
    Relay,
    /// The command line.
    Cli,
    /// A runner.
    Runner,
    /// One that speaks to a remote server, or renews what it was granted.
    Remote,
    /// The first process of a runner's PID namespace.
    Init,
    /// A process that is about to become a server.
    Launcher,
    /// The egress proxy of a server.
    Proxy,
    /// The catalog worker.
    Worker,
    /// What speaks to models.
    Model,
    /// A server that is its runner's child.
    Server,
    /// A server that only runs another.
    Wrapper,
    /// The server below a wrapper.
    Inner,
    /// A child of a server that is none itself.
    Child,
}

impl Kind {
    /// How often one is chosen. A bridge is rare, since everything starts anew after it.
    pub const WEIGHTS: &[(Self, u64)] = &[
        (Self::Server, 36),
        (Self::Runner, 14),
        (Self::Remote, 6),
        (Self::Wrapper, 8),
        (Self::Inner, 8),
        (Self::Child, 8),
        (Self::Relay, 8),
        (Self::Cli, 6),
        (Self::Launcher, 4),
        (Self::Init, 4),
        (Self::Proxy, 4),
        (Self::Worker, 2),
        (Self::Model, 3),
        (Self::Bridge, 3),
    ];

    /// For people.
    pub fn name(self) -> &'static str {
        match self {
            Self::Bridge => "bridge",
            Self::Relay => "relay",
            Self::Cli => "cli",
            Self::Runner => "runner",
            Self::Remote => "remote runner",
            Self::Init => "init",
            Self::Launcher => "launcher",
            Self::Proxy => "proxy",
            Self::Worker => "worker",
            Self::Model => "model worker",
            Self::Server => "server",
            Self::Wrapper => "wrapper",
            Self::Inner => "inner",
            Self::Child => "child",
        }
    }

    /// Whether nobody but its user would notice that it hangs, or only after the minutes that a person, a slow authorization server
    /// or a slow model may take: then it must not do so for long.
    pub fn must_go_on(self) -> bool {
        matches!(self, Self::Bridge | Self::Relay | Self::Cli | Self::Remote | Self::Model)
    }
}

/// Everything that runs in a home, this program's own children included.
pub fn all(home: &Home) -> Vec<(Kind, Process)> {
    home.processes().into_iter().filter_map(|process| Some((kind(process)?, process))).collect()
}

/// `None` for what has ended meanwhile.
pub fn kind(process: Process) -> Option<Kind> {
    let words = words(process.pid)?;
    let parent = words_of_parent(process);
    Some(judge(&words, &parent))
}

fn judge(words: &[String], parent: &[String]) -> Kind {
    let (word, above) = (|at: usize| words.get(at).map_or("", String::as_str), program(parent));
    match program(words) {
        "harbor-bridge" if word(1) == "serve" => Kind::Bridge,
        "harbor-bridge" => Kind::Relay,
        "harbor" => Kind::Cli,
        "harbor-runner" if word(1) == "exec" => Kind::Launcher,
        "harbor-runner" if above == "harbor-runner" => Kind::Init,
        "harbor-runner" => Kind::Runner,
        "harbor-runner-http" => Kind::Remote,
        "harbor-egress" => Kind::Proxy,
        "harbor-model-worker" => Kind::Model,
        name if name.contains("catalog-worker") => Kind::Worker,
        "misbehaving-server" if word(1) == "lingers" => Kind::Child,
        "misbehaving-server" if word(2).starts_with("wrap") => Kind::Wrapper,
        "misbehaving-server" if above == "misbehaving-server" => Kind::Inner,
        _ if above == "harbor-runner" => Kind::Server,
        _ => Kind::Child,
    }
}

fn program(words: &[String]) -> &str {
    words.first().map_or("", |path| path.rsplit('/').next().unwrap_or_default())
}

fn words_of_parent(process: Process) -> Vec<String> {
    words(process.parent()).unwrap_or_default()
}

fn words(pid: u32) -> Option<Vec<String>> {
    let bytes = fs::read(format!("/proc/{pid}/cmdline")).ok()?;
    let words: Vec<_> =
        bytes.split(|byte| *byte == 0).map(|word| String::from_utf8_lossy(word).into()).collect();
    (words.len() > 1).then_some(words)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processes_are_known_by_their_command_lines() {
        let judge = |line: &str, parent: &str| {
            let words = |line: &str| line.split(' ').map(str::to_owned).collect::<Vec<_>>();
            judge(&words(line), &words(parent))
        };
        let runner = "/b/harbor-runner 12";
        assert_eq!(judge("/b/harbor-bridge serve --detached", ""), Kind::Bridge);
        assert_eq!(judge("/b/harbor-bridge chrome-extension://x/", ""), Kind::Relay);
        assert_eq!(judge("/b/harbor call a/b", ""), Kind::Cli);
        assert_eq!(judge(runner, "/b/harbor-bridge serve"), Kind::Runner);
        assert_eq!(judge(runner, runner), Kind::Init);
        assert_eq!(judge("/b/harbor-runner exec 1", runner), Kind::Launcher);
        assert_eq!(judge("/b/harbor-runner-http 12 isolated x", "/b/harbor-bridge serve"), Kind::Remote);
        assert_eq!(judge("/b/harbor-egress 0.1.0 12 example.com", runner), Kind::Proxy);
        assert_eq!(judge("node x.js", runner), Kind::Server);
        assert_eq!(judge("/b/misbehaving-server --fault none", runner), Kind::Server);
        let wrapper = "/b/misbehaving-server --fault wrapped-grandchild";
        assert_eq!(judge(wrapper, runner), Kind::Wrapper);
        assert_eq!(judge("/b/misbehaving-server --fault grandchild", wrapper), Kind::Inner);
        assert_eq!(judge("/b/misbehaving-server lingers attached", "init"), Kind::Child);
        assert_eq!(judge("sleep 1", "node x.js"), Kind::Child);
    }
}
