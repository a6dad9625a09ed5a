//! The words of a command line as values: names, numbers, durations.
//!
//! Owns what each may be and the sentence about one that is not.

use std::time::Duration;

use harbor_ipc_proto::server_id::{RULE, ServerId};

use super::Words;

impl Words {
    /// The only plain word, which names a server.
    pub(super) fn server(&self) -> Result<String, String> {
        self.at_most(1)?;
        checked_id(self.plain.first().ok_or("which server? Its name is missing")?)
    }

    pub(super) fn at_most(&self, count: usize) -> Result<(), String> {
        self.plain.get(count).map_or(Ok(()), |word| Err(format!("unexpected argument {word}")))
    }

    /// The plain words and those behind `--`, which may begin with a dash.
    pub(super) fn all_plain(&self) -> Vec<&String> {
        self.plain.iter().chain(self.behind.iter().flatten()).collect()
    }

    pub(super) fn all(&self, name: &str) -> impl Iterator<Item = &str> {
        self.options.iter().filter(move |(option, _)| *option == name).map(|(_, value)| value.as_str())
    }

    /// Paths or hosts. An empty one is a variable of the shell that is not set, and would be the current directory.
    pub(super) fn named(&self, name: &str, what: &str) -> Result<Vec<String>, String> {
        let one = |text: &str| match text.is_empty() {
            true => Err(format!("{name} is empty: name {what}")),
            false => Ok(text.to_owned()),
        };
        self.all(name).map(one).collect()
    }

    /// The directory for what is no text.
    pub(super) fn save(&self) -> Result<Option<String>, String> {
        Ok(self.named("--save", "a directory; `.` is the current one")?.pop())
    }

    /// The last one wins, as everywhere.
    pub(super) fn option(&self, name: &str) -> Option<&str> {
        self.all(name).last()
    }

    /// Whether a switch was given.
    pub(super) fn has(&self, name: &str) -> bool {
        self.option(name).is_some()
    }

    /// A whole number from 1 to `most`.
    pub(super) fn whole(&self, name: &str, most: u64) -> Result<Option<u64>, String> {
        let Some(text) = self.option(name) else { return Ok(None) };
        let number = text.parse().ok().filter(|number| (1..=most).contains(number));
        number.map(Some).ok_or_else(|| format!("{name} {text}: use a whole number from 1 to {most}"))
    }

    /// How long a call may take, and how long with all its progress.
    pub(super) fn call_timeouts(&self) -> Result<(Option<Duration>, Option<Duration>), String> {
        let timeout = self.seconds("--timeout", 0.001, 3600.0)?;
        let most = self.seconds("--max-timeout", 0.001, 3600.0)?;
        match (timeout, most) {
            (Some(timeout), Some(most)) if most < timeout => {
                Err("--max-timeout is shorter than --timeout: use at least as much".into())
            }
            both => Ok(both),
        }
    }

    pub(super) fn seconds(&self, name: &str, least: f64, most: f64) -> Result<Option<Duration>, String> {
        let Some(text) = self.option(name) else { return Ok(None) };
        duration(text, least, most)
            .map(Some)
            .ok_or_else(|| format!("{name} {text}: use a number of seconds from {least} to {most}"))
    }
}

/// A number of seconds between these bounds.
pub(super) fn duration(text: &str, least: f64, most: f64) -> Option<Duration> {
    let seconds = text.parse().ok().filter(|seconds| (least..=most).contains(seconds))?;
    Some(Duration::from_secs_f64(seconds))
}

pub(super) fn checked_id(text: &str) -> Result<String, String> {
    let id = ServerId::parse(text).ok_or_else(|| format!("{text:?} is no server's name: use {RULE}"))?;
    Ok(id.as_str().to_owned())
}

/// The text may be a secret, so a wrong one is not repeated.
pub(super) fn variable(text: &str) -> Result<(String, String), String> {
    let pair = text.split_once('=').filter(|(name, _)| !name.is_empty());
    pair.map(|(name, value)| (name.into(), value.into())).ok_or_else(|| "--env needs KEY=VALUE".into())
}
