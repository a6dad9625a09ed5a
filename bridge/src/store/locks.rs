//! The version of its package that a server has: the lock, and the one before.
//!
//! ```text
//!  locks(server_id PK, current, previous or NULL) ─► locks/HASH   the names of files, which never change
//!  servers/NAME/package/1/, 2/ …     each installation has a directory of its own; the lock says which is used
//! ```
//!
//! Owns this table; the journal has its rows, too. What is used changes by one transaction: whenever a process ends, the old one
//! or the new one is in use, and whole. Must never hold anything of the person's: only names, versions and hashes. Must never
//! take a lock that cannot be read for none: its package would be replaced by the newest one without a word.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::Path;
use std::rc::Rc;

use harbor_ipc_proto::server_id::ServerId;
use harbor_policy::package::Package;
use harbor_policy::pythons::Chosen;
use rusqlite::{Connection, params};
use serde::{Deserialize, Serialize};

use self::files::LockFiles;
use super::StoreError;
use super::database::{Database, checkpoint};
use super::journal::{Journal, LockRow, lock_rows};

pub(super) mod files;

pub(super) const TABLES: &str = "
    CREATE TABLE IF NOT EXISTS locks (
        server_id TEXT PRIMARY KEY,
        current   TEXT NOT NULL,
        previous  TEXT
    ) STRICT;
";

/// An installation, with all that is needed to make the same one again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lock {
    /// `npm`, `pypi`, `git` or `binary`.
    pub kind: String,
    /// The package as the definition asks for it: the lock holds for no other.
    pub requested: String,
    /// The package in exactly this version, as the installer is given it.
    pub spec: String,
    /// The version; for git the commit, for a download its SHA-256.
    pub version: String,
    /// The hash of the package itself, from its registry.
    pub integrity: String,
    /// The versions and hashes of everything: package-lock.json, or requirements of Python with hashes; for a download the files
    /// that were unpacked.
    pub tree: String,
    /// The number of these packages.
    pub packages: u32,
    /// The name of its program, where that is known before it is installed.
    pub program: Option<String>,
    /// The Python or Node.js that it was resolved with, if not the usual one: another one would give other files.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub python: Option<LockedPython>,
    /// The number of its directory.
    pub place: u32,
    /// When it was installed, in milliseconds since 1970. None if it was agreed upon and is not installed yet.
    pub installed_at: Option<u64>,
}

/// The Python of an installation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LockedPython {
    /// Its path.
    pub path: String,
    /// Its version.
    pub version: String,
    /// The versions of Python that the package requires.
    pub requires: String,
}

impl From<Chosen> for LockedPython {
    fn from(Chosen { path, version, requires }: Chosen) -> Self {
        Self { path, version, requires }
    }
}

impl From<LockedPython> for Chosen {
    fn from(LockedPython { path, version, requires }: LockedPython) -> Self {
        Self { path, version, requires }
    }
}

impl Lock {
    /// True if both mean exactly the same files.
    #[must_use]
    pub fn is_same(&self, other: &Self) -> bool {
        let of = |lock: &Self| (lock.kind.clone(), lock.spec.clone(), lock.integrity.clone());
        of(self) == of(other) && self.tree == other.tree && self.python == other.python
    }

    /// True if it is a lock for this package.
    #[must_use]
    pub fn is_of(&self, package: &Package) -> bool {
        self.kind == package.ecosystem.as_str() && self.requested == package.spec
    }
}

/// The locks of a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Locked {
    /// The installation that is used.
    pub current: Rc<Lock>,
    /// The installation that was used before the last upgrade.
    pub previous: Option<Rc<Lock>>,
}

impl Locked {
    /// The directories that are not to be removed.
    #[must_use]
    pub fn places(&self) -> Vec<u32> {
        std::iter::once(&self.current).chain(&self.previous).map(|lock| lock.place).collect()
    }
}

/// The table.
#[derive(Debug)]
pub struct Locks {
    database: Rc<Database>,
    journal: Journal,
    files: LockFiles,
    known: RefCell<BTreeMap<ServerId, Locked>>,
    /// The locks that cannot be read, and why.
    lost: RefCell<BTreeMap<ServerId, String>>,
}

impl Locks {
    /// The table of this database, with its files in this directory. They are made when there are none.
    ///
    /// # Errors
    /// When the database refuses.
    pub async fn open(database: Rc<Database>, journal: Journal, dir: &Path) -> Result<Self, StoreError> {
        database.create(TABLES).await?;
        let files = LockFiles::at(dir);
        let reader = files.clone();
        let read = database.run(move |connection| {
            let rows = lock_rows(connection)?;
            Ok(rows.into_iter().map(|row| (row.server_id.clone(), read(&reader, &row))).collect::<Vec<_>>())
        });
        let (mut known, mut lost) = (BTreeMap::new(), BTreeMap::new());
        for (id, read) in read.await? {
            let Some(id) = ServerId::parse(&id) else { continue };
            match read {
                Ok((current, previous)) => {
                    let (current, previous) = (Rc::new(current), previous.map(Rc::new));
                    known.insert(id, Locked { current, previous });
                }
                Err(why) => {
                    tracing::error!(server = %id, why, "which version of its package it had is lost");
                    lost.insert(id, why);
                }
            }
        }
        Ok(Self { database, journal, files, known: known.into(), lost: lost.into() })
    }

