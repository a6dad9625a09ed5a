//! Files that tools of a browser hand to pages: from which directories, under which names, and how large.
//!
//! ```text
//!  a path ─► below a directory that the person allows? ─► directory and the way below it ─► opened there, without links
//! ```
//!
//! Owns the decision by the path's own words. Must never ask the disk: the driver opens the way below the directory so that no link
//! leads out of it.

use std::path::{Component, Path, PathBuf};

/// Most files of one call.
pub const MOST_FILES: usize = 20;

/// Most bytes of the files of one call that lie on the disk.
pub const MOST_BYTES: u64 = 64 * 1024 * 1024;

/// Most bytes that a call itself may bring, all files together.
pub const MOST_GIVEN: usize = 4 * 1024 * 1024;

/// The longest name of a file, in bytes.
const MAX_NAME: usize = 255;

/// The form of an allowed directory, for error messages.
pub const DIRECTORY_RULE: &str = "absolute paths of directories, without `..` and not `/` itself";

/// The directories of the person's from which files may be uploaded.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct UploadDirectories(Vec<PathBuf>);

/// The place of a file that may be uploaded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UploadPlace {
    /// The directory, as the person has named it.
    pub directory: PathBuf,
    /// The way from there.
    pub below: PathBuf,
}

/// The reason why a path is no place of a file to upload.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NotUploaded {
    /// It is not absolute, or has `..` in it.
    NoPath,
    /// The person allows no directory.
    NothingAllowed,
    /// It is in none of the allowed directories.
    Outside,
}

impl UploadDirectories {
    /// The directories of these texts. None if one of them is no absolute path without `..`.
    #[must_use]
    pub fn parse<'a>(texts: impl IntoIterator<Item = &'a str>) -> Option<Self> {
        texts.into_iter().map(plain).collect::<Option<Vec<_>>>().map(Self)
    }

    /// Their paths.
    pub fn all(&self) -> impl Iterator<Item = &Path> {
        self.0.iter().map(PathBuf::as_path)
    }

    /// Where a file with this path lies.
    ///
    /// # Errors
    /// Why it may not be uploaded.
    pub fn place(&self, path: &str) -> Result<UploadPlace, NotUploaded> {
        if self.0.is_empty() {
            return Err(NotUploaded::NothingAllowed);
        }
        let path = plain(path).ok_or(NotUploaded::NoPath)?;
        // The innermost one: it may be reached by a link of the person's own.
        let within = self.0.iter().filter(|directory| path.starts_with(directory));
        let directory = within.max_by_key(|directory| directory.components().count());
        let directory = directory.ok_or(NotUploaded::Outside)?;
        let below = path.strip_prefix(directory).map_err(|_| NotUploaded::Outside)?;
        if below.as_os_str().is_empty() {
            return Err(NotUploaded::Outside);
        }
        Ok(UploadPlace { directory: directory.clone(), below: below.to_owned() })
    }
}

/// An absolute path that says by itself where it leads, in its shortest form.
fn plain(text: &str) -> Option<PathBuf> {
    let path = Path::new(text);
    let is_plain = path.components().skip(1).all(|part| matches!(part, Component::Normal(_)));
    let whole: PathBuf = path.components().collect();
    (path.is_absolute() && is_plain && !text.contains('\0') && whole.parent().is_some()).then_some(whole)
}

/// True for a name that a file may have: nothing of a path, nothing that nobody sees.
#[must_use]
pub fn is_name(name: &str) -> bool {
    let is_odd = |c: char| c == '/' || c == '\\' || c.is_control();
    !name.is_empty() && name.len() <= MAX_NAME && !matches!(name, "." | "..") && !name.contains(is_odd)
}

/// The kind that browsers give to a file with this name; empty if it is not a common one.
#[must_use]
pub fn mime_of(name: &str) -> &'static str {
    let ending = name.rsplit_once('.').map(|(_, ending)| ending.to_ascii_lowercase()).unwrap_or_default();
    KINDS.iter().find(|(known, _)| *known == ending).map_or("", |(_, mime)| mime)
}

const KINDS: &[(&str, &str)] = &[
    ("bmp", "image/bmp"),
    ("css", "text/css"),
    ("csv", "text/csv"),
    ("doc", "application/msword"),
    ("docx", "application/vnd.openxmlformats-officedocument.wordprocessingml.document"),
    ("gif", "image/gif"),
    ("gz", "application/gzip"),
    ("htm", "text/html"),
    ("html", "text/html"),
    ("ics", "text/calendar"),
    ("jpeg", "image/jpeg"),
    ("jpg", "image/jpeg"),
    ("js", "text/javascript"),
    ("json", "application/json"),
    ("m4a", "audio/mp4"),
    ("mp3", "audio/mpeg"),
    ("mp4", "video/mp4"),
    ("odt", "application/vnd.oasis.opendocument.text"),
    ("pdf", "application/pdf"),
    ("png", "image/png"),
    ("ppt", "application/vnd.ms-powerpoint"),
    ("pptx", "application/vnd.openxmlformats-officedocument.presentationml.presentation"),
    ("rtf", "application/rtf"),
    ("svg", "image/svg+xml"),
    ("txt", "text/plain"),
    ("wav", "audio/wav"),
    ("webm", "video/webm"),
    ("webp", "image/webp"),
    ("xls", "application/vnd.ms-excel"),
    ("xlsx", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"),
    ("xml", "text/xml"),
    ("zip", "application/zip"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_below_an_allowed_directory_by_its_own_words() {
        let allowed = UploadDirectories::parse(["/home/me/Documents/", "/home/me/Documents/link"]).unwrap();
        let place = |path| allowed.place(path).map(|place| (place.directory, place.below));
        let at = |directory: &str, below: &str| Ok((PathBuf::from(directory), PathBuf::from(below)));
        assert_eq!(place("/home/me/Documents/a/cv.pdf"), at("/home/me/Documents", "a/cv.pdf"));
        assert_eq!(place("/home/me//Documents/./cv.pdf"), at("/home/me/Documents", "cv.pdf"));
        assert_eq!(place("/home/me/Documents/link/x"), at("/home/me/Documents/link", "x"));
        for path in ["/home/me/Documents", "/home/me/Documents2/x", "/etc/passwd"] {
            assert_eq!(place(path), Err(NotUploaded::Outside), "{path}");
        }
        for path in ["cv.pdf", "", "/", "/home/me/Documents/../x", "/home/me/Documents/a\0"] {
            assert_eq!(place(path), Err(NotUploaded::NoPath), "{path}");
        }
        assert_eq!(UploadDirectories::default().place("/x/y"), Err(NotUploaded::NothingAllowed));
        for wrong in ["relative", "/", "/a/../b", "~/Documents"] {
            assert_eq!(UploadDirectories::parse([wrong]), None, "{wrong}");
        }
    }

    #[test]
    fn names_and_kinds() {
        assert!(is_name("cv (1).pdf") && is_name("ü.txt"));
        for name in ["", ".", "..", "a/b", "a\\b", "a\nb", &"x".repeat(256)] {
            assert!(!is_name(name), "{name}");
        }
        assert_eq!(
            (mime_of("CV.PDF"), mime_of("a.tar.gz"), mime_of("README")),
            ("application/pdf", "application/gzip", "")
        );
    }
}
