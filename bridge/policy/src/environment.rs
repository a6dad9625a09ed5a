//! The part of the bridge's environment that a server sees.
//!
//! A server gets the names on a list and its own variables, nothing else: the person's shell is full of other people's secrets.
//! In a sandbox the server's home, its temporary files and the proxy that it goes through are its own.

use std::collections::BTreeMap;

/// The option by which an npm command runs no scripts: it may know the registry then.
pub(crate) const NO_SCRIPTS: &str = "--ignore-scripts";

/// The most bytes of a name.
const MAX_NAME: usize = 128;

/// Names that are passed on when they are set.
const PASSED: &[&str] = &[
    "ALL_PROXY",
    "AWS_CA_BUNDLE",
    "CURL_CA_BUNDLE",
    "DENO_CERT",
    "GIT_SSL_CAINFO",
    "HOME",
    "HTTPS_PROXY",
    "HTTP_PROXY",
    "LANG",
    "LANGUAGE",
    "LOGNAME",
    "NODE_EXTRA_CA_CERTS",
    "NO_PROXY",
    "PATH",
    "PIP_CERT",
    "REQUESTS_CA_BUNDLE",
    "SHELL",
    "SSL_CERT_DIR",
    "SSL_CERT_FILE",
    "TERM",
    "TMPDIR",
    "TZ",
    "USER",
];

/// Names that programs, shells and the C library read themselves.
const OF_SYSTEM: &[&str] = &["HOME", "LANG", "LOGNAME", "PATH", "SHELL", "TERM", "TMPDIR", "TZ", "USER"];

/// True if every program acts on a variable of this name: a secret is in it only by mistake.
#[must_use]
pub fn is_of_system(name: &str) -> bool {
    OF_SYSTEM.contains(&name) || name.starts_with("LD_")
}

/// Names of those on the list whose values are files or directories that a server must be able to read.
pub const CA_FILES: &[&str] = &[
    "AWS_CA_BUNDLE",
    "CURL_CA_BUNDLE",
    "DENO_CERT",
    "GIT_SSL_CAINFO",
    "NODE_EXTRA_CA_CERTS",
    "PIP_CERT",
    "REQUESTS_CA_BUNDLE",
    "SSL_CERT_DIR",
    "SSL_CERT_FILE",
];

/// The addresses of package registries, in either case. Only installers get them, since an address may contain a password.
const REGISTRIES: &[&str] = &[
    "NPM_CONFIG_REGISTRY",
    "PIP_EXTRA_INDEX_URL",
    "PIP_INDEX_URL",
    "UV_DEFAULT_INDEX",
    "UV_EXTRA_INDEX_URL",
    "UV_INDEX",
    "UV_INDEX_URL",
];

/// The port of the egress proxy: the network that it is in is the server's own, so it is free.
pub const PROXY_PORT: u16 = 3128;

/// Names of the variables by which programs find a proxy; also known in small letters.
const PROXIES: &[&str] = &["ALL_PROXY", "HTTPS_PROXY", "HTTP_PROXY"];

/// Version managers look for their root below the home. A sandbox has another home, so they get these variables.
const ROOTS: &[(&str, &str)] = &[
    ("/.asdf", "ASDF_DATA_DIR"),
    ("/.goenv", "GOENV_ROOT"),
    ("/.local/share/mise", "MISE_DATA_DIR"),
    ("/.nodenv", "NODENV_ROOT"),
    ("/.pyenv", "PYENV_ROOT"),
    ("/.rbenv", "RBENV_ROOT"),
    ("/.rustup", "RUSTUP_HOME"),
    ("/.volta", "VOLTA_HOME"),
];

/// The environment for the runner of a remote server: the proxies, and the marks.
pub fn of_remote(
    inherited: impl IntoIterator<Item = (String, String)>,
    instance: &str,
    id: &str,
) -> BTreeMap<String, String> {
    let is_proxy = |name: &str| name == "NO_PROXY" || PROXIES.contains(&name);
    let passed = inherited.into_iter().filter(|(name, _)| is_proxy(&name.to_ascii_uppercase()));
    let mut environment: BTreeMap<_, _> = passed.collect();
    environment.insert(INSTANCE_MARK.into(), instance.into());
    environment.insert(SERVER_MARK.into(), id.into());
    environment
}

