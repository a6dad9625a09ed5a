//! definitions.journal: the content of the tables of definitions, locks and written places, and which servers run another program
//! than their names were given to, in case harbor.db is lost.
//!
//! ```text
//!  0f3c5a… {"definition":{"server_id":"time","definition":"{\"command\":…}"}}
//!  5be210… {"lock":{"server_id":"time","current":"9f86d0…","previous":null}}      names of files in locks/
//!  77ab01… {"written":{"path":"/home/u/notes"}}
//!  9d20c7… {"program":{"server_id":"time","program":"…","other_since":1760000000000}}
//!  c2d9e4… {"end":{"lines":3}}                             16 digits of each line's own hash, a space, its JSON
//! ```
//!
//! ```text
//!  begin ─► the tables change ─► this file is replaced (synced) ─► commit ─► the change is confirmed
//!                                                      │
//!              killed or refused here: the file is ahead by a change that nobody was told of
//! ```
//!
//! The database is the truth while it is sound: a bridge that starts with a sound one writes this file anew from it, so that
//! a file that was ahead agrees again. Only when the database is lost as well does such a change hold: somebody has asked
//! for it. The file is never behind what was confirmed, so a server that was removed does not come back by it.
//!
//! Each change replaces the whole file and appends nothing: env values may be secrets, and one that was replaced or removed
//! must not stay on disk. Owns this file. Must never hold a grant, nor fail for a line that it cannot read: that one is left
//! out and counted.

use std::io;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::Duration;

use harbor_home::clock::wall_clock;
use harbor_ipc_proto::hex::hex;
use rusqlite::{Connection, TransactionBehavior, params};
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use super::columns::column;
use super::database::{Database, VERSION, checkpoint};
use super::definitions::read_row;
use super::lines::{open_to_read, read_block};
use super::lock_names::is_name;
use super::program_rows::{self, ProgramRow};
use super::{StoreError, beginning_with, failed, free_name, sync_directory, temporary, write_durably};

/// The bytes of the hash at the beginning of a line, which takes twice as many digits.
const SUM: usize = 8;

/// The text between the name of a damaged journal that is kept and its time.
const DAMAGED: &str = ".damaged-";

/// The most bytes that are read.
const MAX_READ: u64 = 256 << 20;

/// How soon a disk that has refused a change is tried again.
const AGAIN: Duration = Duration::from_secs(5);

/// A line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
enum JournalLine {
    /// A row of the definitions, with its texts unchanged.
    Definition { server_id: String, definition: String },
    /// A row of the locks.
    Lock(LockRow),
    /// A row of the written places.
    Written { path: String },
    /// A row of the programs, of a server that runs another one.
    Program(ProgramRow),
    /// All are there.
    End { lines: usize },
}

/// A row of the locks: the names of files. For a lock that cannot be read, texts that name no file.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LockRow {
    /// The server.
    pub server_id: String,
    /// The lock that is used.
    pub current: String,
    /// The one before.
    pub previous: Option<String>,
}

/// The content of a journal.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct JournalContent {
    /// Server ids and their definitions.
    pub definitions: Vec<(String, String)>,
    /// The versions of their packages.
    pub locks: Vec<LockRow>,
    /// The places where servers could ever write.
    pub written: Vec<String>,
    /// The servers that run another program than their names were given to.
    pub programs: Vec<ProgramRow>,
    /// Lines that are missing or could not be read.
    pub unread: usize,
}

/// The file.
#[derive(Debug, Clone)]
pub struct Journal {
    path: PathBuf,
}

impl Journal {
    /// The journal at this path.
    #[must_use]
    pub fn at(path: &Path) -> Self {
        Self { path: path.to_owned() }
    }

    /// The file's content. None when there is no file.
    ///
    /// # Errors
    /// When the file cannot be read at all.
    pub fn read(&self) -> Result<Option<JournalContent>, StoreError> {
        Ok(self.bytes().map_err(failed("read", &self.path))?.map(|bytes| parse(&bytes)))
    }

    fn bytes(&self) -> io::Result<Option<Vec<u8>>> {
        match open_to_read(&self.path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            // It is replaced as a whole, so a torn line is a damage to be seen.
            opened => opened
                .and_then(|(file, _)| read_block(&file, 0, file.metadata()?.len().min(MAX_READ)))
                .map(Some),
        }
    }

    /// Writes the first journal, an empty one.
    pub(super) fn begin(&self) -> Result<(), StoreError> {
        write_durably(&self.path, &text(&JournalContent::default()))
    }

