//! No circles among the modules of the crates beside the bridge, and of some of its rooms: in each directory below a module
//! imports only modules of the rows before its own. The inside of a module's own directory is its own business, but for those
//! that are listed, too.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// The modules of a directory, the lowest first.
struct Floors {
    dir: &'static str,
    /// Where the directory is in its crate.
    below: &'static [&'static str],
    rows: &'static [&'static [&'static str]],
}

const ALL: &[Floors] = &[
    Floors {
        dir: "bridge/home/src",
        below: &[],
        rows: &[
            &["clock", "date", "files", "lock", "mounted", "places"],
            &["paths"],
            &["parent_directories", "copied", "instance"],
            &["dial"],
        ],
    },
    Floors {
        dir: "bridge/client/src",
        below: &[],
        rows: &[&["payload", "settings", "terminal"], &["errors"], &["error_hints", "id", "reply"]],
    },
    Floors {
        dir: "bridge/client-configs/src",
        below: &[],
        rows: &[
            &["entry", "extensions", "names", "placeholders", "swap"],
            &["browsers", "clients", "jsonc", "launch", "toml"],
            &["remote_entries", "engine"],
            &["servers"],
        ],
    },
    Floors {
        dir: "bridge/mcp-server/src",
        below: &[],
        rows: &[
            &["line", "target", "write"],
            &["names", "uris"],
            &["directory"],
            &["want", "watches"],
            &["lazy", "questions"],
            &["machine"],
            &["driver"],
            &["http", "stdio"],
        ],
    },
    Floors {
        dir: "bridge/mcp-server/src/http",
        below: &["http"],
        rows: &[
            &["connections", "tokens"],
            &["reply", "routes"],
            &["single_request", "body", "gate"],
            &["message", "parked", "places", "sessions"],
            &["server"],
            &["exchange", "listen"],
            &["post"],
        ],
    },
    Floors {
        dir: "bridge/cli/src",
        below: &[],
        rows: &[
            &["check", "client", "consent", "diff", "pretty", "table", "when"],
            &["inset", "media", "wrap"],
            &["content", "screen"],
            &["args"],
            &["manual", "reference"],
            &["commands"],
        ],
    },
    Floors {
        dir: "bridge/cli/src/commands",
        below: &["commands"],
        rows: &[
            &[
                "definition_secrets",
                "arguments",
                "follow",
                "ids",
                "mcp",
                "metrics",
                "unreachable_places",
                "places",
                "printing",
                "progress",
                "remote",
                "restarts",
                "signals",
                "tool_list",
            ],
            &[
                "approvals",
                "bridge",
                "changes",
                "complete",
                "config",
                "events",
                "logs",
                "patterns",
                "sessions",
            ],
            &["grants"],
            &["audit", "catalog", "completions", "result_notes"],
            &["activity", "clients", "list", "servers", "service", "stats", "tools"],
            &["add", "call", "native_host", "status", "switch"],
            &["doctor", "edit", "import", "offers", "sandbox", "set"],
            &["setup", "top", "uninstall"],
            &["turn"],
            &["ask", "secrets"],
            &["auth", "chat", "models"],
            &["install"],
            &["upgrade"],
        ],
    },
    Floors {
        dir: "bridge/cli/src/commands/top",
        below: &["commands", "top"],
        rows: &[
            &["act", "history", "key", "link", "terminal"],
            &["facts", "requests", "scroll"],
            &["order", "words"],
            &["row"],
            &["flow"],
            &["detail"],
            &["model"],
            &["draw", "keys", "page", "bridge_requests"],
        ],
    },
    Floors {
        dir: "bridge/cli/src/commands/turn",
        below: &["commands", "turn"],
        rows: &[&["cards", "console", "ending", "question", "stop"]],
    },
    Floors {
        dir: "bridge/cli/src/commands/install",
        below: &["commands", "install"],
        rows: &[
            &["runs"],
            &["asking", "closed_places", "document", "declared_secret"],
            &["plan"],
            &["entry"],
            &["network"],
        ],
    },
    Floors {
        dir: "bridge/src/install",
        below: &["install"],
        rows: &[
            &[
                "audit_record",
                "declared",
                "failures",
                "read_source",
                "sandbox_settings",
                "source_kinds",
                "start_preview",
                "trial",
            ],
            &["definition", "differences", "secrets", "staged", "trial_advice"],
            &["installations", "package_request", "remote_definition"],
            &["claims", "direct_request", "kept_values", "looking", "next_try", "programs", "replacing"],
            &["adding", "arguments", "direct", "entries", "installed", "removing", "sandbox_change"],
            &["filling", "planning", "supervision_change", "switching"],
            &["packages", "upgrades"],
            &["sources"],
        ],
    },
    Floors {
        dir: "bridge/src/router",
        below: &["router"],
        rows: &[
            &["credential_view", "feed", "open_questions", "read_only", "refusals", "reply", "views"],
            &["client"],
            &["clients", "flows", "progress_reporter", "steps"],
            &["state"],
            &[
                "agent",
                "approvals",
                "catalog",
                "config",
                "definitions",
                "grants",
                "install",
                "oauth",
                "pending_reply",
                "questions",
                "sandbox",
                "secret_store",
                "servers",
                "session",
                "site_secrets",
                "status",
            ],
            &[
                "agent_runs",
                "confirming",
                "credentials",
                "mcp_client",
                "metrics",
                "models",
                "origins",
                "watching",
            ],
            &["mcp", "tool_sources"],
            &["dispatch"],
            &["calling"],
            &["receiving"],
        ],
    },
];

