//! One pass over a source: all of its entries, or what has changed, in one transaction.
//!
//! ```text
//!  begin ─► put, put, … (pages come in between) ─► finish: what a whole pass did not tell of is removed ─► commit
//!     └────────── dropped: nothing has happened
//! ```

use harbor_ipc_proto::link::worker::Changes;
use rusqlite::{OptionalExtension as _, Params, Row, Transaction, TransactionBehavior, named_params};

use super::facts::Scores;
use super::{Db, DbError, int, sql, uint};
use crate::entry::{self, Entry, Known, Status, Verdict};
use crate::score::Facts;

/// Changes that are kept.
const MAX_CHANGES: i64 = 5000;
/// Entries that were removed longer ago than this are forgotten.
const FORGET_AFTER: u64 = 90 * crate::time::DAY;

const FIND: &str =
    "SELECT n, fingerprint, removed_at IS NOT NULL, last_seen_at, stars, downloads, last_commit_at
    FROM entries WHERE id = ?1";
const INSERT: &str = "INSERT INTO entries (id, source, name, title, description, version, status, packages, remotes,
    identifiers, repository, website, tags, featured, published_at, updated_at, first_seen_at, last_seen_at, popularity,
    priority, fingerprint) VALUES (:id, :source, :name, :title, :description, :version, :status, :packages, :remotes,
    :identifiers, :repository, :website, :tags, :featured, :published_at, :updated_at, :now, :now, :popularity,
    :priority, :fingerprint)";
const UPDATE: &str = "UPDATE entries SET source = :source, name = :name, title = :title, description = :description, version = :version, status = :status,
    packages = :packages, remotes = :remotes, identifiers = :identifiers, repository = :repository,
    website = :website, tags = :tags, featured = :featured, published_at = :published_at, updated_at = :updated_at,
    last_seen_at = :now, removed_at = NULL, popularity = :popularity, priority = :priority,
    fingerprint = :fingerprint WHERE id = :id";
const BEFORE: &str =
    "SELECT title, description, version, status, packages, remotes, identifiers, repository, website,
    tags, featured, published_at, updated_at FROM entries WHERE n = ?1";

/// An open pass. Dropped, it has not happened.
#[derive(Debug)]
pub struct PassTransaction<'d> {
    change: Transaction<'d>,
    source: String,
    registered: bool,
    /// True if changes are told: those of the first filling are not.
    told: bool,
    now: u64,
    changes: Changes,
}

/// The facts about an entry that the database has already.
struct Row0 {
    n: i64,
    known: Known,
    last_seen_at: u64,
    stars: Option<u64>,
    downloads: Option<u64>,
    last_commit_at: Option<u64>,
}

impl Row0 {
    fn read(row: &Row<'_>) -> rusqlite::Result<Self> {
        let number = |at| row.get::<_, Option<i64>>(at).map(|number| number.map(uint));
        let fingerprint = row.get::<_, [u8; 16]>(1).unwrap_or_default();
        Ok(Self {
            n: row.get(0)?,
            known: Known { fingerprint, removed: row.get(2)? },
            last_seen_at: uint(row.get(3)?),
            stars: number(4)?,
            downloads: number(5)?,
            last_commit_at: number(6)?,
        })
    }
}

impl Db {
    /// Begins a pass over a source.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn begin(
        &mut self,
        source: &str,
        registered: bool,
        now: u64,
    ) -> Result<PassTransaction<'_>, DbError> {
        let begun = self.connection.transaction_with_behavior(TransactionBehavior::Immediate);
        let change = begun.map_err(sql("written"))?;
        let told = change
            .query_row("SELECT last_success_at IS NOT NULL FROM sources WHERE id = ?1", [source], |row| {
                row.get(0)
            })
            .optional()
            .map_err(sql("read"))?
            .unwrap_or(false);
        Ok(PassTransaction {
            change,
            source: source.into(),
            registered,
            told,
            now,
            changes: Changes::default(),
        })
    }
}

