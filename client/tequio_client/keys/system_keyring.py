"""The operating system's keyring: stores small secrets for this user, and may prompt for access.

The library is imported, and each call made, in a thread of its own, since both may take long. A
call that is late continues, and a repeated request waits for that same call, so that the system
does not prompt twice. A stored secret is read back before it counts. Backends that store secrets
unencrypted, or not at all, are rejected.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import TYPE_CHECKING, TypeVar

from tequio_client.keys.state import IdentityError
from tequio_shared.errors import MalformedError
from tequio_shared.ids import from_text, to_text

if TYPE_CHECKING:
    from keyring.backend import KeyringBackend

PATIENCE_S = 30.0
SERVICE = "Tequio"
_UNSAFE = ("keyring.backends.fail", "keyring.backends.null", "keyrings.alt")
_T = TypeVar("_T")


class SystemKeyring:
    """Access to the keyring by entry name; all methods block, and raise IdentityError."""

    def __init__(self, patience_s: float = PATIENCE_S) -> None:
        self._patience_s = patience_s
        self._lock = threading.Lock()
        self._under_way: dict[str, Future[object]] = {}  # by purpose

    def backend_name(self) -> str:
        """Read the system's name for it; raises IdentityError where there is none."""
        return self._ask("name", lambda: str(_backend().name))

    def get(self, slot: str) -> bytes | None:
        """Read the key in that entry; None: there is no such entry."""
        text = self._ask(f"get {slot}", lambda: _backend().get_password(SERVICE, _user(slot)))
        if text is None:
            return None
        try:
            return from_text(text)
        except MalformedError as err:
            raise IdentityError("keyring-failing", why="the entry is not a key") from err

    def put(self, slot: str, key: bytes) -> None:
        """Store the key in that entry; returns once the keyring reads back the same key."""

        def write_and_read_back() -> str | None:
            backend = _backend()
            backend.set_password(SERVICE, _user(slot), to_text(key))
            return backend.get_password(SERVICE, _user(slot))

        if self._ask(f"put {slot}", write_and_read_back) != to_text(key):
            raise IdentityError("keyring-failing", why="it did not read back what was stored")

    def delete(self, slot: str) -> None:
        self._ask(f"forget {slot}", lambda: _backend().delete_password(SERVICE, _user(slot)))

    def _ask(self, purpose: str, call: Callable[[], _T]) -> _T:
        answer: Future[_T] = self._begun(purpose, call)
        try:
            return answer.result(self._patience_s)
        except TimeoutError as err:
            if answer.done():
                raise IdentityError("keyring-failing", why="it timed out") from err
            raise IdentityError("keyring-late", seconds=round(self._patience_s)) from err

    def _begun(self, purpose: str, call: Callable[[], _T]) -> Future[_T]:
        with self._lock:
            found = self._under_way.get(purpose)
            if found is not None:
                return found  # type: ignore[return-value]  # one purpose has one kind of answer
            answer: Future[_T] = Future()
            self._under_way[purpose] = answer  # type: ignore[assignment]  # as above

        def work() -> None:
            try:
                result = call()
            except Exception as err:  # noqa: BLE001 - backends raise whatever their systems do
                with self._lock:
                    del self._under_way[purpose]
                answer.set_exception(_translated(err))
            else:
                with self._lock:
                    del self._under_way[purpose]
                answer.set_result(result)

        threading.Thread(target=work, name="keyring", daemon=True).start()
        return answer


def _backend() -> KeyringBackend:
    import keyring  # noqa: PLC0415 - it takes half a second, in this thread

    ring = keyring.get_keyring()
    for one in getattr(ring, "backends", (ring,)):
        if not type(one).__module__.startswith(_UNSAFE):
            return one
    raise IdentityError("keyring-absent")


def _user(slot: str) -> str:
    return f"identity {slot}"


def _translated(err: Exception) -> IdentityError:
    from keyring.errors import InitError, KeyringLocked, NoKeyringError  # noqa: PLC0415 - as above

    if isinstance(err, IdentityError):
        return err
    if isinstance(err, NoKeyringError):
        return IdentityError("keyring-absent")
    if isinstance(err, (KeyringLocked, InitError)):  # a prompt that was dismissed is an InitError
        return IdentityError("keyring-locked")
    return IdentityError("keyring-failing", why=type(err).__name__)
