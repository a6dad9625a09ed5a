//! Finds the arguments of a command that look like secrets.
//!
//! Arguments stand in definitions as they are, and every process of the user can read them. Owns this check. It is a guess, by
//! the name before a value and by the beginnings of well-known services' keys. Must never give a value back.

use super::credentials::is_secret_name;

/// The beginnings of keys and tokens of services.
const BEGINNINGS: &[&str] = &[
    "sk-",
    "sk_live_",
    "sk_test_",
    "rk_live_",
    "pk_live_",
    "ghp_",
    "gho_",
    "ghu_",
    "ghs_",
    "ghr_",
    "github_pat_",
    "glpat-",
    "xoxb-",
    "xoxp-",
    "xoxa-",
    "xapp-",
    "AKIA",
    "ASIA",
    "AIza",
    "ya29.",
    "eyJ",
    "npm_",
    "pypi-",
    "hf_",
    "lin_api_",
    "ntn_",
    "secret_",
    "figd_",
    "dop_v1_",
    "SG.",
    "tvly-",
    "ATATT",
];

/// The shortest secret, in characters. Anything shorter is a word.
const SHORTEST: usize = 12;

/// One argument, or what follows one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Telltale {
    /// The index of the argument with the value.
    pub at: usize,
    /// Its name there: `--api-key`, `GITHUB_TOKEN`, `argument 3`.
    pub name: String,
}

/// The arguments with values that look like secrets.
#[must_use]
pub fn telltales(args: &[String]) -> Vec<Telltale> {
    let of = |(at, arg): (usize, &String)| {
        let before = at.checked_sub(1).and_then(|before| args.get(before));
        Some(Telltale {
            at,
            name: named(arg, before).or_else(|| is_key(arg).then(|| format!("argument {}", at + 1)))?,
        })
    };
    args.iter().enumerate().filter_map(of).collect()
}

/// A secret that its name betrays: `--token=V`, `TOKEN=V`, `Authorization: V`, or `--token` before it.
fn named(arg: &str, before: Option<&String>) -> Option<String> {
    if let Some((name, value)) = arg.split_once(['=', ':']).filter(|(name, _)| is_name(name)) {
        return (is_secret_name(name) && is_value(value.trim())).then(|| name.to_owned());
    }
    let option =
        before.filter(|before| before.starts_with('-') && is_name(before) && is_secret_name(before))?;
    (is_value(arg) && !arg.starts_with('-')).then(|| option.clone())
}

/// True if a value looks like a secret, or has a password in it, whatever its name is.
#[must_use]
pub fn is_secret_value(value: &str) -> bool {
    is_key(value) || masked(value).is_some()
}

/// Arguments without what looks like a secret in them, as they may be shown.
#[must_use]
pub fn without_secrets(args: &[String]) -> Vec<String> {
    let mut shown: Vec<_> = args.iter().map(|arg| masked(arg).unwrap_or_else(|| arg.clone())).collect();
    for told in telltales(args) {
        if let Some(arg) = shown.get_mut(told.at) {
            *arg = HIDDEN.into();
        }
    }
    shown
}

/// The text that replaces a value which may be secret.
pub const HIDDEN: &str = "…";

/// A text with the password of each address in it hidden: `://user:***@`, or `https://***@` for a token. `None` if it has none.
#[must_use]
pub fn masked(text: &str) -> Option<String> {
    let (mut out, mut rest, mut found) = (String::new(), text, false);
    while let Some(at) = rest.find("://") {
        let (before, behind) = rest.split_at(at + 3);
        out.push_str(before);
        let end = behind.find(['/', '?', '#', ' ', '"', '\'']).unwrap_or(behind.len());
        rest = match secret_in(before, &behind[..end]) {
            Some((from, to)) => {
                found = true;
                out.push_str(&behind[..from]);
                out.push_str("***");
                &behind[to..]
            }
            None => behind,
        };
    }
    out.push_str(rest);
    found.then_some(out)
}

