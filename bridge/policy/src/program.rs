//! Which program a definition runs, as one text: the name that a person gave to a server was given to this program.
//!
//! ```text
//!  npx -y mcp-time@1.2 --utc      npm:mcp-time            ghcr.io/a/time:1.2   image ghcr.io/a/time
//!  python3 /x/time.py --utc       python3 /x/time.py      https://a.example/mcp?key=1   https://a.example/mcp
//! ```
//!
//! Owns what counts as another program: another package, image, address or command. A version, arguments and variables
//! do not. A script belongs to the command that interprets it: `python3` alone says nothing.

use crate::package::{Ecosystem, Package};
use crate::remote;

/// Programs that run another one, which an argument names. Versions may stand behind the names (`python3.12`).
const INTERPRETERS: &[&str] = &[
    "bash", "bun", "bunx", "deno", "env", "java", "node", "nodejs", "npm", "npx", "perl", "php", "pipx",
    "pnpm", "pypy", "python", "ruby", "sh", "tsx", "ts-node", "uv", "uvx", "yarn", "zsh",
];

/// Programs whose arguments name an image among options with values: all of them count.
const ENGINES: &[&str] = &["docker", "podman", "nerdctl"];

/// Options of interpreters whose value is the program.
const NAMING: &[&str] = &["-c", "-e", "-m", "-jar", "--eval"];

/// Words that stand before the name of what is run.
const VERBS: &[&str] = &["run", "exec", "x", "tool", "dlx"];

/// The program of a package.
#[must_use]
pub fn of_package(package: &Package) -> String {
    let (kind, spec) = (package.ecosystem.as_str(), &package.spec);
    let name = match package.ecosystem {
        Ecosystem::Npm => package.name.clone(),
        // As the index itself compares names.
        Ecosystem::Pypi => package.name.to_ascii_lowercase().replace(['_', '.'], "-"),
        // Behind the `#` are the commit, or the hash of this version.
        Ecosystem::Git | Ecosystem::Binary => spec.split('#').next().unwrap_or(spec).to_owned(),
    };
    match &package.program {
        Some(program) => format!("{kind}:{name} {program}"),
        None => format!("{kind}:{name}"),
    }
}

/// The program of an image.
#[must_use]
pub fn of_image(reference: &str) -> String {
    let name = reference.split('@').next().unwrap_or(reference);
    let repository = match name.rsplit_once(':') {
        Some((repository, tag)) if !tag.contains('/') => repository,
        _ => name,
    };
    format!("image {repository}")
}

/// The program of a server elsewhere.
#[must_use]
pub fn of_url(url: &str) -> String {
    remote::shown(url).trim_end_matches("?…").to_owned()
}

/// The program of a command that is run as it is written.
#[must_use]
pub fn of_command(command: &str, args: &[String]) -> String {
    let name = command.rsplit('/').next().unwrap_or(command);
    let bare = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    if ENGINES.contains(&name) {
        return std::iter::once(command).chain(args.iter().map(String::as_str)).collect::<Vec<_>>().join(" ");
    }
    match INTERPRETERS.contains(&bare).then(|| named(args)).flatten() {
        Some(script) => format!("{command} {script}"),
        None => command.to_owned(),
    }
}

/// What an interpreter is told to run: the value of an option that names it, else the first word that looks like a file,
/// else the first word that is no option.
fn named(args: &[String]) -> Option<&str> {
    let is_option = |arg: &str| arg.starts_with('-');
    let words = || args.iter().map(String::as_str);
    for (at, arg) in words().enumerate() {
        if NAMING.contains(&arg) {
            return args.get(at + 1).map(String::as_str);
        }
        if !is_option(arg) && arg.contains(['/', '.']) {
            return Some(arg);
        }
    }
    words().find(|arg| !is_option(arg) && !VERBS.contains(arg))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::package::recognise;

    fn command(line: &str) -> String {
        let words: Vec<_> = line.split(' ').map(str::to_owned).collect();
        of_command(&words[0], &words[1..])
    }

    #[test]
    fn versions_arguments_and_options_are_no_other_program() {
        let same = [
            ["/x/server --a", "/x/server --b c"],
            ["python3 /x/s.py ok", "python3 -u /x/s.py other"],
            ["python3 -X dev s.py", "python3 s.py"],
            ["python3 -m time --utc", "python3 -m time --local"],
            ["uv --directory /x run server", "uv --directory /x run --quiet server"],
            ["node --inspect /x/index.js", "node /x/index.js --port 1"],
        ];
        for [one, other] in same {
            assert_eq!(command(one), command(other), "{one}");
        }
        let others = [
            ["/x/server", "/y/server"],
            ["python3 /x/s.py", "python3 /x/t.py"],
            ["python3 -m time", "python3 -m files"],
            ["npx one", "npx two"],
            ["docker run -i mcp/time", "docker run -i mcp/files"],
            ["sh -c one", "sh -c two"],
        ];
        for [one, other] in others {
            assert_ne!(command(one), command(other), "{one}");
        }
    }

    #[test]
    fn a_package_an_image_and_an_address_are_themselves_in_each_version() {
        let package = |command: &str, arg: &str| {
            let args: Vec<_> = Some(arg.to_owned()).filter(|arg| !arg.is_empty()).into_iter().collect();
            of_package(&recognise(command, &args).unwrap())
        };
        assert_eq!(package("npx", "@a/time@1.2"), "npm:@a/time");
        assert_eq!(package("npm:@a/time@2", ""), "npm:@a/time");
        assert_eq!(package("uvx", "MCP_Server.time==1"), "pypi:mcp-server-time");
        assert_eq!(of_image("localhost:5000/a/time:1.2@sha256:00"), "image localhost:5000/a/time");
        assert_eq!(of_image("mcp/time"), "image mcp/time");
        assert_eq!(of_url("https://a.example/mcp?key=1"), of_url("https://a.example/mcp"));
        assert_ne!(of_url("https://a.example/mcp"), of_url("https://b.example/mcp"));
    }
}
