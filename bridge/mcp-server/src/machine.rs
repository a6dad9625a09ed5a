//! Translates an AI client's lines into requests to the bridge, and the bridge's frames into lines to the
//! client.
//!
//! ```text
//!  line ──► answered here: initialize, server/discover, ping, whatever is wrong
//!    │
//!    └─► want ─ it is known what is meant ─► Ask ─► its server's answer; a refusal
//!         └──── it is not ─► Look: lists of the bridge ─► the same
//!
//!  link:  Down ─ a request ─► Dialing ─► Beginning ─ mcp_begin is answered ─► Up
//!          ▲                     │ no bridge      │                           │ shutting_down
//!          └─────────────────────┴────────────────┴──── connection lost ◄─ Ending
//! ```
//!
//! Owns which request gets which answer: each request gets one, in whatever order. A list is asked for again
//! when its bridge was lost; a call that may have been made is not. Pure: no clock, no I/O; a driver performs
//! the actions that it puts out.

mod answers;
mod requests;

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use harbor_client::errors::{CALL_LOST, Failure};
use harbor_client::reply::Pieces;
use harbor_ipc_proto::CLIENT_PROTOCOL;
use harbor_ipc_proto::client::{
    Hello, HostWatch, McpBegin, McpFollowMessages, McpUnsubscribeResource, Request,
};
use harbor_ipc_proto::frame::{HEADER, MAX_CLIENT_FRAME};
use harbor_ipc_proto::server_id::ServerId;
use harbor_policy::tool_name::Allowlist;

use super::directory::Directory;
use super::line::{self, INVALID_REQUEST, Line};
use super::offering::Offering;
use super::questions::{Ending, Questions};
use super::target::Target;
use super::want::{Open, Want};
use super::watches::{Change, Watches};
use super::write;

/// The ids of our own requests; those of others are numbers.
const OWN: [&str; 3] = ["hello", "begin", "watch"];

/// An action for the driver.
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

/// The state of the connection to the bridge.
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
    offering: Offering,
    /// The browser session that the client resumes.
    browser_session: Option<String>,
    /// The identity of this Harbor.
    own: String,
    /// True if the client is a Harbor, too.
    is_harbor: bool,
    link: Link,
    /// True if there was a bridge before.
    had_bridge: bool,
    directory: Directory,
    next: u64,
    quiet: u64,
    /// Requests that the bridge works on, by the id that it knows.
    open: BTreeMap<u64, Open>,
    /// Requests that wait for the bridge.
    waiting: Vec<Open>,
    /// The client's ids that are not free.
    ids: HashSet<String>,
    pieces: HashMap<String, Pieces>,
    /// True if the client has said `initialize`.
    greeted: bool,
    /// The client's capabilities, JSON text, where it has told them once for all.
    capabilities: Option<String>,
    /// The least level of the servers' messages that the client wants.
    level: Option<String>,
    watches: Watches,
    /// Resources that the bridge must still be asked to report, one after the other.
    wishes: BTreeSet<String>,
    questions: Questions,
    /// True if a refusal names the command that gives the missing permission.
    names_commands: bool,
    out: Vec<Out>,
}

impl Machine {
    /// A machine that lists and lets through these tools only, and offers them so.
    pub fn new(only: Option<Allowlist>, offering: Offering) -> Self {
        Self {
            only,
            offering,
            browser_session: None,
            own: String::new(),
            is_harbor: false,
            link: Link::Down,
            had_bridge: false,
            directory: Directory::default(),
            next: 1,
            quiet: 0,
            wishes: BTreeSet::new(),
            open: BTreeMap::new(),
            waiting: Vec::new(),
            ids: HashSet::new(),
            pieces: HashMap::new(),
            greeted: false,
            capabilities: None,
            level: None,
            watches: Watches::default(),
            questions: Questions::named("harbor"),
            names_commands: true,
            out: Vec::new(),
        }
    }

    /// Gives the machine a name that no other machine has, so that its client's states belong to it alone.
    pub fn named(mut self, name: &str) -> Self {
        self.questions = Questions::named(name);
        self
    }

    /// Lets the machine resume an earlier browser session of its client.
    pub fn going_on_with(mut self, browser_session: Option<&str>) -> Self {
        self.browser_session = browser_session.map(str::to_owned);
        self
    }

    /// True if a client that says nothing more gets no more answers. Subscriptions have no end, and a request
    /// that waits for the client's answer to a question gets none.
    pub fn is_settled(&self) -> bool {
        let waits = |open: &Open| open.id.is_some();
        let comes = |(number, open): (&u64, &Open)| waits(open) && !self.questions.are_about(*number);
        !self.waiting.iter().any(waits) && !self.open.iter().any(comes)
    }

