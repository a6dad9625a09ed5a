//! One connection over HTTP/1.1 that stays open: a prepared request there, a whole answer back.
//!
//! Owns the socket and the bytes of the answer that is under way. Must not look into a message, and never has two
//! requests on the way: the next one is sent once the answer to the last one has come.

use crate::Outcome;
use crate::http::{Extent, extent};
use crate::wire::excerpt;
use std::io::{Read, Write};
use std::net::{Ipv4Addr, TcpStream};
use std::os::fd::{AsFd, BorrowedFd};

/// What one read takes at most.
const READ: usize = 64 * 1024;

/// A connection to a server on this machine. Blocking.
#[derive(Debug)]
pub struct HttpLink {
    stream: TcpStream,
    buffer: Vec<u8>,
    filled: usize,
}

impl HttpLink {
    /// Connects to this port.
    pub fn open(port: u16) -> Outcome<Self> {
        let stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port))?;
        stream.set_nodelay(true)?;
        Ok(Self { stream, buffer: vec![0; READ], filled: 0 })
    }

    /// Sends a whole request.
    pub fn send(&mut self, request: &[u8]) -> Outcome<()> {
        self.filled = 0;
        Ok(self.stream.write_all(request)?)
    }

    /// Waits until the whole answer has come.
    pub fn receive(&mut self) -> Outcome<Extent> {
        loop {
            if let Some(extent) = self.receive_some()? {
                return Ok(extent);
            }
        }
    }

    /// Reads once; tells whether the answer is whole now.
    pub fn receive_some(&mut self) -> Outcome<Option<Extent>> {
        if self.filled == self.buffer.len() {
            self.buffer.resize(self.filled + READ, 0);
        }
        match self.stream.read(&mut self.buffer[self.filled..])? {
            0 => return Err("the other side has closed the connection".into()),
            read => self.filled += read,
        }
        let found = extent(self.bytes()).map_err(|error| format!("{error}: {}", excerpt(self.bytes())))?;
        match &found {
            Some(extent) if extent.end != self.filled => Err("there is more than one answer".into()),
            _ => Ok(found),
        }
    }

    /// What has come of the answer.
    pub fn bytes(&self) -> &[u8] {
        &self.buffer[..self.filled]
    }
}

impl AsFd for HttpLink {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.stream.as_fd()
    }
}
