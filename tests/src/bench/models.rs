//! What a language model costs through Harbor: the first token, each further one, very many of them, and the worker's memory.
//!
//! ```text
//!  direct   driver ── TCP ── model_server (a thread of the driver)
//!  Harbor   driver ── socket ── bridge ── harbor-model-worker ── TCP ── model_server
//! ```
//!
//! Both ways take turns within each repetition. Owns both. Must not judge; the goals are the report's.

use crate::ask::{ask, heard, read, request};
use crate::harbor::Bridge;
use crate::model_server::{self, Heard, Said, now, texts};
use crate::options::Options;
use crate::process::{self, Memory};
use crate::stats::median;
use crate::wire::{Link, excerpt};
use crate::{Outcome, say, watchdog};
use harbor_ipc_proto::client::{ChatMessage, LlmAddProvider, LlmChat, LlmChatResult, LlmEvent, Status};
use harbor_ipc_proto::field::Message as _;
use harbor_ipc_proto::json::Json;
use std::io::{Read, Write};
use std::net::{Ipv4Addr, TcpStream};
use std::thread::sleep;
use std::time::Duration;

/// Questions of one repetition, one after the other. The person may ask 600 times in a minute.
const WARM: usize = 10;

/// Time to give buffers back before a look at the memory.
const SETTLE: Duration = Duration::from_secs(1);

/// Answers that are under way at once, where they are weighed.
const STREAMS: usize = 16;

/// What a read takes at most.
const READ: usize = 64 * 1024;

/// Figures of one way, one for each repetition.
#[derive(Debug)]
pub struct Way {
    /// Its name.
    pub name: &'static str,
    /// Until the first piece on a connection, or in a bridge, that has asked before; the median, in microseconds.
    pub warm: Vec<f64>,
    /// The same where nothing was asked before: one for each try.
    pub cold: Vec<f64>,
    /// Of a piece from its writing to its arrival, at the pace of a model; the median, in microseconds.
    pub delays: Vec<f64>,
    /// Pieces per second.
    pub rates: Vec<f64>,
}

/// What was found.
#[derive(Debug)]
pub struct Figures {
    /// Without Harbor, and with it.
    pub ways: [Way; 2],
    /// What the worker held after one answer, and after all of them.
    pub held: [Memory; 2],
    /// The growth of the bridge and of the worker for each answer under way (PSS, KiB).
    pub streams: [f64; 2],
}

impl Way {
    fn new(name: &'static str) -> Self {
        Self { name, warm: Vec::new(), cold: Vec::new(), delays: Vec::new(), rates: Vec::new() }
    }

    /// One repetition.
    fn measure(&mut self, mut ask: impl FnMut(Said) -> Outcome<Heard>) -> Outcome<()> {
        let first: Outcome<Vec<_>> = (0..WARM).map(|_| Ok(ask(Said::First)?.first)).collect();
        self.warm.push(median(first?));
        self.delays.push(median(ask(Said::Paced)?.delays));
        let flood = ask(Said::Flood)?;
        // The wait for the first one is no part of what goes through.
        self.rates.push(Said::Flood.pieces() as f64 / (flood.whole - flood.first) * 1e6);
        Ok(())
    }
}

/// Measures everything.
pub fn measure(options: &Options) -> Outcome<Figures> {
    say(&format!("models: {} repetitions, {} cold starts", options.repetitions, options.connects));
    let port = model_server::start()?;
    let (mut direct, mut harbor) = (Way::new("direct"), Way::new("Harbor"));
    for _ in 0..options.connects {
        watchdog::step("asking a model in a new bridge".to_owned());
        direct.cold.push(Direct::open(port)?.ask(Said::First)?.first);
        // Declared first to be dropped last.
        let (bridge, _stdio) = Bridge::start(options)?;
        let mut link = of_provider(&bridge, port)?;
        harbor.cold.push(through(&mut link, Said::First)?.first);
    }
    watchdog::step("asking a model".to_owned());
    let (bridge, _stdio) = Bridge::start(options)?;
    let mut link = of_provider(&bridge, port)?;
    through(&mut link, Said::First)?;
    let idle = worker(&mut link)?;
    let mut connection = Direct::open(port)?;
    connection.ask(Said::First)?;
    for _ in 0..options.repetitions {
        watchdog::step("asking a model".to_owned());
        direct.measure(|said| connection.ask(said))?;
        harbor.measure(|said| through(&mut link, said))?;
    }
    let held = [idle, worker(&mut link)?];
    watchdog::step("holding answers open".to_owned());
    let streams = streams(options, port)?;
    Ok(Figures { ways: [direct, harbor], held, streams })
}

