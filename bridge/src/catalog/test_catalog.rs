//! A catalog for tests, made by the worker's own schema.

use std::path::Path;

use rusqlite::{Connection, params};

const SCHEMA: &str = include_str!("../../../catalog-worker/src/db/schema.sql");

/// A file with `count` entries of a registry, and the connection that writes it. Later entries have higher priority.
pub fn catalog(path: &Path, count: u32) -> Connection {
    let connection = Connection::open(path).unwrap();
    connection.execute_batch("PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF;").unwrap();
    connection.execute_batch(SCHEMA).unwrap();
    connection
        .execute_batch(
            "INSERT INTO meta VALUES ('snapshot_date', '2026-11-01');
             INSERT INTO sources (id, kind, url) VALUES ('curated', 'curated', ''),
                 ('registry', 'registry', 'https://registry.example');",
        )
        .unwrap();
    connection.execute_batch("BEGIN").unwrap();
    (0..count).for_each(|n| add(&connection, n, &format!("io.example/server-{n}"), &words(n)));
    connection.execute_batch("COMMIT").unwrap();
    connection
}

/// Adds one.
pub fn add(connection: &Connection, n: u32, name: &str, description: &str) {
    connection
        .prepare_cached(
            "INSERT INTO entries (n, id, source, name, description, packages, first_seen_at, last_seen_at, priority, fingerprint)
             VALUES (?1, ?2, 'registry', ?3, ?4, ?5, 1, 1, ?6, x'00')",
        )
        .unwrap()
        .execute(params![
            n + 1,
            format!("{n:016x}"),
            name,
            description,
            r#"[{"registryType":"npm","identifier":"x"},{"registryType":"npm"},{"registryType":"oci"}]"#,
            n / 4
        ])
        .unwrap();
}

/// Prose of a sort: `mcp` in all of it, other words in fewer.
fn words(n: u32) -> String {
    const WORDS: [&str; 12] = [
        "files", "weather", "calendar", "database", "browser", "search", "memory", "music", "maps", "mail",
        "tickets", "notes",
    ];
    let word = |k: u32| WORDS[(n / k) as usize % WORDS.len()];
    format!("An mcp server for {} and {} with {} number{}", word(1), word(12), word(144), n % 1000)
}
