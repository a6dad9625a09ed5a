//! Harbor's browser extensions: by which ids browsers know them.
//!
//! ```text
//!  public key (DER) ─ sha256 ─► 32 hexadecimal digits ─ 0-f to a-p ─► the id in Chromium
//! ```
//!
//! Owns the form of an id, and the list of Harbor's ids. The keys are those of `extension/keys.json`: a
//! manifest's `key` gives an extension the same id wherever it is loaded from. Nobody has the private halves,
//! and nobody needs them.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use harbor_ipc_proto::hex::hex;
use serde_json::Value;
use sha2::{Digest as _, Sha256};

/// The name under which browsers know the native host.
pub const NATIVE_HOST: &str = "harbor_bridge";

/// The public keys, by extension.
const KEYS: &str = include_str!("../../../extension/keys.json");

/// The longest extension id: Firefox takes 80 characters.
const MAX_ID: usize = 128;

/// An extension of ours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Extension {
    /// Its name here.
    pub name: &'static str,
    /// Its id in Firefox.
    pub firefox: &'static str,
}

/// The one that may start the native host.
pub const HARBOR: Extension = Extension { name: "harbor", firefox: "harbor@harbor" };

/// The extension that gives pages their API. It speaks only to [`HARBOR`].
pub const WEB_AGENTS_API: Extension = Extension { name: "web-agents-api", firefox: "web-agents-api@harbor" };

impl Extension {
    /// Its id in Chromium and all that are made from it.
    #[must_use]
    pub fn chromium(self) -> String {
        let keys: Value = serde_json::from_str(KEYS).unwrap_or_default();
        let key = keys[self.name].as_str().and_then(|text| STANDARD.decode(text).ok());
        // A test holds that each has its key.
        key.map(|key| chromium_id(&key)).unwrap_or_default()
    }
}

/// The id that Chromium gives to an extension with this public key.
fn chromium_id(key: &[u8]) -> String {
    let digest = hex(&Sha256::digest(key)[..16]);
    let letter = |digit: char| char::from(b'a' + digit.to_digit(16).unwrap_or_default() as u8);
    digest.chars().map(letter).collect()
}

/// True if Chromium gives ids of this form.
#[must_use]
pub fn is_chromium_id(id: &str) -> bool {
    id.len() == 32 && id.bytes().all(|byte| (b'a'..=b'p').contains(&byte))
}

/// True if an extension of any browser can have this id.
#[must_use]
pub fn is_id(id: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"@._-{}".contains(&byte);
    !id.is_empty() && id.len() <= MAX_ID && id.bytes().all(plain)
}

/// True if the id is that of the extension that may start the native host.
#[must_use]
pub fn is_harbor(id: &str) -> bool {
    id == HARBOR.firefox || (is_chromium_id(id) && id == HARBOR.chromium())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_come_from_the_keys() {
        // As `base64 -d | sha256sum | cut -c1-32 | tr 0-9a-f a-p` has them.
        assert_eq!(HARBOR.chromium(), "lkdfdnjebailkjbgamcenkafhihdhdpg");
        assert_eq!(WEB_AGENTS_API.chromium(), "ameepindlnjgijhmnmehbfjhkkcpfdie");
        assert_eq!(chromium_id(b""), "odlameecjipmbmbejkplpemijjgpljce");
        let keys: Value = serde_json::from_str(KEYS).unwrap();
        assert_eq!(keys.as_object().unwrap().len(), 2);
        for extension in [HARBOR, WEB_AGENTS_API] {
            let key = STANDARD.decode(keys[extension.name].as_str().unwrap()).unwrap();
            // SubjectPublicKeyInfo of an RSA key of 2048 bits: no private key looks so, or is so short.
            assert_eq!((key.len(), &key[..4]), (294, &[0x30, 0x82, 0x01, 0x22][..]), "{}", extension.name);
        }
    }

    #[test]
    fn one_extension_is_let_in() {
        assert!(is_harbor("harbor@harbor") && is_harbor(&HARBOR.chromium()));
        for other in [
            WEB_AGENTS_API.firefox,
            &WEB_AGENTS_API.chromium(),
            "",
            "harbor",
            "abcdefghijklmnopabcdefghijklmnop",
        ] {
            assert!(!is_harbor(other), "{other}");
        }
    }

    #[test]
    fn ids_have_their_forms() {
        assert!(is_chromium_id("abcdefghijklmnopabcdefghijklmnop") && !is_chromium_id("harbor@harbor"));
        assert!(!is_chromium_id("qbcdefghijklmnopabcdefghijklmnop") && !is_chromium_id("abc"));
        assert!(is_id("harbor@harbor") && is_id("{1b2c}") && !is_id("") && !is_id("a b") && !is_id("a/b"));
    }
}
