//! The work under way with a remote server, in the form that its carrier gives it.
//!
//! Owns that form, for connections and for authorizations. Must never know what is carried.

use std::future::Future;
use std::pin::Pin;

use harbor_ipc_proto::link::runner::EndCause;

/// Carries a server's messages, or does some other work of a carrier, until its end.
pub type Carrying = Pin<Box<dyn Future<Output = EndCause<'static>>>>;
