"""The golden vectors of scoring, read as cases (tests/vectors/scoring/README.md)."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tequio_shared.ids import digest_from_text

if TYPE_CHECKING:
    from tequio_shared.competition.result import ModelRanking

FOLDER = Path(__file__).parent.parent / "vectors" / "scoring"


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """A case of ranking: its input, and the expected result."""

    millibits: dict[str, list[int]]
    sizes: list[int]
    beacon: bytes
    replicates: int
    expected: dict[str, Any]
    """As in the file: plain JSON."""


def read(name: str) -> Any:  # noqa: ANN401 - plain JSON
    """Read a file."""
    return json.loads((FOLDER / f"{name}.json").read_text("utf-8"))


def comparison(name: str) -> Comparison:
    """Read a case of ranking."""
    case = read(name)
    made = _made(case["label"], case["documents"]) if "label" in case else case
    return Comparison(
        millibits=made["millibits"],
        sizes=made["sizes"],
        beacon=digest_from_text(case["beacon"]),
        replicates=case["replicates"],
        expected=case["expected"],
    )


def spelled(ranking: ModelRanking) -> dict[str, Any]:
    """A ranking in the form of the files."""
    return {
        "places": [
            [one.name, one.rank, one.nanobits_per_byte, one.interval.low, one.interval.high]
            for one in ranking.places
        ],
        "pairs": [
            [one.first, one.other, one.interval.low, one.interval.high, one.against, one.winner]
            for one in ranking.pairs
        ],
    }


def _made(label: str, documents: int) -> dict[str, Any]:
    sizes, first, second = [], [], []
    for at in range(documents):
        h = hashlib.sha256(label.encode() + at.to_bytes(4, "big")).digest()
        size = 500 + int.from_bytes(h[:4], "big") % 3500
        base = size * (700 + int.from_bytes(h[4:6], "big") % 400)
        sizes.append(size)
        first.append(base)
        second.append(base + 10 * size + size * (sum(h[8:12]) - 510) // 5)
    return {"sizes": sizes, "millibits": {"a": first, "b": second, "c": list(first)}}
