//! A manifest of a server that Harbor's own interpreters run, as a file of this machine.
//!
//! Owns what becomes of it: a definition, as `harbor add` makes one. Must never define anything that the person was not shown.

use std::io::Read as _;
use std::path::{Path, PathBuf};

use harbor_client::errors::Failure;
use harbor_home::files::regular_file;
use harbor_ipc_proto::client::{CredentialType, NetworkKind};
use harbor_policy::recipe::interpreted::{self, InterpretedManifest, Program, ProgramBytes};
use serde_json::{Value, json};

use super::add::{self, Interpreted};
use super::install::{NOTHING_INSTALLED, can_confirm, confirm, manifest_path};
use super::new_server::is_free;
use super::script::{Module, Script};
use super::{places, secrets};
use crate::args::{Definition, Package, Remote};
use crate::client::Client;
use crate::screen::Screen;
use crate::table::flatten;

/// The longest manifest, in bytes: it may hold a module.
const MAX: u64 = 24 * 1024 * 1024;

/// The manifest that a source names, if it is one of these.
pub fn named(source: &str) -> Result<Option<(PathBuf, InterpretedManifest)>, Failure> {
    let Some(path) = manifest_path(source) else { return Ok(None) };
    Ok(read(&path)?.map(|manifest| (path, manifest)))
}

fn read(path: &Path) -> Result<Option<InterpretedManifest>, Failure> {
    let Some(manifest) = value(path).filter(interpreted::is_meant) else { return Ok(None) };
    let read = interpreted::read(&manifest);
    read.map(Some).map_err(|wrong| Failure::Usage(format!("{} {}", path.display(), wrong.0)))
}

/// The file's JSON. None where there is none: whoever reads other manifests says why.
fn value(path: &Path) -> Option<Value> {
    let mut text = Vec::new();
    let opened = path.canonicalize().and_then(|file| regular_file(&file));
    opened.ok()?.take(MAX + 1).read_to_end(&mut text).ok()?;
    let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&text);
    serde_json::from_slice(text).ok().filter(|_| text.len() as u64 <= MAX)
}

/// Shows what it is, asks, and adds it.
pub fn install(
    client: &mut Client,
    wanted: &Package,
    (path, manifest): (&Path, &InterpretedManifest),
    screen: &mut Screen,
) -> Result<(), Failure> {
    let here = places::current_dir()?;
    let definition = definition(wanted, manifest);
    let program = program(&definition.name, path, &manifest.program)?;
    let ask = add::ask_for(&definition, program, &here)?;
    let shown = shown(&definition, manifest);
    if wanted.dry_run {
        return match screen.json {
            true => Ok(screen.json(&json!({"server_id": definition.name, "shown": shown}).to_string())?),
            false => Ok(screen.text(&shown)?),
        };
    }
    is_free(client, &definition.name)?;
    can_confirm(wanted)?;
    confirm(wanted.yes, &shown, "Install it?", NOTHING_INSTALLED, screen)?;
    let values = secrets::values(&definition.name, &definition.secrets)?;
    let values: Vec<_> =
        values.into_iter().map(|(name, value)| (name, CredentialType::ApiKey, value)).collect();
    add::run(client, &definition, (&ask, &values), screen)
}

/// The definition: what was typed goes before what the manifest says.
fn definition(wanted: &Package, manifest: &InterpretedManifest) -> Definition {
    let mut definition = wanted.definition.clone();
    if definition.name.is_empty() {
        definition.name.clone_from(&manifest.name);
    }
    let title = Some(&manifest.title).filter(|title| !title.is_empty());
    definition.label = definition.label.or_else(|| title.cloned());
    for (name, value) in &manifest.env {
        definition.env.entry(name.clone()).or_insert_with(|| value.clone());
    }
    definition.secrets.extend(manifest.secrets.iter().cloned());
    definition.secrets.sort();
    definition.secrets.dedup();
    definition.start = manifest.starts;
    match &manifest.program {
        Program::Remote { url, sse } => {
            let transport = sse.then(|| "sse".to_owned());
            definition.remote = Some(Remote { url: url.clone(), transport, ..wanted.remote.clone() });
        }
        Program::Script(_) if !manifest.hosts.is_empty() && definition.sandbox.network.is_none() => {
            definition.sandbox.network = Some(NetworkKind::Hosts);
            definition.sandbox.hosts.get_or_insert_default().extend(manifest.hosts.iter().cloned());
        }
        Program::Script(_) | Program::Module(_) => {}
    }
    let memory = manifest.memory.into_iter().flat_map(|mib| ["--memory".to_owned(), mib.to_string()]);
    definition.args = memory.chain(definition.args).collect();
    definition
}

