"""Pages of a log with outside witnesses: who cosigned, and what waits for them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.support.browser import CHROMIUM, WatchedPage
from tests.support.cosigned_ledger import (
    WitnessGroup,
    cosigned,
    register_keys,
    wait_until_published,
)

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="needs chromium: installer/setup.sh tools")


def test_the_verifier_checks_every_cosigner_and_the_status_names_who_is_silent(
    tmp_path: Path, window: WatchedPage
) -> None:
    page = window.page
    with WitnessGroup(tmp_path, 2) as ring:
        policy = ring.policy("1")
        with cosigned(ring, policy) as ledger:
            register_keys(ledger, "first", 5)
            wait_until_published(ledger, policy, 6)
            window.open(f"{ledger.url}/entries/3")
            cosigners = page.locator("[data-witness-key]")
            names = cosigners.all_inner_texts()
            assert names
            assert all("Witness witness.example/w" in one for one in names)
            page.get_by_role("button", name="Verify in this browser").click()
            page.locator("#check-says.verdict.good").wait_for()
            steps = page.locator("#check-steps li.good").all_inner_texts()
            assert sum("cosigned it" in one for one in steps) == len(names)
            for witness in ring.witnesses:
                witness.kill()
            register_keys(ledger, "second", 5)
            window.open(f"{ledger.url}/status")
            page.get_by_text("does not answer").first.wait_for()
            assert "6 entries of 11 are published" in page.locator("main").inner_text()
            assert "the others wait for witnesses" in page.locator("footer").inner_text()
            window.open(f"{ledger.url}/entries")
            assert page.locator("tbody tr").count() == 6


def test_a_forged_cosignature_is_refused(tmp_path: Path, window: WatchedPage) -> None:
    page = window.page
    with WitnessGroup(tmp_path, 1) as ring:
        policy = ring.policy("1")
        with cosigned(ring, policy) as ledger:
            register_keys(ledger, "first", 2)
            wait_until_published(ledger, policy, 3)
            window.open(f"{ledger.url}/entries/1")
            forged = "/(— witness\\S+ .{40})(.)/"
            page.evaluate(
                "const note = document.getElementById('note');"
                f"note.textContent = note.textContent.replace({forged},"
                " (all, head, one) => head + (one === 'A' ? 'B' : 'A'))"
            )
            page.get_by_role("button", name="Verify in this browser").click()
            page.locator("#check-says.verdict.bad").wait_for()
            failed = page.locator("#check-steps li.bad").all_inner_texts()
            assert len(failed) == 1
            assert "Witness witness.example/w0 cosigned it" in failed[0]
