//! The list is held to what the rest of Harbor would refuse.

use std::collections::BTreeSet;

use super::*;
use crate::package::recognise;

fn placeholder(entry: &str) -> Option<(&str, &str)> {
    entry.strip_prefix('{')?.split_once('}')
}

fn placeholders(curated: &Curated) -> BTreeSet<&'static str> {
    let Sandbox { read, write, sockets, .. } = curated.sandbox;
    let lists = [curated.args, read, write, sockets];
    let values = curated.env.iter().filter_map(|variable| variable.value);
    let entries = lists.into_iter().flatten().copied().chain(values);
    entries.filter_map(placeholder).map(|(name, _)| name).collect()
}

#[test]
fn every_server_of_the_list_is_there_once() {
    let ids: Vec<_> = CURATED.iter().map(|curated| curated.id).collect();
    assert_eq!(
        ids,
        [
            "filesystem",
            "memory",
            "time",
            "fetch",
            "git",
            "sequential-thinking",
            "playwright",
            "chrome-devtools",
            "github",
            "github-remote",
            "everything"
        ]
    );
    let sources: BTreeSet<_> = CURATED.iter().map(|curated| curated.source.spec()).collect();
    assert_eq!(sources.len(), CURATED.len());
    assert_eq!(find("time").map(|time| time.source.spec()).as_deref(), Some("pypi:mcp-server-time"));
    assert_eq!(find("times"), None);
}

#[test]
fn a_package_is_known_in_whatever_version() {
    let id = |source: &str| of_package(&package::source::read(source, &[]).ok()?).map(|curated| curated.id);
    assert_eq!(id("npm:@playwright/mcp@latest"), Some("playwright"));
    assert_eq!(id("pypi:Mcp_Server.Time==1.0"), Some("time"));
    for other in
        ["npm:mcp-server-time", "pypi:mcp-server-times", "git:https://h/mcp-server-time", "time", "npm:"]
    {
        assert_eq!(id(other), None, "{other}");
    }
}

#[test]
fn each_placeholder_is_an_input_and_each_input_has_one() {
    for curated in CURATED {
        let mut used = placeholders(curated);
        used.remove("data");
        let inputs: BTreeSet<_> = curated.inputs.iter().map(|input| input.name).collect();
        assert_eq!(used, inputs, "{}", curated.id);
    }
}

#[test]
fn packages_are_named_as_the_installers_take_them() {
    for curated in CURATED {
        let (command, name) = match curated.source {
            CuratedPackage::Npm(name) => ("npx", name),
            CuratedPackage::Pypi(name) => ("uvx", name),
            CuratedPackage::Oci(_) | CuratedPackage::Remote(_) => continue,
        };
        let package = recognise(command, &[name.to_owned()]).unwrap();
        assert_eq!((package.name.as_str(), package.spec.as_str()), (name, name));
    }
}

#[test]
fn texts_are_there() {
    for curated in CURATED {
        assert!(!curated.title.is_empty() && curated.description.ends_with('.'), "{}", curated.id);
        assert!(curated.description.len() <= 100, "{}: {}", curated.id, curated.description.len());
        for url in [curated.repository, curated.homepage] {
            assert!(url.starts_with("https://"), "{}: {url}", curated.id);
        }
        for secret in curated.secrets {
            assert!(secret.help_url.starts_with("https://") && !secret.description.is_empty());
        }
    }
    assert_eq!(DATE.len(), "2026-11-22".len());
}
