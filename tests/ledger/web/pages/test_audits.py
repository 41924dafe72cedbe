"""Audits on the pages: who repeated whose contribution, and what was found."""

from __future__ import annotations

import asyncio
import re
from typing import TYPE_CHECKING

import pytest

from tequio_shared.ids import to_text
from tests.ledger.web.pages.conftest import PageSite
from tests.support.ledgers import VirtualClock, make_settings, opened, running
from tests.support.page_reader import PageReader
from tests.support.sample_ledger import (
    AUDITED_ROUNDS,
    SampleLedger,
    live_audited,
)

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(scope="module")
def audited(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PageSite]:
    """A ledger whose run is audited, and its pages."""
    clock = VirtualClock()
    with opened(make_settings(tmp_path_factory.mktemp("audited")), clock) as ledger:

        async def live() -> SampleLedger:
            async with running(ledger):
                return await live_audited(ledger, clock)

        yield PageSite(asyncio.run(live()), PageReader(ledger))


def round_text(site: PageSite, number: int) -> str:
    return site.pages.get(f"/runs/{to_text(site.shown.rules.run_id)}/rounds/{number}").text


def test_a_round_names_its_auditors_and_what_they_found(audited: PageSite) -> None:
    text = round_text(audited, audited.shown.warned)
    assert "Audits in this round" in text
    assert "Clear, near a limit" in text
    assert "0.195" in text
    assert "It repeated another member's work instead of training." in text


def test_auditors_are_not_counted_as_accepted_contributions(audited: PageSite) -> None:
    text = round_text(audited, audited.shown.warned)
    accepted, committed = re.findall(r"Accepted (\d+) of (\d+) contributions committed", text)[0]
    assert int(accepted) == int(committed) < len(audited.shown.peers[:6])


def test_a_round_names_the_later_audits_of_its_contributions(audited: PageSite) -> None:
    text = round_text(audited, audited.shown.withheld)
    assert "Audits of this round's contributions" in text
    assert "The trainer did not open its contribution to this auditor." in text


def test_the_first_round_has_nothing_to_audit(audited: PageSite) -> None:
    assert "Audits in this round" not in round_text(audited, 1)


def test_a_peer_shows_audits_of_its_work_and_by_it_and_points_that_vest(
    audited: PageSite,
) -> None:
    seen = [audited.pages.get(f"/peers/{to_text(one.key)}").text for one in audited.shown.peers[:6]]
    vesting = "become final after a few more rounds"
    assert all("Vesting" in text and vesting in text for text in seen)
    assert any("Audits of its contributions" in text for text in seen)
    assert any("Audits by this key" in text for text in seen)


def test_a_run_states_how_often_contributions_are_audited(audited: PageSite) -> None:
    text = audited.pages.get(f"/runs/{to_text(audited.shown.rules.run_id)}").text
    assert "other members repeat 100 % of the contributions of newcomers" in text
    assert "under audit now" in text
    assert audited.shown.round.number > AUDITED_ROUNDS


def test_a_run_without_audits_says_so(seen: PageSite) -> None:
    text = seen.pages.get(f"/runs/{to_text(seen.shown.rules.run_id)}").text
    assert "none: nobody repeats contributions of this run" in text
