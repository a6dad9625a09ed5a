//! What is found in repositories, in which order, and what this machine lacks for it.

use serde_json::json;

use super::*;

const HERE: &str = "git:file:///home/me/x";
const NODE: Content = Content::Node { locked: false, builds: false };

fn files(documents: &[(&'static str, Value)], own: Result<Content, &str>) -> Files {
    let text = |value: &Value| Ok(value.to_string().into_bytes());
    Files {
        documents: DOCUMENTS
            .iter()
            .filter_map(|name| documents.iter().find(|(known, _)| known == name))
            .map(|(name, value)| (*name, text(value)))
            .collect(),
        languages: Vec::new(),
        own: own.map_err(str::to_owned),
        is_package: own.is_ok(),
    }
}

fn manifest(package: &Value) -> Value {
    json!({"manifestVersion": "1.0.0", "name": "M", "package": package})
}

#[test]
fn the_manifest_comes_first_and_the_package_last() {
    let server = (
        "server.json",
        json!({"name": "io.example/x", "packages": [{"registryType": "npm", "identifier": "s"}]}),
    );
    let plain = ("package.json", json!({"name": "p", "description": "d"}));
    let member =
        ("package.json", json!({"name": "p", "mcp": manifest(&json!({"type": "npm", "name": "m"}))}));
    let first = ("mcp-manifest.json", manifest(&json!({"type": "git"})));
    let hidden = (".mcp/manifest.json", manifest(&json!({"type": "pypi", "name": "h"})));
    for (documents, found_in, source) in [
        (vec![server.clone(), plain.clone(), hidden.clone(), first], "mcp-manifest.json", HERE),
        (vec![server.clone(), plain.clone(), hidden], ".mcp/manifest.json", "pypi:h"),
        (vec![server.clone(), member], "mcp in package.json", "npm:m"),
        (vec![server, plain.clone()], "server.json", "npm:s"),
        (vec![plain.clone()], "package.json", HERE),
        (vec![("server.json", json!({"port": 80})), plain], "package.json", HERE),
    ] {
        let found = find(&files(&documents, Ok(NODE)), HERE).unwrap();
        assert_eq!((found.found_in.as_str(), found.says.ways[0].recipe.source.as_str()), (found_in, source));
    }
    let python = find(&files(&[], Ok(Content::Python)), HERE).unwrap();
    assert_eq!(python.found_in, "pyproject.toml");
}

#[test]
fn what_is_broken_is_said_and_nothing_else_is_taken() {
    let broken = |text: Result<&[u8], &str>| {
        let text = text.map(<[u8]>::to_vec).map_err(str::to_owned);
        find(&Files { documents: vec![("mcp-manifest.json", text)], ..files(&[], Ok(NODE)) }, HERE)
            .unwrap_err()
    };
    assert!(broken(Ok(b"{")).starts_with("its mcp-manifest.json does not have the expected JSON form"));
    assert_eq!(
        broken(Err("leads out of its own directory")),
        "its mcp-manifest.json leads out of its own directory"
    );
    let library = Files { is_package: true, ..files(&[], Err("it is a library, not a server")) };
    assert_eq!(find(&library, HERE).unwrap_err(), "it is a library, not a server");
    let go = Files { languages: vec![LANGUAGES[0]], ..files(&[], Err("x")) };
    let said = find(&go, HERE).unwrap_err();
    assert!(said.contains("it has no mcp-manifest.json") && said.contains("it has a go.mod (Go)"), "{said}");
    assert!(said.contains("harbor add NAME -- PROGRAM"), "{said}");
}

#[test]
fn the_first_way_that_this_machine_can_go_is_gone() {
    let package = json!({"type": "docker", "image": "a/b", "alternatives": [{"type": "pypi", "name": "b"}, {"type": "git"}]});
    let reasons = |programs: &[(&'static str, &str)], minimum: Option<&str>| {
        let mut found = find(&files(&[("mcp-manifest.json", manifest(&package))], Ok(NODE)), HERE).unwrap();
        found.says.minimum = minimum.map(str::to_owned);
        let programs = programs.iter().map(|(name, version)| (*name, Some((*version).to_owned()))).collect();
        found.fits(Some(NODE), HERE, &programs);
        found.says.ways.into_iter().map(|way| way.why_not.unwrap_or_default()).collect::<Vec<_>>()
    };
    let said = reasons(&[("git", "2"), ("node", "22.1.0"), ("npm", "10")], None);
    assert!(said[0].contains("no podman or docker") && said[1].contains("no uv or python"), "{said:?}");
    assert_eq!(said[2], "");
    assert!(reasons(&[("uv", "1")], None)[2].contains("has no git"));
}

#[test]
fn runtimes_are_new_enough_or_it_is_said() {
    let lacks = |minimum: &str, programs: &[(&'static str, &str)], source: &str| {
        let programs = programs.iter().map(|(name, version)| (*name, Some((*version).to_owned()))).collect();
        lacking(source, None, Some(minimum), &programs).unwrap_or_default()
    };
    let node = |minimum, version| lacks(minimum, &[("node", version), ("npm", "1")], "npm:x");
    for (minimum, version) in [("20", "20.0.0"), (">=18.1", "v18.1.1"), ("20.0.0", "20"), ("9", "22.3.0")] {
        assert_eq!(node(minimum, version), "", "{minimum} {version}");
    }
    let said = node("22.5", "22.3.0");
    assert!(said.starts_with("it requires node 22.5 or newer; found 22.3.0"), "{said}");
    assert!(node("new", "22.3.0").contains("which is not a version"));
    let python = [("python", "3.9.1")];
    assert!(lacks("3.10", &python, "pypi:x").contains("3.10 or newer"));
    assert_eq!(lacks("3.10", &[("python", "3.9.1"), ("uv", "1")], "pypi:x"), "", "uv gets another one");
}

#[test]
fn a_document_of_somewhere_else() {
    let of = |value: &Value| of_document(value.to_string().as_bytes());
    assert_eq!(of(&manifest(&json!({"type": "npm", "name": "x"}))).unwrap().found_in, "mcp-manifest.json");
    let server = json!({"name": "io.example/x", "remotes": []});
    assert_eq!(of(&server).unwrap().found_in, "server.json");
    assert!(of(&json!({})).unwrap_err().starts_with("the manifest has no manifestVersion"));
}
