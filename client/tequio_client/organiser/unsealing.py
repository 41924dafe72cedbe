"""Opening a sealed set: archive, commitment and enough shares in; documents and salts out."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from tequio_client.organiser import archive_cipher, custody
from tequio_client.organiser.staged_folder import staged
from tequio_shared import sealed_archive
from tequio_shared.errors import MalformedError, UserFacingError
from tequio_shared.ids import to_text
from tequio_shared.key_share import KeyShare
from tequio_shared.sealed_archive import HEAD_BYTES, Begin, Head
from tequio_shared.sealed_set import SealedSet

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from io import BufferedReader
    from pathlib import Path
    from typing import BinaryIO

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
    unlocked(archive, sealed, custody.combine(_agreed(share_files, sealed)), to)
    return sealed


def unlocked(archive: Path, sealed: SealedSet, key: bytes, to: Path) -> None:
    """The same with the key itself."""
    with _opened(archive) as file, staged(to) as stage:
        try:
            head = _head(file, sealed)
            chunks = archive_cipher.decrypted(key, head, file)
            _write(sealed_archive.read(chunks, head), stage)
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


def _head(file: BufferedReader, sealed: SealedSet) -> Head:
    """Hold the whole archive against the commitment before any of it is decrypted."""
    if to_text(hashlib.file_digest(file, "sha256").digest()) != sealed.archive:
        raise MalformedError("it is not the archive that was committed to; fetch it again")
    file.seek(0)
    head = Head.parse(file.read(HEAD_BYTES))
    found = (to_text(head.root), head.documents, head.size_bytes)
    if found != (sealed.root, sealed.documents, sealed.size_bytes):
        raise MalformedError("its head is not that of the commitment")
    return head


def _write(events: Iterator[Begin | bytes], stage: Path) -> None:
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
