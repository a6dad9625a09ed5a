//! A program that somebody offers for download: its source, and the commands that fetch and unpack it.
//!
//! ```text
//!  binary:URL#sha256=HEX&minisign=KEY&bin=PATH&allow=http&allow=private ─► Binary ─► fetch, unpack
//! ```
//!
//! Owns the reading of this source. Everything stands in the source, so that an upgrade is held to it, too. Must never let an
//! address through that would bring a password or a key into a definition, which is stored and shown.

use std::env::consts::{ARCH, OS};

use harbor_ipc_proto::BUILD;
use url::Url;

use super::description::Package;
use super::step::{Step, line};
use crate::remote::says_private;

/// The program that fetches and unpacks: it stands beside the bridge.
pub const FETCHER: &str = "harbor-runner-http";

/// The word of the fetcher before a sentence for people.
pub const SAID: &str = "refused: ";

/// The fetcher's words about a file with another SHA-256 than the expected one.
pub const OTHER_FILE: &str = "is not the expected file";

/// The file in which the fetcher reports what it has unpacked, in the package's directory.
pub const REPORT: &str = "unpacked.json";

/// The directory for unpacked files, in the package's directory.
pub const FILES: &str = "files";

/// The most bytes of an address.
const MAX_URL: usize = 1000;

/// The most bytes of a path in an archive.
const MAX_PATH: usize = 500;

/// The letters of a public key of minisign: two letters, its number and 32 bytes, in base64.
const KEY: usize = 56;

/// Words of a file's name that say which machine it is for.
const OF_MACHINES: &[&str] = &[
    "{arch}", "{os}", "aarch64", "amd64", "apple", "arm64", "darwin", "gnu", "linux", "macos", "musl", "pc",
    "static", "unknown", "x64", "x86", "x86_64",
];

/// The ends of the names of packed files.
const PACKED: &[&str] = &[".tar.gz", ".tgz", ".zip"];

/// The end of the name of a module of WebAssembly, which Harbor interprets.
pub const MODULE: &str = ".wasm";

/// A source in parts.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Binary {
    /// The address in written form. It may contain `{os}` and `{arch}`.
    pub url: String,
    /// The SHA-256 that the file has to have, in hexadecimal digits.
    pub sha256: Option<String>,
    /// The public key of minisign that it has to be signed by.
    pub key: Option<String>,
    /// The program's file in an archive.
    pub program: Option<String>,
    /// True if it may come without TLS.
    pub allow_http: bool,
    /// True if it may come from a private address.
    pub allow_private: bool,
}

/// Reads the text behind `binary:`. Returns the name of the package, and the text in its one form.
pub(super) fn spec(text: &str) -> Result<(String, String), String> {
    let binary = Binary::read(text)?;
    Ok((binary.name(), binary.spec()))
}

impl Binary {
    /// Reads what stands behind `binary:`.
    ///
    /// # Errors
    /// A sentence about what is wrong with it.
    pub fn read(text: &str) -> Result<Self, String> {
        let (url, said) = text.split_once('#').unwrap_or((text, ""));
        let mut binary = Self { url: url.to_owned(), ..Self::default() };
        for word in said.split('&').filter(|word| !word.is_empty()) {
            binary.take(word)?;
        }
        binary.checked()
    }

    fn take(&mut self, word: &str) -> Result<(), String> {
        let (name, value) = word.split_once('=').unwrap_or((word, ""));
        let once = |place: &mut Option<String>, value: String| match place.replace(value) {
            None => Ok(()),
            Some(_) => Err(format!("{name}= occurs twice after the #")),
        };
        match (name, value) {
            ("sha256", value) => once(&mut self.sha256, sha256(value)?),
            ("minisign", value) => once(&mut self.key, key(value)?),
            ("bin", value) => once(&mut self.program, path(value)?),
            ("allow", "http") => {
                self.allow_http = true;
                Ok(())
            }
            ("allow", "private") => {
                self.allow_private = true;
                Ok(())
            }
            _ => Err(format!(
                "{word:?} is not allowed after the # of binary:; use sha256=HEX, minisign=KEY, bin=PATH, allow=http or \
                 allow=private"
            )),
        }
    }

