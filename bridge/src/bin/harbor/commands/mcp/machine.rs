//! What an AI client's lines mean to the bridge, and the bridge's frames to the client.
//!
//! ```text
//!  line ──► answered here: initialize, server/discover, ping, whatever is wrong
//!    │
//!    └─► tools/list ─────────────► host_list_tools ─► a page of it
//!        tools/call ─ known name ─► host_call_tool ─► its result; a refusal is a result with isError
//!              └──── other name ──► host_list_tools ─► the same
//!
//!  link:  Down ─ a request ─► Dialing ─► Beginning ─ mcp_begin is answered ─► Up
//!          ▲                     │ no bridge      │                           │ shutting_down
//!          └─────────────────────┴────────────────┴──── connection lost ◄─ Ending
//! ```
//!
//! Owns who is answered what: each request once, in whatever order. A list is asked for again when its bridge was lost; a
//! call that may have been made is not. Pure: no clock, no I/O; a driver performs what it puts out.

use std::collections::{BTreeMap, HashMap, HashSet};

use harbor_ipc_proto::CLIENT_PROTOCOL;
use harbor_ipc_proto::codes::Code;
use harbor_ipc_proto::frame::{HEADER, MAX_CLIENT_FRAME};
use harbor_ipc_proto::json::Fields;
use harbor_policy::limits::OPEN_PER_CLIENT;
use harbor_policy::tool_name::{self, Allowlist};

use super::line::{self, INVALID_PARAMS, INVALID_REQUEST, Line, NO_METHOD, REFUSED, UNSUPPORTED_VERSION};
use super::list::{self, Page};
use super::names::{Names, tool_without_list};
use super::request::{Aim, Call, Open, text};
use super::write::{self, LIST_CHANGED, MODERN};
use crate::ask::Ask;
use crate::errors::Failure;
use crate::reply::{Members, Pieces};

/// How a request shows its revision where there was no `initialize`.
const VERSION: &str = "io.modelcontextprotocol/protocolVersion";

/// The ids of our own requests; those of others are numbers.
const OWN: [&str; 3] = ["hello", "begin", "watch"];

/// What the driver has to do.
#[derive(Debug, PartialEq, Eq)]
pub enum Out {
    /// Write this line to the AI client.
    Line(Vec<u8>),
    /// Write this frame to the bridge; of a request, with its number.
    Frame(Vec<u8>, Option<u64>),
    /// Find or start the bridge.
    Dial,
    /// Tell the person.
    Remark(String),
}

/// How it stands with the bridge.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Link {
    Down,
    Dialing,
    Beginning,
    Up,
    Ending,
}

/// The machine.
#[derive(Debug)]
pub struct Machine {
    only: Option<Allowlist>,
    link: Link,
    /// Whether there was a bridge before.
    had_bridge: bool,
    names: Names,
    next: u64,
    /// What the bridge works on, by the id that it knows.
    open: BTreeMap<u64, Open>,
    /// What waits for the bridge.
    waiting: Vec<Open>,
    /// The client's ids that are not free.
    ids: HashSet<String>,
    pieces: HashMap<String, Pieces>,
    /// Whether the client is told of changes without having asked for it.
    initialized: bool,
    /// The subscriptions in which it is told.
    listens: Vec<String>,
    /// Whether there is nothing to tell: it was told of a change, and has not had a list since.
    told: bool,
    out: Vec<Out>,
}

impl Machine {
    /// One that lists and lets through these tools only.
    pub fn new(only: Option<Allowlist>) -> Self {
        Self {
            only,
            link: Link::Down,
            had_bridge: false,
            names: Names::default(),
            next: 1,
            open: BTreeMap::new(),
            waiting: Vec::new(),
            ids: HashSet::new(),
            pieces: HashMap::new(),
            initialized: false,
            listens: Vec::new(),
            told: true,
            out: Vec::new(),
        }
    }

    /// What is to be done since it was last asked.
    pub fn take_out(&mut self) -> Vec<Out> {
        std::mem::take(&mut self.out)
    }

    /// Has the bridge dialled, if need be: a new client gets its grants before it asks.
    pub fn dial(&mut self) {
        if self.link == Link::Down {
            self.link = Link::Dialing;
            self.out.push(Out::Dial);
        }
    }

    /// The client has written a line.
    pub fn on_line(&mut self, line: &[u8]) {
        match line::read(line) {
            Line::Nothing => {}
            Line::Notification { method, params } => self.on_notification(&method, params),
            Line::Wrong { id, code, message } => {
                self.say_error(id.filter(|id| !self.ids.contains(*id)), code, message);
            }
            Line::Request { id, .. } if self.ids.contains(id) => {
                self.say_error(None, INVALID_REQUEST, "a request with this id is still open");
            }
            Line::Request { id, method, params } => self.on_request(id, &method, params),
        }
    }

