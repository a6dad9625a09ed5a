//! What a run came to, in a table: what happened, what was called, what was lost, and the bridge's memory. Must never judge.

use crate::tally::Tally;

/// Notes of the tally that are events, under the names of the table.
const EVENTS: [(&str, &str); 7] = [
    ("access tokens ended", "tokens ended"),
    ("turns begun", "turns begun"),
    ("turns answered", "turns done"),
    ("sessions deleted", "sessions deleted"),
    ("sessions looked at", "sessions looked at"),
    ("disk full", "disk full"),
    ("disk unmounted", "unmounted"),
];

/// The table. `logins` are renewals, logins that were lost with a killed renewal, and refresh tokens that were used twice.
pub fn rows(tally: &Tally, (renewals, lost, reuses): (usize, u64, u32)) -> String {
    let mut rows = vec![("signals".to_owned(), tally.kills().to_string())];
    rows.extend(EVENTS.map(|(name, note)| (name.to_owned(), tally.noted(note).to_string())));
    let (sent, ended) = tally.balance();
    let broken = tally.broken().len();
    rows.extend([
        ("requests made".into(), sent.to_string()),
        ("requests without an answer".into(), sent.saturating_sub(ended).to_string()),
        ("answers too many".into(), ended.saturating_sub(sent).to_string()),
        ("grants renewed".into(), renewals.to_string()),
        ("logins lost with a killed renewal".into(), lost.to_string()),
        ("old refresh tokens shown for that".into(), reuses.to_string()),
        ("faults".into(), broken.to_string()),
    ]);
    if let Some((warm, end)) = tally.memory() {
        rows.push(("bridge's memory, warmed up, KiB".into(), warm.to_string()));
        rows.push(("bridge's memory, at the end, KiB".into(), end.to_string()));
    }
    let lines: Vec<_> = rows.iter().map(|(name, value)| format!("  {name:<36}{value:>9}")).collect();
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn the_table_says_what_was_noted() {
        let tally = Tally::default();
        tally.note("disk full");
        tally.sent();
        tally.ended("result", Duration::ZERO);
        let rows = rows(&tally, (5, 1, 2));
        let values: Vec<_> = rows.lines().filter_map(|line| line.split_whitespace().last()).collect();
        assert_eq!(values, ["0", "0", "0", "0", "0", "0", "1", "0", "1", "0", "0", "5", "1", "2", "0"]);
    }
}