    fn checked(self) -> Result<Self, String> {
        let (written, address) = (&self.url, self.address());
        let url = Url::parse(&address)
            .map_err(|_| format!("{written} is not a whole address; write it with https://…"))?;
        let is_whole = address.starts_with(&format!("{}://", url.scheme()));
        let plain = address.bytes().all(|byte| byte.is_ascii_graphic()) && address.len() <= MAX_URL;
        if !is_whole || !plain || url.host_str().is_none_or(str::is_empty) {
            return Err(format!("{written} is not a whole address; write it with https://…"));
        }
        match url.scheme() {
            "https" => {}
            "http" if self.allow_http => {}
            "http" => {
                // Both at once: the other would be asked for next.
                let (private, option) = match says_private(&url) && !self.allow_private {
                    true => (" and is a private address", "--allow-http with --allow-private"),
                    false => ("", "--allow-http"),
                };
                return Err(format!(
                    "{written} has no TLS{private}: others on the network could change the file; {option} allows that"
                ));
            }
            other => return Err(format!("binary: fetches by https:// only, not by {other}:")),
        }
        if !url.username().is_empty() || url.password().is_some() || url.query().is_some() {
            return Err(
                "the address contains a name, a password or a ?, which Harbor would store and show; use one without".into(),
            );
        }
        if matches!(self.name().as_bytes(), [] | [b'.' | b'-', ..]) {
            return Err(format!("{written} does not end in a file name"));
        }
        Ok(self)
    }

    /// The address for this machine.
    #[must_use]
    pub fn address(&self) -> String {
        self.url.replace("{os}", OS).replace("{arch}", ARCH)
    }

    /// The text behind `binary:`, in its one form.
    #[must_use]
    pub fn spec(&self) -> String {
        let said = [("sha256", &self.sha256), ("minisign", &self.key), ("bin", &self.program)];
        let said = said.into_iter().filter_map(|(name, value)| Some(format!("{name}={}", value.as_ref()?)));
        let allowed = [("allow=http", self.allow_http), ("allow=private", self.allow_private)];
        let allowed = allowed.into_iter().filter(|(_, is)| *is).map(|(word, _)| word.to_owned());
        let all: Vec<_> = said.chain(allowed).collect();
        if all.is_empty() { self.url.clone() } else { format!("{}#{}", self.url, all.join("&")) }
    }

    /// The name of the file, without the parts for the archive format and the machine.
    fn name(&self) -> String {
        let last = self.url.rsplit('/').next().unwrap_or_default();
        let plain = |c: char| if c.is_ascii_alphanumeric() || "._-{}".contains(c) { c } else { '-' };
        let last: String = last.chars().map(plain).collect();
        let whole = PACKED.iter().find_map(|ending| last.strip_suffix(ending)).unwrap_or(&last);
        let mut name = whole;
        while let Some((before, word)) = name.rsplit_once(['-', '_', '.']) {
            let word = word.to_ascii_lowercase();
            let is_version = word.trim_start_matches('v').starts_with(|c: char| c.is_ascii_digit());
            if !is_version && !OF_MACHINES.contains(&word.as_str()) {
                break;
            }
            name = before;
        }
        if name.is_empty() { whole.to_owned() } else { name.to_owned() }
    }

    /// The proofs that the file is the right one. Empty if only its address speaks for it.
    #[must_use]
    pub fn vouched_by(&self) -> Vec<&'static str> {
        let all = [("checksum", self.sha256.is_some()), ("signature", self.key.is_some())];
        all.into_iter().filter(|(_, is)| *is).map(|(word, _)| word).collect()
    }

    /// The same program in another version: another SHA-256 at the same address, or another address with the words behind its #.
    pub(super) fn exactly(&self, version: &str) -> Option<Self> {
        let version = version.strip_prefix("binary:").unwrap_or(version);
        if !version.contains(':') {
            return Some(Self { sha256: Some(sha256(version).ok()?), ..self.clone() });
        }
        let (url, said) = version.split_once('#').unwrap_or((version, ""));
        let mut other = Self::default();
        said.split('&').filter(|word| !word.is_empty()).try_for_each(|word| other.take(word)).ok()?;
        let found = Self {
            url: url.to_owned(),
            sha256: other.sha256,
            // A server that had to be signed by a key is held to it.
            key: self.key.clone().or(other.key),
            program: other.program.or_else(|| self.program.clone()),
            allow_http: self.allow_http || other.allow_http,
            allow_private: self.allow_private || other.allow_private,
        };
        found.checked().ok()
    }

    /// The same program without a SHA-256, so that any file at the address is taken.
    pub(super) fn newest(&self) -> Self {
        Self { sha256: None, ..self.clone() }
    }
}

