//! The command line is what commands.txt says: each command, each argument and option, each exit code.
//!
//! Looks at what is accepted, never at a sentence.

use std::collections::BTreeMap;

use harbor_ipc_proto::codes::Code;

use super::super::{command, parse};
use harbor_client::errors::{Exit, Failure};

const TABLE: &str = include_str!("commands.txt");

/// What the table says of a command.
#[derive(Debug, Default)]
struct Entry {
    /// Its words, without `harbor`.
    path: Vec<&'static str>,
    /// `SERVER`, `[WORD]`, `WORDS…`, `[WORDS…]`; those behind `--` aside.
    arguments: Vec<&'static str>,
    /// What stands in brackets behind `--`.
    behind: Option<&'static str>,
    /// A line that is accepted.
    example: Vec<&'static str>,
    /// Each with a value, if it takes one, and a line for it.
    options: BTreeMap<&'static str, (Option<&'static str>, Vec<&'static str>)>,
}

fn words(text: &'static str) -> Vec<&'static str> {
    text.split_whitespace().collect()
}

fn table() -> Vec<Entry> {
    let mut entries: Vec<Entry> = Vec::new();
    let lines = TABLE.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    for line in lines.filter(|line| !line.starts_with("exit ") && !line.starts_with("refused ")) {
        let Some(more) = line.strip_prefix("    ") else {
            let (line, behind) =
                line.split_once(" [-- ").map_or((line, None), |(line, words)| (line, Some(words)));
            let is_argument = |word: &&str| word.contains(char::is_uppercase);
            let (arguments, path) = words(line).into_iter().partition(is_argument);
            entries.push(Entry { path, arguments, behind, ..Entry::default() });
            continue;
        };
        let entry = entries.last_mut().unwrap();
        if let Some(example) = more.strip_prefix("= ") {
            entry.example = words(example);
            continue;
        }
        let (option, base) =
            more.split_once(" : ").map_or((more, None), |(option, base)| (option, Some(base)));
        let (name, value) =
            option.split_once(' ').map_or((option, None), |(name, value)| (name, Some(value)));
        let base = base.map_or_else(|| entry.example.clone(), words);
        assert!(entry.options.insert(name, (value, base)).is_none(), "{line} stands twice");
    }
    entries
}

fn is_accepted(line: &[&str]) -> bool {
    let line: Vec<_> = line.iter().map(|word| (*word).to_owned()).collect();
    match parse(&line) {
        Ok(_) => true,
        Err(failure) => {
            assert_eq!(failure.exit(), Exit::Usage, "{line:?}");
            false
        }
    }
}

#[test]
fn each_option_of_the_table_is_accepted_with_its_value() {
    for Entry { path, example, options, .. } in table() {
        assert!(is_accepted(&example), "{example:?}");
        assert!(
            is_accepted(&[&path[..], &["--help"]].concat()) && is_accepted(&[&path[..], &["-h"]].concat())
        );
        for (name, (value, base)) in options {
            // Directly behind the command, so that a `--` of the line stands behind it.
            let open: Vec<_> = base.iter().copied().take_while(|word| *word != "--").collect();
            let accepted = |option: &[&str]| is_accepted(&[&path[..], option, &base[path.len()..]].concat());
            if let Some(value) = value {
                assert!(accepted(&[name, value]), "{path:?} {name}");
                let joined = format!("{name}={value}");
                assert!(!name.starts_with("--") || accepted(&[&joined]), "{path:?} {joined}");
                assert!(!is_accepted(&[&open[..], &[name]].concat()), "{path:?} {name} without its value");
                assert!(accepted(&[name, value, name, value]), "{path:?} {name} twice");
            } else {
                assert!(accepted(&[name]) && accepted(&[name, name]), "{path:?} {name}");
                assert!(!accepted(&[&format!("{name}=1")]), "{path:?} {name} with a value");
            }
        }
    }
}

/// That a command has no option beside those of the table is what `the_table_has_all_that_clap_knows` says.
#[test]
fn no_command_takes_an_option_that_nobody_has() {
    for Entry { path, example, .. } in table() {
        for option in ["--nonsense", "-Z"] {
            let line = [&path[..], &[option], &example[path.len()..]].concat();
            assert!(!is_accepted(&line), "{line:?}");
        }
    }
}

#[test]
fn no_command_does_with_less_arguments_or_takes_more() {
    for Entry { path, arguments, example, .. } in table() {
        let required = arguments.iter().filter(|argument| !argument.starts_with('[')).count();
        let open: Vec<_> = example.iter().copied().take_while(|word| *word != "--").collect();
        if required > 0 {
            let less = path.len() + required - 1;
            let line = [&example[..less], &example[open.len()..]].concat();
            assert!(!is_accepted(&line), "{line:?}");
        }
        if !arguments.iter().any(|argument| argument.contains('…')) {
            let surplus = vec!["surplus"; path.len() + arguments.len() + 1 - open.len()];
            let line = [&open[..], &surplus, &example[open.len()..]].concat();
            assert!(!is_accepted(&line), "{line:?}");
        }
    }
}

#[test]
fn the_exit_codes_are_those_of_the_table() {
    let exits = Exit::ALL.map(|(exit, _)| format!("exit {} {exit:?}", exit as u8));
    let of = |code: &Code| Failure::refused(*code, String::new(), "x").exit() as u8;
    let refused = Code::ALL.iter().map(|code| format!("refused {} {}", code.as_str(), of(code)));
    let found: Vec<_> = exits.into_iter().chain(refused).collect();
    let told = TABLE.lines().filter(|line| line.starts_with("exit ") || line.starts_with("refused "));
    assert_eq!(found, told.collect::<Vec<_>>());
}

/// What clap knows of a command and of those below it, in the words of the table.
fn known(command: &clap::Command, path: &[&str], found: &mut BTreeMap<String, Vec<String>>) {
    let shown = command.get_arguments().filter(|arg| !arg.is_hide_set() && arg.get_id() != "help");
    let mut words = Vec::new();
    for arg in shown {
        let is_valued = arg.get_action().takes_values();
        let value = if is_valued { " VALUE" } else { "" };
        let long = arg.get_long().map(|long| format!("--{long}{value}"));
        let short = arg.get_short().map(|short| format!("-{short}{value}"));
        words.extend(long.into_iter().chain(short));
        if arg.is_positional() {
            let many = arg.get_num_args().is_some_and(|count| count.max_values() > 1);
            let behind = if arg.is_last_set() { "-- " } else { "" };
            words.push(format!("{behind}argument, required: {}, many: {many}", arg.is_required_set()));
        }
    }
    words.sort();
    found.insert(path.join(" "), words);
    for below in command.get_subcommands() {
        known(below, &[path, &[below.get_name()]].concat(), found);
    }
}

#[test]
fn the_table_has_all_that_clap_knows() {
    let mut clap = command();
    clap.build();
    let mut found = BTreeMap::new();
    known(&clap, &[], &mut found);
    found.remove("");
    // These print a text: the option is refused when the line is read.
    let is_of_text = |path: &str| {
        matches!(path, "mcp" | "chat" | "setup" | "uninstall" | "help" | "docs" | "completions" | "complete")
    };
    let told: BTreeMap<_, _> = table()
        .into_iter()
        .map(|entry| {
            let path = entry.path.join(" ");
            let option = |(name, (value, _)): (&&str, &(Option<&str>, _))| match value {
                Some(_) => format!("{name} VALUE"),
                None => (*name).to_owned(),
            };
            let argument = |word: &&str| {
                let (is_optional, many) = (word.starts_with('['), word.contains('…'));
                format!("argument, required: {}, many: {many}", !is_optional)
            };
            let mut words: Vec<_> =
                entry.options.iter().map(option).chain(entry.arguments.iter().map(argument)).collect();
            words.extend(entry.behind.map(|_| "-- argument, required: false, many: true".to_owned()));
            words.extend(is_of_text(&path).then(|| "--json".to_owned()));
            words.sort();
            (path, words)
        })
        .collect();
    assert_eq!(found, told);
}
