//! Finds how the server of a repository is installed: by its author's file, else as the package that the repository is.
//!
//! ```text
//!  files of the checkout ─► manifest ─► server.json ─► package.json, pyproject.toml ─► Found: ways, and what is asked for
//!                                                                                         └─► fits: what this machine lacks
//! ```
//!
//! Owns the order, and the sentence where nothing is found. Must never read a file, nor run anything of it.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::package::Content;

use super::manifest::{self, Manifest};
use super::server_json::{self, InstallOption};
use super::source::{InstallSource, sort};
use super::{Recipe, manifest::is_meant};

/// Files that say how a server is installed. Each is read within `manifest::MAX`.
pub const DOCUMENTS: &[&str] = &["mcp-manifest.json", ".mcp/manifest.json", "package.json", "server.json"];

/// Files by which a language is known that is not built here.
pub const LANGUAGES: &[(&str, &str)] = &[
    ("go.mod", "Go"),
    ("Cargo.toml", "Rust"),
    ("pom.xml", "Java"),
    ("build.gradle", "Java"),
    ("build.gradle.kts", "Kotlin"),
    ("Gemfile", "Ruby"),
    ("composer.json", "PHP"),
    ("Package.swift", "Swift"),
    ("Dockerfile", "a container image"),
];

/// The files that were found in a checkout.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Files {
    /// The `DOCUMENTS` that are there, or why they cannot be read.
    pub documents: Vec<(&'static str, Result<Vec<u8>, String>)>,
    /// The `LANGUAGES` that are there.
    pub languages: Vec<(&'static str, &'static str)>,
    /// The package that the repository itself is, or the reason why it cannot be run.
    pub own: Result<Content, String>,
    /// True if it has a `package.json`, a `pyproject.toml` or a `setup.py`.
    pub is_package: bool,
}

/// The way to get its server.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FoundManifest {
    /// The file that says so.
    pub found_in: String,
    /// The manifest that was read from it.
    pub says: Manifest,
}

/// Programs that were found, with their versions where those are known.
pub type Programs<'a> = BTreeMap<&'a str, Option<String>>;

/// Finds how the server of a repository is installed. `here`: the repository's own source.
///
/// # Errors
/// The fault in a file that is there, or which files were looked for and what to do instead.
pub fn find(files: &Files, here: &str) -> Result<FoundManifest, String> {
    for (name, read) in &files.documents {
        let text = read.as_ref().map_err(|why| format!("its {name} {why}"));
        let found = match *name {
            "package.json" => member(text.as_ref().ok().copied().unwrap_or(&Vec::new()), here),
            "server.json" => Ok(server(text?)),
            name => manifest::read(text?, Some(here)).map(Some).map_err(|why| format!("its {name} {why}")),
        };
        if let Some(says) = found? {
            let found_in = if *name == "package.json" { "mcp in package.json" } else { name };
            return Ok(FoundManifest { found_in: found_in.into(), says });
        }
    }
    match &files.own {
        Ok(content) => Ok(itself(files, here, *content)),
        Err(why) if files.is_package => Err(why.clone()),
        Err(_) => Err(nothing(&files.languages)),
    }
}

/// Reads a manifest from somewhere else than a repository.
///
/// # Errors
/// The fault in it.
pub fn of_document(text: &[u8]) -> Result<FoundManifest, String> {
    let value: Value = serde_json::from_slice(text).unwrap_or_default();
    let (found_in, says) = match server(text) {
        Some(says) if !is_meant(&value) => ("server.json", says),
        _ => ("mcp-manifest.json", manifest::read(text, None).map_err(|why| format!("the manifest {why}"))?),
    };
    Ok(FoundManifest { found_in: found_in.into(), says })
}

fn member(text: &[u8], here: &str) -> Result<Option<Manifest>, String> {
    let value: Value = serde_json::from_slice(text).unwrap_or_default();
    let member = &value["mcp"];
    match is_meant(member) {
        true => manifest::of_value(member, Some(here))
            .map(Some)
            .map_err(|why| format!("mcp in its package.json {why}")),
        false => Ok(None),
    }
}

/// A server.json of the official registry; anything else of this name is not meant.
fn server(text: &[u8]) -> Option<Manifest> {
    let value: Value = serde_json::from_slice(text).ok().filter(|_| text.len() <= manifest::MAX)?;
    let is_server = value["name"].as_str().is_some_and(|name| name.contains('/'));
    let (packages, remotes) = (&value["packages"], &value["remotes"]);
    (is_server && (packages.is_array() || remotes.is_array())).then(|| Manifest {
        title: manifest::words(&value, if value["title"].is_string() { "title" } else { "name" }, 100),
        description: manifest::words(&value, "description", 500),
        repository: None,
        ways: server_json::ways(&packages.to_string(), &remotes.to_string()),
        minimum: None,
        notes: Vec::new(),
    })
}

