//! `harbor add`: a server as it is typed, on this machine or remote.
//!
//! Owns which of its options go together. Paths may be relative: they are resolved when the command runs.

use std::collections::BTreeMap;

use clap::builder::NonEmptyStringValueParser;
use clap::{Args, ValueHint};
use harbor_ipc_proto::client::{SandboxSettings, Supervision};
use harbor_policy::remote::{parse, says_loopback, says_private, wrong_headers};
use url::Url;

use super::sandbox::SandboxOptions;
use super::supervision::SupervisionOptions;
use super::values::{Unrepeated, header, one_of, read_by, server_id, variable};

/// A server as it was typed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Definition {
    pub name: String,
    pub label: Option<String>,
    pub cwd: Option<String>,
    pub env: BTreeMap<String, String>,
    pub roots: Vec<String>,
    /// The settings as typed; the bridge fills in the rest.
    pub supervision: Supervision,
    pub as_is: bool,
    /// The sandbox's settings as typed, too.
    pub sandbox: SandboxSettings,
    /// Names of secrets that it needs.
    pub secrets: Vec<String>,
    /// True if it gets the data that an earlier server of this name has left.
    pub keep_data: bool,
    pub start: bool,
    /// The server's address, if it is remote; then there is no command.
    pub remote: Option<Remote>,
    /// Empty for an image, a script, a module, and where the server is remote.
    pub command: String,
    pub image: Option<String>,
    pub engine: Option<String>,
    /// The file of a script that Harbor itself interprets; then there is no command.
    pub script: Option<String>,
    /// The file of a module of WebAssembly that Harbor itself interprets; then there is no command.
    pub module: Option<String>,
    pub args: Vec<String>,
}

/// A remote server: its address, and how Harbor speaks to it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Remote {
    pub url: String,
    pub transport: Option<String>,
    pub headers: BTreeMap<String, String>,
    pub allow_private: bool,
    pub allow_http: bool,
}

read_by! { Definition: AddOptions; }

/// Define a server and start it
///
/// COMMAND is a path or a name in the bridge's PATH. Adding the same name again replaces the definition; if
/// that is another program, nobody can use it until `harbor accept SERVER`. If the server does not start, the
/// definition stays and the exit code says so. Later it starts automatically when it is used.
///
/// npx and uvx packages are installed first and then run directly; --as-is keeps the command. Ctrl-C does not
/// stop an installation: `harbor stop SERVER` does.
///
/// An image is downloaded if necessary and run with the arguments after `--`. More: docs/containers.md.
///
/// Harbor keeps a copy of a script (--js) or module (--wasm) and runs it itself, without a network; add it again
/// after a change. A module sees its data directory and those of --read and --write, a script no files. More:
/// docs/runtimes.md, docs/wasm.md.
///
/// Example: `harbor add time -- uvx mcp-server-time`
///
/// Example: `harbor add time --image mcp/time`
///
/// Example: `harbor add docs --url https://example.com/mcp`
#[derive(Debug, Args)]
struct AddOptions {
    /// The server's name
    #[arg(value_name = "NAME", value_parser = server_id)]
    server: String,
    /// The server's command and its arguments
    #[arg(last = true, required_unless_present_any = ["image", "url", "js", "wasm"])]
    command: Vec<String>,
    /// A display name
    #[arg(long, value_name = "TEXT")]
    label: Option<String>,
    /// The working directory (default: the server's data directory)
    #[arg(long, value_name = "DIR", value_parser = NonEmptyStringValueParser::new(), value_hint = ValueHint::DirPath)]
    cwd: Option<String>,
    /// An environment variable; repeatable. Not for keys: see --secret
    #[arg(long, value_name = "KEY=VALUE", value_parser = Unrepeated(variable))]
    env: Vec<(String, String)>,
    /// A directory offered to the server as an MCP root; repeatable
    #[arg(long, value_name = "PATH", value_parser = NonEmptyStringValueParser::new(), value_hint = ValueHint::AnyPath)]
    root: Vec<String>,
    /// The name of a secret that it requires; repeatable
    #[arg(long, value_name = "KEY", value_parser = NonEmptyStringValueParser::new())]
    secret: Vec<String>,
    /// Run this container image, such as ghcr.io/owner/name:tag, instead of a command
    #[arg(long)]
    image: Option<String>,
    /// A script in JavaScript instead of a command; after `--`: --memory MIB, --busy SECONDS
    #[arg(long, value_name = "FILE", conflicts_with_all = OF_COMMANDS, value_parser = NonEmptyStringValueParser::new(), value_hint = ValueHint::FilePath)]
    js: Option<String>,
    /// A module of WebAssembly (WASI preview 1) instead of a command; after `--`: --memory MIB, --busy SECONDS, and
    /// behind a further `--` its own arguments
    #[arg(long, value_name = "FILE", conflicts_with_all = OF_COMMANDS, conflicts_with = "js", value_parser = NonEmptyStringValueParser::new(), value_hint = ValueHint::FilePath)]
    wasm: Option<String>,
    /// Run the image with podman or docker (default: the first one found)
    #[arg(long, requires = "image")]
    engine: Option<String>,
    /// Run the command unchanged, including npx and uvx
    #[arg(long)]
    as_is: bool,
    /// A remote server instead of a command: https://…, or http://… on this machine
    #[arg(long, conflicts_with_all = OF_PROGRAMS)]
    url: Option<String>,
    /// Only store the definition; do not start it now
    #[arg(long)]
    no_start: bool,
    /// Give it the data of an earlier server of this name
    #[arg(long)]
    keep_data: bool,
    #[command(flatten)]
    remote: RemoteOptions,
    #[command(flatten)]
    supervision: SupervisionOptions,
    #[command(flatten)]
    sandbox: SandboxOptions,
}

