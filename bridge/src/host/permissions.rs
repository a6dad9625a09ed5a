//! The grants of origins: performs what `policy::grants` decides, on disk, in the audit log, and for those who watch.
//!
//! ```text
//!  grant ──────────► audit log ─► harbor.db (what lasts) ─► Grants ─► watchers ─► reply
//!  DENY, revoke ───► Grants ─► calls that run on it end ─► audit log ─► harbor.db ─► watchers ─► reply
//!  check, permit ─► Grants                    time, tab, session ─► Grants ─► watchers
//! ```
//!
//! Owns the one table of grants and its clock, which goes on while the machine sleeps. What is allowed and lasts is on disk
//! before it holds; what is taken away holds before (`settling`). What cannot be read there counts as a DENY.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::rc::{Rc, Weak};
use std::sync::Arc;
use std::time::Duration;

use harbor_home::clock::{boot_clock, wall_clock};
use harbor_ipc_proto::client::GrantView;
use harbor_ipc_proto::client::envelope::ErrorBody;
use harbor_ipc_proto::codes::Code;
use harbor_ipc_proto::source_id::{SourceId, SourceKind};
use harbor_policy::access::{ModelPermit, Right};
use harbor_policy::grants::{
    Grant, GrantType, Grants, InvalidGrantReason, Key, NewGrant, Tab, Verdict, View,
};
use harbor_policy::origin::Origin;
use harbor_policy::scope::Scope;
use tokio::sync::Notify;

use super::asker::{Asker, Sender};
use super::audit_trail::AuditTrail;
use super::grant_forms::{about, of, record_of, restore, stored, view};
use super::news::{HostEvent, Listeners};
use super::origin_refusals::refused;
use super::running::OriginCalls;
use super::suspended::Suspended;
use super::unstored_grants::UnstoredGrants;
use crate::config::LiveConfig;
use crate::store::StoreError;
use crate::store::audit::AuditRecord;
use crate::store::grants::GrantFile;

/// How long the grants of a browser session outlive its last connection: the extension may be about to come back.
const SESSION_GRACE: Duration = Duration::from_secs(60);

/// Timers stand still while the machine sleeps. After it has woken up, expired grants are told of within this time.
const LOOK_AGAIN: Duration = Duration::from_secs(30);

/// The grants.
#[derive(Debug)]
pub struct Permissions {
    pub(super) grants: RefCell<Grants>,
    pub(super) file: GrantFile,
    pub(super) trail: Rc<AuditTrail>,
    listeners: Rc<Listeners>,
    /// Keys for which the disk has a row that cannot be read.
    pub(super) unread: RefCell<HashSet<Key>>,
    /// Keys for which the disk has other rows than this table.
    pub(super) unstored: UnstoredGrants,
    /// Calls that were sent.
    pub(super) calls: Rc<OriginCalls>,
    /// Servers that are not the program that was allowed.
    suspended: Rc<Suspended>,
    /// Says how long an ALLOW_ONCE lasts that names no time.
    config: Rc<LiveConfig>,
    /// Connections per browser session.
    sessions: RefCell<HashMap<Arc<str>, BrowserSession>>,
    /// Set off when the next expiry may have changed.
    changed: Notify,
}

/// A browser session that has a name.
#[derive(Debug, Default)]
struct BrowserSession {
    connections: u32,
    /// How many connections have left so far. A timer compares it to see whether its connection was the last.
    departures: u64,
}

/// A grant to be made.
#[derive(Debug)]
pub struct RequestedGrant {
    /// The key that the grant is for.
    pub key: Key,
    /// The grant, and where it holds.
    pub grant: NewGrant,
    /// When it ends, in milliseconds since 1970.
    pub expires_at: Option<u64>,
}

/// A grant that was made.
#[derive(Debug)]
pub struct Granted {
    /// The grant.
    pub grant: GrantView,
    /// True if a DENY stands in its way.
    pub denied: bool,
    /// How many calls it has ended.
    pub ended: u32,
    /// True if the disk refuses it, and it holds all the same.
    pub unstored: bool,
}

