//! The journal: what is written is read, damage is noticed, and the database agrees.

use super::super::database::connect;
use super::super::{definition_table, locks, programs, written_places};
use super::*;

fn content() -> JournalContent {
    let definitions = [("a", "{\"command\":\"x\\ny\"}"), ("b", "not even JSON\n")];
    JournalContent {
        definitions: definitions.map(|(id, definition)| (id.to_owned(), definition.to_owned())).into(),
        locks: vec![
            LockRow { server_id: "a".into(), current: "0f".repeat(32), previous: Some("1e".repeat(32)) },
            LockRow { server_id: "b".into(), ..LockRow::default() },
        ],
        written: vec!["/c d/é".into(), "/\u{2028}".into()],
        programs: vec![ProgramRow { server_id: "a".into(), program: "npm x".into(), other_since: 7 }],
        unread: 0,
    }
}

#[test]
fn what_was_written_is_read() {
    for content in [content(), JournalContent::default()] {
        assert_eq!(parse(&text(&content)), content);
    }
}

#[test]
fn every_damage_is_noticed_and_costs_no_more_than_its_line() {
    let whole = text(&content());
    for at in 0..whole.len() {
        let mut flipped = whole.clone();
        flipped[at] ^= 1;
        let read = parse(&flipped);
        let left = read.definitions.len() + read.locks.len() + read.written.len() + read.programs.len();
        // A newline that is none any more joins two lines.
        assert!(read.unread > 0 && left >= 5, "byte {at}: {read:?}");
        let is_own = |pair: &(String, String)| content().definitions.contains(pair);
        assert!(read.definitions.iter().all(is_own), "byte {at}: {read:?}");
        assert!(read.locks.iter().all(|row| content().locks.contains(row)), "byte {at}: {read:?}");
        let cut = parse(&whole[..at]);
        // Only its newline is missing, perhaps.
        assert!(
            (cut.unread > 0 || at == whole.len() - 1) && cut.definitions.iter().all(is_own),
            "cut at {at}: {cut:?}"
        );
    }
    let line = whole.iter().position(|byte| *byte == b'\n').unwrap() + 1;
    assert_eq!(parse(&whole[line..]).unread, 1, "a line that is gone without a trace");
}

fn tables() -> (tempfile::TempDir, Connection, Journal) {
    let home = tempfile::tempdir().unwrap();
    let connection = connect(&home.path().join("harbor.db")).unwrap();
    connection.execute_batch(definition_table::TABLES).unwrap();
    connection.execute_batch(locks::TABLES).unwrap();
    connection.execute_batch(written_places::TABLES).unwrap();
    connection.execute_batch(programs::TABLES).unwrap();
    connection.execute_batch(programs::FORMER_TABLES).unwrap();
    let journal = Journal::at(&home.path().join("journal"));
    (home, connection, journal)
}

fn add(id: &str) -> impl FnOnce(&Connection) -> rusqlite::Result<()> {
    let sql = format!("INSERT INTO definitions (server_id, definition) VALUES ('{id}', '')");
    move |connection| connection.execute_batch(&sql)
}

fn ids(content: &JournalContent) -> Vec<&str> {
    content.definitions.iter().map(|(id, _)| id.as_str()).collect()
}

#[test]
fn a_change_is_in_both_or_in_neither() {
    let (home, mut connection, journal) = tables();
    journal.change(&mut connection, add("a")).unwrap();
    assert!(journal.change(&mut connection, add("a")).is_err(), "the database refuses");
    assert_eq!(ids(&journal.read().unwrap().unwrap()), ["a"]);

    // The commit is refused after the file was replaced.
    let refuse = "PRAGMA foreign_keys = ON; CREATE TABLE other (id TEXT PRIMARY KEY);
        CREATE TABLE late (id TEXT REFERENCES other (id) DEFERRABLE INITIALLY DEFERRED);";
    connection.execute_batch(refuse).unwrap();
    let late = journal.change(&mut connection, |connection| {
        add("b")(connection)?;
        connection.execute_batch("INSERT INTO late VALUES ('missing')")
    });
    assert!(late.is_err());
    assert_eq!(ids(&rows(&connection).unwrap()), ["a"]);
    assert_eq!(ids(&journal.read().unwrap().unwrap()), ["a"]);

    // The file cannot be replaced.
    let path = home.path().join("journal");
    std::fs::remove_file(&path).unwrap();
    std::fs::create_dir_all(path.join("in the way")).unwrap();
    assert!(journal.change(&mut connection, add("c")).is_err());
    assert_eq!(ids(&rows(&connection).unwrap()), ["a"]);
    assert!(journal.read().is_err());
}

#[test]
fn a_file_that_is_ahead_or_wrong_agrees_again() {
    let (home, mut connection, journal) = tables();
    journal.change(&mut connection, add("a")).unwrap();
    for wrong in [text(&content()), b"nonsense".to_vec(), Vec::new()] {
        std::fs::write(home.path().join("journal"), wrong).unwrap();
        std::fs::write(home.path().join("journal.new"), "what a kill has left").unwrap();
        journal.agree(&connection).unwrap();
        assert_eq!(journal.read().unwrap().unwrap(), rows(&connection).unwrap());
        assert!(!home.path().join("journal.new").exists());
    }
}
