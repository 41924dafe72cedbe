"""A guest's real command: what it finds, what its owner is told, and its rank."""

from __future__ import annotations

import os
import signal
import subprocess
from contextlib import contextmanager, suppress
from functools import partial
from typing import TYPE_CHECKING

import msgspec
import psutil
import pytest
import trio

from tequio_client.demo.programs import free_port
from tequio_client.ipc import trainer
from tequio_client.keys.identity import load_or_create
from tequio_client.platform.programs import tequio
from tequio_client.worker.cells import guest as guest_module
from tequio_client.worker.cells.code import CellKeys, derive_keys, make_code
from tequio_client.worker.cells.computer import CellFile, Terminal, torch_version
from tequio_client.worker.cells.discovery import HostAddress, HostFinder
from tequio_client.worker.cells.guest import CellGuest, GuestSettings
from tequio_client.worker.cells.host import CellHost, GuestList, why_unfit
from tequio_client.worker.cells.messages import (
    PROTOCOL,
    AskForPlace,
    CellConversation,
    CellDevice,
    GuestHello,
    RankPlace,
)
from tequio_client.worker.swarm.peers import PeerNetwork, PeerStream
from tequio_shared.errors import PeerError, UserFacingError
from tequio_shared.ids import to_text
from tests.client.trainer.small_run import SmallRun, small_run
from tests.client.worker.cells.test_host import ASK, OFFER, until
from tests.support.attack_table import attack
from tests.support.cell_ranks import first_rank, until_it_trains
from tests.support.forked_program import STRICT, ForkedProgram, run_forked
from tests.support.loopback import LOOPBACK, needs_ipv6, network
from tests.support.timing_slack import allowed_s

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from tequio_client.ipc.cell import CellPlace


CODE, OTHER_CODE = "K7QF-2MXD-9TRP", "K7QF-2MXD-9TRQ"
PATIENCE_S = 90.0


@pytest.fixture(scope="module")
def keys() -> CellKeys:
    return derive_keys(CODE)


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> SmallRun:
    return small_run(tmp_path_factory.mktemp("run"))


def joined(folder: Path, *words: str, answers: str = "") -> subprocess.CompletedProcess[str]:
    """The command, run to its end."""
    command = ("cell", "join", *words, "--device", "cpu", "--dir", str(folder))
    return run_forked(STRICT, *command, timeout_s=PATIENCE_S, stdin=answers)


@contextmanager
def guest(folder: Path, host: HostAddress) -> Iterator[ForkedProgram]:
    """The command of a guest that agrees."""
    where = ("--address", str(host), "--device", "cpu", "--yes", "--dir", str(folder))
    process = ForkedProgram(STRICT, "cell", "join", CODE, *where)
    try:
        yield process
    finally:
        process.terminate()
        process.wait(20)


