//! Every grant of one bridge, and the verdicts that follow from them.
//!
//! ```text
//!  key: origin + profile + scope ─► its grants, in the order in which they are looked at
//!
//!     DENY             at most one     until it is revoked        there: Denied, whatever else there is
//!     ALLOW_ALWAYS     at most one     until it is revoked        ┐ one of them covers the tool: Granted
//!     ALLOW_ONCE       one per tab,    until its deadline, the    │ none does: ToolNotAllowed
//!                      one for all     end of its tab or session, ┘ none is there for this tab: ScopeRequired
//!                                      or a revoke
//!
//!  put ──► kept ──► revoke, end_tab, end_session ──► returned to whoever asked
//!             └───► deadline passed, too many ─────► returned by the next `expire`
//! ```
//!
//! A DENY wins until it is revoked, whatever is granted before or after it. A grant ends at its deadline to
//! the millisecond. Time is an argument, in milliseconds of a clock that runs while the machine sleeps and
//! does not jump. Wall-clock times are carried for people to read, and must never decide anything. Grants
//! that last belong on disk, but others write them there: this module neither reads nor writes files.

use std::collections::{BTreeSet, HashMap};
use std::mem;
use std::ops::Range;
use std::sync::Arc;

use harbor_ipc_proto::source_id::{SourceId, SourceKind};

use crate::access::{self, ModelPermit, Right};
use crate::lifecycle::Millis;
use crate::origin::Origin;
use crate::scope::Scope;
use crate::tool_name::{Allowlist, Tools};

mod grant;

pub use grant::{
    DEFAULT_PROFILE, Grant, GrantType, InvalidGrantReason, Key, MAX_PROFILE, NewGrant, Tab, profile,
};

/// How many ALLOW_ONCE one key may have: one per tab, and a browser may have hundreds of tabs of one site.
pub const MAX_ONCE: usize = 256;

/// The result of a check.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// Yes, by this grant.
    Granted(Grant),
    /// No, by a DENY.
    Denied,
    /// There are grants, and none of them covers the tool.
    ToolNotAllowed,
    /// There is no grant.
    ScopeRequired {
        /// True if a grant has just ended. It only changes the words: once `expire` has told of the end, it is forgotten.
        expired: bool,
    },
}

/// The tools that one tab of an origin may call at one instant. It serves checks of many tools.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct View {
    denied: bool,
    /// True if the origin is an AI client.
    is_client: bool,
    /// The list of each grant. None if there is a DENY.
    lists: Vec<Option<Allowlist>>,
}

impl View {
    /// True if there is a DENY.
    #[must_use]
    pub fn denied(&self) -> bool {
        self.denied
    }

    /// True if there is a grant, even one for no tool at all.
    #[must_use]
    pub fn any(&self) -> bool {
        !self.lists.is_empty()
    }

    /// The view of the tools of one source.
    #[must_use]
    pub fn of_source(&self, source: &SourceId) -> SourceView<'_> {
        let kind = source.kind();
        let lists = self.lists.iter().flatten().filter(|_| is_reachable(self.is_client, kind));
        SourceView {
            all: kind == SourceKind::Server && self.lists.contains(&None),
            lists: lists.filter_map(|list| list.of_source(source)).collect(),
        }
    }
}

/// The tools of one source that one tab of an origin may call at one instant. It is looked up once, for any number of tools.
#[derive(Debug)]
pub struct SourceView<'a> {
    /// A grant covers every tool that servers have.
    all: bool,
    lists: Vec<&'a Tools>,
}

impl SourceView<'_> {
    /// True if a grant covers any tool.
    #[must_use]
    pub fn any(&self) -> bool {
        self.all || !self.lists.is_empty()
    }

    /// True if a grant covers this tool.
    #[must_use]
    pub fn covers(&self, tool: &str) -> bool {
        self.all || self.lists.iter().any(|list| list.has(tool))
    }
}

/// A grant that ends by itself, findable by its end.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Due {
    deadline: Millis,
    key: Key,
    tab: Option<Tab>,
}

impl Due {
    fn of(key: &Key, grant: &Grant) -> Option<Self> {
        let deadline = grant.deadline?;
        Some(Self { deadline, key: key.clone(), tab: grant.tab.clone() })
    }
}

