//! list: the servers and their states.
//!
//! Owns which facts of a server are shown, and how they fit into 80 places.

use harbor_client::errors::Failure;
use harbor_client::terminal::remark;
use harbor_ipc_proto::client::{ListServers, ServerView};
use harbor_policy::telltale::without_secrets;

use super::remote;
use super::{restarts, result_notes};
use crate::client::{Client, QUICK};
use crate::screen::Screen;
use crate::table::{Table, flatten};
use crate::when;

pub fn list(client: &mut Client, screen: &mut Screen) -> Result<(), Failure> {
    let answer = client.ask(&ListServers {}, QUICK)?;
    if screen.json {
        return Ok(screen.json(&answer.to_json())?);
    }
    let servers = &answer.servers;
    if servers.is_empty() {
        remark(
            "no servers yet; install one with `harbor install time`, or import them from your AI clients: `harbor import`",
        );
        return Ok(());
    }
    screen.table(&tabulate(servers))?;
    let now = when::now();
    let notes: Vec<_> = servers.iter().flat_map(|server| notes(server, now)).collect();
    if !notes.is_empty() {
        screen.text(&format!("\n{}", notes.join("\n")))?;
    }
    servers.iter().filter_map(result_notes::changed).for_each(|text| remark(&text));
    Ok(())
}

/// Facts that do not fit into a server's row: why it last ended, and when it is tried again.
fn notes(server: &ServerView, now: u64) -> Vec<String> {
    let name = &server.server_id;
    let error = flatten(server.last_error.as_deref().unwrap_or_default());
    let mut notes = Vec::new();
    if !error.is_empty() {
        let exit = server.last_exit.as_ref();
        let about = exit.map(|exit| [exit.cause.to_string(), when::ago(exit.timestamp, now)]);
        let about: Vec<_> = about.into_iter().flatten().filter(|about| !about.is_empty()).collect();
        let about = if about.is_empty() { String::new() } else { format!(" ({})", about.join(", ")) };
        notes.push(format!("{name}: last error: {error}{about}"));
    }
    notes.extend(result_notes::problems(server));
    notes.extend(sandbox(server).map(|what| format!("{name}: {what}")));
    if server.state == "crashed" {
        let retry = server.next_retry.map(|retry| when::ahead(retry, now));
        let limit = restarts::limit(&server.supervision);
        notes.push(format!("{name}: {}", restarts::phrase(server.attempt, limit, retry)));
    }
    notes
}

/// A warning that a server has no sandbox, or not a whole one.
fn sandbox(server: &ServerView) -> Option<String> {
    let sandbox = server.sandbox.as_ref()?;
    match sandbox.level.as_ref() {
        level @ ("off" | "basic") if server.image.is_some() => {
            Some(format!("sandbox level {level}: only the container engine's own settings restrict it"))
        }
        level @ ("off" | "basic") => {
            Some(format!("sandbox level {level}: it can do everything that you can"))
        }
        _ if sandbox.missing.is_empty() => None,
        _ => {
            let name = &server.server_id;
            Some(format!("parts of its sandbox are missing on this machine: `harbor sandbox {name}`"))
        }
    }
}

fn tabulate(servers: &[ServerView]) -> Table {
    let label = |server: &ServerView| Some(server.label.clone()).filter(|label| *label != server.server_id);
    let labelled = servers.iter().filter_map(label).any(|label| !label.is_empty());
    let mut table = Table::new(match labelled {
        true => &["SERVER", "LABEL", "STATE", "TOOLS", "PID", "RESTARTS", "COMMAND"],
        false => &["SERVER", "STATE", "TOOLS", "PID", "RESTARTS", "COMMAND"],
    });
    for server in servers {
        let mut cells = vec![server.server_id.clone()];
        cells.extend(labelled.then(|| label(server).unwrap_or_default()));
        cells.extend([
            state(shown(&server.state, &server.shown_state), server.busy, 0, server.queued),
            tools(server),
            number(server.pid),
            number(Some(server.restarts)),
            command(server),
        ]);
        table.add(cells);
    }
    table
}

/// The state of a server for people; the machine's own where it is on its way to another one.
pub fn shown<'a>(state: &'a str, shown_state: &'a str) -> &'a str {
    match (state, shown_state) {
        (on_its_way @ ("installing" | "starting" | "stopping"), _) => on_its_way,
        (_, "needs_key") => "needs a key",
        (_, "needs_sign_in") => "needs a sign-in",
        (_, "needs_approval") => "needs your yes",
        ("crashed", "failed") => "restarting",
        (state, "") => state,
        (_, shown) => shown,
    }
}

/// `running (busy, 2 open, 3 queued)`.
pub fn state(state: &str, busy: bool, open: u32, queued: u32) -> String {
    let number = |number: u32, what: &str| (number > 0).then(|| format!("{number} {what}"));
    let busy = busy.then(|| "busy".to_owned());
    let more: Vec<_> = [busy, number(open, "open"), number(queued, "queued")].into_iter().flatten().collect();
    if more.is_empty() { state.to_owned() } else { format!("{state} ({})", more.join(", ")) }
}

