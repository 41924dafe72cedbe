"""Sealed sets of held-out documents: encrypted until the custodians join their shares of the key.

Sealing turns documents into an archive, a commitment and the custodians' shares. Documents are read
twice, one at a time: once to check and commit to them, once to encrypt them. The key is made here,
split, and forgotten; it is never on a disk except as shares. Opening reverses it, and checks every
document against the commitment.
"""

from __future__ import annotations

import hashlib
import secrets
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from Crypto.Protocol.SecretSharing import Shamir
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305

from tequio_client import files
from tequio_client.dataset.sources import TextFiles, TextList
from tequio_client.names import clean_text
from tequio_shared import sealed_set
from tequio_shared.competition import sealed_archive
from tequio_shared.competition.sealed_archive import (
    CHUNK_BYTES,
    HEAD_BYTES,
    TAG_BYTES,
    ArchiveHead,
    DocumentStart,
    chunked,
)
from tequio_shared.errors import MalformedError, UserFacingError
from tequio_shared.ids import to_text
from tequio_shared.log import merkle
from tequio_shared.sealed_set import KEY_BYTES, SALT_BYTES, TEXT_BYTES, TEXTS, KeyShare, SealedSet

if TYPE_CHECKING:
    from io import BufferedReader


ARCHIVE = "archive.sealed"
COMMITMENT = "commitment.json"
DOCUMENTS = "documents"
SALTS = "salts.txt"
_SHARE_FILE_BYTES = 65_536
_HALF = 16
_NAMED = 5
_SHOWN = 60


def encrypt(key: bytes, head: ArchiveHead, pieces: Iterable[bytes]) -> Iterator[bytes]:
    """Encrypt an archive with ChaCha20-Poly1305, chunk by chunk.

    `pieces` have as many bytes in all as `head` announces.
    """
    cipher, clear = ChaCha20Poly1305(key), head.encode()
    yield clear
    for number, chunk in enumerate(chunked(pieces)):
        yield cipher.encrypt(head.nonce(number), chunk, clear)


def decrypt(key: bytes, head: ArchiveHead, file: BinaryIO) -> Iterator[bytes]:
    """Decrypt the chunks that follow the head in a file.

    Raises MalformedError when a chunk is not authentic under this key, or their number is wrong.
    """
    cipher, clear = ChaCha20Poly1305(key), head.encode()
    for number in range(head.chunks):
        left = head.plain_bytes - number * CHUNK_BYTES
        chunk = file.read(min(left, CHUNK_BYTES) + TAG_BYTES)
        try:
            yield cipher.decrypt(head.nonce(number), chunk, clear)
        except InvalidTag as err:
            raise MalformedError(
                f"part {number + 1} of {head.chunks} is damaged, or the key is wrong"
            ) from err
    if file.read(1):
        raise MalformedError("the archive has extra bytes after its last part")


def split_key(key: bytes, needed: int, shares: int) -> list[bytes]:
    """Split a key of 32 bytes into shares of 32 bytes; the first has index 1.

    Shamir's scheme over GF(2^128), on each half of the key. The shares are those of the program
    ssss without its diffusion layer, so `ssss-combine -x -D` joins them without Tequio.
    """
    # The library's arithmetic takes a time that depends on its operands, and could be measured by
    # other users of the computer: the guide tells organisers to use a computer of their own.
    front = Shamir.split(needed, shares, key[:_HALF], ssss=True)
    back = Shamir.split(needed, shares, key[_HALF:], ssss=True)
    return [one + other for (_, one), (_, other) in zip(front, back, strict=True)]


def combine_shares(shares: Mapping[int, bytes]) -> bytes:
    """Join exactly the needed number of shares, by index, into the key.

    Wrong shares give a wrong key and no error: check them against the commitment first.
    """
    halves = (slice(_HALF), slice(_HALF, None))
    return b"".join(
        Shamir.combine([(at, one[half]) for at, one in shares.items()], ssss=True)
        for half in halves
    )


@contextmanager
def staged_folder(to: Path) -> Iterator[Path]:
    """Give a temporary folder that only its owner can read, and rename it to `to` at the end.

    The folder `to` is complete or absent: any error removes everything. Raises UserFacingError when
    `to` exists and is not empty, or cannot be written.
    """
    try:
        if to.exists() and (not to.is_dir() or any(to.iterdir())):
            raise UserFacingError(f"{to} exists and is not empty: give a new folder")
        to.parent.mkdir(parents=True, exist_ok=True)
        stage = Path(tempfile.mkdtemp(prefix=f".{to.name}-", dir=to.parent))
        try:
            yield stage
            files.sync_and_rename_folder(stage, to)
        except BaseException:
            shutil.rmtree(stage, ignore_errors=True)
            raise
    except OSError as err:
        raise UserFacingError(f"cannot write {to}: {err.strerror or err}") from err


