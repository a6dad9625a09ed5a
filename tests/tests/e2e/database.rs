//! A database that is lost: set aside, told of, made anew from the journal of definitions; and never so without need.

use std::collections::BTreeMap;
use std::fs::{self, OpenOptions};
use std::os::unix::fs::FileExt as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use harbor_bridge::store::journal::{Journal, parse, text};
use harbor_tests::random::Random;
use harbor_tests::rights::{is_root, left_out};
use harbor_tests::{Bridge, Client, DOWN_LIMIT, Double, Home, LIMIT, Program, programs, wait_until};
use nix::fcntl::{Flock, FlockArg};
use nix::unistd::geteuid;
use serde_json::{Value, json};

const SITE: &str = "https://a.example";
const OTHER: &str = "https://b.example";
const CALL: &str = "mcp:tools.call";

fn database(home: &Home) -> PathBuf {
    home.path().join("harbor.db")
}

fn ids(client: &Client) -> Vec<String> {
    let listed = client.call("list_servers", &json!({})).unwrap();
    let servers = listed["servers"].as_array().unwrap().iter();
    servers.map(|server| server["server_id"].as_str().unwrap().to_owned()).collect()
}

/// What was set aside.
fn aside(home: &Home) -> Vec<PathBuf> {
    let entries = fs::read_dir(home.path()).unwrap().map(|entry| entry.unwrap().path());
    entries.filter(|path| path.to_string_lossy().contains("harbor.db.corrupt-")).collect()
}

fn reasons(client: &Client) -> Vec<String> {
    let health = client.call("health", &json!({})).unwrap();
    let reasons = health["health"]["reasons"].as_array().unwrap().iter();
    reasons.map(|reason| reason["code"].as_str().unwrap().to_owned()).collect()
}

/// A home in which a server was defined and another one removed, a site is allowed something and another one denied it, and
/// an AI client has been.
fn lived_in(home: &Home) -> Double {
    let double = Double::sound(home);
    let bridge = Bridge::start(home);
    bridge.add_and_connect("s", &double);
    bridge.call("add_server", &json!({"server_id": "gone", "command": "/bin/gone"})).unwrap();
    bridge.call("remove_server", &json!({"server_id": "gone"})).unwrap();
    bridge.speaking_for(SITE).grant(CALL, "ALLOW_ALWAYS", &json!({}));
    bridge.speaking_for(OTHER).grant(CALL, "DENY", &json!({}));
    assert_eq!(begin(home, "known"), json!(true));
    double
}

/// What a killed bridge was about to start holds its files for an instant.
fn wait_unlocked(home: &Home) {
    wait_until("the lock to be free", LIMIT, || {
        let lock = fs::File::open(home.run_file("bridge.lock")).unwrap();
        Flock::lock(lock, FlockArg::LockExclusiveNonblock).is_ok()
    });
}

/// Whether an AI client gets its first grants.
fn begin(home: &Home, name: &str) -> Value {
    let client = Client::attach_ai(home, name);
    client.call("mcp_begin", &json!({})).unwrap()["granted"].clone()
}

/// Starts a bridge on what is left, and demands that up to date after a loss.
fn demand_rebuilt(home: &Home, what: &str) {
    let bridge = Bridge::start(home);
    assert_eq!(ids(&bridge), ["s"], "{what}");
    bridge.connect("s");
    assert_eq!(bridge.tool_text("s", "echo", &json!({"text": what})), format!("{{\"text\":\"{what}\"}}"));
    assert_eq!(reasons(&bridge), ["database_rebuilt"], "{what}");
    assert_eq!(bridge.all_grants(), [Value::Null; 0], "{what}");
    assert_eq!((begin(home, "known"), begin(home, "new")), (json!(false), json!(false)), "{what}");
    assert_eq!(
        bridge.call("status", &json!({})).unwrap()["status"]["bridge"]["first_use"],
        "closed",
        "{what}"
    );
    let told = bridge.audit(&json!({"limit": 20}));
    assert!(told.iter().any(|line| line["event"] == "database_rebuilt" && line["count"] == 1), "{told:?}");
    bridge.said("harbor.db was lost at");
}

fn overwrite(path: &Path, at: u64, bytes: &[u8]) {
    OpenOptions::new().write(true).open(path).unwrap().write_all_at(bytes, at).unwrap();
}

