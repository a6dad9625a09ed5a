//! What passes do to the tables, beyond what is seen from outside.

use harbor_ipc_proto::link::worker::{CatalogSourceKind, Changes};

use super::*;
use crate::entry::{Entry, Status};
use crate::time::DAY;

const NOW: u64 = 1000 * DAY;

fn open() -> (tempfile::TempDir, Db) {
    let dir = tempfile::tempdir().unwrap();
    let (mut db, set_aside) = Db::open(&dir.path().join("catalog.db"), NOW).unwrap();
    assert_eq!(set_aside, None);
    db.configure(&[Origin {
        id: "r".into(),
        kind: CatalogSourceKind::Registry,
        url: "https://r.example/".into(),
    }])
    .unwrap();
    (dir, db)
}

fn entry(name: &str) -> Entry {
    Entry {
        name: name.into(),
        description: "d".into(),
        packages: "[]".into(),
        remotes: "[]".into(),
        repository: Some(format!("https://github.com/ann/{name}")),
        ..Entry::default()
    }
}

fn pass(db: &mut Db, entries: &[Entry], now: u64) -> (Changes, u32) {
    let mut pass = db.begin("r", true, now).unwrap();
    entries.iter().try_for_each(|entry| pass.put(entry)).unwrap();
    pass.remove_the_others().unwrap();
    pass.finish("r", &Ended { full: true, ..Ended::default() }, now).unwrap()
}

fn text(db: &Db, query: &str) -> String {
    db.connection.query_row(query, [], |row| row.get::<_, Option<String>>(0)).unwrap().unwrap_or_default()
}

#[test]
fn a_pass_that_is_dropped_has_not_happened() {
    let (_dir, mut db) = open();
    pass(&mut db, &[entry("a")], NOW);
    let mut dropped = db.begin("r", true, NOW + 1).unwrap();
    dropped.put(&entry("b")).unwrap();
    dropped.remove_the_others().unwrap();
    drop(dropped);
    assert_eq!(
        text(&db, "SELECT group_concat(name) FROM entries WHERE source = 'r' AND removed_at IS NULL"),
        "a"
    );
}

#[test]
fn of_two_with_one_name_the_first_counts() {
    let (_dir, mut db) = open();
    let second = Entry { description: "second".into(), ..entry("a") };
    let both = [entry("a"), second];
    assert_eq!(pass(&mut db, &both, NOW), (Changes { added: 1, ..Changes::default() }, 1));
    assert_eq!(pass(&mut db, &both, NOW + 1).0, Changes::default());
    assert_eq!(text(&db, "SELECT description FROM entries WHERE source = 'r'"), "d");
}

#[test]
fn what_was_found_out_outlives_an_update_and_moves_the_entry_up() {
    let (_dir, mut db) = open();
    pass(&mut db, &[entry("a"), entry("b")], NOW);
    let candidates = db.candidates(NOW).unwrap();
    let b = candidates
        .iter()
        .find(|candidate| candidate.repository.as_deref() == Some("https://github.com/ann/b"));
    let found =
        Found { stars: Some(999), last_commit_at: Some(NOW), etag: Some("e".into()), downloads: None };
    db.keep(&[(b.unwrap().clone(), Some(found))], NOW).unwrap();
    let order = "SELECT group_concat(name || ':' || popularity) FROM
        (SELECT * FROM entries WHERE source = 'r' ORDER BY priority DESC)";
    assert_eq!(text(&db, order), "b:350,a:0");
    let changed = Entry { description: "other".into(), ..entry("b") };
    assert_eq!(pass(&mut db, &[entry("a"), changed], NOW + 1).0.updated, 1);
    assert_eq!(text(&db, order), "b:350,a:0");
    assert_eq!(db.candidates(NOW + 1).unwrap().len(), candidates.len() - 1);
    assert_eq!(db.candidates(NOW + 2 * DAY).unwrap().len(), candidates.len());
    db.rescore_daily(NOW + 10 * DAY).unwrap();
    assert_eq!(text(&db, order), "b:325,a:0", "its last commit grows old");
}

#[test]
fn what_was_removed_long_ago_is_forgotten_and_changes_are_few() {
    let (_dir, mut db) = open();
    let many: Vec<Entry> = (0..6000).map(|n| entry(&format!("e{n}"))).collect();
    pass(&mut db, &many, NOW);
    assert_eq!(
        pass(&mut db, &[entry("a")], NOW + 1),
        (Changes { added: 1, removed: 6000, ..Changes::default() }, 1)
    );
    assert_eq!(text(&db, "SELECT count(*) || '' FROM changes"), "5000");
    pass(&mut db, &[entry("a")], NOW + 91 * DAY);
    assert_eq!(text(&db, "SELECT count(*) || '' FROM entries WHERE source = 'r'"), "1");
    let gone = Entry { status: Status::Deleted, ..entry("a") };
    assert_eq!(pass(&mut db, &[gone], NOW + 92 * DAY).0.removed, 1);
    db.connection
        .execute_batch("INSERT INTO entries_fts (entries_fts, rank) VALUES ('integrity-check', 1)")
        .unwrap();
}

#[test]
fn failures_are_counted_until_one_succeeds() {
    let (_dir, mut db) = open();
    let first = db.failed("r", "x", None, NOW).unwrap();
    assert!(db.failed("r", "x", None, NOW).unwrap() > first);
    assert_eq!(db.source("r").unwrap().failures, 2);
    db.failed("r", "x", Some(DAY), NOW).unwrap();
    assert_eq!(db.source("r").unwrap().history.retry_after, Some(NOW + DAY));
    pass(&mut db, &[entry("a")], NOW + 1);
    let source = db.source("r").unwrap();
    assert_eq!((source.failures, source.history.not_before, source.history.retry_after), (0, None, None));
}
