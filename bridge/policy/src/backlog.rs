//! Chooses the clients that are cut off when too much waits for all clients together.
//!
//! Owns the limits for this. Below the harder limit it must never choose a client that reads: an answer that was just queued is
//! always long.

use std::time::Duration;

/// The most that may wait for all clients together, in bytes: a few of the largest answers.
const MOST_WAITING: usize = 256 << 20;

/// On a machine with little memory, this fraction of it may wait, but no less than one large answer.
const SHARE: u64 = 32;
const LEAST_WAITING: usize = 64 << 20;

/// The harder limit, as a multiple of the first. Above it, clients that read are cut off too.
const HARDER: usize = 2;

/// A client counts as not reading once it has read nothing for this long while something waited.
pub const DEAF: Duration = Duration::from_secs(10);

/// The most that may wait for all clients together, in bytes, on a machine with this much memory.
#[must_use]
pub fn most_waiting(memory: Option<u64>) -> usize {
    let share = memory.map(|memory| usize::try_from(memory / SHARE).unwrap_or(MOST_WAITING));
    share.unwrap_or(MOST_WAITING).clamp(LEAST_WAITING, MOST_WAITING)
}

/// The answers that wait for one client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Backlog {
    /// The waiting bytes.
    pub waiting: usize,
    /// For how long it has read nothing of its waiting bytes.
    pub stuck_for: Duration,
}

/// The indexes of the `clients` to cut off so that at most `most` bytes wait. First go those that do not
/// read, the largest queue first. If twice as much is left, those that read too slowly go, too.
#[must_use]
pub fn too_much(clients: &[Backlog], most: usize) -> Vec<usize> {
    let mut total: usize = clients.iter().map(|client| client.waiting).sum();
    let is_deaf = |client: &Backlog| client.stuck_for >= DEAF;
    let mut waiting: Vec<_> = (0..clients.len()).filter(|at| clients[*at].waiting > 0).collect();
    waiting.sort_by_key(|at| (is_deaf(&clients[*at]), clients[*at].waiting));
    let limit = |at: usize| if is_deaf(&clients[at]) { most } else { most.saturating_mul(HARDER) };
    let mut cut = Vec::new();
    while let Some(at) = waiting.pop()
        && total > limit(at)
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
        fn the_deaf_are_cut_first_and_no_more_than_it_takes(clients in backlogs()) {
            let cut = too_much(&clients, MOST_WAITING);
            let is_deaf = |client: &Backlog| client.waiting > 0 && client.stuck_for >= DEAF;
            let left = |cut: &[usize]| -> usize {
                (0..clients.len()).filter(|at| !cut.contains(at)).map(|at| clients[at].waiting).sum()
            };
            let all_deaf = clients.iter().filter(|client| is_deaf(client)).count();
            prop_assert!(left(&cut) <= MOST_WAITING || cut.len() >= all_deaf);
            prop_assert!(left(&cut) <= HARDER * MOST_WAITING);
            if let Some((last, without_last)) = cut.split_last() {
                let most = if is_deaf(&clients[*last]) { MOST_WAITING } else { HARDER * MOST_WAITING };
                prop_assert!(left(without_last) > most);
            }
        }
    }

    #[test]
    fn whoever_lets_most_wait_is_first() {
        let deaf = |mebibytes: usize| Backlog { waiting: mebibytes << 20, stuck_for: DEAF };
        let reading = Backlog { stuck_for: Duration::from_secs(9), ..deaf(128) };
        let too_much = |clients: &[Backlog]| super::too_much(clients, MOST_WAITING);
        assert_eq!(too_much(&[deaf(60), deaf(100), reading]), [1]);
        assert_eq!(too_much(&[deaf(60), deaf(68), reading]), [0; 0]);
        assert_eq!(too_much(&[reading; 4]), [0; 0]);
        assert_eq!(too_much(&[reading; 6]), [5, 4], "512 MiB are too much, whoever reads");
    }

    #[test]
    fn a_small_machine_has_less_for_it() {
        let most = |gibibytes: u64| most_waiting(Some(gibibytes << 30)) >> 20;
        assert_eq!([1, 4, 8, 64].map(most), [64, 128, 256, 256]);
        assert_eq!(most_waiting(None), MOST_WAITING);
    }
}
