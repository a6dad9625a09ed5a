//! An index of PyPI's kind on this machine: what no real one takes, it serves.
//!
//! Owns a server `snake` that is built already, and `egg`, which is only a source: whoever builds that comes by here.
//! Must never serve anybody but the test's own installers.

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::{fs, thread};

/// Makes the files: a wheel of `snake` that needs what it is told, and the source of `egg`. Where: its arguments.
const PACK: &str = include_str!("pypi_index/pack.py");

#[derive(Debug, Default)]
struct Shelf {
    files: Mutex<BTreeMap<String, Vec<u8>>>,
    ran: AtomicUsize,
}

impl Shelf {
    fn files(&self) -> std::sync::MutexGuard<'_, BTreeMap<String, Vec<u8>>> {
        self.files.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The index.
#[derive(Debug)]
pub struct PypiIndex {
    port: u16,
    shelf: Arc<Shelf>,
}

impl PypiIndex {
    /// One with nothing in it.
    ///
    /// # Panics
    /// When this machine has no port for it.
    #[must_use]
    pub fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("there is a port");
        let port = listener.local_addr().expect("it has an address").port();
        let shelf = Arc::new(Shelf::default());
        let serving = shelf.clone();
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let shelf = serving.clone();
                thread::spawn(move || serve(stream, &shelf));
            }
        });
        Self { port, shelf }
    }

    /// Its address, for installers.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}/simple", self.port)
    }

    /// Where it has a file.
    #[must_use]
    pub fn file(&self, name: &str) -> String {
        format!("http://127.0.0.1:{}/files/{name}", self.port)
    }

    /// Has a `snake` that needs this, and the source of `egg` (`egg-1.0.tar.gz`), made in a directory that stays.
    ///
    /// # Panics
    /// When they cannot be made.
    pub fn publish(&self, dir: &Path, needs: &str) {
        let _ = fs::remove_dir_all(dir);
        fs::create_dir_all(dir).expect("a directory can be made");
        let ran = format!("http://127.0.0.1:{}/ran", self.port);
        let packed = Command::new("python3").args(["-c", PACK]).arg(dir).args([needs, &ran]).output();
        let packed = packed.expect("Python runs");
        assert!(packed.status.success(), "{packed:?}");
        let mut files = self.shelf.files();
        for entry in fs::read_dir(dir).expect("it is there").flatten().filter(|entry| entry.path().is_file())
        {
            let name = entry.file_name().to_string_lossy().into_owned();
            files.insert(name, fs::read(entry.path()).expect("it is there"));
        }
    }

    /// How often code of `egg` ran.
    #[must_use]
    pub fn ran(&self) -> usize {
        self.shelf.ran.load(Ordering::SeqCst)
    }
}

fn serve(mut stream: TcpStream, shelf: &Shelf) {
    let mut reader = BufReader::new(stream.try_clone().expect("it can be cloned"));
    let (mut first, mut line) = (String::new(), String::from("x"));
    // A client that has gone wants nothing.
    if reader.read_line(&mut first).is_err() {
        return;
    }
    while !line.trim().is_empty() {
        line.clear();
        if reader.read_line(&mut line).unwrap_or(0) == 0 {
            return;
        }
    }
    let path = first.split(' ').nth(1).unwrap_or_default();
    let (body, kind) = match path {
        "/ran" => {
            shelf.ran.fetch_add(1, Ordering::SeqCst);
            (Some(Vec::new()), "text/plain")
        }
        "/simple/snake/" => (Some(page(shelf)), "text/html"),
        _ => (
            path.strip_prefix("/files/").and_then(|name| shelf.files().get(name).cloned()),
            "application/octet-stream",
        ),
    };
    let status = if body.is_some() { "200 OK" } else { "404 Not Found" };
    let body = body.unwrap_or_default();
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
        body.len()
    );
    let _ = stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(&body));
}

fn page(shelf: &Shelf) -> Vec<u8> {
    let files = shelf.files();
    let wheels = files.keys().filter(|name| name.starts_with("snake-"));
    let links: String = wheels.map(|name| format!("<a href=\"/files/{name}\">{name}</a>\n")).collect();
    format!("<!DOCTYPE html><html><body>\n{links}</body></html>\n").into_bytes()
}
