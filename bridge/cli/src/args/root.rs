//! The help of `harbor` itself: commands in groups, examples, how to begin; and which options a command's help leaves out.
//!
//! Owns the groups and their order. A command's own doc comment says what it does.

use harbor_client::errors::Exit;

/// The help is laid out for this many places, also in a pipe.
pub(super) const WIDTH: usize = 80;

/// Where the summaries begin.
const COLUMN: usize = 14;

/// Each command once, those that a newcomer needs first.
const GROUPS: &[(&str, &[&str])] = &[
    ("Get started", &["setup", "install", "import", "mcp", "host", "list", "call", "doctor", "uninstall"]),
    (
        "Servers",
        &[
            "new",
            "add",
            "set",
            "edit",
            "sandbox",
            "start",
            "stop",
            "restart",
            "remove",
            "upgrade",
            "tools",
            "accept",
            "resources",
            "prompts",
            "catalog",
            "runtimes",
        ],
    ),
    ("Keys", &["secrets", "auth"]),
    ("Clients and sites", &["grants", "grant", "revoke", "approvals", "activity", "audit"]),
    ("Models", &["models", "ask", "chat", "sessions"]),
    ("Observe", &["status", "top", "logs", "events", "stats", "health", "metrics"]),
    ("System", &["service", "config", "ping", "shutdown", "completions", "docs", "help", "version"]),
];

/// Options that few people need, of the commands that have many.
const RARE: &[(&[&str], &[&str])] = &[(
    &["add", "install", "set"],
    &[
        "eof_grace",
        "term_grace",
        "restart_attempts",
        "restart_delays",
        "restart_jitter",
        "queue_wait",
        "hung_grace",
        "start_timeout",
        "restart",
        "call_timeout",
        "as_is",
        "engine",
        "transport",
        "allow_private",
        "allow_http",
        "sha256",
        "minisign_key",
        "bin",
        "required",
        "processes",
        "open_files",
        "file_size",
        "disk",
        "nice",
        "socket",
        "package",
        "root",
        "cwd",
        "keep_data",
        "memory",
    ],
)];

/// The text that `harbor` alone prints.
pub(super) const BEGIN: &str = "\
Harbor runs your MCP servers in sandboxes and gives them to AI clients and web pages.

Get started:
  harbor install time             install a server
  harbor call time/get_current_time timezone=Europe/Oslo
  harbor mcp install claude-code  let an AI client use your servers
  harbor import                   take over the servers that your AI clients have

`harbor doctor` finds what is wrong, `harbor help` lists all commands.";

/// The text that `harbor help` prints.
pub(super) fn help(command: &clap::Command) -> String {
    let mut text =
        "Run MCP servers in sandboxes, for AI clients and web pages\n\nUsage: harbor COMMAND\n".to_owned();
    for (title, names) in GROUPS {
        text.push_str(&format!("\n{title}:\n"));
        for name in *names {
            let about = command.find_subcommand(name).and_then(clap::Command::get_about);
            let about = about.map(ToString::to_string).unwrap_or_default();
            // What follows a colon is said by the command's own help.
            let fits = about.chars().count() + COLUMN + 2 <= WIDTH;
            let about =
                if fits { about.as_str() } else { about.split([':', ',']).next().unwrap_or_default() };
            text.push_str(&format!("  {name:<COLUMN$}{about}\n"));
        }
    }
    text.push_str(
        "\nOptions:\n  --json         Print the answer, or the error, as JSON\n  -V, --version  Print the version\n  \
         -h, --help     Print help\n\nExamples:\n  harbor install time\n  harbor mcp install claude-code\n  \
         harbor call time/get_current_time timezone=Europe/Oslo\n\n`harbor help COMMAND` shows how a command is used,\n\
         `harbor help exit-codes` what its exit code means.\n",
    );
    text
}

/// The text that `harbor help exit-codes` prints.
pub(super) fn exit_codes() -> String {
    let lines = Exit::ALL.iter().map(|(exit, meaning)| format!("\n  {}  {meaning}", *exit as u8));
    format!("Exit codes:{}\n", lines.collect::<String>())
}

/// The name of all commands together.
const PROGRAM: &str = "harbor";

/// The commands with shorter help: it leaves out options that few people need, and says where they are.
pub(super) fn folded(command: clap::Command) -> clap::Command {
    folded_below("", command)
}

/// Folds the rare options of one command. `above`: the names of its parents, each followed by a space; the
/// program itself has no name here.
fn folded_below(above: &str, command: clap::Command) -> clap::Command {
    let name = command.get_name().to_owned();
    let rare: Vec<_> =
        RARE.iter().filter(|(names, _)| names.contains(&name.as_str())).flat_map(|(_, ids)| *ids).collect();
    let has_many = rare.len();
    let notes = command.get_after_help().map(ToString::to_string);
    let command = command.mut_args(|arg| {
        let is_rare = rare.iter().any(|id| arg.get_id() == **id);
        // A list of two dozen words is no help.
        let is_long = arg.get_possible_values().len() > 12;
        arg.hide(is_rare).hide_possible_values(is_long)
    });
    let command = match has_many {
        0 => command,
        _ => {
            let more = format!("More options: `harbor help {above}{name} --help-all`");
            let notes = notes.map_or_else(|| more.clone(), |notes| format!("{more}\n\n{notes}"));
            command.after_help(notes)
        }
    };
    let below = if name == PROGRAM { String::new() } else { format!("{above}{name} ") };
    command.mut_subcommands(|command| folded_below(&below, command))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_command_is_in_one_group() {
        let command = super::super::command();
        let mut shown: Vec<_> = GROUPS.iter().flat_map(|(_, names)| *names).copied().collect();
        let all = command.get_subcommands().filter(|command| !command.is_hide_set());
        let mut all: Vec<_> = all.map(clap::Command::get_name).collect();
        shown.sort_unstable();
        all.sort_unstable();
        assert_eq!(shown, all);
    }

    #[test]
    fn rare_options_are_real_ones() {
        let command = super::super::command();
        for (names, ids) in RARE {
            let found = |id: &&&str| {
                let has = |name: &&str| {
                    let args =
                        command.find_subcommand(name).into_iter().flat_map(clap::Command::get_arguments);
                    args.into_iter().any(|arg| arg.get_id() == **id)
                };
                names.iter().any(has)
            };
            let lost: Vec<_> = ids.iter().filter(|id| !found(id)).collect();
            assert!(lost.is_empty(), "{lost:?}");
        }
    }
}