#[test]
fn a_database_that_is_lost_is_set_aside_and_its_servers_come_back() {
    type Damage = (&'static str, fn(&Path));
    let damages: [Damage; 5] = [
        ("the header", |path| overwrite(path, 0, &[0x5a; 100])),
        ("half of it", |path| {
            let half = path.metadata().unwrap().len() / 2 + 100;
            OpenOptions::new().write(true).open(path).unwrap().set_len(half).unwrap();
        }),
        ("text", |path| {
            fs::write(path, "this is no database, though it is as long as one could be").unwrap()
        }),
        ("empty", |path| fs::write(path, "").unwrap()),
        ("gone", |path| fs::remove_file(path).unwrap()),
    ];
    for (what, damage) in damages {
        let home = Home::new();
        lived_in(&home);
        damage(&database(&home));
        // The log of what is damaged is no part of this.
        let _ = fs::remove_file(home.path().join("harbor.db-wal"));
        let damaged = fs::read(database(&home)).ok();
        demand_rebuilt(&home, what);
        let [aside] = aside(&home).try_into().unwrap();
        assert!(fs::read(aside.join("harbor.db")).ok() == damaged, "{what}");
        assert_eq!(aside.metadata().unwrap().permissions().mode() & 0o777, 0o700);

        // It is told as long as it lies there, by the doctor too, who leaves it where it is.
        let bridge = Bridge::start(&home);
        assert_eq!(reasons(&bridge), ["database_rebuilt"], "{what}");
        let mut doctor = home.command("harbor");
        let output =
            doctor.args(["doctor", "--json", "--fix"]).env("HOME", home.scratch("p")).output().unwrap();
        let told = String::from_utf8(output.stdout).unwrap();
        assert_eq!(output.status.code(), Some(0), "{told}");
        assert_eq!(told.matches("1 server is back").count(), 1, "{told}");
        assert!(told.contains(&*aside.to_string_lossy()) && told.contains("harbor grant"), "{told}");
        drop(bridge);
        fs::remove_dir_all(&aside).unwrap();
        assert_eq!(reasons(&Bridge::start(&home)), [""; 0], "{what}");
    }
}

#[test]
fn wherever_a_database_is_overwritten_a_bridge_starts_and_has_its_servers() {
    const SEED: u64 = 6;
    println!("seed {SEED}");
    let mut random = Random::new(SEED);
    let home = Home::new();
    lived_in(&home);
    let (whole, journal) =
        (fs::read(database(&home)).unwrap(), fs::read(home.path().join("definitions.journal")).unwrap());
    let mut rebuilt = 0;
    for round in 0..24 {
        // Half of them in the page of a definition.
        let needle = whole.windows(10).position(|bytes| bytes == b"\"command\":").unwrap() as u64;
        let at =
            if round % 2 == 0 { random.below(whole.len() as u64 - 600) } else { needle + random.below(60) };
        let bytes: Vec<u8> = (0..16 + random.below(500)).map(|_| random.below(256) as u8).collect();
        fs::write(database(&home), &whole).unwrap();
        fs::write(home.path().join("definitions.journal"), &journal).unwrap();
        let _ = fs::remove_file(home.path().join("harbor.db-wal"));
        overwrite(&database(&home), at, &bytes);
        let damaged = fs::read(database(&home)).unwrap();
        let mut bridge = Bridge::start(&home);
        let what = format!("{} bytes at {at}", bytes.len());
        assert_eq!(ids(&bridge), ["s"], "{what}: {}", bridge.stderr());
        let may = |site: &str| bridge.speaking_for(site).grants();
        let is_allowed = |grants: &[Value]| grants.iter().any(|grant| grant["grant_type"] == "ALLOW_ALWAYS");
        assert!(!is_allowed(&may(OTHER)), "{what}");
        if let Some(aside) = aside(&home).first() {
            rebuilt += 1;
            assert!(fs::read(aside.join("harbor.db")).unwrap() == damaged, "{what}");
            assert_eq!(reasons(&bridge), ["database_rebuilt"], "{what}");
            assert!(may(SITE).is_empty(), "{what}");
            fs::remove_dir_all(aside).unwrap();
        }
        bridge.stop();
    }
    println!("rebuilt {rebuilt} times of 24");
    assert!(rebuilt >= 12, "the definition's page counts: {rebuilt}");
}

/// SQLite takes the rest of a damaged log for one that ended there. What takes something away is not in it any more.
#[test]
fn a_damaged_log_brings_back_no_server_and_no_grant() {
    type Taking = (&'static str, fn(&Client));
    let taken: [Taking; 4] = [
        ("a revocation", |bridge| assert!(bridge.speaking_for(SITE).revoke(CALL, None))),
        ("a denial", |bridge| drop(bridge.speaking_for(SITE).grant(CALL, "DENY", &json!({})))),
        ("a removal", |bridge| drop(bridge.call("remove_server", &json!({"server_id": "gone"})).unwrap())),
        ("a narrowing", |bridge| {
            bridge.speaking_for(SITE).grant(CALL, "ALLOW_ALWAYS", &json!({"allowed_tools": ["kept/echo"]}));
        }),
    ];
    for (number, (what, take)) in taken.into_iter().enumerate() {
        let home = Home::new();
        let mut bridge = Bridge::start(&home);
        bridge.speaking_for(SITE).grant(CALL, "ALLOW_ALWAYS", &json!({}));
        for id in ["kept", "gone"] {
            // Also what is above is in the database itself from here on.
            bridge.call("add_server", &json!({"server_id": id, "command": "/bin/true"})).unwrap();
        }
        take(&bridge);
        bridge.speaking_for(OTHER).grant(CALL, "ALLOW_ALWAYS", &json!({}));
        bridge.kill();
        wait_unlocked(&home);
        let log = home.path().join("harbor.db-wal");
        let length = usize::try_from(log.metadata().unwrap().len()).unwrap();
        assert!(length > 0, "the last grant is in it");
        fs::write(&log, vec![0x5a; length]).unwrap();
        let bridge = Bridge::start(&home);
        let found = bridge.speaking_for(SITE).grants();
        let types: Vec<_> = found.iter().map(|grant| grant["grant_type"].clone()).collect();
        let (servers, grants) = (ids(&bridge), types.len());
        assert_eq!(servers.contains(&"gone".to_owned()), number != 2, "{what}");
        assert_eq!(grants, [0, 2, 1, 1][number], "{what}: {types:?}");
        let is_narrow = found.iter().any(|grant| grant["allowed_tools"] == json!(["kept/echo"]));
        assert_eq!(is_narrow, number == 3, "{what}: {found:?}");
        assert_eq!(types.contains(&json!("DENY")), number == 1, "{what}: {types:?}");
    }
}

/// The bridge's end, and what it says about it.
fn fails(home: &Home) -> String {
    let mut program = Program::start(home.command("harbor-bridge").arg("serve"));
    let status = program.wait(DOWN_LIMIT).expect("it does not stay");
    assert!(!status.success());
    wait_until("the error on stderr", LIMIT, || !program.stderr().is_empty());
    program.stderr()
}

#[test]
fn what_is_no_corruption_is_an_error_that_leaves_everything_as_it_is() {
    let home = Home::new();
    lived_in(&home);
    let (path, kept) = (database(&home), home.scratch("kept"));
    fs::rename(&path, &kept).unwrap();
    fs::create_dir(&path).unwrap();
    let said = fails(&home);
    assert!(said.contains("Is a directory"), "{said}");
    fs::remove_dir(&path).unwrap();
    std::os::unix::fs::symlink(&kept, &path).unwrap();
    let said = fails(&home);
    assert!(said.contains("symbolic links"), "{said}");
    fs::remove_file(&path).unwrap();
    fs::rename(&kept, &path).unwrap();
    if geteuid().is_root() {
        left_out("a database that may not be read", "root may");
    } else {
        fs::set_permissions(&path, fs::Permissions::from_mode(0o000)).unwrap();
        let said = fails(&home);
        assert!(said.contains("Permission denied"), "{said}");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
    }
    rusqlite::Connection::open(&path).unwrap().pragma_update(None, "user_version", 99).unwrap();
    let said = fails(&home);
    assert!(said.contains("newer Harbor"), "{said}");
    rusqlite::Connection::open(&path).unwrap().pragma_update(None, "user_version", 1).unwrap();
    assert!(aside(&home).is_empty());
    let bridge = Bridge::start(&home);
    assert_eq!((ids(&bridge), reasons(&bridge)), (vec!["s".into()], vec![]));
}

/// Where a disk can be mounted that is full.
#[test]
fn a_full_disk_is_an_error_and_nothing_is_set_aside() {
    if !is_root("a_full_disk_is_an_error_and_nothing_is_set_aside") {
        return;
    }
    let home = Home::new();
    lived_in(&home);
    fs::write(database(&home), "this is no database, though it is as long as one could be").unwrap();
    let disk = home.scratch("disk");
    fs::create_dir(&disk).unwrap();
    // What the servers have left is not needed, and may be larger.
    let _ = fs::remove_dir_all(home.path().join("servers"));
    let _ = fs::remove_dir_all(home.path().join("logs"));
    let _ = fs::remove_file(home.path().join("harbor.db.room"));
    let script = "mount -t tmpfs -o size=256k none \"$0\" && cp -a \"$HARBOR_HOME\"/. \"$0\" && \
        { cat /dev/zero > \"$0/filler\"; HARBOR_HOME=\"$0\" \"$@\"; echo \"exit $?\"; ls \"$0\"; head -c 20 \"$0/harbor.db\"; }";
    let mut usual = home.command("harbor-bridge");
    usual.arg("serve");
    let disk = disk.to_str().unwrap();
    let mut command = programs::behind(&["unshare", "-m", "sh", "-c", script, disk], &usual);
    let output = command.output().unwrap();
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(
        ["No space left on device", "disk is full"].iter().any(|said| err.contains(said)),
        "{out}\n{err}"
    );
    assert!(out.contains("this is no database") && !out.contains("exit 0"), "{out}\n{err}");
    assert!(!out.contains("corrupt-") && !out.contains("harbor.db.new"), "{out}\n{err}");
}

/// A new home on a full disk: also the bridge's log finds no room.
#[test]
fn a_command_says_what_a_bridge_met_that_cannot_even_log_it() {
    let home = Home::new();
    let script = "mkdir -m 700 \"$HARBOR_HOME\" && mount -t tmpfs -o size=64k,mode=700 none \"$HARBOR_HOME\" && \
        { cat /dev/zero > \"$HARBOR_HOME/filler\"; exec \"$0\" \"$@\"; }";
    let mut usual = home.command("harbor");
    usual.arg("list");
    let words = ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c", script];
    let output = programs::behind(&words, &usual).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    let wanted = "bridge.lock: No space left on device (os error 28): make room on that disk";
    assert!(said.contains(wanted) && !output.status.success(), "{said}");
}

/// A definition as far as it is chosen here.
type Model = BTreeMap<String, Value>;

fn listed(client: &Client) -> Model {
    let listed = client.call("list_servers", &json!({})).unwrap();
    let servers = listed["servers"].as_array().unwrap().iter();
    servers.map(|server| (server["server_id"].as_str().unwrap().to_owned(), server["args"].clone())).collect()
}

/// What database and journal hold, in the order of their ids.
fn on_disk(home: &Home) -> [Vec<(String, String)>; 2] {
    let connection = rusqlite::Connection::open(database(home)).unwrap();
    let mut rows = connection.prepare("SELECT server_id, definition FROM definitions ORDER BY 1").unwrap();
    let rows = rows.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
    let journal = Journal::at(&home.path().join("definitions.journal")).read().unwrap().unwrap();
    assert_eq!(journal.unread, 0);
    [rows.map(Result::unwrap).collect(), journal.definitions]
}

#[test]
fn journal_and_database_agree_after_kills_and_bring_nothing_back() {
    const SEED: u64 = 66;
    println!("seed {SEED}");
    let mut random = Random::new(SEED);
    let home = Home::new();
    let mut model = Model::new();
    for round in 0..12 {
        let mut bridge = Bridge::start(&home);
        // The change that was open when the last bridge was killed was made, or was not.
        let found = listed(&bridge);
        let [rows, journal] = on_disk(&home);
        assert_eq!(rows, journal, "round {round}");
        assert_eq!(rows.len(), found.len(), "round {round}");
        model = found;
        let mut open = None;
        for change in 0..1 + random.below(6) {
            let id = format!("s{}", random.below(4));
            let mut after = model.clone();
            let args = json!([format!("{round}.{change}")]);
            let (tag, fields) = match random.below(3) {
                0 => {
                    after.remove(&id);
                    ("remove_server", json!({"server_id": id}))
                }
                1 if model.contains_key(&id) => {
                    ("set_sandbox", json!({"server_id": id, "sandbox": {"nice": random.below(19)}}))
                }
                _ => {
                    after.insert(id.clone(), args.clone());
                    ("add_server", json!({"server_id": id, "command": "/bin/true", "args": args}))
                }
            };
            let pending = bridge.request(tag, &fields);
            if change == 5 || random.below(4) == 0 {
                std::thread::sleep(Duration::from_micros(random.below(8000)));
                open = Some(after);
                drop(pending);
                break;
            }
            pending.wait(LIMIT).unwrap();
            model = after;
        }
        bridge.kill();
        wait_unlocked(&home);
        let next = Bridge::start(&home);
        let now = listed(&next);
        assert!(now == model || Some(&now) == open.as_ref(), "round {round}: {now:?}, {model:?}, {open:?}");
        drop(next);
        model = now;
    }
    fs::write(database(&home), [7; 5000]).unwrap();
    let _ = fs::remove_file(home.path().join("harbor.db-wal"));
    let bridge = Bridge::start(&home);
    assert_eq!(listed(&bridge), model);
    assert_eq!(aside(&home).len(), 1);
}

/// What a bridge leaves that was killed between the journal and the commit.
#[test]
fn a_journal_that_is_ahead_holds_only_when_the_database_is_lost() {
    let home = Home::new();
    let bridge = Bridge::start(&home);
    for id in ["a", "b"] {
        bridge.call("add_server", &json!({"server_id": id, "command": "/bin/true"})).unwrap();
    }
    drop(bridge);
    let path = home.path().join("definitions.journal");
    let mut ahead = parse(&fs::read(&path).unwrap());
    ahead.definitions.retain(|(id, _)| id != "a");
    let removed = text(&ahead);
    ahead.definitions.push(("c".into(), ahead.definitions[0].1.clone()));
    let added = text(&ahead);
    for journal in [&removed, &added] {
        fs::write(&path, journal).unwrap();
        assert_eq!(ids(&Bridge::start(&home)), ["a", "b"], "the database is sound");
        let [rows, journal] = on_disk(&home);
        assert_eq!(rows, journal);
    }
    for (journal, wanted) in [(&removed, &["b"][..]), (&added, &["b", "c"])] {
        fs::write(&path, journal).unwrap();
        fs::write(database(&home), [7; 5000]).unwrap();
        let _ = fs::remove_file(home.path().join("harbor.db-wal"));
        assert_eq!(ids(&Bridge::start(&home)), wanted);
    }
}

/// The disk goes while the bridge runs: what must be stored says so, the rest goes on.
#[test]
fn calls_go_on_while_the_database_cannot_be_written() {
    let home = Home::new();
    let bridge = Bridge::start(&home);
    bridge.add_and_connect("s", &Double::sound(&home));
    let holder = rusqlite::Connection::open(database(&home)).unwrap();
    holder
        .execute_batch(
            "CREATE TRIGGER full BEFORE INSERT ON definitions BEGIN SELECT RAISE(ABORT, 'no'); END;",
        )
        .unwrap();
    let another = json!({"server_id": "t", "command": "/bin/true"});
    let error = bridge.call("add_server", &another).unwrap_err();
    assert!(error.message.contains("nothing was changed"), "{}", error.message);
    assert_eq!(bridge.tool_text("s", "echo", &json!({"n": 1})), "{\"n\":1}");
    holder.execute_batch("DROP TRIGGER full").unwrap();
    // The journal cannot be replaced.
    let (path, kept) = (home.path().join("definitions.journal"), home.scratch("journal"));
    fs::rename(&path, &kept).unwrap();
    fs::create_dir_all(path.join("in the way")).unwrap();
    let error = bridge.call("add_server", &another).unwrap_err();
    assert!(error.message.contains("definitions.journal"), "{}", error.message);
    assert_eq!(reasons(&bridge), ["database_failing"]);
    bridge.speaking_for(SITE).grant(CALL, "ALLOW_ALWAYS", &json!({}));
    assert_eq!(reasons(&bridge), ["database_failing"], "a grant needs no journal");
    assert_eq!(bridge.tool_text("s", "echo", &json!({"n": 2})), "{\"n\":2}");
    fs::remove_dir_all(&path).unwrap();
    wait_until("it to be well without another change", LIMIT, || reasons(&bridge).is_empty());
    assert!(path.is_file());
    bridge.call("add_server", &another).unwrap();
    assert_eq!((ids(&bridge), reasons(&bridge)), (vec!["s".into(), "t".into()], vec![]));
}

/// SQLite goes on with a file that was moved, and says nothing: the bridge does.
#[test]
fn a_database_that_is_moved_away_is_noticed_with_the_next_change() {
    let home = Home::new();
    let bridge = Bridge::start(&home);
    bridge.call("add_server", &json!({"server_id": "s", "command": "/bin/true"})).unwrap();
    let (path, kept) = (database(&home), home.scratch("kept.db"));
    fs::rename(&path, &kept).unwrap();
    bridge.speaking_for(SITE).grant(CALL, "ALLOW_ALWAYS", &json!({}));
    assert_eq!(reasons(&bridge), ["database_failing"]);
    let health = bridge.call("health", &json!({})).unwrap();
    let message = health["health"]["reasons"][0]["message"].as_str().unwrap();
    assert!(message.contains("harbor.db was moved or removed"), "{message}");
    fs::rename(&kept, &path).unwrap();
    bridge.speaking_for(SITE).revoke(CALL, None);
    assert_eq!(reasons(&bridge), [""; 0]);
}

/// What a download may take.
const INSTALL: Duration = Duration::from_secs(300);

fn installed(bridge: &Bridge) -> Value {
    let listed = bridge.call("list_installed", &json!({})).unwrap();
    let mut one = listed["servers"][0].clone();
    // How it is doing at the moment.
    one.as_object_mut().unwrap().remove("server");
    one
}

fn connect(bridge: &Bridge, id: &str) {
    bridge.request("connect_server", &json!({"server_id": id})).wait(INSTALL).unwrap();
}

#[test]
fn a_package_keeps_its_version_when_the_database_is_lost() {
    let home = Home::new();
    let package = "npm:@modelcontextprotocol/server-sequential-thinking@2025.7.1";
    let mut bridge = Bridge::start(&home);
    let (_, err, code) = home.harbor(&["install", package, "--yes", "--name", "think"]);
    assert_eq!(code, Some(0), "{err}");
    let before = installed(&bridge);
    assert_eq!(before["version"], "2025.7.1");
    bridge.stop();
    overwrite(&database(&home), 0, &[0x5a; 100]);

    // Nobody is there to be asked for another version.
    let nobody = [("npm_config_registry", "http://127.0.0.1:9/"), ("npm_config_fetch_retries", "0")];
    let mut bridge = Bridge::start_with(&home, &nobody);
    assert_eq!(installed(&bridge), before);
    connect(&bridge, "think");
    let told = home.done(&["doctor", "-v"]);
    assert!(told.contains("1 server is back, 1 with the locked version of its package"), "{told}");
    bridge.stop();

    // The lock is lost as well: no other version is taken before somebody says so.
    overwrite(&database(&home), 0, &[0x5a; 100]);
    let locks: Vec<_> = fs::read_dir(home.path().join("locks")).unwrap().collect();
    let [Ok(lock)] = &locks[..] else { panic!("{locks:?}") };
    assert_eq!(lock.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    fs::write(lock.path(), "{}").unwrap();
    let bridge = Bridge::start(&home);
    let error = bridge.fail_to_connect("think");
    assert!(error.message.contains("`harbor upgrade think` installs the newest one"), "{error:?}");
    assert_eq!(error.details["cause"], "install_failed", "{error:?}");
    let told = home.done(&["doctor", "-v"]);
    assert!(told.contains("of think is lost"), "{told}");
    let told = home.done(&["status", "think"]);
    assert!(
        told.contains("locked     its version is lost (") && told.contains("`harbor upgrade think`"),
        "{told}"
    );
    assert!(!told.contains("no version yet"), "{told}");
    let (out, err, code) = home.harbor(&["upgrade", "think", "--to", "2025.7.1", "--yes"]);
    assert_eq!(code, Some(0), "{err}");
    assert!(out.starts_with("think: unknown → 2025.7.1\n"), "{out}");
    let after = installed(&bridge);
    assert_eq!((&after["version"], &after["integrity"]), (&before["version"], &before["integrity"]));
    connect(&bridge, "think");
}
