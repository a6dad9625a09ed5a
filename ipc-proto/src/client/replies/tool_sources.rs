//! What the bridge answers about tool sources.

use super::super::{SourceView, define_sent};
use crate::field::Word;

define_sent! {
    /// Replies about tool sources, by the type of their request.
    SOURCE_REPLIES:
    /// It is there.
    "source_register" SourceRegisterResult {
        /// Its id: `browser`, or `browser:NAME` where there is one already.
        source_id: String,
    }
    /// It is gone.
    "source_unregister" SourceUnregisterResult {
        /// False when this connection has no such source.
        unregistered: bool,
    }
    /// Whether somebody waits for it.
    "source_result" SourceResultResult {
        /// False when the call has ended, or was never made of a source of this connection.
        accepted: bool,
    }
    /// What the bridge says to it.
    "source_event" SourceEventResult {
        /// False when it is about no session's tab, or no session.
        accepted: bool,
        /// Of `navigated` and `tab_opened`: `allowed` or `denied`.
        verdict: Option<Word>,
        /// Why it is denied, as a sentence.
        reason: Option<String>,
    }
    /// They.
    "list_sources" ListSourcesResult {
        /// By id.
        sources: Vec<SourceView>,
    }
}
