//! Fetches a file of any size: what has come stays, and the next try goes on behind it.
//!
//! ```text
//!  DIR/part there? ─► hashed ─► GET with Range ─┬─ 206, from there on ─► appended ─► whole? ─► SHA-256 is the wanted one
//!                                               ├─ 200 ─► from the beginning            │
//!                                               └─ 416 ─► is it whole already?          └─ broke off ─► a pause ─► once more
//! ```
//!
//! Owns the file and its hash. Must never call a file whole whose hash is another one: that file is removed.

use std::fs::{File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use harbor_ipc_proto::hex::hex;
use harbor_policy::package::binary::OTHER_FILE;
use harbor_policy::remote::{parse, place};
use nix::sys::statvfs::statvfs;
use reqwest::header::{CONTENT_RANGE, ETAG, HeaderMap, HeaderValue, IF_RANGE, RANGE};
use reqwest::{Response, StatusCode};
use sha2::{Digest as _, Sha256};
use tokio::time::{Instant, sleep, timeout};
use url::Url;

use super::fetch::{Broken, SILENCE, Way};
use super::step::{Options, amount, say};

/// The file as far as it has come, in the step's directory.
const PART: &str = "part";

/// More is not fetched, in bytes: a size that a disk can have.
const MAX_FILE: u64 = 1 << 40;

/// Room that is left free.
const SPARE: u64 = 256 << 20;

/// How often a connection may be lost while nothing comes between two losses.
const TRIES: u32 = 8;

/// The pause before the first of these tries; each further one doubles it.
const PAUSE: Duration = Duration::from_millis(50);

/// Time between two lines about how much has come.
const TOLD: Duration = Duration::from_millis(200);

/// Bytes that are hashed at a time of what lies there already.
const BLOCK: usize = 1 << 20;

/// The file, its hash and its length.
struct PartFile {
    path: PathBuf,
    file: File,
    hash: Sha256,
    size: u64,
    told: Instant,
}

/// The step.
pub(super) fn fetch_long(options: &Options) -> Result<(), Broken> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| error.to_string())?;
    runtime.block_on(perform(options))
}

async fn perform(options: &Options) -> Result<(), Broken> {
    let wanted = options.get("sha256");
    let wanted = wanted.ok_or_else(|| "without its SHA-256 nobody knows which file is meant".to_owned())?;
    let url = options.get("url").unwrap_or_default();
    let url = parse(url).map_err(|expected| format!("its address is not valid: expected {expected}"))?;
    let way = Way::of(options);
    let mut part = PartFile::open(&options.dir().join(PART)).map_err(wrote)?;
    let (mut tries, mut validator) = (0, None);
    loop {
        let before = part.size;
        match rest(&way, &url, &mut part, &mut validator).await {
            Ok(()) => break,
            Err(broken @ Broken::ForGood(_)) => return Err(broken),
            Err(Broken::Off(why)) => {
                tries = if part.size > before { 1 } else { tries + 1 };
                if tries > TRIES {
                    let why = format!("{why}; what has come is kept, and the next try goes on behind it");
                    return Err(why.into());
                }
                say(&format!("{why}; going on behind it"));
                sleep(PAUSE * 2_u32.pow(tries - 1)).await;
            }
        }
    }
    part.check(wanted)
}

/// Fetches what is still to come.
async fn rest(
    way: &Way,
    url: &Url,
    part: &mut PartFile,
    validator: &mut Option<HeaderValue>,
) -> Result<(), Broken> {
    let asked = way.get(url, &range(part.size, validator.as_ref())).await;
    let Some(mut answer) = asked? else {
        return Err(format!("there is no such file at {} (HTTP 404)", place(url)).into());
    };
    let there = place(answer.url());
    *validator = answer.headers().get(ETAG).filter(|tag| is_strong(tag)).cloned();
    let total = match (answer.status(), span(&answer)) {
        (StatusCode::PARTIAL_CONTENT, Some((from, total))) if from == part.size => total,
        (StatusCode::RANGE_NOT_SATISFIABLE, Some((_, Some(total)))) if total == part.size => return Ok(()),
        (StatusCode::OK, _) => {
            part.begin_anew().map_err(wrote)?;
            answer.content_length()
        }
        // The file there is another one by now, or its server counts otherwise.
        (StatusCode::PARTIAL_CONTENT | StatusCode::RANGE_NOT_SATISFIABLE, _) if part.size > 0 => {
            part.begin_anew().map_err(wrote)?;
            return Err(Broken::Off(format!("{there} has another file than before")));
        }
        (status, _) => return Err(format!("{there} answered with HTTP {}", status.as_u16()).into()),
    };
    has_room(&part.path, total.unwrap_or(0).saturating_sub(part.size))?;
    if total.is_some_and(|total| total > MAX_FILE) {
        return Err(format!("it is larger than {}, the limit", amount(MAX_FILE)).into());
    }
    part.take(&mut answer, total, &there).await
}

fn range(size: u64, validator: Option<&HeaderValue>) -> HeaderMap {
    let mut headers = HeaderMap::new();
    let from = HeaderValue::from_str(&format!("bytes={size}-")).ok().filter(|_| size > 0);
    if let Some(from) = from {
        headers.insert(RANGE, from);
        headers.extend(validator.map(|tag| (IF_RANGE, tag.clone())));
    }
    headers
}

fn is_strong(tag: &HeaderValue) -> bool {
    tag.as_bytes().starts_with(b"\"")
}

/// Where a part begins, and how long the whole is: `bytes 5-9/10`, `bytes */10`.
fn span(answer: &Response) -> Option<(u64, Option<u64>)> {
    read_span(answer.headers().get(CONTENT_RANGE)?.to_str().ok()?)
}

