// The client protocol as types, message by message; `harbor docs protocol` says what they mean.
//
// Generated from the types in `ipc-proto`; `HARBOR_BLESS=1 cargo test -p harbor-ipc-proto` rewrites it. Must never be edited.

/** JSON as its author wrote it: nothing is known of it. */
export type Json = unknown;

/** The version of this protocol. */
export const PROTOCOL = 1;

/** What a client sends, by `type`. */
export interface Requests {
  /** The first frame of a Harbor program on the local socket. It proves with the token of `run/token` that the program may speak to the bridge, and states its role, once. Not sent on `serve --stdio`. */
  attach: {
    /** The content of `$HARBOR_HOME/run/token`. */
    token: string;
    /** `relay`, `mcp` or `cli`. */
    role: string;
    /** The client protocol that the program speaks. */
    protocol?: number;
    /** The program's build, shown when versions do not fit. */
    build?: string;
    /** With `relay`: the id of the browser extension, from the arguments that the browser gave. */
    extension_id?: string;
    /** With `mcp`: the name of the AI client. */
    client?: string;
    /** With `mcp`, for a client that came with a token of its own: an id derived from that token, 64 hexadecimal digits. Connections with the same name and id are one client's. It is no secret and opens nothing. */
    token_id?: string;
  };
  /** Tells the bridge who the client is and what it can take. Optional on a native-messaging port; without it, frames are limited to 1 MiB and larger answers are errors. */
  hello: {
    /** The client protocol that the client speaks. */
    protocol?: number;
    /** A name for logs. */
    client?: string;
    /** True: answers over `max_frame` may come as `chunk` pushes. */
    chunks?: boolean;
    /** The largest frame that the client takes, in bytes; at least 4096. */
    max_frame?: number;
    /** For an extension: a random id of the browser's session. For an AI client: the id of its own earlier session in a browser (`browser_session` with `info`), to continue it. */
    browser_session?: string;
  };
  /** Asks whether the bridge is alive. */
  ping: {
    /** Text to send back. */
    echo?: string;
  };
  /** Ends an open request of this client. That request is answered with the code `cancelled`, and the server is told. */
  cancel: {
    /** The id of the request to end. */
    target: string;
  };
  /** Ends the bridge: servers are stopped, and open requests are answered. */
  shutdown: Record<never, never>;
  /** Defines a server, or replaces the definition with this id (a running server is stopped first). */
  add_server: {
    /** The server's id. */
    server_id: string;
    /** The program to run: an absolute path, or a name to look up in PATH. Exactly one of `command` and `image` is needed. */
    command?: string;
    /** The container image to run instead: `registry.example/name:tag`. */
    image?: string;
    /** The container engine that runs the image, `podman` or `docker`; absent: the first of them that is installed. */
    engine?: string;
    /** Its arguments. */
    args?: string[];
    /** Environment variables for it. */
    env?: { [name: string]: string };
    /** Its working directory; absent: the server's own data directory. */
    cwd?: string;
    /** A name for people. */
    label?: string;
    /** File URIs that the server may ask for as its roots; absent: none. */
    roots?: string[];
    /** How it is supervised: the object `supervision` below. */
    supervision?: { [name: string]: Json };
    /** True: runs the command as it is. Otherwise `npx …` and `uvx …` are recognised: the package is installed first, and then run without them. */
    as_is?: boolean;
    /** What it may do on this machine: the object `sandbox` below. */
    sandbox?: { [name: string]: Json };
    /** Names of secrets without which the server does not start. `set_credential` gives them their values. */
    secrets?: string[];
    /** True: the server gets the files of an earlier server, or of another program, with this id as its home. Otherwise they are set aside. */
    keep_data?: boolean;
    /** Names of environment variables that keep their value from the present definition with this id. */
    keep_env?: string[];
    /** The text of the script that the first argument names, if the command is `harbor-runner-js`; at most 512 KiB. The bridge keeps it, and the file is not read again. Absent: the text that was kept for this file before. */
    script?: string;
    /** The bytes of the module that the first argument names, in base64, if the command is `harbor-runner-wasm`; at most 16 MiB of bytes. The bridge keeps them by their hash. Absent: the module that was kept for this file before. */
    module?: string;
  };
  /** Defines a remote server, or replaces the definition with this id. */
  add_remote_server: {
    /** The server's id. */
    server_id: string;
    /** Its address: `https://…`, or `http://…` on this machine; without a user name or password. */
    url: string;
    /** `http` (Streamable HTTP), `sse` (HTTP+SSE, as of 2024-11-05), or `auto` (the first, else the second). Absent: `auto`. */
    transport_type?: string;
    /** Headers that go with each request. At each start, `${KEY}` in a value is replaced by the variable of this name. */
    headers?: { [name: string]: string };
    /** Variables for the headers; no process gets them. */
    env?: { [name: string]: string };
    /** A name for people. */
    label?: string;
    /** File URIs that the server may ask for as its roots; absent: none. */
    roots?: string[];
    /** How it is supervised: the object `supervision` below. */
    supervision?: { [name: string]: Json };
    /** True: the server, and the authorization server that it names, may be at a private address. An address of this machine (127.0.0.1, localhost) needs no such permission, and neither does an authorization server there that such a server names. */
    allow_private?: boolean;
    /** True: the server may be used without TLS even though it is on another machine. */
    allow_http?: boolean;
    /** Names of variables that keep their value from the present definition with this id. */
    keep_env?: string[];
    /** Names of headers that keep their value from the present definition with this id. */
    keep_headers?: string[];
    /** True: `url` is only the displayed form of the present definition's URL, which stays as it is. */
    keep_url?: boolean;
  };
  /** Gives the definition of a server, for a client that changes it and defines the server anew. */
  get_definition: {
    /** The server's id. */
    server_id: string;
  };
  /** Compares values with those in a server's definition and its secrets. The reply shows no value. */
  compare_server: {
    /** The server's id. */
    server_id: string;
    /** The address, for a remote server. */
    url?: string;
    /** Its arguments. */
    args?: string[];
    /** All of its environment variables. */
    env?: { [name: string]: string };
    /** All of its headers. */
    headers?: { [name: string]: string };
  };
  /** Says what a server may do on this machine from its next start on. */
  get_sandbox: {
    /** The server's id. */
    server_id: string;
  };
  /** Changes what a server may do on this machine. A running server is restarted, unless nothing has changed. */
  set_sandbox: {
    /** The server's id. */
    server_id: string;
    /** The settings to change, as in the object `sandbox` below. The others stay. */
    sandbox: { [name: string]: Json };
    /** Names of settings that go back to their default. This is done first. */
    reset?: string[];
  };
  /** Changes how a server is supervised, its label, its arguments or its variables. The server is not restarted. Changes that belong to its start hold from the next start on, all others at once. */
  set_supervision: {
    /** The server's id. */
    server_id: string;
    /** The settings to change, as in the object `supervision` below. The others stay. */
    supervision?: { [name: string]: Json };
    /** Names of settings that go back to their default, `label` among them. This is done first. */
    reset?: string[];
    /** A new name for people. */
    label?: string;
    /** Its arguments from the next start on, after the package's name if it has a package. Its program stays the same. */
    args?: string[];
    /** Environment variables to add or change, from the next start on. */
    env?: { [name: string]: string };
    /** Names of variables to remove. This is done first. */
    unset?: string[];
  };
  /** Stops a server and forgets its definition, its secrets, its pinned tools and its tools' place in grants: a later server with this id inherits nothing. The data directory stays, and can be given to a later server (`keep_data`). */
  remove_server: {
    /** The server's id. */
    server_id: string;
    /** True: the data directory is deleted too, even one of an earlier server with this id. */
    data?: boolean;
  };
  /** Lists the definitions with the state of each server. */
  list_servers: Record<never, never>;
  /** Gives the state of one server, its package, and whether its next start could succeed. Nothing is started. */
  get_server_status: {
    /** The server's id. */
    server_id: string;
  };
  /** Starts a server and makes contact; does nothing if it is running. A server that waits to be restarted is started at once, and its restarts are counted anew. */
  connect_server: {
    /** The server's id. */
    server_id: string;
    /** True: `progress` pushes come, with a `message` for each step until it runs. */
    progress?: boolean;
    /** True: a running server is stopped first. Calls wait meanwhile. A later stop wins. */
    restart?: boolean;
  };
  /** Stops a server. Calls in flight end with `ERR_SERVER_UNAVAILABLE`. Only `connect_server` starts it again while this bridge runs. */
  disconnect_server: {
    /** The server's id. */
    server_id: string;
  };
  /** Installs a server and defines it: the server is started once, lists its tools, and is stopped. If that fails or is cancelled, or the client leaves, nothing of it stays. A server that lacks a secret is defined and its versions are locked, but it is not started. A plan runs no code of any package, except with `build`. */
  install_server: {
    /** The package: `npm:NAME[@VERSION]`, `pypi:NAME[==VERSION]`, `git:URL[#BRANCH, TAG OR COMMIT][&subdirectory=DIRECTORY]`, `OWNER/NAME` of GitHub, `binary:URL[#…]` (see docs/install.md), `oci:IMAGE`. Or the URL of a remote server, or the id of an entry of the catalog or of Harbor's own list. A repository's own statement on how to install its server is followed, as `resolve_server` shows it. */
    source: string;
    /** A manifest, or a server.json. It says what is installed; `source` is only what people are shown. */
    manifest?: { [name: string]: Json };
    /** For an entry: the number of its way, from 0, as `resolve_server` lists them. Absent: the first way that works here. */
    package?: number;
    /** For an entry: the values of its inputs, by name. */
    inputs?: { [name: string]: string[] };
    /** The server's id; absent: made from the package's name. */
    server_id?: string;
    /** As in `add_server`. */
    args?: string[];
    /** As in `add_server`. */
    env?: { [name: string]: string };
    /** Environment variables for the installer only; the server does not get them. They are kept for upgrades. */
    install_env?: { [name: string]: string };
    /** Packages of PyPI, `NAME[==VERSION]`, to install beside a package of PyPI. They are locked like that package. */
    with?: string[];
    /** As in `add_server`. */
    label?: string;
    /** As in `add_server`. */
    supervision?: { [name: string]: Json };
    /** As in `add_server`. */
    sandbox?: { [name: string]: Json };
    /** As in `add_server`. An entry names its own secrets. */
    secrets?: string[];
    /** Values of secrets, by name. They serve the first start, and are stored if it succeeds. */
    secret_values?: { [name: string]: string };
    /** As in `add_server`. */
    keep_data?: boolean;
    /** As in `add_remote_server`. */
    headers?: { [name: string]: string };
    /** As in `add_remote_server`. */
    transport_type?: string;
    /** As in `add_remote_server`. */
    allow_private?: boolean;
    /** As in `add_remote_server`. */
    allow_http?: boolean;
    /** True: only says what would be installed. */
    plan?: boolean;
    /** With `plan`, true: an input that was not given appears as `{name}`; otherwise it is an error. */
    incomplete?: boolean;
    /** The `planned` of an earlier plan of this client, or of `resolve_server` for a repository: exactly that is installed. */
    planned?: string;
    /** True: code of the package may run to find its dependencies, in a sandbox with nothing of the person's. If it is needed and absent, a plan says so, and an installation is refused with the cause `needs_build`. */
    build?: boolean;
    /** True: a package that runs with the whole network is started once more without any, to learn whether it needs one. */
    without_network?: boolean;
    /** As in `connect_server`. */
    progress?: boolean;
  };
  /** Says what would be installed, in which ways, and which inputs it needs. Of a repository, one commit is fetched and read. No code of it runs, and nothing of it stays. */
  resolve_server: {
    /** As in `install_server`. */
    source: string;
    /** As in `install_server`. */
    manifest?: { [name: string]: Json };
    /** As in `install_server`. */
    package?: number;
    /** As in `connect_server`. */
    progress?: boolean;
  };
  /** Lists the servers that are part of Harbor. */
  get_curated_list: Record<never, never>;
  /** Installs another version beside the present one, starts it with nothing of the person's (no secrets, variables, grants), and says how its tools differ. The version is used once another request has `apply`. It is deleted if the client leaves before that. */
  upgrade_server: {
    /** The server's id. */
    server_id: string;
    /** The version; for git a branch, tag or commit, for a download a SHA-256 or another address. Absent: the newest that the definition admits. An older version than the present one must be named. */
    to?: string;
    /** True: only says which version that is. */
    plan?: boolean;
    /** The `planned` of an earlier answer: the request goes on with exactly that version. */
    planned?: string;
    /** As in `install_server`. */
    build?: boolean;
    /** True: a version that does not start or lists no tools in the trial is started with everything that the server may use. */
    with_all?: boolean;
    /** The `apply` of an earlier answer: that version is used from now on. */
    apply?: string;
    /** As in `connect_server`. */
    progress?: boolean;
  };
  /** Goes back to the version before the last upgrade. A second request restores the newer version. */
  undo_upgrade: {
    /** The server's id. */
    server_id: string;
  };
  /** Removes a server that has a package, as `remove_server` does. */
  uninstall_server: {
    /** The server's id. */
    server_id: string;
    /** As in `remove_server`. */
    data?: boolean;
  };
  /** Changes a server's arguments. A running server is restarted. */
  update_server_args: {
    /** The server's id. */
    server_id: string;
    /** All its arguments. */
    args: string[];
  };
  /** Lists the servers with a package, and their versions. `connect_server` and `disconnect_server` start and stop them. */
  list_installed: Record<never, never>;
  /** Searches for the programs that servers and installers need. */
  check_runtimes: Record<never, never>;
  /** Stores a secret of a server, or replaces it: a key, a password, a token. The server gets it at its next start, as the environment variable of its name or as a header of requests to a remote server. */
  set_credential: {
    /** The server's id. */
    server_id: string;
    /** The secret's name: a letter or `_`, then letters, digits, `_`, `.` and `-`. For a header: the header's name. */
    key: string;
    /** The secret, up to 64 KiB. It is never shown again. */
    value: string;
    /** The type; absent: `api_key`. */
    credential_type?: "api_key" | "password" | "oauth" | "header";
    /** The user name that belongs to a password. */
    username?: string;
    /** When the secret expires, in milliseconds since 1970; absent when not known. */
    expires_at?: number;
    /** For `browser`, which is no server: the site where browser tools may type the secret, such as `https://example.com`. */
    site?: string;
  };
  /** Stores several secrets of the type `api_key` at once. The server's other secrets stay. */
  set_server_secrets: {
    /** The server's id. */
    server_id: string;
    /** The secrets by name. */
    secrets: { [name: string]: string };
  };
  /** Lists which secrets of a server are set, missing and expired. */
  get_credential_status: {
    /** The server's id. */
    server_id: string;
  };
  /** Lists the problems with the secrets of a server. */
  validate_credentials: {
    /** The server's id. */
    server_id: string;
  };
  /** Deletes a secret. A server that runs keeps it until it is stopped. */
  delete_credential: {
    /** The server's id. */
    server_id: string;
    /** The secret's name. */
    key: string;
    /** For `browser`: the site of the secret; absent: all secrets of this name. */
    site?: string;
  };
  /** Lists secrets, without their values. */
  list_credentials: {
    /** Only secrets of this server; absent: all secrets. */
    server_id?: string;
  };
  /** Says where secrets are kept, and whether they can be read. */
  get_secret_store: Record<never, never>;
  /** Makes encrypted secrets readable until the bridge ends or `lock_secrets` comes. Servers that waited for them start. */
  unlock_secrets: {
    /** The passphrase; absent if a file gives it, or the keyring has the key. */
    passphrase?: string;
  };
  /** Has the bridge forget the key of encrypted secrets. Servers that run are not stopped. */
  lock_secrets: Record<never, never>;
  /** Encrypts secrets with a passphrase, or changes the passphrase. */
  encrypt_secrets: {
    /** The new passphrase: 8 characters or more, one line, up to 1 KiB. */
    passphrase: string;
  };
  /** Decrypts the secrets on disk: the file is plain from then on. */
  decrypt_secrets: Record<never, never>;
  /** Moves the secrets to the place that `secrets.store` in `config.toml` names. */
  move_secrets: Record<never, never>;
  /** Begins an authorization: finds the authorization server that must ask the person. An earlier one that is still under way ends. It ends with its connection, or after five minutes. */
  oauth_start: {
    /** The server's id. It is a remote server. */
    server_id: string;
    /** The client id of Harbor at the authorization server; needed only if Harbor cannot register there itself. */
    client_id?: string;
    /** The secret of that client id, if it has one. */
    client_secret?: string;
    /** Scopes to ask for, besides those that the server asks for and those granted before. */
    scopes?: string[];
    /** The port of this machine for the redirect URI, if the client id is registered with one; absent: any port. */
    redirect_port?: number;
    /** The host in the redirect URI: `127.0.0.1` (default) or `localhost`. */
    redirect_host?: string;
  };
  /** Waits for the person's answer, stores the tokens, and starts the server with them. A `cancel` of this request ends the authorization. */
  oauth_finish: {
    /** The server's id. */
    server_id: string;
  };
  /** Ends an authorization that is under way. */
  oauth_cancel: {
    /** The server's id. */
    server_id: string;
  };
  /** Gives the authorization of a server. */
  oauth_status: {
    /** The server's id. */
    server_id: string;
  };
  /** Revokes an authorization: tells the authorization server if possible, deletes the tokens, and stops the server. */
  oauth_revoke: {
    /** The server's id. */
    server_id: string;
  };
  /** Lists the entries of the catalog, those of the highest rank first, a page at a time. */
  catalog_get: {
    /** The `next_cursor` of the page before; all other fields must be as they were. Absent: the first page. */
    cursor?: string;
    /** The most entries in the reply, up to 200; absent: 50. */
    limit?: number;
    /** True: only the entries that Harbor's authors chose. False: only the others. Absent: all. */
    featured?: boolean;
    /** Only entries of this source: `registry`, `awesome` or `curated`; absent: all. */
    source?: string;
    /** True: also entries that their source has dropped. Absent: false. */
    include_removed?: boolean;
  };
  /** Searches the catalog. All words must match; the last one may be the beginning of a word. */
  catalog_search: {
    /** The words, as a person types them; at most 1,000 bytes. Words after the 16th are ignored. */
    query: string;
    /** As in `catalog_get`. */
    cursor?: string;
    /** As in `catalog_get`. */
    limit?: number;
  };
  /** Gives everything that Harbor knows of one entry. */
  catalog_entry: {
    /** The id of the entry, or the name of an entry that is part of Harbor. */
    id: string;
  };
  /** Fetches the catalog anew, and answers when that is done. A request that comes meanwhile shares the refresh. The refresh goes on even if nobody waits for it any more. */
  catalog_refresh: {
    /** True: fetch everything, even where the changes alone would do. */
    full?: boolean;
    /** True: `progress` pushes come. */
    progress?: boolean;
  };
  /** Looks up stars, commits and downloads of the first entries, and answers when that is done. Requests share it as in `catalog_refresh`. */
  catalog_enrich: {
    /** True: `progress` pushes come. */
    progress?: boolean;
  };
  /** Gives the status of the catalog, its worker and its sources. */
  catalog_status: Record<never, never>;
  /** Starts a server as `connect_server` does, and answers with everything that it offers. */
  mcp_connect: {
    /** The server's id. */
    server_id: string;
    /** As in `connect_server`. */
    progress?: boolean;
  };
  /** Stops a server as `disconnect_server` does. */
  mcp_disconnect: {
    /** The server's id. */
    server_id: string;
  };
  /** Lists the servers that are running. */
  mcp_list_connections: Record<never, never>;
  /** Asks a server for its tools, all pages. If the server is stopped, or was never started, the reply has the tools that Harbor knows. */
  mcp_list_tools: {
    /** The server's id. */
    server_id: string;
    /** How long to wait for the server's answer, in milliseconds, if Harbor knows its last list. Otherwise, and when absent: as long as for any request. 0: only what Harbor knows; no server is started for it. */
    wait_ms?: number;
  };
  /** Asks a running server for its resources, all pages. */
  mcp_list_resources: {
    /** The server's id. */
    server_id: string;
  };
  /** Asks a running server for its resource templates, all pages. */
  mcp_list_resource_templates: {
    /** The server's id. */
    server_id: string;
  };
  /** Asks a running server for its prompts, all pages. */
  mcp_list_prompts: {
    /** The server's id. */
    server_id: string;
  };
  /** Calls a tool. The reply is the server's result, or an error. On a timeout, a cancel or a vanished client the server gets `notifications/cancelled`. */
  mcp_call_tool: {
    /** The server's id. */
    server_id: string;
    /** The tool's name, as the server gave it. */
    tool_name: string;
    /** The arguments, passed on unchanged; absent: `{}`. */
    arguments?: { [name: string]: Json };
    /** How long the call may take, in milliseconds (1 to 3,600,000); absent: the definition's `call_timeout_ms`. With `progress`, each sign of progress gives it as much time again. */
    timeout_ms?: number;
    /** How long the call may take in all, whatever its progress, in milliseconds (1 to 3,600,000). Absent: 600,000, or `timeout_ms` if that is longer. */
    max_timeout_ms?: number;
    /** True: `progress` pushes come. */
    progress?: boolean;
    /** MCP's task parameters (tasks extension), passed on unchanged. */
    task?: { [name: string]: Json };
    /** True: if the server is stopped and no call starts it, the call only fails (`ERR_SERVER_UNAVAILABLE`, `sent` false), and nothing is counted. For callers that will then start the server. */
    unless_stopped?: boolean;
    /** The questions that the caller can answer during the call: `sampling` and `elicitation` of MCP's client capabilities. The server's questions then come as `ask` pushes. Absent: none. */
    answers?: { [name: string]: Json };
  };
  /** Reads a resource. */
  mcp_read_resource: {
    /** The server's id. */
    server_id: string;
    /** The resource's URI. */
    uri: string;
    /** As in `mcp_call_tool`. */
    timeout_ms?: number;
    /** As in `mcp_call_tool`. */
    answers?: { [name: string]: Json };
  };
  /** Gets a prompt. */
  mcp_get_prompt: {
    /** The server's id. */
    server_id: string;
    /** The prompt's name. */
    prompt_name: string;
    /** The prompt's arguments, strings by MCP's rules; passed on unchanged. */
    arguments?: { [name: string]: Json };
    /** As in `mcp_call_tool`. */
    timeout_ms?: number;
    /** As in `mcp_call_tool`. */
    answers?: { [name: string]: Json };
  };
  /** Answers a question of a server: an `ask` push. */
  mcp_answer: {
    /** The question's number, from the push. */
    ask_id: number;
    /** The answer: MCP's result. */
    result?: { [name: string]: Json };
    /** A JSON-RPC error in place of a result: `code` and `message`. With neither, the question is refused. */
    error?: { [name: string]: Json };
  };
  /** Asks for completions of an argument of a prompt or a resource template. */
  mcp_complete: {
    /** The server's id. */
    server_id: string;
    /** MCP's `ref` object, passed on unchanged. */
    reference: { [name: string]: Json };
    /** MCP's `argument` object, passed on unchanged. */
    argument: { [name: string]: Json };
    /** MCP's `context` object, passed on unchanged. */
    context?: { [name: string]: Json };
  };
  /** Subscribes to changes of a resource. This client gets them as `resource_updated` pushes. */
  mcp_subscribe_resource: {
    /** The server's id. */
    server_id: string;
    /** The resource's URI. */
    uri: string;
  };
  /** Ends a subscription. */
  mcp_unsubscribe_resource: {
    /** The server's id. */
    server_id: string;
    /** The resource's URI. */
    uri: string;
  };
  /** Sets the level from which the server logs by MCP. */
  mcp_set_log_level: {
    /** The server's id. */
    server_id: string;
    /** `debug`, `info`, `notice`, `warning`, `error`, `critical`, `alert` or `emergency`. */
    level: string;
  };
  /** Asks a running server whether it is alive. */
  mcp_ping: {
    /** The server's id. */
    server_id: string;
  };
  /** Sends a request of MCP's tasks extension. */
  mcp_task: {
    /** The server's id. */
    server_id: string;
    /** `tasks/get`, `tasks/update`, `tasks/cancel`, `tasks/result` or `tasks/list`. */
    method: string;
    /** The request's parameters, passed on unchanged. */
    arguments?: { [name: string]: Json };
  };
  /** Begins the work of an AI client. If the bridge has never heard of its name, and there is neither a grant nor a DENY for it, it gets `mcp:tools.list` and `mcp:tools.call` for good, provided that `mcp.firstUse` is `all`. Only with the role `mcp`. */
  mcp_begin: {
    /** The tools that these first grants cover, `server/tool` or `server/*`. Absent: all. */
    only?: string[];
  };
  /** Gives the last log lines of a server: its stderr, the lines on its stdout that were no messages, its MCP log messages, and Harbor's remarks about it. */
  mcp_get_logs: {
    /** The server's id. */
    server_id: string;
    /** The most lines in the reply, the newest ones, up to 1000; absent: 200. */
    limit?: number;
    /** True: later lines come as `server_log` pushes, until a request says false. The reply and the pushes together have every line once. */
    follow?: boolean;
  };
  /** Gives the status of everything, as it is now and from memory. */
  status: {
    /** True: the memory and processor use of processes is measured anew before the reply. Otherwise it is that of the last measurement. */
    fresh?: boolean;
  };
  /** Begins or ends `status_update` pushes: each change of a server, a client or the health as it happens, and the numbers in between. The reply has the status from which they begin. */
  subscribe_status: {
    /** False ends the pushes; absent: true. */
    subscribe?: boolean;
    /** How often the numbers come, in milliseconds: 500 to 3,600,000; absent: 10,000. */
    interval_ms?: number;
  };
  /** Gives Harbor's health in short. */
  health: Record<never, never>;
  /** Gives the numbers of the status and of the calls as OpenMetrics text. Origins are in it only if `config.toml` says so. */
  get_metrics: Record<never, never>;
  /** Gives the values of `config.toml` that are in force. */
  get_config: Record<never, never>;
  /** Begins or ends `server_event` pushes: every change of every server's state. The reply has the states from which they begin. */
  watch_servers: {
    /** False ends the pushes; absent: true. */
    watch?: boolean;
  };
  /** Begins `server_message` pushes: MCP log messages from a level on, of running servers all of whose tools an AI client may use. A server whose own level is higher is asked for these messages too. Only with the role `mcp`. */
  mcp_follow_messages: {
    /** The level, as in `mcp_set_log_level`. */
    level: string;
  };
  /** Records what the person allows or forbids an origin. A DENY wins over every other grant until it is revoked. */
  host_grant_permission: {
    /** The origin: `https://example.com`, or `client://NAME` for an AI client. */
    origin: string;
    /** The profile of the origin; absent: `default`. */
    profile?: string;
    /** The scope, such as `mcp:tools.call`. */
    scope: string;
    /** `ALLOW_ONCE` (default; in memory, ends with the bridge), `ALLOW_ALWAYS` or `DENY` (both on disk). */
    grant_type?: string;
    /** With ALLOW_ONCE: the grant holds only for this tab of the browser session that the connection's `hello` names. */
    tab_id?: number;
    /** With ALLOW_ONCE: when the grant ends, in milliseconds since 1970; absent: after `grants.onceSeconds`. */
    expires_at?: number;
    /** The tools that the grant covers, `server/tool` or `server/*`. Absent: all. Empty: none. */
    allowed_tools?: string[];
  };
  /** Revokes grants of an origin, of every type or of one. */
  host_revoke_permission: {
    /** The origin. */
    origin: string;
    /** As in `host_grant_permission`. */
    profile?: string;
    /** The scope. */
    scope: string;
    /** Only grants of this type; absent: of every type. */
    grant_type?: string;
    /** Only grants that are bound to this tab of this connection's browser session. */
    tab_id?: number;
  };
  /** Asks whether an origin may do something now. */
  host_check_permission: {
    /** The origin. An AI client may leave it out: it means itself. */
    origin?: string;
    /** As in `host_grant_permission`. An AI client has the profile `default` only. */
    profile?: string;
    /** The scope. */
    scope: string;
    /** The tab that asks. */
    tab_id?: number;
    /** A tool, as `server/tool`, that the grant must cover. */
    tool_name?: string;
  };
  /** Asks whether a page may do something in a tab now, and writes down that it does. Nothing else about it is told. */
  host_begin_page_act: {
    /** The page's origin. */
    origin: string;
    /** As in `host_grant_permission`. */
    profile?: string;
    /** The tab that asks. */
    tab_id?: number;
    /** The scope that it takes, `browser:…`. */
    scope: string;
    /** The function of `agent.browser`, such as `click`: letters, at most 32. */
    act: string;
  };
  /** Lists the grants of one origin. */
  host_get_permissions: {
    /** As in `host_check_permission`. */
    origin?: string;
    /** Only grants of this profile; absent: of all profiles. */
    profile?: string;
    /** Leaves out grants that are bound to another tab. */
    tab_id?: number;
  };
  /** Ends the grants that are bound to a closed tab. If the connection has named a browser session, only grants of that session. */
  host_expire_tab_grants: {
    /** The tab. */
    tab_id: number;
    /** Only grants of this profile; absent: of all profiles. */
    profile?: string;
  };
  /** Lists the grants of all origins. */
  host_list_all_permissions: {
    /** Only grants of this profile; absent: of all profiles. */
    profile?: string;
    /** Leaves out grants that are bound to another tab. */
    tab_id?: number;
  };
  /** Lists the tools that an origin may know of, on servers that run or that a call would start. Needs the scope `mcp:tools.list`. The grant must cover the tool. If there are grants for `mcp:tools.call` (of any tab), one of them must cover it too. If there is a DENY for that scope, no tool is listed. A tool that has changed since the person saw it is left out until the person accepts it. */
  host_list_tools: {
    /** As in `host_check_permission`. */
    origin?: string;
    /** As in `host_grant_permission`. */
    profile?: string;
    /** The tab that asks. */
    tab_id?: number;
    /** Only tools of these servers; absent: of all servers. */
    server_ids?: string[];
  };
  /** Lists the servers with a tool that an origin may use, and their state. Needs the scope `mcp:tools.list`. */
  host_list_servers: {
    /** As in `host_check_permission`. */
    origin?: string;
    /** As in `host_grant_permission`. */
    profile?: string;
    /** The tab that asks. */
    tab_id?: number;
  };
  /** Lists the resources, resource templates or prompts of running servers. A server is listed only if the origin may use all its tools. Needs the scope `mcp:tools.list`. An AI client uses the items by `mcp_read_resource`, `mcp_get_prompt`, `mcp_complete` and `mcp_subscribe_resource`. For these it needs `mcp:tools.call` for all tools of the server. */
  host_list_offers: {
    /** As in `host_check_permission`. */
    origin?: string;
    /** As in `host_grant_permission`. */
    profile?: string;
    /** The tab that asks. */
    tab_id?: number;
    /** `resources`, `resource_templates` or `prompts`. */
    kind: string;
  };
  /** Calls a tool on behalf of an origin. Harbor checks the permission, the allowlist, the tool itself and the limits, in this order; only then does it ask the server. Needs the scope `mcp:tools.call`. On a timeout, a cancel or a vanished client the server gets `notifications/cancelled`. */
  host_call_tool: {
    /** As in `host_check_permission`. */
    origin?: string;
    /** As in `host_grant_permission`. */
    profile?: string;
    /** The tab that asks. */
    tab_id?: number;
    /** The tool, `server/tool`. */
    tool_name: string;
    /** The arguments; absent: `{}`. They are checked against the tool's schema and passed on unchanged. */
    args?: { [name: string]: Json };
    /** How long the call may take, its wait for a slot included, in milliseconds (1 to 3,600,000). Absent: the limit of the configuration or of the server's definition. With `progress`, each sign of progress gives it as much time again. */
    timeout_ms?: number;
    /** As in `mcp_call_tool`. */
    max_timeout_ms?: number;
    /** The run that the call counts in; absent: no run. */
    run_id?: string;
    /** True: `progress` pushes come. */
    progress?: boolean;
    /** As in `mcp_call_tool`. */
    answers?: { [name: string]: Json };
  };
  /** Runs a script in JavaScript on behalf of an origin, in an interpreter of its own without files and network. There `await tools.SERVER.TOOL(arguments)` is a `host_call_tool` of that origin: each one is judged, limited and written down as such. It may make 64 calls, and take 30 s besides them. */
  host_run_script: {
    /** As in `host_check_permission`. */
    origin?: string;
    /** As in `host_grant_permission`. */
    profile?: string;
    /** The tab that asks. */
    tab_id?: number;
    /** The body of an async function whose parameter is `tools`; at most 256 KiB. What it returns is the answer. */
    script: string;
    /** The tools that it may call, `server/tool` or `server/*`; absent: all that the origin may call. */
    only?: string[];
  };
  /** Begins a run: a budget of calls for an agent. The run ends with its client, or after `limits.runStaleSeconds` without use. */
  host_create_run: {
    /** As in `host_check_permission`. */
    origin?: string;
    /** As in `host_grant_permission`. */
    profile?: string;
    /** The tab that asks. */
    tab_id?: number;
    /** How many calls the run may make, `limits.maxCallsPerRun` at most; absent: that many. */
    max_calls?: number;
  };
  /** Ends a run. */
  host_end_run: {
    /** As in `host_check_permission`. */
    origin?: string;
    /** As in `host_grant_permission`. */
    profile?: string;
    /** The tab that asks. */
    tab_id?: number;
    /** The run. */
    run_id: string;
  };
  /** Says how many calls of a run are left. */
  host_get_run: {
    /** As in `host_check_permission`. */
    origin?: string;
    /** As in `host_grant_permission`. */
    profile?: string;
    /** The tab that asks. */
    tab_id?: number;
    /** The run. */
    run_id: string;
  };
  /** Gives counts and durations of calls and decisions since the bridge began, without any payload. With an origin, and always for an AI client: only its own. */
  host_get_stats: {
    /** As in `host_check_permission`. If the owner leaves it out: all origins. */
    origin?: string;
    /** Has no meaning here. */
    profile?: string;
    /** Has no meaning here. */
    tab_id?: number;
  };
  /** Begins or ends the pushes `grant_changed`, `tools_changed` and `tool_changed`. An AI client gets only pushes about itself. */
  host_watch: {
    /** False ends them; true when absent. */
    watch?: boolean;
  };
  /** Names the profile of the browser that an extension is in. The first browser that ever came is `default`, each other one `browser:ID`. */
  host_name_profile: {
    /** A random id that the extension keeps in its browser: 8 to 32 hexadecimal digits. */
    id: string;
  };
  /** Writes into the audit log how the person answered a question of an origin. It changes nothing else: `host_grant_permission` makes the grant. */
  host_note_consent: {
    /** The origin that asked. */
    origin: string;
    /** As in `host_grant_permission`. */
    profile?: string;
    /** The tab that asked. */
    tab_id?: number;
    /** `allowed`, `denied`, or `dismissed`: the question was closed without an answer. */
    outcome: string;
    /** The subject of the question: `server/tool`, `server/*`, or scopes of models. */
    tools?: string[];
  };
  /** Gives the newest lines of the audit log that match, oldest first. */
  host_get_audit: {
    /** Only lines about what this origin did, or what was done on its behalf; `owner`: the person. Absent: all lines. */
    origin?: string;
    /** Only lines since this time, in milliseconds since 1970. */
    since?: number;
    /** The most lines in the reply, up to 10000; absent: 200. */
    limit?: number;
  };
  /** Lists the tools that have changed since they were first seen or last accepted. */
  host_list_tool_changes: {
    /** Only tools of this server; absent: of all servers. */
    server_id?: string;
  };
  /** Accepts a tool as it is now: origins may use it again. */
  host_accept_tool_change: {
    /** The server. */
    server_id: string;
    /** The tool, as the server names it. */
    tool_name: string;
    /** The hash of the tool, as `host_list_tool_changes` gives it. A tool that has changed again since then is not accepted. */
    tool_hash: string;
  };
  /** Accepts that a server runs another program than before. The grants for its name hold again, its tools are pinned as they are, and it gets the secrets of its name at its next start. */
  host_accept_server_change: {
    /** The server. */
    server_id: string;
    /** The program, as `host_list_tool_changes` gives it in `servers` (`after`). */
    program: string;
  };
  /** Searches this machine for programs that run models, at their usual ports, and the environment for keys. Nothing that it finds is used before `llm_add_provider`. */
  llm_detect: Record<never, never>;
  /** Lists the providers that were added. */
  llm_list_providers: Record<never, never>;
  /** Lists the types of providers that can be added. */
  llm_get_supported_providers: Record<never, never>;
  /** Adds a provider: from now on requests may go to it. */
  llm_add_provider: {
    /** The type, as `type` in `Provider`. */
    provider_type: string;
    /** A name for people, from which the id is made; absent: the type. */
    name?: string;
    /** Its address: `https://…`, or `http://…` on this machine. Needed if the type has no usual address. */
    base_url?: string;
    /** The format of its requests and answers, as in `Provider`; absent: the type's own. */
    dialect?: string;
    /** Its key. It is never shown again. */
    api_key?: string;
    /** True: it may be at a private address of another machine, and be used without TLS there. */
    allow_private?: boolean;
    /** True: the program that answers on this machine may be another person's. Otherwise nothing is sent to a program unless it is the person's own, root's or a system account's. */
    allow_other_user?: boolean;
  };
  /** Changes a provider. A new address drops its key, which belongs to the old address. */
  llm_configure_provider: {
    /** The provider's id. */
    id: string;
    /** A new name for people. */
    name?: string;
    /** A new address. */
    base_url?: string;
    /** True: the provider may be used. False: it may not. */
    enabled?: boolean;
    /** True: requests that name no provider go to it. */
    is_default?: boolean;
    /** True: requests that name only its type go to it. */
    is_type_default?: boolean;
  };
  /** Forgets a provider and its key. The tokens that it has used stay counted. */
  llm_remove_provider: {
    /** The provider's id. */
    id: string;
  };
  /** Stores a provider's key, or replaces it. */
  llm_set_api_key: {
    /** The provider's id. */
    provider_id: string;
    /** The key. It is never shown again. */
    api_key: string;
  };
  /** Deletes a provider's key. */
  llm_remove_api_key: {
    /** The provider's id. */
    provider_id: string;
  };
  /** Asks a provider whether it takes its key. The request is for the list of models, which costs nothing. */
  llm_check_provider: {
    /** The provider's id. */
    provider_id: string;
  };
  /** Lists the models of all enabled providers. */
  llm_list_models: Record<never, never>;
  /** Lists the models of one provider. */
  llm_list_models_for: {
    /** The provider's id. */
    provider_id: string;
  };
  /** Sets the provider and model for requests that name none. */
  llm_set_active: {
    /** The provider's id. */
    provider_id: string;
    /** The model's name at the provider; absent: the model it had, or its first one. */
    model_id?: string;
  };
  /** Sets the model of the default provider, for requests that name none. */
  llm_set_model: {
    /** The model, as `provider:model` or by its name at the default provider. */
    model_id: string;
  };
  /** States the window of a model, for a provider that does not tell it, or to have another one. Anything that Harbor has learned of the model's window is forgotten. */
  llm_set_model_options: {
    /** The model, as `provider:model`. */
    model: string;
    /** The window in tokens, at least 1024; absent: as the provider says. */
    context_window?: number;
  };
  /** Lists the models that the person has given a name. */
  llm_list_configured_models: Record<never, never>;
  /** Gives a model a name, which stands for it wherever a model is named. A name that another model has goes over to this one. */
  llm_add_configured_model: {
    /** The model, as `provider:model`, or by its name if one provider lists it. */
    model_id: string;
    /** The name; absent: one that is made of the model's. */
    name?: string;
  };
  /** Takes a name away. The model stays. */
  llm_remove_configured_model: {
    /** The name. */
    name: string;
  };
  /** Has requests that name no model go to a named model. */
  llm_set_configured_model_default: {
    /** The name. */
    name: string;
  };
  /** Says which model is for a use, if requests of that use name none. A use is also a name of its model. */
  llm_set_default_for: {
    /** `chat`; `fast`: short answers that should come at once; `vision`: requests with pictures; `transcription`. */
    use: string;
    /** The model, as in `llm_add_configured_model`; absent: the use has none of its own any more. */
    model?: string;
  };
  /** Says which provider and model serve requests that name none. */
  llm_get_active: Record<never, never>;
  /** Gives all settings about models. Of keys it names only their providers. */
  llm_get_config: Record<never, never>;
  /** Puts a conversation to a model. Nothing of this request affects later ones. In the `rpc` envelope, `llm.chat_stream` is the same with `stream`. */
  llm_chat: {
    /** The conversation, the oldest message first. */
    messages: ChatMessage[];
    /** The model, as `provider:model`, or by its name at `provider`; absent: the default model. */
    model?: string;
    /** The provider, by its id or type; absent: the default provider. */
    provider?: string;
    /** A text that the model gets before all messages. */
    system_prompt?: string;
    /** The tools that the model may call. */
    tools?: ChatTool[];
    /** `auto`, `none`, `required`, or the name of the tool that the model must call. */
    tool_choice?: string;
    /** The most tokens of the answer; absent: the provider's default. */
    max_tokens?: number;
    /** The temperature, a number from 0 to 2; absent: the provider's default. */
    temperature?: Json;
    /** The share of likely tokens to choose from, a number from 0 to 1; absent: the provider's default. */
    top_p?: Json;
    /** Texts at which the answer stops. */
    stop?: string[];
    /** A JSON Schema that the answer must follow. */
    response_schema?: { [name: string]: Json };
    /** How much the model thinks: `none`, `minimal`, `low`, `medium` or `high`; absent: the provider's default. */
    reasoning_effort?: string;
    /** True: `llm_event` pushes come. */
    stream?: boolean;
    /** True: this client gives credit (`llm_more`). The first 64 pushes need none. */
    credit?: boolean;
  };
  /** Puts a conversation to a model for an origin, or for an AI client itself. Needs the scope `model:prompt`. `tools` are the caller's own: it makes the calls itself. */
  host_llm_chat: {
    /** As in `host_check_permission`. */
    origin?: string;
    /** As in `host_grant_permission`. */
    profile?: string;
    /** The tab that asks. */
    tab_id?: number;
    /** As in `llm_chat`. */
    messages: ChatMessage[];
    /** As in `llm_chat`. */
    model?: string;
    /** As in `llm_chat`. */
    provider?: string;
    /** As in `llm_chat`. */
    system_prompt?: string;
    /** As in `llm_chat`. */
    tools?: ChatTool[];
    /** As in `llm_chat`. */
    tool_choice?: string;
    /** As in `llm_chat`. */
    max_tokens?: number;
    /** As in `llm_chat`. */
    temperature?: Json;
    /** As in `llm_chat`. */
    top_p?: Json;
    /** As in `llm_chat`. */
    stop?: string[];
    /** As in `llm_chat`. */
    response_schema?: { [name: string]: Json };
    /** As in `llm_chat`. */
    reasoning_effort?: string;
    /** As in `llm_chat`. */
    stream?: boolean;
    /** As in `llm_chat`. */
    credit?: boolean;
  };
  /** Gives credit for further pushes of a streaming request of this client. */
  llm_more: {
    /** The id of the request. */
    target: string;
    /** How many more pushes may come. */
    n: number;
  };
  /** Lists the models that an origin may use. Needs the scope `model:list`. */
  host_llm_list_models: {
    /** As in `host_check_permission`. */
    origin?: string;
    /** As in `host_grant_permission`. */
    profile?: string;
    /** The tab that asks. */
    tab_id?: number;
  };
  /** Says how many tokens a model would read. A provider that can count without answering (Anthropic's and Gemini's format, OpenAI, llama-server) gets the conversation and counts them. For others they are estimated from its length. */
  llm_count_tokens: {
    /** As in `llm_chat`. */
    messages: ChatMessage[];
    /** As in `llm_chat`. */
    model?: string;
    /** As in `llm_chat`. */
    provider?: string;
    /** As in `llm_chat`. */
    system_prompt?: string;
    /** As in `llm_chat`. */
    tools?: ChatTool[];
  };
  /** Has a recording of speech transcribed. It goes to the provider of the model, and is written down nowhere. */
  llm_transcribe: {
    /** The recording's bytes in Base64, at most 25 MB. */
    audio: string;
    /** Its type: `audio/wav`, `audio/mpeg`, `audio/mp4`, `audio/ogg`, `audio/flac` or `audio/webm`. */
    media_type: string;
    /** As in `llm_chat`; absent: the first model whose name says that it transcribes, of the default provider if it has one. */
    model?: string;
    /** As in `llm_chat`. */
    provider?: string;
    /** The language that is spoken, like `en`; absent: the model finds out. */
    language?: string;
    /** Words that help the model with names and terms, at most 8192 bytes. */
    prompt?: string;
  };
  /** Gives the tokens that requests to models have used. */
  llm_usage: {
    /** Only usage since the day of this time, in milliseconds since 1970; absent: all. */
    since?: number;
    /** `provider`, `model`, `principal` or `day`; absent: grouped by all four. */
    group_by?: string;
  };
  /** Sets a budget: how many tokens a principal may use per day. */
  llm_set_budget: {
    /** An origin, `client://NAME`, `server:NAME`, `owner`, or `*` for all principals together. */
    principal: string;
    /** Tokens per day in UTC; absent: the default, as if no budget had ever been set. */
    tokens_per_day?: number;
  };
  /** Lists the budgets, and how much of each was used today. */
  llm_list_budgets: Record<never, never>;
  /** Lists the engines that were started once, and the models that were fetched. */
  llm_setup_status: Record<never, never>;
  /** Starts an engine in a sandbox, waits until it has loaded its model, and adds it as a provider. One that runs already is given as it is. A later request to its provider starts it again, unless `llm_stop_local` has stopped it. */
  llm_start_local: {
    /** The absolute path of a GGUF file or a llamafile, the name of a fetched one, or the id of an engine. */
    model_id: string;
    /** The absolute path of the program that runs a GGUF file; absent: `llama-server` on the PATH. */
    engine?: string;
    /** The most tokens of a conversation; absent: the engine's own choice. */
    context?: number;
    /** Device nodes that the engine may use, such as `/dev/dri/renderD128`; absent: none. */
    devices?: string[];
    /** The most memory that it may take, in MiB, 64 to 1,048,576; absent: half as much again as its file and conversation take by Harbor's estimate, at least 2,048. */
    memory_mb?: number;
    /** True: an engine that cannot listen at a Unix socket gets a port of 127.0.0.1, and with it the machine's network. Absent: it is not started. */
    network?: boolean;
    /** How long it may take to load the model, in milliseconds, 1,000 to 580,000; absent: 300,000. */
    start_timeout_ms?: number;
    /** True: `progress` pushes say what happens until it is ready. */
    progress?: boolean;
  };
  /** Stops engines. Their providers stay, and the next `llm_start_local` starts them again. */
  llm_stop_local: {
    /** The engine's id; absent: all engines. */
    provider_id?: string;
  };
  /** Fetches the file of a model into `HARBOR_HOME/models`, or has Ollama fetch one. The answer comes when it is there; `cancel` ends it. What has come of a file stays, and the next request goes on behind it. */
  llm_download_model: {
    /** The URL of a GGUF file or a llamafile, or `ollama:NAME`: a model that the Ollama of this machine fetches. */
    model_id: string;
    /** The SHA-256 of the file, 64 hexadecimal digits; needed for a URL. */
    sha256?: string;
    /** The name of the file here, `NAME.gguf` or `NAME.llamafile`; absent: as in the URL. */
    name?: string;
    /** True: it may come without TLS. */
    allow_http?: boolean;
    /** True: it may come from a private address. */
    allow_private?: boolean;
    /** True: `progress` pushes say how many bytes have come, and of how many. */
    progress?: boolean;
  };
  /** Deletes a fetched file. No engine may be there for it. */
  llm_delete_model: {
    /** Its name. */
    model_id: string;
  };
  /** Begins a session: a conversation that the bridge holds, with a model that may use tools. */
  chat_create_session: {
    /** The servers whose tools the session may use. An empty list: none. Absent, or `*`: all servers. */
    enabled_servers?: string[];
    /** A name for people; absent: made from the first message. */
    name?: string;
    /** A text that the model gets before everything else. */
    system_prompt?: string;
    /** The model, as `provider:model`; absent: the default model. */
    model?: string;
    /** `ask` (default), `plan`, `auto` or `reads`, as in `ChatSession`. With `reads`, a call about which the person would be asked is refused. */
    mode?: string;
    /** True: the session is never written to disk, and ends with the bridge. */
    private?: boolean;
  };
  /** Sends a message of the person in a session. A second message during a turn is refused. The turn belongs to the bridge: it goes on when this client leaves. `chat_stop` ends it, and so does cancelling this request. */
  chat_send_message: {
    /** The session. */
    session_id: string;
    /** The message. */
    message: string;
    /** Images, and what the model must not take as instructions: parts `text`, `image` and `page`, at most 32. The private names of the session get `attached`, and of each page `browser:HOST`. The session keeps texts and pages as they were sent. */
    attachments?: ChatPart[];
    /** The model for this turn and those after it; absent: the session's model. */
    model?: string;
    /** True: `chat_event` pushes come until the reply. */
    stream?: boolean;
    /** `auto` (default), `required` (the first answer must call a tool) or `none`. */
    tool_choice?: string;
    /** The most calls of tools in this turn. */
    max_tool_calls?: number;
    /** The most tokens of each answer of the model. */
    max_tokens?: number;
    /** As in `mcp_call_tool`, for the calls of the turn: what their servers ask comes as `ask` pushes, as long as this request is open. */
    answers?: { [name: string]: Json };
  };
  /** Fetches a page, a text or a picture of the web for a message: in a process of its own that runs for this only, in the sandbox of installers. Of a page comes its readable text. Nothing of it is kept. `cancel` ends it. */
  chat_fetch_page: {
    /** Its address, `https`, at most 2048 bytes. */
    url: string;
    /** True: it may come without TLS. */
    allow_http?: boolean;
    /** True: it may come from a private address, such as this machine. */
    allow_private?: boolean;
  };
  /** Follows a session by `chat_event` pushes: the events of its last turn since `after_seq`, and all that follow. The first event of a turn, `message`, says which message of `chat_get_session` began it: from then on the reply to `chat_get_session` has that message with its attachments. What stands behind it there came in this turn, too. The bridge keeps the events of the last turn only, and none over its own end: a bridge that began anew counts from 0, and what was said stands in `chat_get_session`. */
  chat_watch: {
    /** The session. */
    session_id: string;
    /** The number of the last event that this client has seen; absent: all events of the last turn come. */
    after_seq?: number;
    /** The turn that `after_seq` belongs to. If another one is the session's last turn, all events of that one come: so a number from before the bridge began anew leaves nothing out. Absent: `after_seq` holds as it is. */
    turn_id?: string;
    /** False: the pushes end. */
    watch?: boolean;
  };
  /** Stops the turn that is under way. The part of the answer that has come is kept. */
  chat_stop: {
    /** The session. */
    session_id: string;
  };
  /** Begins a session with the settings of another one and all its messages before a message of the person's, which can then be said in another way. The other session stays as it is, a turn that is under way there goes on. What its model has read counts as read here, too; a branch of a private session is private. */
  chat_branch: {
    /** The session. */
    session_id: string;
    /** The number of the message in the `messages` of `chat_get_session`, from 0. */
    message_id: number;
  };
  /** Makes a session of a text that `chat_export` gave as JSON. It takes over the name and the messages. Settings and the text for the model are those of a new session: nobody knows who wrote the file. Everything in it counts as text that the person did not type, with the private name `attached`. */
  chat_import: {
    /** The text: a `ChatTranscript` as JSON, at most 32 MiB. */
    text: string;
  };
  /** Gives a session as text. */
  chat_export: {
    /** The session. */
    session_id: string;
    /** `markdown`, or `json`: a `ChatTranscript`, which `chat_import` takes. */
    format: string;
  };
  /** Gives a session with its messages. */
  chat_get_session: {
    /** The session. */
    session_id: string;
  };
  /** Lists sessions: the pinned ones first, then the one that was used last. With `query`, those in which all its words occur, the one that was used last first. Harbor keeps no index: it reads the sessions for each search. */
  chat_list_sessions: {
    /** The most sessions in the reply; absent: 50. */
    limit?: number;
    /** Words, at most 1000 bytes, in upper or lower case. Each has to occur in the session's name, in what was said, attached or answered by tools, or in the name of a tool that was called. Absent or blank: all sessions. */
    query?: string;
    /** How many sessions to leave out before the first one in the reply; absent: none. */
    offset?: number;
  };
  /** Changes a session. */
  chat_update_session: {
    /** The session. */
    session_id: string;
    /** The changes. */
    updates: SessionUpdates;
  };
  /** Deletes the messages of a session. */
  chat_clear_messages: {
    /** The session. */
    session_id: string;
  };
  /** Deletes a session. A turn that is under way is stopped. */
  chat_delete_session: {
    /** The session. */
    session_id: string;
  };
  /** Has the person's model do a task for an origin, or for an AI client, with the tools that were granted. The task is a run as in `host_create_run`, with its limit of calls. Needs the scope `model:tools`. */
  run_start: {
    /** As in `host_check_permission`. */
    origin?: string;
    /** As in `host_grant_permission`. */
    profile?: string;
    /** The tab that asks. */
    tab_id?: number;
    /** The task, as text for the model. */
    task: string;
    /** The tools that the run may use, as `server/tool`; absent: the tools that the origin may use. */
    tools?: string[];
    /** True: all tools that the origin may use, however many they are. */
    use_all_tools?: boolean;
    /** The provider, by its id or type; absent: the default provider. */
    provider?: string;
    /** The model; absent: the default model. */
    model?: string;
    /** The most calls of tools; absent: 5. The origin's limit holds in any case. */
    max_tool_calls?: number;
    /** True: the answer marks with numbers such as `[1]` which call a statement comes from. `citations` lists these calls in order. */
    require_citations?: boolean;
    /** The origin's session for the run, which then knows that session's messages and shares its limits. Absent: no session. */
    session_id?: string;
    /** True: `run_event` pushes come. */
    stream?: boolean;
    /** True: this client gives credit (`run_more`). The first 64 pushes need none. */
    credit?: boolean;
  };
  /** Gives credit for further pushes of a run. */
  run_more: {
    /** The id of the `run_start` request. */
    target: string;
    /** How many more pushes may come. */
    n: number;
  };
  /** Begins a session of an origin, or of an AI client. Its runs know what was said in it, and share its limits. It ends with its tab, after its time, or by `session_end`. Nothing of it is written to disk. Needs a scope for each capability: `model:prompt`, `model:tools`. */
  session_create: {
    /** As in `host_check_permission`. */
    origin?: string;
    /** As in `host_grant_permission`. */
    profile?: string;
    /** The tab that asks. The session ends with it. */
    tab_id?: number;
    /** A name for people, at most 1000 bytes. */
    name?: string;
    /** True: the session may ask a model. Without that it can have no runs. */
    llm?: boolean;
    /** The provider, by its id or type; absent: the default provider. */
    provider?: string;
    /** The model; absent: the default model. */
    model?: string;
    /** The tools that its runs may use, as `server/tool`; absent: none. */
    tools?: string[];
    /** The task in words for the model, below Harbor's own instructions. */
    system_prompt?: string;
    /** The temperature, a number from 0 to 2; absent: the provider's default. */
    temperature?: Json;
    /** The most calls of all its runs together; absent: no limit beyond that of each run. */
    max_tool_calls?: number;
    /** How long the session lasts, in minutes: 1440 at most; absent: 60. */
    ttl_minutes?: number;
  };
  /** Gives a session of the origin. */
  session_get: {
    /** As in `host_check_permission`. */
    origin?: string;
    /** As in `host_grant_permission`. */
    profile?: string;
    /** The tab that asks. */
    tab_id?: number;
    /** The session. */
    session_id: string;
  };
  /** Lists the origin's sessions in this tab, the oldest first. */
  session_list: {
    /** As in `host_check_permission`. */
    origin?: string;
    /** As in `host_grant_permission`. */
    profile?: string;
    /** The tab that asks. */
    tab_id?: number;
  };
  /** Ends a session of the origin, and the run that is under way in it. */
  session_end: {
    /** As in `host_check_permission`. */
    origin?: string;
    /** As in `host_grant_permission`. */
    profile?: string;
    /** The tab that asks. */
    tab_id?: number;
    /** The session. */
    session_id: string;
  };
  /** Lists the questions that wait for an answer or were missed in the last ten minutes, and the standing answers. */
  approvals_list: {
    /** Only this question, and its whole arguments; absent: everything. */
    approval_id?: string;
  };
  /** Answers a question about a call. The first answer counts, wherever it comes from. A yes to a missed question lets the same call through when it is made again. */
  approvals_answer: {
    /** The question. */
    approval_id: string;
    /** One of the question's `answers`. */
    answer: string;
    /** With `no`: the text that the model gets. */
    reason?: string;
  };
  /** Takes a standing answer back: it covers no call from now on. */
  approvals_revoke: {
    /** The answer's id, or what it is for: `server/tool`, an origin, or a session. Absent: all standing answers. */
    approval_id?: string;
  };
  /** Turns the guard of an AI client on or off, or asks for its state. The guard asks the person before private data leaves by the client's calls. It asks once for each private source read and each server that could tell somebody, while the client is connected. */
  approvals_guard: {
    /** The client: `client://NAME`. */
    origin: string;
    /** True: on; false: off; absent: unchanged. */
    guard?: boolean;
  };
  /** Begins or ends `approval` pushes to this connection. The questions that wait come first. A client that asks for them must show them to the person. Without such a connection, questions of pages and AI clients are missed at once. */
  approvals_watch: {
    /** False ends the pushes. */
    watch?: boolean;
  };
  /** Offers a source of tools for as long as this connection lasts. The bridge pushes `source_call`, and `source_result` answers it. For a browser, the bridge itself defines the tools. For a page of a tab that is offered already, its tools become these. Only from Harbor's own extension. */
  source_register: {
    /** The kind: `browser` or `page`. */
    kind: string;
    /** Its name for people, such as `Firefox`. */
    name: string;
    /** Its tools, an array as in MCP, of at most 64; absent for a browser. */
    tools?: Json;
    /** For a browser: what it can do that not every browser can: `downloads`, `evaluate`. */
    abilities?: string[];
    /** For a page: its origin. */
    origin?: string;
    /** For a page: its tab. */
    tab_id?: number;
  };
  /** Withdraws a source. Its open calls end at once. */
  source_unregister: {
    /** The source. */
    source_id: string;
  };
  /** Answers a `source_call`, with a result or an error. */
  source_result: {
    /** The call. */
    call_id: string;
    /** MCP's CallToolResult. */
    result?: { [name: string]: Json };
    /** Why there is no result. */
    error?: SourceError;
  };
  /** Reports an event in a browser, which the bridge decides about or notes for the session. */
  source_event: {
    /** The source. */
    source_id: string;
    /** `tab_opened`: a tab was opened for a session (`session_id`) or by a session's tab (`opener_tab_id`), or the person moved it into the session's group. `tab_closed`. `navigated`: a tab is at `url`, or is about to be. `frame`: a frame of a tab at `url` is to be read. `released`: the person took a tab back. `stop`: the person pressed Stop for a session. `dialog`, `download`, `tools_changed`. */
    event: string;
    /** The session that the event is about. */
    session_id?: string;
    /** The tab that the event is about. */
    tab_id?: number;
    /** For `tab_opened`: the tab that opened it. */
    opener_tab_id?: number;
    /** The address that the event is about. */
    url?: string;
    /** The tab's title, or another text about the event. */
    title?: string;
    /** For `download`: the download as it is now. */
    download?: BrowserDownload;
  };
  /** Reads a piece of a file that a `source_call` of this connection carries. Only while that call is open. */
  source_file: {
    /** The call. */
    call_id: string;
    /** The place of the file in the call's `files`, from 0. */
    file: number;
    /** The byte at which the piece begins. */
    offset: number;
  };
  /** Lists the tool sources that are no servers. */
  list_sources: Record<never, never>;
}