/// The repository is the package.
fn itself(files: &Files, here: &str, content: Content) -> FoundManifest {
    let package = files.documents.iter().find(|(name, _)| *name == "package.json");
    let value: Value = package
        .and_then(|(_, text)| serde_json::from_slice(text.as_ref().ok()?).ok())
        .filter(|_| content != Content::Python)
        .unwrap_or_default();
    let recipe = Recipe { source: here.into(), ..Recipe::default() };
    let says = Manifest {
        title: manifest::words(&value, "name", 100),
        description: manifest::words(&value, "description", 500),
        ways: vec![InstallOption { recipe, why_not: None }],
        ..Manifest::default()
    };
    let found_in = if content == Content::Python { "pyproject.toml" } else { "package.json" };
    FoundManifest { found_in: found_in.into(), says }
}

fn nothing(languages: &[(&str, &str)]) -> String {
    let built = languages.iter().map(|(file, language)| format!("a {file} ({language})")).collect::<Vec<_>>();
    let built = match built.is_empty() {
        true => String::new(),
        false => format!("it has {}, which Harbor does not build; ", built.join(", ")),
    };
    format!(
        "it does not say how to install its server: it has no mcp-manifest.json, .mcp/manifest.json, server.json, \
         package.json or pyproject.toml; {built}name one of its directories by #subdirectory=DIRECTORY, install its \
         published package (npm:, pypi:, oci:, a URL), or build it and run `harbor add NAME -- PROGRAM`"
    )
}

impl FoundManifest {
    /// Bars the ways that this machine has no programs for. `own`: what the repository itself is.
    pub fn fits(&mut self, own: Option<Content>, here: &str, programs: &Programs<'_>) {
        for (at, way) in self.says.ways.iter_mut().enumerate().filter(|(_, way)| way.why_not.is_none()) {
            let minimum = self.says.minimum.as_deref().filter(|_| at == 0);
            let own = own.filter(|_| way.recipe.source == here);
            way.why_not = lacking(&way.recipe.source, own, minimum, programs);
        }
    }
}

/// The program or version that this machine lacks for a source.
fn lacking(
    text: &str,
    own: Option<Content>,
    minimum: Option<&str>,
    programs: &Programs<'_>,
) -> Option<String> {
    let (needed, runtime): (&[&[&str]], _) = match (sort(text).ok()?, text.split(':').next()?, own) {
        (InstallSource::Image(_), ..) => (&[&["podman", "docker"]], None),
        (InstallSource::Package(_), "npm", _) => (&[&["node"], &["npm"]], Some("node")),
        (InstallSource::Package(_), "pypi", _) => (&[&["uv", "python"]], Some("python")),
        (InstallSource::Package(_), "git", Some(Content::Node { .. })) => {
            (&[&["git"], &["node"], &["npm"]], Some("node"))
        }
        (InstallSource::Package(_), "git", Some(Content::Python)) => {
            (&[&["git"], &["uv", "python"]], Some("python"))
        }
        (InstallSource::Package(_), "git", None) => (&[&["git"]], None),
        _ => return None,
    };
    let missing = needed.iter().find(|any| any.iter().all(|program| !programs.contains_key(program)));
    if let Some(missing) = missing {
        return Some(format!(
            "this machine has no {}; `harbor runtimes` shows where Harbor looked",
            missing.join(" or ")
        ));
    }
    let (runtime, minimum) = (runtime?, minimum?);
    let Some(wanted) = numbers(minimum) else {
        return Some(format!("its manifest requires {runtime} {minimum}, which is not a version"));
    };
    // uv gets another Python where this one is too old.
    let found =
        programs.get(runtime)?.as_deref().filter(|_| runtime != "python" || !programs.contains_key("uv"))?;
    let is_older = numbers(found).is_some_and(|found| found < wanted);
    is_older
        .then(|| format!("it requires {runtime} {minimum} or newer; found {found}, see `harbor runtimes`"))
}

/// `>=20.1` is 20, 1.
fn numbers(version: &str) -> Option<Vec<u64>> {
    let plain = version.trim().trim_start_matches(['>', '=', 'v', '^', '~', ' ']);
    let release = plain.split(['-', '+']).next()?;
    let parts: Option<Vec<u64>> = release.split('.').map(|part| part.parse().ok()).collect();
    let mut parts = parts?;
    // 20 and 20.0 are the same.
    while parts.last() == Some(&0) {
        parts.pop();
    }
    Some(parts)
}

#[cfg(test)]
mod tests;
