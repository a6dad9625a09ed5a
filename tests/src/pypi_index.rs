//! An index of PyPI's kind on this machine: what no real one takes, it serves.
//!
//! Owns a server `snake` that is built already, `tail`, which is nothing without it, and `egg`, which is only a source: whoever builds that comes by here.
//! Must never serve anybody but the test's own installers.

use std::collections::BTreeMap;
use std::fs;
use std::net::TcpStream;
use std::path::Path;
use std::process::Command;
use std::sync::{Arc, Mutex, PoisonError};

use crate::scripted::file;
use crate::{Bridge, Home, Scripted};

/// Makes the files: a wheel of `snake` that needs what it is told, and the source of `egg`. Where: its arguments.
const PACK: &str = include_str!("pypi_index/pack.py");

/// Makes a wheel of another version of `snake`. Where, which version, for which Python: its arguments.
const WHEEL: &str = include_str!("pypi_index/wheel.py");

/// Where code of `egg` comes by.
const RAN: &str = "/ran";

/// Files by their names, each with what it requires of a Python.
type Files = BTreeMap<String, (Vec<u8>, String)>;

#[derive(Debug, Default)]
struct Shelf(Mutex<Files>);

impl Shelf {
    fn files(&self) -> std::sync::MutexGuard<'_, Files> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The index.
#[derive(Debug)]
pub struct PypiIndex {
    server: Scripted,
    shelf: Arc<Shelf>,
}

impl PypiIndex {
    /// One with nothing in it.
    ///
    /// # Panics
    /// When this machine has no port for it.
    #[must_use]
    pub fn start() -> Self {
        let shelf = Arc::new(Shelf::default());
        let serving = shelf.clone();
        Self { server: Scripted::start(move |asked, stream| serve(&asked.path, stream, &serving)), shelf }
    }

    /// Its address, for installers.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}/simple", self.server.port)
    }

    /// A bridge whose installers know no other index, and these variables besides.
    #[must_use]
    pub fn bridge(&self, home: &Home, env: &[(&str, &str)]) -> Bridge {
        let url = self.url();
        let index = [("PIP_INDEX_URL", url.as_str()), ("UV_INDEX_URL", &url), ("UV_DEFAULT_INDEX", &url)];
        Bridge::start_with(home, &[&index, env].concat())
    }

    /// Where it has a file.
    #[must_use]
    pub fn file(&self, name: &str) -> String {
        format!("http://127.0.0.1:{}/files/{name}", self.server.port)
    }

    /// Has a `snake` that needs this, and the source of `egg` (`egg-1.0.tar.gz`), made in a directory that stays.
    ///
    /// # Panics
    /// When they cannot be made.
    pub fn publish(&self, dir: &Path, needs: &str) {
        let _ = fs::remove_dir_all(dir);
        fs::create_dir_all(dir).expect("a directory can be made");
        let ran = format!("http://127.0.0.1:{}{RAN}", self.server.port);
        let packed = Command::new("python3").args(["-c", PACK]).arg(dir).args([needs, &ran]).output();
        let packed = packed.expect("Python runs");
        assert!(packed.status.success(), "{packed:?}");
        let mut files = self.shelf.files();
        for entry in fs::read_dir(dir).expect("it is there").flatten().filter(|entry| entry.path().is_file())
        {
            let name = entry.file_name().to_string_lossy().into_owned();
            files.insert(name, (fs::read(entry.path()).expect("it is there"), String::new()));
        }
    }

    /// Has the source of `snake` 2.0, too, which `publish` has made in this directory, and a 9.0 for a Python that does not exist.
    ///
    /// # Panics
    /// When it is not there.
    pub fn publish_newer(&self, dir: &Path) {
        let name = "snake-2.0.tar.gz";
        let source = fs::read(dir.join("newer").join(name)).expect("it was made");
        self.shelf.files().insert(name.into(), (source, String::new()));
        self.publish_for(dir, "9.0", ">=4");
    }

    /// Has a wheel of `snake` in this version, too, for a Python that is as it `requires`; in the directory of what it has.
    ///
    /// # Panics
    /// When it cannot be made.
    pub fn publish_for(&self, dir: &Path, version: &str, requires: &str) {
        let packed = Command::new("python3").args(["-c", WHEEL]).arg(dir).args([version, requires]).output();
        let packed = packed.expect("Python runs");
        assert!(packed.status.success(), "{packed:?}");
        let name = format!("snake-{version}-py3-none-any.whl");
        let wheel = fs::read(dir.join(&name)).expect("it was made");
        self.shelf.files().insert(name, (wheel, requires.to_owned()));
    }

    /// How often code of `egg` ran, or of a newer `snake`.
    #[must_use]
    pub fn ran(&self) -> usize {
        self.server.count(|asked| asked.path == RAN)
    }
}

fn serve(path: &str, stream: &mut TcpStream, shelf: &Shelf) -> bool {
    match path.strip_prefix("/files/") {
        Some(name) => {
            file(stream, "application/octet-stream", shelf.files().get(name).map(|(file, _)| file.clone()))
        }
        None if path == RAN => file(stream, "text/plain", Some(Vec::new())),
        None => {
            let name = path.strip_prefix("/simple/").and_then(|name| name.strip_suffix('/'));
            let name = name.filter(|name| ["snake", "tail"].contains(name));
            file(stream, "text/html", name.map(|name| page(shelf, name)))
        }
    }
}

fn page(shelf: &Shelf, package: &str) -> Vec<u8> {
    let files = shelf.files();
    let wheels = files.iter().filter(|(name, _)| name.starts_with(&format!("{package}-")));
    let link = |(name, (_, requires)): (&String, &(Vec<u8>, String))| {
        let requires = requires.replace('<', "&lt;").replace('>', "&gt;");
        let requires =
            if requires.is_empty() { requires } else { format!(" data-requires-python=\"{requires}\"") };
        format!("<a href=\"/files/{name}\"{requires}>{name}</a>\n")
    };
    let links: String = wheels.map(link).collect();
    format!("<!DOCTYPE html><html><body>\n{links}</body></html>\n").into_bytes()
}
