//! `harbor mcp`: an MCP server on stdin and stdout, for AI clients.
//!
//! ```text
//!  stdin ─► thread ─┐                  ┌─► thread ─► stdout
//!                   ├─► the machine ───┤
//!  bridge ─► thread ┘        │ dial    └─► bridge
//!                            └─► thread
//! ```
//!
//! Owns the threads and the two streams. Must never write anything to stdout but the protocol, or decide what a message
//! means: that is the machine's.

mod directory;
mod lazy;
mod line;
mod machine;
mod names;
mod questions;
mod uris;
mod want;
mod watches;
mod write;

use std::io::{self, BufRead, Read, Write};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;
use std::time::Duration;

use harbor_bridge::config::Paths;
use harbor_bridge::front::dial::{self, DIAL_LIMIT, DialError, Role};
use harbor_ipc_proto::frame::{FrameDecoder, MAX_CLIENT_FRAME, Popped};
use harbor_policy::limits::MAX_LINE;
use harbor_policy::tool_name::Allowlist;

use self::machine::{Machine, Out};
use crate::args::Mcp;
use crate::client::QUICK;
use crate::errors::Failure;
use crate::screen::remark;

/// How many lines or frames may wait for whoever is slower.
const QUEUE: usize = 64;

/// How long the last lines may take to be read.
const LAST_WORDS: Duration = Duration::from_millis(500);

/// What the threads hear.
enum Event {
    Line(Vec<u8>),
    Overlong,
    /// The client has closed our stdin, or does not read our stdout.
    End,
    Dialled(Result<UnixStream, DialError>),
    /// A frame of the connection with this number.
    Frame(u64, Vec<u8>),
    Lost(u64),
}

/// Serves until stdin ends.
pub fn serve(wanted: &Mcp, paths: &Paths) -> Result<(), Failure> {
    let only = (!wanted.only.is_empty()).then(|| Allowlist::parse(&wanted.only)).transpose();
    let only = only.map_err(|wrong| Failure::Usage(wrong.to_string()))?;
    let (events, heard) = sync_channel(QUEUE);
    let (lines, to_write) = sync_channel(QUEUE);
    let written = spawn_writer(to_write, events.clone());
    spawn_reader(events.clone());
    let role = Role::Mcp { client: wanted.client.clone() };
    let mut driver = Driver {
        machine: Machine::new(only, wanted.lazy),
        paths: paths.clone(),
        role,
        events,
        lines,
        bridge: None,
        connection: 0,
        unread: false,
    };
    driver.machine.dial();
    driver.run(&heard);
    drop(driver);
    // A client that does not read does not keep us.
    let _ = written.recv_timeout(LAST_WORDS);
    Ok(())
}

struct Driver {
    machine: Machine,
    paths: Paths,
    role: Role,
    events: SyncSender<Event>,
    lines: SyncSender<Vec<u8>>,
    bridge: Option<UnixStream>,
    /// The number of the latest connection: what others say is too late.
    connection: u64,
    /// Whether the client has closed our stdout.
    unread: bool,
}

/// What of a frame was not written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Unwritten {
    /// All of it: the bridge knows nothing of it.
    Whole,
    /// Its end.
    Rest,
}

impl Driver {
    fn run(&mut self, heard: &Receiver<Event>) {
        self.perform();
        while !self.unread
            && let Ok(event) = heard.recv()
        {
            match event {
                Event::End => return,
                Event::Line(line) => self.machine.on_line(&line),
                Event::Overlong => self.machine.on_overlong_line(),
                Event::Dialled(Ok(stream)) => self.connected(stream),
                Event::Dialled(Err(error)) => self.machine.on_no_bridge(&error.into()),
                Event::Frame(connection, frame) if connection == self.connection => {
                    self.machine.on_frame(&frame);
                }
                Event::Lost(connection) if connection == self.connection && self.bridge.is_some() => {
                    self.lose(&[]);
                }
                Event::Frame(..) | Event::Lost(_) => {}
            }
            self.perform();
        }
    }

