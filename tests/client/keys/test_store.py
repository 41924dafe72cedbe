"""The key of a folder: kept from others, never lost for another, and backed up for good."""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from keyring.backends import fail

from tequio_client import files
from tequio_client.keys import identity, successor
from tequio_client.keys.backup import from_words, read_backup, save_backup, to_words
from tequio_client.keys.identity import RECORD, KeyStore
from tequio_client.keys.state import ERROR_TEMPLATES, IdentityError, KeyProtection
from tequio_client.keys.system_keyring import SystemKeyring
from tequio_shared.ids import to_text
from tests.support.memory_keyring import ScriptedKeyring, keyring_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


NOW_MS = 1_795_285_800_000
SEED = bytes(range(32))
PHRASE = "correct horse"
WAYS = [KeyProtection.KEYRING, KeyProtection.PASSPHRASE, KeyProtection.OPEN]
NO_KEYRING = fail.Keyring()  # type: ignore[no-untyped-call]  # the library's
posix = pytest.mark.skipif(os.name != "posix", reason="modes are POSIX's")


@pytest.fixture
def ring() -> Iterator[ScriptedKeyring]:
    made = ScriptedKeyring()
    with keyring_of(made):
        yield made
        made.release()


@pytest.fixture
def store(tmp_path: Path) -> KeyStore:
    return store_in(tmp_path / "worker")


def store_in(folder: Path, patience_s: float = 20.0) -> KeyStore:
    return KeyStore(folder, lambda: NOW_MS, SystemKeyring(patience_s))


def content(store: KeyStore) -> bytes:
    return (store.folder / identity.KEY_FILE).read_bytes()


def refused(code: str) -> pytest.RaisesExc[IdentityError]:
    return pytest.RaisesExc(IdentityError, check=lambda err: err.code == code)


# --- kept in the keyring


def test_a_key_in_the_keyring_is_sealed_on_the_disk(ring: ScriptedKeyring, store: KeyStore) -> None:
    signer = store.make(KeyProtection.KEYRING)
    assert signer.seed not in content(store)
    assert all(len(kept) == 43 for kept in ring.entries.values())
    assert store_in(store.folder).open().key == signer.key
    assert identity.load_or_create(store.folder).key == signer.key
    assert store.state().protection is KeyProtection.KEYRING


@posix
@pytest.mark.parametrize("how", WAYS)
@pytest.mark.usefixtures("ring")
def test_file_and_folder_are_for_their_owner_alone(store: KeyStore, how: KeyProtection) -> None:
    store.make(how, PHRASE if how is KeyProtection.PASSPHRASE else None)
    for path, mode in ((store.folder, 0o700), (store.folder / identity.KEY_FILE, 0o600)):
        assert stat.S_IMODE(path.stat().st_mode) == mode


def test_two_folders_have_their_own_entries(ring: ScriptedKeyring, tmp_path: Path) -> None:
    one, other = store_in(tmp_path / "one"), store_in(tmp_path / "other")
    keys = {one.make(KeyProtection.KEYRING).key, other.make(KeyProtection.KEYRING).key}
    assert len(keys) == len(ring.entries) == 2
    assert {one.open().key, other.open().key} == keys


@pytest.mark.parametrize(
    ("fault", "code"),
    [
        (None, "keyring-locked"),
        (RuntimeError("no such interface"), "keyring-failing"),
        (OSError(2, "gone"), "keyring-failing"),
    ],
)
def test_a_keyring_that_refuses_is_said_and_the_key_stays(
    ring: ScriptedKeyring, store: KeyStore, fault: Exception | None, code: str
) -> None:
    key, before = store.make(KeyProtection.KEYRING).key, content(store)
    ring.is_locked, ring.fault = fault is None, fault
    with refused(code):
        store.open()
    assert content(store) == before
    ring.is_locked, ring.fault = False, None
    assert store.open().key == key


def test_where_there_is_no_keyring_nothing_is_written(store: KeyStore) -> None:
    with keyring_of(NO_KEYRING), refused("keyring-absent"):
        store.make(KeyProtection.KEYRING)
    assert store.state().protection is KeyProtection.ABSENT


