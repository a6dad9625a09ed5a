//! The lines of a server's stdout.
//!
//! Owns the way of a line to the call, question or event that it belongs to. A line that is no message becomes a log line,
//! unless it could be a piece of a message. It never ends a server.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::time::Instant;

use harbor_ipc_proto::link::runner::{CallFailure, FromRunner, List, LogSource, Outcome};
use serde::Deserialize;
use serde_json::value::RawValue;

use super::Session;
use super::open::{Call, Open};
use super::refusals::reports_error;
use crate::logs::{MAX_LINE, readable};
use crate::mcp::line::Popped;
use crate::mcp::message::{Answer, Message, NoMessage, read};
use crate::mcp::rounds::asks_for_input;
use crate::mcp::shown::{Shown, id_in_tail, is_cut_off};

/// Progress beyond what the bridge takes in is dropped: the next one says more anyway.
const PROGRESS_LIMIT: usize = 256 * 1024;

/// JSON-RPC's word for a request that is not known.
const METHOD_NOT_FOUND: i64 = -32601;

/// Lines after the beginning of a message that may be the rest of it. The next whole message ends the count.
const PIECES: u32 = 10_000;

impl Session {
    /// Takes a line, or a piece of an overlong one.
    pub(super) fn on_line(&self, line: &Popped<'_>) {
        match line {
            Popped::Line([]) => {}
            Popped::Line(line) => self.on_whole_line(line),
            Popped::Overlong(head) => {
                self.log_broken("it is too long");
                let shown = Shown::of(head);
                let answered = shown.answered().filter(|_| shown.is_answer());
                let found = answered.is_some_and(|id| self.fail_overlong(id));
                self.overlong.set(Some(shown).filter(|shown| !found && !shown.is_none()));
            }
            Popped::OverlongEnd(tail) => {
                if let Some(head) = self.overlong.take() {
                    // An answer of which neither end shows an id: the call that has waited longest is the likeliest.
                    let oldest = || self.open.borrow().oldest().filter(|_| head.is_answer());
                    let id = head.answered().or_else(|| id_in_tail(tail)).or_else(oldest);
                    id.map(|id| self.fail_overlong(id));
                }
            }
        }
    }

    fn fail_overlong(&self, id: u64) -> bool {
        let open = self.open.borrow_mut().close(id);
        match open.as_ref().and_then(Open::bridge_id) {
            Some(bridge_id) => self.fail(bridge_id, CallFailure::TooLarge { limit: self.max_line }),
            None => self.contact_broken(open.as_ref(), "its answer is too long"),
        }
        open.is_some()
    }

    fn on_whole_line(&self, line: &[u8]) {
        let mut read = read(line);
        if self.pieces.get() > 0 {
            // What is an answer in a piece of one says that it is.
            let is_answer = Shown::of(line).is_answer();
            match &mut read {
                Ok(Message::Response { .. }) if !is_answer => {
                    read = Err(NoMessage { answers: None, why: "it is only a part of a message" });
                }
                Ok(_) => self.pieces.set(0),
                Err(no_message) if !is_answer => no_message.answers = None,
                Err(_) => {}
            }
        }
        match read {
            Ok(Message::Response { id, answer }) => self.on_response(id, answer),
            Ok(Message::Request { id, method, params }) => self.on_request(id, &method, params),
            Ok(Message::Notification { method, params }) => self.on_notification(&method, params),
            Err(no_message) => {
                self.log_what_is_none(line, &no_message);
                let open = no_message.answers.and_then(|id| self.open.borrow_mut().close(id));
                match open.as_ref().and_then(Open::bridge_id) {
                    Some(id) => self.fail(id, CallFailure::Malformed(no_message.why.into())),
                    None => self.contact_broken(open.as_ref(), no_message.why),
                }
            }
        }
    }

