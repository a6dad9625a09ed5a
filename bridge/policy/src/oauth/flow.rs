//! One authorization, as decisions: the next question, until there is a grant or a reason why not.
//!
//! ```text
//!  Probe ─► 401 and its challenge ─► Get: the resource's document ─► Get: that of its authorization server
//!    ─► known there? by what the person said, by a document of ours, or Register ─► Ask: the person's browser
//!    ─► Redirected ─► Redeem ─► Done
//! ```
//!
//! | stage | answer that is good | else |
//! |---|---|---|
//! | Probing | any | the documents' own places are tried |
//! | Resource | about this server, names an authorization server | the next place; none left: as of 2025-03-26, the host itself, unless the server has named a place |
//! | Issuer | its own name, S256 | the next place; none left: over |
//! | Registering | a client | over |
//! | Asking | our state, the right issuer, a code | over |
//! | Redeeming | tokens | over |
//!
//! Owns the order and the limits: each place is asked once. Codes, and proofs of who a client is, must never go to anybody but
//! the authorization server that the person was sent to.

use harbor_ipc_proto::json::Json;
use harbor_ipc_proto::link::oauth::{Client, Given, Grant, Proof, Wish};
use harbor_ipc_proto::link::runner::RemoteEnd;
use harbor_ipc_proto::secret::Secret;
use serde::Deserialize;
use url::Url;

use super::challenge::{self, Challenge};
use super::documents::{Issuer, Resource, Unusable};
use super::places;
use super::proof::Nonces;
use super::redirect::{self, InvalidRedirectReason, RedirectAnswer};
use super::token::{self, Refused, TokenForm};
use super::union;
use crate::remote::{AllowedAddresses, parse, place};

/// The scope for tokens that renew others. It is asked for where it is offered.
const OFFLINE: &str = "offline_access";

/// Names of clients, and what proves them, are not longer, in bytes.
const MAX_CLIENT: usize = 4096;

/// The next step for the driver.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LoginAction {
    /// Ask the server itself, without a grant; answered by `Probed`.
    Probe,
    /// Fetch a document; answered by `Answered` or `Unanswered`.
    Get(Url),
    /// Post JSON; likewise.
    Register(Url, String),
    /// Have the person's browser open this; answered by `Redirected`.
    Ask(Url),
    /// Post a form; answered as `Get`.
    Redeem(TokenForm),
    /// There is a grant.
    Done(Box<Grant>),
    /// It is over.
    Fail(Failure),
}

