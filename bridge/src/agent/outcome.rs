//! What came of a turn, for whoever waited for it.
//!
//! Owns that form. Must never be kept: what stays of a turn stands in its session.

use harbor_ipc_proto::client::envelope::ErrorBody;
use harbor_ipc_proto::client::{Citation, TurnStep};
use harbor_policy::turn::Why;

use super::spent::Spent;

/// The outcome of a turn.
#[derive(Debug)]
pub struct TurnOutcome {
    /// The model's last answer, or a text about the end.
    pub text: String,
    /// Its calls.
    pub steps: Vec<TurnStep>,
    /// How often the model was asked.
    pub rounds: u32,
    /// Why it ended.
    pub ended: Why,
    /// The tokens that it has used.
    pub spent: Spent,
    /// The sources of the answer, if it has to name them.
    pub citations: Option<Vec<Citation>>,
    /// Why there is no answer.
    pub error: Option<ErrorBody>,
}
