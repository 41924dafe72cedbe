"""A hostile mirror of the tiles of a log, and a ledger that names a victim as one."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from random import Random
from typing import TYPE_CHECKING

import pytest
import trio

from tequio_client.ledger.api import LedgerApi
from tequio_client.worker.ledger.follower import FollowerLimits, LogFollower
from tequio_client.worker.ledger.last_checkpoint import EVIDENCE_FOLDER
from tequio_client.worker.swarm.dials import NamedHosts, Reach, hosts_named_by
from tequio_shared.keys import Signer
from tequio_shared.log.tiles import BUNDLE_LEVEL, TILE_WIDTH, Tile
from tests.support.attack_table import attack
from tests.support.memory_log import LogServer, MemoryLog, Reply, chain_of, problem, serving

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tequio_client.ledger.http import AddressOf

    Tamper = Callable[[str, str, Reply], Reply]

ENTRIES = 17 * TILE_WIDTH + 5


@cache
def log_by(seed: int) -> MemoryLog:
    """A log of one author's chain, every entry of it signed and valid."""
    log = MemoryLog.founded()
    log.extend(chain_of(Signer(bytes([seed]) * 32), ENTRIES - 1))
    return log


def repeating(server: LogServer) -> Tamper:
    """Serve the entries of an earlier bundle, all of them of this log and signed."""

    def tamper(_method: str, _path: str, reply: Reply) -> Reply:
        early = server.log.tile(Tile(level=BUNDLE_LEVEL, index=0))
        return replace(reply, body=early)

    return tamper


def after(count: int, wrong: Tamper) -> Tamper:
    """Answer honestly first."""
    answers = iter(range(10**9))

    def tamper(method: str, path: str, reply: Reply) -> Reply:
        return wrong(method, path, reply) if next(answers) >= count else reply

    return tamper


def garbage(_method: str, _path: str, reply: Reply) -> Reply:
    return replace(reply, body=Random(1).randbytes(len(reply.body)))


def flood(_method: str, _path: str, reply: Reply) -> Reply:
    return replace(reply, body=reply.body + bytes(32 << 20))


def nothing(_method: str, _path: str, _reply: Reply) -> Reply:
    return problem("gone", "no", 404)


def honest(_method: str, _path: str, reply: Reply) -> Reply:
    return reply


MIRRORS: dict[str, Callable[[LogServer], Tamper]] = {
    "another history, all of it signed": lambda _: honest,
    "entries of another place in the log": repeating,
    "the same after six honest answers": lambda server: after(6, repeating(server)),
    "garbage": lambda _: garbage,
    "32 MiB too much": lambda _: flood,
    "nothing": lambda _: nothing,
}


async def follow(
    url: str, folder: Path, address_of: AddressOf, count: int = ENTRIES
) -> list[bytes]:
    """Read a log from its beginning as a worker does."""
    with trio.fail_after(120):
        async with LedgerApi(url, address_of=address_of) as api:
            network = await api.network()
            limits = FollowerLimits(check_s=0.1)
            async with LogFollower(api, network, folder, limits=limits, rng=Random(1)) as log:
                entries = log.entries()
                return [(await anext(entries))[1].leaf() for _ in range(count)]


@attack("L13", layer="log", ends="the ledger is asked for the file, and no fork is seen")
@pytest.mark.parametrize("name", MIRRORS)
@pytest.mark.trio
async def test_a_hostile_mirror_changes_nothing_that_a_follower_reads(
    tmp_path: Path, name: str
) -> None:
    other = log_by(2 if "another history" in name else 1)
    async with serving(log_by(1)) as ledger, serving(other) as mirror:
        ledger.tiles_url = f"{mirror.url}/log"
        mirror.tamper = MIRRORS[name](mirror)
        found = await follow(ledger.url, tmp_path, hosts_named_by(ledger.url).address_of)
        assert found == log_by(1).leaves
        assert 1 <= len(mirror.requests) <= 8, "it rests soon"
    assert not (tmp_path / EVIDENCE_FOLDER).exists(), "nobody is accused"


@attack("L13", layer="log", ends="waited for once, for five seconds; then the ledger is asked")
@pytest.mark.trio
async def test_a_mirror_that_never_answers_is_waited_for_once(tmp_path: Path) -> None:
    async with serving(log_by(1)) as ledger, serving(log_by(1)) as mirror:
        ledger.tiles_url = f"{mirror.url}/log"
        mirror.pause_s = 600.0
        found = await follow(ledger.url, tmp_path, hosts_named_by(ledger.url).address_of)
        assert found == log_by(1).leaves
        assert len(mirror.requests) == 1


@attack("L13", layer="net", ends="not dialled: a public ledger may name public addresses only")
@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "[::ffff:127.0.0.1]"])
@pytest.mark.trio
async def test_a_ledger_cannot_have_its_readers_connect_to_their_own_network(
    tmp_path: Path, host: str
) -> None:
    async def as_of_a_public_ledger() -> Reach:
        return Reach.PUBLIC

    async with serving(log_by(1)) as ledger, serving(log_by(1)) as victim:
        ledger.tiles_url = f"{victim.url}/log".replace("127.0.0.1", host)
        hosts = NamedHosts(as_of_a_public_ledger)
        assert await follow(ledger.url, tmp_path, hosts.address_of) == log_by(1).leaves
        assert victim.requests == []
