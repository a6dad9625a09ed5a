//! The rows of the table of programs, as the journal has them.
//!
//! Owns their form, and how one is put into the table. Must never decide which program was accepted: that is `programs`'s.

use harbor_home::clock::wall_clock;
use rusqlite::{Connection, params};
use serde::{Deserialize, Serialize};

use super::columns::column;

/// The text that stands for the program of an unreadable definition. It equals no other program.
pub(super) const UNREADABLE: &str = "?";

/// A row of a server that runs another program, as the journal has it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProgramRow {
    /// The server whose name it is.
    pub server_id: String,
    /// The program that was accepted.
    pub program: String,
    /// Since when it runs another one, in milliseconds since 1970.
    pub other_since: i64,
}

impl ProgramRow {
    /// A row for a server whose accepted program is unknown. The person must accept the program that it runs.
    pub(super) fn unknown(id: &str) -> Self {
        let other_since = i64::try_from(wall_clock()).unwrap_or(i64::MAX);
        Self { server_id: id.into(), program: UNREADABLE.into(), other_since }
    }
}

/// Puts a row into the table, and replaces the present one.
pub(super) fn put(
    connection: &Connection,
    id: &str,
    program: &str,
    other_since: Option<i64>,
) -> rusqlite::Result<()> {
    let sql = "INSERT OR REPLACE INTO programs VALUES (?1, ?2, ?3)";
    connection.execute(sql, params![id, program, other_since]).map(drop)
}

/// The rows of the table that the journal has.
pub(super) fn rows(connection: &Connection) -> rusqlite::Result<Vec<ProgramRow>> {
    let sql = "SELECT server_id, program, other_since FROM programs WHERE other_since IS NOT NULL ORDER BY 1";
    let mut rows = connection.prepare(sql)?;
    let rows = rows.query_map([], |row| {
        Ok(ProgramRow { server_id: column(row, 0)?, program: column(row, 1)?, other_since: row.get(2)? })
    })?;
    rows.collect()
}

/// Puts back what the journal had.
pub(super) fn restore(connection: &Connection, row: &ProgramRow) -> rusqlite::Result<()> {
    put(connection, &row.server_id, &row.program, Some(row.other_since))
}