/// The changes that a sandbox makes to an environment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Confined<'a> {
    /// The server's data directory: its home. Its files below `~/.config` and `~/.cache` are there, too.
    pub home: &'a str,
    /// Its directory for temporary files.
    pub tmp: &'a str,
    /// The hosts to which it connects without its egress proxy, as a list for `NO_PROXY`. None without a proxy.
    pub no_proxy: Option<String>,
    /// The paths that its program needs. The roots of version managers among them are told to it.
    pub program: &'a [String],
    /// The directory that this start installs a package into.
    pub installs_into: Option<&'a str>,
}

/// The directories in which programs are looked for when the bridge has no PATH.
pub const DEFAULT_PATH: &str = "/usr/local/bin:/usr/bin:/bin";

/// The seed by which Python orders its sets. Without it, Python takes another number at each start. Then a tool whose
/// description lists a set would change at each start, and a changed tool is blocked until the person has seen it. A
/// fixed number lets an attacker make dictionaries slow. That costs only the server's own time, which is limited.
pub(crate) const OF_PYTHON_SETS: (&str, &str) = ("PYTHONHASHSEED", "0");

/// The name of the mark by which a later bridge finds what an earlier one left behind.
pub const INSTANCE_MARK: &str = "HARBOR_INSTANCE";

/// The name of the mark by which a runner that serves several servers knows whose a process is.
pub const SERVER_MARK: &str = "HARBOR_SERVER";

/// The environment of the catalog worker: the proxies, the certificates to trust, and the mark.
pub fn of_worker(
    inherited: impl IntoIterator<Item = (String, String)>,
    instance: &str,
) -> BTreeMap<String, String> {
    let names = PROXIES.iter().chain(&["NO_PROXY", "SSL_CERT_DIR", "SSL_CERT_FILE"]);
    let wanted = |name: &str| names.clone().any(|known| known.eq_ignore_ascii_case(name));
    let mut environment: BTreeMap<_, _> = inherited.into_iter().filter(|(name, _)| wanted(name)).collect();
    environment.insert(INSTANCE_MARK.into(), instance.into());
    environment
}

/// The environment of the model worker: the certificates to trust, and the mark. No proxy is taken from there: it would see keys
/// and whole conversations.
pub fn of_model_worker(
    inherited: impl IntoIterator<Item = (String, String)>,
    instance: &str,
) -> BTreeMap<String, String> {
    let wanted = |name: &str| ["SSL_CERT_DIR", "SSL_CERT_FILE"].contains(&name);
    let mut environment: BTreeMap<_, _> = inherited.into_iter().filter(|(name, _)| wanted(name)).collect();
    environment.insert(INSTANCE_MARK.into(), instance.into());
    environment
}

/// The whole environment of the server `id`: what is passed on, what its sandbox makes of that, its `own` variables
/// over it, then the marks. `confined` is absent at the level `off`.
pub fn of_server(
    inherited: impl IntoIterator<Item = (String, String)>,
    own: &BTreeMap<String, String>,
    instance: &str,
    id: &str,
    confined: Option<&Confined<'_>>,
) -> BTreeMap<String, String> {
    let installs = confined.is_some_and(|confined| confined.installs_into.is_some());
    let passed = |name: &str| is_passed(name) || installs && is_registry(name);
    let mut environment: BTreeMap<_, _> = inherited.into_iter().filter(|(name, _)| passed(name)).collect();
    environment.entry("PATH".into()).or_insert_with(|| DEFAULT_PATH.into());
    environment.extend(confined.into_iter().flat_map(Confined::variables));
    if !installs {
        // What a program starts is not known: Python may come late.
        environment.insert(OF_PYTHON_SETS.0.into(), OF_PYTHON_SETS.1.into());
    }
    environment.extend(own.clone());
    environment.insert(INSTANCE_MARK.into(), instance.into());
    environment.insert(SERVER_MARK.into(), id.into());
    environment
}

