//! What a figure should be: a bound, and how it is written beside the figure.
//!
//! Must not know any figure. Pure.

use std::fmt;

/// One goal of a table.
#[derive(Debug, Clone, Copy)]
pub struct Goal {
    side: Side,
    bound: f64,
    unit: &'static str,
}

#[derive(Debug, Clone, Copy)]
enum Side {
    AtMost,
    Below,
    AtLeast,
}

impl Goal {
    /// No more than this; the unit is shown behind it, where the head of the column has none.
    pub const fn at_most(bound: f64, unit: &'static str) -> Self {
        Self { side: Side::AtMost, bound, unit }
    }

    /// Less than this.
    pub const fn below(bound: f64, unit: &'static str) -> Self {
        Self { side: Side::Below, bound, unit }
    }

    /// No less than this.
    pub const fn at_least(bound: f64, unit: &'static str) -> Self {
        Self { side: Side::AtLeast, bound, unit }
    }

    /// Whether this figure is as it should be. None that is no number is.
    pub fn is_met(self, figure: f64) -> bool {
        match self.side {
            Side::AtMost => figure <= self.bound,
            Side::Below => figure < self.bound,
            Side::AtLeast => figure >= self.bound,
        }
    }
}

impl fmt::Display for Goal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = match self.side {
            Side::AtMost => '≤',
            Side::Below => '<',
            Side::AtLeast => '≥',
        };
        let space = if self.unit.is_empty() { "" } else { " " };
        write!(f, "{sign} {}{space}{}", self.bound, self.unit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bound_belongs_to_its_side() {
        let met = |goal: Goal| [1.0, 2.0, 3.0, f64::NAN].map(|figure| goal.is_met(figure));
        assert_eq!(met(Goal::at_most(2.0, "")), [true, true, false, false]);
        assert_eq!(met(Goal::below(2.0, "")), [true, false, false, false]);
        assert_eq!(met(Goal::at_least(2.0, "")), [false, true, true, false]);
    }

    #[test]
    fn it_is_written_as_people_write_it() {
        assert_eq!(Goal::at_most(1.4, "× floor").to_string(), "≤ 1.4 × floor");
        assert_eq!(Goal::below(1_000.0, "").to_string(), "< 1000");
        assert_eq!(Goal::at_least(90_000.0, "").to_string(), "≥ 90000");
    }
}
