//! The tool `browser_downloads`, which the bridge answers itself: what a session's tabs have downloaded, and the bytes of one.
//!
//! ```text
//!  extension ─ source_event: download ─► policy::tabs::downloads ─┬─► list, wait
//!                                                                 └─► read: the file that the browser saved ─► bytes
//! ```
//!
//! The bridge reads the file itself: an extension has no way to one, and to fetch its address again could get something else. A
//! path comes from the extension, so the file must be one that came into being, or was changed last, while the download ran.
//! Must never follow a link, nor give the bytes of a download that somebody else may have begun.

use std::fs::File;
use std::io;
use std::os::unix::fs::{FileExt as _, MetadataExt as _};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use harbor_home::clock::wall_clock;
use harbor_home::files::regular_file;
use harbor_ipc_proto::client::envelope::ErrorBody;
use harbor_ipc_proto::client::{BrowserDownload, SourceEvent};
use harbor_ipc_proto::json::Json;
use harbor_policy::consent::Names;
use harbor_policy::tabs::{Download, DownloadState, Holder};
use nix::unistd::geteuid;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::{Value, json};
use tokio::time::{Instant, timeout_at};
use url::Url;

use super::results::{denied, failed, result, stopped};
use super::source::Browser;
use crate::host::invalid;
use crate::link::{ServerAnswer, TimeLimit};

/// The most bytes of a file that a client gets.
const MOST_READ: u64 = 64 * 1024 * 1024;

/// Bytes of one answer: MCP's SDK takes 10 MiB in a line.
const PIECE: usize = 4 * 1024 * 1024;

/// The longest file of text that a client gets as text, in bytes.
const MOST_TEXT: usize = 1024 * 1024;

/// How long a download is waited for where nothing is said.
const WAIT: Duration = Duration::from_secs(30);

/// The part of a call's time that is kept back: what has come must still be told.
const SPARE: Duration = Duration::from_secs(1);

/// How much earlier than the bridge heard of it a download may have begun, in milliseconds.
const EARLIER: u64 = 10_000;

/// The longest text that is kept of a download, in characters.
const MAX_TEXT: usize = 4096;

impl Browser {
    /// Takes what the extension says of a download in a session's tab; false if the tab is nobody's.
    ///
    /// # Errors
    /// When it says nothing of a download, or an unknown state.
    pub(super) fn on_download(&self, message: &SourceEvent, tab: u64) -> Result<bool, ErrorBody> {
        let told = message.download.clone().ok_or_else(|| invalid("download", "a download"))?;
        let download = taken(told, tab)?;
        let Some(session) = self.session_of(tab) else { return Ok(false) };
        let is_known = |known: &&Download| known.id == download.id && known.state == download.state;
        let is_told = self
            .tabs
            .borrow()
            .get(&session)
            .is_some_and(|one| one.downloads.all().any(|known| is_known(&known)));
        let said = format!("{}: {}", download.name(), download.state.word());
        self.tabs.borrow_mut().downloaded(&session, download);
        self.downloaded.notify_waiters();
        if !is_told {
            let message = SourceEvent { title: Some(said), ..message.clone() };
            self.noted(&message, Some(session));
        }
        Ok(true)
    }

    /// Answers a call of the tool about downloads. `given`: its arguments, as they were judged.
    pub(super) async fn on_downloads(
        &self,
        (holder, session): (&Holder, &Arc<str>),
        (arguments, given): (&Value, &str),
        limit: TimeLimit,
    ) -> ServerAnswer {
        let number = arguments["id"].as_u64();
        match arguments["action"].as_str() {
            Some("list") => self.downloads(session),
            Some("wait") => {
                let asked = arguments["timeout"].as_f64().and_then(|s| Duration::try_from_secs_f64(s).ok());
                let left = limit.quiet.saturating_sub(limit.used).saturating_sub(SPARE);
                self.wait_for_download(session, number, asked.unwrap_or(WAIT).min(left)).await
            }
            _ => {
                let offset = arguments["offset"].as_u64().unwrap_or_default();
                self.read_download((holder, session), (number, offset), given).await
            }
        }
    }

    fn downloads(&self, session: &str) -> ServerAnswer {
        let tabs = self.tabs.borrow();
        let all = tabs.get(session).map(|session| session.downloads.all().map(shown).collect::<Vec<_>>());
        result(&json!({"downloads": all.unwrap_or_default()}))
    }

