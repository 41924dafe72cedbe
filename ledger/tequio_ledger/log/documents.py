"""Documents that entries name, and without which the log cannot be folded."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping

from sqlalchemy import Connection

from tequio_ledger.store import log_rows
from tequio_ledger.store.blobs import BlobFolder
from tequio_ledger.store.files import blob_path, explain
from tequio_shared.errors import FatalLogError, RefusedError, UserFacingError
from tequio_shared.ids import Digest, PeerKey, digest_from_text, from_text, sha256, to_text
from tequio_shared.network.genesis import Genesis
from tequio_shared.network.run import needed_document
from tequio_shared.served.state import named_by
from tequio_shared.statements.competitions import CompOpen, CompResult, CompSubmit, EvalResult
from tequio_shared.statements.network import FaultReport
from tequio_shared.statements.runs import NetGenesis, RoundClose, RoundRoster, RunOpen
from tequio_shared.statements.statement import Entry, Statement

NAMING = (
    NetGenesis.TYPE,
    RunOpen.TYPE,
    RoundRoster.TYPE,
    RoundClose.TYPE,
    CompOpen.TYPE,
    CompSubmit.TYPE,
    EvalResult.TYPE,
    CompResult.TYPE,
    FaultReport.TYPE,
)
"""Types of statements that name a document."""


REMEMBERED: Mapping[str, frozenset[str]] = {
    RunOpen.TYPE: frozenset({"malformed"}),
    CompOpen.TYPE: frozenset({"malformed"}),
    CompSubmit.TYPE: frozenset({"malformed"}),
    EvalResult.TYPE: frozenset({"malformed", "wrong-scores"}),
    CompResult.TYPE: frozenset({"malformed", "wrong-outcome"}),
    FaultReport.TYPE: frozenset({"wrong-evidence"}),
}
"""Codes that a document itself causes, by type of the statement: only another document helps."""
REFUSALS = 4_096
"""Documents remembered as refused."""
_Refusal = tuple[str, PeerKey, Digest | None, str]


def documents(connection: Connection) -> Iterator[tuple[int, Digest]]:
    """Yield each document with the index of the entry that needs it; the log must be sound."""
    for index, leaf in log_rows.each_leaf_of(connection, NAMING):
        name = document_of(Entry.parse(leaf).statement)
        if name is not None:
            yield index, name


def document_of(statement: Statement) -> Digest | None:
    """Give the document that a statement names; None if it names none, as most reports do."""
    body = statement.body
    if isinstance(body, NetGenesis):
        return digest_from_text(Genesis.parse(from_text(body.doc, None)).rules)
    return read_with(statement)


def read_with(statement: Statement) -> Digest | None:
    """Give the document that may be read when the statement is applied; None if there is none."""
    return named_by(statement.body) or needed_document(statement)


def _refusal_of(statement: Statement) -> _Refusal:
    # By author, so that nobody can have another's document refused; by entrant, because a document
    # that was named for a wrong one may still be right for another.
    entrant = getattr(statement.body, "entrant", "")
    return statement.type, statement.author, document_of(statement), entrant


def missing_document(index: int, statement: Statement) -> UserFacingError:
    """Explain that the log cannot be read, as the document of an entry is missing or damaged."""
    name = document_of(statement)
    if name is None:
        return UserFacingError(
            f"entry {index} ({statement.type}) rests on a document that is missing or damaged: "
            "`tequio-ledger doctor` names it"
        )
    return UserFacingError(
        f"blob {name.hex()}, which entry {index} ({statement.type}) names, is missing or damaged: "
        f"copy it from a backup to {blob_path(name)} in the folder or bucket of blobs, or fetch it "
        f"from /v1/blobs/{to_text(name)} of a mirror, and start again; "
        "`tequio-ledger doctor` lists all that are missing"
    )


class DocumentCache:
    """Gives documents of the current batch and of the blob folder; owned by the sequencer.

    A batch may use a document before the sequencer's thread has written it.
    """

    def __init__(self, blobs: BlobFolder) -> None:
        self._blobs = blobs
        self._fresh: dict[Digest, bytes] = {}
        self._is_stored: dict[Digest, bool] = {}  # as of the last `look_up`
        self._last_read: Digest | None = None
        self._refused: OrderedDict[_Refusal, RefusedError] = OrderedDict()

    def add(self, document: bytes | None) -> None:
        """Make a document readable at once; `store` writes it."""
        if document is not None:
            self._fresh[sha256(document)] = document

    def look_up(self, names: Iterable[Digest]) -> None:
        """Bring the documents that are read next into the folder, as far as they are stored.

        Until the next call, `read` and `size` ask neither the database nor a bucket about these.
        Blocks; raises UnwritableError.
        """
        self._is_stored = {name: self._blobs.fetch(name) for name in names}

    def read(self, digest: Digest) -> bytes:
        """Give a document; raises KeyError when there is none, UnwritableError."""
        found = self._fresh.get(digest)
        if found is None:
            is_stored = self._is_stored.get(digest)
            if is_stored is None:
                is_stored = self._blobs.is_listed(digest)
            if not is_stored:
                raise KeyError(to_text(digest))
            found = self._blobs.read(digest)
        self._last_read = digest
        return found

    def check(self, statement: Statement) -> None:
        """Raise the RefusedError of an earlier statement whose document was invalid, if any.

        Until `remember`, the next document that is read counts as this statement's.
        """
        self._last_read = None
        if statement.type in REMEMBERED:
            known = self._refused.get(_refusal_of(statement))
            if known is not None:
                # A new one: raised again and again, one instance would collect tracebacks.
                raise RefusedError(known.code, str(known))

    def remember(self, statement: Statement, err: RefusedError) -> None:
        """Remember a refusal that reading the document led to, and that will stay the same."""
        # Reading may cost far more than sending: the same document must not cost it twice.
        if self._last_read is None or err.code not in REMEMBERED.get(statement.type, ()):
            return
        self._refused[_refusal_of(statement)] = RefusedError(err.code, str(err))
        if len(self._refused) > REFUSALS:
            self._refused.popitem(last=False)

    def size(self, digest: Digest) -> int | None:
        """Give the size of a document in bytes; None when there is none."""
        fresh = self._fresh.get(digest)
        if fresh is not None:
            return len(fresh)
        return self._blobs.size(digest) if self._is_stored.get(digest, True) else None

    def store(self) -> None:
        """Write the new documents to the blob folder, before the entries that name them.

        Raises UnwritableError or FatalLogError: then those entries must not be logged.
        """
        try:
            for document in self._fresh.values():
                self._blobs.put(document)
        except OSError as err:
            raise FatalLogError(explain(err, self._blobs.folder)) from err
        self._fresh.clear()
