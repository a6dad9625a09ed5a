//! Finds out whose program answers at an address of this machine.
//!
//! ```text
//!  the sockets that listen, an address ─► who answers there, by the number of the account ─► another person's?
//! ```
//!
//! Owns the reading of the kernel's tables of sockets, and which accounts are no other person's: one's own, root's, and those of
//! the system. Only
//! root makes system accounts, and programs such as Ollama run under them. Must never judge a port's owner by what answers there.

use core::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use core::ops::RangeInclusive;

use url::{Host, Url};

use crate::remote::says_loopback;

/// The first account of a person where nothing else is said.
const FIRST_PERSON: u32 = 1000;

/// The accounts that systemd gives to running services (`DynamicUser=`).
const OF_SERVICES: RangeInclusive<u32> = 61_184..=65_519;

/// The ranges of accounts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Accounts {
    own: u32,
    first_person: u32,
}

impl Accounts {
    /// The accounts for a person with the account `own`, by the text of /etc/login.defs.
    #[must_use]
    pub fn read(own: u32, login_defs: &str) -> Self {
        let number = |line: &str| {
            let mut words = line.split_whitespace();
            (words.next()? == "UID_MIN").then(|| words.next()?.parse().ok())?
        };
        Self { own, first_person: login_defs.lines().find_map(number).unwrap_or(FIRST_PERSON) }
    }

    /// True if an account is another person's.
    #[must_use]
    pub fn is_another_persons(self, account: u32) -> bool {
        account != self.own && account >= self.first_person && !OF_SERVICES.contains(&account)
    }
}

/// A TCP socket that listens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Listener {
    /// Its address, IPv4 where it is that in the form of IPv6.
    pub ip: IpAddr,
    /// Its port.
    pub port: u16,
    /// The account that it belongs to.
    pub account: u32,
    /// Its number, by which a descriptor of a process names it.
    pub inode: u64,
}

/// The accounts of those who answer at a URL of this machine. Empty if nobody listens, and for URLs of other machines.
#[must_use]
pub fn answering_at(base_url: &str, listeners: &[Listener]) -> Vec<u32> {
    let Some(url) = Url::parse(base_url).ok().filter(says_loopback) else { return Vec::new() };
    let port = url.port_or_known_default();
    let at: Vec<_> = listeners.iter().filter(|one| Some(one.port) == port).copied().collect();
    let addresses: Vec<IpAddr> = match url.host() {
        Some(Host::Ipv4(address)) => vec![address.into()],
        Some(Host::Ipv6(address)) => vec![address.to_canonical()],
        // A name is both.
        _ => vec![Ipv4Addr::LOCALHOST.into(), Ipv6Addr::LOCALHOST.into()],
    };
    addresses.into_iter().flat_map(|address| answering(&at, address)).collect()
}

/// The kernel prefers a listener at this very address. A listener at all of IPv6 gets IPv4, too, if nobody else does.
fn answering(at: &[Listener], address: IpAddr) -> Vec<u32> {
    let mut places = vec![address, Ipv6Addr::UNSPECIFIED.into()];
    if address.is_ipv4() {
        places.insert(1, Ipv4Addr::UNSPECIFIED.into());
    }
    let of = |place: &IpAddr| {
        let there = at.iter().filter(|one| one.ip == *place).map(|one| one.account);
        Some(there.collect::<Vec<_>>()).filter(|there| !there.is_empty())
    };
    places.iter().find_map(of).unwrap_or_default()
}

/// The sockets that listen, by the text of /proc/net/tcp or /proc/net/tcp6.
pub fn in_table(table: &str) -> impl Iterator<Item = Listener> {
    const LISTEN: &str = "0A";
    let line = |line: &str| {
        let fields: Vec<_> = line.split_whitespace().take(10).collect();
        let [_, local, _, state, _, _, _, account, _, inode] = fields[..] else { return None };
        let (ip, port) = local.split_once(':').filter(|_| state == LISTEN)?;
        Some(Listener {
            ip: address(ip)?.to_canonical(),
            port: u16::from_str_radix(port, 16).ok()?,
            account: account.parse().ok()?,
            inode: inode.parse().ok()?,
        })
    };
    table.lines().skip(1).filter_map(line)
}

