//! The tokens of AI clients that come over HTTP: `mcp-tokens.json` in `HARBOR_HOME`.
//!
//! Owns that file: one token for each name, of which only the SHA-256 is kept. Must never keep, compare or print a token
//! itself, once it was made. A file that cannot be trusted holds no tokens.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Read};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use harbor_home::Paths;
use harbor_home::files;
use harbor_home::parent_directories;
use harbor_ipc_proto::hex::hex;
use harbor_policy::origin::Origin;
use nix::errno::Errno;
use nix::fcntl::{Flock, FlockArg, OFlag};
use nix::unistd::geteuid;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use harbor_client::errors::Failure;

/// The beginning of every token, so that people and scanners know what it is.
const PREFIX: &str = "harbor_";

/// The most bytes of such a file. Harbor writes no larger one.
const MAX_FILE: u64 = 1024 * 1024;

/// The time that another program may take to change the file.
const LOCK_LIMIT: Duration = Duration::from_secs(5);

/// The pause between two tries.
const RETRY: Duration = Duration::from_millis(20);

/// A token in its kept form.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Kept {
    /// Hexadecimal.
    sha256: String,
    /// The time when it was made, in milliseconds since 1970.
    pub created_at: u64,
}

/// All tokens, by the client's name.
pub type Kepts = BTreeMap<String, Kept>;

/// A client that was let in, with its token. Another token of the same name cannot continue what this one began.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Client {
    /// Its name.
    pub name: String,
    /// The SHA-256 of its token.
    pub sha256: String,
}

impl Client {
    /// An id by which the bridge knows the connections of one token as one client's. It does not tell what is kept of the
    /// token, nor the token.
    pub fn token_id(&self) -> String {
        digest(&format!("id of {}", self.sha256))
    }
}

/// The file's content.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Content {
    tokens: Kepts,
}

/// The file, for changing it.
#[derive(Debug)]
pub struct TokenFile {
    home: PathBuf,
    file: PathBuf,
}

impl TokenFile {
    /// The file of a home.
    #[must_use]
    pub fn of(paths: &Paths) -> Self {
        let home = paths.home().to_owned();
        Self { file: home.join("mcp-tokens.json"), home }
    }

    /// The tokens in the file.
    ///
    /// # Errors
    /// When the file cannot be used.
    pub fn read(&self) -> Result<Kepts, Failure> {
        read(&self.file).map_err(|error| self.wrong(error))
    }

    /// Makes a token for `name`; whether there was one, which ends with that.
    ///
    /// # Errors
    /// When the file cannot be used.
    pub fn make(&self, name: &str, now: u64) -> Result<(String, bool), Failure> {
        let token = random_token().map_err(|error| Failure::Io("read random numbers", error))?;
        let kept = Kept { sha256: digest(&token), created_at: now };
        let before = self.change(|tokens| tokens.insert(name.to_owned(), kept))?;
        Ok((token, before.is_some()))
    }

    /// Deletes the token of this name; true if there was one.
    ///
    /// # Errors
    /// When the file cannot be used.
    pub fn delete(&self, name: &str) -> Result<bool, Failure> {
        Ok(self.change(|tokens| tokens.remove(name))?.is_some())
    }

    fn change<T>(&self, change: impl FnOnce(&mut Kepts) -> T) -> Result<T, Failure> {
        parent_directories::home_directory(&self.home)
            .map_err(|error| self.wrong(io::Error::other(error)))?;
        let _lock = self.lock().map_err(|error| self.wrong(error))?;
        let mut tokens = self.read()?;
        let changed = change(&mut tokens);
        let mut text =
            serde_json::to_vec_pretty(&Content { tokens }).map_err(|error| self.wrong(error.into()))?;
        text.push(b'\n');
        files::write_atomically(&self.file, &text).map_err(|error| self.wrong(io::Error::other(error)))?;
        Ok(changed)
    }