@dataclass(frozen=True, slots=True, kw_only=True)
class _Leaf:
    salt: bytes
    hash: bytes
    size_bytes: int


def seal(source: TextList, to: Path, *, needed: int, shares: int) -> SealedSet:
    """Seal all documents into the new folder `to`; `needed` of `shares` shares open it.

    Raises UserFacingError, which names the documents that cannot be sealed; nothing is written
    then.
    """
    with staged_folder(to) as stage:
        leaves = _leaves(source)
        head = ArchiveHead(
            root=merkle.root_of_hashes([leaf.hash for leaf in leaves]),
            documents=len(leaves),
            size_bytes=sum(leaf.size_bytes for leaf in leaves),
        )
        key = secrets.token_bytes(KEY_BYTES)
        archive = _write(stage / ARCHIVE, encrypt(key, head, _plain(source, leaves)))
        held = [
            KeyShare(index=at, needed=needed, shares=shares, root=head.root, value=value)
            for at, value in enumerate(split_key(key, needed, shares), 1)
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
            name = f"share-{one.index}-of-{one.shares}.txt"
            files.write_private(stage / name, _letter(one).encode())
    return sealed


def _letter(share: KeyShare) -> str:
    # A custodian must be able to tell years later what this file is.
    number = f"{share.index} of {share.shares}"
    if share.needed == 1:
        opens = "This share alone decrypts the documents."
    else:
        opens = (
            f"Any {share.needed} of the {share.shares} shares decrypt them; fewer reveal nothing."
        )
    return (
        f"# Share {number} of the key to a sealed set of documents (Tequio).\n"
        f"# {opens}\n"
        "# Keep it secret, store a copy on another computer, and publish it only when the\n"
        "# organisers ask for it after the competition's deadline.\n"
        f"# The set: {to_text(share.root)}\n"
        f"{share.encode()}\n"
    )


def _leaves(source: TextList) -> list[_Leaf]:
    if not 1 <= len(source) <= TEXTS:
        raise UserFacingError(
            f"{len(source):,} documents in the {source.label}: a sealed set has 1 to {TEXTS:,}"
        )
    leaves, faults, seen = [], [], dict[bytes, int]()
    for index in range(len(source)):
        # A folder may hold files of any size, so a file's size is asked before it is read.
        size_bytes = source.paths[index].stat().st_size if isinstance(source, TextFiles) else 0
        raw = _raw(source, index) if size_bytes <= TEXT_BYTES else b""
        fault = _fault(max(size_bytes, len(raw)), raw) or _twin(source, index, raw, seen)
        if fault:
            faults.append(f"{_named(source, index)} {fault}")
            continue
        salt = secrets.token_bytes(SALT_BYTES)
        leaf = sealed_set.document_leaf(salt, (raw,))
        leaves.append(_Leaf(salt=salt, hash=leaf, size_bytes=len(raw)))
    if faults:
        more = len(faults) - _NAMED
        ending = f"; and {more:,} more like these" if more > 0 else ""
        raise UserFacingError(f"nothing was sealed: {'; '.join(faults[:_NAMED])}{ending}")
    return leaves


def _fault(size_bytes: int, raw: bytes) -> str:
    if size_bytes > TEXT_BYTES:
        return f"has {size_bytes:,} bytes, and at most {TEXT_BYTES:,} are allowed: split it"
    return "" if raw.strip() else "has no text, or is not UTF-8: remove it, or convert it"


def _twin(source: TextList, index: int, raw: bytes, seen: dict[bytes, int]) -> str:
    # A document that differs in surrounding white space only counts as a copy.
    first = seen.setdefault(hashlib.sha256(raw.strip()).digest(), index)
    return f"is a copy of {_named(source, first)}: remove one of them" if first != index else ""


def _named(source: TextList, index: int) -> str:
    if isinstance(source, TextFiles):
        return f"document {index} ({clean_text(source.paths[index].name, _SHOWN)})"
    return f"document {index}"


def _raw(source: TextList, index: int) -> bytes:
    try:
        return source.text(index).encode()
    except UnicodeEncodeError:  # half a surrogate pair, which JSON can spell
        return b""


def _plain(source: TextList, leaves: list[_Leaf]) -> Iterator[bytes]:
    yield from (leaf.hash for leaf in leaves)
    for index, leaf in enumerate(leaves):
        raw = _raw(source, index)
        if sealed_set.document_leaf(leaf.salt, (raw,)) != leaf.hash:
            raise UserFacingError(
                f"nothing was sealed: {_named(source, index)} was changed meanwhile; start again"
            )
        yield DocumentStart(index=index, salt=leaf.salt, size_bytes=leaf.size_bytes).encode()
        yield raw


def _write(path: Path, pieces: Iterator[bytes]) -> bytes:
    state = hashlib.sha256()
    with path.open("wb") as file:
        for piece in pieces:
            state.update(piece)
            file.write(piece)
        files.sync(file)
    return state.digest()


def open_sealed(
    archive: Path, commitment: Path, share_files: Sequence[Path], to: Path
) -> SealedSet:
    """Decrypt the documents into the new folder `to`, each checked against its leaf.

    The documents are in `documents`, numbered from 0, and their salts in `salts.txt`, one per line.
    Raises UserFacingError, which names the wrong share or document; no folder is left then.
    """
    with _reading(commitment, "commitment"):
        sealed = SealedSet.parse(commitment.read_bytes())
    decrypt_archive(archive, sealed, combine_shares(_checked_shares(share_files, sealed)), to)
    return sealed


def decrypt_archive(archive: Path, sealed: SealedSet, key: bytes, to: Path) -> None:
    """Decrypt as `open_sealed` does, with the key itself."""
    with _reading(archive, "archive"):
        file = archive.open("rb")
    with file, staged_folder(to) as stage:
        try:
            head = _archive_head(file, sealed)
            chunks = decrypt(key, head, file)
            _write_documents(sealed_archive.read_documents(chunks, head), stage)
        except MalformedError as err:
            raise UserFacingError(f"cannot open {archive}: {err}") from err


def document_file_name(index: int) -> str:
    """File name of a document; `index` counts from 0."""
    return f"{index:07}.txt"


def file_digest(path: Path) -> str:
    """SHA-256 of a file, as text; raises OSError."""
    with path.open("rb") as file:
        return to_text(hashlib.file_digest(file, "sha256").digest())


@contextmanager
def _reading(file: Path, what: str) -> Iterator[None]:
    try:
        yield
    except OSError as err:
        raise UserFacingError(f"cannot read {file}: {err.strerror}") from err
    except MalformedError as err:
        raise UserFacingError(f"{file} is not a valid {what}: {err}") from err


def _checked_shares(share_files: Iterable[Path], sealed: SealedSet) -> dict[int, bytes]:
    # Every share given is checked, also those beyond the number needed: a wrong one is an error.
    found: dict[int, bytes] = {}
    names: dict[int, Path] = {}
    for file in share_files:
        share = read_share(file)
        check_share(share, sealed, file)
        if share.index in found:
            raise UserFacingError(
                f"{file} and {names[share.index]} are both share {share.index}: "
                "give the share of another custodian"
            )
        found[share.index], names[share.index] = share.value, file
    if len(found) < sealed.needed:
        raise UserFacingError(
            f"{sealed.needed} of {len(sealed.shares)} shares are needed, and {len(found)} given: "
            "ask another custodian"
        )
    return dict(sorted(found.items())[: sealed.needed])


def read_share(file: Path) -> KeyShare:
    """Read a custodian's share; raises UserFacingError."""
    with _reading(file, "share"), file.open("rb") as opened:
        return KeyShare.parse(opened.read(_SHARE_FILE_BYTES).decode("ascii", "replace"))


def check_share(share: KeyShare, sealed: SealedSet, file: Path) -> None:
    """Raise UserFacingError unless the share in the file is one of the sealed set."""
    if to_text(share.root) != sealed.root:
        raise UserFacingError(f"{file} is a share of another sealed set, {to_text(share.root)}")
    if share.index > len(sealed.shares) or to_text(share.name) != sealed.shares[share.index - 1]:
        raise UserFacingError(
            f"{file} does not match the commitment to share {share.index}: "
            "ask its custodian for the original, or give the share of another custodian"
        )


def _archive_head(file: BufferedReader, sealed: SealedSet) -> ArchiveHead:
    # The whole archive is checked against the commitment before any of it is decrypted.
    if to_text(hashlib.file_digest(file, "sha256").digest()) != sealed.archive:
        raise MalformedError("the archive does not match the commitment; download it again")
    file.seek(0)
    head = ArchiveHead.parse(file.read(HEAD_BYTES))
    found = (to_text(head.root), head.documents, head.size_bytes)
    if found != (sealed.root, sealed.documents, sealed.size_bytes):
        raise MalformedError("the archive's head does not match the commitment")
    return head


def _write_documents(events: Iterator[DocumentStart | bytes], stage: Path) -> None:
    (stage / DOCUMENTS).mkdir()
    document: BinaryIO | None = None
    with (stage / SALTS).open("wb") as salts:
        try:
            for event in events:
                if isinstance(event, DocumentStart):
                    salts.write(to_text(event.salt).encode() + b"\n")
                    if document:
                        document.close()
                    document = (stage / DOCUMENTS / document_file_name(event.index)).open("wb")
                elif document:
                    document.write(event)
        finally:
            if document:
                document.close()
