//! The thread, the queue and the files together.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::sync::mpsc;
use std::time::Instant;

use tempfile::TempDir;

use super::*;

fn id(text: &str) -> ServerId {
    ServerId::parse(text).unwrap()
}

fn said(n: u64) -> ServerLogRecord {
    ServerLogRecord { timestamp: n, source: Source::Stderr, level: None, text: format!("line {n}") }
}

fn remark(timestamp: u64, text: &str) -> ServerLogRecord {
    ServerLogRecord { timestamp, source: Source::Harbor, level: None, text: text.into() }
}

/// A directory that is yet to be made.
fn directory() -> (TempDir, PathBuf) {
    let home = tempfile::tempdir().unwrap();
    let dir = home.path().join("logs/servers");
    (home, dir)
}

/// Logs whose disk hangs until the sender is dropped; the receiver is closed when they are written.
fn hanging(dir: &Path) -> (ServerLogs, mpsc::Sender<()>, mpsc::Receiver<()>) {
    let ((release, released), (writing, written)) = (mpsc::channel::<()>(), mpsc::channel::<()>());
    let writer = ServerLogWriter::new(ServerLogFiles::new(dir));
    let logs = ServerLogs::start(move |queue| {
        let _ = released.recv();
        writer.run(queue);
        drop(writing);
    });
    (logs.unwrap(), release, written)
}

#[tokio::test(flavor = "local")]
async fn what_was_said_before_a_restart_is_still_there() {
    let (_home, dir) = directory();
    {
        let logs = ServerLogs::open(&dir).unwrap();
        (0..5).for_each(|n| logs.append(&id("a"), &said(n)));
        logs.append(&id("b"), &said(9));
        assert_eq!(logs.last(&id("a"), 2).await, [said(3), said(4)]);
        logs.append(&id("a"), &said(5));
    }
    let logs = ServerLogs::open(&dir).unwrap();
    assert_eq!(logs.last(&id("a"), 100).await, (0..6).map(said).collect::<Vec<_>>());
    assert_eq!(logs.last(&id("b"), 100).await, [said(9)]);
    assert_eq!(logs.last(&id("c"), 100).await, []);
    let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(&dir), mode(&dir.join("a.log"))), (0o700, 0o600));
    assert!(!dir.join("c.log").exists());
}

#[tokio::test(flavor = "local")]
async fn a_removed_server_leaves_nothing_and_its_successor_begins_anew() {
    let (_home, dir) = directory();
    let logs = ServerLogs::open(&dir).unwrap();
    logs.append(&id("a"), &said(1));
    assert_eq!(logs.last(&id("a"), 9).await, [said(1)]);
    logs.append(&id("a"), &said(2));
    logs.forget(&id("a"));
    logs.append(&id("a"), &said(3));
    assert_eq!(logs.last(&id("a"), 9).await, [said(3)]);
    logs.forget(&id("a"));
    assert_eq!(logs.last(&id("a"), 9).await, []);
    assert_eq!(fs::read_dir(&dir).unwrap().count(), 0);
    // What its predecessor lost is none of the successor's business.
    fs::create_dir(dir.join("a.log")).unwrap();
    logs.append(&id("a"), &said(4));
    assert_eq!(logs.last(&id("a"), 9).await, []);
    fs::remove_dir(dir.join("a.log")).unwrap();
    logs.forget(&id("a"));
    assert_eq!(logs.last(&id("a"), 9).await, []);
}

#[tokio::test(flavor = "local")]
async fn lines_beyond_the_queue_are_counted_and_the_file_says_so() {
    let (_home, dir) = directory();
    let (logs, release, _written) = hanging(&dir);
    (0..20_000).for_each(|n| logs.append(&id("a"), &said(n)));
    logs.append(&id("b"), &said(1));
    drop(release);
    let lines = logs.last(&id("a"), 20_000).await;
    let (note, kept) = lines.split_last().unwrap();
    assert_eq!(kept, (0..kept.len() as u64).map(said).collect::<Vec<_>>());
    let lost = 20_000 - kept.len();
    assert_eq!(*note, remark(19_999, &format!("{lost} lines were not written: the disk is too slow")));
    assert_eq!(logs.last(&id("b"), 9).await, [said(1)]);
    logs.append(&id("a"), &said(20_000));
    assert_eq!(logs.last(&id("a"), 2).await, [note.clone(), said(20_000)]);
}

#[test]
fn a_disk_that_hangs_holds_up_the_end_no_longer_than_the_limit() {
    let (_home, dir) = directory();
    let (logs, release, written) = hanging(&dir);
    logs.append(&id("a"), &said(1));
    let began = Instant::now();
    drop(logs);
    assert!(began.elapsed() >= LAST_WORDS && !dir.exists());
    drop(release);
    assert!(written.recv().is_err(), "its place goes after that");
}

#[tokio::test(flavor = "local")]
async fn a_file_that_cannot_be_written_is_told_of_when_it_can() {
    let (_home, dir) = directory();
    let logs = ServerLogs::open(&dir).unwrap();
    let path = dir.join("a.log");
    fs::create_dir(&path).unwrap();
    logs.append(&id("a"), &said(1));
    assert_eq!(logs.last(&id("a"), 9).await, []);
    logs.append(&id("a"), &said(2));
    assert_eq!(logs.last(&id("a"), 9).await, []);
    fs::remove_dir(&path).unwrap();
    logs.append(&id("a"), &said(3));
    let lines = logs.last(&id("a"), 9).await;
    let text = format!("2 lines were not written: open {}: Is a directory (os error 21)", path.display());
    assert_eq!(lines, [remark(2, &text), said(3)]);
    // Nobody says anything any more, but somebody looks.
    fs::remove_file(&path).unwrap();
    fs::create_dir(&path).unwrap();
    logs.append(&id("a"), &said(4));
    assert_eq!(logs.last(&id("a"), 9).await, []);
    fs::remove_dir(&path).unwrap();
    let lines = logs.last(&id("a"), 9).await;
    assert!(lines.len() == 1 && lines[0].text.starts_with("1 line was not written: open "), "{lines:?}");
}

#[tokio::test(flavor = "local")]
async fn a_directory_that_is_removed_is_made_again() {
    let (home, dir) = directory();
    let logs = ServerLogs::open(&dir).unwrap();
    logs.append(&id("a"), &said(1));
    assert_eq!(logs.last(&id("a"), 9).await, [said(1)]);
    fs::remove_dir_all(home.path().join("logs")).unwrap();
    logs.append(&id("a"), &said(2));
    assert_eq!(logs.last(&id("a"), 9).await, [said(2)]);
    assert_eq!(dir.metadata().unwrap().permissions().mode() & 0o777, 0o700);
}

#[test]
fn a_directory_that_cannot_be_made_is_an_error() {
    let (home, dir) = directory();
    fs::write(home.path().join("logs"), "a file").unwrap();
    assert!(ServerLogs::open(&dir).is_err());
}
