//! The files that a call carries to a page: opened on the disk, or given in the call, and read by the extension in pieces.
//!
//! ```text
//!  paths ─► allowed directory (policy::tabs::uploads) ─► opened below it, without links ─┐
//!  files: name, base64 ──────────────────────────────────────────────────────────────────┴─► CarriedFile ─► source_file
//! ```
//!
//! Owns the open files of a call until it ends. Must never follow a link, wait for a FIFO, or hand over a file that is not as the
//! person was shown it.

use std::collections::VecDeque;
use std::fs::File;
use std::io;
use std::os::fd::AsFd as _;
use std::os::unix::fs::FileExt as _;
use std::rc::Rc;
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use harbor_policy::consent::Names;
use harbor_policy::tabs::Holder;
use harbor_policy::tabs::uploads::{
    MOST_BYTES, MOST_FILES, MOST_GIVEN, NotUploaded, UploadDirectories, UploadPlace, is_name, mime_of,
};
use nix::errno::Errno;
use nix::fcntl::{AT_FDCWD, OFlag, OpenHow, ResolveFlag, openat2};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use super::results::{denied, failed, wrong};
use crate::link::ServerAnswer;

/// Bytes of a piece: as base64 it fits into one message to a browser.
pub(super) const PIECE: usize = 512 * 1024;

/// Calls whose files were shown, or would have been: many more than run at once.
const MOST_SHOWN: usize = 512;

/// A file of a call.
#[derive(Debug)]
pub(super) struct CarriedFile {
    name: String,
    mime: String,
    size: u64,
    content: FileContent,
}

#[derive(Debug)]
enum FileContent {
    /// Open for reading.
    Disk(Arc<File>),
    /// The bytes that the call has brought.
    Given(Vec<u8>),
}

impl CarriedFile {
    /// Its bytes from `offset` on, as many as a piece has. Blocks where it lies on a disk.
    pub(super) async fn piece(&self, offset: u64) -> io::Result<Vec<u8>> {
        let length = usize::try_from(self.size.saturating_sub(offset)).unwrap_or(PIECE).min(PIECE);
        let file = match &self.content {
            FileContent::Given(bytes) => {
                let start = usize::try_from(offset).unwrap_or(usize::MAX).min(bytes.len());
                return Ok(bytes[start..start + length.min(bytes.len() - start)].to_vec());
            }
            FileContent::Disk(file) => file.clone(),
        };
        let read = move || {
            let mut piece = vec![0; length];
            file.read_exact_at(&mut piece, offset).map(|()| piece)
        };
        tokio::task::spawn_blocking(read).await.unwrap_or_else(|_| Err(io::ErrorKind::Other.into()))
    }

    fn told(&self) -> Value {
        json!({"name": self.name, "type": self.mime, "size": self.size})
    }
}

/// Why the files of a call are not handed over.
#[derive(Debug)]
enum Unopened {
    /// Its path is not allowed.
    Path(NotUploaded),
    /// It cannot be opened, or is no regular file.
    Open(io::Error),
    /// It is too large, alone or with the others.
    Large,
}

/// The words by which the person was shown the files of each call that has come, or would have been.
#[derive(Debug, Default)]
pub(super) struct ShownFiles(VecDeque<([u8; 32], Names)>);

impl ShownFiles {
    /// The files of a call with these arguments are shown so.
    pub fn note(&mut self, holder: &Holder, arguments: &str, files: Names) {
        let key = key(holder, arguments);
        self.0.retain(|(known, _)| *known != key);
        if self.0.len() == MOST_SHOWN {
            self.0.pop_front();
        }
        self.0.push_back((key, files));
    }

    /// True if these are the files that were judged for a call with these arguments; always where there are none.
    pub fn has(&self, holder: &Holder, arguments: &str, files: &Names) -> bool {
        let key = key(holder, arguments);
        files.is_empty() || self.0.iter().any(|(known, shown)| *known == key && shown == files)
    }
}

