//! setup: everything that a newcomer would do, step by step.
//!
//! Owns the order of the steps and their questions. Must never do a step without a yes; its own command does its work.

use harbor_client::errors::Failure;
use harbor_client::terminal::remark;
use harbor_client_configs::browsers::State;
use harbor_home::Paths;

use super::native_host::{self, Here, look_at_all};
use super::{clients, doctor, import, service};
use crate::args::{HostInstall, HostPlace, Import, Install, NativeHost, Service, Setup};
use crate::consent;
use crate::screen::Screen;

pub fn run(wanted: &Setup, paths: &Paths, screen: &mut Screen) -> Result<(), Failure> {
    if !wanted.yes {
        consent::is_possible("setup")?;
    }
    let (clients, browsers) = (clients::present()?, unconnected(paths)?);
    let named: Vec<_> = clients.iter().map(|client| client.title).collect();
    screen.text(&format!("AI clients: {}", listed(&named)))?;
    screen.text(&format!("browsers to connect: {}\n", listed(&browsers)))?;

    if !clients.is_empty() {
        screen.text("Servers of your AI clients")?;
        // It asks by itself, with all that it would import. A server that stayed in the client's file would offer its tools twice.
        told(import::run(&Import { yes: wanted.yes, replace: true, ..Import::default() }, paths, screen));
    }
    // The import has put Harbor into some already.
    let theirs = clients::with_harbor()?;
    let open: Vec<_> =
        clients.into_iter().filter(|client| theirs.iter().all(|its| its.id != client.id)).collect();
    let named: Vec<_> = open.iter().map(|client| client.title).collect();
    if !open.is_empty() && agreed(wanted, &format!("Put Harbor into {}?", named.join(", ")))? {
        told(clients::install(&Install { clients: open, ..Install::default() }, paths, screen));
    }
    if !browsers.is_empty() && agreed(wanted, &format!("Connect {} to Harbor?", browsers.join(", ")))? {
        let place = HostPlace { browsers: Vec::new(), user_data_dir: None };
        let all = HostInstall { place, extension_ids: Vec::new(), replace: false };
        told(native_host::run(&NativeHost::Install(all), paths, screen));
    }
    // With --yes nothing is done that lasts beyond files of clients and browsers.
    if !wanted.yes && !service::is_installed() && consent::ask("Start Harbor with your session (systemd)?")? {
        told(service::run(Some(&Service::Install { dry_run: false }), paths, screen));
    }
    screen.text("")?;
    doctor::run(paths, (false, false), screen)
}

/// The browsers here that Harbor's extension cannot use yet.
fn unconnected(paths: &Paths) -> Result<Vec<&'static str>, Failure> {
    let seen = look_at_all(&Here::of_process()?, paths)?;
    let open = seen.iter().filter(|seen| seen.matters() && seen.state != State::Installed);
    Ok(open.map(|seen| seen.target.browser.title).collect())
}

fn listed(names: &[&str]) -> String {
    if names.is_empty() { "none found".into() } else { names.join(", ") }
}

fn agreed(wanted: &Setup, question: &str) -> Result<bool, Failure> {
    if wanted.yes { Ok(true) } else { consent::ask(question) }
}

/// Reports a step that failed. The next step is still taken.
fn told(done: Result<(), Failure>) {
    done.err().and_then(|failure| failure.message()).iter().for_each(|text| remark(text));
}