@contextmanager
def silent_guest(folder: Path, host: HostAddress) -> Iterator[subprocess.Popen[str]]:
    """The command of a guest that is asked and does not answer."""
    words = ("--address", str(host), "--device", "cpu", "--dir", str(folder))
    with subprocess.Popen(
        tequio("cell", "join", CODE, *words),
        stdin=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def test_a_code_that_is_none_is_named(tmp_path: Path) -> None:
    done = joined(tmp_path, "K7QF")
    assert done.returncode == 1
    assert "invalid code 'K7QF'" in done.stderr


def test_a_receiver_that_is_no_key_is_named(tmp_path: Path) -> None:
    done = joined(tmp_path, CODE, "--points-to", "ana")
    assert done.returncode == 1
    assert "--points-to: 'ana' is not a key" in done.stderr


def test_where_no_cell_is_heard_of_the_error_names_what_to_check(tmp_path: Path) -> None:
    code = make_code()
    for _ in range(20):
        done = joined(tmp_path, "--find", "1", answers=f"{code}\n")
        if "heard from" not in done.stderr:
            break  # else it heard cells that other tests of this computer host meanwhile
    assert done.returncode == 1
    assert f"no cell was found in the local network within 1 s for the code {code}" in done.stderr
    assert "--address HOST:PORT" in done.stderr


def test_addresses_are_read_as_they_are_shown() -> None:
    for shown in ("192.168.1.20:21084", "tower.local:1024", "[fd12::20]:21084"):
        assert str(HostAddress.parse(shown)) == shown
    for wrong in ("fd12::20:21084", "fd12::20", "[fd12::20]", "tower:0", ":21084"):
        with pytest.raises(UserFacingError, match="expected HOST:PORT"):
            HostAddress.parse(wrong)


def test_an_address_at_which_nobody_listens_is_named(tmp_path: Path) -> None:
    port = free_port()
    done = joined(tmp_path, CODE, "--address", f"127.0.0.1:{port}")
    assert done.returncode == 1
    assert f"no host with the code {CODE} answered at 127.0.0.1:{port}" in done.stderr


@attack("D13", layer="net", ends="a host whose key does not follow from the code is told nothing")
@pytest.mark.trio
async def test_a_guest_with_another_code_and_one_that_does_not_agree_get_nowhere(
    keys: CellKeys, tmp_path: Path
) -> None:
    said: list[str] = []
    offer = msgspec.structs.replace(OFFER, torch=torch_version())
    async with PeerNetwork(seed=keys.host.seed, listen=LOOPBACK) as peers:
        host = CellHost(peers, keys, offer, Terminal(says_yes=True, write=said.append), GuestList())
        async with host.opened():
            where = ("--address", f"127.0.0.1:{host.port}")
            done = await trio.to_thread.run_sync(partial(joined, tmp_path, OTHER_CODE, *where))
            assert f"no host with the code {OTHER_CODE} answered" in done.stderr
            done = await trio.to_thread.run_sync(
                partial(joined, tmp_path, CODE, *where, answers="no\n")
            )
            named = (*where, "--points-to", to_text(keys.host.key))
            refused = await trio.to_thread.run_sync(partial(joined, tmp_path, CODE, *named))
            own = load_or_create(tmp_path).key
            of_folder = await trio.to_thread.run_sync(partial(joined, tmp_path, CODE, *where))
    assert f"--points-to {to_text(keys.host.key)}: the host keeps all points" in refused.stderr
    assert f"points   none go to {to_text(own)}: the host keeps all points" in of_folder.stderr
    assert done.returncode == 1
    assert "you did not agree: nothing was started" in done.stderr
    for told in (
        "tower invites this computer to train together",
        "run      small at http://127.0.0.1:9",
        "points   all go to the host's key points-of-ana; --points-to KEY names one of yours",
        "3 devices; each device has some of the layers, about 8,000 MiB of memory",
        "neither encrypted",
    ):
        assert told in done.stderr
    assert said == [], "the host's owner is not asked before"


@attack("D14", layer="cli", ends="the connection ends; the owner is still asked, and no rank runs")
@pytest.mark.trio
async def test_a_host_that_does_not_wait_for_the_owner_gets_no_rank(
    keys: CellKeys, tmp_path: Path
) -> None:
    visits = 0

    async def serve(stream: PeerStream) -> None:
        nonlocal visits
        talk = CellConversation(stream)
        await talk.receive_a(GuestHello)
        visits += 1
        await talk.send(msgspec.structs.replace(OFFER, torch=torch_version()))
        await talk.send(RankPlace(rank=1, address="127.0.0.1", port=free_port()))
        with suppress(PeerError):
            await talk.receive()

    async with PeerNetwork(seed=keys.host.seed, listen=LOOPBACK) as peers:
        peers.serve(PROTOCOL, serve)
        with silent_guest(tmp_path, HostAddress("127.0.0.1", peers.listen_ports()[0])) as process:
            with trio.move_on_after(PATIENCE_S):
                await until(lambda: visits > 1)  # it has dropped this host once
            children = psutil.Process(process.pid).children()
            ranks = [one for one in children if "rank" in one.cmdline()]
            process.terminate()
            _, told = await trio.to_thread.run_sync(partial(process.communicate, timeout=20))
    assert ranks == []
    assert visits > 1
    assert "Take part?" in told
    assert "rank 1 of 3" not in told


@attack("D17", layer="cli", ends="the guest ends with one sentence, and no rank runs")
@pytest.mark.trio
@pytest.mark.parametrize(
    ("rank", "where", "told"),
    [
        (1, "203.0.113.9", "sends this computer to 203.0.113.9, which is neither the host's"),
        (1, "ranks.example", "sends this computer to ranks.example, which is neither the host's"),
        (0, "127.0.0.1", "gives this computer rank 0, and guests of a cell of 3 devices have 1"),
        (3, "127.0.0.1", "gives this computer rank 3, and guests of a cell of 3 devices have 1"),
    ],
)
async def test_a_place_that_is_not_at_the_host_is_not_taken(
    keys: CellKeys, tmp_path: Path, rank: int, where: str, told: str
) -> None:
    async def serve(stream: PeerStream) -> None:
        talk = CellConversation(stream)
        await talk.receive_a(GuestHello)
        await talk.send(msgspec.structs.replace(OFFER, torch=torch_version()))
        await talk.receive_a(AskForPlace)
        await talk.send(RankPlace(rank=rank, address=where, port=free_port()))
        with suppress(PeerError):
            await talk.receive()

    async with PeerNetwork(seed=keys.host.seed, listen=LOOPBACK) as peers:
        peers.serve(PROTOCOL, serve)
        at_host = ("--address", f"127.0.0.1:{peers.listen_ports()[0]}", "--yes")
        done = await trio.to_thread.run_sync(partial(joined, tmp_path, CODE, *at_host))
    assert done.returncode == 1
    assert told in done.stderr
    assert f"rank {rank} of 3" not in done.stderr


@pytest.mark.trio
async def test_a_guest_with_an_address_gives_its_rank_up_while_the_host_is_away(
    keys: CellKeys, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    began, ended = trio.Event(), trio.Event()

    async def keep_rank(_program: object, _place: CellPlace) -> None:
        began.set()
        try:
            await trio.sleep_forever()
        finally:
            ended.set()

    async def serve(stream: PeerStream) -> None:
        if not began.is_set():
            talk = CellConversation(stream)
            await talk.receive_a(GuestHello)
            await talk.send(OFFER)
            await talk.receive_a(AskForPlace)
            await talk.send(RankPlace(rank=1, address="127.0.0.1", port=free_port()))
            await began.wait()
        await stream.drop()

    kept_s = 1.0
    monkeypatch.setattr(guest_module, "keep_rank", keep_rank)
    monkeypatch.setattr(guest_module, "RANK_KEPT_S", kept_s)
    monkeypatch.setattr(guest_module, "RETRY_S", 0.01)
    async with PeerNetwork(seed=keys.host.seed, listen=LOOPBACK) as peers, network("guest") as own:
        peers.serve(PROTOCOL, serve)
        at_host = HostAddress("127.0.0.1", peers.listen_ports()[0])
        settings = GuestSettings(folder=tmp_path, code=CODE, address=at_host)
        guest = CellGuest(own, keys, settings, Terminal(says_yes=True), ASK)
        async with trio.open_nursery() as nursery:
            nursery.start_soon(guest.run)
            with trio.fail_after(PATIENCE_S):
                await began.wait()
            with trio.fail_after(allowed_s(kept_s)):
                await ended.wait()
            nursery.cancel_scope.cancel()


@pytest.mark.trio
async def test_a_guest_passes_over_where_the_host_was_not_and_no_host_that_was_cut_off(
    keys: CellKeys, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    passed_over, visits = list[HostAddress](), list[PeerStream]()

    async def serve(stream: PeerStream) -> None:
        talk = CellConversation(stream)
        await talk.receive_a(GuestHello)
        await talk.send(OFFER)
        await talk.receive_a(AskForPlace)
        visits.append(stream)
        await stream.drop()

    async with PeerNetwork(seed=keys.host.seed, listen=LOOPBACK) as peers, network("guest") as own:
        peers.serve(PROTOCOL, serve)
        nowhere = HostAddress("127.0.0.1", free_port())
        at_host = HostAddress("127.0.0.1", peers.listen_ports()[0])

        async def find(_finder: HostFinder) -> HostAddress:
            return at_host if passed_over else nowhere

        monkeypatch.setattr(HostFinder, "find", find)
        monkeypatch.setattr(HostFinder, "pass_over", lambda _, place: passed_over.append(place))
        monkeypatch.setattr(guest_module, "RETRY_S", 0.01)
        settings = GuestSettings(folder=tmp_path, code=CODE)
        guest = CellGuest(own, keys, settings, Terminal(says_yes=True), ASK)
        with trio.fail_after(PATIENCE_S):
            async with trio.open_nursery() as nursery:
                nursery.start_soon(guest.run)
                await until(lambda: len(visits) > 2)
                nursery.cancel_scope.cancel()
    assert passed_over == [nowhere]


@pytest.mark.trio
async def test_what_the_host_calls_itself_steers_no_terminal(
    keys: CellKeys, tmp_path: Path
) -> None:
    hostile = "tower\x1b[2J\u202e"
    device = CellDevice(id=f"cuda:{hostile}", name=hostile, memory_mb=8_192)
    offer = msgspec.structs.replace(OFFER, host=hostile, device=device)
    said: list[str] = [why_unfit(offer, ASK), why_unfit(OFFER, ask_with(device))]
    owner = Terminal(says_yes=True, write=said.append)
    async with network("guest") as peers:
        guest = CellGuest(peers, keys, GuestSettings(folder=tmp_path, code=CODE), owner, ASK)
        guest._move(offer, RankPlace(rank=1, address="127.0.0.1", port=9))  # noqa: SLF001 - no rank starts
    assert "training for tower" in said[-1]
    assert all(one.rstrip("\n").isprintable() for one in said)


def ask_with(device: CellDevice) -> AskForPlace:
    return msgspec.structs.replace(ASK, device=device)


@pytest.mark.trio
async def test_a_guest_trains_and_joins_the_next_cell_after_its_rank_was_killed(
    keys: CellKeys, run: SmallRun, tmp_path: Path
) -> None:
    await check_a_guest(keys, tmp_path, "127.0.0.1", partial(lose_a_rank, run), partial(train, run))


@pytest.mark.trio
@needs_ipv6
async def test_a_guest_trains_over_ipv6(keys: CellKeys, run: SmallRun, tmp_path: Path) -> None:
    await check_a_guest(keys, tmp_path, "::1", partial(train, run))


async def check_a_guest(
    keys: CellKeys,
    tmp_path: Path,
    address: str,
    *cells: Callable[[CellPlace, ForkedProgram], None],
) -> None:
    """Let a guest take part in these cells, one after the other, and end it."""
    offer = msgspec.structs.replace(OFFER, ranks=2, division="none", torch=torch_version())
    owner = Terminal(says_yes=True)
    with trio.fail_after(2 * PATIENCE_S):
        listen = (f"{'/ip6' if ':' in address else '/ip4'}/{address}/tcp/0",)
        async with PeerNetwork(seed=keys.host.seed, listen=listen) as peers:
            host = CellHost(peers, keys, offer, owner, GuestList())
            async with host.opened():
                shown = HostAddress(address, host.port)
                with guest(tmp_path / "guest", shown) as joined_guest:
                    await host.complete.wait()
                    place = host.place()
                    assert place.address == address
                    for cell in cells:
                        await trio.to_thread.run_sync(cell, place, joined_guest)
                    assert joined_guest.poll() is None
                    joined_guest.send_signal(signal.SIGTERM)
                    await until(lambda: not host.seats)
                    assert await trio.to_thread.run_sync(joined_guest.wait, 20) == 0
    folder = tmp_path / "guest"
    assert not (folder / "identity.key").exists(), "only the host has a key"
    if os.name == "posix":
        assert (folder / "cell.json").stat().st_mode & 0o077 == 0
    assert CellFile.load(folder).code == "", "of its own cell it has none"


def lose_a_rank(run: SmallRun, place: CellPlace, guest: ForkedProgram) -> None:
    """Form the cell, and kill the guest's rank while it trains."""
    with first_rank(2, place.port, place.address) as cell:
        cell.send(run.prepare(1))
        cell.until(trainer.TrainerReady)
        cell.send(run.train(2, "lost", windows=((0, 60_000),)))
        until_it_trains(cell)
        ranks = [one for one in psutil.Process(guest.pid).children() if "rank" in one.cmdline()]
        ranks[0].send_signal(signal.SIGKILL)
        while not isinstance(report := cell.next(), trainer.Failed):
            pass
        assert report.code == "cell"


def train(run: SmallRun, place: CellPlace, guest: ForkedProgram) -> None:
    """Form the cell, and train with the guest."""
    assert guest.poll() is None
    with first_rank(2, place.port, place.address) as cell:
        cell.send(run.prepare(1))
        cell.until(trainer.TrainerReady)
        cell.send(run.train(2, "next", windows=((0, 40),)))
        assert cell.until(trainer.Trained).steps == 4
