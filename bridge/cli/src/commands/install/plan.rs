//! The description of an installation that a person sees before the question.
//!
//! Owns the words. An entry's own description is other people's: it is shown as text.

use harbor_ipc_proto::client::{
    DeclaredView, FileView, InstalledView, PythonView, ResolvedView, SandboxSettings, WayView,
};
use harbor_policy::curated;
use harbor_policy::package::older::UnfitVersion;
use harbor_policy::package::source;
use harbor_policy::pythons::Chosen;

use super::super::printing::count;
use super::super::status;
use super::asking;
use super::declared_secret::named;
use super::runs::{self, word};
use crate::args::Package;
use crate::table::flatten;

/// Describes a plan.
pub fn describe(plan: &InstalledView) -> String {
    let mut lines = vec![format!("server     {}", plan.server_id)];
    let name = word(&plan.name);
    match plan.kind.as_ref() {
        "oci" => lines.push(format!("image      {name}, the current one, locked by its id")),
        "remote" => lines.push(format!("remote     {name}")),
        "binary" => lines.push(describe_file(plan, &name)),
        kind => {
            let packages = usize::try_from(plan.packages.unwrap_or(0)).unwrap_or(usize::MAX);
            lines.push(format!("package    {name} {} ({kind})", text(&plan.version)));
            lines.extend(plan.registry.iter().map(|registry| format!("from       {}", flatten(registry))));
            lines.push(format!("hash       {}", text(&plan.integrity)));
            lines.push(format!(
                "with       {}, each locked with its version and hash",
                count(packages, "package")
            ));
        }
    }
    lines.extend(
        runs_with(plan.python.as_ref()).into_iter().chain(older(plan)).map(|why| format!("note       {why}")),
    );
    lines.extend(plan.runs.iter().flat_map(runs::describe));
    lines.push(format!("may        {}", may(plan)));
    lines.extend(opened(plan));
    lines.join("\n")
}

/// A note that it runs with another Python, or Node, than the usual one.
pub fn runs_with(python: Option<&PythonView>) -> Option<String> {
    let PythonView { requires, version, path } = python?;
    let (version, path) = (word(version.as_ref()?), flatten(path.as_ref()?));
    let what = Chosen::called(&path);
    Some(format!("runs with {what} {version}, since it requires {}: {path}", flatten(requires)))
}

/// A note that it is an old version, and which is not.
pub fn older(plan: &InstalledView) -> Option<String> {
    let version = plan.version.as_deref().unwrap_or_default();
    is_older((&plan.kind, version), plan.newest.as_ref(), plan.python.as_ref())
}

/// A note if a version of this kind of package is an old one, and which is not.
pub fn is_older(
    (kind, version): (&str, &str),
    newest: Option<&String>,
    python: Option<&PythonView>,
) -> Option<String> {
    let lacking = python.filter(|python| python.path.is_none());
    let requires = lacking.map(|python| flatten(&python.requires));
    UnfitVersion { newest: newest.map(|newest| word(newest)), requires }.sentence(kind, &word(version))
}

/// A note for a source that names only a package: Harbor brings along what that package needs to run.
pub fn known(source: &str) -> Option<String> {
    let id = curated::of_package(&source::read(source, &[]).ok()?)?.id;
    Some(format!("Harbor knows what this server needs: `harbor install {id}` gives it that"))
}

/// A word that may be absent.
fn text(word_or_none: &Option<String>) -> String {
    word(word_or_none.as_deref().unwrap_or_default())
}

/// Describes a file that is downloaded.
fn describe_file(plan: &InstalledView, address: &str) -> String {
    let hash = format!("sha256     {}", text(&plan.version));
    let Some(file) = &plan.file else { return format!("program    of {address}\n{hash}") };
    let program = format!("program    {} of {address} ({})", word(&file.program), status::size(file.size));
    [vec![program, hash], vouched(file)].concat().join("\n")
}

