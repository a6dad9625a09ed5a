//! What is said on stderr beside a result about a server's tools: which have changed, which have hidden characters, and
//! what of a list is no tool.
//!
//! Owns the sentences. Must never make a command fail: its result is there already.

use std::time::Duration;

use harbor_ipc_proto::hidden::has_hidden;
use serde_json::Value;

use super::changes::PARTS;
use super::{count, grants, tools};
use crate::ask::Ask;
use crate::client::{Client, QUICK};
use crate::reply::Members;
use crate::screen::remark;
use crate::table::flatten;

/// How long a server that has just started is asked for what its tools say.
const LOOK: Duration = Duration::from_secs(10);

/// `time: 2 tools have changed since you first saw them`, of a server as `list_servers` shows it.
pub fn changed(server: &Members) -> Option<String> {
    let number = server.number("changed_tools").filter(|number| *number > 0)?;
    let tools = count(usize::try_from(number).unwrap_or(usize::MAX), "tool");
    let (have, them) = if number == 1 { ("has", "it") } else { ("have", "them") };
    let name = server.text("server_id");
    Some(format!(
        "{name}: {tools} {have} changed since you first saw {them}: `harbor tools --changed {name}`"
    ))
}

/// Says which of the servers that are meant have changed tools.
pub fn on_changes(client: &mut Client, is_meant: impl Fn(&str) -> bool) {
    let Ok(answer) = client.request(&Ask::new("list_servers"), QUICK) else { return };
    let servers = answer.objects("servers");
    let meant = servers.iter().filter(|server| is_meant(&server.text("server_id")));
    meant.filter_map(changed).for_each(|text| remark(&text));
}

/// Says what is to be known of the tools of a server that runs, by the answer to `connect_server`.
pub fn on_start(client: &mut Client, server: &str, answer: &Members) {
    let shown = answer.object("server");
    changed(&shown).iter().for_each(|text| remark(text));
    if shown.number("tool_count") != Some(0)
        && let Ok(listed) = client.request(&tools::request(server), LOOK)
    {
        hidden(server, &listed).iter().for_each(|text| remark(text));
    }
}

/// Says which of a server's tools have texts with hidden characters.
fn hidden(server: &str, listed: &Members) -> Option<String> {
    let (tools, _) = tools::read(listed);
    let hide = tools.iter().filter(|tool| hides(tool));
    let names: Vec<_> = hide.map(|tool| flatten(&tool.text("name"))).collect();
    let named = (!names.is_empty()).then(|| grants::shorten(Some(names)))?;
    Some(format!(
        "{server}: hidden or control characters in the texts of {named}: a model may read there what you do not see"
    ))
}

/// Whether a tool has hidden characters. What cannot be looked through counts as if it had.
fn hides(tool: &Members) -> bool {
    let texts = ["name"].into_iter().chain(PARTS).filter_map(|part| tool.raw(part));
    texts.map(serde_json::from_str).any(|value| !value.is_ok_and(|value| is_open(&value)))
}

/// Whether every text in it shows all that it has.
fn is_open(value: &Value) -> bool {
    match value {
        Value::String(text) => !has_hidden(text),
        Value::Array(items) => items.iter().all(is_open),
        Value::Object(members) => members.iter().all(|(name, member)| !has_hidden(name) && is_open(member)),
        Value::Null | Value::Bool(_) | Value::Number(_) => true,
    }
}

/// Says how many items of a server's list are no tools.
pub fn left_out(server: &str, items: usize) -> Option<String> {
    let (are, tools, were) = if items == 1 { ("is", "tool", "was") } else { ("are", "tools", "were") };
    let listed = count(items, "item");
    (items > 0).then(|| format!("{server}: {listed} of its list {are} no {tools} and {were} left out"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn members(json: &str) -> Members {
        Members::parse(json.as_bytes()).unwrap()
    }

    #[test]
    fn changed_tools_are_counted_with_the_command_that_shows_them() {
        let said = |number: &str| changed(&members(&format!(r#"{{"server_id":"time"{number}}}"#)));
        assert_eq!(
            said(r#","changed_tools":1"#).unwrap(),
            "time: 1 tool has changed since you first saw it: `harbor tools --changed time`"
        );
        assert_eq!(
            said(r#","changed_tools":2"#).unwrap(),
            "time: 2 tools have changed since you first saw them: `harbor tools --changed time`"
        );
        assert_eq!((said(""), said(r#","changed_tools":0"#)), (None, None));
    }

    #[test]
    fn tools_that_hide_something_are_named_wherever_it_is() {
        let said = |tools: &str| hidden("time", &members(&format!(r#"{{"tools":[{tools}]}}"#)));
        let hiding = [
            r#"{"name":"a\u200b"}"#,
            r#"{"name":"b","description":"x\u202ey"}"#,
            r#"{"name":"c","inputSchema":{"properties":{"x\u00ad":1}}}"#,
            r#"{"name":"d","annotations":{"x":["\ufeff"]}}"#,
            r#"{"name":"e","title":"\ud800"}"#,
        ];
        let open = r#"5,{"name":"naïve – 日本語","description":"a\nb\tc","x":"\u200b"}"#;
        let end = ": a model may read there what you do not see";
        assert_eq!(
            said(&format!("{open},{}", hiding[0])).unwrap(),
            format!("time: hidden or control characters in the texts of a\\u{{200b}}{end}")
        );
        let all = said(&hiding.join(",")).unwrap();
        assert!(all.ends_with(&format!(" the texts of a\\u{{200b}}, b, c and 2 more{end}")), "{all}");
        assert_eq!(said(open), None);
    }

    #[test]
    fn what_is_no_tool_is_counted() {
        assert_eq!(left_out("time", 0), None);
        assert_eq!(left_out("time", 1).unwrap(), "time: 1 item of its list is no tool and was left out");
        assert_eq!(left_out("time", 3).unwrap(), "time: 3 items of its list are no tools and were left out");
    }
}
