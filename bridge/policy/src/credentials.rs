//! The secrets of a server: their names, how the server is given them, and their faults.
//!
//! ```text
//!  api_key, password, oauth ─► environment: KEY (and KEY_USERNAME)      header ─► requests to a remote server
//! ```
//!
//! Owns these rules. Must never put a value into a sentence.

use std::collections::BTreeMap;

use harbor_ipc_proto::client::CredentialType;
use harbor_ipc_proto::link::oauth::{Client, Grant};
use harbor_ipc_proto::secret::Secret;

use crate::environment;
use crate::oauth::KEY;
use crate::redaction::{Redactor, SHORTEST};

/// The longest value, in bytes.
pub const MAX_VALUE: usize = 64 * 1024;

/// The most secrets of one server.
pub const MAX_KEYS: usize = 256;

/// The most bytes of all values of one server, which its environment has to hold.
pub const MAX_TOTAL: usize = 256 * 1024;

/// The longest name, in bytes.
const MAX_NAME: usize = 128;

/// The longest user name, in bytes.
const MAX_USERNAME: usize = 1024;

/// The ending of the variable for a user name: it follows the name of the password.
const USERNAME: &str = "_USERNAME";

/// One secret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Credential {
    /// The secret itself.
    pub value: Secret,
    /// The way in which the server gets it.
    pub kind: CredentialType,
    /// The name that belongs to a password.
    pub username: Option<String>,
    /// The time when it was set, in milliseconds since 1970.
    pub set_at: u64,
    /// The time of its end, likewise.
    pub expires_at: Option<u64>,
    /// The token that gets a new one when this one has ended.
    pub refresh_token: Option<Secret>,
    /// The origin of a token that Harbor got by OAuth with the person's permission.
    pub origin: Option<TokenProvenance>,
}

/// The origin of a token, and how to renew it: a [`Grant`] without its tokens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TokenProvenance {
    /// The scopes that it is for.
    pub scopes: Vec<String>,
    /// The time of the person's yes, in milliseconds since 1970.
    pub granted_at: u64,
    /// The client as which Harbor is known there.
    pub client: Client,
    /// The authorization server.
    pub issuer: String,
    /// The address that gives tokens.
    pub token_endpoint: String,
    /// The address that takes tokens back.
    pub revocation_endpoint: Option<String>,
    /// The server that they are for.
    pub resource: String,
}

impl Credential {
    /// True if it has ended. A secret that is renewed automatically never counts as ended.
    #[must_use]
    pub fn is_expired(&self, now: u64) -> bool {
        let renews = self.origin.is_some() && self.refresh_token.is_some();
        !renews && self.expires_at.is_some_and(|at| at <= now)
    }

    /// A grant in its stored form.
    #[must_use]
    pub fn of_grant(grant: Grant, now: u64) -> Self {
        let Grant { access_token, refresh_token, expires_at, scopes, granted_at, client, issuer, .. } = grant;
        let Grant { token_endpoint, revocation_endpoint, resource, .. } = grant;
        let origin = TokenProvenance {
            scopes,
            granted_at,
            client,
            issuer,
            token_endpoint,
            revocation_endpoint,
            resource,
        };
        Self {
            value: access_token,
            kind: CredentialType::Oauth,
            username: None,
            set_at: now,
            expires_at,
            refresh_token,
            origin: Some(origin),
        }
    }

    /// The grant that it is, if it is one.
    #[must_use]
    pub fn grant(&self) -> Option<Grant> {
        let TokenProvenance {
            scopes,
            granted_at,
            client,
            issuer,
            token_endpoint,
            revocation_endpoint,
            resource,
        } = self.origin.clone()?;
        Some(Grant {
            access_token: self.value.clone(),
            refresh_token: self.refresh_token.clone(),
            expires_at: self.expires_at,
            scopes,
            granted_at,
            client,
            issuer,
            token_endpoint,
            revocation_endpoint,
            resource,
        })
    }

    /// All its parts that nobody may see.
    fn secrets(&self) -> impl Iterator<Item = &str> {
        let value = self.value.expose();
        // A header says what kind of secret follows: `Bearer …`.
        let bare = value
            .split_once(' ')
            .filter(|_| self.kind == CredentialType::Header)
            .map(|(_, bare)| bare.trim());
        let of_client = self.origin.as_ref().and_then(|origin| origin.client.secret.as_ref());
        let others = [self.refresh_token.as_ref(), of_client].map(|secret| secret.map(Secret::expose));
        [Some(value), bare].into_iter().chain(others).flatten()
    }
}

