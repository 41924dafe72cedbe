"""What a head writes, for eyes: text made fit to be logged, and whose of several is shown.

Theory: the likeliest next token is the same for all who measure a head, but where two are as likely
as rounding goes; from there on honest texts differ. Nobody can check such a text without the model,
and it is shown to strangers: so that is shown which agrees longest with what others say. Of three,
one who makes a text up is never shown.
"""

from __future__ import annotations

import re
from itertools import takewhile
from typing import TYPE_CHECKING, TypeVar

from msgspec import UNSET

from tequio_shared import measures
from tequio_shared.fields import STEERING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tequio_shared.statements.rounds import HeadMeasure, Sample

_STEERING = re.compile(f"[{STEERING}]")
_UNSHOWN = "\ufffd"

_Name = TypeVar("_Name")


def fit(text: str, most_bytes: int) -> str:
    """Give the text as the log takes it: so many bytes at most, and nothing in it that steers."""
    plain = text.replace("\r\n", "\n").replace("\t", " ")
    shown = _STEERING.sub(_UNSHOWN, plain.encode("utf-8", "replace").decode())
    return shown.encode()[:most_bytes].decode("utf-8", "ignore")


def of(measure: HeadMeasure) -> Sample | None:
    """Give what comes with a measure, if anything does."""
    return None if measure.sample is UNSET else measure.sample


def shown(said: Mapping[_Name, HeadMeasure]) -> tuple[_Name, Sample] | None:
    """Choose the sample that agrees longest with the others', and name who says it.

    Of equals it is that of the median, then the first. None of outliers counts.
    """
    away = measures.outliers(dict(said))
    samples = {
        name: sample
        for name, one in said.items()
        if name not in away and (sample := of(one)) is not None
    }
    if not samples:
        return None
    middle = measures.median(said.values())

    def rank(name: _Name) -> tuple[int, bool]:
        others = (one for other, one in samples.items() if other != name)
        return sum(_agreement(samples[name], one) for one in others), said[name] is middle

    chosen = max(samples, key=rank)
    return chosen, samples[chosen]


def _agreement(one: Sample, other: Sample) -> int:
    """How far they are the same, from the beginning."""
    if one.prompt != other.prompt:
        return 0
    pairs = zip(one.text, other.text, strict=False)
    return 1 + sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
