//! Using up what all share. The server of these may use little, so that its limits are seen soon; the causes that Harbor
//! gives for its end are in `exits`.

use serde_json::json;

use super::Server::Small;
use super::{Attack, Call, Effect};
use crate::rows::Guard::{self, Filter, Landlock, Limits, Mounts, Pids};
use crate::scene::Scene;

const LIMITS: &[Guard] = &[Limits];

/// So long what is only watched is held: the watcher looks once a second, and tells of a disk at its next look. Nobody
/// watches where the sandbox is off.
fn seconds(s: &Scene) -> u32 {
    if s.row.off { 0 } else { 10 }
}

/// Twice what the small server may use, or more; all of it is had where nothing holds, in each row.
const MEMORY_MB: u32 = 256;
const PROCESSES: u32 = 300;
const DISK_MB: u32 = 128;

pub const ATTACKS: &[Attack] = &[
    Attack::new(
        "run 300 processes",
        |s| ("fork_bomb", json!({"count": PROCESSES, "seconds": seconds(s)})),
        LIMITS,
    )
    .by(Small),
    Attack::new("eat memory", |s| ("eat_memory", json!({"mib": MEMORY_MB, "seconds": seconds(s)})), LIMITS)
        .by(Small),
    Attack::new(
        "eat memory in several processes",
        |s| ("eat_memory_in_children", json!({"mib": MEMORY_MB, "children": 8, "seconds": seconds(s)})),
        LIMITS,
    )
    .by(Small),
    Attack::new(
        "eat memory in processes whose parents have ended",
        |s| ("eat_memory_in_orphans", json!({"mib": MEMORY_MB, "count": 8, "seconds": seconds(s)})),
        LIMITS,
    )
    .by(Small),
    Attack::new(
        "run 100 processes whose parents have ended",
        |s| ("fork_orphans", json!({"count": 100, "seconds": seconds(s)})),
        LIMITS,
    )
    .by(Small),
    Attack::new("eat memory that is no process's data (memfd)", |s| memfd(s, true), LIMITS).by(Small),
    Attack::new(
        "fill the disk",
        |s| ("fill_disk", json!({"own": s.data(Small), "mib": DISK_MB, "seconds": seconds(s)})),
        LIMITS,
    )
    .by(Small),
    Attack::new(
        "take room on the disk without writing (fallocate)",
        |s| ("allocate_disk", json!({"own": s.own(), "mib": DISK_MB})),
        &[Filter],
    ),
    Attack::new(
        "eat memory by files in /dev/shm",
        |s| ("fill_disk", json!({"own": s.shm("more"), "mib": MEMORY_MB, "seconds": seconds(s)})),
        &[Landlock(1), Mounts],
    )
    .by(Small),
    Attack::new(
        "write a very large file",
        |s| ("write_large_file", json!({"own": s.data(Small), "mib": 2048})),
        LIMITS,
    )
    .by(Small),
    Attack::new("open 100,000 files", |_| ("open_many_files", json!({"enough": 1000})), LIMITS).by(Small),
    Attack::new(
        "leave a daemon behind, in a session of its own and without an environment",
        |s| ("leave_daemon", json!({"own": s.own()})),
        &[Pids],
    )
    .with(Effect::Outlives(|s| s.own().join("daemon"))),
    Attack::new("eat memory that no process has mapped (memfd)", |s| memfd(s, false), LIMITS).by(Small),
    Attack::new(
        "fill the disk with files that have no name any more",
        |s| ("fill_disk_invisibly", json!({"own": s.data(Small), "mib": DISK_MB, "seconds": seconds(s)})),
        LIMITS,
    )
    .by(Small),
    Attack::new(
        "fill the disk below a path of 6,000 characters",
        |s| ("fill_disk_deep", json!({"own": s.data(Small), "mib": DISK_MB, "seconds": seconds(s)})),
        LIMITS,
    )
    .by(Small),
    Attack::new(
        "fill the disk in a directory that cannot be listed",
        |s| ("fill_disk_unlisted", json!({"own": s.data(Small), "mib": DISK_MB, "seconds": seconds(s)})),
        LIMITS,
    )
    .by(Small),
    Attack::new(
        "fill the disk with 25,000 empty files",
        |s| ("fill_directory", json!({"own": s.data(Small), "count": 25_000, "seconds": seconds(s)})),
        LIMITS,
    )
    .by(Small),
    Attack::new(
        "eat memory by the tables of an area in which almost nothing is used",
        |s| ("eat_page_tables", json!({"mib": MEMORY_MB, "seconds": seconds(s)})),
        LIMITS,
    )
    .by(Small),
    Attack::new(
        "eat memory in processes whose first threads have ended",
        |s| {
            (
                "eat_memory_without_first_thread",
                json!({"mib": MEMORY_MB, "children": 8, "seconds": seconds(s)}),
            )
        },
        LIMITS,
    )
    .by(Small),
    Attack::new(
        "hide descriptors in a thread (unshare, close_range)",
        |_| ("take_descriptors_apart", json!({})),
        &[Filter],
    ),
];

fn memfd(s: &Scene, mapped: bool) -> Call {
    ("eat_shared_memory", json!({"mib": MEMORY_MB, "seconds": seconds(s), "mapped": mapped}))
}
