"""A stranger's model or data that has taken a child over, against its sandbox. Layer: cli.

Every attack is code in a real child process under the worker's own rules, and is made once more
without the sandbox, where it has to succeed.
"""

from __future__ import annotations

import os
import platform
import socket
import subprocess
import sys
import textwrap
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import trio

from tequio_client.ipc import trainer as link
from tequio_client.ipc.cell import CellPlace, local_place
from tequio_client.platform import sandbox
from tequio_client.worker.children.evaluator import evaluator_program
from tequio_client.worker.children.trainer import (
    TrainerFailedError,
    TrainerProcess,
    trainer_environment,
    trainer_program,
)
from tests.support.attack_table import attack

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

ABI = sandbox._landlock_abi() if sys.platform == "linux" else 0  # noqa: SLF001
pytestmark = [
    pytest.mark.skipif(ABI == 0, reason="no Landlock in this kernel"),
    pytest.mark.skipif(
        platform.machine() not in ("x86_64", "aarch64"), reason="no seccomp rules for it"
    ),
]
START_S = 60.0
REFUSED = "refused"
CHILD = """
import os, socket, sys
{setup}
from tequio_client.platform import sandbox
print(sandbox.enter(), flush=True)
try:
{body}
except OSError as err:
    print("{refused}:", err)
else:
    print("done")
"""


@dataclass(frozen=True, slots=True)
class VolunteerHome:
    """A volunteer's home folder, with the worker's folder in it, and programs that listen."""

    path: Path
    worker: Path
    tcp_port: int
    unix: Path
    datagrams: Path

    def environment(self) -> dict[str, str]:
        """Variables with which the worker starts a trainer."""
        return {**trainer_environment(self.worker), **self.names()}

    def names(self) -> dict[str, str]:
        """Where the attacks find things."""
        return {
            "HOME": str(self.path),
            "WORKER": str(self.worker),
            "PORT": str(self.tcp_port),
            "BUS": str(self.unix),
            "DATAGRAMS": str(self.datagrams),
            "PYTHONDONTWRITEBYTECODE": "1",
        }


@contextmanager
def listening(family: socket.AddressFamily, address: object) -> Iterator[socket.socket]:
    with socket.socket(family) as listener:
        # A connection that an earlier test closed may still hold its port.
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)  # type: ignore[arg-type]  # of either family
        listener.listen(8)
        yield listener


@pytest.fixture
def home(tmp_path: Path) -> Iterator[VolunteerHome]:
    path = tmp_path / "home"
    worker = path / ".local" / "share" / "tequio" / "worker"
    for folder in (worker / "store", worker / "work", path / ".ssh"):
        folder.mkdir(parents=True)
    for file in (worker / "identity.key", worker / "outbox.db", path / ".ssh" / "id_ed25519"):
        file.write_text("secret")
    (worker / "store" / "tree").write_text("weights")
    with ExitStack() as stack:
        tcp = stack.enter_context(listening(socket.AF_INET, ("127.0.0.1", 0)))
        bus = tmp_path / "bus"
        stack.enter_context(listening(socket.AF_UNIX, str(bus)))
        receiver = stack.enter_context(socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM))
        receiver.bind(str(tmp_path / "datagrams"))
        yield VolunteerHome(path, worker, tcp.getsockname()[1], bus, tmp_path / "datagrams")


def run(
    body: str, variables: Mapping[str, str], setup: str = ""
) -> subprocess.CompletedProcess[str]:
    code = CHILD.format(setup=setup, body=textwrap.indent(body, "    "), refused=REFUSED)
    return subprocess.run(
        [sys.executable, "-c", code],
        env={"PATH": os.environ["PATH"], **variables},
        capture_output=True,
        text=True,
        timeout=START_S,
        check=False,
    )


