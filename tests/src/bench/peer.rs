//! Public programs that do a similar job: where scripts/peers puts each, how it is started before the echo server, and
//! how it is spoken to.
//!
//! ```text
//!  DIR/NAME/version    what was to be installed
//!  DIR/NAME/failed     why it is not, where it is not
//!  DIR/NAME/PROGRAM    the program
//! ```
//!
//! Must not install or change anything there: what a program writes goes to a home of its own, which is deleted.

use crate::Outcome;
use crate::fuse::Fuse;
use crate::home::Home;
use crate::http_setup::{Dialect, HttpSetup, Place};
use crate::options::Options;
use crate::process::{self, Started};
use crate::request::{Manner, SERVER};
use crate::setup::{self, Setup};
use serde_json::json;
use std::fs;
use std::net::{Ipv4Addr, TcpListener};
use std::path::Path;
use std::process::Command;
use std::thread::sleep;
use std::time::{Duration, Instant};

/// How long a program may take until it answers its first call.
const START: Duration = Duration::from_secs(30);

/// Between two tries.
const PAUSE: Duration = Duration::from_millis(100);

/// How a program is spoken to.
#[derive(Debug, Clone, Copy)]
enum Front {
    /// MCP on its stdin and stdout.
    Pipes,
    /// Over HTTP.
    Http(Dialect),
}

/// One of the programs.
#[derive(Debug)]
pub struct Peer {
    /// Its directory, and its name in reports.
    pub name: &'static str,
    program: &'static str,
    /// `{port}`, `{server}` and `{config}` stand for what only the driver knows.
    args: &'static [&'static str],
    front: Front,
}

/// All of them.
pub const PEERS: [Peer; 6] = [
    Peer {
        name: "npm-mcp-proxy",
        program: "node_modules/.bin/mcp-proxy",
        args: &["--host", "127.0.0.1", "--port", "{port}", "--server", "stream", "--", "{server}"],
        front: Front::Http(Dialect::Mcp("")),
    },
    Peer {
        name: "supergateway",
        program: "node_modules/.bin/supergateway",
        // It gives the command to a shell. Without sessions it would start a server for each call.
        args: &[
            "--stdio",
            "'{server}'",
            "--outputTransport",
            "streamableHttp",
            "--stateful",
            "--port",
            "{port}",
            "--logLevel",
            "none",
        ],
        front: Front::Http(Dialect::Mcp("")),
    },
    Peer {
        name: "1mcp",
        program: "node_modules/.bin/1mcp",
        args: &["serve", "--host", "127.0.0.1", "--port", "{port}", "--config", "{config}"],
        front: Front::Http(Dialect::Mcp("bench_1mcp_")),
    },
    Peer {
        name: "mcp-hub",
        program: "node_modules/.bin/mcp-hub",
        args: &["--port", "{port}", "--config", "{config}"],
        // Its MCP endpoint is the older transport of two connections.
        front: Front::Http(Dialect::Rest),
    },
    Peer {
        name: "pypi-mcp-proxy",
        program: "venv/bin/mcp-proxy",
        args: &["--host", "127.0.0.1", "--port", "{port}", "--log-level", "ERROR", "--", "{server}"],
        front: Front::Http(Dialect::Mcp("")),
    },
    Peer {
        name: "fastmcp",
        program: "venv/bin/fastmcp",
        args: &["run", "{config}", "--no-banner", "--log-level", "ERROR"],
        front: Front::Pipes,
    },
];

/// A way to the echo server.
#[derive(Debug)]
pub enum Way {
    /// Over pipes.
    Pipes(Setup),
    /// Over HTTP.
    Http(HttpSetup),
}

/// One that runs and has answered. Dropped in this order: a closed pipe tells a program to end.
#[derive(Debug)]
pub struct Running {
    /// The way through it.
    pub way: Way,
    /// The processes that it began as.
    pub roots: Vec<u32>,
    /// What ends with it: processes, then what they have written.
    pub _kept: (Option<Started>, Option<Home>),
}

impl Peer {
    /// Which version of what it is, as far as scripts/peers says.
    pub fn version(&self, peers: &Path) -> String {
        let text = fs::read_to_string(peers.join(self.name).join("version")).unwrap_or_default();
        text.trim().to_owned()
    }

