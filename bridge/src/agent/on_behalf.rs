//! The one on whose behalf a turn is.
//!
//! Must never be changed while the turn goes on.

use std::rc::Rc;

use harbor_policy::access::OwnersTurn;

use crate::host::asker::{Asker, Sender};

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
