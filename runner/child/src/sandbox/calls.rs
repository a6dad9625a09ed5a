//! Calls of a server that wait for its runner's answer (seccomp_unotify(2)).
//!
//! ```text
//!  server: bind, listen ─► the kernel lets its thread wait ─► Calls::next ─► Call ─┬─► answer: what the server gets
//!                                                                                  └─► go_on: the kernel does it
//! ```
//!
//! Owns hearing of a call, reading what it names, and the answer. Each call gets one: EPERM where it is let go without one.
//! Must never decide. A server can change its memory at any time, so a decision holds only for the copy of it, and for a
//! socket that was looked at itself.

use std::ffi::{CStr, CString};
use std::fs;
use std::io::{self, IoSliceMut};
use std::os::fd::{AsFd as _, AsRawFd as _, FromRawFd as _, OwnedFd, RawFd};

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::uio::{RemoteIoVec, process_vm_readv};
use nix::unistd::Pid;
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

use crate::dying;

/// The longest address that the kernel takes: `struct sockaddr_storage`.
const LONGEST_ADDRESS: usize = 128;

/// The length of the shortest address that holds a port: `struct sockaddr_in`.
const SHORTEST_WITH_PORT: u32 = 16;

/// The name of a socket's protocol, as ss(8) asks for it.
const PROTOCOL: &CStr = c"system.sockprotoname";

/// Receives the calls of one server that a runner answers.
#[derive(Debug)]
pub struct Calls(AsyncFd<OwnedFd>);

/// A call's request about a socket.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wish {
    /// An address, which stands in the server's memory.
    Bind,
    /// The call `listen`, with this many connections that may wait.
    Listen(i32),
}

/// The kind of socket that a call names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SocketKind {
    /// TCP, by IPv4 or IPv6.
    Tcp,
    /// UDP, by either.
    Udp,
    /// A Unix socket.
    Unix,
    /// Another one, or no socket.
    Other,
}

/// A call that waits. It is refused if it is dropped.
#[derive(Debug)]
pub struct Call<'a> {
    calls: &'a Calls,
    told: libc::seccomp_notif,
    /// The request of the call.
    pub wish: Wish,
    is_answered: bool,
}

impl Calls {
    /// Hears of calls by the descriptor that a launcher has handed over.
    ///
    /// # Errors
    /// When it cannot be waited for.
    pub fn new(heard: OwnedFd) -> io::Result<Self> {
        // SAFETY: the AsyncFd owns the descriptor, which is the same for its whole life and closed after it was taken
        // out of the runtime; nothing here gives it away.
        #[allow(unsafe_code)]
        let heard = unsafe { AsyncFd::register_with_interest(heard, Interest::READABLE) };
        Ok(Self(heard?))
    }

    /// The next call. None once the server has no process left.
    pub async fn next(&self) -> Option<Call<'_>> {
        loop {
            let mut ready = self.0.readable().await.ok()?;
            let state = self.state().ok()?;
            if state.is_empty() {
                ready.clear_ready();
            } else if !state.contains(PollFlags::POLLIN) {
                return None;
            } else if let Some(call) = self.receive().ok()? {
                return Some(call);
            }
        }
    }

    /// Finds out if a call waits. Receiving one blocks until there is one, and everything else would have to wait.
    fn state(&self) -> nix::Result<PollFlags> {
        let mut all = [PollFd::new(self.0.get_ref().as_fd(), PollFlags::POLLIN)];
        poll(&mut all, PollTimeout::ZERO)?;
        Ok(all[0].revents().unwrap_or(PollFlags::POLLERR))
    }

    /// None where its thread has ended in between.
    fn receive(&self) -> nix::Result<Option<Call<'_>>> {
        // SAFETY: a structure of numbers, which the kernel wants to be zero.
        #[allow(unsafe_code)]
        let mut told: libc::seccomp_notif = unsafe { std::mem::zeroed() };
        match self.control(libc::SECCOMP_IOCTL_NOTIF_RECV, &raw mut told) {
            Err(Errno::ENOENT | Errno::EINTR) => return Ok(None),
            received => received?,
        }
        let number = libc::c_long::from(told.data.nr);
        let [_, second, ..] = told.data.args;
        // An `int` is the lower half.
        let wish = if number == libc::SYS_listen { Wish::Listen(second as i32) } else { Wish::Bind };
        Ok(Some(Call { calls: self, told, wish, is_answered: false }))
    }

    fn control<T>(&self, request: libc::Ioctl, argument: *mut T) -> nix::Result<()> {
        // SAFETY: each request names the structure that it reads and writes, and is given it by the two callers.
        #[allow(unsafe_code)]
        let result = unsafe { libc::ioctl(self.0.get_ref().as_raw_fd(), request, argument) };
        Errno::result(result).map(drop)
    }
}

