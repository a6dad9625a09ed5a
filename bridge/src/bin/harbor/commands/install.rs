//! install, runtimes: packages and what they need.
//!
//! Owns what a person is shown before the question. Must never change anything without a yes, or `--yes`.

mod asking;
mod document;
mod entry;
mod plan;
mod runs;

use std::collections::BTreeMap;

use harbor_ipc_proto::client::{SandboxSettings, Supervision};
use harbor_ipc_proto::secret::Secret;
use harbor_policy::recipe::source::{Source, default_name, sort};
use harbor_policy::runtimes::lacks;

pub use self::plan::vouched;
pub use self::runs::word;
use super::servers::START;
use super::{add, auth, count, print, remarks, remote, sandbox, secrets, unseen};
use crate::args::{NewAuth, Package};
use crate::ask::Ask;
use crate::client::{Client, QUICK};
use crate::consent;
use crate::errors::{Exit, Failure};
use crate::reply::Members;
use crate::screen::{Screen, Status, remark};
use crate::table::{Table, flatten};

/// What is said after a no.
const NOTHING_INSTALLED: &str = "nothing was installed";

/// What is asked before a package is built.
pub const BUILDS: &str =
    "code of the package must run to find out what it needs: it runs in a sandbox with nothing of yours";

/// Tools that one line names.
const MAX_TOOLS: usize = 8;

/// What can be found wrong without the bridge, the source first: a person who has no terminal learns what is wrong, too.
pub fn check(wanted: &Package) -> Result<(), Failure> {
    let file = document::path(&wanted.source);
    let is_named = match &file {
        Some(path) => document::read(path).map(|_| true)?,
        None => {
            let source = sort(&wanted.source).map_err(Failure::Usage)?;
            matches!(source, Source::Entry(_)) || default_name(&source).is_some()
        }
    };
    if wanted.definition.name.is_empty() && !is_named {
        let source = &wanted.source;
        return Err(Failure::Usage(format!("no name can be made of {source}; say one with --name")));
    }
    secrets::are_keys(&wanted.definition.secrets)?;
    if wanted.yes || wanted.dry_run { Ok(()) } else { consent::is_possible("an installation") }
}

pub fn install(client: &mut Client, wanted: &Package, screen: &mut Screen) -> Result<(), Failure> {
    let complete = &entry::complete(client, wanted, screen)?;
    let entry::Complete { package: wanted, secrets, .. } = complete;
    if wanted.dry_run {
        return dry_run(client, complete, screen);
    }
    let mut plan = planned(client, complete.on(ask(wanted)?))?;
    if needs_build(&plan) {
        confirm(wanted.yes, &describe_build(&plan), "Run it?", NOTHING_INSTALLED, screen)?;
        plan = planned(client, ask(wanted)?.text("planned", &plan.text("planned")).flag("build", true))?;
    }
    confirm(wanted.yes, &described(&plan), "Install it?", NOTHING_INSTALLED, screen)?;
    let name = plan.text("server_id");
    let values = match wanted.yes {
        true => secrets::values(&name, &wanted.definition.secrets)?,
        false => entry::ask_for(secrets, &name)?,
    };
    let answer = under_way(client, "installing", as_planned(complete, &plan, &values)?)?;
    print(screen, &answer, |answer| describe_installed(&answer.object("installed")))?;
    // Also where the result is JSON: it may well be an old trap.
    remarks::on_old_data(&name, &plan);
    if !screen.json {
        let unseen = unseen::once_added(&name, &wanted.definition.supervision);
        unseen.iter().try_for_each(|text| screen.text(text))?;
        remarks::on_summary(&name, &plan.object("sandbox"));
        remarks::on_image(&name, &answer.object("installed").object("server"));
        let later = secrets.iter().filter(|secret| !secret.required && !values.contains_key(&secret.name));
        later.for_each(|secret| remark(&secret.told_later(&name)));
        if needs_authorization(&answer.object("installed")) && !wanted.yes && consent::ask("Do that now?")? {
            return auth::begin(
                client,
                &NewAuth { server: name, opens: true, ..NewAuth::default() },
                None,
                screen,
            );
        }
    }
    Ok(())
}

/// Whether it waits for its person.
fn needs_authorization(installed: &Members) -> bool {
    installed.value("needs_authorization") == true
}

/// Exactly what was shown, with its secrets.
fn as_planned(
    complete: &entry::Complete,
    plan: &Members,
    values: &BTreeMap<String, Secret>,
) -> Result<Ask, Failure> {
    let ask = ask(&complete.package)?;
    let ask = match plan.raw("planned") {
        Some(_) => ask.text("planned", &plan.text("planned")),
        // What has no versions is what was read of its repository.
        None => complete.on(ask),
    };
    Ok(if values.is_empty() { ask } else { ask.secrets("secret_values", values) })
}

