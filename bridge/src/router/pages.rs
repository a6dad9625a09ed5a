//! `chat_fetch_page`: a page of the web for a message of the person.
//!
//! Owns nothing: the handler reads its message, asks the room and writes its answer.

use std::rc::Rc;
use std::sync::Arc;

use harbor_ipc_proto::client::envelope::ErrorBody;
use harbor_ipc_proto::client::{ChatFetchPage, ChatFetchPageResult};
use harbor_ipc_proto::codes::Code;
use harbor_ipc_proto::field::Message as _;
use harbor_policy::page_fetch::PageFetch;

use super::client::Client;
use super::reply::{Handled, reply};
use super::state::Router;
use crate::store::audit::AuditRecord;

pub(super) async fn fetch(router: &Router, client: &Rc<Client>, message: ChatFetchPage) -> Handled {
    let ChatFetchPage { url, allow_http, allow_private } = message;
    let page = PageFetch::read(&url, (allow_http == Some(true), allow_private == Some(true)));
    let page = page.map_err(|(field, why)| ErrorBody::new(Code::InvalidParams, why).with("field", field))?;
    let record = AuditRecord { url: Some(Arc::from(page.shown())), ..AuditRecord::default() };
    router.host.trail.decided(ChatFetchPage::TAG, &client.sender(), record, true).await?;
    // Not to its end: whoever asked may have thought better of it.
    reply(ChatFetchPageResult { part: router.pages.fetch(&page).await? })
}
