//! The names of redirect targets: a name with private addresses only is none.
//!
//! Owns the filter. A proxy's own name is let through, whatever it resolves to: the person named it.

use std::collections::HashSet;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;

use harbor_policy::sandbox::hosts::is_private;
use reqwest::Url;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};

/// Where proxies are named.
const VARIABLES: [&str; 6] =
    ["http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"];

/// Resolves to public addresses.
#[derive(Debug, Clone)]
pub(super) struct Public {
    proxies: Arc<HashSet<String>>,
}

impl Public {
    pub(super) fn from_env() -> Self {
        let named = VARIABLES.iter().filter_map(|name| std::env::var(name).ok());
        Self { proxies: Arc::new(named.filter_map(|proxy| host(&proxy)).collect()) }
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
}