    fn on_response(&self, id: u64, answer: Answer<'_>) {
        let Some(open) = self.open.borrow_mut().close(id) else {
            let was_open = self.open.borrow().was_given(id);
            return if was_open { self.count_late() } else { self.up.count_stray() };
        };
        match (open, answer) {
            (Open::Probe, answer) => self.on_probe_answer(answer),
            (Open::Initialize, answer) => self.on_initialize_answer(answer),
            (Open::Call(call), Answer::Result(result)) => self.on_result(call, id, result),
            (Open::Page { id, pages, fetch, announced }, Answer::Result(result)) => {
                self.take_page(id, pages, (fetch, announced), result);
            }
            (
                Open::Page { id, fetch, announced: false, .. },
                Answer::Error { code: METHOD_NOT_FOUND, .. },
            ) => {
                self.no_list(id, fetch);
            }
            (Open::Unwanted { may_begin: true }, Answer::Result(result)) => self.on_unwanted(result),
            (Open::Ping | Open::Unwanted { .. }, _) => {}
            (Open::Listen(waiting), answer) => self.on_stream_ended(waiting, &answer),
            (open, Answer::Error { code, message, data }) => {
                if matches!(open, Open::Call(_)) {
                    self.on_words_of_failure(&message);
                }
                if let Some(id) = open.bridge_id() {
                    let data = data.map(Cow::Borrowed);
                    self.reply(id, Outcome::ServerError { code, message: message.into_owned().into(), data });
                }
            }
            (open, Answer::Malformed(why)) => {
                if let Some(id) = open.bridge_id() {
                    self.fail(id, CallFailure::Malformed(why.into()));
                }
            }
        }
    }

    fn on_result(&self, call: Call, wire_id: u64, result: &str) {
        let told = match call.task.is_some() {
            true => self.on_task_told(call, wire_id, result),
            false => Some((call, Cow::Borrowed(result))),
        };
        let Some((call, result)) = told else { return };
        let result = &*result;
        if call.again.is_some() && asks_for_input(result) {
            return self.on_input_required(call, wire_id, result);
        }
        if let Some(tool) = &call.tool {
            self.remark_on_result(tool, result);
        }
        let has_failed = reports_error(result);
        if has_failed {
            self.on_failure_said(result);
        }
        let outcome = if has_failed { Outcome::ToolError } else { Outcome::Result };
        self.reply(call.id, outcome(result.into()));
    }

    fn on_notification(&self, method: &str, params: &str) {
        let list = match method {
            "notifications/progress" => return self.on_progress(params),
            "notifications/message" => return self.on_log_message(params),
            "notifications/resources/updated" => return self.on_resource_updated(params),
            "notifications/subscriptions/acknowledged" => return self.on_acknowledged(params),
            "notifications/tools/list_changed" => List::Tools,
            "notifications/resources/list_changed" => List::Resources,
            "notifications/prompts/list_changed" => List::Prompts,
            _ => return,
        };
        let now = Instant::now();
        self.news.borrow_mut().note_list(list, now);
        self.tell_news(now);
    }

    /// Tells the bridge what has changed, if it is time.
    pub(super) fn tell_news(&self, now: Instant) {
        let news = self.news.borrow_mut().take_due(now);
        self.tell(news);
    }

    /// Tells all that has changed: what was announced before an answer is known before it.
    pub(super) fn tell_news_before_an_answer(&self) {
        let is_something = self.news.borrow().due().is_some();
        if is_something {
            let news = self.news.borrow_mut().take(Instant::now());
            self.tell(news);
        }
    }

    fn tell(&self, news: Option<(BTreeSet<List>, BTreeSet<String>)>) {
        let Some((lists, resources)) = news else { return };
        let server = self.number;
        lists.into_iter().for_each(|list| self.up.send(&FromRunner::ListChanged { server, list }));
        for uri in resources {
            self.up.send(&FromRunner::ResourceUpdated { server, uri: uri.into() });
        }
    }

