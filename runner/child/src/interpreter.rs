//! The program that a script's first line names. If this program is missing, the kernel says the same as for a missing
//! script.
//!
//! Owns reading that line. Must never wait for a file, nor answer with a character that does something.

use std::fs::OpenOptions;
use std::io::{ErrorKind, Read};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use nix::fcntl::OFlag;

/// The kernel reads no more of a first line, in bytes.
const MAX_LINE: u64 = 256;

/// The interpreter of a script that could not be run, if `errno` may be about that one: the script itself is there.
#[must_use]
pub fn missing(script: &Path, errno: i32) -> Option<String> {
    let is_missing = std::io::Error::from_raw_os_error(errno).kind() == ErrorKind::NotFound;
    if !is_missing || !script.is_absolute() {
        return None;
    }
    let opened = OpenOptions::new().read(true).custom_flags(OFlag::O_NONBLOCK.bits()).open(script);
    named(opened.ok()?)
}

fn named(script: impl Read) -> Option<String> {
    let mut head = Vec::new();
    script.take(MAX_LINE).read_to_end(&mut head).ok()?;
    let line = String::from_utf8_lossy(&head);
    let program = line.strip_prefix("#!")?.lines().next()?.split_whitespace().next()?;
    let is_plain = program.chars().all(|c| !c.is_control() && c != char::REPLACEMENT_CHARACTER);
    is_plain.then(|| program.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_line_names_it() {
        for (text, program) in [
            ("#!/no/such -x\nrest", Some("/no/such")),
            ("#! /no/such", Some("/no/such")),
            ("#!/a\x1b[31m", None),
            ("#!\n", None),
            ("\x7fELF", None),
            ("", None),
        ] {
            assert_eq!(named(text.as_bytes()).as_deref(), program, "{text:?}");
        }
        assert_eq!(missing(Path::new("/no/such/script"), 2), None);
    }
}
