"""The shape of a row in the table of settings: sections, cards, settings and their controls."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

from tequio_client.ipc.snapshot import LendingReason

if TYPE_CHECKING:
    from collections.abc import Mapping

PauseCause: TypeAlias = LendingReason | tuple[LendingReason, str]
"""A reason of a decision, or that reason combined with one fact."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SwitchSpec:
    """A field that is on or off."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NumberSpec:
    """A number with its range and unit; an optional one is None at its minimum."""

    least: float
    most: float
    unit: str
    nothing: str = ""
    """Name of the minimum, where it has one."""
    places: int = 0
    is_optional: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class PercentSpec:
    """A percentage on a slider, whose title is beside its value."""

    least: int
    step: int
    enabled_by: str
    """The field without which this one has no effect."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChoiceSpec:
    """One of several values by name: side by side, or in a list."""

    choices: Mapping[str, str]
    names: Mapping[str, str] = field(default_factory=dict)
    """More choices, whose names are the same in every language."""
    is_list: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ChipSpec:
    """A fact, shown as a chip, instead of a choice."""

    words: str
    picture: str
    tone: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CustomSpec:
    """A control of its own class, found in `settings.CUSTOM` by the field's name."""

    is_wide: bool = False
    """Placed below its title and note, not beside them."""


ControlSpec: TypeAlias = SwitchSpec | NumberSpec | PercentSpec | ChoiceSpec | ChipSpec | CustomSpec


@dataclass(frozen=True, slots=True, kw_only=True)
class SettingSpec:
    """One row."""

    field: str
    """A field of the preferences or of the app's settings; the name of a row that shows a fact."""
    title: str = ""
    note: str = ""
    control: ControlSpec | None = None
    default: str = ""
    """The default in words, if it does not follow from the value."""
    found_by: str = ""
    """Further words that the search finds it by."""
    causes: tuple[PauseCause, ...] = ()
    """The decisions to pause that this setting causes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CardSpec:
    """Settings on one card, below its heading."""

    heading: str = ""
    settings: tuple[SettingSpec, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class SectionSpec:
    """A section of the page, and its entry in the list."""

    name: str
    title: str
    picture: str
    note: str
    is_of_app: bool = False
    """Its fields belong to the app's own settings, not to the lending preferences."""
    cards: tuple[CardSpec, ...]