    /// The actions that are new since the last call.
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
            Line::Response { id, answer } => self.on_response(id, answer),
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
        let frame = match open.ask() {
            Ok(ask) => ask.to_frame(&number.to_string()),
            Err(failure) => return self.fail(number, &open, &failure.message().unwrap_or_default()),
        };
        if frame.len() > MAX_CLIENT_FRAME + HEADER {
            return self.fail(number, &open, "the arguments are longer than 64 MiB");
        }
        self.next += 1;
        self.out.push(Out::Frame(frame.to_vec(), Some(number)));
        self.open.insert(number, open);
    }

    /// Sends the bridge a request without an answer, if there is a bridge. The next bridge gets it when it begins.
    fn ask_quietly(&mut self, ask: impl Into<Request>) {
        if self.link == Link::Up {
            // An id of its own: the bridge may still be at the one before. No answer finds a number in it.
            self.quiet += 1;
            self.out.push(Out::Frame(ask.into().to_frame(&format!("quiet {}", self.quiet)).to_vec(), None));
        }
    }

    fn forget_resources(&mut self, unwanted: Vec<Target>) {
        for target in unwanted {
            if let Some(server_id) = ServerId::parse(&target.server) {
                self.ask_quietly(McpUnsubscribeResource { server_id, uri: target.name });
            }
        }
    }

    /// There is a bridge, to which nothing has been said but who we are; of the Harbor with the identity `own`.
    pub fn on_connected(&mut self, own: String) {
        self.own = own;
        self.link = Link::Beginning;
        let hello = Hello {
            protocol: Some(CLIENT_PROTOCOL),
            client: Some("harbor mcp".into()),
            chunks: Some(true),
            max_frame: Some(MAX_CLIENT_FRAME as u64),
            browser_session: self.browser_session.clone(),
        };
        let begin = McpBegin { only: self.only.as_ref().map(Allowlist::entries) };
        let first: [Request; 3] = [hello.into(), begin.into(), HostWatch { watch: None }.into()];
        for (ask, id) in first.iter().zip(OWN) {
            self.out.push(Out::Frame(ask.to_frame(id).to_vec(), None));
        }
    }

    /// There is no bridge, and why.
    pub fn on_no_bridge(&mut self, why: &Failure) {
        self.link = Link::Down;
        let text = why.message().unwrap_or_default();
        self.out.push(Out::Remark(text.clone()));
        for open in std::mem::take(&mut self.waiting) {
            self.fail(0, &open, &text);
        }
    }

    /// The bridge is gone, and has not seen the requests with the numbers `unsent`.
    pub fn on_lost(&mut self, unsent: &[u64]) {
        self.link = Link::Down;
        self.pieces.clear();
        let taken_back = self.questions.take_back_all();
        self.write_all(taken_back);
        let (mut sent, mut waiting) = (std::mem::take(&mut self.open), std::mem::take(&mut self.waiting));
        waiting.extend(unsent.iter().filter_map(|number| sent.remove(number)));
        let mut others = Vec::new();
        for (number, open) in sent {
            match open.id.is_none() || open.may_have_acted() {
                true => self.fail(number, &open, CALL_LOST),
                false => others.push(open),
            }
        }
        // Of those for which nobody waits: what they were for is asked for again with the next bridge.
        waiting.retain(|open| open.id.is_some());
        for open in waiting.into_iter().chain(others) {
            match open.again {
                true => self.fail(0, &open, "the bridge was lost twice; try again"),
                false => self.go_on(Open { again: true, ..open }),
            }
        }
    }

    /// The bridge knows us: what has waited can be asked.
    fn begin(&mut self) {
        self.link = Link::Up;
        self.wishes = self.watches.wanted();
        if let Some(level) = self.level.clone() {
            self.ask_quietly(McpFollowMessages { level });
        }
        if std::mem::replace(&mut self.had_bridge, true) {
            Change::ALL.into_iter().for_each(|change| self.tell_of(change));
        }
        for open in std::mem::take(&mut self.waiting) {
            self.send(open);
        }
        self.follow_next();
    }

    /// Asks for the next resource to follow, unless such a request is under way: all at once would be too many calls.
    fn follow_next(&mut self) {
        let is_under_way = |open: &Open| open.id.is_none() && matches!(open.want, Want::Subscribe(_));
        if self.open.values().chain(&self.waiting).any(is_under_way) {
            return;
        }
        if let Some(uri) = self.wishes.pop_first() {
            self.start(None, true, Want::Subscribe(uri), None);
        }
    }

    fn tell_of(&mut self, change: Change) {
        let lines = self.watches.changed(change);
        self.write_all(lines);
    }

    /// A request comes to nothing: a call's result says so, all else is an error.
    fn fail(&mut self, number: u64, open: &Open, text: &str) {
        let ending = match open.want.is_tool_call() {
            true => Ending::Result(write::failed(text)),
            false => Ending::Error(line::REFUSED, text.to_owned(), None),
        };
        self.finish(number, open, ending);
    }

    /// Ends a request. If the client has to make it again first, the result waits for that.
    fn finish(&mut self, number: u64, open: &Open, ending: Ending) {
        let taken_back = self.questions.end_of(number);
        self.write_all(taken_back);
        if let Want::List(kind, _) = &open.want {
            // Whatever it says.
            self.watches.note_list(*kind);
        }
        match &open.id {
            Some(id) => self.deliver(id, ending),
            None if matches!(open.want, Want::Subscribe(_)) && self.link == Link::Up => self.follow_next(),
            None => self.questions.end(number, ending),
        }
    }

    fn deliver(&mut self, id: &str, ending: Ending) {
        self.ids.remove(id);
        self.out.push(Out::Line(match ending {
            Ending::Result(result) => write::result(id, &result),
            Ending::Error(code, message, data) => write::error(Some(id), code, &message, data.as_deref()),
        }));
    }

    fn say(&mut self, id: &str, result: &str) {
        self.out.push(Out::Line(write::result(id, result)));
    }

    fn say_error(&mut self, id: Option<&str>, code: i64, message: &str) {
        self.out.push(Out::Line(write::error(id, code, message, None)));
    }

    fn write_all(&mut self, lines: Vec<Vec<u8>>) {
        self.out.extend(lines.into_iter().map(Out::Line));
    }
}

#[cfg(test)]
mod tests;
