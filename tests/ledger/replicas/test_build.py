"""Several processes serve one ledger: what the death of the one that writes costs, and what not."""

from __future__ import annotations

import time
from contextlib import suppress
from typing import TYPE_CHECKING

import httpx
import pytest

from tequio_client.clock import now_ms
from tequio_ledger.data_folder import DataFolder
from tequio_shared.ids import ZERO_DIGEST, to_text
from tequio_shared.log.notes import Checkpoint, sign_checkpoint
from tequio_shared.log.tiles import encode_bundle
from tequio_shared.network.run import first_head
from tequio_shared.statements.runs import RunOpen
from tests.support import loopback_link, postgres
from tests.support.authors import Author, newcomers
from tests.support.ledgers import ORGANISER
from tests.support.observed_log import Ingest, ObservedLog
from tests.support.replicas import LedgerReplica, ReplicaGroup, replica_group
from tests.support.signing_swarm import manifest
from tests.support.timing_slack import allowed_s
from tests.support.uploads import put_blob

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.support.postgres import Cluster

pytestmark = pytest.mark.whole
TAKE_OVER_S = 5.0
"""Promised, and measured by `bench/takeover.py`."""
KILLS = 5
MANY_KILLS = 50


@pytest.fixture
def database(cluster: Cluster) -> str:
    return cluster.database()


@pytest.fixture
def team(tmp_path: Path, database: str) -> Iterator[ReplicaGroup]:
    with replica_group(tmp_path, database) as team:
        yield team


def check_everybody(team: ReplicaGroup, seen: ObservedLog) -> None:
    """Every process shows the one log in which all that was acknowledged is."""
    running = [one for one in team.members if one.is_running]
    largest = max(one.size() for one in running)
    for member in running:
        member.wait_until(largest)
        with httpx.Client(base_url=member.url, timeout=30) as http:
            seen.check(http)


def wait_for_take_over(follower: LedgerReplica, seen: ObservedLog) -> None:
    """Wait until the follower writes the log and something is acknowledged by it."""
    begun_s = time.monotonic()
    follower.wait_for("writes the log")
    seen.wait_for_answer()
    assert time.monotonic() - begun_s < allowed_s(TAKE_OVER_S)


def test_a_follower_takes_statements_and_shows_the_same_log(team: ReplicaGroup) -> None:
    leader, follower = team.start(), team.start()
    assert team.leader() is leader
    follower.wait_for("follows the log")
    author = Author("who comes to the follower", leader.net)
    entry = author.register(now_ms())
    with httpx.Client(base_url=follower.url, timeout=10) as http:
        answers = [
            http.post("/v1/statements", content=encode_bundle([entry.leaf()])) for _ in range(2)
        ]
        said = [answer.json()["items"][0] for answer in answers]
        assert [item["status"] for item in said] == ["logged", "known"]
        assert said[0]["index"] == said[1]["index"] == 1
        forged = bytearray(author.register(now_ms()).leaf())
        forged[-1] ^= 1
        refused = http.post("/v1/statements", content=encode_bundle([bytes(forged)])).json()[
            "items"
        ][0]
        assert refused["status"] == "refused"
        follower.wait_until(2)
        row = http.get(f"/v1/peers/{to_text(author.key)}").json()
        assert (row["last_seq"], row["as_of"]["size"]) == (1, 2)
    for path in ("/log/checkpoint", "/log/tile/0/000.p/2", "/log/tile/entries/000.p/2"):
        assert httpx.get(leader.url + path).content == httpx.get(follower.url + path).content


def test_a_run_is_opened_at_a_follower_with_a_manifest_that_was_put_there(
    team: ReplicaGroup,
) -> None:
    leader, follower = team.start(), team.start()
    rules = manifest(warmup=0)
    with httpx.Client(base_url=follower.url, timeout=10) as http:
        put = put_blob(http, leader.net, rules.encode(), now_ms())
        assert put.status_code == httpx.codes.CREATED
        organiser = Author("organiser", leader.net)
        organiser.signer = ORGANISER
        opening = RunOpen(manifest=to_text(rules.run_id), head=to_text(first_head(rules).hash))
        entry = organiser.sign(opening, now_ms(), run=rules.run_id)
        items = http.post("/v1/statements", content=encode_bundle([entry.leaf()])).json()["items"]
        assert [item["status"] for item in items] == ["logged"], items
    for member in (leader, follower):
        member.wait_until(2)
        found = httpx.get(f"{member.url}/v1/runs/{to_text(rules.run_id)}").json()
        assert found["run"] == to_text(rules.run_id)
        blob = httpx.get(f"{member.url}/v1/blobs/{to_text(rules.run_id)}")
        assert blob.content == rules.encode()


def test_after_the_death_of_the_leader_a_follower_takes_statements(
    team: ReplicaGroup,
) -> None:
    leader, follower = team.start(), team.start()
    seen = ObservedLog()
    with Ingest([leader.url, follower.url], leader.net, seen, "kill"):
        seen.wait_for_answer()
        leader.kill()
        wait_for_take_over(follower, seen)
    assert len(seen.acknowledged) > 1
    check_everybody(team, seen)