    /// The client has written more in a line than is read.
    pub fn on_overlong_line(&mut self) {
        self.say_error(None, INVALID_REQUEST, "the line is longer than 64 MiB");
    }

    fn on_notification(&mut self, method: &str, params: &str) {
        match method {
            "notifications/initialized" => self.initialized = true,
            "notifications/cancelled" => {
                if let Ok(fields) = Fields::parse(params.as_bytes())
                    && let Some(id) = fields.get("requestId")
                {
                    self.cancel(id);
                }
            }
            _ => {}
        }
    }

    /// Ends a request, which is not answered then.
    fn cancel(&mut self, id: &str) {
        if !self.ids.remove(id) {
            return;
        }
        self.listens.retain(|listening| listening != id);
        self.waiting.retain(|open| open.id != id);
        let number = self.open.iter().find(|(_, open)| open.id == id).map(|(number, _)| *number);
        if let Some(number) = number {
            self.open.remove(&number);
            let cancel = Ask::new("cancel").text("target", &number.to_string());
            self.out.push(Out::Frame(cancel.to_frame(&format!("cancel {number}")), None));
        }
    }

    fn on_request(&mut self, id: &str, method: &str, params: &str) {
        let Ok(fields) = Fields::parse(params.as_bytes()) else {
            return self.say_error(Some(id), INVALID_PARAMS, "`params` is no object");
        };
        let meta = fields.get("_meta").and_then(|meta| Fields::parse(meta.as_bytes()).ok());
        let meta = meta.unwrap_or_default();
        let version = text(&meta, VERSION);
        if let Some(version) = version.as_deref().filter(|version| *version != MODERN) {
            let (message, data) = ("this revision of MCP is not spoken here", write::supported(version));
            let line = write::error(Some(id), UNSUPPORTED_VERSION, message, Some(&data));
            return self.out.push(Out::Line(line));
        }
        let modern = version.is_some();
        match method {
            "initialize" => self.say(id, &write::initialized(text(&fields, "protocolVersion").as_deref())),
            "ping" => self.say(id, "{}"),
            "server/discover" => self.say(id, &write::discovered()),
            "subscriptions/listen" if modern => self.listen(id, &fields),
            "tools/list" => self.list(id, modern, &fields),
            "tools/call" => match Call::read(&fields, &meta) {
                Ok(call) => self.start(id, modern, self.aim_of(call)),
                Err(why) => self.say_error(Some(id), INVALID_PARAMS, why),
            },
            _ => self.say_error(Some(id), NO_METHOD, "there is no such method"),
        }
    }

    fn list(&mut self, id: &str, modern: bool, fields: &Fields<'_>) {
        match (fields.get("cursor"), text(fields, "cursor")) {
            (Some(_), None) => self.say_error(Some(id), INVALID_PARAMS, "`cursor` is no string"),
            (_, cursor) => self.start(id, modern, Aim::List(cursor)),
        }
    }

    /// Begins a subscription: it is never answered, and lasts until it is cancelled.
    fn listen(&mut self, id: &str, fields: &Fields<'_>) {
        let wanted = fields.get("notifications").and_then(|wanted| Fields::parse(wanted.as_bytes()).ok());
        let tools = wanted.is_some_and(|wanted| wanted.get("toolsListChanged") == Some("true"));
        let heard = if tools { "{\"toolsListChanged\":true}" } else { "{}" };
        let params = format!("{{{},\"notifications\":{heard}}}", write::of_subscription(id));
        self.notify("notifications/subscriptions/acknowledged", Some(&params));
        self.ids.insert(id.to_owned());
        if tools {
            self.listens.push(id.to_owned());
            self.dial();
        }
    }

    fn start(&mut self, id: &str, modern: bool, aim: Aim) {
        if self.ids.len() >= usize::try_from(OPEN_PER_CLIENT).unwrap_or(usize::MAX) {
            return self.say_error(Some(id), REFUSED, "too many requests are open; wait for answers");
        }
        self.ids.insert(id.to_owned());
        self.go_on(Open { id: id.to_owned(), modern, aim, again: false });
    }

    /// Sends what a request needs next, or has it wait for the bridge.
    fn go_on(&mut self, open: Open) {
        match self.link {
            Link::Up => self.send(open),
            _ => {
                self.waiting.push(open);
                self.dial();
            }
        }
    }