/// Grants that were taken back.
#[derive(Debug, Default)]
pub struct Revoked {
    /// True if there were any.
    pub revoked: bool,
    /// How many calls ran on them, and were ended.
    pub ended: u32,
    /// True if the disk refuses it, and it holds all the same.
    pub unstored: bool,
}

impl Permissions {
    /// Opens the grants that are on disk. The caller must keep retrying the grants that the disk refuses (`settling`).
    ///
    /// # Errors
    /// When they cannot be read at all.
    pub async fn open(
        file: GrantFile,
        suspended: Rc<Suspended>,
        trail: Rc<AuditTrail>,
        listeners: Rc<Listeners>,
        config: Rc<LiveConfig>,
    ) -> Result<Rc<Self>, StoreError> {
        let (mut grants, mut unread) = (Grants::default(), HashSet::new());
        for row in file.all().await? {
            unread.extend(restore(&mut grants, row));
        }
        let permissions = Rc::new(Self {
            grants: RefCell::new(grants),
            file,
            trail,
            listeners,
            unread: RefCell::new(unread),
            unstored: UnstoredGrants::default(),
            calls: Rc::default(),
            suspended,
            config,
            sessions: RefCell::default(),
            changed: Notify::new(),
        });
        tokio::task::spawn_local(watch_ends(Rc::downgrade(&permissions)));
        Ok(permissions)
    }

    /// Makes a grant. A DENY holds at once. Running calls end if it denies them, or if no grant covers them
    /// any more.
    ///
    /// # Errors
    /// When there is no such grant, it has ended already, or the disk refuses a permission.
    pub async fn grant(&self, sender: &Sender, wish: RequestedGrant) -> Result<Granted, ErrorBody> {
        let RequestedGrant { key, mut grant, expires_at } = wish;
        // It counts from here on, however long the disk takes: a grant with a requested end ends
        // at that time.
        let (created_at, now) = (wall_clock(), boot_clock());
        if grant.grant_type == GrantType::AllowOnce {
            grant.lifetime_ms = Some(match expires_at {
                None => u64::try_from(self.config.now().once.as_millis()).unwrap_or(u64::MAX),
                Some(at) => at.checked_sub(created_at).filter(|left| *left > 0).ok_or_else(ended_already)?,
            });
        }
        grant.check().map_err(|wrong| wrong_grant(&wrong))?;
        let record = record_of(&key, &grant, created_at);
        if grant.grant_type == GrantType::Deny {
            return self.deny(sender, key, grant, record, (created_at, now)).await;
        }
        self.trail.decided("grant", sender, record, true).await?;
        let made = match grant.grant_type {
            GrantType::AllowOnce => self.put(&key, grant, created_at, now)?,
            _ => self.store(&key, grant, created_at, now).await?,
        };
        // It may have replaced a grant that covered more.
        let ended = self.end_calls(&key);
        self.changed.notify_one();
        self.tell("granted", &key, &made);
        let denied = self.grants.borrow_mut().check(&key, None, None, boot_clock()) == Verdict::Denied;
        Ok(Granted { grant: view(&key, &made), denied, ended, unstored: false })
    }

    async fn deny(
        &self,
        sender: &Sender,
        key: Key,
        grant: NewGrant,
        record: AuditRecord,
        (created_at, now): (u64, u64),
    ) -> Result<Granted, ErrorBody> {
        let made = self.put(&key, grant, created_at, now)?;
        let ended = self.end_calls(&key);
        self.trail.decided("grant", sender, record, false).await?;
        let unstored = !self.settle(std::slice::from_ref(&key)).await;
        self.tell("granted", &key, &made);
        Ok(Granted { grant: view(&key, &made), denied: true, ended, unstored })
    }

    /// Stores a lasting permission: it is on disk before it holds.
    async fn store(&self, key: &Key, grant: NewGrant, created_at: u64, now: u64) -> Result<Grant, ErrorBody> {
        let _writing = self.unstored.writing.lock().await;
        if let Err(error) = self.file.put(stored(key, &grant, created_at)).await {
            tracing::error!(%error, "a grant could not be stored");
            self.trail.noted("not_stored", about(key));
            return Err(ErrorBody::new(Code::Internal, format!("{error}; nothing was changed")));
        }
        self.unstored.try_again();
        self.put(key, grant, created_at, now)
    }

