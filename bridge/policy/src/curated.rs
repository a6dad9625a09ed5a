//! The servers that Harbor brings along: known packages, with the settings of their sandbox that are known to work.
//!
//! Owns the list (`curated/entries.rs`), its types, and the inputs that a person must fill in. Must never name a version: the
//! newest is resolved at installation. docs/sandbox.md says why each server needs its grants, and which of them are tested.
//!
//! ```text
//!  {directory}      a placeholder: the person gives it (`Input`), an absolute path each; `recipe` fills it in
//!  {data}           the server's own data directory, which the installation knows
//! ```

use crate::consent::facts::Effect;
use crate::package::Package;
use crate::{package, program};

mod entries;
mod server;

pub use entries::CURATED;
pub use server::{Curated, CuratedInput, CuratedPackage, CuratedSecret, CuratedVariable, Sandbox};

/// The day on which the list was last gone through, as the catalog says it.
pub const DATE: &str = "2026-11-22";

/// The server of this id.
#[must_use]
pub fn find(id: &str) -> Option<&'static Curated> {
    CURATED.iter().find(|curated| curated.id == id)
}

/// The server that is this package, in whatever version.
#[must_use]
pub fn of_package(package: &Package) -> Option<&'static Curated> {
    let wanted = program::of_package(package);
    let is_it = |known: &Package| program::of_package(known) == wanted;
    CURATED
        .iter()
        .find(|curated| package::source::read(&curated.source.spec(), &[]).is_ok_and(|known| is_it(&known)))
}

/// The effect that this list has for a tool of a package.
#[must_use]
pub fn effect(package: &Package, tool: &str) -> Option<Effect> {
    let mut listing = CURATED.iter().filter(|curated| curated.reads.contains(&tool)).peekable();
    listing.peek()?;
    let known = of_package(package)?;
    listing.any(|curated| curated.id == known.id).then_some(Effect::Reads)
}

#[cfg(test)]
mod tests;