    /// Works as `change`, on the database's own thread. Removals are in the database itself at once.
    pub(super) async fn change_in(
        &self,
        database: &Database,
        change: impl FnOnce(&Connection) -> rusqlite::Result<()> + Send + 'static,
    ) -> Result<(), StoreError> {
        let journal = self.clone();
        let changed = database.run(move |connection| {
            journal.change(connection, change)?;
            checkpoint(connection);
            Ok(())
        });
        changed.await?;
        database.journal_is_written();
        Ok(())
    }

    /// After the disk has refused a change, tries again and again until it takes one. So no client is told of
    /// a full disk that has room by now.
    pub async fn watch(self, database: Rc<Database>) {
        loop {
            database.troubled().await;
            while database.is_troubled() {
                tokio::time::sleep(AGAIN).await;
                // It says what it says already, which takes room all the same.
                let tried =
                    self.change_in(&database, |tables| tables.pragma_update(None, "user_version", VERSION));
                if tried.await.is_ok() {
                    database.is_well();
                }
            }
        }
    }

    /// Changes the tables: the file first, then the database. Nothing is changed when either refuses.
    pub(super) fn change(
        &self,
        connection: &mut Connection,
        change: impl FnOnce(&Connection) -> rusqlite::Result<()>,
    ) -> Result<(), StoreError> {
        let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        change(&transaction)?;
        let written = self.write(&transaction);
        let changed = written.and_then(|()| Ok(transaction.commit()?));
        if changed.is_err()
            && let Err(error) = self.write(connection)
        {
            tracing::warn!(%error, "the journal of definitions is ahead of harbor.db until the next start");
        }
        changed
    }

    /// Makes the file agree with the tables.
    pub(super) fn agree(&self, connection: &Connection) -> Result<(), StoreError> {
        // What a bridge that was killed had begun to write may have secrets in it. As a rule there is nothing.
        let _ = std::fs::remove_file(temporary(&self.path));
        let wanted = text(&rows(connection)?);
        match self.bytes() {
            Ok(Some(found)) if found == wanted => return Ok(()),
            Ok(None) => {}
            Ok(Some(found)) => match parse(&found).unread {
                0 => {}
                unread => self.keep(&format!("{unread} of its lines cannot be read"))?,
            },
            Err(error) => self.keep(&error.to_string())?,
        }
        write_durably(&self.path, &wanted)
    }

    /// Moves the damaged file beside, unchanged. The database has all that could be read of it.
    fn keep(&self, why: &str) -> Result<(), StoreError> {
        let kept = free_name(&self.path, DAMAGED, wall_clock());
        std::fs::rename(&self.path, &kept).map_err(failed("keep", &self.path))?;
        let (from, to) = (self.path.display(), kept.display());
        tracing::error!(
            "{from} is damaged ({why}): Harbor writes a new one from harbor.db; the old one is {to}"
        );
        self.path.parent().map_or(Ok(()), sync_directory)
    }

    /// The damaged journals that still lie there, by name.
    #[must_use]
    pub fn damaged_ones(&self) -> Vec<PathBuf> {
        beginning_with(&self.path, DAMAGED)
    }

    fn write(&self, connection: &Connection) -> Result<(), StoreError> {
        write_durably(&self.path, &text(&rows(connection)?))
    }
}

/// Finds a row that cannot be read or differs from the stored one. SQLite does not see such damage of a page.
pub(super) fn damaged(
    connection: &Connection,
    stored: &JournalContent,
) -> Result<Option<String>, StoreError> {
    let found = rows(connection)?;
    let definition = found
        .definitions
        .iter()
        .find(|row| read_row(&row.0, &row.1).is_none() && !stored.definitions.contains(row));
    let lock = found.locks.iter().find(|row| !is_name(&row.current) && !stored.locks.contains(row));
    let said =
        |what: &str, id: &str| format!("the {what} of {id:?} cannot be read: it is not what Harbor stored");
    let definition = definition.map(|(id, _)| said("definition", id));
    Ok(definition.or_else(|| lock.map(|row| said("lock", &row.server_id))))
}

/// The content of the tables.
fn rows(connection: &Connection) -> Result<JournalContent, StoreError> {
    let mut definitions = connection.prepare("SELECT server_id, definition FROM definitions ORDER BY 1")?;
    let definitions = definitions.query_map([], |row| Ok((column(row, 0)?, column(row, 1)?)))?;
    let mut written = connection.prepare("SELECT path FROM written ORDER BY 1")?;
    let written = written.query_map([], |row| column(row, 0))?;
    Ok(JournalContent {
        definitions: definitions.collect::<Result<_, _>>()?,
        locks: lock_rows(connection)?,
        written: written.collect::<Result<_, _>>()?,
        programs: program_rows::rows(connection)?,
        unread: 0,
    })
}

