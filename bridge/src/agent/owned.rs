//! Sessions of origins: what several runs share.
//!
//! ```text
//!  session_create ─► OwnedSession ─ run_start, with its id ─► its conversation, its tools, what is left of its calls
//!                        └─ its time, its tab, its client, or session_end ─► gone
//! ```
//!
//! Owns whose they are and what is left of their limits. Must never be written down, nor let an origin see that another one has sessions.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;

use harbor_home::clock::{boot_clock, wall_clock};
use harbor_home::instance::random_token;
use harbor_ipc_proto::client::envelope::ErrorBody;
use harbor_ipc_proto::client::{SessionCapabilities, SessionSummary, SessionUsage};
use harbor_ipc_proto::codes::Code;
use harbor_policy::grants::Tab;

use super::mode::Mode;
use super::session::{Head, Session};
use super::{Agent, Outcome, internal};
use crate::config::Feature;
use crate::host::asker::Asker;
use crate::host::invalid;

/// Sessions that one origin may have, and all of them.
const MOST_OF_ORIGIN: usize = 16;
const MOST: usize = 1024;

/// How long one lasts that does not say, and at most, in minutes.
const MINUTES: u32 = 60;
const MOST_MINUTES: u32 = 1440;

/// What an origin wants of a session.
#[derive(Debug, Default)]
pub struct Wish {
    /// A name for people.
    pub name: Option<String>,
    /// Whether it may ask a model.
    pub llm: bool,
    /// Which provider.
    pub provider: Option<String>,
    /// Which model.
    pub model: Option<String>,
    /// The tools of its runs.
    pub tools: Vec<String>,
    /// What the model is told of its task.
    pub system: Option<String>,
    /// How much chance there is in the answers.
    pub temperature: Option<f64>,
    /// Calls of all its runs together.
    pub max_tool_calls: Option<u32>,
    /// How long it lasts.
    pub ttl_minutes: Option<u32>,
}

/// Whose a session is.
#[derive(Debug, PartialEq, Eq)]
struct Owner {
    browser: Arc<str>,
    origin: Arc<str>,
    profile: Arc<str>,
    tab: Option<Tab>,
}

