//! A place on this machine where programs are offered for download, and what is offered there.
//!
//! Owns the server, archives as others make them, and signatures of minisign. Must never offer a program of other people.

use std::collections::BTreeMap;
use std::fs;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use flate2::Compression;
use flate2::write::GzEncoder;
use harbor_ipc_proto::hex::hex;
use sha2::{Digest as _, Sha256};
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

use crate::{Home, Scripted, programs};

/// What is served at a path.
#[derive(Debug, Clone)]
pub enum Served {
    /// A file.
    File(Vec<u8>),
    /// A file that ends too early.
    Half(Vec<u8>),
    /// Nothing, behind a head that speaks of so many bytes.
    Announced(u64),
    /// A redirect.
    To(String),
    /// A part of a file, and then nothing until whoever asked has gone.
    Held(Vec<u8>),
}

type Shelf = Arc<Mutex<BTreeMap<String, Served>>>;

/// The place.
#[derive(Debug)]
pub struct Downloads {
    /// The server.
    pub server: Scripted,
    shelf: Shelf,
    held: Arc<AtomicUsize>,
}

impl Downloads {
    /// With nothing on offer yet.
    #[must_use]
    pub fn start() -> Self {
        let (shelf, held) = (Shelf::default(), Arc::<AtomicUsize>::default());
        let server = Scripted::start({
            let (shelf, held) = (shelf.clone(), held.clone());
            move |asked, stream| {
                // A proxy is asked for a whole URL.
                let found = shelf.lock().unwrap_or_else(PoisonError::into_inner).get(&asked.path).cloned();
                serve(found, stream, &held);
                true
            }
        });
        Self { server, shelf, held }
    }

    /// Offers something at a path from now on.
    pub fn offer(&self, path: &str, served: Served) {
        self.shelf.lock().unwrap_or_else(PoisonError::into_inner).insert(path.to_owned(), served);
    }

    /// Its source, with what has to be allowed of it.
    #[must_use]
    pub fn source(&self, path: &str) -> String {
        format!("binary:{}#allow=http&allow=private", self.url(path))
    }

    /// Where a path is.
    #[must_use]
    pub fn url(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}{path}", self.server.port)
    }

    /// How many wait for the rest of a file.
    #[must_use]
    pub fn held(&self) -> usize {
        self.held.load(Ordering::SeqCst)
    }

    /// How often a path was asked for.
    #[must_use]
    pub fn asked(&self, path: &str) -> usize {
        self.server.count(|asked| asked.path == path)
    }
}

fn serve(found: Option<Served>, stream: &mut TcpStream, held: &AtomicUsize) {
    let head = |status: &str, more: &str| format!("HTTP/1.1 {status}\r\nconnection: close\r\n{more}\r\n\r\n");
    let of = |length: u64| head("200 OK", &format!("content-length: {length}"));
    let (head, body) = match &found {
        Some(Served::File(bytes)) => (of(bytes.len() as u64), &bytes[..]),
        Some(Served::Half(bytes)) => (of(bytes.len() as u64), &bytes[..bytes.len() / 2]),
        Some(Served::Held(bytes)) => (of(2 * bytes.len() as u64), &bytes[..]),
        Some(Served::Announced(length)) => (of(*length), &[][..]),
        Some(Served::To(url)) => {
            (head("302 Found", &format!("content-length: 0\r\nlocation: {url}")), &[][..])
        }
        None => (head("404 Not Found", "content-length: 0"), &[][..]),
    };
    // Who has gone meanwhile is not waited for.
    let _ = stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(body));
    if matches!(found, Some(Served::Held(_))) {
        held.fetch_add(1, Ordering::SeqCst);
        let _ = stream.read(&mut [0]);
        held.fetch_sub(1, Ordering::SeqCst);
    }
}

/// The double as a program for download: without what only a debugger reads.
///
/// # Panics
/// When it cannot be made.
#[must_use]
pub fn server(home: &Home) -> Vec<u8> {
    let place = scratch(home).join("server");
    let mut strip = Command::new("strip");
    run(strip.arg("-o").arg(&place).arg(programs::double("misbehaving-server")));
    fs::read(place).expect("it was written")
}

