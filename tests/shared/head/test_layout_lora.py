"""A frozen base: its manifest says exactly which pairs are trained, and points know what is not."""

from __future__ import annotations

import math
from typing import Any

import msgspec
import pytest

from tequio_shared.errors import MalformedError
from tequio_shared.head import layout, nf4
from tequio_shared.head.layout import BaseFile, FrozenBase
from tequio_shared.ids import sha256, to_text
from tequio_shared.limits import JSON_INTEGER
from tequio_shared.round.manifest import Manifest
from tests.support.tiny_run import tiny_manifest

MODULES = {
    "model.layers.0.self_attn.q_proj": (64, 48),
    "model.layers.0.self_attn.v_proj": (16, 48),
}
A, B = ".lora_A.weight", ".lora_B.weight"
Q = "base_model.model.model.layers.0.self_attn.q_proj"
FILE = BaseFile(name="model.safetensors", size_bytes=20_000, root=to_text(sha256(b"base")))
HUGE = tuple(
    msgspec.structs.replace(FILE, name=f"{part}.safetensors", size_bytes=JSON_INTEGER)
    for part in "ab"
)
BASE = FrozenBase(
    source="some/model",
    revision="ab" * 20,
    parameters=10_000,
    files=(FILE,),
    rank=4,
    alpha=8,
    targets=("q_proj", "v_proj"),
)


def lora_manifest(**fields: Any) -> Manifest:  # noqa: ANN401 - any field of the base
    """The tiny run, as one of adapters; `tensors` and `aliases` change the model."""
    plain = tiny_manifest()
    tensors = fields.pop("tensors", layout.adapter_pairs(MODULES, 4))
    model = msgspec.structs.replace(
        plain.model,
        tensors=tensors,
        aliases=fields.pop("aliases", ()),
        parameters=sum(math.prod(shape) for _, shape in tensors),
    )
    base = msgspec.structs.replace(BASE, **fields)
    return msgspec.structs.replace(plain, model=model, base=base)


def test_pairs_bear_the_names_that_peft_gives_them_and_lead_back_to_their_modules() -> None:
    listed = layout.adapter_pairs(MODULES, 4)
    assert listed[:2] == ((Q + A, (4, 48)), (Q + B, (64, 4)))
    assert layout.adapted_modules(listed) == MODULES
    assert layout.adapted_modules([("model.norm.weight", (48,))]) == {}


@pytest.mark.parametrize("rank", [4, 16])
def test_a_manifest_with_a_base_survives_its_bytes(rank: int) -> None:
    manifest = lora_manifest(rank=rank, tensors=layout.adapter_pairs(MODULES, rank))
    assert Manifest.parse(manifest.encode()) == manifest
    assert manifest.frozen == msgspec.structs.replace(BASE, rank=rank)
    assert manifest.parameters == 10_000 + rank * (48 + 64 + 48 + 16)
    assert BASE.scale == 2.0


def test_a_base_whose_parameters_are_few_takes_no_less_than_its_matrices() -> None:
    base = msgspec.structs.replace(BASE, bits=4, parameters=1_000)
    held = layout.held_bytes(base, layout.adapter_pairs(MODULES, 4))
    assert held == sum(nf4.size_bytes(*sides) for sides in MODULES.values())


def test_a_manifest_without_one_is_what_it_was_before() -> None:
    plain = tiny_manifest()
    assert b'"base"' not in plain.encode()
    assert plain.frozen is None
    assert plain.parameters == plain.model.parameters


def test_frozen_weights_are_paid_for_forward_and_backward_but_not_for_a_gradient() -> None:
    manifest = lora_manifest()
    due = 10**9 * (6 * manifest.model.parameters + 4 * 10_000) // 10**9
    assert manifest.gflop(10**9) == due
    plain = tiny_manifest()
    assert plain.gflop(10**9) == 6 * plain.model.parameters


@pytest.mark.parametrize(
    ("fields", "named"),
    [
        ({"rank": 0}, "base.rank"),
        ({"rank": 1_025}, "base.rank"),
        ({"rank": 8}, "pairs of rank 8"),
        ({"rank": 32, "tensors": layout.adapter_pairs(MODULES, 32)}, "v_proj has only 16"),
        ({"targets": ("k_proj", "q_proj", "v_proj")}, "'k_proj'"),
        ({"targets": ("q_proj",)}, "'v_proj'"),
        ({"targets": ("v_proj", "q_proj")}, "ascending"),
        ({"targets": ("q_proj", "q_proj", "v_proj")}, "unique"),
        ({"targets": ()}, "base.targets"),
        ({"targets": ("q.proj",)}, "base.targets"),
        ({"alpha": 0}, "base.alpha"),
        ({"files": ()}, "base.files"),
        ({"files": (FILE, FILE)}, "base.files"),
        ({"files": HUGE}, "base.parameters"),
        ({"parameters": 10_001}, "base.parameters"),
        ({"aliases": ((Q + "x", Q + A),)}, "model.aliases"),
        ({"tensors": layout.adapter_pairs(MODULES, 4)[:3]}, "pairs of rank 4"),
        ({"tensors": (("model.norm.weight", (4, 4)),)}, "pairs of rank 4"),
        ({"tensors": ((Q + A, ()), (Q + B, (64, 4)))}, "pairs of rank 4"),
        ({"tensors": ((Q + A, (4, 48)), (Q + B, ()))}, "pairs of rank 4"),
        ({"source": "../etc"}, "base.source"),
        ({"revision": "main"}, "base.revision"),
        ({"files": (msgspec.structs.replace(FILE, name="a/b.safetensors"),)}, "name"),
        ({"files": (msgspec.structs.replace(FILE, name="model.bin"),)}, "name"),
    ],
)
def test_what_is_no_base_is_refused_by_name(fields: dict[str, Any], named: str) -> None:
    with pytest.raises(MalformedError, match=named):
        Manifest.parse(lora_manifest(**fields).encode())
