//! The start of a server, as a person judges it: program, arguments, variables, headers.
//!
//! Owns how foreign texts stand in the lines of a plan: each is one word, as in a shell, and shows all that
//! it has. Must never cut a text without saying so. Must never show so many that what matters is off the
//! screen; a place that an argument opens is always shown.

use harbor_ipc_proto::client::{NamedView, RunsView};
use harbor_policy::sandbox::prefixes::path_in_argument;
use harbor_policy::telltale::without_secrets;

use harbor_client::terminal::reveal;

/// The most characters of a text that are shown.
const MOST: usize = 300;

/// More arguments, variables, headers or secrets are counted.
const MOST_SHOWN: usize = 12;

/// The lines of what a plan says of it.
pub fn describe(runs: &RunsView) -> Vec<String> {
    let (program, args) = (runs.program.clone(), &without_secrets(&runs.args));
    let what = if program.is_some() { "runs       " } else { "arguments  " };
    let shown = program.into_iter().chain(args.iter().take(MOST_SHOWN).cloned());
    let words: Vec<_> = shown.map(|text| word(&text)).chain(more(args.len())).collect();
    let mut lines: Vec<_> =
        (!words.is_empty()).then(|| format!("{what}{}", words.join(" "))).into_iter().collect();
    for (list, what, between) in [(&runs.env, "sets       ", "="), (&runs.headers, "sends      ", ": ")] {
        let line = |one: &NamedView| match (word(&one.name), &one.value) {
            (name, Some(value)) => format!("{what}{name}{between}{}", word(value)),
            (name, None) => format!("{what}{name}, as you say"),
        };
        lines.extend(list.iter().take(MOST_SHOWN).map(line));
        lines.extend(more(list.len()).map(|more| format!("{what}{more}")));
    }
    let secrets = &runs.secrets;
    let line = |name: &String| format!("secret     {}", word(name));
    lines.extend(secrets.iter().take(MOST_SHOWN).map(line));
    lines.extend(more(secrets.len()).map(|more| format!("secret     {more}")));
    lines
}

/// The line in place of those that are not shown.
fn more(all: usize) -> Option<String> {
    (all > MOST_SHOWN).then(|| format!("(and {} more; --dry-run --json shows all)", all - MOST_SHOWN))
}

/// The places that arguments name, whoever said them: the sandbox opens them for reading. Each once.
pub fn places(runs: &RunsView) -> Vec<String> {
    let mut places: Vec<_> = runs.args.iter().filter_map(|text| path_in_argument(text)).collect();
    places.sort_unstable();
    places.dedup();
    places
}

/// A text that somebody else may have written, as one word of a line.
pub fn word(text: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "/._-+=:,@%{}[]#&?~^…".contains(c);
    let shown = reveal(&text.replace('\n', "\\n").replace('\t', "\\t"));
    let quoted = |text: &str| format!("'{}'", text.replace('\'', r"'\''"));
    match shown.char_indices().nth(MOST) {
        Some((at, _)) => {
            let more = shown[at..].chars().count();
            let cut = quoted(&format!("{}…", &shown[..at]));
            format!("{cut} (and {more} more characters, which --dry-run --json shows)")
        }
        None if !shown.is_empty() && shown.chars().all(is_plain) => shown,
        None => quoted(&shown),
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::rig::typed;
    use super::*;

    #[test]
    fn what_is_run_is_shown_word_by_word() {
        let runs = typed(
            r#"{"program":"time","args":["--zone","Europe/Paris","a b","","x\u001b[2J\n$(id)","{name}"],"env":[{"name":"MODE","value":"it's fast"},{"name":"MINE"}],"headers":[{"name":"X-Tenant","value":"acme"},{"name":"Authorization"}],"secrets":["KEY"]}"#,
        );
        let wanted = r"runs       time --zone Europe/Paris 'a b' '' 'x\u{1b}[2J\n$(id)' {name}
sets       MODE='it'\''s fast'
sets       MINE, as you say
sends      X-Tenant: acme
sends      Authorization, as you say
secret     KEY";
        assert_eq!(describe(&runs).join("\n"), wanted);
        assert_eq!(describe(&typed(r#"{"args":["stdio"]}"#)), ["arguments  stdio"]);
        assert_eq!(describe(&typed("{}")), [""; 0]);
    }

    #[test]
    fn what_is_cut_says_so() {
        let long = format!("{}; rm", "x".repeat(MOST));
        let shown = word(&long);
        assert!(shown.ends_with("…' (and 4 more characters, which --dry-run --json shows)"), "{shown}");
        assert_eq!(word(&"x".repeat(MOST)), "x".repeat(MOST));
        let quotes = word(&format!("it's {}", "x".repeat(MOST)));
        assert!(quotes.starts_with(r"'it'\''s x") && quotes.contains("…' (and 5 more"), "{quotes}");
    }

    #[test]
    fn what_is_many_is_counted() {
        let list = |one: &str| vec![one; 60].join(",");
        let (arg, named) = (list(r#""--x=/p""#), list(r#"{"name":"A","value":"b"}"#));
        let runs = format!(
            r#"{{"program":"p","args":[{arg},"/home/me"],"env":[{named}],"headers":[{named}],"secrets":["K"]}}"#
        );
        let runs = typed(&runs);
        let lines = describe(&runs);
        assert_eq!(lines.len(), 1 + 2 * (MOST_SHOWN + 1) + 1);
        assert!(lines[0].ends_with("--x=/p (and 49 more; --dry-run --json shows all)"), "{}", lines[0]);
        assert_eq!(lines[MOST_SHOWN + 1], "sets       (and 48 more; --dry-run --json shows all)");
        assert_eq!(places(&runs), ["/home/me", "/p"]);
    }
}
