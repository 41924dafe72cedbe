"""The parts of a made-up competition: people, dates, texts, their sealed set, and the rules."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tequio_client.organiser import sealing
from tequio_shared import sealed_set
from tequio_shared.competition.rules import (
    Budget,
    CompetitionRules,
    Dates,
    Scoring,
    Submission,
    SubmittedFile,
)
from tequio_shared.competition.sealed_archive import ArchiveHead, DocumentStart
from tequio_shared.ids import sha256, to_text
from tequio_shared.log import merkle
from tequio_shared.sealed_set import KeyShare, SealedSet
from tests.support.memory_log import NOW_MS

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from tequio_shared.ids import PeerKey

HOUR_MS = 3_600_000
OPENS, DEADLINE, DRAW, SCORED, RESULT = (NOW_MS + HOUR_MS * n for n in (1, 5, 6, 8, 9))
TEXTS = tuple(f"On day {at} the rain came back, and {at * 7} birds. " * 6 for at in range(9))
ENTRANTS = {"alpha": 2_000, "beta": 2_200}
"""The entrants, and the millibits that each needs per byte."""
EVALUATORS = ("eva", "edu", "ema", "eli")
CUSTODIANS = ("carla", "carlos", "celia")
KEY = bytes(range(64, 96))
NEEDED = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Sealing:
    """A sealed set, its archive, and the custodians' shares."""

    sealed: SealedSet
    archive: bytes
    shares: tuple[KeyShare, ...]

    @classmethod
    def of(cls, texts: Sequence[str]) -> Sealing:
        """Seal the texts."""
        salts = [sha256(b"salt", bytes([at]))[:16] for at in range(len(texts))]
        raws = [text.encode() for text in texts]
        leaves = [
            sealed_set.document_leaf(salt, (raw,)) for salt, raw in zip(salts, raws, strict=True)
        ]
        head = ArchiveHead(
            root=merkle.root_of_hashes(leaves),
            documents=len(raws),
            size_bytes=sum(map(len, raws)),
        )
        plain = b"".join(leaves) + b"".join(
            DocumentStart(index=at, salt=salts[at], size_bytes=len(raw)).encode() + raw
            for at, raw in enumerate(raws)
        )
        return cls._closed(head, b"".join(sealing.encrypt(KEY, head, (plain,))))

    @classmethod
    def _closed(cls, head: ArchiveHead, archive: bytes) -> Sealing:
        shares = tuple(
            KeyShare(index=at, needed=NEEDED, shares=len(CUSTODIANS), root=head.root, value=value)
            for at, value in enumerate(sealing.split_key(KEY, NEEDED, len(CUSTODIANS)), 1)
        )
        sealed = SealedSet(
            root=to_text(head.root),
            documents=head.documents,
            size_bytes=head.size_bytes,
            archive=to_text(sha256(archive)),
            needed=NEEDED,
            shares=tuple(to_text(one.name) for one in shares),
        )
        return cls(sealed=sealed, archive=archive, shares=shares)


def rules(
    sealed: SealedSet, custodians: Sequence[PeerKey], window: int, drawn: int
) -> CompetitionRules:
    """The rules of a competition on that set, without limits to the models."""
    return CompetitionRules(
        name="Rainy days 2026",
        sealed=sealed,
        archive="",
        custodians=tuple(map(to_text, custodians)),
        budget=Budget(parameters=0, tokens=0, hours=0),
        dates=Dates(opens=OPENS, deadline=DEADLINE, draw=DRAW, scored=SCORED, result=RESULT),
        scoring=Scoring(window=window, stride=window // 2, documents=drawn, evaluators=3),
        data="",
    )


def folder_of(entrant: str, folder: Path | None = None) -> Submission:
    """A folder on the Hub; its files are those of a local folder, or made up."""
    files = {"model.safetensors": b"weights of " + entrant.encode()}
    if folder is not None:
        files = {one.name: one.read_bytes() for one in folder.iterdir()}
    return Submission(
        run="",
        round=0,
        weights_root="",
        repo=f"user/{entrant}",
        revision=hashlib.sha1(entrant.encode(), usedforsecurity=False).hexdigest(),
        files=tuple(
            SubmittedFile(name=name, size_bytes=len(raw), sha256=to_text(sha256(raw)))
            for name, raw in sorted(files.items())
        ),
    )