ATTACKS = {
    "calls home": "socket.create_connection(('127.0.0.1', int(os.environ['PORT'])), 5)",
    "sends a datagram": "socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)",
    "asks the desktop to start a program": (
        "socket.socket(socket.AF_UNIX).connect(os.environ['BUS'])"
    ),
    "reads the key": "open(os.environ['WORKER'] + '/identity.key').read()",
    "reads the key by another name": (
        "os.symlink(os.environ['WORKER'] + '/identity.key', os.environ['WORKER'] + '/work/x')\n"
        "open(os.environ['WORKER'] + '/work/x').read()"
    ),
    "links the key to where it may read": (
        "os.link(os.environ['WORKER'] + '/identity.key', os.environ['WORKER'] + '/work/y')"
    ),
    "reads a key for SSH": "open(os.environ['HOME'] + '/.ssh/id_ed25519').read()",
    "lists the keys for SSH": "os.listdir(os.environ['HOME'] + '/.ssh')",
    "lists the worker's folder": "os.listdir(os.environ['WORKER'])",
    "writes to the outbox": "open(os.environ['WORKER'] + '/outbox.db', 'a').write('x')",
    "empties the outbox": "os.truncate(os.environ['WORKER'] + '/outbox.db', 0)",
    "deletes the key": "os.unlink(os.environ['WORKER'] + '/identity.key')",
    "starts at the next login": "open(os.environ['HOME'] + '/.profile', 'w').write('x')",
    "alters what others are served": (
        "open(os.environ['WORKER'] + '/store/tree', 'r+').write('x')"
    ),
    "reads the worker's memory": "open(f'/proc/{os.getppid()}/environ').read()",
    "has a program do it": (
        "import subprocess\n"
        "done = subprocess.run(['cat', os.environ['WORKER'] + '/identity.key'], stdout=-3)\n"
        "if done.returncode: raise OSError('the program failed')"
    ),
    "does it in another thread": (
        "import threading, queue\n"
        "found = queue.Queue()\n"
        "def read():\n"
        "    try:\n"
        "        found.put(open(os.environ['WORKER'] + '/identity.key').read())\n"
        "    except OSError as err:\n"
        "        found.put(err)\n"
        "threading.Thread(target=read).start()\n"
        "if isinstance(one := found.get(), OSError): raise one"
    ),
    "plants a kernel for the evaluator": (
        "os.makedirs(os.environ['WORKER'] + '/cache/evaluator', exist_ok=True)\n"
        "open(os.environ['WORKER'] + '/cache/evaluator/x', 'w').write('x')"
    ),
    "makes a user namespace": (
        "import ctypes\n"
        "libc = ctypes.CDLL(None, use_errno=True)\n"
        "if libc.unshare(0x10000000): raise OSError(ctypes.get_errno(), 'unshare')"
    ),
}
SHARED = f"/dev/shm/tequio-test-{os.getpid()}"  # noqa: S108
if not sandbox._compute_devices():  # noqa: SLF001 - a driver's children may use it
    ATTACKS["reads memory that programs share"] = f"open({SHARED!r}).read()"
    ATTACKS["writes to memory that programs share"] = f"open({SHARED!r}, 'a').write('x')"
    ATTACKS["shares memory"] = f"open({SHARED!r} + '-own', 'w').write('x')"
if ABI >= 6:
    ATTACKS["signals the worker"] = "os.kill(os.getppid(), 0)"


@pytest.fixture(autouse=True)
def shared_memory() -> Iterator[None]:
    """Memory that another program of this user shares."""
    path = Path(SHARED)
    path.write_text("sound")
    yield
    for one in (path, Path(f"{path}-own")):
        one.unlink(missing_ok=True)


@attack("P13", layer="cli", ends="refused by the operating system")
@pytest.mark.parametrize("name", ATTACKS)
def test_what_has_taken_the_trainer_over_reaches_nothing_beside_its_work(
    home: VolunteerHome, name: str
) -> None:
    free = run(ATTACKS[name], {**home.names(), sandbox.VARIABLE: sandbox.OFF})
    if name == "makes a user namespace" and "done" not in free.stdout:
        pytest.skip("this computer allows it to nobody")
    assert free.stdout.splitlines()[-1] == "done", free
    for left in (home.worker / "work").iterdir():
        left.unlink()
    (home.worker / "identity.key").write_text("secret")
    (home.worker / "outbox.db").write_text("secret")
    confined = run(ATTACKS[name], home.environment())
    assert REFUSED in confined.stdout.splitlines()[-1], confined
    assert (home.worker / "identity.key").read_text() == "secret"
    assert (home.worker / "outbox.db").read_text() == "secret"


