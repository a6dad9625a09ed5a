//! The files under everything that can happen to them between two lines.

use std::os::unix::fs::symlink;

use nix::sys::stat::Mode;
use nix::unistd::mkfifo;
use proptest::prelude::*;
use tempfile::TempDir;

use super::super::record::Source;
use super::super::record::tests::{any_record, line};
use super::*;
use crate::store::lines::newline;

fn small(max: u64) -> (TempDir, ServerLogFiles, ServerId) {
    let dir = tempfile::tempdir().unwrap();
    let files = ServerLogFiles { max, ..ServerLogFiles::new(dir.path()) };
    (dir, files, ServerId::parse("a.log").unwrap())
}

fn record(n: u64) -> ServerLogRecord {
    ServerLogRecord { timestamp: n, source: Source::Stdout, level: None, text: format!("line {n}") }
}

fn lines(records: &[ServerLogRecord]) -> Vec<u8> {
    records.iter().flat_map(line).collect()
}

fn length(path: &Path) -> u64 {
    path.metadata().map_or(0, |metadata| metadata.len())
}

#[test]
fn a_line_torn_anywhere_is_cut_off_and_the_next_one_is_whole() {
    let records: Vec<_> = (0..3).map(record).collect();
    let (whole, two) = (lines(&records), lines(&records[..2]));
    for end in 0..=whole.len() {
        let (_dir, files, id) = small(MAX_FILE);
        let [path, _] = files.paths(&id);
        fs::write(&path, &whole[..end]).unwrap();
        let kept = records.iter().enumerate().filter(|(n, _)| lines(&records[..=*n]).len() <= end);
        let mut wanted: Vec<_> = kept.map(|(_, record)| record.clone()).collect();
        assert_eq!(files.last(&id, 9), wanted);
        files.append(&id, &line(&record(7))).unwrap();
        wanted.push(record(7));
        assert_eq!(files.last(&id, 9), wanted);
        assert_eq!(fs::read(&path).unwrap(), lines(&wanted));
    }
    assert!(two.len() < whole.len());
}

#[test]
fn what_is_no_line_of_ours_is_skipped_or_emptied() {
    let (_dir, files, id) = small(MAX_FILE);
    let [path, full] = files.paths(&id);
    fs::write(&path, "no newline at all").unwrap();
    files.append(&id, &line(&record(1))).unwrap();
    assert_eq!(fs::read(&path).unwrap(), line(&record(1)));
    let noise = [&line(&record(1))[..], b"\n\0\0\0\n\xff\n{\"t\":1}\n", &line(&record(2)), b"\0\0"].concat();
    fs::write(&path, &noise).unwrap();
    fs::write(&full, &line(&record(0))[3..]).unwrap();
    assert_eq!(files.last(&id, 9), [record(1), record(2)]);
    fs::write(&path, vec![b'x'; 3 * 1024 * 1024]).unwrap();
    assert!(files.last(&id, 9).is_empty());
    files.append(&id, &line(&record(3))).unwrap();
    assert_eq!(files.last(&id, 9), [record(3)]);
}

#[test]
fn a_full_file_is_put_aside_and_costs_no_more_than_another() {
    let (_dir, files, id) = small(1000);
    let [path, full] = files.paths(&id);
    for n in 0..200 {
        files.append(&id, &line(&record(n))).unwrap();
        assert!(length(&path) <= 1000 && length(&full) <= 1000);
    }
    let last = files.last(&id, 200);
    assert_eq!(last, (200 - last.len() as u64..200).map(record).collect::<Vec<_>>());
    assert_eq!(lines(&last).len() as u64, length(&path) + length(&full));
    assert_eq!(files.last(&id, 40).len(), last.len().min(40));
    assert!(files.last(&id, 0).is_empty());
    files.remove(&id).unwrap();
    files.remove(&id).unwrap();
    assert!(!path.exists() && !full.exists() && files.last(&id, 9).is_empty());
}

#[test]
fn only_files_are_touched() {
    let (dir, files, id) = small(MAX_FILE);
    let [path, _] = files.paths(&id);
    let target = dir.path().join("secret");
    fs::write(&target, line(&record(1))).unwrap();
    symlink(&target, &path).unwrap();
    assert!(files.append(&id, &line(&record(2))).is_err());
    assert!(files.last(&id, 9).is_empty());
    assert_eq!(fs::read(&target).unwrap(), line(&record(1)));
    fs::remove_file(&path).unwrap();
    // A FIFO that nobody has open would make an unwary reader wait.
    mkfifo(&path, Mode::S_IRWXU).unwrap();
    assert!(files.append(&id, &line(&record(2))).is_err());
    assert!(files.last(&id, 9).is_empty());
}

/// What happens to a server's log.
#[derive(Debug, Clone)]
enum Step {
    Append(Vec<ServerLogRecord>),
    /// So many of the last line's bytes are missing.
    Tear(prop::sample::Index),
}

fn any_step() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => prop::collection::vec(any_record(), 1..4).prop_map(Step::Append),
        1 => any::<prop::sample::Index>().prop_map(Step::Tear),
    ]
}

proptest! {
    /// The files hold an end of what was appended, and at least one file's worth of it.
    #[test]
    fn what_is_read_is_an_end_of_what_was_appended(
        steps in prop::collection::vec(any_step(), 1..40),
        max in 1u64..2000,
    ) {
        let (_dir, files, id) = small(max);
        let [path, full] = files.paths(&id);
        let mut said: Vec<ServerLogRecord> = Vec::new();
        for step in steps {
            match step {
                Step::Append(records) => {
                    let group = lines(&records);
                    files.append(&id, &group).unwrap();
                    said.extend(records);
                    prop_assert!(length(&path) <= max.max(group.len() as u64));
                }
                Step::Tear(missing) => {
                    let bytes = fs::read(&path).unwrap_or_default();
                    let Some(end) = newline(&bytes) else { continue };
                    let begin = newline(&bytes[..end]).map_or(0, |at| at + 1);
                    fs::write(&path, &bytes[..end - missing.index(end - begin + 1)]).unwrap();
                    said.pop();
                }
            }
            let read = files.last(&id, usize::MAX);
            prop_assert!(said.ends_with(&read), "{read:?}");
            prop_assert!(read.len() == said.len() || full.exists());
            let few = files.last(&id, 2);
            prop_assert_eq!(&few[..], &read[read.len().saturating_sub(2)..]);
        }
    }
}
