//! The commands: each asks the bridge and prints what it answers.
//!
//! Owns one short file per group. Must never reach past the client: no file of the bridge is read here.

mod add;
mod arguments;
mod audit;
mod auth;
mod bridge;
mod call;
mod catalog;
mod changes;
mod clients;
mod complete;
mod config;
mod doctor;
mod events;
mod follow;
mod grants;
mod import;
mod install;
mod list;
mod logs;
mod mcp;
mod metrics;
mod native_host;
mod offers;
mod places;
mod printing;
mod progress;
mod remarks;
mod remote;
mod restarts;
mod sandbox;
mod secrets;
mod servers;
mod set;
mod stats;
mod status;
mod tool_list;
mod tools;
mod top;
mod upgrade;

use harbor_client::errors::Failure;
use harbor_home::Paths;
use harbor_home::dial::DialError;

use crate::args::{Command, Config, Listing};
use crate::client::Client;
use crate::consent;
use crate::help;
use crate::media::Shelf;
use crate::screen::Screen;

/// Runs a command. What can be found wrong without the bridge is found before one is started.
pub fn run(command: Command, screen: &mut Screen) -> Result<(), Failure> {
    let connect = || Client::connect(&paths()?);
    match command {
        Command::Help(topic) => {
            let text = topic.and_then(help::find).map_or_else(help::overview, help::explain);
            Ok(screen.text(&text)?)
        }
        Command::Manual => Ok(screen.text(&help::manual())?),
        Command::Completions(shell) => Ok(screen.text(&shell.script())?),
        Command::Complete(wanted) => complete::show(&paths()?, &wanted, screen),
        Command::Version => bridge::show_version(screen),
        Command::Ping => bridge::ping(&mut connect()?, screen),
        Command::Shutdown => bridge::shut_down(&paths()?, screen),
        Command::Add(definition) => {
            let ask = add::ask(&definition, &places::current_dir()?)?;
            add::run(&mut connect()?, &definition, &ask, screen)
        }
        Command::Install(package) => {
            install::check(&package)?;
            install::install(&mut connect()?, &package, screen)
        }
        Command::Upgrade(wanted) => {
            if !wanted.yes && !wanted.undo {
                consent::is_possible("an upgrade")?;
            }
            upgrade::upgrade(&mut connect()?, &wanted, screen)
        }
        Command::Runtimes => install::runtimes(&mut connect()?, screen),
        Command::Remove(removal) => servers::remove(&mut connect()?, &removal, screen),
        Command::Start(server) => servers::start(&mut connect()?, &server, screen),
        Command::Stop(server) => servers::stop(&mut connect()?, &server, screen),
        Command::Restart(server) => servers::restart(&mut connect()?, &server, screen),
        Command::List => list::list(&mut connect()?, screen),
        Command::Tools(listing) => show_tools(&mut connect()?, &listing, screen),
        Command::Accept(accept) => changes::accept(&mut connect()?, &accept, screen),
        Command::Call(call) => {
            let ask = call::ask(&call, call::shows_progress(screen))?;
            call::run(&mut connect()?, &call, &ask, screen)
        }
        Command::Resources(whose) => {
            offers::list(&mut connect()?, &offers::RESOURCES, whose.as_deref(), screen)
        }
        Command::ReadResource(reading) => {
            Shelf::check(reading.save.as_deref())?;
            offers::read(&mut connect()?, &reading, screen)
        }
        Command::Prompts(whose) => offers::list(&mut connect()?, &offers::PROMPTS, whose.as_deref(), screen),
        Command::GetPrompt(prompt) => {
            let ask = offers::prompt_ask(&prompt)?;
            offers::get(&mut connect()?, &prompt, &ask, screen)
        }
        Command::Grant(grant) => grants::grant(&mut connect()?, &grant, screen),
        Command::Revoke(revoke) => grants::revoke(&mut connect()?, &revoke, screen),
        Command::Grants(origin) => grants::list(&mut connect()?, origin.as_ref(), screen),
        Command::Audit(audit) => audit::show(&mut connect()?, &audit, screen),
        Command::Stats(origin) => stats::show(&mut connect()?, origin.as_ref(), screen),
        Command::Logs(logs) => logs::show(&mut connect()?, &logs, screen),
        Command::Sandbox(wanted) => sandbox::run(&mut connect()?, &wanted, screen),
        Command::Secrets(wanted) => {
            let value = secrets::value(&wanted)?;
            secrets::run(&mut connect()?, &wanted, value, screen)
        }
        Command::Auth(wanted) => auth::run(&wanted, auth::secret(&wanted)?, &mut connect()?, screen),
        Command::Catalog(wanted) => catalog::run(&mut connect()?, &wanted, screen),
        Command::Set(wanted) => set::run(&mut connect()?, &wanted, screen),
        Command::Status(wanted) => status::show(&mut connect()?, &wanted, screen),
        Command::Top => top::run(&paths()?, screen),
        Command::Health => status::health(&paths()?, screen),
        Command::Metrics => metrics::show(&mut connect()?, screen),
        Command::Doctor(fix) => doctor::run(&paths()?, fix, screen),
        Command::Config(Config::Show) => config::show(&mut connect()?, screen),
        Command::Config(Config::Check(file)) => config::check(&paths()?, file.as_deref(), screen),
        Command::Events => events::show(&mut connect()?, screen),
        Command::Mcp(wanted) => mcp::serve(&wanted, &paths()?),
        Command::McpToken(wanted) => mcp::token(&wanted, &paths()?, screen),
        Command::Clients(wanted) => clients::run(&wanted, &paths()?, screen),
        Command::NativeHost(wanted) => native_host::run(&wanted, &paths()?, screen),
        Command::Import(wanted) => import::run(&wanted, &paths()?, screen),
    }
}

fn show_tools(client: &mut Client, listing: &Listing, screen: &mut Screen) -> Result<(), Failure> {
    match listing {
        Listing::Running => tools::of_all(client, screen),
        Listing::Of(server) => tools::of_server(client, server, screen),
        Listing::One(server, name) => tools::one(client, server, name, screen),
        Listing::Changed(server) => changes::show(client, server.as_deref(), screen),
        Listing::SeenBy(asker, server) => tools::seen_by(client, asker, server.as_deref(), screen),
    }
}

fn paths() -> Result<Paths, DialError> {
    Paths::from_env().map_err(DialError::Config)
}

#[cfg(test)]
pub mod rig;