fn key(holder: &Holder, arguments: &str) -> [u8; 32] {
    Sha256::digest(format!("{holder:?} {arguments}")).into()
}

/// The paths that a call names.
pub(super) fn paths_of(arguments: &Value) -> Vec<String> {
    let paths = arguments["paths"].as_array().into_iter().flatten();
    paths.filter_map(Value::as_str).take(MOST_FILES + 1).map(ToOwned::to_owned).collect()
}

/// The words for a file that a call hands to a page at `host`.
fn label(path: &str, size: u64, host: &str) -> String {
    format!("{path} ({size} bytes), to {host}")
}

/// The words for the files at these paths. None if one of them cannot be handed over: nobody is asked about such a call.
pub(super) async fn labels(allowed: &UploadDirectories, paths: &[String], host: &str) -> Names {
    let (mut names, mut left) = (Names::new(), MOST_BYTES);
    if paths.len() > MOST_FILES {
        return names;
    }
    for path in paths {
        let Ok(place) = allowed.place(path) else { return Names::new() };
        let size = opened(place).await.ok().map(|(_, size)| size);
        let Some((size, still)) = size.and_then(|size| Some((size, left.checked_sub(size)?))) else {
            return Names::new();
        };
        left = still;
        names.insert(label(path, size, host));
    }
    names
}

/// Opens what a call carries, and takes it out of the arguments: `files` then has the name, kind and size of each. The names are
/// the words for those on the disk.
///
/// # Errors
/// The answer for the caller, where one of them may not or cannot be handed over.
pub(super) async fn take(
    allowed: &UploadDirectories,
    arguments: &mut Value,
    host: &str,
) -> Result<(Rc<Vec<CarriedFile>>, Names), ServerAnswer> {
    let (mut files, mut names, mut left) = (Vec::new(), Names::new(), MOST_BYTES);
    let paths = paths_of(arguments);
    let given = arguments["files"].take();
    let given = given.as_array().map(Vec::as_slice).unwrap_or_default();
    if paths.len() + given.len() > MOST_FILES {
        return Err(failed("too_many_files", &format!("a call can have at most {MOST_FILES} files")));
    }
    for path in &paths {
        let place = allowed.place(path).map_err(Unopened::Path);
        let file = match place {
            Ok(place) => opened(place).await.map_err(Unopened::Open),
            Err(why) => Err(why),
        };
        let file = file.and_then(|(file, size)| {
            left = left.checked_sub(size).ok_or(Unopened::Large)?;
            Ok((file, size))
        });
        let (file, size) = file.map_err(|why| refusal(&why, path, allowed))?;
        names.insert(label(path, size, host));
        let name = path.rsplit('/').next().unwrap_or_default().to_owned();
        let mime = mime_of(&name).to_owned();
        files.push(CarriedFile { name, mime, size, content: FileContent::Disk(Arc::new(file)) });
    }
    let mut room = MOST_GIVEN;
    for (at, file) in given.iter().enumerate() {
        files.push(given_file(at, file, &mut room)?);
    }
    if let Some(members) = arguments.as_object_mut() {
        members.remove("paths");
        members.insert("files".into(), files.iter().map(CarriedFile::told).collect());
    }
    Ok((Rc::new(files), names))
}

fn given_file(at: usize, file: &Value, room: &mut usize) -> Result<CarriedFile, ServerAnswer> {
    let text = |member: &str| file[member].as_str().unwrap_or_default();
    let name = text("name").to_owned();
    if !is_name(&name) {
        return Err(wrong(
            &format!("/files/{at}/name"),
            "expected a file's name without a path, at most 255 bytes",
        ));
    }
    let bytes = STANDARD.decode(text("data"));
    let bytes = bytes.map_err(|_| wrong(&format!("/files/{at}/data"), "expected base64"))?;
    *room = room.checked_sub(bytes.len()).ok_or_else(|| {
        let most = MOST_GIVEN / 1024 / 1024;
        failed(
            "too_large",
            &format!("the files in a call can have at most {most} MiB; larger ones can be named by paths"),
        )
    })?;
    let mime = file["type"].as_str().unwrap_or_else(|| mime_of(&name)).to_owned();
    let size = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
    Ok(CarriedFile { name, mime, size, content: FileContent::Given(bytes) })
}

