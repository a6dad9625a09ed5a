//! The definitions of the browser's tools: names, arguments, descriptions, effects.
//!
//! Owns `browser_tools.json`, from which the bridge makes MCP's list and `harbor docs browser` its page. Must never hold
//! how a tool works: the extension owns that.

use harbor_ipc_proto::source_id::{SourceId, SourceKind};

/// The definitions as a JSON array. Each has `name`, `title`, `does` (`reads`, `acts`, `clears`, `evaluates`, `steps` or `session`), `description`,
/// `properties` (a JSON schema for each argument) and `required`; some have `group`, one of [`GROUPS`],
/// or `needs`, what the running browser has to be able to do.
pub const DEFINITIONS: &str = include_str!("browser_tools.json");

/// The tool that runs scripts of a client in pages.
pub const EVALUATE: &str = "browser_evaluate";

/// How the names of the tools begin that use what the browser keeps for a site: cookies are the person's login, and so is
/// often what a page stores.
const STORAGE: [&str; 3] = ["browser_cookie_", "browser_localstorage_", "browser_sessionstorage_"];

/// True for a tool that reads or changes what the browser keeps for a site.
#[must_use]
pub fn is_storage(tool: &str) -> bool {
    STORAGE.iter().any(|begin| tool.starts_with(begin))
}

/// The tool that gives what pages and servers say to each other, which is often a login, too.
pub const BODIES: &str = "browser_network_body";

/// The tool that finds places in a page; what is meant, by a model.
pub const FIND: &str = "browser_find";

/// True for a tool that no `*` covers: whoever may call it was granted it by its name.
#[must_use]
pub fn is_by_name(source: &SourceId, tool: &str) -> bool {
    source.kind() == SourceKind::Browser && is_never_of_star(tool)
}

/// The same of a browser's tool.
#[must_use]
pub fn is_never_of_star(tool: &str) -> bool {
    tool == EVALUATE || tool == BODIES || is_storage(tool)
}

/// The groups of tools that are there where the person switches them on.
pub const GROUPS: &[&str] = &["network", "storage", "testing"];

/// The form of a list of groups, for error messages.
pub const GROUP_RULE: &str = "a list of groups: \"network\", \"storage\", \"testing\"";