    /// The locks of a server.
    #[must_use]
    pub fn get(&self, id: &ServerId) -> Option<Locked> {
        self.known.borrow().get(id).cloned()
    }

    /// The servers with one, whether it can be read or not.
    #[must_use]
    pub fn ids(&self) -> Vec<ServerId> {
        self.known.borrow().keys().chain(self.lost.borrow().keys()).cloned().collect()
    }

    /// The locks of a server, if they are for this package.
    #[must_use]
    pub fn of(&self, id: &ServerId, package: &Package) -> Option<Locked> {
        self.get(id).filter(|locked| locked.current.is_of(package))
    }

    /// The reason why an existing lock cannot be read. The server's version is then unknown, and the person
    /// must choose one.
    #[must_use]
    pub fn lost(&self, id: &ServerId) -> Option<String> {
        self.lost.borrow().get(id).cloned()
    }

    /// Makes this the lock that is used from now on.
    ///
    /// # Errors
    /// When the disk refuses: then it is as before.
    pub async fn put(&self, id: &ServerId, locked: Locked) -> Result<(), StoreError> {
        let text = |lock: &Lock| {
            serde_json::to_vec(lock)
                .map_err(|error| StoreError::File { what: "write a lock".into(), source: error.into() })
        };
        let current = text(&locked.current)?;
        let previous = locked.previous.as_deref().map(text).transpose()?;
        let (name, files) = (id.to_string(), self.files.clone());
        self.change(move |journal, connection| {
            let current = files.put(&current)?;
            let previous = previous.map(|previous| files.put(&previous)).transpose()?;
            journal.change(connection, |connection| {
                let sql = "INSERT INTO locks VALUES (?1, ?2, ?3)
                       ON CONFLICT (server_id) DO UPDATE SET current = ?2, previous = ?3";
                connection.execute(sql, params![name, current, previous]).map(drop)
            })
        })
        .await?;
        self.lost.borrow_mut().remove(id);
        self.known.borrow_mut().insert(id.clone(), locked);
        Ok(())
    }

    /// Nothing of this server is installed any more.
    ///
    /// # Errors
    /// When the disk refuses.
    pub async fn remove(&self, id: &ServerId) -> Result<(), StoreError> {
        let known = self.known.borrow_mut().remove(id).is_some();
        let lost = self.lost.borrow_mut().remove(id).is_some();
        if !known && !lost {
            return Ok(());
        }
        let name = id.to_string();
        self.change(move |journal, connection| {
            journal.change(connection, |connection| {
                connection.execute("DELETE FROM locks WHERE server_id = ?1", params![name]).map(drop)
            })
        })
        .await
    }

    /// Changes the table, and removes the files that it does not name any more.
    async fn change(
        &self,
        change: impl FnOnce(&Journal, &mut Connection) -> Result<(), StoreError> + Send + 'static,
    ) -> Result<(), StoreError> {
        let (journal, files) = (self.journal.clone(), self.files.clone());
        let changed = self.database.run(move |connection| {
            change(&journal, connection)?;
            checkpoint(connection);
            let rows = lock_rows(connection)?;
            let names: Vec<_> =
                rows.into_iter().flat_map(|row| row.previous.into_iter().chain([row.current])).collect();
            files.keep_only(&names);
            Ok(())
        });
        changed.await?;
        self.database.journal_is_written();
        Ok(())
    }
}