/// Words of 32 bits, each as a number of this machine.
fn address(text: &str) -> Option<IpAddr> {
    let word = |at: usize| {
        let word = text.get(8 * at..8 * at + 8)?;
        Some(u32::from_str_radix(word, 16).ok()?.to_ne_bytes())
    };
    match text.len() {
        8 => Some(IpAddr::from(word(0)?)),
        32 => {
            let mut bytes = [0; 16];
            for (at, to) in bytes.chunks_exact_mut(4).enumerate() {
                to.copy_from_slice(&word(at)?);
            }
            Some(IpAddr::from(bytes))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const HEAD: &str =
        "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n";

    /// A listener at port 11434, as the kernel writes it on a little-endian machine.
    fn line(ip: &str, state: &str, account: u32) -> String {
        format!(
            "   0: {ip}:2CAA 00000000:0000 {state} 00000000:00000000 00:00000000 00000000  {account}        0 4711 1 0\n"
        )
    }

    const HERE: &str = "0100007F";
    const ALL_V4: &str = "00000000";
    const ALL_V6: &str = "00000000000000000000000000000000";
    const HERE_V6: &str = "00000000000000000000000001000000";

    #[test]
    #[cfg(target_endian = "little")]
    fn who_listens_is_whoever_the_kernel_would_take() {
        let tables = |v4: &[(&str, u32)], v6: &[(&str, u32)]| {
            let of = |all: &[(&str, u32)]| {
                all.iter()
                    .map(|(ip, account)| line(ip, "0A", *account))
                    .fold(HEAD.to_owned(), |all, one| all + &one)
            };
            [of(v4), of(v6)]
        };
        let of = |url: &str, tables: &[String; 2]| {
            answering_at(url, &tables.iter().flat_map(|table| in_table(table)).collect::<Vec<_>>())
        };
        let (by_number, by_name) = ("http://127.0.0.1:11434", "http://localhost:11434/v1");
        let both = tables(&[(HERE, 1), (ALL_V4, 2)], &[(HERE_V6, 3), (ALL_V6, 4)]);
        assert_eq!(of(by_number, &both), [1]);
        assert_eq!(of("http://[::1]:11434", &both), [3]);
        assert_eq!(of(by_name, &both), [1, 3]);
        assert_eq!(of("http://127.0.0.2:11434", &both), [2]);
        assert_eq!(of(by_number, &tables(&[], &[(ALL_V6, 4)])), [4]);
        assert_eq!(of(by_number, &tables(&[], &[("0000000000000000FFFF00000100007F", 5)])), [5]);
        let nobody = Vec::<u32>::new();
        assert_eq!(of("http://127.0.0.1:8080", &both), nobody);
        assert_eq!(of("https://example.com:11434", &both), nobody);
        let connected = format!("{HEAD}{}", line(HERE, "01", 1));
        assert_eq!(of(by_number, &[connected, HEAD.to_owned()]), nobody);
    }

    #[test]
    fn other_people_are_neither_oneself_nor_the_system() {
        let accounts = Accounts::read(1000, "# UID_MIN 5\nSYS_UID_MIN 100\nUID_MAX 60000\n");
        let others =
            [0, 999, 1000, 1001, 61_184, 65_534, 100_000].map(|account| accounts.is_another_persons(account));
        assert_eq!(others, [false, false, false, true, false, true, true]);
        let early = Accounts::read(1000, "UID_MIN\t\t\t  500\n");
        assert_eq!([499, 500].map(|account| early.is_another_persons(account)), [false, true]);
    }

    proptest! {
        #[test]
        fn tables_are_read_without_a_panic(text in any::<String>(), ip in "[0-9A-F¢]{0,33}") {
            let table = format!("{text}{HEAD}{}", line(&ip, "0A", 1));
            let found: Vec<_> = in_table(&text).chain(in_table(&table)).collect();
            let _ = answering_at("http://localhost:11434", &found);
        }
    }
}
