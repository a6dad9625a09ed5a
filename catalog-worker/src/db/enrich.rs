//! Chooses the entries that are looked up next, and keeps the findings.

use super::facts::rescore;
use super::{Db, DbError, int, sql};
use crate::text::github;
use crate::time::DAY;

/// The most entries that are looked up at once.
pub const MAX_CANDIDATES: usize = 50;

/// An entry whose facts should be looked up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Candidate {
    /// Its id.
    pub id: String,
    /// Its repository, if it is GitHub's.
    pub repository: Option<String>,
    /// The answer that is known already.
    pub etag: Option<String>,
    /// JSON array.
    pub packages: String,
}

/// The findings about one entry. An absent fact stays unchanged.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Found {
    /// Stars of the repository.
    pub stars: Option<u64>,
    /// The last commit in the repository.
    pub last_commit_at: Option<u64>,
    /// The ETag of the repository's answer.
    pub etag: Option<String>,
    /// Downloads of the package.
    pub downloads: Option<u64>,
}

impl Db {
    /// The entries that come first, of those that were not looked up for a day, each repository once.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn candidates(&self, now: u64) -> Result<Vec<Candidate>, DbError> {
        self.try_candidates(now).map_err(sql("read"))
    }

    fn try_candidates(&self, now: u64) -> rusqlite::Result<Vec<Candidate>> {
        let mut read = self.connection.prepare_cached(
            "SELECT id, repository, enriched_etag, packages FROM entries WHERE removed_at IS NULL
             AND (enriched_at IS NULL OR enriched_at < ?1 OR enriched_at > ?2)
             AND (repository LIKE 'https://github.com/%' OR packages LIKE '%\"npm\"%' OR packages LIKE '%\"pypi\"%')
             ORDER BY priority DESC, id LIMIT 200",
        )?;
        let mut rows = read.query((int(now.saturating_sub(DAY)), int(now)))?;
        let mut found: Vec<Candidate> = Vec::new();
        while let Some(row) = rows.next()? {
            let repository: Option<String> = row.get(1)?;
            let repository = repository.filter(|repository| github(repository).is_some());
            let known = repository.is_some() && found.iter().any(|other| other.repository == repository);
            if !known && found.len() < MAX_CANDIDATES {
                found.push(Candidate {
                    id: row.get(0)?,
                    repository,
                    etag: row.get(2)?,
                    packages: row.get(3)?,
                });
            }
        }
        Ok(found)
    }

    /// Keeps what was found, for all entries of the same repositories, in one transaction. None: it could not be found out, and
    /// is tried again in a day.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn keep(&mut self, looked_up: &[(Candidate, Option<Found>)], now: u64) -> Result<(), DbError> {
        self.try_keep(looked_up, now).map_err(sql("written"))
    }

    fn try_keep(&mut self, looked_up: &[(Candidate, Option<Found>)], now: u64) -> rusqlite::Result<()> {
        let change = self.connection.transaction()?;
        for (candidate, found) in looked_up {
            let found = found.clone().unwrap_or_default();
            change
                .prepare_cached(
                    "UPDATE entries SET downloads = coalesce(?2, downloads), enriched_at = ?3 WHERE id = ?1",
                )?
                .execute((&candidate.id, found.downloads.map(int), int(now)))?;
            rescore(&change, "id = ?1", [&candidate.id], now)?;
            let Some(repository) = &candidate.repository else { continue };
            change
                .prepare_cached(
                    "UPDATE entries SET stars = coalesce(?2, stars), last_commit_at = coalesce(?3, last_commit_at),
                     enriched_etag = coalesce(?4, enriched_etag), enriched_at = ?5 WHERE repository = ?1",
                )?
                .execute((
                    repository,
                    found.stars.map(int),
                    found.last_commit_at.map(int),
                    found.etag,
                    int(now),
                ))?;
            rescore(&change, "repository = ?1", [repository], now)?;
        }
        change.commit()
    }
}