/// Its SHA-256.
#[must_use]
pub fn sha256(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

/// A .tar.gz of these files: path, mode, content.
///
/// # Panics
/// When they are none that a tar can have.
#[must_use]
pub fn tar_gz(files: &[(&str, u32, &[u8])]) -> Vec<u8> {
    let mut builder = tar::Builder::new(GzEncoder::new(Vec::new(), Compression::fast()));
    for (path, mode, content) in files {
        let mut header = tar::Header::new_gnu();
        // As it is: a sound library would refuse what leads out.
        header.as_gnu_mut().expect("it is one").name[..path.len()].copy_from_slice(path.as_bytes());
        header.set_mode(*mode);
        header.set_size(content.len() as u64);
        header.set_cksum();
        builder.append(&header, *content).expect("memory takes it");
    }
    builder.into_inner().and_then(GzEncoder::finish).expect("memory takes it")
}

/// A .zip of the same.
///
/// # Panics
/// When they are none that a zip can have.
#[must_use]
pub fn zip(files: &[(&str, u32, &[u8])]) -> Vec<u8> {
    let mut writer = ZipWriter::new(std::io::Cursor::new(Vec::new()));
    for (path, mode, content) in files {
        writer
            .start_file(*path, SimpleFileOptions::default().unix_permissions(*mode))
            .expect("memory takes it");
        writer.write_all(content).expect("memory takes it");
    }
    writer.finish().expect("memory takes it").into_inner()
}

/// Somebody who signs as minisign does.
#[derive(Debug)]
pub struct Signer {
    dir: PathBuf,
    number: [u8; 8],
}

impl Signer {
    /// With a key of their own.
    ///
    /// # Panics
    /// When there is no openssl.
    #[must_use]
    pub fn new(home: &Home, name: &str) -> Self {
        let dir = scratch(home).join(name);
        fs::create_dir_all(&dir).expect("a scratch directory can be made");
        openssl(&dir, "genpkey -algorithm ed25519 -out key.pem");
        openssl(&dir, "pkey -in key.pem -pubout -outform DER -out key.pub");
        let mut number = [0; 8];
        number[..name.len().min(8)].copy_from_slice(&name.as_bytes()[..name.len().min(8)]);
        Self { dir, number }
    }

    /// The public key, as it is given to `--minisign-key`.
    ///
    /// # Panics
    /// When it is not there.
    #[must_use]
    pub fn public(&self) -> String {
        let der = fs::read(self.dir.join("key.pub")).expect("it was written");
        base64(&self.dir, &[b"Ed", &self.number[..], &der[der.len() - 32..]].concat())
    }

    /// The text of `.minisig`: over the hash of the file, as minisign has done since 2021.
    #[must_use]
    pub fn sign(&self, file: &[u8]) -> String {
        let hash = self.openssl_on(file, "dgst -blake2b512 -binary -out out in");
        self.text(b"ED", &self.ed25519(&hash))
    }

    /// The same over the file itself, as it was before.
    #[must_use]
    pub fn sign_as_before(&self, file: &[u8]) -> String {
        self.text(b"Ed", &self.ed25519(file))
    }

    fn text(&self, kind: &[u8], signature: &[u8]) -> String {
        let said = "timestamp:1";
        let whole = self.ed25519(&[signature, said.as_bytes()].concat());
        let signature = base64(&self.dir, &[kind, &self.number[..], signature].concat());
        let whole = base64(&self.dir, &whole);
        format!("untrusted comment: of a test\n{signature}\ntrusted comment: {said}\n{whole}\n")
    }

    fn ed25519(&self, bytes: &[u8]) -> Vec<u8> {
        self.openssl_on(bytes, "pkeyutl -sign -inkey key.pem -rawin -in in -out out")
    }

    fn openssl_on(&self, bytes: &[u8], words: &str) -> Vec<u8> {
        fs::write(self.dir.join("in"), bytes).expect("a scratch file can be written");
        openssl(&self.dir, words);
        fs::read(self.dir.join("out")).expect("it was written")
    }
}

fn base64(dir: &Path, bytes: &[u8]) -> String {
    fs::write(dir.join("plain"), bytes).expect("a scratch file can be written");
    openssl(dir, "base64 -A -in plain -out base64");
    fs::read_to_string(dir.join("base64")).expect("it was written").trim().to_owned()
}

fn openssl(dir: &Path, words: &str) {
    run(Command::new("openssl").args(words.split(' ')).current_dir(dir));
}

fn run(command: &mut Command) {
    let output = command.output().expect("it is installed");
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
}

fn scratch(home: &Home) -> PathBuf {
    let dir = home.scratch("downloads");
    fs::create_dir_all(&dir).expect("a scratch directory can be made");
    dir
}
