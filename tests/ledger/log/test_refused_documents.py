"""Documents that were refused are remembered, and refuse no statement that they are right for."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, cast

import pytest

from tequio_ledger.log.documents import DocumentCache
from tequio_shared.errors import RefusedError
from tequio_shared.ids import sha256, to_text
from tequio_shared.keys import Signer
from tequio_shared.statements.competitions import EvalResult
from tequio_shared.statements.statement import make

if TYPE_CHECKING:
    from tequio_ledger.store.blobs import BlobFolder
    from tequio_shared.statements.statement import Statement

DOCUMENT = b"an evaluation"
ONE, TWO = (to_text(sha256(name)) for name in (b"one", b"two"))


def result(competition: str = ONE, entrant: str = "maize", author: int = 1) -> Statement:
    body = EvalResult(
        competition=competition,
        entrant=entrant,
        submission=ONE,
        scores=to_text(sha256(DOCUMENT)),
        salt=ONE,
        millibits=1,
        size_bytes=1,
    )
    signer = Signer(bytes([author]) * 32)
    return make(body=body, author=signer.key, seq=1, ts=1, exp=2, prev=bytes(32))  # type: ignore[arg-type]  # a digest


@pytest.mark.parametrize(
    ("later", "is_refused"),
    [
        (result(), True),
        (result(author=2), False),
        (result(entrant="beans"), False),
        (result(competition=TWO), False),
    ],
    ids=["again", "another author", "another entrant", "another competition"],
)
def test_a_document_is_refused_again_for_the_same_place_only(
    later: Statement, *, is_refused: bool
) -> None:
    cache = DocumentCache(cast("BlobFolder", SimpleNamespace()))
    cache.add(DOCUMENT)
    first = result()
    cache.check(first)
    cache.read(sha256(DOCUMENT))
    cache.remember(first, RefusedError("wrong-scores", "no"))
    assert cache.is_refused(later) is is_refused