    /// The download, or the newest one, once it has ended; else how far it is.
    async fn wait_for_download(
        &self,
        session: &str,
        number: Option<u64>,
        patience: Duration,
    ) -> ServerAnswer {
        let end = Instant::now() + patience;
        loop {
            let changed = self.downloaded.notified();
            if self.tabs.borrow().get(session).is_none() {
                return stopped();
            }
            if self.is_gone() {
                return failed(
                    "browser_gone",
                    "the browser, or Harbor's extension in it, has ended or restarted",
                );
            }
            let now = self.download(session, number);
            match &now {
                Some(download) if download.state != DownloadState::InProgress => return ended(download),
                _ => {}
            }
            if timeout_at(end, changed).await.is_err() {
                let seconds = patience.as_secs_f64();
                return match now {
                    Some(download) => unfinished(&download, seconds),
                    None => failed(
                        "no_download",
                        &format!("no download of your tabs began within {seconds:.0} s"),
                    ),
                };
            }
        }
    }

    fn download(&self, session: &str, number: Option<u64>) -> Option<Download> {
        self.tabs.borrow().get(session)?.downloads.get(number).cloned()
    }

    /// The words for the file whose bytes a call with these arguments would give.
    pub(super) fn download_shown(&self, session: &str, arguments: &Value) -> Names {
        let is_read = arguments["action"] == "read";
        let download = self.download(session, arguments["id"].as_u64()).filter(|_| is_read);
        download.filter(|one| !one.given && refusal(one).is_none()).iter().map(label).collect()
    }

    async fn read_download(
        &self,
        (holder, session): (&Holder, &str),
        (number, offset): (Option<u64>, u64),
        given: &str,
    ) -> ServerAnswer {
        let Some(download) = self.download(session, number) else {
            return failed("no_download", "your tabs have no such download; the action list shows them");
        };
        if let Some(refused) = refusal(&download) {
            return refused;
        }
        let shown = Names::from([label(&download)]);
        if !download.given && !self.shown_files.borrow().has(holder, given, &shown) {
            return failed("file_changed", "the download changed while the person was asked; call again");
        }
        let saved = SavedFile { path: download.path.clone(), bytes: download.bytes, began: download.began };
        match tokio::task::spawn_blocking(move || saved.piece(offset)).await {
            Ok(Ok(bytes)) => {
                self.tabs.borrow_mut().give_download(session, download.number);
                piece(&download, offset, bytes)
            }
            Ok(Err(error)) => {
                failed("unreadable", &format!("the file that the browser saved cannot be read: {error}"))
            }
            Err(_) => failed("internal", "the file could not be read"),
        }
    }
}

/// A download as the extension tells of it, within bounds.
fn taken(told: BrowserDownload, tab: u64) -> Result<Download, ErrorBody> {
    let state = DownloadState::of(&told.state);
    let state = state.ok_or_else(|| invalid("download.state", "in_progress, complete or interrupted"))?;
    let short = |text: String| text.chars().take(MAX_TEXT).collect();
    Ok(Download {
        number: 0,
        id: told.id,
        tab,
        url: short(told.url),
        path: short(told.path),
        mime: short(told.mime),
        bytes: told.bytes,
        total: told.total,
        state,
        error: told.error.map(short),
        own: told.own,
        began: wall_clock(),
        given: false,
    })
}

/// Where a download comes from, for people.
fn site_of(download: &Download) -> String {
    let url = Url::parse(&download.url).ok().map(|url| url.origin().ascii_serialization());
    url.filter(|origin| origin != "null").unwrap_or_else(|| "a page".to_owned())
}

/// The words for a file whose bytes a call would give.
fn label(download: &Download) -> String {
    format!("the download {} ({} bytes), from {}", download.name(), download.bytes, site_of(download))
}

fn shown(download: &Download) -> Value {
    json!({
        "id": download.number,
        "name": download.name(),
        "state": download.state.word(),
        "bytes": download.bytes,
        "total": download.total,
        "type": download.mime,
        "from": site_of(download),
        "tabId": download.tab,
        "error": download.error,
    })
}

fn ended(download: &Download) -> ServerAnswer {
    match download.state {
        DownloadState::Complete => result(&json!({"download": shown(download)})),
        _ => {
            let why = download.error.as_deref().unwrap_or("the browser does not say why");
            failed(
                "interrupted",
                &format!("the download {} has ended before it was whole: {why}", download.name()),
            )
        }
    }
}

fn unfinished(download: &Download, seconds: f64) -> ServerAnswer {
    let of = download.total.map(|total| format!(" of {total}")).unwrap_or_default();
    let Download { number, bytes, .. } = download;
    let name = download.name();
    failed(
        "unfinished",
        &format!(
            "after {seconds:.0} s the download {number}, {name}, is still going: {bytes}{of} bytes have come"
        ),
    )
}

/// Why no bytes of a download are given.
fn refusal(download: &Download) -> Option<ServerAnswer> {
    match download {
        Download { state: DownloadState::InProgress, .. } => {
            Some(failed("unfinished", "the download has not ended; the action wait waits for that"))
        }
        Download { state: DownloadState::Interrupted, .. } => Some(ended(download)),
        Download { own: false, .. } => Some(denied(
            "foreign_download",
            "another tab of the person's may have begun this download, so its bytes are not given",
        )),
        Download { bytes, .. } if *bytes > MOST_READ => {
            let most = MOST_READ / 1024 / 1024;
            Some(failed("too_large", &format!("the file has {bytes} bytes; at most {most} MiB are given")))
        }
        _ => None,
    }
}

