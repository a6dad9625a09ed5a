//! Room on the disks that a server may write to: it can go faster than directories are counted.
//!
//! ```text
//!  each look ─► free room ─► far less than before? ─► the server stands still ─► its directories are counted
//!                                                                                  ├─ too much ─► it ends
//!                                                                                  └─ no ──────► it goes on
//! ```
//!
//! Others fill disks, too: only what is counted ends a server. Owns how much was free. Must
//! never look itself: it is told.

/// With less than this no server may take more, in bytes: the person and Harbor itself need some.
pub(super) const FLOOR: u64 = 256 << 20;

/// So much less is worth a look below the floor, in bytes.
const STEP: u64 = FLOOR / 8;

/// How much was free.
#[derive(Debug, Default)]
pub(super) struct Room {
    /// The most since it was last known who has it; nothing before the first look.
    most: Option<u64>,
    free: u64,
}

impl Room {
    /// Takes what is free now, in bytes; whether the server has to be counted at once.
    pub(super) fn is_going(&mut self, free: u64, limit: u64) -> bool {
        self.most = Some(self.most.unwrap_or(free).max(free));
        self.free = free;
        self.taken() > limit || self.is_low() && self.taken() > STEP
    }

    /// Whether a server that has grown by so many bytes is who takes the last of it. Begins anew: it is known now who has it.
    pub(super) fn is_taken_by(&mut self, grown: u64) -> bool {
        let taken = self.taken();
        self.most = None;
        self.is_low() && taken > STEP && grown >= taken / 2
    }

    fn is_low(&self) -> bool {
        self.free < FLOOR
    }

    fn taken(&self) -> u64 {
        self.most.unwrap_or_default().saturating_sub(self.free)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: u64 = 1 << 20;
    const LIMIT: u64 = 4096 * MIB;

    #[test]
    fn a_server_is_counted_when_more_than_its_limit_has_gone() {
        let mut room = Room::default();
        assert!(!room.is_going(60_000 * MIB, LIMIT));
        assert!(!room.is_going(56_000 * MIB, LIMIT));
        assert!(room.is_going(55_000 * MIB, LIMIT));
        assert!(!room.is_taken_by(5000 * MIB), "there is enough left");
        assert!(!room.is_going(55_000 * MIB, LIMIT), "it is known who has it");
        assert!(!room.is_going(58_000 * MIB, LIMIT) && room.is_going(53_000 * MIB, LIMIT), "room came back");
    }

    #[test]
    fn below_the_floor_who_takes_more_ends_and_nobody_else() {
        let mut room = Room::default();
        assert!(!room.is_going(300 * MIB, LIMIT));
        assert!(room.is_going(100 * MIB, LIMIT));
        assert!(!room.is_taken_by(50 * MIB), "somebody else has taken it");
        assert!(!room.is_going(100 * MIB, LIMIT), "nothing more has gone");
        assert!(!room.is_going(90 * MIB, LIMIT), "that is little");
        assert!(room.is_going(40 * MIB, LIMIT));
        assert!(room.is_taken_by(60 * MIB));
    }
}
