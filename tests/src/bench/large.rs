//! How long one large message holds up somebody who asks for next to nothing.
//!
//! ```text
//!  driver ══ a call with 60 MB, once ══════╗
//!                                       bridge ── runner ── echo-server
//!  driver ── ping, again and again ────────┘
//! ```
//!
//! Owns the clients, and the messages. A ping is answered by the bridge itself, so that what it waits for is the bridge.
//! Must not judge; there is no goal.

use crate::ask;
use crate::calls::turns;
use crate::harbor::Bridge;
use crate::options::Options;
use crate::request::{Manner, SERVER};
use crate::scale::connect_echo;
use crate::wire::{Framing, Link, excerpt};
use crate::{Outcome, say, watchdog};
use harbor_ipc_proto::client::{Chunk, McpCallTool, Ping};
use harbor_ipc_proto::field::Message as _;
use std::thread::{self, sleep};
use std::time::{Duration, Instant};

/// Bytes of the arguments; with what is around them still less than the largest message.
const SIZE: usize = 60 * 1024 * 1024;

/// Between two pings, so that they themselves are no flood.
const PAUSE: Duration = Duration::from_micros(300);

/// What the last chunk of an answer says.
const LAST: &[u8] = br#""last":true"#;

/// It says so within so many bytes.
const HEAD: usize = 128;

/// What was found beside one kind of message.
#[derive(Debug)]
pub struct Large {
    /// For reports.
    pub name: &'static str,
    /// The longest that a ping waited, of each repetition, in milliseconds.
    pub waits: Vec<f64>,
}

/// A call that was made once, and who sends it.
struct Call {
    client: Link,
    bytes: Vec<u8>,
    /// Its answer has no fewer.
    least: usize,
}

/// Measures beside all kinds of message: one long string, which comes back, as a whole or in chunks, and very many numbers,
/// which do not.
pub fn measure(options: &Options) -> Outcome<[Large; 3]> {
    watchdog::step("large messages: starting".to_owned());
    let (bridge, mut stdio) = Bridge::start(options)?;
    connect_echo(options, &mut stdio, SERVER)?;
    let mut pinger = bridge.attach()?;
    let text = format!(r#"{{"text":"{}"}}"#, "x".repeat(SIZE));
    let numbers = format!(r#"{{"text":"x","n":[{}1]}}"#, "1,".repeat(SIZE / 2));
    let mut calls = [
        call(bridge.attach()?, &text, SIZE),
        call(bridge.attach_as_browser()?, &text, SIZE),
        call(bridge.attach()?, &numbers, 1),
    ];
    let names = ["60 MB of text, there and back", "the same, back in chunks", "60 MB of numbers, there"];
    let mut found = names.map(|name| Large { name, waits: Vec::new() });
    for repetition in 0..options.scale.large_messages {
        say(&format!("large messages: repetition {} of {}", repetition + 1, options.scale.large_messages));
        for which in turns(repetition, calls.len()) {
            watchdog::step(format!("large messages: {}", found[which].name));
            found[which].waits.push(longest_wait(&mut pinger, &mut calls[which])?);
        }
    }
    // The links are closed before the bridge ends with its stdin.
    drop((calls, pinger, stdio));
    Ok(found)
}

/// Values of so many numbers would take a gigabyte: the arguments are JSON already.
fn call(client: Link, arguments: &str, least: usize) -> Call {
    Call { client, bytes: Framing::Length.wrap(&Manner::Owner.json("echo", &arguments)), least }
}

/// Pings until the call has been answered.
fn longest_wait(pinger: &mut Link, call: &mut Call) -> Outcome<f64> {
    let ping = ask::request(&Ping { echo: None });
    thread::scope(|scope| {
        // An error of this kind cannot leave its thread; its text can.
        let calling = scope.spawn(move || answered(call).map_err(|error| error.to_string()));
        let mut longest = Duration::ZERO;
        while !calling.is_finished() {
            let begin = Instant::now();
            pinger.send(&ping)?;
            pinger.receive()?;
            longest = longest.max(begin.elapsed());
            sleep(PAUSE);
        }
        calling.join().map_err(|_| "the large call broke off")??;
        Ok(longest.as_secs_f64() * 1e3)
    })
}

fn answered(call: &mut Call) -> Outcome<()> {
    call.client.clear();
    call.client.send(&call.bytes)?;
    let json_at = call.client.framing().json_at();
    let mut came = 0;
    let [piece, reply] = [Chunk::TAG.to_owned(), format!("{}_result", McpCallTool::TAG)].map(beginning);
    loop {
        let answer = call.client.next()?;
        let head = &answer[json_at..answer.len().min(HEAD)];
        let is = |start: &str| head.starts_with(start.as_bytes());
        came += answer.len();
        let is_piece = is(&piece);
        if is_piece && !head.windows(LAST.len()).any(|part| part == LAST) {
            continue;
        }
        if came >= call.least && (is_piece || is(&reply)) {
            return Ok(());
        }
        return Err(format!("a large call was answered by {}", excerpt(&answer)).into());
    }
}

/// How a message of this type begins: what follows may be too long to be read for that.
fn beginning(tag: String) -> String {
    format!("{{\"type\":\"{tag}\"")
}
