//! Files of models that are fetched, and deleted.
//!
//! ```text
//!  URL, SHA-256 ─► harbor-runner-http fetch-long, in the sandbox of an installer ─► MODELS/.pulls/NAME/data/part
//!                     its hash is the wanted one, and it begins as a model does ─► MODELS/NAME
//! ```
//!
//! Owns the directory of the fetched models. A file has its name only when it is whole. What a try has fetched stays for the next
//! one. Must never fetch anything by itself.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::Duration;

use harbor_home::files::{private_directory, regular_file};
use harbor_ipc_proto::client::SandboxSettings;
use harbor_ipc_proto::client::envelope::ErrorBody;
use harbor_ipc_proto::codes::Code;
use harbor_policy::model_download::ModelDownload;

use super::errors::{off_the_loop, unfetched, wrong};
use super::{Engines, files};
use crate::host::start_failed;
use crate::store::removal::remove_tree;

/// Where files lie until they are whole, in the directory of the fetched models.
const PULLS: &str = ".pulls";

/// The file as the fetcher writes it.
const PART: &str = "data/part";

/// A file of a terabyte takes that long at ten megabytes a second.
const LIMIT: Duration = Duration::from_secs(30 * 3600);

/// The most that a sandbox can allow, in MiB.
const MOST_MIB: u64 = 1_048_576;

/// A file that a person wants to have.
#[derive(Debug)]
pub struct PullOrder {
    /// Its address.
    pub url: String,
    /// Its SHA-256.
    pub sha256: Option<String>,
    /// Its name here; that in its address where absent.
    pub name: Option<String>,
    /// True if it may come without TLS.
    pub allow_http: bool,
    /// True if it may come from a private address.
    pub allow_private: bool,
}

/// A name that somebody fetches: nobody else does meanwhile.
struct PullGuard(Rc<Engines>, String);

impl Drop for PullGuard {
    fn drop(&mut self) {
        self.0.pulling.borrow_mut().remove(&self.1);
    }
}

impl Engines {
    /// Fetches a file; gives its name and its size. `hear` gets how much has come, and of how much (0: not known). Dropping
    /// this ends it.
    ///
    /// # Errors
    /// Why it is not there.
    pub async fn pull(
        self: &Rc<Self>,
        order: PullOrder,
        mut hear: impl FnMut(u64, u64),
    ) -> Result<(String, u64), ErrorBody> {
        let PullOrder { url, sha256, name, allow_http, allow_private } = order;
        let allowed = (allow_http, allow_private);
        let download = ModelDownload::read(&url, sha256.as_deref(), name.as_deref(), allowed);
        let download = download.map_err(|(field, why)| wrong(field, why))?;
        let ours = self.supervisor.models_directory();
        let file = ours.join(&download.name);
        if !self.pulling.borrow_mut().insert(download.name.clone()) {
            return Err(wrong("model_id", format!("{} is being fetched already", download.name)));
        }
        let _guard = PullGuard(self.clone(), download.name.clone());
        let root = ours.join(PULLS).join(&download.name);
        let prepared = off_the_loop({
            let (file, ours, root) = (file.clone(), ours.clone(), root.clone());
            move || prepare(&file, &[ours, root])
        });
        prepared.await?;
        self.fetch(&download, &root, |line| {
            if let Some((done, total)) = read_progress(line) {
                hear(done, total);
            }
        })
        .await?;
        let bytes = off_the_loop(move || keep(&root, &file, &ours)).await?;
        Ok((download.name.clone(), bytes))
    }

    /// Has the Ollama of this machine fetch a model; gives its name, and a sentence about it. `hear` as for a file, with Ollama's
    /// words.
    ///
    /// # Errors
    /// Why it is not there.
    pub async fn pull_by_ollama(
        &self,
        model: &str,
        hear: impl Fn(u64, u64, Option<&str>),
    ) -> Result<(String, String), ErrorBody> {
        self.models.pull_by_ollama(model, |status, done, total| hear(done, total, Some(status))).await?;
        Ok((model.to_owned(), format!("Ollama has {model}")))
    }

