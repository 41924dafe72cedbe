"""A run, copied from the ledger's state in one step and frozen.

The state belongs to the event loop: copy there, and do everything else in a thread.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from tequio_ledger.web.pages import text
from tequio_ledger.web.pages.text import StatusLabel
from tequio_shared.api.runs import PublishedAnswer
from tequio_shared.errors import PeerError
from tequio_shared.ids import Digest, RunId, digest_from_text, to_text
from tequio_shared.limits import JSON_INTEGER
from tequio_shared.network.full_run import FullRunView
from tequio_shared.network.notices import Notice
from tequio_shared.network.rollback import Rollback, is_given_up
from tequio_shared.network.run_states import RunRequest, RunState
from tequio_shared.network.verdicts import head_aliases, measured_range
from tequio_shared.round import assignment
from tequio_shared.round.corpus import Corpus
from tequio_shared.round.documents import TRAINER, WITNESS
from tequio_shared.round.manifest import Manifest
from tequio_shared.round.round import RoundPhase, RoundView
from tequio_shared.served.answers import published_heads
from tequio_shared.served.rows import MeasuredHead, VerdictRules
from tequio_shared.statements.network import is_on_hub

if TYPE_CHECKING:
    from tequio_shared.served.state import State as LedgerState


@dataclass(frozen=True, slots=True, kw_only=True)
class DataProgress:
    """Progress through the data; empty and None if the data manifest is not stored here."""

    source: str
    epochs: float | None
    """Epochs done, as a number such as 0.31."""
    tokens_per_byte: float | None
    """Of the held-out text; 1 where a token is a byte. None for conversations."""


def data_progress(now: RunSnapshot, read: Callable[[Digest], bytes]) -> DataProgress:
    corpus = _corpus(read, digest_from_text(now.manifest.data.manifest))
    held_out = corpus.held_out if corpus else ()
    text_bytes = sum(one.text_bytes for one in held_out)
    # Losses of conversations are per token of the assistant, whose number no manifest has.
    is_text = corpus is not None and not corpus.has_masks
    tokens = sum(one.tokens for one in held_out)
    tokens_per_byte = tokens / text_bytes if text_bytes and is_text else None
    epoch_windows = max(corpus.samples // now.manifest.windows.samples, 1) if corpus else None
    trained = now.windows_dealt - now.windows_returned
    return DataProgress(
        source=corpus.source if corpus else "",
        epochs=trained / epoch_windows if epoch_windows else None,
        tokens_per_byte=1.0 if now.manifest.tokenizer.kind == "bytes" else tokens_per_byte,
    )


def _corpus(read: Callable[[Digest], bytes], digest: Digest) -> Corpus | None:
    """Read the data manifest, if its organiser uploaded it."""
    try:
        raw = read(digest)
    except KeyError:
        return None
    return _parsed(raw)


@lru_cache(8)
def _parsed(raw: bytes) -> Corpus | None:
    try:
        return Corpus.parse(raw)
    except PeerError:
        return None


@dataclass(frozen=True, slots=True, kw_only=True)
class SlotSnapshot:
    slot: int
    key: str
    roles: tuple[str, ...]
    windows: int
    standing: StatusLabel
    tier: StatusLabel
    has_stated: bool
    has_committed: bool
    is_elected: bool
    has_witnessed: bool
    has_left: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class RunSnapshot:
    id: str
    name: str
    manifest: Manifest
    state: RunState
    mark: StatusLabel
    pending: str
    """"pause" or "finish" if organisers want that after this round, else empty."""
    number: int
    closed: int
    voided: int
    tokens: int
    members: int
    phase_ms: tuple[int, int] | None
    """Begin of the phase, and its end at the latest; None if no time ends it."""
    opened_index: int
    head: str
    head_round: int | None
    weights_root: str
    slots: tuple[SlotSnapshot, ...]
    quorum: int
    """Witnesses that must state a head while heads are stated; afterwards, proofs needed."""
    audited: int
    """Contributions that are being audited."""
    windows_dealt: int
    windows_returned: int
    """Windows that were handed out, came back untrained, and wait to be handed out again."""
    published: tuple[PublishedAnswer, ...]
    """Where the newest published heads are, the newest head first."""
    rollbacks: tuple[Rollback, ...]
    """Where the run went back to an earlier head, the oldest first."""
    announcement: Notice | None
    pause_reason: Notice | None
    chat: Notice | None
    """Address at which the organisers let people try the model."""

    @property
    def is_over(self) -> bool:
        return self.state is RunState.FINISHED

    @property
    def verdict_rules(self) -> VerdictRules:
        return VerdictRules(measures=self.manifest.measures, rollbacks=self.rollbacks)

    def is_given_up(self, round_number: int) -> bool:
        """Return whether the run's head is made without what that round made."""
        return is_given_up(self.rollbacks, round_number, self.number)

    @property
    def stated(self) -> int:
        return sum(slot.has_stated for slot in self.slots)

    @property
    def committed(self) -> int:
        return sum(slot.has_committed for slot in self.slots)

    @property
    def witnessed(self) -> int:
        return sum(slot.has_witnessed for slot in self.slots)

    @property
    def trainers(self) -> int:
        return sum(slot.windows > 0 for slot in self.slots)

    @property
    def elected(self) -> int:
        return sum(slot.is_elected for slot in self.slots)


