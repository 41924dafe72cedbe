"""Clients with a policy accept no log without its quorum, whichever keys signed it."""

from __future__ import annotations

from dataclasses import replace
from random import Random
from typing import TYPE_CHECKING

import pytest
import trio
from click.testing import CliRunner

from tequio_client.clock import BackOff
from tequio_client.ledger.api import LedgerApi
from tequio_client.ledger.http import ApiLimits
from tequio_client.ledger.networks import read_policy
from tequio_client.verify.audit import AuditOptions, audit
from tequio_client.verify.cli import audit as audit_command
from tequio_client.verify.report import AuditGrade
from tequio_client.verify.source import MirrorFolder
from tequio_client.worker import shutdown
from tequio_client.worker.ledger.follower import FollowerLimits, LogFollower
from tequio_shared.errors import PeerError, UserFacingError
from tequio_shared.keys import Signer
from tequio_shared.log.notes import (
    KeyKind,
    VerifierKey,
    add_lines,
    cosignature_line,
    sign_checkpoint,
)
from tequio_shared.log.policy import NoQuorumError, Policy, UntrustedLogError
from tests.support.memory_log import (
    LOG_SIGNER,
    LogServer,
    MemoryLog,
    Reply,
    chain_of,
    genesis,
    serving,
)

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable
    from pathlib import Path

    from tequio_client.ledger.api import LedgerNetwork


BRISK = ApiLimits(call_s=2.0, idle_s=2.0)
WITNESSES = {name: Signer(name.encode().ljust(32)) for name in ("one", "two", "three")}
ALICE = chain_of(Signer(bytes([1]) * 32), 40)


@pytest.fixture(autouse=True)
def _network(monkeypatch: pytest.MonkeyPatch) -> None:
    """Name a ledger for all commands; none answers there."""
    monkeypatch.setenv("TEQUIO_LEDGER", "http://127.0.0.1:9")


def policy(threshold: int = 2, log: str = genesis().log_key) -> bytes:
    lines = "".join(f"witness {name} {key_of(name).text()}\n" for name in WITNESSES)
    return f"log {log}\n{lines}group g {threshold} one two three\nquorum g\n".encode()


def key_of(name: str) -> VerifierKey:
    return VerifierKey(name=f"{name}.example", kind=KeyKind.COSIGNER, key=WITNESSES[name].key)


def note_of(log: MemoryLog, *cosigners: str) -> bytes:
    tree = log.checkpoint()
    lines = [
        cosignature_line(tree, key_of(name).name, WITNESSES[name], 1_800_000_000)
        for name in cosigners
    ]
    return add_lines(sign_checkpoint(tree, LOG_SIGNER), lines)


def cosigned_by(server: LogServer, *names: str) -> Callable[[str, str, Reply], Reply]:
    """Let these witnesses cosign what the server shows."""

    def tamper(method: str, path: str, reply: Reply) -> Reply:
        if (method, path) != ("GET", "/log/checkpoint"):
            return reply
        return replace(reply, body=note_of(server.log, *names))

    return tamper


def a_log(count: int) -> MemoryLog:
    log = MemoryLog.founded()
    log.extend(ALICE[:count])
    return log


async def read_out(entries: AsyncIterator[object]) -> None:
    """Read until an error comes."""
    async for _ in entries:
        pass


@pytest.mark.trio
async def test_checkpoints_count_under_the_quorum_alone() -> None:
    async with serving(a_log(5)) as server:
        trust = Policy.parse(policy())
        async with LedgerApi(server.url, limits=BRISK, trust=trust) as api:
            for names in ((), ("one",), ("three",)):
                server.tamper = cosigned_by(server, *names)
                with pytest.raises(NoQuorumError, match=r"checkpoint 6 of log\.test/net1 lacks"):
                    await api.checkpoint()
            server.tamper = cosigned_by(server, "one", "three")
            assert (await api.checkpoint()).size == 6


