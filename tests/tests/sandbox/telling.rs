//! What Harbor says of a server's sandbox is what the kernel was found to hold, no more.

use serde_json::{Value, json};

use crate::rows::{Row, User};
use crate::scene::Scene;

fn summary(scene: &Scene) -> Value {
    scene.bridge.server("other")["sandbox"].clone()
}

#[test]
fn status_shows_the_row_in_force() {
    for row in Row::table().into_iter().filter(|row| [0, 4].contains(&row.landlock)) {
        let scene = Scene::new(row, User::Ordinary);
        let shown = summary(&scene);
        let held_by = shown["held_by"].as_str().unwrap();
        let landlock = if row.landlock > 0 { format!("landlock {}, ", row.landlock) } else { String::new() };
        let namespaces = if row.namespaces { ", namespaces" } else { "" };
        assert_eq!(held_by, format!("{landlock}seccomp{namespaces}"));
        assert_eq!((&shown["level"], &shown["network"]), (&json!("standard"), &json!("all")));
        let missing = shown["missing"].as_array().unwrap();
        assert!(!missing.is_empty(), "each of these kernels lacks something: {shown}");
        assert!(!shown["warnings"].as_array().unwrap().is_empty(), "all of the network is worth a warning");
    }
}

#[test]
fn where_all_is_there_nothing_is_missing() {
    for user in User::all() {
        let scene = Scene::new(Row::on(6, true), *user);
        assert_eq!(summary(&scene)["missing"], json!([]));
    }
    let scene = Scene::new(Row::OFF, User::Ordinary);
    assert_eq!((&summary(&scene)["level"], &summary(&scene)["held_by"]), (&json!("off"), &json!("nothing")));
}

#[test]
fn what_is_required_and_cannot_be_had_is_no_start() {
    let scene = Scene::new(Row::on(4, false), User::Ordinary);
    for (id, settings, why) in [
        ("required", json!({"required": true}), "is required, but this kernel cannot enforce it: "),
        ("strict", json!({"level": "strict"}), "the level strict needs namespaces"),
        ("alone", json!({"network": "none"}), "the network none needs namespaces"),
        (
            "listed",
            json!({"network": "hosts", "hosts": ["allowed.example"]}),
            "the network hosts needs namespaces",
        ),
    ] {
        scene.add(id, &settings);
        let error = scene.bridge.fail_to_connect(id);
        assert!(error.message.contains(why), "{id}: {error:?}");
        let shown = scene.bridge.call("get_sandbox", &json!({"server_id": id})).unwrap();
        let refused = shown["sandbox"]["refused"].as_str().unwrap();
        assert!(refused.contains(why), "{id}: {refused}");
    }
    scene.assert_unharmed();
}
