//! `chat_…`: the person's sessions with the agent.
//!
//! ```text
//!  chat_send_message ─► a turn begins ─┬─► chat_event, … to who asked, if it wants them
//!                                      └─► its answer: the end of the turn
//!  chat_watch ─► a task of this client's that follows the session, from turn to turn
//! ```
//!
//! Owns who hears what. A turn goes on when its client leaves, and ends when its client takes the request back. Must
//! never look into messages.

use std::rc::Rc;

use harbor_ipc_proto::client::envelope::ErrorBody;
use harbor_ipc_proto::client::{
    ChatClearMessagesResult, ChatCreateSession, ChatCreateSessionResult, ChatDeleteSessionResult,
    ChatEventPush, ChatExport, ChatExportResult, ChatListSessions, ChatListSessionsResult, ChatMessage,
    ChatPart, ChatSendMessage, ChatSendMessageResult, ChatStopResult, ChatUpdateSession,
    ChatUpdateSessionResult, ChatWatch, ChatWatchResult,
};
use harbor_ipc_proto::codes::Code;
use harbor_ipc_proto::field::{Message as _, PutField as _};
use harbor_ipc_proto::json::Json;
use harbor_ipc_proto::model::{Part, ToolChoice};
use harbor_policy::access::Pass;
use harbor_policy::turn::Why;

use super::client::Client;
use super::refusals::denied;
use super::reply::{Handled, reply};
use super::state::Router;
use crate::agent::mode::SessionMode;
use crate::agent::session::{EVERY, Session, SessionHead};
use crate::agent::turn_log::{Follower, TurnLogItem};
use crate::agent::{OnBehalf, TurnInput, TurnOutcome, export, whole};
use crate::host::invalid;
use crate::models::messages;

/// How many sessions are listed if a request does not say.
const LISTED: u64 = 50;

/// The longest message and name, in bytes.
const LONGEST_NAME: usize = 1000;

pub(super) async fn create(router: &Router, client: &Client, message: ChatCreateSession) -> Handled {
    let ChatCreateSession { enabled_servers: servers, name, system_prompt: system, model, mode, private } =
        message;
    let mode = match mode.as_deref() {
        None => SessionMode::Ask,
        Some(word) => SessionMode::of(word).ok_or_else(|| invalid("mode", "ask, reads or auto"))?,
    };
    let name = name.unwrap_or_default();
    if name.len() > LONGEST_NAME {
        return Err(invalid("name", "at most 1000 bytes"));
    }
    let servers = servers.filter(|servers| !servers.iter().any(|server| server == EVERY));
    router.agent.must_exist(servers.as_deref().unwrap_or_default())?;
    let head = SessionHead { name, servers, system, model, ..SessionHead::new(mode, private == Some(true)) };
    let session = router.agent.begin(head).await?;
    session.is_begun_by(client.sender().client);
    reply(ChatCreateSessionResult { session: session.view() })
}

/// Ends the turn with its request, unless the request ends because its client has left.
struct EndsWith<'a> {
    client: &'a Client,
    session: Rc<Session>,
    is_over: bool,
}

impl Drop for EndsWith<'_> {
    fn drop(&mut self) {
        if !self.is_over && !self.client.has_left() {
            self.session.stop();
        }
    }
}

pub(super) async fn send(
    router: &Router,
    client: &Rc<Client>,
    pass: Pass,
    message: ChatSendMessage,
) -> Handled {
    let turn = pass.turn().ok_or_else(|| denied(ChatSendMessage::TAG))?;
    let session = router.agent.session(&message.session_id).await?;
    let on_behalf = OnBehalf::Owner(client.sender(), turn);
    let streams = message.stream == Some(true);
    let (log, task) = router.agent.say(&session, on_behalf, said(message)?).await?;
    let mut ends = EndsWith { client, session: session.clone(), is_over: false };
    if streams {
        tell_all(client, &session.id, log.follow(0)).await;
    }
    let outcome = task.await;
    ends.is_over = true;
    let outcome = outcome.map_err(|_| ErrorBody::new(Code::Internal, "the turn ended without a result"))?;
    answered(outcome, &log.turn, log.took())
}

fn answered(outcome: TurnOutcome, turn: &str, took: u64) -> Handled {
    let TurnOutcome { text, steps, rounds, ended, spent, error, .. } = outcome;
    if let Some(error) = error {
        return Err(error);
    }
    let is_limit = !matches!(ended, Why::Done | Why::Stopped);
    let usage = spent.view();
    let (provider, model) = spent.model.unzip();
    reply(ChatSendMessageResult {
        response: text,
        steps,
        iterations: rounds,
        reachedMaxIterations: is_limit,
        durationMs: took,
        turn_id: turn.to_owned(),
        ended: ended.word().into(),
        usage,
        provider,
        model,
    })
}