    fn send(&mut self, open: Open) {
        let number = self.next;
        let frame = open.aim.ask().to_frame(&number.to_string());
        if frame.len() > MAX_CLIENT_FRAME + HEADER {
            return self.fail(&open, "the arguments are longer than 64 MiB");
        }
        self.next += 1;
        self.out.push(Out::Frame(frame, Some(number)));
        self.open.insert(number, open);
    }

    fn aim_of(&self, call: Call) -> Aim {
        match self.names.tool(&call.name).map(str::to_owned) {
            Some(tool) => Aim::Call(call, tool),
            None => Aim::Find(call),
        }
    }

    /// There is a bridge, to which nothing has been said but who we are.
    pub fn on_connected(&mut self) {
        self.link = Link::Beginning;
        let hello = Ask::new("hello")
            .number("protocol", CLIENT_PROTOCOL.into())
            .text("client", "harbor mcp")
            .flag("chunks", true)
            .number("max_frame", MAX_CLIENT_FRAME as u64);
        let begin = Ask::new("mcp_begin");
        let begin = match &self.only {
            Some(only) => begin.list("only", &only.entries()),
            None => begin,
        };
        for (ask, id) in [hello, begin, Ask::new("host_watch")].iter().zip(OWN) {
            self.out.push(Out::Frame(ask.to_frame(id), None));
        }
    }

    /// There is no bridge, and why.
    pub fn on_no_bridge(&mut self, why: &Failure) {
        self.link = Link::Down;
        let text = why.message().unwrap_or_default();
        self.out.push(Out::Remark(text.clone()));
        for open in std::mem::take(&mut self.waiting) {
            self.fail(&open, &text);
        }
    }

    /// The bridge is gone, and has not seen the requests with the numbers `unsent`.
    pub fn on_lost(&mut self, unsent: &[u64]) {
        self.link = Link::Down;
        self.pieces.clear();
        let (mut sent, mut waiting) = (std::mem::take(&mut self.open), std::mem::take(&mut self.waiting));
        waiting.extend(unsent.iter().filter_map(|number| sent.remove(number)));
        let (calls, lists): (Vec<_>, Vec<_>) =
            sent.into_values().partition(|open| matches!(open.aim, Aim::Call(..)));
        for open in calls {
            self.fail(&open, "the bridge is gone. The call may have been made; it was not sent again");
        }
        for open in waiting.into_iter().chain(lists) {
            match open.again {
                true => self.fail(&open, "the bridge was lost twice; try again"),
                false => self.go_on(Open { again: true, ..open }),
            }
        }
    }

    /// The bridge has written a frame.
    pub fn on_frame(&mut self, frame: &[u8]) {
        let Some(mut message) = Members::parse(frame) else {
            return self.out.push(Out::Remark("the bridge sent a frame that is no JSON object".into()));
        };
        let (tag, id) = (message.text("type"), message.text("request_id"));
        match tag.as_str() {
            "chunk" => self.on_piece(&id, &message),
            "progress" => self.on_progress(&id, &message),
            // What it gets at its beginning is no change.
            "tools_changed" | "grant_changed" if self.link == Link::Up => self.tell_of_change(),
            "error" => {
                let error = message.object("error");
                self.on_refusal(&id, error.into_refusal(&Ask::new("")));
            }
            _ => {
                message.remove("type");
                self.on_answer(&id, &message);
            }
        }
    }

    fn on_piece(&mut self, id: &str, piece: &Members) {
        match self.pieces.entry(id.to_owned()).or_default().add(piece) {
            Ok(None) => {}
            Ok(Some(whole)) => {
                self.pieces.remove(id);
                self.on_frame(&whole);
            }
            Err(failure) => {
                self.pieces.remove(id);
                self.on_refusal(id, failure);
            }
        }
    }

    fn on_progress(&mut self, id: &str, progress: &Members) {
        let open = id.parse().ok().and_then(|number: u64| self.open.get(&number));
        let Some(Open { aim: Aim::Call(Call { token: Some(token), .. }, _), .. }) = open else { return };
        let mut params = format!("{{\"progressToken\":{token}");
        for name in ["progress", "total", "message"] {
            if let Some(value) = progress.raw(name) {
                params.push_str(&format!(",\"{name}\":{value}"));
            }
        }
        params.push('}');
        self.notify("notifications/progress", Some(&params));
    }

