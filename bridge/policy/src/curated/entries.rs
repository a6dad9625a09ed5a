//! The list itself. A new entry is tried by `tests/tests/e2e/real_servers.rs` first, or says in docs/sandbox.md that it was not.

use super::server::{Curated, CuratedInput, CuratedPackage, CuratedSecret, CuratedVariable, Sandbox};

const REFERENCE: &str = "https://github.com/modelcontextprotocol/servers";

/// The parts that most entries share.
const BASE: Curated = Curated {
    id: "",
    title: "",
    description: "",
    source: CuratedPackage::Npm(""),
    args: &[],
    inputs: &[],
    env: &[],
    secrets: &[],
    sandbox: Sandbox::DEFAULT,
    reads: &[],
    stateful: false,
    tags: &[],
    repository: REFERENCE,
    homepage: REFERENCE,
};

/// The servers in the order in which they are shown.
pub const CURATED: &[Curated] = &[
    FILESYSTEM,
    MEMORY,
    TIME,
    FETCH,
    GIT,
    SEQUENTIAL_THINKING,
    PLAYWRIGHT,
    CHROME_DEVTOOLS,
    GITHUB,
    GITHUB_REMOTE,
    EVERYTHING,
];

const FILESYSTEM: Curated = Curated {
    id: "filesystem",
    title: "Filesystem",
    description: "Reads, writes, moves and searches files in the directories that you name.",
    source: CuratedPackage::Npm("@modelcontextprotocol/server-filesystem"),
    args: &["{directory}"],
    inputs: &[CuratedInput {
        name: "directory",
        description: "A directory that it may read and write.",
        many: true,
        required: true,
        places: &[],
    }],
    sandbox: Sandbox { write: &["{directory}"], ..Sandbox::NO_NETWORK },
    tags: &["files", "directories", "reference"],
    homepage: "https://github.com/modelcontextprotocol/servers/tree/main/src/filesystem",
    ..BASE
};

const MEMORY: Curated = Curated {
    id: "memory",
    title: "Memory",
    description: "Remembers facts about people and things, as a graph in a file.",
    source: CuratedPackage::Npm("@modelcontextprotocol/server-memory"),
    env: &[CuratedVariable {
        name: "MEMORY_FILE_PATH",
        description: "The file; its own default lies in its package, which is read-only.",
        value: Some("{data}/memory.jsonl"),
    }],
    sandbox: Sandbox::NO_NETWORK,
    stateful: true,
    tags: &["knowledge graph", "notes", "reference"],
    homepage: "https://github.com/modelcontextprotocol/servers/tree/main/src/memory",
    ..BASE
};

const TIME: Curated = Curated {
    id: "time",
    title: "Time",
    description: "Tells the time in any time zone, and converts between them.",
    source: CuratedPackage::Pypi("mcp-server-time"),
    sandbox: Sandbox::NO_NETWORK,
    tags: &["clock", "time zone", "reference"],
    homepage: "https://github.com/modelcontextprotocol/servers/tree/main/src/time",
    ..BASE
};

const FETCH: Curated = Curated {
    id: "fetch",
    title: "Fetch",
    description: "Fetches a web page and turns it into Markdown.",
    source: CuratedPackage::Pypi("mcp-server-fetch"),
    // It must reach whatever page it is asked for.
    sandbox: Sandbox::DEFAULT,
    reads: &["fetch"],
    tags: &["web", "http", "markdown", "reference"],
    homepage: "https://github.com/modelcontextprotocol/servers/tree/main/src/fetch",
    ..BASE
};

const GIT: Curated = Curated {
    id: "git",
    title: "Git",
    description: "Reads a Git repository's history and changes, stages and commits.",
    source: CuratedPackage::Pypi("mcp-server-git"),
    args: &["--repository", "{repository}"],
    inputs: &[CuratedInput {
        name: "repository",
        description: "The repository's directory.",
        many: false,
        required: true,
        places: &[],
    }],
    env: &[
        CuratedVariable { name: "GIT_AUTHOR_NAME", description: "The author of its commits.", value: None },
        CuratedVariable {
            name: "GIT_AUTHOR_EMAIL",
            description: "The author's address in its commits.",
            value: None,
        },
        CuratedVariable {
            name: "GIT_COMMITTER_NAME",
            description: "The committer of its commits.",
            value: None,
        },
        CuratedVariable {
            name: "GIT_COMMITTER_EMAIL",
            description: "The committer's address in its commits.",
            value: None,
        },
    ],
    sandbox: Sandbox { read: &["{repository}"], write: &["{repository}/.git"], ..Sandbox::NO_NETWORK },
    reads: &[
        "git_status",
        "git_diff_unstaged",
        "git_diff_staged",
        "git_diff",
        "git_log",
        "git_show",
        "git_branch",
    ],
    tags: &["version control", "repository", "reference"],
    homepage: "https://github.com/modelcontextprotocol/servers/tree/main/src/git",
    ..BASE
};

