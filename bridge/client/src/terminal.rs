//! Messages on stderr, and the cleaning of a text before a terminal gets it.
//!
//! Must never pass control characters of a server to a terminal: they could change what the person sees, or
//! type for them.

use std::env;
use std::io::{self, IsTerminal as _, Write as _};

use harbor_ipc_proto::hidden::{is_hidden, turns_text};

/// Says something beside the result, on stderr.
pub fn remark(text: &str) {
    let mut stderr = io::stderr();
    let text = if stderr.is_terminal() { disarm(text) } else { text.into() };
    // Nobody is left to be told that stderr is closed.
    let _ = writeln!(stderr, "{text}");
}

/// Writes as `\u{1b}` what a terminal would obey: control characters, and characters that turn text around.
/// Line ends and tabs stay. For texts that people use.
#[must_use]
pub fn disarm(text: &str) -> String {
    let text = text.replace("\r\n", "\n");
    escape(&text, |c| !matches!(c, '\n' | '\t') && (c.is_control() || turns_text(c)))
}

/// Makes visible also what nobody would see: other line ends, characters without a width, tags. For texts
/// that people judge.
#[must_use]
pub fn reveal(text: &str) -> String {
    let mut before = ' ';
    escape(text, |c| {
        let hides = c == '\r' || is_hidden(before, c);
        // What stands before the next one is what was written.
        before = if hides { '}' } else { c };
        hides
    })
}

/// Says on stderr why a command failed. In colours, if stderr is a terminal and the person allows colours.
pub fn complain(message: &str) {
    let mut stderr = io::stderr();
    let no_colour = env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    let dumb = env::var_os("TERM").is_some_and(|term| term == "dumb");
    if !stderr.is_terminal() || no_colour || dumb {
        return remark(&format!("harbor: {message}"));
    }
    let message = disarm(message);
    let (wrong, more) = message.split_once('\n').unwrap_or((&message, ""));
    let more = if more.is_empty() { String::new() } else { format!("\n\x1b[2m{more}\x1b[0m") };
    let _ = writeln!(stderr, "\x1b[1;31mharbor:\x1b[0m {wrong}{more}");
}

fn escape(text: &str, mut hidden: impl FnMut(char) -> bool) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match hidden(c) {
            true => out.extend(c.escape_unicode()),
            false => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_judged_shows_what_nobody_would_see() {
        let evil = "a\u{200b}b\u{202e}c\r\n\td\u{2028}\u{e0041}\u{200d}";
        assert_eq!(reveal(evil), "a\\u{200b}b\\u{202e}c\\u{d}\n\td\\u{2028}\\u{e0041}\\u{200d}");
        assert_eq!(disarm(evil), "a\u{200b}b\\u{202e}c\n\td\u{2028}\u{e0041}\u{200d}");
        for ordinary in ["naïve – 日本語", "👩\u{200d}💻 ❤\u{fe0f}\u{200d}🔥", "\\u{202e}"] {
            assert_eq!(reveal(ordinary), ordinary);
            assert_eq!(disarm(ordinary), ordinary);
        }
        assert_eq!(reveal(&reveal(evil)), reveal(evil), "printing it on a terminal changes nothing more");
        assert_eq!(disarm(&reveal(evil)), reveal(evil));
    }
}
