"""Joining by a link through a proxy that changes requests."""

from __future__ import annotations

from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler
from typing import TYPE_CHECKING

import httpx
import pytest
import trio
from click.testing import CliRunner

from tequio_client.clock import now_ms
from tequio_client.keys import identity
from tequio_client.ledger.api import LedgerApi
from tequio_client.links import InvitationLink
from tequio_client.worker.account_cli import join
from tequio_client.worker.ledger.account import register_by_invitation
from tequio_client.worker.ledger.outbox import Outbox
from tequio_shared.errors import UserFacingError
from tequio_shared.ids import digest_from_text, sha256, to_text
from tequio_shared.keys import Signer
from tequio_shared.log.tiles import encode_bundle, parse_bundle
from tequio_shared.statements.network import InviteOpen
from tequio_shared.statements.statement import Entry
from tests.support.attack_table import attack
from tests.support.authors import Author
from tests.support.http_servers import serving
from tests.support.ledgers import ORGANISER, UNLIMITED, served
from tests.support.linked_worker import linked

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.support.ledgers import Served


SEED = bytes([91]) * 32


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Served]:
    with served(tmp_path / "ledger", *UNLIMITED) as running:
        yield running


def invited(ledger: Served, address: str, run: str = "") -> InvitationLink:
    """Open an invitation; return a link to the network at that address."""
    link = InvitationLink(ledger=address, network=ledger.net, seed=SEED)
    host = Author("organiser", ledger.net)
    host.signer = ORGANISER
    known = httpx.get(f"{ledger.url}/v1/peers/{to_text(ORGANISER.key)}").json()
    host.seq, host.last = known["last_seq"], digest_from_text(known["last_hash"])
    until = now_ms() + 3_600_000
    body = InviteOpen(invitation=to_text(link.signer.key), uses=1, until=until, run=run)
    content = encode_bundle([host.sign(body, now_ms()).leaf()])
    (item,) = httpx.post(f"{ledger.url}/v1/statements", content=content).json()["items"]
    assert item["status"] == "logged"
    return link


@contextmanager
def stripping(url: str) -> Iterator[str]:
    """Pass all on, entries with their author's signature alone."""

    class EnteringProxy(BaseHTTPRequestHandler):
        def do_GET(self) -> None:  # the library's name
            self._answer(http.get(self.path))

        def do_POST(self) -> None:  # the library's name
            entries = map(Entry.parse, parse_bundle(self.rfile.read(self._length())))
            bare = [Entry(one.signatures[:1], one.statement).leaf() for one in entries]
            self._answer(http.post(self.path, content=encode_bundle(bare)))

        def _length(self) -> int:
            return int(self.headers["content-length"])

        def _answer(self, answer: httpx.Response) -> None:
            self.send_response(answer.status_code)
            self.send_header("content-type", answer.headers["content-type"])
            self.send_header("content-length", str(len(answer.content)))
            self.end_headers()
            self.wfile.write(answer.content)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the library's
            pass

    with httpx.Client(base_url=url, timeout=30) as http, serving(EnteringProxy) as between:
        yield between


@attack("A24", layer="cli", ends="a key is reported as invited only if its log entry proves it")
def test_a_guest_whose_invitation_was_left_out_on_the_way_is_told(
    ledger: Served, tmp_path: Path
) -> None:
    with stripping(ledger.url) as between:
        link = invited(ledger, between)
        with pytest.raises(UserFacingError, match=r"without the invitation.s signature"):
            register_by_invitation(link, tmp_path / "guest")
        assert "without this invitation" in register_by_invitation(link, tmp_path / "guest").said, (
            "and not: joined before"
        )
    direct = InvitationLink(ledger=ledger.url, network=ledger.net, seed=SEED)
    assert register_by_invitation(direct, tmp_path / "new").said.endswith("by invitation"), (
        "the link is not used up"
    )
    again = register_by_invitation(direct, tmp_path / "new")
    assert "already joined with this invitation" in again.said


def test_a_refused_invitation_leaves_the_folder_free_for_another_network(
    ledger: Served, tmp_path: Path
) -> None:
    folder = tmp_path / "guest"
    with served(tmp_path / "other", *UNLIMITED, "--network", "other") as other:
        unknown = InvitationLink(ledger=other.url, network=other.net, seed=SEED)
        not_known = pytest.RaisesExc(UserFacingError, match="does not know this invitation")
        with pytest.RaisesGroup(not_known):
            register_by_invitation(unknown, folder)
        link = invited(ledger, ledger.url)
        assert register_by_invitation(link, folder).said.endswith("by invitation")
        with pytest.RaisesGroup(pytest.RaisesExc(UserFacingError, match="another network: use")):
            register_by_invitation(unknown, folder)


@pytest.mark.parametrize("run", ["", to_text(sha256(b"a run"))])
def test_join_names_the_next_command_to_those_whom_the_invitation_admits(
    ledger: Served, tmp_path: Path, run: str
) -> None:
    link = invited(ledger, ledger.url, run).text()
    asked = [link, "--dir", str(tmp_path / "guest")]
    for _ in range(2):
        done = CliRunner().invoke(join, asked)
        assert done.exit_code == 0, done.output
        command = f"tequio worker --ledger {ledger.url} --dir {tmp_path / 'guest'}"
        assert done.stdout.endswith(f"next, run: {command}{f' --run {run}' if run else ''}\n")


def test_a_key_of_the_network_is_told_that_an_invitation_is_for_new_ones(
    ledger: Served, tmp_path: Path
) -> None:
    trio.run(registered, ledger.url, tmp_path / "guest")
    link = invited(ledger, ledger.url).text()
    done = CliRunner().invoke(join, [link, "--dir", str(tmp_path / "guest")])
    assert isinstance(done.exception, UserFacingError)
    assert "give another --dir" in str(done.exception)
    assert "next, run" not in done.output


async def registered(url: str, folder: Path) -> None:
    """Register the key of that folder without an invitation."""
    async with (
        LedgerApi(url) as api,
        Outbox(api, folder, identity.load_or_create(folder)) as outbox,
    ):
        with trio.fail_after(60):
            await outbox.register()


@pytest.mark.trio
async def test_a_worker_joins_by_the_invitation_of_its_app_before_it_does_anything(
    ledger: Served, tmp_path: Path
) -> None:
    link, seeds = await trio.to_thread.run_sync(invited, ledger, ledger.url), (b"a" * 32, b"b" * 32)
    async with linked(
        tmp_path / "ana", ledger.url, seed=seeds[0], invitation=link.text()
    ) as worker:
        await worker.until("it shows itself", lambda one: one.at_ms > 0)
    key = to_text(Signer(seeds[0]).key)
    async with httpx.AsyncClient() as http:
        tier = (await http.get(f"{ledger.url}/v1/peers/{key}")).json()["tier"]
    assert (tier["tier"], tier["owner"]) == (2, to_text(link.signer.key))
    async with linked(tmp_path / "bo", ledger.url, seed=seeds[1], invitation=link.text()) as worker:
        with trio.fail_after(60):
            assert await worker.process.wait() == 1
        assert "tequio: this invitation has no uses left" in worker.log.read_text()
