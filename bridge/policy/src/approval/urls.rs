//! Addresses in arguments that carry data: whoever is asked for one learns what stands in it.
//!
//! Owns what counts as one. `https://example.com/` carries nothing; a path, a query, a fragment, a name or password, or a host
//! name that could hold a message do. Must rather see one too many: it is the last look before data leave.

use serde_json::Value;

/// Letters of a label, and labels, of host names that are taken for names.
const LONGEST_LABEL: usize = 24;
const MOST_LABELS: usize = 4;

/// What ends an address in a text.
const ENDS: [char; 11] = ['"', '\'', '<', '>', ')', ']', '}', '`', '|', ' ', '\u{a0}'];

/// The addresses with data in these arguments, in their order, each once; `None` where they are no JSON.
pub(super) fn with_data(arguments: &str) -> Option<Vec<String>> {
    let mut urls = Vec::new();
    gather(&serde_json::from_str(arguments).ok()?, &mut urls);
    Some(urls)
}

fn gather(value: &Value, urls: &mut Vec<String>) {
    match value {
        Value::String(text) => in_text(text, urls),
        Value::Array(list) => list.iter().for_each(|value| gather(value, urls)),
        Value::Object(object) => object.iter().for_each(|(name, value)| {
            in_text(name, urls);
            gather(value, urls);
        }),
        _ => {}
    }
}

fn in_text(text: &str, urls: &mut Vec<String>) {
    // Browsers take a backslash for a slash.
    let text = &text.replace('\\', "/");
    let ends = |c: char| c.is_whitespace() || c.is_control() || ENDS.contains(&c);
    let is_of_scheme = |c: char| c.is_ascii_alphanumeric() || "+.-".contains(c);
    for (at, _) in text.match_indices("//") {
        let before = text[..at].strip_suffix(':').unwrap_or_default();
        let scheme = before.len() - before.trim_end_matches(is_of_scheme).len();
        let start = if scheme == 0 { at } else { before.len() - scheme };
        let rest = &text[at + 2..];
        let length = rest.find(ends).unwrap_or(rest.len());
        add(&text[start..at + 2 + length], &rest[..length], urls);
    }
    for (at, word) in text.match_indices("mailto:").chain(text.match_indices("www.")) {
        let rest = &text[at..];
        let url = &rest[..rest.find(ends).unwrap_or(rest.len())];
        let is_known = text[..at].ends_with("//");
        if !is_known {
            add(url, if word == "www." { url } else { "/" }, urls);
        }
    }
}

fn add(url: &str, behind_slashes: &str, urls: &mut Vec<String>) {
    if carries_data(behind_slashes) && !urls.iter().any(|known| known == url) {
        urls.push(url.to_owned());
    }
}

/// Whether what stands behind the slashes is more than a host.
fn carries_data(rest: &str) -> bool {
    let host = rest.trim_end_matches(['/', '.', ',', ';', '!']);
    let labels: Vec<_> = host.split('.').collect();
    let is_name = |c: char| c.is_ascii_alphanumeric() || ".-:".contains(c);
    !host.is_empty()
        && (!host.chars().all(is_name)
            || labels.len() > MOST_LABELS
            || labels.iter().any(|label| label.len() > LONGEST_LABEL))
        || rest.starts_with('/')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn urls(text: &str) -> Vec<String> {
        with_data(&serde_json::json!({"a": [{"b": text}]}).to_string()).unwrap()
    }

    #[test]
    fn an_address_with_data_is_seen_in_whatever_text() {
        for (text, url) in [
            ("see https://e.example/x now", "https://e.example/x"),
            ("![x](https://e.example/?q=secret)", "https://e.example/?q=secret"),
            ("HTTPS://E.EXAMPLE/#x", "HTTPS://E.EXAMPLE/#x"),
            ("//e.example/x", "//e.example/x"),
            ("wss://user:key@e.example", "wss://user:key@e.example"),
            (
                "https://c2VjcmV0IGRhdGEgdGhhdCBsZWF2ZXM.e.example",
                "https://c2VjcmV0IGRhdGEgdGhhdCBsZWF2ZXM.e.example",
            ),
            ("http://a.b.c.d.e.example", "http://a.b.c.d.e.example"),
            ("http://ä.example", "http://ä.example"),
            ("go to www.e.example/x", "www.e.example/x"),
            ("mailto:a@e.example", "mailto:a@e.example"),
            ("https:\\\\e.example\\x", "https://e.example/x"),
            ("file:///etc/passwd", "file:///etc/passwd"),
        ] {
            assert_eq!(urls(text), [url], "{text}");
        }
        assert_eq!(with_data(r#"{"https:\/\/e.example\/x":1}"#).unwrap(), ["https://e.example/x"]);
        assert_eq!(with_data("{"), None);
    }

    #[test]
    fn a_host_alone_carries_nothing() {
        for text in
            ["https://example.com/", "http://localhost:8080.", "a // b", "www.example.com", "src/main.rs", ""]
        {
            assert_eq!(urls(text), [""; 0], "{text}");
        }
    }
}
