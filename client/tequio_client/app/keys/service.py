"""The app's access to its key; slow work and system prompts run in threads, one at a time.

Before the first run has made a key, the worker gets a random one that is not saved; the key made
later is that one, so the worker need not restart. A passphrase stays in memory until the app ends,
because a worker that restarts at night needs it.
"""

from __future__ import annotations

import itertools
import secrets
import threading
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

from PySide6.QtCore import QCoreApplication, QObject, Signal
from shiboken6 import isValid

from tequio_client.app.language import as_sentence, without_period
from tequio_client.keys.state import ERROR_TEMPLATES, IdentityError, KeyProtection, KeyState
from tequio_shared.errors import UserFacingError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tequio_client.keys.identity import KeyStore

    T = TypeVar("T")
    OnState = Callable[[KeyState], None]
    OnError = Callable[[IdentityError], None]

CONTEXT = "keys"
SEED_BYTES = 32


def error_text(error: IdentityError) -> str:
    """The error as a sentence in the user's language."""
    text = QCoreApplication.translate(CONTEXT, ERROR_TEMPLATES[error.code]).format(**error.values)
    return as_sentence(text)


def is_gone(callback: Callable[..., object]) -> bool:
    """True for a method of a widget that has been destroyed."""
    owner = getattr(callback, "__self__", None)
    return isinstance(owner, QObject) and not isValid(owner)


