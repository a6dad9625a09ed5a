//! The queries of catalog.db, in SQL; its schema is the worker's (catalog-worker/src/db/schema.sql).
//!
//! Owns the statements, and which parts of a row are shown. Must never believe a row: JSON in it is checked, and numbers
//! are too.

use std::collections::BTreeSet;

use harbor_ipc_proto::client::{CatalogDetails, CatalogEntry, CatalogSource};
use harbor_ipc_proto::json::Json;
use rusqlite::types::Value;
use rusqlite::{Connection, OptionalExtension as _, Row, params_from_iter};
use serde::Deserialize;
use serde_json::value::RawValue;

use super::words::Cursor;

/// With more results than this, entries are listed by priority. Such words are in nearly every entry, so a
/// rank says nothing.
const RANKED: u64 = 500;

/// The most kinds that are shown of one entry, and the characters of each.
const MOST_KINDS: usize = 8;
const KIND_LENGTH: usize = 24;

/// The columns of an entry in a list.
const COLUMNS: &str = "e.id, e.source, e.name, e.title, substr(e.description, 1, 500), e.version, e.status, e.packages, \
     e.remotes <> '[]', e.featured, e.stars, e.downloads, e.updated_at, e.removed_at, e.priority";

/// A page of entries.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EntryPage {
    /// The entries.
    pub entries: Vec<CatalogEntry>,
    /// The start of the next page.
    pub next: Option<Cursor>,
    /// The number of entries on all pages, if it is known.
    pub total: Option<u64>,
}

/// A choice of entries.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Filter {
    /// True for featured entries only, false for the others only.
    pub featured: Option<bool>,
    /// Only those of this source.
    pub source: Option<String>,
    /// True if removed entries are listed, too.
    pub include_removed: bool,
}

/// The age of the list.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Age {
    /// The date of the list that Harbor brings along, while there is no other.
    pub snapshot: Option<String>,
    /// When a source was last fetched.
    pub last_success: Option<u64>,
}

/// The facts about the whole catalog.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Summary {
    /// Entries that are not removed.
    pub entries: u64,
    /// The sources.
    pub sources: Vec<CatalogSource>,
    /// The age of the list.
    pub age: Age,
    /// When a source was last tried.
    pub last_attempt: Option<u64>,
}

/// A page of the list, from `cursor` on.
pub(super) fn list(
    connection: &Connection,
    filter: &Filter,
    cursor: Option<&Cursor>,
    limit: usize,
) -> rusqlite::Result<EntryPage> {
    let (mut conditions, mut values) = (vec!["1"], Vec::new());
    if !filter.include_removed {
        conditions.push("e.removed_at IS NULL");
    }
    if let Some(featured) = filter.featured {
        conditions.push("e.featured = ?");
        values.push(Value::from(featured));
    }
    if let Some(source) = &filter.source {
        conditions.push("e.source = ?");
        values.push(Value::from(source.clone()));
    }
    let counted = format!("SELECT count(*) FROM entries e WHERE {}", conditions.join(" AND "));
    let total = connection.prepare_cached(&counted)?.query_row(params_from_iter(&values), unsigned)?;
    behind(&mut conditions, &mut values, cursor);
    let page = by_priority(connection, &conditions, values, limit)?;
    Ok(EntryPage { total: Some(total), ..page })
}

/// A page of the entries that `expression` finds.
pub(super) fn search(
    connection: &Connection,
    expression: &str,
    cursor: Option<&Cursor>,
    limit: usize,
) -> rusqlite::Result<EntryPage> {
    let found: u64 = connection
        .prepare_cached(
            "SELECT count(*) FROM (SELECT 1 FROM entries_fts WHERE entries_fts MATCH ?1 LIMIT 501)",
        )?
        .query_row([expression], unsigned)?;
    if found > RANKED {
        let mut conditions =
            vec!["e.removed_at IS NULL", "e.n IN (SELECT rowid FROM entries_fts WHERE entries_fts MATCH ?)"];
        let mut values = vec![Value::from(expression.to_owned())];
        behind(&mut conditions, &mut values, cursor);
        return by_priority(connection, &conditions, values, limit);
    }
    let skip = match cursor {
        Some(Cursor::Skip(count)) => *count,
        // The results were many before, and are few now: it begins anew.
        _ => 0,
    };
    let sql = format!(
        "SELECT {COLUMNS} FROM entries_fts f JOIN entries e ON e.n = f.rowid WHERE entries_fts MATCH ?1 \
         ORDER BY bm25(entries_fts, 10.0, 8.0, 2.0, 4.0, 6.0) - e.priority / 200.0, e.id LIMIT ?2 OFFSET ?3"
    );
    let mut statement = connection.prepare_cached(&sql)?;
    let rows = statement.query_map((expression, bound(limit), skip), entry)?;
    let entries = rows.map(|row| Ok(row?.0)).collect::<rusqlite::Result<Vec<_>>>()?;
    let shown = skip.saturating_add(u32::try_from(entries.len()).unwrap_or(u32::MAX));
    let next = (u64::from(shown) < found && !entries.is_empty()).then_some(Cursor::Skip(shown));
    Ok(EntryPage { entries, next, total: Some(found) })
}