@pytest.mark.trio
async def test_a_log_that_the_policy_does_not_name_is_none() -> None:
    other = VerifierKey(name="log.test/net1", kind=KeyKind.LOG, key=WITNESSES["one"].key)
    async with serving(a_log(5)) as server:
        server.tamper = cosigned_by(server, *WITNESSES)
        trust = Policy.parse(policy(log=other.text()))
        async with LedgerApi(server.url, limits=BRISK, trust=trust) as api:
            with pytest.raises(UntrustedLogError, match="does not name the log"):
                await api.checkpoint()


@pytest.mark.trio
async def test_a_worker_takes_no_entry_without_the_quorum_and_waits_for_a_late_one(
    tmp_path: Path,
) -> None:
    def following(api: LedgerApi, network: LedgerNetwork) -> LogFollower:
        rng, limits = Random(1), FollowerLimits(check_s=0.1, poll_s=0.1, uncovered_s=2.0)
        back_off = BackOff(rng, first_s=0.02)
        return LogFollower(api, network, tmp_path, rng=rng, limits=limits, back_off=back_off)

    async with serving(a_log(5)) as server:
        trust = Policy.parse(policy())
        async with LedgerApi(server.url, limits=BRISK, trust=trust) as api:
            network = await api.network()
            with trio.fail_after(20):
                async with following(api, network) as log:
                    with pytest.raises(NoQuorumError):
                        await anext(log.entries())
                server.tamper = cosigned_by(server, "one", "two")
                async with following(api, network) as log:
                    entries = log.entries()
                    for _ in range(6):
                        await anext(entries)
                    server.tamper = cosigned_by(server, "one")
                    server.log.extend(ALICE[5:9])
                    for _ in range(4):
                        await anext(entries)
                    await trio.sleep(1.0)
                    server.tamper = cosigned_by(server, "one", "three")
                    server.log.extend(ALICE[9:12])
                    for _ in range(3):
                        await anext(entries)
                    server.tamper = cosigned_by(server, "one")
                    server.log.extend(ALICE[12:14])
                    with pytest.raises(PeerError, match="no checkpoint covers entry"):
                        await read_out(entries)


def test_the_end_is_a_sentence() -> None:
    sentence = "checkpoint 5 lacks the quorum; do not trust http://ledger.example"
    with (
        pytest.raises(UserFacingError, match=sentence),
        shutdown.explain_untrusted_log("http://ledger.example"),
    ):
        raise NoQuorumError("checkpoint 5 lacks the quorum")


@pytest.mark.parametrize("names", [("one",), ("one", "two")])
def test_an_audit_of_a_mirror_asks_for_the_quorum_too(
    tmp_path: Path, names: tuple[str, ...]
) -> None:
    log = MemoryLog.founded()
    (tmp_path / "log").mkdir()
    (tmp_path / "genesis").write_bytes(genesis().encode())
    (tmp_path / "log" / "checkpoint").write_bytes(note_of(log, *names))
    report = audit(MirrorFolder(tmp_path), AuditOptions(trust=Policy.parse(policy())))
    refused = [one for one in report.findings if "lacks the quorum" in one.line()]
    assert report.exit_code == 3, "this log has no entries to read either"
    assert [one.grade for one in refused] == ([AuditGrade.MISSING] if len(names) == 1 else [])


def test_a_policy_that_cannot_be_read_is_said_in_a_sentence(tmp_path: Path) -> None:
    assert read_policy(None) is None
    (tmp_path / "sound").write_bytes(policy())
    assert read_policy(tmp_path / "sound") == Policy.parse(policy())
    with pytest.raises(UserFacingError, match="cannot read the policy"):
        read_policy(tmp_path / "absent")
    (tmp_path / "broken").write_bytes(b"quorum nobody\n")
    with pytest.raises(UserFacingError, match="line 1 of the policy: 'nobody' is not defined"):
        read_policy(tmp_path / "broken")
    options = ["--mirror", str(tmp_path), "--trust", str(tmp_path / "broken")]
    done = CliRunner().invoke(audit_command, options)
    assert isinstance(done.exception, UserFacingError)
