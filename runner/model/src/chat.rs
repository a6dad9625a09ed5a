//! One answer of a model, from the request to its end.
//!
//! ```text
//!  check ─► asking ─► head ─► bytes ─► stream ─► events ─► credit ─► up
//! ```
//!
//! Owns the order of what is told. Must never read an answer faster than the bridge takes it.

use std::time::{Duration, SystemTime};

use harbor_ipc_proto::link::model::{Cause, Chat, Event, Failure};
use reqwest::Response;
use reqwest::header::CONTENT_TYPE;
use tokio::task::yield_now;
use tokio::time::Instant;

use crate::asking::Asking;
use crate::clock::Clock;
use crate::credit::Credit;
use crate::dialect;
use crate::failure::failed;
use crate::provider_http::{Clients, Way};
use crate::stream::Stream;
use crate::to_bridge::Up;

/// The longest delta, in bytes. Browsers take frames of 1 MiB, and JSON may make six bytes of one.
const LONGEST: usize = 128 * 1024;

/// A provider hurries whose next piece comes within this time. So many pieces of one that hurries are told together: that costs the
/// bridge and its client less. One that does not hurry has each piece told at once.
const HURRIES: Duration = Duration::from_micros(100);
const TOGETHER: usize = 64;

/// Asks the model, and tells what it says; the last event is `End`, unless there is a failure.
///
/// # Errors
/// Why there is no answer, or no more of it.
pub async fn perform(clients: &Clients, mut chat: Chat, up: &Up, credit: &Credit) -> Result<(), Failure> {
    harbor_ipc_proto::model::check_asked(&chat.messages)
        .map_err(|wrong| failed(Cause::Refused, wrong.to_string()))?;
    let way = clients.way(&chat.target)?;
    let mut clock = Clock::of(chat.limits);
    let mut asking = Asking { way: &way, clock: &clock, up, told_loading: false };
    let (answer, dropped_tools) = asking.head(&mut chat).await?;
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
            let began = Instant::now();
            let mut read = match clock.within(answer.chunk()).await {
                Ok(chunk) => self.feed(way, chunk),
                Err(late) => Err(late),
            };
            let more = if began.elapsed() < HURRIES { TOGETHER } else { 0 };
            for _ in 0..more {
                if read.is_err() || self.stream.answer.has_ended() {
                    break;
                }
                let Some(chunk) = there(&mut answer).await else { break };
                read = self.feed(way, chunk);
            }
            if read.is_err() {
                self.stream.answer.break_off();
            }
            self.tell(clock).await;
            read.map_err(|failure| Failure { message: way.words(&failure.message), ..failure })?;
        }
        Ok(())
    }

    fn feed(&mut self, way: &Way, chunk: reqwest::Result<Option<impl AsRef<[u8]>>>) -> Result<(), Failure> {
        match chunk {
            Ok(Some(bytes)) => self.stream.feed(bytes.as_ref()),
            Ok(None) => self.stream.end(),
            Err(_) => Err(way.cut()),
        }
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

/// What has come of an answer while the last piece was read; none if nothing has.
async fn there(answer: &mut Response) -> Option<reqwest::Result<Option<impl AsRef<[u8]> + use<>>>> {
    // The connection is a task of its own.
    yield_now().await;
    tokio::select! {
        biased;
        chunk = answer.chunk() => Some(chunk),
        () = std::future::ready(()) => None,
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

/// A part of calls' ids that no other answer has, not even one from before a restart.
fn nonce(id: u32) -> String {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    format!("{:x}_{id:x}", since.as_millis())
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
}
