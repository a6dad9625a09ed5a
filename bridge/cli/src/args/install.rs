//! Packages to install or upgrade, as they are typed.
//!
//! Owns which options fit which source.

use std::collections::BTreeMap;

use clap::builder::NonEmptyStringValueParser;
use clap::{Args, value_parser};
use harbor_ipc_proto::client::{NetworkKind, SandboxSettings};
use harbor_policy::package::binary::{Binary, MODULE};
use harbor_policy::recipe::source::{InstallSource, sort};
use harbor_policy::remote::parse;

use super::add::{Definition, Remote, RemoteOptions};
use super::sandbox::SandboxOptions;
use super::supervision::SupervisionOptions;
use super::values::{Unrepeated, input, read_by, server_id, variable};

/// The package to install.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Package {
    /// `npm:…`, `oci:…`, a URL, or the id of an entry.
    pub source: String,
    /// For an entry: the number of the package to install, counted from 0.
    pub way: Option<u64>,
    /// For an entry: the values that are filled in.
    pub inputs: BTreeMap<String, Vec<String>>,
    /// How Harbor speaks to the server, if it is remote; the URL is the source.
    pub remote: Remote,
    /// Variables of the installer alone.
    pub install_env: BTreeMap<String, String>,
    /// Packages that are installed beside it.
    pub with: Vec<String>,
    /// True if the person is not asked.
    pub yes: bool,
    /// True if Harbor only says what it would install.
    pub dry_run: bool,
    /// How the server is run. Its name and its command are empty where none was typed.
    pub definition: Definition,
}

read_by! { Package: InstallOptions; }

/// Install a server: by id, package, image or URL
///
/// SOURCE is one of: npm:NAME[@VERSION], pypi:NAME[==VERSION], git:URL[#BRANCH, TAG OR
/// COMMIT][&subdirectory=DIRECTORY], OWNER/NAME of GitHub, binary:URL (a program, or a .tar.gz or .zip with
/// one), oci:IMAGE. Or it is the URL of a remote server, or of a module of WebAssembly (it ends in .wasm, and needs
/// --sha256 or --key), the FILE of a manifest, or an ID of `harbor catalog`. In a repository, Harbor reads its manifest, server.json, package.json or pyproject.toml.
///
/// Arguments after `--` go to the server, or fill in the one value that an entry asks for. Harbor shows what
/// the server is and may do, asks, and locks the version with the hashes of all its packages. The value of a
/// --secret comes from a prompt, or from stdin as with `harbor secrets set`. --allow-private and --allow-http
/// also apply to a binary:URL. Ctrl-C cancels and leaves nothing behind. More: docs/install.md.
///
/// Example: `harbor install time`
///
/// Example: `harbor install filesystem -- ~/notes`
///
/// Example: `harbor install pypi:mcp-server-time`
#[derive(Debug, Args)]
struct InstallOptions {
    /// The package to install
    source: String,
    /// The server's own arguments
    #[arg(last = true)]
    args: Vec<String>,
    /// The server's name (default: made from the source)
    #[arg(long, value_parser = server_id)]
    name: Option<String>,
    /// A value that an entry or a manifest asks for; repeatable
    #[arg(long, value_name = "NAME=VALUE", value_parser = Unrepeated(input))]
    input: Vec<(String, String)>,
    /// The number of the package, if the entry has several; the first is 1
    #[arg(long, value_name = "N", value_parser = value_parser!(u64).range(1..=64))]
    package: Option<u64>,
    /// Do not ask
    #[arg(long)]
    yes: bool,
    /// Give it the data of an earlier server of this name
    #[arg(long)]
    keep_data: bool,
    /// Show what would be installed and what it requires; change nothing
    #[arg(long)]
    dry_run: bool,
    /// A name for people
    #[arg(long, value_name = "TEXT")]
    label: Option<String>,
    /// An environment variable for the server; repeatable. Not for keys: see --secret
    #[arg(long, value_name = "KEY=VALUE", value_parser = Unrepeated(variable))]
    env: Vec<(String, String)>,
    /// An environment variable for the installer, which the server does not get; repeatable
    #[arg(long, value_name = "KEY=VALUE", value_parser = Unrepeated(variable))]
    install_env: Vec<(String, String)>,
    /// Another package of PyPI (NAME[==VERSION]) beside one of Python; repeatable
    #[arg(long, value_name = "PACKAGE", value_parser = NonEmptyStringValueParser::new())]
    with: Vec<String>,
    /// A secret that it requires; you are asked for it; repeatable
    #[arg(long, value_name = "KEY", value_parser = NonEmptyStringValueParser::new())]
    secret: Vec<String>,
    #[command(flatten)]
    download: DownloadOptions,
    #[command(flatten)]
    remote: RemoteOptions,
    #[command(flatten)]
    supervision: SupervisionOptions,
    #[command(flatten)]
    sandbox: SandboxOptions,
}

#[derive(Debug, Args)]
#[command(next_help_heading = "A program that is downloaded")]
struct DownloadOptions {
    /// The SHA-256 that the file must have
    #[arg(long, value_name = "HEX")]
    sha256: Option<String>,
    /// The public key that signs this version and each later one: URL.minisig
    #[arg(long, visible_alias = "key", value_name = "KEY")]
    minisign_key: Option<String>,
    /// Which file of an archive is the program
    #[arg(long, value_name = "PATH")]
    bin: Option<String>,
}

