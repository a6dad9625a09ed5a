//! The login of a remote server, while it runs: the bridge has it renewed.
//!
//! ```text
//!  Stale ─► turn ─► is it still the stored one? ─► a runner of its own: Renew ─► Granted ─► stored ─► hidden ─► Renewed
//!                     └► no: that one ──────────────────────────────────────────────────────────────────┘
//! ```
//!
//! Owns that a refresh token is used once, and that the new login is stored before it is used: nothing that ends a call, a server
//! or its runner ends a renewal. Must never take more from a runner than tokens: their origin is what the person said yes to.

use std::rc::Rc;
use std::time::Duration;

use harbor_home::clock::wall_clock;
use harbor_ipc_proto::link::oauth::{Grant, Renewal};
use harbor_ipc_proto::link::runner::ToRunner;
use harbor_ipc_proto::secret::Secret;
use harbor_ipc_proto::server_id::ServerId;
use harbor_policy::credentials::{Credential, Credentials};
use harbor_policy::oauth::KEY;
use tokio::time::timeout;

use super::Server;
use super::authorizing::failed;
use super::secrets::wipe;
use crate::link::{EndReport, LinkEvent};
use crate::store::StoreError;
use crate::supervisor::runners::Runners;

/// The cause of the end of a runner that has heard that there will be no newer login.
const REFUSED: &str = "not_authorized";

/// How long a renewal may take.
const LIMIT: Duration = Duration::from_secs(45);

/// The pause before the disk is asked again to take a renewed login.
const AGAIN: Duration = Duration::from_secs(5);

/// There will be no newer login; the authorization server's word.
struct RenewalRefusal(String);

impl Runners {
    /// Stores a renewed login, if one is not stored yet.
    async fn store_login(&self, id: &ServerId) -> Result<(), StoreError> {
        let Some(grant) = self.renewals.unstored(id) else { return Ok(()) };
        let credential = Credential::of_grant(grant, wall_clock());
        // If the person has signed in anew or taken the login away meanwhile, this changes nothing.
        self.shared.secrets.renew(id.as_str(), KEY, credential).await?;
        self.renewals.stored(id);
        Ok(())
    }

    /// Stores all renewed logins: the bridge ends, and what is not stored now is lost.
    pub(in crate::supervisor) async fn store_logins(&self) {
        for id in self.renewals.all_unstored() {
            if let Err(error) = self.store_login(&id).await {
                tracing::error!(server = %id, %error, "its renewed login could not be stored and is lost");
            }
        }
    }
}

impl Server {
    /// Handles a token that has ended, or was refused.
    pub(super) fn on_stale(self: &Rc<Self>, number: u32, token: Secret) {
        let place = self.place.present().filter(|place| place.number == number);
        let Some(place) = place else { return };
        let server = self.clone();
        tokio::task::spawn_local(async move {
            let renewal = match server.newer_than(&token).await {
                Ok(grant) => {
                    server.hide_grant(&grant);
                    Renewal::Granted(grant.into())
                }
                Err(report) => Renewal::Failed(
                    format!("its login has expired and could not be renewed: {}", report.message).into(),
                ),
            };
            place.runner.link.send(&ToRunner::Renewed { server: number, renewal });
        });
    }

    /// A stored login with another token than this one, or a login that can no longer be renewed.
    async fn newer_than(self: &Rc<Self>, token: &Secret) -> Result<Grant, Rc<EndReport>> {
        let _turn = self.runners().renewals.turn(self.id()).await;
        self.store_late().await;
        let (mut launch, _) = self.launch_of_errand().await?;
        let remote = launch.remote.as_mut().ok_or_else(|| failed("it runs on this machine"))?;
        // One that is for another server than the definition has now is none.
        let stored = remote.grant.take().ok_or_else(|| failed("there is no login"))?;
        let late = self.runners().renewals.unstored(self.id());
        let grant = late.filter(|late| late.granted_at == stored.granted_at).unwrap_or(stored);
        if grant.access_token != *token || grant.refresh_token.is_none() {
            return Ok(grant);
        }
        remote.grant = Some(grant.clone());
        let newer = match self.renewed(ToRunner::Renew { server: 0, launch }).await? {
            Ok(renewed) => {
                let Grant { access_token, refresh_token, expires_at, scopes, .. } = *renewed;
                Grant { access_token, refresh_token, expires_at, scopes, ..grant }
            }
            Err(RenewalRefusal(why)) => {
                self.remark(format!("its login has expired and cannot be renewed: {why}"));
                // Stored like that, nobody is told that it goes on.
                let now = wall_clock();
                let ended = grant.expires_at.map_or(now, |at| at.min(now));
                Grant { refresh_token: None, expires_at: Some(ended), ..grant }
            }
        };
        self.runners().renewals.keep(self.id(), newer.clone());
        self.store_late().await;
        Ok(newer)
    }

    /// The authorization server's answer. An error if the answer is not understood.
    async fn renewed(
        &self,
        message: ToRunner<'static>,
    ) -> Result<Result<Box<Grant>, RenewalRefusal>, Rc<EndReport>> {
        let (known, mut events) = self.runner_of_errand()?;
        known.runner.link.send(&message);
        wipe(message);
        let said = async {
            while let Some(event) = events.recv().await {
                match event {
                    LinkEvent::Granted { grant, .. } => return Ok(Ok(grant)),
                    LinkEvent::Ended { report, .. } if report.cause == REFUSED => {
                        return Ok(Err(RenewalRefusal(report.message.clone())));
                    }
                    LinkEvent::Ended { report, .. } | LinkEvent::Closed { report } => return Err(report),
                    _ => {}
                }
            }
            Err(failed("its runner has ended"))
        };
        timeout(LIMIT, said)
            .await
            .unwrap_or_else(|_| Err(failed("the authorization server did not answer in time")))
    }

    /// Stores a renewed login that is not stored yet. The caller has the turn. If the disk refuses, the login is used
    /// meanwhile, and a task tries again until it is stored.
    pub(super) async fn store_late(self: &Rc<Self>) {
        let Err(error) = self.runners().store_login(self.id()).await else { return };
        if !self.runners().renewals.begin_trying(self.id()) {
            return;
        }
        tracing::error!(server = %self.id(), %error, "what renews its grant could not be stored");
        self.remark(format!("the renewed login could not be stored: could not {error}; Harbor keeps trying"));
        let server = self.clone();
        tokio::task::spawn_local(async move {
            let renewals = &server.runners().renewals;
            while renewals.unstored(server.id()).is_some() {
                tokio::time::sleep(AGAIN).await;
                let _turn = renewals.turn(server.id()).await;
                // What fails again stays unstored.
                let _ = server.runners().store_login(server.id()).await;
            }
            renewals.end_trying(server.id());
        });
    }

    /// Hides its new tokens from now on, like the tokens that it was started with.
    fn hide_grant(&self, grant: &Grant) {
        let credential = Credential::of_grant(grant.clone(), wall_clock());
        let renewed = Credentials([(KEY.to_owned(), credential)].into()).redactor(&[]);
        self.secrets.also_hide(Rc::new(renewed));
    }

    /// Its words about the one whom it refuses, since it was last let in: the next authorization begins there.
    pub(super) fn challenge(&self) -> Option<String> {
        self.secrets.challenge()
    }

    /// The person has let Harbor in anew.
    pub(super) fn forget_challenge(&self) {
        self.secrets.set_challenge(None);
    }
}