@attack("P13", layer="cli", ends="neither the key nor the desktop is in reach; the network is")
def test_an_evaluator_has_a_network_and_no_key(home: VolunteerHome) -> None:
    variables = {**evaluator_program(home.worker).environment, **home.names()}
    assert "done" in run(ATTACKS["calls home"], variables).stdout
    assert "done" in run("socket.getaddrinfo('localhost', 80)", variables).stdout
    for name in ("reads the key", "reads a key for SSH", "writes to the outbox"):
        assert REFUSED in run(ATTACKS[name], variables).stdout
    if not sandbox._compute_devices():  # noqa: SLF001 - CUDA has local sockets
        assert REFUSED in run(ATTACKS["asks the desktop to start a program"], variables).stdout
    (home.worker / "cache" / "trainer").mkdir(parents=True, exist_ok=True)
    for other in ("cache/trainer/x", "work/x"):
        planted = f"open(os.environ['WORKER'] + '/{other}', 'w').write('x')"
        assert REFUSED in run(planted, variables).stdout
    if ABI >= 4:
        for protocol in (0, 262):  # TCP, and MPTCP, which Landlock does not see
            body = f"socket.socket(proto={protocol}).bind(('127.0.0.1', 0))"
            assert REFUSED in run(body, variables).stdout
    scores = "open(os.environ['WORKER'] + '/evaluations/scores', 'w').write('x')"
    assert "done" in run(scores, variables).stdout


OF_CELLS = ("sends a datagram", "asks the desktop to start a program", "reads the key")
EXCHANGE = """
with socket.create_server(('127.0.0.1', {port})) as listener:
    with socket.create_connection(listener.getsockname()[:2], 5) as out:
        listener.accept()[0].sendall(b'x')
        assert out.recv(1) == b'x'
"""


def cell_environment(home: VolunteerHome, place: CellPlace) -> dict[str, str]:
    program = trainer_program(home.worker, cell=place)
    return {**program.environment, **home.names()}


@attack("P13", layer="cli", ends="the ranks of one computer have a network without anybody else")
def test_the_ranks_of_one_computer_reach_each_other_and_nothing_else(home: VolunteerHome) -> None:
    variables = cell_environment(home, local_place(["cpu", "cpu"]))
    done = run(EXCHANGE.format(port=0), variables)
    assert "done" in done.stdout, done
    if "network of its own" in done.stdout:
        assert REFUSED in run(ATTACKS["calls home"], variables).stdout
    for name in OF_CELLS:
        if name != OF_CELLS[1] or not sandbox._compute_devices():  # noqa: SLF001 - CUDA has them
            assert REFUSED in run(ATTACKS[name], variables).stdout, name


@attack("P13", layer="cli", ends="no service listens on the ports that ranks may connect to")
@pytest.mark.skipif(ABI < 4, reason="this kernel's Landlock knows no ports")
def test_the_ranks_of_several_computers_reach_no_usual_service(home: VolunteerHome) -> None:
    port = 20_000 + os.getpid() % 10_000
    place = CellPlace(rank=0, size=2, device="cpu", port=port)
    variables = cell_environment(home, place)
    for one in (0, port):
        done = run(EXCHANGE.format(port=one), variables)
        assert "done" in done.stdout, done
    for name in OF_CELLS:
        if name != OF_CELLS[1] or not sandbox._compute_devices():  # noqa: SLF001 - as above
            assert REFUSED in run(ATTACKS[name], variables).stdout, name
    with listening(socket.AF_INET, ("127.0.0.1", port + 1)):
        elsewhere = f"socket.create_connection(('127.0.0.1', {port + 1}), 5)"
        assert "done" in run(elsewhere, {**home.names(), sandbox.VARIABLE: sandbox.OFF}).stdout
        assert REFUSED in run(elsewhere, variables).stdout
    assert REFUSED in run(f"socket.create_server(('127.0.0.1', {port + 2}))", variables).stdout


