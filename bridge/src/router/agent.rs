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
    ChatBranch, ChatBranchResult, ChatClearMessagesResult, ChatCreateSession, ChatCreateSessionResult,
    ChatDeleteSessionResult, ChatEventPush, ChatExport, ChatExportResult, ChatGetSessionResult, ChatImport,
    ChatImportResult, ChatListSessions, ChatListSessionsResult, ChatSendMessage, ChatSendMessageResult,
    ChatSessionView, ChatStopResult, ChatUpdateSession, ChatUpdateSessionResult, ChatWatch, ChatWatchResult,
    SessionExcerpt,
};
use harbor_ipc_proto::codes::Code;
use harbor_ipc_proto::field::{JsonObject, Message as _};
use harbor_ipc_proto::model::{Part, ToolChoice};
use harbor_policy::access::Pass;
use harbor_policy::search::Query;
use harbor_policy::turn::Why;

use super::client::Client;
use super::questions::answerer_of;
use super::refusals::denied;
use super::reply::{Handled, reply};
use super::state::Router;
use crate::agent::mode::{MODES, SessionMode};
use crate::agent::session::{EVERY, Session, SessionHead};
use crate::agent::transcript::messages;
use crate::agent::turn_log::{Follower, TurnLogItem};
use crate::agent::{Answerers, Attachments, OnBehalf, SessionList, TurnInput, TurnOutcome, export};
use crate::host::invalid;

/// How many sessions are listed if a request does not say.
const LISTED: u64 = 50;

/// The longest message and name, in bytes.
const LONGEST_NAME: usize = 1000;

pub(super) async fn create(router: &Router, client: &Client, message: ChatCreateSession) -> Handled {
    let ChatCreateSession { enabled_servers: servers, name, system_prompt: system, model, mode, private } =
        message;
    let mode = match mode.as_deref() {
        None => SessionMode::Ask,
        Some(word) => SessionMode::of(word).ok_or_else(|| invalid("mode", MODES))?,
    };
    let name = name.unwrap_or_default();
    if name.len() > LONGEST_NAME {
        return Err(invalid("name", "at most 1000 bytes"));
    }
    let servers = servers.filter(|servers| !servers.iter().any(|server| server == EVERY));
    router.agent.must_exist(servers.as_deref().unwrap_or_default())?;
    let head = SessionHead { name, servers, system, model, ..SessionHead::new(mode, private == Some(true)) };
    let session = router.agent.begin_new(head).await?;
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
    (pass, id): (Pass, &str),
    message: ChatSendMessage,
) -> Handled {
    let turn = pass.turn().ok_or_else(|| denied(ChatSendMessage::TAG))?;
    let session = router.agent.session(&message.session_id).await?;
    let on_behalf = OnBehalf::Owner(client.sender(), turn);
    let streams = message.stream == Some(true);
    let answerers = message.answers.clone().map(|answers| answerers(router, client, id, answers));
    let input = TurnInput { answerers, ..said(message)? };
    let (log, task) = router.agent.say(&session, on_behalf, input).await?;
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
    let Attachments { mut parts, names: attached } = Attachments::read(attachments.unwrap_or_default())?;
    if text.trim().is_empty() && parts.is_empty() {
        return Err(invalid("message", "a text"));
    }
    let typed = Some(text.clone());
    parts.extend(Some(text).filter(|text| !text.is_empty()).map(Part::Text));
    Ok(TurnInput {
        parts,
        attached,
        typed,
        model,
        provider: None,
        tools: None,
        tool_choice,
        max_tool_calls,
        max_tokens,
        temperature: None,
        cites: false,
        answerers: None,
    })
}

/// Has the client of a turn answer the servers whose tools the turn calls.
fn answerers(router: &Router, client: &Rc<Client>, id: &str, answers: JsonObject) -> Answerers {
    let (host, client, id) = (router.host.clone(), Rc::downgrade(client), id.to_owned());
    Rc::new(move |server| answerer_of(&host, &client.upgrade()?, &id, server, Some(answers.clone())))
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
        // A number of another turn, perhaps one of an earlier bridge, says nothing about this one.
        let is_its = message.turn_id.as_deref().is_none_or(|turn| turn == log.turn);
        let after = message.after_seq.filter(|_| is_its);
        let follower = log.follow(after.map_or(0, |seq| seq.saturating_add(1)));
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
    let session = router.agent.session(id).await?;
    let branches = router.agent.family(&session).await?;
    reply(ChatGetSessionResult { session: session.view(), messages: messages(&session), branches })
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
    let query = Query::of(message.query.as_deref().unwrap_or_default());
    let query = query.map_err(|_| invalid("query", "at most 32 words with 1000 bytes"))?;
    let is_search = query.is_some();
    let SessionList { mut found, unreadable, is_partial } = router.agent.sessions(query).await?;
    found.sort_by(|(a, _), (b, _)| {
        let pinned = |view: &ChatSessionView| !is_search && view.pinned == Some(true);
        let last = b.updatedAt.cmp(&a.updatedAt).then_with(|| a.id.cmp(&b.id));
        pinned(b).cmp(&pinned(a)).then(last)
    });
    let total = found.len() as u64;
    let number = |number: u64| usize::try_from(number).unwrap_or(usize::MAX);
    let shown = found.into_iter().skip(number(message.offset.unwrap_or(0)));
    let (mut sessions, mut excerpts) = (Vec::new(), Vec::new());
    for (session, text) in shown.take(number(message.limit.unwrap_or(LISTED))) {
        excerpts.extend(text.map(|text| SessionExcerpt { session_id: session.id.clone(), text }));
        sessions.push(session);
    }
    reply(ChatListSessionsResult { sessions, total, excerpts, is_partial, unreadable })
}

pub(super) async fn branch(router: &Router, client: &Client, message: ChatBranch) -> Handled {
    let from = router.agent.session(&message.session_id).await?;
    let session = router.agent.branch(&from, message.message_id).await?;
    session.is_begun_by(client.sender().client);
    reply(ChatBranchResult { session: session.view() })
}

pub(super) async fn import(router: &Router, message: ChatImport) -> Handled {
    let session = router.agent.import(message.text).await?;
    reply(ChatImportResult { session: session.view() })
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
