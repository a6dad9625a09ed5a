//! install, runtimes: packages, and the programs that they need.
//!
//! Owns the text that a person sees before the question. Must never change anything without a yes, or
//! `--yes`.

mod asking;
mod closed_places;
mod declared_secret;
mod document;
mod entry;
mod network;
mod plan;
mod runs;
mod shown;

use std::collections::BTreeMap;

use harbor_client::errors::{Exit, Failure};
use harbor_client::id::server_id;
use harbor_client::payload::Payload;
use harbor_client::reply::Answer;
use harbor_client::terminal::remark;
use harbor_ipc_proto::client::{
    CheckRuntimes, InstallServer, InstallServerResult, InstalledView, RuntimesView,
};
use harbor_ipc_proto::secret::{Secret, SecretMap};
use harbor_policy::recipe::source::{InstallSource, default_name, sort};
use harbor_policy::runtimes::lacks;

pub use self::document::path as manifest_path;
pub use self::plan::{is_older, runs_with, vouched};
pub use self::runs::word;
use self::shown::show;
pub use self::shown::under_way;
use super::printing::{count, print};
use super::remote::Spoken;
use super::{add, auth, definition_secrets, places, result_notes, secrets, unreachable_places};
use crate::args::{Auth, Package};
use crate::client::{Client, QUICK};
use crate::consent;
use crate::screen::Screen;
use crate::table::{Table, flatten};

/// The message after a no.
pub const NOTHING_INSTALLED: &str = "nothing was installed";

/// The text before a package is built.
pub const BUILDS: &str = "code of the package must run to find out what it needs; it runs in a sandbox without access to your files";

/// Tools that one line names.
const MAX_TOOLS: usize = 8;

/// Checks that need no bridge, the source first. So a person without a terminal learns what is wrong, too.
pub fn check(wanted: &Package) -> Result<(), Failure> {
    let file = document::path(&wanted.source);
    let is_named = match &file {
        Some(path) => document::read(path).map(|_| true)?,
        None => {
            let source = sort(&wanted.source).map_err(Failure::Usage)?;
            matches!(source, InstallSource::Entry(_)) || default_name(&source).is_some()
        }
    };
    if wanted.definition.name.is_empty() && !is_named {
        let source = &wanted.source;
        return Err(Failure::Usage(format!("no name can be made from {source}; pass --name")));
    }
    secrets::are_keys(&wanted.definition.secrets)
}

pub fn install(client: &mut Client, wanted: &Package, screen: &mut Screen) -> Result<(), Failure> {
    let mut wanted = wanted.clone();
    let keys = definition_secrets::keys(&mut wanted.definition.env);
    let mut complete = entry::complete(client, &wanted, screen)?;
    if !wanted.dry_run {
        network::propose_hosts(&mut complete, screen)?;
    }
    let complete = &complete;
    let entry::Complete { package: wanted, secrets, .. } = complete;
    if wanted.dry_run {
        return dry_run(client, complete, screen);
    }
    let mut plan = planned(client, complete.on(ask(wanted)?))?.into_value().installed;
    if needs_build(&plan) {
        can_confirm(wanted)?;
        confirm(wanted.yes, &describe_build(&plan), "Run it?", NOTHING_INSTALLED, screen)?;
        let built = InstallServer { planned: plan.planned, build: Some(true), ..ask(wanted)? };
        plan = planned(client, built)?.into_value().installed;
    }
    can_confirm(wanted)?;
    // Who is asked nothing reads no plan.
    if wanted.yes {
        let notes = plan::runs_with(plan.python.as_ref()).into_iter().chain(plan::older(&plan));
        notes.chain(plan::known(&wanted.source)).for_each(|note| remark(&note));
    }
    confirm(wanted.yes, &described(&plan, wanted), "Install it?", NOTHING_INSTALLED, screen)?;
    let name = plan.server_id.clone();
    let values = match wanted.yes {
        true => secrets::values(&name, &wanted.definition.secrets)?,
        false => entry::ask_for(secrets, &name)?,
    };
    definition_secrets::tell(&name, &keys);
    definition_secrets::warn_of_arguments(&name, &definition_secrets::in_arguments(&wanted.definition.args));
    definition_secrets::warn_of_installer(&name, &wanted.install_env);
    let values = values.into_iter().chain(keys.into_iter().map(|(name, _, value)| (name, value))).collect();
    let without_network = network::is_tried_without(complete, screen).then_some(true);
    let ask = InstallServer { without_network, ..as_planned(complete, &plan, &values)? };
    let answer = under_way(client, "installing", &ask)?;
    print(screen, &answer, |answer| describe_installed(&answer.installed))?;
    // Also where the result is JSON: it may well be an old trap.
    let old_data = answer.installed.old_data.as_deref();
    result_notes::on_old_data(&name, old_data, wanted.definition.keep_data);
    if !screen.json {
        let keys: Vec<_> = secrets.iter().map(|secret| secret.name.clone()).collect();
        result_notes::on_sandbox(&name, plan.sandbox.as_ref(), &keys);
        answer.installed.server.iter().for_each(result_notes::on_image);
        unreachable_places::tell_words(client, &name, &wanted.definition.args, &wanted.definition.env);
        let later = secrets.iter().filter(|secret| !secret.required && !values.contains_key(&secret.name));
        later.for_each(|secret| remark(&secret.told_later(&name)));
        network::leave_without(client, &answer.installed)?;
        if needs_authorization(&answer.installed) && !wanted.yes && consent::ask("Do that now?")? {
            return auth::begin(client, &Auth { server: name, ..Auth::default() }, None, screen);
        }
    }
    Ok(())
}

