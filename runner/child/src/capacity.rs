//! How much a pipe takes before its writer has to wait for its reader.
//!
//! ```text
//!  nearly as much read as a new pipe takes ─┐
//!  less written than there was to write    ─┴─► a large message did not fit, or hardly: the next one is to
//! ```
//!
//! Each wait costs two wake-ups from another core, some tens of microseconds: a result of 64 KiB, with what is around it, is
//! just longer than a new pipe takes. All pipes of a user share one allowance (16,384 pages, for those who are not root). So
//! pipes between Harbor's processes and its servers are widened by need, and stay so. Owns the sizes. Is not meant to make a
//! pipe narrower, nor to fail: a pipe that stays as it is only needs more wake-ups.

use std::os::fd::AsFd;

use nix::fcntl::{FcntlArg, fcntl};

/// The capacity of a pipe to a client, in bytes. Most answers fit whole.
pub const TO_CLIENT: i32 = 256 * 1024;

/// The capacity of any other pipe, in bytes. A large message fits whole.
pub const WIDE: i32 = 128 * 1024;

/// A new pipe takes 64 KiB where a page has 4. It may be full with this many bytes, since it counts pages,
/// and small writes leave pages half empty.
const NEARLY_FULL: usize = 40 * 1024;

/// The kernel's own bound, in bytes, for those who are not root.
const MOST: usize = 1 << 20;

/// Makes a pipe's capacity at least `bytes`.
pub fn widen(pipe: impl AsFd, bytes: i32) {
    let takes = fcntl(&pipe, FcntlArg::F_GETPIPE_SZ);
    if takes.is_ok_and(|takes| takes < bytes) {
        // Refused over the allowance.
        let _ = fcntl(pipe, FcntlArg::F_SETPIPE_SZ(bytes));
    }
}

/// Makes a pipe's capacity at least `bytes` once it holds so much that the writer of a new pipe would have to wait.
pub fn widen_if_full(pipe: impl AsFd, in_it: usize, bytes: i32) {
    if in_it >= NEARLY_FULL {
        widen(pipe, bytes);
    }
}

/// The capacity of a pipe in bytes, or the most that a pipe could have if the kernel does not tell.
#[must_use]
pub fn of(pipe: impl AsFd) -> usize {
    let takes = fcntl(pipe, FcntlArg::F_GETPIPE_SZ).ok();
    takes.and_then(|takes| usize::try_from(takes).ok()).unwrap_or(MOST)
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
        writer.write_all(b"what is in it").unwrap();
        widen_if_full(&reader, NEARLY_FULL - 1, WIDE);
        assert_eq!(takes(&reader), new);
        widen_if_full(&reader, NEARLY_FULL, WIDE);
        let wide = takes(&reader);
        assert!(wide >= new.max(WIDE));
        widen(&reader, wide * 2);
        widen_if_full(&reader, NEARLY_FULL, WIDE);
        assert_eq!(takes(&reader), wide * 2);
        // What is no pipe stays what it is.
        widen(UnixStream::pair().unwrap().0, TO_CLIENT);
    }
}
