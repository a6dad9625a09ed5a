//! The settings that the bridge sends, checked.
//!
//! Owns which settings can be followed. They come from the person's configuration, so a mistake is named.

use std::path::PathBuf;
use std::time::Duration;

use harbor_ipc_proto::link::worker::{Enrichment, WorkerSettings, WorkerSource};
use reqwest::Url;

use crate::db::Origin;
use crate::text;

/// More sources are not followed.
const MAX_SOURCES: usize = 16;
/// The limit of a request where none is said.
const REQUEST_LIMIT: u64 = 30_000;

/// The settings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settings {
    /// The path of catalog.db.
    pub database: PathBuf,
    /// The sources of entries, with their addresses.
    pub sources: Vec<(Origin, Url)>,
    /// Milliseconds; 0 means only on request.
    pub interval: u64,
    /// The time of a request in all.
    pub limit: Duration,
    /// The services that know more.
    pub lookups: Lookups,
}

/// The services that know more about entries.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Lookups {
    /// The base of GitHub's API.
    pub github: Option<Url>,
    /// A template with `{name}`.
    pub npm: Option<String>,
    /// A template with `{name}`.
    pub pypi: Option<String>,
}

impl Lookups {
    /// True if there is nowhere to look.
    #[must_use]
    pub fn are_none(&self) -> bool {
        *self == Self::default()
    }
}

impl Settings {
    /// Checks them.
    ///
    /// # Errors
    /// A sentence on what is wrong.
    pub fn of(wire: &WorkerSettings<'_>) -> Result<Self, String> {
        let database = PathBuf::from(&*wire.database);
        if !database.is_absolute() {
            return Err("the path of catalog.db must be absolute".into());
        }
        if wire.sources.len() > MAX_SOURCES {
            return Err(format!("the catalog has at most {MAX_SOURCES} sources"));
        }
        let sources = wire.sources.iter().map(source).collect::<Result<Vec<_>, _>>()?;
        for (at, (origin, _)) in sources.iter().enumerate() {
            if sources.iter().take(at).any(|(other, _)| other.id == origin.id) {
                return Err(format!("the source {} is named twice", origin.id));
            }
        }
        let limit = if wire.request_timeout_ms == 0 { REQUEST_LIMIT } else { wire.request_timeout_ms };
        let lookups = wire.enrichment.as_ref().map(lookups).transpose()?.unwrap_or_default();
        Ok(Self {
            database,
            sources,
            interval: wire.interval_ms,
            limit: Duration::from_millis(limit),
            lookups,
        })
    }

    /// The sources, without their parsed addresses.
    #[must_use]
    pub fn origins(&self) -> Vec<Origin> {
        self.sources.iter().map(|(origin, _)| origin.clone()).collect()
    }
}

fn source(wire: &WorkerSource<'_>) -> Result<(Origin, Url), String> {
    let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
    if !(1..=32).contains(&wire.id.len()) || !wire.id.bytes().all(plain) || wire.id == "curated" {
        return Err(format!(
            "{:?} is not a valid source name; use a to z, 0 to 9 and _, but not `curated`",
            shown(&wire.id)
        ));
    }
    let url =
        text::web(&wire.url).ok_or_else(|| format!("the source {} needs an http or https URL", wire.id))?;
    let origin = Origin { id: wire.id.to_string(), kind: wire.kind, url: wire.url.to_string() };
    Ok((origin, url))
}

fn lookups(wire: &Enrichment<'_>) -> Result<Lookups, String> {
    let github = wire
        .github
        .as_deref()
        .map(|url| text::web(url).ok_or("the URL of GitHub's API must be http or https"));
    let template = |wanted: Option<&str>, what: &str| match wanted {
        Some(text) if !text.contains("{name}") || text::web(text).is_none() => {
            Err(format!("the URL of {what}'s downloads must be http or https and have {{name}} in it"))
        }
        wanted => Ok(wanted.map(str::to_owned)),
    };
    Ok(Lookups {
        github: github.transpose()?,
        npm: template(wire.npm_downloads.as_deref(), "npm")?,
        pypi: template(wire.pypi_downloads.as_deref(), "PyPI")?,
    })
}

fn shown(text: &str) -> String {
    text::clean(text, 60)
}

#[cfg(test)]
mod tests {
    use harbor_ipc_proto::link::worker::CatalogSourceKind;

    use super::*;

    fn wire(sources: &[(&'static str, &'static str)]) -> WorkerSettings<'static> {
        let source = |(id, url): &(&'static str, &'static str)| WorkerSource {
            id: (*id).into(),
            kind: CatalogSourceKind::Registry,
            url: (*url).into(),
        };
        WorkerSettings {
            database: "/c".into(),
            sources: sources.iter().map(source).collect(),
            interval_ms: 1,
            request_timeout_ms: 0,
            enrichment: None,
        }
    }

    #[test]
    fn settings_that_can_be_followed_are() {
        let settings =
            Settings::of(&wire(&[("a_1", "https://a.example/"), ("b", "http://127.0.0.1:1")])).unwrap();
        assert_eq!((settings.sources.len(), settings.limit), (2, Duration::from_secs(30)));
        assert!(settings.lookups.are_none());
    }

    #[test]
    fn what_is_wrong_is_said() {
        let why = |settings| Settings::of(&settings).unwrap_err();
        assert!(why(WorkerSettings { database: "c".into(), ..wire(&[]) }).contains("absolute"));
        for id in ["", "A", "curated", "a b"] {
            assert!(why(wire(&[(id, "https://a.example/")])).contains("not a valid source name"), "{id}");
        }
        assert!(why(wire(&[("a", "file:///x")])).contains("http or https"));
        assert!(why(wire(&[("a", "https://a.example/"), ("a", "https://b.example/")])).contains("twice"));
        let enrichment = |npm: &'static str, github: &'static str| {
            let enrichment = Enrichment {
                github: Some(github.into()),
                npm_downloads: Some(npm.into()),
                pypi_downloads: None,
            };
            WorkerSettings { enrichment: Some(enrichment), ..wire(&[]) }
        };
        assert!(why(enrichment("https://n.example/x", "https://g.example")).contains("{name}"));
        assert!(why(enrichment("https://n.example/{name}", "g")).contains("GitHub"));
        assert!(Settings::of(&enrichment("https://n.example/{name}", "https://g.example")).is_ok());
    }
}
