//! list: the servers and their states.
//!
//! Owns what of a server is shown, and how it fits into 80 places.

use harbor_policy::telltale::telltales;

use super::remote;
use super::{remarks, restarts};
use crate::ask::Ask;
use crate::client::{Client, QUICK};
use crate::errors::Failure;
use crate::reply::Members;
use crate::screen::{Screen, remark};
use crate::table::{Table, flatten};
use crate::when;

pub fn list(client: &mut Client, screen: &mut Screen) -> Result<(), Failure> {
    let answer = client.request(&Ask::new("list_servers"), QUICK)?;
    if screen.json {
        return Ok(screen.json(&answer.to_json())?);
    }
    let servers = answer.objects("servers");
    if servers.is_empty() {
        remark("no servers yet; add one with `harbor add NAME -- COMMAND ARGS…`");
        return Ok(());
    }
    screen.table(&tabulate(&servers))?;
    let now = when::now();
    let notes: Vec<_> = servers.iter().flat_map(|server| notes(server, now)).collect();
    if !notes.is_empty() {
        screen.text(&format!("\n{}", notes.join("\n")))?;
    }
    servers.iter().filter_map(remarks::changed).for_each(|text| remark(&text));
    Ok(())
}

/// What does not fit into its row: why it last ended, and when it is tried again.
fn notes(server: &Members, now: u64) -> Vec<String> {
    let name = server.text("server_id");
    let error = flatten(&server.text("last_error"));
    let mut notes = Vec::new();
    if !error.is_empty() {
        let exit = server.object("last_exit");
        let then = exit.value("timestamp").as_u64().map(|then| when::ago(then, now));
        let about: Vec<_> =
            [exit.text("cause")].into_iter().filter(|cause| !cause.is_empty()).chain(then).collect();
        let about = if about.is_empty() { String::new() } else { format!(" ({})", about.join(", ")) };
        notes.push(format!("{name}: last error: {error}{about}"));
    }
    notes.extend(sandbox(server).map(|what| format!("{name}: {what}")));
    if server.text("state") == "crashed" {
        let retry = server.value("next_retry").as_u64().map(|retry| when::ahead(retry, now));
        notes.push(format!("{name}: {}", restarts::phrase(server, restarts::limit(server), retry)));
    }
    notes
}

/// What is to be known of its sandbox at first sight: that there is none, or that it is not whole.
fn sandbox(server: &Members) -> Option<String> {
    let sandbox = server.object("sandbox");
    match sandbox.text("level").as_str() {
        level @ ("off" | "basic") if server.raw("image").is_some() => Some(format!(
            "its sandbox is at the level {level}: only the engine's own settings hold its container"
        )),
        level @ ("off" | "basic") => {
            Some(format!("its sandbox is at the level {level}: it can do all that you can"))
        }
        _ if sandbox.raws("missing").is_empty() => None,
        _ => {
            let name = server.text("server_id");
            Some(format!(
                "its sandbox is not whole on this machine: `harbor sandbox {name}` says what is missing"
            ))
        }
    }
}

fn tabulate(servers: &[Members]) -> Table {
    let label =
        |server: &Members| Some(server.text("label")).filter(|label| *label != server.text("server_id"));
    let labelled = servers.iter().filter_map(label).any(|label| !label.is_empty());
    let mut table = Table::new(match labelled {
        true => &["SERVER", "LABEL", "STATE", "TOOLS", "PID", "RESTARTS", "COMMAND"],
        false => &["SERVER", "STATE", "TOOLS", "PID", "RESTARTS", "COMMAND"],
    });
    for server in servers {
        let mut cells = vec![server.text("server_id")];
        cells.extend(labelled.then(|| label(server).unwrap_or_default()));
        cells.extend([
            state(server),
            number(server, "tool_count"),
            number(server, "pid"),
            number(server, "restarts"),
            command(server),
        ]);
        table.add(cells);
    }
    table
}

/// `running (busy, 2 open, 3 queued)`.
pub fn state(server: &Members) -> String {
    let number = |name: &str, what: &str| {
        server.number(name).filter(|number| *number > 0).map(|number| format!("{number} {what}"))
    };
    let busy = (server.value("busy") == true).then(|| "busy".to_owned());
    let more: Vec<_> =
        [busy, number("in_flight", "open"), number("queued", "queued")].into_iter().flatten().collect();
    let state = server.text("state");
    if more.is_empty() { state } else { format!("{state} ({})", more.join(", ")) }
}

fn number(server: &Members, name: &str) -> String {
    server.value(name).as_u64().map_or_else(|| "-".into(), |number| number.to_string())
}

/// As one would type it in a shell, nearly: enough to recognise it.
fn command(server: &Members) -> String {
    if let Some(url) = remote::shown(server) {
        return url;
    }
    let args = server.strings("args");
    let mut words = vec![program(server)];
    words.extend(args.iter().map(|arg| quoted(arg)));
    // Who shows a list to others shows no key with it; --json has the whole definition.
    telltales(&args).iter().for_each(|told| words[1 + told.at] = "…".into());
    words.join(" ")
}

/// What it starts: a command, or an image and who runs it.
fn program(server: &Members) -> String {
    let image = server.object("image");
    match image.text("reference") {
        none if none.is_empty() => quoted(&server.text("command")),
        reference if image.raw("engine").is_none() => format!("image {reference}"),
        reference => format!("{} {reference}", image.text("engine")),
    }
}

fn quoted(word: &str) -> String {
    let plain = !word.is_empty() && !word.contains(char::is_whitespace);
    if plain { word.to_owned() } else { format!("'{word}'") }
}

