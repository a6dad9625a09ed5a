//! The end of a server: its cause, and the last words on its stderr.
//!
//! Must never be told twice.

use harbor_ipc_proto::link::runner::EndCause;

/// How a server or a program ended: why, and the last lines of its stderr.
pub type Ended = (EndCause<'static>, String);
