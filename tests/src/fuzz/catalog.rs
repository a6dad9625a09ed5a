//! What sources of the catalog send: every entry is bounded, clean, and the same when it is read again.

use harbor_catalog_worker::entry::Entry;
use harbor_catalog_worker::{awesome, registry, text};
use harbor_ipc_proto::hidden::has_hidden;

use super::Target;

pub(super) const REGISTRY_PAGE: Target = Target {
    name: "registry_page",
    run: registry_page,
    corpus: &[
        br#"{"servers":[{"server":{"name":"a/b","description":"d","version":"1","packages":[{"registryType":"npm","identifier":"@a/b"}],"remotes":[{"type":"sse","url":"https://a.example"}],"repository":{"url":"https://github.com/A/b.git"}},"_meta":{"io.modelcontextprotocol.registry/official":{"status":"deleted","updatedAt":"2026-11-03T12:50:45.006+02:00","isLatest":true}}}],"metadata":{"nextCursor":"a:1","count":1}}"#,
        br#"{"servers":[{"server":{"name":"<b>\u202e\u0000","title":"'\"","websiteUrl":"javascript:x"}},1],"metadata":{"next_cursor":"x"}}"#,
        br#"{"servers":[],"metadata":{}}"#,
        br#"{"servers":[{"server":{"name":"b","repository":{"url":"http:github.com/A/.giT"}}}]}"#,
        br#"{"servers":[[[[[["#,
    ],
};

pub(super) const AWESOME_LIST: Target = Target {
    name: "awesome_list",
    run: awesome_list,
    corpus: &[
        "## 🗄️ Databases\n- [Postgres](https://github.com/Ann/postgres) - Reads a [database](https://x.example).\n".as_bytes(),
        b"* **[A](https://gitlab.com/a/b/c)** - `x` ![badge](https://b.example)\n```\n- [C](https://github.com/a/c)\n```\n",
        b"- [](https://github.com/a/b)\n- [x](javascript:alert(1)) [y](https://github.com/a/b\n#\n",
        b"+[x](git+http:codeberg.org/a/.git.git)",
        b"+[x](git+http:codeberg.org/a/..git.git)",
        b"- [x](https://www.github.com/a/b?c#d)](\n+ [x](git+https://codeberg.org/a/b.git)\n",
    ],
};

fn registry_page(bytes: &[u8]) {
    let Ok(page) = registry::page(bytes) else { return };
    page.entries.iter().for_each(sound);
    assert_eq!(registry::page(bytes).as_ref(), Ok(&page));
    assert!(page.next.is_none_or(|cursor| !cursor.is_empty() && cursor.len() <= 2000));
}

fn awesome_list(bytes: &[u8]) {
    let Ok(markdown) = std::str::from_utf8(bytes) else { return };
    let entries = awesome::entries(markdown);
    entries.iter().for_each(sound);
    let mut names: Vec<_> = entries.iter().map(|entry| &entry.name).collect();
    names.sort();
    names.dedup();
    assert_eq!(names.len(), entries.len(), "each repository once");
}

fn sound(entry: &Entry) {
    let texts = [
        (Some(&entry.name), text::MAX_NAME),
        (entry.title.as_ref(), text::MAX_TITLE),
        (Some(&entry.description), text::MAX_DESCRIPTION),
        (entry.version.as_ref(), text::MAX_VERSION),
        (entry.website.as_ref(), text::MAX_URL),
        (entry.repository.as_ref(), text::MAX_URL),
    ];
    for (text, limit) in texts {
        let text = text.map_or("", String::as_str);
        assert!(text.len() <= limit && !has_hidden(text) && !text.contains(['\n', '\t']), "{text:?}");
    }
    assert!(!entry.name.is_empty());
    for json in [&entry.packages, &entry.remotes, &entry.tags_json()] {
        assert!(serde_json::from_str::<Vec<serde_json::Value>>(json).is_ok(), "{json}");
    }
    for url in [&entry.repository, &entry.website].into_iter().flatten() {
        assert!(text::web(url).is_some(), "{url}");
    }
    if let Some(repository) = &entry.repository {
        assert_eq!(text::repository(repository).as_ref(), Some(repository));
    }
}
