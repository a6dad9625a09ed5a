//! The command line, read by clap.
//!
//! Owns the list of commands and how a wrong line is answered; a file of `args/` has the options of one group of commands, and its
//! doc comments are the help. Must never touch the system: what a word means on this machine is found out when the command runs.

mod about;
mod add;
mod arguments;
mod ask;
mod auth;
mod call;
mod catalog;
mod chat;
mod clients;

mod host;
mod install;
mod mcp;
mod models;
mod native_host;
mod offers;
mod sandbox;
mod secrets;
mod servers;
mod supervision;
mod times;
mod tool_use;
mod values;

use std::iter;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::parser::ValueSource;
use clap::{ArgMatches, CommandFactory, FromArgMatches, Parser, Subcommand};
use harbor_policy::origin::Origin;

pub use self::about::{HelpWanted, Kind, Names, Shell};
pub use self::add::{Definition, Remote};
pub use self::arguments::{Argument, Arguments, Value};
pub use self::ask::Question;
pub use self::auth::Auth;
pub use self::call::Call;
pub use self::catalog::{CatalogWanted, ListWanted, PageWanted};
pub use self::chat::{Chat, Form, Sessions};
pub use self::clients::{Import, Install, Source, Uninstall};

pub use self::host::{Accept, Asker, Audit, Grant, Granted, Listing, Revoke};
pub use self::install::{Package, Upgrade};
pub use self::mcp::{Mcp, McpWanted, TokenWanted};
pub use self::models::{Models, NewProvider, Tokens};
pub use self::native_host::{HostInstall, HostPlace, NativeHost};
pub use self::offers::{Prompt, Prompts, Reading, Resources};
pub use self::sandbox::{Sandbox, options_of};
use self::secrets::TYPED_VALUE;
pub use self::secrets::{Keeping, NewSecret, Secrets};
pub use self::servers::{Config, Logs, Removal, Set, StatusWanted};
pub use self::supervision::supervision_option;
pub use self::tool_use::{Approve, ToolUse, servers_of};
use self::values::{origin, server_id};
use harbor_client::errors::{Exit, Failure};

/// The help is laid out for this many places, also in a pipe.
const WIDTH: usize = 80;

/// Use MCP servers, each in a process of its own
#[derive(Debug, Parser)]
#[command(name = "harbor", disable_help_subcommand = true, args_override_self = true)]
struct Line {
    /// Print the answer, or the error, as JSON
    #[arg(long, global = true)]
    json: bool,
    /// Print the version
    #[arg(short = 'V', long)]
    version: bool,
    #[command(subcommand)]
    command: Option<Command>,
}

