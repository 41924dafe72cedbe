"""Documents that entries name, and without which the log cannot be folded."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping

from sqlalchemy import Connection

from tequio_ledger.runtime import RareLog
from tequio_ledger.store import log_rows
from tequio_ledger.store.blobs import BlobFolder
from tequio_ledger.store.files import UnwritableError, blob_path, explain
from tequio_shared.competition.rules import (
    DRAWN_DOCUMENTS,
    ENTRANTS,
    EVALUATORS,
    evaluation_bytes,
    outcome_bytes,
)
from tequio_shared.errors import (
    FatalLogError,
    MalformedError,
    RefusedError,
    TequioError,
    UserFacingError,
)
from tequio_shared.ids import Digest, PeerKey, digest_from_text, from_text, sha256, to_text
from tequio_shared.limits import DOCUMENT_BYTES, EVIDENCE_BYTES, STATEMENT_BYTES
from tequio_shared.network.genesis import Genesis
from tequio_shared.network.run import needed_document
from tequio_shared.served.state import named_by
from tequio_shared.statements.competitions import CompOpen, CompResult, CompSubmit, EvalResult
from tequio_shared.statements.network import FaultReport, StandingAppeal
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
MOST_BYTES: Mapping[str, int] = {
    CompOpen.TYPE: STATEMENT_BYTES,
    CompSubmit.TYPE: STATEMENT_BYTES,
    EvalResult.TYPE: evaluation_bytes(DRAWN_DOCUMENTS),
    CompResult.TYPE: outcome_bytes(ENTRANTS, EVALUATORS),
    FaultReport.TYPE: EVIDENCE_BYTES,
}
"""Largest document that the reader of a statement accepts, by its type; else DOCUMENT_BYTES."""
UNREADABLE = "a document cannot be read for now: try again later"
REFUSALS = 4_096
"""Documents remembered as refused."""
_Refusal = tuple[str, PeerKey, Digest | None, str, str]


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
    if isinstance(statement.body, StandingAppeal):
        return None  # people read its text
    return named_by(statement.body) or needed_document(statement)


def _refusal_of(statement: Statement) -> _Refusal:
    # By author, so that nobody can have another's document refused; by competition and entrant,
    # because a document that was named for a wrong one may still be right for another.
    body = statement.body
    place = getattr(body, "competition", ""), getattr(body, "entrant", "")
    return statement.type, statement.author, document_of(statement), *place


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
        f"from /v1/blobs/{to_text(name)} of a mirror, and start again (several ledgers on one "
        "database need the same --blobs); "
        "`tequio-ledger doctor` lists all that are missing"
    )


class DocumentCache:
    """Gives documents of the current batch and of the blob folder; owned by the sequencer.

    A batch may use a document before the sequencer's thread has written it.
    """

    def __init__(self, blobs: BlobFolder) -> None:
        self._blobs = blobs
        self._fresh: dict[Digest, bytes] = {}
        self._sizes: dict[Digest, int | None] = {}  # as of the last `look_up`
        self._unread: dict[Digest, TequioError] = {}  # why it did not bring these
        self._failures = RareLog()
        self._last_read: Digest | None = None
        self._refused: OrderedDict[_Refusal, RefusedError] = OrderedDict()

    def add(self, document: bytes | None) -> None:
        """Make a document readable at once; `store` writes it."""
        if document is not None:
            self._fresh[sha256(document)] = document

    def look_up(self, statements: Iterable[Statement], naming: Iterable[Statement] = ()) -> None:
        """Bring the documents that statements name into the folder, if those can be read.

        Until the next call, `read` and `size` ask neither the database nor a bucket about these,
        nor about those that only `naming` name: they raise UnwritableError where the look-up failed
        and where there was none. Blocks.
        """
        most_bytes: dict[Digest, int] = {}
        for one in statements:
            if (document := read_with(one)) is not None:
                most = MOST_BYTES.get(one.type, DOCUMENT_BYTES)
                most_bytes[document] = max(most, most_bytes.get(document, 0))
        named = {read_with(one) for one in naming} | most_bytes.keys()
        self._sizes = {}
        self._unread = {name: UnwritableError(UNREADABLE) for name in named if name is not None}
        # Those in the folder first: they need no bucket. One that failed is not asked for the next
        # document, as it may take long until it fails again.
        names = sorted(most_bytes, key=lambda name: not self._blobs.path(name).exists())
        try:
            for name in names:
                self._look_up(name, most_bytes[name])
        except UnwritableError as err:
            self._failures.report("a document cannot be read", sha256=name.hex(), why=str(err))

    def _look_up(self, name: Digest, most_bytes: int) -> None:
        # The size comes first: anybody may name a blob, and it may be as large as BLOB_BYTES.
        size = self._blobs.listed_size(name)
        if size is not None and size > most_bytes:
            self._unread[name] = MalformedError(
                f"the document has {size} bytes; at most {most_bytes} are allowed"
            )
        else:
            is_here = size is not None and self._blobs.fetch(name)
            size = size if is_here else None
            del self._unread[name]
        self._sizes[name] = size

    def read(self, digest: Digest) -> bytes:
        """Give a document; raises KeyError when there is none, UnwritableError, MalformedError."""
        found = self._fresh.get(digest)
        if found is None:
            if digest in self._unread:
                raise self._unread[digest].with_traceback(None)
            if self._size_of_stored(digest) is None:
                raise KeyError(to_text(digest))
            found = self._blobs.read(digest)
        self._last_read = digest
        return found

    def _size_of_stored(self, digest: Digest) -> int | None:
        if digest in self._sizes:
            return self._sizes[digest]
        return self._blobs.listed_size(digest)

    def is_refused(self, statement: Statement) -> bool:
        """Return whether `check` refuses a statement."""
        return statement.type in REMEMBERED and _refusal_of(statement) in self._refused

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
        """Give the size of a document in bytes; None when there is none. Raises UnwritableError."""
        fresh = self._fresh.get(digest)
        if fresh is not None:
            return len(fresh)
        if digest in self._unread and digest not in self._sizes:
            raise self._unread[digest].with_traceback(None)
        return self._size_of_stored(digest)

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
