"""Entrants of a competition and their submissions.

The functions apply a statement to the competition's view, or raise RefusedError.
"""

from __future__ import annotations

from dataclasses import replace

from tequio_shared.competition.rules import ENTRANTS, Budget, Submission
from tequio_shared.competition.state import (
    CompetitionContext,
    CompetitionView,
    Entrant,
    SignedEntry,
    read_document,
)
from tequio_shared.errors import RefusedError
from tequio_shared.ids import PeerKey, RunId, digest_from_text, to_text
from tequio_shared.network.accounts import RunProgress
from tequio_shared.statements.competitions import CompEnter, CompSubmit

_HOUR_MS = 3_600_000


def enter(
    view: CompetitionView, entry: SignedEntry, body: CompEnter, network: CompetitionContext
) -> None:
    entry.check_within(view.rules.dates.opens, view.rules.dates.deadline)
    check_participant(view, entry.author, network)
    _check_room(view, entry.author, network)
    if body.entrant in view.entrants:
        raise RefusedError("name-taken", f"the name {body.entrant} is taken: choose another one")
    side = RunId(digest_from_text(body.side)) if body.side else None
    if side is not None:
        _check_side(view, entry.author, side, network)
    view.entrants[body.entrant] = Entrant(
        name=body.entrant, author=entry.author, entered=entry, side=side
    )


def submit(
    view: CompetitionView, entry: SignedEntry, body: CompSubmit, network: CompetitionContext
) -> None:
    """Apply comp.submit: the model replaces the entrant's one before."""
    entry.check_within(view.rules.dates.opens, view.rules.dates.deadline)
    entrant = view.entrant(body.entrant)
    # A name belongs to the key that entered: otherwise a rival could replace the model.
    if entry.author != network.holder(entrant.author):
        raise RefusedError(
            "wrong-role", f"only the key that entered as {entrant.name} may submit under it"
        )
    network.check_standing(entry.author)
    submission = read_document(Submission.parse, network, body.submission, "submission")
    _check_submission(submission, entrant.side, view.rules.budget, network)
    view.entrants[entrant.name] = replace(entrant, submission=submission, submitted=entry)


def check_participant(view: CompetitionView, author: PeerKey, network: CompetitionContext) -> None:
    """Raise RefusedError for a custodian or its successor, and for a key in bad standing."""
    network.check_standing(author)
    if author in network.with_holders(view.rules.custodian_keys):
        raise RefusedError("not-eligible", "custodians may neither enter nor evaluate")


def _check_room(view: CompetitionView, author: PeerKey, network: CompetitionContext) -> None:
    """Check the limits: one entry per key, half of all places; organisers are exempt."""
    if len(view.entrants) >= ENTRANTS:
        raise RefusedError("competition-full", f"the competition has {ENTRANTS} entrants")
    if author in network.organisers:
        return
    # Half of the places stay for organisers, so strangers cannot crowd them out.
    strangers = {one.author for one in view.entrants.values()} - network.organisers
    if author in map(network.holder, strangers):
        raise RefusedError("already-said", "this key has entered already")
    if len(strangers) >= ENTRANTS // 2:
        raise RefusedError("competition-full", "no place is left: ask an organiser to enter it")


def _check_side(
    view: CompetitionView, author: PeerKey, side: RunId, network: CompetitionContext
) -> None:
    if author not in network.organisers:
        raise RefusedError("wrong-role", "only an organiser may enter a run")
    if network.run(side) is None:
        raise RefusedError("not-found", f"no run {to_text(side)} was opened in this network")
    for entrant in view.entrants.values():
        if entrant.side == side:
            raise RefusedError("name-taken", f"the run already takes part as {entrant.name}")


def _check_submission(
    submission: Submission, side: RunId | None, budget: Budget, network: CompetitionContext
) -> None:
    """Raise RefusedError unless it is a head of that run, within the budget; no run: a folder.

    The budget of a folder is checked when it is scored.
    """
    if submission.run != ("" if side is None else to_text(side)):
        due = "a folder" if side is None else f"a head of run {to_text(side)}"
        raise RefusedError("wrong-submission", f"this entrant must submit {due}")
    view = None if side is None else network.run(side)
    if view is None:
        return
    head = view.heads.get(submission.round)
    if head is None:
        raise RefusedError("wrong-submission", view.why_unknown(submission.round))
    # The hash in the submission is what evaluators fetch, so it must be the promoted one.
    if to_text(head.weights_root) != submission.weights_root:
        raise RefusedError("wrong-submission", f"round {submission.round} has other weights")
    # Head 0 has no closed round before it, and has used nothing.
    trained = view.accounts.trained.get(submission.round, RunProgress(tokens=0, ms=0))
    _check_budget(budget, view.manifest.parameters, trained)


def _check_budget(budget: Budget, parameters: int, trained: RunProgress) -> None:
    taken = (
        ("parameters", budget.parameters, parameters),
        ("tokens", budget.tokens, trained.tokens),
        ("hours", budget.hours, -(-trained.ms // _HOUR_MS)),
    )
    for noun, most, found in taken:
        if most and found > most:  # 0: no limit
            raise RefusedError("over-budget", f"{found} {noun}; {most} are allowed")
