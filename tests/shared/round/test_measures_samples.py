"""Samples of what heads write: which texts the log takes, and which of several is shown."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tequio_shared.errors import MalformedError
from tequio_shared.limits import SAMPLE_BYTES, SAMPLE_PROMPT_BYTES
from tequio_shared.round import measures
from tequio_shared.statements import runs
from tequio_shared.statements.runs import Sample
from tests.support.attack_table import attack
from tests.support.measurers import measure, read


def test_a_measure_without_a_sample_is_spelt_as_before() -> None:
    assert "sample" not in msgspec.to_builtins(measure(None))


@pytest.mark.parametrize("text", ["", "a time\nthere was", "¡Había una vez! 从前 🦊", "<script>"])
def test_a_text_for_eyes_is_taken_as_it_is(text: str) -> None:
    assert read(measure(text)) == measure(text)
    assert runs.clean_sample(text, SAMPLE_BYTES) == text


@attack("P10", layer="log", ends="refused: too long, or with control characters")
@pytest.mark.parametrize(
    "text",
    [
        "x" * (SAMPLE_BYTES + 1),
        "é" * (SAMPLE_BYTES // 2 + 1),
        "\x00",
        "\x1b[2J",
        "a\rb",
        "a\tb",
        "\x7f",
        "\x85",
        "\u2028",
        "\u202eback",
        "\u2066",
        "\ufeff",
        "\uffff",
        "\U000e0041",
    ],
)
def test_a_text_that_is_more_than_text_is_refused(text: str) -> None:
    with pytest.raises(MalformedError):
        read(measure(""), text=text)
    shown = runs.clean_sample(text, SAMPLE_BYTES)
    assert read(measure(""), text=shown).sample == Sample(prompt="Once upon", text=shown)


def test_a_beginning_is_bound_more_tightly() -> None:
    assert read(measure("", prompt="x" * SAMPLE_PROMPT_BYTES)).sample is not msgspec.UNSET
    with pytest.raises(MalformedError, match="prompt"):
        read(measure(""), prompt="x" * (SAMPLE_PROMPT_BYTES + 1))


@given(st.text(), st.integers(0, 40))
def test_whatever_a_model_writes_fits_into_the_log(text: str, most_bytes: int) -> None:
    fitted = runs.clean_sample(text, most_bytes)
    assert len(fitted.encode()) <= most_bytes
    assert Sample(prompt=fitted, text=fitted) == msgspec.convert(
        {"prompt": fitted, "text": fitted}, Sample
    )


def test_what_most_agree_on_longest_is_shown() -> None:
    said = {
        "liar": measure("buy my things at once, all of them", millibits=7_000),
        "one": measure(" a time there was a fox", millibits=7_001),
        "other": measure(" a time there was a dog", millibits=6_999),
    }
    name, sample = measures.best_sample(said) or ("", None)
    assert name == "one", "of two that agree as far, the first"
    assert sample == said["one"].sample


def test_without_agreement_the_median_member_is_shown() -> None:
    said = {
        "a": measure("x", millibits=7_002),
        "b": measure("y"),
        "c": measure("z", millibits=6_999),
    }
    assert (measures.best_sample(said) or ("",))[0] == "b"


@attack("P10", layer="coord", ends="an outlier's sample is shown nowhere")
def test_an_outlier_and_another_beginning_are_not_shown() -> None:
    said = {
        "far": measure("mine", millibits=9_000),
        "elsewhere": measure("same", prompt="Other", millibits=7_002),
        "one": measure("same", millibits=7_001),
        "silent": measure(None),
        "other": measure("some", millibits=7_000),
    }
    assert (measures.best_sample(said) or ("",))[0] == "one"
    assert (
        measures.best_sample({"far": said["far"], "b": measure(None), "c": measure(None)}) is None
    )
    assert measures.best_sample({}) is None