/// The place of the password or token in an address's host part. `before` ends with its scheme. A user name
/// alone is no secret, but in a web address a name as long as a key is a token.
fn secret_in(before: &str, host: &str) -> Option<(usize, usize)> {
    let end = host.rfind('@')?;
    let is_web = before.ends_with("http://") || before.ends_with("https://");
    let from = match host[..end].find(':') {
        Some(colon) => colon + 1,
        None => (is_web && end >= SHORTEST).then_some(0)?,
    };
    is_value(&host[from..end]).then_some((from, end))
}

fn is_name(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_.".contains(&b))
}

/// True for a text that is not filled in later, and is no path to a file.
fn is_value(text: &str) -> bool {
    !text.is_empty() && !text.starts_with(['$', '/', '.', '~', '<']) && !text.contains("${")
}

/// True if a word in the argument begins like a known key: `https://h/?k=sk-…`.
fn is_key(arg: &str) -> bool {
    let words = arg.split(|c: char| !(c.is_ascii_alphanumeric() || "-_.".contains(c)));
    words.into_iter().any(|word| {
        word.len() >= SHORTEST
            && word.bytes().any(|b| b.is_ascii_digit())
            && BEGINNINGS.iter().any(|start| word.starts_with(start))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn names(line: &str) -> Vec<String> {
        let args: Vec<_> = line.split(' ').map(str::to_owned).collect();
        telltales(&args).into_iter().map(|told| told.name).collect()
    }

    #[test]
    fn passwords_of_addresses_are_hidden() {
        for (text, shown) in [
            ("postgresql://user:hunter2@localhost/db", "postgresql://user:***@localhost/db"),
            ("--url=redis://:p@ss@h:1 x", "--url=redis://:***@h:1 x"),
            ("a://u:p@h b://u:q@h", "a://u:***@h b://u:***@h"),
            ("https://0123456789abcdef0123@h/mcp", "https://***@h/mcp"),
        ] {
            assert_eq!(masked(text).as_deref(), Some(shown));
        }
        for text in ["https://h:80/a@b", "https://user@h/", "a:b@c", "postgres://u:${PASSWORD}@h"] {
            assert_eq!(masked(text), None, "{text}");
        }
    }

    #[test]
    fn arguments_are_shown_without_secrets() {
        let args = ["-y", "--token", "v4lue", "postgres://u:pw@h/db", "x", "K=ghp_0123456789abcdef"];
        let shown = without_secrets(&args.map(str::to_owned));
        assert_eq!(shown, ["-y", "--token", "…", "postgres://u:***@h/db", "x", "…"]);
        for (value, is_secret) in [
            ("postgres://u:pw@h/db", true),
            ("xoxb-1234567890", true),
            ("Bearer sk-0123456789abc", true),
            ("https://example.com/mcp", false),
            ("production", false),
        ] {
            assert_eq!(is_secret_value(value), is_secret, "{value}");
        }
    }

    #[test]
    fn names_and_beginnings_tell() {
        for (line, wanted) in [
            ("--api-key v4lue -y", &["--api-key"][..]),
            ("run -e GITHUB_TOKEN=v4lue image", &["GITHUB_TOKEN"]),
            ("--token=v4lue --header Authorization:v4lue", &["--token", "Authorization"]),
            ("-y pkg sk-proj-0123456789abc", &["argument 3"]),
            ("https://h.example/mcp?k=ghp_0123456789abcdef", &["argument 1"]),
        ] {
            assert_eq!(names(line), wanted, "{line}");
        }
        for line in [
            "-e GITHUB_TOKEN image",
            "--token ${TOKEN}",
            "--api-key $KEY --token-file /run/token",
            "--token --verbose",
            "--password /run/secrets/p",
            "--max-tokens 100",
            "sk-learn --mode fast",
            "https://h.example/mcp",
            "",
        ] {
            assert_eq!(names(line), [""; 0], "{line}");
        }
    }

    proptest! {
        #[test]
        fn no_value_is_given_back(value in "[a-zA-Z0-9]{12,30}") {
            for args in [vec!["--token".to_owned(), value.clone()], vec![format!("API_KEY={value}")], vec![format!("sk-0{value}")]] {
                let told = telltales(&args);
                prop_assert_eq!(told.len(), 1);
                prop_assert!(!told[0].name.contains(&value));
            }
        }
    }
}