def kept_heads(heads: Sequence[MeasuredHead], rollbacks: Sequence[Rollback]) -> list[MeasuredHead]:
    """List the heads that the run has not given up."""
    return [one for one in heads if not is_given_up(rollbacks, one.round, JSON_INTEGER)]


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishedLine:
    """A published head, and what its members say about it."""

    round: int
    location: str
    revision: str
    entry: int
    bits_per_byte: float | None
    """None unless enough members agree."""
    perplexity: float | None
    """Of a token; None likewise."""
    aliases: tuple[str, ...]

    @property
    def page(self) -> str:
        """Address on the Hugging Face Hub; empty for a bucket, which has no pages."""
        is_there = is_on_hub(self.location)
        return f"{_HUB}/{self.location}/tree/{self.revision}" if is_there else ""


_HUB = "https://huggingface.co"


def published_lines(now: RunSnapshot, heads: Sequence[MeasuredHead]) -> list[PublishedLine]:
    """Describe the published heads of a run, of which `heads` are those that were measured."""
    measured = {
        head.round: measured_range(
            head.round, [row.said for row in head.rows], now.manifest.measures
        )
        for head in heads
    }
    names = head_aliases({one.round for one in now.published}, measured, now.rollbacks)
    return [
        PublishedLine(
            round=one.round,
            location=one.location,
            revision=one.revision,
            entry=one.index,
            bits_per_byte=agreed.bits_per_byte if (agreed := measured.get(one.round)) else None,
            perplexity=agreed.perplexity if agreed else None,
            aliases=names.of(one.round),
        )
        for one in now.published
    ]


@dataclass(frozen=True, slots=True, kw_only=True)
class RelatedRun:
    """A run that continues another, or that is continued, from the head of that round."""

    id: str
    name: str
    """Empty for a run of another network."""
    round: int


def continued_run(state: LedgerState, run: RunId) -> RelatedRun | None:
    """Return the run that this one continues; raises RefusedError("not-found")."""
    parent = state.run(run).manifest.continued
    if parent is None:
        return None
    view = state.runs.get(RunId(digest_from_text(parent.run)))
    return RelatedRun(id=parent.run, name=view.manifest.name if view else "", round=parent.round)


def continuing_runs(state: LedgerState, run: RunId) -> tuple[RelatedRun, ...]:
    """List the runs that continue this one, the oldest first; O(runs)."""
    parents = [(one, view.manifest, view.manifest.continued) for one, view in state.runs.items()]
    return tuple(
        RelatedRun(id=to_text(one), name=manifest.name, round=parent.round)
        for one, manifest, parent in parents
        if parent is not None and parent.run == to_text(run)
    )


def run_snapshot(state: LedgerState, run: RunId) -> RunSnapshot:
    """Copy a run; raises RefusedError("not-found")."""
    view = state.run(run)
    accounts, head = view.accounts, view.head
    return RunSnapshot(
        id=to_text(run),
        name=view.manifest.name,
        manifest=view.manifest,
        state=view.state,
        mark=text.STATES[view.state],
        pending=_pending(view),
        number=view.number,
        closed=view.closed,
        voided=view.voided,
        tokens=accounts.tokens,
        members=len(accounts.active()),
        phase_ms=_phase_ms(view),
        opened_index=state.opened[run],
        head=to_text(head.hash) if head else "",
        head_round=head.round if head else None,
        weights_root=to_text(head.weights_root) if head else "",
        slots=_slots(state, view),
        quorum=_quorum(view.round) if view.round else 0,
        audited=len(accounts.audits.cases),
        windows_dealt=accounts.queue.fresh,
        windows_returned=assignment.count_windows(accounts.queue.returned),
        published=published_heads(view),
        rollbacks=tuple(view.rollbacks),
        announcement=view.notices.announcement,
        pause_reason=view.shown_pause_reason,
        chat=view.notices.chat,
    )


def _pending(view: FullRunView) -> str:
    if view.state in (RunState.PAUSED, RunState.COOLDOWN, RunState.FINISHED):
        return ""  # it has come to that
    return {RunRequest.PAUSE: "pause", RunRequest.FINISH: "finish"}.get(view.request, "")


def _phase_ms(view: FullRunView) -> tuple[int, int] | None:
    times, opened = view.manifest.rounds, view.round.open if view.round else None
    match view.state:
        case RunState.WARMUP:
            return view.rostered_ms, view.rostered_ms + times.attest
        case RunState.ROUND_TRAIN if opened is not None:
            return opened.opened, opened.train_by
        case RunState.ROUND_WITNESS:
            return view.witnessed_ms, view.witnessed_ms + times.witness
    return None


def _slots(state: LedgerState, view: FullRunView) -> tuple[SlotSnapshot, ...]:
    current = view.round
    if current is None or current.phase is RoundPhase.OVER or view.state is RunState.FINISHED:
        return ()
    return tuple(_slot(state, view, current, slot) for slot in range(len(current.roster.members)))


def _slot(state: LedgerState, view: FullRunView, current: RoundView, slot: int) -> SlotSnapshot:
    member = current.roster.members[slot]
    return SlotSnapshot(
        slot=slot,
        key=member.peer,
        roles=member.roles,
        windows=member.share if TRAINER in member.roles else 0,
        standing=text.standing(state.standings.of(member.key)),
        tier=text.tier(state.tiers.of(member.key, view.manifest.run_id, view.rostered_ms).tier),
        has_stated=slot in current.attests,
        has_committed=slot in current.commitments,
        is_elected=slot in current.elected,
        has_witnessed=slot in current.proofs,
        has_left=member.key in view.absent,
    )


def _quorum(current: RoundView) -> int:
    is_stating = current.phase is RoundPhase.ATTEST
    voters = current.roster.slots_of(WITNESS) if is_stating else current.elected
    return max(assignment.quorum(len(voters)), 1)
