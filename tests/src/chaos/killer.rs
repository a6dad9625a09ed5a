//! Sends signals to what runs in the home. Must never signal anything else.

use std::thread;
use std::time::Instant;

use harbor_tests::Process;
use nix::sys::signal::Signal;

use crate::dice::Dice;
use crate::stage::Stage;
use crate::victims::{self, Kind};

const SIGNALS: &[(Signal, u64)] = &[(Signal::SIGKILL, 60), (Signal::SIGTERM, 20), (Signal::SIGSTOP, 20)];

/// A stopped process, and when it may go on.
type Stopped = (Instant, Process);

/// Kills until it is told to stop, or has done so often enough.
pub fn run(stage: &Stage, mut dice: Dice, most: u64) {
    let mut stopped: Vec<Stopped> = Vec::new();
    while !stage.is_calm() && stage.tally.kills() < most {
        thread::sleep(dice.milliseconds(20, 80));
        stage.login.watch();
        let now = Instant::now();
        stopped.extract_if(.., |(until, _)| *until <= now).for_each(go_on);
        stopped.extend(strike(stage, &mut dice));
    }
    stopped.into_iter().for_each(go_on);
}

fn go_on((_, process): Stopped) {
    process.signal(Signal::SIGCONT);
}

/// One signal for one process; what is to go on later.
fn strike(stage: &Stage, dice: &mut Dice) -> Option<Stopped> {
    let all = victims::all(&stage.home);
    let spares = stage.spares();
    let of = |kind: Kind| all.iter().filter(move |(its, _)| *its == kind).map(|(_, process)| *process);
    let present: Vec<_> = Kind::WEIGHTS
        .iter()
        .copied()
        .filter(|(kind, _)| of(*kind).next().is_some() && !(*spares && *kind == Kind::Bridge))
        .collect();
    let kind = dice.weighted(&present)?;
    let process = *dice.one_of(&of(kind).collect::<Vec<_>>())?;
    let signal = dice.weighted(SIGNALS)?;
    if signal == Signal::SIGKILL && matches!(kind, Kind::Remote | Kind::Bridge) {
        stage.login.kill(kind, process);
    } else {
        process.signal(signal);
    }
    stage.tally.killed(kind.name(), signal.as_str());
    // Nobody could find out that a bridge hangs; of all others, Harbor has to.
    let later = signal == Signal::SIGSTOP && (kind.must_go_on() || dice.happens(50));
    later.then(|| (Instant::now() + dice.milliseconds(50, 500), process))
}