/** What the bridge answers, by the type of the request. */
export interface Replies {
  /** The bridge has accepted the first frame. */
  attach: {
    /** The client protocol that the bridge speaks. */
    protocol: number;
    /** The bridge's build. */
    build: string;
    /** The bridge's process id. */
    pid: number;
  };
  /** The bridge's description of itself. */
  hello: {
    /** The client protocol that the bridge speaks. */
    protocol: number;
    /** The bridge's version. */
    bridge_version: string;
    /** The bridge's build. */
    build: string;
    /** The bridge's process id. */
    pid: number;
    /** True if larger answers will come as `chunk` pushes. */
    chunks: boolean;
    /** The largest frame that the bridge will send to this client, in bytes. */
    max_frame: number;
    /** For an AI client that named a session in a browser: true if it goes on with that session. */
    joined?: boolean;
  };
  /** The bridge is alive. */
  ping: {
    /** The text from the request. */
    echo?: string;
    /** The bridge's time, in milliseconds since 1970. */
    timestamp: number;
  };
  /** The request is cancelled, if it was still open. */
  cancel: {
    /** True if the request was ended. False: it had already ended, or never existed. */
    cancelled: boolean;
  };
  /** The bridge is shutting down. */
  shutdown: {
    /** Always true. */
    stopping: boolean;
  };
  /** The definition is stored. */
  add_server: {
    /** The server as `list_servers` shows it. */
    server: Server;
    /** True if the new definition replaced another one with this id. */
    replaced: boolean;
    /** The directory with files of an earlier server with this id, or of another program that had it. With `keep_data` it is the new server's home, otherwise it is set aside. Absent when there are none. */
    old_data?: string;
    /** The sandbox settings of the replaced definition, if the new ones differ; otherwise absent. */
    old_sandbox?: SandboxSettings;
    /** The change of the server's program, if it is another one than before. Its grants are suspended until the person accepts that. */
    program_change?: ServerChange;
  };
  /** The definition is stored. */
  add_remote_server: {
    /** The server as `list_servers` shows it. */
    server: Server;
    /** True if the new definition replaced another one with this id. */
    replaced: boolean;
    /** The change of the server's address, if it is another one than before. Its grants are suspended until the person accepts that. */
    program_change?: ServerChange;
  };
  /** The definition of the server. */
  get_definition: {
    /** The definition. */
    definition: Definition;
  };
  /** The differences that were found. */
  compare_server: {
    /** Names of the variables and headers that differ or that only one side has; also `url` and `arguments`. Secrets that only the server has do not count. */
    differs: Array<string>;
  };
  /** The sandbox of the server. */
  get_sandbox: {
    /** What the server may do on this machine. */
    sandbox: Sandbox;
  };
  /** The settings are stored, if they changed. */
  set_sandbox: {
    /** What the server may do from now on. */
    sandbox: Sandbox;
    /** True if the server was running and its settings have changed: it is being restarted. */
    restarting: boolean;
  };
  /** The settings are stored, if they changed. */
  set_supervision: {
    /** The server as `list_servers` shows it. */
    server: Server;
    /** Names of changed settings that hold only from the next start on: the server still runs with the old values. Empty when all settings hold now. */
    next_start: Array<string>;
  };
  /** The server is removed. */
  remove_server: {
    /** False if there was no definition and no data to delete. */
    removed: boolean;
    /** The image that was pulled for the server. The engine keeps it. Absent when there was none. */
    image?: Image;
    /** The data directory, if it was kept or could not be deleted; otherwise absent. */
    data?: string;
    /** How many of its secrets were deleted. */
    secrets: number;
    /** Why its secrets may still be on disk; absent when they are not. */
    secrets_left?: string;
    /** How many of its tools had been pinned. */
    pins: number;
    /** The grants that its tools were taken out of. */
    grants: Array<Grant>;
  };
  /** All definitions, sorted by id. */
  list_servers: {
    /** The servers. */
    servers: Array<Server>;
  };
  /** The state of the server. */
  get_server_status: {
    /** The server as `list_servers` shows it. */
    server: Server;
    /** Its package, as `list_installed` shows it, but without `server`; absent when it has none. */
    package?: Installed;
    /** Secrets that it needs and that are not set. */
    missing_secrets: Array<string>;
    /** True if Harbor knows nothing that would keep it from starting. */
    can_start: boolean;
    /** What keeps it from starting, and what to do; absent when nothing does. */
    why_not?: string;
  };
  /** The server is running. */
  connect_server: {
    /** The server as `list_servers` shows it. */
    server: Server;
    /** What the server said about itself. */
    connection_info: ConnectionInfo;
  };
  /** The server has been stopped. */
  disconnect_server: {
    /** The server as `list_servers` shows it. It is stopped, unless somebody has started it again since. */
    server: Server;
  };
  /** The server is running. The reply lists what it offers. */
  mcp_connect: {
    /** Always true; a failure is an error. */
    connected: boolean;
    /** What the server said about itself. */
    connection_info: ConnectionInfo;
    /** Its tools, as it wrote them. */
    tools: Json;
    /** Its resources, as it wrote them. */
    resources: Json;
    /** Its resource templates, as it wrote them. */
    resource_templates: Json;
    /** Its prompts, as it wrote them. */
    prompts: Json;
    /** Process id of the server. */
    pid: number;
  };
  /** The server is stopped. */
  mcp_disconnect: {
    /** True if the server was running or starting. */
    disconnected: boolean;
  };
  /** The servers that are running. */
  mcp_list_connections: {
    /** One entry per running server. */
    connections: Array<Connection>;
  };
  /** The tools. */
  mcp_list_tools: {
    /** The tools as the server wrote them. `"type": "object"` is added to an `inputSchema` that lacks it. A tool whose meaning this would change is left out (`list_problems` of the server). */
    tools: Json;
    /** True if these are the tools that the server listed last: it is not running, or does not answer. Otherwise absent. */
    last_listed?: boolean;
    /** True if the server runs and has not answered in time; otherwise absent. */
    no_answer?: boolean;
    /** The effect of each tool by its name, as far as Harbor knows it: `reads`, `writes` or `destroys`. */
    effects?: Json;
  };
  /** The resources. */
  mcp_list_resources: {
    /** As the server wrote them. */
    resources: Json;
  };
  /** The resource templates. */
  mcp_list_resource_templates: {
    /** As the server wrote them. */
    resource_templates: Json;
  };
  /** The prompts. */
  mcp_list_prompts: {
    /** As the server wrote them. */
    prompts: Json;
  };
  /** The answer of the tool, which may be its own failure (`isError`). */
  mcp_call_tool: {
    /** MCP's CallToolResult, as the server wrote it. */
    result: Json;
    /** Harbor's remarks: what the sandbox refused, and which paths in the arguments the server cannot see. Absent when there are none. */
    beside?: Array<string>;
  };
  /** The content of the resource. */
  mcp_read_resource: {
    /** MCP's ReadResourceResult, as the server wrote it. */
    resource: Json;
  };
  /** The prompt. */
  mcp_get_prompt: {
    /** MCP's GetPromptResult, as the server wrote it. */
    prompt: Json;
  };
  /** The answer has been passed on. */
  mcp_answer: {
    /** False if nobody waits for it any more. */
    answered: boolean;
  };
  /** The completions. */
  mcp_complete: {
    /** MCP's CompleteResult, as the server wrote it. */
    result: Json;
  };
  /** The subscription is made. */
  mcp_subscribe_resource: {
    /** Always true; a failure is an error. */
    subscribed: boolean;
  };
  /** The subscription has ended. */
  mcp_unsubscribe_resource: {
    /** Always true; a failure is an error. */
    unsubscribed: boolean;
  };
  /** The level is set. */
  mcp_set_log_level: {
    /** The level in force. */
    level: string;
  };
  /** The server answered. */
  mcp_ping: {
    /** How long the answer took, in microseconds. */
    elapsed_us: number;
  };
  /** The answer of MCP's tasks extension. */
  mcp_task: {
    /** As the server wrote it. */
    result: Json;
  };
  /** The newest log lines, oldest first. */
  mcp_get_logs: {
    /** The lines. */
    logs: Array<LogLine>;
    /** The process id of the server; absent when it does not run. */
    pid?: number;
  };
  /** The status of everything. */
  status: {
    /** The status now. */
    status: Status;
  };
  /** The subscription, and the status from which its pushes begin. */
  subscribe_status: {
    /** True if pushes come from now on. */
    subscribed: boolean;
    /** The status now. */
    status: Status;
  };
  /** The health of Harbor. */
  health: {
    /** The health, and the reasons for it. */
    health: Health;
  };
  /** The metrics. */
  get_metrics: {
    /** OpenMetrics text, version 1.0.0. */
    text: string;
  };
  /** The configuration in force. */
  get_config: {
    /** A `config.toml` with every key and the value in force. */
    config: string;
    /** Why the present file is not in force; absent when it is. */
    refused?: string;
    /** How often the values in force have changed since the bridge began. */
    changes: number;
    /** The environment variables that switch something, as far as they are set. */
    environment: { [name: string]: string };
  };
  /** The servers now. Pushes report the changes from here on. */
  watch_servers: {
    /** True if pushes come from now on. */
    watching: boolean;
    /** The servers. */
    servers: Array<Server>;
  };
  /** The grant is recorded. */
  host_grant_permission: {
    /** Always true; a failure is an error. */
    granted: boolean;
    /** True if a DENY exists for this origin, profile and scope. It forbids all of it until it is revoked. */
    denied: boolean;
    /** The grant. */
    grant: Grant;
    /** How many running calls were ended, since a DENY forbids them or the grant they relied on has become narrower. */
    ended: number;
    /** True if the disk did not take this DENY. It holds until the bridge ends, and is stored as soon as the disk takes it. */
    unstored: boolean;
  };
  /** The grants are revoked. */
  host_revoke_permission: {
    /** True if there were any. */
    revoked: boolean;
    /** How many running calls were ended. Their servers were told, and their results are dropped. */
    ended: number;
    /** True if the disk did not take the revocation. It holds until the bridge ends, and is stored as soon as the disk takes it. */
    unstored: boolean;
  };
  /** The answer whether the origin may. */
  host_check_permission: {
    /** True if the origin may. */
    granted: boolean;
    /** The type of the grant that allows it; absent when none does. */
    grant_type?: string;
    /** The code that a call would get; absent when the origin may. */
    code?: string;
    /** The reason as a sentence; absent when the origin may. */
    message?: string;
  };
  /** The page may. */
  host_begin_page_act: Record<never, never>;
  /** The grants of the origin. */
  host_get_permissions: {
    /** The origin in its canonical form. */
    origin: string;
    /** Its grants. */
    grants: Array<Grant>;
    /** Denials and revocations among them that the disk has not taken yet. */
    unstored: Array<Unstored>;
    /** True for an AI client that was never here. When it comes, it gets all tools, or those of its `--only`. Otherwise absent. */
    is_new?: boolean;
  };
  /** The grants of the tab have ended. */
  host_expire_tab_grants: {
    /** How many there were. */
    expired: number;
  };
  /** All grants. */
  host_list_all_permissions: {
    /** The grants, sorted by origin. */
    grants: Array<Grant>;
    /** Denials and revocations that the disk has not taken yet. */
    unstored: Array<Unstored>;
  };
  /** The tools. */
  host_list_tools: {
    /** An array of `ToolDescriptor`, sorted by server. */
    tools: Json;
  };
  /** The servers. */
  host_list_servers: {
    /** The servers, sorted by id. */
    servers: Array<UsableServer>;
  };
  /** The resources, resource templates or prompts of the servers. */
  host_list_offers: {
    /** One entry per server. Servers that offer none are left out. */
    servers: Array<Offers>;
  };
  /** The answer of the tool, which may be its own failure (`isError`). */
  host_call_tool: {
    /** MCP's CallToolResult, as the server wrote it. */
    result: Json;
    /** Harbor's remarks: what the sandbox refused, and which paths in the arguments the server cannot see. A page never gets any. */
    beside?: Array<string>;
    /** The server and tool that the result comes from. */
    provenance: Provenance;
  };
  /** The script has ended. */
  host_run_script: {
    /** MCP's CallToolResult: what the script returned, behind what it wrote to its console; with `isError` if it failed. */
    result: Json;
    /** How many calls of tools it made. */
    calls: number;
  };
  /** The run has begun. */
  host_create_run: {
    /** Its id. */
    run_id: string;
    /** How many calls the run may make. */
    max_calls: number;
    /** How many are left. */
    remaining: number;
  };
  /** The run has ended. */
  host_end_run: {
    /** Its id. */
    run_id: string;
    /** How many calls the run could make. */
    max_calls: number;
    /** How many calls were left. */
    remaining: number;
  };
  /** The state of the run. */
  host_get_run: {
    /** Its id. */
    run_id: string;
    /** How many calls it may make. */
    max_calls: number;
    /** How many calls are left. A call in flight counts as made; it is given back if it was not sent. */
    remaining: number;
    /** When the run began, in milliseconds since 1970. */
    created_at: number;
  };
  /** The counts. */
  host_get_stats: {
    /** The counts. */
    stats: Stats;
  };
  /** The watch has begun or ended. */
  host_watch: {
    /** True if pushes come from now on. */
    watching: boolean;
  };
  /** The `profile` of the grants of pages in this browser. */
  host_name_profile: {
    /** The name, which stays. */
    profile: string;
  };
  /** The person's answer is in the audit log. */
  host_note_consent: {
    /** Always true; a failure is an error. */
    noted: boolean;
  };
  /** Lines of the audit log. */
  host_get_audit: {
    /** An array of objects, one per line of the log, oldest first. */
    records: Json;
    /** True if the log cannot be written at present. */
    failing: boolean;
    /** How many lines could not be written since the bridge began. */
    unaudited: number;
  };
  /** The tools that have changed. */
  host_list_tool_changes: {
    /** The tools, sorted by server and name. */
    changes: Array<ToolChange>;
    /** Servers that now run another program than the one that the person allowed. */
    servers: Array<ServerChange>;
  };
  /** The tool is accepted as it is now. */
  host_accept_tool_change: {
    /** Always true; a failure is an error. */
    accepted: boolean;
  };
  /** The server's program is accepted as it is now. */
  host_accept_server_change: {
    /** Always true; a failure is an error. */
    accepted: boolean;
  };
  /** Messages of this level come as pushes from now on. */
  mcp_follow_messages: {
    /** The level in force. */
    level: string;
  };
  /** The AI client may begin. Its grants say what it may do. */
  mcp_begin: {
    /** True if this request gave it its first grants. */
    granted: boolean;
    /** The value of `mcp.firstUse`: `all`, `ask` or `none`. */
    first_use: string;
  };
  /** A page of the catalog. */
  catalog_get: {
    /** The entries, those of the highest rank first. */
    entries: Array<CatalogEntry>;
    /** The cursor of the next page; absent on the last page. */
    next_cursor?: string;
    /** How many entries there are on all pages. */
    total: number;
    /** `YYYY-MM-DD`: the day of the entries that are part of Harbor. Present only while no source was reached yet and they are all there is. */
    snapshot?: string;
    /** When a source was last fetched, in milliseconds since 1970; absent when none was. */
    last_refresh?: number;
  };
  /** A page of search results. */
  catalog_search: {
    /** The entries, the best match first. */
    entries: Array<CatalogEntry>;
    /** As in `catalog_get`. */
    next_cursor?: string;
    /** How many entries match; absent if more than 500 do. */
    total?: number;
    /** As in `catalog_get`. */
    snapshot?: string;
    /** As in `catalog_get`. */
    last_refresh?: number;
  };
  /** An entry of the catalog. */
  catalog_entry: {
    /** Everything that Harbor knows of the entry. */
    details: CatalogDetails;
  };
  /** The refresh has ended. `sources` says which sources failed; their entries are unchanged. */
  catalog_refresh: {
    /** The changes in the catalog. */
    changes: CatalogChanges;
    /** The result of each source. */
    sources: Array<CatalogSource>;
    /** How many entries there are now. */
    entries: number;
    /** As in `catalog_get`. */
    snapshot?: string;
  };
  /** The look-up has ended. */
  catalog_enrich: {
    /** How many entries were looked up. */
    enriched: number;
    /** How many of them could not be looked up. */
    failed: number;
  };
  /** The status of the catalog. */
  catalog_status: {
    /** The catalog, as in `status`. */
    catalog: CatalogStatus;
    /** The sources in the catalog's file, sorted by name. They may differ from the configured ones. */
    sources: Array<CatalogSource>;
  };
  /** The server is installed; for a plan, the reply says what would be. */
  install_server: {
    /** The package and its server. */
    installed: Installed;
  };
  /** The description of the server. */
  resolve_server: {
    /** The server. */
    server: Resolved;
  };
  /** The servers that are part of Harbor. */
  get_curated_list: {
    /** The servers. */
    servers: Array<Resolved>;
  };
  /** The differences between the versions. */
  upgrade_server: {
    /** The versions and their tools. */
    upgrade: Upgrade;
  };
  /** The earlier version is in use. */
  undo_upgrade: {
    /** The package and its server. */
    installed: Installed;
  };
  /** The server is removed, as by `remove_server`. */
  uninstall_server: {
    /** As in `remove_server`. */
    removed: boolean;
    /** As in `remove_server`. */
    data?: string;
  };
  /** The arguments are changed. */
  update_server_args: {
    /** The server as `list_servers` shows it. */
    server: Server;
  };
  /** The servers with a package, by id. */
  list_installed: {
    /** The servers' packages. */
    servers: Array<Installed>;
  };
  /** The programs that servers and installers need. */
  check_runtimes: {
    /** The programs and their places. */
    runtimes: Runtimes;
  };
  /** The secret is on disk. */
  set_credential: {
    /** The secret, without its value. */
    credential: Credential;
    /** True if the server is up. It gets the new secret when it is restarted. */
    running: boolean;
    /** True if the server had failed because the secret was missing. It starts now. */
    starts: boolean;
  };
  /** The secrets are on disk. */
  set_server_secrets: {
    /** The state of the server's secrets now. */
    status: CredentialStatus;
    /** As in `set_credential`. */
    running: boolean;
    /** As in `set_credential`. */
    starts: boolean;
  };
  /** The state of the server's secrets. */
  get_credential_status: {
    /** The names of the secrets that are set, missing and expired. */
    status: CredentialStatus;
  };
  /** The problems with the server's secrets. */
  validate_credentials: {
    /** True if the server can have all its secrets. */
    valid: boolean;
    /** The problems that keep it from its secrets, a sentence each. */
    errors: Array<string>;
    /** Other things to know, a sentence each. */
    warnings: Array<string>;
  };
  /** The secret is deleted. */
  delete_credential: {
    /** False if there was no such secret. */
    deleted: boolean;
    /** True if the server is up. It keeps the secret until it is stopped. */
    running: boolean;
  };
  /** The secrets. */
  list_credentials: {
    /** The secrets, sorted by server and name. */
    credentials: Array<Credential>;
  };
  /** The authorization has begun: show the person the URL. */
  oauth_start: {
    /** The URL that the person opens in a browser: `https://…`, or `http://…` on this machine. */
    authorization_url: string;
    /** The URL to which the browser comes back. */
    redirect_uri: string;
    /** When the authorization ends without an answer, in milliseconds since 1970. */
    expires_at: number;
  };
  /** The person has agreed. */
  oauth_finish: {
    /** What the person lets Harbor do. */
    authorization: Authorization;
  };
  /** The authorization has ended. */
  oauth_cancel: {
    /** False if no authorization was under way. */
    cancelled: boolean;
  };
  /** The authorization of the server. */
  oauth_status: {
    /** The authorization; absent when there is none. */
    authorization?: Authorization;
  };
  /** The tokens are deleted. */
  oauth_revoke: {
    /** False if there were no tokens. */
    revoked: boolean;
    /** True if the authorization server was told. */
    told: boolean;
    /** Why the authorization server was not told; absent when it was. */
    why?: string;
  };
  /** The state of the secret store. */
  get_secret_store: {
    /** Where and how secrets are kept. */
    secret_store: SecretStore;
  };
  /** The secrets can be read. */
  unlock_secrets: {
    /** Where and how secrets are kept now. */
    secret_store: SecretStore;
  };
  /** The secrets can no longer be read. */
  lock_secrets: {
    /** Where and how secrets are kept now. */
    secret_store: SecretStore;
  };
  /** The secrets are encrypted on disk. */
  encrypt_secrets: {
    /** Where and how secrets are kept now. */
    secret_store: SecretStore;
  };
  /** The secrets are no longer encrypted on disk. */
  decrypt_secrets: {
    /** Where and how secrets are kept now. */
    secret_store: SecretStore;
  };
  /** The secrets are where `config.toml` says. */
  move_secrets: {
    /** Where and how secrets are kept now. */
    secret_store: SecretStore;
  };
  /** The providers and keys that were found. */
  llm_detect: {
    /** The programs on this machine, and the providers that were added. */
    providers: Array<Provider>;
    /** True if at least one of them can be used. */
    hasAvailable: boolean;
    /** Keys in the environment, for types of which no provider has a key. */
    environment: Array<EnvironmentKey>;
  };
  /** The providers. */
  llm_list_providers: {
    /** The providers, sorted by id. */
    providers: Array<Provider>;
    /** The id of the default provider; absent when there is none. */
    active?: string;
  };
  /** The types of providers that can be added. */
  llm_get_supported_providers: {
    /** The types that run on this machine. */
    local: Array<ProviderType>;
    /** The types that are services elsewhere. */
    remote: Array<ProviderType>;
    /** The ids of the providers that have a key. */
    configuredApiKeys: Array<string>;
  };
  /** The provider is added. */
  llm_add_provider: {
    /** Its id. */
    id: string;
    /** The provider as it is now. */
    provider: Provider;
  };
  /** The provider is changed. */
  llm_configure_provider: {
    /** The provider after the change. */
    provider: Provider;
    /** True if its key was dropped, since its address changed. */
    key_dropped: boolean;
  };
  /** The provider is forgotten. */
  llm_remove_provider: {
    /** False if there was no such provider. */
    removed: boolean;
  };
  /** The key is stored. */
  llm_set_api_key: {
    /** Always true; a failure is an error. */
    success: boolean;
    /** The provider's id. */
    provider: string;
    /** True if the provider can be used, as far as Harbor knows. */
    available: boolean;
  };
  /** The key is deleted. */
  llm_remove_api_key: {
    /** False if there was no key. */
    success: boolean;
    /** The provider's id. */
    provider: string;
  };
  /** The provider's answer to the check. */
  llm_check_provider: {
    /** True if the provider answers and takes the key. */
    available: boolean;
    /** How long the check took, in milliseconds. */
    latency_ms: number;
    /** Why the provider cannot be used, a word as in `ERR_MODEL_FAILED`; absent when it can. */
    cause?: string;
    /** The reason in the provider's own words. */
    message?: string;
  };
  /** The models. */
  llm_list_models: {
    /** The models, provider by provider, in each provider's order. */
    models: Array<Model>;
    /** The id of the default provider. */
    provider?: string;
    /** The ids of providers that did not answer. */
    failed: Array<string>;
  };
  /** The models. */
  llm_list_models_for: {
    /** The models, in the provider's order. */
    models: Array<Model>;
    /** The provider's id. */
    provider: string;
  };
  /** The default model holds from the next request on. */
  llm_set_active: {
    /** Always true; a failure is an error. */
    success: boolean;
    /** The provider's id. */
    active: string;
    /** The model's name at the provider; absent: the provider's first model. */
    model?: string;
  };
  /** The default model holds from the next request on. */
  llm_set_model: {
    /** Always true; a failure is an error. */
    success: boolean;
    /** The provider's id. */
    active: string;
    /** The model's name at the provider. */
    model: string;
  };
  /** The window holds from the next request on. */
  llm_set_model_options: {
    /** The model. */
    model: Model;
  };
  /** The named models. */
  llm_list_configured_models: {
    /** The models, sorted by name. */
    models: Array<ConfiguredModel>;
  };
  /** The model has the name. */
  llm_add_configured_model: {
    /** Always true; a failure is an error. */
    ok: boolean;
    /** The name. */
    name: string;
    /** The model, as `provider:model`. */
    model_id: string;
  };
  /** The name is free. */
  llm_remove_configured_model: {
    /** False if no model had it. */
    ok: boolean;
  };
  /** The default model holds from the next request on. */
  llm_set_configured_model_default: {
    /** Always true; a failure is an error. */
    ok: boolean;
    /** The model, as `provider:model`. */
    model_id: string;
  };
  /** The model for the use holds from the next request on. */
  llm_set_default_for: {
    /** The model, as `provider:model`; absent: the use has none of its own. */
    model?: string;
  };
  /** The provider and model for requests that name none. */
  llm_get_active: {
    /** The provider's id; absent when there is no provider. */
    active?: string;
    /** The model's name at the provider; absent: the provider's first model. */
    model?: string;
    /** The provider's state: `ready`, `no_provider`, `no_key`, `disabled` or `unavailable`. */
    status: string;
  };
  /** All settings about models. */
  llm_get_config: {
    /** The added providers, sorted by id. */
    providers: Array<Provider>;
    /** The ids of the providers that can be used, as far as Harbor knows. */
    available: Array<string>;
    /** The id of the default provider. */
    activeProvider?: string;
    /** The name of the default model at that provider. */
    activeModel?: string;
    /** The ids of the providers that have a key. */
    configuredApiKeys: Array<string>;
    /** The models for uses, as far as the person has said. */
    uses: Array<ModelForUse>;
  };
  /** The answer is whole. */
  llm_chat: {
    /** The model's answer. */
    response: ChatResponse;
    /** The provider's id. */
    provider: string;
    /** The model's name at the provider. */
    model: string;
  };
  /** The answer is whole. */
  host_llm_chat: {
    /** As in `llm_chat`. */
    response: ChatResponse;
    /** As in `llm_chat`. */
    provider: string;
    /** As in `llm_chat`. */
    model: string;
  };
  /** The credit is added. */
  llm_more: {
    /** False if the request has ended or does not stream. */
    accepted: boolean;
  };
  /** The models. */
  host_llm_list_models: {
    /** The models, provider by provider, in each provider's order. */
    models: Array<UsableModel>;
  };
  /** The number of tokens. */
  llm_count_tokens: {
    /** How many tokens the model would read. */
    input_tokens: number;
    /** `exact`: the provider counted them; otherwise `estimated`. */
    exactness: string;
  };
  /** The text that was spoken. */
  llm_transcribe: {
    /** The text; empty if nothing was said. */
    text: string;
    /** The provider's id. */
    provider: string;
    /** The model's name at the provider. */
    model: string;
    /** The tokens that it took. */
    usage: ChatUsage;
  };
  /** The tokens that requests have used. */
  llm_usage: {
    /** The rows, the newest day first. */
    usage: Array<ModelUsage>;
    /** The day and the source of the table of prices, as `2026-11-29 genai-prices 0.2.3`. */
    prices: string;
  };
  /** The budget holds from the next request on. */
  llm_set_budget: {
    /** The budget. */
    budget: Budget;
  };
  /** The budgets. */
  llm_list_budgets: {
    /** The budgets that the person has set, and those of every principal that used tokens today. */
    budgets: Array<Budget>;
    /** The default budget of an origin, in tokens per day. */
    of_an_origin: number;
  };
  /** The engines and files. */
  llm_setup_status: {
    /** The engines and files. */
    status: SetupStatus;
  };
  /** The engine runs. */
  llm_start_local: {
    /** Always true; a failure is an error. */
    success: boolean;
    /** Its address: `unix:PATH`, or `http://127.0.0.1:PORT/v1`. */
    url: string;
    /** Its model: `provider:model`. */
    modelId: string;
    /** The id of its provider. */
    provider: string;
    /** The options that Harbor would have used and that this engine lacks. */
    left_out: Array<string>;
  };
  /** The engines are stopped. */
  llm_stop_local: {
    /** True if one of them ran. */
    stopped: boolean;
    /** The ids of those that ran. */
    providers: Array<string>;
  };
  /** The model is there. */
  llm_download_model: {
    /** Always true; a failure is an error. */
    started: boolean;
    /** Its name: `model_id` of other requests; for Ollama the model's name there. */
    modelId: string;
    /** A sentence for people. */
    message: string;
  };
  /** The file is deleted. */
  llm_delete_model: {
    /** Always true; a failure is an error. */
    deleted: boolean;
  };
  /** The session has begun. */
  chat_create_session: {
    /** The session. */
    session: ChatSession;
  };
  /** The turn has ended. */
  chat_send_message: {
    /** The model's last answer in the turn. */
    response: string;
    /** The calls of the turn, in their order. */
    steps: Array<TurnStep>;
    /** How many rounds the turn had: how often the model was asked. */
    iterations: number;
    /** True if a limit ended the turn. */
    reachedMaxIterations: boolean;
    /** How long the turn took, in milliseconds. */
    durationMs: number;
    /** The turn. */
    turn_id: string;
    /** Why the turn ended: `done`, `stopped`, `rounds`, `calls`, `tokens`, `time` or `repeats`. */
    ended: string;
    /** The tokens that the turn has used. */
    usage: ChatUsage;
    /** The provider's id. */
    provider?: string;
    /** The model's name at the provider. */
    model?: string;
  };
  /** The page is fetched. */
  chat_fetch_page: {
    /** A part of `attachments`: a text whose title is the address, at most 1 MB, or a picture, at most 5 MB. */
    part: ChatPart;
  };
  /** The client follows the session, or no longer. */
  chat_watch: {
    /** The number of the next event. */
    seq: number;
    /** The turn that is under way; absent when none is. */
    turn_id?: string;
  };
  /** The turn is being stopped. */
  chat_stop: {
    /** False if no turn was under way. */
    stopped: boolean;
  };
  /** The branch has begun. */
  chat_branch: {
    /** The branch. */
    session: ChatSession;
  };
  /** The session is there. */
  chat_import: {
    /** The new session. */
    session: ChatSession;
  };
  /** The session as a text. */
  chat_export: {
    /** The text. */
    text: string;
  };
  /** The session. */
  chat_get_session: {
    /** The session's settings and state. */
    session: ChatSession;
    /** The messages of the session. */
    messages: Array<ChatMessage>;
    /** All sessions of its family, this one too, the oldest first. A session without branches is alone in it. */
    branches: Array<BranchView>;
  };
  /** The sessions. */
  chat_list_sessions: {
    /** The sessions, in the order that the request says. */
    sessions: Array<ChatSession>;
    /** How many sessions there are in all, or were found. */
    total: number;
    /** For a search: where the first word stands, one for each session in this reply. */
    excerpts: Array<SessionExcerpt>;
    /** True if the search took too long: the sessions that were used least recently were not read. */
    is_partial: boolean;
    /** The files that cannot be read, and why, a sentence each. */
    unreadable: Array<string>;
  };
  /** The session is changed. */
  chat_update_session: {
    /** The session after the change. */
    session: ChatSession;
  };
  /** The session has no messages any more. */
  chat_clear_messages: {
    /** How many messages it had. */
    cleared: number;
  };
  /** The session is deleted. */
  chat_delete_session: {
    /** False if there was no such session. */
    deleted: boolean;
  };
  /** The run has ended. */
  run_start: {
    /** The run. */
    run_id: string;
    /** The answer. */
    output: string;
    /** The calls that the answer relies on; absent unless `require_citations` was set. */
    citations?: Array<Citation>;
    /** The tokens that the run has used. */
    usage: ChatUsage;
  };
  /** The credit is added. */
  run_more: {
    /** False if there is no such run. */
    accepted: boolean;
  };
  /** The session has begun. */
  session_create: {
    /** The session. */
    session: SessionSummary;
  };
  /** The session. */
  session_get: {
    /** The session's state. */
    session: SessionSummary;
  };
  /** The sessions. */
  session_list: {
    /** The sessions, the oldest first. */
    sessions: Array<SessionSummary>;
  };
  /** The session has ended. */
  session_end: {
    /** The session as it was at its end. */
    session: SessionSummary;
  };
  /** The questions that wait and the answers that stand. */
  approvals_list: {
    /** The questions, the oldest first. */
    waiting: Array<Approval>;
    /** The standing answers, the newest first. */
    standing: Array<StandingAnswer>;
    /** For one question: the whole arguments of its call. Otherwise absent. */
    arguments?: Json;
  };
  /** The answer has reached the bridge. */
  approvals_answer: {
    /** False if the question does not wait any more. */
    answered: boolean;
  };
  /** The standing answers are taken back. */
  approvals_revoke: {
    /** How many answers were taken back. */
    revoked: number;
  };
  /** The guard of an AI client. */
  approvals_guard: {
    /** True if the guard is on. */
    guard: boolean;
  };
  /** The watch has begun or ended. */
  approvals_watch: Record<never, never>;
  /** The source is registered. */
  source_register: {
    /** The source's id: `browser`, or `browser:NAME` if there is a browser already. */
    source_id: string;
  };
  /** The source is unregistered. */
  source_unregister: {
    /** False if this connection has no such source. */
    unregistered: boolean;
  };
  /** The result has reached the bridge. */
  source_result: {
    /** False if the call has ended, or was never made to a source of this connection. */
    accepted: boolean;
  };
  /** The bridge's answer to the event. */
  source_event: {
    /** False if the event is about no session and no session's tab. */
    accepted: boolean;
    /** For `navigated`, `frame` and `tab_opened`: `allowed` or `denied`. */
    verdict?: string;
    /** Why it is denied, as a sentence; absent when it is allowed. */
    reason?: string;
  };
  /** A piece of a file. */
  source_file: {
    /** Its bytes as base64: at most 512 KiB of them, none at the end of the file. */
    data: string;
  };
  /** The tool sources that are no servers. */
  list_sources: {
    /** The sources, sorted by id. */
    sources: Array<Source>;
  };
}

