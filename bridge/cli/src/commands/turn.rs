//! One turn of a conversation, as it happens: text on stdout, calls of tools and questions on stderr.
//!
//! ```text
//!  chat_send_message ─► chat_event ─┬─ text ─────────► stdout, as it comes
//!                                   ├─ tool_call ────► a line that stands until there is a result
//!                                   ├─ tool_result ──► · time/get_current_time {"timezone":"Asia/Tokyo"} … ok, 12 ms
//!                                   └─ approval ─────► a question ─► the person ─► approvals_answer
//!                    ask ───────────────► a server's form ─► the person ─► mcp_answer      (elicitation.rs)
//!                 Ctrl-C ─► chat_stop                  (stop.rs)
//! ```
//!
//! Owns how a turn looks. Must never answer a question for the person but with no. Must never pass words of a
//! model or a tool to a terminal as they are.

mod cards;
mod console;
mod elicitation;
pub mod ending;
mod question;
mod stop;

use std::collections::{BTreeMap, VecDeque};
use std::os::fd::BorrowedFd;

use harbor_client::errors::Failure;
use harbor_client::reply::Answer;
use harbor_ipc_proto::client::{
    ApprovalsAnswer, AskPush, ChatEventPush, ChatSendMessage, ChatSendMessageResult, McpAnswer, TurnEvent,
};
use harbor_ipc_proto::field::JsonObject;
use harbor_ipc_proto::json::Json;

pub use self::console::Console;
use self::elicitation::{ANSWERS, ElicitationForm, FormStep, ended};
use self::question::{ApprovalQuestion, Said};
pub use self::stop::Stopper;
use crate::client::{Alongside, Client};
use crate::screen::Status;
use crate::table::flatten;

/// The reason for the model if nobody can be asked.
const NOBODY: &str = "nobody is here to approve it";

/// The part of a turn that the person sees.
struct Turn<'a, 'b> {
    console: &'a mut Console<'b>,
    session: &'a str,
    /// Calls that have no result yet: their arguments.
    calls: BTreeMap<String, Json>,
    /// The open questions in their order; the first one is asked.
    questions: VecDeque<TurnQuestion>,
    status: Option<Status>,
    /// True if the model has said something since the last call of a tool.
    has_spoken: bool,
    /// The text that was shown before the last call of a tool.
    shown: String,
}

/// A message that says this and nothing else, and whose turn is followed.
pub fn message(session: &str, text: String) -> ChatSendMessage {
    ChatSendMessage {
        session_id: session.to_owned(),
        message: text,
        attachments: None,
        model: None,
        stream: Some(true),
        tool_choice: None,
        max_tool_calls: None,
        max_tokens: None,
        answers: None,
    }
}

/// A question that waits for the person.
enum TurnQuestion {
    /// May a call be made, or does a plan hold?
    Approval(Box<ApprovalQuestion>),
    /// A server asks something.
    Form(ElicitationForm),
}

/// Says something in a session, and shows what happens until it is answered.
pub fn say(
    client: &mut Client,
    message: &ChatSendMessage,
    console: &mut Console<'_>,
    stopper: &Stopper,
) -> Result<Answer<ChatSendMessageResult>, Failure> {
    let session = &message.session_id;
    let status = Status::is_visible().then(|| Status::new("waiting for the model …"));
    let mut turn = Turn {
        console,
        session,
        calls: BTreeMap::new(),
        questions: VecDeque::new(),
        status,
        has_spoken: false,
        shown: String::new(),
    };
    stopper.arm(session);
    // Where nobody is, servers are told so at once.
    let answers = turn.console.can_ask().then(|| JsonObject(Json::from_valid(ANSWERS.into())));
    let message = ChatSendMessage { answers, ..message.clone() };
    let answered = client.ask_alongside::<ChatEventPush, _>(&message, &mut turn);
    stopper.disarm();
    turn.end(answered.as_ref().ok().map(|answer| &*answer.response))?;
    // A tool may have done its work.
    answered.map_err(Failure::of_call)
}

impl Alongside<ChatEventPush> for Turn<'_, '_> {
    fn input(&self) -> Option<BorrowedFd<'_>> {
        self.questions.front().and_then(|_| self.console.input())
    }

    fn on_push(&mut self, push: ChatEventPush, client: &mut Client) -> Result<(), Failure> {
        match push.session_id == self.session {
            true => {
                if self.console.screen.json {
                    self.console.screen.event(&push.event)?;
                }
                self.show(push.event, client)
            }
            false => Ok(()),
        }
    }

    fn on_ask(&mut self, ask: AskPush, client: &mut Client) -> Result<(), Failure> {
        let form = ElicitationForm::of(&ask).filter(|_| self.console.can_ask());
        let Some(form) = form else {
            self.note(&format!("harbor: {} asked what cannot be answered here", flatten(&ask.server_id)))?;
            return reply_to(client, ask.ask_id, ended("decline"));
        };
        self.questions.push_back(TurnQuestion::Form(form));
        if self.questions.len() == 1 { self.ask_next() } else { Ok(()) }
    }

    fn on_input(&mut self, client: &mut Client) -> Result<(), Failure> {
        let (line, width) = (self.console.line()?, self.console.width());
        match self.questions.front_mut() {
            None => Ok(()),
            Some(TurnQuestion::Approval(question)) => match question.read(line.as_deref()) {
                Some(said) => {
                    let id = question.id().to_owned();
                    self.answer(client, id, said)?;
                    self.go_on()
                }
                None => {
                    let choices = question.choices();
                    Ok(self.console.note(&choices)?)
                }
            },
            Some(TurnQuestion::Form(form)) => match form.read(line.as_deref(), width) {
                FormStep::Show(text) => Ok(self.console.note(&text)?),
                FormStep::Over(result) => {
                    reply_to(client, form.ask_id(), result)?;
                    self.go_on()
                }
            },
        }
    }
}

