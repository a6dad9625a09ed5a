//! The parts of an answer that are no text: images, sounds, resources. They are named, and written to files
//! when the person wants that.
//!
//! Owns the files' names, which are made of the tool's name, a number and the kind of content. Must never take a path
//! from a server, nor write over a file, nor through a link.

mod kinds;

use std::fs::{self, DirBuilder, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::alphabet::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use harbor_client::errors::{Exit, Failure};
use harbor_client::payload::Payload;
use harbor_client::terminal::remark;
use harbor_ipc_proto::json::Json;

use crate::table::bracket;

/// The files are the person's alone, and so is a directory that is made for them.
const FILE_MODE: u32 = 0o600;
const DIRECTORY_MODE: u32 = 0o700;

/// The longest part of a file's name that comes from the tool's, in bytes.
const MAX_STEM: usize = 64;

/// The number of taken file names after which we give up.
const MAX_NUMBER: u32 = 100_000;

/// Not every server pads its base64.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// A piece of content that is no text for the screen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Media {
    /// `image`, `audio` or `resource`.
    kind: String,
    uri: String,
    mime: String,
    body: Body,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Body {
    Base64(String),
    Text(String),
}

impl Media {
    /// An `image` or `audio` block.
    pub fn of_block(block: &Payload) -> Self {
        let body = Body::Base64(block.text("data"));
        Self { kind: block.text("type"), uri: String::new(), mime: block.text("mimeType"), body }
    }

    /// The contents of a resource.
    pub fn of_resource(resource: &Payload) -> Self {
        let body = match resource.raw("blob") {
            Some(_) => Body::Base64(resource.text("blob")),
            None => Body::Text(resource.text("text")),
        };
        Self { kind: "resource".into(), uri: resource.text("uri"), mime: resource.text("mimeType"), body }
    }

    /// `resource file:///x text/plain 5 bytes`, in parts.
    fn described(&self) -> [String; 4] {
        [self.kind.clone(), self.uri.clone(), self.mime.clone(), format!("{} bytes", self.size())]
    }

    fn size(&self) -> usize {
        match &self.body {
            Body::Base64(base64) => base64.trim_end_matches('=').len() * 3 / 4,
            Body::Text(text) => text.len(),
        }
    }

    fn bytes(&self) -> io::Result<Vec<u8>> {
        match &self.body {
            Body::Base64(text) => BASE64.decode(text).map_err(|_| io::Error::other("it is not base64")),
            Body::Text(text) => Ok(text.clone().into_bytes()),
        }
    }

    fn extension(&self) -> &'static str {
        kinds::extension(&self.mime).unwrap_or(match self.body {
            Body::Base64(_) => "bin",
            Body::Text(_) => "txt",
        })
    }
}

/// The place of an answer's media: a directory, or none.
#[derive(Debug, Default)]
pub struct Shelf {
    directory: Option<PathBuf>,
    stem: String,
    /// The number that is tried next; 0 before the directory was looked at.
    number: u32,
    /// The parts that were only named.
    left: usize,
    /// The results of writing the others.
    saved: Vec<Result<PathBuf, String>>,
}

impl Shelf {
    /// A shelf for the answer of `name`, in this directory if there is one.
    pub fn new(directory: Option<&str>, name: &str) -> Self {
        Self { directory: directory.map(PathBuf::from), stem: stem(name), ..Self::default() }
    }

    /// Refuses what cannot be a directory before anything is asked.
    pub fn check(directory: Option<&str>) -> Result<(), Failure> {
        match directory.map(|directory| (directory, fs::metadata(directory))) {
            Some((directory, Ok(found))) if !found.is_dir() => {
                Err(Failure::Usage(format!("--save {directory}: it is not a directory")))
            }
            _ => Ok(()),
        }
    }

    /// True if there is a directory.
    pub fn saves(&self) -> bool {
        self.directory.is_some()
    }

    /// Takes a piece, and returns the words for it.
    pub fn put(&mut self, media: &Media) -> String {
        let [kind, uri, mime, size] = media.described();
        let Some(directory) = self.directory.clone() else {
            self.left += 1;
            return bracket(&[kind, uri, mime, size]);
        };
        let saved = self.save(&directory, media).map_err(|error| error.to_string());
        let what = match &saved {
            Ok(path) => format!("{size}: saved as {}", path.display()),
            Err(error) => format!("{size}: not saved, {error}"),
        };
        self.saved.push(saved);
        bracket(&[kind, uri, mime, what])
    }

    fn save(&mut self, directory: &Path, media: &Media) -> io::Result<PathBuf> {
        let bytes = media.bytes()?;
        DirBuilder::new().recursive(true).mode(DIRECTORY_MODE).create(directory)?;
        if self.number == 0 {
            self.number = last_number(directory, &self.stem)?.saturating_add(1);
        }
        while self.number <= MAX_NUMBER {
            let path = directory.join(format!("{}-{}.{}", self.stem, self.number, media.extension()));
            self.number += 1;
            match write_new(&path, &bytes) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                other => return other.map(|()| path),
            }
        }
        Err(io::Error::other(format!("all names up to {}-{MAX_NUMBER} exist already", self.stem)))
    }

    /// The place or the error of each piece: `[{"path":…},{"error":…}]`.
    pub fn to_json(&self) -> String {
        let pair = |name: &str, value: &str| format!("{{\"{name}\":{}}}", Json::string(value).as_str());
        let one = |saved: &Result<PathBuf, String>| match saved {
            Ok(path) => pair("path", &path.to_string_lossy()),
            Err(error) => pair("error", error),
        };
        format!("[{}]", self.saved.iter().map(one).collect::<Vec<_>>().join(","))
    }

    /// Says to people what they can do; fails when a piece could not be saved.
    pub fn close(&self, json: bool) -> Result<(), Failure> {
        if let Some(hint) = self.hint().filter(|_| !json) {
            remark(&hint);
        }
        match self.saved.iter().any(Result::is_err) {
            true => Err(Failure::Said(Exit::Failed)),
            false => Ok(()),
        }
    }

    fn hint(&self) -> Option<String> {
        match self.left {
            0 => None,
            1 => Some("`--save DIR` writes it to a file".into()),
            left => Some(format!("`--save DIR` writes these {left} to files")),
        }
    }
}

/// The part of a name that is harmless in a file's name: letters, digits, `.`, `_` and `-`, and no dot or
/// dash in front.
fn stem(name: &str) -> String {
    let harmless = |c: char| if c.is_ascii_alphanumeric() || "._-".contains(c) { c } else { '_' };
    let stem: String = name.chars().take(MAX_STEM).map(harmless).collect();
    match stem.trim_start_matches(['.', '-']) {
        "" => "result".into(),
        stem => stem.into(),
    }
}

/// The highest number that a file of this stem has, whatever its kind.
fn last_number(directory: &Path, stem: &str) -> io::Result<u32> {
    let number = |entry: io::Result<fs::DirEntry>| {
        let name = entry.ok()?.file_name().into_string().ok()?;
        name.strip_prefix(stem)?.strip_prefix('-')?.split_once('.')?.0.parse().ok()
    };
    Ok(fs::read_dir(directory)?.filter_map(number).filter(|number| *number < MAX_NUMBER).max().unwrap_or(0))
}

/// Writes a new file. Removes it again if it could not be written wholly.
fn write_new(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = OpenOptions::new().write(true).create_new(true).mode(FILE_MODE).open(path)?;
    file.write_all(bytes).inspect_err(|_| {
        // The first error is what counts.
        let _ = fs::remove_file(path);
    })
}

#[cfg(test)]
mod tests;
