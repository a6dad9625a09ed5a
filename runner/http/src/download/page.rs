//! Fetches what a person adds to a message: a page, a text or a picture of the web.
//!
//! ```text
//!  URL ─► redirects, each looked at ─► at most 5 MB ─┬─ PNG, JPEG, GIF, WebP, by the bytes ─► as it is ┐
//!                                                    ├─ HTML ─► its readable text ─────────────────────┼─► DIR/page
//!                                                    └─ other text ─► as it is ────────────────────────┘
//! ```
//!
//! The words are other people's, and so is the markup: a library that is made for deep and broken pages reads it (html2text),
//! here, where nothing is but this page. Owns the limits. Must never run a script of a page, nor fetch what a page names.

use std::fmt;
use std::sync::mpsc;
use std::thread;

use harbor_ipc_proto::model::{MAX_IMAGE, picture_type};
use harbor_policy::page_fetch::{LIMIT, MAX_TEXT, PAGE};
use harbor_policy::remote::{parse, place};
use html2text::config;
use reqwest::header::{CONTENT_TYPE, HeaderMap};

use super::fetch::{Broken, Pieces, Way};
use super::step::{Options, amount};

/// How long a line may be, in characters: a table as wide as that has each row in one line.
const WIDTH: usize = 200;

/// Bytes in which a page names its encoding.
const HEAD: usize = 1024;

/// The stack of the thread that reads a page: markup can be nested deeply.
const STACK: usize = 64 << 20;

/// Why a model cannot be shown what came.
#[derive(Debug, PartialEq, Eq)]
enum Unreadable {
    /// There are no words in it.
    NoText,
    /// It is no text and no picture.
    Kind,
    /// Its text has so many bytes.
    TooLong(usize),
    /// It is in an encoding that is not read here.
    Encoding(String),
    /// The markup is not understood.
    Html(String),
}

impl fmt::Display for Unreadable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let amount = |bytes: usize| amount(bytes as u64);
        match self {
            Self::NoText => f.write_str(
                "there is no text in it; if a browser shows some, a script makes it: save the page there, and give the file",
            ),
            Self::Kind => f.write_str(
                "it is neither text nor a PNG, JPEG, GIF or WebP: save it as one of these, and give the file",
            ),
            Self::TooLong(bytes) => write!(
                f,
                "its text is {} long, and {} can be sent: save the part that matters, and give the file",
                amount(*bytes),
                amount(MAX_TEXT)
            ),
            Self::Encoding(name) => {
                write!(f, "it is written in {name}, and Harbor reads UTF-8: save it so, and give the file")
            }
            Self::Html(error) => write!(f, "its HTML cannot be read: {error}"),
        }
    }
}

/// The step.
pub(super) fn fetch_page(options: &Options) -> Result<(), String> {
    let (done, result) = mpsc::channel();
    let (way, url, path) =
        (Way::of(options), options.get("url").unwrap_or_default().to_owned(), options.dir().join(PAGE));
    // A page whose markup takes forever is left behind with its thread, which ends with this process.
    let begun = thread::Builder::new().stack_size(STACK).spawn(move || {
        let said = |why: Unreadable| why.to_string();
        let read = fetch(&way, &url)
            .map_err(String::from)
            .and_then(|(kind, bytes)| readable(&kind, bytes).map_err(said));
        let wrote = |error| format!("it cannot be written: {error}");
        let kept = read.and_then(|bytes| std::fs::write(path, bytes).map_err(wrote));
        // Nobody waits any more if the limit is over.
        let _ = done.send(kept);
    });
    begun.map_err(|error| error.to_string())?;
    let late = |_| format!("it could not be fetched and read within {} s", LIMIT.as_secs());
    result.recv_timeout(LIMIT).map_err(late)?
}

