//! upgrade: another version of a server's package, and back.
//!
//! Owns the questions before a new version gets anything. Must never use it without a yes, or `--yes`.

use harbor_client::errors::{Exit, Failure};
use harbor_client::id::server_id;
use harbor_client::terminal::remark;
use harbor_ipc_proto::client::{ListServers, UndoUpgrade, UpgradeServer, UpgradeView};

use super::changes;
use super::install::{BUILDS, confirm, is_older, runs_with, under_way, vouched, word};
use super::printing::print;
use super::servers::{START, STOP};
use crate::args::Upgrade;
use crate::client::{Client, QUICK};
use crate::consent;
use crate::screen::Screen;
use crate::table::flatten;

/// The beginning of a repository's hash. No registry can be asked for its commit.
const OF_COMMIT: &str = "git-";

/// The message after a no.
const NOTHING_CHANGED: &str = "nothing was changed";

pub fn upgrade(client: &mut Client, wanted: &Upgrade, screen: &mut Screen) -> Result<(), Failure> {
    let server = wanted.name();
    if wanted.undo {
        return undo(client, server, screen);
    }
    let Some(token) = planned_upgrade(client, wanted, screen)? else { return Ok(()) };
    let tried = tried_out(client, wanted, token, screen)?;
    if !screen.json {
        screen.text(&describe_upgrade(server, &tried))?;
    }
    if !wanted.yes && !consent::ask("Use it?")? {
        remark(NOTHING_CHANGED);
        return Err(Failure::Said(Exit::Failed));
    }
    let answer = client.ask(&UpgradeServer { apply: tried.apply, ..ask(server)? }, STOP)?;
    print(screen, &answer, |answer| {
        let mut said = used(server, &tried.after, &answer.upgrade);
        if !tried.changed.is_empty() {
            said += &format!("\n{}", kept_from_origins(server));
        }
        said
    })
}

/// Upgrades one server after the other. A failure, or a no, does not stop the next upgrade.
pub fn all(client: &mut Client, wanted: &Upgrade, screen: &mut Screen) -> Result<(), Failure> {
    let servers = client.ask(&ListServers {}, QUICK)?.into_value().servers;
    let packages: Vec<_> = servers.iter().filter(|server| server.package.is_some()).collect();
    if packages.is_empty() {
        remark("no server has a package that could be upgraded");
    }
    let mut failed = false;
    for server in packages {
        let one = Upgrade { server: Some(server.server_id.clone()), all: false, ..wanted.clone() };
        if let Err(failure) = upgrade(client, &one, screen) {
            if matches!(failure, Failure::Lost | Failure::Unsent | Failure::Unread) {
                return Err(failure);
            }
            failed = true;
            failure.message().iter().for_each(|text| remark(&format!("{}: {text}", server.server_id)));
        }
    }
    if failed { Err(Failure::Said(Exit::Failed)) } else { Ok(()) }
}

/// About this server; the caller says what is asked for.
fn ask(server: &str) -> Result<UpgradeServer, Failure> {
    Ok(UpgradeServer {
        server_id: server_id(server)?,
        to: None,
        plan: None,
        planned: None,
        build: None,
        with_all: None,
        apply: None,
        progress: None,
    })
}

/// The present version, and the way back where there is one.
fn used(server: &str, after: &str, applied: &UpgradeView) -> String {
    match applied.previous {
        Some(_) => format!("{server} is now {after}; undo: `harbor upgrade {server} --undo`"),
        None => format!(
            "{server} is now {after}; it cannot be undone, since the earlier version was never installed here"
        ),
    }
}

fn kept_from_origins(server: &str) -> String {
    format!("origins cannot use changed tools yet; accept them: `harbor accept {server}`")
}

/// Plans the new version, and asks if it may be tried out. Returns the token of the plan, or none if the
/// version is already used.
fn planned_upgrade(
    client: &mut Client,
    wanted: &Upgrade,
    screen: &mut Screen,
) -> Result<Option<String>, Failure> {
    let server = wanted.name();
    let looked_up = UpgradeServer { plan: Some(true), progress: Some(true), ..ask(server)? };
    let first = UpgradeServer { to: wanted.to.clone(), ..looked_up.clone() };
    let mut plan = under_way(client, "looking it up", &first)?;
    if plan.upgrade.needs_build == Some(true)
        && let Some(token) = &plan.upgrade.planned
    {
        confirm(wanted.yes, &format!("{server}: {BUILDS}"), "Run it?", NOTHING_CHANGED, screen)?;
        let built = UpgradeServer { planned: Some(token.clone()), build: Some(true), ..looked_up };
        plan = under_way(client, "looking it up", &built)?;
    }
    let Some(token) = &plan.upgrade.planned else {
        print(screen, &plan, |plan| format!("{server} is {} already", plan.upgrade.before))?;
        older(&plan.upgrade).iter().for_each(|note| remark(note));
        return Ok(None);
    };
    // Who is asked nothing reads it with what was tried out, unless that is JSON.
    if wanted.yes && screen.json {
        notes(&plan.upgrade).for_each(|note| remark(&note));
    }
    let trial = format!(
        "{}\nHarbor installs the new version beside it and starts it to see its tools, in a sandbox without your files \
         and secrets",
        versions(server, &plan.upgrade)
    );
    confirm(wanted.yes, &trial, "Try it out?", NOTHING_CHANGED, screen)?;
    Ok(Some(token.clone()))
}

