//! Objects about grants and tools. Those that web pages see have the names of the Web Agents API, in camel case.

#![allow(non_snake_case, reason = "the fields' names are those on the wire")]

use super::define_sent;
use crate::field::Word;
use crate::json::Json;

define_sent! {
    /// Objects that stand inside replies of the host.
    HOST_OBJECTS:
    /// What a person allows or forbids.
    "Grant" GrantView {
        /// The origin in its canonical form.
        origin: String,
        /// Which of its profiles.
        profile: String,
        /// What for.
        scope: Word,
        /// `ALLOW_ONCE`, `ALLOW_ALWAYS` or `DENY`.
        grant_type: Word,
        /// When it was made, in milliseconds since 1970.
        created_at: u64,
        /// When it ends, in milliseconds since 1970.
        expires_at: Option<u64>,
        /// The tab that it is bound to.
        tab_id: Option<u64>,
        /// The tools that it is for; all when absent.
        allowed_tools: Option<Vec<String>>,
        /// How many calls run on it now; absent when none does.
        running: Option<u32>,
        /// True of one that the disk has not taken: it holds until the bridge ends. Absent of others.
        unstored: Option<bool>,
    }
    /// What holds until the bridge ends, and is not on disk: the disk refuses it.
    "Unstored" UnstoredView {
        /// The origin.
        origin: String,
        /// Which of its profiles.
        profile: String,
        /// What for.
        scope: Word,
        /// `denied` or `revoked`.
        change: Word,
    }
    /// A server that is another program than the one that was allowed.
    "ServerChange" ServerChange {
        /// The server.
        server_id: String,
        /// The program that was allowed: a package, image, address or command.
        before: String,
        /// The program that it is now.
        after: String,
        /// Since when, in milliseconds since 1970.
        since: u64,
    }
    /// A tool as origins see it. What the server wrote stands as it wrote it.
    "ToolDescriptor" ToolDescriptor {
        /// The name to call it by: `server/tool`.
        name: String,
        /// The server's id.
        serverId: String,
        /// The server's name for people.
        serverLabel: String,
        /// The tool's own name.
        originalName: String,
        /// sha256, in hex, of the RFC 8785 form of all that the server says of it but `harbor/via` in `_meta`.
        toolHash: String,
        /// Whether its texts have hidden or control characters.
        hiddenCharacters: Option<bool>,
        /// Its name for people.
        title: Option<Json>,
        /// What it does.
        description: Option<Json>,
        /// JSON Schema of its arguments.
        inputSchema: Option<Json>,
        /// JSON Schema of its structured result.
        outputSchema: Option<Json>,
        /// What the server says about its effects.
        annotations: Option<Json>,
        /// The identities of the Harbors that it has come through, the last one first: an array.
        via: Option<Json>,
        /// All else that the server says of it, as an object: `icons`, `_meta`, `execution`, ….
        otherMembers: Option<Json>,
    }
    /// A server of which an origin may use a tool.
    "UsableServer" UsableServer {
        /// The server's id.
        server_id: String,
        /// Its name for people.
        label: String,
        /// As in `Server`.
        state: Word,
        /// How many of its tools the origin may use.
        tool_count: u32,
    }
    /// What a server offers of one kind.
    "Offers" OffersView {
        /// The server's id.
        server_id: String,
        /// An array of MCP's objects, as the server wrote them.
        items: Json,
    }
    /// Where a result comes from.
    "Provenance" Provenance {
        /// The server.
        serverId: String,
        /// The tool's own name.
        toolName: String,
        /// How long the server took, in milliseconds.
        durationMs: u64,
        /// As in `ToolDescriptor`.
        toolHash: String,
    }
    /// A tool that is not what it was when the person last saw it.
    "ToolChange" ToolChange {
        /// The server.
        server_id: String,
        /// The tool's own name.
        tool_name: String,
        /// The hash of what it is now.
        tool_hash: String,
        /// What it was: `{title?, description?, inputSchema?, outputSchema?, annotations?, …}`.
        before: Json,
        /// What it is now.
        after: Json,
        /// Whether origins are kept from it until it is accepted (`host.changedTools`).
        blocked: bool,
        /// Whether its texts have hidden or control characters now.
        hidden_characters: bool,
    }
}
