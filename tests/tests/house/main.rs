//! The rules of the house that a program can hold. Reads the tree and starts nothing.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "test support")]

mod architecture;
mod arrows;
mod consent;
mod documents;
mod errors;
mod imports;
mod names;
mod parts;
mod picks;
mod tree;
mod words;
