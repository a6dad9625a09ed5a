//! A question to the person in front of the terminal.
//!
//! Must never take anything for a yes but a yes, nor wait where nobody can answer.

use std::io::{self, BufRead as _, IsTerminal as _, Read as _, Write as _};

use harbor_client::errors::Failure;

/// The most bytes of an answer that are read.
const MAX_ANSWER: u64 = 4096;

/// Fails if nobody can be asked. The error says what to do instead.
pub fn is_possible(what: &str) -> Result<(), Failure> {
    match io::stdin().is_terminal() && (io::stdout().is_terminal() || io::stderr().is_terminal()) {
        true => Ok(()),
        false => Err(Failure::Usage(format!(
            "{what} needs confirmation, but there is no terminal to ask on; pass --yes"
        ))),
    }
}

/// Asks; anything but `y` or `yes` is a no.
pub fn ask(question: &str) -> Result<bool, Failure> {
    Ok(is_yes(&line(&format!("{question} [y/N] "))?))
}

/// Asks about what most people want; anything but `n` or `no` is a yes.
pub fn ask_usual(question: &str) -> Result<bool, Failure> {
    Ok(!["n", "no"].contains(&line(&format!("{question} [Y/n] "))?.trim().to_ascii_lowercase().as_str()))
}

/// Asks for a line.
pub fn line(question: &str) -> Result<String, Failure> {
    let failed = |error| Failure::Io("ask", error);
    let shown = match io::stdout().is_terminal() {
        true => io::stdout().write_all(question.as_bytes()).and_then(|()| io::stdout().flush()),
        false => io::stderr().write_all(question.as_bytes()),
    };
    shown.map_err(failed)?;
    let mut answer = String::new();
    io::stdin().lock().take(MAX_ANSWER).read_line(&mut answer).map_err(failed)?;
    Ok(answer.trim_end_matches(['\n', '\r']).to_owned())
}

fn is_yes(answer: &str) -> bool {
    ["y", "yes"].contains(&answer.trim().to_ascii_lowercase().as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_yes_is_one() {
        assert!(is_yes("y\n") && is_yes(" YES \n"));
        assert!(!is_yes("") && !is_yes("\n") && !is_yes("no") && !is_yes("yep"));
    }
}