    /// Does what the machine wants, and what it wants because of that.
    fn perform(&mut self) {
        loop {
            let out = self.machine.take_out();
            if out.is_empty() {
                return;
            }
            let (mut broken, mut unsent) = (false, Vec::new());
            for out in out {
                match out {
                    Out::Line(line) => self.unread |= self.lines.send(line).is_err(),
                    Out::Remark(text) => remark(&format!("harbor mcp: {text}")),
                    Out::Dial => self.dial(),
                    // The machine has heard of a bridge that is lost.
                    Out::Frame(..) if self.bridge.is_none() => {}
                    Out::Frame(_, number) if broken => unsent.extend(number),
                    Out::Frame(frame, number) => {
                        let written = self.write(&frame);
                        broken = written.is_err();
                        unsent.extend(number.filter(|_| written == Err(Unwritten::Whole)));
                    }
                }
            }
            if broken {
                self.lose(&unsent);
            }
        }
    }

    fn dial(&self) {
        let (paths, role, events) = (self.paths.clone(), self.role.clone(), self.events.clone());
        thread::spawn(move || {
            let _ = events.send(Event::Dialled(dial::connect(&paths, &role, DIAL_LIMIT)));
        });
    }

    fn connected(&mut self, stream: UnixStream) {
        self.connection += 1;
        let reading = stream.set_write_timeout(Some(QUICK)).and_then(|()| stream.try_clone());
        match reading {
            Ok(reading) => {
                let (events, connection) = (self.events.clone(), self.connection);
                thread::spawn(move || {
                    read_bridge(reading, connection, &events);
                    let _ = events.send(Event::Lost(connection));
                });
                self.bridge = Some(stream);
                self.machine.on_connected();
            }
            Err(error) => self.machine.on_no_bridge(&Failure::Io("use the bridge's connection", error)),
        }
    }

    fn write(&mut self, frame: &[u8]) -> Result<(), Unwritten> {
        let Some(bridge) = &mut self.bridge else { return Ok(()) };
        let first = loop {
            match bridge.write(frame) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                first => break first,
            }
        };
        let begun = first.map_err(|_| Unwritten::Whole)?;
        bridge.write_all(&frame[begun..]).map_err(|_| Unwritten::Rest)
    }

    /// Requests with the numbers `unsent` have not reached it.
    fn lose(&mut self, unsent: &[u64]) {
        if let Some(bridge) = self.bridge.take() {
            let _ = bridge.shutdown(Shutdown::Both);
        }
        self.machine.on_lost(unsent);
    }
}

fn read_bridge(mut stream: UnixStream, connection: u64, events: &SyncSender<Event>) {
    let mut frames = FrameDecoder::new(MAX_CLIENT_FRAME);
    loop {
        match frames.pop() {
            Some(Popped::Frame(frame)) => {
                if events.send(Event::Frame(connection, frame.to_vec())).is_err() {
                    return;
                }
            }
            // The bridge keeps to our `max_frame`.
            Some(Popped::Oversize(_)) => {}
            None => match stream.read(frames.space()) {
                Ok(n @ 1..) => frames.filled(n),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Ok(0) | Err(_) => return,
            },
        }
    }
}

fn spawn_reader(events: SyncSender<Event>) {
    thread::spawn(move || {
        let mut stdin = io::stdin().lock();
        while let Some(event) = next_line(&mut stdin) {
            if events.send(event).is_err() {
                return;
            }
        }
        let _ = events.send(Event::End);
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
fn spawn_writer(lines: Receiver<Vec<u8>>, events: SyncSender<Event>) -> Receiver<()> {
    let (done, written) = sync_channel(1);
    thread::spawn(move || {
        let mut stdout = io::stdout().lock();
        for line in lines {
            if stdout.write_all(&line).and_then(|()| stdout.flush()).is_err() {
                // Where there is no room for it, the next line finds out.
                let _ = events.try_send(Event::End);
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
