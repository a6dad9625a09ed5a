//! uninstall: Harbor taken off this machine.
//!
//! ```text
//!  AI clients ─► browsers ─► service ─► bridge ─► HARBOR_HOME, with --data ─► programs ─► what is left is said
//! ```
//!
//! Owns the order of the steps: a program that undoes something is still there when it is needed. Must never
//! remove data unasked, nor a file that is not Harbor's. One step that fails is no reason to leave out the
//! next.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use harbor_client::errors::{Exit, Failure};
use harbor_client::terminal::remark;
use harbor_client_configs::AiClient;
use harbor_home::Paths;

use super::doctor::PROGRAMS;
use super::{bridge, clients, native_host, service};
use crate::args::{HostPlace, NativeHost, Service, TakeOff, Uninstall};
use crate::consent;
use crate::screen::{Screen, Status};

/// This program itself.
const SELF: &str = "harbor";

pub fn run(wanted: &TakeOff, paths: &Paths, screen: &mut Screen) -> Result<(), Failure> {
    let (clients, programs) = (clients::with_harbor()?, programs());
    screen.text(&plan(wanted, &clients, &programs, paths))?;
    if !wanted.yes {
        consent::is_possible("uninstall")?;
        if !consent::ask("Take Harbor off this machine?")? {
            remark("nothing was changed");
            return Err(Failure::Said(Exit::Failed));
        }
    }
    let mut is_whole = true;
    let mut step = |done: Result<(), Failure>| {
        is_whole &= done.is_ok();
        done.err().and_then(|failure| failure.message()).iter().for_each(|text| remark(text));
    };
    let all = clients::present()?;
    let copies: Vec<_> = all.iter().filter_map(|client| copies_of(client).ok()).flatten().collect();
    for client in clients {
        step(clients::uninstall(&Uninstall { clients: vec![client], ..Uninstall::default() }, paths, screen));
    }
    let everywhere = HostPlace { browsers: Vec::new(), user_data_dir: None };
    step(native_host::run(&NativeHost::Uninstall(everywhere), paths, screen));
    if service::is_installed() {
        step(service::run(Some(&Service::Uninstall), paths, screen));
    }
    step(bridge::shut_down(paths, screen));
    if wanted.data {
        let _status = Status::new(&format!("deleting {} …", paths.home().display()));
        step(delete_home(paths));
    }
    programs.iter().for_each(|program| step(removed(fs::remove_file(program), program)));
    left(wanted, &copies, paths).iter().for_each(|text| remark(text));
    if is_whole { Ok(()) } else { Err(Failure::Said(Exit::Failed)) }
}

/// The plan of the removal.
fn plan(wanted: &TakeOff, clients: &[&AiClient], programs: &[PathBuf], paths: &Paths) -> String {
    let named: Vec<_> = clients.iter().map(|client| client.title).collect();
    let data = match wanted.data {
        true => format!("deletes   {}: servers, data, secrets, conversations", paths.home().display()),
        false => format!("keeps     {} (--data deletes it)", paths.home().display()),
    };
    let place = programs.first().and_then(|program| program.parent());
    let programs = place.map_or_else(|| "none".into(), |place| format!("those in {}", place.display()));
    let clients = if named.is_empty() { "none has Harbor".into() } else { named.join(", ") };
    format!("clients   {clients}\nbrowsers  the native host\nprograms  {programs}\n{data}")
}

/// Harbor's programs beside this one. Empty in a build directory.
fn programs() -> Vec<PathBuf> {
    let own = env::current_exe().ok().and_then(|program| program.parent().map(Path::to_owned));
    let own = own.filter(|directory| !directory.join("deps").exists());
    let names = PROGRAMS.iter().chain([&SELF]);
    let all = own.iter().flat_map(|directory| names.clone().map(|name| directory.join(name)));
    all.filter(|program| native_host::is_program(program)).collect()
}

/// The copies of a client's file from before Harbor, which may hold keys.
fn copies_of(client: &AiClient) -> Result<Vec<PathBuf>, Failure> {
    let file = clients::place(client)?;
    let name = format!("{}.before-harbor", file.file_name().unwrap_or_default().to_string_lossy());
    let beside =
        file.parent().and_then(|directory| directory.read_dir().ok()).into_iter().flatten().flatten();
    let copies = beside.filter(|entry| entry.file_name().to_string_lossy().starts_with(&name));
    Ok(copies.map(|entry| entry.path()).collect())
}

/// Deletes the home, but only a directory that is one of Harbor's.
fn delete_home(paths: &Paths) -> Result<(), Failure> {
    let home = paths.home();
    match paths.database().exists() || paths.journal().exists() {
        true => removed(fs::remove_dir_all(home), home),
        false => Ok(()),
    }
}

fn removed(done: std::io::Result<()>, what: &Path) -> Result<(), Failure> {
    done.map_err(|error| Failure::Usage(format!("{} stays: {error}", what.display())))
}

/// The files that are still there.
fn left(wanted: &TakeOff, copies: &[PathBuf], paths: &Paths) -> Vec<String> {
    let mut all: Vec<_> = copies
        .iter()
        .filter(|copy| copy.exists())
        .map(|copy| format!("left: {}, a copy from before Harbor; it may hold keys", copy.display()))
        .collect();
    if !wanted.data && paths.home().exists() {
        let home = paths.home().display();
        all.push(format!(
            "left: {home}, with your servers, their data and secrets: `rm -r {home}` deletes it"
        ));
    }
    all.push("left: the extension in your browsers, which they remove".into());
    all
}
