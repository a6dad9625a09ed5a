//! Two values that nobody can guess: the verifier of PKCE, and the state that an answer has to repeat.
//!
//! Owns how they are made of random bytes. Must never make them of anything else.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use harbor_ipc_proto::secret::Secret;
use sha2::{Digest as _, Sha256};

/// The number of random bytes in each of them.
pub const RANDOM: usize = 32;

/// The verifier and the state of one authorization.
#[derive(Debug, Clone)]
pub struct Nonces {
    pub(super) verifier: Secret,
    pub(super) state: Secret,
}

impl Nonces {
    /// Made of random bytes.
    #[must_use]
    pub fn of(verifier: &[u8; RANDOM], state: &[u8; RANDOM]) -> Self {
        let text = |bytes| Secret::new(URL_SAFE_NO_PAD.encode(bytes));
        Self { verifier: text(verifier), state: text(state) }
    }

    /// The state that the answer has to repeat.
    #[must_use]
    pub fn state(&self) -> &Secret {
        &self.state
    }

    /// The challenge, which is sent before the verifier: S256 of RFC 7636.
    pub(super) fn challenge(&self) -> String {
        URL_SAFE_NO_PAD.encode(Sha256::digest(self.verifier.expose()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The example of RFC 7636, appendix B.
    #[test]
    fn the_challenge_is_that_of_the_rfc() {
        let bytes = [
            116, 24, 223, 180, 151, 153, 224, 37, 79, 250, 96, 125, 216, 173, 187, 186, 22, 212, 37, 77, 105,
            214, 191, 240, 91, 88, 5, 88, 83, 132, 141, 121,
        ];
        let nonces = Nonces::of(&bytes, &[0; RANDOM]);
        assert_eq!(nonces.verifier.expose(), "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk");
        assert_eq!(nonces.challenge(), "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM");
        assert_eq!(format!("{nonces:?}"), "Nonces { verifier: Secret, state: Secret }");
    }
}
