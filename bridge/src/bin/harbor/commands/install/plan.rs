//! What a person is shown of an installation before the question.
//!
//! Owns the words. What an entry says of itself is other people's: it is shown as text.

use harbor_policy::package::binary::Binary;

use super::super::count;
use super::super::status::mib;
use crate::reply::Members;
use crate::table::flatten;

/// Of a plan, and of the entry that it is about.
pub fn describe(plan: &Members, about: Option<&Members>) -> String {
    let mut lines = Vec::new();
    if let Some(about) = about {
        let from = match about.text("from").as_str() {
            "curated" => "brought along by Harbor".to_owned(),
            from => format!("listed by {}, which says nothing about trust", flatten(from)),
        };
        lines.push(format!("entry      {} ({from})", flatten(&about.text("title"))));
        let said = flatten(&about.text("description"));
        lines.extend((!said.is_empty()).then(|| format!("says       {said}")));
    }
    lines.push(format!("server     {}", plan.text("server_id")));
    let name = flatten(&plan.text("name"));
    match plan.text("kind").as_str() {
        "oci" => lines.push(format!("image      {name}, as it is now; pinned by its id")),
        "remote" => lines.push(format!("elsewhere  {name}")),
        "binary" => lines.push(describe_file(plan, &name)),
        kind => {
            let packages = usize::try_from(plan.number("packages").unwrap_or(0)).unwrap_or(usize::MAX);
            lines.push(format!("package    {name} {} ({kind})", plan.text("version")));
            lines.push(format!("hash       {}", plan.text("integrity")));
            lines.push(format!(
                "with       {}, each locked with its version and hash",
                count(packages, "package")
            ));
        }
    }
    lines.push(format!("may        {}", may(plan)));
    lines.join("\n")
}

/// Of what is downloaded.
fn describe_file(plan: &Members, address: &str) -> String {
    let (file, hash) = (plan.object("file"), plan.text("version"));
    let size = mib(file.number("size").unwrap_or(0));
    let source = plan.text("source");
    let source = source.strip_prefix("binary:").and_then(|text| Binary::read(text).ok()).unwrap_or_default();
    let said = file.strings("vouched_by");
    let mut lines = vec![
        format!("program    {} of {address} ({size})", flatten(&file.text("program"))),
        format!("sha256     {hash}"),
    ];
    if said.iter().any(|said| said == "checksum") {
        lines.push("checked    it is the SHA-256 that you gave".into());
    }
    if let Some(key) = source.key.filter(|_| said.iter().any(|said| said == "signature")) {
        lines.push(format!("signed     by {key}, as each later version has to be"));
    }
    if said.is_empty() {
        lines.push("checked    by nobody: compare the SHA-256 with what its publisher says; --minisign-key checks signatures".into());
    }
    lines.join("\n")
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
                (!paths.is_empty()).then(|| format!(", {what} {}", flatten(&paths.join(", "))))
            });
            format!("sandbox {level}, network {}{}", held.text("network"), granted.collect::<String>())
        }
    }
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
        assert_eq!(describe(&plan, None), text);
        let about = parsed(r#"{"from":"registry","title":"T\u001b[2J","description":"a\nb"}"#);
        assert!(
            describe(&plan, Some(&about)).starts_with(
                "entry      T\\u{1b}[2J (listed by registry, which says nothing about trust)\nsays       a b\n"
            ),
            "{}",
            describe(&plan, Some(&about))
        );
    }

    #[test]
    fn of_a_download_it_is_said_who_vouches_for_it() {
        let plan = |source: &str, by: &str| {
            let json = format!(
                r#"{{"server_id":"notes","kind":"binary","name":"https://h/n","source":"binary:https://h/n#{source}","version":"0a","file":{{"size":1572864,"program":"bin/n","vouched_by":[{by}]}},"sandbox":{{"level":"standard","network":"all"}}}}"#
            );
            describe(&parsed(&json), None)
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
        assert_eq!(
            plan(&format!("minisign={key}"), r#""checksum","signature""#),
            text(&format!(
                "checked    it is the SHA-256 that you gave\nsigned     by {key}, as each later version has to be"
            ))
        );
    }

    #[test]
    fn what_is_no_package_has_neither_version_nor_hash() {
        let image = parsed(
            r#"{"server_id":"t","kind":"oci","name":"mcp/time","sandbox":{"level":"standard","network":"all"}}"#,
        );
        assert_eq!(
            describe(&image, None),
            "server     t\nimage      mcp/time, as it is now; pinned by its id\nmay        sandbox standard, network all"
        );
        let remote = parsed(r#"{"server_id":"t","kind":"remote","name":"https://example.com/mcp?…"}"#);
        assert_eq!(
            describe(&remote, None),
            "server     t\nelsewhere  https://example.com/mcp?…\nmay        see what it is called with; nothing of it runs here"
        );
    }
}
