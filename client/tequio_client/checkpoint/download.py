"""Download of a published head: found in the log, fetched from where it is, and verified.

The folder is made next to its target, and renamed when it is verified. What was fetched stays until
then, so an interrupted download continues where it stopped. A head that was published in several
places comes from the first that gives it.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from tequio_client.checkpoint import export, layout, verify
from tequio_client.checkpoint.export import CopyFormat, WeightsOrigin
from tequio_client.checkpoint.layout import HeadClaim
from tequio_client.checkpoint.publish import HeadStorage
from tequio_client.checkpoint.verify import VerifyOutcome
from tequio_client.organiser import verdicts
from tequio_client.runtime import locked
from tequio_client.verify.report import WorkProgress
from tequio_shared.api.runs import PublishedAnswer
from tequio_shared.errors import MalformedError, UserFacingError
from tequio_shared.statements.network import is_on_hub

_HUBS_OWN = ".cache"
"""Folder in which the Hub's client remembers what it fetched."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DownloadOptions:
    origin: WeightsOrigin
    run: str
    """Name, or the beginning of the id."""
    head: str
    """`latest`, `best`, or the round of a published head."""
    target: Path
    copies: Sequence[CopyFormat] = ()


def download_head(
    options: DownloadOptions,
    open_storage: Callable[[str], HeadStorage],
    report: Callable[[str], None],
    progress: WorkProgress,
) -> PublishedAnswer:
    """Download a head; `open_storage` opens a location. Raises UserFacingError."""
    target = options.target.absolute()
    layout.check_free(target)
    export.check_copies(target, options.copies)
    if not target.parent.is_dir():
        raise UserFacingError(f"the folder {target.parent} does not exist: create it first")
    known = verdicts.find_published(options.run, options.origin.ledger, options.origin.trust)
    failures = list[str]()
    part = target.with_name(f".{target.name}.part")
    with export.disk_errors(target), locked(part):
        for one in known.find(options.head):
            report(f"round {one.round} from {one.location}")
            try:
                made = _download(one, open_storage(one.location), part)
                _verify(made, known.run.run, one.round, options.origin, progress)
            except (UserFacingError, MalformedError) as err:
                failures.append(f"{one.location}: {err}")
                continue
            _rename(made, one.round, options, progress)
            shutil.rmtree(part, ignore_errors=True)
            return one
    raise UserFacingError("; ".join(failures))


def _download(one: PublishedAnswer, storage: HeadStorage, part: Path) -> Path:
    on_hub = is_on_hub(one.location)
    revision = one.revision if on_hub else f"round-{one.round}@{one.revision}"
    made = storage.download(one.location, revision, part / one.revision)
    shutil.rmtree(made / _HUBS_OWN, ignore_errors=True)
    return made


def _rename(made: Path, number: int, options: DownloadOptions, progress: WorkProgress) -> None:
    if options.copies and layout.is_adapter(made):
        raise UserFacingError(
            "this head is of adapters, which these formats cannot hold: merge them into their "
            f"base with `tequio checkpoint export --run {options.run} --round {number}`"
        )
    size_bytes = sum((made / name).stat().st_size for name in layout.list_files(made))
    export.check_room(made.parent, len(options.copies) * size_bytes)
    export.rename_with_copies(made, options.target.absolute(), options.copies, progress)


def _verify(
    folder: Path, run: str, round_number: int, origin: WeightsOrigin, progress: WorkProgress
) -> None:
    """Check that a folder is the head of that round; a wrong one is removed."""
    try:
        claim = HeadClaim.parse((folder / layout.CLAIM).read_bytes())
    except OSError as err:
        shutil.rmtree(folder, ignore_errors=True)
        raise UserFacingError(f"not verified: it has no {layout.CLAIM} ({err.strerror})") from err
    lines: tuple[str, ...] = (f"it claims to be round {claim.round} of the run {claim.run[:10]}",)
    outcome = VerifyOutcome.IS_NOT
    if (claim.run, claim.round) == (run, round_number):
        verdict = verify.verify_folder(folder, origin, progress)
        outcome, lines = verdict.outcome, verdict.lines
    if outcome is VerifyOutcome.IS_NOT:
        shutil.rmtree(folder, ignore_errors=True)
    if outcome is not VerifyOutcome.IS_THE_HEAD:
        raise UserFacingError("not verified: " + "; ".join(lines))
