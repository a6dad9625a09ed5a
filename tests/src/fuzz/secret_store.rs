//! What encrypted secrets are read from: files of age, and what `secret-tool` says.
//!
//! Input: the bytes themselves. No file is opened by a wrong passphrase, and what costs much is refused before it costs anything.

use harbor_bridge::store::secrets::age::{self, Random};
use harbor_ipc_proto::secret::Secret;
use harbor_policy::secret_store::{Searched, key, searched};

use super::Target;

pub(super) const SECRET_STORE: Target = Target {
    name: "secret_store",
    run: secret_store,
    corpus: &[
        b"",
        b"age-encryption.org/v1\n-> scrypt BwcHBwcHBwcHBwcHBwcHBw 1\nAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA\n--- AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA\n0123456789abcdef0123456789abcdef",
        b"[/1]\nlabel = Harbor\nsecret = 0a\ncreated = 2026-11-22 12:40:34\n",
        b"[/1]\nlabel = Harbor\ncreated = 2026-11-22 12:40:34\n",
        b"0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef\n",
    ],
};

fn secret_store(bytes: &[u8]) {
    assert_eq!(searched(bytes) == Searched::Nothing, !bytes.starts_with(b"["));
    assert!(key(bytes).is_none_or(|key| bytes.starts_with(key.expose().as_bytes()) && key.len() == 64));
    // Any amount of work that is allowed takes seconds: only the smallest ones are tried.
    let line = bytes.split(|byte| *byte == b'\n').nth(1).unwrap_or_default();
    let is_cheap = line.ends_with(b" 1") || line.ends_with(b" 2") || !line.starts_with(b"-> scrypt ");
    let passphrase = Secret::new("correct horse".into());
    assert!(!is_cheap || age::open(bytes, &passphrase).is_err());
    let random = Random { salt: [7; 16], file_key: [7; 16].into(), nonce: [7; 16] };
    let mut sealed = age::seal(bytes, &passphrase, 1, &random).expect("it is sealed");
    assert_eq!(age::open(&sealed, &passphrase).expect("it is opened").as_slice(), bytes);
    let payload = sealed.len() - bytes.len() - 32;
    let at = payload + bytes.len() * 7 % (bytes.len() + 32);
    sealed[at] ^= 1 << (bytes.len() % 8);
    assert!(age::open(&sealed, &passphrase).is_err(), "byte {at}");
}
