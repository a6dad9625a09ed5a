//! The line that says what is wrong.
//!
//! Must never be shown where nothing is.

use super::super::model::{Link, Model};
use super::super::row::{Row, TextStyle};
use crate::when;

/// The state of the connection, where something is wrong with it.
pub(super) fn trouble(model: &Model, now: u64) -> Option<Row> {
    if let Link::Gone { since, why, .. } = &model.link {
        let why = if why.is_empty() { String::new() } else { format!(": {why}") };
        let text = format!(
            "the bridge has been gone since {}; connecting …{why}",
            when::lasting(now.saturating_sub(*since))
        );
        return Some(Row::new("", text).toned(TextStyle::Bad));
    }
    let (first, others) = model.health.reasons.split_first()?;
    let others = if others.is_empty() { String::new() } else { format!(" (and {} more)", others.len()) };
    Some(Row::new("", format!("{first}{others}")).toned(TextStyle::Bad))
}
