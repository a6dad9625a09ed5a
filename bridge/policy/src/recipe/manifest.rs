//! The recipe of a manifest, version 1: `mcp-manifest.json`, `.mcp/manifest.json`, `mcp` in a package.json.
//!
//! ```text
//!  text (somebody else's JSON) ─► Manifest ─┬─ ways: its package, then its alternatives, each a Recipe
//!                                           ├─ what its runtime must be at least
//!                                           └─ notes: what Harbor does not do that it asks for
//! ```
//!
//! Owns the reading of manifests. Must never believe one: words are bounded and shown as they are, names that change what
//! programs do are refused, and nothing in it says anything about the sandbox.

use harbor_ipc_proto::hidden;
use serde_json::Value;

use crate::environment::wrong_of_others;

use super::server_json::{InstallOption, KNOWS_DATA};
use super::{Kind, MOST, Recipe, RecipeSecret, RecipeVariable, pattern, source};

/// The most bytes of a manifest.
pub const MAX: usize = 256 << 10;
/// The most characters of names, descriptions and values. Longer texts are cut.
const MAX_NAME: usize = 100;
const MAX_WORDS: usize = 500;
const MAX_VALUE: usize = 2000;
/// The most ways that are read.
const MOST_WAYS: usize = 16;

/// A manifest in parts.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Manifest {
    /// A name for people.
    pub title: String,
    /// Its own description.
    pub description: String,
    /// The address of its code.
    pub repository: Option<String>,
    /// The ways to install it.
    pub ways: Vec<InstallOption>,
    /// The least version of the runtime, for the first of these ways.
    pub minimum: Option<String>,
    /// Other notes for the person, a sentence each.
    pub notes: Vec<String>,
}

/// True if a member of a package.json is a manifest, and not anything else of that name.
#[must_use]
pub fn is_meant(value: &Value) -> bool {
    value["manifestVersion"].is_string()
}

/// Reads a manifest. `here`: the source of the repository that it lies in.
///
/// # Errors
/// The fault in it, as the end of a sentence that begins with its name.
pub fn read(text: &[u8], here: Option<&str>) -> Result<Manifest, String> {
    if text.len() > MAX {
        return Err(format!("is longer than {} KiB", MAX >> 10));
    }
    let value: Value = serde_json::from_slice(text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text))
        .map_err(|error| format!("does not have the expected JSON form: {error}"))?;
    of_value(&value, here)
}

/// Reads a manifest from JSON that is parsed already.
///
/// # Errors
/// As `read`.
pub fn of_value(value: &Value, here: Option<&str>) -> Result<Manifest, String> {
    match words(value, "manifestVersion", MAX_NAME).as_str() {
        "" => return Err("has no manifestVersion, so it is not the manifest of an MCP server".into()),
        "1" => {}
        version if version.starts_with("1.") => {}
        version => {
            return Err(format!("has the manifestVersion {version}, but this Harbor reads only version 1"));
        }
    }
    let mut notes = Vec::new();
    let declared = declared(value, &mut notes);
    let (said, package) = (|name| words(value, name, MAX_WORDS), &value["package"]);
    let alternatives = package["alternatives"].as_array().into_iter().flatten();
    let packages = std::iter::once(package).chain(alternatives).take(MOST_WAYS);
    let repository = repository(value);
    let near = Near { here, named: repository.as_deref() };
    let ways: Vec<_> = packages.map(|package| way(package, near, &declared, &value["execution"])).collect();
    let minimum = words(&value["runtime"], "minimumVersion", MAX_NAME);
    Ok(Manifest {
        title: words(value, "name", MAX_NAME),
        description: said("description"),
        ways,
        repository,
        minimum: (!minimum.is_empty()).then_some(minimum),
        notes,
    })
}

/// The facts about the repository of a manifest.
#[derive(Debug, Clone, Copy)]
struct Near<'a> {
    /// The source of the one that it lies in.
    here: Option<&'a str>,
    /// The repository that the manifest names.
    named: Option<&'a str>,
}

fn repository(value: &Value) -> Option<String> {
    let named = &value["repository"];
    let found = if named.is_object() {
        words(named, "url", MAX_WORDS)
    } else {
        words(value, "repository", MAX_WORDS)
    };
    (!found.is_empty()).then_some(found)
}

/// A text of a member: bounded, one line, nothing hidden in it.
pub(super) fn words(value: &Value, name: &str, most: usize) -> String {
    visible(value[name].as_str().unwrap_or_default(), most)
}

fn visible(text: &str, most: usize) -> String {
    let mut shown = String::new();
    for c in text.trim().chars().take(most) {
        match c {
            '\n' | '\r' | '\t' => shown.push(' '),
            c if is_hidden(c) => shown.extend(c.escape_unicode()),
            c => shown.push(c),
        }
    }
    if text.trim().chars().nth(most).is_some() {
        shown.push('…');
    }
    shown
}

