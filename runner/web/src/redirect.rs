//! The places that an answer may send on to.
//!
//! Owns the rules. A request with a secret of the person is sent on to the same place only ([`is_same_place`]). Without one,
//! these hold: http and https, never from https to http, at most five times. Never to addresses that the public network does
//! not route, unless the configured URL is itself private. Whoever resolves the name of a target must hold this last rule
//! too.

use std::net::IpAddr;

use harbor_policy::remote::is_local_name;
use harbor_policy::sandbox::hosts::{Host, is_private};
use reqwest::Url;

/// Redirects that are followed one after the other.
pub const MAX_REDIRECTS: u32 = 5;

/// True if a URL names a private address, or this machine.
#[must_use]
pub fn is_private_url(url: &Url) -> bool {
    match url.host() {
        Some(Host::Domain(name)) => is_local_name(name),
        Some(Host::Ipv4(address)) => is_private(IpAddr::V4(address)),
        Some(Host::Ipv6(address)) => is_private(IpAddr::V6(address)),
        None => true,
    }
}

/// The URL that a redirect leads to, or why it may not be followed. `private`: the configured URL is private.
///
/// # Errors
/// A sentence.
pub fn on(from: &Url, location: &str, private: bool) -> Result<Url, &'static str> {
    let next = from.join(location).map_err(|_| "the server redirects without an address")?;
    match (from.scheme(), next.scheme()) {
        ("https", "http") => Err("the server redirects from https to http"),
        (_, "http" | "https") if !private && is_private_url(&next) => {
            Err("the server redirects to a private address")
        }
        (_, "http" | "https") if next.has_host() => Ok(next),
        _ => Err("the server redirects to something that is not a web address"),
    }
}

/// Same host and port, with TLS if that was there; from none to TLS is the one change.
pub fn is_same_place(from: &Url, to: &Url) -> bool {
    let same = from.origin() == to.origin();
    let safer = from.scheme() == "http"
        && to.scheme() == "https"
        && from.host() == to.host()
        && from.port().is_none()
        && to.port().is_none();
    (same || safer) && to.username().is_empty() && to.password().is_none()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn url(text: &str) -> Url {
        Url::parse(text).unwrap()
    }

    #[test]
    fn it_goes_on_where_the_public_network_is() {
        let from = url("https://a.example/x/y?z");
        let to = |location| on(&from, location, false).map(String::from);
        assert_eq!(to("/b"), Ok("https://a.example/b".into()));
        assert_eq!(to("https://b.example/"), Ok("https://b.example/".into()));
        for refused in [
            "http://a.example/",
            "https://127.0.0.1/",
            "https://0x7f.1/",
            "https://[::1]/",
            "https://169.254.169.254/latest",
            "https://LOCALHOST/",
            "https://localhost./",
            "https://foo.localhost./",
            "https://127.0.0.1./",
            "file:///etc/passwd",
            "data:text/plain,x",
            "https://",
        ] {
            assert!(to(refused).is_err(), "{refused}");
        }
        assert!(on(&url("http://a.example/"), "https://b.example/", false).is_ok());
    }

    #[test]
    fn a_private_server_may_send_on_to_its_neighbours() {
        let from = url("http://127.0.0.1:80/");
        assert!(is_private_url(&from) && !is_private_url(&url("https://a.example/")));
        assert!(on(&from, "http://127.0.0.1:81/", true).is_ok());
        assert!(on(&url("https://10.0.0.1/"), "http://10.0.0.1/", true).is_err());
    }

    #[test]
    fn redirects_stay_at_their_place() {
        let same = |from: &str, to: &str| is_same_place(&Url::parse(from).unwrap(), &Url::parse(to).unwrap());
        assert!(same("https://a.com/x", "https://a.com/y") && same("http://a.com/", "https://a.com/"));
        assert!(!same("https://a.com/", "http://a.com/") && !same("https://a.com/", "https://b.com/"));
        assert!(
            !same("https://a.com/", "https://a.com:8443/")
                && !same("http://a.com:80/", "https://a.com:8080/")
        );
        assert!(!same("https://a.com/", "https://u:p@a.com/"));
    }
}
