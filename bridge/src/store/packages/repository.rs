//! The content of a repository: its author's words about its server, and a package of npm or of Python.
//!
//! Owns the place of its program. All of it is other people's data: it is read within a limit, and nothing that leads out of the
//! directory is used.

use std::collections::BTreeMap;
use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use harbor_policy::package::source::is_commit;
use harbor_policy::package::{Content, Package, git, no_program, npm, npm_program, pypi};
use harbor_policy::recipe::repository::{DOCUMENTS, Files, LANGUAGES};
use serde::Deserialize;
use toml::de::DeTable;

use super::bins::bins;
use super::files::{inside, read, read_to};
use super::resolved::MAX_LOCK;

/// The directory with the files of the repository.
pub(super) fn source(dir: &Path) -> Result<PathBuf, String> {
    let root = dir.canonicalize().map_err(|_| "it is not installed")?;
    let source = PathBuf::from(git::source_dir(&root.to_string_lossy()));
    let is_directory = source.symlink_metadata().is_ok_and(|found| found.is_dir());
    is_directory.then_some(source).ok_or_else(|| "it is not checked out".into())
}

/// The directory of its package: the top, or the named directory.
pub(super) fn home(package: &Package, dir: &Path) -> Result<PathBuf, String> {
    let source = source(dir)?;
    let Some(directory) = package.directory() else { return Ok(source) };
    let real = source.join(directory).canonicalize();
    let real = real.map_err(|_| format!("the repository has no directory {directory}"))?;
    match real.starts_with(&source) && real.is_dir() {
        true => Ok(real),
        false => Err(format!("{directory} is not a directory of the repository")),
    }
}

/// A fetched repository.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checkout {
    /// The commit.
    pub commit: String,
    /// The kind of package that it holds.
    pub content: Content,
    /// The versions of Python that it requires, in its own notation: other people's text.
    pub requires_python: Option<String>,
    /// Names and versions in its uv.lock: other people's text, too.
    pub locked: Vec<(String, String)>,
}

/// The checked-out commit, and the content. Call it before any of its code runs, since that could change
/// both. If the package names a commit, it must be that commit.
///
/// # Errors
/// When it is another one, or holds no package.
pub fn checkout(package: &Package, dir: &Path) -> Result<Checkout, String> {
    let commit = commit(dir)?;
    let wanted = package.address().1.filter(|wanted| is_commit(wanted));
    match wanted.is_none_or(|wanted| wanted == commit) {
        true => {
            let home = home(package, dir)?;
            let content = content(&home)?;
            let (requires_python, locked) = match content {
                Content::Python => (requires_python(&home), locked(&home)),
                Content::Node { .. } => (None, Vec::new()),
            };
            Ok(Checkout { commit, content, requires_python, locked })
        }
        false => Err(format!("the fetched commit {commit} is not the requested one")),
    }
}

/// The commit that is checked out, and the files that say how its server is had. Nothing of it runs.
///
/// # Errors
/// When it cannot be found out.
pub fn look(package: &Package, dir: &Path) -> Result<(String, Files), String> {
    let (commit, source) = (commit(dir)?, home(package, dir)?);
    let has = |name: &str| source.join(name).symlink_metadata().is_ok();
    let read = |name: &str| inside(&source, &source.join(name)).and_then(|path| read(&path));
    let there = DOCUMENTS.iter().filter(|name| has(name));
    let files = Files {
        documents: there.map(|name| (*name, read(name))).collect(),
        languages: LANGUAGES.iter().filter(|(name, _)| has(name)).copied().collect(),
        own: content(&source).and_then(|content| program(package, &source, content).map(|_| content)),
        is_package: ["package.json", "pyproject.toml", "setup.py"].into_iter().any(has),
    };
    Ok((commit, files))
}

