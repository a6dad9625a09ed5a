//! The conversation with the bridge: which request is open for what, and what its answer changes.
//!
//! Owns the ids. Must never send a request twice: an answer that did not come may have been a deed that was done.

use harbor_ipc_proto::CLIENT_PROTOCOL;
use harbor_ipc_proto::frame::MAX_CLIENT_FRAME;

use super::facts::{Health, Server};
use super::model::{Act, Model, Out};
use super::page::Detail;
use crate::ask::Ask;
use crate::errors::Failure;
use crate::reply::Members;
use crate::table::flatten;

/// How often the numbers come, in milliseconds.
const INTERVAL: u64 = 1000;

/// As many lines as the bridge gives.
const LOG_LINES: u64 = 1000;

/// What an open request is for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Aim {
    /// Nothing is done with the answer.
    Greeting,
    Status,
    Act(Act),
    Log,
    Tools,
    /// All definitions; that of one server is wanted.
    Definition,
    Sandbox,
}

/// A request that is not answered yet.
#[derive(Debug)]
pub struct Open {
    pub aim: Aim,
    pub server: String,
    /// What the bridge says about it meanwhile.
    pub news: String,
    /// Until when it is waited for, in milliseconds since 1970.
    until: Option<u64>,
    ask: Ask,
}

impl Open {
    /// What is done to which server, if it is that.
    pub fn act(&self) -> Option<(Act, &str)> {
        match self.aim {
            Aim::Act(act) => Some((act, &self.server)),
            _ => None,
        }
    }

    /// Whether it was waited for long enough.
    pub fn is_over(&self, now: u64) -> bool {
        self.until.is_some_and(|until| now > until)
    }
}

impl Model {
    /// Says who we are, and asks for everything.
    pub(super) fn greet(&mut self) {
        let hello = Ask::new("hello")
            .number("protocol", CLIENT_PROTOCOL.into())
            .text("client", "harbor top")
            .number("max_frame", MAX_CLIENT_FRAME as u64);
        self.send(Aim::Greeting, "", hello);
        self.send(Aim::Status, "", Ask::new("subscribe_status").number("interval_ms", INTERVAL));
        if let Some(server) = self.detail.as_ref().map(|detail| detail.server.clone()) {
            self.ask_about(&server);
        }
    }

    /// Opens the detail of a server.
    pub(super) fn enter(&mut self, server: &str) {
        self.detail = Some(Detail::of(server, self.size.0.into()));
        self.ask_about(server);
    }

    /// Closes it.
    pub(super) fn leave(&mut self) {
        if let Some(detail) = self.detail.take() {
            let ask = Ask::about("mcp_get_logs", &detail.server).number("limit", 1).flag("follow", false);
            self.send(Aim::Greeting, &detail.server, ask);
        }
    }

    fn ask_about(&mut self, server: &str) {
        let log = Ask::about("mcp_get_logs", server).number("limit", LOG_LINES).flag("follow", true);
        self.send(Aim::Log, server, log);
        self.send(Aim::Definition, server, Ask::new("list_servers"));
        self.send(Aim::Sandbox, server, Ask::about("get_sandbox", server));
        self.ask_for_tools(server);
    }

    /// A server that does not run is not asked: that might start it.
    fn ask_for_tools(&mut self, server: &str) {
        if self.servers.get(server).is_some_and(Server::is_running) {
            self.send(Aim::Tools, server, Ask::about("mcp_list_tools", server));
        }
    }

    /// Begins to do something to a server.
    pub(super) fn act(&mut self, act: Act, server: &str, now: u64) {
        let ask = match act {
            Act::Start => Ask::about("connect_server", server).flag("progress", true),
            Act::Stop => Ask::about("disconnect_server", server),
            Act::Restart => Ask::about("connect_server", server).flag("progress", true).flag("restart", true),
        };
        let limit = u64::try_from(act.limit().as_millis()).unwrap_or(u64::MAX);
        self.send_until(Some(now.saturating_add(limit)), Aim::Act(act), server, ask);
    }

    fn send(&mut self, aim: Aim, server: &str, ask: Ask) {
        self.send_until(None, aim, server, ask);
    }

