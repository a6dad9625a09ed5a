//! The sessions in one browser, and the tabs of each.
//!
//! ```text
//!  Holder ─ one session each, in all its connections ─► Session: name, colour, its tabs, the current one, what happened to them
//!
//!  the last of its connections ends ─► 5 minutes of grace ─► joined again by its id, or over
//!  of a conversation, or of a client with a token ─► the same, and its next call goes on with it
//!  nobody calls ─► 30 minutes ─► over            the person presses Stop ─► over, and refused for a while
//! ```
//!
//! Owns who may act on which tab. A tab belongs to one session at most. Must never give a tab to a session unless the browser has
//! said so: it was opened for the session, by one of its tabs, or put there by the person. Ids of sessions come from outside:
//! nobody can guess one.

mod downloads;
mod events;
mod holder;
mod lasting;
mod scripts;
mod session;
mod site_answers;
pub mod typed;
pub mod uploads;
pub mod urls;

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use harbor_ipc_proto::secret::Secret;

pub use downloads::{Download, DownloadState, Downloads, MOST_DOWNLOADS};
pub use events::{Events, MOST_EVENTS, TabEvent};
pub use holder::Holder;
pub use lasting::{GRACE, IDLE};
pub use scripts::Scripts;
pub use session::Session;
pub use site_answers::{NoYes, SiteAnswers};

use crate::lifecycle::Millis;

/// How many tabs a session may have.
pub const MOST_TABS: usize = 40;

/// How long a holder is refused whom the person has stopped.
pub const STOPPED: Millis = 5 * 60_000;

/// The longest name, in characters.
pub const MAX_NAME: usize = 32;

/// The colours of groups, in turn; grey is left to the person.
const COLOURS: [&str; 8] = ["blue", "red", "yellow", "green", "pink", "purple", "cyan", "orange"];

/// The reason why a tab does not become a session's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NotTaken {
    /// There is no such session.
    NoSession,
    /// It is another session's.
    Foreign,
    /// The session has as many as it may.
    Full,
}

/// The tab does not belong to the session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NotYours;

/// The sessions in one browser.
#[derive(Debug, Default)]
pub struct Tabs {
    sessions: BTreeMap<Arc<str>, Session>,
    of_tab: HashMap<u64, Arc<str>>,
    /// The present or coming addresses of tabs.
    places: HashMap<u64, String>,
    of_holder: HashMap<Holder, Arc<str>>,
    stopped: HashMap<Holder, Millis>,
    scripts: Scripts,
    logins: SiteAnswers,
    bodies: SiteAnswers,
    begun: usize,
}

impl Tabs {
    /// The holder's session. Makes one with the id `new` and this name if the holder has none.
    pub fn session_of(
        &mut self,
        holder: &Holder,
        name: &str,
        new: impl FnOnce() -> Arc<str>,
        now: Millis,
    ) -> Arc<str> {
        if let Some(id) = self.of_holder.get(holder) {
            let id = id.clone();
            self.touch(&id, now);
            return id;
        }
        let (id, colour) = (new(), COLOURS[self.begun % COLOURS.len()]);
        self.begun += 1;
        let session = Session {
            id: id.clone(),
            holder: holder.clone(),
            name: shortened(name),
            colour,
            tabs: Vec::new(),
            current: None,
            events: Events::default(),
            downloads: Downloads::default(),
            said: BTreeMap::new(),
            typed: Vec::new(),
            hides: Arc::default(),
            connections: BTreeSet::new(),
            left: None,
            used: now,
            calls: 0,
        };
        self.of_holder.insert(holder.clone(), id.clone());
        self.sessions.insert(id.clone(), session);
        id
    }

    /// The session with this id.
    #[must_use]
    pub fn get(&self, id: &str) -> Option<&Session> {
        self.sessions.get(id)
    }

    /// All of them.
    pub fn all(&self) -> impl Iterator<Item = &Session> {
        self.sessions.values()
    }

    /// The holder's session, if it has one.
    #[must_use]
    pub fn session_of_holder(&self, holder: &Holder) -> Option<&Session> {
        self.sessions.get(self.of_holder.get(holder)?)
    }

    /// The session that has this tab.
    #[must_use]
    pub fn of_tab(&self, tab: u64) -> Option<&Session> {
        self.sessions.get(self.of_tab.get(&tab)?)
    }

    /// Notes the present or coming address of a tab. None if it is unknown.
    pub fn came(&mut self, tab: u64, url: Option<&str>) {
        let url = url.filter(|_| self.of_tab.contains_key(&tab));
        match url {
            Some(url) => drop(self.places.insert(tab, url.to_owned())),
            None => drop(self.places.remove(&tab)),
        }
    }

