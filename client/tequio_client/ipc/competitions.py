"""Questions about the network's competitions, and their replies (`ipc.control`).

Times are in milliseconds since 1970. Scores are nanobits per byte of text: fewer are better.
"""

from __future__ import annotations

from typing import Annotated, TypeAlias

import msgspec

from tequio_client.ipc.facts import Count, Name, ShortText

MAX_COMPETITIONS = 32
MAX_ENTRANTS = 64
Phase: TypeAlias = Annotated[str, msgspec.Meta(pattern="^(open|closed|drawn|revealed|decided)$")]
EvaluatorPart: TypeAlias = Annotated[
    str, msgspec.Meta(pattern="^(|offered|in-draw|missed|others|drawn|waiting|scored|late)$")
]
"""State of our evaluator: `offered`; our lot is `in-draw`, or was `missed`; `others` were drawn, or
we were (`drawn`); everything is scored here and `waiting` to be published; all our scores
are in the log (`scored`), or came too `late`."""
EvaluatorBar: TypeAlias = Annotated[
    str, msgspec.Meta(pattern="^(|custodian|organiser|entrant|trained|memory|refused)$")
]
"""Reason why our key or computer cannot evaluate; empty: none is known."""


class AskCompetitions(msgspec.Struct, frozen=True, kw_only=True, tag="competitions"):
    """Ask for all competitions."""


class CompetitionEntrantRow(msgspec.Struct, frozen=True, kw_only=True):
    name: Name
    run: Name = ""
    """Run of the entrant; empty: the model was trained elsewhere."""
    run_name: Name = ""
    gflop: Count = 0
    """Our points in that run, proven here."""
    has_submitted: bool = False
    rank: Count = 0
    """From 1, shared by equal scores; 0: not ranked, or not yet."""
    nanobits_per_byte: Count = 0
    low: Count = 0
    """Lower end of the 95 % bootstrap interval; `high` is the upper one."""
    high: Count = 0


class CompetitionRow(msgspec.Struct, frozen=True, kw_only=True):
    """A competition: its rules, checked by their hash, and its state according to the ledger."""

    competition: Name
    name: Name
    phase: Phase
    is_void: bool = False
    """Ended without a ranking and without a statement that says so."""
    opens_ms: Count
    deadline_ms: Count
    draw_ms: Count
    scored_ms: Count
    result_ms: Count
    # limits for an entrant; 0: none
    parameters: Count
    tokens: Count
    hours: Count
    # rules of the decision
    texts: Count
    """Texts in the sealed set."""
    texts_bytes: Count
    drawn: Count
    """Texts that are drawn to be scored."""
    evaluators: Count
    window: Count
    stride: Count
    custodians: Count
    needed: Count
    """Custodians needed to open the texts."""
    part: EvaluatorPart = ""
    judged: Count = 0
    """Models that we have scored."""
    to_judge: Count = 0
    """Models that were submitted."""
    judge_mb: Count = 0
    """Memory needed for scoring; 0: unknown."""
    bar: EvaluatorBar = ""
    barred_by: ShortText = ""
    """The entrant's name, or the reason that was given."""
    data: ShortText = ""
    """Address of the rules about training data; empty: none."""
    entrants: Annotated[
        tuple[CompetitionEntrantRow, ...], msgspec.Meta(max_length=MAX_ENTRANTS)
    ] = ()
    """By rank, then in the order of their entries."""


class CompetitionsReply(msgspec.Struct, frozen=True, kw_only=True, tag="competitions"):
    """Competitions that can be joined first, decided ones last, the newest of each first."""

    rows: Annotated[tuple[CompetitionRow, ...], msgspec.Meta(max_length=MAX_COMPETITIONS)]
