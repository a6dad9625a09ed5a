//! The program: the egress proxy of one MCP server.
//!
//! ```text
//!   harbor-egress BUILD PARENT_PID RULE...      a listening socket on stdin; until its parent's end, SIGTERM or SIGKILL
//! ```
//!
//! The runner starts it outside of the server's network namespace, with a socket that was opened inside. Owns that socket.
//! Must never outlive its parent, and never write to stdout; stderr is the server's log.

use std::ffi::OsString;
use std::fmt;
use std::io::{self, Write as _};
use std::net::TcpListener;
use std::os::fd::AsFd as _;
use std::process::ExitCode;

use harbor_child::own;
use harbor_child::signal::Signal;
use harbor_ipc_proto::BUILD;
use harbor_policy::sandbox::hosts::{Allowed, BadRule};
use nix::sys::socket::{getsockopt, sockopt};

use crate::proxy;

/// Exit code for a wrong command line.
const USAGE: u8 = 2;

/// The command line, read.
#[derive(Debug, PartialEq, Eq)]
struct Order {
    parent: u32,
    allowed: Allowed,
}

/// The mistake in a command line.
#[derive(Debug, PartialEq, Eq)]
enum BadOrder {
    Usage,
    OtherBuild(String),
    Rule(BadRule),
}

impl fmt::Display for BadOrder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Usage => write!(f, "it is started by harbor-runner; run `harbor help` instead"),
            Self::OtherBuild(build) => {
                write!(f, "the runner is from build {build:.80}, this proxy from {BUILD}")
            }
            Self::Rule(bad) => write!(f, "its rules must be {bad}"),
        }
    }
}

/// Runs the proxy, and returns its exit code.
#[must_use]
pub fn run() -> ExitCode {
    let arguments: Vec<OsString> = std::env::args_os().skip(1).collect();
    let (said, code) = match read(&arguments).map(begin) {
        Ok(Ok(())) => return ExitCode::SUCCESS,
        Ok(Err(error)) => (error.to_string(), ExitCode::FAILURE),
        Err(bad) => (bad.to_string(), ExitCode::from(USAGE)),
    };
    let _ = writeln!(io::stderr(), "harbor-egress: {said}");
    code
}

fn read(arguments: &[OsString]) -> Result<Order, BadOrder> {
    let words: Option<Vec<&str>> = arguments.iter().map(|word| word.to_str()).collect();
    let words = words.ok_or(BadOrder::Usage)?;
    let [build, parent, rules @ ..] = words.as_slice() else { return Err(BadOrder::Usage) };
    if *build != BUILD {
        return Err(BadOrder::OtherBuild((*build).to_owned()));
    }
    let parent = parent.parse().map_err(|_| BadOrder::Usage)?;
    let rules: Vec<String> = rules.iter().map(|rule| (*rule).to_owned()).collect();
    Ok(Order { parent, allowed: Allowed::parse(&rules).map_err(BadOrder::Rule)? })
}

fn begin(order: Order) -> io::Result<()> {
    own::die_with_parent(order.parent, Signal::SIGKILL)?;
    own::close_inherited()?;
    own::not_dumpable()?;
    own::be_called(c"harbor-egress");
    let listener = take()?;
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_all().build_local(Default::default())?;
    runtime.block_on(async move {
        proxy::serve(tokio::net::TcpListener::from_std(listener)?, order.allowed).await;
        Ok(())
    })
}

/// Takes the listening socket out of standard input and puts `/dev/null` there.
fn take() -> io::Result<TcpListener> {
    let listener = TcpListener::from(io::stdin().as_fd().try_clone_to_owned()?);
    let local = listener.local_addr()?;
    if !getsockopt(&listener, sockopt::AcceptConn)? || !local.ip().is_loopback() {
        return Err(io::Error::other("standard input is not a socket that listens on a loopback address"));
    }
    listener.set_nonblocking(true)?;
    nix::unistd::dup2_stdin(std::fs::File::open("/dev/null")?)?;
    Ok(listener)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn given(words: &[&str]) -> Result<Order, BadOrder> {
        read(&words.iter().map(OsString::from).collect::<Vec<_>>())
    }

    #[test]
    fn the_command_line_says_build_parent_and_rules() {
        let allowed = Allowed::parse(&["example.com".to_owned()]).unwrap();
        assert_eq!(given(&[BUILD, "7", "example.com"]), Ok(Order { parent: 7, allowed }));
        assert_eq!(given(&[BUILD, "0"]), Ok(Order { parent: 0, allowed: Allowed::default() }));
        assert_eq!(given(&[]), Err(BadOrder::Usage));
        assert_eq!(given(&[BUILD]), Err(BadOrder::Usage));
        assert_eq!(given(&[BUILD, "x"]), Err(BadOrder::Usage));
        assert_eq!(given(&["old", "7"]), Err(BadOrder::OtherBuild("old".into())));
        assert_eq!(given(&[BUILD, "7", "a", "b:0"]), Err(BadOrder::Rule(BadRule("b:0".into()))));
    }
}
