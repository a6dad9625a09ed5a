//! What a server that did not start lacks, by what it said: arguments, or an older library.
//!
//! Owns the reading of that. It is other people's text: a person is told what to add, the package is kept for the next try, and
//! nothing else follows.

use super::{Ecosystem, Package};

/// How the line begins that says how a program is called.
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

/// Whether a server that did not start has said that arguments are missing, or how it is called. `names_variable`: it has named a
/// variable that it lacks; then a text that only says how it is called is about something else.
fn wants_arguments(said: &str, names_variable: bool) -> bool {
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

/// How a line begins, or what it has, that says that a program waits for requests at a port.
const LISTENS: &[&str] = &[
    "server listening on",
    "listening on port",
    "listening on http://",
    "running on http://",
    "running at http://",
];

/// Whether a server that did not answer has said that it waits at a port, and so not at its standard input.
fn listens(said: &str) -> bool {
    let said = said.to_ascii_lowercase();
    LISTENS.iter().any(|words| said.contains(words))
}

/// What Python says of a server that was written for version 1 of MCP's SDK, and has a newer one since nothing forbids that.
const OF_OLD_SDK: &[&str] = &["'Server' object has no attribute", "from 'mcp.", "No module named 'mcp."];

/// What a person is told whose server said this when it did not start, if that helps. `names_variable`: as in [`wants_arguments`].
#[must_use]
pub fn next_try(package: &Package, said: &str, names_variable: bool) -> Option<String> {
    let source = source_of(package);
    let with_arguments =
        || format!("what stands behind -- are its arguments: `harbor install {source} -- …`");
    if wants_arguments(said, names_variable) {
        return Some(with_arguments());
    }
    if package.ecosystem == Ecosystem::Pypi && OF_OLD_SDK.iter().any(|words| said.contains(words)) {
        return Some(format!(
            "it was written for an older version of MCP's Python SDK: `harbor install {source} --with 'mcp<2'`"
        ));
    }
    listens(said).then(|| {
        format!(
            "it waits at a port, not at its standard input, which an argument such as --stdio may change: {}",
            with_arguments()
        )
    })
}

/// As it is typed.
fn source_of(package: &Package) -> String {
    let source = package.source();
    let is_plain = source.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"@/._-+=:".contains(&byte));
    if is_plain { source } else { format!("'{source}'") }
}

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
        let told = |source: &str, said: &str| next_try(&recognise(source, &[]).unwrap(), said, false);
        let lacks = "usage: a B";
        assert_eq!(
            told("npm:@a/b@1.2", lacks).unwrap(),
            "what stands behind -- are its arguments: `harbor install npm:@a/b@1.2 -- …`"
        );
        assert!(told("pypi:b>=1", lacks).unwrap().contains("`harbor install 'pypi:b>=1' -- …`"));
        assert!(told("npm:b", "HTTP server listening on port 3333").unwrap().contains("--stdio"));
        let of_sdk = "AttributeError: 'Server' object has no attribute 'list_resources'";
        assert!(told("pypi:b", of_sdk).unwrap().ends_with("`harbor install pypi:b --with 'mcp<2'`"));
        assert_eq!((told("npm:b", of_sdk), told("pypi:b", "")), (None, None));
    }
}
