//! Decides which hosts a server may reach through its egress proxy, and which addresses nobody may reach by name.
//!
//! ```text
//!  example.com          ports 80 and 443 of this name
//!  *.example.com:*      every port of names below it, not of itself
//!  192.0.2.7:8080       this address, which may be private
//!  [2001:db8::1]        this address
//!
//!  rule ────┐ parse_host ┌─► Allowed ── permits? ──► a name: who resolves it keeps what is not private
//!  request ─┘            └─► Target                └► an address: it is connected to as it is
//! ```
//!
//! Owns both decisions, for settings and for the proxy alike. Must never look a name up. One parser, that of URLs, reads rules
//! and requests. So a client that writes a number in another form (`0x7f.1`, `2130706433`) means that address here, too. An IPv6
//! address with an IPv4 address in it is another address, for rules; where it is in doubt, it is private.

use core::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::fmt;

pub use url::Host;

/// The ports of a rule that names none.
const WEB_PORTS: [u16; 2] = [80, 443];

/// The most bytes of a host that are read; then the longest name that DNS knows, and the longest part of one.
const MAX_HOST: usize = 260;
const MAX_NAME: usize = 253;
const MAX_LABEL: usize = 63;

/// The characters of a bad rule that are shown.
const SHOWN: usize = 80;

/// A host and the port there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    /// The name in lower case without a dot at its end, or the address.
    pub host: Host,
    /// Never 0.
    pub port: u16,
}

impl Target {
    /// Reads `host`, `host:port` or `[v6]:port`. `default` is the port if none is named.
    #[must_use]
    pub fn parse(authority: &str, default: Option<u16>) -> Option<Self> {
        let (host, port) = split_port(authority)?;
        let port = match port {
            Some(digits) => parse_port(digits)?,
            None => default.filter(|port| *port != 0)?,
        };
        Some(Self { host: parse_host(host)?, port })
    }

    /// The rule that would allow it.
    #[must_use]
    pub fn rule(&self) -> String {
        if WEB_PORTS.contains(&self.port) { self.host.to_string() } else { self.to_string() }
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.host, self.port)
    }
}

/// A rule that cannot be read, shortened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BadRule(pub String);

impl BadRule {
    fn of(rule: &str) -> Self {
        Self(rule.chars().take(SHOWN).collect())
    }
}

/// The expected form instead. It follows "must be".
impl fmt::Display for BadRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "hosts like example.com, *.example.com, 192.0.2.7 or [2001:db8::1], each with :PORT, :* or nothing; {:?} \
             is not one",
            self.0
        )
    }
}

impl std::error::Error for BadRule {}

/// The hosts that a server may reach. By default none.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Allowed(Vec<Rule>);

