//! The events that the threads of `harbor top` receive.
//!
//! Must never say what follows from one.

use std::io;
use std::os::unix::net::UnixStream;

use harbor_home::dial::DialError;
use nix::sys::signal::Signal;

use super::key::Key;

/// The events that the threads receive.
#[derive(Debug)]
pub enum Event {
    Key(Key),
    /// Ctrl-Z.
    Suspend,
    Resized(u16, u16),
    /// No more keys will come.
    Unplugged(io::Error),
    Signal(Signal),
    /// A frame of the connection with this number.
    Frame(u64, Vec<u8>),
    Lost(u64),
    Looked(Result<Option<UnixStream>, DialError>),
}
