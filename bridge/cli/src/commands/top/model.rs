//! The state behind the screen: known facts, the selection, open requests.
//!
//! ```text
//!  keys ──────────┐                    ┌─► frames for the bridge
//!  frames ────────┼─► Model (pure) ────┼─► dial again, after a pause
//!  lost, found ───┘     │              └─► quit
//!                       └─► draw
//! ```
//!
//! Owns the state, and how an event changes it. Must never act itself, or ask for the time.

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use harbor_ipc_proto::client::{AgentStatus, RateLimits};

use super::act::Act;
use super::detail::Detail;
use super::facts::{Bridge, Health, Server};
use super::order::Order;
use super::requests::Open;
use super::scroll::Scroll;
use crate::table::flatten;
use crate::when;

/// Lines of the overview that are no servers: three of the head, the table's header, the status line, the keys.
pub const CHROME: u16 = 6;

/// The time that a remark stays, in milliseconds.
const REMARK: u64 = 15_000;

/// The pauses between two tries to find the bridge again, in milliseconds; the last one repeats.
const PAUSES: [u64; 5] = [250, 500, 1000, 2000, 4000];

/// An action for the driver.
#[derive(Debug, PartialEq, Eq)]
pub enum Out {
    /// Send this to the bridge.
    Frame(Vec<u8>),
    /// Look for the bridge, after a pause.
    Dial(Duration),
    Quit,
}

/// The connection to the bridge, or why there is none.
#[derive(Debug, PartialEq, Eq)]
pub enum Link {
    Up,
    Gone { since: u64, tries: usize, why: String },
}

/// Something said in the status line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Remark {
    pub text: String,
    pub bad: bool,
    pub at: u64,
}

/// Everything that is shown.
#[derive(Debug)]
pub struct Model {
    pub link: Link,
    pub bridge: Bridge,
    pub health: Health,
    /// The limits of origins that have none of their own.
    pub limits: Option<RateLimits>,
    /// The turns in which models use tools.
    pub agent: Option<AgentStatus>,
    pub servers: BTreeMap<String, Server>,
    pub order: Order,
    /// Only servers whose id or label contains this text are shown.
    pub filter: String,
    /// True if keys go into the filter.
    pub typing: bool,
    /// The selected server. None if no server is listed.
    pub selected: Option<String>,
    /// Its place in the list.
    pub at: usize,
    /// The place of the first server on the screen.
    pub top: usize,
    pub detail: Option<Detail>,
    pub help: Option<Scroll>,
    /// The action that waits for the person's yes, and its server.
    pub asked: Option<(Act, String)>,
    pub remark: Option<Remark>,
    /// Requests that are not answered yet.
    pub open: BTreeMap<String, Open>,
    /// When something came from the bridge.
    pub heard: u64,
    pub size: (u16, u16),
    pub(super) next_id: u64,
    pub(super) out: VecDeque<Out>,
}

impl Model {
    /// An empty model at `now`, in milliseconds since 1970, for a screen of this many columns and lines.
    pub fn new(size: (u16, u16), now: u64) -> Self {
        Self {
            link: Link::Gone { since: now, tries: 0, why: String::new() },
            bridge: Bridge::default(),
            health: Health::default(),
            limits: None,
            agent: None,
            servers: BTreeMap::new(),
            order: Order::Name,
            filter: String::new(),
            typing: false,
            selected: None,
            at: 0,
            top: 0,
            detail: None,
            help: None,
            asked: None,
            remark: None,
            open: BTreeMap::new(),
            heard: now,
            size,
            next_id: 1,
            out: VecDeque::new(),
        }
    }

    /// The next action.
    pub fn take_out(&mut self) -> Option<Out> {
        self.out.pop_front()
    }

    /// The screen has another size.
    pub fn on_resize(&mut self, size: (u16, u16)) {
        self.size = size;
        if let Some(detail) = &mut self.detail {
            detail.on_width(size.0.into());
        }
        self.settle();
    }

