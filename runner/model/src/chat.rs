//! One answer of a model, from the request to its end.
//!
//! ```text
//!  check ─► ask ─┬─ refused tool ─► once more without it        before the answer's head: retries
//!                └─ passes? ─► pause ─► once more
//!  head ─► bytes ─► stream ─► events ─► credit ─► up            behind it: never
//! ```
//!
//! Owns the limits. Must never ask again once a byte of an answer has come: it could cost twice, and say something else.

use std::hash::{BuildHasher as _, RandomState};
use std::time::{Duration, SystemTime};

use harbor_ipc_proto::link::model::{Cause, Chat, ChatLimits, Event, Failure};
use reqwest::Response;
use reqwest::header::CONTENT_TYPE;
use tokio::time::{Instant, sleep, timeout};

use crate::credit::Credit;
use crate::dialect::{self, Prepared};
use crate::errors::refused_tool;
use crate::failure::failed;
use crate::names::wire_name;
use crate::provider_http::{Clients, Way};
use crate::retry;
use crate::stream::Stream;
use crate::to_bridge::Up;

/// Where nobody has said otherwise. A local server may load a model for minutes before its first byte.
const IDLE: Duration = Duration::from_secs(300);
const TOTAL: Duration = Duration::from_secs(3600);

/// The longest delta, in bytes. Browsers take frames of 1 MiB, and JSON may make six bytes of one.
const LONGEST: usize = 128 * 1024;

/// How long the answer may take.
#[derive(Debug)]
struct Clock {
    idle: Duration,
    total: Duration,
    end: Instant,
}

/// Asks the model, and tells what it says; the last event is `End`, unless there is a failure.
///
/// # Errors
/// Why there is no answer, or no more of it.
pub async fn perform(clients: &Clients, mut chat: Chat, up: &Up, credit: &Credit) -> Result<(), Failure> {
    harbor_ipc_proto::model::check(&chat.messages)
        .map_err(|wrong| failed(Cause::Refused, wrong.to_string()))?;
    let way = clients.way(&chat.target)?;
    let mut clock = Clock::of(chat.limits);
    let (answer, dropped_tools) = ask(&way, &mut chat, &clock).await?;
    let kind = answer.headers().get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    let framing = dialect::framing(chat.target.dialect, kind).ok_or_else(|| {
        let why =
            format!("{} did not answer with a stream of its dialect: is the base URL right?", way.place());
        failed(Cause::Protocol, why)
    })?;
    let Chat { id, target, tools, options, .. } = chat;
    // Of the request nothing is needed any more, pictures least of all.
    let mut stream = Stream::new(target.dialect, target.kind, framing, &tools, nonce(id));
    stream.set_limit(target.kind, options.max_tokens);
    let mut reading = Reading { id, stream, up, credit, dropped_tools, started: false };
    reading.read(&way, answer, &mut clock).await
}

/// The head of a good answer, and the tools that had to be left out for it.
async fn ask(way: &Way, chat: &mut Chat, clock: &Clock) -> Result<(Response, Vec<String>), Failure> {
    let (mut dropped, mut attempt) = (Vec::new(), 0);
    loop {
        let Prepared { path, body, accept } = dialect::prepare(chat)?;
        let refusal = match clock.within(way.post(way.endpoint(&path), body, accept)).await? {
            Ok(answer) => return Ok((answer, dropped)),
            Err(refusal) => refusal,
        };
        if refusal.failure.status == Some(400) && dropped.is_empty() {
            let names: Vec<String> = chat.tools.iter().map(|tool| wire_name(&tool.name)).collect();
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            if let Some(at) = refused_tool(&refusal.about, &refusal.failure.message, &names) {
                dropped.push(chat.tools.remove(at).name);
                continue;
            }
        }
        match retry::pause(attempt, &refusal.failure, refusal.says_retry, share()) {
            Some(pause) => clock.within(sleep(pause)).await?,
            None => return Err(refusal.failure),
        }
        attempt += 1;
    }
}

/// An answer that is being read.
struct Reading<'a> {
    id: u32,
    stream: Stream,
    up: &'a Up,
    credit: &'a Credit,
    dropped_tools: Vec<String>,
    started: bool,
}

impl Reading<'_> {
    async fn read(&mut self, way: &Way, mut answer: Response, clock: &mut Clock) -> Result<(), Failure> {
        while !self.stream.answer.has_ended() {
            // Not faster than the bridge takes it.
            self.up.room().await;
            let read = match clock.within(answer.chunk()).await {
                Ok(Ok(Some(bytes))) => self.stream.feed(&bytes),
                Ok(Ok(None)) => self.stream.end(),
                Ok(Err(_)) => Err(way.cut()),
                Err(late) => Err(late),
            };
            if read.is_err() {
                self.stream.answer.break_off();
            }
            self.tell(clock).await;
            read.map_err(|failure| Failure { message: way.words(&failure.message), ..failure })?;
        }
        Ok(())
    }

    async fn tell(&mut self, clock: &mut Clock) {
        let (model, events) = (self.stream.answer.take_model(), self.stream.answer.take());
        if !self.started && (model.is_some() || !events.is_empty()) {
            self.started = true;
            let dropped_tools = std::mem::take(&mut self.dropped_tools);
            self.up.event(self.id, Event::Start { model, dropped_tools });
        }
        for event in joined(events).into_iter().flat_map(pieces) {
            if is_delta(&event) {
                let began = Instant::now();
                if self.credit.take().await {
                    clock.stood_still_for(began.elapsed());
                }
            }
            self.up.event(self.id, event);
        }
    }
}

