"""Commands with which an organiser steers and inspects an open run, at a real ledger."""

from __future__ import annotations

import re
import signal
import subprocess
import threading
from collections.abc import Callable
from dataclasses import dataclass, replace
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

import httpx
import pytest
import trio
from click.testing import CliRunner

from tequio_client.__main__ import cli
from tequio_client.ledger.api import LedgerApi
from tequio_client.links import InvitationLink
from tequio_client.organiser import opening, signing
from tequio_client.worker.ledger.outbox import Outbox
from tequio_shared.errors import UserFacingError
from tequio_shared.ids import RunId, from_text, to_text
from tequio_shared.keys import Signer
from tequio_shared.statements.runs import RunFinish
from tests.support import http_servers
from tests.support.equivocators import key_folder
from tests.support.forked_program import CLIENT, ForkedProgram
from tests.support.ledger_with_history import live_yesterday
from tests.support.ledgers import ORGANISER, UNLIMITED, served

if TYPE_CHECKING:
    from collections.abc import Iterator


RUN = "paper"


@dataclass(frozen=True, slots=True, kw_only=True)
class RunOrganiser:
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

    @property
    def statements(self) -> int:
        """Of the organiser, in the log."""
        found = httpx.get(f"{self.url}/v1/peers/{to_text(ORGANISER.key)}").json()
        return int(found["last_seq"])


@pytest.fixture(scope="module")
def owner(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunOrganiser]:
    folder = tmp_path_factory.mktemp("desk")
    live_yesterday(folder / "ledger")
    organiser = key_folder(folder / "organiser", ORGANISER)
    with served(folder / "ledger", *UNLIMITED) as running:
        yield RunOrganiser(url=running.url, folder=str(organiser))


