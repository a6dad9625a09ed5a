//! The way out: the egress proxy of the server, and what it says when it carries nothing.
//!
//! ```text
//!  http:  the proxy answers itself: `Proxy-Status: harbor-egress` ┐
//!  https: there is no tunnel, and the client does not say why     ┴─► CONNECT once more, by hand ─► the proxy's sentence
//! ```
//!
//! Owns the client. Must never take a server's answer for the proxy's words: only the proxy itself is asked for them.

use std::net::SocketAddr;

use harbor_ipc_proto::link::runner::RemoteEnd;
use harbor_policy::environment::SERVER_MARK;
use harbor_policy::remote::{AllowedAddresses, place};
use harbor_policy::sandbox::hint::EGRESS;
use harbor_web::address::Rules;
use harbor_web::client::through;
use harbor_web::trouble::Trouble;
use reqwest::{Client, Request, Response};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use url::Url;

use super::failure::FetchFailure;

/// The most bytes of the proxy's own answer that are read.
const MAX_ANSWER: u64 = 8 * 1024;

/// The way out.
pub(super) struct Egress {
    client: Client,
    proxy: SocketAddr,
    /// The server's name, for sentences about its options.
    server: String,
}

impl Egress {
    /// By a proxy on this machine.
    ///
    /// # Errors
    /// When there is no TLS, or the proxy is elsewhere.
    pub(super) fn new(proxy: SocketAddr) -> Result<Self, Trouble> {
        let url = Url::parse(&format!("http://{proxy}"))
            .map_err(|_| Trouble::of(RemoteEnd::Unreachable, "the proxy's address is none"))?;
        let rules = Rules::within(&url, AllowedAddresses::Loopback, false)?;
        let server = std::env::var(SERVER_MARK).unwrap_or_else(|_| "NAME".into());
        Ok(Self { client: through(rules, &url)?, proxy, server })
    }

    /// Sends one request.
    ///
    /// # Errors
    /// A sentence: the proxy's if it does not let this through.
    pub(super) async fn send(&self, request: Request) -> Result<Response, FetchFailure> {
        let url = request.url().clone();
        match self.client.execute(request).await {
            Ok(answer) if is_of_proxy(&answer) => match self.refusal(&url).await {
                Some(why) => Err(why),
                None => Ok(answer),
            },
            Ok(answer) => Ok(answer),
            Err(error) => {
                let refusal = if error.is_connect() { self.refusal(&url).await } else { None };
                let trouble = || FetchFailure::Trouble(Trouble::from_request(&error, &place(&url)));
                Err(refusal.unwrap_or_else(trouble))
            }
        }
    }

    /// Why the proxy lets nothing through there. None if it does.
    async fn refusal(&self, url: &Url) -> Option<FetchFailure> {
        let target = format!("{}:{}", url.host_str()?, url.port_or_known_default()?);
        let mut proxy = match TcpStream::connect(self.proxy).await {
            Ok(proxy) => proxy,
            Err(_) => return Some(FetchFailure::NoProxy),
        };
        proxy.write_all(format!("CONNECT {target} HTTP/1.1\r\n\r\n").as_bytes()).await.ok()?;
        let (mut answer, mut rest) = (Vec::new(), proxy.take(MAX_ANSWER));
        while answer.len() < GRANTED.len() {
            if rest.read_buf(&mut answer).await.ok()? == 0 {
                return None;
            }
        }
        if answer.starts_with(GRANTED) {
            return None;
        }
        rest.read_to_end(&mut answer).await.ok()?;
        let answer = String::from_utf8(answer).ok()?;
        let (_, why) = answer.split_once("\r\n\r\n")?;
        let why = why.trim_end().replacen(" NAME ", &format!(" {} ", self.server), 1);
        Some(FetchFailure::Proxy(why))
    }
}

/// The beginning of the proxy's answer when a tunnel stands.
const GRANTED: &[u8] = b"HTTP/1.1 200";

/// True if an answer says that the proxy gave it. Any server can say so.
fn is_of_proxy(answer: &Response) -> bool {
    let status = answer.headers().get("proxy-status");
    answer.url().scheme() == "http"
        && status.is_some_and(|status| status.as_bytes().starts_with(EGRESS.as_bytes()))
}
