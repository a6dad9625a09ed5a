//! A program that is offered for download, as two steps of an installer: see `policy::package::binary`.
//!
//! ```text
//!  harbor-runner-http fetch …  ─► fetch: one file, its hash and its signature ─► DIR/download, DIR/fetched.json
//!  harbor-runner-http unpack … ─► archive: entries ─► disk: DIR/files ─► choice ─► DIR/unpacked.json
//! ```
//!
//! Each step is a process of its own: the one that reads an archive of other people has read nothing of the network. Both
//! run below a runner, in the sandbox of installers. Owns the command line. Must never run anything of what was fetched.

pub mod archive;
pub mod choice;
mod disk;
mod fetch;
pub mod machine;
mod signature;
mod unpack;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::{self, Write as _};
use std::path::PathBuf;
use std::process::ExitCode;

use harbor_ipc_proto::BUILD;
use harbor_policy::package::binary::SAID;

/// The file as it came.
const DOWNLOAD: &str = "download";

/// The facts about the download.
const FETCHED: &str = "fetched.json";

/// Options by name; those without a value have an empty one.
#[derive(Debug)]
struct Options(BTreeMap<String, String>);

impl Options {
    fn read(words: &[OsString]) -> Option<Self> {
        let (mut options, mut words) = (BTreeMap::new(), words.iter());
        while let Some(word) = words.next() {
            let name = word.to_str()?.strip_prefix("--")?;
            let value = if name.starts_with("allow-") { "" } else { words.next()?.to_str()? };
            options.insert(name.to_owned(), value.to_owned());
        }
        Some(Self(options))
    }

    fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str)
    }

    fn has(&self, name: &str) -> bool {
        self.0.contains_key(name)
    }

    fn dir(&self) -> PathBuf {
        self.get("dir").unwrap_or_default().into()
    }
}

/// Does what the command line asks for, if that is one of these steps.
#[must_use]
pub fn run(arguments: &[OsString]) -> Option<ExitCode> {
    let (mode, words) = arguments.split_first()?;
    let step = match mode.to_str()? {
        "fetch" => fetch::fetch,
        "unpack" => unpack::unpack,
        _ => return None,
    };
    let done = match Options::read(words) {
        Some(options) if options.get("build") == Some(BUILD) => step(&options),
        _ => Err("Harbor was upgraded meanwhile; run `harbor shutdown` and try again".into()),
    };
    Some(match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            say(&format!("{SAID}{why}"));
            ExitCode::FAILURE
        }
    })
}

/// A line for whoever waits.
fn say(text: &str) {
    let _ = writeln!(io::stderr(), "{text}");
}

/// Bytes as people read them.
fn amount(bytes: u64) -> String {
    match bytes {
        0..10_000 => format!("{bytes} bytes"),
        10_000..10_000_000 => format!("{} kB", bytes / 1000),
        _ => format!("{} MB", bytes / 1_000_000),
    }
}