fn sha256(text: &str) -> Result<String, String> {
    match text.len() == 64 && text.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        true => Ok(text.to_ascii_lowercase()),
        false => Err("a SHA-256 has 64 hexadecimal digits, as `sha256sum FILE` writes them".into()),
    }
}

fn key(text: &str) -> Result<String, String> {
    let letter = |byte: u8| byte.is_ascii_alphanumeric() || b"+/=".contains(&byte);
    match text.len() == KEY && text.starts_with("RW") && text.bytes().all(letter) {
        true => Ok(text.to_owned()),
        false => {
            Err("a public key of minisign has 56 letters and begins with RW: the last line of minisign.pub"
                .into())
        }
    }
}

fn path(text: &str) -> Result<String, String> {
    let text = text.strip_prefix("./").unwrap_or(text);
    let is_part = |part: &str| !matches!(part, "" | "." | "..");
    let plain = |c: char| !c.is_control() && !"&#\\".contains(c);
    match text.len() <= MAX_PATH && text.split('/').all(is_part) && text.chars().all(plain) {
        true => Ok(text.to_owned()),
        false => Err("name the program by its path in the archive, such as bin/server".into()),
    }
}

/// The commands: what is fetched is checked while it comes, and unpacked by a process that has read nothing else.
pub(super) fn fetch(package: &Package, dir: &str) -> Vec<Step> {
    let Ok(binary) = Binary::read(&package.spec) else { return Vec::new() };
    let command = |mode: &str| line(&[&[FETCHER, mode, "--build", BUILD, "--dir", dir]]);
    let (mut fetch, mut unpack) = (command("fetch"), command("unpack"));
    let say = |step: &mut Step, name: &str, value: Option<&String>| {
        step.extend(value.into_iter().flat_map(|value| [name.to_owned(), value.clone()]));
    };
    say(&mut fetch, "--url", Some(&binary.address()));
    say(&mut fetch, "--sha256", binary.sha256.as_ref());
    say(&mut fetch, "--minisign", binary.key.as_ref());
    let allowed = [("--allow-http", binary.allow_http), ("--allow-private", binary.allow_private)];
    fetch.extend(allowed.into_iter().filter(|(_, is)| *is).map(|(word, _)| word.to_owned()));
    say(&mut unpack, "--name", Some(&package.name));
    say(&mut unpack, "--bin", binary.program.as_ref());
    vec![fetch, unpack]
}

