//! Addresses in arguments: those that carry data, and those of this machine and its network.
//!
//! Owns what counts as one. `https://example.com/` carries nothing. A path, a query, a fragment, a name or password, or a host
//! name that could hold a message carries data: the host that is asked for such an address learns it. Must rather see one too
//! many: it is the last look before data leave.

use core::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use serde_json::Value;
use url::{Host, Url};

/// Letters of a label, and labels, of host names that are taken for names.
const LONGEST_LABEL: usize = 24;
const MOST_LABELS: usize = 4;

/// The characters that end an address in a text.
const ENDS: [char; 11] = ['"', '\'', '<', '>', ')', ']', '}', '`', '|', ' ', '\u{a0}'];

/// Endings of names that only a local network knows.
const LOCAL: [&str; 7] = [".localhost", ".local", ".internal", ".lan", ".home", ".home.arpa", ".test"];

/// True if an address in these arguments carries data. Arguments that are no JSON count as data.
#[must_use]
pub fn carries_data(arguments: &str) -> bool {
    with_data(arguments).is_none_or(|urls| !urls.is_empty())
}

/// The private name for text from a page: `browser:` with its host, the port if it is unusual, and the scheme
/// if it is not https. None for an address without a host.
#[must_use]
pub fn page_name(url: &str) -> Option<String> {
    let url = Url::parse(url).ok()?;
    let host = url.host_str()?;
    let scheme = if url.scheme() == "https" { String::new() } else { format!("{}://", url.scheme()) };
    let port = url.port().map(|port| format!(":{port}")).unwrap_or_default();
    Some(format!("browser:{scheme}{host}{port}"))
}

/// True if these arguments name an address of this machine or of a private network: what answers there is the person's.
#[must_use]
pub fn names_private(arguments: &str) -> bool {
    // Without one of these there is no address.
    if !arguments.contains(['.', ':']) && !arguments.contains("localhost") {
        return false;
    }
    let Ok(parsed) = serde_json::from_str(arguments) else { return true };
    let mut is_private = false;
    each_text(&parsed, &mut |text| {
        is_private |= hosts(text).any(is_private_host) || urls_in(text).any(|url| is_private_url(&url));
    });
    is_private
}

/// The addresses in a text, read as a browser reads them: `http:127.1`, `http:\\\\localhost%2e`.
fn urls_in(text: &str) -> impl Iterator<Item = Url> {
    let ends = |c: char| c == ' ' || ENDS.contains(&c);
    text.split(ends).filter(|word| word.contains(':')).filter_map(|word| {
        let scheme = word.find(':').map(|end| word[..end].rfind(|c: char| !c.is_ascii_alphanumeric()))?;
        Url::parse(&word[scheme.map_or(0, |before| before + 1)..]).ok()
    })
}

/// True if an address belongs to this machine or a private network. A name without a dot does: no other network knows it.
fn is_private_url(url: &Url) -> bool {
    match url.host() {
        Some(Host::Ipv4(ip)) => is_private_v4(ip),
        Some(Host::Ipv6(ip)) => is_private_v6(ip),
        Some(Host::Domain(name)) => {
            let name = name.trim_end_matches('.');
            url.is_special() && !name.contains('.') || is_private_name(name)
        }
        None => false,
    }
}

fn is_private_name(name: &str) -> bool {
    name == "localhost" || LOCAL.iter().any(|ending| name.ends_with(ending))
}

fn is_private_v4(ip: Ipv4Addr) -> bool {
    ip.is_loopback() || ip.is_private() || ip.is_link_local() || ip.octets()[0] == 0
}

fn is_private_v6(ip: Ipv6Addr) -> bool {
    let is_own =
        ip.is_loopback() || ip.is_unspecified() || ip.is_unique_local() || ip.is_unicast_link_local();
    is_own || ip.to_ipv4_mapped().is_some_and(is_private_v4)
}

/// The hosts that a text names: behind `//`, or the whole of it.
fn hosts(text: &str) -> impl Iterator<Item = &str> {
    let behind = text.match_indices("//").map(|(at, slashes)| &text[at + slashes.len()..]);
    behind.chain([text.trim()]).map(|rest| {
        let end = rest.find(|c: char| c.is_whitespace() || "/\\?#\"'<>".contains(c)).unwrap_or(rest.len());
        let host = &rest[..end];
        host.rsplit_once('@').map_or(host, |(_, host)| host)
    })
}

fn is_private_host(host: &str) -> bool {
    let name = match host.strip_prefix('[') {
        Some(rest) => rest.split(']').next().unwrap_or_default(),
        None if host.matches(':').count() == 1 => host.split(':').next().unwrap_or_default(),
        None => host,
    };
    let name = name.trim_end_matches('.').to_ascii_lowercase();
    match name.parse::<IpAddr>() {
        Ok(IpAddr::V4(ip)) => is_private_v4(ip),
        Ok(IpAddr::V6(ip)) => is_private_v6(ip),
        Err(_) => is_private_name(&name),
    }
}

