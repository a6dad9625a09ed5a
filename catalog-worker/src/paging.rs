//! The way through the pages of a registry: where it goes on, and when something is wrong with it.
//!
//! Owns the cursors that were seen, as hashes. Must never end quietly before the last page: a list that was not read to its
//! end must not be taken for all of it.

use std::collections::HashSet;

use sha2::{Digest as _, Sha256};

/// More pages are not read.
pub const MAX_PAGES: u32 = 2000;
/// More entries are not kept.
pub const MAX_ENTRIES: usize = 100_000;

/// The way so far.
#[derive(Debug, Default)]
pub struct Way {
    seen: HashSet<[u8; 8]>,
    /// Pages that have come.
    pub pages: u32,
    /// Entries that have come.
    pub entries: usize,
}

/// The reason why the pages lead nowhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lost {
    /// A cursor came twice.
    Circle,
    /// There are too many pages.
    Pages,
    /// There are too many entries.
    Entries,
}

impl std::fmt::Display for Lost {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Circle => f.write_str("the registry's pages form a circle"),
            Self::Pages => write!(f, "the registry has more than {MAX_PAGES} pages"),
            Self::Entries => write!(f, "the registry has more than {MAX_ENTRIES} entries"),
        }
    }
}

impl Way {
    /// Takes a page with this many entries and this cursor. Returns the next cursor, if there is one.
    ///
    /// # Errors
    /// When the cursor leads nowhere.
    pub fn on(&mut self, entries: usize, cursor: Option<String>) -> Result<Option<String>, Lost> {
        self.pages += 1;
        self.entries += entries;
        if self.entries > MAX_ENTRIES {
            return Err(Lost::Entries);
        }
        let Some(cursor) = cursor else { return Ok(None) };
        if self.pages >= MAX_PAGES {
            return Err(Lost::Pages);
        }
        let digest = Sha256::digest(&cursor);
        let short = std::array::from_fn(|at| digest.get(at).copied().unwrap_or_default());
        if self.seen.insert(short) { Ok(Some(cursor)) } else { Err(Lost::Circle) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_goes_on_until_there_is_no_cursor() {
        let mut way = Way::default();
        assert_eq!(way.on(100, Some("a".into())), Ok(Some("a".into())));
        assert_eq!(way.on(100, Some("b".into())), Ok(Some("b".into())));
        assert_eq!(way.on(7, None), Ok(None));
        assert_eq!((way.pages, way.entries), (3, 207));
    }

    #[test]
    fn circles_and_endless_ways_end() {
        let mut way = Way::default();
        assert!(way.on(1, Some("a".into())).is_ok() && way.on(1, Some("b".into())).is_ok());
        assert_eq!(way.on(1, Some("a".into())), Err(Lost::Circle));
        let mut way = Way::default();
        let ended = (0..).find_map(|n| way.on(0, Some(format!("{n}"))).err());
        assert_eq!((ended, way.pages), (Some(Lost::Pages), MAX_PAGES));
        assert_eq!(Way::default().on(MAX_ENTRIES + 1, None), Err(Lost::Entries));
    }
}