/// The program. One that stands in the manifest counts as a file beside it.
fn program(name: &str, manifest: &Path, program: &Program) -> Result<Option<Interpreted>, Failure> {
    let (content, end) = match program {
        Program::Script(content) => (content, "js"),
        Program::Module(content) => (content, "wasm"),
        Program::Remote { .. } => return Ok(None),
    };
    let whole = manifest.canonicalize().unwrap_or_else(|_| manifest.to_owned());
    let beside = whole.parent().unwrap_or_else(|| Path::new("/"));
    let file = |name: &str| beside.join(name).to_string_lossy().into_owned();
    Ok(Some(match (content, end) {
        (ProgramBytes::Here(bytes), "js") => {
            Interpreted::Script(Script::of(file(&format!("{name}.js")), bytes.clone())?)
        }
        (ProgramBytes::Here(bytes), _) => {
            Interpreted::Module(Module::of(file(&format!("{name}.wasm")), bytes)?)
        }
        (ProgramBytes::File(name), _) if leads_out(&beside.join(name), beside) => {
            return Err(Failure::Usage(format!(
                "{name} is a link to a file that does not lie beside the manifest"
            )));
        }
        (ProgramBytes::File(name), "js") => Interpreted::Script(Script::read(&file(name), beside)?),
        (ProgramBytes::File(name), _) => Interpreted::Module(Module::read(&file(name), beside)?),
    }))
}

fn leads_out(file: &Path, directory: &Path) -> bool {
    file.canonicalize().is_ok_and(|file| !file.starts_with(directory))
}

/// The text before the question.
fn shown(definition: &Definition, manifest: &InterpretedManifest) -> String {
    let mut lines = vec![format!("server     {}", flatten(&definition.name))];
    let mut line = |name: &str, text: String| lines.push(format!("{name:<10} {}", flatten(&text)));
    match &manifest.program {
        Program::Script(_) => line("runs", "a script, in Harbor's own interpreter".into()),
        Program::Module(_) => line("runs", "a module of WebAssembly, in Harbor's own interpreter".into()),
        Program::Remote { url, .. } => line("remote", url.clone()),
    }
    if !manifest.description.is_empty() {
        line("says", manifest.description.clone());
    }
    let hosts = definition.sandbox.hosts.iter().flatten().cloned().collect::<Vec<_>>().join(", ");
    match (&manifest.program, hosts.is_empty()) {
        (Program::Remote { .. }, _) => {}
        (_, true) => line("may", "reach no host and see no file of yours, unless you allow it".into()),
        (_, false) => line("may", format!("reach {hosts}")),
    }
    for (name, value) in &definition.env {
        line("variable", format!("{name}={value}"));
    }
    for name in &definition.secrets {
        line("secret", name.clone());
    }
    for note in &manifest.notes {
        line("note", note.clone());
    }
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_manifest_becomes_a_definition_and_what_was_typed_goes_before_it() {
        let here = tempfile::tempdir().unwrap();
        let path = here.path().join("echo.json");
        let manifest = json!({"id": "echo", "name": "Echo", "runtime": "js", "scriptUrl": "echo.js", "env": ["A=1", "B=2"],
            "secretsDecl": [{"name": "KEY"}], "capabilities": {"network": {"hosts": ["a.example"]}}});
        std::fs::write(&path, manifest.to_string()).unwrap();
        let manifest = read(&path).unwrap().unwrap();
        let mut wanted = Package::default();
        wanted.definition.env.insert("A".into(), "9".into());
        let definition = definition(&wanted, &manifest);
        assert_eq!(
            (definition.name.as_str(), definition.env["A"].as_str(), definition.env["B"].as_str()),
            ("echo", "9", "2")
        );
        assert_eq!(definition.sandbox.network, Some(NetworkKind::Hosts));
        let said = shown(&definition, &manifest);
        assert!(said.contains("may        reach a.example") && said.contains("secret     KEY"), "{said}");
        assert!(
            program("echo", &path, &manifest.program).unwrap_err().message().unwrap().contains("cannot read")
        );
        std::fs::write(here.path().join("echo.js"), "1").unwrap();
        let found = program("echo", &path, &manifest.program).unwrap();
        assert!(
            matches!(found, Some(Interpreted::Script(script)) if script.text == "1" && script.file.ends_with("/echo.js"))
        );
    }

    #[test]
    fn other_files_are_for_others_to_read() {
        let here = tempfile::tempdir().unwrap();
        let path = here.path().join("a.json");
        for text in ["", "{", "[]", r#"{"manifestVersion":"1","name":"x","package":{}}"#] {
            std::fs::write(&path, text).unwrap();
            assert_eq!(read(&path).unwrap(), None, "{text}");
        }
        assert_eq!(read(&here.path().join("nothing.json")).unwrap(), None);
        std::fs::write(&path, r#"{"id":"x","runtime":"py"}"#).unwrap();
        assert!(read(&path).unwrap_err().message().unwrap().contains("use js, wasm or remote"));
    }
}
