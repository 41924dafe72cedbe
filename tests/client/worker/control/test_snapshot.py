"""Diagnostics are copied into public reports: they name neither the user nor what the user runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from tequio_client.ipc.preferences import Preferences
from tequio_client.ipc.snapshot import (
    Decision,
    DesiredState,
    LedgerView,
    LendingReason,
    LendingState,
    Snapshot,
    Snooze,
)
from tequio_client.worker.control import snapshot

PRIVATE = "Secret Game"


@pytest.mark.parametrize(
    "shown",
    [
        Snapshot(preferences=Preferences(exclusive=(PRIVATE, PRIVATE))),
        Snapshot(wish=DesiredState(snooze=Snooze(game=PRIVATE))),
        Snapshot(
            decision=Decision(
                state=LendingState.WAITING,
                reason=LendingReason.GAME,
                values={"program": PRIVATE, "x": 41},
            )
        ),
        Snapshot(ledger=LedgerView(problem=f"{Path.home()}/x")),
        Snapshot(ledger=LedgerView(url="https://me:Secret@ledger.example")),
    ],
    ids=["exclusive", "snooze", "decision", "home", "password"],
)
def test_nothing_private_is_in_diagnostics(shown: Snapshot) -> None:
    text = snapshot.diagnostics_text(shown)
    assert "Secret" not in text
    assert str(Path.home()) not in text


def test_what_is_not_private_stays() -> None:
    decision = Decision(
        state=LendingState.WAITING, reason=LendingReason.QUOTA, values={"gb": 4_711}
    )
    assert '"gb": 4711' in snapshot.diagnostics_text(Snapshot(decision=decision))