/// All grants.
#[derive(Debug, Default)]
pub struct Grants {
    /// The grants by origin, since a hash is many times faster than an ordered walk through all origins. The
    /// grants of an origin are one block, sorted by key and [`Grant::place`]. Most origins have one or two,
    /// and a map for each would be several times their size. No block is empty.
    by_origin: HashMap<Origin, Vec<(Key, Grant)>>,
    /// Every grant with a deadline, and nothing else.
    due: BTreeSet<Due>,
    /// Grants that have ended by themselves, and were not reported yet.
    ended: Vec<(Key, Grant)>,
}

impl Grants {
    /// Makes a grant, and replaces an earlier one of its type (and tab) for this key. `wall_now` is in
    /// milliseconds since 1970. If more than [`MAX_ONCE`] have an end, the one that ends first makes room.
    ///
    /// # Errors
    /// When there can be no such grant.
    pub fn put(
        &mut self,
        key: Key,
        new: NewGrant,
        wall_now: u64,
        now: Millis,
    ) -> Result<Grant, InvalidGrantReason> {
        let grant = new.make(wall_now, now)?;
        self.sweep(now);
        self.take(&key, |old| old.place() == grant.place());
        if grant.deadline.is_some() {
            self.make_room(&key);
        }
        self.keep(key, grant.clone());
        Ok(grant)
    }

    /// The only way in.
    fn keep(&mut self, key: Key, grant: Grant) {
        self.due.extend(Due::of(&key, &grant));
        let kept = self.by_origin.entry(key.origin.clone()).or_insert_with(|| Vec::with_capacity(1));
        let at = kept.partition_point(|(of, old)| (of, old.place()) < (&key, grant.place()));
        kept.insert(at, (key, grant));
    }

    /// Puts back a grant that the disk had. `created_at` is in milliseconds since 1970.
    ///
    /// # Errors
    /// When a disk can hold no such grant.
    pub fn restore(&mut self, key: Key, kept: NewGrant, created_at: u64) -> Result<(), InvalidGrantReason> {
        if kept.grant_type == GrantType::AllowOnce {
            return Err(InvalidGrantReason::Outlived);
        }
        self.put(key, kept, created_at, 0).map(drop)
    }

    /// Takes grants of the key away, and returns them: of this type or of all, for this tab or for all.
    pub fn revoke(&mut self, key: &Key, grant_type: Option<GrantType>, tab: Option<&Tab>) -> Vec<Grant> {
        self.take(key, |grant| is_meant(grant, grant_type, tab))
    }

    /// Forgets a source: removes its tools from all grants, and removes grants that have no other tools.
    /// Returns each former grant, and what is left of it.
    pub fn forget_source(&mut self, source: &SourceId) -> Vec<(Key, Grant, Option<Grant>)> {
        let names = |(key, grant): (&Key, &Grant)| {
            let left = grant.tools.as_ref()?.without(source)?;
            let left =
                Some(Grant { tools: Some(left.clone()), ..grant.clone() }).filter(|_| !left.is_empty());
            Some((key.clone(), grant.clone(), left))
        };
        let named: Vec<_> = self.all().filter_map(names).collect();
        for (key, before, left) in &named {
            let gone = self.take(key, |grant| grant.place() == before.place());
            for grant in left.iter().filter(|_| !gone.is_empty()) {
                self.keep(key.clone(), grant.clone());
            }
        }
        named
    }

    /// True if a grant names a tool of this source.
    #[must_use]
    pub fn name(&self, source: &SourceId) -> bool {
        let names = |grant: &Grant| grant.tools.as_ref().is_some_and(|list| list.names(source));
        self.all().any(|(_, grant)| names(grant))
    }

    /// True if `revoke` would take any grant.
    #[must_use]
    pub fn has(&self, key: &Key, grant_type: Option<GrantType>, tab: Option<&Tab>) -> bool {
        self.get(key).iter().any(|(_, grant)| is_meant(grant, grant_type, tab))
    }

    /// Decides if `key.origin` may use `key.scope` from `tab`, for a tool if one is named.
    pub fn check(
        &mut self,
        key: &Key,
        tab: Option<&Tab>,
        tool: Option<(&SourceId, &str)>,
        now: Millis,
    ) -> Verdict {
        self.sweep(now);
        let grants = self.get(key);
        if is_denied(grants) {
            return Verdict::Denied;
        }
        let mut valid = grants.iter().map(|(_, grant)| grant).filter(|grant| grant.is_for(tab)).peekable();
        if valid.peek().is_none() {
            let is_it = |(of, grant): &(Key, Grant)| of == key && grant.is_for(tab);
            return Verdict::ScopeRequired { expired: self.ended.iter().any(is_it) };
        }
        let is_client = key.origin.is_client();
        let covers = |grant: &Grant, (source, tool): (&SourceId, &str)| {
            is_reachable(is_client, source.kind()) && grant.covers((source, tool))
        };
        match valid.find(|grant| tool.is_none_or(|tool| covers(grant, tool))) {
            Some(grant) => Verdict::Granted(grant.clone()),
            None => Verdict::ToolNotAllowed,
        }
    }