#[cfg(test)]
mod tests {
    use super::super::rig::command as run;
    use super::*;

    const TIME: &str = r#"{"server_id":"time","label":"time","command":"/usr/bin/uvx","args":["x y","z"],"state":"running","pid":7,"tool_count":2,"restarts":1,"busy":false,"queued":0}"#;
    const FILES: &str = r#"{"server_id":"files","label":"My files","command":"node","args":[],"state":"failed","restarts":0,"last_error":"boom"}"#;

    #[test]
    fn a_server_without_a_whole_sandbox_is_noted() {
        let with = |sandbox: &str| {
            let server = format!(r#"{{"server_id":"x","sandbox":{sandbox}}}"#);
            notes(&Members::parse(server.as_bytes()).unwrap(), 0)
        };
        let whole = r#"{"level":"standard","missing":[]}"#;
        assert_eq!((with(whole), with("null")), (Vec::new(), Vec::new()));
        assert_eq!(
            with(r#"{"level":"off","missing":[]}"#),
            ["x: its sandbox is at the level off: it can do all that you can"]
        );
        assert_eq!(
            with(r#"{"level":"standard","missing":["ports are not held"]}"#),
            ["x: its sandbox is not whole on this machine: `harbor sandbox x` says what is missing"]
        );
    }

    fn listed(servers: &str) -> String {
        format!(r#"{{"type":"list_servers_result","request_id":"1","servers":[{servers}]}}"#)
    }

    #[test]
    fn the_list_is_a_table() {
        let ran = run(false, &[&listed(TIME)], list);
        assert_eq!(
            ran.printed,
            "SERVER  STATE    TOOLS  PID  RESTARTS  COMMAND\n\
             time    running  2      7    1         /usr/bin/uvx 'x y' z\n"
        );
        let ran = run(false, &[&listed(&format!("{TIME},{FILES}"))], list);
        assert_eq!(
            ran.printed,
            "SERVER  LABEL     STATE    TOOLS  PID  RESTARTS  COMMAND\n\
             time              running  2      7    1         /usr/bin/uvx 'x y' z\n\
             files   My files  failed   -      -    0         node\n\nfiles: last error: boom\n"
        );
        let ran = run(true, &[&listed(TIME)], list);
        assert_eq!(ran.printed, format!("{{\"servers\":[{TIME}]}}\n"));
        assert_eq!(run(false, &[&listed("")], list).printed, "");
    }

    fn members(json: &str) -> Members {
        Members::parse(json.as_bytes()).unwrap()
    }

    #[test]
    fn an_image_is_shown_with_who_runs_it() {
        let shown =
            |image: &str| command(&members(&format!(r#"{{"command":"","args":["a b"],"image":{image}}}"#)));
        assert_eq!(shown(r#"{"reference":"mcp/time","engine":"podman"}"#), "podman mcp/time 'a b'");
        assert_eq!(shown(r#"{"reference":"mcp/time"}"#), "image mcp/time 'a b'");
    }

    #[test]
    fn no_key_is_in_a_list() {
        let server = r#"{"command":"node","args":["x.js","--token","sk-abcdef1234567890","--port","80"]}"#;
        assert_eq!(command(&members(server)), "node x.js --token … --port 80");
    }

    #[test]
    fn notes_say_why_it_ended_and_when_it_is_tried_again() {
        let now = 1_000_000;
        let notes = |json: &str| notes(&members(json), now);
        let crashed = r#"{"server_id":"x","state":"crashed","attempt":2,"next_retry":1003500,"last_error":"it\nexited",
            "last_exit":{"cause":"exited","timestamp":880000},"supervision":{SETTINGS}}"#;
        for (settings, restart) in [
            ("", "restart 2 of 3 in 4 s"),
            (r#""restart_attempts":5"#, "restart 2 of 5 in 4 s"),
            (r#""restart_attempts":"unlimited""#, "restart 2 in 4 s"),
        ] {
            assert_eq!(
                notes(&crashed.replace("SETTINGS", settings)),
                ["x: last error: it exited (exited, 2 min ago)".to_owned(), format!("x: {restart}")]
            );
        }
        let due = r#"{"server_id":"x","state":"crashed","attempt":1,"next_retry":5}"#;
        assert_eq!(notes(due), ["x: restart 1 of 3 now"]);
        assert_eq!(notes(r#"{"server_id":"x","state":"running","attempt":1}"#), [""; 0]);
    }

    #[test]
    fn calls_that_wait_are_part_of_the_state() {
        let state = |json: &str| state(&members(json));
        assert_eq!(state(r#"{"state":"running","busy":true,"queued":0}"#), "running (busy)");
        assert_eq!(state(r#"{"state":"running","busy":true,"queued":3}"#), "running (busy, 3 queued)");
        assert_eq!(state(r#"{"state":"starting","queued":1}"#), "starting (1 queued)");
    }

    #[test]
    fn eighty_places_leave_room_for_the_command() {
        let row = r#"{"server_id":"filesystem","command":"/usr/bin/node","args":["index.js","a-long-argument"],"state":"running","busy":true,"pid":1234567,"tool_count":14,"restarts":12}"#;
        let lines = tabulate(&[members(row)]).lines(Some(80));
        assert_eq!(
            lines,
            [
                "SERVER      STATE           TOOLS  PID      RESTARTS  COMMAND",
                "filesystem  running (busy)  14     1234567  12        /usr/bin/node index.js a-…"
            ]
        );
    }
}