fn behind(conditions: &mut Vec<&str>, values: &mut Vec<Value>, cursor: Option<&Cursor>) {
    if let Some(Cursor::Behind(priority, id)) = cursor {
        // The first condition lets the index begin in the right place.
        conditions.push("e.priority <= ? AND (e.priority < ? OR e.id > ?)");
        values.extend([Value::from(*priority), Value::from(*priority), Value::from(id.clone())]);
    }
}

fn by_priority(
    connection: &Connection,
    conditions: &[&str],
    mut values: Vec<Value>,
    limit: usize,
) -> rusqlite::Result<EntryPage> {
    let sql = format!(
        "SELECT {COLUMNS} FROM entries e WHERE {} ORDER BY e.priority DESC, e.id LIMIT ?",
        conditions.join(" AND ")
    );
    // One more than is shown tells if there is a next page.
    values.push(Value::from(bound(limit + 1)));
    let mut statement = connection.prepare_cached(&sql)?;
    let rows = statement.query_map(params_from_iter(values), entry)?;
    let mut found = rows.collect::<rusqlite::Result<Vec<_>>>()?;
    let is_more = found.len() > limit;
    found.truncate(limit);
    let next = found.last().filter(|_| is_more);
    let next = next.map(|(entry, priority)| Cursor::Behind(*priority, entry.id.clone()));
    Ok(EntryPage { entries: found.into_iter().map(|(entry, _)| entry).collect(), next, total: None })
}

/// The details of an entry.
pub(super) fn details(connection: &Connection, id: &str) -> rusqlite::Result<Option<CatalogDetails>> {
    let sql = format!(
        "SELECT {COLUMNS}, e.description, e.remotes, e.repository, e.website, e.tags, e.published_at, \
         e.first_seen_at, e.last_seen_at, e.last_commit_at FROM entries e \
         WHERE e.id = ?1 OR (e.source = '{CURATED}' AND e.name = ?1)"
    );
    let mut statement = connection.prepare_cached(&sql)?;
    let read = |row: &Row<'_>| {
        let (short, priority) = entry(row)?;
        Ok(CatalogDetails {
            entry: CatalogEntry { description: row.get(15)?, ..short },
            packages: array(row.get(7)?),
            remotes: array(row.get(16)?),
            repository: row.get(17)?,
            website: row.get(18)?,
            tags: array(row.get(19)?),
            published_at: number(row, 20)?,
            first_seen_at: number(row, 21)?.unwrap_or_default(),
            last_seen_at: number(row, 22)?.unwrap_or_default(),
            last_commit_at: number(row, 23)?,
            priority,
        })
    };
    statement.query_row([id], read).optional()
}

/// Some ids whose first or last half equals that of this id.
pub(super) fn ids_near(connection: &Connection, id: &str) -> rusqlite::Result<Vec<String>> {
    let half = |text: String| (text.len() == 8).then_some(text);
    let first = half(id.chars().take(8).collect()).unwrap_or_default();
    let last = half(id.chars().skip(8).collect()).unwrap_or_default();
    let mut statement = connection.prepare_cached(
        "SELECT id FROM entries WHERE removed_at IS NULL AND (substr(id, 1, 8) = ?1 OR substr(id, 9) = ?2) LIMIT 20",
    )?;
    let rows = statement.query_map([first, last], |row| row.get(0))?;
    rows.collect()
}

