//! `catalog_…`: the servers that can be installed.
//!
//! Owns the ranges of the fields. Must never serve pages or AI clients: a person's searches are private.

use std::rc::Rc;

use harbor_ipc_proto::client::envelope::ErrorBody;
use harbor_ipc_proto::client::{
    CatalogEnrich, CatalogEnrichResult, CatalogEntryGet, CatalogEntryResult, CatalogGet, CatalogGetResult,
    CatalogRefresh, CatalogRefreshResult, CatalogSearch, CatalogSearchResult, CatalogStatusResult, Progress,
};
use harbor_ipc_proto::json::Json;

use super::client::Client;
use super::reply::{Handled, reply};
use super::state::Router;
use crate::catalog::words::{Cursor, expression};
use crate::catalog::{Age, CatalogError, CatalogReport, EntryPage, Filter, ProgressListener, WorkKind};
use crate::host::invalid;

/// How many entries a page has by default, and at most.
const PAGE: u64 = 50;
const MOST: u64 = 200;

/// The longest query and name, in bytes.
const MAX_QUERY: usize = 1000;
const MAX_NAME: usize = 64;

pub(super) async fn get(router: &Router, message: CatalogGet) -> Handled {
    let (cursor, limit) = (cursor(message.cursor.as_deref())?, limit(message.limit)?);
    if message.source.as_ref().is_some_and(|source| source.len() > MAX_NAME) {
        return Err(invalid("source", "a source's name"));
    }
    let filter = Filter {
        featured: message.featured,
        source: message.source,
        include_removed: message.include_removed == Some(true),
    };
    let (page, age) = router.catalog.list(filter, cursor, limit).await.map_err(refused)?;
    reply(CatalogGetResult {
        next_cursor: page.next.map(|next| next.written()),
        total: page.total.unwrap_or_default(),
        entries: page.entries,
        snapshot: age.snapshot,
        last_refresh: age.last_success,
    })
}

pub(super) async fn search(router: &Router, message: CatalogSearch) -> Handled {
    let (cursor, limit) = (cursor(message.cursor.as_deref())?, limit(message.limit)?);
    let query = message.query;
    if query.trim().is_empty() || query.len() > MAX_QUERY {
        return Err(invalid("query", "some words, at most 1000 bytes"));
    }
    let (page, age) = match expression(&query) {
        Some(words) => router.catalog.search(words, cursor, limit).await.map_err(refused)?,
        None => (EntryPage { entries: Vec::new(), next: None, total: Some(0) }, Age::default()),
    };
    reply(CatalogSearchResult {
        next_cursor: page.next.map(|next| next.written()),
        total: page.total,
        entries: page.entries,
        snapshot: age.snapshot,
        last_refresh: age.last_success,
    })
}

pub(super) async fn entry(router: &Router, message: CatalogEntryGet) -> Handled {
    if message.id.len() > MAX_NAME {
        return Err(invalid(
            "id",
            "an entry's id: 16 hexadecimal digits, or the name of an entry that comes with Harbor",
        ));
    }
    match router.catalog.details(message.id.clone()).await.map_err(refused)? {
        Some(details) => reply(CatalogEntryResult { details }),
        None => Err(router.installs.unknown(&message.id).await),
    }
}

pub(super) async fn refresh(
    router: &Router,
    client: &Rc<Client>,
    id: &str,
    message: &CatalogRefresh,
) -> Handled {
    let kind = WorkKind::Refresh { full: message.full == Some(true) };
    let asked = router.catalog.ask(kind, note(client, id, message.progress));
    let CatalogReport { changes, summary, .. } = asked.await.map_err(refused)?;
    reply(CatalogRefreshResult {
        changes,
        sources: summary.sources,
        entries: summary.entries,
        snapshot: summary.age.snapshot,
    })
}

pub(super) async fn enrich(
    router: &Router,
    client: &Rc<Client>,
    id: &str,
    message: &CatalogEnrich,
) -> Handled {
    let asked = router.catalog.ask(WorkKind::Enrich, note(client, id, message.progress));
    let CatalogReport { enriched, not_enriched, .. } = asked.await.map_err(refused)?;
    reply(CatalogEnrichResult { enriched, failed: not_enriched })
}

pub(super) fn status(router: &Router) -> Handled {
    reply(CatalogStatusResult { catalog: router.catalog.status(), sources: router.catalog.sources() })
}

/// Pushes the progress of the request, if its client wants it.
fn note(client: &Rc<Client>, request_id: &str, wanted: Option<bool>) -> Option<ProgressListener> {
    let (client, request_id) = (Rc::downgrade(client), request_id.to_owned());
    let note: ProgressListener = Rc::new(move |done, total, text| {
        let Some(client) = client.upgrade() else { return };
        let number = |number: String| Json::from_valid(number);
        let push = Progress {
            request_id: request_id.clone(),
            progress: number(format!("{done:.3}")),
            total: Some(number(total.to_string())).filter(|_| total > 0),
            message: Some(text.to_owned()),
        };
        client.send_push(&push);
    });
    (wanted == Some(true)).then_some(note)
}

fn limit(asked: Option<u64>) -> Result<usize, ErrorBody> {
    let limit = asked.unwrap_or(PAGE);
    let limit = (1..=MOST).contains(&limit).then(|| usize::try_from(limit).ok()).flatten();
    limit.ok_or_else(|| invalid("limit", "a whole number from 1 to 200"))
}

fn cursor(text: Option<&str>) -> Result<Option<Cursor>, ErrorBody> {
    let read = |text: &str| {
        Cursor::read(text).ok_or_else(|| invalid("cursor", "the next_cursor of the previous page"))
    };
    text.map(read).transpose()
}

fn refused(error: CatalogError) -> ErrorBody {
    error.told()
}
