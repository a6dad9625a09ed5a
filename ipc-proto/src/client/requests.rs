//! The requests of clients, a file per category. An entry has the message's type on the wire, its Rust type and its fields.
//!
//! Owns that they are one list, and one type. Must never have two messages of the same type: a test checks that.

use super::{MessageDoc, define_category};
use crate::field::{FieldError, PutFields};
use crate::json::Fields;

mod agent;
mod approvals;
mod catalog;
mod credentials;
mod engines;
mod host;
mod install;
mod mcp;
mod models;
mod oauth;
mod servers;
mod session;
mod status;
mod tool_sources;

pub use agent::*;
pub use approvals::*;
pub use catalog::*;
pub use credentials::*;
pub use engines::*;
pub use host::*;
pub use install::*;
pub use mcp::*;
pub use models::*;
pub use oauth::*;
pub use servers::*;
pub use session::*;
pub use status::*;
pub use tool_sources::*;

macro_rules! join {
    ($(#[doc = $doc:literal])* $all:ident: $($category:ident $name:ident,)*) => {
        $(#[doc = $doc])*
        #[derive(Debug, Clone, PartialEq, Eq)]
        #[allow(missing_docs, reason = "each category's type carries the documentation")]
        #[allow(clippy::large_enum_variant, reason = "one at a time is read, handed on and taken apart")]
        pub enum $all { $($category($name),)* }

        impl $all {
            /// Builds the request of the type `tag`; `None` if there is no such type here.
            #[must_use]
            pub fn parse(tag: &str, fields: &Fields<'_>) -> Option<Result<Self, FieldError>> {
                $(if let Some(parsed) = $name::parse(tag, fields) {
                    return Some(parsed.map(Self::$category));
                })*
                None
            }

            /// The request's `type` on the wire.
            #[must_use]
            pub fn tag(&self) -> &'static str {
                match self { $(Self::$category(request) => request.tag(),)* }
            }

            pub(crate) fn fields(&self) -> &dyn PutFields {
                match self { $(Self::$category(request) => request.fields(),)* }
            }

            /// The server that the request names, if it names one.
            #[must_use]
            pub fn server(&self) -> Option<&str> {
                match self { $(Self::$category(request) => request.server(),)* }
            }

            /// The profile that the request names, if it names one.
            #[must_use]
            pub fn profile(&self) -> Option<&str> {
                match self { $(Self::$category(request) => request.profile(),)* }
            }
        }

        $(
            impl From<$name> for $all {
                fn from(request: $name) -> Self {
                    Self::$category(request)
                }
            }
        )*
    };
}

define_category! {
    /// A call of a tool. It may take long, and is written down before it begins.
    CallRequest: McpCallTool, HostCallTool, HostRunScript,
}

join! {
    /// Any request of a client, by the way in which it is answered.
    Request:
    Connection ConnectionRequest,
    Call CallRequest,
    Work WorkRequest,
}

join! {
    /// A request on which a task works until it is answered.
    WorkRequest:
    Bridge BridgeRequest,
    Server ServerRequest,
    Install InstallRequest,
    Credential CredentialRequest,
    Oauth OauthRequest,
    Catalog CatalogRequest,
    Mcp McpRequest,
    Status StatusRequest,
    Host HostRequest,
    Model ModelRequest,
    Engine EngineRequest,
    Agent AgentRequest,
    Approval ApprovalRequest,
    Source SourceRequest,
}

macro_rules! work {
    ($($name:ident)*) => {
        $(
            impl From<$name> for Request {
                fn from(request: $name) -> Self {
                    WorkRequest::from(request).into()
                }
            }
        )*
    };
}

work! {
    BridgeRequest
    ServerRequest
    InstallRequest
    CredentialRequest
    OauthRequest
    CatalogRequest
    McpRequest
    StatusRequest
    HostRequest
    ModelRequest
    EngineRequest
    AgentRequest
    ApprovalRequest
    SourceRequest
}

/// The rows of each category. Those of [`CallRequest`] are among the others.
const CATEGORIES: &[&[MessageDoc]] = &[
    ConnectionRequest::ALL,
    BridgeRequest::ALL,
    ServerRequest::ALL,
    InstallRequest::ALL,
    CredentialRequest::ALL,
    OauthRequest::ALL,
    CatalogRequest::ALL,
    McpRequest::ALL,
    StatusRequest::ALL,
    HostRequest::ALL,
    ModelRequest::ALL,
    EngineRequest::ALL,
    AgentRequest::ALL,
    ApprovalRequest::ALL,
    SourceRequest::ALL,
];

/// Every request, in the order of the documentation.
pub const REQUESTS: &[MessageDoc] = &joined();

const COUNT: usize = {
    let (mut count, mut category) = (0, 0);
    while category < CATEGORIES.len() {
        count += CATEGORIES[category].len();
        category += 1;
    }
    count
};

const fn joined() -> [MessageDoc; COUNT] {
    let mut all = [CATEGORIES[0][0]; COUNT];
    let (mut filled, mut category) = (0, 0);
    while category < CATEGORIES.len() {
        let mut at = 0;
        while at < CATEGORIES[category].len() {
            all[filled] = CATEGORIES[category][at];
            filled += 1;
            at += 1;
        }
        category += 1;
    }
    all
}
