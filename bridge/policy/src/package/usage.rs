//! Finds what a server lacks that did not start, by its words and its README: arguments, variables, an older library.
//!
//! Owns this reading. The words are other people's text: a person is told what to add, the package is kept for the next try, and
//! nothing else follows.

use super::dependency_conflict::of_dependencies;
use super::exit_words::{last_error, unknown_host};
use super::readme::start_in;
use super::readme_command::from_readme;
use super::typed::source_of;
use super::{Ecosystem, Package};

pub use super::readme_command::GivenArguments;

/// The beginnings of the line that shows a program's usage.
const USAGE: &[&str] = &["usage:", "usage -"];

/// Words by which a program says that it lacks an argument, in one line.
const LACKS: &[&str] = &[
    "missing required argument",
    "missing required option",
    "missing argument",
    "missing command",
    "missing option",
    "arguments are required",
    "required arguments were not provided",
    "argument is required",
    "required command was not provided",
    "required option",
    "not enough arguments",
    "no arguments provided",
    "no command specified",
    "no command provided",
    "expected at least",
];

/// Words that ask for something, and those that say that it is an argument.
const ASKS: &[&str] =
    &["required", "missing", "must", "please provide", "please specify", "needs", "requires"];
const OF_ARGUMENTS: &[&str] =
    &["as an argument", "as argument", "command line argument", "command-line argument"];

/// True if a server that did not start has said that arguments are missing, or has shown its usage.
/// `names_variable` is true if it has named a missing variable. Then a usage text alone is about something else.
pub(crate) fn wants_arguments(said: &str, names_variable: bool) -> bool {
    let lines = || said.lines().map(|line| without_number(line.trim()).to_ascii_lowercase());
    let has = |line: &str, words: &[&str]| words.iter().any(|words| line.contains(words));
    lines().any(|line| has(&line, LACKS) || (has(&line, ASKS) && has(&line, OF_ARGUMENTS)))
        || !names_variable && lines().any(|line| USAGE.iter().any(|start| line.starts_with(start)))
}

/// A line without the number of a process before it.
fn without_number(line: &str) -> &str {
    let number = line.strip_prefix('[').and_then(|rest| rest.split_once("] "));
    number
        .filter(|(number, _)| number.bytes().all(|byte| byte.is_ascii_digit()))
        .map_or(line, |(_, rest)| rest)
}

/// Parts or beginnings of lines in which a program says that it waits for requests at a port.
const LISTENS: &[&str] = &[
    "server listening on",
    "listening on port",
    "listening on http://",
    "running on http://",
    "running at http://",
];

/// True if a server that did not answer has said that it waits at a port, and so not at its standard input.
#[must_use]
pub fn listens(said: &str) -> bool {
    let said = said.to_ascii_lowercase();
    LISTENS.iter().any(|words| said.contains(words)) || endpoint(&said).is_some()
}

/// The words of Python where a server was written for version 1 of MCP's SDK but got a newer one, which nothing forbids.
const OF_OLD_SDK: &[&str] = &["'Server' object has no attribute", "from 'mcp.", "No module named 'mcp."];

/// The sentence about such a server, and the option that helps.
const OLD_SDK: &str = "it was written for an older version of MCP's Python SDK";
const WITH_OLD_SDK: &str = "--with 'mcp<2'";

/// The sentence about a server that waits at a port.
const AT_A_PORT: &str = "it listens on a port instead of reading its standard input";

/// The advice about a server that said this when it did not start, if there is any. `named` is the variable
/// that it says it lacks. `readme` is the README of its package.
#[must_use]
pub fn next_try(
    package: &Package,
    said: &str,
    named: Option<&str>,
    readme: Option<&str>,
    given: GivenArguments<'_>,
) -> Option<String> {
    // What a repository holds is not known here; only Python says so.
    let is_python = matches!(package.ecosystem, Ecosystem::Pypi | Ecosystem::Git);
    let is_old = is_python && OF_OLD_SDK.iter().any(|words| said.contains(words));
    if !is_old {
        let error = last_error(said);
        if let Some(told) = of_dependencies(package, &error).or_else(|| unknown_host(&error)) {
            return Some(told);
        }
    }
    let with = is_old.then_some(WITH_OLD_SDK);
    let start = readme.and_then(|readme| start_in(readme, package, said));
    match start.and_then(|start| from_readme(package, start, (named, said), with, given)) {
        Some(told) if is_old => Some(format!("{OLD_SDK}; {told}")),
        Some(told) if listens(said) => Some(format!("{AT_A_PORT}; {told}")),
        Some(told) => Some(told),
        None => by_its_words(package, said, named.is_some(), is_old),
    }
}

