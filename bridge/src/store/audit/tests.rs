//! The thread, the queue and the files together.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::PathBuf;
use std::process::Command;
use std::sync::mpsc;
use std::time::Instant;

use nix::fcntl::{AT_FDCWD, RenameFlags};
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
    let files = Arc::new(Files::new(path, Limits::default()));
    let writer = Writer::new(files.clone());
    let audit = Audit::start(files, Arc::default(), move |queue| {
        let _ = released.recv();
        writer.run(queue);
    });
    (audit.unwrap(), release)
}

fn call(n: u64) -> Record {
    Record { timestamp: n, event: "call", by: "owner".into(), ..Record::default() }
}

fn text(record: &Record) -> String {
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
    audit.append_durably(call(1)).await.unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap().lines().collect::<Vec<_>>(), calls(0..2));
    // It is taken at once, also when nobody waits, and many share one visit to the disk.
    let waiting: Vec<_> = (2..1000).map(|n| audit.append_durably(call(n))).collect();
    drop(audit.append_durably(call(1000)));
    for written in waiting {
        written.await.unwrap();
    }
    audit.append_durably(call(1001)).await.unwrap();
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
    assert_eq!([audit.append(call(max)), audit.append(call(max))], [Err(Full), Err(Full)]);
    // Who waited knows that this one is in no file.
    assert!(audit.append_durably(call(max)).await.is_err());
    assert_eq!((audit.lost(), audit.is_failing()), (2, true));
    drop(release);
    let lines = audit.read(all()).await.unwrap();
    let (last, before) = lines.split_last().unwrap();
    assert_eq!((missing(last), before), (2, &calls(0..max)[..]));
    audit.append_durably(call(max)).await.unwrap();
    assert_eq!(audit.read(Query { limit: 1, ..all() }).await.unwrap(), calls([max]));
    assert_eq!((audit.lost(), audit.is_failing()), (2, false));
}

/// Puts something else in place of the file, or the file back, with no moment in which there is nothing.
fn exchange(path: &Path, other: &Path) {
    nix::fcntl::renameat2(AT_FDCWD, path, AT_FDCWD, other, RenameFlags::RENAME_EXCHANGE).unwrap();
}

/// Waits until a disk that refused is well, though nobody has anything to write.
fn wait_until_well(audit: &Audit) {
    let began = Instant::now();
    while audit.is_failing() {
        assert!(began.elapsed() < Duration::from_secs(10));
        std::thread::yield_now();
    }
}

#[tokio::test(flavor = "local")]
async fn what_a_disk_refuses_is_written_when_it_takes_it() {
    let (home, path) = path();
    let audit = open(&path);
    audit.append_durably(call(0)).await.unwrap();
    let moved = home.path().join("moved");
    fs::rename(&path, &moved).unwrap();
    fs::create_dir(&path).unwrap();
    // Who waits is told, and decides what becomes of it.
    assert!(audit.append_durably(call(1)).await.unwrap_err().to_string().contains("Is a directory"));
    assert!(audit.is_failing());
    audit.append(call(2)).unwrap();
    assert!(audit.append_durably(call(3)).await.is_err());
    assert!(audit.read(all()).await.is_err());
    fs::remove_dir(&path).unwrap();
    // Somebody who waits has the disk tried at once.
    audit.append_durably(call(4)).await.unwrap();
    assert!(!audit.is_failing());
    audit.append(call(5)).unwrap();
    assert_eq!(audit.read(all()).await.unwrap(), calls([2, 4, 5]));
    assert_eq!(audit.lost(), 0);
    assert_eq!(fs::read_to_string(&moved).unwrap(), line(&call(0)));
}

