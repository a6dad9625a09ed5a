//! A database that is lost: set aside, told of, and made anew from the journal of definitions.
//!
//! ```text
//!  harbor.db ─ whole ─────────────────────────────────────────► the truth; the journal is made to agree
//!            ├ not there, empty; no journal either ───────────► a new home
//!            ├ full disk, no right to it, a lock, newer ──────► an error; everything stays as it is
//!            └ corrupt; or gone, and a journal is there
//!                 └─► harbor.db.new, whole: definitions, locks, written places, nobody is new ─► a journal, if there is none
//!                      └─► harbor.db.corrupt-<time>/ made, with report.json ─► harbor.db, -wal, -shm moved into it
//!                           └─► harbor.db.new becomes harbor.db
//! ```
//!
//! If the disk has no room for the new database, the old one stays where it is. If the bridge is killed anywhere on the way, the
//! next start finds the old one, or none and a journal, and begins again; it never finds a new home, which lets clients in.
//!
//! Nothing is read out of a corrupt database: a grant with a wrong byte is somebody else's. So grants and denials are gone, which
//! means that nothing is allowed. Tools count as seen when they are listed next, but nobody can call one before the person grants
//! it again. No AI client gets anything by being new.
//!
//! The journal also has the places where servers could ever write, and the version of each package. Where that version is not
//! known any more, the row says so, and the server does not start with another one. The journal has each server that runs another
//! program than its name was given to; where one may be such, the person has to accept it.
//!
//! Owns those directories. Must never remove one, nor overwrite anything: that is the person's to do.

use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use harbor_home::Paths;
use harbor_home::clock::wall_clock;
use harbor_home::date::rfc3339;
use rusqlite::Connection;
use rusqlite::config::DbConfig;
use serde::{Deserialize, Serialize};

use super::database::{Database, VERSION, connect};
use super::journal::{Journal, JournalContent, LockRow, damaged, restore, restore_written};
use super::locks::files::LockFiles;
use super::program_rows::ProgramRow;
use super::programs;
use super::{
    StoreError, beginning_with, beside, consent, definition_table, definitions, failed, first_browser,
    free_name, grants, locks, met_clients, models, pins, private_directory, sums, sync_directory,
    write_durably, written_places,
};

/// The part between the database's name and the time, in the name of a directory that holds a lost database.
const ASIDE: &str = ".corrupt-";

/// The part after the database's name, in the name of the next one while that is not whole.
const NEXT: &str = ".new";

/// The report of what was set aside, and what is back.
const REPORT: &str = "report.json";

/// The ends of the names of the files that belong to a database beside its own.
const BESIDE: [&str; 3] = ["-wal", "-shm", "-journal"];

/// The loss of a database.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Loss {
    /// The time of the loss, in milliseconds since 1970.
    pub at: u64,
    /// The fault that it had.
    pub why: String,
    /// How many definitions came back.
    pub definitions: usize,
    /// How many packages have their locked version.
    pub locks: usize,
    /// The servers whose version is not known any more.
    pub unlocked: Vec<String>,
    /// How many lines of the journal could not be read. None if no journal could be read.
    pub unread: Option<usize>,
    /// The place of its copy.
    #[serde(skip)]
    pub aside: PathBuf,
}

impl std::fmt::Display for Loss {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { at, why, unread, aside, .. } = self;
        let back = match unread {
            Some(0) => self.back(),
            Some(unread) => format!("{}, and {unread} lines of their journal cannot be read", self.back()),
            None => "there was no journal, so no servers could be restored".into(),
        };
        let at = rfc3339(*at);
        write!(f, "harbor.db was lost at {at} ({why}): {back}; ")?;
        if !self.unlocked.is_empty() {
            let names = self.unlocked.join(", ");
            write!(f, "the locked package version of {names} is lost (choose one: `harbor upgrade NAME`); ")?;
        }
        write!(
            f,
            "all grants, denials, tool hashes, permissions of AI clients, and model providers with their budgets are \
             lost. The remains of the database are in {}",
            aside.display()
        )
    }
}

impl Loss {
    fn back(&self) -> String {
        let servers = match self.definitions {
            1 => "1 server is back".into(),
            number => format!("{number} servers are back"),
        };
        match self.locks {
            0 => servers,
            number => format!("{servers}, {number} with the locked version of its package"),
        }
    }
}

/// The advice after a loss.
pub const AFTER_A_LOSS: &str =
    "check the tools, grant again what should be allowed (`harbor grant`), then remove that directory";

