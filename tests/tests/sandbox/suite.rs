//! Runs the attacks, a test for each row and user: what really becomes of each, against what the table says.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::process::Command;
use std::thread;
use std::time::Duration;

use harbor_tests::attacker::PYTHON;
use harbor_tests::processes::outlive;
use harbor_tests::{Attempt, Direct, LIMIT};
use nix::sys::signal::Signal;
use serde_json::{Value, json};

use crate::attacks::{ALL, Attack, Effect, Server, VARIABLES};
use crate::rows::{Guard, Outcome, Row, User};
use crate::scene::Scene;

/// After it a process that was sent a signal, or lost its server, still runs, where it is to go on. One that is to end may
/// take longer on a machine that does much else.
const SOON: Duration = Duration::from_secs(2);

/// The two ends of the table.
const WEAKEST: Row = Row::on(0, false);
const STRONGEST: Row = Row::on(6, true);

/// What became of an attack, and what there is to say of it.
type Found = (Outcome, String);

/// Runs every attack as every user; names all whose outcome is another than the table's. The users at the same time: most
/// of a row is waiting for what does not happen.
fn hold_to_the_table(row: Row) {
    let all: Vec<_> = thread::scope(|scope| {
        let users: Vec<_> = User::all().iter().map(|user| scope.spawn(|| all_wrong(row, *user))).collect();
        users.into_iter().flat_map(|user| user.join().unwrap()).collect()
    });
    assert!(all.is_empty(), "{row:?}: {} attacks\n{}", all.len(), all.join("\n"));
}

fn all_wrong(row: Row, user: User) -> Vec<String> {
    let scene = Scene::new(row, user);
    let wrong = attacks().filter_map(|attack| wrong(&scene, attack));
    let wrong = wrong.map(|wrong| format!("  {user:?}: {wrong}")).collect();
    scene.assert_unharmed();
    wrong
}

fn wrong(scene: &Scene, attack: &Attack) -> Option<String> {
    let expected = attack.expected(scene.row, scene.user);
    let (outcome, detail) = perform(scene, attack, expected);
    (outcome != expected).then(|| format!("{}: {outcome:?}, not {expected:?}: {detail}", attack.says))
}

fn perform(scene: &Scene, attack: &Attack, expected: Outcome) -> Found {
    let ends = |process, when| {
        let limit = if expected == when { LIMIT } else { SOON };
        outlive(&[process], limit).is_empty()
    };
    if let Err(why) = scene.running(attack.by) {
        return (Outcome::NotStarted, why);
    }
    let (name, arguments) = (attack.call)(scene);
    match &attack.effect {
        Effect::Says => said(&attempt(scene, attack.by, name, &arguments)),
        Effect::Changes(path) => {
            let path = path(scene);
            let before = state(&path);
            let attempt = attempt(scene, attack.by, name, &arguments);
            let changed = state(&path) != before;
            if changed {
                scene.repair(&path);
            }
            (if changed { Outcome::Possible } else { Outcome::Refused }, attempt.detail)
        }
        Effect::Ends(victim) => {
            let victim = victim(scene);
            let attempt = attempt(scene, attack.by, name, &arguments);
            let ended = attempt.done && ends(victim, Outcome::Possible);
            // Whoever has been ended is there for the next attack.
            let _ = scene.other_process();
            (if ended { Outcome::Possible } else { Outcome::Refused }, attempt.detail)
        }
        Effect::Outlives(file) => {
            let attempt = attempt(scene, attack.by, name, &arguments);
            if !attempt.done {
                return said(&attempt);
            }
            let daemon = scene.daemon(&file(scene));
            scene.stop(attack.by.id());
            let outlives = !ends(daemon, Outcome::Refused);
            daemon.signal(Signal::SIGKILL);
            (if outlives { Outcome::Possible } else { Outcome::Refused }, attempt.detail)
        }
    }
}

/// A server that ends over an attack has not succeeded with it.
fn attempt(scene: &Scene, by: Server, name: &str, arguments: &Value) -> Attempt {
    Attempt::by(&scene.bridge, by.id(), name, arguments).unwrap_or_else(|error| {
        // What it has left must not stand in the next one's way.
        scene.empty(&scene.data(by));
        Attempt { done: false, detail: format!("{}: {}", error.code, error.message) }
    })
}

