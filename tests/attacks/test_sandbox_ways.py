"""Ways out of a child's sandbox by what is around it: links, Python's path, rights, abstract names.

As in `test_sandbox`, every attack is made once more without the sandbox, where it has to succeed.
"""

from __future__ import annotations

import os
import socket
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import pytest
import trio

from tequio_client.ipc import control
from tequio_client.platform import sandbox
from tequio_client.worker.children.evaluator import evaluator_program
from tests.attacks.test_sandbox import ABI, ATTACKS, REFUSED, listening, pytestmark, run
from tests.attacks.test_sandbox import home as home  # noqa: PLC0414 - a fixture
from tests.support.attack_table import attack
from tests.support.recording_worker import served

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.attacks.test_sandbox import VolunteerHome

__all__ = ["pytestmark"]
READS_SSH = ATTACKS["reads a key for SSH"]
READS_KEY = ATTACKS["reads the key"]
IN_PATH = "sys.path.insert(0, os.getcwd())"
WAYS = {
    "a folder that all may write to": (
        "open(os.environ['HOME'] + '/../shared/left', 'w').write('x')",
        "os.makedirs(os.environ['HOME'] + '/../shared', exist_ok=True)",
    ),
    "a link beside the home folder": (
        "open(os.environ['HOME'] + '/../link/id_ed25519').read()",
        "os.symlink(os.environ['HOME'] + '/.ssh', os.environ['HOME'] + '/../link')",
    ),
    "a home folder in Python's path": (READS_SSH, "sys.path.insert(0, os.environ['HOME'])"),
    "the folder that a worker starts it in": (
        READS_KEY,
        f"os.chdir(os.environ['WORKER'])\n{IN_PATH}",
    ),
}


@pytest.mark.parametrize("way", WAYS)
def test_what_is_beside_the_hidden_folders_opens_none_of_them(
    home: VolunteerHome, way: str
) -> None:
    body, setup = WAYS[way]
    free = run(body, {**home.names(), sandbox.VARIABLE: sandbox.OFF}, setup)
    assert free.stdout.splitlines()[-1] == "done", free
    left, made = home.path.parent / "shared" / "left", home.path.parent / "link"
    for one in (left, made):
        one.unlink(missing_ok=True)
    confined = run(body, home.environment(), setup)
    assert REFUSED in confined.stdout.splitlines()[-1], confined
    assert not left.exists()


@pytest.fixture(params=["/media", "/mnt", "/run/media"])
def drive(request: pytest.FixtureRequest) -> Iterator[Path]:
    """A folder with a letter, where drives are attached; that place is made if it is missing."""
    place = Path(request.param)
    is_missing = not place.exists()
    try:
        place.mkdir(exist_ok=True)
        with TemporaryDirectory(dir=place) as folder:
            Path(folder, "letter").write_text("secret")
            yield Path(folder)
    except OSError as err:
        pytest.skip(f"no folder can be made in {place}: {err.strerror}")
    finally:
        if is_missing:
            with suppress(OSError):
                place.rmdir()


@attack("P13", layer="cli", ends="drives that people attach are closed, as home folders are")
def test_drives_that_people_attach_are_closed(home: VolunteerHome, drive: Path) -> None:
    off = {**home.names(), sandbox.VARIABLE: sandbox.OFF}
    for body in (f"os.listdir({str(drive.parent)!r})", f"open({str(drive / 'letter')!r}).read()"):
        free = run(body, off)
        assert free.stdout.splitlines()[-1] == "done", free
        for variables in (home.environment(), evaluator_program(home.worker).environment):
            confined = run(body, {**variables, **home.names()})
            assert REFUSED in confined.stdout.splitlines()[-1], confined


STATUS = """
for line in open('/proc/self/status'):
    if line.startswith(('NoNewPrivs', 'CapPrm', 'CapEff', 'CapInh')): print(line, end='')
"""


def rights(home: VolunteerHome, rules: str) -> dict[str, int]:
    """The rights of a child in numbers, as the kernel says."""
    done = run(STATUS, {**home.names(), sandbox.VARIABLE: rules})
    lines = [line.split(":\t") for line in done.stdout.splitlines() if ":\t" in line]
    assert len(lines) == 4, done
    return {name: int(value, 16) for name, value in lines}


def test_a_child_has_no_rights_over_others_and_gains_none(home: VolunteerHome) -> None:
    free = rights(home, sandbox.OFF)
    confined = rights(home, home.environment()[sandbox.VARIABLE])
    assert confined["NoNewPrivs"] == 1
    files = {0, 1, 2, 3}  # chown, dac_override, dac_read_search, fowner
    computing = {14, 23, 24}  # ipc_lock, sys_nice, sys_resource
    kept = sum(1 << bit for bit in files | computing)
    for name in ("CapPrm", "CapEff"):
        assert confined[name] == free[name] & kept
    assert confined["CapInh"] == 0


@pytest.mark.skipif(ABI < 6, reason="this kernel's Landlock knows no scopes")
def test_an_evaluator_reaches_no_program_by_an_abstract_name(home: VolunteerHome) -> None:
    name = f"\0tequio-test-{os.getpid()}"
    body = f"socket.socket(socket.AF_UNIX).connect({name!r})"
    with listening(socket.AF_UNIX, name):
        off = {**home.names(), sandbox.VARIABLE: sandbox.OFF}
        assert run(body, off).stdout.splitlines()[-1] == "done"
        variables = {**evaluator_program(home.worker).environment, **home.names()}
        assert REFUSED in run(body, variables).stdout.splitlines()[-1]


@attack("P13", layer="cli", ends="the worker answers nobody that cannot read its secret")
@pytest.mark.trio
async def test_an_evaluator_with_local_sockets_is_not_the_workers_controller(
    home: VolunteerHome,
) -> None:
    """A child has them where a driver for computing is present."""
    setup = (
        "from tequio_client.platform import sandbox\n"
        "sandbox._compute_devices = lambda: ['/dev/null']"
    )
    hello = control.encode(control.ControllerHello(who="cli", build="test"))
    body = (
        "local = socket.socket(socket.AF_UNIX)\n"
        "local.connect(os.environ['WORKER'] + '/control.sock')\n"
        f"local.sendall({hello!r})\n"
        "print(local.recv(100))\n"
        "open(os.environ['WORKER'] + '/control.json').read()"
    )
    worker = home.path / "w"  # short enough for a Unix socket
    worker.mkdir()
    names = {**home.names(), "WORKER": str(worker)}
    async with served(worker):
        variables = {**evaluator_program(worker).environment, **names}
        done = await trio.to_thread.run_sync(run, body, variables, setup)
    assert done.stdout.count("\n") == 3, done
    _, answer, last = done.stdout.splitlines()
    assert answer == "b''"
    assert REFUSED in last


def test_calls_by_the_numbers_of_another_architecture_fail(home: VolunteerHome) -> None:
    """The numbers of x32 are the usual ones with a bit more; here it is `getpid`."""
    body = """
import ctypes
libc = ctypes.CDLL(None, use_errno=True)
libc.syscall(0x40000000 | 39)
print(ctypes.get_errno())
"""
    assert run(body, home.environment()).stdout.splitlines()[-2] == "1", "EPERM"
