"""The first head of a run that continues another has to be a head of that run."""

from __future__ import annotations

import msgspec
import pytest

from tequio_client.verify.audit import AuditOptions, audit
from tequio_client.verify.report import AuditGrade, LogReport
from tequio_shared.ids import Digest, from_text, sha256, to_text
from tequio_shared.network.run import first_head
from tequio_shared.round.manifest import ParentHead
from tequio_shared.statements.runs import HeadPromote, RoundClose, RunOpen
from tequio_shared.statements.statement import Body
from tests.client.verify.logs import SwarmLog
from tests.support.llama_swarm import ROUNDS, played
from tests.support.volunteers import StatementDraft


def continued(
    *,
    weights_root: Digest | None = None,
    at: int | None = None,
    lacking: str | None = None,
    **changes: object,
) -> LogReport:
    """Audit a log in which a run starts from the last head of another, with `changes`.

    It starts at that log index, else at the end; the log lacks the document `lacking`.
    """
    swarm, played_run = played().swarm, played().manifest
    head = swarm.view.heads[ROUNDS]
    due = ParentHead(
        network=to_text(swarm.genesis.network_id),
        run=to_text(played_run.run_id),
        round=head.round,
        head=to_text(head.hash),
    )
    root = to_text(weights_root or head.weights_root)
    manifest = msgspec.structs.replace(
        played_run,
        name="later",
        model=msgspec.structs.replace(played_run.model, weights_root=root),
        parent=msgspec.structs.replace(due, **changes),
    )
    log = SwarmLog(swarm)
    log.blobs[sha256(manifest.encode())] = manifest.encode()
    body = RunOpen(manifest=to_text(manifest.run_id), head=to_text(first_head(manifest).hash))
    entry = swarm.sign(swarm.organiser, StatementDraft(body), manifest.run_id)
    log.leaves.insert(len(log.leaves) if at is None else at, entry.leaf())
    if lacking is not None:
        del log.blobs[Digest(from_text(lacking))]
    log.sign()
    return audit(log, AuditOptions())


def test_a_head_of_the_other_run_is_counted() -> None:
    report = continued()
    assert [one.line() for one in report.findings] == []
    assert report.checked["first heads from other runs"] == 1


@pytest.mark.parametrize(
    "changes",
    [
        {"round": ROUNDS - 1},
        {"head": to_text(sha256(b"another head"))},
        {"run": to_text(sha256(b"another run"))},
        {"weights_root": sha256(b"other weights")},
    ],
    ids=["round", "head", "run", "weights"],
)
def test_anything_else_is_found(changes: dict[str, object]) -> None:
    report = continued(**changes)  # type: ignore[arg-type]  # of both kinds
    assert report.exit_code == 2
    (found,) = report.findings
    assert found.what == "first head, head"
    assert "had promoted no such head" in found.line()
    assert found.place.entry == len(played().swarm.entries)


def index_of_last(kind: type[Body]) -> int:
    entries = played().swarm.entries
    return max(at for at, one in enumerate(entries) if isinstance(one.statement.body, kind))


def test_a_head_that_is_promoted_only_later_is_none_to_start_from() -> None:
    report = continued(at=index_of_last(HeadPromote))
    assert [one.what for one in report.findings] == ["first head, head"]


def test_a_start_from_a_run_that_cannot_be_followed_is_doubted() -> None:
    closed = played().swarm.entries[index_of_last(RoundClose)].statement.body
    assert isinstance(closed, RoundClose)
    report = continued(lacking=closed.result)
    assert report.exit_code == 3
    (found,) = (one for one in report.findings if one.what.startswith("first head"))
    assert found.grade is AuditGrade.MISSING


def test_nothing_is_said_about_a_run_of_another_network() -> None:
    report = continued(network=to_text(sha256(b"another network")))
    assert report.exit_code == 0
    assert "first heads from other runs" not in report.checked
