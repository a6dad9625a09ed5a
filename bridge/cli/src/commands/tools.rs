//! tools: the tools of the servers, and those that an origin sees.
//!
//! Owns the listings. Must never let one server that hangs or fails hide the tools of the others.

use std::time::Duration;

use harbor_client::errors::Failure;
use harbor_client::payload::Payload;
use harbor_client::reply::Answer;
use harbor_client::terminal::remark;
use harbor_ipc_proto::client::{HostListTools, ListServers, McpListTools, McpListToolsResult};
use harbor_ipc_proto::codes::Code;
use harbor_ipc_proto::json::Json;
use harbor_policy::suggest::hint;

use super::printing::print;
use super::result_notes;
use super::tool_list::{read, request};
use crate::args::Asker;
use crate::client::{Client, QUICK};
use crate::pretty::pretty;
use crate::screen::{Screen, Status};
use crate::table::Table;

/// A server may list in pages.
const LIST: Duration = Duration::from_secs(65);

/// The wait for a server whose tools are known, in milliseconds.
const PATIENCE: u64 = 2_000;

/// The tools of a server, as its answer.
pub fn ask(client: &mut Client, server: &str) -> Result<Answer<McpListToolsResult>, Failure> {
    let _status = Status::new(&format!("asking {server} …"));
    client.ask(&request(server)?, LIST)
}

/// Like [`request`], but it does not wait long for a server that hangs.
fn look(server: &str) -> Result<McpListTools, Failure> {
    Ok(McpListTools { wait_ms: Some(PATIENCE), ..request(server)? })
}

/// The remark about a list that is an earlier one.
fn earlier(server: &str, answer: &McpListToolsResult) -> Option<String> {
    let why = if answer.no_answer == Some(true) { "does not answer" } else { "is not running" };
    (answer.last_listed == Some(true))
        .then(|| format!("{server} {why}, so these are the tools that it listed last"))
}

pub fn of_server(client: &mut Client, server: &str, screen: &mut Screen) -> Result<(), Failure> {
    let answer = {
        let _status = Status::new(&format!("asking {server} …"));
        client.ask(&look(server)?, LIST)?
    };
    if screen.json {
        return print(screen, &answer, |_| String::new());
    }
    let mut table = Table::new(HEADER);
    let left_out = tabulate(&mut table, Some(server), &answer.tools);
    show(&table, screen)?;
    earlier(server, &answer).iter().for_each(|text| remark(text));
    left_out.iter().for_each(|text| remark(text));
    result_notes::on_changes(client, |name| name == server);
    Ok(())
}

/// One tool, with its own description.
pub fn one(client: &mut Client, server: &str, name: &str, screen: &mut Screen) -> Result<(), Failure> {
    let (tools, _) = read(&ask(client, server)?.tools);
    let Some(tool) = tools.iter().find(|tool| tool.text("name") == name) else {
        let names: Vec<_> = tools.iter().map(|tool| tool.text("name")).collect();
        let hint = hint(name, names.iter().map(String::as_str));
        let message = format!("there is no tool {server}/{name}{hint}");
        return Err(Failure::refused(Code::ToolNotFound, message, server));
    };
    match screen.json {
        true => screen.json(&tool.to_json())?,
        false => screen.text(&describe(server, tool))?,
    }
    Ok(())
}

fn describe(server: &str, tool: &Payload) -> String {
    let mut parts = vec![format!("{server}/{}", tool.text("name"))];
    let texts = ["title", "description"].map(|part| tool.text(part).trim().to_owned());
    parts.extend(texts.into_iter().filter(|text| !text.is_empty()));
    let schemas = [("annotations", "annotations"), ("arguments", "inputSchema"), ("result", "outputSchema")];
    let schemas = schemas.iter().filter_map(|(title, part)| Some((title, tool.raw(part)?)));
    parts.extend(schemas.map(|(title, json)| format!("{title}\n{}", pretty(json))));
    parts.join("\n\n")
}

