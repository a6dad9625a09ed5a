//! Reading what is not the server's: under its own name, and under every other name that a path can have.

use serde_json::json;

use super::Server::Hosts;
use super::{Attack, Call, plain};
use crate::rows::Guard::{self, Filter, Landlock, Launcher, Mounts, OnlyRoot, Pids, Rights};
use crate::scene::{KEY, Scene};

/// What no rule of Landlock's names, and no mount shows.
const FILES: &[Guard] = &[Landlock(1), Mounts];

/// To be found below the processes of others.
const OF_OTHERS: &[Guard] = &[Landlock(1), Pids, Rights];

pub const ATTACKS: &[Attack] = &[
    Attack::new("read a private key of ssh", |s| read(s, KEY), FILES),
    Attack::new("read a private key of GnuPG", |s| read(s, ".gnupg/private-keys-v1.d/key"), FILES),
    Attack::new("read the cookies of Chrome", |s| read(s, ".config/google-chrome/Default/Cookies"), FILES),
    Attack::new(
        "read the passwords of Firefox",
        |s| read(s, ".mozilla/firefox/p.default/logins.json"),
        FILES,
    ),
    Attack::new(
        "list the home",
        |s| ("list_directory", json!({"path": s.person_home(""), "secret": ".ssh"})),
        FILES,
    ),
    Attack::new("read the secrets of Harbor", |s| secret_at(s, s.harbor("secrets/key")), FILES),
    Attack::new(
        "read the bridge's token",
        |s| ("read", json!({"path": s.harbor("run/token"), "secret": s.token()})),
        FILES,
    ),
    Attack::new(
        "read Harbor's database",
        |s| ("read", json!({"path": s.harbor("harbor.db"), "secret": "SQLite format 3"})),
        FILES,
    ),
    Attack::new("read the data of another server", |s| secret_at(s, s.other_data("diary")), FILES),
    Attack::new(
        "read the passwords of the machine (/etc/shadow)",
        |_| ("read", json!({"path": "/etc/shadow", "secret": "root:"})),
        &[Landlock(1), OnlyRoot],
    ),
    Attack::new("read a file in the machine's /tmp", |s| secret_at(s, s.machine_tmp("file")), FILES),
    Attack::new("read a file in /dev/shm", |s| secret_at(s, s.shm("file")), FILES),
    Attack::new("read a file in /run", |s| secret_at(s, s.run("file")), FILES),
    Attack::new("read the key of ssh by a symbolic link of its own", |s| by(s, "read_by_symlink"), FILES),
    Attack::new("read it by a hard link of its own", |s| by(s, "read_by_hard_link"), FILES),
    Attack::new("read it after moving it to its own directory", |s| by(s, "read_by_rename"), FILES),
    Attack::new("read it by `..` from a directory that it has open", |s| by(s, "read_from_directory"), FILES),
    Attack::new(
        "read it by /proc/self/root",
        |s| read_file(s, format!("/proc/self/root{}", s.person_home(KEY).display())),
        FILES,
    ),
    Attack::new(
        "read it by the root directory of the bridge",
        |s| {
            (
                "read_through_root",
                json!({"pid": s.bridge_pid(), "path": s.person_home(KEY), "secret": s.secret}),
            )
        },
        OF_OTHERS,
    ),
    Attack::new(
        "read it by a file handle, without a path",
        |s| ("read_by_handle", json!({"path": s.person_home(KEY), "secret": s.secret})),
        &[Filter, Rights, OnlyRoot],
    ),
    Attack::new(
        "read it in a copy of the mounts",
        |s| ("read_clone_of_mounts", json!({"path": s.person_home(KEY), "secret": s.secret})),
        &[Landlock(1), Mounts, Filter, Rights, OnlyRoot],
    ),
    Attack::new(
        "learn the size of a file that it may not read",
        |s| ("learn_of", json!({"path": s.person_home(KEY)})),
        &[Mounts],
    ),
    Attack::new(
        "be told what happens in ~/.ssh (inotify)",
        |s| ("watch", json!({"path": s.person_home(".ssh")})),
        &[Mounts],
    ),
    Attack::new(
        "have others wait for a file that it may read (lease)",
        |s| ("hold_up", json!({"own": s.own()})),
        &[Filter],
    ),
    Attack::new(
        "run a program of the home",
        |s| ("run_program", json!({"path": s.person_home("tool"), "secret": s.secret})),
        FILES,
    ),
    Attack::new(
        "see what the bridge has open",
        |s| ("read_files_of", json!({"pid": s.bridge_pid()})),
        OF_OTHERS,
    ),
    Attack::new("find a file that was left open for it", |_| plain("read_left_open"), &[Launcher]),
    Attack::new(
        "network `hosts`: find the proxy's socket left open",
        |_| plain("read_left_open"),
        &[Launcher],
    )
    .by(Hosts),
];

fn read(s: &Scene, below_home: &str) -> Call {
    secret_at(s, s.person_home(below_home))
}

fn secret_at(s: &Scene, path: std::path::PathBuf) -> Call {
    ("read", json!({"path": path, "secret": s.secret}))
}

fn read_file(s: &Scene, path: String) -> Call {
    ("read", json!({"path": path, "secret": s.secret}))
}

fn by(s: &Scene, way: &'static str) -> Call {
    (way, json!({"own": s.own(), "path": s.person_home(KEY), "secret": s.secret}))
}