    fn send_until(&mut self, until: Option<u64>, aim: Aim, server: &str, ask: Ask) {
        if self.link != super::model::Link::Up {
            return;
        }
        let id = self.next_id.to_string();
        self.next_id += 1;
        self.out.push_back(Out::Frame(ask.to_frame(&id)));
        self.open.insert(id, Open { aim, server: server.into(), news: String::new(), until, ask });
    }

    /// A frame of the bridge has come.
    pub fn on_frame(&mut self, frame: &[u8], now: u64) {
        // What cannot be read is nothing that we asked for.
        let Some(message) = Members::parse(frame) else { return };
        self.heard = now;
        let id = message.text("request_id");
        match message.text("type").as_str() {
            "status_update" => self.on_update(&message),
            "server_log" => self.on_log_line(&message),
            "progress" => {
                if let Some(open) = self.open.get_mut(&id) {
                    open.news = flatten(&message.text("message"));
                }
            }
            "error" => {
                if let Some(open) = self.open.remove(&id) {
                    self.on_refusal(&open, message.object("error"), now);
                }
            }
            _ => {
                if let Some(open) = self.open.remove(&id) {
                    self.on_answer(&open, &message, now);
                }
            }
        }
        self.settle();
    }

    fn on_refusal(&mut self, open: &Open, error: Members, now: u64) {
        let why = match error.into_refusal(&open.ask) {
            Failure::Refused(refusal) => flatten(&refusal.message),
            other => flatten(&other.message().unwrap_or_default()),
        };
        match (&open.aim, &mut self.detail) {
            (Aim::Act(act), _) => {
                self.say(format!("cannot {} {}: {why}", act.verb(), open.server), true, now)
            }
            (Aim::Greeting, _) => {}
            (Aim::Status, _) => self.say(why, true, now),
            (aim, Some(detail)) if detail.server == open.server => detail.on_refusal(aim, why),
            _ => {}
        }
    }

    fn on_answer(&mut self, open: &Open, answer: &Members, now: u64) {
        match open.aim {
            Aim::Greeting => {}
            Aim::Status => self.on_status(&answer.object("status")),
            Aim::Act(act) => self.say(format!("{} {}", open.server, act.done()), false, now),
            _ => {
                if let Some(detail) = self.detail.as_mut().filter(|detail| detail.server == open.server) {
                    detail.on_answer(&open.aim, answer);
                }
            }
        }
    }

    fn on_log_line(&mut self, line: &Members) {
        if let Some(detail) = self.detail.as_mut().filter(|detail| detail.server == line.text("server_id")) {
            detail.add_line(line);
        }
    }

    fn on_status(&mut self, status: &Members) {
        self.health = Health::of(&status.object("health"));
        self.limits = status.object("limits");
        let bridge = status.object("bridge");
        if bridge.number("pid") != Some(self.bridge.pid) {
            self.servers.clear();
        }
        self.bridge.learn(&bridge, true);
        self.on_servers(status.objects("servers"), true);
    }

    fn on_update(&mut self, update: &Members) {
        self.health = Health::of(&update.object("health"));
        let regular = update.text("category") == "numbers";
        if update.raw("bridge").is_some() {
            self.bridge.learn(&update.object("bridge"), regular);
        }
        self.on_servers(update.objects("servers"), regular);
        if update.raw("removed").is_some() {
            self.servers.remove(&update.text("removed"));
        }
    }

    /// Takes what is told of servers; `all` says that there are no others.
    fn on_servers(&mut self, told: Vec<Members>, all: bool) {
        let ids: Vec<_> = told.iter().map(|server| server.text("id")).collect();
        if all {
            self.servers.retain(|id, _| ids.contains(id));
        }
        for (id, told) in ids.into_iter().zip(told) {
            let server = self.servers.entry(id.clone()).or_default();
            let ran = server.is_running();
            server.learn(told);
            if all {
                server.note_totals(self.bridge.uptime_ms);
            }
            let came_up = !ran && server.is_running();
            if came_up && self.detail.as_ref().is_some_and(|detail| detail.server == id) {
                self.ask_for_tools(&id);
                self.send(Aim::Sandbox, &id, Ask::about("get_sandbox", &id));
            }
        }
    }
}
