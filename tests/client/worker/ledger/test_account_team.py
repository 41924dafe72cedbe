"""`tequio team` on a real ledger."""

from __future__ import annotations

from typing import TYPE_CHECKING

import httpx
import pytest
import trio

from tequio_shared.ids import to_text
from tests.support.account_commands import output, register
from tests.support.authors import Author
from tests.support.equivocators import key_folder
from tests.support.ledgers import UNLIMITED, Served, served

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture(scope="module")
def ledger(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with served(tmp_path_factory.mktemp("ledger"), *UNLIMITED) as one:
        yield one


def test_a_volunteer_joins_a_team_changes_it_and_leaves(ledger: Served, tmp_path: Path) -> None:
    author = Author("of a team", ledger.net)
    trio.run(register, ledger, author)
    folder = key_folder(tmp_path / "worker", author.signer)
    page = f"{ledger.url}/peers/{to_text(author.key)}"
    assert "is in team oaxaca" in output("team", ledger, folder, "oaxaca")
    assert ">oaxaca</a>" in httpx.get(page, timeout=30).text
    assert "nothing to change" in output("team", ledger, folder, "oaxaca")
    assert "is in team puebla-2" in output("team", ledger, folder, "puebla-2")
    assert "is in no team" in output("team", ledger, folder, "--leave")
    assert "nothing to change" in output("team", ledger, folder, "--leave")
    assert "puebla" not in httpx.get(page, timeout=30).text.partition("Newest statements")[0]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((), "give either the NAME"),
        (("oaxaca", "--leave"), "give either the NAME"),
        (("Oaxaca",), "invalid team name"),
        (("a" * 33,), "invalid team name"),
        (("",), "invalid team name"),
        (("oaxaca",), "no key found in"),
    ],
)
def test_what_cannot_be_said_is_told_in_one_sentence(
    ledger: Served, tmp_path: Path, words: tuple[str, ...], said: str
) -> None:
    assert said in output("team", ledger, tmp_path / "none", *words)


def test_a_key_that_nobody_knows_is_sent_to_its_worker(ledger: Served, tmp_path: Path) -> None:
    folder = key_folder(tmp_path / "worker", Author("a stranger", ledger.net).signer)
    assert "not registered yet" in output("team", ledger, folder, "oaxaca")