    /// Locks the directory, not the file: the file itself is replaced.
    fn lock(&self) -> io::Result<Flock<File>> {
        let (until, mut directory) = (Instant::now() + LOCK_LIMIT, File::open(&self.home)?);
        loop {
            match Flock::lock(directory, FlockArg::LockExclusiveNonblock) {
                Ok(lock) => return Ok(lock),
                Err((again, Errno::EWOULDBLOCK)) if Instant::now() < until => directory = again,
                Err((_, errno)) => return Err(errno.into()),
            }
            thread::sleep(RETRY);
        }
    }

    fn wrong(&self, error: io::Error) -> Failure {
        let text = format!("{}: {error}", self.file.display());
        Failure::Io("use the tokens of AI clients", io::Error::new(error.kind(), text))
    }
}

/// The mark by which a version of the file is known: the file is replaced, never changed.
type Stamp = (u64, i64, i64, u64, u32);

/// The tokens as they are now, for the server.
#[derive(Debug)]
pub struct Tokens {
    file: TokenFile,
    seen: Option<Stamp>,
    known: Kepts,
}

impl Tokens {
    /// The tokens of a home.
    #[must_use]
    pub fn of(paths: &Paths) -> Self {
        Self { file: TokenFile::of(paths), seen: None, known: Kepts::new() }
    }

    /// Looks whether the file has changed; what is wrong with it, once.
    pub fn refresh(&mut self) -> Result<(), Failure> {
        let stamp = stamp(&self.file.file);
        if stamp == self.seen {
            return Ok(());
        }
        self.seen = stamp;
        self.known = Kepts::new();
        self.known = self.file.read()?;
        Ok(())
    }

    /// The client whose token this is. All are compared, each to its end: so the time tells nothing.
    pub fn owner(&self, token: &str) -> Option<Client> {
        let digest = digest(token);
        let mut owner = None;
        for (name, kept) in &self.known {
            let differs = kept.sha256.len() ^ digest.len();
            let pairs = kept.sha256.bytes().zip(digest.bytes());
            let differs = pairs.fold(differs, |differs, (a, b)| differs | usize::from(a ^ b));
            if std::hint::black_box(differs) == 0 {
                owner = Some(Client { name: name.clone(), sha256: digest.clone() });
            }
        }
        owner
    }

    /// True if this client's token is still there.
    pub fn has(&self, client: &Client) -> bool {
        self.known.get(&client.name).is_some_and(|kept| kept.sha256 == client.sha256)
    }

    /// True if no client has a token.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.known.is_empty()
    }
}

fn stamp(path: &Path) -> Option<Stamp> {
    let found = fs::metadata(path).ok()?;
    Some((found.ino(), found.mtime(), found.mtime_nsec(), found.len(), found.mode()))
}

fn read(path: &Path) -> io::Result<Kepts> {
    // Not blocking: a named pipe in its place would hold the server for ever.
    let flags = OFlag::O_NOFOLLOW | OFlag::O_NONBLOCK;
    let opened = fs::OpenOptions::new().read(true).custom_flags(flags.bits()).open(path);
    let file = match opened {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Kepts::new()),
        opened => opened?,
    };
    let found = file.metadata()?;
    if !found.is_file() {
        return Err(io::Error::other("it is not a regular file; delete it and make new tokens"));
    }
    if found.uid() != geteuid().as_raw() || found.mode() & 0o077 != 0 {
        return Err(io::Error::other(
            "other users can read or change it; run `chmod 600` on it, or delete it and make \
                                     new tokens",
        ));
    }
    let mut text = Vec::new();
    file.take(MAX_FILE).read_to_end(&mut text)?;
    let wrong = |why: &str| io::Error::other(format!("{why}; delete it and make new tokens"));
    let content: Content = serde_json::from_slice(&text).map_err(|_| wrong("it is not valid"))?;
    let is_sound = |(name, kept): (&String, &Kept)| Origin::client(name).is_some() && kept.sha256.len() == 64;
    match content.tokens.iter().all(is_sound) {
        true => Ok(content.tokens),
        false => Err(wrong("it contains an entry that is not a token")),
    }
}

fn random_token() -> io::Result<String> {
    let mut bytes = [0; 32];
    File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    Ok(format!("{PREFIX}{}", URL_SAFE_NO_PAD.encode(bytes)))
}

