//! The login of a connection.
//!
//! ```text
//!  token ─► has it ended? ─► the bridge has it renewed ─► used
//!  401 with a token ─► is it still that one? ─► renewed, by one request while the others wait
//!                          └► no: somebody was faster
//! ```
//!
//! Owns that the bridge is asked once for all who wait. Must never renew a login by itself: a connection may end in the
//! middle, and a rotated token that nobody hears of is a login lost.

use std::cell::RefCell;
use std::rc::Rc;

use harbor_ipc_proto::link::oauth::{Grant, Renewal};
use harbor_ipc_proto::link::runner::Remote;
use harbor_ipc_proto::secret::Secret;
use harbor_policy::oauth::token::has_ended;
use harbor_runner::Wire;
use tokio::sync::Mutex;

use harbor_web::trouble::Trouble;

use crate::clock::now;

/// A grant that is in use.
#[derive(Debug)]
pub struct Holder {
    grant: RefCell<Grant>,
    /// Held by whoever has it renewed.
    turn: Mutex<()>,
    wire: Wire,
}

impl Holder {
    /// The holder of a server's grant, if it has one.
    pub fn of(server: &Remote<'_>, wire: &Wire) -> Option<Rc<Self>> {
        let grant = RefCell::new(server.grant.clone()?);
        Some(Rc::new(Self { grant, turn: Mutex::default(), wire: wire.clone() }))
    }

    /// The token to be shown.
    ///
    /// # Errors
    /// When it has ended, and cannot be renewed just now.
    pub async fn token(&self) -> Result<Secret, Trouble> {
        let token = self.grant.borrow().access_token.clone();
        if !has_ended(&self.grant.borrow(), now()) {
            return Ok(token);
        }
        Ok(self.renewed(&token).await?.unwrap_or(token))
    }

    /// A token in place of this one, which was refused or has ended. None if there will be no other token.
    ///
    /// # Errors
    /// When there is no other token just now.
    pub async fn renewed(&self, refused: &Secret) -> Result<Option<Secret>, Trouble> {
        let _turn = self.turn.lock().await;
        let grant = self.grant.borrow().clone();
        if grant.access_token != *refused {
            return Ok(Some(grant.access_token));
        }
        if grant.refresh_token.is_none() {
            return Ok(None);
        }
        match self.wire.renewal(refused).await {
            Renewal::Granted(newer) => {
                let token = newer.access_token.clone();
                *self.grant.borrow_mut() = *newer;
                Ok((token != *refused).then_some(token))
            }
            Renewal::Failed(why) => Err(Trouble::broken(why)),
        }
    }
}
