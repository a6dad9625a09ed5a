//! tools: what the running servers offer.
//!
//! Owns the listing. Must never let one server that hangs or fails hide the tools of the others.

use std::time::Duration;

use super::print;
use crate::ask::Ask;
use crate::client::{Client, QUICK};
use crate::errors::Failure;
use crate::reply::Members;
use crate::screen::{Screen, Status, remark};
use crate::table::Table;

/// A server may list in pages.
const LIST: Duration = Duration::from_secs(65);

/// What a server offers, as its answer.
pub fn ask(client: &mut Client, server: &str) -> Result<Members, Failure> {
    let _status = Status::new(&format!("asking {server} …"));
    client.request(&Ask::about("mcp_list_tools", server), LIST)
}

pub fn of_server(client: &mut Client, server: &str, screen: &mut Screen) -> Result<(), Failure> {
    let answer = ask(client, server)?;
    if screen.json {
        return print(screen, &answer, |_| String::new());
    }
    let mut table = Table::new(HEADER);
    tabulate(&mut table, server, &answer);
    show(&table, screen)
}

pub fn of_all(client: &mut Client, screen: &mut Screen) -> Result<(), Failure> {
    let running = client.request(&Ask::new("mcp_list_connections"), QUICK)?.objects("connections");
    let mut failed = None;
    let (mut table, mut entries) = (Table::new(HEADER), Vec::new());
    for server in running.iter().map(|connection| connection.text("server_id")) {
        let mut entry = match ask(client, &server) {
            Ok(answer) => {
                tabulate(&mut table, &server, &answer);
                answer
            }
            Err(failure) => {
                let error = failure.json().and_then(|json| Members::parse(json.as_bytes()));
                remark(&format!("harbor: {server}: {}", failure.message().unwrap_or_default()));
                failed.get_or_insert(failure.exit());
                error.unwrap_or_default()
            }
        };
        entry.insert("server_id", serde_json::Value::from(server).to_string());
        entries.push(entry.to_json());
    }
    match screen.json {
        true => screen.json(&format!("{{\"servers\":[{}]}}", entries.join(",")))?,
        false if running.is_empty() => remark("no server is running; start one with `harbor start NAME`"),
        false => show(&table, screen)?,
    }
    failed.map_or(Ok(()), |exit| Err(Failure::Said(exit)))
}

const HEADER: &[&str] = &["TOOL", "DESCRIPTION"];

fn tabulate(table: &mut Table, server: &str, answer: &Members) {
    for tool in answer.objects("tools") {
        let description = tool.text("description");
        let first_line = description.trim().lines().next().unwrap_or_default().to_owned();
        table.add([format!("{server}/{}", tool.text("name")), first_line]);
    }
}

fn show(table: &Table, screen: &mut Screen) -> Result<(), Failure> {
    match table.is_empty() {
        true => remark("no tools"),
        false => screen.table(table)?,
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::rig::{command, error};
    use super::*;
    use crate::errors::Exit;

    const RUNNING: &str = r#"{"type":"mcp_list_connections_result","request_id":"1","connections":[{"server_id":"a"},{"server_id":"b"}]}"#;
    const TOOLS: &str =
        r#"[{"name":"now","description":"\nTells the time.\nAt length.","x":1},{"name":"zone"}]"#;

    fn listed(id: u32) -> String {
        format!(r#"{{"type":"mcp_list_tools_result","request_id":"{id}","tools":{TOOLS}}}"#)
    }

    #[test]
    fn of_one_server() {
        let ran = command(false, &[&listed(1)], |c, s| of_server(c, "time", s));
        assert_eq!(ran.printed, "TOOL       DESCRIPTION\ntime/now   Tells the time.\ntime/zone\n");
        let ran = command(true, &[&listed(1)], |c, s| of_server(c, "time", s));
        assert_eq!(ran.printed, format!("{{\"tools\":{TOOLS}}}\n"));
        let ran = command(false, &[&error("not_connected")], |c, s| of_server(c, "time", s));
        assert_eq!(ran.failure.unwrap(), "no\nstart it with `harbor start time`");
    }

    #[test]
    fn of_all_servers_even_if_one_fails() {
        let failed = error("ERR_TOOL_TIMEOUT").replace("\"1\"", "\"2\"");
        let answers = [RUNNING, &failed, &listed(3)];
        let ran = command(false, &answers, of_all);
        assert_eq!(ran.printed, "TOOL    DESCRIPTION\nb/now   Tells the time.\nb/zone\n");
        assert_eq!((ran.exit, ran.failure), (Exit::TimedOut, None));
        let ran = command(true, &answers, of_all);
        assert_eq!(
            ran.printed,
            format!(
                "{{\"servers\":[{{\"error\":{{\"code\":\"ERR_TOOL_TIMEOUT\",\"message\":\"no\"}},\"server_id\":\"a\"}},\
                 {{\"server_id\":\"b\",\"tools\":{TOOLS}}}]}}\n"
            )
        );
    }

    #[test]
    fn of_no_server() {
        let none = r#"{"type":"mcp_list_connections_result","request_id":"1","connections":[]}"#;
        assert_eq!(command(true, &[none], of_all).printed, "{\"servers\":[]}\n");
        assert_eq!(command(false, &[none], of_all).printed, "");
    }
}
