//! The end of a server: its cause, and the last words on its stderr.
//!
//! Must never be told twice.

use harbor_ipc_proto::link::runner::EndCause;

/// The end of a server or a program: the cause, and the last lines of its stderr.
pub type Ended = (EndCause<'static>, String);
