//! An enrichment: stars and last commit of repositories, downloads of packages, three at a time.
//!
//! Owns the requests and the reading of their answers. If a server answers that it was asked too much, it is asked no more
//! until it allows that.

use std::cell::{Cell, RefCell};

use harbor_ipc_proto::link::worker::WorkerStep;
use reqwest::Url;
use serde::Deserialize;

use crate::clock::now;
use crate::db::{Candidate, Db, DbError, Found};
use crate::net::{Ask, Net, NoAnswer};
use crate::settings::{Lookups, Settings};
use crate::to_bridge::Up;
use crate::{packages, text, time};

/// After a refusal without a time, as long as GitHub counts.
const DEFAULT_PAUSE: u64 = 60 * 60_000;

/// The time when GitHub may be asked again. Kept from one enrichment to the next.
#[derive(Debug, Default)]
pub struct Pause(Cell<u64>);

impl Pause {
    fn is_over(&self) -> bool {
        self.0.get() <= now()
    }

    fn begin(&self, for_ms: u64) {
        self.0.set(now().saturating_add(for_ms.min(time::DAY)));
    }
}

#[derive(Deserialize)]
struct RepositoryStats {
    stargazers_count: Option<u64>,
    pushed_at: Option<String>,
}

#[derive(Deserialize)]
struct Downloads {
    downloads: Option<u64>,
    data: Option<Weekly>,
}

#[derive(Deserialize)]
struct Weekly {
    last_week: Option<u64>,
}

/// Does it; how many were looked up, and how many of them could not be.
///
/// # Errors
/// When catalog.db cannot be read or written.
pub async fn run(db: &mut Db, settings: &Settings, up: &Up, pause: &Pause) -> Result<(u32, u32), DbError> {
    let candidates = db.candidates(now())?;
    if candidates.is_empty() {
        return Ok((0, 0));
    }
    let Ok(net) = Net::new(settings.limit) else { return Ok((0, 0)) };
    up.step(WorkerStep::Enriching { count: u32::try_from(candidates.len()).unwrap_or(u32::MAX) });
    let asking = Asking { net, lookups: &settings.lookups, pause };
    let (todo, done) = (RefCell::new(candidates.into_iter()), RefCell::new(Vec::new()));
    let one_after_the_other = async || loop {
        let Some(candidate) = todo.borrow_mut().next() else { return };
        if let Some(found) = asking.look_up(&candidate).await {
            done.borrow_mut().push((candidate, found));
        }
    };
    tokio::join!(one_after_the_other(), one_after_the_other(), one_after_the_other());
    let done = done.into_inner();
    db.keep(&done, now())?;
    let failed = done.iter().filter(|(_, found)| found.is_none()).count();
    let count = |number| u32::try_from(number).unwrap_or(u32::MAX);
    Ok((count(done.len()), count(failed)))
}

struct Asking<'a> {
    net: Net,
    lookups: &'a Lookups,
    pause: &'a Pause,
}

impl Asking<'_> {
    /// Looks for facts about an entry. `None` if no service could be asked now, `Some(None)` if none knew the entry.
    #[allow(clippy::option_option, reason = "not asked is not the same as not known")]
    async fn look_up(&self, candidate: &Candidate) -> Option<Option<Found>> {
        let github = self.github(candidate).await;
        let downloads = self.downloads(candidate).await;
        match (github, downloads) {
            (None, None) => None,
            (github, downloads) => {
                let found = github.unwrap_or(Ok(Found::default()));
                let counted = downloads.unwrap_or(Ok(None));
                let both = found.and_then(|found| counted.map(|downloads| Found { downloads, ..found }));
                Some(both.ok())
            }
        }
    }

    async fn github(&self, candidate: &Candidate) -> Option<Result<Found, NoAnswer>> {
        let base = self.lookups.github.as_ref().filter(|_| self.pause.is_over())?;
        let (owner, name) = text::github(candidate.repository.as_deref()?)?;
        let mut url = base.clone();
        url.path_segments_mut().ok()?.pop_if_empty().extend(["repos", owner, name]);
        let ask = Ask { etag: candidate.etag.as_deref(), accept: "application/vnd.github+json" };
        let answer = match self.net.get(&url, ask, now()).await {
            Ok(answer) => answer,
            Err(no_answer) => {
                if no_answer.retry_after.is_some() || no_answer.why.ends_with("429") {
                    self.pause.begin(no_answer.retry_after.unwrap_or(DEFAULT_PAUSE));
                    return None;
                }
                return Some(Err(no_answer));
            }
        };
        if answer.remaining == Some(0) {
            self.pause.begin(answer.reset.unwrap_or(DEFAULT_PAUSE));
        }
        let Some(body) = answer.body else { return Some(Ok(Found::default())) };
        let read = serde_json::from_slice::<RepositoryStats>(&body);
        Some(read.map_err(|_| NoAnswer::lasting("the answer does not describe a repository")).map(|read| {
            Found {
                stars: read.stargazers_count,
                last_commit_at: read.pushed_at.as_deref().and_then(time::from_rfc3339),
                etag: answer.etag,
                downloads: None,
            }
        }))
    }

    async fn downloads(&self, candidate: &Candidate) -> Option<Result<Option<u64>, NoAnswer>> {
        let (npm, name) = packages::countable(&candidate.packages)?;
        let template = if npm { &self.lookups.npm } else { &self.lookups.pypi };
        let url = Url::parse(&template.as_deref()?.replace("{name}", &name)).ok()?;
        let answer = self.net.get(&url, Ask { etag: None, accept: "application/json" }, now()).await;
        Some(answer.and_then(|answer| {
            let read = serde_json::from_slice::<Downloads>(&answer.body.unwrap_or_default());
            let read = read.map_err(|_| NoAnswer::lasting("the answer has no number of downloads"))?;
            Ok(read.downloads.or_else(|| read.data?.last_week))
        }))
    }
}
