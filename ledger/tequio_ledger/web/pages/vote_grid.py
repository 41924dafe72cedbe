"""Who vouched for whom: witnesses down the side, contributions along the top."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tequio_ledger.web.pages import words

if TYPE_CHECKING:
    from tequio_ledger.web.pages.round_story import Proven, RoundStory
    from tequio_ledger.web.pages.words import Mark

_VOUCHED = words.Mark("yes", "ok", "vouched for it")
_LEFT_OUT = words.Mark("–", "off", "did not vouch for it")
_OWN = words.Mark("own", "off", "its own")


@dataclass(frozen=True, slots=True, kw_only=True)
class VoteRow:
    """One witness's word on every contribution; `index` is its proof's entry."""

    slot: int
    key: str
    index: int | None
    votes: tuple[Mark, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class VoteGrid:
    """All votes; `slots` are the committed ones, in the order of the columns."""

    slots: tuple[int, ...]
    rows: tuple[VoteRow, ...]


def vote_grid(story: RoundStory) -> VoteGrid:
    """Lay the votes of a round out."""
    slots = tuple(sorted(story.commits))
    rows = [_row(story, witness, slots) for witness in story.elected]
    return VoteGrid(slots=slots, rows=tuple(rows))


def _row(story: RoundStory, witness: int, slots: tuple[int, ...]) -> VoteRow:
    sent = story.proofs.get(witness)
    return VoteRow(
        slot=witness,
        key=story.roster.members[witness].peer,
        index=sent.index if sent else None,
        votes=tuple(_vote(witness, slot, sent) for slot in slots) if sent else (),
    )


def _vote(witness: int, slot: int, sent: Proven) -> Mark:
    if slot in sent.seen.vouched:
        return _VOUCHED
    if slot in sent.seen.rejected:
        return words.Mark("no", "danger", f"refused it: {words.reason(sent.seen.rejected[slot])}")
    return _OWN if slot == witness else _LEFT_OUT
