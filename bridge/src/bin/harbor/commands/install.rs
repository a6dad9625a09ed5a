//! install, upgrade, runtimes: packages and what they need.
//!
//! Owns what a person is shown before the question. Must never change anything without a yes, or `--yes`.

use harbor_ipc_proto::client::{SandboxSettings, Supervision};
use harbor_policy::package::source;

use super::servers::{START, STOP};
use super::{add, changes, count, print, remarks, sandbox, secrets};
use crate::args::{Package, Upgrade};
use crate::ask::Ask;
use crate::client::{Client, QUICK};
use crate::consent;
use crate::errors::{Exit, Failure};
use crate::reply::Members;
use crate::screen::{Screen, Status, remark};
use crate::table::{Table, flatten};

/// What is said after a no.
const NOTHING_INSTALLED: &str = "nothing was installed";
const NOTHING_CHANGED: &str = "nothing was changed";

/// What is asked before a package is built.
const BUILDS: &str =
    "code of the package must run to find out what it needs: it runs in a sandbox with nothing of yours";

/// Tools that one line names.
const MAX_TOOLS: usize = 8;

/// What can be found wrong without the bridge, the source first: a person who has no terminal learns what is wrong, too.
pub fn check(wanted: &Package) -> Result<(), Failure> {
    let package = source::read(&wanted.source, &wanted.definition.args).map_err(Failure::Usage)?;
    if wanted.definition.name.is_empty() && source::default_name(&package).is_none() {
        let name = &package.name;
        return Err(Failure::Usage(format!("no name can be made of {name}; say one with --name")));
    }
    if !wanted.yes {
        consent::is_possible("an installation")?;
    }
    secrets::can_be_asked(&wanted.definition.secrets)
}

pub fn install(client: &mut Client, wanted: &Package, screen: &mut Screen) -> Result<(), Failure> {
    let mut plan = planned(client, ask(wanted)?)?;
    if needs_build(&plan) {
        confirm(wanted.yes, &describe_build(&plan), "Run it?", NOTHING_INSTALLED, screen)?;
        plan = planned(client, ask(wanted)?.text("planned", &plan.text("planned")).flag("build", true))?;
    }
    confirm(wanted.yes, &describe_plan(&plan), "Install it?", NOTHING_INSTALLED, screen)?;
    let values = secrets::values(&plan.text("server_id"), &wanted.definition.secrets)?;
    let mut ask = ask(wanted)?.text("planned", &plan.text("planned"));
    if !values.is_empty() {
        ask = ask.secrets("secrets", &values);
    }
    let answer = under_way(client, "installing", ask)?;
    print(screen, &answer, |answer| describe_installed(&answer.object("installed")))?;
    let name = answer.object("installed").text("server_id");
    if !screen.json {
        remarks::on_summary(&name, &plan.object("sandbox"));
    }
    Ok(())
}

/// What would be installed.
fn planned(client: &mut Client, ask: Ask) -> Result<Members, Failure> {
    Ok(under_way(client, "looking it up", ask.flag("plan", true))?.object("installed"))
}

fn needs_build(plan: &Members) -> bool {
    plan.value("needs_build") == true
}

/// Shows something and asks, where `--yes` has not answered already.
fn confirm(
    yes: bool,
    shown: &str,
    question: &str,
    otherwise: &str,
    screen: &mut Screen,
) -> Result<(), Failure> {
    if yes {
        return Ok(());
    }
    match screen.json {
        true => remark(shown),
        false => screen.text(shown)?,
    }
    if consent::ask(question)? {
        return Ok(());
    }
    remark(otherwise);
    Err(Failure::Said(Exit::Failed))
}

fn under_way(client: &mut Client, what: &str, ask: Ask) -> Result<Members, Failure> {
    let mut status = Status::new(&format!("{what} …"));
    let ask = ask.flag("progress", true);
    let answer = client.request_with_progress(&ask, START, &mut |push| status.show(&push.text("message")));
    // There may be secrets in it.
    ask.wipe();
    answer
}

