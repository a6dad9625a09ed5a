//! Turns a server that can be installed into a definition: the package, and the inputs that the person fills in.
//!
//! ```text
//!  curated entry ─┐
//!  server.json ───┼─► Recipe ─┬─► what is asked: inputs, variables, secrets
//!  mcp-manifest ──┘           └─► fill(what was given) ─► arguments, environment, headers, sandbox, or what is missing
//! ```
//!
//! Owns what a recipe declares and how it is filled in. Must never hold a secret's value. Must never let somebody else's recipe
//! loosen the sandbox: a recipe of other people gets Harbor's default.

use std::collections::BTreeMap;

use harbor_ipc_proto::client::SandboxSettings;
use url::Url;

use filling::{Budget, PlaceholderValues, Value, filled};
pub use unfilled::Unfilled;

mod curated;
mod filling;
pub mod interpreted;
pub mod manifest;
pub mod pattern;
pub mod repository;
pub mod server_json;
pub mod source;
mod unfilled;

/// The most declarations of each kind that a recipe keeps.
pub const MOST: usize = 64;

/// One way to get one server.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Recipe {
    /// As `harbor install` takes it: `npm:…`, `pypi:…`, `git:…`, `binary:…`, `oci:…` or a URL, whose placeholders are filled in.
    pub source: String,
    /// The name of its server, unless the person gives one. If absent, it is made from the source.
    pub name: Option<String>,
    /// Its arguments, in groups. A group without a value for its placeholder is left out; a group with many values is repeated.
    pub args: Vec<Vec<String>>,
    /// The inputs that the person fills in for `{name}`.
    pub inputs: Vec<RecipeInput>,
    /// Variables of its environment.
    pub env: Vec<RecipeVariable>,
    /// Headers of each request to a remote server, with placeholders.
    pub headers: Vec<(String, String)>,
    /// The secrets that it needs.
    pub secrets: Vec<RecipeSecret>,
    /// The settings of its sandbox, with placeholders.
    pub sandbox: SandboxSettings,
    /// True if it is a remote server that says that it speaks HTTP+SSE only.
    pub sse: bool,
    /// True if its arguments are other people's text, for a program that runs here. None of them may name a place that the person
    /// did not name.
    pub of_others: bool,
}

/// An input that the person fills in for a placeholder.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RecipeInput {
    /// `directory` for `{directory}`.
    pub name: String,
    /// A sentence that describes it.
    pub description: String,
    /// True if there may be more than one value.
    pub many: bool,
    /// True if there must be a value.
    pub required: bool,
    /// True if it is a path of this machine: then it has to be whole.
    pub path: bool,
    /// Its value, unless the person gives one.
    pub default: Option<String>,
    /// The values that it may have, if there is a list.
    pub choices: Vec<String>,
}

/// A variable of the environment.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RecipeVariable {
    /// Its name.
    pub name: String,
    /// A sentence about its purpose.
    pub description: String,
    /// True if it must be set.
    pub required: bool,
    /// Its value, unless the person gives one; may have placeholders.
    pub value: Option<String>,
    /// The kind of value that it takes.
    pub kind: Kind,
    /// The values that it may have, if there is a list.
    pub choices: Vec<String>,
}

/// A secret.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RecipeSecret {
    /// The name under which it is kept: that of its variable, or one made of that of its header.
    pub name: String,
    /// A sentence that describes it.
    pub description: String,
    /// True if the server is useless without it.
    pub required: bool,
    /// The header of a remote server that it goes into, and the header's value: `Authorization`, `Bearer ${AUTHORIZATION}`.
    pub header: Option<(String, String)>,
    /// The page on which a person gets one.
    pub help_url: Option<String>,
    /// An example of its form, for people.
    pub placeholder: Option<String>,
    /// The pattern that it must match, as `pattern` reads it.
    pub pattern: Option<String>,
}

/// The kind of a value.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Kind {
    /// Anything.
    #[default]
    Text,
    /// A path of this machine, from / on.
    Path,
    /// An address with its scheme.
    Url,
    /// A number as JSON has it.
    Number,
    /// True or false.
    Boolean,
}

impl Kind {
    /// All, by their names.
    pub const ALL: &[(&str, Self)] = &[
        ("string", Self::Text),
        ("path", Self::Path),
        ("url", Self::Url),
        ("number", Self::Number),
        ("boolean", Self::Boolean),
    ];

