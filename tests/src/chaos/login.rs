//! A remote server that wants the person, whose tokens end again and again: its login has to hold.
//!
//! ```text
//!  tokens end ─► call ─► done
//!                  └► the person is needed ─► was what renewed it killed in the middle? ─► yes: counted, signed in again
//!                                                                                          no: broken
//! ```
//!
//! A refresh token is good once. When the process that has sent it dies before the new one is stored, nobody has a good one
//! any more, and the authorization server takes the next use of the old one for a theft. That is the one loss that nothing can avoid.
//! Must never excuse another.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, sync_channel};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Instant;

use harbor_ipc_proto::client::McpCallTool;
use harbor_ipc_proto::client::{AddRemoteServer, ConnectServer, OauthFinish, OauthStart};
use harbor_ipc_proto::field::Message as _;
use harbor_tests::authority::{Authority, Twists, try_visit};
use harbor_tests::client::{server_id, shown, tool_call};
use harbor_tests::processes::descendants;
use harbor_tests::{Answer, ErrorValue, Home, LIMIT, Pending, Process, wait_until};
use nix::sys::signal::Signal;
use serde_json::{Value, json};

use crate::dice::Dice;
use crate::link::{Link, Way};
use crate::midst;
use crate::recovery::BACK;
use crate::servers::supervision;
use crate::stage::Stage;
use crate::victims::{self, Kind};

/// The server's name.
const ID: &str = "login";

/// How long a renewal's answer may be on its way, in milliseconds: long enough to be hit.
const ON_THE_WAY: u64 = 250;

/// The server and who lets people in there.
#[derive(Debug)]
pub struct Login {
    authority: Authority,
    stored: PathBuf,
    /// Numbers of refresh tokens whose renewal was killed before they were stored.
    excused: Mutex<BTreeSet<u32>>,
    /// Runners whose bridge was killed, and the number of the newest refresh token at that time.
    orphans: Mutex<(u32, Vec<Process>)>,
    /// Calls that were answered.
    done: AtomicU64,
    lost: AtomicU64,
}

impl Login {
    /// Both servers, for this home.
    pub fn start(home: &Home) -> Self {
        let authority = Authority::start(Twists { holds_renewals: Some(slow()), ..Twists::default() });
        let stored = home.path().join("secrets/credentials.json");
        Self {
            authority,
            stored,
            excused: Mutex::default(),
            orphans: Mutex::default(),
            done: 0.into(),
            lost: 0.into(),
        }
    }

    /// Kills the bridge, or a runner that may be renewing, and notes whether that is the end of a renewal. Any other signal ends none.
    pub fn kill(&self, kind: Kind, process: Process) {
        self.watch();
        // A stopped process does nothing between the look and its end.
        process.signal(Signal::SIGSTOP);
        let (issued, is_hit) = self.look(kind, process);
        let below = descendants(process.pid);
        process.signal(Signal::SIGKILL);
        if is_hit {
            self.excused().insert(issued);
        }
        if kind == Kind::Bridge {
            let mut orphans = lock(&self.orphans);
            let asks = |process: &Process| victims::kind(*process) == Some(Kind::Remote);
            orphans.0 = issued;
            orphans.1.extend(below.into_iter().filter(asks));
        }
    }

    /// What is stored is excused no more; and what was told to renew by a bridge that was killed may send its request behind the end
    /// of that one.
    pub fn watch(&self) {
        let mut orphans = lock(&self.orphans);
        // Before the look: who is gone by now has sent what it sent.
        let is_over = orphans.1.iter().all(|process| process.is_gone());
        let (issued, is_stored) = self.newest();
        if is_stored {
            self.excused().remove(&issued);
        }
        if !orphans.1.is_empty() && !is_stored && issued > orphans.0 {
            self.excused().insert(issued);
        }
        if is_over {
            orphans.1.clear();
        }
    }

    /// The number of the refresh token that a renewal brings or is to bring, and whether this process has it in hand.
    fn look(&self, kind: Kind, process: Process) -> (u32, bool) {
        let asking = midst::connections_to(self.authority.issuer.port);
        let (issued, is_stored) = self.newest();
        let is_hit = match kind {
            // It would have stored what comes.
            Kind::Bridge => !asking.is_empty() || !is_stored,
            // One that asks nobody any more may have the answer, and have told nobody.
            _ => midst::has_one_of(process, &asking) || (asking.is_empty() && !is_stored),
        };
        (if is_stored && is_hit { issued + 1 } else { issued }, is_hit)
    }

    /// The number of the newest refresh token, and whether it is stored.
    fn newest(&self) -> (u32, bool) {
        let issued = self.authority.issued();
        let text = fs::read_to_string(&self.stored).unwrap_or_default();
        (issued, text.contains(&format!("\"refresh-token-{issued}\"")))
    }

    /// Whether the newest refresh token is stored.
    pub fn is_stored(&self) -> bool {
        self.newest().1
    }