    /// Decides whether `origin` may call this tool from `tab`: its right to, which `consent` makes a permit of.
    ///
    /// # Errors
    /// The verdict, when it is any but [`Verdict::Granted`].
    pub fn right(
        &mut self,
        origin: &Origin,
        profile: &Arc<str>,
        tab: Option<&Tab>,
        tool: (&SourceId, &str),
        now: Millis,
    ) -> Result<Right, Verdict> {
        let key = Key { origin: origin.clone(), profile: profile.clone(), scope: Scope::McpToolsCall };
        match self.check(&key, tab, Some(tool), now) {
            Verdict::Granted(_) => Ok(access::covered_by_a_grant(tool.0.kind())),
            verdict => Err(verdict),
        }
    }

    /// Decides whether `origin` may put a prompt to a model from `tab`, with tools if `tools`, and proves it.
    ///
    /// # Errors
    /// The scope that is missing, and the verdict about it.
    pub fn model_permit(
        &mut self,
        origin: &Origin,
        profile: &Arc<str>,
        tab: Option<&Tab>,
        tools: bool,
        now: Millis,
    ) -> Result<ModelPermit, (Scope, Verdict)> {
        let scopes = [Scope::ModelPrompt, Scope::ModelTools];
        for scope in scopes.into_iter().take(1 + usize::from(tools)) {
            let key = Key { origin: origin.clone(), profile: profile.clone(), scope };
            let verdict = self.check(&key, tab, None, now);
            if !matches!(verdict, Verdict::Granted(_)) {
                return Err((scope, verdict));
            }
        }
        Ok(access::model_permit())
    }

    /// The answers of `check` for any number of tools, looked up once.
    pub fn view(&mut self, key: &Key, tab: Option<&Tab>, now: Millis) -> View {
        self.view_of(key, now, |grant| grant.is_for(tab))
    }

    /// The view of all tabs together.
    pub fn view_of_all_tabs(&mut self, key: &Key, now: Millis) -> View {
        self.view_of(key, now, |_| true)
    }

    fn view_of(&mut self, key: &Key, now: Millis, counts: impl Fn(&Grant) -> bool) -> View {
        self.sweep(now);
        let grants = self.get(key);
        let denied = is_denied(grants);
        let valid = grants.iter().map(|(_, grant)| grant).filter(|grant| !denied && counts(grant));
        let is_client = key.origin.is_client();
        View { denied, is_client, lists: valid.map(|grant| grant.tools.clone()).collect() }
    }

    /// Removes what has ended; returns that and what has ended since the last time, all of it told just once.
    pub fn expire(&mut self, now: Millis) -> Vec<(Key, Grant)> {
        self.sweep(now);
        mem::take(&mut self.ended)
    }

    /// The time when [`Self::expire`] is next needed; 0 means at once.
    #[must_use]
    pub fn next_deadline(&self) -> Option<Millis> {
        if self.ended.is_empty() { self.due.first().map(|due| due.deadline) } else { Some(0) }
    }

    /// Removes the grants of a tab that was closed, in whatever session when that is not known; those of one profile, or
    /// of all.
    pub fn end_tab(&mut self, tab: u64, session: Option<&str>, profile: Option<&str>) -> Vec<(Key, Grant)> {
        self.end(|key, of| {
            of.tab == tab
                && session.is_none_or(|session| session == &*of.session)
                && profile.is_none_or(|profile| profile == &*key.profile)
        })
    }

    /// Removes the grants of all tabs of a browser that has ended.
    pub fn end_session(&mut self, session: &str) -> Vec<(Key, Grant)> {
        self.end(|_, of| &*of.session == session)
    }

