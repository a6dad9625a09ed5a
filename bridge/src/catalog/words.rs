//! The person's search, as SQLite's full-text search reads it, and the cursor of a list, as a client keeps it.
//!
//! Owns both notations; pure. Must never pass on a person's text as syntax: each word is quoted.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

/// The most words of a search that count.
const MOST_WORDS: usize = 16;

/// The longest cursor, in bytes.
const MAX_CURSOR: usize = 200;

/// The longest id of an entry, in characters.
const MAX_ID: usize = 64;

/// The expression: each word in quotes, the last one as a prefix. `None` if there is no word in it.
#[must_use]
pub fn expression(query: &str) -> Option<String> {
    let has_letters = |word: &&str| word.chars().any(char::is_alphanumeric);
    let words: Vec<_> =
        query.split(|c: char| c.is_whitespace() || c.is_control()).filter(has_letters).collect();
    let quoted = words.iter().take(MOST_WORDS).map(|word| format!("\"{}\"", word.replace('"', "\"\"")));
    let quoted: Vec<_> = quoted.collect();
    // Joined without the operator AND: the grammar of FTS5 without it leaves out words without tokens.
    (!quoted.is_empty()).then(|| format!("{}*", quoted.join(" ")))
}

/// The place where a page ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Cursor {
    /// After the entry with this priority and id.
    Behind(i64, String),
    /// After this many entries.
    Skip(u32),
}

impl Cursor {
    /// The text that a client keeps.
    #[must_use]
    pub fn written(&self) -> String {
        let text = match self {
            Self::Behind(priority, id) => format!("p{priority}:{id}"),
            Self::Skip(count) => format!("s{count}"),
        };
        URL_SAFE_NO_PAD.encode(text)
    }

    /// Reads a client's text; `None` if it is no cursor of Harbor's.
    #[must_use]
    pub fn read(text: &str) -> Option<Self> {
        if text.len() > MAX_CURSOR {
            return None;
        }
        let text = String::from_utf8(URL_SAFE_NO_PAD.decode(text).ok()?).ok()?;
        if let Some(count) = text.strip_prefix('s') {
            return count.parse().ok().map(Self::Skip);
        }
        let (priority, id) = text.strip_prefix('p')?.split_once(':')?;
        let is_id = id.len() <= MAX_ID && id.chars().all(|c| c.is_ascii_alphanumeric());
        is_id.then_some(Self::Behind(priority.parse().ok()?, id.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rusqlite::Connection;

    use super::*;

    #[test]
    fn words_are_quoted_and_the_last_one_is_begun() {
        let said = |query: &str| expression(query);
        assert_eq!(said("time"), Some("\"time\"*".into()));
        assert_eq!(said(" file  sys"), Some("\"file\" \"sys\"*".into()));
        assert_eq!(said("a OR NEAR(b) -c \"d"), Some("\"a\" \"OR\" \"NEAR(b)\" \"-c\" \"\"\"d\"*".into()));
        assert_eq!(said("io.github.x/time:*"), Some("\"io.github.x/time:*\"*".into()));
        assert_eq!((said(""), said(" -- \"* \0"), said("?!")), (None, None, None));
        assert_eq!(said(&"w ".repeat(100)).unwrap().matches('w').count(), MOST_WORDS);
    }

    #[test]
    fn cursors_come_back_and_others_are_none() {
        for cursor in [Cursor::Skip(0), Cursor::Skip(u32::MAX), Cursor::Behind(-7, "00ff".into())] {
            assert_eq!(Cursor::read(&cursor.written()), Some(cursor));
        }
        for text in ["", "x", "c3g", "%%%", &"A".repeat(300), &URL_SAFE_NO_PAD.encode("p1:'--")] {
            assert_eq!(Cursor::read(text), None, "{text}");
        }
    }

    fn index() -> Connection {
        let connection = Connection::open_in_memory().unwrap();
        connection
            .execute_batch(
                "CREATE VIRTUAL TABLE f USING fts5 (a, b, prefix = '2 3', tokenize = 'unicode61 remove_diacritics 2');
                 INSERT INTO f VALUES ('io.github.x/time', 'Tells the café time OR not'), ('other', 'mcp');",
            )
            .unwrap();
        connection
    }

    fn found(index: &Connection, query: &str) -> Result<u32, rusqlite::Error> {
        let Some(expression) = expression(query) else { return Ok(0) };
        index.query_row("SELECT count(*) FROM f WHERE f MATCH ?1", [expression], |row| row.get(0))
    }

    #[test]
    fn words_find_what_they_mean() {
        let index = index();
        for (query, count) in [
            ("tim", 1),
            ("time cafe", 1),
            ("TIME not", 1),
            ("time OR", 1),
            ("time AND mcp", 0),
            ("github.x/ti", 1),
            ("tim cafe", 0),
            ("a:time", 0),
            ("- time", 1),
            ("^time", 1),
        ] {
            assert_eq!(found(&index, query), Ok(count), "{query}");
        }
    }

    proptest! {
        #[test]
        fn nothing_that_is_typed_is_syntax(query in "\\PC{0,40}|[\"*()+^:{}\\-a \0\n]{0,60}|(AND|OR|NOT|NEAR|\"| |a|\\*|\\(){0,20}") {
            prop_assert!(found(&index(), &query).is_ok(), "{query:?} is {:?}", expression(&query));
        }
    }
}
