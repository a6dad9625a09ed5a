//! The messages of the catalog worker.
//!
//! Owns its bounds: texts are cut and made one line, since they may be other people's words.

use std::collections::BTreeMap;
use std::io;

use harbor_ipc_proto::link::worker::{
    Activity, Changes, FromWorker, SourceOutcome, ToWorker, WorkerFailure, WorkerStatus, WorkerStep,
};
use harbor_ipc_proto::{BUILD, LINK_PROTOCOL};

use super::{Pair, greeted_twice, line};

/// The most sources that one answer tells of.
const MAX_SOURCES: usize = 64;

/// The bridge and the catalog worker.
#[derive(Debug)]
pub enum CatalogLink {}

impl Pair for CatalogLink {
    const PROGRAM: &'static str = "harbor-catalog-worker";
    const MAX_MESSAGE: usize = 1024 * 1024;
    type To<'a> = ToWorker<'a>;
    type From<'a> = FromWorker<'a>;
    type CatalogWorkerMessage = Said;

    fn hello() -> ToWorker<'static> {
        ToWorker::Hello { protocol: LINK_PROTOCOL, build: BUILD.into() }
    }

    fn shutdown() -> ToWorker<'static> {
        ToWorker::Shutdown
    }

    fn greeting<'m>(message: &'m FromWorker<'_>) -> Option<(u32, &'m str)> {
        match message {
            FromWorker::Hello { protocol, build } => Some((*protocol, build)),
            _ => None,
        }
    }

    fn said(message: FromWorker<'_>) -> io::Result<Said> {
        said(message)
    }
}

/// A message of the worker.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Said {
    /// The database can be read; what happened to the file before, if anything did.
    Opened(Option<String>),
    /// Its status.
    Status {
        /// True if it does nothing.
        idle: bool,
    },
    /// The step that it does right now.
    Step(CatalogStep),
    /// A request is done.
    Done(u32, CatalogOutcome),
    /// A request has failed.
    Failed(u32, Reason),
}

/// A step of a refresh or an enrichment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CatalogStep {
    /// It begins.
    Refreshing,
    /// Pages of a source come.
    Fetching {
        /// The source.
        source: String,
        /// The page's number.
        page: u32,
        /// Entries so far.
        entries: u32,
    },
    /// A source is done, or failed for this reason.
    SourceDone(String, Option<String>),
    /// Entries are looked up: how many.
    Enriching(u32),
}

/// The result of a request.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CatalogOutcome {
    /// The changes.
    pub changes: Changes,
    /// Why sources failed, by their ids, and when they may be tried again at the earliest, in milliseconds since 1970.
    pub failed: BTreeMap<String, (String, Option<u64>)>,
    /// How many entries were looked up,
    pub enriched: u32,
    /// and how many of them could not be.
    pub not_enriched: u32,
}

/// Why a request was not carried out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reason {
    /// There is nothing to do it with.
    Nothing,
    /// This went wrong.
    Because(String),
}

fn said(message: FromWorker<'_>) -> io::Result<Said> {
    Ok(match message {
        FromWorker::Hello { .. } => return Err(greeted_twice()),
        FromWorker::Opened { set_aside } => Said::Opened(set_aside.as_deref().map(line)),
        FromWorker::Status(WorkerStatus { activity, .. }) => {
            Said::Status { idle: activity == Activity::Idle }
        }
        FromWorker::Progress(step) => Said::Step(match step {
            WorkerStep::Refreshing { .. } => CatalogStep::Refreshing,
            WorkerStep::Fetching { source, page, entries } => {
                CatalogStep::Fetching { source: line(&source), page, entries }
            }
            WorkerStep::SourceDone(outcome) => {
                CatalogStep::SourceDone(line(&outcome.source), outcome.error.as_deref().map(line))
            }
            WorkerStep::Enriching { count } => CatalogStep::Enriching(count),
        }),
        FromWorker::Done { id, changes, sources, enriched, not_enriched } => {
            let failed = sources.into_iter().take(MAX_SOURCES).filter_map(failure).collect();
            Said::Done(id, CatalogOutcome { changes, failed, enriched, not_enriched })
        }
        FromWorker::Failed { id, why } => Said::Failed(id, reason(&why)),
    })
}

fn failure(outcome: SourceOutcome<'_>) -> Option<(String, (String, Option<u64>))> {
    let SourceOutcome { source, error, not_before, .. } = outcome;
    Some((line(&source), (line(&error?), not_before)))
}

fn reason(why: &WorkerFailure<'_>) -> Reason {
    match why {
        WorkerFailure::Nothing => Reason::Nothing,
        WorkerFailure::NotConfigured => Reason::Because("it has no database".into()),
        WorkerFailure::Settings(what) | WorkerFailure::Database(what) => Reason::Because(line(what)),
    }
}

#[cfg(test)]
mod tests {
    use super::super::MAX_TEXT;
    use super::*;

    #[test]
    fn what_it_says_is_bounded_and_one_line() {
        let hostile = format!("a\u{1b}[2J\nb{}", "x".repeat(10_000));
        let outcome = |error: Option<&'static str>| SourceOutcome {
            source: "registry".into(),
            entries: 1,
            changes: Changes::default(),
            error: error.map(Into::into),
            not_before: Some(7),
        };
        let opened = said(FromWorker::Opened { set_aside: Some(hostile.into()) }).unwrap();
        let Said::Opened(Some(why)) = opened else { panic!("{opened:?}") };
        assert_eq!((why.chars().count(), why.starts_with("a [2J b")), (MAX_TEXT, true));
        let sources = vec![outcome(None), outcome(Some("no\nroute"))];
        let done =
            FromWorker::Done { id: 3, changes: Changes::default(), sources, enriched: 2, not_enriched: 1 };
        let failed = BTreeMap::from([("registry".to_owned(), ("no route".to_owned(), Some(7)))]);
        let outcome = CatalogOutcome { failed, enriched: 2, not_enriched: 1, ..CatalogOutcome::default() };
        assert_eq!(said(done).unwrap(), Said::Done(3, outcome));
    }
}
