//! resources, prompts: what servers offer besides tools, listed; and one of them had.
//!
//! Owns how they look. Must never let one server that hangs or fails hide what others offer, and starts none: what is not
//! running offers nothing.

use std::time::Duration;

use super::{arguments, call, print};
use crate::args::{Prompt, Reading};
use crate::ask::Ask;
use crate::client::{Client, QUICK};
use crate::content::{bracket, render_item};
use crate::errors::Failure;
use crate::media::{Media, Shelf};
use crate::reply::Members;
use crate::screen::{Screen, Status, remark};
use crate::table::{Table, flatten};

/// A server may list in pages.
const LIST: Duration = Duration::from_secs(65);

/// One kind of things that servers offer.
pub struct Kind {
    name: &'static str,
    /// The requests, and the member of each answer that is the list.
    lists: &'static [(&'static str, &'static str)],
    header: &'static [&'static str],
    /// The row of one, behind its server's name; `None` when it is none of them.
    row: fn(&Members) -> Option<Vec<String>>,
}

pub const RESOURCES: Kind = Kind {
    name: "resources",
    lists: &[("mcp_list_resources", "resources"), ("mcp_list_resource_templates", "resource_templates")],
    header: &["SERVER", "URI", "TYPE", "DESCRIPTION"],
    row: resource,
};

pub const PROMPTS: Kind = Kind {
    name: "prompts",
    lists: &[("mcp_list_prompts", "prompts")],
    header: &["SERVER", "PROMPT", "ARGUMENTS", "DESCRIPTION"],
    row: prompt,
};

/// Lists those of one server, or of all that run.
pub fn list(
    client: &mut Client,
    kind: &Kind,
    server: Option<&str>,
    screen: &mut Screen,
) -> Result<(), Failure> {
    let mut table = Table::new(kind.header);
    let failed = match server {
        Some(server) => {
            let answer = ask(client, kind, server)?;
            if screen.json {
                return print(screen, &answer, |_| String::new());
            }
            tabulate(&mut table, kind, server, &answer);
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

/// Adds those of all servers that run; what failed on the way comes back.
fn of_all(
    client: &mut Client,
    kind: &Kind,
    table: &mut Table,
    screen: &mut Screen,
) -> Result<Option<Failure>, Failure> {
    let running = client.request(&Ask::new("mcp_list_connections"), QUICK)?.objects("connections");
    let (mut failed, mut entries) = (None, Vec::new());
    for server in running.iter().map(|connection| connection.text("server_id")) {
        let mut entry = match ask(client, kind, &server) {
            Ok(answer) => {
                tabulate(table, kind, &server, &answer);
                answer
            }
            Err(failure) => {
                remark(&format!("harbor: {server}: {}", failure.message().unwrap_or_default()));
                failed.get_or_insert(failure.exit());
                failure.json().and_then(|json| Members::parse(json.as_bytes())).unwrap_or_default()
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

/// What a server offers of a kind, in one object.
fn ask(client: &mut Client, kind: &Kind, server: &str) -> Result<Members, Failure> {
    let _status = Status::new(&format!("asking {server} …"));
    let mut all = Members::default();
    for (tag, list) in kind.lists {
        let answer = client.request(&Ask::about(tag, server), LIST)?;
        all.insert(list, answer.raw(list).unwrap_or("[]").to_owned());
    }
    Ok(all)
}

fn tabulate(table: &mut Table, kind: &Kind, server: &str, answer: &Members) {
    let items = kind.lists.iter().flat_map(|(_, list)| answer.raws(list));
    let read = items.filter_map(|item| Members::parse(item.get().as_bytes()));
    for cells in read.filter_map(|item| (kind.row)(&item)) {
        table.add([server.to_owned()].into_iter().chain(cells));
    }
}

/// Also a template, whose URI has names in braces.
fn resource(item: &Members) -> Option<Vec<String>> {
    let uri = first(item, &["uri", "uriTemplate"]);
    (!uri.is_empty()).then(|| vec![uri, item.text("mimeType"), described(item)])
}

fn prompt(item: &Members) -> Option<Vec<String>> {
    let name = item.text("name");
    let argument = |argument: &Members| match argument.value("required") == true {
        true => argument.text("name"),
        false => format!("[{}]", argument.text("name")),
    };
    let arguments: Vec<_> = item.objects("arguments").iter().map(argument).collect();
    (!name.is_empty()).then(|| vec![name, arguments.join(" "), described(item)])
}

/// The first line of what it says about itself.
fn described(item: &Members) -> String {
    let text = first(item, &["description", "title", "name"]);
    text.trim().lines().next().unwrap_or_default().to_owned()
}

fn first(item: &Members, names: &[&str]) -> String {
    names.iter().map(|name| item.text(name)).find(|text| !text.is_empty()).unwrap_or_default()
}

/// Reads a resource: texts are printed, or all of it is written to files.
pub fn read(client: &mut Client, reading: &Reading, screen: &mut Screen) -> Result<(), Failure> {
    let ask = Ask::about("mcp_read_resource", &reading.server).text("uri", &reading.uri);
    let mut answer = wait(client, &ask, &reading.uri)?;
    let contents = answer.object("resource").objects("contents");
    let mut shelf = Shelf::new(reading.save.as_deref(), last_part(&reading.uri));
    let lines: Vec<_> = contents.iter().map(|item| content(item, &mut shelf)).collect();
    if shelf.saves() {
        answer.insert("saved", shelf.to_json());
    }
    match screen.json {
        true => screen.json(&answer.to_json())?,
        false if lines.is_empty() => remark("the resource is empty"),
        false => screen.text(&lines.join("\n"))?,
    }
    shelf.close(screen.json)
}

fn content(item: &Members, shelf: &mut Shelf) -> String {
    match item.raw("text") {
        Some(_) if !shelf.saves() => item.text("text"),
        _ => shelf.put(&Media::of_resource(item)),
    }
}

/// What the person has typed of a name, without what would be an extension twice.
fn last_part(uri: &str) -> &str {
    let name = uri.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
    name.rsplit_once('.').map_or(name, |(name, _)| name)
}

/// The request for a prompt, its arguments read.
pub fn prompt_ask(wanted: &Prompt) -> Result<Ask, Failure> {
    let ask = Ask::about("mcp_get_prompt", &wanted.server).text("prompt_name", &wanted.name);
    Ok(match wanted.arguments.is_empty() {
        true => ask,
        false => ask.json("arguments", arguments::built(&wanted.arguments)?),
    })
}

/// Gets a prompt, and prints its messages.
pub fn get(client: &mut Client, wanted: &Prompt, ask: &Ask, screen: &mut Screen) -> Result<(), Failure> {
    let answer = wait(client, ask, &wanted.name)?;
    print(screen, &answer, |answer| messages(&answer.object("prompt")))
}

fn messages(prompt: &Members) -> String {
    let mut shelf = Shelf::default();
    let message = |message: &Members| {
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

fn wait(client: &mut Client, ask: &Ask, what: &str) -> Result<Members, Failure> {
    let _status = Status::new(&format!("asking for {} …", flatten(what)));
    client.request(ask, call::longest())
}

#[cfg(test)]
mod tests;