/// The file that the browser saved.
struct SavedFile {
    path: String,
    bytes: u64,
    began: u64,
}

impl SavedFile {
    /// Its bytes from `offset` on, as many as an answer has.
    fn piece(&self, offset: u64) -> io::Result<Vec<u8>> {
        let path = Path::new(&self.path);
        if !path.is_absolute() {
            return Err(io::Error::other("the browser names no path"));
        }
        let file = regular_file(path)?;
        self.is_it(&file)?;
        let length = usize::try_from(self.bytes.saturating_sub(offset)).unwrap_or(PIECE).min(PIECE);
        let mut piece = vec![0; length];
        file.read_exact_at(&mut piece, offset).map(|()| piece)
    }

    fn is_it(&self, file: &File) -> io::Result<()> {
        let about = file.metadata()?;
        let changed_at = u64::try_from(about.ctime()).unwrap_or_default().saturating_mul(1000);
        if about.nlink() != 1 || about.uid() != geteuid().as_raw() {
            return Err(io::Error::other("it is no regular file of the person's own"));
        }
        // What lay there before was not downloaded.
        if about.len() != self.bytes || changed_at.saturating_add(EARLIER) < self.began {
            return Err(changed());
        }
        Ok(())
    }
}

fn changed() -> io::Error {
    io::Error::other("it is not the file that was downloaded any more")
}

/// A piece of a file as MCP has it: as text where it is a whole text that models read, else as base64.
fn piece(download: &Download, offset: u64, bytes: Vec<u8>) -> ServerAnswer {
    let name = download.name();
    let uri = format!("download:///{}", utf8_percent_encode(&name, NON_ALPHANUMERIC));
    let mime = if download.mime.is_empty() { "application/octet-stream" } else { &download.mime };
    let end = offset.saturating_add(u64::try_from(bytes.len()).unwrap_or_default());
    let next = Some(end).filter(|end| *end < download.bytes);
    let is_text = bytes.len() <= MOST_TEXT && (mime.starts_with("text/") || mime == "application/json");
    let is_whole = offset == 0 && next.is_none();
    let more = next.map(|next| format!("; read on with offset {next}")).unwrap_or_default();
    let said = format!("{name}: {} of {} bytes, {mime}{more}", bytes.len(), download.bytes);
    let resource = match String::from_utf8(bytes) {
        Ok(text) if is_text && is_whole => json!({"uri": uri, "mimeType": mime, "text": text}),
        Ok(text) => json!({"uri": uri, "mimeType": mime, "blob": STANDARD.encode(text)}),
        Err(other) => json!({"uri": uri, "mimeType": mime, "blob": STANDARD.encode(other.into_bytes())}),
    };
    let content = json!([{"type": "text", "text": said}, {"type": "resource", "resource": resource}]);
    let structured = json!({"download": shown(download), "offset": offset, "next": next});
    let whole = json!({"content": content, "structuredContent": structured});
    ServerAnswer::Result(Json::from_valid(whole.to_string()))
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn only_the_file_that_was_saved_is_read() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name).to_str().unwrap().to_owned();
        fs::write(at("report"), "0123").unwrap();
        symlink(at("report"), at("link")).unwrap();
        nix::unistd::mkfifo(at("fifo").as_str(), nix::sys::stat::Mode::S_IRWXU).unwrap();
        let now = wall_clock();
        let read = |path: &str, bytes, began| SavedFile { path: path.to_owned(), bytes, began }.piece(0);
        assert_eq!(read(&at("report"), 4, now).unwrap(), b"0123");
        let later = SavedFile { path: at("report"), bytes: 4, began: now };
        assert_eq!((later.piece(3).unwrap(), later.piece(9).unwrap()), (b"3".to_vec(), Vec::new()));
        let refused = |path: &str, bytes, began| read(path, bytes, began).unwrap_err().to_string();
        assert!(refused(&at("report"), 5, now).contains("not the file"));
        assert!(refused(&at("report"), 3, now).contains("not the file"));
        assert!(refused(&at("report"), 4, now + 60_000).contains("not the file"), "it lay there before");
        assert!(refused(&at("fifo"), 4, now).contains("no regular file"));
        assert!(refused("report", 4, now).contains("no path"));
        assert!(read(&at("link"), 4, now).is_err() && read(&at("gone"), 4, now).is_err());
        fs::hard_link(at("report"), at("second")).unwrap();
        assert!(refused(&at("report"), 4, now).contains("no regular file"));
    }
}