/// Says what would be installed. Nobody is asked, and nothing is kept.
fn dry_run(client: &mut Client, complete: &entry::Complete, screen: &mut Screen) -> Result<(), Failure> {
    let entry::Complete { package: wanted, about, .. } = complete;
    let refused = about.as_ref().filter(|about| about.raw("way").is_none());
    let plan = match refused {
        Some(_) => None,
        None => Some(planned(client, complete.on(ask(wanted)?).flag("incomplete", true))?),
    };
    if screen.json {
        let mut all = Members::default();
        about.iter().for_each(|about| all.insert("server", about.to_json()));
        plan.iter().for_each(|plan| all.insert("installed", plan.to_json()));
        screen.json(&all.to_json())?;
    } else {
        let described = match &plan {
            Some(plan) if needs_build(plan) => Some(describe_build(plan)),
            Some(plan) => Some(described(plan)),
            None => None,
        };
        let said = about
            .iter()
            .map(|about| plan::describe_source(about, wanted))
            .chain(described)
            .collect::<Vec<_>>();
        screen.text(&said.join("\n"))?;
    }
    match refused {
        Some(about) => {
            remark(&plan::why_not(about));
            Err(Failure::Said(Exit::Failed))
        }
        // Who asks nothing is refused.
        None if wanted.yes && !complete.lacking().is_empty() => {
            remark(&format!(
                "with --yes nothing would be installed: it needs {}",
                complete.lacking().join(" and ")
            ));
            Err(Failure::Said(Exit::Usage))
        }
        None => Ok(()),
    }
}

/// What would be installed.
fn planned(client: &mut Client, ask: Ask) -> Result<Members, Failure> {
    Ok(under_way(client, "looking it up", ask.flag("plan", true))?.object("installed"))
}

/// Whether a plan says that code of the package must run.
pub fn needs_build(plan: &Members) -> bool {
    plan.value("needs_build") == true
}

/// Shows something and asks, where `--yes` has not answered already.
pub fn confirm(
    yes: bool,
    shown: &str,
    question: &str,
    otherwise: &str,
    screen: &mut Screen,
) -> Result<(), Failure> {
    if yes {
        return Ok(());
    }
    show(screen, shown)?;
    if consent::ask(question)? {
        return Ok(());
    }
    remark(otherwise);
    Err(Failure::Said(Exit::Failed))
}

/// What a person reads before a question; stdout is kept for JSON.
fn show(screen: &mut Screen, shown: &str) -> Result<(), Failure> {
    match screen.json {
        true => remark(shown),
        false => screen.text(shown)?,
    }
    Ok(())
}

/// Asks for something that takes a while, and shows how far it is.
pub fn under_way(client: &mut Client, what: &str, ask: Ask) -> Result<Members, Failure> {
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

/// A plan, and whose files it would get.
fn described(plan: &Members) -> String {
    let described = plan::describe(plan);
    match flatten(&plan.text("old_data")) {
        none if none.is_empty() => described,
        left => format!(
            "{described}\nmind       an earlier server of this name, whoever published it, left files in {left}: they become \
             the home of this one; `--name` gives another name"
        ),
    }
}

/// What is known of a package that has to be built to know more.
fn describe_build(plan: &Members) -> String {
    let version = Some(plan.text("version")).filter(|version| !version.is_empty());
    let version = version.map(|version| format!(" {}", word(&version))).unwrap_or_default();
    let package = format!("package    {}{version} ({})", word(&plan.text("name")), plan.text("kind"));
    format!("server     {}\n{package}\n{BUILDS}", plan.text("server_id"))
}

fn describe_installed(installed: &Members) -> String {
    let (name, tools) = (installed.text("server_id"), installed.strings("tools"));
    let what = format!("{} {}", installed.text("name"), installed.text("version"));
    let missing = installed.strings("missing");
    let done = if missing.is_empty() { "installed" } else { "defined" };
    let mut lines = vec![format!("{done} {name}: {}", what.trim_end())];
    if !missing.is_empty() {
        let set = missing.iter().map(|key| format!("`harbor secrets set {name} {key}`"));
        let set = set.collect::<Vec<_>>().join(" and ");
        lines.push(format!("nothing of it is installed or started before it has {}", missing.join(", ")));
        lines.push(format!("{set} asks for it, `harbor start {name}` does both then"));
        if installed.raw("version").is_some() {
            lines.push("what was found out is locked: exactly that is installed".into());
        }
        return lines.join("\n");
    }
    if needs_authorization(installed) {
        lines.push("it wants you to let Harbor in before it says what it has".into());
        lines.push(format!("`harbor auth {name}` asks you, in your browser"));
        return lines.join("\n");
    }
    let named = tools.iter().take(MAX_TOOLS).map(|tool| flatten(tool)).collect::<Vec<_>>().join(", ");
    let more = if tools.len() > MAX_TOOLS { ", …" } else { "" };
    match tools.first() {
        None => lines.push("it offers no tools".into()),
        Some(first) => {
            let first = flatten(first);
            lines.push(format!("it has {}: {named}{more}", count(tools.len(), "tool")));
            lines.push(format!(
                "`harbor call {name}/{first}` calls one, `harbor tools {name}` says what they take"
            ));
        }
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
    let kinds = looked.strings("can_install");
    screen.text(&format!("can be installed here: {}", kinds.join(", ")))?;
    let programs = looked.objects("programs");
    let has = |name: &str| programs.iter().any(|one| one.text("name") == name && one.raw("path").is_some());
    for (kind, lack) in lacks(has).filter(|(kind, _)| !kinds.iter().any(|known| known == kind)) {
        screen.text(&format!("not {kind}: it needs {lack}"))?;
    }
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

    const PLAN: &str = r#"{"type":"install_server_result","request_id":"1","installed":{"server_id":"time","kind":"pypi","name":"mcp-server-time","version":"1.2","integrity":"sha256:aa","packages":3,"planned":"7","sandbox":{"level":"standard","network":"all"}}}"#;
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
             `harbor call time/now` calls one, `harbor tools time` says what they take\n\
             AI clients and pages see it only while it runs: `harbor set time --lazy` has a call start it\n"
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
        let mut wrong = package();
        wrong.definition.secrets = vec!["1 x".into()];
        assert!(said(&wrong).starts_with("--secret 1 x: expected"));
    }
}