fn ask(wanted: &Package) -> Result<Ask, Failure> {
    let definition = &wanted.definition;
    let mut ask = Ask::new("install_server").text("source", &wanted.source);
    if !definition.name.is_empty() {
        ask = ask.text("server_id", &definition.name);
    }
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

/// What is known of a package that has to be built to know more.
fn describe_build(plan: &Members) -> String {
    let version = Some(plan.text("version")).filter(|version| !version.is_empty());
    let version = version.map(|version| format!(" {version}")).unwrap_or_default();
    let package = format!("package    {}{version} ({})", plan.text("name"), plan.text("kind"));
    format!("server     {}\n{package}\n{BUILDS}", plan.text("server_id"))
}

fn describe_plan(plan: &Members) -> String {
    let held = plan.object("sandbox");
    let packages = usize::try_from(plan.number("packages").unwrap_or(0)).unwrap_or(usize::MAX);
    let by = match held.text("level").as_str() {
        "off" | "basic" => "it can do all that you can".to_owned(),
        level => format!("sandbox {level}, network {}", held.text("network")),
    };
    [
        format!("server     {}", plan.text("server_id")),
        format!("package    {} {} ({})", plan.text("name"), plan.text("version"), plan.text("kind")),
        format!("hash       {}", plan.text("integrity")),
        format!("with       {}, each locked with its version and hash", count(packages, "package")),
        format!("may        {by}"),
    ]
    .join("\n")
}

fn describe_installed(installed: &Members) -> String {
    let (name, tools) = (installed.text("server_id"), installed.strings("tools"));
    let mut lines =
        vec![format!("installed {name}: {} {}", installed.text("name"), installed.text("version"))];
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
        return undo(client, server, screen);
    }
    let Some(token) = planned_upgrade(client, wanted, screen)? else { return Ok(()) };
    let tried = tried_out(client, wanted, &token, screen)?;
    let upgrade = tried.object("upgrade");
    if !screen.json {
        screen.text(&describe_upgrade(server, &upgrade))?;
    }
    if !wanted.yes && !consent::ask("Use it?")? {
        remark(NOTHING_CHANGED);
        return Err(Failure::Said(Exit::Failed));
    }
    let ask = Ask::about("upgrade_server", server).text("apply", &upgrade.text("apply"));
    let answer = client.request(&ask, STOP)?;
    print(screen, &answer, |_| {
        let after = upgrade.text("after");
        let mut said = format!("{server} is {after} now; `harbor upgrade {server} --undo` goes back");
        if !upgrade.objects("changed").is_empty() {
            said += &format!("\n{}", kept_from_origins(server));
        }
        said
    })
}

fn kept_from_origins(server: &str) -> String {
    format!("changed tools are kept from origins: `harbor accept {server}` accepts them")
}

/// Which version it would be, by what it can be named, and whether it may be tried out; none where it is used already.
fn planned_upgrade(
    client: &mut Client,
    wanted: &Upgrade,
    screen: &mut Screen,
) -> Result<Option<String>, Failure> {
    let server = &wanted.server;
    let mut ask = Ask::about("upgrade_server", server).flag("plan", true);
    if let Some(to) = &wanted.to {
        ask = ask.text("to", to);
    }
    let mut plan = under_way(client, "looking it up", ask)?;
    let named = |plan: &Members| Some(plan.object("upgrade").text("planned")).filter(|name| !name.is_empty());
    if needs_build(&plan.object("upgrade"))
        && let Some(token) = named(&plan)
    {
        confirm(wanted.yes, &format!("{server}: {BUILDS}"), "Run it?", NOTHING_CHANGED, screen)?;
        let ask = Ask::about("upgrade_server", server).text("planned", &token);
        plan = under_way(client, "looking it up", ask.flag("build", true).flag("plan", true))?;
    }
    let Some(token) = named(&plan) else {
        let before = plan.object("upgrade").text("before");
        print(screen, &plan, |_| format!("{server} is {before} already"))?;
        return Ok(None);
    };
    let trial = format!(
        "{}\nthe new version is installed beside it, and started to see its tools, in a sandbox with nothing of yours",
        versions(server, &plan.object("upgrade"))
    );
    confirm(wanted.yes, &trial, "Try it out?", NOTHING_CHANGED, screen)?;
    Ok(Some(token))
}

