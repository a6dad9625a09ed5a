//! The commands, their options and what they do: one table for the parser and for the help.
//!
//! Owns how the help is laid out; the texts are in topics.rs. Must never parse: args.rs reads the command line with
//! this table.

mod completions;
mod man;
mod topics;

use harbor_client::errors::Exit;

pub use self::completions::Shell;
pub use self::man::page as manual;
pub use self::topics::TOPICS;
use crate::wrap::wrap;

/// The help is laid out for this many places, also in a pipe.
const WIDTH: usize = 80;

/// A command.
#[derive(Debug)]
pub struct Topic {
    pub name: &'static str,
    /// What stands behind the name, options aside.
    pub usage: &'static str,
    /// What else may stand there: a word of ours, and what belongs to it.
    pub forms: &'static [&'static str],
    pub summary: &'static str,
    pub options: &'static [Opt],
    /// More options, under a title: a command with many stays readable.
    pub groups: &'static [(&'static str, &'static [Opt])],
    pub notes: &'static str,
}

impl Topic {
    /// All its options, those of the groups too.
    pub fn all_options(&self) -> impl Iterator<Item = &'static Opt> {
        self.options.iter().chain(self.groups.iter().flat_map(|(_, options)| *options))
    }
}

/// An option of a command.
#[derive(Debug)]
pub struct Opt {
    pub name: &'static str,
    /// The same in one letter; empty for most.
    pub short: &'static str,
    /// The name of its value; empty for a switch.
    pub value: &'static str,
    pub meaning: &'static str,
}

impl Opt {
    /// As the help shows it: `-f, --follow`, `--lines N`.
    fn shown(&self) -> String {
        let comma = if self.short.is_empty() { "" } else { ", " };
        format!("{}{comma}{} {}", self.short, self.name, self.value).trim_end().to_owned()
    }
}

const fn opt(name: &'static str, value: &'static str, meaning: &'static str) -> Opt {
    Opt { name, short: "", value, meaning }
}

const fn topic(name: &'static str, usage: &'static str, summary: &'static str) -> Topic {
    Topic { name, usage, forms: &[], summary, options: &[], groups: &[], notes: "" }
}

/// The options of every command.
const EVERYWHERE: &[Opt] = &[
    opt("--json", "", "print the answer, or the error, as JSON"),
    opt("--help", "", "show how the command is used"),
];

/// The command of that name, also one that only scripts use.
pub fn find(name: &str) -> Option<&'static Topic> {
    TOPICS.iter().chain([&topics::COMPLETE]).find(|topic| topic.name == name)
}

/// `usage: harbor …`, a line for each form.
pub fn usage(topic: &Topic) -> String {
    let lines: Vec<_> = usages(topic).collect();
    format!("usage: {}", lines.join("\n       "))
}

/// `harbor …` for each form.
fn usages(topic: &Topic) -> impl Iterator<Item = String> {
    let options = if topic.all_options().next().is_none() { "" } else { " [OPTIONS]" };
    std::iter::once(&topic.usage).chain(topic.forms).map(move |form| {
        let behind = if form.is_empty() { String::new() } else { format!(" {form}") };
        // The server's own arguments end the line, so our options stand before the dashes.
        match behind.split_once(" -- ") {
            Some((before, after)) => format!("harbor {}{before}{options} -- {after}", topic.name),
            None => format!("harbor {}{behind}{options}", topic.name),
        }
    })
}

/// How one command is used.
pub fn explain(topic: &Topic) -> String {
    let mut text = format!("harbor {}: {}\n\n{}\n\n", topic.name, topic.summary, usage(topic));
    let common: Vec<&Opt> = topic.options.iter().chain(EVERYWHERE).collect();
    let width = topic.all_options().chain(EVERYWHERE).map(|o| o.shown().chars().count()).max().unwrap_or(0);
    text.push_str(&columns(common.iter().map(|o| (o.shown(), o.meaning)), width));
    for (title, options) in topic.groups {
        text.push_str(&format!("\n{title}\n"));
        text.push_str(&columns(options.iter().map(|o| (o.shown(), o.meaning)), width));
    }
    if !topic.notes.is_empty() {
        text.push('\n');
        text.push_str(&notes(topic.notes));
    }
    text
}

/// Paragraphs; commands and what is indented keep their lines.
fn notes(notes: &str) -> String {
    let paragraph = |text: &str| match is_typed(text) {
        true => format!("{text}\n"),
        false => wrap(&text.replace('\n', " "), WIDTH, 0) + "\n",
    };
    notes.split("\n\n").map(paragraph).collect::<Vec<_>>().join("\n")
}

/// Whether a paragraph of notes is a list or what is to be typed.
fn is_typed(paragraph: &str) -> bool {
    paragraph.lines().all(|line| line.starts_with(' ') || line.starts_with("harbor "))
}

/// All commands and all exit codes.
pub fn overview() -> String {
    let commands = columns(TOPICS.iter().map(|t| (format!("{} {}", t.name, t.usage), t.summary)), 0);
    let everywhere = columns(EVERYWHERE.iter().map(|o| (o.shown(), o.meaning)), 0);
    let exits = columns(Exit::ALL.iter().map(|(exit, meaning)| ((*exit as u8).to_string(), *meaning)), 0);
    format!(
        "harbor: use MCP servers, each in a process of its own\n\n\
         usage: harbor COMMAND …\n\n\
         commands\n{commands}\neverywhere\n{everywhere}\nexit codes\n{exits}"
    )
}

/// Two columns; the left one has at least `width` places.
fn columns<'a>(rows: impl Iterator<Item = (String, &'a str)>, width: usize) -> String {
    let rows: Vec<_> = rows.collect();
    let width = rows.iter().map(|(left, _)| left.chars().count()).max().unwrap_or(0).max(width);
    let line =
        |(left, right): &(String, &str)| wrap(&format!("  {left:width$}  {right}"), WIDTH, width + 4) + "\n";
    rows.iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    use harbor_policy::scope::Scope;

    use super::*;

    #[test]
    fn usage_lines() {
        let line = |name| usage(find(name).unwrap());
        assert_eq!(line("add"), "usage: harbor add NAME [OPTIONS] -- COMMAND ARGS…");
        assert_eq!(line("call"), "usage: harbor call SERVER/TOOL [ARGUMENTS] [OPTIONS]");
        assert_eq!(line("list"), "usage: harbor list");
        assert_eq!(
            line("resources"),
            "usage: harbor resources [SERVER] [OPTIONS]\n       harbor resources read SERVER URI [OPTIONS]"
        );
    }

    #[test]
    fn the_help_of_grant_has_every_scope() {
        let words: Vec<_> = find("grant").unwrap().notes.split_whitespace().collect();
        for scope in Scope::ALL {
            assert!(words.contains(&scope.as_str()), "{scope:?}");
        }
    }

    #[test]
    fn the_overview_has_every_command_and_exit_code_and_fits_a_terminal() {
        let text = overview();
        for topic in TOPICS {
            assert!(text.contains(&format!("\n  {} ", topic.name)), "{}", topic.name);
            let wide = explain(topic).lines().find(|line| line.chars().count() > WIDTH).map(str::to_owned);
            assert_eq!(wide, None, "{}", topic.name);
        }
        assert!(text.contains("\n  7  the tool failed or reported an error\n"));
        assert!(text.lines().all(|line| line.chars().count() <= WIDTH));
    }
}
