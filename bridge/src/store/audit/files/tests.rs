//! The files under everything that can happen to them between two batches.

use std::os::unix::fs::PermissionsExt as _;

use proptest::prelude::*;
use tempfile::TempDir;

use super::*;

fn small(file: u64, old_files: u32) -> (TempDir, AuditFiles) {
    let home = tempfile::tempdir().unwrap();
    let files = AuditFiles::new(&home.path().join("logs/audit.jsonl"), Limits { file, old_files });
    (home, files)
}

fn append(files: &AuditFiles, lines: &str) {
    let mut written = 0;
    files.newest().unwrap().append(lines.as_bytes(), &mut written).unwrap();
    assert_eq!(written, lines.matches('\n').count());
}

/// What is in the files, the newest one first, up to the first one that is not there.
fn contents(files: &AuditFiles) -> Vec<String> {
    (0..).map_while(|n| fs::read_to_string(files.nth(n)).ok()).collect()
}

/// A file of which so many bytes can be written, a few at a time.
struct Disk {
    room: usize,
    written: Vec<u8>,
    disturbed: bool,
}

impl Write for Disk {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.disturbed = !self.disturbed;
        if self.disturbed {
            return Err(io::ErrorKind::Interrupted.into());
        }
        if self.room == 0 {
            return Err(io::ErrorKind::StorageFull.into());
        }
        let now = bytes.len().min(self.room).min(3);
        self.room -= now;
        self.written.extend_from_slice(&bytes[..now]);
        Ok(now)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn as_much_is_written_as_goes() {
    let lines = b"one\ntwo\nthree\n";
    for room in 0..20 {
        let mut disk = Disk { room, written: Vec::new(), disturbed: false };
        let (done, result) = write(&mut disk, lines);
        let wanted = room.min(lines.len());
        assert_eq!(
            (done, &disk.written[..], result.is_ok()),
            (wanted, &lines[..wanted], wanted == lines.len())
        );
    }
}

#[test]
fn a_line_torn_anywhere_is_cut_off_and_nothing_else() {
    let whole = "{\"n\":1}\n{\"n\":2}\n{\"n\":3}\n";
    for end in 0..=whole.len() {
        let (home, files) = small(1000, 1);
        fs::create_dir(home.path().join("logs")).unwrap();
        fs::write(files.nth(0), &whole[..end]).unwrap();
        let kept = &whole[..whole[..end].rfind('\n').map_or(0, |at| at + 1)];
        append(&files, "{\"n\":4}\n");
        assert_eq!(contents(&files), [format!("{kept}{{\"n\":4}}\n")]);
    }
}

#[test]
fn the_first_free_name_ends_the_renaming() {
    let (_home, files) = small(4, 4);
    ["a\n", "bbb\n", "ccc\n", "ddd\n"].iter().for_each(|line| append(&files, line));
    assert_eq!(contents(&files), ["ddd\n", "ccc\n", "bbb\n", "a\n"]);
    fs::remove_file(files.nth(2)).unwrap();
    append(&files, "eee\n");
    assert_eq!(contents(&files), ["eee\n", "ddd\n", "ccc\n", "a\n"]);
    let ends: Vec<_> = files.all().unwrap().iter().map(|(_, end)| *end).collect();
    assert_eq!(ends, [4, 4, 4, 2]);
}

#[test]
fn what_was_put_aside_is_private_and_follows_the_person_who_moves_it() {
    let (home, files) = small(4, 2);
    append(&files, "aaa\nbbb\n");
    for n in 0..2 {
        assert_eq!(files.nth(n).metadata().unwrap().permissions().mode() & 0o777, 0o600);
    }
    fs::rename(home.path().join("logs"), home.path().join("moved")).unwrap();
    append(&files, "ccc\n");
    assert_eq!(contents(&files), ["ccc\n"]);
    assert_eq!(home.path().join("logs").metadata().unwrap().permissions().mode() & 0o777, 0o700);
}

#[test]
fn where_a_name_cannot_be_had_the_file_goes_on_for_a_while_and_takes_nothing_back() {
    for obstacle in ["audit.jsonl.1/x", "audit.jsonl.next/x"] {
        let (home, files) = small(4, 1);
        append(&files, "aaa\n");
        let obstacle = home.path().join("logs").join(obstacle);
        fs::create_dir_all(&obstacle).unwrap();
        append(&files, "bbb\nccc\n");
        assert!(files.newest().unwrap().reserve().unwrap(), "so far it is well");
        let piece = "x".repeat(1023) + "\n";
        append(&files, &piece.repeat(1025));
        assert!(files.newest().unwrap().reserve().is_err(), "what is under way still has a place");
        append(&files, &piece.repeat(1020));
        let (mut written, before) = (0, fs::metadata(files.nth(0)).unwrap().len());
        assert!(files.newest().unwrap().append(piece.repeat(9).as_bytes(), &mut written).is_err());
        assert!((1..9).contains(&written), "{written}");
        assert_eq!(fs::metadata(files.nth(0)).unwrap().len(), before + 1024 * written as u64);
        fs::remove_dir_all(obstacle.parent().unwrap()).unwrap();
        append(&files, "ddd\n");
        let contents = contents(&files);
        assert!(contents[0] == "ddd\n" && contents[1].starts_with("aaa\nbbb\nccc\nx"));
        assert!(files.newest().unwrap().reserve().unwrap());
    }
}

#[test]
fn a_file_that_was_prepared_by_one_who_was_killed_is_the_newest_and_nothing_foreign_is() {
    let (_home, files) = small(4, 2);
    append(&files, "aaa\n");
    fs::write(files.next(), "").unwrap();
    fs::rename(files.nth(0), files.nth(1)).unwrap();
    append(&files, "bbb\n");
    assert_eq!((contents(&files), files.next().exists()), (vec!["bbb\n".into(), "aaa\n".into()], false));
    fs::write(files.next(), "foreign\n").unwrap();
    append(&files, "ccc\n");
    assert_eq!(contents(&files), ["ccc\n", "bbb\n", "aaa\n"]);
    assert!(files.all().is_ok() && !files.next().exists());
}

proptest! {
    // Each file that is put aside costs several visits to the disk.
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    /// The files are what a plain reading of the rule makes of all lines: a line that does not fit begins the next
    /// file, and only the newest files are left.
    #[test]
    fn the_newest_files_are_kept_and_no_line_is_split(
        batches in prop::collection::vec(prop::collection::vec("[a-z]{0,30}\n", 1..8), 1..8),
        max in 1u64..60,
        old_files in 1u32..4,
    ) {
        let (_home, files) = small(max, old_files);
        let mut wanted = vec![String::new()];
        for batch in batches {
            append(&files, &batch.concat());
            for line in batch {
                let newest = wanted.first_mut().unwrap();
                if newest.is_empty() || (newest.len() + line.len()) as u64 <= max {
                    newest.push_str(&line);
                } else {
                    wanted.insert(0, line);
                }
            }
            wanted.truncate(old_files as usize + 1);
            prop_assert_eq!(&contents(&files), &wanted);
        }
    }
}