    /// The grants of an origin, in one profile or in all, in a stable order.
    pub fn of<'a>(
        &'a self,
        origin: &Origin,
        profile: Option<&'a str>,
    ) -> impl Iterator<Item = (&'a Key, &'a Grant)> + use<'a> {
        let is_in = move |key: &Key| profile.is_none_or(|wanted| wanted == &*key.profile);
        let kept = self.by_origin.get(origin).into_iter().flatten();
        kept.map(|(key, grant)| (key, grant)).filter(move |(key, _)| is_in(key))
    }

    /// True if an origin has any grant, or a DENY.
    #[must_use]
    pub fn knows(&self, origin: &str) -> bool {
        self.by_origin.contains_key(origin)
    }

    /// All grants, in a stable order.
    pub fn all(&self) -> impl Iterator<Item = (&Key, &Grant)> {
        let mut origins: Vec<_> = self.by_origin.iter().collect();
        origins.sort_unstable_by_key(|(origin, _)| *origin);
        origins.into_iter().flat_map(|(_, kept)| kept).map(|(key, grant)| (key, grant))
    }

    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.by_origin.values().map(Vec::len).sum()
    }

    /// True if there is no grant.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.by_origin.is_empty()
    }

    fn get(&self, key: &Key) -> &[(Key, Grant)] {
        let kept = self.by_origin.get(&key.origin).map(Vec::as_slice).unwrap_or_default();
        kept.get(place_of(kept, key)).unwrap_or_default()
    }

    /// The only way out: a removed grant leaves the list of deadlines too.
    fn take(&mut self, key: &Key, goes: impl Fn(&Grant) -> bool) -> Vec<Grant> {
        let Some(kept) = self.by_origin.get_mut(&key.origin) else { return Vec::new() };
        let gone = kept.extract_if(place_of(kept, key), |(_, grant)| goes(grant));
        let gone: Vec<_> = gone.map(|(_, grant)| grant).collect();
        if kept.is_empty() {
            self.by_origin.remove(&key.origin);
        }
        for due in gone.iter().filter_map(|grant| Due::of(key, grant)) {
            self.due.remove(&due);
        }
        gone
    }

    /// Takes out the grants that have ended, so that only valid ones are left. Costs nothing while nothing has ended.
    fn sweep(&mut self, now: Millis) {
        while self.due.first().is_some_and(|due| due.deadline <= now) {
            let Some(due) = self.due.pop_first() else { return };
            let gone = self.take(&due.key, |grant| grant.deadline.is_some_and(|deadline| deadline <= now));
            self.ended.extend(gone.into_iter().map(|grant| (due.key.clone(), grant)));
        }
    }

    fn make_room(&mut self, key: &Key) {
        let ending = || self.get(key).iter().map(|(_, grant)| grant).filter(|grant| grant.deadline.is_some());
        if ending().count() < MAX_ONCE {
            return;
        }
        let first = ending().min_by_key(|grant| grant.deadline).cloned();
        let gone = self.take(key, |grant| first.as_ref() == Some(grant));
        self.ended.extend(gone.into_iter().map(|grant| (key.clone(), grant)));
    }

    /// Only grants with a deadline have a tab, so this does not go through all of the others.
    fn end(&mut self, is_over: impl Fn(&Key, &Tab) -> bool) -> Vec<(Key, Grant)> {
        let over = |key: &Key, tab: &Option<Tab>| tab.as_ref().is_some_and(|tab| is_over(key, tab));
        let keys: BTreeSet<_> =
            self.due.iter().filter(|due| over(&due.key, &due.tab)).map(|due| due.key.clone()).collect();
        let mut ended = Vec::new();
        for key in keys {
            let gone = self.take(&key, |grant| over(&key, &grant.tab));
            ended.extend(gone.into_iter().map(|grant| (key.clone(), grant)));
        }
        ended
    }
}

/// True if a grant to call tools can cover a source of this kind. A page drives a browser by the scopes `browser:*` only.
fn is_reachable(is_client: bool, kind: SourceKind) -> bool {
    is_client || kind != SourceKind::Browser
}

/// True if the grant is of this type and for this tab. A type or tab that is not named fits every grant.
fn is_meant(grant: &Grant, grant_type: Option<GrantType>, tab: Option<&Tab>) -> bool {
    grant_type.is_none_or(|wanted| wanted == grant.grant_type)
        && tab.is_none_or(|tab| grant.tab.as_ref() == Some(tab))
}

fn is_denied(grants: &[(Key, Grant)]) -> bool {
    grants.first().is_some_and(|(_, first)| first.grant_type == GrantType::Deny)
}

/// The range of a key's grants among those of its origin.
fn place_of(kept: &[(Key, Grant)], key: &Key) -> Range<usize> {
    kept.partition_point(|(of, _)| of < key)..kept.partition_point(|(of, _)| of <= key)
}

#[cfg(test)]
mod tests;
