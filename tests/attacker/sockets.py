"""Attacks through Unix sockets: those of the bridge, of the session, and of daemons that do what they are told."""

import errno
import os
import socket

from evidence import NoEvidence, attack

SECONDS = 3

KINDS = {"stream": socket.SOCK_STREAM, "datagram": socket.SOCK_DGRAM, "seqpacket": socket.SOCK_SEQPACKET}


def address(path):
    return "\0" + path[1:] if path.startswith("@") else path


@attack
def connect_unix(path, kind="stream", answer=None):
    with socket.socket(socket.AF_UNIX, KINDS[kind]) as own:
        return spoken(own, path, answer)


@attack
def connect_pair(path, kind="datagram"):
    """An end of a pair of sockets is a socket too, and one of datagrams can be connected anew."""
    own, other = socket.socketpair(socket.AF_UNIX, KINDS[kind])
    with own, other:
        return spoken(own, path, None)


@attack
def send_from_pair(path):
    own, other = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
    with own, other:
        return f"{own.sendto(b'attacked', address(path))} bytes sent"


def spoken(own, path, answer):
    own.settimeout(SECONDS)
    own.connect(address(path))
    if answer is None:
        return "connected"
    own.sendall(b"who are you?\n")
    said = own.recv(100).decode()
    if said != answer:
        raise NoEvidence(f"it said {said!r}")
    return said


@attack
def listen_unix(own):
    """For other servers to connect to."""
    path = os.path.join(own, "s")
    if os.path.lexists(path):
        os.unlink(path)
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listener:
        listener.bind(path)
        listener.listen()
    return f"listened at {path}"


@attack
def read_variable(name):
    return os.environ[name] if name in os.environ else missing(name)


def missing(name):
    raise NoEvidence(f"{name} is not set")


@attack
def make_socket(family, kind, protocol=0):
    """Kinds of sockets that only programs of the system need."""
    try:
        with socket.socket(getattr(socket, family), getattr(socket, kind), protocol):
            return f"{family} {kind}"
    except OSError as error:
        # Not every kernel has each; what is asked for it is open to the server.
        if error.errno != errno.EAFNOSUPPORT:
            raise
        return f"the kernel was asked for {family}"


@attack
def write_terminal(path):
    """A terminal of the person: what is written there is shown, what is typed can be read."""
    terminal = os.open(path, os.O_RDWR | os.O_NOCTTY)
    try:
        return f"{os.write(terminal, b'attacked')} bytes shown"
    finally:
        os.close(terminal)