fn commit(dir: &Path) -> Result<String, String> {
    let source = source(dir)?;
    let head = inside(&source, &source.join(".git/HEAD")).and_then(|head| read(&head));
    let head = head.map_err(|why| format!("its commit {why}"))?;
    let text = String::from_utf8_lossy(&head).trim().to_owned();
    is_commit(&text).then_some(text).ok_or_else(|| "it does not name its commit".into())
}

#[derive(Deserialize)]
struct RepositoryManifest {
    #[serde(default)]
    name: String,
    #[serde(default)]
    scripts: std::collections::BTreeMap<String, serde_json::Value>,
}

fn manifest(source: &Path) -> Result<(RepositoryManifest, Vec<u8>), String> {
    let text = inside(source, &source.join("package.json")).and_then(|path| read(&path));
    let text = text.map_err(|why| format!("its package.json {why}"))?;
    let manifest = serde_json::from_slice(&text);
    Ok((manifest.map_err(|_| "its package.json does not have the expected JSON form")?, text))
}

/// The kind of package that is there.
fn content(source: &Path) -> Result<Content, String> {
    let has = |name: &str| source.join(name).symlink_metadata().is_ok();
    if has("pyproject.toml") || has("setup.py") {
        return Ok(Content::Python);
    }
    if !has("package.json") {
        return Err("the repository has neither a package.json nor a pyproject.toml at its top".into());
    }
    if has("npm-shrinkwrap.json") {
        // npm takes it in place of the lock that was read.
        return Err("the repository has an npm-shrinkwrap.json; it can be installed once it has a package-lock.json instead".into());
    }
    let scripts = manifest(source)?.0.scripts;
    let builds = scripts.contains_key("build") && !scripts.contains_key("prepare");
    Ok(Content::Node { locked: has(npm::LOCK), builds })
}

/// The program.
pub(super) fn entry(package: &Package, dir: &Path) -> Result<PathBuf, String> {
    let source = home(package, dir)?;
    let content = content(&source)?;
    let (name, path) = program(package, &source, content)?;
    let (root, place) = match content {
        Content::Node { .. } => (source.clone(), source.join(path)),
        Content::Python => {
            let root = dir.canonicalize().map_err(|_| "it is not installed")?;
            (root.clone(), root.join("venv/bin").join(path))
        }
    };
    inside(&root, &place).map_err(|why| format!("the program {name} of {} {why}", package.name))
}

/// The program that the package names, and its path: in the repository, or among those of its environment.
pub(super) fn program(
    package: &Package,
    source: &Path,
    content: Content,
) -> Result<(String, String), String> {
    match content {
        Content::Node { .. } => node_program(package, source),
        Content::Python => python_program(package, source).map(|name| (name.clone(), name)),
    }
}

fn node_program(package: &Package, source: &Path) -> Result<(String, String), String> {
    let (manifest, text) = manifest(source)?;
    let named = Package { name: manifest.name, ..package.clone() };
    let bins = bins(&text).map_err(|why| format!("its package.json {why}"))?;
    let program = npm_program(&named, &bins)?;
    let path = bins.path(&named, &program).unwrap_or_default().to_owned();
    Ok((program, path))
}

/// The versions of Python that a project requires, in its own notation. uv checks that only when it installs the project.
fn requires_python(source: &Path) -> Option<String> {
    let text = inside(source, &source.join("pyproject.toml")).and_then(|path| read(&path)).ok()?;
    let text = String::from_utf8(text).ok()?;
    let all = DeTable::parse(&text).ok()?;
    let project = all.get_ref().get("project")?.get_ref().as_table()?;
    Some(project.get("requires-python")?.get_ref().as_str()?.to_owned())
}

/// The packages in its uv.lock that have one version. A package with several versions has each for another machine or Python.
fn locked(source: &Path) -> Vec<(String, String)> {
    let text = inside(source, &source.join(pypi::OF_UV)).and_then(|path| read_to(&path, MAX_LOCK));
    text.ok().and_then(|text| of_uv_lock(&String::from_utf8(text).ok()?)).unwrap_or_default()
}