const SEQUENTIAL_THINKING: Curated = Curated {
    id: "sequential-thinking",
    title: "Sequential thinking",
    description: "Keeps a chain of thoughts that can be revised and branched.",
    source: CuratedPackage::Npm("@modelcontextprotocol/server-sequential-thinking"),
    sandbox: Sandbox::NO_NETWORK,
    stateful: true,
    tags: &["reasoning", "reference"],
    homepage: "https://github.com/modelcontextprotocol/servers/tree/main/src/sequentialthinking",
    ..BASE
};

/// The browser that a server drives.
const BROWSER: CuratedInput = CuratedInput {
    name: "browser",
    description: "The program of a Chromium, Chrome or Edge.",
    many: false,
    required: true,
    places: &["/opt/google/chrome/chrome", "/usr/bin/chromium", "/opt/microsoft/msedge/msedge"],
};

/// The grants that a browser needs besides the web. It reads the rest of its installation, which for Debian's
/// Chromium includes the flags in /etc. Its processes find each other by sockets. Its own sandbox does not
/// work inside of Harbor's, so it is off.
const FOR_A_BROWSER: Sandbox = Sandbox {
    read_if_there: &["/etc/chromium.d", "/opt/google/chrome", "/opt/microsoft/msedge"],
    sockets: &["{data}"],
    ..Sandbox::DEFAULT
};

const PLAYWRIGHT: Curated = Curated {
    id: "playwright",
    title: "Playwright",
    description: "Drives a browser of its own, without a window: opens pages, reads, clicks, types.",
    source: CuratedPackage::Npm("@playwright/mcp"),
    args: &["--headless", "--isolated", "--no-sandbox", "--executable-path", "{browser}"],
    inputs: &[BROWSER],
    sandbox: FOR_A_BROWSER,
    stateful: true,
    tags: &["browser", "web", "chromium"],
    repository: "https://github.com/microsoft/playwright-mcp",
    homepage: "https://github.com/microsoft/playwright-mcp",
    ..BASE
};

const CHROME_DEVTOOLS: Curated = Curated {
    id: "chrome-devtools",
    title: "Chrome DevTools",
    description: "Looks into pages in a browser of its own: console, network, performance.",
    source: CuratedPackage::Npm("chrome-devtools-mcp"),
    args: &[
        "--headless",
        "--isolated",
        "--no-usage-statistics",
        "--chromeArg=--no-sandbox",
        "--executablePath",
        "{browser}",
    ],
    inputs: &[BROWSER],
    sandbox: FOR_A_BROWSER,
    stateful: true,
    tags: &["browser", "debugging", "performance", "chromium"],
    repository: "https://github.com/ChromeDevTools/chrome-devtools-mcp",
    homepage: "https://github.com/ChromeDevTools/chrome-devtools-mcp",
    ..BASE
};

const EVERYTHING: Curated = Curated {
    id: "everything",
    title: "Everything",
    description: "Shows every feature of MCP once, to try clients with.",
    source: CuratedPackage::Npm("@modelcontextprotocol/server-everything"),
    sandbox: Sandbox::NO_NETWORK,
    tags: &["test", "demo", "reference"],
    homepage: "https://github.com/modelcontextprotocol/servers/tree/main/src/everything",
    ..BASE
};

const GITHUB_REPOSITORY: &str = "https://github.com/github/github-mcp-server";
const GITHUB_TOKENS: &str = "https://github.com/settings/personal-access-tokens/new";

const GITHUB: Curated = Curated {
    id: "github",
    title: "GitHub",
    description: "Repositories, issues, pull requests and workflows of GitHub, in a container on this machine.",
    source: CuratedPackage::Oci("ghcr.io/github/github-mcp-server"),
    secrets: &[CuratedSecret {
        name: "GITHUB_PERSONAL_ACCESS_TOKEN",
        description: "A personal access token with the rights that it may use.",
        required: true,
        prefix: "",
        help_url: GITHUB_TOKENS,
    }],
    tags: &["issues", "pull requests", "code"],
    repository: GITHUB_REPOSITORY,
    homepage: GITHUB_REPOSITORY,
    ..BASE
};

const GITHUB_REMOTE: Curated = Curated {
    id: "github-remote",
    title: "GitHub (remote)",
    description: "Repositories, issues, pull requests and workflows of GitHub, run by GitHub.",
    source: CuratedPackage::Remote("https://api.githubcopilot.com/mcp/"),
    secrets: &[CuratedSecret {
        name: "Authorization",
        description: "A personal access token; not required if you sign in by the browser.",
        required: false,
        prefix: "Bearer ",
        help_url: GITHUB_TOKENS,
    }],
    tags: &["issues", "pull requests", "code"],
    repository: GITHUB_REPOSITORY,
    homepage: GITHUB_REPOSITORY,
    ..BASE
};
