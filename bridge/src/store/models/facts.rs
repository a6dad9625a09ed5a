//! Facts about single models that the person has stated, and that refusals have taught.
//!
//! ```text
//!  model_facts(provider, model ─ PK, stated or NULL, learned or NULL, refused)     windows in tokens; words, separated by spaces
//! ```
//!
//! Owns this table. A database without it knows nothing yet, so no version knows it. Must never hold a word of a conversation.

use rusqlite::params;

use super::{ModelTables, StoreError};

/// The facts about one model.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StoredFacts {
    /// The window that the person has stated, in tokens.
    pub stated: Option<u32>,
    /// The window that a refusal has taught, in tokens.
    pub learned: Option<u32>,
    /// The settings that it refuses, by name.
    pub refused: Vec<String>,
}

impl ModelTables {
    /// The facts about all models, by provider and model.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub async fn facts(&self) -> Result<Vec<((String, String), StoredFacts)>, StoreError> {
        let all = self.0.run(|connection| {
            let mut rows =
                connection.prepare("SELECT provider, model, stated, learned, refused FROM model_facts")?;
            let rows = rows.query_map([], |row| {
                let number = |at: usize| Ok::<_, rusqlite::Error>(tokens(row.get(at)?));
                let words: String = row.get(4)?;
                let refused = words.split_whitespace().map(str::to_owned).collect();
                let facts = StoredFacts { stated: number(2)?, learned: number(3)?, refused };
                Ok(((row.get(0)?, row.get(1)?), facts))
            })?;
            Ok(rows.collect::<Result<Vec<_>, _>>()?)
        });
        all.await
    }

    /// Stores the facts about one model in place of earlier ones.
    ///
    /// # Errors
    /// When the database refuses.
    pub async fn put_facts(
        &self,
        provider: &str,
        model: &str,
        facts: &StoredFacts,
    ) -> Result<(), StoreError> {
        let (provider, model, facts) = (provider.to_owned(), model.to_owned(), facts.clone());
        let put = self.0.run(move |connection| {
            let StoredFacts { stated, learned, refused } = facts;
            let values = params![provider, model, stated, learned, refused.join(" ")];
            connection.execute("INSERT OR REPLACE INTO model_facts VALUES (?1, ?2, ?3, ?4, ?5)", values)?;
            Ok(())
        });
        put.await
    }
}

/// A number of tokens, whatever stands in the column.
fn tokens(stored: Option<i64>) -> Option<u32> {
    stored.and_then(|stored| u32::try_from(stored).ok()).filter(|tokens| *tokens > 0)
}

#[cfg(test)]
mod tests {
    use super::super::tests::open;
    use super::*;

    #[tokio::test(flavor = "local")]
    async fn facts_are_kept_by_model_and_go_with_their_provider() {
        let (_home, models) = open().await;
        let learned = StoredFacts { learned: Some(8192), ..StoredFacts::default() };
        models.put_facts("a", "m", &learned).await.unwrap();
        let both = StoredFacts {
            stated: Some(9000),
            refused: vec!["temperature".into(), "top_p".into()],
            ..learned.clone()
        };
        models.put_facts("a", "m", &both).await.unwrap();
        models.put_facts("b", "m", &learned).await.unwrap();
        let of = |provider: &str| (provider.to_owned(), "m".to_owned());
        assert_eq!(models.facts().await.unwrap(), [(of("a"), both), (of("b"), learned.clone())]);
        models.remove("a").await.unwrap();
        assert_eq!(models.facts().await.unwrap(), [(of("b"), learned)]);
    }
}