    /// The address of a tab.
    #[must_use]
    pub fn place(&self, tab: u64) -> Option<&str> {
        self.places.get(&tab).map(String::as_str)
    }

    /// A secret is typed in a session: nothing that is said in it has the value from now on.
    pub fn hide(&mut self, id: &str, name: &str, value: &Secret) {
        if let Some(session) = self.sessions.get_mut(id) {
            session.hide(name, value);
        }
    }

    /// Facts about the scripts of holders.
    pub fn scripts(&mut self) -> &mut Scripts {
        &mut self.scripts
    }

    /// The person's answers about what the browser keeps for sites.
    pub fn logins(&mut self) -> &mut SiteAnswers {
        &mut self.logins
    }

    /// The person's answers about what pages and servers say to each other.
    pub fn bodies(&mut self) -> &mut SiteAnswers {
        &mut self.bodies
    }

    /// Something has happened in a session.
    pub fn note(&mut self, id: &str, event: TabEvent) {
        if let Some(session) = self.sessions.get_mut(id) {
            session.events.add(event);
        }
    }

    /// Something has happened to a download of a session. False if there is no such session.
    pub fn downloaded(&mut self, id: &str, download: Download) -> bool {
        let session = self.sessions.get_mut(id);
        session.map(|session| session.downloads.note(download)).is_some()
    }

    /// The person has let a session have the bytes of its download with this number.
    pub fn give_download(&mut self, id: &str, number: u64) {
        if let Some(session) = self.sessions.get_mut(id) {
            session.downloads.give(number);
        }
    }

    /// The extension has begun anew, and has forgotten the downloads that were under way.
    pub fn lose_downloads(&mut self) {
        self.sessions.values_mut().for_each(|session| session.downloads.lose());
    }

    /// The person has answered about a host: that holds for the session.
    pub fn answered(&mut self, id: &str, host: String, is_yes: bool) {
        if let Some(session) = self.sessions.get_mut(id) {
            session.said.insert(host, is_yes);
        }
    }

    /// Somebody has called.
    pub fn touch(&mut self, id: &str, now: Millis) {
        if let Some(session) = self.sessions.get_mut(id) {
            session.used = now;
        }
    }

    /// Notes that a session is used in this connection.
    pub fn attend(&mut self, id: &str, connection: u64) {
        if let Some(session) = self.sessions.get_mut(id) {
            session.connections.insert(connection);
            session.left = None;
        }
    }

    /// A call begins, or has ended: a session does not idle meanwhile.
    pub fn count_call(&mut self, id: &str, begins: bool, now: Millis) {
        if let Some(session) = self.sessions.get_mut(id) {
            session.calls = if begins { session.calls + 1 } else { session.calls.saturating_sub(1) };
            session.used = now;
        }
    }

    /// Gives the session's group another name.
    pub fn rename(&mut self, id: &str, name: &str) {
        if let Some(session) = self.sessions.get_mut(id) {
            session.name = shortened(name);
        }
    }

    /// The tab of a call: the named tab, else the current one, if there is one.
    ///
    /// # Errors
    /// When the named tab is not the session's.
    pub fn meant(&self, id: &str, asked: Option<u64>) -> Result<Option<u64>, NotYours> {
        let session = self.sessions.get(id);
        match asked {
            None => Ok(session.and_then(|session| session.current)),
            Some(tab) if session.is_some_and(|session| session.tabs.contains(&tab)) => Ok(Some(tab)),
            Some(_) => Err(NotYours),
        }
    }

    /// A tab was opened: for the session `id`, or by the tab `opener` of one. It becomes the current one where it was opened for
    /// the session.
    ///
    /// # Errors
    /// Why it is no session's.
    pub fn open(&mut self, id: Option<&str>, opener: Option<u64>, tab: u64) -> Result<Arc<str>, NotTaken> {
        let of_opener = opener.and_then(|opener| self.of_tab.get(&opener)).cloned();
        let named = id.map(|id| self.sessions.get(id).map(|session| session.id.clone()));
        let wanted = named.unwrap_or(of_opener).ok_or(NotTaken::NoSession)?;
        match self.of_tab.get(&tab) {
            Some(other) if *other == wanted => return Ok(wanted),
            Some(_) => return Err(NotTaken::Foreign),
            None => {}
        }
        let session = self.sessions.get_mut(&wanted).ok_or(NotTaken::NoSession)?;
        if session.tabs.len() >= MOST_TABS {
            return Err(NotTaken::Full);
        }
        session.tabs.push(tab);
        if id.is_some() || session.current.is_none() {
            session.current = Some(tab);
        }
        self.of_tab.insert(tab, wanted.clone());
        Ok(wanted)
    }

