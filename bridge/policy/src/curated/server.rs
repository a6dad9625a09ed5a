//! A server that Harbor knows before anybody has installed it, and the sandbox that it gets.
//!
//! Must never name one.

use harbor_ipc_proto::client::{Level, NetworkKind, SandboxSettings};

/// One server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Curated {
    /// Its id here: what a person types.
    pub id: &'static str,
    /// Its name for people.
    pub title: &'static str,
    /// A sentence that describes it.
    pub description: &'static str,
    /// The package or endpoint that is installed.
    pub source: CuratedPackage,
    /// Its arguments. A placeholder stands alone in its argument, and becomes an argument for each of the person's values.
    pub args: &'static [&'static str],
    /// The inputs that the person fills in.
    pub inputs: &'static [CuratedInput],
    /// Its environment beyond what every server has; values may have placeholders.
    pub env: &'static [CuratedVariable],
    /// The secrets that it needs.
    pub secrets: &'static [CuratedSecret],
    /// The settings of its sandbox.
    pub sandbox: Sandbox,
    /// Its tools that change nothing, if the server does not say so itself.
    pub reads: &'static [&'static str],
    /// True if it keeps data of one caller for the next one: then each web origin and AI client gets its own process.
    pub stateful: bool,
    /// Words to find it by.
    pub tags: &'static [&'static str],
    /// The address of its code.
    pub repository: &'static str,
    /// The address of its description.
    pub homepage: &'static str,
}

/// The package or endpoint that is installed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CuratedPackage {
    /// A package of npm.
    Npm(&'static str),
    /// A package of PyPI.
    Pypi(&'static str),
    /// An image, without a tag.
    Oci(&'static str),
    /// An MCP endpoint over HTTP.
    Remote(&'static str),
}

impl CuratedPackage {
    /// The source for `harbor install`: `npm:…`, `pypi:…`, `oci:…` or the URL.
    #[must_use]
    pub fn spec(self) -> String {
        match self {
            Self::Npm(name) => format!("npm:{name}"),
            Self::Pypi(name) => format!("pypi:{name}"),
            Self::Oci(image) => format!("oci:{image}"),
            Self::Remote(url) => url.to_owned(),
        }
    }
}

/// An input that a person fills in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CuratedInput {
    /// `directory` for `{directory}`.
    pub name: &'static str,
    /// A sentence that describes it.
    pub description: &'static str,
    /// True if more than one value may be given.
    pub many: bool,
    /// True if there must be a value.
    pub required: bool,
    /// The usual places, the best first. Without an answer of the person, the first one that exists is taken.
    pub places: &'static [&'static str],
}

/// A variable of the environment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CuratedVariable {
    /// Its name.
    pub name: &'static str,
    /// A sentence about its purpose.
    pub description: &'static str,
    /// Its value. None if only the person can give it.
    pub value: Option<&'static str>,
}

/// A secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CuratedSecret {
    /// The name of its variable, or of its header for a remote server.
    pub name: &'static str,
    /// A sentence that describes it.
    pub description: &'static str,
    /// True if the server is useless without it.
    pub required: bool,
    /// The text before its value in the header: `Bearer `.
    pub prefix: &'static str,
    /// The page on which a person gets one.
    pub help_url: &'static str,
}

/// Settings of a sandbox. The default is Harbor's own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sandbox {
    /// None: standard.
    pub level: Option<Level>,
    /// None: the level's.
    pub network: Option<NetworkKind>,
    /// The hosts for the network `hosts`.
    pub hosts: &'static [&'static str],
    /// Paths that it may read besides; placeholders stand alone.
    pub read: &'static [&'static str],
    /// Paths that it may read besides, if they exist: programs lie in different places on different machines.
    pub read_if_there: &'static [&'static str],
    /// Paths that it may write besides; placeholders stand alone.
    pub write: &'static [&'static str],
    /// Sockets: `{data}` lets its own programs find each other.
    pub sockets: &'static [&'static str],
}

impl Sandbox {
    /// Harbor's own.
    pub const DEFAULT: Self = Self {
        level: None,
        network: None,
        hosts: &[],
        read: &[],
        read_if_there: &[],
        write: &[],
        sockets: &[],
    };

    /// Nothing but its own directories.
    pub const NO_NETWORK: Self = Self { network: Some(NetworkKind::None), ..Self::DEFAULT };

    /// The settings, with their placeholders, on a machine where these paths exist.
    #[must_use]
    pub fn settings(&self, exists: &dyn Fn(&str) -> bool) -> SandboxSettings {
        let listed =
            |list: &[&str]| (!list.is_empty()).then(|| list.iter().map(ToString::to_string).collect());
        let there = self.read_if_there.iter().copied().filter(|path| exists(path));
        let read: Vec<_> = self.read.iter().copied().chain(there).collect();
        SandboxSettings {
            level: self.level,
            network: self.network,
            hosts: listed(self.hosts),
            read: listed(&read),
            write: listed(self.write),
            sockets: listed(self.sockets),
            ..SandboxSettings::default()
        }
    }
}
