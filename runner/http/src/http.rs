//! Requests to the one server of a connection.
//!
//! Owns the client, the person's headers, and which redirects are followed: those that stay at the server and keep the
//! method. Must never send these headers anywhere else, or follow a redirect to another host.

use std::sync::Arc;
use std::time::Duration;

use harbor_ipc_proto::link::runner::{Remote, RemoteEnd};
use harbor_ipc_proto::secret::Secret;
use harbor_ipc_proto::via::{HEADER, IDENTITY};
use harbor_policy::remote::{place, says_loopback, says_private};
use reqwest::header::{AUTHORIZATION, CONTENT_ENCODING, HeaderMap, HeaderName, HeaderValue, LOCATION};
use reqwest::{Client, Method, NoProxy, Proxy, Response, StatusCode};
use url::Url;

use crate::address::{Resolver, Rules};
use crate::oauth::Holder;
use crate::trouble::Trouble;

const CONNECT_LIMIT: Duration = Duration::from_secs(10);

/// Shorter than what common servers keep a connection for: a request should not meet its end.
const IDLE: Duration = Duration::from_secs(4);

const MAX_REDIRECTS: usize = 3;

/// What a request says.
#[derive(Debug, Clone)]
pub struct Ask {
    pub method: Method,
    pub url: Url,
    pub headers: HeaderMap,
    pub body: Option<Vec<u8>>,
}

/// The way to one server.
#[derive(Debug)]
pub struct Http {
    client: Client,
    url: Url,
    own: HeaderMap,
    /// What the person has let Harbor do there; none where their own header says who asks.
    holder: Option<Holder>,
}

impl Http {
    /// For this server; `env` names the proxies.
    ///
    /// # Errors
    /// When the definition forbids its own URL, or cannot be used.
    pub fn new(server: &Remote<'_>, env: &[(String, String)]) -> Result<Self, Trouble> {
        let (rules, url) = Rules::of(server)?;
        let client = client(rules, &url, env)?;
        let wrong = |why: &str| Trouble::of(RemoteEnd::Forbidden, why);
        let mut own = HeaderMap::new();
        for (name, value) in &server.headers {
            let name = HeaderName::from_bytes(name.as_bytes())
                .map_err(|_| wrong("one of its headers has no name"))?;
            let mut value = HeaderValue::from_bytes(value.as_bytes())
                .map_err(|_| wrong(&format!("the value of its header {name} is not of one line")))?;
            value.set_sensitive(true);
            own.insert(name, value);
        }
        Ok(Self { client, url, own, holder: None })
    }

    /// With this grant, which is renewed when it has to be.
    pub fn with_grant(mut self, holder: Option<Holder>) -> Self {
        self.holder = holder.filter(|_| !self.says_who_asks());
        self
    }

    /// Whether the person's own headers say who asks.
    pub fn says_who_asks(&self) -> bool {
        self.own.contains_key(AUTHORIZATION)
    }

    /// Whether there is a grant.
    pub fn has_grant(&self) -> bool {
        self.holder.is_some()
    }

    /// The server's URL.
    pub fn url(&self) -> &Url {
        &self.url
    }

    /// Host and port.
    pub fn place(&self) -> String {
        place(&self.url)
    }

    /// Asks; gives the answer's head. Redirects have been followed, and a grant that had ended was renewed.
    ///
    /// # Errors
    /// Why there is no answer, or none that may be had.
    pub async fn ask(&self, ask: Ask) -> Result<Response, Trouble> {
        let Some(holder) = &self.holder else { return self.send(&ask, None).await };
        let token = holder.token().await?;
        let answer = self.send(&ask, Some(&token)).await?;
        if answer.status() != StatusCode::UNAUTHORIZED {
            return Ok(answer);
        }
        // What was refused like this was not looked at: it may be sent once more.
        match holder.renewed(&token).await? {
            Some(newer) => self.send(&ask, Some(&newer)).await,
            None => Ok(answer),
        }
    }