#[tokio::test(flavor = "local")]
async fn a_disk_that_refused_is_tried_again_though_nobody_says_anything() {
    let (home, path) = path();
    let audit = open(&path);
    fs::remove_dir_all(home.path().join("logs")).unwrap();
    fs::write(home.path().join("logs"), "a file").unwrap();
    audit.append(call(1)).unwrap();
    assert!(audit.append_durably(call(2)).await.is_err());
    fs::remove_file(home.path().join("logs")).unwrap();
    wait_until_well(&audit);
    assert_eq!(audit.read(all()).await.unwrap(), calls([1]));
}

#[tokio::test(flavor = "local")]
async fn what_a_disk_refuses_until_the_end_is_counted() {
    let (_home, path) = path();
    let audit = open(&path);
    fs::remove_file(&path).unwrap();
    fs::create_dir(&path).unwrap();
    (0..3).for_each(|n| audit.append(call(n)).unwrap());
    audit.close();
    assert_eq!(audit.lost(), 3);
}

/// The part of the test below that runs where a file can have 8 KiB.
async fn on_a_small_disk(home: &Path) {
    let path = home.join("logs/audit.jsonl");
    let audit = open(&path);
    let record = |n| Record { timestamp: n, ..Record::default() };
    let texts = |numbers: std::ops::Range<u64>| numbers.map(|n| text(&record(n))).collect::<Vec<_>>();
    (0..200).for_each(|n| audit.append(record(n)).unwrap());
    let lines = audit.read(all()).await.unwrap();
    let kept = lines.len() as u64;
    assert!((100..200).contains(&kept), "{kept}");
    assert_eq!(lines, texts(0..kept));
    assert!(audit.is_failing());
    assert!(audit.append_durably(record(1000)).await.is_err());
    // The person makes room.
    fs::rename(&path, home.join("moved")).unwrap();
    audit.append_durably(record(200)).await.unwrap();
    assert_eq!(audit.read(all()).await.unwrap(), texts(kept..201));
    assert_eq!((audit.lost(), audit.is_failing()), (0, false));
}

/// Runs the part of a test that needs such a disk: `script` gets this program and its arguments.
fn on_another_disk<F: Future>(name: &str, script: &str, test: impl FnOnce(PathBuf) -> F) {
    const HOME: &str = "HARBOR_TEST_SMALL_DISK";
    if let Some(home) = std::env::var_os(HOME) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        runtime.block_on(test(home.into()));
        return;
    }
    let home = tempfile::tempdir().unwrap();
    let (_, module) = module_path!().split_once("::").unwrap();
    let output = Command::new("unshare")
        .args(["--user", "--map-root-user", "--mount", "bash", "-c", script])
        .arg(std::env::current_exe().unwrap())
        .args(["--exact", &format!("{module}::{name}")])
        .env(HOME, home.path())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && said.contains("1 passed"), "{output:?}");
}

#[test]
fn a_full_disk_takes_whole_lines_until_it_is_full_and_goes_on_when_there_is_room() {
    let name = "a_full_disk_takes_whole_lines_until_it_is_full_and_goes_on_when_there_is_room";
    let script = "ulimit -f 8 && trap '' XFSZ && exec \"$0\" \"$@\"";
    on_another_disk(name, script, |home| async move { on_a_small_disk(&home).await });
}

/// Whoever asks before each call whether the log is well: nothing of what happens then is missing, though somebody
/// else takes all room that is left, and keeps it.
async fn beside_one_who_fills_the_disk(home: &Path) {
    let path = home.join("logs/audit.jsonl");
    let record = |n| Record { origin: Some("x".repeat(500).into()), ..call(n) };
    let filler = home.join("filler");
    let audit = open(&path);
    assert!(!audit.is_failing());
    fs::write(&filler, vec![b'x'; 8 * 1024 * 1024]).unwrap_err();
    let mut count = 0;
    while !audit.is_failing() {
        audit.append(record(count)).unwrap();
        count += 1;
        if count.is_multiple_of(100) {
            assert_eq!(audit.read(Query { limit: 1, ..all() }).await.unwrap(), [text(&record(count - 1))]);
        }
    }
    assert!((1000..4000).contains(&count), "{count}");
    // What is under way when that is noticed.
    (count..count + 1000).for_each(|n| audit.append(record(n)).unwrap());
    let wanted: Vec<_> = (0..count + 1000).map(|n| text(&record(n))).collect();
    assert_eq!(audit.read(all()).await.unwrap(), wanted);
    // A line or two would fit; that is not well.
    assert!(audit.is_failing());
    drop(audit);
    let audit = open(&path);
    assert!(audit.is_failing(), "a new one knows before the first call");
    fs::remove_file(&filler).unwrap();
    wait_until_well(&audit);
    assert_eq!((audit.lost(), audit.read(all()).await.unwrap()), (0, wanted));
}

