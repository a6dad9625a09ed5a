//! The lock of an installation: which versions there are of everything, and their hashes.
//!
//! ```text
//!  package-lock.json ───────────────────────► version, integrity, tree
//!  report.json of pip ─► requirements.txt ──►   (as for uv, which writes the latter itself)
//!  unpacked.json of what is downloaded ─────►   (see `binary`)
//! ```
//!
//! Owns reading and writing those files. The output of installers is other people's data: it is read within a limit, and each
//! word of a list of requirements is checked.

use std::collections::BTreeMap;
use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use harbor_home::files::write_atomically;
use harbor_policy::package::source::is_commit;
use harbor_policy::package::{Content, Ecosystem, Package, git, npm, npm_program, pypi};
use serde::Deserialize;

use super::binary;
use super::bins::bins_of;
use super::files::{inside, read_to};
use super::repository::{self, Checkout};
use super::resolved::{MAX_LOCK, Resolved};
use crate::store::removal::remove_tree;

/// The mark before a commit, which is the hash of its repository.
pub const OF_COMMIT: &str = "git-";
/// The largest tree that is kept in the database.
const MAX_TREE: usize = 4 << 20;

/// Writes down the wanted package, for installers that read it from a file. `source`: the repository, if it is one.
///
/// # Errors
/// When the file system refuses, or the packages that are wanted beside it cannot be had.
pub fn write_wanted(package: &Package, dir: &Path, source: Option<&Checkout>) -> Result<(), String> {
    let Package { ecosystem, with, .. } = package;
    match ecosystem {
        Ecosystem::Pypi => {
            write(&dir.join(pypi::PLAN), pypi::PLAN_TEXT)?;
            write(&dir.join(pypi::WANTED), &format!("{}\n", package.wanted().join("\n")))
        }
        Ecosystem::Git => match source {
            Some(Checkout { content: Content::Python, locked, .. }) => {
                let within = locked.iter().filter_map(|(name, version)| pypi::within(name, version, with));
                let lines =
                    |lines: Vec<String>| lines.iter().map(|line| format!("{line}\n")).collect::<String>();
                write(&dir.join(pypi::WITHIN), &lines(within.collect()))?;
                write(&dir.join(pypi::WANTED), &lines(with.clone()))
            }
            _ if with.is_empty() => Ok(()),
            _ => Err("it is not a Python package, and --with works only for these".into()),
        },
        Ecosystem::Npm | Ecosystem::Binary => Ok(()),
    }
}

/// Writes down for uv that a newer version is wanted.
///
/// # Errors
/// When the file system refuses.
pub fn write_newer(dir: &Path, wanted: &str) -> Result<(), String> {
    write(&dir.join(pypi::WANTED_NEWER), &format!("{wanted}\n"))
}

/// A version that an installer has found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Newer {
    /// The version.
    pub version: String,
    /// The versions of Python that it requires, in its own notation.
    pub requires_python: Option<String>,
}

/// The newer version that an installer has found.
#[must_use]
pub fn newer(dir: &Path) -> Option<Newer> {
    let [report, lock] = pypi::NEWER.map(|name| dir.join(name));
    if let Ok(text) = read_to(&report, MAX_LOCK) {
        let report: Report = serde_json::from_slice(&text).ok()?;
        let Metadata { version, requires_python, .. } = report.install.into_iter().next()?.metadata;
        return Some(Newer { version, requires_python });
    }
    let text = read_to(&lock, MAX_LOCK).ok()?;
    let version = requirements(&String::from_utf8(text).ok()?).next()?.1.to_owned();
    Some(Newer { version, requires_python: None })
}

