"""Attacks on the kernel itself: calls that no MCP server needs, and that others have broken out with.

Most of them are shown to reach the kernel's own checks, which answer with another error than a filter does.
"""

import ctypes
import errno
import mmap
import os
import struct

from evidence import NoEvidence, attack, call, in_child

NEW_MOUNTS, NEW_USERS = 0x20000, 0x10000000

# Capabilities.
LOAD_MODULES, BOOT = 16, 22


def reaches(name, *arguments, right=None):
    """The call comes to the kernel's own look at its arguments, and these are none that it can follow.

    A kernel without such a thing does not ask for the right to do it, so that is asked here.
    """
    try:
        return f"{name} gave {call(name, *arguments)}"
    except OSError as error:
        lacking = error.errno == errno.ENOSYS and not (right and has_right(right))
        if lacking or error.errno in (errno.EPERM, errno.EACCES):
            raise
        return f"the kernel said {errno.errorcode[error.errno]}"


def has_right(number):
    with open("/proc/self/status", encoding="ascii", errors="replace") as status:
        rights = next(line for line in status if line.startswith("CapEff:"))
    return int(rights.split()[1], 16) >> number & 1 == 1


@attack
def load_module():
    image = os.open("/dev/null", os.O_RDONLY)
    try:
        return reaches("finit_module", image, b"", 0, right=LOAD_MODULES)
    finally:
        os.close(image)


@attack
def load_kernel():
    """No segments: the kernel forgets the one that it has."""
    return reaches("kexec_load", 0, 0, None, 0, right=BOOT)


@attack
def new_users_by_unshare():
    return in_child(lambda: call("unshare", NEW_USERS))


@attack
def new_mounts_by_unshare():
    return in_child(lambda: call("unshare", NEW_MOUNTS))


@attack
def new_users_by_clone():
    return cloned("clone", NEW_USERS | 17, None, None, None, 0)


@attack
def new_users_by_clone3():
    wanted = struct.pack("11Q", NEW_USERS, 0, 0, 0, 17, 0, 0, 0, 0, 0, 0)
    return cloned("clone3", wanted, len(wanted))


def cloned(name, *arguments):
    child = call(name, *arguments)
    if child == 0:
        os._exit(0)
    os.waitpid(child, 0)
    return "a child in a user namespace of its own"


@attack
def make_rules():
    """A set of Landlock's: the kernel's memory, of which it takes any amount."""
    return f"descriptor {call('landlock_create_ruleset', (ctypes.c_uint64 * 1)(1), 8, 0)}"


@attack
def make_memory():
    """A file without a name, which is no process's once it is mapped and closed."""
    os.close(os.memfd_create("nobody's"))
    return "memory that nobody counts"


@attack
def ring():
    parameters = ctypes.create_string_buffer(120)
    opened = call("io_uring_setup", 4, parameters)
    os.close(opened)
    return "io_uring"


@attack
def mount(own):
    def mounted():
        call("unshare", NEW_MOUNTS)
        call("mount", "none", own, "tmpfs", 0, None)
        return "mounted"

    return in_child(mounted)


@attack
def mount_over(own):
    """In the mounts that it has, without new ones."""
    call("mount", "none", own, "tmpfs", 0, None)
    call("umount2", own, 2)
    return "mounted"


@attack
def open_file_system():
    opened = call("fsopen", "tmpfs", 0)
    os.close(opened)
    return "a file system"


@attack
def unmount(path):
    """What covers something: only where it is a mount of its own can there be something to find."""
    return reaches("umount2", path, 2)


@attack
def remount(path):
    """Writable again."""
    return reaches("mount", None, path, None, 32 | 4096, None)


@attack
def change_root(own):
    return in_child(lambda: call("chroot", own))


@attack
def make_device(own):
    path = os.path.join(own, "device")
    if os.path.lexists(path):
        os.unlink(path)
    os.mknod(path, 0o600 | 0o020000, os.makedev(1, 3))
    os.unlink(path)
    return "a device of its own"


@attack
def keep_key():
    call("add_key", "user", "attacked", b"1", 1, -4)
    return "a key in the user's keyring"


@attack
def list_keys():
    return f"keyring {call('keyctl', 0, -4, 0)}"


@attack
def load_program():
    """A BPF program of two instructions: return 0."""
    code = ctypes.create_string_buffer(struct.pack("BBhiBBhi", 0xB7, 0, 0, 0, 0x95, 0, 0, 0))
    licence = ctypes.create_string_buffer(b"GPL")
    wanted = struct.pack("IIQQIIQ", 1, 2, ctypes.addressof(code), ctypes.addressof(licence), 0, 0, 0)
    loaded = call("bpf", 5, wanted + bytes(88), len(wanted) + 88)
    os.close(loaded)
    return "a program in the kernel"


@attack
def count_events():
    """The clock of its own process, without the kernel's part."""
    wanted = struct.pack("IIQQQQQ", 1, 112, 1, 0, 0, 0, 0b11100000) + bytes(64)
    opened = call("perf_event_open", wanted, 0, -1, -1, 0)
    os.close(opened)
    return "a counter"


@attack
def catch_faults():
    opened = call("userfaultfd", 1)
    os.close(opened)
    return "page faults"


@attack
def name_machine():
    """As it is named already."""
    name = os.uname().nodename
    call("sethostname", name, len(name))
    return "named the machine"


@attack
def read_kernel_log():
    text = ctypes.create_string_buffer(4096)
    return f"{call('syslog', 3, text, 4096)} bytes"


@attack
def call_as_32_bit():
    """getpid by `int 0x80`: other numbers for the same calls, past a filter that knows one kind only."""

    def called():
        page = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
        page.write(b"\xb8\x14\x00\x00\x00\xcd\x80\xc3")
        function = ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(page)))
        result = function()
        if result < 0:
            raise OSError(-result, "getpid of i386")
        if result != os.getpid():
            raise NoEvidence(f"it gave {result}")
        return "getpid of i386"

    return in_child(called)
