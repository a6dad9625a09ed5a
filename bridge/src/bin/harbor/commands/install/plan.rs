//! What a person is shown of an installation before the question.
//!
//! Owns the words. What an entry says of itself is other people's: it is shown as text.

use super::super::count;
use super::super::status;
use super::runs::{self, word};
use super::{asking, entry};
use crate::args::Package;
use crate::reply::Members;
use crate::table::flatten;

/// Of a plan.
pub fn describe(plan: &Members) -> String {
    let mut lines = vec![format!("server     {}", plan.text("server_id"))];
    let name = word(&plan.text("name"));
    match plan.text("kind").as_str() {
        "oci" => lines.push(format!("image      {name}, as it is now; pinned by its id")),
        "remote" => lines.push(format!("elsewhere  {name}")),
        "binary" => lines.push(describe_file(plan, &name)),
        kind => {
            let packages = usize::try_from(plan.number("packages").unwrap_or(0)).unwrap_or(usize::MAX);
            lines.push(format!("package    {name} {} ({kind})", word(&plan.text("version"))));
            lines.push(format!("hash       {}", word(&plan.text("integrity"))));
            lines.push(format!(
                "with       {}, each locked with its version and hash",
                count(packages, "package")
            ));
        }
    }
    lines.extend(runs::describe(&plan.object("runs")));
    lines.push(format!("may        {}", may(plan)));
    lines.extend(opened(plan));
    lines.join("\n")
}

/// Of what is downloaded.
fn describe_file(plan: &Members, address: &str) -> String {
    let file = plan.object("file");
    let size = status::size(file.number("size").unwrap_or(0));
    let program = format!("program    {} of {address} ({size})", word(&file.text("program")));
    let hash = format!("sha256     {}", word(&plan.text("version")));
    [vec![program, hash], vouched(&file)].concat().join("\n")
}

/// Who says that a download is the right file.
pub fn vouched(file: &Members) -> Vec<String> {
    let (said, key) = (file.strings("vouched_by"), word(&file.text("key")));
    let is = |what: &str| said.iter().any(|said| said == what);
    let checksum = is("checksum").then(|| "checked    it is the SHA-256 that you gave".to_owned());
    let signed = is("signature").then(|| format!("signed     by {key}, as each later version has to be"));
    let nobody = said.is_empty().then(|| match file.value("unread_signature") == true {
        true => "checked    by nobody, although a signature lies beside it: --minisign-key checks it by its publisher's key",
        false => "checked    by nobody: compare the SHA-256 with what its publisher says; --minisign-key checks signatures",
    });
    checksum.into_iter().chain(signed).chain(nobody.map(str::to_owned)).collect()
}

/// What it is, and what it says of itself.
pub fn describe_entry(about: &Members) -> Vec<String> {
    let (title, source) = (flatten(&about.text("title")), flatten(&about.text("source")));
    let found_in = flatten(&about.text("found_in"));
    let mut lines = vec![match about.text("from").as_str() {
        "curated" => format!("entry      {title} (brought along by Harbor)"),
        "repository" => format!("found      {found_in} of {source} at {}", about.text("commit")),
        "manifest" => format!("manifest   {source}"),
        from => {
            format!("entry      {title} (listed by {}, which says nothing about trust)", flatten(from))
        }
    }];
    let said = flatten(&about.text("description"));
    lines.extend((!said.is_empty()).then(|| format!("says       {said}")));
    lines.extend(about.strings("notes").iter().map(|note| format!("note       {}", flatten(note))));
    lines
}