class KeyService(QObject):
    """Access to one folder's key; requests are answered by callbacks in the main thread."""

    changed = Signal(object)
    """The new `KeyState`."""
    key_changed = Signal()
    """The key differs from the one that the worker was given."""
    passphrase_needed = Signal()
    """The worker cannot start until the user enters the passphrase."""
    _finished = Signal(int, object)

    def __init__(
        self,
        folder: Path,
        now_ms: Callable[[], int],
        may_begin: Callable[[], bool],
        parent: QObject | None = None,
    ) -> None:
        """`may_begin`: True if a missing key loses nothing, because nothing was lent yet."""
        super().__init__(parent)
        self._folder, self._now_ms, self._may_begin = folder, now_ms, may_begin
        self._lock = threading.Lock()  # over the store, and the two secrets below
        self._new_seed: bytes | None = None
        self._passphrase: str | None = None
        self.state = KeyState()
        """As last read; `refresh` reads it again."""
        self._is_closed = False
        self._numbers = itertools.count()
        self._asked: dict[int, tuple[Callable[[Any], None], OnError]] = {}
        self._finished.connect(self._deliver)

    def close(self) -> None:
        """Call no callback any more."""
        self._is_closed = True

    def seed(self) -> bytes:
        """The seed for a worker, from any thread; raises UserFacingError in the user's language."""
        try:
            with self._lock:
                return self._seed(self._store)
        except IdentityError as err:
            if err.code == "passphrase-needed":
                self.passphrase_needed.emit()
            raise UserFacingError(without_period(error_text(err))) from err

    def refresh(self, then: OnState, fail: OnError) -> None:
        self._run(lambda store: store.state(), then, fail)

    def find_keyring(self, then: Callable[[str], None], fail: OnError) -> None:
        self._run(lambda store: store.keyring.backend_name(), then, fail)

    def make(
        self, how: KeyProtection, passphrase: str | None, then: OnState, fail: OnError
    ) -> None:
        def work(store: KeyStore) -> None:
            store.make(how, passphrase, self._new_seed)
            self._new_seed, self._passphrase = None, passphrase

        self._change(work, then, fail)

    def change_protection(
        self, how: KeyProtection, passphrase: str | None, then: OnState, fail: OnError
    ) -> None:
        def work(store: KeyStore) -> None:
            store.change_protection(how, passphrase, self._passphrase)
            self._passphrase = passphrase

        self._change(work, then, fail)

    def unlock(self, passphrase: str, then: OnState, fail: OnError) -> None:
        """Open the key with its passphrase, until the app ends."""

        def work(store: KeyStore) -> None:
            store.open(passphrase)
            self._passphrase = passphrase

        self._change(work, then, fail)

    def words(self, then: Callable[[tuple[str, ...]], None], fail: OnError) -> None:
        """The key as words; the caller confirms with `confirm_words` that they are on paper."""

        def work(store: KeyStore) -> tuple[str, ...]:
            from tequio_client.keys.backup import to_words  # noqa: PLC0415 - a list that few need

            return to_words(store.open(self._passphrase).seed)

        self._run(work, then, fail)

    def confirm_words(self, then: OnState, fail: OnError) -> None:
        def work(store: KeyStore) -> None:
            store.record_backup(store.open(self._passphrase), "words")

        self._change(work, then, fail)

    def save_backup(self, path: Path, passphrase: str, then: OnState, fail: OnError) -> None:
        """Save the key to a file encrypted with the passphrase, and record the backup."""

        def work(store: KeyStore) -> None:
            from tequio_client.keys.backup import save_backup  # noqa: PLC0415 - as above

            signer = store.open(self._passphrase)
            save_backup(path, signer.seed, passphrase)
            store.record_backup(signer, "file")

        self._change(work, then, fail)

    def restore(
        self,
        source: str | tuple[Path, str],
        how: KeyProtection,
        passphrase: str | None,
        then: OnState,
        fail: OnError,
    ) -> None:
        """Replace the key by that of the words, or of a file with its passphrase."""

        def work(store: KeyStore) -> None:
            from tequio_client.keys.backup import (  # noqa: PLC0415 - as above
                from_words,
                read_backup,
            )

            if isinstance(source, str):
                seed, way = from_words(source), "words"
            else:
                seed, way = read_backup(*source), "file"
            store.restore(seed, way, how, passphrase)
            self._new_seed, self._passphrase = None, passphrase

        self._change(work, self._announcing(then), fail)

    def recovery_words(self, seed: bytes, then: Callable[[tuple[str, ...]], None]) -> None:
        """The words of a recovery key, which is stored nowhere here."""

        def work(_: KeyStore) -> tuple[str, ...]:
            from tequio_client.keys.backup import to_words  # noqa: PLC0415 - as above

            return to_words(seed)

        self._run(work, then, lambda _: None)

    def save_recovery(
        self, path: Path, seed: bytes, passphrase: str, then: Callable[[None], None], fail: OnError
    ) -> None:
        """Save a recovery key to a file encrypted with the passphrase."""

        def work(_: KeyStore) -> None:
            from tequio_client.keys.backup import save_backup  # noqa: PLC0415 - as above

            save_backup(path, seed, passphrase)

        self._run(work, then, fail)

    def read_recovery(
        self, source: str | tuple[Path, str], then: Callable[[bytes], None], fail: OnError
    ) -> None:
        """Read the seed of a recovery key from its words, or from a file with its passphrase."""

        def work(_: KeyStore) -> bytes:
            from tequio_client.keys.backup import (  # noqa: PLC0415 - as above
                from_words,
                read_backup,
            )

            return from_words(source) if isinstance(source, str) else read_backup(*source)

        self._run(work, then, fail)

    def prepare_successor(self, then: Callable[[bytes], None], fail: OnError) -> None:
        """Store the seed of a new key that can take the place of the present one."""

        def work(store: KeyStore) -> bytes:
            from tequio_client.keys import successor  # noqa: PLC0415 - as above

            return successor.prepare(store, self._passphrase).seed

        self._run(work, then, fail)

    def install_successor(self, then: OnState, fail: OnError) -> None:
        """Make the prepared key the present one, once the ledger has accepted it."""

        def work(store: KeyStore) -> None:
            from tequio_client.keys import successor  # noqa: PLC0415 - as above

            successor.install(store, self._passphrase)
            self._new_seed = None

        self._change(work, self._announcing(then), fail)

    def _announcing(self, then: OnState) -> OnState:
        """Announce the other key, also if the widget that asked for it has been destroyed."""

        def finish(state: KeyState) -> None:
            self.key_changed.emit()
            if not is_gone(then):
                then(state)

        return finish

    def _change(self, work: Callable[[KeyStore], None], then: OnState, fail: OnError) -> None:
        def change(store: KeyStore) -> KeyState:
            work(store)
            return store.state()

        self._run(change, then, fail)

    def _run(self, work: Callable[[KeyStore], T], then: Callable[[T], None], fail: OnError) -> None:
        number = next(self._numbers)
        # Not in the thread's closure: a callback may refer to a window, and a thread that drops the
        # last reference destroys the window while the main thread handles its events.
        self._asked[number] = then, fail

        def run() -> None:
            try:
                with self._lock:
                    result = work(self._store)
            except IdentityError as err:
                self._finished.emit(number, err)
            else:
                self._finished.emit(number, result)

        threading.Thread(target=run, name="key", daemon=True).start()

    def _deliver(self, number: int, result: object) -> None:
        then, fail = self._asked.pop(number)
        callback: Callable[[Any], None] = fail if isinstance(result, IdentityError) else then
        if isinstance(result, KeyState) and result != self.state:
            self.state = result
            self.changed.emit(result)
        if not (self._is_closed or is_gone(callback)):
            callback(result)

    @cached_property
    def _store(self) -> KeyStore:
        from tequio_client.keys.identity import KeyStore  # noqa: PLC0415 - in a thread: it is slow

        return KeyStore(self._folder, self._now_ms)

    def _seed(self, store: KeyStore) -> bytes:
        kept = store.state().protection
        if kept is not KeyProtection.ABSENT:
            return store.open(self._passphrase).seed
        if not self._may_begin():
            raise IdentityError("gone", folder=str(self._folder))
        self._new_seed = self._new_seed or secrets.token_bytes(SEED_BYTES)
        return self._new_seed