/// Tries the new version without anything of the person's. If that fails, tries it with everything, after a yes.
fn tried_out(
    client: &mut Client,
    wanted: &Upgrade,
    token: String,
    screen: &mut Screen,
) -> Result<UpgradeView, Failure> {
    let server = wanted.name();
    let trial = UpgradeServer { progress: Some(true), ..ask(server)? };
    let first = UpgradeServer { planned: Some(token), with_all: Some(wanted.yes), ..trial.clone() };
    let upgrade = under_way(client, "trying it out", &first)?.into_value().upgrade;
    let Some(failed) = &upgrade.failed else { return Ok(upgrade) };
    let why = format!(
        "without your files and secrets it does not start: {}\nHarbor can start it with everything that {server} may \
         use: its secrets, variables, files, network",
        flatten(failed)
    );
    confirm(wanted.yes, &why, "Try that?", NOTHING_CHANGED, screen)?;
    let with_all = UpgradeServer { planned: upgrade.planned, with_all: Some(true), ..trial };
    Ok(under_way(client, "trying it out", &with_all)?.into_value().upgrade)
}

fn undo(client: &mut Client, server: &str, screen: &mut Screen) -> Result<(), Failure> {
    // A server that was up is started.
    let answer = client.ask(&UndoUpgrade { server_id: server_id(server)? }, START)?;
    let shown = answer.installed.server.as_ref();
    let has_changed = shown.and_then(|server| server.changed_tools).is_some_and(|number| number > 0);
    print(screen, &answer, |answer| {
        let kept = if has_changed { format!("\n{}", kept_from_origins(server)) } else { String::new() };
        format!("{server} is {} again{kept}", answer.installed.version.as_deref().unwrap_or_default())
    })?;
    if !has_changed && shown.is_none_or(|server| server.state != "running") {
        remark(&format!(
            "it is not running, so Harbor checks its tools at its next start: `harbor start {server}`. Origins cannot \
             use changed tools until `harbor accept {server}`"
        ));
    }
    Ok(())
}

/// A note that a newer version does not fit.
fn older(upgrade: &UpgradeView) -> Option<String> {
    is_older((&upgrade.kind, &upgrade.after), upgrade.newest.as_ref(), upgrade.python.as_ref())
}

/// Notes about the new version.
fn notes(upgrade: &UpgradeView) -> impl Iterator<Item = String> {
    runs_with(upgrade.python.as_ref()).into_iter().chain(older(upgrade))
}

/// The two versions, and the checks that confirm the new one.
fn versions(server: &str, upgrade: &UpgradeView) -> String {
    let hash = word(&upgrade.integrity);
    let mut lines = vec![
        format!("{server}: {} → {}", word(&upgrade.before), word(&upgrade.after)),
        format!("hash       {hash}"),
    ];
    lines.extend(notes(upgrade).map(|note| format!("note       {note}")));
    if let Some(file) = &upgrade.file {
        lines.extend(vouched(file));
    } else if !hash.starts_with(OF_COMMIT) {
        lines.push(
            "checked    only by its registry, which gives that hash; Harbor checks no signature".into(),
        );
    }
    lines.join("\n")
}

fn describe_upgrade(server: &str, upgrade: &UpgradeView) -> String {
    let mut lines = vec![versions(server, upgrade)];
    for (names, what) in [(&upgrade.added, "new tools  "), (&upgrade.removed, "gone tools ")] {
        if !names.is_empty() {
            lines.push(format!("{what}{}", flatten(&names.join(", "))));
        }
    }
    for change in &upgrade.changed {
        lines.push(format!("changed    {}", flatten(&change.tool_name)));
        lines.extend(changes::differences(&change.before, &change.after));
    }
    if lines.len() == 1 {
        lines.push("its tools are unchanged".into());
    }
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::super::rig::{command as run, typed};
    use super::*;

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
        let done = answer(3, r#""applied":true,"previous":"1""#);
        let wanted = Upgrade { server: Some("s".into()), all: false, to: None, undo: false, yes: true };
        let ran = run(false, &[PLANNED, &tried, &done], |c, s| upgrade(c, &wanted, s));
        assert_eq!(
            ran.printed,
            "s: 1 → 2\nhash       h\n\
             checked    only by its registry, which gives that hash; Harbor checks no signature\nnew tools  b\ngone tools a\nchanged    c\n  description\n    - x\n    + y\n\
             s is now 2; undo: `harbor upgrade s --undo`\n\
             origins cannot use changed tools yet; accept them: `harbor accept s`\n"
        );
        assert!(ran.asked[1].contains(r#""planned":"5","with_all":true"#), "{:?}", ran.asked);
        assert!(ran.asked[2].ends_with(r#""apply":"2-7"}"#), "{:?}", ran.asked);
        let same = answer(1, r#""before":"2","after":"2""#);
        let ran = run(false, &[&same], |c, s| upgrade(c, &wanted, s));
        assert_eq!((ran.printed.as_str(), ran.asked.len()), ("s is 2 already\n", 1), "nothing is tried out");
    }

    #[test]
    fn a_newer_version_that_does_not_fit_is_named_beside_the_new_one() {
        let shown = |kind: &str, more: &str| {
            let upgrade = format!(r#"{{"kind":"{kind}","before":"1","after":"2","newest":"3"{more}}}"#);
            versions("s", &typed(&upgrade))
        };
        let node =
            "\nnote       2 is not the newest version: 3 requires another Node.js than this machine has";
        assert!(shown("npm", "").contains(node));
        let python = "\nnote       2 is not the newest version: 3 requires Python >=3.12, which this machine does not have; install";
        assert!(shown("pypi", r#","python":{"requires":">=3.12"}"#).contains(python));
    }

    #[test]
    fn going_back_says_what_is_kept_from_origins() {
        let wanted = Upgrade { server: Some("s".into()), all: false, to: None, undo: true, yes: false };
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
