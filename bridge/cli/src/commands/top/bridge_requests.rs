//! The conversation with the bridge: the purpose of each open request, and the effect of its answer.
//!
//! Owns the ids. Must never send a request twice: an answer that did not come may belong to work that was
//! done.

use harbor_client::errors::Failure;
use harbor_ipc_proto::CLIENT_PROTOCOL;
use harbor_ipc_proto::client::answer::Heard;
use harbor_ipc_proto::client::{
    ConnectServer, DisconnectServer, GetSandbox, GetSandboxResult, Hello, ListServers, ListServersResult,
    LogLine, McpGetLogs, McpGetLogsResult, McpListTools, McpListToolsResult, Progress, Request, ServerLog,
    ServerStatus, StatusUpdate, StatusView, SubscribeStatus, SubscribeStatusResult,
};
use harbor_ipc_proto::frame::MAX_CLIENT_FRAME;
use harbor_ipc_proto::server_id::ServerId;

use super::act::Act;
use super::detail::Detail;
use super::facts::{Health, Server};
use super::model::{Link, Model, Out};
use super::requests::{Aim, Open};
use crate::table::flatten;

/// The pause between two sets of numbers, in milliseconds.
const INTERVAL: u64 = 1000;

/// The number of lines that are asked for: as many as the bridge gives.
const LOG_LINES: u64 = 1000;

impl Model {
    /// Says who we are, and asks for everything.
    pub(super) fn greet(&mut self) {
        let hello = Hello {
            protocol: Some(CLIENT_PROTOCOL),
            client: Some("harbor top".into()),
            chunks: None,
            max_frame: Some(MAX_CLIENT_FRAME as u64),
            browser_session: None,
        };
        self.send(Aim::Greeting, "", hello);
        self.send(Aim::Status, "", SubscribeStatus { subscribe: None, interval_ms: Some(INTERVAL) });
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
        if let Some(detail) = self.detail.take()
            && let Some(server_id) = ServerId::parse(&detail.server)
        {
            let ask = McpGetLogs { server_id, limit: Some(1), follow: Some(false) };
            self.send(Aim::Greeting, &detail.server, ask);
        }
    }

    fn ask_about(&mut self, server: &str) {
        let Some(server_id) = ServerId::parse(server) else { return };
        let log = McpGetLogs { server_id: server_id.clone(), limit: Some(LOG_LINES), follow: Some(true) };
        self.send(Aim::Log, server, log);
        self.send(Aim::Definition, server, ListServers {});
        self.send(Aim::Sandbox, server, GetSandbox { server_id });
        self.ask_for_tools(server);
    }

    /// Asks a running server for its tools. A stopped one is not asked, since that might start it.
    fn ask_for_tools(&mut self, server: &str) {
        if self.servers.get(server).is_some_and(Server::is_running)
            && let Some(server_id) = ServerId::parse(server)
        {
            self.send(Aim::Tools, server, McpListTools { server_id: (&server_id).into(), wait_ms: None });
        }
    }

    /// Begins to do something to a server.
    pub(super) fn act(&mut self, act: Act, server: &str, now: u64) {
        let Some(server_id) = ServerId::parse(server) else { return };
        let progress = Some(true);
        let ask = match act {
            Act::Start => ConnectServer { server_id, progress, restart: None }.into(),
            Act::Stop => DisconnectServer { server_id }.into(),
            Act::Restart => ConnectServer { server_id, progress, restart: Some(true) }.into(),
        };
        let limit = u64::try_from(act.limit().as_millis()).unwrap_or(u64::MAX);
        self.send_until(Some(now.saturating_add(limit)), Aim::Act(act), server, ask);
    }

    fn send(&mut self, aim: Aim, server: &str, ask: impl Into<Request>) {
        self.send_until(None, aim, server, ask.into());
    }

    fn send_until(&mut self, until: Option<u64>, aim: Aim, server: &str, ask: Request) {
        if self.link != Link::Up {
            return;
        }
        let id = self.next_id.to_string();
        self.next_id += 1;
        self.out.push_back(Out::Frame(ask.to_frame(&id).to_vec()));
        self.open.insert(id, Open { aim, server: server.into(), news: String::new(), until, ask });
    }

