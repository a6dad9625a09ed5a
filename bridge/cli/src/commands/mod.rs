//! The commands: each asks the bridge and prints its answer.
//!
//! Owns one short file per group. Must never reach past the client: no file of the bridge is read here.

mod activity;
mod add;
mod approvals;
mod arguments;
mod ask;
mod attach;
mod audit;
mod auth;
mod bridge;
mod call;
mod catalog;
mod changes;
mod chat;
mod clients;
mod complete;
pub mod completions;
mod config;
mod definition_secrets;
mod doctor;
mod edit;
mod events;
mod follow;
mod grants;
mod ids;
mod import;
mod install;
mod interpreted;
mod list;
mod logs;
mod mcp;
mod metrics;
mod models;
mod native_host;
mod new_server;
mod offers;
mod own_paths;
mod page;
mod patterns;
mod places;
mod printing;
mod progress;
mod remote;
mod restarts;
mod result_notes;
mod sandbox;
mod script;
mod secrets;
mod servers;
mod service;
mod sessions;
mod set;
mod setup;
mod signals;
mod stats;
mod status;
mod switch;
mod tool_list;
mod tools;
mod top;
mod turn;
mod uninstall;
mod unreachable_places;
mod upgrade;

use std::io;

use harbor_client::errors::Failure;
use harbor_client::terminal::remark;
use harbor_policy::origin::Origin;

use self::own_paths::paths;
use crate::args::{
    self, Approvals, AskOptions, CatalogWanted, Chat, Command, Config, Definition, Listing, Mcp, McpWanted,
    Models, NativeHost, Package, Prompts, Removal, Resources, Secrets, Sessions, Upgrade,
};
use crate::client::Client;
use crate::consent;
use crate::manual;
use crate::media::Shelf;
use crate::reference;
use crate::screen::Screen;

