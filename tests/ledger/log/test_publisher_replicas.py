"""Several processes of one ledger under one policy: one publishes, all of them show it."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import httpx
import pytest

from tequio_ledger.data_folder import DataFolder
from tequio_ledger.signing.client import open_signer
from tequio_shared.log.notes import KeyKind, VerifierKey
from tequio_shared.log.policy import Policy
from tequio_shared.log.tiles import encode_bundle
from tests.support.authors import newcomers
from tests.support.replicas import PATIENCE_S, LedgerReplica, replica_group
from tests.support.witnesses import witnessing

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support.postgres import Cluster

pytestmark = pytest.mark.whole
ORIGIN = "ledger.example/test"


def post_entries(member: LedgerReplica, name: str, count: int) -> None:
    now_ms = time.time_ns() // 1_000_000
    leaves = [one.leaf() for one in newcomers(name, member.net, count, now_ms)]
    answer = httpx.post(f"{member.url}/v1/statements", content=encode_bundle(leaves), timeout=30)
    assert {one["status"] for one in answer.json()["items"]} == {"logged"}


def wait_until_shown(member: LedgerReplica, policy: Policy, size: int) -> None:
    """Wait until it shows `size` entries; any checkpoint without the quorum is an error."""
    deadline_s = time.monotonic() + PATIENCE_S
    while time.monotonic() < deadline_s:
        answer = httpx.get(f"{member.url}/log/checkpoint", timeout=30)
        if answer.status_code == 200 and policy.open(answer.content).checkpoint.size >= size:
            return
        time.sleep(0.05)
    raise AssertionError(f"{size} entries are not shown: {answer.text}")


def test_the_next_one_publishes_when_the_one_that_did_is_killed(
    tmp_path: Path, cluster: Cluster
) -> None:
    first = tmp_path / "member-0"
    first.mkdir(mode=0o700)
    key = VerifierKey(name=ORIGIN, kind=KeyKind.LOG, key=open_signer(DataFolder(first)).key)
    with (
        witnessing(tmp_path / "w", key) as witness,
        replica_group(tmp_path, cluster.database()) as team,
    ):
        path = tmp_path / "policy"
        path.write_text(f"log {key.text()}\n{witness.line('w')}quorum w\n")
        policy = Policy.parse(path.read_bytes())
        options = ("--trust", str(path), "--publish-pause-ms", "0")
        one, other = team.start(None, *options), team.start(None, *options)
        post_entries(one, "by one", 5)
        post_entries(other, "by the other", 5)
        for member in (one, other):
            wait_until_shown(member, policy, 11)
        leader = team.leader()
        rest = other if leader is one else one
        leader.kill()
        assert team.leader() is rest
        post_entries(rest, "after it", 5)
        wait_until_shown(rest, policy, 16)
