//! An entry: the facts that a source tells about one server, in the form in which they are kept.
//!
//! Owns the id, the fingerprint and the comparison. Must never hold what Harbor found out itself: stars, scores and times of
//! sight are the database's.

use harbor_ipc_proto::hex::hex;
use sha2::{Digest as _, Sha256};

/// Tells if a server is still offered.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Status {
    /// It is.
    #[default]
    Active,
    /// It is, and should not be used for something new.
    Deprecated,
    /// It is not: its entry is a tombstone.
    Deleted,
}

impl Status {
    /// The word for it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Active => "active",
            Self::Deprecated => "deprecated",
            Self::Deleted => "deleted",
        }
    }
}

/// One server. Texts are clean and bounded.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Entry {
    /// Unique in its source.
    pub name: String,
    /// Its name for people.
    pub title: Option<String>,
    /// Its purpose, in the source's words.
    pub description: String,
    /// Its version.
    pub version: Option<String>,
    /// Its status with the source.
    pub status: Status,
    /// JSON array.
    pub packages: String,
    /// JSON array.
    pub remotes: String,
    /// The names of packages and addresses of remotes, for the search.
    pub identifiers: String,
    /// The address of its code.
    pub repository: Option<String>,
    /// The address of its description.
    pub website: Option<String>,
    /// Words to find it by.
    pub tags: Vec<String>,
    /// True if Harbor recommends it.
    pub featured: bool,
    /// The time when it first appeared.
    pub published_at: Option<u64>,
    /// The time when it last changed.
    pub updated_at: Option<u64>,
}

impl Entry {
    /// Its columns that the source decides, by name, as text.
    fn columns(&self) -> [(&'static str, &str); 9] {
        fn text(value: &Option<String>) -> &str {
            value.as_deref().unwrap_or_default()
        }
        [
            ("title", text(&self.title)),
            ("description", &self.description),
            ("version", text(&self.version)),
            ("status", self.status.as_str()),
            ("packages", &self.packages),
            ("remotes", &self.remotes),
            ("identifiers", &self.identifiers),
            ("repository", text(&self.repository)),
            ("website", text(&self.website)),
        ]
    }

    /// A hash of the entry: the same for equal entries, and another one if anything differs.
    #[must_use]
    pub fn fingerprint(&self) -> [u8; 16] {
        let mut hash = Sha256::new();
        let mut add = |bytes: &[u8]| {
            hash.update((bytes.len() as u64).to_le_bytes());
            hash.update(bytes);
        };
        self.columns().iter().for_each(|(_, text)| add(text.as_bytes()));
        self.tags.iter().for_each(|tag| add(tag.as_bytes()));
        add(&[self.featured.into()]);
        for time in [self.published_at, self.updated_at] {
            add(&time.unwrap_or(u64::MAX).to_le_bytes());
        }
        let digest = hash.finalize();
        std::array::from_fn(|at| digest.get(at).copied().unwrap_or_default())
    }

    /// Its tags as a JSON array.
    #[must_use]
    pub fn tags_json(&self) -> String {
        serde_json::to_string(&self.tags).unwrap_or_else(|_| "[]".into())
    }

    /// The columns that differ from the known ones; `before` has the same columns.
    #[must_use]
    pub fn differing(&self, before: &Self) -> Vec<&'static str> {
        let pairs = self.columns().into_iter().zip(before.columns());
        let mut fields: Vec<_> = pairs.filter(|(now, then)| now.1 != then.1).map(|(now, _)| now.0).collect();
        // Identifiers follow from packages and remotes.
        fields.retain(|field| *field != "identifiers");
        let more = [
            ("tags", self.tags != before.tags),
            ("featured", self.featured != before.featured),
            ("published_at", self.published_at != before.published_at),
            ("updated_at", self.updated_at != before.updated_at),
        ];
        fields.extend(more.iter().filter(|(_, differs)| *differs).map(|(field, _)| *field));
        fields
    }
}

