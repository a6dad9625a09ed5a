//! A bridge of the driver's own, in a home of its own, and the echo server behind it.
//!
//! Owns both for the time of one measurement. Must not touch the Harbor of the person who runs the benchmark.

use crate::Outcome;
use crate::ask::{Pids, ask, connect, program, servers};
use crate::home::Home;
use crate::options::Options;
use crate::process::{self, Started};
use crate::request::{Manner, SERVER};
use crate::setup::{Hop, Setup};
use crate::wire::{Framing, Link};
use harbor_ipc_proto::client::{AddServer, Attach, Hello, Level, SandboxSettings};
use harbor_ipc_proto::field::JsonObject;
use harbor_ipc_proto::frame::NATIVE_MESSAGING_LIMIT;
use std::fs;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

/// Larger than every answer here, so that none comes in chunks.
const MAX_FRAME: usize = 64 * 1024 * 1024;

/// How long the socket may take to appear after the bridge's first answer.
const SOCKET: Duration = Duration::from_secs(5);

/// How many processes a bridge has for its servers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Runners {
    /// One for each of them.
    Each,
    /// One for all.
    One,
}

impl Runners {
    fn as_isolation(self) -> &'static str {
        match self {
            Self::Each => "1",
            Self::One => "0",
        }
    }
}

/// A running bridge. Drop the links to it before.
#[derive(Debug)]
pub struct Bridge {
    own: Started,
    home: Home,
}

impl Bridge {
    /// Starts a bridge in a new home; the link is its stdin and stdout.
    pub fn start(options: &Options) -> Outcome<(Self, Link)> {
        Self::start_in(options, Home::new()?)
    }

    /// Starts a bridge where another one may have been.
    pub fn start_in(options: &Options, home: Home) -> Outcome<(Self, Link)> {
        Self::start_as(options, home, Runners::Each)
    }

    /// The same, with as many runners.
    pub fn start_as(options: &Options, home: Home, runners: Runners) -> Outcome<(Self, Link)> {
        let mut command = Command::new(options.program("harbor-bridge")?);
        command.env("HARBOR_MCP_ISOLATION", runners.as_isolation());
        Self::start_by(command, home)
    }

    /// The same by a command that runs the bridge, with more arguments.
    pub fn start_by(mut command: Command, home: Home) -> Outcome<(Self, Link)> {
        command.args(["serve", "--stdio"]).env("HARBOR_HOME", &home.path);
        let errors = fs::File::create(home.path.join("bridge.stderr"))?;
        let (own, mut link) = process::start(command.stderr(errors), Framing::Length)?;
        let bridge = Self { own, home };
        match hello(&mut link) {
            Ok(()) => Ok((bridge, link)),
            Err(error) => {
                Err(format!("the bridge did not answer: {error}; its stderr: {}", bridge.stderr()).into())
            }
        }
    }

    /// Its home.
    pub fn directory(&self) -> &std::path::Path {
        &self.home.path
    }

    /// The bridge's process id.
    pub fn pid(&self) -> u32 {
        self.own.pid()
    }

    /// Ends it and leaves what it has stored.
    pub fn end(self) -> Home {
        let Self { own, home } = self;
        drop(own);
        home
    }

    /// A second way in: the local socket, as the command line uses it.
    pub fn attach(&self) -> Outcome<Link> {
        let mut link = self.attached()?;
        hello(&mut link)?;
        Ok(link)
    }

    /// The same for one that takes frames no longer than browsers do, and what is longer in chunks.
    pub fn attach_as_browser(&self) -> Outcome<Link> {
        let mut link = self.attached()?;
        say_hello(&mut link, NATIVE_MESSAGING_LIMIT, true)?;
        Ok(link)
    }

    fn attached(&self) -> Outcome<Link> {
        let run = self.home.path.join("run");
        let stream = connected(&run.join("bridge.sock"))?;
        let token = fs::read_to_string(run.join("token"))?;
        let mut link = Link::of_socket(stream, Framing::Length)?;
        let attach = Attach {
            token: token.trim().to_owned(),
            role: "cli".into(),
            protocol: None,
            build: None,
            extension_id: None,
            client: None,
            token_id: None,
        };
        ask(&mut link, &attach)?;
        Ok(link)
    }

    /// Defines the echo server, connects it, and says which processes are on the way to it.
    pub fn connect_server(&self, options: &Options, link: &mut Link) -> Outcome<Vec<Hop>> {
        self.connect_confined(options, link, "standard")
    }

    /// The same with a sandbox of this level.
    pub fn connect_confined(&self, options: &Options, link: &mut Link, level: &str) -> Outcome<Vec<Hop>> {
        add_server(options, link, level)?;
        connect(link, SERVER)?;
        let servers = servers(link)?;
        let pids = Pids::of(servers.first().ok_or("no server is listed")?)?;
        Ok(vec![("bridge", self.pid()), ("runner", pids.runner), ("server", pids.server)])
    }

    /// A program of Harbor's that finds this bridge.
    pub fn command(&self, options: &Options, program: &str) -> Outcome<Command> {
        let mut command = Command::new(options.program(program)?);
        command.env("HARBOR_HOME", &self.home.path).env_remove("HARBOR_MCP_ISOLATION");
        Ok(command)
    }

    fn stderr(&self) -> String {
        fs::read_to_string(self.home.path.join("bridge.stderr")).unwrap_or_default()
    }
}

/// Both ways into one bridge, which goes last.
pub fn setups(options: &Options) -> Outcome<(Bridge, Vec<Setup>)> {
    let (bridge, mut stdio) = Bridge::start(options)?;
    let hops = bridge.connect_server(options, &mut stdio)?;
    let socket = bridge.attach()?;
    let setups = vec![
        Setup::open("Harbor, stdio", Manner::Owner, stdio, None, hops.clone())?,
        Setup::open("Harbor, socket", Manner::Owner, socket, None, hops)?,
    ];
    Ok((bridge, setups))
}

/// Defines the echo server, with a sandbox of this level.
pub fn add_server(options: &Options, link: &mut Link, level: &str) -> Outcome<()> {
    let level = Level::of(level).ok_or("no such level")?;
    let sandbox = SandboxSettings { level: Some(level), ..SandboxSettings::default() };
    let echo = program(SERVER, &options.program("echo-server")?, &[])?;
    ask(link, &AddServer { sandbox: Some(JsonObject::written(&sandbox)), ..echo })?;
    Ok(())
}

/// Says what this client is; the first of all messages.
pub fn hello(link: &mut Link) -> Outcome<()> {
    say_hello(link, MAX_FRAME, false)
}

fn say_hello(link: &mut Link, max_frame: usize, chunks: bool) -> Outcome<()> {
    let hello = Hello {
        protocol: Some(harbor_ipc_proto::CLIENT_PROTOCOL),
        client: Some("bench".into()),
        chunks: Some(chunks),
        max_frame: Some(max_frame.try_into()?),
        browser_session: None,
    };
    ask(link, &hello)?;
    Ok(())
}

fn connected(socket: &Path) -> Outcome<UnixStream> {
    let end = Instant::now() + SOCKET;
    loop {
        match UnixStream::connect(socket) {
            Ok(stream) => return Ok(stream),
            Err(error) if Instant::now() > end => return Err(format!("{}: {error}", socket.display()).into()),
            Err(_) => std::thread::sleep(Duration::from_millis(10)),
        }
    }
}
