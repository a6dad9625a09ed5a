//! Sources that fail, slowly, loudly, or on purpose: what was there stays, and nothing is asked too often.

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use harbor_ipc_proto::link::worker::{CatalogSourceKind, Changes};
use serde_json::json;

use harbor_tests::catalog::registry::{active, answer};
use harbor_tests::catalog::web::{Reply, Request, Web};
use harbor_tests::catalog::{Driven, Place};

const ENTRIES: &str = "SELECT name FROM entries WHERE source = 'registry' AND removed_at IS NULL";

/// A registry whose first pass succeeds with two entries, and whose requests after that are answered like this. A request has
/// so many milliseconds.
fn then(timeout: u64, reply: impl Fn(&Request) -> Reply + Send + Sync + 'static) -> (Web, Place, Driven) {
    let asked = AtomicU32::new(0);
    let web = Web::start(move |request| match asked.fetch_add(1, Ordering::SeqCst) {
        0 => answer(request, &[active("io.test/a", "A."), active("io.test/b", "B.")]),
        _ => reply(request),
    });
    let mut place = Place::new(&[("registry", CatalogSourceKind::Registry, web.url("/"))]);
    place.timeout = timeout;
    let mut worker = Driven::configured(&place);
    assert_eq!(worker.refresh(false).0.added, 2);
    (web, place, worker)
}

/// It fails for a reason that begins like this, in time, and nothing is lost.
fn fails(reply: impl Fn(&Request) -> Reply + Send + Sync + 'static, why: &str) {
    fails_within(5000, reply, why);
}

/// The same with this limit for a request, in milliseconds.
fn fails_within(timeout: u64, reply: impl Fn(&Request) -> Reply + Send + Sync + 'static, why: &str) {
    let (_web, place, mut worker) = then(timeout, reply);
    let before = Instant::now();
    let (said, _) = worker.failure();
    assert!(said.contains(why), "{said:?} instead of {why:?}");
    assert!(before.elapsed() < Duration::from_secs(10), "{:?}", before.elapsed());
    assert_eq!(place.rows(ENTRIES).len(), 2);
}

#[test]
fn a_server_that_says_wait_is_left_alone_by_people_too() {
    let (web, place, mut worker) =
        then(5000, |_| Reply::status("429 Too Many Requests", &["Retry-After: 3600"]));
    let (why, until) = worker.failure();
    assert_eq!((why.as_str(), web.requests().len()), ("the server answered 429", 2));
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_millis();
    let wait = u128::from(until.unwrap()) - now;
    assert!((3_500_000..=3_600_000).contains(&wait), "{wait}");
    let (why, again) = worker.failure();
    assert_eq!((why.as_str(), again), ("the server asked Harbor to wait", until));
    assert_eq!(web.requests().len(), 2, "it was not asked");
    assert_eq!(place.rows(ENTRIES).len(), 2);
}

#[test]
fn a_short_wait_is_waited_for() {
    let asked = AtomicU32::new(0);
    let web = Web::start(move |request| match asked.fetch_add(1, Ordering::SeqCst) {
        0 => Reply::status("503 Service Unavailable", &["Retry-After: 1"]),
        1 => Reply::status("502 Bad Gateway", &[]),
        _ => answer(request, &[active("io.test/a", "A.")]),
    });
    let place = Place::new(&[("registry", CatalogSourceKind::Registry, web.url("/"))]);
    let before = Instant::now();
    assert_eq!(Driven::configured(&place).refresh(false).0, Changes { added: 1, ..Changes::default() });
    assert!(before.elapsed() >= Duration::from_secs(1));
    assert_eq!(web.requests().len(), 3);
}

#[test]
fn a_server_that_is_broken_is_tried_three_times() {
    let (web, place, mut worker) = then(5000, |_| Reply::status("500 Internal Server Error", &[]));
    assert_eq!(worker.failure().0, "the server answered 500");
    assert_eq!(web.requests().len(), 4);
    assert_eq!(place.rows("SELECT failures || '' FROM sources WHERE id = 'registry'"), ["1"]);
    assert_eq!(worker.failure().0, "the server answered 500", "a person need not wait");
}

#[test]
fn slow_and_silent_ones_end() {
    fails_within(500, |_| Reply::Silence, "the answer was not complete within 0.5 s");
    fails_within(500, |_| Reply::Trickle, "the answer was not complete within 0.5 s");
}

