//! Objects about tool sources that are no servers.

use super::define_sent;
use crate::field::Word;

define_sent! {
    /// Objects about tool sources.
    SOURCE_OBJECTS:
    /// A tool source that is no server.
    "Source" SourceView {
        /// Its id.
        source_id: String,
        /// `browser`, `page` or `runtime`.
        kind: Word,
        /// Its name for people.
        label: String,
        /// `running`, while its connection lasts.
        state: Word,
        /// How many tools it has.
        tool_count: u32,
    }
    /// The tabs that a caller works in.
    "SourceSession" SourceSession {
        /// The name of their group.
        label: String,
        /// Its colour, as browsers name those of groups.
        colour: Word,
        /// All of them, by the bridge's word: no call acts on another tab.
        tabs: Vec<u64>,
        /// The one that is meant; absent where there is none yet.
        tab_id: Option<u64>,
    }
    /// Why a source has no result.
    "SourceError" SourceError {
        /// A word for programs, such as `tab_gone`, `timeout`, `denied`.
        code: String,
        /// A sentence.
        message: String,
    }
}
