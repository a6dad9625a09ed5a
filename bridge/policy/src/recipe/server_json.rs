//! The recipes of an entry of the registry: one for each package and each remote of its server.json.
//!
//! ```text
//!  packages, remotes (JSON of other people) ─► Way ─┬─ Recipe
//!                                                   └─ why it cannot be installed here
//! ```
//!
//! Owns the reading of a server.json. Must never believe it: unknown members are ignored, a package or remote that cannot be used
//! becomes a way with a reason why not, and nothing in it says anything about the sandbox.

use serde_json::Value;

use crate::container::reference;
use crate::environment::wrong_of_others;

use super::filling::names_a_place;
use super::source::{self, InstallSource};
use super::unfilled::MAX_WORD;
use super::{MOST, Recipe, RecipeInput, RecipeSecret, RecipeVariable, Unfilled};

/// Registries for packages that name none.
const USUAL: &[(&str, &[&str])] = &[
    ("npm", &["https://registry.npmjs.org"]),
    ("pypi", &["https://pypi.org"]),
    ("oci", &["https://docker.io", "https://ghcr.io"]),
];

/// The reason why `{data}` is not filled in for others.
pub(super) const KNOWS_DATA: &str = "it asks for the path of its data on this machine";

/// One way to have an entry's server.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct InstallOption {
    /// The recipe. For a server that cannot be installed, its known parts.
    pub recipe: Recipe,
    /// The reason why it cannot be installed here.
    pub why_not: Option<String>,
}

/// All ways of an entry, packages first, in its own order.
#[must_use]
pub fn ways(packages: &str, remotes: &str) -> Vec<InstallOption> {
    let list = |text: &str| serde_json::from_str::<Vec<Value>>(text).unwrap_or_default();
    let packages = list(packages);
    let remotes = list(remotes);
    packages.iter().map(package).chain(remotes.iter().map(remote)).take(MOST).collect()
}

/// The first way that can be gone.
#[must_use]
pub fn first(ways: &[InstallOption]) -> Option<usize> {
    ways.iter().position(|way| way.why_not.is_none())
}

fn text<'v>(value: &'v Value, name: &str) -> &'v str {
    value[name].as_str().unwrap_or_default()
}

fn package(package: &Value) -> InstallOption {
    let (kind, identifier) = (text(package, "registryType"), text(package, "identifier"));
    let mut why_not = None;
    let mut refuse = |why: String| {
        why_not.get_or_insert(why);
    };
    let source = match address(package) {
        Ok(source) => source,
        Err(why) => {
            refuse(why);
            format!("{kind}:{identifier}")
        }
    };
    let transport = text(&package["transport"], "type");
    if !["", "stdio"].contains(&transport) {
        refuse(format!("it speaks {transport} instead of stdio; start it yourself, and install its URL"));
    }
    // A container has directories of its own.
    let mut recipe = Recipe { source, of_others: kind != "oci", ..Recipe::default() };
    let needs = |argument: &Value| argument["isRequired"] == true || argument["value"].is_string();
    if kind == "oci" && objects(&package["runtimeArguments"]).any(needs) {
        refuse("its engine requires options; run it with `harbor add --image` and --read, --write".into());
    }
    for argument in objects(&package["packageArguments"]) {
        if let Err(why) = add_argument(&mut recipe, argument) {
            refuse(why);
        }
    }
    for variable in objects(&package["environmentVariables"]) {
        if let Err(why) = add_variable(&mut recipe, variable) {
            refuse(why);
        }
    }
    if let Some(why) = recipe.args.iter().flatten().find_map(|word| wrong_word(word, recipe.of_others)) {
        refuse(why);
    }
    let runs_here = recipe.of_others;
    drop_defaults(&mut recipe, runs_here);
    if let Some(why) =
        recipe.env.iter().filter_map(|one| one.value.as_ref()).find_map(|value| wrong_word(value, false))
    {
        refuse(why);
    }
    let why_not = why_not.or_else(|| recipe.barred());
    InstallOption { recipe, why_not }
}

