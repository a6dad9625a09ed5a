//! Conversations with a scripted model whose turns call tools, while all that carries them is killed.
//!
//! ```text
//!  connect ─► all sessions looked at ─► begin, say, stop, delete ─► closed: connect again
//! ```
//!
//! What was answered stays, no call is made twice, and what was deleted stays deleted. What was not answered may be either.

use std::thread;
use std::time::Instant;

use harbor_ipc_proto::client::{
    AddRemoteServer, ChatCreateSession, ChatDeleteSession, ChatGetSession, ChatListSessions, ChatSendMessage,
    ChatStop, ConnectServer, LlmAddProvider,
};
use harbor_ipc_proto::field::Message as _;
use harbor_tests::{Answer, ErrorValue, LIMIT};
use serde_json::{Value, json};

use crate::desk::{ID, message};
use crate::dice::Dice;
use crate::kept;
use crate::link::{Link, Way};
use crate::stage::Stage;

/// So many turns, then another session.
const TURNS: usize = 5;

/// So many sessions, then one is deleted.
const SESSIONS: usize = 4;

/// So many deleted sessions are asked for at each look; all of them at the end.
const LATELY: usize = 10;

/// What is known of the sessions.
#[derive(Debug, Default)]
struct Known {
    live: Vec<Session>,
    deleted: Vec<String>,
    words: u64,
}

#[derive(Debug)]
struct Session {
    id: String,
    turns: usize,
    /// The words of the messages that were answered.
    answered: Vec<String>,
}

/// A connection that is of no more use.
struct Closed;

/// Defines the server and the model's provider. Nobody is killed yet.
pub fn prepare(stage: &Stage, link: &Link) {
    let supervision = harbor_tests::client::shown(&crate::servers::supervision());
    let server = json!({"server_id": ID, "url": stage.desk.server.url(), "allow_private": true, "supervision": supervision});
    link.call(AddRemoteServer::TAG, &server).expect("the definition is valid");
    link.call(ConnectServer::TAG, &json!({"server_id": ID})).expect("it runs");
    let base = format!("http://127.0.0.1:{}/v1", stage.desk.provider.server.port);
    let provider =
        json!({"provider_type": "openai-compatible", "name": "p", "base_url": base, "dialect": "chat"});
    link.call(LlmAddProvider::TAG, &provider).expect("the provider is valid");
}

/// Talks until the run is over.
pub fn run(stage: &Stage, mut dice: Dice) {
    let mut known = Known::default();
    while let Some(link) = Link::open(stage, Way::Socket) {
        if look(stage, &link, &known).is_ok() {
            while !stage.is_over() && step(stage, &link, &mut dice, &mut known).is_ok() {
                thread::sleep(dice.milliseconds(10, 60));
            }
        }
        if stage.is_over() {
            let _ = look(stage, &link, &known);
        }
        link.finish(stage);
    }
}

/// Demands that everything is there that has to be.
fn look(stage: &Stage, link: &Link, known: &Known) -> Result<(), Closed> {
    let listed = ask(stage, link, ChatListSessions::TAG, &json!({}), &[])?;
    if let Some(listed) =
        listed.filter(|listed| listed["unreadable"].as_array().is_some_and(|all| !all.is_empty()))
    {
        stage.tally.broke(format!("sessions cannot be read: {}", listed["unreadable"]));
    }
    for session in &known.live {
        let got = ask(stage, link, ChatGetSession::TAG, &json!({"session_id": session.id}), &[])?;
        let messages = got.map(|got| got["messages"].clone()).unwrap_or_default();
        let messages = messages.as_array().map_or(&[][..], Vec::as_slice);
        let faults = kept::faults(messages, &session.answered, &stage.desk.calls());
        faults.into_iter().for_each(|fault| stage.tally.broke(format!("session {}: {fault}", session.id)));
        stage.tally.note("sessions looked at");
    }
    let few = if stage.is_over() { usize::MAX } else { LATELY };
    for id in known.deleted.iter().rev().take(few) {
        if ask(stage, link, ChatGetSession::TAG, &json!({"session_id": id}), &["not_found"])?.is_some() {
            stage.tally.broke(format!("session {id} was deleted, and is there"));
        }
    }
    let calls = stage.desk.calls();
    let doubled: Vec<_> = calls.iter().filter(|(_, count)| **count > 1).collect();
    if !doubled.is_empty() {
        stage.tally.broke(format!("calls were made more than once: {doubled:?}"));
    }
    Ok(())
}

