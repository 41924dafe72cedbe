"""Sealing a held-out set: documents in; archive, commitment and the custodians' shares out.

Documents are read twice, one at a time: once to judge and commit to them, once to encrypt. The key
is made here, split, and forgotten; it touches no disk except as shares.
"""

from __future__ import annotations

import hashlib
import secrets
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tequio_client import files
from tequio_client.dataset.sources import Files
from tequio_client.names import cleaned
from tequio_client.organiser import archive_cipher, custody
from tequio_client.organiser.staged_folder import staged
from tequio_shared import sealed_set
from tequio_shared.errors import UserFacingError
from tequio_shared.ids import to_text
from tequio_shared.key_share import KEY_BYTES, KeyShare
from tequio_shared.merkle import Frontier
from tequio_shared.sealed_archive import Begin, Head
from tequio_shared.sealed_set import SALT_BYTES, TEXT_BYTES, TEXTS, SealedSet

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tequio_client.dataset.sources import Source


ARCHIVE = "archive.sealed"
COMMITMENT = "commitment.json"
_NAMED = 5
_SHOWN = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class _Leaf:
    salt: bytes
    hash: bytes
    size_bytes: int


def seal(source: Source, to: Path, *, needed: int, shares: int) -> SealedSet:
    """Seal all documents into the new folder `to`; `needed` of `shares` shares open it.

    Raises UserFacingError, which names each document that cannot be sealed, and then writes
    nothing.
    """
    with staged(to) as stage:
        leaves = _leaves(source)
        head = _head(leaves)
        key = secrets.token_bytes(KEY_BYTES)
        archive = _write(
            stage / ARCHIVE, archive_cipher.encrypted(key, head, _plain(source, leaves))
        )
        held = [
            KeyShare(index=at, needed=needed, shares=shares, root=head.root, value=value)
            for at, value in enumerate(custody.split(key, needed, shares), 1)
        ]
        sealed = SealedSet(
            root=to_text(head.root),
            documents=head.documents,
            size_bytes=head.size_bytes,
            archive=to_text(archive),
            needed=needed,
            shares=tuple(to_text(one.name) for one in held),
        )
        (stage / COMMITMENT).write_bytes(sealed.encode())
        for one in held:
            files.write_private(stage / share_file(one), _letter(one).encode())
    return sealed


def share_file(share: KeyShare) -> str:
    """Name the file of a share."""
    return f"share-{share.index}-of-{share.shares}.txt"


def _letter(share: KeyShare) -> str:
    """Tell the custodian what this is; a share must explain itself after years."""
    number = f"{share.index} of {share.shares}"
    if share.needed == 1:
        opens = "Whoever has it reads the documents at once, and nobody else is needed."
    else:
        opens = f"Any {share.needed} of the {share.shares} open them; fewer tell nothing."
    return (
        f"# Share {number} of the key to a sealed set of documents (Tequio).\n"
        f"# {opens}\n"
        "# Show it to nobody, keep a copy off this computer, and give it out only when the\n"
        "# organisers ask for it after the competition's deadline.\n"
        f"# The set: {to_text(share.root)}\n"
        f"{share.encode()}\n"
    )


def _leaves(source: Source) -> list[_Leaf]:
    """Judge every document, and commit to it."""
    if not 1 <= len(source) <= TEXTS:
        raise UserFacingError(
            f"there are {len(source):,} documents in the {source.label}; "
            f"a sealed set has 1 to {TEXTS:,}"
        )
    leaves, faults, seen = [], [], dict[bytes, int]()
    for index in range(len(source)):
        size_bytes = _file_bytes(source, index)
        raw = _raw(source, index) if size_bytes <= TEXT_BYTES else b""
        fault = _fault(max(size_bytes, len(raw)), raw) or _twin(source, index, raw, seen)
        if fault:
            faults.append(f"{_named(source, index)} {fault}")
            continue
        salt = secrets.token_bytes(SALT_BYTES)
        leaf = sealed_set.leaf(salt, (raw,))
        leaves.append(_Leaf(salt=salt, hash=leaf, size_bytes=len(raw)))
    if faults:
        raise UserFacingError(f"nothing was sealed: {_joined(faults)}")
    return leaves


def _file_bytes(source: Source, index: int) -> int:
    """Ask the size of a file before it is read: a folder may hold anything."""
    return source.paths[index].stat().st_size if isinstance(source, Files) else 0


def _fault(size_bytes: int, raw: bytes) -> str:
    if size_bytes > TEXT_BYTES:
        return f"has {size_bytes:,} bytes, and at most {TEXT_BYTES:,} are allowed: split it"
    return "" if raw.strip() else "has no text, or is not UTF-8: leave it out, or mend it"


def _twin(source: Source, index: int, raw: bytes, seen: dict[bytes, int]) -> str:
    """Find a document that was there before; white space around it makes no other one."""
    first = seen.setdefault(hashlib.sha256(raw.strip()).digest(), index)
    return f"is {_named(source, first)} again: leave one of them out" if first != index else ""


def _joined(faults: list[str]) -> str:
    more = len(faults) - _NAMED
    return "; ".join(faults[:_NAMED]) + (f"; and {more:,} more like these" if more > 0 else "")


def _named(source: Source, index: int) -> str:
    if isinstance(source, Files):
        return f"document {index + 1} ({cleaned(source.paths[index].name, _SHOWN)})"
    return f"document {index + 1}"


def _raw(source: Source, index: int) -> bytes:
    try:
        return source.text(index).encode()
    except UnicodeEncodeError:  # half a surrogate pair, which JSON can spell
        return b""


def _head(leaves: list[_Leaf]) -> Head:
    tree = Frontier()
    for leaf in leaves:
        tree.append(leaf.hash)
    return Head(
        root=tree.root(),
        documents=len(leaves),
        size_bytes=sum(leaf.size_bytes for leaf in leaves),
    )


def _plain(source: Source, leaves: list[_Leaf]) -> Iterator[bytes]:
    yield from (leaf.hash for leaf in leaves)
    for index, leaf in enumerate(leaves):
        raw = _raw(source, index)
        if sealed_set.leaf(leaf.salt, (raw,)) != leaf.hash:
            raise UserFacingError(
                f"nothing was sealed: {_named(source, index)} changed meanwhile; begin again"
            )
        yield Begin(index=index, salt=leaf.salt, size_bytes=leaf.size_bytes).encode()
        yield raw


def _write(path: Path, pieces: Iterator[bytes]) -> bytes:
    state = hashlib.sha256()
    with path.open("wb") as file:
        for piece in pieces:
            state.update(piece)
            file.write(piece)
        files.sync(file)
    return state.digest()
