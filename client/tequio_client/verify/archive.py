"""The sealed archive, fetched from where the rules say, and opened with the key in the log."""

from __future__ import annotations

from collections.abc import Callable
from http.client import HTTPException
from pathlib import Path
from typing import TYPE_CHECKING
from urllib import request

from tequio_client import files
from tequio_client.organiser import sealing
from tequio_client.worker.ledger.standing import format_time
from tequio_shared.competition.sealed_archive import ArchiveHead
from tequio_shared.errors import UserFacingError
from tequio_shared.ids import Digest, digest_from_text

if TYPE_CHECKING:
    from tequio_shared.competition.rules import CompetitionRules
    from tequio_shared.competition.state import CompetitionView


STALL_TIMEOUT_S = 60.0
_PIECE = 1 << 20


class OtherArchiveError(UserFacingError):
    """The archive is not the one that was sealed."""


def fetch_drawn_texts(
    view: CompetitionView, folder: Path, blob: Callable[[Digest], bytes | None], ledger: str
) -> list[bytes]:
    """The drawn documents in their order; what is in the folder already is not fetched again.

    Raises UserFacingError before the draw, or if the archive does not match its commitment.
    """
    if view.draw is None:
        why = view.missing_for_ranking() or f"its draw is at {format_time(view.rules.dates.draw)}"
        raise UserFacingError(f"nothing is drawn in {view.rules.name}: {why}")
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    path = fetch_archive(view.rules, folder / "archive.sealed", blob, ledger)
    # An evaluator's scores are beside these, by entrant, and no entrant's name has a dot.
    documents = decrypt_archive(view.rules, view.draw.key, path, folder / "archive.opened")
    return [read_document(documents, number) for number in view.draw.documents]


def fetch_archive(
    rules: CompetitionRules, to: Path, blob: Callable[[Digest], bytes | None], ledger: str
) -> Path:
    """The archive as a file at `to`, its hash checked; a file that is there already is not fetched.

    `blob` gets a document from the ledger. Raises UserFacingError.
    """
    if to.is_file() and sealing.file_digest(to) == rules.sealed.archive:
        return to
    fresh = to.with_suffix(".part")
    if rules.archive:
        _download(rules, fresh)
    else:
        raw = blob(digest_from_text(rules.sealed.archive))
        if raw is None:
            raise UserFacingError(
                f"the ledger at {ledger} does not have the sealed archive "
                f"{rules.sealed.archive[:10]}, and the rules name no other place: ask the "
                "organisers to put it there"
            )
        fresh.write_bytes(raw)
    if sealing.file_digest(fresh) != rules.sealed.archive:
        files.delete(fresh)
        raise OtherArchiveError(
            f"the file at {rules.archive or ledger} is not the archive that was sealed: "
            "tell the organisers"
        )
    files.move(fresh, to)
    return to


def decrypt_archive(rules: CompetitionRules, key: bytes, archive: Path, to: Path) -> Path:
    """The documents as a folder, each held against its leaf; raises UserFacingError.

    A folder that was opened before is not opened again: it appears when everything was checked.
    """
    documents = to / sealing.DOCUMENTS
    if not documents.is_dir():
        sealing.decrypt_archive(archive, rules.sealed, key, to)
    return documents


def read_document(documents: Path, number: int) -> bytes:
    """The document of that number, from 0, of an opened set."""
    return (documents / sealing.document_file_name(number)).read_bytes()


def _download(rules: CompetitionRules, to: Path) -> None:
    sealed = rules.sealed
    root = digest_from_text(sealed.root)
    head = ArchiveHead(root=root, documents=sealed.documents, size_bytes=sealed.size_bytes)
    most = head.archive_bytes
    got = 0
    try:
        with (
            _web_opener().open(rules.archive, timeout=STALL_TIMEOUT_S) as answer,
            to.open("wb") as file,
        ):
            while piece := answer.read(_PIECE):
                got += len(piece)
                if got > most:
                    raise UserFacingError(
                        f"the file at {rules.archive} is larger than the archive, "
                        f"{most:,} bytes: tell the organisers"
                    )
                file.write(piece)
            # `read` does not raise when an answer ends too early. Without a stated length, one that
            # is too short may also be the whole of another file.
            is_cut_off = got < most if answer.length is None else answer.length > 0
    except (OSError, ValueError, HTTPException) as err:
        raise UserFacingError(f"cannot fetch the archive from {rules.archive}: {err}") from err
    if is_cut_off:
        raise UserFacingError(
            f"the download of {rules.archive} ended after {got:,} of {most:,} bytes: try again"
        )


def _web_opener() -> request.OpenerDirector:
    """Make an opener of http and https alone: `urlopen` follows a redirect to ftp as well."""
    opener = request.OpenerDirector()
    for handler in (
        request.ProxyHandler,
        request.HTTPHandler,
        request.HTTPSHandler,
        request.HTTPDefaultErrorHandler,
        request.HTTPRedirectHandler,
        request.HTTPErrorProcessor,
        request.UnknownHandler,
    ):
        opener.add_handler(handler())
    return opener
