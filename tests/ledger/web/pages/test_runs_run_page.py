"""The page of a run links the heads that organisers published."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tequio_shared.ids import to_text
from tests.support.sample_ledger import PUBLISHED, REPO

if TYPE_CHECKING:
    from tests.ledger.web.pages.conftest import PageSite


def test_published_heads_are_linked_the_newest_first(seen: PageSite) -> None:
    page = seen.pages.get(f"/runs/{to_text(seen.shown.rules.run_id)}")
    heads = seen.shown.ledger.state.run(seen.shown.rules.run_id).heads
    due = [
        f"https://huggingface.co/{REPO}/tree/{heads[number].weights_root.hex()[:40]}"
        for number in reversed(PUBLISHED)
    ]
    assert [link for link in page.links() if link.startswith("https://")] == due
    command = f"tequio checkpoint verify {REPO} --revision round-{PUBLISHED[-1]} --ledger http://"
    assert command in page.text


def test_a_run_is_described_by_its_rules_and_names_those_who_opened_it(seen: PageSite) -> None:
    page = seen.pages.get(f"/runs/{to_text(seen.shown.rules.run_id)}")
    assert "A model of 350 million parameters, <to learn from>." in page.text
    assert "Apache-2.0, of the trained weights" in page.text
    (organiser,) = seen.shown.ledger.genesis.organisers
    assert f"/peers/{organiser}" in page.links()


def test_the_entry_says_what_was_published(seen: PageSite) -> None:
    view = seen.shown.ledger.state.run(seen.shown.rules.run_id)
    published = view.published[PUBLISHED[-1]][REPO]
    page = seen.pages.get(f"/entries/{published.index}")
    assert "Organisers publish a head" in page.text
    assert published.body.revision in page.text
