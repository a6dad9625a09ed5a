//! What a server leaves behind is removed by the bridge, which must not be harmed by its shape.

use std::path::{Path, PathBuf};

use harbor_tests::{Attempt, LIMIT, wait_until};
use nix::fcntl::{OFlag, open, openat};
use nix::sys::stat::Mode;
use serde_json::json;

use crate::attacks::Server;
use crate::rows::{Row, User};
use crate::scene::Scene;

/// More than a thread's stack has room for, if each took a step into another one; each part is 100 of them.
const PARTS: usize = 60;

#[test]
fn a_deep_tree_is_removed_and_harms_nobody() {
    let cases = [(Row::on(6, true), User::Root), (Row::OFF, User::Ordinary)];
    for (row, user) in cases.into_iter().filter(|(_, user)| User::all().contains(user)) {
        let scene = Scene::new(row, user);
        // A tree so deep ends its server, which may be before it is all there: each start begins anew.
        assert!((0..10).any(|_| leaves_a_deep_tree(&scene)), "{user:?}");
        await_removal(&scene);
        // This start does not wait for the last tree: the disk may take long.
        let usual = scene.running(Server::Usual).unwrap();
        // Places of the machine's temporary directory that it has may be in its own.
        assert!(!tmp(&scene, usual).join("0").exists(), "{user:?}");
        await_removal(&scene);
        scene.assert_unharmed();
    }
}

/// Waits until what earlier starts have left is gone.
fn await_removal(scene: &Scene) {
    let old = tmp(scene, Server::Usual.id()).with_extension("old");
    wait_until("what a server has left to be gone", LIMIT * 4, || old.symlink_metadata().is_err());
}

fn leaves_a_deep_tree(scene: &Scene) -> bool {
    await_removal(scene);
    let usual = scene.running(Server::Usual).unwrap();
    let tmp = tmp(scene, usual);
    let arguments = json!({"own": tmp, "parts": PARTS, "seconds": 3});
    // Its end may be faster than its answer.
    let _ = Attempt::by(&scene.bridge, usual, "leave_deep_tree", &arguments);
    scene.stop(usual);
    depth(&tmp.join("0")) >= PARTS * 100
}

/// Its own, whether it is told of it or not.
fn tmp(scene: &Scene, id: &str) -> PathBuf {
    scene.harbor(&format!("servers/{id}/tmp"))
}

/// How many directories of the name `d` are in each other, with the first one.
fn depth(top: &Path) -> usize {
    let flags = OFlag::O_DIRECTORY | OFlag::O_CLOEXEC;
    let first = open(top, flags, Mode::empty()).ok();
    std::iter::successors(first, |here| openat(here, "d", flags, Mode::empty()).ok()).count()
}
