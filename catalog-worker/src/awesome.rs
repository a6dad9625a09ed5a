//! A Markdown list of servers as entries.
//!
//! ```text
//!  ## Databases                                                        a heading: the tag of what follows
//!  - [Postgres](https://github.com/ann/postgres) - Reads a database.   an item: a link to a repository, then words
//! ```
//!
//! Owns the reading, line by line. Must never guess: only an item whose first link leads to a repository is an entry;
//! tables, nested links, badges and prose are passed over.

use std::collections::BTreeMap;

use crate::entry::Entry;
use crate::text;

/// The most bytes of a line. Longer lines are skipped.
const MAX_LINE: usize = 4000;
/// More entries are not read.
pub const MAX_ENTRIES: usize = 20_000;
/// The longest tag.
const MAX_TAG: usize = 60;
/// The hosts of repositories.
const HOSTS: &[&str] = &["github.com", "gitlab.com", "codeberg.org", "bitbucket.org"];

/// Its entries, each repository once, in the list's order.
#[must_use]
pub fn entries(markdown: &str) -> Vec<Entry> {
    let mut entries: Vec<Entry> = Vec::new();
    let mut places: BTreeMap<String, usize> = BTreeMap::new();
    let mut section = None;
    let mut fenced = false;
    for line in markdown.lines().filter(|line| line.len() <= MAX_LINE) {
        fenced ^= line.trim_start().starts_with("```");
        if fenced {
            continue;
        }
        if let Some(heading) = heading(line) {
            section = heading;
        } else if let Some(found) = item(line) {
            match places.get(&found.name) {
                Some(at) => tag(entries.get_mut(*at), section.as_deref()),
                None if entries.len() < MAX_ENTRIES => {
                    places.insert(found.name.clone(), entries.len());
                    entries.push(found);
                    tag(entries.last_mut(), section.as_deref());
                }
                None => return entries,
            }
        }
    }
    entries
}

/// An entry that stands in several sections has all their tags, up to eight.
fn tag(entry: Option<&mut Entry>, section: Option<&str>) {
    if let (Some(entry), Some(section)) = (entry, section)
        && entry.tags.len() < 8
        && !entry.tags.iter().any(|tag| tag == section)
    {
        entry.tags.push(section.to_owned());
    }
}

/// The heading of a section, as a tag: its words without symbols.
#[allow(clippy::option_option, reason = "a heading without words ends the section before it")]
fn heading(line: &str) -> Option<Option<String>> {
    let words = line.strip_prefix('#')?.trim_start_matches('#').strip_prefix(' ')?;
    let plain: String = words
        .chars()
        .filter(|character| character.is_alphanumeric() || " &/+-".contains(*character))
        .collect();
    Some(text::some(Some(&plain.to_lowercase()), MAX_TAG))
}

fn item(line: &str) -> Option<Entry> {
    let line = line.trim_start();
    let rest = line.strip_prefix(['-', '*', '+'])?.trim_start();
    let rest = rest.strip_prefix("**").unwrap_or(rest).strip_prefix('[')?;
    let (title, rest) = rest.split_once("](")?;
    let (target, rest) = rest.split_once(')')?;
    if title.contains(['[', ']', '!']) || target.contains(char::is_whitespace) {
        return None;
    }
    let repository = text::repository(target)
        .filter(|repository| is_hosted(repository) && repository.len() <= text::MAX_NAME)?;
    let title = text::some(Some(title.trim_matches(['*', '`', ' '])), text::MAX_TITLE)?;
    Some(Entry {
        name: repository.clone(),
        title: Some(title),
        description: description(rest),
        packages: "[]".into(),
        remotes: "[]".into(),
        repository: Some(repository),
        ..Entry::default()
    })
}

fn is_hosted(repository: &str) -> bool {
    let place = repository.strip_prefix("https://").unwrap_or_default();
    HOSTS.iter().any(|host| {
        place
            .strip_prefix(host)
            .and_then(|path| path.strip_prefix('/'))
            .is_some_and(|path| path.contains('/'))
    })
}

/// The words behind the link, without the dash between, and with links as their words.
fn description(rest: &str) -> String {
    let mut words = String::new();
    let mut rest = rest.trim_start_matches(['*', ' ', '-', '–', '—', ':']);
    while let Some((before, link)) = rest.split_once('[') {
        let Some((label, behind)) = link.split_once("](") else { break };
        let Some((_, behind)) = behind.split_once(')') else { break };
        words.push_str(before.strip_suffix('!').unwrap_or(before));
        // A picture's words are those of a badge.
        if !before.ends_with('!') {
            words.push_str(label);
        }
        rest = behind;
    }
    words.push_str(rest);
    text::clean(&words, text::MAX_DESCRIPTION)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(markdown: &str) -> Vec<(String, String, String, Vec<String>)> {
        let of = |entry: Entry| (entry.name, entry.title.unwrap_or_default(), entry.description, entry.tags);
        entries(markdown).into_iter().map(of).collect()
    }

    fn one(
        name: &str,
        title: &str,
        description: &str,
        tags: &[&str],
    ) -> (String, String, String, Vec<String>) {
        (name.into(), title.into(), description.into(), tags.iter().map(ToString::to_string).collect())
    }

    #[test]
    fn items_with_a_repository_are_entries() {
        let list = "# Awesome\n\n\
            Some [prose](https://github.com/a/prose).\n\
            ## 🗄️ Databases\n\
            - [Postgres](https://github.com/Ann/postgres) - Reads a [database](https://x.example), safely.\n\
            * **[Lite](https://github.com/ann/lite/tree/main)** — `fast`\n\
            - [No repository](https://example.com/a/b) - x\n\
            - [Owner only](https://github.com/ann) - x\n\
            - [![badge](https://b.example)](https://github.com/a/badge)\n\
            - no link\n\
            | [Table](https://github.com/a/table) | x |\n\
            ```\n- [Code](https://github.com/a/code)\n```\n\
            ### Files & more\n\
            - [Postgres again](https://github.com/ann/postgres.git) - twice\n\
            - [Lab](https://gitlab.com/g/sub/lab)\n";
        assert_eq!(
            seen(list),
            [
                one(
                    "https://github.com/ann/postgres",
                    "Postgres",
                    "Reads a database, safely.",
                    &["databases", "files & more"]
                ),
                one("https://github.com/ann/lite", "Lite", "`fast`", &["databases"]),
                one("https://gitlab.com/g/sub/lab", "Lab", "", &["files & more"]),
            ]
        );
    }

    #[test]
    fn hostile_lines_are_passed_over() {
        let long = format!("- [x](https://github.com/a/b) - {}\n", "y".repeat(MAX_LINE));
        assert_eq!(seen(&long), []);
        assert_eq!(
            seen("- [x](javascript:alert(1))\n- [x](https://github.com/a/b\n- [](https://github.com/a/b)"),
            []
        );
        let html = seen("- [<b>x</b>\u{202e}](https://github.com/a/b) <script>");
        assert_eq!(html, [one("https://github.com/a/b", "<b>x</b>", "<script>", &[])]);
        let many: String =
            (0..MAX_ENTRIES + 5).map(|n| format!("- [x](https://github.com/a/b{n})\n")).collect();
        assert_eq!(entries(&many).len(), MAX_ENTRIES);
    }
}
