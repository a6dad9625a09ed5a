//! Archives of other people: .tar.gz and .zip.
//!
//! ```text
//!  bytes ─► entries, one by one ─► a path that stays inside? a kind that may be? within the limits? ─► Place
//! ```
//!
//! Owns what may be in an archive. Nothing is believed: lengths are counted as they come. Must never hand on a path or a
//! link that leads out, nor anything but directories, files and links.

use std::io::{self, Cursor, Read, Seek};

use flate2::read::MultiGzDecoder;
use tar::EntryType;
use zip::ZipArchive;
use zip::result::ZipError;

use super::machine::{Form, START, form};

/// More entries are not unpacked.
pub const MAX_ENTRIES: usize = 10_000;

/// The most bytes that are unpacked, whatever an archive says of itself.
pub const MAX_BYTES: u64 = 1 << 30;

const MAX_PATH: usize = 1024;
const MAX_DEPTH: usize = 32;

/// The kind of an entry in the mode of a Unix.
const KIND: u32 = 0o170_000;
const LINK: u32 = 0o120_000;
const FILE: u32 = 0o100_000;
const DIRECTORY: u32 = 0o040_000;

/// A file that was unpacked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// Its path in the archive.
    pub path: String,
    /// True if the archive marks it as a program.
    pub executable: bool,
    /// The kind of file, by how it begins.
    pub form: Form,
}

/// A place where an archive is unpacked. All its paths are relative and contain neither `.` nor `..`.
pub trait Place {
    /// A directory.
    ///
    /// # Errors
    /// Errors of the disk.
    fn directory(&mut self, path: &str) -> io::Result<()>;
    /// A file that is not there yet.
    ///
    /// # Errors
    /// Errors of the disk, and of reading the content.
    fn file(&mut self, path: &str, executable: bool, content: &mut dyn Read) -> io::Result<()>;
    /// A link to another place inside.
    ///
    /// # Errors
    /// Errors of the disk.
    fn link(&mut self, path: &str, target: &str) -> io::Result<()>;
    /// A second name of a file.
    ///
    /// # Errors
    /// Errors of the disk.
    fn second_name(&mut self, path: &str, of: &str) -> io::Result<()>;
}

/// The state of unpacking.
struct Unpacking<'p> {
    place: &'p mut dyn Place,
    files: Vec<Entry>,
    entries: usize,
    left: u64,
}

/// Unpacks a tar that gzip has packed, `most` bytes in all. Returns its files.
///
/// # Errors
/// A sentence about what is wrong with it.
pub fn read_tar(packed: impl Read, most: u64, place: &mut dyn Place) -> Result<Vec<Entry>, String> {
    // What stands between the files counts, too: names may be of any length.
    let plain = Bounded { inner: MultiGzDecoder::new(packed), left: most };
    let mut archive = tar::Archive::new(plain);
    let mut unpacking = Unpacking::into(place, most);
    for entry in archive.entries().map_err(broken)? {
        let mut entry = entry.map_err(broken)?;
        let kind = entry.header().entry_type();
        if kind.is_pax_global_extensions() {
            continue;
        }
        let path = entry.path_bytes().into_owned();
        let target = entry.link_name_bytes().map(|target| target.into_owned()).unwrap_or_default();
        let executable = entry.header().mode().is_ok_and(|mode| mode & 0o111 != 0);
        let Some(path) = unpacking.next(&path)? else { continue };
        match kind {
            EntryType::Directory => unpacking.directory(&path)?,
            EntryType::Regular | EntryType::Continuous => unpacking.file(path, executable, &mut entry)?,
            EntryType::Symlink => unpacking.link(&path, &target)?,
            EntryType::Link => unpacking.second_name(path, &target)?,
            _ => {
                return Err(format!(
                    "{path} in the archive is neither a file nor a directory: it is not unpacked"
                ));
            }
        }
    }
    Ok(unpacking.files)
}

/// Unpacks a zip, `most` bytes in all. Returns its files.
///
/// # Errors
/// As [`read_tar`].
pub fn read_zip(packed: impl Read + Seek, most: u64, place: &mut dyn Place) -> Result<Vec<Entry>, String> {
    let mut archive = ZipArchive::new(packed).map_err(of_zip)?;
    // Its reader shows the last of them only, while others may take the first.
    if archive.has_duplicate_names() {
        return Err("the archive is not unpacked: it contains a file twice".into());
    }
    let mut unpacking = Unpacking::into(place, most);
    for at in 0..archive.len() {
        let mut entry = archive.by_index(at).map_err(of_zip)?;
        let mode = entry.unix_mode().unwrap_or(0);
        let is_directory = entry.name_raw().ends_with(b"/");
        let Some(path) = unpacking.next(entry.name_raw())? else { continue };
        match mode & KIND {
            LINK => {
                let mut target = Vec::new();
                entry.by_ref().take(MAX_PATH as u64 + 1).read_to_end(&mut target).map_err(broken)?;
                unpacking.link(&path, &target)?;
            }
            _ if is_directory => unpacking.directory(&path)?,
            0 | FILE => unpacking.file(path, mode & 0o111 != 0, &mut entry)?,
            DIRECTORY => unpacking.directory(&path)?,
            _ => {
                return Err(format!(
                    "{path} in the archive is neither a file nor a directory: it is not unpacked"
                ));
            }
        }
    }
    Ok(unpacking.files)
}

