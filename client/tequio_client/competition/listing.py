"""Competitions in the terminal: as the ledger reports them, or from its log with `--verify`.

The ledger's report is immediate and unproven, except that rules are checked by their hash. `tequio
verify-competition` computes everything again. The result is computed from the log, printed, and
logged by the organisers.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from tequio_client.clock import now_ms
from tequio_client.competition import plan
from tequio_client.ledger.api import LedgerApi
from tequio_client.links import CompetitionLink
from tequio_client.names import find_one, name_with_id, short_id
from tequio_client.organiser import signing
from tequio_client.verify import archive
from tequio_client.verify.competition import contenders
from tequio_client.verify.reader import LedgerReader
from tequio_client.worker import shutdown
from tequio_client.worker.ledger.standing import format_time
from tequio_shared.api.answer import AsOf
from tequio_shared.api.competitions import CompetitionAnswer, CompetitionLine
from tequio_shared.competition import result
from tequio_shared.competition.result import DrawnText
from tequio_shared.competition.rules import (
    CompetitionOutcome,
    Dates,
    RankedEntrant,
)
from tequio_shared.competition.state import CompetitionPhase, CompetitionView, Entrant
from tequio_shared.errors import MalformedError, UserFacingError
from tequio_shared.ids import Digest, sha256, to_text
from tequio_shared.scoring import nanobits_per_byte, power_of_two
from tequio_shared.served import competitions
from tequio_shared.statements.competitions import CompResult
from tequio_shared.wording import plural

_GIGA = 10**9
_STATES: Mapping[str, str] = {
    CompetitionPhase.OPEN: "open: enter, submit, offer to evaluate",
    CompetitionPhase.CLOSED: "closed: evaluators draw their lots",
    CompetitionPhase.DRAWN: "drawn: custodians reveal their shares",
    CompetitionPhase.REVEALED: "scoring: evaluators commit to their scores, then reveal them",
    CompetitionPhase.DECIDED: "decided",
}
_HERE = AsOf(size=0, root="")
"""Of what is made from the log here: it is not printed."""
NO_COMPETITIONS = "No competitions yet. docs/competitions.md says how to hold one."
UNVERIFIED_NOTE = (
    "As reported by the ledger. Use --verify to read and check the log, which can take long."
)


def format_bits(nanobits: int) -> str:
    return f"{nanobits / _GIGA:.6f}"


def next_date(dates: Dates, now_ms: int) -> str:
    for name in dates.__struct_fields__:
        if getattr(dates, name) > now_ms:
            return f"{name} {format_time(getattr(dates, name))}"
    return "the result"


def print_outcome(view: CompetitionView, outcome: CompetitionOutcome, console: Console) -> None:
    """Print the ranking, the pairwise differences, and the outliers."""
    title = f"{view.rules.name}: bits per byte and perplexity per byte, lower is better"
    table = Table("rank", "entrant", title=title)
    for column in ("bits/byte", "perplexity", "95 %", "evaluators"):
        table.add_column(column, justify="right")
    for one in outcome.places:
        table.add_row(
            str(one.rank) if one.rank else "-",
            escape(one.entrant),
            format_bits(one.nanobits_per_byte) if one.rank else unranked_reason(one),
            f"{power_of_two(one.nanobits_per_byte / _GIGA):.4f}" if one.rank else "",
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
    console.print(
        f"{plural(outcome.documents, 'document was', 'documents were')} scored", highlight=False
    )


def unranked_reason(place: RankedEntrant) -> str:
    return f"refused: {place.refusal.sentence}" if place.refusal else "too few evaluators"


def _outliers(outcome: CompetitionOutcome) -> Iterator[str]:
    for place in outcome.places:
        for one in place.evaluators:
            if one.is_outlier:
                who, off = short_id(one.evaluator), one.off / 1_000
                yield (
                    f"evaluator {who} is off by {off:,.1f} bits for "
                    f"{place.entrant}, in {plural(one.outside, 'document')}: the medians ignore it"
                )


def compute_from_log(
    log: LedgerReader, wanted: str | None
) -> tuple[CompetitionView, CompetitionOutcome]:
    """Compute the present result from the log; raises UserFacingError if there is none yet."""
    view = log.wait_for(wanted)
    with TemporaryDirectory(prefix="tequio-outcome-") as folder:
        texts = archive.fetch_drawn_texts(view, Path(folder), log.blob, log.ledger)
    if view.draw is None:
        raise AssertionError("there are no texts before the draw")
    named = [DrawnText.of(one) for one in texts]
    return view, result.compute_outcome(
        view.id, view.draw.beacon, named, contenders(view, log.blob)
    )


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
    raw = outcome.encode()
    body = CompResult(competition=to_text(view.id), outcome=to_text(sha256(raw)))
    options = signing.SigningOptions(ledger=log.ledger, folders=tuple(folders), out=out)
    return signing.decide(body, options, [raw])


def list_from_log(log: LedgerReader) -> None:
    """Print every competition of the log, the oldest first; raises UserFacingError."""
    log.read()
    state, now = log.state, now_ms()
    _print_list(
        [
            competitions.competition_line(competitions.competition_snapshot(state, one, now))
            for one in log.competitions
        ]
    )


def list_reported(ledger: str) -> None:
    """Print every competition that the ledger reports, the oldest first; raises UserFacingError."""
    found = shutdown.ask_ledger(ledger, LedgerApi.competitions)
    _print_list(found)
    if found:
        _console().print(UNVERIFIED_NOTE)


def _print_list(found: Sequence[CompetitionLine]) -> None:
    if not found:
        _console().print(NO_COMPETITIONS)
        return
    now = now_ms()
    table = Table("competition", "name", "state", "entrants", "evaluators", "next")
    for line in found:
        table.add_row(
            short_id(line.competition),
            escape(line.name),
            "ended" if line.void else line.phase,
            str(line.entrants),
            str(line.offered),
            "" if line.void or line.outcome else next_date(line.dates, now),
        )
    _console().print(table)


def print_from_log(log: LedgerReader, wanted: str | None) -> None:
    view = log.wait_for(wanted)
    now = competitions.competition_snapshot(log.state, view.id, now_ms())
    submitted = {name: _submitted(one) for name, one in view.entrants.items()}
    _print_competition(competitions.competition_answer(now, _HERE), submitted)
    if view.outcome is not None:
        _print_logged_outcome(log, view, view.outcome, _console())


def print_reported(ledger: str, wanted: str | None) -> None:
    """Print one competition as the ledger reports it; raises UserFacingError."""
    competition = _found(ledger, wanted)
    _print_competition(shutdown.ask_ledger(ledger, lambda api: api.competition(competition)), {})
    _console().print(UNVERIFIED_NOTE)


def _print_competition(answer: CompetitionAnswer, submitted: Mapping[str, str]) -> None:
    """Print a competition; `submitted` tells what the entrants submitted, where that is known."""
    console = _console()
    for line in plan.describe_rules(answer.rules):
        console.print(escape(line))
    console.print(f"state: {_STATES.get(answer.phase, answer.phase)}")
    if answer.void:
        console.print(escape(f"ended without a ranking: {answer.void}"))
    elif answer.lacks:
        console.print(escape(f"no ranking so far: {answer.lacks}"))
    _print_participants(answer, submitted, console)
    shown = ", ".join(str(one.share) for one in answer.shares if one.index is not None) or "none"
    needed = answer.rules.sealed.needed
    console.print(f"shares published: {shown}; {needed} are needed")
    if answer.beacon:
        console.print(f"beacon: {answer.beacon}")
        console.print(f"{plural(answer.documents, 'document is', 'documents are')} drawn")
    for one in answer.challenges:
        console.print(
            f"challenge by {short_id(one.author)}: document {one.document} of {one.entrant} has "
            f"{one.millibits / 1_000:,.3f} bits, which differs from the score of "
            f"{short_id(one.evaluator)}"
        )
    if answer.outcome:
        console.print(f"result: {answer.outcome}")


def _print_participants(
    answer: CompetitionAnswer, submitted: Mapping[str, str], console: Console
) -> None:
    first = Table("entrant", "trains", "submitted", title="Entrants")
    for one in answer.entrants:
        made = submitted.get(one.entrant, "yes") if one.submission else "nothing yet"
        trains = f"run {short_id(one.side)}" if one.side else "elsewhere"
        first.add_row(escape(one.entrant), trains, made)
    names = sorted(one.entrant for one in answer.entrants if one.submission)
    scores = {(one.entrant, one.evaluator): "committed" for one in answer.commits} | {
        (one.entrant, one.evaluator): format_bits(nanobits_per_byte(one.millibits, one.size_bytes))
        for one in answer.results
    }
    second = Table("key", "state", title="Evaluators")
    for name in names:
        second.add_column(f"{escape(name)}, bits/byte", justify="right")
    for offer in answer.offers:
        state = "in the draw" if offer.lot_index is not None else "offered"
        cells = (scores.get((name, offer.key), "") for name in names)
        second.add_row(short_id(offer.key), "drawn" if offer.is_drawn else state, *cells)
    for table in (first, second):
        if table.row_count:
            console.print(table)


def _submitted(one: Entrant) -> str:
    made = one.submission
    if made is None:
        return ""
    if made.run:
        return f"head of round {made.round}"
    return escape(f"{made.repo} at {made.revision[:10]}")


def _print_logged_outcome(
    log: LedgerReader, view: CompetitionView, name: Digest, console: Console
) -> None:
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


def competition_link(ledger: str, wanted: str | None) -> str:
    """Link to a competition, which opens in the app; raises UserFacingError."""
    return CompetitionLink(ledger=ledger, competition=_found(ledger, wanted)).text()


def _found(ledger: str, wanted: str | None) -> Digest:
    lines = shutdown.ask_ledger(ledger, LedgerApi.competitions)
    if wanted:
        return find_one("competition", lines, lambda one: (one.name, one.competition), wanted).id
    if len(lines) == 1:
        return lines[0].id
    if not lines:
        raise UserFacingError(f"the ledger at {ledger} has no competitions")
    known = ", ".join(name_with_id(one.name, one.competition) for one in lines)
    raise UserFacingError(f"name the competition; known competitions: {known}")


def _console() -> Console:
    return Console(soft_wrap=True, highlight=False)
