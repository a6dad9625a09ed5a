//! The program that a definition runs, as one text. The name that a person gave to a server was given to this program.
//!
//! ```text
//!  npx -y mcp-time@1.2 --utc      npm:mcp-time            ghcr.io/a/time:1.2   image ghcr.io/a/time
//!  python3 /x/time.py --utc       python3 /x/time.py      https://a.example/mcp?key=1   https://a.example/mcp
//! ```
//!
//! Owns which change makes it another program: another package, image, address or command. A change of version, arguments or
//! variables does not. A script belongs to the command that interprets it: `python3` alone says nothing.

use crate::package::{Ecosystem, Package};
use crate::remote;

/// Harbor's own interpreter of JavaScript. Its first argument is the script.
pub const JS_RUNNER: &str = "harbor-runner-js";

/// Harbor's own interpreter of WebAssembly. Its first argument is the module.
pub const WASM_RUNNER: &str = "harbor-runner-wasm";

/// Programs that run a script, which is their first word. Versions may stand behind the names (`python3.12`).
const INTERPRETERS: &[&str] = &[
    "bash",
    "dash",
    JS_RUNNER,
    WASM_RUNNER,
    "ksh",
    "node",
    "nodejs",
    "perl",
    "php",
    "pypy",
    "python",
    "ruby",
    "sh",
    "ts-node",
    "tsx",
    "zsh",
];

/// Programs that run another program, and whose options with values are not all known. All of their arguments count.
const LAUNCHERS: &[&str] = &[
    "bun",
    "bunx",
    "busybox",
    "cargo",
    "chroot",
    "conda",
    "deno",
    "doas",
    "docker",
    "dotnet",
    "env",
    "exec",
    "firejail",
    "flatpak",
    "go",
    "hatch",
    "ionice",
    "java",
    "mise",
    "nerdctl",
    "nice",
    "nix",
    "nix-shell",
    "nohup",
    "npm",
    "npx",
    "pdm",
    "pipenv",
    "pipx",
    "pixi",
    "pnpm",
    "podman",
    "poetry",
    "rye",
    "setsid",
    "ssh",
    "stdbuf",
    "sudo",
    "systemd-run",
    "taskset",
    "time",
    "timeout",
    "unshare",
    "uv",
    "uvx",
    "watchexec",
    "xargs",
    "xvfb-run",
    "yarn",
];

/// Options of Python that change nothing about which program it is; other interpreters mean other things by these letters.
const PLAIN_PYTHON: &[&str] = &["-u", "-B", "-E", "-I", "-O", "-OO", "-q", "-s", "-S"];

/// Such options that take a value.
const VALUED_PYTHON: &[&str] = &["-W", "-X"];

/// The ends of files that an interpreter runs.
const SCRIPTS: &[&str] = &[
    ".cjs", ".dll", ".exe", ".jar", ".js", ".mjs", ".php", ".pl", ".py", ".pyz", ".rb", ".sh", ".ts", ".wasm",
];

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

/// The program of a remote server.
#[must_use]
pub fn of_url(url: &str) -> String {
    remote::shown(url).trim_end_matches("?…").to_owned()
}

/// The program of a command that runs as written, in this directory if one is named. For a program not known
/// to run others only the command counts. If an argument may name the program, all arguments count.
#[must_use]
pub fn of_command(command: &str, args: &[String], cwd: Option<&str>) -> String {
    let words = || args.iter().map(String::as_str);
    let name = bare(command);
    let (program, rest) = if INTERPRETERS.contains(&name) {
        match script(name, args) {
            Some(script) => (format!("{command} {script}"), true),
            None => (all(command, words()), true),
        }
    } else if LAUNCHERS.contains(&name) || words().any(may_name_a_program) {
        (all(command, words()), true)
    } else {
        (command.to_owned(), !command.starts_with('/'))
    };
    // Names of files mean others elsewhere.
    match cwd.filter(|_| rest) {
        Some(cwd) => format!("{program} in {cwd}"),
        None => program,
    }
}

fn all<'a>(command: &'a str, args: impl Iterator<Item = &'a str>) -> String {
    std::iter::once(command).chain(args).collect::<Vec<_>>().join(" ")
}

/// The name of a program without its directory and its version.
fn bare(command: &str) -> &str {
    let name = command.rsplit('/').next().unwrap_or(command);
    name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.')
}

