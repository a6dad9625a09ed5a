//! The house rules as programs: who may import whom, how long a file may be, where wire types live.
//!
//! The rooms and their numbers are those of ARCHITECTURE.md, which is held to this list.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use super::imports::arrows;
use super::tree::crates;

/// The bridge's rooms by height. A room imports lower ones only.
const ROOMS: &[(&str, u32)] = &[
    ("app", 9),
    ("front", 8),
    ("router", 7),
    ("agent", 6),
    ("engines", 5),
    ("browser", 5),
    ("install", 5),
    ("pages", 5),
    ("scripts", 5),
    ("check", 4),
    ("host", 4),
    ("catalog", 4),
    ("models", 4),
    ("keeper", 3),
    ("supervisor", 3),
    ("oauth_callback", 2),
    ("link", 2),
    ("traces", 2),
    ("store", 2),
    ("config", 1),
    ("alarm", 1),
    ("closing", 1),
    ("observe", 1),
    ("runtimes", 1),
];

/// A file longer than this has an idea in it that wants a room of its own.
const MAX_LINES: usize = 600;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_owned()
}

fn sources(directory: &str) -> Vec<(PathBuf, String)> {
    let mut found = Vec::new();
    let mut todo = vec![root().join(directory)];
    while let Some(directory) = todo.pop() {
        for entry in fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            if path.is_dir() && name != "target" && name != "fuzz_targets" {
                todo.push(path);
            } else if name.ends_with(".rs") {
                found.push((path.clone(), fs::read_to_string(&path).unwrap()));
            }
        }
    }
    assert!(!found.is_empty());
    found
}

pub fn all_sources() -> Vec<(PathBuf, String)> {
    ["ipc-proto", "bridge", "runner", "catalog-worker", "tests"]
        .iter()
        .flat_map(|crate_| sources(crate_))
        .collect()
}

/// The rooms named behind `crate::` in a source, tests included.
fn imported_rooms(source: &str) -> Vec<&'static str> {
    let named = |room: &str| {
        source.contains(&format!("crate::{room}::")) || source.contains(&format!("crate::{room};"))
    };
    ROOMS.iter().map(|(room, _)| *room).filter(|room| named(room)).collect()
}

#[test]
fn imports_go_down() {
    let height = |room: &str| ROOMS.iter().find(|(name, _)| *name == room).map(|(_, height)| *height);
    for (path, source) in sources("bridge/src") {
        let below = path.strip_prefix(root().join("bridge/src")).unwrap();
        let first = below.iter().next().unwrap().to_string_lossy().into_owned();
        let room = first.trim_end_matches(".rs");
        if ["main", "lib"].contains(&room) {
            continue;
        }
        let mine =
            height(room).unwrap_or_else(|| panic!("{room} is no room of the list: {}", path.display()));
        for other in imported_rooms(&source) {
            let theirs = height(other).unwrap();
            assert!(
                other == room || theirs < mine,
                "{}: {room} ({mine}) imports {other} ({theirs})",
                path.display()
            );
        }
        assert!(!source.contains("use crate::{"), "{}: one `use crate::room` a line", path.display());
    }
}

/// However an import is written, it goes down: the arrows are read as the compiler reads paths.
#[test]
fn arrows_between_rooms_go_down() {
    let height = |room: &str| ROOMS.iter().find(|(name, _)| *name == room).map(|(_, height)| *height);
    let (_, modules) = crates().into_iter().find(|(crate_, _)| *crate_ == "bridge/src").unwrap();
    for ((from, to), names) in arrows(&modules) {
        let rooms = (from.first(), to.first());
        let (Some(mine), Some(theirs)) = rooms else { continue };
        assert!(mine == theirs || height(theirs) < height(mine), "{from:?} imports {names:?} of {to:?}");
    }
}

/// A handler reads its message, asks one room and writes its answer.
const HANDLER: usize = 40;

