//! One AI client on stdin and stdout.
//!
//! ```text
//!  stdin ─► thread ─► a driver ─► thread ─► stdout
//! ```
//!
//! Owns the two streams and their threads. Must never write anything to stdout but lines of the protocol.

use std::io::{self, BufRead, Read, Write};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;
use std::time::Duration;

use harbor_bridge::config::Paths;
use harbor_policy::limits::MAX_LINE;
use harbor_policy::tool_name::Allowlist;
use tokio::sync::mpsc::{Sender, WeakSender};

use super::driver::{Driver, Event, Lines, Passed, QUEUE};
use super::machine::Machine;
use crate::errors::Failure;

/// How long the last lines may take to be read.
const LAST_WORDS: Duration = Duration::from_millis(500);

/// Serves until stdin ends.
pub fn serve(client: &str, only: Option<Allowlist>, lazy: bool, paths: &Paths) -> Result<(), Failure> {
    let (lines, to_write) = sync_channel(QUEUE);
    let (events, mut driver) = Driver::new(Machine::new(only, lazy), client, paths, Written(lines));
    let written = spawn_writer(to_write, events.downgrade());
    spawn_reader(events);
    driver.dial_first();
    driver.run();
    // A client that does not read does not keep us.
    let _ = written.recv_timeout(LAST_WORDS);
    Ok(())
}

/// Lines for the thread that writes stdout.
struct Written(SyncSender<Vec<u8>>);

impl Lines for Written {
    fn pass(&mut self, line: Vec<u8>) -> Passed {
        self.0.send(line).map_or(Passed::Unread, |()| Passed::Done)
    }
}

fn spawn_reader(events: Sender<Event>) {
    thread::spawn(move || {
        let mut stdin = io::stdin().lock();
        while let Some(event) = next_line(&mut stdin) {
            if events.blocking_send(event).is_err() {
                return;
            }
        }
        let _ = events.blocking_send(Event::End);
    });
}

/// The next line, or that it is too long; `None` at the end, where half a line is none.
fn next_line(from: &mut impl BufRead) -> Option<Event> {
    let mut line = Vec::new();
    from.take(MAX_LINE).read_until(b'\n', &mut line).ok()?;
    if line.ends_with(b"\n") {
        return Some(Event::Line(line));
    }
    if (line.len() as u64) < MAX_LINE {
        return None;
    }
    from.skip_until(b'\n').ok()?;
    Some(Event::Overlong)
}

/// Writes lines; what it gives comes to an end when all are written, or nobody reads them.
fn spawn_writer(lines: Receiver<Vec<u8>>, events: WeakSender<Event>) -> Receiver<()> {
    let (done, written) = sync_channel(1);
    thread::spawn(move || {
        let mut stdout = io::stdout().lock();
        for line in lines {
            if stdout.write_all(&line).and_then(|()| stdout.flush()).is_err() {
                // Where there is no room for it, the next line finds out.
                let _ = events.upgrade().map(|events| events.try_send(Event::End));
                break;
            }
        }
        let _ = done.send(());
    });
    written
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_end_at_their_ends_and_too_long_ones_are_passed_over() {
        let long = vec![b'x'; usize::try_from(MAX_LINE).unwrap()];
        let input = [b"a\n\n".as_slice(), &long, b"yy\n{}\nhalf"].concat();
        let (mut from, mut heard) = (input.as_slice(), Vec::new());
        while let Some(event) = next_line(&mut from) {
            heard.push(match event {
                Event::Line(line) => String::from_utf8(line).unwrap(),
                _ => "too long".into(),
            });
        }
        assert_eq!(heard, ["a\n", "\n", "too long", "{}\n"]);
    }
}
