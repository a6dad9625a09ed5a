//! A check value in each row that decides who may do what: a byte that a disk has changed makes a grant somebody else's.
//!
//! ```text
//!  put ─► row_sum(columns) ─► the row with its sum ─► … ─► a start: row_sum(columns) once more ─► the same, or the database is lost
//! ```
//!
//! Owns the function and the search. A row without a sum, as earlier versions have stored it, is believed. It is no protection
//! against who may write to the file.

use rusqlite::Connection;
use rusqlite::functions::FunctionFlags;
use rusqlite::types::ValueRef;
use sha2::{Digest as _, Sha256};

use super::StoreError;

/// The tables, and what of a row its sum is over.
const TABLES: [(&str, &str); 3] = [
    ("grants", "origin, profile, scope, grant_type, allowed_tools, created_at"),
    ("pins", "server_id, tool, hash, shown, hidden"),
    ("changed_tools", "server_id, tool, hash, shown, hidden"),
];

/// The bytes of the hash that are kept.
const LENGTH: usize = 16;

/// Gives a connection the function `row_sum(column, …)`.
pub(super) fn register(connection: &Connection) -> rusqlite::Result<()> {
    let flags =
        FunctionFlags::SQLITE_UTF8 | FunctionFlags::SQLITE_DETERMINISTIC | FunctionFlags::SQLITE_INNOCUOUS;
    connection.create_scalar_function("row_sum", -1, flags, |row| {
        let mut hash = Sha256::new();
        for at in 0..row.len() {
            put(&mut hash, row.get_raw(at));
        }
        Ok(hash.finalize().iter().copied().take(LENGTH).collect::<Vec<u8>>())
    })
}

/// Each value with its type and its length, so that no two rows are the same text.
fn put(hash: &mut Sha256, value: ValueRef<'_>) {
    let (kind, number);
    let bytes: &[u8] = match value {
        ValueRef::Null => {
            kind = 0_u8;
            &[]
        }
        ValueRef::Integer(value) => {
            (kind, number) = (1, value.to_le_bytes());
            &number
        }
        ValueRef::Real(value) => {
            (kind, number) = (2, value.to_le_bytes());
            &number
        }
        ValueRef::Text(bytes) => {
            kind = 3;
            bytes
        }
        ValueRef::Blob(bytes) => {
            kind = 4;
            bytes
        }
    };
    hash.update([kind]);
    hash.update((bytes.len() as u64).to_le_bytes());
    hash.update(bytes);
}

/// Adds the column to tables of an earlier version.
pub(super) fn add_columns(connection: &Connection) -> rusqlite::Result<()> {
    for (table, _) in TABLES {
        let sql = "SELECT count(*) FROM pragma_table_info(?1) WHERE name = 'sum'";
        if connection.query_row(sql, [table], |row| row.get::<_, i64>(0))? == 0 {
            connection.execute_batch(&format!("ALTER TABLE {table} ADD COLUMN sum BLOB"))?;
        }
    }
    Ok(())
}

/// Says which table has a row that is not what was stored, if one has.
pub(super) fn altered(connection: &Connection) -> Result<Option<String>, StoreError> {
    for (table, columns) in TABLES {
        let sql = format!(
            "SELECT EXISTS (SELECT 1 FROM {table} WHERE sum IS NOT NULL AND sum IS NOT row_sum({columns}))"
        );
        if connection.query_row(&sql, [], |row| row.get::<_, bool>(0))? {
            return Ok(Some(format!("a row of its table {table} is not what Harbor stored")));
        }
    }
    Ok(None)
}