fn read_span(text: &str) -> Option<(u64, Option<u64>)> {
    let (part, whole) = text.strip_prefix("bytes ")?.split_once('/')?;
    let from = if part == "*" { 0 } else { part.split_once('-')?.0.parse().ok()? };
    let whole = if whole == "*" { None } else { Some(whole.parse().ok()?) };
    Some((from, whole))
}

/// Checks that the disk has room for what is to come, before it comes.
fn has_room(path: &Path, bytes: u64) -> Result<(), Broken> {
    let Ok(disk) = statvfs(path) else { return Ok(()) };
    let free = disk.blocks_available().saturating_mul(disk.fragment_size());
    match bytes > 0 && free < bytes.saturating_add(SPARE) {
        true => Err(format!(
            "the disk has {} free, and this takes {} and {} that stay free: make room on that disk",
            amount(free),
            amount(bytes),
            amount(SPARE)
        )
        .into()),
        false => Ok(()),
    }
}

impl PartFile {
    /// Opens it, and hashes the bytes that lie there already.
    fn open(path: &Path) -> io::Result<Self> {
        let mut file = OpenOptions::new().read(true).append(true).create(true).open(path)?;
        let (mut hash, mut size, mut block) = (Sha256::new(), 0, vec![0; BLOCK]);
        loop {
            let n = file.read(&mut block)?;
            if n == 0 {
                break;
            }
            hash.update(block.get(..n).unwrap_or_default());
            size += n as u64;
        }
        Ok(Self { path: path.to_owned(), file, hash, size, told: Instant::now() })
    }

    fn begin_anew(&mut self) -> io::Result<()> {
        self.file.set_len(0)?;
        (self.hash, self.size) = (Sha256::new(), 0);
        Ok(())
    }

    /// Takes the body of an answer. `total`: the length of the whole file, where it is known.
    async fn take(&mut self, answer: &mut Response, total: Option<u64>, there: &str) -> Result<(), Broken> {
        loop {
            self.tell(total);
            let piece = timeout(SILENCE, answer.chunk()).await;
            let off = |why: String| Broken::Off(format!("{there} {why} after {}", amount(self.size)));
            let piece = piece.map_err(|_| off(format!("sent nothing more for {} s", SILENCE.as_secs())))?;
            let Some(piece) = piece.map_err(|_| off("broke off".into()))? else { break };
            self.size += piece.len() as u64;
            if self.size > total.unwrap_or(MAX_FILE) {
                return Err(format!("{there} sends more than it said").into());
            }
            self.hash.update(&piece);
            self.file.write_all(&piece).map_err(wrote)?;
        }
        match total {
            Some(total) if self.size < total => {
                Err(Broken::Off(format!("{there} broke off after {}", amount(self.size))))
            }
            _ => {
                self.told = Instant::now() - TOLD;
                self.tell(total);
                Ok(())
            }
        }
    }

    /// A line on stdout for whoever waits: how much has come, and of how much.
    fn tell(&mut self, total: Option<u64>) {
        if self.told.elapsed() >= TOLD {
            self.told = Instant::now();
            let _ = writeln!(io::stdout(), "{} {}", self.size, total.unwrap_or(0));
        }
    }

    fn check(self, wanted: &str) -> Result<(), Broken> {
        let found = hex(&self.hash.finalize());
        if found == wanted {
            say(&format!("fetched {}, SHA-256 {found}", amount(self.size)));
            return Ok(self.file.sync_all().map_err(wrote)?);
        }
        // The next try begins anew.
        let _ = std::fs::remove_file(&self.path);
        Err(format!("the file at its address {OTHER_FILE}: its SHA-256 is {found}, not {wanted}").into())
    }
}

fn wrote(error: io::Error) -> String {
    match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
            "it cannot be written: the disk is full; make room on that disk, and the next try goes on".into()
        }
        _ => format!("it cannot be written: {error}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_says_where_it_begins_and_how_long_the_whole_is() {
        assert_eq!(read_span("bytes 5-9/10"), Some((5, Some(10))));
        assert_eq!(read_span("bytes 5-9/*"), Some((5, None)));
        assert_eq!(read_span("bytes */10"), Some((0, Some(10))));
        for wrong in
            ["", "bytes", "bytes 5/10", "bytes x-9/10", "items 5-9/10", "bytes 5-9/99999999999999999999999"]
        {
            assert_eq!(read_span(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn only_the_rest_is_asked_for_and_only_of_the_same_file() {
        let headers = |size, tag: Option<&'static str>| {
            let tag = tag.map(HeaderValue::from_static).filter(is_strong);
            let headers = range(size, tag.as_ref());
            let text = |name| headers.get(name).map(|value| value.to_str().unwrap().to_owned());
            (text(RANGE), text(IF_RANGE))
        };
        assert_eq!(headers(0, Some("\"a\"")), (None, None));
        assert_eq!(headers(7, Some("\"a\"")), (Some("bytes=7-".into()), Some("\"a\"".into())));
        assert_eq!(headers(7, Some("W/\"a\"")), (Some("bytes=7-".into()), None));
    }

    #[test]
    fn what_lies_there_is_hashed_with_what_comes() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join(PART);
        std::fs::write(&path, b"hello ").unwrap();
        let mut part = PartFile::open(&path).unwrap();
        part.hash.update(b"world");
        assert_eq!((part.size, hex(&part.hash.finalize_reset())), (6, hex(&Sha256::digest(b"hello world"))));
        assert!(part.check("other").is_err() && !path.exists());
    }
}
