//! The command line, read by clap.
//!
//! Owns the list of commands and the answer to a wrong line. A file of `args/` has the options of one group
//! of commands, and its doc comments are the help. Must never touch the system: the meaning of a word on this
//! machine is found out when the command runs.

mod about;
mod add;
mod approvals;
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
mod new;
mod offers;
mod page_rules;
mod root;
mod sandbox;
mod secrets;
mod servers;
mod setup;
mod supervision;
mod times;
mod tool_use;
mod values;

use std::iter;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::parser::ValueSource;
use clap::{ArgMatches, CommandFactory, FromArgMatches, Parser, Subcommand};
use harbor_policy::origin::Origin;

pub use self::about::{HelpWanted, NameKind, Names, ReferencePage, Shell};
pub use self::add::{Definition, Remote};
pub use self::approvals::{Approvals, No, RevokeAnswer, Yes};
pub use self::arguments::{Argument, Arguments, Value, arguments};
pub use self::ask::AskOptions;
pub use self::auth::Auth;
pub use self::call::Call;
pub use self::catalog::{CatalogWanted, ListWanted, PageWanted};
pub use self::chat::{Chat, Form, Sessions};
pub use self::clients::{Import, Install, Source, Uninstall};

pub use self::host::{Accept, Activity, Asker, Audit, Grant, Granted, Listing, Revoke, Switch};
pub use self::install::{Package, Upgrade};
pub use self::mcp::{Mcp, McpWanted, TokenWanted};
pub use self::models::{Models, NewEngine, NewModelFile, NewProvider, Recording, Tokens};
pub use self::native_host::{HostInstall, HostPlace, NativeHost};
pub use self::new::New;
pub use self::offers::{Prompt, Prompts, Reading, Resources, ShownPrompt};
pub use self::page_rules::PageRules;
use self::root::WIDTH;
pub use self::sandbox::{Sandbox, options_of};
use self::secrets::TYPED_VALUE;
pub use self::secrets::{Keeping, NewSecret, Secrets};
pub use self::servers::{Config, Logs, Removal, Set, StatusWanted};
pub use self::setup::{Service, Setup, TakeOff};
pub use self::supervision::supervision_option;
pub use self::tool_use::{Approve, ToolUse, servers_of};
use self::values::{origin, server_id};
use harbor_client::errors::Failure;

/// Run MCP servers in sandboxes, for AI clients and web pages
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