    /// Its name.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        Self::ALL.iter().find(|(_, kind)| *kind == self).map_or("string", |(name, _)| name)
    }

    /// The expected kind of value. None if the value is right.
    #[must_use]
    pub fn expected(self, value: &str) -> Option<&'static str> {
        let (is_right, expected) = match self {
            Self::Text => (true, ""),
            Self::Path => (value.starts_with('/'), "a whole path, from / on"),
            Self::Url => {
                (Url::parse(value).is_ok_and(|url| url.has_host()), "an address such as https://host/")
            }
            Self::Number => (value.parse().is_ok_and(f64::is_finite), "a number"),
            Self::Boolean => (["true", "false", "1", "0"].contains(&value), "true or false"),
        };
        (!is_right).then_some(expected)
    }
}

/// The values that the person gave.
#[derive(Debug, Clone, Copy)]
pub struct RecipeValues<'a> {
    /// Values for inputs.
    pub inputs: &'a BTreeMap<String, Vec<String>>,
    /// Variables of the environment, declared ones and others.
    pub env: &'a BTreeMap<String, String>,
    /// Names of the secrets that it is given.
    pub secrets: &'a [String],
    /// The server's data directory, for `{data}`.
    pub data: &'a str,
    /// True if the result is only shown. Then a missing input appears as `{name}`, and opens nothing.
    pub incomplete: bool,
}

/// A recipe with everything in it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Filled {
    /// The source of the recipe, with its placeholders filled in.
    pub source: String,
    /// The arguments.
    pub args: Vec<String>,
    /// The environment.
    pub env: BTreeMap<String, String>,
    /// The headers.
    pub headers: BTreeMap<String, String>,
    /// Names of the secrets that it needs to be started.
    pub secrets: Vec<String>,
    /// The settings of its sandbox.
    pub sandbox: SandboxSettings,
}

impl RecipeSecret {
    /// A secret for a header, with the texts `before` and `behind` it.
    #[must_use]
    pub fn of_header(header: &str, before: &str, behind: &str) -> Self {
        let plain = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_uppercase() } else { '_' };
        let mut name: String = header.chars().map(plain).collect();
        if name.starts_with(|c: char| c.is_ascii_digit()) {
            name.insert(0, '_');
        }
        let sent = format!("{before}${{{name}}}{behind}");
        Self { header: Some((header.to_owned(), sent)), name, ..Self::default() }
    }
}

impl Recipe {
    /// The recipe with the given values, and with its own values where none was given.
    ///
    /// # Errors
    /// The inputs and variables that are missing or wrong, without their values.
    pub fn fill(&self, given: RecipeValues<'_>) -> Result<Filled, Unfilled> {
        let known = || self.inputs.iter().map(|input| input.name.clone()).collect();
        if let Some(stray) = given.inputs.keys().find(|name| self.input(name).is_none()) {
            return Err(Unfilled::Unknown(stray.clone(), known()));
        }
        let data = Value { words: vec![given.data.to_owned()], of_person: false };
        let mut values = BTreeMap::from([("data", data)]);
        for input in &self.inputs {
            let said = given.inputs.get(&input.name);
            let words = input.values(said)?;
            values.insert(&input.name, Value { words, of_person: said.is_some() });
        }
        let (inputs, variables) = self.lacking(&values, given.env);
        let is_whole = inputs.is_empty() && variables.is_empty();
        if !is_whole && !given.incomplete {
            return Err(Unfilled::Missing(inputs, variables));
        }
        let budget = &mut Budget::default();
        let sandbox = self.sandbox_with(&values, budget)?;
        for input in self.inputs.iter().filter(|input| inputs.iter().any(|(name, _)| *name == input.name)) {
            let words = vec![format!("{{{}}}", input.name)];
            values.insert(&input.name, Value { words, of_person: false });
        }
        let mut one = |text: &String| filled(text, &values, budget).map(|words| words.into_iter().next());
        let mut env = given.env.clone();
        for variable in &self.env {
            match (env.get(&variable.name), &variable.value) {
                (Some(value), _) => variable.allows(value)?,
                (None, Some(value)) => env.extend(one(value)?.map(|value| (variable.name.clone(), value))),
                (None, None) => {}
            }
        }
        env.extend(variables.into_iter().map(|(name, _)| (name.clone(), format!("{{{name}}}"))));
        let mut headers = BTreeMap::new();
        for (name, text) in &self.headers {
            headers.extend(one(text)?.map(|value| (name.clone(), value)));
        }
        let source = one(&self.source)?.unwrap_or_default();
        let mut args = Vec::new();
        for group in &self.args {
            args.extend(filling::group(group, &values, self.of_others, budget)?);
        }
        let meant = |secret: &&RecipeSecret| secret.required || given.secrets.contains(&secret.name);
        let of_secrets = self.secrets.iter().filter(meant).filter_map(|secret| secret.header.clone());
        let needed = self.secrets.iter().filter(|secret| secret.required && !env.contains_key(&secret.name));
        Ok(Filled {
            source,
            args,
            headers: headers.into_iter().chain(of_secrets).collect(),
            secrets: needed.map(|secret| secret.name.clone()).collect(),
            sandbox,
            env,
        })
    }