/// Words by which a program says that a variable of its environment is not there.
const MISSING: &[&str] = &[
    "required",
    "must be set",
    "must be provided",
    "not set",
    "not found",
    "not provided",
    "was provided",
    "not defined",
    "undefined",
    "missing",
    "please set",
    "please provide",
    "need to set",
    "KeyError",
];

/// The variable that a program says it lacks: a word like `API_KEY` in a line that says so, or in the next
/// line. Only the program says so: a person is told, and nothing else follows.
#[must_use]
pub fn named_as_missing(said: &str) -> Option<&str> {
    let says_so = |line: &&str| {
        let lower = line.to_ascii_lowercase();
        MISSING.iter().any(|words| lower.contains(&words.to_ascii_lowercase()))
    };
    let lines = || said.lines().zip(said.lines().skip(1).chain([""])).filter(|(line, _)| says_so(line));
    lines()
        .find_map(|(line, _)| variable_in(line))
        .or_else(|| lines().find_map(|(_, next)| variable_in(next)))
        .or_else(|| variable_read(said))
}

/// The text before a variable's name where a Python program reads the variable.
const READS: &[&str] = &["getenv(", "environ[", "environ.get("];

/// The variable that stands in the code of the last lines of a traceback.
fn variable_read(said: &str) -> Option<&str> {
    let traceback = &said[said.rfind("Traceback (most recent call last)")?..];
    let name = |line: &'_ str| {
        let at = READS.iter().find_map(|before| Some(line.find(before)? + before.len()))?;
        let end = line.get(at + 1..)?.find(['"', '\''])?;
        line[at..].starts_with(['"', '\'']).then_some((at + 1, at + 1 + end))
    };
    let is_name = |word: &&str| {
        let is_capital = |b: u8| b.is_ascii_uppercase() || b.is_ascii_digit() || b == b'_';
        (2..=MAX_NAME).contains(&word.len()) && word.bytes().all(is_capital) && !is_number(word)
    };
    let lines = traceback.lines().rev().take(LAST_OF_TRACEBACK);
    lines.filter_map(|line| name(line).map(|(from, to)| &line[from..to])).find(is_name)
}

/// Lines at the end of a traceback that may have the code which failed.
const LAST_OF_TRACEBACK: usize = 6;

fn is_number(word: &str) -> bool {
    word.bytes().next().is_some_and(|b| b.is_ascii_digit())
}

fn variable_in(line: &str) -> Option<&str> {
    line.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).find(|word| is_variable(word))
}

/// Capital letters in at least two parts: a word without `_` is as often the beginning of a sentence.
pub(crate) fn is_variable(word: &str) -> bool {
    let is_capital = |b: u8| b.is_ascii_uppercase() || b.is_ascii_digit() || b == b'_';
    word.len() <= MAX_NAME
        && word.bytes().next().is_some_and(|b| b.is_ascii_uppercase())
        && word.trim_matches('_').contains('_')
        && word.bytes().all(is_capital)
        // Codes of errors are written in the same way.
        && !word.starts_with("ERR_")
}

/// The secrets of one server, by name.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Credentials(pub BTreeMap<String, Credential>);

impl Credentials {
    /// The secrets for the environment of a local server.
    #[must_use]
    pub fn variables(&self) -> BTreeMap<String, Secret> {
        let is_variable = |credential: &Credential| {
            credential.kind != CredentialType::Header && credential.origin.is_none()
        };
        let of_environment = || self.0.iter().filter(|(_, credential)| is_variable(credential));
        let usernames = of_environment().filter_map(|(key, credential)| {
            Some((format!("{key}{USERNAME}"), Secret::new(credential.username.clone()?)))
        });
        // A secret of that name is the one that is meant.
        usernames
            .chain(of_environment().map(|(key, credential)| (key.clone(), credential.value.clone())))
            .collect()
    }

