"""Competitions in the terminal: as the ledger reports them, or from its log with `--verify`.

The ledger's report is immediate and unproven, except that rules are checked by their hash. `tequio
verify-competition` computes everything again.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import trio
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from tequio_client.clock import now_ms
from tequio_client.competition import outcome, plan
from tequio_client.competition import outcome as competition_outcome
from tequio_client.ledger.api import LedgerApi
from tequio_client.links import CompetitionLink
from tequio_client.names import matches_name_or_id, name_with_id, short_id
from tequio_client.worker import shutdown
from tequio_shared.competition.rules import CompetitionOutcome
from tequio_shared.competition.state import CompetitionPhase
from tequio_shared.errors import MalformedError, UserFacingError
from tequio_shared.ids import to_text
from tequio_shared.scoring import nanobits_per_byte

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tequio_client.verify.folded_log import LedgerReader
    from tequio_shared.api.competitions import CompetitionAnswer, CompetitionLine
    from tequio_shared.competition.competition import CompetitionView
    from tequio_shared.competition.state import Entrant
    from tequio_shared.ids import Digest, PeerKey

_STATES = {
    CompetitionPhase.OPEN: "open: enter, submit, offer to evaluate",
    CompetitionPhase.CLOSED: "closed: evaluators reveal their secrets",
    CompetitionPhase.DRAWN: "drawn: custodians reveal their shares",
    CompetitionPhase.REVEALED: "scoring: evaluators commit to their scores, then reveal them",
    CompetitionPhase.DECIDED: "decided",
}


def list_from_log(log: LedgerReader) -> None:
    """Print every competition in the log, the oldest first."""
    log.read()
    table = Table("competition", "name", "state", "entrants", "evaluators", "next")
    for view in log.competitions.values():
        table.add_row(
            short_id(to_text(view.id)),
            escape(view.rules.name),
            "ended" if view.void_reason(now_ms()) else str(view.phase),
            str(len(view.entrants)),
            str(len(view.offers)),
            _next(view),
        )
    Console(soft_wrap=True).print(table)


def print_from_log(log: LedgerReader, wanted: str | None) -> None:
    """Print one competition, with everything that the log says about it."""
    view = log.wait_for(wanted)
    console = Console(soft_wrap=True, highlight=False)
    for line in plan.describe_rules(view.rules):
        console.print(escape(line))
    console.print(f"state: {_STATES[view.phase]}")
    void = view.void_reason(now_ms())
    if void:
        console.print(f"ended without a ranking: {void}")
    elif view.missing_for_ranking():
        console.print(f"no ranking so far: {view.missing_for_ranking()}")
    for table in (_entrants(view), _evaluators(view)):
        if table.row_count:
            console.print(table)
    shown = ", ".join(str(index) for index in sorted(view.shares)) or "none"
    console.print(f"shares published: {shown}; {view.rules.sealed.needed} are needed")
    for line in _draw(view):
        console.print(line)
    if view.outcome is not None:
        _show_outcome(log, view, view.outcome, console)


def _show_outcome(log: LedgerReader, view: CompetitionView, name: Digest, console: Console) -> None:
    # The organisers' result is shown unchecked: `tequio verify-competition` computes it again.
    raw = log.blob(name)
    try:
        outcome = None if raw is None else CompetitionOutcome.parse(raw)
    except MalformedError:
        outcome = None
    if outcome is None:
        console.print("the result cannot be read: the ledger does not have it, or it is damaged")
    else:
        competition_outcome.print_outcome(view, outcome, console)
    console.print(f"check it: tequio verify-competition {log.ledger}")


def _entrants(view: CompetitionView) -> Table:
    table = Table("entrant", "trains", "submitted", title="Entrants")
    for name, one in sorted(view.entrants.items()):
        trains = f"run {short_id(to_text(one.side))}" if one.side else "elsewhere"
        table.add_row(escape(name), trains, escape(_submitted(one)))
    return table


def _evaluators(view: CompetitionView) -> Table:
    table = Table("key", "state", title="Evaluators")
    for name in sorted(view.submissions):
        table.add_column(f"{escape(name)}, bits/byte", justify="right")
    drawn = view.draw.evaluators if view.draw else ()
    for key, offer in sorted(view.offers.items(), key=lambda one: one[1].offered.index):
        scored = [_scored(view, name, key) for name in sorted(view.submissions)]
        state = competition_outcome.offer_state(
            is_drawn=key in drawn, is_open=offer.secret is not None
        )
        table.add_row(short_id(to_text(key)), state, *scored)
    return table


def _scored(view: CompetitionView, name: str, key: PeerKey) -> str:
    found = view.results.get((name, key))
    if found is None:
        return "committed" if (name, key) in view.commits else ""
    return competition_outcome.format_bits(nanobits_per_byte(found.millibits, found.size_bytes))


def _draw(view: CompetitionView) -> Iterator[str]:
    if view.draw is not None:
        yield f"beacon: {to_text(view.draw.beacon)}"
        yield f"{len(view.draw.documents):,} documents are drawn"
    for one in view.challenges:
        yield (
            f"challenge by {short_id(to_text(one.author))}: document {one.document} of "
            f"{one.entrant} has {one.millibits / 1_000:,.3f} bits, which differs from the score "
            f"of {short_id(to_text(one.evaluator))}"
        )
    if view.outcome is not None:
        yield f"result: {to_text(view.outcome)}"


def _submitted(one: Entrant) -> str:
    made = one.submission
    if made is None:
        return "nothing yet"
    return f"head of round {made.round}" if made.run else f"{made.repo} at {made.revision[:10]}"


def _next(view: CompetitionView) -> str:
    now = now_ms()
    is_over = view.phase is CompetitionPhase.DECIDED or view.void_reason(now)
    return "" if is_over else competition_outcome.next_date(view.rules.dates, now)


UNVERIFIED_NOTE = (
    "As reported by the ledger. Use --verify to read and check the log, which can take long."
)


def list_reported(ledger: str) -> None:
    """Print every competition that the ledger reports, the oldest first.

    Raises UserFacingError.
    """
    table = Table("competition", "name", "state", "entrants", "evaluators", "next")
    for line in _lines(ledger):
        table.add_row(
            short_id(line.competition),
            escape(line.name),
            "ended" if line.void else line.phase,
            str(line.entrants),
            str(line.offered),
            "" if line.void or line.outcome else outcome.next_date(line.dates, now_ms()),
        )
    console = _console()
    console.print(table)
    console.print(UNVERIFIED_NOTE)


def print_reported(ledger: str, wanted: str | None) -> None:
    """Print one competition as the ledger reports it; raises UserFacingError."""
    answer = _answer(ledger, _found(ledger, wanted))
    console = _console()
    for line in plan.describe_rules(answer.rules):
        console.print(escape(line))
    console.print(f"state: {answer.phase}")
    if answer.void:
        console.print(f"ended without a ranking: {escape(answer.void)}")
    elif answer.lacks:
        console.print(f"no ranking so far: {escape(answer.lacks)}")
    for table in (_ledgers_word_entrants(answer), _ledgers_word_evaluators(answer)):
        if table.row_count:
            console.print(table)
    for line in _rest(answer):
        console.print(line)
    console.print(UNVERIFIED_NOTE)


def competition_link(ledger: str, wanted: str | None) -> str:
    """Link to a competition, which opens in the app; raises UserFacingError."""
    return CompetitionLink(ledger=ledger, competition=_found(ledger, wanted)).text()


def _lines(ledger: str) -> tuple[CompetitionLine, ...]:
    async def ask() -> tuple[CompetitionLine, ...]:
        async with LedgerApi(ledger) as api:
            return await api.competitions()

    with shutdown.explain_unreachable_ledger(ledger):
        return trio.run(ask)


def _answer(ledger: str, competition: Digest) -> CompetitionAnswer:
    async def ask() -> CompetitionAnswer:
        async with LedgerApi(ledger) as api:
            return await api.competition(competition)

    with shutdown.explain_unreachable_ledger(ledger):
        return trio.run(ask)


def _found(ledger: str, wanted: str | None) -> Digest:
    lines = _lines(ledger)
    found = [
        one for one in lines if not wanted or matches_name_or_id(one.name, one.competition, wanted)
    ]
    if len(found) == 1:
        return found[0].id
    known = ", ".join(name_with_id(one.name, one.competition) for one in found or lines)
    if not lines:
        raise UserFacingError(f"the ledger at {ledger} has no competitions")
    if not wanted:
        raise UserFacingError(f"name the competition; known competitions: {known}")
    what = f"several competitions match {wanted!r}" if found else f"no competition {wanted!r}"
    raise UserFacingError(f"{what}; known competitions: {known}")


def _ledgers_word_entrants(answer: CompetitionAnswer) -> Table:
    table = Table("entrant", "trains", "submitted", title="Entrants")
    for one in answer.entrants:
        trains = f"run {short_id(one.side)}" if one.side else "elsewhere"
        submitted = "yes" if one.submission else "nothing yet"
        table.add_row(escape(one.entrant), trains, submitted)
    return table


def _ledgers_word_evaluators(answer: CompetitionAnswer) -> Table:
    names = sorted(one.entrant for one in answer.entrants if one.submission)
    columns = (f"{escape(name)}, bits/byte" for name in names)
    table = Table("key", "state", *columns, title="Evaluators")
    bits = {
        (one.entrant, one.evaluator): outcome.format_bits(
            nanobits_per_byte(one.millibits, one.size_bytes)
        )
        for one in answer.results
    }
    shown = {(one.entrant, one.evaluator): "committed" for one in answer.commits} | bits
    for offer in answer.offers:
        state = outcome.offer_state(is_drawn=offer.is_drawn, is_open=offer.secret_index is not None)
        scores = (shown.get((name, offer.key), "") for name in names)
        table.add_row(short_id(offer.key), state, *scores)
    return table


def _rest(answer: CompetitionAnswer) -> list[str]:
    shown = ", ".join(str(one.share) for one in answer.shares if one.index is not None) or "none"
    lines = [f"shares published: {shown}; {answer.rules.sealed.needed} are needed"]
    if answer.beacon:
        lines.append(f"{answer.documents:,} documents are drawn")
    if answer.challenged:
        lines.append(f"{answer.challenged:,} challenges")
    if answer.outcome:
        lines.append(f"result: {answer.outcome}")
    return lines


_console = partial(Console, soft_wrap=True, highlight=False)
