//! The record of a request to a model, and who asked.
//!
//! Must never hold a word of a conversation.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use harbor_ipc_proto::codes::Code;

use crate::store::models::TokenUsage;

/// The one who asks.
#[derive(Debug, Clone)]
pub struct ModelCaller {
    /// The principal whose budget pays: `owner`, or an origin.
    pub principal: Arc<str>,
    /// The principal that sent the request, for the audit log.
    pub by: Arc<str>,
    /// The origin on whose behalf it asks.
    pub origin: Option<Arc<str>>,
    /// Its profile.
    pub profile: Option<Arc<str>>,
    /// The place where its requests are put once they are settled, if it counts them.
    pub settled: Option<SettledRequests>,
}

/// Requests that are settled and not counted yet. A request that was cancelled, or that failed, is among them if it costs something.
#[derive(Debug, Clone, Default)]
pub struct SettledRequests(Rc<RefCell<Vec<SettledRequest>>>);

/// A request that is settled.
#[derive(Debug)]
pub struct SettledRequest {
    /// The provider's id.
    pub provider: String,
    /// The model's name there.
    pub model: String,
    /// The tokens that it has used.
    pub used: TokenUsage,
}

impl SettledRequests {
    pub(super) fn add(&self, request: SettledRequest) {
        self.0.borrow_mut().push(request);
    }

    /// Takes all that there are.
    #[must_use]
    pub fn take(&self) -> Vec<SettledRequest> {
        std::mem::take(&mut self.0.borrow_mut())
    }
}

/// The record of a request, without a word of it.
#[derive(Debug)]
pub struct Noted {
    /// The one who asked.
    pub who: ModelCaller,
    /// The provider's id.
    pub provider: String,
    /// The model's name there.
    pub model: String,
    /// The error with which it ended.
    pub code: Option<Code>,
    /// How long it took, in microseconds.
    pub duration_us: u64,
    /// Tokens read and written.
    pub tokens: [u64; 2],
}
