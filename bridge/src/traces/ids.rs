//! The ids of traces and spans, and the choice of calls that are traced.
//!
//! Owns the rule that no two bridges give the same id: each has a seed from the system's randomness. Must never tell
//! anything of the call: the ids are the hash of a count.

use std::cell::Cell;

use harbor_ipc_proto::hex::hex;
use sha2::{Digest as _, Sha256};

/// The ids of a call's trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CallIds {
    /// The trace.
    pub trace: [u8; 16],
    /// Its first span. Further spans count on from it.
    pub span: u64,
}

/// Makes ids.
#[derive(Debug)]
pub(super) struct Ids {
    seed: String,
    next: Cell<u64>,
}

impl Ids {
    pub(super) fn new(seed: String) -> Self {
        Self { seed, next: Cell::new(0) }
    }

    /// The ids of another call, if it is among the `percent` of calls that are traced. Nothing is allocated.
    pub(super) fn next(&self, percent: u32) -> Option<CallIds> {
        let hash = self.hash(&self.next.replace(self.next.get().wrapping_add(1)).to_be_bytes());
        let number =
            |from: usize| hash[from..from + 8].iter().fold(0, |sum, byte| sum << 8 | u64::from(*byte));
        let trace = std::array::from_fn(|at| hash[at]);
        // OpenTelemetry has no id 0.
        let ids = CallIds { trace, span: number(16).max(1) };
        (number(24) % 100 < u64::from(percent)).then_some(ids)
    }

    /// The id of this bridge, as a UUID; it is the same from start to end.
    pub(super) fn instance(&self) -> String {
        let mut bytes: [u8; 16] = std::array::from_fn(|at| self.hash(b"instance")[at]);
        bytes[6] = bytes[6] & 0x0f | 0x40;
        bytes[8] = bytes[8] & 0x3f | 0x80;
        let text = hex(&bytes);
        let parts = [&text[..8], &text[8..12], &text[12..16], &text[16..20], &text[20..]];
        parts.join("-")
    }

    fn hash(&self, of: &[u8]) -> [u8; 32] {
        Sha256::new().chain_update(&self.seed).chain_update(of).finalize().into()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn each_call_and_each_bridge_has_numbers_of_its_own() {
        let [a, b] = ["a", "b"].map(|seed| Ids::new(seed.into()));
        let numbers: Vec<_> = (0..1000).flat_map(|_| [a.next(100).unwrap(), b.next(100).unwrap()]).collect();
        let traces: BTreeSet<_> = numbers.iter().map(|ids| ids.trace).collect();
        let spans: BTreeSet<_> = numbers.iter().map(|ids| ids.span).collect();
        assert_eq!((traces.len(), spans.len()), (2000, 2000));
        assert_ne!(a.instance(), b.instance());
        assert_eq!(a.instance(), a.instance());
        let text = a.instance();
        assert!(
            text.len() == 36 && text.as_bytes()[14] == b'4' && b"89ab".contains(&text.as_bytes()[19]),
            "{text}"
        );
    }

    #[test]
    fn as_many_are_traced_as_were_asked_for() {
        let ids = Ids::new("seed".into());
        let traced = |percent| (0..10_000).filter(|_| ids.next(percent).is_some()).count();
        assert_eq!((traced(0), traced(100)), (0, 10_000));
        assert!((800..1200).contains(&traced(10)), "ten of a hundred");
    }
}
