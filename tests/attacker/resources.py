"""Attacks on what the machine has: processes, memory, disk, open files, time after the end.

An attack of these holds what it got for some seconds, since some of it is only watched.
"""

import ctypes
import errno
import mmap
import os
import resource
import select
import shutil
import struct
import threading
import time

from evidence import LIBC, NoEvidence, attack, child_that, ends_of_children

MIB = 1 << 20


def held(what, count, enough):
    if count < enough:
        raise NoEvidence(f"{count} {what}, not {enough}")
    return f"{count} {what}"


@attack
def work(own, seconds):
    """No attack: what a server does that is busy, with children, small files and what it keeps open."""
    end = time.monotonic() + seconds
    done = 0
    while time.monotonic() < end:
        child = os.fork()
        if child == 0:
            sum(range(100_000))
            os._exit(0)
        with open(os.path.join(own, f"work-{done % 100}"), "w", encoding="utf-8") as file:
            file.write("x" * 1000)
        os.waitpid(child, 0)
        done += 1
    return held("turns", done, 10)


@attack
def fork_bomb(count, seconds):
    """That many children at once, which wait."""
    reader, writer = os.pipe()
    children = []
    refused = None
    for _ in range(count):
        try:
            child = os.fork()
        except OSError as error:
            refused = error
            break
        if child == 0:
            os.close(writer)
            os.read(reader, 1)
            os._exit(0)
        children.append(child)
    if refused is None:
        time.sleep(seconds)
    os.close(writer)
    for child in children:
        os.waitpid(child, 0)
    os.close(reader)
    if refused is not None:
        raise OSError(refused.errno, f"after {len(children)} processes: {refused}")
    return held("processes", len(children), count)


