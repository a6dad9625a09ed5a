//! Scripts that make a shell complete the words of `harbor`, made from the table of the commands.
//!
//! Owns what may stand at which place. What only a bridge knows, the scripts ask of `harbor complete`. Must never let a
//! shell run what a server is called: names come line by line, and only harmless ones.

use super::{EVERYWHERE, Opt, TOPICS, Topic};

/// A shell that there is a script for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shell {
    Bash,
    Zsh,
    Fish,
}

impl Shell {
    pub const ALL: [Self; 3] = [Self::Bash, Self::Zsh, Self::Fish];

    pub fn name(self) -> &'static str {
        match self {
            Self::Bash => "bash",
            Self::Zsh => "zsh",
            Self::Fish => "fish",
        }
    }

    /// Its script.
    pub fn script(self) -> String {
        match self {
            Self::Bash => include_str!("completions/bash.sh").replace("@TABLE@", &table()),
            Self::Zsh => include_str!("completions/zsh.sh").replace("@TABLE@", &table()),
            Self::Fish => include_str!("completions/fish.fish")
                .replace("@VALUED@", &format!("set -g __harbor_valued {}\n", names(valued)))
                .replace("@RULES@\n", &rules()),
        }
    }
}

/// Options with a value.
fn valued(option: &Opt) -> bool {
    !option.value.is_empty()
}

/// Options whose value is a path.
fn path(option: &Opt) -> bool {
    matches!(option.value, "DIR" | "PATH")
}

fn words<'a>(all: impl IntoIterator<Item = &'a str>) -> String {
    all.into_iter().filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
}

/// The names of those options of any command that are `such`, once each.
fn names(such: fn(&Opt) -> bool) -> String {
    let options = TOPICS.iter().flat_map(Topic::all_options).filter(|option| such(option));
    let mut names: Vec<_> = options.flat_map(|option| [option.name, option.short]).collect();
    names.sort_unstable();
    names.dedup();
    words(names)
}

/// What can stand at each place of a form: `servers`, `tools`, `listed` (either), `commands`, `shells`, or `-` for what nobody
/// can know.
fn places(form: &str) -> Vec<&'static str> {
    // The server of `harbor add` is a new one, and what follows is not ours.
    if form.contains(" -- ") {
        return Vec::new();
    }
    let place = |word: &str| match word.trim_matches(['[', ']', '…']) {
        "NAME" | "SERVER" => "servers",
        "NAME[/TOOL" => "listed",
        "SERVER/TOOL" => "tools",
        "ARGUMENTS" => "arguments",
        "CLIENT" | "CLIENT|FILE" => "clients",
        "ORIGIN" => "origins",
        "SCOPE" => "scopes",
        "COMMAND" => "commands",
        "SHELL" => "shells",
        "KEY" => "keys",
        _ => "-",
    };
    form.split(' ').filter(|word| !word.is_empty()).map(place).collect()
}

/// The word of ours that a form begins with, and the form behind it.
fn verb(form: &'static str) -> (&'static str, &'static str) {
    form.split_once(' ').unwrap_or((form, ""))
}

fn options(topic: &Topic) -> String {
    words(topic.all_options().chain(EVERYWHERE).flat_map(|option| [option.name, option.short]))
}

/// The table as functions and variables that bash and zsh both read.
fn table() -> String {
    let mut cases = String::new();
    for topic in TOPICS {
        let verbs = words(topic.forms.iter().map(|form| verb(form).0));
        let case = |name: &str, form: &str, verbs: &str| {
            format!(
                "    '{name}') options='{}' places='{}' verbs='{verbs}' ;;\n",
                options(topic),
                words(places(form))
            )
        };
        cases.push_str(&case(topic.name, topic.usage, &verbs));
        for (verb, form) in topic.forms.iter().map(|form| verb(form)) {
            cases.push_str(&case(&format!("{} {verb}", topic.name), form, ""));
        }
    }
    let everywhere = words(EVERYWHERE.iter().map(|option| option.name));
    format!(
        "_harbor_commands='{}'\n_harbor_shells='{}'\n_harbor_valued='{}'\n_harbor_paths='{}'\n\n\
         # Says by its variables what can stand behind these words.\n\
         _harbor_table() {{\n    case $1 in\n    '') options='{everywhere} --version' places='commands' verbs='' ;;\n{cases}    \
         *) options='{everywhere}' places='' verbs='' ;;\n    esac\n}}\n",
        words(TOPICS.iter().map(|topic| topic.name)),
        words(Shell::ALL.map(Shell::name)),
        names(valued),
        names(path),
    )
}

