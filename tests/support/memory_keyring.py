"""A keyring for the tests, installed through the library's own `set_keyring`."""

from __future__ import annotations

import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING

import keyring
from keyring.backend import KeyringBackend
from keyring.errors import KeyringLocked, PasswordDeleteError

if TYPE_CHECKING:
    from collections.abc import Iterator


class ScriptedKeyring(KeyringBackend):
    """Keeps secrets in memory; can be locked, slow, forgetful or broken."""

    name = "Paper"

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]  # the library's
        self.entries: dict[tuple[str, str], str] = {}
        self.is_locked = False
        self.fault: Exception | None = None
        self.is_forgetful = False
        self.calls = 0
        self._open = threading.Event()
        self._open.set()

    def hold(self) -> None:
        """Block every call, as while a dialog asks for a password."""
        self._open.clear()

    def release(self) -> None:
        """Unblock all calls."""
        self._open.set()

    def get_password(self, service: str, username: str) -> str | None:
        """See the library."""
        self._enter()
        return self.entries.get((service, username))

    def set_password(self, service: str, username: str, password: str) -> None:
        """See the library."""
        self._enter()
        if not self.is_forgetful:
            self.entries[service, username] = password

    def delete_password(self, service: str, username: str) -> None:
        """See the library."""
        self._enter()
        if self.entries.pop((service, username), None) is None:
            raise PasswordDeleteError(username)

    def _enter(self) -> None:
        self.calls += 1
        self._open.wait(30)
        if self.is_locked:
            raise KeyringLocked("the collection is locked")
        if self.fault is not None:
            raise self.fault


@contextmanager
def keyring_of(ring: KeyringBackend) -> Iterator[None]:
    """Have the library use this keyring until the end of the block."""
    before = keyring.get_keyring()
    keyring.set_keyring(ring)
    try:
        yield
    finally:
        keyring.set_keyring(before)
