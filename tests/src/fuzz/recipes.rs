//! What is read of servers that can be had: what a person names, and what a registry's server.json says.

use std::collections::BTreeMap;

use harbor_policy::environment::wrong_of_others;
use harbor_policy::package::Content;
use harbor_policy::recipe::repository::{DOCUMENTS, Files, find, of_document};
use harbor_policy::recipe::server_json::{self, InstallOption};
use harbor_policy::recipe::source::{InstallSource, default_name, sort};
use harbor_policy::recipe::{MOST, RecipeValues, Unfilled};
use harbor_policy::sandbox::prefixes::path_in_argument;
use harbor_policy::sandbox::settings::checked;

use super::Target;

pub(super) const SOURCE: Target = Target {
    name: "source",
    run: source,
    corpus: &[
        b"npm:@scope/name@1.2.3",
        b"oci:ghcr.io/owner/name:1@sha256:0a",
        b"https://github.com/owner/name#main",
        b"https://example.com/a.git",
        b"http://[::1]:3000/mcp?key=x",
        b"filesystem",
        b"git:ext::sh -c x",
        b"https://u:p@h/",
        b"binary:https://h/a-{os}-{arch}.zip#sha256=0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a&bin=b/c&allow=private",
    ],
};

pub(super) const SERVER_JSON: Target = Target {
    name: "server_json",
    run: entry,
    corpus: &[
        br#"[{"registryType":"npm","identifier":"@a/b","version":"1","packageArguments":[{"type":"named","name":"--x","isRequired":true},{"type":"positional","value":"{a}{b}","variables":{"a":{"default":"1"}}}],"environmentVariables":[{"name":"K","isSecret":true},{"name":"Z","choices":["a"]}]}]"#,
        br#"[{"registryType":"oci","identifier":"a/b","registryBaseUrl":"https://ghcr.io","version":"1","runtimeArguments":[{"value":"-v"}]}]"#,
        br#"[{"type":"streamable-http","url":"https://{r}.example.com/","variables":{"r":{"isRequired":false}},"headers":[{"name":"Authorization","value":"Bearer {t} x","variables":{"t":{"isSecret":true}}},{"name":"1-a","isSecret":true}]}]"#,
        br#"[{"type":"sse","url":"file:///x"},{},[],null,1]"#,
        br#"[{"registryType":"npm","identifier":"b","packageArguments":[{"type":"positional","value":"x{a}/home/{b}{b}","variables":{"a":{"default":"","isRequired":false},"b":{"default":"."}}}]}]"#,
    ],
};

pub(super) const SERVER_MANIFEST: Target = Target {
    name: "server_manifest",
    run: manifest,
    corpus: &[
        br#"{"manifestVersion":"1.0.0","name":"a","package":{"type":"npm","name":"@a/b","alternatives":[{"type":"docker","image":"a/b:1"},{"type":"binary","binaryUrl":"https://h/{os}/{arch}"}]},"runtime":{"minimumVersion":">=20.1"},"environment":[{"name":"A","type":"path","required":true},{"name":"B","choices":["x",1],"default":1}],"secrets":[{"name":"K","pattern":"^(a+)+$","placeholder":"a","helpUrl":"https://h/"}]}"#,
        br#"{"manifestVersion":"1","package":{"type":"git","url":"git+https://h/a.git"},"execution":{"transport":"stdio"},"oauth":{"provider":"google","supportedSources":["host"],"scopes":["x"],"hostMode":{"tokenEnvVar":"T","refreshTokenEnvVar":"LD_PRELOAD"}}}"#,
        br#"{"name":"p","mcp":{"manifestVersion":"1","package":{"type":"pypi","name":"x"}}}"#,
        br#"{"name":"io.example/x","packages":[{"registryType":"npm","identifier":"b"}],"remotes":null}"#,
    ],
};

/// What is sorted is sorted the same way again, and no option of a program.
fn source(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let Ok(found) = sort(text) else { return };
    let again = match &found {
        InstallSource::Image(image) => format!("oci:{image}"),
        InstallSource::Package(text) | InstallSource::Remote(text) | InstallSource::Entry(text) => {
            text.clone()
        }
    };
    assert_eq!(sort(&again), Ok(found.clone()));
    assert!(!again.chars().any(char::is_control));
    assert!(!matches!(&found, InstallSource::Image(image) if image.starts_with('-')));
    let _ = default_name(&found);
}

fn entry(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    ways(&server_json::ways(&text, &text));
}

/// Each document of a repository, and one that somebody has. What a manifest asks for changes no programs.
fn manifest(bytes: &[u8]) {
    let here = "git:https://example.com/a/b";
    for name in DOCUMENTS {
        let files = Files {
            documents: vec![(name, Ok(bytes.to_vec()))],
            languages: Vec::new(),
            own: Ok(Content::Python),
            is_package: true,
        };
        let Ok(mut found) = find(&files, here) else { continue };
        found.fits(files.own.ok(), here, &[("node", Some("20.1".into())), ("npm", None)].into());
        ways(&found.says.ways);
        if *name != "server.json" {
            let names = found.says.ways.iter().flat_map(|way| {
                let secrets = way.recipe.secrets.iter().map(|secret| &secret.name);
                way.recipe.env.iter().map(|variable| &variable.name).chain(secrets)
            });
            names.for_each(|name| assert_eq!(wrong_of_others(name), None));
        }
    }
    if let Ok(found) = of_document(bytes) {
        ways(&found.says.ways);
    }
}

/// Whatever is filled in has Harbor's own sandbox, and a way that can be gone leads somewhere.
fn ways(all: &[InstallOption]) {
    for way in all {
        let recipe = &way.recipe;
        assert!(recipe.sandbox == Default::default() && recipe.inputs.len() <= MOST);
        let inputs = recipe.inputs.iter().map(|input| (input.name.clone(), vec!["/v".to_owned()])).collect();
        let secrets: Vec<_> = recipe.secrets.iter().map(|secret| secret.name.clone()).collect();
        let wrong =
            recipe.secrets.iter().filter_map(|secret| recipe.wrong_secret(&secret.name, "s3cret-value"));
        wrong.for_each(|why| assert!(!why.is_empty()));
        let env = recipe.env.iter().map(|one| (one.name.clone(), "v".to_owned())).collect::<BTreeMap<_, _>>();
        let nothing = (BTreeMap::new(), BTreeMap::new());
        for (inputs, env, incomplete) in [(&inputs, &env, false), (&nothing.0, &nothing.1, true)] {
            let given = RecipeValues { inputs, env, secrets: &secrets, data: "/d", incomplete };
            match recipe.fill(given) {
                Ok(filled) => {
                    assert_eq!(checked(&filled.sandbox), Ok(()));
                    assert!(filled.args.iter().map(String::len).sum::<usize>() <= 64 << 10);
                    // Nobody has named a place: there is none.
                    let names = filled.args.iter().any(|word| path_in_argument(word).is_some());
                    assert!(!incomplete || !recipe.of_others || !names, "{:?}", filled.args);
                }
                Err(why) => assert!(!incomplete || !matches!(why, Unfilled::Missing(..)), "{why}"),
            }
        }
        if way.why_not.is_none() && recipe.inputs.is_empty() {
            assert!(sort(&recipe.source).is_ok(), "{}", recipe.source);
        }
    }
}