/// Answers a server's question. One that is over already needs no answer.
fn reply_to(client: &mut Client, ask_id: u64, result: Json) -> Result<(), Failure> {
    client.say(&McpAnswer { ask_id, result: Some(JsonObject(result)), error: None })
}

impl Turn<'_, '_> {
    fn show(&mut self, event: TurnEvent, client: &mut Client) -> Result<(), Failure> {
        let text = event.text.as_deref().unwrap_or_default();
        match &*event.r#type {
            "text" if !text.is_empty() => {
                self.status = None;
                if !std::mem::replace(&mut self.has_spoken, true) {
                    self.shown.clear();
                }
                self.shown.push_str(text);
                self.console.piece(text)?;
            }
            "reasoning" => self.status("the model thinks …"),
            "status" => self.note(&format!("harbor: {}", flatten(text)))?,
            "tool_call" => self.call(event)?,
            "tool_result" => self.result(&event)?,
            "approval" => self.approval(event, client)?,
            // The answer says the rest.
            _ => {}
        }
        Ok(())
    }

    /// The question in front is answered.
    fn go_on(&mut self) -> Result<(), Failure> {
        self.questions.pop_front();
        self.ask_next()
    }

    /// Shows a status line, but none behind a question: it would hide the question.
    fn status(&mut self, text: &str) {
        if !self.questions.is_empty() || !Status::is_visible() || self.console.is_in_line() {
            return;
        }
        match &mut self.status {
            Some(status) => status.show(text),
            none => *none = Some(Status::new(text)),
        }
    }

    fn note(&mut self, line: &str) -> Result<(), Failure> {
        self.status = None;
        self.console.note(line)?;
        Ok(())
    }

    fn call(&mut self, event: TurnEvent) -> Result<(), Failure> {
        let (id, tool) = (event.call_id.unwrap_or_default(), event.tool.unwrap_or_default());
        let arguments = event.arguments.unwrap_or_else(none);
        self.has_spoken = false;
        // What is said behind the call is another paragraph.
        self.console.end_line()?;
        self.status(&format!("{} …", cards::begun(&tool, &arguments)));
        self.calls.insert(id, arguments);
        Ok(())
    }

    fn result(&mut self, event: &TurnEvent) -> Result<(), Failure> {
        let call = event.call_id.as_ref().and_then(|id| self.calls.remove(id));
        self.has_spoken = false;
        self.end_forms(event.tool.as_deref().unwrap_or_default())?;
        self.note(&cards::ended(event, &call.unwrap_or_else(none)))?;
        if self.calls.is_empty() {
            self.status("waiting for the model …");
        }
        Ok(())
    }

    /// A call has its result: what its server has asked meanwhile is over.
    fn end_forms(&mut self, tool: &str) -> Result<(), Failure> {
        let server = tool.split('/').next().unwrap_or_default();
        let is_of =
            |question: &TurnQuestion| matches!(question, TurnQuestion::Form(form) if form.server() == server);
        let was_asked = self.questions.front().is_some_and(is_of);
        self.questions.retain(|question| !is_of(question));
        if was_asked {
            self.note("\nharbor: the question is no longer open")?;
            self.ask_next()?;
        }
        Ok(())
    }

    fn approval(&mut self, event: TurnEvent, client: &mut Client) -> Result<(), Failure> {
        let waits = event.waits != Some(false);
        let Some(question) = event.approval.map(ApprovalQuestion::of) else { return Ok(()) };
        let is_it = |known: &TurnQuestion| matches!(known, TurnQuestion::Approval(known) if known.id() == question.id());
        let at = self.questions.iter().position(is_it);
        match (waits, at) {
            (true, None) if !self.console.can_ask() => {
                self.note(&format!("harbor: {} was refused: {NOBODY}", flatten(question.tool())))?;
                let said = Said { answer: "no", reason: Some(NOBODY.to_owned()) };
                self.answer(client, question.id().to_owned(), said)
            }
            (true, None) => {
                self.questions.push_back(TurnQuestion::Approval(Box::new(question)));
                if self.questions.len() == 1 { self.ask_next() } else { Ok(()) }
            }
            // Somebody else has answered it, or the turn ends.
            (false, Some(at)) => {
                self.questions.remove(at);
                if at > 0 {
                    return Ok(());
                }
                self.note("\nharbor: the question is no longer open")?;
                self.ask_next()
            }
            (true, Some(_)) | (false, None) => Ok(()),
        }
    }

    fn ask_next(&mut self) -> Result<(), Failure> {
        let width = self.console.width();
        let text = match self.questions.front() {
            Some(TurnQuestion::Approval(question)) => question.text(width),
            Some(TurnQuestion::Form(form)) => form.text(width),
            None => return Ok(()),
        };
        self.status = None;
        self.console.ask(&text)?;
        Ok(())
    }

    fn answer(&self, client: &mut Client, approval_id: String, said: Said) -> Result<(), Failure> {
        client.say(&ApprovalsAnswer { approval_id, answer: said.answer.to_owned(), reason: said.reason })
    }

    /// Ends the turn. If no piece of the answer came while it was made, shows it whole.
    fn end(mut self, response: Option<&str>) -> Result<(), Failure> {
        self.status = None;
        // An answer that ends at a call stands before that call.
        if let Some(response) = response.filter(|response| !self.has_spoken && *response != self.shown) {
            self.console.piece(response)?;
        }
        self.console.end_line()?;
        Ok(())
    }
}

fn none() -> Json {
    Json::from_valid("{}".into())
}

#[cfg(test)]
mod tests;
