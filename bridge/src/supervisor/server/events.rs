//! What happens to a server: events of its runner, and the lists that follow from them.
//!
//! Owns what is learnt from an event. What it means for the server's life is the machine's to say, by `apply`.

use std::rc::Rc;
use std::time::{SystemTime, UNIX_EPOCH};

use harbor_ipc_proto::link::runner::{List, LogSource};
use harbor_policy::lifecycle::{Event, State};

use super::Server;
use crate::link::{EndReport, Info};
use crate::supervisor::ListKind;
use crate::supervisor::logs::Line;

impl Server {
    pub(in crate::supervisor) fn on_started(&self, pid: u32) {
        self.pid.set(Some(pid));
    }

    pub(in crate::supervisor) fn on_connected(self: &Rc<Self>, info: Info) {
        tracing::info!(server = %self.id, revision = info.protocol_version, "connected");
        if self.era.replace(Some(info.era)) != Some(info.era) {
            let (server, era) = (self.clone(), info.era);
            tokio::task::spawn_local(async move {
                if let Err(error) = server.runners.shared.definitions.remember_era(&server.id, era).await {
                    tracing::warn!(server = %server.id, %error, "its generation of MCP is not remembered");
                }
            });
        }
        *self.info.borrow_mut() = Some(info);
        *self.lists.borrow_mut() = Rc::default();
        self.apply(Event::Connected);
        if self.state() == State::Running {
            self.fetch_lists(&ListKind::ALL);
        }
    }

    pub(in crate::supervisor) fn on_list_changed(self: &Rc<Self>, list: List) {
        if self.state() == State::Running {
            self.fetch_lists(ListKind::changed_by(list));
        }
    }

    pub(in crate::supervisor) fn on_log(&self, source: LogSource, level: Option<String>, text: String) {
        self.logs.borrow_mut().add(Line { timestamp: wall_clock(), source, level, text });
    }

    pub(in crate::supervisor) fn on_ended(self: &Rc<Self>, number: u32, report: Rc<EndReport>) {
        if self.place.borrow().as_ref().is_none_or(|place| place.number != number) {
            return;
        }
        tracing::info!(server = %self.id, cause = report.cause, "ended");
        self.forget_start();
        *self.last_end.borrow_mut() = Some(report);
        self.apply(Event::Ended);
    }

    fn forget_start(&self) {
        *self.place.borrow_mut() = None;
        self.pid.set(None);
        *self.info.borrow_mut() = None;
        self.lists.borrow().mark_complete();
        self.subscribers.borrow_mut().clear();
        *self.lists.borrow_mut() = Rc::default();
    }

    fn fetch_lists(self: &Rc<Self>, kinds: &[ListKind]) {
        let (Some(place), lists) = (self.place.borrow().clone(), self.lists.borrow().clone()) else { return };
        if !lists.want(kinds) {
            return;
        }
        let server = self.clone();
        tokio::task::spawn_local(async move {
            let tell = |kind, why| {
                let text = format!("harbor: its {kind:?} could not be listed: {why}");
                server.on_log(LogSource::Stderr, None, text);
            };
            lists.fetch_wanted(&place.runner.link, place.number, tell).await;
        });
    }
}

/// Milliseconds since 1970.
fn wall_clock() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}
