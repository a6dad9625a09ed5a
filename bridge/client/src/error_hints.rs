//! Remarks of the bridge beside an error of a call: what the sandbox refused, which places the server does
//! not have.
//!
//! Owns reading them. Must never print.

use crate::errors::Refusal;
use crate::payload::Payload;

impl Refusal {
    /// The sentences.
    #[must_use]
    pub fn beside(&self) -> Vec<String> {
        let details = self.details.as_deref().and_then(|details| Payload::parse(details.as_bytes()));
        let said = details.and_then(|details| details.raw("beside").map(serde_json::from_str));
        said.and_then(Result::ok).unwrap_or_default()
    }
}