/// Reads the result of an installer, and writes the files for the next step. `source` is the repository
/// before any of its code ran.
///
/// # Errors
/// A sentence about what is wrong with it.
pub fn resolved(package: &Package, dir: &Path, source: Option<Checkout>) -> Result<Resolved, String> {
    if package.ecosystem == Ecosystem::Binary {
        return binary::resolved(dir);
    }
    let content = source.as_ref().map(|source| source.content);
    let is_node = is_node(package, content);
    let tree = if is_node { node_tree(package, dir, content)? } else { python_tree(dir)? };
    if is_node {
        all_pinned(&tree)?;
    }
    if tree.len() > MAX_TREE {
        return Err("its list of packages is too long".into());
    }
    let program = program(package, dir, content, &tree)?;
    let (found, packages) = match (package.ecosystem, source) {
        (Ecosystem::Npm, _) => of_npm(package, &tree)?,
        (Ecosystem::Pypi, _) => of_pypi(package, &tree)?,
        (Ecosystem::Git | Ecosystem::Binary, None) => return Err("it is not checked out".into()),
        (Ecosystem::Git | Ecosystem::Binary, Some(Checkout { commit, .. })) => {
            let packages = match is_node {
                true => node_packages(&tree)?.packages.len().saturating_sub(1),
                false => requirements(&tree).count(),
            };
            let integrity = format!("{OF_COMMIT}{commit}");
            ((commit, integrity), packages)
        }
    };
    let packages = u32::try_from(packages).unwrap_or(u32::MAX);
    Ok(Resolved { version: found.0, integrity: found.1, tree, packages, program })
}

/// The program that will be run. npm says so of its packages before it fetches them; a built package may say something else
/// later.
fn program(
    package: &Package,
    dir: &Path,
    content: Option<Content>,
    tree: &str,
) -> Result<Option<String>, String> {
    match package.ecosystem {
        Ecosystem::Npm => {
            let itself = node_packages(tree)?.packages.remove(&format!("node_modules/{}", package.name));
            itself.map(|itself| npm_program(package, &bins_of(itself.bin))).transpose()
        }
        Ecosystem::Pypi => Ok(Some(package.program_or_name().to_owned())),
        Ecosystem::Git | Ecosystem::Binary => Ok(content
            .zip(repository::home(package, dir).ok())
            .and_then(|(content, home)| repository::program(package, &home, content).ok())
            .map(|(name, _)| name)),
    }
}

fn is_node(package: &Package, content: Option<Content>) -> bool {
    package.ecosystem == Ecosystem::Npm || matches!(content, Some(Content::Node { .. }))
}

/// Writes a lock where the installer looks for it.
///
/// # Errors
/// When the file system refuses.
pub fn write_lock(package: &Package, dir: &Path, content: Option<Content>, tree: &str) -> Result<(), String> {
    match (package.ecosystem, is_node(package, content)) {
        (Ecosystem::Npm, _) => {
            let root = node_packages(tree)?.packages.remove("").unwrap_or_default();
            let manifest = serde_json::json!({"dependencies": root.dependencies});
            write(&dir.join("package.json"), &manifest.to_string())?;
            write(&dir.join(npm::LOCK), tree)
        }
        (Ecosystem::Git, true) => {
            let place = repository::home(package, dir)?.join(npm::LOCK);
            // A link of the repository's would be written through.
            let _ = std::fs::remove_file(&place);
            write(&place, tree)
        }
        // Its hash stands in what is fetched.
        (Ecosystem::Binary, _) => Ok(()),
        _ => write(&dir.join(pypi::LOCK), tree),
    }
}

/// Forgets the resolved versions of a package of npm: npm keeps what it finds locked, even if a newer one would fit by now.
///
/// # Errors
/// When the disk refuses.
pub fn forget_lock(dir: &Path) -> Result<(), String> {
    let mut all = ["package.json", npm::LOCK].into_iter();
    all.try_for_each(|name| remove_tree(&dir.join(name))).map_err(|error| error.to_string())
}

fn write(path: &Path, text: &str) -> Result<(), String> {
    write_atomically(path, text.as_bytes()).map_err(|error| error.to_string())
}

fn text(root: &Path, path: &Path) -> Result<String, String> {
    let read = inside(root, path).and_then(|path| read_to(&path, MAX_LOCK));
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let bytes = read.map_err(|why| format!("{name} {why}"))?;
    String::from_utf8(bytes).map_err(|_| format!("{name} is not UTF-8 text"))
}

