//! Starts: without a network, with a damaged file, with settings that cannot be followed; and ends.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use harbor_ipc_proto::link::worker::{Activity, CatalogSourceKind, ToWorker, WorkerFailure, WorkerStatus};
use harbor_policy::curated::{CURATED, DATE};

use harbor_tests::catalog::registry::Registry;
use harbor_tests::catalog::{Driven, Place, Said};

#[test]
fn without_a_network_there_is_what_harbor_brought_along_and_it_says_so() {
    let place = Place::new(&[("registry", CatalogSourceKind::Registry, "http://127.0.0.1:1".into())]);
    let mut worker = Driven::bare();
    worker.configure(&place);
    assert_eq!(worker.heard(), Said::Opened(None));
    let entries = u32::try_from(CURATED.len()).unwrap();
    let status =
        WorkerStatus { activity: Activity::Idle, entries, snapshot: Some(DATE.into()), next_at: None };
    assert_eq!(worker.heard(), Said::Status(status));
    let (why, not_before) = worker.failure();
    assert!(why.starts_with("the server cannot be reached") && not_before.is_some(), "{why}");

    let mut ids: Vec<_> = CURATED.iter().map(|curated| curated.id.to_owned()).collect();
    ids.sort();
    assert_eq!(
        place.rows("SELECT name FROM entries WHERE featured AND source = 'curated' ORDER BY name"),
        ids
    );
    assert_eq!(place.rows("SELECT value FROM meta WHERE key = 'snapshot_date'"), [DATE]);
    let found = "SELECT name FROM entries_fts WHERE entries_fts MATCH '\"clock\"'";
    assert_eq!(place.rows(found), ["time"]);
    let mode = fs::metadata(place.database()).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}

#[test]
fn a_source_that_was_fetched_ends_the_snapshot() {
    let registry = Registry::of(1);
    let place = Place::new(&[("registry", CatalogSourceKind::Registry, registry.web.url("/"))]);
    let mut worker = Driven::configured(&place);
    worker.refresh(false);
    let status = worker.until(|said| match said {
        Said::Status(status) if status.activity == Activity::Idle => Some(status),
        _ => None,
    });
    let entries = u32::try_from(CURATED.len()).unwrap() + 1;
    assert_eq!(status, WorkerStatus { activity: Activity::Idle, entries, snapshot: None, next_at: None });
}

#[test]
fn a_file_that_is_damaged_or_of_another_version_is_set_aside() {
    let place = Place::new(&[]);
    let bytes = |version: i64| {
        let path = place.database().with_extension("other");
        let connection = rusqlite::Connection::open(&path).unwrap();
        connection.execute_batch(&format!("CREATE TABLE t (x); PRAGMA user_version = {version}")).unwrap();
        drop(connection);
        let bytes = fs::read(&path).unwrap();
        fs::remove_file(path).unwrap();
        bytes
    };
    drop(Driven::configured(&place));
    // Out of the log, into the file.
    let whole = rusqlite::Connection::open(place.database()).unwrap();
    whole.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())).unwrap();
    drop(whole);
    let mut damaged = fs::read(place.database()).unwrap();
    let middle = damaged.len() / 2;
    damaged[4096..middle].fill(0xff);
    for (content, why) in [
        (bytes(7), "of version 7"),
        (b"no database at all, and long".to_vec(), "damaged"),
        (damaged, "damaged"),
    ] {
        for suffix in ["", "-wal", "-shm"] {
            let _ = fs::remove_file(place.database().with_extension(format!("db{suffix}")));
        }
        fs::write(place.database(), &content).unwrap();
        let mut worker = Driven::bare();
        worker.configure(&place);
        let Said::Opened(Some(said)) = worker.heard() else { panic!("nothing was set aside") };
        assert!(said.contains(why), "{said}");
        assert!(
            fs::read(place.database().with_extension("db.set-aside")).unwrap() == content,
            "it is kept as it was"
        );
        assert_eq!(place.rows("PRAGMA integrity_check"), ["ok"]);
        assert_eq!(place.rows("SELECT value FROM meta WHERE key = 'set_aside'"), [said]);
    }
}

#[test]
fn what_cannot_be_followed_is_said_and_kept_from_doing_harm() {
    let mut worker = Driven::bare();
    worker.send(&ToWorker::Refresh { id: 5, full: false });
    assert_eq!(worker.heard(), Said::Failed(5, WorkerFailure::NotConfigured));
    worker.configure(&Place::new(&[("Curated", CatalogSourceKind::Registry, "http://127.0.0.1:1".into())]));
    assert!(matches!(worker.heard(), Said::Failed(0, WorkerFailure::Settings(_))));
    let place = Place::new(&[]);
    fs::create_dir(place.database()).unwrap();
    worker.configure(&place);
    assert!(matches!(worker.heard(), Said::Failed(0, WorkerFailure::Database(_))));
    fs::remove_dir(place.database()).unwrap();
    worker.configure(&place);
    assert_eq!(worker.heard(), Said::Opened(None));
    worker.send(&ToWorker::Refresh { id: 6, full: false });
    worker.send(&ToWorker::Enrich { id: 7 });
    let failed = |said| matches!(said, Said::Failed(..)).then_some(said);
    assert_eq!(worker.until(failed), Said::Failed(6, WorkerFailure::Nothing));
    assert_eq!(worker.until(failed), Said::Failed(7, WorkerFailure::Nothing));
    assert!(worker.shut_down());
}

#[test]
fn it_ends_at_once_in_the_middle_of_a_refresh() {
    let web = harbor_tests::catalog::web::Web::start(|_| harbor_tests::catalog::web::Reply::Silence);
    let place = Place::new(&[("registry", CatalogSourceKind::Registry, web.url("/"))]);
    let mut worker = Driven::configured(&place);
    worker.ask_refresh(false);
    harbor_tests::wait_until("its request", harbor_tests::LIMIT, || !web.requests().is_empty());
    assert!(worker.shut_down());
    assert_eq!(place.rows("PRAGMA integrity_check"), ["ok"]);
}

#[test]
fn another_version_of_the_program_is_refused() {
    let output = std::process::Command::new(harbor_tests::programs::product("harbor-catalog-worker"))
        .stdin(std::process::Stdio::null())
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("is started by harbor-bridge"));
}