/// The advice without a README.
fn by_its_words(package: &Package, said: &str, names_variable: bool, is_old: bool) -> Option<String> {
    let source = source_of(package);
    let with_arguments = || format!("give it arguments after --: `harbor install {source} -- …`");
    if wants_arguments(said, names_variable) {
        return Some(with_arguments());
    }
    if is_old {
        return Some(format!("{OLD_SDK}: `harbor install {source} {WITH_OLD_SDK}`"));
    }
    let told = || format!("{AT_A_PORT}; an argument such as --stdio may change that: {}", with_arguments());
    endpoint(said).or_else(|| listens(said).then(told))
}

/// The sentence that it is a server of HTTP, by the address that it names as its endpoint. Harbor does not start such servers.
fn endpoint(said: &str) -> Option<String> {
    let words = said.split(|c: char| c.is_whitespace() || "\"'`,;()<>".contains(c));
    let is_endpoint = |word: &&str| {
        let rest = OF_THIS_MACHINE.iter().find_map(|start| word.strip_prefix(start));
        let port = rest.and_then(|rest| rest.strip_suffix("/mcp"));
        port.is_some_and(|port| port.parse::<u16>().is_ok())
    };
    let address = words.map(|word| word.trim_end_matches('.')).find(is_endpoint)?;
    Some(format!("{AT_A_PORT}: start it yourself, then run `harbor install {address}`"))
}

/// The beginnings of addresses of this machine.
const OF_THIS_MACHINE: &[&str] = &["http://localhost:", "http://127.0.0.1:", "http://[::1]:"];

#[cfg(test)]
mod tests {
    use super::super::recognise;
    use super::*;

    #[test]
    fn texts_of_real_servers_are_read() {
        for said in [
            "usage: mcp-server-duckdb [-h] --db-path DB_PATH\nmcp-server-duckdb: error: the following arguments are required: --db-path",
            "Usage: npx tsx src/proxy.ts <https://server-url> [callback-port] [--debug]",
            "Required command was not provided.\n\nUsage:\n  azmcp [command] [options]",
            "Usage: excel-mcp-server [OPTIONS] COMMAND [ARGS]...\n\nError: Missing command.",
            "Error: Please provide a database file path as an argument for SQLite",
            "error: the following required arguments were not provided:\n  <DB>",
            "[13] Usage: mcp-remote <https://server-url> [callback-port] [--debug]",
        ] {
            assert!(wants_arguments(said, false), "{said}");
        }
        for said in [
            "Either FIGMA_API_KEY or FIGMA_OAUTH_TOKEN is required (via CLI argument or .env file)",
            "TypeError: the argument must be a string",
            "disk usage: 10 %\nError: connect ECONNREFUSED",
            "",
        ] {
            assert!(!wants_arguments(said, false), "{said}");
        }
        assert!(listens("[INFO] HTTP server listening on port 3333") && !listens("Server running on stdio"));
        assert!(!wants_arguments("API_KEY must be set\nUsage: API_KEY=… server", true));
        assert!(wants_arguments("the following arguments are required: DB_PATH", true));
    }

    #[test]
    fn the_next_try_is_written_as_it_is_typed() {
        let told = |source: &str, said: &str| {
            next_try(&recognise(source, &[]).unwrap(), said, None, None, GivenArguments::default())
        };
        let lacks = "usage: a B";
        assert_eq!(
            told("npm:@a/b@1.2", lacks).unwrap(),
            "give it arguments after --: `harbor install npm:@a/b@1.2 -- …`"
        );
        assert!(told("pypi:b>=1", lacks).unwrap().contains("`harbor install 'pypi:b>=1' -- …`"));
        assert!(told("npm:b", "HTTP server listening on port 3333").unwrap().contains("--stdio"));
        let of_sdk = "AttributeError: 'Server' object has no attribute 'list_resources'";
        assert!(told("pypi:b", of_sdk).unwrap().ends_with("`harbor install pypi:b --with 'mcp<2'`"));
        assert_eq!((told("npm:b", of_sdk), told("pypi:b", "")), (None, None));
        assert!(
            told("git:https://h/b", of_sdk)
                .unwrap()
                .ends_with("`harbor install git:https://h/b --with 'mcp<2'`")
        );
        let http = "Endpoint will be: http://localhost:3001/mcp\nlisten EACCES 0.0.0.0:3001";
        assert!(
            told("git:https://h/b", http)
                .unwrap()
                .ends_with("then run `harbor install http://localhost:3001/mcp`")
        );
        assert!(listens(http) && !listens("see http://localhost:3001/docs"));
    }

