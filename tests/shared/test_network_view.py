"""The one fold of a network: an entry follows whole or not at all, and a reader may go on."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING

import pytest

from tequio_client.verify.fold import Fold
from tequio_client.verify.report import LogReport
from tequio_shared.errors import RefusedError
from tequio_shared.limits import CLOCK_SKEW_MS
from tequio_shared.network_view import NetworkView
from tequio_shared.statements.network import MemberName, MemberTeam
from tests.client.verify.logs import SwarmLog
from tests.support.authors import LIFE_MS, Author, registration
from tests.support.memory_swarm import Swarm
from tests.support.tiny_run import tiny_manifest
from tests.support.volunteers import StatementDraft

if TYPE_CHECKING:
    from tequio_shared.statements.statement import Entry


def played() -> Swarm:
    swarm = Swarm(manifest=tiny_manifest(most=2), seed=5)
    for name in ("ana", "bo", "cleo"):
        swarm.volunteer(name)
    swarm.run()
    return swarm


def view_of(swarm: Swarm) -> NetworkView:
    return NetworkView(swarm.genesis, swarm.blobs.__getitem__)


def parts(view: NetworkView) -> tuple[object, ...]:
    return view.peers, view.standings, view.tiers, view.runs, view.competitions


def after_the_genesis() -> tuple[NetworkView, Author, int]:
    """A view of one entry, somebody who is registered next, and the time."""
    swarm = Swarm()
    view, now_ms = view_of(swarm), swarm.now_ms
    view.apply(0, swarm.entries[0], 0)
    author = Author("ana", swarm.net)
    view.apply(1, author.register(now_ms), 0)
    return view, author, now_ms


def test_an_entry_that_is_refused_changes_nothing() -> None:
    swarm, refused = played(), set()
    view = view_of(swarm)
    for index, entry in enumerate(swarm.entries):
        view.apply(index, entry, 0)
        again = copy.deepcopy(view)
        before = copy.deepcopy(parts(again))
        with pytest.raises(RefusedError):
            again.apply(index + 1, entry, 0)
        assert parts(again) == before
        try:
            again.apply_checked(index + 1, entry, 0)  # as if its author's chain allowed it
        except RefusedError:
            assert parts(again) == before, entry.statement.type
            refused.add(entry.statement.type)
    assert refused >= {"key.register", "run.open", "head.attest", "work.commit", "witness.proof"}
    assert refused >= {"round.roster", "round.open", "round.witness", "round.close", "run.close"}


def test_what_is_passed_over_ends_its_authors_chain() -> None:
    view, author, now_ms = after_the_genesis()
    wrong = author.sign(MemberTeam(team=0), now_ms)
    with pytest.raises(RefusedError, match="in no team"):
        view.apply(2, wrong, 0)
    right = author.bind_recovery(0, now_ms)
    with pytest.raises(RefusedError, match="prev"):
        view.apply(2, right, 0)
    view.skip_statement(2, wrong.statement)
    view.apply(3, right, 0)
    assert author.key in view.links.recovery
    assert view.peers[author.key].registered_index == 1


def test_a_key_whose_registration_is_passed_over_is_known() -> None:
    swarm = Swarm()
    view, author = view_of(swarm), Author("late", swarm.net)
    work_of_another_key = registration(swarm.net, Author("another", swarm.net).key)
    entry = author.sign(work_of_another_key, swarm.now_ms)
    view.skip_statement(1, entry.statement)
    view.apply(2, author.bind_recovery(0, swarm.now_ms), 0)


def test_what_expired_before_the_coordinators_last_statement_is_refused() -> None:
    view, author, now_ms = after_the_genesis()
    late = author.bind_recovery(0, now_ms - LIFE_MS - CLOCK_SKEW_MS - 1)
    with pytest.raises(RefusedError, match="before it was logged") as caught:
        view.apply(2, late, 0)
    assert caught.value.code == "expired"


def test_the_genesis_is_the_first_entry_and_no_other() -> None:
    swarm = Swarm()
    first = swarm.entries[0]
    for index, entry in ((1, first), (0, Author("ana", swarm.net).register(swarm.now_ms))):
        with pytest.raises(RefusedError) as caught:
            view_of(swarm).apply(index, entry, 0)
        assert caught.value.code == "wrong-network"


def test_an_auditor_reports_a_name_that_changes_nothing_and_reads_on() -> None:
    swarm = played()
    ana = swarm.volunteers[0]
    entries: list[Entry] = []
    for name in ("oaxaca", "oaxaca", "puebla"):
        entries.append(
            ana.sign(swarm.net, None, StatementDraft(MemberName(name=name)), swarm.now_ms)
        )
        ana.record_logged(entries[-1])
    swarm.entries += entries
    report = LogReport()
    fold = Fold(swarm.genesis, SwarmLog(swarm), report)
    for index, leaf in enumerate(swarm.leaves()):
        fold.apply(index, leaf)
    (finding,) = report.findings
    assert finding.what == "member.name statement"
    assert finding.place.entry == len(swarm.entries) - 2
    assert "already-said" in finding.detail
    assert fold.view.names.of(ana.key) == "puebla"