fn node_tree(package: &Package, dir: &Path, content: Option<Content>) -> Result<String, String> {
    let root = dir.canonicalize().map_err(|error| format!("its directory is missing: {error}"))?;
    let place = match content {
        Some(_) => Path::new(&git::package_dir(package, &root.to_string_lossy())).join(npm::LOCK),
        None => root.join(npm::LOCK),
    };
    let mut text = text(&root, &place)?;
    if content.is_some() {
        return Ok(text);
    }
    let Ok(mut tree) = serde_json::from_str(&text) else { return Ok(text) };
    if npm::drop_absent(&mut tree) {
        text = tree.to_string();
        write(&place, &text)?;
    }
    Ok(nameless(tree).unwrap_or(text))
}

/// npm names the whole after its directory, which is another one at each installation. Removes that name.
fn nameless(mut tree: serde_json::Value) -> Option<String> {
    tree.as_object_mut()?.remove("name");
    tree.get_mut("packages")?.get_mut("")?.as_object_mut()?.remove("name");
    serde_json::to_string(&tree).ok()
}

/// The entries of a package-lock.json.
#[derive(Debug, Deserialize)]
struct NodePackages {
    #[serde(default)]
    packages: BTreeMap<String, NodePackage>,
}

#[derive(Debug, Default, Deserialize)]
struct NodePackage {
    #[serde(default)]
    version: String,
    #[serde(default)]
    integrity: String,
    #[serde(default)]
    resolved: String,
    #[serde(default)]
    link: bool,
    #[serde(default, rename = "inBundle")]
    in_bundle: bool,
    #[serde(default)]
    dependencies: BTreeMap<String, String>,
    #[serde(default)]
    bin: serde_json::Value,
}

fn node_packages(tree: &str) -> Result<NodePackages, String> {
    serde_json::from_str(tree).map_err(|_| format!("{} does not have npm's form", npm::LOCK))
}

impl NodePackage {
    /// True if the lock itself says which file it is: by its hash, its commit, or since it lies in the repository.
    fn is_pinned(&self) -> bool {
        let is_inside =
            !self.resolved.starts_with('/') && !self.resolved.contains(':') && !self.resolved.contains("..");
        let commit = self.resolved.strip_prefix("git+").and_then(|address| address.rsplit_once('#'));
        match (self.link, commit) {
            (true, _) => is_inside,
            (false, Some((_, commit))) => is_commit(commit),
            (false, None) => is_hash(&self.integrity),
        }
    }
}

/// True if npm holds a file to this: it ignores hashes that it cannot read.
fn is_hash(integrity: &str) -> bool {
    let is_one = |hash: &str| {
        let (name, digest) = hash.split_once('-').unwrap_or_default();
        let length = match name {
            "sha512" => 64,
            "sha384" => 48,
            "sha256" => 32,
            _ => return false,
        };
        STANDARD.decode(digest).is_ok_and(|digest| digest.len() == length)
    };
    let mut hashes = integrity.split_ascii_whitespace().peekable();
    hashes.peek().is_some() && hashes.all(is_one)
}

/// True if the package at this place is pinned, or lies in the file of a pinned package.
fn is_pinned(packages: &BTreeMap<String, NodePackage>, place: &str, package: &NodePackage) -> bool {
    let (mut place, mut package) = (place, package);
    while package.in_bundle {
        let around = place.rsplit_once("/node_modules/").map_or("", |(around, _)| around);
        let Some(outer) = packages.get(around).filter(|outer| !around.is_empty() && !outer.link) else {
            return false;
        };
        (place, package) = (around, outer);
    }
    package.is_pinned()
}

/// Checks that each package of the tree is pinned: a repository brings its own lock.
fn all_pinned(tree: &str) -> Result<(), String> {
    let packages = node_packages(tree)?.packages;
    if packages.is_empty() {
        return Err(format!(
            "{} does not say where its packages come from: its publisher must write it again with npm 7 or newer (`npm \
             install --package-lock-only`)",
            npm::LOCK
        ));
    }
    let installed = packages.iter().filter(|(place, _)| place.contains("node_modules/"));
    let loose = installed
        .filter(|(place, package)| !is_pinned(&packages, place, package))
        .map(|(place, _)| place)
        .next();
    loose.map_or(Ok(()), |place| {
        Err(format!(
            "{} has no hash of {place}, so another file could replace it: its publisher must write it again with `npm \
             install --package-lock-only`",
            npm::LOCK
        ))
    })
}