    async fn send(&self, ask: &Ask, token: Option<&Secret>) -> Result<Response, Trouble> {
        let Ask { method, url, headers, body } = ask;
        let mut url = url.clone();
        for _ in 0..=MAX_REDIRECTS {
            let mut request = self.client.request(method.clone(), url.clone()).headers(self.own.clone());
            for (name, value) in headers {
                request = request.header(name, value);
            }
            if let Some(token) = token {
                request = request.bearer_auth(token.expose());
            }
            if let Some(body) = body {
                request = request.body(body.clone());
            }
            let answer =
                request.send().await.map_err(|error| Trouble::from_request(&error, &self.place()))?;
            if !answer.status().is_redirection() || answer.status() == StatusCode::NOT_MODIFIED {
                return self.plain(answer);
            }
            url = self.follow(&url, &answer)?;
        }
        Err(Trouble::of(RemoteEnd::Forbidden, format!("{} redirects again and again", self.place())))
    }

    /// Where a redirect leads, if it may be followed.
    fn follow(&self, from: &Url, answer: &Response) -> Result<Url, Trouble> {
        let status = answer.status().as_u16();
        let forbidden = |why: String| Trouble::of(RemoteEnd::Forbidden, why);
        let to =
            answer.headers().get(LOCATION).and_then(|to| to.to_str().ok()).and_then(|to| from.join(to).ok());
        let Some(to) = to else {
            return Err(forbidden(format!("{} redirects to nowhere (HTTP {status})", self.place())));
        };
        let (here, there) = (place(from), place(&to));
        if !is_same_place(from, &to) {
            return Err(forbidden(format!(
                "{here} redirects to {there}; if that is right, add the server by its URL there"
            )));
        }
        // After others a POST would become a GET.
        if !matches!(status, 307 | 308) {
            return Err(forbidden(format!(
                "{here} redirects by HTTP {status}, as pages do; is it the URL of an MCP server?"
            )));
        }
        Ok(to)
    }

    /// Nothing was offered but the bytes themselves: a packed answer could be of any size.
    fn plain(&self, answer: Response) -> Result<Response, Trouble> {
        let packed = answer
            .headers()
            .get(CONTENT_ENCODING)
            .is_some_and(|how| !how.as_bytes().eq_ignore_ascii_case(b"identity"));
        match packed {
            true => Err(Trouble::broken(format!(
                "{} answers in an encoding that was not asked for",
                self.place()
            ))),
            false => Ok(answer),
        }
    }
}

/// A client for one place.
///
/// # Errors
/// When there is no TLS, or a proxy that is none.
pub fn client(rules: Rules, url: &Url, env: &[(String, String)]) -> Result<Client, Trouble> {
    let mut builder = Client::builder()
        .user_agent(concat!("harbor/", env!("CARGO_PKG_VERSION")))
        .no_proxy()
        .redirect(reqwest::redirect::Policy::none())
        .connect_timeout(CONNECT_LIMIT)
        .pool_idle_timeout(IDLE)
        .tcp_nodelay(true)
        .dns_resolver(Arc::new(Resolver(rules)))
        .default_headers(own_identity(url));
    // What is on this machine or beside it is behind no proxy.
    if !says_private(url)
        && let Some(proxy) = proxy(url, env)?
    {
        builder = builder.proxy(proxy);
    }
    builder.build().map_err(|_| {
        Trouble::of(RemoteEnd::Tls, "TLS cannot be used: this system's certificates cannot be read")
    })
}

/// What tells a server on this machine whose runner this is. Nobody else is told: it would know the person again by it.
fn own_identity(url: &Url) -> HeaderMap {
    let own = std::env::var(IDENTITY).ok().filter(|_| says_loopback(url));
    let own = own.and_then(|own| HeaderValue::from_str(&own).ok());
    own.map(|own| (HeaderName::from_static(HEADER), own)).into_iter().collect()
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
        .map_err(|_| Trouble::of(RemoteEnd::Unreachable, format!("{name} is no URL of a proxy")))?;
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
