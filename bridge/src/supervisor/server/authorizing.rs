//! Has the person let Harbor in at a remote server, and gives that login back.
//!
//! ```text
//!  authorize ─► a runner of its own ─► AskPerson ─► Asked: the URL ─► answered ─► Landing: the query ─► the runner
//!                                                                                    Granted ─► stored ◄──┘
//! ```
//!
//! Owns the limits of time, and what is believed of that runner: the URL may be opened, the login is for this server. Dropping an
//! [`Asked`] ends all of it.

use std::borrow::Cow;
use std::io::ErrorKind;
use std::rc::Rc;
use std::time::{Duration, Instant};

use harbor_home::clock::wall_clock;
use harbor_ipc_proto::link::oauth::{Given, Grant, Wish};
use harbor_ipc_proto::link::runner::{Launch, ToRunner};
use harbor_ipc_proto::secret::Secret;
use harbor_policy::credentials::{Credential, Credentials};
use harbor_policy::oauth::KEY;
use harbor_policy::oauth::places::named;
use harbor_policy::remote::{AllowedAddresses, parse};
use tokio::sync::mpsc;
use tokio::time::{timeout, timeout_at};

use super::Server;
use super::remote_start::is_for;
use super::secrets::wipe;
use crate::link::runner::{Purpose, RunnerKind};
use crate::link::{EndReport, LinkEvent};
use crate::oauth_callback::{Name, RedirectListener};
use crate::supervisor::errand_runners::ErrandRunnerGuard;

/// How long the search for the sign-in page may take.
const DISCOVERY: Duration = Duration::from_secs(90);

/// How long the person may think.
pub const PERSON: Duration = Duration::from_secs(300);

/// How long tokens may take to come, or to be revoked.
const EXCHANGE: Duration = Duration::from_secs(45);

/// A person's wishes for an authorization.
#[derive(Debug, Default)]
pub struct AuthorizationRequest {
    /// The client as which Harbor is known there: a name, and what proves it.
    pub client: Option<(String, Option<Secret>)>,
    /// The scopes that are wanted besides those that the server asks for.
    pub scopes: Vec<String>,
    /// The port that the browser comes back to; 0 for any.
    pub port: u16,
    /// The name of this machine there.
    pub name: Name,
}

/// An authorization that waits for its person.
pub struct PendingAuthorization {
    /// The URL that the person is to open.
    pub url: String,
    deadline: Instant,
    redirect_uri: String,
    state: Secret,
    landing: RedirectListener,
    known: ErrandRunnerGuard,
    events: mpsc::Receiver<LinkEvent>,
    server: Rc<Server>,
}

impl std::fmt::Debug for PendingAuthorization {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Asked").field("server", &self.server.id()).finish_non_exhaustive()
    }
}

impl Server {
    /// Finds out where the person has to be sent.
    ///
    /// # Errors
    /// Why the person cannot be asked.
    pub async fn authorize(
        self: &Rc<Self>,
        wanted: AuthorizationRequest,
    ) -> Result<PendingAuthorization, Rc<EndReport>> {
        let (launch, secrets) = self.launch_of_errand().await?;
        let landing = RedirectListener::open(wanted.name, wanted.port).await;
        let landing = landing.map_err(|error| match (wanted.port, error.kind()) {
            (1.., ErrorKind::AddrInUse) => failed(format!(
                "port {} of this machine is in use, but the answer must arrive there; end the program that listens there, or choose another port by `--port`",
                wanted.port
            )),
            _ => failed(format!("could not listen for the answer: {error}")),
        })?;
        let redirect_uri = landing.uri();
        let wish = self.wish(wanted, secrets.grant(), &redirect_uri);
        let (known, mut events) = self.runner_of_errand()?;
        let message = ToRunner::Authorize { server: 0, launch, wish };
        known.runner.link.send(&message);
        wipe(message);
        let asked = timeout(DISCOVERY, next(&mut events)).await;
        let asked = asked.unwrap_or_else(|_| Err(failed("the server did not say in time where to sign in")));
        // What it said before may be what led astray.
        let said = asked.inspect_err(|_| self.forget_challenge())?;
        let AuthorizationEvent::Ask(url, state) = said else {
            return Err(failed("its runner did not ask for the sign-in"));
        };
        named(&url, self.reach()).map_err(|why| failed(format!("its runner asked to open {why}")))?;
        let (deadline, server) = (Instant::now() + PERSON, self.clone());
        Ok(PendingAuthorization { url, deadline, redirect_uri, state, landing, known, events, server })
    }

    /// The addresses that the server, and the hosts that it names, may have.
    fn reach(&self) -> AllowedAddresses {
        let definition = self.definition();
        let remote = definition.remote.as_ref();
        let reach = remote
            .and_then(|remote| Some(AllowedAddresses::of(&parse(&remote.url).ok()?, remote.allow_private)));
        reach.unwrap_or(AllowedAddresses::Public)
    }

    pub(super) fn runner_of_errand(
        &self,
    ) -> Result<(ErrandRunnerGuard, mpsc::Receiver<LinkEvent>), Rc<EndReport>> {
        let started = self.runners().runner_of_errand(RunnerKind::Remote, Purpose::Isolated);
        started.map_err(|error| failed(format!("could not start a runner: {error}")))
    }

