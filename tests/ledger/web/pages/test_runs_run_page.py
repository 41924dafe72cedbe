"""The page of a run links the heads that organisers published."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tequio_shared.ids import to_text
from tests.support.sample_ledger import BUCKET, MEASURED, PUBLISHED, REPO

if TYPE_CHECKING:
    from tests.ledger.web.pages.conftest import PageSite


def test_published_heads_are_linked_the_newest_first(seen: PageSite) -> None:
    page = seen.pages.get(f"/runs/{to_text(seen.shown.rules.run_id)}")
    heads = seen.shown.ledger.state.run(seen.shown.rules.run_id).heads
    due = [
        f"https://huggingface.co/{REPO}/tree/{heads[number].weights_root.hex()[:40]}"
        for number in reversed(PUBLISHED[1:])
    ]
    assert [link for link in page.links() if link.startswith("https://")] == due
    assert BUCKET in page.text
    command = f"tequio checkpoint verify {REPO} --revision round-{PUBLISHED[-1]} --ledger http://"
    assert command in page.text


def test_published_heads_have_their_figures_and_aliases_and_commands_that_get_them(
    seen: PageSite,
) -> None:
    page = seen.pages.get(f"/runs/{to_text(seen.shown.rules.run_id)}")
    measured = [number for number in PUBLISHED if number % MEASURED == 0]
    assert measured == [20]
    shown = page.text.partition("Published heads")[2]
    table = shown.partition("Download the newest one")[0]
    last, middle, first = (
        table.partition(f"round {number}")[2].partition("round ")[0]
        for number in reversed(PUBLISHED)
    )
    assert ("latest" in last, "best" in last, "not measured" in last) == (True, False, True)
    assert ("latest" in middle, "best" in middle, "not measured" in middle) == (False, True, False)
    assert ("latest" in first, "best" in first, "not measured" in first) == (False, False, True)
    assert "tequio checkpoint download --ledger http" in shown
    assert "tequio checkpoint download --head best --ledger http" in shown
    assert "--gguf and --onnx also write it" in shown


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
