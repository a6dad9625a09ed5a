//! Lines and rows of Markdown, and how the goals in them fare. Pure.

use crate::goal::Goal;
use std::fmt::Write;
use std::mem::take;

/// What is written, until it is taken; what is known about goals stays.
#[derive(Debug, Default)]
pub struct Page {
    text: String,
    heading: String,
    goals: usize,
    missed: Vec<String>,
}

impl Page {
    /// The text since the last time.
    pub fn take(&mut self) -> String {
        take(&mut self.text)
    }

    /// The cell of a row for its goal, if it has one; the figure that the goal is for, and what the row is about.
    pub fn goal(&mut self, goal: Option<Goal>, figure: f64, row: &[&str]) -> String {
        let Some(goal) = goal else { return String::new() };
        self.goals += 1;
        if goal.is_met(figure) {
            return goal.to_string();
        }
        let precision = if figure < 1_000.0 { 2 } else { 0 };
        let row = row.join(", ");
        self.missed.push(format!("*{}*, {row}: {figure:.precision$} instead of {goal}", self.heading));
        format!("{goal}: **missed**")
    }
}

/// A row of a table.
pub fn row<S: AsRef<str>>(out: &mut Page, cells: &[S]) {
    for cell in cells {
        // Writing to a string does not fail.
        let _ = write!(out.text, "| {} ", cell.as_ref());
    }
    out.text.push_str("|\n");
}

/// A line of text. The goals of what follows a heading are told apart by it.
pub fn line(out: &mut Page, text: &str) {
    if let Some(heading) = text.strip_prefix("### ") {
        out.heading = heading.trim_end().to_owned();
    }
    out.text.push_str(text);
    out.text.push('\n');
}

/// How all goals so far have fared, where there were any.
pub fn goals(out: &mut Page) {
    let (count, missed) = (out.goals, take(&mut out.missed));
    if count == 0 {
        return;
    }
    line(out, "### Goals\n");
    if missed.is_empty() {
        let met =
            if count == 1 { "The only one is met.\n" } else { &format!("None of {count} is missed.\n") };
        line(out, met);
        return;
    }
    line(out, &format!("Missed, {} of {count}:\n", missed.len()));
    missed.iter().for_each(|missed| line(out, &format!("- {missed}")));
    line(out, "");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missed_goal_is_marked_and_listed_under_its_heading() {
        let mut page = Page::default();
        line(&mut page, "### Memory\n");
        let goal = Some(Goal::at_most(150.0, ""));
        assert_eq!(page.goal(None, 1.0, &["idle"]), "");
        assert_eq!(page.goal(goal, 150.0, &["idle", "runner"]), "≤ 150");
        assert_eq!(page.goal(goal, 150.5, &["busy", "runner"]), "≤ 150: **missed**");
        assert_eq!(page.take(), "### Memory\n\n");
        goals(&mut page);
        let wanted = "Missed, 1 of 2:\n\n- *Memory*, busy, runner: 150.50 instead of ≤ 150\n\n";
        assert_eq!(page.take(), format!("### Goals\n\n{wanted}"));
    }

    #[test]
    fn nothing_is_said_of_goals_that_nothing_has() {
        let mut page = Page::default();
        goals(&mut page);
        assert_eq!(page.take(), "");
        page.goal(Some(Goal::below(2.0, "")), 1.0, &[]);
        goals(&mut page);
        assert_eq!(page.take(), "### Goals\n\nThe only one is met.\n\n");
        page.goal(Some(Goal::below(2.0, "")), 1.0, &[]);
        goals(&mut page);
        assert_eq!(page.take(), "### Goals\n\nNone of 2 is missed.\n\n");
    }
}
