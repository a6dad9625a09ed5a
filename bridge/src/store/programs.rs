//! The program that each server's name was given to.
//!
//! ```text
//!  programs(server_id PK, program, other_since ms or NULL)
//!           program: the one that the person accepted; other_since: since when the definition runs another one
//!  former_programs(server_id, digest, until ms)
//!           programs that the name had before, until when; a digest: their arguments may have been secret
//! ```
//!
//! Owns these tables. What an AI client was configured with (`harbor mcp --only`) is known only once it comes, so the names'
//! former programs are remembered until the person accepts the present one. A row changes in the transaction of its definition,
//! so that no crash makes one program inherit what another was given. Rows with another program are in the journal, too, for the
//! case that the database is lost. Must never accept anything: only the person does.

use std::rc::Rc;

use harbor_home::clock::wall_clock;
use harbor_ipc_proto::hex::hex;
use harbor_ipc_proto::server_id::ServerId;
use rusqlite::{Connection, OptionalExtension as _, params};
use sha2::{Digest as _, Sha256};

use super::StoreError;
use super::database::Database;
use super::definitions::{Definition, read_row};
use super::journal::Journal;
use super::program_rows::{UNREADABLE, put};

pub(super) const TABLES: &str = "
    CREATE TABLE IF NOT EXISTS programs (
        server_id   TEXT PRIMARY KEY,
        program     TEXT NOT NULL,
        other_since INTEGER
    ) STRICT;
";

pub(super) const FORMER_TABLES: &str = "
    CREATE TABLE IF NOT EXISTS former_programs (
        server_id TEXT NOT NULL,
        digest    TEXT NOT NULL,
        until     INTEGER NOT NULL,
        PRIMARY KEY (server_id, digest)
    ) STRICT, WITHOUT ROWID;
";

/// The text in place of the program of a name that had another one before.
pub const EARLIER: &str = "(an earlier program of this name)";

/// A row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Accepted {
    /// The server whose name it is.
    pub server_id: ServerId,
    /// The program that was accepted.
    pub program: String,
    /// Since when it runs another one, in milliseconds since 1970.
    pub other_since: Option<u64>,
}

/// A program that a name had before.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Former {
    /// The server whose name it was.
    pub server_id: ServerId,
    /// The digest of the program, by [`digest`].
    pub digest: String,
    /// The end of its use, in milliseconds since 1970.
    pub until: u64,
}

/// The digest of a former program: all that is remembered of it.
#[must_use]
pub fn digest(program: &str) -> String {
    hex(&Sha256::digest(program.as_bytes()))
}

/// The table.
#[derive(Debug)]
pub struct AcceptedPrograms {
    database: Rc<Database>,
    journal: Journal,
}

impl AcceptedPrograms {
    /// The table of this database, which is made if it does not exist. Programs of existing definitions are accepted.
    ///
    /// # Errors
    /// When the database refuses.
    pub async fn open(database: Rc<Database>, journal: Journal) -> Result<Self, StoreError> {
        database.create(TABLES).await?;
        database.create(FORMER_TABLES).await?;
        let filled = database.run(|connection| {
            let sql = "SELECT server_id, definition FROM definitions
                       WHERE server_id NOT IN (SELECT server_id FROM programs)";
            let mut rows = connection.prepare(sql)?;
            let rows = rows.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
            let rows: Vec<(String, String)> = rows.collect::<Result<_, _>>()?;
            for (id, text) in rows {
                let program = program_of(&id, &text);
                let sql = "INSERT OR IGNORE INTO programs (server_id, program) VALUES (?1, ?2)";
                connection.execute(sql, params![id, program])?;
            }
            Ok(())
        });
        filled.await?;
        Ok(Self { database, journal })
    }