#[test]
fn a_log_that_was_well_has_room_for_what_happens_until_it_is_known_to_have_none() {
    let name = "a_log_that_was_well_has_room_for_what_happens_until_it_is_known_to_have_none";
    let script = "mount -t tmpfs -o size=4m none \"$HARBOR_TEST_SMALL_DISK\" && exec \"$0\" \"$@\"";
    on_another_disk(name, script, |home| async move { beside_one_who_fills_the_disk(&home).await });
}

#[test]
fn room_that_was_held_goes_on_to_the_next_file() {
    let (_home, path) = path();
    let files = Files::new(&path, Limits { file: 100, old_files: 2 });
    let mut newest = files.newest().unwrap();
    newest.reserve().unwrap();
    let on_disk = |path: &Path| fs::metadata(path).unwrap().blocks() * 512;
    assert!(on_disk(&path) >= 1024 * 1024);
    newest.append(line(&call(0)).repeat(2).as_bytes(), &mut 0).unwrap();
    assert!(on_disk(&path.with_extension("jsonl.1")) < 64 * 1024);
}

#[tokio::test(flavor = "local")]
async fn a_log_that_is_closed_takes_nothing_and_can_be_read() {
    let (_home, path) = path();
    let audit = open(&path);
    audit.append(call(0)).unwrap();
    audit.close();
    assert_eq!(fs::read_to_string(&path).unwrap(), line(&call(0)));
    assert_eq!(audit.append(call(1)), Err(Full));
    assert!(audit.append_durably(call(2)).await.is_err());
    assert_eq!(audit.read(all()).await.unwrap(), calls(0..1));
    assert_eq!(audit.lost(), 1);
}

#[tokio::test(flavor = "local")]
async fn a_disk_that_hangs_holds_up_the_end_no_longer_than_the_limit() {
    let (_home, path) = path();
    let (audit, release) = hanging(&path);
    let written = audit.append_durably(call(0));
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
    let as_origin = Record { origin: Some(evil.into()), ..call(1) };
    let as_sender = Record { by: evil.into(), ..call(2) };
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
                    Step::AppendDurably => audit.append_durably(call(count)).await.unwrap(),
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

    /// A disk that refuses now and then: all that nobody waited for is there in the end, and of the rest what was
    /// said to be.
    #[test]
    fn a_disk_that_refuses_now_and_then_loses_nothing(
        steps in prop::collection::vec((prop::bool::weighted(0.2), prop::bool::weighted(0.4)), 1..60),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        runtime.block_on(async {
            let (home, path) = path();
            let other = home.path().join("other");
            fs::create_dir(&other).unwrap();
            let audit = open(&path);
            let mut wanted = Vec::new();
            for (n, (changes, durably)) in (0..).zip(steps) {
                if changes {
                    exchange(&path, &other);
                }
                if durably {
                    let written = audit.append_durably(call(n)).await.is_ok();
                    assert_eq!(written, path.is_file());
                    wanted.extend(written.then_some(n));
                } else {
                    audit.append(call(n)).unwrap();
                    wanted.push(n);
                }
            }
            if path.is_dir() {
                exchange(&path, &other);
            }
            assert_eq!(audit.read(all()).await.unwrap(), calls(wanted));
            assert_eq!(audit.lost(), 0);
        });
    }
}