/// Runs a command. Faults that need no bridge are found before one is started.
pub fn run(command: Command, screen: &mut Screen) -> Result<(), Failure> {
    match command {
        Command::Text(text) => Ok(screen.text(text.trim_end())?),
        Command::Help(wanted) if wanted.man => Ok(screen.text(&printed(manual::page())?)?),
        Command::Help(wanted) => Ok(screen.text(args::help(&wanted.command)?.trim_end())?),
        Command::Docs { page } => Ok(screen.text(reference::page(page).trim_end())?),
        Command::Completions { shell } => Ok(screen.text(&printed(completions::script(shell))?)?),
        Command::Complete(wanted) => complete::show(&paths()?, &wanted, screen),
        Command::Version => bridge::show_version(screen),
        Command::Ping => bridge::ping(&mut connect()?, screen),
        Command::Shutdown => bridge::shut_down(&paths()?, screen),
        Command::New(wanted) => new_server::run(&mut connect()?, &wanted, screen),
        Command::Add(definition) => add_server(definition, screen),
        Command::Install(package) => install_package(&package, screen),
        Command::Upgrade(wanted) => upgrade_servers(&wanted, screen),
        Command::Setup(wanted) => setup::run(&wanted, &paths()?, screen),
        Command::Uninstall(wanted) => uninstall::run(&wanted, &paths()?, screen),
        Command::Service { wanted } => service::run(wanted.as_ref(), &paths()?, screen),
        Command::Runtimes => install::runtimes(&mut connect()?, screen),
        Command::Remove(removal) => remove_server(&removal, screen),
        Command::Start { server } => servers::start(&mut connect()?, &server, screen),
        Command::Stop { server } => servers::stop(&mut connect()?, &server, screen),
        Command::Restart { server } => servers::restart(&mut connect()?, &server, screen),
        Command::List => list::list(&mut connect()?, screen),
        Command::Tools(listing) => show_tools(&mut connect()?, &listing, screen),
        Command::Accept(accept) => changes::accept(&mut connect()?, &accept, screen),
        Command::Call(call) if call.server.is_empty() => Err(call::unnamed(&mut connect()?, &call.tool)),
        Command::Call(call) => {
            let ask = call::ask(&call, call::shows_progress(screen))?;
            call::run(&mut connect()?, &call, &ask, screen)
        }
        Command::Resources { server, wanted } => show_resources(server.as_deref(), wanted, screen),
        Command::Prompts { server, wanted } => show_prompts(server.as_deref(), wanted, screen),
        Command::Grant(grant) => grants::grant(&mut connect()?, &grant, screen),
        Command::Revoke(revoke) => grants::revoke(&mut connect()?, &revoke, screen),
        Command::Grants { origin } => list_grants(origin.as_ref(), screen),
        Command::Approvals { wanted } => {
            approvals::run(&mut connect()?, wanted.as_ref().unwrap_or(&Approvals::List), screen)
        }
        Command::Activity(wanted) => activity::show(&mut connect()?, &wanted, screen),
        Command::Audit(audit) => audit::show(&mut connect()?, &audit, screen),
        Command::Stats { origin } => stats::show(&mut connect()?, origin.as_ref(), screen),
        Command::Logs(logs) => logs::show(&mut connect()?, &logs, screen),
        Command::Sandbox(wanted) => sandbox::run(&mut connect()?, &wanted, screen),
        Command::Secrets { wanted } => {
            keep_secrets(&wanted.unwrap_or(Secrets::List { server: None }), screen)
        }
        Command::Auth(wanted) => auth::run(&wanted, auth::secret(&wanted)?, &mut connect()?, screen),
        Command::Catalog { wanted, list } => {
            let wanted = wanted.unwrap_or(CatalogWanted::List(list));
            catalog::run(&mut connect()?, &wanted, screen)
        }
        Command::Models { wanted } => {
            models::run(&mut connect()?, wanted.as_ref().unwrap_or(&Models::List), screen)
        }
        Command::Ask(question) => ask_model(&question, screen),
        Command::Chat(wanted) => talk(&wanted, screen),
        Command::Sessions { wanted } => {
            sessions::run(&mut connect()?, &wanted.unwrap_or(Sessions::List { search: None }), screen)
        }
        Command::Edit { server } => edit::run(&mut connect()?, &server, &paths()?, screen),
        Command::Set(wanted) => set::run(&mut connect()?, &wanted, screen),
        Command::Status(wanted) => status::show(&mut connect()?, &wanted, screen),
        Command::Top => top::run(&paths()?, screen),
        Command::Health => status::health(&paths()?, screen),
        Command::Metrics => metrics::show(&mut connect()?, screen),
        Command::Doctor { fix, verbose } => doctor::run(&paths()?, (fix, verbose), screen),
        Command::Config { wanted: None | Some(Config::Show) } => config::show(&mut connect()?, screen),
        Command::Config { wanted: Some(Config::Check { file }) } => {
            config::check(&paths()?, file.as_deref(), screen)
        }
        Command::Events => events::show(&mut connect()?, screen),
        Command::Mcp { wanted, serve } => for_clients(wanted.as_ref(), &serve, screen),
        Command::Import(wanted) => import::run(&wanted, &paths()?, screen),
        Command::Host { wanted, place } => {
            native_host::run(&wanted.unwrap_or(NativeHost::Status(place)), &paths()?, screen)
        }
    }
}

fn install_package(package: &Package, screen: &mut Screen) -> Result<(), Failure> {
    if let Some((path, manifest)) = interpreted::named(&package.source)? {
        return interpreted::install(&mut connect()?, package, (&path, &manifest), screen);
    }
    install::check(package)?;
    install::install(&mut connect()?, package, screen)
}

fn add_server(mut definition: Box<Definition>, screen: &mut Screen) -> Result<(), Failure> {
    let secrets = definition_secrets::take(&mut definition);
    let ask = add::ask(&definition, &places::current_dir()?)?;
    add::run(&mut connect()?, &definition, (&ask, &secrets), screen)
}

fn remove_server(removal: &Removal, screen: &mut Screen) -> Result<(), Failure> {
    let mut client = connect()?;
    servers::remove(&mut client, removal, screen)?;
    clients::copies::after_removal(&mut client, &removal.server, &paths()?)
}

/// Lists the grants; for a client that has none yet, says what it will get.
fn list_grants(origin: Option<&Origin>, screen: &mut Screen) -> Result<(), Failure> {
    let mut client = connect()?;
    grants::list(&mut client, origin, screen)?;
    origin.map_or(Ok(()), |origin| tell_client(&mut client, origin, screen))
}