fn fetch(way: &Way, url: &str) -> Result<(String, Vec<u8>), Broken> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| error.to_string())?;
    let url = parse(url).map_err(|expected| format!("its address is not valid: expected {expected}"))?;
    runtime.block_on(async {
        let mut answer = way
            .get(&url, &HeaderMap::new())
            .await?
            .ok_or_else(|| format!("there is no such page at {} (HTTP 404)", place(&url)))?;
        let kind = answer.headers().get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
        let kind = kind.unwrap_or_default().to_ascii_lowercase();
        let mut pieces = Pieces { place: place(answer.url()), most: MAX_IMAGE as u64, size: 0 };
        let mut bytes = Vec::new();
        while let Some(piece) = pieces.next(&mut answer).await? {
            bytes.extend_from_slice(&piece);
        }
        Ok((kind, bytes))
    })
}

/// The part of an answer that a model can be shown: a picture as it is, anything else as text. `kind`: its content type, in small letters.
fn readable(kind: &str, bytes: Vec<u8>) -> Result<Vec<u8>, Unreadable> {
    if picture_type(&bytes).is_some() {
        return Ok(bytes);
    }
    let text = match is_html(kind, &bytes) {
        true => words(&decoded(kind, &bytes)?)?,
        false => match String::from_utf8(bytes) {
            Ok(text) if !text.contains('\0') => text,
            Err(other) if charset(kind).is_some_and(is_latin) => latin(other.as_bytes()),
            _ => return Err(Unreadable::Kind),
        },
    };
    match text.trim() {
        "" => Err(Unreadable::NoText),
        _ if text.len() > MAX_TEXT => Err(Unreadable::TooLong(text.len())),
        _ => Ok(text.into_bytes()),
    }
}

fn is_html(kind: &str, bytes: &[u8]) -> bool {
    let begin = bytes.trim_ascii_start().get(..14).unwrap_or_default().to_ascii_lowercase();
    match kind.split(';').next().unwrap_or_default().trim() {
        "text/html" | "application/xhtml+xml" => true,
        "" | "application/octet-stream" => begin == b"<!doctype html" || begin.starts_with(b"<html"),
        _ => false,
    }
}

/// A page as text. It says in its head, or in its own beginning, how it is written.
fn decoded(kind: &str, bytes: &[u8]) -> Result<String, Unreadable> {
    let head = String::from_utf8_lossy(bytes.get(..HEAD).unwrap_or(bytes)).to_ascii_lowercase();
    match charset(kind).or_else(|| charset(&head)) {
        None | Some("utf-8" | "utf8" | "us-ascii" | "ascii") => {
            Ok(String::from_utf8_lossy(bytes).into_owned())
        }
        Some(latin_one) if is_latin(latin_one) => Ok(latin(bytes)),
        Some(other) => {
            let other: String = other.chars().filter(char::is_ascii_graphic).take(40).collect();
            Err(Unreadable::Encoding(other))
        }
    }
}

/// The encoding that a content type, or the beginning of a page, names.
fn charset(text: &str) -> Option<&str> {
    let (_, rest) = text.split_once("charset=")?;
    let rest = rest.trim_start_matches(['"', '\'', ' ']);
    let name = rest.split(|c: char| !(c.is_ascii_alphanumeric() || "-_:.".contains(c))).next()?;
    Some(name).filter(|name| !name.is_empty())
}

fn is_latin(charset: &str) -> bool {
    matches!(charset, "iso-8859-1" | "latin1" | "windows-1252" | "cp1252")
}

/// Each byte as its character. Windows has some more where there are none here; those are lost.
fn latin(bytes: &[u8]) -> String {
    let read =
        |&byte: &u8| if (0x80..0xa0).contains(&byte) { char::REPLACEMENT_CHARACTER } else { byte.into() };
    bytes.iter().map(read).collect()
}