fn of_npm(package: &Package, tree: &str) -> Result<((String, String), usize), String> {
    let mut found = node_packages(tree)?.packages;
    let count = found.len().saturating_sub(1);
    let itself = found.remove(&format!("node_modules/{}", package.name));
    let itself = itself.filter(|found| !found.version.is_empty() && !found.integrity.is_empty());
    let itself =
        itself.ok_or_else(|| format!("npm does not report the version and hash of {}", package.name))?;
    Ok(((itself.version, itself.integrity), count))
}

/// The packages that pip says it would install.
#[derive(Debug, Deserialize)]
struct Report {
    install: Vec<Reported>,
}

#[derive(Debug, Deserialize)]
struct Reported {
    download_info: Download,
    metadata: Metadata,
    /// It was named by an address, so that no index has it.
    #[serde(default)]
    is_direct: bool,
}

#[derive(Debug, Deserialize)]
struct Download {
    #[serde(default)]
    url: String,
    dir_info: Option<serde::de::IgnoredAny>,
    archive_info: Option<Archive>,
}

#[derive(Debug, Deserialize)]
struct Archive {
    #[serde(default)]
    hashes: BTreeMap<String, String>,
}

#[derive(Debug, Deserialize)]
struct Metadata {
    name: String,
    version: String,
    #[serde(default)]
    requires_python: Option<String>,
}

/// The requirements: as uv has written them, or as made from pip's report.
fn python_tree(dir: &Path) -> Result<String, String> {
    let root = dir.canonicalize().map_err(|error| format!("its directory is missing: {error}"))?;
    let report = root.join(pypi::REPORT);
    if report.symlink_metadata().is_err() {
        return text(&root, &root.join(pypi::LOCK));
    }
    let tree = of_report(&text(&root, &report)?)?;
    write(&root.join(pypi::LOCK), &tree)?;
    Ok(tree)
}

/// A line for each package, which only this very file fulfils.
///
/// # Errors
/// The fault in the report.
pub fn of_report(report: &str) -> Result<String, String> {
    let wrong = || format!("{} does not have pip's form", pypi::REPORT);
    let report: Report = serde_json::from_str(report).map_err(|_| wrong())?;
    let mut lines = Vec::new();
    for Reported { download_info, metadata: Metadata { name, version, .. }, is_direct } in report.install {
        if download_info.dir_info.is_some() {
            // The repository itself, which its commit stands for.
            continue;
        }
        let plain = |text: &str| {
            text.bytes().all(|b| b.is_ascii_alphanumeric() || b"._-+!".contains(&b))
                && text.bytes().next().is_some_and(|b| b.is_ascii_alphanumeric())
        };
        let hash =
            download_info.archive_info.as_ref().and_then(|archive| archive.hashes.get("sha256").cloned());
        let hash = hash.filter(|hash| hash.len() == 64 && hash.bytes().all(|b| b.is_ascii_hexdigit()));
        let which = match is_direct {
            true => is_plain_address(&download_info.url).then(|| format!(" @ {}", download_info.url)),
            false => plain(&version).then(|| format!("=={version}")),
        };
        match (hash, which) {
            (Some(hash), Some(which)) if plain(&name) => {
                lines.push(format!("{}{which} \\\n    --hash=sha256:{hash}\n", normal(&name)));
            }
            _ => {
                return Err(format!(
                    "pip reports no hash of {name:?}, so Harbor could not install the same file again"
                ));
            }
        }
    }
    lines.sort();
    Ok(lines.concat())
}

/// An address that means the same in a list of requirements: without what ends one there, or names a variable.
fn is_plain_address(url: &str) -> bool {
    ["https://", "http://", "file:///"].iter().any(|scheme| url.starts_with(scheme))
        && url.bytes().all(|b| b.is_ascii_alphanumeric() || b"-._~:/?#[]@!&()*+,%=".contains(&b))
}

