//! Modules of WebAssembly that Harbor keeps for its interpreter.
//!
//! ```text
//!  add_server, base64 ─► bytes and their hash ─► servers/ID/module/HASH.wasm ─► definition (the hash) ─► others go
//! ```
//!
//! Owns that order: a stored definition names a module that is there. Must never read the person's file, nor have the loop wait
//! for a module of many megabytes.

use std::path::PathBuf;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use harbor_ipc_proto::client::AddServer;
use harbor_ipc_proto::client::envelope::ErrorBody;
use harbor_ipc_proto::codes::Code;
use harbor_policy::program::WASM_RUNNER;

use super::installations::Installations;
use super::replacing::stored;
use super::scripts;
use crate::host::invalid;
use crate::store::modules;

/// The largest module, in bytes; the interpreter has the same limit.
const MAX_MODULE: usize = 16 * 1024 * 1024;

/// The module of a definition that is being added.
#[derive(Debug)]
pub(super) enum WantedModule {
    /// It came with the message.
    New { sha256: String, bytes: Vec<u8> },
    /// It is that of the definition before.
    Kept(String),
}

impl WantedModule {
    /// Its hash.
    pub(super) fn sha256(&self) -> String {
        match self {
            Self::New { sha256, .. } | Self::Kept(sha256) => sha256.clone(),
        }
    }
}

/// Checks that a definition is one that has a module.
pub(super) fn may_be_kept(command: &str, args: &[String]) -> Result<(), ErrorBody> {
    if command != WASM_RUNNER {
        return Err(invalid("module", "only with the command harbor-runner-wasm"));
    }
    scripts::name_a_file(args, "first the absolute path of the module")
}

/// Reads the module of a message. If it has none and is about the same file, that of the definition before.
///
/// # Errors
/// When it is no module.
pub(super) async fn wanted(
    installs: &Installations,
    message: &mut AddServer,
) -> Result<Option<WantedModule>, ErrorBody> {
    let Some(text) = &mut message.module else {
        let before = scripts::before(installs, message, WASM_RUNNER);
        return Ok(before.and_then(|before| before.module.clone()).map(WantedModule::Kept));
    };
    // What is checked of it later is only that it was there.
    let text = std::mem::take(text);
    let read = tokio::task::spawn_blocking(move || read(&text)).await;
    read.map_err(|error| ErrorBody::new(Code::Internal, error.to_string()))?.map(Some)
}

fn read(text: &str) -> Result<WantedModule, ErrorBody> {
    let wrong = || invalid("module", "a module of WebAssembly of at most 16 MiB, in base64");
    if text.len() > MAX_MODULE.div_ceil(3) * 4 {
        return Err(wrong());
    }
    let bytes = STANDARD.decode(text).map_err(|_| wrong())?;
    match bytes.starts_with(b"\0asm") && bytes.len() <= MAX_MODULE {
        true => Ok(WantedModule::New { sha256: modules::sha256(&bytes), bytes }),
        false => Err(wrong()),
    }
}

/// Writes a module that came with the message.
///
/// # Errors
/// When the disk refuses.
pub(super) async fn keep(dir: PathBuf, module: Option<WantedModule>) -> Result<(), ErrorBody> {
    let Some(WantedModule::New { sha256, bytes }) = module else { return Ok(()) };
    let written = tokio::task::spawn_blocking(move || modules::write(&dir, &sha256, &bytes)).await;
    let written = written.map_err(|error| ErrorBody::new(Code::Internal, error.to_string()))?;
    written.map_err(|error| stored(&error))
}

/// Removes all modules but this one.
pub(super) async fn forget_others(dir: PathBuf, kept: Option<String>) {
    let removed = tokio::task::spawn_blocking(move || modules::remove_others(&dir, kept.as_deref())).await;
    if let Ok(Err(error)) = removed {
        tracing::warn!(%error, "a module that nobody needs is still there");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_module_is_kept() {
        let of = |bytes: &[u8]| read(&STANDARD.encode(bytes)).map(|module| module.sha256());
        assert_eq!(of(b"\0asm\x01\0\0\0").unwrap(), modules::sha256(b"\0asm\x01\0\0\0"));
        for wrong in [of(b"#!/bin/sh"), of(b""), read("%").map(|module| module.sha256())] {
            assert!(wrong.unwrap_err().message.contains("a module of WebAssembly"));
        }
        let mut long = b"\0asm".to_vec();
        long.resize(MAX_MODULE + 1, 0);
        assert!(of(&long).is_err());
        long.pop();
        assert!(of(&long).is_ok());
    }
}
