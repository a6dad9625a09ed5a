//! Who is cut off where too much waits for all clients together.
//!
//! Owns the two limits of that. Must never name one that reads: an answer that was just queued is always long.

use std::time::Duration;

/// What may wait for all clients together, in bytes: a few of the largest answers.
pub const MOST_WAITING: usize = 256 * 1024 * 1024;

/// Who has read nothing for so long, while there was something, does not read.
pub const DEAF: Duration = Duration::from_secs(10);

/// What waits for one client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Backlog {
    /// In bytes.
    pub waiting: usize,
    /// For how long it has read nothing of that.
    pub stuck_for: Duration,
}

/// The places of those in `clients` that are to be cut off: who does not read, whoever lets most wait first, until what is
/// left is not too much.
#[must_use]
pub fn too_much(clients: &[Backlog]) -> Vec<usize> {
    let mut total: usize = clients.iter().map(|client| client.waiting).sum();
    let is_deaf = |client: &Backlog| client.waiting > 0 && client.stuck_for >= DEAF;
    let mut deaf: Vec<_> = (0..clients.len()).filter(|at| is_deaf(&clients[*at])).collect();
    deaf.sort_by_key(|at| clients[*at].waiting);
    let mut cut = Vec::new();
    while total > MOST_WAITING
        && let Some(at) = deaf.pop()
    {
        total -= clients[at].waiting;
        cut.push(at);
    }
    cut
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn backlogs() -> impl Strategy<Value = Vec<Backlog>> {
        let one = (0usize..MOST_WAITING, 0u64..20);
        let one = one.prop_map(|(waiting, secs)| Backlog { waiting, stuck_for: Duration::from_secs(secs) });
        prop::collection::vec(one, 0..12)
    }

    proptest! {
        #[test]
        fn only_the_deaf_are_cut_and_no_more_of_them_than_it_takes(clients in backlogs()) {
            let cut = too_much(&clients);
            let is_deaf = |client: &Backlog| client.waiting > 0 && client.stuck_for >= DEAF;
            prop_assert!(cut.iter().all(|at| is_deaf(&clients[*at])));
            let left = |cut: &[usize]| -> usize {
                (0..clients.len()).filter(|at| !cut.contains(at)).map(|at| clients[at].waiting).sum()
            };
            let all_deaf = clients.iter().filter(|client| is_deaf(client)).count();
            prop_assert!(left(&cut) <= MOST_WAITING || cut.len() == all_deaf);
            if let Some((_, without_last)) = cut.split_last() {
                prop_assert!(left(without_last) > MOST_WAITING);
            }
        }
    }

    #[test]
    fn whoever_lets_most_wait_is_first() {
        let deaf = |mebibytes: usize| Backlog { waiting: mebibytes << 20, stuck_for: DEAF };
        let reading = Backlog { stuck_for: Duration::from_secs(9), ..deaf(128) };
        assert_eq!(too_much(&[deaf(60), deaf(100), reading]), [1]);
        assert_eq!(too_much(&[deaf(60), deaf(68), reading]), [0; 0]);
        assert_eq!(too_much(&[reading; 4]), [0; 0]);
    }
}
