//! The sources that a person writes to install a server: `npm:…`, `pypi:…`, `git:…`, `binary:…`.
//!
//! Owns the reading of these, and the name that a server gets when the person gives none. Must never let a word through that an
//! installer would take for an option, a path or another way of transport.

use harbor_ipc_proto::server_id::ServerId;
use url::Url;

use super::binary;
use super::description::{Ecosystem, Package};
use super::names::{is_word, npm_spec, python_spec};

/// The kinds that can be installed, for sentences.
pub const KINDS: &str = "npm:, pypi:, git:, binary:";

/// The most bytes of an address.
const MAX_URL: usize = 1000;
/// The most bytes of a branch, tag or directory.
const MAX_REFERENCE: usize = 200;
/// The word before a directory in a repository, as pip writes it.
const SUBDIRECTORY: &str = "subdirectory=";

/// Ways by which git may fetch. Others run programs that the address names.
const TRANSPORTS: &[&str] = &["https", "ssh", "file"];

/// Texts before and behind the package's own name.
const BEFORE: &[&str] = &["mcp-server-", "mcp-", "server-"];
const BEHIND: &[&str] = &["-mcp-server", "-server-mcp", "-mcp", "-server", ".git"];
/// Names that say nothing, so the text before the `/` becomes the name.
const NAMELESS: &[&str] = &["mcp", "server", "mcp-server"];

/// The package that a source means, with these arguments.
///
/// # Errors
/// A sentence about what is wrong with it.
pub fn read(source: &str, args: &[String]) -> Result<Package, String> {
    let (kind, rest) = source.split_once(':').unwrap_or((source, ""));
    let (ecosystem, found) = match kind {
        "npm" => (Ecosystem::Npm, npm_spec(rest)),
        "pypi" => (Ecosystem::Pypi, python_spec(rest)),
        "git" => (Ecosystem::Git, Some(git_spec(rest)?)),
        "binary" => (Ecosystem::Binary, Some(binary::spec(rest)?)),
        _ => return Err(format!("{source} is not a kind of package that this Harbor knows: {KINDS}")),
    };
    let example = match ecosystem {
        Ecosystem::Npm => "npm:@scope/name@1.2.3",
        Ecosystem::Pypi => "pypi:name==1.2.3",
        Ecosystem::Git => "git:https://host/repository#branch",
        Ecosystem::Binary => "binary:https://host/program#sha256=…",
    };
    let (name, spec) = found.ok_or_else(|| format!("{source} names no package; write it as {example}"))?;
    Ok(Package { ecosystem, spec, name, program: None, args: args.to_vec(), with: Vec::new() })
}

/// A package of PyPI to install beside another one, in the form for the installer.
///
/// # Errors
/// A sentence about what is wrong with it.
pub fn beside(text: &str) -> Result<String, String> {
    let spec = python_spec(text).map(|(_, spec)| spec);
    spec.ok_or_else(|| format!("{text} is not the name of a PyPI package; write it as name or name==1.2.3"))
}

/// True if a command is in fact a source.
#[must_use]
pub fn is_source(command: &str) -> bool {
    ["npm:", "pypi:", "git:", "binary:"].iter().any(|kind| command.starts_with(kind))
}

/// The last part of the address, and the whole.
fn git_spec(text: &str) -> Result<(String, String), String> {
    let (address, reference, directory) = parts(text);
    let url = Url::parse(address)
        .map_err(|_| format!("{address} is not a whole address; write it with https://…"))?;
    // What a reader of addresses forgives, git reads as something else: `https:/host` is a path on the host `https`.
    let is_whole = address.starts_with(&format!("{}://", url.scheme()));
    if !TRANSPORTS.contains(&url.scheme()) || !is_whole {
        return Err(format!("git: fetches by https://, ssh:// and file:// only, not by {}:", url.scheme()));
    }
    if url.password().is_some() || (url.scheme() == "https" && !url.username().is_empty()) {
        return Err("the address contains a name or a password, which Harbor would store and show".into());
    }
    let host_is_right = url.scheme() == "file" || url.host_str().is_some_and(|host| !host.starts_with('-'));
    let plain = address.bytes().all(|byte| byte.is_ascii_graphic()) && address.len() <= MAX_URL;
    if !host_is_right || !plain || url.username().starts_with('-') || url.query().is_some() {
        return Err(format!("{address} is not the address of a repository"));
    }
    if reference.is_some_and(|reference| !is_reference(reference)) {
        return Err("after # use a branch, a tag or a commit, and &subdirectory=DIRECTORY".into());
    }
    if directory.is_some_and(|directory| !is_directory(directory)) {
        return Err("after subdirectory= use a directory of the repository, such as packages/server".into());
    }
    let name = url.path().trim_end_matches('/').rsplit('/').next().unwrap_or_default();
    let name = name.strip_suffix(".git").unwrap_or(name).to_owned();
    let is_named = !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b"._-".contains(&b));
    // Several of one repository are told apart by it.
    let last = directory.and_then(|directory| directory.rsplit('/').next());
    let name = last.map_or_else(|| name.clone(), |last| format!("{name}/{last}"));
    is_named.then(|| (name, text.to_owned())).ok_or_else(|| format!("{address} does not end in a name"))
}

/// The address, the branch, tag or commit, and the directory.
fn parts(spec: &str) -> (&str, Option<&str>, Option<&str>) {
    let Some((address, behind)) = spec.split_once('#') else { return (spec, None, None) };
    if let Some(directory) = behind.strip_prefix(SUBDIRECTORY) {
        return (address, None, Some(directory));
    }
    match behind.split_once('&').and_then(|(at, more)| Some((at, more.strip_prefix(SUBDIRECTORY)?))) {
        Some((reference, directory)) => (address, Some(reference), Some(directory)),
        None => (address, Some(behind), None),
    }
}