impl Package {
    /// The source of a package that is downloaded.
    #[must_use]
    pub fn binary(&self) -> Option<Binary> {
        (self.ecosystem == super::description::Ecosystem::Binary)
            .then(|| Binary::read(&self.spec).ok())
            .flatten()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::source::{default_name, read};
    use super::*;

    const HEX: &str = "0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a";
    const PUBLIC: &str = "RWQf6LRCGA9i53mlYecO4IzT51TGPpvWucNSCh1CBM0QTaLn73Y7GFO3";

    fn package(text: &str) -> Package {
        read(&format!("binary:{text}"), &[]).unwrap()
    }

    #[test]
    fn all_of_a_source_is_read_and_written_in_one_form() {
        let text = format!(
            "https://h/a.zip#allow=private&bin=./bin/a&minisign={PUBLIC}&sha256={}",
            HEX.to_uppercase()
        );
        let package = package(&text);
        assert_eq!(
            package.spec,
            format!("https://h/a.zip#sha256={HEX}&minisign={PUBLIC}&bin=bin/a&allow=private")
        );
        assert_eq!(read(&package.source(), &[]), Ok(package.clone()));
        assert!(package.is_exact() && !package.newest().is_exact());
        assert_eq!(package.newest().exactly(HEX), Some(package.clone()));
        assert_eq!(package.binary().unwrap().vouched_by(), ["checksum", "signature"]);
        assert!(package.newest().spec.contains("minisign="), "an upgrade is held to the key");
        let fetch = super::super::prepare(&package, "/d", false, None);
        assert_eq!(fetch[0][..6], [FETCHER, "fetch", "--build", BUILD, "--dir", "/d"]);
        assert_eq!(
            fetch[0][6..],
            ["--url", "https://h/a.zip", "--sha256", HEX, "--minisign", PUBLIC, "--allow-private"]
        );
        assert_eq!(fetch[1][6..], ["--name", "a", "--bin", "bin/a"]);
    }

    #[test]
    fn another_version_is_another_hash_or_another_address() {
        let signed = package(&format!("https://h/v1/a#minisign={PUBLIC}&bin=a"));
        let of = |version: &str| signed.exactly(version).map(|found| found.spec);
        assert_eq!(
            of(&format!("https://h/v2/a#sha256={HEX}")),
            Some(format!("https://h/v2/a#sha256={HEX}&minisign={PUBLIC}&bin=a"))
        );
        assert_eq!(of("https://h/v2/a"), Some(format!("https://h/v2/a#minisign={PUBLIC}&bin=a")));
        let other = PUBLIC.replace("53", "54");
        assert_eq!(
            of(&format!("https://h/v2/a#minisign={other}")),
            Some(format!("https://h/v2/a#minisign={PUBLIC}&bin=a"))
        );
        for wrong in ["1.2", "http://h/a", "https://h/a?x", "", "latest"] {
            assert_eq!(of(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn what_is_wrong_is_said() {
        for (text, said) in [
            ("h/a", "is not a whole address"),
            ("https:/h/a", "is not a whole address"),
            ("http://h/a", "; --allow-http allows that"),
            (
                "http://127.0.0.1:1/a",
                "and is a private address: others on the network could change the file; \
              --allow-http with --allow-private allows",
            ),
            ("http://127.0.0.1:1/a#allow=private", "; --allow-http allows"),
            ("ftp://h/a", "by https:// only"),
            ("https://u:p@h/a", "store and show"),
            ("https://h/a?token=x", "store and show"),
            ("https://h/", "does not end in a file name"),
            ("https://h/..", "does not end in a file name"),
            ("https://h/a#sha256=12", "64 hexadecimal digits"),
            ("https://h/a#minisign=x", "begins with RW"),
            ("https://h/a#bin=../x", "bin/server"),
            ("https://h/a#bin=/x", "bin/server"),
            ("https://h/a#allow=all", "is not allowed after the #"),
            ("https://h/a#bin=a&bin=b", "occurs twice"),
        ] {
            let refused = Binary::read(text).unwrap_err();
            assert!(refused.contains(said), "{text}: {refused}");
        }
        assert!(Binary::read("http://h/a#allow=http").is_ok());
    }

    #[test]
    fn servers_are_called_like_their_files() {
        for (file, name) in [
            ("github-mcp-server_Linux_x86_64.tar.gz", "github"),
            ("files-{os}-{arch}.zip", "files"),
            ("notes-v1.2.3-linux-amd64", "notes"),
            ("mcp-time", "time"),
            ("mcp-time.wasm", "time"),
            ("linux-x64.tgz", "linux"),
        ] {
            let package = package(&format!("https://h/d/{file}"));
            assert_eq!(default_name(&package).unwrap().as_str(), name, "{file}: {}", package.name);
        }
        let address = package("https://h/{os}/x-{arch}").binary().unwrap().address();
        assert_eq!(address, format!("https://h/{OS}/x-{ARCH}"));
    }

    proptest! {
        #[test]
        fn what_is_read_is_read_the_same_again(text in r"https?://[a-z{}/.:@?]{0,12}(#((sha256|minisign|bin|allow)=[a-z/.]{0,8}&?){0,3})?") {
            if let Ok(binary) = Binary::read(&text) {
                prop_assert_eq!(Binary::read(&binary.spec()), Ok(binary.clone()));
                prop_assert!(!binary.address().contains(['?', '#']));
            }
        }
    }
}