/// The number of tools; `?` where they could not be listed.
fn tools(server: &ServerView) -> String {
    match server.tool_count {
        None if server.state == "running" => "?".into(),
        count => number(count),
    }
}

fn number(number: Option<u32>) -> String {
    number.map_or_else(|| "-".into(), |number| number.to_string())
}

/// The command nearly as one would type it in a shell: enough to recognise it.
fn command(server: &ServerView) -> String {
    if let Some(url) = remote::shown(server) {
        return url;
    }
    // Who shows a list to others shows no key with it.
    let args = without_secrets(&server.args);
    std::iter::once(program(server)).chain(args.iter().map(|arg| quoted(arg))).collect::<Vec<_>>().join(" ")
}

/// The program that it starts: a command, or an image and its engine.
fn program(server: &ServerView) -> String {
    let Some(image) = &server.image else { return quoted(&server.command) };
    format!("{} {}", image.engine.as_deref().unwrap_or("image"), image.reference)
}

fn quoted(word: &str) -> String {
    let plain = !word.is_empty() && !word.contains(char::is_whitespace);
    if plain { word.to_owned() } else { format!("'{word}'") }
}

#[cfg(test)]
mod tests {
    use super::super::rig::{command as run, complete_object, typed};
    use super::*;

    const TIME: &str = r#"{"server_id":"time","label":"time","command":"/usr/bin/uvx","args":["x y","z"],"state":"running","pid":7,"tool_count":2,"restarts":1,"busy":false,"queued":0}"#;
    const FILES: &str = r#"{"server_id":"files","label":"My files","command":"node","args":[],"state":"failed","restarts":0,"last_error":"boom"}"#;

    #[test]
    fn a_server_without_a_whole_sandbox_is_noted() {
        let with = |sandbox: &str| {
            let server = format!(r#"{{"server_id":"x","sandbox":{sandbox}}}"#);
            notes(&typed(&server), 0)
        };
        let whole = r#"{"level":"standard","missing":[]}"#;
        assert_eq!((with(whole), with("null")), (Vec::new(), Vec::new()));
        assert_eq!(
            with(r#"{"level":"off","missing":[]}"#),
            ["x: sandbox level off: it can do everything that you can"]
        );
        assert_eq!(
            with(r#"{"level":"standard","missing":["ports are not held"]}"#),
            ["x: parts of its sandbox are missing on this machine: `harbor sandbox x`"]
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
        assert_eq!(ran.printed, format!("{{\"servers\":[{}]}}\n", complete_object("Server", TIME)));
        assert_eq!(run(false, &[&listed("")], list).printed, "");
    }

    #[test]
    fn an_image_is_shown_with_who_runs_it() {
        let shown =
            |image: &str| command(&typed(&format!(r#"{{"command":"","args":["a b"],"image":{image}}}"#)));
        assert_eq!(shown(r#"{"reference":"mcp/time","engine":"podman"}"#), "podman mcp/time 'a b'");
        assert_eq!(shown(r#"{"reference":"mcp/time"}"#), "image mcp/time 'a b'");
    }

    #[test]
    fn no_key_is_in_a_list() {
        let server = r#"{"command":"node","args":["x.js","--token","sk-abcdef1234567890","--port","80"]}"#;
        assert_eq!(command(&typed(server)), "node x.js --token … --port 80");
        let server = r#"{"command":"pg-mcp","args":["postgresql://user:hunter2@localhost/db"]}"#;
        assert_eq!(command(&typed(server)), "pg-mcp postgresql://user:***@localhost/db");
    }

    #[test]
    fn notes_say_why_it_ended_and_when_it_is_tried_again() {
        let now = 1_000_000;
        let notes = |json: &str| notes(&typed(json), now);
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
        let problem =
            r#"{"server_id":"x","state":"running","list_problems":["its tools could\nnot be listed: no"]}"#;
        assert_eq!(notes(problem), ["x: its tools could not be listed: no"]);
        assert_eq!(tools(&typed(problem)), "?");
    }

    #[test]
    fn calls_that_wait_are_part_of_the_state() {
        assert_eq!(state("running", true, 0, 0), "running (busy)");
        assert_eq!(state("running", true, 2, 3), "running (busy, 2 open, 3 queued)");
        assert_eq!(state("starting", false, 0, 1), "starting (1 queued)");
    }

    #[test]
    fn eighty_places_leave_room_for_the_command() {
        let row = r#"{"server_id":"filesystem","command":"/usr/bin/node","args":["index.js","a-long-argument"],"state":"running","busy":true,"pid":1234567,"tool_count":14,"restarts":12}"#;
        let lines = tabulate(&[typed(row)]).lines(Some(80));
        assert_eq!(
            lines,
            [
                "SERVER      STATE           TOOLS  PID      RESTARTS  COMMAND",
                "filesystem  running (busy)  14     1234567  12        /usr/bin/node index.js a-…"
            ]
        );
    }
}
