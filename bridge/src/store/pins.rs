//! The tools as the person accepted them: their hashes, and what was shown.
//!
//! ```text
//!  pins(server_id, tool, hash BLOB of 32 bytes, shown, hidden, listed, pinned_at, sum)
//!       └───── PK ────┘
//!  changed_tools(server_id, tool, hash, shown, hidden, sum): those that were listed last as others than their pins
//! ```
//!
//! Owns these tables; a change is one transaction, on disk before it is confirmed, and in the database itself. So a tool that a
//! person accepted no longer does not come back with the end of a write-ahead log. Must never judge a tool: whether it is still
//! the one that was accepted is decided by those who ask.

use std::rc::Rc;

use harbor_ipc_proto::source_id::SourceId;
use rusqlite::params;

use super::StoreError;
use super::database::{Database, checkpoint};

pub(super) const TABLES: &str = "
    CREATE TABLE IF NOT EXISTS pins (
        server_id TEXT NOT NULL,
        tool      TEXT NOT NULL,
        hash      BLOB NOT NULL,
        shown     TEXT NOT NULL,
        hidden    INTEGER NOT NULL,
        listed    INTEGER NOT NULL,
        pinned_at INTEGER NOT NULL DEFAULT (unixepoch()),
        sum       BLOB,
        PRIMARY KEY (server_id, tool)
    ) STRICT;
    CREATE TABLE IF NOT EXISTS changed_tools (
        server_id TEXT NOT NULL,
        tool      TEXT NOT NULL,
        hash      BLOB NOT NULL,
        shown     TEXT NOT NULL,
        hidden    INTEGER NOT NULL,
        sum       BLOB,
        PRIMARY KEY (server_id, tool)
    ) STRICT;
";

/// A tool that was accepted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pin {
    /// Its name on its server.
    pub tool: String,
    /// Its hash.
    pub hash: [u8; 32],
    /// The text that the person saw of it.
    pub shown: String,
    /// True if that has hidden characters.
    pub hidden: bool,
    /// True if its server listed it like this the last time.
    pub listed: bool,
}

/// The table.
#[derive(Debug)]
pub struct Pins {
    database: Rc<Database>,
}

impl Pins {
    /// The table of this database, which is made if it does not exist.
    ///
    /// # Errors
    /// When the database refuses.
    pub async fn new(database: Rc<Database>) -> Result<Self, StoreError> {
        database.create(TABLES).await?;
        Ok(Self { database })
    }

