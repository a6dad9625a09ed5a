//! What sources tell of becomes entries: pages, increments with tombstones, lists with marks, sources that go.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use harbor_ipc_proto::link::worker::{CatalogSourceKind, Changes};
use serde_json::json;

use harbor_tests::catalog::registry::{Registry, active, server};
use harbor_tests::catalog::web::{Reply, Web};
use harbor_tests::catalog::{Driven, Place, Said};

const NOTHING: Changes = Changes { added: 0, updated: 0, removed: 0, restored: 0 };
const LISTED: &str =
    "SELECT name FROM entries WHERE source <> 'curated' AND removed_at IS NULL ORDER BY name";

#[test]
fn all_pages_are_read_and_nothing_that_stayed_is_removed() {
    let registry = Registry::of(250);
    let place = Place::new(&[("registry", CatalogSourceKind::Registry, registry.web.url("/"))]);
    let mut worker = Driven::configured(&place);
    let id = worker.ask_refresh(false);
    let mut steps = Vec::new();
    let (changes, sources) = loop {
        match worker.heard() {
            Said::Step(step) => steps.push(step),
            Said::Done(of, changes, sources, _) if of == id => break (changes, sources),
            _ => {}
        }
    };
    assert_eq!(changes, Changes { added: 250, ..NOTHING });
    assert_eq!((sources[0].entries, &sources[0].error), (250, &None));
    assert_eq!(
        steps,
        [
            "Refreshing { full: false }",
            "Fetching { source: \"registry\", page: 1, entries: 100 }",
            "Fetching { source: \"registry\", page: 2, entries: 200 }",
            "Fetching { source: \"registry\", page: 3, entries: 250 }",
        ]
    );
    assert_eq!(place.rows(LISTED).len(), 250);
    assert_eq!(worker.refresh(true).0, NOTHING);
    assert_eq!(place.rows(LISTED).len(), 250);
    let requests = registry.web.requests();
    assert!(requests.iter().all(|request| request.header("user-agent") == Some("harbor/0.1.0")));
    assert_eq!(place.rows("SELECT kind FROM changes"), [""; 0], "the first filling is no change");
}

#[test]
fn increments_bring_changes_and_tombstones() {
    let registry = Registry::of(5);
    let place = Place::new(&[("registry", CatalogSourceKind::Registry, registry.web.url("/"))]);
    let mut worker = Driven::configured(&place);
    worker.refresh(false);
    let new = "2026-11-20T00:00:00Z";
    let official = |status: &str| json!({"status": status, "updatedAt": new, "isLatest": true});
    registry.change(|servers| {
        servers[1] = server("io.test/s00001", "Does more.", &official("active"));
        servers[2] = server("io.test/s00002", "Does 2.", &official("deleted"));
        servers.push(server("io.test/new", "Is new.", &official("active")));
        servers.push(server("io.test/never-seen", "Was gone.", &official("deleted")));
    });
    let (changes, _) = worker.refresh(false);
    assert_eq!(changes, Changes { added: 1, updated: 1, removed: 1, restored: 0 });
    assert!(registry.web.requests().last().unwrap().value("updated_since").is_some());
    let expected = ["io.test/new", "io.test/s00000", "io.test/s00001", "io.test/s00003", "io.test/s00004"];
    assert_eq!(place.rows(LISTED), expected);
    let told = "SELECT kind || ' ' || name || ' ' || fields FROM changes ORDER BY n";
    assert_eq!(
        place.rows(told),
        [
            "updated io.test/s00001 [\"description\",\"published_at\",\"updated_at\"]",
            "removed io.test/s00002 []",
            "added io.test/new []"
        ]
    );
    let found = "SELECT name FROM entries_fts WHERE entries_fts MATCH '\"more\"'";
    assert_eq!(place.rows(found), ["io.test/s00001"]);

    // One that comes back, and one that only a whole pass misses.
    registry.change(|servers| {
        servers[2] = server("io.test/s00002", "Does 2.", &official("active"));
        servers.remove(4);
    });
    assert_eq!(worker.refresh(false).0, Changes { restored: 1, ..NOTHING });
    assert_eq!(worker.refresh(true).0, Changes { removed: 1, ..NOTHING });
    assert_eq!(place.rows("PRAGMA integrity_check"), ["ok"]);
}

