//! The command line, read.
//!
//! Owns the way from words to a [`Command`]. Must never touch the system: what a word means on this machine
//! is found out when the command runs.

mod about;
mod arguments;
mod auth;
mod catalog;
mod clients;
mod host;
mod install;
mod mcp;
mod native_host;
mod offers;
mod remote;
mod sandbox;
mod secrets;
mod set;
mod supervision;
mod times;
mod values;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use harbor_client::errors::Failure;
use harbor_ipc_proto::client::{SandboxSettings, Supervision};
use harbor_policy::origin::Origin;
use harbor_policy::suggest::hint;

pub use self::about::Wanted;
pub use self::arguments::{Argument, Arguments, Value};
pub use self::auth::{Auth, NewAuth};
pub use self::catalog::{CatalogWanted, PageWanted};
pub use self::clients::{Clients, Import, Install, Source, Uninstall};
pub use self::host::{Accept, Asker, Audit, Grant, Listing, Revoke};
pub use self::install::{Package, Upgrade};
pub use self::mcp::{Mcp, TokenWanted};
pub use self::native_host::{HostInstall, HostPlace, NativeHost};
pub use self::offers::{Prompt, Reading, Whose};
use self::remote::OF_REMOTE;
pub use self::remote::Remote;
pub use self::sandbox::{Sandbox, options_of};
pub use self::secrets::{Keeping, NewSecret, Secrets};
pub use self::set::Set;
pub use self::supervision::supervision_option;
use self::values::{checked_id, variable};
use crate::help::{self, Opt, Shell, TOPICS, Topic};

/// What is to be done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Command {
    Help(Option<&'static str>),
    Manual,
    Completions(Shell),
    Complete(Wanted),
    Version,
    Add(Box<Definition>),
    Install(Box<Package>),
    Upgrade(Upgrade),
    Runtimes,
    Remove(Removal),
    Start(String),
    Stop(String),
    Restart(String),
    List,
    Tools(Listing),
    Accept(Accept),
    Call(Call),
    Resources(Whose),
    ReadResource(Reading),
    Prompts(Whose),
    GetPrompt(Prompt),
    Grant(Grant),
    Revoke(Revoke),
    Grants(Option<Origin>),
    Audit(Audit),
    Stats(Option<Origin>),
    Logs(Logs),
    Sandbox(Box<Sandbox>),
    Secrets(Secrets),
    Auth(Auth),
    Catalog(CatalogWanted),
    Set(Box<Set>),
    Status(StatusWanted),
    Top,
    Health,
    Metrics,
    Config(Config),
    /// Whether what can be mended is mended.
    Doctor(bool),
    Events,
    Mcp(Mcp),
    McpToken(TokenWanted),
    Clients(Clients),
    NativeHost(NativeHost),
    Import(Import),
    Ping,
    Shutdown,
}

/// A server as it was typed; paths may be relative.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Definition {
    pub name: String,
    pub label: Option<String>,
    pub cwd: Option<String>,
    pub env: BTreeMap<String, String>,
    pub roots: Vec<String>,
    /// What was said; the bridge fills up the rest.
    pub supervision: Supervision,
    pub as_is: bool,
    /// As said, too.
    pub sandbox: SandboxSettings,
    /// Names of secrets that it needs.
    pub secrets: Vec<String>,
    /// Whether it gets what an earlier server of this name has left.
    pub keep_data: bool,
    pub start: bool,
    /// Where it is, if that is elsewhere; then there is no command.
    pub remote: Option<Remote>,
    /// Empty where it is elsewhere, or an image.
    pub command: String,
    pub image: Option<String>,
    pub engine: Option<String>,
    pub args: Vec<String>,
}

/// A server to forget.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Removal {
    pub server: String,
    /// Whether its data go, too; where nothing was said, a person at a terminal is asked.
    pub data: Option<bool>,
}

