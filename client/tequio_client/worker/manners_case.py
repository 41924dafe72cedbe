"""One case for the manners: all that a rule may look at, with the ways in which a rule speaks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tequio_client.link.decision import Decision, Reason, State

if TYPE_CHECKING:
    from tequio_client.link.decision import Value
    from tequio_client.link.facts import MachineFacts, SessionFacts
    from tequio_client.link.preferences import Preferences
    from tequio_client.link.wish import Wish
    from tequio_client.worker.manners_facts import Device, Facts
    from tequio_client.worker.manners_traces import Traces
    from tequio_client.worker.moment import Moment

_SECOND_MS = 1_000
_MOST_TEXT = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """Everything that a rule may look at."""

    facts: Facts
    preferences: Preferences
    wish: Wish
    traces: Traces
    now: Moment
    session: SessionFacts | None
    """As far as it is fresh; None: headless."""
    machine: MachineFacts
    devices: tuple[Device, ...] | None
    """Those that were not switched off; None: nobody can tell."""

    lent: tuple[Device, ...]
    """Of these, the ones that will compute."""


def wait(
    case: Case, reason: Reason, values: dict[str, Value] | None = None, in_ms: int | None = None
) -> Decision:
    """Wait for that reason, for so long if it is known."""
    until_ms = None if in_ms is None else end_ms(case, in_ms)
    return Decision(state=State.WAITING, reason=reason, values=values or {}, until_ms=until_ms)


def end_ms(case: Case, in_ms: int) -> int:
    """When so much time has passed, by the wall clock, in full seconds.

    The two clocks are not read at once: without rounding an end would be another at each look.
    """
    return -(-(case.now.ms + max(in_ms, 1)) // _SECOND_MS) * _SECOND_MS


def problem(text: str) -> dict[str, Value]:
    """A problem as a decision carries it: what others say of theirs has no bound."""
    return {"problem": text[:_MOST_TEXT]}


def attention(reason: Reason, values: dict[str, Value] | None = None) -> Decision:
    """Ask for a person."""
    return Decision(state=State.ATTENTION, reason=reason, values=values or {})