/// Tries it out: with nothing of the person's, and where that does not do with all, after a yes.
fn tried_out(
    client: &mut Client,
    wanted: &Upgrade,
    token: &str,
    screen: &mut Screen,
) -> Result<Members, Failure> {
    let server = &wanted.server;
    let ask = |token: &str, with_all| {
        Ask::about("upgrade_server", server).text("planned", token).flag("with_all", with_all)
    };
    let tried = under_way(client, "trying it out", ask(token, wanted.yes))?;
    let upgrade = tried.object("upgrade");
    if upgrade.raw("failed").is_none() {
        return Ok(tried);
    }
    let why = format!(
        "with nothing of yours it does not do: {}\nit can be started with all that {server} may use: its secrets, variables, \
         files, network",
        flatten(&upgrade.text("failed"))
    );
    confirm(wanted.yes, &why, "Try that?", NOTHING_CHANGED, screen)?;
    under_way(client, "trying it out", ask(&upgrade.text("planned"), true))
}

fn undo(client: &mut Client, server: &str, screen: &mut Screen) -> Result<(), Failure> {
    // A server that was up is started.
    let answer = client.request(&Ask::about("undo_upgrade", server), START)?;
    let installed = answer.object("installed");
    let shown = installed.object("server");
    let has_changed = shown.number("changed_tools").is_some_and(|number| number > 0);
    print(screen, &answer, |_| {
        let kept = if has_changed { format!("\n{}", kept_from_origins(server)) } else { String::new() };
        format!("{server} is {} again{kept}", installed.text("version"))
    })?;
    if !has_changed && shown.text("state") != "running" {
        remark(&format!(
            "its tools are looked at when it starts: those that are not as you accepted them are kept from origins \
             until `harbor accept {server}`"
        ));
    }
    Ok(())
}

fn versions(server: &str, upgrade: &Members) -> String {
    format!(
        "{server}: {} → {}\nhash       {}",
        upgrade.text("before"),
        upgrade.text("after"),
        upgrade.text("integrity")
    )
}

