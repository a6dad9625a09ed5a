//! install, upgrade, runtimes: packages and what they need.
//!
//! Owns what a person is shown before the question. Must never change anything without a yes, or `--yes`.

mod entry;
mod plan;

use std::collections::BTreeMap;

use harbor_ipc_proto::client::{SandboxSettings, Supervision};

use super::servers::{START, STOP};
use super::{add, changes, count, print, remarks, remote, sandbox};
use crate::args::{Package, Upgrade};
use crate::ask::Ask;
use crate::client::{Client, QUICK};
use crate::consent;
use crate::errors::{Exit, Failure};
use crate::reply::Members;
use crate::screen::{Screen, Status, remark};
use crate::table::Table;

/// Tools that one line names.
const MAX_TOOLS: usize = 8;

pub fn install(client: &mut Client, wanted: &Package, screen: &mut Screen) -> Result<(), Failure> {
    let entry::Complete { package: wanted, about, secrets } = &entry::complete(client, wanted)?;
    let plan = under_way(client, "looking it up", ask(wanted)?.flag("plan", true))?.object("installed");
    if !wanted.yes {
        let described = plan::describe(&plan, about.as_ref());
        match screen.json {
            true => remark(&described),
            false => screen.text(&described)?,
        }
        if !consent::ask("Install it?")? {
            remark("nothing was installed");
            return Err(Failure::Said(Exit::Failed));
        }
    }
    let name = plan.text("server_id");
    let values = if wanted.yes { BTreeMap::new() } else { entry::ask_for(secrets, &name)? };
    let mut ask = ask(wanted)?;
    if plan.raw("version").is_some() {
        ask = ask.text("version", &plan.text("version"));
    }
    if !values.is_empty() {
        ask = ask.secrets("secret_values", &values);
    }
    let answer = under_way(client, "installing", ask)?;
    print(screen, &answer, |answer| describe_installed(&answer.object("installed")))?;
    if !screen.json {
        remarks::on_summary(&name, &plan.object("sandbox"));
        remarks::on_image(&name, &answer.object("installed").object("server"));
        let later = secrets.iter().filter(|secret| !secret.required && !values.contains_key(&secret.name));
        later.for_each(|secret| remark(&secret.told_later(&name)));
    }
    Ok(())
}

fn under_way(client: &mut Client, what: &str, ask: Ask) -> Result<Members, Failure> {
    let mut status = Status::new(&format!("{what} …"));
    let ask = ask.flag("progress", true);
    let answer = client.request_with_progress(&ask, START, &mut |push| status.show(&push.text("message")));
    ask.wipe();
    answer
}

fn ask(wanted: &Package) -> Result<Ask, Failure> {
    let definition = &wanted.definition;
    let mut ask = Ask::new("install_server").text("source", &wanted.source);
    if !definition.name.is_empty() {
        ask = ask.text("server_id", &definition.name);
    }
    if let Some(way) = wanted.way {
        ask = ask.number("package", way);
    }
    if !wanted.inputs.is_empty() {
        ask = ask.lists("inputs", &wanted.inputs);
    }
    if !definition.secrets.is_empty() {
        ask = ask.list("secrets", &definition.secrets);
    }
    ask = remote::spoken(ask, &wanted.elsewhere);
    if !definition.args.is_empty() {
        ask = ask.list("args", &definition.args);
    }
    if let Some(label) = &definition.label {
        ask = ask.text("label", label);
    }
    if !definition.env.is_empty() {
        ask = ask.map("env", &definition.env);
    }
    if definition.supervision != Supervision::default() {
        ask = ask.object("supervision", &definition.supervision);
    }
    if definition.sandbox != SandboxSettings::default() {
        ask = ask.object("sandbox", &sandbox::settings(&definition.sandbox, &add::current_dir()?)?);
    }
    Ok(ask)
}