impl<'p> Unpacking<'p> {
    fn into(place: &'p mut dyn Place, left: u64) -> Self {
        Self { place, files: Vec::new(), entries: 0, left }
    }

    /// The path of the next entry. None for the top itself.
    fn next(&mut self, path: &[u8]) -> Result<Option<String>, String> {
        self.entries += 1;
        match self.entries > MAX_ENTRIES {
            true => Err(format!("there are more than {MAX_ENTRIES} files in the archive")),
            false => inside(path),
        }
    }

    fn directory(&mut self, path: &str) -> Result<(), String> {
        self.place.directory(path).map_err(|error| at(path, &error))
    }

    fn file(&mut self, path: String, executable: bool, content: &mut dyn Read) -> Result<(), String> {
        let mut start = Vec::new();
        content.take(START as u64).read_to_end(&mut start).map_err(broken)?;
        let form = form(&start);
        let mut whole = Bounded { inner: Cursor::new(start).chain(content), left: self.left };
        self.place.file(&path, executable, &mut whole).map_err(|error| at(&path, &error))?;
        self.left = whole.left;
        self.files.push(Entry { path, executable, form });
        Ok(())
    }

    fn link(&mut self, path: &str, target: &[u8]) -> Result<(), String> {
        let target = target_of(path, target)?;
        self.place.link(path, target).map_err(|error| at(path, &error))
    }

    fn second_name(&mut self, path: String, of: &[u8]) -> Result<(), String> {
        let of = inside(of)?.unwrap_or_default();
        let first = self.files.iter().find(|entry| entry.path == of).cloned();
        let first = first.ok_or_else(|| {
            format!("{path} in the archive is a link to {of:?}, which is not a file in the archive")
        })?;
        self.place.second_name(&path, &of).map_err(|error| at(&path, &error))?;
        self.files.push(Entry { path, ..first });
        Ok(())
    }
}

/// A path that stays inside. None for the top itself.
fn inside(path: &[u8]) -> Result<Option<String>, String> {
    let shown = String::from_utf8_lossy(&path[..path.len().min(80)]).into_owned();
    let refused = |why: &str| Err(format!("the archive is not unpacked: its path {shown:?} {why}"));
    let Ok(text) = std::str::from_utf8(path) else { return refused("is not UTF-8") };
    if text.len() > MAX_PATH || text.chars().any(char::is_control) {
        return refused("is not a valid file name");
    }
    if text.starts_with('/') || text.contains('\\') || text.split('/').any(|part| part == "..") {
        return refused("leads out of the archive");
    }
    let parts: Vec<_> = text.split('/').filter(|part| !matches!(*part, "" | ".")).collect();
    if parts.len() > MAX_DEPTH {
        return refused("is nested too deep");
    }
    Ok((!parts.is_empty()).then(|| parts.join("/")))
}

/// Checks the target of a link: no more steps up than there are directories above it, and then down. A step up behind a step
/// down could begin anywhere, since the directory may be a link itself.
fn target_of<'t>(path: &str, target: &'t [u8]) -> Result<&'t str, String> {
    let refused = || format!("the archive is not unpacked: its link {path} leads out of the archive");
    let target = std::str::from_utf8(target).map_err(|_| refused())?;
    let parts: Vec<_> = target.split('/').filter(|part| !matches!(*part, "" | ".")).collect();
    let up = parts.iter().take_while(|part| **part == "..").count();
    let is_inside = up < path.split('/').count() && !parts[up..].contains(&"..");
    let is_name = !target.is_empty() && target.len() <= MAX_PATH && !target.chars().any(char::is_control);
    match is_inside && is_name && !target.starts_with('/') {
        true => Ok(target),
        false => Err(refused()),
    }
}

/// Reads a limited number of bytes.
struct Bounded<R> {
    inner: R,
    left: u64,
}

impl<R: Read> Read for Bounded<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(into)?;
        self.left =
            self.left.checked_sub(read as u64).ok_or_else(|| io::Error::from(io::ErrorKind::FileTooLarge))?;
        Ok(read)
    }
}

fn too_large() -> String {
    "the unpacked archive is larger than 1 GiB, the limit".into()
}

fn at(path: &str, error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::FileTooLarge => too_large(),
        io::ErrorKind::AlreadyExists => format!("{path} is in the archive twice"),
        _ => format!("{path} cannot be unpacked: {error}"),
    }
}

#[allow(clippy::needless_pass_by_value, reason = "an error as it comes")]
fn broken(error: io::Error) -> String {
    match error.kind() {
        io::ErrorKind::FileTooLarge => too_large(),
        _ => "the archive is damaged, or has a format that Harbor cannot read".into(),
    }
}

#[allow(clippy::needless_pass_by_value, reason = "an error as it comes")]
fn of_zip(error: ZipError) -> String {
    match error {
        ZipError::Io(error) => broken(error),
        ZipError::UnsupportedArchive(why) if why == ZipError::PASSWORD_REQUIRED => {
            "the archive needs a password, which Harbor does not support".into()
        }
        ZipError::UnsupportedArchive(_) => {
            "the archive uses a compression that Harbor cannot read; use a .tar.gz".into()
        }
        _ => "the archive is damaged: it is not a valid .zip".into(),
    }
}

#[cfg(test)]
mod tests;
