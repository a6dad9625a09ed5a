//! The events of a server's runner, and the lists that follow from them.
//!
//! Owns the facts that are learnt from an event. Their meaning for the server's life is the machine's to say, by `apply`.

use std::rc::Rc;

use harbor_home::clock::wall_clock;
use harbor_ipc_proto::link::runner::{Era, List, LogSource};
use harbor_policy::lifecycle::{LifecycleEvent, State};
use harbor_policy::limits::LEVELS;

use super::Server;
use crate::link::{EndReport, Info};
use crate::store::definitions::Spoken;
use crate::supervisor::ListKind;
use crate::supervisor::lists::{ListChange, Lists};
use crate::supervisor::logs::{self, Line, Source};
use crate::supervisor::supervisor_events::SupervisorEvent;

impl Server {
    pub(super) fn on_connected(self: &Rc<Self>, info: Info) {
        tracing::info!(server = %self.id(), revision = info.protocol_version, "connected");
        let revision = info.insists.then(|| info.protocol_version.clone());
        let spoken = Spoken { era: info.era, revision };
        if self.place.note_spoken(&spoken) {
            let server = self.clone();
            tokio::task::spawn_local(async move {
                if let Err(error) =
                    server.runners().shared.definitions.remember_era(server.id(), spoken).await
                {
                    tracing::warn!(server = %server.id(), %error, "its generation of MCP is not remembered");
                }
            });
        }
        self.lists.begin(Lists::of(&info.capabilities));
        self.place.note_info(info);
        self.begin_watching();
        self.apply(LifecycleEvent::Connected);
        if self.state() == State::Running {
            self.fetch_lists(&ListKind::ALL);
            self.subscribe_again();
            self.ask_for_messages();
        }
    }

    /// The generation of MCP that it was found to speak.
    pub(super) fn known_era(&self) -> Option<Era> {
        self.place.spoken().map(|spoken| spoken.era)
    }

    /// The revision that it insisted on.
    pub(super) fn known_revision(&self) -> Option<String> {
        self.place.spoken()?.revision
    }

    pub(super) fn on_list_changed(self: &Rc<Self>, list: List) {
        if self.state() == State::Running {
            self.fetch_lists(ListKind::changed_by(list));
        }
    }

    pub(super) fn on_log(&self, source: LogSource, level: Option<String>, text: String) {
        let mut source = logs::source(source);
        if self.state() == State::Installing {
            self.life.tell_starters(&format!("installing {}: {text}", self.installed()));
            // Apart from what the server itself says: it is pages of an installer's, and of interest while that fails.
            source = Source::Install;
        }
        // A word of MCP's, or none: it stands where a person looks for who is speaking.
        let level = level.filter(|level| LEVELS.contains(&level.as_str()));
        self.add_line(Line { timestamp: wall_clock(), source, level, text });
    }

    /// A remark of the bridge's own in the server's log.
    pub fn remark(&self, text: String) {
        self.add_line(Line { timestamp: wall_clock(), source: Source::Harbor, level: None, text });
    }

    fn add_line(&self, line: Line) {
        let line = Line { text: self.hidden(line.text), ..line };
        // There is one log for all processes of a server; a line says whose it is.
        if let Some(plain) = self.plain() {
            let name = self.instance().unwrap_or_default();
            return plain.add_line(Line { text: format!("[{name}] {}", line.text), ..line });
        }
        self.runners().shared.logs.append(self.id(), &line);
        if !self.identity.is_gone() {
            self.runners().tell(&SupervisorEvent::Log(self.id(), &line));
        }
        self.lists.add_line(line);
    }

    pub(super) fn start_ended(self: &Rc<Self>, number: u32, report: Rc<EndReport>) {
        if self.is_clear_behind(number) {
            self.clear_if_lost(&report);
        } else if self.place.is_at(number) {
            self.end(report);
        }
    }

