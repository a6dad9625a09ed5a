//! An MCP server on stdio that is right in everything but the one fault that it was started with.
//!
//! ```text
//!  misbehaving-server --fault NAME [--modern] [--paged] [--delay-ms N] [--journal PATH] [--tools PATH]
//!  stdin ─► main thread ─► Server::on_line ─► answers; calls that take time get a thread of their own
//! ```
//!
//! Speaks 2025-11-25, or 2026-07-28 with `--modern`. Owns nothing but its journal. Must never run for longer than
//! two minutes once nobody wants it, whatever its fault is: a broken test should not leave it behind for good.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "test support"
)]

mod asks;
mod calls;
mod contact;
mod floods;
mod offers;
mod server;
mod spoil;
mod startup;
mod tasks;
mod tools;
mod wire;

use std::env;
use std::io::{self, BufRead};
use std::process::exit;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use harbor_tests::faults::{Fault, Settings};

use self::server::Server;

fn main() {
    let mut args = env::args_os().skip(1);
    if env::args().nth(1).as_deref() == Some(startup::LINGERS) {
        let (how, journal) = (args.nth(1).unwrap_or_default(), args.next().unwrap_or_default());
        startup::linger_as_child(&how.to_string_lossy(), &journal);
    }
    let settings = Settings::parse(args).unwrap_or_else(|error| {
        eprintln!("misbehaving-server: {error}");
        exit(2)
    });
    let server = Arc::new(Server::new(settings));
    startup::before_reading(&server);
    thread::sleep(Duration::from_millis(server.settings.delay_ms));
    serve(&server);
    server.journal.write("eof");
    if server.settings.fault == Fault::IgnoresShutdown {
        startup::linger();
    }
}

fn serve(server: &Arc<Server>) {
    let mut stdin = io::stdin().lock();
    let mut line = Vec::new();
    while stdin.read_until(b'\n', &mut line).is_ok_and(|n| n > 0) {
        server.on_line(&line);
        line.clear();
    }
}
