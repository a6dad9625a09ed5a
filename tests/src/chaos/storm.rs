//! The first run: calls and kills, then calls until everything runs again, then an end.
//!
//! ```text
//!  servers defined and started ─► callers, command line, login, killer ─► calm ─► all answer ─► shutdown ─► files
//! ```
//!
//! Owns the threads. Must never wait for one without a limit.

use std::process::Command;
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use harbor_tests::Process;

use crate::dice::Dice;
use crate::link::{Link, Way};
use crate::options::Options;
use crate::stage::Stage;
use crate::tally::Tally;
use crate::{caller, cli, files, guarded, killer, login, mounts, panic_text, recovery, table, talk};

/// The callers.
const CALLERS: &[(&str, Way)] = &[
    ("browser-a", Way::Relay),
    ("browser-b", Way::Relay),
    ("browser-c", Way::Relay),
    ("socket-a", Way::Socket),
    ("socket-b", Way::Socket),
];

/// How often there is a line of progress.
const PROGRESS: Duration = Duration::from_secs(10);

/// The longest that a thread may take to end: the slowest request, and the command line's limit.
const JOIN: Duration = Duration::from_secs(75);

/// How often the bridge's memory is looked at.
const WEIGHING: Duration = Duration::from_secs(1);

/// So long a run says something of memory.
const LONG: Duration = Duration::from_secs(120);

/// What a bridge may take more or less at any time.
const SLACK_KIB: u64 = 8 * 1024;

/// A thread and its name.
type Named = (String, JoinHandle<()>);

/// Runs it all. What is wrong stands in the tally.
pub fn run(options: &Options, tally: &Arc<Tally>) {
    let stage = Arc::new(Stage::new(Arc::clone(tally), options.shared));
    prepare(&stage);
    let callers = start_callers(&stage, options.seed);
    let killer = start(&stage, "killer", Dice::new(options.seed, 0), {
        let most = options.kills;
        move |stage, dice| killer::run(stage, dice, most)
    });
    watch(options, &stage, &callers, &killer);
    stage.calm_down();
    join(tally, [killer]);
    guarded(tally, "recovery", || recovery::await_all(&stage));
    guarded(tally, "the login", || login::await_held(&stage));
    stage.end();
    join(tally, callers);
    tally.check_balance();
    judge_memory(options, tally);
    finish(options, &stage);
    println!("{}", table::rows(tally, stage.login.counts()));
}

fn prepare(stage: &Stage) {
    let link = Link::demand(stage, Way::Relay).expect("a bridge starts");
    for subject in &stage.subjects {
        link.reply(subject.definition()).expect("the definition is valid");
        link.connect(subject.id);
    }
    login::prepare(stage, &link);
    talk::prepare(stage, &link);
    link.finish(stage);
}

fn start_callers(stage: &Arc<Stage>, seed: u64) -> Vec<Named> {
    let callers = (1..).zip(CALLERS).map(|(number, (name, way))| {
        start(stage, name, Dice::new(seed, number), move |stage, dice| caller::run(stage, name, *way, dice))
    });
    let cli = start(stage, "cli", Dice::new(seed, 1000), |stage, _| cli::run(stage));
    let login = start(stage, "login", Dice::new(seed, 1001), login::run);
    let talk = start(stage, "talk", Dice::new(seed, 1002), talk::run);
    let fill = || start(stage, "full disks", Dice::new(seed, 1003), mounts::fill);
    let unplug = || start(stage, "unmounts", Dice::new(seed, 1004), mounts::unplug);
    let of_mounts = stage.mounts.iter().flat_map(|_| [fill(), unplug()]);
    callers.chain([cli, login, talk]).chain(of_mounts).collect()
}

fn start(
    stage: &Arc<Stage>,
    name: &str,
    dice: Dice,
    work: impl FnOnce(&Stage, Dice) + Send + 'static,
) -> Named {
    let stage = Arc::clone(stage);
    (name.to_owned(), thread::spawn(move || work(&stage, dice)))
}

/// Until the time is up, there were kills enough, or a thread has ended before it should.
fn watch(options: &Options, stage: &Stage, callers: &[Named], killer: &Named) {
    let begun = Instant::now();
    let (mut told, mut weighed) = (begun, begun);
    while begun.elapsed() < options.time && !killer.1.is_finished() {
        if callers.iter().any(|(_, thread)| thread.is_finished()) {
            return;
        }
        if told.elapsed() >= PROGRESS {
            told = Instant::now();
            println!("{:>5} s: {}", begun.elapsed().as_secs(), stage.tally.line());
        }
        if weighed.elapsed() >= WEIGHING {
            weighed = Instant::now();
            weigh(stage);
        }
        thread::sleep(Duration::from_millis(100));
    }
}

/// Notes what the bridge takes. There is none for a moment when it was killed.
fn weigh(stage: &Stage) {
    let bridge = stage.home.locked_by().and_then(Process::of);
    let said = bridge.map(|bridge| bridge.status("VmRSS")).unwrap_or_default();
    if let Some(kib) = said.split(' ').next().and_then(|kib| kib.parse().ok()) {
        stage.tally.takes(kib);
    }
}

/// Demands that the bridge's memory does not grow with what it has been through. A short run says nothing of that.
fn judge_memory(options: &Options, tally: &Tally) {
    let Some((warm, end)) = tally.memory() else { return };
    if options.time >= LONG && end > warm * 3 / 2 + SLACK_KIB {
        tally.broke(format!("the bridge took {warm} KiB when it was warm, and takes {end}"));
    }
}

fn join(tally: &Tally, threads: impl IntoIterator<Item = Named>) {
    let until = Instant::now() + JOIN;
    for (name, thread) in threads {
        while !thread.is_finished() && Instant::now() < until {
            thread::sleep(Duration::from_millis(20));
        }
        if !thread.is_finished() {
            tally.broke(format!("{name} hangs"));
        } else if let Err(panic) = thread.join() {
            tally.broke(format!("{name}: {}", panic_text(panic.as_ref())));
        }
    }
}

/// A new connection, the end of everything, and a look at what it left.
fn finish(options: &Options, stage: &Stage) {
    guarded(&stage.tally, "the end", || {
        recovery::nothing_astray(stage);
        if let Some(link) = Link::demand(stage, Way::Socket) {
            recovery::end_all(stage, link);
        }
    });
    files::faults(&stage.home).into_iter().for_each(|fault| stage.tally.broke(fault));
    if !stage.tally.broken().is_empty() {
        println!("the bridge's last words:\n{}", files::last_words(&stage.home));
    }
    if let Some(keep) = &options.keep {
        let kept = Command::new("cp").arg("-a").args([&stage.home.path(), keep]).status();
        println!("kept in {}: {kept:?}", keep.display());
    }
}