fn of_uv_lock(text: &str) -> Option<Vec<(String, String)>> {
    let all = DeTable::parse(text).ok()?;
    let packages = all.get_ref().get("package")?.get_ref().as_array()?;
    let mut found: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for package in packages.iter().filter_map(|package| package.get_ref().as_table()) {
        let text = |name: &str| package.get(name)?.get_ref().as_str().map(str::to_owned);
        let is_of_registry = package
            .get("source")
            .and_then(|source| source.get_ref().as_table())
            .is_some_and(|source| source.contains_key("registry"));
        if let Some((name, version)) = text("name").zip(text("version")).filter(|_| is_of_registry) {
            found.entry(name).or_default().push(version);
        }
    }
    let one = |(name, versions): (String, Vec<String>)| Some((name, <[String; 1]>::try_from(versions).ok()?));
    Some(found.into_iter().filter_map(one).map(|(name, [version])| (name, version)).collect())
}

/// The name of a project of Python, and its programs.
fn project(text: &str) -> Option<(String, Vec<String>)> {
    let all = DeTable::parse(text).ok()?;
    let project = all.get_ref().get("project")?.get_ref().as_table()?;
    let name = project.get("name").and_then(|name| name.get_ref().as_str()).unwrap_or_default();
    let scripts = project.get("scripts").and_then(|scripts| scripts.get_ref().as_table());
    let scripts = scripts.into_iter().flat_map(|scripts| scripts.keys());
    Some((name.to_owned(), scripts.map(|name| name.get_ref().to_string()).collect()))
}

fn python_program(package: &Package, source: &Path) -> Result<String, String> {
    let text = inside(source, &source.join("pyproject.toml")).and_then(|path| read(&path));
    let text = text.map_err(|why| format!("its pyproject.toml {why}"))?;
    let (name, programs) = project(&String::from_utf8_lossy(&text))
        .ok_or("its pyproject.toml has no readable table [project]")?;
    let program = match programs.as_slice() {
        [only] => only,
        all => all
            .iter()
            .find(|program| **program == name)
            .ok_or_else(|| no_program(package, all.iter().map(String::as_str)))?,
    };
    if program.contains('/') || program.starts_with('.') {
        return Err("its pyproject.toml names a program whose name is not a file name".into());
    }
    Ok(program.clone())
}

/// Makes its programs executable. npm does that only for programs that it links, and these are not linked.
///
/// # Errors
/// When the file system refuses.
pub fn make_executable(package: &Package, dir: &Path) -> Result<(), String> {
    let file = entry(package, dir)?;
    let mode = file.metadata().map_err(|error| error.to_string())?.permissions().mode();
    std::fs::set_permissions(&file, Permissions::from_mode(mode | 0o111)).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_a_lock_of_uv_only_what_has_one_version_of_a_registry_counts() {
        let lock = r#"
version = 1
[[package]]
name = "mcp"
version = "1.6.0"
source = { registry = "https://registry.example/simple" }
[[package]]
name = "numpy"
version = "1.0"
source = { registry = "r" }
[[package]]
name = "numpy"
version = "2.0"
source = { registry = "r" }
[[package]]
name = "itself"
version = "0.1.0"
source = { virtual = "." }"#;
        assert_eq!(of_uv_lock(lock).unwrap(), [("mcp".to_owned(), "1.6.0".to_owned())]);
        assert_eq!(of_uv_lock("<html>"), None);
        assert_eq!(of_uv_lock("version = 1"), None);
    }

    #[test]
    fn a_lock_beside_the_one_that_is_read_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| std::fs::write(dir.path().join(name), text).unwrap();
        write("package.json", "{}");
        write("package-lock.json", "{}");
        assert!(matches!(content(dir.path()), Ok(Content::Node { locked: true, .. })));
        write("npm-shrinkwrap.json", "{}");
        assert!(content(dir.path()).unwrap_err().contains("npm-shrinkwrap.json"));
    }
}