/// Opens a regular file below its directory, so that no link leads out of that; and its size.
async fn opened(place: UploadPlace) -> io::Result<(File, u64)> {
    tokio::task::spawn_blocking(move || open(&place))
        .await
        .unwrap_or_else(|_| Err(io::ErrorKind::Other.into()))
}

fn open(place: &UploadPlace) -> io::Result<(File, u64)> {
    let flags = OFlag::O_RDONLY | OFlag::O_CLOEXEC;
    // The directory is the person's word: it may be reached by links.
    let directory = openat2(AT_FDCWD, &place.directory, OpenHow::new().flags(flags | OFlag::O_DIRECTORY))?;
    let within =
        ResolveFlag::RESOLVE_BENEATH | ResolveFlag::RESOLVE_NO_SYMLINKS | ResolveFlag::RESOLVE_NO_MAGICLINKS;
    let how = OpenHow::new().flags(flags | OFlag::O_NONBLOCK | OFlag::O_NOCTTY).resolve(within);
    let file = File::from(openat2(directory.as_fd(), &place.below, how)?);
    let about = file.metadata()?;
    match about.is_file() {
        true => Ok((file, about.len())),
        false => Err(io::Error::other("it is no regular file")),
    }
}

fn refusal(why: &Unopened, path: &str, allowed: &UploadDirectories) -> ServerAnswer {
    let path = &path[..path.floor_char_boundary(500)];
    match why {
        Unopened::Path(NotUploaded::NothingAllowed) => denied(
            "file",
            "the person allows no directory to upload from; they can name some as `uploads` in [browser] of config.toml",
        ),
        Unopened::Path(NotUploaded::Outside) => {
            let all: Vec<_> = allowed.all().map(|directory| directory.display().to_string()).collect();
            denied(
                "file",
                &format!("{path} is in no directory that the person allows, which are: {}", all.join(", ")),
            )
        }
        Unopened::Path(NotUploaded::NoPath) => {
            failed("not_a_path", &format!("{path} is no absolute path without `..`"))
        }
        Unopened::Large => {
            let most = MOST_BYTES / 1024 / 1024;
            failed(
                "too_large",
                &format!("{path} is too large: the files of a call can have at most {most} MiB"),
            )
        }
        // A link shows itself so.
        Unopened::Open(error) if error.raw_os_error() == Some(Errno::ELOOP as i32) => {
            denied("file", &format!("{path} is, or goes by, a symbolic link, which Harbor does not follow"))
        }
        Unopened::Open(error) => failed("unreadable", &format!("{path} could not be opened: {error}")),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    fn block_on<T>(future: impl Future<Output = T>) -> T {
        tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(future)
    }

    fn refused(answer: ServerAnswer) -> String {
        let ServerAnswer::ToolError(result) = answer else { panic!("{answer:?}") };
        let result: Value = serde_json::from_str(result.as_str()).unwrap();
        result["content"][0]["text"].as_str().unwrap().to_owned()
    }

    #[test]
    fn only_regular_files_below_an_allowed_directory_are_opened() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name).to_str().unwrap().to_owned();
        fs::create_dir_all(dir.path().join("allowed/inner")).unwrap();
        fs::create_dir(dir.path().join("other")).unwrap();
        fs::write(at("allowed/inner/cv.pdf"), "0123456").unwrap();
        fs::write(at("other/secret"), "s").unwrap();
        symlink(at("other/secret"), at("allowed/link")).unwrap();
        symlink(at("other"), at("allowed/way")).unwrap();
        symlink("inner/cv.pdf", at("allowed/near")).unwrap();
        symlink(at("allowed"), at("by-link")).unwrap();
        nix::unistd::mkfifo(at("allowed/fifo").as_str(), nix::sys::stat::Mode::S_IRWXU).unwrap();
        let huge = fs::File::create(at("allowed/huge")).unwrap();
        huge.set_len(MOST_BYTES + 1).unwrap();
        let allowed = UploadDirectories::parse([&*at("allowed"), &*at("by-link")]).unwrap();
        let take_of = |path: &str| {
            let mut arguments = json!({"paths": [path]});
            block_on(take(&allowed, &mut arguments, "a.example")).map(|(_, names)| (arguments, names))
        };
        for path in [at("allowed/inner/cv.pdf"), at("by-link/inner/cv.pdf")] {
            let (arguments, names) = take_of(&path).unwrap();
            assert_eq!(
                arguments,
                json!({"files": [{"name": "cv.pdf", "type": "application/pdf", "size": 7}]})
            );
            assert_eq!(names, Names::from([format!("{path} (7 bytes), to a.example")]));
            assert_eq!(block_on(labels(&allowed, &[path], "a.example")), names);
        }
        for (path, why) in [
            ("allowed/link", "symbolic link"),
            ("allowed/near", "symbolic link"),
            ("allowed/way/secret", "symbolic link"),
            ("other/secret", "no directory that the person allows"),
            ("allowed/fifo", "no regular file"),
            ("allowed/inner", "no regular file"),
            ("allowed/gone", "No such file"),
            ("allowed/huge", "too large"),
        ] {
            let paths = [at("allowed/inner/cv.pdf"), at(path)];
            assert!(block_on(labels(&allowed, &paths, "a.example")).is_empty(), "{path}");
            let said = refused(take_of(&at(path)).unwrap_err());
            assert!(said.contains(why), "{path}: {said}");
        }
    }

    #[test]
    fn what_a_call_brings_is_bounded_and_comes_in_pieces() {
        let allowed = UploadDirectories::default();
        let of =
            |name: &str, bytes: &[u8]| json!({"files": [{"name": name, "data": STANDARD.encode(bytes)}]});
        let bytes: Vec<u8> = (0..PIECE + 5).map(|at| u8::try_from(at % 251).unwrap()).collect();
        let mut arguments = of("a.bin", &bytes);
        let (files, names) = block_on(take(&allowed, &mut arguments, "x")).unwrap();
        assert_eq!((arguments["files"][0]["size"].as_u64(), names.len()), (Some(bytes.len() as u64), 0));
        let mut joined = Vec::new();
        while let piece = block_on(files[0].piece(joined.len() as u64)).unwrap()
            && !piece.is_empty()
        {
            joined.extend(piece);
        }
        assert!(joined == bytes);
        assert!(block_on(files[0].piece(u64::MAX)).unwrap().is_empty());
        let mut large = of("a", &vec![0; MOST_GIVEN + 1]);
        assert!(refused(block_on(take(&allowed, &mut large, "x")).unwrap_err()).contains("at most 4 MiB"));
        for wrong in [of("../a", b"x"), json!({"files": [{"name": "a", "data": "§"}]})] {
            assert!(matches!(block_on(take(&allowed, &mut { wrong }, "x")), Err(ServerAnswer::Failed(_))));
        }
        let many = json!({"files": vec![json!({"name": "a", "data": ""}); MOST_FILES + 1]});
        assert!(refused(block_on(take(&allowed, &mut { many }, "x")).unwrap_err()).contains("at most 20"));
    }

    #[test]
    fn what_was_shown_is_known_by_caller_and_call() {
        let mut shown = ShownFiles::default();
        let names = Names::from(["a (1 bytes), to x".to_owned()]);
        let (owner, other) = (Holder::Owner, Holder::Conversation("c".into()));
        shown.note(&owner, "{}", names.clone());
        assert!(shown.has(&owner, "{}", &names) && shown.has(&other, "[]", &Names::new()));
        assert!(!shown.has(&owner, "[]", &names) && !shown.has(&other, "{}", &names));
        (0..MOST_SHOWN).for_each(|at| shown.note(&owner, &at.to_string(), Names::new()));
        assert!(!shown.has(&owner, "{}", &names));
    }
}
