//! The memory that messages of connections take while they are under way.
//!
//! ```text
//!  a request's line, an answer's body, half an event ─► Share ─► Held: a connection's sum ─► Room: that of the process
//! ```
//!
//! A server may leave many answers almost whole, each within the limit of a message. Where one process has all servers,
//! several servers may. Owns the sums. Must never make anybody wait: who waits holds a share, too.

use std::cell::Cell;
use std::rc::Rc;

/// Four of the longest messages.
const MOST: usize = 256 * 1024 * 1024;

/// Bytes for all connections of a process together: the rest of its memory is for copies, and for the process itself.
const ROOM: usize = 3 * MOST;

/// The sentence where there is no room.
pub const FULL: &str = "open requests to this server hold more than 256 MiB, the limit";

/// The sum of a process.
#[derive(Debug, Clone, Default)]
pub struct Room(Rc<Cell<usize>>);

/// The sum for one connection.
#[derive(Debug, Clone, Default)]
pub struct Held {
    bytes: Rc<Cell<usize>>,
    room: Room,
}

/// The bytes of one message. They are given back when this is dropped.
#[derive(Debug)]
pub struct Share {
    of: Held,
    bytes: usize,
}

/// There is no room for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Full;

impl Room {
    /// A connection with nothing under way.
    pub fn connection(&self) -> Held {
        Held { bytes: Rc::default(), room: self.clone() }
    }
}

impl Held {
    /// An empty share.
    pub fn share(&self) -> Share {
        Share { of: self.clone(), bytes: 0 }
    }

    /// Bytes that this connection may take: at most half of what the others leave, so that one more
    /// connection always gets some.
    fn most(&self) -> usize {
        let others = self.room.0.get() - self.bytes.get();
        MOST.min(ROOM.saturating_sub(others) / 2)
    }

    /// One share has `after` instead of `before`.
    fn change(&self, before: usize, after: usize) {
        for sum in [&self.bytes, &self.room.0] {
            sum.set(sum.get() - before + after);
        }
    }
}

impl Share {
    /// Makes this connection's share `bytes` from now on.
    ///
    /// # Errors
    /// When all together would take too many; the share stays as it was.
    pub fn take(&mut self, bytes: usize) -> Result<(), Full> {
        let sum = (self.of.bytes.get() - self.bytes).saturating_add(bytes);
        if sum > self.of.most() && bytes > self.bytes {
            return Err(Full);
        }
        self.of.change(self.bytes, bytes);
        self.bytes = bytes;
        Ok(())
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        self.of.change(self.bytes, 0);
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
        assert_eq!((other.take(MOST), held.bytes.get()), (Ok(()), MOST));
        drop(other);
        assert_eq!((held.bytes.get(), held.room.0.get()), (0, 0));
    }

    #[test]
    fn greedy_connections_leave_room_for_one_more() {
        let room = Room::default();
        let mut greedy: Vec<Share> = (0..5).map(|_| room.connection().share()).collect();
        let mut taken = Vec::new();
        for share in &mut greedy {
            let most = share.of.most();
            assert_eq!((share.take(most + 1), share.take(most)), (Err(Full), Ok(())));
            taken.push(most / (MOST / 16));
        }
        assert_eq!(taken, [16, 16, 8, 4, 2]);
        let mut quiet = room.connection().share();
        assert_eq!(quiet.take(MOST / 16), Ok(()));
        drop(greedy);
        assert_eq!((quiet.take(MOST), room.0.get()), (Ok(()), MOST));
    }
}