/// The same as rules of fish, with the texts of the help.
fn rules() -> String {
    let mut rules = vec![rule("__harbor_at", &format!("-l version -d {}", quoted("show the version")))];
    for option in EVERYWHERE {
        rules.push(format!("complete -c harbor {}", switch(option)));
    }
    for topic in TOPICS {
        rules.push(rule("__harbor_at", &format!("-a {} -d {}", topic.name, quoted(topic.summary))));
        let inside = format!("__harbor_in {}", topic.name);
        rules.extend(topic.all_options().map(|option| rule(&inside, &switch(option))));
        rules.extend(of_form(topic.name, topic.usage));
        for (verb, form) in topic.forms.iter().map(|form| verb(form)) {
            rules.push(rule(&format!("__harbor_at {}", topic.name), &format!("-a {verb}")));
            rules.extend(of_form(&format!("{} {verb}", topic.name), form));
        }
    }
    rules.join("\n") + "\n"
}

fn rule(condition: &str, rest: &str) -> String {
    format!("complete -c harbor -n {} {rest}", quoted(condition))
}

/// The rules of what stands behind the words `at`.
fn of_form(at: &str, form: &str) -> Vec<String> {
    places(form).into_iter().enumerate().filter_map(|(nth, kind)| place(at, nth, kind)).collect()
}

fn place(at: &str, nth: usize, kind: &str) -> Option<String> {
    let choices = match kind {
        "arguments" => {
            "(harbor complete arguments (commandline -ct) (__harbor_plain)[2] 2>/dev/null)".to_owned()
        }
        "keys" => "(harbor complete keys (commandline -ct) (__harbor_plain)[3] 2>/dev/null)".to_owned(),
        "servers" | "tools" | "listed" | "clients" | "scopes" | "origins" => {
            format!("(harbor complete {kind} (commandline -ct) 2>/dev/null)")
        }
        "commands" => words(TOPICS.iter().map(|topic| topic.name)),
        "shells" => words(Shell::ALL.map(Shell::name)),
        _ => return None,
    };
    let condition =
        if nth == 0 { format!("__harbor_at {at}") } else { format!("__harbor_behind {nth} {at}") };
    Some(rule(&condition, &format!("-a {}", quoted(&choices))))
}

fn switch(option: &Opt) -> String {
    let short = option.short.strip_prefix('-').map(|letter| format!("-s {letter} ")).unwrap_or_default();
    let value = match (valued(option), path(option)) {
        (_, true) => "-r -F ",
        (true, false) => "-x ",
        (false, false) => "",
    };
    let name = option.name.trim_start_matches('-');
    format!("{short}-l {name} {value}-d {}", quoted(option.meaning))
}

/// A word of fish, whatever is in it.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\\', "\\\\").replace('\'', "\\'"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_places_of_a_form() {
        assert_eq!(places("SERVER/TOOL [ARGUMENTS]"), ["tools", "arguments"]);
        assert_eq!(places("[NAME]"), ["servers"]);
        assert_eq!(places("[NAME[/TOOL]]"), ["listed"]);
        assert_eq!(places("NAME -- COMMAND ARGS…"), [""; 0]);
        assert_eq!(places(""), [""; 0]);
        assert_eq!(verb("read SERVER URI"), ("read", "SERVER URI"));
    }

    #[test]
    fn every_script_knows_every_command_and_option() {
        for shell in Shell::ALL {
            let script = shell.script();
            assert!(!script.contains("@TABLE") && !script.contains("@VALUED") && !script.contains("@RULES"));
            for topic in TOPICS {
                assert!(script.contains(topic.name), "{shell:?}: {}", topic.name);
                for option in topic.all_options() {
                    let name = option.name.trim_start_matches('-');
                    assert!(script.contains(name), "{shell:?}: {name}");
                }
            }
        }
    }

    #[test]
    fn no_option_has_a_value_in_one_command_and_none_in_another() {
        let (valued, switches) = (names(valued), names(|option| !valued(option)));
        let switches: Vec<_> = switches.split(' ').collect();
        let both: Vec<_> = valued.split(' ').filter(|name| switches.contains(name)).collect();
        assert_eq!(both, [""; 0]);
    }

    #[test]
    fn the_table_stands_in_single_quotes() {
        let table = table();
        assert!(table.lines().all(|line| line.matches('\'').count() % 2 == 0), "{table}");
        let line = "    'resources read') options='--save --json --help' places='servers -' verbs='' ;;\n";
        assert!(table.contains(line), "{table}");
        assert!(table.contains(" places='servers' verbs='read' ;;\n"), "{table}");
        assert_eq!(quoted("a\\'b"), "'a\\\\\\'b'");
    }
}