/// The table of locks.
pub(super) fn lock_rows(connection: &Connection) -> Result<Vec<LockRow>, StoreError> {
    let mut rows = connection.prepare("SELECT server_id, current, previous FROM locks ORDER BY 1")?;
    let rows = rows.query_map([], |row| {
        let previous = Some(column(row, 2)?).filter(|name| !name.is_empty());
        Ok(LockRow { server_id: column(row, 0)?, current: column(row, 1)?, previous })
    })?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// Puts what a journal held into new tables.
pub(super) fn restore(connection: &Connection, content: &JournalContent) -> rusqlite::Result<()> {
    for (id, definition) in &content.definitions {
        let sql = "INSERT OR REPLACE INTO definitions (server_id, definition) VALUES (?1, ?2)";
        connection.execute(sql, params![id, definition])?;
    }
    for LockRow { server_id, current, previous } in &content.locks {
        let sql = "INSERT OR REPLACE INTO locks VALUES (?1, ?2, ?3)";
        connection.execute(sql, params![server_id, current, previous])?;
    }
    content.programs.iter().try_for_each(|row| program_rows::restore(connection, row))?;
    restore_written(connection, content)
}

/// Restores the places that servers could ever write. A place counts if either the database or the journal has it.
pub(super) fn restore_written(connection: &Connection, content: &JournalContent) -> rusqlite::Result<()> {
    for path in &content.written {
        connection.execute("INSERT OR IGNORE INTO written VALUES (?1)", params![path])?;
    }
    Ok(())
}

/// The file's text.
#[must_use]
pub fn text(content: &JournalContent) -> Vec<u8> {
    let mut out = Vec::new();
    for (server_id, definition) in &content.definitions {
        put(
            &mut out,
            &JournalLine::Definition { server_id: server_id.clone(), definition: definition.clone() },
        );
    }
    for row in &content.locks {
        put(&mut out, &JournalLine::Lock(row.clone()));
    }
    for path in &content.written {
        put(&mut out, &JournalLine::Written { path: path.clone() });
    }
    for row in &content.programs {
        put(&mut out, &JournalLine::Program(row.clone()));
    }
    let JournalContent { definitions, locks, written, programs, .. } = content;
    let lines = definitions.len() + locks.len() + written.len() + programs.len();
    put(&mut out, &JournalLine::End { lines });
    out
}

fn put(out: &mut Vec<u8>, line: &JournalLine) {
    // Nothing in a line can fail to be written as JSON, nor has that a newline in it.
    let json = serde_json::to_vec(line).unwrap_or_default();
    out.extend_from_slice(sum(&json).as_bytes());
    out.push(b' ');
    out.extend_from_slice(&json);
    out.push(b'\n');
}

fn sum(json: &[u8]) -> String {
    hex(&Sha256::digest(json)[..SUM])
}

/// Reads a file's text, whatever it is.
#[must_use]
pub fn parse(bytes: &[u8]) -> JournalContent {
    let (mut content, mut lines, mut end) = (JournalContent::default(), 0_usize, None);
    for line in bytes.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
        match read_line(line) {
            Some(JournalLine::End { lines }) => end = Some(lines),
            Some(JournalLine::Definition { server_id, definition }) => {
                content.definitions.push((server_id, definition));
            }
            Some(JournalLine::Lock(row)) => content.locks.push(row),
            Some(JournalLine::Written { path }) => content.written.push(path),
            Some(JournalLine::Program(row)) => content.programs.push(row),
            None => content.unread += 1,
        }
        lines += 1;
    }
    // Lines may have gone without a trace, the last one among them.
    let read = lines.saturating_sub(content.unread + usize::from(end.is_some()));
    let missing = end.map_or(1, |wanted| wanted.saturating_sub(read));
    content.unread = content.unread.max(missing);
    content
}

fn read_line(line: &[u8]) -> Option<JournalLine> {
    let (found, json) = line.split_at_checked(SUM * 2)?;
    let json = json.strip_prefix(b" ")?;
    if found != sum(json).as_bytes() { None } else { serde_json::from_slice(json).ok() }
}

#[cfg(test)]
mod tests;
