//! The budgets of a call in counts, and whether it keeps to them.
//!
//! Owns the budgets. A change that needs more raises them here, and its commit says for what.

use crate::Outcome;
use crate::budget::Counts;
use crate::goal::Goal;
use crate::table::{Page, line, row};

/// The most that one small call may take.
const INSTRUCTIONS: f64 = 28_000.0;
const ALLOCATIONS: f64 = 12.5;
/// In each direction a process waits, reads and writes; a little is left for what it does besides.
const SYSTEM_CALLS: f64 = 6.5;

/// The counts beside their budgets.
pub fn budget(out: &mut Page, counts: &Counts) {
    line(out, "### Counts for one call of 100 B\n");
    line(out, "One at a time; by callgrind and strace, so that no load of the machine changes them.\n");
    row(out, &["count", "process", "per call", "budget"]);
    row(out, &["---", "---", "---:", "---:"]);
    for (what, process, count, budget) in rows(counts) {
        let goal = out.goal(Some(Goal::at_most(budget, "")), count, &[what, process]);
        row(out, &[what, process, &format!("{count:.1}"), &goal]);
    }
    line(out, "");
}

/// # Errors
/// Names what is over its budget; and what is under half of it: a tool has not seen all, or the budget has not followed.
pub fn keeps(counts: &Counts) -> Outcome<()> {
    let wrong: Vec<_> = rows(counts)
        .into_iter()
        .filter(|(_, _, count, budget)| !(budget / 2.0..=*budget).contains(count))
        .map(|(what, process, count, budget)| {
            let over = if count > budget { "over its budget" } else { "less than half of its budget" };
            format!("{what} of the {process}: {count:.1}, {over} of {budget}")
        })
        .collect();
    if wrong.is_empty() { Ok(()) } else { Err(wrong.join("; ").into()) }
}

fn rows(counts: &Counts) -> [(&'static str, &'static str, f64, f64); 4] {
    [
        ("instructions", "bridge", counts.instructions, INSTRUCTIONS),
        ("allocations", "bridge", counts.allocations, ALLOCATIONS),
        ("system calls", "bridge", counts.bridge_calls, SYSTEM_CALLS),
        ("system calls", "runner", counts.runner_calls, SYSTEM_CALLS),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_over_its_budget_is_named_and_what_was_not_counted() {
        let counts = Counts {
            instructions: INSTRUCTIONS,
            allocations: ALLOCATIONS,
            bridge_calls: SYSTEM_CALLS,
            runner_calls: 6.0,
        };
        assert!(keeps(&counts).is_ok());
        let error = keeps(&Counts { runner_calls: 7.0, ..counts }).unwrap_err().to_string();
        assert_eq!(error, "system calls of the runner: 7.0, over its budget of 6.5");
        let error = keeps(&Counts { instructions: 0.0, ..counts }).unwrap_err().to_string();
        let expected =
            format!("instructions of the bridge: 0.0, less than half of its budget of {INSTRUCTIONS}");
        assert_eq!(error, expected);
    }
}
