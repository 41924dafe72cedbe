"""`tequio key`, as a person without a window uses it: real processes, secrets by standard input."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

import pytest

from tequio_client.keys import identity
from tequio_client.keys.backup import from_words, to_words
from tequio_client.keys.state import KeyProtection
from tequio_client.runtime import locked
from tequio_shared.ids import to_text
from tequio_shared.keys import Signer
from tests.support.forked_program import CLIENT, run_forked

if TYPE_CHECKING:
    from pathlib import Path

SEED = bytes(range(32))
KEY = to_text(Signer(SEED).key)
WORDS = " ".join(to_words(SEED))
PHRASE = "correct horse"


def tequio(*arguments: str | Path, said: str = "") -> subprocess.CompletedProcess[str]:
    return run_forked(CLIENT, "key", *map(str, arguments), timeout_s=60, stdin=said)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "worker"


def test_a_key_goes_from_words_to_a_file_and_back(folder: Path, tmp_path: Path) -> None:
    assert "no key in" in tequio("show", "--dir", folder).stdout
    made = tequio("restore", "--dir", folder, "--keep", "open", "--stdin", said=f"{WORDS}\n")
    assert (made.returncode, made.stdout) == (0, f"restored the key {KEY}\n")
    assert "stored unencrypted" in made.stderr
    path = tmp_path / "mine.tequio-key"
    saved = tequio("backup", path, "--dir", folder, "--stdin", said=f"{PHRASE}\n")
    assert (saved.returncode, saved.stderr) == (0, "")
    shown = tequio("show", "--dir", folder).stdout
    assert KEY in shown
    assert "as a file" in shown
    other = tmp_path / "other"
    restored = tequio(
        "restore", path, "--dir", other, "--keep", "passphrase", "--stdin",
        said=f"{PHRASE}\nanother phrase\n",
    )  # fmt: skip
    assert restored.stdout == f"restored the key {KEY}\n"
    assert identity.load(other, "another phrase").seed == SEED
    words = tequio("words", "--dir", other, "--anyway", "--stdin", said="another phrase\n")
    assert from_words(words.stdout.partition("Anyone")[0]) == SEED
    for said in (made, saved, shown, restored):
        assert to_text(SEED) not in str(said)


def test_the_words_are_not_written_into_a_pipe(folder: Path) -> None:
    identity.write(folder, SEED, KeyProtection.OPEN)
    refused = tequio("words", "--dir", folder)
    assert (refused.returncode, refused.stdout) == (2, "")


@pytest.mark.parametrize(
    ("arguments", "said", "why"),
    [
        (("restore", "--stdin"), "abandon", "a key has 24 words and these are 1"),
        (("restore", "--stdin"), WORDS.replace("liar", "lier"), "word 3, lier, "),
        (("restore", "--keep", "passphrase", "--stdin"), f"{WORDS}\nshort", "fewer than 8"),
        (("backup", "{tmp}/x", "--stdin"), PHRASE, "no key found in"),
    ],
)
def test_what_is_wrong_is_one_sentence(
    folder: Path, tmp_path: Path, arguments: tuple[str, ...], said: str, why: str
) -> None:
    filled = [one.format(tmp=tmp_path) for one in arguments]
    refused = tequio(*filled, "--dir", folder, said=said + "\n")
    assert refused.returncode == 1
    assert why in refused.stderr
    assert refused.stderr.count("\n") == 1
    assert identity.protection_of(folder) is KeyProtection.ABSENT


def test_without_a_keyring_a_key_is_not_left_in_the_open(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHON_KEYRING_BACKEND", "keyring.backends.fail.Keyring")
    refused = tequio("restore", "--dir", folder, "--stdin", said=f"{WORDS}\n")
    assert refused.returncode == 1
    assert "choose another way to store it" in refused.stderr
    assert identity.protection_of(folder) is KeyProtection.ABSENT


def test_a_backup_never_takes_the_place_of_a_file(folder: Path, tmp_path: Path) -> None:
    identity.write(folder, SEED, KeyProtection.OPEN)
    path = tmp_path / "letter.txt"
    path.write_text("dear")
    refused = tequio("backup", path, "--dir", folder, "--stdin", said=f"{PHRASE}\n")
    assert "the file exists already" in refused.stderr
    assert path.read_text() == "dear"


def test_a_key_is_not_restored_below_a_running_worker(folder: Path) -> None:
    with locked(folder):
        refused = tequio("restore", "--dir", folder, "--keep", "open", "--stdin", said=f"{WORDS}\n")
    assert "another process uses the folder" in refused.stderr
