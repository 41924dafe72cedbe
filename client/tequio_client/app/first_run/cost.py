"""What lending costs in power: a range, for nobody knows a card's draw before it works.

Training keeps a card between about 60 % of its power limit and all of it. Without a limit, and for
a processor, the range is that of the devices people have. Pure.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tequio_client.link.facts import MachineFacts

LEAST_PART = 0.6
UNKNOWN_CARD_W = (80.0, 350.0)
PROCESSOR_W = (35.0, 150.0)
DAYS = 30.4
"""In a month."""
USUAL = {"EUR": 0.30, "USD": 0.18, "GBP": 0.25, "CHF": 0.30, "MXN": 2.0, "JPY": 31.0, "CAD": 0.17}
"""What a kWh costs households, roughly: a figure to begin with, shown as one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Power:
    """What a device would draw while it trains."""

    device: str = ""
    """Empty: not known yet which."""
    least_w: float = UNKNOWN_CARD_W[0]
    most_w: float = UNKNOWN_CARD_W[1]
    is_known: bool = False
    """Whether the card says its limit."""
    is_processor: bool = False

    def month_kwh(self, hours: int) -> tuple[float, float]:
        """The range for so many hours on each day of a month."""
        return self.least_w * hours * DAYS / 1_000, self.most_w * hours * DAYS / 1_000


def power(machine: MachineFacts) -> Power:
    """What the machine's best accelerator would draw, or its processor where there is none."""
    if machine.gpus is None:
        return Power()
    if not machine.gpus:
        least, most = PROCESSOR_W
        return Power(device=machine.cpu_name, least_w=least, most_w=most, is_processor=True)
    card = max(machine.gpus, key=lambda one: (one.memory_mb or 0, one.watts_limit or 0.0))
    if not card.watts_limit:
        return Power(device=card.name)
    return Power(
        device=card.name,
        least_w=card.watts_limit * LEAST_PART,
        most_w=card.watts_limit,
        is_known=True,
    )
