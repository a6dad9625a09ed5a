//! Looking into other processes, and changing them: another server, the runner, the bridge, a program of the person.

use nix::libc;
use serde_json::{Value, json};

use super::{Attack, Call, Effect, plain};
use crate::rows::Guard::{self, Filter, Landlock, OnlyRoot, Pids, Rights, Undumpable};
use crate::scene::Scene;

/// Landlock's domains keep from looking into what is outside of them.
const LOOKING: &[Guard] = &[Landlock(1), Pids];

/// So does having fewer rights than the other one: another server has no more.
const LOOKING_UP: &[Guard] = &[Landlock(1), Pids, Rights];

/// The calls that only debuggers need.
const DEBUGGING: &[Guard] = &[Filter, Landlock(1), Pids];

const SIGNALS: &[Guard] = &[Landlock(6), Pids];

const RUNNER: &[Guard] = &[Landlock(1), Pids, Rights, Undumpable];

/// Its parent, which is 0 in a PID namespace.
const PARENT: u32 = 0;

pub const ATTACKS: &[Attack] = &[
    Attack::new("see which programs run", |s| ("list_processes", json!({"pid": s.person("pid")})), &[Pids]),
    Attack::new(
        "read the command line of another server",
        |s| proc(&s.other("pid"), "cmdline", "python3"),
        &[Pids],
    ),
    Attack::new(
        "read the environment of another server",
        |s| proc(&s.other("pid"), "environ", &s.secret),
        LOOKING,
    ),
    Attack::new(
        "read the environment of a program of the person",
        |s| proc(&s.person("pid"), "environ", &s.secret),
        LOOKING_UP,
    ),
    Attack::new(
        "read the environment of the bridge",
        |s| proc(&json!(s.bridge_pid()), "environ", &s.secret),
        LOOKING_UP,
    ),
    Attack::new(
        "read the memory of another server",
        |s| at(s, "read_memory_at", s.other("pid"), s.other("address")),
        LOOKING,
    ),
    Attack::new(
        "read the memory of another server by process_vm_readv",
        |s| at(s, "read_memory_by_call", s.other("pid"), s.other("address")),
        DEBUGGING,
    ),
    Attack::new(
        "write to it by process_vm_writev",
        |s| at(s, "write_memory_by_call", s.other("pid"), s.other("address")),
        DEBUGGING,
    ),
    Attack::new(
        "read the memory of the bridge",
        |s| to("read_program_in_memory", json!(s.bridge_pid())),
        LOOKING_UP,
    ),
    Attack::new("read the memory of its runner", |_| to("read_program_in_memory", json!(PARENT)), RUNNER),
    Attack::new(
        "see what its runner has open, the link among it",
        |_| to("read_files_of", json!(PARENT)),
        RUNNER,
    ),
    Attack::new(
        "take a descriptor of the bridge (pidfd_getfd)",
        |s| to("take_descriptor", json!(s.bridge_pid())),
        DEBUGGING,
    ),
    Attack::new(
        "take a descriptor of its runner",
        |_| to("take_descriptor", json!(PARENT)),
        &[Filter, Landlock(1), Pids, Undumpable],
    ),
    Attack::new("trace another server (ptrace)", |s| to("trace", s.other("pid")), DEBUGGING),
    Attack::new("trace the bridge", |s| to("trace", json!(s.bridge_pid())), DEBUGGING),
    Attack::new("trace its runner", |_| to("trace", json!(PARENT)), &[Filter, Landlock(1), Pids, Undumpable]),
    Attack::new("trace a program of the person", |s| to("trace", s.person("pid")), DEBUGGING),
    Attack::new("end another server", |s| signal(s.other("pid"), libc::SIGTERM), SIGNALS)
        .with(Effect::Ends(Scene::other_process)),
    Attack::new("end a program of the person", |s| signal(s.person("pid"), libc::SIGTERM), SIGNALS)
        .with(Effect::Ends(Scene::person_process)),
    Attack::new(
        "end a program of the person by a handle (pidfd_send_signal)",
        |s| ("send_signal_by_handle", json!({"pid": s.person("pid"), "number": libc::SIGTERM})),
        SIGNALS,
    )
    .with(Effect::Ends(Scene::person_process)),
    Attack::new("send the bridge a signal", |s| signal(json!(s.bridge_pid()), libc::SIGCONT), SIGNALS),
    Attack::new("send its runner a signal", |_| signal(json!(PARENT), libc::SIGCONT), SIGNALS),
    Attack::new(
        "change the limits of a program of the person (prlimit)",
        |s| to("change_limits", s.person("pid")),
        &[Filter, Pids],
    ),
    Attack::new(
        "change the priority of a program of the person",
        |s| to("change_niceness", s.person("pid")),
        &[Filter, Pids, Rights],
    ),
    Attack::new(
        "change on which processors a program of the person runs",
        |s| to("change_processors", s.person("pid")),
        &[Filter, Pids, Rights],
    ),
    Attack::new(
        "enter the mounts of the bridge (setns)",
        |s| ("enter_namespace", json!({"pid": s.bridge_pid(), "kind": "mnt"})),
        &[Filter, Landlock(1), Pids, Rights, OnlyRoot],
    ),
    Attack::new("gain rights by a setuid program", |_| plain("gain_rights_by_exec"), &[Filter]),
    Attack::new(
        "read the System V shared memory of a program of the person",
        |s| ("read_shared_memory", json!({"key": s.person("shared_memory"), "secret": s.secret})),
        &[Filter],
    ),
    Attack::new(
        "read a message queue of a program of the person",
        |s| ("read_message_queue", json!({"name": s.person("message_queue"), "secret": s.secret})),
        &[Filter],
    ),
    Attack::new(
        "write to a terminal of the person",
        |s| ("write_terminal", json!({"path": s.person("terminal")})),
        &[Landlock(1)],
    ),
];

fn proc(pid: &Value, file: &str, secret: &str) -> Call {
    ("read_proc", json!({"pid": pid, "file": file, "secret": secret}))
}

fn at(s: &Scene, way: &'static str, pid: Value, address: Value) -> Call {
    (way, json!({"pid": pid, "address": address, "secret": s.secret}))
}

fn to(way: &'static str, pid: Value) -> Call {
    (way, json!({"pid": pid}))
}

fn signal(pid: Value, number: i32) -> Call {
    ("send_signal", json!({"pid": pid, "number": number}))
}