#[test]
fn a_list_is_read_once_for_each_of_its_versions() {
    let version = Arc::new(AtomicU32::new(1));
    let current = version.clone();
    let web = Web::start(move |request| {
        let version = current.load(Ordering::SeqCst);
        let etag = format!("\"{version}\"");
        if request.header("if-none-match") == Some(&etag) {
            return Reply::status("304 Not Modified", &[]);
        }
        let second = if version == 1 { "- [B](https://github.com/ann/b) - Second.\n" } else { "" };
        let list = format!("# List\n## Tools\n- [A](https://github.com/ann/a) - First.\n{second}");
        Reply::Whole("200 OK", vec![format!("ETag: {etag}")], list.into_bytes())
    });
    let place = Place::new(&[("awesome", CatalogSourceKind::Awesome, web.url("/README.md"))]);
    let mut worker = Driven::configured(&place);
    assert_eq!(worker.refresh(false).0, Changes { added: 2, ..NOTHING });
    assert_eq!(place.rows(LISTED), ["https://github.com/ann/a", "https://github.com/ann/b"]);
    assert_eq!(place.rows("SELECT tags FROM entries WHERE source = 'awesome' LIMIT 1"), ["[\"tools\"]"]);
    let (changes, sources) = worker.refresh(false);
    assert_eq!((changes, sources[0].entries, &sources[0].error), (NOTHING, 2, &None));
    version.store(2, Ordering::SeqCst);
    assert_eq!(worker.refresh(false).0, Changes { removed: 1, ..NOTHING });
    assert_eq!(place.rows(LISTED), ["https://github.com/ann/a"]);
}

#[test]
fn a_source_that_fails_keeps_its_entries_and_the_others_are_fetched() {
    let (registry, fails) = (Registry::of(3), Web::start(|_| Reply::status("404 Not Found", &[])));
    let place = Place::new(&[
        ("list", CatalogSourceKind::Awesome, fails.url("/README.md")),
        ("registry", CatalogSourceKind::Registry, registry.web.url("/")),
    ]);
    let mut worker = Driven::configured(&place);
    let (changes, sources) = worker.refresh(false);
    assert_eq!(changes, Changes { added: 3, ..NOTHING });
    assert_eq!(sources[0].error.as_deref(), Some("the server answered 404"));
    assert_eq!(place.rows("SELECT last_error FROM sources WHERE id = 'list'"), ["the server answered 404"]);
}

#[test]
fn entries_of_a_source_that_is_no_longer_named_go() {
    let (one, two) = (Registry::of(2), Registry::start(vec![active("io.other/x", "Is elsewhere.")]));
    let named = |of: &Registry| vec![("registry", CatalogSourceKind::Registry, of.web.url("/"))];
    let mut place = Place::new(&named(&one));
    let mut worker = Driven::configured(&place);
    worker.refresh(false);
    place.sources = named(&two);
    worker.configure(&place);
    assert_eq!(worker.refresh(false).0, Changes { added: 1, ..NOTHING });
    assert_eq!(place.rows(LISTED), ["io.other/x"]);
    place.sources.clear();
    worker.configure(&place);
    let status = worker.until(|said| match said {
        Said::Status(status) if status.snapshot.is_some() => Some(status),
        _ => None,
    });
    assert_eq!(status.entries as usize, harbor_policy::curated::CURATED.len());
    assert_eq!(place.rows(LISTED), [""; 0]);
}

#[test]
fn the_interval_has_it_refresh_by_itself() {
    let registry = Registry::of(1);
    let mut place = Place::new(&[("registry", CatalogSourceKind::Registry, registry.web.url("/"))]);
    place.interval = 200;
    let mut worker = Driven::configured(&place);
    assert_eq!(worker.done(0).0, Changes { added: 1, ..NOTHING });
    assert_eq!(worker.done(0).0, NOTHING);
}

#[test]
fn requests_that_come_together_are_answered_together() {
    let registry = Registry::of(1);
    let place = Place::new(&[("registry", CatalogSourceKind::Registry, registry.web.url("/"))]);
    let mut worker = Driven::configured(&place);
    let ids: Vec<u32> = (0..10).map(|_| worker.ask_refresh(false)).collect();
    for id in ids {
        worker.done(id);
    }
    assert!(registry.web.requests().len() <= 2, "{:?}", registry.web.requests());
}
