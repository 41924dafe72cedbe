"""What a statement is about: the network, a run, or a round of a run."""

from __future__ import annotations

import enum


class Scope(enum.Enum):
    """Which of the fields `run` and `round` a statement must carry; the other ones it must not."""

    NETWORK = "network"
    RUN = "run"
    ROUND = "round"
