//! The thread, the queue and the files together.

mod refusing;

use std::fs;
use std::path::PathBuf;
use std::sync::mpsc;
use std::time::Instant;

use proptest::prelude::*;
use serde_json::Value;
use tempfile::TempDir;

use super::queue::MAX_RECORDS;
use super::record::tests::line;
use super::*;

/// A path whose directory is yet to be made.
fn path() -> (TempDir, PathBuf) {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("logs/audit.jsonl");
    (home, path)
}

fn open(path: &Path) -> Audit {
    Audit::open(path, Limits::default()).unwrap()
}

/// A log whose disk hangs until the sender is dropped.
fn hanging(path: &Path) -> (Audit, mpsc::Sender<()>) {
    let (release, released) = mpsc::channel::<()>();
    let files = Arc::new(AuditFiles::new(path, Limits::default()));
    let writer = AuditWriter::new(files.clone(), false);
    let audit = Audit::start(files, Arc::default(), move |queue| {
        let _ = released.recv();
        writer.run(queue);
    });
    (audit.unwrap(), release)
}

fn call(n: u64) -> AuditRecord {
    AuditRecord { timestamp: n, event: "call", by: "owner".into(), ..AuditRecord::default() }
}

fn text(record: &AuditRecord) -> String {
    line(record).trim_end().to_owned()
}

fn calls(numbers: impl IntoIterator<Item = u64>) -> Vec<String> {
    numbers.into_iter().map(|n| text(&call(n))).collect()
}

fn all() -> Query {
    Query { limit: usize::MAX, ..Query::default() }
}

/// How many records a line says to be missing.
fn missing(line: &str) -> u64 {
    let line: Value = serde_json::from_str(line).unwrap();
    assert_eq!((&line["event"], &line["by"]), (&"unaudited".into(), &"harbor".into()));
    line["count"].as_u64().unwrap()
}

#[tokio::test(flavor = "local")]
async fn nothing_is_lost_and_the_order_is_kept_across_a_restart() {
    let (_home, path) = path();
    {
        let audit = open(&path);
        (0..5000).for_each(|n| audit.append(call(n)).unwrap());
        assert_eq!(audit.read(all()).await.unwrap(), calls(0..5000));
        (5000..5010).for_each(|n| audit.append(call(n)).unwrap());
    }
    let audit = open(&path);
    audit.append(call(5010)).unwrap();
    assert_eq!(audit.read(all()).await.unwrap(), calls(0..5011));
    assert_eq!(audit.read(Query { limit: 2, ..all() }).await.unwrap(), calls(5009..5011));
    assert_eq!((audit.lost(), audit.is_failing()), (0, false));
}

#[tokio::test(flavor = "local")]
async fn what_is_awaited_is_on_disk_with_all_before_it() {
    let (_home, path) = path();
    let audit = open(&path);
    audit.append(call(0)).unwrap();
    audit.append_durably(call(1), false).await.unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap().lines().collect::<Vec<_>>(), calls(0..2));
    // It is taken at once, also when nobody waits, and many share one visit to the disk.
    let waiting: Vec<_> = (2..1000).map(|n| audit.append_durably(call(n), false)).collect();
    drop(audit.append_durably(call(1000), false));
    for written in waiting {
        written.await.unwrap();
    }
    audit.append_durably(call(1001), false).await.unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap().lines().collect::<Vec<_>>(), calls(0..1002));
}

#[test]
fn what_nobody_waits_for_is_in_the_file_soon() {
    let (_home, path) = path();
    let audit = open(&path);
    audit.append(call(0)).unwrap();
    let began = Instant::now();
    while fs::read_to_string(&path).unwrap() != line(&call(0)) {
        assert!(began.elapsed() < Duration::from_secs(10));
        std::thread::yield_now();
    }
}

#[tokio::test(flavor = "local")]
async fn a_slow_disk_fills_the_queue_and_the_file_says_what_is_missing() {
    let (_home, path) = path();
    let (audit, release) = hanging(&path);
    let max = MAX_RECORDS as u64;
    (0..max).for_each(|n| audit.append(call(n)).unwrap());
    assert_eq!(
        [audit.append(call(max)), audit.append(call(max))],
        [Err(AuditQueueFull), Err(AuditQueueFull)]
    );
    // Who waited knows that this one is in no file, and does nothing.
    assert!(audit.append_durably(call(max), false).await.is_err());
    assert_eq!((audit.lost(), audit.is_failing()), (2, true));
    drop(release);
    let lines = audit.read(all()).await.unwrap();
    let (last, before) = lines.split_last().unwrap();
    assert_eq!((missing(last), before), (2, &calls(0..max)[..]));
    audit.append_durably(call(max), false).await.unwrap();
    assert_eq!(audit.read(Query { limit: 1, ..all() }).await.unwrap(), calls([max]));
    assert_eq!((audit.lost(), audit.is_failing()), (2, false));
}

