"""Organisers say in a real ledger's log where a head was published."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import msgspec
import pytest
import trio

from tequio_client.checkpoint import publish
from tequio_client.checkpoint.layout import HeadClaim, PublishedRevision
from tequio_client.ledger.api import LedgerApi
from tequio_client.ledger.proofs import read_entries
from tequio_client.verify.audit import AuditOptions, audit
from tequio_shared.errors import UserFacingError, first_error
from tequio_shared.ids import to_text
from tequio_shared.keys import Signer
from tequio_shared.statements.network import CheckpointPublish
from tests.client.verify.logs import SwarmLog
from tests.support.equivocators import key_folder
from tests.support.ledger_with_history import live_yesterday
from tests.support.ledgers import ORGANISER, UNLIMITED, served
from tests.support.llama_swarm import play, publication
from tests.support.llama_swarm import publish as publish_in
from tests.support.volunteers import StatementDraft

if TYPE_CHECKING:
    from pathlib import Path

    from tequio_ledger.ledger import Ledger
    from tequio_shared.statements.statement import Entry
    from tests.support.ledgers import Served


DONE = PublishedRevision(location="ana/maize", revision="0c" * 20, tag="round-1", is_new=True)
OTHER = replace(DONE, revision="1d" * 20)


def test_an_audit_takes_a_true_publication_and_names_a_false_one() -> None:
    run = play()
    publish_in(run, 1, publication(run, 1))
    log = SwarmLog(run.swarm)
    assert audit(log, AuditOptions()).findings == []
    false = msgspec.structs.replace(publication(run, 1), head=to_text(bytes(32)))
    entry = run.swarm.sign(run.swarm.organiser, StatementDraft(false, 1), run.manifest.run_id)
    log.leaves.append(entry.leaf())
    log.sign()
    (finding,) = audit(log, AuditOptions()).findings
    assert finding.what == "checkpoint.publish statement"
    assert "round 1 has another head" in finding.detail


def test_organisers_alone_log_where_a_certified_head_is(tmp_path: Path) -> None:
    claims: list[HeadClaim] = []

    def remember(ledger: Ledger) -> None:
        for run, view in ledger.state.runs.items():
            for head in view.heads.values():
                claims.append(  # noqa: PERF401 - reads as it happens
                    HeadClaim(
                        network=to_text(ledger.state.net),
                        run=to_text(run),
                        round=head.round,
                        head=to_text(head.hash),
                        weights_root=to_text(head.weights_root),
                        entry=0,
                    )
                )

    live_yesterday(tmp_path / "ledger", remember)
    assert len(claims) > 1
    organiser = key_folder(tmp_path / "organiser", ORGANISER)
    stranger = key_folder(tmp_path / "stranger", Signer(bytes([9]) * 32))
    with served(tmp_path / "ledger", *UNLIMITED) as ledger:
        index = publish.log_publication(ledger.url, claims[-1], DONE, [organiser])
        assert publish.log_publication(ledger.url, claims[0], DONE, [organiser]) == index + 1
        for claim, logged in ((claims[-1], index), (claims[0], index + 1)):
            assert publish.log_publication(ledger.url, claim, DONE, [organiser]) == logged
        entry = trio.run(_entry, ledger, index)
        with pytest.raises((UserFacingError, BaseExceptionGroup)) as caught:
            publish.log_publication(ledger.url, claims[-1], DONE, [stranger])
        assert "is not an organiser" in str(first_error(caught.value))
        with pytest.raises(publish.WrongHeadError, match="has another head"):
            publish.log_publication(ledger.url, _other(claims[-1]), OTHER, [organiser])
    statement = entry.statement
    assert (to_text(statement.run or b""), statement.round) == (claims[-1].run, claims[-1].round)
    assert statement.body == CheckpointPublish(
        head=claims[-1].head,
        weights_root=claims[-1].weights_root,
        location=DONE.location,
        revision=DONE.revision,
    )


def _other(claim: HeadClaim) -> HeadClaim:
    """The same round with a head that nobody certified."""
    return HeadClaim(
        network=claim.network,
        run=claim.run,
        round=claim.round,
        head=to_text(bytes(32)),
        weights_root=claim.weights_root,
        entry=0,
    )


async def _entry(ledger: Served, index: int) -> Entry:
    async with LedgerApi(ledger.url) as api:
        network = await api.network()
        return (await read_entries(api, network, [index]))[index]
