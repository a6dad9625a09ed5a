//! What happened so far: kills, how requests ended, and what must never happen and did. Shared by all threads.
//! Must never decide what is wrong: who finds it says so.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// More than this is no news.
const MOST_BROKEN: usize = 40;

/// The counts.
#[derive(Debug, Default)]
pub struct Tally(Mutex<Counts>);

#[derive(Debug, Default)]
struct Counts {
    kills: BTreeMap<String, u64>,
    endings: BTreeMap<String, u64>,
    notes: BTreeMap<String, u64>,
    sent: u64,
    slowest: Duration,
    /// What the bridge took, in KiB, at regular times.
    memory: Vec<u64>,
    broken: Vec<String>,
}

impl Tally {
    /// A signal was sent.
    pub fn killed(&self, kind: &str, signal: &str) {
        *self.counts().kills.entry(format!("{kind} {signal}")).or_default() += 1;
    }

    /// A request went out.
    pub fn sent(&self) {
        self.counts().sent += 1;
    }

    /// A request ended in this way, so long after it went out.
    pub fn ended(&self, how: &str, after: Duration) {
        let mut counts = self.counts();
        *counts.endings.entry(how.to_owned()).or_default() += 1;
        counts.slowest = counts.slowest.max(after);
    }

    /// Something that is worth counting and may happen.
    pub fn note(&self, what: &str) {
        *self.counts().notes.entry(what.to_owned()).or_default() += 1;
    }

    /// Something that must never happen.
    pub fn broke(&self, what: String) {
        let mut counts = self.counts();
        if counts.broken.len() < MOST_BROKEN && !counts.broken.contains(&what) {
            println!("BROKEN: {what}");
            counts.broken.push(what);
        }
    }

    /// How many signals were sent; one that lets a process go on is none.
    pub fn kills(&self) -> u64 {
        self.counts().kills.values().sum()
    }

    /// How often this was noted.
    pub fn noted(&self, what: &str) -> u64 {
        self.counts().notes.get(what).copied().unwrap_or_default()
    }

    /// How many requests went out, and how many ended.
    pub fn balance(&self) -> (u64, u64) {
        let counts = self.counts();
        (counts.sent, counts.endings.values().sum())
    }

    /// The bridge takes so much memory now, in KiB.
    pub fn takes(&self, memory: u64) {
        self.counts().memory.push(memory);
    }

    /// What it took in the second and in the last quarter of the time, each the middle one of all; none where that was not seen.
    pub fn memory(&self) -> Option<(u64, u64)> {
        let counts = self.counts();
        let quarter = counts.memory.len() / 4;
        Some((middle(counts.memory.get(quarter..2 * quarter)?)?, middle(counts.memory.get(3 * quarter..)?)?))
    }

    /// What broke so far.
    pub fn broken(&self) -> Vec<String> {
        self.counts().broken.clone()
    }

    /// Demands that every request ended once. Nothing may be open any more.
    pub fn check_balance(&self) {
        let (sent, ended) = self.balance();
        if sent != ended {
            self.broke(format!("{sent} requests went out and {ended} ended"));
        }
    }

    /// How far it is, in one line.
    pub fn line(&self) -> String {
        let counts = self.counts();
        let kills: u64 = counts.kills.values().sum();
        format!("{kills} kills, {} requests", counts.sent)
    }

    /// All, for the end.
    pub fn summary(&self) -> String {
        let line = self.line();
        let counts = self.counts();
        let [kills, endings, notes] = [&counts.kills, &counts.endings, &counts.notes].map(list);
        format!(
            "{line}\nkilled: {kills}\nended: {endings}\nslowest answer: {:?}\nbesides: {notes}",
            counts.slowest
        )
    }

    fn counts(&self) -> MutexGuard<'_, Counts> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn middle(values: &[u64]) -> Option<u64> {
    let mut sorted = values.to_vec();
    sorted.sort_unstable();
    sorted.get(sorted.len() / 2).copied()
}

fn list(counts: &BTreeMap<String, u64>) -> String {
    counts.iter().map(|(what, count)| format!("{what} {count}")).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_seen_when_it_is_warm_and_at_the_end() {
        let tally = Tally::default();
        assert_eq!(tally.memory(), None);
        [9, 1, 5, 6, 7, 7, 8, 8].into_iter().for_each(|kib| tally.takes(kib));
        assert_eq!(tally.memory(), Some((6, 8)));
    }

    #[test]
    fn requests_without_an_ending_are_found() {
        let tally = Tally::default();
        tally.sent();
        tally.ended("result", Duration::ZERO);
        tally.check_balance();
        assert_eq!(tally.broken(), Vec::<String>::new());
        tally.sent();
        tally.check_balance();
        assert_eq!(tally.broken(), ["2 requests went out and 1 ended"]);
        tally.killed("server", "SIGKILL");
        assert!(
            tally.summary().starts_with("1 kills, 2 requests\nkilled: server SIGKILL 1\nended: result 1\n")
        );
    }
}
