//! What the messages of one connection take of memory while they are under way.
//!
//! ```text
//!  a request's line, an answer's body, half an event ─► Share ─► Held: their sum, up to a limit
//! ```
//!
//! A server may leave many answers almost whole, each within the limit of a message. Owns the sum. Must never make anybody
//! wait: who waits holds a share, too.

use std::cell::Cell;
use std::rc::Rc;

/// Four of the longest messages.
const MOST: usize = 256 * 1024 * 1024;

/// What is said where there is no room.
pub const FULL: &str = "too much is under way with this server at once (more than 256 MiB)";

/// The sum for one connection.
#[derive(Debug, Clone, Default)]
pub struct Held(Rc<Cell<usize>>);

/// What one of them takes; given back when it is dropped.
#[derive(Debug)]
pub struct Share {
    of: Held,
    bytes: usize,
}

/// There is no room for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Full;

impl Held {
    /// An empty share.
    pub fn share(&self) -> Share {
        Share { of: self.clone(), bytes: 0 }
    }
}

impl Share {
    /// It takes so many bytes from now on.
    ///
    /// # Errors
    /// When all together would take too many; it is as it was before.
    pub fn take(&mut self, bytes: usize) -> Result<(), Full> {
        let sum = (self.of.0.get() - self.bytes).saturating_add(bytes);
        if sum > MOST && bytes > self.bytes {
            return Err(Full);
        }
        self.of.0.set(sum);
        self.bytes = bytes;
        Ok(())
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        self.of.0.set(self.of.0.get() - self.bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sum_is_bounded_and_given_back() {
        let held = Held::default();
        let (mut one, mut other) = (held.share(), held.share());
        assert_eq!((one.take(MOST - 10), other.take(10)), (Ok(()), Ok(())));
        assert_eq!(
            (one.take(MOST - 9), other.take(11), other.take(usize::MAX)),
            (Err(Full), Err(Full), Err(Full))
        );
        assert_eq!((other.take(3), one.take(MOST - 3)), (Ok(()), Ok(())));
        drop(one);
        assert_eq!((other.take(MOST), held.0.get()), (Ok(()), MOST));
        drop(other);
        assert_eq!(held.0.get(), 0);
    }
}
