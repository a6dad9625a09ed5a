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