/// The commands.
#[derive(Debug, PartialEq, Eq, Subcommand)]
pub enum Command {
    Setup(Setup),
    Uninstall(TakeOff),
    Install(Box<Package>),
    Upgrade(Upgrade),
    /// Show where node, uv, git and other programs are
    ///
    /// The bridge looks in its own PATH, in that of your login shell, in version managers (nvm, fnm, volta,
    /// asdf, mise, pyenv), in Homebrew and in the usual directories. Servers and installers use the programs
    /// that it finds.
    Runtimes,
    New(New),
    Add(Box<Definition>),
    Sandbox(Box<Sandbox>),
    /// Manage keys and passwords of servers
    ///
    /// Without a subcommand: lists the secrets of all servers, without values. Encrypted secrets are locked
    /// after each start of the bridge; servers wait for them until you run `harbor secrets unlock`. More:
    /// docs/secrets.md.
    ///
    /// Example: `harbor secrets set weather API_KEY < key.txt`
    Secrets {
        #[command(subcommand)]
        wanted: Option<Secrets>,
    },
    Auth(Auth),
    #[command(alias = "rm")]
    Remove(Removal),
    /// Start a server
    ///
    /// A server that waits for a restart starts at once, and the count of restarts begins again.
    Start {
        /// The server's name
        #[arg(value_parser = server_id)]
        server: String,
    },
    /// Stop a server
    ///
    /// It stays stopped until `harbor start` or `harbor call` starts it, or until the bridge starts again.
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
    #[command(alias = "ls")]
    List,
    Set(Box<Set>),
    /// Change a server's definition in your editor
    ///
    /// Opens the definition that `harbor add` or `harbor import` stored, in $VISUAL or $EDITOR. The saved
    /// text is checked and applied as a whole; a server that runs is started again. Values of variables and
    /// headers are not shown: `***` stays as it is.
    Edit {
        /// The server's name
        #[arg(value_parser = server_id)]
        server: String,
    },
    Tools(Listing),
    Accept(Accept),
    Call(Box<Call>),
    /// List or read resources of servers
    Resources {
        /// This server only (default: all that run)
        #[arg(value_parser = server_id)]
        server: Option<String>,
        #[command(subcommand)]
        wanted: Option<Resources>,
    },
    /// List, show or get prompts of servers, and Harbor's own
    ///
    /// Harbor's own prompts (search, calendar, email, summarise, translate, compare-prices) are listed as those of
    /// `harbor`. `harbor prompts show harbor NAME` says which servers a prompt needs and how to get them, and
    /// `harbor ask --prompt NAME key=text` asks by it.
    Prompts {
        /// This server only (default: all that run)
        #[arg(value_parser = server_id)]
        server: Option<String>,
        #[command(subcommand)]
        wanted: Option<Prompts>,
    },
    Grant(Grant),
    Revoke(Revoke),
    /// Show what sites and clients may do
    Grants {
        /// This origin only
        #[arg(value_parser = origin)]
        origin: Option<Origin>,
    },
    /// Answer questions about calls, and take answers back
    ///
    /// Without a subcommand: lists the questions that wait for your answer or were missed in the last ten
    /// minutes, and the answers that stand. The first answer counts, wherever it comes from. An ID may be cut
    /// short as long as it is clear.
    ///
    /// Example: `harbor approvals yes 3f2a91c0 --for chat-tool`
    Approvals {
        #[command(subcommand)]
        wanted: Option<Approvals>,
    },
    Activity(Activity),
    Audit(Audit),
    /// Show numbers of calls: count, time, size
    ///
    /// Counted since the bridge started. Your own calls are those of `owner`.
    Stats {
        /// This origin only
        #[arg(value_parser = origin)]
        origin: Option<Origin>,
    },
    Logs(Logs),
    Status(StatusWanted),
    /// Watch all servers live; start and stop them
    ///
    /// `?` shows the keys. Needs a terminal; programs use `harbor status --json`.
    Top,
    /// Check health
    ///
    /// Prints ok, degraded or failing, and why. The exit code is 1 if it is failing, and 3 if no bridge runs; it starts none.
    /// With --json: {state, reasons}.
    Health,
    /// Print metrics for a monitoring system
    ///
    /// OpenMetrics text, for Prometheus. It names origins only with `metrics.origins = true` in config.toml,
    /// because they reveal your browsing. `harbor-bridge serve --metrics 127.0.0.1:9464`, or `metrics.listen`
    /// in config.toml, serves it over HTTP. With --json: {metrics}.
    Metrics,
    /// Find problems and how to solve them
    ///
    /// Checks the files in HARBOR_HOME, config.toml, the database, Harbor's programs and those that servers
    /// need, what this kernel can enforce, and servers that fail; starts a bridge if none runs. The exit code
    /// is 1 if there is an error, and 0 with warnings only. With --json: {broken, warnings, findings}.
    Doctor {
        /// Repair file modes, stale sockets and the manifests of browsers
        #[arg(long)]
        fix: bool,
        /// Also show checks that passed
        #[arg(short, long)]
        verbose: bool,
    },
    /// Show or check the configuration
    ///
    /// The bridge reads the file again when it changes; a file with a mistake changes nothing, and `harbor health` says so.
    Config {
        #[command(subcommand)]
        wanted: Option<Config>,
    },
    /// Follow changes of servers' states
    ///
    /// Runs until Ctrl-C. With --json: one JSON object per line.
    Events,
    /// Serve an AI client as one MCP server
    ///
    /// An AI client starts this command and speaks MCP on its stdin and stdout; `harbor mcp install` puts it
    /// into the client's configuration. Tools and prompts are named server__tool. Prompts, resources and
    /// questions of a server need a grant for all its tools. Adding the entry is the consent: a NAME that
    /// connects for the first time gets all tools, or those of --only, as grants that `harbor grants` shows
    /// and `harbor revoke` revokes. With `mcp.firstUse` in config.toml it starts with none.
    ///
    /// Over HTTP a client sends the token of `harbor mcp token CLIENT` as `Authorization: Bearer TOKEN`, and
    /// is client://NAME. The path is /mcp.
    ///
    /// Example: `harbor mcp --client claude-code --only 'time/*'`
    Mcp {
        #[command(subcommand)]
        wanted: Option<McpWanted>,
        #[command(flatten)]
        serve: Mcp,
    },
    Import(Import),
    /// Connect your browsers to Harbor
    ///
    /// Without a subcommand: `status`. A Chromium from a snap or a flatpak cannot start native hosts. If
    /// HARBOR_HOME is not ~/.harbor, the manifest names a script there that sets it.
    Host {
        #[command(subcommand)]
        wanted: Option<NativeHost>,
        #[command(flatten)]
        place: HostPlace,
    },
    /// Search the server catalog
    ///
    /// The catalog comes from the official registry and a community list, every hour and when you refresh it.
    /// Searches never leave this machine. `[catalog]` in config.toml sets the sources; docs/catalog.md says
    /// who is asked what.
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
    /// Without a subcommand: shows the models of all providers. More: docs/models.md.
    ///
    /// Example: `harbor models detect`
    Models {
        #[command(subcommand)]
        wanted: Option<Models>,
    },
    Ask(Box<AskOptions>),
    Chat(Chat),
    /// Look at conversations with language models, search, export, import and delete them
    ///
    /// Without a subcommand: shows all of them, the most recently used first. An ID may be cut short as long
    /// as it is clear. `harbor chat ID` goes on with one.
    ///
    /// Example: `harbor sessions export 3f2a91c0 > talk.md`
    Sessions {
        #[command(subcommand)]
        wanted: Option<Sessions>,
    },
    /// Run the bridge as a service of your session
    ///
    /// Without a subcommand: shows whether it is one.
    Service {
        #[command(subcommand)]
        wanted: Option<Service>,
    },
    /// Check that the bridge answers
    Ping,
    /// Stop the bridge and all servers
    ///
    /// If no bridge runs, it says so and starts none.
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
    /// Print a reference page as Markdown
    ///
    /// Example: `harbor docs protocol > protocol.md`
    Docs {
        /// The page
        page: ReferencePage,
    },
    /// Show the version
    Version,
    Complete(Names),
    /// A text that clap prints.
    #[command(skip)]
    Text(String),
}

