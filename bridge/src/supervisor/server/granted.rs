//! The grant of a server elsewhere, while it runs: its runner renews it.
//!
//! Owns that what was renewed is stored, and hidden in what is told of the server. Must never take more from a runner than
//! tokens: where they are from is what the person said yes to.

use std::rc::Rc;

use harbor_home::clock::wall_clock;
use harbor_ipc_proto::link::oauth::Grant;
use harbor_policy::credentials::{Credential, Credentials};
use harbor_policy::oauth::KEY;

use super::Server;
use crate::store::StoreError;

impl Server {
    /// Its runner has renewed the grant that it was started with.
    pub(in crate::supervisor) fn on_granted(self: &Rc<Self>, number: u32, grant: Grant) {
        let is_present = self.place.borrow().as_ref().is_some_and(|place| place.number == number);
        if !is_present || self.granted_at.get() != Some(grant.granted_at) {
            return;
        }
        let server = self.clone();
        self.hide_grant(&grant);
        tokio::task::spawn_local(async move {
            if let Err(error) = server.store_renewed(grant).await {
                tracing::error!(server = %server.id, %error, "what renews its grant could not be stored");
                server.remark(format!(
                    "what renews its grant could not be stored: could not {error}; if it does not start again, \
                     `harbor auth {}`",
                    server.id
                ));
            }
        });
    }

    /// From now on its tokens are hidden, too, as those are that it was started with.
    fn hide_grant(&self, grant: &Grant) {
        let credential = Credential::of_grant(grant.clone(), wall_clock());
        let renewed = Credentials([(KEY.to_owned(), credential)].into()).redactor(&[]);
        self.also_hide(Rc::new(renewed));
    }

    async fn store_renewed(&self, grant: Grant) -> Result<(), StoreError> {
        let _turn = self.renewing.lock().await;
        let secrets = &self.runners.shared.secrets;
        let Some(stored) = secrets.of(self.id.as_str()).await?.grant() else { return Ok(()) };
        let Grant { access_token, refresh_token, expires_at, scopes, granted_at, .. } = grant;
        let renewed = Grant { access_token, refresh_token, expires_at, scopes, granted_at, ..stored };
        let renewed = Credential::of_grant(renewed, wall_clock());
        // Where the person has said yes again meanwhile, that one is newer.
        secrets.renew(self.id.as_str(), KEY, renewed).await.map(drop)
    }

    /// It has refused who asks, or what is asked: the next authorization begins there.
    pub(in crate::supervisor) fn on_challenged(&self, challenge: String) {
        *self.challenge.borrow_mut() = Some(challenge);
    }

    /// What it has said of that since it was last let in.
    pub(super) fn challenge(&self) -> Option<String> {
        self.challenge.borrow().clone()
    }

    /// The person has let Harbor in anew.
    pub(super) fn forget_challenge(&self) {
        *self.challenge.borrow_mut() = None;
    }
}
