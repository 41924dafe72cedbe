"""Rotary positions: how fast each pair of a head's numbers turns, by the kind of scaling.

These kinds are functions of the configuration alone, whatever the length of a text or of one before
it. `linear` slows all pairs; `llama3` (Llama 3.1 and later) and `yarn` (arXiv 2309.00071) leave the
fast ones, slow the slow ones, and go from one to the other in between; `yarn` also enlarges all.
Results are those of transformers; a test holds them together.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch

from tequio_shared.errors import UserFacingError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from torch import Tensor

KINDS = ("default", "linear", "llama3", "yarn")
_THETA, _CONTEXT = 10_000.0, 2_048  # of transformers' Llama
_FAST, _SLOW = 32.0, 1.0  # turns within the old context: yarn leaves more, and slows fewer
_LARGEST = 1e9
_SAID = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class Rope:
    """One kind with its numbers; `context` is the length that the slowed pairs were made for."""

    kind: str
    theta: float
    factor: float = 1.0
    context: float = 1.0
    slow: float = _SLOW
    fast: float = _FAST
    enlarged: float = 1.0
    is_whole: bool = True
    """Whether yarn's bounds are rounded to whole pairs."""

    @classmethod
    def of(cls, config: Mapping[str, Any]) -> Rope:  # JSON of any model
        """Read a Hugging Face configuration's rope fields, old and new.

        Its kind must be one of KINDS; raises UserFacingError for a number that is missing or odd.
        """
        said = fields(config)
        theta = _number(said, "rope_theta") or _number(config, "rope_theta") or _THETA
        kind = kind_of(config)
        if kind == "default":
            return cls(kind=kind, theta=theta)
        factor, context = _number(said, "factor"), _context(config, said)
        if factor is None and kind == "yarn":
            factor = _longest(config) / context
        if factor is None:
            raise _lacking(kind, "factor")
        if kind == "yarn" and theta == 1:
            raise _lacking(kind, "rope_theta other than 1")
        if kind == "linear":
            return cls(kind=kind, theta=theta, factor=factor)
        if kind == "llama3":
            low, high = _number(said, "low_freq_factor"), _number(said, "high_freq_factor")
            if low is None or high is None or low == high:
                raise _lacking(kind, "low_freq_factor and high_freq_factor that differ")
            return cls(kind=kind, theta=theta, factor=factor, context=context, slow=low, fast=high)
        return cls(
            kind=kind,
            theta=theta,
            factor=factor,
            context=context,
            slow=_number(said, "beta_slow") or _SLOW,
            fast=_number(said, "beta_fast") or _FAST,
            enlarged=_enlarged(said, factor),
            is_whole=bool(said.get("truncate", True)),
        )

    def speeds(self, head_size: int, device: torch.device | None = None) -> Tensor:
        """Angle between two positions for each pair of a head: [E / 2]."""
        exponent = torch.arange(0, head_size, 2, device=device).float() / head_size
        plain = 1.0 / self.theta**exponent
        if self.kind == "linear":
            return plain / self.factor
        if self.kind == "llama3":
            return self._llama3(plain)
        if self.kind == "yarn":
            return self._yarn(plain, head_size)
        return plain

    def _llama3(self, plain: Tensor) -> Tensor:
        """Pairs with fewer turns than `slow` in the old context are slowed, with `fast` none is."""
        wavelength = 2 * math.pi / plain
        share = (self.context / wavelength - self.slow) / (self.fast - self.slow)
        between = (1 - share) * plain / self.factor + share * plain
        slowed = torch.where(wavelength > self.context / self.slow, plain / self.factor, between)
        return torch.where(wavelength < self.context / self.fast, plain, slowed)

    def _yarn(self, plain: Tensor, head_size: int) -> Tensor:
        """The same by the number of the pair, along a ramp."""
        low, high = self._pair(self.fast, head_size), self._pair(self.slow, head_size)
        if self.is_whole:
            low, high = math.floor(low), math.ceil(high)
        low, high = max(low, 0), min(high, head_size - 1)
        high += 0.001 if low == high else 0
        pairs = torch.arange(head_size // 2, device=plain.device).float()
        kept = 1 - ((pairs - low) / (high - low)).clamp(0, 1)
        return plain / self.factor * (1 - kept) + plain * kept

    def _pair(self, turns: float, head_size: int) -> float:
        """Number of the pair that turns so often within the old context."""
        spread = math.log(self.context / (turns * 2 * math.pi))
        return head_size * spread / (2 * math.log(self.theta))


def fields(config: Mapping[str, Any]) -> Mapping[str, Any]:  # JSON of any model
    """Take the rope fields: `rope_scaling` where there is any, as transformers has it."""
    said = config.get("rope_scaling") or config.get("rope_parameters") or {}
    if not isinstance(said, dict):
        raise UserFacingError(f"the configuration's rope_scaling is {str(said)[:_SAID]!r}")
    return said


def kind_of(config: Mapping[str, Any]) -> str:  # JSON of any model
    """Name the kind of scaling: one of KINDS, or one that is not known here."""
    said = fields(config)
    return str(said.get("rope_type", said.get("type", "default")))[:_SAID]


def _enlarged(said: Mapping[str, Any], factor: float) -> float:
    """By how much yarn's cosines and sines are larger than one."""
    given = _number(said, "attention_factor")
    if given is not None:
        return given
    scale, every = _number(said, "mscale"), _number(said, "mscale_all_dim")
    if scale and every:
        return _grown(factor, scale) / _grown(factor, every)
    return _grown(factor, 1.0)


def _grown(factor: float, scale: float) -> float:
    return 0.1 * scale * math.log(factor) + 1.0 if factor > 1 else 1.0


def _context(config: Mapping[str, Any], said: Mapping[str, Any]) -> float:
    name = "original_max_position_embeddings"
    return _number(config, name) or _number(said, name) or _longest(config)


def _longest(config: Mapping[str, Any]) -> float:
    return _number(config, "max_position_embeddings") or _CONTEXT


def _number(said: Mapping[str, Any], name: str) -> float | None:
    """A number above 0; None where there is none or it is null. Raises UserFacingError."""
    value = said.get(name)
    if value is None:
        return None
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    if not is_number or not 0 < value < _LARGEST:
        raise UserFacingError(f"the configuration's {name} is {str(value)[:_SAID]!r}")
    return float(value)


def _lacking(kind: str, name: str) -> UserFacingError:
    return UserFacingError(f"the configuration's rope scaling {kind} has no {name}")
