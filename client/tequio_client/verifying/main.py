"""One verification from end to end: of a ledger, or of a bundle and nothing beside it."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import trio

from tequio_client.audit.findings import Place, Report
from tequio_client.audit.sources import NotHadError
from tequio_client.clock import now_ms
from tequio_client.competition import archive
from tequio_client.competition.archive import OtherArchiveError
from tequio_client.ledger.api import LedgerApi
from tequio_client.verifying import judgement, reading, words
from tequio_client.verifying.bundle import BundleFile
from tequio_client.verifying.shown import Keep, Kept, live
from tequio_shared.errors import MalformedError
from tequio_shared.ids import digest_from_text, to_text

if TYPE_CHECKING:
    from collections.abc import Callable

    from tequio_client.audit.main import Progress
    from tequio_client.verifying.judgement import ArchiveOf, Judged
    from tequio_client.verifying.reading import ReadLog
    from tequio_shared.competition import CompetitionView
    from tequio_shared.competition_rules import CompetitionRules
    from tequio_shared.policy import Policy


_ARCHIVE = "archive.sealed"
_PAGE = re.compile(r"(?P<ledger>https?://.+)/competitions/(?P<competition>[A-Za-z0-9_-]{43})/?")


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """What the person asked for."""

    place: str
    """Of a ledger, or of a bundle's file."""
    wanted: str = ""
    """The competition's name or the beginning of its id; nothing: the only one."""
    trust: Policy | None = None
    bundle: Path | None = None
    """Where to write all that was read."""

    @classmethod
    def of(
        cls,
        place: str,
        *,
        wanted: str = "",
        trust: Policy | None = None,
        bundle: Path | None = None,
    ) -> Wish:
        """Read a place; the address of a competition's page says which competition, too."""
        page = _PAGE.fullmatch(place)
        if page is not None:
            place, wanted = page["ledger"], wanted or page["competition"]
        return cls(place=place, wanted=wanted, trust=trust, bundle=bundle)

    @property
    def is_live(self) -> bool:
        """Whether it is a ledger."""
        return self.place.startswith(("http://", "https://"))

    @property
    def keeps(self) -> Keep:
        """How much of the log is needed again."""
        return Keep.ALL if self.bundle else Keep.DOCUMENTS


@dataclass(slots=True, kw_only=True)
class Verified:
    """What was found; `run` and whoever scores again write to it."""

    report: Report = field(default_factory=Report)
    lines: list[str] = field(default_factory=list)
    """What held, a sentence each."""
    log: ReadLog | None = None
    view: CompetitionView | None = None
    judged: Judged | None = None
    void: str = ""
    """Why it ended without a ranking; empty: it did not."""
    deviations: list[str] = field(default_factory=list)
    """Evaluators who were not heard, and who said what scoring again did not find."""


def run(
    wish: Wish, progress: Progress, then: Callable[[Verified, Path], None] | None = None
) -> Verified:
    """Verify; never raises for what is wrong with the log, nor for a ledger that is away.

    `then` goes on with a competition that could be judged, in a folder for files. Raises
    UserFacingError when the bundle cannot be written.
    """
    found = Verified()
    with TemporaryDirectory(prefix="tequio-verify-") as name:
        folder = Path(name)
        kept = _live(wish, found, folder, progress) if wish.is_live else None
        if not wish.is_live:
            kept = _offline(wish, found, folder, progress)
        if wish.bundle and kept and found.view:
            kept.write(wish.bundle, found.view.id)
        if then and found.judged:
            then(found, folder)
    return found


def _live(wish: Wish, found: Verified, folder: Path, progress: Progress) -> Kept:
    async def check() -> Kept:
        async with LedgerApi(wish.place) as api:
            kept = Kept(live(api), folder / "kept", wish.keeps)
            archive_of = partial(_fetched, kept, folder / _ARCHIVE, wish.place)
            call = partial(_check, wish, wish.wanted, kept, archive_of, found, folder, progress)
            await trio.to_thread.run_sync(call)
            return kept

    return trio.run(check)


def _offline(wish: Wish, found: Verified, folder: Path, progress: Progress) -> Kept | None:
    try:
        with BundleFile(Path(wish.place)) as file:
            kept = Kept(file, folder / "kept", wish.keeps)
            archive_of = partial(_extracted, file, folder / _ARCHIVE)
            wanted = wish.wanted or file.about.competition
            _check(wish, wanted, kept, archive_of, found, folder, progress)
            return kept
    except NotHadError as err:
        found.report.missing("bundle", Place(), str(err))
    except MalformedError as err:
        found.report.mismatch("bundle", Place(), str(err))
    return None


def _check(  # noqa: PLR0913, PLR0917 - one call, whose parts are known at different times
    wish: Wish,
    wanted: str,
    source: Kept,
    archive_of: ArchiveOf,
    found: Verified,
    folder: Path,
    progress: Progress,
) -> None:
    report = found.report
    found.log = reading.read(source, wish.trust, report, progress)
    if found.log is None:
        return
    found.lines.append(words.of_log(found.log))
    found.view = judgement.find(found.log, wanted, report)
    if found.view is None:
        return
    if not report.findings:
        number = found.log.fold.followed[to_text(found.view.id)]
        found.lines.append(words.of_statements(found.view, number))
    if found.view.outcome is None:
        as_of_ms = now_ms() if wish.is_live else found.log.said_ms
        found.void = found.view.void(as_of_ms)
        judgement.tell_open(found.view, as_of_ms, report)
    if found.void or found.view.outcome is not None:
        found.deviations += words.of_unheard(found.view)
    told = len(report.findings)
    found.judged = judgement.judge(found.view, source, archive_of, folder / "set", report)
    if found.judged is None:
        return
    found.lines.append(words.of_texts(found.judged))
    found.lines.append(words.of_evaluators(found.judged))
    if len(report.findings) == told:
        found.lines.append(words.of_outcome(found.judged))


def _fetched(kept: Kept, to: Path, ledger: str, rules: CompetitionRules) -> Path:
    return archive.fetched(rules, to, kept.blob, ledger)


def _extracted(file: BundleFile, to: Path, rules: CompetitionRules) -> Path:
    """The archive out of the bundle: nothing is fetched."""
    if not file.extract(digest_from_text(rules.sealed.archive), to):
        raise NotHadError("the bundle does not have the sealed archive")
    with to.open("rb") as opened:
        name = to_text(hashlib.file_digest(opened, "sha256").digest())
    if name != rules.sealed.archive:
        raise OtherArchiveError(
            f"the archive in the bundle is {name[:10]}, and {rules.sealed.archive[:10]} was sealed"
        )
    return to
