//! The commands, their options and what they do: one table for the parser and for the help.
//!
//! Owns the texts. Must never parse: args.rs reads the command line with this table.

use crate::errors::Exit;

/// A command.
#[derive(Debug)]
pub struct Topic {
    pub name: &'static str,
    /// What stands behind the name, options aside.
    pub usage: &'static str,
    pub summary: &'static str,
    pub options: &'static [Opt],
    pub notes: &'static str,
}

/// An option of a command.
#[derive(Debug)]
pub struct Opt {
    pub name: &'static str,
    /// The name of its value; empty for a switch.
    pub value: &'static str,
    pub meaning: &'static str,
}

const fn opt(name: &'static str, value: &'static str, meaning: &'static str) -> Opt {
    Opt { name, value, meaning }
}

const fn topic(name: &'static str, usage: &'static str, summary: &'static str) -> Topic {
    Topic { name, usage, summary, options: &[], notes: "" }
}

/// Every command, in the order of the help.
pub const TOPICS: &[Topic] = &[
    Topic {
        options: &[
            opt("--label", "TEXT", "a name for people"),
            opt("--cwd", "DIR", "the directory to run in; the server's own data directory if absent"),
            opt("--env", "KEY=VALUE", "an environment variable for the server; repeat for more"),
            opt("--root", "PATH", "a directory that the server may ask for as its root; repeat for more"),
            opt("--start-timeout", "SECONDS", "how long a start may take: 1 to 600, 90 if absent"),
            opt("--no-start", "", "only store the definition"),
        ],
        notes: "COMMAND is a path, or a name that the bridge looks up in its PATH. The same NAME again replaces\n\
                the definition. If the server does not start, the definition stays and the exit code says so.\n\
                \n\
                harbor add time -- uvx mcp-server-time",
        ..topic("add", "NAME -- COMMAND ARGS…", "define a server and start it")
    },
    Topic {
        notes: "A running server is stopped first. Its data directory stays.",
        ..topic("remove", "NAME", "forget a server")
    },
    topic("start", "NAME", "start a server"),
    topic("stop", "NAME", "stop a server"),
    topic("list", "", "show the servers and their states"),
    Topic {
        notes: "Without NAME: the tools of all running servers.",
        ..topic("tools", "[NAME]", "show the tools of running servers")
    },
    Topic {
        options: &[opt("--timeout", "SECONDS", "how long the call may take: up to 3600, 30 if absent")],
        notes: "The arguments are a JSON object; `-` reads it from stdin. A server that is stopped is started.\n\
                \n\
                harbor call time/get_current_time '{\"timezone\": \"Europe/Oslo\"}'",
        ..topic("call", "SERVER/TOOL [ARGUMENTS]", "call a tool")
    },
    Topic {
        options: &[opt("--lines", "N", "how many of the newest lines, 200 if absent")],
        ..topic("logs", "NAME", "show what a server logged")
    },
    topic("ping", "", "ask whether the bridge is alive"),
    Topic {
        notes: "Stops all servers. When no bridge runs, it says so and starts none.",
        ..topic("shutdown", "", "end the bridge")
    },
    topic("help", "[COMMAND]", "show this, or how a command is used"),
    topic("version", "", "show the version"),
];

/// The options of every command.
const EVERYWHERE: &[Opt] = &[
    opt("--json", "", "print the answer, or the error, as JSON"),
    opt("--help", "", "show how the command is used"),
];

/// The command of that name.
pub fn find(name: &str) -> Option<&'static Topic> {
    TOPICS.iter().find(|topic| topic.name == name)
}

/// `usage: harbor …` in one line.
pub fn usage(topic: &Topic) -> String {
    let options = if topic.options.is_empty() { "" } else { " [OPTIONS]" };
    let behind = if topic.usage.is_empty() { String::new() } else { format!(" {}", topic.usage) };
    // The server's own arguments end the line, so our options stand before the dashes.
    match behind.split_once(" -- ") {
        Some((before, after)) => format!("usage: harbor {}{before}{options} -- {after}", topic.name),
        None => format!("usage: harbor {}{behind}{options}", topic.name),
    }
}

/// How one command is used.
pub fn explain(topic: &Topic) -> String {
    let mut text = format!("harbor {}: {}\n\n{}\n\n", topic.name, topic.summary, usage(topic));
    let options = topic.options.iter().chain(EVERYWHERE);
    text.push_str(&columns(options.map(|o| (format!("{} {}", o.name, o.value), o.meaning))));
    if !topic.notes.is_empty() {
        text.push('\n');
        text.push_str(topic.notes);
        text.push('\n');
    }
    text
}

/// All commands and all exit codes.
pub fn overview() -> String {
    let commands = columns(TOPICS.iter().map(|t| (format!("{} {}", t.name, t.usage), t.summary)));
    let everywhere = columns(EVERYWHERE.iter().map(|o| (o.name.to_owned(), o.meaning)));
    let exits = columns(Exit::ALL.iter().map(|(exit, meaning)| ((*exit as u8).to_string(), *meaning)));
    format!(
        "harbor: use MCP servers, each in a process of its own\n\n\
         usage: harbor COMMAND …\n\n\
         commands\n{commands}\neverywhere\n{everywhere}\nexit codes\n{exits}"
    )
}

fn columns<'a>(rows: impl Iterator<Item = (String, &'a str)>) -> String {
    let rows: Vec<_> = rows.collect();
    let width = rows.iter().map(|(left, _)| left.chars().count()).max().unwrap_or(0);
    let line = |(left, right): &(String, &str)| format!("  {left:width$}  {right}\n");
    rows.iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn usage_lines() {
        let line = |name| usage(find(name).unwrap());
        assert_eq!(line("add"), "usage: harbor add NAME [OPTIONS] -- COMMAND ARGS…");
        assert_eq!(line("call"), "usage: harbor call SERVER/TOOL [ARGUMENTS] [OPTIONS]");
        assert_eq!(line("list"), "usage: harbor list");
    }

    #[test]
    fn the_overview_has_every_command_and_exit_code_and_fits_a_terminal() {
        let text = overview();
        for topic in TOPICS {
            assert!(text.contains(&format!("\n  {} ", topic.name)), "{}", topic.name);
            assert!(explain(topic).lines().all(|line| line.chars().count() <= 110), "{}", topic.name);
        }
        assert!(text.contains("\n  7  the tool failed or reported an error\n"));
        assert!(text.lines().all(|line| line.chars().count() <= 80));
    }
}
