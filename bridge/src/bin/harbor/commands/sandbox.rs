//! sandbox: what a server may do on this machine, shown and changed.
//!
//! Owns how it is shown, and adding to lists: the bridge takes whole lists. Must never judge what is allowed.

use std::path::Path;

use harbor_ipc_proto::client::{NetworkKind, SandboxSettings};

use super::add::{absolute, current_dir};
use super::print;
use super::servers::STOP;
use crate::args::Sandbox;
use crate::ask::Ask;
use crate::client::{Client, QUICK};
use crate::errors::Failure;
use crate::reply::Members;
use crate::screen::{Screen, remark};
use crate::table::flatten;

pub fn run(client: &mut Client, wanted: &Sandbox, screen: &mut Screen) -> Result<(), Failure> {
    let shown = client.request(&Ask::about("get_sandbox", &wanted.server), QUICK)?;
    if !wanted.changes_something() {
        return print(screen, &shown, |shown| describe(&shown.object("sandbox"), wanted.explain));
    }
    let before = shown.object("sandbox").object("settings");
    for entry in unknown(wanted, &before, &current_dir()?)? {
        remark(&format!("{entry} was not granted"));
    }
    let changed = client.request(&change(wanted, &before, &current_dir()?)?, STOP)?;
    if !screen.json {
        outcome(&wanted.server, &before, &changed).iter().for_each(|text| remark(text));
    }
    print(screen, &changed, |changed| describe(&changed.object("sandbox"), wanted.explain))
}

/// What a change has led to, where that is more than the change.
fn outcome(server: &str, before: &Members, changed: &Members) -> Option<String> {
    if changed.value("restarting") == true {
        return Some(format!("{server} is being restarted with this"));
    }
    let same = changed.object("sandbox").object("settings").to_json() == before.to_json();
    same.then(|| "nothing changed".into())
}

/// What is to be forgotten and is in no list.
fn unknown(wanted: &Sandbox, before: &Members, here: &Path) -> Result<Vec<String>, Failure> {
    let lists = ["read", "write", "sockets", "hosts"].map(|name| strings(before, name)).concat();
    let typed = wanted.forgotten.iter().cloned().zip(absolutes(&wanted.forgotten, here)?);
    Ok(typed
        .filter(|(word, path)| !lists.contains(word) && !lists.contains(path))
        .map(|(word, _)| word)
        .collect())
}

/// The request for what was typed in the directory `here`, where `before` holds.
fn change(wanted: &Sandbox, before: &Members, here: &Path) -> Result<Ask, Failure> {
    let settings = settings(&wanted.changes, here)?;
    let forgotten = absolutes(&wanted.forgotten, here)?;
    let goes = |entry: &String| forgotten.contains(entry) || wanted.forgotten.contains(entry);
    let list = |name: &str, added: Option<Vec<String>>| {
        let there: Vec<String> = serde_json::from_value(before.value(name)).unwrap_or_default();
        let kept = if wanted.reset.iter().any(|reset| reset == name) { Vec::new() } else { there.clone() };
        let mut now: Vec<String> = kept.into_iter().filter(|entry| !goes(entry)).collect();
        for entry in added.into_iter().flatten() {
            if !now.contains(&entry) {
                now.push(entry);
            }
        }
        (now != there).then_some(now)
    };
    let typed = settings.network;
    let leaves_hosts = match typed {
        Some(kind) => kind != NetworkKind::Hosts,
        None => wanted.reset.iter().any(|reset| reset == "network"),
    };
    let hosts = list("hosts", settings.hosts.clone());
    let settings = SandboxSettings {
        read: list("read", settings.read),
        write: list("write", settings.write),
        sockets: list("sockets", settings.sockets),
        // Whoever wants another network does not want these hosts any more.
        hosts: if leaves_hosts { Some(Vec::new()) } else { hosts.clone() },
        ..settings
    };
    let mut reset = wanted.reset.clone();
    // And without any host there is no such network.
    if typed.is_none() && hosts.is_some_and(|hosts| hosts.is_empty()) {
        reset.push("network".into());
    }
    let ask = Ask::about("set_sandbox", &wanted.server).object("sandbox", &settings);
    Ok(if reset.is_empty() { ask } else { ask.list("reset", &reset) })
}

