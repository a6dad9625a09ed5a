//! One AI client on stdin and stdout.
//!
//! ```text
//!  stdin ─► thread ─► a driver ─► written ─► stdout
//! ```
//!
//! Owns stdin and its thread, and when it is over: stdin has ended and all is answered, or nobody reads stdout. Must never
//! write anything to stdout but lines of the protocol.

mod stdout_lines;

use std::io::{self, BufRead, Read as _};
use std::sync::mpsc::sync_channel;
use std::thread;
use std::time::Duration;

use harbor_client::errors::Failure;
use harbor_client::terminal::remark;
use harbor_home::Paths;
use harbor_policy::limits::MAX_LINE;

use self::stdout_lines::{LOOK, Over, Written, has_hung_up};
use super::driver::{Driver, Way};
use super::machine::Machine;

/// The time for answers once stdin has ended. A program that pipes requests in wants their answers; clients
/// that want us to end wait for two seconds.
const LAST_ANSWERS: Duration = Duration::from_millis(1500);

/// Serves until stdin has ended and its requests are answered, or until stdout has no reader.
pub fn serve(client: &str, machine: Machine, paths: &Paths) -> Result<(), Failure> {
    let (over, is_over) = sync_channel(1);
    let over = Over(over);
    let (lines, queue) = Written::begin(over.clone()).map_err(|error| Failure::Io("use stdout", error))?;
    let driver = Driver::new(machine, (client, None), paths, lines);
    spawn_reader(driver.way(), over);
    driver.dial_first();
    let _ = is_over.recv();
    if !queue.drain() {
        remark("harbor mcp: the client did not read the last answer; it is lost");
    }
    Ok(())
}

fn spawn_reader(way: Way<Written>, over: Over) {
    thread::spawn(move || {
        let mut stdin = io::stdin().lock();
        while let Some(read) = next_line(&mut stdin) {
            let is_heard = match read {
                FromStdin::Line(line) => way.tell(|machine| machine.on_line(&line)),
                FromStdin::Overlong => way.tell(Machine::on_overlong_line),
            };
            if !is_heard {
                return;
            }
        }
        let is_read = || !has_hung_up(io::stdout());
        if !way.settle(LAST_ANSWERS, LOOK, is_read) && is_read() {
            remark(
                "harbor mcp: stdin has ended, so open requests are cancelled. Keep stdin open until all answers have \
                 arrived",
            );
        }
        over.tell();
    });
}

/// A line from stdin, or one that is too long.
#[derive(Debug, PartialEq, Eq)]
enum FromStdin {
    Line(Vec<u8>),
    Overlong,
}

/// The next line, or the sign that it is too long. None at the end; half a line there does not count.
fn next_line(from: &mut impl BufRead) -> Option<FromStdin> {
    let mut line = Vec::new();
    from.take(MAX_LINE).read_until(b'\n', &mut line).ok()?;
    if line.ends_with(b"\n") {
        return Some(FromStdin::Line(line));
    }
    if (line.len() as u64) < MAX_LINE {
        return None;
    }
    from.skip_until(b'\n').ok()?;
    Some(FromStdin::Overlong)
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
                FromStdin::Line(line) => String::from_utf8(line).unwrap(),
                FromStdin::Overlong => "too long".into(),
            });
        }
        assert_eq!(heard, ["a\n", "\n", "too long", "{}\n"]);
    }
}