/// The id of an entry: the first 16 hex digits of sha256("source:name").
#[must_use]
pub fn id(source: &str, name: &str) -> String {
    let digest = Sha256::new().chain_update(source).chain_update(":").chain_update(name).finalize();
    hex(&digest[..8])
}

/// The change that an entry brings, compared with the database.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// It was unknown.
    Added,
    /// It is another than before.
    Updated,
    /// The entry equals the former one.
    Unchanged,
    /// It was removed before.
    Restored,
    /// A tombstone of an entry that was known.
    Removed,
    /// A tombstone of an unknown entry.
    Ignored,
}

/// The facts about an entry that the database had.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Known {
    /// The fingerprint of the entry as the source told it then.
    pub fingerprint: [u8; 16],
    /// True if it had been removed.
    pub removed: bool,
}

/// Decides what an entry means.
#[must_use]
pub fn judge(known: Option<Known>, entry: &Entry) -> Verdict {
    match (known, entry.status) {
        (None | Some(Known { removed: true, .. }), Status::Deleted) => Verdict::Ignored,
        (Some(_), Status::Deleted) => Verdict::Removed,
        (None, _) => Verdict::Added,
        (Some(Known { removed: true, .. }), _) => Verdict::Restored,
        (Some(Known { fingerprint, .. }), _) if fingerprint == entry.fingerprint() => Verdict::Unchanged,
        (Some(_), _) => Verdict::Updated,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn entry(name: &str, description: &str) -> Entry {
        Entry { name: name.into(), description: description.into(), ..Entry::default() }
    }

    #[test]
    fn ids_are_those_that_are_documented() {
        // printf 'registry:a/b' | sha256sum
        assert_eq!(id("registry", "a/b").len(), 16);
        assert_eq!(id("", ""), "e7ac0786668e0ff0");
        assert_ne!(id("a", "b"), id("b", "a"));
    }

    #[test]
    fn what_is_known_decides() {
        let now = entry("a", "x");
        let gone = Entry { status: Status::Deleted, ..now.clone() };
        let known = |entry: &Entry, removed| Some(Known { fingerprint: entry.fingerprint(), removed });
        assert_eq!(judge(None, &now), Verdict::Added);
        assert_eq!(judge(known(&now, false), &now), Verdict::Unchanged);
        assert_eq!(judge(known(&entry("a", "y"), false), &now), Verdict::Updated);
        assert_eq!(judge(known(&now, true), &now), Verdict::Restored);
        assert_eq!(judge(known(&now, false), &gone), Verdict::Removed);
        assert_eq!(judge(known(&now, true), &gone), Verdict::Ignored);
        assert_eq!(judge(None, &gone), Verdict::Ignored);
    }

    #[test]
    fn fields_that_differ_are_named() {
        let before = Entry { tags: vec!["t".into()], updated_at: Some(1), ..entry("a", "x") };
        let after = Entry { version: Some("2".into()), updated_at: Some(2), tags: vec![], ..before.clone() };
        assert_eq!(after.differing(&before), ["version", "tags", "updated_at"]);
        assert_eq!(before.differing(&before), [""; 0]);
    }

    proptest! {
        /// A fingerprint differs exactly when a column does.
        #[test]
        fn fingerprints_see_every_column(a in parts(), b in parts()) {
            prop_assert_eq!(a.fingerprint() == b.fingerprint(), a.differing(&b).is_empty() && a.identifiers == b.identifiers);
        }
    }

    fn parts() -> impl Strategy<Value = Entry> {
        let text = "[ab]{0,2}";
        let strings = (text, text, text, proptest::collection::vec("[ab]{0,1}", 0..3));
        (strings, proptest::option::of(0u64..2), any::<bool>()).prop_map(
            |((title, description, packages, tags), time, featured)| {
                let title = Some(title).filter(|title| !title.is_empty());
                Entry { title, description, packages, tags, updated_at: time, featured, ..Entry::default() }
            },
        )
    }
}
