//! Values that an entry of the catalog asks for before it is installed: directories, variables, secrets.
//!
//! ```text
//!  id, repository, manifest ─► resolve_server ─► what stands behind `--` ─► what is still needed: asked for, unless --yes ─► the request
//!  after the yes: its secrets, by a prompt that shows nothing
//! ```
//!
//! Owns the list of values that are still needed; `asking` has the questions. Must never ask without a
//! terminal: the bridge's error then names the missing values.

use std::collections::BTreeMap;

use harbor_client::errors::Failure;
use harbor_client::payload::Payload;
use harbor_ipc_proto::client::{DeclaredView, InstallServer, ResolveServer, ResolvedView};
use harbor_ipc_proto::secret::Secret;
use harbor_policy::recipe::source::{InstallSource, sort};

use super::super::places;
use super::super::places::at_home;
use super::super::secrets::prompt;
use super::declared_secret::{DeclaredSecret, named};
use super::runs::word;
use super::shown::{show, under_way};
use super::{asking, document, plan};
use crate::args::Package;
use crate::client::Client;
use crate::consent;
use crate::screen::Screen;
use crate::table::flatten;

/// A request with all that could be found out before it is made.
#[derive(Debug)]
pub struct Complete {
    pub package: Package,
    /// The entry, if it is one.
    pub about: Option<About>,
    pub secrets: Vec<DeclaredSecret>,
}

/// The description of an entry, and how it came.
#[derive(Debug)]
pub struct About {
    pub entry: ResolvedView,
    /// For `--json`.
    pub shown: Payload,
}

impl Complete {
    /// A request about what was read of its repository or manifest.
    pub fn on(&self, ask: InstallServer) -> InstallServer {
        let planned = self.about.as_ref().and_then(|about| about.entry.planned.clone());
        InstallServer { planned: planned.or(ask.planned), ..ask }
    }

    /// The required values that were not given, as the person types them.
    pub fn lacking(&self) -> Vec<String> {
        let Package { inputs, definition, .. } = &self.package;
        let of = |list: &[DeclaredView], option: &str, is_given: &dyn Fn(&String) -> bool| {
            let needed = list.iter().filter(|one| one.required).map(|one| &one.name);
            let lacking = needed.filter(|name| !is_given(name));
            lacking.map(|name| format!("{option} {}=VALUE", word(name))).collect::<Vec<_>>()
        };
        let Some(About { entry, .. }) = &self.about else { return Vec::new() };
        let inputs = of(&entry.inputs, "--input", &|name| inputs.contains_key(name));
        [inputs, of(&entry.variables, "--env", &|name| definition.env.contains_key(name))].concat()
    }
}

/// True if the source is looked up before it is planned: somebody else describes how to get it.
fn is_described(source: &str) -> bool {
    match sort(source) {
        Ok(InstallSource::Entry(_)) => true,
        Ok(InstallSource::Package(package)) => package.starts_with("git:"),
        _ => false,
    }
}

pub fn complete(client: &mut Client, wanted: &Package, screen: &mut Screen) -> Result<Complete, Failure> {
    let mut package = wanted.clone();
    let mut secrets = named(&package);
    let file = document::path(&package.source);
    if file.is_none() && !is_described(&package.source) {
        return Ok(Complete { package, about: None, secrets });
    }
    let ask = ResolveServer {
        source: package.source.clone(),
        manifest: file.map(|file| document::read(&file)).transpose()?,
        package: package.way,
        progress: Some(true),
    };
    let answer = under_way(client, "looking it up", &ask)?;
    let shown = answer.part("server");
    let about = answer.into_value().server;
    let (inputs, variables) = (&about.inputs, &about.variables);
    take_behind(&mut package, inputs)?;
    if !package.yes && !package.dry_run {
        consent::is_possible("install")?;
        // Who is asked knows by then what about.
        show(screen, &plan::describe_entry(&about).join("\n"))?;
        asking::inputs(&mut package, inputs)?;
        asking::variables(&mut package, variables)?;
    }
    make_whole(&mut package, inputs, variables)?;
    let of_env = |secret: &DeclaredSecret| package.definition.env.contains_key(&secret.name);
    let declared = about.secrets.iter().map(DeclaredSecret::of).filter(|secret| !of_env(secret));
    let declared: Vec<_> =
        declared.filter(|one| secrets.iter().all(|known| known.name != one.name)).collect();
    secrets.extend(declared);
    Ok(Complete { package, about: Some(About { entry: about, shown }), secrets })
}

