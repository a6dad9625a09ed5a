//! The places that no server gets, whoever names them.
//!
//! Owns the lists. Must never be asked about a place that the system gives to every program (`system`). Those are chosen by hand,
//! although some of them lie in protected places.

use super::paths::{below, clean, is_within};
use super::server_facts::SandboxFacts;

/// Below a home: keys, tokens, sessions, and what other programs keep to themselves.
const OF_A_HOME: &[&str] = &[
    // Keys and passwords.
    ".ssh",
    ".gnupg",
    ".pki",
    ".password-store",
    ".netrc",
    ".authinfo",
    ".authinfo.gpg",
    ".age",
    ".config/age",
    ".config/sops",
    ".config/op",
    ".config/1Password",
    ".config/Bitwarden",
    ".config/keepassxc",
    ".local/share/keyrings",
    ".local/share/kwalletd",
    ".local/share/uv/credentials",
    ".Xauthority",
    ".ICEauthority",
    ".vault-token",
    ".config/rbw",
    // Clouds, clusters and databases.
    ".aws",
    ".azure",
    ".config/gcloud",
    ".config/doctl",
    ".config/rclone",
    ".kube",
    ".docker",
    ".config/containers",
    ".oci",
    ".fly",
    ".s3cfg",
    ".boto",
    ".terraform.d",
    ".cloudflared",
    ".config/ngrok",
    ".huggingface",
    ".cache/huggingface/token",
    ".terraformrc",
    ".pgpass",
    ".my.cnf",
    // Registries and forges.
    ".npmrc",
    ".yarnrc.yml",
    ".pypirc",
    ".cargo/credentials",
    ".cargo/credentials.toml",
    ".gem/credentials",
    ".m2/settings.xml",
    ".m2/settings-security.xml",
    ".gradle/gradle.properties",
    ".nuget/NuGet",
    ".composer/auth.json",
    ".config/composer/auth.json",
    ".git-credentials",
    ".config/git/credentials",
    ".config/gh",
    ".config/hub",
    ".config/glab-cli",
    // Browsers, mail and messages.
    ".mozilla",
    ".thunderbird",
    ".config/google-chrome",
    ".config/google-chrome-beta",
    ".config/google-chrome-unstable",
    ".config/chromium",
    ".config/BraveSoftware",
    ".config/microsoft-edge",
    ".config/microsoft-edge-beta",
    ".config/microsoft-edge-dev",
    ".config/vivaldi-snapshot",
    ".config/vivaldi",
    ".config/opera",
    ".config/Signal",
    ".config/Slack",
    ".config/discord",
    ".config/evolution",
    ".local/share/evolution",
    ".local/share/TelegramDesktop",
    ".cache/mozilla",
    ".cache/google-chrome",
    ".cache/chromium",
    ".cache/BraveSoftware",
    ".cache/microsoft-edge",
    ".librewolf",
    ".floorp",
    ".waterfox",
    ".zen",
    ".config/Element",
    "snap/firefox",
    "snap/chromium",
    "snap/thunderbird",
    ".var/app",
    // Other AI clients: their tokens, and the secrets of their servers.
    ".claude",
    ".claude.json",
    ".config/Claude",
    ".codex",
    ".gemini",
    ".cursor",
    ".codeium",
    ".continue",
    ".config/Code",
    ".config/Cursor",
    ".config/VSCodium",
    ".config/zed",
    ".config/github-copilot",
    ".local/share/opencode",
    ".mcp-auth",
    ".windsurf",
    // What was typed.
    ".bash_history",
    ".zsh_history",
    ".histfile",
    ".local/share/fish",
    ".python_history",
    ".node_repl_history",
    ".psql_history",
    ".mysql_history",
    ".sqlite_history",
    ".rediscli_history",
    ".irb_history",
    ".viminfo",
    ".lesshst",
    ".local/share/atuin",
    // Wallets.
    ".bitcoin",
    ".ethereum",
    ".electrum",
    ".monero",
];

/// Protected places of the machine. The parts that every program needs are in `system`.
const OF_THE_SYSTEM: &[&str] = &[
    "/boot",
    "/dev",
    "/etc/NetworkManager/system-connections",
    "/etc/gshadow",
    "/etc/gshadow-",
    "/etc/krb5.keytab",
    "/etc/pki/tls/private",
    "/etc/shadow",
    "/etc/shadow-",
    "/etc/ssh",
    "/etc/ssl/private",
    "/etc/sudoers",
    "/etc/sudoers.d",
    "/etc/wireguard",
    "/proc",
    "/run",
    "/sys/firmware",
    "/sys/fs/bpf",
    "/sys/kernel",
    "/var/run",
    "/var/spool/cron",
];

/// The devices in /dev that may be granted.
const SAFE_DEVICES: &[&str] = &["/dev/full", "/dev/null", "/dev/random", "/dev/urandom", "/dev/zero"];

/// Directories where many programs and people keep files. They are never granted as a whole.
const TOO_WIDE: &[&str] =
    &["/", "/etc", "/home", "/sys", "/tmp", "/var", "/var/home", "/var/lib", "/var/tmp"];

/// Places that are too wide, unless the person grants them.
const TOO_WIDE_TO_GUESS: &[&str] = &["/media", "/mnt", "/opt", "/srv", "/var/cache", "/var/log"];

/// Whose files are run by everybody: never written.
const RUN_BY_ALL: &[&str] =
    &["/bin", "/etc", "/gnu", "/lib", "/lib32", "/lib64", "/libx32", "/nix", "/sbin", "/snap", "/usr"];

