//! Which version of its package a server has: the lock, and the one before.
//!
//! ```text
//!  locks(server_id PK, current JSON, previous JSON or NULL)
//!  servers/NAME/package/1/, 2/ …     each installation has a directory of its own; the row says which is used
//! ```
//!
//! Owns this table. What is used changes by one transaction: whenever a process ends, the old one or the new one is in use,
//! and whole. Must never hold anything of the person's: only names, versions and hashes.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use harbor_ipc_proto::server_id::ServerId;
use harbor_policy::package::Package;
use rusqlite::params;
use serde::{Deserialize, Serialize};

use super::StoreError;
use super::database::Database;
use super::journal::column;

const TABLES: &str = "
    CREATE TABLE IF NOT EXISTS locks (
        server_id TEXT PRIMARY KEY,
        current   TEXT NOT NULL,
        previous  TEXT
    ) STRICT;
";

/// An installation, and what makes it the same again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lock {
    /// `npm`, `pypi` or `git`.
    pub kind: String,
    /// What the definition wants: it holds for no other.
    pub requested: String,
    /// The same in exactly this version, as the installer is given it.
    pub spec: String,
    /// The version; of git the commit.
    pub version: String,
    /// The hash of the package itself, as its registry gives it.
    pub integrity: String,
    /// The versions and hashes of everything: package-lock.json, or requirements of Python with hashes.
    pub tree: String,
    /// How many packages that are.
    pub packages: u32,
    /// The number of its directory.
    pub place: u32,
    /// When, in milliseconds since 1970.
    pub installed_at: u64,
}

impl Lock {
    /// Whether it is one of what a definition wants.
    #[must_use]
    pub fn is_of(&self, package: &Package) -> bool {
        self.kind == package.ecosystem.as_str() && self.requested == package.spec
    }
}

/// What is locked of a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Locked {
    /// What is used.
    pub current: Rc<Lock>,
    /// What was used before the last upgrade.
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
    known: RefCell<BTreeMap<ServerId, Locked>>,
}

impl Locks {
    /// The table of this database, which is made when there is none.
    ///
    /// # Errors
    /// When the database refuses.
    pub async fn open(database: Rc<Database>) -> Result<Self, StoreError> {
        database.create(TABLES).await?;
        let rows: Vec<(String, String, Option<String>)> = database
            .run(|connection| {
                let mut rows = connection.prepare("SELECT server_id, current, previous FROM locks")?;
                let rows = rows.query_map([], |row| {
                    let previous: Option<String> = row.get(2)?;
                    Ok((column(row, 0)?, column(row, 1)?, previous))
                })?;
                Ok(rows.collect::<Result<_, _>>()?)
            })
            .await?;
        // One that cannot be read is none: the package is installed anew.
        let read = |text: &str| serde_json::from_str(text).ok().map(Rc::new);
        let known = rows.iter().filter_map(|(id, current, previous)| {
            let locked = Locked { current: read(current)?, previous: previous.as_deref().and_then(read) };
            Some((ServerId::parse(id)?, locked))
        });
        Ok(Self { database, known: RefCell::new(known.collect()) })
    }

    /// What is locked of a server.
    #[must_use]
    pub fn get(&self, id: &ServerId) -> Option<Locked> {
        self.known.borrow().get(id).cloned()
    }

    /// The same, if it is of this package.
    #[must_use]
    pub fn of(&self, id: &ServerId, package: &Package) -> Option<Locked> {
        self.get(id).filter(|locked| locked.current.is_of(package))
    }

    /// From now on this is used.
    ///
    /// # Errors
    /// When the database refuses: then it is as before.
    pub async fn put(&self, id: &ServerId, locked: Locked) -> Result<(), StoreError> {
        let text = |lock: &Lock| {
            serde_json::to_string(lock)
                .map_err(|error| StoreError::File { what: "write a lock".into(), source: error.into() })
        };
        let current = text(&locked.current)?;
        let previous = locked.previous.as_deref().map(text).transpose()?;
        let name = id.to_string();
        self.database
            .run(move |connection| {
                let sql = "INSERT INTO locks VALUES (?1, ?2, ?3)
                       ON CONFLICT (server_id) DO UPDATE SET current = ?2, previous = ?3";
                connection.execute(sql, params![name, current, previous])?;
                Ok(())
            })
            .await?;
        self.known.borrow_mut().insert(id.clone(), locked);
        Ok(())
    }

    /// Nothing of this server is installed any more.
    ///
    /// # Errors
    /// When the database refuses.
    pub async fn remove(&self, id: &ServerId) -> Result<(), StoreError> {
        self.known.borrow_mut().remove(id);
        let name = id.to_string();
        self.database
            .run(move |connection| {
                connection.execute("DELETE FROM locks WHERE server_id = ?1", params![name])?;
                Ok(())
            })
            .await
    }
}

#[cfg(test)]
mod tests {
    use super::super::recovery;
    use super::*;
    use crate::config::Paths;

    #[tokio::test(flavor = "local")]
    async fn what_is_used_survives_and_holds_for_its_package_only() {
        let home = tempfile::tempdir().unwrap();
        let open = async || {
            let opened = recovery::open(&Paths::at(home.path())).unwrap();
            Locks::open(opened.database).await.unwrap()
        };
        let lock = |version: &str, place| {
            Rc::new(Lock {
                kind: "npm".into(),
                requested: "a".into(),
                spec: format!("a@{version}"),
                version: version.into(),
                integrity: "sha512-x".into(),
                tree: "{}".into(),
                packages: 1,
                place,
                installed_at: 7,
            })
        };
        let id = ServerId::parse("s").unwrap();
        let locked = Locked { current: lock("2", 2), previous: Some(lock("1", 1)) };
        {
            let locks = open().await;
            locks.put(&id, Locked { current: lock("1", 1), previous: None }).await.unwrap();
            locks.put(&id, locked.clone()).await.unwrap();
        }
        let locks = open().await;
        assert_eq!(locks.get(&id), Some(locked.clone()));
        assert_eq!(locked.places(), [2, 1]);
        let of = |command: &str| harbor_policy::package::recognise(command, &[]).unwrap();
        assert_eq!(locks.of(&id, &of("npm:a")), Some(locked));
        assert_eq!(locks.of(&id, &of("npm:a@2")), None);
        assert_eq!(locks.of(&id, &of("pypi:a")), None);
        locks.remove(&id).await.unwrap();
        assert_eq!(open().await.get(&id), None);
    }
}