    fn put(&self, key: &Key, grant: NewGrant, created_at: u64, now: u64) -> Result<Grant, ErrorBody> {
        let made = self.grants.borrow_mut().put(key.clone(), grant, created_at, now);
        made.map_err(|wrong| wrong_grant(&wrong))
    }

    /// Takes grants back, of one type or all, of one tab or all. That holds at once if no DENY is among them.
    /// The calls that ran on them end.
    ///
    /// # Errors
    /// When a DENY would go, and that cannot be written down.
    pub async fn revoke(
        &self,
        sender: &Sender,
        key: &Key,
        grant_type: Option<GrantType>,
        tab: Option<&Tab>,
    ) -> Result<Revoked, ErrorBody> {
        // A row that cannot be read is a DENY of no type: it goes only together with all rows of
        // its key.
        let may_be_deny = tab.is_none() && grant_type.is_none_or(|revoked| revoked == GrantType::Deny);
        let unread = may_be_deny && self.unread.borrow().contains(key);
        let grant_type = grant_type.filter(|_| !unread);
        if !unread && !self.grants.borrow().has(key, grant_type, tab) {
            return Ok(Revoked::default());
        }
        let allows = may_be_deny && self.grants.borrow().has(key, Some(GrantType::Deny), None);
        let take = || self.grants.borrow_mut().revoke(key, grant_type, tab);
        let mut gone = if allows { Vec::new() } else { take() };
        let mut ended = self.end_calls(key);
        let record = AuditRecord {
            grant_type: grant_type.map(GrantType::as_str),
            tab_id: tab.map(|tab| tab.tab),
            ..about(key)
        };
        self.trail.decided("revoke", sender, record, allows).await?;
        gone.extend(take());
        ended += self.end_calls(key);
        let lasted = unread || gone.iter().any(|grant| grant.grant_type != GrantType::AllowOnce);
        let unstored = lasted && !self.settle(std::slice::from_ref(key)).await;
        gone.iter().for_each(|grant| self.tell("revoked", key, grant));
        Ok(Revoked { revoked: !gone.is_empty(), ended, unstored })
    }

    /// Forgets a source that is gone: the parts of grants about its tools end. Returns those parts.
    pub async fn forget_source(&self, sender: &Sender, source: &SourceId) -> Vec<GrantView> {
        let ended = self.grants.borrow_mut().forget_source(source);
        let mut keys = Vec::new();
        let mut told = Vec::new();
        for (key, before, left) in ended {
            let of_source = |tool: &String| tool.split_once('/').is_some_and(|(id, _)| id == source.as_str());
            let mut gone = view(&key, &before);
            gone.allowed_tools.iter_mut().for_each(|tools| tools.retain(of_source));
            let allowed_tools = gone.allowed_tools.clone().map(Into::into);
            let record =
                AuditRecord { allowed_tools, server: Some(source.shared()), ..of(&key, before.grant_type) };
            // Allowing less is always possible.
            let _ = self.trail.decided("revoke", sender, record, false).await;
            match &left {
                Some(left) => self.tell("granted", &key, left),
                None => self.tell("revoked", &key, &before),
            }
            told.push(gone);
            keys.extend(Some(key).filter(|_| before.grant_type != GrantType::AllowOnce));
        }
        if !keys.is_empty() {
            self.settle(&keys).await;
        }
        told
    }

    /// Ends the calls of a key that nothing covers any more.
    fn end_calls(&self, key: &Key) -> u32 {
        let mut grants = self.grants.borrow_mut();
        let now = boot_clock();
        self.calls.end(key, |asker, tool| grants.check(key, asker.tab.as_ref(), Some(tool), now))
    }