/// Fails if the person has not said yes and cannot be asked. The package is looked up first, since a missing
/// one needs no yes.
pub fn can_confirm(wanted: &Package) -> Result<(), Failure> {
    if wanted.yes { Ok(()) } else { consent::is_possible("install") }
}

/// True if the server waits for the person to sign in.
fn needs_authorization(installed: &InstalledView) -> bool {
    installed.needs_authorization == Some(true)
}

/// Exactly what was shown, with its secrets.
fn as_planned(
    complete: &entry::Complete,
    plan: &InstalledView,
    values: &BTreeMap<String, Secret>,
) -> Result<InstallServer, Failure> {
    let secret_values = (!values.is_empty()).then(|| SecretMap(values.clone()));
    let ask = InstallServer { secret_values, progress: Some(true), ..ask(&complete.package)? };
    Ok(match &plan.planned {
        Some(planned) => InstallServer { planned: Some(planned.clone()), ..ask },
        // What has no versions is what was read of its repository.
        None => complete.on(ask),
    })
}

/// Says what would be installed. Nobody is asked, and nothing is kept.
fn dry_run(client: &mut Client, complete: &entry::Complete, screen: &mut Screen) -> Result<(), Failure> {
    let entry::Complete { package: wanted, about, .. } = complete;
    let refused = about.as_ref().map(|about| &about.entry).filter(|entry| entry.way.is_none());
    let plan = match refused {
        Some(_) => None,
        None => {
            let ask = InstallServer { incomplete: Some(true), ..complete.on(ask(wanted)?) };
            Some(planned(client, ask)?)
        }
    };
    if screen.json {
        let mut all = Payload::default();
        about.iter().for_each(|about| all.insert("server", about.shown.to_json()));
        plan.iter().for_each(|plan| all.insert("installed", plan.part("installed").to_json()));
        screen.json(&all.to_json())?;
    } else {
        let described = match plan.as_ref().map(|plan| &plan.installed) {
            Some(plan) if needs_build(plan) => Some(describe_build(plan)),
            Some(plan) => Some(described(plan, wanted)),
            None => None,
        };
        let said = about
            .iter()
            .map(|about| plan::describe_source(&about.entry, wanted))
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
                "--yes would install nothing: the server requires {}",
                complete.lacking().join(" and ")
            ));
            Err(Failure::Said(Exit::Usage))
        }
        None => Ok(()),
    }
}

/// The plan: what would be installed.
fn planned(client: &mut Client, ask: InstallServer) -> Result<Answer<InstallServerResult>, Failure> {
    under_way(client, "looking it up", &InstallServer { plan: Some(true), progress: Some(true), ..ask })
}