/// The facts about the whole catalog.
pub(super) fn summary(connection: &Connection) -> rusqlite::Result<Summary> {
    let entries =
        connection.query_row("SELECT count(*) FROM entries WHERE removed_at IS NULL", [], unsigned)?;
    let mut statement = connection.prepare(
        "SELECT id, url, last_error, entries, last_attempt_at, last_success_at, not_before, failures FROM sources \
         ORDER BY id LIMIT 64",
    )?;
    let sources = statement.query_map([], source)?.collect::<rusqlite::Result<Vec<_>>>()?;
    let fetched = sources.iter().filter(|source| source.id != CURATED);
    let last_attempt = fetched.filter_map(|source| source.last_attempt).max();
    Ok(Summary { entries, sources, age: age(connection)?, last_attempt })
}

/// The age of the list.
pub(super) fn age(connection: &Connection) -> rusqlite::Result<Age> {
    let last: Option<i64> = connection
        .prepare_cached("SELECT max(last_success_at) FROM sources WHERE id <> 'curated'")?
        .query_row([], |row| row.get(0))?;
    let date: Option<String> = connection
        .prepare_cached("SELECT value FROM meta WHERE key = 'snapshot_date'")?
        .query_row([], |row| row.get(0))
        .optional()?;
    Ok(Age {
        snapshot: date.filter(|_| last.is_none()),
        last_success: last.and_then(|at| u64::try_from(at).ok()),
    })
}

/// The source that Harbor brings along.
const CURATED: &str = "curated";

fn source(row: &Row<'_>) -> rusqlite::Result<CatalogSource> {
    let (id, error): (String, Option<String>) = (row.get(0)?, row.get(2)?);
    let last_success = number(row, 5)?;
    Ok(CatalogSource {
        ok: id == CURATED || error.is_none() && last_success.is_some(),
        id,
        url: row.get(1)?,
        entries: number(row, 3)?.unwrap_or_default(),
        error,
        last_attempt: number(row, 4)?,
        last_success,
        not_before: number(row, 6)?.filter(|_| row.get::<_, i64>(7).is_ok_and(|failures| failures > 0)),
    })
}

/// An entry in short, and its priority.
fn entry(row: &Row<'_>) -> rusqlite::Result<(CatalogEntry, i64)> {
    let (packages, remote): (String, bool) = (row.get(7)?, row.get(8)?);
    let entry = CatalogEntry {
        id: row.get(0)?,
        source: row.get(1)?,
        name: row.get(2)?,
        title: row.get(3)?,
        description: row.get(4)?,
        version: row.get(5)?,
        status: row.get(6)?,
        kinds: kinds(&packages, remote),
        featured: row.get(9)?,
        stars: number(row, 10)?,
        downloads: number(row, 11)?,
        updated_at: number(row, 12)?,
        removed_at: number(row, 13)?,
    };
    Ok((entry, row.get(14)?))
}

/// The part of a package that names its kind.
#[derive(Deserialize)]
struct Package {
    #[serde(rename = "registryType", default)]
    kind: String,
}

fn kinds(packages: &str, remote: bool) -> Vec<String> {
    let packages: Vec<Package> = serde_json::from_str(packages).unwrap_or_default();
    let kinds: BTreeSet<_> =
        packages.into_iter().map(|package| package.kind).filter(|kind| !kind.is_empty()).collect();
    let cut = |kind: String| kind.chars().take(KIND_LENGTH).collect();
    let remote = remote.then(|| "remote".to_owned());
    kinds.into_iter().take(MOST_KINDS).map(cut).chain(remote).collect()
}

/// Checked JSON text for an answer: an array, or an empty one in its place.
fn array(text: String) -> Json {
    let is_array = text.starts_with('[') && serde_json::from_str::<&RawValue>(&text).is_ok();
    Json::from_valid(if is_array { text } else { "[]".into() })
}

fn bound(limit: usize) -> i64 {
    i64::try_from(limit).unwrap_or(i64::MAX)
}

/// A number, if it is not negative.
fn number(row: &Row<'_>, at: usize) -> rusqlite::Result<Option<u64>> {
    Ok(row.get::<_, Option<i64>>(at)?.and_then(|number| u64::try_from(number).ok()))
}

fn unsigned(row: &Row<'_>) -> rusqlite::Result<u64> {
    Ok(number(row, 0)?.unwrap_or_default())
}

#[cfg(test)]
mod tests;