fn may_name_a_program(arg: &str) -> bool {
    let name = bare(arg);
    INTERPRETERS.contains(&name) || LAUNCHERS.contains(&name) || SCRIPTS.iter().any(|end| arg.ends_with(end))
}

/// The script that an interpreter runs: its first word, or Python's module. `None` where anything else may name a program: an
/// option, or the words behind it.
fn script(interpreter: &str, args: &[String]) -> Option<String> {
    let is_python = matches!(interpreter, "python" | "pypy");
    let mut words = args.iter().map(String::as_str);
    let script = loop {
        match words.next()? {
            "-m" if is_python => break format!("-m {}", words.next()?),
            option if is_python && VALUED_PYTHON.contains(&option) => drop(words.next()?),
            option if is_python && PLAIN_PYTHON.contains(&option) => {}
            option if interpreter.starts_with("node") && option.starts_with("--inspect") => {}
            option if option.starts_with('-') => return None,
            word => break word.to_owned(),
        }
    };
    (!words.any(may_name_a_program)).then_some(script)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::package::recognise;

    fn command(line: &str) -> String {
        let words: Vec<_> = line.split(' ').map(str::to_owned).collect();
        of_command(&words[0], &words[1..], None)
    }

    #[test]
    fn versions_arguments_and_options_are_no_other_program() {
        let same = [
            ["/x/server --a", "/x/server --b c"],
            ["python3 /x/s.py ok", "python3 -u /x/s.py other"],
            ["python3 -X dev s.py", "python3 s.py"],
            ["python3 -m time --utc", "python3 -m time --local"],
            ["python3 -W ignore::x.y s.py", "python3 s.py"],
            ["node --inspect /x/index.js", "node /x/index.js --port 1"],
            ["harbor-runner-js /x/a.js --busy 9", "harbor-runner-js /x/a.js"],
            ["harbor-runner-wasm /x/a.wasm -- --utc", "harbor-runner-wasm /x/a.wasm"],
        ];
        for [one, other] in same {
            assert_eq!(command(one), command(other), "{one}");
        }
        let others = [
            ["/x/server", "/y/server"],
            ["python3 /x/s.py", "python3 /x/t.py"],
            ["python3 -m time", "python3 -m files"],
            ["harbor-runner-js /p/a.js", "harbor-runner-js /p/b.js"],
            ["harbor-runner-wasm /p/a.wasm", "harbor-runner-wasm /p/b.wasm"],
            ["npx one", "npx two"],
            ["docker run -i mcp/time", "docker run -i mcp/files"],
            ["sh -c one", "sh -c two"],
            ["env HOME=/tmp python3 /p/good.py", "env HOME=/tmp python3 /p/evil.py"],
            ["/bin/dash -c good.py", "/bin/dash -c evil.py"],
            ["timeout 9999 python3 /p/good.py", "timeout 9999 python3 /p/evil.py"],
            ["/x/unknown 9 python3 good", "/x/unknown 9 python3 evil"],
            ["dotnet /p/good.dll", "dotnet /p/evil.dll"],
            ["python3 -W ignore::x.y /p/good.py", "python3 -W ignore::x.y /p/evil.py"],
            ["uvx --python 3.12 good", "uvx --python 3.12 evil"],
            ["uv --directory /x run a", "uv --directory /x run b"],
            ["node -r /x/pre.js a", "node -r /x/pre.js b"],
            ["java -cp /x.jar A", "java -cp /x.jar B"],
            ["ruby -W good x", "ruby -W evil x"],
            ["ruby -I /a good", "ruby -I /a evil"],
            ["bash -O extglob good", "bash -O extglob evil"],
            ["bash -e -c good", "bash -e -c evil"],
            ["sh -c exec good", "sh -c exec evil"],
            ["python3 -m runpy good.py", "python3 -m runpy evil.py"],
            ["python3 start.py /p/good.py", "python3 start.py /p/evil.py"],
        ];
        for [one, other] in others {
            assert_ne!(command(one), command(other), "{one}");
        }
        let in_directory = |cwd| of_command("python3", &["s.py".to_owned()], Some(cwd));
        assert_ne!(in_directory("/p/a"), in_directory("/p/b"));
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
