//! The command line, again and again, in the middle of whatever happens to it.
//!
//! Must never call but one server, and only during the storm: it starts what it calls, and the others have to come
//! back by themselves.

use std::io::Read;
use std::os::unix::process::ExitStatusExt;
use std::time::{Duration, Instant};

use harbor_tests::Program;
use serde_json::json;

use crate::servers::Subject;
use crate::stage::Stage;

/// It finds a bridge, starts a server and calls it, each within limits of its own.
const HANGS: Duration = Duration::from_secs(60);

/// Exit codes for "no bridge", "unavailable", "timed out" and "may have been made".
const MAY_FAIL: [i32; 4] = [3, 5, 6, 9];

/// Calls until there are no more kills.
pub fn run(stage: &Stage) {
    let subject = stage.subjects.first().expect("there are servers");
    for number in 0.. {
        if stage.is_calm() {
            return;
        }
        call(stage, subject, &format!("cli-{number}"));
    }
}

fn call(stage: &Stage, subject: &Subject, word: &str) {
    let tool = format!("{}/echo", subject.id);
    let arguments = json!({"message": word}).to_string();
    let mut command = stage.home.command("harbor");
    command.envs(stage.switches().iter().copied());
    let mut program = Program::start(command.args(["call", &tool, &arguments, "--timeout", "2", "--json"]));
    let (stdin, mut stdout) = program.pipes();
    drop(stdin);
    let begun = Instant::now();
    stage.tally.sent();
    let Some(status) = program.wait(HANGS) else {
        stage.tally.broke(format!("harbor call {tool} hangs"));
        return stage.tally.ended("cli: hangs", begun.elapsed());
    };
    let mut said = String::new();
    let _ = stdout.read_to_string(&mut said);
    let right = match status.code() {
        Some(0) => said.contains(word),
        Some(code) => MAY_FAIL.contains(&code),
        None => status.signal().is_some(),
    };
    if !right {
        stage.tally.broke(format!("harbor call {tool}: {status}: {said} {}", program.stderr()));
    }
    let how = status.code().map_or("cli: killed".into(), |code| format!("cli: exit {code}"));
    stage.tally.ended(&how, begun.elapsed());
}
