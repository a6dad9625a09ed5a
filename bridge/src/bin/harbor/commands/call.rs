//! call: calls one tool and shows what it says.
//!
//! Owns the arguments and the telling apart of "the tool failed" and "there is no such tool". Must never send
//! a call twice.

use std::io::{self, Read};
use std::time::Duration;

use harbor_ipc_proto::codes::Code;
use harbor_ipc_proto::json::Json;
use serde_json::value::RawValue;

use super::{servers, tools};
use crate::args::Call;
use crate::ask::Ask;
use crate::client::Client;
use crate::content::{Content, render};
use crate::errors::{Exit, Failure};
use crate::reply::Members;
use crate::screen::{Screen, Status, remark};
use crate::suggest::hint;

/// What the bridge allows when nothing is said.
const DEFAULT_TIMEOUT: Duration = Duration::from_secs(30);

/// The bridge ends a call in time; this is how much later we give the bridge up.
const GRACE: Duration = Duration::from_secs(5);

/// The request, its arguments checked.
pub fn ask(call: &Call) -> Result<Ask, Failure> {
    let mut ask = Ask::about("mcp_call_tool", &call.server).text("tool_name", &call.tool);
    if let Some(arguments) = arguments(call)? {
        ask = ask.json("arguments", arguments);
    }
    if let Some(timeout) = call.timeout {
        ask = ask.number("timeout_ms", u64::try_from(timeout.as_millis()).unwrap_or(u64::MAX));
    }
    Ok(if Status::is_visible() { ask.flag("progress", true) } else { ask })
}

fn arguments(call: &Call) -> Result<Option<Json>, Failure> {
    match call.arguments.as_deref() {
        None => Ok(None),
        Some("-") => {
            let mut text = String::new();
            io::stdin()
                .read_to_string(&mut text)
                .map_err(|error| Failure::Io("read the arguments", error))?;
            object(text.trim()).map(Some)
        }
        Some(text) => object(text.trim()).map(Some),
    }
}

/// The text of a JSON object, as it was typed.
fn object(text: &str) -> Result<Json, Failure> {
    let wrong = |what: String| Failure::Usage(format!("the arguments are no JSON object: {what}"));
    serde_json::from_str::<&RawValue>(text).map_err(|error| wrong(error.to_string()))?;
    match text.starts_with('{') {
        true => Ok(Json::from_valid(text.to_owned())),
        false => Err(wrong("they must start with {".into())),
    }
}

pub fn run(client: &mut Client, call: &Call, ask: &Ask, screen: &mut Screen) -> Result<(), Failure> {
    servers::connect(client, &call.server)?;
    let answer = match send(client, call, ask) {
        Err(Failure::Refused(refusal)) if refusal.is(Code::ToolFailed) => {
            let unknown = find_unknown(client, call, &refusal.message);
            return Err(unknown.unwrap_or(Failure::Refused(refusal)));
        }
        other => other?,
    };
    let content = render(answer.raw("result").unwrap_or_default());
    if content.is_error {
        find_unknown(client, call, &content.text).map_or(Ok(()), Err)?;
    }
    show(&answer, &content, screen)?;
    match content.is_error {
        true if screen.json => Err(Failure::Said(Exit::ToolFailed)),
        true => {
            remark("harbor: the tool reported an error");
            Err(Failure::Said(Exit::ToolFailed))
        }
        false => Ok(()),
    }
}

fn send(client: &mut Client, call: &Call, ask: &Ask) -> Result<Members, Failure> {
    let mut status = Status::new(&format!("calling {} …", call.tool));
    let limit = call.timeout.unwrap_or(DEFAULT_TIMEOUT) + GRACE;
    client.request_with_progress(ask, limit, &mut |progress| status.show(&describe(progress)))
}

fn describe(progress: &Members) -> String {
    let done = progress.raw("progress").unwrap_or_default();
    let total = progress.raw("total").map(|total| format!("/{total}")).unwrap_or_default();
    format!("{done}{total} {}", progress.text("message")).trim_end().to_owned()
}

/// Servers report an unknown tool in ways of their own, so after a failure their list decides.
fn find_unknown(client: &mut Client, call: &Call, said: &str) -> Option<Failure> {
    let listed = tools::ask(client, &call.server).ok()?.objects("tools");
    let names: Vec<_> = listed.iter().map(|tool| tool.text("name")).collect();
    if names.contains(&call.tool) {
        return None;
    }
    let hint = hint(&call.tool, names.iter().map(String::as_str));
    let said = said.lines().next().unwrap_or_default();
    let message = format!("{} lists no tool {}{hint}\nit said: {said}", call.server, call.tool);
    Some(Failure::refused(Code::NotFound, message, &call.server))
}

