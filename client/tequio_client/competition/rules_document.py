"""From a plan and a sealed folder to the rules document, and back from the document's file."""

from __future__ import annotations

from hashlib import file_digest
from typing import TYPE_CHECKING

from tequio_client.competition import moments, plan
from tequio_client.organiser.sealing import ARCHIVE, COMMITMENT
from tequio_shared.competition_rules import LEAST_EVALUATORS, CompetitionRules
from tequio_shared.errors import MalformedError, UserFacingError
from tequio_shared.ids import to_text
from tequio_shared.limits import STATEMENT_BYTES
from tequio_shared.sealed_set import SealedSet

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_HOUR_MS = 3_600_000


def make(plan_file: Path, sealed_folder: Path, to: Path, now_ms: int) -> CompetitionRules:
    """Write the rules that the plan asks for; raises UserFacingError, and then writes nothing."""
    said = plan.read(plan_file)
    sealed, archive_bytes = _sealed(sealed_folder)
    made = plan.rules(said, sealed, archive_bytes, now_ms)
    try:
        to.write_bytes(made.encode())
    except OSError as err:
        raise UserFacingError(f"cannot write {to}: {err.strerror}") from err
    return made


def read(path: Path) -> CompetitionRules:
    """Read a rules document; raises UserFacingError."""
    try:
        with path.open("rb") as file:
            return CompetitionRules.parse(file.read(STATEMENT_BYTES + 1))
    except OSError as err:
        raise UserFacingError(f"cannot read {path}: {err.strerror}") from err
    except MalformedError as err:
        raise UserFacingError(
            f"{path} holds no rules as `tequio competition rules` writes them: {err}"
        ) from err


def lines(rules: CompetitionRules) -> Iterator[str]:
    """Say what the rules are, for people."""
    dates, scoring, sealed = rules.dates, rules.scoring, rules.sealed
    yield f"{rules.name}: competition {to_text(rules.id)}"
    yield f"  opens      {moments.told(dates.opens)}"
    yield f"  deadline   {moments.told(dates.deadline)}  (submissions, and offers to evaluate)"
    yield f"  draw       {moments.told(dates.draw)}  (then custodians show their shares)"
    yield f"  scored by  {moments.told(dates.scored)}  (evaluators commit to their scores)"
    yield f"  shown by   {moments.told(dates.shown)}  (and show them)"
    yield f"  result     {moments.told(dates.result)}  (until then anybody may challenge)"
    drawn = min(scoring.documents, sealed.documents)
    yield (
        f"  texts      {drawn:,} drawn of {sealed.documents:,} sealed documents, "
        f"{sealed.size_bytes:,} bytes"
    )
    yield (
        f"  scoring    windows of {scoring.window:,} tokens, stride {scoring.stride:,}, "
        f"{scoring.evaluators} evaluators of tier {scoring.evaluator_tier} or higher"
    )
    yield f"  budget     {_budget(rules)}"
    yield f"  custodians {sealed.needed} of {len(rules.custodians)} open the texts"
    yield from warnings(rules)


def warnings(rules: CompetitionRules) -> Iterator[str]:
    """What is allowed, and should be said to those who enter."""
    sealed, dates = rules.sealed, rules.dates
    if sealed.needed == 1:
        yield (
            "  note: one custodian alone can read the texts before the deadline; "
            "say so to those who enter"
        )
    if sealed.documents <= rules.scoring.documents:
        yield "  note: all sealed documents are scored; none is drawn by chance"
    if dates.scored - dates.draw < _HOUR_MS:
        yield "  note: evaluators have less than an hour to score"
    if dates.shown - dates.scored < _HOUR_MS:
        yield "  note: evaluators have less than an hour to show their scores"
    if rules.scoring.evaluators == LEAST_EVALUATORS:
        yield "  note: if one of the evaluators is not heard, nobody is ranked; draw more of them"


def _budget(rules: CompetitionRules) -> str:
    budget = rules.budget
    limits = [
        f"{value:,} {name}"
        for name, value in (
            ("parameters", budget.parameters),
            ("tokens", budget.tokens),
            ("hours", budget.hours),
        )
        if value
    ]
    return ", ".join(limits) or "no limit"


def _sealed(folder: Path) -> tuple[SealedSet, int]:
    """The commitment in a folder, and how large its archive is, which is held against it."""
    try:
        sealed = SealedSet.parse((folder / COMMITMENT).read_bytes())
        with (folder / ARCHIVE).open("rb") as file:
            found = to_text(file_digest(file, "sha256").digest())
        size = (folder / ARCHIVE).stat().st_size
    except OSError as err:
        raise UserFacingError(
            f"{folder} is no sealed folder ({err.strerror}: {err.filename}): make one with "
            "`tequio competition seal`"
        ) from err
    except MalformedError as err:
        raise UserFacingError(f"{folder / COMMITMENT} is no commitment: {err}") from err
    if found != sealed.archive:
        raise UserFacingError(
            f"{folder / ARCHIVE} is not the archive that {COMMITMENT} commits to: "
            "seal the texts again"
        )
    return sealed, size
