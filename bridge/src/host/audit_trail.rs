//! The host's side of the audit log: the record of decisions and calls.
//!
//! ```text
//!  a grant, a revoke ─► on disk before it is made          a refusal ─► on disk before it is told, a few a minute
//!  a call ────────────► queued, on disk 100 ms later                    for each origin; beyond that counted
//!                       with `auditRequired` written before its answer is given
//! ```
//!
//! Owns what happens when the disk refuses. With `auditRequired`, nothing is decided, called or answered then. Events
//! that happen all the same are written later, and counted if they cannot be. Must never see arguments or results.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use harbor_home::clock::{boot_clock, wall_clock};
use harbor_ipc_proto::client::envelope::ErrorBody;
use harbor_ipc_proto::codes::Code;
use harbor_ipc_proto::json::Json;
use harbor_policy::flood::Flood;
use tokio::time::{Instant, sleep, timeout_at};

use super::asker::Sender;
use crate::config::LiveConfig;
use crate::store::audit::{Audit, AuditRecord, Query};

/// The audit log.
#[derive(Debug)]
pub struct AuditTrail {
    audit: Audit,
    config: Rc<LiveConfig>,
    refusals: RefCell<Flood>,
    /// The bridge's name in records of events that no client caused.
    bridge: Arc<str>,
}

impl AuditTrail {
    /// A trail in `audit`; `config` tells if the trail is required before anything happens.
    #[must_use]
    pub fn new(audit: Audit, config: Rc<LiveConfig>) -> Self {
        let bridge = "harbor".into();
        Self { audit, config, refusals: RefCell::default(), bridge }
    }

    /// Writes down a decision of the person, before it holds. `allows` is true if it lets somebody do more;
    /// less can be decided even while the log cannot be written.
    ///
    /// # Errors
    /// When it cannot be written and has to be.
    pub async fn decided(
        &self,
        event: &'static str,
        sender: &Sender,
        record: AuditRecord,
        allows: bool,
    ) -> Result<(), ErrorBody> {
        let record = AuditRecord { event, by: sender.by.clone(), ..stamped(record) };
        // Read once: a change of the configuration meanwhile counts for the next decision.
        let only_now = allows && self.config.now().audit_required;
        if only_now {
            // The little room there may be is for calls under way.
            self.is_open()?;
        }
        match self.audit.append_durably(record, !only_now).await {
            Err(error) if only_now => Err(not_written(&error.to_string())),
            // The log keeps it.
            Ok(()) | Err(_) => Ok(()),
        }
    }

    /// Writes down a refusal, before it is told.
    pub async fn refused(&self, sender: &Sender, origin: Option<&str>, record: AuditRecord) {
        let record = AuditRecord { event: "refused", by: sender.by.clone(), decision: "denied", ..record };
        if let Some(record) = self.counted(origin.unwrap_or(&sender.by), record) {
            // A refusal stands, whether it is written or not.
            let _ = self.audit.append_durably(record, true).await;
        }
    }

    /// Writes down a call of an origin that came to nothing before its server was asked.
    pub fn not_asked(&self, origin: &str, record: AuditRecord) {
        if let Some(record) = self.counted(origin, record) {
            self.append(record);
        }
    }

    /// The record of a failed call, if it gets a line. Its count includes earlier failures that got no line.
    fn counted(&self, origin: &str, record: AuditRecord) -> Option<AuditRecord> {
        let before = self.refusals.borrow_mut().note(origin, boot_clock())?;
        let count = (before > 0).then_some(before + 1);
        Some(AuditRecord { count, ..stamped(record) })
    }

    /// Writes down an event that no client has caused.
    pub fn noted(&self, event: &'static str, record: AuditRecord) {
        self.append(AuditRecord { event, by: self.bridge.clone(), ..stamped(record) });
    }

    /// Writes down a call that is over.
    pub fn called(&self, record: AuditRecord) {
        self.append(stamped(record));
    }

    fn append(&self, record: AuditRecord) {
        // The log counts the records that find no room.
        let _ = self.audit.append(record);
    }

    /// Checks that a call may be made, as far as it can be written down.
    ///
    /// # Errors
    /// When it cannot, and must be.
    pub fn is_open(&self) -> Result<(), ErrorBody> {
        match self.config.now().audit_required && self.audit.is_failing() {
            true => Err(not_written("the disk is full or refuses")),
            false => Ok(()),
        }
    }

    /// True if an answer may be given only after it is written down.
    #[must_use]
    pub fn is_required(&self) -> bool {
        self.config.now().audit_required
    }

    /// Waits until all records so far are in the log: a bridge that is killed loses none of them.
    ///
    /// # Errors
    /// When the disk does not take it in time.
    pub async fn written(&self) -> Result<(), ErrorBody> {
        let until = Instant::now() + PATIENCE;
        loop {
            match timeout_at(until, self.audit.written()).await {
                Ok(Ok(())) => return Ok(()),
                Ok(Err(error)) if Instant::now() + RETRY >= until => {
                    return Err(not_told(&error.to_string()));
                }
                Ok(Err(_)) => sleep(RETRY).await,
                Err(_) => return Err(not_told("the disk does not answer")),
            }
        }
    }

    /// Writes down how many refusals had no line of their own.
    pub fn write_counted(&self) {
        for (origin, count) in self.refusals.borrow_mut().take_counted(boot_clock()) {
            let (origin, count) = (Some(origin.into()), Some(count));
            self.noted(
                "refused",
                AuditRecord { origin, count, decision: "denied", ..AuditRecord::default() },
            );
        }
    }

    /// True if the log cannot be written at present, and the number of records that were lost.
    #[must_use]
    pub fn health(&self) -> (bool, u64) {
        (self.audit.is_failing(), self.audit.lost())
    }

    /// The newest lines that match.
    ///
    /// # Errors
    /// When the log cannot be read.
    pub async fn read(&self, query: Query) -> Result<Vec<String>, ErrorBody> {
        let lines = self.audit.read(query).await;
        lines
            .map_err(|error| ErrorBody::new(Code::Internal, format!("the audit log cannot be read: {error}")))
    }
}

/// How long the answer of a call waits for its line, and the pause between two tries at a disk that refuses it.
const PATIENCE: Duration = Duration::from_secs(2);
/// See [`PATIENCE`].
const RETRY: Duration = Duration::from_millis(100);

fn stamped(record: AuditRecord) -> AuditRecord {
    AuditRecord { timestamp: wall_clock(), ..record }
}

/// The error for a call that was made, but whose result could not be written down and so is not told.
fn not_told(why: &str) -> ErrorBody {
    let message = format!(
        "the call ran, but the audit log cannot be written ({why}), and the configuration says `auditRequired`: Harbor \
         withholds its result"
    );
    let error = ErrorBody::new(Code::Internal, message).with("cause", "audit");
    error.with_json("sent", Json::from_valid("true".into()))
}

fn not_written(why: &str) -> ErrorBody {
    let message = format!(
        "nothing was done: the audit log cannot be written ({why}), and the configuration says `auditRequired`"
    );
    ErrorBody::new(Code::Internal, message).with("cause", "audit")
}
