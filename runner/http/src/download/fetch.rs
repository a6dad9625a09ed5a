//! Fetches one file, and checks that it is the expected one.
//!
//! ```text
//!  URL.minisig ─► signature, if a key was given ┐
//!  URL ─► redirects, each looked at ─► pieces ──┴─► disk, SHA-256, signature ─► fetched.json
//! ```
//!
//! Owns the limits. Must never follow a redirect to a place that the person would have to allow and has not.

use std::fmt;
use std::fs::File;
use std::io::Write as _;
use std::ops::Deref;
use std::time::Duration;

use harbor_ipc_proto::download::Fetched;
use harbor_ipc_proto::hex::hex;
use harbor_ipc_proto::link::runner::RemoteEnd;
use harbor_policy::package::binary::OTHER_FILE;
use harbor_policy::remote::{AllowedAddresses, parse, place};
use reqwest::header::{HeaderMap, LOCATION};
use reqwest::{Response, StatusCode};
use sha2::{Digest as _, Sha256};
use tokio::time::timeout;
use url::Url;

use super::signature::{Signed, is_signature};
use super::step::{DOWNLOAD, FETCHED, Options, amount, say};
use harbor_web::address::Rules;
use harbor_web::client::client;
use harbor_web::trouble::{Trouble, of_status, wait_of};

/// The most bytes of a file that are fetched.
const MAX_FILE: u64 = 256 << 20;

/// Bytes of a signature at most.
const MAX_SIGNATURE: u64 = 8 << 10;

/// The time from the lookup to the last byte. The bridge's own limit for a step is longer.
const LIMIT: Duration = Duration::from_secs(600);

/// The longest silence.
pub(super) const SILENCE: Duration = Duration::from_secs(60);

/// How long Harbor looks for a signature that nobody asked for.
const GLANCE: Duration = Duration::from_secs(5);

const MAX_REDIRECTS: usize = 5;

/// The bytes between two lines about the download.
const TOLD: u64 = 4 << 20;

/// The step.
pub(super) fn fetch(options: &Options) -> Result<(), String> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| error.to_string())?;
    runtime.block_on(async {
        let url = options.get("url").unwrap_or_default();
        let late = || Err(format!("the download took longer than {} s", LIMIT.as_secs()));
        timeout(LIMIT, perform(options, url)).await.unwrap_or_else(|_| late())
    })
}

async fn perform(options: &Options, url: &str) -> Result<(), String> {
    let way = Way::of(options);
    let url = parse(url).map_err(|expected| format!("its address is not valid: expected {expected}"))?;
    let signed = match options.get("minisign") {
        Some(key) => Some(Signed::new(key, &way.signature(&url).await?)?),
        None => None,
    };
    let mut answer = way
        .get(&url, &HeaderMap::new())
        .await?
        .ok_or_else(|| format!("there is no such file at {} (HTTP 404)", place(&url)))?;
    let path = options.dir().join(DOWNLOAD);
    let wrote = |error: std::io::Error| format!("it cannot be written: {error}");
    let mut file = File::create(&path).map_err(wrote)?;
    let (mut hash, mut told) = (Sha256::new(), 0);
    let whole = answer.content_length();
    let mut pieces = Pieces { place: place(answer.url()), most: MAX_FILE, size: 0 };
    while let Some(piece) = pieces.next(&mut answer).await? {
        hash.update(&*piece);
        file.write_all(&piece).map_err(wrote)?;
        if pieces.size >= told + TOLD {
            told = pieces.size;
            let of = whole.map(|whole| format!(" of {}", amount(whole))).unwrap_or_default();
            say(&format!("fetched {}{of}", amount(told)));
        }
    }
    let is_vouched_for = signed.is_some() || options.get("sha256").is_some();
    let unread_signature = !is_vouched_for && way.has_signature(&url).await;
    let fetched = Fetched { sha256: hex(&hash.finalize()), size: pieces.size, unread_signature };
    is_meant(&fetched, options.get("sha256"))?;
    if let Some(signed) = signed {
        signed.check(&path)?;
        say("its signature is good");
    }
    say(&format!("fetched {}, SHA-256 {}", amount(fetched.size), fetched.sha256));
    let text = serde_json::to_vec(&fetched).map_err(|error| error.to_string())?;
    std::fs::write(options.dir().join(FETCHED), text).map_err(wrote)
}

fn is_meant(fetched: &Fetched, wanted: Option<&str>) -> Result<(), String> {
    match wanted {
        Some(wanted) if wanted != fetched.sha256 => Err(format!(
            "the file at its address {OTHER_FILE}: its SHA-256 is {}, not {wanted}",
            fetched.sha256
        )),
        _ => Ok(()),
    }
}

/// Why a try has ended.
#[derive(Debug)]
pub(super) enum Broken {
    /// The connection was lost: another try may help.
    Off(String),
    /// No other try helps.
    ForGood(String),
}

impl fmt::Display for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (Self::Off(why) | Self::ForGood(why)) = self;
        f.write_str(why)
    }
}

impl From<String> for Broken {
    fn from(why: String) -> Self {
        Self::ForGood(why)
    }
}

impl From<Trouble> for Broken {
    fn from(trouble: Trouble) -> Self {
        match trouble.kind {
            RemoteEnd::Unreachable => Self::Off(trouble.why),
            _ => Self::ForGood(trouble.why),
        }
    }
}

impl From<Broken> for String {
    fn from(broken: Broken) -> Self {
        broken.to_string()
    }
}