/// Options of programs. Nothing of a remote server runs here; a key for it stands in a --header, as
/// ${KEY}.
const OF_PROGRAMS: [&str; 23] = [
    "command",
    "js",
    "wasm",
    "image",
    "engine",
    "cwd",
    "as_is",
    "keep_data",
    "secret",
    "sandbox",
    "required",
    "read",
    "write",
    "socket",
    "network",
    "host",
    "listen",
    "memory",
    "processes",
    "open_files",
    "file_size",
    "disk",
    "nice",
];

/// Options of commands that a script or module does not have: it has no directory to be in, and is no package.
const OF_COMMANDS: [&str; 3] = ["image", "cwd", "as_is"];

#[derive(Debug, Args)]
#[command(next_help_heading = "Remote servers")]
pub(super) struct RemoteOptions {
    /// The transport (default auto)
    #[arg(long, value_name = "KIND", value_parser = one_of(["http", "sse", "auto"], |word| Some(word.to_owned())))]
    transport: Option<String>,
    /// A header for each request; ${KEY} stands for a secret; repeatable
    #[arg(long, value_name = "NAME: VALUE", value_parser = Unrepeated(header))]
    header: Vec<(String, String)>,
    /// Allow private IP addresses
    #[arg(long)]
    pub(super) allow_private: bool,
    /// Allow plain HTTP beyond this machine
    #[arg(long)]
    pub(super) allow_http: bool,
}

impl RemoteOptions {
    /// True if any option is given that only a remote server has.
    pub(super) fn is_said(&self) -> bool {
        self.is_spoken_to() || self.allow_private || self.allow_http
    }

    pub(super) fn is_spoken_to(&self) -> bool {
        self.transport.is_some() || !self.header.is_empty()
    }

    pub(super) fn read(self, url: &str, parsed: Option<&Url>) -> Result<Remote, String> {
        let headers = self.header.into_iter().collect();
        if let Some(why) = wrong_headers(&headers) {
            return Err(format!("--header: use {why}"));
        }
        Ok(Remote {
            url: url.to_owned(),
            transport: self.transport,
            headers,
            // Who types such an address means it. At this machine's own, that is this machine and no other.
            allow_private: self.allow_private
                || parsed.is_some_and(|url| says_private(url) && !says_loopback(url)),
            allow_http: self.allow_http,
        })
    }
}

impl Definition {
    fn read(options: AddOptions) -> Result<Self, String> {
        if options.url.is_none() && options.remote.is_said() {
            return Err("--transport, --header, --allow-private and --allow-http are for remote servers; they need --url"
                .into());
        }
        let remote = match options.url {
            Some(url) => {
                let parsed = parse(&url).map_err(|why| format!("--url: use {why}"))?;
                Some(options.remote.read(&url, Some(&parsed))?)
            }
            None => None,
        };
        let mut behind = options.command.into_iter();
        let command = match options.image.is_some()
            || options.js.is_some()
            || options.wasm.is_some()
            || remote.is_some()
        {
            true => String::new(),
            false => behind.next().filter(|command| !command.is_empty()).ok_or("the command is empty")?,
        };
        Ok(Self {
            name: options.server,
            label: options.label,
            cwd: options.cwd,
            env: options.env.into_iter().collect(),
            roots: options.root,
            supervision: options.supervision.read(),
            as_is: options.as_is,
            sandbox: options.sandbox.read()?,
            secrets: options.secret,
            keep_data: options.keep_data,
            start: !options.no_start,
            remote,
            command,
            image: options.image,
            script: options.js,
            module: options.wasm,
            engine: options.engine,
            args: behind.collect(),
        })
    }
}