fn said(message: ChatSendMessage) -> Result<TurnInput, ErrorBody> {
    let ChatSendMessage {
        message: text, attachments, model, tool_choice, max_tool_calls, max_tokens, ..
    } = message;
    let tool_choice = match tool_choice.as_deref() {
        None | Some("auto") => ToolChoice::Auto,
        Some("required") => ToolChoice::Required,
        Some("none") => ToolChoice::None,
        Some(_) => return Err(invalid("tool_choice", "auto, required or none")),
    };
    if max_tokens == Some(0) {
        return Err(invalid("max_tokens", "a whole number, at least 1"));
    }
    let mut parts = attached(attachments.unwrap_or_default())?;
    if text.trim().is_empty() && parts.is_empty() {
        return Err(invalid("message", "a text"));
    }
    let has_attached = !parts.is_empty();
    let typed = Some(text.clone());
    parts.extend(Some(text).filter(|text| !text.is_empty()).map(Part::Text));
    Ok(TurnInput {
        parts,
        has_attached,
        typed,
        model,
        provider: None,
        tools: None,
        tool_choice,
        max_tool_calls,
        max_tokens,
        temperature: None,
        cites: false,
    })
}

/// Reads attachments like the content of a message, by the same rules.
fn attached(attachments: Vec<ChatPart>) -> Result<Vec<Part>, ErrorBody> {
    if attachments.is_empty() {
        return Ok(Vec::new());
    }
    let mut content = Vec::new();
    attachments.put(&mut content);
    let content = Json::from_valid(String::from_utf8(content).unwrap_or_default());
    let message = ChatMessage {
        role: "user".into(),
        content: Some(content),
        toolCalls: None,
        toolCallId: None,
        isError: None,
    };
    let read = messages(None, vec![message])?;
    Ok(read.into_iter().flat_map(|message| message.parts).collect())
}

/// Pushes all events of a turn, as fast as the client reads.
async fn tell_all(client: &Client, session: &str, mut follower: Follower) {
    while let Some((seq, event)) = follower.next(TurnLogItem::event).await {
        client.outbox().room().await;
        let turn_id = follower.turn().to_owned();
        client.send_push(&ChatEventPush { session_id: session.to_owned(), turn_id, seq, event });
    }
}

pub(super) async fn watch(router: &Router, client: &Rc<Client>, message: ChatWatch) -> Handled {
    let session = router.agent.session(&message.session_id).await?;
    client.watch_session(&session.id, None);
    let log = session.last_log();
    let seq = log.next();
    let turn_id = session.ongoing().map(|ongoing| ongoing.log.turn.clone());
    if message.watch != Some(false) {
        let follower = log.follow(message.after_seq.map_or(0, |seq| seq.saturating_add(1)));
        let weak = Rc::downgrade(client);
        let id = session.id.clone();
        let task = tokio::task::spawn_local(async move {
            let (mut log, mut follower) = (log, follower);
            loop {
                let Some(client) = weak.upgrade() else { return };
                tell_all(&client, &session.id, follower).await;
                drop(client);
                let Some(next) = session.next_log(&log).await else { return };
                log = next;
                follower = log.follow(0);
            }
        });
        client.watch_session(&id, Some(task.abort_handle()));
    }
    reply(ChatWatchResult { seq, turn_id })
}

pub(super) async fn stop(router: &Router, id: &str) -> Handled {
    let session = router.agent.session(id).await?;
    reply(ChatStopResult { stopped: session.stop() })
}

pub(super) async fn get(router: &Router, id: &str) -> Handled {
    reply(whole(&*router.agent.session(id).await?))
}

pub(super) async fn give(router: &Router, message: ChatExport) -> Handled {
    let session = router.agent.session(&message.session_id).await?;
    let text = match message.format.as_str() {
        "markdown" => export::markdown(&session),
        "json" => export::json(&session),
        _ => return Err(invalid("format", "markdown or json")),
    };
    reply(ChatExportResult { text })
}

pub(super) async fn list(router: &Router, message: ChatListSessions) -> Handled {
    let (mut sessions, unreadable) = router.agent.sessions().await?;
    let total = sessions.len() as u64;
    sessions.truncate(usize::try_from(message.limit.unwrap_or(LISTED)).unwrap_or(usize::MAX));
    reply(ChatListSessionsResult { sessions, total, unreadable })
}

pub(super) async fn update(router: &Router, message: ChatUpdateSession) -> Handled {
    let session = router.agent.session(&message.session_id).await?;
    router.agent.update(&session, message.updates).await?;
    reply(ChatUpdateSessionResult { session: session.view() })
}

pub(super) async fn clear(router: &Router, id: &str) -> Handled {
    let session = router.agent.session(id).await?;
    reply(ChatClearMessagesResult { cleared: router.agent.clear(&session).await? })
}

pub(super) async fn delete(router: &Router, id: &str) -> Handled {
    let deleted = router.agent.delete(id).await;
    // The conversation is over even if its file stays.
    router.browsers.end_conversation(id);
    reply(ChatDeleteSessionResult { deleted: deleted? })
}
