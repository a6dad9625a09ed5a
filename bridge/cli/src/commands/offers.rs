//! resources, prompts: lists the offers of servers besides tools, and Harbor's own prompts; gets one of them.
//!
//! Owns how they look. Must never let one server that hangs or fails hide the offers of others. It starts no
//! server: a stopped server offers nothing.

use std::time::Duration;

use harbor_client::errors::Failure;
use harbor_client::id::server_id;
use harbor_client::payload::{Payload, items};
use harbor_client::reply::Answer;
use harbor_client::terminal::remark;
use harbor_ipc_proto::client::{
    McpGetPrompt, McpListConnections, McpListPrompts, McpListResourceTemplates, McpListResources,
    McpReadResource,
};
use harbor_ipc_proto::field::Ask;
use harbor_ipc_proto::json::Json;
use harbor_ipc_proto::server_id::ServerId;
use harbor_policy::own_prompts::SOURCE;

use super::printing::print;
use super::{arguments, call};
use crate::args::{Prompt, Reading, ShownPrompt};
use crate::client::{Client, QUICK};
use crate::content::render_item;
use crate::media::{Media, Shelf};
use crate::screen::{Screen, Status};
use crate::table::{Table, bracket, flatten};

/// A server may list in pages.
const LIST: Duration = Duration::from_secs(65);

/// The offers of a server, of one kind.
pub struct Offered {
    lists: Vec<Json>,
    shown: Payload,
}

/// A kind of things that servers offer.
pub struct OfferKind {
    name: &'static str,
    /// Asks a server for them: what it offers, in lists, and the whole for `--json`.
    ask: fn(&mut Client, ServerId) -> Result<Offered, Failure>,
    header: &'static [&'static str],
    /// True if Harbor has some of its own.
    has_own: bool,
    /// The row of an item, without its server's name. None if the item is of another kind.
    row: fn(&Payload) -> Option<Vec<String>>,
}

pub const RESOURCES: OfferKind = OfferKind {
    name: "resources",
    ask: resources,
    header: &["SERVER", "URI", "TYPE", "DESCRIPTION"],
    has_own: false,
    row: resource,
};

pub const PROMPTS: OfferKind = OfferKind {
    name: "prompts",
    ask: prompts,
    header: &["SERVER", "PROMPT", "ARGUMENTS", "DESCRIPTION"],
    has_own: true,
    row: prompt,
};

/// Lists those of one server, or of all that run.
pub fn list(
    client: &mut Client,
    kind: &OfferKind,
    server: Option<&str>,
    screen: &mut Screen,
) -> Result<(), Failure> {
    let mut table = Table::new(kind.header);
    let failed = match server {
        Some(server) => {
            let offered = ask(client, kind, server)?;
            if screen.json {
                return Ok(screen.json(&offered.shown.to_json())?);
            }
            tabulate(&mut table, kind, server, &offered);
            None
        }
        None => of_all(client, kind, &mut table, screen)?,
    };
    match table.is_empty() {
        _ if screen.json => {}
        true => remark(&format!("no {}", kind.name)),
        false => screen.table(&table)?,
    }
    failed.map_or(Ok(()), Err)
}

/// Adds those of all servers that run, and Harbor's own; what failed on the way comes back.
fn of_all(
    client: &mut Client,
    kind: &OfferKind,
    table: &mut Table,
    screen: &mut Screen,
) -> Result<Option<Failure>, Failure> {
    let running = client.ask(&McpListConnections {}, QUICK)?.into_value().connections;
    let (mut failed, mut entries) = (None, Vec::new());
    let mut servers: Vec<_> = running.into_iter().map(|connection| connection.server_id).collect();
    if kind.has_own && !servers.iter().any(|server| server == SOURCE) {
        servers.push(SOURCE.to_owned());
    }
    for server in servers {
        let mut entry = match ask(client, kind, &server) {
            Ok(offered) => {
                tabulate(table, kind, &server, &offered);
                offered.shown
            }
            Err(failure) => {
                remark(&format!("harbor: {server}: {}", failure.message().unwrap_or_default()));
                failed.get_or_insert(failure.exit());
                failure.json().and_then(|json| Payload::parse(json.as_bytes())).unwrap_or_default()
            }
        };
        entry.insert("server_id", serde_json::Value::from(server).to_string());
        entries.push(entry.to_json());
    }
    if screen.json {
        screen.json(&format!("{{\"servers\":[{}]}}", entries.join(",")))?;
    }
    Ok(failed.map(Failure::Said))
}

fn ask(client: &mut Client, kind: &OfferKind, server: &str) -> Result<Offered, Failure> {
    let _status = Status::new(&format!("asking {server} …"));
    (kind.ask)(client, server_id(server)?)
}

fn resources(client: &mut Client, server_id: ServerId) -> Result<Offered, Failure> {
    let plain = client.ask(&McpListResources { server_id: server_id.clone() }, LIST)?;
    let templates = client.ask(&McpListResourceTemplates { server_id }, LIST)?;
    let (resources, templates) = (plain.into_value().resources, templates.into_value().resource_templates);
    let mut shown = Payload::default();
    shown.insert("resources", resources.as_str().to_owned());
    shown.insert("resource_templates", templates.as_str().to_owned());
    Ok(Offered { lists: vec![resources, templates], shown })
}

fn prompts(client: &mut Client, server_id: ServerId) -> Result<Offered, Failure> {
    let answer = client.ask(&McpListPrompts { server_id }, LIST)?;
    let shown = answer.members();
    Ok(Offered { lists: vec![answer.into_value().prompts], shown })
}

