"""Links to networks, as the ledger's pages carry them, and links of teams."""

from __future__ import annotations

from dataclasses import replace
from urllib.parse import urlencode

import pytest

from tequio_client.links import (
    CompetitionLink,
    InvitationLink,
    NetworkLink,
    TeamLink,
    is_network_link,
    is_team_link,
)
from tequio_shared.errors import UserFacingError
from tequio_shared.ids import NetworkId, RunId, sha256, to_text
from tests.support.attack_table import attack

LEDGER = "https://ledger.example"
RUN = RunId(sha256(b"a run"))
INVITATION = InvitationLink(ledger=LEDGER, network=NetworkId(sha256(b"net")), seed=bytes(32))
TEAM = TeamLink(ledger=LEDGER, network=NetworkId(sha256(b"net")), team=238, seed=sha256(b"seed"))
LINKS: tuple[InvitationLink | NetworkLink | CompetitionLink | TeamLink, ...] = (
    INVITATION,
    NetworkLink(ledger=LEDGER, run=RUN),
    CompetitionLink(ledger=LEDGER, competition=sha256(b"competition")),
    TEAM,
)


def test_a_link_names_a_network_and_perhaps_a_run() -> None:
    network, run = NetworkLink(ledger=LEDGER), NetworkLink(ledger=LEDGER, run=RUN)
    assert network.text() == f"tequio://join?ledger={LEDGER}"
    assert run.text() == f"tequio://join?ledger={LEDGER}&run={to_text(RUN)}"
    for one in (network, run):
        assert NetworkLink.parse(f" {one.text()}\n") == one
        assert is_network_link(one.text())


def test_the_address_may_be_escaped() -> None:
    text = "tequio://join?ledger=http%3A//127.0.0.1%3A8600"
    assert NetworkLink.parse(text).ledger == "http://127.0.0.1:8600"


@pytest.mark.parametrize("text", [INVITATION.text(), INVITATION.text()[:-9], "https://a.example"])
def test_an_invitation_is_not_a_link_to_a_network(text: str) -> None:
    assert not is_network_link(text)


@pytest.mark.parametrize(
    "text",
    [
        "tequio://join?",
        f"tequio://join?ledger={LEDGER}&run=short",
        f"tequio://join?ledger={LEDGER}&ledger={LEDGER}",
        f"tequio://join?ledger={LEDGER}&more=1",
        "tequio://join?ledger=file:///etc/passwd",
        "tequio://join?ledger=https://a.example%0AYour computer is locked",
    ],
)
def test_an_incomplete_link_is_refused(text: str) -> None:
    with pytest.raises(UserFacingError, match="link to a network is incomplete"):
        NetworkLink.parse(text)


@attack("P26", layer="cli", ends="refused: an address has a host and plain characters")
@pytest.mark.parametrize(
    "ledger",
    [
        "https://l\u0435dger.example",
        "https://ledger.example\u202eelpmaxe.live",
        "https://ledger.example\u200b.evil.example",
        "https://evil.example/\x1b]0;ledger.example\x07",
        "https://evil.example/\nnew line",
        f"https://evil.example/{'x' * 300}",
        "https://ledger.example@evil.example",
        "https://ledger.example\\@evil.example",
        "https://evil.example/<img src='//evil.example/a'>",
        "https://",
    ],
)
def test_no_link_imitates_the_address_of_another_ledger(ledger: str) -> None:
    address = urlencode({"ledger": ledger})
    for link in LINKS:
        assert type(link).parse(link.text()) == link
        altered = link.text().replace(f"ledger={LEDGER}", address)
        with pytest.raises(UserFacingError, match="invalid ledger address") as caught:
            type(link).parse(altered)
        assert str(caught.value).isascii()
        assert str(caught.value).isprintable()
        with pytest.raises(UserFacingError, match="no link can have the ledger address"):
            replace(link, ledger=ledger).text()


def test_a_team_is_named_by_a_link_or_by_a_code() -> None:
    net, seed = to_text(sha256(b"net")), to_text(sha256(b"seed"))
    assert TEAM.text() == f"tequio://team?ledger={LEDGER}&network={net}&id=238&key={seed}"
    assert TeamLink.parse(f" {TEAM.text()}\n") == TEAM
    assert is_team_link(TEAM.text())
    assert not is_team_link(INVITATION.text())
    assert not is_network_link(TEAM.text())
    assert TEAM.code() == f"238-{seed}"
    code = TeamLink.parse(f" {TEAM.code()} ")
    assert (code.team, code.seed, code.network, code.ledger) == (238, TEAM.seed, None, "")
    assert code.signer == TEAM.signer


@pytest.mark.parametrize(
    "text",
    [
        "",
        "238",
        "238-short",
        "0-" + to_text(sha256(b"seed")),
        "-" + TEAM.code(),
        "12345678901234567-" + to_text(sha256(b"seed")),
        TEAM.text()[:-1],
        TEAM.text() + "&more=1",
        TEAM.text().replace("id=238", "id=-1"),
        TEAM.text().replace("https", "file"),
        TEAM.text().replace(".example", ".example%0AYour computer is locked"),
    ],
)
def test_an_incomplete_team_link_is_refused(text: str) -> None:
    with pytest.raises(UserFacingError, match="not the whole join link or code"):
        TeamLink.parse(text)
