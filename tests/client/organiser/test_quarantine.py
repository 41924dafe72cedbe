"""Quarantine as people meet it: the volunteer's and the organisers' commands on a real ledger."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

import httpx
import pytest
import trio
from click.testing import CliRunner

from tequio_client.__main__ import cli
from tequio_ledger.web.pages.render import FRESH_S
from tequio_shared.ids import to_text
from tequio_shared.keys import Signer
from tests.support.equivocators import RUN, key_folder, lie, open_run
from tests.support.ledgers import ORGANISER, UNLIMITED, served

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.support.authors import Author
    from tests.support.ledgers import Served


SECOND = Signer(bytes([8]) * 32)


@dataclass(frozen=True, slots=True, kw_only=True)
class QuarantineLedger:
    """A ledger with two organisers, and a volunteer who signed two statements with one number."""

    url: str
    liar: Author
    worker: Path
    organisers: tuple[Path, Path]

    def tequio(self, *words: str, stdin: str | None = None) -> str:
        """Run a command that works; what it prints."""
        result = CliRunner().invoke(cli, [*words, "--ledger", self.url], input=stdin)
        if result.exception is not None:
            raise result.exception
        return result.output

    def refused(self, *words: str, stdin: str | None = None) -> str:
        """Run a command that has to fail; its one sentence."""
        result = CliRunner().invoke(cli, [*words, "--ledger", self.url], input=stdin)
        error: BaseException | None = result.exception
        while isinstance(error, BaseExceptionGroup):
            error = error.exceptions[0]
        assert error is not None, result.output
        return str(error)

    def standing(self) -> str:
        """How the ledger says that the volunteer stands."""
        answer = json.loads(self.tequio("standing", "--json", "--dir", str(self.worker)))
        return str(answer["standing"])


@pytest.fixture(scope="module")
def ledger(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """Start one ledger for all tests."""
    folder = tmp_path_factory.mktemp("ledger")
    with served(folder, *UNLIMITED, "--organiser", to_text(SECOND.key)) as one:
        trio.run(open_run, one)
        yield one


@pytest.fixture
def quarantine(ledger: Served, tmp_path: Path, request: pytest.FixtureRequest) -> QuarantineLedger:
    """A ledger with an offender of its own, so that decisions of one test affect no other."""
    liar = trio.run(lie, ledger, str(request.node.name))
    return QuarantineLedger(
        url=ledger.url,
        liar=liar,
        worker=key_folder(tmp_path / "worker", liar.signer),
        organisers=(
            key_folder(tmp_path / "first", ORGANISER),
            key_folder(tmp_path / "second", SECOND),
        ),
    )


def test_a_volunteer_reads_why_appeals_and_is_released_by_two_organisers(
    quarantine: QuarantineLedger,
) -> None:
    worker, (first, second) = str(quarantine.worker), map(str, quarantine.organisers)
    told = quarantine.tequio("standing", "--dir", worker)
    assert "signed two different statements under one number" in told
    assert "fault.report" in told, "the evidence is named"
    assert "tequio appeal" in told

    words = "My folder was copied to another computer.\x1b[2J"
    said = quarantine.tequio("appeal", "--dir", worker, "--text", "-", stdin=words)
    assert "is waiting for the organisers" in said
    again = quarantine.refused("appeal", "--dir", worker)
    assert "still open" in again

    key = to_text(quarantine.liar.key)
    listed = quarantine.tequio("quarantine", "list")
    assert key in listed, "whole, to give to another command"
    shown = quarantine.tequio("quarantine", "show", key[:8])
    assert "My folder was copied" in shown
    assert "member.ready with number 2 and member.leave with number 2" in shown
    assert "\x1b" not in shown, "a stranger's words move nobody's cursor"

    alone = quarantine.refused("quarantine", "release", key, "--dir", first)
    assert "more organisers have to sign" in alone
    done = quarantine.tequio("quarantine", "release", key, "--dir", first, "--with", second)
    assert "active again: logged as entry" in done
    assert quarantine.standing() == "active"
    assert "nothing to appeal against: the key is active" in quarantine.refused(
        "appeal", "--dir", worker
    )


def test_a_half_signed_release_is_completed_by_the_second_organiser(
    quarantine: QuarantineLedger, tmp_path: Path
) -> None:
    (first, second), key = map(str, quarantine.organisers), to_text(quarantine.liar.key)
    file = tmp_path / "release.json"
    half = quarantine.tequio("quarantine", "release", key, "--dir", first, "--out", str(file))
    assert "has to sign it before" in half
    assert quarantine.standing() == "quarantined"
    twice = quarantine.refused("countersign", str(file), "--yes", "--dir", first)
    assert "has signed already" in twice
    stranger = quarantine.refused(
        "countersign", str(file), "--yes", "--dir", str(quarantine.worker)
    )
    assert "is not an organiser" in stranger
    done = quarantine.tequio("countersign", str(file), "--yes", "--dir", second)
    assert "active again: logged as entry" in done
    assert quarantine.standing() == "active"
    assert quarantine.tequio("countersign", str(file), "--yes", "--dir", second) == done, (
        "who lost the answer asks again"
    )


def test_a_half_signed_file_that_was_changed_is_not_signed(
    quarantine: QuarantineLedger, tmp_path: Path
) -> None:
    (first, second), key = map(str, quarantine.organisers), to_text(quarantine.liar.key)
    file = tmp_path / "release.json"
    quarantine.tequio("quarantine", "release", key, "--dir", first, "--out", str(file))
    content = json.loads(file.read_text())
    other = {**content, "leaf": content["leaf"].replace(content["leaf"][60:64], "AAAA", 1)}
    for changed in (
        json.dumps(other),
        json.dumps({**content, "network": to_text(RUN)}),
        "another program's file",
    ):
        file.write_text(changed)
        sentence = quarantine.refused("countersign", str(file), "--yes", "--dir", second)
        assert "is not a half-signed statement" in sentence
    assert quarantine.standing() == "quarantined"


def test_a_second_organiser_reads_what_the_bytes_say_and_is_asked(
    quarantine: QuarantineLedger, tmp_path: Path
) -> None:
    (first, second), key = map(str, quarantine.organisers), to_text(quarantine.liar.key)
    file = tmp_path / "release.json"
    quarantine.tequio("quarantine", "release", key, "--dir", first, "--out", str(file))
    before = file.read_bytes()
    sign = ("countersign", str(file), "--dir", second)
    assert "nothing was signed" in quarantine.refused(*sign, stdin="n\n")
    assert file.read_bytes() == before
    content = json.loads(before)
    file.write_text(json.dumps({**content, "says": "an invitation for a friend is closed"}))
    lied = quarantine.refused(*sign, "--yes")
    assert "is not what would be signed" in lied
    assert f"{key} is active again" in lied
    assert quarantine.standing() == "quarantined"
    file.write_bytes(before)
    said = quarantine.tequio(*sign, stdin="y\n")
    assert said.index(f"{key} is active again") < said.index("Sign this as an organiser?")
    assert quarantine.standing() == "active"


def test_upholding_answers_the_appeal_and_a_first_offender_is_not_banned(
    quarantine: QuarantineLedger,
) -> None:
    (first, _), key = map(str, quarantine.organisers), to_text(quarantine.liar.key)
    quarantine.tequio("appeal", "--dir", str(quarantine.worker))
    early = quarantine.refused("quarantine", "uphold", key, "--ban", "--dir", first)
    assert "a ban needs two" in early
    done = quarantine.tequio("quarantine", "uphold", key, "--dir", first)
    assert "keeps its standing: logged as entry" in done
    assert quarantine.standing() == "quarantined"
    assert "no appeal is open" in quarantine.tequio("quarantine", "show", key)
    pause = quarantine.refused("appeal", "--dir", str(quarantine.worker))
    assert "the next appeal is possible in" in pause


def test_what_people_type_wrong_is_one_sentence(
    quarantine: QuarantineLedger, tmp_path: Path
) -> None:
    (first, _), worker = map(str, quarantine.organisers), str(quarantine.worker)
    empty = quarantine.refused("standing", "--dir", str(tmp_path / "nobody"))
    assert "no key found in" in empty
    assert not (tmp_path / "nobody").exists(), "looking makes no key"
    long = quarantine.refused("appeal", "--dir", worker, "--text", "-", stdin="x" * 4_097)
    assert "4097 bytes" in long
    unknown = quarantine.refused("quarantine", "release", "abc", "--dir", first)
    assert "does not match exactly one key" in unknown
    twice = quarantine.refused(
        "quarantine", "release", to_text(quarantine.liar.key), "--dir", first, "--with", first
    )
    assert "another process uses the folder" in twice or "an organiser signs once" in twice


def test_the_ledgers_own_command_hands_on_to_the_organisers(quarantine: QuarantineLedger) -> None:
    command = [
        sys.executable,
        "-m",
        "tequio_ledger",
        "quarantine",
        "list",
        "--ledger",
        quarantine.url,
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    assert to_text(quarantine.liar.key)[:10] in done.stdout


def test_organisers_withdraw_a_name_which_pages_then_no_longer_show(
    quarantine: QuarantineLedger,
) -> None:
    first, second = map(str, quarantine.organisers)
    key = to_text(SECOND.key)
    quarantine.tequio("name", "Rude Word", "--dir", second)
    assert "Rude Word" in httpx.get(f"{quarantine.url}/peers/{key}", timeout=30).text
    founded = quarantine.tequio("team", "found", "Rude Team", "--dir", second)
    found = re.search(r"/teams/([0-9]+)", founded)
    assert found is not None
    assert quarantine.refused("withdraw-name", "--dir", first) == "2", "neither key nor team"
    done = quarantine.tequio("withdraw-name", key, "--dir", first)
    assert f"the name of {key} is withdrawn" in done
    quarantine.tequio("withdraw-name", "--team", found[1], "--dir", first)
    time.sleep(2 * FRESH_S)  # pages are cached
    for path in (f"peers/{key}", f"teams/{found[1]}", "leaderboard?by=teams", "leaderboard"):
        text = httpx.get(f"{quarantine.url}/{path}", timeout=30).text
        assert "Rude" not in text.partition("Newest statements")[0], path
    assert "has no name" in quarantine.refused("withdraw-name", key, "--dir", first)
    again = quarantine.refused("name", "rude-word", "--dir", second)
    assert "withdrew the name 'rude-word'" in again
    quarantine.tequio("name", "Polite Word", "--dir", second)
    renamed = quarantine.tequio("team", "rename", "Polite Team", "--dir", second)
    assert "Polite Team" in renamed
    refused = quarantine.refused("withdraw-name", key, "--dir", str(quarantine.worker))
    assert "organiser" in refused
