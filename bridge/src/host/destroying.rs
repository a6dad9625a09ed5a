//! Which calls of AI clients wait for a yes: those of tools by which something may be destroyed.
//!
//! Owns which tools that are, and what the person has said yes to for a while. Must never ask anybody: the router does, where
//! the client can be asked.

use std::collections::HashMap;
use std::time::Duration;

use harbor_home::clock::boot_clock;
use harbor_ipc_proto::client::envelope::ErrorBody;
use harbor_ipc_proto::json::Json;
use harbor_ipc_proto::source_id::SourceId;
use harbor_policy::approval::Traits;
use harbor_policy::scope::Scope;

use super::Host;
use super::asker::Asker;
use super::usable::{ANNOTATIONS, correction};
use crate::store::audit::Record;

/// How long a yes for all calls of a tool holds.
const A_WHILE: Duration = Duration::from_secs(600);

/// The yeses that hold for a while: an AI client, and a tool as `source/tool`, until when.
pub(super) type Agreed = HashMap<(String, String), u64>;

/// How the person answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// Yes, to this call.
    Allowed,
    /// Yes, to all calls of this tool for a while.
    AllowedForAWhile,
    /// No.
    Denied,
    /// The question was closed without an answer, or nobody has seen it.
    Dismissed,
}

impl Outcome {
    const fn word(self) -> &'static str {
        match self {
            Self::Allowed | Self::AllowedForAWhile => "allowed",
            Self::Denied => "denied",
            Self::Dismissed => "dismissed",
        }
    }
}

impl Host {
    /// Whether a call that the asker may make waits for a yes of the person. What may not be called is refused without one.
    #[must_use]
    pub fn waits_for_a_yes(&self, asker: &Asker, source: &SourceId, tool: &str) -> bool {
        let named = Some((source, tool));
        self.destroys(source, tool)
            && !self.is_agreed(asker, source, tool)
            && self.permissions.check(asker, Scope::McpToolsCall, named).is_ok()
    }

    /// Whether something may be destroyed by a tool: as it declares, or as the person says, which counts more.
    fn destroys(&self, source: &SourceId, tool: &str) -> bool {
        // What is not there is called by nobody.
        let Some(known) = self.sources.get(source) else { return false };
        let server = source.as_server().and_then(|id| self.supervisor.get(&id));
        let said = server.map(|server| server.definition().supervision.clone()).unwrap_or_default();
        let said = correction(&said, tool);
        let list = self.registry.known(&*known);
        let found = list.as_ref().and_then(|list| list.get(tool));
        match found {
            Some(tool) => Traits::declared(tool.members[ANNOTATIONS].as_ref().map(Json::as_str), said),
            // Its list is still to come: what it will say is not known yet.
            None => said.destroys.unwrap_or(list.is_none() || known.is_listing()),
        }
    }

    fn is_agreed(&self, asker: &Asker, source: &SourceId, tool: &str) -> bool {
        let until = self.agreed.borrow().get(&key(asker, source, tool)).copied();
        until.is_some_and(|until| boot_clock() < until)
    }

    /// Notes how the person has answered the question whether an AI client may make a call.
    pub async fn note_answer(&self, asker: &Asker, source: &SourceId, tool: &str, outcome: Outcome) {
        if outcome == Outcome::AllowedForAWhile {
            let now = boot_clock();
            let mut agreed = self.agreed.borrow_mut();
            agreed.retain(|_, until| now < *until);
            let while_ms = u64::try_from(A_WHILE.as_millis()).unwrap_or_default();
            agreed.insert(key(asker, source, tool), now.saturating_add(while_ms));
        }
        // The answer holds, whether it can be written down or not.
        let _ = self.note_consent(asker, Some(vec![format!("{source}/{tool}")]), outcome.word()).await;
    }

    /// Writes down how a person has answered a question of an origin. It gives nobody anything, so it is told of also while the log
    /// cannot be written.
    ///
    /// # Errors
    /// When it cannot be written and has to be.
    pub async fn note_consent(
        &self,
        asker: &Asker,
        tools: Option<Vec<String>>,
        outcome: &'static str,
    ) -> Result<(), ErrorBody> {
        let record = Record {
            origin: Some(asker.origin.shared()),
            profile: Some(asker.profile.clone()),
            tab_id: asker.tab.as_ref().map(|tab| tab.tab),
            asked_tools: tools.map(Into::into),
            decision: if outcome == "allowed" { "allowed" } else { "denied" },
            outcome: Some(outcome),
            ..Record::default()
        };
        self.trail.decided("consent", &asker.sender, record, false).await
    }
}

fn key(asker: &Asker, source: &SourceId, tool: &str) -> (String, String) {
    (asker.origin.to_string(), format!("{source}/{tool}"))
}
