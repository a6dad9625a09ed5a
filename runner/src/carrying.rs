//! What is under way with a server elsewhere, as its carrier gives it.
//!
//! Owns that form, for connections and for authorizations. Must never know what is carried.

use std::future::Future;
use std::pin::Pin;

use harbor_ipc_proto::link::runner::EndCause;

/// What is under way with a server until there is nothing more to carry.
pub type Carrying = Pin<Box<dyn Future<Output = EndCause<'static>>>>;
