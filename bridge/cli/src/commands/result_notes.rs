//! Remarks on stderr beside a result: tools of a server that have changed or have hidden characters, and list
//! entries that are no tools. Also: whose files are where.
//!
//! Owns the sentences. Must never make a command fail: its result is there already.

use std::path::Path;
use std::time::Duration;

use harbor_client::id::server_id;
use harbor_client::payload::Payload;
use harbor_client::terminal::remark;
use harbor_ipc_proto::client::{
    DeniedView, GetSandbox, GrantView, ImageView, ListServers, SandboxSummary, ServerChange, ServerView,
};
use harbor_ipc_proto::hidden::has_hidden;
use harbor_ipc_proto::json::Json;
use harbor_policy::apis::hosts_of;
use harbor_policy::sandbox::hint::{Told, is_of_kernel, meant};
use serde_json::Value;

use super::changes::{self, PARTS};
use super::printing::count;
use super::{grants, tool_list};
use crate::client::{Client, QUICK};
use crate::table::flatten;

/// The time for a server that has just started to list its tools.
const LOOK: Duration = Duration::from_secs(10);

/// `time: 2 tools have changed since you first saw them`, of a server as `list_servers` shows it.
pub fn changed(server: &ServerView) -> Option<String> {
    let number = server.changed_tools.filter(|number| *number > 0)?;
    let tools = count(usize::try_from(number).unwrap_or(usize::MAX), "tool");
    let (have, them) = if number == 1 { ("has", "it") } else { ("have", "them") };
    let name = &server.server_id;
    Some(format!(
        "{name}: {tools} {have} changed since you first saw {them}: `harbor tools --changed {name}`"
    ))
}

/// A sentence for each fault in the lists of a running server: `time: its tools could not be listed: …`.
pub fn problems(server: &ServerView) -> Vec<String> {
    let problems = server.list_problems.iter().flatten();
    problems.map(|problem| format!("{}: {}", server.server_id, flatten(problem))).collect()
}

/// Says which of the servers that are meant have changed tools, or lists with something wrong.
pub fn on_changes(client: &mut Client, is_meant: impl Fn(&str) -> bool) {
    let Ok(answer) = client.ask(&ListServers {}, QUICK) else { return };
    for server in answer.servers.iter().filter(|server| is_meant(&server.server_id)) {
        server.program_change.iter().for_each(on_program);
        problems(server).into_iter().chain(changed(server)).for_each(|text| remark(&text));
    }
}

/// Says the notes about the tools of a running server, by the answer to `connect_server`.
pub fn on_start(client: &mut Client, server: &str, shown: &ServerView) {
    problems(shown).into_iter().chain(changed(shown)).for_each(|text| remark(&text));
    if shown.tool_count.is_some_and(|count| count > 0)
        && let Ok(request) = tool_list::request(server)
        && let Ok(listed) = client.ask(&request, LOOK)
    {
        hidden(server, &listed.tools).iter().for_each(|text| remark(text));
    }
}

/// Says which of a server's tools have texts with hidden characters.
fn hidden(server: &str, listed: &Json) -> Option<String> {
    let (tools, _) = tool_list::read(listed);
    let hide = tools.iter().filter(|tool| hides(tool));
    let names: Vec<_> = hide.map(|tool| flatten(&tool.text("name"))).collect();
    let named = (!names.is_empty()).then(|| grants::shorten(Some(names)))?;
    Some(format!(
        "{server}: the texts of {named} contain hidden or control characters: a model may read something there that \
         you cannot see"
    ))
}

/// True if a tool has hidden characters, or cannot be looked through.
fn hides(tool: &Payload) -> bool {
    let texts = ["name"].into_iter().chain(PARTS).filter_map(|part| tool.raw(part));
    texts.map(serde_json::from_str).any(|value| !value.is_ok_and(|value| is_open(&value)))
}

/// True if every text in it shows all that it has.
fn is_open(value: &Value) -> bool {
    match value {
        Value::String(text) => !has_hidden(text),
        Value::Array(items) => items.iter().all(is_open),
        Value::Object(members) => members.iter().all(|(name, member)| !has_hidden(name) && is_open(member)),
        Value::Null | Value::Bool(_) | Value::Number(_) => true,
    }
}

/// Tells the parts of a new server's sandbox that this kernel cannot enforce. Then warns of unexpected reach,
/// and says how to limit a server with these keys.
pub fn on_sandbox(name: &str, sandbox: Option<&SandboxSummary>, keys: &[String]) {
    on_missing(name, sandbox);
    let Some(sandbox) = sandbox else { return };
    sandbox.warnings.iter().for_each(|sentence| remark(&format!("{name}: {}", flatten(sentence))));
    if !sandbox.warnings.is_empty() && sandbox.network == "all" {
        remark(&less_network(name, &hosts_of(keys)));
    }
}