/// The checks by which a download is the right file.
pub fn vouched(file: &FileView) -> Vec<String> {
    let (said, key) = (&file.vouched_by, text(&file.key));
    let is = |what: &str| said.iter().any(|said| said == what);
    let checksum = is("checksum").then(|| "checked    matches your SHA-256".to_owned());
    let signed = is("signature").then(|| format!("signed     by {key}; later versions must be, too"));
    let nobody = said.is_empty().then(|| match file.unread_signature == Some(true) {
        true => "checked    by nobody, although there is a signature: check it with --minisign-key and the publisher's key",
        false => "checked    by nobody: compare the SHA-256 with the publisher's; --minisign-key checks signatures",
    });
    checksum.into_iter().chain(signed).chain(nobody.map(str::to_owned)).collect()
}

/// Describes an entry, with its own words.
pub fn describe_entry(about: &ResolvedView) -> Vec<String> {
    let plain = |text: &Option<String>| flatten(text.as_deref().unwrap_or_default());
    let (title, source) = (plain(&about.title), flatten(&about.source));
    let found_in = plain(&about.found_in);
    let mut lines = vec![match about.from.as_str() {
        "curated" => format!("entry      {title} (comes with Harbor)"),
        "repository" => {
            format!("found      {found_in} of {source} at {}", about.commit.as_deref().unwrap_or_default())
        }
        "manifest" => format!("manifest   {source}"),
        from => {
            format!("entry      {title} (listed by {}, not reviewed)", flatten(from))
        }
    }];
    let said = plain(&about.description);
    lines.extend((!said.is_empty()).then(|| format!("says       {said}")));
    lines.extend(about.notes.iter().map(|note| format!("note       {}", flatten(note))));
    lines
}

/// Describes an entry with its sources and the values that it asks for; `package` has the values that were
/// typed already.
pub fn describe_source(about: &ResolvedView, package: &Package) -> String {
    let mut lines = describe_entry(about);
    let chosen = about.way.and_then(|at| usize::try_from(at).ok());
    for (at, way) in about.ways.iter().enumerate() {
        let source = word(&way.source);
        lines.push(match &way.why_not {
            _ if chosen == Some(at) => format!("source     {source}"),
            None => format!("or         {source}, by --package {}", at + 1),
            // Where none can be gone, all reasons are told at the end.
            Some(_) if chosen.is_none() => continue,
            Some(why) => format!("not here   {source}: {}", flatten(why)),
        });
    }
    let Package { inputs, definition, .. } = package;
    lines.extend(wanted(&about.inputs, "--input ", &|name| inputs.contains_key(name)));
    lines.extend(wanted(&about.variables, "--env ", &|name| definition.env.contains_key(name)));
    // Those that the person names are needed, whatever is said of them.
    let of_person = named(package);
    let is_said = |name: &String| {
        of_person.iter().any(|secret| secret.name == *name) || definition.env.contains_key(name)
    };
    lines.extend(wanted(&about.secrets, "the secret ", &is_said));
    lines.extend(of_person.iter().map(|secret| format!("requires   the secret {}", word(&secret.name))));
    lines.join("\n")
}

/// The values that were not given yet.
fn wanted(list: &[DeclaredView], option: &str, is_said: &dyn Fn(&String) -> bool) -> Vec<String> {
    let line = |one: &DeclaredView| {
        let needed = if one.required { "needs     " } else { "may have  " };
        let default = one.default.as_ref();
        let default = default.map(|default| format!("{} by default", word(default)));
        let details = [flatten(&one.description), asking::may_be(one), default.unwrap_or_default()];
        let details = details.into_iter().filter(|text| !text.is_empty()).collect::<Vec<_>>().join("; ");
        let details = if details.is_empty() { details } else { format!(": {details}") };
        format!("{needed} {option}{}{details}", word(&one.name))
    };
    list.iter().filter(|one| !is_said(&one.name)).map(line).collect()
}

/// Why none of its ways can be gone here.
pub fn why_not(about: &ResolvedView) -> String {
    let reason = |way: &WayView| {
        format!("{}: {}", flatten(&way.source), flatten(way.why_not.as_deref().unwrap_or_default()))
    };
    let reasons = about.ways.iter().map(reason).collect::<Vec<_>>().join("\n");
    format!("{} cannot be installed here\n{reasons}", flatten(&about.source))
}