impl Confined<'_> {
    /// The variables that are set, whatever was passed on.
    fn variables(&self) -> Vec<(String, String)> {
        let mut all = vec![("HOME".to_owned(), self.home.to_owned())];
        all.extend(["TMPDIR", "TMP", "TEMP"].map(|name| (name.into(), self.tmp.into())));
        if let Some(direct) = &self.no_proxy {
            let address = format!("http://127.0.0.1:{PROXY_PORT}");
            let both = PROXIES.iter().flat_map(|name| [(*name).to_owned(), name.to_ascii_lowercase()]);
            all.extend(both.map(|name| (name, address.clone())));
            all.extend(["NO_PROXY", "no_proxy"].map(|name| (name.into(), direct.clone())));
            // Node looks at the others only when it is told to.
            all.push(("NODE_USE_ENV_PROXY".into(), "1".into()));
        }
        let root = |(end, name): &(&str, &str)| {
            let root = self.program.iter().find(|path| path.ends_with(end))?;
            Some(((*name).to_owned(), root.clone()))
        };
        all.extend(ROOTS.iter().filter_map(root));
        // Nothing that may be written is shared with other servers, nor writable later.
        let caches = [
            ("npm_config_cache", "cache/npm"),
            ("UV_CACHE_DIR", "cache/uv"),
            ("UV_PYTHON_INSTALL_DIR", "python"),
            ("PIP_CACHE_DIR", "cache/pip"),
        ];
        let inside =
            self.installs_into.iter().flat_map(|package| caches.map(|(name, at)| (name, *package, at)));
        all.extend(inside.map(|(name, package, at)| (name.into(), format!("{package}/{at}"))));
        all
    }
}

fn is_passed(name: &str) -> bool {
    // Proxies are written in lower case as often as in upper case.
    let upper = name.to_ascii_uppercase();
    PASSED.contains(&name)
        || name.starts_with("LC_")
        || (upper.ends_with("_PROXY") && PASSED.contains(&upper.as_str()))
}

fn is_registry(name: &str) -> bool {
    REGISTRIES.contains(&name.to_ascii_uppercase().as_str())
}

/// Takes from an installer the variables of all registries but its own, which its `command` tells: scripts of packages run beside
/// it, and a build beside none. npm knows its own only where it runs no scripts.
pub fn keep_own_registry(environment: &mut BTreeMap<String, String>, command: &str, args: &[String]) {
    let program = command.rsplit('/').next().unwrap_or(command);
    let own = match program {
        // It hands its settings on to the scripts that it runs.
        "npm" if args.iter().any(|arg| arg == NO_SCRIPTS) => Some("NPM_"),
        "uv" => Some("UV_"),
        python if python.starts_with("python") => Some("PIP_"),
        _ => None,
    };
    let is_own = |name: &str| own.is_some_and(|own| name.to_ascii_uppercase().starts_with(own));
    environment.retain(|name, _| !is_registry(name) || is_own(name));
}

/// Names of variables that change which programs run, or what they load. Only the person may set them.
const OF_THE_PERSON: &[&str] = &[
    "BASHOPTS",
    "BASH_ENV",
    "BROWSER",
    "CDPATH",
    "CLASSPATH",
    "EDITOR",
    "ENV",
    "GCONV_PATH",
    "IFS",
    "JDK_JAVA_OPTIONS",
    "PAGER",
    "PROMPT_COMMAND",
    "PS4",
    "SHELLOPTS",
    "VISUAL",
    "_JAVA_OPTIONS",
];

/// Beginnings of such names: of the loader, of interpreters, of what fetches and installs.
const FAMILIES_OF_THE_PERSON: &[&str] = &[
    "BUN_",
    "CARGO_",
    "DENO_",
    "DYLD_",
    "GIT_",
    "GLIBC_",
    "HARBOR_",
    "JAVA_",
    "LD_",
    "NODE_",
    "NPM_CONFIG_",
    "OPENSSL_",
    "PERL",
    "PIP_",
    "PYTHON",
    "RUBY",
    "SSL_",
    "UV_",
    "XDG_",
];

/// Names on the lists above that change only how things are shown or written.
const HARMLESS: &[&str] = &[
    "LANG",
    "LANGUAGE",
    "NODE_ENV",
    "PYTHONDONTWRITEBYTECODE",
    "PYTHONIOENCODING",
    "PYTHONUNBUFFERED",
    "PYTHONUTF8",
    "TERM",
    "TZ",
];

