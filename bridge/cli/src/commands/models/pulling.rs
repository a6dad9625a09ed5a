//! models pull, delete and fits: files of models, and how large one may be.
//!
//! Owns the line that says how much has come. Must never fetch anything itself.

use std::path::Path;
use std::time::Duration;

use harbor_client::errors::Failure;
use harbor_ipc_proto::client::{LlmDeleteModel, LlmDownloadModel, LlmSetupStatus, Progress};
use harbor_policy::engine::{largest_for, memory_for};

use super::super::printing::print;
use super::super::progress::line;
use super::tables::gigabytes;
use crate::args::NewModelFile;
use crate::client::{Client, QUICK};
use crate::screen::{Screen, Status};

/// The bridge ends it before.
const PULL: Duration = Duration::from_secs(31 * 3600);

pub fn pull(client: &mut Client, new: &NewModelFile, screen: &mut Screen) -> Result<(), Failure> {
    let ask = LlmDownloadModel {
        model_id: new.url.clone(),
        sha256: new.sha256.clone(),
        name: new.name.clone(),
        allow_http: new.allow_http.then_some(true),
        allow_private: new.allow_private.then_some(true),
        progress: Status::is_visible().then_some(true),
    };
    let name = new.url.rsplit('/').next().unwrap_or_default().to_owned();
    let mut status = Status::new(&format!("fetching {name} …"));
    let said = |push: &Progress| line(&name, push);
    let answer = client.ask_with_progress(&ask, PULL, &mut |push| status.show(&said(push)));
    drop(status);
    print(screen, &answer?, |answer| answer.message.clone())
}

pub fn delete(client: &mut Client, name: &str, screen: &mut Screen) -> Result<(), Failure> {
    let answer = client.ask(&LlmDeleteModel { model_id: name.to_owned() }, QUICK)?;
    print(screen, &answer, |_| format!("{name} is deleted"))
}

pub fn fits(
    client: &mut Client,
    file: Option<&Path>,
    context: u32,
    screen: &mut Screen,
) -> Result<(), Failure> {
    let answer = client.ask(&LlmSetupStatus {}, QUICK)?;
    let bytes = match file {
        Some(path) => {
            let about = path.metadata();
            let wrong = |error| Failure::Usage(format!("{} cannot be read: {error}", path.display()));
            Some(about.map_err(wrong)?.len())
        }
        None => None,
    };
    print(screen, &answer, |answer| verdict(answer.status.memory_bytes, bytes, context))
}

/// A sentence about what fits into this memory.
fn verdict(memory: Option<u64>, bytes: Option<u64>, context: u32) -> String {
    let Some(memory) = memory else { return "this machine does not say how much memory is free".into() };
    let free = gigabytes(memory);
    match bytes {
        Some(bytes) => {
            let takes = memory_for(bytes, context);
            let fits = if takes <= memory { "fits" } else { "does not fit" };
            format!(
                "it {fits}: it takes about {} with {context} tokens, and {free} are free",
                gigabytes(takes)
            )
        }
        None => {
            let most = largest_for(memory, context);
            format!(
                "{free} of memory are free: a file of up to about {} with {context} tokens",
                gigabytes(most)
            )
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_fits_is_said_in_gigabytes() {
        let gb = 1_000_000_000;
        assert_eq!(verdict(None, None, 8192), "this machine does not say how much memory is free");
        let fits = verdict(Some(8 * gb), Some(gb), 8192);
        assert!(fits.starts_with("it fits: ") && fits.ends_with("8.0 GB are free"), "{fits}");
        assert!(verdict(Some(gb), Some(gb), 8192).starts_with("it does not fit: "));
        assert!(verdict(Some(8 * gb), None, 8192).contains("up to about"));
    }
}
