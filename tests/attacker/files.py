"""Attacks on files: reading what is not the server's, by all kinds of names, and changing it."""

import ctypes
import fcntl
import os
import struct
import subprocess

from evidence import LIBC, NoEvidence, attack, call, found


def fresh(directory, name):
    """A name in a directory of the server's own that nothing has."""
    path = os.path.join(directory, name)
    if os.path.lexists(path):
        os.unlink(path)
    return path


@attack
def read(path, secret):
    with open(path, "rb") as file:
        return found(file.read(1 << 20), secret)


@attack
def list_directory(path, secret):
    return found("\n".join(os.listdir(path)).encode(), secret)


@attack
def learn_of(path):
    return f"{os.stat(path).st_size} bytes"


@attack
def watch(path):
    """inotify tells the names of files as they are used."""
    notifier = LIBC.inotify_init1(os.O_CLOEXEC)
    try:
        if LIBC.inotify_add_watch(notifier, path.encode(), 0xFFF) < 0:
            raise OSError(ctypes.get_errno(), "inotify_add_watch")
        return "it is told of all that happens there"
    finally:
        os.close(notifier)


@attack
def hold_up(own):
    """A lease has whoever opens the file wait, for 45 seconds; any file that can be read can have one."""
    path = fresh(own, "leased")
    file = os.open(path, os.O_RDONLY | os.O_CREAT, 0o600)
    try:
        fcntl.fcntl(file, fcntl.F_SETLEASE, fcntl.F_WRLCK)
        fcntl.fcntl(file, fcntl.F_SETLEASE, fcntl.F_UNLCK)
        return "whoever opens it has to wait"
    finally:
        os.close(file)
        os.remove(path)


@attack
def read_by_symlink(own, path, secret):
    link = fresh(own, "symlink")
    os.symlink(path, link)
    return read(link, secret)


@attack
def read_by_hard_link(own, path, secret):
    link = fresh(own, "hard-link")
    os.link(path, link)
    return read(link, secret)


@attack
def read_by_rename(own, path, secret):
    """Moves it into its own directory, reads it there, and moves it back."""
    moved = fresh(own, "moved")
    os.rename(path, moved)
    try:
        return read(moved, secret)
    finally:
        os.rename(moved, path)


@attack
def read_from_directory(own, path, secret):
    """Upwards from a directory that it may open."""
    directory = os.open(own, os.O_RDONLY | os.O_DIRECTORY)
    try:
        file = os.open(os.path.relpath(path, own), os.O_RDONLY, dir_fd=directory)
        with open(file, "rb") as file:
            return found(file.read(), secret)
    finally:
        os.close(directory)


@attack
def read_by_handle(path, secret):
    """By a file handle, which needs no way to the file: only the name of something in the same file system."""
    handle = ctypes.create_string_buffer(struct.pack("Ii", 128, 0) + bytes(128), 136)
    mount = ctypes.c_int()
    here = ctypes.c_int(-100)
    call("name_to_handle_at", here, path, handle, ctypes.byref(mount), 0)
    root = os.open("/", os.O_RDONLY)
    try:
        file = call("open_by_handle_at", root, handle, os.O_RDONLY)
    finally:
        os.close(root)
    with open(file, "rb") as file:
        return found(file.read(), secret)


@attack
def read_clone_of_mounts(path, secret):
    """Through a detached copy of the mounts."""
    tree = call("open_tree", -100, "/", 1)
    try:
        file = os.open(path.lstrip("/"), os.O_RDONLY, dir_fd=tree)
        with open(file, "rb") as file:
            return found(file.read(), secret)
    finally:
        os.close(tree)


@attack
def read_left_open():
    """Descriptors besides the standard streams that the server was started with."""
    left = {}
    for name in os.listdir("/proc/self/fd"):
        try:
            left[name] = os.readlink(f"/proc/self/fd/{name}")
        except FileNotFoundError:
            pass
    left = {name: to for name, to in left.items() if int(name) > 2 and not to.endswith(".pyz")}
    if not left:
        raise NoEvidence("nothing was left open")
    return left


@attack
def run_program(path, secret):
    return found(subprocess.run([path], capture_output=True, check=False).stdout, secret)


@attack
def write(path, text="attacked\n", append=False):
    with open(path, "a" if append else "w") as file:
        file.write(text)
    return f"wrote {path}"


@attack
def write_in_place(path):
    """The very content that is there: for files that everybody needs as they are."""
    with open(path, "rb") as file:
        content = file.read()
    with open(path, "r+b") as file:
        file.write(content)
        file.flush()
    return f"wrote {path}"


@attack
def create_and_remove(path):
    """For directories that have to stay as they are."""
    os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    os.unlink(path)
    return f"made {path}"


@attack
def truncate(path):
    os.truncate(path, 0)
    return f"emptied {path}"


@attack
def remove(path):
    os.unlink(path)
    return f"removed {path}"


@attack
def make_directory(path):
    os.mkdir(path)
    return f"made {path}"


@attack
def make_symlink(path):
    os.symlink("/etc/passwd", path)
    return f"made {path}"


@attack
def link_to(path, target):
    """In place of what is there."""
    os.symlink(target, path + ".new")
    os.rename(path + ".new", path)
    return f"{path} leads to {target}"


@attack
def make_hard_link(own, path):
    file = fresh(own, "outgoing")
    write(file)
    os.link(file, path)
    return f"made {path}"


@attack
def move_out(own, path):
    file = fresh(own, "outgoing")
    write(file)
    os.rename(file, path)
    return f"made {path}"


@attack
def change_mode(path):
    os.chmod(path, 0o640)
    return "changed its mode"


@attack
def change_mode_by_newer_call(path):
    call("fchmodat2", -100, path, 0o640, 0)
    return "changed its mode"


@attack
def change_mode_by_descriptor(path):
    """Of a file that it may read."""
    file = os.open(path, os.O_RDONLY)
    try:
        os.fchmod(file, 0o640)
    finally:
        os.close(file)
    return "changed its mode"


@attack
def change_all_by_descriptor(path):
    """Owner, times and attributes of a file that it may read."""
    file = os.open(path, os.O_RDONLY)
    try:
        state = os.fstat(file)
        os.fchown(file, state.st_uid, state.st_gid)
        os.utime(file, (1, 1))
        os.setxattr(file, "user.attacked", b"1")
    finally:
        os.close(file)
    return "changed its owner, times and attributes"


@attack
def change_mode_through_proc(path):
    """By the link in /proc of a descriptor that stands for a path only."""
    file = os.open(path, os.O_PATH)
    try:
        os.chmod(f"/proc/self/fd/{file}", 0o640)
    finally:
        os.close(file)
    return "changed its mode"


@attack
def change_owner(path):
    """To the group that it has, which its owner may do and which the change time shows."""
    state = os.stat(path)
    os.chown(path, state.st_uid, state.st_gid)
    return "changed its owner"


@attack
def change_times(path):
    os.utime(path, (1, 1))
    return "changed its times"


@attack
def change_attribute(path):
    os.setxattr(path, "user.attacked", b"1")
    return "changed its attributes"
