//! Providers of models, what they have used, and budgets.
//!
//! ```text
//!  model_providers(id PK, type, name, base_url, dialect, …, model or NULL, has_key, is_default, is_type_default)
//!  model_usage(provider, model, principal, day ─ PK, requests, tokens …, exactness)     day: since 1970, in UTC
//!  model_costs(provider, model, principal, day ─ PK, microdollars, unpriced)     without the table nothing had a price
//!  model_budgets(principal PK, tokens)
//!  model_other_users(provider PK)     those that may be another person's program; without the table none may, so no version knows it
//!  model_facts                        what was stated and learned of single models (`facts`)
//!  model_names, model_uses            the person's names of models, and the model for each use (`names`)
//! ```
//!
//! Owns these tables. Keys are not here: they are among the secrets, under `_llm`. One provider is the default at most, and one
//! of each type; both are kept by the transaction that says so.

use std::rc::Rc;

use harbor_policy::prices::Cost;
use rusqlite::{Connection, params};

use super::StoreError;
use super::database::Database;

mod facts;
mod names;
mod tables;

pub use self::facts::StoredFacts;
pub use self::names::{NameKind, NamedModels};

pub(super) const TABLES: &str = "
    CREATE TABLE IF NOT EXISTS model_providers (
        id              TEXT PRIMARY KEY,
        type            TEXT NOT NULL,
        name            TEXT NOT NULL,
        base_url        TEXT NOT NULL,
        dialect         TEXT NOT NULL,
        allow_private   INTEGER NOT NULL,
        enabled         INTEGER NOT NULL,
        model           TEXT,
        has_key         INTEGER NOT NULL,
        is_default      INTEGER NOT NULL,
        is_type_default INTEGER NOT NULL
    ) STRICT;
    CREATE TABLE IF NOT EXISTS model_usage (
        provider   TEXT NOT NULL,
        model      TEXT NOT NULL,
        principal  TEXT NOT NULL,
        day        INTEGER NOT NULL,
        requests   INTEGER NOT NULL,
        input      INTEGER NOT NULL,
        output     INTEGER NOT NULL,
        cached     INTEGER NOT NULL,
        reasoning  INTEGER NOT NULL,
        exactness  INTEGER NOT NULL,
        PRIMARY KEY (provider, model, principal, day)
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE IF NOT EXISTS model_costs (
        provider     TEXT NOT NULL,
        model        TEXT NOT NULL,
        principal    TEXT NOT NULL,
        day          INTEGER NOT NULL,
        microdollars INTEGER NOT NULL,
        unpriced     INTEGER NOT NULL,
        PRIMARY KEY (provider, model, principal, day)
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE IF NOT EXISTS model_budgets (
        principal TEXT PRIMARY KEY,
        tokens    INTEGER NOT NULL
    ) STRICT;
    CREATE TABLE IF NOT EXISTS model_other_users (provider TEXT PRIMARY KEY) STRICT;
";

/// A provider that the person has added.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Provider {
    /// Its id.
    pub id: String,
    /// Its type's name.
    pub kind: String,
    /// Its name for people.
    pub name: String,
    /// Where it is.
    pub base_url: String,
    /// How it is spoken to.
    pub dialect: String,
    /// True if it may be at a private address.
    pub allow_private: bool,
    /// True if it may be another person's program on this machine.
    pub allow_other_user: bool,
    /// True if it may be used.
    pub enabled: bool,
    /// The model that is used where none is named.
    pub model: Option<String>,
    /// True if there is a key for it.
    pub has_key: bool,
    /// True if it is the default.
    pub is_default: bool,
    /// True if it is the default of its type.
    pub is_type_default: bool,
}

/// How exact a number of tokens is; a larger value is less exact.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Exactness {
    /// The provider has counted.
    Exact,
    /// By the length of the text.
    Estimated,
    /// Nobody knows.
    Unknown,
}

impl Exactness {
    /// Its name for clients.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Exact => "exact",
            Self::Estimated => "estimated",
            Self::Unknown => "unknown",
        }
    }

    fn number(self) -> i64 {
        match self {
            Self::Exact => 0,
            Self::Estimated => 1,
            Self::Unknown => 2,
        }
    }

    fn of_number(number: i64) -> Self {
        match number {
            0 => Self::Exact,
            1 => Self::Estimated,
            _ => Self::Unknown,
        }
    }
}

