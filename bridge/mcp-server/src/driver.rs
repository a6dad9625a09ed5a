//! Serves one machine: its client's lines, and its connection to the bridge.
//!
//! ```text
//!  whoever reads the client ─► line ─┐                  ┌─► Lines ─► the client
//!                                    ├─► the machine ───┤
//!  bridge ─► thread ─► frame ────────┘        │ dial    └─► bridge
//!                                             └─► thread
//! ```
//!
//! Owns the machine, its connection and the threads of that, and ends with its owner. A thread that has heard
//! something serves the machine itself, one at a time: no other thread is woken up for it. The bridge goes on
//! reading while others wait, so a write to it does not wait for somebody who waits here. Must never know how
//! lines come from the client or get there.

use std::io::{self, Read, Write};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, Weak};
use std::thread;
use std::time::{Duration, Instant};

use harbor_child::socket::BlockingReader;
use harbor_client::errors::Failure;
use harbor_client::reply::QUICK;
use harbor_client::terminal::remark;
use harbor_home::Paths;
use harbor_home::dial::{self, DIAL_LIMIT, DialError, Role};
use harbor_home::instance::identity;
use harbor_ipc_proto::frame::{FrameDecoder, MAX_CLIENT_FRAME, Popped};

use super::machine::{Machine, Out};

/// The way of the machine's lines to the client.
pub trait Lines: Send + 'static {
    /// Passes a line on. Returns the line that the machine hears in return, as if from its client.
    fn pass(&mut self, line: Vec<u8>) -> Option<Vec<u8>>;
}

/// A machine that is served.
pub struct Driver<L>(Arc<Shared<L>>);

/// A weak reference to a driver, for threads that must not keep it alive.
pub struct Way<L>(Weak<Shared<L>>);

struct Shared<L> {
    served: Mutex<ServedMachine<L>>,
    /// The machine has heard something.
    heard: Condvar,
}

struct ServedMachine<L> {
    machine: Machine,
    paths: Paths,
    role: Role,
    lines: L,
    /// The way to the driver, for the threads.
    way: Way<L>,
    bridge: Option<UnixStream>,
    /// The number of the latest connection: what others say is too late.
    connection: u64,
}

/// The part of a frame that was not written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Unwritten {
    /// The whole frame, so the bridge knows nothing of it.
    Whole,
    /// The end of the frame.
    Rest,
}

impl<L: Lines> Driver<L> {
    /// Serves this machine of the client with this name, and with this id of its token if it came with one.
    pub fn new(
        machine: Machine,
        (client, token_id): (&str, Option<String>),
        paths: &Paths,
        lines: L,
    ) -> Self {
        let role = Role::Mcp { client: client.to_owned(), token_id };
        let paths = paths.clone();
        Self(Arc::new_cyclic(|own| {
            let way = Way(own.clone());
            let served = ServedMachine { machine, paths, role, lines, way, bridge: None, connection: 0 };
            Shared { served: Mutex::new(served), heard: Condvar::new() }
        }))
    }

    /// Has the bridge dialled at once: a new client gets its grants before it asks.
    pub fn dial_first(&self) {
        self.0.serve(|served| served.hear(Machine::dial));
    }

    /// The client has written a line.
    pub fn line(&self, line: &[u8]) {
        self.0.serve(|served| served.hear(|machine| machine.on_line(line)));
    }

    /// A way to it.
    pub fn way(&self) -> Way<L> {
        Way(Arc::downgrade(&self.0))
    }
}

impl<L: Lines> Way<L> {
    /// The machine hears this; whether it is still there.
    pub fn tell(&self, event: impl FnOnce(&mut Machine)) -> bool {
        self.with(|served| served.hear(event))
    }

    /// A frame has come on the connection with this number; whether there is anybody left to hear one.
    fn frame(&self, connection: u64, frame: &[u8]) -> bool {
        self.with(|served| {
            if connection == served.connection {
                served.hear(|machine| machine.on_frame(frame));
            }
        })
    }

    fn with(&self, then: impl FnOnce(&mut ServedMachine<L>)) -> bool {
        self.0.upgrade().map(|shared| shared.serve(then)).is_some()
    }

    /// Waits until all requests of the client are answered, for at most `limit` and as long as `waits` says so, which is asked
    /// each `step`; whether they are.
    pub fn settle(&self, limit: Duration, step: Duration, waits: impl Fn() -> bool) -> bool {
        let Some(shared) = self.0.upgrade() else { return false };
        let until = Instant::now() + limit;
        let mut served = lock(&shared.served);
        while !served.machine.is_settled() && Instant::now() < until && waits() {
            let waited = shared.heard.wait_timeout(served, step);
            served = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        served.machine.is_settled()
    }
}

impl<L> Shared<L> {
    fn serve(&self, then: impl FnOnce(&mut ServedMachine<L>)) {
        then(&mut lock(&self.served));
        self.heard.notify_all();
    }
}

impl<L> Clone for Way<L> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<L: Lines> ServedMachine<L> {
    fn hear(&mut self, event: impl FnOnce(&mut Machine)) {
        event(&mut self.machine);
        self.perform();
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
                    Out::Line(line) => {
                        if let Some(line) = self.lines.pass(line) {
                            self.machine.on_line(&line);
                        }
                    }
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
        let (paths, role, way) = (self.paths.clone(), self.role.clone(), self.way.clone());
        thread::spawn(move || {
            let dialled = dial::connect(&paths, &role, DIAL_LIMIT);
            way.with(|served| served.dialled(dialled));
        });
    }

    fn dialled(&mut self, dialled: Result<UnixStream, DialError>) {
        match dialled {
            Ok(stream) => self.connected(stream),
            Err(error) => self.machine.on_no_bridge(&error.into()),
        }
        self.perform();
    }

    fn connected(&mut self, stream: UnixStream) {
        self.connection += 1;
        let reading = stream.set_write_timeout(Some(QUICK)).and_then(|()| stream.try_clone());
        match reading {
            Ok(reading) => {
                let (way, connection) = (self.way.clone(), self.connection);
                thread::spawn(move || {
                    read_bridge(BlockingReader(reading), |frame| way.frame(connection, frame));
                    way.with(|served| served.lost(connection));
                });
                self.bridge = Some(stream);
                // From now on there is a home.
                self.machine.on_connected(identity(&self.paths));
            }
            Err(error) => self.machine.on_no_bridge(&Failure::Io("use the bridge's connection", error)),
        }
    }

    /// The connection with this number has ended.
    fn lost(&mut self, connection: u64) {
        if connection == self.connection && self.bridge.is_some() {
            self.lose(&[]);
            self.perform();
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

impl<L> ServedMachine<L> {
    /// The thread that reads the connection ends with it.
    fn hang_up(&mut self) {
        if let Some(bridge) = self.bridge.take() {
            let _ = bridge.shutdown(Shutdown::Both);
        }
    }
}

impl<L> Drop for ServedMachine<L> {
    fn drop(&mut self) {
        self.hang_up();
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Reads frames until the stream ends, or until `heard` wants no more.
fn read_bridge(mut stream: BlockingReader, mut heard: impl FnMut(&[u8]) -> bool) {
    let mut frames = FrameDecoder::new(MAX_CLIENT_FRAME);
    loop {
        match frames.pop() {
            Some(Popped::Frame(frame)) if !heard(frame) => return,
            // The bridge keeps to our `max_frame`.
            Some(Popped::Frame(_) | Popped::Oversize(_)) => {}
            None => match stream.read(frames.space()) {
                Ok(n @ 1..) => frames.filled(n),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Ok(0) | Err(_) => return,
            },
        }
    }
}
