//! What one client is asked about its requests: by servers, while they work on them, and by Harbor before a call that may destroy
//! something.
//!
//! ```text
//!  Asked ─► ask push ─► mcp_answer ─► its server, or the call that waits
//!      └─ its request ends, or the client leaves ─► refused, by being dropped
//! ```
//!
//! Owns which questions are open, and of which request. Must never look into questions or answers.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;

use harbor_ipc_proto::client::{AskPush, McpAnswer, McpAnswerResult};
use harbor_ipc_proto::field::JsonObject;
use harbor_ipc_proto::json::{Fields, Json};
use harbor_ipc_proto::link::runner::AskAnswer;
use harbor_ipc_proto::server_id::ServerId;
use harbor_ipc_proto::source_id::SourceId;
use tokio::sync::oneshot;

use super::client::Client;
use super::{Handled, Router, invalid, reply};
use crate::link::{Answerer, Question};

/// More open questions than this are refused.
const MOST: usize = 64;

/// Room for what stands around the parameters of a question, its names aside.
const ENVELOPE: usize = 1024;

/// Who asks, and waits for the answer.
#[derive(Debug)]
pub(super) enum Asked {
    ByServer(Question, SourceId),
    ByHarbor(oneshot::Sender<AskAnswer<'static>>),
}

impl Asked {
    /// Takes an answer there. What an AI client with a guard answers a server may wait for the person.
    fn answer(self, router: &Router, client: &Client, answer: AskAnswer<'static>) {
        match self {
            Self::ByServer(question, source) => {
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
            Self::ByHarbor(waiting) => drop(waiting.send(answer)),
        }
    }
}

/// The open questions of a client.
#[derive(Debug, Default)]
pub(super) struct Questions {
    next: Cell<u64>,
    /// By number, with the request that they are about.
    open: RefCell<HashMap<u64, (String, Asked)>>,
}

impl Questions {
    fn have_room(&self) -> bool {
        self.open.borrow().len() < MOST
    }

    fn open(&self, request_id: &str, asked: Asked) -> u64 {
        self.next.set(self.next.get() + 1);
        self.open.borrow_mut().insert(self.next.get(), (request_id.to_owned(), asked));
        self.next.get()
    }

    /// Refuses those about a request. Its server must hear of the request's own end first: it could take a refusal for what
    /// the person has said, and go on.
    pub(super) fn end(&self, request_id: &str) {
        self.open.borrow_mut().retain(|_, (about, _)| about != request_id);
    }
}

/// Passes what `server` asks on to the client of a request, as far as that can answer it.
pub(super) fn answerer_of(
    router: &Router,
    client: &Rc<Client>,
    request_id: &str,
    server: &ServerId,
    answers: Option<JsonObject>,
) -> Option<Answerer> {
    let answers = answers?;
    let (host, client) = (Rc::downgrade(&router.host), Rc::downgrade(client));
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
                put(
                    &client,
                    &request_id,
                    server.to_string(),
                    method,
                    params,
                    Asked::ByServer(question, about),
                );
            }
        };
        if !is_guarded {
            return ask();
        }
        // The client reads what it is asked.
        tokio::task::spawn_local(async move {
            host.client_hears(&sender, &source, method).await;
            ask();
        });
    })
}

/// Asks the client of an open request something; whether it could be asked.
pub(super) fn ask(
    client: &Client,
    request_id: &str,
    source: String,
    method: &str,
    params: Json,
    asked: Asked,
) -> bool {
    let can_be_asked = has_room(client, request_id, &params);
    if can_be_asked {
        put(client, request_id, source, method, params, asked);
    }
    can_be_asked
}

/// What does not fit in a push would never arrive.
fn has_room(client: &Client, request_id: &str, params: &Json) -> bool {
    let room = client.takes().0.saturating_sub(ENVELOPE + 6 * request_id.len());
    params.as_str().len() <= room && client.questions().have_room()
}

fn put(client: &Client, request_id: &str, server_id: String, method: &str, params: Json, asked: Asked) {
    let ask_id = client.questions().open(request_id, asked);
    let (request_id, method) = (request_id.to_owned(), method.to_owned());
    client.send_push(&AskPush { ask_id, request_id, server_id, method, params });
}

pub(super) fn answer(router: &Router, client: &Client, message: McpAnswer) -> Handled {
    let answer = match (message.result, message.error) {
        (Some(result), None) => Some(AskAnswer::Result(result.0.into_string().into())),
        // An error that is none is no answer, and that is a refusal, too.
        (None, Some(error)) => refusal(&error),
        (None, None) => None,
        (Some(_), Some(_)) => return Err(invalid("error", "nothing beside `result`")),
    };
    let open = client.questions().open.borrow_mut().remove(&message.ask_id);
    let answered = open.is_some();
    if let (Some((_, asked)), Some(answer)) = (open, answer) {
        asked.answer(router, client, answer);
    }
    reply(McpAnswerResult { answered })
}

fn refusal(error: &JsonObject) -> Option<AskAnswer<'static>> {
    let fields = Fields::parse(error.0.as_str().as_bytes()).ok()?;
    let code = serde_json::from_str(fields.get("code")?).ok()?;
    let message: String = serde_json::from_str(fields.get("message")?).ok()?;
    Some(AskAnswer::Refused { code, message: message.into() })
}
