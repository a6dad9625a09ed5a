//! The catalog with the real bridge and the real worker, and a registry on this machine.

use std::fs;
use std::process::Output;

use harbor_tests::tls::{FUTURE, Tls};
use harbor_tests::{Answer, Bridge, Client, Home, LIMIT, PROMPT, Registry, wait_until};
use nix::sys::signal::Signal;
use serde_json::{Value, json};

/// A list as the community's is, as a file that is served as it stands.
const LIST: &str = "HTTP/1.0 200 OK\r\n\r\n# List\n## Tools\n- [A](https://github.com/ann/a) - First.\n";

const ON: &[(&str, &str)] = &[("HARBOR_CATALOG_WORKER", "1")];

/// Names of servers and what they say.
const SOME: &[(&str, &str)] = &[
    ("io.example/sundial", "Tells the hour by a shadow"),
    ("io.example/folios", "Binds folios \u{202e}\u{1b}[31m<b>here</b>"),
    ("io.example/almanac", "Tells the weather of a place"),
];

struct Scene {
    registry: Registry,
    home: Home,
}

impl Scene {
    fn new(servers: &[(&str, &str)]) -> Self {
        let (registry, home) = (Registry::with(servers), Home::new());
        home.configure(&registry.config());
        Self { registry, home }
    }

    fn bridge(&self) -> Bridge {
        Bridge::start_with(&self.home, ON)
    }

    fn harbor(&self, words: &[&str]) -> Output {
        self.home.command("harbor").args(words).output().unwrap()
    }
}

fn many(count: usize) -> Vec<(String, String)> {
    (0..count).map(|n| (format!("io.example/server-{n}"), format!("Number {n} of many"))).collect()
}

fn borrowed(servers: &[(String, String)]) -> Vec<(&str, &str)> {
    servers.iter().map(|(name, description)| (name.as_str(), description.as_str())).collect()
}

fn refreshed(client: &Client) -> Answer {
    client.call("catalog_refresh", &json!({})).unwrap()
}

fn status(client: &Client) -> Value {
    client.call("catalog_status", &json!({})).unwrap()["catalog"].clone()
}

fn names(page: &Value) -> Vec<String> {
    page["entries"]
        .as_array()
        .unwrap()
        .iter()
        .map(|entry| entry["name"].as_str().unwrap().to_owned())
        .collect()
}

