//! Secrets of the person's that a tool types by their name: where each may be put in.
//!
//! ```text
//!  {"secret": "NAME"} in place of a text ─► kept for the site at which the tab is? ─► value and site, for the extension
//!                                                  └─ no ─► refused, and nothing is said of what is kept for whom
//! ```
//!
//! Owns that decision. A site is an origin: scheme, host and port. The extension looks once more in the document that has the
//! field: it may be a frame, or the tab may have gone on. Must never hold a value.

use serde_json::Value;
use url::Url;

/// Under which name the store has them, among those of servers. No server can be called so.
pub const KEPT: &str = "_browser";

/// The form of a site, for error messages.
pub const SITE_RULE: &str =
    "its site, such as https://example.com: scheme, host and port, and nothing after them";

/// The member of arguments that names a secret.
const SECRET: &str = "secret";

/// A secret that a call names, and where in its arguments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamedSecret {
    /// Its name.
    pub name: String,
    /// A JSON pointer.
    pub at: String,
}

/// The reason why a secret is not typed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Untyped {
    /// The tab shows no page of a site.
    NoSite,
    /// None of this name is kept for the site at which the tab is.
    NotKept,
}

/// The site of a text that is nothing else, in canonical form.
#[must_use]
pub fn site(text: &str) -> Option<String> {
    let url = Url::parse(text).ok()?;
    let is_bare = url.path() == "/" && url.query().is_none() && url.fragment().is_none();
    let is_nobodys = url.username().is_empty() && url.password().is_none();
    site_of(&url).filter(|_| is_bare && is_nobodys)
}

/// The site of an address.
#[must_use]
pub fn site_in(url: &str) -> Option<String> {
    site_of(&Url::parse(url).ok()?)
}

fn site_of(url: &Url) -> Option<String> {
    matches!(url.scheme(), "http" | "https").then(|| url.origin().ascii_serialization())
}

/// Under which key the store has a secret that is kept for a site.
#[must_use]
pub fn key(name: &str, site: &str) -> String {
    format!("{name} {site}")
}

/// A secret's name, and its site.
#[must_use]
pub fn parts(key: &str) -> Option<(&str, &str)> {
    key.split_once(' ')
}

/// The secrets that a call names.
#[must_use]
pub fn named(arguments: &Value) -> Vec<NamedSecret> {
    let mut all = Vec::new();
    let mut add = |value: &Value, at: String| {
        if let Some(name) = value.get(SECRET).and_then(Value::as_str) {
            all.push(NamedSecret { name: name.to_owned(), at });
        }
    };
    add(&arguments["text"], "/text".to_owned());
    for (index, field) in arguments["fields"].as_array().into_iter().flatten().enumerate() {
        add(&field["value"], format!("/fields/{index}/value"));
    }
    all
}

/// The key of the secret to type in, and its site. `kept` are all keys, `url` is the tab's address.
///
/// # Errors
/// Why none is.
pub fn judge<'a>(
    kept: impl IntoIterator<Item = &'a str>,
    name: &str,
    url: Option<&str>,
) -> Result<(String, String), Untyped> {
    let here = url.and_then(|url| site_of(&Url::parse(url).ok()?)).ok_or(Untyped::NoSite)?;
    let wanted = key(name, &here);
    let is_kept = parts(&wanted) == Some((name, &here)) && kept.into_iter().any(|key| key == wanted);
    is_kept.then_some((wanted, here)).ok_or(Untyped::NotKept)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    #[test]
    fn a_site_is_an_origin_of_the_web() {
        for (text, found) in [
            ("https://example.com", "https://example.com"),
            ("HTTPS://Example.COM:443/", "https://example.com"),
            ("http://localhost:8080", "http://localhost:8080"),
            ("https://bücher.example", "https://xn--bcher-kva.example"),
            ("http://0x7f.1:81", "http://127.0.0.1:81"),
        ] {
            assert_eq!(site(text).as_deref(), Some(found), "{text}");
        }
        for text in [
            "",
            "example.com",
            "https://example.com/x",
            "https://example.com/?q",
            "https://example.com/#f",
            "https://a@example.com",
            "https://a:b@example.com",
            "file:///etc",
            "about:blank",
            "data:text/html,x",
            "chrome-extension://abcdefghijklmnopabcdefghijklmnop/",
        ] {
            assert_eq!(site(text), None, "{text}");
        }
    }

    #[test]
    fn a_secret_is_put_in_at_its_own_site_only() {
        let kept = [
            key("PIN", "https://example.com"),
            key("PIN", "http://localhost:81"),
            key("KEY", "https://a.example"),
        ];
        let judged = |name, url| judge(kept.iter().map(String::as_str), name, url).map(|(_, site)| site);
        assert_eq!(judged("PIN", Some("https://example.com/in?x#y")).as_deref(), Ok("https://example.com"));
        assert_eq!(judged("PIN", Some("http://localhost:81/")).as_deref(), Ok("http://localhost:81"));
        for url in [
            "http://example.com/",
            "https://example.com:444/",
            "https://example.com./",
            "https://a.example.com/",
            "https://example.com.evil.example/",
            "https://evil.example/?https://example.com",
            "https://a.example/",
            "http://localhost/",
        ] {
            assert_eq!(judged("PIN", Some(url)), Err(Untyped::NotKept), "{url}");
        }
        for url in [
            None,
            Some(""),
            Some("about:blank"),
            Some("file:///x"),
            Some("blob:https://example.com/x"),
            Some("data:,x"),
        ] {
            assert_eq!(judged("PIN", url), Err(Untyped::NoSite), "{url:?}");
        }
        // A name may not be a key.
        assert_eq!(judged("PIN https://example.com", Some("https://example.com")), Err(Untyped::NotKept));
        assert_eq!(judged("", Some("https://example.com")), Err(Untyped::NotKept));
    }

    #[test]
    fn a_call_names_secrets_in_place_of_texts() {
        let found = named(&json!({"target": "e1", "text": {"secret": "A"}, "secret": "no"}));
        assert_eq!(found, [NamedSecret { name: "A".into(), at: "/text".into() }]);
        let fields =
            json!({"fields": [{"value": "x"}, {"value": {"secret": "B"}}, {"value": {"secret": 1}}]});
        assert_eq!(named(&fields), [NamedSecret { name: "B".into(), at: "/fields/1/value".into() }]);
        assert!(fields.pointer(&named(&fields)[0].at).is_some());
        assert!(named(&json!({"text": "{\"secret\":\"A\"}"})).is_empty() && named(&Value::Null).is_empty());
    }

    proptest! {
        /// For any address, only a secret of the origin that a browser gives that address is typed into its page.
        #[test]
        fn only_the_pages_own_origin_counts(
            here in "https?://[a-c]{1,2}(\\.[a-c])?(:[1-9])?(/[a-c@:/?#.]{0,8})?",
            kept in prop::collection::vec(("[A-C]", "https?://[a-c]{1,2}(\\.[a-c])?(:[1-9])?"), 0..12),
            name in "[A-C]",
        ) {
            let keys: Vec<_> = kept.iter().map(|(name, at)| key(name, &site(at).unwrap())).collect();
            let judged = judge(keys.iter().map(String::as_str), &name, Some(&here));
            let origin = Url::parse(&here).unwrap().origin().ascii_serialization();
            let is_kept = kept.iter().any(|(other, at)| *other == name && site(at).as_ref() == Some(&origin));
            prop_assert_eq!(judged.is_ok(), is_kept);
            if let Ok((key, at)) = judged {
                prop_assert_eq!(&at, &origin);
                prop_assert!(keys.contains(&key));
            }
        }
    }
}
