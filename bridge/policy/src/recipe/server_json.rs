//! The recipes of an entry of the registry: one for each package and each remote of its server.json.
//!
//! ```text
//!  packages, remotes (JSON of other people) ─► Way ─┬─ Recipe
//!                                                   └─ why it cannot be installed here
//! ```
//!
//! Owns the reading of that. Must never believe it: what is unknown is ignored, what cannot be followed is a way that cannot be
//! gone, and nothing in it says anything about the sandbox.

use serde_json::Value;

use crate::container::reference;
use crate::environment::wrong_of_others;

use super::source::{self, Source};
use super::{Input, MOST, Recipe, Secret, Variable};

/// Registries that are meant where none is named.
const USUAL: &[(&str, &[&str])] = &[
    ("npm", &["https://registry.npmjs.org"]),
    ("pypi", &["https://pypi.org"]),
    ("oci", &["https://docker.io", "https://ghcr.io"]),
];

/// Longer values are none that is meant, in bytes.
const MAX_WORD: usize = 4096;

/// One way to have an entry's server.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Way {
    /// How it is installed. Of one that cannot be installed, what is known of it.
    pub recipe: Recipe,
    /// Why it cannot be installed here.
    pub why_not: Option<String>,
}

/// All ways of an entry, packages first, in its own order.
#[must_use]
pub fn ways(packages: &str, remotes: &str) -> Vec<Way> {
    let list = |text: &str| serde_json::from_str::<Vec<Value>>(text).unwrap_or_default();
    let packages = list(packages);
    let remotes = list(remotes);
    packages.iter().map(package).chain(remotes.iter().map(remote)).take(MOST).collect()
}

/// The first way that can be gone.
#[must_use]
pub fn first(ways: &[Way]) -> Option<usize> {
    ways.iter().position(|way| way.why_not.is_none())
}

fn text<'v>(value: &'v Value, name: &str) -> &'v str {
    value[name].as_str().unwrap_or_default()
}