/// Name and version, or address, of each line that begins one, and the first hash behind it.
fn requirements(tree: &str) -> impl Iterator<Item = (String, &str, &str)> {
    tree.split("\n").enumerate().filter_map(move |(at, line)| {
        let begins = !line.is_empty() && !line.starts_with([' ', '#', '-']);
        let (name, rest) = line.split_once(" @ ").or_else(|| line.split_once("==")).filter(|_| begins)?;
        let name = name.split('[').next().unwrap_or(name);
        let version = rest.split([' ', ';', '\\']).next().unwrap_or_default();
        let behind = tree.split('\n').skip(at).find_map(|line| line.split_once("--hash="));
        let hash = behind.map_or("", |(_, hash)| hash.split([' ', '\\']).next().unwrap_or_default());
        Some((normal(name), version, hash))
    })
}

fn of_pypi(package: &Package, tree: &str) -> Result<((String, String), usize), String> {
    let wanted = normal(&package.name);
    let itself = requirements(tree)
        .find(|(name, version, hash)| *name == wanted && !version.is_empty() && !hash.is_empty());
    let (_, version, hash) =
        itself.ok_or_else(|| format!("the version and hash of {} are unknown", package.name))?;
    Ok(((version.to_owned(), hash.to_owned()), requirements(tree).count()))
}