/// A database that can be worked with.
#[derive(Debug)]
pub struct OpenedDatabase {
    /// The database.
    pub database: Rc<Database>,
    /// The journal of its definitions.
    pub journal: Journal,
    /// The losses, now or earlier, whose files still lie there. The newest comes last.
    pub losses: Vec<Loss>,
    /// True if the last one was lost just now.
    pub rebuilt: bool,
}

/// Opens the database; makes it anew where it is lost.
///
/// # Errors
/// When it cannot be used, or not be made.
pub fn open(paths: &Paths) -> Result<OpenedDatabase, StoreError> {
    let (path, journal) = (paths.database(), Journal::at(&paths.journal()));
    // A killed bridge has left it. Whether the database is lost does not depend on it.
    drop(RebuiltDatabase(beside(&path, NEXT)));
    let (connection, rebuilt) = match sound(&path, &journal)? {
        Ok(connection) => (connection, false),
        Err(why) => (rebuild(paths, &journal, why)?, true),
    };
    let losses = losses(&path);
    if let (true, Some(loss)) = (rebuilt, losses.last()) {
        tracing::error!("{loss}. {AFTER_A_LOSS}");
    }
    Ok(OpenedDatabase { database: Rc::new(Database::start(connection)?), journal, losses, rebuilt })
}

/// The reason why an empty or missing database counts as lost, if it does.
fn gone(path: &Path, has_journal: bool) -> Option<&'static str> {
    let empty = fs::symlink_metadata(path).map_or(true, |found| found.is_file() && found.len() == 0);
    let log = fs::symlink_metadata(beside(path, BESIDE[0])).map_or(0, |found| found.len());
    match (empty, log, has_journal) {
        (true, 1.., _) => Some("its file is empty or missing, but its write-ahead log is there"),
        (true, 0, true) => Some(GONE),
        _ => None,
    }
}

const GONE: &str = "its file is empty or missing, but the journal of its definitions is there";

/// True if there is a database. An error if a part of it that should be there is not.
///
/// # Errors
/// The reason why the next start of a bridge takes it for lost.
pub fn is_there(paths: &Paths) -> Result<bool, &'static str> {
    let path = paths.database();
    match gone(&path, paths.journal().symlink_metadata().is_ok()) {
        Some(why) => Err(why),
        None => Ok(path.exists()),
    }
}

/// The database if it is sound or new; else why it counts as lost.
fn sound(path: &Path, journal: &Journal) -> Result<Result<Connection, String>, StoreError> {
    let read = journal.read();
    let has_journal = !matches!(read, Ok(None));
    // To be looked at first: SQLite throws the log of an empty database away.
    if let Some(why) = gone(path, has_journal) {
        return Ok(Err(why.into()));
    }
    let connection = match connect(path) {
        Ok(connection) => connection,
        Err(error) if error.is_corruption() => return corrupt(path, &error).map(Err),
        Err(error) => return Err(error),
    };
    let tables: i64 = connection.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))?;
    if tables == 0 && has_journal {
        return Ok(Err(GONE.into()));
    }
    if tables > 0
        && let Some(table) = missing_table(&connection)?
    {
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
        return Ok(Err(format!("its table {table} is gone")));
    }
    let read = read.unwrap_or_default();
    settle_tables(&connection)?;
    if let Some(why) = sums::altered(&connection)? {
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
        return Ok(Err(why));
    }
    // What was stored is known only from a journal that was read as a whole.
    if let Some(stored) = read.as_ref().filter(|read| read.unread == 0)
        && let Some(why) = damaged(&connection, stored)?
    {
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
        return Ok(Err(why));
    }
    settle(&connection, journal, &read.unwrap_or_default())?;
    Ok(Ok(connection))
}

/// The reason why a database is corrupt. SQLite may take an unreadable disk for corruption: then the disk's error.
fn corrupt(path: &Path, error: &StoreError) -> Result<String, StoreError> {
    for file in files(path) {
        match fs::File::open(&file).and_then(|mut open| io::copy(&mut open, &mut io::sink())) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                return Err(failed("read", &file)(error));
            }
            _ => {}
        }
    }
    Ok(error.to_string())
}

/// The tables that decide who may do what, and which servers there are. A database has all of these tables
/// for its version, or is new and has none.
const TABLES: [Tables; 12] = [
    Tables { since: 1, names: &["definitions"], sql: definition_table::TABLES },
    Tables { since: 1, names: &["locks"], sql: locks::TABLES },
    Tables { since: 1, names: &["written"], sql: written_places::TABLES },
    Tables { since: 1, names: &["grants"], sql: grants::TABLES },
    Tables { since: 1, names: &["pins"], sql: pins::TABLES },
    Tables { since: 1, names: &["met_clients"], sql: met_clients::TABLES },
    Tables { since: 2, names: &["programs"], sql: programs::TABLES },
    Tables { since: 2, names: &["model_providers", "model_usage", "model_budgets"], sql: models::TABLES },
    Tables { since: 3, names: &["former_programs"], sql: programs::FORMER_TABLES },
    Tables { since: 4, names: &["tool_answers", "carried_names", "closed_sources"], sql: consent::TABLES },
    Tables { since: 5, names: &["guarded_clients"], sql: consent::TABLES },
    Tables { since: 7, names: &["first_browser"], sql: first_browser::TABLES },
];

