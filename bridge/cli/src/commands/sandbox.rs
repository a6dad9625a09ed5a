//! sandbox: a server's rights on this machine, shown and changed.
//!
//! Owns how they are shown, and adding to lists: the bridge takes whole lists. Must never judge what is
//! allowed.

use std::path::Path;

use harbor_client::errors::Failure;
use harbor_client::id::server_id;
use harbor_client::reply::Answer;
use harbor_client::terminal::remark;
use harbor_ipc_proto::client::{
    DeniedView, GetSandbox, NetworkKind, SandboxPath, SandboxSettings, SandboxView, SetSandbox,
    SetSandboxResult,
};
use harbor_ipc_proto::field::JsonObject;
use harbor_policy::sandbox::hint::is_of_kernel;
use harbor_policy::sandbox::paths::clean;

use super::add::some;
use super::places::{absolutes, current_dir, settings};
use super::servers::STOP;
use crate::args::Sandbox;
use crate::client::{Client, QUICK};
use crate::screen::Screen;
use crate::table::flatten;

pub fn run(client: &mut Client, wanted: &Sandbox, screen: &mut Screen) -> Result<(), Failure> {
    let shown = client.ask(&GetSandbox { server_id: server_id(&wanted.server)? }, QUICK)?;
    if !wanted.changes_something() {
        return print_prose(&shown, &shown.sandbox, wanted.explain, screen);
    }
    let change = Change::of(wanted, &shown.sandbox, &current_dir()?)?;
    change.remarks.iter().for_each(|text| remark(text));
    let changed = client.ask(&change.ask, STOP)?;
    if !screen.json {
        remark(&outcome(&wanted.server, &shown.sandbox.settings, &changed));
    }
    print_prose(&changed, &changed.sandbox, wanted.explain, screen)
}

fn print_prose<T>(
    answer: &Answer<T>,
    sandbox: &SandboxView,
    explain: bool,
    screen: &mut Screen,
) -> Result<(), Failure> {
    match screen.json {
        true => Ok(screen.json(&answer.to_json())?),
        false => Ok(screen.prose(&describe(sandbox, explain))?),
    }
}

/// The effect of a change.
fn outcome(server: &str, before: &SandboxSettings, changed: &SetSandboxResult) -> String {
    let same = changed.sandbox.settings == *before;
    match changed.restarting {
        true => format!("{server} is being restarted with this"),
        false if same => "nothing changed".into(),
        false => format!("it takes effect at the next start: `harbor start {server}`"),
    }
}

/// The request to the bridge, and remarks about it.
struct Change {
    ask: SetSandbox,
    remarks: Vec<String>,
}

/// Entries that are to go, in every form in which they may be stored.
struct Forgotten {
    forms: Vec<(String, Vec<String>)>,
}

impl Forgotten {
    /// Reads words that were typed in the directory `here`. A grant is shown as its place, which may have
    /// another name.
    fn of(typed: &[String], sandbox: &SandboxView, here: &Path) -> Result<Self, Failure> {
        let named = |path: &str| {
            let mut of = sandbox.paths.iter().filter(|place| place.path == path);
            of.find_map(|place| place.granted_as.clone())
        };
        let forms = typed.iter().zip(absolutes(typed, here)?).map(|(word, path)| {
            let path = clean(&path).unwrap_or(path);
            let named = named(&path);
            (word.clone(), [word.to_ascii_lowercase(), path].into_iter().chain(named).collect())
        });
        Ok(Self { forms: forms.collect() })
    }

    fn has(&self, entry: &String) -> bool {
        self.forms.iter().any(|(_, forms)| forms.contains(entry))
    }

    /// The words that are in no list.
    fn unknown(&self, lists: &[String]) -> impl Iterator<Item = String> {
        let unknown = self.forms.iter().filter(|(_, forms)| !lists.iter().any(|entry| forms.contains(entry)));
        unknown.map(|(word, _)| format!("{word} was not granted"))
    }
}