    /// The secrets for the headers of requests to a remote server.
    pub fn headers(&self) -> impl Iterator<Item = (&str, &Secret)> {
        let is_header = |(_, credential): &(&String, &Credential)| credential.kind == CredentialType::Header;
        self.0.iter().filter(is_header).map(|(key, credential)| (key.as_str(), &credential.value))
    }

    /// The login that the person gave Harbor for the server.
    #[must_use]
    pub fn grant(&self) -> Option<Grant> {
        self.0.get(KEY)?.grant()
    }

    /// A redactor for these secrets and for the values of these headers: whole, and without the first word, which names the kind
    /// of secret.
    #[must_use]
    pub fn redactor(&self, headers: &[(&str, &str)]) -> Redactor {
        let of_one =
            |(key, credential)| Credential::secrets(credential).map(move |text| (String::as_str(key), text));
        let values = headers.iter().flat_map(|(name, value)| {
            let bare = value.split_once(' ').map(|(_, bare)| bare.trim());
            std::iter::once(*value).chain(bare).map(|text| (*name, text))
        });
        // Of two that say the same the last one gives the name: a key says more than a header.
        Redactor::new(values.chain(self.0.iter().flat_map(of_one)))
    }

    /// The names among `wanted` for which there is no secret.
    #[must_use]
    pub fn missing(&self, wanted: &[String]) -> Vec<String> {
        wanted.iter().filter(|key| !self.0.contains_key(*key)).cloned().collect()
    }

    /// Names of those that have ended.
    #[must_use]
    pub fn expired(&self, now: u64) -> Vec<String> {
        self.0
            .iter()
            .filter(|(_, credential)| credential.is_expired(now))
            .map(|(key, _)| key.clone())
            .collect()
    }

    /// The reason why there is no room for another secret, or for a longer one. None if there is room.
    #[must_use]
    pub fn overfull(&self) -> Option<String> {
        let bytes: usize = self.0.values().map(|credential| credential.value.len()).sum();
        if self.0.len() > MAX_KEYS {
            return Some(format!("a server can have at most {MAX_KEYS} secrets; remove one"));
        }
        (bytes > MAX_TOTAL)
            .then(|| format!("the secrets of a server can have at most {} KiB in all", MAX_TOTAL / 1024))
    }

    /// Warnings about the secrets, a sentence each. `env` are the variables that the definition sets; `is_remote` is true if the
    /// server is remote.
    #[must_use]
    pub fn warnings(&self, env: &BTreeMap<String, String>, is_remote: bool) -> Vec<String> {
        let mut all = Vec::new();
        for (key, credential) in &self.0 {
            if credential.value.expose().chars().count() < SHORTEST {
                all.push(format!(
                    "{key} has fewer than {SHORTEST} characters, so Harbor does not hide it in logs"
                ));
            }
            let is_header = credential.kind == CredentialType::Header;
            if is_header && !is_remote {
                all.push(format!("{key} is a header: only a remote server gets it"));
            } else if !is_header && env.contains_key(key) {
                all.push(format!("{key} is also set by `--env`: the server gets the secret"));
            }
        }
        all
    }
}

/// The allowed names, if this one is not allowed.
#[must_use]
pub fn wrong_key(kind: CredentialType, key: &str) -> Option<&'static str> {
    let is_name = |c: char| c.is_ascii_alphanumeric() || "_.-".contains(c);
    let begins = key.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    let is_token = |c: char| c.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(c);
    match kind {
        _ if key.is_empty() || key.len() > MAX_NAME => Some("a name of 1 to 128 characters"),
        CredentialType::Header if !key.chars().all(is_token) => Some("the name of an HTTP header"),
        CredentialType::Header => None,
        _ if !begins || !key.chars().all(is_name) => {
            Some("a name: a letter or _, then letters, digits, _, . and -")
        }
        _ if environment::wrong_variable(key, "").is_some() => Some("a name that Harbor does not use itself"),
        _ if environment::is_of_system(key) => Some(
            "a name that the system does not use itself, such as API_KEY: the server would start with that value",
        ),
        _ => None,
    }
}

/// Words that say of a variable or a header that it is a secret, anywhere in its name; and those that do at its end.
const SECRET_WORDS: &[&str] = &[
    "secret",
    "password",
    "passwd",
    "passphrase",
    "token",
    "apikey",
    "authorization",
    "cookie",
    "credentials",
];
const SECRET_ENDS: &[&str] = &["key", "pat", "pwd", "pass", "auth", "credential"];

