"""`tequio run rollback`: what it explains and refuses; nothing is signed without consent."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import httpx
import msgspec
import pytest
import trio
from click.testing import CliRunner, Result

from tequio_client.__main__ import cli
from tequio_client.ledger.api import LedgerApi
from tequio_client.ledger.runs import find_promotion
from tequio_ledger.web.pages.render import FRESH_S
from tequio_shared.errors import UserFacingError
from tests.support.equivocators import key_folder
from tests.support.ledgers import ORGANISER, make_settings, served
from tests.support.sample_ledger import fill_back

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.support.ledgers import Served

NAME = "nova-350m"


@pytest.fixture(scope="module")
def ledger(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A ledger whose run is paused after round 22, at the head of round 19."""
    folder = tmp_path_factory.mktemp("ledger")
    fill_back(make_settings(folder), time.time_ns() // 1_000_000 - 30_000)
    with served(folder) as running:
        yield running


@pytest.fixture
def organiser(tmp_path: Path) -> Path:
    return key_folder(tmp_path / "organiser", ORGANISER)


def rolled_back(ledger: Served, organiser: Path, *words: str, says: str = "") -> Result:
    where = ("--ledger", ledger.url, "--dir", str(organiser))
    return CliRunner().invoke(cli, ("run", "rollback", NAME, *words, *where), input=says)


def refusal(ledger: Served, organiser: Path, *words: str) -> str:
    error: BaseException | None = rolled_back(ledger, organiser, *words, "--yes").exception
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    assert isinstance(error, UserFacingError)
    return str(error)


def test_a_head_that_nobody_promoted_and_the_present_one_are_refused(
    ledger: Served, organiser: Path
) -> None:
    for number in ("22", "12", "99"):
        assert f"no head of round {number}" in refusal(ledger, organiser, "--round", number)
    assert "at the head of round 19 already" in refusal(ledger, organiser, "--round", "19")


def test_a_run_without_a_certified_head_is_said_to_have_none(ledger: Served) -> None:
    async def find() -> None:
        async with LedgerApi(ledger.url) as api:
            (run,) = await api.runs()
            await find_promotion(api, msgspec.structs.replace(run, head_round=None), 99)

    with pytest.raises(UserFacingError, match=f"^no head of {NAME} is certified yet$"):
        trio.run(find)


def test_nobody_is_told_to_pause_a_run_that_has_ended(tmp_path: Path, organiser: Path) -> None:
    fill_back(make_settings(tmp_path), time.time_ns() // 1_000_000 - 30_000)
    with served(tmp_path) as running:
        where = ("--ledger", running.url, "--dir", str(organiser))
        done = CliRunner().invoke(cli, ("run", "finish", NAME, *where))
        assert done.exit_code == 0, done.exception
        refused = refusal(running, organiser, "--round", "3")
    assert refused.endswith(", and only a paused run can go back")


def test_nothing_is_signed_without_consent(ledger: Served, organiser: Path) -> None:
    before = httpx.get(f"{ledger.url}/v1/runs").json()["runs"][0]
    done = rolled_back(ledger, organiser, "--round", "3", says="n\n")
    assert done.exit_code == 0, done.exception
    assert "What the 19 rounds after round 3 made is no longer part of the model." in done.output
    assert "Members may have deleted that head" in done.output
    assert done.output.endswith("nothing was signed\n")
    assert httpx.get(f"{ledger.url}/v1/runs").json()["runs"][0] == before


def test_a_head_that_was_given_up_can_be_gone_to_again(ledger: Served, organiser: Path) -> None:
    done = rolled_back(ledger, organiser, "--round", "21", says="y\n")
    assert done.exit_code == 0, done.exception
    assert "What round 22 made is no longer part of the model." in done.output
    assert "still have that head" in done.output
    assert "run `tequio run resume" in done.output
    (run,) = httpx.get(f"{ledger.url}/v1/runs").json()["runs"]
    assert (run["head_round"], run["state"]) == (21, "paused")
    assert [one["head_round"] for one in run["rollbacks"]] == [21, 19, 8]
    assert "at the head of round 21 already" in refusal(ledger, organiser, "--round", "21")


def test_volunteers_are_told_something_until_it_is_taken_back(
    ledger: Served, organiser: Path
) -> None:
    where = ("--ledger", ledger.url, "--dir", str(organiser))

    def ran(*words: str) -> Result:
        return CliRunner().invoke(cli, ("run", *words, *where))

    assert ran("announce", NAME, "--text", "  New data\n on Sunday. ").exit_code == 0
    (run,) = httpx.get(f"{ledger.url}/v1/runs").json()["runs"]
    assert run["announcement"]["text"] == "New data on Sunday."
    listed = CliRunner().invoke(cli, ("run", "show", NAME, "--ledger", ledger.url)).output
    assert "New data on Sunday." in listed
    assert "paused because" in listed
    assert ran("announce", NAME, "--clear").exit_code == 0
    (run,) = httpx.get(f"{ledger.url}/v1/runs").json()["runs"]
    assert run["announcement"] is None
    for wrong in (("announce", NAME), ("announce", NAME, "--text", "Hi", "--clear")):
        assert "give either --text or --clear" in ran(*wrong).output
    refused = ran("announce", NAME, "--text", "x" * 201).exception
    assert isinstance(refused, UserFacingError)
    assert "at most 200 characters" in str(refused)


def test_the_page_of_a_run_links_to_its_chat_until_that_is_taken_back(
    ledger: Served, organiser: Path
) -> None:
    where = ("--ledger", ledger.url, "--dir", str(organiser))

    def ran(*words: str) -> Result:
        return CliRunner().invoke(cli, ("run", "chat", NAME, *words, *where))

    done = ran("--url", "https://chat.example/nova")
    assert done.exit_code == 0, done.exception
    (run,) = httpx.get(f"{ledger.url}/v1/runs").json()["runs"]
    assert run["chat"]["text"] == "https://chat.example/nova"
    page = httpx.get(f"{ledger.url}/runs/{run['run']}").text
    link = (
        '<a href="https://chat.example/nova" rel="external noopener noreferrer">Try the model</a>'
    )
    assert link in page
    assert "Nothing on it is proven by the log." in page
    for wrong in ("http://chat.example", "https://a@chat.example", "https://chat.example/?q=1"):
        refused = ran("--url", wrong).exception
        assert isinstance(refused, UserFacingError)
        assert f"'{wrong}' is not the address of a chat" in str(refused)
    assert "give either --url or --clear" in ran().output
    assert ran("--clear").exit_code == 0
    (run,) = httpx.get(f"{ledger.url}/v1/runs").json()["runs"]
    assert run["chat"] is None
    time.sleep(FRESH_S)  # a page is rendered once in this time
    assert "Try the model" not in httpx.get(f"{ledger.url}/runs/{run['run']}").text
