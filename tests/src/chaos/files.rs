//! What is on disk after a storm: nothing torn, nothing half done. Nothing may run any more.

use std::fs;
use std::path::{Path, PathBuf};

use harbor_tests::Home;
use rusqlite::Connection;
use serde_json::Value;

use crate::link::is_token;

/// Everything that is wrong with the files of this home.
pub fn faults(home: &Home) -> Vec<String> {
    let files = files_below(&home.path());
    let mut faults: Vec<String> = files.iter().filter_map(|path| half_done(path)).collect();
    faults.extend(database(&home.path().join("harbor.db")));
    faults.extend(fs::read_to_string(home.run_file("token")).ok().and_then(|text| token(&text)));
    let logs = home.path().join("logs");
    let of_servers = files.iter().filter(|path| path.starts_with(logs.join("servers")));
    faults.extend(of_servers.flat_map(|path| torn_lines(path)));
    faults.extend(panics(&logs.join("bridge.log")));
    faults
}

fn files_below(dir: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(dir).into_iter().flatten().flatten();
    let below = entries.flat_map(|entry| match entry.file_type() {
        Ok(kind) if kind.is_dir() => files_below(&entry.path()),
        _ => vec![entry.path()],
    });
    below.collect()
}

fn half_done(path: &Path) -> Option<String> {
    path.extension().is_some_and(|end| end == "new").then(|| format!("left half done: {}", path.display()))
}

fn database(path: &Path) -> Option<String> {
    let check = || -> rusqlite::Result<String> {
        Connection::open(path)?.query_row("PRAGMA integrity_check", [], |row| row.get(0))
    };
    match check() {
        Ok(answer) if answer == "ok" => None,
        other => Some(format!("{}: {other:?}", path.display())),
    }
}

fn token(text: &str) -> Option<String> {
    (!is_token(text)).then(|| format!("run/token has {} bytes and is no token", text.len()))
}

/// Lines that are no JSON object. The last one may be torn, by the end of its bridge.
fn torn_lines(path: &Path) -> Vec<String> {
    let text = fs::read(path).unwrap_or_default();
    let whole = text.iter().rposition(|byte| *byte == b'\n').unwrap_or(0);
    let lines = text[..whole].split(|byte| *byte == b'\n').enumerate();
    let is_torn = |line: &[u8]| !serde_json::from_slice::<Value>(line).is_ok_and(|value| value.is_object());
    let torn = lines.filter(|(_, line)| !line.is_empty() && is_torn(line));
    torn.map(|(number, _)| format!("{}: line {} is torn", path.display(), number + 1)).take(3).collect()
}

fn panics(log: &Path) -> Option<String> {
    let text = fs::read(log).unwrap_or_default();
    let text = String::from_utf8_lossy(&text);
    let at = text.find("panicked at")?;
    Some(format!("the bridge panicked: {}", text[at..].lines().take(3).collect::<Vec<_>>().join(" ")))
}

/// The end of the bridge's log, for whoever has to find out what broke.
pub fn last_words(home: &Home) -> String {
    let text = fs::read(home.path().join("logs/bridge.log")).unwrap_or_default();
    let text = String::from_utf8_lossy(&text).into_owned();
    let lines: Vec<_> = text.lines().collect();
    lines[lines.len().saturating_sub(40)..].join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn torn_files_are_found() {
        let dir = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| {
            let path = dir.path().join(name);
            fs::write(&path, text).unwrap();
            path
        };
        assert_eq!(torn_lines(&write("a", "{\"a\":1}\n{\"b\":2}\n{\"c")), Vec::<String>::new());
        assert_eq!(torn_lines(&write("b", "{\"a\":1}\n{\"b\n{\"c\":1}\n")).len(), 1);
        assert!(half_done(&write("token.new", "")).is_some() && half_done(&write("token", "")).is_none());
        assert!(database(&write("db", &"no database ".repeat(100))).is_some());
        assert_eq!(database(&dir.path().join("fresh")), None);
        assert!(token("").is_some() && token(&"0f".repeat(32)).is_none());
        assert!(panics(&write("log", "a\nthread panicked at x\n")).is_some());
        assert_eq!(files_below(dir.path()).len(), 7);
    }
}
