//! The bridge's frames: answers, refusals, and what it tells unasked.

use harbor_client::errors::Failure;
use harbor_client::payload::Payload;
use harbor_ipc_proto::client::answer::Heard;
use harbor_ipc_proto::client::{
    AskPush, Chunk, GrantChanged, HelloResult, McpBeginResult, OffersChanged, Progress, ResourceUpdated,
    ServerMessage, ToolsChanged,
};
use harbor_ipc_proto::codes::Code;
use harbor_ipc_proto::json::Json;
use harbor_ipc_proto::source_id::SourceId;
use harbor_policy::tool_name::{Allowlist, EVERY};

use super::super::directory::{Listed, McpList, Page, page};
use super::super::line::{INVALID_PARAMS, NO_RESOURCE, REFUSED};
use super::super::offering::Offering;
use super::super::questions::{self, Ending};
use super::super::target::Target;
use super::super::want::{Call, Open, Step, Want};
use super::super::watches::Change;
use super::super::{code, lazy, write};
use super::{Link, Machine, OWN, Out};

/// The message about a wrong `--browser-session`.
const NOT_JOINED: &str = "harbor mcp: this client has no browser session with that id any more, or the session's \
                          connection has not ended; browser tools begin a new session";

impl Machine {
    /// The bridge has written a frame.
    pub fn on_frame(&mut self, frame: &[u8]) {
        let Ok(heard) = Heard::parse(frame) else {
            return self.out.push(Out::Remark("the bridge sent a frame that is not a JSON object".into()));
        };
        let heeded = match heard.refusal() {
            Some(Ok(refusal)) => Err(Failure::refusal(refusal, None, None)),
            Some(Err(unreadable)) => Err(unreadable.into()),
            None if heard.request_id.is_empty() => self.on_push(&heard),
            None => self.on_message_about(&heard),
        };
        if let Err(failure) = heeded {
            self.on_refusal(&heard.request_id, failure);
        }
    }

    /// Handles a message of the bridge that answers nothing.
    fn on_push(&mut self, push: &Heard<'_>) -> Result<(), Failure> {
        // What it gets at its beginning is no change.
        let is_up = self.link == Link::Up;
        if push.is::<ToolsChanged>() && is_up {
            self.tell_of(Change::Tools);
        } else if push.is::<OffersChanged>() && is_up {
            let is_prompts = push.read::<OffersChanged>()?.kind == "prompts";
            self.tell_of(if is_prompts { Change::Prompts } else { Change::Resources });
        } else if push.is::<GrantChanged>() && is_up {
            Change::ALL.into_iter().for_each(|change| self.tell_of(change));
        } else if push.is::<ResourceUpdated>() {
            let ResourceUpdated { server_id: server, uri: name } = push.read()?;
            let lines = self.watches.updated(&Target { server, name });
            self.write_all(lines);
        } else if push.is::<ServerMessage>() {
            self.on_message(&push.read()?);
        }
        Ok(())
    }

    /// Handles a message of the bridge about a request.
    fn on_message_about(&mut self, heard: &Heard<'_>) -> Result<(), Failure> {
        if heard.is::<Chunk>() {
            self.on_piece(&heard.read()?);
        } else if heard.is::<Progress>() {
            self.on_progress(&heard.read()?);
        } else if heard.is::<AskPush>() {
            self.on_question(heard.read()?);
        } else {
            self.on_answer(heard)?;
        }
        Ok(())
    }

