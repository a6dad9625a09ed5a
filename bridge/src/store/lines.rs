//! A file of lines that only grows.
//!
//! Owns how it is opened: for this user only, no link, no FIFO that would make the opener wait, and ending with a
//! whole line. Must never cut off more than what follows the last newline: the bridge was killed, or the power
//! went, in the middle of a line.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileExt as _, OpenOptionsExt as _};
use std::path::Path;

use nix::fcntl::OFlag;

use super::{StoreError, failed, private_directory};

/// Bytes of a file that are looked at in one piece.
pub(super) const BLOCK: u64 = 64 * 1024;

/// Opens a file to append to, and makes the file and its directory if they are missing. Returns its length, too.
pub(super) fn open_to_append(path: &Path) -> Result<(File, u64), StoreError> {
    let open = || {
        let mut options = OpenOptions::new();
        options.read(true).append(true).create(true).mode(0o600).custom_flags(flags()).open(path)
    };
    let file = match (open(), path.parent()) {
        (Err(error), Some(dir)) if error.kind() == io::ErrorKind::NotFound => {
            private_directory(dir)?;
            open()
        }
        (opened, _) => opened,
    };
    let file = file.map_err(failed("open", path))?;
    let length = cut_torn_line(&file).map_err(failed("mend", path))?;
    Ok((file, length))
}

/// Opens a file to read, and finds the end of its last whole line. A line without its newline will be cut
/// off: it must not be seen now and be gone later.
pub(super) fn open_to_read(path: &Path) -> io::Result<(File, u64)> {
    let file = OpenOptions::new().read(true).custom_flags(flags()).open(path)?;
    let end = whole_lines(&file, length_of(&file)?)?;
    Ok((file, end))
}

/// Without the last one, opening a FIFO would wait for its other end.
fn flags() -> i32 {
    (OFlag::O_NOFOLLOW | OFlag::O_NONBLOCK).bits()
}

fn length_of(file: &File) -> io::Result<u64> {
    let metadata = file.metadata()?;
    if metadata.is_file() { Ok(metadata.len()) } else { Err(io::Error::other("it is not a file")) }
}

fn cut_torn_line(file: &File) -> io::Result<u64> {
    let length = length_of(file)?;
    let whole = whole_lines(file, length)?;
    if whole < length {
        file.set_len(whole)?;
    }
    Ok(whole)
}

/// The end of the last newline before `end`.
fn whole_lines(file: &File, mut end: u64) -> io::Result<u64> {
    // As a rule the last byte is the one.
    let mut size = 1;
    while end > 0 {
        let start = end.saturating_sub(size);
        if let Some(at) = newline(&read_block(file, start, end)?) {
            return Ok(start + at as u64 + 1);
        }
        (end, size) = (start, BLOCK);
    }
    Ok(0)
}

/// The bytes between two places of a file.
pub(super) fn read_block(file: &File, start: u64, end: u64) -> io::Result<Vec<u8>> {
    let mut bytes = vec![0; usize::try_from(end.saturating_sub(start)).map_err(io::Error::other)?];
    file.read_exact_at(&mut bytes, start)?;
    Ok(bytes)
}

/// The index of the last newline.
pub(super) fn newline(bytes: &[u8]) -> Option<usize> {
    bytes.iter().rposition(|byte| *byte == b'\n')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_whole_line_is_found_however_long_the_torn_one_is() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("a/lines");
        assert_eq!(open_to_append(&path).unwrap().1, 0);
        for torn in [0, 1, BLOCK - 1, BLOCK, BLOCK + 1, 3 * BLOCK] {
            for whole in [&b""[..], b"\n", b"one\ntwo\n"] {
                std::fs::write(&path, [whole, &vec![b'x'; torn as usize][..]].concat()).unwrap();
                assert_eq!(open_to_read(&path).unwrap().1, whole.len() as u64);
                assert_eq!(open_to_append(&path).unwrap().1, whole.len() as u64);
                assert_eq!(std::fs::read(&path).unwrap(), whole);
            }
        }
    }
}
