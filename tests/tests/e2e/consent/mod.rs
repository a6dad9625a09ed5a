//! Consent as a whole: twelve ordinary tasks and how often the person is asked, eleven attacks, and what happens to a question
//! while it is open.

mod attacks;
mod browser;
mod clients;
mod guard;
mod questions;
mod scene;
mod tasks;