/// The tokens that requests have used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TokenUsage {
    /// Tokens that were read.
    pub input: u64,
    /// Tokens that were written.
    pub output: u64,
    /// Tokens among those read that came from a cache.
    pub cached: u64,
    /// Tokens among those written that were thoughts.
    pub reasoning: u64,
    /// How exact that is.
    pub exactness: Exactness,
    /// What they cost.
    pub cost: Cost,
}

impl TokenUsage {
    /// The sum of both; as exact as the less exact one.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self {
            input: self.input.saturating_add(other.input),
            output: self.output.saturating_add(other.output),
            cached: self.cached.saturating_add(other.cached),
            reasoning: self.reasoning.saturating_add(other.reasoning),
            exactness: self.exactness.max(other.exactness),
            cost: self.cost.plus(other.cost),
        }
    }
}

/// Whose use it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UsageKey {
    /// The provider's id.
    pub provider: String,
    /// The model's name there.
    pub model: String,
    /// The principal that asked.
    pub principal: String,
    /// Days since 1970.
    pub day: u64,
}

/// A row of the usage: what it is grouped by, how many requests, and what they used.
pub type UsageRow = (UsageKey, u64, TokenUsage);

/// The tables.
#[derive(Debug)]
pub struct ModelTables(Rc<Database>);

impl ModelTables {
    /// The tables of this database, which are made when there are none.
    ///
    /// # Errors
    /// When the database refuses.
    pub async fn open(database: Rc<Database>) -> Result<Self, StoreError> {
        database.create(TABLES).await?;
        database.create(tables::FACTS).await?;
        database.create(tables::NAMES).await?;
        Ok(Self(database))
    }

