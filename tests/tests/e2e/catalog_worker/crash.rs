//! The worker killed at random points of refreshes, with a reader beside it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use harbor_ipc_proto::link::worker::CatalogSourceKind;
use harbor_tests::random::Random;
use rusqlite::Connection;

use harbor_tests::catalog::registry::{Registry, active};
use harbor_tests::catalog::{Driven, Place};

/// Entries of the registry, all of one generation.
const ENTRIES: u32 = 150;
const KILLS: u64 = 100;

fn generation(number: u64) -> Vec<serde_json::Value> {
    let description = format!("Generation {number}.");
    (0..ENTRIES).map(|n| active(&format!("io.test/s{n:05}"), &description)).collect()
}

/// All entries say the same, and the index finds as many as there are.
fn check(connection: &mut Connection) -> rusqlite::Result<()> {
    let read = connection.transaction()?;
    let entries = "SELECT count(*), count(DISTINCT description), coalesce(min(description), '') FROM entries
        WHERE source = 'registry' AND removed_at IS NULL";
    let (count, generations, said): (u32, u32, String) =
        read.query_row(entries, [], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
    assert!(
        (count, generations) == (0, 0) || (count, generations) == (ENTRIES, 1),
        "{count} of {generations}"
    );
    if count > 0 {
        let words = format!("\"{}\"", said.trim_end_matches('.'));
        let found = "SELECT count(*) FROM entries_fts WHERE entries_fts MATCH ?1";
        assert_eq!(read.query_row(found, [words], |row| row.get::<_, u32>(0))?, ENTRIES);
    }
    Ok(())
}

#[test]
fn a_worker_that_is_killed_leaves_a_sound_catalog_and_readers_see_whole_refreshes() {
    let registry = Registry::start(generation(0));
    let place = Place::new(&[("registry", CatalogSourceKind::Registry, registry.web.url("/"))]);
    // How long one takes on this machine says when to kill; the later ones change every row, which takes longer.
    let (began, mut whole) = (Instant::now(), Driven::configured(&place));
    whole.refresh(true);
    let longest = u64::try_from(began.elapsed().as_micros()).unwrap().min(200_000) * 2;
    drop(whole);
    let over = Arc::new(AtomicBool::new(false));
    let (stop, mut reader) = (over.clone(), place.read());
    let reading = thread::spawn(move || {
        let mut reads = 0;
        while !stop.load(Ordering::SeqCst) {
            check(&mut reader).unwrap();
            reads += 1;
        }
        reads
    });
    let seed = u64::from(std::process::id());
    let (mut random, mut finished) = (Random::new(seed), 0);
    for kill in 1..=KILLS {
        registry.change(|servers| *servers = generation(kill));
        let mut worker = Driven::configured(&place);
        worker.ask_refresh(true);
        thread::sleep(Duration::from_micros(random.below(longest)));
        worker.kill();
        let mut connection = Connection::open(place.database()).unwrap();
        let sound: String = connection.query_row("PRAGMA integrity_check", [], |row| row.get(0)).unwrap();
        assert_eq!(sound, "ok", "kill {kill} of seed {seed}");
        check(&mut connection).unwrap();
        let said = "SELECT count(*) FROM entries WHERE description = ?1";
        let now = format!("Generation {kill}.");
        finished += usize::from(connection.query_row(said, [now], |row| row.get::<_, u32>(0)).unwrap() > 0);
    }
    over.store(true, Ordering::SeqCst);
    let reads = reading.join().unwrap();
    println!("{KILLS} kills: {finished} refreshes had come to their end; {reads} reads beside them");
    assert!(reads > 100, "{reads}");
    let mut worker = Driven::configured(&place);
    worker.refresh(true);
    check(&mut place.read()).unwrap();
}