/// Says what an AI client may use.
fn tell_client(client: &mut Client, origin: &Origin, screen: &Screen) -> Result<(), Failure> {
    match origin.as_str().strip_prefix("client://").filter(|_| !screen.json) {
        Some(name) => clients::status::told(client, name, &paths()?).map(|said| remark(&said)),
        None => Ok(()),
    }
}

fn upgrade_servers(wanted: &Upgrade, screen: &mut Screen) -> Result<(), Failure> {
    if !wanted.yes && !wanted.undo {
        consent::is_possible("upgrade")?;
    }
    match wanted.all {
        true => upgrade::all(&mut connect()?, wanted, screen),
        false => upgrade::upgrade(&mut connect()?, wanted, screen),
    }
}

fn ask_model(question: &AskOptions, screen: &mut Screen) -> Result<(), Failure> {
    // Who names no page needs no bridge to hear that a file is wrong.
    let mut client = None;
    let mut fetch = |url: &str| match &mut client {
        Some(client) => page::fetch(client, url, question.pages),
        none => page::fetch(none.insert(connect()?), url, question.pages),
    };
    if question.using.tools.is_empty() {
        let chat = ask::chat(question, &mut fetch)?;
        return ask::run(client.map_or_else(connect, Ok)?, &chat, question.extract, screen);
    }
    let wanted = ask::wanted(question, &mut fetch)?;
    ask::run_with_tools(client.map_or_else(connect, Ok)?, &wanted, &paths()?, screen)
}

fn talk(wanted: &Chat, screen: &mut Screen) -> Result<(), Failure> {
    chat::check()?;
    chat::run(connect()?, wanted, &paths()?, screen)
}

fn for_clients(wanted: Option<&McpWanted>, serve: &Mcp, screen: &mut Screen) -> Result<(), Failure> {
    let paths = &paths()?;
    match wanted {
        None => mcp::serve(serve, paths),
        Some(McpWanted::Token(wanted)) => mcp::token(wanted, paths, screen),
        Some(McpWanted::Install(wanted)) => clients::install(wanted, paths, screen),
        Some(McpWanted::Uninstall(wanted)) => clients::uninstall(wanted, paths, screen),
        Some(McpWanted::Status) => clients::status::show(paths, screen),
    }
}

fn show_resources(
    whose: Option<&str>,
    wanted: Option<Resources>,
    screen: &mut Screen,
) -> Result<(), Failure> {
    match wanted {
        None => offers::list(&mut connect()?, &offers::RESOURCES, whose, screen),
        Some(Resources::Read(reading)) => {
            Shelf::check(reading.save.as_deref())?;
            offers::read(&mut connect()?, &reading, screen)
        }
    }
}

fn show_prompts(whose: Option<&str>, wanted: Option<Prompts>, screen: &mut Screen) -> Result<(), Failure> {
    match wanted {
        None => offers::list(&mut connect()?, &offers::PROMPTS, whose, screen),
        Some(Prompts::Show(wanted)) => offers::show_prompt(&mut connect()?, &wanted, screen),
        Some(Prompts::Get(prompt)) => {
            let ask = offers::prompt_ask(&prompt)?;
            offers::get(&mut connect()?, &prompt, &ask, screen)
        }
    }
}

fn keep_secrets(wanted: &Secrets, screen: &mut Screen) -> Result<(), Failure> {
    let value = secrets::value(wanted)?;
    secrets::run(&mut connect()?, wanted, value, screen)
}

fn printed(text: io::Result<String>) -> Result<String, Failure> {
    text.map_err(|error| Failure::Io("write it", error))
}

fn show_tools(client: &mut Client, listing: &Listing, screen: &mut Screen) -> Result<(), Failure> {
    match listing {
        Listing::Running => tools::of_all(client, screen),
        Listing::Of(server) => tools::of_server(client, server, screen),
        Listing::One(server, name) => tools::one(client, server, name, screen),
        Listing::Changed(server) => changes::show(client, server.as_deref(), screen),
        Listing::Switched(wanted) => switch::run(client, wanted, &paths()?, screen),
        Listing::SeenBy(asker, server) => {
            tools::seen_by(client, asker, server.as_deref(), screen)?;
            tell_client(client, &asker.origin, screen)
        }
    }
}

fn connect() -> Result<Client, Failure> {
    Client::connect(&paths()?)
}

#[cfg(test)]
pub mod rig;
