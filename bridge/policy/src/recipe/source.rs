//! Sorts the text that a person gives for an installation: a package, an image, a remote server, or an entry of the catalog.
//!
//! Owns this sorting. Whether the source exists is for the readers of each kind to say.

mod pages;

use harbor_ipc_proto::server_id::ServerId;
use url::{Host, Url};

use crate::container::reference;
use crate::package::binary::MODULE;
use crate::package::source;
use crate::remote;

/// The most bytes of a source.
const MAX: usize = 4096;

/// Everything that can be named, for sentences.
pub const KINDS: &str =
    "npm:, pypi:, git:, binary:, oci:, https://, OWNER/NAME of GitHub, or an id of `harbor catalog search`";

/// Hosts of repositories, whose pages are not servers: `https://HOST/OWNER/NAME`.
const FORGES: &[&str] = &["github.com", "gitlab.com", "codeberg.org"];

/// The kind of source that a text means.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum InstallSource {
    /// A package: `npm:…`, `pypi:…`, `git:…` or `binary:…`.
    Package(String),
    /// An image, without the `oci:`.
    Image(String),
    /// A remote server.
    Remote(String),
    /// An id of the catalog, or of what Harbor brings along.
    Entry(String),
}

/// Sorts a text. A repository's address is a package of git.
///
/// # Errors
/// A sentence about what is wrong with it.
pub fn sort(text: &str) -> Result<InstallSource, String> {
    if text.len() > MAX || text.chars().any(char::is_control) {
        return Err(format!("the source is too long, or contains control characters; use {KINDS}"));
    }
    // In its one form: what is sorted now is sorted the same way again.
    let is_web = text.starts_with("https://") || text.starts_with("http://");
    let written = if is_web { Url::parse(text).ok().map(String::from) } else { None };
    let text = written.as_deref().unwrap_or(text);
    if let Some(image) = text.strip_prefix("oci:") {
        return match reference::wrong(image) {
            Some(expected) => Err(format!("{text}: expected {expected}")),
            None => Ok(InstallSource::Image(image.to_owned())),
        };
    }
    if is_web {
        if is_module(text) {
            let package = format!("binary:{text}");
            // An address alone does not vouch for it.
            return match source::read(&package, &[])?.binary() {
                Some(binary) if binary.vouched_by().is_empty() => Err(format!(
                    "{} is a module of WebAssembly; say which bytes you mean by --sha256 HEX (`sha256sum FILE` writes it), or \
                     who signs it by --key KEY",
                    binary.url
                )),
                _ => Ok(InstallSource::Package(package)),
            };
        }
        if let Some(repository) = repository(text) {
            return Ok(InstallSource::Package(repository));
        }
        if let Some(page) = pages::meant(text) {
            let package = format!("git:{}", page?);
            return source::read(&package, &[]).map(|_| InstallSource::Package(package));
        }
        let url = remote::parse(text)
            .map_err(|expected| format!("that address is not a server's; use {expected}"))?;
        return Ok(InstallSource::Remote(url.to_string()));
    }
    if text.contains(':') {
        source::read(text, &[]).map_err(|why| match source::is_source(text) {
            true => why,
            false => format!("{text} is not a kind of source that this Harbor knows: {KINDS}"),
        })?;
        return Ok(InstallSource::Package(text.to_owned()));
    }
    if let Some(repository) = of_github(text) {
        return Ok(InstallSource::Package(repository));
    }
    match !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte))
    {
        true => Ok(InstallSource::Entry(text.to_owned())),
        false => {
            let package = format!("npm:{text}");
            let is_scoped = text.starts_with('@') && source::read(&package, &[]).is_ok();
            let meant = if is_scoped { format!("did you mean {package}? ") } else { String::new() };
            Err(format!("{text} names nothing that can be installed; {meant}use {KINDS}"))
        }
    }
}

/// True if this is the address of a module of WebAssembly.
fn is_module(text: &str) -> bool {
    Url::parse(text).is_ok_and(|url| url.path().ends_with(MODULE))
}

/// `OWNER/NAME`, with or without `#…`. No id has a `/`, and a scope of npm stands behind `npm:`.
fn of_github(text: &str) -> Option<String> {
    let (owner, name) = text.split('#').next()?.split_once('/')?;
    let is_owner = !owner.is_empty()
        && owner.len() <= 39
        && owner.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
        && !owner.starts_with('-');
    let is_name = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._-".contains(&byte))
        && name.starts_with(|first: char| first.is_ascii_alphanumeric() || first == '_');
    (is_owner && is_name).then(|| repository(&format!("https://github.com/{text}"))).flatten()
}

/// The package of a repository, if this is the address of one.
fn repository(text: &str) -> Option<String> {
    let (address, reference) = text.split_once('#').map_or((text, None), |(url, at)| (url, Some(at)));
    let url = Url::parse(address).ok()?;
    let path = url.path().trim_matches('/');
    let of_forge = url.host_str().is_some_and(|host| FORGES.contains(&host)) && path.split('/').count() == 2;
    let is_meant = url.scheme() == "https" && (of_forge || path.ends_with(".git"));
    let reference = reference.map(|reference| format!("#{reference}")).unwrap_or_default();
    let package = format!("git:{}{reference}", address.trim_end_matches('/'));
    (is_meant && source::read(&package, &[]).is_ok()).then_some(package)
}

