//! Files of other people's programs: how Harbor gets into the configurations of AI clients and out of them.
//! Also: which servers they name, and how browsers learn of its native host.
//!
//! ```text
//!  text ─┬─► jsonc, toml ─► Value ─► servers ─► what can be taken over, or why not
//!        ├─► put, take ─► text: an entry more or less, all the rest byte for byte
//!        └─► browsers ─► what is wrong with a native host's manifest
//! ```
//!
//! Owns the tables of clients and browsers, and the editing of their files. Must never touch a disk or print
//! a person's secret. An edit must never change anything but Harbor's entry: each result is read again and
//! compared.

pub mod browsers;
mod clients;
mod engine;
mod entry;
pub mod extensions;
mod foreign_error;
mod jsonc;
mod launch;
mod names;
mod placeholders;
mod remote_entries;
mod servers;
mod swap;
mod toml;

#[cfg(test)]
mod tests;

use serde_json::{Map, Value};

pub use self::clients::{AiClient, CLIENTS, client, fills_of};
pub use self::entry::{Entry, is_ours};
pub use self::foreign_error::ForeignError;
pub use self::launch::{Image, Launch, RemoteEntry, Skip};
pub use self::names::server_id;
pub use self::placeholders::{Fills, Surroundings, Unresolved, Use};
pub use self::servers::{Named, launch, named};
pub use self::swap::Swap;

/// The format of such a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// JSON, with comments and trailing commas.
    Json,
    /// TOML.
    Toml,
}

/// A byte order mark, which editors of old put at the beginning.
const MARK: char = '\u{feff}';

impl Format {
    /// Reads a text; nothing but space is an empty object.
    ///
    /// # Errors
    /// When the text is malformed, or no object.
    pub fn read(self, text: &str) -> Result<Value, ForeignError> {
        let text = text.strip_prefix(MARK).unwrap_or(text);
        match self {
            Self::Json => jsonc::read(text),
            Self::Toml => toml::read(text),
        }
    }

    /// The text with this entry under `key`, new or in place of another program's. Our own entry is renewed
    /// where it differs, and keeps what others have added to it.
    ///
    /// # Errors
    /// When the text is malformed or cannot be edited.
    pub fn put(self, text: &str, key: &str, entry: &Entry) -> Result<String, ForeignError> {
        let before = self.read(text)?;
        let (mark, body) = text.split_at(if text.starts_with(MARK) { MARK.len_utf8() } else { 0 });
        let old = before.get(key).and_then(|entries| entries.get(&entry.name));
        let ours = old.filter(|old| is_ours(old));
        let value = ours.map_or_else(|| entry.value(), |old| entry.renewed(old));
        let after = match (self, ours) {
            (Self::Json, _) => jsonc::put(body, key, entry)?,
            (Self::Toml, Some(old)) => toml::renew(body, key, entry, &entry.stale(old))?,
            (Self::Toml, None) => toml::put(body, key, entry)?,
        };
        let mut wanted = before.clone();
        table(&mut wanted, key)?.insert(entry.name.clone(), value);
        self.checked(format!("{mark}{after}"), &wanted, key)
    }

    /// The text with an entry that an earlier text had, as it is written there. None if the text has an entry
    /// of that name, or the earlier text had none.
    ///
    /// # Errors
    /// When one of the texts is malformed, or the text cannot be edited.
    pub fn give_back(
        self,
        text: &str,
        key: &str,
        name: &str,
        from: &str,
    ) -> Result<Option<String>, ForeignError> {
        let of = |root: &Value| root.get(key).and_then(|entries| entries.get(name)).cloned();
        let mut wanted = self.read(text)?;
        let Some(theirs) = of(&self.read(from)?).filter(|_| of(&wanted).is_none()) else { return Ok(None) };
        let bare = |text: &str| text.strip_prefix(MARK).unwrap_or(text).to_owned();
        let (body, from) = (bare(text), bare(from));
        let after = match self {
            // Nothing but space or comments.
            Self::Json if wanted.as_object().is_some_and(Map::is_empty) && !body.contains('{') => {
                jsonc::give(&format!("{body}{{}}\n"), key, name, &from)?
            }
            Self::Json => jsonc::give(&body, key, name, &from)?,
            Self::Toml => toml::give(&body, key, name, &from)?,
        };
        table(&mut wanted, key)?.insert(name.to_owned(), theirs);
        let mark = if text.starts_with(MARK) { String::from(MARK) } else { String::new() };
        self.checked(format!("{mark}{after}"), &wanted, key).map(Some)
    }

    /// The text without the entry of this name under `key`, and without `key` itself if that is then empty and was ours.
    /// `None` when there is no such entry.
    ///
    /// # Errors
    /// When the text is malformed or cannot be edited.
    pub fn take(
        self,
        text: &str,
        key: &str,
        name: &str,
        key_too: bool,
    ) -> Result<Option<String>, ForeignError> {
        let before = self.read(text)?;
        if before.get(key).and_then(|entries| entries.get(name)).is_none() {
            return Ok(None);
        }
        let (mark, body) = text.split_at(if text.starts_with(MARK) { MARK.len_utf8() } else { 0 });
        let mut wanted = before;
        let entries = table(&mut wanted, key)?;
        entries.remove(name);
        let key_too = key_too && entries.is_empty();
        let after = match self {
            Self::Json => jsonc::take(body, key, name, key_too)?,
            Self::Toml => toml::take(body, key, name)?,
        };
        // An empty table of TOML goes with its last entry: nothing but the entry's name had made it.
        if let Some(root) = wanted.as_object_mut()
            && (key_too || self == Self::Toml && self.read(&after)?.get(key).is_none())
            && root.get(key).and_then(Value::as_object).is_some_and(Map::is_empty)
        {
            root.remove(key);
        }
        self.checked(format!("{mark}{after}"), &wanted, key).map(Some)
    }

    /// A text that says exactly `wanted`.
    fn checked(self, text: String, wanted: &Value, key: &str) -> Result<String, ForeignError> {
        match self.read(&text) {
            Ok(found) if found == *wanted => Ok(text),
            _ => Err(ForeignError::ByHand(key.to_owned())),
        }
    }
}

/// The object under a key, made if there is none.
fn table<'a>(root: &'a mut Value, key: &str) -> Result<&'a mut Map<String, Value>, ForeignError> {
    let wrong = || ForeignError::NoTable(key.to_owned());
    let root = root.as_object_mut().ok_or_else(wrong)?;
    root.entry(key).or_insert_with(|| Value::Object(Map::new())).as_object_mut().ok_or_else(wrong)
}
