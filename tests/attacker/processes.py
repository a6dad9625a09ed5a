"""Attacks on other processes: reading them, signalling them, tracing them, changing what they may use."""

import ctypes
import errno
import os
import resource
import signal

from evidence import LIBC, NoEvidence, attack, call, found, in_child

# In words of `ptrace`.
PEEK, ATTACH, DETACH = 2, 16, 17


class Piece(ctypes.Structure):
    """A piece of memory: struct iovec."""

    _fields_ = [("base", ctypes.c_void_p), ("length", ctypes.c_size_t)]


def target(pid):
    """The process with this number; 0 stands for the parent, which has that number where it cannot be seen."""
    found = pid or os.getppid()
    if found == 0:
        raise ProcessLookupError(errno.ESRCH, "the parent is in another PID namespace")
    return found


@attack
def read_proc(pid, file, secret):
    with open(f"/proc/{target(pid)}/{file}", "rb") as opened:
        return found(opened.read(), secret)


@attack
def read_through_root(pid, path, secret):
    with open(f"/proc/{target(pid)}/root{path}", "rb") as opened:
        return found(opened.read(), secret)


@attack
def read_files_of(pid):
    """What it has open."""
    at = f"/proc/{target(pid)}/fd"
    names = os.listdir(at)
    links = [os.readlink(f"{at}/{name}") for name in names]
    if not links:
        raise NoEvidence("nothing to be seen")
    return links


@attack
def read_memory_at(pid, address, secret):
    with open(f"/proc/{target(pid)}/mem", "rb", buffering=0) as memory:
        memory.seek(address)
        return found(memory.read(len(secret)), secret)


@attack
def read_program_in_memory(pid):
    """The first bytes of the program as they are in its memory."""
    with open(f"/proc/{target(pid)}/maps", encoding="ascii", errors="replace") as maps:
        first = maps.readline()
    with open(f"/proc/{target(pid)}/mem", "rb", buffering=0) as memory:
        memory.seek(int(first.split("-")[0], 16))
        return found(memory.read(4), "\x7fELF")


@attack
def list_processes(pid):
    if str(pid) not in os.listdir("/proc"):
        raise NoEvidence("it is not among them")
    return f"process {pid} is there"


@attack
def send_signal(pid, number):
    os.kill(target(pid), number)
    return f"sent {signal.Signals(number).name}"


@attack
def send_signal_by_handle(pid, number):
    handle = call("pidfd_open", target(pid), 0)
    try:
        signal.pidfd_send_signal(handle, number)
    finally:
        os.close(handle)
    return f"sent {signal.Signals(number).name}"


@attack
def trace(pid):
    def traced():
        process = target(pid)
        call("ptrace", ATTACH, process, 0, 0)
        os.waitpid(process, 0)
        call("ptrace", DETACH, process, 0, 0)
        return "it stopped and went on"

    # The parent of the child is this process, so the number is found before.
    pid = target(pid)
    return in_child(traced)


@attack
def read_memory_by_call(pid, address, secret):
    mine = ctypes.create_string_buffer(len(secret))
    local = Piece(ctypes.addressof(mine), len(secret))
    remote = Piece(address, len(secret))
    call("process_vm_readv", target(pid), ctypes.byref(local), 1, ctypes.byref(remote), 1, 0)
    return found(mine.raw, secret)


@attack
def write_memory_by_call(pid, address, secret):
    """What is there already."""
    mine = ctypes.create_string_buffer(secret.encode())
    local = Piece(ctypes.addressof(mine), len(secret))
    remote = Piece(address, len(secret))
    written = call("process_vm_writev", target(pid), ctypes.byref(local), 1, ctypes.byref(remote), 1, 0)
    return f"{written} bytes written"


@attack
def take_descriptor(pid):
    handle = call("pidfd_open", target(pid), 0)
    try:
        taken = call("pidfd_getfd", handle, 0, 0)
    finally:
        os.close(handle)
    link = os.readlink(f"/proc/self/fd/{taken}")
    os.close(taken)
    return link


@attack
def change_limits(pid):
    """Lowers what it may open, and raises it again."""
    before = resource.prlimit(pid, resource.RLIMIT_NOFILE)
    resource.prlimit(pid, resource.RLIMIT_NOFILE, (before[0] - 1, before[1]))
    resource.prlimit(pid, resource.RLIMIT_NOFILE, before)
    return f"{before} was changed"


@attack
def change_niceness(pid):
    os.setpriority(os.PRIO_PROCESS, pid, os.getpriority(os.PRIO_PROCESS, pid) + 1)
    return "it is nicer than before"


@attack
def change_processors(pid):
    os.sched_setaffinity(pid, {0})
    return "it runs on one processor only"


@attack
def enter_namespace(pid, kind):
    def entered():
        space = os.open(f"/proc/{pid}/ns/{kind}", os.O_RDONLY)
        call("setns", space, 0)
        return f"inside its {kind}"

    return in_child(entered)


@attack
def gain_rights_by_exec():
    """Whether setuid programs still have an effect."""
    if LIBC.prctl(39, 0, 0, 0, 0) == 1:
        raise NoEvidence("no new privileges")
    return "setuid programs have an effect"


@attack
def read_shared_memory(key, secret):
    """System V's, which has no place in the file system."""
    LIBC.shmat.restype = ctypes.c_void_p
    segment = LIBC.shmget(key, 0, 0)
    if segment < 0:
        raise OSError(ctypes.get_errno(), "shmget")
    at = LIBC.shmat(segment, None, 0o10000)
    if at in (None, ctypes.c_void_p(-1).value):
        raise OSError(ctypes.get_errno(), "shmat")
    data = ctypes.string_at(at, len(secret))
    LIBC.shmdt(ctypes.c_void_p(at))
    return found(data, secret)


@attack
def read_message_queue(name, secret):
    """POSIX's, by its name."""
    queue = LIBC.mq_open(name.encode(), os.O_RDWR | os.O_NONBLOCK)
    if queue < 0:
        raise OSError(ctypes.get_errno(), "mq_open")
    data = ctypes.create_string_buffer(8192)
    length = LIBC.mq_receive(queue, data, 8192, None)
    if length < 0:
        number = ctypes.get_errno()
        os.close(queue)
        raise OSError(number, "mq_receive")
    # The next one finds it again.
    LIBC.mq_send(queue, data.raw[:length], length, 0)
    os.close(queue)
    return found(data.raw[:length], secret)
