//! Requests to the one server of a connection.
//!
//! Owns the client, the person's headers, and which redirects are followed: those that stay at the server and keep the
//! method. Must never send these headers anywhere else, or follow a redirect to another host.

use std::rc::Rc;

use harbor_ipc_proto::link::runner::{Remote, RemoteEnd};
use harbor_ipc_proto::secret::Secret;
use harbor_policy::remote::{AllowedAddresses, parse, place};
use harbor_web::address::Rules;
use harbor_web::body::is_packed;
use harbor_web::client::client;
use harbor_web::redirect::is_same_place;
use harbor_web::trouble::Trouble;
use reqwest::header::{AUTHORIZATION, HeaderMap, HeaderName, HeaderValue, LOCATION};
use reqwest::{Client, Method, Response, StatusCode};
use url::Url;

use crate::holder::Holder;

const MAX_REDIRECTS: usize = 3;

/// A request, ready to be sent.
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
    /// The person's login there. None if their own header says who asks.
    holder: Option<Rc<Holder>>,
}

impl Http {
    /// An HTTP client for this server; `env` names the proxies.
    ///
    /// # Errors
    /// When the definition forbids its own URL, or cannot be used.
    pub fn new(server: &Remote<'_>, env: &[(String, String)]) -> Result<Self, Trouble> {
        let (rules, url) = rules_of(server)?;
        let client = client(rules, &url, env)?;
        let wrong = |why: &str| Trouble::of(RemoteEnd::Forbidden, why);
        let mut own = HeaderMap::new();
        for (name, value) in &server.headers {
            let name = HeaderName::from_bytes(name.as_bytes())
                .map_err(|_| wrong("one of its headers has no valid name"))?;
            let mut value = HeaderValue::from_bytes(value.as_bytes())
                .map_err(|_| wrong(&format!("the value of its header {name} is not a single line")))?;
            value.set_sensitive(true);
            own.insert(name, value);
        }
        Ok(Self { client, url, own, holder: None })
    }

    /// The client with this grant, which is renewed when necessary.
    pub fn with_grant(mut self, holder: Option<Rc<Holder>>) -> Self {
        self.holder = holder.filter(|_| !self.says_who_asks());
        self
    }

    /// True if the person's own headers say who asks.
    pub fn says_who_asks(&self) -> bool {
        self.own.contains_key(AUTHORIZATION)
    }

    /// True if there is a login.
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

    /// Sends a request, and returns the answer's head. Redirects have been followed, and an expired grant was renewed.
    ///
    /// # Errors
    /// Why there is no answer, or why it may not be had.
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
        Err(Trouble::of(RemoteEnd::Forbidden, format!("{} redirects too many times", self.place())))
    }

    /// The URL that a redirect leads to, if it may be followed.
    fn follow(&self, from: &Url, answer: &Response) -> Result<Url, Trouble> {
        let status = answer.status().as_u16();
        let forbidden = |why: String| Trouble::of(RemoteEnd::Forbidden, why);
        let to =
            answer.headers().get(LOCATION).and_then(|to| to.to_str().ok()).and_then(|to| from.join(to).ok());
        let Some(to) = to else {
            return Err(forbidden(format!("{} redirects without an address (HTTP {status})", self.place())));
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
                "{here} redirects with HTTP {status}, as a web page does; is it the URL of an MCP server?"
            )));
        }
        Ok(to)
    }

    /// Nothing was offered but the bytes themselves: a packed answer could be of any size.
    fn plain(&self, answer: Response) -> Result<Response, Trouble> {
        match is_packed(&answer) {
            true => Err(Trouble::broken(format!(
                "{} answers in an encoding that Harbor did not ask for",
                self.place()
            ))),
            false => Ok(answer),
        }
    }
}

/// The rules of a definition, and its URL.
fn rules_of(server: &Remote<'_>) -> Result<(Rules, Url), Trouble> {
    let forbidden = |why: &str| Trouble::of(RemoteEnd::Forbidden, why);
    let url = parse(&server.url).map_err(forbidden)?;
    let rules = Rules::within(&url, AllowedAddresses::of(&url, server.allow_private), server.allow_http)?;
    Ok((rules, url))
}

#[cfg(test)]
mod tests {
    use super::*;
    use harbor_ipc_proto::link::runner::Transport;

    fn remote(url: &str, allow_private: bool, allow_http: bool) -> Remote<'static> {
        let url = url.to_owned().into();
        Remote {
            url,
            transport: Transport::Auto,
            headers: Vec::new(),
            allow_private,
            allow_http,
            grant: None,
        }
    }

    fn permitted(url: &str, allow_private: bool, allow_http: bool) -> bool {
        rules_of(&remote(url, allow_private, allow_http)).is_ok()
    }

    #[test]
    fn private_addresses_and_plain_http_are_for_those_who_say_so() {
        assert!(permitted("https://example.com/mcp", false, false));
        assert!(permitted("https://93.184.216.34/mcp", false, false));
        for url in ["https://10.0.0.1/", "https://[fe80::1]/", "https://0xa.1/", "https://169.254.169.254/"] {
            assert!(!permitted(url, false, true), "{url}");
            assert!(permitted(url, true, false), "{url}");
        }
        // Who types this machine's address means it.
        for url in
            ["http://127.0.0.1:3000/mcp", "http://localhost:3000/mcp", "https://[::1]/", "https://0x7f.1/"]
        {
            assert!(permitted(url, false, false), "{url}");
        }
        assert!(!permitted("http://example.com/mcp", true, false));
        assert!(!permitted("http://10.0.0.1/mcp", true, false));
        assert!(permitted("http://example.com/mcp", false, true));
        for url in ["ftp://example.com", "https://u:p@example.com/", "x", "https://"] {
            assert!(!permitted(url, true, true), "{url}");
        }
    }
}
