"""Invitations and connectors as people meet them: organisers' and guests' commands."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from dataclasses import dataclass
from typing import TYPE_CHECKING

import httpx
import pytest
from click.testing import CliRunner

from tequio_client.__main__ import cli
from tequio_client.clock import now_ms
from tequio_client.keys import identity
from tequio_client.links import InvitationLink
from tequio_shared.errors import UserFacingError
from tequio_shared.ids import NetworkId, sha256, to_text
from tequio_shared.keys import Signer
from tequio_shared.log.tiles import encode_bundle
from tequio_shared.statements.network import MemberVouch
from tests.support.authors import Author
from tests.support.equivocators import key_folder
from tests.support.forged_tables import TRUSTING
from tests.support.ledgers import ORGANISER, UNLIMITED, served

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from click.testing import Result

    from tequio_shared.statements.statement import Entry
    from tests.support.ledgers import Served


QUIET = ("--run", "nobody's", "--listen", "/ip4/127.0.0.1/tcp/0", "--log-level", "error")
SECOND = Signer(bytes([8]) * 32)


@dataclass(frozen=True, slots=True, kw_only=True)
class InvitationLedger:
    """A ledger with two organisers, and a folder for each guest."""

    url: str
    folder: Path
    organisers: tuple[str, str]

    def tequio(self, *words: str) -> Result:
        """Run a command that works."""
        result = CliRunner().invoke(cli, words)
        if result.exception is not None:
            raise result.exception
        return result

    def refused(self, *words: str) -> str:
        """Run a command that has to fail; its one sentence."""
        error: BaseException | None = CliRunner().invoke(cli, words).exception
        while isinstance(error, BaseExceptionGroup):
            error = error.exceptions[0]
        assert isinstance(error, UserFacingError)
        return str(error)

    def invite(self, *words: str) -> str:
        """Open an invitation; return its link."""
        made = self.tequio("invite", "open", *words, "--ledger", self.url, *self.both)
        return made.stdout.strip()

    @property
    def both(self) -> tuple[str, ...]:
        """Options by which all organisers sign."""
        first, second = self.organisers
        return ("--dir", first, "--with", second) if second else ("--dir", first)

    def guest(self, name: str) -> str:
        """Give a folder that has a key in it once it joined."""
        return str(self.folder / name)

    def tier(self, name: str) -> dict[str, object]:
        """The tier that the ledger reports for the guest's key."""
        key = to_text(identity.load_or_create(self.folder / name).key)
        found = httpx.get(f"{self.url}/v1/peers/{key}").json()["tier"]
        assert isinstance(found, dict)
        return found


