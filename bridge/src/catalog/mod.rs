//! The catalog of servers that can be installed: read here, written by its worker.
//!
//! ```text
//!  router ─┬─ list, search, details ─► Reader ─► catalog.db (read-only) ◄─ harbor-catalog-worker
//!          └─ refresh, enrich, status ─► Keeper ───────────────────────────────▲ started when needed
//! ```
//!
//! Owns the reader and the keeper. Its texts are other people's. Must never write catalog.db, nor connect to anything:
//! the worker does that.

mod errors;
mod keeper;
mod open_work;
mod query;
mod reader;
mod schedule;
#[cfg(test)]
mod test_catalog;
pub mod words;

use std::io;
use std::path::Path;
use std::rc::Rc;
use std::time::Duration;

use harbor_ipc_proto::client::{CatalogDetails, CatalogSource, CatalogStatus};
use rusqlite::Connection;

pub use self::errors::CatalogError;
pub use self::keeper::CatalogParts;
pub use self::keeper::waiting::{CatalogReport, ProgressListener};
pub use self::open_work::WorkKind;
pub use self::query::{Age, EntryPage, Filter, Summary};

use self::keeper::Keeper;
use self::reader::CatalogReader;
use self::words::Cursor;

/// The catalog.
#[derive(Debug)]
pub struct Catalog {
    reader: Rc<CatalogReader>,
    keeper: Rc<Keeper>,
}

impl Catalog {
    /// The catalog in this file, if there is one; no worker runs yet.
    ///
    /// # Errors
    /// When the system has no thread for it.
    pub fn new(parts: CatalogParts) -> io::Result<Rc<Self>> {
        let reader = Rc::new(CatalogReader::start(Path::new(&parts.database).to_owned())?);
        Ok(Rc::new(Self { keeper: Keeper::new(parts, reader.clone()), reader }))
    }

    /// Has `listener` called whenever its status has changed.
    pub fn listen(&self, listener: Rc<dyn Fn()>) {
        self.keeper.listen(listener);
    }

    /// Begins to keep it. The processes of an earlier bridge must have ended.
    pub async fn begin(&self) {
        self.keeper.begin().await;
    }

    /// `config.toml` was read again.
    pub fn follow_config(&self) {
        self.keeper.follow_config();
    }

    /// Ends its worker.
    pub async fn end(&self, limit: Duration) {
        self.keeper.end(limit).await;
    }

    /// The status of the catalog.
    #[must_use]
    pub fn status(&self) -> CatalogStatus {
        self.keeper.status()
    }

    /// Its sources.
    #[must_use]
    pub fn sources(&self) -> Vec<CatalogSource> {
        self.keeper.sources()
    }

    /// Has the worker do something, and waits for it.
    ///
    /// # Errors
    /// Why it was not done.
    pub async fn ask(
        &self,
        kind: WorkKind,
        note: Option<ProgressListener>,
    ) -> Result<CatalogReport, CatalogError> {
        self.keeper.ask(kind, note).await
    }

    /// A page of the list.
    ///
    /// # Errors
    /// Why it cannot be read.
    pub async fn list(
        &self,
        filter: Filter,
        cursor: Option<Cursor>,
        limit: usize,
    ) -> Result<(EntryPage, Age), CatalogError> {
        self.read(move |connection| {
            Ok((query::list(connection, &filter, cursor.as_ref(), limit)?, query::age(connection)?))
        })
        .await
    }

    /// A page of the entries that an expression of [`words`] finds.
    ///
    /// # Errors
    /// Why it cannot be read.
    pub async fn search(
        &self,
        expression: String,
        cursor: Option<Cursor>,
        limit: usize,
    ) -> Result<(EntryPage, Age), CatalogError> {
        self.read(move |connection| {
            Ok((query::search(connection, &expression, cursor.as_ref(), limit)?, query::age(connection)?))
        })
        .await
    }

    /// The details of the entry with this id, if there is one.
    ///
    /// # Errors
    /// Why it cannot be read.
    pub async fn details(&self, id: String) -> Result<Option<CatalogDetails>, CatalogError> {
        self.read(move |connection| query::details(connection, &id)).await
    }

    /// Some ids with the same beginning or end as this one, since one of them was probably meant.
    ///
    /// # Errors
    /// Why it cannot be read.
    pub async fn ids_near(&self, id: String) -> Result<Vec<String>, CatalogError> {
        self.read(move |connection| query::ids_near(connection, &id)).await
    }

    /// Reads the file. If it is missing or damaged, a worker makes it first.
    async fn read<T: Send + 'static>(
        &self,
        query: impl Fn(&Connection) -> rusqlite::Result<T> + Clone + Send + 'static,
    ) -> Result<T, CatalogError> {
        let read = match self.reader.run(query.clone()).await {
            Err(error) if error.is_healed_by_a_worker() => match self.keeper.make_readable().await {
                true => self.reader.run(query).await,
                // For a missing file, the best reason is why no worker
                // makes it.
                false if error == CatalogError::Missing => {
                    Err(self.keeper.available().err().unwrap_or(error))
                }
                false => Err(error),
            },
            read => read,
        };
        if read.is_err() {
            // The status must show it, too.
            self.keeper.look_now().await;
        }
        read
    }
}