    async fn fetch(
        &self,
        download: &ModelDownload,
        root: &Path,
        hear: impl FnMut(&str),
    ) -> Result<(), ErrorBody> {
        let data = root.join("data").to_string_lossy().into_owned();
        let args = download.command(&data).into_iter().skip(1).collect();
        let sandbox = SandboxSettings {
            file_size_mb: Some(MOST_MIB),
            disk_mb: Some(MOST_MIB),
            ..SandboxSettings::default()
        };
        // Two files may have one name one after the other, and a name may be long.
        let name: String = ["pull-", &download.sha256].concat().chars().take(24).collect();
        let server = self.supervisor.fetcher(&name, args, root.to_owned(), sandbox);
        let server = server.ok_or_else(|| wrong("name", "the file cannot be called so"))?;
        let fetched = server.fetch_aside(LIMIT, hear).await;
        let fetched = fetched.map_err(|error| start_failed(server.id(), &error))?;
        fetched.map_err(|why| unfetched(&download.name, &why))
    }

    /// Deletes a fetched file; gives its name.
    ///
    /// # Errors
    /// When there is none, or an engine is there for it.
    pub async fn delete(&self, name: &str) -> Result<String, ErrorBody> {
        let ours = self.supervisor.models_directory();
        let said = name.to_owned();
        let file = off_the_loop(move || files::find(&said, &ours)).await?;
        let path = file.path;
        if !file.is_ours {
            return Err(wrong("model_id", format!("{name} was not fetched by Harbor; it stays")));
        }
        let user = self.known.borrow().values().find(|engine| engine.row.file == path).cloned();
        if let Some(engine) = user {
            let id = &engine.row.provider;
            let why = format!("{id} runs this file; `harbor models remove {id}` first");
            return Err(wrong("model_id", why));
        }
        let file = path.rsplit('/').next().unwrap_or(&path).to_owned();
        off_the_loop(move || fs::remove_file(&path).map_err(|error| undone(Path::new(&path), error))).await?;
        Ok(file)
    }
}

fn prepare(file: &Path, directories: &[PathBuf]) -> Result<(), ErrorBody> {
    if file.symlink_metadata().is_ok() {
        let why = "a file of this name is there already; `harbor models delete` deletes it";
        return Err(wrong("name", why));
    }
    let made = directories.iter().try_for_each(|directory| private_directory(directory));
    made.map_err(|error| ErrorBody::new(Code::Internal, format!("could not {error}")))
}

/// Gives a whole file its name, if it is a model; gives its size.
fn keep(root: &Path, file: &Path, ours: &Path) -> Result<u64, ErrorBody> {
    // By its final name, which says what it claims to be.
    let staged = root.join(file.file_name().unwrap_or_default());
    let moved = |from: &Path, to: &Path| fs::rename(from, to).map_err(|error| undone(to, error));
    let part = root.join(PART);
    regular_file(&part).map_err(|error| undone(&part, error))?;
    moved(&part, &staged)?;
    let found = files::find(&staged.to_string_lossy(), ours).inspect_err(|_| drop(remove_tree(root)))?;
    fs::set_permissions(&staged, Permissions::from_mode(0o600)).map_err(|error| undone(&staged, error))?;
    moved(&staged, file)?;
    // A try may have left more there.
    let _ = remove_tree(root);
    Ok(found.bytes)
}

fn undone(path: &Path, error: std::io::Error) -> ErrorBody {
    ErrorBody::new(Code::Internal, format!("could not change {}: {error}", path.display()))
}

/// A line of the fetcher: how many bytes have come, and of how many.
fn read_progress(line: &str) -> Option<(u64, u64)> {
    let (done, total) = line.split_once(' ')?;
    Some((done.parse().ok()?, total.parse().ok()?))
}