    /// Takes a tab from its session, since it was closed or given back. Returns the session's id.
    pub fn part(&mut self, tab: u64) -> Option<Arc<str>> {
        let id = self.of_tab.remove(&tab)?;
        self.places.remove(&tab);
        let session = self.sessions.get_mut(&id)?;
        session.tabs.retain(|own| *own != tab);
        if session.current == Some(tab) {
            session.current = session.tabs.last().copied();
        }
        Some(id)
    }

    /// Another tab of the session is the current one.
    ///
    /// # Errors
    /// When it is not the session's.
    pub fn select(&mut self, id: &str, tab: u64) -> Result<(), NotYours> {
        let session =
            self.sessions.get_mut(id).filter(|session| session.tabs.contains(&tab)).ok_or(NotYours)?;
        session.current = Some(tab);
        Ok(())
    }

    /// Handles the end of a connection. A session of which it was the last one may be joined again for a while.
    pub fn leave(&mut self, connection: u64, now: Millis) {
        for session in self.sessions.values_mut() {
            if session.connections.remove(&connection) && session.connections.is_empty() {
                session.left = Some(now);
                if !session.holder.comes_back() {
                    self.of_holder.remove(&session.holder);
                }
            }
        }
    }

    /// Gives a session whose connections have ended to its holder again, in this connection; or that of one conversation to another
    /// one. The former session of the holder ends, and is returned.
    ///
    /// # Errors
    /// When there is no such session, or somebody uses it or the holder's present one.
    pub fn join(
        &mut self,
        id: &str,
        holder: &Holder,
        connection: u64,
        now: Millis,
    ) -> Result<Option<Session>, NotYours> {
        let own = self.of_holder.get(holder).cloned();
        if own.as_deref() == Some(id) {
            self.attend(id, connection);
            return Ok(None);
        }
        let is_free = |session: &Session| session.left.is_some() && holder.may_have_that_of(&session.holder);
        let others = |session: &Session| session.connections.iter().any(|other| *other != connection);
        let is_used = own.and_then(|own| self.sessions.get(&own)).is_some_and(others);
        if is_used || !self.sessions.get(id).is_some_and(is_free) {
            return Err(NotYours);
        }
        let before = self.end_of(holder);
        let session = self.sessions.get_mut(id).ok_or(NotYours)?;
        if self.of_holder.get(&session.holder) == Some(&session.id) {
            self.of_holder.remove(&session.holder);
        }
        (session.holder, session.used) = (holder.clone(), now);
        self.of_holder.insert(holder.clone(), session.id.clone());
        self.attend(id, connection);
        Ok(before)
    }

    /// A session is over.
    pub fn end(&mut self, id: &str) -> Option<Session> {
        let session = self.sessions.remove(id)?;
        for tab in &session.tabs {
            self.of_tab.remove(tab);
            self.places.remove(tab);
        }
        if self.of_holder.get(&session.holder) == Some(&session.id) {
            self.of_holder.remove(&session.holder);
        }
        Some(session)
    }

    /// The holder's session is over.
    pub fn end_of(&mut self, holder: &Holder) -> Option<Session> {
        let id = self.of_holder.get(holder)?.clone();
        self.end(&id)
    }

    /// The person has stopped a session: it is over, and its principal gets no other one for a while, by whichever connection or token.
    pub fn stop(&mut self, id: &str, now: Millis) -> Option<Session> {
        let session = self.end(id)?;
        if session.holder != Holder::Owner {
            self.stopped.insert(session.holder.with_any_token(), now + STOPPED);
        }
        Some(session)
    }

    /// True if the person has stopped this holder a short while ago.
    pub fn is_stopped(&mut self, holder: &Holder, now: Millis) -> bool {
        self.stopped.retain(|_, until| *until > now);
        self.stopped.contains_key(&holder.with_any_token())
    }

    /// The time at which the next session ends by itself.
    #[must_use]
    pub fn due(&self) -> Option<Millis> {
        self.sessions.values().filter_map(Session::ends_at).min()
    }

    /// Ends those whose time is over, and returns them.
    pub fn expire(&mut self, now: Millis) -> Vec<Session> {
        let is_over = |session: &&Session| session.ends_at().is_some_and(|end| end <= now);
        let over: Vec<_> = self.sessions.values().filter(is_over).map(|session| session.id.clone()).collect();
        over.iter().filter_map(|id| self.end(id)).collect()
    }
}

/// A name as a group's title has it.
fn shortened(name: &str) -> String {
    let plain = name.chars().map(|c| if c.is_control() { ' ' } else { c });
    let name: String = plain.collect::<String>().trim().chars().take(MAX_NAME).collect();
    if name.is_empty() { "Harbor".to_owned() } else { name }
}