/** What the bridge sends unasked, by `type`. */
export interface Pushes {
  /** Progress of a call that was sent with `progress: true`. The first 50 are pushed, then one every 50 ms: the newest, and always the last one before the answer. */
  progress: {
    /** The call's id. */
    request_id: string;
    /** The progress so far. The number grows with each push. */
    progress: Json;
    /** The value of `progress` at the end; absent when not known. */
    total?: Json;
    /** The server's words about it. */
    message?: string;
  };
  /** A question about an open request that was sent with `answers`. It comes from the server, or from Harbor before a call that may destroy something. `mcp_answer` answers it. It counts as refused if the request ends first. */
  ask: {
    /** The question's number, for `mcp_answer`. */
    ask_id: number;
    /** The id of the request that the question is about. */
    request_id: string;
    /** The server. */
    server_id: string;
    /** `sampling/createMessage` or `elicitation/create`. */
    method: string;
    /** MCP's parameters, as the asker wrote them. */
    params: Json;
  };
  /** A piece of an answer that is larger than the client's `max_frame`. The pieces of an answer come in order. Joined, they are the answer's frame without its length prefix. */
  chunk: {
    /** The id of the request that is being answered. */
    request_id: string;
    /** The number of this piece, from 0. */
    seq: number;
    /** True for the last piece. */
    last: boolean;
    /** The piece's bytes in base64. */
    data: string;
  };
  /** A resource that this client subscribed to has changed. */
  resource_updated: {
    /** The server's id. */
    server_id: string;
    /** The resource's URI. */
    uri: string;
  };
  /** A server's state has changed; for clients that sent `watch_servers`. A new server's first event has the state `stopped` and no old state. A removed server's last event has the state `removed`. */
  server_event: {
    /** The server's id. */
    server_id: string;
    /** The state before; equal to `new_state` when only `busy` changed. */
    old_state?: string;
    /** The state now. */
    new_state: string;
    /** When the state changed, in milliseconds since 1970. */
    timestamp: number;
    /** True if calls are open and the server has not answered a probe. */
    busy: boolean;
    /** The cause, if the server ended or failed: one word, see `Exit`. */
    cause?: string;
    /** The cause as a sentence. */
    message?: string;
    /** The number of the restart that is next or under way, counted since the last stable minute. */
    attempt?: number;
    /** When the server is tried again, in milliseconds since 1970. */
    next_retry?: number;
    /** Process id of the server, while it runs. */
    pid?: number;
  };
  /** The status has changed, or new numbers are due; for clients that sent `subscribe_status`. A field that is absent has not changed. */
  status_update: {
    /** `server`: one server has changed. `bridge`: its clients or its configuration have. `catalog`: the catalog has. `numbers`: everything, since the interval is over. */
    category: string;
    /** When the push was made, in milliseconds since 1970. */
    timestamp: number;
    /** Harbor's health. */
    health: Health;
    /** The bridge; with `bridge` and `numbers`. */
    bridge?: BridgeStatus;
    /** With `server`: that server. With `numbers`: all servers. */
    servers?: Array<ServerStatus>;
    /** With `server`: the id of a server that was removed. */
    removed?: string;
    /** The catalog; with `catalog` and `numbers`. */
    catalog?: CatalogStatus;
    /** The sizes on disk; with `numbers`. */
    stores?: StoreSizes;
    /** The turns in which models use tools; with `numbers`. */
    agent?: AgentStatus;
  };
  /** A log line of a server; for clients that sent `mcp_get_logs` with `follow`. */
  server_log: {
    /** The server's id. */
    server_id: string;
    /** Milliseconds since 1970. */
    timestamp: number;
    /** As in `LogLine`. */
    source: string;
    /** MCP's level; for `mcp` lines only. */
    level?: string;
    /** The text, cut at 8 KiB. */
    text: string;
  };
  /** An MCP log message of a server; for AI clients that sent `mcp_follow_messages`. */
  server_message: {
    /** The server's id. */
    server_id: string;
    /** MCP's level. */
    level: string;
    /** The message as text, cut at 8 KiB. */
    text: string;
  };
  /** A grant was made or revoked, or has ended; for clients that sent `host_watch`. */
  grant_changed: {
    /** `granted`, `revoked` or `expired`. */
    change: string;
    /** The grant. */
    grant: Grant;
  };
  /** The tools of a server may have changed: it came up, went away, or said so itself. For clients that sent `host_watch`. */
  tools_changed: {
    /** The server's id. Absent for an AI client, which must list its tools again. */
    server_id?: string;
  };
  /** The resources or the prompts of a server may have changed; for clients that sent `host_watch`. */
  offers_changed: {
    /** `resources` (and their templates) or `prompts`. */
    kind: string;
    /** As in `tools_changed`. */
    server_id?: string;
  };
  /** A tool has changed since the person last saw it, or is new on its server. For the owner's connections that sent `host_watch`, at most 60 times a minute for one server. `host_list_tool_changes` lists them all. */
  tool_changed: {
    /** The server. */
    server_id: string;
    /** The tool's own name. */
    tool_name: string;
    /** The hash of the tool as it is now. */
    tool_hash: string;
    /** The tool before, as in `ToolChange`. Absent if `before` and `after` together are longer than 16 KiB, and for a new tool. */
    before?: Json;
    /** The tool now, as in `ToolChange`. Absent in the same cases as `before`. */
    after?: Json;
    /** True if the server had no tool of this name before. Where a grant covers it, it can be used at once. */
    is_new: boolean;
    /** As in `ToolChange`. */
    blocked: boolean;
    /** As in `ToolChange`. */
    hidden_characters: boolean;
  };
  /** A piece of the answer to a chat that was sent with `stream: true`. The reply marks the chat's end. */
  llm_event: {
    /** The id of the request. */
    request_id: string;
    /** The number of this push, from 0 without a gap. */
    seq: number;
    /** The piece. */
    event: ChatEvent;
  };
  /** An event of a session; for clients that sent `chat_watch`, or `chat_send_message` with `stream`. */
  chat_event: {
    /** The session. */
    session_id: string;
    /** The turn. */
    turn_id: string;
    /** The number of the event in its session, without a gap while the bridge runs. */
    seq: number;
    /** The event. */
    event: TurnEvent;
  };
  /** An event of a run that was started with `stream: true`. The reply marks the run's end. Values too large for the client's frame are left out of the event, which then has an `error`. A `final` event that is too large does not come: the reply says the same. */
  run_event: {
    /** The id of the request. */
    request_id: string;
    /** The run. */
    run_id: string;
    /** The number of this push, from 0 without a gap. */
    seq: number;
    /** The event. */
    event: RunEvent;
  };
  /** The person is asked about a call, or is no longer asked. For connections that sent `approvals_watch`. `approvals_answer` answers it. */
  approval: {
    /** The question. */
    approval: Approval;
    /** True if the question waits. False: it was answered, its caller has left, or its time is over; an answer would have no effect. */
    waits: boolean;
  };
  /** A call of a tool from a source of this connection. `source_result` answers it. */
  source_call: {
    /** The call's id. Nobody can guess it. */
    call_id: string;
    /** The source. */
    source_id: string;
    /** The caller's session. */
    session_id: string;
    /** Who calls: `owner`, `agent`, or an origin such as `client://NAME`. */
    principal: string;
    /** The tool. */
    tool_name: string;
    /** Its arguments: an object that fits the tool's schema. */
    arguments: Json;
    /** How long the bridge waits for the result, in milliseconds. */
    timeout_ms: number;
    /** The tabs that the call may act on. */
    session: SourceSession;
  };
  /** A call is over for its caller: stop it. */
  source_cancel: {
    /** The call. */
    call_id: string;
  };
  /** A session is over. */
  source_session_ended: {
    /** The source. */
    source_id: string;
    /** The session. */
    session_id: string;
    /** True if the session's tabs are to be closed. False: they are the person's again. */
    close_tabs: boolean;
  };
}

