//! Where a person's own settings say that packages come from: `.npmrc`, `pip.conf`, `uv.toml`.
//!
//! ```text
//!  ~/.npmrc                      registry=URL                     ─► npm_config_registry
//!  ~/.config/pip/pip.conf        [global] index-url = URL         ─► PIP_INDEX_URL
//!  ~/.config/uv/uv.toml          index-url, [[index]] default     ─► UV_DEFAULT_INDEX
//! ```
//!
//! Owns which files count, and what is read of them: the address of the one registry that replaces the public one. Must never
//! take a key or a token from them: an installer runs other people's code.

use url::Url;

use super::Ecosystem;

/// The most bytes of an address.
const LONGEST: usize = 1024;

/// A file of settings, and what it becomes.
#[derive(Debug, Clone, Copy)]
pub struct RegistrySettingsFile {
    /// Below the person's home.
    pub file: &'static str,
    /// The variable of the installer.
    pub variable: &'static str,
    /// Variables that say so already, in either case.
    unless: &'static [&'static str],
    read: fn(&str) -> Option<&str>,
}

/// The settings of npm, pip and uv. Where several files exist, the first one with an address counts.
const OF_NPM: &[RegistrySettingsFile] = &[RegistrySettingsFile {
    file: ".npmrc",
    variable: "npm_config_registry",
    unless: &["NPM_CONFIG_REGISTRY"],
    read: of_npmrc,
}];
const OF_PIP: &[RegistrySettingsFile] = &[
    RegistrySettingsFile {
        file: ".config/pip/pip.conf",
        variable: "PIP_INDEX_URL",
        unless: &["PIP_INDEX_URL"],
        read: of_pip,
    },
    RegistrySettingsFile {
        file: ".pip/pip.conf",
        variable: "PIP_INDEX_URL",
        unless: &["PIP_INDEX_URL"],
        read: of_pip,
    },
];
const OF_UV: &[RegistrySettingsFile] = &[RegistrySettingsFile {
    file: ".config/uv/uv.toml",
    variable: "UV_DEFAULT_INDEX",
    unless: &["UV_DEFAULT_INDEX", "UV_INDEX_URL"],
    read: of_uv,
}];

/// The files that count for an installer.
#[must_use]
pub fn settings(ecosystem: Ecosystem, has_uv: bool) -> &'static [RegistrySettingsFile] {
    match ecosystem {
        Ecosystem::Npm => OF_NPM,
        Ecosystem::Pypi if has_uv => OF_UV,
        Ecosystem::Pypi => OF_PIP,
        Ecosystem::Git | Ecosystem::Binary => &[],
    }
}

impl RegistrySettingsFile {
    /// True if the file counts where these variables are set: a variable that names the registry wins over it.
    pub fn counts<'a>(&self, set: impl IntoIterator<Item = &'a str>) -> bool {
        set.into_iter().all(|name| !self.unless.iter().any(|unless| name.eq_ignore_ascii_case(unless)))
    }

    /// The address in the text of its file.
    #[must_use]
    pub fn address(&self, text: &str) -> Option<String> {
        let address = (self.read)(text)?;
        let is_web = Url::parse(address).is_ok_and(|url| ["https", "http"].contains(&url.scheme()));
        (is_web && address.len() <= LONGEST).then(|| address.to_owned())
    }
}

/// An address in the form for people: without a name or a password.
#[must_use]
pub fn shown(address: &str) -> String {
    Url::parse(address)
        .map(|mut url| {
            let _ = url.set_username("");
            let _ = url.set_password(None);
            url.set_query(None);
            url.to_string()
        })
        .unwrap_or_default()
}

/// The value of a line `name = value`, without quotes.
fn value<'a>(line: &'a str, name: &str) -> Option<&'a str> {
    let (found, value) = line.split_once('=')?;
    let value = value.trim();
    let value = value.strip_prefix('"').and_then(|value| value.split('"').next()).unwrap_or(value);
    (found.trim() == name && !value.is_empty()).then_some(value)
}

fn of_npmrc(text: &str) -> Option<&str> {
    // The last one counts, and what names a variable is not followed.
    let found = text.lines().filter_map(|line| value(line.trim(), "registry")).next_back();
    found.filter(|address| !address.contains("${"))
}

fn of_pip(text: &str) -> Option<&str> {
    in_table(text, |table| table == "[global]", &["index-url", "index_url"])
}

fn of_uv(text: &str) -> Option<&str> {
    let top = in_table(text, str::is_empty, &["index-url"]);
    let top = top.or_else(|| in_table(text, |table| table == "[pip]", &["index-url"]));
    let mut tables = text.split("[[index]]").skip(1);
    let default = tables.find_map(|table| {
        let own = table.split("\n[").next()?;
        let is_default = own.lines().any(|line| value(line.trim(), "default") == Some("true"));
        own.lines().find_map(|line| value(line.trim(), "url")).filter(|_| is_default)
    });
    default.or(top)
}

/// The value of one of these names in the tables that `is_meant` chooses. Before the first table, its line is empty.
fn in_table<'a>(text: &'a str, is_meant: impl Fn(&str) -> bool, names: &[&str]) -> Option<&'a str> {
    let mut table = "";
    text.lines().map(str::trim).find_map(|line| {
        if line.starts_with('[') {
            table = line;
        }
        names.iter().find_map(|name| value(line, name)).filter(|_| is_meant(table))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(ecosystem: Ecosystem, has_uv: bool, text: &str) -> Option<String> {
        settings(ecosystem, has_uv)[0].address(text)
    }

    #[test]
    fn the_registry_in_place_of_the_public_one_is_read() {
        let npm = |text: &str| address(Ecosystem::Npm, false, text);
        let mine = Some("https://npm.example/a/".to_owned());
        assert_eq!(
            npm(
                "; x\nregistry=https://old.example/\n//npm.example/:_authToken=t\n registry = \"https://npm.example/a/\""
            ),
            mine
        );
        for none in [
            "@s:registry=https://npm.example/",
            "#registry=https://a.example",
            "registry=${R}",
            "registry=/x",
            "",
        ] {
            assert_eq!(npm(none), None, "{none}");
        }
        let pip = |text: &str| address(Ecosystem::Pypi, false, text);
        assert_eq!(pip("[install]\nindex-url = https://x.example\n[global]\nindex-url = https://me:pw@py.example/simple").as_deref(), Some("https://me:pw@py.example/simple"));
        let uv = |text: &str| address(Ecosystem::Pypi, true, text);
        let two = "[[index]]\nurl = \"https://a.example\"\n[[index]]\nurl = \"https://b.example\"\ndefault = true\n[pip]\n";
        assert_eq!(uv(two).as_deref(), Some("https://b.example"));
        assert_eq!(uv("index-url = \"https://c.example\"").as_deref(), Some("https://c.example"));
        assert_eq!(uv("[[index]]\nurl = \"https://a.example\""), None);
    }

    #[test]
    fn a_variable_wins() {
        let npm = settings(Ecosystem::Npm, false)[0];
        assert!(npm.counts(["PATH", "PIP_INDEX_URL"]) && !npm.counts(["npm_config_registry"]));
    }

    #[test]
    fn no_password_is_shown() {
        assert_eq!(shown("https://me:pw@py.example/simple?t=1"), "https://py.example/simple");
    }
}
