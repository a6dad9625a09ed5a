//! The grant of a connection.
//!
//! ```text
//!  token ─► has it ended? ─► renewed ─► told to the bridge ─► used
//!  401 with a token ─► is it still that one? ─► renewed, by one request while the others wait
//!                          └► no: somebody was faster
//! ```
//!
//! Owns that a refresh token is used once: whoever comes second finds the new one, and what was sent is heard to its end, whoever leaves
//! meanwhile: a rotated token that nobody hears of is a login lost. Must never use a new grant before the bridge was told of it: from then
//! on its tokens are hidden in logs.

use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;

use harbor_ipc_proto::link::oauth::Grant;
use harbor_ipc_proto::link::runner::{Remote, RemoteEnd};
use harbor_ipc_proto::secret::Secret;
use harbor_policy::oauth::token::{Refused, has_ended, renewal, renewed};
use harbor_runner::Wire;
use tokio::sync::Mutex;

use super::fetch::{Fetch, now, reach_of};
use harbor_web::trouble::Trouble;

/// How long the end of a connection waits for a renewal.
const LAST: Duration = Duration::from_secs(3);

/// A grant that is in use.
#[derive(Debug)]
pub struct Holder {
    grant: RefCell<Grant>,
    /// Held by whoever renews it.
    turn: Mutex<()>,
    fetch: Fetch,
    wire: Wire,
}

impl Holder {
    /// That of a server, if it has one.
    pub fn of(server: &Remote<'_>, env: &[(String, String)], wire: &Wire) -> Option<Self> {
        Some(Self {
            grant: RefCell::new(server.grant.clone()?),
            turn: Mutex::default(),
            fetch: Fetch { reach: reach_of(server), env: env.to_vec() },
            wire: wire.clone(),
        })
    }

    /// The token to be shown.
    ///
    /// # Errors
    /// When it has ended, and cannot be renewed just now.
    pub async fn token(self: &Rc<Self>) -> Result<Secret, Trouble> {
        let token = self.grant.borrow().access_token.clone();
        if !has_ended(&self.grant.borrow(), now()) {
            return Ok(token);
        }
        Ok(self.renewed(&token).await?.unwrap_or(token))
    }

    /// Another token than this one, which was refused or has ended; none where there will be no other.
    ///
    /// # Errors
    /// When there is none just now.
    pub async fn renewed(self: &Rc<Self>, refused: &Secret) -> Result<Option<Secret>, Trouble> {
        let (holder, refused) = (self.clone(), refused.clone());
        // A task of its own: whoever asked may leave.
        let renewing = tokio::task::spawn_local(async move { holder.renew(&refused).await });
        renewing.await.unwrap_or_else(|_| Err(Trouble::broken("a renewal has broken off")))
    }

    /// Waits until no renewal is under way, within a limit.
    pub async fn settled(&self) {
        // The runner ends whatever comes of it.
        let _ = tokio::time::timeout(LAST, self.turn.lock()).await;
    }

    async fn renew(&self, refused: &Secret) -> Result<Option<Secret>, Trouble> {
        let _turn = self.turn.lock().await;
        let grant = self.grant.borrow().clone();
        if grant.access_token != *refused {
            return Ok(Some(grant.access_token));
        }
        let Some(form) = renewal(&grant) else { return Ok(None) };
        let trouble = |why: String| Trouble::of(RemoteEnd::Unreachable, why);
        let (status, body) = self.fetch.post(&form).await.map_err(|failed| trouble(failed.why))?;
        match renewed(&grant, status, &body, now()) {
            Ok(newer) => {
                self.wire.granted(newer.clone());
                let token = newer.access_token.clone();
                *self.grant.borrow_mut() = newer;
                Ok(Some(token))
            }
            Err(Refused::ForNow | Refused::Garbled) => Err(Trouble::broken(format!(
                "what it was granted has ended, and could not be renewed (HTTP {status})"
            ))),
            Err(Refused::ForGood(word)) => {
                self.wire.remark(&format!("what it was granted has ended, and is not renewed: {word}"));
                // Stored like that, nobody is told that it goes on.
                let ended = grant.expires_at.map_or(now(), |at| at.min(now()));
                let ended = Grant { refresh_token: None, expires_at: Some(ended), ..grant };
                self.wire.granted(ended.clone());
                *self.grant.borrow_mut() = ended;
                Ok(None)
            }
        }
    }
}
