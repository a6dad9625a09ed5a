//! Handing an open socket to another process, along a Unix socket.
//!
//! Owns one message of that kind: a byte, which says what it is, with a descriptor.

use std::io::{self, IoSlice, IoSliceMut};
use std::os::fd::{AsFd, AsRawFd as _, FromRawFd as _, OwnedFd};

use nix::sys::socket::{ControlMessage, ControlMessageOwned, MsgFlags, recvmsg, sendmsg};

/// Sends `handed` along `channel`, with that mark.
pub(crate) fn send(channel: impl AsFd, mark: u8, handed: impl AsFd) -> io::Result<()> {
    let handed = [handed.as_fd().as_raw_fd()];
    let mark = [mark];
    let mark = [IoSlice::new(&mark)];
    sendmsg::<()>(
        channel.as_fd().as_raw_fd(),
        &mark,
        &[ControlMessage::ScmRights(&handed)],
        MsgFlags::empty(),
        None,
    )?;
    Ok(())
}

/// Reads from `channel` without waiting, and a descriptor where one comes along.
pub(crate) fn receive(channel: impl AsFd, bytes: &mut [u8]) -> io::Result<(usize, Option<OwnedFd>)> {
    let mut space = nix::cmsg_space!([std::os::fd::RawFd; 1]);
    let mut buffer = [IoSliceMut::new(bytes)];
    let flags = MsgFlags::MSG_DONTWAIT | MsgFlags::MSG_CMSG_CLOEXEC;
    let message = recvmsg::<()>(channel.as_fd().as_raw_fd(), &mut buffer, Some(&mut space), flags)?;
    let mut received = None;
    for control in message.cmsgs()? {
        if let ControlMessageOwned::ScmRights(numbers) = control {
            for number in numbers {
                // SAFETY: the kernel has just opened this descriptor for us; nobody else knows its number.
                #[allow(unsafe_code)]
                let owned = unsafe { OwnedFd::from_raw_fd(number) };
                received = Some(owned);
            }
        }
    }
    Ok((message.bytes, received))
}