fn digest(token: &str) -> String {
    hex(&Sha256::digest(token))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt as _;

    fn file_in(home: &Path) -> TokenFile {
        TokenFile { home: home.to_owned(), file: home.join("mcp-tokens.json") }
    }

    fn tokens_in(home: &Path) -> Tokens {
        Tokens { file: file_in(home), seen: None, known: Kepts::new() }
    }

    fn owner(tokens: &Tokens, token: &str) -> Option<String> {
        tokens.owner(token).map(|client| client.name)
    }

    #[test]
    fn a_token_is_its_names_until_there_is_another_one_or_none() {
        let home = tempfile::tempdir().unwrap();
        let (file, mut tokens) = (file_in(home.path()), tokens_in(home.path()));
        tokens.refresh().unwrap();
        assert!(tokens.is_empty());
        let (a, before) = file.make("a", 1).unwrap();
        assert!(a.len() == PREFIX.len() + 43 && a.starts_with(PREFIX) && !before, "{a}");
        let (b, _) = file.make("b", 2).unwrap();
        tokens.refresh().unwrap();
        assert_eq!((owner(&tokens, &a).as_deref(), owner(&tokens, &b).as_deref()), (Some("a"), Some("b")));
        let (old_a, old_b) = (tokens.owner(&a).unwrap(), tokens.owner(&b).unwrap());
        assert!(tokens.has(&old_a) && tokens.has(&old_b));
        for wrong in ["", PREFIX, &a[..a.len() - 1], &format!("{a}x")] {
            assert_eq!(tokens.owner(wrong), None, "{wrong}");
        }
        let (newer, before) = file.make("a", 3).unwrap();
        assert!(before && file.delete("b").unwrap() && !file.delete("b").unwrap());
        tokens.refresh().unwrap();
        assert_eq!((tokens.owner(&a), tokens.owner(&b)), (None, None));
        assert_eq!(owner(&tokens, &newer).as_deref(), Some("a"));
        assert!(!tokens.has(&old_a) && !tokens.has(&old_b), "a newer token of the name is another one");
        assert!(tokens.has(&tokens.owner(&newer).unwrap()));
        let text = fs::read_to_string(home.path().join("mcp-tokens.json")).unwrap();
        assert!(!text.contains(&newer) && !text.contains(&newer[PREFIX.len()..]), "{text}");
    }

    #[test]
    fn a_file_that_cannot_be_trusted_holds_no_tokens() {
        let home = tempfile::tempdir().unwrap();
        let (file, mut tokens) = (file_in(home.path()), tokens_in(home.path()));
        let (token, _) = file.make("a", 1).unwrap();
        fs::set_permissions(&file.file, fs::Permissions::from_mode(0o644)).unwrap();
        assert!(tokens.refresh().is_err());
        assert_eq!(tokens.owner(&token), None);
        assert!(tokens.refresh().is_ok(), "it is said once");
        fs::set_permissions(&file.file, fs::Permissions::from_mode(0o600)).unwrap();
        tokens.refresh().unwrap();
        assert_eq!(owner(&tokens, &token).as_deref(), Some("a"));
        for text in ["", "[]", r#"{"tokens":{"a":{"sha256":"","created_at":1}}}"#] {
            fs::remove_file(&file.file).unwrap();
            files::write_atomically(&file.file, text.as_bytes()).unwrap();
            assert!(tokens.refresh().is_err(), "{text}");
            assert_eq!(tokens.owner(&token), None, "{text}");
            assert!(file.make("b", 1).is_err(), "what is there is not overwritten");
        }
    }

    #[test]
    fn a_named_pipe_in_the_files_place_is_refused_at_once() {
        let home = tempfile::tempdir().unwrap();
        let (file, mut tokens) = (file_in(home.path()), tokens_in(home.path()));
        nix::unistd::mkfifo(&file.file, nix::sys::stat::Mode::S_IRUSR | nix::sys::stat::Mode::S_IWUSR)
            .unwrap();
        let (told, heard) = std::sync::mpsc::channel();
        thread::spawn(move || told.send(tokens.refresh().is_err() && tokens.is_empty()));
        assert_eq!(heard.recv_timeout(LOCK_LIMIT), Ok(true));
    }
}