def test_what_a_trainer_needs_still_works(home: VolunteerHome) -> None:
    body = """
import ctypes, subprocess, tempfile, threading
assert open(os.environ['WORKER'] + '/store/tree').read() == 'weights'
work = os.environ['WORKER'] + '/work/'
open(work + 'part', 'w').write('x')
os.rename(work + 'part', work + 'whole')
os.truncate(work + 'whole', 0)
os.unlink(work + 'whole')
tempfile.TemporaryFile().write(b'x')
open('/dev/null', 'w').write('x')
os.listdir('/sys/class'), os.listdir('/dev'), open('/proc/meminfo').read()
open('/proc/self/oom_score_adj', 'w').write('1000')
assert subprocess.run(['true']).returncode == 0
assert socket.if_nameindex()
events = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 15)  # as udev's library opens for GPUs
left, right = socket.socketpair()
local = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)  # as CUDA names one after its process
local.bind(chr(0) + f'cuda-uvmfd-{os.getpid()}')
local.listen()
import torch
(torch.ones(64, 64, requires_grad=True) @ torch.ones(64, 64)).sum().backward()
"""
    done = run(body, home.environment())
    assert done.stdout.splitlines()[-1] == "done", done
    assert done.stdout.startswith(f"Landlock {ABI} and seccomp")


@attack("P13", layer="cli", ends="a child without rules ends before it opens anything")
@pytest.mark.parametrize("rules", ["", "{}", "[]", "null", "no JSON", '{"writes": [], "x": 1}'])
@pytest.mark.parametrize("module", ["tequio_client.trainer", "tequio_client.competition"])
def test_a_child_without_rules_does_not_start(module: str, rules: str) -> None:
    variables = {"PATH": os.environ["PATH"], sandbox.VARIABLE: rules}
    command = [sys.executable, "-m", module]
    done = subprocess.run(
        command, env=variables, input="", capture_output=True, text=True, check=False, timeout=30
    )
    assert done.returncode == os.EX_CONFIG
    assert sandbox.VARIABLE in done.stderr
    assert "Traceback" not in done.stderr


def test_rules_that_name_something_missing_end_the_child(home: VolunteerHome) -> None:
    """A rule is for a file, not for a name: what is made later would stay closed."""
    rules = sandbox.SandboxRules(writes=(), reads=(str(home.worker / "later"),))
    done = run("pass", {**home.names(), sandbox.VARIABLE: rules.encode()})
    assert done.returncode == os.EX_CONFIG
    assert "later" in done.stderr


