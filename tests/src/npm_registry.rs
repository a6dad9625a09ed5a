//! A registry of npm on this machine, with one package of the test's own: what no real registry may do on purpose, it does.
//!
//! Owns the package `tiny`, a server with the tools of its version. Must never serve anybody but the test's own installers.

use std::collections::BTreeMap;
use std::fs;
use std::io::Read as _;
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha512};

use crate::scripted::{Asked, file};
use crate::{Bridge, Home, Scripted};

/// What the files of packages lie below; their names are versions.
const FILES: &str = "/files/";

const SERVER: &str = r#"#!/usr/bin/env node
const version = "VERSION";
const tools = TOOLS.map((name) => ({ name, description: DESCRIPTION, inputSchema: { type: "object" } }));
require("readline").createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method } = JSON.parse(line);
  if (id === undefined) return;
  const say = (what) => console.log(JSON.stringify({ jsonrpc: "2.0", id, ...what }));
  if (method === "initialize") {
    const serverInfo = { name: "tiny", version };
    say({ result: { protocolVersion: "2025-11-25", capabilities: { tools: {} }, serverInfo } });
  } else if (method === "tools/list") say({ result: { tools } });
  else if (method === "tools/call") say({ result: { content: [{ type: "text", text: version }] } });
  else say({ error: { code: -32601, message: "no" } });
});
"#;

/// One version as it is served.
#[derive(Debug, Clone)]
struct Version {
    manifest: Value,
    tarball: Vec<u8>,
    integrity: String,
}

#[derive(Debug, Default)]
struct Shelf {
    versions: Mutex<BTreeMap<String, Version>>,
    hangs: AtomicBool,
    held: AtomicUsize,
}

impl Shelf {
    fn versions(&self) -> std::sync::MutexGuard<'_, BTreeMap<String, Version>> {
        self.versions.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The registry.
#[derive(Debug)]
pub struct NpmRegistry {
    server: Scripted,
    shelf: Arc<Shelf>,
}

impl NpmRegistry {
    /// One without any version yet.
    ///
    /// # Panics
    /// When this machine has no port for it.
    #[must_use]
    pub fn start() -> Self {
        let shelf = Arc::new(Shelf::default());
        let serving = shelf.clone();
        Self { server: Scripted::start(move |asked, stream| serve(asked, stream, &serving)), shelf }
    }

    /// A bridge whose npm knows only this one.
    #[must_use]
    pub fn bridge(&self, home: &Home) -> Bridge {
        Bridge::start_with(home, &[("npm_config_registry", &self.url())])
    }

    /// Its address.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}/", self.server.port)
    }

    /// Has this version of `tiny`, with these tools that all have this description.
    ///
    /// # Panics
    /// When it cannot be packed.
    pub fn publish(&self, home: &Home, version: &str, tools: &[&str], description: &str) {
        let dir = home.scratch(&format!("tiny-{version}"));
        write_server(&dir, version, tools, description);
        self.publish_dir(&dir, version);
    }

    /// Has what is in this directory as this version of `tiny`.
    ///
    /// # Panics
    /// When it cannot be packed.
    pub fn publish_dir(&self, dir: &Path, version: &str) {
        let found = pack(dir);
        self.shelf.versions().insert(version.into(), found);
    }

    /// Has this version no more.
    pub fn withdraw(&self, version: &str) {
        self.shelf.versions().remove(version);
    }

    /// Serves another file for this version from now on, and says that its hash is the old one's.
    ///
    /// # Panics
    /// When it cannot be packed.
    pub fn tamper(&self, home: &Home, version: &str) {
        let dir = home.scratch("tampered");
        write_server(&dir, version, &["evil"], "another one");
        let other = pack(&dir);
        if let Some(found) = self.shelf.versions().get_mut(version) {
            found.tarball = other.tarball;
        }
    }

    /// Whether files of packages are sent never to the end.
    pub fn hang(&self, hangs: bool) {
        self.shelf.hangs.store(hangs, Ordering::SeqCst);
    }

    /// How many files of packages were asked for.
    #[must_use]
    pub fn fetched(&self) -> usize {
        self.server.count(|asked| asked.path.starts_with(FILES))
    }

    /// How many wait for a file.
    #[must_use]
    pub fn held(&self) -> usize {
        self.shelf.held.load(Ordering::SeqCst)
    }
}

/// Writes the files of a package that is such a server.
///
/// # Panics
/// When they cannot be written.
pub fn write_server(dir: &Path, version: &str, tools: &[&str], description: &str) {
    fs::create_dir_all(dir).expect("a directory can be made");
    let manifest = json!({"name": "tiny", "version": version, "bin": "index.js"});
    fs::write(dir.join("package.json"), manifest.to_string()).expect("a file can be written");
    let text = SERVER.replace("VERSION", version);
    let text = text
        .replace("TOOLS", &json!(tools).to_string())
        .replace("DESCRIPTION", &json!(description).to_string());
    fs::write(dir.join("index.js"), text).expect("a file can be written");
    fs::set_permissions(dir.join("index.js"), fs::Permissions::from_mode(0o755)).expect("it is this user's");
}

/// What `npm pack` would make of it, which takes npm most of a second: all of its files, below `package/`.
fn pack(dir: &Path) -> Version {
    let manifest = fs::read(dir.join("package.json")).expect("it has one");
    let manifest = serde_json::from_slice(&manifest).expect("it is JSON");
    let mut archive = tar::Builder::new(GzEncoder::new(Vec::new(), Compression::fast()));
    archive.append_dir_all("package", dir).expect("its files can be read");
    let tarball = archive.into_inner().and_then(GzEncoder::finish).expect("memory takes it");
    let integrity = format!("sha512-{}", STANDARD.encode(Sha512::digest(&tarball)));
    Version { manifest, tarball, integrity }
}

fn serve(asked: &Asked, stream: &mut TcpStream, shelf: &Shelf) -> bool {
    match asked.path.strip_prefix(FILES) {
        Some(_) if shelf.hangs.load(Ordering::SeqCst) => {
            shelf.held.fetch_add(1, Ordering::SeqCst);
            // Until the client has gone.
            let _ = stream.read(&mut [0; 1]);
            shelf.held.fetch_sub(1, Ordering::SeqCst);
            true
        }
        Some(version) => {
            let tarball = shelf.versions().get(version).map(|found| found.tarball.clone());
            file(stream, "application/octet-stream", tarball)
        }
        None => {
            let found = (asked.path == "/tiny").then(|| about(shelf, asked.header("host")).to_string());
            file(stream, "application/json", found.map(String::into_bytes))
        }
    }
}

fn about(shelf: &Shelf, host: &str) -> Value {
    let versions = shelf.versions();
    let of = |(version, found): (&String, &Version)| {
        let tarball = format!("http://{host}{FILES}{version}");
        let mut manifest = found.manifest.clone();
        // As npm publishes it.
        if manifest["bin"].is_string() {
            manifest["bin"] = json!({"tiny": manifest["bin"]});
        }
        manifest["dist"] = json!({"tarball": tarball, "integrity": found.integrity});
        manifest["hasInstallScript"] = json!(manifest["scripts"]["postinstall"].is_string());
        (version.clone(), manifest)
    };
    let latest = versions.keys().last().cloned();
    let all: serde_json::Map<_, _> = versions.iter().map(of).collect();
    json!({"name": "tiny", "dist-tags": {"latest": latest}, "versions": all})
}
