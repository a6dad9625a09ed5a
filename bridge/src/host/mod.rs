//! The tool-call path: the only way from a client's request to a server.
//!
//! ```text
//!  router ─(Permit)─► Host::ask ─► slot ─► supervisor ─► link ─► runner ─► server
//!                        ▲                                                   │
//!                        └── result, error, timeout: the return value ◄──────┘
//! ```
//!
//! Owns the limits of a call and what its ending is called. Must never look into arguments or results.

mod errors;

use std::rc::Rc;
use std::time::Duration;

use harbor_ipc_proto::client::envelope::ErrorBody;
use harbor_ipc_proto::json::Json;
use harbor_ipc_proto::link::runner::Operation;
use harbor_ipc_proto::server_id::ServerId;
use harbor_policy::access::Permit;
use harbor_policy::limits;

use crate::link::{Answer, OnProgress, TimeLimit};
use crate::supervisor::{Server, Supervisor, Why};

pub use errors::{invalid, start_failed};

/// The call path.
#[derive(Debug)]
pub struct Host {
    supervisor: Rc<Supervisor>,
}

impl Host {
    /// The call path to the servers of `supervisor`.
    #[must_use]
    pub fn new(supervisor: Rc<Supervisor>) -> Self {
        Self { supervisor }
    }

    /// The server with this id.
    ///
    /// # Errors
    /// When there is none.
    pub fn server(&self, id: &ServerId) -> Result<Rc<Server>, ErrorBody> {
        self.supervisor.get(id).ok_or_else(|| errors::not_found(id))
    }

    /// Asks a server, within the time that `asked` and its definition give. When the future is dropped or the time
    /// is over, the server is told.
    ///
    /// # Errors
    /// Why there is no result.
    pub async fn ask(
        &self,
        permit: Permit,
        id: &ServerId,
        operation: Operation<'_>,
        asked: AskedTime,
        progress: Option<OnProgress>,
    ) -> Result<Json, ErrorBody> {
        let server = self.server(id)?;
        let limit = time_limit(server.settings().call_timeout, asked, progress.is_some())?;
        let slot = server.slot().ok_or_else(|| errors::too_many(id))?;
        match server.ask(permit, slot, operation, limit, progress).await {
            Ok(Answer::Result(json) | Answer::Items(json, _)) => Ok(json),
            Ok(Answer::ServerError { code, message, data }) => {
                Err(errors::server_error(id, code, &message, data))
            }
            Ok(Answer::Failed(failure)) => Err(errors::no_answer(id, &failure)),
            Err(Why::NotSent(unavailable)) => Err(errors::unavailable(id, &unavailable)),
            Err(Why::Lost(why)) => Err(errors::lost(id, limit, &why)),
        }
    }
}

/// How long a request says that it may take, in milliseconds.
#[derive(Debug, Clone, Copy, Default)]
pub struct AskedTime {
    /// Without a sign of progress.
    pub timeout: Option<u64>,
    /// In all.
    pub whole: Option<u64>,
}

fn time_limit(default: Duration, asked: AskedTime, progress: bool) -> Result<TimeLimit, ErrorBody> {
    let quiet = limits::call_timeout(default, asked.timeout)
        .ok_or_else(|| errors::invalid("timeout_ms", "milliseconds from 1 to 3600000"))?;
    let whole = limits::longest_call(quiet, asked.whole)
        .ok_or_else(|| errors::invalid("max_timeout_ms", "milliseconds from timeout_ms to 3600000"))?;
    Ok(if progress { TimeLimit { whole, ..TimeLimit::fixed(quiet) } } else { TimeLimit::fixed(quiet) })
}