/** How a server is started, watched, restarted and ended. A field that is absent has its default. */
export interface SupervisionSettings {
  /** When a server is started again after it ended without being told to. `never`; `on_crash` (default): if it had connected; `always`: also if it never connected. */
  restart?: "never" | "on_crash" | "always";
  /** The most restarts without a stable minute in between; after them the server is given up. 0 to 1,000,000, or `"unlimited"`. Default: 3. */
  restart_attempts?: number | "unlimited";
  /** The pauses before the first, second, … restart, in milliseconds, 0 to 3,600,000 each. The last one repeats. Default: [2000, 4000, 6000]. */
  restart_delays_ms?: number[];
  /** How much longer a pause may be, at random, in percent: 0 to 100. Default: 0. */
  restart_jitter_percent?: number;
  /** How long a start may take, in milliseconds: 1,000 to 600,000. Default: 30,000, or 120,000 for a command that downloads before it runs (npx, uvx). */
  start_timeout_ms?: number;
  /** How long a call may take if its request sets no limit, in milliseconds: 1 to 3,600,000. Default: 30,000. */
  call_timeout_ms?: number;
  /** How long a call waits while the server starts or is about to be restarted, in milliseconds: 0 (refuse at once) to 600,000. Default: 10,000. */
  queue_wait_ms?: number;
  /** How long after a call's timeout a server may show no sign of life before it counts as hung, in milliseconds: 100 to 3,600,000. Default: 10,000. */
  hung_grace_ms?: number;
  /** How long it may take to end after its stdin is closed, before SIGTERM, in milliseconds: 0 to 60,000. Default: 1,500. */
  eof_grace_ms?: number;
  /** How long it may take to end after SIGTERM, before SIGKILL, in milliseconds: 0 to 60,000. Default: 1,500. */
  term_grace_ms?: number;
  /** True: it starts with the bridge. Default: false. */
  auto_start?: boolean;
  /** True (default): a call starts it. False: only a person or the start of the bridge does. */
  lazy?: boolean;
  /** How long it may run without a call before it is stopped, in milliseconds: 1,000 to 604,800,000. Absent: it is not stopped. */
  idle_stop_ms?: number;
  /** `shared` (default): one process for everybody. `per_principal`: each web origin and each AI client has a process and files of its own, started at its first call. The person has the plain process. */
  instance?: "shared" | "per_principal";
  /** With `per_principal`: the most instances beside the plain process, 1 to 64. Default: 8. An unused one ends to make room for a new one. */
  max_instances?: number;
  /** True: the server's answers count as private data, whatever the server was given. Then no answer that a model has read there leaves unseen. Default: false. */
  private?: boolean;
  /** Names of its tools that only read. The person's word counts, whatever the tools say of themselves. If a tool is in several lists, the worst effect holds. */
  reads?: string[];
  /** Names of its tools that change something and destroy nothing. */
  writes?: string[];
  /** Names of its tools that may destroy something. */
  destroys?: string[];
  /** Says if a language model of the person's answers what the server asks of one (MCP's sampling), where the caller does not answer that itself. `ask` (default): after the person's yes. `allow`: without a question. `deny`: never. */
  sampling?: "ask" | "allow" | "deny";
}

