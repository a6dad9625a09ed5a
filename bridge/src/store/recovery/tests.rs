//! Loss and rebuilding, step by step; the journal beside them has its own.

use std::os::unix::fs::PermissionsExt as _;

use super::*;

const SECRET: &str = "{\"command\":\"x\",\"args\":[],\"env\":{},\"cwd\":null,\"label\":null,\"roots\":[]}";

struct Place(tempfile::TempDir);

impl Place {
    /// A home with a database that has one definition and one written place, and has been closed.
    fn new() -> Self {
        let place = Self(tempfile::tempdir().unwrap());
        let journal = Journal::at(&place.paths().journal());
        let mut connection = sound(&place.paths().database(), &journal).unwrap().unwrap();
        let row = format!("INSERT INTO definitions (server_id, definition) VALUES ('a', '{SECRET}')");
        journal.change(&mut connection, |connection| connection.execute_batch(&row)).unwrap();
        let row = "INSERT INTO written VALUES ('/w')";
        journal.change(&mut connection, |connection| connection.execute_batch(row)).unwrap();
        place
    }

    fn paths(&self) -> Paths {
        Paths::at(self.0.path())
    }

    fn database(&self) -> PathBuf {
        self.paths().database()
    }

    /// Definitions, written places and whether nobody is new, once it was opened by a bridge.
    fn rows(&self) -> (i64, i64, i64) {
        drop(open(&self.paths()).unwrap());
        let connection = Connection::open(self.database()).unwrap();
        let count = |sql: &str| connection.query_row(sql, [], |row| row.get(0)).unwrap_or(0);
        (
            count("SELECT count(*) FROM definitions"),
            count("SELECT count(*) FROM written"),
            count("SELECT count(*) FROM met_clients WHERE name = '*'"),
        )
    }
}

#[test]
fn a_sound_database_stays_and_a_corrupt_one_is_set_aside_and_made_anew() {
    let place = Place::new();
    assert_eq!(place.rows(), (1, 1, 0));
    assert_eq!(losses(&place.database()), []);
    let bytes = b"not a database, though it is long enough to be looked at as one";
    fs::write(place.database(), bytes).unwrap();
    let opened = open(&place.paths()).unwrap();
    assert!(opened.rebuilt);
    let [loss] = opened.losses.try_into().unwrap();
    assert_eq!((loss.definitions, loss.unread), (1, Some(0)));
    assert!(loss.to_string().contains("not a database"), "{loss}");
    assert_eq!(fs::read(loss.aside.join("harbor.db")).unwrap(), bytes);
    assert_eq!(loss.aside.metadata().unwrap().permissions().mode() & 0o777, 0o700);
    assert_eq!(place.rows(), (1, 1, 1));
    assert!(
        !open(&place.paths()).unwrap().rebuilt,
        "it is told as long as it lies there, and made anew once"
    );
}

#[test]
fn two_losses_at_one_time_lie_in_two_places() {
    let place = Place::new();
    let first = new_directory(&place.database(), 7).unwrap();
    assert_ne!(new_directory(&place.database(), 7).unwrap(), first);
    assert_eq!(losses(&place.database()).len(), 2, "also without a report");
}

#[test]
fn whatever_is_left_after_a_crash_on_the_way_leads_to_the_same() {
    let steps: [&dyn Fn(&Path); 6] = [
        // Set aside, and the new one not in its place.
        &|path| fs::remove_file(path).unwrap(),
        // Its main file alone was moved.
        &|path| {
            fs::remove_file(path).unwrap();
            fs::write(beside(path, "-wal"), [7; 5000]).unwrap();
        },
        // The new one was created,
        &|path| fs::write(path, "").unwrap(),
        // and set up, without tables.
        &|path| {
            fs::remove_file(path).unwrap();
            drop(connect(path).unwrap());
        },
        // Only the directory was made.
        &|path| drop(new_directory(path, 7).unwrap()),
        // The new one was not finished; and the old one is sound after all.
        &|path| fs::write(beside(path, NEXT), "half of it").unwrap(),
    ];
    for (number, step) in steps.into_iter().enumerate() {
        let place = Place::new();
        step(&place.database());
        let closed = i64::from(number < 4);
        assert_eq!(place.rows(), (1, 1, closed), "step {number}");
        assert_eq!(losses(&place.database()).len(), usize::from(number != 5), "step {number}");
        assert!(!beside(&place.database(), NEXT).exists(), "step {number}");
    }
}

