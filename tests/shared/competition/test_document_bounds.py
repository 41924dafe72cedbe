"""The largest valid documents fit the bounds that readers know before they read them."""

from __future__ import annotations

import msgspec
import pytest

from tequio_shared.competition.rules import (
    DRAWN_DOCUMENTS,
    ENTRANTS,
    EVALUATORS,
    FILES,
    SCORE_BYTES,
    ComparedEntrants,
    CompetitionOutcome,
    Environment,
    Evaluation,
    JudgedEvaluation,
    RankedEntrant,
    Submission,
    SubmittedFile,
    evaluation_bytes,
    outcome_bytes,
)
from tequio_shared.errors import MalformedError
from tequio_shared.ids import to_text
from tequio_shared.limits import DOCUMENT_BYTES, JSON_INTEGER, RECEIVERS
from tequio_shared.round.documents import RoundResult, SlotResult, result_bytes
from tequio_shared.scoring import DocumentScore, Refusal

NAME = to_text(bytes(32))
LONGEST = "a" * 32


def evaluation(documents: int) -> Evaluation:
    """The evaluation of that many documents that has most bytes."""
    words = "\\" * 128  # each is written as two
    score = DocumentScore(
        document=NAME,
        size_bytes=JSON_INTEGER,
        words=JSON_INTEGER,
        tokens=JSON_INTEGER,
        millibits=JSON_INTEGER,
        refusal=Refusal.ROUND_TRIP,
    )
    return Evaluation(
        competition=NAME,
        entrant=LONGEST,
        submission=NAME,
        evaluator=NAME,
        environment=Environment(program=words, torch=words, device=words, threads=JSON_INTEGER),
        documents=(score,) * documents,
    )


@pytest.mark.parametrize("documents", [1, 2, DRAWN_DOCUMENTS])
def test_the_largest_evaluation_fits_its_bound(documents: int) -> None:
    raw = evaluation(documents).encode()
    assert len(raw) <= evaluation_bytes(documents) < len(raw) + 1_024 + SCORE_BYTES
    assert Evaluation.parse(raw).encode() == raw


def test_a_submission_of_most_files_fits_its_statement() -> None:
    files = tuple(
        SubmittedFile(
            name=f"model-{at:05}-of-{FILES:05}.safetensors", size_bytes=50 << 30, sha256=NAME
        )
        for at in range(FILES)
    )
    made = Submission(
        run="",
        round=0,
        weights_root="",
        repo="a" * 96 + "/" + "b" * 96,
        revision="0" * 40,
        files=files,
    )
    assert Submission.parse(made.encode()) == made
    with pytest.raises(MalformedError):
        Submission.parse(msgspec.structs.replace(made, files=(*files, files[-1])).encode())


def outcome(entrants: int, evaluators: int) -> CompetitionOutcome:
    """The outcome of those that has most bytes."""
    judged = JudgedEvaluation(
        evaluator=NAME,
        scores=NAME,
        millibits=JSON_INTEGER,
        off=-JSON_INTEGER,
        outside=JSON_INTEGER,
        is_outlier=False,
    )
    names = [f"{at:02}" + LONGEST[2:] for at in range(entrants)]
    places = [
        RankedEntrant(
            entrant=name,
            author=NAME,
            submission=NAME,
            rank=JSON_INTEGER,
            millibits=JSON_INTEGER,
            size_bytes=JSON_INTEGER,
            nanobits_per_byte=JSON_INTEGER,
            low=JSON_INTEGER,
            high=JSON_INTEGER,
            evaluators=(judged,) * evaluators,
            refusal=max(Refusal, key=len),
        )
        for name in names
    ]
    pair = ComparedEntrants(
        first=LONGEST,
        other=LONGEST,
        low=-JSON_INTEGER,
        high=-JSON_INTEGER,
        against=JSON_INTEGER,
        winner=LONGEST,
    )
    return CompetitionOutcome(
        competition=NAME,
        beacon=NAME,
        documents=JSON_INTEGER,
        places=tuple(places),
        pairs=(pair,) * (entrants * (entrants - 1)),
    )


@pytest.mark.parametrize(("entrants", "evaluators"), [(0, 3), (1, 3), (2, 16), (64, 16)])
def test_the_largest_outcome_fits_its_bound(entrants: int, evaluators: int) -> None:
    raw = outcome(entrants, evaluators).encode()
    assert len(raw) <= outcome_bytes(entrants, evaluators)
    assert CompetitionOutcome.parse(raw).encode() == raw
    assert (entrants, evaluators) <= (ENTRANTS, EVALUATORS)


@pytest.mark.parametrize("slots", [0, 1, 4_095])
def test_the_largest_result_fits_its_bound(slots: int) -> None:
    row = SlotResult(
        contribution=NAME,
        verdict=JSON_INTEGER,
        reason=JSON_INTEGER,
        windows=JSON_INTEGER,
        ms=JSON_INTEGER,
        trainer_gflop=JSON_INTEGER,
        witness_gflop=JSON_INTEGER,
        given=((NAME, JSON_INTEGER),) * RECEIVERS,
    )
    raw = RoundResult(slots=(row,) * slots).encode()
    assert len(raw) <= result_bytes(slots) <= DOCUMENT_BYTES
    assert RoundResult.parse(raw).encode() == raw


def test_text_that_is_something_else_is_refused_without_a_tree() -> None:
    bomb = b"[" + b",".join([b"[[[[[]]]]]"] * 100_000) + b"]"
    with pytest.raises(MalformedError, match="not a valid Evaluation"):
        Evaluation.parse(bomb)
