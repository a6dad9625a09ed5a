//! config: what is in force, and whether a file could be.
//!
//! Owns how it is shown. A file is checked by the bridge's own reader: its program says what is wrong.

use std::path::{Path, PathBuf};

use harbor_client::errors::{Exit, Failure};
use harbor_client::terminal::remark;
use harbor_home::Paths;
use harbor_ipc_proto::client::{GetConfig, GetConfigResult};
use serde_json::json;

use super::printing::print;
use crate::check;
use crate::client::{Client, QUICK};
use crate::screen::Screen;

pub fn show(client: &mut Client, screen: &mut Screen) -> Result<(), Failure> {
    let answer = client.ask(&GetConfig {}, QUICK)?;
    print(screen, &answer, describe)?;
    if let Some(refused) = &answer.refused {
        remark(&format!("config.toml is not in force, because it has a mistake: {refused}"));
    }
    Ok(())
}

/// The configuration as a usable file. The parts that come from the environment stand first, as comments.
fn describe(answer: &GetConfigResult) -> String {
    let switches = answer.environment.iter().map(|(name, value)| format!("# {name}={value}\n"));
    format!("{}{}", switches.collect::<String>(), answer.config.trim_end())
}

pub fn check(paths: &Paths, file: Option<&Path>, screen: &mut Screen) -> Result<(), Failure> {
    let path: PathBuf = file.map_or_else(|| paths.config_file(), Path::to_owned);
    if file.is_none() && !path.exists() {
        let said = format!("there is no {}; a bridge starts with the defaults", path.display());
        match screen.json {
            true => screen.json(&json!({"ok": true, "message": said}).to_string())?,
            false => screen.text(&said)?,
        }
        return Ok(());
    }
    if !path.exists() {
        return Err(Failure::Usage(format!("{}: there is no such file", path.display())));
    }
    let (ok, said) = match check::config(paths, Some(&path))?.wrong {
        None => (true, format!("{} is right", path.display())),
        Some(wrong) => (false, wrong),
    };
    match screen.json {
        true => screen.json(&json!({"ok": ok, "message": said}).to_string())?,
        false => screen.text(&said)?,
    }
    if ok { Ok(()) } else { Err(Failure::Said(Exit::Failed)) }
}

#[cfg(test)]
mod tests {
    use super::super::rig::command;
    use super::*;

    #[test]
    fn what_is_in_force_is_shown_as_a_file() {
        let answer = r#"{"type":"get_config_result","request_id":"1","config":"[grants]\nonceSeconds = 600\n","changes":0,"environment":{"HARBOR_LOG":"debug"}}"#;
        let ran = command(false, &[answer], show);
        assert_eq!(ran.printed, "# HARBOR_LOG=debug\n[grants]\nonceSeconds = 600\n");
    }
}