/// The reason why a recipe of others cannot ask for a variable of this name. None if it can.
#[must_use]
pub fn wrong_of_others(name: &str) -> Option<&'static str> {
    let letter = |b: u8| b.is_ascii_alphabetic() || b == b'_';
    let is_name = name.bytes().next().is_some_and(letter)
        && name.bytes().all(|b| letter(b) || b.is_ascii_digit())
        && name.len() <= MAX_NAME;
    let upper = name.to_ascii_uppercase();
    let is_listed = is_of_system(&upper)
        || is_passed(&upper)
        || OF_THE_PERSON.contains(&upper.as_str())
        || FAMILIES_OF_THE_PERSON.iter().any(|start| upper.starts_with(start));
    let is_harmless = HARMLESS.contains(&name) || name.starts_with("LC_");
    if !is_name {
        Some("it is not the name of a variable")
    } else if is_listed && !is_harmless {
        Some("only you may set it, since it changes how programs behave")
    } else {
        None
    }
}

/// The reason why an environment variable of a definition cannot be used. None if it can.
#[must_use]
pub fn wrong_variable(name: &str, value: &str) -> Option<&'static str> {
    if name.is_empty() || name.contains(['=', '\0']) {
        Some("a name must not be empty or contain '='")
    } else if value.contains('\0') {
        Some("a value must not contain a NUL character")
    } else if name == INSTANCE_MARK || name == SERVER_MARK {
        Some("Harbor itself sets HARBOR_INSTANCE and HARBOR_SERVER")
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pairs(list: &[(&str, &str)]) -> Vec<(String, String)> {
        list.iter().map(|(n, v)| (n.to_string(), v.to_string())).collect()
    }

    fn environment(
        inherited: &[(&str, &str)],
        own: &[(&str, &str)],
        confined: Option<Confined<'_>>,
    ) -> Vec<(String, String)> {
        let own = pairs(own).into_iter().collect();
        of_server(pairs(inherited), &own, "i", "s", confined.as_ref()).into_iter().collect()
    }

    const PLAIN: Confined<'_> =
        Confined { home: "/d", tmp: "/t", no_proxy: None, program: &[], installs_into: None };

    #[test]
    fn the_catalog_worker_finds_its_way_out_and_nothing_else() {
        let inherited = pairs(&[
            ("HOME", "/h"),
            ("PATH", "/bin"),
            ("AWS_SECRET_ACCESS_KEY", "s"),
            ("https_proxy", "http://p"),
            ("NO_PROXY", "x"),
            ("SSL_CERT_FILE", "/c"),
        ]);
        let wanted = [
            ("HARBOR_INSTANCE", "i"),
            ("NO_PROXY", "x"),
            ("SSL_CERT_FILE", "/c"),
            ("https_proxy", "http://p"),
        ];
        assert_eq!(of_worker(inherited, "i").into_iter().collect::<Vec<_>>(), pairs(&wanted));
    }

    #[test]
    fn secrets_stay_behind() {
        let inherited = [
            ("AWS_SECRET_ACCESS_KEY", "s"),
            ("DBUS_SESSION_BUS_ADDRESS", "unix:path=/run/user/1/bus"),
            ("DISPLAY", ":0"),
            ("HARBOR_HOME", "/h"),
            ("HOME", "/home/u"),
            ("LANG", "de"),
            ("LC_ALL", "C"),
            ("PIP_INDEX_URL", "https://u:p@pypi"),
            ("SSH_AUTH_SOCK", "/run/agent"),
            ("TMPDIR", "/tmp"),
            ("WAYLAND_DISPLAY", "w"),
            ("XDG_CONFIG_HOME", "/home/u/.config"),
            ("XDG_RUNTIME_DIR", "/run/user/1"),
            ("https_proxy", "p"),
        ];
        let own = [("KEY", "k"), ("LANG", "en")];
        let mut wanted = pairs(&[
            ("HARBOR_INSTANCE", "i"),
            ("HARBOR_SERVER", "s"),
            ("HOME", "/home/u"),
            ("KEY", "k"),
            ("LANG", "en"),
            ("LC_ALL", "C"),
            ("PATH", DEFAULT_PATH),
            ("PYTHONHASHSEED", "0"),
            ("TMPDIR", "/tmp"),
            ("https_proxy", "p"),
        ]);
        assert_eq!(environment(&inherited, &own, None), wanted);
        wanted.extend(pairs(&[("TEMP", "/t"), ("TMP", "/t")]));
        wanted.retain(|(name, _)| name != "HOME" && name != "TMPDIR");
        wanted.extend(pairs(&[("HOME", "/d"), ("TMPDIR", "/t")]));
        wanted.sort();
        assert_eq!(environment(&inherited, &own, Some(PLAIN)), wanted);
    }

    #[test]
    fn the_proxy_of_a_sandbox_is_the_only_one() {
        let inherited = [("HTTP_PROXY", "http://corp"), ("all_proxy", "socks://corp"), ("no_proxy", "*")];
        let own = [
            ("HTTPS_PROXY", "http://own"),
            ("HOME", "/own"),
            ("HARBOR_SERVER", "other"),
            ("PYTHONHASHSEED", "7"),
        ];
        let ours = "http://127.0.0.1:3128";
        let mut wanted = pairs(&[
            ("ALL_PROXY", ours),
            ("HARBOR_INSTANCE", "i"),
            ("HARBOR_SERVER", "s"),
            ("HOME", "/own"),
            ("HTTPS_PROXY", "http://own"),
            ("HTTP_PROXY", ours),
            ("NODE_USE_ENV_PROXY", "1"),
            ("NO_PROXY", "localhost,127.0.0.1,::1"),
            ("PATH", DEFAULT_PATH),
            ("PYTHONHASHSEED", "7"),
            ("TEMP", "/t"),
            ("TMP", "/t"),
            ("TMPDIR", "/t"),
            ("all_proxy", ours),
            ("http_proxy", ours),
            ("https_proxy", ours),
            ("no_proxy", "localhost,127.0.0.1,::1"),
        ]);
        wanted.sort();
        assert_eq!(
            environment(
                &inherited,
                &own,
                Some(Confined { no_proxy: Some("localhost,127.0.0.1,::1".into()), ..PLAIN })
            ),
            wanted
        );
    }

    #[test]
    fn installers_know_their_registry_and_keep_their_caches() {
        let inherited = [("npm_config_registry", "r"), ("UV_INDEX_URL", "u"), ("npm_config_token", "t")];
        let wanted = pairs(&[
            ("HARBOR_INSTANCE", "i"),
            ("HARBOR_SERVER", "s"),
            ("HOME", "/d"),
            ("PATH", DEFAULT_PATH),
            ("PIP_CACHE_DIR", "/p/cache/pip"),
            ("TEMP", "/t"),
            ("TMP", "/t"),
            ("TMPDIR", "/t"),
            ("UV_CACHE_DIR", "/p/cache/uv"),
            ("UV_INDEX_URL", "u"),
            ("UV_PYTHON_INSTALL_DIR", "/p/python"),
            ("npm_config_cache", "/p/cache/npm"),
            ("npm_config_registry", "r"),
        ]);
        assert_eq!(
            environment(&inherited, &[], Some(Confined { installs_into: Some("/p"), ..PLAIN })),
            wanted
        );
    }

    #[test]
    fn an_installer_knows_no_other_registry_than_its_own() {
        let all = pairs(&[
            ("PATH", "/bin"),
            ("PIP_INDEX_URL", "p"),
            ("UV_INDEX_URL", "u"),
            ("npm_config_registry", "n"),
        ]);
        let kept = |command: &str, args: &str| {
            let mut environment = all.iter().cloned().collect();
            let args: Vec<_> = args.split(' ').map(ToOwned::to_owned).collect();
            keep_own_registry(&mut environment, command, &args);
            environment.into_values().collect::<Vec<_>>().join(" ")
        };
        assert_eq!(kept("/usr/bin/npm", "ci --ignore-scripts"), "/bin n");
        assert_eq!(kept("/usr/bin/npm", "ci --prefer-offline"), "/bin");
        assert_eq!(kept("npm", "run"), "/bin");
        assert_eq!(kept("/p/venv/bin/python", "-m"), "/bin p");
        assert_eq!(kept("python3.11", "-c"), "/bin p");
        assert_eq!(kept("uv", "pip"), "/bin u");
        assert_eq!(kept("git", "fetch"), "/bin");
    }

    #[test]
    fn version_managers_find_their_root() {
        let program = ["/usr/x".to_owned(), "/home/u/.volta".to_owned()];
        let with = environment(&[], &[], Some(Confined { program: &program, ..PLAIN }));
        let mut wanted = environment(&[], &[], Some(PLAIN));
        wanted.extend(pairs(&[("VOLTA_HOME", "/home/u/.volta")]));
        wanted.sort();
        assert_eq!(with, wanted);
    }

    #[test]
    fn files_of_authorities_are_passed_on() {
        assert!(CA_FILES.iter().all(|name| PASSED.contains(name)));
    }
}
