//! The search against the plain reading of all lines.

use std::fs;
use std::path::Path;

use proptest::prelude::*;
use serde_json::Value;

use super::super::files::Limits;
use super::super::record::AuditRecord;
use super::super::record::tests::line;
use super::*;

fn files(dir: &Path) -> AuditFiles {
    AuditFiles::new(&dir.join("audit.jsonl"), Limits { file: 100, old_files: 3 })
}

fn any_record() -> impl Strategy<Value = AuditRecord> {
    let names = ["https://a", "https://b", "client://x", "\"\n{", "owner"];
    let name = || prop::sample::select(names.to_vec());
    // Within what a clock may be set back.
    (SET_BACK..2 * SET_BACK, name(), prop::option::of(name())).prop_map(|(timestamp, by, origin)| {
        AuditRecord { timestamp, by: by.into(), origin: origin.map(Into::into), ..AuditRecord::default() }
    })
}

/// A line of ours, or one that somebody else has written.
fn any_line() -> impl Strategy<Value = String> {
    prop_oneof![
        6 => any_record().prop_map(|record| line(&record)),
        1 => any_record().prop_map(|record| line(&record)[2..].to_owned()),
        1 => "(\\{|\\[|\"|[a-z]|,|\\}){0,9}\n",
    ]
}

fn naive(lines: &str, query: &Query) -> Vec<String> {
    let matches = |line: &&str| {
        let Ok(Value::Object(read)) = serde_json::from_str(line) else { return false };
        let Some(timestamp) = read.get("timestamp").and_then(Value::as_u64) else { return false };
        let is = |name| read.get(name).and_then(Value::as_str) == query.origin.as_deref();
        timestamp >= query.since_ms.unwrap_or(0) && (query.origin.is_none() || is("by") || is("origin"))
    };
    let all: Vec<_> = lines.lines().filter(matches).map(str::to_owned).collect();
    all[all.len().saturating_sub(query.limit)..].to_vec()
}

proptest! {
    #[test]
    fn what_is_found_is_what_a_plain_filter_finds(
        contents in prop::collection::vec(prop::collection::vec(any_line(), 0..12), 1..4),
        torn in "[a-z]{0,3}",
        origin in prop::option::of(prop::sample::select(vec!["https://a", "client://x", "\"\n{", "nobody"])),
        since_ms in prop::option::of(SET_BACK..2 * SET_BACK),
        limit in 0usize..40,
    ) {
        let dir = tempfile::tempdir().unwrap();
        for (n, lines) in contents.iter().rev().enumerate() {
            let name = if n == 0 { "audit.jsonl".into() } else { format!("audit.jsonl.{n}") };
            let torn = if n == 0 { &torn } else { "" };
            fs::write(dir.path().join(name), format!("{}{torn}", lines.concat())).unwrap();
        }
        let query = Query { origin: origin.map(str::to_owned), since_ms, limit };
        let found = read(&files(dir.path()), &query).unwrap();
        prop_assert_eq!(found, naive(&contents.concat().concat(), &query));
    }

    #[test]
    fn blocks_of_any_size_give_the_same_lines(
        lines in prop::collection::vec("[a-z]{0,40}\n", 0..20),
        block in 1u64..100,
    ) {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("lines");
        fs::write(&path, lines.concat()).unwrap();
        let mut found = Vec::new();
        let end = lines.concat().len() as u64;
        let visited = visit(&File::open(&path).unwrap(), end, block, |line| {
            found.push(String::from_utf8(line.to_vec()).unwrap());
            ControlFlow::Continue(())
        });
        prop_assert!(visited.unwrap().is_continue());
        found.reverse();
        let wanted: Vec<_> = lines.iter().map(|line| line.trim_end()).filter(|line| !line.is_empty()).collect();
        prop_assert_eq!(found, wanted);
    }
}

#[test]
fn files_from_before_the_time_asked_for_are_not_read() {
    let dir = tempfile::tempdir().unwrap();
    let at = |hours: u64| line(&AuditRecord { timestamp: hours * SET_BACK, ..AuditRecord::default() });
    fs::write(dir.path().join("audit.jsonl"), [at(1), at(9)].concat()).unwrap();
    fs::write(dir.path().join("audit.jsonl.1"), at(9)).unwrap();
    let query = Query { since_ms: Some(5 * SET_BACK), limit: 9, ..Query::default() };
    assert_eq!(read(&files(dir.path()), &query).unwrap(), [at(9).trim_end()]);
    let all = Query { since_ms: None, ..query };
    assert_eq!(read(&files(dir.path()), &all).unwrap().len(), 3);
}

#[test]
fn no_files_hold_no_lines() {
    let dir = tempfile::tempdir().unwrap();
    let query = Query { limit: 9, ..Query::default() };
    assert_eq!(read(&files(&dir.path().join("none")), &query).unwrap(), Vec::<String>::new());
}