@pytest.mark.usefixtures("ring")
def test_a_keyring_that_cannot_be_asked_any_more_is_absent(store: KeyStore) -> None:
    store.make(KeyProtection.KEYRING)
    with keyring_of(NO_KEYRING), refused("keyring-absent"):
        store.open()


def test_a_keyring_that_keeps_nothing_is_found_out(ring: ScriptedKeyring, store: KeyStore) -> None:
    ring.is_forgetful = True
    with refused("keyring-failing"):
        store.make(KeyProtection.KEYRING)
    assert store.state().protection is KeyProtection.ABSENT


def test_an_emptied_keyring_is_said_with_the_way_out(
    ring: ScriptedKeyring, store: KeyStore
) -> None:
    store.make(KeyProtection.KEYRING)
    ring.entries.clear()
    with pytest.raises(IdentityError, match=r"no entry .* restore the key from a backup"):
        store.open()


def test_an_entry_that_is_no_key_is_said(ring: ScriptedKeyring, store: KeyStore) -> None:
    store.make(KeyProtection.KEYRING)
    ring.entries = dict.fromkeys(ring.entries, "not a key")
    with refused("keyring-failing"):
        store.open()
    ring.entries = dict.fromkeys(ring.entries, "A" * 43)
    with refused("damaged"):
        store.open()


def test_a_late_keyring_is_waited_for_and_asked_once(ring: ScriptedKeyring, tmp_path: Path) -> None:
    key = store_in(tmp_path).make(KeyProtection.KEYRING).key
    hasty, asked = store_in(tmp_path, 0.05), ring.calls
    ring.hold()
    for _ in range(3):
        with refused("keyring-late"):
            hasty.open()
    assert ring.calls <= asked + 1
    ring.release()
    assert store_in(tmp_path).open().key == key


# --- kept otherwise


def test_a_passphrase_opens_and_no_other(store: KeyStore) -> None:
    key = store.make(KeyProtection.PASSPHRASE, PHRASE).key
    assert store.open(PHRASE).key == key
    with refused("passphrase-wrong"):
        store.open("wrong horse")
    with refused("passphrase-needed"):
        store.open()


def test_an_open_file_is_said_to_be_one(store: KeyStore) -> None:
    signer = store.make(KeyProtection.OPEN)
    assert content(store) == signer.seed
    assert store.state().protection is KeyProtection.OPEN


@pytest.mark.parametrize("size", [0, 31, 33, 84, 100])
def test_a_damaged_file_is_said_and_left_alone(store: KeyStore, size: int) -> None:
    private_file_in(store, bytes(size))
    for ask in (store.state, store.open, lambda: store.make(KeyProtection.OPEN)):
        with refused("size"):
            ask()
    assert content(store) == bytes(size)


def test_a_flipped_bit_is_found(ring: ScriptedKeyring, store: KeyStore) -> None:
    store.make(KeyProtection.KEYRING)
    private_file_in(store, content(store)[:-1] + bytes([content(store)[-1] ^ 1]))
    with refused("damaged"):
        store.open()
    assert ring.entries


@posix
def test_a_file_that_others_may_read_is_refused(store: KeyStore) -> None:
    store.make(KeyProtection.OPEN)
    (store.folder / identity.KEY_FILE).chmod(0o644)
    with refused("mode"):
        store.state()


def test_a_key_is_not_made_over_another(store: KeyStore) -> None:
    key = store.make(KeyProtection.OPEN).key
    with refused("there"):
        store.make(KeyProtection.OPEN)
    assert store.open().key == key


def test_there_is_nothing_to_open_in_an_empty_folder(store: KeyStore) -> None:
    with refused("gone"):
        store.open()


# --- kept in another way


def test_the_same_key_is_kept_in_one_way_after_another(
    ring: ScriptedKeyring, store: KeyStore
) -> None:
    key = store.make(KeyProtection.OPEN).key
    store.change_protection(KeyProtection.KEYRING, None, None)
    assert (store.open().key, len(ring.entries)) == (key, 1)
    store.change_protection(KeyProtection.PASSPHRASE, PHRASE, None)
    assert (store.open(PHRASE).key, ring.entries) == (key, {})
    with refused("passphrase-wrong"):
        store.change_protection(KeyProtection.KEYRING, None, "wrong horse")
    store.change_protection(KeyProtection.KEYRING, None, PHRASE)
    assert store.open().key == key


