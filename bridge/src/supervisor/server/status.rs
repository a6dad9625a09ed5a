//! The visible state of a server: its status, its lists, its log.

use std::rc::Rc;
use std::time::Duration;

use harbor_policy::health::ListProblem;
use harbor_policy::lifecycle::State;

use super::Server;
use crate::link::{Containment, EndReport, Info, ToolList};
use crate::supervisor::ListKind;
use crate::supervisor::lists::Fetched;
use crate::supervisor::logs::Line;

/// The visible state of a server.
#[derive(Debug, Clone)]
pub struct ServerSnapshot {
    /// The state of the server.
    pub state: State,
    /// Since when, in milliseconds since 1970.
    pub since: u64,
    /// True if it does not answer probes.
    pub busy: bool,
    /// Its process, while there is one.
    pub pid: Option<u32>,
    /// Its runner, while there is one.
    pub runner_pid: Option<u32>,
    /// Its words about itself, while it runs.
    pub info: Option<Info>,
    /// Restarts since a person last started it.
    pub restarts: u32,
    /// Restarts without a stable period behind them.
    pub attempt: u32,
    /// When it is tried again, in milliseconds since 1970.
    pub next_retry: Option<u64>,
    /// The last end that was not ordered.
    pub last_exit: Option<Rc<EndReport>>,
    /// Calls that it is working on.
    pub in_flight: u32,
    /// Calls that wait for it to run.
    pub queued: u32,
    /// Lines that it has logged since its definition came to life.
    pub log_lines: u64,
    /// How long its runner took to answer the bridge the last time it was asked.
    pub round_trip: Option<Duration>,
    /// Answers that came too late.
    pub late_answers: u64,
    /// How its processes are held together. None until it was started.
    pub containment: Option<Rc<Containment>>,
}

impl Server {
    /// Its visible state.
    #[must_use]
    pub fn status(&self) -> ServerSnapshot {
        let (times, runner) = (self.life.times(), self.place.present().map(|place| place.runner));
        ServerSnapshot {
            state: self.state(),
            since: times.since,
            busy: self.usage.is_busy(),
            pid: self.place.pid(),
            runner_pid: runner.as_ref().map(|runner| runner.pid()),
            info: self.place.info(),
            restarts: self.life.restarts(),
            attempt: self.life.attempt(),
            next_retry: times.next_retry,
            last_exit: self.life.last_exit(),
            in_flight: self.usage.open_calls(),
            queued: self.usage.queued(),
            log_lines: self.lists.lines_added(),
            round_trip: runner.and_then(|runner| runner.round_trip()),
            late_answers: self.usage.late_answers(),
            containment: self.place.containment(),
        }
    }

    /// Has its runner say how long a message takes to it and back.
    pub(in crate::supervisor) fn ask_for_echo(&self) {
        if let Some(place) = self.place.present() {
            place.runner.ask_for_echo();
        }
    }

    /// The present tools of the server. None if it does not run, or has not listed them yet.
    #[must_use]
    pub fn tools(&self) -> Option<Rc<ToolList>> {
        self.lists.present().tools()
    }

    /// Its tools as last listed, though it may have ended since.
    #[must_use]
    pub fn known_tools(&self) -> Option<Rc<ToolList>> {
        self.lists.known_tools()
    }

    /// These are its tools, as its package has listed them when it was tried out.
    pub(in crate::supervisor) fn knows(&self, tools: Rc<ToolList>) {
        self.lists.know_tools(tools);
    }

    /// True if one of its lists is being fetched.
    #[must_use]
    pub fn is_listing(&self) -> bool {
        self.lists.present().is_fetching()
    }

    /// True if it does not run, and the next call starts it.
    #[must_use]
    pub fn wakes_on_demand(&self) -> bool {
        self.life.wakes_on_demand()
    }

    /// One of its lists, as fetched last.
    #[must_use]
    pub fn list(&self, kind: ListKind) -> Fetched {
        self.lists.present().get(kind)
    }

    /// How many tools it has listed. None if they could not be listed.
    #[must_use]
    pub fn tool_count(&self) -> Option<u32> {
        self.lists.present().look(ListKind::Tools, |list| list.error.is_none().then_some(list.count))
    }

    /// The flaws of its lists as fetched last.
    #[must_use]
    pub fn list_problems(&self) -> Vec<ListProblem> {
        let problems = ListKind::ALL.into_iter().flat_map(|kind| {
            let look = |list: &Fetched| (list.flaws.clone(), list.error.clone());
            let (flaws, error) = self.lists.present().look(kind, look);
            let error = error.map(|why| format!("its {} could not be listed: {why}", kind.in_words()));
            let failed = error.map(|why| ListProblem { has_failed: true, why });
            failed.into_iter().chain(flaws.into_iter().map(|why| ListProblem { has_failed: false, why }))
        });
        // The words are the server's in part.
        problems.map(|problem| ListProblem { why: self.hidden(problem.why), ..problem }).collect()
    }

    /// Its newest log lines, at most `limit`. `begin` runs after these are read: later lines go to listeners,
    /// and none is in both.
    pub async fn logs(&self, limit: usize, begin: impl FnOnce()) -> Vec<Line> {
        let (lines, whole) = (self.lists.last_lines(limit), self.lists.has_all_lines());
        begin();
        if lines.len() >= limit {
            return lines;
        }
        let on_disk = limit + lines.len();
        let mut all = self.runners().shared.logs.last(self.id(), on_disk).await;
        // Where the lines of this bridge begin on disk; clocks may have been set back since the older ones.
        let are_these = |at: &usize| all[*at..].iter().zip(&lines).all(|(there, here)| there == here);
        match (0..all.len()).find(are_these) {
            _ if lines.is_empty() => {}
            Some(begin) => all.truncate(begin),
            // They are not there, as on a disk that was full.
            None if whole => all.retain(|line| line.timestamp < self.identity.born()),
            None => all.clear(),
        }
        all.extend(lines);
        all.split_off(all.len().saturating_sub(limit))
    }
}
