//! A call by which a page is searched for what its maker means.
//!
//! Must never hold the page.

use std::rc::Rc;

use harbor_ipc_proto::source_id::SourceId;

use super::asking::Form;
use super::chat::Chat;
use crate::host::asker::Caller;

/// A call by which a page is searched.
pub struct PageSearchCall {
    /// Who makes it.
    pub caller: Caller,
    /// The browser.
    pub source: SourceId,
    /// The conversation that it is part of.
    pub chat: Option<Rc<Chat>>,
    /// The form by which its client can ask the person.
    pub form: Option<Form>,
}