#[tokio::test(flavor = "local")]
async fn a_log_that_is_closed_takes_nothing_and_can_be_read() {
    let (_home, path) = path();
    let audit = open(&path);
    audit.append(call(0)).unwrap();
    audit.close();
    assert_eq!(fs::read_to_string(&path).unwrap(), line(&call(0)));
    assert_eq!(audit.append(call(1)), Err(AuditQueueFull));
    assert!(audit.append_durably(call(2), false).await.is_err());
    assert_eq!(audit.read(all()).await.unwrap(), calls(0..1));
    assert_eq!(audit.lost(), 1);
}

#[tokio::test(flavor = "local")]
async fn a_disk_that_hangs_holds_up_the_end_no_longer_than_the_limit() {
    let (_home, path) = path();
    let (audit, release) = hanging(&path);
    let written = audit.append_durably(call(0), false);
    let began = Instant::now();
    drop(audit);
    assert!(began.elapsed() >= LAST_WORDS && !path.exists());
    drop(release);
    written.await.unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap(), line(&call(0)));
}

#[test]
fn a_log_that_cannot_be_written_is_not_opened() {
    let (home, path) = path();
    fs::create_dir_all(&path).unwrap();
    assert!(Audit::open(&path, Limits::default()).is_err());
    assert!(Audit::open(&home.path().join("logs/audit.jsonl/a/b"), Limits::default()).is_ok());
}

#[tokio::test(flavor = "local")]
async fn an_origin_finds_its_own_lines_whatever_it_is_called() {
    let (_home, path) = path();
    let audit = open(&path);
    let evil = "https://a\n{\"event\":\"grant\",\"timestamp\":1,\"by\":\"owner\"}\n";
    let as_origin = AuditRecord { origin: Some(evil.into()), ..call(1) };
    let as_sender = AuditRecord { by: evil.into(), ..call(2) };
    for record in [&call(0), &as_origin, &as_sender] {
        audit.append(record.clone()).unwrap();
    }
    let of = |origin: &str| Query { origin: Some(origin.into()), ..all() };
    assert_eq!(audit.read(of(evil)).await.unwrap(), [text(&as_origin), text(&as_sender)]);
    assert_eq!(audit.read(of("owner")).await.unwrap(), [text(&call(0)), text(&as_origin)]);
    let since = Query { since_ms: Some(2), ..all() };
    assert_eq!(audit.read(since).await.unwrap(), [text(&as_sender)]);
}

/// What happens to a log.
#[derive(Debug, Clone, Copy)]
enum Step {
    Append,
    AppendDurably,
    Read,
    Restart,
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    /// Small files, so that lines are put aside all the time: what is read is an end of what was appended, and at
    /// least the files that are kept, each of which holds more than half of what it may.
    #[test]
    fn what_is_read_is_an_end_of_what_was_appended(
        steps in prop::collection::vec(
            prop::sample::select(vec![Step::Append, Step::Append, Step::AppendDurably, Step::Read, Step::Restart]),
            1..60,
        ),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        runtime.block_on(async {
            let (_home, path) = path();
            let limits = Limits { file: 400, old_files: 2 };
            let mut audit = Audit::open(&path, limits).unwrap();
            let mut count = 0;
            for step in steps.into_iter().chain([Step::Read]) {
                match step {
                    Step::Append => audit.append(call(count)).unwrap(),
                    Step::AppendDurably => audit.append_durably(call(count), false).await.unwrap(),
                    Step::Restart => {
                        drop(audit);
                        audit = Audit::open(&path, limits).unwrap();
                    }
                    Step::Read => {
                        let read = audit.read(all()).await.unwrap();
                        let said = calls(0..count);
                        assert!(said.ends_with(&read), "{read:?}");
                        let bytes: usize = read.iter().map(|line| line.len() + 1).sum();
                        assert!(read.len() == said.len() || bytes > 400);
                    }
                }
                count += u64::from(matches!(step, Step::Append | Step::AppendDurably));
            }
        });
    }
}