/// The name that a server of an image or a remote server gets: `ghcr.io/owner/time-mcp:1` is `time`,
/// `https://mcp.example.com/` is `example`. None if no name is left.
#[must_use]
pub fn default_name(source: &InstallSource) -> Option<ServerId> {
    match source {
        InstallSource::Package(text) => source::default_name(&source::read(text, &[]).ok()?),
        InstallSource::Image(image) => {
            let name = image.split('@').next()?.rsplit('/').next()?.split(':').next()?;
            source::default_name(&source::read(&format!("npm:{name}"), &[]).ok()?)
        }
        InstallSource::Remote(url) => {
            let url = Url::parse(url).ok()?;
            let host = url.host_str()?.trim_matches(['[', ']']);
            let labels: Vec<_> = host.split('.').collect();
            let is_address = url.domain().is_none();
            let named = match labels.len() {
                many @ 2.. if !is_address => labels[many - 2].to_owned(),
                // Of this machine's own the port is what tells one from another.
                _ => match url.port() {
                    Some(port) if is_loopback(&url) => format!("localhost-{port}"),
                    _ => host.to_owned(),
                },
            };
            let name: String =
                named.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
            ServerId::parse(name.trim_matches('-'))
        }
        InstallSource::Entry(id) => ServerId::parse(id),
    }
}

fn is_loopback(url: &Url) -> bool {
    match url.host() {
        Some(Host::Domain(name)) => name == "localhost",
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_is_known() {
        for (text, kind) in [
            ("npm:@a/b@1", InstallSource::Package("npm:@a/b@1".into())),
            ("git:https://host/x.git#main", InstallSource::Package("git:https://host/x.git#main".into())),
            (
                "https://github.com/alice/time-mcp",
                InstallSource::Package("git:https://github.com/alice/time-mcp".into()),
            ),
            (
                "https://github.com/alice/time-mcp/#v1",
                InstallSource::Package("git:https://github.com/alice/time-mcp#v1".into()),
            ),
            (
                "https://github.com/alice/all/tree/v1/packages/time",
                InstallSource::Package(
                    "git:https://github.com/alice/all#v1&subdirectory=packages/time".into(),
                ),
            ),
            ("https://example.com/a/b.git", InstallSource::Package("git:https://example.com/a/b.git".into())),
            (
                "https://api.githubcopilot.com/mcp/",
                InstallSource::Remote("https://api.githubcopilot.com/mcp/".into()),
            ),
            ("https://github.com/mcp", InstallSource::Remote("https://github.com/mcp".into())),
            ("http://localhost:3000/mcp", InstallSource::Remote("http://localhost:3000/mcp".into())),
            (
                &format!("https://example.com/time.wasm#sha256={}", "0a".repeat(32)),
                InstallSource::Package(format!(
                    "binary:https://example.com/time.wasm#sha256={}",
                    "0a".repeat(32)
                )),
            ),
            ("oci:mcp/time:1", InstallSource::Image("mcp/time:1".into())),
            ("alice/time-mcp", InstallSource::Package("git:https://github.com/alice/time-mcp".into())),
            (
                "alice/all#v1&subdirectory=packages/time",
                InstallSource::Package(
                    "git:https://github.com/alice/all#v1&subdirectory=packages/time".into(),
                ),
            ),
            ("time", InstallSource::Entry("time".into())),
            ("00ff00ff00ff00ff", InstallSource::Entry("00ff00ff00ff00ff".into())),
        ] {
            assert_eq!(sort(text), Ok(kind), "{text}");
        }
        for (text, said) in [
            ("oci:--privileged", "expected an image"),
            ("npm:--x", "names no package"),
            ("https://example.com/time.wasm", "by --sha256 HEX"),
            ("https://example.com/time.wasm#sha256=1", "64 hexadecimal digits"),
            ("ftp://x", "is not a kind of source"),
            ("https://github.com/a/b/blob/main/x.json", "`harbor install https://github.com/a/b/tree/main`"),
            ("https://github.com/a/b/tree/--x", "after #"),
            ("https://u:p@example.com/", "without a name or password"),
            ("a b", "names nothing"),
            ("a\u{1b}", "control characters"),
            ("", "names nothing"),
            ("../x", "names nothing"),
            ("./a/b", "names nothing"),
            ("@a/b", "names nothing"),
            ("a/b/c", "names nothing"),
            ("-a/b", "names nothing"),
            ("a/..", "names nothing"),
            ("a/b#--x", "names nothing"),
        ] {
            assert!(sort(text).unwrap_err().contains(said), "{text}: {:?}", sort(text));
        }
    }

    #[test]
    fn servers_get_names() {
        for (text, name) in [
            ("npm:@a/mcp-server-b", "b"),
            ("oci:ghcr.io/github/github-mcp-server:1", "github"),
            (
                "oci:localhost:5000/contained@sha256:0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a",
                "contained",
            ),
            ("https://mcp.example.com/mcp", "example"),
            ("http://localhost:3000/", "localhost-3000"),
            ("http://127.0.0.1:3000/", "localhost-3000"),
            ("http://10.0.0.1:3000/", "10-0-0-1"),
            ("time", "time"),
        ] {
            let name_of = sort(text).ok().and_then(|source| default_name(&source));
            assert_eq!(name_of.as_ref().map(ServerId::as_str), Some(name), "{text}");
        }
    }
}
