//! What came of a turn, for whoever waited for it.
//!
//! Owns that form. Must never be kept: what stays of a turn stands in its session.

use harbor_ipc_proto::client::envelope::ErrorBody;
use harbor_ipc_proto::client::{Citation, TurnStep};
use harbor_policy::turn::Why;

use super::spent::Spent;

/// What came of a turn.
#[derive(Debug)]
pub struct Outcome {
    /// What the model answered in the end, or what came of it.
    pub text: String,
    /// Its calls.
    pub steps: Vec<TurnStep>,
    /// How often the model was asked.
    pub rounds: u32,
    /// Why it ended.
    pub ended: Why,
    /// What it has taken.
    pub spent: Spent,
    /// Where the answer comes from, where it has to say that.
    pub citations: Option<Vec<Citation>>,
    /// Why there is no answer.
    pub error: Option<ErrorBody>,
}