/// The same with how it can be had, and what it wants to be told; `package` is what was said already.
pub fn describe_source(about: &Members, package: &Package) -> String {
    let mut lines = describe_entry(about);
    let chosen = about.number("way").and_then(|at| usize::try_from(at).ok());
    for (at, way) in about.objects("ways").iter().enumerate() {
        let source = word(&way.text("source"));
        lines.push(match way.raw("why_not") {
            _ if chosen == Some(at) => format!("source     {source}"),
            None => format!("or         {source}, by --package {}", at + 1),
            // Where none can be gone, all reasons are told at the end.
            Some(_) if chosen.is_none() => continue,
            Some(_) => format!("not here   {source}: {}", flatten(&way.text("why_not"))),
        });
    }
    let Package { inputs, definition, .. } = package;
    lines.extend(wanted(about, "inputs", "--input ", &|name| inputs.contains_key(name)));
    lines.extend(wanted(about, "variables", "--env ", &|name| definition.env.contains_key(name)));
    // Those that the person names are needed, whatever is said of them.
    let of_person = entry::named(package);
    let is_said = |name: &String| {
        of_person.iter().any(|secret| secret.name == *name) || definition.env.contains_key(name)
    };
    lines.extend(wanted(about, "secrets", "the secret ", &is_said));
    lines.extend(of_person.iter().map(|secret| format!("needs      the secret {}", word(&secret.name))));
    lines.join("\n")
}

/// What was not said yet.
fn wanted(about: &Members, list: &str, option: &str, is_said: &dyn Fn(&String) -> bool) -> Vec<String> {
    let line = |one: Members| {
        let needed = if one.value("required") == true { "needs     " } else { "may have  " };
        let default =
            one.raw("default").map(|_| format!("{} where nothing is said", word(&one.text("default"))));
        let details = [flatten(&one.text("description")), asking::may_be(&one), default.unwrap_or_default()];
        let details = details.into_iter().filter(|text| !text.is_empty()).collect::<Vec<_>>().join("; ");
        let details = if details.is_empty() { details } else { format!(": {details}") };
        format!("{needed} {option}{}{details}", word(&one.text("name")))
    };
    about.objects(list).into_iter().filter(|one| !is_said(&one.text("name"))).map(line).collect()
}

/// Why none of its ways can be gone here.
pub fn why_not(about: &Members) -> String {
    let reason =
        |way: &Members| format!("{}: {}", flatten(&way.text("source")), flatten(&way.text("why_not")));
    let reasons = about.objects("ways").iter().map(reason).collect::<Vec<_>>().join("\n");
    format!("{} cannot be installed here\n{reasons}", flatten(&about.text("source")))
}

fn may(plan: &Members) -> String {
    if plan.text("kind") == "remote" {
        return "see what it is called with; nothing of it runs here".into();
    }
    let (held, settings) = (plan.object("sandbox"), plan.object("settings"));
    match held.text("level").as_str() {
        "off" | "basic" => "it can do all that you can".into(),
        level => {
            let places = [("write", "reads and writes"), ("read", "reads"), ("sockets", "connects to")];
            let granted = places.iter().filter_map(|(list, what)| {
                let paths = settings.strings(list);
                let paths = paths.iter().map(|path| word(path)).collect::<Vec<_>>().join(", ");
                (!paths.is_empty()).then(|| format!(", {what} {paths}"))
            });
            format!("sandbox {level}, network {}{}", held.text("network"), granted.collect::<String>())
        }
    }
}