impl Command {
    /// True if it prints a text, not an answer that could be JSON.
    fn is_of_text(&self) -> bool {
        let is_server = matches!(self, Self::Mcp { wanted: None, .. });
        is_server
            || matches!(
                self,
                Self::Chat(_)
                    | Self::Help(_)
                    | Self::Docs { .. }
                    | Self::Setup(_)
                    | Self::Uninstall(_)
                    | Self::Completions { .. }
                    | Self::Complete(_)
            )
    }
}

/// The whole command line. Commands with their options, as derived, and what holds for all of them.
pub fn command() -> clap::Command {
    let command = tidy(Line::command()).term_width(WIDTH);
    let help = root::help(&command);
    command.override_help(help)
}

/// The help is as long with `-h` as with `--help`: a line for each option, and the notes below. An option's
/// value may begin with a dash.
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

/// True if `--json` was typed, even if the rest makes no sense.
pub fn wants_json(args: &[String]) -> bool {
    args.iter().take_while(|arg| *arg != "--").any(|arg| arg == "--json")
}

/// Asks for the help with the options that few people need.
const HELP_ALL: &str = "--help-all";

/// Reads the arguments, the program's name not among them.
pub fn parse(args: &[String]) -> Result<Command, Failure> {
    let typed = args.iter().position(|arg| arg == "--").unwrap_or(args.len());
    if args[..typed].iter().any(|arg| arg == HELP_ALL) {
        let words = args[..typed].iter().filter(|arg| *arg != HELP_ALL && *arg != "help");
        return whole_help(&words.cloned().collect::<Vec<_>>());
    }
    let mut command = command();
    let words = || iter::once("harbor").chain(args.iter().map(String::as_str));
    let matches = match command.try_get_matches_from_mut(words()) {
        Ok(matches) => matches,
        Err(help) if help.kind() == ErrorKind::DisplayHelp => {
            let folded = root::folded(self::command()).try_get_matches_from(words());
            return Ok(Command::Text(folded.err().unwrap_or(help).to_string()));
        }
        Err(wrong) => return Err(refused(&wrong, args)),
    };
    let line = Line::from_arg_matches(&matches)
        .map_err(|wrong| Failure::Usage(format!("{}\n{}", said(&wrong).0, usage(&mut command, &matches))))?;
    if let Some(early) = early(&command, &matches) {
        return Err(Failure::Usage(format!("{early}\n{}", usage(&mut command, &matches))));
    }
    match line.command {
        _ if line.version => Ok(Command::Version),
        None => Ok(Command::Text(root::BEGIN.to_owned())),
        Some(wanted) if line.json && wanted.is_of_text() => Err(Failure::Usage(format!(
            "--json does not apply to this command\n{}",
            usage(&mut command, &matches)
        ))),
        Some(wanted) => Ok(wanted),
    }
}