    const README: &str = r#"
"mcpServers": { "b": { "command": "npx", "args": ["-y", "b", "--b-api-key=YOUR-KEY", "--stdio", "it's"],
  "env": { "B_MODE": "fast", "B_HOST": "<your host>" } } }
or set `B_API_KEY`"#;

    #[test]
    fn a_readme_gives_one_whole_command_of_what_was_not_given() {
        let told = |said: &str, named: Option<&str>, args: &[&str], names: &[&str]| {
            let [args, names] =
                [args, names].map(|words| words.iter().map(ToString::to_string).collect::<Vec<_>>());
            let package = recognise("npm:b", &[]).unwrap();
            next_try(&package, said, named, Some(README), GivenArguments { args: &args, names: &names })
        };
        let listens = "HTTP server listening on port 3333";
        let whole = r"`harbor install npm:b --env B_HOST=… --env B_MODE=fast --secret B_API_KEY -- --stdio 'it'\''s'`";
        let wanted = format!(
            "it listens on a port instead of reading its standard input; its README starts it like this: {whole}"
        );
        assert_eq!(told(listens, None, &[], &[]).unwrap(), wanted);
        let lacks = "B_API_KEY is required";
        let more = r"its README starts it with more arguments; add `--env B_MODE=fast -- --stdio 'it'\''s'`";
        assert_eq!(told(lacks, None, &[], &["B_API_KEY", "B_HOST"]).unwrap(), more);
        let named = Some("B_API_KEY");
        // It has said precisely what it lacks, and the README nothing else that matters.
        assert_eq!(told(lacks, named, &["--x"], &[]), None);
        assert_eq!(told("no such mode", None, &["--x"], &["B_API_KEY", "B_HOST"]), None);
        let more = "its README starts it with more arguments; add `--env B_MODE=fast`";
        assert_eq!(told("B_MODE: bad", None, &["--x"], &["B_API_KEY", "B_HOST"]).unwrap(), more);
        let other = told("C_TOKEN is required", Some("C_TOKEN"), &["--x"], &[]).unwrap();
        assert!(other.ends_with("add `--secret C_TOKEN --env B_MODE=fast --secret B_API_KEY`"), "{other}");
    }

    #[test]
    fn a_key_of_another_service_is_the_packages_own_advice() {
        let readme = r#""mcpServers": {"b": {"command": "npx", "args": ["-y", "b"],
            "env": {"AWS_SECRET_ACCESS_KEY": "YOUR KEY", "GITHUB_TOKEN": "YOUR TOKEN"}}}"#;
        let package = recognise("npm:b", &[]).unwrap();
        let told = next_try(&package, "", None, Some(readme), GivenArguments::default()).unwrap();
        let wanted = "its README starts it like this: `harbor install npm:b --secret AWS_SECRET_ACCESS_KEY --secret \
                      GITHUB_TOKEN`; that is the \
                      package's advice, not Harbor's: AWS_SECRET_ACCESS_KEY is a key of AWS and GITHUB_TOKEN is a key of GitHub, \
                      and the server could do everything that it allows";
        assert!(told.ends_with(wanted), "{told}");
    }

    #[test]
    fn an_older_library_comes_with_what_the_readme_says() {
        let readme = r#""servers": {"b": {"command": "uvx", "args": ["b", "--db-path", "~/b.db"]}}"#;
        let package = recognise("pypi:b", &[]).unwrap();
        let said = "AttributeError: 'Server' object has no attribute 'list_resources'";
        let told = next_try(&package, said, None, Some(readme), GivenArguments::default()).unwrap();
        let wanted =
            "; its README starts it like this: `harbor install pypi:b --with 'mcp<2' -- --db-path '~/b.db'`";
        assert!(told.ends_with(wanted), "{told}");
    }
}
