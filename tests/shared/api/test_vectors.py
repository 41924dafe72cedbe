"""The bytes of every answer: a full and an empty one of each type, frozen."""

from __future__ import annotations

import json
from pathlib import Path

import msgspec
import pytest

from tequio_shared import encoding
from tequio_shared.api import admission, answer, competitions, connector, network, peers, runs
from tequio_shared.api.answer import ROWS
from tequio_shared.api.peers import RankingAnswer
from tequio_shared.errors import MalformedError
from tequio_shared.round.round import RoundPhase

FILE = Path(__file__).parents[2] / "vectors" / "api" / "answers.json"
VECTORS: dict[str, list[str]] = json.loads(FILE.read_text("utf-8"))
TYPES = {
    name: kind
    for module in (admission, answer, competitions, connector, network, peers, runs)
    for name, kind in vars(module).items()
    if isinstance(kind, type)
    and issubclass(kind, msgspec.Struct)
    and kind.__module__ == module.__name__
}


def test_every_type_has_its_vectors() -> None:
    assert TYPES.keys() == VECTORS.keys()


@pytest.mark.parametrize("name", VECTORS)
def test_an_answer_is_read_and_written_to_the_byte(name: str) -> None:
    for raw in VECTORS[name]:
        found = encoding.read(raw.encode(), TYPES[name])
        assert msgspec.json.encode(found).decode() == raw


@pytest.mark.parametrize("name", VECTORS)
def test_a_field_that_this_version_does_not_know_is_passed_over(name: str) -> None:
    for raw in VECTORS[name]:
        more = raw.removesuffix("}") + (',"a_new_field":[1]}' if raw != "{}" else "}")
        assert encoding.read(more.encode(), TYPES[name]) == encoding.read(raw.encode(), TYPES[name])


def test_more_rows_than_an_answer_may_have_are_refused() -> None:
    told = json.loads(VECTORS["RankingAnswer"][0])
    told["rows"] *= ROWS
    encoding.read(json.dumps(told).encode(), RankingAnswer)
    told["rows"] += told["rows"][:1]
    with pytest.raises(MalformedError, match="length"):
        encoding.read(json.dumps(told).encode(), RankingAnswer)


def test_the_phases_of_a_round_are_all_listed() -> None:
    assert msgspec.json.schema(runs.PhaseText)["enum"] == [one.value for one in RoundPhase]


def test_a_word_of_a_later_version_is_read_but_not_what_is_no_word() -> None:
    told = json.loads(VECTORS["RunAnswer"][0])
    told["state"] = "frozen"
    assert encoding.read(json.dumps(told).encode(), runs.RunAnswer).state == "frozen"
    for wrong in ("a\x1b[2J", "a" * 129):
        told["state"] = wrong
        with pytest.raises(MalformedError):
            encoding.read(json.dumps(told).encode(), runs.RunAnswer)
