//! `harbor mcp --http`, as a test starts it.
//!
//! Must never know what is said to it.

use crate::{Home, LIMIT, Program, wait_until};

/// It, on a port of its own choice.
#[derive(Debug)]
pub struct HttpServer {
    /// Its process.
    pub program: Program,
    /// Where it listens.
    pub port: u16,
}

impl HttpServer {
    /// Starts it with these further words.
    ///
    /// # Panics
    /// When it does not come up.
    #[must_use]
    pub fn start(home: &Home, args: &[&str]) -> Self {
        let mut command = home.command("harbor");
        let program = Program::start(command.args(["mcp", "--http", "127.0.0.1:0"]).args(args));
        let mut port = None;
        wait_until("its address", LIMIT, || {
            let said = program.said();
            let address = said.iter().find_map(|line| line.split_once("http://127.0.0.1:"));
            port = address.and_then(|(_, rest)| rest.trim_end_matches("/mcp").parse().ok());
            port.is_some()
        });
        Self { program, port: port.expect("the loop ended with one") }
    }

    /// Where MCP is.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}/mcp", self.port)
    }
}

/// Makes a token for this name, in the place of the one it has.
///
/// # Panics
/// When there is none.
#[must_use]
pub fn token(home: &Home, name: &str) -> String {
    let output = home.command("harbor").args(["mcp", "token", name, "--replace"]).output().expect("it runs");
    assert!(output.status.success(), "{output:?}");
    String::from_utf8_lossy(&output.stdout).trim().to_owned()
}