/// Takes the words behind `--`: for the one input that is asked for, else as the server's own arguments.
fn take_behind(package: &mut Package, inputs: &[DeclaredView]) -> Result<(), Failure> {
    let behind = match inputs {
        [] => return Ok(()),
        _ if package.definition.args.is_empty() => return Ok(()),
        _ => std::mem::take(&mut package.definition.args),
    };
    match inputs {
        [only] => {
            package.inputs.entry(only.name.clone()).or_default().extend(behind);
            Ok(())
        }
        many => {
            let names: Vec<_> = many.iter().map(|input| flatten(&input.name)).collect();
            let source = &package.source;
            let why = format!("{source} requires {}: pass each with --input NAME=VALUE", names.join(", "));
            Err(Failure::Usage(why))
        }
    }
}

/// Paths as the bridge needs them, which runs elsewhere.
fn make_whole(
    package: &mut Package,
    inputs: &[DeclaredView],
    variables: &[DeclaredView],
) -> Result<(), Failure> {
    let here = places::current_dir()?;
    for variable in variables.iter().filter(|variable| variable.path) {
        if let Some(path) = package.definition.env.get_mut(&variable.name) {
            *path = places::absolute(&at_home(path), &here)?;
        }
    }
    for input in inputs.iter().filter(|input| input.path) {
        for path in package.inputs.get_mut(&input.name).into_iter().flatten() {
            *path = places::absolute(&at_home(path), &here)?;
        }
    }
    Ok(())
}

/// Asks for each; Enter leaves one out.
pub fn ask_for(secrets: &[DeclaredSecret], server: &str) -> Result<BTreeMap<String, Secret>, Failure> {
    let question = |secret: &DeclaredSecret| {
        let example = match flatten(&secret.placeholder) {
            none if none.is_empty() => none,
            example => format!("such as {example}"),
        };
        let said = [flatten(&secret.description), flatten(&secret.help_url), example];
        let said = said.iter().filter(|text| !text.is_empty());
        let said: String = said.map(|line| format!("{line}\n")).collect();
        format!("{said}{} of {server} (not shown; Enter skips it): ", flatten(&secret.name))
    };
    if secrets.is_empty() {
        return Ok(BTreeMap::new());
    }
    let questions: Vec<_> = secrets.iter().map(question).collect();
    let wrong = |at: usize, value: &Secret| secrets.get(at).and_then(|secret| secret.expected(value));
    let answers = prompt::ask_until(&questions, &wrong)?;
    let names = secrets.iter().map(|secret| secret.name.clone());
    Ok(names.zip(answers).filter(|(_, value)| !value.is_empty()).collect())
}

#[cfg(test)]
mod tests {
    use super::super::super::rig::command;
    use super::*;
    use crate::args::Definition;

    const FILES: &str = r#"{"type":"resolve_server_result","request_id":"1","server":{"source":"filesystem","from":"curated","ways":[],"inputs":[{"name":"directory","description":"A directory.","required":true,"many":true,"path":true}],"variables":[],"secrets":[{"name":"KEY","description":"d","required":true}]}}"#;

    fn completed(package: &Package, answer: &str) -> (Result<Complete, String>, Vec<String>) {
        let mut found = None;
        let ran = command(false, &[answer], |client, screen| {
            found = Some(complete(client, package, screen));
            Ok(())
        });
        (found.unwrap().map_err(|failure| failure.message().unwrap_or_default()), ran.asked)
    }

    fn with_behind(behind: &[&str]) -> Package {
        let args = behind.iter().map(ToString::to_string).collect();
        let definition = Definition { args, ..Definition::default() };
        Package { source: "filesystem".into(), yes: true, definition, ..Package::default() }
    }

    #[test]
    fn what_stands_behind_is_the_one_thing_that_is_asked_for() {
        let (found, asked) = completed(&with_behind(&["/a", "b"]), FILES);
        assert_eq!(
            asked,
            [r#"{"type":"resolve_server","request_id":"1","source":"filesystem","progress":true}"#]
        );
        let Complete { package, secrets, .. } = found.unwrap();
        let directories = &package.inputs["directory"];
        assert!(directories[0] == "/a" && directories[1].starts_with('/') && directories[1].ends_with("/b"));
        assert_eq!((package.definition.args.len(), secrets.len()), (0, 1));
        let two = FILES.replace(r#""inputs":["#, r#""inputs":[{"name":"mode"},"#);
        let said = completed(&with_behind(&["/a"]), &two).0.unwrap_err();
        assert!(said.contains("filesystem requires mode, directory: pass each with --input"), "{said}");
        let none = FILES.replace(r#""inputs":[{"name":"directory","description":"A directory.","required":true,"many":true,"path":true}]"#, r#""inputs":[]"#);
        assert_eq!(completed(&with_behind(&["-x"]), &none).0.unwrap().package.definition.args, ["-x"]);
    }

    #[test]
    fn packages_are_not_looked_up() {
        let package = Package { source: "npm:x".into(), yes: true, ..Package::default() };
        let (found, asked) = completed(&package, FILES);
        assert!(found.unwrap().about.is_none() && asked.is_empty());
    }
}