/// True if a plan says that code of the package must run.
fn needs_build(plan: &InstalledView) -> bool {
    plan.needs_build == Some(true)
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

fn ask(wanted: &Package) -> Result<InstallServer, Failure> {
    let definition = &wanted.definition;
    let Spoken { transport_type, headers, allow_private, allow_http } = Spoken::of(&wanted.remote);
    let name = Some(&definition.name).filter(|name| !name.is_empty());
    Ok(InstallServer {
        source: wanted.source.clone(),
        manifest: None,
        package: wanted.way,
        inputs: add::some(&wanted.inputs, wanted.inputs.is_empty()),
        server_id: name.map(|name| server_id(name)).transpose()?,
        args: add::some(&definition.args, definition.args.is_empty()),
        env: add::some(&definition.env, definition.env.is_empty()),
        install_env: add::some(&wanted.install_env, wanted.install_env.is_empty()),
        with: add::some(&wanted.with, wanted.with.is_empty()),
        label: definition.label.clone(),
        supervision: add::supervision(&definition.supervision),
        sandbox: add::sandbox(&definition.sandbox, &places::current_dir()?)?,
        secrets: add::some(&definition.secrets, definition.secrets.is_empty()),
        secret_values: None,
        keep_data: definition.keep_data.then_some(true),
        headers,
        transport_type,
        allow_private,
        allow_http,
        plan: None,
        incomplete: None,
        planned: None,
        build: None,
        without_network: None,
        progress: None,
    })
}

/// A plan, whether Harbor knows the server, and whose files it would get.
fn described(plan: &InstalledView, wanted: &Package) -> String {
    let keep_data = wanted.definition.keep_data;
    let notes = plan::known(&wanted.source).into_iter().chain(closed_places::places(plan, wanted));
    let notes: String = notes.map(|note| format!("\nnote       {note}")).collect();
    let described = format!("{}{notes}", plan::describe(plan));
    match flatten(plan.old_data.as_deref().unwrap_or_default()) {
        none if none.is_empty() => described,
        left if !keep_data => format!(
            "{described}\nnote       an earlier server of this name left data in {left}; it is set aside, or used with \
             `--keep-data`"
        ),
        left => format!(
            "{described}\nnote       this server gets the data of an earlier server of this name, whoever published that, in {left}; \
             `--name` gives it another name"
        ),
    }
}

/// The known facts of a package that has to be built to know more.
fn describe_build(plan: &InstalledView) -> String {
    let version = plan.version.as_ref().map(|version| format!(" {}", word(version))).unwrap_or_default();
    let package = format!("package    {}{version} ({})", word(&plan.name), plan.kind);
    format!("server     {}\n{package}\n{BUILDS}", plan.server_id)
}

fn describe_installed(installed: &InstalledView) -> String {
    let (name, tools) = (&installed.server_id, installed.tools.as_deref().unwrap_or_default());
    let what = format!("{} {}", installed.name, installed.version.as_deref().unwrap_or_default());
    let missing = installed.missing.as_deref().unwrap_or_default();
    let done = if missing.is_empty() { "installed" } else { "defined" };
    let mut lines = vec![format!("{done} {name}: {}", what.trim_end())];
    if !missing.is_empty() {
        let set = missing.iter().map(|key| format!("`harbor secrets set {name} {key}`"));
        let set = set.collect::<Vec<_>>().join(" and ");
        lines.push(format!("Harbor does not install or start it before it has {}", missing.join(", ")));
        lines.push(format!("set it: {set}; then `harbor start {name}`"));
        if installed.version.is_some() {
            lines.push("the version is locked: Harbor installs exactly this one".into());
        }
        return lines.join("\n");
    }
    if needs_authorization(installed) {
        lines.push("it requires a sign-in before it lists its tools".into());
        lines.push(format!("sign in: `harbor auth {name}`"));
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
                "call one: `harbor call {name}/{first}`; arguments: `harbor tools {name}/{first}`"
            ));
        }
    }
    lines.join("\n")
}

pub fn runtimes(client: &mut Client, screen: &mut Screen) -> Result<(), Failure> {
    let answer = client.ask(&CheckRuntimes {}, QUICK)?;
    if screen.json {
        return Ok(screen.json(&answer.to_json())?);
    }
    let RuntimesView { programs, can_install, looked_in } = &answer.runtimes;
    let mut table = Table::new(&["PROGRAM", "VERSION", "FOUND BY", "WHERE"]);
    for program in programs {
        let or = |text: Option<&str>, other: &str| text.unwrap_or(other).to_owned();
        let missing = format!("not found; {}", program.install_hint.as_deref().unwrap_or_default());
        table.add([
            program.name.to_string(),
            or(program.version.as_deref(), "-"),
            or(program.found_by.as_deref(), "-"),
            or(program.path.as_deref(), &missing),
        ]);
    }
    screen.table(&table)?;
    screen.text(&format!("can install: {}", can_install.join(", ")))?;
    let has = |name: &str| programs.iter().any(|one| one.name == name && one.path.is_some());
    for (kind, lack) in lacks(has).filter(|(kind, _)| !can_install.iter().any(|known| known == kind)) {
        screen.text(&format!("cannot install {kind}: it requires {lack}"))?;
    }
    if programs.iter().any(|program| program.path.is_none()) {
        let dirs = looked_in.iter().map(|place| format!("  {}  ({})", place.dir, place.found_by));
        screen.text(&format!("looked in, in this order:\n{}", dirs.collect::<Vec<_>>().join("\n")))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::rig::{command as run, typed};
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
             call one: `harbor call time/now`; arguments: `harbor tools time/now`\n"
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
        assert!(ran.asked[1].contains(r#""plan":true,"planned":"6","build":true"#), "{:?}", ran.asked);
        assert!(
            ran.asked[2].contains(r#""planned":"7""#) && !ran.asked[2].contains("build"),
            "{:?}",
            ran.asked
        );
        let shown = describe_build(&typed::<InstallServerResult>(needs).installed);
        assert!(
            shown.starts_with("server     time\npackage    https://h/r abc (git)\ncode of the package"),
            "{shown}"
        );
    }

    #[test]
    fn a_source_is_looked_at_before_a_terminal() {
        let of = |source: &str, yes| Package { source: source.into(), yes, ..package() };
        let said = |package: &Package| check(package).unwrap_err().message().unwrap();
        assert!(said(&of("x:y", false)).contains("not a kind of source"));
        let mut wrong = package();
        wrong.definition.secrets = vec!["1 x".into()];
        assert!(said(&wrong).starts_with("--secret 1 x: expected"));
    }
}
