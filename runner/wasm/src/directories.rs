//! The directories that a module gets.
//!
//! ```text
//!  --write DIR ─► DIR, and `.` if it is the current directory      --read DIR ─► DIR, which nothing can change
//! ```
//!
//! Owns their names in the module: the names that they have outside. cap-std keeps every path inside.

use wasmi_wasi::dir::Dir as Whole;
use wasmi_wasi::wasi_common::WasiCtx;
use wasmi_wasi::{Dir, ambient_authority};

use crate::ending::Unusable;
use crate::options::Options;
use crate::read_only::ReadOnly;

/// Gives them.
///
/// # Errors
/// Which directory cannot be opened.
pub(crate) fn grant(system: &WasiCtx, options: &Options) -> Result<(), Unusable> {
    let here = std::env::current_dir().ok();
    for path in &options.write {
        if here.as_deref().is_some_and(|here| here == std::path::Path::new(path)) {
            give(system, Box::new(opened(path)?), ".")?;
        }
        give(system, Box::new(opened(path)?), path)?;
    }
    for path in &options.read {
        give(system, Box::new(ReadOnly(Box::new(opened(path)?))), path)?;
    }
    Ok(())
}

fn opened(path: &str) -> Result<Whole, Unusable> {
    let opened = Dir::open_ambient_dir(path, ambient_authority());
    opened
        .map(Whole::from_cap_std)
        .map_err(|error| Unusable(format!("cannot open the directory {path}: {error}")))
}

fn give(system: &WasiCtx, directory: Box<dyn wasmi_wasi::WasiDir>, name: &str) -> Result<(), Unusable> {
    system.push_preopened_dir(directory, name).map_err(|error| Unusable(format!("{name}: {error}")))
}