    /// Counts the calls that run on each grant.
    fn count_running(&self, views: &mut [(Key, Option<Tab>, GrantView)]) {
        let mut grants = self.grants.borrow_mut();
        let now = boot_clock();
        let running = self.calls.grants(|asker, tool| {
            let key = key(asker, Scope::McpToolsCall);
            grants.check(&key, asker.tab.as_ref(), Some(tool), now)
        });
        for (key, grant) in running {
            let is_it = |(of, tab, view): &&mut (Key, Option<Tab>, GrantView)| {
                *of == key && *tab == grant.tab && *view.grant_type == *grant.grant_type.as_str()
            };
            if let Some((_, _, view)) = views.iter_mut().find(is_it) {
                view.running = Some(view.running.unwrap_or_default() + 1);
            }
        }
    }

    /// True if a grant names a tool of this source.
    #[must_use]
    pub fn name(&self, source: &SourceId) -> bool {
        self.grants.borrow().name(source)
    }

    /// Checks if an origin may do something with a scope, and with a tool, if one is named.
    ///
    /// # Errors
    /// Why not, in the words that a call would get.
    pub fn check(
        &self,
        asker: &Asker,
        scope: Scope,
        tool: Option<(&SourceId, &str)>,
    ) -> Result<GrantType, ErrorBody> {
        let key = key(asker, scope);
        match self.grants.borrow_mut().check(&key, asker.tab.as_ref(), tool, boot_clock()) {
            Verdict::Granted(grant) => {
                tool.map_or(Ok(()), |(source, _)| self.suspended.admit(source)).map(|()| grant.grant_type)
            }
            verdict => {
                let error = refused(asker, scope, &verdict);
                // The grants for servers do not cover it: the next step
                // names it.
                match tool.filter(|(source, _)| source.kind() != SourceKind::Server) {
                    Some((source, _)) => Err(error.with("source_id", source.as_str())),
                    None => Err(error),
                }
            }
        }
    }

    /// The right of an origin to call a tool at this instant.
    ///
    /// # Errors
    /// Why it has none.
    pub fn right(&self, asker: &Asker, tool: (&SourceId, &str)) -> Result<Right, ErrorBody> {
        let Asker { origin, profile, tab, .. } = asker;
        let right = self.grants.borrow_mut().right(origin, profile, tab.as_ref(), tool, boot_clock());
        let right = right.map_err(|verdict| refused(asker, Scope::McpToolsCall, &verdict))?;
        self.suspended.admit(tool.0).map(|()| right)
    }

    /// Proof that an origin may put a prompt to a model at this instant, with tools if `tools`.
    ///
    /// # Errors
    /// Why it may not.
    pub fn model_permit(&self, asker: &Asker, tools: bool) -> Result<ModelPermit, ErrorBody> {
        let Asker { origin, profile, tab, .. } = asker;
        let permit =
            self.grants.borrow_mut().model_permit(origin, profile, tab.as_ref(), tools, boot_clock());
        permit.map_err(|(scope, verdict)| refused(asker, scope, &verdict))
    }

    /// The view of an origin's grants in its tab, to check many tools at once.
    pub fn view(&self, asker: &Asker, scope: Scope) -> View {
        self.grants.borrow_mut().view(&key(asker, scope), asker.tab.as_ref(), boot_clock())
    }

    /// The view of an origin's grants in any of its tabs.
    pub fn view_of_all_tabs(&self, asker: &Asker, scope: Scope) -> View {
        self.grants.borrow_mut().view_of_all_tabs(&key(asker, scope), boot_clock())
    }

    /// Lists the grants of an origin, or of all; of one profile, if it is given. With a tab, grants bound to
    /// other tabs are left out.
    #[must_use]
    pub fn list(
        &self,
        origin: Option<&Origin>,
        profile: Option<&Arc<str>>,
        tab: Option<&Tab>,
    ) -> Vec<GrantView> {
        self.look();
        let grants = self.grants.borrow();
        let meant = |(key, grant): &(&Key, &Grant)| {
            (tab.is_none() || grant.tab.is_none() || grant.tab.as_ref() == tab)
                && profile.is_none_or(|wanted| *wanted == key.profile)
        };
        let shown = |(key, grant): (&Key, &Grant)| {
            let lasts = grant.grant_type != GrantType::AllowOnce;
            let unstored = (lasts && self.unstored.has(key)).then_some(true);
            (key.clone(), grant.tab.clone(), GrantView { unstored, ..view(key, grant) })
        };
        let mut views: Vec<_> = match origin {
            Some(origin) => grants.of(origin, None).filter(meant).map(shown).collect(),
            None => grants.all().filter(meant).map(shown).collect(),
        };
        drop(grants);
        self.count_running(&mut views);
        views.into_iter().map(|(_, _, view)| view).collect()
    }

