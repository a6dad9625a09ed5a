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
        /// The name of their tab group.
        label: String,
        /// The colour of their tab group, as browsers name it.
        colour: Word,
        /// All tabs of the session, as the bridge decided. No call acts on another tab.
        tabs: Vec<u64>,
        /// The tab that the call is about; absent when there is none yet.
        tab_id: Option<u64>,
    }
    /// Why a source has no result.
    "SourceError" SourceError {
        /// A word for programs, such as `tab_gone`, `timeout`, `denied`.
        code: String,
        /// A sentence.
        message: String,
    }
    /// A download that began in a session's tab.
    "BrowserDownload" BrowserDownload {
        /// The browser's number of it.
        id: u64,
        /// Its address.
        url: String,
        /// The path of the file that the browser saves.
        path: String,
        /// The file's kind, such as `text/csv`.
        mime: String,
        /// How many bytes have come.
        bytes: u64,
        /// How many bytes there will be; absent while nobody knows.
        total: Option<u64>,
        /// `in_progress`, `complete` or `interrupted`.
        state: Word,
        /// Why it was interrupted, in the browser's word.
        error: Option<String>,
        /// True if nothing but this session can have begun it.
        own: bool,
    }
}