/// Reads the locks that a row names: the lock in use, or why it cannot be read; and the previous lock, if that can be read.
pub(super) fn read(files: &LockFiles, row: &LockRow) -> Result<(Lock, Option<Lock>), String> {
    let lock = |name: &str| {
        serde_json::from_slice(&files.get(name)?)
            .map_err(|error| format!("locks/{name} comes from another Harbor: {error}"))
    };
    let previous = row.previous.as_deref().and_then(|name| lock(name).ok());
    Ok((lock(&row.current)?, previous))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use harbor_home::Paths;
    use proptest::prelude::*;

    use super::super::recovery;
    use super::*;

    fn lock(version: &str, place: u32) -> Rc<Lock> {
        Rc::new(Lock {
            kind: "npm".into(),
            requested: "a".into(),
            spec: format!("a@{version}"),
            version: version.into(),
            integrity: "sha512-x".into(),
            tree: "{}".into(),
            packages: 1,
            program: Some("a".into()),
            python: None,
            place,
            installed_at: Some(7),
        })
    }

    async fn open(home: &tempfile::TempDir) -> Locks {
        let paths = Paths::at(home.path());
        let opened = recovery::open(&paths).unwrap();
        Locks::open(opened.database, opened.journal, &paths.locks()).await.unwrap()
    }

    fn files(home: &tempfile::TempDir) -> usize {
        Paths::at(home.path()).locks().read_dir().map_or(0, Iterator::count)
    }

    fn id() -> ServerId {
        ServerId::parse("s").unwrap()
    }

    #[tokio::test(flavor = "local")]
    async fn what_is_used_survives_and_holds_for_its_package_only() {
        let home = tempfile::tempdir().unwrap();
        let locked = Locked { current: lock("2", 2), previous: Some(lock("1", 1)) };
        {
            let locks = open(&home).await;
            locks.put(&id(), Locked { current: lock("0", 1), previous: None }).await.unwrap();
            locks.put(&id(), Locked { current: lock("1", 1), previous: None }).await.unwrap();
            locks.put(&id(), locked.clone()).await.unwrap();
        }
        assert_eq!(files(&home), 2);
        let locks = open(&home).await;
        assert_eq!(locks.get(&id()), Some(locked.clone()));
        assert_eq!(locked.places(), [2, 1]);
        let of = |command: &str| harbor_policy::package::recognise(command, &[]).unwrap();
        assert_eq!(locks.of(&id(), &of("npm:a")), Some(locked));
        assert_eq!(locks.of(&id(), &of("npm:a@2")), None);
        assert_eq!(locks.of(&id(), &of("pypi:a")), None);
        locks.remove(&id()).await.unwrap();
        assert_eq!((open(&home).await.get(&id()), files(&home)), (None, 0));
    }

    #[tokio::test(flavor = "local")]
    async fn a_lock_outlives_the_database_and_one_that_cannot_be_read_is_not_none() {
        let home = tempfile::tempdir().unwrap();
        let paths = Paths::at(home.path());
        let locked = Locked { current: lock("2", 2), previous: Some(lock("1", 1)) };
        open(&home).await.put(&id(), locked.clone()).await.unwrap();
        fs::write(paths.database(), [7; 5000]).unwrap();
        let locks = open(&home).await;
        assert_eq!((locks.get(&id()), locks.lost(&id())), (Some(locked), None));
        drop(locks);

        for entry in paths.locks().read_dir().unwrap() {
            fs::write(entry.unwrap().path(), "{}").unwrap();
        }
        let locks = open(&home).await;
        assert_eq!(locks.get(&id()), None);
        assert!(locks.lost(&id()).unwrap().contains("is not what Harbor stored"));
        let anew = Locked { current: lock("3", 3), previous: None };
        locks.put(&id(), anew.clone()).await.unwrap();
        assert_eq!((locks.get(&id()), locks.lost(&id())), (Some(anew), None));
    }

    #[tokio::test(flavor = "local")]
    async fn a_change_that_the_disk_refuses_leaves_what_was_used() {
        let home = tempfile::tempdir().unwrap();
        let paths = Paths::at(home.path());
        let locks = open(&home).await;
        let before = Locked { current: lock("1", 1), previous: None };
        locks.put(&id(), before.clone()).await.unwrap();
        fs::remove_file(paths.journal()).unwrap();
        fs::create_dir_all(paths.journal().join("in the way")).unwrap();
        let after = Locked { current: lock("2", 2), previous: Some(lock("1", 1)) };
        assert!(locks.put(&id(), after).await.is_err());
        assert_eq!(locks.get(&id()), Some(before.clone()));
        fs::remove_dir_all(paths.journal()).unwrap();
        drop(locks);
        assert_eq!(open(&home).await.get(&id()), Some(before));
    }

    /// A change: of which server, and whether it is installed, upgraded, or goes.
    type Change = (u8, u8);

    async fn make(locks: &Locks, (server, what): Change, number: u32) {
        let id = ServerId::parse(&format!("s{server}")).unwrap();
        let current = lock(&number.to_string(), number);
        let previous = locks.get(&id).map(|locked| locked.current).filter(|_| what == 1);
        match what {
            2 => locks.remove(&id).await.unwrap(),
            _ => locks.put(&id, Locked { current, previous }).await.unwrap(),
        }
    }

    async fn after(changes: Vec<Change>) {
        let home = tempfile::tempdir().unwrap();
        let paths = Paths::at(home.path());
        let known = {
            let locks = open(&home).await;
            for (number, change) in (1..).zip(changes) {
                make(&locks, change, number).await;
                // Each file that the journal names is there, and no other.
                let rows = Journal::at(&paths.journal()).read().unwrap().unwrap().locks;
                assert!(rows.iter().all(|row| read(&locks.files, row).is_ok()), "{rows:?}");
                let named = rows.iter().map(|row| 1 + usize::from(row.previous.is_some())).sum::<usize>();
                assert_eq!(files(&home), named, "{rows:?}");
            }
            locks.known.borrow().clone()
        };
        for lost in [false, true] {
            if lost {
                fs::write(paths.database(), [7; 5000]).unwrap();
            }
            let locks = open(&home).await;
            assert_eq!((&*locks.known.borrow(), locks.lost.borrow().len()), (&known, 0), "lost: {lost}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(12))]

        #[test]
        fn whatever_was_changed_is_the_same_after_a_loss(
            changes in proptest::collection::vec((0..3_u8, 0..3_u8), 0..8)
        ) {
            let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
            tokio::task::LocalSet::new().block_on(&runtime, after(changes));
        }
    }
}
