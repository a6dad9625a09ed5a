//! Recognizes that a server's packages do not fit together: the newest versions are not those that it was written for.
//!
//! Owns the words of Python and Node about that, and the remedy. No README knows of it.

use super::exit_words::last_line;
use super::typed::source_of;
use super::{Ecosystem, Package};

/// The words of Python about a name that a module does not have (any more), and about a missing module.
const NO_NAME: &str = "ImportError: cannot import name ";
const NO_MODULE: &str = "ModuleNotFoundError: No module named ";

/// The words of Node about a missing module of a package.
const OF_NODE: &[&str] = &["Cannot find module '", "Cannot find package '"];

/// The directory of npm's packages.
const PACKAGES: &str = "/node_modules/";

/// The most bytes of a package's name.
const MAX_NAME: usize = 100;

/// The remedy, if the error is of this kind.
pub(super) fn of_dependencies(package: &Package, error: &str) -> Option<String> {
    match package.ecosystem {
        Ecosystem::Npm => of_node(package, error),
        Ecosystem::Pypi => of_python(package, error),
        Ecosystem::Git => of_python(package, error).or_else(|| of_node(package, error)),
        Ecosystem::Binary => None,
    }
}

fn of_python(package: &Package, error: &str) -> Option<String> {
    let (last, source) = (last_line(error), source_of(package));
    if let Some(rest) = last.strip_prefix(NO_NAME) {
        let module = quoted(rest.split_once(" from ")?.1)?;
        return Some(older_python(module, &source));
    }
    let module = quoted(last.strip_prefix(NO_MODULE)?)?;
    // It has the package, and not this part of it.
    if module.contains('.') {
        return Some(older_python(module, &source));
    }
    let with = module.replace('_', "-");
    Some(format!(
        "it imports {module}, which is not installed with it; if its package has that name, `harbor install {source} \
         --with {with}` installs both"
    ))
}

fn older_python(module: &str, source: &str) -> String {
    format!(
        "it does not fit the newest version of the package with {module}; it may run with an older one: `harbor \
         install {source} --with 'NAME<VERSION'`"
    )
}

fn of_node(package: &Package, error: &str) -> Option<String> {
    let line = error.lines().find(|line| OF_NODE.iter().any(|words| line.contains(words)))?;
    let path = line.get(line.find('\'')? + 1..)?.split('\'').next()?;
    // Of a whole path the part that says which package it is of.
    let name = plain(path.rsplit(PACKAGES).next()?)?;
    let last = last_line(error);
    let is_last = last.starts_with("Node.js v") || OF_NODE.iter().any(|words| last.contains(words));
    let is_its_end = is_last && error.contains(PACKAGES);
    let other = match package.ecosystem {
        Ecosystem::Npm => {
            format!("an older version of it may run: `harbor install npm:{}@VERSION`", package.name)
        }
        _ => "an older commit of it may run".into(),
    };
    is_its_end.then(|| {
        format!("it does not find {name} among its own packages, which is an error in the package; {other}")
    })
}

/// A name in quotes, if the text begins with one.
fn quoted(text: &str) -> Option<&str> {
    plain(text.strip_prefix('\'')?.split('\'').next()?)
}

/// A name in which no character does anything.
fn plain(name: &str) -> Option<&str> {
    let is_plain = |b: u8| b.is_ascii_alphanumeric() || b"._-@/".contains(&b);
    (!name.is_empty() && name.len() <= MAX_NAME && name.bytes().all(is_plain)).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::super::recognise;
    use super::*;

    #[test]
    fn packages_that_do_not_fit_are_told_apart_from_those_that_lack_something() {
        let of = |source: &str, said: &str| {
            of_dependencies(&recognise(source, &[]).unwrap(), said).unwrap_or_default()
        };
        let name = "ImportError: cannot import name 'X' from 'opentelemetry.semconv' (/v/lib/x.py)";
        assert!(of("pypi:semgrep-mcp", name).ends_with(
            "the package with opentelemetry.semconv; it may run with an older one: `harbor install pypi:semgrep-mcp --with \
             'NAME<VERSION'`"
        ));
        assert!(of("git:https://h/r", "ModuleNotFoundError: No module named 'a.b'").contains("with a.b;"));
        assert!(
            of("pypi:s", "ModuleNotFoundError: No module named 'a_b'")
                .contains("`harbor install pypi:s --with a-b`")
        );
        let node = "Error: Cannot find module './lib/x'\nRequire stack:\n- /p/node_modules/sdk/i.js\n    at x\n}\n\nNode.js v20.1.0";
        assert!(of("npm:heroku", node).ends_with("`harbor install npm:heroku@VERSION`"));
        let caught = "Fatal error in main(): Cannot find module '/h/1/node_modules/@mcp/sdk/dist/mcp' imported from /h/1/node_modules/x/i.js";
        assert!(
            of("npm:heroku", caught).starts_with("it does not find @mcp/sdk/dist/mcp among"),
            "caught by itself"
        );
        for (source, said) in [
            ("npm:b", "Cannot find module 'optional' (/p/node_modules/x)\nError: no key"),
            ("npm:b", name),
            ("pypi:b", "ModuleNotFoundError: No module named 'x'\nValueError: no key"),
            ("pypi:b", "ModuleNotFoundError: No module named 'x;rm'"),
        ] {
            assert_eq!(of(source, said), "", "{said}");
        }
    }
}
