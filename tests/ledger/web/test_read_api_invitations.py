"""Invitations, connectors, and who came by them, in the answers of the real program."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tequio_shared.ids import digest_from_text, sha256, to_text
from tequio_shared.keys import Signer
from tequio_shared.log.tiles import encode_bundle
from tequio_shared.network.tiers import owner_of
from tequio_shared.statements.network import (
    InviteClose,
    InviteOpen,
    MemberVouch,
    RoleGrant,
    RoleRevoke,
)
from tests.support.authors import Author, registration
from tests.support.ledgers import ORGANISER

if TYPE_CHECKING:
    import httpx

    from tests.support.ledgers import Served

DAY_MS = 86_400_000
LINKS = [Signer(bytes([number]) * 32) for number in (61, 62)]


def organiser(http: httpx.Client, program: Served) -> Author:
    """The organiser, at the end of its chain."""
    author = Author("organiser", program.net)
    author.signer = ORGANISER
    known = http.get(f"/v1/peers/{to_text(author.key)}").json()
    author.seq, author.last = known["last_seq"], digest_from_text(known["last_hash"])
    return author


def logged(http: httpx.Client, *leaves: bytes) -> list[int]:
    items = http.post("/v1/statements", content=encode_bundle(leaves)).json()["items"]
    assert [one["status"] for one in items] == ["logged"] * len(items), items
    return [one["index"] for one in items]


def test_invitations_are_listed_with_what_they_let_in(
    http: httpx.Client, program: Served, author: Author, now_ms: int
) -> None:
    host, until, run = organiser(http, program), now_ms + DAY_MS, to_text(sha256(b"a run"))
    opened = [
        host.sign(
            InviteOpen(invitation=to_text(link.key), uses=2, until=until, run=where), now_ms
        ).leaf()
        for link, where in zip(LINKS, ("", run), strict=True)
    ]
    indices = logged(http, *opened)
    entry = author.sign(registration(author.net, author.key), now_ms, LINKS[1])
    (came,) = logged(http, entry.leaf())
    (closed,) = logged(
        http, host.sign(InviteClose(invitation=to_text(LINKS[0].key)), now_ms).leaf()
    )
    first, second = http.get("/v1/invitations").json()["invitations"]
    assert first == {
        "invitation": to_text(LINKS[0].key),
        "index": indices[0],
        "uses": 2,
        "used": 0,
        "until": until,
        "run": None,
        "closed": closed,
        "revoked": None,
    }
    assert (second["run"], second["used"], second["closed"]) == (run, 1, None)
    page = http.get("/v1/invitations", params={"limit": 1}).json()
    assert (page["invitations"], page["next"]) == ([first], indices[0])
    rest = http.get("/v1/invitations", params={"after": indices[0]}).json()
    assert (rest["invitations"], rest["next"]) == ([second], None)
    peer = http.get(f"/v1/peers/{to_text(author.key)}").json()
    assert peer["tier"] == {
        "tier": 2,
        "owner": to_text(LINKS[1].key),
        "run": run,
        "until": 0,
        "since": came,
    }


def test_connectors_are_listed_until_they_are_revoked(
    http: httpx.Client, program: Served, author: Author, now_ms: int
) -> None:
    host, until = organiser(http, program), now_ms + DAY_MS
    logged(http, author.register(now_ms).leaf())
    peer = to_text(author.key)
    grant = RoleGrant(peer=peer, role="connector", until=until)
    logged(http, host.sign(grant, now_ms).leaf())
    assert http.get("/v1/connectors").json()["connectors"] == [{"key": peer, "until": until}]
    vouch = MemberVouch(peer=peer, owner=to_text(sha256(b"account")), until=until)
    (index,) = logged(http, author.sign(vouch, now_ms).leaf())
    assert http.get(f"/v1/peers/{peer}").json()["tier"] == {
        "tier": 1,
        "owner": to_text(owner_of(author.key, sha256(b"account"))),
        "run": None,
        "until": until,
        "since": index,
    }
    logged(http, host.sign(RoleRevoke(peer=peer, role="connector"), now_ms).leaf())
    assert http.get("/v1/connectors").json()["connectors"] == []
    tier = http.get(f"/v1/peers/{peer}").json()["tier"]
    assert (tier["tier"], tier["owner"], tier["since"]) == (0, peer, None)