    fn on_answer(&mut self, id: &str, answer: &Members) {
        if id == OWN[1] {
            return self.begin();
        }
        let Some(open) = id.parse().ok().and_then(|number: u64| self.open.remove(&number)) else { return };
        match &open.aim {
            Aim::Call(..) => {
                let result = answer.raw("result").unwrap_or("{}");
                match open.modern {
                    true => self.finish(&open, &write::complete(result)),
                    false => self.finish(&open, result),
                }
            }
            Aim::List(behind) => {
                let tools = self.read_list(answer);
                match list::page(&tools, behind.as_deref(), open.modern) {
                    Page::Whole(result) => self.finish(&open, &result),
                    Page::NoSuchCursor => {
                        self.finish_with_error(&open, INVALID_PARAMS, "there is no such cursor any more");
                    }
                }
            }
            Aim::Find(_) => {
                self.read_list(answer);
                self.found(open);
            }
        }
    }

    /// Learns the names of a list; gives what of it may be shown.
    fn read_list(&mut self, answer: &Members) -> Vec<list::Listed> {
        self.names = Names::default();
        list::read(answer, self.only.as_ref(), &mut self.names)
    }

    /// The list is there, or there is none. A tool that is not in it is still asked for: the bridge knows why.
    fn found(&mut self, open: Open) {
        let Open { id, modern, aim: Aim::Find(call), again } = open else { return };
        let known = self.names.tool(&call.name).map(str::to_owned);
        let tool = known.or_else(|| tool_without_list(&call.name)).filter(|tool| self.lets_through(tool));
        match tool {
            Some(tool) => self.go_on(Open { id, modern, aim: Aim::Call(call, tool), again }),
            None => self.say_unknown_tool(&id, &call.name),
        }
    }

    fn lets_through(&self, tool: &str) -> bool {
        let Some(only) = &self.only else { return true };
        tool_name::split(tool).is_ok_and(|(server, tool)| only.covers(&server, tool))
    }

    fn on_refusal(&mut self, id: &str, failure: Failure) {
        let is = |code| matches!(&failure, Failure::Refused(refusal) if refusal.is(code));
        let ends = is(Code::ShuttingDown);
        if ends && self.link != Link::Down {
            self.link = Link::Ending;
        }
        if id == OWN[1] && !ends {
            self.out.push(Out::Remark(failure.message().unwrap_or_default()));
            return self.begin();
        }
        let Some(open) = id.parse().ok().and_then(|number: u64| self.open.remove(&number)) else { return };
        match &open.aim {
            Aim::Call(call, _) if is(Code::ToolNotFound) => self.say_unknown_tool(&open.id, &call.name),
            Aim::List(_) | Aim::Find(_) if ends && !open.again => self.waiting.push(open),
            Aim::Find(_) if !ends => self.found(open),
            _ => self.fail(&open, &failure.message().unwrap_or_default()),
        }
    }

    /// The bridge knows us: what has waited can be asked.
    fn begin(&mut self) {
        self.link = Link::Up;
        if std::mem::replace(&mut self.had_bridge, true) {
            self.tell_of_change();
        }
        for open in std::mem::take(&mut self.waiting) {
            self.send(open);
        }
    }

    /// Says once that another list can be had, until there is a request for it.
    fn tell_of_change(&mut self) {
        if std::mem::replace(&mut self.told, true) {
            return;
        }
        if self.initialized {
            self.notify(LIST_CHANGED, None);
        }
        for id in self.listens.clone() {
            self.notify(LIST_CHANGED, Some(&format!("{{{}}}", write::of_subscription(&id))));
        }
    }

    /// A request comes to nothing: a call's result says so, a list is an error.
    fn fail(&mut self, open: &Open, text: &str) {
        match open.aim {
            Aim::List(_) => self.finish_with_error(open, REFUSED, text),
            Aim::Find(_) | Aim::Call(..) => self.finish(open, &write::failed(text)),
        }
    }

    fn say_unknown_tool(&mut self, id: &str, name: &str) {
        self.ids.remove(id);
        self.say_error(Some(id), INVALID_PARAMS, &format!("unknown tool: {name:.200}"));
    }

    fn finish(&mut self, open: &Open, result: &str) {
        self.free(open);
        self.say(&open.id, result);
    }

    fn finish_with_error(&mut self, open: &Open, code: i64, message: &str) {
        self.free(open);
        self.say_error(Some(&open.id), code, message);
    }

    /// A request has its answer. After that of a list, whatever it says, the next change is news.
    fn free(&mut self, open: &Open) {
        self.ids.remove(&open.id);
        self.told &= !matches!(open.aim, Aim::List(_));
    }

    fn say(&mut self, id: &str, result: &str) {
        self.out.push(Out::Line(write::result(id, result)));
    }

    fn say_error(&mut self, id: Option<&str>, code: i64, message: &str) {
        self.out.push(Out::Line(write::error(id, code, message, None)));
    }

    fn notify(&mut self, method: &str, params: Option<&str>) {
        self.out.push(Out::Line(write::notification(method, params)));
    }
}

#[cfg(test)]
mod tests;
