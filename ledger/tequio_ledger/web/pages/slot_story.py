"""What became of one member of a round, with the reason why it earned what it did."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tequio_ledger.web.pages import words
from tequio_shared import proof, windows
from tequio_shared.proof import Verdict
from tequio_shared.statements.rounds import HeadAttest

if TYPE_CHECKING:
    from tequio_ledger.web.pages.round_story import RoundStory
    from tequio_ledger.web.pages.words import Mark

_PENDING = words.Mark("Being judged", "busy", "Witnesses have not all answered yet.")
_TRAINS = words.Mark("Training", "busy", "Its time to commit is not over.")
_NOT_DUE = words.Mark("No work due", "off", "Not a trainer of this round.")
_VOID = words.Mark("Counts for nothing", "warn", "The round is void: its work is not paid.")


@dataclass(frozen=True, slots=True, kw_only=True)
class SlotStory:
    """One slot of a round."""

    slot: int
    key: str
    first_window: int | None
    windows: int
    attest_index: int | None
    """Its statement of the head that it holds."""
    is_head_agreed: bool
    """It is the one that the round opened with."""
    is_head_other: bool
    """The round opened with another one."""
    commit_index: int | None
    commit_ms: int | None
    """After the opening."""
    tokens: int
    verdict: Mark
    votes: int
    """Witnesses that vouched for it."""
    is_elected: bool
    is_asked: bool
    """Elected, and the round came to where witnesses answer, or still may."""
    proof_index: int | None
    duty: Mark
    trainer_micropoints: int
    witness_micropoints: int

    @property
    def micropoints(self) -> int:
        """What it earned in all."""
        return self.trainer_micropoints + self.witness_micropoints

    @property
    def why(self) -> str:
        """Why it earned that, or nothing."""
        work = self.verdict.says if self.windows else "It had no windows to train."
        return f"{work} {self.duty.says}" if self.is_elected else work


def slot_stories(story: RoundStory) -> tuple[SlotStory, ...]:
    """Tell of every slot of a round."""
    verdicts = _verdicts(story)
    return tuple(
        _slot(story, slot, verdicts.get(slot)) for slot in range(len(story.roster.members))
    )


def _verdicts(story: RoundStory) -> dict[int, tuple[int, int]]:
    """Verdict and reason as codes: those of the result, else what the proofs so far come to."""
    if story.result is not None:
        return {slot: (row.verdict, row.reason) for slot, row in enumerate(story.result.slots)}
    return {slot: (int(one), int(why)) for slot, (one, why) in story.verdicts.items()}


def _slot(story: RoundStory, slot: int, verdict: tuple[int, int] | None) -> SlotStory:
    member, commit = story.roster.members[slot], story.commits.get(slot)
    ranges = story.roster.assignment.get(slot, ())
    row = story.result.slots[slot] if story.result is not None else None
    attest, sent = story.attests.get(slot), story.proofs.get(slot)
    opened_ms = story.open.opened if story.open else 0
    stated, agreed = head_stated(story, slot), story.open.head if story.open else None
    return SlotStory(
        slot=slot,
        key=member.peer,
        first_window=ranges[0][0] if ranges else None,
        windows=windows.total(ranges),
        attest_index=attest.index if attest else None,
        is_head_agreed=stated is not None and stated == agreed,
        is_head_other=None not in (stated, agreed) and stated != agreed,
        commit_index=commit.index if commit else None,
        commit_ms=max(commit.at_ms - opened_ms, 0) if commit else None,
        tokens=commit.header.tokens if commit else 0,
        verdict=_mark(story, slot, verdict),
        votes=sum(slot in one.seen.vouched for at, one in story.proofs.items() if at != slot),
        is_elected=slot in story.elected,
        is_asked=slot in story.elected and not story.ended_early,
        proof_index=sent.index if sent else None,
        duty=_duty(story, slot, row.witness_micropoints if row else 0),
        trainer_micropoints=row.trainer_micropoints if row else 0,
        witness_micropoints=row.witness_micropoints if row else 0,
    )


def head_stated(story: RoundStory, slot: int) -> str | None:
    """The head that a slot says it holds; None before it says so."""
    attest = story.attests.get(slot)
    return attest.body.head if attest and isinstance(attest.body, HeadAttest) else None


def _mark(story: RoundStory, slot: int, verdict: tuple[int, int] | None) -> Mark:
    if slot not in story.roster.assignment:
        return _NOT_DUE
    if story.void is not None:
        return _VOID if slot in story.commits else words.verdict(Verdict.SILENT, 0)
    if story.result is None and story.witnessed is None:
        return words.Mark("Committed", "ok") if slot in story.commits else _TRAINS
    if story.result is None:
        return _PENDING if slot in story.commits else words.verdict(Verdict.SILENT, 0)
    return words.verdict(*verdict) if verdict else words.verdict(Verdict.SILENT, 0)


def _duty(story: RoundStory, slot: int, paid: int) -> Mark:
    """Witness duty in words."""
    if slot not in story.elected:
        return words.Mark("Not elected", "off", "It was not elected to witness.")
    if slot not in story.proofs:
        return _unanswered(story)
    if story.result is None:
        return words.Mark("Proof sent", "ok", "It sent its witness proof.")
    if paid:
        return words.Mark("Proof counted", "ok", "Its witness proof counted.")
    return _unpaid(story, slot)


def _unanswered(story: RoundStory) -> Mark:
    if story.ended is None:
        return words.Mark("Elected", "wait", "It was elected to witness, and is yet to answer.")
    if story.ended_early:
        return words.Mark("Not asked", "off", "The round ended before it could witness.")
    return words.Mark("No proof", "warn", "It was elected to witness and sent no proof.")


def _unpaid(story: RoundStory, slot: int) -> Mark:
    seen = story.proofs[slot].seen
    if proof.earns(slot, seen, story.verdicts):
        return words.Mark(
            "Proof counted", "ok", "Its witness proof counted; its share rounds down to nothing."
        )
    return words.Mark(
        "Proof at odds", "warn", "Its witness proof differed too much from what the quorum found."
    )
