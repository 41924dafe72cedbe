"""A competition's outcome: medians decide, liars are named, few or strange ones do not count."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from tequio_shared import encoding
from tequio_shared.competition import result
from tequio_shared.competition.result import DrawnText, JudgedEntrant
from tequio_shared.competition.rules import CompetitionOutcome, Environment, Evaluation
from tequio_shared.ids import PeerKey, digest_from_text, key_from_text, sha256, to_text
from tequio_shared.limits import JSON_INTEGER
from tequio_shared.scoring import DocumentScore, Refusal
from tests.support import scoring_vectors
from tests.support.attack_table import attack

if TYPE_CHECKING:
    from collections.abc import Sequence

COMPETITION, BEACON = sha256(b"competition"), sha256(b"beacon")
RAW = [f"What was written down on day {at}, and why. ".encode() * 9 for at in range(30)]
TEXTS = [DrawnText.of(one) for one in RAW]
EVEN = [2_000 * text.size_bytes for text in TEXTS]
ENVIRONMENT = Environment(program="tequio 0", torch="2", device="cpu", threads=1)


def evaluation(
    entrant: str, number: int, millibits: Sequence[int], texts: Sequence[DrawnText] = TEXTS
) -> Evaluation:
    return Evaluation(
        competition=to_text(COMPETITION),
        entrant=entrant,
        submission=to_text(sha256(entrant.encode())),
        evaluator=to_text(sha256(b"evaluator", bytes([number]))),
        environment=ENVIRONMENT,
        documents=tuple(
            DocumentScore(
                document=text.document,
                size_bytes=text.size_bytes,
                words=1,
                tokens=1,
                millibits=bits,
                refusal=Refusal.NONE if text.size_bytes else Refusal.EMPTY,
            )
            for text, bits in zip(texts, millibits, strict=True)
        ),
    )


def contender(entrant: str, *said: Sequence[int]) -> JudgedEntrant:
    return told(entrant, *(evaluation(entrant, at, one) for at, one in enumerate(said)))


def told(entrant: str, *evaluations: Evaluation) -> JudgedEntrant:
    return JudgedEntrant(
        entrant=entrant,
        author=PeerKey(sha256(b"author", entrant.encode())),
        submission=sha256(entrant.encode()),
        evaluations=evaluations,
    )


def judged(*contenders: JudgedEntrant, texts: Sequence[DrawnText] = TEXTS) -> CompetitionOutcome:
    found = result.compute_outcome(COMPETITION, BEACON, texts, contenders)
    assert CompetitionOutcome.parse(found.encode()) == found, "fit for a blob"
    return found


def ranks(found: CompetitionOutcome) -> dict[str, int]:
    return {one.entrant: one.rank for one in found.places}


def changed(found: Evaluation, at: int, **fields: Any) -> Evaluation:  # noqa: ANN401 - any field
    documents = list(found.documents)
    documents[at] = msgspec.structs.replace(documents[at], **fields)
    return msgspec.structs.replace(found, documents=tuple(documents))


def test_the_vector_comes_out_to_the_byte() -> None:
    case = scoring_vectors.read("5-outcome")
    found = result.compute_outcome(
        digest_from_text(case["competition"]),
        digest_from_text(case["beacon"]),
        [DrawnText(document=name, size_bytes=size) for name, size in case["texts"]],
        [
            JudgedEntrant(
                entrant=one["entrant"],
                author=key_from_text(one["author"]),
                submission=digest_from_text(one["submission"]),
                evaluations=tuple(msgspec.convert(one["evaluations"], list[Evaluation])),
            )
            for one in case["contenders"]
        ],
    )
    assert json.loads(found.encode()) == case["expected"]["outcome"]
    assert sha256(found.encode()).hex() == case["expected"]["sha256"]
    assert [one.rank for one in found.places] == [1, 1, 1, 0, 0, 0], "six documents"


def test_copies_share_their_rank_and_a_worse_model_comes_after_both() -> None:
    worse = [one * 102 // 100 for one in EVEN]
    found = judged(
        contender("copy", EVEN, EVEN, EVEN),
        contender("worse", worse, worse, worse),
        contender("first", EVEN, EVEN, EVEN),
    )
    assert [(one.entrant, one.rank) for one in found.places] == [
        ("copy", 1),
        ("first", 1),
        ("worse", 3),
    ]
    assert {(one.first, one.other): one.winner for one in found.pairs} == {
        ("copy", "first"): "",
        ("copy", "worse"): "copy",
        ("first", "worse"): "first",
    }


def test_a_liar_among_three_moves_nothing_and_is_named() -> None:
    lie = [one // 2 for one in EVEN]
    found = judged(contender("honest", EVEN, EVEN, EVEN), contender("helped", EVEN, EVEN, lie))
    assert set(ranks(found).values()) == {1}
    liar = to_text(sha256(b"evaluator", bytes([2])))
    helped, honest = found.places
    assert honest.nanobits_per_byte == helped.nanobits_per_byte
    assert [one.evaluator for one in helped.evaluators if one.is_outlier] == [liar]
    (named,) = (one for one in helped.evaluators if one.is_outlier)
    assert (named.off, named.outside) == (sum(lie) - sum(EVEN), len(TEXTS))
    assert not any(one.is_outlier for one in honest.evaluators)


def test_two_liars_of_three_win_and_the_deviations_show_that_they_stand_against_one() -> None:
    lie = [one // 2 for one in EVEN]
    found = judged(contender("honest", EVEN, EVEN, EVEN), contender("helped", EVEN, lie, lie))
    assert ranks(found) == {"helped": 1, "honest": 2}
    (helped,) = (one for one in found.places if one.entrant == "helped")
    honest = to_text(sha256(b"evaluator", bytes([0])))
    assert [one.evaluator for one in helped.evaluators if one.is_outlier] == [honest]
    assert max(abs(one.off) for one in helped.evaluators) == sum(EVEN) - sum(lie)


@attack("W19", layer="coord", ends="fewer than three evaluations that count: not ranked")
def test_with_too_few_evaluators_there_is_no_rank() -> None:
    found = judged(contender("seen", EVEN, EVEN, EVEN), contender("missed", EVEN, EVEN))
    assert ranks(found) == {"seen": 1, "missed": 0}
    assert (found.places[-1].millibits, len(found.places[-1].evaluators)) == (0, 2)
    assert not judged(contender("missed", EVEN, EVEN)).pairs


def test_documents_without_text_are_left_out() -> None:
    texts = [*TEXTS[:-1], DrawnText.of(b"\xff\xfe")]
    bits = [*EVEN[:-1], 0]
    said = tuple(evaluation("one", at, bits, texts) for at in range(3))
    found = judged(told("one", *said), texts=texts)
    assert found.documents == len(TEXTS) - 1
    assert found.places[0].size_bytes == sum(one.size_bytes for one in texts)
    assert found.places[0].nanobits_per_byte == 2_000_000_000


def test_without_any_text_nobody_is_ranked() -> None:
    texts = [DrawnText.of(bytes([255, at])) for at in range(3)]
    said = tuple(evaluation("one", at, [0] * 3, texts) for at in range(3))
    found = judged(told("one", *said), texts=texts)
    assert (found.documents, ranks(found), found.pairs) == (0, {"one": 0}, ())
    assert not any(one.is_outlier for one in found.places[0].evaluators)


@pytest.mark.parametrize("strange", [{"millibits": 1}, {"refusal": Refusal.NONE}])
def test_who_scores_what_is_no_text_is_named_and_not_counted(strange: dict[str, Any]) -> None:
    texts = [*TEXTS[:-1], DrawnText.of(b"\xff\xfe")]
    said = [evaluation("one", at, [*EVEN[:-1], 0], texts) for at in range(4)]
    said[2] = changed(said[2], -1, **strange)
    found = judged(told("one", *said), texts=texts)
    (named,) = (one for one in found.places[0].evaluators if one.is_outlier)
    assert (named.evaluator, named.outside) == (said[2].evaluator, 1)
    assert ranks(judged(told("one", *said[:3]), texts=texts)) == {"one": 0}


@pytest.mark.parametrize(
    "strange",
    [
        {"document": to_text(sha256(b"another text"))},
        {"size_bytes": 1},
        {"refusal": Refusal.EMPTY},
    ],
)
def test_who_scored_other_texts_is_named_and_not_counted(strange: dict[str, Any]) -> None:
    said = [evaluation("one", at, EVEN) for at in range(4)]
    said[2] = changed(said[2], 5, **strange)
    found = judged(told("one", *said))
    assert ranks(found) == {"one": 1}
    assert [(one.outside, one.is_outlier) for one in found.places[0].evaluators].count(
        (1, True)
    ) == 1
    assert ranks(judged(told("one", *said[:3]))) == {"one": 0}


@attack("W19", layer="coord", ends="an evaluation of fewer texts than were drawn is an outlier")
@pytest.mark.parametrize(("texts", "outside"), [(TEXTS[:4], 26), ([*TEXTS, TEXTS[0]], 1)])
def test_who_scored_fewer_or_more_texts_is_named_and_not_counted(
    texts: list[DrawnText], outside: int
) -> None:
    said = [evaluation("one", at, EVEN) for at in range(3)]
    strange = evaluation("one", 3, [2_000 * text.size_bytes for text in texts], texts)
    found = judged(told("one", *said, strange))
    (named,) = (one for one in found.places[0].evaluators if one.is_outlier)
    assert named.outside == outside


def test_a_model_that_is_bad_beyond_counting_costs_nobody_else_a_rank() -> None:
    endless = [JSON_INTEGER // len(TEXTS)] * len(TEXTS)
    found = judged(contender("good", EVEN, EVEN, EVEN), contender("bomb", *[endless] * 3))
    assert ranks(found) == {"good": 1, "bomb": 0}


HALF = JSON_INTEGER // 2


@pytest.mark.parametrize(
    "said",
    [
        ([HALF, HALF, 0], [0, HALF, HALF], [HALF, 0, HALF]),
        [[HALF, HALF, *[0] * 2_047]] * 3,
    ],
    ids=["the sum of the medians", "sums of draws"],
)
def test_a_model_is_not_ranked_if_its_sums_would_not_fit(said: Sequence[list[int]]) -> None:
    texts = [
        DrawnText(document=to_text(sha256(b"%d" % at)), size_bytes=1 << 40)
        for at in range(len(said[0]))
    ]
    evaluations = (evaluation("one", at, one, texts) for at, one in enumerate(said))
    assert ranks(judged(told("one", *evaluations), texts=texts)) == {"one": 0}


def test_the_order_in_which_they_are_given_says_nothing() -> None:
    one, other = contender("one", EVEN, EVEN, EVEN), contender("other", EVEN, EVEN, EVEN)
    backwards = told("other", *reversed(other.evaluations))
    assert judged(one, other) == judged(backwards, one)


def test_an_outcome_is_canonical() -> None:
    raw = judged(contender("one", EVEN, EVEN, EVEN)).encode()
    assert encoding.encode(encoding.parse(raw, len(raw))) == raw


def refusing(entrant: str, number: int, reason: Refusal) -> Evaluation:
    """An evaluation that refuses the model, for the same texts."""
    found = evaluation(entrant, number, [8_000 * text.size_bytes for text in TEXTS])
    documents = (msgspec.structs.replace(one, refusal=reason) for one in found.documents)
    return msgspec.structs.replace(found, documents=tuple(documents))


CHEAP = [50 * text.size_bytes for text in TEXTS]


@attack("C12", layer="coord", ends="not ranked, and the outcome says why")
@attack(
    "C16", layer="coord", ends="an evaluator that scores it all the same is named as an outlier"
)
@pytest.mark.parametrize("believers", [1, 2])
def test_an_entrant_that_half_of_the_evaluators_refuse_is_not_ranked(believers: int) -> None:
    cheat = told(
        "cheat",
        *(refusing("cheat", number, Refusal.AHEAD) for number in (0, 2)),
        *(evaluation("cheat", 1 + 2 * number, CHEAP) for number in range(believers)),
    )
    found = judged(contender("maize", EVEN, EVEN, EVEN), cheat)
    assert ranks(found) == {"maize": 1, "cheat": 0}
    (place,) = (one for one in found.places if one.entrant == "cheat")
    assert (place.refusal, place.millibits, place.low) == (Refusal.AHEAD, 0, 0)
    named = {one.evaluator: one.outside for one in place.evaluators if one.is_outlier}
    assert named == {one.evaluator: len(TEXTS) for one in cheat.evaluations[2:]}
    assert {"cheat"}.isdisjoint(name for pair in found.pairs for name in (pair.first, pair.other))


@attack(
    "C16",
    layer="coord",
    ends="it is ranked by the others, and the one that refuses it is an outlier",
)
def test_one_evaluator_cannot_remove_an_honest_entrant() -> None:
    maize = told(
        "maize",
        evaluation("maize", 0, EVEN),
        refusing("maize", 1, Refusal.RANDOM),
        evaluation("maize", 2, EVEN),
    )
    found = judged(maize, contender("bean", CHEAP, CHEAP, CHEAP))
    assert ranks(found) == {"bean": 1, "maize": 2}
    (place,) = (one for one in found.places if one.entrant == "maize")
    assert (place.refusal, place.millibits) == (Refusal.NONE, sum(EVEN))
    assert [one.evaluator for one in place.evaluators if one.is_outlier] == [
        maize.evaluations[1].evaluator
    ]


@attack("C16", layer="coord", ends="it does not count: a reason is about the whole model")
@pytest.mark.parametrize(("other", "outside"), [(Refusal.NONE, 1), (Refusal.KIND, len(TEXTS))])
def test_an_evaluation_that_refuses_a_model_for_some_texts_is_not_valid(
    other: Refusal, outside: int
) -> None:
    mixed = changed(refusing("maize", 1, Refusal.AHEAD), 3, refusal=other)
    found = judged(
        told("maize", evaluation("maize", 0, EVEN), mixed, evaluation("maize", 2, EVEN)),
        contender("bean", EVEN, EVEN, EVEN),
    )
    assert ranks(found) == {"bean": 1, "maize": 0}, "two valid evaluations are too few"
    (place,) = (one for one in found.places if one.entrant == "maize")
    assert place.refusal is Refusal.NONE
    assert [one.outside for one in place.evaluators if one.is_outlier] == [outside]
