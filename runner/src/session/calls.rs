//! The bridge's requests to a server: calls, lists, subscriptions, cancels.
//!
//! Owns the way of each to the server. A call that cannot be sent is answered at once.

use std::borrow::Cow;

use harbor_ipc_proto::link::runner::{CallFailure, Era, LogSource, Operation, Outcome};

use serde::Deserialize;
use serde::de::IgnoredAny;

use super::open::{Again, Call, Fetch, Open};
use super::{Offers, Session};
use crate::mcp::pages::{Kind, Next, Pages};
use crate::mcp::write::{Request, discover, put_cancelled, put_request, put_text_member};

impl Session {
    /// Asks the server; the answer goes up as a `Reply` with `id`. `capabilities` is what the caller can answer meanwhile.
    pub fn call(&self, id: u64, progress: bool, capabilities: Option<&str>, operation: &Operation<'_>) {
        let Some((era, offers)) = self.contacted.borrow().as_ref().map(|c| (c.era, c.offers)) else {
            return self.fail(id, CallFailure::NotConnected);
        };
        if let Some(kind) = Kind::of(operation) {
            return self.list(id, kind, fetch_of(operation), offers);
        }
        let as_task = if era == Era::Legacy { self.as_task(operation) } else { None };
        let sent = as_task.as_ref().unwrap_or(operation);
        // A modern server chooses by itself, among the callers that can wait for a task.
        let is_open_to_tasks =
            era == Era::Modern && offers.tasks && matches!(operation, Operation::CallTool { task: None, .. });
        let request = || {
            let request = request_for(sent, era);
            Request {
                capabilities: capabilities.map(Into::into),
                tasks: request.tasks || is_open_to_tasks,
                ..request
            }
        };
        match (operation, era) {
            (Operation::Subscribe { uri }, _) if !offers.subscribe => {
                self.fail(id, CallFailure::NotOffered(format!("subscriptions (to {uri})").into()));
            }
            (Operation::Subscribe { uri }, Era::Modern) => {
                self.listen(Some((id, Some(uri.to_string()))), |uris| {
                    uris.retain(|known| known != uri.as_ref());
                    uris.push(uri.to_string());
                });
            }
            (Operation::Unsubscribe { uri }, Era::Modern) => {
                self.listen(Some((id, None)), |uris| uris.retain(|known| known != uri.as_ref()));
            }
            (Operation::SetLogLevel { level }, Era::Modern) => {
                self.meta.borrow_mut().log_level = Some(level.to_string());
                self.reply(id, Outcome::Result("{}".into()));
            }
            (Operation::Task { params, .. }, _) if has_meta(params) => {
                self.fail(id, CallFailure::NotOffered("a _meta of the caller's own".into()));
            }
            (Operation::Complete { .. }, _) if !offers.completions => {
                self.fail(id, CallFailure::NotOffered("completions".into()));
            }
            (Operation::SetLogLevel { .. }, Era::Legacy) if !offers.logging => {
                self.fail(id, CallFailure::NotOffered("logging".into()));
            }
            (Operation::CallTool { name, arguments, task }, _) => {
                if let Some(failure) = self.wrong_arguments(name, arguments) {
                    return self.fail(id, failure);
                }
                // What a task answers with is a handle, no result.
                let tool = task.is_none().then(|| self.tool_with_output(name)).flatten();
                let task = (as_task.is_some() || is_open_to_tasks).then(Box::default);
                self.send_call(Call { id, tool, progress, task, again: None }, request(), era);
            }
            _ => {
                let call = Call { id, tool: None, progress, task: None, again: None };
                self.send_call(call, request(), era);
            }
        }
    }

    fn send_call(&self, mut call: Call, request: Request, era: Era) {
        let progress = call.progress;
        // Only a modern server may ask for the request again.
        call.again = (era == Era::Modern).then(|| Box::new(Again::of(request.clone())));
        self.send(Open::Call(call), &request, progress);
    }

    /// Sends a request and remembers what its answer ends; answers the bridge when it cannot be sent. Returns its id.
    pub(super) fn send(&self, open: Open, request: &Request, progress: bool) -> Option<u64> {
        let waiting: Vec<_> = match &open {
            Open::Listen(waiting) => waiting.iter().map(|(id, _)| *id).collect(),
            open => open.bridge_id().into_iter().collect(),
        };
        let first = match &open {
            Open::Call(call) => call.again.as_ref().and_then(|again| again.token),
            _ => None,
        };
        let id = self.open.borrow_mut().open(open);
        let token = progress.then(|| first.unwrap_or(id));
        let modern = self.era() == Some(Era::Modern);
        let meta = self.meta.borrow();
        let sent = self.try_write(|out| put_request(out, id, request, token, modern.then_some(&*meta)));
        let Err(failure) = sent else { return Some(id) };
        self.open.borrow_mut().close(id);
        for bridge_id in waiting {
            self.fail(bridge_id, failure.clone());
        }
        None
    }

