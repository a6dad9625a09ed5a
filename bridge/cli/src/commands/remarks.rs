//! What is said on stderr beside a result: which of a server's tools have changed, which have hidden characters, what of
//! a list is no tool; and whose files are where.
//!
//! Owns the sentences. Must never make a command fail: its result is there already.

use std::path::Path;
use std::time::Duration;

use harbor_client::id::server_id;
use harbor_client::payload::Payload;
use harbor_client::terminal::remark;
use harbor_ipc_proto::client::{
    DeniedView, GetSandbox, GetServerStatus, GrantView, ImageView, ListServers, SandboxSummary, ServerChange,
    ServerView,
};
use harbor_ipc_proto::hidden::has_hidden;
use harbor_ipc_proto::json::Json;
use harbor_policy::package::recognise;
use harbor_policy::sandbox::hint::{is_about, is_of_kernel, may_be_about};
use harbor_policy::{browser_start, curated};
use serde_json::Value;

use super::changes::{self, PARTS};
use super::printing::count;
use super::{grants, tool_list};
use crate::client::{Client, QUICK};
use crate::table::flatten;

/// How long a server that has just started is asked for what its tools say.
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

/// `time: its tools could not be listed: …`, for all that is wrong with the lists of a server that runs.
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

/// Says what is to be known of the tools of a server that runs, by the answer to `connect_server`.
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
        "{server}: hidden or control characters in the texts of {named}: a model may read something there that you cannot see"
    ))
}

/// Whether a tool has hidden characters. What cannot be looked through counts as if it had.
fn hides(tool: &Payload) -> bool {
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

/// Says what of its sandbox this kernel cannot hold, and what it may reach that one would not think, of a server that has
/// just been added.
pub fn on_sandbox(server: &ServerView) {
    on_summary(&server.server_id, server.sandbox.as_ref());
}

/// The same of the summary alone.
pub fn on_summary(name: &str, sandbox: Option<&SandboxSummary>) {
    let sentences = sandbox.into_iter().flat_map(|sandbox| sandbox.missing.iter().chain(&sandbox.warnings));
    sentences.for_each(|sentence| remark(&format!("{name}: {}", flatten(sentence))));
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
                "{server}: the data of an earlier server of this name is set aside in {directory}. Use it: `harbor stop {server}`, \
                 and put it in the place of {}; delete it: `harbor remove {server} --data`",
                own.display()
            )
        }
    })
}

/// Says that a server is another program than the one that was allowed.
pub fn on_program(change: &ServerChange) {
    remark(&program(change));
}

fn program(change: &ServerChange) -> String {
    let ServerChange { server_id: server, before, after, .. } = change;
    let [before, after] = [before, after].map(|program| flatten(&changes::shown(program)));
    format!(
        "{server}: it was {before} and is now {after}: nobody can use it and it gets no secrets until you accept it: \
         `harbor accept {server}`"
    )
}

/// What of grants and pins has ended with a server.
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

/// Says how what a server was refused could be allowed, of all that is spoken of in `text`: the failure of a call.
pub fn on_failed_call(client: &mut Client, server: &str, text: &str) {
    on_refusals(client, server, text, |_| false);
}

/// The same where a start has failed: what the kernel tells of may be why, whatever the text says.
pub fn on_failed_start(client: &mut Client, server: &str, text: &str) {
    on_refusals(client, server, text, is_of_kernel);
}

fn on_refusals(client: &mut Client, server: &str, text: &str, is_sure: fn(&str) -> bool) {
    let Ok(server_id) = server_id(server) else { return };
    let Ok(answer) = client.ask(&GetSandbox { server_id }, QUICK) else { return };
    // It may be JSON.
    let text = text.replace("\\n", "\n");
    meant(&answer.sandbox.denied, &text, is_sure)
        .into_iter()
        .filter_map(|denied| refused(server, denied))
        .for_each(|text| remark(&text));
}

/// Says what helps where a server's browser has not started.
pub fn on_browser(client: &mut Client, server: &str, text: &str) {
    browser(client, server, text).into_iter().for_each(|text| remark(&text));
}

