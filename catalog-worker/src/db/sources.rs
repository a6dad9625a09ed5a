//! The sources: their places, how fetching them went, and the ends of passes.

use harbor_ipc_proto::link::worker::{CatalogSourceKind, Changes};
use rusqlite::{Connection, OptionalExtension as _};

use super::pass::PassTransaction;
use super::{Db, DbError, int, sql, uint};
use crate::schedule::{self, History};

/// The source of what Harbor brings along.
pub(super) const CURATED: &str = "curated";

/// A source, as the settings name it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Origin {
    /// Its id.
    pub id: String,
    /// The way to read it.
    pub kind: CatalogSourceKind,
    /// The source's address.
    pub url: String,
}

/// The facts that the database keeps about a source.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Source {
    /// The times when it was fetched, and when it may be.
    pub history: History,
    /// The ETag of the last whole answer.
    pub etag: Option<String>,
    /// Failures in a row.
    pub failures: u32,
    /// Its entries.
    pub entries: u32,
}

/// The outcome of a successful pass.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Ended {
    /// True if all of the source was read.
    pub full: bool,
    /// The time from which the next increment is fetched.
    pub updated_since: Option<u64>,
    /// The ETag of the whole answer.
    pub etag: Option<String>,
}

impl Db {
    /// Makes these the sources. Entries of others are forgotten. A source with another address is fetched from the beginning.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn configure(&mut self, origins: &[Origin]) -> Result<(), DbError> {
        self.try_configure(origins).map_err(sql("written"))
    }

    fn try_configure(&mut self, origins: &[Origin]) -> rusqlite::Result<()> {
        let change = self.connection.transaction()?;
        let known: Vec<(String, String, String)> = change
            .prepare("SELECT id, kind, url FROM sources WHERE id <> 'curated'")?
            .query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?
            .collect::<Result<_, _>>()?;
        let same = |origin: &Origin, (id, kind, url): &(String, String, String)| {
            origin.id == *id && word(origin.kind) == kind && origin.url == *url
        };
        for gone in known.iter().filter(|known| !origins.iter().any(|origin| same(origin, known))) {
            change.execute("DELETE FROM entries WHERE source = ?1", [&gone.0])?;
            change.execute("DELETE FROM sources WHERE id = ?1", [&gone.0])?;
        }
        for origin in origins {
            let row = (&origin.id, word(origin.kind), &origin.url);
            change.execute("INSERT OR IGNORE INTO sources (id, kind, url) VALUES (?1, ?2, ?3)", row)?;
        }
        change.commit()
    }

    /// Reads the facts about a source.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn source(&self, id: &str) -> Result<Source, DbError> {
        let statement = "SELECT last_attempt_at, last_full_at, updated_since, not_before, retry_after, etag, failures, entries
            FROM sources WHERE id = ?1";
        let read = self.connection.query_row(statement, [id], |row| {
            let number = |at| row.get::<_, Option<i64>>(at).map(|number| number.map(uint));
            Ok(Source {
                history: History {
                    last_attempt_at: number(0)?,
                    last_full_at: number(1)?,
                    updated_since: number(2)?,
                    not_before: number(3)?,
                    retry_after: number(4)?,
                },
                etag: row.get(5)?,
                failures: row.get(6)?,
                entries: row.get(7)?,
            })
        });
        Ok(read.optional().map_err(sql("read"))?.unwrap_or_default())
    }

    /// Notes the failure of a source, with the reason and the server's wish for a pause. Returns the end of the pause.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn failed(&self, id: &str, why: &str, retry_after: Option<u64>, now: u64) -> Result<u64, DbError> {
        let failures = self.source(id)?.failures.saturating_add(1);
        let (not_before, asked) = schedule::back_off(failures, retry_after, now);
        let statement =
            "UPDATE sources SET last_attempt_at = ?2, last_error = ?3, failures = ?4, not_before = ?5,
            retry_after = ?6 WHERE id = ?1";
        let row = (id, int(now), why, failures, int(not_before), asked.map(int));
        self.connection.execute(statement, row).map_err(sql("written"))?;
        Ok(not_before)
    }

    /// A source has nothing new.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn unchanged(&self, id: &str, now: u64) -> Result<u32, DbError> {
        succeed(&self.connection, id, now).map_err(sql("written"))?;
        Ok(self.source(id)?.entries)
    }

    /// How many entries there are.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn entries(&self) -> Result<u32, DbError> {
        let sum = "SELECT coalesce(sum(entries), 0) FROM sources";
        self.connection.query_row(sum, [], |row| row.get(0)).map_err(sql("read"))
    }

    /// The date of what Harbor brought along, as long as there is nothing else.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn snapshot(&self) -> Result<Option<String>, DbError> {
        let statement = "SELECT value FROM meta WHERE key = 'snapshot_date' AND NOT EXISTS
            (SELECT 1 FROM sources WHERE id <> 'curated' AND last_success_at IS NOT NULL)";
        self.connection.query_row(statement, [], |row| row.get(0)).optional().map_err(sql("read"))
    }
}

fn succeed(connection: &Connection, id: &str, now: u64) -> rusqlite::Result<()> {
    let statement =
        "UPDATE sources SET last_attempt_at = ?2, last_success_at = ?2, last_error = NULL, failures = 0,
        not_before = NULL, retry_after = NULL WHERE id = ?1";
    connection.execute(statement, (id, int(now))).map(drop)
}

impl PassTransaction<'_> {
    /// Ends the pass as a success and makes it visible. Returns the changes, and how many entries the source has now.
    ///
    /// # Errors
    /// When it cannot be written; nothing has happened then.
    pub fn finish(self, id: &str, ended: &Ended, now: u64) -> Result<(Changes, u32), DbError> {
        self.commit(|change, entries| {
            succeed(change, id, now)?;
            let statement = "UPDATE sources SET etag = ?2, updated_since = ?3, entries = ?4,
                last_full_at = CASE WHEN ?5 THEN ?6 ELSE last_full_at END WHERE id = ?1";
            let since = ended.updated_since.map(int);
            change.execute(statement, (id, &ended.etag, since, entries, ended.full, int(now))).map(drop)
        })
    }
}

/// The kind, as `sources.kind` has it.
fn word(kind: CatalogSourceKind) -> &'static str {
    match kind {
        CatalogSourceKind::Registry => "registry",
        CatalogSourceKind::Awesome => "awesome",
    }
}
