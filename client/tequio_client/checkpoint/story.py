"""What a log says of one head: read whole, checked entry by entry, then told.

The log is folded as an audit folds it, so nothing here is the ledger's word alone: rosters,
quorums, points and heads follow from the statements, and the statements from signed tree heads.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tequio_client.audit.findings import Report
from tequio_client.audit.fold import Fold
from tequio_client.audit.tree import TreeAudit
from tequio_client.names import is_meant, name_with_id
from tequio_shared import merkle
from tequio_shared.contribution import Header
from tequio_shared.corpus import Corpus
from tequio_shared.errors import MalformedError, UserFacingError
from tequio_shared.ids import digest_from_text, sha256, to_text
from tequio_shared.points import flop_per_token
from tequio_shared.tlog_proof import TlogProof

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from tequio_client.audit.fold import RunHistory
    from tequio_client.audit.main import Progress
    from tequio_client.audit.sources import LogSource
    from tequio_shared.genesis import Genesis
    from tequio_shared.ids import Digest, PeerKey
    from tequio_shared.manifest import Manifest
    from tequio_shared.notes import Checkpoint
    from tequio_shared.round import Head
    from tequio_shared.statements.rounds import HeadMeasure


_SHOWN_ROUNDS = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Documents:
    """What the run's manifest names, as bytes with those hashes."""

    config: bytes
    corpus: Corpus
    tokenizer: bytes
    """tokenizer.json; empty for a run on raw bytes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Story:
    """One promoted head, and what the log says about how it came to be."""

    genesis: Genesis
    manifest: Manifest
    documents: Documents
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
    """Of all who had earned some when the head's round closed."""
    measures: Mapping[PeerKey, tuple[int, HeadMeasure]]
    """What members drawn by lot measured of it on held-out text, each with its log index."""

    @property
    def flop(self) -> int:
        """Compute of the accepted work, by the formula that points follow from."""
        still = self.manifest.frozen.parameters if self.manifest.frozen else 0
        return self.tokens * flop_per_token(self.manifest.model.parameters, still)


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """Which head: of the run of that name or beginning of its id; the last one without a round."""

    run: str
    round: int | None = None


class ReadLog:
    """A whole log, checked; tells the story of any head in it."""

    def __init__(
        self, source: LogSource, genesis: Genesis, signed: tuple[Checkpoint, bytes]
    ) -> None:
        """Take the source and a checkpoint of it that was opened, with its note."""
        self._source = source
        self._genesis = genesis
        self._checkpoint, self._note = signed
        self._report = Report()
        self._fold = Fold(genesis, source, self._report)
        self._hashes: list[Digest] = []

    def read(self, progress: Progress) -> None:
        """Read all of it; raises UserFacingError for a log that does not hold."""
        tree = TreeAudit(self._source, self._report)
        with progress.work("entries", self._checkpoint.size) as tick:
            for index, leaf in tree.extend(self._checkpoint, tick):
                self._hashes.append(merkle.leaf_hash(leaf))
                self._fold.take(index, leaf)
        if self._report.findings:
            raise UserFacingError(
                f"the log cannot be relied on ({self._report.findings[0].line()}): "
                "see what `tequio audit` says"
            )

    def rounds(self, wanted: str) -> list[int]:
        """The rounds of a run whose heads were promoted; raises UserFacingError."""
        return [head.round for _, head in self._history(wanted).promoted]

    def tell(self, wanted: Wanted) -> Story:
        """Tell of one head; raises UserFacingError when there is no such run or head."""
        history = self._history(wanted.run)
        entry, head = _promoted(history, wanted)
        manifest = history.view.manifest
        closed = [one for number, one in history.closed.items() if number <= head.round]
        size = max((one.index + 1 for one in closed), default=0)
        return Story(
            genesis=self._genesis,
            manifest=manifest,
            documents=documents_of(manifest, self._source.blob),
            head=head,
            entry=entry,
            proof=TlogProof(
                index=entry,
                path=tuple(merkle.inclusion_proof(self._hashes, entry)),
                note=self._note,
                extra=self._source.entries(entry, entry + 1)[0],
            ),
            checkpoint=self._checkpoint,
            rounds=len(closed),
            tokens=sum(Header.parse(w.header).tokens for one in closed for w in one.works),
            micropoints=dict(_points(history, size)),
            measures=history.measures.get(head.round, {}),
        )

    def _history(self, wanted: str) -> RunHistory:
        found = [one for one in self._fold.runs.values() if _is_meant(one.view.manifest, wanted)]
        if len(found) == 1:
            return found[0]
        runs = found or self._fold.runs.values()
        known = ", ".join(_called(one.view.manifest) for one in runs) or "none"
        if found:
            raise UserFacingError(f"several runs fit {wanted!r}: {known}; give more of the id")
        raise UserFacingError(f"the log has no run {wanted!r}; it has: {known}")


def documents_of(manifest: Manifest, blob: Callable[[Digest], bytes | None]) -> Documents:
    """Get what a manifest names; raises UserFacingError for what is not to be had."""

    def get(what: str, name: str) -> bytes:
        raw = blob(digest_from_text(name))
        if raw is None or to_text(sha256(raw)) != name:
            raise UserFacingError(f"the ledger does not have the run's {what} ({name[:10]})")
        return raw

    tokenizer = manifest.tokenizer.file
    try:
        corpus = Corpus.parse(get("data manifest", manifest.data.manifest))
    except MalformedError as err:
        raise UserFacingError(f"the run's data manifest cannot be read: {err}") from err
    return Documents(
        config=get("configuration", manifest.model.config),
        corpus=corpus,
        tokenizer=get("tokenizer", tokenizer) if tokenizer else b"",
    )


def _is_meant(manifest: Manifest, wanted: str) -> bool:
    return is_meant(manifest.name, to_text(manifest.run_id), wanted)


def _called(manifest: Manifest) -> str:
    return name_with_id(manifest.name, to_text(manifest.run_id))


def _promoted(history: RunHistory, wanted: Wanted) -> tuple[int, Head]:
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
