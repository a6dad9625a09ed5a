//! One page of an MCP registry (API v0.1) as entries, and the addresses of its pages.
//!
//! ```text
//!  {"servers": [{"server": {…}, "_meta": {"io.modelcontextprotocol.registry/official": {…}}}, …],
//!   "metadata": {"nextCursor": "…"}}
//! ```
//!
//! Owns the reading. Must never trust a page. Items that are no entries are left out and counted; long texts are cut.
//! Packages are kept as the registry has them, as far as they are bounded. `_meta` may be missing: not every registry has
//! it.

use reqwest::Url;
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::entry::{Entry, Status};
use crate::{packages, text, time};

/// How many entries are asked for at once.
pub const PAGE: usize = 100;
/// More entries of one page are not read.
const MAX_ENTRIES: usize = 1000;
/// The most bytes of a cursor.
const MAX_CURSOR: usize = 2000;
/// An entry of more bytes is left out.
const MAX_ENTRY: usize = 256 * 1024;

/// A page, read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Page {
    /// Its entries, tombstones among them.
    pub entries: Vec<Entry>,
    /// How many were no entries.
    pub skipped: usize,
    /// The address of the next page.
    pub next: Option<String>,
}

/// The reason why a page cannot be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BadPage {
    /// No JSON object, or one without `servers`.
    NoPage,
    /// More entries than a page can have.
    TooMany,
    /// There are entries, and none can be read.
    NoEntries,
    /// The cursor is too long.
    Cursor,
}

impl std::fmt::Display for BadPage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::NoPage => "the answer is not a page of an MCP registry",
            Self::TooMany => "the registry sent a page of more than 1,000 entries",
            Self::NoEntries => "the registry sent a page without a readable entry",
            Self::Cursor => "the registry sent a cursor that is too long",
        })
    }
}

#[derive(Deserialize)]
struct RawPage<'a> {
    #[serde(borrow)]
    servers: Vec<&'a RawValue>,
    #[serde(default)]
    metadata: Metadata,
}

#[derive(Deserialize, Default)]
struct Metadata {
    #[serde(default, rename = "nextCursor")]
    next: Option<String>,
    #[serde(default, rename = "next_cursor")]
    next_old: Option<String>,
}

#[derive(Deserialize)]
struct Listed<'a> {
    #[serde(borrow)]
    server: Server<'a>,
    #[serde(default, rename = "_meta")]
    meta: Option<Meta>,
}

#[derive(Deserialize)]
struct Server<'a> {
    name: String,
    title: Option<String>,
    description: Option<String>,
    version: Option<String>,
    repository: Option<RepositoryLink>,
    #[serde(rename = "websiteUrl")]
    website: Option<String>,
    #[serde(borrow)]
    packages: Option<&'a RawValue>,
    #[serde(borrow)]
    remotes: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct RepositoryLink {
    url: Option<String>,
}

#[derive(Deserialize)]
struct Meta {
    #[serde(rename = "io.modelcontextprotocol.registry/official")]
    official: Option<Official>,
}

#[derive(Deserialize, Default)]
struct Official {
    status: Option<String>,
    #[serde(rename = "publishedAt")]
    published: Option<String>,
    #[serde(rename = "updatedAt")]
    updated: Option<String>,
    #[serde(rename = "isLatest")]
    latest: Option<bool>,
}

/// Reads a page.
///
/// # Errors
/// When it is no page.
pub fn page(bytes: &[u8]) -> Result<Page, BadPage> {
    let raw: RawPage<'_> = serde_json::from_slice(bytes).map_err(|_| BadPage::NoPage)?;
    if raw.servers.len() > MAX_ENTRIES {
        return Err(BadPage::TooMany);
    }
    let mut page = Page { next: next(raw.metadata)?, ..Page::default() };
    for listed in &raw.servers {
        match entry(listed.get()) {
            Read::Entry(entry) => page.entries.push(*entry),
            Read::Older => {}
            Read::None => page.skipped += 1,
        }
    }
    if page.entries.is_empty() && page.skipped > 0 { Err(BadPage::NoEntries) } else { Ok(page) }
}

fn next(metadata: Metadata) -> Result<Option<String>, BadPage> {
    let cursor = metadata.next.or(metadata.next_old).filter(|cursor| !cursor.is_empty());
    if cursor.as_ref().is_some_and(|cursor| cursor.len() > MAX_CURSOR) {
        return Err(BadPage::Cursor);
    }
    Ok(cursor)
}

enum Read {
    Entry(Box<Entry>),
    /// It is not the newest version, which stands elsewhere.
    Older,
    None,
}

fn entry(json: &str) -> Read {
    if json.len() > MAX_ENTRY {
        return Read::None;
    }
    let Ok(listed) = serde_json::from_str::<Listed<'_>>(json) else { return Read::None };
    let official = listed.meta.and_then(|meta| meta.official).unwrap_or_default();
    if official.latest == Some(false) {
        return Read::Older;
    }
    let server = listed.server;
    let name = text::clean(&server.name, text::MAX_NAME + 1);
    if name.is_empty() || name.len() > text::MAX_NAME {
        return Read::None;
    }
    let packages = packages::list(server.packages);
    let remotes = packages::list(server.remotes);
    let date = |text: Option<String>| text.as_deref().and_then(time::from_rfc3339);
    Read::Entry(Box::new(Entry {
        title: text::some(server.title.as_deref(), text::MAX_TITLE),
        description: text::clean(&server.description.unwrap_or_default(), text::MAX_DESCRIPTION),
        version: text::some(server.version.as_deref(), text::MAX_VERSION),
        status: status(official.status.as_deref()),
        identifiers: packages::identifiers(&packages, &remotes),
        tags: packages::kinds(&packages, &remotes),
        packages: packages::text(&packages),
        remotes: packages::text(&remotes),
        repository: server.repository.and_then(|repository| text::repository(&repository.url?)),
        website: server.website.as_deref().and_then(text::web).map(String::from),
        published_at: date(official.published),
        updated_at: date(official.updated),
        featured: false,
        name,
    }))
}

fn status(word: Option<&str>) -> Status {
    match word {
        Some("deleted") => Status::Deleted,
        Some("deprecated") => Status::Deprecated,
        _ => Status::Active,
    }
}

/// The address of a page: the newest version of each server, or what has changed `since`, tombstones among it.
#[must_use]
pub fn address(base: &Url, since: Option<u64>, cursor: Option<&str>) -> Url {
    let mut url = base.clone();
    let path = format!("{}/v0.1/servers", base.path().trim_end_matches('/'));
    url.set_path(&path);
    let mut query = url.query_pairs_mut();
    query.append_pair("limit", &PAGE.to_string()).append_pair("version", "latest");
    if let Some(since) = since {
        query.append_pair("updated_since", &time::to_rfc3339(since));
    }
    if let Some(cursor) = cursor {
        query.append_pair("cursor", cursor);
    }
    drop(query);
    url
}

#[cfg(test)]
mod tests;