fn found(client: &Client, words: &str) -> Vec<String> {
    names(&client.call("catalog_search", &json!({"query": words})).unwrap())
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn what_the_registry_has_is_found_shown_and_follows_it() {
    let scene = Scene::new(SOME);
    let bridge = scene.bridge();
    let first = refreshed(&bridge);
    assert_eq!(
        (&first["changes"]["removed"], first["snapshot"].as_str()),
        (&json!(0), None),
        "{:?}",
        first["sources"]
    );
    assert_eq!(found(&bridge, "hour shad"), ["io.example/sundial"]);
    assert_eq!(found(&bridge, "\"tells\" OR -- hour*"), Vec::<String>::new(), "OR is a word");
    let page = bridge.call("catalog_get", &json!({"source": "registry"})).unwrap();
    assert_eq!((names(&page).len(), &page["total"]), (3, &json!(3)));
    let id = page["entries"][0]["id"].clone();
    let details = bridge.call("catalog_entry", &json!({"id": id})).unwrap()["details"].clone();
    assert_eq!(details["packages"][0]["registryType"], "npm");

    scene.registry.set(&SOME[..2]);
    let second = bridge.call("catalog_refresh", &json!({"full": true})).unwrap();
    assert_eq!(second["changes"], json!({"added": 0, "updated": 0, "removed": 1, "restored": 0}));
    assert_eq!(found(&bridge, "weather"), Vec::<String>::new());
    let with_removed = json!({"source": "registry", "include_removed": true});
    assert_eq!(names(&bridge.call("catalog_get", &with_removed).unwrap()).len(), 3);

    let missing = bridge.call("catalog_entry", &json!({"id": "nope"})).unwrap_err();
    assert_eq!(missing.code, "not_found");
    for (message, fields, field) in [
        ("catalog_get", json!({"limit": 201}), "limit"),
        ("catalog_get", json!({"cursor": "!"}), "cursor"),
        ("catalog_search", json!({"query": "  "}), "query"),
    ] {
        let error = bridge.call(message, &fields).unwrap_err();
        assert_eq!((error.code.as_str(), &error.details["field"]), ("invalid_params", &json!(field)));
    }
}

#[test]
fn pages_join_and_those_who_ask_at_once_share_one_refresh() {
    let servers = many(250);
    let scene = Scene::new(&borrowed(&servers));
    let bridge = scene.bridge();
    let watcher = Client::attach(&scene.home);
    watcher.call("subscribe_status", &json!({"interval_ms": 3_600_000})).unwrap();
    scene.registry.hold(Some(1));
    let asked = [(); 3].map(|()| bridge.request("catalog_refresh", &json!({"progress": true})));
    let pushed = bridge.wait_for_push("progress", LIMIT, |push| {
        push["message"].as_str().is_some_and(|text| text.contains("page 1"))
    });
    assert!(pushed["progress"].as_f64().unwrap() > 0.0, "{pushed}");
    let told = watcher.wait_for_push("status_update", LIMIT, |push| {
        let catalog = &push["catalog"];
        push["category"] == "catalog" && catalog["activity"] == "refreshing" && catalog["state"] == "running"
    });
    assert!(told["catalog"]["pid"].is_u64(), "{told}");
    // Whoever leaves changes nothing for the others, and nothing of it holds up anybody.
    bridge.call("cancel", &json!({"target": asked[0].id})).unwrap();
    bridge.call("ping", &json!({})).unwrap();
    scene.registry.hold(None);
    assert_eq!(asked[0].wait(LIMIT).unwrap_err().code, "cancelled");
    for pending in &asked[1..] {
        assert!(pending.wait(LIMIT).unwrap()["entries"].as_u64().unwrap() >= 250);
    }
    let firsts = scene.registry.asked().iter().filter(|path| !path.contains("cursor")).count();
    assert_eq!(firsts, 1, "{:?}", scene.registry.asked());
    let idle = watcher.wait_for_push("status_update", LIMIT, |push| {
        push["category"] == "catalog"
            && push["catalog"]["activity"].is_null()
            && push["catalog"]["last_refresh"].is_u64()
    });
    assert!(idle["catalog"]["next_refresh"].is_u64(), "{idle}");

    let (mut all, mut cursor) = (Vec::new(), Value::Null);
    loop {
        let page = bridge
            .call("catalog_get", &json!({"source": "registry", "limit": 100, "cursor": cursor}))
            .unwrap();
        all.extend(names(&page));
        cursor = page["next_cursor"].clone();
        if cursor.is_null() {
            break;
        }
    }
    all.sort_unstable();
    let mut wanted: Vec<_> = servers.into_iter().map(|(name, _)| name).collect();
    wanted.sort_unstable();
    assert_eq!(all, wanted);
}

#[test]
fn a_worker_that_is_killed_comes_back_and_the_request_is_answered() {
    let servers = many(250);
    let scene = Scene::new(&borrowed(&servers));
    let bridge = scene.bridge();
    scene.registry.hold(Some(2));
    let asked = bridge.request("catalog_refresh", &json!({"progress": true}));
    let _ = bridge.wait_for_push("progress", LIMIT, |push| {
        push["message"].as_str().is_some_and(|text| text.contains("page 2"))
    });
    let pid = status(&bridge)["pid"].as_u64().unwrap();
    nix::sys::signal::kill(nix::unistd::Pid::from_raw(i32::try_from(pid).unwrap()), Signal::SIGKILL).unwrap();
    wait_until("another worker", LIMIT, || status(&bridge)["pid"].as_u64().is_some_and(|now| now != pid));
    let half = names(&bridge.call("catalog_get", &json!({"source": "registry"})).unwrap());
    assert_eq!(half, Vec::<String>::new(), "half a refresh is never seen");
    scene.registry.hold(None);
    assert!(asked.wait(LIMIT).unwrap()["entries"].as_u64().unwrap() >= 250);
    assert_eq!(status(&bridge)["restarts"], 1);
    let metrics = bridge.call("get_metrics", &json!({})).unwrap()["text"].as_str().unwrap().to_owned();
    assert!(metrics.contains("harbor_catalog_worker_restarts_total 1\n"), "{metrics}");
    assert!(
        metrics.contains("harbor_catalog_entries ")
            && metrics.contains("harbor_catalog_refresh_duration_seconds ")
    );
}

#[test]
fn without_its_worker_the_catalog_stays_as_it_is() {
    let scene = Scene::new(SOME);
    let mut bridge = scene.bridge();
    refreshed(&bridge);
    bridge.stop();
    drop(bridge);
    let bridge = Bridge::start(&scene.home);
    let asked = scene.registry.asked().len();
    let refused = bridge.call("catalog_refresh", &json!({})).unwrap_err();
    assert_eq!(
        (refused.code.as_str(), &refused.details["cause"]),
        ("catalog_unavailable", &json!("worker_off"))
    );
    assert_eq!(found(&bridge, "tells hour"), ["io.example/sundial"]);
    let status = status(&bridge);
    assert_eq!((&status["state"], &status["pid"]), (&json!("off"), &Value::Null));
    assert_eq!(scene.registry.asked().len(), asked);

    let empty = Home::new();
    let bridge = Bridge::start(&empty);
    let refused = bridge.call("catalog_get", &json!({})).unwrap_err();
    assert_eq!(refused.details["cause"], "worker_off");
    assert!(!empty.path().join("catalog.db").exists());
}

#[test]
fn a_damaged_catalog_is_told_and_made_anew() {
    let scene = Scene::new(SOME);
    let mut bridge = scene.bridge();
    refreshed(&bridge);
    bridge.stop();
    drop(bridge);
    for name in ["catalog.db-wal", "catalog.db-shm"] {
        let _ = fs::remove_file(scene.home.path().join(name));
    }
    fs::write(scene.home.path().join("catalog.db"), [b"SQLite format 3\0".as_slice(), &[7; 20_000]].concat())
        .unwrap();
    {
        let bridge = Bridge::start(&scene.home);
        let refused = bridge.call("catalog_search", &json!({"query": "time"})).unwrap_err();
        assert_eq!(refused.details["cause"], "corrupt");
        assert_eq!(status(&bridge)["file"], "corrupt");
        let doctor = scene.harbor(&["doctor", "-v"]);
        assert!(text(&doctor.stdout).contains("catalog.db is damaged"), "{}", text(&doctor.stdout));
    }
    let bridge = scene.bridge();
    // Who only looks has it made anew, too: with what Harbor brings along, until the registry was asked.
    bridge.call("catalog_get", &json!({})).unwrap();
    refreshed(&bridge);
    assert_eq!(found(&bridge, "tells hour"), ["io.example/sundial"]);
    assert_eq!(status(&bridge)["file"], "ok");
}

#[test]
fn a_killed_bridge_takes_its_worker_along() {
    let scene = Scene::new(SOME);
    let mut bridge = scene.bridge();
    scene.registry.hold(Some(0));
    let asked = bridge.request("catalog_refresh", &json!({}));
    wait_until("the worker to ask", LIMIT, || !scene.registry.asked().is_empty());
    let worker = bridge
        .tree()
        .into_iter()
        .find(|process| Some(u64::from(process.pid)) == status(&bridge)["pid"].as_u64());
    let worker = worker.expect("it is below the bridge");
    bridge.kill();
    wait_until("its end", PROMPT, || worker.is_gone());
    assert_eq!(asked.wait(LIMIT).unwrap_err().code, "closed");
}

#[test]
fn a_changed_configuration_changes_where_it_comes_from() {
    let scene = Scene::new(SOME);
    let bridge = scene.bridge();
    refreshed(&bridge);
    let other = Registry::with(&[("com.other/maps", "Shows maps")]);
    scene.home.configure(&other.config());
    // By itself, a little later: its sources are new.
    wait_until("the other registry's entries", LIMIT, || found(&bridge, "maps") == ["com.other/maps"]);
    scene.home.configure("[catalog]\nenabled = false\n");
    wait_until("it to be off", LIMIT, || status(&bridge)["state"] == "off");
    let refused = bridge.call("catalog_refresh", &json!({})).unwrap_err();
    assert_eq!(refused.details["cause"], "disabled");
    assert_eq!(found(&bridge, "maps"), ["com.other/maps"], "what is there stays");
}

#[test]
fn pages_and_ai_clients_are_refused() {
    let scene = Scene::new(SOME);
    let _bridge = Bridge::start(&scene.home);
    let client = Client::attach_ai(&scene.home, "curious");
    for message in ["catalog_get", "catalog_refresh", "catalog_enrich", "catalog_status"] {
        let refused = client.call(message, &json!({})).unwrap_err();
        assert_eq!(refused.code, "ERR_PERMISSION_DENIED", "{message}");
    }
    let refused = client.call("catalog_search", &json!({"query": "x"})).unwrap_err();
    assert_eq!(refused.code, "ERR_PERMISSION_DENIED");
}

#[test]
fn the_command_line_finds_servers_and_says_when_there_was_no_network() {
    let scene = Scene::new(SOME);
    scene.registry.fail(Some(503));
    let bridge = scene.bridge();
    let listed = scene.harbor(&["catalog"]);
    assert!(listed.status.success(), "{listed:?}");
    assert!(text(&listed.stderr).contains("the registry has not been reached yet"), "{listed:?}");
    assert!(text(&listed.stdout).lines().all(|line| line.chars().count() <= 80), "{listed:?}");
    let failed = scene.harbor(&["catalog", "refresh"]);
    assert!(text(&failed.stderr).contains("registry failed: "), "{failed:?}");
    assert_eq!(failed.status.code(), Some(1), "no source was reached: {failed:?}");
    let doctor = scene.harbor(&["doctor", "-v"]);
    let told = "catalog: a source failed last time: registry: ";
    assert!(text(&doctor.stdout).contains(told), "{}", text(&doctor.stdout));
    // Also by a bridge that has not seen it fail.
    drop(bridge);
    let bridge = scene.bridge();
    wait_until("the catalog to be known", LIMIT, || status(&bridge)["failing"] == 1);
    let error = status(&bridge)["last_error"].as_str().unwrap_or_default().to_owned();
    assert!(error.starts_with("registry: "), "{error}");

    scene.registry.fail(None);
    let done = scene.harbor(&["catalog", "refresh", "--full"]);
    assert!(text(&done.stdout).contains("entries: 3 new"), "{done:?}");
    let searched = scene.harbor(&["catalog", "search", "binds", "fol", "--json"]);
    let answer: Value = serde_json::from_slice(&searched.stdout).unwrap();
    assert_eq!(names(&answer), ["io.example/folios"]);
    let id = answer["entries"][0]["id"].as_str().unwrap();
    let shown = text(&scene.harbor(&["catalog", "show", id]).stdout);
    assert!(shown.contains("package      npm io.example/folios 1.0.0, stdio"), "{shown}");
    assert!(!shown.contains(['\u{1b}', '\u{202e}']), "{shown}");
    let page = scene.harbor(&["catalog", "list", "--source", "registry", "--limit", "2"]);
    let more = "2 of 3; more: harbor catalog list --source registry --limit 2 --cursor ";
    assert!(text(&page.stderr).contains(more), "{page:?}");
    let none = scene.harbor(&["catalog", "list", "--source", "foo"]);
    assert!(text(&none.stderr).contains("the catalog has no source foo"), "{none:?}");
    assert!(text(&none.stderr).contains("curated, registry"), "{none:?}");
    assert_eq!(none.status.code(), Some(4));
    let how = text(&scene.harbor(&["catalog", "status"]).stdout);
    assert!(how.contains("source   registry: 3 entries"), "{how}");
    assert!(text(&scene.harbor(&["status"]).stdout).contains("catalog  "), "it is in the status, too");
    let unknown = scene.harbor(&["catalog", "show", "nope"]);
    assert_eq!(unknown.status.code(), Some(4));
    let said = text(&unknown.stderr);
    assert!(said.contains("nothing has the id nope; `harbor catalog search nope` looks for it"), "{said}");
    // The names by which `harbor install` knows what Harbor brings along.
    let time = text(&scene.harbor(&["catalog", "show", "time"]).stdout);
    assert!(time.contains("source       curated") && time.contains("harbor install time"), "{time}");
    drop(bridge);
}

/// The worker believes whom the bridge's environment names; a bridge that runs keeps the one that it began with.
#[test]
fn an_authority_of_the_person_is_believed_once_a_new_bridge_knows_it() {
    let home = Home::new();
    let tls = Tls::start(&home, "DNS:localhost", FUTURE, &["-HTTP"]);
    fs::write(tls.dir.join("list.md"), LIST).unwrap();
    let url = tls.url("/list.md");
    home.configure(&format!("[catalog]\nregistryUrl = \"\"\nawesomeUrl = \"{url}\"\ngithubApiUrl = \"\"\n"));
    let refresh = || {
        let mut command = home.command("harbor");
        command.args(["catalog", "refresh"]).env("SSL_CERT_FILE", &tls.certificate).output().unwrap()
    };
    let bridge = Bridge::start_with(&home, ON);
    let failed = refresh();
    let said = text(&failed.stderr);
    assert!(
        said.contains("SSL_CERT_FILE and run `harbor shutdown`, so that the next bridge uses it"),
        "{said}"
    );
    assert_eq!(failed.status.code(), Some(1));
    drop(bridge);
    let certificate = tls.certificate.to_str().unwrap();
    let bridge = Bridge::start_with(&home, &[ON[0], ("SSL_CERT_FILE", certificate)]);
    let done = refresh();
    assert!(text(&done.stdout).contains("entries: 1 new"), "{done:?}");
    drop(bridge);
}
