"""The page of an entry: what it shows is all that is needed to prove the entry."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING

import pytest

from tequio_ledger.store import entries
from tequio_shared.ids import NetworkId, from_text, to_text
from tequio_shared.limits import JSON_INTEGER
from tequio_shared.log.merkle import leaf_hash, verify_inclusion
from tequio_shared.log.notes import VerifierKey, open_checkpoint
from tequio_shared.statements.statement import Entry
from tests.support.sample_ledger import LINK

if TYPE_CHECKING:
    from tests.ledger.web.pages.conftest import PageSite


def raw(text: str) -> bytes:
    return base64.b64decode(text.strip(), validate=True)


@pytest.mark.parametrize("index", [0, 1, 255, 256, 700])
def test_what_a_page_shows_proves_its_entry(seen: PageSite, index: int) -> None:
    page = seen.pages.get(f"/entries/{index}")
    leaf = raw(page.by_id("leaf").text)
    vkey = VerifierKey.parse(page.by_id("log-key").text)
    checkpoint = open_checkpoint(page.by_id("note").text.encode(), vkey).checkpoint
    path = [raw(line) for line in page.by_id("path").text.split()]
    verify_inclusion(leaf_hash(leaf), index, checkpoint.size, path, checkpoint.root)
    entry = Entry.parse(leaf)
    entry.verify(NetworkId(from_text(page.by_id("network").text)))
    assert page.by_id("statement").text == entry.statement.raw.decode()
    assert raw(page.by_id("leaf-hash").text) == leaf_hash(leaf)


def test_fields_are_said_in_words_and_lead_on(seen: PageSite) -> None:
    liar = seen.shown.peers[5]
    record = seen.shown.ledger.state.standings.records[liar.key]
    page = seen.pages.get(f"/entries/{record.since}")
    assert "signed two different statements under one number" in page.text
    assert "Excluded from all rounds until its term is over and it asks to return." in page.text
    wanted = {f"/peers/{to_text(liar.key)}", *(f"/entries/{at}" for at in record.evidence)}
    assert wanted <= set(page.links())


def test_only_a_signer_that_is_registered_is_a_link(seen: PageSite) -> None:
    invited, link = to_text(seen.shown.peers[1].key), to_text(LINK.key)
    with seen.shown.ledger.database.reader.begin() as connection:
        joined = entries.entries_before(connection, JSON_INTEGER, 1_000, from_text(invited))[-1]
    page = seen.pages.get(f"/entries/{joined.index}")
    assert [one.text for one in page.all("span") if one.attributes.get("title") == link]
    assert f"/peers/{invited}" in page.links()
    assert f"/peers/{link}" not in page.links()


def test_a_commitment_shows_what_is_in_its_header(seen: PageSite) -> None:
    commit = seen.shown.round.commitments[0]
    page = seen.pages.get(f"/entries/{commit.index}")
    assert f"header: tokens {commit.header.tokens:,}" in page.text
    assert "claimed by the trainer; nothing depends on it" in page.text


def test_nobody_cosigned_and_the_page_says_so(seen: PageSite) -> None:
    said = "No witness cosigned this checkpoint: the policy of this log asks for none."
    assert said in seen.pages.get("/entries/3").text
