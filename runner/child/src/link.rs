//! The anonymous socket pair between a parent and its child: no name, no token, nobody else can connect.
//!
//! The child gets its end as standard input, which keeps posix_spawn.

use std::fs::File;
use std::io;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::process::Stdio;

/// Both ends: the parent's, and the child's as its standard input.
///
/// # Errors
/// When the system is out of file descriptors.
pub fn pair() -> io::Result<(UnixStream, Stdio)> {
    let (parent, child) = UnixStream::pair()?;
    parent.set_nonblocking(true)?;
    Ok((parent, OwnedFd::from(child).into()))
}

/// In the child: takes the link out of standard input and puts `/dev/null` there, so that no process started
/// from here inherits the link (an inherited end would also hide the parent's death).
///
/// # Errors
/// When standard input is closed or no socket.
pub fn take() -> io::Result<UnixStream> {
    // SAFETY: descriptor 0 is only looked at while it is cloned, and whether it is open is the kernel's answer to that.
    // The library's own handle of it would come with a buffer that nobody reads from.
    #[allow(unsafe_code)]
    let stdin = unsafe { BorrowedFd::borrow_raw(0) };
    let link = UnixStream::from(stdin.try_clone_to_owned()?);
    link.local_addr()?;
    link.set_nonblocking(true)?;
    nix::unistd::dup2_stdin(File::open("/dev/null")?)?;
    Ok(link)
}
