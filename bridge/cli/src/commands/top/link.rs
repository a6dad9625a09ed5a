//! The connection to the bridge: one thread that reads it, one that looks for it when it has gone.
//!
//! Owns the stream. Must never start a bridge again: who ended it wanted that.

use std::io::{self, Read, Write};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::sync::mpsc::SyncSender;
use std::thread;
use std::time::Duration;

use harbor_home::Paths;
use harbor_home::dial::{self, DIAL_LIMIT, DialError, Role};
use harbor_ipc_proto::frame::{FrameDecoder, MAX_CLIENT_FRAME, Popped};

use super::event::Event;

/// The time that a request may take to leave. Requests are small: a bridge that has no room for one does not
/// read any more.
const SENDING: Duration = Duration::from_secs(1);

/// The connection; what others say is of an older one.
#[derive(Debug)]
pub struct Connection {
    stream: UnixStream,
    number: u64,
}

impl Connection {
    /// Begins to read a stream that is attached.
    pub fn begin(stream: UnixStream, number: u64, events: &SyncSender<Event>) -> io::Result<Self> {
        stream.set_write_timeout(Some(SENDING))?;
        let (reading, events) = (stream.try_clone()?, events.clone());
        thread::spawn(move || {
            read(reading, number, &events);
            let _ = events.send(Event::Lost(number));
        });
        Ok(Self { stream, number })
    }

    pub fn is(&self, number: u64) -> bool {
        self.number == number
    }

    pub fn send(&mut self, frame: &[u8]) -> io::Result<()> {
        self.stream.write_all(frame)
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        let _ = self.stream.shutdown(Shutdown::Both);
    }
}

/// Finds the bridge, or starts it.
pub fn find(paths: &Paths) -> Result<UnixStream, DialError> {
    dial::connect(paths, &Role::Cli, DIAL_LIMIT)
}

/// Looks for a bridge once more after a pause.
pub fn look_again(paths: &Paths, pause: Duration, events: &SyncSender<Event>) {
    let (paths, events) = (paths.clone(), events.clone());
    thread::spawn(move || {
        thread::sleep(pause);
        let _ = events.send(Event::Looked(dial::connect_running(&paths, &Role::Cli, DIAL_LIMIT)));
    });
}

fn read(mut stream: UnixStream, number: u64, events: &SyncSender<Event>) {
    let mut frames = FrameDecoder::new(MAX_CLIENT_FRAME);
    loop {
        match frames.pop() {
            Some(Popped::Frame(frame)) => {
                if events.send(Event::Frame(number, frame.to_vec())).is_err() {
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
