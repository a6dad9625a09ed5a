//! The parts that both steps share: their options, the names of their files, and lines for whoever waits.
//!
//! Must never reach the network or read an archive.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::{self, Write as _};
use std::path::PathBuf;

/// The file as it came.
pub(super) const DOWNLOAD: &str = "download";

/// The facts about the download.
pub(super) const FETCHED: &str = "fetched.json";

/// Options by name; those without a value have an empty one.
#[derive(Debug)]
pub(super) struct Options(BTreeMap<String, String>);

impl Options {
    pub(super) fn read(words: &[OsString]) -> Option<Self> {
        let (mut options, mut words) = (BTreeMap::new(), words.iter());
        while let Some(word) = words.next() {
            let name = word.to_str()?.strip_prefix("--")?;
            let value = if name.starts_with("allow-") { "" } else { words.next()?.to_str()? };
            options.insert(name.to_owned(), value.to_owned());
        }
        Some(Self(options))
    }

    pub(super) fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str)
    }

    pub(super) fn has(&self, name: &str) -> bool {
        self.0.contains_key(name)
    }

    pub(super) fn dir(&self) -> PathBuf {
        self.get("dir").unwrap_or_default().into()
    }
}

/// A line for whoever waits.
pub(super) fn say(text: &str) {
    let _ = writeln!(io::stderr(), "{text}");
}

/// Bytes as people read them.
pub(super) fn amount(bytes: u64) -> String {
    match bytes {
        0..10_000 => format!("{bytes} bytes"),
        10_000..10_000_000 => format!("{} kB", bytes / 1000),
        _ => format!("{} MB", bytes / 1_000_000),
    }
}