/// What is to be done.
#[derive(Debug, PartialEq, Eq, Subcommand)]
pub enum Command {
    Install(Box<Package>),
    Upgrade(Upgrade),
    /// Show where node, uv, git and other programs are
    ///
    /// The bridge looks in its own PATH, in that of your login shell, in version managers (nvm, fnm, volta, asdf, mise, pyenv),
    /// in Homebrew and in the usual directories. Servers and installers use what it finds.
    Runtimes,
    Add(Box<Definition>),
    Sandbox(Box<Sandbox>),
    /// Keep keys and passwords of servers
    ///
    /// Without more words: those of all servers, without their values. Encrypted secrets are locked after each start of the bridge, and
    /// servers wait, until `unlock` asks for the passphrase. docs/secrets.md says more.
    ///
    /// Example: `harbor secrets set weather API_KEY < key.txt`
    Secrets {
        #[command(subcommand)]
        wanted: Option<Secrets>,
    },
    Auth(Auth),
    Remove(Removal),
    /// Start a server
    ///
    /// A server that waits for its restart starts at once, and its restarts are counted anew.
    Start {
        /// The server's name
        #[arg(value_parser = server_id)]
        server: String,
    },
    /// Stop a server
    ///
    /// It stays stopped until `harbor start` or `harbor call` starts it, or the next bridge if it has --auto-start.
    Stop {
        /// The server's name
        #[arg(value_parser = server_id)]
        server: String,
    },
    /// Stop a server and start it again
    Restart {
        /// The server's name
        #[arg(value_parser = server_id)]
        server: String,
    },
    /// Show the servers and their states
    List,
    Set(Box<Set>),
    Tools(Listing),
    Accept(Accept),
    Call(Box<Call>),
    /// Show or read resources of servers
    Resources {
        /// Of this server; of all that run if absent
        #[arg(value_parser = server_id)]
        server: Option<String>,
        #[command(subcommand)]
        wanted: Option<Resources>,
    },
    /// Show or get prompts of servers
    Prompts {
        /// Of this server; of all that run if absent
        #[arg(value_parser = server_id)]
        server: Option<String>,
        #[command(subcommand)]
        wanted: Option<Prompts>,
    },
    Grant(Grant),
    Revoke(Revoke),
    /// Show what origins are allowed and forbidden
    Grants {
        /// Of this origin only
        #[arg(value_parser = origin)]
        origin: Option<Origin>,
    },
    Audit(Audit),
    /// Show how many calls there were, how long they took and how much they moved
    ///
    /// Counted since the bridge started. Your own calls are shown as those of `owner`.
    Stats {
        /// Of this origin only
        #[arg(value_parser = origin)]
        origin: Option<Origin>,
    },
    Logs(Logs),
    Status(StatusWanted),
    /// Watch all servers live; start and stop them
    ///
    /// `?` shows the keys. It needs a terminal; `harbor status --json` is for programs.
    Top,
    /// Ask whether all is well
    ///
    /// Prints ok, degraded or failing, and why. The exit code is 1 when it is failing, and 3 when no bridge runs; none is started.
    /// With --json: {state, reasons}.
    Health,
    /// Print the numbers for a monitoring system
    ///
    /// OpenMetrics text, as Prometheus reads it. It names origins only with `metrics.origins = true` in config.toml: what they call
    /// is what you browse. `harbor-bridge serve --metrics 127.0.0.1:9464`, or `metrics.listen` in config.toml, serves it over HTTP.
    /// With --json: {metrics}.
    Metrics,
    /// Find out what is wrong, and what to do about it
    ///
    /// Looks at the files of HARBOR_HOME, config.toml, the database, Harbor's programs and those that servers need, at what this
    /// kernel can hold servers to, and at servers that fail; starts a bridge if none runs. The exit code is 1 when something is
    /// broken, and 0 with warnings. With --json: {broken, warnings, findings}.
    Doctor {
        /// Repair modes of files, stale sockets, and what browsers know of Harbor
        #[arg(long)]
        fix: bool,
    },
    /// Show or check the configuration
    ///
    /// A bridge reads its file again when it changes; one that is wrong changes nothing, and `harbor health` says so.
    Config {
        #[command(subcommand)]
        wanted: Option<Config>,
    },
    /// Show each change of a server's state as it comes
    ///
    /// Runs until Ctrl-C. With --json: one JSON object per line.
    Events,
    /// Serve an AI client as one MCP server
    ///
    /// For the configuration of an AI client, which starts it and speaks MCP on its stdin and stdout. Tools and prompts are named
    /// server__tool there; prompts, resources and what a server may ask the client go with all tools of a server. That the command
    /// stands there is the consent: a NAME that comes for the first time gets all tools, or those of --only, as grants that `harbor
    /// grants` shows and `harbor revoke` takes back. `mcp.firstUse` in config.toml has it begin with none.
    ///
    /// Over HTTP, a client shows the token that `harbor mcp token CLIENT` made, as `Authorization: Bearer TOKEN`, and is client://NAME
    /// with it. MCP is at /mcp there.
    ///
    /// Example: `harbor mcp --client claude-code --only 'time/*'`
    Mcp {
        #[command(subcommand)]
        wanted: Option<McpWanted>,
        #[command(flatten)]
        serve: Mcp,
    },
    Import(Import),
    /// Make Harbor known to browsers
    ///
    /// Without more words: `status`. A Chromium from a snap or a flatpak cannot start native hosts. With another HARBOR_HOME than
    /// ~/.harbor the manifest names a script there, which says so.
    Host {
        #[command(subcommand)]
        wanted: Option<NativeHost>,
        #[command(flatten)]
        place: HostPlace,
    },
    /// Find servers that can be installed
    ///
    /// The catalog is fetched from the official registry and a community list, each hour and when you ask for it. Searching asks
    /// nobody: it is all on this machine. `[catalog]` in config.toml says where it comes from, docs/catalog.md what is asked of whom.
    ///
    /// Example: `harbor catalog search time zone`
    Catalog {
        #[command(subcommand)]
        wanted: Option<CatalogWanted>,
        #[command(flatten)]
        list: ListWanted,
    },
    /// Use language models: your own, and services that you have a key for
    ///
    /// Without more words: the models of all providers. docs/models.md says more.
    ///
    /// Example: `harbor models detect`
    Models {
        #[command(subcommand)]
        wanted: Option<Models>,
    },
    Ask(Box<Question>),
    Chat(Chat),
    /// Look at conversations with language models, export and delete them
    ///
    /// Without more words: all of them, the one that was used last first. An ID may be cut short as long as it is clear. `harbor chat ID`
    /// goes on with one.
    ///
    /// Example: `harbor sessions export 3f2a91c0 > talk.md`
    Sessions {
        #[command(subcommand)]
        wanted: Option<Sessions>,
    },
    /// Ask whether the bridge is alive
    Ping,
    /// End the bridge
    ///
    /// Stops all servers. When no bridge runs, it says so and starts none.
    Shutdown,
    /// Print a completion script
    ///
    /// For bash: `source <(harbor completions bash)` in ~/.bashrc.
    ///
    /// For zsh: `source <(harbor completions zsh)` in ~/.zshrc, behind compinit.
    ///
    /// For fish: `harbor completions fish > ~/.config/fish/completions/harbor.fish`.
    Completions {
        /// For this shell
        shell: Shell,
    },
    Help(HelpWanted),
    /// Show the version
    Version,
    Complete(Names),
    /// What clap prints.
    #[command(skip)]
    Text(String),
}

