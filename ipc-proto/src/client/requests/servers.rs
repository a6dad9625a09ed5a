//! Requests about servers: definitions, starts, stops.

use std::collections::BTreeMap;

use super::super::define_requests;
use crate::field::JsonObject;
use crate::secret::{Secret, SecretMap};
use crate::server_id::ServerId;

define_requests! {
    /// Any request about servers: definitions, starts, stops.
    ServerRequest:
    /// Defines a server, or replaces the definition with this id (a running server is stopped first).
    "add_server" AddServer -> AddServerResult {
        /// The server's id.
        server_id: ServerId,
        /// The program to run: an absolute path, or a name to look up in PATH. Exactly one of `command` and `image`.
        command: Option<String>,
        /// The container image to run instead: `registry.example/name:tag`.
        image: Option<String>,
        /// Which container engine runs the image, `podman` or `docker`; the first of them that is there when absent.
        engine: Option<String>,
        /// Its arguments.
        args: Option<Vec<String>>,
        /// Environment variables of its own.
        env: Option<BTreeMap<String, String>>,
        /// The directory to run in; the server's own data directory when absent.
        cwd: Option<String>,
        /// A name for people.
        label: Option<String>,
        /// File URIs that the server may ask for as its roots; it gets none when absent.
        roots: Option<Vec<String>>,
        /// How it is supervised: the object `supervision` below.
        supervision: Option<JsonObject>,
        /// Runs the command as it is. Otherwise `npx …` and `uvx …` are recognised: the package is installed first,
        /// and then run without them.
        as_is: Option<bool>,
        /// What it may do on this machine: the object `sandbox` below.
        sandbox: Option<JsonObject>,
        /// Names of secrets without which it is not started: `set_credential` gives them their values.
        secrets: Option<Vec<String>>,
        /// Whether it gets the files that an earlier server with this id has left, or that another program of this id has,
        /// as its home. Otherwise they are set aside.
        keep_data: Option<bool>,
        /// Names of environment variables that keep the value which the definition with this id has.
        keep_env: Option<Vec<String>>,
    }
    /// Defines a server that runs elsewhere, or replaces the definition with this id.
    "add_remote_server" AddRemoteServer -> AddRemoteServerResult {
        /// The server's id.
        server_id: ServerId,
        /// Where it is: `https://…`, or `http://…` on this machine; without a name and password in it.
        url: String,
        /// `http` (Streamable HTTP), `sse` (HTTP+SSE, as of 2024-11-05), or `auto`: the one, else the other. `auto` when
        /// absent.
        transport_type: Option<String>,
        /// Headers that go with each request. `${KEY}` in a value is filled at each start by the variable of this name.
        headers: Option<BTreeMap<String, String>>,
        /// Variables for the headers; no process ever has them.
        env: Option<BTreeMap<String, String>>,
        /// A name for people.
        label: Option<String>,
        /// File URIs that the server may ask for as its roots; it gets none when absent.
        roots: Option<Vec<String>>,
        /// How it is supervised: the object `supervision` below.
        supervision: Option<JsonObject>,
        /// Whether it, and what it names to authorize, may be at a private address. At this machine's own (127.0.0.1,
        /// localhost) it may without, and what it names there, too.
        allow_private: Option<bool>,
        /// Whether it may be spoken to without TLS although it is not on this machine.
        allow_http: Option<bool>,
        /// Names of variables that keep the value which the definition with this id has.
        keep_env: Option<Vec<String>>,
        /// Names of headers that do.
        keep_headers: Option<Vec<String>>,
        /// Whether `url` is only what is shown of the URL of the definition with this id, which stays.
        keep_url: Option<bool>,
    }
    /// Gives the definition of a server, to be changed and defined anew.
    "get_definition" GetDefinition -> GetDefinitionResult {
        /// The server's id.
        server_id: ServerId,
    }
    /// Compares values with those that a server has, in its definition and as secrets: nobody is shown any.
    "compare_server" CompareServer -> CompareServerResult {
        /// The server's id.
        server_id: ServerId,
        /// Where it is, if that is elsewhere.
        url: Option<Secret>,
        /// Its arguments.
        args: Option<Vec<String>>,
        /// All of its environment variables.
        env: Option<SecretMap>,
        /// All of its headers.
        headers: Option<SecretMap>,
    }
    /// Says what a server may do on this machine, as the next start has it.
    "get_sandbox" GetSandbox -> GetSandboxResult {
        /// The server's id.
        server_id: ServerId,
    }
    /// Changes what a server may do on this machine. A running server is stopped and started again, unless
    /// nothing is different then.
    "set_sandbox" SetSandbox -> SetSandboxResult {
        /// The server's id.
        server_id: ServerId,
        /// The settings to change, as in the object `sandbox` below; the others stay.
        sandbox: JsonObject,
        /// Settings that go back to their default, by name; done first.
        reset: Option<Vec<String>>,
    }
    /// Changes how a server is supervised, its label, its arguments or its variables. Nothing is restarted: a server that runs
    /// goes on, with all that does not belong to its start.
    "set_supervision" SetSupervision -> SetSupervisionResult {
        /// The server's id.
        server_id: ServerId,
        /// The settings to change, as in the object `supervision` below; the others stay.
        supervision: Option<JsonObject>,
        /// Settings that go back to their default, by name, `label` among them; done first.
        reset: Option<Vec<String>>,
        /// Another name for people.
        label: Option<String>,
        /// Its arguments from its next start on, behind the package's name if it is one; its program stays the same.
        args: Option<Vec<String>>,
        /// Environment variables that it gets besides, or with other values, from its next start on.
        env: Option<BTreeMap<String, String>>,
        /// Names of variables that it loses; done first.
        unset: Option<Vec<String>>,
    }
    /// Stops a server and forgets its definition, its secrets, its pinned tools and what grants have of its tools: whatever is
    /// added with this id later inherits nothing. Its data directory stays, and is offered to that (`keep_data`).
    "remove_server" RemoveServer -> RemoveServerResult {
        /// The server's id.
        server_id: ServerId,
        /// Whether the data directory is deleted too, also one that an earlier server with this id has left.
        data: Option<bool>,
    }
    /// Lists the definitions with the state of each server.
    "list_servers" ListServers -> ListServersResult {}
    /// Says of one server how it is, what is installed for it, and whether its next start could succeed: nothing is started.
    "get_server_status" GetServerStatus -> GetServerStatusResult {
        /// The server's id.
        server_id: ServerId,
    }
    /// Starts a server and makes contact; does nothing when it is running. One that waits to be restarted is
    /// started at once, and its restarts count anew.
    "connect_server" ConnectServer -> ConnectServerResult {
        /// The server's id.
        server_id: ServerId,
        /// Whether `progress` pushes are wanted: a `message` for each thing that happens until it runs.
        progress: Option<bool>,
        /// Whether it is stopped first when it runs. Calls wait meanwhile, and a later stop wins.
        restart: Option<bool>,
    }
    /// Stops a server. Calls in flight end with `ERR_SERVER_UNAVAILABLE`, and nothing but a `connect_server` starts
    /// it again while this bridge runs.
    "disconnect_server" DisconnectServer -> DisconnectServerResult {
        /// The server's id.
        server_id: ServerId,
    }
}
