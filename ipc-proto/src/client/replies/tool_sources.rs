//! The bridge's replies about tool sources.

use super::super::{SourceView, define_sent};
use crate::field::Word;

define_sent! {
    /// Replies about tool sources, by the type of their request.
    SOURCE_REPLIES:
    /// The source is registered.
    "source_register" SourceRegisterResult {
        /// The source's id: `browser`, or `browser:NAME` if there is a browser already.
        source_id: String,
    }
    /// The source is unregistered.
    "source_unregister" SourceUnregisterResult {
        /// False if this connection has no such source.
        unregistered: bool,
    }
    /// The result has reached the bridge.
    "source_result" SourceResultResult {
        /// False if the call has ended, or was never made to a source of this connection.
        accepted: bool,
    }
    /// The bridge's answer to the event.
    "source_event" SourceEventResult {
        /// False if the event is about no session and no session's tab.
        accepted: bool,
        /// For `navigated`, `frame` and `tab_opened`: `allowed` or `denied`.
        verdict: Option<Word>,
        /// Why it is denied, as a sentence; absent when it is allowed.
        reason: Option<String>,
    }
    /// A piece of a file.
    "source_file" SourceFileResult {
        /// Its bytes as base64: at most 512 KiB of them, none at the end of the file.
        data: String,
    }
    /// The tool sources that are no servers.
    "list_sources" ListSourcesResult {
        /// The sources, sorted by id.
        sources: Vec<SourceView>,
    }
}