impl PassTransaction<'_> {
    /// Takes an entry of the source. If two have one name, the first counts.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn put(&mut self, entry: &Entry) -> Result<(), DbError> {
        self.try_put(entry).map_err(sql("written"))
    }

    fn try_put(&mut self, entry: &Entry) -> rusqlite::Result<()> {
        let id = entry::id(&self.source, &entry.name);
        let row = self.change.prepare_cached(FIND)?.query_row([&id], Row0::read).optional()?;
        if row.as_ref().is_some_and(|row| row.last_seen_at == self.now) {
            return Ok(());
        }
        match (entry::judge(row.as_ref().map(|row| row.known), entry), row) {
            (Verdict::Ignored, _) => Ok(()),
            (Verdict::Unchanged, Some(row)) => self.touch(row.n),
            (Verdict::Removed, Some(row)) => {
                self.changes.removed += 1;
                let mut gone = self.change.prepare_cached(
                    "UPDATE entries SET removed_at = ?2, last_seen_at = ?2, status = 'deleted' WHERE n = ?1",
                )?;
                gone.execute((row.n, int(self.now)))?;
                drop(gone);
                self.tell(&id, &entry.name, "removed", &[])
            }
            (Verdict::Updated, Some(row)) => {
                self.changes.updated += 1;
                let before = self.change.prepare_cached(BEFORE)?.query_row([row.n], before)?;
                self.write(UPDATE, &id, entry, Some(&row))?;
                self.tell(&id, &entry.name, "updated", &entry.differing(&before))
            }
            (Verdict::Restored, Some(row)) => {
                self.changes.restored += 1;
                self.write(UPDATE, &id, entry, Some(&row))?;
                self.tell(&id, &entry.name, "restored", &[])
            }
            (_, row) => {
                self.changes.added += 1;
                self.write(INSERT, &id, entry, row.as_ref())?;
                self.tell(&id, &entry.name, "added", &[])
            }
        }
    }

    fn touch(&self, n: i64) -> rusqlite::Result<()> {
        let mut touch = self.change.prepare_cached("UPDATE entries SET last_seen_at = ?2 WHERE n = ?1")?;
        touch.execute((n, int(self.now))).map(drop)
    }

    fn write(&self, statement: &str, id: &str, entry: &Entry, row: Option<&Row0>) -> rusqlite::Result<()> {
        let scores = Scores::of(&self.facts(entry, row), self.now);
        let tags = entry.tags_json();
        let mut write = self.change.prepare_cached(statement)?;
        let values = named_params! {
            ":id": id, ":source": self.source, ":name": entry.name, ":title": entry.title,
            ":description": entry.description, ":version": entry.version, ":status": entry.status.as_str(),
            ":packages": entry.packages, ":remotes": entry.remotes, ":identifiers": entry.identifiers,
            ":repository": entry.repository, ":website": entry.website, ":tags": tags, ":featured": entry.featured,
            ":published_at": entry.published_at.map(int), ":updated_at": entry.updated_at.map(int),
            ":now": int(self.now), ":popularity": scores.popularity, ":priority": scores.priority,
            ":fingerprint": entry.fingerprint(),
        };
        write.execute(values).map(drop)
    }

    fn facts(&self, entry: &Entry, row: Option<&Row0>) -> Facts {
        Facts {
            usable: entry.packages != "[]" || entry.remotes != "[]",
            featured: entry.featured,
            registered: self.registered,
            described: !entry.description.is_empty(),
            repository: entry.repository.is_some(),
            deprecated: entry.status == Status::Deprecated,
            updated_at: entry.updated_at,
            stars: row.and_then(|row| row.stars),
            downloads: row.and_then(|row| row.downloads),
            last_commit_at: row.and_then(|row| row.last_commit_at),
        }
    }

    /// Runs another statement of the same transaction.
    pub(super) fn execute(&self, statement: &str, values: impl Params) -> Result<(), DbError> {
        self.change.execute(statement, values).map(drop).map_err(sql("written"))
    }

    fn tell(&self, id: &str, name: &str, kind: &str, fields: &[&str]) -> rusqlite::Result<()> {
        if !self.told {
            return Ok(());
        }
        let fields = serde_json::to_string(fields).unwrap_or_else(|_| "[]".into());
        let mut told = self.change.prepare_cached(
            "INSERT INTO changes (at, entry_id, source, name, kind, fields) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
        )?;
        told.execute((int(self.now), id, &self.source, name, kind, fields)).map(drop)
    }

    /// Removes the entries that a whole pass did not tell of.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn remove_the_others(&mut self) -> Result<(), DbError> {
        self.try_remove().map_err(sql("written"))
    }

    fn try_remove(&mut self) -> rusqlite::Result<()> {
        let now = int(self.now);
        if self.told {
            self.change.execute(
                "INSERT INTO changes (at, entry_id, source, name, kind)
                 SELECT ?2, id, source, name, 'removed' FROM entries
                 WHERE source = ?1 AND removed_at IS NULL AND last_seen_at <> ?2",
                (&self.source, now),
            )?;
        }
        let removed = self.change.execute(
            "UPDATE entries SET removed_at = ?2 WHERE source = ?1 AND removed_at IS NULL AND last_seen_at <> ?2",
            (&self.source, now),
        )?;
        self.changes.removed += u32::try_from(removed).unwrap_or(u32::MAX);
        Ok(())
    }

    /// Makes the pass visible. Returns the changes, and how many entries the source has now. `note` writes what belongs to it.
    ///
    /// # Errors
    /// When it cannot be written; nothing has happened then.
    pub(super) fn commit(
        self,
        note: impl FnOnce(&Transaction<'_>, u32) -> rusqlite::Result<()>,
    ) -> Result<(Changes, u32), DbError> {
        let (source, changes) = (self.source, self.changes);
        let change = self.change;
        let finish = || {
            change
                .execute("DELETE FROM changes WHERE n <= (SELECT max(n) FROM changes) - ?1", [MAX_CHANGES])?;
            change.execute(
                "DELETE FROM entries WHERE removed_at < ?1",
                [int(self.now.saturating_sub(FORGET_AFTER))],
            )?;
            let entries = change.query_row(
                "SELECT count(*) FROM entries WHERE source = ?1 AND removed_at IS NULL",
                [&source],
                |row| row.get(0),
            )?;
            note(&change, entries)?;
            Ok(entries)
        };
        let entries = finish().map_err(sql("written"))?;
        change.commit().map_err(sql("written"))?;
        Ok((changes, entries))
    }
}

fn before(row: &Row<'_>) -> rusqlite::Result<Entry> {
    let status = match row.get_ref(3)?.as_str()? {
        "deleted" => Status::Deleted,
        "deprecated" => Status::Deprecated,
        _ => Status::Active,
    };
    Ok(Entry {
        name: String::new(),
        title: row.get(0)?,
        description: row.get(1)?,
        version: row.get(2)?,
        status,
        packages: row.get(4)?,
        remotes: row.get(5)?,
        identifiers: row.get(6)?,
        repository: row.get(7)?,
        website: row.get(8)?,
        tags: serde_json::from_str(row.get_ref(9)?.as_str()?).unwrap_or_default(),
        featured: row.get(10)?,
        published_at: row.get::<_, Option<i64>>(11)?.map(uint),
        updated_at: row.get::<_, Option<i64>>(12)?.map(uint),
    })
}
