// The client protocol as types, message by message; `harbor docs protocol` says what they mean.
//
// Generated from the types in `ipc-proto`; `HARBOR_BLESS=1 cargo test -p harbor-ipc-proto` rewrites it. Must never be edited.

/** JSON as its author wrote it: nothing is known of it. */
export type Json = unknown;

/** The version of this protocol. */
export const PROTOCOL = 1;

/** What a client sends, by `type`. */
export interface Requests {
  /** The first frame of a Harbor program on the local socket: proves by the token of `run/token` that it may speak to the bridge, and states its role, once. Not sent on `serve --stdio`. */
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
  };
  /** Says who the client is and what it can take. Optional on a native-messaging port; without it frames are limited to 1 MiB and larger answers are errors. */
  hello: {
    /** The client protocol that the client speaks. */
    protocol?: number;
    /** A name for logs. */
    client?: string;
    /** Whether answers over `max_frame` may come as `chunk` pushes. */
    chunks?: boolean;
    /** The largest frame that the client takes, in bytes; at least 4096. */
    max_frame?: number;
    /** Of an extension: a random id of the browser's session. Of an AI client: the id of an earlier session of its own in a browser (`browser_session` with `info`), to go on with. */
    browser_session?: string;
  };
  /** Asks whether the bridge is alive. */
  ping: {
    /** Text to send back. */
    echo?: string;
  };
  /** Ends an open request of this client. It is answered with the code `cancelled`, and the server is told. */
  cancel: {
    /** The id of the request to end. */
    target: string;
  };
  /** Ends the bridge: servers are stopped, open requests answered. */
  shutdown: Record<never, never>;
  /** Defines a server, or replaces the definition with this id (a running server is stopped first). */
  add_server: {
    /** The server's id. */
    server_id: string;
    /** The program to run: an absolute path, or a name to look up in PATH. Exactly one of `command` and `image`. */
    command?: string;
    /** The container image to run instead: `registry.example/name:tag`. */
    image?: string;
    /** Which container engine runs the image, `podman` or `docker`; the first of them that is there when absent. */
    engine?: string;
    /** Its arguments. */
    args?: string[];
    /** Environment variables of its own. */
    env?: { [name: string]: string };
    /** The directory to run in; the server's own data directory when absent. */
    cwd?: string;
    /** A name for people. */
    label?: string;
    /** File URIs that the server may ask for as its roots; it gets none when absent. */
    roots?: string[];
    /** How it is supervised: the object `supervision` below. */
    supervision?: { [name: string]: Json };
    /** Runs the command as it is. Otherwise `npx …` and `uvx …` are recognised: the package is installed first, and then run without them. */
    as_is?: boolean;
    /** What it may do on this machine: the object `sandbox` below. */
    sandbox?: { [name: string]: Json };
    /** Names of secrets without which it is not started: `set_credential` gives them their values. */
    secrets?: string[];
    /** Whether it gets the files that an earlier server with this id has left, or that another program of this id has, as its home. Otherwise they are set aside. */
    keep_data?: boolean;
    /** Names of environment variables that keep the value which the definition with this id has. */
    keep_env?: string[];
  };
  /** Defines a server that runs elsewhere, or replaces the definition with this id. */
  add_remote_server: {
    /** The server's id. */
    server_id: string;
    /** Where it is: `https://…`, or `http://…` on this machine; without a name and password in it. */
    url: string;
    /** `http` (Streamable HTTP), `sse` (HTTP+SSE, as of 2024-11-05), or `auto`: the one, else the other. `auto` when absent. */
    transport_type?: string;
    /** Headers that go with each request. `${KEY}` in a value is filled at each start by the variable of this name. */
    headers?: { [name: string]: string };
    /** Variables for the headers; no process ever has them. */
    env?: { [name: string]: string };
    /** A name for people. */
    label?: string;
    /** File URIs that the server may ask for as its roots; it gets none when absent. */
    roots?: string[];
    /** How it is supervised: the object `supervision` below. */
    supervision?: { [name: string]: Json };
    /** Whether it, and what it names to authorize, may be at a private address. At this machine's own (127.0.0.1, localhost) it may without, and what it names there, too. */
    allow_private?: boolean;
    /** Whether it may be spoken to without TLS although it is not on this machine. */
    allow_http?: boolean;
    /** Names of variables that keep the value which the definition with this id has. */
    keep_env?: string[];
    /** Names of headers that do. */
    keep_headers?: string[];
    /** Whether `url` is only what is shown of the URL of the definition with this id, which stays. */
    keep_url?: boolean;
  };
  /** Gives the definition of a server, to be changed and defined anew. */
  get_definition: {
    /** The server's id. */
    server_id: string;
  };
  /** Compares values with those that a server has, in its definition and as secrets: nobody is shown any. */
  compare_server: {
    /** The server's id. */
    server_id: string;
    /** Where it is, if that is elsewhere. */
    url?: string;
    /** Its arguments. */
    args?: string[];
    /** All of its environment variables. */
    env?: { [name: string]: string };
    /** All of its headers. */
    headers?: { [name: string]: string };
  };
  /** Says what a server may do on this machine, as the next start has it. */
  get_sandbox: {
    /** The server's id. */
    server_id: string;
  };
  /** Changes what a server may do on this machine. A running server is stopped and started again, unless nothing is different then. */
  set_sandbox: {
    /** The server's id. */
    server_id: string;
    /** The settings to change, as in the object `sandbox` below; the others stay. */
    sandbox: { [name: string]: Json };
    /** Settings that go back to their default, by name; done first. */
    reset?: string[];
  };
  /** Changes how a server is supervised, its label, its arguments or its variables. Nothing is restarted: a server that runs goes on, with all that does not belong to its start. */
  set_supervision: {
    /** The server's id. */
    server_id: string;
    /** The settings to change, as in the object `supervision` below; the others stay. */
    supervision?: { [name: string]: Json };
    /** Settings that go back to their default, by name, `label` among them; done first. */
    reset?: string[];
    /** Another name for people. */
    label?: string;
    /** Its arguments from its next start on, behind the package's name if it is one; its program stays the same. */
    args?: string[];
    /** Environment variables that it gets besides, or with other values, from its next start on. */
    env?: { [name: string]: string };
    /** Names of variables that it loses; done first. */
    unset?: string[];
  };
  /** Stops a server and forgets its definition, its secrets, its pinned tools and what grants have of its tools: whatever is added with this id later inherits nothing. Its data directory stays, and is offered to that (`keep_data`). */
  remove_server: {
    /** The server's id. */
    server_id: string;
    /** Whether the data directory is deleted too, also one that an earlier server with this id has left. */
    data?: boolean;
  };
  /** Lists the definitions with the state of each server. */
  list_servers: Record<never, never>;
  /** Says of one server how it is, what is installed for it, and whether its next start could succeed: nothing is started. */
  get_server_status: {
    /** The server's id. */
    server_id: string;
  };
  /** Starts a server and makes contact; does nothing when it is running. One that waits to be restarted is started at once, and its restarts count anew. */
  connect_server: {
    /** The server's id. */
    server_id: string;
    /** Whether `progress` pushes are wanted: a `message` for each thing that happens until it runs. */
    progress?: boolean;
    /** Whether it is stopped first when it runs. Calls wait meanwhile, and a later stop wins. */
    restart?: boolean;
  };
  /** Stops a server. Calls in flight end with `ERR_SERVER_UNAVAILABLE`, and nothing but a `connect_server` starts it again while this bridge runs. */
  disconnect_server: {
    /** The server's id. */
    server_id: string;
  };
  /** Installs a server and defines it: it is started once, lists its tools, and is stopped. Nothing of it is left where that fails, is cancelled, or the client leaves. One that lacks a secret is defined, its versions are locked, and it is not started. A plan runs no code of any package, unless `build`. */
  install_server: {
    /** `npm:NAME[@VERSION]`, `pypi:NAME[==VERSION]`, `git:URL[#BRANCH, TAG OR COMMIT][&subdirectory=DIRECTORY]`, `OWNER/NAME` of GitHub, `binary:URL[#…]` (see docs/install.md), `oci:IMAGE`, the URL of a server that runs elsewhere, or the id of an entry of the catalog or of what Harbor brings along. A repository is followed in what it says of its server, as `resolve_server` shows it. */
    source: string;
    /** A manifest, or a server.json: what is installed is what it says, and `source` what people are told that it is. */
    manifest?: { [name: string]: Json };
    /** Of an entry: which of its ways, as `resolve_server` counts them from 0; the first one that can be gone when absent. */
    package?: number;
    /** Of an entry: what is filled in, by name. */
    inputs?: { [name: string]: string[] };
    /** The server's id; made of the package's name when absent. */
    server_id?: string;
    /** As in `add_server`. */
    args?: string[];
    /** As in `add_server`. */
    env?: { [name: string]: string };
    /** Environment variables of the installer, which its server does not get. They stay for upgrades. */
    install_env?: { [name: string]: string };
    /** Packages of PyPI, `NAME[==VERSION]`, that are installed beside a package of PyPI, and locked as it is. */
    with?: string[];
    /** As in `add_server`. */
    label?: string;
    /** As in `add_server`. */
    supervision?: { [name: string]: Json };
    /** As in `add_server`. */
    sandbox?: { [name: string]: Json };
    /** As in `add_server`; an entry names its own. */
    secrets?: string[];
    /** Secrets by name: for the first start, and stored if that succeeds. */
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
    /** With `plan`, true: where something must be filled in that was not, it stands there as `{name}`, instead of an error. */
    incomplete?: boolean;
    /** What a plan of this client, or `resolve_server` of a repository, has given: exactly that is installed. */
    planned?: string;
    /** Whether code of the package may run to find out what it needs, in a sandbox with nothing of the person's. Where that is needed and not said, a plan says so, and an installation is refused with the cause `needs_build`. */
    build?: boolean;
    /** Whether a package that runs with the whole network is started once more without any, to know whether it needs one. */
    without_network?: boolean;
    /** As in `connect_server`. */
    progress?: boolean;
  };
  /** Says what would be installed, in which ways, and what has to be filled in. Of a repository one commit is fetched and read; nothing of it runs, and nothing of it stays. */
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
  /** Lists the servers that Harbor brings along. */
  get_curated_list: Record<never, never>;
  /** Installs another version beside the present one, starts it with nothing of the person's (no secrets, variables, grants), and says how its tools differ. It is used once another request says `apply`; it goes when the client leaves before. */
  upgrade_server: {
    /** The server's id. */
    server_id: string;
    /** Which version, of git a branch, tag or commit, of what is downloaded a SHA-256 or another address; the newest that the definition admits when absent. One that is older than what is used has to be named. */
    to?: string;
    /** True: only says which version that is. */
    plan?: boolean;
    /** What an earlier answer has given: it goes on with exactly that. */
    planned?: string;
    /** As in `install_server`. */
    build?: boolean;
    /** Whether it is started with all that the server may use where it does not start without, or lists nothing. */
    with_all?: boolean;
    /** What the answer to the first request gave. */
    apply?: string;
    /** As in `connect_server`. */
    progress?: boolean;
  };
  /** Goes back to the version before the last upgrade; done twice, it is as before. */
  undo_upgrade: {
    /** The server's id. */
    server_id: string;
  };
  /** As `remove_server`, of a server with a package only. */
  uninstall_server: {
    /** The server's id. */
    server_id: string;
    /** As in `remove_server`. */
    data?: boolean;
  };
  /** Changes a server's arguments. One that runs is stopped and started again. */
  update_server_args: {
    /** The server's id. */
    server_id: string;
    /** All of them. */
    args: string[];
  };
  /** Lists the servers with a package, in their versions. `connect_server` and `disconnect_server` start and stop them. */
  list_installed: Record<never, never>;
  /** Looks for the programs that servers and installers need. */
  check_runtimes: Record<never, never>;
  /** Stores a secret of a server, or replaces it: a key, a password, a token. Its next start has it, as the environment variable of its name, or as a header of requests to a remote server. */
  set_credential: {
    /** The server's id. */
    server_id: string;
    /** Its name: a letter or `_`, then letters, digits, `_`, `.` and `-`; of a header its name. */
    key: string;
    /** The secret, up to 64 KiB. It is never shown again. */
    value: string;
    /** `api_key` when absent. */
    credential_type?: "api_key" | "password" | "oauth" | "header";
    /** The name that belongs to a password. */
    username?: string;
    /** When it ends, in milliseconds since 1970. */
    expires_at?: number;
    /** Of `browser`, which is no server: the site at which browser tools may type it, such as `https://example.com`. */
    site?: string;
  };
  /** Stores several secrets of the type `api_key` at once; the others of the server stay. */
  set_server_secrets: {
    /** The server's id. */
    server_id: string;
    /** The secrets by name. */
    secrets: { [name: string]: string };
  };
  /** Says which secrets of a server are set, missing and expired. */
  get_credential_status: {
    /** The server's id. */
    server_id: string;
  };
  /** Says what is wrong with the secrets of a server. */
  validate_credentials: {
    /** The server's id. */
    server_id: string;
  };
  /** Deletes a secret. A server that runs has it until it is stopped. */
  delete_credential: {
    /** The server's id. */
    server_id: string;
    /** Its name. */
    key: string;
    /** Of `browser`: the site that it is kept for; all of this name when absent. */
    site?: string;
  };
  /** Lists secrets, without their values. */
  list_credentials: {
    /** Only those of this server. */
    server_id?: string;
  };
  /** Says where secrets are kept, and whether they can be read. */
  get_secret_store: Record<never, never>;
  /** Has encrypted secrets readable until the bridge ends or `lock_secrets`; servers that waited for it start. */
  unlock_secrets: {
    /** Their passphrase; absent where a file gives it, or the keyring has the key. */
    passphrase?: string;
  };
  /** Has the bridge forget the key of encrypted secrets. Servers that run go on. */
  lock_secrets: Record<never, never>;
  /** Encrypts secrets with a passphrase, or takes another one. */
  encrypt_secrets: {
    /** The new passphrase: 8 characters or more, one line, up to 1 KiB. */
    passphrase: string;
  };
  /** Makes a plain file of encrypted secrets. */
  decrypt_secrets: Record<never, never>;
  /** Puts secrets where `secrets.store` in `config.toml` says. */
  move_secrets: Record<never, never>;
  /** Begins an authorization: finds out whom the person has to be asked by. The one before, if it is still under way, is over. It ends with the connection that it came by, or after five minutes. */
  oauth_start: {
    /** The server's id; it runs elsewhere. */
    server_id: string;
    /** As whom Harbor is known to the authorization server, where it cannot make itself known: a client id. */
    client_id?: string;
    /** What proves that, where it was given any. */
    client_secret?: string;
    /** Scopes to ask for besides those that the server asks for and those that were granted before. */
    scopes?: string[];
    /** The port of this machine that the browser comes back to, where the client is known with one; any when absent. */
    redirect_port?: number;
    /** How this machine is called in the redirect URI: `127.0.0.1`, also when absent, or `localhost`. */
    redirect_host?: string;
  };
  /** Waits until the person has answered, and stores what they granted; the server is started with it. A `cancel` of this request ends the authorization. */
  oauth_finish: {
    /** The server's id. */
    server_id: string;
  };
  /** Ends an authorization that is under way. */
  oauth_cancel: {
    /** The server's id. */
    server_id: string;
  };
  /** Says what the person has let Harbor do at a server. */
  oauth_status: {
    /** The server's id. */
    server_id: string;
  };
  /** Gives a grant back: the authorization server is told, where it can be, the tokens are deleted, and the server is stopped. */
  oauth_revoke: {
    /** The server's id. */
    server_id: string;
  };
  /** Gives the servers that can be had, the first ones first, a page at a time. */
  catalog_get: {
    /** Where to go on: the `next_cursor` of the page before, with everything else as it was. */
    cursor?: string;
    /** At most so many; 50 when absent, 200 at most. */
    limit?: number;
    /** Only those that Harbor's authors have chosen, or only the others. */
    featured?: boolean;
    /** Only of this source: `registry`, `awesome` or `curated`. */
    source?: string;
    /** Also those that their source has no more; false when absent. */
    include_removed?: boolean;
  };
  /** Finds servers that can be had by words of theirs: all of them, the last one as far as it is typed. */
  catalog_search: {
    /** The words, as a person types them; at most 1,000 bytes, of which the first 16 words count. */
    query: string;
    /** As in `catalog_get`. */
    cursor?: string;
    /** As in `catalog_get`. */
    limit?: number;
  };
  /** Gives all that is known of one of them. */
  catalog_entry: {
    /** Its id in the catalog, or the name of one that Harbor brings along. */
    id: string;
  };
  /** Fetches the catalog anew, and answers when that is done. Whoever asks while that is being done shares it, and it is done also when nobody waits for it any more. */
  catalog_refresh: {
    /** Everything, even where what has changed would do. */
    full?: boolean;
    /** Whether `progress` pushes are wanted. */
    progress?: boolean;
  };
  /** Looks up stars, commits and downloads of those that come first, and answers when that is done. Shared likewise. */
  catalog_enrich: {
    /** Whether `progress` pushes are wanted. */
    progress?: boolean;
  };
  /** Says how the catalog, its worker and its sources are. */
  catalog_status: Record<never, never>;
  /** As `connect_server`, and answers with everything that the server offers. */
  mcp_connect: {
    /** The server's id. */
    server_id: string;
    /** As in `connect_server`. */
    progress?: boolean;
  };
  /** As `disconnect_server`. */
  mcp_disconnect: {
    /** The server's id. */
    server_id: string;
  };
  /** Lists the servers that are running. */
  mcp_list_connections: Record<never, never>;
  /** Asks a server for its tools, all pages. Of one that was stopped, or has not been started yet, what is known of them. */
  mcp_list_tools: {
    /** The server's id. */
    server_id: string;
    /** How long its answer is waited for, in milliseconds, where it is known what it listed last; else as long as for any request. 0: what is at hand; no server is started for it. */
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
  /** Calls a tool. Ends in the server's result, or an error; on a timeout, a cancel or a vanished client the server gets `notifications/cancelled`. */
  mcp_call_tool: {
    /** The server's id. */
    server_id: string;
    /** The tool's name, as the server gave it. */
    tool_name: string;
    /** The arguments, passed on as they are; `{}` when absent. */
    arguments?: { [name: string]: Json };
    /** How long the call may take, in milliseconds (1 to 3,600,000; the definition's `call_timeout_ms` when absent). With `progress`, each sign of progress gives it as much time again. */
    timeout_ms?: number;
    /** How long it may take in all, however much progress it makes (as `timeout_ms`; 600,000, or `timeout_ms` where that is longer, when absent). */
    max_timeout_ms?: number;
    /** Whether `progress` pushes are wanted. */
    progress?: boolean;
    /** MCP's task parameters (tasks extension), passed on as they are. */
    task?: { [name: string]: Json };
    /** True: of a server that is stopped and that no call starts, it is only told (`ERR_SERVER_UNAVAILABLE`, `sent` false), and nothing is counted: the caller is about to start it. */
    unless_stopped?: boolean;
    /** What the caller can answer while it is open: of MCP's client capabilities `sampling` and `elicitation`. What the server asks then comes as `ask` pushes. */
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
    /** Its arguments, strings by MCP's rules; passed on as they are. */
    arguments?: { [name: string]: Json };
    /** As in `mcp_call_tool`. */
    timeout_ms?: number;
    /** As in `mcp_call_tool`. */
    answers?: { [name: string]: Json };
  };
  /** Answers a question of a server: an `ask` push. */
  mcp_answer: {
    /** The question's number. */
    ask_id: number;
    /** MCP's result. */
    result?: { [name: string]: Json };
    /** Or a JSON-RPC error: `code` and `message`. With neither, it is refused. */
    error?: { [name: string]: Json };
  };
  /** Asks for completions of a prompt's or a resource template's argument. */
  mcp_complete: {
    /** The server's id. */
    server_id: string;
    /** MCP's `ref` object, passed on as it is. */
    reference: { [name: string]: Json };
    /** MCP's `argument` object, passed on as it is. */
    argument: { [name: string]: Json };
    /** MCP's `context` object, passed on as it is. */
    context?: { [name: string]: Json };
  };
  /** Subscribes to changes of a resource; they come as `resource_updated` pushes to this client. */
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
  /** Sets how much the server logs by MCP. */
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
    /** Its parameters, passed on as they are. */
    arguments?: { [name: string]: Json };
  };
  /** An AI client begins to serve. One of whose name the bridge has neither heard before nor has a grant or a DENY gets `mcp:tools.list` and `mcp:tools.call` for good, where `mcp.firstUse` is `all`. Only with the role `mcp`. */
  mcp_begin: {
    /** Tools that it is for, `server/tool` or `server/*`. Absent: all. */
    only?: string[];
  };
  /** Gives the last log lines of a server: its stderr, what it printed on stdout that was no message, its MCP log messages, and Harbor's remarks about it. */
  mcp_get_logs: {
    /** The server's id. */
    server_id: string;
    /** At most so many lines, the newest; 200 when absent, 1000 at most. */
    limit?: number;
    /** True: later lines come as `server_log` pushes, until a request says false. The answer and the pushes together have every line once. */
    follow?: boolean;
  };
  /** Gives the state of everything, as of now and from memory. */
  status: {
    /** Whether what processes use is measured anew before the answer; else it is as of the last measurement. */
    fresh?: boolean;
  };
  /** Begins (or ends) `status_update` pushes: each change of a server, a client or the health as it happens, and in between the numbers. The answer has what they begin from. */
  subscribe_status: {
    /** False ends them; true when absent. */
    subscribe?: boolean;
    /** How often the numbers come, in milliseconds: 500 to 3,600,000; 10,000 when absent. */
    interval_ms?: number;
  };
  /** Says how it all is, in short. */
  health: Record<never, never>;
  /** Gives the numbers of the status and of the calls as OpenMetrics text. Origins are in it only if `config.toml` says so. */
  get_metrics: Record<never, never>;
  /** Gives what `config.toml` says, as it is in force. */
  get_config: Record<never, never>;
  /** Begins (or ends) `server_event` pushes: every change of every server's state. The answer has the states from which they begin. */
  watch_servers: {
    /** False ends them; true when absent. */
    watch?: boolean;
  };
  /** Begins `server_message` pushes: MCP's log messages of running servers all of whose tools an AI client may use, from a level on. Servers that write none below another level are asked for these, too. Only with the role `mcp`. */
  mcp_follow_messages: {
    /** As in `mcp_set_log_level`. */
    level: string;
  };
  /** Records what a person allows or forbids an origin. A DENY wins over whatever else is granted, until it is revoked. */
  host_grant_permission: {
    /** The origin: `https://example.com`, or `client://NAME` for an AI client. */
    origin: string;
    /** Which of the origin's profiles; `default` when absent. */
    profile?: string;
    /** What for, such as `mcp:tools.call`. */
    scope: string;
    /** `ALLOW_ONCE` (when absent; in memory, ends with the bridge), `ALLOW_ALWAYS` or `DENY` (both on disk). */
    grant_type?: string;
    /** ALLOW_ONCE: only for calls with this tab of the browser session that the connection's `hello` names. */
    tab_id?: number;
    /** ALLOW_ONCE: when it ends, in milliseconds since 1970; after `grants.onceSeconds` when absent. */
    expires_at?: number;
    /** Tools that it is for, `server/tool` or `server/*`. Absent: all. Empty: none. */
    allowed_tools?: string[];
  };
  /** Takes grants back: of every type, or of one. */
  host_revoke_permission: {
    /** The origin. */
    origin: string;
    /** As in `host_grant_permission`. */
    profile?: string;
    /** What for. */
    scope: string;
    /** Only grants of this type. */
    grant_type?: string;
    /** Only those that are bound to this tab of this connection's browser session. */
    tab_id?: number;
  };
  /** Asks whether an origin may do something now. */
  host_check_permission: {
    /** The origin. An AI client may leave it out: it is its own. */
    origin?: string;
    /** As in `host_grant_permission`. An AI client has no profiles but `default`. */
    profile?: string;
    /** What for. */
    scope: string;
    /** The tab that asks. */
    tab_id?: number;
    /** A tool, `server/tool`, that has to be among the allowed ones. */
    tool_name?: string;
  };
  /** Lists the grants of one origin. */
  host_get_permissions: {
    /** As in `host_check_permission`. */
    origin?: string;
    /** Only of this profile; of all when absent. */
    profile?: string;
    /** Leaves out what is bound to another tab. */
    tab_id?: number;
  };
  /** Ends the grants that are bound to a tab: it was closed. Only those of the connection's own browser session, where it has named one. */
  host_expire_tab_grants: {
    /** The tab. */
    tab_id: number;
    /** Only grants of this profile. */
    profile?: string;
  };
  /** Lists the grants of all origins. */
  host_list_all_permissions: {
    /** Only of this profile. */
    profile?: string;
    /** Leaves out what is bound to another tab. */
    tab_id?: number;
  };
  /** Lists the tools that an origin may know of: of servers that run, or will be started by a call. Needs the scope `mcp:tools.list`. A tool is listed when the grant covers it and, where there are grants for `mcp:tools.call` (of whatever tab), one of these does too, and a DENY of those leaves none; one that has changed since the person saw it is not, until it is accepted. */
  host_list_tools: {
    /** As in `host_check_permission`. */
    origin?: string;
    /** As in `host_grant_permission`. */
    profile?: string;
    /** The tab that asks. */
    tab_id?: number;
    /** Only of these servers. */
    server_ids?: string[];
  };
  /** Lists the servers of which an origin may use a tool, with their state. Needs the scope `mcp:tools.list`. */
  host_list_servers: {
    /** As in `host_check_permission`. */
    origin?: string;
    /** As in `host_grant_permission`. */
    profile?: string;
    /** The tab that asks. */
    tab_id?: number;
  };
  /** Lists what running servers offer besides tools, of those servers all of whose tools an origin may use. Needs the scope `mcp:tools.list`. An AI client uses it by `mcp_read_resource`, `mcp_get_prompt`, `mcp_complete` and `mcp_subscribe_resource`, for which it needs `mcp:tools.call` for all tools of the server. */
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
  /** Calls a tool on behalf of an origin: permission, allowlist, the tool itself, limits, and only then the server. Needs the scope `mcp:tools.call`. On a timeout, a cancel or a vanished client the server gets `notifications/cancelled`. */
  host_call_tool: {
    /** As in `host_check_permission`. */
    origin?: string;
    /** As in `host_grant_permission`. */
    profile?: string;
    /** The tab that asks. */
    tab_id?: number;
    /** The tool, `server/tool`. */
    tool_name: string;
    /** The arguments; `{}` when absent. They are checked against the tool's schema and passed on as they are. */
    args?: { [name: string]: Json };
    /** How long the call may take, waiting for its turn included, in milliseconds (1 to 3,600,000); else what the configuration or the server's definition says. With `progress`, each sign of progress gives it as much time again. */
    timeout_ms?: number;
    /** As in `mcp_call_tool`. */
    max_timeout_ms?: number;
    /** The run that the call counts in. */
    run_id?: string;
    /** Whether `progress` pushes are wanted. */
    progress?: boolean;
    /** As in `mcp_call_tool`. */
    answers?: { [name: string]: Json };
  };
  /** Begins a run: a number of calls that an agent may make. It ends with its client, or when it is not used for `limits.runStaleSeconds`. */
  host_create_run: {
    /** As in `host_check_permission`. */
    origin?: string;
    /** As in `host_grant_permission`. */
    profile?: string;
    /** The tab that asks. */
    tab_id?: number;
    /** How many calls; `limits.maxCallsPerRun` when absent, and at most. */
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
  /** Says what is left of a run. */
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
  /** Counts and durations of calls and decisions since the bridge began, without any payload. With an origin, and always for an AI client, only what concerns it. */
  host_get_stats: {
    /** As in `host_check_permission`; all origins when the owner leaves it out. */
    origin?: string;
    /** Without meaning here. */
    profile?: string;
    /** Without meaning here. */
    tab_id?: number;
  };
  /** Begins (or ends) the pushes `grant_changed`, `tools_changed` and `tool_changed`. An AI client is told only what concerns itself. */
  host_watch: {
    /** False ends them; true when absent. */
    watch?: boolean;
  };
  /** Writes into the audit log how a person answered a question of an origin. It changes nothing else: what was allowed is granted by `host_grant_permission`. */
  host_note_consent: {
    /** The origin that asked. */
    origin: string;
    /** As in `host_grant_permission`. */
    profile?: string;
    /** The tab that asked. */
    tab_id?: number;
    /** `allowed`, `denied`, or `dismissed`: the question was closed without an answer. */
    outcome: string;
    /** What the question was about: `server/tool`, `server/*`, or scopes of models. */
    tools?: string[];
  };
  /** Gives the newest lines of the audit log that match, oldest first. */
  host_get_audit: {
    /** Only what was done on behalf of this origin, or by it; `owner` for the person. */
    origin?: string;
    /** Only what happened since, in milliseconds since 1970. */
    since?: number;
    /** At most so many; 200 when absent, 10000 at most. */
    limit?: number;
  };
  /** Lists the tools that have changed since they were first seen, or last accepted. */
  host_list_tool_changes: {
    /** Only of this server. */
    server_id?: string;
  };
  /** Accepts a tool as it is now: origins may use it again. */
  host_accept_tool_change: {
    /** The server. */
    server_id: string;
    /** The tool, as the server names it. */
    tool_name: string;
    /** The hash of what is accepted, as `host_list_tool_changes` gives it: a tool that has changed again meanwhile is not accepted unseen. */
    tool_hash: string;
  };
  /** Accepts that a server is another program than before: what was granted for its name counts again, its tools are pinned as they are, and it gets the secrets of its name at its next start. */
  host_accept_server_change: {
    /** The server. */
    server_id: string;
    /** The program, as `host_list_tool_changes` gives it in `servers` (`after`). */
    program: string;
  };
  /** Looks for programs on this machine that run models, at the ports where they are as a rule, and for keys in the environment. What is found is not used before `llm_add_provider`. */
  llm_detect: Record<never, never>;
  /** Lists the providers that were added. */
  llm_list_providers: Record<never, never>;
  /** Lists what can be added. */
  llm_get_supported_providers: Record<never, never>;
  /** Adds a provider: from now on requests may be sent to it. */
  llm_add_provider: {
    /** As `type` in `Provider`. */
    provider_type: string;
    /** A name for people, of which its id is made; the type when absent. */
    name?: string;
    /** Where it is: `https://…`, or `http://…` on this machine. Needed where the type has no address of its own. */
    base_url?: string;
    /** As in `Provider`; the type's own when absent. */
    dialect?: string;
    /** Its key. It is never shown again. */
    api_key?: string;
    /** Whether it may be at a private address that is not this machine's, and be spoken to without TLS there. */
    allow_private?: boolean;
    /** Whether what answers on this machine may be another person's program. Without it nothing is sent to one: neither the person's own, root's nor an account of the system. */
    allow_other_user?: boolean;
  };
  /** Changes a provider. Another address drops its key, which belongs to the address that it was given for. */
  llm_configure_provider: {
    /** The provider's id. */
    id: string;
    /** Another name for people. */
    name?: string;
    /** Another address. */
    base_url?: string;
    /** Whether it may be used. */
    enabled?: boolean;
    /** True: it is used where a request names none. */
    is_default?: boolean;
    /** True: it is used where only its type is named. */
    is_type_default?: boolean;
  };
  /** Forgets a provider and its key. What it has used stays counted. */
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
  /** Asks a provider whether it takes the key that it was given: by its list of models, which costs nothing. */
  llm_check_provider: {
    /** The provider's id. */
    provider_id: string;
  };
  /** Lists the models of all providers that are enabled. */
  llm_list_models: Record<never, never>;
  /** Lists the models of one provider. */
  llm_list_models_for: {
    /** The provider's id. */
    provider_id: string;
  };
  /** Says which provider, and which of its models, is used where a request names none. */
  llm_set_active: {
    /** The provider's id. */
    provider_id: string;
    /** The model's name there; the one that it had, or its first, when absent. */
    model_id?: string;
  };
  /** Says which model of the default provider is used where a request names none. */
  llm_set_model: {
    /** `provider:model`, or the name that the default provider has for it. */
    model_id: string;
  };
  /** Says which provider and model are used where a request names none. */
  llm_get_active: Record<never, never>;
  /** Says all that is set about models, keys by the ids of their providers only. */
  llm_get_config: Record<never, never>;
  /** Puts a conversation to a model. Nothing of the request holds for another one. In the `rpc` envelope `llm.chat_stream` is the same with `stream`. */
  llm_chat: {
    /** The conversation, the oldest message first. */
    messages: ChatMessage[];
    /** Which model: `provider:model`, or its name at `provider`; the default one when absent. */
    model?: string;
    /** Which provider, by its id or its type; the default one when absent. */
    provider?: string;
    /** What is said before all messages. */
    system_prompt?: string;
    /** The tools that it may call. */
    tools?: ChatTool[];
    /** `auto`, `none`, `required`, or the name of the one that it has to call. */
    tool_choice?: string;
    /** The most tokens that come. */
    max_tokens?: number;
    /** A number from 0 to 2. */
    temperature?: Json;
    /** A number from 0 to 1. */
    top_p?: Json;
    /** Texts at which it stops. */
    stop?: string[];
    /** JSON Schema that the answer follows. */
    response_schema?: { [name: string]: Json };
    /** `none`, `minimal`, `low`, `medium` or `high`. */
    reasoning_effort?: string;
    /** Whether `llm_event` pushes are wanted. */
    stream?: boolean;
    /** Whether this client gives credit (`llm_more`): 64 pushes come without. */
    credit?: boolean;
  };
  /** The same for an origin, or for an AI client itself. Needs the scope `model:prompt`. `tools` are its own: it makes the calls itself. */
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
  /** Gives credit to a request of this client that streams. */
  llm_more: {
    /** The id of the request. */
    target: string;
    /** So many further pushes. */
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
  /** Says how many tokens a model would read. Its provider counts them where it does that without answering (Anthropic's format, llama-server), and gets the conversation for it; else they are estimated by the conversation's length. */
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
  /** Says what models have taken. */
  llm_usage: {
    /** Only from the day of this time on, in milliseconds since 1970. */
    since?: number;
    /** `provider`, `model`, `principal` or `day`; by all four when absent. */
    group_by?: string;
  };
  /** Says how many tokens of a day somebody may use. */
  llm_set_budget: {
    /** An origin, `client://NAME`, `owner`, or `*`: everybody together. */
    principal: string;
    /** Tokens of a day in UTC; absent: as if nothing had ever been said. */
    tokens_per_day?: number;
  };
  /** Lists the budgets, and what of today's is used. */
  llm_list_budgets: Record<never, never>;
  /** Begins a session: a conversation that the bridge holds, with a model that may use tools. */
  chat_create_session: {
    /** The servers whose tools it may use, none when empty; all of them when absent, or with `*`. */
    enabled_servers?: string[];
    /** A name for people; made of the first message when absent. */
    name?: string;
    /** What the model is told before everything else. */
    system_prompt?: string;
    /** Which model: `provider:model`; the default one when absent. */
    model?: string;
    /** `ask` (when absent) or `auto`, as in `ChatSession`; `reads`: what would have to be asked is refused instead. */
    mode?: string;
    /** True: it is never written down, and ends with the bridge. */
    private?: boolean;
  };
  /** Says something in a session. One turn at a time: a second message meanwhile is refused. The turn belongs to the bridge: it goes on when this client leaves, and `chat_stop` ends it. Cancelling this request does so, too. */
  chat_send_message: {
    /** The session. */
    session_id: string;
    /** What is said. */
    message: string;
    /** Images, and texts that are no instructions: parts `text` and `image`. */
    attachments?: ChatPart[];
    /** Which model, for this turn and those after it. */
    model?: string;
    /** Whether `chat_event` pushes are wanted until the answer. */
    stream?: boolean;
    /** `auto` (when absent), `required`: the first answer has to call a tool, or `none`. */
    tool_choice?: string;
    /** Calls of tools at most. */
    max_tool_calls?: number;
    /** Tokens of each answer of the model at most. */
    max_tokens?: number;
  };
  /** Follows what happens in a session, by `chat_event` pushes: what has happened in its last turn since `after_seq`, and what comes. */
  chat_watch: {
    /** The session. */
    session_id: string;
    /** The last event that this client has seen; all of the last turn when absent. */
    after_seq?: number;
    /** False: no longer. */
    watch?: boolean;
  };
  /** Ends the turn that is under way. What has come of the answer is kept. */
  chat_stop: {
    /** The session. */
    session_id: string;
  };
  /** Gives a session as a text. */
  chat_export: {
    /** The session. */
    session_id: string;
    /** `markdown` or `json`. */
    format: string;
  };
  /** Gives a session with its messages. */
  chat_get_session: {
    /** The session. */
    session_id: string;
  };
  /** Lists sessions, the one that was used last first. */
  chat_list_sessions: {
    /** At most so many; 50 when absent. */
    limit?: number;
  };
  /** Changes a session. */
  chat_update_session: {
    /** The session. */
    session_id: string;
    /** What is to be changed. */
    updates: SessionUpdates;
  };
  /** Forgets what was said in a session. */
  chat_clear_messages: {
    /** The session. */
    session_id: string;
  };
  /** Deletes a session. A turn that is under way is stopped. */
  chat_delete_session: {
    /** The session. */
    session_id: string;
  };
  /** Has the person's model do a task for an origin, or for an AI client itself, with the tools that it was granted. It is a run as in `host_create_run`, with its limit of calls. Needs the scope `model:tools`. */
  run_start: {
    /** As in `host_check_permission`. */
    origin?: string;
    /** As in `host_grant_permission`. */
    profile?: string;
    /** The tab that asks. */
    tab_id?: number;
    /** What is to be done. */
    task: string;
    /** The tools that it may use, `server/tool`; those that the origin may use when absent. */
    tools?: string[];
    /** True: all tools that the origin may use, however many. */
    use_all_tools?: boolean;
    /** Which provider, by its id or its type; the default one when absent. */
    provider?: string;
    /** Which model; the default one when absent. */
    model?: string;
    /** Calls of tools at most; 5 when absent, and never more than the origin's limit. */
    max_tool_calls?: number;
    /** True: the answer says by numbers, `[1]`, which call a statement comes from, and `citations` has these calls in their order. */
    require_citations?: boolean;
    /** The origin's session that it belongs to: it knows what was said there, and uses no more than that may. */
    session_id?: string;
    /** Whether `run_event` pushes are wanted. */
    stream?: boolean;
    /** Whether this client gives credit (`run_more`): 64 pushes come without. */
    credit?: boolean;
  };
  /** Gives credit for pushes of a run. */
  run_more: {
    /** The id of the `run_start`. */
    target: string;
    /** So many pushes more. */
    n: number;
  };
  /** Begins a session of an origin, or of an AI client itself: its runs know what was said in it, and share its limits. It ends with its tab, with its time, and with `session_end`; nothing of it is written down. Needs a scope for each capability: `model:prompt`, `model:tools`. */
  session_create: {
    /** As in `host_check_permission`. */
    origin?: string;
    /** As in `host_grant_permission`. */
    profile?: string;
    /** The tab that asks, and that it ends with. */
    tab_id?: number;
    /** A name for people, 1000 bytes at most. */
    name?: string;
    /** Whether it may ask a model; without that no run can be in it. */
    llm?: boolean;
    /** Which provider, by its id or its type; the default one when absent. */
    provider?: string;
    /** Which model; the default one when absent. */
    model?: string;
    /** The tools that its runs may use, `server/tool`; none when absent. */
    tools?: string[];
    /** What the model is told of its task, below what Harbor tells it. */
    system_prompt?: string;
    /** A number from 0 to 2. */
    temperature?: Json;
    /** Calls of all its runs together; absent: no more limit than each run has. */
    max_tool_calls?: number;
    /** How long it lasts, in minutes: 60 when absent, 1440 at most. */
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
  /** Ends a session of the origin, with the run that is under way in it. */
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
  /** Lists the questions about calls that wait for an answer, or were missed in the last ten minutes, and the answers that stand. */
  approvals_list: {
    /** Only this question; then with its arguments whole. */
    approval_id?: string;
  };
  /** Answers a question about a call. The first answer counts, wherever it comes from. A yes to a question that was missed lets the same call through when it is made again. */
  approvals_answer: {
    /** The question. */
    approval_id: string;
    /** One of the question's `answers`. */
    answer: string;
    /** Of `no`: what the model is told. */
    reason?: string;
  };
  /** Takes a standing answer back: it covers no call from now on. */
  approvals_revoke: {
    /** The answer's id, or what it is for: `server/tool`, an origin, a session; all of them when absent. */
    approval_id?: string;
  };
  /** Has the person asked before something private leaves by the calls of an AI client: once for what it has read of each source that is private, and each server that could tell somebody, as long as it is connected. Says how it is, where nothing is set. */
  approvals_guard: {
    /** The client: `client://NAME`. */
    origin: string;
    /** On or off from now on; as it was when absent. */
    guard?: boolean;
  };
  /** Has this connection told of questions by `approval` pushes, beginning with those that wait. Whoever asks for that shows them to the person: without such a connection questions of pages and AI clients are missed at once. */
  approvals_watch: {
    /** False: no longer. */
    watch?: boolean;
  };
  /** Offers a source of tools for as long as this connection lasts: the bridge pushes `source_call`, and is answered by `source_result`. Of a browser the tools are the bridge's own. Only from Harbor's own extension. */
  source_register: {
    /** `browser`; later also `page` and `runtime`. */
    kind: string;
    /** Its name for people, such as `Firefox`. */
    name: string;
    /** Its tools, an array as in MCP; not of a browser. */
    tools?: Json;
    /** Of a page: its origin. */
    origin?: string;
    /** Likewise: its tab. */
    tab_id?: number;
  };
  /** Takes a source back. Its open calls end at once. */
  source_unregister: {
    /** The source. */
    source_id: string;
  };
  /** Answers a `source_call`: with a result or an error. */
  source_result: {
    /** The call. */
    call_id: string;
    /** MCP's CallToolResult. */
    result?: { [name: string]: Json };
    /** Why there is none. */
    error?: SourceError;
  };
  /** Something has happened in a browser that the bridge decides about, or tells the session of. */
  source_event: {
    /** The source. */
    source_id: string;
    /** `tab_opened`: a tab for a session (`session_id`), of a session's tab (`opener_tab_id`), or that the person has put into its group; `tab_closed`; `navigated`: a tab is about to be, or is, at `url`; `frame`: what is in a tab's frame at `url` is to be read; `released`: the person has taken a tab back; `stop`: the person has pressed Stop for a session; `dialog`, `download`, `tools_changed`. */
    event: string;
    /** The session that it is about. */
    session_id?: string;
    /** The tab that it is about. */
    tab_id?: number;
    /** Of `tab_opened`: the tab that has opened it. */
    opener_tab_id?: number;
    /** An address. */
    url?: string;
    /** The tab's title, or what else there is to say. */
    title?: string;
  };
  /** Lists the tool sources that are no servers. */
  list_sources: Record<never, never>;
}

/** What the bridge answers, by the type of the request. */
export interface Replies {
  /** The first frame was accepted. */
  attach: {
    /** The client protocol that the bridge speaks. */
    protocol: number;
    /** The bridge's build. */
    build: string;
    /** The bridge's process id. */
    pid: number;
  };
  /** Who the bridge is. */
  hello: {
    /** The client protocol that the bridge speaks. */
    protocol: number;
    /** The bridge's version. */
    bridge_version: string;
    /** The bridge's build. */
    build: string;
    /** The bridge's process id. */
    pid: number;
    /** Whether larger answers will come as chunks. */
    chunks: boolean;
    /** The largest frame that the bridge will send to this client, in bytes. */
    max_frame: number;
    /** Of an AI client that named a session in a browser: whether it goes on with that one. */
    joined?: boolean;
  };
  /** The bridge is alive. */
  ping: {
    /** The text that was sent. */
    echo?: string;
    /** Milliseconds since 1970. */
    timestamp: number;
  };
  /** Whether there was such a request to end. */
  cancel: {
    /** False when the target had already ended, or never was. */
    cancelled: boolean;
  };
  /** The bridge is on its way out. */
  shutdown: {
    /** Always true. */
    stopping: boolean;
  };
  /** The definition is stored. */
  add_server: {
    /** The server as `list_servers` shows it. */
    server: Server;
    /** Whether there was a definition with this id before. */
    replaced: boolean;
    /** Where files of an earlier server with this id are, or of another program that had it: with `keep_data` the home of the new one, else set aside. Absent when there are none. */
    old_data?: string;
    /** What the definition that was replaced said about its sandbox, where this one says something else. */
    old_sandbox?: SandboxSettings;
    /** The server runs another program than before: its grants are suspended until that is accepted. */
    program_change?: ServerChange;
  };
  /** The definition is stored. */
  add_remote_server: {
    /** The server as `list_servers` shows it. */
    server: Server;
    /** Whether there was a definition with this id before. */
    replaced: boolean;
    /** The server is at another place than before: its grants are suspended until that is accepted. */
    program_change?: ServerChange;
  };
  /** What holds the server. */
  get_definition: {
    /** The definition. */
    definition: Definition;
  };
  /** What is different. */
  compare_server: {
    /** Names of variables and headers with another value, or that only one side has; `url` and `arguments`. Secrets that only the server has do not count. */
    differs: Array<string>;
  };
  /** What it may do. */
  get_sandbox: {
    /** What it may do. */
    sandbox: Sandbox;
  };
  /** The change is stored, if it is one. */
  set_sandbox: {
    /** What it may do now. */
    sandbox: Sandbox;
    /** Whether the server was running and has other settings now: it is on its way up again. */
    restarting: boolean;
  };
  /** The change is stored, if it is one. */
  set_supervision: {
    /** The server as `list_servers` shows it. */
    server: Server;
    /** Settings that were changed and that a start takes with it: the server runs with what they were. Empty where everything holds by now. */
    next_start: Array<string>;
  };
  /** Whether there was such a definition. */
  remove_server: {
    /** False when there was none, nor data to be deleted. */
    removed: boolean;
    /** The image that was pulled for it, which the engine keeps; absent when there was none. */
    image?: Image;
    /** The directory of the data that are kept, or could not be deleted; absent when there are none. */
    data?: string;
    /** How many secrets were deleted with it. */
    secrets: number;
    /** Why its secrets, if it has any, are still on disk; absent when they are not. */
    secrets_left?: string;
    /** How many of its tools were pinned, and are not any more. */
    pins: number;
    /** What grants had of its tools, and have no more. */
    grants: Array<Grant>;
  };
  /** All definitions, by id. */
  list_servers: {
    /** The servers. */
    servers: Array<Server>;
  };
  /** How it is. */
  get_server_status: {
    /** The server as `list_servers` shows it. */
    server: Server;
    /** Its package, as `list_installed` shows it but for `server`; absent where it has none. */
    package?: Installed;
    /** Secrets that it needs and that are not set. */
    missing_secrets: Array<string>;
    /** Whether nothing is known that keeps it from its next start. */
    can_start: boolean;
    /** What does, and what to do; absent when nothing does. */
    why_not?: string;
  };
  /** The server is running. */
  connect_server: {
    /** The server as `list_servers` shows it. */
    server: Server;
    /** What it said about itself. */
    connection_info: ConnectionInfo;
  };
  /** The stop has come to its end. */
  disconnect_server: {
    /** The server as `list_servers` shows it: stopped, unless somebody has started it again meanwhile. */
    server: Server;
  };
  /** The server is running, and this is what it offers. */
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
    /** Whether it was running or starting. */
    disconnected: boolean;
  };
  /** The servers that are running. */
  mcp_list_connections: {
    /** One entry per running server. */
    connections: Array<Connection>;
  };
  /** The tools. */
  mcp_list_tools: {
    /** As the server wrote them; an `inputSchema` that does not say `"type": "object"` has it added, and a tool of which that would change the meaning is left out (`list_problems` of the server). */
    tools: Json;
    /** True: it does not run, or does not answer, and these are what it listed last. */
    last_listed?: boolean;
    /** True: it runs, and has not answered in time. */
    no_answer?: boolean;
    /** What each tool does as far as Harbor knows, by its name: `reads`, `writes` or `destroys`. */
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
  /** What the tool answered, failures of the tool itself (`isError`) included. */
  mcp_call_tool: {
    /** MCP's CallToolResult, as the server wrote it. */
    result: Json;
    /** What Harbor says of it: what the sandbox refused, which places in the arguments the server does not have. */
    beside?: Array<string>;
  };
  /** What the resource holds. */
  mcp_read_resource: {
    /** MCP's ReadResourceResult, as the server wrote it. */
    resource: Json;
  };
  /** The prompt. */
  mcp_get_prompt: {
    /** MCP's GetPromptResult, as the server wrote it. */
    prompt: Json;
  };
  /** The answer is on its way. */
  mcp_answer: {
    /** False when nobody waits for it any more. */
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
    /** How long it took, in microseconds. */
    elapsed_us: number;
  };
  /** What the tasks extension answered. */
  mcp_task: {
    /** As the server wrote it. */
    result: Json;
  };
  /** The newest log lines, oldest first. */
  mcp_get_logs: {
    /** The lines. */
    logs: Array<LogLine>;
    /** Process id of the server, while it runs. */
    pid?: number;
  };
  /** The state of everything. */
  status: {
    /** As of now. */
    status: Status;
  };
  /** Whether pushes come from now on, and what they begin from. */
  subscribe_status: {
    /** As asked. */
    subscribed: boolean;
    /** As of now. */
    status: Status;
  };
  /** How it all is. */
  health: {
    /** And why. */
    health: Health;
  };
  /** The numbers. */
  get_metrics: {
    /** OpenMetrics text, version 1.0.0. */
    text: string;
  };
  /** What is in force. */
  get_config: {
    /** A `config.toml` that says it, with every key. */
    config: string;
    /** Why the file as it is now is not in force; absent when it is. */
    refused?: string;
    /** How often other values have come into force since the bridge began. */
    changes: number;
    /** The environment's switches that are set. */
    environment: { [name: string]: string };
  };
  /** The servers now; the pushes tell what changes from here. */
  watch_servers: {
    /** Whether pushes come from now on. */
    watching: boolean;
    /** The servers. */
    servers: Array<Server>;
  };
  /** The grant is recorded. */
  host_grant_permission: {
    /** Always true; a failure is an error. */
    granted: boolean;
    /** Whether a DENY stands for this origin, profile and scope: then nothing of it is allowed until that is revoked. */
    denied: boolean;
    /** The grant. */
    grant: Grant;
    /** Calls that ran on what a DENY denies, or on a grant that covered more, and were ended. */
    ended: number;
    /** True of a DENY that the disk refuses: it holds until the bridge ends, and is stored as soon as the disk takes it. */
    unstored: boolean;
  };
  /** The grants are gone. */
  host_revoke_permission: {
    /** Whether there were any. */
    revoked: boolean;
    /** Calls that ran on them, and were ended: their servers were told, and their results are not given. */
    ended: number;
    /** True where the disk refuses it: it holds until the bridge ends, and is stored as soon as the disk takes it. */
    unstored: boolean;
  };
  /** Whether the origin may. */
  host_check_permission: {
    /** Whether it may. */
    granted: boolean;
    /** By which type of grant. */
    grant_type?: string;
    /** Why not: the code that a call would get. */
    code?: string;
    /** The same as a sentence. */
    message?: string;
  };
  /** The grants of the origin. */
  host_get_permissions: {
    /** The origin in its canonical form. */
    origin: string;
    /** Its grants. */
    grants: Array<Grant>;
    /** What of them the disk has not taken yet, revocations too. */
    unstored: Array<Unstored>;
    /** An AI client that was not here yet: when it comes, it gets all tools, or those of its `--only`. */
    is_new?: boolean;
  };
  /** The grants of the tab are gone. */
  host_expire_tab_grants: {
    /** How many there were. */
    expired: number;
  };
  /** All grants. */
  host_list_all_permissions: {
    /** By origin. */
    grants: Array<Grant>;
    /** What of them the disk has not taken yet, revocations too. */
    unstored: Array<Unstored>;
  };
  /** The tools. */
  host_list_tools: {
    /** An array of `ToolDescriptor`, by server. */
    tools: Json;
  };
  /** The servers. */
  host_list_servers: {
    /** By id. */
    servers: Array<UsableServer>;
  };
  /** What is offered. */
  host_list_offers: {
    /** By server; those that offer none of it are left out. */
    servers: Array<Offers>;
  };
  /** What the tool answered, failures of the tool itself (`isError`) included. */
  host_call_tool: {
    /** MCP's CallToolResult, as the server wrote it. */
    result: Json;
    /** What Harbor says of it: what the sandbox refused, which places in the arguments the server does not have. Never to a page. */
    beside?: Array<string>;
    /** Where it comes from. */
    provenance: Provenance;
  };
  /** The run has begun. */
  host_create_run: {
    /** Its id. */
    run_id: string;
    /** How many calls it may make. */
    max_calls: number;
    /** How many are left. */
    remaining: number;
  };
  /** The run as it ended. */
  host_end_run: {
    /** Its id. */
    run_id: string;
    /** How many calls it could make. */
    max_calls: number;
    /** How many were left. */
    remaining: number;
  };
  /** The run now. */
  host_get_run: {
    /** Its id. */
    run_id: string;
    /** How many calls it may make. */
    max_calls: number;
    /** How many are left; calls in flight are counted as made, and given back where they were not sent. */
    remaining: number;
    /** When it began, in milliseconds since 1970. */
    created_at: number;
  };
  /** The counts. */
  host_get_stats: {
    /** The counts. */
    stats: Stats;
  };
  /** Whether pushes come from now on. */
  host_watch: {
    /** As asked. */
    watching: boolean;
  };
  /** The answer is in the audit log. */
  host_note_consent: {
    /** Always true; a failure is an error. */
    noted: boolean;
  };
  /** Lines of the audit log. */
  host_get_audit: {
    /** An array of objects, one per line, oldest first. */
    records: Json;
    /** Whether the log cannot be written at present. */
    failing: boolean;
    /** How many lines could not be written since the bridge began. */
    unaudited: number;
  };
  /** The tools that have changed. */
  host_list_tool_changes: {
    /** By server and name. */
    changes: Array<ToolChange>;
    /** Servers that are other programs than those that were allowed. */
    servers: Array<ServerChange>;
  };
  /** The tool is accepted as it is. */
  host_accept_tool_change: {
    /** Always true; a failure is an error. */
    accepted: boolean;
  };
  /** The server is accepted as it is. */
  host_accept_server_change: {
    /** Always true; a failure is an error. */
    accepted: boolean;
  };
  /** From now on. */
  mcp_follow_messages: {
    /** The level. */
    level: string;
  };
  /** The AI client may serve; what it may do is in its grants. */
  mcp_begin: {
    /** Whether it has got its first grants by this. */
    granted: boolean;
    /** What `mcp.firstUse` says: `all`, `ask` or `none`. */
    first_use: string;
  };
  /** A page of the catalog. */
  catalog_get: {
    /** The entries, the first ones first. */
    entries: Array<CatalogEntry>;
    /** Where the next page begins; absent on the last one. */
    next_cursor?: string;
    /** How many there are on all pages. */
    total: number;
    /** `YYYY-MM-DD`: all there is are the entries that Harbor brought along, of that day, as no source was reached yet. */
    snapshot?: string;
    /** When a source was last fetched, in milliseconds since 1970. */
    last_refresh?: number;
  };
  /** A page of what was found. */
  catalog_search: {
    /** The entries, the best ones first. */
    entries: Array<CatalogEntry>;
    /** As in `catalog_get`. */
    next_cursor?: string;
    /** How many were found; absent when they are more than 500. */
    total?: number;
    /** As in `catalog_get`. */
    snapshot?: string;
    /** As in `catalog_get`. */
    last_refresh?: number;
  };
  /** One of the catalog. */
  catalog_entry: {
    /** It. */
    details: CatalogDetails;
  };
  /** The refresh is over. Sources that failed are told; the entries of those are as they were. */
  catalog_refresh: {
    /** What has changed. */
    changes: CatalogChanges;
    /** How the sources did. */
    sources: Array<CatalogSource>;
    /** How many entries there are now. */
    entries: number;
    /** As in `catalog_get`. */
    snapshot?: string;
  };
  /** The looking up is over. */
  catalog_enrich: {
    /** How many entries were looked up. */
    enriched: number;
    /** How many of them could not be. */
    failed: number;
  };
  /** How the catalog is. */
  catalog_status: {
    /** As in `status`. */
    catalog: CatalogStatus;
    /** The sources, by name; those of the file, which need not be the configured ones. */
    sources: Array<CatalogSource>;
  };
  /** It is installed, or what would be. */
  install_server: {
    /** The package and its server. */
    installed: Installed;
  };
  /** What it is. */
  resolve_server: {
    /** It. */
    server: Resolved;
  };
  /** The servers that Harbor brings along. */
  get_curated_list: {
    /** One after the other. */
    servers: Array<Resolved>;
  };
  /** What is different. */
  upgrade_server: {
    /** The versions and their tools. */
    upgrade: Upgrade;
  };
  /** The earlier version is used. */
  undo_upgrade: {
    /** The package and its server. */
    installed: Installed;
  };
  /** As `remove_server`. */
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
    /** Their packages. */
    servers: Array<Installed>;
  };
  /** The programs. */
  check_runtimes: {
    /** What was found, and where. */
    runtimes: Runtimes;
  };
  /** The secret is on disk. */
  set_credential: {
    /** What is told of it. */
    credential: Credential;
    /** Whether the server is up: a restart gives it the new one. */
    running: boolean;
    /** Whether the server had failed for the lack of it, and is started now. */
    starts: boolean;
  };
  /** The secrets are on disk. */
  set_server_secrets: {
    /** What the server has now. */
    status: CredentialStatus;
    /** As in `set_credential`. */
    running: boolean;
    /** As in `set_credential`. */
    starts: boolean;
  };
  /** What the server has. */
  get_credential_status: {
    /** By name. */
    status: CredentialStatus;
  };
  /** What is wrong. */
  validate_credentials: {
    /** Whether nothing keeps the server from its secrets. */
    valid: boolean;
    /** What does, a sentence each. */
    errors: Array<string>;
    /** What is to be minded, a sentence each. */
    warnings: Array<string>;
  };
  /** The secret is gone. */
  delete_credential: {
    /** False when there was none. */
    deleted: boolean;
    /** Whether the server is up: it has the secret until it is stopped. */
    running: boolean;
  };
  /** The secrets. */
  list_credentials: {
    /** By server and name. */
    credentials: Array<Credential>;
  };
  /** The person is to be asked. */
  oauth_start: {
    /** What they are to open in a browser: `https://…`, or `http://…` on this machine. */
    authorization_url: string;
    /** Where their browser comes back to. */
    redirect_uri: string;
    /** Until when, in milliseconds since 1970. */
    expires_at: number;
  };
  /** The person has let Harbor in. */
  oauth_finish: {
    /** As far as they have. */
    authorization: Authorization;
  };
  /** No authorization is under way any more. */
  oauth_cancel: {
    /** False when none was. */
    cancelled: boolean;
  };
  /** What the person has let Harbor do. */
  oauth_status: {
    /** Absent where that is nothing. */
    authorization?: Authorization;
  };
  /** The tokens are deleted. */
  oauth_revoke: {
    /** False when there were none. */
    revoked: boolean;
    /** Whether the authorization server knows. */
    told: boolean;
    /** Why not, when not. */
    why?: string;
  };
  /** Where they are kept. */
  get_secret_store: {
    /** How. */
    secret_store: SecretStore;
  };
  /** They can be read. */
  unlock_secrets: {
    /** How they are kept. */
    secret_store: SecretStore;
  };
  /** They cannot be read any more. */
  lock_secrets: {
    /** How they are kept. */
    secret_store: SecretStore;
  };
  /** They are encrypted on disk. */
  encrypt_secrets: {
    /** How they are kept now. */
    secret_store: SecretStore;
  };
  /** They are plain on disk. */
  decrypt_secrets: {
    /** How they are kept now. */
    secret_store: SecretStore;
  };
  /** They are where `config.toml` says. */
  move_secrets: {
    /** How they are kept now. */
    secret_store: SecretStore;
  };
  /** What was found. */
  llm_detect: {
    /** The programs on this machine, and the providers that were added. */
    providers: Array<Provider>;
    /** Whether one of them can be used. */
    hasAvailable: boolean;
    /** Keys that lie in the environment, of types of which no provider has a key. */
    environment: Array<EnvironmentKey>;
  };
  /** The providers. */
  llm_list_providers: {
    /** By id. */
    providers: Array<Provider>;
    /** The id of the default one. */
    active?: string;
  };
  /** What can be added. */
  llm_get_supported_providers: {
    /** What runs on this machine. */
    local: Array<ProviderType>;
    /** Services. */
    remote: Array<ProviderType>;
    /** The ids of the providers that have a key. */
    configuredApiKeys: Array<string>;
  };
  /** It is added. */
  llm_add_provider: {
    /** Its id. */
    id: string;
    /** What is known of it. */
    provider: Provider;
  };
  /** It is changed. */
  llm_configure_provider: {
    /** What is known of it now. */
    provider: Provider;
    /** Whether it had a key that was dropped. */
    key_dropped: boolean;
  };
  /** It is forgotten. */
  llm_remove_provider: {
    /** False when there was none. */
    removed: boolean;
  };
  /** The key is stored. */
  llm_set_api_key: {
    /** Always true; a failure is an error. */
    success: boolean;
    /** The provider's id. */
    provider: string;
    /** Whether it can be used, as far as that is known. */
    available: boolean;
  };
  /** The key is deleted. */
  llm_remove_api_key: {
    /** False when there was none. */
    success: boolean;
    /** The provider's id. */
    provider: string;
  };
  /** What it said. */
  llm_check_provider: {
    /** Whether it answers, and takes the key. */
    available: boolean;
    /** How long that took, in milliseconds. */
    latency_ms: number;
    /** Why not, a word as in `ERR_MODEL_FAILED`. */
    cause?: string;
    /** The same in the provider's own words. */
    message?: string;
  };
  /** The models. */
  llm_list_models: {
    /** By provider, in its order. */
    models: Array<Model>;
    /** The id of the default provider. */
    provider?: string;
    /** The ids of providers that did not answer. */
    failed: Array<string>;
  };
  /** The models. */
  llm_list_models_for: {
    /** In the provider's order. */
    models: Array<Model>;
    /** The provider's id. */
    provider: string;
  };
  /** It holds from the next request on. */
  llm_set_active: {
    /** Always true; a failure is an error. */
    success: boolean;
    /** The provider's id. */
    active: string;
    /** The model's name there; absent: its first. */
    model?: string;
  };
  /** It holds from the next request on. */
  llm_set_model: {
    /** Always true; a failure is an error. */
    success: boolean;
    /** The provider's id. */
    active: string;
    /** The model's name there. */
    model: string;
  };
  /** What is used where a request names nothing. */
  llm_get_active: {
    /** The provider's id; absent where there is none. */
    active?: string;
    /** The model's name there; absent: its first. */
    model?: string;
    /** `ready`, `no_provider`, `no_key`, `disabled` or `unavailable`. */
    status: string;
  };
  /** All that is set. */
  llm_get_config: {
    /** The providers that were added, by id. */
    providers: Array<Provider>;
    /** The ids of those that can be used, as far as that is known. */
    available: Array<string>;
    /** The default provider. */
    activeProvider?: string;
    /** Its model. */
    activeModel?: string;
    /** The ids of the providers that have a key. */
    configuredApiKeys: Array<string>;
  };
  /** The answer is whole. */
  llm_chat: {
    /** What the model said. */
    response: ChatResponse;
    /** The provider's id. */
    provider: string;
    /** The model's name there. */
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
  /** Whether there was such a request. */
  llm_more: {
    /** False when it has ended, or does not stream. */
    accepted: boolean;
  };
  /** The models. */
  host_llm_list_models: {
    /** By provider, in its order. */
    models: Array<UsableModel>;
  };
  /** So many. */
  llm_count_tokens: {
    /** Tokens. */
    input_tokens: number;
    /** `exact`: the provider has counted; else `estimated`. */
    exactness: string;
  };
  /** What was taken. */
  llm_usage: {
    /** The newest day first. */
    usage: Array<ModelUsage>;
  };
  /** It holds from the next request on. */
  llm_set_budget: {
    /** The budget. */
    budget: Budget;
  };
  /** The budgets. */
  llm_list_budgets: {
    /** Those that a person has set, and those of whoever has used something today. */
    budgets: Array<Budget>;
    /** Tokens of a day that an origin has for which nothing is set. */
    of_an_origin: number;
  };
  /** It has begun. */
  chat_create_session: {
    /** The session. */
    session: ChatSession;
  };
  /** The turn is over. */
  chat_send_message: {
    /** What the model answered in the end. */
    response: string;
    /** The calls that it made, in their order. */
    steps: Array<TurnStep>;
    /** How often the model was asked. */
    iterations: number;
    /** Whether a limit ended it. */
    reachedMaxIterations: boolean;
    /** How long it took, in milliseconds. */
    durationMs: number;
    /** The turn. */
    turn_id: string;
    /** Why it ended: `done`, `stopped`, `rounds`, `calls`, `tokens`, `time` or `repeats`. */
    ended: string;
    /** What it has taken. */
    usage: ChatUsage;
    /** The provider's id. */
    provider?: string;
    /** The model's name there. */
    model?: string;
  };
  /** It is followed. */
  chat_watch: {
    /** The number of the next event. */
    seq: number;
    /** The turn that is under way. */
    turn_id?: string;
  };
  /** It ends. */
  chat_stop: {
    /** False when no turn was under way. */
    stopped: boolean;
  };
  /** The session as a text. */
  chat_export: {
    /** The text. */
    text: string;
  };
  /** The session. */
  chat_get_session: {
    /** What it is. */
    session: ChatSession;
    /** What was said. */
    messages: Array<ChatMessage>;
  };
  /** The sessions. */
  chat_list_sessions: {
    /** The one that was used last first. */
    sessions: Array<ChatSession>;
    /** How many there are in all. */
    total: number;
    /** Files that cannot be read, and why, a sentence each. */
    unreadable: Array<string>;
  };
  /** It is changed. */
  chat_update_session: {
    /** What it is now. */
    session: ChatSession;
  };
  /** It is empty. */
  chat_clear_messages: {
    /** How many messages it had. */
    cleared: number;
  };
  /** It is gone. */
  chat_delete_session: {
    /** False when there was none. */
    deleted: boolean;
  };
  /** The run is over. */
  run_start: {
    /** The run. */
    run_id: string;
    /** The answer. */
    output: string;
    /** Where it comes from, where that was asked for. */
    citations?: Array<Citation>;
    /** What it has taken. */
    usage: ChatUsage;
  };
  /** It is noted. */
  run_more: {
    /** False when there is no such run. */
    accepted: boolean;
  };
  /** It has begun. */
  session_create: {
    /** The session. */
    session: SessionSummary;
  };
  /** The session. */
  session_get: {
    /** What it is. */
    session: SessionSummary;
  };
  /** The sessions. */
  session_list: {
    /** The oldest first. */
    sessions: Array<SessionSummary>;
  };
  /** It is over. */
  session_end: {
    /** What it was. */
    session: SessionSummary;
  };
  /** What waits and what stands. */
  approvals_list: {
    /** Questions, the oldest first. */
    waiting: Array<Approval>;
    /** Answers that stand, the newest first. */
    standing: Array<StandingAnswer>;
    /** Of one question: the call's arguments, whole. */
    arguments?: Json;
  };
  /** The answer has come. */
  approvals_answer: {
    /** False when there is no such question any more. */
    answered: boolean;
  };
  /** They are taken back. */
  approvals_revoke: {
    /** How many those were. */
    revoked: number;
  };
  /** The guard of an AI client. */
  approvals_guard: {
    /** Whether it is on. */
    guard: boolean;
  };
  /** It is told of them, or not any more. */
  approvals_watch: Record<never, never>;
  /** It is there. */
  source_register: {
    /** Its id: `browser`, or `browser:NAME` where there is one already. */
    source_id: string;
  };
  /** It is gone. */
  source_unregister: {
    /** False when this connection has no such source. */
    unregistered: boolean;
  };
  /** Whether somebody waits for it. */
  source_result: {
    /** False when the call has ended, or was never made of a source of this connection. */
    accepted: boolean;
  };
  /** What the bridge says to it. */
  source_event: {
    /** False when it is about no session's tab, or no session. */
    accepted: boolean;
    /** Of `navigated` and `tab_opened`: `allowed` or `denied`. */
    verdict?: string;
    /** Why it is denied, as a sentence. */
    reason?: string;
  };
  /** They. */
  list_sources: {
    /** By id. */
    sources: Array<Source>;
  };
}

/** What the bridge sends unasked, by `type`. */
export interface Pushes {
  /** A call that was sent with `progress: true` goes on. The first 50 are pushed, then one in 50 ms: of what comes faster the newest, and the last before the answer. */
  progress: {
    /** The call's id. */
    request_id: string;
    /** How far it is; grows. */
    progress: Json;
    /** What `progress` will be at the end, if known. */
    total?: Json;
    /** What the server says about it. */
    message?: string;
  };
  /** A server asks something while it works on a request that was sent with `answers`, or Harbor does before it makes a call that may destroy something. Answered by `mcp_answer`; refused when that request ends first. */
  ask: {
    /** The question's number. */
    ask_id: number;
    /** The id of the request. */
    request_id: string;
    /** The server. */
    server_id: string;
    /** `sampling/createMessage` or `elicitation/create`. */
    method: string;
    /** MCP's parameters, as whoever asks wrote them. */
    params: Json;
  };
  /** A piece of an answer that is larger than the client's `max_frame`. The pieces of one answer come in order; joined, they are the answer's frame without its length prefix. */
  chunk: {
    /** The id of the request that is being answered. */
    request_id: string;
    /** Number of this piece, from 0. */
    seq: number;
    /** Whether it is the last one. */
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
  /** A server's state has changed; comes to clients that sent `watch_servers`. The definition of a new server comes with the state `stopped` and no old state; a removed server's last event has the state `removed`. */
  server_event: {
    /** The server's id. */
    server_id: string;
    /** The state before; the same as `new_state` when only `busy` changed. */
    old_state?: string;
    /** The state now. */
    new_state: string;
    /** When, in milliseconds since 1970. */
    timestamp: number;
    /** Whether it has not answered a probe while calls are open. */
    busy: boolean;
    /** Why, where it ended or failed: one word, see `Exit`. */
    cause?: string;
    /** The same as a sentence. */
    message?: string;
    /** Which restart is next or under way, counted since the last stable minute. */
    attempt?: number;
    /** When it will be tried again, in milliseconds since 1970. */
    next_retry?: number;
    /** Process id of the server, while it runs. */
    pid?: number;
  };
  /** Something of the status has changed, or numbers are due; comes to clients that sent `subscribe_status`. What is absent has not changed. */
  status_update: {
    /** `server`: one server has changed; `bridge`: the bridge has, by its clients or its configuration; `catalog`: the catalog has; `numbers`: all, since it is time. */
    category: string;
    /** When, in milliseconds since 1970. */
    timestamp: number;
    /** How it all is. */
    health: Health;
    /** With `bridge` and `numbers`: the bridge. */
    bridge?: BridgeStatus;
    /** With `server`: that one; with `numbers`: all. */
    servers?: Array<ServerStatus>;
    /** With `server`: the id of one that was removed. */
    removed?: string;
    /** With `catalog` and `numbers`: the catalog. */
    catalog?: CatalogStatus;
    /** With `numbers`: what is on the disk. */
    stores?: StoreSizes;
  };
  /** A log line of a server; comes to clients that sent `mcp_get_logs` with `follow`. */
  server_log: {
    /** The server's id. */
    server_id: string;
    /** Milliseconds since 1970. */
    timestamp: number;
    /** As in `LogLine`. */
    source: string;
    /** MCP's level, for `mcp` lines. */
    level?: string;
    /** The text, cut at 8 KiB. */
    text: string;
  };
  /** A server has logged an MCP message; comes to AI clients that sent `mcp_follow_messages`. */
  server_message: {
    /** The server's id. */
    server_id: string;
    /** MCP's level. */
    level: string;
    /** The message, as text; cut at 8 KiB. */
    text: string;
  };
  /** A grant was made, taken back, or has ended; comes to clients that sent `host_watch`. */
  grant_changed: {
    /** `granted`, `revoked` or `expired`. */
    change: string;
    /** The grant. */
    grant: Grant;
  };
  /** The tools of a server may have changed: it has come up or gone, or said so itself; comes to clients that sent `host_watch`. */
  tools_changed: {
    /** The server; absent for an AI client, which asks for its own list again. */
    server_id?: string;
  };
  /** The resources, or the prompts, of a server may have changed, likewise. */
  offers_changed: {
    /** `resources` (and their templates) or `prompts`. */
    kind: string;
    /** As in `tools_changed`. */
    server_id?: string;
  };
  /** A tool is not what it was when the person last saw it, or has joined those of its server; comes to the owner's connections that sent `host_watch`, at most 60 times a minute for one server: `host_list_tool_changes` has them all. */
  tool_changed: {
    /** The server. */
    server_id: string;
    /** The tool's own name. */
    tool_name: string;
    /** The hash of what it is now. */
    tool_hash: string;
    /** As in `ToolChange`; absent where the two together are longer than 16 KiB, and for a tool that is new. */
    before?: Json;
    /** The same of what it is now. */
    after?: Json;
    /** Whether the server had no tool of this name before. It can be used at once where a grant covers it. */
    is_new: boolean;
    /** As in `ToolChange`. */
    blocked: boolean;
    /** As in `ToolChange`. */
    hidden_characters: boolean;
  };
  /** Something of a chat that was asked for with `stream: true` has come; its answer is the chat's end. */
  llm_event: {
    /** The id of the request. */
    request_id: string;
    /** The number of this push, from 0 without a gap. */
    seq: number;
    /** What has come. */
    event: ChatEvent;
  };
  /** Something has happened in a session; comes to who sent `chat_watch`, or `chat_send_message` with `stream`. */
  chat_event: {
    /** The session. */
    session_id: string;
    /** The turn. */
    turn_id: string;
    /** The number of the event in its session, without a gap as long as the bridge runs. */
    seq: number;
    /** What has happened. */
    event: TurnEvent;
  };
  /** Something has happened in a run that was begun with `stream: true`; its answer is the run's end. What is larger than a frame of the client is left out of its event, which has an `error` instead; a `final` that is so large does not come: the answer says the same. */
  run_event: {
    /** The id of the request. */
    request_id: string;
    /** The run. */
    run_id: string;
    /** The number of this push, from 0 without a gap. */
    seq: number;
    /** What has happened. */
    event: RunEvent;
  };
  /** The person is asked about a call, or not any more; comes to connections that sent `approvals_watch`, and is answered by `approvals_answer`. */
  approval: {
    /** The question. */
    approval: Approval;
    /** False: it was answered, its caller has left, or its time is over. Nobody waits for an answer any more. */
    waits: boolean;
  };
  /** A tool of a source of this connection is called; `source_result` answers it. */
  source_call: {
    /** The call. Nobody can guess it. */
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
    /** When the bridge gives up. */
    timeout_ms: number;
    /** The tabs that may be acted on. */
    session: SourceSession;
  };
  /** Nobody waits for a call's answer any more: it is to stop. */
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
    /** Whether its tabs are to be closed; else they are the person's again. */
    close_tabs: boolean;
  };
}

/** How a server is started, watched, restarted and ended. What is absent has the default. */
export interface SupervisionSettings {
  /** When it is started again after an end that nobody asked for: `never`; `on_crash` (default): once it had connected; `always`: also when it never came up. */
  restart?: "never" | "on_crash" | "always";
  /** Restarts without a stable minute in between, then it is given up: 0 to 1,000,000, or `"unlimited"`; 3. */
  restart_attempts?: number | "unlimited";
  /** Milliseconds before the first, second, … restart, 0 to 3,600,000 each; the last one repeats; [2000, 4000, 6000]. */
  restart_delays_ms?: number[];
  /** How much longer, at random, a delay may be, in percent: 0 to 100; 0. */
  restart_jitter_percent?: number;
  /** How long a start may take, in milliseconds: 1,000 to 600,000; 30,000, or 120,000 for a command that downloads before it runs (npx, uvx). */
  start_timeout_ms?: number;
  /** How long a call may take whose request does not say: 1 to 3,600,000 ms; 30,000. */
  call_timeout_ms?: number;
  /** How long a call waits while the server starts or is about to be restarted: 0 (refuse at once) to 600,000 ms; 10,000. */
  queue_wait_ms?: number;
  /** How long after a call's timeout a server may stay without any sign of life before it counts as hung: 100 to 3,600,000 ms; 10,000. */
  hung_grace_ms?: number;
  /** How long it may take to end once its stdin is closed, before SIGTERM: 0 to 60,000 ms; 1,500. */
  eof_grace_ms?: number;
  /** How long it may take after SIGTERM, before SIGKILL: 0 to 60,000 ms; 1,500. */
  term_grace_ms?: number;
  /** Whether it starts with the bridge; false. */
  auto_start?: boolean;
  /** Whether a call starts it; true. Where it is false, only a person does, or the start of the bridge. */
  lazy?: boolean;
  /** How long it may stay without a call before it is stopped: 1,000 to 604,800,000 ms; for ever when absent. */
  idle_stop_ms?: number;
  /** `shared` (default): one process for all. `per_principal`: each web origin and each AI client has a process and files of its own, started at its first call; the person has the plain one. */
  instance?: "shared" | "per_principal";
  /** Of `per_principal`: how many processes there may be beside the plain one, 1 to 64; 8. One that nobody uses ends for a new one. */
  max_instances?: number;
  /** Whether what it answers counts as private, whatever it was given; false. Then nothing leaves unseen that a model has read there. */
  private?: boolean;
  /** Names of its tools that only read, whatever they say of themselves: the person's word counts. Of a tool in several lists, the worst holds. */
  reads?: string[];
  /** Those that change something and destroy nothing. */
  writes?: string[];
  /** Those that may destroy something. */
  destroys?: string[];
}

/** What a server may do on this machine. What is absent has the default. */
export interface SandboxSettings {
  /** `off`; `basic`: its own environment and limits; `standard` (default): files, system calls and signals too, as far as the kernel can hold them; `strict`: no network either, and namespaces are required. */
  level?: "off" | "basic" | "standard" | "strict";
  /** Whether it is refused to start where the kernel cannot hold all of its level; false. */
  required?: boolean;
  /** Absolute paths that it may read besides. */
  read?: string[];
  /** Absolute paths that it may read and write besides. */
  write?: string[];
  /** Unix sockets that it may connect to. */
  sockets?: string[];
  /** `none`, `loopback` (its own), `hosts` (those of `hosts`) or `all` (default, but for `strict`: `none`). */
  network?: "none" | "loopback" | "hosts" | "all";
  /** With the network `hosts`: `example.com`, `*.example.com`, `192.0.2.7`, `[2001:db8::1]`, each with or without `:PORT` (443 and 80 when absent). */
  hosts?: string[];
  /** With the network `all`: a TCP port of 127.0.0.1 (and of ::1) on which it may listen, 1,024 to 65,535; none. */
  listen?: number;
  /** Memory of all its processes together, in MiB: 64 to 1,048,576; 2,048. */
  memory_mb?: number;
  /** Processes and threads: 8 to 65,536; 512. */
  processes?: number;
  /** Open files of each process: 64 to 1,048,576; 4,096. */
  open_files?: number;
  /** The largest file that it may write, in MiB: 1 to 1,048,576; 1,024. */
  file_size_mb?: number;
  /** Its data and temporary files together, in MiB: 1 to 1,048,576; 4,096. */
  disk_mb?: number;
  /** How much it steps back when others want the processor, 0 to 19 (nice(1)); 5. */
  nice?: number;
}

/** A server: its definition and its state. Values of environment variables are never shown. */
export interface Server {
  /** The server's id. */
  server_id: string;
  /** A name for people. */
  label: string;
  /** The program; empty where an image is run. */
  command: string;
  /** The container image that is run. */
  image?: Image;
  /** Its arguments; what looks like a secret in them is left out. */
  args: Array<string>;
  /** Names of the environment variables of its own. */
  env_names: Array<string>;
  /** The directory it runs in, where one was given. */
  cwd?: string;
  /** `installing`, `stopped`, `starting`, `running`, `stopping`, `crashed` (waits to be restarted) or `failed`. */
  state: string;
  /** The same for people: `running` (or on its way), `ready` (a call starts it), `stopped` (only a person starts it), `needs_key`, `needs_sign_in`, `needs_approval` (it is another program than the one that was allowed) or `failed`. */
  shown_state: string;
  /** Since when, in milliseconds since 1970. */
  since: number;
  /** Whether it has not answered a probe while calls are open; many servers do one thing at a time. */
  busy: boolean;
  /** Process id of the server, while it runs. */
  pid?: number;
  /** Process id of its runner, while there is one. */
  runner_pid?: number;
  /** How many tools it offers, or had when it ran last; absent where that is not known. */
  tool_count?: number;
  /** What is wrong with its lists, while it runs, a sentence each; absent when nothing is. */
  list_problems?: Array<string>;
  /** How many of its tools have changed since they were first seen and are not accepted; absent when none has. */
  changed_tools?: number;
  /** It is another program than the one that was allowed: origins are kept from it until that is accepted. */
  program_change?: ServerChange;
  /** How often it was restarted since it was last started by a person. */
  restarts: number;
  /** Restarts that count against `restart_attempts`: those without a stable minute behind them. */
  attempt: number;
  /** While it waits to be restarted: when that will be, in milliseconds since 1970. Of a server that was given up after it had run: from when on a call tries it once more. */
  next_retry?: number;
  /** How it last ended without being told to, as a sentence; also while it runs again. */
  last_error?: string;
  /** The same for programs. */
  last_exit?: Exit;
  /** Calls that wait until it runs. */
  queued: number;
  /** Answers that came after their call had ended; they were dropped. */
  late_answers: number;
  /** What its runner can promise: `pid_namespace` (the kernel ends everything that it started together with its runner) or `process_group` (what left its group is ended by its runner, by the bridge, or by the next start of the bridge) or `container` (the engine ends it; its runner, the bridge or the next start of the bridge has it removed). Known once it was started. */
  containment?: string;
  /** Why it is not `pid_namespace`. */
  containment_reason?: string;
  /** The MCP revision that it speaks, once known. */
  protocol_version?: string;
  /** The package that is installed for it and run without npx or uvx, in its version once that is locked. */
  package?: string;
  /** The hash that is locked of it; `list_installed` says more. */
  integrity?: string;
  /** Where it is, if that is elsewhere; then it has no program. */
  remote?: Remote;
  /** How it is supervised, as its definition says. */
  supervision: SupervisionSettings;
  /** What held its last start: the level, and what of it this kernel cannot hold; none until it was started. */
  sandbox?: SandboxSummary;
}

/** How a server is started, as the person said it. Values of variables and headers are never shown. */
export interface Definition {
  /** The server's id. */
  server_id: string;
  /** A name for people, where one was given. */
  label?: string;
  /** The program; absent where an image is run, or nothing here. */
  command?: string;
  /** The container image. */
  image?: string;
  /** The engine that runs the image, where one was named. */
  engine?: string;
  /** Its arguments. */
  args: Array<string>;
  /** Names of its environment variables. */
  env_names: Array<string>;
  /** The directory it runs in, where one was given. */
  cwd?: string;
  /** The roots that it may ask for. */
  roots: Array<string>;
  /** Whether the command runs as it is, although it may be recognised as a package. */
  as_is: boolean;
  /** Names of secrets without which it is not started. */
  secrets: Array<string>;
  /** How it is supervised. */
  supervision: SupervisionSettings;
  /** What it may do on this machine. */
  sandbox: SandboxSettings;
  /** Where it is, if that is elsewhere: what is shown of that. */
  url?: string;
  /** `http`, `sse` or `auto`, if it is elsewhere. */
  transport_type?: string;
  /** Names of its headers. */
  header_names: Array<string>;
  /** Whether it may be at a private address. */
  allow_private: boolean;
  /** Whether it may be spoken to without TLS. */
  allow_http: boolean;
}

/** A server that runs elsewhere. */
export interface Remote {
  /** Its URL; a query is left out. */
  url: string;
  /** `http`, `sse` or `auto`. */
  transport_type: string;
  /** Names of the headers that go with each request. */
  header_names: Array<string>;
}

/** How a server ended, or why it could not be started. */
export interface Exit {
  /** One word: `exited`, `signalled`, `out_of_memory`, `too_many_processes`, `disk_full`, `hung`, `closed_stdout`, `spawn_failed`, `timeout`, `refused`, `malformed`, `unknown_protocol_version`, `install_failed`, `package_lost`, `missing_secrets`, `secrets_locked`, `secrets_unreadable`, `runner_lost`, `protocol_error`, or `stopped`; of a server elsewhere also `unreachable`, `unauthorized`, `session_lost`, `forbidden`, `tls` or `no_mcp`. */
  cause: string;
  /** One sentence. */
  message: string;
  /** Its exit code, where it had one. */
  exit_code?: number;
  /** The signal that ended it, where one did. */
  signal?: number;
  /** The last lines of its stderr. */
  stderr_tail?: string;
  /** When, in milliseconds since 1970. */
  timestamp: number;
}

/** A running server. */
export interface Connection {
  /** The server's id. */
  server_id: string;
  /** What it said about itself. */
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

/** What a server said about itself at contact. */
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
  /** MCP's level, for `mcp` lines. */
  level?: string;
  /** The text, cut at 8 KiB. */
  text: string;
}

/** The image of a server. */
export interface Image {
  /** As its definition names it. */
  reference: string;
  /** `podman` or `docker`; absent until one was found, unless its definition says which. */
  engine?: string;
  /** The image's own id, by which it is run whatever the reference means by now; absent until it was found. */
  id?: string;
  /** What the registry calls it: `registry.example/name@sha256:…`; absent where none does. */
  digest?: string;
}

/** What holds a server, in short. */
export interface SandboxSummary {
  /** `off`, `basic`, `standard` or `strict`. */
  level: string;
  /** What of the kernel does it: `landlock 7, seccomp, namespaces`, or less. */
  held_by: string;
  /** `none`, `loopback`, `hosts` or `all`. */
  network: string;
  /** What the level asks for and this kernel cannot do, a sentence each. */
  missing: Array<string>;
  /** Ways in which this server may leave its sandbox or reach more than one would think, a sentence each. */
  warnings: Array<string>;
}

/** What a server may do on this machine. */
export interface Sandbox {
  /** As its definition says. */
  settings: SandboxSettings;
  /** What holds it. */
  summary: SandboxSummary;
  /** Why it would not be started; absent when it would. */
  refused?: string;
  /** What it may reach of the file system. */
  paths: Array<SandboxPath>;
  /** Directories that look empty to it, but for what it may reach below them. */
  hidden: Array<string>;
  /** What it may use up: `2048 MiB of memory`, one after the other; empty where nothing is limited. */
  limits: Array<string>;
  /** Names of its environment variables. */
  env_names: Array<string>;
  /** What it was refused since the bridge began, newest last. */
  denied: Array<Denied>;
  /** Whom it may tell, as far as consent sees it: `closed` (nobody), `enforced` (those whom Harbor holds it to) or `open`. */
  reach: string;
}

/** A place that a server may reach. */
export interface SandboxPath {
  /** The file or directory. */
  path: string;
  /** `read` (list and execute too), `write` or `device`. */
  access: string;
  /** Why: `system`, `program`, `package`, `data`, `temporary`, `argument`, `cwd`, `granted`. */
  why: string;
  /** Of what was granted by another name, that one: the way there has symbolic links on it. */
  granted_as?: string;
}

/** Something that a server was refused. */
export interface Denied {
  /** A path as the server wrote it. What begins with no `/` is something else, in words: `more memory than 2048 MiB`, `the host example.com`. */
  path: string;
  /** Whether it wanted to write, of a path. */
  write: boolean;
  /** The option of `harbor sandbox` that would allow it; absent where nothing does. */
  allow?: string;
  /** What to mind before it is given: a sentence, where it leads out of the sandbox. */
  mind?: string;
  /** Why nothing does. */
  never?: string;
}

/** A secret, without its value. */
export interface Credential {
  /** The server that it is for, or `browser`. */
  server_id: string;
  /** Its name. */
  key: string;
  /** `api_key`, `password`, `oauth` or `header`. */
  credential_type: string;
  /** Whether a name belongs to it, as to a password. */
  has_username: boolean;
  /** When it was set, in milliseconds since 1970. */
  set_at: number;
  /** When it ends, likewise; absent where nobody knows. */
  expires_at?: number;
  /** Whether it has ended. */
  is_expired: boolean;
  /** Of `browser`: the site that it is kept for. */
  site?: string;
}

/** Where secrets are kept. Says nothing of what there is. */
export interface SecretStore {
  /** What `config.toml` says: `file` or `keyring`. */
  store: string;
  /** What has their key: `none` (the file is plain), `passphrase` or `keyring`. */
  encryption: string;
  /** Whether they cannot be read at present. */
  locked: boolean;
  /** Whether `unlock_secrets` needs a passphrase. */
  asks: boolean;
  /** Why they are not as `config.toml` says, and what to do; absent where they are. */
  misplaced?: string;
}

/** Whether a server has the secrets that it needs. */
export interface CredentialStatus {
  /** The server. */
  server_id: string;
  /** Whether none is missing and none has ended. */
  is_complete: boolean;
  /** Names of those that are set. */
  configured: Array<string>;
  /** Names of those that its definition asks for and that are not set. */
  missing: Array<string>;
  /** Names of those that have ended. */
  expired: Array<string>;
}

/** What a person has let Harbor do at a server, without its tokens. */
export interface Authorization {
  /** The server that it is for. */
  server_id: string;
  /** The authorization server. */
  issuer: string;
  /** What the server calls itself there. */
  resource: string;
  /** As whom Harbor is known there. */
  client_id: string;
  /** What it is for. */
  scopes: Array<string>;
  /** When the person said yes, in milliseconds since 1970. */
  granted_at: number;
  /** When the present token ends, likewise; absent where nobody knows. */
  expires_at?: number;
  /** Whether it is renewed automatically. */
  renews: boolean;
  /** Whether it has ended, and the person has to be asked again. */
  is_expired: boolean;
}

/** What a person allows or forbids. */
export interface Grant {
  /** The origin in its canonical form. */
  origin: string;
  /** Which of its profiles. */
  profile: string;
  /** What for. */
  scope: string;
  /** `ALLOW_ONCE`, `ALLOW_ALWAYS` or `DENY`. */
  grant_type: string;
  /** When it was made, in milliseconds since 1970. */
  created_at: number;
  /** When it ends, in milliseconds since 1970. */
  expires_at?: number;
  /** The tab that it is bound to. */
  tab_id?: number;
  /** The tools that it is for; all when absent. */
  allowed_tools?: Array<string>;
  /** How many calls run on it now; absent when none does. */
  running?: number;
  /** True of one that the disk has not taken: it holds until the bridge ends. Absent of others. */
  unstored?: boolean;
}

/** What holds until the bridge ends, and is not on disk: the disk refuses it. */
export interface Unstored {
  /** The origin. */
  origin: string;
  /** Which of its profiles. */
  profile: string;
  /** What for. */
  scope: string;
  /** `denied` or `revoked`. */
  change: string;
}

/** A server that is another program than the one that was allowed. */
export interface ServerChange {
  /** The server. */
  server_id: string;
  /** The program that was allowed: a package, image, address or command. */
  before: string;
  /** The program that it is now. */
  after: string;
  /** Since when, in milliseconds since 1970. */
  since: number;
}

/** A tool as origins see it. What the server wrote stands as it wrote it. */
export interface ToolDescriptor {
  /** The name to call it by: `server/tool`. */
  name: string;
  /** The server's id. */
  serverId: string;
  /** The server's name for people. */
  serverLabel: string;
  /** The tool's own name. */
  originalName: string;
  /** sha256, in hex, of the RFC 8785 form of all that the server says of it but `harbor/via` in `_meta`. */
  toolHash: string;
  /** Whether its texts have hidden or control characters. */
  hiddenCharacters?: boolean;
  /** Its name for people. */
  title?: Json;
  /** What it does. */
  description?: Json;
  /** JSON Schema of its arguments. */
  inputSchema?: Json;
  /** JSON Schema of its structured result. */
  outputSchema?: Json;
  /** What the server says about its effects. */
  annotations?: Json;
  /** The identities of the Harbors that it has come through, the last one first: an array. */
  via?: Json;
  /** All else that the server says of it, as an object: `icons`, `_meta`, `execution`, …. */
  otherMembers?: Json;
}

/** A server of which an origin may use a tool. */
export interface UsableServer {
  /** The server's id. */
  server_id: string;
  /** Its name for people. */
  label: string;
  /** As in `Server`. */
  state: string;
  /** How many of its tools the origin may use. */
  tool_count: number;
}

/** What a server offers of one kind. */
export interface Offers {
  /** The server's id. */
  server_id: string;
  /** An array of MCP's objects, as the server wrote them. */
  items: Json;
}

/** Where a result comes from. */
export interface Provenance {
  /** The server. */
  serverId: string;
  /** The tool's own name. */
  toolName: string;
  /** How long the server took, in milliseconds. */
  durationMs: number;
  /** As in `ToolDescriptor`. */
  toolHash: string;
}

/** A tool that is not what it was when the person last saw it. */
export interface ToolChange {
  /** The server. */
  server_id: string;
  /** The tool's own name. */
  tool_name: string;
  /** The hash of what it is now. */
  tool_hash: string;
  /** What it was: `{title?, description?, inputSchema?, outputSchema?, annotations?, …}`. */
  before: Json;
  /** What it is now. */
  after: Json;
  /** Whether origins are kept from it until it is accepted (`host.changedTools`). */
  blocked: boolean;
  /** Whether its texts have hidden or control characters now. */
  hidden_characters: boolean;
}

/** The counts since the bridge began. What is about all is absent where one origin was asked about. */
export interface Stats {
  /** The servers. */
  servers?: ServersCount;
  /** The tools of servers that run. */
  tools?: ToolsCount;
  /** The limits in force: of the origin, or of origins that have none of their own. */
  rateLimits: RateLimits;
  /** All calls. */
  calls: CallCounts;
  /** `CallCounts` by server. */
  callsByServer?: { [name: string]: CallCounts };
  /** `CallCounts` by tool, `server/tool`; those that no server has count as `(others)`. */
  callsByTool?: { [name: string]: CallCounts };
  /** `CallCounts` by origin; `owner` is the person. */
  callsByOrigin?: { [name: string]: CallCounts };
  /** What was decided, how often. */
  decisions: Array<DecisionCount>;
  /** How many grants there are. */
  grants: number;
  /** How many runs there are. */
  runs?: number;
  /** Calls of the origin (else of the owner) that are under way. */
  underWay: number;
  /** Those that wait for their turn. */
  waiting: number;
  /** The audit log. */
  audit?: AuditHealth;
}

/** How many servers there are. */
export interface ServersCount {
  /** All that are defined. */
  total: number;
  /** Those that run. */
  running: number;
}

/** How many tools there are. */
export interface ToolsCount {
  /** All. */
  totalTools: number;
  /** Servers that have listed theirs. */
  serverCount: number;
  /** How many, by server. */
  toolsByServer: { [name: string]: number };
}

/** Limits; absent where there is none. */
export interface RateLimits {
  /** Calls that a run may make. */
  maxCallsPerRun?: number;
  /** Calls at once. */
  maxConcurrentPerOrigin?: number;
  /** How long a call may take that does not say, in milliseconds. */
  defaultTimeoutMs?: number;
  /** Calls that may wait for their turn. */
  queueLength: number;
  /** How long one may wait, in milliseconds. */
  queueWaitMs: number;
  /** Calls in a minute. */
  callsPerMinutePerOrigin?: number;
}

/** Calls that are over. */
export interface CallCounts {
  /** All of them. */
  calls: number;
  /** Those that ended with an error. */
  failures: number;
  /** Those with a result in which the tool says that it has failed (`isError`); they are not among `failures`. */
  toolErrors: number;
  /** The same by code. */
  failuresByCode: { [name: string]: number };
  /** Bytes of arguments. */
  bytesIn: number;
  /** Bytes of results. */
  bytesOut: number;
  /** From the request to the answer, in microseconds. */
  durationUs: Times;
  /** What of it was waiting for their turn, in microseconds. */
  queuedUs: Times;
}

/** Times. Quantiles are at most a quarter too large. */
export interface Times {
  /** Half took no longer. */
  p50: number;
  /** 99 of 100 took no longer. */
  p99: number;
  /** The longest. */
  max: number;
  /** All together. */
  sum: number;
}

/** How often something was decided. */
export interface DecisionCount {
  /** For whom. */
  origin: string;
  /** About what. */
  scope: string;
  /** `allowed`, or the code of the refusal. */
  decision: string;
  /** How often. */
  count: number;
}

/** How the audit log does. */
export interface AuditHealth {
  /** Whether it cannot be written at present. */
  failing: boolean;
  /** How many records are in none, since the bridge began. */
  unaudited: number;
}

/** Everything, as of one moment. What has to be measured carries the time of its measurement. */
export interface Status {
  /** The version of this object; other numbers mean other fields. */
  version: number;
  /** When it was made, in milliseconds since 1970. */
  timestamp: number;
  /** How it all is. */
  health: Health;
  /** The bridge. */
  bridge: BridgeStatus;
  /** The servers, by id. */
  servers: Array<ServerStatus>;
  /** The catalog. */
  catalog: CatalogStatus;
  /** The models; absent from a bridge that knows none. */
  models?: ModelsStatus;
  /** Turns in which a model uses tools; absent from a bridge that knows none. */
  agent?: AgentStatus;
  /** The limits of origins that have none of their own. */
  limits: RateLimits;
  /** What is on the disk; absent until it was looked at. */
  stores?: StoreSizes;
}

/** How it all is, and why. */
export interface Health {
  /** `ok`; `degraded`: something does not work, and the rest does; `failing`: calls are refused, or what happens is not written down. */
  state: string;
  /** What is wrong, the worst first; empty when nothing is. */
  reasons: Array<HealthReason>;
}

/** Something that is wrong. */
export interface HealthReason {
  /** `degraded` or `failing`. */
  state: string;
  /** Which server has it, where it is one. */
  server?: string;
  /** A word for programs: `server_failed`, `server_crashed`, `list_failed`, `list_incomplete`, `audit_failing`, `audit_incomplete`, `database_failing`, `database_rebuilt`, `grants_unstored`, `sessions_unsaved`, `log_failing`, `secrets_unreadable`, `unread_answers`, `config_refused`, `metrics_unavailable` or `model_provider_refuses`. */
  code: string;
  /** The same as a sentence. */
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
  /** How long it has been there, in milliseconds. */
  uptime_ms: number;
  /** Whether each server has a runner of its own. */
  isolation: boolean;
  /** What this kernel can hold servers to; absent until that was tried, right after the start. */
  kernel?: KernelStatus;
  /** Who is connected. */
  clients: ClientCounts;
  /** Requests of clients that are not answered yet. */
  open_requests: number;
  /** Calls that wait for their turn. */
  waiting: number;
  /** Bytes that wait to be read by clients. */
  unread_bytes: number;
  /** All calls since it began. */
  calls: CallCounts;
  /** The audit log. */
  audit: AuditHealth;
  /** What it uses; absent until it was measured. */
  usage?: UsageSample;
  /** Where secrets are kept. */
  secrets: SecretStore;
  /** What an AI client gets whose name is new: `all`, `ask` or `none`, as `mcp.firstUse` says; `closed`: nothing, since it was lost who had been here. */
  first_use: string;
  /** Where metrics are served over HTTP, `127.0.0.1:9464`; absent where nowhere. */
  metrics?: string;
}

/** What this kernel can hold servers to. */
export interface KernelStatus {
  /** `landlock 7, seccomp, namespaces`, or less. */
  held_by: string;
  /** What of the sandbox level `standard` it cannot hold, a sentence each. */
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
  /** The same for people, as `Server.shown_state` has it. */
  shown_state: string;
  /** Since when, in milliseconds since 1970. */
  since: number;
  /** Whether it has not answered a probe while calls are open. */
  busy: boolean;
  /** Its process id, while it runs. */
  pid?: number;
  /** The process id of its runner, while there is one. */
  runner_pid?: number;
  /** How many tools it offers, while it runs; absent where they could not be listed. */
  tools?: number;
  /** How often it was restarted since a person last started it. */
  restarts: number;
  /** Restarts without a stable minute behind them. */
  attempt: number;
  /** When it is tried again, in milliseconds since 1970. */
  next_retry?: number;
  /** How it last ended without being told to, one word; also while it runs again. */
  last_cause?: string;
  /** The same as a sentence. */
  last_error?: string;
  /** Calls that it is working on. */
  in_flight: number;
  /** Calls that wait until it runs. */
  queued: number;
  /** Its calls since the bridge began; absent when there were none. */
  calls?: CallCounts;
  /** The level of its sandbox; absent until it was started. */
  sandbox?: string;
  /** What holds it, in short. */
  sandbox_held_by?: string;
  /** Lines that it has logged since the bridge began or its definition was changed: where the end of its log is. */
  log_lines: number;
  /** How long a message takes from the bridge to its runner and back, in microseconds, when `usage` was last measured. */
  ipc_us?: number;
  /** What its processes use, its own runner among them; absent until it was measured, and when it does not run. */
  usage?: UsageSample;
  /** Its processes that belong to one web origin or AI client each, by name; none of a server that all share. */
  instances: Array<InstanceStatus>;
}

/** A process of a server for one web origin or AI client. */
export interface InstanceStatus {
  /** Its name: `memory@` and 16 hexadecimal digits, the same whenever that principal has one. */
  id: string;
  /** Whose it is. */
  principal: string;
  /** As in `ServerStatus`. */
  state: string;
  /** Since when, in milliseconds since 1970. */
  since: number;
  /** Its process id, while it runs. */
  pid?: number;
  /** Calls that it is working on. */
  in_flight: number;
  /** Calls that wait until it runs. */
  queued: number;
  /** How often it was restarted. */
  restarts: number;
  /** How it last ended without being told to, a sentence. */
  last_error?: string;
}

/** What models do with tools, since the bridge began. Nothing of what was said. */
export interface AgentStatus {
  /** Turns that are under way, those of runs among them. */
  running: number;
  /** Turns that have ended, by why: `done`, `stopped`, `rounds`, `calls`, `tokens`, `time`, `repeats` or `failed`. */
  ended: { [name: string]: number };
  /** How often a model was asked. */
  rounds: number;
  /** Calls of tools that models wanted. */
  calls: number;
  /** Tokens that models have read. */
  input_tokens: number;
  /** Tokens that they have written. */
  output_tokens: number;
  /** Questions that wait for the person. */
  waiting: number;
  /** Questions that were answered, by how: `once`, `session`, `always`, `no`, or `gone`: the turn ended before. */
  answered: { [name: string]: number };
}

/** What processes use. */
export interface UsageSample {
  /** How old this is, in milliseconds. */
  age_ms: number;
  /** Memory, in bytes: what several processes share counts once (PSS). */
  memory: number;
  /** Processor time since they began, in milliseconds; a server's with that of its ended children. */
  cpu_ms: number;
  /** Processor time in thousandths of one processor, since the sample before; absent in the first one. */
  cpu_permille?: number;
  /** Open files. */
  open_files: number;
  /** Processes. */
  processes: number;
  /** Threads. */
  threads: number;
}

/** The catalog of servers that can be had, and its worker. */
export interface CatalogStatus {
  /** Of the worker: `off` (by the environment or the configuration), `stopped` (it is started when there is something to do), `starting`, `running`, `stopping`, `crashed` (waits to be restarted) or `failed`. */
  state: string;
  /** Its process id, while there is one. */
  pid?: number;
  /** How often it was restarted since the bridge began. */
  restarts: number;
  /** What it does: `refreshing` or `enriching`; absent when nothing. */
  activity?: string;
  /** The same as a sentence, while it does something. */
  step?: string;
  /** The file: `ok`, `missing`, `newer` (of a newer Harbor), `corrupt` or `unreadable`; absent until it was looked at. */
  file?: string;
  /** What is wrong with the file, a sentence. */
  file_error?: string;
  /** Entries that are not removed; absent until the file was looked at. */
  entries?: number;
  /** `YYYY-MM-DD`: all there is are the entries that Harbor brought along, of that day. */
  snapshot?: string;
  /** When a source was last fetched, in milliseconds since 1970. */
  last_refresh?: number;
  /** How long the last refresh took, in milliseconds. */
  refresh_ms?: number;
  /** When it is next refreshed, in milliseconds since 1970; absent when only on request. */
  next_refresh?: number;
  /** How many sources failed the last time. */
  failing: number;
  /** What went wrong the last time. */
  last_error?: string;
}

/** The models, and the worker that speaks to their providers. */
export interface ModelsStatus {
  /** Of the worker, as in `CatalogStatus`. */
  state: string;
  /** Its process id, while there is one. */
  pid?: number;
  /** How often it was restarted since the bridge began. */
  restarts: number;
  /** How many providers were added. */
  providers: number;
  /** Requests to providers that are under way. */
  open_requests: number;
  /** How the worker last ended against anybody's will. */
  last_error?: string;
}

/** What is on the disk, in bytes. */
export interface StoreSizes {
  /** How old this is, in milliseconds. */
  age_ms: number;
  /** `harbor.db` with its write-ahead log. */
  database: number;
  /** The audit log, the older files too. */
  audit: number;
  /** The logs of the servers. */
  server_logs: number;
}

/** A server that can be had, in short. */
export interface CatalogEntry {
  /** Its id in the catalog: 16 hex digits. */
  id: string;
  /** Where it comes from: `registry`, `awesome`, or `curated` by Harbor. */
  source: string;
  /** Its name there. */
  name: string;
  /** A name for people. */
  title?: string;
  /** What it says about itself; cut at 500 characters. */
  description: string;
  /** Its newest version. */
  version?: string;
  /** `active`, `deprecated` or `deleted`, as its author says. */
  status: string;
  /** How it can be had: `npm`, `pypi`, `oci`, …; `remote` for one that runs elsewhere. */
  kinds: Array<string>;
  /** Whether Harbor's authors have chosen it. */
  featured: boolean;
  /** Stars of its repository, where they are known. */
  stars?: number;
  /** Downloads of its package, where they are known. */
  downloads?: number;
  /** When it was changed last, as its source says, in milliseconds since 1970. */
  updated_at?: number;
  /** Since when its source has it no more, in milliseconds since 1970. */
  removed_at?: number;
}

/** All that is known of a server that can be had. */
export interface CatalogDetails {
  /** It in short; its description is whole here. */
  entry: CatalogEntry;
  /** Its packages, as in the registry's server.json. */
  packages: Json;
  /** Where it runs for whoever connects, likewise. */
  remotes: Json;
  /** Its repository. */
  repository?: string;
  /** Its page. */
  website?: string;
  /** Words about it. */
  tags: Json;
  /** When it was published first, as its source says, in milliseconds since 1970. */
  published_at?: number;
  /** When Harbor saw it first, in milliseconds since 1970. */
  first_seen_at: number;
  /** When its source last told of it, in milliseconds since 1970. */
  last_seen_at: number;
  /** The last commit of its repository, in milliseconds since 1970. */
  last_commit_at?: number;
  /** What its place in lists depends on; more comes first. */
  priority: number;
}

/** A source of the catalog. */
export interface CatalogSource {
  /** `registry`, `awesome` or `curated`. */
  id: string;
  /** Where it is; empty for what Harbor brings along. */
  url: string;
  /** Whether the last attempt succeeded; false before the first one. */
  ok: boolean;
  /** Its entries that are not removed. */
  entries: number;
  /** Why the last attempt failed, if it did. */
  error?: string;
  /** When it was last tried, in milliseconds since 1970. */
  last_attempt?: number;
  /** When that last succeeded, in milliseconds since 1970. */
  last_success?: number;
  /** It is left alone until then, in milliseconds since 1970, after failures. */
  not_before?: number;
}

/** What a refresh has changed. */
export interface CatalogChanges {
  /** New entries. */
  added: number;
  /** Entries of which the source says something else now. */
  updated: number;
  /** Entries that the source has no more. */
  removed: number;
  /** Entries that it had no more, and has again. */
  restored: number;
}

/** A package of a server, in its version. */
export interface Installed {
  /** The server's id. */
  server_id: string;
  /** `npm`, `pypi`, `git`, `binary`, `oci` or `remote`. */
  kind: string;
  /** The package; of git and of what is downloaded the address; the image; the URL without what stands behind `?`. */
  name: string;
  /** What `install_server` takes for exactly this version. */
  source: string;
  /** The version; of git the commit, of what is downloaded its SHA-256. Absent while none is locked. */
  version?: string;
  /** Why nobody knows any more which version was locked; until one is taken on purpose (`upgrade_server`) it is not started. */
  lost?: string;
  /** The hash of the package, as its registry gives it. */
  integrity?: string;
  /** How many packages there are in all. Each is locked with its version and its hash. */
  packages?: number;
  /** When it was installed, in milliseconds since 1970; absent while it is not: its first start installs what is locked. */
  installed_at?: number;
  /** The version that `undo_upgrade` goes back to. */
  previous?: string;
  /** After an installation: the names of the tools that it has listed. */
  tools?: Array<string>;
  /** Secrets that it still needs: until they are set it is not started. */
  missing?: Array<string>;
  /** After an installation with `without_network`: whether it started there, too, and listed tools. */
  runs_without_network?: boolean;
  /** After an installation, true: it wants the person to let Harbor in first (`oauth_start`). Its tools are not known yet. */
  needs_authorization?: boolean;
  /** In a plan: what it would be held to; absent of one that runs elsewhere. */
  sandbox?: SandboxSummary;
  /** In a plan: where an earlier server with this id left files, which this one would get as its home. Absent when there are none. */
  old_data?: string;
  /** In a plan: the settings of its sandbox. */
  settings?: SandboxSettings;
  /** In a plan: what would be started, and with what. */
  runs?: Runs;
  /** In a plan: for `planned`, while the client is connected. */
  planned?: string;
  /** In a plan, true: code of the package would have to run to find out what it needs (`build`). */
  needs_build?: boolean;
  /** In a plan: the newest version of the package, where an older one is what fits this machine. */
  newest?: string;
  /** The Python, or of a package of npm the Node.js, that it runs with, where that is not the usual one. In a plan without one in it: what `newest` requires, which is not here. */
  python?: Python;
  /** In a plan: the registry in place of the public one, as the person's own settings have it, and the file. */
  registry?: string;
  /** Of what is downloaded. */
  file?: File;
  /** The server as `list_servers` shows it; absent in a plan. */
  server?: Server;
}

/** What a server is started with; of one elsewhere, what each request has. */
export interface Runs {
  /** The program, where it is known before it is installed; absent of an image and of a server elsewhere. */
  program?: string;
  /** Its arguments, filled in. */
  args: Array<string>;
  /** Variables of its environment. */
  env: Array<Named>;
  /** Headers of each request to a server elsewhere; `${KEY}` stands for a secret. */
  headers: Array<Named>;
  /** Names of the secrets without which it is not started. */
  secrets: Array<string>;
}

/** A variable or a header. */
export interface Named {
  /** Its name. */
  name: string;
  /** What an entry or a manifest sets it to; absent of what the request itself says. */
  value?: string;
}

/** A Python that a package requires. */
export interface Python {
  /** What is required, as the package says it: `>=3.12`, of a Node.js as in `>=22`. */
  requires: string;
  /** The version of the one that was found. */
  version?: string;
  /** Its path. */
  path?: string;
}

/** A program that was downloaded, or an archive with one. */
export interface File {
  /** Its size, in bytes. */
  size: number;
  /** Which file of it is the program. */
  program: string;
  /** What says that it is the right file: `checksum` (of one version), `signature` (of each). Empty: nothing but its address. */
  vouched_by: Array<string>;
  /** The public key of minisign that each version has to be signed by. */
  key?: string;
  /** True: a signature lies beside it that was not checked, since no key was said. */
  unread_signature?: boolean;
}

/** A server that can be had. */
export interface Resolved {
  /** What `install_server` takes for it. */
  source: string;
  /** What its server is called where nothing else is said. */
  server_id?: string;
  /** A name for people. */
  title?: string;
  /** What it says about itself. */
  description?: string;
  /** Where its code is. */
  repository?: string;
  /** Who names it: `curated`, `registry`, `awesome`, `repository`, `manifest`, or `person`. */
  from: string;
  /** Of a repository or a manifest: the file that says how it is had. */
  found_in?: string;
  /** Of a repository: the commit that was read. */
  commit?: string;
  /** What is to be known beside that, a sentence each. */
  notes: Array<string>;
  /** How it can be had, one after the other. */
  ways: Array<Way>;
  /** Which of them this is about: what follows is its. Absent when none can be gone here. */
  way?: number;
  /** What is filled in. */
  inputs: Array<Declared>;
  /** Variables of its environment. */
  variables: Array<Declared>;
  /** Its secrets. */
  secrets: Array<Declared>;
  /** The servers here that have the same source. */
  installed: Array<string>;
  /** Of a repository or a manifest: for `planned` of `install_server`, while the client is connected. */
  planned?: string;
}

/** One way to have a server. */
export interface Way {
  /** What is installed. */
  source: string;
  /** Why it cannot be installed here; absent when it can. */
  why_not?: string;
}

/** Something that a server wants to be told. */
export interface Declared {
  /** Its name. */
  name: string;
  /** What it is. */
  description: string;
  /** Whether it must be given: it is needed, and has no default. */
  required: boolean;
  /** Whether there may be more than one. */
  many: boolean;
  /** Whether it is a path of this machine. */
  path: boolean;
  /** What it is by default. */
  default?: string;
  /** What it may be; anything when empty. */
  choices: Array<string>;
  /** What a value has to be: `path`, `url`, `number` or `boolean`; any text when absent. */
  value_type?: string;
  /** A regular expression that the value of a secret has to match. */
  pattern?: string;
  /** What one looks like. */
  placeholder?: string;
  /** Where a person gets one. */
  help_url?: string;
  /** Of a secret of a server elsewhere: the header that it goes into. */
  header?: string;
}

/** An upgrade, wanted or done. */
export interface Upgrade {
  /** The kind of its package: `npm`, `pypi`, `git` or `binary`. */
  kind: string;
  /** The version that is used, or was until now. */
  before: string;
  /** The version that was tried out, or would be; empty where it is not known before something is built. */
  after: string;
  /** Its hash; likewise. */
  integrity: string;
  /** The newest version of the package, where an older one is what fits this machine. */
  newest?: string;
  /** The Python, or of a package of npm the Node.js, that it would run with, where that is not the usual one. Without a version in it: what `newest` requires, which is not here. */
  python?: Python;
  /** Of what is downloaded. */
  file?: File;
  /** Names of tools that are new. */
  added: Array<string>;
  /** Names of tools that are gone. */
  removed: Array<string>;
  /** Tools that say something else of themselves. They are kept from origins until they are accepted. */
  changed: Array<ToolDifference>;
  /** For `planned`, while the client is connected: it was not tried out, or did not start. */
  planned?: string;
  /** True: code of the package would have to run to find out what it needs (`build`). */
  needs_build?: boolean;
  /** Why it did not start, or listed nothing, with nothing of the person's: `with_all` starts it with all. */
  failed?: string;
  /** For `apply`; absent when it is used already, or nothing would be different. */
  apply?: string;
  /** Whether it is used now. */
  applied: boolean;
  /** Of one that is: the version that `undo_upgrade` goes back to; absent where the one before was never installed. */
  previous?: string;
}

/** A tool, before and after. */
export interface ToolDifference {
  /** Its name. */
  tool_name: string;
  /** What it said of itself. */
  before: Json;
  /** What it says now. */
  after: Json;
}

/** Programs that servers and installers need. */
export interface Runtimes {
  /** One after the other. */
  programs: Array<Runtime>;
  /** The kinds of packages that can be installed here. */
  can_install: Array<string>;
  /** The directories that were looked at, in this order. */
  looked_in: Array<LookedIn>;
}

/** A program that was looked for. */
export interface Runtime {
  /** `node`, `npm`, `npx`, `uv`, `python`, `docker`, `podman` or `git`. */
  name: string;
  /** Where it is; absent when it was not found. */
  path?: string;
  /** How it was found: `PATH`, `the login shell`, `nvm`, `a usual prefix` or another one. */
  found_by?: string;
  /** What it says that its version is. */
  version?: string;
  /** Who needs it. */
  needed_for: string;
  /** How to get it; absent when it is there. */
  install_hint?: string;
}

/** A directory that was looked at. */
export interface LookedIn {
  /** The directory. */
  dir: string;
  /** How it is known. */
  found_by: string;
}

/** Somebody who runs models: a service, or a program on this machine. */
export interface Provider {
  /** Its id: the part before `:` in the ids of its models. */
  id: string;
  /** What it is: `ollama`, `openai`, `anthropic`, `llamafile`, `llama-server`, `lmstudio`, `vllm`, `openrouter`, `mistral`, `groq`, `deepseek` or `openai-compatible`. */
  type: string;
  /** A name for people. */
  name: string;
  /** Where it is. */
  base_url: string;
  /** How it is spoken to: `chat`, `responses`, `anthropic`, `ollama` or `gemini`. */
  dialect: string;
  /** Whether it may be used. */
  enabled: boolean;
  /** Whether it can be used, as far as that is known: it is enabled, has the key that it needs, and answered when it was last asked. One that was not asked yet counts as one that answers. */
  available: boolean;
  /** Whether it runs on this machine. Some of its models may run elsewhere all the same. */
  is_local: boolean;
  /** Whether it is used where a request names none. */
  is_default: boolean;
  /** Whether it is the one of its type that is used where only the type is named. */
  is_type_default: boolean;
  /** Whether it answers nobody without a key. */
  needs_api_key: boolean;
  /** Whether it has one. */
  has_api_key: boolean;
  /** False of one that was found on this machine and that nobody has added: nothing is sent to it but what finding it takes. */
  is_added: boolean;
  /** Why it was refused or did not answer when it was last asked, in the provider's own words. */
  problem?: string;
  /** What `llm_detect` finds, and what `llm_add_provider` adds, on this machine: the user whose program answers there, where that is another person. It would read all that is asked. */
  other_user?: string;
}

/** What can be added. */
export interface ProviderType {
  /** As in `Provider`. */
  type: string;
  /** A name for people. */
  name: string;
  /** Where it is when nothing else is said; absent where that must be said. */
  base_url?: string;
  /** As in `Provider`. */
  dialect: string;
  /** As in `Provider`. */
  needs_api_key: boolean;
}

/** A key that lies in the environment. It is never taken by itself. */
export interface EnvironmentKey {
  /** The type of provider that it is for. */
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
  /** Its name there. */
  model: string;
  /** How many tokens it looks at, where that is known. */
  context_window?: number;
  /** How many tokens an answer may have, where that is known. */
  max_output?: number;
  /** Whether it can call tools; absent where the provider does not say. */
  tools?: boolean;
  /** Whether it sees images; absent where the provider does not say. */
  vision?: boolean;
  /** Whether it thinks before it answers; absent where the provider does not say. */
  reasoning?: boolean;
  /** Whether it runs on this machine. */
  is_local: boolean;
}

/** A model as an origin sees it: nothing of where it runs. */
export interface UsableModel {
  /** Its id: `provider:model`. */
  id: string;
  /** The provider's id. */
  provider: string;
  /** Its name there. */
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
  /** What it says: a text, or an array of `ChatPart` in their order. What a model answered goes back as it came. */
  content?: Json;
  /** Of an `assistant`: the tools that it calls. */
  toolCalls?: Array<ChatToolCall>;
  /** Of a `tool`: the call that it answers. */
  toolCallId?: string;
  /** Of a `tool`: true where the call failed, and the content says why. */
  isError?: boolean;
}

/** A part of a message. */
export interface ChatPart {
  /** `text`; `image`; `reasoning`: what the model thought; `opaque`: what only its provider understands; `tool_call`: here stands the call `callId` of `toolCalls`. Calls without such a place stand at the end. */
  type: string;
  /** Of `text` and `reasoning`: the text. */
  text?: string;
  /** Of a `tool_call`: which one. */
  callId?: string;
  /** Of an `image`: `image/png`, `image/jpeg`, `image/gif` or `image/webp`. */
  mediaType?: string;
  /** Of an `image`: its bytes in Base64, 5 MB at most, and 8 images in a request. An address is refused: nobody fetches it. */
  data?: string;
  /** Of `opaque`: whose it is. It goes back to that provider and that model only. */
  provider?: string;
  /** See `provider`. */
  model?: string;
  /** Of `opaque`: as the provider wrote it. */
  value?: Json;
}

/** A model calls a tool. */
export interface ChatToolCall {
  /** The call's id; it is made up where the provider has given none. */
  id: string;
  /** The tool's name. */
  name: string;
  /** Its arguments, an object; where the model wrote something else, that as a text. */
  arguments: Json;
}

/** A tool that a model may call. */
export interface ChatTool {
  /** Its name. One that the provider would refuse (over 64 characters, other characters than it takes) travels under another, and comes back under this one. */
  name: string;
  /** What it does. */
  description?: string;
  /** JSON Schema of its arguments. */
  inputSchema?: Json;
}

/** What a chat has taken. */
export interface ChatUsage {
  /** Tokens that were sent, those from a cache included. */
  input_tokens: number;
  /** Tokens that came, those of thinking included. */
  output_tokens: number;
  /** Of those that were sent: what the provider had already. */
  cached_tokens: number;
  /** Of those that came: what was thought. */
  reasoning_tokens: number;
  /** `exact`: the provider has counted them; `estimated`: by the length of the text; `unknown`. */
  exactness: string;
}

/** What a model answered. */
export interface ChatResponse {
  /** The message, with the role `assistant`. Put behind the others, it continues the conversation. */
  message: ChatMessage;
  /** What it has taken. */
  usage: ChatUsage;
  /** `stop`, `tool_calls`, `length` (it was cut off) or `error` (the provider would not say more). */
  finishReason: string;
  /** The provider's own word for that. */
  raw_finish?: string;
}

/** A piece of an answer. */
export interface ChatEvent {
  /** `start`, `text`, `reasoning`, `tool_call_start`, `tool_call_arguments`, `tool_call_end`, `usage`, `end` or `error`. */
  type: string;
  /** Of `text` and `reasoning`: what comes behind what came before. Of `error`: why, a word as in `ERR_MODEL_FAILED`. Of `end`: as `finishReason`. */
  text?: string;
  /** The call that it is about. */
  call_id?: string;
  /** Of `tool_call_start`: the tool. */
  name?: string;
  /** Of `tool_call_arguments`: a piece of the arguments' text. Of `tool_call_end`: all of them. */
  arguments?: string;
  /** Of `usage`: what it has taken so far. */
  usage?: ChatUsage;
}

/** What models have taken. */
export interface ModelUsage {
  /** The provider's id; absent where it is not what the rows are grouped by. */
  provider?: string;
  /** The model's name there, likewise. */
  model?: string;
  /** Who asked, likewise: `owner`, or an origin. */
  principal?: string;
  /** The day, `YYYY-MM-DD` in UTC, likewise. */
  day?: string;
  /** Requests. */
  requests: number;
  /** As in `ChatUsage`. */
  input_tokens: number;
  /** As in `ChatUsage`. */
  output_tokens: number;
  /** As in `ChatUsage`. */
  cached_tokens: number;
  /** As in `ChatUsage`. */
  reasoning_tokens: number;
  /** As in `ChatUsage`, of the least exact request among them. */
  exactness: string;
}

/** What somebody may use. */
export interface Budget {
  /** An origin, `owner`, or `*`: everybody together. */
  principal: string;
  /** Tokens of a day in UTC; absent: as many as they like. */
  tokens_per_day?: number;
  /** Whether a person has set it; else it is what an origin has by itself. */
  is_set: boolean;
  /** What of today's is used. */
  used: number;
  /** What of it is kept for requests that are under way. */
  reserved: number;
}

/** A conversation that the bridge holds. */
export interface ChatSession {
  /** Its id. */
  id: string;
  /** A name for people. */
  name: string;
  /** The servers whose tools it may use; absent: all of them. */
  enabledServers?: Array<string>;
  /** What the model is told before everything else. */
  systemPrompt?: string;
  /** Which model: `provider:model`; absent: the default one. */
  model?: string;
  /** `ask`: tools that only read run, everything else asks the person. `auto`: everything runs, unless data would leave. */
  mode: string;
  /** True: it is in the bridge's memory only, and never written down. */
  private: boolean;
  /** Whether the model has read text in it that the person has not typed: results, pages, attachments. */
  readUntrusted: boolean;
  /** The names of private data that the model has read in it (`files`, `gmail`, `browser:mail.example`): what may carry them away asks. */
  privateNames: Array<string>;
  /** How many messages it has. */
  messageCount: number;
  /** When it began, in milliseconds since 1970. */
  createdAt: number;
  /** When something was last said, likewise. */
  updatedAt: number;
  /** The turn that is under way. */
  turn_id?: string;
}

/** Something that happened in a turn. */
export interface TurnEvent {
  /** `status`, `text`, `reasoning`, `tool_call`, `approval`, `tool_result`, `usage`, `final` or `error`. */
  type: string;
  /** Of `text` and `reasoning`: what comes behind what came before. Of `status` and `error`: a sentence. Of `final`: the whole answer. Of `tool_result`: what the tool said, as far as it is shown. Of `approval`: why the person is asked. */
  text?: string;
  /** Of `tool_call`, `approval` and `tool_result`: the call. */
  call_id?: string;
  /** Likewise: the tool, `server/tool`; as the model wrote it where there is no such tool. */
  tool?: string;
  /** Of `tool_call`: the arguments, an object. */
  arguments?: Json;
  /** Of `approval`: the question. */
  approval?: Approval;
  /** Of `approval`: whether it still waits. A second event with false says that it does not. */
  waits?: boolean;
  /** Of `tool_result`: true where the call failed. Of `error`: absent. */
  is_error?: boolean;
  /** Of `tool_result`: how long it took, in milliseconds. */
  duration_ms?: number;
  /** Of `usage` and `final`: what the turn has taken so far. */
  usage?: ChatUsage;
  /** Of `final`: why it ended, `done`, `stopped`, `rounds`, `calls`, `tokens`, `time` or `repeats`. Of `error`: the code. */
  code?: string;
}

/** What is to be changed of a session. What is absent stays. */
export interface SessionUpdates {
  /** Another name. */
  name?: string;
  /** Another text for the model; an empty one is none. */
  systemPrompt?: string;
  /** Other servers, none when empty; `*`: all of them. */
  enabledServers?: Array<string>;
  /** Another model; an empty one is the default. */
  model?: string;
  /** Another mode. */
  mode?: string;
}

/** A call of a turn, as it stands in an answer. */
export interface TurnStep {
  /** The call. */
  call_id: string;
  /** The tool, `server/tool`. */
  tool: string;
  /** True where the call failed or was not made. */
  is_error: boolean;
  /** How long it took, in milliseconds. */
  duration_ms: number;
}

/** Something that happened in a run (docs/page-api.md, run events). */
export interface RunEvent {
  /** `status`, `token`, `tool_call`, `tool_result`, `final` or `error`. */
  type: string;
  /** The run. */
  runId: string;
  /** Of `status`: a sentence. */
  message?: string;
  /** Of `token`: what comes behind what came before. */
  token?: string;
  /** Of `tool_call` and `tool_result`: the call. */
  callId?: string;
  /** Likewise: the tool, `server/tool`. */
  tool?: string;
  /** Of `tool_call`: the arguments, an object. */
  args?: Json;
  /** Of `tool_result`: what the tool answered, as MCP writes it. */
  result?: Json;
  /** Of `tool_result` and `error`: why there is no result. */
  error?: RunError;
  /** Of `final`: the answer. */
  output?: string;
  /** Of `final`: where the answer comes from. */
  citations?: Array<Citation>;
  /** Of `final`: what it has taken. */
  usage?: ChatUsage;
}

/** Why a run or a call of a run failed. */
export interface RunError {
  /** One of this document's codes. */
  code: string;
  /** A sentence. */
  message: string;
  /** Whether trying again may help. */
  retryable: boolean;
}

/** A session of an origin: what its runs share. */
export interface SessionSummary {
  /** Its id. */
  sessionId: string;
  /** `explicit`: the origin has begun it. */
  type: string;
  /** Whose it is. */
  origin: string;
  /** `active`; `terminated` in the answer that ends it. */
  status: string;
  /** A name for people. */
  name?: string;
  /** When it began, in milliseconds since 1970. */
  createdAt: number;
  /** When its last run began or ended, likewise. */
  lastActiveAt: number;
  /** When it ends by itself, likewise. */
  expiresAt: number;
  /** What it may do. */
  capabilities: SessionCapabilities;
  /** Calls of all its runs together at most; absent: no more limit than each run has. */
  maxToolCalls?: number;
  /** What its runs have taken. */
  usage: SessionUsage;
}

/** What a session of an origin may do. */
export interface SessionCapabilities {
  /** Whether it may ask a model. */
  hasLLM: boolean;
  /** How many tools its runs may use. */
  toolCount: number;
  /** Whether it may use a tab; it never may in this version. */
  hasBrowserAccess: boolean;
}

/** What the runs of a session have taken. */
export interface SessionUsage {
  /** Runs that have begun. */
  promptCount: number;
  /** Calls of tools that were made. */
  toolCallCount: number;
  /** Tokens that models have read and written. */
  tokensUsed: number;
}

/** Where an answer comes from. */
export interface Citation {
  /** The tool, `server/tool`. */
  source: string;
  /** The call. */
  ref: string;
  /** What the tool said there. */
  excerpt: string;
}

/** A question about a call: may it be made? */
export interface Approval {
  /** What `approvals_answer` names. */
  id: string;
  /** `waiting`; `answered`; `missed`: nobody has answered, and a yes lets the same call through when it is made again. */
  state: string;
  /** Who acts: `chat` (the person's model), `run` (a model on a task of an origin), `page` (a page itself) or `client` (an AI client itself). */
  who: string;
  /** On whose behalf: `owner`, an origin, `client://NAME`. */
  principal: string;
  /** The tab of the page. */
  tab_id?: number;
  /** True: it is about a request of the connection that is told of it. */
  own?: boolean;
  /** The session of a chat. */
  session_id?: string;
  /** The call in its turn. */
  call_id?: string;
  /** The tool, `server/tool`. */
  tool: string;
  /** What the call does as far as Harbor knows: `reads`, `writes` or `destroys`. */
  effect: string;
  /** Why it is asked: `writes`, `untrusted` (it writes after text that nobody vouches for), `destroys`, `leaves` or `first_use`. */
  reason: string;
  /** The same as a sentence. */
  why: string;
  /** Of `leaves`: the names of what would leave (`files`, `gmail`, `browser:mail.example`). */
  private: Array<string>;
  /** The arguments key by key, as far as they are shown; `approvals_list` with the id gives them whole. */
  fields: Array<ApprovalField>;
  /** What may be answered, the mildest first: `once`, `chat_tool`, `chat_server`, `flow`, `ten_minutes`, `always`; `no`, `never`. */
  answers: Array<string>;
  /** When it was asked, in milliseconds since 1970. */
  since: number;
  /** When it ends by itself, likewise. */
  until: number;
}

/** One argument of a call, as it is shown. Hidden characters in it are written out as `\u{…}`. */
export interface ApprovalField {
  /** Its key; keys of objects below it are joined by dots. */
  key: string;
  /** Its value. */
  text: string;
  /** How many bytes it has in all, where not all of it is here. */
  bytes?: number;
}

/** An answer that stands: it covers calls without asking, until it is taken back. */
export interface StandingAnswer {
  /** What `approvals_revoke` names. */
  id: string;
  /** `once` (a call that was missed), `chat_tool`, `chat_server`, `flow`, `pair`, `ten_minutes` or `always`. */
  covers: string;
  /** On whose behalf: `owner`, an origin, `client://NAME`. */
  principal: string;
  /** Of one chat: its session. */
  session_id?: string;
  /** The tool `server/tool`, or the source. */
  what: string;
  /** Of `flow` and `pair`: what may leave. */
  private: Array<string>;
  /** Since when, in milliseconds since 1970. */
  since: number;
  /** Until when, likewise. */
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
  /** The name of their group. */
  label: string;
  /** Its colour, as browsers name those of groups. */
  colour: string;
  /** All of them, by the bridge's word: no call acts on another tab. */
  tabs: Array<number>;
  /** The one that is meant; absent where there is none yet. */
  tab_id?: number;
}

/** Why a source has no result. */
export interface SourceError {
  /** A word for programs, such as `tab_gone`, `timeout`, `denied`. */
  code: string;
  /** A sentence. */
  message: string;
}

/** What went wrong, in a word. */
export type Code =
  /** The frame is no JSON object, or lacks `type` or `request_id`. */
  | "invalid_message"
  /** Harbor has no message of this type; `details.received_type` repeats it. */
  | "unknown_message_type"
  /** A field is missing or wrong; `details.field` and `details.expected` say which and what. */
  | "invalid_params"
  /** A frame is over the limit: of the bridge on the way in, of the client on the way out. */
  | "message_too_large"
  /** The request id is still open; `details.request_id` repeats it. The first request goes on. */
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
  /** Client and bridge are of versions that do not fit. */
  | "version_mismatch"
  /** The bridge cannot be reached or started; said by Harbor's own programs, not by the bridge. */
  | "bridge_unreachable"
  /** The bridge is shutting down. */
  | "shutting_down"
  /** The caller may not send this message, or the person has denied the origin what it wants. */
  | "ERR_PERMISSION_DENIED"
  /** The server is not running, or ended under the call. `details.cause` says why, `sent` whether the call had reached it (it is never sent again), `next_retry` when it is tried again. */
  | "ERR_SERVER_UNAVAILABLE"
  /** The server did not answer in time; it was told to stop working on the call. */
  | "ERR_TOOL_TIMEOUT"
  /** The server answered with a JSON-RPC error, repeated in `details`, or cannot do what was asked. */
  | "ERR_TOOL_FAILED"
  /** The server's answer breaks the protocol. */
  | "ERR_PROTOCOL_ERROR"
  /** Too many requests are open, or came within a minute; `details.retry_after_ms` says when to try again, where that is known. */
  | "ERR_RATE_LIMITED"
  /** The person has not allowed the origin this scope (`details.scope`), or not any more. */
  | "ERR_SCOPE_REQUIRED"
  /** The server has no tool of that name. */
  | "ERR_TOOL_NOT_FOUND"
  /** The tool is not among those that the person has allowed the origin (`details.reason` `allowlist`), or it has changed since the person saw it (`tool_changed`), or its server is another program by now (`server_changed`). */
  | "ERR_TOOL_NOT_ALLOWED"
  /** The run has made all its calls; or the tokens of a day are used up, and `details.retry_after_ms` says when there are more. */
  | "ERR_BUDGET_EXCEEDED"
  /** The server wants the person to let Harbor in, or to let it do more there: `harbor auth NAME`. */
  | "ERR_AUTHORIZATION_REQUIRED"
  /** Nothing came of asking the person to let Harbor in; `details.cause` says why. */
  | "ERR_AUTHORIZATION_FAILED"
  /** A model did not answer, or not to its end. `details.cause` says why in a word: `no_model`, `unauthorized`, `quota`, `rate_limited`, `overloaded`, `context_full`, `refused`, `not_found`, `unreachable`, `timeout`, `cut`, `protocol` or `worker_lost`; `provider`, `model`, the HTTP `status` and `retry_after_ms` stand beside it where they are known. */
  | "ERR_MODEL_FAILED"
  /** This part of the page API is switched off (`[pages]` in config.toml); `details.feature` says which. */
  | "ERR_FEATURE_DISABLED"
  /** The catalog cannot be read, or not be refreshed; `details.cause` says why in a word: `worker_off`, `disabled`, `worker_failed`, `missing`, `newer`, `corrupt`, `unreadable` or `nothing_to_do`. */
  | "catalog_unavailable"
  /** Secrets are encrypted, and their key is not at hand: `unlock_secrets`, or what the message says. */
  | "secrets_locked"
  /** Harbor itself failed; the log says more. */
  | "ERR_INTERNAL";
