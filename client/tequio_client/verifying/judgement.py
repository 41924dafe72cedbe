"""A competition checked from its log: that it was decided, on which texts, and what it came to.

The fold has seen to who said what, when, and whether it follows. What is left are the texts, which
open against the root that was committed to, and the outcome, which is computed again.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from tequio_client.audit.findings import Place
from tequio_client.audit.sources import NotHadError
from tequio_client.competition import archive, outcomes
from tequio_client.competition.naming import called, fits
from tequio_client.verifying.differences import differences
from tequio_shared import judging
from tequio_shared.competition_state import Phase
from tequio_shared.errors import PeerError, UserFacingError
from tequio_shared.evaluations import Outcome
from tequio_shared.ids import digest_from_text
from tequio_shared.judging import Text

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tequio_client.audit.findings import Report
    from tequio_client.verifying.reading import ReadLog
    from tequio_client.verifying.shown import Kept
    from tequio_shared.competition import CompetitionView
    from tequio_shared.competition_rules import CompetitionRules
    from tequio_shared.ids import Digest
    from tequio_shared.judging import Contender

ArchiveOf: TypeAlias = "Callable[[CompetitionRules], Path]"
"""Gets the sealed archive as a file; raises NotHadError, and OtherArchiveError for another one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """A decided competition, judged again: what it came to, and what that rests on."""

    view: CompetitionView
    texts: tuple[bytes, ...]
    """The drawn ones, in their order."""
    contenders: tuple[Contender, ...]
    outcome: Outcome
    """As it is due."""


def find(log: ReadLog, wanted: str, report: Report) -> CompetitionView | None:
    """Find the one competition that is meant; what stands against that goes into the report."""
    views = list(log.fold.view.competitions.views.values())
    found = [one for one in views if fits(one, wanted)]
    if len(found) == 1:
        return found[0]
    known = ", ".join(map(called, found or views)) or "none"
    which = f"{len(found) or 'no'} competitions" + (f" are called {wanted!r}" if wanted else "")
    report.missing(
        "competition", Place(), f"{which} in the log; there is: {known}; choose with --competition"
    )
    return None


def tell_open(view: CompetitionView, now_ms: int, report: Report) -> None:
    """Say that nothing was decided, yet or for ever, unless something wrong was found before."""
    if report.findings:
        return
    void, lacks = view.void(now_ms), view.lacks()
    if void:
        why = f"{called(view)} ended without a ranking: {void}"
    else:
        why = f"{called(view)} is {view.phase.value}, and no result was said"
        why += f": {lacks}" if lacks else ""
    report.missing("result", Place(), why)


def judge(
    view: CompetitionView, source: Kept, archive_of: ArchiveOf, folder: Path, report: Report
) -> Judged | None:
    """Open the texts in `folder` and compute the outcome; None when one of both cannot be done.

    What is wrong goes into the report.
    """
    if view.outcome is None or view.draw is None:
        return None
    texts = _texts(view, source, archive_of, folder, report)
    if texts is None:
        return None
    place = Place(entry=view.began[Phase.DECIDED].index)
    try:
        contenders = outcomes.contenders(view, source.blob)
        said = _said(view.outcome, source)
    except (NotHadError, UserFacingError) as err:
        report.missing("scores", place, str(err))
        return None
    except PeerError as err:
        report.mismatch("scores", place, str(err))
        return None
    named = [Text.of(one) for one in texts]
    due = judging.outcome(view.id, view.draw.beacon, named, contenders)
    _compare(due, said, place, report)
    return Judged(view=view, texts=texts, contenders=contenders, outcome=due)


def _texts(
    view: CompetitionView, source: Kept, archive_of: ArchiveOf, folder: Path, report: Report
) -> tuple[bytes, ...] | None:
    if view.draw is None:
        return None
    place, sealed = Place(entry=view.began[Phase.OPEN].index), view.rules.sealed
    try:
        path = archive_of(view.rules)
    except (archive.OtherArchiveError, PeerError) as err:
        report.mismatch("sealed archive", place, str(err))
        return None
    except (NotHadError, UserFacingError) as err:
        report.missing("sealed archive", place, str(err))
        return None
    source.add(digest_from_text(sealed.archive), path)
    try:
        documents = archive.opened(view.rules, view.draw.key, path, folder)
    except UserFacingError as err:
        report.mismatch("texts", place, f"they are not those that were sealed: {_why(err)}")
        return None
    report.checked["documents opened"] += sealed.documents
    return tuple(archive.text(documents, number) for number in view.draw.documents)


def _why(err: UserFacingError) -> str:
    """Without the name of the file, which was ours."""
    return str(err.__cause__ or err)


def _said(name: Digest, source: Kept) -> Outcome:
    raw = source.blob(name)
    if raw is None:
        raise NotHadError("the outcome is not there")
    return Outcome.parse(raw)


def _compare(due: Outcome, said: Outcome, place: Place, report: Report) -> None:
    if due.encode() == said.encode():
        report.checked["outcomes"] += 1
        return
    found = list(differences(due, said)) or [("order in the outcome", "", "another", "this")]
    for what, why, expected, stated in found:
        report.mismatch(what, place, why, expected=expected, found=stated)
