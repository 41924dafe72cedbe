"""Opening a competition: the documents to the ledger, then the organisers' word."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import trio

from tequio_client.clock import now_ms
from tequio_client.competition import moments, rules_document
from tequio_client.ledger.api import LedgerApi
from tequio_client.organiser import decision, signers
from tequio_client.organiser.sealing import ARCHIVE
from tequio_client.worker import endings
from tequio_shared.errors import UserFacingError
from tequio_shared.ids import sha256, to_text
from tequio_shared.limits import BLOB_BYTES
from tequio_shared.statements.competitions import CompOpen

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from tequio_shared.competition_rules import CompetitionRules


def open_(
    ledger: str, rules_file: Path, sealed: Path | None, folders: Sequence[Path], out: Path | None
) -> tuple[CompetitionRules, str]:
    """Open a competition as the organisers in the folders; gives its rules and what came of it.

    `sealed` is the folder with the archive, where the ledger is to keep that. Raises
    UserFacingError.
    """
    rules = rules_document.read(rules_file)
    if rules.dates.deadline <= now_ms():
        raise UserFacingError(
            f"the deadline in {rules_file} is over ({moments.told(rules.dates.deadline)}): "
            "make the rules anew"
        )
    documents = [rules.encode()]
    if not rules.archive:
        documents.append(_archive(rules, rules_file, sealed))
    with decision.held(folders), endings.reached(ledger):
        said = trio.run(partial(_open, ledger, rules, documents, folders, out))
    return rules, said


async def _open(
    ledger: str,
    rules: CompetitionRules,
    documents: Sequence[bytes],
    folders: Sequence[Path],
    out: Path | None,
) -> str:
    async with LedgerApi(ledger) as api:
        signer = signers.of(folders[0], await api.network())
        for one in documents:
            await api.put_blob(one, signer, now_ms())
        return await decision.make(api, CompOpen(competition=to_text(rules.id)), folders, out)


def _archive(rules: CompetitionRules, rules_file: Path, sealed: Path | None) -> bytes:
    if sealed is None:
        raise UserFacingError(
            f"{rules_file} leaves the archive to the ledger: give the sealed folder with --sealed"
        )
    path = sealed / ARCHIVE
    try:
        with path.open("rb") as file:
            raw = file.read(BLOB_BYTES + 1)
    except OSError as err:
        raise UserFacingError(f"cannot read {path}: {err.strerror}") from err
    if to_text(sha256(raw)) != rules.sealed.archive:
        raise UserFacingError(f"{path} is not the archive that {rules_file} commits to")
    return raw
