"""Sealing a held-out set: documents in; archive, commitment and the custodians' shares out.

Documents are read twice, one at a time: once to judge and commit to them, once to encrypt. The key
is made here, split, and forgotten; it touches no disk except as shares.
"""

from __future__ import annotations

import hashlib
import secrets
import shutil
import tempfile
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from Crypto.Protocol.SecretSharing import Shamir
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305

from tequio_client import files
from tequio_client.dataset.sources import Files
from tequio_client.names import cleaned
from tequio_shared import sealed_set
from tequio_shared.competition import sealed_archive
from tequio_shared.competition.sealed_archive import (
    CHUNK_BYTES,
    HEAD_BYTES,
    TAG_BYTES,
    Begin,
    Head,
    chunked,
)
from tequio_shared.errors import MalformedError, UserFacingError
from tequio_shared.ids import to_text
from tequio_shared.log.merkle import Frontier
from tequio_shared.sealed_set import KEY_BYTES, SALT_BYTES, TEXT_BYTES, TEXTS, KeyShare, SealedSet

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from io import BufferedReader

    from tequio_client.dataset.sources import Source

# --- ChaCha20-Poly1305 over the chunks of a sealed set's archive.


def encrypted(key: bytes, head: Head, pieces: Iterable[bytes]) -> Iterator[bytes]:
    """Make an archive of what `head` announces, piece by piece."""
    cipher, clear = ChaCha20Poly1305(key), head.encode()
    yield clear
    for number, chunk in enumerate(chunked(pieces)):
        yield cipher.encrypt(head.nonce(number), chunk, clear)


def decrypted(key: bytes, head: Head, file: BinaryIO) -> Iterator[bytes]:
    """Decrypt the chunks that follow the head in a file.

    Raises MalformedError when one is not what stood there under this key, or there are more or
    fewer.
    """
    cipher, clear = ChaCha20Poly1305(key), head.encode()
    for number in range(head.chunks):
        left = head.plain_bytes - number * CHUNK_BYTES
        chunk = file.read(min(left, CHUNK_BYTES) + TAG_BYTES)
        try:
            yield cipher.decrypt(head.nonce(number), chunk, clear)
        except InvalidTag as err:
            raise MalformedError(
                f"part {number + 1} of {head.chunks} is damaged, or the key is another's"
            ) from err
    if file.read(1):
        raise MalformedError("something follows the last part")


# --- A key split among custodians: Shamir's scheme over GF(2^128), on each half of the key.
#
# The shares are those of the program ssss without its diffusion layer (`ssss-combine -x -D`), so
# that a custodian needs nothing of ours. The library's arithmetic takes a time that depends on
# what it computes: split and combine on a computer that nobody else is on.

_HALF = 16


def split(key: bytes, needed: int, shares: int) -> list[bytes]:
    """Split 32 bytes into as many shares of 32; the first is that of index 1."""
    front = Shamir.split(needed, shares, key[:_HALF], ssss=True)
    back = Shamir.split(needed, shares, key[_HALF:], ssss=True)
    return [one + other for (_, one), (_, other) in zip(front, back, strict=True)]


def combine(shares: Mapping[int, bytes]) -> bytes:
    """Join exactly as many shares as are needed, by index, into the key, or into nonsense."""
    halves = (slice(_HALF), slice(_HALF, None))
    return b"".join(
        Shamir.combine([(at, one[half]) for at, one in shares.items()], ssss=True)
        for half in halves
    )


# --- A new folder that is there whole or not at all.


