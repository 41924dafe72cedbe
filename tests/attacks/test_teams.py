"""Teams: others' links, stolen keys, forged and repeated statements, and names that deceive."""

from __future__ import annotations

import json
from functools import partial
from typing import TYPE_CHECKING

import httpx
import pytest

from tequio_client.clock import now_ms
from tequio_shared.errors import SignatureInvalidError
from tequio_shared.ids import NetworkId, sha256
from tequio_shared.log.tiles import encode_bundle
from tequio_shared.statements.network import MemberTeam, TeamDefine
from tequio_shared.statements.statement import Entry, sign, signed_message
from tests.shared.network.test_key_links import RECOVERY, quarantined
from tests.shared.network.test_teams import LINK, OTHER, TeamSwarm, refusal
from tests.support.attack_table import attack
from tests.support.authors import Author
from tests.support.ledgers import UNLIMITED, served

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


DEFINED = TeamDefine(team=0, name="Oaxaca", invitation="", until=0, most=0, goal=0, goal_until=0)


@attack(
    "T2",
    layer="adm",
    ends="refused as `key-ended`: the successor has the team, without the link",
)
def test_a_stolen_owners_key_keeps_neither_the_team_nor_its_link() -> None:
    swarm = TeamSwarm(*"abcd")
    team, thief = swarm.found("a"), swarm.them["a"]
    swarm.enter("b")
    swarm.bind(thief, RECOVERY)
    swarm.them["a"] = swarm.replace(thief, "heir", RECOVERY)
    assert (swarm.owner(), swarm.members()) == ("a", ["a", "b"])
    acts: tuple[Callable[[], object], ...] = (
        partial(swarm.send, thief, MemberTeam(team=0)),
        partial(swarm.send, thief, MemberTeam(team=team), LINK),
        partial(swarm.send, thief, DEFINED),
    )
    assert {refusal(act) for act in acts} == {"key-ended"}
    assert refusal(lambda: swarm.enter("c")) == "invitation-ended", "the thief can derive that link"
    swarm.define("a", link=OTHER)
    assert refusal(lambda: swarm.enter("c")) == "wrong-invitation"
    swarm.enter("d", OTHER)
    assert swarm.members() == ["a", "b", "d"]


@attack("T2", layer="adm", ends="refused as `wrong-key`: the owner's place needs its recovery key")
def test_nobody_takes_the_owners_place_without_its_recovery_key() -> None:
    swarm = TeamSwarm(*"ab")
    swarm.found("a")
    swarm.enter("b")
    owner = swarm.them["a"]
    swarm.bind(owner, RECOVERY)
    thief = swarm.new_volunteer("thief")
    body = swarm.replacement(owner.key, thief.key)
    for others in ((owner.signer,), (LINK,), (swarm.them["b"].signer,)):
        assert refusal(partial(swarm.send, thief, body, *others)) == "wrong-key"
    assert (swarm.owner(), swarm.record.invitation is None) == ("a", False)


@attack("T3", layer="env", ends="refused as `bad-signature`; the member stays")
def test_nobody_leaves_in_another_members_name() -> None:
    swarm = TeamSwarm(*"abc")
    swarm.found("a")
    swarm.enter("b")
    theirs = swarm.signed(swarm.them["b"], MemberTeam(team=0))
    (key, _), forger = theirs.signatures[0], swarm.them["c"].signer
    for signer in (forger, LINK, swarm.them["a"].signer):
        signature = signer.sign(signed_message(swarm.net, theirs.statement.raw))
        forged = Entry(((key, signature),), theirs.statement)
        with pytest.raises(SignatureInvalidError):
            swarm.log(forged)
    # Signed by the member, and by another key as well: the same statement, but not the same entry.
    both = sign(swarm.net, theirs.statement, swarm.them["b"].signer, forger)
    assert refusal(lambda: swarm.log(both)) == "wrong-invitation"
    assert swarm.members() == ["a", "b"]


