"""Two histories under one key, over real HTTP: a holder of the key cannot get both accepted.

Every program is the real one: ledgers, witness, client, monitor, and the process with the key.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import httpx
import pytest

from tequio_client.ledger.http import LogForkedError
from tequio_ledger.data_folder import DataFolder
from tequio_ledger.monitor.alarms import AlarmKind, FoundError
from tequio_ledger.signing.client import RemoteNotary
from tequio_ledger.signing.signer import WouldForkError
from tequio_shared.errors import SignatureInvalidError
from tequio_shared.log import notes
from tequio_shared.log.cosigning import AddCheckpoint
from tequio_shared.log.notes import add_lines, cosignature_line, sign_checkpoint
from tequio_shared.log.policy import NoQuorumError, Policy
from tests.support.attack_table import attack
from tests.support.attackers_split import (
    begun,
    checkpoint_by_client,
    forged_tree,
    other_history,
    read_by_client,
    stop,
    watching,
)
from tests.support.cosigned_ledger import (
    ORIGIN,
    WitnessGroup,
    cosigned,
    published_checkpoint,
    register_keys,
    send_keys,
    wait_for_status,
    wait_until_published,
)
from tests.support.ledgers import UNLIMITED, served
from tests.support.signers import signing

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def ring(tmp_path: Path) -> Iterator[WitnessGroup]:
    with WitnessGroup(tmp_path, 1) as started:
        yield started


@attack("L3", layer="log", ends="not cosigned: clients with a policy refuse it")
def test_a_split_view_convinces_neither_witness_nor_client_nor_monitor(
    ring: WitnessGroup, tmp_path: Path
) -> None:
    policy = ring.policy("all")
    with begun(ring, policy) as (ledger, copy):
        register_keys(ledger, "one history", 5)
        wait_until_published(ledger, policy, 11)
        read_by_client(ledger.url, tmp_path, policy, 11)
        with watching(ledger.url, tmp_path / "m", tmp_path / "alarms") as watch:
            watch.check()
        with other_history(copy, 7) as other:
            with pytest.raises(NoQuorumError):
                checkpoint_by_client(other.url, policy)
            with pytest.raises(LogForkedError):
                read_by_client(other.url, tmp_path, None, 13)
            with (
                watching(other.url, tmp_path / "m", tmp_path / "alarms") as watch,
                pytest.raises(FoundError) as caught,
            ):
                watch.check()
            assert caught.value.alarm.kind is AlarmKind.FORK
            shown_note = httpx.get(f"{other.url}/log/checkpoint", timeout=30).content
            fork = AddCheckpoint(old_size=11, proof=(), note=shown_note)
            assert ring.witnesses[0].add(fork).status_code == 422
            health = httpx.get(f"{other.url}/healthz", timeout=30).json()
            assert health["status"] == "lost", "the client has shown it what it lacks"


@attack("L2", layer="log", ends="its witness saw more: it signs nothing from the start on")
def test_a_rollback_is_refused_by_the_ledger_itself_when_it_has_witnesses(
    ring: WitnessGroup, tmp_path: Path
) -> None:
    policy = ring.policy("all")
    with begun(ring, policy) as (ledger, copy):
        register_keys(ledger, "later", 5)
        wait_until_published(ledger, policy, 11)
        read_by_client(ledger.url, tmp_path, policy, 11)
        stop(ledger)
    with served(copy, *UNLIMITED, "--trust", str(policy)) as rolled_back:
        health = httpx.get(f"{rolled_back.url}/healthz", timeout=30).json()
        assert health["status"] == "lost"
        with pytest.raises(LogForkedError):
            read_by_client(rolled_back.url, tmp_path, policy, 6)


@attack("L4", layer="log", ends="one of them is published, the other one's entries never are")
def test_of_two_sequencers_on_two_disks_one_is_published(ring: WitnessGroup) -> None:
    policy = ring.policy("all")
    with begun(ring, policy) as (one, copy):
        options = ("--trust", str(policy), "--publish-pause-ms", "0")
        with served(copy, *UNLIMITED, *options) as two:
            register_keys(one, "of one", 4)
            first = wait_until_published(one, policy, 10)
            send_keys(two, "of two", 9)  # refused if its witnesses have shown it the other's log
            wait_for_status(two, "lost")
            register_keys(one, "of one again", 9)
            wait_until_published(one, policy, 19)
            old = published_checkpoint(two, policy)
            assert old is not None
            assert (old.size, first.size) == (6, 10)


@attack("L9", layer="log", ends="the thief can sign anything, and nobody accepts it")
def test_a_stolen_log_key_without_the_last_size_convinces_nobody(
    ring: WitnessGroup, tmp_path: Path
) -> None:
    policy = ring.policy("all")
    with cosigned(ring, policy) as ledger:
        register_keys(ledger, "honest", 9)
        wait_until_published(ledger, policy, 10)
        read_by_client(ledger.url, tmp_path, policy, 10)
        stolen = DataFolder(ring.ledger).signer("log")
        trust = Policy.parse(policy.read_bytes())
        for size in (4, 10, 50):
            checkpoint, _ = forged_tree(ORIGIN, size)
            note = sign_checkpoint(checkpoint, stolen)
            with pytest.raises(NoQuorumError):
                trust.open(note)
            itself = cosignature_line(checkpoint, ring.witnesses[0].key.name, stolen, 1_800_000_000)
            with pytest.raises(NoQuorumError):
                trust.open(add_lines(note, [itself]))
            lifted = httpx.get(f"{ledger.url}/log/checkpoint", timeout=30).text.splitlines()[-1]
            with pytest.raises(SignatureInvalidError):
                trust.open(add_lines(note, [lifted + "\n"]))
            for old in (0, 10):
                answer = ring.witnesses[0].add(AddCheckpoint(old_size=old, proof=(), note=note))
                assert answer.status_code in (400, 409, 422)
        held = ring.witnesses[0].held(ORIGIN).content
        assert notes.open_checkpoint(held, ring.log_key).checkpoint.size == 10


@attack("L9", layer="log", ends="the process with the key signs no smaller size and no other root")
def test_who_has_the_ledgers_machine_but_not_the_signers_gets_no_second_history(
    tmp_path: Path,
) -> None:
    with signing(tmp_path / "signer", ORIGIN) as socket:
        with served(tmp_path / "ledger", *UNLIMITED, "--signer", str(socket)) as ledger:
            register_keys(ledger, "honest", 9)
            stop(ledger)
        thief = RemoteNotary(socket)
        for size in (3, 10, 40):
            checkpoint, hashes = forged_tree(ORIGIN, size)
            with pytest.raises(WouldForkError):
                thief.sign(checkpoint, lambda old, known=hashes: known[:old])  # type: ignore[misc]
        with served(tmp_path / "ledger", *UNLIMITED, "--signer", str(socket)) as ledger:
            assert register_keys(ledger, "and on", 1) == [10]