/** The sandbox of a server: what it may do on this machine. A field that is absent has its default. */
export interface SandboxSettings {
  /** `off`; `basic`: an environment and limits of its own; `standard` (default): also rules for files, system calls and signals, as far as the kernel can enforce them; `strict`: also no network, and namespaces are required. */
  level?: "off" | "basic" | "standard" | "strict";
  /** True: the server does not start if the kernel cannot enforce its whole level. Default: false. */
  required?: boolean;
  /** Further absolute paths that it may read. */
  read?: string[];
  /** Further absolute paths that it may read and write. */
  write?: string[];
  /** Unix sockets that it may connect to. */
  sockets?: string[];
  /** `none`, `loopback` (its own), `hosts` (those in `hosts`) or `all` (the default; with `strict` the default is `none`). */
  network?: "none" | "loopback" | "hosts" | "all";
  /** The hosts of the network `hosts`: `example.com`, `*.example.com`, `192.0.2.7`, `[2001:db8::1]`, each with or without `:PORT`. Without a port: 443 and 80. */
  hosts?: string[];
  /** With the network `all`: a TCP port of 127.0.0.1 (and of ::1) on which it may listen, 1,024 to 65,535. Default: none. */
  listen?: number;
  /** Memory of all its processes together, in MiB: 64 to 1,048,576. Default: 2,048. */
  memory_mb?: number;
  /** Processes and threads together: 8 to 65,536. Default: 512. */
  processes?: number;
  /** Open files of each process: 64 to 1,048,576. Default: 4,096. */
  open_files?: number;
  /** The largest file that it may write, in MiB: 1 to 1,048,576. Default: 1,024. */
  file_size_mb?: number;
  /** The size of its data and temporary files together, in MiB: 1 to 1,048,576. Default: 4,096. */
  disk_mb?: number;
  /** How far it gives way to other programs for the processor, 0 to 19 (nice(1)). Default: 5. */
  nice?: number;
}

/** A server: its definition and its state. Values of environment variables are never shown. */
export interface Server {
  /** The server's id. */
  server_id: string;
  /** A name for people. */
  label: string;
  /** The program; empty if the server is an image. */
  command: string;
  /** The container image; absent if the server is a program. */
  image?: Image;
  /** Its arguments. Arguments that look like secrets are left out. */
  args: Array<string>;
  /** Names of the environment variables in its definition. */
  env_names: Array<string>;
  /** Its working directory; absent when the definition names none. */
  cwd?: string;
  /** `installing`, `stopped`, `starting`, `running`, `stopping`, `crashed` (waits to be restarted) or `failed`. */
  state: string;
  /** The state for people: `running` (or on its way), `ready` (a call starts it), `stopped` (only a person starts it), `needs_key`, `needs_sign_in`, `needs_approval` (it is another program than the person allowed) or `failed`. */
  shown_state: string;
  /** When this state began, in milliseconds since 1970. */
  since: number;
  /** True if calls are open and it has not answered a probe. Many servers do one thing at a time. */
  busy: boolean;
  /** Process id of the server, while it runs. */
  pid?: number;
  /** Process id of its runner, while there is one. */
  runner_pid?: number;
  /** How many tools it offers, or offered when it last ran; absent when not known. */
  tool_count?: number;
  /** Problems with its lists while it runs, a sentence each; absent when there are none. */
  list_problems?: Array<string>;
  /** How many of its tools have changed and are not accepted; absent when none have. */
  changed_tools?: number;
  /** The change of its program, if it is another one than the person allowed. Origins may not use it until the person accepts that. */
  program_change?: ServerChange;
  /** How often it was restarted since a person last started it. */
  restarts: number;
  /** Restarts that count against `restart_attempts`: those that no stable minute followed. */
  attempt: number;
  /** While it waits to be restarted: the time of the restart, in milliseconds since 1970. If it was given up after it had run: the time from which a call tries it once more. */
  next_retry?: number;
  /** How it last ended without being told to, as a sentence; also while it runs again. Absent if it never did. */
  last_error?: string;
  /** The same end, for programs. */
  last_exit?: Exit;
  /** How many calls wait until it runs. */
  queued: number;
  /** How many answers came after their call had ended. They were dropped. */
  late_answers: number;
  /** How all its processes are ended. `pid_namespace`: the kernel ends them together with the runner. `process_group`: a process that left the group is ended by the runner, the bridge, or the bridge's next start. `container`: the engine ends it, and the runner, the bridge or the bridge's next start has it removed. Absent until it was started. */
  containment?: string;
  /** Why it is not `pid_namespace`; absent when it is. */
  containment_reason?: string;
  /** The MCP revision that it speaks; absent until that is known. */
  protocol_version?: string;
  /** The package that Harbor installed for it and runs without npx or uvx, with its version once that is locked. */
  package?: string;
  /** The locked hash of that package. `list_installed` says more. */
  integrity?: string;
  /** The address, if it is remote; it then has no program. */
  remote?: Remote;
  /** How it is supervised, as its definition says. */
  supervision: SupervisionSettings;
  /** The sandbox of its last start, and what this kernel cannot enforce; absent until it was started. */
  sandbox?: SandboxSummary;
}

