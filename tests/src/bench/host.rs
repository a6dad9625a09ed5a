//! What permissions cost in a bridge that has very many of them, and very many tools.
//!
//! ```text
//!  empty home ─► starts ─► grants written ─► starts ─► servers defined, connected: tools pinned ─► starts
//!                                                                                                    │
//!      path (calls) ◄── checks, lists ◄── servers connected ◄── lists while no server runs ◄─────────┘
//! ```
//!
//! Owns the one home that goes this way and the questions to its bridges. Must not judge; the goals are the report's.

use crate::ask::{ask, count, read, request};
use crate::decisions::{self, any_site};
use crate::grants::{self, SERVERS, TOOLS, WITH_LIST, site};
use crate::harbor::Bridge;
use crate::home::Home;
use crate::options::Options;
use crate::path::{self, Way};
use crate::process::{self, Memory};
use crate::wire::{Link, excerpt};
use crate::{Outcome, say, watchdog};
use harbor_ipc_proto::client::{HostCheckPermission, HostCheckPermissionResult, HostListTools};
use harbor_policy::scope::Scope;
use harbor_policy::tool_name::MAX_ENTRIES;
use harbor_tests::random::Random;
use std::thread::sleep;
use std::time::{Duration, Instant};

/// Time to give buffers back before a look at the memory.
const SETTLE: Duration = Duration::from_secs(1);

/// For reports: until the first bytes of a reply had come, and until the last ones had.
pub const BEGINNING: &str = "until the reply begins";
/// See [`BEGINNING`].
pub const WHOLE: &str = "until the reply has come";

/// What is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Question {
    /// Whether an origin with a list of tools may call one of them, again and again.
    SameOrigin,
    /// Whether another origin each time may call a tool.
    AnyOrigin,
    /// What an origin may see that has a list of tools.
    Some,
    /// The same while no server runs.
    SomeAsleep,
    /// What an origin may see that may see everything.
    All,
}

/// The times of one question, in microseconds.
#[derive(Debug)]
pub struct Timed {
    /// What is asked.
    pub question: Question,
    /// From when to when.
    pub what: &'static str,
    /// One per question.
    pub times: Vec<f64>,
}

/// Starts of bridges in one home.
#[derive(Debug)]
pub struct Starts {
    /// What is in it.
    pub home: &'static str,
    /// Until the first answer, in milliseconds.
    pub times: Vec<f64>,
    /// What the last one of them held when it had done nothing else.
    pub held: Memory,
}

/// What was found.
#[derive(Debug)]
pub struct Figures {
    /// By question.
    pub timed: Vec<Timed>,
    /// By home.
    pub starts: Vec<Starts>,
    /// What the bridge held with all servers connected, and after all questions.
    pub held: [Memory; 2],
    /// Calls.
    pub path: Vec<Way>,
}

/// Measures everything, from an empty home on.
pub fn measure(options: &Options) -> Outcome<Figures> {
    say("host: decisions");
    let mut timed = decisions::measure(options)?;
    say("host: starts");
    let home = Home::new()?;
    grants::configure(&home)?;
    let (home, empty) = starts(options, home, "empty")?;
    grants::fill(&home)?;
    let (home, granted) = starts(options, home, "the grants")?;
    let (home, pinned) = starts(options, pinned(options, home)?, "the grants, and the tools are pinned")?;
    say("host: questions");
    let (bridge, mut link) = Bridge::start_in(options, home)?;
    timed.extend(lists(options, &mut link, Question::SomeAsleep)?);
    watchdog::step("connecting the servers".to_owned());
    grants::connect_servers(&mut link, TOOLS)?;
    sleep(SETTLE);
    let connected = process::memory(bridge.pid())?;
    timed.extend(questions(options, &mut link)?);
    sleep(SETTLE);
    let asked = process::memory(bridge.pid())?;
    let path = path::measure(options, &bridge, &mut link)?;
    Ok(Figures { timed, starts: vec![empty, granted, pinned], held: [connected, asked], path })
}

