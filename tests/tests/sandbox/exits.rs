//! What Harbor says of a server that it has ended because it used up too much.

use std::fs;

use harbor_tests::Attempt;
use serde_json::{Value, json};

use crate::attacks::Server;
use crate::rows::{Row, User};
use crate::scene::Scene;

/// Has the small server try it, with all that the kernel offers; its end as `list_servers` shows it.
fn end_of(user: User, name: &str, arguments: impl Fn(&Scene) -> Value) -> Value {
    let scene = Scene::new(Row::on(6, true), user);
    let id = scene.running(Server::Small).unwrap();
    let error = Attempt::by(&scene.bridge, id, name, &arguments(&scene)).unwrap_err();
    let exit = scene.bridge.exit(id);
    assert_eq!(error.details["cause"], exit["cause"], "the caller hears it too: {error:?}");
    scene.assert_unharmed();
    // With more data than it may have it would have the same end at once.
    for kept in fs::read_dir(scene.data(Server::Small)).into_iter().flatten().flatten() {
        let path = kept.path();
        if path.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) }.unwrap();
    }
    assert_eq!(scene.running(Server::Small), Ok(id), "it can be started again");
    exit
}

/// The watcher looks several times meanwhile, also at what a process keeps open.
#[test]
fn a_server_that_is_busy_and_within_its_limits_is_left_alone() {
    for (user, level) in User::all().iter().flat_map(|user| ["standard", "basic"].map(|level| (*user, level)))
    {
        let scene = Scene::new(Row::on(6, true), user);
        scene.add("busy", &json!({"level": level}));
        scene.bridge.connect("busy");
        let own = scene.harbor("servers/busy/data");
        let attempt = Attempt::by(&scene.bridge, "busy", "work", &json!({"own": own, "seconds": 3})).unwrap();
        assert!(attempt.done, "{user:?} {level}: {}", attempt.detail);
    }
}

#[test]
fn memory_of_several_processes_is_counted_together() {
    for user in User::all() {
        let eaten = json!({"mib": 256, "children": 8, "seconds": 20});
        let exit = end_of(*user, "eat_memory_in_children", |_| eaten.clone());
        assert_eq!(exit["cause"], "out_of_memory", "{exit}");
    }
}

#[test]
fn the_disk_is_watched() {
    for user in User::all() {
        let filled = |s: &Scene| json!({"own": s.data(Server::Small), "mib": 128, "seconds": 20});
        let exit = end_of(*user, "fill_disk", filled);
        assert_eq!(exit["cause"], "disk_full", "{exit}");
    }
}

/// The kernel counts the processes of everybody but root, whose servers are watched instead.
#[test]
fn processes_are_counted() {
    let many = json!({"count": 200, "seconds": 20});
    for user in User::all() {
        if *user == User::Root {
            let exit = end_of(*user, "fork_bomb", |_| many.clone());
            assert_eq!(exit["cause"], "too_many_processes", "{exit}");
        } else {
            let scene = Scene::new(Row::on(6, true), *user);
            let id = scene.running(Server::Small).unwrap();
            let attempt = Attempt::by(&scene.bridge, id, "fork_bomb", &many).unwrap();
            assert!(!attempt.done && attempt.detail.starts_with("EAGAIN"), "{}", attempt.detail);
            scene.assert_unharmed();
        }
    }
}