/** How a server is started, as the person said. Values of variables and headers are never shown. */
export interface Definition {
  /** The server's id. */
  server_id: string;
  /** A name for people; absent when none was given. */
  label?: string;
  /** The program; absent if the server is an image or remote. */
  command?: string;
  /** The container image; absent if the server is not an image. */
  image?: string;
  /** The engine for the image; absent when none was named. */
  engine?: string;
  /** Its arguments. */
  args: Array<string>;
  /** Names of its environment variables. */
  env_names: Array<string>;
  /** Its working directory; absent when none was given. */
  cwd?: string;
  /** The roots that the server may ask for. */
  roots: Array<string>;
  /** True if the command runs as it is, even if it looks like a package. */
  as_is: boolean;
  /** Names of secrets without which the server does not start. */
  secrets: Array<string>;
  /** How it is supervised. */
  supervision: SupervisionSettings;
  /** Its sandbox: what it may do on this machine. */
  sandbox: SandboxSettings;
  /** For a remote server: its URL, as far as it may be shown. */
  url?: string;
  /** For a remote server: `http`, `sse` or `auto`. */
  transport_type?: string;
  /** Names of its headers. */
  header_names: Array<string>;
  /** True if the server may be at a private address. */
  allow_private: boolean;
  /** True if the server may be used without TLS. */
  allow_http: boolean;
}

/** The address of a remote server. */
export interface Remote {
  /** Its URL, without a query. */
  url: string;
  /** `http`, `sse` or `auto`. */
  transport_type: string;
  /** Names of the headers that go with each request. */
  header_names: Array<string>;
}

/** The end of a server, or the reason why it did not start. */
export interface Exit {
  /** One word: `exited`, `signalled`, `out_of_memory`, `too_many_processes`, `disk_full`, `hung`, `closed_stdout`, `spawn_failed`, `timeout`, `refused`, `malformed`, `unknown_protocol_version`, `install_failed`, `package_lost`, `missing_secrets`, `secrets_locked`, `secrets_unreadable`, `runner_lost`, `protocol_error`, or `stopped`. For a remote server also `unreachable`, `unauthorized`, `session_lost`, `forbidden`, `tls` or `no_mcp`. */
  cause: string;
  /** One sentence. */
  message: string;
  /** Its exit code; absent when there was none. */
  exit_code?: number;
  /** The signal that ended it; absent when none did. */
  signal?: number;
  /** The last lines of its stderr. */
  stderr_tail?: string;
  /** When it ended, in milliseconds since 1970. */
  timestamp: number;
}

/** A running server. */
export interface Connection {
  /** The server's id. */
  server_id: string;
  /** What the server said about itself. */
  connection_info: ConnectionInfo;
  /** How many tools it offers. */
  tool_count: number;
  /** How many resources it offers. */
  resource_count: number;
  /** How many prompts it offers. */
  prompt_count: number;
  /** Process id of the server. */
  pid: number;
  /** Process id of its runner. */
  runner_pid: number;
}

/** A server's description of itself when contact was made. */
export interface ConnectionInfo {
  /** Its name. */
  server_name: string;
  /** Its version. */
  server_version: string;
  /** The MCP revision in use. */
  protocol_version: string;
  /** MCP's server capabilities, as the server wrote them. */
  capabilities: Json;
  /** How to use the server, in its own words. */
  instructions?: string;
}

/** A log line. */
export interface LogLine {
  /** Milliseconds since 1970. */
  timestamp: number;
  /** `stderr`, `stdout` (no MCP message), `mcp`, `harbor` (about the server), or `install` (of an installer). */
  source: string;
  /** MCP's level; for `mcp` lines only. */
  level?: string;
  /** The text, cut at 8 KiB. */
  text: string;
}

/** The image of a server. */
export interface Image {
  /** The image's name in the definition. */
  reference: string;
  /** `podman` or `docker`. Absent until one was found, unless the definition names one. */
  engine?: string;
  /** The image's own id. The image is run by it, even if the reference now means another image. Absent until it was found. */
  id?: string;
  /** The registry's name for it: `registry.example/name@sha256:…`; absent when no registry has it. */
  digest?: string;
}

/** The sandbox of a server in short. */
export interface SandboxSummary {
  /** `off`, `basic`, `standard` or `strict`. */
  level: string;
  /** The features of the kernel that enforce it: `landlock 7, seccomp, namespaces`, or fewer. */
  held_by: string;
  /** `none`, `loopback`, `hosts` or `all`. */
  network: string;
  /** The rules of the level that this kernel cannot enforce, a sentence each. */
  missing: Array<string>;
  /** Ways in which this server may leave its sandbox or reach more than one would expect, a sentence each. */
  warnings: Array<string>;
}

/** The sandbox of a server: what it may do on this machine. */
export interface Sandbox {
  /** The settings in its definition. */
  settings: SandboxSettings;
  /** What enforces them. */
  summary: SandboxSummary;
  /** Why the server would not start; absent when it would. */
  refused?: string;
  /** The parts of the file system that it may reach. */
  paths: Array<SandboxPath>;
  /** Directories that look empty to it, except for the `paths` below them. */
  hidden: Array<string>;
  /** Its limits, such as `2048 MiB of memory`; empty when nothing is limited. */
  limits: Array<string>;
  /** Names of its environment variables. */
  env_names: Array<string>;
  /** What it was refused since the bridge began, the newest last. */
  denied: Array<Denied>;
  /** The server's reach, as far as consent knows it: `closed` (nobody), `enforced` (only the hosts that Harbor lets it reach) or `open`. */
  reach: string;
}

/** A place that a server may reach. */
export interface SandboxPath {
  /** The file or directory. */
  path: string;
  /** `read` (includes list and execute), `write` or `device`. */
  access: string;
  /** Why it may reach it: `system`, `program`, `package`, `data`, `temporary`, `argument`, `cwd`, `granted`. */
  why: string;
  /** The path in the settings, if it has symbolic links and so differs from `path`; otherwise absent. */
  granted_as?: string;
}

/** Something that a server was refused. */
export interface Denied {
  /** The path as the server wrote it. A text without `/` at its start names something else: `more memory than 2048 MiB`, `the host example.com`. */
  path: string;
  /** True if the server wanted to write to the path. */
  write: boolean;
  /** The option of `harbor sandbox` that would allow it; absent when none does. */
  allow?: string;
  /** A warning about that option, as a sentence, if it leads out of the sandbox; otherwise absent. */
  mind?: string;
  /** Why no option allows it; absent when one does. */
  never?: string;
}

/** A secret, without its value. */
export interface Credential {
  /** The server that the secret is for, or `browser`. */
  server_id: string;
  /** Its name. */
  key: string;
  /** `api_key`, `password`, `oauth` or `header`. */
  credential_type: string;
  /** True if the secret has a user name, as a password may. */
  has_username: boolean;
  /** When the secret was set, in milliseconds since 1970. */
  set_at: number;
  /** When the secret expires, in milliseconds since 1970; absent when not known. */
  expires_at?: number;
  /** True if the secret has expired. */
  is_expired: boolean;
  /** For `browser`: the site that the secret is for. */
  site?: string;
}

/** Where secrets are kept, and whether they can be read. It names none of them. */
export interface SecretStore {
  /** The place that `config.toml` names: `file` or `keyring`. */
  store: string;
  /** What holds the key of the secrets: `none` (the file is not encrypted), `passphrase` or `keyring`. */
  encryption: string;
  /** True if the secrets cannot be read now. */
  locked: boolean;
  /** True if `unlock_secrets` needs a passphrase. */
  asks: boolean;
  /** Why the secrets are not where `config.toml` says, and what to do; absent when they are there. */
  misplaced?: string;
}

/** The state of the secrets that a server needs. */
export interface CredentialStatus {
  /** The server. */
  server_id: string;
  /** True if no secret is missing or expired. */
  is_complete: boolean;
  /** Names of the secrets that are set. */
  configured: Array<string>;
  /** Names of the secrets that the definition asks for and that are not set. */
  missing: Array<string>;
  /** Names of the secrets that have expired. */
  expired: Array<string>;
}

/** An authorization: what the person lets Harbor do at a server, without the tokens. */
export interface Authorization {
  /** The server that it is for. */
  server_id: string;
  /** The authorization server. */
  issuer: string;
  /** The identifier of the server at the authorization server. */
  resource: string;
  /** The client id of Harbor at the authorization server. */
  client_id: string;
  /** The scopes that the authorization server granted. */
  scopes: Array<string>;
  /** When the person agreed, in milliseconds since 1970. */
  granted_at: number;
  /** When the present token expires, in milliseconds since 1970; absent when not known. */
  expires_at?: number;
  /** True if Harbor renews the token by itself. */
  renews: boolean;
  /** True if the authorization has ended, and the person must be asked again. */
  is_expired: boolean;
}

/** A grant: what the person allows or forbids. */
export interface Grant {
  /** The origin in its canonical form. */
  origin: string;
  /** The profile of the origin that it is for. */
  profile: string;
  /** The scope that it is about. */
  scope: string;
  /** `ALLOW_ONCE`, `ALLOW_ALWAYS` or `DENY`. */
  grant_type: string;
  /** When the grant was made, in milliseconds since 1970. */
  created_at: number;
  /** When the grant ends, in milliseconds since 1970; absent when it does not end by itself. */
  expires_at?: number;
  /** The tab that the grant is bound to; absent when it holds for every tab. */
  tab_id?: number;
  /** The tools that the grant covers; absent: all tools. */
  allowed_tools?: Array<string>;
  /** How many calls run under it now; absent when none do. */
  running?: number;
  /** True if the disk has not taken the grant: it holds until the bridge ends. Absent otherwise. */
  unstored?: boolean;
}

/** A denial or revocation that the disk did not take. It holds until the bridge ends. */
export interface Unstored {
  /** The origin. */
  origin: string;
  /** The profile of the origin. */
  profile: string;
  /** The scope that it is about. */
  scope: string;
  /** `denied` or `revoked`. */
  change: string;
}

/** A server that now runs another program than the one that the person allowed. */
export interface ServerChange {
  /** The server. */
  server_id: string;
  /** The program that the person allowed: a package, image, address or command. */
  before: string;
  /** The program that the server runs now. */
  after: string;
  /** When the program changed, in milliseconds since 1970. */
  since: number;
}

/** A tool as origins see it. The server's texts are unchanged. */
export interface ToolDescriptor {
  /** The name for calls: `server/tool`. */
  name: string;
  /** The server's id. */
  serverId: string;
  /** The server's name for people. */
  serverLabel: string;
  /** The tool's own name. */
  originalName: string;
  /** The SHA-256, in hex, of the RFC 8785 form of the tool as the server gives it, without `harbor/via` in `_meta`. */
  toolHash: string;
  /** True if the tool's texts have hidden or control characters. */
  hiddenCharacters?: boolean;
  /** Its name for people. */
  title?: Json;
  /** Its description. */
  description?: Json;
  /** JSON Schema of its arguments. */
  inputSchema?: Json;
  /** JSON Schema of its structured result. */
  outputSchema?: Json;
  /** The server's hints about the tool's effects. */
  annotations?: Json;
  /** The identities of the Harbors that the tool came through, the last one first: an array. */
  via?: Json;
  /** All other members of the tool, as an object: `icons`, `_meta`, `execution`, …. */
  otherMembers?: Json;
}

/** A server with a tool that an origin may use. */
export interface UsableServer {
  /** The server's id. */
  server_id: string;
  /** Its name for people. */
  label: string;
  /** Its state, as in `Server`. */
  state: string;
  /** How many of its tools the origin may use. */
  tool_count: number;
}

/** The resources, resource templates or prompts of one server. */
export interface Offers {
  /** The server's id. */
  server_id: string;
  /** An array of MCP's objects, as the server wrote them. */
  items: Json;
}

/** The server and tool that a result comes from. */
export interface Provenance {
  /** The server. */
  serverId: string;
  /** The tool's own name. */
  toolName: string;
  /** How long the server took to answer, in milliseconds. */
  durationMs: number;
  /** The tool's hash, as in `ToolDescriptor`. */
  toolHash: string;
}

/** A tool that has changed since the person last saw it. */
export interface ToolChange {
  /** The server. */
  server_id: string;
  /** The tool's own name. */
  tool_name: string;
  /** The hash of the tool as it is now. */
  tool_hash: string;
  /** The tool before: `{title?, description?, inputSchema?, outputSchema?, annotations?, …}`. */
  before: Json;
  /** The tool now, in the same form. */
  after: Json;
  /** True if origins may not use the tool until the person accepts it (`host.changedTools`). */
  blocked: boolean;
  /** True if the tool's texts now have hidden or control characters. */
  hidden_characters: boolean;
}

/** The counts since the bridge began. Fields about all origins are absent if the request named one. */
export interface Stats {
  /** How many servers there are. */
  servers?: ServersCount;
  /** How many tools the running servers have. */
  tools?: ToolsCount;
  /** The limits in force: those of the origin, or those of origins without limits of their own. */
  rateLimits: RateLimits;
  /** All calls, or those of the origin. */
  calls: CallCounts;
  /** `CallCounts` by server. */
  callsByServer?: { [name: string]: CallCounts };
  /** `CallCounts` by tool, as `server/tool`. Calls of tools that no server has are counted as `(others)`. */
  callsByTool?: { [name: string]: CallCounts };
  /** `CallCounts` by origin; `owner` is the person. */
  callsByOrigin?: { [name: string]: CallCounts };
  /** How often each decision was made. */
  decisions: Array<DecisionCount>;
  /** How many grants there are. */
  grants: number;
  /** How many runs there are. */
  runs?: number;
  /** How many calls of the origin are under way; without an origin, those of the owner. */
  underWay: number;
  /** How many of its calls wait for a slot. */
  waiting: number;
  /** The state of the audit log. */
  audit?: AuditHealth;
}

/** How many servers there are. */
export interface ServersCount {
  /** All servers with a definition. */
  total: number;
  /** All servers that run. */
  running: number;
}

/** How many tools there are. */
export interface ToolsCount {
  /** All tools. */
  totalTools: number;
  /** How many servers have listed their tools. */
  serverCount: number;
  /** The number of tools of each server. */
  toolsByServer: { [name: string]: number };
}

/** The limits of an origin; absent fields: no such limit. */
export interface RateLimits {
  /** The most calls of a run. */
  maxCallsPerRun?: number;
  /** The most calls at once. */
  maxConcurrentPerOrigin?: number;
  /** How long a call may take whose request sets no limit, in milliseconds. */
  defaultTimeoutMs?: number;
  /** The most calls that may wait for a slot. */
  queueLength: number;
  /** How long a call may wait for a slot, in milliseconds. */
  queueWaitMs: number;
  /** The most calls in a minute. */
  callsPerMinutePerOrigin?: number;
}

/** Counts of calls that have ended. */
export interface CallCounts {
  /** All calls. */
  calls: number;
  /** Calls that ended with an error. */
  failures: number;
  /** Calls whose result says that the tool failed (`isError`). They are not among `failures`. */
  toolErrors: number;
  /** `failures`, by their code. */
  failuresByCode: { [name: string]: number };
  /** Bytes of arguments, of all calls together. */
  bytesIn: number;
  /** Bytes of results, of all calls together. */
  bytesOut: number;
  /** The time from the request to the answer, in microseconds. */
  durationUs: Times;
  /** The part of that time in which calls waited for a slot, in microseconds. */
  queuedUs: Times;
}

/** Statistics of times. Quantiles are at most a quarter too large. */
export interface Times {
  /** The median: half of the calls took no longer. */
  p50: number;
  /** 99 of 100 calls took no longer. */
  p99: number;
  /** The longest time. */
  max: number;
  /** The sum of all times. */
  sum: number;
}

/** How often a decision was made. */
export interface DecisionCount {
  /** The origin that it was made for. */
  origin: string;
  /** The scope that it was about. */
  scope: string;
  /** `allowed`, or the code of the refusal. */
  decision: string;
  /** How often. */
  count: number;
}

/** The state of the audit log. */
export interface AuditHealth {
  /** True if it cannot be written at present. */
  failing: boolean;
  /** How many records could not be written since the bridge began. */
  unaudited: number;
}

/** The status of everything at one moment. Measured values carry the age of their measurement. */
export interface Status {
  /** The version of this object. Another number means other fields. */
  version: number;
  /** When the status was made, in milliseconds since 1970. */
  timestamp: number;
  /** Harbor's health. */
  health: Health;
  /** The bridge. */
  bridge: BridgeStatus;
  /** The servers, sorted by id. */
  servers: Array<ServerStatus>;
  /** The catalog. */
  catalog: CatalogStatus;
  /** The models; absent from a bridge without models. */
  models?: ModelsStatus;
  /** The turns in which models use tools; absent from a bridge without them. */
  agent?: AgentStatus;
  /** The limits of origins without limits of their own. */
  limits: RateLimits;
  /** The sizes on disk; absent until they were measured. */
  stores?: StoreSizes;
}

/** Harbor's health, and the reasons for it. */
export interface Health {
  /** `ok`. `degraded`: something does not work, and everything else does. `failing`: calls are refused, or events are not written down. */
  state: string;
  /** The problems, the worst first; empty when there are none. */
  reasons: Array<HealthReason>;
}

/** A problem. */
export interface HealthReason {
  /** `degraded` or `failing`. */
  state: string;
  /** The server that has the problem; absent if the problem is no server's. */
  server?: string;
  /** A word for programs: `server_failed`, `server_crashed`, `list_failed`, `list_incomplete`, `audit_failing`, `audit_incomplete`, `database_failing`, `database_rebuilt`, `grants_unstored`, `sessions_unsaved`, `logins_unstored`, `log_failing`, `secrets_unreadable`, `unread_answers`, `config_refused`, `metrics_unavailable` or `model_provider_refuses`. */
  code: string;
  /** The problem as a sentence. */
  message: string;
}

/** The bridge. */
export interface BridgeStatus {
  /** Its version. */
  version: string;
  /** Its build. */
  build: string;
  /** Its process id. */
  pid: number;
  /** How long the bridge has been running, in milliseconds. */
  uptime_ms: number;
  /** True if each server has a runner of its own. */
  isolation: boolean;
  /** The kernel features for sandboxes; absent until they were tested, right after the start. */
  kernel?: KernelStatus;
  /** How many clients are connected. */
  clients: ClientCounts;
  /** How many requests of clients are not answered yet. */
  open_requests: number;
  /** How many calls wait for a slot. */
  waiting: number;
  /** How many bytes clients have not read yet. */
  unread_bytes: number;
  /** All calls since the bridge began. */
  calls: CallCounts;
  /** The state of the audit log. */
  audit: AuditHealth;
  /** What the bridge's process uses; absent until it was measured. */
  usage?: UsageSample;
  /** Where secrets are kept. */
  secrets: SecretStore;
  /** What a new AI client gets: `all`, `ask` or `none`, as in `mcp.firstUse`. `closed`: nothing, since the list of earlier clients was lost. */
  first_use: string;
  /** The address of the metrics over HTTP, such as `127.0.0.1:9464`; absent when they are not served. */
  metrics?: string;
}

/** What this kernel can enforce in sandboxes. */
export interface KernelStatus {
  /** The features: `landlock 7, seccomp, namespaces`, or fewer. */
  held_by: string;
  /** The rules of the sandbox level `standard` that it cannot enforce, a sentence each. */
  missing: Array<string>;
}

/** How many clients of each kind are connected. */
export interface ClientCounts {
  /** Command lines, and parents of `serve --stdio`. */
  owner: number;
  /** Browsers. */
  extension: number;
  /** AI clients. */
  mcp: number;
}

/** A server. */
export interface ServerStatus {
  /** Its id. */
  id: string;
  /** A name for people. */
  label: string;
  /** `installing`, `stopped`, `starting`, `running`, `stopping`, `crashed` (waits to be restarted) or `failed`. */
  state: string;
  /** The state for people, as in `Server.shown_state`. */
  shown_state: string;
  /** When this state began, in milliseconds since 1970. */
  since: number;
  /** True if calls are open and it has not answered a probe. */
  busy: boolean;
  /** Its process id; absent when it does not run. */
  pid?: number;
  /** The process id of its runner; absent when there is none. */
  runner_pid?: number;
  /** How many tools it offers; absent when it does not run, or its tools could not be listed. */
  tools?: number;
  /** How often it was restarted since a person last started it. */
  restarts: number;
  /** Restarts that no stable minute followed. */
  attempt: number;
  /** When it is tried again, in milliseconds since 1970. */
  next_retry?: number;
  /** How it last ended without being told to, one word; also while it runs again. Absent if it never did. */
  last_cause?: string;
  /** The same end as a sentence. */
  last_error?: string;
  /** How many calls it is working on. */
  in_flight: number;
  /** How many calls wait until it runs. */
  queued: number;
  /** Its calls since the bridge began; absent when there were none. */
  calls?: CallCounts;
  /** The level of its sandbox; absent until it was started. */
  sandbox?: string;
  /** The features of the kernel that enforce its sandbox; absent until it was started. */
  sandbox_held_by?: string;
  /** How many lines it has logged since the bridge began or its definition was changed. This number marks the end of its log. */
  log_lines: number;
  /** How long a message takes from the bridge to its runner and back, in microseconds. Measured together with `usage`. */
  ipc_us?: number;
  /** What its processes use, its own runner among them; absent until it was measured, and when it does not run. */
  usage?: UsageSample;
  /** Its instances, by name: processes that belong to one web origin or AI client each. Empty if all share one process. */
  instances: Array<InstanceStatus>;
}

/** An instance: a server's process for one web origin or AI client. */
export interface InstanceStatus {
  /** Its name, such as `memory@` and 16 hexadecimal digits; always the same for that principal. */
  id: string;
  /** The principal that it belongs to. */
  principal: string;
  /** Its state, as in `ServerStatus`. */
  state: string;
  /** When this state began, in milliseconds since 1970. */
  since: number;
  /** Its process id; absent when it does not run. */
  pid?: number;
  /** How many calls it is working on. */
  in_flight: number;
  /** How many calls wait until it runs. */
  queued: number;
  /** How often it was restarted. */
  restarts: number;
  /** How it last ended without being told to, as a sentence; absent if it never did. */
  last_error?: string;
}