#[test]
fn answers_that_end_early_or_never_are_refused() {
    fails(|_| Reply::Truncated(b"{\"servers\": [".to_vec()), "broke off");
    fails(|_| Reply::ok("{\"servers\": ["), "not a page");
    fails(|_| Reply::Flood, "longer than 16 MiB");
    fails(|_| Reply::ok("[".repeat(1_000_000)), "not a page");
    fails(|_| Reply::ok(json!({"servers": vec![1; 2000]}).to_string()), "more than 1,000");
}

#[test]
fn a_pass_that_breaks_off_on_its_second_page_changes_nothing() {
    fails(
        |request| match request.value("cursor") {
            None => Reply::ok(
                json!({"servers": [active("io.test/new", "N.")], "metadata": {"nextCursor": "x"}})
                    .to_string(),
            ),
            Some(_) => Reply::status("404 Not Found", &[]),
        },
        "answered 404",
    );
}

#[test]
fn pages_in_a_circle_end() {
    let page = |cursor: &str| {
        let servers: Vec<_> = (0..3).map(|n| active(&format!("io.test/{cursor}{n}"), "X.")).collect();
        Reply::ok(json!({"servers": servers, "metadata": {"nextCursor": cursor}}).to_string())
    };
    fails(move |request| page(if request.value("cursor") == Some("a") { "b" } else { "a" }), "form a circle");
}

#[test]
fn hostile_entries_are_text() {
    let web = Web::start(|_| {
        let mut hostile =
            active("io.test/<img src=x onerror=alert(1)>\u{202e}\u{7}", &"long ".repeat(10_000));
        hostile["server"]["websiteUrl"] = json!("javascript:alert(1)");
        hostile["server"]["title"] = json!("'; DROP TABLE entries; --");
        Reply::ok(json!({"servers": [hostile, {"server": {"name": "n".repeat(9999)}}, 7]}).to_string())
    });
    let place = Place::new(&[("registry", CatalogSourceKind::Registry, web.url("/"))]);
    assert_eq!(Driven::configured(&place).refresh(false).0.added, 1);
    assert_eq!(place.rows(ENTRIES), ["io.test/<img src=x onerror=alert(1)>"]);
    let rest = "SELECT title || length(description) || coalesce(website, '-') FROM entries WHERE source = 'registry'";
    assert_eq!(place.rows(rest), ["'; DROP TABLE entries; --999-"]);
}

#[test]
fn an_answer_may_send_on_five_times_and_not_in_a_circle() {
    let web = Web::start(|request| match request.path() {
        "/README.md" => Reply::status("302 Found", &["Location: /list.md"]),
        "/list.md" => Reply::ok("- [A](https://github.com/ann/a)\n"),
        _ => Reply::status("301 Moved Permanently", &["Location: /round"]),
    });
    let place = Place::new(&[("list", CatalogSourceKind::Awesome, web.url("/README.md"))]);
    assert_eq!(Driven::configured(&place).refresh(false).0.added, 1);
    let place = Place::new(&[("list", CatalogSourceKind::Awesome, web.url("/round"))]);
    assert_eq!(Driven::configured(&place).failure().0, "the server redirects more than 5 times");
}

#[test]
fn behind_a_proxy_an_answer_sends_on_to_what_is_found_here_or_to_its_own_host() {
    let proxy = Web::start(|request| match request.path() {
        "http://list.invalid/README.md" => Reply::status("302 Found", &["Location: /list.md"]),
        "http://list.invalid/list.md" => Reply::ok("- [A](https://github.com/ann/a)\n"),
        "http://list.invalid/away" => {
            Reply::status("302 Found", &["Location: http://inside.invalid/list.md"])
        }
        "http://list.invalid/here" => {
            Reply::status("302 Found", &["Location: http://foo.localhost./list.md"])
        }
        other => panic!("nobody may ask for {other}"),
    });
    let env = [("http_proxy", &*proxy.url(""))];
    let of = |path: &str| {
        Place::new(&[("list", CatalogSourceKind::Awesome, format!("http://list.invalid/{path}"))])
    };
    assert_eq!(Driven::configured_with(&of("README.md"), &env).refresh(false).0.added, 1);
    for (path, why) in [("away", "this machine cannot resolve"), ("here", "a private address")] {
        let (said, _) = Driven::configured_with(&of(path), &env).failure();
        assert!(said.contains(why), "{said}");
    }
}
