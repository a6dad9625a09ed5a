//! Sessions of origins: several runs can share one.
//!
//! ```text
//!  session_create ─► OwnedSession ─ run_start, with its id ─► its conversation, its tools, what is left of its calls
//!                        └─ its time, its tab, its client, or session_end ─► gone
//! ```
//!
//! Owns which origin each belongs to, and what is left of their limits. Must never be written down, nor let an origin see
//! that another one has sessions.

use std::cell::Cell;
use std::rc::Rc;

use harbor_home::clock::{boot_clock, wall_clock};
use harbor_home::instance::random_token;
use harbor_ipc_proto::client::SessionSummary;
use harbor_ipc_proto::client::envelope::ErrorBody;
use harbor_ipc_proto::codes::Code;

use super::Agent;
use super::mode::SessionMode;
use super::owned_session::{OwnedSession, SessionOwner, SessionTerms};
use super::refusals::internal;
use super::session::{Session, SessionHead};
use crate::config::Feature;
use crate::host::asker::Asker;
use crate::host::invalid;

/// The most sessions of one origin, and of all together.
const MOST_OF_ORIGIN: usize = 16;
const MOST: usize = 1024;

/// How long a session lasts by default, and at most, in minutes.
const MINUTES: u32 = 60;
const MOST_MINUTES: u32 = 1440;

impl Agent {
    /// Begins a session of an origin. `named` is true if its connection belongs to a browser session with a
    /// name, which may come back.
    ///
    /// # Errors
    /// Why there is none.
    pub async fn create_owned(
        &self,
        asker: &Asker,
        named: bool,
        wish: SessionTerms,
    ) -> Result<SessionSummary, ErrorBody> {
        self.host.offers(asker, Feature::AgentRuns)?;
        self.may_have(asker, &wish).await?;
        self.end_stale();
        let owner = SessionOwner::of(asker);
        {
            let all = self.owned.0.borrow();
            let of_origin = all.values().filter(|owned| owned.owner.origin == owner.origin).count();
            if of_origin >= MOST_OF_ORIGIN || all.len() >= MOST {
                return Err(ErrorBody::new(
                    Code::RateLimited,
                    "too many sessions are open; end some of them",
                ));
            }
        }
        let id = random_token().map_err(|error| internal(&error))?;
        let head = SessionHead {
            model: wish.model.clone(),
            system: wish.system.clone(),
            ..SessionHead::new(SessionMode::Ask, true)
        };
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

    /// Checks the scope for each capability.
    async fn may_have(&self, asker: &Asker, wish: &SessionTerms) -> Result<(), ErrorBody> {
        if !wish.llm && wish.tools.is_empty() {
            return Err(invalid("llm", "true, or some `tools`: a session needs at least one capability"));
        }
        self.host.model_permit(asker, !wish.tools.is_empty()).await?;
        self.host.may_choose_model(asker, wish.provider.as_ref(), wish.model.as_ref()).await?;
        self.host.usable_by(asker, Some(&wish.tools)).map(drop)
    }

    /// A session of an origin.
    ///
    /// # Errors
    /// When it has none with this id.
    pub(super) fn owned(&self, asker: &Asker, id: &str) -> Result<Rc<OwnedSession>, ErrorBody> {
        self.end_stale();
        let found =
            self.owned.0.borrow().get(id).filter(|owned| owned.owner == SessionOwner::of(asker)).cloned();
        found.ok_or_else(|| ErrorBody::new(Code::NotFound, "there is no such session; it may have ended"))
    }

    /// The view of a session for its origin.
    ///
    /// # Errors
    /// When it has none with this id.
    pub fn owned_view(&self, asker: &Asker, id: &str) -> Result<SessionSummary, ErrorBody> {
        Ok(self.owned(asker, id)?.view("active"))
    }

    /// An origin's sessions, the oldest first.
    #[must_use]
    pub fn owned_views(&self, asker: &Asker) -> Vec<SessionSummary> {
        self.end_stale();
        let owner = SessionOwner::of(asker);
        let all = self.owned.0.borrow();
        let mut own: Vec<_> = all.values().filter(|owned| owned.owner == owner).collect();
        own.sort_by_key(|owned| (owned.created, owned.session.id.clone()));
        own.into_iter().map(|owned| owned.view("active")).collect()
    }

    /// Ends an origin's session, with the run in it.
    ///
    /// # Errors
    /// When it has none with this id.
    pub fn end_owned(&self, asker: &Asker, id: &str) -> Result<SessionSummary, ErrorBody> {
        let owned = self.owned(asker, id)?;
        self.owned.0.borrow_mut().remove(id);
        owned.session.end();
        self.host.consent.end_chat(id);
        Ok(owned.view("terminated"))
    }

    /// A tab was closed, in this browser; in any browser if none is named. Ends its sessions.
    pub fn end_tab(&self, tab: u64, browser: Option<&str>) {
        self.owned.end_where(|owned| {
            owned.owner.tab.as_ref().is_some_and(|own| own.tab == tab)
                && browser.is_none_or(|browser| &*owned.owner.browser == browser)
        });
    }

    /// A connection has gone that was a browser session by itself. Ends its sessions.
    pub fn end_connection(&self, browser: &str) {
        self.owned.end_where(|owned| &*owned.owner.browser == browser);
    }

    /// Ends the sessions whose time is over, or whose browser is gone.
    fn end_stale(&self) {
        let now = boot_clock();
        self.owned.end_where(|owned| {
            owned.ends <= now || owned.named && !self.host.knows_session(&owned.owner.browser)
        });
    }
}
