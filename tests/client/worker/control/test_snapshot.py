"""Diagnostics are copied into public reports: they name neither the user nor what the user runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from tequio_client.ipc.facts import AcceleratorFacts, MachineFacts
from tequio_client.ipc.preferences import DeviceChoice, Preferences
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


def test_the_serials_of_cards_are_not_in_diagnostics_and_their_limits_are() -> None:
    card = AcceleratorFacts(id="cuda:1", name="a card", serial="GPU-6f1c0d8e")
    choice = DeviceChoice(id=card.serial, watts=142)
    shown = Snapshot(machine=MachineFacts(gpus=(card,)), preferences=Preferences(devices=(choice,)))
    text = snapshot.diagnostics_text(shown)
    assert card.serial not in text
    assert '"watts": 142' in text


def test_what_is_not_private_stays() -> None:
    decision = Decision(
        state=LendingState.WAITING, reason=LendingReason.QUOTA, values={"gb": 4_711}
    )
    assert '"gb": 4711' in snapshot.diagnostics_text(Snapshot(decision=decision))
