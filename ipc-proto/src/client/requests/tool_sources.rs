//! Requests about tool sources that a connection keeps: today the browser in which Harbor's extension runs.

use super::super::{SourceError, define_requests};
use crate::field::JsonObject;
use crate::json::Json;
use crate::source_id::SourceId;

define_requests! {
    /// Any request about tool sources.
    SourceRequest:
    /// Offers a source of tools for as long as this connection lasts: the bridge pushes `source_call`, and is answered by
    /// `source_result`. Of a browser the tools are the bridge's own. Only from Harbor's own extension.
    "source_register" SourceRegister -> SourceRegisterResult {
        /// `browser`; later also `page` and `runtime`.
        kind: String,
        /// Its name for people, such as `Firefox`.
        name: String,
        /// Its tools, an array as in MCP; not of a browser.
        tools: Option<Json>,
        /// Of a page: its origin.
        origin: Option<String>,
        /// Likewise: its tab.
        tab_id: Option<u64>,
    }
    /// Takes a source back. Its open calls end at once.
    "source_unregister" SourceUnregister -> SourceUnregisterResult {
        /// The source.
        source_id: SourceId,
    }
    /// Answers a `source_call`: with a result or an error.
    "source_result" SourceResult -> SourceResultResult {
        /// The call.
        call_id: String,
        /// MCP's CallToolResult.
        result: Option<JsonObject>,
        /// Why there is none.
        error: Option<SourceError>,
    }
    /// Something has happened in a browser that the bridge decides about, or tells the session of.
    "source_event" SourceEvent -> SourceEventResult {
        /// The source.
        source_id: SourceId,
        /// `tab_opened`: a tab for a session (`session_id`), of a session's tab (`opener_tab_id`), or that the person has put
        /// into its group; `tab_closed`; `navigated`: a tab is about to be, or is, at `url`; `frame`: what is in a tab's frame at `url` is to be read; `released`: the person has taken a
        /// tab back; `stop`: the person has pressed Stop for a session; `dialog`, `download`, `tools_changed`.
        event: String,
        /// The session that it is about.
        session_id: Option<String>,
        /// The tab that it is about.
        tab_id: Option<u64>,
        /// Of `tab_opened`: the tab that has opened it.
        opener_tab_id: Option<u64>,
        /// An address.
        url: Option<String>,
        /// The tab's title, or what else there is to say.
        title: Option<String>,
    }
    /// Lists the tool sources that are no servers.
    "list_sources" ListSources -> ListSourcesResult {}
}