    /// All rows whose id can be read.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub async fn all(&self) -> Result<Vec<Accepted>, StoreError> {
        let all = self.database.run(|connection| {
            let mut rows = connection.prepare("SELECT server_id, program, other_since FROM programs")?;
            let rows = rows.query_map([], |row| {
                let id: String = row.get(0)?;
                let since: Option<i64> = row.get(2)?;
                let (program, other_since) = (row.get(1)?, since.and_then(|at| u64::try_from(at).ok()));
                Ok(ServerId::parse(&id).map(|server_id| Accepted { server_id, program, other_since }))
            })?;
            Ok(rows.collect::<Result<Vec<_>, _>>()?.into_iter().flatten().collect())
        });
        all.await
    }

    /// All former programs whose name can be read.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub async fn former(&self) -> Result<Vec<Former>, StoreError> {
        let all = self.database.run(|connection| {
            let mut rows = connection.prepare("SELECT server_id, digest, until FROM former_programs")?;
            let rows = rows.query_map([], |row| {
                let (id, until): (String, i64) = (row.get(0)?, row.get(2)?);
                let (digest, until) = (row.get(1)?, u64::try_from(until).unwrap_or_default());
                Ok(ServerId::parse(&id).map(|server_id| Former { server_id, digest, until }))
            })?;
            Ok(rows.collect::<Result<Vec<_>, _>>()?.into_iter().flatten().collect())
        });
        all.await
    }

    /// The person has accepted that a server runs this program, whatever its name had before.
    ///
    /// # Errors
    /// When the database refuses.
    pub async fn accept(&self, id: &ServerId, program: &str) -> Result<(), StoreError> {
        let (id, program) = (id.to_string(), program.to_owned());
        let accept = move |connection: &Connection| {
            connection.execute("DELETE FROM former_programs WHERE server_id = ?1", [&id])?;
            put(connection, &id, &program, None)
        };
        self.journal.change_in(&self.database, accept).await
    }

    /// A server runs this program from now on, since nothing was given to the one before.
    ///
    /// # Errors
    /// When the database refuses.
    pub async fn settle(&self, id: &ServerId, program: &str) -> Result<(), StoreError> {
        let (id, program) = (id.to_string(), program.to_owned());
        let settle = move |connection: &Connection| {
            let sql = "SELECT program FROM programs WHERE server_id = ?1";
            let before: Option<String> = connection.query_row(sql, [&id], |row| row.get(0)).optional()?;
            before.iter().try_for_each(|before| remember(connection, &id, before))?;
            put(connection, &id, &program, None)
        };
        self.journal.change_in(&self.database, settle).await
    }

    /// Leaves the server's program for the person to accept: its name had another one until then.
    ///
    /// # Errors
    /// When the database refuses.
    pub async fn suspend(&self, id: &ServerId, until: u64) -> Result<(), StoreError> {
        let (id, until) = (id.to_string(), i64::try_from(until).unwrap_or(i64::MAX));
        let suspend = move |connection: &Connection| put(connection, &id, EARLIER, Some(until));
        self.journal.change_in(&self.database, suspend).await
    }
}

/// A program is in the name's past.
fn remember(connection: &Connection, id: &str, program: &str) -> rusqlite::Result<()> {
    if [EARLIER, UNREADABLE].contains(&program) {
        return Ok(());
    }
    let at = i64::try_from(wall_clock()).unwrap_or(i64::MAX);
    let sql = "INSERT OR REPLACE INTO former_programs VALUES (?1, ?2, ?3)";
    connection.execute(sql, params![id, digest(program), at]).map(drop)
}

fn program_of(id: &str, text: &str) -> String {
    read_row(id, text).map_or_else(|| UNREADABLE.into(), |(_, definition)| definition.program())
}

/// Called before a definition is stored: the program that it replaces keeps its place here.
pub(super) fn note(connection: &Connection, id: &str, new: &Definition) -> rusqlite::Result<()> {
    let sql = "SELECT definition FROM definitions WHERE server_id = ?1";
    let before: Option<String> = connection.query_row(sql, [id], |row| row.get(0)).optional()?;
    let now = new.program();
    let first = match before {
        Some(text) => program_of(id, &text),
        None if had_another(connection, id, &now)? => EARLIER.to_owned(),
        None => now.clone(),
    };
    // What was given to one program that was not accepted is not for the next one.
    let is_next = first != now;
    let sql = "INSERT OR IGNORE INTO programs (server_id, program) VALUES (?1, ?2)";
    connection.execute(sql, params![id, first])?;
    let sql = "UPDATE programs SET other_since = CASE
                 WHEN program = ?2 THEN NULL
                 WHEN ?4 THEN ?3
                 ELSE coalesce(other_since, ?3) END
               WHERE server_id = ?1";
    let at = i64::try_from(wall_clock()).unwrap_or(i64::MAX);
    connection.execute(sql, params![id, now, at, is_next]).map(drop)
}

fn had_another(connection: &Connection, id: &str, program: &str) -> rusqlite::Result<bool> {
    let sql = "SELECT EXISTS (SELECT 1 FROM former_programs WHERE server_id = ?1 AND digest <> ?2)";
    connection.query_row(sql, params![id, digest(program)], |row| row.get(0))
}

/// Frees the name of a removed server. Its programs are remembered.
pub(super) fn forget(connection: &Connection, id: &str) -> rusqlite::Result<()> {
    let sql = "SELECT definition FROM definitions WHERE server_id = ?1";
    let now: Option<String> = connection.query_row(sql, [id], |row| row.get(0)).optional()?;
    let sql = "SELECT program FROM programs WHERE server_id = ?1";
    let accepted: Option<String> = connection.query_row(sql, [id], |row| row.get(0)).optional()?;
    let programs = accepted.into_iter().chain(now.map(|text| program_of(id, &text)));
    programs.into_iter().try_for_each(|program| remember(connection, id, &program))?;
    connection.execute("DELETE FROM programs WHERE server_id = ?1", [id]).map(drop)
}