    /// All pins, by server and tool. An unreadable pin is left out and reported, and its tool counts as not
    /// accepted.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub async fn all(&self) -> Result<Vec<(SourceId, Pin)>, StoreError> {
        self.rows("SELECT server_id, tool, hash, shown, hidden, listed FROM pins ORDER BY server_id, tool")
            .await
    }

    /// All tools whose last listing differs from their pins, as they were listed.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub async fn changed(&self) -> Result<Vec<(SourceId, Pin)>, StoreError> {
        self.rows(
            "SELECT server_id, tool, hash, shown, hidden, 1 FROM changed_tools ORDER BY server_id, tool",
        )
        .await
    }

    async fn rows(&self, query: &'static str) -> Result<Vec<(SourceId, Pin)>, StoreError> {
        self.database
            .run(move |connection| {
                let mut rows = connection.prepare(query)?;
                let mut rows = rows.query([])?;
                let mut all = Vec::new();
                while let Some(row) = rows.next()? {
                    let id: String = row.get(0).unwrap_or_default();
                    let pin = || {
                        let (tool, hash, shown) = (row.get(1)?, row.get(2)?, row.get(3)?);
                        Ok(Pin { tool, hash, shown, hidden: row.get(4)?, listed: row.get(5)? })
                    };
                    match (SourceId::parse(&id), pin()) {
                        (Some(server_id), Ok(pin)) => all.push((server_id, pin)),
                        (_, pin) => {
                            let error: Option<rusqlite::Error> = pin.err();
                            tracing::warn!(
                                server_id = id,
                                ?error,
                                "harbor.db: the description of a tool cannot be read; the tool is shown as new"
                            );
                        }
                    }
                }
                Ok(all)
            })
            .await
    }

    /// Stores pins of one server, in the place of those of the same tools; all or none.
    ///
    /// # Errors
    /// When the database refuses.
    pub async fn put_many(&self, id: &SourceId, pins: Vec<Pin>) -> Result<(), StoreError> {
        let id = id.to_string();
        self.database
            .run(move |connection| {
                let transaction = connection.transaction()?;
                let mut put = transaction.prepare(
                    "INSERT OR REPLACE INTO pins (server_id, tool, hash, shown, hidden, listed, sum)
                     VALUES (?1, ?2, ?3, ?4, ?5, ?6, row_sum(?1, ?2, ?3, ?4, ?5))",
                )?;
                let mut settle =
                    transaction.prepare("DELETE FROM changed_tools WHERE server_id = ?1 AND tool = ?2")?;
                for pin in pins {
                    settle.execute(params![id, pin.tool])?;
                    put.execute(params![id, pin.tool, pin.hash, pin.shown, pin.hidden, pin.listed])?;
                }
                drop((put, settle));
                transaction.commit()?;
                checkpoint(connection);
                Ok(())
            })
            .await
    }

    /// Notes which tools of a server were listed the last time, and all that were listed as others than their pins. The latter
    /// only where they are others than before.
    ///
    /// # Errors
    /// When the database refuses.
    pub async fn set_listed(
        &self,
        id: &SourceId,
        flags: Vec<(String, bool)>,
        changed: Option<Vec<Pin>>,
    ) -> Result<(), StoreError> {
        let id = id.to_string();
        self.database
            .run(move |connection| {
                let transaction = connection.transaction()?;
                let mut set =
                    transaction.prepare("UPDATE pins SET listed = ?3 WHERE server_id = ?1 AND tool = ?2")?;
                for (tool, listed) in flags {
                    set.execute(params![id, tool, listed])?;
                }
                drop(set);
                if let Some(changed) = changed {
                    transaction.execute("DELETE FROM changed_tools WHERE server_id = ?1", params![id])?;
                    let mut put = transaction.prepare(
                        "INSERT INTO changed_tools VALUES (?1, ?2, ?3, ?4, ?5, row_sum(?1, ?2, ?3, ?4, ?5))",
                    )?;
                    for pin in changed {
                        put.execute(params![id, pin.tool, pin.hash, pin.shown, pin.hidden])?;
                    }
                }
                Ok(transaction.commit()?)
            })
            .await
    }

    /// Removes the pins of a server.
    ///
    /// # Errors
    /// When the database refuses.
    pub async fn remove_server(&self, id: &SourceId) -> Result<(), StoreError> {
        let id = id.to_string();
        self.database
            .run(move |connection| {
                let transaction = connection.transaction()?;
                transaction.execute("DELETE FROM pins WHERE server_id = ?1", params![id])?;
                transaction.execute("DELETE FROM changed_tools WHERE server_id = ?1", params![id])?;
                transaction.commit()?;
                checkpoint(connection);
                Ok(())
            })
            .await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(text: &str) -> SourceId {
        SourceId::parse(text).unwrap()
    }

    fn pin(tool: &str, hash: u8) -> Pin {
        let shown = format!("{tool} does {hash}");
        Pin { tool: tool.into(), hash: [hash; 32], shown, hidden: hash == 2, listed: hash == 1 }
    }

    #[tokio::test(flavor = "local")]
    async fn pins_survive_and_are_replaced_and_removed_with_their_server() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("harbor.db");
        {
            let pins = Pins::new(Rc::new(Database::open(&path).unwrap())).await.unwrap();
            pins.put_many(&id("b"), vec![pin("x", 1), pin("a", 2)]).await.unwrap();
            pins.put_many(&id("b"), vec![pin("x", 3), pin("é/\0", 4)]).await.unwrap();
            pins.put_many(&id("a"), vec![pin("x", 5)]).await.unwrap();
            pins.put_many(&id("a"), Vec::new()).await.unwrap();
        }
        let pins = Pins::new(Rc::new(Database::open(&path).unwrap())).await.unwrap();
        let of_b = [pin("a", 2), pin("x", 3), pin("é/\0", 4)].map(|pin| (id("b"), pin));
        let all = [&[(id("a"), pin("x", 5))], &of_b[..]].concat();
        assert_eq!(pins.all().await.unwrap(), all);
        pins.remove_server(&id("a")).await.unwrap();
        assert_eq!(pins.all().await.unwrap(), of_b);

        let changed = Pin { listed: true, ..pin("x", 9) };
        pins.set_listed(&id("b"), vec![("x".into(), false)], Some(vec![changed.clone()])).await.unwrap();
        pins.set_listed(&id("b"), Vec::new(), None).await.unwrap();
        assert_eq!(pins.changed().await.unwrap(), [(id("b"), changed.clone())]);
        pins.put_many(&id("b"), vec![changed]).await.unwrap();
        assert_eq!(pins.changed().await.unwrap(), [], "it was accepted");
    }

    #[tokio::test(flavor = "local")]
    async fn pins_that_were_replaced_or_removed_are_in_no_log_any_more() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("harbor.db");
        let pins = Pins::new(Rc::new(Database::open(&path).unwrap())).await.unwrap();
        let log = || path.with_extension("db-wal").metadata().unwrap().len();
        pins.put_many(&id("a"), vec![pin("x", 1)]).await.unwrap();
        pins.put_many(&id("a"), vec![pin("x", 2)]).await.unwrap();
        assert_eq!(log(), 0, "replaced");
        pins.remove_server(&id("a")).await.unwrap();
        assert_eq!(log(), 0, "removed");
    }

    #[tokio::test(flavor = "local")]
    async fn a_pin_that_cannot_be_read_is_left_out() {
        let home = tempfile::tempdir().unwrap();
        let database = Rc::new(Database::open(&home.path().join("harbor.db")).unwrap());
        let pins = Pins::new(database.clone()).await.unwrap();
        pins.put_many(&id("a"), vec![pin("x", 1)]).await.unwrap();
        let rows = "
            INSERT INTO pins VALUES ('a', 'short', X'00', '', 0, 1, 0, NULL);
            INSERT INTO pins VALUES ('a', 'long', zeroblob(33), '', 0, 1, 0, NULL);
            INSERT INTO pins VALUES ('a', CAST(X'ff' AS TEXT), zeroblob(32), '', 0, 1, 0, NULL);
            INSERT INTO pins VALUES ('../a', 'x', zeroblob(32), '', 0, 1, 0, NULL);
        ";
        database.create(rows).await.unwrap();
        assert_eq!(pins.all().await.unwrap(), [(id("a"), pin("x", 1))]);
    }

    #[tokio::test(flavor = "local")]
    async fn pins_are_stored_together_or_not_at_all() {
        let home = tempfile::tempdir().unwrap();
        let database = Rc::new(Database::open(&home.path().join("harbor.db")).unwrap());
        let pins = Pins::new(database.clone()).await.unwrap();
        let refuse = "
            CREATE TRIGGER refuse BEFORE INSERT ON pins WHEN new.tool = 'z'
            BEGIN SELECT RAISE(ABORT, 'no'); END;
        ";
        database.create(refuse).await.unwrap();
        assert!(pins.put_many(&id("a"), vec![pin("x", 1), pin("z", 2)]).await.is_err());
        assert_eq!(pins.all().await.unwrap(), []);
        pins.put_many(&id("a"), vec![pin("x", 1)]).await.unwrap();
        assert_eq!(pins.all().await.unwrap(), [(id("a"), pin("x", 1))]);
    }
}
