//! new server: a first script of the person's own, added and started.
//!
//! Owns the template. Must never write over a file, nor replace a server.

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
    let file = format!("{name}.js");
    is_free(client, name)?;
    write(&here.join(&file), &TEMPLATE.replace("NAME", name))?;
    if !screen.json {
        screen.text(&format!("wrote {file}"))?;
    }
    let definition =
        Definition { name: name.clone(), script: Some(file.clone()), start: true, ..Definition::default() };
    let ask = add::ask(&definition, &here)?;
    add::run(client, &definition, (&ask, &[]), screen)?;
    remark(&format!(
        "call it: `harbor call {name}/greet name=World`; after a change: `harbor add {name} --js {file}`"
    ));
    Ok(())
}

fn is_free(client: &mut Client, name: &str) -> Result<(), Failure> {
    let servers = client.ask(&ListServers {}, QUICK)?.into_value().servers;
    match servers.iter().any(|server| server.server_id == name) {
        true => Err(Failure::Usage(format!("there is a server {name} already; choose another name"))),
        false => Ok(()),
    }
}

/// Writes a new file.
fn write(path: &Path, text: &str) -> Result<(), Failure> {
    let shown = path.display();
    let made = OpenOptions::new().write(true).create_new(true).open(path);
    let written = made.and_then(|mut file| file.write_all(text.as_bytes()));
    written.map_err(|error: io::Error| match error.kind() {
        ErrorKind::AlreadyExists => {
            let name = path.file_stem().unwrap_or_default().display();
            Failure::Usage(format!(
                "{shown} exists and stays as it is; `harbor add {name} --js {shown}` adds it"
            ))
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
        write(&file, "one").unwrap();
        let said = write(&file, "two").unwrap_err().message().unwrap();
        assert!(said.contains("stays as it is; `harbor add hello --js "), "{said}");
        assert_eq!(std::fs::read_to_string(&file).unwrap(), "one");
        assert!(
            write(&here.path().join("no/hello.js"), "one")
                .unwrap_err()
                .message()
                .unwrap()
                .contains("cannot write")
        );
    }
}