@pytest.fixture(scope="module")
def ledger(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """Start one ledger for all tests."""
    folder = tmp_path_factory.mktemp("ledger")
    with served(folder, *UNLIMITED, "--organiser", to_text(SECOND.key)) as one:
        yield one


@pytest.fixture
def host(ledger: Served, tmp_path: Path) -> InvitationLedger:
    folders = key_folder(tmp_path / "first", ORGANISER), key_folder(tmp_path / "second", SECOND)
    return InvitationLedger(
        url=ledger.url, folder=tmp_path, organisers=(str(folders[0]), str(folders[1]))
    )


def test_who_has_the_link_joins_until_it_is_used_up(host: InvitationLedger) -> None:
    link = host.invite("--uses", "2")
    for name in ("ana", "bo"):
        said = host.tequio("join", link, "--dir", host.guest(name)).output
        assert "joined the network" in said
        assert f"tequio worker --ledger {host.url}" in said
        invitation = InvitationLink.parse(link).signer.key
        assert (host.tier(name)["tier"], host.tier(name)["owner"]) == (2, to_text(invitation))
    assert "no uses left" in host.refused("join", link, "--dir", host.guest("cleo"))
    assert (
        "already joined with this invitation"
        in host.tequio("join", link, "--dir", host.guest("ana")).output
    )
    listed = host.tequio("invite", "list", "--ledger", host.url).output
    assert to_text(InvitationLink.parse(link).signer.key) in listed
    assert "used up, 2 of 2 used, until" in listed


def test_a_worker_joins_by_a_link_before_it_looks_for_a_run(host: InvitationLedger) -> None:
    link, folder = host.invite(), host.guest("ana")
    assert "no run" in host.refused("worker", "--invitation", link, "--dir", folder, *QUIET)
    assert host.tier("ana")["tier"] == 2
    spent = ("worker", "--invitation", link, "--dir", host.guest("bo"), *QUIET)
    assert "no uses left" in host.refused(*spent)


def test_a_key_that_is_registered_stays_what_it_is(host: InvitationLedger) -> None:
    first, other = host.invite(), host.invite()
    host.tequio("join", first, "--dir", host.guest("ana"))
    again = host.refused("join", other, "--dir", host.guest("ana"))
    assert "is already registered in this network" in again
    assert host.tier("ana")["owner"] == to_text(InvitationLink.parse(first).signer.key)


def test_organisers_revoke_a_link_that_was_passed_on_and_whom_it_let_in(
    host: InvitationLedger,
) -> None:
    link, folder = host.invite("--uses", "9"), host.guest("ana")
    host.tequio("join", link, "--dir", folder)
    revoke = ("invite", "revoke", link, "--ledger", host.url)
    assert "more organisers have to sign" in host.refused(*revoke, *host.both[:2])
    assert host.tier("ana")["tier"] == 2
    assert "is revoked" in host.tequio(*revoke, *host.both).output
    assert host.tier("ana")["tier"] == 0
    assert "has ended" in host.refused("join", link, "--dir", host.guest("bo"))
    assert "revoked by entry" in host.tequio("invite", "list", "--ledger", host.url).output


def test_one_organiser_of_two_invites_nobody(host: InvitationLedger) -> None:
    words = ("invite", "open", "--ledger", host.url, *host.both[:2])
    assert "more organisers have to sign" in host.refused(*words)


def test_an_organiser_closes_an_invitation_by_its_link(host: InvitationLedger) -> None:
    link, (first, _) = host.invite("--uses", "9"), host.organisers
    close = ("invite", "close", link, "--ledger", host.url, "--dir", first)
    assert "is closed: logged as entry" in host.tequio(*close).output
    assert "has ended" in host.refused("join", link, "--dir", host.guest("ana"))
    key = to_text(InvitationLink.parse(link).signer.key)
    assert "no such invitation is open" in host.refused(
        "invite", "close", key[:12], "--ledger", host.url, "--dir", first
    )


def test_a_link_to_another_network_or_a_broken_one_is_told_in_words(host: InvitationLedger) -> None:
    link = InvitationLink.parse(host.invite())
    other = InvitationLink(
        ledger=host.url, network=NetworkId(sha256(b"another")), seed=link.seed
    ).text()
    assert "a different network" in host.refused("join", other, "--dir", host.guest("ana"))
    unknown = InvitationLink(ledger=host.url, network=link.network, seed=bytes([77]) * 32).text()
    assert "does not know this invitation" in host.refused(
        "join", unknown, "--dir", host.guest("bo")
    )
    for broken in (link.text()[:-1], link.text().split("&")[0], "https://example.org/"):
        assert "not a valid invitation link" in host.refused(
            "join", broken, "--dir", host.guest("cleo")
        )


def test_two_organisers_let_a_key_vouch_and_take_that_back(
    host: InvitationLedger, tmp_path: Path
) -> None:
    first, second = host.organisers
    key, file = to_text(Signer(bytes([78]) * 32).key), str(tmp_path / "grant.json")
    at = ("--ledger", host.url)
    assert "more organisers have to sign" in host.refused(
        "connector", "grant", key, *at, "--dir", first
    )
    half = host.tequio("connector", "grant", key, *at, "--dir", first, "--out", file).output
    assert "has to sign it before" in half
    assert key in json.loads((tmp_path / "grant.json").read_text())["says"]
    done = host.tequio("countersign", file, "--yes", *at, "--dir", second).output
    assert "is a connector until" in done
    assert key in host.tequio("connector", "list", *at).output
    both = (*at, "--dir", first, "--with", second)
    assert "is no longer a connector" in host.tequio("connector", "revoke", key, *both).output
    assert key not in host.tequio("connector", "list", *at).output
    assert "invalid key" in host.refused("connector", "revoke", key[:20], *both)


def test_the_audit_derives_the_tiers_that_the_ledger_has_and_finds_one_that_was_changed(
    tmp_path: Path,
) -> None:
    first = key_folder(tmp_path / "first", ORGANISER)
    with served(tmp_path / "ledger", *UNLIMITED, setup=TRUSTING) as one:
        host = InvitationLedger(url=one.url, folder=tmp_path, organisers=(str(first), ""))
        link = host.invite("--uses", "2")
        for name in ("ana", "bo"):
            host.tequio("join", link, "--dir", host.guest(name))
        connector = Author("connector", one.net)
        assert said(one, connector.register(now_ms())) == "logged"
        key = to_text(connector.key)
        host.tequio("connector", "grant", key, "--ledger", one.url, "--dir", str(first))
        own = Author("connected", one.net)
        own.signer = identity.load_or_create(tmp_path / "connected")
        peer = to_text(own.key)
        assert said(one, own.register(now_ms())) == "logged"
        owner, until = to_text(sha256(b"account")), now_ms() + 3_600_000
        vouch = MemberVouch(peer=peer, owner=owner, until=until)
        assert said(one, connector.sign(vouch, now_ms())) == "logged"
        assert [host.tier(name)["tier"] for name in ("ana", "bo", "connected")] == [2, 2, 1]
        assert audited(one, tmp_path / "sound.json") == (0, [])
        with closing(sqlite3.connect(tmp_path / "ledger" / "ledger.sqlite")) as base, base:
            base.execute("UPDATE tier SET owner = peer WHERE peer = ?", (own.key,))
        told = audited(one, tmp_path / "changed.json")
    assert told == (2, [(f"answer /v1/peers, peers[{peer}].tier.owner", None)])


def said(ledger: Served, entry: Entry) -> str:
    """Post an entry; return its status."""
    answer = httpx.post(f"{ledger.url}/v1/statements", content=encode_bundle([entry.leaf()]))
    return str(answer.json()["items"][0]["status"])


def audited(ledger: Served, report: Path) -> tuple[int, list[tuple[str, str | None]]]:
    """Exit status of the audit, and what it found of whom."""
    words = ["audit", "--ledger", ledger.url, "--json", str(report)]
    code = CliRunner().invoke(cli, words).exit_code
    found = json.loads(report.read_text())["findings"]
    return code, [(one["what"], one["peer"]) for one in found]
