//! The bridge's frames: answers, refusals, and what it tells unasked.

use harbor_ipc_proto::client::Chunk;
use harbor_ipc_proto::codes::Code;
use harbor_ipc_proto::source_id::SourceId;
use harbor_policy::tool_name::{Allowlist, EVERY};

use super::super::directory::{Listed, Page, Target, page};
use super::super::line::{INVALID_PARAMS, NO_RESOURCE, REFUSED};
use super::super::questions::{self, Ending};
use super::super::want::{Call, Open, Step, Want};
use super::super::watches::Change;
use super::super::{lazy, write};
use super::{Link, Machine, OWN, Out};
use crate::ask::Ask;
use crate::errors::Failure;
use crate::reply::{Answer, Members};

impl Machine {
    /// The bridge has written a frame.
    pub fn on_frame(&mut self, frame: &[u8]) {
        let Some(mut message) = Members::parse(frame) else {
            return self.out.push(Out::Remark("the bridge sent a frame that is no JSON object".into()));
        };
        let (tag, id) = (message.text("type"), message.text("request_id"));
        // What it gets at its beginning is no change.
        let is_up = self.link == Link::Up;
        match tag.as_str() {
            "chunk" => match Answer::<Chunk>::parse(frame.to_vec()) {
                Ok(piece) => self.on_piece(&id, &piece),
                Err(failure) => self.on_refusal(&id, failure),
            },
            "progress" => self.on_progress(&id, &message),
            "ask" => self.on_question(&message),
            "tools_changed" if is_up => self.tell_of(Change::Tools),
            "offers_changed" if is_up && message.text("kind") == "prompts" => self.tell_of(Change::Prompts),
            "offers_changed" if is_up => self.tell_of(Change::Resources),
            "grant_changed" if is_up => Change::ALL.into_iter().for_each(|change| self.tell_of(change)),
            "resource_updated" => {
                let target = Target { server: message.text("server_id"), name: message.text("uri") };
                let lines = self.watches.updated(&target);
                self.write_all(lines);
            }
            "server_message" => self.on_message(&message),
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

    fn on_piece(&mut self, id: &str, piece: &Chunk) {
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
        let Some(Open { want: Want::Call(Call { token: Some(token), .. }), id: Some(_), .. }) = open else {
            return;
        };
        let mut params = format!("{{\"progressToken\":{token}");
        for name in ["progress", "total", "message"] {
            if let Some(value) = progress.raw(name) {
                params.push_str(&format!(",\"{name}\":{value}"));
            }
        }
        params.push('}');
        self.out.push(Out::Line(write::notification("notifications/progress", Some(&params))));
    }

    /// A server asks something about a request.
    fn on_question(&mut self, push: &Members) {
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
    fn on_message(&mut self, push: &Members) {
        let is_let_in = |only: &Allowlist| {
            SourceId::parse(&push.text("server_id")).is_some_and(|id| only.covers(&id, EVERY))
        };
        if !self.only.as_ref().is_none_or(is_let_in) {
            return;
        }
        let raw = |name| push.raw(name).unwrap_or("\"\"");
        let params = format!(
            "{{\"level\":{},\"logger\":{},\"data\":{}}}",
            raw("level"),
            raw("server_id"),
            raw("text")
        );
        self.out.push(Out::Line(write::notification("notifications/message", Some(&params))));
    }

    fn on_answer(&mut self, id: &str, answer: &Members) {
        if id == OWN[1] {
            self.names_commands = answer.text("first_use") != "none";
            return self.begin();
        }
        let Some(number) = id.parse().ok().filter(|number| self.open.contains_key(number)) else { return };
        let Some(open) = self.open.remove(&number) else { return };
        match &open.step {
            Step::Look(kinds) => {
                let kind = kinds.first().copied();
                let is_list = matches!(open.want, Want::List(..));
                let by = (self.is_harbor && is_list).then_some(&*self.own);
                let learnt = kind.map(|kind| self.directory.learn(kind, answer, self.only.as_ref(), by));
                self.on_list(number, open, &learnt.unwrap_or_default());
            }
            Step::Ask(target) => {
                if let Want::Subscribe(uri) = &open.want {
                    self.on_subscribed(open.id.is_some(), uri, target.clone());
                }
                let result = answer.raw(open.want.answered_in()).unwrap_or("{}");
                let result = match open.modern {
                    true => write::complete(result, matches!(open.want, Want::Read(_))).into_owned(),
                    false => result.to_owned(),
                };
                self.finish(number, &open, Ending::Result(result));
            }
        }
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
                Page::NoSuchCursor => {
                    Ending::Error(INVALID_PARAMS, "there is no such cursor any more".into(), None)
                }
            },
            Want::Search(query) => Ending::Result(completed(&open, &lazy::found(items, query))),
            Want::Describe(name) => match lazy::described(items, name) {
                Some(result) => Ending::Result(completed(&open, &result)),
                None => no_tool(name),
            },
            _ => return self.look_further(number, open),
        };
        self.finish(number, &open, ending);
    }

    /// Goes on to the next list, or to what is meant.
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
                let ending = of_server(&failure)
                    .unwrap_or_else(|| Ending::Error(REFUSED, self.words_of(&failure), None));
                self.finish(number, &open, ending);
            }
            _ => self.fail(number, &open, &self.words_of(&failure)),
        }
    }

    /// What a refusal says, and what can be done about it; where the person wants no AI client to ask for more, no more than
    /// the former.
    fn words_of(&self, failure: &Failure) -> String {
        let text = failure.message().unwrap_or_default();
        let lacks = matches!(failure, Failure::Refused(refusal) if refusal.is(Code::ScopeRequired));
        match text.split_once('\n') {
            Some((what, _)) if lacks && !self.names_commands => what.to_owned(),
            _ => text,
        }
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
    let details = Members::parse(refusal.details.as_ref()?.as_bytes())?;
    let (code, _) = (details.value("code").as_i64()?, details.raw("message")?);
    Some(Ending::Error(code, details.text("message"), details.raw("data").map(str::to_owned)))
}
