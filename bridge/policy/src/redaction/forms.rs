//! The forms in which a secret may stand in a text.
//!
//! Owns the list. A form is the part that is the same whatever stands around it: a form of base64 has no character that depends
//! on its neighbours.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use percent_encoding::{AsciiSet, CONTROLS, NON_ALPHANUMERIC, utf8_percent_encode};
use zeroize::Zeroizing;

/// The fewest characters of a text that is looked for. Of a text that was cut, at least as many bytes must be there.
pub const SHORTEST: usize = 6;

/// A longer secret, in bytes, is looked for only unchanged, by its lines, and as in JSON. It is a key file, which no header has.
const MAX_ENCODED: usize = 4096;

/// The characters that are not encoded differ: none, those that RFC 3986 calls unreserved, and the separators of a path.
const ALL: &AsciiSet = NON_ALPHANUMERIC;
const RESERVED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.').remove(b'~');
const OUTSIDE_PATHS: &AsciiSet = &RESERVED.remove(b'/');
/// The characters that browsers do not encode: in a form's fields, `encodeURIComponent`, a query, a fragment (the URL standard,
/// 1.3 and 5.2).
const OF_FORMS: &AsciiSet = &RESERVED.remove(b'*').add(b'~');
const OF_SCRIPTS: &AsciiSet = &RESERVED.remove(b'!').remove(b'*').remove(b'\'').remove(b'(').remove(b')');
const OF_QUERIES: &AsciiSet = &CONTROLS.add(b' ').add(b'"').add(b'#').add(b'<').add(b'>').add(b'\'');
const OF_FRAGMENTS: &AsciiSet = &CONTROLS.add(b' ').add(b'"').add(b'<').add(b'>').add(b'`');
const SETS: [&AsciiSet; 7] = [ALL, RESERVED, OUTSIDE_PATHS, OF_FORMS, OF_SCRIPTS, OF_QUERIES, OF_FRAGMENTS];

/// All forms that are long enough, each once.
pub(super) fn forms(secret: &str) -> Vec<Zeroizing<Vec<u8>>> {
    let mut forms: Vec<Zeroizing<String>> = Vec::new();
    let mut add = |form: String| {
        let form = Zeroizing::new(form);
        if form.chars().count() >= SHORTEST && !forms.contains(&form) {
            forms.push(form);
        }
    };
    if secret.chars().count() < SHORTEST {
        return Vec::new();
    }
    add(secret.to_owned());
    secret.lines().for_each(|line| add(line.trim().to_owned()));
    add(in_json(secret));
    if secret.len() <= MAX_ENCODED {
        for text in (0..3).map(|before| in_base64(secret, before)) {
            add(text.replace('+', "-").replace('/', "_"));
            add(text);
        }
        add(in_html(secret));
        add(in_html(secret).replace('"', "&quot;"));
        add(in_markdown(secret));
        for set in SETS {
            let text = utf8_percent_encode(secret, set).to_string();
            add(text.replace("%20", "+"));
            add(in_small_letters(&text));
            add(text);
        }
    }
    forms.into_iter().map(|form| Zeroizing::new(form.as_bytes().to_vec())).collect()
}

/// A secret as it stands in HTML. Attributes have quotes escaped, too.
fn in_html(secret: &str) -> String {
    secret.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

/// A secret as it stands in Markdown that was made of text.
fn in_markdown(secret: &str) -> String {
    let mut escaped = String::new();
    for letter in secret.chars() {
        if "\\*`[]_".contains(letter) {
            escaped.push('\\');
        }
        escaped.push(letter);
    }
    escaped
}

/// A secret as it stands in a JSON string, without the quotes.
fn in_json(secret: &str) -> String {
    let text = serde_json::to_string(secret).unwrap_or_default();
    text.get(1..text.len().saturating_sub(1)).unwrap_or_default().to_owned()
}

/// The part of a secret's base64 that is always the same, if a multiple of three bytes, and `before` more, stand before it.
fn in_base64(secret: &str, before: usize) -> String {
    let bytes = Zeroizing::new([&vec![0; before], secret.as_bytes()].concat());
    let text = Zeroizing::new(STANDARD.encode(&*bytes));
    // A character has six bits: those that have some of a neighbour's are left out.
    let (first, last) = ((before * 8).div_ceil(6), bytes.len() * 8 / 6);
    text.get(first..last).unwrap_or_default().to_owned()
}

/// `%2F` as `%2f`.
fn in_small_letters(text: &str) -> String {
    let mut small = 0;
    let mut fold = |letter: char| {
        small = if letter == '%' {
            2
        } else if small > 0 {
            small - 1
        } else {
            return letter;
        };
        letter.to_ascii_lowercase()
    };
    text.chars().map(&mut fold).collect()
}
