//! The person's own names of models, and which model they want for which use.
//!
//! ```text
//!  model_names(name PK, provider, model)     model_uses(use PK, provider, model)
//! ```
//!
//! Owns these tables. A database without them has no names, so no version knows them.

use std::collections::BTreeMap;

use rusqlite::params;

use super::{ModelTables, StoreError};

/// The kinds of names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NameKind {
    /// A name of the person's.
    Own,
    /// A use.
    Use,
}

impl NameKind {
    fn column(self) -> (&'static str, &'static str) {
        match self {
            Self::Own => ("model_names", "name"),
            Self::Use => ("model_uses", "use"),
        }
    }
}

/// Models by name: a provider's id, and the model's name there.
pub type NamedModels = BTreeMap<String, (String, String)>;

impl ModelTables {
    /// All names of a kind.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub async fn names(&self, kind: NameKind) -> Result<NamedModels, StoreError> {
        let (table, column) = kind.column();
        let all = self.0.run(move |connection| {
            let mut rows = connection.prepare(&format!("SELECT {column}, provider, model FROM {table}"))?;
            let rows = rows.query_map([], |row| Ok((row.get(0)?, (row.get(1)?, row.get(2)?))))?;
            Ok(rows.collect::<Result<_, _>>()?)
        });
        all.await
    }

    /// Gives a model a name, or takes the name away.
    ///
    /// # Errors
    /// When the database refuses.
    pub async fn set_name(
        &self,
        kind: NameKind,
        name: &str,
        model: Option<&(String, String)>,
    ) -> Result<(), StoreError> {
        let (table, column) = kind.column();
        let (name, model) = (name.to_owned(), model.cloned());
        let set = self.0.run(move |connection| {
            match model {
                Some((provider, model)) => {
                    let sql = format!("INSERT OR REPLACE INTO {table} VALUES (?1, ?2, ?3)");
                    connection.execute(&sql, params![name, provider, model])?
                }
                None => connection.execute(&format!("DELETE FROM {table} WHERE {column} = ?1"), [name])?,
            };
            Ok(())
        });
        set.await
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::open;
    use super::*;

    #[tokio::test(flavor = "local")]
    async fn names_are_replaced_and_go_with_their_provider() {
        let (_home, models) = open().await;
        let model = |provider: &str| (provider.to_owned(), "m".to_owned());
        for provider in ["a", "b"] {
            models.set_name(NameKind::Own, "fast", Some(&model(provider))).await.unwrap();
            models.set_name(NameKind::Use, "vision", Some(&model(provider))).await.unwrap();
        }
        models.set_name(NameKind::Own, "other", Some(&model("c"))).await.unwrap();
        let names = models.names(NameKind::Own).await.unwrap();
        assert_eq!((names.len(), &names["fast"]), (2, &model("b")));
        models.remove("b").await.unwrap();
        assert_eq!(models.names(NameKind::Use).await.unwrap().len(), 0);
        models.set_name(NameKind::Own, "other", None).await.unwrap();
        assert_eq!(models.names(NameKind::Own).await.unwrap().len(), 0);
    }
}
