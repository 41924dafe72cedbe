"""Links to networks, as the ledger's pages carry them."""

from __future__ import annotations

import pytest

from tequio_client.links import InvitationLink, NetworkLink, is_network_link
from tequio_shared.errors import UserFacingError
from tequio_shared.ids import NetworkId, RunId, sha256, to_text

LEDGER = "https://ledger.example"
RUN = RunId(sha256(b"a run"))
INVITATION = InvitationLink(ledger=LEDGER, network=NetworkId(sha256(b"net")), seed=bytes(32))


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