fn describe_installed(installed: &Members) -> String {
    let (name, tools) = (installed.text("server_id"), installed.strings("tools"));
    let what = format!("{} {}", installed.text("name"), installed.text("version"));
    let mut lines = vec![format!("installed {name}: {}", what.trim_end())];
    let missing = installed.strings("missing");
    if !missing.is_empty() {
        let set = missing.iter().map(|key| format!("`harbor secrets set {name} {key}`"));
        let set = set.collect::<Vec<_>>().join(" and ");
        lines.push(format!("it is not started before it has {}", missing.join(", ")));
        lines.push(format!("{set} asks for it, `harbor start {name}` starts it then"));
        return lines.join("\n");
    }
    let named = tools.iter().take(MAX_TOOLS).map(String::as_str).collect::<Vec<_>>().join(", ");
    let more = if tools.len() > MAX_TOOLS { ", …" } else { "" };
    match tools.first() {
        None => lines.push("it offers no tools".into()),
        Some(first) => {
            lines.push(format!("it has {}: {named}{more}", count(tools.len(), "tool")));
            lines.push(format!(
                "`harbor call {name}/{first}` calls one, `harbor tools {name}` says what they take"
            ));
        }
    }
    lines.join("\n")
}

pub fn upgrade(client: &mut Client, wanted: &Upgrade, screen: &mut Screen) -> Result<(), Failure> {
    let server = &wanted.server;
    if wanted.undo {
        let answer = client.request(&Ask::about("undo_upgrade", server), STOP)?;
        return print(screen, &answer, |answer| {
            format!("{server} is {} again", answer.object("installed").text("version"))
        });
    }
    let mut ask = Ask::about("upgrade_server", server);
    if let Some(to) = &wanted.to {
        ask = ask.text("to", to);
    }
    // That start is other people's new code with what the server may do: it is a question of its own.
    let trial = format!(
        "the new version is started to see its tools, with all that {server} may use: its secrets, files, network"
    );
    if !wanted.yes && !consent::ask(&format!("{trial}\nTry it out?"))? {
        remark("nothing was changed");
        return Err(Failure::Said(Exit::Failed));
    }
    let tried = under_way(client, "trying it out", ask)?;
    let upgrade = tried.object("upgrade");
    let Some(token) = upgrade.raw("apply").map(|_| upgrade.text("apply")) else {
        return print(screen, &tried, |_| format!("{server} is {} already", upgrade.text("before")));
    };
    if !screen.json {
        screen.text(&describe_upgrade(server, &upgrade))?;
    }
    if !wanted.yes && !consent::ask("Use it?")? {
        remark("nothing was changed");
        return Err(Failure::Said(Exit::Failed));
    }
    let answer = client.request(&Ask::about("upgrade_server", server).text("apply", &token), STOP)?;
    print(screen, &answer, |_| {
        let after = upgrade.text("after");
        let mut said = format!("{server} is {after} now; `harbor upgrade {server} --undo` goes back");
        if !upgrade.objects("changed").is_empty() {
            said += &format!("\nchanged tools are kept from origins: `harbor accept {server}` accepts them");
        }
        said
    })
}

fn describe_upgrade(server: &str, upgrade: &Members) -> String {
    let mut lines = vec![
        format!("{server}: {} → {}", upgrade.text("before"), upgrade.text("after")),
        format!("hash       {}", upgrade.text("integrity")),
    ];
    let list = |name: &str| upgrade.strings(name).join(", ");
    for (name, what) in [("added", "new tools  "), ("removed", "gone tools ")] {
        if !list(name).is_empty() {
            lines.push(format!("{what}{}", list(name)));
        }
    }
    for change in upgrade.objects("changed") {
        lines.push(format!("changed    {}", change.text("tool_name")));
        lines.extend(changes::differences(&change));
    }
    if lines.len() == 2 {
        lines.push("its tools say the same of themselves".into());
    }
    lines.join("\n")
}