/// Goes down from the top, and not to where git keeps what is its own.
fn is_directory(directory: &str) -> bool {
    let part = |part: &str| {
        is_word(
            part,
            |b| b.is_ascii_alphanumeric() || b"_@.".contains(&b),
            |b| b.is_ascii_alphanumeric() || b"_@.+-".contains(&b),
        ) && ![".", ".."].contains(&part)
            && !part.eq_ignore_ascii_case(".git")
    };
    directory.len() <= MAX_REFERENCE && directory.split('/').all(part)
}

fn is_reference(reference: &str) -> bool {
    let first = |b: u8| b.is_ascii_alphanumeric();
    is_word(reference, first, |b| first(b) || b"._/-+".contains(&b))
        && reference.len() <= MAX_REFERENCE
        && !reference.contains("..")
}

impl Package {
    /// The text that people write to install it.
    #[must_use]
    pub fn source(&self) -> String {
        format!("{}:{}", self.ecosystem.as_str(), self.spec)
    }

    /// The address of a package of git or of a download, and the wanted version.
    #[must_use]
    pub fn address(&self) -> (&str, Option<&str>) {
        let (address, reference, _) = parts(&self.spec);
        (address, reference)
    }

    /// The directory that the package is in, of a repository with several.
    #[must_use]
    pub fn directory(&self) -> Option<&str> {
        parts(&self.spec).2.filter(|_| self.ecosystem == Ecosystem::Git)
    }

    /// The repository at a branch, tag or commit, or unchanged, with the same directory.
    fn at(&self, reference: Option<&str>) -> String {
        let directory = self.directory().map(|directory| format!("{SUBDIRECTORY}{directory}"));
        let behind: Vec<_> = reference.into_iter().chain(directory.as_deref()).collect();
        match behind.is_empty() {
            true => self.address().0.to_owned(),
            false => format!("{}#{}", self.address().0, behind.join("&")),
        }
    }

    /// The directory of a repository that is on this machine.
    #[must_use]
    pub fn local_path(&self) -> Option<&str> {
        let path = self.address().0.strip_prefix("file://").filter(|path| path.starts_with('/'));
        path.filter(|path| self.ecosystem == Ecosystem::Git && !path.contains('%'))
    }

    /// This package in exactly this version. None if the text is no version.
    #[must_use]
    pub fn exactly(&self, version: &str) -> Option<Self> {
        let of = |text: String| read(&text, &self.args).ok();
        let found = match self.ecosystem {
            Ecosystem::Npm => of(format!("npm:{}@{version}", self.name)),
            Ecosystem::Pypi => {
                let extras = self.spec.split_once(']').map(|(named, _)| format!("{named}]"));
                let named = extras.as_deref().unwrap_or(&self.name);
                of(format!("pypi:{named}=={version}"))
            }
            Ecosystem::Git => of(format!("git:{}", self.at(Some(version)))),
            Ecosystem::Binary => of(format!("binary:{}", self.binary()?.exactly(version)?.spec())),
        };
        found.map(|found| Self { program: self.program.clone(), with: self.with.clone(), ..found })
    }

    /// The same package, in the newest version.
    #[must_use]
    pub fn newest(&self) -> Self {
        let spec = match self.ecosystem {
            Ecosystem::Npm => self.name.clone(),
            Ecosystem::Pypi => {
                self.spec.split_once(']').map_or_else(|| self.name.clone(), |(named, _)| format!("{named}]"))
            }
            Ecosystem::Git => self.at(None),
            Ecosystem::Binary => {
                self.binary().map_or_else(|| self.spec.clone(), |binary| binary.newest().spec())
            }
        };
        Self { spec, ..self.clone() }
    }

    /// True if it means one version only. A branch of git may be any word, so only a commit counts.
    #[must_use]
    pub fn is_exact(&self) -> bool {
        let is_version = |text: &str| {
            text.bytes().next().is_some_and(|b| b.is_ascii_digit())
                && text.contains('.')
                && !text.contains(['*', 'x', 'X', '|', ',', ' '])
        };
        match self.ecosystem {
            Ecosystem::Npm => self.spec.get(self.name.len() + 1..).is_some_and(is_version),
            Ecosystem::Pypi => self.spec.split_once("==").is_some_and(|(_, version)| is_version(version)),
            Ecosystem::Git => self.address().1.is_some_and(is_commit),
            Ecosystem::Binary => self.binary().is_some_and(|binary| binary.sha256.is_some()),
        }
    }
}

/// True if this is the whole name of a commit.
#[must_use]
pub fn is_commit(text: &str) -> bool {
    matches!(text.len(), 40 | 64) && text.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b))
}

/// The name that a server of this package gets: `mcp-server-time` is `time`, `@scope/server-files` is `files`.
/// `None` where nothing is left of it.
#[must_use]
pub fn default_name(package: &Package) -> Option<ServerId> {
    let (scope, bare) = package.name.rsplit_once('/').unwrap_or(("", &package.name));
    let bare = if NAMELESS.contains(&bare) && !scope.is_empty() { scope } else { bare };
    let bare = bare.strip_suffix(binary::MODULE).unwrap_or(bare);
    let cleaned: String = bare
        .trim_start_matches('@')
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' })
        .collect();
    let mut name = cleaned.trim_matches('-');
    name = BEFORE.iter().find_map(|start| name.strip_prefix(start)).unwrap_or(name);
    name = BEHIND.iter().find_map(|end| name.strip_suffix(end)).unwrap_or(name);
    let name: String = name.trim_matches('-').chars().take(40).collect();
    ServerId::parse(name.trim_matches('-'))
}

#[cfg(test)]
mod tests;
