//! The facts that an entry's scores come from, and the scores of all entries.

use rusqlite::{Connection, Row};

use super::{Db, DbError, int, sql, uint};
use crate::score::{self, Facts};

/// The columns that [`of_row`] reads, in its order.
const COLUMNS: &str = "packages <> '[]' OR remotes <> '[]', featured, \
    EXISTS (SELECT 1 FROM sources WHERE id = source AND kind = 'registry'), description <> '', \
    repository IS NOT NULL, status, updated_at, stars, downloads, last_commit_at, popularity, priority, n";

fn of_row(row: &Row<'_>) -> rusqlite::Result<(Facts, Scores, i64)> {
    let number = |at| row.get::<_, Option<i64>>(at).map(|number| number.map(uint));
    let facts = Facts {
        usable: row.get(0)?,
        featured: row.get(1)?,
        registered: row.get(2)?,
        described: row.get(3)?,
        repository: row.get(4)?,
        deprecated: row.get_ref(5)?.as_str()? == "deprecated",
        updated_at: number(6)?,
        stars: number(7)?,
        downloads: number(8)?,
        last_commit_at: number(9)?,
    };
    Ok((facts, Scores { popularity: row.get(10)?, priority: row.get(11)? }, row.get(12)?))
}

/// Both scores.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Scores {
    pub popularity: i64,
    pub priority: i64,
}

impl Scores {
    pub(super) fn of(facts: &Facts, now: u64) -> Self {
        Self { popularity: score::popularity(facts, now), priority: score::priority(facts, now) }
    }
}

/// Scores the entries of a condition anew; writes what has changed.
pub(super) fn rescore(
    connection: &Connection,
    condition: &str,
    values: impl rusqlite::Params,
    now: u64,
) -> rusqlite::Result<()> {
    let mut read = connection.prepare_cached(&format!("SELECT {COLUMNS} FROM entries WHERE {condition}"))?;
    let mut changed = Vec::new();
    let mut rows = read.query(values)?;
    while let Some(row) = rows.next()? {
        let (facts, before, n) = of_row(row)?;
        let after = Scores::of(&facts, now);
        if after != before {
            changed.push((n, after));
        }
    }
    let mut write =
        connection.prepare_cached("UPDATE entries SET popularity = ?2, priority = ?3 WHERE n = ?1")?;
    for (n, scores) in changed {
        write.execute((n, scores.popularity, scores.priority))?;
    }
    Ok(())
}

impl Db {
    /// Once a day: what was new grows old.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn rescore_daily(&mut self, now: u64) -> Result<(), DbError> {
        let last: Option<i64> = self
            .connection
            .query_row("SELECT max(cast(value AS INTEGER)) FROM meta WHERE key = 'rescored_at'", [], |row| {
                row.get(0)
            })
            .map_err(sql("read"))?;
        if last.is_some_and(|last| uint(last) <= now && now - uint(last) < crate::time::DAY) {
            return Ok(());
        }
        let change = self.connection.transaction().map_err(sql("written"))?;
        rescore(&change, "removed_at IS NULL", [], now).map_err(sql("written"))?;
        change
            .execute(
                "INSERT OR REPLACE INTO meta (key, value) VALUES ('rescored_at', ?1)",
                [int(now).to_string()],
            )
            .map_err(sql("written"))?;
        change.commit().map_err(sql("written"))
    }
}
