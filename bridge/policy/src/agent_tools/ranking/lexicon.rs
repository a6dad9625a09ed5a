//! Words: how a text is split into them, their stems, and which words of tools the words of a task may mean.
//!
//! Owns the table `words.tsv`, which has general words and names of services, and nothing about a single tool or task.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

/// The table, read once.
pub(super) static LEXICON: LazyLock<Lexicon> = LazyLock::new(|| Lexicon::of(include_str!("words.tsv")));

/// The shortest word that another one may be made of.
const SHORTEST_PART: usize = 5;

/// Words of tools that mean something together; mostly it is one.
pub(super) type Together = Vec<String>;

/// The table.
#[derive(Debug, Default)]
pub(super) struct Lexicon {
    /// Stems, or two words in a row, and what they may mean.
    meanings: BTreeMap<String, BTreeSet<Together>>,
    /// Words of scripts without blanks between words.
    unspaced: BTreeMap<String, BTreeSet<Together>>,
    /// Words, and servers' words that provide what they name.
    servers: BTreeMap<String, BTreeSet<String>>,
    silent: BTreeSet<String>,
    doing: BTreeSet<String>,
    common: BTreeSet<String>,
}

impl Lexicon {
    fn of(table: &str) -> Self {
        let mut lexicon = Self::default();
        for line in table.lines().filter(|line| !line.starts_with('#')) {
            let Some((to, from)) = line.split_once('\t') else { continue };
            let from = from.split(' ');
            match to {
                "!silent" => lexicon.silent.extend(from.map(stem)),
                "!doing" => lexicon.doing.extend(from.map(stem)),
                "!common" => lexicon.common.extend(from.map(stem)),
                _ => from.for_each(|word| lexicon.add(to, word)),
            }
        }
        lexicon
    }

    fn add(&mut self, to: &str, word: &str) {
        if let Some(names) = to.strip_prefix('@') {
            self.servers.entry(stem(word)).or_default().extend(names.split(' ').map(stem));
            return;
        }
        let is_unspaced = word.chars().any(is_unspaced);
        let (table, key) = match (is_unspaced, word.contains('-')) {
            (true, _) => (&mut self.unspaced, word.to_owned()),
            (false, true) => (&mut self.meanings, word.to_lowercase()),
            (false, false) => (&mut self.meanings, stem(word)),
        };
        let meanings = table.entry(key.clone()).or_default();
        for meaning in to.split(' ') {
            let together: Together = meaning.split('+').map(stem).collect();
            if together != [key.clone()] {
                meanings.insert(together);
            }
        }
    }

    /// The meanings of a stem, or of two words in a row.
    pub fn meanings(&self, word: &str) -> impl Iterator<Item = &Together> {
        self.meanings.get(word).into_iter().flatten()
    }

    /// True if the table has the word.
    pub fn knows(&self, word: &str) -> bool {
        self.meanings.contains_key(word)
    }

    /// The words of a text in a script without blanks, and their meanings.
    pub fn unspaced<'a>(&'a self, text: &'a str) -> impl Iterator<Item = &'a BTreeSet<Together>> {
        let has_some = text.chars().any(is_unspaced);
        let all = self.unspaced.iter().filter(move |(word, _)| has_some && text.contains(word.as_str()));
        all.map(|(_, meanings)| meanings)
    }

    /// True if the word provides for one of these servers' words.
    pub fn is_of_server(&self, word: &str, server: &BTreeSet<String>) -> bool {
        self.servers.get(word).is_some_and(|servers| !servers.is_disjoint(server))
    }

    /// True if the word says nothing about a task.
    pub fn is_silent(&self, word: &str) -> bool {
        self.silent.contains(word)
    }

    /// True if the word is a verb that many tools have.
    pub fn is_doing(&self, word: &str) -> bool {
        self.doing.contains(word)
    }

    /// True if a server's word does not name the server.
    pub fn is_common(&self, word: &str) -> bool {
        self.common.contains(word)
    }

