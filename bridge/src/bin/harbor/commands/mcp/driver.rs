//! Serves one machine: its client's lines, and its connection to the bridge.
//!
//! ```text
//!  lines of the client ─► queue ─┐                  ┌─► Lines ─► the client
//!                                ├─► the machine ───┤
//!  bridge ─► thread ─────────────┘        │ dial    └─► bridge
//!                                         └─► thread
//! ```
//!
//! Owns the connection and its threads; it ends when nobody is left who could put a line into its queue. Must never know
//! how lines come from the client or get there.

use std::io::{self, Read, Write};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::thread;

use harbor_bridge::config::Paths;
use harbor_bridge::front::dial::{self, DIAL_LIMIT, DialError, Role};
use harbor_child::socket::BlockingReader;
use harbor_ipc_proto::frame::{FrameDecoder, MAX_CLIENT_FRAME, Popped};
use tokio::sync::mpsc::{Receiver, Sender, WeakSender, channel};

use super::http::Taken;
use super::machine::{Machine, Out};
use crate::client::QUICK;
use crate::errors::Failure;
use crate::screen::remark;

/// How many lines or frames may wait for whoever is slower.
pub const QUEUE: usize = 64;

/// What a driver hears.
#[derive(Debug)]
pub enum Event {
    Line(Vec<u8>),
    /// One that takes room until the machine has read it.
    Weighed(Vec<u8>, Taken),
    Overlong,
    /// The client has closed our stdin, or does not read our stdout.
    End,
    Dialled(Result<UnixStream, DialError>),
    /// A frame of the connection with this number.
    Frame(u64, Vec<u8>),
    Lost(u64),
}

/// Where the machine's lines go.
pub trait Lines {
    /// Passes a line on.
    fn pass(&mut self, line: Vec<u8>) -> Passed;
}

/// What became of a line.
#[derive(Debug, PartialEq, Eq)]
pub enum Passed {
    Done,
    /// Nobody reads lines any more.
    Unread,
    /// The machine hears this line in return, as if from its client.
    Replied(Vec<u8>),
}

/// Serves a machine.
pub struct Driver<L> {
    machine: Machine,
    paths: Paths,
    role: Role,
    /// For the threads; weak, because it is the client who keeps us alive.
    events: WeakSender<Event>,
    heard: Receiver<Event>,
    lines: L,
    bridge: Option<UnixStream>,
    /// The number of the latest connection: what others say is too late.
    connection: u64,
    /// Whether nobody reads what we write.
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

impl<L: Lines> Driver<L> {
    /// One for this machine, and the way to its queue.
    pub fn new(machine: Machine, client: &str, paths: &Paths, lines: L) -> (Sender<Event>, Self) {
        let (events, heard) = channel(QUEUE);
        let driver = Self {
            machine,
            paths: paths.clone(),
            role: Role::Mcp { client: client.to_owned() },
            events: events.downgrade(),
            heard,
            lines,
            bridge: None,
            connection: 0,
            unread: false,
        };
        (events, driver)
    }

    /// Has the bridge dialled at once: a new client gets its grants before it asks.
    pub fn dial_first(&mut self) {
        self.machine.dial();
    }

    /// Serves until the client is gone.
    pub fn run(mut self) {
        self.perform();
        while !self.unread
            && let Some(event) = self.heard.blocking_recv()
        {
            match event {
                Event::End => return,
                Event::Line(line) => self.machine.on_line(&line),
                Event::Weighed(line, _room) => self.machine.on_line(&line),
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
                    Out::Line(line) => self.pass(line),
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

    fn pass(&mut self, line: Vec<u8>) {
        match self.lines.pass(line) {
            Passed::Done => {}
            Passed::Unread => self.unread = true,
            Passed::Replied(line) => self.machine.on_line(&line),
        }
    }

    fn dial(&self) {
        let (paths, role, events) = (self.paths.clone(), self.role.clone(), self.events.clone());
        thread::spawn(move || {
            let dialled = dial::connect(&paths, &role, DIAL_LIMIT);
            let _ = tell(&events, Event::Dialled(dialled));
        });
    }

    fn connected(&mut self, stream: UnixStream) {
        self.connection += 1;
        let reading = stream.set_write_timeout(Some(QUICK)).and_then(|()| stream.try_clone());
        match reading {
            Ok(reading) => {
                let (events, connection) = (self.events.clone(), self.connection);
                thread::spawn(move || {
                    read_bridge(BlockingReader(reading), connection, &events);
                    let _ = tell(&events, Event::Lost(connection));
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
        self.hang_up();
        self.machine.on_lost(unsent);
    }
}

impl<L> Driver<L> {
    /// The thread that reads the connection ends with it.
    fn hang_up(&mut self) {
        if let Some(bridge) = self.bridge.take() {
            let _ = bridge.shutdown(Shutdown::Both);
        }
    }
}

impl<L> Drop for Driver<L> {
    fn drop(&mut self) {
        self.hang_up();
    }
}

/// Whether the driver was there to hear it.
fn tell(events: &WeakSender<Event>, event: Event) -> bool {
    events.upgrade().is_some_and(|events| events.blocking_send(event).is_ok())
}

fn read_bridge(mut stream: BlockingReader, connection: u64, events: &WeakSender<Event>) {
    let mut frames = FrameDecoder::new(MAX_CLIENT_FRAME);
    loop {
        match frames.pop() {
            Some(Popped::Frame(frame)) => {
                if !tell(events, Event::Frame(connection, frame.to_vec())) {
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
