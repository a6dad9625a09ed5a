//! What much of everything costs: floods, large messages, servers, clients, tools, calls, and others that do not play along.
//!
//! Owns how much of each, and what these measurements share. Must not know what any of them finds.

use crate::ask::{ask, connect, program};
use crate::beside::{self, Beside};
use crate::crowd::{self, Crowd};
use crate::growth::{self, Size};
use crate::large::{self, Large};
use crate::loud::{self, Loud};
use crate::options::Options;
use crate::ready::{self, Ready};
use crate::shelf::{self, Shelf};
use crate::soak::{self, Look};
use crate::wire::Link;
use crate::{Outcome, watchdog};
use std::time::Duration;

/// Time to give buffers back before a look at the memory.
pub const SETTLE: Duration = Duration::from_secs(1);

/// How much of everything.
#[derive(Debug, Clone, Copy)]
pub struct Amounts {
    /// Numbers of servers under one bridge.
    pub servers: &'static [usize],
    /// How often a bridge starts with each of these numbers.
    pub starts: usize,
    /// Numbers of clients at once.
    pub clients: &'static [usize],
    /// Numbers of tools that the bridge knows of.
    pub tools: &'static [usize],
    /// Starts of runners from either heap.
    pub runner_starts: usize,
    /// How often each kind of large message is sent.
    pub large_messages: usize,
    /// Calls of the soak.
    pub soak: usize,
}

impl Amounts {
    /// What is recorded.
    pub const FULL: Self = Self {
        servers: &[1, 10, 50, 100, 200],
        starts: 3,
        clients: &[1, 4, 16, 64],
        tools: &[100, 1_000, 10_000],
        runner_starts: 300,
        large_messages: 5,
        soak: 1_000_000,
    };

    /// What shows that everything works.
    pub const QUICK: Self = Self {
        servers: &[1, 5, 20],
        starts: 1,
        clients: &[1, 4, 16],
        tools: &[100, 1_000],
        runner_starts: 20,
        large_messages: 1,
        soak: 20_000,
    };
}

/// What was found.
#[derive(Debug)]
pub struct Figures {
    /// A flood beside: relays, Harbor.
    pub beside: [Beside; 2],
    /// One large message beside: text, the same in chunks, numbers.
    pub large: [Large; 3],
    /// Starts of runners, by heap.
    pub ready: [Ready; 2],
    /// By number of servers.
    pub growth: Vec<Size>,
    /// By number of clients.
    pub crowd: Vec<Crowd>,
    /// By number of tools.
    pub shelf: Vec<Shelf>,
    /// In order.
    pub soak: Vec<Look>,
    /// A slow client, a loud server.
    pub loud: [Loud; 2],
}

/// Measures everything, one after the other.
pub fn measure(options: &Options) -> Outcome<Figures> {
    let figures = Figures {
        beside: beside::measure(options)?,
        large: large::measure(options)?,
        ready: ready::measure(options)?,
        growth: growth::measure(options)?,
        crowd: crowd::measure(options)?,
        shelf: shelf::measure(options)?,
        soak: soak::measure(options)?,
        loud: loud::measure(options)?,
    };
    watchdog::step("scale: done".to_owned());
    Ok(figures)
}

/// Defines an echo server and waits until it runs.
pub fn connect_echo(options: &Options, link: &mut Link, id: &str) -> Outcome<()> {
    ask(link, &program(id, &options.program("echo-server")?, &[])?)?;
    connect(link, id)?;
    Ok(())
}
