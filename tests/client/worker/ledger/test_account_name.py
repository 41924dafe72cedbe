"""`tequio name` on a real ledger."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
import trio

from tests.support.account_commands import output, register
from tests.support.authors import Author
from tests.support.equivocators import key_folder
from tests.support.ledgers import ORGANISER, UNLIMITED, Served, served

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture(scope="module")
def ledger(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with served(tmp_path_factory.mktemp("ledger"), *UNLIMITED) as one:
        yield one


def test_an_organiser_chooses_a_name_and_removes_it(ledger: Served, tmp_path: Path) -> None:
    folder = key_folder(tmp_path / "worker", ORGANISER)
    assert "is called 'Los B\u00fahos' now" in output("name", ledger, folder, " Los  Bu\u0301hos")
    assert "already has the name" in output("name", ledger, folder, "Los B\u00fahos")
    assert "has no name now" in output("name", ledger, folder, "--remove")
    assert "again in 30 days" in output("name", ledger, folder, "The Larks")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((), "give either a NAME"),
        (("Ana", "--remove"), "give either a NAME"),
        (("",), "the NAME is empty"),
        (("a",), "has 1 character:"),
        (("Ana!",), "'!' is not a letter"),
        (("Ana",), "once a round has accepted its work"),
    ],
)
def test_a_name_that_cannot_be_had_is_explained(
    ledger: Served, tmp_path: Path, words: tuple[str, ...], said: str
) -> None:
    author = Author(f"new {words}", ledger.net)
    trio.run(register, ledger, author)
    folder = key_folder(tmp_path / "worker", author.signer)
    assert said in output("name", ledger, folder, *words)
