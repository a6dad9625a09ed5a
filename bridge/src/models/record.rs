//! The record of a request to a model, and who asked.
//!
//! Must never hold a word of a conversation.

use std::sync::Arc;

use harbor_ipc_proto::codes::Code;

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