impl Change {
    /// Reads options that were typed in the directory `here`. `sandbox` is the one in force.
    fn of(wanted: &Sandbox, sandbox: &SandboxView, here: &Path) -> Result<Self, Failure> {
        let (before, settings) = (&sandbox.settings, settings(&wanted.changes, here)?);
        let forgotten = Forgotten::of(&wanted.forgotten, sandbox, here)?;
        let list = |name: &str, there: &Option<Vec<String>>, added: Option<Vec<String>>| {
            let there = there.clone().unwrap_or_default();
            let kept =
                if wanted.reset.iter().any(|reset| reset == name) { Vec::new() } else { there.clone() };
            let mut now: Vec<String> = kept.into_iter().filter(|entry| !forgotten.has(entry)).collect();
            for entry in added.into_iter().flatten() {
                if !now.contains(&entry) {
                    now.push(entry);
                }
            }
            (now != there).then_some(now)
        };
        let lists = [&before.read, &before.write, &before.sockets, &before.hosts];
        let lists: Vec<_> = lists.into_iter().flatten().flatten().cloned().collect();
        let mut remarks: Vec<_> = forgotten.unknown(&lists).collect();
        let leaves_hosts = match settings.network {
            Some(kind) => kind != NetworkKind::Hosts,
            None => wanted.reset.iter().any(|reset| reset == "network"),
        };
        // Whoever wants another network does not want these hosts any more.
        let hosts = if leaves_hosts {
            Some(Vec::new())
        } else {
            list("hosts", &before.hosts, settings.hosts.clone())
        };
        let mut network = settings.network;
        if network.is_none() && !leaves_hosts && hosts.as_ref().is_some_and(Vec::is_empty) {
            // Without any host there is no such network, and taking one back gives nothing else.
            network = Some(NetworkKind::None);
            remarks.push(
                "no host is left, so it has no network from now on; `--network all` gives it the whole \
                       network"
                    .into(),
            );
        }
        let settings = SandboxSettings {
            read: list("read", &before.read, settings.read),
            write: list("write", &before.write, settings.write),
            sockets: list("sockets", &before.sockets, settings.sockets),
            hosts,
            network,
            ..settings
        };
        let ask = SetSandbox {
            server_id: server_id(&wanted.server)?,
            sandbox: JsonObject::written(&settings),
            reset: some(&wanted.reset, wanted.reset.is_empty()),
        };
        Ok(Self { ask, remarks })
    }
}

/// Tells how often the person is asked about its calls, and what would change that.
fn questions(sandbox: &SandboxView) -> &'static str {
    match &*sandbox.reach {
        "closed" => "least: it can tell nobody, so nothing private leaves through it",
        "enforced" => "before private data go to it; a yes may be for a whole chat",
        _ => "each time before private data go to it; less often with --network none or --host",
    }
}

pub fn describe(sandbox: &SandboxView, explain: bool) -> String {
    let summary = &sandbox.summary;
    if summary.level == "remote" {
        return summary.held_by.clone();
    }
    let mut lines = vec![
        format!("level    {}", summary.level),
        format!("sandbox  {}", summary.held_by),
        format!("network  {}", network(sandbox)),
        format!("asks     {}", questions(sandbox)),
    ];
    if !sandbox.limits.is_empty() {
        lines.push(format!("limits   {}", sandbox.limits.join(", ")));
    }
    if let Some(refused) = &sandbox.refused {
        lines.push(format!("\nit does not start: {}", flatten(refused)));
    }
    lines.extend(places(sandbox, explain));
    for (title, all) in [("not enforced here", &summary.missing), ("note", &summary.warnings)] {
        if !all.is_empty() {
            lines.push(format!("\n{title}"));
            lines.extend(all.iter().map(|line| format!("  {}", flatten(line))));
        }
    }
    lines.extend(denied(sandbox));
    if explain {
        lines.push(format!("\nenvironment\n  {}", sandbox.env_names.join(" ")));
        lines.push(format!("\nsettings\n  {}", JsonObject::written(&sandbox.settings).0.as_str()));
    }
    lines.join("\n")
}

fn network(sandbox: &SandboxView) -> String {
    match sandbox.summary.network.as_ref() {
        "hosts" => format!("hosts: {}", sandbox.settings.hosts.as_deref().unwrap_or_default().join(", ")),
        word => match sandbox.settings.listen {
            Some(port) => format!("{word}; it may listen on port {port} of 127.0.0.1"),
            None => word.to_owned(),
        },
    }
}

