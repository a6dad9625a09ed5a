//! Objects about grants and tools. The objects that web pages see use the names of the Web Agents API, in camel case.

#![allow(non_snake_case, reason = "the fields' names are those on the wire")]

use super::define_sent;
use crate::field::Word;
use crate::json::Json;

define_sent! {
    /// Objects in replies about permissions and tools.
    HOST_OBJECTS:
    /// A grant: what the person allows or forbids.
    "Grant" GrantView {
        /// The origin in its canonical form.
        origin: String,
        /// The profile of the origin that it is for.
        profile: String,
        /// The scope that it is about.
        scope: Word,
        /// `ALLOW_ONCE`, `ALLOW_ALWAYS` or `DENY`.
        grant_type: Word,
        /// When the grant was made, in milliseconds since 1970.
        created_at: u64,
        /// When the grant ends, in milliseconds since 1970; absent when it does not end by itself.
        expires_at: Option<u64>,
        /// The tab that the grant is bound to; absent when it holds for every tab.
        tab_id: Option<u64>,
        /// The tools that the grant covers; absent: all tools.
        allowed_tools: Option<Vec<String>>,
        /// How many calls run under it now; absent when none do.
        running: Option<u32>,
        /// True if the disk has not taken the grant: it holds until the bridge ends. Absent otherwise.
        unstored: Option<bool>,
    }
    /// A denial or revocation that the disk did not take. It holds until the bridge ends.
    "Unstored" UnstoredView {
        /// The origin.
        origin: String,
        /// The profile of the origin.
        profile: String,
        /// The scope that it is about.
        scope: Word,
        /// `denied` or `revoked`.
        change: Word,
    }
    /// A server that now runs another program than the one that the person allowed.
    "ServerChange" ServerChange {
        /// The server.
        server_id: String,
        /// The program that the person allowed: a package, image, address or command.
        before: String,
        /// The program that the server runs now.
        after: String,
        /// When the program changed, in milliseconds since 1970.
        since: u64,
    }
    /// A tool as origins see it. The server's texts are unchanged.
    "ToolDescriptor" ToolDescriptor {
        /// The name for calls: `server/tool`.
        name: String,
        /// The server's id.
        serverId: String,
        /// The server's name for people.
        serverLabel: String,
        /// The tool's own name.
        originalName: String,
        /// The SHA-256, in hex, of the RFC 8785 form of the tool as the server gives it, without `harbor/via` in `_meta`.
        toolHash: String,
        /// True if the tool's texts have hidden or control characters.
        hiddenCharacters: Option<bool>,
        /// Its name for people.
        title: Option<Json>,
        /// Its description.
        description: Option<Json>,
        /// JSON Schema of its arguments.
        inputSchema: Option<Json>,
        /// JSON Schema of its structured result.
        outputSchema: Option<Json>,
        /// The server's hints about the tool's effects.
        annotations: Option<Json>,
        /// The identities of the Harbors that the tool came through, the last one first: an array.
        via: Option<Json>,
        /// All other members of the tool, as an object: `icons`, `_meta`, `execution`, ….
        otherMembers: Option<Json>,
    }
    /// A server with a tool that an origin may use.
    "UsableServer" UsableServer {
        /// The server's id.
        server_id: String,
        /// Its name for people.
        label: String,
        /// Its state, as in `Server`.
        state: Word,
        /// How many of its tools the origin may use.
        tool_count: u32,
    }
    /// The resources, resource templates or prompts of one server.
    "Offers" OffersView {
        /// The server's id.
        server_id: String,
        /// An array of MCP's objects, as the server wrote them.
        items: Json,
    }
    /// The server and tool that a result comes from.
    "Provenance" Provenance {
        /// The server.
        serverId: String,
        /// The tool's own name.
        toolName: String,
        /// How long the server took to answer, in milliseconds.
        durationMs: u64,
        /// The tool's hash, as in `ToolDescriptor`.
        toolHash: String,
    }
    /// A tool that has changed since the person last saw it.
    "ToolChange" ToolChange {
        /// The server.
        server_id: String,
        /// The tool's own name.
        tool_name: String,
        /// The hash of the tool as it is now.
        tool_hash: String,
        /// The tool before: `{title?, description?, inputSchema?, outputSchema?, annotations?, …}`.
        before: Json,
        /// The tool now, in the same form.
        after: Json,
        /// True if origins may not use the tool until the person accepts it (`host.changedTools`).
        blocked: bool,
        /// True if the tool's texts now have hidden or control characters.
        hidden_characters: bool,
    }
}
