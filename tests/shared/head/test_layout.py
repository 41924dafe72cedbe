"""Where parameters stand in the flat array."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tequio_shared.errors import MalformedError, RefusedError
from tequio_shared.head.layout import CHUNK, MOST_CHUNKS, LayoutKind, WeightLayout, count_chunks
from tests.support import head_vectors as vectors

PRIMITIVES = vectors.primitives()


def numbered(layout: WeightLayout) -> dict[str, np.ndarray[Any, np.dtype[np.int32]]]:
    """Every parameter with a number of its own, from 1."""
    tensors, at = {}, 1
    for one in layout.placements:
        values = np.arange(at, at + one.parameters, dtype=np.int32)
        tensors[one.name] = values.reshape(one.shape)
        at += one.parameters
    return tensors


@pytest.mark.parametrize("kind", ["flat", "tile64"])
def test_offsets_are_the_vectors_offsets(kind: LayoutKind) -> None:
    want = PRIMITIVES[f"layout_{kind}"]
    layout = WeightLayout.of(want["tensors"], kind)
    assert layout.chunks == want["chunks"]
    assert layout.matrix_end == want["matrix_elements"]
    assert {one.name: one.offset for one in layout.placements} == want["offsets"]


@pytest.mark.parametrize("name", vectors.NAMES)
def test_the_cases_layouts_are_the_vectors_layouts(name: str) -> None:
    case = vectors.load(name)
    want, layout = case.expected["layout"], case.step.layout
    assert (layout.chunks, layout.matrix_end) == (want["chunks"], want["matrix_elements"])
    assert {one.name: one.offset for one in layout.placements} == want["offsets"]
    padding = layout.padding(0, layout.chunks)
    assert int(padding.masks.sum()) == want["padding_elements"]
    assert layout.elements - layout.parameters == want["padding_elements"]


def test_tiles_stand_row_by_row() -> None:
    want = PRIMITIVES["layout_tile64"]
    layout = WeightLayout.of(want["tensors"], "tile64")
    flat = layout.flatten(numbered(layout))
    for row, column, position in want["position_of_a_row_col"]:
        assert flat[position] == row * 130 + column + 1


@settings(max_examples=40, deadline=None, derandomize=True)
@given(
    kind=st.sampled_from(["flat", "tile64"]),
    shapes=st.lists(
        st.lists(st.integers(1, 90), min_size=0, max_size=2).map(tuple), min_size=1, max_size=4
    ),
)
def test_flatten_and_unflatten_are_inverse_and_padding_is_the_rest(
    kind: LayoutKind, shapes: list[tuple[int, ...]]
) -> None:
    layout = WeightLayout.of([(f"t{at}", shape) for at, shape in enumerate(shapes)], kind)
    tensors = numbered(layout)
    flat = layout.flatten(tensors)
    for name, tensor in layout.unflatten(flat).items():
        assert (tensor == tensors[name]).all()
    padding = layout.padding(0, layout.chunks)
    assert ((flat == 0).reshape(-1, CHUNK)[padding.chunks] == padding.masks).all()
    assert int(padding.masks.sum()) == layout.elements - layout.parameters
    flat += 1
    padding.blank(flat)
    assert np.count_nonzero(flat) == layout.parameters


def test_padding_of_a_part_counts_from_its_first_chunk() -> None:
    layout = WeightLayout.of([("a", (40, 100)), ("b", (64, 64)), ("c", (7,))], "flat")
    assert layout.padding(0, 3).chunks.tolist() == [0, 2]
    assert layout.padding(1, 3).chunks.tolist() == [1]
    assert layout.padding(1, 2).chunks.tolist() == []


@pytest.mark.parametrize(
    "tensors",
    [
        [],
        [("b", (2,)), ("a", (2,))],
        [("a", (2,)), ("a", (2,))],
        [("a", (2, 0))],
        [("a", (MOST_CHUNKS + 1, CHUNK))],
    ],
)
def test_tensors_that_no_manifest_may_list_are_malformed(tensors: Any) -> None:  # noqa: ANN401  (broken on purpose)
    with pytest.raises(MalformedError):
        WeightLayout.of(tensors, "flat")


def test_a_model_may_have_the_most_chunks() -> None:
    assert count_chunks([("a", (MOST_CHUNKS, CHUNK))], "flat") == MOST_CHUNKS


def test_names_are_ordered_by_their_bytes() -> None:
    layout = WeightLayout.of([("layers.10", (3,)), ("layers.2", (4,))], "flat")
    assert [one.offset for one in layout.placements] == [0, 3]


def test_other_tensors_are_refused() -> None:
    layout = WeightLayout.of([("a", (2, 2))], "flat")
    with pytest.raises(RefusedError):
        layout.flatten({"b": np.zeros((2, 2))})
    with pytest.raises(RefusedError):
        layout.flatten({"a": np.zeros((4,))})
    with pytest.raises(RefusedError):
        layout.unflatten(np.zeros(4))