fn package(package: &Value) -> Way {
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
    let mut recipe = Recipe { source, ..Recipe::default() };
    let needs = |argument: &Value| argument["isRequired"] == true || argument["value"].is_string();
    if kind == "oci" && objects(&package["runtimeArguments"]).any(needs) {
        refuse(
            "its engine needs options of its own; `harbor add --image` with --read and --write runs it"
                .into(),
        );
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
    // A container has directories of its own.
    if let Some(why) = recipe.args.iter().flatten().find_map(|word| wrong_word(word, kind != "oci")) {
        refuse(why);
    }
    drop_defaults(&mut recipe, kind != "oci");
    if let Some(why) =
        recipe.env.iter().filter_map(|one| one.value.as_ref()).find_map(|value| wrong_word(value, false))
    {
        refuse(why);
    }
    Way { recipe, why_not }
}

/// What is installed.
fn address(package: &Value) -> Result<String, String> {
    let (kind, identifier) = (text(package, "registryType"), text(package, "identifier"));
    let (version, registry) = (text(package, "version"), text(package, "registryBaseUrl"));
    let usual = USUAL.iter().find(|(name, _)| *name == kind);
    let Some((_, usual)) = usual else {
        return Err(format!("packages of the kind {kind} are not installed here"));
    };
    let registry = registry.trim_end_matches('/');
    if !registry.is_empty() && !usual.contains(&registry) {
        return Err(format!("it is in a registry of its own, {registry}"));
    }
    let source = match kind {
        "oci" => format!("oci:{}", image(identifier, version, registry)),
        _ if version.is_empty() => format!("{kind}:{identifier}"),
        "npm" => format!("npm:{identifier}@{version}"),
        _ => format!("{kind}:{identifier}=={version}"),
    };
    source::sort(&source).map(|_| source)
}

/// With its registry and its version, where it does not say them itself.
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

fn remote(remote: &Value) -> Way {
    let (kind, url) = (text(remote, "type"), text(remote, "url"));
    let mut recipe = Recipe { source: url.to_owned(), sse: kind == "sse", ..Recipe::default() };
    let mut why_not = None;
    if !["sse", "streamable-http", "http"].contains(&kind) {
        why_not = Some(format!("{kind} is not spoken here"));
    }
    add_inputs(&mut recipe, url, &remote["variables"]);
    if recipe.inputs.iter().any(|input| is_secret(&remote["variables"][&input.name])) {
        why_not = Some("it wants a secret in its URL, which would be stored and shown".into());
    }
    // As it is with something in the place of each placeholder.
    let sample = recipe
        .inputs
        .iter()
        .fold(url.to_owned(), |url, input| url.replace(&format!("{{{}}}", input.name), "x"));
    if !matches!(source::sort(&sample), Ok(Source::Remote(_))) {
        why_not = Some("its address is no URL of a server".into());
    }
    objects(&remote["headers"]).for_each(|header| add_header(&mut recipe, header));
    let headers = recipe.headers.iter().map(|(_, value)| value.as_str());
    if let Some(why) = headers.chain([url]).find_map(|text| wrong_word(text, false)) {
        why_not.get_or_insert(why);
    }
    drop_defaults(&mut recipe, false);
    Way { recipe, why_not }
}

/// Why somebody else cannot have a server get this word. What a command names is opened to it, so a path is for the person to name;
/// `data` is a directory of this machine, which nobody else needs to know.
fn wrong_word(word: &str, runs_here: bool) -> Option<String> {
    let named = word.rsplit('=').next().unwrap_or_default();
    let names_a_place = named.starts_with(['/', '~'])
        || named.to_ascii_lowercase().starts_with("file:")
        || named.split('/').any(|part| part == "..");
    match () {
        () if word.len() > MAX_WORD => Some("a value of it is too long".into()),
        () if word.contains("{data}") => Some("it wants to know where its data are on this machine".into()),
        () if runs_here && names_a_place => Some(format!(
            "it wants the argument {}, a place on this machine, which only you may open to it; install the package itself, with \
             what it shall have behind --",
            word.escape_debug()
        )),
        () => None,
    }
}

/// What nobody else may say is asked for instead.
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

/// Also what is made of a secret is one.
fn holds_secret(value: &Value) -> bool {
    is_secret(value)
        || value["variables"].as_object().into_iter().flatten().any(|(_, inner)| is_secret(inner))
}

fn input(name: &str, value: &Value) -> Input {
    let choices = value["choices"].as_array().into_iter().flatten().filter_map(Value::as_str);
    Input {
        name: name.to_owned(),
        description: text(value, "description").to_owned(),
        many: value["isRepeated"] == true,
        required: value["isRequired"] == true,
        path: value["format"] == "filepath",
        default: value["default"].as_str().map(str::to_owned),
        choices: choices.map(str::to_owned).collect(),
    }
}

fn add_input(recipe: &mut Recipe, input: Input) {
    if recipe.inputs.len() < MOST && recipe.inputs.iter().all(|known| known.name != input.name) {
        recipe.inputs.push(input);
    }
}

/// What a text has in braces, and where it is said what that is. It is needed, unless that says otherwise.
fn add_inputs(recipe: &mut Recipe, text: &str, variables: &Value) {
    for (name, value) in variables.as_object().into_iter().flatten().take(MOST) {
        if text.contains(&format!("{{{name}}}")) {
            let required = value["isRequired"] != false;
            add_input(recipe, Input { required, ..input(name, value) });
        }
    }
}

/// # Errors
/// Why nobody can give it.
fn add_argument(recipe: &mut Recipe, argument: &Value) -> Result<(), String> {
    let (flag, fixed) = (text(argument, "name"), argument["value"].as_str());
    let is_flag = argument["type"] == "named";
    let bare = flag.trim_start_matches('-');
    if holds_secret(argument) {
        let needed = argument["isRequired"] == true || fixed.is_some();
        let why = || format!("it wants a secret as its argument {flag}, which other programs would see");
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
/// Why nobody else can ask for it.
fn add_variable(recipe: &mut Recipe, variable: &Value) -> Result<(), String> {
    let name = text(variable, "name").to_owned();
    let known = recipe.env.iter().map(|one| &one.name).chain(recipe.secrets.iter().map(|one| &one.name));
    if name.is_empty() || known.into_iter().any(|known| *known == name) {
        return Ok(());
    }
    let Input { description, required, default, choices, .. } = input(&name, variable);
    if let Some(why) = wrong_of_others(&name) {
        // What need not be set is left to the person, who can set it.
        let is_set = required || default.is_some() || variable["value"].is_string();
        let why = || format!("it asks for the variable {}: {why}", name.escape_debug());
        return if is_set { Err(why()) } else { Ok(()) };
    }
    if holds_secret(variable) {
        recipe.secrets.push(Secret { name, description, required, ..Secret::default() });
        return Ok(());
    }
    let fixed = variable["value"].as_str();
    fixed.iter().for_each(|fixed| add_inputs(recipe, fixed, &variable["variables"]));
    let value = fixed.map(str::to_owned).or(default);
    recipe.env.push(Variable { name, description, required, value, choices, ..Variable::default() });
    Ok(())
}

fn add_header(recipe: &mut Recipe, header: &Value) {
    let name = text(header, "name").to_owned();
    let fixed = header["value"].as_str();
    let Input { description, required, .. } = input(&name, header);
    if name.is_empty() {
        return;
    }
    if holds_secret(header) {
        // `Bearer {token}`: what stands around the secret.
        let opened = fixed.and_then(|fixed| fixed.split_once('{'));
        let around = opened.and_then(|(before, rest)| Some((before, rest.split_once('}')?.1)));
        let (before, behind) = around.unwrap_or_default();
        let secret = Secret { description, required, ..Secret::of_header(&name, before, behind) };
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
mod tests {
    use std::collections::BTreeMap;

    use serde_json::json;

    use super::super::Given;
    use super::*;

    fn of(package: &Value) -> Way {
        ways(&json!([package]).to_string(), "[]").remove(0)
    }

    fn args(way: &Way, inputs: &[(&str, &str)]) -> Vec<String> {
        let inputs = inputs.iter().map(|(name, value)| (name.to_string(), vec![value.to_string()])).collect();
        way.recipe
            .fill(Given {
                inputs: &inputs,
                env: &BTreeMap::new(),
                secrets: &[],
                data: "/d",
                incomplete: false,
            })
            .unwrap()
            .args
    }

    #[test]
    fn nobody_else_opens_places_or_sets_what_changes_programs() {
        let with = |member: &str, value: Value| {
            of(&json!({"registryType": "npm", "identifier": "b", member: [value]}))
                .why_not
                .unwrap_or_default()
        };
        for word in
            ["/home/me/.ssh", "--root=/home", "~/x", "a/../../b", "file:///etc", "{data}/../../x", "{data}"]
        {
            let said = with("packageArguments", json!({"type": "positional", "value": word}));
            assert!(said.contains("this machine"), "{word}: {said}");
        }
        assert_eq!(with("packageArguments", json!({"type": "positional", "value": "--verbose"})), "");
        let asked = json!({"registryType": "npm", "identifier": "b", "packageArguments": [
            {"type": "positional", "valueHint": "dir", "default": "/home/me", "isRequired": true}]});
        let asked = of(&asked);
        assert_eq!((asked.why_not, &asked.recipe.inputs[0].default), (None, &None));
        let inside = json!({"registryType": "oci", "identifier": "a/b", "packageArguments": [{"type": "positional", "value": "/data"}]});
        assert_eq!(of(&inside).why_not, None);
        for name in
            ["PATH", "Path", "LD_PRELOAD", "NODE_OPTIONS", "GIT_SSH_COMMAND", "PIP_INDEX_URL", "X\u{1b}[31m"]
        {
            let said = with("environmentVariables", json!({"name": name, "value": "x"}));
            assert!(said.contains("variable"), "{name}: {said}");
            assert_eq!(with("environmentVariables", json!({"name": name})), "", "the person may");
        }
        for name in ["NODE_ENV", "GITHUB_TOKEN", "PYTHONUNBUFFERED", "TZ"] {
            assert_eq!(with("environmentVariables", json!({"name": name, "value": "x"})), "");
        }
        assert!(
            with("packageArguments", json!({"type": "positional", "value": "{x}".repeat(80_000)}))
                .contains("too long")
        );
    }

    #[test]
    fn many_placeholders_are_filled_one_after_the_other() {
        let text = "{x}".repeat(80_000);
        let package = json!({"registryType": "npm", "identifier": "b",
            "packageArguments": [{"type": "positional", "value": text, "variables": {"x": {"default": "y"}}}]});
        assert_eq!(args(&of(&package), &[]), ["y".repeat(80_000)]);
    }

    #[test]
    fn packages_are_addressed_as_the_person_would() {
        for (package, source) in [
            (json!({"registryType": "npm", "identifier": "@a/b", "version": "1.0.0"}), "npm:@a/b@1.0.0"),
            (
                json!({"registryType": "npm", "identifier": "b", "registryBaseUrl": "https://registry.npmjs.org/"}),
                "npm:b",
            ),
            (json!({"registryType": "pypi", "identifier": "b", "version": "1"}), "pypi:b==1"),
            (json!({"registryType": "oci", "identifier": "a/b", "version": "1"}), "oci:a/b:1"),
            (
                json!({"registryType": "oci", "identifier": "ghcr.io/a/b:2", "version": "1"}),
                "oci:ghcr.io/a/b:2",
            ),
            (
                json!({"registryType": "oci", "identifier": "a/b", "registryBaseUrl": "https://ghcr.io", "version": "1"}),
                "oci:ghcr.io/a/b:1",
            ),
        ] {
            let way = of(&package);
            assert_eq!((way.recipe.source.as_str(), way.why_not), (source, None), "{package}");
        }
        for (package, why) in [
            (json!({"registryType": "mcpb", "identifier": "https://x/y.mcpb"}), "of the kind mcpb"),
            (
                json!({"registryType": "npm", "identifier": "b", "registryBaseUrl": "https://evil.example"}),
                "registry of its own",
            ),
            (json!({"registryType": "npm", "identifier": "--x"}), "names no package"),
            (
                json!({"registryType": "npm", "identifier": "b", "transport": {"type": "sse", "url": "http://localhost:1"}}),
                "speaks sse",
            ),
            (
                json!({"registryType": "oci", "identifier": "b", "runtimeArguments": [{"type": "named", "name": "-v", "value": "/:/host"}]}),
                "options of its own",
            ),
            (
                json!({"registryType": "npm", "identifier": "b", "packageArguments": [{"type": "named", "name": "--key", "isRequired": true, "isSecret": true}]}),
                "secret as its argument --key",
            ),
            (json!({}), "of the kind "),
        ] {
            let said = of(&package).why_not.unwrap_or_default();
            assert!(said.contains(why), "{package}: {said}");
        }
    }

    #[test]
    fn arguments_and_variables_are_declared() {
        let way = of(&json!({
            "registryType": "npm", "identifier": "b",
            "packageArguments": [
                {"type": "positional", "value": "serve"},
                {"type": "positional", "valueHint": "dir", "isRequired": true, "format": "filepath", "isRepeated": true},
                {"type": "named", "name": "--mode", "default": "fast", "choices": ["fast", "slow"]},
                {"type": "named", "name": "--port", "description": "optional"},
                {"type": "named", "name": "--verbose", "value": ""},
                {"type": "named", "name": "--user", "value": "u:{who}", "variables": {"who": {"description": "you"}}},
            ],
            "environmentVariables": [
                {"name": "KEY", "isSecret": true, "isRequired": true, "description": "the key"},
                {"name": "ZONE", "default": "UTC"}, {"name": "MUST", "isRequired": true}, {"name": ""}, {"name": "KEY"},
                {"name": "URL", "value": "postgres://{pw}", "variables": {"pw": {"isSecret": true}}},
            ],
        }));
        let recipe = &way.recipe;
        let names: Vec<_> = recipe.inputs.iter().map(|input| (input.name.as_str(), input.required)).collect();
        assert_eq!(names, [("dir", true), ("mode", false), ("port", false), ("who", true)]);
        assert!(recipe.inputs[0].path && recipe.inputs[0].many);
        let secrets: Vec<_> = recipe.secrets.iter().map(|one| (one.name.as_str(), one.required)).collect();
        assert_eq!(secrets, [("KEY", true), ("URL", false)]);
        let env: Vec<_> = recipe.env.iter().map(|one| (one.name.as_str(), one.value.as_deref())).collect();
        assert_eq!(env, [("ZONE", Some("UTC")), ("MUST", None)]);
        let refused = recipe.fill(Given {
            inputs: &BTreeMap::new(),
            env: &BTreeMap::new(),
            secrets: &[],
            data: "/",
            incomplete: false,
        });
        let said = refused.unwrap_err().to_string();
        assert_eq!(said, "it needs --input dir=VALUE and --input who=VALUE (you) and --env MUST=VALUE");
        let mut without = way.clone();
        without.recipe.env.clear();
        let args = args(&without, &[("dir", "/a"), ("who", "ada")]);
        assert_eq!(args, ["serve", "/a", "--mode", "fast", "--verbose", "--user", "u:ada"]);
    }

    #[test]
    fn remotes_have_headers_and_places() {
        let remotes = json!([
            {"type": "streamable-http", "url": "https://{region}.example.com/mcp", "variables": {"region": {"default": "eu"}},
             "headers": [{"name": "Authorization", "isRequired": true, "value": "Bearer {token}", "variables": {"token": {"isSecret": true}}},
                         {"name": "X-Mode", "value": "fast"}, {"name": "X-Team", "description": "which"}]},
            {"type": "sse", "url": "https://example.com/sse"},
            {"type": "streamable-http", "url": "file:///etc/passwd"},
            {"type": "streamable-http", "url": "https://example.com/{key}", "variables": {"key": {"isSecret": true}}},
            {"type": "websocket", "url": "https://example.com/"},
        ]);
        let ways = ways("[]", &remotes.to_string());
        let can: Vec<_> = ways.iter().map(|way| way.why_not.is_none()).collect();
        assert_eq!((can, first(&ways)), (vec![true, true, false, false, false], Some(0)));
        let secret = ways[0].recipe.secrets[0].clone();
        assert_eq!(secret.header, Some(("Authorization".into(), "Bearer ${AUTHORIZATION}".into())));
        let filled = ways[0].recipe.fill(Given {
            inputs: &BTreeMap::new(),
            env: &BTreeMap::new(),
            secrets: &[],
            data: "/",
            incomplete: false,
        });
        let filled = filled.unwrap();
        assert_eq!((filled.source.as_str(), filled.headers.len()), ("https://eu.example.com/mcp", 2));
        assert_eq!((filled.secrets, &*filled.headers["X-Mode"]), (vec!["AUTHORIZATION".to_owned()], "fast"));
        assert!(ways[1].recipe.sse);
    }

    #[test]
    fn anything_else_is_no_way() {
        for text in ["", "{}", "[1,null,\"x\"]", "[[]]"] {
            assert!(ways(text, text).iter().all(|way| way.why_not.is_some()), "{text}");
        }
    }
}
