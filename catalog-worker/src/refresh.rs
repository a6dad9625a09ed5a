//! A refresh: one source after the other, each in one transaction.
//!
//! ```text
//!  held back by its server? ─► skipped
//!  registry: page, page, … until there is no cursor        list: one answer, or "as it was"
//!      └─ any failure: the transaction is dropped, the old entries stay, the source is left alone for a while
//! ```
//!
//! Owns the order and the retries. Must never remove an entry after a pass that did not come to its end, or found nothing at all.

use std::time::Duration;

use harbor_ipc_proto::link::worker::{CatalogSourceKind, Changes, SourceOutcome, WorkerStep};
use reqwest::Url;

use crate::clock::now;
use crate::db::{Db, DbError, Ended, Origin, Source};
use crate::net::{Answer, Ask, Net, NoAnswer};
use crate::paging::Way;
use crate::schedule::{self, FetchMode as Extent};
use crate::settings::Settings;
use crate::to_bridge::Up;
use crate::{awesome, registry};

/// Tries of a request in all.
const TRIES: u32 = 3;
/// Before the second try; then twice that.
const FIRST_WAIT: Duration = Duration::from_millis(500);
/// A server that wants a longer pause gets it, without us waiting for it.
const LONGEST_WAIT: u64 = 60_000;
/// A source that is due by then is fetched with those that are due now.
const TOGETHER: u64 = 60_000;

/// The reason why a source was not fetched.
enum Failed {
    /// The reason lies out there.
    There(NoAnswer),
    /// The reason lies here, and ends the refresh.
    Here(DbError),
}

impl From<NoAnswer> for Failed {
    fn from(no_answer: NoAnswer) -> Self {
        Self::There(no_answer)
    }
}

impl From<DbError> for Failed {
    fn from(error: DbError) -> Self {
        Self::Here(error)
    }
}

/// A refresh, and what it works with.
pub struct Refresh<'a> {
    /// Written to.
    pub db: &'a mut Db,
    /// The person's settings.
    pub settings: &'a Settings,
    /// The link that hears of progress.
    pub up: &'a Up,
    /// Everything.
    pub full: bool,
    /// Only what is due; the number decides the jitter.
    pub due_only: Option<u64>,
}

