//! From a judged target to a connection.
//!
//! Owns the lookup of names and the choice of addresses. Must never look a name up twice for one request, or connect to an
//! address that was not checked.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use harbor_policy::sandbox::hosts::{Allowed, Host, Target, is_private};
use tokio::net::{TcpStream, UdpSocket, lookup_host};
use tokio::sync::Semaphore;
use tokio::time::{Instant, timeout};

use crate::refusal::Refusal;

const RESOLVE_LIMIT: Duration = Duration::from_secs(10);
const CONNECT_LIMIT: Duration = Duration::from_secs(20);

/// Addresses of one name that are tried.
const MAX_ADDRESSES: usize = 8;

/// Lookups at once. Abandoned ones count too, since the system's resolver cannot be stopped.
const MAX_LOOKUPS: usize = 16;

/// The address to connect to, if the target is an address. None if its name must be resolved.
///
/// # Errors
/// When no rule permits it.
pub(crate) fn judge(allowed: &Allowed, target: &Target) -> Result<Option<IpAddr>, Refusal> {
    if !allowed.permits(target) {
        return Err(Refusal::NotAllowed(target.clone()));
    }
    Ok(match target.host {
        Host::Domain(_) => None,
        Host::Ipv4(address) => Some(address.into()),
        Host::Ipv6(address) => Some(address.into()),
    })
}

/// The way out.
#[derive(Debug)]
pub(crate) struct Reach {
    allowed: Allowed,
    lookups: Arc<Semaphore>,
}

impl Reach {
    pub(crate) fn new(allowed: Allowed) -> Self {
        Self { allowed, lookups: Arc::new(Semaphore::new(MAX_LOOKUPS)) }
    }

    /// Connects to the target, if that is allowed.
    pub(crate) async fn connect(&self, target: &Target) -> Result<TcpStream, Refusal> {
        let addresses = match judge(&self.allowed, target)? {
            Some(address) => vec![SocketAddr::new(address, target.port)],
            None => self.public_addresses(target).await?,
        };
        connect_to_any(&addresses)
            .await
            .map_err(|error| Refusal::Unreachable(target.clone(), error.to_string()))
    }

    async fn public_addresses(&self, target: &Target) -> Result<Vec<SocketAddr>, Refusal> {
        let failed = |why: &str| Refusal::Unresolved(target.clone(), why.to_owned());
        let found = match timeout(RESOLVE_LIMIT, self.look_up(target)).await {
            Ok(Ok(found)) => found,
            Ok(Err(error)) => return Err(failed(&error.to_string())),
            Err(_) => return Err(failed("the name lookup took too long")),
        };
        let mut public = Vec::new();
        for address in found.into_iter().filter(|address| !is_private(address.ip())).take(MAX_ADDRESSES) {
            if !is_own(address.ip()).await {
                public.push(address);
            }
        }
        if public.is_empty() { Err(Refusal::Private(target.clone())) } else { Ok(public) }
    }

    async fn look_up(&self, target: &Target) -> io::Result<Vec<SocketAddr>> {
        let lookup = self.lookups.clone().acquire_owned().await.map_err(io::Error::other)?;
        let (name, port) = (target.host.to_string(), target.port);
        // A task of its own, so that the lookup counts until it has really ended.
        let lookup = tokio::task::spawn_local(async move {
            let found = lookup_host((name, port)).await.map(Iterator::collect);
            drop(lookup);
            found
        });
        lookup.await.map_err(io::Error::other)?
    }
}

/// True if a public address is this machine's own: its services expect the machine's neighbours at most. The kernel sends to
/// itself from that very address; nothing is sent to find out.
async fn is_own(address: IpAddr) -> bool {
    let any: IpAddr = match address {
        IpAddr::V4(_) => std::net::Ipv4Addr::UNSPECIFIED.into(),
        IpAddr::V6(_) => std::net::Ipv6Addr::UNSPECIFIED.into(),
    };
    let from = async {
        let socket = UdpSocket::bind((any, 0)).await?;
        socket.connect((address, 9)).await?;
        socket.local_addr()
    };
    from.await.is_ok_and(|from| from.ip() == address)
}

/// Tries one address after the other; each has its share of the time that is left.
async fn connect_to_any(addresses: &[SocketAddr]) -> io::Result<TcpStream> {
    let end = Instant::now() + CONNECT_LIMIT;
    let mut error = io::ErrorKind::AddrNotAvailable.into();
    for (at, address) in addresses.iter().enumerate() {
        let left = u32::try_from(addresses.len() - at).unwrap_or(u32::MAX);
        let share = end.saturating_duration_since(Instant::now()) / left;
        error = match timeout(share, TcpStream::connect(address)).await {
            Ok(Ok(stream)) => return Ok(stream),
            Ok(Err(error)) => error,
            Err(_) => io::ErrorKind::TimedOut.into(),
        };
    }
    Err(error)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_resolved_and_addresses_are_not() {
        let rules = ["localhost:7", "10.0.0.1:7", "[::ffff:127.0.0.1]:7"].map(String::from);
        let allowed = Allowed::parse(&rules).unwrap();
        let judged = |text: &str| judge(&allowed, &Target::parse(text, None).unwrap());
        assert_eq!(judged("localhost:7"), Ok(None));
        assert_eq!(judged("10.1:7"), Ok(Some(IpAddr::from([10, 0, 0, 1]))));
        let mapped: IpAddr = "::ffff:127.0.0.1".parse().unwrap();
        assert_eq!(judged("[::ffff:7f00:1]:7"), Ok(Some(mapped)));
        let other = Target::parse("10.0.0.2:7", None).unwrap();
        assert_eq!(judged("10.0.0.2:7"), Err(Refusal::NotAllowed(other)));
    }

    #[tokio::test]
    async fn an_address_of_this_machine_is_its_own() {
        assert!(is_own(IpAddr::from([127, 0, 0, 1])).await);
        assert!(!is_own(IpAddr::from([192, 0, 2, 1])).await);
    }

    #[tokio::test(flavor = "local")]
    async fn names_without_public_addresses_are_refused_after_one_lookup() {
        let rules = ["localhost:*".to_owned()];
        let reach = Reach::new(Allowed::parse(&rules).unwrap());
        let target = Target::parse("LOCALHOST.:7", None).unwrap();
        assert_eq!(reach.connect(&target).await.unwrap_err(), Refusal::Private(target));
        assert_eq!(reach.lookups.available_permits(), MAX_LOOKUPS);
    }
}
