"""Evidence of a fork is named after what was signed, and after nothing else."""

from __future__ import annotations

from msgspec.structs import replace

from tequio_shared.log.cosigning import ForkEvidence

KEY = "log.example/one+00000000+AAAA"
ONE = "log.example/one\n5\nAAAA\n\n— log.example/one BBBB\n"
OTHER = "log.example/one\n5\nCCCC\n\n— log.example/one DDDD\n"
FOUND = ForkEvidence(log_key=KEY, why="two roots", notes=(ONE, OTHER))


def test_the_same_histories_have_one_name_however_they_were_found() -> None:
    cosigned = f"{OTHER}— witness.example/w1 EEEE\n"
    for again in (
        replace(FOUND, why="told by a peer"),
        replace(FOUND, proof=("AAAA",)),
        replace(FOUND, notes=(OTHER, ONE)),
        replace(FOUND, notes=(ONE, cosigned)),
    ):
        assert again.name == FOUND.name
    assert len(FOUND.name) == 16


def test_other_histories_have_another_name() -> None:
    names = {
        found.name
        for found in (
            FOUND,
            replace(FOUND, notes=(ONE, ONE)),
            replace(FOUND, notes=(ONE, OTHER.replace("5", "6"))),
            replace(FOUND, log_key=KEY.replace("one", "two")),
            replace(FOUND, notes=(ONE, "no note at all")),
        )
    }
    assert len(names) == 5
