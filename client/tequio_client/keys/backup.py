"""Backups of a key: a file sealed under a passphrase, or 24 English words for paper (BIP-39).

A file is read back before it gets its name. The last eight bits of the words are a checksum over
the others. For a word that is not in the list, the error names a similar one. Where all words are
in the list but the checksum fails, common slips are tried: one wrong letter, or two neighbours
swapped. A match is reported as a guess, since one in 256 matches by chance.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from itertools import pairwise
from pathlib import Path
from string import ascii_lowercase
from typing import TYPE_CHECKING

from tequio_client import files
from tequio_client.keys import identity
from tequio_client.keys.state import IdentityError

if TYPE_CHECKING:
    from mnemonic import Mnemonic


WORDS = 24
PREFIX = 4
"""Letters that identify every word of the list."""
MIN_PASSPHRASE_CHARACTERS = 8
_MOST_BYTES = 4_096


def check_passphrase(passphrase: str) -> None:
    """Raise IdentityError for a passphrase that is too short."""
    if len(passphrase) < MIN_PASSPHRASE_CHARACTERS:
        raise IdentityError("passphrase-short", least=MIN_PASSPHRASE_CHARACTERS)


def save_backup(path: Path, seed: bytes, passphrase: str) -> None:
    """Write the backup, replacing any file there; raises IdentityError.

    The path either gets a complete backup that was opened once, or keeps the file that it had.
    """
    check_passphrase(passphrase)
    try:
        with files.fresh_file(path) as part:
            files.write_private(part, identity.seal(seed, passphrase))
            if identity.unseal(part.read_bytes(), passphrase) != seed:
                raise IdentityError("backup-differs", path=str(path))
        files.sync_folder(path.parent)
    except OSError as err:
        raise _unusable(path, err) from err


def read_backup(path: Path, passphrase: str) -> bytes:
    """Read the seed from a backup; raises IdentityError."""
    try:
        with path.open("rb") as file:
            content = file.read(_MOST_BYTES)
    except OSError as err:
        raise _unusable(path, err) from err
    if not identity.is_sealed(content):
        raise IdentityError("backup-foreign", path=str(path))
    try:
        return identity.unseal(content, passphrase)
    except IdentityError as err:
        raise IdentityError("backup-wrong", path=str(path)) from err


def _unusable(path: Path, err: OSError) -> IdentityError:
    return IdentityError("backup-unusable", path=str(path), why=err.strerror or str(err))


def to_words(seed: bytes) -> tuple[str, ...]:
    return tuple(_book().to_mnemonic(seed).split())


def from_words(text: str) -> bytes:
    """Read the seed from its words, with any spacing, numbering or capitals."""
    # Without numbers and punctuation.
    words = "".join(one if one.isalpha() else " " for one in text.lower()).split()
    for number, word in enumerate(words, 1):
        if word not in _known():
            raise _unknown(number, word)
    if len(words) != WORDS:
        raise IdentityError("words-count", due=WORDS, count=len(words))
    if not _fits(words):
        raise _unfit(words)
    return bytes(_book().to_entropy(words))


@cache
def _book() -> Mnemonic:
    from mnemonic import Mnemonic  # noqa: PLC0415 - a list that few need

    return Mnemonic("english")


@cache
def _known() -> frozenset[str]:
    return frozenset(_book().wordlist)


def _fits(words: Sequence[str]) -> bool:
    return bool(_book().check(" ".join(words)))


def _unknown(number: int, word: str) -> IdentityError:
    shown = word[:24]
    near = sorted(_near(word) & _known()) or sorted(
        known for known in _known() if len(word) >= PREFIX and known[:PREFIX] == word[:PREFIX]
    )
    if near:
        return IdentityError("word-near", number=number, word=shown, near=near[0])
    return IdentityError("word-unknown", number=number, word=shown)


def _unfit(words: Sequence[str]) -> IdentityError:
    for at, (one, other) in enumerate(pairwise(words)):
        if one != other and _fits([*words[:at], other, one, *words[at + 2 :]]):
            return IdentityError("words-swapped", first=at + 1, second=at + 2)
    for at, word in enumerate(words):
        for near in sorted(_near(word) & _known() - {word}):
            if _fits([*words[:at], near, *words[at + 1 :]]):
                return IdentityError("words-perhaps", number=at + 1, word=word, near=near)
    return IdentityError("words-unfit")


def _near(word: str) -> set[str]:
    """List all spellings within one slip: a letter missing, added or changed, or two swapped."""
    splits = [(word[:at], word[at:]) for at in range(len(word[:24]) + 1)]
    missing = {head + tail[1:] for head, tail in splits if tail}
    turned = {head + tail[1] + tail[0] + tail[2:] for head, tail in splits if len(tail) > 1}
    other = {head + one + tail[1:] for head, tail in splits if tail for one in ascii_lowercase}
    added = {head + one + tail for head, tail in splits for one in ascii_lowercase}
    return missing | turned | other | added
