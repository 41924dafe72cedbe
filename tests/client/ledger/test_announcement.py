"""Announcements to a whole network: read with proof from a real ledger, also from a lying one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
import trio
from click.testing import CliRunner

from tequio_client.__main__ import cli
from tequio_client.ledger.announcement import NetworkAnnouncement
from tequio_client.ledger.api import LedgerApi
from tequio_shared.errors import UserFacingError
from tequio_shared.ids import to_text
from tequio_shared.keys import Signer
from tests.support.equivocators import key_folder
from tests.support.ledgers import ORGANISER, served

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tequio_shared.network.notices import Notice
    from tests.support.ledgers import Served

SECOND = Signer(bytes(range(1, 33)))
TOLD = "The ledger moves on Sunday."
POINTING_ELSEWHERE = ("tests.support.forged_tables:forging_notice", "0")


@pytest.fixture
def ledger(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> Iterator[Served]:
    monkeypatch.delenv("TEQUIO_LEDGER", raising=False)
    key_folder(tmp_path / "first", ORGANISER)
    key_folder(tmp_path / "second", SECOND)
    options = ("--organiser", to_text(SECOND.key), "--threshold", "2")
    with served(tmp_path / "ledger", *options, setup=getattr(request, "param", None)) as made:
        yield made


def announce(ledger: Served, tmp_path: Path, *words: str) -> str:
    """Run the command as the first organiser; its output, or the sentence with which it fails."""
    place = ("--ledger", ledger.url, "--dir", str(tmp_path / "first"))
    return run("announce", *words, *place)


def run(*words: str) -> str:
    done = CliRunner().invoke(cli, words)
    error: BaseException | None = done.exception
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return str(error) if isinstance(error, UserFacingError) else done.output


def read(ledger: Served) -> Notice | None:
    """The announcement that a worker which has just started knows."""

    async def asked() -> Notice | None:
        async with LedgerApi(ledger.url) as api:
            announcement = NetworkAnnouncement(api)
            await announcement.refresh()
            return announcement.current

    return trio.run(asked)


def test_organisers_announce_together_and_take_it_back(ledger: Served, tmp_path: Path) -> None:
    assert read(ledger) is None
    together = ("--with", str(tmp_path / "second"))
    assert "more organisers have to sign" in announce(ledger, tmp_path, "--text", TOLD)
    said = announce(ledger, tmp_path, "--text", f"  {TOLD} ", *together)
    assert f"everybody in the network is told: {TOLD}: logged as entry" in said
    found = read(ledger)
    assert found is not None
    assert found.text == TOLD
    refused = announce(ledger, tmp_path, "--text", "Sooner!", *together)
    assert "wait 10 min; until then, it can be withdrawn" in refused
    file = tmp_path / "clear.json"
    assert "has to sign it before" in announce(ledger, tmp_path, "--clear", "--out", str(file))
    place = ("--ledger", ledger.url, "--dir", str(tmp_path / "second"), "--yes")
    assert "the announcement to the network is withdrawn" in run("countersign", str(file), *place)
    assert read(ledger) is None


def test_a_decision_whose_author_has_signed_another_one_has_to_be_asked_for_again(
    ledger: Served, tmp_path: Path
) -> None:
    place = ("--ledger", ledger.url, "--dir", str(tmp_path / "second"), "--yes")
    files = [str(tmp_path / f"{number}.json") for number in range(4)]
    for at, words in enumerate((("--text", TOLD), ("--clear",))):
        said = announce(ledger, tmp_path, *words, "--out", files[at])
        assert f"Until then, sign nothing else with the key in {tmp_path / 'first'}" in said
    assert "logged as entry" in run("countersign", files[0], *place)
    late = f"{to_text(ORGANISER.key)} has signed something else since"
    assert late in run("countersign", files[1], *place)
    for file in files[2:]:
        announce(ledger, tmp_path, "--clear", "--out", file)
    assert "logged as entry" in run("countersign", files[3], *place)
    assert late in run("countersign", files[2], *place)
    assert "logged as entry" in run("countersign", files[3], *place), "who lost the answer"


def test_words_that_cannot_be_told_are_refused_before_anything_is_signed(
    ledger: Served, tmp_path: Path
) -> None:
    for words in ((), ("--text", " "), ("--text", TOLD, "--clear")):
        assert "give either --text or --clear" in announce(ledger, tmp_path, *words)
    for text in ("x" * 201, "a\u202eb"):
        assert "use one line of at most 200 characters" in announce(
            ledger, tmp_path, "--text", text
        )


@pytest.mark.parametrize("ledger", [POINTING_ELSEWHERE], indirect=True)
def test_a_ledger_that_announces_what_organisers_did_not_is_not_believed(ledger: Served) -> None:
    assert read(ledger) is None
