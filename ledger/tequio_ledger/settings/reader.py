"""Texts turned into values, and every fault among them told at once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from tequio_ledger.settings.setting import hide
from tequio_ledger.settings.sources import DEFAULT
from tequio_shared.errors import UserFacingError

if TYPE_CHECKING:
    from tequio_ledger.settings.setting import Setting
    from tequio_ledger.settings.sources import Gathered

Value = TypeVar("Value")


class Reader:
    """Collects the faults, so that a person sees all of them in one go."""

    def __init__(self, gathered: Gathered) -> None:
        self._values = gathered.values
        self._faults = list(gathered.faults)

    def of(self, setting: Setting[Value], instead: Value) -> Value:
        """Give a setting's value; one that cannot be is a fault, and something stands in for it."""
        try:
            return setting.parse(self._values[setting.name].text)
        except ValueError as err:
            self.fault(setting, str(err))
            return instead

    def fault(self, setting: Setting[Any], promise: str) -> None:
        """Say what a setting must be that it is not."""
        given = self._values[setting.name]
        source = f"the default of {setting.name}" if given.source == DEFAULT else given.source
        self._faults.append(f"{source} is {hide(given.text)!r}, but must be {promise}")

    def finish(self) -> None:
        """Raise UserFacingError if there was a fault."""
        if self._faults:
            raise UserFacingError("; ".join(self._faults))
