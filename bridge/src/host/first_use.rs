//! The first grants of an AI client whose name is new.
//!
//! ```text
//!  welcome ─► met before? granted or denied anything? firstUse not all? ─► nothing
//!                │ no to each
//!                └─► noted in harbor.db ─► mcp:tools.list, mcp:tools.call: ALLOW_ALWAYS
//! ```
//!
//! Owns the promise that this happens once for a name. Must never give back what the person has taken: a name is noted
//! before anybody grants it anything, and stays noted.

use harbor_home::clock::wall_clock;
use harbor_ipc_proto::client::envelope::ErrorBody;
use harbor_ipc_proto::codes::Code;
use harbor_policy::grants::{GrantType, Key, NewGrant};
use harbor_policy::origin::Origin;
use harbor_policy::scope::Scope;
use harbor_policy::tool_name::Allowlist;

use super::asker::{Asker, Sender};
use super::{Host, RequestedGrant};
use crate::config::FirstUse;
use crate::store::StoreError;

/// The scopes that `harbor mcp` needs to be of any use.
const FIRST: [Scope; 2] = [Scope::McpToolsList, Scope::McpToolsCall];

/// The name under which the audit log has these grants.
const BRIDGE: &str = "harbor";

impl Host {
    /// The first grants of a new AI client, in a word: as the configuration has it, or `closed`.
    pub(super) fn first_use(&self) -> &'static str {
        match self.nobody_is_new {
            true => "closed",
            false => self.config.now().first_use.as_str(),
        }
    }

    /// Welcomes an AI client. True if it got its first grants, for these tools or for all.
    ///
    /// # Errors
    /// When the disk refuses: then nothing is granted.
    pub async fn welcome(&self, asker: &Asker, only: Option<Allowlist>) -> Result<bool, ErrorBody> {
        let met = self.newcomers.met.lock().await;
        let name = asker.origin.as_str();
        let is_known = self.knows_client(name);
        let is_new = met.note(name, wall_clock()).await.map_err(|error| not_noted(&error))?;
        if !is_new || is_known || self.config.now().first_use != FirstUse::All {
            return Ok(false);
        }
        let granted = self.grant_first(asker, only).await;
        if granted.is_err() {
            // It is as new as before, and keeps none of the grants.
            self.take_first_back(asker).await;
            let _ = met.forget(name).await;
        }
        granted.map(|()| true)
    }

    /// True if the person has granted or denied something under this name, or taken it away.
    fn knows_client(&self, name: &str) -> bool {
        self.permissions.knows(name) || self.newcomers.unnoted.borrow().contains(name)
    }

    /// True if an AI client of this name would get its first grants now. False if the disk does not answer.
    pub async fn would_be_new(&self, origin: &Origin) -> bool {
        let name = origin.as_str();
        if !origin.is_client()
            || self.knows_client(name)
            || self.nobody_is_new
            || self.config.now().first_use != FirstUse::All
        {
            return false;
        }
        self.newcomers.met.lock().await.is_new(name).await.unwrap_or(false)
    }

    /// The person has decided something about an AI client: it is not new any more, even if the decision is
    /// taken back.
    ///
    /// # Errors
    /// When the disk refuses, unless the decision takes something away: that holds all the same.
    pub async fn has_decided_about(&self, origin: &Origin, takes_away: bool) -> Result<(), ErrorBody> {
        if !origin.is_client() {
            return Ok(());
        }
        let (met, name) = (self.newcomers.met.lock().await, origin.as_str());
        match met.note(name, wall_clock()).await {
            Err(error) if takes_away => {
                tracing::warn!(client = name, %error, "that it was here is known until the bridge ends only");
                self.newcomers.unnoted.borrow_mut().insert(name.to_owned());
                Ok(())
            }
            noted => noted.map(drop).map_err(|error| not_noted(&error)),
        }
    }

    async fn take_first_back(&self, asker: &Asker) {
        let sender = Sender { by: BRIDGE.into(), ..Sender::clone(&asker.sender) };
        for scope in FIRST {
            let key = Key { origin: asker.origin.clone(), profile: asker.profile.clone(), scope };
            let always = Some(GrantType::AllowAlways);
            // A grant that was not made cannot be revoked.
            let _ = self.permissions.revoke(&sender, &key, always, None).await;
        }
    }

    async fn grant_first(&self, asker: &Asker, only: Option<Allowlist>) -> Result<(), ErrorBody> {
        let sender = Sender { by: BRIDGE.into(), ..Sender::clone(&asker.sender) };
        // Before anything is granted for a name that was another program when the client was configured.
        if let Some(only) = &only {
            self.on_named(only).await?;
        }
        for scope in FIRST {
            let key = Key { origin: asker.origin.clone(), profile: asker.profile.clone(), scope };
            let tools = only.clone();
            let grant = NewGrant { grant_type: GrantType::AllowAlways, tools, tab: None, lifetime_ms: None };
            self.permissions.grant(&sender, RequestedGrant { key, grant, expires_at: None }).await?;
        }
        Ok(())
    }
}

fn not_noted(error: &StoreError) -> ErrorBody {
    ErrorBody::new(Code::Internal, format!("{error}; nothing was granted"))
}
