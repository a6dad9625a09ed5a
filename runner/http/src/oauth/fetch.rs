//! Documents and forms, at places that documents name.
//!
//! Owns the limits of time and size, and refuses addresses that the server's definition forbids.

use std::time::Duration;

use harbor_ipc_proto::link::runner::Remote;
use harbor_policy::oauth::MAX_ANSWER;
use harbor_policy::oauth::flow::Failure;
use harbor_policy::oauth::token::TokenForm;
use harbor_policy::remote::{AllowedAddresses, parse, place};
use reqwest::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderValue, LOCATION};
use reqwest::{Client, RequestBuilder, Response};
use tokio::time::timeout;
use url::Url;
use zeroize::Zeroizing;

use harbor_web::address::Rules;
use harbor_web::client::client;
use harbor_web::redirect::is_same_place;
use harbor_web::trouble::Trouble;

/// One request, from the lookup to the last byte.
const LIMIT: Duration = Duration::from_secs(30);

const MAX_REDIRECTS: usize = 3;

/// An answer: a status and a body, which may have tokens in it.
pub type Heard = (u16, Zeroizing<Vec<u8>>);

/// Fetches for one server.
#[derive(Debug)]
pub struct Fetch {
    /// The addresses that the server may have. They hold for every URL, whoever names it.
    pub reach: AllowedAddresses,
    pub env: Vec<(String, String)>,
}

/// The addresses that a server, and the URLs that it names, may have.
pub fn reach_of(server: &Remote<'_>) -> AllowedAddresses {
    parse(&server.url)
        .map_or(AllowedAddresses::Public, |url| AllowedAddresses::of(&url, server.allow_private))
}

impl Fetch {
    /// Fetches a document. Redirects are followed at the same place.
    ///
    /// # Errors
    /// Why there is no document.
    pub async fn get(&self, url: &Url) -> Result<Heard, Failure> {
        let client = self.client(url)?;
        let fetch = async {
            let mut url = url.clone();
            for _ in 0..=MAX_REDIRECTS {
                let answer = send(client.get(url.clone()), &url).await?;
                let to = answer.headers().get(LOCATION).and_then(|to| url.join(to.to_str().ok()?).ok());
                match to.filter(|to| answer.status().is_redirection() && is_same_place(&url, to)) {
                    Some(to) => url = to,
                    None => return read(answer, &url).await,
                }
            }
            Err(Trouble::broken(format!("{} redirects too many times", place(&url))))
        };
        in_time(fetch, url).await
    }

    /// Posts JSON.
    ///
    /// # Errors
    /// Why there is no answer.
    pub async fn post_json(&self, url: &Url, body: String) -> Result<Heard, Failure> {
        let request = self.client(url)?.post(url.clone()).header(CONTENT_TYPE, "application/json").body(body);
        in_time(async { read(send(request, url).await?, url).await }, url).await
    }

    /// Posts a form.
    ///
    /// # Errors
    /// Why there is no answer.
    pub async fn post(&self, form: &TokenForm) -> Result<Heard, Failure> {
        let url = parse(&form.url).map_err(|_| of(Trouble::broken("the token endpoint is not a URL")))?;
        let mut request = self.client(&url)?.post(url.clone());
        if let Some(mut basic) =
            form.basic.as_ref().and_then(|basic| HeaderValue::from_str(basic.expose()).ok())
        {
            basic.set_sensitive(true);
            request = request.header(AUTHORIZATION, basic);
        }
        let kind = "application/x-www-form-urlencoded";
        let request = request.header(CONTENT_TYPE, kind).body(form.body.expose().to_owned());
        in_time(async { read(send(request, &url).await?, &url).await }, &url).await
    }

    fn client(&self, url: &Url) -> Result<Client, Failure> {
        let rules = Rules::within(url, self.reach, false).map_err(of)?;
        client(rules, url, &self.env).map_err(of)
    }
}

async fn in_time(fetch: impl Future<Output = Result<Heard, Trouble>>, url: &Url) -> Result<Heard, Failure> {
    let late = || Trouble::broken(format!("{} did not answer in time", place(url)));
    timeout(LIMIT, fetch).await.unwrap_or_else(|_| Err(late())).map_err(of)
}

async fn send(request: RequestBuilder, url: &Url) -> Result<Response, Trouble> {
    let sent = request.header(ACCEPT, "application/json").send().await;
    sent.map_err(|error| Trouble::from_request(&error, &place(url)))
}

async fn read(mut answer: Response, url: &Url) -> Result<Heard, Trouble> {
    let status = answer.status().as_u16();
    // What grows leaves copies behind.
    let length = answer.content_length().and_then(|length| usize::try_from(length).ok()).unwrap_or(4096);
    let mut body = Zeroizing::new(Vec::with_capacity(length.min(MAX_ANSWER)));
    while let Some(piece) =
        answer.chunk().await.map_err(|error| Trouble::from_request(&error, &place(url)))?
    {
        if body.len() + piece.len() > MAX_ANSWER {
            return Err(Trouble::broken(format!("{} answers with more than 1 MiB", place(url))));
        }
        body.extend_from_slice(&piece);
    }
    Ok((status, body))
}

/// Turns it into a failure of an authorization.
pub fn of(trouble: Trouble) -> Failure {
    Failure { kind: trouble.kind, why: trouble.why }
}