/// True if a character does not belong into one line that a person reads. The joiner of an emoji is one such.
fn is_hidden(c: char) -> bool {
    c.is_control() || hidden::is_hidden(' ', c)
}

/// The part that all ways share: variables and secrets, or the reason why they cannot be given.
#[derive(Debug, Default)]
struct Declared {
    recipe: Recipe,
    why_not: Option<String>,
}

impl Declared {
    fn refuse(&mut self, why: String) {
        self.why_not.get_or_insert(why);
    }

    fn is_known(&self, name: &str) -> bool {
        let secrets = self.recipe.secrets.iter().map(|one| &one.name);
        self.recipe.env.iter().map(|one| &one.name).chain(secrets).any(|known| known == name)
    }

    /// True if a name is new, and may be asked for.
    fn takes(&mut self, name: &str) -> bool {
        if let Some(why) = wrong_of_others(name) {
            self.refuse(format!("its manifest asks for the variable {name}: {why}"));
            return false;
        }
        !self.is_known(name) && self.recipe.env.len().max(self.recipe.secrets.len()) < MOST
    }

    fn add_variable(&mut self, declared: &Value) {
        let name = words(declared, "name", MAX_NAME);
        let kind = words(declared, "type", MAX_NAME);
        if !self.takes(&name) {
            return;
        }
        let known = Kind::ALL.iter().find(|(known, _)| *known == kind || kind.is_empty());
        let Some((_, kind)) = known else {
            return self.refuse(format!("its manifest gives {name} the type {kind}, which does not exist"));
        };
        let choices: Vec<_> = list(&declared["choices"]).map(|choice| visible(&choice, MAX_VALUE)).collect();
        let fits = |value: &String| {
            kind.expected(value).is_none() && (choices.is_empty() || choices.contains(value))
        };
        let value = scalar(&declared["default"]).map(|value| visible(&value, MAX_VALUE)).filter(fits);
        if value.as_ref().is_some_and(|value| value.contains("{data}")) {
            return self.refuse(format!("{KNOWS_DATA}, by its manifest's variable {name}"));
        }
        let (description, required) =
            (words(declared, "description", MAX_WORDS), declared["required"] == true);
        self.recipe.env.push(RecipeVariable { name, description, required, value, kind: *kind, choices });
    }

    fn add_secret(&mut self, secret: RecipeSecret) {
        if self.takes(&secret.name) {
            self.recipe.secrets.push(secret);
        }
    }
}

/// A text, or a number or truth value in the form of a text.
fn scalar(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(flag) => Some(flag.to_string()),
        _ => None,
    }
}

fn list(value: &Value) -> impl Iterator<Item = String> + '_ {
    value.as_array().into_iter().flatten().filter_map(scalar).take(MOST)
}

fn declared(value: &Value, notes: &mut Vec<String>) -> Declared {
    let mut all = Declared::default();
    let objects = |name: &str| value[name].as_array().into_iter().flatten().filter(|one| one.is_object());
    objects("environment").take(MOST).for_each(|one| all.add_variable(one));
    for declared in objects("secrets").take(MOST) {
        all.add_secret(secret(declared, notes));
    }
    if value["oauth"].is_object() {
        add_oauth(&mut all, &value["oauth"], notes);
    }
    all
}

fn secret(declared: &Value, notes: &mut Vec<String>) -> RecipeSecret {
    let (name, said) = (words(declared, "name", MAX_NAME), |name| words(declared, name, MAX_WORDS));
    let some = |text: String| (!text.is_empty()).then_some(text);
    let wanted = declared["pattern"].as_str().filter(|pattern| !pattern.is_empty());
    let pattern = wanted.filter(|wanted| pattern::is_usable(wanted) && !wanted.chars().any(is_hidden));
    if wanted.is_some() && pattern.is_none() {
        notes.push(format!("Harbor cannot check the pattern that its manifest gives for {name}"));
    }
    RecipeSecret {
        description: said("description"),
        required: declared["required"] != false,
        help_url: some(said("helpUrl")).filter(|url| url.starts_with("https://")),
        placeholder: some(said("placeholder")),
        pattern: pattern.map(str::to_owned),
        header: None,
        name,
    }
}