/// Starts bridges, one after the other, and looks at the memory of the last one.
fn starts(options: &Options, home: Home, what: &'static str) -> Outcome<(Home, Starts)> {
    let mut home = home;
    let mut times = Vec::new();
    loop {
        watchdog::step(format!("starting in a home: {what}"));
        let begin = Instant::now();
        let (bridge, link) = Bridge::start_in(options, home)?;
        times.push(begin.elapsed().as_secs_f64() * 1e3);
        let is_last = times.len() >= options.grant_starts;
        if is_last {
            sleep(SETTLE);
        }
        let held = process::memory(bridge.pid())?;
        drop(link);
        home = bridge.end();
        if is_last {
            return Ok((home, Starts { home: what, times, held }));
        }
    }
}

/// Has a bridge see all tools once; what it has seen, the next one knows.
fn pinned(options: &Options, home: Home) -> Outcome<Home> {
    watchdog::step("pinning the tools".to_owned());
    let (bridge, mut link) = Bridge::start_in(options, home)?;
    grants::add_servers(options, &mut link, TOOLS)?;
    grants::connect_servers(&mut link, TOOLS)?;
    drop(link);
    Ok(bridge.end())
}

fn questions(options: &Options, link: &mut Link) -> Outcome<Vec<Timed>> {
    let mut random = Random::new(2);
    let hot = check(0);
    let others: Vec<_> = (0..options.checks).map(|_| check(any_site(&mut random))).collect();
    let mut timed = vec![
        checks(link, Question::SameOrigin, &vec![hot; options.checks])?,
        checks(link, Question::AnyOrigin, &others)?,
    ];
    timed.extend(lists(options, link, Question::Some)?);
    timed.extend(lists(options, link, Question::All)?);
    Ok(timed)
}

fn check(number: usize) -> Vec<u8> {
    request(&HostCheckPermission {
        origin: Some(site(number)),
        profile: None,
        scope: Scope::McpToolsCall.as_str().to_owned(),
        tab_id: None,
        tool_name: Some(grants::tool_name(0)),
    })
}

fn checks(link: &mut Link, question: Question, requests: &[Vec<u8>]) -> Outcome<Timed> {
    watchdog::step(format!("{question:?}"));
    let mut times = Vec::with_capacity(requests.len());
    for request in requests {
        let begin = Instant::now();
        link.send(request)?;
        let answer = link.receive()?;
        times.push(begin.elapsed().as_secs_f64() * 1e6);
        if !read::<HostCheckPermissionResult>(answer)?.granted {
            return Err(format!("a check was answered by {}", excerpt(answer)).into());
        }
    }
    Ok(Timed { question, what: "the round trip", times })
}

/// Of each list the time until its reply begins, by when the bridge has decided about and written all of it; and the
/// time until all of it has come through the pipe.
fn lists(options: &Options, link: &mut Link, question: Question) -> Outcome<[Timed; 2]> {
    watchdog::step(format!("{question:?}"));
    let (number, expected) = match question {
        Question::All => (WITH_LIST, SERVERS * TOOLS),
        _ => (0, MAX_ENTRIES),
    };
    let list = HostListTools { origin: Some(site(number)), profile: None, tab_id: None, server_ids: None };
    let count = count(&ask(link, &list)?.tools.to_json())?;
    if count != expected {
        return Err(format!("{count} tools are listed instead of {expected}").into());
    }
    let request = request(&list);
    let (mut beginnings, mut ends) = (Vec::new(), Vec::new());
    for _ in 0..options.lists {
        let begin = Instant::now();
        link.send(&request)?;
        link.beginning()?;
        beginnings.push(begin.elapsed().as_secs_f64() * 1e6);
        link.rest()?;
        ends.push(begin.elapsed().as_secs_f64() * 1e6);
    }
    Ok([Timed { question, what: BEGINNING, times: beginnings }, Timed { question, what: WHOLE, times: ends }])
}
