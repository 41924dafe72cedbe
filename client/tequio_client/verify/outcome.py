"""A competition's outcome: the evaluations it rests on, and where a stated outcome differs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tequio_client.naming import short
from tequio_shared.errors import MalformedError, UserFacingError
from tequio_shared.evaluations import Evaluation
from tequio_shared.ids import to_text
from tequio_shared.judging import Contender

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tequio_shared.competition import CompetitionView
    from tequio_shared.evaluations import Compared, Outcome, Placed
    from tequio_shared.ids import Digest

_OF_A_PLACE = (
    "submission",
    "author",
    "rank",
    "millibits",
    "size_bytes",
    "nanobits_per_byte",
    "low",
    "high",
)
_OF_A_PAIR = ("winner", "low", "high", "against")
_OF_AN_EVALUATOR = ("scores", "millibits", "off", "outside", "is_outlier")

Difference = tuple[str, str, object, object]
"""What differs, why that may be, what is due, and what was stated."""


def contenders(
    view: CompetitionView, blob: Callable[[Digest], bytes | None]
) -> tuple[Contender, ...]:
    """Entrants whose submission counts, with their evaluations; raises UserFacingError."""
    return tuple(
        Contender(
            entrant=name,
            author=view.entrants[name].author,
            submission=submission,
            evaluations=tuple(_evaluations(view, name, blob)),
        )
        for name, submission in view.submissions.items()
    )


def differences(due: Outcome, said: Outcome) -> Iterator[Difference]:
    """Differences of two outcomes: entrants first, and the most telling field of each first."""
    due_places = {one.entrant: one for one in due.places}
    said_places = {one.entrant: one for one in said.places}
    for name in sorted(due_places.keys() | said_places.keys()):
        ours, theirs = due_places.get(name), said_places.get(name)
        if ours is None or theirs is None:
            yield f"entrant {name}", "", _presence(ours), _presence(theirs)
            continue
        yield from _place(ours, theirs)
    yield from _pairs(due, said)
    if due.documents != said.documents:
        yield "number of documents", "", due.documents, said.documents
    ours_order = [one.entrant for one in due.places]
    theirs_order = [one.entrant for one in said.places]
    if ours_order != theirs_order and set(ours_order) == set(theirs_order):
        yield "order of the entrants", "", ", ".join(ours_order), ", ".join(theirs_order)


def _place(due: Placed, said: Placed) -> Iterator[Difference]:
    for name in _OF_A_PLACE:
        expected, found = getattr(due, name), getattr(said, name)
        if expected != found:
            why = _whose(due, found) if name == "millibits" else ""
            yield f"{name} of entrant {due.entrant}", why, expected, found
    ours = {one.evaluator: one for one in due.evaluators}
    theirs = {one.evaluator: one for one in said.evaluators}
    for key in sorted(ours.keys() | theirs.keys()):
        one, other = ours.get(key), theirs.get(key)
        what = f"evaluator {short(key)} of entrant {due.entrant}"
        if one is None or other is None:
            yield what, "", _presence(one), _presence(other)
            continue
        for name in _OF_AN_EVALUATOR:
            if getattr(one, name) != getattr(other, name):
                yield f"{name} of {what}", "", getattr(one, name), getattr(other, name)


def _whose(due: Placed, millibits: object) -> str:
    """The evaluator whose own sum equals the stated one, if there is one."""
    for one in due.evaluators:
        if one.millibits == millibits:
            lies = ", which is an outlier," if one.is_outlier else ""
            return (
                f"that is what evaluator {short(one.evaluator)}{lies} scored alone; "
                "the medians of all evaluators count"
            )
    return ""


def _pairs(due: Outcome, said: Outcome) -> Iterator[Difference]:
    ours = {(one.first, one.other): one for one in due.pairs}
    theirs = {(one.first, one.other): one for one in said.pairs}
    for names in sorted(ours.keys() | theirs.keys()):
        one, other = ours.get(names), theirs.get(names)
        what = f"comparison of {names[0]} and {names[1]}"
        if one is None or other is None:
            yield what, "", _presence(one), _presence(other)
            continue
        yield from _pair(what, one, other)


def _pair(what: str, due: Compared, said: Compared) -> Iterator[Difference]:
    for name in _OF_A_PAIR:
        if getattr(due, name) != getattr(said, name):
            yield f"{name} in the {what}", "", getattr(due, name), getattr(said, name)


def _presence(one: object) -> str:
    return "none" if one is None else "one"


def _evaluations(
    view: CompetitionView, name: str, blob: Callable[[Digest], bytes | None]
) -> Iterator[Evaluation]:
    for (entrant, evaluator), scored in sorted(view.results.items()):
        if entrant != name:
            continue
        raw, who = blob(scored.scores), short(to_text(evaluator))
        if raw is None:
            raise UserFacingError(
                f"the ledger does not have the scores of evaluator {who} for {name}: "
                "ask its operator to restore them"
            )
        try:
            yield Evaluation.parse(raw)
        except MalformedError as err:
            raise UserFacingError(f"invalid scores of evaluator {who} for {name}: {err}") from err
