"""Competitions shown: all of them in a table, one with everything that the log says of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from tequio_client.clock import now_ms
from tequio_client.competition import outcomes, rules_document, said
from tequio_client.names import short
from tequio_shared.competition_state import Phase
from tequio_shared.errors import MalformedError
from tequio_shared.evaluations import Outcome
from tequio_shared.ids import to_text
from tequio_shared.scoring import nanobits_per_byte

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tequio_client.verify.ledger_reader import LedgerReader
    from tequio_shared.competition import CompetitionView
    from tequio_shared.competition_state import Entrant
    from tequio_shared.ids import Digest, PeerKey


_WORDS = {
    Phase.OPEN: "open: enter, submit, offer to evaluate",
    Phase.CLOSED: "closed: evaluators open their secrets",
    Phase.DRAWN: "custodians show their shares",
    Phase.REVEALED: "the texts are open: evaluators commit to scores, then show them",
    Phase.DECIDED: "decided",
}


def list_all(log: LedgerReader) -> None:
    """Print every competition, the oldest first."""
    log.read()
    table = Table("competition", "name", "state", "entrants", "evaluators", "next")
    for view in log.competitions.values():
        table.add_row(
            short(to_text(view.id)),
            escape(view.rules.name),
            "ended" if view.void(now_ms()) else str(view.phase),
            str(len(view.entrants)),
            str(len(view.offers)),
            _next(view),
        )
    Console(soft_wrap=True).print(table)


def show(log: LedgerReader, wanted: str | None) -> None:
    """Print one competition."""
    view = log.wait_for(wanted)
    console = Console(soft_wrap=True, highlight=False)
    for line in rules_document.lines(view.rules):
        console.print(escape(line))
    console.print(f"state: {_WORDS[view.phase]}")
    void = view.void(now_ms())
    if void:
        console.print(f"it ended without a ranking: {void}")
    elif view.lacks():
        console.print(f"no ranking so far: {view.lacks()}")
    for table in (_entrants(view), _evaluators(view)):
        if table.row_count:
            console.print(table)
    shown = ", ".join(str(index) for index in sorted(view.shares)) or "none"
    console.print(f"shares shown: {shown}, of {view.rules.sealed.needed} needed")
    for line in _draw(view):
        console.print(line)
    if view.outcome is not None:
        _show_outcome(log, view, view.outcome, console)


def _show_outcome(log: LedgerReader, view: CompetitionView, name: Digest, console: Console) -> None:
    """What the organisers stated; whether it follows is for `tequio verify-competition` to say."""
    raw = log.blob(name)
    try:
        outcome = None if raw is None else Outcome.parse(raw)
    except MalformedError:
        outcome = None
    if outcome is None:
        console.print("the outcome cannot be read: the ledger does not have it, or it is damaged")
    else:
        outcomes.show(view, outcome, console)
    console.print(f"check it: tequio verify-competition {log.ledger}")


def _entrants(view: CompetitionView) -> Table:
    table = Table("entrant", "trains", "submitted", title="Entrants")
    for name, one in sorted(view.entrants.items()):
        trains = f"run {short(to_text(one.side))}" if one.side else "elsewhere"
        table.add_row(escape(name), trains, escape(_submitted(one)))
    return table


def _evaluators(view: CompetitionView) -> Table:
    table = Table("key", "state", title="Evaluators")
    for name in sorted(view.submissions):
        table.add_column(f"{escape(name)}, bits/byte", justify="right")
    drawn = view.draw.evaluators if view.draw else ()
    for key, offer in sorted(view.offers.items(), key=lambda one: one[1].offered.index):
        scored = [_scored(view, name, key) for name in sorted(view.submissions)]
        state = said.offer(is_drawn=key in drawn, is_open=offer.secret is not None)
        table.add_row(short(to_text(key)), state, *scored)
    return table


def _scored(view: CompetitionView, name: str, key: PeerKey) -> str:
    """What an evaluator has said of an entrant: shown, committed to, or nothing."""
    found = view.results.get((name, key))
    if found is None:
        return "committed" if (name, key) in view.commits else ""
    return said.bits(nanobits_per_byte(found.millibits, found.size_bytes))


def _draw(view: CompetitionView) -> Iterator[str]:
    if view.draw is not None:
        yield f"beacon: {to_text(view.draw.beacon)}"
        yield f"{len(view.draw.documents):,} documents are drawn"
    for one in view.challenges:
        yield (
            f"challenge by {short(to_text(one.author))}: document {one.document} of "
            f"{one.entrant} takes {one.millibits / 1_000:,.3f} bits, unlike "
            f"{short(to_text(one.evaluator))} said"
        )
    if view.outcome is not None:
        yield f"outcome: {to_text(view.outcome)}"


def _submitted(one: Entrant) -> str:
    made = one.submission
    if made is None:
        return "nothing yet"
    return f"head of round {made.round}" if made.run else f"{made.repo} at {made.revision[:10]}"


def _next(view: CompetitionView) -> str:
    now = now_ms()
    is_over = view.phase is Phase.DECIDED or view.void(now)
    return "" if is_over else said.upcoming(view.rules.dates, now)
