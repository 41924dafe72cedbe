"""`tequio team` on a real ledger, with and without a running worker."""

from __future__ import annotations

import re
from functools import partial
from typing import TYPE_CHECKING

import httpx
import pytest
import trio
from msgspec import structs

from tequio_client.clock import now_ms
from tequio_client.ipc.account import AccountQuestion
from tequio_client.ipc.snapshot import LedgerView
from tequio_client.ledger.api import LedgerApi
from tequio_client.links import TeamLink
from tequio_client.runtime import locked
from tequio_client.worker.ledger import key_changes
from tequio_client.worker.ledger.outbox import Outbox
from tequio_shared.ids import to_text
from tequio_shared.keys import Signer
from tequio_shared.statements.network import InviteOpen
from tests.support import recording_worker
from tests.support.account_commands import output
from tests.support.authors import Author
from tests.support.equivocators import key_folder
from tests.support.forked_program import CLIENT, run_forked
from tests.support.ledgers import ORGANISER, UNLIMITED, Served, served
from tests.support.recording_worker import RecordingWorker

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tequio_client.ipc.control import Question, Reply
    from tequio_client.ipc.snapshot import Snapshot

INVITATION = Signer(b"\x09" * 32)
LINK = re.compile(r"tequio://team\?\S+")


@pytest.fixture(scope="module")
def ledger(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with served(tmp_path_factory.mktemp("ledger"), *UNLIMITED) as one:
        trio.run(invite, one)
        yield one


async def invite(one: Served) -> None:
    """Open an invitation: keys that register with it may found teams at once."""
    async with LedgerApi(one.url) as api:
        organiser = Author("organiser", one.net)
        organiser.signer = ORGANISER
        known = await api.peer(ORGANISER.key)
        organiser.seq, organiser.last = known.last_seq, known.last
        until = now_ms() + 86_400_000
        body = InviteOpen(invitation=to_text(INVITATION.key), uses=99, until=until, run="")
        await api.post_entries([organiser.sign(body, now_ms())])


def member(ledger: Served, path: Path, name: str) -> tuple[Author, Path]:
    async def register() -> None:
        async with LedgerApi(ledger.url) as api:
            (posted,) = await api.post_entries([author.register(now_ms(), INVITATION)])
            assert posted.status == "logged", posted

    author = Author(name, ledger.net)
    trio.run(register)
    return author, key_folder(path / name, author.signer)


def link_in(text: str) -> str:
    found = LINK.search(text)
    assert found is not None, text
    return found[0]


def test_a_team_from_its_founding_to_its_end(ledger: Served, tmp_path: Path) -> None:
    (ana, ana_folder), (bo, bo_folder) = (member(ledger, tmp_path, name) for name in ("ana", "bo"))
    told = output("team", ledger, ana_folder, "found", "Oaxaca Norte")
    assert "Oaxaca Norte (1 member)" in told
    link = TeamLink.parse(link_in(told))
    assert (link.ledger, link.network) == (ledger.url, ledger.net)
    page = f"{ledger.url}/teams/{link.team}"
    assert "(2 members)" in output("team", ledger, bo_folder, "join", link.code())
    assert "leave it first" in output("team", ledger, bo_folder, "join", link.text())
    assert "only the owner" in output("team", ledger, bo_folder, "goal", "0")
    told = output("team", ledger, ana_folder, "goal", "5000", "--by", "9999-12-31")
    assert "0 of 5,000 points by" in told
    assert link_in(told) == link.text(), "a goal changes no link"
    text = httpx.get(page, timeout=30).text
    assert to_text(bo.key) in text
    assert "5,000</a></span> points by" in text
    assert "(1 member)" in output("team", ledger, ana_folder, "remove", to_text(bo.key))
    assert "ask the owner for a new one" in output("team", ledger, bo_folder, "join", link.text())
    again = link_in(output("team", ledger, ana_folder, "link", "--days", "2", "--members", "2"))
    assert "the present link" in output("team", ledger, bo_folder, "join", link.text())
    assert "Oaxaca Norte" in output("team", ledger, bo_folder, "join", again)
    told = output("team", ledger, ana_folder, "hand-over", to_text(bo.key))
    assert "join link" not in told, "the link of the former owner is not the new one's to copy"
    assert "in no team" in output("team", ledger, ana_folder, "leave")
    assert "is in no team" in output("team", ledger, ana_folder, "leave")
    told = output("team", ledger, bo_folder, "show")
    assert f"{to_text(bo.key)}" in told
    assert to_text(ana.key) not in told
    assert "in no team" in output("team", ledger, bo_folder, "leave")
    assert "its last member left" in httpx.get(page, timeout=30).text


class AnsweringWorker(RecordingWorker):
    """Carries questions out as a worker does, with the real outbox."""

    def __init__(self, url: str, api: LedgerApi, outbox: Outbox, signer: Signer) -> None:
        super().__init__()
        self.url, self.api, self.outbox, self.signer = url, api, outbox, signer
        self.asked: list[str] = []

    def snapshot(self) -> Snapshot:
        return structs.replace(super().snapshot(), ledger=LedgerView(url=self.url))

    async def answer(self, question: Question) -> Reply:
        self.asked.append(type(question).__name__)
        assert isinstance(question, AccountQuestion)
        return await key_changes.answer(self.api, self.outbox, self.signer, question)


def test_commands_go_through_the_running_worker(ledger: Served, tmp_path: Path) -> None:
    author, folder = member(ledger, tmp_path, "carla")
    (folder / "identity.key").unlink()  # only the worker has the key

    async def said(*words: str) -> str:
        return await trio.to_thread.run_sync(lambda: output(words[0], ledger, folder, *words[1:]))

    async def scenario() -> list[str]:
        async with (
            LedgerApi(ledger.url) as api,
            Outbox(api, tmp_path, author.signer) as outbox,
        ):
            host = AnsweringWorker(ledger.url, api, outbox, author.signer)
            async with recording_worker.served(folder, host=host):
                assert "M\u00e9xico (1 member)" in await said("team", "found", "Me\u0301xico")
                assert "already" in await said("team", "rename", "Me\u0301xico")
                assert "is called 'Carla' now" in await said("name", "Carla")
                assert "has 1 character:" in await said("name", "a")
                assert "nothing to appeal against" in await said("appeal")
                host.url = "http://another.example"
                assert "uses the ledger http://another.example" in await said("team", "show")
            return host.asked

    assert trio.run(scenario) == [
        "RequestTeam",
        "RequestTeam",
        "RequestName",
        "RequestAppeal",
    ]


def test_a_recovery_key_is_bound_by_the_running_worker_or_not_made(
    ledger: Served, tmp_path: Path
) -> None:
    author, folder = member(ledger, tmp_path, "delia")
    file = tmp_path / "recovery.tequio-key"
    place = ("--ledger", ledger.url, "--dir", str(folder))

    async def said(*words: object) -> str:
        line = ("key", "recovery", *map(str, words), *place)
        run = partial(run_forked, CLIENT, *line, timeout_s=60, stdin="eight or more\n")
        done = await trio.to_thread.run_sync(run)
        return done.stdout + done.stderr

    async def scenario() -> None:
        async with (
            LedgerApi(ledger.url) as api,
            Outbox(api, tmp_path, author.signer) as outbox,
        ):
            host = AnsweringWorker(ledger.url, api, outbox, author.signer)
            with locked(folder):
                assert "another process uses the folder" in await said(file, "--stdin")
                assert not file.exists()
                async with recording_worker.served(folder, host=host):
                    host.url = "http://another.example"
                    assert "uses the ledger http://another" in await said(file, "--stdin")
                    assert not file.exists()
                    host.url = ledger.url
                    assert "in a terminal" in await said()
                    assert "is bound to" in await said(file, "--stdin")
            assert (await api.peer(author.key)).recovery is not None
            assert f"the file {file} exists already" in await said(file, "--stdin")

    trio.run(scenario)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("join", ""), "the LINK is empty"),
        (("join", "Oaxaca"), "not the whole join link or code"),
        (("join", "tequio://team?ledger=http://x"), "not the whole join link or code"),
        (("found", "a"), "has 1 character:"),
        (("goal", "5"), "give the POINTS and --by"),
        (("remove", "ana"), "invalid key 'ana'"),
        (("show",), "no key found in"),
    ],
)
def test_what_cannot_be_done_is_told_in_one_sentence(
    ledger: Served, tmp_path: Path, words: tuple[str, ...], said: str
) -> None:
    folder = tmp_path / "none"
    if words[0] == "join":
        folder = key_folder(tmp_path / "worker", Author(f"a stranger {words}", ledger.net).signer)
    assert said in output("team", ledger, folder, *words)


def test_a_link_of_another_network_and_a_team_that_is_none_are_refused(
    ledger: Served, tmp_path: Path
) -> None:
    author, folder = member(ledger, tmp_path, "dora")
    seed = b"\x05" * 32
    away = TeamLink(ledger="http://x.example", network=INVITATION.key, team=3, seed=seed)  # type: ignore[arg-type] # any 32 bytes
    assert "another network, whose ledger is http://x.example" in output(
        "team", ledger, folder, "join", away.text()
    )
    code = TeamLink(team=1, seed=seed).code()
    assert "entry 1 did not found a team" in output("team", ledger, folder, "join", code)
    assert author.seq == 1
