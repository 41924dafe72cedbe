"""What an organiser does with an open run, and sees of it, at a real ledger."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import httpx
import pytest
from click.testing import CliRunner

from tequio_client.__main__ import cli
from tequio_client.links import InvitationLink
from tequio_shared.errors import UserFacingError
from tequio_shared.ids import to_text
from tequio_shared.keys import Signer
from tests.support.equivocators import key_folder
from tests.support.ledger_with_history import live_yesterday
from tests.support.ledgers import ORGANISER, UNLIMITED, served

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


RUN = "paper"


@dataclass(frozen=True, slots=True, kw_only=True)
class Desk:
    """An organiser at a ledger."""

    url: str
    folder: str

    def run(self, *words: str) -> str:
        """Run a command that works."""
        result = CliRunner().invoke(cli, ("run", *words, "--ledger", self.url))
        if result.exception is not None:
            raise result.exception
        return result.stdout

    def do(self, *words: str) -> str:
        """Run a command under the organiser's key."""
        return self.run(*words, "--dir", self.folder)

    @property
    def state(self) -> str:
        """Of the run, as the ledger says."""
        (one,) = httpx.get(f"{self.url}/v1/runs").json()["runs"]
        return str(one["state"])


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desk]:
    folder = tmp_path_factory.mktemp("desk")
    live_yesterday(folder / "ledger")
    organiser = key_folder(folder / "organiser", ORGANISER)
    with served(folder / "ledger", *UNLIMITED) as running:
        yield Desk(url=running.url, folder=str(organiser))


def test_the_list_and_the_run_say_what_an_organiser_wants(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    (one,) = httpx.get(f"{desk.url}/v1/runs").json()["runs"]
    listed = desk.run("list").splitlines()
    (row,) = (line for line in listed if one["run"][:10] in line)
    assert one["state"].replace("_", " ") in row, "each run has one line of 80 columns"
    monkeypatch.setenv("COLUMNS", "160")
    shown = desk.run("show", one["run"][:12])
    assert f"{one['head']} of round {one['head_round']}" in shown
    assert f"{one['tokens']:,}" in shown
    assert one["weights_root"] in shown
    assert f"{one['closed']:,} closed, {one['voided']:,} void" in shown
    assert "not on the Hub" in shown


def test_an_invitation_to_a_run_counts_for_it_alone(desk: Desk) -> None:
    link = InvitationLink.parse(desk.do("invite", RUN, "--uses", "2").strip())
    (run,) = httpx.get(f"{desk.url}/v1/runs").json()["runs"]
    listed = httpx.get(f"{desk.url}/v1/invitations").json()["invitations"]
    assert (listed[-1]["run"], listed[-1]["uses"]) == (run["run"], 2)
    assert link.ledger == desk.url
    with pytest.raises(UserFacingError, match="no run 'nobody'"):
        desk.do("invite", "nobody")


def test_a_key_that_organises_nothing_is_named_with_its_folder_and_not_registered(
    desk: Desk, tmp_path: Path
) -> None:
    stranger = Signer(bytes(32))
    folder, empty = str(key_folder(tmp_path / "stranger", stranger)), str(tmp_path / "typo")
    for words in (("pause", RUN), ("finish", RUN), ("invite", RUN)):
        with pytest.raises(UserFacingError) as caught:
            desk.run(*words, "--dir", folder)
        said = f"{to_text(stranger.key)}, the key in {folder}, is not an organiser of the network"
        assert str(caught.value).startswith(said)
        with pytest.raises(UserFacingError, match=f"no key in {empty}: give the folder"):
            desk.run(*words, "--dir", empty)
    assert not (tmp_path / "typo" / "identity.key").exists()
    assert httpx.get(f"{desk.url}/v1/peers/{to_text(stranger.key)}").status_code == 404


@pytest.mark.parametrize("what", ["show", "pause", "finish", "invite"])
def test_an_empty_name_is_no_run_though_there_is_but_one(desk: Desk, what: str) -> None:
    where = (
        ("--ledger", desk.url) if what == "show" else ("--ledger", desk.url, "--dir", desk.folder)
    )
    result = CliRunner().invoke(cli, ("run", what, "", *where))
    assert result.exit_code == 2
    assert "the value is empty" in result.stderr
    every = CliRunner().invoke(cli, ("invite", "open", "--run", "", *where))
    assert every.exit_code == 2


def test_a_run_is_paused_goes_on_and_ends(desk: Desk) -> None:
    (run,) = httpx.get(f"{desk.url}/v1/runs").json()["runs"]
    told = desk.do("pause", RUN)
    assert (
        f"paused after the current round; continue with `tequio run resume {run['run'][:10]}`"
        in told
    )
    assert "resumed" in desk.do("resume", RUN)
    assert desk.state not in ("paused", "finished")
    assert "ends after the current round" in desk.do("finish", RUN)
    with pytest.raises(UserFacingError, match="no run 'nobody'"):
        desk.do("pause", "nobody")