fn is_delta(event: &Event) -> bool {
    matches!(event, Event::Text(_) | Event::Reasoning(_) | Event::ToolCallArguments { .. })
}

/// Deltas that have come together are one.
fn joined(events: Vec<Event>) -> Vec<Event> {
    let mut joined: Vec<Event> = Vec::with_capacity(events.len());
    for event in events {
        match (joined.last_mut(), event) {
            (Some(Event::Text(before)), Event::Text(more)) => before.push_str(&more),
            (Some(Event::Reasoning(before)), Event::Reasoning(more)) => before.push_str(&more),
            (
                Some(Event::ToolCallArguments { call_id: known, text: before }),
                Event::ToolCallArguments { call_id, text },
            ) if *known == call_id => before.push_str(&text),
            (_, event) => joined.push(event),
        }
    }
    joined
}

/// A delta in pieces that fit everybody's frames; any other event as it is.
fn pieces(event: Event) -> Vec<Event> {
    match event {
        Event::Text(text) if text.len() > LONGEST => cuts(&text).map(Event::Text).collect(),
        Event::Reasoning(text) if text.len() > LONGEST => cuts(&text).map(Event::Reasoning).collect(),
        Event::ToolCallArguments { call_id, text } if text.len() > LONGEST => {
            let piece = |text| Event::ToolCallArguments { call_id: call_id.clone(), text };
            cuts(&text).map(piece).collect()
        }
        event => vec![event],
    }
}

/// A text, cut between characters.
fn cuts(text: &str) -> impl Iterator<Item = String> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let (piece, more) = rest.split_at(rest.floor_char_boundary(LONGEST));
        rest = more;
        (!piece.is_empty()).then(|| piece.to_owned())
    })
}

impl Clock {
    fn of(limits: ChatLimits) -> Self {
        let or = |ms, usual| if ms == 0 { usual } else { Duration::from_millis(ms).min(TOTAL) };
        let total = or(limits.total_ms, TOTAL);
        Self { idle: or(limits.idle_ms, IDLE), total, end: Instant::now() + total }
    }

    /// Waits for it, within both limits.
    async fn within<T>(&self, wait: impl Future<Output = T>) -> Result<T, Failure> {
        let left = self.end.saturating_duration_since(Instant::now());
        let late = |why: String| failed(Cause::Timeout, why);
        timeout(left.min(self.idle), wait).await.map_err(|_| match left < self.idle {
            true => late(format!("the answer took more than {} s", self.total.as_secs_f32())),
            false => late(format!("the provider sent nothing for {} s", self.idle.as_secs_f32())),
        })
    }

    /// Nobody read the answer for so long: that is not the provider's time.
    fn stood_still_for(&mut self, time: Duration) {
        self.end += time;
    }
}

/// A part of calls' ids that no other answer has, not even one from before a restart.
fn nonce(id: u32) -> String {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    format!("{:x}_{id:x}", since.as_millis())
}

/// A random share, of 0 to 1.
pub(crate) fn share() -> f64 {
    let random = RandomState::new().hash_one(0u8);
    f64::from(u32::try_from(random >> 32).unwrap_or_default()) / f64::from(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn deltas_that_came_together_are_one() {
        let text = |text: &str| Event::Text(text.into());
        let arguments = |call_id: &str, text: &str| Event::ToolCallArguments {
            call_id: call_id.into(),
            text: text.into(),
        };
        let events = vec![
            text("a"),
            text("b"),
            Event::Reasoning("c".into()),
            text("d"),
            arguments("1", "e"),
            arguments("1", "f"),
            arguments("2", "g"),
        ];
        let wanted =
            [text("ab"), Event::Reasoning("c".into()), text("d"), arguments("1", "ef"), arguments("2", "g")];
        assert_eq!(joined(events), wanted);
    }

    #[test]
    fn a_long_delta_comes_in_pieces() {
        let long = format!("{}ü{}", "x".repeat(LONGEST - 1), "y".repeat(LONGEST));
        let of = |event: Event| {
            let text = |event: Event| match event {
                Event::Text(text) | Event::Reasoning(text) | Event::ToolCallArguments { text, .. } => text,
                other => panic!("{other:?}"),
            };
            pieces(event).into_iter().map(text).collect::<Vec<_>>()
        };
        for event in [
            Event::Text(long.clone()),
            Event::Reasoning(long.clone()),
            Event::ToolCallArguments { call_id: "a".into(), text: long.clone() },
        ] {
            let pieces = of(event);
            assert_eq!((pieces.len(), pieces.concat() == long), (3, true));
            assert!(pieces.iter().all(|piece| piece.len() <= LONGEST));
        }
        assert_eq!(of(Event::Text("short".into())), ["short"]);
    }

    #[tokio::test(start_paused = true)]
    async fn the_total_stands_still_while_nobody_reads() {
        let mut clock = Clock::of(ChatLimits { idle_ms: 100, total_ms: 150 });
        assert!(clock.within(sleep(Duration::from_millis(90))).await.is_ok());
        let late = clock.within(sleep(Duration::from_millis(90))).await.unwrap_err();
        assert_eq!(late.message, "the answer took more than 0.15 s");
        clock.stood_still_for(Duration::from_millis(200));
        let late = clock.within(std::future::pending::<()>()).await.unwrap_err();
        assert_eq!(
            (late.cause, late.message.as_str()),
            (Cause::Timeout, "the provider sent nothing for 0.1 s")
        );
    }
}
