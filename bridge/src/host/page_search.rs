//! The way of a search in a page to the part of Harbor that has models, on behalf of the one who makes the call.
//!
//! Owns which calls have such a way. Must never look into a page.

use std::rc::Rc;
use std::sync::Arc;
use std::time::Instant;

use harbor_ipc_proto::client::envelope::ErrorBody;
use harbor_ipc_proto::codes::Code;
use harbor_ipc_proto::source_id::{SourceId, SourceKind};
use harbor_policy::browser_tools::FIND;
use harbor_policy::grants::{GrantType, Key, NewGrant};
use harbor_policy::scope::Scope;

use super::asker::{Asker, Caller, Sender};
use super::consent::page_search_call::PageSearchCall;
use super::tool_call::Consenting;
use super::{Host, RequestedGrant};
use crate::config::OWNER;
use crate::link::{PageSearch, PageSearchWork, WantedPlaces};

impl Host {
    /// The way to a model for a call of this tool, where the tool takes one.
    pub(super) fn page_search(
        &self,
        (source, tool): (&SourceId, &Arc<str>),
        caller: &Caller,
        consent: &Consenting,
    ) -> Option<PageSearch> {
        if source.kind() != SourceKind::Browser || **tool != *FIND {
            return None;
        }
        let samples = self.sampler.get()?;
        let call = Rc::new(PageSearchCall {
            caller: caller.for_another_try(),
            source: source.clone(),
            chat: consent.chat.clone(),
            form: consent.form.clone(),
        });
        let search = move |wanted: WantedPlaces, until: Instant| -> PageSearchWork {
            samples.search(call.clone(), wanted, until)
        };
        Some(Rc::new(search))
    }

    /// Whether a client's grants let it put a prompt to a model. None if the person has said nothing about that.
    #[must_use]
    pub fn may_prompt(&self, asker: &Asker) -> Option<bool> {
        match self.permissions.model_permit(asker, false) {
            Ok(_) => Some(true),
            Err(error) if error.code == Code::ScopeRequired => None,
            Err(_) => Some(false),
        }
    }

    /// Lets a client put prompts to the person's models from now on, by their answer.
    ///
    /// # Errors
    /// When that cannot be stored.
    pub async fn give_model(&self, asker: &Asker) -> Result<(), ErrorBody> {
        let key =
            Key { origin: asker.origin.clone(), profile: asker.profile.clone(), scope: Scope::ModelPrompt };
        let grant =
            NewGrant { grant_type: GrantType::AllowAlways, tools: None, tab: None, lifetime_ms: None };
        let sender = Sender { by: OWNER.into(), ..Sender::clone(&asker.sender) };
        self.permissions
            .grant(&Rc::new(sender), RequestedGrant { key, grant, expires_at: None })
            .await
            .map(drop)
    }
}