/// Names of Python packages are the same with any of `-`, `_` and `.`, and in any case.
pub(super) fn normal(name: &str) -> String {
    let mut out = String::new();
    for c in name.trim().chars() {
        match c {
            '-' | '_' | '.' if out.ends_with('-') => {}
            '-' | '_' | '.' => out.push('-'),
            c => out.push(c.to_ascii_lowercase()),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn package(source: &str) -> Package {
        harbor_policy::package::recognise(source, &[]).unwrap()
    }

    #[test]
    fn the_lock_of_npm_is_read_and_its_manifest_made_again() {
        let dir = tempfile::tempdir().unwrap();
        let hash = format!("sha512-{}==", "A".repeat(86));
        let tree = r#"{"lockfileVersion":3,"packages":{"":{"dependencies":{"@a/b":"1.2.3"}},"node_modules/@a/b":{"bin":{"b":"b.js"},"integrity":"HASH","version":"1.2.3"},"node_modules/c":{"integrity":"HASH","version":"0.1.0"}}}"#;
        let tree = &tree.replace("HASH", &hash);
        let named = tree.replacen('{', r#"{"name":"7","#, 1).replace(r#""":{"#, r#""":{"name":"7","#);
        std::fs::write(dir.path().join(npm::LOCK), named).unwrap();
        let package = package("npm:@a/b");
        let found = resolved(&package, dir.path(), None).unwrap();
        let wanted = Resolved {
            version: "1.2.3".into(),
            integrity: hash,
            tree: tree.clone(),
            packages: 2,
            program: Some("b".into()),
        };
        assert_eq!(found, wanted);
        std::fs::write(dir.path().join(npm::LOCK), tree.replace(r#""bin":{"b":"b.js"},"#, "")).unwrap();
        assert!(resolved(&package, dir.path(), None).unwrap_err().contains("it is a library, not a server"));
        let again = tempfile::tempdir().unwrap();
        write_lock(&package, again.path(), None, tree).unwrap();
        let manifest = std::fs::read_to_string(again.path().join("package.json")).unwrap();
        assert_eq!(manifest, r#"{"dependencies":{"@a/b":"1.2.3"}}"#);
        std::fs::write(dir.path().join(npm::LOCK), r#"{"packages":{}}"#).unwrap();
        assert!(resolved(&package, dir.path(), None).unwrap_err().contains("does not say"));
    }

    #[test]
    fn what_could_be_another_file_tomorrow_is_no_lock() {
        let of = |entry: &str| {
            all_pinned(&format!(r#"{{"packages":{{"":{{}},"node_modules/dep":{{{entry}}}}}}}"#))
        };
        let (hash, commit) = (format!("sha512-{}==", "A".repeat(86)), "0a".repeat(20));
        for pinned in [
            format!(r#""resolved":"https://h/d.tgz","integrity":"{hash}""#),
            format!(r#""resolved":"git+ssh://git@h/d.git#{commit}""#),
            r#""resolved":"packages/dep","link":true"#.into(),
            format!(r#""integrity":"{hash}"}},"node_modules/dep/node_modules/in":{{"inBundle":true"#),
        ] {
            assert_eq!(of(&pinned), Ok(()), "{pinned}");
        }
        for loose in [
            r#""version":"1.0.0""#,
            r#""resolved":"http://h/d.tgz""#,
            // npm passes over what it cannot read.
            r#""resolved":"https://h/d.tgz","integrity":"x""#,
            r#""resolved":"https://h/d.tgz","integrity":"sha512-x""#,
            r#""integrity":"md5-AAAAAAAAAAAAAAAAAAAAAA==""#,
            r#""resolved":"git+ssh://git@h/d.git""#,
            r#""resolved":"git+ssh://git@h/d.git#main""#,
            r#""resolved":"https://h/d.tgz","link":true"#,
            r#""resolved":"../d","link":true"#,
            // A repository is no file that others could be in.
            r#""version":"1.0.0","inBundle":true"#,
        ] {
            assert!(of(loose).unwrap_err().contains("no hash of node_modules/dep"), "{loose}");
        }
        let deep = format!(
            r#"{{"packages":{{"node_modules/{}":{{"inBundle":true}}}}}}"#,
            "a/node_modules/".repeat(100_000)
        );
        assert!(all_pinned(&deep).is_err());
        assert!(
            all_pinned(r#"{"lockfileVersion":1,"dependencies":{"a":{}}}"#).unwrap_err().contains("npm 7")
        );
    }

    #[test]
    fn a_report_of_pip_becomes_requirements_with_hashes() {
        let hash = "a1".repeat(32);
        let report = |name: &str, info: &str| {
            format!(
                r#"{{"version":"1","install":[{{"download_info":{{"url":"u",{info}}},"metadata":{{"name":"{name}","version":"1.0"}}}}]}}"#
            )
        };
        let archive = format!(r#""archive_info":{{"hashes":{{"sha256":"{hash}"}}}}"#);
        let tree = of_report(&report("My_Server.x", &archive)).unwrap();
        assert_eq!(tree, format!("my-server-x==1.0 \\\n    --hash=sha256:{hash}\n"));
        assert_eq!(of_report(&report("x", r#""dir_info":{}"#)).unwrap(), "");
        assert!(of_report(&report("x", r#""vcs_info":{}"#)).is_err());
        assert!(of_report(&report("x --index-url=http://h", &archive)).is_err());
        let (found, count) = of_pypi(&package("pypi:my-server.X[e]>=1"), &tree).unwrap();
        assert_eq!((found, count), (("1.0".into(), format!("sha256:{hash}")), 1));
        // What was named by an address is found there only.
        let direct = |url: &str| {
            let report = report("dep", &archive).replace(r#""url":"u""#, &format!(r#""url":"{url}""#));
            of_report(&report.replace(r#""metadata""#, r#""is_direct":true,"metadata""#))
        };
        let line = direct("https://h/dep-1.0.tar.gz").unwrap();
        assert_eq!(line, format!("dep @ https://h/dep-1.0.tar.gz \\\n    --hash=sha256:{hash}\n"));
        assert_eq!(of_pypi(&package("pypi:my-server-x"), &(tree + &line)).unwrap().1, 2);
        for wrong in ["https://h/a b", "https://h/${HOME}", "https://h/a;b", "-r x", "https://h/a\\\\"] {
            assert!(direct(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn what_uv_writes_is_read() {
        let tree =
            "# x\na[e]==2.0 ; python_version > '3' \\\n    --hash=sha256:1 \\\n    --hash=sha256:2\nb==3\n";
        let all: Vec<_> = requirements(tree).collect();
        assert_eq!(all, [("a".into(), "2.0", "sha256:1"), ("b".into(), "3", "")]);
    }
}