/// The source of the package that is installed.
fn address(package: &Value) -> Result<String, String> {
    let (kind, identifier) = (text(package, "registryType"), text(package, "identifier"));
    let (version, registry) = (text(package, "version"), text(package, "registryBaseUrl"));
    let usual = USUAL.iter().find(|(name, _)| *name == kind);
    let Some((_, usual)) = usual else {
        return Err(format!("Harbor cannot install packages of the kind {kind}"));
    };
    let registry = registry.trim_end_matches('/');
    if !registry.is_empty() && !usual.contains(&registry) {
        return Err(format!("it is in another registry, {registry}"));
    }
    let source = match kind {
        "oci" => format!("oci:{}", image(identifier, version, registry)),
        _ if version.is_empty() => format!("{kind}:{identifier}"),
        "npm" => format!("npm:{identifier}@{version}"),
        _ => format!("{kind}:{identifier}=={version}"),
    };
    source::sort(&source).map(|_| source)
}

/// The reference of an image, with its registry and its version added if it does not name them.
fn image(identifier: &str, version: &str, registry: &str) -> String {
    let host = registry.trim_start_matches("https://");
    let named = match host.is_empty() || identifier.starts_with(&format!("{host}/")) {
        true => identifier.to_owned(),
        false if reference::whole(identifier) == identifier => identifier.to_owned(),
        false => format!("{host}/{identifier}"),
    };
    let last = named.rsplit('/').next().unwrap_or_default();
    match version.is_empty() || last.contains([':', '@']) {
        true => named,
        false => format!("{named}:{version}"),
    }
}

fn remote(remote: &Value) -> InstallOption {
    let (kind, url) = (text(remote, "type"), text(remote, "url"));
    let mut recipe = Recipe { source: url.to_owned(), sse: kind == "sse", ..Recipe::default() };
    let mut why_not = None;
    if !["sse", "streamable-http", "http"].contains(&kind) {
        why_not = Some(format!("Harbor does not support {kind}"));
    }
    add_inputs(&mut recipe, url, &remote["variables"]);
    if recipe.inputs.iter().any(|input| is_secret(&remote["variables"][&input.name])) {
        why_not = Some("it wants a secret in its URL, which Harbor would store and show".into());
    }
    // As it is with something in the place of each placeholder.
    let sample = recipe
        .inputs
        .iter()
        .fold(url.to_owned(), |url, input| url.replace(&format!("{{{}}}", input.name), "x"));
    if !matches!(source::sort(&sample), Ok(InstallSource::Remote(_))) {
        why_not = Some("its address is not the URL of a server".into());
    }
    objects(&remote["headers"]).for_each(|header| add_header(&mut recipe, header));
    let headers = recipe.headers.iter().map(|(_, value)| value.as_str());
    if let Some(why) = headers.chain([url]).find_map(|text| wrong_word(text, false)) {
        why_not.get_or_insert(why);
    }
    drop_defaults(&mut recipe, false);
    let why_not = why_not.or_else(|| recipe.barred());
    InstallOption { recipe, why_not }
}

/// The reason why others may not put this word into a server's command. A named path is opened to the server,
/// so only the person may name one. `data` is a directory of this machine, which others need not know.
fn wrong_word(word: &str, runs_here: bool) -> Option<String> {
    match () {
        () if word.len() > MAX_WORD => Some("one of its values is too long".into()),
        () if word.contains("{data}") => Some(KNOWS_DATA.into()),
        () if runs_here && names_a_place(word) => Some(Unfilled::Place(word.to_owned()).to_string()),
        () => None,
    }
}

/// Drops each default that only the person may give. The person is asked for it instead.
fn drop_defaults(recipe: &mut Recipe, runs_here: bool) {
    for input in &mut recipe.inputs {
        input.default = input.default.take().filter(|value| wrong_word(value, runs_here).is_none());
    }
}

fn objects(list: &Value) -> impl Iterator<Item = &Value> {
    list.as_array().into_iter().flatten().filter(|value| value.is_object()).take(MOST)
}

fn is_secret(value: &Value) -> bool {
    value["isSecret"] == true
}

/// True for a secret, and for a value that contains one.
fn holds_secret(value: &Value) -> bool {
    is_secret(value)
        || value["variables"].as_object().into_iter().flatten().any(|(_, inner)| is_secret(inner))
}

fn input(name: &str, value: &Value) -> RecipeInput {
    let choices = value["choices"].as_array().into_iter().flatten().filter_map(Value::as_str);
    RecipeInput {
        name: name.to_owned(),
        description: text(value, "description").to_owned(),
        many: value["isRepeated"] == true,
        required: value["isRequired"] == true,
        path: value["format"] == "filepath",
        default: value["default"].as_str().map(str::to_owned),
        choices: choices.map(str::to_owned).collect(),
    }
}