/// The places that it may reach. System files are many and the same for all: they are shown on request.
fn places(sandbox: &SandboxView, explain: bool) -> Vec<String> {
    let all = &sandbox.paths;
    let mut lines = Vec::new();
    for (title, access) in [("may write", "write"), ("may read and execute", "read"), ("devices", "device")] {
        let wanted = |place: &&SandboxPath| place.access == access && (explain || place.why != "system");
        let shown: Vec<_> = all.iter().filter(wanted).collect();
        if !shown.is_empty() {
            lines.push(format!("\n{title}"));
            let line = |place: &&SandboxPath| format!("  {}  ({})", flatten(&place.path), why(place));
            lines.extend(shown.iter().map(line));
        }
    }
    let hidden = &sandbox.hidden;
    if explain && !hidden.is_empty() {
        lines.push(format!("\nlooks empty, but for the above\n  {}", hidden.join("\n  ")));
    }
    if !explain && all.iter().any(|place| place.why == "system") {
        lines.push("  and files of the system (--explain lists them)".into());
    }
    lines
}

/// `granted as /home/me/link`: why it may be reached.
fn why(place: &SandboxPath) -> String {
    match &place.granted_as {
        None => place.why.to_string(),
        Some(name) => format!("granted as {}", flatten(name)),
    }
}

/// The refusals. One that only the server reports is no fact: it could name a place that it would like to have.
fn denied(sandbox: &SandboxView) -> Vec<String> {
    let (told, said): (Vec<_>, Vec<_>) = sandbox.denied.iter().partition(|denied| is_of_kernel(&denied.path));
    let mut lines = under("\nits sandbox refused", &told);
    lines.extend(under(
        "\nits sandbox refused, in the server's own words: grant what you want it to have",
        &said,
    ));
    lines
}

fn under(head: &str, all: &[&DeniedView]) -> Vec<String> {
    if all.is_empty() {
        return Vec::new();
    }
    let mut lines = vec![head.to_owned()];
    for denied in all {
        let what = if denied.write { "write" } else { "read" };
        let advice = match (&denied.allow, &denied.mind) {
            (Some(allow), None) => format!("{allow} allows it"),
            (Some(allow), Some(mind)) => format!("{allow} allows it ({mind})"),
            (None, _) => denied.never.clone().unwrap_or_default(),
        };
        let path = flatten(&denied.path);
        // What is no path says itself what it was for.
        let refused = if path.starts_with('/') { format!("to {what} {path}") } else { path };
        lines.push(format!("  {refused}: {}", flatten(&advice)));
    }
    lines
}

#[cfg(test)]
mod tests {
    use harbor_ipc_proto::client::answer::request_frame;

    use super::super::rig::{command, typed};
    use super::*;

    const SHOWN: &str = r#"{"type":"get_sandbox_result","request_id":"1","sandbox":{"settings":{"read":["/a"],"hosts":["x.org"]},"summary":{"level":"standard","held_by":"landlock 7, seccomp, namespaces","network":"all","missing":[],"warnings":["it reaches the LAN"]},"paths":[{"path":"/usr","access":"read","why":"system"},{"path":"/a","access":"read","why":"granted"},{"path":"/d","access":"write","why":"data"}],"hidden":["/home/me"],"limits":["64 MiB of memory","8 processes and threads"],"env_names":["PATH"],"denied":[{"path":"/b","write":false,"allow":"--read /b"},{"path":"listening on port 9","write":false,"allow":"--listen 9"}]}}"#;

    #[test]
    fn what_a_server_may_do_is_shown() {
        let wanted = Sandbox { server: "x".into(), ..Sandbox::default() };
        let ran = command(false, &[SHOWN], |client, screen| run(client, &wanted, screen));
        assert_eq!(
            ran.printed,
            "level    standard\nsandbox  landlock 7, seccomp, namespaces\nnetwork  all\n\
             asks     each time before private data go to it; less often with --network none or --host\n\
             limits   64 MiB of memory, 8 processes and threads\n\nmay write\n  /d  (data)\n\n\
             may read and execute\n  /a  (granted)\n  and files of the system (--explain lists them)\n\nnote\n  \
             it reaches the LAN\n\nits sandbox refused\n  listening on port 9: --listen 9 allows it\n\n\
             its sandbox refused, in the server's own words: grant what you want it to have\n  to read /b: --read /b allows it\n"
        );
    }

