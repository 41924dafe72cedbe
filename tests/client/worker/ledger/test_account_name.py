"""`tequio name` on a real ledger, and commands with a key that a passphrase protects."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
import trio
from click.testing import CliRunner

from tequio_client.clock import now_ms
from tequio_client.keys import identity
from tequio_client.keys.identity import KeyStore
from tequio_client.keys.state import KeyProtection
from tequio_client.worker.account_cli import appeal
from tests.support.account_commands import output, register
from tests.support.authors import Author
from tests.support.equivocators import key_folder
from tests.support.ledgers import ORGANISER, UNLIMITED, Served, served

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


PHRASE = "eight or more letters"


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


@pytest.fixture
def sealed(ledger: Served, tmp_path: Path) -> KeyStore:
    """The folder of a registered key that a passphrase protects."""
    author, store = Author(f"sealed {tmp_path}", ledger.net), KeyStore(tmp_path / "sealed", now_ms)
    trio.run(register, ledger, author)
    store.make(KeyProtection.PASSPHRASE, PHRASE, author.signer.seed)
    return store


def test_a_standing_needs_no_passphrase_but_the_first_time(
    ledger: Served, sealed: KeyStore
) -> None:
    assert "newcomer since entry" in output("standing", ledger, sealed.folder)
    assert sealed.state().record.key in output("standing", ledger, sealed.folder, "--json")
    (sealed.folder / identity.RECORD).unlink()  # a file that was copied from another computer
    for stdin in (f"{PHRASE}\n", ""):
        said = output("standing", ledger, sealed.folder, "--stdin", stdin=stdin)
        assert "newcomer since entry" in said


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("name", "Ana"), "once a round has accepted its work"),
        (("team", "show"), "the key is in no team"),
        (("connect", "--connector", "http://127.0.0.1:1"), "http://127.0.0.1:1 is unavailable"),
    ],
)
def test_a_command_that_signs_asks_for_the_passphrase(
    ledger: Served, sealed: KeyStore, words: tuple[str, ...], said: str
) -> None:
    for phrase, answer in (("another one", "the passphrase does not open"), (PHRASE, said)):
        stdin, (command, *others) = f"{phrase}\n", words
        assert answer in output(command, ledger, sealed.folder, *others, "--stdin", stdin=stdin)


def test_an_appeal_asks_for_the_passphrase_at_a_prompt(ledger: Served, sealed: KeyStore) -> None:
    place = ["--ledger", ledger.url, "--dir", str(sealed.folder)]
    done = CliRunner().invoke(appeal, place, input=f"{PHRASE}\n")
    assert "Passphrase of the key" in done.output
    assert "nothing to appeal against" in str(done.exception)
