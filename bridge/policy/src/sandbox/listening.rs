//! The answers to a server that wants to be reached, on the machine's network.
//!
//! ```text
//!  bind:   the granted port, of a loopback address or of all ─► that port of a loopback address
//!          a port that the kernel chooses ─► had, as whoever only connects or sends has one
//!          another port or address ─► refused
//!  listen: a socket that got the granted port of a loopback address so ─► it listens
//!          another ─► refused
//! ```
//!
//! Owns the answers, for TCP and UDP. A UDP socket can be reached once it is bound, a TCP socket only after `listen`.

use core::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV6};

/// The answer to `bind`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Bind {
    /// The socket gets this address.
    To(SocketAddr),
    /// It is refused.
    Refuse,
}

/// The answer to `bind` of a socket to an address. `only_v6`: true if it is an IPv6 socket that gets nothing by IPv4.
#[must_use]
pub fn bind(granted: Option<u16>, wanted: SocketAddr, only_v6: bool) -> Bind {
    if wanted.port() == 0 {
        return Bind::To(wanted);
    }
    if granted != Some(wanted.port()) {
        return Bind::Refuse;
    }
    let v4 = Ipv4Addr::LOCALHOST;
    let ip = match wanted.ip() {
        IpAddr::V4(ip) if ip == v4 || ip.is_unspecified() => v4.into(),
        IpAddr::V6(ip) if ip.is_loopback() || ip.is_unspecified() && only_v6 => Ipv6Addr::LOCALHOST.into(),
        // All addresses of both kinds: it is 127.0.0.1 that most programs try.
        IpAddr::V6(ip) if ip.is_unspecified() || ip == v4.to_ipv6_mapped() => v4.to_ipv6_mapped().into(),
        _ => return Bind::Refuse,
    };
    Bind::To(SocketAddr::new(ip, wanted.port()))
}

/// True if a TCP socket that has this address may listen.
#[must_use]
pub fn may_listen(granted: Option<u16>, at: SocketAddr) -> bool {
    let own = [IpAddr::from(Ipv4Addr::LOCALHOST), Ipv6Addr::LOCALHOST.into()];
    granted == Some(at.port()) && own.contains(&at.ip().to_canonical())
}

/// The address in the bytes of a `struct sockaddr_in` or `sockaddr_in6`, from a program's call. None for other kinds.
#[must_use]
pub fn address(bytes: &[u8]) -> Option<SocketAddr> {
    // AF_INET and AF_INET6 of Linux.
    const V4: u16 = 2;
    const V6: u16 = 10;
    let (family, rest) = bytes.split_first_chunk()?;
    let (port, rest) = rest.split_first_chunk()?;
    let port = u16::from_be_bytes(*port);
    match u16::from_ne_bytes(*family) {
        V4 => Some(SocketAddr::new(IpAddr::from(*rest.first_chunk::<4>()?), port)),
        V6 => {
            // Before it is the flow, behind it the interface, which old programs leave out.
            let (ip, rest) = rest.get(4..)?.split_first_chunk::<16>()?;
            let interface = rest.first_chunk().map_or(0, |bytes| u32::from_ne_bytes(*bytes));
            Some(SocketAddrV6::new(Ipv6Addr::from(*ip), port, 0, interface).into())
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn at(text: &str) -> SocketAddr {
        text.parse().unwrap()
    }

    #[test]
    fn the_granted_port_is_one_of_the_loopback() {
        for (wanted, only_v6, given) in [
            ("127.0.0.1:9009", false, "127.0.0.1:9009"),
            ("0.0.0.0:9009", false, "127.0.0.1:9009"),
            ("[::1]:9009", false, "[::1]:9009"),
            ("[::]:9009", false, "[::ffff:127.0.0.1]:9009"),
            ("[::]:9009", true, "[::1]:9009"),
            ("[::ffff:127.0.0.1]:9009", false, "[::ffff:127.0.0.1]:9009"),
        ] {
            assert_eq!(bind(Some(9009), at(wanted), only_v6), Bind::To(at(given)), "{wanted}");
        }
        for wanted in
            ["127.0.0.1:9010", "192.0.2.1:9009", "[2001:db8::1]:9009", "127.0.0.2:9009", "224.0.0.251:9009"]
        {
            assert_eq!(bind(Some(9009), at(wanted), false), Bind::Refuse, "{wanted}");
        }
        assert_eq!(bind(None, at("127.0.0.1:9009"), false), Bind::Refuse);
        for any in ["0.0.0.0:0", "[::1]:0", "[fe80::1%3]:0"] {
            assert_eq!(bind(None, at(any), true), Bind::To(at(any)), "{any}");
        }
        assert!(!may_listen(None, at("127.0.0.1:40000")) && !may_listen(Some(9009), at("127.0.0.2:9009")));
    }

    #[test]
    fn addresses_are_read_as_the_kernel_reads_them() {
        let port = 9009_u16.to_be_bytes();
        let v4 = [2_u16.to_ne_bytes().as_slice(), &port, &[127, 0, 0, 1], &[0; 8]].concat();
        assert_eq!(address(&v4), Some(at("127.0.0.1:9009")));
        let v6 = [10_u16.to_ne_bytes().as_slice(), &port, &[9; 4], &Ipv6Addr::LOCALHOST.octets()].concat();
        assert_eq!(address(&v6), Some(at("[::1]:9009")));
        assert_eq!(address(&[&v6[..], &3_u32.to_ne_bytes()].concat()), Some(at("[::1%3]:9009")));
        let unix = [1_u16.to_ne_bytes().as_slice(), b"/tmp/socket-of-mine\0"].concat();
        assert_eq!((address(&unix), address(&v6[..20]), address(&[])), (None, None, None));
    }

    proptest! {
        #[test]
        fn what_listens_is_at_a_loopback_address(
            ip in any::<IpAddr>(), port: u16, granted in any::<Option<u16>>(), only_v6: bool,
        ) {
            let wanted = SocketAddr::new(ip, port);
            if let Bind::To(given) = bind(granted, wanted, only_v6) {
                prop_assert!(may_listen(granted, given) || port == 0 && given == wanted);
                prop_assert!(given.is_ipv4() == wanted.is_ipv4());
            }
            if may_listen(granted, wanted) {
                let own = ["127.0.0.1", "::1"].map(|own| own.parse::<IpAddr>().unwrap());
                prop_assert!(granted == Some(port) && own.contains(&ip.to_canonical()));
            }
        }

        #[test]
        fn bytes_of_a_server_are_read_without_a_panic(bytes in prop::collection::vec(any::<u8>(), 0..64)) {
            let _ = address(&bytes);
        }
    }
}
