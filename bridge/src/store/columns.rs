//! A column of a row, whatever stands in it.
//!
//! Owns how a text is read from a table that may be damaged. Must never fail for what it finds.

use rusqlite::Row;
use rusqlite::types::ValueRef;

/// A column's text. A value of another type gives empty text, and bytes that are no UTF-8 are replaced, so
/// that one bad row does not keep the others from being read.
pub(super) fn column(row: &Row<'_>, index: usize) -> rusqlite::Result<String> {
    Ok(match row.get_ref(index)? {
        ValueRef::Text(bytes) => String::from_utf8_lossy(bytes).into_owned(),
        _ => String::new(),
    })
}