impl Command {
    /// Whether what it prints is a text, and no answer that could be JSON.
    fn is_of_text(&self) -> bool {
        let is_server = matches!(self, Self::Mcp { wanted: None, .. });
        is_server
            || matches!(self, Self::Chat(_) | Self::Help(_) | Self::Completions { .. } | Self::Complete(_))
    }
}

/// The whole command line. Commands with their options, as derived, and what holds for all of them.
pub fn command() -> clap::Command {
    tidy(Line::command()).term_width(WIDTH).after_help(exits())
}

/// The help is as long with `-h` as with `--help`: a line for each option, and the notes below. An option's value may begin with a dash.
fn tidy(command: clap::Command) -> clap::Command {
    let text = command.get_long_about().map(ToString::to_string);
    let notes = text.as_deref().and_then(|text| text.split_once("\n\n")).map(|(_, notes)| notes.to_owned());
    let command = match notes {
        Some(notes) => command.long_about(None::<&str>).after_help(notes),
        None => command,
    };
    let command = command.mut_args(|arg| match arg.get_action().takes_values() && !arg.is_positional() {
        true => arg.allow_hyphen_values(true),
        false => arg,
    });
    command.mut_subcommands(tidy)
}

fn exits() -> String {
    let lines = Exit::ALL.iter().map(|(exit, meaning)| format!("\n  {}  {meaning}", *exit as u8));
    format!("Exit codes:{}", lines.collect::<String>())
}

/// Whether `--json` was asked for, even if the rest makes no sense.
pub fn wants_json(args: &[String]) -> bool {
    args.iter().take_while(|arg| *arg != "--").any(|arg| arg == "--json")
}