@attack
def eat_memory(mib, seconds):
    kept = []
    for _ in range(mib // 16):
        kept.append(bytearray(os.urandom(16)) * MIB)
    time.sleep(seconds)
    return held("MiB", len(kept) * 16, mib // 16 * 16)


@attack
def eat_memory_in_children(mib, children, seconds):
    """Each has little, all have much."""

    def eat():
        kept = bytearray(os.urandom(16)) * (mib // children * MIB // 16)
        time.sleep(seconds)
        return 0 if kept else 1

    return held("children with memory", ends_of_children(eat, children).count(0), children)


@attack
def eat_memory_in_orphans(mib, count, seconds):
    """In processes whose parents have ended, so that they descend from the server no more. Where not all can be had, none is
    left: the next attack would be held for them."""
    reader, writer = os.pipe()
    end, not_yet = os.pipe()

    def live():
        os.close(not_yet)
        kept = bytearray(os.urandom(16)) * (mib // count * MIB // 16)
        select.select([end], [], [], seconds)
        os.write(writer, b"." if kept else b"")

    def leave():
        os.setsid()
        child_that(live)

    try:
        for _ in range(count):
            if os.waitpid(child_that(leave), 0)[1] != 0:
                raise OSError(errno.EAGAIN, "no process for an orphan")
    except OSError:
        os.close(not_yet)
        not_yet = None
        raise
    finally:
        os.close(writer)
        with open(reader, "rb") as pipe:
            said = pipe.read()
        for file in (end, not_yet):
            if file is not None:
                os.close(file)
    return held("orphans with memory", said.count(b"."), count)


@attack
def fork_orphans(count, seconds):
    """A fork bomb of them."""
    return eat_memory_in_orphans(count, count, seconds)


@attack
def eat_shared_memory(mib, seconds, mapped):
    """Which belongs to no process's data: anonymous files, each small enough."""
    kept = []
    for _ in range(mib // 8):
        file = os.memfd_create("eaten")
        kept.append(file)
        if mapped:
            os.ftruncate(file, 8 * MIB)
            pages = mmap.mmap(file, 8 * MIB)
            pages.write(bytes(8 * MIB))
            kept.append(pages)
        else:
            os.write(file, bytes(8 * MIB))
    time.sleep(seconds)
    for one in kept:
        os.close(one) if isinstance(one, int) else one.close()
    return held("MiB", mib, mib)


@attack
def eat_page_tables(mib, seconds):
    """The zero page for each 2 MiB, which is no memory of the process, and a table of 4 KiB to find it by."""
    size = mib * 256 * 2 * MIB
    no_reserve = 0x4000
    flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | no_reserve
    area = mmap.mmap(-1, size, flags=flags, prot=mmap.PROT_READ)
    for at in range(0, size, 2 * MIB):
        area[at]
    time.sleep(seconds)
    area.close()
    return held("MiB", mib, mib)


@attack
def eat_memory_without_first_thread(mib, children, seconds):
    """A process whose first thread has ended shows no memory there."""

    def live_in_another_thread():
        threading.Thread(target=live_as_thread, args=(mib // children, seconds)).start()
        # Only this thread, which is the first one.
        LIBC.syscall(60, 0)

    ends = ends_of_children(live_in_another_thread, children)
    return held("children with memory", ends.count(0), children)


def live_as_thread(mib, seconds):
    try:
        kept = bytearray(os.urandom(16)) * (mib * MIB // 16)
        time.sleep(seconds)
        os._exit(0 if kept else 1)
    except MemoryError:
        os._exit(1)


@attack
def take_descriptors_apart():
    """Those of a thread that has its own are not among those of its process."""
    outcome = []

    def apart():
        outcome.append(LIBC.unshare(0x400))

    thread = threading.Thread(target=apart)
    thread.start()
    thread.join()
    if outcome[0] < 0 or LIBC.syscall(436, 1 << 20, 1 << 21, 2) < 0:
        raise OSError(errno.EPERM, "unshare")
    return "a thread has descriptors that its process has not"


@attack
def fill_disk(own, mib, seconds):
    """In files that are each small enough."""
    directory = os.path.join(own, "filled")
    os.makedirs(directory, exist_ok=True)
    try:
        for number in range(mib // 8):
            with open(os.path.join(directory, str(number)), "wb") as file:
                file.write(bytes(8 * MIB))
        time.sleep(seconds)
        return held("MiB", mib // 8 * 8, mib)
    finally:
        shutil.rmtree(directory)


@attack
def allocate_disk(own, mib):
    """Without writing anything, by each of its names; the holes that give room back are another matter."""
    path = os.path.join(own, "allocated")
    length = ctypes.c_long(mib * MIB)
    try:
        with open(path, "wb") as file:
            # Within the file, and past its end (FALLOC_FL_KEEP_SIZE).
            for mode in (0, 1):
                LIBC.fallocate(file.fileno(), mode, ctypes.c_long(0), length)
            # FS_IOC_RESVSP64, whose structure says: from the begin, so many bytes.
            reserved = struct.pack("=hh4xqqiI16x", 0, 0, 0, mib * MIB, 0, 0)
            LIBC.ioctl(file.fileno(), ctypes.c_ulong(0x4030582A), reserved)
            return held("MiB", os.fstat(file.fileno()).st_blocks * 512 // MIB, mib)
    finally:
        os.unlink(path)


@attack
def fill_disk_invisibly(own, mib, seconds):
    """In files that have no name any more, and live as long as they are open."""
    opened = []
    try:
        for number in range(mib // 8):
            path = os.path.join(own, f"nameless-{number}")
            file = open(path, "wb")
            opened.append(file)
            os.unlink(path)
            file.write(bytes(8 * MIB))
            file.flush()
        time.sleep(seconds)
        return held("MiB", mib // 8 * 8, mib)
    finally:
        for file in opened:
            file.close()


@attack
def fill_disk_deep(own, mib, seconds):
    """Below a path that is longer than any that can be told to the system at once."""
    steps = [os.open(own, os.O_RDONLY | os.O_DIRECTORY)]
    name = "d" * 200
    try:
        for _ in range(30):
            os.mkdir(name, dir_fd=steps[-1])
            steps.append(os.open(name, os.O_RDONLY | os.O_DIRECTORY, dir_fd=steps[-1]))
        return filled(steps[-1], mib, seconds)
    finally:
        while len(steps) > 1:
            os.close(steps.pop())
            os.rmdir(name, dir_fd=steps[-1])
        os.close(steps.pop())


@attack
def leave_deep_tree(own, parts, seconds):
    """Parts of 100 directories in each other, which are put into each other at the end: before, none is too deep to be
    seen. For whoever removes it by going one step into itself for each."""
    top = os.open(own, os.O_RDONLY | os.O_DIRECTORY)
    deepest = []
    for part in range(parts):
        here, name = top, str(part)
        for _ in range(100):
            os.mkdir(name, dir_fd=here)
            below = os.open(name, os.O_RDONLY | os.O_DIRECTORY, dir_fd=here)
            if here != top:
                os.close(here)
            here, name = below, "d"
        deepest.append(here)
    # Whoever does nothing for a while is not looked at.
    time.sleep(seconds)
    # From the last on, so that each step is a short way below the top.
    for part in reversed(range(1, parts)):
        os.rename(str(part), "d", src_dir_fd=top, dst_dir_fd=deepest[part - 1])
    return f"{parts * 100} directories in each other"


@attack
def fill_disk_unlisted(own, mib, seconds):
    """In a directory that nobody may list, and only its owner could change that."""
    path = os.path.join(own, "unlisted")
    os.mkdir(path)
    directory = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        # To be entered, but not to be read.
        os.fchmod(directory, 0o300)
        return filled(directory, mib, seconds)
    finally:
        os.fchmod(directory, 0o700)
        os.close(directory)
        os.rmdir(path)


def filled(directory, mib, seconds):
    names = [str(number) for number in range(mib // 8)]
    try:
        for name in names:
            with open(os.open(name, os.O_CREAT | os.O_WRONLY, dir_fd=directory), "wb") as file:
                file.write(bytes(8 * MIB))
        time.sleep(seconds)
        return held("MiB", mib // 8 * 8, mib)
    finally:
        for name in names:
            try:
                os.unlink(name, dir_fd=directory)
            except FileNotFoundError:
                pass


@attack
def fill_directory(own, count, seconds):
    """With empty files: a file system has only so many."""
    directory = os.path.join(own, "many")
    os.makedirs(directory, exist_ok=True)
    try:
        for number in range(count):
            os.close(os.open(os.path.join(directory, str(number)), os.O_CREAT | os.O_WRONLY))
        time.sleep(seconds)
        return held("files", count, count)
    finally:
        shutil.rmtree(directory)


@attack
def write_large_file(own, mib):
    path = os.path.join(own, "large")
    try:
        with open(path, "wb") as file:
            file.truncate(mib * MIB)
            return held("MiB", os.fstat(file.fileno()).st_size // MIB, mib)
    finally:
        os.unlink(path)


@attack
def open_many_files(enough):
    """Up to 100,000, after taking all that the limits can be raised to."""
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    for wanted in [(100_000, 100_000), (hard, hard)]:
        try:
            resource.setrlimit(resource.RLIMIT_NOFILE, wanted)
            break
        except (OSError, ValueError):
            pass
    opened = []
    try:
        while len(opened) < 99_990:
            opened.append(os.open("/dev/null", os.O_RDONLY))
    except OSError as refused:
        if len(opened) < enough:
            raise OSError(refused.errno, f"after {len(opened)} files") from None
    finally:
        for file in opened:
            os.close(file)
    return held("files", len(opened), enough)


@attack
def leave_daemon(own):
    """In a session of its own, without an environment to be found by. The evidence is that it outlives the server."""
    path = os.path.join(own, "daemon")

    def live():
        with open(path + ".new", "w", encoding="ascii") as file:
            file.write(str(os.getpid()))
        os.rename(path + ".new", path)
        for stream in range(3):
            os.close(stream)
        os.execve("/bin/sleep", ["sleep", "3417"], {})

    def leave():
        os.setsid()
        child_that(live)

    if os.waitpid(child_that(leave), 0)[1] != 0:
        raise OSError(errno.EAGAIN, "no process for a daemon")
    return path