/// Below a home: what the person's shell, session, editor or terminal runs, or is told to run.
const RUN_LATER: &[&str] = &[
    ".bash_aliases",
    ".bash_login",
    ".bash_logout",
    ".bash_profile",
    ".bashrc",
    ".cargo/bin",
    ".config/autostart",
    ".config/direnv",
    ".config/emacs",
    ".config/environment.d",
    ".config/fish",
    ".config/git",
    ".config/hypr",
    ".config/i3",
    ".config/kitty",
    ".config/mise",
    ".config/nvim",
    ".config/plasma-workspace",
    ".config/sway",
    ".config/systemd",
    ".config/tmux",
    ".config/zsh",
    ".emacs",
    ".emacs.d",
    ".gdbinit",
    ".gitconfig",
    ".gvimrc",
    ".inputrc",
    ".local/bin",
    ".local/lib",
    ".local/share/applications",
    ".local/share/dbus-1",
    ".local/share/nvim",
    ".local/share/systemd",
    ".nvm",
    ".oh-my-zsh",
    ".pam_environment",
    ".profile",
    ".pyenv",
    ".tmux.conf",
    ".vim",
    ".vimrc",
    ".xinitrc",
    ".xprofile",
    ".xsession",
    ".zlogin",
    ".zprofile",
    ".zshenv",
    ".zshrc",
    "bin",
    "go/bin",
];

/// The protected places of a home. The facts follow symbolic links there, and the targets are protected, too.
#[must_use]
pub fn of_home(home: &str) -> Vec<String> {
    OF_A_HOME.iter().map(|name| below(home, name)).collect()
}

/// Why a path is granted to no server: it is protected, lies in a protected place, contains one, or is too
/// wide. A sentence for people; `None` when it may be granted.
#[must_use]
pub fn why_never(path: &str, facts: &SandboxFacts) -> Option<String> {
    let Some(path) = clean(path) else {
        return Some(format!("{path:?} cannot be granted: a path must be absolute, without `..`"));
    };
    if is_own(&path, facts) || SAFE_DEVICES.contains(&path.as_str()) {
        return None;
    }
    let protected = protected_near(&path, facts);
    if let Some(place) = protected.iter().find(|place| is_within(&path, place)) {
        let which = if *place == path { "it holds" } else { &format!("it is in {place}, which holds") };
        return Some(format!(
            "{path} is never granted: {which} secrets or ways out of the sandbox. Give the server what it needs by \
             `--env`, or copy it into its data directory"
        ));
    }
    let why = match protected.iter().find(|place| is_within(place, &path)) {
        Some(place) => format!("{path} is never granted as a whole, since it contains {place}"),
        None if is_wide(&path, facts) => too_wide(&path),
        None => return None,
    };
    Some(format!("{why}: {}", name_below(&path)))
}

/// The reason why a path is not granted that the definition only names. Some paths are too wide only then.
#[must_use]
pub fn why_not_by_name(path: &str, facts: &SandboxFacts) -> Option<String> {
    why_never(path, facts).or_else(|| {
        let path = clean(path)?;
        let wide = TOO_WIDE_TO_GUESS.contains(&path.as_str());
        wide.then(|| format!("{}: {}", too_wide(&path), name_below(&path)))
    })
}

/// The reason why a path is never granted for writing.
#[must_use]
pub fn why_never_written(path: &str, facts: &SandboxFacts) -> Option<String> {
    why_never(path, facts).or_else(|| {
        let path = clean(path)?;
        let place = RUN_BY_ALL.iter().find(|place| is_within(&path, place))?;
        Some(format!("{path} is never granted for writing: everybody runs the programs in {place}"))
    })
}

/// The directory from which git runs programs for anybody who works in the repository: hooks, and programs that its settings
/// name.
const OF_GIT: &str = ".git";

/// True if the person's shell, session or editor, or git, runs files that are written there.
#[must_use]
pub fn is_run_later(path: &str, facts: &SandboxFacts) -> bool {
    if path.split('/').any(|part| part == OF_GIT) {
        return true;
    }
    let of_home = |home: &String| {
        let mut places = RUN_LATER.iter().map(|name| below(home, name));
        places.any(|place| is_within(path, &place) || is_within(&place, path))
    };
    homes_near(path, facts).iter().any(of_home)
}

fn is_own(path: &str, facts: &SandboxFacts) -> bool {
    let own = [Some(&facts.data), Some(&facts.tmp), facts.package.as_ref()];
    own.into_iter().flatten().any(|own| is_within(path, own))
}

/// Every protected place that can lie above or below a path.
fn protected_near(path: &str, facts: &SandboxFacts) -> Vec<String> {
    let fixed = OF_THE_SYSTEM.iter().map(ToString::to_string);
    let homes = homes_near(path, facts);
    let root = (facts.home.as_deref() != Some("/root")).then(|| "/root".to_owned());
    let named = [&facts.harbor_home, &facts.socket].into_iter().chain(&facts.protected);
    let named = named.filter_map(|place| clean(place));
    named.chain(fixed).chain(root).chain(homes.iter().flat_map(|home| of_home(home))).collect()
}

/// The person's home, and the home that a path lies in, whoever owns it.
fn homes_near(path: &str, facts: &SandboxFacts) -> Vec<String> {
    let other = ["/home/", "/var/home/"].into_iter().find_map(|homes| {
        let name = path.strip_prefix(homes)?.split('/').next()?;
        Some(format!("{homes}{name}"))
    });
    facts.home.iter().filter_map(|home| clean(home)).chain(other).collect()
}

fn is_wide(path: &str, facts: &SandboxFacts) -> bool {
    TOO_WIDE.contains(&path) || homes_near(path, facts).iter().any(|home| is_within(home, path))
}

fn too_wide(path: &str) -> String {
    format!("{path} is too large a place to be granted")
}

fn name_below(path: &str) -> String {
    format!("name directories below it, for example `--read {}`", below(path, "DIRECTORY"))
}

#[cfg(test)]
mod tests;
