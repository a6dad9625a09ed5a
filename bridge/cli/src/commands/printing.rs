//! How commands print what was answered.

use harbor_client::errors::Failure;
use harbor_client::reply::Answer;

use crate::screen::Screen;

/// Prints an answer: as JSON, or as the text that `describe` makes of it.
pub fn print<T>(
    screen: &mut Screen,
    answer: &Answer<T>,
    describe: impl FnOnce(&T) -> String,
) -> Result<(), Failure> {
    match screen.json {
        true => screen.json(&answer.to_json())?,
        false => screen.text(&describe(answer))?,
    }
    Ok(())
}

/// `1 tool`, `2 tools`.
pub fn count(number: usize, what: &str) -> String {
    format!("{number} {what}{}", if number == 1 { "" } else { "s" })
}