/** Numbers about turns since the bridge began. They hold no text of any conversation. */
export interface AgentStatus {
  /** How many turns are under way, those of runs included. */
  running: number;
  /** How many turns have ended, by the reason: `done`, `stopped`, `rounds`, `calls`, `tokens`, `time`, `repeats` or `failed`. */
  ended: { [name: string]: number };
  /** How often a model was asked. */
  rounds: number;
  /** How many calls of tools models have asked for. */
  calls: number;
  /** Tokens that models have read. */
  input_tokens: number;
  /** Tokens that models have written. */
  output_tokens: number;
  /** How many questions wait for the person. */
  waiting: number;
  /** How many questions were answered, by the answer: `once`, `chat_tool`, `chat_server`, `flow`, `pair`, `ten_minutes`, `always`, `no`, or `gone` (the turn ended first). */
  answered: { [name: string]: number };
}

/** The resources that processes use. */
export interface UsageSample {
  /** The age of this sample, in milliseconds. */
  age_ms: number;
  /** Memory, in bytes. Memory that several processes share counts once (PSS). */
  memory: number;
  /** Processor time since the processes began, in milliseconds. For a server, that of its ended children is included. */
  cpu_ms: number;
  /** Processor use since the sample before, in thousandths of one processor; absent in the first sample. */
  cpu_permille?: number;
  /** Open files. */
  open_files: number;
  /** Processes. */
  processes: number;
  /** Threads. */
  threads: number;
}

/** The catalog and its worker. */
export interface CatalogStatus {
  /** The worker's state: `off` (by the environment or the configuration), `stopped` (it starts when there is work), `starting`, `running`, `stopping`, `crashed` (waits to be restarted) or `failed`. */
  state: string;
  /** Its process id; absent when it does not run. */
  pid?: number;
  /** How often it was restarted since the bridge began. */
  restarts: number;
  /** Its present work: `refreshing` or `enriching`; absent when there is none. */
  activity?: string;
  /** The present step of that work, as a sentence; absent when there is no work. */
  step?: string;
  /** The state of the file: `ok`, `missing`, `newer` (of a newer Harbor), `corrupt` or `unreadable`; absent until it was opened. */
  file?: string;
  /** What is wrong with the file, as a sentence; absent when nothing is. */
  file_error?: string;
  /** How many entries there are, without removed ones; absent until the file was opened. */
  entries?: number;
  /** `YYYY-MM-DD`: the day of the entries that are part of Harbor. Present only while they are all there is. */
  snapshot?: string;
  /** When a source was last fetched, in milliseconds since 1970; absent when none was. */
  last_refresh?: number;
  /** How long the last refresh took, in milliseconds. */
  refresh_ms?: number;
  /** When the next refresh is due, in milliseconds since 1970; absent when it comes only on request. */
  next_refresh?: number;
  /** How many sources failed in the last refresh. */
  failing: number;
  /** What went wrong last; absent when nothing did. */
  last_error?: string;
}

/** The models, and the worker that speaks to their providers. */
export interface ModelsStatus {
  /** The worker's state, as in `CatalogStatus`. */
  state: string;
  /** Its process id; absent when it does not run. */
  pid?: number;
  /** How often it was restarted since the bridge began. */
  restarts: number;
  /** How many providers were added. */
  providers: number;
  /** How many requests to providers are under way. */
  open_requests: number;
  /** How the worker last ended without being told to; absent if it never did. */
  last_error?: string;
}

/** The sizes on disk, in bytes. */
export interface StoreSizes {
  /** The age of these numbers, in milliseconds. */
  age_ms: number;
  /** `harbor.db` with its write-ahead log. */
  database: number;
  /** The audit log, with its older files. */
  audit: number;
  /** The logs of the servers. */
  server_logs: number;
}

/** An entry of the catalog: a server that can be installed or connected. */
export interface CatalogEntry {
  /** Its id in the catalog: 16 hex digits. */
  id: string;
  /** The source of the entry: `registry`, `awesome`, or `curated` by Harbor. */
  source: string;
  /** Its name in that source. */
  name: string;
  /** A name for people. */
  title?: string;
  /** Its own description of itself, cut at 500 characters. */
  description: string;
  /** Its newest version. */
  version?: string;
  /** `active`, `deprecated` or `deleted`, as its author says. */
  status: string;
  /** The ways to get it: `npm`, `pypi`, `oci`, …; `remote` for a remote server. */
  kinds: Array<string>;
  /** True if Harbor's authors chose it. */
  featured: boolean;
  /** Stars of its repository; absent when not known. */
  stars?: number;
  /** Downloads of its package; absent when not known. */
  downloads?: number;
  /** When it last changed, in milliseconds since 1970, as its source says. */
  updated_at?: number;
  /** When its source dropped it, in milliseconds since 1970; absent while the source has it. */
  removed_at?: number;
}

/** Everything that Harbor knows of an entry. */
export interface CatalogDetails {
  /** The entry; its description is not cut here. */
  entry: CatalogEntry;
  /** Its packages, as in the registry's server.json. */
  packages: Json;
  /** The addresses where it runs for everybody, as in the registry's server.json. */
  remotes: Json;
  /** The address of its repository. */
  repository?: string;
  /** The address of its web page. */
  website?: string;
  /** Words that describe it. */
  tags: Json;
  /** When it was first published, in milliseconds since 1970, as its source says. */
  published_at?: number;
  /** When Harbor first saw it, in milliseconds since 1970. */
  first_seen_at: number;
  /** When its source last listed it, in milliseconds since 1970. */
  last_seen_at: number;
  /** When the last commit of its repository was made, in milliseconds since 1970. */
  last_commit_at?: number;
  /** Its rank in lists: a higher number comes first. */
  priority: number;
}

/** A source of the catalog. */
export interface CatalogSource {
  /** `registry`, `awesome` or `curated`. */
  id: string;
  /** Its address; empty for the entries that are part of Harbor. */
  url: string;
  /** True if the last attempt succeeded; false before the first attempt. */
  ok: boolean;
  /** How many entries it has, without removed ones. */
  entries: number;
  /** Why the last attempt failed; absent if it did not. */
  error?: string;
  /** When the last attempt was made, in milliseconds since 1970. */
  last_attempt?: number;
  /** When an attempt last succeeded, in milliseconds since 1970. */
  last_success?: number;
  /** After failures: the time before which Harbor does not try again, in milliseconds since 1970. */
  not_before?: number;
}

/** The changes that a refresh made. */
export interface CatalogChanges {
  /** How many entries are new. */
  added: number;
  /** How many entries changed in their source. */
  updated: number;
  /** How many entries their source dropped. */
  removed: number;
  /** How many dropped entries came back. */
  restored: number;
}

/** A server's package in one version. */
export interface Installed {
  /** The server's id. */
  server_id: string;
  /** `npm`, `pypi`, `git`, `binary`, `oci` or `remote`. */
  kind: string;
  /** The package's name. For `git` and `binary` the address, for `oci` the image, for `remote` the URL without its query. */
  name: string;
  /** The `source` with which `install_server` installs exactly this version. */
  source: string;
  /** The version: for `git` the commit, for `binary` the SHA-256. Absent while none is locked. */
  version?: string;
  /** Why the locked version is no longer known; absent when it is. The server does not start until `upgrade_server` chooses a version. */
  lost?: string;
  /** The hash of the package, as its registry gives it. */
  integrity?: string;
  /** How many packages are installed in all. Each is locked with its version and hash. */
  packages?: number;
  /** When it was installed, in milliseconds since 1970. Absent while it is not: the server's first start installs the locked versions. */
  installed_at?: number;
  /** The version that `undo_upgrade` goes back to; absent when there is none. */
  previous?: string;
  /** After an installation: the names of the tools that the server listed. */
  tools?: Array<string>;
  /** The secrets that are still missing. The server does not start until they are set. */
  missing?: Array<string>;
  /** After an installation with `without_network`: true if the server also started and listed tools without a network. */
  runs_without_network?: boolean;
  /** After an installation: true if the server wants the person to let Harbor in first (`oauth_start`). Its tools are not known yet. */
  needs_authorization?: boolean;
  /** In a plan: the sandbox that the server would get; absent for a remote server. */
  sandbox?: SandboxSummary;
  /** In a plan: the directory with files of an earlier server with this id, which this one would get as its home; absent when there are none. */
  old_data?: string;
  /** In a plan: the settings of the sandbox. */
  settings?: SandboxSettings;
  /** In a plan: the program that would be started, with its arguments and variables. */
  runs?: Runs;
  /** In a plan: the value for `planned`, which holds while the client is connected. */
  planned?: string;
  /** In a plan: true if code of the package must run to find its dependencies (`build`). */
  needs_build?: boolean;
  /** In a plan: the newest version of the package, if only an older one fits this machine. */
  newest?: string;
  /** The Python (for an npm package, the Node.js) that it runs with, if not the usual one. In a plan it may have no version: then it is what `newest` requires and this machine lacks. */
  python?: Python;
  /** In a plan: the registry that the person's own settings name in place of the public one, and the file that names it. */
  registry?: string;
  /** The downloaded file, for `binary`. */
  file?: File;
  /** The server as `list_servers` shows it; absent in a plan. */
  server?: Server;
}

/** What a server is started with. For a remote server: what each request carries. */
export interface Runs {
  /** The program, if it is known before the installation. Absent for an image and for a remote server. */
  program?: string;
  /** Its arguments, with all values filled in. */
  args: Array<string>;
  /** Its environment variables. */
  env: Array<Named>;
  /** The headers of each request to a remote server. `${KEY}` stands for a secret. */
  headers: Array<Named>;
  /** Names of the secrets without which the server does not start. */
  secrets: Array<string>;
}

/** A variable or a header. */
export interface Named {
  /** Its name. */
  name: string;
  /** The value that an entry or a manifest gives it; absent if the value comes from the request itself. */
  value?: string;
}

/** A Python, or a Node.js, that a package requires. */
export interface Python {
  /** The requirement, as the package states it: `>=3.12`; for Node.js such as `>=22`. */
  requires: string;
  /** The version that was found; absent when none was. */
  version?: string;
  /** Its path; absent when none was found. */
  path?: string;
}

/** A downloaded program, or a downloaded archive with one. */
export interface File {
  /** Its size, in bytes. */
  size: number;
  /** The file in it that is the program. */
  program: string;
  /** What proves that it is the right file: `checksum` (for one version), `signature` (for each version). Empty: only its address does. */
  vouched_by: Array<string>;
  /** The minisign public key that must have signed each version. */
  key?: string;
  /** True if a signature lies beside the file and was not checked, since no key was given. */
  unread_signature?: boolean;
}

/** A server that can be installed, as `resolve_server` describes it. */
export interface Resolved {
  /** The `source` with which `install_server` installs it. */
  source: string;
  /** The id that the server gets unless the request names another. */
  server_id?: string;
  /** A name for people. */
  title?: string;
  /** Its own description of itself. */
  description?: string;
  /** The address of its code. */
  repository?: string;
  /** Where the information comes from: `curated`, `registry`, `awesome`, `repository`, `manifest`, or `person`. */
  from: string;
  /** For a repository or a manifest: the file that says how to install it. */
  found_in?: string;
  /** For a repository: the commit that was read. */
  commit?: string;
  /** Further remarks, a sentence each. */
  notes: Array<string>;
  /** The ways to install it; `package` of `install_server` counts them from 0. */
  ways: Array<Way>;
  /** The index in `ways` that the fields below are about; absent when no way works here. */
  way?: number;
  /** The inputs to fill in. */
  inputs: Array<Declared>;
  /** Its environment variables. */
  variables: Array<Declared>;
  /** Its secrets. */
  secrets: Array<Declared>;
  /** Ids of the servers here that have the same source. */
  installed: Array<string>;
  /** For a repository or a manifest: the value for `planned` of `install_server`, which holds while the client is connected. */
  planned?: string;
}

/** One way to install a server. */
export interface Way {
  /** The package that this way installs. */
  source: string;
  /** Why this way does not work here; absent when it does. */
  why_not?: string;
}

/** An input, variable or secret that a server asks for. */
export interface Declared {
  /** Its name. */
  name: string;
  /** Its description. */
  description: string;
  /** True if a value must be given: it is needed and has no default. */
  required: boolean;
  /** True if it may have several values. */
  many: boolean;
  /** True if its value is a path on this machine. */
  path: boolean;
  /** Its default value; absent when it has none. */
  default?: string;
  /** The allowed values; empty: any value. */
  choices: Array<string>;
  /** The type of the value: `path`, `url`, `number` or `boolean`; absent: any text. */
  value_type?: string;
  /** A regular expression that the value of a secret must match. */
  pattern?: string;
  /** An example of a value. */
  placeholder?: string;
  /** The address where a person gets such a value. */
  help_url?: string;
  /** For a secret of a remote server: the header that carries it. */
  header?: string;
}

/** An upgrade, planned or done. */
export interface Upgrade {
  /** The kind of its package: `npm`, `pypi`, `git` or `binary`. */
  kind: string;
  /** The version in use, or the one that was in use until this upgrade. */
  before: string;
  /** The new version; empty if it is not known before a build. */
  after: string;
  /** The hash of the new version; empty if it is not known before a build. */
  integrity: string;
  /** The newest version of the package, if only an older one fits this machine. */
  newest?: string;
  /** The Python (for an npm package, the Node.js) that the new version would run with, if not the usual one. It may have no version: then it is what `newest` requires and this machine lacks. */
  python?: Python;
  /** The downloaded file, for `binary`. */
  file?: File;
  /** Names of new tools. */
  added: Array<string>;
  /** Names of tools that are gone. */
  removed: Array<string>;
  /** Tools that have changed. Origins may not use them until the person accepts them. */
  changed: Array<ToolDifference>;
  /** The value for `planned`, if the version was not tried or did not start. It holds while the client is connected. */
  planned?: string;
  /** True if code of the package must run to find its dependencies (`build`). */
  needs_build?: boolean;
  /** Why the trial start failed or listed no tools. It has nothing of the person's; `with_all` starts it with everything. */
  failed?: string;
  /** The value for `apply`; absent when the version is in use already, or nothing would change. */
  apply?: string;
  /** True if the new version is in use. */
  applied: boolean;
  /** For an applied upgrade: the version that `undo_upgrade` goes back to; absent if the earlier one was never installed. */
  previous?: string;
}

/** A tool before and after an upgrade. */
export interface ToolDifference {
  /** Its name. */
  tool_name: string;
  /** The tool as it was. */
  before: Json;
  /** The tool as it is now. */
  after: Json;
}

/** The programs that servers and installers need. */
export interface Runtimes {
  /** The programs, found or not. */
  programs: Array<Runtime>;
  /** The kinds of packages that can be installed here. */
  can_install: Array<string>;
  /** The directories that were searched, in this order. */
  looked_in: Array<LookedIn>;
}

/** A program that was searched for. */
export interface Runtime {
  /** `node`, `npm`, `npx`, `uv`, `python`, `docker`, `podman` or `git`. */
  name: string;
  /** Its path; absent when it was not found. */
  path?: string;
  /** How it was found: `PATH`, `the login shell`, `nvm`, `a usual prefix` or another way. */
  found_by?: string;
  /** The version that it reports. */
  version?: string;
  /** What needs it. */
  needed_for: string;
  /** How to get it; absent when it was found. */
  install_hint?: string;
}

/** A directory that was searched. */
export interface LookedIn {
  /** The directory. */
  dir: string;
  /** How the directory was found. */
  found_by: string;
}

/** A provider: a service that runs models, or a program on this machine. */
export interface Provider {
  /** Its id: the part before `:` in the ids of its models. */
  id: string;
  /** The kind of provider: `ollama`, `openai`, `anthropic`, `llamafile`, `llama-server`, `lmstudio`, `vllm`, `openrouter`, `mistral`, `groq`, `deepseek`, `lemonade`, `gemini` or `openai-compatible`. */
  type: string;
  /** A name for people. */
  name: string;
  /** Its address. */
  base_url: string;
  /** The format of its requests and answers: `chat`, `anthropic`, `ollama`, `responses` or `gemini`. */
  dialect: string;
  /** True if the person allows its use. */
  enabled: boolean;
  /** True if it can be used, as far as Harbor knows: it is enabled, has the key that it needs, and answered when it was last asked. A provider that was never asked counts as one that answers. */
  available: boolean;
  /** True if it runs on this machine. Some of its models may still run elsewhere. */
  is_local: boolean;
  /** True if requests that name no provider go to it. */
  is_default: boolean;
  /** True if requests that name only its type go to it. */
  is_type_default: boolean;
  /** True if it answers nobody without a key. */
  needs_api_key: boolean;
  /** True if Harbor has a key for it. */
  has_api_key: boolean;
  /** False if it was found on this machine and nobody has added it. Harbor sends nothing to it except to detect it. */
  is_added: boolean;
  /** Why it refused or did not answer when it was last asked, in its own words; absent when it answered. */
  problem?: string;
  /** For `llm_detect` and `llm_add_provider`: the user of this machine whose program answers there, if that is another person. That user could read every request. Otherwise absent. */
  other_user?: string;
}

/** A type of provider that can be added. */
export interface ProviderType {
  /** As in `Provider`. */
  type: string;
  /** A name for people. */
  name: string;
  /** Its usual address; absent when the person must give one. */
  base_url?: string;
  /** As in `Provider`. */
  dialect: string;
  /** As in `Provider`. */
  needs_api_key: boolean;
}

/** A key in the bridge's environment. Harbor never uses it by itself. */
export interface EnvironmentKey {
  /** The type of provider that the key is for. */
  type: string;
  /** The variable's name. */
  variable: string;
}

/** A model. */
export interface Model {
  /** Its id: `provider:model`. */
  id: string;
  /** The provider's id. */
  provider: string;
  /** Its name at the provider. */
  model: string;
  /** The window in tokens by which Harbor shortens conversations; absent when not known. Harbor then assumes 32,768. */
  context_window?: number;
  /** The most tokens of an answer; absent when not known. */
  max_output?: number;
  /** True if it can call tools; absent when the provider does not say. */
  tools?: boolean;
  /** True if it sees images; absent when the provider does not say. */
  vision?: boolean;
  /** True if it thinks before it answers; absent when the provider does not say. */
  reasoning?: boolean;
  /** True if it runs on this machine. */
  is_local: boolean;
  /** Where `context_window` comes from: `stated` by the person; `learned` from a refusal; `provider`: its provider says so; `memory`: this machine has no memory for more; `loaded`: its program has loaded it with that. */
  window_from?: string;
  /** For Ollama: the window with which the model is loaded now; absent when it is not. */
  loaded_window?: number;
  /** For Ollama: the window that Harbor asked for with the last request; absent before the first one. */
  sent_window?: number;
  /** `loaded`, `unloaded` (it is loaded when it is asked), `loading` or `failed`; absent when the provider does not say. */
  state?: string;
  /** Why it could not be loaded the last time; absent when it could. */
  problem?: string;
  /** The price of a million tokens that are sent, in millionths of a dollar; absent when not known, and for models on this machine. */
  input_price?: number;
  /** The price of a million tokens that come, in millionths of a dollar; absent as `input_price` is. */
  output_price?: number;
}

/** A model that the person has given a name. */
export interface ConfiguredModel {
  /** The name. It stands for the model wherever one is named. */
  name: string;
  /** The model, as `provider:model`. */
  model_id: string;
  /** True if requests that name no model go to it. */
  is_default: boolean;
}

/** The model for a use. */
export interface ModelForUse {
  /** `chat`, `fast`, `vision` or `transcription`. */
  use: string;
  /** The model, as `provider:model`. */
  model_id: string;
}

/** A model as an origin sees it: without the place where it runs. */
export interface UsableModel {
  /** Its id: `provider:model`. */
  id: string;
  /** The provider's id. */
  provider: string;
  /** Its name at the provider. */
  model: string;
  /** As in `Model`. */
  context_window?: number;
  /** As in `Model`. */
  max_output?: number;
  /** As in `Model`. */
  tools?: boolean;
  /** As in `Model`. */
  vision?: boolean;
  /** As in `Model`. */
  reasoning?: boolean;
}

/** A message of a conversation with a model. */
export interface ChatMessage {
  /** `system`, `user`, `assistant`, or `tool`: the result of a call. */
  role: string;
  /** The content: a text, or an array of `ChatPart` in order. Send back a model's answer exactly as it came. */
  content?: Json;
  /** For `assistant`: the tools that it calls. */
  toolCalls?: Array<ChatToolCall>;
  /** For `tool`: the id of the call that it answers. */
  toolCallId?: string;
  /** For `tool`: true if the call failed; the content says why. */
  isError?: boolean;
}

/** A part of a message. */
export interface ChatPart {
  /** `text`; `image`; `reasoning`: the model's thoughts; `opaque`: data that only its provider understands; `tool_call`: the place of the call `callId` of `toolCalls`. Calls without such a place come at the end. In a session of the person's also `page`: what stands on a web page that the person attached. */
  type: string;
  /** For `text`, `reasoning` and `page`: the text; of an attachment at most 1,000,000 bytes. */
  text?: string;
  /** For `tool_call`: the id of the call. */
  callId?: string;
  /** For `image`: `image/png`, `image/jpeg`, `image/gif` or `image/webp`. */
  mediaType?: string;
  /** For `image`: its bytes in Base64, at most 5 MB, and at most 8 images in a request. An address is refused: nobody fetches it. */
  data?: string;
  /** For `opaque`: the id of the provider that made it. Harbor sends it back to that provider and model only. */
  provider?: string;
  /** For `opaque`: the name of the model that made it. */
  model?: string;
  /** For `opaque`: the data as the provider wrote it. */
  value?: Json;
  /** For `page`: its address, `http` or `https`, at most 8192 bytes. */
  url?: string;
  /** For `page`: its title. For `text` among the attachments of `chat_send_message`: the name of the file. At most 1000 bytes. In the messages of a session a text that has this field was attached, also where it is empty; one without it was typed. */
  title?: string;
}

