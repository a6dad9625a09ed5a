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
        /// The program to run: an absolute path, or a name to look up in PATH. Exactly one of `command` and `image` is needed.
        command: Option<String>,
        /// The container image to run instead: `registry.example/name:tag`.
        image: Option<String>,
        /// The container engine that runs the image, `podman` or `docker`; absent: the first of them that is installed.
        engine: Option<String>,
        /// Its arguments.
        args: Option<Vec<String>>,
        /// Environment variables for it.
        env: Option<BTreeMap<String, String>>,
        /// Its working directory; absent: the server's own data directory.
        cwd: Option<String>,
        /// A name for people.
        label: Option<String>,
        /// File URIs that the server may ask for as its roots; absent: none.
        roots: Option<Vec<String>>,
        /// How it is supervised: the object `supervision` below.
        supervision: Option<JsonObject>,
        /// True: runs the command as it is. Otherwise `npx …` and `uvx …` are recognised: the package is installed first,
        /// and then run without them.
        as_is: Option<bool>,
        /// What it may do on this machine: the object `sandbox` below.
        sandbox: Option<JsonObject>,
        /// Names of secrets without which the server does not start. `set_credential` gives them their values.
        secrets: Option<Vec<String>>,
        /// True: the server gets the files of an earlier server, or of another program, with this id as its home. Otherwise
        /// they are set aside.
        keep_data: Option<bool>,
        /// Names of environment variables that keep their value from the present definition with this id.
        keep_env: Option<Vec<String>>,
        /// The text of the script that the first argument names, if the command is `harbor-runner-js`; at most 512 KiB. The
        /// bridge keeps it, and the file is not read again. Absent: the text that was kept for this file before.
        script: Option<String>,
        /// The bytes of the module that the first argument names, in base64, if the command is `harbor-runner-wasm`; at most
        /// 16 MiB of bytes. The bridge keeps them by their hash. Absent: the module that was kept for this file before.
        module: Option<String>,
    }
    /// Defines a remote server, or replaces the definition with this id.
    "add_remote_server" AddRemoteServer -> AddRemoteServerResult {
        /// The server's id.
        server_id: ServerId,
        /// Its address: `https://…`, or `http://…` on this machine; without a user name or password.
        url: String,
        /// `http` (Streamable HTTP), `sse` (HTTP+SSE, as of 2024-11-05), or `auto` (the first, else the second). Absent:
        /// `auto`.
        transport_type: Option<String>,
        /// Headers that go with each request. At each start, `${KEY}` in a value is replaced by the variable of this name.
        headers: Option<BTreeMap<String, String>>,
        /// Variables for the headers; no process gets them.
        env: Option<BTreeMap<String, String>>,
        /// A name for people.
        label: Option<String>,
        /// File URIs that the server may ask for as its roots; absent: none.
        roots: Option<Vec<String>>,
        /// How it is supervised: the object `supervision` below.
        supervision: Option<JsonObject>,
        /// True: the server, and the authorization server that it names, may be at a private address. An address of this
        /// machine (127.0.0.1, localhost) needs no such permission, and neither does an authorization server there that
        /// such a server names.
        allow_private: Option<bool>,
        /// True: the server may be used without TLS even though it is on another machine.
        allow_http: Option<bool>,
        /// Names of variables that keep their value from the present definition with this id.
        keep_env: Option<Vec<String>>,
        /// Names of headers that keep their value from the present definition with this id.
        keep_headers: Option<Vec<String>>,
        /// True: `url` is only the displayed form of the present definition's URL, which stays as it is.
        keep_url: Option<bool>,
    }
    /// Gives the definition of a server, for a client that changes it and defines the server anew.
    "get_definition" GetDefinition -> GetDefinitionResult {
        /// The server's id.
        server_id: ServerId,
    }
    /// Compares values with those in a server's definition and its secrets. The reply shows no value.
    "compare_server" CompareServer -> CompareServerResult {
        /// The server's id.
        server_id: ServerId,
        /// The address, for a remote server.
        url: Option<Secret>,
        /// Its arguments.
        args: Option<Vec<String>>,
        /// All of its environment variables.
        env: Option<SecretMap>,
        /// All of its headers.
        headers: Option<SecretMap>,
    }
    /// Says what a server may do on this machine from its next start on.
    "get_sandbox" GetSandbox -> GetSandboxResult {
        /// The server's id.
        server_id: ServerId,
    }
    /// Changes what a server may do on this machine. A running server is restarted, unless nothing has changed.
    "set_sandbox" SetSandbox -> SetSandboxResult {
        /// The server's id.
        server_id: ServerId,
        /// The settings to change, as in the object `sandbox` below. The others stay.
        sandbox: JsonObject,
        /// Names of settings that go back to their default. This is done first.
        reset: Option<Vec<String>>,
    }
    /// Changes how a server is supervised, its label, its arguments or its variables. The server is not restarted. Changes
    /// that belong to its start hold from the next start on, all others at once.
    "set_supervision" SetSupervision -> SetSupervisionResult {
        /// The server's id.
        server_id: ServerId,
        /// The settings to change, as in the object `supervision` below. The others stay.
        supervision: Option<JsonObject>,
        /// Names of settings that go back to their default, `label` among them. This is done first.
        reset: Option<Vec<String>>,
        /// A new name for people.
        label: Option<String>,
        /// Its arguments from the next start on, after the package's name if it has a package. Its program stays the same.
        args: Option<Vec<String>>,
        /// Environment variables to add or change, from the next start on.
        env: Option<BTreeMap<String, String>>,
        /// Names of variables to remove. This is done first.
        unset: Option<Vec<String>>,
    }
    /// Stops a server and forgets its definition, its secrets, its pinned tools and its tools' place in grants: a later
    /// server with this id inherits nothing. The data directory stays, and can be given to a later server (`keep_data`).
    "remove_server" RemoveServer -> RemoveServerResult {
        /// The server's id.
        server_id: ServerId,
        /// True: the data directory is deleted too, even one of an earlier server with this id.
        data: Option<bool>,
    }
    /// Lists the definitions with the state of each server.
    "list_servers" ListServers -> ListServersResult {}
    /// Gives the state of one server, its package, and whether its next start could succeed. Nothing is started.
    "get_server_status" GetServerStatus -> GetServerStatusResult {
        /// The server's id.
        server_id: ServerId,
    }
    /// Starts a server and makes contact; does nothing if it is running. A server that waits to be restarted is started at
    /// once, and its restarts are counted anew.
    "connect_server" ConnectServer -> ConnectServerResult {
        /// The server's id.
        server_id: ServerId,
        /// True: `progress` pushes come, with a `message` for each step until it runs.
        progress: Option<bool>,
        /// True: a running server is stopped first. Calls wait meanwhile. A later stop wins.
        restart: Option<bool>,
    }
    /// Stops a server. Calls in flight end with `ERR_SERVER_UNAVAILABLE`. Only `connect_server` starts it again while this
    /// bridge runs.
    "disconnect_server" DisconnectServer -> DisconnectServerResult {
        /// The server's id.
        server_id: ServerId,
    }
}
