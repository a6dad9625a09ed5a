//! Room on the disks that a server may write to: it can go faster than directories are counted.
//!
//! ```text
//!  each look ─► free room ─► far less than before? ─► the server stands still ─► its directories are counted
//!                                                                                  ├─ too much ─► it ends
//!                                                                                  └─ no ──────► it goes on
//! ```
//!
//! Others fill disks, too, so only counting ends a server. Owns how much was free, and how much the server had then. Must
//! never look itself: it is told.

/// With less free room than this, in bytes, no server may take more. The person and Harbor itself need some.
pub(super) const FLOOR: u64 = 256 << 20;

/// Below the floor, a look is worth it once more bytes than this have gone.
const STEP: u64 = FLOOR / 8;

/// The free room.
#[derive(Debug, Default)]
pub(super) struct Room {
    /// The state with which later looks are compared. None before the first look.
    before: Option<Standing>,
    free: u64,
}

/// The state at one time.
#[derive(Debug, Clone, Copy)]
struct Standing {
    /// Bytes that were free.
    free: u64,
    /// Bytes that the server had. None before its first count.
    used: Option<u64>,
}

impl Room {
    /// True if a server could go below the floor with what it may take.
    pub(super) fn is_short(free: u64, limit: u64) -> bool {
        free < limit.saturating_add(FLOOR)
    }

    /// Takes what is free now, in bytes; whether the server has to be counted at once.
    pub(super) fn is_going(&mut self, free: u64, limit: u64) -> bool {
        self.before.get_or_insert(Standing { free, used: None });
        self.free = free;
        self.taken() > limit || self.is_low() && self.taken() > STEP
    }

    /// Takes a count that began when `free` bytes were free. Later looks are compared with this count if it
    /// is the first, or if room has come back. A later count would miss what the server took before it, while
    /// the free room shows that loss.
    pub(super) fn note(&mut self, free: u64, used: u64) {
        if self.before.is_none_or(|before| before.used.is_none() || free > before.free) {
            self.before = Some(Standing { free, used: Some(used) });
        }
    }

    /// Takes a count of the server while it stands still: what it has taken of the room that has gone, in bytes, if it is who
    /// takes the last of it. Begins anew: it is known now who has it.
    pub(super) fn last_taken(&mut self, used: u64) -> Option<u64> {
        let (before, taken) = (self.before, self.taken());
        self.before = Some(Standing { free: self.free, used: Some(used) });
        let before = before?;
        let grown = used.saturating_sub(before.used?);
        // Several may take it together, none of them half. They all were told below the floor that there is no more.
        let is_most = taken > STEP && grown >= taken / 2;
        let is_more = before.free < FLOOR && grown > STEP;
        (self.is_low() && (is_most || is_more)).then_some(grown)
    }

    fn is_low(&self) -> bool {
        self.free < FLOOR
    }

    fn taken(&self) -> u64 {
        self.before.map_or(0, |before| before.free.saturating_sub(self.free))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: u64 = 1 << 20;
    const LIMIT: u64 = 4096 * MIB;

    fn room(free: u64, used: u64) -> Room {
        let mut room = Room::default();
        room.note(free * MIB, used * MIB);
        room
    }

    #[test]
    fn a_server_is_counted_when_more_than_its_limit_has_gone() {
        let mut room = Room::default();
        assert!(!room.is_going(60_000 * MIB, LIMIT));
        room.note(60_000 * MIB, 0);
        assert!(!room.is_going(56_000 * MIB, LIMIT));
        assert!(room.is_going(55_000 * MIB, LIMIT));
        assert_eq!(room.last_taken(5000 * MIB), None, "there is enough left");
        assert!(!room.is_going(55_000 * MIB, LIMIT), "it is known who has it");
        assert!(!room.is_going(58_000 * MIB, LIMIT));
        room.note(58_000 * MIB, 2000 * MIB);
        assert!(room.is_going(53_000 * MIB, LIMIT), "room came back, and has gone again");
    }

    #[test]
    fn below_the_floor_who_takes_more_ends_and_nobody_else() {
        let mut room = room(300, 0);
        assert!(room.is_going(100 * MIB, LIMIT));
        assert_eq!(room.last_taken(50 * MIB), None, "somebody else has taken it");
        assert!(!room.is_going(100 * MIB, LIMIT), "nothing more has gone");
        assert!(!room.is_going(90 * MIB, LIMIT), "that is little");
        assert!(room.is_going(40 * MIB, LIMIT));
        assert_eq!(room.last_taken(110 * MIB), Some(60 * MIB));
    }

    /// As a server does that writes all the time: what it had at the last of these counts says little of what it has taken.
    #[test]
    fn counts_in_between_make_what_it_has_taken_no_less() {
        let mut room = Room::default();
        for (second, free) in [(0, 320), (1, 290), (2, 260)] {
            assert!(!room.is_going(free * MIB, LIMIT));
            room.note(free * MIB, second * 30 * MIB);
        }
        assert!(room.is_going(230 * MIB, LIMIT));
        assert_eq!(room.last_taken(90 * MIB), Some(90 * MIB));
    }

    #[test]
    fn of_several_who_take_it_together_each_ends_that_goes_on_below_the_floor() {
        let mut room = room(280, 0);
        assert!(room.is_going(190 * MIB, LIMIT));
        assert_eq!(room.last_taken(30 * MIB), None, "a third of it");
        assert!(room.is_going(85 * MIB, LIMIT));
        assert_eq!(room.last_taken(65 * MIB), Some(35 * MIB));
    }

    #[test]
    fn who_was_never_counted_is_counted_once_more_before_it_ends() {
        let mut room = Room::default();
        assert!(!room.is_going(260 * MIB, LIMIT) && room.is_going(100 * MIB, LIMIT));
        assert_eq!(room.last_taken(900 * MIB), None, "it may have had that before");
        assert!(room.is_going(60 * MIB, LIMIT));
        assert_eq!(room.last_taken(940 * MIB), Some(40 * MIB));
    }

    #[test]
    fn room_is_short_where_a_server_within_its_limit_could_take_the_last_of_it() {
        assert!(Room::is_short(4300 * MIB, LIMIT) && !Room::is_short(4400 * MIB, LIMIT));
    }
}