def test_a_keyring_that_refuses_leaves_the_key_as_it_was(
    ring: ScriptedKeyring, store: KeyStore
) -> None:
    key = store.make(KeyProtection.PASSPHRASE, PHRASE).key
    ring.is_locked = True
    with refused("keyring-locked"):
        store.change_protection(KeyProtection.KEYRING, None, PHRASE)
    assert store.open(PHRASE).key == key


@pytest.mark.parametrize("before", WAYS)
@pytest.mark.parametrize("after", WAYS)
def test_a_waiting_key_is_kept_in_the_same_way_as_the_present_one(
    ring: ScriptedKeyring, store: KeyStore, before: KeyProtection, after: KeyProtection
) -> None:
    store.make(before, PHRASE)
    waiting = successor.prepare(store, PHRASE)
    store.change_protection(after, "another phrase", PHRASE)
    assert successor.prepare(store, "another phrase").key == waiting.key
    assert len(ring.entries) == 2 * (after is KeyProtection.KEYRING)
    assert successor.install(store, "another phrase").key == waiting.key
    assert store.state().protection is after


class PowerCut(BaseException):
    """Ends the program at once."""


def break_present(store: KeyStore, patch: pytest.MonkeyPatch, err: BaseException) -> None:
    """Let the waiting key be written, and the present one not."""
    write = files.write_private

    def fail(path: Path, content: bytes) -> None:
        if path.parent == store.folder:
            raise err
        write(path, content)

    patch.setattr(files, "write_private", fail)


@pytest.mark.parametrize("before", WAYS)
@pytest.mark.usefixtures("ring")
def test_a_change_that_fails_after_the_waiting_key_leaves_both_as_they_were(
    store: KeyStore, monkeypatch: pytest.MonkeyPatch, before: KeyProtection
) -> None:
    key = store.make(before, PHRASE).key
    waiting = successor.prepare(store, PHRASE)
    with monkeypatch.context() as patch:
        break_present(store, patch, OSError(28, "No space left on device"))
        with refused("unusable"):
            store.change_protection(KeyProtection.PASSPHRASE, "another phrase", PHRASE)
    assert store.open(PHRASE).key == key
    assert successor.prepare(store, PHRASE).key == waiting.key


