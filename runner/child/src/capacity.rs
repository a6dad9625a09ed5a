//! How much a pipe takes before its writer has to wait for its reader.
//!
//! ```text
//!  as many bytes read as a new pipe takes  ─┐
//!  less written than there was to write    ─┴─► it was full: it is to take a large message whole
//! ```
//!
//! Each wait costs two wake-ups from another core, some tens of microseconds: a result of 64 KiB, with what is around it,
//! is just longer than a new pipe takes. All pipes of a user share one allowance (16,384 pages, for those who are not
//! root), so only those are widened that were full once. Must never make one narrower.

use std::os::fd::AsFd;

use nix::fcntl::{FcntlArg, fcntl};

/// For a pipe to a client, in bytes: most answers whole.
pub const TO_CLIENT: i32 = 256 * 1024;

/// For any other, in bytes: a large message whole.
pub const LARGE: i32 = 128 * 1024;

/// What a new pipe takes, in bytes, where pages have 4 KiB.
const NEW: usize = 64 * 1024;

/// Has a pipe take so many bytes.
pub fn widen(pipe: impl AsFd, bytes: i32) {
    let takes = fcntl(&pipe, FcntlArg::F_GETPIPE_SZ);
    if takes.is_ok_and(|takes| takes < bytes) {
        // One that stays as it is needs more wake-ups; that is all.
        let _ = fcntl(pipe, FcntlArg::F_SETPIPE_SZ(bytes));
    }
}

/// Has a pipe take a large message, where so many bytes were in it that its writer has waited for room.
pub fn widen_if_full(pipe: impl AsFd, was_in_it: usize) {
    if was_in_it >= NEW {
        widen(pipe, LARGE);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Write as _, pipe};
    use std::os::unix::net::UnixStream;

    fn takes(pipe: impl AsFd) -> i32 {
        fcntl(pipe, FcntlArg::F_GETPIPE_SZ).unwrap()
    }

    #[test]
    fn a_pipe_that_was_full_takes_more_with_what_is_in_it_and_never_less() {
        let (reader, mut writer) = pipe().unwrap();
        let new = takes(&reader);
        widen_if_full(&reader, NEW - 1);
        assert_eq!(takes(&reader), new);
        writer.write_all(&[7; NEW]).unwrap();
        widen_if_full(&reader, NEW);
        assert_eq!(takes(&reader), LARGE);
        writer.write_all(&[7; NEW]).unwrap();
        widen(&reader, TO_CLIENT);
        widen_if_full(&reader, NEW);
        assert_eq!(takes(&reader), TO_CLIENT);
        // What is no pipe stays what it is.
        widen(UnixStream::pair().unwrap().0, TO_CLIENT);
    }
}
