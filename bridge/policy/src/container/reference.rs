//! References to images as a person writes them: `registry.example:5000/name:tag@sha256:…`, or less of it.
//!
//! Owns the reading of references. Must never let a word through that an engine would take for an option, for a file or for
//! another way of transport.

/// The most bytes of a reference.
const MAX: usize = 400;

/// The registry of a reference that names none.
const DOCKER_HUB: &str = "docker.io";

/// Podman takes the text before the first `:` for one of these, and then reads files of this machine.
const TRANSPORTS: &[&str] = &[
    "containers-storage",
    "dir",
    "docker",
    "docker-archive",
    "docker-daemon",
    "oci",
    "oci-archive",
    "ostree",
    "sif",
    "tarball",
];

/// The fault in a reference of an image. None if there is none.
#[must_use]
pub fn wrong(reference: &str) -> Option<&'static str> {
    let (name, digest) = reference.split_once('@').map_or((reference, None), |(n, d)| (n, Some(d)));
    let (repository, tag) = split(name);
    let parts_are_right = repository.split('/').enumerate().all(|(at, part)| match at {
        0 if is_host(part) && repository.contains('/') => true,
        _ => is_part(part),
    });
    if reference.len() > MAX || !parts_are_right || tag.is_some_and(|tag| !is_tag(tag)) {
        return Some("an image: registry.example/name:tag, or a part of that, with a name in lower case");
    }
    if digest.is_some_and(|digest| !is_digest(digest)) {
        return Some("an image whose digest is sha256: and 64 hexadecimal digits");
    }
    if tag.is_some() && TRANSPORTS.contains(&repository) {
        return Some("an image, not a file or another transport");
    }
    None
}

/// The repository, and the tag: what stands behind the last `:`, unless that is a port.
fn split(name: &str) -> (&str, Option<&str>) {
    match name.rsplit_once(':') {
        Some((repository, tag)) if !tag.contains('/') => (repository, Some(tag)),
        _ => (name, None),
    }
}

fn is_host(part: &str) -> bool {
    let (host, port) = part.split_once(':').map_or((part, None), |(host, port)| (host, Some(port)));
    let label = |label: &str| is_word(label, |b| b == b'-') && !label.ends_with('-');
    host.split('.').all(label)
        && port.is_none_or(|port| {
            port.len() <= 5 && !port.is_empty() && port.bytes().all(|b| b.is_ascii_digit())
        })
}

fn is_part(part: &str) -> bool {
    is_word(part, |b| b"._-".contains(&b))
        && !part.bytes().any(|b| b.is_ascii_uppercase())
        && part.bytes().next_back().is_some_and(|b| b.is_ascii_alphanumeric())
        && !part.contains("..")
}

fn is_tag(tag: &str) -> bool {
    let rest = tag.strip_prefix('_').unwrap_or(tag);
    tag.len() <= 128 && (is_word(rest, |b| b"._-".contains(&b)) || tag == "_")
}

fn is_digest(digest: &str) -> bool {
    let hash = digest.strip_prefix("sha256:").unwrap_or_default();
    hash.len() == 64 && hash.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b))
}

/// True if a word begins with a letter or a digit, and continues with these and `more`.
fn is_word(word: &str, more: impl Fn(u8) -> bool) -> bool {
    word.bytes().next().is_some_and(|b| b.is_ascii_alphanumeric())
        && word.bytes().all(|b| b.is_ascii_alphanumeric() || more(b))
}

/// The reference with its registry. Docker Hub is used if none is named, as by Docker. Podman would use its
/// own settings, or the registry that answers first.
#[must_use]
pub fn whole(reference: &str) -> String {
    let first = reference.split_once('/').map(|(first, _)| first);
    match first {
        Some(host) if host.contains(['.', ':']) || host == "localhost" => reference.to_owned(),
        Some(_) => format!("{DOCKER_HUB}/{reference}"),
        None => format!("{DOCKER_HUB}/library/{reference}"),
    }
}

/// The digest, among an image's names in registries, of the registry that a reference means.
#[must_use]
pub fn digest_of(reference: &str, digests: &[String]) -> Option<String> {
    let repository = |reference: &str| {
        let name = reference.split('@').next().unwrap_or_default();
        split(&whole(name)).0.to_owned()
    };
    digests.iter().find(|digest| repository(digest) == repository(reference)).map(|digest| whole(digest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_are_read_to_the_last_letter() {
        let digest = format!("sha256:{}", "0a".repeat(32));
        let long = format!("ghcr.io/github/github-mcp-server:v1.2@{digest}");
        for good in
            ["mcp/time", "a", "localhost/m:1", "r.example:5000/a/b", "x:_1", "a_b/c__d.e-f", long.as_str()]
        {
            assert_eq!(wrong(good), None, "{good}");
        }
        for bad in [
            "",
            "-v",
            "--privileged",
            "/a",
            "a/",
            "a//b",
            "A/b/C",
            "a b",
            "a\n",
            "a:-x",
            "a:b c",
            "a@sha256:1",
            "../a",
            "a/../b",
            "dir:a",
            "oci:a",
            "docker-archive:x",
            "https://a/b",
            "a:",
            "a@",
            "ä",
            "a,b",
            "$(x)",
        ] {
            assert!(wrong(bad).is_some(), "{bad}");
        }
        assert!(wrong(&"a".repeat(MAX + 1)).is_some());
    }

    #[test]
    fn a_reference_without_a_registry_means_docker_hub() {
        assert_eq!(whole("alpine"), "docker.io/library/alpine");
        assert_eq!(whole("mcp/time:1"), "docker.io/mcp/time:1");
        for same in ["localhost/m:1", "r:5000/x", "ghcr.io/a/b"] {
            assert_eq!(whole(same), same);
        }
    }

    #[test]
    fn the_digest_is_that_of_the_registry_that_was_meant() {
        let digests = ["other.io/mcp/time@sha256:1".to_owned(), "mcp/time@sha256:2".to_owned()];
        assert_eq!(digest_of("mcp/time:1", &digests), Some("docker.io/mcp/time@sha256:2".into()));
        assert_eq!(digest_of("docker.io/mcp/time", &digests), Some("docker.io/mcp/time@sha256:2".into()));
        assert_eq!(digest_of("third.io/mcp/time", &digests), None);
    }
}