#[test]
fn what_is_no_corruption_leaves_everything_as_it_is() {
    let steps: [&dyn Fn(&Path); 3] = [
        &|path| {
            fs::remove_file(path).unwrap();
            fs::create_dir(path).unwrap();
        },
        &|path| {
            fs::rename(path, path.with_extension("elsewhere")).unwrap();
            std::os::unix::fs::symlink(path.with_extension("elsewhere"), path).unwrap();
        },
        &|path| Connection::open(path).unwrap().pragma_update(None, "user_version", 99).unwrap(),
    ];
    for (number, step) in steps.into_iter().enumerate() {
        let place = Place::new();
        step(&place.database());
        let error = open(&place.paths()).unwrap_err();
        assert!(!error.is_corruption(), "step {number}: {error}");
        assert_eq!(losses(&place.database()), [], "step {number}");
    }
    let place = Place::new();
    let holder = Connection::open(place.database()).unwrap();
    holder.execute_batch("PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE;").unwrap();
    assert!(!open(&place.paths()).unwrap_err().is_corruption());
    drop(holder);
    assert_eq!(place.rows(), (1, 1, 0));
}

#[test]
fn a_new_home_is_no_loss_and_one_without_a_journal_gets_one() {
    let home = tempfile::tempdir().unwrap();
    let paths = Paths::at(home.path());
    assert!(!open(&paths).unwrap().rebuilt);
    let place = Place::new();
    fs::remove_file(place.paths().journal()).unwrap();
    assert_eq!(place.rows(), (1, 1, 0));
    let read = Journal::at(&place.paths().journal()).read().unwrap().unwrap();
    assert_eq!(read.definitions, [("a".to_owned(), SECRET.to_owned())]);
}

#[test]
fn a_database_that_was_lost_with_its_journal_is_told_and_empty() {
    let place = Place::new();
    fs::write(place.database(), [7; 5000]).unwrap();
    fs::remove_file(place.paths().journal()).unwrap();
    assert_eq!(place.rows(), (0, 0, 1));
    assert_eq!(losses(&place.database())[0].unread, None);
}

#[test]
fn a_written_place_that_one_of_the_two_has_stays_known() {
    let place = Place::new();
    let connection = Connection::open(place.database()).unwrap();
    connection.execute_batch("DELETE FROM written; INSERT INTO written VALUES ('/x')").unwrap();
    drop(connection);
    assert_eq!(place.rows(), (1, 2, 0));
}

#[test]
fn a_definition_that_was_damaged_comes_back_and_one_of_another_format_stays() {
    for damage in ["definition = CAST(X'ff' || definition AS TEXT)", "server_id = '../a'", "definition = '{'"]
    {
        let place = Place::new();
        let connection = Connection::open(place.database()).unwrap();
        connection.execute_batch(&format!("UPDATE definitions SET {damage}")).unwrap();
        drop(connection);
        assert_eq!(place.rows(), (1, 1, 1), "{damage}");
    }
    let place = Place::new();
    let journal = Journal::at(&place.paths().journal());
    let mut connection = connect(&place.database()).unwrap();
    let other = "UPDATE definitions SET definition = '{\"of\":\"another Harbor\"}'";
    journal.change(&mut connection, |connection| connection.execute_batch(other)).unwrap();
    drop(connection);
    assert_eq!(place.rows(), (1, 1, 0));
}

