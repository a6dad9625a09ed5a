//! The questions to one client about its requests. Servers ask while they work on them; Harbor asks before a call that
//! may destroy something.
//!
//! ```text
//!  Asked ─► ask push ─► mcp_answer ─► its server, or the call that waits
//!      └─ its request ends, or the client leaves ─► refused, by being dropped
//! ```
//!
//! Owns the way of a question to its client, and of the answer to who asked. Must never look into questions or answers.

use std::rc::Rc;

use harbor_ipc_proto::client::{AskPush, McpAnswer, McpAnswerResult};
use harbor_ipc_proto::field::JsonObject;
use harbor_ipc_proto::json::{Fields, Json};
use harbor_ipc_proto::link::runner::AskAnswer;
use harbor_ipc_proto::server_id::ServerId;
use harbor_ipc_proto::source_id::SourceId;

use super::client::Client;
use super::open_questions::PendingQuestion;
use super::reply::{Handled, reply};
use super::state::Router;
use crate::host::{Host, invalid};
use crate::link::Answerer;

/// Room for a question's envelope, without its names.
const ENVELOPE: usize = 1024;

/// Passes questions of `server` to the client of a request, as far as the client can answer them.
pub(super) fn answerer_of(
    host: &Rc<Host>,
    client: &Rc<Client>,
    request_id: &str,
    server: &ServerId,
    answers: Option<JsonObject>,
) -> Option<Answerer> {
    let answers = answers?;
    let (host, client) = (Rc::downgrade(host), Rc::downgrade(client));
    let (request_id, server) = (request_id.to_owned(), server.clone());
    Answerer::new(&answers.0, move |question| {
        let (Some(host), Some(client)) = (host.upgrade(), client.upgrade()) else { return };
        let (method, params) = (question.method, question.params.clone());
        let (sender, source) = (client.sender(), SourceId::from(&server));
        let (request_id, server) = (request_id.clone(), server.clone());
        let is_guarded = sender.own.as_ref().is_some_and(|own| host.consent.has_guard(own));
        let noting = host.clone();
        let about = source.clone();
        let ask = move || {
            if has_room(&client, &request_id, &params) && client.is_open(&request_id) {
                noting.note_question(&client.sender(), server.shared(), method);
                let asked = PendingQuestion::ByServer(question, about);
                put(&client, &request_id, server.to_string(), method, params, asked);
            }
        };
        if !is_guarded {
            return ask();
        }
        // The client reads the question.
        tokio::task::spawn_local(async move {
            host.client_hears(&sender, &source, method).await;
            ask();
        });
    })
}

/// Asks the client of an open request something; false if it could not be asked.
pub(super) fn ask(
    client: &Client,
    request_id: &str,
    source: String,
    method: &str,
    params: Json,
    asked: PendingQuestion,
) -> bool {
    let can_be_asked = has_room(client, request_id, &params);
    if can_be_asked {
        put(client, request_id, source, method, params, asked);
    }
    can_be_asked
}

/// True if a question fits in a push: a larger one would never arrive.
fn has_room(client: &Client, request_id: &str, params: &Json) -> bool {
    let room = client.takes().0.saturating_sub(ENVELOPE + 6 * request_id.len());
    params.as_str().len() <= room && client.questions().have_room()
}

fn put(
    client: &Client,
    request_id: &str,
    server_id: String,
    method: &str,
    params: Json,
    asked: PendingQuestion,
) {
    let ask_id = client.questions().open(request_id, asked);
    let (request_id, method) = (request_id.to_owned(), method.to_owned());
    client.send_push(&AskPush { ask_id, request_id, server_id, method, params });
}

pub(super) fn answer(router: &Router, client: &Client, message: McpAnswer) -> Handled {
    let answer = match (message.result, message.error) {
        (Some(result), None) => Some(AskAnswer::Result(result.0.into_string().into())),
        // An error that is malformed is no answer, and no answer is a refusal, too.
        (None, Some(error)) => refusal(&error),
        (None, None) => None,
        (Some(_), Some(_)) => return Err(invalid("error", "no other value beside `result`")),
    };
    let asked = client.questions().take(message.ask_id);
    let answered = asked.is_some();
    if let (Some(asked), Some(answer)) = (asked, answer) {
        pass_on(asked, router, client, answer);
    }
    reply(McpAnswerResult { answered })
}

/// Passes on the answer to a question. The answer of an AI client with a guard to a server may have to wait for the person.
fn pass_on(asked: PendingQuestion, router: &Router, client: &Client, answer: AskAnswer<'static>) {
    match asked {
        PendingQuestion::ByServer(question, source) => {
            let (host, sender) = (router.host.clone(), client.sender());
            let AskAnswer::Result(result) = &answer else { return question.answer(answer) };
            let result = result.to_string();
            if sender.own.as_ref().is_none_or(|own| !host.consent.has_guard(own)) {
                return question.answer(answer);
            }
            tokio::task::spawn_local(async move {
                // Dropped, it is refused.
                if host.may_answer(&sender, &source, question.method, &result).await.is_ok() {
                    question.answer(answer);
                }
            });
        }
        // Who waits no more needs none.
        PendingQuestion::ByHarbor(waiting) => drop(waiting.send(answer)),
    }
}

fn refusal(error: &JsonObject) -> Option<AskAnswer<'static>> {
    let fields = Fields::parse(error.0.as_str().as_bytes()).ok()?;
    let code = serde_json::from_str(fields.get("code")?).ok()?;
    let message: String = serde_json::from_str(fields.get("message")?).ok()?;
    Some(AskAnswer::Refused { code, message: message.into() })
}