/// A tool call as it was typed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Call {
    pub server: String,
    pub tool: String,
    pub arguments: Arguments,
    pub timeout: Option<Duration>,
    pub max_timeout: Option<Duration>,
    /// On whose behalf; the person's when absent.
    pub asker: Option<Asker>,
    /// The directory for what is no text.
    pub save: Option<String>,
}

/// Which log lines are wanted.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Logs {
    pub server: String,
    /// At most so many, the newest.
    pub lines: Option<u64>,
    /// Whether later ones are wanted too.
    pub follow: bool,
}

/// What of the status is wanted.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StatusWanted {
    /// Of this server only, and whether it can be started.
    pub server: Option<String>,
    /// Whether what processes use is measured first.
    pub fresh: bool,
    /// Whether what changes is wanted, too.
    pub follow: bool,
}

/// What of the configuration is wanted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Config {
    /// What is in force.
    Show,
    /// Whether a file could be; that of `HARBOR_HOME` when none is said.
    Check(Option<PathBuf>),
}

/// A command, and whether its result is to be JSON.
#[derive(Debug, PartialEq, Eq)]
pub struct Parsed {
    pub json: bool,
    pub command: Command,
}

/// Whether `--json` was asked for, even if the rest makes no sense.
pub fn wants_json(args: &[String]) -> bool {
    args.iter().take_while(|arg| *arg != "--").any(|arg| arg == "--json")
}

/// Reads the arguments, the program's name not among them. It is `now`, in milliseconds since 1970.
pub fn parse(args: &[String], now: u64) -> Result<Parsed, Failure> {
    let words = Words { now, ..Words::sort(args)? };
    let command = match words.topic {
        _ if words.version => Command::Version,
        topic if words.help => Command::Help(topic.map(|topic| topic.name)),
        None => Command::Help(None),
        Some(topic) => words
            .command(topic)
            .map_err(|wrong| Failure::Usage(format!("{wrong}\n{}", help::usage(topic))))?,
    };
    Ok(Parsed { json: words.json, command })
}

/// The arguments, sorted by kind.
#[derive(Debug, Default)]
struct Words {
    topic: Option<&'static Topic>,
    json: bool,
    help: bool,
    version: bool,
    plain: Vec<String>,
    options: Vec<(&'static str, String)>,
    /// What stands behind `--`.
    behind: Option<Vec<String>>,
    /// In milliseconds since 1970.
    now: u64,
}

impl Words {
    fn sort(args: &[String]) -> Result<Self, Failure> {
        let mut words = Self::default();
        let mut args = args.iter();
        while let Some(arg) = args.next() {
            match (arg.as_str(), words.topic) {
                ("--", _) => {
                    words.behind = Some(args.cloned().collect());
                    break;
                }
                ("--json", _) => words.json = true,
                ("--help" | "-h", _) => words.help = true,
                ("--version" | "-V", None) => words.version = true,
                (option, topic) if option.len() > 1 && option.starts_with('-') => {
                    let (option, value) = take_option(option, topic, &mut args)?;
                    words.options.push((option.name, value));
                }
                (name, None) => words.topic = Some(find_command(name)?),
                (plain, Some(_)) => words.plain.push(plain.to_owned()),
            }
        }
        Ok(words)
    }

