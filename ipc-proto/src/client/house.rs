//! That whoever speaks this protocol does so by its types: no other file spells a message's type, or reads a field by its name.
//!
//! Looks at the sources of the bridge's edge, of the command line and of the tests' clients; what stands in tests there may say
//! anything, since tests look at the wire itself.

use std::fs;
use std::path::{Path, PathBuf};

use super::{PUSHES, REQUESTS};

/// Whose sources are looked at.
const SPEAKERS: [&str; 9] = [
    "bridge/cli/src",
    "bridge/client/src",
    "bridge/mcp-server/src",
    "bridge/src/front",
    "bridge/src/install",
    "bridge/src/router",
    "tests/src/bench",
    "tests/src/chaos",
    "tests/src/client",
];

/// Files of the command line that read by names, and of what: never of a message.
const READ_BY_NAME: [(&str, &str); 16] = [
    ("content.rs", "MCP's results"),
    ("media.rs", "MCP's results"),
    ("commands/activity.rs", "lines of the audit log"),
    ("commands/ask/chat_request.rs", "MCP's prompts"),
    ("commands/audit.rs", "lines of the audit log"),
    ("commands/call.rs", "MCP's tools"),
    ("commands/call/fit.rs", "JSON Schemas"),
    ("commands/catalog.rs", "packages as in the registry's server.json"),
    ("commands/changes.rs", "MCP's tools"),
    ("commands/complete.rs", "MCP's tools"),
    ("commands/offers.rs", "MCP's resources and prompts"),
    ("commands/result_notes.rs", "MCP's tools"),
    ("commands/switch.rs", "MCP's tools"),
    ("commands/tool_list.rs", "MCP's tools"),
    ("commands/tools.rs", "MCP's tools"),
    ("commands/top/detail.rs", "MCP's tools"),
];

/// A push whose type is also the word for why a tool may not be called.
const ALSO_A_REASON: &str = "tool_changed";

/// How a member is read by its name.
const READERS: [&str; 6] = [".text(\"", ".raw(\"", ".value(\"", ".number(\"", ".object(\"", ".objects(\""];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// Each file's name below `dir`, and its text before its tests.
fn sources(dir: &str) -> Vec<(String, String)> {
    let top = root().join(dir);
    let (mut files, mut dirs) = (Vec::new(), vec![top.clone()]);
    while let Some(dir) = dirs.pop() {
        for entry in fs::read_dir(&dir).unwrap() {
            let path = entry.unwrap().path();
            let name = path.strip_prefix(&top).unwrap().to_str().unwrap().to_owned();
            let is_test = ["tests", "tests.rs", "rig.rs"].iter().any(|end| path.ends_with(end));
            if path.is_dir() && !is_test {
                dirs.push(path);
            } else if name.ends_with(".rs") && !is_test {
                let text = fs::read_to_string(&path).unwrap();
                let code = text.split("\n#[cfg(test)]").next().unwrap().to_owned();
                files.push((name, code));
            }
        }
    }
    assert!(!files.is_empty(), "{dir} has moved");
    files
}

#[test]
fn the_type_of_a_message_is_spelt_where_it_is_defined_and_nowhere_else() {
    // One word may mean other things, too.
    let tags = REQUESTS.iter().chain(PUSHES).map(|message| message.tag);
    let tags = tags.filter(|tag| tag.contains('_') && *tag != ALSO_A_REASON);
    let tags: Vec<_> = tags.flat_map(|tag| [format!("\"{tag}\""), format!("{tag}_result")]).collect();
    for dir in SPEAKERS {
        for (file, code) in sources(dir) {
            let code: String = code.lines().filter(|line| !line.trim_start().starts_with("//")).collect();
            let spelt = tags.iter().find(|tag| code.contains(*tag));
            assert_eq!(spelt, None, "{dir}/{file} spells the type of a message; its type has it as `TAG`");
        }
    }
}

#[test]
fn no_message_is_read_by_the_names_of_its_fields() {
    for (file, code) in sources("bridge/cli/src") {
        let by_name = |reader: &&str| {
            code.match_indices(*reader).any(|(at, _)| {
                let is_field =
                    code[at + reader.len()..].starts_with(|first: char| first.is_ascii_lowercase());
                is_field && !code[..at].ends_with("screen")
            })
        };
        let reads = READERS.iter().copied().find(by_name);
        let is_known = READ_BY_NAME.iter().any(|(known, _)| *known == file);
        assert!(
            reads.is_none() || is_known,
            "{file} reads a member by its name ({reads:?}): a message of the bridge has a type"
        );
    }
}