def test_a_trainer_reads_what_a_run_puts_into_a_new_worker_folder(tmp_path: Path) -> None:
    """The error feedback comes into a folder that the first run makes."""
    variables = trainer_environment(tmp_path / "new")
    body = "sys.stdin.readline()\nassert open('feedback/run/left').read() == 'x'"
    code = CHILD.format(setup="", body=textwrap.indent(body, "    "), refused=REFUSED)
    with subprocess.Popen(
        [sys.executable, "-c", code],
        env={"PATH": os.environ["PATH"], **variables},
        cwd=tmp_path / "new",
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as child:
        assert child.stdin
        assert child.stdout
        assert "Landlock" in child.stdout.readline()
        (tmp_path / "new" / "feedback" / "run").mkdir()
        (tmp_path / "new" / "feedback" / "run" / "left").write_text("x")
        child.stdin.write("now\n")
        child.stdin.flush()
        assert child.stdout.readline() == "done\n"


def test_a_thread_that_is_older_than_the_sandbox_ends_the_child(home: VolunteerHome) -> None:
    setup = "import threading\nthreading.Thread(target=threading.Event().wait, daemon=True).start()"
    done = run("pass", home.environment(), setup)
    assert done.returncode == os.EX_CONFIG
    assert "thread" in done.stderr


def test_a_kernel_that_offers_no_landlock_is_reported_and_the_rest_applies(
    home: VolunteerHome,
) -> None:
    """A container's filter refuses the call with EPERM; here it is a filter of our own."""
    setup = """
from tequio_client.platform import call_filter, sandbox
sandbox._give_up_privileges()
usual, call_filter._REFUSED = call_filter._REFUSED, {'landlock_create_ruleset': (444, 444)}
call_filter.install(
    call_filter.NetworkAccess.ANY, sandbox._call, has_local=False, can_truncate=True
)
call_filter._REFUSED = usual
"""
    done = run(ATTACKS["calls home"], home.environment(), setup)
    report, last = done.stdout.splitlines()
    assert report == "seccomp (this kernel has no Landlock)"
    assert REFUSED in last


@pytest.mark.parametrize("system", ["darwin", "win32"])
def test_other_systems_are_told_apart(monkeypatch: pytest.MonkeyPatch, system: str) -> None:
    monkeypatch.setattr(sys, "platform", system)
    rules = sandbox.SandboxRules(writes=())
    assert sandbox.enter({sandbox.VARIABLE: rules.encode()}).startswith("none: not available on")


def test_the_owner_can_switch_it_off(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(sandbox.VARIABLE, sandbox.OFF)
    variables = trainer_environment(tmp_path)
    assert sandbox.enter(variables) == f"none: switched off by {sandbox.VARIABLE}"


@attack("P13", layer="cli", ends="the real trainer cannot read it")
@pytest.mark.trio
async def test_the_trainer_cannot_be_made_to_read_the_key_as_a_model(home: VolunteerHome) -> None:
    """By a worker's mistake, or a path that a stranger chose."""
    trainer = TrainerProcess(trainer_program(home.worker))
    key = str(home.worker / "identity.key")

    def prepare(command: int) -> link.Prepare:
        return link.Prepare(command=command, manifest=key, config=key, data_manifest=key)

    with trio.fail_after(START_S):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(trainer.run)
            with pytest.raises(TrainerFailedError, match="ermission denied"):
                await trainer.ask(prepare, link.TrainerReady)
            assert trainer.sandbox == f"Landlock {ABI} and seccomp"
            nursery.cancel_scope.cancel()


def test_a_child_begins_without_the_temporary_files_of_the_last_one(home: VolunteerHome) -> None:
    variables = home.environment()
    temp = Path(variables["TMPDIR"])
    assert temp.is_relative_to(home.worker / "cache" / "trainer")
    (temp / "left" / "over").mkdir(parents=True)
    (temp / "file").write_text("x")
    body = "sandbox.empty_temp()\nassert os.listdir(os.environ['TMPDIR']) == []"
    assert "done" in run(body, variables).stdout
    elsewhere = home.path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "file").write_text("x")
    sandbox.empty_temp({**variables, "TMPDIR": str(elsewhere)})
    assert (elsewhere / "file").exists()


def nvidia_machine(root: Path, *nodes: str) -> Path:
    """A computer with an NVIDIA card and its driver, and with these device nodes."""
    card = root / "sys" / "bus" / "pci" / "devices" / "0000:01:00.0"
    for folder in (card, root / "proc" / "driver" / "nvidia", root / "dev"):
        folder.mkdir(parents=True)
    (card / "vendor").write_text("0x10de\n")
    for node in nodes:
        (root / "dev" / node).touch()
    return root


def test_missing_nodes_of_a_card_are_named_with_what_to_do(tmp_path: Path) -> None:
    whole = nvidia_machine(tmp_path / "a", "nvidia0", "nvidiactl", "nvidia-uvm")
    assert sandbox.missing_nodes(whole) == ""
    headless = sandbox.missing_nodes(nvidia_machine(tmp_path / "b"))
    assert "without /dev/nvidiactl, /dev/nvidia-uvm, /dev/nvidia0: " in headless
    assert "nvidia-modprobe" in headless
    some = sandbox.missing_nodes(nvidia_machine(tmp_path / "c", "nvidia0", "nvidiactl"))
    assert "without /dev/nvidia-uvm: " in some
    assert sandbox.missing_nodes(tmp_path / "none") == ""


def test_a_card_with_another_driver_lacks_nothing(tmp_path: Path) -> None:
    root = nvidia_machine(tmp_path)
    (root / "sys" / "module" / "nouveau").mkdir(parents=True)
    assert sandbox.missing_nodes(root) == ""