    /// The fault in a secret's value, without the value. None if there is no fault.
    #[must_use]
    pub fn wrong_secret(&self, name: &str, value: &str) -> Option<String> {
        let secret = self.secrets.iter().find(|secret| secret.name == name)?;
        pattern::expected(secret.pattern.as_deref()?, secret.placeholder.as_deref(), value)
    }

    fn input(&self, name: &str) -> Option<&RecipeInput> {
        self.inputs.iter().find(|input| input.name == name)
    }

    /// The inputs and the variables that must be given and were not, each with its description.
    fn lacking(&self, values: &PlaceholderValues<'_>, env: &BTreeMap<String, String>) -> (Lacking, Lacking) {
        let empty = |input: &&RecipeInput| {
            input.required && values.get(input.name.as_str()).is_none_or(|given| given.words.is_empty())
        };
        let inputs = self.inputs.iter().filter(empty).map(|one| (one.name.clone(), one.description.clone()));
        let unset =
            |one: &&RecipeVariable| one.required && one.value.is_none() && !env.contains_key(&one.name);
        let variables = self.env.iter().filter(unset).map(|one| (one.name.clone(), one.description.clone()));
        (inputs.collect(), variables.collect())
    }

    /// The reason why this cannot be had, whatever the person answers. None if it can.
    fn barred(&self) -> Option<String> {
        let nothing = (BTreeMap::new(), BTreeMap::new());
        let given =
            RecipeValues { inputs: &nothing.0, env: &nothing.1, secrets: &[], data: "", incomplete: true };
        let why = self.fill(given).err();
        why.filter(|why| matches!(why, Unfilled::Place(_) | Unfilled::TooLong)).map(|why| why.to_string())
    }

    fn sandbox_with(
        &self,
        values: &PlaceholderValues<'_>,
        budget: &mut Budget,
    ) -> Result<SandboxSettings, Unfilled> {
        let mut each = |list: &Option<Vec<String>>| {
            let mut all = Vec::new();
            for entry in list.iter().flatten() {
                all.extend(filled(entry, values, budget)?);
            }
            Ok((!all.is_empty()).then_some(all))
        };
        Ok(SandboxSettings {
            read: each(&self.sandbox.read)?,
            write: each(&self.sandbox.write)?,
            sockets: each(&self.sandbox.sockets)?,
            ..self.sandbox.clone()
        })
    }
}

/// Names, each with what it is.
type Lacking = Vec<(String, String)>;

impl RecipeInput {
    fn values(&self, given: Option<&Vec<String>>) -> Result<Vec<String>, Unfilled> {
        let wrong = |expected: &str| Unfilled::Wrong(self.name.clone(), expected.to_owned());
        let values = match given {
            Some(given) => given.clone(),
            None => self.default.iter().cloned().collect(),
        };
        if values.len() > 1 && !self.many {
            return Err(wrong("one value"));
        }
        if self.path && !values.iter().all(|path| path.starts_with('/')) {
            return Err(wrong("a whole path, from / on"));
        }
        values.iter().try_for_each(|value| allowed(&self.name, value, &self.choices))?;
        Ok(values)
    }
}

impl RecipeVariable {
    fn allows(&self, value: &String) -> Result<(), Unfilled> {
        let expected = self.kind.expected(value);
        expected.map_or(Ok(()), |expected| Err(Unfilled::Wrong(self.name.clone(), expected.to_owned())))?;
        allowed(&self.name, value, &self.choices)
    }
}

fn allowed(name: &str, value: &String, choices: &[String]) -> Result<(), Unfilled> {
    match choices.is_empty() || choices.contains(value) {
        true => Ok(()),
        false => Err(Unfilled::Wrong(name.to_owned(), format!("one of {}", choices.join(", ")))),
    }
}

#[cfg(test)]
mod tests;
