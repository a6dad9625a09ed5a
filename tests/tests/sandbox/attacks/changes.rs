//! Changing what is not the server's. That nothing has changed is seen from outside: in mounts of its own a server may
//! well believe that it has written to /tmp.

use serde_json::json;

use super::{Attack, Call, Effect};
use crate::rows::Guard::{self, Filter, Landlock, Mounts, OnlyRoot};
use crate::scene::{LETTER, Scene};

const FILES: &[Guard] = &[Landlock(1), Mounts];

/// Landlock does not know these, so the filter refuses them where no mount does.
const ATTRIBUTES: &[Guard] = &[Mounts, Filter];

const NEW: &str = "documents/new";

pub const ATTACKS: &[Attack] = &[
    Attack::new("write to a file of the home", |s| at(s, "write", LETTER), FILES).with(LETTER_CHANGES),
    Attack::new(
        "add a line to ~/.bashrc",
        |s| ("write", json!({"path": s.person_home(".bashrc"), "append": true})),
        FILES,
    )
    .with(Effect::Changes(|s| s.person_home(".bashrc"))),
    Attack::new("make a file in the home", |s| at(s, "write", NEW), FILES).with(NEW_APPEARS),
    Attack::new("make a directory in the home", |s| at(s, "make_directory", NEW), FILES).with(NEW_APPEARS),
    Attack::new("make a symbolic link in the home", |s| at(s, "make_symlink", NEW), FILES).with(NEW_APPEARS),
    Attack::new("make a hard link in the home", |s| from_own(s, "make_hard_link"), FILES).with(NEW_APPEARS),
    Attack::new("move a file to the home", |s| from_own(s, "move_out"), FILES).with(NEW_APPEARS),
    Attack::new("remove a file of the home", |s| at(s, "remove", LETTER), FILES).with(LETTER_CHANGES),
    Attack::new(
        "empty a file by its name (truncate)",
        |s| at(s, "truncate", LETTER),
        &[Landlock(3), Mounts, Filter],
    )
    .with(LETTER_CHANGES),
    Attack::new("make a file in HARBOR_HOME", |s| ("write", json!({"path": s.harbor("new")})), FILES)
        .with(Effect::Changes(|s| s.harbor("new"))),
    Attack::new(
        "write to Harbor's database",
        |s| ("write_in_place", json!({"path": s.harbor("harbor.db")})),
        FILES,
    ),
    Attack::new(
        "write to the data of another server",
        |s| ("write", json!({"path": s.other_data("diary")})),
        FILES,
    )
    .with(Effect::Changes(|s| s.other_data("diary"))),
    Attack::new(
        "write to its own program",
        |s| ("write_in_place", json!({"path": s.attacker_file()})),
        FILES,
    ),
    Attack::new(
        "make a file in the machine's /tmp",
        |s| ("write", json!({"path": s.machine_tmp("new")})),
        FILES,
    )
    .with(Effect::Changes(|s| s.machine_tmp("new"))),
    Attack::new("make a file in /run", |s| ("write", json!({"path": s.run("new")})), FILES)
        .with(Effect::Changes(|s| s.run("new"))),
    Attack::new(
        "make a file in /etc",
        |s| ("create_and_remove", json!({"path": format!("/etc/{}", s.secret)})),
        &[Landlock(1), Mounts, OnlyRoot],
    ),
    Attack::new(
        "make a file in /usr",
        |s| ("create_and_remove", json!({"path": format!("/usr/{}", s.secret)})),
        &[Landlock(1), Mounts, OnlyRoot],
    ),
    Attack::new(
        "set a variable of the kernel (core_pattern)",
        |_| ("write_in_place", json!({"path": "/proc/sys/kernel/core_pattern"})),
        &[Landlock(1), Mounts, OnlyRoot],
    ),
    Attack::new("change the mode of a file", |s| at(s, "change_mode", LETTER), ATTRIBUTES)
        .with(LETTER_CHANGES),
    Attack::new(
        "change the mode of a file by fchmodat2",
        |s| at(s, "change_mode_by_newer_call", LETTER),
        ATTRIBUTES,
    )
    .with(LETTER_CHANGES),
    Attack::new(
        "change the mode of a file by /proc/self/fd",
        |s| at(s, "change_mode_through_proc", LETTER),
        ATTRIBUTES,
    )
    .with(LETTER_CHANGES),
    Attack::new(
        "change the mode of a file that it may read",
        |s| ("change_mode_by_descriptor", json!({"path": s.attacker_file()})),
        &[Mounts],
    )
    .with(Effect::Changes(|s| s.attacker_file())),
    Attack::new(
        "change owner, times and attributes of a file that it may read",
        |s| ("change_all_by_descriptor", json!({"path": s.attacker_file()})),
        &[Mounts],
    )
    .with(Effect::Changes(|s| s.attacker_file())),
    Attack::new("change the owner of a file", |s| at(s, "change_owner", LETTER), ATTRIBUTES)
        .with(LETTER_CHANGES),
    Attack::new("change the times of a file", |s| at(s, "change_times", LETTER), ATTRIBUTES)
        .with(LETTER_CHANGES),
    Attack::new("set an attribute of a file", |s| at(s, "change_attribute", LETTER), ATTRIBUTES)
        .with(LETTER_CHANGES),
];

const LETTER_CHANGES: Effect = Effect::Changes(|s| s.person_home(LETTER));

const NEW_APPEARS: Effect = Effect::Changes(|s| s.person_home(NEW));

fn at(s: &Scene, way: &'static str, below_home: &str) -> Call {
    (way, json!({"path": s.person_home(below_home)}))
}

fn from_own(s: &Scene, way: &'static str) -> Call {
    (way, json!({"own": s.own(), "path": s.person_home(NEW)}))
}
