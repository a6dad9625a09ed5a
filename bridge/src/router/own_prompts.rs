//! Harbor's own prompts, answered as those of a server named `harbor`.
//!
//! Owns whose prompts that name means: those of a server that the person has named so, else Harbor's own. Must never ask
//! anything of anybody.

use harbor_ipc_proto::client::OffersView;
use harbor_ipc_proto::client::envelope::ErrorBody;
use harbor_ipc_proto::codes::Code;
use harbor_ipc_proto::json::Json;
use harbor_ipc_proto::server_id::ServerId;
use harbor_policy::own_prompts::{SOURCE, UnfitPromptReason, get, list};

use super::state::Router;

/// True if the name means Harbor itself.
pub(super) fn are_of(router: &Router, id: &ServerId) -> bool {
    id.as_str() == SOURCE && router.host.server(id).is_err()
}

/// MCP's list of them.
pub(super) fn all() -> Json {
    Json::from_valid(list())
}

/// The list, as `harbor mcp` gets it beside those of servers; none if a server has the name.
pub(super) fn offered(router: &Router) -> Option<OffersView> {
    let id = ServerId::parse(SOURCE)?;
    are_of(router, &id).then(|| OffersView { server_id: SOURCE.to_owned(), items: all() })
}

/// One of them, filled in.
pub(super) fn one(name: &str, arguments: Option<&str>) -> Result<Json, ErrorBody> {
    let wrong = |why: UnfitPromptReason| ErrorBody::new(Code::InvalidParams, why.to_string());
    get(name, arguments).map(Json::from_valid).map_err(wrong)
}

/// MCP's completion of an argument that has none.
pub(super) fn no_completion() -> Json {
    Json::from_valid(r#"{"completion":{"values":[]}}"#.to_owned())
}
