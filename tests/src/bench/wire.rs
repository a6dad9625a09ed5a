//! One connection and its two framings: a line of JSON, or a u32 length and JSON.
//!
//! ```text
//!  one at a time   send(request) ─► receive() ─► the answer's bytes
//!  many in flight  send(batch)   ─► receive_some(length of one answer) ─► how many answers that were
//! ```
//!
//! Owns the read buffer. Must not look into a message: on the measured path the driver spends next to nothing.

use crate::Outcome;
use harbor_child::socket::BlockingReader;
use harbor_ipc_proto::frame::LEAD;
use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;

/// Larger than what a pipe or a socket holds, so that one read takes all that is there.
const BUFFER: usize = 512 * 1024;

/// Bytes of the length before a frame.
const LENGTH: usize = 4;

/// How messages are told apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Framing {
    /// MCP on stdio: each message is a line.
    Line,
    /// Native messaging: each message has its length before it.
    Length,
}

impl Framing {
    /// A message as it goes over the wire.
    pub fn wrap(self, json: &str) -> Vec<u8> {
        match self {
            Self::Line => [json.as_bytes(), b"\n"].concat(),
            Self::Length => {
                let mut frame = Vec::new();
                harbor_ipc_proto::frame::put_frame(&mut frame, |out| out.extend_from_slice(json.as_bytes()));
                frame
            }
        }
    }

    /// Where the JSON begins in a wrapped message.
    pub fn json_at(self) -> usize {
        match self {
            Self::Line => 0,
            Self::Length => LENGTH,
        }
    }
}

/// Where the answers come from.
#[derive(Debug)]
enum End {
    Pipe(File),
    Socket(BlockingReader),
}

/// A connection. Blocking.
#[derive(Debug)]
pub struct Link {
    to: File,
    from: End,
    framing: Framing,
    /// What has come stands behind [`LEAD`].
    buffer: Vec<u8>,
    filled: usize,
}

impl Link {
    /// A connection over two pipes.
    pub fn of_pipes(to: OwnedFd, from: OwnedFd, framing: Framing) -> Self {
        Self::over(File::from(to), End::Pipe(File::from(from)), framing)
    }

    /// A connection over a socket, read as Harbor's own clients read it.
    pub fn of_socket(socket: UnixStream, framing: Framing) -> Outcome<Self> {
        let to = File::from(OwnedFd::from(socket.try_clone()?));
        Ok(Self::over(to, End::Socket(BlockingReader(socket)), framing))
    }

    fn over(to: File, from: End, framing: Framing) -> Self {
        Self { to, from, framing, buffer: vec![0; BUFFER], filled: 0 }
    }

    /// How its messages are told apart.
    pub fn framing(&self) -> Framing {
        self.framing
    }

    /// Sends wrapped messages.
    pub fn send(&mut self, wrapped: &[u8]) -> Outcome<()> {
        Ok(self.to.write_all(wrapped)?)
    }

    /// The next message as it came, wrapping included, while nothing else is on the way.
    pub fn receive(&mut self) -> Outcome<&[u8]> {
        self.filled = 0;
        self.rest()
    }

    /// The next frame as it came, its length included, while others may follow at once.
    pub fn next(&mut self) -> Outcome<Vec<u8>> {
        self.complete()?;
        let end = self.announced();
        let frame = self.come()[..end].to_vec();
        self.forget(end);
        Ok(frame)
    }

    /// What has come and was not forgotten.
    fn come(&self) -> &[u8] {
        &self.buffer[LEAD..LEAD + self.filled]
    }

    /// Forgets the first bytes of it.
    fn forget(&mut self, bytes: usize) {
        self.buffer.copy_within(LEAD + bytes..LEAD + self.filled, LEAD);
        self.filled -= bytes;
    }

    /// Waits until the next message begins to come; [`rest`](Self::rest) is to follow.
    pub fn beginning(&mut self) -> Outcome<()> {
        self.filled = 0;
        self.read_once()
    }

    /// The message of which the beginning has come.
    pub fn rest(&mut self) -> Outcome<&[u8]> {
        self.complete()?;
        if self.framing == Framing::Length && self.filled != self.announced() {
            return Err(format!("more than one message came: {}", excerpt(self.come())).into());
        }
        Ok(self.come())
    }

    /// Reads once and counts the answers that are whole now, when each is `length` bytes long.
    pub fn receive_some(&mut self, length: usize) -> Outcome<usize> {
        self.read_once()?;
        let mut count = 0;
        for answer in self.come().chunks_exact(length) {
            let whole = match self.framing {
                Framing::Line => answer.ends_with(b"\n"),
                Framing::Length => frame_length(answer) == length,
            };
            if !whole {
                return Err(format!("an answer of another length came: {}", excerpt(answer)).into());
            }
            count += 1;
        }
        self.forget(count * length);
        Ok(count)
    }

    /// Forgets the message that [`receive`](Self::receive) left, before answers are counted.
    pub fn clear(&mut self) {
        self.filled = 0;
    }

    /// Reads until the message that has begun is whole.
    fn complete(&mut self) -> Outcome<()> {
        while !self.is_whole() {
            self.grow();
            self.read_once()?;
        }
        Ok(())
    }

    fn read_once(&mut self) -> Outcome<()> {
        let room = &mut self.buffer[LEAD + self.filled..];
        let read = match &mut self.from {
            End::Pipe(pipe) => pipe.read(room),
            End::Socket(socket) => socket.read(room),
        };
        match read? {
            0 => Err("the other side has closed the connection".into()),
            n => {
                self.filled += n;
                Ok(())
            }
        }
    }

    /// JSON on one line has no newline inside, so the last byte tells; no need to search.
    fn is_whole(&self) -> bool {
        match self.framing {
            Framing::Line => self.come().ends_with(b"\n"),
            Framing::Length => self.filled >= LENGTH && self.filled >= self.announced(),
        }
    }

    /// Bytes of the frame that the buffer begins with, its length included.
    fn announced(&self) -> usize {
        frame_length(self.come())
    }

    /// Room for the frame that has begun, or for more of a long line.
    fn grow(&mut self) {
        let wanted = match self.framing {
            Framing::Length if self.filled >= LENGTH => self.announced(),
            _ => 0,
        };
        let wanted = LEAD + wanted.max(self.filled + BUFFER / 2);
        if self.buffer.len() < wanted {
            self.buffer.resize(wanted, 0);
        }
    }
}

fn frame_length(bytes: &[u8]) -> usize {
    let length = bytes.first_chunk::<LENGTH>().map_or(0, |prefix| u32::from_le_bytes(*prefix));
    LENGTH + usize::try_from(length).unwrap_or(usize::MAX - LENGTH)
}

/// The beginning of a message, for errors.
pub fn excerpt(bytes: &[u8]) -> String {
    String::from_utf8_lossy(&bytes[..bytes.len().min(300)]).into_owned()
}