fn add_input(recipe: &mut Recipe, input: RecipeInput) {
    if recipe.inputs.len() < MOST && recipe.inputs.iter().all(|known| known.name != input.name) {
        recipe.inputs.push(input);
    }
}

/// Adds the inputs that a text has in braces and that `variables` describes. Each is needed, unless its description says
/// otherwise.
fn add_inputs(recipe: &mut Recipe, text: &str, variables: &Value) {
    for (name, value) in variables.as_object().into_iter().flatten().take(MOST) {
        if text.contains(&format!("{{{name}}}")) {
            let required = value["isRequired"] != false;
            add_input(recipe, RecipeInput { required, ..input(name, value) });
        }
    }
}

/// # Errors
/// Why the argument cannot be given.
fn add_argument(recipe: &mut Recipe, argument: &Value) -> Result<(), String> {
    let (flag, fixed) = (text(argument, "name"), argument["value"].as_str());
    let is_flag = argument["type"] == "named";
    let bare = flag.trim_start_matches('-');
    if holds_secret(argument) {
        let needed = argument["isRequired"] == true || fixed.is_some();
        let why = || format!("it wants a secret as its argument {flag}, which other programs could see");
        return if needed { Err(why()) } else { Ok(()) };
    }
    let word = match fixed {
        Some(fixed) => {
            add_inputs(recipe, fixed, &argument["variables"]);
            fixed.to_owned()
        }
        None => {
            let hinted = [text(argument, "valueHint"), bare, "argument"];
            let name = hinted.into_iter().find(|name| !name.is_empty()).unwrap_or_default();
            add_input(recipe, input(name, argument));
            format!("{{{name}}}")
        }
    };
    let group = if is_flag && !flag.is_empty() { vec![flag.to_owned(), word] } else { vec![word] };
    // A flag may stand for itself.
    let group = group.into_iter().filter(|word| !word.is_empty()).collect();
    recipe.args.push(group);
    Ok(())
}

/// # Errors
/// Why others may not ask for the variable.
fn add_variable(recipe: &mut Recipe, variable: &Value) -> Result<(), String> {
    let name = text(variable, "name").to_owned();
    let known = recipe.env.iter().map(|one| &one.name).chain(recipe.secrets.iter().map(|one| &one.name));
    if name.is_empty() || known.into_iter().any(|known| *known == name) {
        return Ok(());
    }
    let RecipeInput { description, required, default, choices, .. } = input(&name, variable);
    if let Some(why) = wrong_of_others(&name) {
        // What need not be set is left to the person, who can set it.
        let is_set = required || default.is_some() || variable["value"].is_string();
        let why = || format!("it asks for the variable {}: {why}", name.escape_debug());
        return if is_set { Err(why()) } else { Ok(()) };
    }
    if holds_secret(variable) {
        recipe.secrets.push(RecipeSecret { name, description, required, ..RecipeSecret::default() });
        return Ok(());
    }
    let fixed = variable["value"].as_str();
    fixed.iter().for_each(|fixed| add_inputs(recipe, fixed, &variable["variables"]));
    let value = fixed.map(str::to_owned).or(default);
    recipe.env.push(RecipeVariable {
        name,
        description,
        required,
        value,
        choices,
        ..RecipeVariable::default()
    });
    Ok(())
}

fn add_header(recipe: &mut Recipe, header: &Value) {
    let name = text(header, "name").to_owned();
    let fixed = header["value"].as_str();
    let RecipeInput { description, required, .. } = input(&name, header);
    if name.is_empty() {
        return;
    }
    if holds_secret(header) {
        // `Bearer {token}`: what stands around the secret.
        let opened = fixed.and_then(|fixed| fixed.split_once('{'));
        let around = opened.and_then(|(before, rest)| Some((before, rest.split_once('}')?.1)));
        let (before, behind) = around.unwrap_or_default();
        let secret = RecipeSecret { description, required, ..RecipeSecret::of_header(&name, before, behind) };
        return recipe.secrets.push(secret);
    }
    let text = match fixed {
        Some(fixed) => {
            add_inputs(recipe, fixed, &header["variables"]);
            fixed.to_owned()
        }
        None => {
            add_input(recipe, input(&name, header));
            format!("{{{name}}}")
        }
    };
    recipe.headers.push((name, text));
}

#[cfg(test)]
mod tests;
