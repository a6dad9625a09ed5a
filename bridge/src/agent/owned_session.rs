//! A session of an origin: what was wanted, whose it is, and what is left of its limits.
//!
//! Must never say who may have one.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;

use harbor_home::clock::{boot_clock, wall_clock};
use harbor_ipc_proto::client::{SessionCapabilities, SessionSummary, SessionUsage};
use harbor_policy::grants::Tab;

use super::outcome::TurnOutcome;
use super::session::Session;
use crate::host::asker::Asker;

/// A session as an origin wants it.
#[derive(Debug, Default)]
pub struct SessionTerms {
    /// A name for people.
    pub name: Option<String>,
    /// True if it may ask a model.
    pub llm: bool,
    /// The provider.
    pub provider: Option<String>,
    /// The model.
    pub model: Option<String>,
    /// The tools of its runs.
    pub tools: Vec<String>,
    /// The model's instructions.
    pub system: Option<String>,
    /// The randomness of the answers.
    pub temperature: Option<f64>,
    /// Calls of all its runs together.
    pub max_tool_calls: Option<u32>,
    /// How long it lasts, in minutes.
    pub ttl_minutes: Option<u32>,
}

/// The owner of a session.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct SessionOwner {
    pub(super) browser: Arc<str>,
    pub(super) origin: Arc<str>,
    pub(super) profile: Arc<str>,
    pub(super) tab: Option<Tab>,
}

impl SessionOwner {
    pub(super) fn of(asker: &Asker) -> Self {
        Self {
            browser: asker.sender.session.clone(),
            origin: asker.origin.shared(),
            profile: asker.profile.clone(),
            tab: asker.tab.clone(),
        }
    }
}

/// A session of an origin.
#[derive(Debug)]
pub struct OwnedSession {
    /// The conversation.
    pub session: Rc<Session>,
    /// The session as it was wanted.
    pub wish: SessionTerms,
    pub(super) owner: SessionOwner,
    pub(super) named: bool,
    pub(super) created: u64,
    pub(super) active: Cell<u64>,
    pub(super) ends: u64,
    pub(super) prompts: Cell<u32>,
    pub(super) calls: Cell<u32>,
    pub(super) tokens: Cell<u64>,
}

impl OwnedSession {
    /// Calls that are left.
    #[must_use]
    pub fn left(&self) -> u32 {
        self.wish.max_tool_calls.map_or(u32::MAX, |most| most.saturating_sub(self.calls.get()))
    }

    /// A run has begun in it.
    pub fn began(&self) {
        self.active.set(wall_clock());
        self.prompts.set(self.prompts.get().saturating_add(1));
    }

    /// A run in it is over, after so many calls.
    pub fn ended(&self, calls: u32) {
        self.active.set(wall_clock());
        self.calls.set(self.calls.get().saturating_add(calls));
    }

    /// Counts the tokens that a run in it has used.
    pub fn took(&self, outcome: &TurnOutcome) {
        let usage = outcome.spent.view();
        let tokens = usage.input_tokens.saturating_add(usage.output_tokens);
        self.tokens.set(self.tokens.get().saturating_add(tokens));
    }

    pub(super) fn view(&self, status: &'static str) -> SessionSummary {
        SessionSummary {
            sessionId: self.session.id.clone(),
            r#type: "explicit".into(),
            origin: self.owner.origin.to_string(),
            status: status.into(),
            name: self.wish.name.clone(),
            createdAt: self.created,
            lastActiveAt: self.active.get(),
            expiresAt: wall_clock().saturating_add(self.ends.saturating_sub(boot_clock())),
            capabilities: SessionCapabilities {
                hasLLM: self.wish.llm,
                toolCount: u32::try_from(self.wish.tools.len()).unwrap_or(u32::MAX),
                hasBrowserAccess: false,
            },
            maxToolCalls: self.wish.max_tool_calls,
            usage: SessionUsage {
                promptCount: self.prompts.get(),
                toolCallCount: self.calls.get(),
                tokensUsed: self.tokens.get(),
            },
        }
    }
}

/// The sessions of all origins.
#[derive(Debug, Default)]
pub(super) struct OwnedSessions(pub(super) RefCell<BTreeMap<String, Rc<OwnedSession>>>);

impl OwnedSessions {
    /// Ends the sessions for which `is_over` is true.
    pub(super) fn end_where(&self, is_over: impl Fn(&OwnedSession) -> bool) {
        self.0.borrow_mut().retain(|_, owned| {
            let is_over = is_over(owned);
            if is_over {
                owned.session.end();
            }
            !is_over
        });
    }
}