def test_the_list_and_the_run_say_what_an_organiser_wants(
    owner: RunOrganiser, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    (one,) = httpx.get(f"{owner.url}/v1/runs").json()["runs"]
    listed = owner.run("list").splitlines()
    (row,) = (line for line in listed if one["run"][:10] in line)
    assert opening.state_name(one["state"]) in row, "each run has one line of 80 columns"
    monkeypatch.setenv("COLUMNS", "160")
    shown = owner.run("show", one["run"][:12])
    assert re.findall(r"(?m)^\W*state\W+(.*?)\W*$", shown) == [opening.state_name(one["state"])]
    assert f"{one['head']} of round {one['head_round']}" in shown
    assert f"{one['tokens']:,}" in shown
    assert one["weights_root"] in shown
    assert f"{one['closed']:,} closed, {one['voided']:,} void" in shown
    assert "no head (tequio checkpoint publish)" in shown


def test_an_invitation_to_a_run_counts_for_it_alone(owner: RunOrganiser) -> None:
    link = InvitationLink.parse(owner.do("invite", RUN, "--uses", "2").strip())
    (run,) = httpx.get(f"{owner.url}/v1/runs").json()["runs"]
    listed = httpx.get(f"{owner.url}/v1/invitations").json()["invitations"]
    assert (listed[-1]["run"], listed[-1]["uses"]) == (run["run"], 2)
    assert link.ledger == owner.url
    with pytest.raises(UserFacingError, match="no run 'nobody'"):
        owner.do("invite", "nobody")


def test_decisions_and_steering_share_one_chain_and_print_no_logs(owner: RunOrganiser) -> None:
    owner.do("invite", RUN)  # the first time the folder does not know what its key has said
    before = owner.statements
    told = [owner.do(*words) for words in (("invite", RUN), ("pause", RUN), ("resume", RUN))]
    assert owner.statements == before + len(told)
    assert [text.count("\n") for text in told] == [1, 1, 1], told


def test_a_key_that_organises_nothing_is_named_with_its_folder_and_not_registered(
    owner: RunOrganiser, tmp_path: Path
) -> None:
    stranger = Signer(bytes(32))
    folder, empty = str(key_folder(tmp_path / "stranger", stranger)), str(tmp_path / "typo")
    for words in (("pause", RUN), ("finish", RUN), ("invite", RUN)):
        with pytest.raises(UserFacingError) as caught:
            owner.run(*words, "--dir", folder)
        said = f"{to_text(stranger.key)}, the key in {folder}, is not an organiser of the network"
        assert str(caught.value).startswith(said)
        with pytest.raises(UserFacingError, match=f"no key in {empty}: give the folder"):
            owner.run(*words, "--dir", empty)
    assert not (tmp_path / "typo").exists()
    assert httpx.get(f"{owner.url}/v1/peers/{to_text(stranger.key)}").status_code == 404


@pytest.mark.parametrize("what", ["show", "pause", "finish", "invite"])
def test_an_empty_name_is_no_run_though_there_is_but_one(owner: RunOrganiser, what: str) -> None:
    where = (
        ("--ledger", owner.url)
        if what == "show"
        else ("--ledger", owner.url, "--dir", owner.folder)
    )
    result = CliRunner().invoke(cli, ("run", what, "", *where))
    assert result.exit_code == 2
    assert "the value is empty" in result.stderr
    every = CliRunner().invoke(cli, ("invite", "open", "--run", "", *where))
    assert every.exit_code == 2


Answer: TypeAlias = tuple[int, bytes]
AnswerTo: TypeAlias = Callable[[str, bytes | None], Answer]
OnceRefused: TypeAlias = Callable[[AnswerTo], AnswerTo]
FULL_DISK: Answer = 503, b'{"code": "read-only", "detail": "the disk is full"}'
JSON = {"content-type": "application/json"}


def pass_on(url: str, sent: bytes | None) -> Answer:
    """Have the ledger answer: a GET if nothing is sent."""
    found = httpx.get(url) if sent is None else httpx.post(url, content=sent, headers=JSON)
    return found.status_code, found.content


def refuse_what_is_sent(url: str, sent: bytes | None) -> Answer:
    """Answer questions only, as a ledger with a full disk does."""
    return pass_on(url, sent) if sent is None else FULL_DISK


def relay_to(ledger: str, answer: AnswerTo) -> type[BaseHTTPRequestHandler]:
    """Stand before the ledger, and answer in its place."""

    class LedgerRelay(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self._answer(*answer(ledger + self.path, None))

        def do_POST(self) -> None:
            sent = self.rfile.read(int(self.headers["content-length"]))
            self._answer(*answer(ledger + self.path, sent))

        def _answer(self, status: int, content: bytes) -> None:
            self.send_response(status)
            for name, value in {**JSON, "content-length": str(len(content))}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base's name
            pass

    return LedgerRelay


@pytest.fixture
def once_refused(monkeypatch: pytest.MonkeyPatch) -> OnceRefused:
    """Make an answer end the time for a statement at the first request after one was sent."""
    limits, limit, is_sent = list[Callable[[], None]](), trio.move_on_after, threading.Event()

    def known_limit(seconds: float) -> trio.CancelScope:
        scope = limit(seconds)
        if seconds == signing.SUBMIT_TIMEOUT_S:
            token = trio.lowlevel.current_trio_token()
            limits.append(lambda: token.run_sync_soon(scope.cancel))
        return scope

    def ending(answer: AnswerTo) -> AnswerTo:
        def answered(url: str, sent: bytes | None) -> Answer:
            if is_sent.is_set() and limits:
                limits.pop()()
            found = answer(url, sent)
            if sent is not None:
                is_sent.set()
            return found

        return answered

    monkeypatch.setattr(trio, "move_on_after", known_limit)
    return ending


def test_a_decision_that_was_given_up_is_not_logged_by_a_later_command(
    owner: RunOrganiser, once_refused: OnceRefused
) -> None:
    before = owner.state
    with (
        http_servers.serving(relay_to(owner.url, once_refused(refuse_what_is_sent))) as url,
        pytest.raises(UserFacingError) as caught,
    ):
        replace(owner, url=url).do("finish", RUN)
    assert "the disk is full" in str(caught.value), "the cause is told, not the connection"
    assert "it is given up" in str(caught.value)
    owner.do("announce", RUN, "--text", "We go on.")
    assert owner.state == before


def test_a_decision_of_a_killed_command_is_not_logged_by_a_later_one(
    owner: RunOrganiser, once_refused: OnceRefused
) -> None:
    (run,) = httpx.get(f"{owner.url}/v1/runs").json()["runs"]
    before = owner.state

    async def leave_unsent(url: str) -> None:
        async with (
            LedgerApi(url) as api,
            Outbox(api, Path(owner.folder), ORGANISER) as outbox,
        ):
            with trio.move_on_after(signing.SUBMIT_TIMEOUT_S):
                await outbox.submit(RunFinish(reason=1), RunId(from_text(run["run"], 32)))
            assert outbox.unlogged == 1

    with http_servers.serving(relay_to(owner.url, once_refused(refuse_what_is_sent))) as url:
        trio.run(leave_unsent, url)
    owner.do("announce", RUN, "--text", "We still go on.")
    assert owner.state == before


def test_ctrl_c_gives_a_decision_up_in_one_word(owner: RunOrganiser) -> None:
    before, is_sent = owner.state, threading.Event()

    def refuse(url: str, sent: bytes | None) -> Answer:
        if sent is not None:
            is_sent.set()
        return refuse_what_is_sent(url, sent)

    with http_servers.serving(relay_to(owner.url, refuse)) as url:
        words = ("run", "finish", RUN, "--ledger", url, "--dir", owner.folder)
        with ForkedProgram(CLIENT, *words, stderr=subprocess.PIPE) as program:
            assert is_sent.wait(60)
            program.send_signal(signal.SIGINT)
            _, said = program.communicate(timeout=60)
    assert program.returncode == 1
    assert said.endswith("\nAborted!\n")
    assert "Traceback" not in said
    owner.do("announce", RUN, "--text", "We go on for a month.")
    assert owner.state == before


def test_a_decision_whose_answer_was_lost_is_logged_once_and_no_number_is_used_twice(
    owner: RunOrganiser, once_refused: OnceRefused
) -> None:
    before, lost = owner.statements, list[Answer]()

    def lose_answer(url: str, sent: bytes | None) -> Answer:
        if lost or sent is None:
            return FULL_DISK if lost else pass_on(url, sent)
        lost.append(pass_on(url, sent))
        return FULL_DISK

    with (
        http_servers.serving(relay_to(owner.url, once_refused(lose_answer))) as url,
        pytest.raises(UserFacingError, match="it is given up"),
    ):
        replace(owner, url=url).do("announce", RUN, "--text", "Known to the ledger alone.")
    assert owner.statements > before
    owner.do("announce", RUN, "--text", "Heard by all.")
    peer = httpx.get(f"{owner.url}/v1/peers/{to_text(ORGANISER.key)}").json()
    assert not peer["standing"]["evidence"], "two statements under one number are foul play"


def test_a_ledger_that_says_why_it_cannot_serve_is_quoted(owner: RunOrganiser) -> None:
    with (
        http_servers.serving(relay_to(owner.url, lambda *_: FULL_DISK)) as url,
        pytest.raises(UserFacingError, match="cannot serve this now: the disk is full; try again"),
    ):
        replace(owner, url=url).run("list")


def test_a_run_is_paused_goes_on_and_ends(owner: RunOrganiser) -> None:
    (run,) = httpx.get(f"{owner.url}/v1/runs").json()["runs"]
    told = owner.do("pause", RUN)
    assert (
        f"paused after the current round; continue with `tequio run resume {run['run'][:10]}`"
        in told
    )
    told = owner.do("pause", RUN, "--reason", "The seeds move.")
    assert "paused already; only the reason has changed" in told
    (run,) = httpx.get(f"{owner.url}/v1/runs").json()["runs"]
    assert run["pause_reason"]["text"] == "The seeds move."
    assert "resumed" in owner.do("resume", RUN)
    assert owner.state not in ("paused", "finished")
    assert "ends after the current round" in owner.do("finish", RUN)
    before = owner.statements
    with pytest.raises(UserFacingError, match=r"run\.pause has no effect"):
        owner.do("pause", RUN, "--reason", "Too late.")
    assert owner.statements == before
    with pytest.raises(UserFacingError, match="no run 'nobody'"):
        owner.do("pause", "nobody")
