//! Symbolic links of the person's on the way to what a server is given: they are there although what lies around them is
//! hidden, and lead nowhere else.

use std::fs;
use std::os::unix::fs::symlink;

use harbor_tests::Attempt;
use serde_json::json;

use crate::rows::{Row, User};
use crate::scene::{LETTER, Scene};

#[test]
fn links_in_a_hidden_home_lead_to_the_program_and_to_what_is_granted() {
    for user in User::all() {
        let scene = Scene::new(Row::on(6, true), *user);
        let at = |name: &str| scene.person_home(name);
        scene.plant_file(&at("app-2/file"));
        fs::copy(scene.attacker_file(), at("app-2/attacker.pyz")).unwrap();
        scene.give(&at("app-2/attacker.pyz"));
        for (link, target) in [("app", "app-2"), ("papers", "documents"), ("keys", ".ssh")] {
            symlink(target, at(link)).unwrap();
        }
        let mut definition = scene.definition("behind", &json!({"read": [at("papers/letter")]}));
        definition["args"][1] = json!(at("app/attacker.pyz"));
        scene.bridge.call("add_server", &definition).unwrap();
        scene.bridge.connect("behind");
        let reads = |name: &str| {
            let arguments = json!({"path": at(name), "secret": scene.secret});
            Attempt::by(&scene.bridge, "behind", "read", &arguments).unwrap().done
        };
        for (name, wanted) in [
            ("papers/letter", true),
            (LETTER, true),
            ("keys/id_ed25519", false),
            ("app/file", false),
            ("app-2/file", false),
        ] {
            assert_eq!(reads(name), wanted, "{user:?}: {name}");
        }
    }
}

/// A project with `current -> release-2`, which one server may write and another one runs from.
#[test]
fn links_within_what_another_server_may_write_are_there_too() {
    for user in User::all() {
        let scene = Scene::new(Row::on(6, true), *user);
        let at = |name: &str| scene.person_home(name);
        scene.plant_file(&at("project/release-2/file"));
        fs::copy(scene.attacker_file(), at("project/release-2/server.pyz")).unwrap();
        scene.give(&at("project/release-2/server.pyz"));
        symlink("release-2", at("project/current")).unwrap();
        symlink("../documents", at("project/papers")).unwrap();
        scene.add("writer", &json!({"write": [at("project")]}));
        scene.bridge.connect("writer");
        let mut definition = scene.definition("runs", &json!({}));
        definition["args"] = json!(["-I", at("project/current/server.pyz"), at("project/papers/letter")]);
        scene.bridge.call("add_server", &definition).unwrap();
        scene.bridge.connect("runs");
        let arguments = json!({"path": at(LETTER), "secret": scene.secret});
        assert!(!Attempt::by(&scene.bridge, "runs", "read", &arguments).unwrap().done, "{user:?}");
        let shown = scene.bridge.call("get_sandbox", &json!({"server_id": "runs"})).unwrap();
        let warnings = shown["sandbox"]["summary"]["warnings"].to_string();
        let told = format!("{} is not followed", at("project/papers/letter").display());
        assert!(warnings.contains(&told), "{warnings}");
    }
}
