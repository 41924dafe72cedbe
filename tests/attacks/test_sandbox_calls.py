"""System calls of a child that a stranger has taken over, by which no file is opened. Layer: cli.

As in `test_sandbox`, every attack is made once more without the sandbox, where it has to succeed.
"""

from __future__ import annotations

import os
import socket
from typing import TYPE_CHECKING

import pytest

from tequio_client.ipc.cell import CellPlace
from tequio_client.platform import sandbox
from tests.attacks.test_sandbox import (
    ABI,
    REFUSED,
    VolunteerHome,
    cell_environment,
    listening,
    pytestmark,
    run,
)
from tests.attacks.test_sandbox import home as home  # noqa: PLC0414 - a fixture
from tests.support.attack_table import attack

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["pytestmark"]
KEY = "key = os.environ['WORKER'] + '/identity.key'\n"
LIBC = """
import ctypes
libc = ctypes.CDLL(None, use_errno=True)
def checked(result):
    if result < 0:
        raise OSError(ctypes.get_errno(), 'refused')
    return result
"""
MODE = "if os.stat(key).st_mode & 0o777 != 0o646: raise OSError('its mode is as before')"
ATTACKS = {
    "lets everybody read the key": f"{KEY}os.chmod(key, 0o646)\n{MODE}",
    "lets everybody read it, by its folder": (
        f"{KEY}folder = os.open(os.environ['WORKER'], os.O_PATH)\n"
        f"os.chmod('identity.key', 0o646, dir_fd=folder)\n{MODE}"
    ),
    "gives the key to somebody": f"{KEY}os.chown(key, os.getuid(), os.getgid())",
    "watches what is used in a folder": (
        f"{LIBC}watch = checked(libc.inotify_init())\n"
        "checked(libc.inotify_add_watch(watch, os.environ['HOME'].encode(), 0xfff))"
    ),
    "ends the worker by a limit": (
        "import resource\nresource.prlimit(os.getppid(), resource.RLIMIT_CORE, (0, 0))"
    ),
    "reads the pictures of windows": (
        f"{LIBC}found = checked(libc.shmget(0, 4096, 0o1600))\nlibc.shmctl(found, 0, None)"
    ),
    "reads the messages of programs": (
        f"{LIBC}found = checked(libc.msgget(0, 0o1600))\nlibc.msgctl(found, 0, None)"
    ),
    "tells a program something": (
        "socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM).sendto(b'x', os.environ['DATAGRAMS'])"
    ),
    "tells it by a raw socket": (
        "socket.socket(socket.AF_UNIX, socket.SOCK_RAW).sendto(b'x', os.environ['DATAGRAMS'])"
    ),
    "tells it by one of a pair": (
        "one, other = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)\n"
        "one.sendto(b'x', os.environ['DATAGRAMS'])"
    ),
    "tells it by netlink": (
        "told = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, socket.NETLINK_USERSOCK)\n"
        "told.bind((0, 0))\n"
        "told.sendto(b'x', told.getsockname())"
    ),
    "has the worker wait at a pipe": "os.mkfifo(os.environ['WORKER'] + '/work/payload')",
    "leaves its session": "os.setsid()",
    "leaves its group": "os.setpgid(0, 0)",
    "makes a user namespace for a child": (
        f"{LIBC}import platform\n"
        "number = {'x86_64': 56, 'aarch64': 220}[platform.machine()]\n"
        "if checked(libc.syscall(number, 0x10000000 | 17, 0, 0, 0, 0)) == 0: os._exit(0)"
    ),
}
AROUND_PORTS = {
    "as another protocol": (
        "socket.socket(socket.AF_INET, socket.SOCK_STREAM, 262).connect(('127.0.0.1', {port}))"
    ),
    "with the first packet": "socket.socket().sendto(b'x', 0x20000000, ('127.0.0.1', {port}))",
    "with the first message": (
        "socket.socket().sendmsg([b'x'], [], 0x20000000, ('127.0.0.1', {port}))"
    ),
}
"""Ways to connect to a port without Landlock: MPTCP, and TCP Fast Open."""


def last_line(body: str, variables: Mapping[str, str], setup: str = "") -> str:
    done = run(body, variables, setup)
    assert done.stdout, done
    return done.stdout.splitlines()[-1]


@attack("P13", layer="cli", ends="refused by the operating system, also where no file is opened")
@pytest.mark.parametrize("name", ATTACKS)
def test_a_call_that_opens_nothing_reaches_nothing(home: VolunteerHome, name: str) -> None:
    free = last_line(ATTACKS[name], {**home.names(), sandbox.VARIABLE: sandbox.OFF})
    if "namespace" in name and free != "done":
        pytest.skip("this computer allows it to nobody")
    assert free == "done"
    (home.worker / "identity.key").chmod(0o600)
    for left in (home.worker / "work").iterdir():
        left.unlink()
    assert REFUSED in last_line(ATTACKS[name], home.environment())
    assert (home.worker / "identity.key").stat().st_mode & 0o777 == 0o600
    assert not list((home.worker / "work").iterdir())


@attack("P13", layer="cli", ends="refused by the filter of calls, where Landlock is too old for it")
def test_a_kernel_whose_landlock_sees_no_truncation_has_no_file_emptied(
    home: VolunteerHome,
) -> None:
    """Linux before 6.2, such as those of Debian 12 and of Ubuntu 22.04."""
    older = "from tequio_client.platform import sandbox\nsandbox._landlock_abi = lambda: 2"
    body = "os.truncate(os.environ['WORKER'] + '/outbox.db', 0)"
    done = run(body, home.environment(), older)
    assert "Landlock 2 and seccomp" in done.stdout
    assert REFUSED in done.stdout.splitlines()[-1]
    assert (home.worker / "outbox.db").read_text() == "secret"
    resized = "file = open(os.environ['WORKER'] + '/work/x', 'wb')\nfile.truncate(9)"
    assert last_line(resized, home.environment(), older) == "done"


@attack("P13", layer="cli", ends="a rank connects to no other port by a way around the rules")
@pytest.mark.parametrize("how", AROUND_PORTS)
@pytest.mark.skipif(ABI < 4, reason="this kernel's Landlock knows no ports")
def test_a_rank_finds_no_way_around_its_ports(home: VolunteerHome, how: str) -> None:
    port = 20_000 + os.getpid() % 10_000
    place = CellPlace(rank=0, size=2, device="cpu", port=port + 1)
    with listening(socket.AF_INET, ("127.0.0.1", port)):
        body = AROUND_PORTS[how].format(port=port)
        if last_line(body, {**home.names(), sandbox.VARIABLE: sandbox.OFF}) != "done":
            pytest.skip("this kernel does not have it")
        assert REFUSED in last_line(body, cell_environment(home, place))


def test_a_mode_seems_to_change_so_that_compilers_go_on(home: VolunteerHome) -> None:
    body = """
import shutil
work = os.environ['WORKER'] + '/work/'
open(work + 'kernel.so', 'wb').write(b'x')
shutil.copy2(work + 'kernel.so', work + 'copy.so')
os.chmod(work + 'copy.so', 0o755)
assert open(work + 'copy.so', 'rb').read() == b'x'
"""
    assert last_line(body, home.environment()) == "done"
