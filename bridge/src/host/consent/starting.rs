//! The question before a stopped server is started for a call of an origin's. Calls start other servers unasked.
//!
//! ```text
//!  call ─► the server is stopped, and no call starts it ─► mcp:server.connect ─┬─ granted ─► started
//!                                                                              ├─ denied ──► ERR_SERVER_UNAVAILABLE
//!                                                                              └─ neither ─► question ─┬─ once ───► started
//!                                                                                                      ├─ always ─► granted, started
//!                                                                                                      └─ no ─────► refused
//! ```
//!
//! Owns what each answer gives. Must never start a server for a caller that may not call its tool.

use std::rc::Rc;

use harbor_ipc_proto::client::envelope::ErrorBody;
use harbor_ipc_proto::codes::Code;
use harbor_policy::consent;
use harbor_policy::consent::answers::Cover;
use harbor_policy::consent::facts::Holding;
use harbor_policy::grants::{GrantType, Key, NewGrant};
use harbor_policy::scope::Scope;

use super::asking::{Decision, Form};
use super::requested_call::{KnownTool, RequestedCall};
use super::{AT_MOST, call_refusals};
use crate::config::OWNER;
use crate::host::asker::{Asker, Sender};
use crate::host::errors::{self, ErrorReader};
use crate::host::source::ToolSource;
use crate::host::{Host, RequestedGrant};

impl Host {
    /// Has the server of a call started if it is stopped and no call starts it. The caller may call the tool.
    ///
    /// # Errors
    /// Why it is not started.
    pub(in crate::host) async fn have_started(
        &self,
        wish: &RequestedCall<'_>,
        asker: &Asker,
        form: Option<Form>,
    ) -> Result<(), ErrorBody> {
        let Some(source) = self.sources.get(wish.source) else { return Ok(()) };
        let Some(at_rest) = source.at_rest() else { return Ok(()) };
        let stopped = || errors::unavailable(wish.source, &at_rest, ErrorReader::of(wish.caller));
        match self.permissions.check(asker, Scope::McpServerConnect, None) {
            Ok(_) => source.clone().start(),
            Err(refusal) if refusal.code == Code::ScopeRequired => {
                let question = consent::starts();
                let (why, known) = (question.why, KnownTool::of_request(Holding::UNKNOWN));
                let decision = self.consent.ask(wish, &known, question, (form, AT_MOST)).await?;
                self.note_decision_of(wish, &decision).await;
                match decision {
                    Decision::Nobody => return Err(stopped()),
                    Decision::Silence => return Err(call_refusals::unanswered(wish, why)),
                    Decision::Yes(cover) => self.take_start(asker, &source, cover).await?,
                    Decision::No(_) | Decision::Never => return Err(call_refusals::declined(wish, None)),
                }
            }
            Err(_) => return Err(stopped()),
        }
        Ok(())
    }

    /// Starts the server after a yes, which may hold for all servers from now on.
    ///
    /// # Errors
    /// When the grant cannot be made.
    pub(super) async fn take_start(
        &self,
        asker: &Asker,
        source: &Rc<dyn ToolSource>,
        cover: Cover,
    ) -> Result<(), ErrorBody> {
        if cover == Cover::Always {
            let scope = Scope::McpServerConnect;
            let key = Key { origin: asker.origin.clone(), profile: asker.profile.clone(), scope };
            let grant =
                NewGrant { grant_type: GrantType::AllowAlways, tools: None, tab: None, lifetime_ms: None };
            // The person has answered, whoever's request it is about.
            let sender = Rc::new(Sender { by: OWNER.into(), ..Sender::clone(&asker.sender) });
            self.permissions.grant(&sender, RequestedGrant { key, grant, expires_at: None }).await?;
        }
        source.clone().start();
        Ok(())
    }
}