/// True if the name of a variable or a header suggests a secret: `GITHUB_TOKEN`, `X-Api-Key`, `Authorization`.
#[must_use]
pub fn is_secret_name(name: &str) -> bool {
    let lower = name.to_ascii_lowercase();
    let words: Vec<_> = lower.split(|c: char| !c.is_ascii_alphanumeric()).collect();
    let ends = |word: &&str| SECRET_ENDS.contains(word);
    let is_public = words.contains(&"public");
    words.iter().any(|word| SECRET_WORDS.iter().any(|secret| word.ends_with(secret)))
        || (!is_public && words.last().is_some_and(ends))
        || (!is_public && ["accesskey", "authkey", "privatekey"].iter().any(|end| lower.ends_with(end)))
}

/// The allowed values, if this one is not allowed.
#[must_use]
pub fn wrong_value(kind: CredentialType, value: &Secret) -> Option<&'static str> {
    let value = value.expose();
    let is_of_header = |c: char| matches!(c, ' '..='~' | '\t');
    match kind {
        _ if value.is_empty() => Some("a text that is not empty"),
        _ if value.len() > MAX_VALUE => Some("at most 64 KiB"),
        _ if value.contains('\0') => Some("a text without NUL characters"),
        CredentialType::Header if !value.chars().all(is_of_header) || value.trim() != value => {
            Some("a header's value: one line of ASCII")
        }
        _ => None,
    }
}

