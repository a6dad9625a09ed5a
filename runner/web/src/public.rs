//! Resolves the names of redirect targets. A name with only private addresses is refused.
//!
//! ```text
//!  no proxy:      name ─► resolved here ─► connected to one of its public addresses
//!  behind one:    name ─► resolved here ─► all of them public? ─► the proxy resolves it once more, and connects
//! ```
//!
//! Owns the filter. A proxy's own name is let through, whatever it resolves to: the person named it. Must never leave it to
//! a proxy alone to know where a name leads to: the sender of an answer may not reach the proxy's private network.

use std::collections::HashSet;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use harbor_policy::sandbox::hosts::is_private;
use reqwest::Url;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};

/// The variables that name proxies.
const VARIABLES: [&str; 6] =
    ["http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"];

/// A name is found by then, or not at all.
const FOUND_LIMIT: Duration = Duration::from_secs(10);

/// Resolves to public addresses.
#[derive(Debug, Clone)]
pub struct Public {
    proxies: Arc<HashSet<String>>,
}

impl Public {
    /// Whose proxies the environment names.
    #[must_use]
    pub fn from_env() -> Self {
        let named = VARIABLES.iter().filter_map(|name| std::env::var(name).ok());
        Self { proxies: Arc::new(named.filter_map(|proxy| host(&proxy)).collect()) }
    }

    /// Checks that a proxy may be sent on to this host. Nothing is known of the addresses that the proxy finds, so every
    /// address that is found here has to be public. Without a proxy the addresses are chosen when they are resolved.
    ///
    /// # Errors
    /// A sentence.
    pub async fn judge(&self, url: &Url) -> Result<(), &'static str> {
        let name = url.domain().filter(|_| !self.proxies.is_empty());
        let Some(name) = name else { return Ok(()) };
        let looked = tokio::time::timeout(FOUND_LIMIT, tokio::net::lookup_host((name, 0))).await;
        let Ok(Ok(mut found)) = looked else {
            return Err(
                "the server redirects to a name that this machine cannot resolve, and Harbor does not let a proxy \
                 resolve it",
            );
        };
        let private = found.any(|address| is_private(address.ip()));
        if private { Err("the server redirects to a name with a private address") } else { Ok(()) }
    }
}

/// The host of `http://proxy.example:3128` or `proxy.example:3128`.
fn host(proxy: &str) -> Option<String> {
    let with_scheme = if proxy.contains("://") { proxy.to_owned() } else { format!("http://{proxy}") };
    Url::parse(&with_scheme).ok()?.host_str().map(str::to_owned)
}

impl Resolve for Public {
    fn resolve(&self, name: Name) -> Resolving {
        let any = self.proxies.contains(name.as_str());
        Box::pin(async move {
            let found = tokio::net::lookup_host((name.as_str(), 0)).await?;
            let kept: Vec<SocketAddr> = found.filter(|address| any || !is_private(address.ip())).collect();
            if kept.is_empty() {
                return Err(io::Error::other("the name has no public address").into());
            }
            let addresses: Addrs = Box::new(kept.into_iter());
            Ok(addresses)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_proxy_is_named_with_or_without_its_scheme() {
        assert_eq!(host("http://u:p@Proxy.example:3128/").as_deref(), Some("proxy.example"));
        assert_eq!(host("proxy.example:3128").as_deref(), Some("proxy.example"));
        assert_eq!(host(""), None);
    }

    #[tokio::test]
    async fn names_of_this_machine_are_none() {
        let public = Public { proxies: Arc::default() };
        assert!(public.resolve("localhost".parse().unwrap()).await.is_err());
        let proxied = Public { proxies: Arc::new(HashSet::from(["localhost".to_owned()])) };
        assert!(proxied.resolve("localhost".parse().unwrap()).await.is_ok());
    }

    #[tokio::test]
    async fn a_proxy_is_not_left_to_resolve_what_is_private_or_unknown_here() {
        let url = |text: &str| Url::parse(text).unwrap();
        let direct = Public { proxies: Arc::default() };
        let proxied = Public { proxies: Arc::new(HashSet::from(["proxy.example".to_owned()])) };
        for refused in ["https://localhost/", "https://nobody.invalid/"] {
            assert_eq!(direct.judge(&url(refused)).await, Ok(()), "{refused}");
            assert!(proxied.judge(&url(refused)).await.is_err(), "{refused}");
        }
        assert_eq!(proxied.judge(&url("https://9.9.9.9/")).await, Ok(()), "an address is no name");
    }
}
