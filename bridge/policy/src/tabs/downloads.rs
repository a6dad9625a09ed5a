//! The downloads that began in a session's tabs.
//!
//! ```text
//!  in progress ─┬─► complete
//!               ├─► interrupted: the browser says why
//!               └─► lost: the extension has begun anew, and does not know
//! ```
//!
//! Owns their numbers, which a session gives itself: the browser's own would tell how much the person downloads. Must never
//! open a file.

use std::collections::VecDeque;

use crate::lifecycle::Millis;

/// How many are kept of a session, the newest.
pub const MOST_DOWNLOADS: usize = 100;

/// The end of a download, or that it goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DownloadState {
    /// More of it comes.
    InProgress,
    /// The file is whole.
    Complete,
    /// It has ended before that.
    Interrupted,
}

impl DownloadState {
    /// The state of this word.
    #[must_use]
    pub fn of(word: &str) -> Option<Self> {
        [Self::InProgress, Self::Complete, Self::Interrupted].into_iter().find(|state| state.word() == word)
    }

    /// Its word on the wire.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::InProgress => "in_progress",
            Self::Complete => "complete",
            Self::Interrupted => "interrupted",
        }
    }
}

/// A download.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Download {
    /// Its number in the session, from 1; 0 until the session has given it.
    pub number: u64,
    /// The browser's own number of it.
    pub id: u64,
    /// The tab in which it began.
    pub tab: u64,
    /// Its address.
    pub url: String,
    /// The path of the file that the browser saves; empty while the browser has not chosen it.
    pub path: String,
    /// The file's kind.
    pub mime: String,
    /// How many bytes have come.
    pub bytes: u64,
    /// How many there will be, if anybody knows.
    pub total: Option<u64>,
    /// Its end, or that it goes on.
    pub state: DownloadState,
    /// Why it was interrupted.
    pub error: Option<String>,
    /// True if nothing but this session can have begun it.
    pub own: bool,
    /// The time at which the bridge first heard of it, in milliseconds since 1970.
    pub began: Millis,
    /// True once the person has let the session have its bytes.
    pub given: bool,
}

impl Download {
    /// The name of its file, without characters that nobody sees.
    #[must_use]
    pub fn name(&self) -> String {
        let of_url = || self.url.split(['?', '#']).next().unwrap_or_default();
        let whole = if self.path.is_empty() { of_url() } else { &self.path };
        let name = whole.rsplit(['/', '\\']).next().unwrap_or_default();
        let name: String = name.chars().filter(|c| !c.is_control()).take(255).collect();
        if name.is_empty() { "download".to_owned() } else { name }
    }
}

/// The newest downloads of a session.
#[derive(Debug, Clone, Default)]
pub struct Downloads {
    kept: VecDeque<Download>,
    given: u64,
}

impl Downloads {
    /// Takes a download as it is now. Its number and its beginning stay. A yes to its bytes was to those that it had.
    pub fn note(&mut self, download: Download) {
        if let Some(known) = self.kept.iter_mut().find(|known| known.id == download.id) {
            let (number, began) = (known.number, known.began);
            *known = Download { number, began, ..download };
            return;
        }
        if self.kept.len() == MOST_DOWNLOADS {
            self.kept.pop_front();
        }
        self.given += 1;
        self.kept.push_back(Download { number: self.given, ..download });
    }

    /// The person has let the session have the bytes of this one: a large file comes in several answers.
    pub(super) fn give(&mut self, number: u64) {
        let download = self.kept.iter_mut().find(|known| known.number == number);
        download.into_iter().for_each(|download| download.given = true);
    }

    /// All that are kept, the oldest first.
    pub fn all(&self) -> impl Iterator<Item = &Download> {
        self.kept.iter()
    }

    /// The download with this number; the newest if none is named.
    #[must_use]
    pub fn get(&self, number: Option<u64>) -> Option<&Download> {
        match number {
            Some(number) => self.kept.iter().find(|download| download.number == number),
            None => self.kept.back(),
        }
    }

    pub(super) fn lose(&mut self) {
        for download in self.kept.iter_mut().filter(|one| one.state == DownloadState::InProgress) {
            download.state = DownloadState::Interrupted;
            download.error = Some("Harbor's extension restarted and does not know what became of it".into());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn download(id: u64, state: DownloadState) -> Download {
        Download {
            number: 0,
            id,
            tab: 7,
            url: "https://a.example/files/report.csv?x=/1".into(),
            path: String::new(),
            mime: "text/csv".into(),
            bytes: 0,
            total: None,
            state,
            error: None,
            own: true,
            began: id,
            given: false,
        }
    }

    #[test]
    fn each_keeps_its_number_and_its_beginning() {
        let mut downloads = Downloads::default();
        downloads.note(download(70, DownloadState::InProgress));
        downloads.note(download(71, DownloadState::InProgress));
        downloads.give(1);
        assert!(downloads.get(Some(1)).unwrap().given && !downloads.get(Some(2)).unwrap().given);
        let later =
            Download { began: 99, path: "/d/report (1).csv".into(), ..download(70, DownloadState::Complete) };
        downloads.note(later);
        let shown: Vec<_> =
            downloads.all().map(|one| (one.number, one.began, one.state, one.name())).collect();
        assert_eq!(
            shown,
            [
                (1, 70, DownloadState::Complete, "report (1).csv".to_owned()),
                (2, 71, DownloadState::InProgress, "report.csv".to_owned()),
            ]
        );
        assert_eq!(downloads.get(None).map(|one| one.number), Some(2));
        assert_eq!(downloads.get(Some(3)), None);
        downloads.lose();
        assert_eq!(downloads.get(Some(1)).unwrap().state, DownloadState::Complete);
        assert!(downloads.get(Some(2)).unwrap().error.as_deref().unwrap().contains("restarted"));
    }

    #[test]
    fn the_newest_are_kept() {
        let mut downloads = Downloads::default();
        (0..150).for_each(|id| downloads.note(download(id, DownloadState::Complete)));
        assert_eq!(downloads.all().count(), MOST_DOWNLOADS);
        assert_eq!(downloads.get(None).unwrap().number, 150);
    }
}
