"""The limits of an audit's differences, and which of them a measure exceeds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, TypeAlias

from tequio_shared.round.audits import LIMITS

if TYPE_CHECKING:
    from tequio_client.ipc.trainer import MeasuredFigures

Limits: TypeAlias = Mapping[str, int]
WARN: Limits = {name: warns for name, (warns, _) in LIMITS.items()}
"""Above what any honest contribution measured: reason for more audits."""
CONVICT: Limits = {name: convicts for name, (_, convicts) in LIMITS.items()}
"""One honest contribution of a million is above one of them, by the fit in docs/auditing.md."""


def exceeded(figures: MeasuredFigures, limits: Limits) -> tuple[str, ...]:
    """Names of the differences above their limits; what was not measured exceeds nothing."""
    found: dict[str, int | None] = {name: getattr(figures, name) for name in limits}
    return tuple(name for name, most in limits.items() if (found[name] or 0) > most)