/// An event of the authorization.
#[derive(Debug, Clone, Copy)]
pub enum LoginEvent<'a> {
    /// The server has answered: the status, and its challenge.
    Probed(u16, &'a str),
    /// An answer: its status and its body.
    Answered(u16, &'a [u8]),
    /// There was none: why.
    Unanswered(&'a Failure),
    /// The query that the browser has brought.
    Redirected(&'a str),
}

/// The reason why the login failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// The kind of failure.
    pub kind: RemoteEnd,
    /// One sentence for people.
    pub why: String,
}

#[derive(Debug)]
enum LoginStage {
    Probing,
    /// The places that are left.
    Resource(Vec<Url>),
    Issuer(Vec<Url>),
    Registering,
    Asking,
    Redeeming,
    Over,
}

/// One authorization.
#[derive(Debug)]
pub struct Flow {
    server: Url,
    reach: AllowedAddresses,
    wish: Wish<'static>,
    nonces: Nonces,
    stage: LoginStage,
    /// True if the server has refused a request without a grant.
    is_refused: bool,
    challenge: Challenge,
    resource: String,
    /// The scopes in its document.
    supported: Vec<String>,
    /// The authorization server's name, and whether it was named by the server's document.
    issuer: String,
    is_named: bool,
    about: Option<Issuer>,
    /// The reason why a place gave no answer at all, if one did not.
    trouble: Option<Failure>,
    /// The place of the server's own document, and the answer that came from there instead.
    unread: Option<String>,
    client: Option<Client>,
    scopes: Vec<String>,
}

impl Flow {
    /// Begins one for the server at this URL.
    #[must_use]
    pub fn begin(
        server: Url,
        reach: AllowedAddresses,
        wish: Wish<'static>,
        nonces: Nonces,
    ) -> (Self, LoginAction) {
        let known = wish.challenge.as_deref().map(challenge::parse).filter(|known| known.is_bearer);
        let mut flow = Self {
            resource: places::canonical(&server),
            server,
            reach,
            wish,
            nonces,
            stage: LoginStage::Probing,
            is_refused: known.is_some(),
            challenge: known.unwrap_or_default(),
            supported: Vec::new(),
            issuer: String::new(),
            is_named: false,
            about: None,
            trouble: None,
            unread: None,
            client: None,
            scopes: Vec::new(),
        };
        let first = if flow.is_refused { flow.look_for_resource() } else { LoginAction::Probe };
        (flow, first)
    }

    /// The state that the person's answer has to repeat.
    #[must_use]
    pub fn state(&self) -> &Secret {
        self.nonces.state()
    }

    /// Takes what has happened; it is `now`, in milliseconds since 1970.
    pub fn on(&mut self, event: LoginEvent<'_>, now: u64) -> LoginAction {
        let action = match (std::mem::replace(&mut self.stage, LoginStage::Over), event) {
            (LoginStage::Probing, LoginEvent::Probed(status, said)) => {
                self.is_refused = matches!(status, 401 | 403);
                self.challenge = challenge::parse(said);
                self.look_for_resource()
            }
            (LoginStage::Resource(left), LoginEvent::Answered(status, body)) => {
                match Resource::read(body).filter(|_| status == 200) {
                    Some(said) => self.take_resource(said),
                    None if status == 200 => self.not_there(left, "has no such document"),
                    None => self.not_there(left, &format!("answered HTTP {status}")),
                }
            }
            (LoginStage::Resource(left), LoginEvent::Unanswered(why)) => self.not_there(left, &why.why),
            (LoginStage::Issuer(left), LoginEvent::Answered(200, body)) => {
                let read = match self.is_named {
                    true => Issuer::read(body, &self.issuer, self.reach),
                    false => Issuer::read_at_home(body, &places::base(&self.server), self.reach),
                };
                match read {
                    Ok(about) => self.take_issuer(about),
                    Err(Unusable::Garbled) => self.next_issuer(left),
                    Err(why) => self.unusable(why),
                }
            }
            (LoginStage::Issuer(left), LoginEvent::Answered(..)) => self.next_issuer(left),
            (LoginStage::Issuer(left), LoginEvent::Unanswered(why)) => {
                self.trouble.get_or_insert_with(|| why.clone());
                self.next_issuer(left)
            }
            (LoginStage::Registering, LoginEvent::Answered(status, body)) => self.take_client(status, body),
            (LoginStage::Asking, LoginEvent::Redirected(query)) => self.take_answer(query),
            (LoginStage::Redeeming, LoginEvent::Answered(status, body)) => {
                self.take_tokens(status, body, now)
            }
            (_, LoginEvent::Unanswered(why)) => LoginAction::Fail(why.clone()),
            _ => confused(),
        };
        if matches!(action, LoginAction::Done(_) | LoginAction::Fail(_)) {
            self.stage = LoginStage::Over;
        }
        action
    }

    fn look_for_resource(&mut self) -> LoginAction {
        let said = self.challenge.resource_metadata.clone();
        match said.map(|said| places::named(&said, self.reach)) {
            Some(Ok(url)) => {
                let mut places = places::of_resource(&self.server);
                places.retain(|place| *place != url);
                let left = [url].into_iter().chain(places).rev().collect();
                self.next_resource(left)
            }
            Some(Err(why)) => over(
                RemoteEnd::Forbidden,
                format!("{} says that its description is at {why}", place(&self.server)),
            ),
            None => {
                let mut left = places::of_resource(&self.server);
                left.reverse();
                self.next_resource(left)
            }
        }
    }

    /// Without any document, the server may be one of 2025-03-26: its host is its authorization server.
    fn next_resource(&mut self, mut left: Vec<Url>) -> LoginAction {
        if let Some(url) = left.pop() {
            self.stage = LoginStage::Resource(left);
            return LoginAction::Get(url);
        }
        match (&self.challenge.resource_metadata, &self.unread) {
            (Some(named), Some(unread)) => {
                let host = place(&self.server);
                let why = format!(
                    "{host} does not say where to sign in: {named:.500}, which it names for that, {unread}, and the \
                     usual places say nothing either"
                );
                over(RemoteEnd::NotAuthorized, why)
            }
            _ => self.look_at_home(),
        }
    }

    /// Notes what came from a place instead of a document. Only the first note counts.
    fn not_there(&mut self, left: Vec<Url>, what: &str) -> LoginAction {
        self.unread.get_or_insert_with(|| what.to_owned());
        self.next_resource(left)
    }

    fn look_at_home(&mut self) -> LoginAction {
        let base = places::base(&self.server);
        self.issuer = places::canonical(&base);
        self.look_for_issuer(&base)
    }

    fn take_resource(&mut self, said: Resource) -> LoginAction {
        let host = place(&self.server);
        match said.resource {
            Some(resource) if places::is_about(&resource, &self.server) => self.resource = resource,
            None => {}
            Some(_) => {
                let why = format!("the description that {host} gives of itself is about another server");
                return over(RemoteEnd::Forbidden, why);
            }
        }
        self.supported = said.scopes_supported;
        // One that the person has an account for at hand, if it is among them; else the first that may be asked.
        let wanted = self.wish.client.as_ref().and_then(|given| given.issuer.as_deref());
        let known = said.authorization_servers.iter().find(|issuer| Some(issuer.as_str()) == wanted);
        let mut refused = None;
        for issuer in known.into_iter().chain(&said.authorization_servers) {
            match places::named(issuer, self.reach) {
                Ok(url) => {
                    self.issuer.clone_from(issuer);
                    self.is_named = true;
                    return self.look_for_issuer(&url);
                }
                Err(why) => refused = Some(why),
            }
        }
        match refused {
            Some(why) => over(
                RemoteEnd::Forbidden,
                format!("{host} uses a sign-in that Harbor does not support: {why}"),
            ),
            None => self.look_at_home(),
        }
    }

    fn look_for_issuer(&mut self, issuer: &Url) -> LoginAction {
        let mut left = places::of_issuer(issuer);
        left.reverse();
        self.next_issuer(left)
    }

    fn next_issuer(&mut self, mut left: Vec<Url>) -> LoginAction {
        if let Some(url) = left.pop() {
            self.stage = LoginStage::Issuer(left);
            return LoginAction::Get(url);
        }
        if let Some(why) = self.trouble.take() {
            return LoginAction::Fail(why);
        }
        if !self.is_named && self.is_refused {
            return self.take_issuer(Issuer::by_default(&places::base(&self.server)));
        }
        let host = place(&self.server);
        over(
            RemoteEnd::NotAuthorized,
            match self.is_named {
                true => format!(
                    "{}, the authorization server of {host}, does not say how to sign in",
                    self.issuer_place()
                ),
                false => {
                    format!(
                        "{host} does not offer a sign-in (OAuth); give it a key with `harbor add … --header`"
                    )
                }
            },
        )
    }

    fn unusable(&self, why: Unusable) -> LoginAction {
        let host = self.issuer_place();
        let (kind, why) = match why {
            Unusable::Garbled | Unusable::Another => (
                RemoteEnd::Forbidden,
                format!("the description that {host} gives of itself is about another authorization server"),
            ),
            Unusable::NoPkce => {
                (RemoteEnd::Forbidden, format!("{host} does not offer PKCE (S256), which MCP requires"))
            }
            Unusable::Place(why) => (RemoteEnd::Forbidden, format!("{host} names {why}")),
        };
        over(kind, why)
    }

    fn take_issuer(&mut self, about: Issuer) -> LoginAction {
        self.issuer.clone_from(&about.issuer);
        let first = if self.challenge.scopes.is_empty() { &self.supported } else { &self.challenge.scopes };
        let offline = about.offers_offline.then_some(OFFLINE);
        let wanted = self.wish.scopes.iter().map(|scope| &**scope);
        self.scopes = union(first.iter().map(String::as_str).chain(wanted).chain(offline));
        let (given, document) = (self.wish.client.take(), self.wish.client_document.take());
        let register = about.registration_endpoint.clone();
        let (body, documents) = (self.registration(&about), about.takes_documents);
        let host = self.issuer_place();
        let proofs = about.proofs.clone();
        self.about = Some(about);
        match (given, document.filter(|_| documents), register) {
            (Some(Given { issuer: Some(of), .. }), ..) if *of != self.issuer => {
                let why = format!(
                    "the given client belongs to another authorization server than {host}; give one of {host} by \
                     `--client-id`"
                );
                over(RemoteEnd::NotAuthorized, why)
            }
            (Some(Given { id, secret, .. }), ..) => {
                let proof = match (&secret, proofs) {
                    (None, _) => Proof::None,
                    (Some(_), Some(all)) if !all.iter().any(|proof| proof == "client_secret_basic") => {
                        Proof::Post
                    }
                    (Some(_), _) => Proof::Basic,
                };
                self.ask(Client { id: id.into_owned(), secret, proof, is_given: true })
            }
            (None, Some(document), _) => {
                let id = document.into_owned();
                self.ask(Client { id, secret: None, proof: Proof::None, is_given: false })
            }
            (None, None, Some(url)) => {
                self.stage = LoginStage::Registering;
                LoginAction::Register(url, body)
            }
            (None, None, None) => {
                let why = format!(
                    "{host} accepts only registered clients; register Harbor there, with the redirect URI \
                     http://127.0.0.1/callback, and give its id by `--client-id`"
                );
                over(RemoteEnd::NotAuthorized, why)
            }
        }
    }

    /// The client's registration, as RFC 7591 has it.
    fn registration(&self, about: &Issuer) -> String {
        let offers =
            |proof: &str| about.proofs.as_ref().is_none_or(|all| all.iter().any(|offered| offered == proof));
        let proof =
            ["none", "client_secret_basic", "client_secret_post"].into_iter().find(|proof| offers(proof));
        let text = |text: &str| Json::string(text).into_string();
        let scope = match self.scopes.is_empty() {
            true => String::new(),
            false => format!(",\"scope\":{}", text(&self.scopes.join(" "))),
        };
        format!(
            "{{\"client_name\":\"Harbor\",\"application_type\":\"native\",\"redirect_uris\":[{}],\
             \"grant_types\":[\"authorization_code\",\"refresh_token\"],\"response_types\":[\"code\"],\
             \"token_endpoint_auth_method\":\"{}\"{scope}}}",
            text(&self.wish.redirect_uri),
            proof.unwrap_or("none"),
        )
    }

    fn take_client(&mut self, status: u16, body: &[u8]) -> LoginAction {
        #[derive(Deserialize)]
        struct Registered {
            client_id: String,
            client_secret: Option<Secret>,
            token_endpoint_auth_method: Option<String>,
        }
        let host = self.issuer_place();
        let said = serde_json::from_slice::<Registered>(body).ok().filter(|_| matches!(status, 200 | 201));
        let fits = |text: &str| !text.is_empty() && text.len() <= MAX_CLIENT;
        let said = said.filter(|said| {
            fits(&said.client_id) && said.client_secret.as_ref().is_none_or(|secret| fits(secret.expose()))
        });
        let Some(said) = said else {
            let why = format!(
                "{host} did not register Harbor as a client (HTTP {status}); register it there yourself, and give its \
                 id by `--client-id`"
            );
            return over(RemoteEnd::NotAuthorized, why);
        };
        let proof = match (&said.client_secret, said.token_endpoint_auth_method.as_deref()) {
            (None, _) | (_, Some("none")) => Proof::None,
            (_, Some("client_secret_post")) => Proof::Post,
            _ => Proof::Basic,
        };
        let secret = said.client_secret.filter(|_| proof != Proof::None);
        self.ask(Client { id: said.client_id, secret, proof, is_given: false })
    }

    fn ask(&mut self, client: Client) -> LoginAction {
        let Some(about) = &self.about else { return confused() };
        let mut url = about.authorization_endpoint.clone();
        let (challenge, scope) = (self.nonces.challenge(), self.scopes.join(" "));
        let mut query = url.query_pairs_mut();
        query
            .append_pair("response_type", "code")
            .append_pair("client_id", &client.id)
            .append_pair("redirect_uri", &self.wish.redirect_uri)
            .append_pair("state", self.nonces.state.expose())
            .append_pair("code_challenge", &challenge)
            .append_pair("code_challenge_method", "S256")
            .append_pair("resource", &self.resource);
        if !scope.is_empty() {
            query.append_pair("scope", &scope);
        }
        if self.scopes.iter().any(|scope| scope == OFFLINE) {
            // OpenID Connect gives it only to whom the person was asked about.
            query.append_pair("prompt", "consent");
        }
        drop(query);
        self.client = Some(client);
        self.stage = LoginStage::Asking;
        LoginAction::Ask(url)
    }

    fn take_answer(&mut self, query: &str) -> LoginAction {
        let host = self.issuer_place();
        let (Some(about), Some(client)) = (&self.about, &self.client) else { return confused() };
        let code = match redirect::read(query, &self.nonces.state, &about.issuer, about.says_issuer) {
            Ok(RedirectAnswer::Code(code)) => code,
            Ok(RedirectAnswer::Error("access_denied")) => {
                return over(RemoteEnd::NotAuthorized, format!("{host} says that you refused"));
            }
            Ok(RedirectAnswer::Error(word)) => {
                return over(RemoteEnd::NotAuthorized, format!("{host} answered with an error ({word})"));
            }
            Err(InvalidRedirectReason::Issuer) => {
                let why = format!("the answer comes from another authorization server than {host}");
                return over(RemoteEnd::Forbidden, why);
            }
            Err(InvalidRedirectReason::State | InvalidRedirectReason::Garbled) => {
                return over(RemoteEnd::NotAuthorized, format!("the answer of {host} is not valid"));
            }
        };
        let fields = [
            ("grant_type", "authorization_code"),
            ("code", code.expose()),
            ("redirect_uri", &self.wish.redirect_uri),
            ("code_verifier", self.nonces.verifier.expose()),
            ("resource", &self.resource),
        ];
        self.stage = LoginStage::Redeeming;
        LoginAction::Redeem(TokenForm::of(about.token_endpoint.as_str(), client, &fields))
    }

    fn take_tokens(&mut self, status: u16, body: &[u8], now: u64) -> LoginAction {
        let host = self.issuer_place();
        let (Some(about), Some(client)) = (self.about.take(), self.client.take()) else { return confused() };
        let none = Grant {
            access_token: Secret::default(),
            refresh_token: None,
            expires_at: None,
            scopes: std::mem::take(&mut self.scopes),
            granted_at: now,
            client,
            issuer: about.issuer,
            token_endpoint: about.token_endpoint.into(),
            revocation_endpoint: about.revocation_endpoint.map(Into::into),
            resource: self.resource.clone(),
        };
        match token::renewed(&none, status, body, now) {
            Ok(grant) => LoginAction::Done(grant.into()),
            Err(Refused::ForGood(word)) => {
                over(RemoteEnd::NotAuthorized, format!("{host} gave no token: {word}"))
            }
            Err(Refused::ForNow) => over(
                RemoteEnd::NotAuthorized,
                format!("{host} gave no token (HTTP {status}); try again later"),
            ),
            Err(Refused::Garbled) => {
                over(RemoteEnd::NotAuthorized, format!("the answer of {host} is not a token (HTTP {status})"))
            }
        }
    }

    fn issuer_place(&self) -> String {
        parse(&self.issuer).map_or_else(|_| place(&self.server), |url| place(&url))
    }
}

fn confused() -> LoginAction {
    over(RemoteEnd::NotAuthorized, "an answer arrived without a request".into())
}

fn over(kind: RemoteEnd, why: String) -> LoginAction {
    LoginAction::Fail(Failure { kind, why })
}

#[cfg(test)]
mod tests;