#[test]
fn a_definition_that_cannot_be_read_is_no_loss_without_a_journal_that_was_read_as_a_whole() {
    let journals: [&dyn Fn(&Path); 4] = [
        &|path| fs::remove_file(path).unwrap(),
        &|path| fs::write(path, "nonsense\n").unwrap(),
        &|path| {
            fs::remove_file(path).unwrap();
            fs::create_dir(path).unwrap();
        },
        // Whoever opened it as a file would wait for somebody who writes.
        &|path| {
            fs::remove_file(path).unwrap();
            nix::unistd::mkfifo(path, nix::sys::stat::Mode::S_IRWXU).unwrap();
        },
    ];
    for (number, journal) in journals.into_iter().enumerate() {
        let place = Place::new();
        let connection = Connection::open(place.database()).unwrap();
        connection
            .execute_batch("UPDATE definitions SET definition = '{\"of\":\"another Harbor\"}'")
            .unwrap();
        drop(connection);
        journal(&place.paths().journal());
        assert_eq!(place.rows(), (1, 1, 0), "journal {number}");
        assert_eq!(losses(&place.database()), [], "journal {number}");
    }
}

#[test]
fn a_journal_that_cannot_be_read_is_an_error_where_the_database_is_lost_and_nothing_is_moved() {
    let journals: [&dyn Fn(&Path); 3] = [
        &|path| fs::create_dir(path).unwrap(),
        &|path| std::os::unix::fs::symlink(path.with_extension("elsewhere"), path).unwrap(),
        &|path| nix::unistd::mkfifo(path, nix::sys::stat::Mode::S_IRWXU).unwrap(),
    ];
    for (number, damage) in journals.into_iter().enumerate() {
        let place = Place::new();
        let (path, kept) = (place.paths().journal(), place.paths().journal().with_extension("elsewhere"));
        fs::rename(&path, &kept).unwrap();
        damage(&path);
        fs::write(place.database(), [7; 5000]).unwrap();
        let error = open(&place.paths()).unwrap_err();
        let said = error.to_string();
        assert!(matches!(error, StoreError::Unreadable { .. }), "journal {number}: {said}");
        assert!(said.contains("definitions.journal") && said.contains("Nothing was changed"), "{said}");
        assert_eq!(fs::read(place.database()).unwrap(), [7; 5000], "journal {number}");
        assert_eq!(losses(&place.database()), [], "journal {number}");
        assert!(path.symlink_metadata().is_ok_and(|found| !found.is_file()), "journal {number}");
        // Once it can be read, everything comes back.
        fs::rename(&path, path.with_extension("away")).unwrap();
        fs::rename(&kept, &path).unwrap();
        assert_eq!(place.rows(), (1, 1, 1), "journal {number}");
    }
}

#[test]
fn a_damaged_journal_is_kept_as_it_was() {
    for lost in [false, true] {
        let place = Place::new();
        let path = place.paths().journal();
        let mut damaged = fs::read(&path).unwrap();
        damaged[20] ^= 1;
        fs::write(&path, &damaged).unwrap();
        if lost {
            fs::write(place.database(), [7; 5000]).unwrap();
        }
        assert_eq!(place.rows(), if lost { (0, 1, 1) } else { (1, 1, 0) });
        let kept = Journal::at(&path).damaged_ones();
        let [kept] = kept.as_slice() else { panic!("lost: {lost}, kept: {kept:?}") };
        assert_eq!(fs::read(kept).unwrap(), damaged);
        assert_eq!(Journal::at(&path).read().unwrap().unwrap().unread, 0);
        drop(open(&place.paths()).unwrap());
        assert_eq!(Journal::at(&path).damaged_ones().len(), 1, "once");
    }
}