/// Install another version of a server's package
///
/// Harbor installs the new version beside the old one, starts it without your secrets and files, and compares
/// the tools. If it does not start like that, Harbor asks whether the new version may use everything that the
/// server may use. Nothing changes before you say yes. Origins cannot use changed tools until you accept
/// them.
#[derive(Debug, Clone, PartialEq, Eq, Args)]
pub struct Upgrade {
    /// The server's name
    #[arg(value_parser = server_id, required_unless_present = "all")]
    pub server: Option<String>,
    /// Upgrade all servers that have a package, one after the other
    #[arg(long, conflicts_with_all = ["server", "to", "undo"])]
    pub all: bool,
    /// This version instead of the newest; for git a branch, tag or commit, for binary: another URL
    #[arg(long, value_name = "VERSION")]
    pub to: Option<String>,
    /// Go back to the version before the last upgrade
    #[arg(long, conflicts_with = "to")]
    pub undo: bool,
    /// Do not ask
    #[arg(long)]
    pub yes: bool,
}

impl Upgrade {
    /// The server; empty with `--all`.
    pub fn name(&self) -> &str {
        self.server.as_deref().unwrap_or_default()
    }
}

impl Package {
    fn read(options: InstallOptions) -> Result<Self, String> {
        let (download, remote, text) = (options.download, options.remote, options.source);
        let source = download.source(&text, &remote)?;
        let mut sandbox = options.sandbox.read()?;
        if is_of_module(&source) {
            sandbox.network = sandbox.network.or(Some(NetworkKind::None));
        }
        let remote = match sort(&source) {
            Ok(InstallSource::Remote(_)) if options.keep_data || sandbox != SandboxSettings::default() => {
                return Err(
                    "--keep-data and sandbox options are for programs; a remote server does not run here"
                        .into(),
                );
            }
            Ok(InstallSource::Remote(url)) => remote.read("", parse(&url).ok().as_ref())?,
            // Where it is, the catalog knows.
            Ok(InstallSource::Entry(_)) => remote.read("", None)?,
            // Where a download may come from stands in its source.
            Ok(InstallSource::Package(package)) if package.starts_with("binary:") => Remote::default(),
            _ if remote.is_said() => {
                return Err(
                    "--transport, --header, --allow-private and --allow-http are for remote servers".into()
                );
            }
            _ => Remote::default(),
        };
        let mut inputs = BTreeMap::<_, Vec<_>>::new();
        options.input.into_iter().for_each(|(name, value)| inputs.entry(name).or_default().push(value));
        let definition = Definition {
            name: options.name.unwrap_or_default(),
            label: options.label,
            env: options.env.into_iter().collect(),
            supervision: options.supervision.read(),
            sandbox,
            secrets: options.secret,
            keep_data: options.keep_data,
            args: options.args,
            ..Definition::default()
        };
        Ok(Self {
            source,
            way: options.package.map(|counted| counted - 1),
            inputs,
            remote,
            install_env: options.install_env.into_iter().collect(),
            with: options.with,
            yes: options.yes,
            dry_run: options.dry_run,
            definition,
        })
    }
}

/// The address of a module of WebAssembly, if a source is one. A catalog's id and a path have no scheme.
fn module(source: &str) -> Option<&str> {
    let is_web = source.starts_with("https://") || source.starts_with("http://");
    let address = source.split('#').next().unwrap_or(source);
    (is_web && address.ends_with(MODULE)).then_some(source)
}

/// True if a whole source is a module: it has no network unless one was typed.
fn is_of_module(source: &str) -> bool {
    let spec = source.strip_prefix("binary:");
    spec.and_then(|spec| Binary::read(spec).ok()).is_some_and(|binary| binary.url.ends_with(MODULE))
}

impl DownloadOptions {
    /// The source with all options of its download.
    fn source(&self, source: &str, remote: &RemoteOptions) -> Result<String, String> {
        let said = [("sha256", &self.sha256), ("minisign", &self.minisign_key), ("bin", &self.bin)];
        let said: Vec<_> =
            said.iter().filter_map(|(name, value)| Some(format!("{name}={}", value.as_ref()?))).collect();
        let Some(text) = source.strip_prefix("binary:").or_else(|| module(source)) else {
            return match said.is_empty() {
                true => Ok(source.to_owned()),
                false => {
                    Err("--sha256, --minisign-key and --bin are for downloaded programs: binary:URL, or a URL that ends in .wasm".into())
                }
            };
        };
        if remote.is_spoken_to() {
            return Err("--transport and --header are for remote servers".into());
        }
        let allowed = [("allow=http", remote.allow_http), ("allow=private", remote.allow_private)];
        let allowed = allowed.into_iter().filter(|(_, is_said)| *is_said).map(|(word, _)| word.to_owned());
        let between = if text.contains('#') { "&" } else { "#" };
        let whole =
            format!("{text}{between}{}", said.into_iter().chain(allowed).collect::<Vec<_>>().join("&"));
        let binary = Binary::read(&whole)?;
        // An address alone does not vouch for a module.
        match source.starts_with("binary:") {
            true => Ok(format!("binary:{}", binary.spec())),
            false => sort(&binary.spec()).map(|_| format!("binary:{}", binary.spec())),
        }
    }
}
