//! ping, shutdown, version: the bridge itself.
//!
//! Owns ending a bridge that is too old or too new to be asked. Must never say that a bridge has ended while
//! its process is there.

use std::fs;
use std::thread;
use std::time::{Duration, Instant};

use harbor_client::errors::Failure;
use harbor_home::Paths;
use harbor_home::dial::DialError;
use harbor_home::lock::holder;
use harbor_ipc_proto::client::{Ping, Shutdown};
use harbor_ipc_proto::{BUILD, CLIENT_PROTOCOL};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::json;

use super::printing::print;
use crate::client::{Client, QUICK};
use crate::screen::{Screen, Status};

/// The time that a bridge has to end; it promises 5 s.
const END: Duration = Duration::from_secs(10);

/// The pause between two looks for its process after its last message.
const LOOK: Duration = Duration::from_millis(2);

pub fn show_version(screen: &mut Screen) -> Result<(), Failure> {
    let version = env!("CARGO_PKG_VERSION");
    if screen.json {
        let answer = json!({"version": version, "build": BUILD, "protocol": CLIENT_PROTOCOL});
        return Ok(screen.json(&answer.to_string())?);
    }
    Ok(screen.text(&format!("harbor {version} (build {BUILD}, protocol {CLIENT_PROTOCOL})"))?)
}

pub fn ping(client: &mut Client, screen: &mut Screen) -> Result<(), Failure> {
    let asked = Instant::now();
    let answer = client.ask(&Ping { echo: None }, QUICK)?;
    let took = asked.elapsed().as_secs_f64() * 1000.0;
    let (build, pid) =
        client.bridge.as_ref().map(|bridge| (bridge.build.as_ref(), bridge.pid)).unwrap_or_default();
    print(screen, &answer, |_| format!("the bridge (build {build}, process {pid}) answered in {took:.2} ms"))
}

pub fn shut_down(paths: &Paths, screen: &mut Screen) -> Result<(), Failure> {
    let (stopping, text) = end(paths)?;
    report(screen, stopping, &text)
}

/// Ends the bridge, if one runs: whether one was told to end, and what came of it.
pub(super) fn end(paths: &Paths) -> Result<(bool, String), Failure> {
    match Client::connect_running(paths) {
        Ok(Some(mut client)) => Ok((true, ask_to_end(&mut client, pid(paths))?.into())),
        Ok(None) => Ok((false, "no bridge is running".into())),
        Err(error @ DialError::Version(_)) => {
            let pid = end_by_signal(paths).ok_or(error)?;
            Ok((true, format!("told the bridge of another version (process {pid}) to end")))
        }
        // Its socket is gone, or it hears nothing.
        Err(error @ (DialError::Slow { .. } | DialError::Io(..) | DialError::Refused(..))) => {
            let pid = end_by_signal(paths).ok_or(error)?;
            let come = if is_gone_by(Instant::now() + END, Some(pid)) { "has" } else { "has not yet" };
            Ok((true, format!("the bridge (process {pid}) was told to end, and {come}")))
        }
        Err(error) => Err(error.into()),
    }
}

fn ask_to_end(client: &mut Client, pid: Option<i32>) -> Result<&'static str, Failure> {
    let _status = Status::new("stopping the servers …");
    let until = Instant::now() + END;
    match client.ask(&Shutdown {}, QUICK) {
        // It may be gone before its answer is.
        Ok(_) | Err(Failure::Lost | Failure::Unsent) => {}
        Err(failure) => return Err(failure),
    }
    match client.wait_for_end(END) && is_gone_by(until, pid) {
        true => Ok("the bridge has ended"),
        false => Ok("the bridge is still ending; see its log"),
    }
}

/// True if its process is gone in time. The bridge closes our connection first, and its files later.
pub(super) fn is_gone_by(until: Instant, pid: Option<i32>) -> bool {
    while pid.is_some_and(is_running) {
        if Instant::now() >= until {
            return false;
        }
        thread::sleep(LOOK);
    }
    true
}

/// True if a process runs. An ended process stays in the table of processes until its parent has asked for
/// it, which may be never.
fn is_running(pid: i32) -> bool {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit_once(") ").is_some_and(|(_, state)| !state.starts_with(['Z', 'X']))
}

/// A bridge that cannot be asked can be told by a signal.
pub(super) fn end_by_signal(paths: &Paths) -> Option<i32> {
    let pid = pid(paths)?;
    kill(Pid::from_raw(pid), Signal::SIGTERM).ok()?;
    Some(pid)
}

/// The process of a bridge that runs.
fn pid(paths: &Paths) -> Option<i32> {
    holder(&paths.lock())?.pid
}

fn report(screen: &mut Screen, stopping: bool, text: &str) -> Result<(), Failure> {
    match screen.json {
        true => screen.json(&json!({ "stopping": stopping }).to_string())?,
        false => screen.text(text)?,
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::rig::{command, error};
    use super::*;

    #[test]
    fn a_ping_shows_the_answer() {
        let answer = r#"{"type":"ping_result","request_id":"1","timestamp":5}"#;
        let ran = command(true, &[answer], ping);
        assert_eq!(ran.printed, "{\"timestamp\":5}\n");
        assert_eq!(ran.asked, [r#"{"type":"ping","request_id":"1"}"#]);
        assert!(command(false, &[answer], ping).printed.starts_with("the bridge (build "));
    }

    #[test]
    fn a_process_is_gone_when_it_has_ended_though_it_lies_there() {
        let mut child = std::process::Command::new("sleep").arg("1000").spawn().unwrap();
        let pid = Some(child.id().cast_signed());
        assert!(!is_gone_by(Instant::now(), pid));
        child.kill().unwrap();
        assert!(is_gone_by(Instant::now() + END, pid));
        child.wait().unwrap();
        assert!(is_gone_by(Instant::now(), pid) && is_gone_by(Instant::now(), None));
    }

    #[test]
    fn a_shutdown_waits_for_the_end_and_needs_no_answer() {
        let answer = r#"{"type":"shutdown_result","request_id":"1","stopping":true}"#;
        for answers in [&[answer][..], &[]] {
            let ran =
                command(false, answers, |client, screen| report(screen, true, ask_to_end(client, None)?));
            assert_eq!((ran.printed.as_str(), ran.failure), ("the bridge has ended\n", None));
        }
        let refused = [&*error("ERR_PERMISSION_DENIED")];
        let refused =
            command(false, &refused, |client, screen| report(screen, true, ask_to_end(client, None)?));
        assert!(refused.failure.unwrap().starts_with("no"));
    }
}
