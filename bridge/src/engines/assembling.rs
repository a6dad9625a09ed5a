//! How an engine is put together: its program, its command line, its sandbox.
//!
//! ```text
//!  file ─► program ─► `program --help > help`, in the sandbox that it will have ─► policy::engine ─► definition ─► Server
//! ```
//!
//! Owns the definition. Must never give an engine a network where it can do without, nor a device that nobody named.

use std::collections::BTreeMap;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::Duration;

use harbor_home::files::regular_file;
use harbor_home::instance::random_token;
use harbor_ipc_proto::client::envelope::ErrorBody;
use harbor_ipc_proto::client::{NetworkKind, SandboxSettings, Supervision};
use harbor_ipc_proto::model::Kind;
use harbor_ipc_proto::secret::Secret;
use harbor_policy::engine::{
    EngineAddress, EngineCommand, EngineHelp, EngineWish, ModelForm, arguments, memory_for,
};

use super::errors::{off_the_loop, unstartable, wrong};
use super::files::{self, ModelFile};
use super::{Assembled, Engines, KnownEngine};
use crate::host::start_failed;
use crate::models::EnginePlace;
use crate::store::definitions::Definition;
use crate::store::engines::EngineRow;
use crate::supervisor::{EngineOf, KEY_FILE};

/// The program that runs a model's file where none is named.
const USUAL: &str = "llama-server";

/// The name of an engine's socket in its temporary directory, which is empty at each start.
const SOCKET: &str = "engine.sock";

/// The longest path of a socket, in bytes.
const MAX_SOCKET: usize = 107;

/// The file with an engine's words about its options, in its data directory.
const HELP: &str = "help";
const MAX_HELP: u64 = 1 << 20;

/// A program may have to unpack itself before it says anything.
const HELP_LIMIT: Duration = Duration::from_secs(60);

/// Nobody has asked for so long: the engine ends, and the next request starts it.
const IDLE_MS: u64 = 1_800_000;

/// Tokens for which there is to be memory where nobody says how many.
const CONTEXT: u32 = 8192;

/// Why an engine is not started that would get a port.
const NO_SOCKET: &str = "this engine cannot listen at a Unix socket, so it would get a port of 127.0.0.1, and with it the network of this \
                         machine; --network allows that";

/// The parts of an engine that do not depend on its options.
struct EngineParts {
    file: ModelFile,
    /// The program, and its first arguments.
    program: String,
    first: Vec<String>,
    root: PathBuf,
    sandbox: SandboxSettings,
    env: BTreeMap<String, String>,
}

impl Engines {
    /// An engine with its command line. It is made once for each bridge.
    ///
    /// # Errors
    /// Why there is none.
    pub(super) async fn assembled(&self, engine: &Rc<KnownEngine>) -> Result<Rc<Assembled>, ErrorBody> {
        let _turn = self.assembling.lock().await;
        if let Some(assembled) = engine.assembled.borrow().clone() {
            return Ok(assembled);
        }
        let assembled = Rc::new(self.assemble(&engine.row).await?);
        *engine.assembled.borrow_mut() = Some(assembled.clone());
        Ok(assembled)
    }

    async fn assemble(&self, row: &EngineRow) -> Result<Assembled, ErrorBody> {
        let parts = self.parts(row).await?;
        let broken = |why: String| unstartable(&row.file, &why);
        let key = random_token().map(Secret::new).map_err(|error| broken(error.to_string()))?;
        let of = self.engine_of(row, &parts, key.clone());
        let help = self.help(row, &parts, of.clone()).await?;
        let (data, tmp) = (parts.root.join("data"), parts.root.join("tmp"));
        let (socket, key_file) = (text(&tmp.join(SOCKET)), text(&data.join(KEY_FILE)));
        if socket.len() > MAX_SOCKET {
            return Err(broken(format!(
                "{socket} is too long for a socket's path; set a shorter HARBOR_HOME"
            )));
        }
        let model = files::model_name(&row.file);
        let wish = EngineWish {
            model: (parts.file.form == ModelForm::Gguf).then_some(row.file.as_str()),
            name: &model,
            socket: &socket,
            port: free_port().map_err(|error| broken(format!("no port of this machine is free: {error}")))?,
            key_file: &key_file,
            context: row.context,
        };
        let EngineCommand { args, address, left_out } =
            arguments(&help, &wish).map_err(|why| broken(format!("this engine {why}")))?;
        if matches!(address, EngineAddress::Port(_)) && !row.network {
            return Err(broken(NO_SOCKET.into()));
        }
        let definition = parts.definition(args, &address, row.start_timeout_ms);
        let server = self.supervisor.engine(&row.provider, definition, of);
        let server = server.ok_or_else(|| wrong("model_id", "its name is too long for an engine's"))?;
        let place = place_of(&address, parts.file.form, key);
        Ok(Assembled { server, place, model, left_out })
    }