/// The words of a page: without scripts, styles and addresses.
fn words(html: &str) -> Result<String, Unreadable> {
    let reader = config::plain_no_decorate().allow_width_overflow().no_link_wrapping();
    let text = reader.string_from_read(html.as_bytes(), WIDTH);
    let text = text.map_err(|error| Unreadable::Html(error.to_string()))?;
    // Of a table the bars between cells stay, and no lines between rows.
    let is_border = |line: &str| !line.is_empty() && line.chars().all(|c| "─┬┴┼".contains(c));
    let lines = text.lines().map(str::trim_end).filter(|line| !is_border(line));
    Ok(lines.map(|line| line.to_owned() + "\n").collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(kind: &str, bytes: &[u8]) -> Result<String, Unreadable> {
        readable(kind, bytes.to_vec()).map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
    }

    #[test]
    fn of_a_page_the_words_stay() {
        let page = "<!doctype html><title>t</title><style>p{}</style><script>evil()</script><h1>Herons &amp; lakes</h1>\
                    <p>A <b>grey</b> <a href='https://a.example/?q'>heron</a><img src=x alt='a bird'></p>\
                    <ul><li>one<li>two</ul><table><tr><th>Name<th>Size<tr><td>Grey<td>90 cm</table>\
                    <pre>  a\n b</pre><!-- c -->";
        let words =
            "# Herons & lakes\n\nA grey [heron][a bird]\n* one\n* two\n\nName│Size\nGrey│90 cm\n\n  a\n b\n";
        assert_eq!(read("text/html; charset=utf-8", page.as_bytes()).unwrap(), words);
        assert_eq!(read("", page.as_bytes()).unwrap(), words);
        assert_eq!(read("text/plain", page.as_bytes()).unwrap(), page);
    }

    #[test]
    fn other_texts_and_pictures_stay_as_they_are_and_nothing_else_goes() {
        for (kind, text) in
            [("application/json", "{\"a\": \"<html>\"}"), ("text/markdown", "# a\n"), ("", "a,b\n")]
        {
            assert_eq!(read(kind, text.as_bytes()).unwrap(), text);
        }
        // What it calls itself does not matter.
        assert_eq!(readable("text/html", b"GIF89a\0".to_vec()).unwrap(), b"GIF89a\0");
        for (kind, bytes) in
            [("application/pdf", &b"%PDF-1\xff"[..]), ("text/plain", b"a\0b"), ("", b"\x1f\x8b")]
        {
            assert_eq!(read(kind, bytes).unwrap_err(), Unreadable::Kind);
        }
        assert_eq!(
            read("text/html", b"<script>x</script><div id=app></div>").unwrap_err(),
            Unreadable::NoText
        );
        let long = vec![b'a'; MAX_TEXT + 1];
        assert_eq!(read("text/plain", &long).unwrap_err(), Unreadable::TooLong(MAX_TEXT + 1));
    }

    #[test]
    fn a_page_says_how_it_is_written() {
        let latin = b"<p>caf\xe9 \x93</p>";
        assert_eq!(
            read("text/html; charset=\"ISO-8859-1\"".to_ascii_lowercase().as_str(), latin).unwrap(),
            "caf\u{e9} \u{fffd}\n"
        );
        let own =
            [b"<meta http-equiv=content-type content='text/html; charset=Latin1'>", &latin[..]].concat();
        assert!(read("text/html", &own).unwrap().starts_with("caf\u{e9}"));
        assert_eq!(read("text/html", latin).unwrap(), "caf\u{fffd} \u{fffd}\n");
        assert_eq!(read("text/plain; charset=latin1", b"\xe9").unwrap(), "\u{e9}");
        let japanese = read("text/html; charset=shift_jis", latin);
        assert_eq!(japanese.unwrap_err(), Unreadable::Encoding("shift_jis".into()));
    }

    #[test]
    fn deep_markup_overflows_nothing() {
        let deep = ["<div><b><ul><li><table><tr><td>".repeat(300).as_str(), "x"].concat();
        assert!(read("text/html", deep.as_bytes()).is_ok());
    }
}
