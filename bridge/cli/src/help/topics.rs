//! The table of the commands: what the help says and the parser knows.
//!
//! Owns the texts. Must never be longer in the overview than a screen.

mod options;

use self::options::{
    CALLS, DOWNLOAD, REMOTE, RESTART, SANDBOX, SANDBOX_LEVEL, SANDBOX_OF_ADD, SAVE, SCOPES, START,
};
use super::{Opt, Topic, opt, topic};

/// Every command, in the order of the help.
pub const TOPICS: &[Topic] = &[
    Topic {
        options: &[
            opt("--name", "NAME", "the server's name; made of the source's if absent"),
            opt("--input", "NAME=VALUE", "what an entry or a manifest wants to be told; repeat for more"),
            opt("--package", "N", "of an entry with several: which one, counted from 1"),
            opt("--yes", "", "do not ask"),
            opt("--keep-data", "", "its home is what an earlier server of this name has left"),
            opt("--dry-run", "", "say what would be installed and what it wants; ask and change nothing"),
            opt("--label", "TEXT", "a name for people"),
            opt("--env", "KEY=VALUE", "an environment variable for the server; repeat for more"),
            opt("--secret", "KEY", "a secret without which it is not started, asked for; repeat for more"),
        ],
        groups: &[
            ("a program that is downloaded", DOWNLOAD),
            ("a server that runs elsewhere", REMOTE),
            ("start and stop", START),
            ("after a crash", RESTART),
            ("calls", CALLS),
            ("what it may do on this machine", SANDBOX_OF_ADD),
            ("what it may reach", SANDBOX),
        ],
        notes: "SOURCE is npm:NAME[@VERSION], pypi:NAME[==VERSION], git:URL[#BRANCH, TAG OR COMMIT][&subdirectory=DIRECTORY],\n\
                OWNER/NAME of GitHub, binary:URL (a program, or a .tar.gz or .zip with one), oci:IMAGE, the URL of a server\n\
                that runs elsewhere, the FILE of a manifest, or an ID that `harbor catalog` shows. A repository is read first:\n\
                what its manifest, server.json, package.json or pyproject.toml says is followed. --allow-private and\n\
                --allow-http are for a binary:URL, too. Behind -- are the server's own arguments, or\n\
                what an entry asks for, if that is one thing. What it is and may do is shown, asked for, and locked with the\n\
                hashes of all that comes with it. The value of a --secret comes from a prompt, or from stdin, as with\n\
                `harbor secrets set`. Ctrl-C ends it and leaves nothing. docs/install.md says more.\n\
                \n\
                harbor install time\n\
                harbor install filesystem -- ~/notes\n\
                harbor install pypi:mcp-server-time",
        ..topic("install", "SOURCE -- ARGS…", "install a server: by id, package, image or URL")
    },
    Topic {
        options: &[
            opt(
                "--to",
                "VERSION",
                "this one instead of the newest; of git a branch, tag or commit, of binary: another URL",
            ),
            opt("--undo", "", "back to the version before the last upgrade"),
            opt("--yes", "", "do not ask"),
        ],
        notes: "The new version is installed beside the old one and started with nothing of yours (no secrets, no files); its\n\
                tools are compared with the old one's. If it does not start like that, you are asked whether it gets all\n\
                that the server may use. Nothing is changed before the yes. Tools that have changed are kept from origins\n\
                until you accept them.",
        ..topic("upgrade", "NAME", "another version of a server's package")
    },
    Topic {
        notes: "The bridge looks in its own PATH, that of your login shell, version managers (nvm, fnm, volta, asdf, mise,\n\
                pyenv), Homebrew, and the usual prefixes. Servers and installers get what it finds.",
        ..topic("runtimes", "", "show where node, uv, git and others are")
    },
    Topic {
        options: &[
            opt("--label", "TEXT", "a name for people"),
            opt("--cwd", "DIR", "the directory to run in; the server's own data directory if absent"),
            opt("--env", "KEY=VALUE", "an environment variable for the server; repeat for more"),
            opt("--root", "PATH", "a directory that the server may ask for as its root; repeat for more"),
            opt("--secret", "KEY", "a secret without which it is not started; repeat for more"),
            opt(
                "--image",
                "IMAGE",
                "run this container image, such as ghcr.io/owner/name:tag, instead of a command",
            ),
            opt(
                "--engine",
                "ENGINE",
                "what runs the image: podman or docker; the first that is there if absent",
            ),
            opt("--as-is", "", "run the command as it is, npx and uvx included"),
            opt(
                "--url",
                "URL",
                "instead of a command: a server elsewhere, https://…, or http://… on this machine",
            ),
            opt("--no-start", "", "only store the definition"),
            opt(
                "--keep-data",
                "",
                "its home is what an earlier server of this name has left, or another program",
            ),
        ],
        groups: &[
            ("a server that runs elsewhere", REMOTE),
            ("start and stop", START),
            ("after a crash", RESTART),
            ("calls", CALLS),
            ("what it may do on this machine", SANDBOX_OF_ADD),
            ("what it may reach", SANDBOX),
        ],
        notes: "COMMAND is a path, or a name that the bridge looks up in its PATH. The same NAME again replaces\n\
                the definition; another program under it is used by nobody before `harbor accept NAME`. If the server does not start, the definition stays and the exit code says so.\n\
                \n\
                npx and uvx packages are installed first and then run without them; --as-is keeps the command.\n\
                Ctrl-C leaves an installation running: `harbor stop NAME` ends it.\n\
                \n\
                An image is downloaded if need be, and then run by what it was at that time, with the arguments behind\n\
                `--`; docs/containers.md says more.\n\
                \n\
                harbor add time -- uvx mcp-server-time\n\
                harbor add time --image mcp/time\n\
                harbor add docs --url https://example.com/mcp",
        ..topic("add", "NAME -- COMMAND ARGS…", "define a server and start it")
    },
    Topic {
        options: &[
            opt("--explain", "", "show every path and variable, and why"),
            SANDBOX_LEVEL,
            opt("--forget", "ENTRY", "take a path, socket or host back; repeat for more"),
            opt("--reset", "SETTING", "back to the default: memory, network, host …; repeat for more"),
        ],
        groups: &[("what it may reach", SANDBOX)],
        notes: "Without options: shows what the server may do. With some: changes that, and restarts the server if it\n\
                runs and anything is different then. Paths, sockets and hosts are added to those that are granted\n\
                already. docs/sandbox.md says more.\n\
                \n\
                harbor sandbox files --write ~/notes",
        ..topic("sandbox", "NAME", "show or change what a server may do")
    },
    Topic {
        forms: &[
            "list [NAME]",
            "set NAME KEY",
            "remove NAME KEY",
            "check NAME",
            "encrypt",
            "decrypt",
            "unlock",
            "lock",
            "move",
        ],
        options: &[
            opt(
                "--type",
                "TYPE",
                "with `set`: api_key (if absent), password, oauth, or header for a remote server",
            ),
            opt(
                "--username",
                "USER",
                "with `set`: the name that belongs to a password, given as KEY_USERNAME",
            ),
            opt("--expires", "WHEN", "with `set`: when it ends, such as 90d or 2030-11-21; never if absent"),
        ],
        notes: "`set` asks for the value, which is not shown, or reads it from stdin, without one newline at its end. It is\n\
                never an argument: other programs see those. The server has it as the environment variable KEY from its\n\
                next start on; in its log, KEY stands where the value would. `list` and `check` show no values. `check`\n\
                says what is missing or has expired: exit code 1.\n\
                \n\
                `encrypt` asks for a passphrase and encrypts all secrets on the disk; again, it takes another one. `decrypt`\n\
                undoes it. Encrypted secrets are locked after each start of the bridge, and servers wait, until `unlock`\n\
                asks for the passphrase; `lock` has the bridge forget it. `move` follows a change of `store` under\n\
                [secrets] in config.toml: \"file\", or \"keyring\" for the session's keyring. docs/secrets.md says more.\n\
                \n\
                harbor secrets set weather API_KEY < key.txt",
        ..topic("secrets", "", "keep keys and passwords of servers")
    },
    Topic {
        options: &[
            opt("--no-browser", "", "only show the page that is to be opened"),
            opt("--scope", "SCOPE", "a right besides those that the server asks for; repeat for more"),
            opt("--client-id", "ID", "as whom Harbor is known there, where it cannot make itself known"),
            opt("--client-secret", "", "what proves that is asked for, or read from stdin"),
            opt("--port", "PORT", "the port that the browser comes back to, where it must be a certain one"),
            opt("--status", "", "show what Harbor may do there"),
            opt("--revoke", "", "give it back: tokens are deleted, and the server is stopped"),
        ],
        notes: "For servers that run elsewhere and have people let programs in (OAuth). It opens a page of whoever\n\
                decides there, waits five minutes for your answer, and starts the server with it. What ends is\n\
                renewed by itself. docs/remote.md says more.\n\
                \n\
                harbor add tracker --url https://tracker.example/mcp\n\
                harbor auth tracker",
        ..topic("auth", "NAME", "let Harbor in at a server that runs elsewhere")
    },
    Topic {
        options: &[
            opt("--data", "", "delete its data directory too, also one that was kept earlier"),
            opt("--keep-data", "", "keep it, and do not ask"),
        ],
        notes: "A running server is stopped first. What was installed for it and its secrets are deleted. At a terminal you are\n\
                asked about its data directory; elsewhere it stays, and is the home of what is added under this NAME only if\n\
                that says --keep-data. What grants have of its tools ends, and what it was pinned by is forgotten.",
        ..topic("remove", "NAME", "forget a server")
    },
    Topic {
        notes: "A server that waits to be restarted is started at once, and its restarts count anew.",
        ..topic("start", "NAME", "start a server")
    },
    Topic {
        notes: "It stays stopped until `harbor start` or `harbor call` starts it, or the next bridge if it has --auto-start.",
        ..topic("stop", "NAME", "stop a server")
    },
    topic("restart", "NAME", "stop a server and start it again"),
    topic("list", "", "show the servers and their states"),
    Topic {
        options: &[
            opt("--label", "TEXT", "another name for people"),
            opt("--no-auto-start", "", "do not start it with the bridge"),
            opt("--no-lazy", "", "only a person starts it"),
            opt("--reset", "SETTING", "back to the default: idle-stop, restart, label …; repeat for more"),
        ],
        groups: &[("start and stop", START), ("after a crash", RESTART), ("calls", CALLS)],
        notes: "Without options: shows what was said. Nothing is restarted; what a start takes with it holds from the next\n\
                one on, and that is told. AI clients and pages see the tools of servers that run, that are --lazy, or\n\
                that --auto-start has running.\n\
                \n\
                harbor set time --lazy --idle-stop 600",
        ..topic("set", "NAME", "show or change when a server starts")
    },
    Topic {
        options: &[
            opt(
                "--changed",
                "",
                "those that are not what they were when you first saw or last accepted them",
            ),
            opt("--as", "ORIGIN", "those that an origin sees, also of servers that its next call starts"),
            opt("--profile", "NAME", "with --as: which of the origin's profiles, `default` if absent"),
        ],
        notes: "Without NAME: the tools of all running servers. With TOOL: all that it says of itself, and the schema of its\n\
                arguments.",
        ..topic("tools", "[NAME[/TOOL]]", "show tools of running servers, or one")
    },
    Topic {
        notes: "HASH is what `harbor tools --changed` shows: nothing else is accepted with it. Without it the change is\n\
                shown and accepted as it is now. SERVER alone: all its changed tools, and that it is another program than the\n\
                one that was allowed.",
        ..topic("accept", "SERVER/TOOL [HASH]", "accept a tool, or a server, that has changed")
    },
    Topic {
        options: &[
            opt(
                "--timeout",
                "SECONDS",
                "how long the call may take: up to 3600; 30 if absent here and in the definition",
            ),
            opt("--max-timeout", "SECONDS", "how long with all its progress: up to 3600, 600 if absent"),
            opt("--save", "DIR", SAVE),
            opt("--as", "ORIGIN", "call it on behalf of an origin, which needs the permission for it"),
            opt("--profile", "NAME", "with --as: which of the origin's profiles, `default` if absent"),
        ],
        notes: "The arguments are a JSON object, or `-`, which reads it from stdin; or words: key=text, key:=JSON, and\n\
                key=@FILE for the text of a file; a text that begins with @ is typed as JSON. Words that begin with a\n\
                dash stand behind `--`.\n\
                \n\
                A server that is stopped is started; one that failed is not. Where progress is shown, on a terminal\n\
                and without --json, each sign of it gives a call its timeout again.\n\
                \n\
                With --as you get what the origin gets, so a server that is stopped is started only if it was added\n\
                with --lazy. That or --auto-start is how a server is there for pages and AI clients.\n\
                \n\
                harbor call time/get_current_time timezone=Europe/Oslo\n\
                harbor call time/get_current_time '{\"timezone\": \"Europe/Oslo\"}'",
        ..topic("call", "SERVER/TOOL [ARGUMENTS]", "call a tool")
    },
    Topic {
        forms: &["read SERVER URI"],
        options: &[opt("--save", "DIR", "with `read`: write what it holds to new files in this directory")],
        notes: "Without SERVER: of all running servers. A URI with {names} is a template: put values for them.\n\
                \n\
                harbor resources read docs file:///guide.md",
        ..topic("resources", "[SERVER]", "show or read resources of servers")
    },
    Topic {
        forms: &["get SERVER PROMPT [KEY=TEXT…]"],
        notes: "Without SERVER: of all running servers. Arguments are texts: key=text, or key=@FILE for that of a file;\n\
                those that begin with a dash stand behind `--`.\n\
                \n\
                harbor prompts get docs greet who=Ada",
        ..topic("prompts", "[SERVER]", "show or get prompts of servers")
    },
    Topic {
        options: &[
            opt("--once", "", "for a while, and at most as long as this bridge runs; if nothing is said"),
            opt("--always", "", "until it is revoked"),
            opt("--deny", "", "never, whatever else is granted, until it is revoked"),
            opt(
                "--for",
                "DURATION",
                "with --once: how long, such as 90s, 30m, 2h or 3d; config.toml says, if absent",
            ),
            opt(
                "--tool",
                "PATTERN",
                "only this tool, SERVER/TOOL or SERVER/*; repeat for more; all if absent",
            ),
            opt("--no-tools", "", "no tool at all"),
            opt("--profile", "NAME", "which of the origin's profiles, `default` if absent"),
        ],
        notes: SCOPES,
        ..topic("grant", "ORIGIN SCOPE", "allow an origin something, or forbid it")
    },
    Topic {
        options: &[
            opt("--once", "", "only what was granted for a while"),
            opt("--always", "", "only what was granted for good"),
            opt("--deny", "", "only the denial"),
            opt("--profile", "NAME", "which of the origin's profiles, `default` if absent"),
        ],
        notes: "Without --once, --always and --deny: all three. `harbor help grant` lists the scopes.",
        ..topic("revoke", "ORIGIN SCOPE", "take back what was granted or denied")
    },
    Topic {
        notes: "Without ORIGIN: of all origins.",
        ..topic("grants", "[ORIGIN]", "show what origins are allowed and forbidden")
    },
    Topic {
        options: &[
            opt("--origin", "ORIGIN", "only what was done on behalf of an origin, or by it; `owner` is you"),
            opt(
                "--since",
                "WHEN",
                "how long ago, such as 10m or 3d, or when in UTC, such as 2026-11-21T17:00",
            ),
            opt("--limit", "N", "how many of the newest lines: 1 to 10000, 200 if absent"),
        ],
        notes: "Arguments and results are not in it. With --json: one JSON object per line, as in the file.",
        ..topic("audit", "", "show who did what, and what was decided")
    },
    Topic {
        notes: "Counted since the bridge began. Without ORIGIN: of all origins; your own calls are shown as those of `owner`.",
        ..topic("stats", "[ORIGIN]", "show how often, how long, how much")
    },
    Topic {
        options: &[
            Opt {
                short: "-n",
                ..opt("--lines", "N", "how many of the newest lines: 1 to 1000, 200 if absent")
            },
            Opt { short: "-f", ..opt("--follow", "", "go on with each new line, until Ctrl-C") },
        ],
        notes: "With --follow and --json: one JSON object per line.",
        ..topic("logs", "NAME", "show what a server logged")
    },
    Topic {
        options: &[
            opt("--fresh", "", "measure memory, processor time and open files first"),
            Opt {
                short: "-f",
                ..opt("--follow", "", "go on with what changes, and numbers every 10 s, until Ctrl-C")
            },
        ],
        notes: "With NAME: its state, its package, and what keeps it from its next start.\n\
                From memory: what has to be measured is as old as it says. With --json: the object of\n\
                docs/status.schema.json; with --follow one JSON object per line, the first one the whole status.",
        ..topic("status", "[NAME]", "show the bridge, the servers, and how they do")
    },
    Topic {
        notes: "Servers with their state, calls, latency and memory, each second; Enter opens one with its log, its tools and\n\
                its limits; s starts, x stops, r restarts it; ? shows all keys. Needs a terminal: `harbor status -f --json`\n\
                is for programs.",
        ..topic("top", "", "watch all servers live; start and stop them")
    },
    Topic {
        notes: "Prints ok, degraded or failing, and why. The exit code is 1 when it is failing, and 3 when no bridge\n\
                runs: this command starts none. With --json: {state, reasons}.",
        ..topic("health", "", "ask whether all is well")
    },
    Topic {
        notes: "OpenMetrics text, as Prometheus reads it. Origins are in it only with `metrics.origins = true` in\n\
                config.toml: what they call is what you browse. `harbor-bridge serve --metrics 127.0.0.1:9464`, or\n\
                `metrics.listen` in config.toml, serves them over HTTP. With --json: {metrics}.",
        ..topic("metrics", "", "print the numbers for a monitoring system")
    },
    Topic {
        options: &[opt("--fix", "", "mend modes of files, stale sockets, and what browsers know of Harbor")],
        notes: "Looks at the files of HARBOR_HOME, config.toml, the database, Harbor's programs and those that servers need,\n\
                what this kernel can hold servers to, and servers that fail; starts a bridge if none runs. The exit code is\n\
                1 when something is broken, 0 with warnings. With --json: {broken, warnings, findings}.",
        ..topic("doctor", "", "find out what is wrong, and what to do about it")
    },
    Topic {
        notes: "`show` prints what is in force as a config.toml that says it. `check` reads a file, that of HARBOR_HOME if\n\
                none is named (without one the defaults hold: exit code 0), and says what is wrong with it: exit code 1. A bridge reads its file again when it changes;\n\
                one that is wrong changes nothing, and `harbor health` says so.",
        forms: &["show", "check [FILE]"],
        ..topic("config", "", "show or check the configuration")
    },
    Topic {
        notes: "Runs until Ctrl-C. With --json: one JSON object per line.",
        ..topic("events", "", "show each change of a server's state as it comes")
    },
    Topic {
        forms: &["install CLIENT", "uninstall CLIENT", "status", "token [CLIENT]"],
        options: &[
            opt(
                "--client",
                "NAME",
                "the client's name: its grants are those of client://NAME; if absent, `default`",
            ),
            opt(
                "--only",
                "PATTERN",
                "only this tool, SERVER/TOOL or SERVER/*; repeat for more; all if absent",
            ),
            opt("--lazy", "", "three tools, to search for, describe and call tools, instead of all of them"),
            opt(
                "--http",
                "ADDRESS",
                "serve over HTTP on this machine until a signal, such as on 127.0.0.1:8765",
            ),
            opt(
                "--allow-origin",
                "ORIGIN",
                "with --http: let pages of this web origin in; repeat for more; none if absent",
            ),
            opt("--delete", "", "with `token CLIENT`: let this client in no more"),
            opt(
                "--file",
                "PATH",
                "with install, uninstall: this configuration, instead of the client's usual one",
            ),
            opt(
                "--replace",
                "",
                "with install, token: in the place of another program's entry, of the earlier token",
            ),
            opt("--dry-run", "", "with install, uninstall: say what would change, and change nothing"),
        ],
        notes: "For the configuration of an AI client, which starts it and speaks MCP on its stdin and stdout. Tools and\n\
                prompts are named server__tool there; prompts, resources and what a server may ask the client go with\n\
                all tools of a server. That the command stands there is the consent: a NAME that comes for the\n\
                first time gets all tools, or those of --only, as grants that `harbor grants` shows and `harbor\n\
                revoke` takes back. `mcp.firstUse` in config.toml has it begin with none.\n\
                \n\
                harbor mcp --client claude-code --only 'time/*'\n\
                \n\
                `install` writes that into the configuration of claude-code, claude-desktop, cursor, vscode, zed,\n\
                windsurf, gemini-cli or codex, under the client's own name if --client says none. All that stands\n\
                there stays as it is, byte for byte; `uninstall` takes out just that again. `status` shows where\n\
                Harbor is, and whether the entry still fits.\n\
                \n\
                harbor mcp install claude-code --only 'time/*'\n\
                \n\
                Over HTTP, a client shows the token that `token CLIENT` made, as `Authorization: Bearer TOKEN`, and is\n\
                client://NAME with it. A token is shown once; `token` alone lists who has one. MCP is at /mcp there.",
        ..topic("mcp", "", "serve an AI client as one MCP server")
    },
    Topic {
        options: &[
            opt("--only", "NAME", "only this server, as the client calls it; repeat for more"),
            opt("--disabled", "", "also those that are switched off there"),
            opt("--start", "", "start them, too"),
            opt(
                "--expand",
                "",
                "put in your variables where the file names them; without it such a server is left out",
            ),
            opt("--allow-private", "", "also servers elsewhere at a private address, or at this machine's"),
            opt("--allow-http", "", "also servers elsewhere without TLS"),
            opt("--yes", "", "do not ask"),
            opt("--dry-run", "", "say what would be taken over, and take over nothing"),
        ],
        notes: "Without CLIENT or FILE: from all clients that `harbor mcp status` shows. A FILE may be any of theirs, such as\n\
                a project's .mcp.json or .vscode/mcp.json; what is relative there is relative to the project. At a\n\
                terminal all is shown and asked for first: commands, hosts, and which of your variables go where;\n\
                without one, --yes is needed. What\n\
                is secret by its name is kept as `harbor secrets` does. What cannot be taken over is told with the\n\
                reason. No file is changed, and no server that is here already.\n\
                \n\
                harbor import cursor --only time",
        ..topic("import", "[CLIENT|FILE]", "take over servers from AI clients")
    },
    Topic {
        forms: &["install", "uninstall", "status"],
        options: &[
            opt("--browser", "NAME", "chrome, chromium, edge, brave, firefox or all; repeat for more"),
            opt("--user-data-dir", "DIR", "a Chromium that is started with this directory of its own"),
            opt(
                "--extension-id",
                "ID",
                "with install: let in this extension beside Harbor's; repeat for more",
            ),
            opt("--replace", "", "with install: put another program's manifest of this name aside"),
        ],
        notes: "`install` tells browsers, by a manifest in your home, that Harbor's extension may start harbor-bridge as the\n\
                native host `harbor_bridge`: every browser that is here, if --browser names none, or those that it names,\n\
                here or not. `uninstall` removes what it wrote, from everywhere if --browser names none. `status`, which\n\
                may be left out, shows each browser, its manifest, and what to do.\n\
                \n\
                A Chromium from a snap or a flatpak cannot start native hosts.\n\
                With another HARBOR_HOME than ~/.harbor the manifest names a script there, which says so.",
        ..topic("host", "", "make Harbor known to browsers")
    },
    Topic {
        forms: &["list", "search WORDS…", "show ID", "refresh", "status"],
        options: &[
            opt("--limit", "N", "with list, search: how many on a page: 1 to 200, 20 if absent"),
            opt("--cursor", "CURSOR", "with list, search: go on where the page before ended"),
            opt("--source", "NAME", "with list: only of registry, awesome or curated"),
            opt("--featured", "", "with list: only those that Harbor's authors have chosen"),
            opt("--full", "", "with refresh: fetch everything, even where what has changed would do"),
        ],
        notes: "The catalog is fetched from the official registry and a community list, each hour and when you ask for it.\n\
                Searching asks nobody: it is all on this machine. `[catalog]` in config.toml says where it comes from,\n\
                docs/catalog.md what is asked of whom. The last word may be the beginning of one.\n\
                \n\
                harbor catalog search time zone",
        ..topic("catalog", "", "find servers that can be had")
    },
    topic("ping", "", "ask whether the bridge is alive"),
    Topic {
        notes: "Stops all servers. When no bridge runs, it says so and starts none.",
        ..topic("shutdown", "", "end the bridge")
    },
    Topic {
        notes: "\x20 bash:  source <(harbor completions bash), in ~/.bashrc\n\
                \x20 zsh:   harbor completions zsh > a directory of $fpath, as _harbor\n\
                \x20 fish:  harbor completions fish > ~/.config/fish/completions/harbor.fish",
        ..topic("completions", "SHELL", "print a completion script for bash, zsh or fish")
    },
    Topic {
        options: &[opt("--man", "", "print the manual page of all commands")],
        notes: "harbor help --man > ~/.local/share/man/man1/harbor.1",
        ..topic("help", "[COMMAND]", "show this, or how a command is used")
    },
    topic("version", "", "show the version"),
];

/// What the scripts of `completions` ask; no person needs it.
pub const COMPLETE: Topic = Topic {
    notes: "Names for a shell, one per line; none when no bridge runs.",
    ..topic(
        "complete",
        "servers|tools|keys|arguments|clients|scopes|origins [WORD [BEHIND]]",
        "print names for the completion of a shell",
    )
};
