//! What a server would be started with, as a person judges it: program, arguments, variables, headers.
//!
//! Owns how foreign texts stand in the lines of a plan: each is one word, as in a shell, and shows all that it has. Must never
//! cut one without saying so: what is behind may be what matters.

use crate::reply::Members;
use crate::screen::reveal;

/// Longer texts are cut, in characters.
const MOST: usize = 300;

/// The lines of what a plan says of it.
pub fn describe(runs: &Members) -> Vec<String> {
    let program = runs.raw("program").map(|_| runs.text("program"));
    let what = if program.is_some() { "runs       " } else { "arguments  " };
    let words: Vec<_> = program.into_iter().chain(runs.strings("args")).map(|text| word(&text)).collect();
    let mut lines: Vec<_> =
        (!words.is_empty()).then(|| format!("{what}{}", words.join(" "))).into_iter().collect();
    for (list, what, between) in [("env", "sets       ", "="), ("headers", "sends      ", ": ")] {
        let line = |one: &Members| match (word(&one.text("name")), one.raw("value")) {
            (name, Some(_)) => format!("{what}{name}{between}{}", word(&one.text("value"))),
            (name, None) => format!("{what}{name}, as you say"),
        };
        lines.extend(runs.objects(list).iter().map(line));
    }
    lines.extend(runs.strings("secrets").iter().map(|name| format!("secret     {}", word(name))));
    lines
}

/// A text that somebody else may have written, as one word of a line.
pub fn word(text: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "/._-+=:,@%{}[]#&?~^…".contains(c);
    let shown = reveal(&text.replace('\n', "\\n").replace('\t', "\\t"));
    let shown = match shown.char_indices().nth(MOST) {
        Some((at, _)) => {
            let more = shown[at..].chars().count();
            return format!("'{}…' (and {more} more characters, which --dry-run --json shows)", &shown[..at]);
        }
        None => shown,
    };
    match !shown.is_empty() && shown.chars().all(is_plain) {
        true => shown,
        false => format!("'{}'", shown.replace('\'', r"'\''")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_run_is_shown_word_by_word() {
        let runs = Members::parse(
            r#"{"program":"time","args":["--zone","Europe/Paris","a b","","x\u001b[2J\n$(id)","{name}"],"env":[{"name":"MODE","value":"it's fast"},{"name":"MINE"}],"headers":[{"name":"X-Tenant","value":"acme"},{"name":"Authorization"}],"secrets":["KEY"]}"#.as_bytes(),
        )
        .unwrap();
        let wanted = r"runs       time --zone Europe/Paris 'a b' '' 'x\u{1b}[2J\n$(id)' {name}
sets       MODE='it'\''s fast'
sets       MINE, as you say
sends      X-Tenant: acme
sends      Authorization, as you say
secret     KEY";
        assert_eq!(describe(&runs).join("\n"), wanted);
        let image = Members::parse(br#"{"args":["stdio"],"env":[],"headers":[],"secrets":[]}"#).unwrap();
        assert_eq!(describe(&image), ["arguments  stdio"]);
        assert_eq!(describe(&Members::default()), [""; 0]);
    }

    #[test]
    fn what_is_cut_says_so() {
        let long = format!("{}; rm", "x".repeat(MOST));
        let shown = word(&long);
        assert!(shown.ends_with("…' (and 4 more characters, which --dry-run --json shows)"), "{shown}");
        assert_eq!(word(&"x".repeat(MOST)), "x".repeat(MOST));
    }
}
