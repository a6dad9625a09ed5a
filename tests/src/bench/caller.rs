//! One connection with one prepared call that is made again and again: what the measurements of scale consist of.
//!
//! ```text
//!  one at a time   request ─► answer ─► request ─► …
//!  flood           up to `in_flight` requests open, until it is told to stop; then the last answers
//! ```
//!
//! Owns the connection and its ids. Must not look into an answer once the first one was right.

use crate::Outcome;
use crate::options::Options;
use crate::process::Started;
use crate::request::{FIRST_ID, Manner, Request};
use crate::setup;
use crate::wire::{Link, excerpt};
use serde_json::{Value, json};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::thread;
use std::time::Instant;

/// What is called.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tool {
    /// 100 bytes of text there and back.
    Small,
    /// 64 KiB of text back.
    Large,
}

impl Tool {
    fn call(self) -> (&'static str, Value) {
        match self {
            Self::Small => ("echo", json!({ "text": "x".repeat(100) })),
            Self::Large => ("text", json!({ "n": 65_536 })),
        }
    }

    /// A request to a server behind a bridge, as the owner, for up to `copies` at once.
    pub fn of_server(self, server: &str, copies: usize) -> Outcome<Request> {
        let (name, arguments) = self.call();
        Request::of_server(server, name, &arguments, copies)
    }
}

/// A connection that makes the same call again and again.
#[derive(Debug)]
pub struct Caller {
    request: Request,
    answer: usize,
    in_flight: usize,
    next_id: u64,
    // In this order: closing the connection is what ends the process.
    link: Link,
    _own: Option<Started>,
}

impl Caller {
    /// Of a server behind a bridge, with at most `in_flight` calls open.
    pub fn of_server(link: Link, server: &str, tool: Tool, in_flight: usize) -> Outcome<Self> {
        Self::open(link, None, tool.of_server(server, in_flight)?, in_flight)
    }

    /// Of an echo server behind two plain byte relays.
    pub fn of_relays(options: &Options, tool: Tool, in_flight: usize) -> Outcome<Self> {
        let (own, link) = setup::listed(&mut setup::relays(options)?)?;
        let (name, arguments) = tool.call();
        let request = Request::of_tool(Manner::Plain, name, &arguments, in_flight)?;
        Self::open(link, Some(own), request, in_flight)
    }

    /// Calls once, and remembers how long an answer is.
    fn open(link: Link, own: Option<Started>, request: Request, in_flight: usize) -> Outcome<Self> {
        let mut caller = Self { request, answer: 0, in_flight, next_id: FIRST_ID, link, _own: own };
        caller.link.send(caller.request.stamped(FIRST_ID, 1))?;
        caller.next_id += 1;
        let json_at = caller.link.framing().json_at();
        let answer = caller.link.receive()?;
        let result = &serde_json::from_slice::<Value>(&answer[json_at..])?["result"];
        if !result["content"][0]["text"].is_string() || result["isError"] == json!(true) {
            return Err(format!("a wrong answer: {}", excerpt(answer)).into());
        }
        caller.answer = answer.len();
        Ok(caller)
    }

    /// Calls one after the other; the time of each in microseconds.
    pub fn one_at_a_time(&mut self, count: usize) -> Outcome<Vec<f64>> {
        let mut times = Vec::with_capacity(count);
        for _ in 0..count {
            let request = self.request.stamped(self.next_id, 1);
            let begin = Instant::now();
            self.link.send(request)?;
            let answer = self.link.receive()?;
            times.push(begin.elapsed().as_secs_f64() * 1e6);
            if answer.len() != self.answer {
                return Err(format!("an answer of another length came: {}", excerpt(answer)).into());
            }
            self.next_id += 1;
        }
        Ok(times)
    }

    /// Calls with as many open as there may be, while `goes_on` says so of the number sent; how many were answered.
    pub fn flood(&mut self, goes_on: impl Fn(usize) -> bool) -> Outcome<usize> {
        self.link.clear();
        let (mut sent, mut answered) = (0, 0);
        loop {
            let room = if goes_on(sent) { self.in_flight - (sent - answered) } else { 0 };
            if room > 0 {
                self.link.send(self.request.stamped(self.next_id, room))?;
                self.next_id += room as u64;
                sent += room;
            }
            if answered == sent {
                return Ok(answered);
            }
            answered += self.link.receive_some(self.answer)?;
        }
    }

    /// Does `work` while this connection floods from a thread of its own, once its first answers have come; what it gives,
    /// and the answers per second of the flood.
    pub fn flood_beside<T>(&mut self, work: impl FnOnce() -> Outcome<T>) -> Outcome<(T, f64)> {
        let (stop, begin) = (AtomicBool::new(false), Instant::now());
        let (tell, begun) = mpsc::channel();
        let first_answers = 2 * self.in_flight;
        thread::scope(|scope| {
            let stop = &stop;
            let goes_on = move |sent| {
                if sent >= first_answers {
                    // Nobody listens any more once it is known.
                    let _ = tell.send(());
                }
                !stop.load(Ordering::Relaxed)
            };
            // An error of this kind cannot leave its thread; its text can.
            let flooding = scope.spawn(move || self.flood(goes_on).map_err(|error| error.to_string()));
            // A flood that does not begin has broken off, or the watchdog ends it all.
            let result = begun.recv().map_err(|_| "the flood broke off".into()).and_then(|()| {
                drop(begun);
                work()
            });
            stop.store(true, Ordering::Relaxed);
            let answered = flooding.join().map_err(|_| "the flood broke off")??;
            Ok((result?, answered as f64 / begin.elapsed().as_secs_f64()))
        })
    }
}