#[test]
fn handlers_are_short() {
    let mut long = Vec::new();
    for (path, source) in sources("bridge/src/router") {
        let mut begun: Option<(usize, &str)> = None;
        for (number, line) in source.lines().enumerate() {
            let head = line.trim_start();
            let is_head = ["fn ", "async fn ", "pub fn ", "pub async fn ", "pub(super) "].iter();
            match begun {
                None if is_head.clone().any(|head_of| head.starts_with(head_of)) && head.contains("fn ") => {
                    begun = Some((number, line));
                }
                Some((at, first)) if line.trim_end() == format!("{}}}", indent(first)) => {
                    if number - at >= HANDLER + 2 && path.file_name().is_none_or(|name| name != "tests.rs") {
                        long.push(format!(
                            "{}: {} has {} lines",
                            path.display(),
                            first.trim(),
                            number - at - 1
                        ));
                    }
                    begun = None;
                }
                _ => {}
            }
        }
    }
    assert!(long.is_empty(), "{HANDLER} lines may be:\n{}", long.join("\n"));
}

fn indent(line: &str) -> &str {
    &line[..line.len() - line.trim_start().len()]
}

/// A change of the command line compiles no bridge, and a change of the bridge no command line.
#[test]
fn the_command_line_and_the_bridge_do_without_each_other() {
    let names = |crate_: &str, other: &str| {
        let manifest = fs::read_to_string(root().join(crate_).join("Cargo.toml")).unwrap();
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

/// The road to a tool is one: whatever has tools is called in one place, with permit and slot in hand.
#[test]
fn one_place_calls_a_source() {
    let gives_up = ".call(permit, slot,";
    let calls: Vec<_> = sources("bridge/src")
        .into_iter()
        .flat_map(|(path, source)| {
            let place = path.strip_prefix(root()).unwrap().to_string_lossy().into_owned();
            let flat = source.split_whitespace().collect::<Vec<_>>().join(" ");
            vec![
                place;
                flat.matches(gives_up).count() + flat.matches("Server::call(&self, permit, slot,").count()
            ]
        })
        .collect();
    // The one call of the seam, and behind it the server's own.
    assert_eq!(calls, ["bridge/src/host/source.rs", "bridge/src/host/source.rs"]);
    for (path, source) in sources("bridge/src") {
        let place = path.strip_prefix(root()).unwrap().to_string_lossy().into_owned();
        let is_below =
            ["bridge/src/supervisor/", "bridge/src/link/"].iter().any(|room| place.starts_with(room));
        assert!(is_below || !source.contains("link.call("), "{place}: a server is called through the host");
    }
}

#[test]
fn the_architecture_document_shows_these_rooms() {
    let document = fs::read_to_string(root().join("ARCHITECTURE.md")).unwrap();
    for (room, height) in ROOMS {
        let row = document.lines().find(|line| {
            let mut cells = line.split('|').map(str::trim).skip(1);
            cells.next() == Some(&height.to_string())
                && cells.next().is_some_and(|names| names.contains(&format!("`{room}`")))
        });
        assert!(row.is_some(), "ARCHITECTURE.md has no row for `{room}` at {height}");
    }
}

#[test]
fn files_are_short_and_say_what_they_own() {
    for (path, source) in all_sources() {
        let lines = source.lines().count();
        assert!(lines <= MAX_LINES, "{}: {lines} lines", path.display());
        assert!(source.starts_with("//!"), "{}: the first line says what the file owns", path.display());
    }
}

#[test]
fn decisions_know_neither_time_nor_the_world() {
    for (path, source) in sources("bridge/policy/src") {
        for banned in ["tokio", "std::fs", "std::net", "std::process", "Instant::now", "SystemTime", "nix::"]
        {
            assert!(!source.contains(banned), "{}: {banned}", path.display());
        }
    }
    for room in ["dialect", "stream"] {
        for (path, source) in sources(&format!("runner/model/src/{room}")) {
            for banned in ["tokio", "std::fs", "std::time", "reqwest"] {
                assert!(!source.contains(banned), "{}: {banned}", path.display());
            }
        }
    }
    for (path, source) in sources("runner/src/mcp") {
        for banned in ["tokio", "std::fs", "std::time", "harbor_child"] {
            assert!(!source.contains(banned), "{}: {banned}", path.display());
        }
    }
}

#[test]
fn wire_types_live_in_ipc_proto() {
    for (path, source) in all_sources() {
        let place = path.strip_prefix(root()).unwrap().to_string_lossy().into_owned();
        if place.starts_with("ipc-proto") || place.ends_with("architecture.rs") {
            continue;
        }
        assert!(!source.contains("bincode"), "{place}: bincode is named by ipc-proto only");
        // What is written to disk, what MCP servers say, and what collectors and providers of models are told have their own
        // places.
        let derives = source.contains("derive(Serialize") || source.contains(", Serialize");
        let own = [
            "bridge/src/store/",
            "bridge/src/traces/",
            "bridge/cli/",
            "bridge/mcp-server/src/http/tokens.rs",
            "runner/model/src/dialect/",
            "tests/",
        ]
        .iter()
        .any(|own| place.starts_with(own));
        assert!(!derives || own, "{place}: a type that is serialised belongs into ipc-proto");
    }
    let ipc_proto = sources("ipc-proto/src");
    for (path, source) in &ipc_proto {
        for banned in ["tokio", "std::net", "std::thread", "std::process"] {
            assert!(!source.contains(banned), "{}: ipc-proto does no I/O ({banned})", path.display());
        }
    }
}

#[test]
fn unsafe_code_is_in_one_place_and_explained() {
    let keyword = ["uns", "afe {"].concat();
    for (path, source) in all_sources() {
        let place = path.strip_prefix(root()).unwrap().to_string_lossy().into_owned();
        let blocks = source.matches(&keyword).count();
        assert!(blocks == 0 || place.starts_with("runner/child/src"), "{place}");
        assert_eq!(
            blocks,
            source.matches("// SAFETY:").count() * usize::from(blocks > 0),
            "{place}: a SAFETY line each"
        );
    }
}

#[test]
fn the_top_level_is_fixed() {
    let allowed = [
        "bridge",
        "runner",
        "catalog-worker",
        "ipc-proto",
        "extension",
        "scripts",
        "tests",
        "docs",
        "target",
    ];
    for entry in fs::read_dir(root()).unwrap() {
        let entry = entry.unwrap();
        let name = entry.file_name().to_string_lossy().into_owned();
        let is_document = [".md", ".toml", ".lock"].iter().any(|end| name.ends_with(end))
            || ["LICENSE", "llms.txt"].contains(&name.as_str());
        assert!(
            name.starts_with('.')
                || if entry.path().is_dir() { allowed.contains(&name.as_str()) } else { is_document },
            "{name} does not belong at the top level"
        );
    }
}

/// What a person can type is tried with a real bridge somewhere.
#[test]
fn every_command_is_in_an_end_to_end_test() {
    let list = fs::read_to_string(root().join("bridge/cli/src/args/tests/commands.txt")).unwrap();
    let commands = list.lines().filter(|line| line.starts_with(|c: char| c.is_lowercase()));
    let commands: BTreeSet<_> = commands.filter_map(|line| line.split(' ').next()).collect();
    assert!(commands.len() > 30, "{commands:?}");
    let tests: String = sources("tests/tests").into_iter().map(|(_, text)| text).collect();
    let missing: Vec<_> =
        commands.into_iter().filter(|command| !tests.contains(&format!("\"{command}\""))).collect();
    assert_eq!(missing, [""; 0], "commands that no file of tests/tests types");
}

/// Without its line in `main.rs` a file of tests is compiled and run by nobody.
#[test]
fn every_file_of_tests_is_a_module_of_its_binary() {
    for binary in ["e2e", "house", "sandbox", "scale"] {
        let directory = root().join("tests/tests").join(binary);
        let main = fs::read_to_string(directory.join("main.rs")).unwrap();
        for entry in fs::read_dir(&directory).unwrap() {
            let entry = entry.unwrap();
            let name = entry.file_name().to_string_lossy().trim_end_matches(".rs").to_owned();
            assert!(
                name == "main" || main.contains(&format!("\nmod {name};\n")),
                "tests/tests/{binary}/main.rs has no `mod {name};`"
            );
        }
    }
}

/// `cargo nextest` runs no tests of documentation, so there are none.
#[test]
fn no_documentation_has_code_that_would_be_a_test() {
    for (path, source) in all_sources() {
        let mut inside = false;
        for line in source.lines().map(str::trim_start) {
            let Some(fence) = line.strip_prefix("//!").or_else(|| line.strip_prefix("///")) else { continue };
            let Some(language) = fence.trim_start().strip_prefix("```") else { continue };
            assert!(inside || language == "text", "{}: mark the block ```text", path.display());
            inside = !inside;
        }
    }
}