/** A call that a model wants. */
export interface ChatToolCall {
  /** The call's id; made by Harbor if the provider gives none. */
  id: string;
  /** The tool's name. */
  name: string;
  /** Its arguments, an object. If the model wrote anything else: that text, as a string. */
  arguments: Json;
}

/** A tool that a model may call. */
export interface ChatTool {
  /** Its name. If the provider would refuse the name (over 64 characters, or other characters than it takes), Harbor sends another one and gives this one back. */
  name: string;
  /** Its description. */
  description?: string;
  /** JSON Schema of its arguments. */
  inputSchema?: Json;
}

/** The tokens that a chat has used. */
export interface ChatUsage {
  /** Tokens that were sent, with those from a cache. */
  input_tokens: number;
  /** Tokens that came, with those of thoughts. */
  output_tokens: number;
  /** The part of `input_tokens` that the provider had in its cache. */
  cached_tokens: number;
  /** The part of `output_tokens` that were thoughts. */
  reasoning_tokens: number;
  /** `exact`: the provider counted them; `estimated`: from the length of the text; `unknown`. */
  exactness: string;
  /** The price of these tokens, in millionths of a dollar: 0 for a model on this machine; absent when not known. */
  cost_microdollars?: number;
}

/** The answer of a model. */
export interface ChatResponse {
  /** The message, with the role `assistant`. Add it to the conversation's messages to continue. */
  message: ChatMessage;
  /** The tokens that the request has used. */
  usage: ChatUsage;
  /** Why the answer ended: `stop`, `tool_calls`, `length` (it was cut off) or `error` (the provider kept the answer back). */
  finishReason: string;
  /** The provider's own word for that; absent when it gives none. */
  raw_finish?: string;
  /** The parts of the request that were left out for this model; absent when none were. */
  details?: AnswerDetails;
}

/** The parts of a request that were left out, since the model or its provider refuses them. Harbor remembers settings. */
export interface AnswerDetails {
  /** Settings: `temperature`, `top_p`, `stop`, `reasoning_effort` or `max_tokens`. */
  left_out: Array<string>;
  /** Tools that the model was not told of. */
  tools_left_out: Array<string>;
}

/** A piece of an answer. */
export interface ChatEvent {
  /** `loading` (the provider loads the model before it answers), `waiting` (the provider is asked once more after a pause), `start`, `text`, `reasoning`, `tool_call_start`, `tool_call_arguments`, `tool_call_end`, `usage`, `end` or `error`. */
  type: string;
  /** In `text` and `reasoning`: the next piece. In `error`: the cause, as in `ERR_MODEL_FAILED`. In `end`: the same as `finishReason`. */
  text?: string;
  /** The call, in events about a call. */
  call_id?: string;
  /** In `tool_call_start`: the tool's name. */
  name?: string;
  /** In `tool_call_arguments`: the next piece of the arguments. In `tool_call_end`: all of them; absent where they are longer than the client's frames. */
  arguments?: string;
  /** In `usage`: the tokens so far. */
  usage?: ChatUsage;
  /** In `waiting`: the pause, in milliseconds. */
  retry_after_ms?: number;
}

/** The tokens that requests to models have used. */
export interface ModelUsage {
  /** The provider's id; absent if the rows are not grouped by it. */
  provider?: string;
  /** The model's name at the provider; absent if the rows are not grouped by it. */
  model?: string;
  /** The principal that asked, `owner`, an origin or `server:NAME`; absent if the rows are not grouped by it. */
  principal?: string;
  /** The day, `YYYY-MM-DD` in UTC; absent if the rows are not grouped by it. */
  day?: string;
  /** The number of requests. */
  requests: number;
  /** As in `ChatUsage`. */
  input_tokens: number;
  /** As in `ChatUsage`. */
  output_tokens: number;
  /** As in `ChatUsage`. */
  cached_tokens: number;
  /** As in `ChatUsage`. */
  reasoning_tokens: number;
  /** As in `ChatUsage`, for the least exact of the requests. */
  exactness: string;
  /** The price of the requests whose price is known, in millionths of a dollar. */
  cost_microdollars: number;
  /** The number of requests whose price is not known. */
  unpriced_requests: number;
}

/** A budget: how many tokens a principal may use. */
export interface Budget {
  /** An origin, `server:NAME`, `owner`, or `*` for all principals together. */
  principal: string;
  /** Tokens per day in UTC; absent: no limit. */
  tokens_per_day?: number;
  /** True if the person has set it; false if it is the default for an origin. */
  is_set: boolean;
  /** Tokens that were used today. */
  used: number;
  /** Tokens that are reserved for requests under way. */
  reserved: number;
}

/** The engines, and the files of models. */
export interface SetupStatus {
  /** True if an engine runs. */
  available: boolean;
  /** The type of the first engine that runs: `llamafile` or `llama-server`. */
  runningProvider?: string;
  /** Its address. */
  runningUrl?: string;
  /** The model that it runs: `provider:model`. */
  activeModel?: string;
  /** The names of the fetched models. */
  downloadedModels: Array<string>;
  /** The files of the fetched models. */
  files: Array<ModelFile>;
  /** The engines that were started once. */
  engines: Array<Engine>;
  /** The memory that engines may take on this machine, in bytes. */
  memory_bytes?: number;
}

/** The file of a fetched model. */
export interface ModelFile {
  /** Its name: `modelId` of other requests. */
  modelId: string;
  /** Its size. */
  bytes: number;
  /** Roughly the memory that it takes with a conversation of 8,192 tokens, in bytes. */
  memory_bytes: number;
}

/** An engine. */
export interface Engine {
  /** The id of its provider. */
  provider: string;
  /** The file that it runs. */
  file: string;
  /** Where it is in its life, as `state` of a server. */
  state: string;
  /** Its address, once it was started. */
  url?: string;
  /** Its process id, while it runs. */
  pid?: number;
  /** Why it ended without being told to; absent otherwise. */
  last_error?: string;
}

/** A conversation that the bridge holds. */
export interface ChatSession {
  /** Its id. */
  id: string;
  /** A name for people. */
  name: string;
  /** The servers whose tools the session may use; absent: all servers. */
  enabledServers?: Array<string>;
  /** The text that the model gets before everything else; absent when there is none. */
  systemPrompt?: string;
  /** The model, as `provider:model`; absent: the default model. */
  model?: string;
  /** `ask`: tools that only read run; every other call asks the person. `reads`: every other call is refused. `plan`: as `ask`, but the model can propose a plan; what writes within the approved plan runs. `auto`: everything runs, unless data would leave. */
  mode: string;
  /** True if the session is in the bridge's memory only and never written to disk. */
  private: boolean;
  /** True if the model has read text that the person did not type: results, pages, attachments. */
  readUntrusted: boolean;
  /** Names of the private data that the model has read: `files`, `gmail`, `browser:mail.example`. A call that may carry them away asks the person. */
  privateNames: Array<string>;
  /** How many messages the session has. */
  messageCount: number;
  /** When the session began, in milliseconds since 1970. */
  createdAt: number;
  /** When the last message came, in milliseconds since 1970. */
  updatedAt: number;
  /** The turn that is under way; absent when none is. */
  turn_id?: string;
  /** True if the person has pinned it: it stands first in lists. Absent: it is not. */
  pinned?: boolean;
  /** For a branch: the first session of its family, which may be deleted. Absent in that one. */
  branchOf?: string;
  /** For a branch: how many messages it took over. The message with this number is the first of its own. */
  branchAt?: number;
  /** The tokens that its turns have used; absent where none has used any, or where an earlier Harbor wrote the session. */
  usage?: ChatUsage;
}

/** A session of a family: the first one, or a branch of it or of another branch. */
export interface BranchView {
  /** The session. */
  id: string;
  /** As in `ChatSession`. */
  name: string;
  /** As in `ChatSession`; absent in the first session of the family. */
  branchAt?: number;
  /** As in `ChatSession`. */
  updatedAt: number;
}

/** The place in a session where a word of a search stands. */
export interface SessionExcerpt {
  /** The session. */
  session_id: string;
  /** About 120 characters around the word, in one line. */
  text: string;
}

/** A session with its messages, as `chat_export` gives it and the disk has it. */
export interface ChatTranscript {
  /** The session's settings and state. */
  session: ChatSession;
  /** Its messages. */
  messages: Array<ChatMessage>;
}

/** Something that happened in a turn. */
export interface TurnEvent {
  /** `message`, `status`, `text`, `reasoning`, `tool_call`, `approval`, `tool_result`, `usage`, `final` or `error`. `message` comes first: the person's message is in the session now. */
  type: string;
  /** In `text` and `reasoning`: the next piece. In `status` and `error`: a sentence. In `final`: the whole answer. In `tool_result`: the tool's answer, as far as it is shown. In `approval`: why the person is asked. */
  text?: string;
  /** The call, in `tool_call`, `approval` and `tool_result`. */
  call_id?: string;
  /** The tool of that call, as `server/tool`; as the model wrote it if there is no such tool. */
  tool?: string;
  /** The arguments, an object; in `tool_call`. */
  arguments?: Json;
  /** The question, in `approval`. */
  approval?: Approval;
  /** In `approval`: true if the question still waits. A second event with false says that it no longer does. */
  waits?: boolean;
  /** In `tool_result`: true if the call failed. Absent in `error`. */
  is_error?: boolean;
  /** How long the call took, in milliseconds; in `tool_result`. */
  duration_ms?: number;
  /** The tokens that the turn has used so far; in `usage` and `final`. */
  usage?: ChatUsage;
  /** In `final`: why the turn ended, `done`, `stopped`, `rounds`, `calls`, `tokens`, `time` or `repeats`. In `error`: the code. */
  code?: string;
  /** In `message`: the number of the person's message in the `messages` of `chat_get_session`, from 0. */
  message_id?: number;
}

/** The changes to a session. A field that is absent changes nothing. */
export interface SessionUpdates {
  /** The new name. */
  name?: string;
  /** The new text for the model; an empty text removes it. */
  systemPrompt?: string;
  /** The new list of servers. An empty list: none; `*`: all servers. */
  enabledServers?: Array<string>;
  /** The new model, as `provider:model`; an empty text: the default model. */
  model?: string;
  /** The new mode: `ask`, `plan`, `auto` or `reads`. */
  mode?: string;
  /** True: the session is pinned. False: it is not any more. */
  pinned?: boolean;
}

/** A call of a turn, as a reply lists it. */
export interface TurnStep {
  /** The call. */
  call_id: string;
  /** The tool, `server/tool`. */
  tool: string;
  /** True if the call failed or was not made. */
  is_error: boolean;
  /** How long the call took, in milliseconds. */
  duration_ms: number;
}

/** Something that happened in a run (docs/page-api.md, run events). */
export interface RunEvent {
  /** `status`, `token`, `tool_call`, `tool_result`, `final` or `error`. */
  type: string;
  /** The run. */
  runId: string;
  /** A sentence; in `status`. */
  message?: string;
  /** The next piece of the answer; in `token`. */
  token?: string;
  /** The call, in `tool_call` and `tool_result`. */
  callId?: string;
  /** The tool of that call, as `server/tool`. */
  tool?: string;
  /** The arguments, an object; in `tool_call`. */
  args?: Json;
  /** The tool's answer as MCP writes it; in `tool_result`. */
  result?: Json;
  /** Why there is no result; in `tool_result` and `error`. */
  error?: RunError;
  /** The answer, in `final`. */
  output?: string;
  /** The calls that the answer relies on; in `final`. */
  citations?: Array<Citation>;
  /** The tokens that the run has used; in `final`. */
  usage?: ChatUsage;
}

/** Why a run or a call of a run failed. */
export interface RunError {
  /** One of the codes in this document. */
  code: string;
  /** A sentence. */
  message: string;
  /** True if another attempt may succeed. */
  retryable: boolean;
}

/** A session of an origin: its runs know what was said in it, and share its limits. */
export interface SessionSummary {
  /** Its id. */
  sessionId: string;
  /** `explicit`: the origin has begun it. */
  type: string;
  /** The origin that the session belongs to. */
  origin: string;
  /** `active`; `terminated` in the answer that ends it. */
  status: string;
  /** A name for people. */
  name?: string;
  /** When the session began, in milliseconds since 1970. */
  createdAt: number;
  /** When its last run began or ended, in milliseconds since 1970. */
  lastActiveAt: number;
  /** When the session ends by itself, in milliseconds since 1970. */
  expiresAt: number;
  /** What the session may do. */
  capabilities: SessionCapabilities;
  /** The most calls that all its runs may make together; absent: no limit beyond that of each run. */
  maxToolCalls?: number;
  /** What its runs have used. */
  usage: SessionUsage;
}

/** What a session of an origin may do. */
export interface SessionCapabilities {
  /** True if it may ask a model. */
  hasLLM: boolean;
  /** How many tools its runs may use. */
  toolCount: number;
  /** True if it may use a tab. In this version it never may. */
  hasBrowserAccess: boolean;
}

/** What the runs of a session have used. */
export interface SessionUsage {
  /** How many runs have begun. */
  promptCount: number;
  /** How many calls of tools were made. */
  toolCallCount: number;
  /** Tokens that models have read and written, together. */
  tokensUsed: number;
}

/** A call that an answer relies on. */
export interface Citation {
  /** The tool, `server/tool`. */
  source: string;
  /** The call. */
  ref: string;
  /** The passage of the tool's answer. */
  excerpt: string;
}

/** The question whether a call may be made. */
export interface Approval {
  /** The question's id, for `approvals_answer`. */
  id: string;
  /** `waiting`, `answered` or `missed`. Missed: nobody has answered; a later yes lets the same call through when it is made again. */
  state: string;
  /** Who acts: `chat` (the person's model), `run` (a model on a task of an origin), `page` (a page itself), `client` (an AI client itself) or `server` (a server that wants a language model's answer during a call). */
  who: string;
  /** The principal in whose name the call comes: `owner`, an origin, or `client://NAME`; `server:NAME` for `server`. */
  principal: string;
  /** The tab of the page; absent when no page asks. */
  tab_id?: number;
  /** True if the question is about a request of the connection that gets this message; absent otherwise. */
  own?: boolean;
  /** The session, for `chat`, and for `server` where the call is one of a session. */
  session_id?: string;
  /** The call's id in its turn. */
  call_id?: string;
  /** The tool, `server/tool`; `update_plan` for a plan of the person's model. */
  tool: string;
  /** The call's effect, as far as Harbor knows it: `reads`, `writes` or `destroys`. */
  effect: string;
  /** Why the person is asked: `writes`, `untrusted` (it writes after the model has read untrusted text), `destroys`, `leaves`, `files` (files of the person's would be handed over), `first_use`, `sampling`, `reading` (it would go to a language model) or `plan`. With `plan`, the arguments are the sites, servers and kinds of action that a model wants for its turn. */
  reason: string;
  /** The reason as a sentence. */
  why: string;
  /** For `leaves`: the names of the private data that would leave (`files`, `gmail`, `browser:mail.example`). For `files`: each file, with its size and whom it would reach. */
  private: Array<string>;
  /** The arguments, one key at a time, perhaps cut. `approvals_list` with the question's id gives them whole. */
  fields: Array<ApprovalField>;
  /** The possible answers, the mildest first: `once`, `chat_tool`, `chat_server`, `flow`, `ten_minutes`, `always`; `no`, `never`. */
  answers: Array<string>;
  /** When the question was asked, in milliseconds since 1970. */
  since: number;
  /** When the question ends by itself, in milliseconds since 1970. */
  until: number;
}

/** One argument of a call, as a question shows it. Hidden characters in it are written out as `\u{…}`. */
export interface ApprovalField {
  /** Its key. The keys of nested objects are joined by dots. */
  key: string;
  /** Its value, perhaps cut. */
  text: string;
  /** The value's length in bytes, if the value was cut; otherwise absent. */
  bytes?: number;
}

/** A standing answer: it covers calls without a question until it is taken back or ends. */
export interface StandingAnswer {
  /** The answer's id, for `approvals_revoke`. */
  id: string;
  /** `once` (a call that was missed), `chat_tool`, `chat_server`, `flow`, `pair`, `ten_minutes`, `always` or `plan` (what writes within a plan, until the turn ends). */
  covers: string;
  /** The principal whose calls it covers: `owner`, an origin, `client://NAME` or `server:NAME`. */
  principal: string;
  /** The session, if the answer covers one session only. */
  session_id?: string;
  /** The tool as `server/tool`, or the source; for a plan, all that it names. */
  what: string;
  /** For `flow` and `pair`: the private data that may leave. */
  private: Array<string>;
  /** When the answer was given, in milliseconds since 1970. */
  since: number;
  /** When it ends, in milliseconds since 1970; absent when it does not end by itself. */
  until?: number;
}

/** A tool source that is no server. */
export interface Source {
  /** Its id. */
  source_id: string;
  /** `browser`, `page` or `runtime`. */
  kind: string;
  /** Its name for people. */
  label: string;
  /** `running`, while its connection lasts. */
  state: string;
  /** How many tools it has. */
  tool_count: number;
}

/** The tabs that a caller works in. */
export interface SourceSession {
  /** The name of their tab group. */
  label: string;
  /** The colour of their tab group, as browsers name it. */
  colour: string;
  /** All tabs of the session, as the bridge decided. No call acts on another tab. */
  tabs: Array<number>;
  /** The tab that the call is about; absent when there is none yet. */
  tab_id?: number;
}

/** Why a source has no result. */
export interface SourceError {
  /** A word for programs, such as `tab_gone`, `timeout`, `denied`. */
  code: string;
  /** A sentence. */
  message: string;
}

/** A download that began in a session's tab. */
export interface BrowserDownload {
  /** The browser's number of it. */
  id: number;
  /** Its address. */
  url: string;
  /** The path of the file that the browser saves. */
  path: string;
  /** The file's kind, such as `text/csv`. */
  mime: string;
  /** How many bytes have come. */
  bytes: number;
  /** How many bytes there will be; absent while nobody knows. */
  total?: number;
  /** `in_progress`, `complete` or `interrupted`. */
  state: string;
  /** Why it was interrupted, in the browser's word. */
  error?: string;
  /** True if nothing but this session can have begun it. */
  own: boolean;
}

/** What went wrong, in a word. */
export type Code =
  /** The frame is no JSON object, or lacks `type` or `request_id`. */
  | "invalid_message"
  /** Harbor has no message of this type; `details.received_type` repeats it. */
  | "unknown_message_type"
  /** A field is missing or wrong; `details.field` and `details.expected` say which and what. */
  | "invalid_params"
  /** A frame is over the limit: that of the bridge for requests, that of the client for answers. */
  | "message_too_large"
  /** Another request with this id is still open; `details.request_id` repeats the id. That request goes on. */
  | "duplicate_request_id"
  /** The request was cancelled by its own client. */
  | "cancelled"
  /** There is no server, or no run, with this id. */
  | "not_found"
  /** The server is not connected, and the request does not start it. */
  | "not_connected"
  /** The server could not be started or contacted; `details.cause` says why. */
  | "connection_failed"
  /** The first frame did not prove who is calling. */
  | "unauthorized"
  /** The versions of client and bridge do not fit each other. */
  | "version_mismatch"
  /** The bridge cannot be reached or started. Harbor's own programs say this, not the bridge. */
  | "bridge_unreachable"
  /** The bridge is shutting down. */
  | "shutting_down"
  /** The caller may not send this message, or the person has denied the origin what it asked for. */
  | "ERR_PERMISSION_DENIED"
  /** The server is not running, or ended during the call. `details.cause` says why. `sent` says whether the call had reached it (it is never sent again), and `next_retry` when the server is tried again. */
  | "ERR_SERVER_UNAVAILABLE"
  /** The server did not answer in time; it was told to stop working on the call. */
  | "ERR_TOOL_TIMEOUT"
  /** The server answered with a JSON-RPC error, repeated in `details`, or cannot do what was asked. */
  | "ERR_TOOL_FAILED"
  /** The server's answer breaks the protocol. */
  | "ERR_PROTOCOL_ERROR"
  /** Too many requests are open, or came within a minute. `details.retry_after_ms` says when to try again, if that is known. */
  | "ERR_RATE_LIMITED"
  /** The person has not allowed the origin this scope (`details.scope`), or no longer does. */
  | "ERR_SCOPE_REQUIRED"
  /** The server has no tool of that name. */
  | "ERR_TOOL_NOT_FOUND"
  /** The tool is not among those that the person has allowed the origin (`details.reason` is `allowlist`). Or it has changed since the person saw it (`tool_changed`). Or its server now runs another program (`server_changed`). */
  | "ERR_TOOL_NOT_ALLOWED"
  /** The run has made all its calls. Or the tokens of the day are used up: `details.retry_after_ms` says when there are more. */
  | "ERR_BUDGET_EXCEEDED"
  /** The server needs the person to let Harbor in, or to let it do more there: `harbor auth NAME`. */
  | "ERR_AUTHORIZATION_REQUIRED"
  /** The person was asked to let Harbor in, without success; `details.cause` says why. */
  | "ERR_AUTHORIZATION_FAILED"
  /** A model did not answer, or not completely. `details.cause` is one of these words: `no_model`, `unauthorized`, `quota`, `rate_limited`, `overloaded`, `context_full`, `refused`, `not_found`, `unreachable`, `timeout`, `cut`, `protocol`, `worker_lost` or `empty` (the model has ended its answer without a text or a call). `details` also has `provider`, `model`, the HTTP `status`, `retry_after_ms`, and for `context_full` the model's `context_window` and the `input_tokens` that the provider has counted, as far as they are known. */
  | "ERR_MODEL_FAILED"
  /** This part of the page API is switched off (`[pages]` in config.toml); `details.feature` names it. */
  | "ERR_FEATURE_DISABLED"
  /** The catalog cannot be read or refreshed. `details.cause` is one of these words: `worker_off`, `disabled`, `worker_failed`, `missing`, `newer`, `corrupt`, `unreadable` or `nothing_to_do`. */
  | "catalog_unavailable"
  /** The secrets are encrypted and their key is not available. Send `unlock_secrets`, or do what the message says. */
  | "secrets_locked"
  /** Harbor itself failed; the log says more. */
  | "ERR_INTERNAL";
