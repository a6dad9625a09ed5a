//! The TCP sockets that listen on this machine, as the kernel tells them.
//!
//! ```text
//!  request: IPv4, listening ─► kernel ─► a message per socket … ─► done;  IPv6 likewise
//! ```
//!
//! Owns the netlink socket. /proc/net/tcp has the same, but for it the kernel walks its whole table of connections, which takes 10 ms.
//! Must run off the loop.

use std::io;
use std::os::fd::{AsRawFd as _, OwnedFd};

use harbor_policy::listeners::Listener;
use netlink_packet_core::{NLM_F_DUMP, NLM_F_REQUEST, NetlinkHeader, NetlinkMessage, NetlinkPayload};
use netlink_packet_sock_diag::SockDiagMessage;
use netlink_packet_sock_diag::constants::{AF_INET, AF_INET6, IPPROTO_TCP};
use netlink_packet_sock_diag::inet::{ExtensionFlags, InetRequest, SocketId, StateFlags};
use nix::sys::socket::{
    AddressFamily, MsgFlags, SockFlag, SockProtocol, SockType, recv, send, setsockopt, socket, sockopt,
};
use nix::sys::time::{TimeVal, TimeValLike as _};

/// The kernel answers at once.
const PATIENCE_S: i64 = 1;

/// Room for what the kernel sends at once, in bytes.
const ROOM: usize = 64 * 1024;

/// All of them.
///
/// # Errors
/// When the kernel does not answer so.
pub(super) fn all() -> io::Result<Vec<Listener>> {
    let kernel =
        socket(AddressFamily::Netlink, SockType::Raw, SockFlag::SOCK_CLOEXEC, SockProtocol::NetlinkSockDiag)?;
    setsockopt(&kernel, sockopt::ReceiveTimeout, &TimeVal::seconds(PATIENCE_S))?;
    let mut found = Vec::new();
    for (family, socket_id) in [(AF_INET, SocketId::new_v4()), (AF_INET6, SocketId::new_v6())] {
        send(kernel.as_raw_fd(), &request(family, socket_id), MsgFlags::empty())?;
        hear(&kernel, &mut found)?;
    }
    Ok(found)
}

fn request(family: u8, socket_id: SocketId) -> Vec<u8> {
    let mut header = NetlinkHeader::default();
    header.flags = NLM_F_REQUEST | NLM_F_DUMP;
    let asked = InetRequest {
        family,
        protocol: IPPROTO_TCP,
        extensions: ExtensionFlags::empty(),
        states: StateFlags::LISTEN,
        socket_id,
    };
    let mut message = NetlinkMessage::new(header, SockDiagMessage::InetRequest(asked).into());
    message.finalize();
    let mut bytes = vec![0; message.buffer_len()];
    message.serialize(&mut bytes);
    bytes
}

/// Reads messages until the kernel is done.
fn hear(kernel: &OwnedFd, found: &mut Vec<Listener>) -> io::Result<()> {
    let unread = || io::Error::from(io::ErrorKind::InvalidData);
    let mut room = vec![0; ROOM];
    loop {
        let length = recv(kernel.as_raw_fd(), &mut room, MsgFlags::empty())?;
        let mut rest = room.get(..length).filter(|rest| !rest.is_empty()).ok_or_else(unread)?;
        while !rest.is_empty() {
            let message = NetlinkMessage::<SockDiagMessage>::deserialize(rest).map_err(|_| unread())?;
            match message.payload {
                NetlinkPayload::InnerMessage(SockDiagMessage::InetResponse(one)) => found.push(Listener {
                    ip: one.header.socket_id.source_address.to_canonical(),
                    port: one.header.socket_id.source_port,
                    account: one.header.uid,
                }),
                NetlinkPayload::Done(_) => return Ok(()),
                _ => return Err(unread()),
            }
            let used = usize::try_from(message.header.length).map_err(|_| unread())?.next_multiple_of(4);
            rest = rest.get(used..).filter(|_| used > 0).unwrap_or_default();
        }
    }
}