    fn engine_of(&self, row: &EngineRow, parts: &EngineParts, key: Secret) -> EngineOf {
        let (this, provider) = (self.this.clone(), row.provider.clone());
        EngineOf {
            root: parts.root.clone(),
            models: parts.file.is_ours.then(|| self.supervisor.models_directory()),
            key,
            launched: Rc::new(move |start| {
                if let Some(engines) = this.upgrade() {
                    tokio::task::spawn_local(engines.await_start(provider.clone(), start));
                }
            }),
        }
    }

    async fn parts(&self, row: &EngineRow) -> Result<EngineParts, ErrorBody> {
        let (row, ours) = (row.clone(), self.supervisor.models_directory());
        let (root, runtimes) = (self.supervisor.engine_root(&row.provider), self.supervisor.runtimes());
        off_the_loop(move || {
            let file = files::find(&row.file, &ours)?;
            let program = match (&row.program, file.form) {
                (_, ModelForm::Llamafile) => file.path.clone(),
                (Some(program), ModelForm::Gguf) => real(program)?,
                (None, ModelForm::Gguf) => real(&runtimes.look().program(USUAL).ok_or_else(no_engine)?)?,
            };
            Ok(EngineParts::of(&row, file, program, root))
        })
        .await
    }

    /// Asks a program for its options. It runs as it will run later.
    async fn help(
        &self,
        row: &EngineRow,
        parts: &EngineParts,
        of: EngineOf,
    ) -> Result<EngineHelp, ErrorBody> {
        let broken = |why: String| unstartable(&row.file, &why);
        // Its words are lines by the hundred: more than a log takes at once.
        let script = format!("exec \"$0\" \"$@\" >{HELP} 2>&1 </dev/null");
        let mut args = vec!["-c".to_owned(), script, parts.program.clone()];
        args.extend(parts.first.iter().cloned().chain(["--help".to_owned()]));
        let definition = Definition { command: "/bin/sh".into(), args, ..parts.plain() };
        let server = self.supervisor.engine(&row.provider, definition, of);
        let server = server.ok_or_else(|| wrong("model_id", "its name is too long for an engine's"))?;
        let report = server.run_aside(HELP_LIMIT, |_, _| ()).await;
        let report = report.map_err(|error| start_failed(server.id(), &error))?;
        let path = parts.root.join("data").join(HELP);
        let read = tokio::task::spawn_blocking(move || read_help(&path)).await;
        let said = read.ok().and_then(Result::ok).unwrap_or_default();
        let help = EngineHelp::read(&said);
        // Some say their options and end as after an error.
        match help == EngineHelp::default() {
            false => Ok(help),
            true => {
                let last = said.lines().rfind(|line| !line.trim().is_empty()).unwrap_or_default();
                let words: String = last.chars().filter(|c| !c.is_control()).take(200).collect();
                let said = if words.is_empty() { String::new() } else { format!(" ({words})") };
                Err(broken(format!(
                    "it names no options when it is asked for --help: {}{said}",
                    report.message
                )))
            }
        }
    }
}

