"""Windows: a value under the user's Run key, and the switch that Task Manager keeps beside it."""

from __future__ import annotations

import importlib
import subprocess
from typing import TYPE_CHECKING, Any, Protocol

from tequio_client.app.autostart.names import NAME

if TYPE_CHECKING:
    from collections.abc import Sequence

RUN = r"Software\Microsoft\Windows\CurrentVersion\Run"
APPROVED = r"Software\Microsoft\Windows\CurrentVersion\Explorer\StartupApproved\Run"
"""Where Task Manager notes what the user has switched off: an odd first byte says so."""


class Registry(Protocol):
    """The values of HKEY_CURRENT_USER that we need."""

    def read(self, key: str, name: str) -> str | bytes | None:
        """The value; None: there is none. Raises OSError."""

    def write(self, key: str, name: str, value: str) -> None:
        """Set it, and make the key if need be; raises OSError."""

    def remove(self, key: str, name: str) -> None:
        """Remove it, if it is there; raises OSError."""


class RunKey:
    """See Autostart."""

    def __init__(self, command: Sequence[str], registry: Registry) -> None:
        self._line, self._registry = subprocess.list2cmdline(command), registry

    def is_on(self) -> bool:
        """See Autostart."""
        try:
            said = self._registry.read(RUN, NAME)
            switch = self._registry.read(APPROVED, NAME)
        except OSError:
            return False
        is_off = isinstance(switch, bytes) and bool(switch) and bool(switch[0] & 1)
        return said == self._line and not is_off

    def turn_on(self) -> None:
        """See Autostart."""
        self._registry.write(RUN, NAME, self._line)
        self._registry.remove(APPROVED, NAME)

    def turn_off(self) -> None:
        """See Autostart."""
        self._registry.remove(RUN, NAME)


def user_run_key() -> Registry:
    """The registry of this system; raises ModuleNotFoundError where there is none."""
    winreg: Any = importlib.import_module("winreg")  # typed on Windows only

    class UserRegistry:
        """See Registry."""

        def read(self, key: str, name: str) -> str | bytes | None:
            try:
                with winreg.OpenKey(winreg.HKEY_CURRENT_USER, key) as opened:
                    value = winreg.QueryValueEx(opened, name)[0]
            except FileNotFoundError:
                return None
            return value if isinstance(value, (str, bytes)) else None

        def write(self, key: str, name: str, value: str) -> None:
            with winreg.CreateKey(winreg.HKEY_CURRENT_USER, key) as opened:
                winreg.SetValueEx(opened, name, 0, winreg.REG_SZ, value)

        def remove(self, key: str, name: str) -> None:
            try:
                access = winreg.KEY_SET_VALUE
                with winreg.OpenKey(winreg.HKEY_CURRENT_USER, key, 0, access) as opened:
                    winreg.DeleteValue(opened, name)
            except FileNotFoundError:
                return

    return UserRegistry()
