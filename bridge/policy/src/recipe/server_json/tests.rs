//! Entries of the registry, read and filled in.

use std::collections::BTreeMap;

use proptest::prelude::*;
use serde_json::json;

use super::super::RecipeValues;
use super::*;
use crate::sandbox::prefixes::path_in_argument;

fn of(package: &Value) -> InstallOption {
    ways(&json!([package]).to_string(), "[]").remove(0)
}

fn args(way: &InstallOption, inputs: &[(&str, &str)]) -> Vec<String> {
    let inputs = inputs.iter().map(|(name, value)| (name.to_string(), vec![value.to_string()])).collect();
    way.recipe
        .fill(RecipeValues {
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
        of(&json!({"registryType": "npm", "identifier": "b", member: [value]})).why_not.unwrap_or_default()
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
    let text = "{x}".repeat(1300);
    let package = json!({"registryType": "npm", "identifier": "b",
        "packageArguments": [{"type": "positional", "value": text, "variables": {"x": {"default": "y"}}}]});
    assert_eq!(args(&of(&package), &[]), ["y".repeat(1300)]);
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
        (json!({"registryType": "oci", "identifier": "ghcr.io/a/b:2", "version": "1"}), "oci:ghcr.io/a/b:2"),
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
            "in another registry",
        ),
        (json!({"registryType": "npm", "identifier": "--x"}), "names no package"),
        (
            json!({"registryType": "npm", "identifier": "b", "transport": {"type": "sse", "url": "http://localhost:1"}}),
            "speaks sse",
        ),
        (
            json!({"registryType": "oci", "identifier": "b", "runtimeArguments": [{"type": "named", "name": "-v", "value": "/:/host"}]}),
            "requires options",
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
    let refused = recipe.fill(RecipeValues {
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
    let filled = ways[0].recipe.fill(RecipeValues {
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

#[test]
fn what_is_filled_in_opens_no_place_either() {
    let of_argument = |value: &str, variables: Value| {
        of(&json!({"registryType": "npm", "identifier": "b", "packageArguments": [
            {"type": "positional", "value": value, "variables": variables}]}))
    };
    for (value, default) in [
        ("{e}/home/alice/private", ""),
        ("file{e}///home/alice", ":"),
        ("--dir={e}/home", ""),
        ("{e}{e}/{e}{e}/x", "."),
    ] {
        let said = of_argument(value, json!({"e": {"default": default, "isRequired": false}})).why_not;
        assert!(said.is_some_and(|why| why.contains("only you may grant")), "{value}");
        let asked = of_argument(value, json!({"e": {}}));
        assert_eq!(asked.why_not, None, "{value}");
        let inputs = BTreeMap::from([("e".to_owned(), vec![default.to_owned()])]);
        let given = RecipeValues {
            inputs: &inputs,
            env: &BTreeMap::new(),
            secrets: &[],
            data: "/d",
            incomplete: false,
        };
        assert_eq!(asked.recipe.fill(given), Err(Unfilled::Place(value.into())));
    }
    assert_eq!(
        args(&of_argument("--in={e}/notes", json!({"e": {}})), &[("e", "/home/alice")]),
        ["--in=/home/alice/notes"]
    );
}

#[test]
fn an_entry_that_would_become_endless_is_none() {
    let long = "x".repeat(4000);
    let argument =
        json!({"type": "positional", "value": "{x}".repeat(1300), "variables": {"x": {"default": long}}});
    let way = of(&json!({"registryType": "npm", "identifier": "b", "packageArguments": vec![argument; 55]}));
    assert!(way.why_not.unwrap_or_default().contains("at most 4096 bytes"), "{:?}", way.recipe.source);
    let url = json!([{"type": "sse", "url": format!("https://example.com/{}", "{x}".repeat(9)), "variables": {"x": {"default": long}}}]);
    assert!(ways("[]", &url.to_string())[0].why_not.is_some());
}

proptest! {
    /// No text of an author with an author's defaults, whatever harmless word a person adds, is a path outside.
    #[test]
    fn no_author_names_a_place(
        texts in prop::collection::vec("([{]a[}]|[{]b[}]|[{]p[}]|[/.~=:]|file|--x|home|f|i){1,8}", 1..4),
        a in "[/.~=:]{0,3}|file:?|home|-x=",
        b in "[/.=:]{0,2}|le:",
        p in "[a-z=:.]{0,3}",
    ) {
        let argument = |text: &String| json!({"type": "positional", "value": text, "variables": {
            "a": {"default": a, "isRequired": false}, "b": {"default": b, "isRequired": false}, "p": {}}});
        let way = of(&json!({"registryType": "npm", "identifier": "b",
            "packageArguments": texts.iter().map(argument).collect::<Vec<_>>()}));
        prop_assume!(way.why_not.is_none());
        let is_asked = way.recipe.inputs.iter().any(|input| input.name == "p");
        let inputs = is_asked.then(|| ("p".to_owned(), vec![p.clone()])).into_iter().collect();
        let env = BTreeMap::new();
        let given = RecipeValues { inputs: &inputs, env: &env, secrets: &[], data: "/d", incomplete: false };
        for word in way.recipe.fill(given).into_iter().flat_map(|filled| filled.args) {
            let goes_up = word.split('/').any(|part| part == "..") && p != "..";
            prop_assert!(path_in_argument(&word).is_none() && !goes_up, "{:?} {:?}", texts, word);
        }
    }
}