/// Harbor obtains no tokens of a provider for programs that run here: the variable that such a program reads is a secret.
fn add_oauth(all: &mut Declared, oauth: &Value, notes: &mut Vec<String>) {
    let (provider, description) =
        (words(oauth, "provider", MAX_NAME), words(oauth, "description", MAX_WORDS));
    let (host, user) = (&oauth["hostMode"], &oauth["userMode"]);
    let named = |mode: &Value, name: &str| Some(words(mode, name, MAX_NAME)).filter(|name| !name.is_empty());
    let wanted = [(host, "tokenEnvVar"), (user, "tokenStorageEnvVar"), (user, "clientCredentialsEnvVar")];
    let Some((mode, member, name)) =
        wanted.iter().find_map(|(mode, member)| Some((*mode, *member, named(mode, member)?)))
    else {
        if list(&oauth["supportedSources"]).any(|source| source == "server") {
            notes.push(format!("it signs in at {provider} by itself"));
        } else {
            all.refuse(format!("it needs a token of {provider}, but its manifest names no variable for it"));
        }
        return;
    };
    let scopes = list(&oauth["scopes"]).map(|scope| visible(&scope, MAX_NAME)).collect::<Vec<_>>().join(" ");
    let scopes =
        if scopes.is_empty() { scopes } else { format!(", with the scopes {}", visible(&scopes, MAX_WORDS)) };
    notes.push(format!(
        "it needs a token of {provider}{scopes}; Harbor does not obtain tokens for local programs: give it yours as \
         the secret {name}"
    ));
    all.add_secret(RecipeSecret {
        name,
        description: description.clone(),
        required: true,
        ..RecipeSecret::default()
    });
    let others = ["tokenEnvVar", "refreshTokenEnvVar", "clientIdEnvVar", "clientSecretEnvVar"];
    for other in others.into_iter().filter(|other| *other != member).filter_map(|other| named(mode, other)) {
        all.add_secret(RecipeSecret {
            name: other,
            description: description.clone(),
            ..RecipeSecret::default()
        });
    }
}

fn way(package: &Value, near: Near<'_>, declared: &Declared, execution: &Value) -> InstallOption {
    let kind = words(package, "type", MAX_NAME);
    let (source, mut why_not) = match address(&kind, package, near) {
        Ok(source) => (source.clone(), source::sort(&source).err()),
        Err(why) => (format!("{kind}:{}", words(package, "name", MAX_WORDS)), Some(why)),
    };
    let transport = words(execution, "transport", MAX_NAME);
    if !["", "stdio"].contains(&transport.as_str()) {
        let why = format!("it speaks {transport} instead of stdio; start it yourself, and install its URL");
        why_not.get_or_insert(why);
    }
    let why_not = why_not.or_else(|| declared.why_not.clone());
    InstallOption { recipe: Recipe { source, ..declared.recipe.clone() }, why_not }
}

/// The source of the package that is installed.
fn address(kind: &str, package: &Value, near: Near<'_>) -> Result<String, String> {
    let text = |name: &str| package[name].as_str().unwrap_or_default().trim();
    let (name, version, url) = (text("name"), text("version"), text("url"));
    let either = |one, other| if text(one).is_empty() { text(other) } else { text(one) };
    let with = |between: &str| if version.is_empty() { String::new() } else { format!("{between}{version}") };
    let found = match kind {
        "npm" => format!("npm:{name}{}", with("@")),
        "pypi" => format!("pypi:{name}{}", with("==")),
        "docker" | "oci" => format!("oci:{}", either("image", "name")),
        // What stands behind a `#` is for the person to say: http, private addresses.
        "binary" => match either("binaryUrl", "url") {
            url if url.contains('#') => {
                return Err("its manifest names an address that contains a `#`".into());
            }
            url => format!("binary:{url}"),
        },
        "git" => return repository_of(url, near),
        "" => return Err("its manifest names no package".into()),
        kind => return Err(format!("Harbor cannot install packages of the type {kind}")),
    };
    match found.chars().any(is_hidden) || found.len() > MAX_VALUE {
        true => Err("its manifest names a package with an invalid name".into()),
        false => Ok(found),
    }
}

/// The repository of a manifest without an address, or with its own: the one that it lies in, at the commit that was read.
fn repository_of(url: &str, near: Near<'_>) -> Result<String, String> {
    let plain = |text: &str| {
        let text = text.trim_start_matches("git+").trim_start_matches("git:");
        text.split('#').next().unwrap_or_default().trim_end_matches('/').trim_end_matches(".git").to_owned()
    };
    match near.here {
        Some(here) if url.is_empty() || plain(url) == plain(here) => Ok(here.to_owned()),
        None if url.is_empty() => Err(format!(
            "its manifest refers to its own repository; `harbor install {}` installs that",
            near.named.and_then(typed).unwrap_or("git:URL")
        )),
        // An installer may read a repository of this machine: that is for the person to name.
        _ => match url.trim_start_matches("git+").trim_start_matches("git:") {
            url if url.starts_with("https://") && !url.chars().any(is_hidden) => Ok(format!("git:{url}")),
            _ => Err("its manifest names a repository, whose address must begin with https://".into()),
        },
    }
}

/// The address of a repository as a person may copy it into a shell; `None` of anything else.
fn typed(named: &str) -> Option<&str> {
    let named = named.trim_start_matches("git+");
    let is_plain = named.bytes().all(|byte| byte.is_ascii_alphanumeric() || b":/._-".contains(&byte));
    (is_plain && matches!(source::sort(named), Ok(source::InstallSource::Package(_)))).then_some(named)
}

#[cfg(test)]
mod tests;