#[derive(Debug, Clone, PartialEq, Eq)]
struct Rule {
    hosts: HostPattern,
    ports: Ports,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum HostPattern {
    One(Host),
    /// All names below this one, without itself.
    Below(String),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ports {
    Web,
    Any,
    One(u16),
}

impl Allowed {
    /// Reads the rules of a definition.
    ///
    /// # Errors
    /// The first rule that cannot be read.
    pub fn parse(rules: &[String]) -> Result<Self, BadRule> {
        rules
            .iter()
            .map(|rule| Rule::parse(rule).ok_or_else(|| BadRule::of(rule)))
            .collect::<Result<_, _>>()
            .map(Self)
    }

    /// True if a rule names this target. A name that is permitted may still have private addresses only.
    #[must_use]
    pub fn permits(&self, target: &Target) -> bool {
        self.0.iter().any(|rule| rule.hosts.contain(&target.host) && rule.ports.contain(target.port))
    }
}

impl Rule {
    fn parse(rule: &str) -> Option<Self> {
        let (host, port) = split_port(rule)?;
        let ports = match port {
            None => Ports::Web,
            Some("*") => Ports::Any,
            Some(digits) => Ports::One(parse_port(digits)?),
        };
        let hosts = match host.strip_prefix("*.") {
            None => HostPattern::One(parse_host(host)?),
            Some(parent) => match parse_host(parent)? {
                Host::Domain(parent) => HostPattern::Below(parent),
                Host::Ipv4(_) | Host::Ipv6(_) => return None,
            },
        };
        Some(Self { hosts, ports })
    }
}

impl HostPattern {
    fn contain(&self, host: &Host) -> bool {
        match (self, host) {
            (Self::One(one), host) => one == host,
            (Self::Below(parent), Host::Domain(name)) => name
                .strip_suffix(parent.as_str())
                .is_some_and(|below| below.len() > 1 && below.ends_with('.')),
            (Self::Below(_), _) => false,
        }
    }
}

impl Ports {
    fn contain(self, port: u16) -> bool {
        match self {
            Self::Web => WEB_PORTS.contains(&port),
            Self::Any => true,
            Self::One(one) => one == port,
        }
    }
}

/// Splits `host:port`. A text with several colons is an IPv6 address, which must be in brackets.
fn split_port(text: &str) -> Option<(&str, Option<&str>)> {
    let colon =
        if text.starts_with('[') { text.find(']')? + 1 } else { text.find(':').unwrap_or(text.len()) };
    let (host, rest) = text.split_at(colon);
    if rest.is_empty() { Some((host, None)) } else { Some((host, Some(rest.strip_prefix(':')?))) }
}

fn parse_port(digits: &str) -> Option<u16> {
    // The standard parser would also take a sign, and some read a zero in front as octal.
    let plain = digits.bytes().all(|byte| byte.is_ascii_digit()) && !digits.starts_with('0');
    digits.parse().ok().filter(|_| plain)
}

/// Reads a host as URLs are read: any form of a number is an IPv4 address, an international name is in its ASCII form,
/// `[…]` is IPv6. One dot at the end of a name or an IPv4 address is nothing.
#[must_use]
pub fn parse_host(text: &str) -> Option<Host> {
    let bare = text.strip_suffix('.').unwrap_or(text);
    let ends_as_hosts_do = !bare.ends_with('.') && (bare == text || !text.starts_with('['));
    // No client escapes a host, and no rule should.
    if !ends_as_hosts_do || text.len() > MAX_HOST || text.contains('%') {
        return None;
    }
    match Host::parse(bare).ok()? {
        Host::Domain(name) => is_name(&name).then_some(Host::Domain(name)),
        address => Some(address),
    }
}

/// True if the text has only characters of names. The URL parser also lets `*` and more through.
fn is_name(name: &str) -> bool {
    let is_label = |label: &str| {
        (1..=MAX_LABEL).contains(&label.len())
            && label.bytes().all(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_'))
    };
    name.len() <= MAX_NAME && name.split('.').all(is_label)
}

/// IPv4 blocks that the public network does not route, or that a machine's own surroundings answer.
const PRIVATE_V4: &[(Ipv4Addr, u32)] = &[
    (Ipv4Addr::new(0, 0, 0, 0), 8),
    (Ipv4Addr::new(10, 0, 0, 0), 8),
    // Carrier-grade NAT; one cloud's metadata is here.
    (Ipv4Addr::new(100, 64, 0, 0), 10),
    (Ipv4Addr::new(127, 0, 0, 0), 8),
    // Azure's metadata: public by its number, answered by the machine's host.
    (Ipv4Addr::new(168, 63, 129, 16), 32),
    // Link-local; the metadata of most clouds is here.
    (Ipv4Addr::new(169, 254, 0, 0), 16),
    (Ipv4Addr::new(172, 16, 0, 0), 12),
    (Ipv4Addr::new(192, 0, 0, 0), 24),
    // Documentation, here and in two more.
    (Ipv4Addr::new(192, 0, 2, 0), 24),
    // Relays of 6to4, which nobody runs any more.
    (Ipv4Addr::new(192, 88, 99, 0), 24),
    (Ipv4Addr::new(192, 168, 0, 0), 16),
    // Benchmarks.
    (Ipv4Addr::new(198, 18, 0, 0), 15),
    (Ipv4Addr::new(198, 51, 100, 0), 24),
    (Ipv4Addr::new(203, 0, 113, 0), 24),
    // Multicast, then reserved and broadcast.
    (Ipv4Addr::new(224, 0, 0, 0), 4),
    (Ipv4Addr::new(240, 0, 0, 0), 4),
];

/// True if an address is not in the public network. Names with such addresses do not reach them.
#[must_use]
pub fn is_private(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => is_private_v4(address),
        IpAddr::V6(address) => is_private_v6(address),
    }
}

fn is_private_v4(address: Ipv4Addr) -> bool {
    let in_block = |(block, bits): &(Ipv4Addr, u32)| {
        let host_bits = u32::BITS - bits;
        (address.to_bits() ^ block.to_bits()) >> host_bits == 0
    };
    PRIVATE_V4.iter().any(in_block)
}

/// True outside of 2000::/3, and in its special blocks. So loopback, link-local, mapped, compatible, unique
/// local and other addresses are private.
fn is_private_v6(address: Ipv6Addr) -> bool {
    match address.segments() {
        // NAT64: networks without IPv4 see the whole IPv4 network here.
        [0x64, 0xff9b, 0, 0, 0, 0, _, _] => {
            let [.., a, b, c, d] = address.octets();
            is_private_v4(Ipv4Addr::new(a, b, c, d))
        }
        // Teredo, benchmarks, ORCHID and others of the IETF; then documentation, 6to4, documentation.
        [0x2001, 0..0x200, ..] | [0x2001, 0xdb8, ..] | [0x2002, ..] | [0x3fff, 0..0x1000, ..] => true,
        [first, ..] => first & 0xe000 != 0x2000,
    }
}

#[cfg(test)]
mod tests;