/// The next start must not take the home for a new one, in which whoever comes first is let in.
#[test]
fn a_database_that_is_lost_without_a_journal_is_lost_wherever_the_bridge_is_killed() {
    for moved in [&["harbor.db", "harbor.db-wal"][..], &["harbor.db"], &[]] {
        let place = Place::new();
        let path = place.database();
        fs::write(&path, [7; 5000]).unwrap();
        fs::write(beside(&path, BESIDE[0]), "").unwrap();
        fs::remove_file(place.paths().journal()).unwrap();
        // What a kill leaves is not cleared away.
        std::mem::forget(prepare(&path, &Journal::at(&place.paths().journal()), None).unwrap());
        assert!(beside(&path, NEXT).exists());
        for name in moved {
            fs::remove_file(place.0.path().join(name)).unwrap();
        }
        assert_eq!(place.rows(), (0, 0, 1), "{moved:?}");
        assert_eq!(losses(&path).len(), 1, "{moved:?}");
    }
}

#[test]
fn a_database_stays_where_it_is_as_long_as_there_can_be_no_next_one() {
    let place = Place::new();
    fs::write(place.database(), [7; 5000]).unwrap();
    let next = beside(&place.database(), NEXT);
    fs::create_dir(&next).unwrap();
    for _ in 0..2 {
        assert!(!open(&place.paths()).unwrap_err().is_corruption());
        assert_eq!(fs::read(place.database()).unwrap(), [7; 5000]);
        assert_eq!(losses(&place.database()), []);
    }
    fs::remove_dir(&next).unwrap();
    assert_eq!(place.rows(), (1, 1, 1));
}

#[test]
fn whether_there_is_a_database_is_known_without_opening_it() {
    let place = Place::new();
    assert_eq!(is_there(&place.paths()), Ok(true));
    fs::remove_file(place.database()).unwrap();
    assert!(is_there(&place.paths()).unwrap_err().contains("journal"));
    fs::remove_file(place.paths().journal()).unwrap();
    assert_eq!(is_there(&place.paths()), Ok(false));
    fs::write(beside(&place.database(), BESIDE[0]), "log").unwrap();
    assert!(is_there(&place.paths()).unwrap_err().contains("log"));
}

#[test]
fn a_database_without_one_of_its_tables_is_lost_and_nobody_is_new_in_the_next_one() {
    for table in TABLES.iter().flat_map(|tables| tables.names) {
        let place = Place::new();
        drop(open(&place.paths()).unwrap());
        Connection::open(place.database()).unwrap().execute_batch(&format!("DROP TABLE {table}")).unwrap();
        let opened = open(&place.paths()).unwrap();
        assert!(opened.rebuilt, "{table}");
        assert!(opened.losses[0].to_string().contains(&format!("its table {table} is gone")));
        drop(opened);
        assert_eq!(place.rows(), (1, 1, 1), "{table}");
    }
    let place = Place::new();
    fs::remove_file(place.database()).unwrap();
    Connection::open(place.database()).unwrap().execute_batch("CREATE TABLE x (a)").unwrap();
    assert_eq!(place.rows(), (1, 1, 1), "another program's");
}

/// SQLite sees no wrong letter: what was allowed to one would be allowed to another, and what was denied to nobody.
#[test]
fn a_wrong_letter_in_a_grant_a_denial_or_a_pin_is_noticed() {
    let stored = "
        INSERT INTO grants VALUES ('https://g9.example', 'p', 's', 'ALLOW_ALWAYS', NULL, 1,
            row_sum('https://g9.example', 'p', 's', 'ALLOW_ALWAYS', NULL, 1));
        INSERT INTO grants VALUES ('https://d9.example', 'p', 's', 'DENY', NULL, 1,
            row_sum('https://d9.example', 'p', 's', 'DENY', NULL, 1));
        INSERT INTO pins VALUES ('a', 'b', zeroblob(32), 'shown', 0, 1, 1, row_sum('a', 'b', zeroblob(32), 'shown', 0));";
    for (change, table) in [
        ("UPDATE pins SET listed = 0", None),
        ("UPDATE grants SET origin = 'https://g9.exbmple' WHERE grant_type = 'ALLOW_ALWAYS'", Some("grants")),
        ("UPDATE grants SET origin = 'https://d9.exbmple' WHERE grant_type = 'DENY'", Some("grants")),
        ("UPDATE grants SET allowed_tools = '' WHERE grant_type = 'DENY'", Some("grants")),
        ("UPDATE pins SET hash = CAST(zeroblob(31) || X'01' AS BLOB)", Some("pins")),
    ] {
        let place = Place::new();
        drop(open(&place.paths()).unwrap());
        let connection = Connection::open(place.database()).unwrap();
        super::sums::register(&connection).unwrap();
        connection.execute_batch(stored).unwrap();
        connection.execute_batch(change).unwrap();
        drop(connection);
        let opened = open(&place.paths()).unwrap();
        assert_eq!(opened.rebuilt, table.is_some(), "{change}");
        let why = opened.losses.first().map(|loss| loss.why.clone());
        assert_eq!(why, table.map(|table| format!("a row of its table {table} is not what Harbor stored")));
    }
}