/// The growth of a new bridge and its worker for each answer under way, each for a client of its own.
fn streams(options: &Options, port: u16) -> Outcome<[f64; 2]> {
    let (bridge, _stdio) = Bridge::start(options)?;
    let mut link = of_provider(&bridge, port)?;
    through(&mut link, Said::First)?;
    let mut weigh = || -> Outcome<_> { Ok([process::memory(bridge.pid())?.pss, worker(&mut link)?.pss]) };
    weigh()?;
    let before = weigh()?;
    let mut open = Vec::new();
    for _ in 0..STREAMS {
        let mut link = bridge.attach()?;
        link.send(&question(Said::Held))?;
        while heard(&link.next()?)?.tag != LlmEvent::TAG {}
        open.push(link);
    }
    let after = weigh()?;
    Ok([0, 1].map(|at| (after[at] as f64 - before[at] as f64) / STREAMS as f64))
}

/// A link to a bridge that knows the provider.
pub fn of_provider(bridge: &Bridge, port: u16) -> Outcome<Link> {
    let mut link = bridge.attach()?;
    let provider = LlmAddProvider {
        provider_type: "openai-compatible".into(),
        name: Some("bench".into()),
        base_url: Some(format!("http://127.0.0.1:{port}/v1")),
        dialect: None,
        api_key: None,
        allow_private: None,
        allow_other_user: None,
    };
    ask(&mut link, &provider)?;
    Ok(link)
}

/// What the worker holds.
fn worker(link: &mut Link) -> Outcome<Memory> {
    sleep(SETTLE);
    let status = ask(link, &Status { fresh: None })?.status;
    process::memory(status.models.and_then(|models| models.pid).ok_or("no worker runs")?)
}

/// The question, as it goes over the wire.
fn question(said: Said) -> Vec<u8> {
    request(&LlmChat {
        messages: vec![ChatMessage {
            role: "user".into(),
            content: Some(Json::string("hi")),
            toolCalls: None,
            toolCallId: None,
            isError: None,
        }],
        model: Some(format!("bench:{}", said.model())),
        provider: None,
        system_prompt: None,
        tools: None,
        tool_choice: None,
        max_tokens: None,
        temperature: None,
        top_p: None,
        stop: None,
        response_schema: None,
        reasoning_effort: None,
        stream: Some(true),
        credit: None,
    })
}

/// Asks through Harbor.
fn through(link: &mut Link, said: Said) -> Outcome<Heard> {
    let question = question(said);
    link.clear();
    let mut listening = Heard::nothing();
    link.send(&question)?;
    loop {
        let frame = link.next()?;
        let at = now();
        let head = heard(&frame)?;
        if head.answers::<LlmChat>() && head.request_id == LlmChat::TAG {
            read::<LlmChatResult>(&frame)?;
            return listening.ended(said);
        }
        if head.tag != LlmEvent::TAG {
            return Err(format!("a question was answered by {}", excerpt(&frame)).into());
        }
        let event = read::<LlmEvent>(&frame)?.event;
        if let Some(text) = event.text.filter(|_| event.r#type == "text") {
            listening.text(at, &text)?;
        }
    }
}

/// A connection of the driver's own to the provider.
struct Direct {
    stream: TcpStream,
    buffer: Vec<u8>,
}

impl Direct {
    fn open(port: u16) -> Outcome<Self> {
        let stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port))?;
        stream.set_nodelay(true)?;
        Ok(Self { stream, buffer: Vec::new() })
    }

    fn ask(&mut self, said: Said) -> Outcome<Heard> {
        let body = format!(
            r#"{{"model":"{}","messages":[{{"role":"user","content":"hi"}}],"stream":true}}"#,
            said.model()
        );
        let question = format!(
            "POST /v1/chat/completions HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        );
        let mut listening = Heard::nothing();
        self.stream.write_all(question.as_bytes())?;
        self.buffer.clear();
        let mut room = vec![0; READ];
        while !self.buffer.ends_with(b"\r\n0\r\n\r\n") {
            let read = self.stream.read(&mut room)?;
            let at = now();
            if read == 0 {
                return Err("the provider has closed the connection".into());
            }
            self.buffer.extend_from_slice(&room[..read]);
            let (found, used) = texts(&self.buffer)?;
            for text in found {
                listening.text(at, text)?;
            }
            self.buffer.drain(..used);
        }
        listening.ended(said)
    }
}
