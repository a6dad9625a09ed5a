//! A client for one place.
//!
//! Owns what each request has in common: no redirect is followed by itself, names are looked up by the rules, proxies are the
//! person's. Must never read the environment's proxies by itself.

use std::sync::Arc;
use std::time::Duration;

use harbor_ipc_proto::link::runner::RemoteEnd;
use harbor_ipc_proto::via::{HEADER, IDENTITY};
use harbor_policy::remote::{says_loopback, says_private};
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use reqwest::{Client, ClientBuilder, NoProxy, Proxy};
use url::Url;

use crate::address::{Resolver, Rules};
use crate::trouble::Trouble;

/// Harbor's name.
pub const USER_AGENT: &str = concat!("harbor/", env!("CARGO_PKG_VERSION"));

/// A connection is there by then, or not at all.
pub const CONNECT_LIMIT: Duration = Duration::from_secs(10);

/// Shorter than what common servers keep a connection for: a request should not meet its end.
const IDLE: Duration = Duration::from_secs(4);

/// A client for one place.
///
/// # Errors
/// When there is no TLS, or the proxy is not valid.
pub fn client(rules: Rules, url: &Url, env: &[(String, String)]) -> Result<Client, Trouble> {
    let mut builder = builder(rules, url);
    // What is on this machine or beside it is behind no proxy.
    if !says_private(url)
        && let Some(proxy) = proxy(url, env)?
    {
        builder = builder.proxy(proxy);
    }
    built(builder)
}

/// A client for one place that follows no redirect and has no proxy. Without TLS it reads no certificates,
/// which saves time and memory.
///
/// # Errors
/// When there is no TLS.
pub fn direct(rules: Rules, url: &Url) -> Result<Client, Trouble> {
    let builder = builder(rules, url);
    built(if url.scheme() == "http" { builder.tls_certs_only([]) } else { builder })
}

/// A client for a program on this machine that answers at a Unix socket, and nowhere else.
///
/// # Errors
/// When no client can be made.
pub fn at_socket(rules: Rules, url: &Url, socket: &str) -> Result<Client, Trouble> {
    built(builder(rules, url).unix_socket(socket).tls_certs_only([]))
}

/// A client that reaches everything by one proxy, and connects to nothing else. `rules`: for the proxy itself. It has no
/// header of its own: others' requests are sent.
///
/// # Errors
/// When there is no TLS, or the proxy is not valid.
pub fn through(rules: Rules, proxy: &Url) -> Result<Client, Trouble> {
    let proxy = Proxy::all(proxy.clone())
        .map_err(|_| Trouble::of(RemoteEnd::Unreachable, "the proxy has no valid URL"))?;
    built(plain(rules).proxy(proxy))
}

fn builder(rules: Rules, url: &Url) -> ClientBuilder {
    plain(rules).default_headers(own_identity(url))
}

fn plain(rules: Rules) -> ClientBuilder {
    Client::builder()
        .user_agent(USER_AGENT)
        .no_proxy()
        .redirect(reqwest::redirect::Policy::none())
        .connect_timeout(CONNECT_LIMIT)
        .pool_idle_timeout(IDLE)
        .tcp_nodelay(true)
        .dns_resolver(Arc::new(Resolver(rules)))
}

fn built(builder: ClientBuilder) -> Result<Client, Trouble> {
    builder.build().map_err(|_| {
        Trouble::of(RemoteEnd::Tls, "TLS does not work: this system's certificates cannot be read")
    })
}

/// The header that tells a server on this machine whose runner this is. Nobody else is told: it would know the person again.
fn own_identity(url: &Url) -> HeaderMap {
    let own = std::env::var(IDENTITY).ok().filter(|_| says_loopback(url));
    let own = own.and_then(|own| HeaderValue::from_str(&own).ok());
    own.map(|own| (HeaderName::from_static(HEADER), own)).into_iter().collect()
}

/// The proxy that the person has set for such URLs.
fn proxy(url: &Url, env: &[(String, String)]) -> Result<Option<Proxy>, Trouble> {
    let value = |name: &str| {
        let found = env.iter().find(|(known, _)| known.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value.as_str()).filter(|value| !value.is_empty())
    };
    let name = if url.scheme() == "https" { "HTTPS_PROXY" } else { "HTTP_PROXY" };
    let Some(proxy) = value(name).or_else(|| value("ALL_PROXY")) else { return Ok(None) };
    // An error of its own could show the password that is in it.
    let proxy = Proxy::all(proxy)
        .map_err(|_| Trouble::of(RemoteEnd::Unreachable, format!("{name} is not the URL of a proxy")))?;
    Ok(Some(proxy.no_proxy(value("NO_PROXY").and_then(NoProxy::from_string))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_server_on_this_machine_is_told_whose_runner_asks() {
        let is_here = |url: &str| says_loopback(&Url::parse(url).unwrap());
        for url in ["http://localhost:1/", "http://127.0.0.1/", "https://[::1]:9/", "http://LOCALHOST./"] {
            assert!(is_here(url), "{url}");
        }
        for url in
            ["https://a.com/", "http://localhost.a.com/", "http://10.0.0.1/", "https://127.0.0.1.a.com/"]
        {
            assert!(!is_here(url), "{url}");
        }
    }

    #[test]
    fn proxies_are_the_persons() {
        let env = |name: &str, value: &str| vec![(name.to_owned(), value.to_owned())];
        let url = Url::parse("https://a.com/").unwrap();
        assert!(proxy(&url, &env("https_proxy", "http://p:3128")).unwrap().is_some());
        assert!(proxy(&url, &env("ALL_PROXY", "http://p:3128")).unwrap().is_some());
        assert!(proxy(&url, &env("HTTP_PROXY", "http://p:3128")).unwrap().is_none());
        assert!(proxy(&url, &env("HTTPS_PROXY", "")).unwrap().is_none());
        let wrong = proxy(&url, &env("HTTPS_PROXY", "http://u:s3cr3t@[")).unwrap_err();
        assert!(!wrong.why.contains("s3cr3t"));
    }
}