@contextmanager
def staged(to: Path) -> Iterator[Path]:
    """Give a folder that only its owner can read, and its name when the block is done.

    On any error nothing is left. Raises UserFacingError when there is something already, or the
    disk does not take it.
    """
    try:
        if to.exists() and (not to.is_dir() or any(to.iterdir())):
            raise UserFacingError(f"{to} is there already and not empty; name a new folder")
        to.parent.mkdir(parents=True, exist_ok=True)
        stage = Path(tempfile.mkdtemp(prefix=f".{to.name}-", dir=to.parent))
        try:
            yield stage
            files.settle_folder(stage, to)
        except BaseException:
            shutil.rmtree(stage, ignore_errors=True)
            raise
    except OSError as err:
        raise UserFacingError(f"cannot write {to}: {err.strerror or err}") from err


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
        archive = _write(stage / ARCHIVE, encrypted(key, head, _plain(source, leaves)))
        held = [
            KeyShare(index=at, needed=needed, shares=shares, root=head.root, value=value)
            for at, value in enumerate(split(key, needed, shares), 1)
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


# --- Opening a sealed set: archive, commitment and enough shares in; documents and salts out.

DOCUMENTS = "documents"
SALTS = "salts.txt"
_SHARE_FILE_BYTES = 65_536


def open_sealed(
    archive: Path, commitment: Path, share_files: Sequence[Path], to: Path
) -> SealedSet:
    """Bring the documents back into the new folder `to`, each held against its leaf.

    They lie in `documents`, numbered from 1, and their salts in `salts.txt`, a line each. Raises
    UserFacingError, which names the share or the document that is wrong; then there is no folder.
    """
    sealed = _commitment(commitment)
    unlocked(archive, sealed, combine(_agreed(share_files, sealed)), to)
    return sealed


def unlocked(archive: Path, sealed: SealedSet, key: bytes, to: Path) -> None:
    """The same with the key itself."""
    with _opened(archive) as file, staged(to) as stage:
        try:
            head = _unsealing_head(file, sealed)
            chunks = decrypted(key, head, file)
            _unsealing_write(sealed_archive.read(chunks, head), stage)
        except MalformedError as err:
            raise UserFacingError(f"cannot open {archive}: {err}") from err


def document_file(index: int) -> str:
    """Name the file of a document, counted from 0."""
    return f"{index + 1:07}.txt"


def _opened(archive: Path) -> BufferedReader:
    try:
        return archive.open("rb")
    except OSError as err:
        raise UserFacingError(f"cannot read {archive}: {err.strerror}") from err


def _commitment(path: Path) -> SealedSet:
    try:
        return SealedSet.parse(path.read_bytes())
    except OSError as err:
        raise UserFacingError(f"cannot read {path}: {err.strerror}") from err
    except MalformedError as err:
        raise UserFacingError(f"{path} is no commitment to a sealed set: {err}") from err


def _agreed(files: Iterable[Path], sealed: SealedSet) -> dict[int, bytes]:
    """Take as many shares as are needed, after all were held against the commitment."""
    found: dict[int, bytes] = {}
    names: dict[int, Path] = {}
    for file in files:
        share = _share(file, sealed)
        if share.index in found:
            raise UserFacingError(
                f"{file} and {names[share.index]} are both share {share.index}; "
                "bring another custodian's"
            )
        found[share.index], names[share.index] = share.value, file
    if len(found) < sealed.needed:
        raise UserFacingError(
            f"{sealed.needed} of {len(sealed.shares)} shares are needed, and {len(found)} given; "
            "ask another custodian"
        )
    return dict(sorted(found.items())[: sealed.needed])


def _share(file: Path, sealed: SealedSet) -> KeyShare:
    try:
        with file.open("rb") as opened:
            share = KeyShare.parse(opened.read(_SHARE_FILE_BYTES).decode("ascii", "replace"))
    except OSError as err:
        raise UserFacingError(f"cannot read {file}: {err.strerror}") from err
    except MalformedError as err:
        raise UserFacingError(f"{file} is no share as it was given out: {err}") from err
    if to_text(share.root) != sealed.root:
        raise UserFacingError(f"{file} is a share of another set, {to_text(share.root)}")
    if share.index > len(sealed.shares) or to_text(share.name) != sealed.shares[share.index - 1]:
        raise UserFacingError(
            f"{file} is not the share {share.index} that was committed to; "
            "ask its custodian for the original, or bring another's"
        )
    return share


def _unsealing_head(file: BufferedReader, sealed: SealedSet) -> Head:
    """Hold the whole archive against the commitment before any of it is decrypted."""
    if to_text(hashlib.file_digest(file, "sha256").digest()) != sealed.archive:
        raise MalformedError("it is not the archive that was committed to; fetch it again")
    file.seek(0)
    head = Head.parse(file.read(HEAD_BYTES))
    found = (to_text(head.root), head.documents, head.size_bytes)
    if found != (sealed.root, sealed.documents, sealed.size_bytes):
        raise MalformedError("its head is not that of the commitment")
    return head


def _unsealing_write(events: Iterator[Begin | bytes], stage: Path) -> None:
    (stage / DOCUMENTS).mkdir()
    document: BinaryIO | None = None
    with (stage / SALTS).open("wb") as salts:
        try:
            for event in events:
                if isinstance(event, Begin):
                    salts.write(to_text(event.salt).encode() + b"\n")
                    if document:
                        document.close()
                    document = (stage / DOCUMENTS / document_file(event.index)).open("wb")
                elif document:
                    document.write(event)
        finally:
            if document:
                document.close()