    /// Its address, headers and secrets, for an errand.
    pub(super) async fn launch_of_errand(&self) -> Result<(Launch<'static>, Credentials), Rc<EndReport>> {
        let definition = self.definition();
        let Some(remote) = &definition.remote else {
            return Err(failed("it runs on this machine: `harbor secrets set` gives it its keys"));
        };
        let secrets = self.secrets().await.map_err(|unprepared| match unprepared.missing.as_slice() {
            [] => failed(format!("could not {}", unprepared.why)),
            missing => Rc::new(self.lacks(missing)),
        })?;
        let remote = self.filled(remote, &secrets).map_err(|key| Rc::new(self.lacks(&[key])))?;
        Ok((self.launch_to(remote), secrets))
    }

    fn wish(&self, wanted: AuthorizationRequest, before: Option<Grant>, redirect_uri: &str) -> Wish<'static> {
        let own = |text: String| Cow::<'static, str>::Owned(text);
        let said = wanted.client.map(|(id, secret)| Given { id: own(id), secret, issuer: None });
        let known = before.as_ref().filter(|before| before.client.is_given);
        let known = known.map(|before| {
            let client = before.client.clone();
            Given { id: own(client.id), secret: client.secret, issuer: Some(own(before.issuer.clone())) }
        });
        let granted = before.map(|before| before.scopes).unwrap_or_default();
        Wish {
            redirect_uri: redirect_uri.to_owned().into(),
            client: said.or(known),
            client_document: self.runners().shared.config.now().client_document.clone().map(own),
            scopes: granted.into_iter().chain(wanted.scopes).map(own).collect(),
            challenge: self.challenge().map(own),
        }
    }

    /// The login that the person has given Harbor there.
    ///
    /// # Errors
    /// When the secrets cannot be read.
    pub async fn grant(&self) -> Result<Option<Grant>, Rc<EndReport>> {
        let secrets = self.runners().shared.secrets.of(self.id().as_str()).await;
        secrets.map(|secrets| secrets.grant()).map_err(|error| failed(format!("could not {error}")))
    }

    /// Tells the authorization server that the login is given back.
    ///
    /// # Errors
    /// Why it does not know.
    pub async fn give_back(&self) -> Result<(), Rc<EndReport>> {
        let (launch, _) = self.launch_of_errand().await?;
        let (known, mut events) = self.runner_of_errand()?;
        let message = ToRunner::Revoke { server: 0, launch };
        known.runner.link.send(&message);
        wipe(message);
        let told = timeout(EXCHANGE, next(&mut events)).await;
        match told.unwrap_or_else(|_| Err(failed("the authorization server did not answer in time")))? {
            AuthorizationEvent::Over => Ok(()),
            AuthorizationEvent::Ask(..) | AuthorizationEvent::Granted(_) => {
                Err(failed("its runner sent another kind of answer"))
            }
        }
    }
}

impl PendingAuthorization {
    /// The address to which the person's browser returns.
    #[must_use]
    pub fn redirect_uri(&self) -> &str {
        &self.redirect_uri
    }

    /// Waits for the person, and has the login stored.
    ///
    /// # Errors
    /// Why there is no login.
    pub async fn answered(mut self) -> Result<Grant, Rc<EndReport>> {
        let query = timeout_at(self.deadline.into(), self.landing.query(&self.state)).await;
        let query = query.map_err(|_| failed("no answer came from your browser within five minutes"))?;
        self.known.runner.link.send(&ToRunner::Redirected { server: 0, query });
        let said = timeout(EXCHANGE, next(&mut self.events)).await;
        let said = said.unwrap_or_else(|_| Err(failed("the authorization server gave no token in time")))?;
        let AuthorizationEvent::Granted(grant) = said else { return Err(failed("its runner has no login")) };
        let definition = self.server.definition();
        let is_its_own = definition.remote.as_ref().is_some_and(|remote| is_for(&grant, &remote.url));
        if !is_its_own || self.server.identity.is_gone() {
            return Err(failed("the server has changed in the meantime"));
        }
        let credential = Credential::of_grant(Grant::clone(&grant), wall_clock());
        let secrets = &self.server.runners().shared.secrets;
        let stored = secrets.put(self.server.id().as_str(), vec![(KEY.to_owned(), credential)]).await;
        stored.map_err(|error| failed(format!("could not {error}")))?;
        self.server.forget_challenge();
        Ok(*grant)
    }
}

/// The message of such a runner.
enum AuthorizationEvent {
    Ask(String, Secret),
    Granted(Box<Grant>),
    Over,
}

async fn next(events: &mut mpsc::Receiver<LinkEvent>) -> Result<AuthorizationEvent, Rc<EndReport>> {
    while let Some(event) = events.recv().await {
        match event {
            LinkEvent::AskPerson { url, state, .. } => return Ok(AuthorizationEvent::Ask(url, state)),
            LinkEvent::Granted { grant, .. } => return Ok(AuthorizationEvent::Granted(grant)),
            LinkEvent::Ended { report, .. } if report.was_asked_for() => return Ok(AuthorizationEvent::Over),
            LinkEvent::Ended { report, .. } | LinkEvent::Closed { report } => return Err(report),
            _ => {}
        }
    }
    Err(failed("its runner has ended"))
}

pub(super) fn failed(why: impl Into<String>) -> Rc<EndReport> {
    Rc::new(EndReport::because("not_authorized", why))
}
