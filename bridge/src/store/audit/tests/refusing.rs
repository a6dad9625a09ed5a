//! A disk that refuses, or is full: what was let happen is written when it takes it, and what it cannot take is known before.

use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use nix::fcntl::{AT_FDCWD, RenameFlags};
use proptest::prelude::*;

use super::super::files::AuditFiles;
use super::super::record::tests::line;
use super::super::{AuditRecord, Limits, Query};
use super::{all, call, calls, missing, open, path, text};
use crate::store::audit::Audit;

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
    audit.append_durably(call(0), false).await.unwrap();
    let moved = home.path().join("moved");
    fs::rename(&path, &moved).unwrap();
    fs::create_dir(&path).unwrap();
    // Who waits is told, and has said what becomes of it then.
    assert!(audit.append_durably(call(1), false).await.unwrap_err().to_string().contains("Is a directory"));
    assert!(audit.is_failing());
    audit.append(call(2)).unwrap();
    assert!(audit.append_durably(call(3), true).await.is_err());
    assert!(audit.read(all()).await.is_err());
    fs::remove_dir(&path).unwrap();
    // Somebody who waits has the disk tried at once.
    audit.append_durably(call(4), false).await.unwrap();
    assert!(!audit.is_failing());
    audit.append(call(5)).unwrap();
    assert_eq!(audit.read(all()).await.unwrap(), calls(2..6));
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
    assert!(audit.append_durably(call(2), false).await.is_err());
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

/// Files of 8 KiB at most.
const LIMITED: &str = "ulimit -f 8 && trap '' XFSZ && exec \"$0\" \"$@\"";

/// A disk of 6 MiB.
const MOUNTED: &str = "mount -t tmpfs -o size=6m none \"$HARBOR_TEST_SMALL_DISK\" && exec \"$0\" \"$@\"";

/// As on a disk that has a few bytes left: the line about them is shorter than theirs.
async fn where_only_a_short_line_fits(home: &Path) {
    let path = home.join("logs/audit.jsonl");
    let record = || AuditRecord { origin: Some("x".repeat(500).into()), ..call(1) };
    let audit = open(&path);
    (0..20).for_each(|_| audit.append(record()).unwrap());
    audit.close();
    let text = fs::read_to_string(&path).unwrap();
    let (last, before) = text.lines().collect::<Vec<_>>().split_last().map(|(l, b)| (*l, b.len())).unwrap();
    assert_eq!((missing(last), audit.lost()), (20 - before as u64, 20 - before as u64));
}

#[test]
fn what_is_missing_at_the_end_is_told_where_that_fits() {
    let name = "what_is_missing_at_the_end_is_told_where_that_fits";
    on_another_disk(name, LIMITED, |home| async move { where_only_a_short_line_fits(&home).await });
}

/// The part of the test below that runs where a file can have 8 KiB.
async fn on_a_small_disk(home: &Path) {
    let path = home.join("logs/audit.jsonl");
    let audit = open(&path);
    let record = |n| AuditRecord { timestamp: n, ..AuditRecord::default() };
    let texts = |numbers: std::ops::Range<u64>| numbers.map(|n| text(&record(n))).collect::<Vec<_>>();
    (0..200).for_each(|n| audit.append(record(n)).unwrap());
    let lines = audit.read(all()).await.unwrap();
    let kept = lines.len() as u64;
    assert!((100..200).contains(&kept), "{kept}");
    assert_eq!(lines, texts(0..kept));
    assert!(audit.is_failing());
    assert!(audit.append_durably(record(1000), false).await.is_err());
    // The person makes room.
    fs::rename(&path, home.join("moved")).unwrap();
    audit.append_durably(record(200), false).await.unwrap();
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
    let program = std::env::current_exe().unwrap();
    // Beside the program, since that is on a disk: in memory a file's limit also holds for what is only reserved.
    let home = tempfile::tempdir_in(program.parent().unwrap()).unwrap();
    let (_, module) = module_path!().split_once("::").unwrap();
    let output = Command::new("unshare")
        .args(["--user", "--map-root-user", "--mount", "bash", "-c", script])
        .arg(program)
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
    on_another_disk(name, LIMITED, |home| async move { on_a_small_disk(&home).await });
}