/// The settings with paths that mean the same to the bridge, which runs in another directory.
pub fn settings(typed: &SandboxSettings, here: &Path) -> Result<SandboxSettings, Failure> {
    let all = |paths: &Option<Vec<String>>| paths.as_ref().map(|paths| absolutes(paths, here)).transpose();
    Ok(SandboxSettings {
        read: all(&typed.read)?,
        write: all(&typed.write)?,
        sockets: all(&typed.sockets)?,
        ..typed.clone()
    })
}

fn absolutes(paths: &[String], here: &Path) -> Result<Vec<String>, Failure> {
    let one = |path: &String| match path.starts_with("~/") {
        // Behind `=` shells leave it.
        true => Err(Failure::Usage(format!(
            "{path}: `~` is the shell's; write it as a word of its own, or as $HOME"
        ))),
        false => absolute(path, here),
    };
    paths.iter().map(one).collect()
}

fn describe(sandbox: &Members, explain: bool) -> String {
    let summary = sandbox.object("summary");
    let mut lines = vec![
        format!("level    {}", summary.text("level")),
        format!("held by  {}", summary.text("held_by")),
        format!("network  {}", network(sandbox, &summary)),
    ];
    let limits = strings(sandbox, "limits");
    if !limits.is_empty() {
        lines.push(format!("limits   {}", limits.join(", ")));
    }
    let refused = sandbox.text("refused");
    if !refused.is_empty() {
        lines.push(format!("\nit does not start: {}", flatten(&refused)));
    }
    lines.extend(places(sandbox, explain));
    for (title, name) in [("not held here", "missing"), ("mind", "warnings")] {
        let all = strings(&summary, name);
        if !all.is_empty() {
            lines.push(format!("\n{title}"));
            lines.extend(all.iter().map(|line| format!("  {}", flatten(line))));
        }
    }
    lines.extend(denied(sandbox));
    if explain {
        lines.push(format!("\nenvironment\n  {}", strings(sandbox, "env_names").join(" ")));
        lines.push(format!("\nsettings\n  {}", sandbox.raw("settings").unwrap_or_default()));
    }
    lines.join("\n")
}

fn network(sandbox: &Members, summary: &Members) -> String {
    let hosts = strings(&sandbox.object("settings"), "hosts");
    match summary.text("network").as_str() {
        "hosts" => format!("hosts: {}", hosts.join(", ")),
        word => word.to_owned(),
    }
}

/// What it may reach. System files are many and the same for all: they are shown on request.
fn places(sandbox: &Members, explain: bool) -> Vec<String> {
    let all = sandbox.objects("paths");
    let mut lines = Vec::new();
    for (title, access) in [("may write", "write"), ("may read and execute", "read"), ("devices", "device")] {
        let wanted =
            |place: &&Members| place.text("access") == access && (explain || place.text("why") != "system");
        let shown: Vec<_> = all.iter().filter(wanted).collect();
        if !shown.is_empty() {
            lines.push(format!("\n{title}"));
            let line =
                |place: &&Members| format!("  {}  ({})", flatten(&place.text("path")), place.text("why"));
            lines.extend(shown.iter().map(line));
        }
    }
    let hidden = strings(sandbox, "hidden");
    if explain && !hidden.is_empty() {
        lines.push(format!("\nlooks empty, but for the above\n  {}", hidden.join("\n  ")));
    }
    if !explain && all.iter().any(|place| place.text("why") == "system") {
        lines.push("  and files of the system (--explain lists them)".into());
    }
    lines
}

fn denied(sandbox: &Members) -> Vec<String> {
    let all = sandbox.objects("denied");
    if all.is_empty() {
        return Vec::new();
    }
    let mut lines = vec!["\nit was refused".to_owned()];
    for denied in all {
        let what = if denied.value("write") == true { "write" } else { "read" };
        let advice = match (denied.text("allow"), denied.text("never")) {
            (allow, _) if !allow.is_empty() => match denied.text("mind") {
                mind if mind.is_empty() => format!("{allow} allows it"),
                mind => format!("{allow} allows it ({mind})"),
            },
            (_, never) => never,
        };
        let path = flatten(&denied.text("path"));
        // What is no path says itself what it was for.
        let refused = if path.starts_with('/') { format!("to {what} {path}") } else { path };
        lines.push(format!("  {refused}: {}", flatten(&advice)));
    }
    lines
}