impl EngineParts {
    fn of(row: &EngineRow, file: ModelFile, program: String, root: PathBuf) -> Self {
        let mut read = Vec::new();
        let mut env = BTreeMap::new();
        if !file.is_ours {
            read.push(file.path.clone());
        }
        if file.form == ModelForm::Gguf {
            read.push(program.clone());
        }
        let beside = Path::new(&program).parent().filter(|_| file.form == ModelForm::Gguf);
        if let Some(libraries) = beside.filter(|directory| holds_libraries(directory)) {
            read.push(text(libraries));
            env.insert("LD_LIBRARY_PATH".to_owned(), text(libraries));
        }
        let memory = memory_for(file.bytes, row.context.unwrap_or(CONTEXT)).saturating_mul(3) / 2;
        let sandbox = SandboxSettings {
            read: Some(read).filter(|read| !read.is_empty()),
            write: Some(row.devices.clone()).filter(|devices| !devices.is_empty()),
            sockets: Some(vec![text(&root.join("tmp"))]),
            network: Some(NetworkKind::None),
            memory_mb: Some(row.memory_mb.unwrap_or((memory >> 20).clamp(2048, 1 << 20))),
            ..SandboxSettings::default()
        };
        // A llamafile begins as a program of no system's own: a shell starts it everywhere.
        let (program, first) = match file.form {
            ModelForm::Gguf => (program, Vec::new()),
            ModelForm::Llamafile => ("/bin/sh".to_owned(), vec![program]),
        };
        Self { file, program, first, root, sandbox, env }
    }

    /// The definition without a command.
    fn plain(&self) -> Definition {
        Definition {
            command: String::new(),
            args: Vec::new(),
            env: self.env.clone(),
            cwd: None,
            label: None,
            roots: Vec::new(),
            supervision: Supervision::default(),
            as_is: true,
            sandbox: self.sandbox.clone(),
            secrets: Vec::new(),
            remote: None,
            image: None,
            script: None,
            module: None,
            install_env: BTreeMap::new(),
            with: Vec::new(),
        }
    }

    fn definition(&self, args: Vec<String>, address: &EngineAddress, start_timeout_ms: u64) -> Definition {
        let plain = self.plain();
        let sandbox = match address {
            EngineAddress::Socket(_) => plain.sandbox.clone(),
            EngineAddress::Port(port) => SandboxSettings {
                network: Some(NetworkKind::All),
                sockets: None,
                listen: Some((*port).into()),
                ..plain.sandbox.clone()
            },
        };
        let supervision = Supervision {
            // The worker's answer comes first.
            start_timeout_ms: Some((start_timeout_ms + 10_000).min(600_000)),
            idle_stop_ms: Some(IDLE_MS),
            // Its standard input was never open.
            eof_grace_ms: Some(0),
            ..Supervision::default()
        };
        let args = [self.first.clone(), args].concat();
        Definition { command: self.program.clone(), args, sandbox, supervision, ..plain }
    }
}

fn place_of(address: &EngineAddress, form: ModelForm, key: Secret) -> EnginePlace {
    let kind = match form {
        ModelForm::Gguf => Kind::LlamaServer,
        ModelForm::Llamafile => Kind::Llamafile,
    };
    let (base_url, socket) = match address {
        EngineAddress::Socket(path) => ("http://localhost/v1".to_owned(), Some(path.clone())),
        EngineAddress::Port(port) => (format!("http://127.0.0.1:{port}/v1"), None),
    };
    EnginePlace { kind, base_url, socket, key }
}

/// Where a program really is: its libraries lie beside it.
fn real(program: &str) -> Result<String, ErrorBody> {
    let unusable = |error| wrong("engine", format!("{program} cannot be started: {error}"));
    Ok(text(&Path::new(program).canonicalize().map_err(unusable)?))
}

fn no_engine() -> ErrorBody {
    let why = format!(
        "a GGUF file needs an engine, and {USUAL} is on no PATH; --engine names its program. A llamafile brings its own"
    );
    wrong("engine", why)
}

/// True if shared libraries lie in a directory, as beside an engine that was unpacked somewhere.
fn holds_libraries(directory: &Path) -> bool {
    let entries = directory.read_dir().into_iter().flatten().flatten().take(4096);
    entries
        .filter_map(|entry| entry.file_name().into_string().ok())
        .any(|name| name.starts_with("lib") && (name.ends_with(".so") || name.contains(".so.")))
}

/// A port of this machine at which nobody listens now.
fn free_port() -> std::io::Result<u16> {
    Ok(std::net::TcpListener::bind(("127.0.0.1", 0))?.local_addr()?.port())
}

fn read_help(path: &Path) -> std::io::Result<String> {
    let mut bytes = Vec::new();
    regular_file(path)?.take(MAX_HELP).read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

fn text(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}