fn less_network(name: &str, hosts: &[&str]) -> String {
    match hosts {
        [] => format!(
            "{name}: to limit its network: `harbor sandbox {name} --network none`, or `--network hosts --host HOST`"
        ),
        hosts => format!(
            "{name}: to limit it to the hosts of its key: `harbor sandbox {name} --network hosts --host {}`",
            hosts.join(" --host ")
        ),
    }
}

/// Says what of its sandbox this kernel cannot hold.
pub fn on_missing(name: &str, sandbox: Option<&SandboxSummary>) {
    let missing = sandbox.into_iter().flat_map(|sandbox| &sandbox.missing);
    missing.for_each(|sentence| remark(&format!("{name}: {}", flatten(sentence))));
}

/// Says where the files of an earlier server are, and whether a new one gets them.
pub fn on_old_data(server: &str, directory: Option<&str>, kept: bool) {
    old_data(server, directory, kept).into_iter().for_each(|text| remark(&text));
}

fn old_data(server: &str, directory: Option<&str>, kept: bool) -> Option<String> {
    let directory = directory.map(flatten).filter(|directory| !directory.is_empty())?;
    Some(match kept {
        true => format!(
            "{server}: it uses the data of an earlier server of this name, in {directory}; \
             `harbor remove {server} --data` deletes both"
        ),
        false => {
            let own = Path::new(&directory).with_file_name("data");
            format!(
                "{server}: the data of an earlier server of this name is set aside in {directory}. Use it: `harbor \
                 stop {server}`, then move it to {}; delete it: `harbor remove {server} --data`",
                own.display()
            )
        }
    })
}

/// Says that a server runs another program than the allowed one.
pub fn on_program(change: &ServerChange) {
    remark(&program(change));
}

fn program(change: &ServerChange) -> String {
    let ServerChange { server_id: server, before, after, .. } = change;
    let [before, after] = [before, after].map(|program| flatten(&changes::shown(program)));
    format!(
        "{server}: it was {before} and is now {after}, so nobody can use it and it gets no secrets until you accept \
         it: `harbor accept {server}`"
    )
}

/// The grants and pins that ended with a server.
pub fn ended_grants(pins: u32, ended: &[GrantView]) -> Vec<String> {
    let grants = ended.iter().map(|grant| {
        let (origin, scope) = (&grant.origin, &grant.scope);
        let tools = grants::shorten(grant.allowed_tools.clone());
        format!("revoked: {origin} {scope} for {tools}")
    });
    let pins = usize::try_from(pins).unwrap_or(usize::MAX);
    let forgotten = format!("forgot the descriptions of its {}", count(pins, "tool"));
    grants.chain((pins > 0).then_some(forgotten)).collect()
}

/// Says by what an image is run from now on.
pub fn on_image(server: &ServerView) {
    let image = server.image.as_ref();
    image.and_then(|image| pinned(&server.server_id, image)).into_iter().for_each(|text| remark(&text));
}

fn pinned(server: &str, image: &ImageView) -> Option<String> {
    let known = [&image.digest, &image.id].into_iter().flatten().find(|name| !name.is_empty())?;
    let (reference, engine) = (&image.reference, image.engine.as_deref().unwrap_or_default());
    Some(format!("{server}: {engine} runs {reference}, locked to {known}"))
}

/// Says that an image stays, and how it goes.
pub fn on_kept_image(server: &str, image: Option<&ImageView>) {
    image.and_then(|image| kept_image(server, image)).into_iter().for_each(|text| remark(&text));
}

fn kept_image(server: &str, image: &ImageView) -> Option<String> {
    let (engine, id) = (image.engine.as_deref().unwrap_or_default(), image.id.as_deref().unwrap_or_default());
    let reference = &image.reference;
    (!id.is_empty()).then(|| {
        format!("{server}: its image {reference} stays in {engine}; `{engine} image rm {id}` deletes it")
    })
}

/// Says where the files of a removed server are.
pub fn on_kept_data(server: &str, with_data: bool, directory: Option<&str>) {
    kept_data(server, with_data, directory).into_iter().for_each(|text| remark(&text));
}

fn kept_data(server: &str, with_data: bool, directory: Option<&str>) -> Option<String> {
    let directory = directory.map(flatten).filter(|directory| !directory.is_empty())?;
    Some(match with_data {
        true => format!("{server}: some of its data could not be deleted: {directory}"),
        false => format!(
            "{server}: its data stays in {directory}; use it again: add or install {server} with --keep-data, delete it: \
             `harbor remove {server} --data`"
        ),
    })
}

