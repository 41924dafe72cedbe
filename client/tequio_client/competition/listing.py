"""Competitions in the terminal: as the ledger reports them, or from its log with `--verify`.

The ledger's report is immediate and unproven, except that rules are checked by their hash. `tequio
verify-competition` computes everything again. The result is computed from the log, printed, and
logged by the organisers.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import trio
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from tequio_client.clock import now_ms
from tequio_client.competition import plan
from tequio_client.ipc.competitions import CompetitionLink
from tequio_client.ledger.api import LedgerApi
from tequio_client.names import matches_name_or_id, name_with_id, short_id
from tequio_client.organiser import signing
from tequio_client.verify import archive
from tequio_client.verify.competition import contenders
from tequio_client.worker import shutdown
from tequio_client.worker.ledger.standing import format_time
from tequio_shared.competition import result
from tequio_shared.competition.result import DrawnText
from tequio_shared.competition.rules import CompetitionOutcome
from tequio_shared.competition.state import CompetitionPhase
from tequio_shared.errors import MalformedError, UserFacingError
from tequio_shared.ids import to_text
from tequio_shared.scoring import nanobits_per_byte
from tequio_shared.statements.competitions import CompResult

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from tequio_client.verify.reader import LedgerReader
    from tequio_shared.api.competitions import CompetitionAnswer, CompetitionLine
    from tequio_shared.competition.competition import CompetitionView
    from tequio_shared.competition.rules import Dates
    from tequio_shared.competition.state import Entrant
    from tequio_shared.ids import Digest, PeerKey

# --- The result of a competition: computed from the log, printed, and logged by the organisers.

_GIGA = 10**9


def format_bits(nanobits: int) -> str:
    """Format nanobits per byte as bits per byte."""
    return f"{nanobits / _GIGA:.6f}"


def offer_state(*, is_drawn: bool, is_open: bool) -> str:
    """State of an offer to evaluate; `is_open`: its secret is revealed."""
    if is_drawn:
        return "drawn"
    return "secret revealed" if is_open else "offered"


def next_date(dates: Dates, now_ms: int) -> str:
    """Next date of a competition, with its name."""
    for name in dates.__struct_fields__:
        if getattr(dates, name) > now_ms:
            return f"{name} {format_time(getattr(dates, name))}"
    return "the result"


def compute_outcome(
    view: CompetitionView, texts: Sequence[bytes], blob: Callable[[Digest], bytes | None]
) -> CompetitionOutcome:
    """Compute the result from the log; raises UserFacingError if an evaluation is unavailable."""
    if view.draw is None:
        raise UserFacingError(f"{view.rules.name} has no ranking: {view.missing_for_ranking()}")
    named = [DrawnText.of(one) for one in texts]
    return result.compute_outcome(view.id, view.draw.beacon, named, contenders(view, blob))


def print_outcome(view: CompetitionView, outcome: CompetitionOutcome, console: Console) -> None:
    """Print the ranking, the pairwise differences, and the outliers."""
    table = Table("rank", "entrant", title=f"{view.rules.name}: bits per byte, fewer are better")
    for column in ("bits/byte", "95 %", "evaluators"):
        table.add_column(column, justify="right")
    for one in outcome.places:
        table.add_row(
            str(one.rank) if one.rank else "-",
            escape(one.entrant),
            format_bits(one.nanobits_per_byte) if one.rank else "too few evaluators",
            f"{format_bits(one.low)} to {format_bits(one.high)}" if one.rank else "",
            str(len(one.evaluators)),
        )
    console.print(table)
    for pair in outcome.pairs:
        apart = f"{format_bits(pair.low)} to {format_bits(pair.high)} bits per byte"
        verdict = f"{pair.winner} is better" if pair.winner else "no significant difference"
        console.print(f"{pair.first} minus {pair.other}: {apart}, {verdict}", highlight=False)
    for line in _outliers(outcome):
        console.print(line, style="yellow", highlight=False)
    console.print(f"{outcome.documents:,} documents were scored", highlight=False)


def _outliers(outcome: CompetitionOutcome) -> Iterator[str]:
    for place in outcome.places:
        for one in place.evaluators:
            if one.is_outlier:
                who, off = short_id(one.evaluator), one.off / 1_000
                yield (
                    f"evaluator {who} is off by {off:,.1f} bits for "
                    f"{place.entrant}, in {one.outside:,} documents: the medians ignore it"
                )


def compute_from_log(
    log: LedgerReader, wanted: str | None
) -> tuple[CompetitionView, CompetitionOutcome]:
    """Compute the present result from the log; raises UserFacingError if there is none yet."""
    view = log.wait_for(wanted)
    with TemporaryDirectory(prefix="tequio-outcome-") as folder:
        texts = archive.fetch_drawn_texts(view, Path(folder), log.blob, log.ledger)
        return view, compute_outcome(view, texts, log.blob)


def log_outcome(
    log: LedgerReader,
    view: CompetitionView,
    outcome: CompetitionOutcome,
    folders: Sequence[Path],
    out: Path | None,
) -> str:
    """Log the result as the organisers in the folders; returns a sentence about it."""
    if view.phase is CompetitionPhase.DECIDED:
        raise UserFacingError(f"{view.rules.name} is decided already")
    if now_ms() < view.rules.dates.result:
        raise UserFacingError(
            f"too early: scores of {view.rules.name} can be challenged until "
            f"{format_time(view.rules.dates.result)}"
        )
    with signing.locked_folders(folders), shutdown.explain_unreachable_ledger(log.ledger):
        return trio.run(partial(_decide, log.ledger, view, outcome, folders, out))


async def _decide(
    ledger: str,
    view: CompetitionView,
    outcome: CompetitionOutcome,
    folders: Sequence[Path],
    out: Path | None,
) -> str:
    async with LedgerApi(ledger) as api:
        signer = signing.load_organiser(folders[0], await api.network())
        name = await api.put_blob(outcome.encode(), signer, now_ms())
        body = CompResult(competition=to_text(view.id), outcome=to_text(name))
        return await signing.sign_decision(api, body, folders, out)


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
        print_outcome(view, outcome, console)
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
        state = offer_state(is_drawn=key in drawn, is_open=offer.secret is not None)
        table.add_row(short_id(to_text(key)), state, *scored)
    return table


def _scored(view: CompetitionView, name: str, key: PeerKey) -> str:
    found = view.results.get((name, key))
    if found is None:
        return "committed" if (name, key) in view.commits else ""
    return format_bits(nanobits_per_byte(found.millibits, found.size_bytes))


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
    return "" if is_over else next_date(view.rules.dates, now)


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
            "" if line.void or line.outcome else next_date(line.dates, now_ms()),
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
        (one.entrant, one.evaluator): format_bits(nanobits_per_byte(one.millibits, one.size_bytes))
        for one in answer.results
    }
    shown = {(one.entrant, one.evaluator): "committed" for one in answer.commits} | bits
    for offer in answer.offers:
        state = offer_state(is_drawn=offer.is_drawn, is_open=offer.secret_index is not None)
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
