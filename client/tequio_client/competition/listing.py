"""Competitions in the terminal: as the ledger reports them, or from its log with `--verify`.

The ledger's report is immediate and unproven, except that rules are checked by their hash. `tequio
verify-competition` computes everything again. The result is computed from the log, printed, and
logged by the organisers.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
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
from tequio_client.worker.ledger.standing import format_time
from tequio_shared.api.competitions import CompetitionAnswer
from tequio_shared.competition import result
from tequio_shared.competition.result import DrawnText
from tequio_shared.competition.rules import CompetitionOutcome, Dates
from tequio_shared.competition.state import CompetitionPhase, CompetitionView, Entrant
from tequio_shared.errors import MalformedError, UserFacingError
from tequio_shared.ids import Digest, PeerKey, sha256, to_text
from tequio_shared.scoring import nanobits_per_byte
from tequio_shared.statements.competitions import CompResult

_GIGA = 10**9


def format_bits(nanobits: int) -> str:
    return f"{nanobits / _GIGA:.6f}"


def offer_state(*, is_drawn: bool, is_open: bool) -> str:
    """State of an offer to evaluate; `is_open`: its secret is revealed."""
    if is_drawn:
        return "drawn"
    return "secret revealed" if is_open else "offered"


def next_date(dates: Dates, now_ms: int) -> str:
    for name in dates.__struct_fields__:
        if getattr(dates, name) > now_ms:
            return f"{name} {format_time(getattr(dates, name))}"
    return "the result"


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


_STATES = {
    CompetitionPhase.OPEN: "open: enter, submit, offer to evaluate",
    CompetitionPhase.CLOSED: "closed: evaluators reveal their secrets",
    CompetitionPhase.DRAWN: "drawn: custodians reveal their shares",
    CompetitionPhase.REVEALED: "scoring: evaluators commit to their scores, then reveal them",
    CompetitionPhase.DECIDED: "decided",
}


def list_from_log(log: LedgerReader) -> None:
    log.read()
    now = now_ms()
    table = _competition_table()
    for view in log.competitions.values():
        void = view.void_reason(now)
        is_over = view.phase is CompetitionPhase.DECIDED or void
        table.add_row(
            short_id(to_text(view.id)),
            escape(view.rules.name),
            "ended" if void else str(view.phase),
            str(len(view.entrants)),
            str(len(view.offers)),
            "" if is_over else next_date(view.rules.dates, now),
        )
    _console().print(table)


def _competition_table() -> Table:
    return Table("competition", "name", "state", "entrants", "evaluators", "next")


def print_from_log(log: LedgerReader, wanted: str | None) -> None:
    view = log.wait_for(wanted)
    console = _console()
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
    table = _entrant_table()
    for name, one in sorted(view.entrants.items()):
        table.add_row(
            escape(name), _trains(to_text(one.side) if one.side else None), _submitted(one)
        )
    return table


def _entrant_table() -> Table:
    return Table("entrant", "trains", "submitted", title="Entrants")


def _trains(side: str | None) -> str:
    return f"run {short_id(side)}" if side else "elsewhere"


def _evaluators(view: CompetitionView) -> Table:
    names = sorted(view.submissions)
    table = _evaluator_table(names)
    drawn = view.draw.evaluators if view.draw else ()
    for key, offer in sorted(view.offers.items(), key=lambda one: one[1].offered.index):
        state = offer_state(is_drawn=key in drawn, is_open=offer.secret is not None)
        table.add_row(short_id(to_text(key)), state, *(_scored(view, name, key) for name in names))
    return table


def _evaluator_table(names: Sequence[str]) -> Table:
    table = Table("key", "state", title="Evaluators")
    for name in names:
        table.add_column(f"{escape(name)}, bits/byte", justify="right")
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
    if made.run:
        return f"head of round {made.round}"
    return escape(f"{made.repo} at {made.revision[:10]}")


UNVERIFIED_NOTE = (
    "As reported by the ledger. Use --verify to read and check the log, which can take long."
)


def list_reported(ledger: str) -> None:
    """Print every competition that the ledger reports, the oldest first; raises UserFacingError."""
    table = _competition_table()
    for line in signing.ask_ledger(ledger, LedgerApi.competitions):
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
    competition = _found(ledger, wanted)
    answer = signing.ask_ledger(ledger, lambda api: api.competition(competition))
    console = _console()
    for line in plan.describe_rules(answer.rules):
        console.print(escape(line))
    console.print(f"state: {answer.phase}")
    if answer.void:
        console.print(f"ended without a ranking: {escape(answer.void)}")
    elif answer.lacks:
        console.print(f"no ranking so far: {escape(answer.lacks)}")
    for table in (_reported_entrants(answer), _reported_evaluators(answer)):
        if table.row_count:
            console.print(table)
    for line in _rest(answer):
        console.print(line)
    console.print(UNVERIFIED_NOTE)


def competition_link(ledger: str, wanted: str | None) -> str:
    """Link to a competition, which opens in the app; raises UserFacingError."""
    return CompetitionLink(ledger=ledger, competition=_found(ledger, wanted)).text()


def _found(ledger: str, wanted: str | None) -> Digest:
    lines = signing.ask_ledger(ledger, LedgerApi.competitions)
    if wanted:
        return find_one("competition", lines, lambda one: (one.name, one.competition), wanted).id
    if len(lines) == 1:
        return lines[0].id
    if not lines:
        raise UserFacingError(f"the ledger at {ledger} has no competitions")
    known = ", ".join(name_with_id(one.name, one.competition) for one in lines)
    raise UserFacingError(f"name the competition; known competitions: {known}")


def _reported_entrants(answer: CompetitionAnswer) -> Table:
    table = _entrant_table()
    for one in answer.entrants:
        submitted = "yes" if one.submission else "nothing yet"
        table.add_row(escape(one.entrant), _trains(one.side), submitted)
    return table


def _reported_evaluators(answer: CompetitionAnswer) -> Table:
    names = sorted(one.entrant for one in answer.entrants if one.submission)
    table = _evaluator_table(names)
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