fn may(plan: &InstalledView) -> String {
    if plan.kind == "remote" {
        return "see the arguments of calls; it does not run here".into();
    }
    let (level, network) = plan.sandbox.as_ref().map_or(("", ""), |held| (&held.level, &held.network));
    let settings = plan.settings.clone().unwrap_or_default();
    match level {
        "off" | "basic" => "do everything that you can".into(),
        level => {
            let SandboxSettings { read, write, sockets, .. } = settings;
            let places = [(write, "reads and writes"), (read, "reads"), (sockets, "connects to")];
            let granted = places.iter().filter_map(|(paths, what)| {
                let paths = paths.iter().flatten().map(|path| word(path)).collect::<Vec<_>>().join(", ");
                (!paths.is_empty()).then(|| format!(", {what} {paths}"))
            });
            format!("sandbox {level}, network {network}{}", granted.collect::<String>())
        }
    }
}

/// The places that the sandbox opens because an argument names them, besides the granted ones. None for an
/// image, which has its own directories.
fn opened(plan: &InstalledView) -> Option<String> {
    let level = plan.sandbox.as_ref().map_or("", |held| &held.level);
    let is_held = !["off", "basic"].contains(&level);
    if !is_held || ["oci", "remote"].contains(&plan.kind.as_ref()) {
        return None;
    }
    let settings = plan.settings.as_ref();
    let granted: Vec<_> =
        settings.iter().flat_map(|said| [&said.read, &said.write]).flatten().flatten().cloned().collect();
    let places = plan.runs.iter().flat_map(runs::places).filter(|place| !granted.contains(place));
    let places = places.map(|place| word(&place)).collect::<Vec<_>>().join(", ");
    (!places.is_empty()).then(|| format!("may        read the paths in its arguments: {places}"))
}

#[cfg(test)]
mod tests {
    use super::super::super::rig::typed;
    use super::*;