    fn command(&self, topic: &Topic) -> Result<Command, String> {
        if self.behind.is_some()
            && !matches!(topic.name, "add" | "install" | "call" | "resources" | "prompts")
        {
            return Err("`--` has no meaning here".into());
        }
        if self.json && matches!(topic.name, "help" | "completions" | "complete") {
            return Err(format!("`harbor {}` prints text: leave --json out", topic.name));
        }
        Ok(match topic.name {
            "add" => Command::Add(self.definition()?.into()),
            "install" => Command::Install(self.package()?.into()),
            "upgrade" => Command::Upgrade(self.upgrade()?),
            "remove" => Command::Remove(self.removal()?),
            "start" => Command::Start(self.server()?),
            "stop" => Command::Stop(self.server()?),
            "restart" => Command::Restart(self.server()?),
            "tools" => Command::Tools(self.listing()?),
            "accept" => Command::Accept(self.accept()?),
            "call" => Command::Call(self.call()?),
            "resources" => self.resources()?,
            "prompts" => self.prompts()?,
            "grant" => Command::Grant(self.grant()?),
            "revoke" => Command::Revoke(self.revoke()?),
            "grants" => Command::Grants(self.some_origin()?),
            "audit" => Command::Audit(self.audit()?),
            "stats" => Command::Stats(self.some_origin()?),
            "logs" => Command::Logs(self.logs()?),
            "mcp" => self.mcp_or_clients()?,
            "host" => self.native_host()?,
            "import" => Command::Import(self.import()?),
            "sandbox" => Command::Sandbox(self.sandbox()?.into()),
            "secrets" => Command::Secrets(self.secrets()?),
            "auth" => Command::Auth(self.auth()?),
            "catalog" => self.catalog()?,
            "set" => Command::Set(self.set()?.into()),
            "config" => Command::Config(self.config()?),
            "help" => self.help_wanted()?,
            "completions" => Command::Completions(self.completions()?),
            "complete" => Command::Complete(self.wanted()?),
            "status" => Command::Status(self.status_wanted()?),
            name => {
                self.at_most(0)?;
                match name {
                    "list" => Command::List,
                    "runtimes" => Command::Runtimes,
                    "top" => Command::Top,
                    "health" => Command::Health,
                    "metrics" => Command::Metrics,
                    "doctor" => Command::Doctor(self.has("--fix")),
                    "events" => Command::Events,
                    "ping" => Command::Ping,
                    "shutdown" => Command::Shutdown,
                    _ => Command::Version,
                }
            }
        })
    }

    fn removal(&self) -> Result<Removal, String> {
        let data = match (self.has("--data"), self.has("--keep-data")) {
            (true, true) => {
                return Err("--data deletes its data, and --keep-data keeps them: say one of them".into());
            }
            (false, false) => None,
            (data, _) => Some(data),
        };
        Ok(Removal { server: self.server()?, data })
    }

    fn config(&self) -> Result<Config, String> {
        self.at_most(2)?;
        match (self.plain.first().map(String::as_str), self.plain.get(1)) {
            (None | Some("show"), None) => Ok(Config::Show),
            (Some("check"), file) => Ok(Config::Check(file.map(PathBuf::from))),
            _ => Err("say `show`, or `check [FILE]`".into()),
        }
    }

    fn status_wanted(&self) -> Result<StatusWanted, String> {
        self.at_most(1)?;
        let server = self.plain.first().cloned();
        match (self.has("--fresh"), self.has("--follow")) {
            (true, true) => Err("--follow measures by itself; leave --fresh out".into()),
            (fresh, follow) if server.is_some() && (fresh || follow) => {
                Err("--fresh and --follow are for the status of everything: leave NAME out".into())
            }
            (fresh, follow) => Ok(StatusWanted { server, fresh, follow }),
        }
    }

    fn definition(&self) -> Result<Definition, String> {
        if self.has("--url") {
            return self.elsewhere();
        }
        self.none_of(OF_REMOTE, "is for a server that runs elsewhere; say where by --url")?;
        let image = self.option("--image").map(str::to_owned);
        let behind = self.behind.as_deref().unwrap_or_default();
        let (command, args) = match (&image, behind.split_first()) {
            (Some(_), _) => (String::new(), behind),
            (None, Some((command, args))) => (command.clone(), args),
            (None, None) => {
                return Err(
                    "put `--` and the server's command behind its name, or say --image or --url".into()
                );
            }
        };
        if command.is_empty() && image.is_none() {
            return Err("the server's command is empty".into());
        }
        if image.is_none() && self.option("--engine").is_some() {
            return Err("--engine belongs to --image: it says what runs the image".into());
        }
        Ok(Definition {
            name: self.server()?,
            label: self.option("--label").map(str::to_owned),
            cwd: self.named("--cwd", "a directory; `.` is the current one")?.pop(),
            env: self.all("--env").map(variable).collect::<Result<_, _>>()?,
            roots: self.named("--root", "a file or directory; `.` is the current one")?,
            supervision: self.supervision()?,
            as_is: self.has("--as-is"),
            sandbox: self.sandbox_settings()?,
            secrets: self.named("--secret", "a secret, such as API_KEY")?,
            keep_data: self.has("--keep-data"),
            start: !self.has("--no-start"),
            remote: None,
            command,
            image,
            engine: self.option("--engine").map(str::to_owned),
            args: args.to_vec(),
        })
    }

