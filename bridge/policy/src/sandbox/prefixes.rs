//! Finds the directories that a program needs besides itself: where it is installed, as far as paths tell.
//!
//! Owns the names. Must never need to look at the disk, nor answer with a place that is never granted.

use super::paths::{below, is_within, parent};
use super::protected::why_not_by_name;
use super::server_facts::SandboxFacts;

/// Roots of version managers below a home: their shims run scripts and programs from all over the root.
const OF_A_HOME: &[&str] = &[
    ".asdf",
    ".bun",
    ".deno",
    ".fnm",
    ".goenv",
    ".local/pipx",
    ".local/share/fnm",
    ".local/share/mise",
    ".local/share/nvm",
    ".local/share/pipx",
    ".local/share/pnpm",
    ".local/share/rtx",
    // Not all of it: its credentials are there, too.
    ".local/share/uv/python",
    ".local/share/uv/tools",
    ".local/state/fnm_multishells",
    ".nodenv",
    ".nodebrew",
    ".nvm",
    ".pyenv",
    ".rbenv",
    ".rustup",
    ".sdkman",
    ".volta",
    "anaconda3",
    "mambaforge",
    "micromamba",
    "miniconda3",
    "miniforge3",
];

/// Roots of version managers elsewhere on the machine.
const OF_THE_SYSTEM: &[&str] = &[
    "/home/linuxbrew/.linuxbrew",
    "/linuxbrew",
    "/opt/conda",
    "/opt/homebrew",
    "/opt/hostedtoolcache",
    "/opt/miniconda3",
    "/usr/local/nvm",
];

/// The names of directories that hold programs.
const OF_PROGRAMS: &[&str] = &[".bin", "Scripts", "bin", "sbin", "scripts", "shims"];

/// The marks of a prefix: any of these below it makes `PREFIX/bin/PROGRAM` need all of the prefix.
pub const MARKS: &[&str] = &[
    "bin/bun",
    "bin/deno",
    "bin/go",
    "bin/node",
    "bin/python",
    "bin/python3",
    "bin/ruby",
    "conda-meta",
    "lib/node_modules",
    "pyvenv.cfg",
];

/// The files that mark the root of a package.
pub const MANIFESTS: &[&str] =
    &["Cargo.toml", "deno.json", "go.mod", "package.json", "pyproject.toml", "requirements.txt", "setup.py"];

/// The whole root of the version manager that a path belongs to.
#[must_use]
pub fn manager(path: &str, facts: &SandboxFacts) -> Option<String> {
    let of_home = facts.home.iter().flat_map(|home| OF_A_HOME.iter().map(|name| below(home, name)));
    let mut roots = of_home.chain(OF_THE_SYSTEM.iter().map(ToString::to_string));
    roots.find(|root| is_within(path, root)).filter(|root| may_be_whole(root, facts))
}

/// The prefix of a program: `/P` of `/P/bin/x`.
#[must_use]
pub fn of_program<'a>(path: &'a str, facts: &SandboxFacts) -> Option<&'a str> {
    let directory = parent(path);
    let prefix = directory.strip_suffix("/bin")?;
    (!prefix.is_empty() && may_be_whole(prefix, facts)).then_some(prefix)
}

/// True if a directory may hold programs, by its name in a PATH or its real name. Directories below a home
/// need such a name, since many others there have got into a PATH.
#[must_use]
pub fn is_of_programs(named: &str, real: &str, facts: &SandboxFacts) -> bool {
    let mut homes = ["/home", "/root", "/var/home"].into_iter().chain(facts.home.as_deref());
    let name = |path: &str| path.trim_end_matches('/').rsplit('/').next().map(ToOwned::to_owned);
    let names = [named, real].into_iter().filter_map(name);
    !homes.any(|home| is_within(real, home))
        || names.into_iter().any(|name| OF_PROGRAMS.contains(&name.as_str()))
}

/// The directory with the topmost `node_modules` that a file lies in, or the prefix above `lib/python…/site-packages`.
#[must_use]
pub fn of_installed(path: &str) -> Option<&str> {
    if let Some(at) = path.find("/node_modules/") {
        return Some(&path[..at]).filter(|root| !root.is_empty());
    }
    let above = &path[..path.find("/site-packages/")?];
    let lib = parent(above);
    Some(lib.strip_suffix("/lib").unwrap_or(above)).filter(|root| !root.is_empty())
}

/// True if a directory may be granted as a whole because a program in it is run: it is not for all kinds of
/// files, and holds nothing protected.
#[must_use]
pub fn may_be_whole(directory: &str, facts: &SandboxFacts) -> bool {
    let of_home = |home: &String| {
        [".local", ".local/share", ".config", ".cache", ".cargo", "go"]
            .iter()
            .any(|name| directory == below(home, name))
    };
    directory != "/usr"
        && directory != "/usr/local"
        && !facts.home.as_ref().is_some_and(of_home)
        && why_not_by_name(directory, facts).is_none()
}

