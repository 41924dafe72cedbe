"""Competitions by the ledger's word: listed, shown and linked, from the real program."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
import pytest
import trio
from click.testing import CliRunner

from tequio_client import clock
from tequio_client.__main__ import cli
from tequio_client.links import CompetitionLink
from tequio_shared.api.answer import ROWS
from tequio_shared.errors import UserFacingError
from tests.support import memory_log
from tests.support.dishonest_log import DishonestLog
from tests.support.ledgers import make_settings, served
from tests.support.sample_competitions import fill

if TYPE_CHECKING:
    from collections.abc import Iterator

ROUNDS = {"nova-350m": 5, "comet-350m": 3}
DECIDED = "Prose 2026 decided"


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("ledger")
    fill(make_settings(folder), clock.now_ms(), ROUNDS)  # a few are enough here
    with served(folder) as program:
        yield program.url


def said(url: str, *words: str) -> str:
    found = CliRunner(env={"COLUMNS": "200"}).invoke(cli, ["competition", *words, "--ledger", url])
    if found.exception is not None:
        raise found.exception
    return found.output


def test_the_list_says_whose_word_it_is(url: str) -> None:
    lines = said(url, "list")
    assert "As reported by the ledger. Use --verify to read" in lines
    assert "Prose 2026 open" in lines
    assert "deadline " in lines, "its next date"


def test_a_decided_competition_is_shown_with_its_scores(url: str) -> None:
    lines = said(url, "show", DECIDED)
    assert "state: decided" in lines
    assert "Evaluators" in lines
    assert "bits/byte" in lines
    assert "result: " in lines
    assert lines.count("drawn") >= 3
    assert "As reported by the ledger" in lines


def test_its_link_names_it_at_this_ledger(url: str) -> None:
    link = CompetitionLink.parse(said(url, "show", DECIDED, "--link"))
    assert link.ledger == url
    again = said(url, "show", CompetitionLink.parse(link.text()).text().partition("id=")[2][:8])
    assert "state: decided" in again


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("show", "Prose 1926"), "no competition 'Prose 1926'; known competitions: "),
        (("show",), "name the competition; known competitions: "),
    ],
)
def test_a_competition_that_is_not_there_is_told_with_those_that_are(
    url: str, words: tuple[str, ...], told: str
) -> None:
    with pytest.raises(UserFacingError) as error:
        said(url, *words)
    assert told in str(error.value)
    assert DECIDED in str(error.value)


def test_a_link_needs_no_log(url: str) -> None:
    found = CliRunner().invoke(cli, ["competition", "show", "--link", "--verify", "--ledger", url])
    assert found.exit_code == 2
    assert "leave --verify out" in found.output


def test_the_list_from_the_log_names_all_competitions_however_many() -> None:
    log = DishonestLog()
    rules = log.rules
    for number in range(ROWS + 1):
        log.rules = msgspec.structs.replace(rules, name=f"Prose {number}.")
        log.put(log.rules.encode())
        log.open()

    async def listed() -> str:
        async with memory_log.serving(log.log) as ledger:
            ledger.blobs = log.blobs
            return await trio.to_thread.run_sync(said, ledger.url, "list", "--verify")

    lines = trio.run(listed)
    assert [number for number in range(ROWS + 1) if f"Prose {number}. " not in lines] == []
