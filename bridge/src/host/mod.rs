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

use crate::link::{Answer, OnProgress};
use crate::supervisor::{Server, Supervisor};

pub use errors::start_failed;

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

    /// Asks a server, within `limit`. When the future is dropped or the limit passes, the server is told.
    ///
    /// # Errors
    /// Why there is no result.
    pub async fn ask(
        &self,
        permit: Permit,
        id: &ServerId,
        operation: Operation<'_>,
        limit: Duration,
        progress: Option<OnProgress>,
    ) -> Result<Json, ErrorBody> {
        let server = self.server(id)?;
        let slot = server.slot().ok_or_else(|| errors::too_many(id))?;
        let held = server.call(permit, slot, operation, limit, progress);
        let held = held.map_err(|why| errors::not_running(id, &why))?;
        let answer = match held {
            Ok(held) => held.call.await,
            Err(why) => Err(why),
        };
        match answer {
            Ok(Answer::Result(json) | Answer::Items(json, _)) => Ok(json),
            Ok(Answer::ServerError { code, message, data }) => {
                Err(errors::server_error(id, code, &message, data))
            }
            Ok(Answer::Failed(failure)) => Err(errors::no_answer(id, &failure)),
            Err(why) => Err(errors::lost(id, limit, &why)),
        }
    }
}
