//! Manifests as they are meant, and as they are not.

use std::collections::BTreeMap;

use proptest::prelude::*;
use serde_json::json;

use super::super::RecipeValues;
use super::*;

const HERE: &str = "git:https://example.com/a/b#main";

fn of(value: &Value) -> Manifest {
    of_value(value, Some(HERE)).unwrap()
}

fn with(name: &str, value: &Value) -> Manifest {
    of(&json!({"manifestVersion": "1.0.0", "package": {"type": "npm", "name": "x"}, name: value}))
}

fn why_not(name: &str, value: &Value) -> String {
    with(name, value).ways[0].why_not.clone().unwrap_or_default()
}

#[test]
fn it_is_not_told_where_its_data_are() {
    let variable = json!([{"name": "ARGS", "default": "{data} --x"}]);
    assert!(why_not("environment", &variable).contains("asks for the path of its data on this machine"));
}

#[test]
fn packages_become_sources() {
    let package = |package: Value| of(&json!({"manifestVersion": "1", "package": package})).ways[0].clone();
    for (declared, source) in [
        (json!({"type": "npm", "name": "@a/b", "version": "1.2.0"}), "npm:@a/b@1.2.0"),
        (json!({"type": "pypi", "name": "b", "version": "2"}), "pypi:b==2"),
        (json!({"type": "docker", "image": "ghcr.io/a/b:1"}), "oci:ghcr.io/a/b:1"),
        (json!({"type": "binary", "binaryUrl": "https://h/{os}-{arch}"}), "binary:https://h/{os}-{arch}"),
        (json!({"type": "git"}), HERE),
        (json!({"type": "git", "url": "git+https://example.com/a/b.git"}), HERE),
        (json!({"type": "git", "url": "https://example.com/other"}), "git:https://example.com/other"),
    ] {
        let way = package(declared);
        assert_eq!((way.recipe.source.as_str(), way.why_not), (source, None));
    }
    for (declared, why) in [
        (
            json!({"type": "binary", "binaryUrl": "https://h/x#allow=private"}),
            "an address that contains a `#`",
        ),
        (json!({"type": "binary", "url": "http://h/x"}), "http"),
        (json!({"type": "npm", "name": "--registry=x"}), "names no package"),
        (json!({"type": "npm", "name": "../x"}), "names no package"),
        (json!({"type": "npm", "name": "x\u{1b}[2J"}), "with an invalid name"),
        (json!({"type": "git", "url": "ext::sh -c x"}), "address must begin with https://"),
        (json!({"type": "git", "url": "file:///home/me/other"}), "address must begin with https://"),
        (json!({"type": "git", "url": "https://me:pass@h/a"}), "password"),
        (json!({"type": "docker", "image": "--privileged"}), "expected an image"),
        (json!({"type": "wasm"}), "of the type wasm"),
        (Value::Null, "names no package"),
    ] {
        let said = package(declared.clone()).why_not.unwrap_or_default();
        assert!(said.contains(why), "{declared}: {said}");
    }
    let alone = of_value(&json!({"manifestVersion": "1", "package": {"type": "git"}}), None).unwrap();
    assert!(alone.ways[0].why_not.as_ref().unwrap().ends_with("`harbor install git:URL` installs that"));
    for (repository, command) in [
        (
            json!({"type": "git", "url": "git+https://github.com/o/n.git"}),
            "`harbor install https://github.com/o/n.git`",
        ),
        (json!("o/n"), "`harbor install o/n`"),
        (json!("https://github.com/$(reboot)/n"), "`harbor install git:URL`"),
        (json!("npm"), "`harbor install git:URL`"),
    ] {
        let manifest = json!({"manifestVersion": "1", "package": {"type": "git"}, "repository": repository});
        let said = of_value(&manifest, None).unwrap().ways[0].why_not.clone().unwrap();
        assert!(said.contains(command), "{said}");
    }
    let many = json!({"type": "binary", "alternatives": [{"type": "npm", "name": "x"}]});
    let ways = of(&json!({"manifestVersion": "1", "package": many})).ways;
    assert_eq!((ways.len(), ways[1].recipe.source.as_str(), &ways[1].why_not), (2, "npm:x", &None));
}

