//! A client that waits for an answer about the catalog, and the answer.
//!
//! Must never answer twice.

use std::rc::Rc;

use harbor_ipc_proto::client::CatalogChanges;
use harbor_ipc_proto::link::worker::Changes;
use tokio::sync::oneshot;

use crate::catalog::errors::CatalogError;
use crate::catalog::query::Summary;
use crate::link::worker::catalog::CatalogOutcome;

/// Hears the progress: how much is done, of how much, and a sentence.
pub type ProgressListener = Rc<dyn Fn(f64, u32, &str)>;

/// The result of a request, and the present contents of the catalog.
#[derive(Debug, Clone)]
pub struct CatalogReport {
    /// The changes.
    pub changes: CatalogChanges,
    /// The number of entries that were looked up.
    pub enriched: u64,
    /// The number of entries that could not be looked up.
    pub not_enriched: u64,
    /// The contents in short.
    pub summary: Summary,
}

pub(super) type CatalogReportResult = Result<CatalogReport, CatalogError>;

/// The waiting side of a request.
pub(super) struct CatalogWaiter {
    pub(super) done: oneshot::Sender<CatalogReportResult>,
    pub(super) note: Option<ProgressListener>,
}

impl std::fmt::Debug for CatalogWaiter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Waiter").finish_non_exhaustive()
    }
}

/// An answer that is given after the look into the file.
#[derive(Debug)]
pub(super) struct CatalogReply {
    pub(super) waiter: CatalogWaiter,
    pub(super) outcome: CatalogOutcome,
}

impl CatalogReply {
    pub(super) fn give(self, found: Option<&Result<Summary, CatalogError>>) {
        let CatalogOutcome { changes, enriched, not_enriched, .. } = self.outcome;
        let summary = found.cloned().unwrap_or(Err(CatalogError::Missing));
        let answer = summary.map(|summary| CatalogReport {
            changes: counted(changes),
            enriched: enriched.into(),
            not_enriched: not_enriched.into(),
            summary,
        });
        // The one who asked may have left.
        let _ = self.waiter.done.send(answer);
    }
}

fn counted(changes: Changes) -> CatalogChanges {
    let Changes { added, updated, removed, restored } = changes;
    CatalogChanges {
        added: added.into(),
        updated: updated.into(),
        removed: removed.into(),
        restored: restored.into(),
    }
}
