//! The tables about single models, which no version of a database has to have.

/// Facts about single models.
pub(super) const FACTS: &str = "
    CREATE TABLE IF NOT EXISTS model_facts (
        provider TEXT NOT NULL,
        model    TEXT NOT NULL,
        stated   INTEGER,
        learned  INTEGER,
        refused  TEXT NOT NULL,
        PRIMARY KEY (provider, model)
    ) STRICT, WITHOUT ROWID;
";

/// Names of models.
pub(super) const NAMES: &str = "
    CREATE TABLE IF NOT EXISTS model_names (
        name     TEXT PRIMARY KEY,
        provider TEXT NOT NULL,
        model    TEXT NOT NULL
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE IF NOT EXISTS model_uses (
        use      TEXT PRIMARY KEY,
        provider TEXT NOT NULL,
        model    TEXT NOT NULL
    ) STRICT, WITHOUT ROWID;
";