def test_a_change_that_was_cut_short_after_the_waiting_key_is_made_again(
    store: KeyStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.make(KeyProtection.PASSPHRASE, PHRASE)
    waiting = successor.prepare(store, PHRASE)
    with monkeypatch.context() as patch:
        break_present(store, patch, PowerCut())
        with pytest.raises(PowerCut):
            store.change_protection(KeyProtection.PASSPHRASE, "another phrase", PHRASE)
    store.change_protection(KeyProtection.PASSPHRASE, "another phrase", PHRASE)
    assert successor.install(store, "another phrase").key == waiting.key


# --- backups


@settings(
    max_examples=4, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(st.binary(min_size=32, max_size=32), st.text(min_size=8, max_size=20))
def test_every_key_comes_back_from_its_file(tmp_path: Path, seed: bytes, phrase: str) -> None:
    path = tmp_path / "mine.tequio-key"
    save_backup(path, seed, phrase)
    assert read_backup(path, phrase) == seed
    assert seed not in path.read_bytes()
    assert [one.name for one in tmp_path.iterdir()] == [path.name]


def test_a_backup_opens_with_its_passphrase_alone(tmp_path: Path) -> None:
    path = tmp_path / "mine.tequio-key"
    save_backup(path, SEED, PHRASE)
    with refused("backup-wrong"):
        read_backup(path, "wrong horse")
    *before, last = path.read_bytes()
    path.write_bytes(bytes((*before, last ^ 1)))
    with refused("backup-wrong"):
        read_backup(path, PHRASE)
    path.write_bytes(b"a shopping list")
    with refused("backup-foreign"):
        read_backup(path, PHRASE)
    with refused("backup-unusable"):
        read_backup(tmp_path / "none", PHRASE)


def test_a_backup_that_cannot_be_written_leaves_what_was_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "mine.tequio-key"
    save_backup(path, SEED, PHRASE)
    before = path.read_bytes()
    with refused("backup-unusable"):
        save_backup(tmp_path / "no folder" / "mine", SEED, PHRASE)
    with refused("passphrase-short"):
        save_backup(path, SEED, "short")

    def lie(target: Path, _: bytes) -> None:
        target.write_bytes(before)

    monkeypatch.setattr(files, "write_private", lie)
    with refused("backup-differs"):
        save_backup(path, bytes(32), PHRASE)
    assert [one.read_bytes() for one in tmp_path.iterdir()] == [before]


def test_a_restored_key_is_backed_up_and_puts_the_other_aside(store: KeyStore) -> None:
    other = store.make(KeyProtection.PASSPHRASE, PHRASE)
    sealed = content(store)
    words = " ".join(to_words(SEED))
    signer = store.restore(from_words(words), "words", KeyProtection.OPEN)
    assert (store.open().key, signer.seed) == (signer.key, SEED)
    assert (store.folder / "identity.key.old").read_bytes() == sealed
    assert signer.key != other.key
    state = store.state()
    assert (state.record.backup, state.record.backup_ms) == ("words", NOW_MS)
    store.restore(bytes(32), "file", KeyProtection.OPEN)
    assert (store.folder / "identity.key.old1").read_bytes() == SEED


def test_the_same_key_is_not_left_in_the_open_beside_itself(store: KeyStore) -> None:
    store.make(KeyProtection.OPEN, seed=SEED)
    store.restore(SEED, "words", KeyProtection.PASSPHRASE, PHRASE)
    assert sorted(one.name for one in store.folder.iterdir()) == [RECORD, identity.KEY_FILE]


def test_a_key_is_not_backed_up_until_it_is(store: KeyStore) -> None:
    signer = store.make(KeyProtection.OPEN)
    assert store.state().wants_backup
    store.record_backup(signer, "file")
    assert not store_in(store.folder).state().wants_backup
    (store.folder / identity.KEY_FILE).unlink()
    store.make(KeyProtection.OPEN)
    assert store.state().wants_backup


def test_a_key_that_a_worker_made_is_known_and_not_backed_up(store: KeyStore) -> None:
    store.record_backup(store.make(KeyProtection.OPEN), "words")
    (store.folder / identity.KEY_FILE).unlink()
    made = identity.load_or_create(store.folder)
    state = store.state()
    assert state.record.key == to_text(made.key)
    assert state.wants_backup


@pytest.mark.parametrize("how", [KeyProtection.OPEN, KeyProtection.PASSPHRASE])
def test_a_key_that_was_installed_does_not_wait_as_its_own_successor(
    store: KeyStore, how: KeyProtection, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.make(how, PHRASE)
    waiting = successor.prepare(store, PHRASE)
    assert successor.prepare(store, PHRASE).key == waiting.key
    with monkeypatch.context() as power_cut:
        power_cut.setattr(successor, "discard", lambda _: None)
        successor.install(store, PHRASE)
    later = successor.prepare(store, PHRASE)
    assert identity.load(store.folder, PHRASE).key == waiting.key != later.key
    assert successor.install(store, PHRASE).key == later.key
    with refused("gone"):  # rather than a key that no ledger knows
        successor.install(store, PHRASE)


@pytest.mark.parametrize("content", [b"", b"{", b"\xff", b'{"backup_ms": -1}'])
def test_a_damaged_record_is_as_none(store: KeyStore, content: bytes) -> None:
    store.record_backup(store.make(KeyProtection.OPEN), "words")
    (store.folder / RECORD).write_bytes(content)
    assert store.state().wants_backup
    store.open()
    assert store.state().record.key


def test_no_sentence_ends_as_one_that_stands_alone() -> None:
    assert [one for one in ERROR_TEMPLATES.values() if one.endswith(".") or one[:1].isupper()] == []


def private_file_in(store: KeyStore, content: bytes) -> None:
    store.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    files.write_private(store.folder / identity.KEY_FILE, content)