impl Refresh<'_> {
    /// Does it; how each source did.
    ///
    /// # Errors
    /// When catalog.db cannot be read or written.
    pub async fn run(mut self) -> Result<Vec<SourceOutcome<'static>>, DbError> {
        self.up.step(WorkerStep::Refreshing { full: self.full });
        let net = Net::new(self.settings.limit);
        let mut outcomes = Vec::new();
        for (origin, url) in &self.settings.sources {
            let source = self.db.source(&origin.id)?;
            if !self.wants(&source) {
                continue;
            }
            let outcome = match schedule::held(&source.history, now()) {
                Some(until) => held(origin, &source, until),
                None => self.source(&net, origin, url, &source).await?,
            };
            self.up.step(WorkerStep::SourceDone(outcome.clone()));
            outcomes.push(outcome);
        }
        self.db.rescore_daily(now())?;
        self.db.shrink();
        Ok(outcomes)
    }

    fn wants(&self, source: &Source) -> bool {
        self.due_only.is_none_or(|roll| {
            let due = schedule::due(&source.history, self.settings.interval, now(), roll);
            due.is_some_and(|due| due <= now().saturating_add(TOGETHER))
        })
    }

    async fn source(
        &mut self,
        net: &Result<Net, NoAnswer>,
        origin: &Origin,
        url: &Url,
        source: &Source,
    ) -> Result<SourceOutcome<'static>, DbError> {
        let fetched = match (net, origin.kind) {
            (Err(no_answer), _) => Err(no_answer.clone().into()),
            (Ok(net), CatalogSourceKind::Registry) => self.registry(net, origin, url, source).await,
            (Ok(net), CatalogSourceKind::Awesome) => self.list(net, origin, url, source).await,
        };
        let outcome = |entries, changes, error, not_before| SourceOutcome {
            source: origin.id.clone().into(),
            entries,
            changes,
            error,
            not_before,
        };
        match fetched {
            Ok((changes, entries)) => Ok(outcome(entries, changes, None, None)),
            Err(Failed::Here(error)) => Err(error),
            Err(Failed::There(no_answer)) => {
                let until = self.db.failed(&origin.id, &no_answer.why, no_answer.retry_after, now())?;
                Ok(outcome(source.entries, Changes::default(), Some(no_answer.why.into()), Some(until)))
            }
        }
    }

    async fn registry(
        &mut self,
        net: &Net,
        origin: &Origin,
        base: &Url,
        source: &Source,
    ) -> Result<(Changes, u32), Failed> {
        let began = now();
        let extent = schedule::pass(&source.history, self.full, began);
        let since = match extent {
            Extent::Full => None,
            Extent::Since(since) => Some(since),
        };
        let mut pass = self.db.begin(&origin.id, true, began)?;
        let (mut way, mut cursor, mut date) = (Way::default(), None, None);
        loop {
            let url = registry::address(base, since, cursor.as_deref());
            let answer = patiently(net, &url, Ask { etag: None, accept: "application/json" }).await?;
            date = date.or(answer.date);
            let page = registry::page(&answer.body.unwrap_or_default());
            let page = page.map_err(|bad| NoAnswer::lasting(bad.to_string()))?;
            page.entries.iter().try_for_each(|entry| pass.put(entry))?;
            let next =
                way.on(page.entries.len(), page.next).map_err(|lost| NoAnswer::lasting(lost.to_string()))?;
            let entries = u32::try_from(way.entries).unwrap_or(u32::MAX);
            self.up.step(WorkerStep::Fetching { source: (&*origin.id).into(), page: way.pages, entries });
            if next.is_none() {
                break;
            }
            cursor = next;
        }
        let full = extent == Extent::Full;
        if full {
            if way.entries == 0 && source.entries > 0 {
                return Err(NoAnswer::lasting(
                    "the registry has no entries any more; Harbor keeps the old ones",
                )
                .into());
            }
            pass.remove_the_others()?;
        }
        let updated_since = Some(schedule::since(began, date));
        Ok(pass.finish(&origin.id, &Ended { full, updated_since, etag: None }, now())?)
    }

    async fn list(
        &mut self,
        net: &Net,
        origin: &Origin,
        url: &Url,
        source: &Source,
    ) -> Result<(Changes, u32), Failed> {
        let began = now();
        let etag = source.etag.as_deref().filter(|_| !self.full);
        let answer = patiently(net, url, Ask { etag, accept: "text/markdown, text/plain" }).await?;
        let Some(body) = answer.body else {
            return Ok((Changes::default(), self.db.unchanged(&origin.id, now())?));
        };
        let markdown =
            String::from_utf8(body).map_err(|_| NoAnswer::lasting("the list is not UTF-8 text"))?;
        let entries = awesome::entries(&markdown);
        drop(markdown);
        if entries.is_empty() {
            return Err(NoAnswer::lasting(
                "the list has no links to repositories; Harbor keeps the old entries",
            )
            .into());
        }
        let mut pass = self.db.begin(&origin.id, false, began)?;
        entries.iter().try_for_each(|entry| pass.put(entry))?;
        pass.remove_the_others()?;
        let count = u32::try_from(entries.len()).unwrap_or(u32::MAX);
        self.up.step(WorkerStep::Fetching { source: (&*origin.id).into(), page: 1, entries: count });
        Ok(pass.finish(&origin.id, &Ended { full: true, updated_since: None, etag: answer.etag }, now())?)
    }
}

/// The outcome of a source whose server wants no requests now.
fn held(origin: &Origin, source: &Source, until: u64) -> SourceOutcome<'static> {
    SourceOutcome {
        source: origin.id.clone().into(),
        entries: source.entries,
        changes: Changes::default(),
        error: Some("the server asked Harbor to wait".into()),
        not_before: Some(until),
    }
}

/// Asks again where that may help.
async fn patiently(net: &Net, url: &Url, ask: Ask<'_>) -> Result<Answer, NoAnswer> {
    let mut wait = FIRST_WAIT;
    for _ in 1..TRIES {
        let no_answer = match net.get(url, ask, now()).await {
            Err(no_answer) if no_answer.passing => no_answer,
            ended => return ended,
        };
        match no_answer.retry_after {
            Some(asked) if asked > LONGEST_WAIT => return Err(no_answer),
            Some(asked) => tokio::time::sleep(Duration::from_millis(asked)).await,
            None => tokio::time::sleep(wait).await,
        }
        wait *= 2;
    }
    net.get(url, ask, now()).await
}