/// Says how to allow the refused places that `text` names; `text` is the failure of the server's start.
/// Refusals that the kernel tells are always named: they may be the cause, whatever the text says.
pub fn on_failed_start(client: &mut Client, server: &str, text: &str) {
    let Ok(server_id) = server_id(server) else { return };
    let Ok(answer) = client.ask(&GetSandbox { server_id }, QUICK) else { return };
    // It may be JSON.
    let text = text.replace("\\n", "\n");
    meant(&answer.sandbox.denied, &text, |denied| &denied.path, is_of_kernel)
        .into_iter()
        .filter_map(|denied| refused(server, denied))
        .for_each(|text| remark(&text));
}

fn refused(server: &str, denied: &DeniedView) -> Option<String> {
    let DeniedView { path: what, allow, mind, never, .. } = denied;
    let (allow, mind, never) = (allow.as_deref(), mind.as_deref(), never.as_deref());
    Told { what, allow, mind, never }.sentence(server).map(|sentence| flatten(&sentence))
}

/// Says what the bridge has said beside what came of a call.
pub fn on_call(said: &[String]) {
    said.iter().for_each(|text| remark(&flatten(text)));
}

/// Says how many items of a server's list are no tools.
pub fn left_out(server: &str, items: usize) -> Option<String> {
    let (are, tools, were) = if items == 1 { ("is", "a tool", "was") } else { ("are", "tools", "were") };
    let listed = count(items, "item");
    (items > 0).then(|| format!("{server}: {listed} of its list {are} not {tools} and {were} left out"))
}

#[cfg(test)]
mod tests {
    use super::super::rig::typed;
    use super::*;

    #[test]
    fn a_server_is_held_to_the_hosts_of_its_key_where_they_are_known() {
        let hosts = hosts_of(&["TAVILY_API_KEY".to_owned()]);
        assert!(
            less_network("t", &hosts).ends_with("`harbor sandbox t --network hosts --host api.tavily.com`")
        );
        assert!(less_network("t", &[]).contains("`harbor sandbox t --network none`"));
    }

    #[test]
    fn changed_tools_are_counted_with_the_command_that_shows_them() {
        let said = |number: &str| changed(&typed(&format!(r#"{{"server_id":"time"{number}}}"#)));
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
        let said = |tools: &str| hidden("time", &Json::from_valid(format!("[{tools}]")));
        let hiding = [
            r#"{"name":"a\u200b"}"#,
            r#"{"name":"b","description":"x\u202ey"}"#,
            r#"{"name":"c","inputSchema":{"properties":{"x\u00ad":1}}}"#,
            r#"{"name":"d","annotations":{"x":["\ufeff"]}}"#,
            r#"{"name":"e","title":"\ud800"}"#,
        ];
        let open = r#"5,{"name":"naïve – 日本語","description":"a\nb\tc","x":"\u200b"}"#;
        let end =
            " contain hidden or control characters: a model may read something there that you cannot see";
        assert_eq!(
            said(&format!("{open},{}", hiding[0])).unwrap(),
            format!("time: the texts of a\\u{{200b}}{end}")
        );
        let all = said(&hiding.join(",")).unwrap();
        assert!(all.ends_with(&format!(" the texts of a\\u{{200b}}, b, c and 2 more{end}")), "{all}");
        assert_eq!(said(open), None);
    }

    #[test]
    fn what_earlier_servers_left_is_named_with_what_deletes_it() {
        let kept = Some("/h/data");
        assert_eq!((old_data("time", None, false), kept_data("time", false, None)), (None, None));
        assert_eq!(
            old_data("time", kept, true).unwrap(),
            "time: it uses the data of an earlier server of this name, in /h/data; `harbor remove time --data` deletes both"
        );
        assert_eq!(
            old_data("time", Some("/h/data.earlier-1"), false).unwrap(),
            "time: the data of an earlier server of this name is set aside in /h/data.earlier-1. Use it: `harbor stop \
             time`, then move it to /h/data; delete it: `harbor remove time --data`"
        );
        assert_eq!(
            kept_data("time", false, kept).unwrap(),
            "time: its data stays in /h/data; use it again: add or install time with --keep-data, delete it: `harbor remove time --data`"
        );
        assert_eq!(
            kept_data("time", true, kept).unwrap(),
            "time: some of its data could not be deleted: /h/data"
        );
    }

    #[test]
    fn what_ends_with_a_server_is_named() {
        let grant = r#"{"origin":"https://a.example","scope":"mcp:tools.call","allowed_tools":["time/*"]}"#;
        assert_eq!(
            ended_grants(2, &[typed(grant)]),
            [
                "revoked: https://a.example mcp:tools.call for time/*",
                "forgot the descriptions of its 2 tools"
            ]
        );
        assert_eq!(ended_grants(0, &[]), [""; 0]);
    }

    #[test]
    fn what_is_no_tool_is_counted() {
        assert_eq!(left_out("time", 0), None);
        assert_eq!(left_out("time", 1).unwrap(), "time: 1 item of its list is not a tool and was left out");
        assert_eq!(left_out("time", 3).unwrap(), "time: 3 items of its list are not tools and were left out");
    }
}