    /// The requests, and the output.
    fn asked(wanted: &Sandbox, sandbox: &str) -> (String, Vec<String>) {
        let sandbox = typed(sandbox);
        let change = Change::of(wanted, &sandbox, Path::new("/here")).unwrap();
        let frame = request_frame("1", &change.ask);
        let text = String::from_utf8_lossy(&frame[4..]).into_owned();
        (text[text.find("\"sandbox\":").unwrap()..].to_owned(), change.remarks)
    }

    #[test]
    fn lists_are_added_to_and_entries_go() {
        let before = r#"{"settings":{"read":["/a","/here/link"]},"paths":[{"path":"/real","why":"granted","granted_as":"/here/link"}]}"#;
        let forget = |words: &[&str]| {
            let forgotten = words.iter().map(ToString::to_string).collect();
            asked(&Sandbox { server: "x".into(), forgotten, ..Sandbox::default() }, before)
        };
        let changes = SandboxSettings { read: Some(vec!["b".into()]), ..SandboxSettings::default() };
        let added = asked(&Sandbox { server: "x".into(), changes, ..Sandbox::default() }, before);
        assert_eq!(added, (r#""sandbox":{"read":["/a","/here/link","/here/b"]}}"#.into(), vec![]));
        assert_eq!(forget(&["/a/"]), (r#""sandbox":{"read":["/here/link"]}}"#.into(), vec![]));
        for name in ["link", "/real", "/real/."] {
            assert_eq!(forget(&[name]), (r#""sandbox":{"read":["/a"]}}"#.into(), vec![]), "{name}");
        }
        assert_eq!(forget(&["/c"]), (r#""sandbox":{}}"#.into(), vec!["/c was not granted".to_owned()]));
    }

    #[test]
    fn hosts_go_with_their_network_and_never_leave_a_wider_one() {
        let before = r#"{"settings":{"network":"hosts","hosts":["x.org"]}}"#;
        let change = |network: Option<NetworkKind>, reset: &[&str], forgotten: &[&str]| {
            let changes = SandboxSettings { network, ..SandboxSettings::default() };
            let [reset, forgotten] =
                [reset, forgotten].map(|words| words.iter().map(ToString::to_string).collect());
            asked(&Sandbox { server: "x".into(), changes, reset, forgotten, ..Sandbox::default() }, before)
        };
        let none = r#""sandbox":{"network":"none","hosts":[]}"#;
        let said = "no host is left, so it has no network from now on; `--network all` gives it the whole \
                    network"
            .to_owned();
        assert_eq!(change(Some(NetworkKind::None), &[], &[]), (format!("{none}}}"), vec![]));
        assert_eq!(
            change(None, &["network"], &[]),
            (r#""sandbox":{"hosts":[]},"reset":["network"]}"#.into(), vec![])
        );
        assert_eq!(
            change(None, &["hosts"], &[]),
            (format!(r#"{none},"reset":["hosts"]}}"#), vec![said.clone()])
        );
        assert_eq!(change(None, &[], &["X.org"]), (format!("{none}}}"), vec![said]));
    }

    #[test]
    fn it_is_said_what_a_change_has_led_to() {
        let told = |restarting: bool, settings: &str| {
            let before = SandboxSettings::parse(r#"{"read":["/a"]}"#).unwrap();
            let answer = format!(r#"{{"restarting":{restarting},"sandbox":{{"settings":{settings}}}}}"#);
            outcome("x", &before, &typed(&answer))
        };
        assert_eq!(told(true, "{}"), "x is being restarted with this");
        assert_eq!(told(false, "{}"), "it takes effect at the next start: `harbor start x`");
        assert_eq!(told(false, r#"{"read":["/a"]}"#), "nothing changed");
    }
}