fn said(attempt: &Attempt) -> Found {
    (if attempt.done { Outcome::Possible } else { Outcome::Refused }, attempt.detail.clone())
}

/// Everything about a file that an attack can change.
fn state(path: &Path) -> Option<(Option<Vec<u8>>, u32, i64, i64)> {
    let data = fs::symlink_metadata(path).ok()?;
    // Its content too: a change within one tick of the clock has the same time.
    Some((fs::read(path).ok(), data.mode(), data.ctime(), data.ctime_nsec()))
}

#[test]
fn with_the_sandbox_off_each_attack_succeeds() {
    hold_to_the_table(Row::OFF);
}

#[test]
fn one_runner_for_all_servers_holds_each_to_its_own_profile() {
    hold_to_the_table(Row::SHARED);
}

#[test]
fn the_weakest_offer_holds_what_it_says() {
    hold_to_the_table(WEAKEST);
}

#[test]
fn the_strongest_offer_holds_everything() {
    hold_to_the_table(STRONGEST);
}

/// The offers between these two. `scripts/groups.sh` says when they run.
mod between {
    use super::{Row, STRONGEST, WEAKEST, hold_to_the_table};

    macro_rules! rows {
        ($($name:ident: $landlock:literal, $namespaces:literal;)*) => {
            $(#[test]
            fn $name() {
                hold_to_the_table(Row::on($landlock, $namespaces));
            })*

            pub(super) fn all() -> Vec<Row> {
                vec![WEAKEST, $(Row::on($landlock, $namespaces),)* STRONGEST]
            }
        };
    }

    rows! {
        landlock_1_no_namespaces: 1, false;
        landlock_3_no_namespaces: 3, false;
        landlock_4_no_namespaces: 4, false;
        landlock_6_no_namespaces: 6, false;
        no_landlock_but_namespaces: 0, true;
        landlock_1_and_namespaces: 1, true;
        landlock_3_and_namespaces: 3, true;
        landlock_4_and_namespaces: 4, true;
    }
}

#[test]
fn each_row_of_the_table_is_run() {
    assert_eq!(Row::table(), between::all());
}

#[test]
fn all_is_refused_where_the_kernel_offers_all() {
    for user in [User::Root, User::Ordinary] {
        let open = attacks().filter(|attack| attack.expected(STRONGEST, user) != Outcome::Refused);
        let open: Vec<_> = open.map(|attack| attack.says).collect();
        assert_eq!(open, Vec::<&str>::new(), "{user:?}");
    }
}

/// What the launcher sees to is there at every level, so these are tried without Harbor: started by somebody careless.
#[test]
fn what_the_launcher_prevents_succeeds_without_it() {
    let scene = Scene::new(Row::OFF, User::Ordinary);
    let mut careless = Command::new("/bin/sh");
    careless.args(["-c", "exec 7</etc/passwd; exec \"$0\" \"$@\"", PYTHON, "-I"]).arg(scene.attacker_file());
    careless.envs(VARIABLES.iter().map(|name| (name, "here")));
    let mut direct = Direct::start(&mut careless).initialized();
    for attack in attacks().filter(|attack| attack.held_by.contains(&Guard::Launcher)) {
        let (name, arguments) = (attack.call)(&scene);
        let call = json!({"name": "attack", "arguments": {"name": name, "arguments": arguments}});
        let answer = direct.ask("tools/call", &call);
        let said: Value =
            serde_json::from_str(answer["result"]["content"][0]["text"].as_str().unwrap()).unwrap();
        assert_eq!(said["done"], true, "{}: {said}", attack.says);
    }
}

#[test]
fn no_attack_is_refused_for_its_own_inability() {
    let never = |attack: &&Attack| {
        attack.expected(Row::OFF, User::Root) != Outcome::Possible
            && !attack.held_by.contains(&Guard::Launcher)
    };
    let never: Vec<_> = attacks().filter(never).map(|attack| attack.says).collect();
    assert_eq!(never, Vec::<&str>::new());
}

fn attacks() -> impl Iterator<Item = &'static Attack> {
    ALL.iter().flat_map(|(_, attacks)| *attacks)
}