fn browser(client: &mut Client, server: &str, text: &str) -> Option<String> {
    // Few results speak of browsers: the server is looked at only then.
    browser_start::advice(text, server, Some(""))?;
    let server_id = server_id(server).ok()?;
    let status = client.ask(&GetServerStatus { server_id }, QUICK);
    let package = status.ok().and_then(|status| recognise(&status.server.command, &[]));
    let entry = package.and_then(|package| curated::of_package(&package)).map(|entry| entry.id);
    browser_start::advice(text, server, entry)
}

/// The refusals that a text names; else those that it may be about, of which nobody says which.
fn meant<'a>(denied: &'a [DeniedView], text: &str, is_sure: fn(&str) -> bool) -> Vec<&'a DeniedView> {
    let of = |is_meant: fn(&str, &str) -> bool| {
        let wanted = |denied: &&DeniedView| is_sure(&denied.path) || is_meant(text, &denied.path);
        denied.iter().filter(wanted).collect::<Vec<_>>()
    };
    let named = of(is_about);
    if named.is_empty() { of(may_be_about) } else { named }
}

fn refused(server: &str, denied: &DeniedView) -> Option<String> {
    let text = |text: Option<&str>| flatten(text.unwrap_or_default());
    let (path, allow) = (flatten(&denied.path), text(denied.allow.as_deref()));
    let (mind, never) = (text(denied.mind.as_deref()), text(denied.never.as_deref()));
    match (allow.is_empty(), mind.is_empty(), never.is_empty()) {
        (true, _, true) => None,
        (true, ..) => Some(format!("its sandbox refused {path}: {never}")),
        (false, true, _) => {
            Some(format!("its sandbox refused {path}; this allows it: harbor sandbox {server} {allow}"))
        }
        (false, false, _) => Some(format!(
            "its sandbox refused {path}; this allows it ({mind}): harbor sandbox {server} {allow}"
        )),
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
    use super::super::rig::typed;
    use super::*;

    #[test]
    fn a_browser_that_did_not_start_is_told_by_what_its_server_is() {
        let told = |command: &str, text: &str| {
            let status = format!(
                r#"{{"type":"get_server_status_result","request_id":"1","server":{{"server_id":"b","command":"{command}"}}}}"#
            );
            let mut told = None;
            let ran = super::super::rig::command(false, &[&status], |client, _| {
                told = browser(client, "b", text);
                Ok(())
            });
            (told, ran.asked.len())
        };
        let words = r#"{"text":"[err] zygote_host_impl_linux.cc:130] No usable sandbox! If this is"}"#;
        let (entry, asked) = told("npm:@playwright/mcp@1.2.3", words);
        assert!(entry.unwrap().ends_with("`harbor install playwright`") && asked == 1);
        assert!(told("npm:other", words).0.unwrap().contains("`harbor set b -- ARGUMENTS…`"));
        assert_eq!(told("npm:@playwright/mcp", "net::ERR_NAME_NOT_RESOLVED"), (None, 0));
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
        let end = ": a model may read something there that you cannot see";
        assert_eq!(
            said(&format!("{open},{}", hiding[0])).unwrap(),
            format!("time: hidden or control characters in the texts of a\\u{{200b}}{end}")
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
            "time: the data of an earlier server of this name is set aside in /h/data.earlier-1. Use it: `harbor stop time`, \
             and put it in the place of /h/data; delete it: `harbor remove time --data`"
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
    fn a_refusal_of_the_proxy_is_of_the_host_that_is_named_or_of_any() {
        let denied = ["the host a.example", "the host b.example:8080", "/x"];
        let denied = denied.map(|path| typed::<DeniedView>(&format!(r#"{{"path":"{path}"}}"#)));
        let meant = |text: &str| {
            meant(&denied, text, |_| false).iter().map(|denied| denied.path.as_str()).collect::<Vec<_>>()
        };
        assert_eq!(meant("HTTP Error 403: Forbidden"), ["the host a.example", "the host b.example:8080"]);
        assert_eq!(meant("http://b.example/: 403 Forbidden"), ["the host b.example:8080"]);
        assert!(meant("no").is_empty());
    }

    #[test]
    fn what_is_no_tool_is_counted() {
        assert_eq!(left_out("time", 0), None);
        assert_eq!(left_out("time", 1).unwrap(), "time: 1 item of its list is no tool and was left out");
        assert_eq!(left_out("time", 3).unwrap(), "time: 3 items of its list are no tools and were left out");
    }
}
