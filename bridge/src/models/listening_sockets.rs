//! The TCP sockets that listen on this machine, as the kernel tells them.
//!
//! ```text
//!  request: IPv4, listening ─► kernel ─► a message per socket … ─► done;  IPv6 likewise
//! ```
//!
//! Owns the netlink socket. /proc/net/tcp has the same, but for it the kernel walks its whole table of connections, which takes 10 ms:
//! it is read only where the kernel does not know the short way. Must run off the loop.

use std::fs;
use std::io;
use std::os::fd::{AsRawFd as _, OwnedFd};

use harbor_policy::listeners::{Listener, in_table};
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
pub(super) fn all() -> Vec<Listener> {
    asked().unwrap_or_else(|_| in_tables())
}

/// As the kernel's tables have them.
fn in_tables() -> Vec<Listener> {
    let tables = ["/proc/net/tcp", "/proc/net/tcp6"].map(|path| fs::read_to_string(path).unwrap_or_default());
    tables.iter().flat_map(|table| in_table(table)).collect()
}

/// As the kernel answers a request.
///
/// # Errors
/// When it does not answer so.
fn asked() -> io::Result<Vec<Listener>> {
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
                    inode: one.header.inode.into(),
                }),
                NetlinkPayload::Done(_) => return Ok(()),
                _ => return Err(unread()),
            }
            let used = usize::try_from(message.header.length).map_err(|_| unread())?.next_multiple_of(4);
            rest = rest.get(used..).filter(|_| used > 0).unwrap_or_default();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use nix::unistd::geteuid;

    use super::*;

    #[test]
    fn the_kernel_says_the_same_by_both_ways() {
        let held = ["127.0.0.1:0", "[::]:0"].map(|at| TcpListener::bind(at).unwrap());
        let ports = held.each_ref().map(|one| one.local_addr().unwrap().port());
        let of = |all: &[Listener]| ports.map(|port| all.iter().find(|one| one.port == port).copied());
        let told = asked().expect("the kernel answers");
        assert_eq!(of(&told), of(&in_tables()));
        assert!(of(&told).iter().all(|one| one.is_some_and(|one| one.account == geteuid().as_raw())));
    }
}