/// The path that an argument names: the whole argument, the text behind the `=` of an option, or a `file://` URL.
#[must_use]
pub fn path_in_argument(argument: &str) -> Option<String> {
    let value = match argument.split_once('=') {
        Some((option, value)) if !option.starts_with('/') => value,
        _ => argument,
    };
    if value.starts_with("file:///") {
        let path = url::Url::parse(value).ok()?.path().to_owned();
        return percent_encoding::percent_decode_str(&path).decode_utf8().ok().map(Into::into);
    }
    value.starts_with('/').then(|| value.to_owned())
}

/// Program and argument of a `#!` line; `env` stands for the program that it looks up.
#[must_use]
pub fn interpreters(start: &[u8]) -> Vec<String> {
    let line = start.strip_prefix(b"#!").and_then(|rest| rest.split(|byte| *byte == b'\n').next());
    let line = line.and_then(|line| std::str::from_utf8(line).ok()).unwrap_or_default();
    let mut words = line.split_ascii_whitespace();
    let Some(program) = words.next() else { return Vec::new() };
    let mut all = vec![program.to_owned()];
    if program.rsplit('/').next() == Some("env") {
        let looked_up = words.find(|word| !word.starts_with('-') && !word.contains('='));
        all.extend(looked_up.map(ToOwned::to_owned));
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    fn facts() -> SandboxFacts {
        SandboxFacts {
            home: Some("/home/u".into()),
            harbor_home: "/home/u/.harbor".into(),
            ..SandboxFacts::default()
        }
    }

    #[test]
    fn managers_are_taken_whole() {
        let manager = |path| manager(path, &facts());
        assert_eq!(manager("/home/u/.pyenv/shims/python3").as_deref(), Some("/home/u/.pyenv"));
        assert_eq!(
            manager("/home/u/.local/share/uv/tools/x/bin/x").as_deref(),
            Some("/home/u/.local/share/uv/tools")
        );
        let brew = "/home/linuxbrew/.linuxbrew";
        assert_eq!(manager("/home/linuxbrew/.linuxbrew/bin/node").as_deref(), Some(brew));
        assert_eq!([manager("/home/u/.pyenvx/a"), manager("/usr/bin/node")], [None, None]);
    }

    #[test]
    fn prefixes_are_not_wide() {
        let of_program = |path| of_program(path, &facts()).map(ToOwned::to_owned);
        assert_eq!(of_program("/home/u/venv/bin/python").as_deref(), Some("/home/u/venv"));
        assert_eq!(of_program("/opt/node-22/bin/node").as_deref(), Some("/opt/node-22"));
        for path in [
            "/usr/bin/node",
            "/usr/local/bin/x",
            "/bin/sh",
            "/home/u/bin/x",
            "/home/u/.local/bin/x",
            "/opt/bin/x",
        ] {
            assert_eq!(of_program(path), None, "{path}");
        }
    }

    #[test]
    fn below_a_home_directories_of_programs_are_known_by_name() {
        for (directory, wanted) in [
            ("/home/u/bin", true),
            ("/home/u/p/node_modules/.bin", true),
            ("/home/u/private", false),
            ("/home/u/binary", false),
            ("/home/v/x", false),
            ("/root/x", false),
            ("/opt/x", true),
        ] {
            assert_eq!(is_of_programs(directory, directory, &facts()), wanted, "{directory}");
        }
        assert!(is_of_programs("/home/u/bin/", "/home/u/dotfiles/tools", &facts()));
        assert!(!is_of_programs("/opt/x", "/home/u/private", &facts()));
    }

    #[test]
    fn installed_files_have_their_whole_tree() {
        for (path, wanted) in [
            ("/a/node_modules/b/node_modules/c/i.js", Some("/a")),
            ("/a/venv/lib/python3.12/site-packages/m/__main__.py", Some("/a/venv")),
            ("/a/site-packages/m.py", Some("/a")),
            ("/node_modules/x.js", None),
            ("/a/b.js", None),
        ] {
            assert_eq!(of_installed(path), wanted, "{path}");
        }
    }

    #[test]
    fn arguments_name_paths() {
        for (argument, wanted) in [
            ("/a/b", Some("/a/b")),
            ("/a=b/c", Some("/a=b/c")),
            ("--root=/a", Some("/a")),
            ("file:///a%20b", Some("/a b")),
            ("--root=file:///a", Some("/a")),
            ("a", None),
            ("--x", None),
            ("http:///a", None),
        ] {
            assert_eq!(path_in_argument(argument).as_deref(), wanted, "{argument}");
        }
    }

    #[test]
    fn shebang_lines_are_read() {
        let lines: [(&[u8], &[&str]); 6] = [
            (b"#!/bin/sh\nx", &["/bin/sh"]),
            (b"#!/usr/bin/env node\n", &["/usr/bin/env", "node"]),
            (b"#! /usr/bin/env -S A=b python3 -u\n", &["/usr/bin/env", "python3"]),
            (b"#!/usr/bin/python3 -s", &["/usr/bin/python3"]),
            (b"#!", &[]),
            (b"\x7fELF", &[]),
        ];
        for (start, wanted) in lines {
            assert_eq!(interpreters(start), wanted);
        }
    }
}