    #[test]
    fn a_plan_says_what_where_from_and_what_it_may_do() {
        let plan = typed(
            r#"{"server_id":"time","kind":"pypi","name":"mcp-server-time","version":"1.2","integrity":"sha256:aa","packages":3,"sandbox":{"level":"standard","network":"all"},"settings":{"read":["/a"],"write":["/b","/c"]}}"#,
        );
        let text = "server     time\npackage    mcp-server-time 1.2 (pypi)\nhash       sha256:aa\n\
             with       3 packages, each locked with its version and hash\n\
             may        sandbox standard, network all, reads and writes /b, /c, reads /a";
        assert_eq!(describe(&plan), text);
        let note = "Harbor knows what this server needs: `harbor install playwright` gives it that";
        assert_eq!(known("npm:@playwright/mcp@latest").as_deref(), Some(note));
        assert_eq!(known("npm:@playwright/other"), None);
        let old = typed(r#"{"server_id":"t","kind":"pypi","name":"t","version":"1","newest":"2"}"#);
        assert!(describe(&old).contains("\nnote       1 is not the newest version: 2 requires"));
        let with = |python: &str| {
            let json = format!(
                r#"{{"server_id":"t","kind":"pypi","name":"t","version":"1","newest":"2","python":{python}}}"#
            );
            describe(&typed(&json))
        };
        let line = "\nnote       runs with Python 3.12.1, since it requires >=3.12: /p/python3.12\nnote       1 is not";
        assert!(with(r#"{"requires":">=3.12","version":"3.12.1","path":"/p/python3.12"}"#).contains(line));
        let line =
            "2 requires Python >=3.12, which this machine does not have; install Python 3.12 or newer, e.g.";
        assert!(with(r#"{"requires":">=3.12"}"#).contains(line));
        let named = typed(
            r#"{"server_id":"t","kind":"npm","name":"t","sandbox":{"level":"standard","network":"all"},"settings":{"write":["/b"]},"runs":{"program":"t","args":["/b","--in=/home/me/notes","x"]}}"#,
        );
        assert!(describe(&named).ends_with("/b\nmay        read the paths in its arguments: /home/me/notes"));
        let about = typed(r#"{"from":"registry","title":"T\u001b[2J","description":"a\nb"}"#);
        assert_eq!(
            describe_entry(&about),
            ["entry      T\\u{1b}[2J (listed by registry, not reviewed)", "says       a b"]
        );
    }

    #[test]
    fn of_a_download_it_is_said_who_vouches_for_it() {
        let plan = |more: &str, by: &str| {
            let json = format!(
                r#"{{"server_id":"notes","kind":"binary","name":"https://h/n","version":"0a","file":{{"size":1572864,"program":"bin/n","vouched_by":[{by}]{more}}},"sandbox":{{"level":"standard","network":"all"}}}}"#
            );
            describe(&typed(&json))
        };
        let key = "RWQf6LRCGA9i53mlYecO4IzT51TGPpvWucNSCh1CBM0QTaLn73Y7GFO3";
        let text = |checked: &str| {
            format!(
                "server     notes\nprogram    bin/n of https://h/n (1.5 MiB)\nsha256     0a\n{checked}\n\
                 may        sandbox standard, network all"
            )
        };
        assert_eq!(
            plan("", ""),
            text(
                "checked    by nobody: compare the SHA-256 with the publisher's; --minisign-key checks signatures"
            )
        );
        assert!(plan(r#","unread_signature":true"#, "").contains("by nobody, although there is a signature"));
        assert_eq!(
            plan(&format!(r#","key":"{key}""#), r#""checksum","signature""#),
            text(&format!(
                "checked    matches your SHA-256\nsigned     by {key}; later versions must be, too"
            ))
        );
    }

    #[test]
    fn a_repository_says_what_it_wants_or_why_not() {
        let about = typed(
            r#"{"source":"git:https://h/a","from":"repository","found_in":"mcp-manifest.json","commit":"abc","description":"d\u001b[1m","notes":["n"],"way":1,"ways":[{"source":"mcpb:y","why_not":"no"},{"source":"npm:x"},{"source":"pypi:x"}],"inputs":[],"variables":[{"name":"ZONE","description":"where","required":true,"choices":["here","there"]},{"name":"SAID","required":true},{"name":"MODE","default":"a b"}],"secrets":[{"name":"KEY","required":false}]}"#,
        );
        let mut package = Package::default();
        package.definition.env.insert("SAID".into(), "x".into());
        assert_eq!(
            describe_source(&about, &package),
            "found      mcp-manifest.json of git:https://h/a at abc\nsays       d\\u{1b}[1m\nnote       n\n\
             not here   mcpb:y: no\nsource     npm:x\nor         pypi:x, by --package 3\n\
             needs      --env ZONE: where; one of here, there\nmay have   --env MODE: 'a b' by default\nmay have   the secret KEY"
        );
        let none = typed(r#"{"source":"s","ways":[{"source":"npm:x","why_not":"a\nb"}]}"#);
        package.definition.secrets = vec!["KEY".into(), "OTHER".into()];
        package.remote.headers.insert("Authorization".into(), "Bearer ${B}".into());
        let said = describe_source(&about, &package);
        let all = "a b' by default\nrequires   the secret KEY\nrequires   the secret OTHER\nrequires   the secret B";
        assert!(said.ends_with(all), "{said}");
        assert_eq!(why_not(&none), "s cannot be installed here\nnpm:x: a b");
    }

    #[test]
    fn what_is_no_package_has_neither_version_nor_hash() {
        let image = typed(
            r#"{"server_id":"t","kind":"oci","name":"mcp/time","sandbox":{"level":"standard","network":"all"}}"#,
        );
        assert_eq!(
            describe(&image),
            "server     t\nimage      mcp/time, the current one, locked by its id\nmay        sandbox standard, network all"
        );
        let remote = typed(r#"{"server_id":"t","kind":"remote","name":"https://example.com/mcp?…"}"#);
        assert_eq!(
            describe(&remote),
            "server     t\nremote     https://example.com/mcp?…\nmay        see the arguments of calls; it does not run here"
        );
    }
}