/// What the sandbox opens because an argument names it, beside what it is granted. An image has its own directories.
fn opened(plan: &Members) -> Option<String> {
    let is_held = !["off", "basic"].contains(&plan.object("sandbox").text("level").as_str());
    if !is_held || ["oci", "remote"].contains(&plan.text("kind").as_str()) {
        return None;
    }
    let settings = plan.object("settings");
    let granted = [settings.strings("read"), settings.strings("write")].concat();
    let places = runs::places(&plan.object("runs")).into_iter().filter(|place| !granted.contains(place));
    let places = places.map(|place| word(&place)).collect::<Vec<_>>().join(", ");
    (!places.is_empty()).then(|| format!("may        read what its arguments name: {places}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(json: &str) -> Members {
        Members::parse(json.as_bytes()).unwrap()
    }

    #[test]
    fn a_plan_says_what_where_from_and_what_it_may_do() {
        let plan = parsed(
            r#"{"server_id":"time","kind":"pypi","name":"mcp-server-time","version":"1.2","integrity":"sha256:aa","packages":3,"sandbox":{"level":"standard","network":"all"},"settings":{"read":["/a"],"write":["/b","/c"]}}"#,
        );
        let text = "server     time\npackage    mcp-server-time 1.2 (pypi)\nhash       sha256:aa\n\
             with       3 packages, each locked with its version and hash\n\
             may        sandbox standard, network all, reads and writes /b, /c, reads /a";
        assert_eq!(describe(&plan), text);
        let named = parsed(
            r#"{"server_id":"t","kind":"npm","name":"t","sandbox":{"level":"standard","network":"all"},"settings":{"write":["/b"]},"runs":{"program":"t","args":["/b","--in=/home/me/notes","x"]}}"#,
        );
        assert!(describe(&named).ends_with("/b\nmay        read what its arguments name: /home/me/notes"));
        let about = parsed(r#"{"from":"registry","title":"T\u001b[2J","description":"a\nb"}"#);
        assert_eq!(
            describe_entry(&about),
            ["entry      T\\u{1b}[2J (listed by registry, which says nothing about trust)", "says       a b"]
        );
    }

    #[test]
    fn of_a_download_it_is_said_who_vouches_for_it() {
        let plan = |more: &str, by: &str| {
            let json = format!(
                r#"{{"server_id":"notes","kind":"binary","name":"https://h/n","version":"0a","file":{{"size":1572864,"program":"bin/n","vouched_by":[{by}]{more}}},"sandbox":{{"level":"standard","network":"all"}}}}"#
            );
            describe(&parsed(&json))
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
                "checked    by nobody: compare the SHA-256 with what its publisher says; --minisign-key checks signatures"
            )
        );
        assert!(
            plan(r#","unread_signature":true"#, "")
                .contains("by nobody, although a signature lies beside it")
        );
        assert_eq!(
            plan(&format!(r#","key":"{key}""#), r#""checksum","signature""#),
            text(&format!(
                "checked    it is the SHA-256 that you gave\nsigned     by {key}, as each later version has to be"
            ))
        );
    }

    #[test]
    fn a_repository_says_what_it_wants_or_why_not() {
        let about = parsed(
            r#"{"source":"git:https://h/a","from":"repository","found_in":"mcp-manifest.json","commit":"abc","description":"d\u001b[1m","notes":["n"],"way":1,"ways":[{"source":"mcpb:y","why_not":"no"},{"source":"npm:x"},{"source":"pypi:x"}],"inputs":[],"variables":[{"name":"ZONE","description":"where","required":true,"choices":["here","there"]},{"name":"SAID","required":true},{"name":"MODE","default":"a b"}],"secrets":[{"name":"KEY","required":false}]}"#,
        );
        let mut package = Package::default();
        package.definition.env.insert("SAID".into(), "x".into());
        assert_eq!(
            describe_source(&about, &package),
            "found      mcp-manifest.json of git:https://h/a at abc\nsays       d\\u{1b}[1m\nnote       n\n\
             not here   mcpb:y: no\nsource     npm:x\nor         pypi:x, by --package 3\n\
             needs      --env ZONE: where; one of here, there\nmay have   --env MODE: 'a b' where nothing is said\nmay have   the secret KEY"
        );
        let none = parsed(r#"{"source":"s","ways":[{"source":"npm:x","why_not":"a\nb"}]}"#);
        package.definition.secrets = vec!["KEY".into(), "OTHER".into()];
        package.elsewhere.headers.insert("Authorization".into(), "Bearer ${B}".into());
        let said = describe_source(&about, &package);
        let all = "a b' where nothing is said\nneeds      the secret KEY\nneeds      the secret OTHER\nneeds      the secret B";
        assert!(said.ends_with(all), "{said}");
        assert_eq!(why_not(&none), "s cannot be installed here\nnpm:x: a b");
    }

    #[test]
    fn what_is_no_package_has_neither_version_nor_hash() {
        let image = parsed(
            r#"{"server_id":"t","kind":"oci","name":"mcp/time","sandbox":{"level":"standard","network":"all"}}"#,
        );
        assert_eq!(
            describe(&image),
            "server     t\nimage      mcp/time, as it is now; pinned by its id\nmay        sandbox standard, network all"
        );
        let remote = parsed(r#"{"server_id":"t","kind":"remote","name":"https://example.com/mcp?…"}"#);
        assert_eq!(
            describe(&remote),
            "server     t\nelsewhere  https://example.com/mcp?…\nmay        see what it is called with; nothing of it runs here"
        );
    }
}