fn tabulate(table: &mut Table, kind: &OfferKind, server: &str, offered: &Offered) {
    let items = offered.lists.iter().flat_map(items);
    let read = items.filter_map(|item| Payload::parse(item.get().as_bytes()));
    for cells in read.filter_map(|item| (kind.row)(&item)) {
        table.add([server.to_owned()].into_iter().chain(cells));
    }
}

/// Also a template, whose URI has names in braces.
fn resource(item: &Payload) -> Option<Vec<String>> {
    let uri = first(item, &["uri", "uriTemplate"]);
    (!uri.is_empty()).then(|| vec![uri, item.text("mimeType"), described(item)])
}

fn prompt(item: &Payload) -> Option<Vec<String>> {
    let name = item.text("name");
    let argument = |argument: &Payload| match argument.value("required") == true {
        true => argument.text("name"),
        false => format!("[{}]", argument.text("name")),
    };
    let arguments: Vec<_> = item.objects("arguments").iter().map(argument).collect();
    (!name.is_empty()).then(|| vec![name, arguments.join(" "), described(item)])
}

/// The first line of what it says about itself.
fn described(item: &Payload) -> String {
    let text = first(item, &["description", "title", "name"]);
    text.trim().lines().next().unwrap_or_default().to_owned()
}

fn first(item: &Payload, names: &[&str]) -> String {
    names.iter().map(|name| item.text(name)).find(|text| !text.is_empty()).unwrap_or_default()
}

/// Reads a resource: texts are printed, or all of it is written to files.
pub fn read(client: &mut Client, reading: &Reading, screen: &mut Screen) -> Result<(), Failure> {
    let ask = McpReadResource {
        server_id: server_id(&reading.server)?,
        uri: reading.uri.clone(),
        timeout_ms: None,
        answers: None,
    };
    let answer = wait(client, &ask, &reading.uri)?;
    let contents = Payload::of(&answer.resource).objects("contents");
    let mut shelf = Shelf::new(reading.save.as_deref(), last_part(&reading.uri));
    let lines: Vec<_> = contents.iter().map(|item| content(item, &mut shelf)).collect();
    let mut shown = answer.members();
    if shelf.saves() {
        shown.insert("saved", shelf.to_json());
    }
    match screen.json {
        true => screen.json(&shown.to_json())?,
        false if lines.is_empty() => remark("the resource is empty"),
        false => screen.text(&lines.join("\n"))?,
    }
    shelf.close(screen.json)
}

fn content(item: &Payload, shelf: &mut Shelf) -> String {
    match item.raw("text") {
        Some(_) if !shelf.saves() => item.text("text"),
        _ => shelf.put(&Media::of_resource(item)),
    }
}

/// The last part of a URI without its extension: a file's name would have it twice.
fn last_part(uri: &str) -> &str {
    let name = uri.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
    name.rsplit_once('.').map_or(name, |(name, _)| name)
}

/// Prints all that is known of a prompt.
pub fn show_prompt(client: &mut Client, wanted: &ShownPrompt, screen: &mut Screen) -> Result<(), Failure> {
    let ShownPrompt { server, prompt } = wanted;
    let offered = ask(client, &PROMPTS, server)?;
    let all = offered.lists.iter().flat_map(items);
    let found = all
        .filter_map(|item| Payload::parse(item.get().as_bytes()))
        .find(|item| item.text("name") == *prompt)
        .ok_or_else(|| {
            let advice = format!("`harbor prompts {server}` lists what it has");
            Failure::Usage(format!("{server} has no prompt {}\n{advice}", flatten(prompt)))
        })?;
    if screen.json {
        return Ok(screen.json(&found.to_json())?);
    }
    let argument = |argument: &Payload| {
        let needed = if argument.value("required") == true { "" } else { " (optional)" };
        format!("  {}{needed}: {}", flatten(&argument.text("name")), flatten(&argument.text("description")))
    };
    let head = [flatten(&first(&found, &["title", "name"])), flatten(&found.text("description"))];
    let arguments = found.objects("arguments");
    let lines = head.into_iter().filter(|line| !line.is_empty()).chain(arguments.iter().map(argument));
    let lines: Vec<_> = lines.collect();
    Ok(screen.text(&lines.join("\n"))?)
}

/// The request for a prompt, its arguments read.
pub fn prompt_ask(wanted: &Prompt) -> Result<McpGetPrompt, Failure> {
    let arguments = &wanted.arguments;
    Ok(McpGetPrompt {
        server_id: server_id(&wanted.server)?,
        prompt_name: wanted.name.clone(),
        arguments: (!arguments.is_empty()).then(|| arguments::built(arguments)).transpose()?,
        timeout_ms: None,
        answers: None,
    })
}

/// Gets a prompt, and prints its messages.
pub fn get(
    client: &mut Client,
    wanted: &Prompt,
    ask: &McpGetPrompt,
    screen: &mut Screen,
) -> Result<(), Failure> {
    let answer = wait(client, ask, &wanted.name)?;
    print(screen, &answer, |answer| messages(&Payload::of(&answer.prompt)))
}

fn messages(prompt: &Payload) -> String {
    let mut shelf = Shelf::default();
    let message = |message: &Payload| {
        let role = flatten(&message.text("role"));
        let content = message.object("content");
        let text = match message.raw("content") {
            Some(_) => render_item(&content, &mut shelf),
            None => bracket(&["nothing".into()]),
        };
        format!("{role}: {text}")
    };
    prompt.objects("messages").iter().map(message).collect::<Vec<_>>().join("\n\n")
}

fn wait<A: Ask>(client: &mut Client, ask: &A, what: &str) -> Result<Answer<A::Reply>, Failure> {
    let _status = Status::new(&format!("asking for {} …", flatten(what)));
    client.ask(ask, call::longest())
}

#[cfg(test)]
mod tests;
