//! The definitions of the browser's tools: names, arguments, descriptions, effects.
//!
//! Owns `browser_tools.json`, from which the bridge makes MCP's list and `harbor docs browser` its page. Must never hold
//! how a tool works: the extension owns that.

/// The definitions as a JSON array. Each has `name`, `title`, `does` (`reads`, `acts` or `session`), `description`,
/// `properties` (a JSON schema for each argument) and `required`; `group`, where only browsers have it that say so.
pub const DEFINITIONS: &str = include_str!("browser_tools.json");