/// Whoever asks before each call whether the log is well: nothing of what happens then is missing, though somebody
/// else takes all room that there is, all the time, and keeps it; nor if the bridge ends before there is any.
async fn beside_one_who_fills_the_disk(home: &Path, limits: Limits) {
    let path = home.join("logs/audit.jsonl");
    let record = |n| AuditRecord { origin: Some("x".repeat(500).into()), ..call(n) };
    let filler = home.join("filler");
    let fill = || {
        let mut filler = OpenOptions::new().append(true).create(true).open(&filler).unwrap();
        while filler.write_all(&[b'x'; 4096]).is_ok() {}
    };
    let open = || Audit::open(&path, limits).unwrap();
    let audit = open();
    assert!(!audit.is_failing());
    let mut count = 0;
    while !audit.is_failing() {
        fill();
        audit.append(record(count)).unwrap();
        count += 1;
        if count.is_multiple_of(100) {
            let _ = audit.read(Query { limit: 1, ..all() }).await.unwrap();
        }
    }
    assert!((1000..4000).contains(&count), "{count}");
    // What is under way when that is noticed.
    (count..count + 1000).for_each(|n| audit.append(record(n)).unwrap());
    let wanted: Vec<_> = (0..count + 1000).map(|n| text(&record(n))).collect();
    assert_eq!(audit.read(all()).await.unwrap(), wanted);
    // A line or two would fit; that is not well.
    assert!(audit.is_failing());
    audit.close();
    assert_eq!(audit.lost(), 0);
    let audit = open();
    assert!(audit.is_failing(), "a new one knows before the first call");
    fs::remove_file(&filler).unwrap();
    wait_until_well(&audit);
    assert_eq!((audit.lost(), audit.read(all()).await.unwrap()), (0, wanted));
}

#[test]
fn a_log_that_was_well_has_room_for_what_happens_until_it_is_known_to_have_none() {
    let name = "a_log_that_was_well_has_room_for_what_happens_until_it_is_known_to_have_none";
    on_another_disk(name, MOUNTED, |home| async move {
        beside_one_who_fills_the_disk(&home, Limits::default()).await;
    });
}

#[test]
fn nor_is_that_room_let_go_when_the_next_file_would_begin() {
    let name = "nor_is_that_room_let_go_when_the_next_file_would_begin";
    on_another_disk(name, MOUNTED, |home| async move {
        let limits = Limits { file: 200 * 1024, ..Limits::default() };
        beside_one_who_fills_the_disk(&home, limits).await;
    });
}

/// One that holds no room, and says of none.
async fn on_a_disk_that_promises_nothing(home: &Path) {
    let path = home.join("logs/audit.jsonl");
    let files = AuditFiles::new(&path, Limits::default());
    assert!(!files.newest().unwrap().reserve().unwrap());
    let audit = open(&path);
    audit.append_durably(call(0), false).await.unwrap();
    assert!(!audit.is_failing());
    assert_eq!(audit.read(all()).await.unwrap(), calls(0..1));
}

#[test]
fn a_disk_that_promises_nothing_is_believed() {
    let script = "mount -t ramfs none \"$HARBOR_TEST_SMALL_DISK\" && exec \"$0\" \"$@\"";
    on_another_disk("a_disk_that_promises_nothing_is_believed", script, |home| async move {
        on_a_disk_that_promises_nothing(&home).await;
    });
}

#[test]
fn room_that_was_held_goes_on_to_the_next_file() {
    let (_home, path) = path();
    let files = AuditFiles::new(&path, Limits { file: 100, old_files: 2 });
    let mut newest = files.newest().unwrap();
    newest.reserve().unwrap();
    let on_disk = |path: &Path| fs::metadata(path).unwrap().blocks() * 512;
    assert!(on_disk(&path) >= 1024 * 1024);
    newest.append(line(&call(0)).repeat(2).as_bytes(), &mut 0).unwrap();
    assert!(on_disk(&path.with_extension("jsonl.1")) < 64 * 1024);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    /// A disk that refuses now and then: in the end all is there, in its order, but for what was told that it is not and
    /// is of no use later.
    #[test]
    fn a_disk_that_refuses_now_and_then_loses_nothing(
        steps in prop::collection::vec((prop::bool::weighted(0.2), 0..5u8), 1..60),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        runtime.block_on(async {
            let (home, path) = path();
            let other = home.path().join("other");
            fs::create_dir(&other).unwrap();
            let audit = open(&path);
            let mut wanted = Vec::new();
            for (n, (changes, how)) in (0..).zip(steps) {
                if changes {
                    exchange(&path, &other);
                }
                let or_later = how == 1;
                let is_there = if how < 2 {
                    let written = audit.append_durably(call(n), or_later).await.is_ok();
                    assert_eq!(written, path.is_file());
                    written || or_later
                } else {
                    audit.append(call(n)).is_ok()
                };
                wanted.extend(is_there.then_some(n));
            }
            if path.is_dir() {
                exchange(&path, &other);
            }
            assert_eq!(audit.read(all()).await.unwrap(), calls(wanted));
            assert_eq!(audit.lost(), 0);
        });
    }
}
