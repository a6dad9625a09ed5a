//! What is read of container images: what a person calls them, and what an engine answers about them.

use harbor_policy::container::{engine, reference};

use super::Target;

pub(super) const IMAGE: Target = Target {
    name: "image",
    run: image,
    corpus: &[
        b"mcp/time",
        b"ghcr.io/github/github-mcp-server:v1.2",
        b"localhost:5000/a/b_c--d.e:_1@sha256:0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a",
        b"sha256:0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a [\"a/b@sha256:0a\"]",
        b"dir:x",
        b"--privileged",
    ],
};

/// What is accepted is one word that no engine takes for an option, and means the same with its registry.
fn image(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    if reference::wrong(text).is_none() {
        let plain = |b: u8| b.is_ascii_alphanumeric() || b"._-/:@".contains(&b);
        assert!(text.bytes().all(plain) && text.as_bytes()[0].is_ascii_alphanumeric());
        let whole = reference::whole(text);
        assert_eq!(reference::whole(&whole), whole);
        assert!(whole.ends_with(text) && whole.contains('/'));
        assert!(reference::digest_of(text, &[format!("{whole}@sha256:0a")]).is_some() || text.contains('@'));
    }
    if let Some((id, digests)) = engine::inspected(text) {
        assert!(
            id.len() == 71 && id.starts_with("sha256:") && id[7..].bytes().all(|b| b.is_ascii_hexdigit())
        );
        assert!(digests.iter().all(|digest| digest.contains("@sha256:")));
    }
}