fn describe_upgrade(server: &str, upgrade: &Members) -> String {
    let mut lines = vec![versions(server, upgrade)];
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
    if lines.len() == 1 {
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
    use crate::args::Definition;

    const PLAN: &str = r#"{"type":"install_server_result","request_id":"1","installed":{"server_id":"time","kind":"pypi","name":"mcp-server-time","version":"1.2","integrity":"sha256:aa","packages":3,"planned":"7","sandbox":{"level":"standard","network":"all"}}}"#;
    const DONE: &str = r#"{"type":"install_server_result","request_id":"2","installed":{"server_id":"time","name":"mcp-server-time","version":"1.2","tools":["now","then"]}}"#;

    fn package() -> Package {
        Package { source: "pypi:mcp-server-time".into(), yes: true, definition: Definition::default() }
    }

    #[test]
    fn what_was_planned_is_installed() {
        let ran = run(false, &[PLAN, DONE], |c, s| install(c, &package(), s));
        assert_eq!(
            ran.printed,
            "installed time: mcp-server-time 1.2\nit has 2 tools: now, then\n\
             `harbor call time/now` calls one, `harbor tools time` says what they take\n"
        );
        assert!(ran.asked[0].contains(r#""plan":true"#), "{:?}", ran.asked);
        assert!(
            ran.asked[1].contains(r#""planned":"7""#) && !ran.asked[1].contains("\"plan\""),
            "{:?}",
            ran.asked
        );
    }

    #[test]
    fn what_has_to_be_built_is_built_before_it_is_shown() {
        let needs = r#"{"type":"install_server_result","request_id":"1","installed":{"server_id":"time","kind":"git","name":"https://h/r","version":"abc","planned":"6","needs_build":true}}"#;
        let (plan, done) =
            (PLAN.replace("\"1\"", "\"2\""), DONE.replace("\"request_id\":\"2\"", "\"request_id\":\"3\""));
        let ran = run(false, &[needs, &plan, &done], |c, s| install(c, &package(), s));
        assert!(ran.asked[1].contains(r#""planned":"6","build":true,"plan":true"#), "{:?}", ran.asked);
        assert!(
            ran.asked[2].contains(r#""planned":"7""#) && !ran.asked[2].contains("build"),
            "{:?}",
            ran.asked
        );
        let shown = describe_build(&Members::parse(needs.as_bytes()).unwrap().object("installed"));
        assert!(
            shown.starts_with("server     time\npackage    https://h/r abc (git)\ncode of the package"),
            "{shown}"
        );
    }

    #[test]
    fn a_source_is_looked_at_before_a_terminal() {
        let of = |source: &str, yes| Package { source: source.into(), yes, ..package() };
        let said = |package: &Package| check(package).unwrap_err().message().unwrap();
        assert!(said(&of("x:y", false)).contains("not of a kind"));
        assert!(
            said(&of("npm:mcp-server", false)).contains("terminal") || check(&of("npm:x", false)).is_ok()
        );
        let mut wrong = package();
        wrong.definition.secrets = vec!["1 x".into()];
        assert!(said(&wrong).starts_with("--secret 1 x: expected"));
    }

    #[test]
    fn a_plan_says_what_where_from_and_what_it_may_do() {
        let plan = Members::parse(PLAN.as_bytes()).unwrap().object("installed");
        assert_eq!(
            describe_plan(&plan),
            "server     time\npackage    mcp-server-time 1.2 (pypi)\nhash       sha256:aa\n\
             with       3 packages, each locked with its version and hash\nmay        sandbox standard, network all"
        );
    }

    const PLANNED: &str = r#"{"type":"upgrade_server_result","request_id":"1","upgrade":{"before":"1","after":"2","integrity":"h","planned":"5"}}"#;

    fn answer(id: u32, upgrade: &str) -> String {
        format!(r#"{{"type":"upgrade_server_result","request_id":"{id}","upgrade":{{{upgrade}}}}}"#)
    }

    #[test]
    fn an_upgrade_shows_its_tools_first() {
        let tried = answer(
            2,
            r#""before":"1","after":"2","integrity":"h","added":["b"],"removed":["a"],"changed":[{"tool_name":"c","before":{"description":"x"},"after":{"description":"y"}}],"apply":"2-7""#,
        );
        let done = answer(3, r#""applied":true"#);
        let wanted = Upgrade { server: "s".into(), to: None, undo: false, yes: true };
        let ran = run(false, &[PLANNED, &tried, &done], |c, s| upgrade(c, &wanted, s));
        assert_eq!(
            ran.printed,
            "s: 1 → 2\nhash       h\nnew tools  b\ngone tools a\nchanged    c\n  description\n    - x\n    + y\n\
             s is 2 now; `harbor upgrade s --undo` goes back\n\
             changed tools are kept from origins: `harbor accept s` accepts them\n"
        );
        assert!(ran.asked[1].contains(r#""planned":"5","with_all":true"#), "{:?}", ran.asked);
        assert!(ran.asked[2].ends_with(r#""apply":"2-7"}"#), "{:?}", ran.asked);
        let same = answer(1, r#""before":"2","after":"2""#);
        let ran = run(false, &[&same], |c, s| upgrade(c, &wanted, s));
        assert_eq!((ran.printed.as_str(), ran.asked.len()), ("s is 2 already\n", 1), "nothing is tried out");
    }

    #[test]
    fn going_back_says_what_is_kept_from_origins() {
        let wanted = Upgrade { server: "s".into(), to: None, undo: true, yes: false };
        let back = |changed: u32| {
            format!(
                r#"{{"type":"undo_upgrade_result","request_id":"1","installed":{{"version":"1","server":{{"state":"running","changed_tools":{changed}}}}}}}"#
            )
        };
        let said = |changed| run(false, &[&back(changed)], |c, s| upgrade(c, &wanted, s)).printed;
        assert_eq!(said(0), "s is 1 again\n");
        assert_eq!(said(2), format!("s is 1 again\n{}\n", kept_from_origins("s")));
    }
}