impl Owner {
    fn of(asker: &Asker) -> Self {
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
    /// What was said in it.
    pub session: Rc<Session>,
    /// What was wanted of it.
    pub wish: Wish,
    owner: Owner,
    named: bool,
    created: u64,
    active: Cell<u64>,
    ends: u64,
    prompts: Cell<u32>,
    calls: Cell<u32>,
    tokens: Cell<u64>,
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

    /// A run in it is over that has made so many calls.
    pub fn ended(&self, calls: u32) {
        self.active.set(wall_clock());
        self.calls.set(self.calls.get().saturating_add(calls));
    }

    /// What a run in it has taken.
    pub fn took(&self, outcome: &Outcome) {
        let usage = outcome.spent.view();
        let tokens = usage.input_tokens.saturating_add(usage.output_tokens);
        self.tokens.set(self.tokens.get().saturating_add(tokens));
    }

    fn view(&self, status: &'static str) -> SessionSummary {
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
pub(super) struct OwnedSessions(RefCell<BTreeMap<String, Rc<OwnedSession>>>);

impl OwnedSessions {
    /// Ends those that `is_over` says.
    fn end_where(&self, is_over: impl Fn(&OwnedSession) -> bool) {
        self.0.borrow_mut().retain(|_, owned| {
            let is_over = is_over(owned);
            if is_over {
                owned.session.end();
            }
            !is_over
        });
    }
}

impl Agent {
    /// Begins a session of an origin; `named` says whether its connection belongs to a browser session with a name, which may come back.
    ///
    /// # Errors
    /// Why there is none.
    pub async fn create_owned(
        &self,
        asker: &Asker,
        named: bool,
        wish: Wish,
    ) -> Result<SessionSummary, ErrorBody> {
        self.host.offers(asker, Feature::AgentRuns)?;
        self.may_have(asker, &wish).await?;
        self.end_stale();
        let owner = Owner::of(asker);
        {
            let all = self.owned.0.borrow();
            let of_origin = all.values().filter(|owned| owned.owner.origin == owner.origin).count();
            if of_origin >= MOST_OF_ORIGIN || all.len() >= MOST {
                return Err(ErrorBody::new(Code::RateLimited, "too many sessions are open; end some"));
            }
        }
        let id = random_token().map_err(|error| internal(&error))?;
        let head =
            Head { model: wish.model.clone(), system: wish.system.clone(), ..Head::new(Mode::Ask, true) };
        let minutes = wish.ttl_minutes.unwrap_or(MINUTES).clamp(1, MOST_MINUTES);
        let now = wall_clock();
        let owned = OwnedSession {
            session: Session::new(id.clone(), head, Vec::new()),
            wish,
            owner,
            named,
            created: now,
            active: Cell::new(now),
            ends: boot_clock().saturating_add(u64::from(minutes) * 60_000),
            prompts: Cell::default(),
            calls: Cell::default(),
            tokens: Cell::default(),
        };
        let view = owned.view("active");
        self.owned.0.borrow_mut().insert(id, Rc::new(owned));
        Ok(view)
    }

    /// Each capability needs its scope.
    async fn may_have(&self, asker: &Asker, wish: &Wish) -> Result<(), ErrorBody> {
        if !wish.llm && wish.tools.is_empty() {
            return Err(invalid(
                "llm",
                "true, or some `tools`: a session without any capability is of no use",
            ));
        }
        self.host.model_permit(asker, !wish.tools.is_empty()).await?;
        self.host.may_choose_model(asker, wish.provider.as_ref(), wish.model.as_ref()).await?;
        self.host.usable_by(asker, Some(&wish.tools)).map(drop)
    }

    /// A session of an origin.
    ///
    /// # Errors
    /// When it has none of this id.
    pub(super) fn owned(&self, asker: &Asker, id: &str) -> Result<Rc<OwnedSession>, ErrorBody> {
        self.end_stale();
        let found = self.owned.0.borrow().get(id).filter(|owned| owned.owner == Owner::of(asker)).cloned();
        found.ok_or_else(|| ErrorBody::new(Code::NotFound, "there is no such session; it may have ended"))
    }

    /// What an origin may know of its session.
    ///
    /// # Errors
    /// When it has none of this id.
    pub fn owned_view(&self, asker: &Asker, id: &str) -> Result<SessionSummary, ErrorBody> {
        Ok(self.owned(asker, id)?.view("active"))
    }

    /// An origin's sessions, the oldest first.
    #[must_use]
    pub fn owned_views(&self, asker: &Asker) -> Vec<SessionSummary> {
        self.end_stale();
        let owner = Owner::of(asker);
        let all = self.owned.0.borrow();
        let mut own: Vec<_> = all.values().filter(|owned| owned.owner == owner).collect();
        own.sort_by_key(|owned| (owned.created, owned.session.id.clone()));
        own.into_iter().map(|owned| owned.view("active")).collect()
    }

    /// Ends an origin's session, with the run in it.
    ///
    /// # Errors
    /// When it has none of this id.
    pub fn end_owned(&self, asker: &Asker, id: &str) -> Result<SessionSummary, ErrorBody> {
        let owned = self.owned(asker, id)?;
        self.owned.0.borrow_mut().remove(id);
        owned.session.end();
        self.host.consent.end_chat(id);
        Ok(owned.view("terminated"))
    }

    /// A tab was closed; of all browsers where none is named.
    pub fn end_tab(&self, tab: u64, browser: Option<&str>) {
        self.owned.end_where(|owned| {
            owned.owner.tab.as_ref().is_some_and(|own| own.tab == tab)
                && browser.is_none_or(|browser| &*owned.owner.browser == browser)
        });
    }

    /// A connection has gone that was a browser session by itself.
    pub fn end_connection(&self, browser: &str) {
        self.owned.end_where(|owned| &*owned.owner.browser == browser);
    }

    /// Ends those whose time is over, or whose browser is gone.
    fn end_stale(&self) {
        let now = boot_clock();
        self.owned.end_where(|owned| {
            owned.ends <= now || owned.named && !self.host.knows_session(&owned.owner.browser)
        });
    }
}
