//! The bytes of every message between the bridge and the catalog worker.

use super::super::codec::{get_message, put_message};
use super::*;

fn check<M>(message: &M, wanted: &'static [u8])
where
    M: Encode + PartialEq + std::fmt::Debug + BorrowDecode<'static, ()>,
{
    let mut out = Vec::new();
    put_message(&mut out, message);
    assert_eq!(out.split_off(4), wanted, "{message:?}");
    assert_eq!(&get_message::<M>(wanted).unwrap(), message);
}

fn settings() -> WorkerSettings<'static> {
    let source = |id: &'static str, kind| WorkerSource { id: id.into(), kind, url: "u".into() };
    WorkerSettings {
        database: "/c".into(),
        sources: vec![source("a", CatalogSourceKind::Registry), source("b", CatalogSourceKind::Awesome)],
        interval_ms: 7,
        request_timeout_ms: 8,
        enrichment: Some(Enrichment {
            github: Some("g".into()),
            npm_downloads: None,
            pypi_downloads: Some("p".into()),
        }),
    }
}

fn outcome() -> SourceOutcome<'static> {
    SourceOutcome {
        source: "a".into(),
        entries: 6,
        changes: Changes { added: 1, updated: 2, removed: 3, restored: 4 },
        error: Some("e".into()),
        not_before: Some(9),
    }
}

/// Every message once, in wire order, with its bytes. A changed line here is a changed protocol.
#[test]
fn golden_bytes_to_worker() {
    let none = WorkerSettings {
        sources: vec![],
        interval_ms: 0,
        request_timeout_ms: 0,
        enrichment: None,
        ..settings()
    };
    let golden: Vec<(ToWorker<'static>, &'static [u8])> = vec![
        (ToWorker::Hello { protocol: 1, build: "b".into() }, b"\x00\x01\x01b"),
        (ToWorker::Shutdown, b"\x01"),
        (
            ToWorker::Configure(settings()),
            b"\x02\x02/c\x02\x01a\x00\x01u\x01b\x01\x01u\x07\x08\x01\x01\x01g\x00\x01\x01p",
        ),
        (ToWorker::Configure(none), b"\x02\x02/c\x00\x00\x00\x00"),
        (ToWorker::Refresh { id: 1, full: true }, b"\x03\x01\x01"),
        (ToWorker::Enrich { id: 2 }, b"\x04\x02"),
    ];
    for (message, wanted) in &golden {
        check(message, wanted);
    }
}

#[test]
fn golden_bytes_from_worker() {
    let status = |activity, snapshot| WorkerStatus { activity, entries: 5, snapshot, next_at: Some(3) };
    let failed = |why| FromWorker::Failed { id: 1, why };
    let golden: Vec<(FromWorker<'static>, &'static [u8])> = vec![
        (FromWorker::Hello { protocol: 1, build: "b".into() }, b"\x00\x01\x01b"),
        (FromWorker::Opened { set_aside: Some("s".into()) }, b"\x01\x01\x01s"),
        (FromWorker::Status(status(Activity::Idle, Some("d".into()))), b"\x02\x00\x05\x01\x01d\x01\x03"),
        (FromWorker::Status(status(Activity::Refreshing, None)), b"\x02\x01\x05\x00\x01\x03"),
        (FromWorker::Status(status(Activity::Enriching, None)), b"\x02\x02\x05\x00\x01\x03"),
        (FromWorker::Progress(WorkerStep::Refreshing { full: true }), b"\x03\x00\x01"),
        (
            FromWorker::Progress(WorkerStep::Fetching { source: "a".into(), page: 2, entries: 3 }),
            b"\x03\x01\x01a\x02\x03",
        ),
        (
            FromWorker::Progress(WorkerStep::SourceDone(outcome())),
            b"\x03\x02\x01a\x06\x01\x02\x03\x04\x01\x01e\x01\x09",
        ),
        (FromWorker::Progress(WorkerStep::Enriching { count: 4 }), b"\x03\x03\x04"),
        (
            FromWorker::Done {
                id: 1,
                changes: Changes { added: 1, updated: 2, removed: 3, restored: 4 },
                sources: vec![outcome()],
                enriched: 7,
                not_enriched: 8,
            },
            b"\x04\x01\x01\x02\x03\x04\x01\x01a\x06\x01\x02\x03\x04\x01\x01e\x01\x09\x07\x08",
        ),
        (failed(WorkerFailure::NotConfigured), b"\x05\x01\x00"),
        (failed(WorkerFailure::Settings("s".into())), b"\x05\x01\x01\x01s"),
        (failed(WorkerFailure::Database("d".into())), b"\x05\x01\x02\x01d"),
        (failed(WorkerFailure::Nothing), b"\x05\x01\x03"),
    ];
    for (message, wanted) in &golden {
        check(message, wanted);
    }
}