/// The allowed user names, if this one is not allowed.
#[must_use]
pub fn wrong_username(kind: CredentialType, username: &str) -> Option<&'static str> {
    match kind {
        CredentialType::Header => Some("no name, since a header has none"),
        _ if username.is_empty() || username.len() > MAX_USERNAME || username.contains('\0') => {
            Some("a name of 1 to 1024 bytes without NUL characters")
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_known_by_their_names() {
        for name in [
            "GITHUB_TOKEN",
            "X-Api-Key",
            "Authorization",
            "db_password",
            "OPENAI_APIKEY",
            "GH_PAT",
            "ACCESSKEY",
        ] {
            assert!(is_secret_name(name), "{name}");
        }
        for name in ["PATH", "KEYBOARD", "MAX_TOKENS", "PUBLIC_KEY", "X-Team", "Accept", ""] {
            assert!(!is_secret_name(name), "{name}");
        }
    }

    fn credential(kind: CredentialType, value: &str) -> Credential {
        let value = Secret::new(value.into());
        Credential {
            value,
            kind,
            username: None,
            set_at: 1,
            expires_at: None,
            refresh_token: None,
            origin: None,
        }
    }

    fn credentials() -> Credentials {
        let password =
            Credential { username: Some("ada".into()), ..credential(CredentialType::Password, "opensesame") };
        let token = Credential {
            expires_at: Some(10),
            refresh_token: Some(Secret::new("refresh-me".into())),
            ..credential(CredentialType::Oauth, "token-1")
        };
        let named = [
            ("API_KEY", credential(CredentialType::ApiKey, "sk-12345")),
            ("DB", password),
            ("TOKEN", token),
            ("X-Key", credential(CredentialType::Header, "Bearer abcdefgh")),
            ("PIN", credential(CredentialType::ApiKey, "1234")),
        ];
        Credentials(named.into_iter().map(|(key, credential)| (key.to_owned(), credential)).collect())
    }

    #[test]
    fn what_a_program_lacks_is_read_out_of_its_words() {
        for (said, wanted) in [
            (
                "Error: No access token was provided.\nRun `auth login`, or pass `--access-token` / `SENTRY_ACCESS_TOKEN`.",
                Some("SENTRY_ACCESS_TOKEN"),
            ),
            ("starting\nError: BRAVE_API_KEY environment variable is required", Some("BRAVE_API_KEY")),
            ("KeyError: 'GITHUB_TOKEN_2'", Some("GITHUB_TOKEN_2")),
            (
                "Please set the environment variables SLACK_BOT_TOKEN and SLACK_TEAM_ID",
                Some("SLACK_BOT_TOKEN"),
            ),
            ("BRAVE_API_KEY was read\nMODULE is missing", None),
            ("ERR_MODULE_NOT_FOUND: Cannot find module, not found", None),
            (
                "Traceback (most recent call last):\n  File \"s.py\", line 3\n    id = int(os.getenv(\"TELEGRAM\"))\nTypeError: int() argument",
                Some("TELEGRAM"),
            ),
            ("id = os.getenv(\"TELEGRAM\")", None),
            ("A_\u{202e}B is missing", None),
            ("", None),
        ] {
            assert_eq!(named_as_missing(said), wanted, "{said}");
        }
    }

    #[test]
    fn each_type_goes_where_it_belongs() {
        let all = credentials();
        let variables = all.variables();
        let variables: Vec<_> =
            variables.iter().map(|(name, value)| (name.as_str(), value.expose())).collect();
        assert_eq!(
            variables,
            [
                ("API_KEY", "sk-12345"),
                ("DB", "opensesame"),
                ("DB_USERNAME", "ada"),
                ("PIN", "1234"),
                ("TOKEN", "token-1")
            ]
        );
        let headers: Vec<_> = all.headers().map(|(name, value)| (name, value.expose())).collect();
        assert_eq!(headers, [("X-Key", "Bearer abcdefgh")]);
        let said = all
            .redactor(&[])
            .redact("sk-12345 opensesame ada token-1 refresh-me Bearer abcdefgh, abcdefgh 1234")
            .into_owned();
        assert_eq!(said, "[API_KEY] [DB] ada [TOKEN] [TOKEN] [X-Key], [X-Key] 1234");
    }

    #[test]
    fn a_secret_wins_over_the_name_of_a_password() {
        let mut all = credentials();
        all.0.insert("DB_USERNAME".into(), credential(CredentialType::ApiKey, "another"));
        assert_eq!(all.variables()["DB_USERNAME"].expose(), "another");
    }

    #[test]
    fn what_is_missing_has_ended_or_is_odd_is_told_by_name() {
        let all = credentials();
        assert_eq!(all.missing(&["API_KEY".into(), "OTHER".into()]), ["OTHER"]);
        assert_eq!((all.expired(9), all.expired(10)), (vec![], vec!["TOKEN".to_owned()]));
        let env = BTreeMap::from([("DB".to_owned(), "x".to_owned())]);
        let warnings = all.warnings(&env, false);
        assert_eq!(warnings.len(), 3, "{warnings:?}");
        assert_eq!(all.warnings(&env, true).len(), 2, "a remote server is given its headers");
        assert!(!warnings.join(" ").contains("1234"));
        assert_eq!(all.overfull(), None);
        let many = |value: &str, count| {
            let one = |n| (format!("K{n}"), credential(CredentialType::ApiKey, value));
            Credentials((0..count).map(one).collect()).overfull()
        };
        assert!(many("x", MAX_KEYS).is_none() && many("x", MAX_KEYS + 1).is_some());
        let long = "x".repeat(MAX_VALUE);
        assert!(many(&long, 4).is_none() && many(&long, 5).is_some());
    }

    #[test]
    fn names_and_values_are_judged() {
        let key = |key| wrong_key(CredentialType::ApiKey, key).is_none();
        assert!(["API_KEY", "_a", "a.b-c9"].iter().all(|name| key(name)));
        let (long, longest) = ("K".repeat(129), "K".repeat(128));
        assert!(
            ["", "9a", "a b", "a=b", "ä", "HARBOR_SERVER", "X\n", "PATH", "LD_PRELOAD", long.as_str()]
                .iter()
                .all(|name| !key(name))
        );
        assert!(key(&longest));
        let header = |key| wrong_key(CredentialType::Header, key).is_none();
        assert!(header("X-Api-Key") && header("9!") && !header("X Key") && !header("X:") && !header(""));
        let value = |kind, value: &str| wrong_value(kind, &Secret::new(value.into())).is_none();
        assert!(value(CredentialType::ApiKey, "a\nb") && !value(CredentialType::Header, "a\nb"));
        assert!(!value(CredentialType::ApiKey, "") && !value(CredentialType::ApiKey, "a\0"));
        assert!(!value(CredentialType::ApiKey, &"x".repeat(MAX_VALUE + 1)));
        assert!(wrong_username(CredentialType::Password, "ada").is_none());
        assert!(wrong_username(CredentialType::Header, "ada").is_some());
    }
}