/// Tables that one file makes.
struct Tables {
    /// The first version of a database that has them.
    since: i64,
    names: &'static [&'static str],
    sql: &'static str,
}

/// A table that a database lacks although it is not new: its content is lost, and a DENY may have been among it.
fn missing_table(connection: &Connection) -> Result<Option<&'static str>, StoreError> {
    // The first ones had no version.
    let version = version(connection)?.max(1);
    let expected = TABLES.iter().filter(|tables| tables.since <= version);
    let mut known =
        connection.prepare("SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name = ?")?;
    for name in expected.flat_map(|tables| tables.names) {
        if known.query_row([name], |row| row.get::<_, i64>(0))? == 0 {
            return Ok(Some(name));
        }
    }
    Ok(None)
}

/// Makes all tables at once: a database with only some would be neither new nor whole. From then on it has this version.
fn settle_tables(connection: &Connection) -> Result<(), StoreError> {
    let transaction = connection.unchecked_transaction()?;
    make_tables(&transaction)?;
    Ok(transaction.commit()?)
}

fn version(connection: &Connection) -> rusqlite::Result<i64> {
    connection.query_row("PRAGMA user_version", [], |row| row.get(0))
}

fn make_tables(connection: &Connection) -> rusqlite::Result<()> {
    TABLES.iter().try_for_each(|tables| connection.execute_batch(tables.sql))?;
    sums::add_columns(connection)?;
    // A start that changes nothing writes nothing.
    if version(connection)? == VERSION {
        return Ok(());
    }
    connection.pragma_update(None, "user_version", VERSION)
}

/// Makes a sound database and its journal agree.
fn settle(connection: &Connection, journal: &Journal, read: &JournalContent) -> Result<(), StoreError> {
    let transaction = connection.unchecked_transaction()?;
    restore_written(&transaction, read)?;
    transaction.commit()?;
    if let Err(error) = journal.agree(connection) {
        // The database is sound, and everything works; changes will be refused as long as this lasts.
        tracing::warn!(%error, "the journal of definitions could not be written");
    }
    Ok(())
}

fn rebuild(paths: &Paths, journal: &Journal, why: String) -> Result<Connection, StoreError> {
    let path = &paths.database();
    let mut read =
        journal.read().map_err(|error| StoreError::Unreadable { why: why.clone(), source: error.into() })?;
    if let Some(content) = &mut read {
        content.locks.extend(unknown_locks(content));
        content.programs.extend(unknown_programs(content));
    }
    let rows = read.iter().flat_map(|content| &content.locks);
    let (locked, unlocked) = readable(rows, &LockFiles::at(&paths.locks()));
    let loss = Loss {
        at: wall_clock(),
        why,
        definitions: read.as_ref().map_or(0, |content| content.definitions.len()),
        locks: locked.len(),
        unlocked,
        unread: read.as_ref().map(|content| content.unread),
        aside: PathBuf::new(),
    };
    let next = prepare(path, journal, read.as_ref())?;
    set_aside(path, &loss)?;
    next.take_place(path)?;
    let connection = connect(path)?;
    settle(&connection, journal, &read.unwrap_or_default())?;
    Ok(connection)
}

/// Locks that missing lines may have held: one for each package that has none.
fn unknown_locks(content: &JournalContent) -> Vec<LockRow> {
    let has_package = |(id, text): &&(String, String)| {
        definitions::read_row(id, text).is_some_and(|(_, definition)| definition.package().is_some())
    };
    let is_known = |id: &str| content.unread == 0 || content.locks.iter().any(|row| row.server_id == id);
    let unknown = content.definitions.iter().filter(has_package).filter(|(id, _)| !is_known(id));
    unknown.map(|(id, _)| LockRow { server_id: id.clone(), ..LockRow::default() }).collect()
}

/// Programs that missing lines may have held: any server may run another program than its name was given to.
fn unknown_programs(content: &JournalContent) -> Vec<ProgramRow> {
    let is_known = |id: &str| content.unread == 0 || content.programs.iter().any(|row| row.server_id == id);
    let unknown = content.definitions.iter().filter(|(id, _)| !is_known(id));
    unknown.map(|(id, _)| ProgramRow::unknown(id)).collect()
}

