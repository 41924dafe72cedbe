"""Six lies about a competition that ran on this computer, each of which an audit must find.

`make competition` runs this after the demo: `python -m tests.lies FOLDER`, where FOLDER is what
`tequio competition demo --dir FOLDER` left, with everybody's keys and the bundle that an honest
auditor kept. For each lie the ledger's log is rewritten, with every signature valid, and the real
`tequio verify-competition` checks it in a separate process. It must end with exit status 2 and
name the lie at the right entry; otherwise this program ends with status 1.

The lies are part of the tests and of no package: no program that forges a log is shipped.
`tests/client/verify` tells the same lies about a synthetic competition.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from tequio_client.keys import identity
from tequio_client.verify.competition import VerifyOptions, verify
from tequio_client.verify.report import NoProgress
from tequio_ledger.data_folder import DataFolder
from tequio_ledger.signing import client
from tequio_shared.errors import UserFacingError
from tests.support.rewritten_log import RewrittenLog
from tests.support.six_lies import LIES

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tequio_client.verify.competition import JudgedCompetition
    from tequio_shared.keys import Signer
    from tests.support.six_lies import Lie


BUNDLE = "competition.tar"
FOUND = 2
"""Exit status of `tequio verify-competition` for a log that does not hold."""


@dataclass(frozen=True, slots=True, kw_only=True)
class VerifierResult:
    """Result of `tequio verify-competition` on a log with a lie."""

    status: int
    reason: str
    """The line that names the lie; empty: no line does."""

    @property
    def is_caught(self) -> bool:
        """True if the lie was found and named."""
        return self.status == FOUND and bool(self.reason)


@dataclass(frozen=True, slots=True, kw_only=True)
class ForgeableCompetition:
    """A competition's bundle, its honest outcome, and all keys that a forger needs."""

    bundle: Path
    honest: JudgedCompetition
    signers: Sequence[Signer]

    @classmethod
    def of(cls, bundle: Path, signers: Sequence[Signer]) -> ForgeableCompetition:
        """Start from an honest auditor's bundle; raises UserFacingError if it does not verify."""
        found = verify(VerifyOptions.of(str(bundle)), NoProgress())
        if found.judged is None or found.report.findings:
            raise UserFacingError(f"{bundle} holds no competition that is sound")
        return cls(bundle=bundle, honest=found.judged, signers=signers)

    def forged_bundle(self, lie: Lie, to: Path) -> tuple[Path, int]:
        """Write the bundle of a log with the lie; return it and the entry that must be named."""
        log = RewrittenLog.of(self.bundle, self.signers)
        entry = lie.tell(log, self.honest)
        return log.written(to), entry


@click.command()
@click.argument("folder", type=click.Path(path_type=Path, exists=True, file_okay=False))
def main(folder: Path) -> None:
    """Tell each lie about the competition in FOLDER, and have a stranger check it."""
    competition, spare = (
        ForgeableCompetition.of(folder / BUNDLE, list(signers(folder))),
        folder / "lies",
    )
    shutil.rmtree(spare, ignore_errors=True)
    spare.mkdir()
    click.echo(
        f"Now the ledger, in league with liars and with everybody's keys, tells {len(LIES)} lies "
        "about that competition.\nA stranger checks each by `tequio verify-competition`, which has "
        "to end with exit status 2 and say why:"
    )
    missed = 0
    for number, lie in enumerate(LIES, 1):
        forged, entry = competition.forged_bundle(lie, spare / f"lie-{number}.tar")
        result = run_verifier(lie, forged, entry)
        missed += not result.is_caught
        click.echo(f"  {number}. {lie.name}: exit status {result.status}")
        click.echo(f"     {result.reason or 'NOT FOUND: nothing that was said names it'}")
    if missed:
        click.echo(f"{missed} of {len(LIES)} would pass: see above, and the bundles in {spare}")
        sys.exit(1)
    click.echo(f"A stranger found and named every one, from the log alone. They are in {spare}.")


def run_verifier(lie: Lie, forged: Path, entry: int) -> VerifierResult:
    """Verify a bundle in a separate process."""
    found = forged.with_suffix(".json")
    command = (sys.executable, "-m", "tequio_client", "verify-competition", str(forged))
    stranger = subprocess.run(
        [*command, "--json", str(found)], stdout=subprocess.DEVNULL, check=False
    )
    report = json.loads(found.read_bytes()) if found.exists() else {"findings": []}
    return VerifierResult(status=stranger.returncode, reason=reason(lie, entry, report))


def reason(lie: Lie, entry: int, report: dict[str, Any]) -> str:
    """The first line of a report that names the lie at its entry."""
    lines = (_line(one) for one in report["findings"] if one["entry"] == entry)
    return next((one for one in lines if all(part in one for part in lie.says)), "")


def signers(folder: Path) -> Iterator[Signer]:
    """All keys in a folder: those of every participant and of the ledger."""
    for path in sorted(folder.rglob(identity.KEY_FILE)):
        yield identity.load(path.parent)
    ledger = DataFolder(folder / "ledger")
    for name in (client.KEY, "coordinator"):
        if ledger.holds_key(name):
            yield ledger.signer(name)


def _line(one: dict[str, Any]) -> str:
    """A finding in words."""
    text = f"{one['grade']}: {one['what']} at entry {one['entry']}"
    text += f": {one['detail']}" if one["detail"] else ""
    if one["expected"] is None and one["found"] is None:
        return text
    return f"{text}; expected {one['expected']}, found {one['found']}"


if __name__ == "__main__":
    main()
