"""Competitions as the ledger tells them, at once: its word, which nothing here proves.

Rules are checked by their hash. `--verify` reads the log instead (`showing`), and `tequio
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
from tequio_client.competition import rules_document, said
from tequio_client.ledger.api import LedgerApi
from tequio_client.link.competition_link import CompetitionLink
from tequio_client.names import is_meant, name_with_id, short
from tequio_client.worker import endings
from tequio_shared.errors import UserFacingError
from tequio_shared.scoring import nanobits_per_byte

if TYPE_CHECKING:
    from tequio_shared.api.competitions import CompetitionAnswer, CompetitionLine
    from tequio_shared.ids import Digest

WORD = "This is the ledger's word: with --verify the log is read and checked, which may take long."


def list_all(ledger: str) -> None:
    """Print every competition, the oldest first; raises UserFacingError."""
    table = Table("competition", "name", "state", "entrants", "evaluators", "next")
    for line in _lines(ledger):
        table.add_row(
            short(line.competition),
            escape(line.name),
            "ended" if line.void else line.phase,
            str(line.entrants),
            str(line.offered),
            "" if line.void or line.outcome else said.upcoming(line.dates, now_ms()),
        )
    console = _console()
    console.print(table)
    console.print(WORD)


def show(ledger: str, wanted: str | None) -> None:
    """Print one competition; raises UserFacingError."""
    answer = _answer(ledger, _found(ledger, wanted))
    console = _console()
    for line in rules_document.lines(answer.rules):
        console.print(escape(line))
    console.print(f"state: {answer.phase}")
    if answer.void:
        console.print(f"it ended without a ranking: {escape(answer.void)}")
    elif answer.lacks:
        console.print(f"no ranking so far: {escape(answer.lacks)}")
    for table in (_entrants(answer), _evaluators(answer)):
        if table.row_count:
            console.print(table)
    for line in _rest(answer):
        console.print(line)
    console.print(WORD)


def link(ledger: str, wanted: str | None) -> str:
    """The link that the app opens; raises UserFacingError."""
    return CompetitionLink(ledger=ledger, competition=_found(ledger, wanted)).text()


def _lines(ledger: str) -> tuple[CompetitionLine, ...]:
    async def ask() -> tuple[CompetitionLine, ...]:
        async with LedgerApi(ledger) as api:
            return await api.competitions()

    with endings.reached(ledger):
        return trio.run(ask)


def _answer(ledger: str, competition: Digest) -> CompetitionAnswer:
    async def ask() -> CompetitionAnswer:
        async with LedgerApi(ledger) as api:
            return await api.competition(competition)

    with endings.reached(ledger):
        return trio.run(ask)


def _found(ledger: str, wanted: str | None) -> Digest:
    """The competition of that name or beginning of its id; the only one if nothing is said."""
    lines = _lines(ledger)
    found = [one for one in lines if not wanted or is_meant(one.name, one.competition, wanted)]
    if len(found) == 1:
        return found[0].id
    known = ", ".join(name_with_id(one.name, one.competition) for one in found or lines)
    if not lines:
        raise UserFacingError(f"no competition was opened at {ledger}")
    if not wanted:
        raise UserFacingError(f"say which competition; there is: {known}")
    what = (
        f"several competitions fit {wanted!r}" if found else f"there is no competition {wanted!r}"
    )
    raise UserFacingError(f"{what}; there is: {known}")


def _entrants(answer: CompetitionAnswer) -> Table:
    table = Table("entrant", "trains", "submitted", title="Entrants")
    for one in answer.entrants:
        trains = f"run {short(one.side)}" if one.side else "elsewhere"
        submitted = "yes" if one.submission else "nothing yet"
        table.add_row(escape(one.entrant), trains, submitted)
    return table


def _evaluators(answer: CompetitionAnswer) -> Table:
    names = sorted(one.entrant for one in answer.entrants if one.submission)
    columns = (f"{escape(name)}, bits/byte" for name in names)
    table = Table("key", "state", *columns, title="Evaluators")
    bits = {
        (one.entrant, one.evaluator): said.bits(nanobits_per_byte(one.millibits, one.size_bytes))
        for one in answer.results
    }
    shown = {(one.entrant, one.evaluator): "committed" for one in answer.commits} | bits
    for offer in answer.offers:
        state = said.offer(is_drawn=offer.is_drawn, is_open=offer.secret_index is not None)
        scores = (shown.get((name, offer.key), "") for name in names)
        table.add_row(short(offer.key), state, *scores)
    return table


def _rest(answer: CompetitionAnswer) -> list[str]:
    shown = ", ".join(str(one.share) for one in answer.shares if one.index is not None) or "none"
    lines = [f"shares shown: {shown}, of {answer.rules.sealed.needed} needed"]
    if answer.beacon:
        lines.append(f"{answer.documents:,} documents are drawn")
    if answer.challenged:
        lines.append(f"{answer.challenged:,} challenges")
    if answer.outcome:
        lines.append(f"outcome: {answer.outcome}")
    return lines


_console = partial(Console, soft_wrap=True, highlight=False)
