//! Requests about tool sources that a connection offers: today the browser in which Harbor's extension runs.

use super::super::{BrowserDownload, SourceError, define_requests};
use crate::field::JsonObject;
use crate::json::Json;
use crate::source_id::SourceId;

define_requests! {
    /// Any request about tool sources.
    SourceRequest:
    /// Offers a source of tools for as long as this connection lasts. The bridge pushes `source_call`, and `source_result`
    /// answers it. For a browser, the bridge itself defines the tools. For a page of a tab that is offered already, its
    /// tools become these. Only from Harbor's own extension.
    "source_register" SourceRegister -> SourceRegisterResult {
        /// The kind: `browser` or `page`.
        kind: String,
        /// Its name for people, such as `Firefox`.
        name: String,
        /// Its tools, an array as in MCP, of at most 64; absent for a browser.
        tools: Option<Json>,
        /// For a browser: what it can do that not every browser can: `downloads`, `evaluate`.
        abilities: Option<Vec<String>>,
        /// For a page: its origin.
        origin: Option<String>,
        /// For a page: its tab.
        tab_id: Option<u64>,
    }
    /// Withdraws a source. Its open calls end at once.
    "source_unregister" SourceUnregister -> SourceUnregisterResult {
        /// The source.
        source_id: SourceId,
    }
    /// Answers a `source_call`, with a result or an error.
    "source_result" SourceResult -> SourceResultResult {
        /// The call.
        call_id: String,
        /// MCP's CallToolResult.
        result: Option<JsonObject>,
        /// Why there is no result.
        error: Option<SourceError>,
    }
    /// Reports an event in a browser, which the bridge decides about or notes for the session.
    "source_event" SourceEvent -> SourceEventResult {
        /// The source.
        source_id: SourceId,
        /// `tab_opened`: a tab was opened for a session (`session_id`) or by a session's tab (`opener_tab_id`), or the
        /// person moved it into the session's group. `tab_closed`. `navigated`: a tab is at `url`, or is about to be.
        /// `frame`: a frame of a tab at `url` is to be read. `released`: the person took a tab back. `stop`: the person
        /// pressed Stop for a session. `dialog`, `download`, `tools_changed`.
        event: String,
        /// The session that the event is about.
        session_id: Option<String>,
        /// The tab that the event is about.
        tab_id: Option<u64>,
        /// For `tab_opened`: the tab that opened it.
        opener_tab_id: Option<u64>,
        /// The address that the event is about.
        url: Option<String>,
        /// The tab's title, or another text about the event.
        title: Option<String>,
        /// For `download`: the download as it is now.
        download: Option<BrowserDownload>,
    }
    /// Reads a piece of a file that a `source_call` of this connection carries. Only while that call is open.
    "source_file" SourceFile -> SourceFileResult {
        /// The call.
        call_id: String,
        /// The place of the file in the call's `files`, from 0.
        file: u64,
        /// The byte at which the piece begins.
        offset: u64,
    }
    /// Lists the tool sources that are no servers.
    "list_sources" ListSources -> ListSourcesResult {}
}
