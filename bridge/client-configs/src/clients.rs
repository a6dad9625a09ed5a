//! The AI clients that Harbor knows: where each keeps its servers, and in which form.
//!
//! Owns the table; all that differs from client to client is a column of it.

use std::path::{Path, PathBuf};

use super::{Fills, Format};

/// An AI client.
#[derive(Debug, PartialEq, Eq)]
pub struct AiClient {
    /// Its name here. As an origin it is `client://ID`, unless the person chooses another name.
    pub id: &'static str,
    /// Its name for people.
    pub title: &'static str,
    /// The format of its file.
    pub format: Format,
    /// The key of the object with the servers.
    pub key: &'static str,
    /// True if an entry says that the server is a program on pipes.
    pub typed: bool,
    /// The variables of the environment that it puts into an entry.
    pub fills: Fills,
    /// The thing that the person does for a change to take effect.
    pub after: &'static str,
    linux: Place,
    macos: Place,
}

/// The place of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Place {
    /// The variable that names the directory.
    variable: &'static str,
    /// The directory when it is not set, below the person's home.
    directory: &'static str,
    /// The file, below that.
    file: &'static str,
}

const fn home(file: &'static str) -> Place {
    Place { variable: "", directory: "", file }
}

/// A file in the directory that `XDG_CONFIG_HOME` names.
const fn xdg(file: &'static str) -> Place {
    Place { variable: "XDG_CONFIG_HOME", directory: ".config", file }
}

const fn library(file: &'static str) -> Place {
    Place { variable: "", directory: "Library/Application Support", file }
}

const CLAUDE_CODE: Place = Place { variable: "CLAUDE_CONFIG_DIR", directory: "", file: ".claude.json" };
const CODEX: Place = Place { variable: "CODEX_HOME", directory: ".codex", file: "config.toml" };
const CURSOR: Place = home(".cursor/mcp.json");
const WINDSURF: Place = home(".codeium/windsurf/mcp_config.json");
const GEMINI: Place = home(".gemini/settings.json");
const DESKTOP: &str = "Claude/claude_desktop_config.json";
const VSCODE: &str = "Code/User/mcp.json";

const START_AGAIN: &str = "restart it, and it has Harbor's tools";

/// A client like most.
const fn usual(id: &'static str, title: &'static str, place: Place) -> AiClient {
    AiClient {
        id,
        title,
        format: Format::Json,
        key: "mcpServers",
        typed: false,
        fills: Fills::Nothing,
        after: START_AGAIN,
        linux: place,
        macos: place,
    }
}

/// All of them, in the order of the help.
pub const CLIENTS: &[AiClient] = &[
    AiClient {
        typed: true,
        fills: Fills::Plain,
        after: "quit it first, since it overwrites this file while it runs; then start it, and `harbor mcp status` shows \
                whether the entry is still there",
        ..usual("claude-code", "Claude Code", CLAUDE_CODE)
    },
    AiClient { macos: library(DESKTOP), ..usual("claude-desktop", "Claude Desktop", xdg(DESKTOP)) },
    AiClient {
        fills: Fills::Env,
        after: "it notices the change; Settings, MCP shows the server",
        ..usual("cursor", "Cursor", CURSOR)
    },
    AiClient {
        key: "servers",
        typed: true,
        fills: Fills::Env,
        after: "the command `MCP: List Servers` shows the server and starts it",
        macos: library(VSCODE),
        ..usual("vscode", "VS Code", xdg(VSCODE))
    },
    AiClient {
        key: "context_servers",
        after: "it notices the change; the settings of the agent panel show the server",
        macos: home(".config/zed/settings.json"),
        ..usual("zed", "Zed", xdg("zed/settings.json"))
    },
    AiClient { fills: Fills::Env, ..usual("windsurf", "Windsurf", WINDSURF) },
    AiClient { fills: Fills::Dollars, ..usual("gemini-cli", "Gemini CLI", GEMINI) },
    AiClient { format: Format::Toml, key: "mcp_servers", ..usual("codex", "Codex", CODEX) },
];

/// The placeholders that a client fills in a project's file of this name: `.mcp.json`, `.vscode/mcp.json`.
#[must_use]
pub fn fills_of(file: &Path) -> Fills {
    let directory = file.parent().and_then(Path::file_name).map(std::ffi::OsStr::as_encoded_bytes);
    match (file.file_name().map(std::ffi::OsStr::as_encoded_bytes), directory) {
        (Some(b".mcp.json"), _) => Fills::Plain,
        (_, Some(b".vscode" | b".cursor" | b".windsurf")) => Fills::Env,
        (_, Some(b".gemini")) => Fills::Dollars,
        _ => Fills::Any,
    }
}

/// The client of that name.
#[must_use]
pub fn client(id: &str) -> Option<&'static AiClient> {
    CLIENTS.iter().find(|client| client.id == id)
}

impl AiClient {
    /// The place of its configuration, for a person with this home and these variables.
    #[must_use]
    pub fn file(&self, macos: bool, home: &Path, variable: &dyn Fn(&str) -> Option<PathBuf>) -> PathBuf {
        let place = if macos { self.macos } else { self.linux };
        let named = Some(place.variable).filter(|name| !name.is_empty()).and_then(variable);
        // What is no whole path is to be ignored, says the standard that brought such variables.
        let directory = named.filter(|path| path.is_absolute()).unwrap_or_else(|| home.join(place.directory));
        directory.join(place.file)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_where_the_clients_look() {
        let file = |id: &str, macos, set: Option<&'static str>| {
            let variable = |_: &str| set.map(PathBuf::from);
            let path = client(id).unwrap().file(macos, Path::new("/home/me"), &variable);
            path.to_str().unwrap().to_owned()
        };
        for (id, linux, macos) in [
            ("claude-code", ".claude.json", ".claude.json"),
            (
                "claude-desktop",
                ".config/Claude/claude_desktop_config.json",
                "Library/Application Support/Claude/claude_desktop_config.json",
            ),
            ("cursor", ".cursor/mcp.json", ".cursor/mcp.json"),
            ("vscode", ".config/Code/User/mcp.json", "Library/Application Support/Code/User/mcp.json"),
            ("zed", ".config/zed/settings.json", ".config/zed/settings.json"),
            ("windsurf", ".codeium/windsurf/mcp_config.json", ".codeium/windsurf/mcp_config.json"),
            ("gemini-cli", ".gemini/settings.json", ".gemini/settings.json"),
            ("codex", ".codex/config.toml", ".codex/config.toml"),
        ] {
            assert_eq!(file(id, false, None), format!("/home/me/{linux}"));
            assert_eq!(file(id, true, None), format!("/home/me/{macos}"));
        }
        assert_eq!(file("zed", false, Some("/x")), "/x/zed/settings.json");
        assert_eq!(file("zed", false, Some("x")), "/home/me/.config/zed/settings.json");
        assert_eq!(file("claude-code", false, Some("/c")), "/c/.claude.json");
        assert_eq!(file("codex", true, Some("/c")), "/c/config.toml");
        assert_eq!(file("cursor", false, Some("/c")), "/home/me/.cursor/mcp.json");
    }
}
