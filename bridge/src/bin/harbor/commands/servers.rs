//! remove, start, stop, list: the servers and their states.
//!
//! Owns what of a server is shown.

use std::time::Duration;

use harbor_ipc_proto::codes::Code;

use super::{count, print};
use crate::ask::Ask;
use crate::client::{Client, QUICK};
use crate::errors::Failure;
use crate::reply::Members;
use crate::screen::{Screen, Status, remark};
use crate::table::Table;

/// The bridge ends a start by itself, after 600 s at the latest.
pub const START: Duration = Duration::from_secs(610);

pub fn remove(client: &mut Client, server: &str, screen: &mut Screen) -> Result<(), Failure> {
    let answer = client.request(&Ask::about("remove_server", server), QUICK)?;
    if answer.value("removed") == false {
        return Err(Failure::refused(Code::NotFound, format!("there is no server {server}"), server));
    }
    print(screen, &answer, |_| format!("removed {server}"))
}

pub fn start(client: &mut Client, server: &str, screen: &mut Screen) -> Result<(), Failure> {
    let answer = connect(client, server)?;
    print(screen, &answer, |answer| {
        let shown = answer.raw("server").and_then(|text| Members::parse(text.as_bytes())).unwrap_or_default();
        running(server, shown.value("tool_count").as_u64())
    })
}

/// Starts a server unless it runs.
pub fn connect(client: &mut Client, server: &str) -> Result<Members, Failure> {
    let _status = Status::new(&format!("starting {server} …"));
    client.request(&Ask::about("connect_server", server), START)
}

pub fn running(server: &str, tools: Option<u64>) -> String {
    match tools.and_then(|tools| usize::try_from(tools).ok()) {
        Some(0) => format!("{server} is running and offers no tools"),
        Some(tools) => format!("{server} is running: {} (`harbor tools {server}`)", count(tools, "tool")),
        None => format!("{server} is running"),
    }
}

pub fn stop(client: &mut Client, server: &str, screen: &mut Screen) -> Result<(), Failure> {
    let answer = client.request(&Ask::about("disconnect_server", server), QUICK)?;
    print(screen, &answer, |_| format!("{server} is stopped"))
}

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
    for server in servers.iter().filter(|server| !server.text("last_error").is_empty()) {
        screen.text(&format!("\n{}: {}", server.text("server_id"), server.text("last_error")))?;
    }
    Ok(())
}

fn tabulate(servers: &[Members]) -> Table {
    let label =
        |server: &Members| Some(server.text("label")).filter(|label| *label != server.text("server_id"));
    let labelled = servers.iter().filter_map(label).any(|label| !label.is_empty());
    let mut table = Table::new(match labelled {
        true => &["SERVER", "LABEL", "STATE", "TOOLS", "PID", "COMMAND"],
        false => &["SERVER", "STATE", "TOOLS", "PID", "COMMAND"],
    });
    for server in servers {
        let mut cells = vec![server.text("server_id")];
        cells.extend(labelled.then(|| label(server).unwrap_or_default()));
        cells.extend([
            server.text("state"),
            number(server, "tool_count"),
            number(server, "pid"),
            command(server),
        ]);
        table.add(cells);
    }
    table
}

fn number(server: &Members, name: &str) -> String {
    server.value(name).as_u64().map_or_else(|| "-".into(), |number| number.to_string())
}

/// As one would type it in a shell, nearly: enough to recognise it.
fn command(server: &Members) -> String {
    let args = server.value("args");
    let args = args.as_array().into_iter().flatten().filter_map(|arg| arg.as_str());
    let quoted = |word: &str| match word.is_empty() || word.contains(char::is_whitespace) {
        true => format!("'{word}'"),
        false => word.to_owned(),
    };
    let words: Vec<_> = [server.text("command")].into_iter().chain(args.map(str::to_owned)).collect();
    words.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::super::rig::{command as run, error};
    use super::*;
    use crate::errors::Exit;

    const TIME: &str = r#"{"server_id":"time","label":"time","command":"/usr/bin/uvx","args":["x y","z"],"state":"running","pid":7,"tool_count":2}"#;
    const FILES: &str = r#"{"server_id":"files","label":"My files","command":"node","args":[],"state":"failed","last_error":"boom"}"#;

    fn listed(servers: &str) -> String {
        format!(r#"{{"type":"list_servers_result","request_id":"1","servers":[{servers}]}}"#)
    }

    #[test]
    fn the_list_is_a_table() {
        let ran = run(false, &[&listed(TIME)], list);
        assert_eq!(
            ran.printed,
            "SERVER  STATE    TOOLS  PID  COMMAND\ntime    running  2      7    /usr/bin/uvx 'x y' z\n"
        );
        let ran = run(false, &[&listed(&format!("{TIME},{FILES}"))], list);
        assert_eq!(
            ran.printed,
            "SERVER  LABEL     STATE    TOOLS  PID  COMMAND\n\
             time              running  2      7    /usr/bin/uvx 'x y' z\n\
             files   My files  failed   -      -    node\n\nfiles: boom\n"
        );
        let ran = run(true, &[&listed(TIME)], list);
        assert_eq!(ran.printed, format!("{{\"servers\":[{TIME}]}}\n"));
        assert_eq!(run(false, &[&listed("")], list).printed, "");
    }

    #[test]
    fn starts_say_how_many_tools_there_are() {
        let answer = format!(r#"{{"type":"connect_server_result","request_id":"1","server":{TIME}}}"#);
        let ran = run(false, &[&answer], |c, s| start(c, "time", s));
        assert_eq!(ran.printed, "time is running: 2 tools (`harbor tools time`)\n");
        assert_eq!(ran.asked, [r#"{"type":"connect_server","request_id":"1","server_id":"time"}"#]);
        assert_eq!(running("x", Some(0)), "x is running and offers no tools");
    }

    #[test]
    fn a_start_that_fails_points_to_the_log() {
        let ran = run(false, &[&error("connection_failed")], |c, s| start(c, "time", s));
        assert_eq!(ran.failure.unwrap(), "no\n`harbor logs time` shows what the server said");
        assert_eq!(ran.exit, Exit::Unavailable);
    }

    #[test]
    fn stops_and_removals_are_confirmed() {
        let answer = format!(r#"{{"type":"disconnect_server_result","request_id":"1","server":{TIME}}}"#);
        assert_eq!(run(false, &[&answer], |c, s| stop(c, "time", s)).printed, "time is stopped\n");
        let answer =
            |removed| format!(r#"{{"type":"remove_server_result","request_id":"1","removed":{removed}}}"#);
        assert_eq!(run(false, &[&answer(true)], |c, s| remove(c, "time", s)).printed, "removed time\n");
        assert_eq!(run(true, &[&answer(false)], |c, s| remove(c, "time", s)).exit, Exit::NotFound);
    }
}