    pub(super) fn end(self: &Rc<Self>, report: Rc<EndReport>) {
        self.forget_start();
        let verdict = self.place.take_verdict();
        if let Some(waiting) = self.package.end_run() {
            // Nobody waits when the bridge is on its way out.
            let _ = waiting.send(report);
            return;
        }
        self.clear_if_lost(&report);
        let report = match verdict {
            Some(verdict) => Rc::new(EndReport::because("hung", verdict)),
            None => report,
        };
        let report = if self.has_image() { self.container_ended(report) } else { report };
        let report = self.with_repair(self.given_more_time(report));
        if report.was_asked_for() {
            tracing::info!(server = %self.id(), cause = report.cause, "ended");
        }
        if !report.was_asked_for() {
            self.remark(report.message.clone());
        }
        let event = if report.is_for_a_person() { LifecycleEvent::Barred } else { LifecycleEvent::Ended };
        if report.cause == "disk_full" {
            self.remove_temporary_files();
        }
        self.life.note_exit(report);
        self.apply(event);
    }

    /// Removes its temporary files: their room is wanted now, and its next start would remove them.
    fn remove_temporary_files(&self) {
        let tmp = self.root().join("tmp");
        // Who has the turn removes older ones, and the next start what is left.
        if let Some(turn) =
            self.runners().shared.leftovers.turn_now(self.id()).filter(|_| !self.identity.is_on_trial())
        {
            tokio::task::spawn_blocking(move || turn.set_aside(&tmp));
        }
    }

    fn forget_start(&self) {
        self.place.leave();
        self.usage.end_start();
        self.stop_watching();
        self.lists.end();
    }

    /// Takes a new list of its tools. Lists of an earlier start are ignored.
    fn on_tools(&self, lists: &Rc<Lists>) {
        // Before anybody keeps them: what a server says of its tools is stored, and goes to its clients.
        if self.secrets.were_given() {
            let left_out = lists.hide(|text| self.without_secrets(text));
            if left_out > 0 {
                self.remark(format!(
                    "{left_out} of its tools have one of its secrets in their names, and are left out"
                ));
            }
        }
        if let Some(tools) = lists.tools().filter(|_| self.has(lists)) {
            let before = self.lists.know_tools(tools.clone());
            // What is as it was is no news: two Harbors that are each other's servers would tell each other for ever.
            // Of an instance only what its server has not told.
            if let Some(plain) = self.plain() {
                match plain.known_tools() {
                    Some(known) if known == tools => return,
                    Some(_) => {}
                    None => plain.knows(tools.clone()),
                }
            }
            if lists.is_first_telling() || before.as_ref() != Some(&tools) {
                self.runners().tell(&SupervisorEvent::Tools(self.id(), &tools));
            }
        }
    }

    /// True if these are the lists of its present start.
    fn has(&self, lists: &Rc<Lists>) -> bool {
        self.lists.are(lists) && !self.identity.is_gone()
    }

    fn fetch_lists(self: &Rc<Self>, kinds: &[ListKind]) {
        let (Some(place), lists) = (self.place.present(), self.lists.present()) else { return };
        if !lists.want(kinds) {
            return;
        }
        let server = self.clone();
        tokio::task::spawn_local(async move {
            let tell = |kind, fetched: Result<ListChange, String>| match fetched {
                Ok(_) if kind == ListKind::Tools => server.on_tools(&lists),
                Ok(change) if server.has(&lists) && !server.instances.is_instance() => {
                    server.runners().tell(&SupervisorEvent::Listed(server.id(), kind));
                    if matches!(change, ListChange::Some) {
                        server.runners().tell(&SupervisorEvent::Offers(server.id(), kind));
                    }
                }
                Ok(_) => {}
                Err(why) => server.remark(format!("its {} could not be listed: {why}", kind.in_words())),
            };
            let check_output = server.runners().shared.config.now().check_output;
            lists.fetch_wanted(&place.runner.link, place.number, check_output, tell).await;
        });
    }
}
