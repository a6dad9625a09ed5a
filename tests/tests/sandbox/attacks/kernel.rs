//! System calls that no MCP server needs, and that others have broken out with.

use serde_json::json;

use super::{Attack, plain};
use crate::rows::Guard::{self, Filter, OnlyRoot, Rights};

const CALLS: &[Guard] = &[Filter];

/// Those that the kernel keeps for root by itself.
const CALLS_OF_ROOT: &[Guard] = &[Filter, Rights, OnlyRoot];

pub const ATTACKS: &[Attack] = &[
    Attack::new("load a kernel module", |_| plain("load_module"), CALLS_OF_ROOT),
    Attack::new("load another kernel (kexec)", |_| plain("load_kernel"), CALLS_OF_ROOT),
    Attack::new("become root in a user namespace, by unshare", |_| plain("new_users_by_unshare"), CALLS),
    Attack::new("become root in a user namespace, by clone", |_| plain("new_users_by_clone"), CALLS),
    Attack::new("become root in a user namespace, by clone3", |_| plain("new_users_by_clone3"), CALLS),
    Attack::new("have mounts of its own (unshare)", |_| plain("new_mounts_by_unshare"), CALLS_OF_ROOT),
    Attack::new("mount in mounts of its own", |s| ("mount", json!({"own": s.own()})), CALLS_OF_ROOT),
    Attack::new("mount over its own directory", |s| ("mount_over", json!({"own": s.own()})), CALLS_OF_ROOT),
    Attack::new("make a file system (fsopen)", |_| plain("open_file_system"), CALLS_OF_ROOT),
    Attack::new(
        "unmount what hides the home",
        |s| ("unmount", json!({"path": s.person_home("")})),
        CALLS_OF_ROOT,
    ),
    Attack::new(
        "mount the home for writing",
        |s| ("remount", json!({"path": s.person_home("")})),
        CALLS_OF_ROOT,
    ),
    Attack::new(
        "have another root directory (chroot)",
        |s| ("change_root", json!({"own": s.own()})),
        CALLS_OF_ROOT,
    ),
    Attack::new("make a device (mknod)", |s| ("make_device", json!({"own": s.own()})), CALLS_OF_ROOT),
    Attack::new("make rules of its own (Landlock)", |_| plain("make_rules"), CALLS),
    Attack::new("make memory that no process has (memfd)", |_| plain("make_memory"), CALLS),
    Attack::new("use io_uring", |_| plain("ring"), CALLS),
    Attack::new("leave a key in the keyring (add_key)", |_| plain("keep_key"), CALLS),
    Attack::new("look into the keyring (keyctl)", |_| plain("list_keys"), CALLS),
    Attack::new("load a BPF program", |_| plain("load_program"), CALLS_OF_ROOT),
    Attack::new("count events of the processor (perf)", |_| plain("count_events"), CALLS),
    Attack::new("catch page faults (userfaultfd)", |_| plain("catch_faults"), CALLS),
    Attack::new("name the machine (sethostname)", |_| plain("name_machine"), CALLS_OF_ROOT),
    Attack::new("read the kernel's log (syslog)", |_| plain("read_kernel_log"), CALLS_OF_ROOT),
    Attack::new("call as a 32-bit program (int 0x80)", |_| plain("call_as_32_bit"), CALLS),
];