/// Each module below a directory as its path in the crate, and its text without comments and tests.
fn modules(dir: &Path, path: &[String], found: &mut Vec<(Vec<String>, String)>) {
    for entry in fs::read_dir(dir).unwrap() {
        let entry = entry.unwrap().path();
        let name = entry.file_stem().unwrap().to_string_lossy().into_owned();
        if ["tests", "rig", "main", "lib", "mod"].contains(&name.as_str()) {
            continue;
        }
        let path = [path, &[name]].concat();
        if entry.is_dir() {
            modules(&entry, &path, found);
        } else if entry.extension().is_some_and(|end| end == "rs") {
            let text = fs::read_to_string(&entry).unwrap();
            let text = text.split("\n#[cfg(test)]").next().unwrap().to_owned();
            let code = text.lines().filter(|line| !line.trim_start().starts_with("//"));
            found.push((path, code.collect::<Vec<_>>().join("\n")));
        }
    }
}

/// `a::{b, c::d}` as `a::b` and `a::c::d`.
fn each(tree: &str) -> Vec<String> {
    let Some((before, inside)) = tree.split_once('{') else { return vec![tree.to_owned()] };
    let inside = inside.strip_suffix('}').unwrap_or(inside);
    let (mut depth, mut all, mut one) = (0, Vec::new(), String::new());
    for c in inside.chars() {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            _ => {}
        }
        match c {
            ',' if depth == 0 => all.push(std::mem::take(&mut one)),
            _ => one.push(c),
        }
    }
    all.push(one);
    all.iter().filter(|one| !one.is_empty()).flat_map(|one| each(&format!("{before}{one}"))).collect()
}

/// Every path of this crate that a text names, as it is written.
fn named(code: &str) -> Vec<String> {
    let mut all = Vec::new();
    for piece in code.split(';') {
        let start = piece
            .find("use ")
            .filter(|at| piece[..*at].trim_end().is_empty() || piece[..*at].ends_with('\n'));
        if let Some(at) = start {
            let tree: String = piece[at + 4..].chars().filter(|c| !c.is_whitespace()).collect();
            all.extend(each(&tree));
        }
        for word in piece.split(|c: char| !(c.is_alphanumeric() || c == '_' || c == ':')) {
            all.push(word.to_owned());
        }
    }
    all
}

/// What a written path means, from the top of the crate; `None` where it is of another crate.
fn resolved(written: &str, module: &[String]) -> Option<Vec<String>> {
    let mut parts: Vec<_> = written.split("::").collect();
    let mut base = match *parts.first()? {
        "crate" => Vec::new(),
        "self" | "super" => module.to_vec(),
        _ => return None,
    };
    while let Some(&first) = parts.first()
        && ["crate", "self", "super"].contains(&first)
    {
        if first == "super" {
            base.pop();
        }
        parts.remove(0);
    }
    base.extend(parts.iter().map(|part| (*part).to_owned()));
    Some(base)
}

#[test]
fn modules_import_only_what_lies_below_them() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    for Floors { dir, below, rows } in ALL {
        let row = |name: &str| rows.iter().position(|row| row.contains(&name));
        let below: Vec<_> = below.iter().map(|part| (*part).to_owned()).collect();
        let (mut found, mut seen) = (Vec::new(), BTreeSet::new());
        modules(&root.join(dir), &below, &mut found);
        for (module, code) in found {
            let name = module[below.len()].clone();
            let mine = row(&name).unwrap_or_else(|| panic!("{dir}: {name} is in no row"));
            seen.insert(name.clone());
            for path in named(&code).iter().filter_map(|written| resolved(written, &module)) {
                let Some(other) = path.strip_prefix(&*below).and_then(|rest| rest.first()) else { continue };
                let theirs = row(other).filter(|_| *other != name);
                assert!(
                    theirs.is_none_or(|theirs| theirs < mine),
                    "{dir}: {name} (row {mine}) imports {other}, which is not in a row before"
                );
            }
        }
        let gone: Vec<_> = rows.concat().into_iter().filter(|name| !seen.contains(*name)).collect();
        assert_eq!(gone, [""; 0], "{dir}: these are no modules any more");
    }
}

/// Whoever changes the command line compiles no bridge, and the reverse.
#[test]
fn the_command_line_and_the_bridge_do_without_each_other() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let names = |crate_: &str, other: &str| {
        let manifest = fs::read_to_string(root.join(crate_).join("Cargo.toml")).unwrap();
        manifest.lines().any(|line| line.split(['.', ' ']).next() == Some(other))
    };
    for crate_ in ["bridge/cli", "bridge/mcp-server", "bridge/client", "bridge/client-configs", "bridge/home"]
    {
        assert!(!names(crate_, "harbor-bridge"), "{crate_} depends on the bridge");
    }
    for other in ["harbor-cli", "harbor-mcp-server", "harbor-client"] {
        assert!(!names("bridge", other), "the bridge depends on {other}");
    }
    assert!(names("bridge/cli", "harbor-home") && names("bridge", "harbor-home"));
}

#[test]
fn paths_are_read_as_the_compiler_reads_them() {
    assert_eq!(each("a::{b,c::{d,e}}"), ["a::b", "a::c::d", "a::c::e"]);
    let module = ["commands".to_owned(), "top".to_owned(), "draw".to_owned()];
    let of = |written: &str| resolved(written, &module).map(|path| path.join("::"));
    assert_eq!(of("super::super::add::some").as_deref(), Some("commands::add::some"));
    assert_eq!(of("crate::args").as_deref(), Some("args"));
    assert_eq!(of("std::fs"), None);
}