#[test]
fn variables_have_types_defaults_and_choices() {
    let environment = json!([
        {"name": "DIR", "type": "path", "required": true, "description": "where"},
        {"name": "PORT", "type": "number", "default": 80},
        {"name": "URL", "type": "url"},
        {"name": "DEBUG", "type": "boolean", "default": "perhaps"},
        {"name": "MODE", "choices": ["fast", "slow"], "default": "fast"},
        {"name": "DIR"},
    ]);
    let recipe = with("environment", &environment).ways[0].recipe.clone();
    let seen: Vec<_> =
        recipe.env.iter().map(|one| (one.name.as_str(), one.kind.as_str(), one.value.as_deref())).collect();
    let wanted = [
        ("DIR", "path", None),
        ("PORT", "number", Some("80")),
        ("URL", "url", None),
        ("DEBUG", "boolean", None),
        ("MODE", "string", Some("fast")),
    ];
    assert_eq!(seen, wanted, "a default that its own type refuses is none");
    let fill = |pairs: &[(&str, &str)]| {
        let env: BTreeMap<_, _> =
            pairs.iter().map(|(name, value)| (name.to_string(), value.to_string())).collect();
        recipe.fill(RecipeValues {
            inputs: &BTreeMap::new(),
            env: &env,
            secrets: &[],
            data: "/d",
            incomplete: false,
        })
    };
    assert_eq!(fill(&[]).unwrap_err().to_string(), "it needs --env DIR=VALUE (where)");
    for (name, value, expected) in [
        ("DIR", "notes", "a whole path"),
        ("PORT", "eighty", "a number"),
        ("PORT", "inf", "a number"),
        ("URL", "example", "an address"),
        ("DEBUG", "maybe", "true or false"),
        ("MODE", "moon", "one of fast, slow"),
    ] {
        let said = fill(&[("DIR", "/a"), (name, value)]).unwrap_err().to_string();
        assert!(said.starts_with(name) && said.contains(expected) && !said.contains(value), "{said}");
    }
    let filled = fill(&[("DIR", "/a"), ("URL", "https://h/"), ("DEBUG", "true")]).unwrap();
    assert_eq!((filled.env.len(), filled.env["PORT"].as_str()), (5, "80"));
}

#[test]
fn secrets_say_what_they_look_like() {
    let secrets = json!([
        {"name": "KEY", "pattern": "^sk-[a-z0-9]+$", "placeholder": "sk-…", "helpUrl": "https://h/keys"},
        {"name": "MORE", "required": false, "pattern": "(?=x)y", "helpUrl": "javascript:alert(1)"},
    ]);
    let manifest = with("secrets", &secrets);
    let recipe = &manifest.ways[0].recipe;
    assert_eq!((recipe.secrets[0].required, recipe.secrets[1].required), (true, false));
    assert_eq!((&recipe.secrets[1].help_url, &recipe.secrets[1].pattern), (&None, &None));
    assert_eq!(manifest.notes, ["Harbor cannot check the pattern that its manifest gives for MORE"]);
    assert_eq!(recipe.wrong_secret("KEY", "sk-1"), None);
    let said = recipe.wrong_secret("KEY", "geheim").unwrap();
    assert!(said.contains("such as sk-…") && !said.contains("geheim"), "{said}");
    assert_eq!((recipe.wrong_secret("MORE", "z"), recipe.wrong_secret("NONE", "z")), (None, None));
}

#[test]
fn authorizations_become_secrets_or_a_reason() {
    let oauth = json!({"provider": "google", "scopes": ["mail.read"], "description": "to read mail",
        "hostMode": {"tokenEnvVar": "TOKEN", "refreshTokenEnvVar": "REFRESH", "clientIdEnvVar": "ID"}});
    let manifest = with("oauth", &oauth);
    let secrets = &manifest.ways[0].recipe.secrets;
    let seen: Vec<_> =
        secrets.iter().map(|one| (one.name.as_str(), one.required, one.description.as_str())).collect();
    assert_eq!(
        seen,
        [("TOKEN", true, "to read mail"), ("REFRESH", false, "to read mail"), ("ID", false, "to read mail")]
    );
    let note = "it needs a token of google, with the scopes mail.read; Harbor does not obtain tokens for local \
                programs: give it yours as the secret TOKEN";
    assert_eq!(manifest.notes, [note]);
    let user = json!({"provider": "google", "userMode": {"clientCredentialsEnvVar": "CLIENT"}});
    assert_eq!(with("oauth", &user).ways[0].recipe.secrets[0].name, "CLIENT");
    let own = with("oauth", &json!({"provider": "slack", "supportedSources": ["server"]}));
    assert_eq!((own.ways[0].why_not.is_none(), own.notes.len()), (true, 1));
    let impossible = json!({"provider": "custom", "userMode": {"clientCredentialsPath": "~/c.json"}});
    assert!(why_not("oauth", &impossible).contains("names no variable for it"));
}