@attack("T4", layer="adm", ends="refused as `equivocation`: a chain has each statement once")
def test_old_statements_about_a_team_are_not_admitted_again() -> None:
    swarm = TeamSwarm(*"abc")
    swarm.found("a")
    joined = swarm.enter("b")
    left = swarm.leave("b")
    assert refusal(lambda: swarm.log(joined)) == "equivocation"
    swarm.enter("b")
    assert refusal(lambda: swarm.log(left)) == "equivocation"
    opened = swarm.define("a", link=OTHER)
    handed = swarm.change("a", "b", "owner")
    swarm.change("b", "a", "owner")
    swarm.define("a", link=None)
    assert refusal(lambda: swarm.log(opened)) == "equivocation"
    assert refusal(lambda: swarm.log(handed)) == "equivocation"
    assert (swarm.owner(), swarm.record.invitation) == ("a", None)


@attack("T4", layer="env", ends="refused as `bad-signature`: the network's id is signed")
def test_a_statement_about_a_team_holds_in_one_network_only() -> None:
    swarm = TeamSwarm(*"ab")
    swarm.found("a")
    entry = swarm.signed(swarm.them["b"], MemberTeam(team=swarm.team), LINK)
    elsewhere = sign(
        NetworkId(sha256(b"another network")), entry.statement, swarm.them["b"].signer, LINK
    )
    with pytest.raises(SignatureInvalidError):
        swarm.log(elsewhere)
    swarm.log(entry)


HOSTILE = (
    "<b>Oaxaca</b>",
    "Oaxaca\u202eevil",
    "Oaxa\u200bca",
    "\u041eaxaca",  # a Cyrillic letter among Latin ones
    "Oaxaca\n0",
    "https://a.example",
    "Oaxaca  Norte",
    " Oaxaca",
    "Oaxaca\u0301",
    "\uff2faxaca",
    "O" * 4_000,
    "12345",
)


@attack("T5", layer="env", ends="refused as `malformed` by the ledger, and shown nowhere")
def test_a_ledger_admits_no_hostile_name_of_a_team(tmp_path: Path) -> None:
    with (
        served(tmp_path / "ledger", *UNLIMITED) as ledger,
        httpx.Client(base_url=ledger.url, timeout=30) as http,
    ):
        author = Author("founder", ledger.net)
        http.post("/v1/statements", content=encode_bundle([author.register(now_ms()).leaf()]))
        for name, code in (("Milpa", "not-eligible"), *((one, "malformed") for one in HOSTILE)):
            answer = http.post(
                "/v1/statements", content=encode_bundle([_hostile_leaf(author, name)])
            )
            (item,) = answer.json()["items"]
            assert (item["status"], item["code"]) == ("refused", code), name
        assert http.get("/v1/teams/2").status_code == 404
        assert "evil" not in http.get("/leaderboard?by=teams").text


def _hostile_leaf(author: Author, name: str) -> bytes:
    """Sign a founding whose name our own code would refuse."""
    end = author.seq, author.last
    raw = author.sign(DEFINED, now_ms()).statement.raw
    author.seq, author.last = end  # none of them is logged
    hostile = raw.replace(b'"Oaxaca"', json.dumps(name, ensure_ascii=False).encode())
    signature = author.signer.sign(signed_message(author.net, hostile))
    return b"\x01\x01" + author.key + signature + hostile


@attack("T5", layer="adm", ends="refused as `name-taken`: names that look alike are one name")
@pytest.mark.parametrize("name", ["OAXACA", "Oax-aca", "0axaca", "O\u00e1x\u00e0ca"])
def test_a_team_cannot_imitate_the_name_of_another(name: str) -> None:
    swarm = TeamSwarm(*"ab")
    swarm.found("a", "Oaxaca")
    assert refusal(lambda: swarm.found("b", name)) == "name-taken"


@attack("T6", layer="adm", ends="refused as `quarantined`: it can only leave")
def test_a_quarantined_key_neither_founds_nor_joins_nor_leads() -> None:
    swarm = TeamSwarm(*"abcde")
    team = swarm.found("a")
    swarm.enter("b")
    quarantined(swarm, swarm.them["a"])
    acts: tuple[Callable[[], object], ...] = (
        lambda: swarm.define("a", team, link=OTHER),
        lambda: swarm.change("a", "b", "removed"),
        lambda: swarm.change("a", "b", "owner"),
    )
    assert {refusal(act) for act in acts} == {"quarantined"}
    swarm.leave("a")
    assert (swarm.owner(), swarm.members()) == ("b", ["b"])
    assert refusal(lambda: swarm.enter("a")) == "quarantined"
    assert refusal(partial(swarm.send, swarm.them["a"], DEFINED)) == "quarantined"
