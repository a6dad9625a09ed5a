//! The URLs that may be asked, and the places where documents are looked for.
//!
//! ```text
//!  https://a.example/mcp     ─► /.well-known/oauth-protected-resource/mcp, /.well-known/oauth-protected-resource
//!  https://b.example/tenant  ─► /.well-known/oauth-authorization-server/tenant, /.well-known/openid-configuration/tenant,
//!                               /tenant/.well-known/openid-configuration
//! ```
//!
//! Owns these rules. Must never let a document lead to a private place, unless the person allows those for the server.

use url::Url;

use crate::remote::{AllowedAddresses, is_exposed, parse};

/// The URL that a document names, if it may be asked: within the reach of its server, and with TLS, but for this machine.
///
/// # Errors
/// Why not.
pub fn named(text: &str, reach: AllowedAddresses) -> Result<Url, &'static str> {
    let url = parse(text).map_err(|_| "something that is not an HTTP URL")?;
    if !reach.permits_host(&url) {
        Err("a private address; `--allow-private` of the server allows that")
    } else if is_exposed(&url) {
        Err("an address without TLS")
    } else if url.fragment().is_some() {
        Err("a URL with a fragment")
    } else {
        Ok(url)
    }
}

/// The possible addresses of a server's document, if the server does not name it.
#[must_use]
pub fn of_resource(server: &Url) -> Vec<Url> {
    let mut places = vec![well_known(server, "oauth-protected-resource", path(server))];
    places.push(well_known(server, "oauth-protected-resource", ""));
    places.dedup();
    places
}

/// The possible addresses of an authorization server's document, in MCP's order.
#[must_use]
pub fn of_issuer(issuer: &Url) -> Vec<Url> {
    let path = path(issuer);
    let mut places = vec![
        well_known(issuer, "oauth-authorization-server", path),
        well_known(issuer, "openid-configuration", path),
    ];
    if !path.is_empty() {
        let mut appended = issuer.clone();
        appended.set_query(None);
        appended.set_path(&format!("{path}/.well-known/openid-configuration"));
        places.push(appended);
    }
    places
}

/// The server's own host: where servers of 2025-03-26 have their authorization server.
#[must_use]
pub fn base(server: &Url) -> Url {
    at(server, "/")
}

/// Another path at the same host.
#[must_use]
pub fn at(server: &Url, path: &str) -> Url {
    let mut url = server.clone();
    url.set_query(None);
    url.set_fragment(None);
    url.set_path(path);
    url
}

fn well_known(url: &Url, name: &str, path: &str) -> Url {
    at(url, &format!("/.well-known/{name}{path}"))
}

/// Without the slash at its end; empty for none.
fn path(url: &Url) -> &str {
    url.path().trim_end_matches('/')
}

/// The name of a server in requests for tokens: its URL without possibly secret parts, and without a meaningless slash.
#[must_use]
pub fn canonical(server: &Url) -> String {
    let plain = at(server, server.path()).to_string();
    match server.path() {
        "/" => plain.trim_end_matches('/').to_owned(),
        _ => plain,
    }
}

/// True if a document that calls itself `resource` is about this server: the same host, and its path or one above.
#[must_use]
pub fn is_about(resource: &str, server: &Url) -> bool {
    let Ok(resource) = parse(resource) else { return false };
    let (above, own) = (path(&resource), server.path());
    let is_above = own.strip_prefix(above).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
    resource.origin() == server.origin() && is_above && resource.fragment().is_none()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn url(text: &str) -> Url {
        Url::parse(text).unwrap()
    }

    fn texts(places: Vec<Url>) -> Vec<String> {
        places.into_iter().map(String::from).collect()
    }

    #[test]
    fn documents_are_where_the_rfcs_say() {
        assert_eq!(
            texts(of_resource(&url("https://a.example:8443/public/mcp/?key=1"))),
            [
                "https://a.example:8443/.well-known/oauth-protected-resource/public/mcp",
                "https://a.example:8443/.well-known/oauth-protected-resource"
            ]
        );
        assert_eq!(of_resource(&url("https://a.example")).len(), 1);
        assert_eq!(
            texts(of_issuer(&url("https://b.example/tenant1"))),
            [
                "https://b.example/.well-known/oauth-authorization-server/tenant1",
                "https://b.example/.well-known/openid-configuration/tenant1",
                "https://b.example/tenant1/.well-known/openid-configuration"
            ]
        );
        assert_eq!(
            texts(of_issuer(&url("https://b.example/"))),
            [
                "https://b.example/.well-known/oauth-authorization-server",
                "https://b.example/.well-known/openid-configuration"
            ]
        );
    }

    #[test]
    fn documents_do_not_lead_to_private_places() {
        let may = |text: &str| {
            let reaches = [AllowedAddresses::Public, AllowedAddresses::Loopback, AllowedAddresses::Private];
            reaches.map(|reach| named(text, reach).is_ok())
        };
        assert_eq!(may("https://a.example/x?y"), [true; 3]);
        for text in ["https://10.0.0.1/", "https://169.254.169.254/", "https://[fe80::1]/"] {
            assert_eq!(may(text), [false, false, true], "{text}");
        }
        // What is at this machine may name this machine.
        for text in ["https://[::1]/", "http://localhost:1/", "http://127.0.0.2:1/"] {
            assert_eq!(may(text), [false, true, true], "{text}");
        }
        for text in [
            "http://a.example/",
            "http://10.0.0.1/",
            "javascript:alert(1)",
            "file:///etc/passwd",
            "https://u:p@a.example/",
            "https://a.example/#x",
            "",
        ] {
            assert_eq!(may(text), [false; 3], "{text}");
        }
    }

    #[test]
    fn a_resource_is_the_server_or_stands_above_it() {
        let server = url("https://a.example/mcp/x?key=s3cret");
        for text in ["https://a.example", "https://A.example/mcp", "https://a.example/mcp/x"] {
            assert!(is_about(text, &server), "{text}");
        }
        for text in
            ["https://b.example/mcp/x", "https://a.example/mc", "http://a.example/", "https://a.example:1/"]
        {
            assert!(!is_about(text, &server), "{text}");
        }
        assert_eq!(canonical(&server), "https://a.example/mcp/x");
        assert_eq!(canonical(&url("https://A.example/")), "https://a.example");
    }
}
