//! Stars, commits and downloads: asked for once a day, never beyond what the server allows.

use std::sync::atomic::{AtomicU32, Ordering};

use harbor_ipc_proto::link::worker::CatalogSourceKind;
use serde_json::json;

use harbor_tests::catalog::registry::{Registry, active};
use harbor_tests::catalog::web::{Reply, Web};
use harbor_tests::catalog::{Driven, Place, Said};

/// Entries a and b, and these answers of GitHub and npm.
fn place(registry: &Registry, web: &Web) -> Place {
    let mut place = Place::new(&[("registry", CatalogSourceKind::Registry, registry.web.url("/"))]);
    place.github = Some(web.url("/api"));
    place.npm = Some(web.url("/downloads/{name}"));
    place
}

#[test]
fn what_is_found_is_kept_and_counts() {
    let registry = Registry::start(vec![active("io.test/a", "A."), active("io.test/b", "B.")]);
    let web = Web::start(|request| match request.path() {
        "/api/repos/ann/b" => Reply::Whole(
            "200 OK",
            vec!["ETag: \"1\"".into()],
            json!({"stargazers_count": 9999, "pushed_at": "2026-11-01T00:00:00Z"}).to_string().into(),
        ),
        "/downloads/@ann/b" => Reply::ok(json!({"downloads": 99_999}).to_string()),
        path if path.starts_with("/downloads") => Reply::ok(json!({"data": {"last_week": 9}}).to_string()),
        _ => Reply::status("404 Not Found", &[]),
    });
    let place = place(&registry, &web);
    let mut worker = Driven::configured(&place);
    worker.refresh(false);
    // It follows by itself.
    let counts = worker.until(|said| match said {
        Said::Done(0, _, sources, counts) if sources.is_empty() => Some(counts),
        _ => None,
    });
    assert!(counts.0 > 2 && counts.1 < counts.0, "{counts:?}");
    let found =
        "SELECT stars || ' ' || downloads || ' ' || last_commit_at FROM entries WHERE name = 'io.test/b'";
    assert_eq!(place.rows(found), ["9999 99999 1793491200000"]);
    let order = "SELECT name FROM entries WHERE source = 'registry' ORDER BY priority DESC, id";
    assert_eq!(place.rows(order), ["io.test/b", "io.test/a"]);
    let asked = web.requests().len();
    assert_eq!(worker.enrich(), (0, 0));
    assert_eq!(web.requests().len(), asked, "not twice a day");
}

#[test]
fn a_limit_ends_the_questions() {
    let registry = Registry::of(30);
    let asked = AtomicU32::new(0);
    let web = Web::start(move |_| {
        let reset = "x-ratelimit-reset: 99999999999".to_owned();
        match asked.fetch_add(1, Ordering::SeqCst) {
            0..5 => Reply::ok(json!({"stargazers_count": 1}).to_string()),
            _ => Reply::Whole("403 Forbidden", vec!["x-ratelimit-remaining: 0".into(), reset], vec![]),
        }
    });
    let mut place = place(&registry, &web);
    place.npm = None;
    let mut worker = Driven::configured(&place);
    worker.refresh(false);
    let counts = worker.until(|said| match said {
        Said::Done(0, _, sources, counts) if sources.is_empty() => Some(counts),
        _ => None,
    });
    assert_eq!(counts, (5, 0));
    let asked = web.requests().len();
    assert!((6..=8).contains(&asked), "{asked}");
    assert_eq!(worker.enrich(), (0, 0));
    assert_eq!(web.requests().len(), asked, "it waits until GitHub counts anew");
}
