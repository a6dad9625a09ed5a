//! What a turn of the agent costs: Harbor's own time in each round, a piece of an answer to who watches, opening a long conversation.
//!
//! ```text
//!  driver ── socket ── bridge ─┬─ harbor-model-worker ── TCP ── model_server: calls `echo`, again and again, then says something
//!                              └─ runner ── echo server
//!  own time: from the end of an answer to the next request, the echo included
//! ```
//!
//! Must not judge; the goals are the report's.

use crate::ask::{ask, connect, heard, program, read, request};
use crate::harbor::Bridge;
use crate::model_server::{self, CALLS, Heard, ROUNDS, Said, now};
use crate::models::of_provider;
use crate::options::Options;
use crate::wire::{Link, excerpt};
use crate::{Outcome, say, watchdog};
use harbor_ipc_proto::client::{
    AddServer, ChatCreateSession, ChatEventPush, ChatGetSession, ChatSendMessage, ChatSendMessageResult,
    ChatTranscript, Supervision,
};
use harbor_ipc_proto::field::{JsonObject, Message as _, put_object, read_object};
use harbor_ipc_proto::json::Json;
use std::fs;

/// Tools that the model may use: as many as it is told of, and as many as it has to search in.
pub const TOOLS: [usize; 2] = [40, 1_000];

/// Messages of the conversation that is opened.
pub const MESSAGES: usize = 1_000;

/// The echo server's own tools.
const OF_ECHO: usize = 3;

/// Figures, one for each repetition, in microseconds.
#[derive(Debug, Default)]
pub struct Figures {
    /// From what the person says to the first request, with each number of [`TOOLS`].
    pub first: [Vec<f64>; 2],
    /// The median of a turn's rounds, likewise.
    pub rounds: [Vec<f64>; 2],
    /// Of a piece from its writing to its arrival; the median of an answer.
    pub delays: Vec<f64>,
    /// A conversation of [`MESSAGES`] that is not in memory.
    pub opening: Vec<f64>,
}

/// Measures everything.
pub fn measure(options: &Options) -> Outcome<Figures> {
    say(&format!("agent: {} repetitions", options.repetitions));
    let port = model_server::start()?;
    let mut figures = Figures::default();
    for (at, tools) in TOOLS.into_iter().enumerate() {
        watchdog::step(format!("turns with {tools} tools"));
        let (bridge, _stdio) = Bridge::start(options)?;
        let mut link = of_provider(&bridge, port)?;
        add_servers(options, &mut link, tools)?;
        turn(&mut link, Said::Calls)?;
        for _ in 0..options.repetitions {
            ROUNDS.lock().map_err(|_| "a thread has panicked")?.clear();
            let began = now();
            turn(&mut link, Said::Calls)?;
            let rounds = ROUNDS.lock().map_err(|_| "a thread has panicked")?.clone();
            if rounds.len() != CALLS + 1 {
                return Err(format!("{} rounds instead of {}", rounds.len(), CALLS + 1).into());
            }
            figures.first[at].push(rounds[0][0] - began);
            let own = rounds.windows(2).map(|pair| pair[1][0] - pair[0][1]);
            figures.rounds[at].push(crate::stats::median(own.collect::<Vec<_>>()));
            if at == 0 {
                figures.delays.push(crate::stats::median(turn(&mut link, Said::Paced)?.delays));
            }
        }
        if at == 0 {
            figures.opening = openings(options, &bridge, &mut link)?;
        }
    }
    Ok(figures)
}

/// The echo server, whose `echo` only reads, and one with the rest of the tools.
fn add_servers(options: &Options, link: &mut Link, tools: usize) -> Outcome<()> {
    let command = options.program("echo-server")?;
    let supervision = Supervision { reads: Some(vec!["echo".into()]), ..Supervision::default() };
    let supervision = Some(JsonObject::written(&supervision));
    ask(link, &AddServer { supervision, ..program("s", &command, &[])? })?;
    let rest = ["--tools".to_owned(), (tools - OF_ECHO).to_string()];
    ask(link, &program("rest", &command, &rest)?)?;
    connect(link, "s")?;
    connect(link, "rest")?;
    Ok(())
}

fn begin(link: &mut Link, said: Said) -> Outcome<String> {
    let create = ChatCreateSession {
        enabled_servers: None,
        name: None,
        system_prompt: None,
        model: Some(format!("bench:{}", said.model())),
        mode: None,
        private: None,
    };
    Ok(ask(link, &create)?.session.id)
}

/// A turn in a new conversation.
fn turn(link: &mut Link, said: Said) -> Outcome<Heard> {
    let session_id = begin(link, said)?;
    let message = request(&ChatSendMessage {
        session_id,
        message: "go".into(),
        attachments: None,
        model: None,
        stream: Some(true),
        tool_choice: None,
        max_tool_calls: None,
        max_tokens: None,
        answers: None,
    });
    link.clear();
    let mut listening = Heard::nothing();
    link.send(&message)?;
    loop {
        let frame = link.next()?;
        let at = now();
        let head = heard(&frame)?;
        if head.answers::<ChatSendMessage>() && head.request_id == ChatSendMessage::TAG {
            read::<ChatSendMessageResult>(&frame)?;
            return if said == Said::Calls { Ok(listening) } else { listening.ended(said) };
        }
        if head.tag != ChatEventPush::TAG {
            return Err(format!("a message was answered by {}", excerpt(&frame)).into());
        }
        let event = read::<ChatEventPush>(&frame)?.event;
        if let Some(text) = event.text.filter(|_| event.r#type == "text" && said != Said::Calls) {
            listening.text(at, &text)?;
        }
    }
}

/// Conversations that lie on the disk, each opened once.
fn openings(options: &Options, bridge: &Bridge, link: &mut Link) -> Outcome<Vec<f64>> {
    watchdog::step("opening conversations".to_owned());
    let directory = bridge.directory().join("sessions");
    let known = begin(link, Said::First)?;
    let text = fs::read_to_string(directory.join(format!("{known}.json")))?;
    let mut whole: ChatTranscript =
        read_object(&text).map_err(|error| format!("a session's {} cannot be read", error.field))?;
    let message = |number: usize| harbor_ipc_proto::client::ChatMessage {
        role: if number.is_multiple_of(2) { "user" } else { "assistant" }.into(),
        content: Some(Json::string(&format!("message {number} {}", "words ".repeat(80)))),
        toolCalls: None,
        toolCallId: None,
        isError: None,
    };
    whole.messages = (0..MESSAGES).map(message).collect();
    let mut times = Vec::new();
    for number in 0..options.repetitions {
        let session_id = format!("bench{number:011}");
        whole.session.id.clone_from(&session_id);
        let mut file = Vec::new();
        put_object(&mut file, &whole);
        fs::write(directory.join(format!("{session_id}.json")), file)?;
        let began = now();
        let got = ask(link, &ChatGetSession { session_id })?;
        times.push(now() - began);
        if got.messages.len() != MESSAGES {
            return Err(format!("{} messages instead of {MESSAGES}", got.messages.len()).into());
        }
    }
    Ok(times)
}