    /// The longest known word that a compound begins or ends with, or another form of a known word.
    pub fn part_of(&self, word: &str) -> Option<&str> {
        if word.len() < SHORTEST_PART + 1 || !word.chars().all(char::is_alphabetic) {
            return None;
        }
        let known = || self.meanings.keys().map(String::as_str).filter(|known| known.len() >= SHORTEST_PART);
        let parts = known().filter(|known| word.starts_with(known) || word.ends_with(known));
        parts.max_by_key(|known| known.len()).or_else(|| {
            let head = word.get(..SHORTEST_PART.max(word.len() - 3))?;
            let forms =
                known().filter(|known| known.starts_with(head) && known.len().abs_diff(word.len()) <= 3);
            forms.max_by_key(|known| known.len())
        })
    }
}

/// The words of a text in small letters; `camelCase` and `snake_case` are two each.
pub(super) fn words(text: &str) -> Vec<String> {
    let (mut words, mut word, mut was_small) = (Vec::new(), String::new(), false);
    for c in text.chars() {
        if !c.is_alphanumeric() || (was_small && c.is_ascii_uppercase()) {
            words.extend(Some(std::mem::take(&mut word)).filter(|word| !word.is_empty()));
        }
        if c.is_alphanumeric() {
            word.extend(c.to_lowercase());
        }
        was_small = c.is_ascii_lowercase() || c.is_ascii_digit();
    }
    words.extend(Some(word).filter(|word| !word.is_empty()));
    words
}

/// The stems of a text's words.
pub(super) fn stems(text: &str) -> Vec<String> {
    words(text).iter().map(|word| stem(word)).collect()
}

/// The part of a word that its forms have in common.
pub(super) fn stem(word: &str) -> String {
    const ENDS: [(&str, &str); 13] = [
        ("ies", "y"),
        ("sses", "ss"),
        ("ches", "ch"),
        ("shes", "sh"),
        ("xes", "x"),
        ("ings", ""),
        ("ing", ""),
        ("edly", ""),
        ("ed", ""),
        ("ations", "ate"),
        ("ation", "ate"),
        ("us", "us"),
        ("s", ""),
    ];
    let mut word = word.to_lowercase();
    if word.is_ascii()
        && let Some((end, instead)) =
            ENDS.iter().find(|(end, _)| word.ends_with(end) && word.len() - end.len() >= 3)
        && !(*end == "s" && (word.ends_with("ss") || word.ends_with("is")))
    {
        word.truncate(word.len() - end.len());
        word.push_str(instead);
        let mut last = word.bytes().rev();
        let is_doubled = last.next().is_some_and(|byte| last.next() == Some(byte) && !b"lsz".contains(&byte));
        if ["ing", "ings", "ed", "edly"].contains(end) && word.len() > 3 && is_doubled {
            word.pop();
        }
    }
    if word.ends_with('e') && word.chars().count() > 3 {
        word.pop();
    }
    word
}

fn is_unspaced(c: char) -> bool {
    ('\u{3040}'..='\u{9fff}').contains(&c)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_split_and_stemmed() {
        assert_eq!(
            words("listPull_requests2, HTTPServer é"),
            ["list", "pull", "requests2", "httpserver", "é"]
        );
        for (word, wanted) in [
            ("files", "fil"),
            ("file", "fil"),
            ("searches", "search"),
            ("queries", "query"),
            ("creating", "creat"),
            ("create", "creat"),
            ("stopped", "stop"),
            ("status", "status"),
            ("class", "class"),
            ("analysis", "analysis"),
        ] {
            assert_eq!(stem(word), wanted, "{word}");
        }
    }

    #[test]
    fn a_word_means_words_of_tools_also_in_another_language_or_within_a_compound() {
        let has =
            |word: &str, meaning: &str| LEXICON.meanings(word).any(|together| *together == [stem(meaning)]);
        assert!(has(&stem("Ordner"), "directory") && has(&stem("correo"), "mail"));
        assert_eq!(LEXICON.part_of("umfrageformular"), Some("formular"));
        assert_eq!(LEXICON.part_of("xyz"), None);
        assert_eq!(LEXICON.unspaced("ファイルを読んで").count(), 2);
    }
}