    /// Starts it and makes a first call; an error says why it cannot take part.
    pub fn start(&self, options: &Options, peers: &Path) -> Outcome<Running> {
        let dir = peers.join(self.name);
        if let Ok(reason) = fs::read_to_string(dir.join("failed")) {
            return Err(format!("not installed: {}", reason.trim()).into());
        }
        let program = dir.join(self.program);
        if !program.is_file() {
            return Err("not installed; scripts/peers does that".into());
        }
        let home = Home::new()?;
        let port = free_port()?;
        let mut command = self.command(options, &program, &home, port)?;
        match self.front {
            Front::Pipes => over_pipes(&mut command, home),
            Front::Http(dialect) => over_http(&mut command, home, port, dialect),
        }
    }

    fn command(&self, options: &Options, program: &Path, home: &Home, port: u16) -> Outcome<Command> {
        let server = options.program("echo-server")?.display().to_string();
        let config = home.path.join("servers.json");
        let servers = json!({ "mcpServers": { SERVER: { "command": server, "args": [] } } });
        fs::write(&config, servers.to_string())?;
        let (port, config) = (port.to_string(), config.display().to_string());
        let filled = self.args.iter().map(|arg| {
            arg.replace("{port}", &port).replace("{server}", &server).replace("{config}", &config)
        });
        let mut command = Command::new(program);
        command.args(filled).current_dir(&home.path).env("HOME", &home.path);
        for of_home in ["XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME"] {
            command.env_remove(of_home);
        }
        Ok(command)
    }
}

fn over_pipes(command: &mut Command, home: Home) -> Outcome<Running> {
    let said = home.path.join("said");
    let (own, mut link) = process::start(command.stderr(fs::File::create(&said)?), Manner::Plain.framing())?;
    let pid = own.pid();
    let _fuse = Fuse::lit(pid, START);
    setup::contact(&mut link).map_err(|error| with_words(&error.to_string(), &said))?;
    setup::list(&mut link).map_err(|error| with_words(&error.to_string(), &said))?;
    let setup = Setup::open("peer", Manner::Plain, link, Some(own), Vec::new())?;
    Ok(Running { way: Way::Pipes(setup), roots: vec![pid], _kept: (None, Some(home)) })
}

fn over_http(command: &mut Command, home: Home, port: u16, dialect: Dialect) -> Outcome<Running> {
    let said = home.path.join("said");
    let mut own = process::serve(command, &said)?;
    let _fuse = Fuse::lit(own.pid(), START + PAUSE);
    let place = Place { port, token: None };
    let setup = until_called(&mut own, &place, dialect).map_err(|error| with_words(&error, &said))?;
    Ok(Running { way: Way::Http(setup), roots: vec![own.pid()], _kept: (Some(own), Some(home)) })
}

/// Tries until a call is answered: some servers listen before they know of any tool.
pub fn until_called(own: &mut Started, place: &Place, dialect: Dialect) -> Result<HttpSetup, String> {
    let end = Instant::now() + START;
    loop {
        let error = match HttpSetup::open(place.clone(), dialect) {
            Ok(setup) => return Ok(setup),
            Err(error) => error.to_string(),
        };
        if own.is_over() {
            return Err("it has ended".into());
        }
        if Instant::now() > end {
            return Err(error);
        }
        sleep(PAUSE);
    }
}

/// A port that nobody listens on; somebody may take it before it is used, which is then an error like any other.
pub fn free_port() -> Outcome<u16> {
    Ok(TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?.port())
}

/// The last words of a program that failed say more than what its caller saw.
fn with_words(error: &str, said: &Path) -> String {
    let text = fs::read(said).map(|text| String::from_utf8_lossy(&text).into_owned()).unwrap_or_default();
    match text.lines().rev().find(|line| !line.trim().is_empty()) {
        Some(last) => format!("{error}; its last words: {}", last.trim()),
        None => error.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_is_installed_by_the_script_under_its_name() {
        let script = include_str!("../../../scripts/peers");
        for Peer { name, program, .. } in PEERS {
            let registry = if program.starts_with("venv/") { "pypi" } else { "npm" };
            assert!(script.contains(&format!("\n  \"{name} {registry} ")), "{name}");
        }
    }

    #[test]
    fn the_last_words_of_a_program_are_told() {
        let home = Home::new().unwrap();
        let said = home.path.join("said");
        assert_eq!(with_words("it has ended", &said), "it has ended");
        fs::write(&said, "a\n no such option \n\n").unwrap();
        assert_eq!(with_words("it has ended", &said), "it has ended; its last words: no such option");
    }
}