    /// All providers, by id.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub async fn providers(&self) -> Result<Vec<Provider>, StoreError> {
        let all = self.0.run(|connection| {
            let sql = "SELECT id, type, name, base_url, dialect, allow_private, enabled, model, has_key, is_default,
                              is_type_default, id IN (SELECT provider FROM model_other_users)
                         FROM model_providers ORDER BY id";
            let mut rows = connection.prepare(sql)?;
            let rows = rows.query_map([], |row| {
                Ok(Provider {
                    id: row.get(0)?,
                    kind: row.get(1)?,
                    name: row.get(2)?,
                    base_url: row.get(3)?,
                    dialect: row.get(4)?,
                    allow_private: row.get(5)?,
                    enabled: row.get(6)?,
                    model: row.get(7)?,
                    has_key: row.get(8)?,
                    is_default: row.get(9)?,
                    is_type_default: row.get(10)?,
                    allow_other_user: row.get(11)?,
                })
            })?;
            Ok(rows.collect::<Result<Vec<_>, _>>()?)
        });
        all.await
    }

    /// Stores a provider. One that is a default takes that from any other.
    ///
    /// # Errors
    /// When the database refuses.
    pub async fn put(&self, provider: &Provider) -> Result<(), StoreError> {
        let provider = provider.clone();
        let put = self.0.run(move |connection| {
            let transaction = connection.transaction()?;
            put(&transaction, &provider)?;
            Ok(transaction.commit()?)
        });
        put.await
    }

    /// Forgets a provider.
    ///
    /// # Errors
    /// When the database refuses.
    pub async fn remove(&self, id: &str) -> Result<(), StoreError> {
        let id = id.to_owned();
        let removed = self.0.run(move |connection| {
            let transaction = connection.transaction()?;
            transaction.execute("DELETE FROM model_providers WHERE id = ?1", [&id])?;
            transaction.execute("DELETE FROM model_other_users WHERE provider = ?1", [&id])?;
            for table in ["model_facts", "model_names", "model_uses"] {
                transaction.execute(&format!("DELETE FROM {table} WHERE provider = ?1"), [&id])?;
            }
            Ok(transaction.commit()?)
        });
        removed.await
    }

    /// Counts a request. Nobody waits for it: whoever asked may have left.
    pub fn count(&self, key: UsageKey, used: TokenUsage) {
        self.0.run_later("what a model has used", move |connection| {
            let sql = "INSERT INTO model_usage VALUES (?1, ?2, ?3, ?4, 1, ?5, ?6, ?7, ?8, ?9)
                       ON CONFLICT DO UPDATE SET
                           requests = requests + 1,
                           input = input + excluded.input,
                           output = output + excluded.output,
                           cached = cached + excluded.cached,
                           reasoning = reasoning + excluded.reasoning,
                           exactness = max(exactness, excluded.exactness)";
            let of_cost = "INSERT INTO model_costs VALUES (?1, ?2, ?3, ?4, ?5, ?6)
                           ON CONFLICT DO UPDATE SET
                               microdollars = microdollars + excluded.microdollars,
                               unpriced = unpriced + excluded.unpriced";
            let UsageKey { provider, model, principal, day } = key;
            let [day, input, output, cached, reasoning] =
                [day, used.input, used.output, used.cached, used.reasoning].map(signed);
            let exactness = used.exactness.number();
            let [microdollars, unpriced] = [used.cost.microdollars, used.cost.unpriced].map(signed);
            let transaction = connection.transaction()?;
            transaction.execute(
                sql,
                params![provider, model, principal, day, input, output, cached, reasoning, exactness],
            )?;
            transaction.execute(of_cost, params![provider, model, principal, day, microdollars, unpriced])?;
            Ok(transaction.commit()?)
        });
    }

    /// The use from a day on, the newest first.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub async fn usage(&self, since: u64) -> Result<Vec<UsageRow>, StoreError> {
        let all = self.0.run(move |connection| {
            // A row without a cost is older than the table of costs.
            let sql = "SELECT provider, model, principal, day, requests, input, output, cached, reasoning, exactness,
                              coalesce(microdollars, 0), coalesce(unpriced, requests)
                       FROM model_usage LEFT JOIN model_costs USING (provider, model, principal, day)
                       WHERE day >= ?1 ORDER BY day DESC, provider, model, principal";
            let mut rows = connection.prepare(sql)?;
            let rows = rows.query_map([signed(since)], |row| {
                let number = |at: usize| Ok::<_, rusqlite::Error>(unsigned(row.get(at)?));
                let key = UsageKey {
                    provider: row.get(0)?,
                    model: row.get(1)?,
                    principal: row.get(2)?,
                    day: number(3)?,
                };
                let used = TokenUsage {
                    input: number(5)?,
                    output: number(6)?,
                    cached: number(7)?,
                    reasoning: number(8)?,
                    exactness: Exactness::of_number(row.get(9)?),
                    cost: Cost { microdollars: number(10)?, unpriced: number(11)? },
                };
                Ok((key, number(4)?, used))
            })?;
            Ok(rows.collect::<Result<Vec<_>, _>>()?)
        });
        all.await
    }

    /// The budgets that a person has set.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub async fn budgets(&self) -> Result<Vec<(String, u64)>, StoreError> {
        let all = self.0.run(|connection| {
            let mut rows = connection.prepare("SELECT principal, tokens FROM model_budgets")?;
            let rows = rows.query_map([], |row| Ok((row.get(0)?, unsigned(row.get(1)?))))?;
            Ok(rows.collect::<Result<Vec<_>, _>>()?)
        });
        all.await
    }

    /// Sets a budget, or forgets it.
    ///
    /// # Errors
    /// When the database refuses.
    pub async fn set_budget(&self, principal: &str, tokens: Option<u64>) -> Result<(), StoreError> {
        let principal = principal.to_owned();
        let set = self.0.run(move |connection| {
            match tokens {
                Some(tokens) => connection.execute(
                    "INSERT OR REPLACE INTO model_budgets VALUES (?1, ?2)",
                    params![principal, signed(tokens)],
                )?,
                None => connection.execute("DELETE FROM model_budgets WHERE principal = ?1", [principal])?,
            };
            Ok(())
        });
        set.await
    }
}

