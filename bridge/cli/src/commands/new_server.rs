//! new server: a first server of the person's own, added and started.
//!
//! ```text
//!  --js         NAME.js ─────────────────────────────► added, started
//!  --rust-wasm  built elsewhere ─► NAME.rs, NAME.wasm ─► added, started
//! ```
//!
//! Owns the templates. Must never write over a file, replace a server, nor leave a part of one.

mod rust_wasm;

use std::fs::OpenOptions;
use std::io::{self, ErrorKind, Write as _};
use std::path::Path;

use harbor_client::errors::Failure;
use harbor_client::terminal::remark;
use harbor_ipc_proto::client::ListServers;

use super::{add, places};
use crate::args::{Definition, New};
use crate::client::{Client, QUICK};
use crate::screen::Screen;

/// The script that is written.
const TEMPLATE: &str = include_str!("new_server/template.js");

pub fn run(client: &mut Client, wanted: &New, screen: &mut Screen) -> Result<(), Failure> {
    let (name, here) = (&wanted.server, places::current_dir()?);
    is_free(client, name)?;
    let (definition, again) = match wanted.rust_wasm {
        true => module(name, &here, screen)?,
        false => script(name, &here, screen)?,
    };
    let ask = add::ask(&definition, &here)?;
    add::run(client, &definition, (&ask, &[]), screen)?;
    remark(&format!("call it: `harbor call {name}/greet name=World`; after a change: {again}"));
    Ok(())
}

/// Writes a script. Returns the server, and what to do after a change.
fn script(name: &str, here: &Path, screen: &mut Screen) -> Result<(Definition, String), Failure> {
    let file = format!("{name}.js");
    write(&here.join(&file), TEMPLATE.replace("NAME", name).as_bytes(), &format!("harbor add {name} --js"))?;
    wrote(screen, &file)?;
    let again = format!("`harbor add {name} --js {file}`");
    Ok((Definition { script: Some(file), ..named(name) }, again))
}

/// Builds a module and writes it with its source. Returns the server, and what to do after a change.
fn module(name: &str, here: &Path, screen: &mut Screen) -> Result<(Definition, String), Failure> {
    let (source, file) = (format!("{name}.rs"), format!("{name}.wasm"));
    for path in [&source, &file] {
        is_new(&here.join(path))?;
    }
    let built = rust_wasm::build(name)?;
    let add = format!("harbor add {name} --wasm");
    write(&here.join(&source), built.source.as_bytes(), &add)?;
    if let Err(failure) = write(&here.join(&file), &built.module, &add) {
        // Half a server is none.
        let _ = std::fs::remove_file(here.join(&source));
        return Err(failure);
    }
    wrote(screen, &source)?;
    wrote(screen, &file)?;
    let again = format!("`{} && {add} {file}`", built.command);
    Ok((Definition { module: Some(file), ..named(name) }, again))
}

fn named(name: &str) -> Definition {
    Definition { name: name.to_owned(), start: true, ..Definition::default() }
}

fn wrote(screen: &mut Screen, file: &str) -> Result<(), Failure> {
    if screen.json { Ok(()) } else { Ok(screen.text(&format!("wrote {file}"))?) }
}

/// Fails if there is a server of this name: it would be replaced, with what it may do and knows.
pub fn is_free(client: &mut Client, name: &str) -> Result<(), Failure> {
    let servers = client.ask(&ListServers {}, QUICK)?.into_value().servers;
    match servers.iter().any(|server| server.server_id == name) {
        true => Err(Failure::Usage(format!("there is a server {name} already; choose another name"))),
        false => Ok(()),
    }
}

fn is_new(path: &Path) -> Result<(), Failure> {
    match path.symlink_metadata() {
        Ok(_) => {
            Err(Failure::Usage(format!("{} exists and stays as it is; choose another name", path.display())))
        }
        Err(_) => Ok(()),
    }
}

/// Writes a new file. `add`: the start of the command that adds one that is there.
fn write(path: &Path, content: &[u8], add: &str) -> Result<(), Failure> {
    let shown = path.display();
    let made = OpenOptions::new().write(true).create_new(true).open(path);
    let written = made.and_then(|mut file| file.write_all(content));
    written.map_err(|error: io::Error| match error.kind() {
        ErrorKind::AlreadyExists => {
            Failure::Usage(format!("{shown} exists and stays as it is; `{add} {shown}` adds it"))
        }
        _ => Failure::Usage(format!("cannot write {shown}: {error}")),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_never_written_over() {
        let here = tempfile::tempdir().unwrap();
        let file = here.path().join("hello.js");
        let write = |path: &Path, text: &str| write(path, text.as_bytes(), "harbor add hello --js");
        write(&file, "one").unwrap();
        let said = write(&file, "two").unwrap_err().message().unwrap();
        assert!(said.contains("stays as it is; `harbor add hello --js "), "{said}");
        assert!(is_new(&file).is_err() && is_new(&here.path().join("other.rs")).is_ok());
        assert_eq!(std::fs::read_to_string(&file).unwrap(), "one");
        let said = write(&here.path().join("no/hello.js"), "one").unwrap_err().message().unwrap();
        assert!(said.contains("cannot write"), "{said}");
    }
}
