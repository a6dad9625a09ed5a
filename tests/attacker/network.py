"""Attacks over the network: reaching what the profile does not name, and being reached."""

import contextlib
import ctypes
import errno
import os
import random
import socket
import struct
import threading
import time
import urllib.parse

from evidence import NoEvidence, attack

SECONDS = 3

MPTCP = 262


@attack
def connect(host, port, answer, family="AF_UNSPEC"):
    """Straight, without asking any proxy."""
    last = NoEvidence(f"{host} has no address")
    for kind, style, protocol, _, place in socket.getaddrinfo(host, port, getattr(socket, family), socket.SOCK_STREAM):
        try:
            with socket.socket(kind, style, protocol) as own:
                own.settimeout(SECONDS)
                own.connect(place)
                return heard(own, answer)
        except OSError as error:
            last = error
    raise last


@attack
def connect_number(address, port, answer):
    """An address as C libraries read it: of one number, of hexadecimal or octal ones, of fewer than four."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as own:
        own.settimeout(SECONDS)
        own.connect((socket.inet_ntoa(socket.inet_aton(address)), port))
        return heard(own, answer)


def heard(own, answer):
    own.sendall(b"GET / HTTP/1.0\r\n\r\n")
    said = everything(own)
    if answer.encode() not in said:
        raise NoEvidence(f"it said {said[:200]!r}")
    return answer


def everything(own):
    said = b""
    while piece := own.recv(4096):
        said += piece
    return said


@attack
def send_datagram(host, port, answer):
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family, socket.SOCK_DGRAM) as own:
        own.settimeout(SECONDS)
        own.sendto(b"who are you?", (host, port))
        said = own.recv(100).decode()
    if said != answer:
        raise NoEvidence(f"it said {said!r}")
    return said


def proxy():
    for name in ["HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy"]:
        if name in os.environ:
            place = urllib.parse.urlparse(os.environ[name])
            return place.hostname, place.port
    raise NoEvidence("no proxy is set")


@attack
def tunnel(host, address, port, answer):
    """By a tunnel of the server's proxy, or straight where it has none."""
    try:
        place = proxy()
    except NoEvidence:
        return connect(address, port, answer)
    with socket.create_connection(place, SECONDS) as own:
        own.sendall(f"CONNECT {host}:{port} HTTP/1.1\r\nHost: {host}:{port}\r\n\r\n".encode())
        said = own.recv(4096).split(b"\r\n")[0]
        if b" 200" not in said:
            raise NoEvidence(f"the proxy said {said!r}")
        return heard(own, answer)


@attack
def fetch(url, answer):
    """By a plain request to the proxy, or straight where the server has none."""
    try:
        place = proxy()
    except NoEvidence:
        parts = urllib.parse.urlparse(url)
        return connect(parts.hostname, parts.port, answer)
    with socket.create_connection(place, SECONDS) as own:
        host = urllib.parse.urlparse(url).netloc
        own.sendall(f"GET {url} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n".encode())
        said = everything(own)
    if answer.encode() not in said:
        raise NoEvidence(f"the proxy said {said[:200]!r}")
    return answer


@attack
def bind_port(host="0.0.0.0", protocol=0):
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM, protocol) as own:
        bind_somewhere(own, host)
        return f"has port {own.getsockname()[1]}"


def bind_somewhere(own, host):
    """Port 0 is another right than a number: Landlock knows them apart. A number may be somebody's; that is no refusal."""
    last = None
    for number in range(100):
        try:
            return own.bind((host, 20000 + (os.getpid() + 113 * number) % 12000))
        except OSError as error:
            if error.errno != errno.EADDRINUSE:
                raise
            last = error
    raise last


@attack
def listen(bound=True, protocol=0, family="AF_INET"):
    """Takes a connection, which it makes itself."""
    with socket.socket(getattr(socket, family), socket.SOCK_STREAM, protocol) as own:
        if bound:
            own.bind(("::1" if family == "AF_INET6" else "127.0.0.1", 0))
        own.listen()
        own.settimeout(SECONDS)
        port = own.getsockname()[1]
        place = ("::1" if family == "AF_INET6" else "127.0.0.1", port)
        caller = threading.Thread(target=lambda: socket.create_connection(place, SECONDS).close())
        caller.start()
        taken, _ = own.accept()
        taken.close()
        caller.join()
        return f"was reached at port {port}"


