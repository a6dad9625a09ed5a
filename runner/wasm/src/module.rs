//! The module's bytes.
//!
//! Owns reading the file, and saying of what is no program for this interpreter what it is. Must never read more than
//! [`MAX_MODULE`] of it.

use std::fs::File;
use std::io::Read as _;
use std::path::Path;

use wasmi::{ExternType, Module};

use crate::ending::Unusable;

/// The largest module, in bytes.
pub(crate) const MAX_MODULE: u64 = 16 * 1024 * 1024;

/// How a program for this interpreter is made.
const HOW: &str = "build it for WASI preview 1, such as Rust's target wasm32-wasip1";

/// Reads a module.
///
/// # Errors
/// A sentence for its author: it cannot be read, is too large, or is something else.
pub(crate) fn read(file: &Path) -> Result<Vec<u8>, Unusable> {
    let shown = file.display();
    let mut bytes = Vec::new();
    let opened = File::open(file).and_then(|file| file.take(MAX_MODULE + 1).read_to_end(&mut bytes));
    opened.map_err(|error| Unusable(format!("cannot read {shown}: {error}")))?;
    if bytes.len() as u64 > MAX_MODULE {
        let most = MAX_MODULE / 1024 / 1024;
        let why = format!("the module is larger than {most} MiB");
        return Err(Unusable(format!("{why}; build it optimised, without debug information")));
    }
    let wrong = |what: &str| Err(Unusable(format!("{what}; {HOW}")));
    match bytes.get(..8) {
        Some([b'\0', b'a', b's', b'm', 1, 0, 0, 0]) => Ok(bytes),
        // The second half of the version says of which layer it is.
        Some([b'\0', b'a', b's', b'm', _, _, 1, 0]) => {
            wrong("the file is a component (WASI preview 2), and Harbor runs modules")
        }
        Some([b'\0', b'a', b's', b'm', ..]) => wrong("the module has another version than 1"),
        _ => wrong("the file is no module of WebAssembly"),
    }
}

/// What to say of an import that nobody has: an error of the system's functions, which names it.
pub(crate) fn lacks(missing: &dyn std::fmt::Display) -> Unusable {
    Unusable(format!("the module imports what Harbor does not have ({missing:.200}); {HOW}"))
}

/// Checks that a module is a program.
///
/// # Errors
/// A sentence for its author.
pub(crate) fn is_program(module: &Module) -> Result<(), Unusable> {
    match module.get_export("_start") {
        Some(ExternType::Func(start)) if start.params().is_empty() && start.results().is_empty() => {}
        _ => {
            let why = "the module has no function _start: build a program with a `main`, not a library";
            return Err(Unusable(why.into()));
        }
    }
    match module.get_export("memory") {
        Some(ExternType::Memory(_)) => Ok(()),
        _ => Err(Unusable(format!("the module exports no memory; {HOW}"))),
    }
}
