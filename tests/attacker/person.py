"""A program of the person: what a server is not to reach, besides files. It runs until its stdin ends."""

import ctypes
import json
import os
import pty
import select
import signal
import sys

from evidence import LIBC, SECRET


class Attributes(ctypes.Structure):
    """Of a message queue: struct mq_attr."""

    _fields_ = [("flags", ctypes.c_long), ("most", ctypes.c_long), ("size", ctypes.c_long), ("now", ctypes.c_long * 5)]


def shared_memory():
    """A segment of System V's with the secret: its key and its number."""
    LIBC.shmat.restype = ctypes.c_void_p
    key = 0x48420000 + os.getpid()
    segment = LIBC.shmget(key, 4096, 0o1600)
    at = LIBC.shmat(segment, None, 0)
    ctypes.memmove(at, SECRET.text.encode(), len(SECRET.text))
    return key, segment


def message_queue():
    name = f"/harbor-{os.getpid()}"
    shape = Attributes(0, 1, 256)
    queue = LIBC.mq_open(name.encode(), os.O_CREAT | os.O_RDWR, 0o600, ctypes.byref(shape))
    assert queue >= 0, "this user has too many queues"
    LIBC.mq_send(queue, SECRET.text.encode(), len(SECRET.text), 0)
    return name


def told_to_end():
    """What can be read from once SIGTERM has come: a handler of Python's own would not end a read(2) that begins with it."""
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    signal.set_wakeup_fd(writer)
    signal.signal(signal.SIGTERM, lambda *_: None)
    return reader


def live():
    # Both outlive whoever made them, so an end by a signal is an orderly one too.
    end = told_to_end()
    key, segment = shared_memory()
    name = message_queue()
    _, terminal = pty.openpty()
    said = {
        "pid": os.getpid(),
        "address": SECRET.address(),
        "shared_memory": key,
        "message_queue": name,
        "terminal": os.ttyname(terminal),
    }
    try:
        print(json.dumps(said), flush=True)
        select.select([sys.stdin, end], [], [])
    finally:
        LIBC.shmctl(segment, 0, None)
        LIBC.mq_unlink(name.encode())