/// The rules for places to fetch from.
pub(super) struct Way {
    allow_http: bool,
    /// This machine is private, too: an address may be somebody else's words, and redirects are.
    reach: AllowedAddresses,
    env: Vec<(String, String)>,
}

impl Way {
    pub(super) fn of(options: &Options) -> Self {
        let env = std::env::vars_os();
        let env = env.filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)));
        Self {
            allow_http: options.has("allow-http"),
            reach: if options.has("allow-private") {
                AllowedAddresses::Private
            } else {
                AllowedAddresses::Public
            },
            env: env.collect(),
        }
    }

    /// True if a signature lies beside a file that nothing else vouches for. The person is told, and could ask for a key.
    async fn has_signature(&self, url: &Url) -> bool {
        let found = timeout(GLANCE, self.signature(url)).await;
        found.is_ok_and(|found| found.is_ok_and(|text| is_signature(&text)))
    }

    /// The signature that lies beside a file.
    async fn signature(&self, url: &Url) -> Result<String, String> {
        let mut beside = url.clone();
        beside.set_path(&format!("{}.minisig", url.path()));
        let found = self.get(&beside, &HeaderMap::new()).await?;
        let mut answer = found.ok_or_else(|| {
            format!(
                "it is not signed: {} has no {}. To install it unchecked, leave out --minisign-key",
                place(url),
                beside.path()
            )
        })?;
        let mut pieces = Pieces { place: place(url), most: MAX_SIGNATURE, size: 0 };
        let mut text = Vec::new();
        while let Some(piece) = pieces.next(&mut answer).await? {
            text.extend_from_slice(&piece);
        }
        String::from_utf8(text).map_err(|_| "its signature is not in minisign's format".into())
    }

    /// The answer with a file. None when there is no such file. The headers say from where on it is wanted: with some, its status
    /// does, too.
    pub(super) async fn get(&self, url: &Url, range: &HeaderMap) -> Result<Option<Response>, Broken> {
        let mut url = url.clone();
        for _ in 0..=MAX_REDIRECTS {
            let answer = self.ask(&url, range).await?;
            let (status, there) = (answer.status(), place(&url));
            if status.is_redirection() {
                url = self.follow(&url, &answer)?;
                continue;
            }
            return match status {
                StatusCode::OK => Ok(Some(answer)),
                StatusCode::PARTIAL_CONTENT | StatusCode::RANGE_NOT_SATISFIABLE if !range.is_empty() => {
                    Ok(Some(answer))
                }
                StatusCode::NOT_FOUND | StatusCode::GONE => Ok(None),
                StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => {
                    Err(format!("{there} requires a key for this file (HTTP {})", status.as_u16()).into())
                }
                status => {
                    let why = of_status(status, wait_of(answer.headers()), &there);
                    let passes = status.is_server_error() || status == StatusCode::TOO_MANY_REQUESTS;
                    Err(if passes { Broken::Off(why) } else { Broken::ForGood(why) })
                }
            };
        }
        Err(format!("{} redirects too many times", place(&url)).into())
    }

    async fn ask(&self, url: &Url, range: &HeaderMap) -> Result<Response, Broken> {
        let rules = Rules::within(url, self.reach, self.allow_http)?;
        let client = client(rules, url, &self.env)?;
        let there = place(url);
        let asked = timeout(SILENCE, client.get(url.clone()).headers(range.clone()).send()).await;
        let answered = asked.map_err(|_| Broken::Off(format!("{there} did not answer in time")))?;
        Ok(answered.map_err(|error| Trouble::from_request(&error, &there))?)
    }

    /// The URL that a redirect leads to. Its connection checks if the address is private.
    fn follow(&self, from: &Url, answer: &Response) -> Result<Url, String> {
        let here = place(from);
        let to = answer.headers().get(LOCATION).and_then(|to| from.join(to.to_str().ok()?).ok());
        let to = to.ok_or_else(|| {
            format!("{here} redirects without an address (HTTP {})", answer.status().as_u16())
        })?;
        let to =
            parse(to.as_str()).map_err(|_| format!("{here} redirects to an address that is not a file's"))?;
        match to.scheme() {
            "https" => Ok(to),
            _ if self.allow_http => Ok(to),
            _ => Err(format!(
                "{here} redirects to {}, which is without TLS; --allow-http allows that",
                place(&to)
            )),
        }
    }
}

/// The pieces of one answer, counted.
pub(super) struct Pieces {
    pub(super) place: String,
    pub(super) most: u64,
    pub(super) size: u64,
}

impl Pieces {
    pub(super) async fn next(
        &mut self,
        answer: &mut Response,
    ) -> Result<Option<impl Deref<Target = [u8]> + use<>>, String> {
        let too_large = |most| Err(format!("it is larger than {}, the limit", amount(most)));
        if answer.content_length().is_some_and(|length| length > self.most) {
            return too_large(self.most);
        }
        let piece = timeout(SILENCE, answer.chunk()).await;
        let piece =
            piece.map_err(|_| format!("{} sent nothing more for {} s", self.place, SILENCE.as_secs()))?;
        let piece = piece.map_err(|_| {
            format!("the connection to {} was lost after {}; try again", self.place, amount(self.size))
        })?;
        self.size += piece.as_deref().map_or(0, |piece| piece.len() as u64);
        if self.size > self.most { too_large(self.most) } else { Ok(piece) }
    }
}