    fn call(&self) -> Result<Call, String> {
        let words = self.all_plain();
        let (target, words) = words.split_first().ok_or("which tool? Name it as SERVER/TOOL")?;
        let (server, tool) = target.split_once('/').unwrap_or((target, ""));
        if tool.is_empty() {
            return Err(format!("{target}: a tool is named as SERVER/TOOL"));
        }
        let (timeout, max_timeout) = self.call_timeouts()?;
        let (arguments, asker) = (Arguments::read(words)?, self.on_behalf()?);
        let (server, tool, save) = (checked_id(server)?, tool.to_owned(), self.save()?);
        Ok(Call { server, tool, arguments, timeout, max_timeout, asker, save })
    }

    fn logs(&self) -> Result<Logs, String> {
        Ok(Logs { server: self.server()?, lines: self.whole("--lines", 1000)?, follow: self.has("--follow") })
    }
}

fn find_command(name: &str) -> Result<&'static Topic, Failure> {
    let lost = || Failure::Usage(format!("{}\n`harbor help` lists the commands", unknown_command(name)));
    help::find(name).ok_or_else(lost)
}

/// What other programs call ours, where it is spelt too differently to be guessed.
const ELSEWHERE: &[(&str, &str)] = &[
    ("delete", "remove NAME"),
    ("ls", "list"),
    ("rm", "remove NAME"),
    ("search", "catalog search WORDS…"),
    ("show", "status NAME"),
    ("uninstall", "remove NAME"),
    ("update", "upgrade NAME"),
];

fn unknown_command(name: &str) -> String {
    match ELSEWHERE.iter().find(|(other, _)| *other == name) {
        Some((_, ours)) => format!("unknown command {name}; did you mean `harbor {ours}`?"),
        None => format!("unknown command {name}{}", hint(name, TOPICS.iter().map(|topic| topic.name))),
    }
}

/// An option with its value, which follows behind `=` or as the next word.
fn take_option<'a>(
    word: &str,
    topic: Option<&'static Topic>,
    rest: &mut impl Iterator<Item = &'a String>,
) -> Result<(&'static Opt, String), Failure> {
    let (name, inline) = word.split_once('=').map_or((word, None), |(name, value)| (name, Some(value)));
    let known = || topic.into_iter().flat_map(Topic::all_options);
    let wrong = |text: String| {
        let usage = topic.map_or_else(|| "`harbor help` lists the commands".into(), help::usage);
        Failure::Usage(format!("{text}\n{usage}"))
    };
    let Some(option) = known().find(|option| [option.name, option.short].contains(&name)) else {
        let names = known().map(|option| option.name).chain(["--json", "--help"]);
        return Err(wrong(format!("unknown option {name}{}", hint(name, names))));
    };
    let value = match (option.value, inline) {
        ("", None) => Some(String::new()),
        ("", Some(_)) => return Err(wrong(format!("{name} takes no value"))),
        (_, Some(value)) => Some(value.to_owned()),
        (_, None) => rest.next().cloned(),
    };
    value.map(|value| (option, value)).ok_or_else(|| wrong(format!("{name} needs a value: {}", option.value)))
}

#[cfg(test)]
mod tests;
