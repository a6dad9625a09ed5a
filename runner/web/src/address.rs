//! Which URLs and addresses may be connected to.
//!
//! ```text
//!  URL ─► host an address? ─► private? ─► allowed by its definition, or refused
//!             └► a name ─► resolved once ─► what is private goes ─► connected to what is left
//! ```
//!
//! Owns both checks: that of the URL, and that of the addresses, at the very lookup that the connection uses. Must never
//! let a connection use an address that was not checked.

use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use harbor_ipc_proto::link::runner::RemoteEnd;
use harbor_policy::remote::{AllowedAddresses, is_local_name, place};
use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use tokio::time::timeout;
use url::{Host, Url};

use crate::trouble::{Trouble, Unresolved};

const RESOLVE_LIMIT: Duration = Duration::from_secs(10);

/// Addresses of one name that are tried.
const MAX_ADDRESSES: usize = 8;

/// The rules for where a connection may go.
#[derive(Debug, Clone)]
pub struct Rules {
    host: String,
    reach: AllowedAddresses,
    /// True if only this machine may be reached: without TLS Harbor speaks to nobody else.
    only_loopback: bool,
}

impl Rules {
    /// The rules for a URL that must be within this reach.
    ///
    /// # Errors
    /// When the URL itself, by its scheme or host, is outside this reach.
    pub fn within(url: &Url, reach: AllowedAddresses, allow_http: bool) -> Result<Self, Trouble> {
        let host = url.host_str().unwrap_or_default().to_owned();
        let rules = Self { host, reach, only_loopback: url.scheme() == "http" && !allow_http };
        let refused = match url.host() {
            Some(Host::Ipv4(address)) => !rules.permit(address.into()),
            Some(Host::Ipv6(address)) => !rules.permit(address.into()),
            Some(Host::Domain(name)) => rules.only_loopback && !is_local_name(name),
            None => true,
        };
        match refused {
            true => Err(Trouble::of(RemoteEnd::Forbidden, rules.why(&place(url)))),
            false => Ok(rules),
        }
    }

    fn permit(&self, address: IpAddr) -> bool {
        self.reach.permits(address) && (!self.only_loopback || address.is_loopback())
    }

    fn why(&self, place: &str) -> String {
        match self.only_loopback {
            true => {
                format!("{place} is not this machine, and the URL has no TLS; `--allow-http` allows that")
            }
            false => format!("{place} is a private address; `--allow-private` allows that"),
        }
    }
}

/// The lookups of a client. Other names than the server's are those of proxies, which the person has set.
#[derive(Debug)]
pub struct Resolver(pub Rules);

impl Resolve for Resolver {
    fn resolve(&self, name: Name) -> Resolving {
        let rules = self.0.clone();
        Box::pin(async move {
            let found = look_up(&rules, name.as_str()).await?;
            Ok(Box::new(found.into_iter()) as Addrs)
        })
    }
}

async fn look_up(rules: &Rules, name: &str) -> Result<Vec<SocketAddr>, Unresolved> {
    let failed = |why: &str| Unresolved::Failed(format!("the name {name} cannot be resolved: {why}"));
    let looked = timeout(RESOLVE_LIMIT, tokio::net::lookup_host((name, 0))).await;
    let found: Vec<SocketAddr> = match looked {
        Ok(Ok(found)) => found.collect(),
        Ok(Err(_)) => return Err(failed("the system's resolver knows no address")),
        Err(_) => return Err(failed("the name lookup took too long")),
    };
    let is_server = name.eq_ignore_ascii_case(&rules.host);
    let mut usable = found;
    usable.retain(|address| !is_server || rules.permit(address.ip()));
    usable.truncate(MAX_ADDRESSES);
    match usable.is_empty() {
        true => Err(Unresolved::Private(rules.why(name))),
        false => Ok(usable),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_name_that_means_a_private_address_is_refused() {
        let url = Url::parse("https://localhost/").unwrap();
        let rules = |reach| Rules::within(&url, reach, false).unwrap();
        // A document of a public server names it.
        assert!(matches!(
            look_up(&rules(AllowedAddresses::Public), "localhost").await,
            Err(Unresolved::Private(_))
        ));
        for reach in [AllowedAddresses::Loopback, AllowedAddresses::Private] {
            assert!(look_up(&rules(reach), "localhost").await.is_ok());
        }
        // A proxy's name is the person's own setting.
        let other = Rules { host: "example.com".into(), ..rules(AllowedAddresses::Public) };
        assert!(look_up(&other, "localhost").await.is_ok());
    }
}