#[test]
fn what_changes_programs_is_not_asked_for() {
    for name in [
        "LD_PRELOAD",
        "PATH",
        "HOME",
        "NODE_OPTIONS",
        "https_proxy",
        "HARBOR_HOME",
        "A B",
        "1A",
        "",
        "SSL_CERT_FILE",
    ] {
        for member in ["environment", "secrets"] {
            let said = why_not(member, &json!([{"name": name, "default": "/tmp/x.so"}]));
            assert!(said.contains("asks for the variable"), "{member} {name}: {said}");
        }
        let said = why_not("oauth", &json!({"hostMode": {"tokenEnvVar": name}}));
        assert!(!said.is_empty(), "{name}");
    }
    assert_eq!(why_not("environment", &json!([{"name": "TZ", "default": "UTC"}])), "");
    assert!(why_not("execution", &json!({"transport": "http"})).contains("speaks http"));
    assert!(why_not("environment", &json!([{"name": "A", "type": "object"}])).contains("the type object"));
}

#[test]
fn words_are_bounded_and_hide_nothing() {
    let long = "x".repeat(10_000);
    let manifest = of(
        &json!({"manifestVersion": "1.2", "name": "a\u{1b}[31m\u{202e}\u{61c}\u{3164}b\nc", "description": long,
        "repository": {"url": "https://h/"}, "package": {"type": "npm", "name": "x"}}),
    );
    assert_eq!(manifest.title, "a\\u{1b}[31m\\u{202e}\\u{61c}\\u{3164}b c");
    assert_eq!(
        (manifest.description.chars().count(), manifest.repository.as_deref()),
        (501, Some("https://h/"))
    );
    let many: Vec<_> = (0..1000).map(|at| json!({"name": format!("V{at}")})).collect();
    assert_eq!(with("environment", &json!(many)).ways[0].recipe.env.len(), MOST);
}

#[test]
fn what_is_no_manifest_says_why() {
    for (text, why) in [
        ("", "does not have the expected JSON form"),
        ("<html>", "does not have the expected JSON form"),
        ("{}", "has no manifestVersion"),
        ("[1]", "has no manifestVersion"),
        (r#"{"manifestVersion":"2.0.0"}"#, "this Harbor reads only version 1"),
        (r#"{"manifestVersion":1}"#, "has no manifestVersion"),
        (&"[".repeat(100_000), "does not have the expected JSON form"),
        (&" ".repeat(MAX + 1), "is longer than 256 KiB"),
    ] {
        let said = read(text.as_bytes(), None).unwrap_err();
        assert!(said.contains(why), "{said}");
    }
}

fn any_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        "\\PC{0,12}|npm|git|path|A_B|\\^a+\\$".prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 40, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            prop::collection::btree_map(
                "name|type|default|required|pattern|choices|url|hostMode|tokenEnvVar",
                inner,
                0..6
            )
            .prop_map(Value::from_iter),
        ]
    })
}

proptest! {
    /// Whatever it says, the sandbox is Harbor's, and nothing that changes programs is in it.
    #[test]
    fn nothing_widens_the_sandbox(package in any_value(), environment in any_value(), secrets in any_value(), oauth in any_value()) {
        let text = json!({"manifestVersion": "1.0.0", "package": package, "environment": environment, "secrets": secrets,
            "oauth": oauth, "sandbox": {"level": "off"}});
        let Ok(manifest) = of_value(&text, Some(HERE)) else { return Ok(()) };
        for way in manifest.ways {
            prop_assert_eq!(&way.recipe.sandbox, &Default::default());
            prop_assert!(way.recipe.args.is_empty() && way.recipe.headers.is_empty());
            for name in way.recipe.env.iter().map(|one| &one.name).chain(way.recipe.secrets.iter().map(|one| &one.name)) {
                prop_assert_eq!(wrong_of_others(name), None);
            }
            if way.why_not.is_none() {
                prop_assert!(source::sort(&way.recipe.source).is_ok());
            }
        }
    }
}
