//! One table of the file: its keys by name, each with a line, a type and a range.
//!
//! Owns the sentences about what is wrong. Must never know what a key means; whoever reads a table says so.

use std::ops::RangeInclusive;

use harbor_policy::suggest::hint;
use toml::Spanned;
use toml::de::{DeString, DeTable, DeValue};

use harbor_home::CONFIG_FILE;

use super::ConfigError;

/// Characters of a key's name that are told.
const MAX_NAME: usize = 80;

/// A key that a table may have, and where its value goes.
pub(super) struct Key<T: 'static> {
    pub(super) name: &'static str,
    kind: SettingKind<T>,
}

enum SettingKind<T: 'static> {
    Number(RangeInclusive<u32>, fn(&mut T, u32)),
    Flag(fn(&mut T, bool)),
    Word(&'static [Choice<T>]),
    Text(&'static str, fn(&mut T, &str) -> bool),
    Texts(&'static str, fn(&mut T, &[&str]) -> bool),
}

/// A word, and what it sets.
type Choice<T> = (&'static str, fn(&mut T));

impl<T> Key<T> {
    pub(super) const fn number(name: &'static str, range: RangeInclusive<u32>, set: fn(&mut T, u32)) -> Self {
        Self { name, kind: SettingKind::Number(range, set) }
    }

    pub(super) const fn flag(name: &'static str, set: fn(&mut T, bool)) -> Self {
        Self { name, kind: SettingKind::Flag(set) }
    }

    pub(super) const fn word(name: &'static str, choices: &'static [Choice<T>]) -> Self {
        Self { name, kind: SettingKind::Word(choices) }
    }

    /// A text that follows a rule; `set` says whether it does.
    pub(super) const fn text(name: &'static str, rule: &'static str, set: fn(&mut T, &str) -> bool) -> Self {
        Self { name, kind: SettingKind::Text(rule, set) }
    }

    /// A list of texts that follow a rule; `set` says whether they do.
    pub(super) const fn texts(
        name: &'static str,
        rule: &'static str,
        set: fn(&mut T, &[&str]) -> bool,
    ) -> Self {
        Self { name, kind: SettingKind::Texts(rule, set) }
    }

    /// Stores the value in its setting, or says which value is expected.
    fn read(&self, value: &DeValue<'_>, into: &mut T) -> Result<(), String> {
        match &self.kind {
            SettingKind::Number(range, set) => {
                let number = number(value).filter(|n| range.contains(n));
                number.map(|n| set(into, n)).ok_or_else(|| {
                    format!("expected a whole number from {} to {}", range.start(), range.end())
                })
            }
            SettingKind::Flag(set) => {
                value.as_bool().map(|on| set(into, on)).ok_or_else(|| "expected true or false".into())
            }
            SettingKind::Text(rule, set) => match value.as_str() {
                Some(text) if set(into, text) => Ok(()),
                _ => Err(format!("expected {rule}")),
            },
            SettingKind::Texts(rule, set) => {
                let items = value.as_array().map(|items| items.iter().map(|item| item.get_ref().as_str()));
                match items.and_then(Iterator::collect::<Option<Vec<_>>>) {
                    Some(texts) if set(into, &texts) => Ok(()),
                    _ => Err(format!("expected a list of {rule}")),
                }
            }
            SettingKind::Word(choices) => {
                let chosen = choices.iter().find(|(word, _)| value.as_str() == Some(*word));
                chosen.map(|(_, set)| set(into)).ok_or_else(|| {
                    let words: Vec<_> = choices.iter().map(|(word, _)| format!("{word:?}")).collect();
                    format!("expected {}", words.join(" or "))
                })
            }
        }
    }
}

fn number(value: &DeValue<'_>) -> Option<u32> {
    let integer = value.as_integer()?;
    u32::from_str_radix(integer.as_str(), integer.radix()).ok()
}

type TableEntry<'t> = (&'t Spanned<DeString<'t>>, &'t Spanned<DeValue<'t>>);

/// A table, with the text that it stands in.
pub(super) struct Table<'t> {
    text: &'t str,
    /// The name in the file, such as `limits.origin."https://example.com"`. Empty for the file itself.
    name: String,
    /// The index of the table's first byte.
    start: usize,
    /// The entries in the order of the file, so that the file's first mistake is reported.
    entries: Vec<TableEntry<'t>>,
}

impl<'t> Table<'t> {
    /// The file itself.
    pub(super) fn whole(text: &'t str, table: &'t DeTable<'t>) -> Self {
        Self::new(text, String::new(), 0, table)
    }

    fn new(text: &'t str, name: String, start: usize, table: &'t DeTable<'t>) -> Self {
        let mut entries: Vec<_> = table.iter().collect();
        entries.sort_by_key(|(key, _)| key.span().start);
        Self { text, name, start, entries }
    }

    /// Demands that it has no other keys than these.
    pub(super) fn knows(&self, names: impl IntoIterator<Item = &'static str>) -> Result<(), ConfigError> {
        let names: Vec<_> = names.into_iter().collect();
        let is_known = |key: &str| names.contains(&key);
        let Some((key, _)) = self.entries.iter().find(|(key, _)| !is_known(key.get_ref())) else {
            return Ok(());
        };
        let hint = match hint(key.get_ref(), names.iter().copied()) {
            hint if hint.is_empty() => format!("; the keys of this table are {}", names.join(", ")),
            hint => hint,
        };
        let name = self.name_of(key.get_ref());
        Err(wrong(self.text, key.span().start, &name, &format!("unknown key{hint}")))
    }

    /// Reads the keys that are there.
    pub(super) fn read<T>(&self, keys: &[Key<T>], into: &mut T) -> Result<(), ConfigError> {
        for (name, value) in &self.entries {
            let Some(key) = keys.iter().find(|key| key.name == name.get_ref()) else { continue };
            let read = key.read(value.get_ref(), into);
            read.map_err(|expected| self.unexpected(name, value, &expected))?;
        }
        Ok(())
    }

    /// Reads the keys of a table that may have no others.
    pub(super) fn read_only<T>(&self, keys: &[Key<T>], into: &mut T) -> Result<(), ConfigError> {
        self.knows(keys.iter().map(|key| key.name))?;
        self.read(keys, into)
    }

    /// A table in this one. Empty if there is no such table.
    pub(super) fn table(&self, name: &str) -> Result<Self, ConfigError> {
        match self.entries.iter().find(|(key, _)| key.get_ref() == name) {
            Some(entry) => self.as_table(*entry),
            None => Ok(Self { text: self.text, name: self.name_of(name), start: 0, entries: Vec::new() }),
        }
    }

    /// All tables in this one, with their keys. This one holds nothing else.
    pub(super) fn tables(&self) -> Result<Vec<(&'t str, Self)>, ConfigError> {
        self.entries.iter().map(|entry| Ok((entry.0.get_ref().as_ref(), self.as_table(*entry)?))).collect()
    }

    fn as_table(&self, (key, value): TableEntry<'t>) -> Result<Self, ConfigError> {
        let table =
            value.get_ref().as_table().ok_or_else(|| self.unexpected(key, value, "expected a table"))?;
        Ok(Self::new(self.text, self.name_of(key.get_ref()), key.span().start, table))
    }

    /// The index of the table's first byte, for [`Table::line_at`].
    pub(super) fn start(&self) -> usize {
        self.start
    }

    /// The line of a place in the file. It is counted anew each time, so only for an error.
    pub(super) fn line_at(&self, start: usize) -> usize {
        line(self.text, start)
    }

    /// Its own name is wrong.
    pub(super) fn misnamed(&self, what: &str) -> ConfigError {
        wrong(self.text, self.start, &self.name, what)
    }

    fn unexpected(
        &self,
        key: &Spanned<DeString<'_>>,
        value: &Spanned<DeValue<'_>>,
        what: &str,
    ) -> ConfigError {
        wrong(self.text, value.span().start, &self.name_of(key.get_ref()), what)
    }

    /// A key's name from the file's root, quoted as TOML wants it.
    fn name_of(&self, key: &str) -> String {
        let is_bare =
            !key.is_empty() && key.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-');
        let mut key = if is_bare { key.to_owned() } else { format!("{key:?}") };
        if let Some((end, _)) = key.char_indices().nth(MAX_NAME) {
            key.truncate(end);
            key.push('…');
        }
        if self.name.is_empty() { key } else { format!("{}.{key}", self.name) }
    }
}

/// The parser's own complaint.
pub(super) fn no_toml(text: &str, error: &toml::de::Error) -> ConfigError {
    let start = error.span().map_or(0, |span| span.start);
    ConfigError(format!("{CONFIG_FILE}:{}: {}", line(text, start), error.message().replace('\n', "; ")))
}

/// Something that is no UTF-8 comes behind `text`.
pub(super) fn not_text(text: &[u8]) -> ConfigError {
    ConfigError(format!("{CONFIG_FILE}:{}: expected text in UTF-8", lines(text)))
}

fn wrong(text: &str, start: usize, name: &str, what: &str) -> ConfigError {
    ConfigError(format!("{CONFIG_FILE}:{}: {name}: {what}", line(text, start)))
}

/// The line in which the byte at `start` stands, from 1.
fn line(text: &str, start: usize) -> usize {
    lines(text.as_bytes().get(..start).unwrap_or(text.as_bytes()))
}

fn lines(before: &[u8]) -> usize {
    before.iter().filter(|byte| **byte == b'\n').count() + 1
}
