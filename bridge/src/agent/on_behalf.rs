//! The one on whose behalf a turn is.
//!
//! Must never be changed while the turn goes on.

use std::rc::Rc;

use harbor_ipc_proto::server_id::ServerId;
use harbor_ipc_proto::source_id::SourceKind;
use harbor_policy::access::OwnersTurn;

use crate::host::asker::{Asker, Caller, Sender};
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

impl OnBehalf {
    /// The caller of a tool of such a source.
    #[must_use]
    pub fn caller(&self, kind: SourceKind) -> Caller {
        match self {
            Self::Owner(sender, turn) => Caller::Owner(sender.clone(), turn.right(kind)),
            Self::Origin { asker, .. } => Caller::Origin(asker.clone()),
        }
    }
}