fn show(answer: &Members, content: &Content, screen: &mut Screen) -> Result<(), Failure> {
    match screen.json {
        true => screen.json(&answer.to_json())?,
        false if content.text.is_empty() => {}
        false => screen.text(&content.text)?,
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::rig::{Ran, command};
    use super::*;

    const CONNECTED: &str = r#"{"type":"connect_server_result","request_id":"1","server":{}}"#;
    const TOOLS: &str =
        r#"{"type":"mcp_list_tools_result","request_id":"3","tools":[{"name":"now"},{"name":"zone"}]}"#;
    const REFUSED: &str =
        r#"{"type":"error","request_id":"2","error":{"code":"ERR_TOOL_FAILED","message":"unknown tool"}}"#;

    fn result(result: &str) -> String {
        format!(r#"{{"type":"mcp_call_tool_result","request_id":"2","result":{result}}}"#)
    }

    fn typed(tool: &str, arguments: Option<&str>) -> Call {
        let timeout = Some(Duration::from_millis(1500));
        Call { server: "time".into(), tool: tool.into(), arguments: arguments.map(str::to_owned), timeout }
    }

    fn called(json: bool, tool: &str, answers: &[&str]) -> Ran {
        let call = typed(tool, Some(r#" {"b":1.0,"a":12345678901234567890} "#));
        let ask = ask(&call).unwrap();
        command(json, answers, |client, screen| run(client, &call, &ask, screen))
    }

    #[test]
    fn the_server_is_started_and_the_arguments_pass_as_they_were_typed() {
        let ran =
            called(false, "now", &[CONNECTED, &result(r#"{"content":[{"type":"text","text":"noon"}]}"#)]);
        assert_eq!((ran.printed.as_str(), ran.exit), ("noon\n", Exit::Done));
        let sent = r#"{"type":"mcp_call_tool","request_id":"2","server_id":"time","tool_name":"now","arguments":{"b":1.0,"a":12345678901234567890},"timeout_ms":1500"#;
        assert!(ran.asked[1].starts_with(sent), "{}", ran.asked[1]);
    }

    #[test]
    fn as_json_the_result_stays_as_the_server_wrote_it() {
        let text = r#"{"z":[],"content":[],"a":1.10}"#;
        let ran = called(true, "now", &[CONNECTED, &result(text)]);
        assert_eq!(ran.printed, format!("{{\"result\":{text}}}\n"));
    }

    #[test]
    fn a_tool_that_fails_is_told_from_a_tool_that_is_not_there() {
        let failed = result(r#"{"content":[{"type":"text","text":"broken"}],"isError":true}"#);
        for json in [false, true] {
            let ran = called(json, "now", &[CONNECTED, &failed, TOOLS]);
            assert_eq!((ran.exit, ran.failure), (Exit::ToolFailed, None));
            assert!(ran.printed.contains("broken"));
            for answer in [&failed, REFUSED] {
                let ran = called(json, "zones", &[CONNECTED, answer, TOOLS]);
                assert_eq!((ran.exit, ran.printed.as_str()), (Exit::NotFound, ""));
                let message = ran.failure.unwrap();
                assert!(
                    message.starts_with("time lists no tool zones; did you mean zone?\nit said: "),
                    "{message}"
                );
            }
        }
        let ran = called(false, "now", &[CONNECTED, REFUSED, TOOLS]);
        assert_eq!((ran.exit, ran.failure.unwrap().as_str()), (Exit::ToolFailed, "unknown tool"));
    }

    #[test]
    fn arguments_are_checked_before_anything_is_asked() {
        for text in ["", "{", "[1]", "7", "{} {}", "{\"a\":}"] {
            let failure = ask(&typed("now", Some(text))).unwrap_err();
            assert_eq!(failure.exit(), Exit::Usage, "{text}");
        }
        assert!(ask(&typed("now", None)).is_ok());
    }

    #[test]
    fn progress_in_a_line() {
        let line = |json: &str| describe(&Members::parse(json.as_bytes()).unwrap());
        assert_eq!(line(r#"{"progress":3,"total":10,"message":"half\nway"}"#), "3/10 half\nway");
        assert_eq!(line(r#"{"progress":0.5}"#), "0.5");
    }
}
