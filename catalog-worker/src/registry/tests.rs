//! Pages as the registry sends them, and as nobody should.

use serde_json::{Value, json};

use super::*;

fn read(value: &Value) -> Result<Page, BadPage> {
    page(value.to_string().as_bytes())
}

fn listed(server: &Value, official: &Value) -> Value {
    json!({"server": server, "_meta": {"io.modelcontextprotocol.registry/official": official}})
}

#[test]
fn a_server_is_read_whole() {
    let server = json!({
        "$schema": "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json",
        "name": "io.github.ann/files",
        "title": "Files",
        "description": "Reads files.",
        "version": "1.2.3",
        "websiteUrl": "https://ann.example/files",
        "repository": {"url": "https://github.com/Ann/Files", "source": "github"},
        "packages": [{"registryType": "npm", "identifier": "@ann/files", "version": "1.2.3",
                      "transport": {"type": "stdio"}}],
        "remotes": [{"type": "streamable-http", "url": "https://ann.example/mcp"}],
    });
    let official = json!({"status": "active", "publishedAt": "2026-01-01T00:00:00Z",
                          "updatedAt": "2026-01-02T00:00:00Z", "isLatest": true});
    let page = read(
        &json!({"servers": [listed(&server, &official)], "metadata": {"nextCursor": "n:1", "count": 1}}),
    );
    let entry = Entry {
        name: "io.github.ann/files".into(),
        title: Some("Files".into()),
        description: "Reads files.".into(),
        version: Some("1.2.3".into()),
        status: Status::Active,
        packages: server["packages"].to_string(),
        remotes: server["remotes"].to_string(),
        identifiers: "@ann/files https://ann.example/mcp".into(),
        repository: Some("https://github.com/ann/files".into()),
        website: Some("https://ann.example/files".into()),
        tags: vec!["npm".into(), "remote".into()],
        featured: false,
        published_at: Some(1_767_225_600_000),
        updated_at: Some(1_767_312_000_000),
    };
    assert_eq!(page, Ok(Page { entries: vec![entry], skipped: 0, next: Some("n:1".into()) }));
}

#[test]
fn what_may_be_missing_may_be_missing() {
    let page = read(&json!({"servers": [{"server": {"name": "a/b"}}]})).unwrap();
    let entry = Entry { name: "a/b".into(), packages: "[]".into(), remotes: "[]".into(), ..Entry::default() };
    assert_eq!(page, Page { entries: vec![entry], skipped: 0, next: None });
    assert_eq!(read(&json!({"servers": []})), Ok(Page::default()));
    let old = read(&json!({"servers": [], "metadata": {"next_cursor": "x"}})).unwrap();
    assert_eq!(old.next.as_deref(), Some("x"));
    let end = read(&json!({"servers": [], "metadata": {"nextCursor": ""}})).unwrap();
    assert_eq!(end.next, None);
}

#[test]
fn tombstones_are_entries_and_older_versions_are_not() {
    let of = |name: &str, official: Value| listed(&json!({"name": name}), &official);
    let servers = json!({"servers": [
        of("a/gone", json!({"status": "deleted"})),
        of("a/old", json!({"isLatest": false})),
        of("a/aged", json!({"status": "deprecated", "updatedAt": "no date"})),
    ]});
    let page = read(&servers).unwrap();
    let seen: Vec<_> = page.entries.iter().map(|entry| (entry.name.as_str(), entry.status)).collect();
    assert_eq!(seen, [("a/gone", Status::Deleted), ("a/aged", Status::Deprecated)]);
    assert_eq!(page.skipped, 0);
}

#[test]
fn hostile_pages_are_refused_or_cut() {
    let name = "x/<script>alert(1)</script>\u{202e}\u{0}";
    let long = "y".repeat(50_000);
    let server = json!({"name": name, "title": long, "description": long, "version": long,
                        "websiteUrl": "javascript:alert(1)", "repository": {"url": "file:///etc"}});
    let no_name = json!({"server": {"name": "z".repeat(201)}});
    let page =
        read(&json!({"servers": [{"server": server}, no_name, 1, null, {"server": {"name": 7}}]})).unwrap();
    let entry = &page.entries[0];
    assert_eq!((page.entries.len(), page.skipped), (1, 4));
    assert_eq!(entry.name, "x/<script>alert(1)</script>");
    assert_eq!(entry.title.as_ref().map(String::len), Some(text::MAX_TITLE));
    assert_eq!(entry.description.len(), text::MAX_DESCRIPTION);
    assert_eq!((&entry.website, &entry.repository), (&None, &None));

    assert_eq!(super::page("[".repeat(1_000_000).as_bytes()), Err(BadPage::NoPage));
    let deep = format!("{{\"servers\":[{{\"server\":{{\"name\":\"a/b\",\"packages\":{}", "[".repeat(100_000));
    assert_eq!(super::page(deep.as_bytes()), Err(BadPage::NoPage));
    for none in [json!({}), json!([]), json!(1), json!({"servers": {}})] {
        assert_eq!(read(&none), Err(BadPage::NoPage), "{none}");
    }
    assert_eq!(read(&json!({"servers": [1]})), Err(BadPage::NoEntries));
    assert_eq!(read(&json!({"servers": vec![1; 1001]})), Err(BadPage::TooMany));
    let cursor = json!({"servers": [], "metadata": {"nextCursor": "c".repeat(2001)}});
    assert_eq!(read(&cursor), Err(BadPage::Cursor));
}

#[test]
fn addresses_carry_the_cursor_as_it_is() {
    let base = Url::parse("https://registry.example/mcp/").unwrap();
    assert_eq!(
        address(&base, None, None).as_str(),
        "https://registry.example/mcp/v0.1/servers?limit=100&version=latest"
    );
    assert_eq!(
        address(&base, Some(0), Some("a/b:1.0&x=y")).as_str(),
        "https://registry.example/mcp/v0.1/servers?limit=100&version=latest\
         &updated_since=1970-01-01T00%3A00%3A00Z&cursor=a%2Fb%3A1.0%26x%3Dy"
    );
}