pub fn runtimes(client: &mut Client, screen: &mut Screen) -> Result<(), Failure> {
    let answer = client.request(&Ask::new("check_runtimes"), QUICK)?;
    if screen.json {
        return Ok(screen.json(&answer.to_json())?);
    }
    let (looked, mut table) =
        (answer.object("runtimes"), Table::new(&["PROGRAM", "VERSION", "FOUND BY", "WHERE"]));
    for program in looked.objects("programs") {
        let or = |name: &str, other: &str| match program.text(name) {
            text if text.is_empty() => other.to_owned(),
            text => text,
        };
        let missing = format!("not found; {}", program.text("install_hint"));
        table.add([program.text("name"), or("version", "-"), or("found_by", "-"), or("path", &missing)]);
    }
    screen.table(&table)?;
    let kinds = looked.strings("can_install").join(", ");
    screen.text(&match kinds.is_empty() {
        true => "nothing can be installed here".to_owned(),
        false => format!("can be installed here: {kinds}"),
    })?;
    let missing = looked.objects("programs").iter().any(|program| program.raw("path").is_none());
    if missing {
        let places = looked.objects("looked_in");
        let dirs: Vec<_> = places
            .iter()
            .map(|place| format!("  {}  ({})", place.text("dir"), place.text("found_by")))
            .collect();
        screen.text(&format!("looked in, in this order:\n{}", dirs.join("\n")))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::rig::command as run;
    use super::*;

    const PLAN: &str = r#"{"type":"install_server_result","request_id":"1","installed":{"server_id":"time","kind":"pypi","name":"mcp-server-time","version":"1.2","integrity":"sha256:aa","packages":3,"sandbox":{"level":"standard","network":"all"}}}"#;
    const DONE: &str = r#"{"type":"install_server_result","request_id":"2","installed":{"server_id":"time","name":"mcp-server-time","version":"1.2","tools":["now","then"]}}"#;

    fn package() -> Package {
        Package { source: "pypi:mcp-server-time".into(), yes: true, ..Package::default() }
    }

    #[test]
    fn what_was_planned_is_installed() {
        let ran = run(false, &[PLAN, DONE], |c, s| install(c, &package(), s));
        assert_eq!(
            ran.printed,
            "installed time: mcp-server-time 1.2\nit has 2 tools: now, then\n\
             `harbor call time/now` calls one, `harbor tools time` says what they take\n"
        );
        assert!(ran.asked[0].contains(r#""plan":true"#) && !ran.asked[1].contains("plan"), "{:?}", ran.asked);
        assert!(ran.asked[1].contains(r#""version":"1.2""#), "{:?}", ran.asked);
    }

    #[test]
    fn an_upgrade_shows_its_tools_first() {
        let tried = r#"{"type":"upgrade_server_result","request_id":"1","upgrade":{"before":"1","after":"2","integrity":"h","added":["b"],"removed":["a"],"changed":[{"tool_name":"c","before":{"description":"x"},"after":{"description":"y"}}],"apply":"2-7"}}"#;
        let done = r#"{"type":"upgrade_server_result","request_id":"2","upgrade":{"applied":true}}"#;
        let wanted = Upgrade { server: "s".into(), to: None, undo: false, yes: true };
        let ran = run(false, &[tried, done], |c, s| upgrade(c, &wanted, s));
        assert_eq!(
            ran.printed,
            "s: 1 → 2\nhash       h\nnew tools  b\ngone tools a\nchanged    c\n  description\n    - x\n    + y\n\
             s is 2 now; `harbor upgrade s --undo` goes back\n\
             changed tools are kept from origins: `harbor accept s` accepts them\n"
        );
        assert!(ran.asked[1].ends_with(r#""apply":"2-7"}"#), "{:?}", ran.asked);
        let same =
            r#"{"type":"upgrade_server_result","request_id":"1","upgrade":{"before":"2","after":"2"}}"#;
        assert_eq!(run(false, &[same], |c, s| upgrade(c, &wanted, s)).printed, "s is 2 already\n");
    }
}
