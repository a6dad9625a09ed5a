//! Pages join to the whole list, searches find and rank, and both are quick.

use std::collections::HashSet;
use std::time::{Duration, Instant};

use super::super::test_catalog;
use super::super::words::expression;
use super::*;

fn dir() -> tempfile::TempDir {
    tempfile::tempdir().unwrap()
}

/// All pages; no entry may come twice.
fn all(page: impl Fn(Option<&Cursor>) -> EntryPage) -> Vec<CatalogEntry> {
    let (mut entries, mut cursor) = (Vec::new(), None);
    loop {
        let found = page(cursor.as_ref());
        entries.extend(found.entries);
        let Some(next) = found.next else { break };
        cursor = Cursor::read(&next.written());
        assert_eq!(cursor, Some(next));
    }
    let ids: HashSet<_> = entries.iter().map(|entry| entry.id.clone()).collect();
    assert_eq!(ids.len(), entries.len());
    entries
}

#[test]
fn the_pages_of_a_list_join() {
    let dir = dir();
    let catalog = test_catalog::catalog(&dir.path().join("c"), 103);
    catalog.execute("UPDATE entries SET removed_at = 5 WHERE n <= 3", []).unwrap();
    catalog.execute("UPDATE entries SET featured = 1 WHERE n IN (3, 10, 20)", []).unwrap();
    let list = |filter: &Filter| all(|cursor| list(&catalog, filter, cursor, 7).unwrap());
    let entries = list(&Filter::default());
    assert_eq!(entries.len(), 100);
    assert_eq!(
        (entries[0].name.as_str(), entries[0].kinds.clone()),
        ("io.example/server-100", vec!["npm".into(), "oci".into()])
    );
    assert_eq!(list(&Filter { include_removed: true, ..Filter::default() }).len(), 103);
    assert_eq!(list(&Filter { featured: Some(true), ..Filter::default() }).len(), 2);
    assert_eq!(list(&Filter { source: Some("registry".into()), ..Filter::default() }).len(), 100);
    assert_eq!(list(&Filter { source: Some("' OR 1 --".into()), ..Filter::default() }), []);
    let first = super::list(&catalog, &Filter::default(), None, 7).unwrap();
    assert_eq!((first.total, first.entries.len()), (Some(100), 7));
}

#[test]
fn a_search_ranks_few_and_lists_many_and_its_pages_join() {
    let dir = dir();
    let catalog = test_catalog::catalog(&dir.path().join("c"), 1500);
    test_catalog::add(&catalog, 9000, "io.example/weather", "Tells");
    let search = |words: &str| {
        let words = expression(words).unwrap();
        all(|cursor| search(&catalog, &words, cursor, 50).unwrap())
    };
    let weather = search("weat");
    assert_eq!(weather[0].name, "io.example/weather", "a name weighs more than a description");
    assert!(weather.len() > 100 && weather.len() <= 500);
    assert_eq!(search("mcp serv").len(), 1500);
    assert_eq!(search("number7").len(), 2 + 10 * 2 + 100, "number7, number70 …, number700 …");
    assert_eq!(search("nothingofthat"), []);
    catalog.execute("UPDATE entries SET removed_at = 1 WHERE name = 'io.example/weather'", []).unwrap();
    assert!(search("weather").iter().all(|entry| entry.name != "io.example/weather"));
}

#[test]
fn details_are_checked_json() {
    let dir = dir();
    let catalog = test_catalog::catalog(&dir.path().join("c"), 3);
    let wrong =
        r#"UPDATE entries SET tags = '["a"', remotes = '{"a":1}', stars = -1, description = ?1 WHERE n = 1"#;
    catalog.execute(wrong, ["x".repeat(2000)]).unwrap();
    let found = details(&catalog, "0000000000000000").unwrap().unwrap();
    assert_eq!((found.tags.as_str(), found.remotes.as_str(), found.entry.stars), ("[]", "[]", None));
    assert!(found.packages.as_str().contains("identifier") && found.entry.description.len() == 2000);
    assert_eq!(found.entry.kinds, ["npm", "oci", "remote"]);
    assert_eq!(list(&catalog, &Filter::default(), None, 9).unwrap().entries[0].description.len(), 500);
    assert_eq!(details(&catalog, "nope").unwrap(), None);
}

#[test]
fn the_whole_is_a_snapshot_until_a_source_was_reached() {
    let dir = dir();
    let catalog = test_catalog::catalog(&dir.path().join("c"), 4);
    let before = summary(&catalog).unwrap();
    assert_eq!(
        (before.entries, before.age.snapshot.as_deref(), before.last_attempt),
        (4, Some("2026-11-01"), None)
    );
    assert_eq!(before.sources.iter().map(|source| source.ok).collect::<Vec<_>>(), [true, false]);
    let failed = "UPDATE sources SET last_attempt_at = 8, last_error = 'no route', failures = 1, not_before = 9 WHERE id = 'registry'";
    catalog.execute(failed, []).unwrap();
    let failed = summary(&catalog).unwrap();
    let registry = &failed.sources[1];
    assert_eq!(
        (registry.ok, registry.error.as_deref(), registry.not_before),
        (false, Some("no route"), Some(9))
    );
    assert_eq!((failed.age.snapshot.is_some(), failed.last_attempt), (true, Some(8)));
    let reached =
        "UPDATE sources SET last_success_at = 10, last_error = NULL, failures = 0 WHERE id = 'registry'";
    catalog.execute(reached, []).unwrap();
    let after = summary(&catalog).unwrap();
    assert_eq!((after.age.snapshot, after.age.last_success, after.sources[1].ok), (None, Some(10), true));
    assert_eq!(after.sources[1].not_before, None);
}

/// The promise is 5 ms with 20,000 entries in a release; the margin is for builds like this one on a busy machine.
#[test]
fn searches_of_a_large_catalog_are_quick() {
    let dir = dir();
    let catalog = test_catalog::catalog(&dir.path().join("c"), 20_000);
    let mut slowest = Duration::ZERO;
    for words in ["mcp", "m", "weather", "weather maps", "number77", "server for fi", "an mcp server"] {
        let expression = expression(words).unwrap();
        let took = (0..5).map(|_| {
            let began = Instant::now();
            search(&catalog, &expression, None, 50).unwrap();
            began.elapsed()
        });
        let took = took.min().unwrap();
        slowest = slowest.max(took);
    }
    assert!(slowest < Duration::from_millis(100), "{slowest:?}");
}