/// The help of a command with all its options.
fn whole_help(words: &[String]) -> Result<Command, Failure> {
    let words = [&["harbor".to_owned()], words, &["--help".to_owned()]].concat();
    match command().try_get_matches_from(words) {
        Err(help) if help.kind() == ErrorKind::DisplayHelp => Ok(Command::Text(help.to_string())),
        _ => Err(no_command()),
    }
}

fn no_command() -> Failure {
    Failure::Usage("there is no such command\n`harbor help` lists the commands".into())
}

/// The help of a command; all of the help without one.
pub fn help(words: &[String]) -> Result<String, Failure> {
    if words == ["exit-codes"] {
        return Ok(root::exit_codes());
    }
    match parse(&[words, &["--help".to_owned()]].concat())? {
        Command::Text(text) => Ok(text),
        _ => Err(no_command()),
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
        Some(arg) => Some(format!("{arg} must come after `{name}`")),
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

/// The error in one line, and the advice below it.
fn said(error: &clap::Error) -> (String, String) {
    let text = error.to_string();
    let mut parts = text.strip_prefix("error: ").unwrap_or(&text).split("\n\n");
    let wrong = parts.next().unwrap_or_default().split_whitespace().collect::<Vec<_>>().join(" ");
    let more =
        parts.map(str::trim).filter(|part| !part.is_empty() && !part.starts_with("For more information"));
    (wrong, more.collect::<Vec<_>>().join("\n"))
}

/// Names that other programs have for our commands, where the spelling is too different for a guess.
const ELSEWHERE: &[(&str, &str)] = &[
    ("allow", "grant ORIGIN SCOPE"),
    ("clients", "mcp status"),
    ("delete", "remove SERVER"),
    ("deny", "grant ORIGIN SCOPE --deny"),
    ("disable", "stop SERVER"),
    ("enable", "start SERVER"),
    ("exec", "call SERVER/TOOL"),
    ("get", "status SERVER"),
    ("info", "status SERVER"),
    ("inspect", "tools SERVER"),
    ("login", "auth SERVER"),
    ("permissions", "grants"),
    ("ps", "list"),
    ("run", "call SERVER/TOOL"),
    ("search", "catalog search WORDS"),
    ("show", "status SERVER"),
    ("ui", "top"),
    ("update", "upgrade SERVER"),
];

fn refused(error: &clap::Error, args: &[String]) -> Failure {
    let mut plain = args.iter().map(String::as_str).filter(|word| !word.starts_with('-'));
    let is_secret =
        plain.next() == Some("secrets") && !matches!(plain.next(), Some("list" | "check" | "remove"));
    if is_secret && error.kind() == ErrorKind::UnknownArgument {
        return Failure::Usage(format!("{TYPED_VALUE}\n`harbor help secrets` lists what can be done"));
    }
    if let Some(text) = undashed(error, args) {
        return Failure::Usage(text);
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

/// The advice for `harbor add x npx -y foo`, without `--` before the command. What follows may be a secret and is not repeated.
fn undashed(error: &clap::Error, args: &[String]) -> Option<String> {
    let plain: Vec<_> = args.iter().take_while(|arg| *arg != "--").collect();
    let [add, name, command, ..] = plain.as_slice() else { return None };
    let is_meant = *add == "add" && error.kind() == ErrorKind::UnknownArgument;
    let is_typed = plain.len() == args.len() && !name.starts_with('-') && !command.starts_with('-');
    (is_meant && is_typed).then(|| format!("put `--` before the command\n`harbor add {name} -- {command} …`"))
}

#[cfg(test)]
mod tests;
