"""The shape of a row in the table of settings: sections, cards, settings and their controls."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

from tequio_client.ipc.snapshot import Reason

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True, slots=True, kw_only=True)
class SwitchSpec:
    """A field that is on or off."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NumberSpec:
    """A number with its range and unit; an optional one is None at its least value."""

    least: float
    most: float
    unit: str
    nothing: str = ""
    """Name of the least value, where it has one."""
    places: int = 0
    is_optional: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class PercentSpec:
    """A percentage on a slider, whose title stands beside its value."""

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
    """A fact instead of a choice."""

    words: str
    picture: str
    tone: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CustomSpec:
    """A control of its own class, by the field's name in `settings_section.CUSTOM`."""

    is_wide: bool = False
    """Whether it is below its title and note, and not beside them."""


ControlSpec: TypeAlias = SwitchSpec | NumberSpec | PercentSpec | ChoiceSpec | ChipSpec | CustomSpec
Cause: TypeAlias = Reason | tuple[Reason, str]
"""A reason of a decision, or only that reason with one fact."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SettingSpec:
    """One row."""

    field: str
    """Of the preferences or of the app's settings; a row that shows a fact has a name instead."""
    title: str = ""
    note: str = ""
    control: ControlSpec | None = None
    default: str = ""
    """In words, where it does not follow from the value."""
    found_by: str = ""
    """Words by which the search finds it too."""
    stops: tuple[Cause, ...] = ()
    """The decisions against lending that this setting makes."""


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
    """Whether its fields are the app's own settings, and not preferences of lending."""
    cards: tuple[CardSpec, ...]
