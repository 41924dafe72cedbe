"""Restricted keys, and the reasons, in the answers of the real program."""

from __future__ import annotations

from typing import TYPE_CHECKING

import trio

from tequio_shared.ids import peer_id_text, to_text
from tequio_shared.log.tiles import encode_bundle
from tequio_shared.network.conduct import count_signatures
from tequio_shared.statements.network import FaultReport, MemberLeave
from tests.support.authors import Author
from tests.support.equivocators import RUN, lie, open_run

if TYPE_CHECKING:
    import httpx

    from tests.support.ledgers import Served


def test_a_new_key_is_a_newcomer_and_not_listed(
    http: httpx.Client, author: Author, now_ms: int
) -> None:
    http.post("/v1/statements", content=encode_bundle([author.register(now_ms).leaf()]))
    answer = http.get(f"/v1/peers/{to_text(author.key)}").json()
    assert answer["standing"] == {
        "standing": "newcomer",
        "since": answer["registered_index"],
        "cause": None,
        "why": "",
        "evidence": [],
        "until": 0,
        "appeal": None,
    }
    listed = http.get("/v1/quarantine").json()
    assert to_text(author.key) not in [one["key"] for one in listed["peers"]]


def test_a_report_costs_what_its_leaves_cost_to_verify(author: Author, now_ms: int) -> None:
    leave, second = MemberLeave(reason=1), Author("a second signer", author.net).signer
    leaves = [author.sign(leave, now_ms, *others, run=RUN) for others in ((), (second,))]
    report = FaultReport(leaves=tuple(to_text(leaf.leaf()) for leaf in leaves), piece="")
    assert count_signatures(report) == 3
    assert count_signatures(FaultReport(leaves=(to_text(b"x"),), piece="")) == 0


def test_liars_are_listed_page_by_page_with_their_evidence(
    http: httpx.Client, program: Served
) -> None:
    trio.run(open_run, program)
    liars = [trio.run(lie, program, f"liar {number}") for number in range(3)]
    whole = http.get("/v1/quarantine").json()
    assert [one["key"] for one in whole["peers"]] == [to_text(liar.key) for liar in liars]
    first = whole["peers"][0]
    assert first["peer_id"] == peer_id_text(liars[0].key)
    standing = first["standing"]
    assert standing["standing"] == "quarantined"
    assert standing["why"] == "signed two different statements under one number"
    assert standing["since"] == standing["evidence"][-1] + 1, "the change follows its report"
    assert whole["as_of"]["size"] > standing["since"]
    paged: list[dict[str, object]] = []
    after: int | None = 0
    while after is not None:
        page = http.get("/v1/quarantine", params={"limit": 1, "after": after}).json()
        paged += page["peers"]
        after = page["next"]
    assert paged == whole["peers"]
    assert http.get(f"/v1/peers/{first['key']}").json()["standing"] == standing