/// The addresses with data in these arguments, in order, each once. None if the arguments are no JSON.
fn with_data(arguments: &str) -> Option<Vec<String>> {
    let mut urls = Vec::new();
    each_text(&serde_json::from_str(arguments).ok()?, &mut |text| in_text(text, &mut urls));
    Some(urls)
}

fn each_text(value: &Value, look: &mut impl FnMut(&str)) {
    match value {
        Value::String(text) => look(text),
        Value::Array(list) => list.iter().for_each(|value| each_text(value, look)),
        Value::Object(object) => object.iter().for_each(|(name, value)| {
            look(name);
            each_text(value, look);
        }),
        _ => {}
    }
}

fn in_text(text: &str, urls: &mut Vec<String>) {
    // Browsers take a backslash for a slash, and leave these blanks out.
    let text = &text.replace('\\', "/").replace(['\t', '\n', '\r'], "");
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
    in_sloppy(text, urls);
    for (at, word) in text.match_indices("mailto:").chain(text.match_indices("www.")) {
        let rest = &text[at..];
        let url = &rest[..rest.find(ends).unwrap_or(rest.len())];
        let is_known = text[..at].ends_with("//");
        if !is_known {
            add(url, if word == "www." { url } else { "/" }, urls);
        }
    }
}

/// Finds text that browsers take for an address without `//`, such as `https:/e.example/x`, and hosts
/// followed by something, such as `e.example/x`.
fn in_sloppy(text: &str, urls: &mut Vec<String>) {
    let words =
        text.split(|c: char| c.is_whitespace() || ENDS.contains(&c)).filter(|word| !word.contains("//"));
    for word in words {
        let lower = word.to_ascii_lowercase();
        let scheme =
            ["https:", "http:", "wss:", "ws:", "ftp:"].into_iter().find(|scheme| lower.starts_with(scheme));
        let behind = scheme.map(|scheme| word[scheme.len()..].trim_start_matches('/'));
        let behind = behind.or_else(|| has_host_first(word).then_some(word));
        behind.iter().for_each(|behind| add(word, behind, urls));
    }
}

/// True if a word is a host with a dot and something behind it.
fn has_host_first(word: &str) -> bool {
    let Some(end) = word.find(['/', '?', '#']) else { return false };
    let host = word[..end].split(':').next().unwrap_or_default();
    let is_label =
        |label: &str| !label.is_empty() && label.chars().all(|c| c.is_ascii_alphanumeric() || c == '-');
    let (first, last) = host.rsplit_once('.').unwrap_or_default();
    let is_last = last.len() >= 2 && last.chars().all(|c| c.is_ascii_alphabetic());
    is_last && first.split('.').all(is_label) && word.len() > end + 1
}

fn add(url: &str, behind_slashes: &str, urls: &mut Vec<String>) {
    if is_more_than_a_host(behind_slashes) && !urls.iter().any(|known| known == url) {
        urls.push(url.to_owned());
    }
}

/// True if the text behind the slashes is more than a host.
fn is_more_than_a_host(rest: &str) -> bool {
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
            ("https:/e.example/?d=x", "https:/e.example/?d=x"),
            ("HTTPS:e.example/?d=x", "HTTPS:e.example/?d=x"),
            ("https:/\t/e.example/?d=x", "https://e.example/?d=x"),
            ("e.example/?d=x", "e.example/?d=x"),
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

    #[test]
    fn an_address_of_this_machine_or_network_is_seen() {
        let names = |text: &str| names_private(&serde_json::json!({"a": [text]}).to_string());
        for text in [
            "http://localhost:8080/x",
            "http://127.0.0.1",
            "127.0.0.1:5432",
            "http://u:p@192.168.1.1/",
            "see http://[::1]:80/ now",
            "http://printer.local.",
            "ws://10.0.0.7",
            "http://169.254.169.254/latest",
            "http://127.1:8/x",
            "http://2130706433/",
            "http://0x7f.1/",
            "http://[::ffff:127.0.0.1]:8/",
            "http:127.0.0.1:8/x",
            "http:\\\\127.0.0.1\\x",
            "http://localhost%2e/",
            "http://grafana:3000/",
            "url=http:/127.1/",
        ] {
            assert!(names(text), "{text}");
        }
        for text in ["https://example.com/", "a.md", "1.2.3", "8.8.8.8", "local news", ""] {
            assert!(!names(text), "{text}");
        }
        assert!(names_private("{localhost"));
    }
}
