"""The pages of a run and of the run that continues it link each other."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import msgspec

from tequio_shared.ids import sha256, to_text
from tequio_shared.round.manifest import ParentHead
from tests.support.ledgers import VirtualClock, make_settings, opened, running
from tests.support.page_reader import PageReader
from tests.support.sample_ledger import live_back

if TYPE_CHECKING:
    from pathlib import Path

    from tequio_ledger.ledger import Ledger
    from tequio_shared.ids import RunId


async def fork(ledger: Ledger, clock: VirtualClock) -> tuple[RunId, RunId, RunId]:
    """Open two more runs: from round 8 of the first, and from a run of another network."""
    async with running(ledger):
        shown = await live_back(ledger, clock)
        first = shown.rules
        head = ledger.state.run(first.run_id).heads[8]
        parent = ParentHead(
            network=to_text(ledger.genesis.network_id),
            run=to_text(first.run_id),
            round=8,
            head=to_text(head.hash),
        )
        other = msgspec.structs.replace(
            parent, network=to_text(sha256(b"other")), run=to_text(sha256(b"run")), round=40
        )
        later = msgspec.structs.replace(first, name="later", parent=parent)
        foreign = msgspec.structs.replace(first, name="foreign", parent=other)
        for rules in (later, foreign):
            ledger.blobs.put(rules.encode())
            await shown.post([shown.organiser.open(rules, clock())])
    return first.run_id, later.run_id, foreign.run_id


def test_they_link_each_other(tmp_path: Path) -> None:
    clock = VirtualClock()
    with opened(make_settings(tmp_path), clock) as ledger:
        first, later, foreign = asyncio.run(fork(ledger, clock))
    with opened(make_settings(tmp_path), clock) as ledger:  # all follows from the log
        pages = PageReader(ledger)
        continued, continues, of_another = (
            pages.get(f"/runs/{to_text(run)}") for run in (first, later, foreign)
        )
        assert "Continued by later from round 8" in continued.text
        assert f"/runs/{to_text(later)}" in continued.links()
        assert "Continues nova-350m from round 8" in continues.text
        assert {f"/runs/{to_text(first)}", f"/runs/{to_text(first)}/rounds/8"} <= {
            *continues.links()
        }
        assert "Continued by" not in continues.text
        unknown = to_text(sha256(b"run"))
        assert f"Continues a run of another network, {unknown}, from round 40" in of_another.text
        assert f"/runs/{unknown}" not in of_another.links()
