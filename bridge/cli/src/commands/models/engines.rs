//! models start, stop and local: programs on this machine that Harbor starts, and the files of their models.
//!
//! Owns how a file is named to the bridge: by its whole path, since the bridge is somewhere else. Must never start one itself.

use std::path::{Path, absolute};
use std::time::Duration;

use harbor_client::errors::Failure;
use harbor_client::terminal::remark;
use harbor_ipc_proto::client::{LlmSetupStatus, LlmStartLocal, LlmStopLocal, Progress};

use super::super::printing::print;
use super::tables;
use crate::args::NewEngine;
use crate::client::Client;
use crate::screen::{Screen, Status};

/// Ten minutes to load a model, and a minute to say its options before.
const START: Duration = Duration::from_secs(11 * 60);

/// An engine may hold on to what it has for a while.
const STOP: Duration = Duration::from_secs(60);

pub fn start(client: &mut Client, new: &NewEngine, screen: &mut Screen) -> Result<(), Failure> {
    let ask = LlmStartLocal {
        model_id: named(&new.file),
        engine: new.engine.as_deref().map(whole),
        context: new.context,
        devices: Some(new.devices.clone()).filter(|devices| !devices.is_empty()),
        memory_mb: new.memory,
        network: new.network.then_some(true),
        start_timeout_ms: new.start_timeout,
        progress: Status::is_visible().then_some(true),
    };
    let mut status = Status::new(&format!("starting {} …", new.file));
    let said = |push: &Progress| push.message.clone().unwrap_or_default();
    let answer = client.ask_with_progress(&ask, START, &mut |push| status.show(&said(push)));
    drop(status);
    let answer = answer?;
    print(screen, &answer, |answer| {
        format!("{} runs; `harbor ask --model {}` asks it", answer.provider, answer.modelId)
    })?;
    if !screen.json && !answer.left_out.is_empty() {
        remark(&format!("this engine does not know {}", answer.left_out.join(", ")));
    }
    Ok(())
}

pub fn stop(client: &mut Client, id: Option<&str>, screen: &mut Screen) -> Result<(), Failure> {
    let answer = client.ask(&LlmStopLocal { provider_id: id.map(str::to_owned) }, STOP)?;
    print(screen, &answer, |answer| match answer.providers.as_slice() {
        [] => "nothing ran".into(),
        stopped => format!("stopped: {}", stopped.join(", ")),
    })
}

pub fn local(client: &mut Client, screen: &mut Screen) -> Result<(), Failure> {
    let answer = client.ask(&LlmSetupStatus {}, STOP)?;
    if screen.json {
        return Ok(screen.json(&answer.to_json())?);
    }
    let status = &answer.status;
    if status.engines.is_empty() && status.files.is_empty() {
        remark("there is no model of Harbor's own yet; `harbor models start FILE` starts one");
        return Ok(());
    }
    if !status.engines.is_empty() {
        screen.table(&tables::engines(&status.engines))?;
    }
    if !status.files.is_empty() {
        screen.table(&tables::files(&status.files, status.memory_bytes))?;
    }
    Ok(())
}

/// A file's whole path; a name without a directory where no such file is here.
fn named(file: &str) -> String {
    if file.contains('/') || Path::new(file).is_file() { whole(file) } else { file.to_owned() }
}

fn whole(path: &str) -> String {
    absolute(path).map_or_else(|_| path.to_owned(), |path| path.to_string_lossy().into_owned())
}
