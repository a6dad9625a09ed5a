//! The agent: conversations in which a model uses tools, for the person and for origins.
//!
//! ```text
//!  chat_send_message ─► Session ─► Drive ─ policy::turn ─┬─► models: answers
//!  run_start ─────────► (one of its own)                 ├─► host: calls, by the one road there is
//!                          │                             ├─► scripts: several calls at once, each by the same road
//!                          │                             └─► host::consent: may it be made, is the person asked?
//!                          └─► TurnLog ─► whoever watches
//! ```
//!
//! Owns sessions and their turns. A turn belongs to the bridge: it goes on when its caller has left. Must never reach a
//! tool or a model except by `host` and `models`, nor put a word of a conversation into a log.

mod answer;
mod approval;
mod approving;
mod attaching;
mod branching;
mod citing;
mod context;
mod counts;
mod damaged;
mod drive;
pub mod export;
mod fitting;
mod importing;
mod listing;
pub mod mode;
mod on_behalf;
mod origin_sessions;
mod outcome;
mod owned_session;
mod plan;
mod refusals;
mod running;
mod saving;
mod saying;
mod scripting;
pub mod session;
mod sessions;
mod spent;
mod steps;
mod summarising;
mod summary;
mod text_reading;
mod tool_results;
mod tool_sets;
mod toolbox;
pub mod transcript;
pub mod turn_log;
mod unsaved;
mod wanted_summary;

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use harbor_ipc_proto::client::envelope::ErrorBody;
use harbor_ipc_proto::client::{AgentStatus, ChatEvent};
use harbor_policy::budget::OWNER;

use self::counts::TurnCounts;
use self::owned_session::OwnedSessions;
use self::session::Session;
use self::tool_sets::ToolSets;
use self::unsaved::Unsaved;
use crate::host::Host;
use crate::models::{ModelAnswer, ModelCaller, Models, Prompt, SettledRequests};
use crate::scripts::Scripts;
use crate::store::sessions::Sessions;

pub use self::attaching::Attachments;
pub use self::listing::SessionList;
pub use self::on_behalf::{Answerers, OnBehalf};
pub use self::outcome::TurnOutcome;
pub use self::owned_session::SessionTerms;
pub use self::running::{Run, Task};
pub use self::saying::TurnInput;

/// The agent.
pub struct Agent {
    host: Rc<Host>,
    models: Rc<Models>,
    scripts: Rc<Scripts>,
    store: Sessions,
    open: RefCell<BTreeMap<String, Rc<Session>>>,
    /// Sessions that the disk has not taken.
    unsaved: RefCell<BTreeMap<String, Unsaved>>,
    /// Sessions of origins.
    owned: OwnedSessions,
    counts: Rc<TurnCounts>,
    /// The tools of the last turns, read for models.
    tool_sets: ToolSets,
}

impl std::fmt::Debug for Agent {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Agent").field("open", &self.open.borrow().len()).finish_non_exhaustive()
    }
}

impl Agent {
    /// The agent of this home, without turns.
    #[must_use]
    pub fn new(host: Rc<Host>, models: Rc<Models>, scripts: Rc<Scripts>, store: Sessions) -> Rc<Self> {
        Rc::new(Self {
            host,
            models,
            scripts,
            store,
            open: RefCell::default(),
            unsaved: RefCell::default(),
            owned: OwnedSessions::default(),
            counts: Rc::default(),
            tool_sets: ToolSets::default(),
        })
    }

    /// The numbers of turns.
    #[must_use]
    pub fn status(&self) -> AgentStatus {
        self.counts.status()
    }

    /// Checks that these sources exist.
    ///
    /// # Errors
    /// Says which one does not exist.
    pub fn must_exist(&self, servers: &[String]) -> Result<(), ErrorBody> {
        servers.iter().try_for_each(|named| self.host.must_exist(named))
    }

    async fn ask_model(
        &self,
        on_behalf: &OnBehalf,
        prompt: Prompt,
        settled: SettledRequests,
        push: impl AsyncFn(ChatEvent),
    ) -> Result<ModelAnswer, ErrorBody> {
        let settled = Some(settled);
        match on_behalf {
            OnBehalf::Owner(sender, turn) => {
                self.host.trail.is_open()?;
                let who = ModelCaller {
                    principal: OWNER.into(),
                    by: sender.by.clone(),
                    origin: None,
                    profile: None,
                    settled,
                };
                self.models.answer(turn.model_permit(), who, prompt, push).await
            }
            OnBehalf::Origin { asker, .. } => {
                let permit = self.host.model_permit(asker, true).await?;
                let who = ModelCaller {
                    principal: asker.origin.shared(),
                    by: asker.sender.by.clone(),
                    origin: Some(asker.origin.shared()),
                    profile: Some(asker.profile.clone()),
                    settled,
                };
                tokio::select! {
                    // A request that was sent ends when no
                    // grant covers it any more.
                    ended = self.host.model_permit_ended(asker, true) => Err(ended),
                    answer = self.models.answer(permit, who, prompt, push) => answer,
                }
            }
        }
    }
}
