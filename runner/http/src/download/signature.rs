//! Signatures of minisign: Ed25519 over a file, or over its hash.
//!
//! Owns the sentence where one is bad. Must never take a signature by another key for one by this.

use std::fs::File;
use std::io::Read as _;
use std::path::Path;

use minisign_verify::{Error, PublicKey, Signature};

/// The key that a file has to be signed by, and the signature that lies beside it.
pub(super) struct Signed {
    key: PublicKey,
    signature: Signature,
}

/// True if a text is a signature of minisign.
pub(super) fn is_signature(text: &str) -> bool {
    Signature::decode(text).is_ok()
}

impl Signed {
    /// Reads both.
    pub(super) fn new(key: &str, signature: &str) -> Result<Self, String> {
        let key = PublicKey::from_base64(key)
            .map_err(|_| "the value of --minisign-key is not a minisign public key")?;
        let signature =
            Signature::decode(signature).map_err(|_| "its signature is not in minisign's format")?;
        Ok(Self { key, signature })
    }

    /// Checks that this is the file that was signed.
    pub(super) fn check(&self, path: &Path) -> Result<(), String> {
        let unread = |error: std::io::Error| format!("it cannot be read: {error}");
        let mut file = File::open(path).map_err(unread)?;
        let judged = match self.key.verify_stream(&self.signature) {
            Ok(mut stream) => {
                let mut piece = vec![0; 1 << 16];
                loop {
                    match file.read(&mut piece).map_err(unread)? {
                        0 => break stream.finalize(),
                        length => stream.update(&piece[..length]),
                    }
                }
            }
            // As minisign signed before 2021: over the file itself.
            Err(Error::UnsupportedLegacyMode) => {
                let mut whole = Vec::new();
                file.read_to_end(&mut whole).map_err(unread)?;
                self.key.verify(&whole, &self.signature, true)
            }
            Err(error) => Err(error),
        };
        judged.map_err(|error| match error {
            Error::UnexpectedKeyId => {
                "it is signed by a different key than the given one: do not install it until its publisher has explained why"
                    .into()
            }
            _ => "its signature does not match: this is not the file that was signed".into(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: &str = "RWQf6LRCGA9i53mlYecO4IzT51TGPpvWucNSCh1CBM0QTaLn73Y7GFO3";
    /// Over the text `test`, by its hash.
    const SIGNATURE: &str = "untrusted comment: signature from minisign secret key\n\
        RUQf6LRCGA9i559r3g7V1qNyJDApGip8MfqcadIgT9CuhV3EMhHoN1mGTkUidF/z7SrlQgXdy8ofjb7bNJJylDOocrCo8KLzZwo=\n\
        trusted comment: timestamp:1633700835\tfile:test\tprehashed\n\
        wLMDjy9FLAuxZ3q4NlEvkgtyhrr0gtTu6KC4KBJdITbbOeAi1zBIYo0v4iTgt8jJpIidRJnp94ABQkJAgAooBQ==";

    fn check(key: &str, signature: &str, file: &str) -> Result<(), String> {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("f"), file).unwrap();
        Signed::new(key, signature)?.check(&dir.path().join("f"))
    }

    #[test]
    fn only_what_was_signed_is_good() {
        assert_eq!(check(KEY, SIGNATURE, "test"), Ok(()));
        assert!(check(KEY, SIGNATURE, "Test").unwrap_err().contains("signature does not match"));
        // What is said in its comment is signed, too.
        let other = SIGNATURE.replace("file:test", "file:tost");
        assert!(check(KEY, &other, "test").unwrap_err().contains("signature does not match"));
        let other = KEY.replace("Qf6", "Qg6");
        assert!(check(&other, SIGNATURE, "test").unwrap_err().contains("by a different key"));
        assert!(check(KEY, "<html>", "test").unwrap_err().contains("not in minisign's format"));
        assert!(check("RW", SIGNATURE, "test").unwrap_err().contains("not a minisign public key"));
    }
}
