//! Runs a target on its corpus, then on mutations of it, until its time is over.
//!
//! Owns the budget, and what is said of an input that fails: enough to add it to the corpus. Must never let one
//! target's failure end the others. Not seen here are an abort (a stack that overflows) and a loop without end:
//! the test process shows those by itself.

use std::cell::{Cell, RefCell};
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook};
use std::sync::Once;
use std::time::{Duration, Instant, SystemTime};

use super::{Target, mutate};

/// A parser that needs so long for a few kilobytes does something that it should not.
const SLOW: Duration = Duration::from_secs(10);

/// The whole process, all targets at once, stays below this. A target's streams are at most half a MiB.
const MAX_MEMORY_KB: u64 = 384 * 1024;

/// Memory is looked at after so many inputs: a look costs as much as a few of them.
const LOOK_EVERY: u64 = 256;

/// How long a failing input is made shorter.
const SHRINKING: Duration = Duration::from_secs(3);

/// How long a target is driven where nobody says: tens of thousands of inputs.
const SHORT: Duration = Duration::from_millis(250);

/// What to do with a target.
#[derive(Debug, Clone, Copy)]
pub struct Plan {
    /// How long to mutate.
    pub time: Duration,
    /// The seed of the first mutation; the following ones count up.
    pub seed: u64,
}

/// What was done.
#[derive(Debug, Clone, Copy)]
pub struct Ran {
    /// How many inputs.
    pub executions: u64,
    /// In what time.
    pub took: Duration,
}

/// An input for which something does not hold.
#[derive(Debug)]
pub struct Failure {
    /// Which target.
    pub target: &'static str,
    /// The seed that makes the input; none when it stands in the corpus.
    pub seed: Option<u64>,
    /// What the target said.
    pub said: String,
    /// The input, as short as could be found.
    pub input: Vec<u8>,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "fuzz target `{}`: {}", self.target, self.said)?;
        match self.seed {
            Some(seed) => writeln!(f, "seed: HARBOR_FUZZ_SEED={seed} begins with it")?,
            None => writeln!(f, "it stands in the corpus")?,
        }
        write!(f, "for the corpus: b\"{}\"", self.input.escape_ascii())
    }
}

impl Plan {
    /// `HARBOR_FUZZ_SECONDS` (a quarter when unset); `HARBOR_FUZZ_SEED` (another one each time when unset).
    #[must_use]
    pub fn from_env() -> Self {
        let said = |name| std::env::var(name).ok();
        let seconds = said("HARBOR_FUZZ_SECONDS").and_then(|text| text.parse().ok());
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        let fresh = u64::from(now.subsec_nanos()) << 32;
        Self {
            time: seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok()).unwrap_or(SHORT),
            seed: said("HARBOR_FUZZ_SEED").and_then(|text| text.parse().ok()).unwrap_or(fresh),
        }
    }
}

/// Drives `target`.
///
/// # Errors
/// The first input for which something does not hold.
pub fn drive(target: &Target, plan: Plan) -> Result<Ran, Box<Failure>> {
    let begun = Instant::now();
    let mut executions = 0;
    for input in target.corpus {
        try_one(target, None, input)?;
        executions += 1;
    }
    let mut seed = plan.seed;
    while begun.elapsed() < plan.time {
        let input = mutate(target.corpus, seed);
        try_one(target, Some(seed), &input)?;
        if executions % LOOK_EVERY == 0 {
            bounded_memory().map_err(|said| failure(target, Some(seed), &input, said))?;
        }
        (executions, seed) = (executions + 1, seed.wrapping_add(1));
    }
    Ok(Ran { executions, took: begun.elapsed() })
}

fn try_one(target: &Target, seed: Option<u64>, input: &[u8]) -> Result<(), Box<Failure>> {
    let begun = Instant::now();
    if let Err(said) = caught(target.run, input) {
        let shorter = shrink(target.run, input);
        // What the short one says fits what is printed beside it.
        let said = caught(target.run, &shorter).err().unwrap_or(said);
        return Err(failure(target, seed, &shorter, said));
    }
    let took = begun.elapsed();
    if took > SLOW {
        return Err(failure(target, seed, input, format!("it took {took:?}")));
    }
    Ok(())
}

fn failure(target: &Target, seed: Option<u64>, input: &[u8], said: String) -> Box<Failure> {
    Box::new(Failure { target: target.name, seed, said, input: input.to_vec() })
}

thread_local! {
    /// Whether this thread is inside a target.
    static INSIDE: Cell<bool> = const { Cell::new(false) };
    /// What the last panic inside said, and where.
    static SAID: RefCell<String> = const { RefCell::new(String::new()) };
}

/// Runs once; what the panic said, if it panicked.
fn caught(run: fn(&[u8]), input: &[u8]) -> Result<(), String> {
    keep_panics();
    INSIDE.set(true);
    let ended = catch_unwind(AssertUnwindSafe(|| run(input)));
    INSIDE.set(false);
    ended.map_err(|_| SAID.take())
}

/// Panics inside targets are kept for the report instead of printed: shrinking makes thousands.
fn keep_panics() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let usual = take_hook();
        set_hook(Box::new(move |info| if INSIDE.get() { SAID.set(info.to_string()) } else { usual(info) }));
    });
}

/// Leaves out what can be left out, in ever smaller pieces.
fn shrink(run: fn(&[u8]), input: &[u8]) -> Vec<u8> {
    let begun = Instant::now();
    let mut best = input.to_vec();
    let mut piece = best.len() / 2;
    while piece > 0 {
        let mut at = 0;
        while at < best.len() && begun.elapsed() < SHRINKING {
            let mut shorter = best.clone();
            shorter.drain(at..(at + piece).min(best.len()));
            if caught(run, &shorter).is_err() { best = shorter } else { at += piece }
        }
        piece /= 2;
    }
    best
}

/// Where the system does not say how much memory was used, this is not looked at.
fn bounded_memory() -> Result<(), String> {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")?.trim().strip_suffix(" kB"));
    match peak.and_then(|peak| peak.parse::<u64>().ok()) {
        Some(peak) if peak > MAX_MEMORY_KB => {
            Err(format!("{peak} KiB of memory were in use; one of the inputs before may be the reason"))
        }
        _ => Ok(()),
    }
}