def test_a_frozen_leader_is_fenced_and_finds_out(team: ReplicaGroup) -> None:
    leader, follower = team.start(), team.start()
    seen = ObservedLog()
    with Ingest([leader.url, follower.url], leader.net, seen, "freeze"):
        seen.wait_for_answer()
        leader.freeze()
        wait_for_take_over(follower, seen)
        leader.thaw()
        leader.wait_for("writes the log no longer")
        leader.wait_for("follows the log")
        seen.wait_for_answer()
    check_everybody(team, seen)
    with httpx.Client(base_url=leader.url, timeout=10) as http:  # it takes statements again
        (entry,) = newcomers("after the frost", leader.net, 1, now_ms())
        items = http.post("/v1/statements", content=encode_bundle([entry.leaf()])).json()["items"]
        assert [item["status"] for item in items] == ["logged"]


def test_a_leader_that_is_cut_off_is_replaced_and_comes_back(
    team: ReplicaGroup, cluster: Cluster, database: str
) -> None:
    with loopback_link.opened(cluster.port) as line:
        name = database.rpartition("/")[2]
        leader, follower = team.start(postgres.url(line.port, name)), team.start()
        assert team.leader() is leader
        seen = ObservedLog()
        with Ingest([leader.url, follower.url], leader.net, seen, "cut"):
            seen.wait_for_answer()
            line.cut()
            wait_for_take_over(follower, seen)
            leader.wait_for("writes the log no longer")
            line.mend()
            leader.wait_for("follows the log")
        check_everybody(team, seen)


def test_who_is_shown_a_lost_checkpoint_stops_all(team: ReplicaGroup) -> None:
    leader, follower = team.start(), team.start()
    origin = httpx.get(f"{leader.url}/v1/network").json()["origin"]
    signer = DataFolder(leader.folder).signer("log")
    lost = sign_checkpoint(Checkpoint(origin=origin, size=99, root=ZERO_DIGEST), signer)
    follower.wait_for("follows the log")
    with suppress(httpx.HTTPStatusError):
        httpx.post(f"{follower.url}/log/checkpoint", content=lost)
    for member in (leader, follower):
        deadline_s = time.monotonic() + 10
        while httpx.get(f"{member.url}/healthz").json()["status"] != "lost":
            assert time.monotonic() < deadline_s
            time.sleep(0.05)
        (entry,) = newcomers("too late", leader.net, 1, now_ms())
        answer = httpx.post(f"{member.url}/v1/statements", content=encode_bundle([entry.leaf()]))
        assert answer.status_code == httpx.codes.SERVICE_UNAVAILABLE
    assert leader.size() == 1


def kill_again_and_again(team: ReplicaGroup, kills: int) -> None:
    """Kill the leader `kills` times and restart it, while a client posts to all members."""
    seen = ObservedLog()
    first = team.start()
    running: list[LedgerReplica] = [first, team.start()]
    with Ingest([one.url for one in running], first.net, seen, "kills") as ingest:
        for _ in range(kills):
            seen.wait_for_answer()
            leader = team.leader()
            leader.kill()
            seen.wait_for_answer(allowed_s(TAKE_OVER_S))
            running[running.index(leader)] = team.restart(leader)
            ingest.urls = [one.url for one in running]
    assert len(seen.acknowledged) > kills
    check_everybody(team, seen)


def test_a_few_kills_of_the_leader_lose_nothing_and_fork_nothing(team: ReplicaGroup) -> None:
    kill_again_and_again(team, KILLS)


@pytest.mark.slow
def test_fifty_kills_of_the_leader_lose_nothing_and_fork_nothing(team: ReplicaGroup) -> None:
    kill_again_and_again(team, MANY_KILLS)


def test_a_database_that_is_away_for_a_while_is_waited_for(
    team: ReplicaGroup, cluster: Cluster, database: str
) -> None:
    leader, follower = team.start(), team.start()
    follower.wait_for("follows the log")
    name = database.rpartition("/")[2]
    sessions = f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{name}'"  # noqa: S608 - our own
    cluster.sql(f"ALTER DATABASE {name} ALLOW_CONNECTIONS false")
    cluster.sql(sessions)
    leader.wait_for("writes the log no longer")
    entries = newcomers("who comes back", leader.net, 1, now_ms())
    body = encode_bundle([one.leaf() for one in entries])
    for member in (leader, follower):
        assert httpx.get(f"{member.url}/log/checkpoint").is_success, "what is at hand is served"
        for answer in (
            httpx.get(f"{member.url}/v1/peers"),
            httpx.post(f"{member.url}/v1/statements", content=body, timeout=30),
        ):
            assert answer.status_code == httpx.codes.SERVICE_UNAVAILABLE, answer.text
    cluster.sql(f"ALTER DATABASE {name} ALLOW_CONNECTIONS true")
    for member in (leader, follower):
        deadline_s = time.monotonic() + 30
        while True:
            answer = httpx.post(f"{member.url}/v1/statements", content=body, timeout=30)
            if answer.is_success:
                break
            assert time.monotonic() < deadline_s, answer.text
            time.sleep(0.1)
        assert answer.json()["items"][0]["index"] == 1
