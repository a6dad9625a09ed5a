//! The message with which an AI client begins to serve.

use std::rc::Rc;

use harbor_ipc_proto::client::envelope::ErrorBody;
use harbor_ipc_proto::client::{McpBegin, McpBeginResult};
use harbor_ipc_proto::codes::Code;
use harbor_policy::tool_name::Allowlist;

use super::client::Client;
use super::grants::asker;
use super::reply::{Handled, reply};
use super::state::Router;
use crate::host::to_the_end;

pub(super) async fn begin(router: &Rc<Router>, client: &Client, message: McpBegin) -> Handled {
    let asker = asker(client, &None, &None, None)?;
    let only = message.only.map(|tools| Allowlist::parse(&tools)).transpose();
    let only = only.map_err(|wrong| {
        ErrorBody::new(Code::InvalidParams, format!("field `only`: {wrong}")).with("field", "only")
    })?;
    let router = router.clone();
    to_the_end(async move {
        let granted = router.host.welcome(&asker, only).await?;
        reply(McpBeginResult { granted, first_use: router.host.config.now().first_use.as_str().into() })
    })
    .await
}
