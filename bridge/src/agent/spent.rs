//! The tokens that a turn has used.
//!
//! Owns the sum, that of requests which were stopped or failed too. `models` settles and counts each request by itself.

use harbor_ipc_proto::client::ChatUsage;

use super::session::Session;
use crate::models::{SettledRequests, usage_view};
use crate::store::models::TokenUsage;

/// The sum of a turn's requests.
#[derive(Debug, Default, Clone)]
pub struct Spent {
    used: Option<TokenUsage>,
    /// The provider and model that answered last.
    pub model: Option<(String, String)>,
}

impl Spent {
    /// Adds what is settled, to its session's sum too; gives its number of tokens.
    pub fn add(&mut self, settled: &SettledRequests, session: &Session) -> u64 {
        let mut tokens = 0_u64;
        for one in settled.take() {
            session.spend(usage_view(one.used));
            tokens = tokens.saturating_add(one.used.input).saturating_add(one.used.output);
            self.used = Some(self.used.map_or(one.used, |before| before.plus(one.used)));
            self.model = Some((one.provider, one.model));
        }
        tokens
    }

    /// The sum for clients.
    #[must_use]
    pub fn view(&self) -> ChatUsage {
        let nothing = ChatUsage {
            input_tokens: 0,
            output_tokens: 0,
            cached_tokens: 0,
            reasoning_tokens: 0,
            exactness: "exact".into(),
            cost_microdollars: Some(0),
        };
        self.used.map_or(nothing, usage_view)
    }
}
