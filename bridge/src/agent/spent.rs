//! The tokens that a turn has used.
//!
//! Owns the sum. `models` settles and counts each request by itself.

use harbor_ipc_proto::client::ChatUsage;

use super::session::Session;
use crate::models::{ModelAnswer, usage_view};
use crate::store::models::TokenUsage;

/// The sum of a turn's requests.
#[derive(Debug, Default, Clone)]
pub struct Spent {
    used: Option<TokenUsage>,
    /// The provider and model that answered last.
    pub model: Option<(String, String)>,
}

impl Spent {
    /// Adds a request, to its session's sum too; gives its number of tokens.
    pub fn add(&mut self, answered: &ModelAnswer, session: &Session) -> u64 {
        let one = answered.used;
        session.spend(usage_view(one));
        self.used = Some(self.used.map_or(one, |before| before.plus(one)));
        self.model = Some((answered.provider.clone(), answered.model.clone()));
        one.input.saturating_add(one.output)
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