/// The tools that an origin sees, of one server or of all. Their names have the server in them.
pub fn seen_by(
    client: &mut Client,
    asker: &Asker,
    server: Option<&str>,
    screen: &mut Screen,
) -> Result<(), Failure> {
    let ask = HostListTools {
        origin: Some(asker.origin.to_string()),
        profile: asker.profile.clone(),
        tab_id: None,
        server_ids: server.map(|server| vec![server.to_owned()]),
    };
    let answer = client.ask(&ask, QUICK)?;
    if screen.json {
        return print(screen, &answer, |_| String::new());
    }
    let mut table = Table::new(HEADER);
    tabulate(&mut table, None, &answer.tools.to_json());
    show(&table, screen)?;
    // An origin may be kept from them; who wonders why is told.
    result_notes::on_changes(client, |name| server.is_none_or(|server| name == server));
    Ok(())
}

pub fn of_all(client: &mut Client, screen: &mut Screen) -> Result<(), Failure> {
    let listed = client.ask(&ListServers {}, QUICK)?.into_value().servers;
    let known = listed.iter().filter(|server| server.state == "running" || server.tool_count.is_some());
    let names: Vec<_> = known.map(|server| server.server_id.clone()).collect();
    let mut failed = None;
    let (mut table, mut entries, mut left_out) = (Table::new(HEADER), Vec::new(), Vec::new());
    let asks = names.iter().map(|server| look(server)).collect::<Result<Vec<_>, _>>()?;
    let answers = {
        let _status = Status::new("asking the servers …");
        client.ask_each(&asks, LIST)?
    };
    for (server, answer) in names.iter().zip(answers) {
        let mut entry = match answer {
            Ok(answer) => {
                left_out.extend(earlier(server, &answer).filter(|_| answer.no_answer == Some(true)));
                left_out.extend(tabulate(&mut table, Some(server), &answer.tools));
                answer.members()
            }
            Err(failure) => {
                let error = failure.json().and_then(|json| Payload::parse(json.as_bytes()));
                remark(&format!("harbor: {server}: {}", failure.message().unwrap_or_default()));
                failed.get_or_insert(failure.exit());
                error.unwrap_or_default()
            }
        };
        entry.insert("server_id", serde_json::Value::from(server.as_str()).to_string());
        entries.push(entry.to_json());
    }
    match screen.json {
        true => screen.json(&format!("{{\"servers\":[{}]}}", entries.join(",")))?,
        false if names.is_empty() => remark(match listed.is_empty() {
            true => "no servers yet; add one with `harbor install NAME`",
            false => "no tools are known yet; a server lists its tools when it first starts",
        }),
        false => {
            show(&table, screen)?;
            left_out.iter().for_each(|text| remark(text));
            result_notes::on_changes(client, |name| names.iter().any(|listed| listed == name));
        }
    }
    failed.map_or(Ok(()), |exit| Err(Failure::Said(exit)))
}

const HEADER: &[&str] = &["TOOL", "DESCRIPTION"];

