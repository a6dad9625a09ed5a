//! A server hears of its start from the runners.
//!
//! ```text
//!  runners ─ event of a start ─► has it died? ─ no ─► what it means to the server
//!                                   └─ yes ─► only what was said of it meanwhile: its log, its refusals
//! ```
//!
//! Owns which event goes where. Must never hold an event back.

use std::rc::Rc;

use harbor_ipc_proto::link::runner::ToRunner;

use super::Server;
use crate::link::{EndReport, LinkEvent};
use crate::supervisor::asks;
use crate::supervisor::runners::StartOwner;
use crate::supervisor::supervisor_events::SupervisorEvent;

impl StartOwner for Server {
    fn on_started(&self, number: u32, pid: u32) {
        if !self.place.remains.are_of(number) {
            self.place.note_started(pid);
        }
    }

    fn on_event(self: Rc<Self>, number: u32, event: LinkEvent) {
        match event {
            // What was said of a start that has died may come behind.
            LinkEvent::Log { source, level, text, .. } => self.on_log(source, level, text),
            LinkEvent::Denied { path, write, missing, .. } => self.on_denied(path, write, missing),
            LinkEvent::Lacks { what, .. } => self.on_lacking(&what),
            _ if self.place.remains.are_of(number) => {}
            LinkEvent::Connected { info, .. } => self.on_connected(info),
            LinkEvent::ListChanged { list, .. } => self.on_list_changed(list),
            LinkEvent::ResourceUpdated { uri, .. } => {
                self.runners().tell(&SupervisorEvent::Resource(self.id(), &uri, self.clients()));
            }
            LinkEvent::Ask { ask, unoffered, method, .. } => {
                if let Some(place) = self.place.present().filter(|place| place.number == number) {
                    let answer = asks::decide(&self.roots(), &method, unoffered);
                    place.runner.link.send(&ToRunner::Answer { server: number, ask, answer });
                }
            }
            LinkEvent::Died { report, .. } => self.on_died(number, report),
            LinkEvent::Probed { quiet_ms, unanswered_ms, .. } => self.on_probed(quiet_ms, unanswered_ms),
            LinkEvent::Late { count, .. } => self.usage.note_late_of_start(count),
            LinkEvent::LateReply { .. } => self.usage.count_late(),
            LinkEvent::Stale { token, .. } => self.on_stale(number, token),
            LinkEvent::Challenged { challenge, .. } => self.secrets.set_challenge(Some(challenge)),
            // The runners' own.
            LinkEvent::Started { .. }
            | LinkEvent::Ended { .. }
            | LinkEvent::Echoed
            | LinkEvent::Contained(_)
            | LinkEvent::Offered(_)
            | LinkEvent::AskPerson { .. }
            | LinkEvent::Granted { .. }
            | LinkEvent::Closed { .. } => {}
        }
    }

    fn on_ended(self: Rc<Self>, number: u32, report: Rc<EndReport>) {
        self.start_ended(number, report);
    }

    fn is_shown_at(&self, number: u32) -> bool {
        self.runs_at(number)
    }
}