fn put(connection: &Connection, provider: &Provider) -> rusqlite::Result<()> {
    if provider.is_default {
        connection.execute("UPDATE model_providers SET is_default = 0", [])?;
    }
    if provider.is_type_default {
        let sql = "UPDATE model_providers SET is_type_default = 0 WHERE type = ?1";
        connection.execute(sql, [&provider.kind])?;
    }
    let sql = "INSERT OR REPLACE INTO model_providers VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)";
    let Provider { id, kind, name, base_url, dialect, allow_private, enabled, model, .. } = provider;
    let Provider { has_key, is_default, is_type_default, .. } = provider;
    let values = params![
        id,
        kind,
        name,
        base_url,
        dialect,
        allow_private,
        enabled,
        model,
        has_key,
        is_default,
        is_type_default
    ];
    connection.execute(sql, values)?;
    let sql = match provider.allow_other_user {
        true => "INSERT OR IGNORE INTO model_other_users VALUES (?1)",
        false => "DELETE FROM model_other_users WHERE provider = ?1",
    };
    connection.execute(sql, [id]).map(drop)
}

/// SQLite has no larger numbers.
fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

fn unsigned(number: i64) -> u64 {
    u64::try_from(number).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn provider(id: &str, is_default: bool) -> Provider {
        Provider {
            id: id.into(),
            kind: "ollama".into(),
            name: id.into(),
            base_url: "http://127.0.0.1:11434".into(),
            dialect: "ollama".into(),
            allow_private: false,
            allow_other_user: false,
            enabled: true,
            model: None,
            has_key: false,
            is_default,
            is_type_default: is_default,
        }
    }

    pub(super) async fn open() -> (tempfile::TempDir, ModelTables) {
        let home = tempfile::tempdir().unwrap();
        let database = Rc::new(Database::open(&home.path().join("harbor.db")).unwrap());
        (home, ModelTables::open(database).await.unwrap())
    }

    #[tokio::test(flavor = "local")]
    async fn there_is_one_default() {
        let (_home, models) = open().await;
        models.put(&provider("a", true)).await.unwrap();
        let others = Provider { allow_other_user: true, ..provider("b", true) };
        models.put(&others).await.unwrap();
        assert_eq!(models.providers().await.unwrap(), [provider("a", false), others]);
        models.remove("b").await.unwrap();
        models.put(&provider("b", false)).await.unwrap();
        assert_eq!(models.providers().await.unwrap(), [provider("a", false), provider("b", false)]);
        models.remove("b").await.unwrap();
        assert_eq!(models.providers().await.unwrap(), [provider("a", false)]);
    }

    #[tokio::test(flavor = "local")]
    async fn what_is_used_adds_up_by_day_and_is_as_exact_as_the_least() {
        let (_home, models) = open().await;
        let key = |day| UsageKey { provider: "a".into(), model: "m".into(), principal: "owner".into(), day };
        let cost = |microdollars| Cost { microdollars, unpriced: 1 };
        let used = |exactness| TokenUsage {
            input: 10,
            output: 5,
            cached: 1,
            reasoning: 2,
            exactness,
            cost: cost(3),
        };
        models.count(key(7), used(Exactness::Estimated));
        models.count(key(7), used(Exactness::Exact));
        models.count(key(8), used(Exactness::Exact));
        let twice = used(Exactness::Estimated).plus(used(Exactness::Exact));
        assert_eq!((twice.input, twice.cost), (20, Cost { microdollars: 6, unpriced: 2 }));
        let newest = (key(8), 1, used(Exactness::Exact));
        assert_eq!(models.usage(0).await.unwrap(), [newest.clone(), (key(7), 2, twice)]);
        assert_eq!(models.usage(8).await.unwrap(), [newest]);
    }

    #[tokio::test(flavor = "local")]
    async fn a_budget_is_replaced_and_forgotten() {
        let (_home, models) = open().await;
        for tokens in [Some(5), Some(u64::MAX), None] {
            models.set_budget("*", tokens).await.unwrap();
            let wanted: Vec<_> =
                tokens.map(|tokens| ("*".to_owned(), tokens.min(i64::MAX as u64))).into_iter().collect();
            assert_eq!(models.budgets().await.unwrap(), wanted);
        }
    }
}