    fn on_progress(&self, params: &str) {
        #[derive(Deserialize)]
        struct Progress<'a> {
            #[serde(rename = "progressToken")]
            token: u64,
            #[serde(borrow)]
            progress: &'a RawValue,
            #[serde(borrow)]
            total: Option<&'a RawValue>,
            #[serde(borrow)]
            message: Option<Cow<'a, str>>,
        }
        let Ok(said) = serde_json::from_str::<Progress<'_>>(params) else { return self.up.count_stray() };
        let (open, asks) = (self.open.borrow(), self.asks.borrow());
        let is_it = |open: &Open| matches!(open, Open::Call(call) if call.is_told_by(said.token));
        let found = open.get(said.token).or_else(|| open.get(open.find(is_it)?));
        let call = match found {
            Some(Open::Call(call)) => Some(call),
            _ => asks.call_told_by(said.token),
        };
        let Some(call) = call else { return self.up.count_stray() };
        if !call.progress || self.up.pending() > PROGRESS_LIMIT || !is_number(said.progress.get()) {
            return;
        }
        self.up.send(&FromRunner::Progress {
            server: self.number,
            id: call.id,
            progress: said.progress.get().into(),
            total: said.total.map(RawValue::get).filter(|total| is_number(total)).map(Into::into),
            message: said.message.map(|message| cut(&message).to_owned().into()),
        });
    }

    fn on_log_message(&self, params: &str) {
        #[derive(Deserialize)]
        struct LogMessage<'a> {
            #[serde(borrow)]
            level: Option<Cow<'a, str>>,
            #[serde(borrow)]
            data: Option<&'a RawValue>,
        }
        let Ok(said) = serde_json::from_str::<LogMessage<'_>>(params) else { return self.up.count_stray() };
        let data = said.data.map_or("", RawValue::get);
        let text = serde_json::from_str::<String>(data).unwrap_or_else(|_| data.to_owned());
        self.up.log(self.number, LogSource::Mcp, said.level.as_deref().map(cut), cut(&text));
    }

    fn on_resource_updated(&self, params: &str) {
        #[derive(Deserialize)]
        struct Updated<'a> {
            #[serde(borrow)]
            uri: Cow<'a, str>,
        }
        let now = Instant::now();
        let said = serde_json::from_str::<Updated<'_>>(params);
        if !said.is_ok_and(|said| self.news.borrow_mut().note_resource(cut(&said.uri), now)) {
            self.up.count_stray();
        }
        self.tell_news(now);
    }

    fn on_acknowledged(&self, params: &str) {
        #[derive(Deserialize)]
        struct Acknowledged {
            #[serde(rename = "_meta")]
            meta: Subscription,
        }
        #[derive(Deserialize)]
        struct Subscription {
            #[serde(rename = "io.modelcontextprotocol/subscriptionId")]
            id: u64,
        }
        match serde_json::from_str::<Acknowledged>(params) {
            Ok(said) => self.on_stream_stands(said.meta.id),
            Err(_) => self.up.count_stray(),
        }
    }

    /// Logs a line that is no message. If it looks like a message or a piece of one, it may carry a result, and results are
    /// in no log.
    fn log_what_is_none(&self, line: &[u8], NoMessage { answers, why }: &NoMessage) {
        let pieces = self.pieces.get();
        if is_cut_off(line) {
            self.pieces.set(PIECES);
            self.log_broken("it is not on one line");
        } else if answers.is_some() || looks_like_an_answer(line) {
            self.log_broken(why);
        } else if pieces > 0 {
            self.pieces.set(pieces - 1);
            self.up.count_stray();
        } else {
            self.log_stray(line);
        }
    }

    /// Output that is no message is a log line.
    fn log_stray(&self, line: &[u8]) {
        self.up.count_stray();
        self.up.log(self.number, LogSource::Stdout, None, &readable(line, false));
    }

    fn log_broken(&self, why: &str) {
        self.up.count_stray();
        self.up.log(self.number, LogSource::Runner, None, &format!("a message was dropped: {why}"));
    }
}

fn looks_like_an_answer(line: &[u8]) -> bool {
    [&b"\"jsonrpc\""[..], b"\"result\""].iter().any(|key| memchr::memmem::find(line, key).is_some())
}

fn is_number(text: &str) -> bool {
    text.bytes().all(|b| b.is_ascii_digit() || b"+-.eE".contains(&b))
}

/// At most [`MAX_LINE`] bytes of `text`, in whole characters.
fn cut(text: &str) -> &str {
    &text[..text.floor_char_boundary(MAX_LINE)]
}