    fn on_piece(&mut self, piece: &Chunk) {
        let id = &piece.request_id;
        match self.pieces.entry(id.clone()).or_default().add(piece) {
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

    fn on_progress(&mut self, push: &Progress) {
        let open = push.request_id.parse().ok().and_then(|number: u64| self.open.get(&number));
        let Some(Open { want: Want::Call(Call { token: Some(token), .. }), id: Some(_), .. }) = open else {
            return;
        };
        let mut params = format!("{{\"progressToken\":{token},\"progress\":{}", push.progress.as_str());
        if let Some(total) = &push.total {
            params.push_str(&format!(",\"total\":{}", total.as_str()));
        }
        if let Some(message) = &push.message {
            params.push_str(&format!(",\"message\":{}", Json::string(message).as_str()));
        }
        params.push('}');
        self.out.push(Out::Line(write::notification("notifications/progress", Some(&params))));
    }

    /// A server asks something about a request.
    fn on_question(&mut self, push: AskPush) {
        let Some((number, question)) = questions::read(push) else { return };
        let Some(open) = self.open.get_mut(&number) else { return };
        if !open.modern {
            let line = self.questions.ask(number, &question);
            return self.out.push(Out::Line(line));
        }
        let result = self.questions.park(number, &open.want, question);
        if let (Some(result), Some(id)) = (result, open.id.take()) {
            self.deliver(&id, Ending::Result(result));
        }
        if let Some(surplus) = self.questions.take_surplus() {
            self.give_up(surplus);
        }
    }

    /// A server has written a message to its log.
    fn on_message(&mut self, push: &ServerMessage) {
        let is_let_in =
            |only: &Allowlist| SourceId::parse(&push.server_id).is_some_and(|id| only.covers(&id, EVERY));
        if !self.only.as_ref().is_none_or(is_let_in) {
            return;
        }
        let [level, logger, data] = [&push.level, &push.server_id, &push.text].map(|text| Json::string(text));
        let (level, logger, data) = (level.as_str(), logger.as_str(), data.as_str());
        let params = format!("{{\"level\":{level},\"logger\":{logger},\"data\":{data}}}");
        self.out.push(Out::Line(write::notification("notifications/message", Some(&params))));
    }

    fn on_answer(&mut self, answer: &Heard<'_>) -> Result<(), Failure> {
        let id = answer.request_id.as_str();
        if id == OWN[0] && answer.read::<HelloResult>()?.joined == Some(false) {
            self.out.push(Out::Remark(NOT_JOINED.into()));
            return Ok(());
        }
        if id == OWN[1] {
            self.names_commands = answer.read::<McpBeginResult>()?.first_use != "none";
            self.begin();
            return Ok(());
        }
        let Ok(number) = id.parse() else { return Ok(()) };
        // One that cannot be read ends it, too: whoever asked is told.
        let Some(open) = self.open.get(&number) else { return Ok(()) };
        match &open.step {
            Step::Look(kinds) => {
                let is_list = matches!(open.want, Want::List(..));
                let by = (self.is_harbor && is_list).then_some(&*self.own);
                let mut learnt = match kinds.first() {
                    Some(kind) => self.directory.learn(*kind, &kind.read(answer)?, self.only.as_ref(), by),
                    None => Vec::new(),
                };
                if !open.modern && kinds.first() == Some(&McpList::Tools) {
                    learnt.iter_mut().for_each(make_older);
                }
                if let Some(open) = self.open.remove(&number) {
                    self.on_list(number, open, &learnt);
                }
            }
            Step::Ask(_) => {
                let result = open.want.result(answer)?;
                if let Some(open) = self.open.remove(&number) {
                    self.on_result(number, &open, result);
                }
            }
        }
        Ok(())
    }

    fn on_result(&mut self, number: u64, open: &Open, result: Json) {
        if let (Want::Subscribe(uri), Step::Ask(target)) = (&open.want, &open.step) {
            self.on_subscribed(open.id.is_some(), uri, target.clone());
        }
        let result = match open.want {
            Want::Call(_) => Json::from_valid(write::with_text(result.as_str()).into_owned()),
            _ => result,
        };
        let result = match open.modern {
            true => write::complete(result.as_str(), matches!(open.want, Want::Read(_))).into_owned(),
            false if open.want.is_tool_call() => write::for_older(result.as_str()).into_owned(),
            false => result.into_string(),
        };
        self.finish(number, open, Ending::Result(result));
    }

    fn on_subscribed(&mut self, by_request: bool, uri: &str, target: Target) {
        if by_request {
            self.watches.subscribe(uri);
        }
        let unwanted = self.watches.follow(uri, target);
        self.forget_resources(unwanted);
    }

    /// A list is there.
    fn on_list(&mut self, number: u64, open: Open, items: &[Listed]) {
        let no_tool = |name: &str| Ending::Error(INVALID_PARAMS, format!("unknown tool: {name:.200}"), None);
        let ending = match &open.want {
            Want::List(kind, behind) => match page(*kind, items, behind.as_deref(), open.modern) {
                Page::Whole(result) => Ending::Result(result),
                Page::NoSuchCursor => Ending::Error(
                    INVALID_PARAMS,
                    "this cursor is no longer valid; list again from the start".into(),
                    None,
                ),
            },
            Want::Search(query) => {
                let found = match self.offering {
                    Offering::Code => code::found(items, &self.directory.tools, query),
                    _ => lazy::found(items, query),
                };
                Ending::Result(completed(&open, &found))
            }
            Want::Describe(name) => match code::described(items, &self.directory.tools, name) {
                Some(result) => Ending::Result(completed(&open, &result)),
                None => no_tool(name),
            },
            _ => return self.look_further(number, open),
        };
        self.finish(number, &open, ending);
    }

    /// Reads the next list, or finds the target.
    fn look_further(&mut self, number: u64, open: Open) {
        let Step::Look(kinds) = &open.step else { return };
        if kinds.len() > 1 {
            let step = Step::Look(kinds[1..].to_vec());
            return self.go_on(Open { step, ..open });
        }
        match self.locate_at_last(&open.want) {
            Ok(target) => self.go_on(Open { step: Step::Ask(target), ..open }),
            Err(why) => self.finish(number, &open, not_found(&open, why)),
        }
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
        let Some(number) = id.parse().ok().filter(|number| self.open.contains_key(number)) else { return };
        let Some(open) = self.open.remove(&number) else { return };
        match (&open.step, &open.want) {
            (Step::Ask(_), Want::Call(call)) if is(Code::ToolNotFound) => {
                let why = format!("unknown tool: {:.200}", call.name);
                self.finish(number, &open, Ending::Error(INVALID_PARAMS, why, None));
            }
            (Step::Look(_), _) if ends && !open.again => self.waiting.push(open),
            (Step::Ask(_), want) if !want.is_tool_call() => {
                let code = if is(Code::InvalidParams) { INVALID_PARAMS } else { REFUSED };
                let ending =
                    of_server(&failure).unwrap_or_else(|| Ending::Error(code, self.words_of(&failure), None));
                self.finish(number, &open, ending);
            }
            _ => self.fail(number, &open, &self.words_of(&failure)),
        }
    }

    /// The refusal, and what can be done about it; the refusal alone where the person wants no AI client to
    /// ask for more.
    fn words_of(&self, failure: &Failure) -> String {
        let text = failure.message().unwrap_or_default();
        let Failure::Refused(refusal) = failure else { return text };
        match text.split_once('\n') {
            Some((what, _)) if refusal.is(Code::ScopeRequired) && !self.names_commands => what.to_owned(),
            // The option of a command line, which no client has.
            Some((what, _)) if refusal.is(Code::ToolTimeout) => with_lines(what, &refusal.beside()),
            _ => with_lines(&text, &refusal.beside()),
        }
    }
}

/// Adds Harbor's own lines. No line of the server may begin like one of them.
fn with_lines(text: &str, said: &[String]) -> String {
    let said = said.iter().map(|said| format!("\nHarbor: {said}"));
    said.fold(text.replace("\nHarbor:", "\n Harbor:"), |text, said| text + &said)
}

fn make_older(tool: &mut Listed) {
    if let Some(older) = write::tool_for_older(&tool.json) {
        tool.json = older;
    }
}

fn completed(open: &Open, result: &str) -> String {
    match open.modern {
        true => write::complete(result, false).into_owned(),
        false => result.to_owned(),
    }
}

fn not_found(open: &Open, why: String) -> Ending {
    let code = match &open.want {
        Want::Read(_) | Want::Subscribe(_) if !open.modern => NO_RESOURCE,
        _ => INVALID_PARAMS,
    };
    Ending::Error(code, why, None)
}

/// A server's own error, which stays what it is.
fn of_server(failure: &Failure) -> Option<Ending> {
    let Failure::Refused(refusal) = failure else { return None };
    let details = Payload::parse(refusal.details.as_ref()?.as_bytes())?;
    let (code, _) = (details.value("code").as_i64()?, details.raw("message")?);
    Some(Ending::Error(code, details.text("message"), details.raw("data").map(str::to_owned)))
}