    /// True if an origin has any grant.
    #[must_use]
    pub fn knows(&self, origin: &str) -> bool {
        self.grants.borrow().knows(origin)
    }

    /// How many grants there are.
    #[must_use]
    pub fn count(&self) -> usize {
        self.grants.borrow().len()
    }

    /// Ends the grants that are bound to a closed tab. Returns their number.
    pub fn end_tab(&self, tab: u64, session: Option<&str>, profile: Option<&Arc<str>>) -> usize {
        let gone = self.grants.borrow_mut().end_tab(tab, session, profile.map(|name| &**name));
        self.tell_ended(&gone);
        gone.len()
    }

    /// Notes one more connection of a browser session.
    pub fn join(&self, session: &Arc<str>) {
        self.sessions.borrow_mut().entry(session.clone()).or_default().connections += 1;
    }

    /// Handles the end of a connection. With the last one its session ends; a session with a name ends a little later.
    pub fn part(self: &Rc<Self>, session: &Arc<str>, named: bool) {
        if !named {
            return self.end_session(session);
        }
        let mut sessions = self.sessions.borrow_mut();
        let Some(known) = sessions.get_mut(session) else { return };
        known.connections = known.connections.saturating_sub(1);
        known.departures += 1;
        let departure = known.departures;
        drop(sessions);
        let (permissions, session) = (Rc::downgrade(self), session.clone());
        tokio::task::spawn_local(async move {
            tokio::time::sleep(SESSION_GRACE).await;
            let Some(permissions) = permissions.upgrade() else { return };
            let is_over = |known: &BrowserSession| known.connections == 0 && known.departures == departure;
            if permissions.sessions.borrow().get(&session).is_some_and(is_over) {
                permissions.sessions.borrow_mut().remove(&session);
                permissions.end_session(&session);
            }
        });
    }

    /// True if this session of a browser exists. A session that has just gone counts a little longer.
    pub fn knows_session(&self, session: &str) -> bool {
        self.sessions.borrow().contains_key(session)
    }

    /// Ends the grants that are bound to the tabs of a session.
    pub fn end_session(&self, session: &str) {
        let gone = self.grants.borrow_mut().end_session(session);
        self.tell_ended(&gone);
    }

    /// Removes expired grants, and tells of them.
    fn look(&self) {
        let gone = self.grants.borrow_mut().expire(boot_clock());
        self.tell_ended(&gone);
    }

    fn tell_ended(&self, gone: &[(Key, Grant)]) {
        gone.iter().for_each(|(key, grant)| self.tell("expired", key, grant));
    }

    fn tell(&self, change: &'static str, key: &Key, grant: &Grant) {
        if change == "expired" {
            self.trail.noted("expire", of(key, grant.grant_type));
        }
        self.listeners.tell(&HostEvent::Grant { change, origin: &key.origin, grant: view(key, grant) });
    }
}

/// Tells of grants when they expire.
async fn watch_ends(permissions: Weak<Permissions>) {
    while let Some(permissions) = permissions.upgrade() {
        permissions.look();
        let next = permissions.grants.borrow().next_deadline();
        let wait = next.map(|at| Duration::from_millis(at.saturating_sub(boot_clock())).min(LOOK_AGAIN));
        let changed = permissions.changed.notified();
        match wait {
            None => changed.await,
            Some(wait) => drop(tokio::time::timeout(wait, changed).await),
        }
    }
}

fn key(asker: &Asker, scope: Scope) -> Key {
    Key { origin: asker.origin.clone(), profile: asker.profile.clone(), scope }
}

fn ended_already() -> ErrorBody {
    super::invalid("expires_at", "a time in the future, in milliseconds since 1970")
}

fn wrong_grant(wrong: &InvalidGrantReason) -> ErrorBody {
    ErrorBody::new(Code::InvalidParams, wrong.to_string()).with("field", "grant_type")
}
