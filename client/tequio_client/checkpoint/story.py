"""One head and its history, as a log proves them.

The log is read and folded as in an audit, so nothing here is the ledger's word alone: rosters,
quorums, points and heads follow from the statements, and the statements from signed tree heads.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from tequio_client.verify.source import NotAvailableError
from tequio_shared.errors import MalformedError, PeerError, UserFacingError
from tequio_shared.head.contribution import ContributionHeader
from tequio_shared.ids import digest_from_text, sha256, to_text
from tequio_shared.round.assignment import flop_per_token
from tequio_shared.round.manifest import Corpus

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from tequio_client.verify.fold import RunHistory
    from tequio_client.verify.folded_log import FoldedLog
    from tequio_shared.ids import Digest, PeerKey
    from tequio_shared.log.notes import Checkpoint
    from tequio_shared.log.policy import TlogProof
    from tequio_shared.network.genesis import Genesis
    from tequio_shared.round.manifest import Manifest
    from tequio_shared.round.round import Head
    from tequio_shared.statements.runs import HeadMeasure


_SHOWN_ROUNDS = 8

Blob: TypeAlias = "Callable[[Digest], bytes | None]"
"""Gets a document by its hash; None when there is none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunDocuments:
    """Documents that the run's manifest names, checked by their hashes."""

    config: bytes
    corpus: Corpus
    tokenizer: bytes
    """tokenizer.json; empty for a run on raw bytes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HeadHistory:
    """One promoted head, and what the log says about its origin."""

    genesis: Genesis
    manifest: Manifest
    documents: RunDocuments
    head: Head
    entry: int
    """Log index of its head.promote."""
    proof: TlogProof
    """That entry under the checkpoint; the leaf as `extra`."""
    checkpoint: Checkpoint
    rounds: int
    """Rounds that closed up to the head."""
    tokens: int
    micropoints: Mapping[PeerKey, int]
    """Of every key that had earned some when the head's round closed."""
    measures: Mapping[PeerKey, tuple[int, HeadMeasure]]
    """What members drawn by lot measured of it on held-out text, each with its log index."""

    @property
    def flop(self) -> int:
        """Compute of the accepted work, by the formula that points follow from."""
        still = self.manifest.frozen.parameters if self.manifest.frozen else 0
        return self.tokens * flop_per_token(self.manifest.model.parameters, still)


@dataclass(frozen=True, slots=True, kw_only=True)
class HeadSelector:
    """Which head: of the run of that name or beginning of its id; without a round, the last one."""

    run: str
    round: int | None = None


def head_history(log: FoldedLog, blob: Blob, wanted: HeadSelector) -> HeadHistory:
    """Find a head and its history in a log; raises UserFacingError if there is no such head.

    `blob` gets documents. Costs a bundle and O(log n) tiles beside what was read.
    """
    history = log.run(wanted.run)
    entry, head = _promoted(history, wanted)
    manifest = history.view.manifest
    closed = [one for number, one in history.closed.items() if number <= head.round]
    size = max((one.index + 1 for one in closed), default=0)
    return HeadHistory(
        genesis=log.genesis,
        manifest=manifest,
        documents=fetch_documents(manifest, blob),
        head=head,
        entry=entry,
        proof=_proof(log, entry),
        checkpoint=log.checkpoint,
        rounds=len(closed),
        tokens=sum(ContributionHeader.parse(w.header).tokens for one in closed for w in one.works),
        micropoints=dict(_points(history, size)),
        measures=history.measures.get(head.round, {}),
    )


def promoted_rounds(log: FoldedLog, wanted: str) -> list[int]:
    """The rounds of a run whose heads were promoted; raises UserFacingError."""
    return [head.round for _, head in log.run(wanted).promoted]


def _proof(log: FoldedLog, entry: int) -> TlogProof:
    try:
        return log.reader.proof(entry)
    except (NotAvailableError, PeerError) as err:
        raise UserFacingError(f"entry {entry} of the log could not be proven: {err}") from err


def fetch_documents(manifest: Manifest, blob: Blob) -> RunDocuments:
    """Get the documents that a manifest names; raises UserFacingError if one is unavailable."""

    def get(what: str, name: str) -> bytes:
        raw = blob(digest_from_text(name))
        if raw is None or to_text(sha256(raw)) != name:
            raise UserFacingError(f"the ledger does not have the run's {what} ({name[:10]})")
        return raw

    tokenizer = manifest.tokenizer.file
    try:
        corpus = Corpus.parse(get("data manifest", manifest.data.manifest))
    except MalformedError as err:
        raise UserFacingError(f"the run's data manifest is invalid: {err}") from err
    return RunDocuments(
        config=get("configuration", manifest.model.config),
        corpus=corpus,
        tokenizer=get("tokenizer", tokenizer) if tokenizer else b"",
    )


def _promoted(history: RunHistory, wanted: HeadSelector) -> tuple[int, Head]:
    if not history.promoted:
        raise UserFacingError("no head of this run is certified yet: its first round has not begun")
    if wanted.round is None:
        return history.promoted[-1]
    for index, head in history.promoted:
        if head.round == wanted.round:
            return index, head
    rounds = [head.round for _, head in history.promoted]
    shown = ", ".join(map(str, rounds[-_SHOWN_ROUNDS:]))
    raise UserFacingError(
        f"no head of round {wanted.round} is certified; the last certified ones are of: {shown}"
    )


def _points(history: RunHistory, size: int) -> Iterable[tuple[PeerKey, int]]:
    found = [(key, history.points.at(key, size) or 0) for key in history.points.keys]
    return sorted((one for one in found if one[1]), key=lambda one: (-one[1], one[0]))
