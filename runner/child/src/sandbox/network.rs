//! The network of a server that has a namespace of its own.
//!
//! Owns what is set up inside: nothing, a loopback interface, or this and the socket of an egress proxy. The socket is
//! handed to a process outside. Must never give such a namespace a way out by itself.

use std::io;
use std::net::{Ipv4Addr, TcpListener, UdpSocket};
use std::os::fd::AsRawFd as _;

use nix::errno::Errno;

/// The network that connections reach.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Network {
    /// Wherever the machine's do.
    #[default]
    Machine,
    /// The machine's network, but no TCP port may be bound.
    Outgoing,
    /// A namespace with nothing in it.
    None,
    /// A namespace with a loopback interface.
    Loopback,
    /// A namespace with a loopback interface, and a proxy that listens on this port.
    Proxied {
        /// The port at 127.0.0.1.
        port: u16,
    },
}

impl Network {
    /// True if it takes a network namespace.
    #[must_use]
    pub fn is_own(self) -> bool {
        !matches!(self, Self::Machine | Self::Outgoing)
    }
}

/// Sets up the namespace that this process has just entered. Returns the proxy's socket.
///
/// # Errors
/// Refusals of the kernel.
pub fn set_up(network: Network) -> io::Result<Option<TcpListener>> {
    match network {
        Network::Machine | Network::Outgoing | Network::None => Ok(None),
        Network::Loopback => raise_loopback().map(|()| None),
        Network::Proxied { port } => {
            raise_loopback()?;
            TcpListener::bind((Ipv4Addr::LOCALHOST, port)).map(Some)
        }
    }
}

fn raise_loopback() -> io::Result<()> {
    // Any socket will do; this one is bound nowhere that matters.
    let socket = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0))?;
    // SAFETY: a structure of numbers, of which zero means "nothing" for each.
    #[allow(unsafe_code)]
    let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
    for (to, from) in request.ifr_name.iter_mut().zip(b"lo") {
        *to = libc::c_char::from_ne_bytes([*from]);
    }
    // The value is far below the largest one.
    request.ifr_ifru.ifru_flags = (libc::IFF_UP | libc::IFF_RUNNING) as libc::c_short;
    // SAFETY: the kernel reads the structure, which lives until the call returns.
    #[allow(unsafe_code)]
    let result = unsafe { libc::ioctl(socket.as_raw_fd(), libc::SIOCSIFFLAGS as _, &raw const request) };
    Ok(Errno::result(result).map(drop)?)
}