    /// A frame of the bridge has come.
    pub fn on_frame(&mut self, frame: &[u8], now: u64) {
        // What cannot be read is nothing that we asked for.
        let Ok(heard) = Heard::parse(frame) else { return };
        self.heard = now;
        if heard.is::<StatusUpdate>() {
            heard.read().into_iter().for_each(|update| self.on_update(update));
        } else if heard.is::<ServerLog>() {
            heard.read().into_iter().for_each(|line| self.on_log_line(line));
        } else if heard.is::<Progress>() {
            if let (Some(open), Ok(push)) = (self.open.get_mut(&heard.request_id), heard.read::<Progress>()) {
                open.news = flatten(push.message.as_deref().unwrap_or_default());
            }
        } else if let Some(open) = self.open.remove(&heard.request_id) {
            let taken = match heard.refusal() {
                Some(Ok(refusal)) => Err(Failure::refusal(refusal, open.ask.server(), open.ask.profile())),
                Some(Err(unreadable)) => Err(unreadable.into()),
                None => self.on_answer(&open, &heard, now),
            };
            taken.err().into_iter().for_each(|failure| self.on_failure(&open, &failure, now));
        }
        self.settle();
    }

    fn on_failure(&mut self, open: &Open, failure: &Failure, now: u64) {
        let why = match failure {
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

    fn on_answer(&mut self, open: &Open, answer: &Heard<'_>, now: u64) -> Result<(), Failure> {
        let detail = self.detail.as_mut().filter(|detail| detail.server == open.server);
        match (&open.aim, detail) {
            (Aim::Greeting, _) => {}
            (Aim::Status, _) => self.on_status(answer.read::<SubscribeStatusResult>()?.status),
            (Aim::Act(act), _) => self.say(format!("{} {}", open.server, act.done()), false, now),
            (Aim::Log, Some(detail)) => detail.on_log(answer.read::<McpGetLogsResult>()?.logs),
            (Aim::Tools, Some(detail)) => detail.on_tools(&answer.read::<McpListToolsResult>()?.tools),
            (Aim::Definition, Some(detail)) => {
                detail.on_definitions(answer.read::<ListServersResult>()?.servers);
            }
            (Aim::Sandbox, Some(detail)) => detail.on_sandbox(answer.read::<GetSandboxResult>()?.sandbox),
            (_, None) => {}
        }
        Ok(())
    }

    fn on_log_line(&mut self, line: ServerLog) {
        if let Some(detail) = self.detail.as_mut().filter(|detail| detail.server == line.server_id) {
            let ServerLog { timestamp, source, level, text, .. } = line;
            detail.add_line(LogLine { timestamp, source, level, text });
        }
    }

    fn on_status(&mut self, status: StatusView) {
        self.health = Health::of(&status.health);
        self.limits = Some(status.limits);
        self.agent = status.agent;
        if u64::from(status.bridge.pid) != self.bridge.pid {
            self.servers.clear();
        }
        self.bridge.learn(&status.bridge, true);
        self.on_servers(status.servers, true);
    }

    fn on_update(&mut self, update: StatusUpdate) {
        self.health = Health::of(&update.health);
        let regular = update.category == "numbers";
        if update.agent.is_some() {
            self.agent = update.agent;
        }
        if let Some(bridge) = &update.bridge {
            self.bridge.learn(bridge, regular);
        }
        self.on_servers(update.servers.unwrap_or_default(), regular);
        if let Some(removed) = &update.removed {
            self.servers.remove(removed);
        }
    }

    /// Takes what is told of servers; `all` says that there are no others.
    fn on_servers(&mut self, told: Vec<ServerStatus>, all: bool) {
        if all {
            let ids: Vec<_> = told.iter().map(|server| server.id.clone()).collect();
            self.servers.retain(|id, _| ids.contains(id));
        }
        for told in told {
            let id = told.id.clone();
            let server = self.servers.entry(id.clone()).or_default();
            let ran = server.is_running();
            server.learn(told);
            if all {
                server.note_totals(self.bridge.uptime_ms);
            }
            let came_up = !ran && server.is_running();
            if came_up
                && self.detail.as_ref().is_some_and(|detail| detail.server == id)
                && let Some(server_id) = ServerId::parse(&id)
            {
                self.ask_for_tools(&id);
                self.send(Aim::Sandbox, &id, GetSandbox { server_id });
            }
        }
    }
}