@attack
def hear_datagram(host="0.0.0.0", port=None, reached="127.0.0.1"):
    """At a port that it names, from another socket, which only sends: that one has to have its answer in any case."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as own:
        if port is None:
            bind_somewhere(own, host)
        else:
            own.bind((host, port))
        own.settimeout(SECONDS)
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as other:
            other.bind(("127.0.0.1", 0))
            other.sendto(b"hello", (reached, own.getsockname()[1]))
            said, sender = own.recvfrom(100)
            if said != b"hello" or sender != other.getsockname():
                raise NoEvidence(f"{sender} said {said!r}")
        return f"heard at {own.getsockname()}"


@attack
def bind_datagrams_meanwhile():
    """Has the number of a socket mean one for UDP, and the bytes of an address name a port, while its runner looks."""
    libc = ctypes.CDLL(None, use_errno=True)
    address = bytearray(struct.pack("=H", socket.AF_INET) + bytes(14))
    raw = (ctypes.c_char * len(address)).from_buffer(address)
    pair = socket.socketpair()
    number = os.dup(pair[0].fileno())
    meant = []

    def change():
        address[2:4] = random.choice([bytes(2), struct.pack("!H", 21047)])
        with contextlib.suppress(IndexError, OSError):
            os.dup2(random.choice(meant).fileno(), number)

    try:
        with changing(change) as going_on:
            while going_on():
                with socket.socket() as stream, socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as own:
                    meant[:] = [pair[0], stream, own]
                    os.dup2(random.choice([stream, own]).fileno(), number)
                    libc.bind(number, raw, len(address))
                    meant.clear()
                    if own.getsockname()[1] == 21047:
                        return f"has {own.getsockname()}"
    finally:
        os.close(number)
        for end in pair:
            end.close()
    raise NoEvidence("it never had the port")


@attack
def steer_datagrams():
    """Says which socket of a port that several share hears a datagram: always the first one."""
    first = struct.pack("HBBI", 0x06, 0, 0, 0)
    program = ctypes.create_string_buffer(first)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as own:
        own.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        own.bind(("127.0.0.1", 0))
        own.setsockopt(socket.SOL_SOCKET, 51, struct.pack("HP", 1, ctypes.addressof(program)))
        return "they come to the first one"


@attack
def listen_at(port, host="127.0.0.1", family="AF_INET", only_v6=False, reached="127.0.0.1"):
    """Takes a connection at a port that it names, which it makes itself to another address."""
    with socket.socket(getattr(socket, family), socket.SOCK_STREAM) as own:
        own.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if family == "AF_INET6":
            own.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, only_v6)
        own.bind((host, port))
        own.listen()
        own.settimeout(SECONDS)
        with socket.create_connection((reached, port), SECONDS):
            taken, _ = own.accept()
            taken.close()
        return f"was reached at {reached}"


@attack
def listen_meanwhile(port):
    """Has the number of a socket mean another one while its runner looks: that one is to listen, on all addresses."""
    libc = ctypes.CDLL(None, use_errno=True)
    with socket.socket() as granted, socket.socket() as other:
        granted.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        granted.bind(("127.0.0.1", port))
        number = os.dup(granted.fileno())
        try:
            with changing(lambda: os.dup2(random.choice([granted, other]).fileno(), number)) as going_on:
                while going_on():
                    libc.listen(number, 1)
                    if other.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN):
                        return f"listens at {other.getsockname()}"
        finally:
            os.close(number)
    raise NoEvidence("it was always the granted one")


@attack
def bind_meanwhile(port):
    """Has the bytes of an address mean another one while its runner looks."""
    libc = ctypes.CDLL(None, use_errno=True)
    address = bytearray(struct.pack("=H", socket.AF_INET) + struct.pack("!H", port) + bytes(12))
    raw = (ctypes.c_char * len(address)).from_buffer(address)

    def change():
        address[4:8] = random.choice([bytes(4), bytes([127, 0, 0, 2])])

    with changing(change) as going_on:
        while going_on():
            with socket.socket() as own:
                own.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                libc.bind(own.fileno(), raw, len(address))
                if libc.listen(own.fileno(), 1) == 0 and own.getsockname()[0] != "127.0.0.1":
                    return f"listens at {own.getsockname()}"
    raise NoEvidence("it was always at the granted address")


@contextlib.contextmanager
def changing(change):
    """A thread that changes something all the time, for a second of its own; gives whether it still does."""
    begins, ends = threading.Event(), threading.Event()

    def go_on():
        change()
        begins.set()
        while not ends.is_set():
            change()

    changer = threading.Thread(target=go_on)
    changer.start()
    begins.wait()
    last = time.monotonic() + 1
    try:
        yield lambda: time.monotonic() < last
    finally:
        ends.set()
        changer.join()


@attack
def listen_by_connection(port):
    """A socket that a connection has brought to the granted port: it listens elsewhere, as it is freed from there meanwhile."""
    libc = ctypes.CDLL(None, use_errno=True)
    nowhere = struct.pack("=H14x", socket.AF_UNSPEC)
    with socket.socket() as own:
        own.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        own.bind(("127.0.0.1", port))
        own.listen()
        number = os.dup(own.fileno())
        try:
            with changing(lambda: number in taking and libc.connect(number, nowhere, len(nowhere))) as going_on:
                while going_on():
                    with socket.create_connection(("127.0.0.1", port), SECONDS):
                        taken, _ = own.accept()
                    with taken:
                        os.dup2(taken.fileno(), number)
                        taking.add(number)
                        # By the other thread at any moment, and surely now and then.
                        if random.random() < 0.5:
                            libc.connect(number, nowhere, len(nowhere))
                        libc.listen(number, 1)
                        taking.discard(number)
                        if taken.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN):
                            return f"listens at {taken.getsockname()}"
        finally:
            os.close(number)
    raise NoEvidence("it never listened")


# Numbers of sockets that are about to listen.
taking = set()
