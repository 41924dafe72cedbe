"""Where rank 0 of a cell is, by the name that its owner gives."""

from __future__ import annotations

import socket

import pytest

from tequio_client.platform import cell_network
from tequio_shared.errors import UserFacingError

PORT = 29_500
OWN = "192.168.1.20"


def names(monkeypatch: pytest.MonkeyPatch, *addresses: str, own: str = OWN) -> None:
    """Let every name lead to these addresses, and the way out begin at `own`."""
    found = [
        (socket.AF_INET6 if ":" in one else socket.AF_INET, socket.SOCK_STREAM, 6, "", (one, PORT))
        for one in addresses
    ]
    monkeypatch.setattr("socket.getaddrinfo", lambda *_args, **_more: list(found))
    monkeypatch.setattr(cell_network, "address_towards", lambda _: own)


@pytest.mark.parametrize(
    ("name", "addresses", "resolved"),
    [
        ("node1", ("10.0.0.1",), "10.0.0.1"),
        ("node1", ("fd00::1", "10.0.0.1"), "10.0.0.1"),
        ("node1", ("127.0.1.1", "10.0.0.1"), "10.0.0.1"),
        ("node1", ("127.0.1.1",), OWN),
        ("node1", ("::1", "127.0.1.1"), OWN),
        ("localhost", ("127.0.0.1",), "127.0.0.1"),
        ("127.0.1.1", ("127.0.1.1",), "127.0.1.1"),
        ("::1", ("::1",), "::1"),
    ],
)
def test_a_name_of_this_computer_leads_to_where_others_get_in(
    monkeypatch: pytest.MonkeyPatch, name: str, addresses: tuple[str, ...], resolved: str
) -> None:
    names(monkeypatch, *addresses)
    assert cell_network.resolve(name, PORT) == resolved


def test_a_computer_without_a_network_is_told_what_its_name_leads_to(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    names(monkeypatch, "127.0.1.1", own="")
    with pytest.raises(UserFacingError, match=r"'node1' leads to 127\.0\.1\.1, where no other"):
        cell_network.resolve("node1", PORT)


def test_the_own_address_on_the_way_to_the_loopback_is_the_loopback() -> None:
    assert cell_network.address_towards("127.0.0.1") == "127.0.0.1"