impl Call<'_> {
    /// The kind of the socket that it names. Nothing is opened for that.
    #[must_use]
    pub fn kind(&self) -> SocketKind {
        let [number, ..] = self.told.data.args;
        let path = CString::new(format!("/proc/{}/fd/{}", self.told.pid, number as RawFd));
        let mut name = [0; 32];
        let got = path.map_or(-1, |path| {
            // SAFETY: the kernel reads two strings and writes no more than the room that it is told of; all live until then.
            #[allow(unsafe_code)]
            unsafe {
                libc::getxattr(path.as_ptr(), PROTOCOL.as_ptr(), name.as_mut_ptr().cast(), name.len())
            }
        });
        let name = usize::try_from(got).ok().and_then(|len| name.get(..len)).unwrap_or_default();
        match name.trim_ascii_end().strip_suffix(b"\0").unwrap_or(name) {
            b"TCP" | b"TCPv6" => SocketKind::Tcp,
            b"UDP" | b"UDPv6" => SocketKind::Udp,
            b"UNIX" | b"UNIX-STREAM" => SocketKind::Unix,
            _ => SocketKind::Other,
        }
    }

    /// The socket that the call names, as a descriptor of this process. The server may close its own one
    /// meanwhile. Then closing this one takes as long as the server has set (SO_LINGER).
    ///
    /// # Errors
    /// When there is no such socket, or it cannot be had.
    pub fn socket(&self) -> io::Result<OwnedFd> {
        // Of its thread, where the kernel has that (Linux 6.9): its process may be without the first one.
        let process = dying::open(self.told.pid, dying::PIDFD_THREAD)
            .or_else(|_| dying::open(self.process()?, 0).map_err(io::Error::from))?;
        // Before the number means another process: one that has ended has no call any more.
        self.still_waits()?;
        let [number, ..] = self.told.data.args;
        // SAFETY: three numbers, and no memory of this process.
        #[allow(unsafe_code)]
        let got = unsafe { libc::syscall(libc::SYS_pidfd_getfd, process.as_raw_fd(), number as RawFd, 0) };
        owned(got)
    }

    /// True if the address that it names is long enough to have a port, whatever socket it is for.
    #[must_use]
    pub fn has_room_for_port(&self) -> bool {
        let [_, _, len, ..] = self.told.data.args;
        len as u32 >= SHORTEST_WITH_PORT
    }

    /// A copy of the address that it names.
    ///
    /// # Errors
    /// When it is not in the server's memory.
    pub fn address(&self) -> io::Result<Vec<u8>> {
        let [_, base, len, ..] = self.told.data.args;
        let len = usize::try_from(len as u32).unwrap_or(usize::MAX).min(LONGEST_ADDRESS);
        let base = usize::try_from(base).map_err(io::Error::other)?;
        let mut bytes = vec![0; len];
        let thread = Pid::from_raw(self.told.pid.cast_signed());
        let read =
            process_vm_readv(thread, &mut [IoSliceMut::new(&mut bytes)], &[RemoteIoVec { base, len }])?;
        self.still_waits()?;
        bytes.truncate(read);
        Ok(bytes)
    }

    /// Ends the call, with success or with an error. An error without a number becomes EINVAL for invalid input, else EACCES.
    pub fn answer(mut self, answer: io::Result<()>) {
        let number = |error: io::Error| match error.kind() {
            io::ErrorKind::InvalidInput => error.raw_os_error().unwrap_or(Errno::EINVAL as i32),
            _ => error.raw_os_error().unwrap_or(Errno::EACCES as i32),
        };
        self.send(answer.err().map_or(0, |error| -number(error)), 0);
    }

    /// Has the kernel do what was called, as it finds it then: nothing must rest on what was looked at.
    pub fn go_on(mut self) {
        self.send(0, libc::SECCOMP_USER_NOTIF_FLAG_CONTINUE as u32);
    }

    fn send(&mut self, error: i32, flags: u32) {
        self.is_answered = true;
        let mut answer = libc::seccomp_notif_resp { id: self.told.id, val: 0, error, flags };
        // Who has ended meanwhile needs none.
        let _ = self.calls.control(libc::SECCOMP_IOCTL_NOTIF_SEND, &raw mut answer);
    }

    fn still_waits(&self) -> nix::Result<()> {
        let mut id = self.told.id;
        self.calls.control(libc::SECCOMP_IOCTL_NOTIF_ID_VALID, &raw mut id)
    }

    /// The number of its process; that of its thread is told.
    fn process(&self) -> io::Result<u32> {
        let status = fs::read_to_string(format!("/proc/{}/status", self.told.pid))?;
        let number = status.lines().find_map(|line| line.strip_prefix("Tgid:")?.trim().parse().ok());
        number.ok_or_else(|| Errno::ESRCH.into())
    }
}

impl Drop for Call<'_> {
    fn drop(&mut self) {
        if !self.is_answered {
            self.send(-(Errno::EPERM as i32), 0);
        }
    }
}

/// True if a runner can answer for its servers here. That needs Linux 5.6, and no filter around this process
/// that already has an answerer. Changes this process for good, so end it afterwards.
#[must_use]
pub(super) fn offered() -> bool {
    let own = || -> io::Result<()> {
        let process = dying::open(std::process::id(), 0)?;
        // SAFETY: three numbers, and no memory of this process.
        #[allow(unsafe_code)]
        let got =
            unsafe { libc::syscall(libc::SYS_pidfd_getfd, process.as_raw_fd(), process.as_raw_fd(), 0) };
        owned(got).map(drop)
    };
    own().is_ok() && super::seccomp::try_asking().is_ok()
}

fn owned(answer: libc::c_long) -> io::Result<OwnedFd> {
    let number = RawFd::try_from(Errno::result(answer)?).map_err(io::Error::other)?;
    // SAFETY: the kernel has just opened this descriptor for us; nobody else knows it.
    #[allow(unsafe_code)]
    let owned = unsafe { OwnedFd::from_raw_fd(number) };
    Ok(owned)
}