/// The answer; none when it is an error that may be.
fn ask(
    stage: &Stage,
    link: &Link,
    tag: &str,
    fields: &Value,
    may_be: &[&str],
) -> Result<Option<Answer>, Closed> {
    let begun = Instant::now();
    stage.tally.sent();
    let outcome = link.request(tag, fields).wait(LIMIT);
    let how = outcome.as_ref().map_or_else(|error| format!("{tag}: {}", error.code), |_| "result".into());
    stage.tally.ended(&how, begun.elapsed());
    match outcome {
        Ok(answer) => Ok(Some(answer)),
        Err(error) if is_closed(&error) => Err(Closed),
        Err(error) => {
            // What speaks to models was killed, or there is no room to begin anything.
            let may =
                error.details["cause"] == "worker_lost" || error.message.contains("make room on that disk");
            if !may && !may_be.contains(&error.code.as_str()) {
                stage.tally.broke(format!("{tag} {fields}: {error:?}"));
            }
            Ok(None)
        }
    }
}

fn is_closed(error: &ErrorValue) -> bool {
    ["closed", "shutting_down"].contains(&error.code.as_str())
}

fn step(stage: &Stage, link: &Link, dice: &mut Dice, known: &mut Known) -> Result<(), Closed> {
    if known.live.len() >= SESSIONS {
        return delete(stage, link, dice, known);
    }
    if known.live.last().is_none_or(|session| session.turns >= TURNS) {
        return begin(stage, link, known);
    }
    say(stage, link, dice, known)
}

fn begin(stage: &Stage, link: &Link, known: &mut Known) -> Result<(), Closed> {
    let fields = json!({"enabled_servers": [ID], "mode": "auto", "model": "p:m"});
    let Some(begun) = ask(stage, link, ChatCreateSession::TAG, &fields, &[])? else { return Ok(()) };
    let id = begun["session"]["id"].as_str().unwrap_or_default().to_owned();
    known.live.push(Session { id, turns: 0, answered: Vec::new() });
    stage.tally.note("sessions begun");
    Ok(())
}

/// A session whose deletion was not answered may be there or not; nobody asks for it any more.
fn delete(stage: &Stage, link: &Link, dice: &mut Dice, known: &mut Known) -> Result<(), Closed> {
    let at = usize::try_from(dice.below(known.live.len() as u64)).unwrap_or_default();
    let Session { id, .. } = known.live.remove(at);
    if ask(stage, link, ChatDeleteSession::TAG, &json!({"session_id": id}), &[])?.is_some() {
        known.deleted.push(id);
        stage.tally.note("sessions deleted");
    }
    Ok(())
}

fn say(stage: &Stage, link: &Link, dice: &mut Dice, known: &mut Known) -> Result<(), Closed> {
    known.words += 1;
    let word = format!("talk-{}", known.words);
    let Some(session) = known.live.last_mut() else { return Ok(()) };
    session.turns += 1;
    let fields = json!({"session_id": session.id, "message": message(&word, dice.below(4)), "stream": true});
    stage.tally.note("turns begun");
    if dice.happens(10) {
        // It ends whatever is under way; the answer to the message says how.
        let stop = link.request(ChatStop::TAG, &json!({"session_id": session.id}));
        let _ = stop.wait(LIMIT);
    }
    let answer = ask(stage, link, ChatSendMessage::TAG, &fields, &[])?;
    let Some(answer) = answer else { return Ok(()) };
    if answer["ended"] == "done" {
        stage.tally.note("turns done");
        session.answered.push(word);
    }
    Ok(())
}
