//! One AI client on stdin and stdout.
//!
//! ```text
//!  stdin ─► thread ─► a driver ─┬─► stdout          a short line, where it has room and no other waits
//!                               └─► thread ─► stdout
//! ```
//!
//! Owns the two streams and their threads, and when it is over: stdin has ended, or nobody reads stdout. Must never write
//! anything to stdout but lines of the protocol, nor have the driver wait for a client that does not read, before `QUEUE`
//! lines wait for it.

use std::io::{self, BufRead, Read as _, Write as _};
use std::os::fd::AsFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;
use std::time::Duration;

use harbor_bridge::config::Paths;
use harbor_policy::limits::MAX_LINE;
use harbor_policy::tool_name::Allowlist;
use nix::libc::PIPE_BUF;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::stat::{SFlag, fstat};

use super::driver::{Driver, Lines, Way};
use super::machine::Machine;
use crate::errors::Failure;

/// How many lines may wait for a client that is slower.
const QUEUE: usize = 64;

/// How long the last lines may take to be read.
const LAST_WORDS: Duration = Duration::from_millis(500);

/// Serves until stdin ends, or nobody reads stdout.
pub fn serve(client: &str, only: Option<Allowlist>, lazy: bool, paths: &Paths) -> Result<(), Failure> {
    let (lines, to_write) = sync_channel(QUEUE);
    let (over, is_over) = sync_channel(1);
    let (over, queued) = (Over(over), Arc::<AtomicUsize>::default());
    let tells_room = tells_room(io::stdout());
    let written = Written { queue: lines, queued: queued.clone(), tells_room, over: over.clone() };
    let driver = Driver::new(Machine::new(only, lazy), client, paths, written);
    let written = spawn_writer(to_write, queued, over.clone());
    spawn_reader(driver.way(), over);
    driver.dial_first();
    let _ = is_over.recv();
    // The queue ends with it.
    drop(driver);
    // A client that does not read does not keep us.
    let _ = written.recv_timeout(LAST_WORDS);
    Ok(())
}

/// Lines for stdout.
struct Written {
    queue: SyncSender<Vec<u8>>,
    /// How many of them the thread has not written yet.
    queued: Arc<AtomicUsize>,
    /// Whether stdout is such that it says how much it takes.
    tells_room: bool,
    over: Over,
}

impl Lines for Written {
    fn pass(&mut self, line: Vec<u8>) -> Option<Vec<u8>> {
        // Only the driver adds to them, so that none stay none.
        let none_wait = self.queued.load(Ordering::Acquire) == 0;
        let passed = if none_wait && self.tells_room && takes_at_once(io::stdout(), line.len()) {
            write(&line).is_ok()
        } else {
            self.queued.fetch_add(1, Ordering::AcqRel);
            self.queue.send(line).is_ok()
        };
        if !passed {
            self.over.tell();
        }
        None
    }
}

/// Says that it is over.
#[derive(Clone)]
struct Over(SyncSender<()>);

impl Over {
    fn tell(&self) {
        // Where there is no room for it, it was said before.
        let _ = self.0.try_send(());
    }
}

/// Whether this is a pipe or a socket. A terminal can be written to as soon as it takes one byte.
fn tells_room(stdout: impl AsFd) -> bool {
    let kind = fstat(stdout).map(|stat| SFlag::from_bits_truncate(stat.st_mode) & SFlag::S_IFMT);
    matches!(kind, Ok(SFlag::S_IFIFO | SFlag::S_IFSOCK))
}

/// Whether a write of so many bytes would not have to wait: a pipe that can be written to has room for [`PIPE_BUF`], a socket
/// for more.
fn takes_at_once(stdout: impl AsFd, bytes: usize) -> bool {
    let mut stdout = [PollFd::new(stdout.as_fd(), PollFlags::POLLOUT)];
    bytes <= PIPE_BUF && poll(&mut stdout, PollTimeout::ZERO).is_ok_and(|ready| ready > 0)
}

fn write(line: &[u8]) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    stdout.write_all(line)?;
    stdout.flush()
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
        over.tell();
    });
}

/// What stdin had.
#[derive(Debug, PartialEq, Eq)]
enum FromStdin {
    Line(Vec<u8>),
    Overlong,
}

/// The next line, or that it is too long; `None` at the end, where half a line is none.
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

/// Writes lines; what it gives comes to an end when all are written, or nobody reads them.
fn spawn_writer(lines: Receiver<Vec<u8>>, queued: Arc<AtomicUsize>, over: Over) -> Receiver<()> {
    let (done, written) = sync_channel(1);
    thread::spawn(move || {
        for line in lines {
            if write(&line).is_err() {
                over.tell();
                break;
            }
            queued.fetch_sub(1, Ordering::AcqRel);
        }
        let _ = done.send(());
    });
    written
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::File;
    use std::os::unix::net::UnixStream;

    #[test]
    fn the_driver_writes_only_what_does_not_have_to_wait() {
        let (mut reader, writer) = io::pipe().unwrap();
        // It may have less room than that.
        assert!(!takes_at_once(&writer, PIPE_BUF + 1));
        fill(&writer);
        reader.read_exact(&mut [0; PIPE_BUF]).unwrap();
        assert!(takes_at_once(&writer, PIPE_BUF));
        drop(reader);
        assert!(takes_at_once(&writer, 1), "whoever writes finds out that nobody reads");
        // What node gives to those that it starts.
        let (_reader, writer) = UnixStream::pair().unwrap();
        fill(&writer);
        assert!(!tells_room(File::open("/dev/null").unwrap()));
    }

    /// Writes as long as it may, from another thread, since a write that waits would do so for ever.
    fn fill(writer: &(impl AsFd + Sync)) {
        assert!(tells_room(writer));
        let (tell, full) = sync_channel(0);
        let mut writing = File::from(writer.as_fd().try_clone_to_owned().unwrap());
        thread::spawn(move || {
            while takes_at_once(&writing, PIPE_BUF) {
                writing.write_all(&[b'x'; PIPE_BUF]).unwrap();
            }
            tell.send(()).unwrap();
        });
        full.recv_timeout(Duration::from_secs(20)).expect("no write has to wait");
    }

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