#[test]
fn a_database_of_an_earlier_harbor_lacks_only_what_that_did_not_have() {
    let newest = "DROP TABLE guarded_clients;";
    let fourth =
        &format!("{newest} DROP TABLE tool_answers; DROP TABLE carried_names; DROP TABLE closed_sources;");
    let third = &format!("{fourth} DROP TABLE former_programs;");
    let second = &format!(
        "{third} DROP TABLE programs; DROP TABLE model_providers; DROP TABLE model_usage; DROP TABLE model_budgets;"
    );
    let newest = &newest.to_owned();
    let without_sums = &"ALTER TABLE grants DROP COLUMN sum; ALTER TABLE pins DROP COLUMN sum;".to_owned();
    let cases = [
        (0, second, false),
        (1, second, false),
        (2, second, true),
        (2, third, false),
        (3, third, true),
        (3, fourth, false),
        (4, fourth, true),
        (4, newest, false),
        (5, newest, true),
        (5, without_sums, false),
    ];
    for (version, drop_new, is_lost) in cases {
        let place = Place::new();
        drop(open(&place.paths()).unwrap());
        let connection = Connection::open(place.database()).unwrap();
        connection.execute_batch(drop_new).unwrap();
        connection.pragma_update(None, "user_version", version).unwrap();
        drop(connection);
        assert_eq!(open(&place.paths()).unwrap().rebuilt, is_lost, "version {version}");
        let connection = Connection::open(place.database()).unwrap();
        assert_eq!(missing_table(&connection).unwrap(), None);
        assert_eq!(super::version(&connection).unwrap(), VERSION, "it has all of them from now on");
    }
}

/// What its name was given to before is not its own because a database is lost: secrets outlive that.
#[test]
fn a_server_that_runs_another_program_than_was_accepted_does_so_in_the_next_database_too() {
    let place = Place::new();
    let journal = Journal::at(&place.paths().journal());
    let mut connection = connect(&place.database()).unwrap();
    let rows = "INSERT INTO programs VALUES ('a', 'npm good', 7), ('b', 'npm fine', NULL)";
    journal.change(&mut connection, |connection| connection.execute_batch(rows)).unwrap();
    drop(connection);
    let rows = || {
        fs::write(place.database(), b"not a database, though it is long enough to be looked at").unwrap();
        drop(open(&place.paths()).unwrap());
        crate::store::program_rows::rows(&Connection::open(place.database()).unwrap()).unwrap()
    };
    let known = ProgramRow { server_id: "a".into(), program: "npm good".into(), other_since: 7 };
    assert_eq!(rows(), [known]);
    let text = fs::read_to_string(place.paths().journal()).unwrap();
    let others = text.lines().filter(|line| !line.contains("npm good"));
    fs::write(place.paths().journal(), others.collect::<Vec<_>>().join("\n")).unwrap();
    let found = rows();
    let unknown = ProgramRow { other_since: found[0].other_since, ..ProgramRow::unknown("a") };
    assert_eq!(found, [unknown], "one that may have been is for the person to accept");
}