/// Reads the arguments, the program's name not among them.
pub fn parse(args: &[String]) -> Result<Command, Failure> {
    let mut command = command();
    let words = iter::once("harbor").chain(args.iter().map(String::as_str));
    let matches = match command.try_get_matches_from_mut(words) {
        Ok(matches) => matches,
        Err(help) if help.kind() == ErrorKind::DisplayHelp => return Ok(Command::Text(help.to_string())),
        Err(wrong) => return Err(refused(&wrong, args)),
    };
    let line = Line::from_arg_matches(&matches)
        .map_err(|wrong| Failure::Usage(format!("{}\n{}", said(&wrong).0, usage(&mut command, &matches))))?;
    if let Some(early) = early(&command, &matches) {
        return Err(Failure::Usage(format!("{early}\n{}", usage(&mut command, &matches))));
    }
    match line.command {
        _ if line.version => Ok(Command::Version),
        None => Ok(Command::Text(command.render_help().to_string())),
        Some(wanted) if line.json && wanted.is_of_text() => Err(Failure::Usage(format!(
            "--json has no meaning here: what is written is no answer of the bridge\n{}",
            usage(&mut command, &matches)
        ))),
        Some(wanted) => Ok(wanted),
    }
}

/// How a command is used; all of it without one.
pub fn help(words: &[String]) -> Result<String, Failure> {
    match parse(&[words, &["--help".to_owned()]].concat())? {
        Command::Text(text) => Ok(text),
        _ => Err(Failure::Usage("this is no command\n`harbor help` lists the commands".into())),
    }
}

/// An option of a command that stands before a word behind which it means nothing: `harbor mcp --lazy status`.
fn early(command: &clap::Command, matches: &ArgMatches) -> Option<String> {
    let (name, below) = matches.subcommand()?;
    let is_typed = |arg: &&clap::Arg| {
        let typed = Some(ValueSource::CommandLine);
        !arg.is_global_set()
            && arg.get_id() != "version"
            && matches.value_source(arg.get_id().as_str()) == typed
    };
    match command.get_arguments().find(is_typed) {
        Some(arg) => Some(format!("{arg} stands before `{name}`: what is for that stands behind it")),
        None => early(command.find_subcommand(name)?, below),
    }
}

/// `Usage: harbor …` of the command that was typed.
fn usage(command: &mut clap::Command, matches: &ArgMatches) -> String {
    match matches.subcommand() {
        Some((name, below)) if command.find_subcommand(name).is_some() => {
            command.find_subcommand_mut(name).map(|command| usage(command, below)).unwrap_or_default()
        }
        _ => command.render_usage().to_string(),
    }
}

/// What is wrong, in one line, and what to do about it.
fn said(error: &clap::Error) -> (String, String) {
    let text = error.to_string();
    let mut parts = text.strip_prefix("error: ").unwrap_or(&text).split("\n\n");
    let wrong = parts.next().unwrap_or_default().split_whitespace().collect::<Vec<_>>().join(" ");
    let more =
        parts.map(str::trim).filter(|part| !part.is_empty() && !part.starts_with("For more information"));
    (wrong, more.collect::<Vec<_>>().join("\n"))
}

/// What other programs call our commands, where it is spelt too differently to be guessed.
const ELSEWHERE: &[(&str, &str)] = &[
    ("delete", "remove SERVER"),
    ("ls", "list"),
    ("rm", "remove SERVER"),
    ("search", "catalog search WORDS"),
    ("show", "status SERVER"),
    ("uninstall", "remove SERVER"),
    ("update", "upgrade SERVER"),
];

fn refused(error: &clap::Error, args: &[String]) -> Failure {
    let mut plain = args.iter().map(String::as_str).filter(|word| !word.starts_with('-'));
    let is_secret =
        plain.next() == Some("secrets") && !matches!(plain.next(), Some("list" | "check" | "remove"));
    if is_secret && error.kind() == ErrorKind::UnknownArgument {
        return Failure::Usage(format!("{TYPED_VALUE}\n`harbor help secrets` lists what can be done"));
    }
    let (wrong, more) = said(error);
    let ours = match error.get(ContextKind::InvalidSubcommand) {
        Some(ContextValue::String(word)) => ELSEWHERE.iter().find(|(other, _)| other == word),
        _ => None,
    };
    Failure::Usage(match ours {
        Some((_, ours)) => {
            format!("{wrong}; did you mean `harbor {ours}`?\n`harbor help` lists the commands")
        }
        None if more.is_empty() => format!("{wrong}\n`harbor help COMMAND` shows how it is used"),
        None => format!("{wrong}\n{more}"),
    })
}

#[cfg(test)]
mod tests;