fn strings(members: &Members, name: &str) -> Vec<String> {
    serde_json::from_value(members.value(name)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::super::rig::command;
    use super::*;

    const SHOWN: &str = r#"{"type":"get_sandbox_result","request_id":"1","sandbox":{"settings":{"read":["/a"],"hosts":["x.org"]},"summary":{"level":"standard","held_by":"landlock 7, seccomp, namespaces","network":"all","missing":[],"warnings":["it reaches the LAN"]},"paths":[{"path":"/usr","access":"read","why":"system"},{"path":"/a","access":"read","why":"granted"},{"path":"/d","access":"write","why":"data"}],"hidden":["/home/me"],"limits":["64 MiB of memory","8 processes and threads"],"env_names":["PATH"],"denied":[{"path":"/b","write":false,"allow":"--read /b"}]}}"#;

    #[test]
    fn what_a_server_may_do_is_shown() {
        let wanted = Sandbox { server: "x".into(), ..Sandbox::default() };
        let ran = command(false, &[SHOWN], |client, screen| run(client, &wanted, screen));
        assert_eq!(
            ran.printed,
            "level    standard\nheld by  landlock 7, seccomp, namespaces\nnetwork  all\n\
             limits   64 MiB of memory, 8 processes and threads\n\nmay write\n  /d  (data)\n\n\
             may read and execute\n  /a  (granted)\n  and files of the system (--explain lists them)\n\nmind\n  \
             it reaches the LAN\n\nit was refused\n  to read /b: --read /b allows it\n"
        );
    }

    #[test]
    fn lists_are_added_to_and_entries_go() {
        let before = Members::parse(SHOWN.as_bytes()).unwrap().object("sandbox").object("settings");
        let asked = |wanted: Sandbox| {
            let frame = change(&wanted, &before, Path::new("/here")).unwrap().to_frame("1");
            String::from_utf8_lossy(&frame[4..]).into_owned()
        };
        let changes = SandboxSettings { read: Some(vec!["b".into()]), ..SandboxSettings::default() };
        let added = asked(Sandbox { server: "x".into(), changes, ..Sandbox::default() });
        assert!(added.contains(r#""sandbox":{"read":["/a","/here/b"]}"#), "{added}");
        let forgotten = vec!["/a".into(), "x.org".into()];
        let gone = asked(Sandbox { server: "x".into(), forgotten, ..Sandbox::default() });
        assert!(gone.contains(r#""sandbox":{"read":[],"hosts":[]}"#), "{gone}");
    }

    #[test]
    fn hosts_go_with_their_network() {
        let before = Members::parse(br#"{"network":"hosts","hosts":["x.org"]}"#).unwrap();
        let asked = |network: Option<NetworkKind>, reset: &[&str]| {
            let changes = SandboxSettings { network, ..SandboxSettings::default() };
            let reset = reset.iter().map(ToString::to_string).collect();
            let wanted = Sandbox { server: "x".into(), changes, reset, ..Sandbox::default() };
            let frame = change(&wanted, &before, Path::new("/here")).unwrap().to_frame("1");
            let text = String::from_utf8_lossy(&frame[4..]).into_owned();
            text[text.find("\"sandbox\":").unwrap()..].to_owned()
        };
        assert_eq!(asked(Some(NetworkKind::None), &[]), r#""sandbox":{"network":"none","hosts":[]}}"#);
        assert_eq!(asked(None, &["network"]), r#""sandbox":{"hosts":[]},"reset":["network"]}"#);
        assert_eq!(asked(None, &["hosts"]), r#""sandbox":{"hosts":[]},"reset":["hosts","network"]}"#);
    }

    #[test]
    fn it_is_said_what_a_change_has_led_to() {
        let told = |restarting: bool, settings: &str| {
            let before = Members::parse(br#"{"read":["/a"]}"#).unwrap();
            let answer = format!(r#"{{"restarting":{restarting},"sandbox":{{"settings":{settings}}}}}"#);
            outcome("x", &before, &Members::parse(answer.as_bytes()).unwrap())
        };
        assert_eq!(told(true, "{}").unwrap(), "x is being restarted with this");
        assert_eq!(told(false, "{}"), None);
        assert_eq!(told(false, r#"{"read":["/a"]}"#).unwrap(), "nothing changed");
    }
}
