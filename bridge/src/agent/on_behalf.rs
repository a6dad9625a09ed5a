//! The one on whose behalf a turn is.
//!
//! Must never be changed while the turn goes on.

use std::rc::Rc;

use harbor_ipc_proto::server_id::ServerId;
use harbor_policy::access::OwnersTurn;

use crate::host::asker::{Asker, Sender};
use crate::link::Answerer;

/// Gives the answerer of a server's questions during the calls of a turn, if somebody can answer them.
pub type Answerers = Rc<dyn Fn(&ServerId) -> Option<Answerer>>;

/// The one on whose behalf a turn is.
pub enum OnBehalf {
    /// The person.
    Owner(Rc<Sender>, OwnersTurn),
    /// An origin.
    Origin {
        /// The origin that asks.
        asker: Asker,
        /// The run that its calls count in.
        run: String,
    },
}