    /// Time has passed.
    pub fn on_time(&mut self, now: u64) {
        if self.remark.as_ref().is_some_and(|remark| now.saturating_sub(remark.at) > REMARK) {
            self.remark = None;
        }
        let over: Vec<_> =
            self.open.iter().filter(|(_, open)| open.is_over(now)).map(|(id, _)| id.clone()).collect();
        for id in over {
            if let Some((act, server)) = self.open.get(&id).and_then(Open::act) {
                let limit = when::lasting(u64::try_from(act.limit().as_millis()).unwrap_or(u64::MAX));
                let text = format!("{} {server}: no answer within {limit}; it may still happen", act.word());
                self.say(text, true, now);
            }
            self.open.remove(&id);
        }
    }

    /// There is a bridge again.
    pub fn on_connected(&mut self, now: u64) {
        self.link = Link::Up;
        self.heard = now;
        self.greet();
    }

    /// Handles the end of the connection. The requested actions may have been done.
    pub fn on_lost(&mut self, now: u64) {
        let acts: Vec<_> = self.open.values().filter_map(Open::act).collect();
        if let Some((act, server)) = acts.first() {
            let text = format!("{} {server}: the bridge ended before it answered", act.word());
            self.remark = Some(Remark { text, bad: true, at: now });
        }
        self.open.clear();
        self.link = Link::Gone { since: now, tries: 0, why: String::new() };
        self.dial();
    }

    /// There is no bridge yet; `why`, where it is more than that.
    pub fn on_no_bridge(&mut self, why: Option<String>) {
        if let Link::Gone { tries, why: known, .. } = &mut self.link {
            *tries += 1;
            *known = why.map(|why| flatten(&why)).unwrap_or_default();
            self.dial();
        }
    }

    fn dial(&mut self) {
        let Link::Gone { tries, .. } = self.link else { return };
        let pause = PAUSES.get(tries).or(PAUSES.last()).copied().unwrap_or_default();
        self.out.push_back(Out::Dial(Duration::from_millis(pause)));
    }

    /// The servers that are shown, in their order.
    pub fn listed(&self) -> Vec<&Server> {
        let wanted = self.filter.to_lowercase();
        let mut listed: Vec<_> = self
            .servers
            .values()
            .filter(|server| {
                server.id.to_lowercase().contains(&wanted) || server.label.to_lowercase().contains(&wanted)
            })
            .collect();
        self.order.sort(&mut listed);
        listed
    }

    /// The server that keys are about: that of the detail, else the selected one.
    pub fn meant(&self) -> Option<&Server> {
        let id = self.detail.as_ref().map(|detail| &detail.server).or(self.selected.as_ref());
        self.servers.get(id?)
    }

    /// The number of servers that fit on the screen.
    pub fn rows(&self) -> usize {
        usize::from(self.size.1.saturating_sub(CHROME))
    }

    /// Moves the selection to a listed server, and scrolls to it. A moved server stays selected; if it has
    /// gone, the server in its place is selected.
    pub(super) fn settle(&mut self) {
        let ids: Vec<_> = self.listed().iter().map(|server| server.id.clone()).collect();
        let found = self.selected.as_ref().and_then(|id| ids.iter().position(|other| other == id));
        self.at = found.unwrap_or(self.at).min(ids.len().saturating_sub(1));
        self.selected = ids.get(self.at).cloned();
        let rows = self.rows().max(1);
        self.top = self.top.clamp((self.at + 1).saturating_sub(rows), self.at);
        self.top = self.top.min(ids.len().saturating_sub(rows));
    }

    /// Selects the server at this place, or the nearest one.
    pub(super) fn select(&mut self, at: usize) {
        let listed = self.listed();
        let at = at.min(listed.len().saturating_sub(1));
        let id = listed.get(at).map(|server| server.id.clone());
        (self.selected, self.at) = (id, at);
        self.settle();
    }

    pub(super) fn say(&mut self, text: String, bad: bool, now: u64) {
        self.remark = Some(Remark { text, bad, at: now });
    }
}

#[cfg(test)]
pub mod tests;
