"""What all attacks share: their list, what counts as success, system calls by number, and children to risk."""

import ctypes
import json
import os
import platform
import signal

ATTACKS = {}

LIBC = ctypes.CDLL(None, use_errno=True)
LIBC.syscall.restype = ctypes.c_long

# Calls that neither Python nor the C library has a function for, on x86_64.
NUMBERS = {
    "clone": 56, "ptrace": 101, "syslog": 103, "mknod": 133, "pivot_root": 155, "chroot": 161, "mount": 165,
    "umount2": 166, "sethostname": 170, "kexec_load": 246, "add_key": 248, "keyctl": 250, "unshare": 272,
    "perf_event_open": 298, "name_to_handle_at": 303, "open_by_handle_at": 304, "setns": 308,
    "process_vm_readv": 310, "process_vm_writev": 311, "finit_module": 313, "bpf": 321, "userfaultfd": 323,
    "io_uring_setup": 425, "open_tree": 428, "fsopen": 430, "pidfd_open": 434, "clone3": 435, "pidfd_getfd": 438,
    "landlock_create_ruleset": 444, "fchmodat2": 452,
}
assert platform.machine() == "x86_64", "the numbers of another machine are not known here"


class NoEvidence(Exception):
    """Nothing refused, and yet nothing was gained."""


class Secret:
    """What others are not to read: in the environment, and in memory at an address that is told."""

    def __init__(self):
        self.text = os.environ.get("ATTACKER_SECRET", "nothing")
        self.buffer = ctypes.create_string_buffer(self.text.encode())

    def address(self):
        return ctypes.addressof(self.buffer)


SECRET = Secret()


def attack(function):
    ATTACKS[function.__name__] = function
    return function


def found(data, secret):
    """The evidence that `data` holds the secret."""
    if secret.encode() in data:
        return f"found {secret}"
    raise NoEvidence(f"{len(data)} bytes without the secret")


def call(name, *arguments):
    """A system call by its name; text and bytes are handed over as pointers."""
    arguments = [argument.encode() if isinstance(argument, str) else argument for argument in arguments]
    arguments = [ctypes.c_long(argument) if isinstance(argument, int) else argument for argument in arguments]
    ctypes.set_errno(0)
    result = LIBC.syscall(ctypes.c_long(NUMBERS[name]), *arguments)
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{name}: {os.strerror(number)}")
    return result


def child_that(run):
    """Starts a child that does this and ends, with the status that it gives. What fails in it must not make a second server of
    it, which would answer the next call."""
    child = os.fork()
    if child == 0:
        status = 1
        try:
            status = run() or 0
        finally:
            os._exit(status)
    return child


def ends_of_children(run, count):
    """How so many children end that all do this. Where not all can be had, none is left."""
    children = []
    try:
        for _ in range(count):
            children.append(child_that(run))
    except OSError:
        for child in children:
            os.kill(child, signal.SIGKILL)
        raise
    finally:
        ends = [os.waitpid(child, 0)[1] for child in children]
    return ends


def in_child(function):
    """Runs it in a child, whose state is lost afterwards and which may be killed for trying."""
    reader, writer = os.pipe()

    def tell():
        os.close(reader)
        try:
            said = {"detail": str(function())}
        except NoEvidence as nothing:
            said = {"nothing": str(nothing)}
        except OSError as refused:
            said = {"errno": refused.errno, "text": str(refused)}
        os.write(writer, json.dumps(said).encode())

    child = child_that(tell)
    os.close(writer)
    with open(reader, "rb") as pipe:
        said = pipe.read()
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status):
        raise NoEvidence(f"killed by {signal.Signals(os.WTERMSIG(status)).name}")
    if status != 0:
        raise NoEvidence("the child failed")
    said = json.loads(said)
    if "errno" in said:
        raise OSError(said["errno"], said["text"])
    if "nothing" in said:
        raise NoEvidence(said["nothing"])
    return said["detail"]
