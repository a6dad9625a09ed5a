//! The catalog as it is shown in the status.
//!
//! Owns the words. Takes everything from memory: nothing is asked or read for it.

use harbor_ipc_proto::client::{CatalogSource, CatalogStatus};

use super::Keeper;
use crate::catalog::errors::CatalogError;
use crate::catalog::open_work::WorkKind;
use crate::catalog::query::Summary;

impl Keeper {
    /// The status of the catalog.
    pub(in crate::catalog) fn status(&self) -> CatalogStatus {
        let off = matches!(self.available(), Err(CatalogError::WorkerOff | CatalogError::Disabled));
        let found = self.told.summary.borrow();
        let (summary, wrong) = match found.as_ref() {
            Some(Ok(summary)) => (Some(summary), None),
            Some(Err(wrong)) => (None, Some(wrong)),
            None => (None, None),
        };
        let activity = self.works.borrow().first().map(|kind| match kind {
            WorkKind::Refresh { .. } => "refreshing",
            WorkKind::Enrich => "enriching",
        });
        let failing =
            |summary: &Summary| summary.sources.iter().filter(|source| source.error.is_some()).count();
        // Failures from an earlier bridge's time are in the file.
        let in_the_file = |summary: &Summary| {
            let failed = |source: &CatalogSource| Some(format!("{}: {}", source.id, source.error.as_ref()?));
            summary.sources.iter().find_map(failed)
        };
        let last_error = self.worker.last_error().or_else(|| summary.and_then(in_the_file));
        CatalogStatus {
            state: if off { "off".into() } else { self.worker.state().as_str().into() },
            pid: self.worker.pid(),
            restarts: self.worker.restarts(),
            activity: activity.map(Into::into),
            step: self.told.step.borrow().clone().filter(|_| activity.is_some()),
            file: (found.as_ref().map(|found| found.as_ref().map_or_else(CatalogError::cause, |_| "ok")))
                .map(Into::into),
            // A missing file is no fault.
            file_error: wrong.filter(|wrong| **wrong != CatalogError::Missing).map(ToString::to_string),
            entries: summary.map(|summary| summary.entries),
            snapshot: summary.and_then(|summary| summary.age.snapshot.clone()),
            last_refresh: summary.and_then(|summary| summary.age.last_success),
            refresh_ms: self.told.refresh_ms.get(),
            next_refresh: self.due.get(),
            failing: summary.map_or(0, |summary| failing(summary) as u64),
            last_error,
        }
    }

    /// The sources, as the file has them.
    pub(in crate::catalog) fn sources(&self) -> Vec<CatalogSource> {
        let found = self.told.summary.borrow();
        found.as_ref().and_then(|found| Some(found.as_ref().ok()?.sources.clone())).unwrap_or_default()
    }
}