/// Adds the tools; says what was left out.
fn tabulate(table: &mut Table, server: Option<&str>, list: &Json) -> Option<String> {
    let (tools, left_out) = read(list);
    for tool in tools {
        let description = tool.text("description");
        let first_line = description.trim().lines().next().unwrap_or_default().to_owned();
        let name = tool.text("name");
        table.add([server.map_or(name.clone(), |server| format!("{server}/{name}")), first_line]);
    }
    result_notes::left_out(server?, left_out)
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
    use harbor_client::errors::Exit;
    use harbor_policy::origin::Origin;

    use super::super::rig::{command, error};
    use super::*;

    const KNOWN: &str = r#"{"type":"list_servers_result","request_id":"1","servers":[{"server_id":"a","state":"running"},{"server_id":"b","state":"stopped","tool_count":2},{"server_id":"c","state":"stopped"}]}"#;
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
        assert_eq!(ran.failure.unwrap(), "no\nstart it: `harbor start time`");
    }

    #[test]
    fn what_is_no_tool_hides_no_other() {
        let items = r#"[{"name":"good"},5,null,{"title":"x"},{"name":""},{"name":7},{"name":"last"}]"#;
        let answer = listed(1).replace(TOOLS, items);
        let ran = command(false, &[&answer], |c, s| of_server(c, "time", s));
        assert_eq!(ran.printed, "TOOL       DESCRIPTION\ntime/good\ntime/last\n");
        let (tools, left_out) = read(&Json::from_valid(items.to_owned()));
        let names: Vec<_> = tools.iter().map(|tool| tool.text("name")).collect();
        assert_eq!((names.join(" ").as_str(), left_out), ("good last", 5));
        let ran = command(true, &[&answer], |c, s| of_server(c, "time", s));
        assert_eq!(ran.printed, format!("{{\"tools\":{items}}}\n"));
    }

    #[test]
    fn people_are_told_of_changes_and_programs_ask_nothing_more() {
        let asked = |json| command(json, &[&listed(1)], |c, s| of_server(c, "time", s));
        assert_eq!(
            (asked(true).asked.len(), asked(false).exit),
            (1, Exit::Done),
            "also if they cannot be had"
        );
        let servers = r#"{"type":"list_servers_result","request_id":"2","servers":[]}"#;
        let ran = command(false, &[&listed(1), servers], |c, s| of_server(c, "time", s));
        assert_eq!(ran.asked[1], r#"{"type":"list_servers","request_id":"2"}"#);
    }

    #[test]
    fn of_all_servers_even_if_one_fails() {
        let failed = error("ERR_TOOL_TIMEOUT").replace("\"1\"", "\"2\"");
        let answers = [KNOWN, &failed, &listed(3)];
        let ran = command(false, &answers, of_all);
        assert_eq!(ran.printed, "TOOL    DESCRIPTION\nb/now   Tells the time.\nb/zone\n");
        assert_eq!((ran.exit, ran.failure), (Exit::TimedOut, None));
        let ran = command(true, &answers, of_all);
        assert_eq!(
            ran.printed,
            format!(
                "{{\"servers\":[{{\"error\":{{\"code\":\"ERR_TOOL_TIMEOUT\",\"message\":\"no\",\
                 \"hint\":\"allow more time: `--timeout SECONDS`\"}},\"server_id\":\"a\"}},\
                 {{\"server_id\":\"b\",\"tools\":{TOOLS}}}]}}\n"
            )
        );
    }

    #[test]
    fn of_what_an_origin_sees() {
        let tools = r#"[{"name":"time/now","serverId":"time","description":"Tells\u200b the time."}]"#;
        let answer = format!(r#"{{"type":"host_list_tools_result","request_id":"1","tools":{tools}}}"#);
        let origin = Origin::parse("https://a.example").unwrap();
        let asker = Asker { origin, profile: Some("work".into()) };
        let ran = command(false, &[&answer], |c, s| seen_by(c, &asker, Some("time"), s));
        assert_eq!(ran.printed, "TOOL      DESCRIPTION\ntime/now  Tells\\u{200b} the time.\n");
        assert_eq!(
            ran.asked,
            [
                r#"{"type":"host_list_tools","request_id":"1","origin":"https://a.example","profile":"work","server_ids":["time"]}"#
            ]
        );
        let ran = command(true, &[&answer], |c, s| seen_by(c, &asker, None, s));
        assert_eq!(ran.printed, format!("{{\"tools\":{tools}}}\n"));
        assert!(ran.asked[0].ends_with(r#""profile":"work"}"#), "{}", ran.asked[0]);
        let details = r#","details":{"origin":"https://a.example","scope":"mcp:tools.list"}}}"#;
        let refused = error("ERR_SCOPE_REQUIRED").replace("}}", details);
        let ran = command(false, &[&refused], |c, s| seen_by(c, &asker, None, s));
        assert_eq!(
            ran.failure.unwrap(),
            "no\n`harbor grant https://a.example mcp:tools.list --profile \"work\"` allows it temporarily"
        );
        assert_eq!(ran.exit, Exit::Denied);
    }

    #[test]
    fn of_no_server() {
        let none = r#"{"type":"list_servers_result","request_id":"1","servers":[]}"#;
        assert_eq!(command(true, &[none], of_all).printed, "{\"servers\":[]}\n");
        assert_eq!(command(false, &[none], of_all).printed, "");
    }
}