    fn list(&self, id: u64, kind: Kind, fetch: Option<Fetch>, offers: Offers) {
        let announced = match kind {
            Kind::Tools => offers.tools,
            Kind::Resources | Kind::ResourceTemplates => offers.resources,
            Kind::Prompts => offers.prompts,
        };
        // It is asked anyway: some have lists that they announce nowhere.
        let (pages, request) = if fetch.is_some() { Pages::begin_fetch() } else { Pages::begin(kind) };
        self.send(Open::Page { id, pages, fetch, announced }, &request, false);
    }

    /// Handles an unknown request for a list that the server has not announced: the server has no such list.
    pub(super) fn no_list(&self, id: u64, fetch: Option<Fetch>) {
        match fetch {
            Some(fetch) => self.reply_tools(id, "[]", fetch, Vec::new()),
            None => self.reply_items(id, "[]", 0, &[]),
        }
    }

    fn whole_list(&self, id: u64, pages: &Pages, (items, count): (&str, u32), fetch: Option<Fetch>) {
        let flaws: Vec<_> = pages.flaw().into_iter().collect();
        match fetch {
            Some(fetch) => self.reply_tools(id, items, fetch, flaws),
            None if pages.is_of_tools() => self.reply_listed_tools(id, (items, count), flaws),
            None => self.reply_items(id, items, count, &flaws),
        }
    }

    /// Answers with a list, and says in the log what is wrong with it.
    pub(super) fn reply_items(&self, id: u64, items: &str, count: u32, flaws: &[String]) {
        let flaws = self.told(flaws);
        self.reply(id, Outcome::Items { items: items.into(), count, flaws });
    }

    /// Has the log say what is wrong with a list.
    pub(super) fn told<'a>(&self, flaws: &'a [String]) -> Vec<Cow<'a, str>> {
        for flaw in flaws {
            self.up.log(self.number, LogSource::Runner, None, flaw);
        }
        flaws.iter().map(|flaw| flaw.as_str().into()).collect()
    }

    /// Takes one page of a list.
    pub(super) fn take_page(
        &self,
        id: u64,
        mut pages: Pages,
        (fetch, announced): (Option<Fetch>, bool),
        result: &str,
    ) {
        match pages.take(result, &self.own) {
            Next::Whole(items, count) => {
                if let Some(remark) = pages.remark() {
                    self.up.log(self.number, LogSource::Runner, None, &remark);
                }
                self.whole_list(id, &pages, (&items, count), fetch);
            }
            Next::More(request) => {
                self.send(Open::Page { id, pages, fetch, announced }, &request, false);
            }
            Next::Wrong(why) => self.fail(id, CallFailure::Malformed(why.into())),
        }
    }

    /// Notes that nobody waits for the call `id` any more. The stream of notifications is shared, and goes on.
    pub fn cancel(&self, id: u64, reason: &str) {
        self.forget_round(id);
        self.wait_no_more(id);
        self.cancel_task(id);
        let mut open = self.open.borrow_mut();
        if let Some(wire_id) = open.find(|open| open.bridge_id() == Some(id)) {
            open.close(wire_id);
            self.write(|out| put_cancelled(out, wire_id, reason));
        }
    }
}

fn fetch_of(operation: &Operation<'_>) -> Option<Fetch> {
    match operation {
        Operation::FetchTools { check_output } => Some(Fetch { check_output: *check_output }),
        _ => None,
    }
}

/// True if params bring a `_meta`: Harbor writes its own, and a key must not stand twice.
fn has_meta(params: &str) -> bool {
    #[derive(Deserialize)]
    struct ParamsMeta {
        #[serde(rename = "_meta")]
        meta: Option<IgnoredAny>,
    }
    serde_json::from_str::<ParamsMeta>(params).is_ok_and(|params| params.meta.is_some())
}

/// The one request that `operation` is; those that are more were handled before.
pub(super) fn request_for(operation: &Operation<'_>, era: Era) -> Request {
    let with_uri = |method, uri: &str| {
        let mut members = Vec::new();
        put_text_member(&mut members, "uri", uri);
        Request::new(method, members)
    };
    match (operation, era) {
        (Operation::Ping, Era::Modern) => discover(),
        (Operation::Subscribe { uri }, _) => with_uri("resources/subscribe", uri),
        (Operation::Unsubscribe { uri }, _) => with_uri("resources/unsubscribe", uri),
        (Operation::SetLogLevel { level }, _) => {
            let mut members = Vec::new();
            put_text_member(&mut members, "level", level);
            Request::new("logging/setLevel", members)
        }
        (operation, era) => Request::of(operation, era).unwrap_or_else(|| Request::new("ping", Vec::new())),
    }
}
