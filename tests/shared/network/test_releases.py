"""The releases that organisers name: which may follow, are kept, and which minimum applies."""

from __future__ import annotations

import pytest

from tequio_shared.errors import RefusedError
from tequio_shared.ids import sha256, to_text
from tequio_shared.network.releases import RELEASES, ReleaseHistory
from tequio_shared.statements.network import SoftwareRelease


def release(
    number: int, version: str = "0.3.0", minimum: str = "0.1.0", content: bytes = b""
) -> SoftwareRelease:
    targets = to_text(sha256(b"list %d" % number + content))
    return SoftwareRelease(
        version=version, minimum=minimum, targets=targets, targets_version=number
    )


def test_the_last_statement_has_the_minimum_and_each_list_is_found() -> None:
    history = ReleaseHistory()
    assert (history.newest, history.named(1)) == (None, None)
    history.apply(3, release(1))
    history.apply(9, release(4, "0.4.0", "0.3.0"))
    assert history.newest is not None
    assert (history.newest.index, history.newest.minimum) == (9, "0.3.0")
    first = history.named(1)
    assert first is not None
    assert (first.index, first.targets) == (3, sha256(b"list 1"))
    assert history.named(2) is None, "a list that nobody named"


def test_a_minimum_can_be_lowered_without_another_list() -> None:
    history = ReleaseHistory()
    history.apply(3, release(1))
    history.apply(5, release(2, "0.4.0", "0.4.0"))
    history.apply(7, release(2, "0.4.0", "0.1.0"))
    assert [(one.index, one.minimum) for one in history.releases] == [(3, "0.1.0"), (7, "0.1.0")]


@pytest.mark.parametrize(
    ("body", "why"),
    [(release(4), "older than 5"), (release(5, content=b"other"), "another hash")],
    ids=["older", "two hashes"],
)
def test_a_list_that_does_not_follow_is_refused_and_changes_nothing(
    body: SoftwareRelease, why: str
) -> None:
    history = ReleaseHistory()
    history.apply(3, release(5))
    before = list(history.releases)
    with pytest.raises(RefusedError, match=why) as refused:
        history.apply(4, body)
    assert refused.value.code == "wrong-state"
    assert history.releases == before


def test_only_the_newest_lists_are_kept() -> None:
    history = ReleaseHistory()
    for number in range(1, RELEASES + 4):
        history.apply(number, release(number))
    assert len(history.releases) == RELEASES
    assert history.named(3) is None
    assert history.named(4) is not None