    fn excused(&self) -> MutexGuard<'_, BTreeSet<u32>> {
        lock(&self.excused)
    }

    /// How many renewals there were, how many logins were lost, and how often a refresh token was used twice.
    pub fn counts(&self) -> (usize, u64, u32) {
        let renewals = self.authority.grants("refresh_token");
        (renewals, self.lost.load(Ordering::SeqCst), self.authority.good().reuses)
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Something comes after a while, again and again, as long as somebody takes it.
fn slow() -> Receiver<()> {
    let (sender, receiver) = sync_channel(0);
    thread::spawn(move || {
        let mut dice = Dice::new(0, 0);
        while sender.send(()).is_ok() {
            thread::sleep(dice.milliseconds(0, ON_THE_WAY));
        }
    });
    receiver
}

fn id() -> Value {
    json!({"server_id": ID})
}

/// Defines the server and signs in there. Nobody is killed yet.
pub fn prepare(stage: &Stage, link: &Link) {
    let definition = json!({"server_id": ID, "url": stage.login.authority.mcp.url(), "allow_private": true,
        "supervision": shown(&supervision())});
    link.call(AddRemoteServer::TAG, &definition).expect("the definition is valid");
    sign_in(link).expect("the person is let in");
}

/// The whole way, to a server that runs.
fn sign_in(link: &Link) -> Result<(), ErrorValue> {
    let begun = link.call(OauthStart::TAG, &id())?;
    // Whoever waits for the browser may be gone; the next request says so.
    let _ = try_visit(begun["authorization_url"].as_str().expect("a URL"));
    link.call(OauthFinish::TAG, &id())?;
    link.call(ConnectServer::TAG, &id()).map(drop)
}

/// How it stands.
struct Standing {
    /// The person is let in.
    is_in: bool,
    /// The newest token has been good for a call. One that is refused before its first use is not renewed once more: that would have no
    /// end, and the person is asked.
    is_used: bool,
}

/// Calls until the run is over.
pub fn run(stage: &Stage, mut dice: Dice) {
    let mut standing = Standing { is_in: true, is_used: false };
    while let Some(link) = Link::open(stage, Way::Socket) {
        while !stage.is_over() && step(stage, &link, &mut dice, &mut standing) {
            thread::sleep(dice.milliseconds(10, 100));
        }
        link.finish(stage);
    }
    check_reuses(stage);
}

/// False when the connection is of no more use.
fn step(stage: &Stage, link: &Link, dice: &mut Dice, standing: &mut Standing) -> bool {
    if !standing.is_in {
        return signed_in(stage, link, standing);
    }
    if standing.is_used && dice.happens(60) {
        stage.login.authority.end_tokens();
        stage.tally.note("tokens ended");
    }
    let call = McpCallTool { timeout_ms: Some(5000), ..tool_call(server_id(ID), "t", "{}".into()) };
    stage.tally.sent();
    let (begun, pending) = (Instant::now(), link.send_request(&call));
    let besides = disturb(link, dice, &pending);
    let outcome = pending.wait(LIMIT);
    if let Some(besides) = besides {
        let _ = besides.wait(LIMIT);
    }
    judge(stage, outcome, begun, standing)
}

/// What the person does in the middle of a call.
fn disturb(link: &Link, dice: &mut Dice, pending: &Pending) -> Option<Pending> {
    match dice.below(20) {
        0 => Some(link.request(ConnectServer::TAG, &json!({"server_id": ID, "restart": true}))),
        1 => Some(link.request("cancel", &json!({"target": pending.id}))),
        _ => None,
    }
}

fn judge(
    stage: &Stage,
    outcome: Result<Answer, ErrorValue>,
    begun: Instant,
    standing: &mut Standing,
) -> bool {
    let (how, lives) = match &outcome {
        Ok(answer) if answer.content_text() == "done" => {
            stage.login.done.fetch_add(1, Ordering::SeqCst);
            ("result", true)
        }
        Ok(answer) => {
            stage.tally.broke(format!("{ID} answered {}", answer.text));
            ("result", true)
        }
        Err(error) if needs_person(error) => {
            standing.is_in = false;
            lost(stage);
            ("login lost", true)
        }
        Err(error) => match error.code.as_str() {
            "closed" | "shutting_down" => (error.code.as_str(), false),
            code @ ("ERR_TOOL_TIMEOUT" | "ERR_SERVER_UNAVAILABLE" | "cancelled") => (code, true),
            code => {
                stage.tally.broke(format!("a call of {ID} ended: {error:?}"));
                (code, true)
            }
        },
    };
    standing.is_used = how == "result";
    stage.tally.ended(how, begun.elapsed());
    lives
}

fn needs_person(error: &ErrorValue) -> bool {
    error.code == "ERR_AUTHORIZATION_REQUIRED" || error.details["cause"] == "needs_authorization"
}

/// The login has not held: one renewal, at the most, was killed in the middle.
fn lost(stage: &Stage) {
    // The killer looks now and then only, and not behind its last kill.
    stage.login.watch();
    let (issued, reuses) = (stage.login.authority.issued(), stage.login.authority.good().reuses);
    stage.login.lost.fetch_add(1, Ordering::SeqCst);
    if stage.login.excused().remove(&issued) {
        stage.tally.note("login lost with a killed renewal");
    } else {
        let excused = stage.login.excused().clone();
        stage.tally.broke(format!(
            "the login was lost at refresh token {issued}; renewals were killed at {excused:?}; {reuses} uses of old ones"
        ));
    }
}

/// False when the connection is of no more use.
fn signed_in(stage: &Stage, link: &Link, standing: &mut Standing) -> bool {
    match sign_in(link) {
        Ok(()) => {
            standing.is_in = true;
            stage.tally.note("signed in again");
            true
        }
        Err(error) => !["closed", "shutting_down"].contains(&error.code.as_str()),
    }
}

fn check_reuses(stage: &Stage) {
    let (_, lost, reuses) = stage.login.counts();
    if reuses > 0 && lost == 0 {
        stage.tally.broke(format!("refresh tokens were used twice {reuses} times, and no login was lost"));
    }
}

/// Waits until calls are answered there after the last kill.
pub fn await_held(stage: &Stage) {
    let done = || stage.login.done.load(Ordering::SeqCst);
    let before = done();
    wait_until("calls that are answered behind the login", BACK, || done() > before + 3);
}