/// The servers whose locks can be read, and the others.
fn readable<'a>(rows: impl Iterator<Item = &'a LockRow>, files: &LockFiles) -> (Vec<String>, Vec<String>) {
    let (can, cannot): (Vec<_>, Vec<_>) = rows.partition(|row| locks::read(files, row).is_ok());
    let ids = |rows: Vec<&LockRow>| rows.into_iter().map(|row| row.server_id.clone()).collect();
    (ids(can), ids(cannot))
}

/// Makes all that must be on disk before a lost database is moved.
fn prepare(
    path: &Path,
    journal: &Journal,
    read: Option<&JournalContent>,
) -> Result<RebuiltDatabase, StoreError> {
    let next = RebuiltDatabase::build(path, read.unwrap_or(&JournalContent::default()))?;
    if read.is_none() {
        // Without one, a home whose database is gone would count as new.
        journal.begin()?;
    }
    Ok(next)
}

/// A database that is whole, and not yet in its place. It goes if it does not get there.
struct RebuiltDatabase(PathBuf);

impl RebuiltDatabase {
    fn build(path: &Path, content: &JournalContent) -> Result<Self, StoreError> {
        let next = Self(beside(path, NEXT));
        next.clear();
        let connection = connect(&next.0)?;
        let transaction = connection.unchecked_transaction()?;
        make_tables(&transaction)?;
        transaction.execute_batch(met_clients::CLOSE)?;
        restore(&transaction, content)?;
        transaction.commit()?;
        // All of it in its own file, which alone is moved.
        if connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get(0))? {
            return Err(failed("finish", &next.0)(io::ErrorKind::ResourceBusy.into()));
        }
        connection.close().map_err(|(_, error)| error)?;
        Ok(next)
    }

    fn take_place(self, path: &Path) -> Result<(), StoreError> {
        fs::rename(&self.0, path).map_err(failed("put in its place", &self.0))?;
        path.parent().map_or(Ok(()), sync_directory)
    }

    /// Removes the files, if there are any. Mostly there are none.
    fn clear(&self) {
        for file in files(&self.0) {
            let _ = fs::remove_file(file);
        }
    }
}

impl Drop for RebuiltDatabase {
    fn drop(&mut self) {
        self.clear();
    }
}

/// A database's own file, and what belongs to it.
fn files(path: &Path) -> impl Iterator<Item = PathBuf> {
    std::iter::once(path.to_owned()).chain(BESIDE.map(|suffix| beside(path, suffix)))
}

/// Moves the files of a database into a directory of its own, the main file first: a file left by a crash
/// must not become the log of the next database.
fn set_aside(path: &Path, loss: &Loss) -> Result<(), StoreError> {
    let home = path.parent().unwrap_or(Path::new("/"));
    let aside = new_directory(path, loss.at)?;
    let report = serde_json::to_vec_pretty(loss).unwrap_or_default();
    if let Err(error) = write_durably(&aside.join(REPORT), &report) {
        // Nothing is in it, and the next start would make another one.
        let _ = fs::remove_dir(&aside);
        return Err(error);
    }
    for from in files(path) {
        let Some(name) = from.file_name() else { continue };
        match fs::rename(&from, aside.join(name)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                return Err(failed("set aside", &from)(error));
            }
            _ => {}
        }
    }
    sync_directory(&aside)?;
    sync_directory(home)
}

/// A new directory, with nothing in it.
fn new_directory(path: &Path, at: u64) -> Result<PathBuf, StoreError> {
    let aside = free_name(path, ASIDE, at);
    DirBuilder::new().mode(0o700).create(&aside).map_err(failed("create", &aside))?;
    private_directory(&aside)?;
    Ok(aside)
}

/// The losses of this database whose files still lie there, the newest last.
#[must_use]
pub fn losses(path: &Path) -> Vec<Loss> {
    let mut all: Vec<_> = beginning_with(path, ASIDE).iter().map(|aside| report_of(aside)).collect();
    all.sort_by(|a, b| (a.at, &a.aside).cmp(&(b.at, &b.aside)));
    all
}

/// The loss that a directory reports. A database without a readable report was lost all the same.
fn report_of(aside: &Path) -> Loss {
    let read = fs::read(aside.join(REPORT)).ok().and_then(|text| serde_json::from_slice(&text).ok());
    let why = "its report is missing".into();
    let unknown = Loss {
        at: 0,
        why,
        definitions: 0,
        locks: 0,
        unlocked: Vec::new(),
        unread: None,
        aside: PathBuf::new(),
    };
    Loss { aside: aside.to_owned(), ..read.unwrap_or(unknown) }
}

#[cfg(test)]
mod tests;
