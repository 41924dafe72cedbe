"""Adapters beside a frozen base: what they compute, what is trained, and what is refused."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file
from torch.nn import functional

from tequio_client.trainer import adapters, codecs, model, screen, weights
from tequio_client.trainer.inner import Optimiser
from tequio_client.trainer.likeness import Likeness, sketch
from tequio_shared.errors import UserFacingError
from tequio_shared.head import layout as head_layout
from tequio_shared.head.contribution import RecordShape
from tequio_shared.head.layout import WeightLayout
from tequio_shared.round.manifest import Algorithm, InnerParams, Manifest
from tests.support.frozen_base import EVERY, first, lora_run, write_base

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tequio_client.trainer.model import CausalModel

IDS = torch.randint(0, 256, (3, 33), generator=torch.Generator().manual_seed(1))


def stirred(made: CausalModel) -> None:
    """Give every pair values, as if it had been trained."""
    chance = torch.Generator().manual_seed(5)
    with torch.no_grad():
        for one in made.parameters.values():
            one.normal_(0.0, 0.1, generator=chance)


def _loss(made: CausalModel) -> torch.Tensor:
    logits = made.logits(IDS[:, :-1]).flatten(0, 1)
    return functional.cross_entropy(logits, IDS[:, 1:].flatten())


def merged(folder: Path, made: CausalModel, scale: float) -> CausalModel:
    """The widened base with the pairs added to its matrices, as an ordinary network."""
    _, plain = weights.load(folder)
    pairs = made.parameters
    with torch.no_grad():
        for module in head_layout.adapted_modules(made.tensors):
            down, up = (
                pairs[head_layout.LORA_PREFIX + module + head_layout.LORA_DOWN],
                pairs[head_layout.LORA_PREFIX + module + head_layout.LORA_UP],
            )
            plain.parameters[f"{module}.weight"].add_(up @ down, alpha=scale)
    return plain


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16, torch.float32])
@pytest.mark.parametrize("is_tied", [False, True])
def test_the_first_head_is_the_base_to_the_last_bit(
    tmp_path: Path,
    dtype: torch.dtype,
    is_tied: bool,  # noqa: FBT001 - a parameter of a test
) -> None:
    folder = write_base(tmp_path, dtype=dtype, parts=2, tie_word_embeddings=is_tied)
    made = first(folder, targets=EVERY).model
    _, plain = weights.load(folder)
    with torch.no_grad():
        assert torch.equal(made.logits(IDS), plain.logits(IDS))
    frozen = {one.dtype for one in made.network.parameters() if not one.requires_grad}
    assert frozen == {dtype, torch.float32}, "matrices as stored, scales of norms wide"
    kept = [one for one in made.network.parameters() if one.dim() > 1 and not one.requires_grad]
    assert len(kept) == 2 * 7 + (1 if is_tied else 2), "a tied table is one"


@pytest.mark.parametrize("targets", [("q_proj", "v_proj"), EVERY])
def test_trained_pairs_compute_what_the_merged_model_computes(
    tmp_path: Path, targets: tuple[str, ...]
) -> None:
    folder = write_base(tmp_path, attention_bias=True)
    made = first(folder, targets=targets, rank=4, alpha=12).model
    stirred(made)
    plain = merged(folder, made, 3.0)
    with torch.no_grad():
        ours, theirs = made.logits(IDS), plain.logits(IDS)
        _, unmoved = weights.load(folder)
        assert float((ours - unmoved.logits(IDS)).abs().max()) > 0.1
    torch.testing.assert_close(ours, theirs, rtol=1e-5, atol=2e-5)


def test_layers_that_are_computed_again_give_the_same_bits(tmp_path: Path) -> None:
    folder = write_base(tmp_path)
    manifest, paths = lora_run(folder, targets=EVERY)
    config = (folder / "config.json").read_bytes()
    roomy = adapters.build_from_manifest(config, manifest, paths, 1 << 40)
    tight = adapters.build_from_manifest(config, manifest, paths, 1 << 20)
    kept = []
    for made in (roomy, tight):
        stirred(made)
        seen: list[int] = []
        with torch.autograd.graph.saved_tensors_hooks(_recording_sizes(seen), lambda one: one):
            loss = _loss(made)
        kept.append(sum(seen))
        loss.backward()  # type: ignore[no-untyped-call]  # torch leaves it untyped
    assert kept[1] < 0.5 * kept[0]
    for name, one in roomy.parameters.items():
        other = tight.parameters[name].grad
        assert one.grad is not None
        assert other is not None
        assert torch.equal(one.grad, other)


def _recording_sizes(seen: list[int]) -> Callable[[torch.Tensor], torch.Tensor]:
    def record_size(kept: torch.Tensor) -> torch.Tensor:
        seen.append(kept.numel())
        return kept

    return record_size


def test_gradients_are_those_of_the_merged_model_and_of_pairs_alone(tmp_path: Path) -> None:
    folder = write_base(tmp_path)
    made = first(folder, targets=EVERY, rank=4, alpha=8).model
    stirred(made)
    plain = merged(folder, made, 2.0)
    for one in (made, plain):
        _loss(one).backward()  # type: ignore[no-untyped-call]  # torch leaves it untyped
    for module in head_layout.adapted_modules(made.tensors):
        down = made.parameters[head_layout.LORA_PREFIX + module + head_layout.LORA_DOWN]
        up = made.parameters[head_layout.LORA_PREFIX + module + head_layout.LORA_UP]
        whole = plain.parameters[f"{module}.weight"].grad
        assert whole is not None
        torch.testing.assert_close(up.grad, 2.0 * whole @ down.T, rtol=1e-4, atol=1e-7)
        torch.testing.assert_close(down.grad, 2.0 * up.T @ whole, rtol=1e-4, atol=1e-7)
    with_gradient = {id(one) for one in made.network.parameters() if one.grad is not None}
    assert with_gradient == {id(one) for one in made.parameters.values()}


@pytest.mark.parametrize("optimiser", ["adamw", "muon"])
def test_steps_lower_the_loss_and_move_nothing_that_is_frozen(
    tmp_path: Path,
    optimiser: Any,  # noqa: ANN401 - one of a literal
) -> None:
    folder = write_base(tmp_path)
    made = first(folder, targets=EVERY).model
    before = {name: one.clone() for name, one in made.network.state_dict().items()}
    inner = InnerParams(optimiser=optimiser, lr_e9=10_000_000, adam_lr_e9=10_000_000)
    steps, losses = Optimiser(made, inner), []
    for _ in range(8):
        for one in made.parameters.values():
            one.grad = None
        loss = _loss(made)
        loss.backward()  # type: ignore[no-untyped-call]  # as above
        steps.step()
        losses.append(float(loss.detach()))
    assert losses[-1] < losses[0] - 0.1
    after = made.network.state_dict()
    moved = {name for name in before if not torch.equal(before[name], after[name])}
    assert len(moved) == len(made.parameters)
    assert all(name.endswith((".down", ".up")) for name in moved)


def test_a_head_goes_into_the_pairs_and_back(tmp_path: Path) -> None:
    made = first(write_base(tmp_path))
    master = made.master + np.int32(7)
    made.model.load(master, made.layout)
    delta = np.zeros(made.layout.elements, np.float32)
    assert made.model.write_delta(made.master, made.layout, delta)
    held = made.layout.unflatten(delta)
    assert all((one == np.float32(-7 * 2.0**-24)).all() for one in held.values())
    ups = [one for name, one in made.layout.unflatten(made.master).items() if "lora_B" in name]
    downs = [one for name, one in made.layout.unflatten(made.master).items() if "lora_A" in name]
    assert not any(one.any() for one in ups)
    assert all(one.any() for one in downs)


def refusal(folder: Path, manifest: Manifest, paths: list[Path]) -> str:
    with pytest.raises(UserFacingError) as caught:
        adapters.build_from_manifest((folder / "config.json").read_bytes(), manifest, paths)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_what_a_manifest_lists_is_built(tmp_path: Path) -> None:
    folder = write_base(tmp_path, parts=3)
    manifest, paths = lora_run(folder)
    assert Manifest.parse(manifest.encode()) == manifest
    config = (folder / "config.json").read_bytes()
    assert adapters.build_from_manifest(config, manifest, paths).tensors == manifest.model.tensors


def test_a_base_that_is_not_the_manifests_is_refused(tmp_path: Path) -> None:
    folder = write_base(tmp_path)
    manifest, paths = lora_run(folder)
    base = manifest.frozen
    assert base is not None
    claimed = msgspec.structs.replace(base, parameters=base.parameters - 1)
    other = msgspec.structs.replace(manifest, base=claimed)
    assert f"{base.parameters:,} weights" in refusal(folder, other, paths)
    wider = msgspec.structs.replace(base, rank=5)
    other = msgspec.structs.replace(manifest, base=wider)
    assert "differ from the tensors of the manifest" in refusal(folder, other, paths)
    content = paths[0].read_bytes()
    paths[0].write_bytes(content + b"\0")
    assert f"{len(content) + 1} bytes instead of {len(content)}" in refusal(folder, manifest, paths)
    paths[0].unlink()
    assert "cannot read" in refusal(folder, manifest, paths)


@pytest.mark.parametrize(
    ("rules", "named"),
    [
        ({"targets": ("q_proj", "qproj")}, "'qproj'; adapters can train: down_proj"),
        ({"targets": ("lm_head",)}, "'lm_head'"),
        ({"rank": 0}, "a rank from 1 to 32"),
        ({"rank": 33}, "v_proj, which has 32 rows and 64 columns"),
    ],
)
def test_pairs_that_do_not_fit_are_refused(
    tmp_path: Path, rules: dict[str, Any], named: str
) -> None:
    config = (write_base(tmp_path) / "config.json").read_bytes()
    rank, targets = rules.get("rank", 4), rules.get("targets", ("q_proj", "v_proj"))
    with pytest.raises(UserFacingError, match=named):
        adapters.outline(config, rank, targets)


def _changed(folder: Path, change: Any) -> None:  # noqa: ANN401 - a function on tensors
    tensors = load_file(folder / "model.safetensors")
    change(tensors)
    save_file(tensors, folder / "model.safetensors")


Q = "model.layers.0.self_attn.q_proj.weight"


@pytest.mark.parametrize(
    ("change", "named"),
    [
        (lambda all_: all_.pop(Q), f"no weights {Q}"),
        (lambda all_: all_.update({Q: all_[Q][:-1].clone()}), "has the shape"),
        (lambda all_: all_.update({Q: all_[Q].to(torch.int8)}), "type I8"),
        (lambda all_: all_[Q].fill_(torch.nan), "NaN or infinite"),
    ],
)
def test_a_base_with_odd_weights_is_refused(tmp_path: Path, change: Any, named: str) -> None:  # noqa: ANN401
    folder = write_base(tmp_path)
    _changed(folder, change)
    with pytest.raises(UserFacingError, match=named):
        first(folder)


def test_tables_that_are_said_to_be_one_have_to_be_the_same(tmp_path: Path) -> None:
    folder = write_base(tmp_path, tie_word_embeddings=True)
    name = "model.embed_tokens.weight"
    _changed(folder, lambda all_: all_.update({name: all_["lm_head.weight"].clone()}))
    assert first(folder).layout.parameters
    _changed(folder, lambda all_: all_[name].add_(1))
    with pytest.raises(UserFacingError, match="two different tables of token embeddings"):
        first(folder)


def test_files_that_are_no_safetensors_or_hold_a_tensor_twice_are_refused(tmp_path: Path) -> None:
    folder = write_base(tmp_path)
    sketch = model.sketch((folder / "config.json").read_bytes())
    (tmp_path / "again.safetensors").write_bytes((tmp_path / "model.safetensors").read_bytes())
    both = [tmp_path / "again.safetensors", tmp_path / "model.safetensors"]
    with pytest.raises(UserFacingError, match="remove one of the two"):
        weights.map_tensors(sketch, both)
    (tmp_path / "model.safetensors").write_bytes(b"\x80\x04" + bytes(100))
    with pytest.raises(UserFacingError, match="pickle under another name"):
        weights.map_tensors(sketch, both[1:])
    with pytest.raises(UserFacingError, match="is missing"):
        weights.map_tensors(sketch, [tmp_path / "none.safetensors"])


def test_honest_pairs_that_are_much_alike_are_no_copies_and_copies_still_are() -> None:
    alike = partial(
        screen.ScreeningMeasures,
        norm_ratio=1.0,
        cosine=0.9,
        error=0.01,
        direction=0.9,
        company=1.0,
        others=2,
        work=1.0,
    )
    honest, copied = Likeness(overlap=0.71, agreement=0.96), Likeness(overlap=0.9, agreement=1.0)
    assert alike(like=honest).reason == "copy"
    pairs = partial(alike, overlap_most=screen.MAX_ADAPTER_OVERLAP)
    assert pairs(like=honest).reason == ""
    assert pairs(like=copied).reason == "copy"


@pytest.mark.parametrize(("rank", "entries"), [(4, 0), (16, 256)])
def test_a_matrix_with_few_positions_tells_nothing_of_copies(rank: int, entries: int) -> None:
    """All of 256 positions are sent at k 256: any two contributions have them in common."""
    layout = WeightLayout.of((("base_model.model.a.lora_A.weight", (rank, 64)),), "flat")
    shape = RecordShape(algorithm="sparseloco", k=256, bits=2)
    delta = np.zeros(layout.elements, np.float32)
    delta[: rank * 64] = np.random.default_rng(1).normal(size=rank * 64)
    encoded = codecs.encode(codecs.outer_algorithm(Algorithm(k=256), 256, 0.0), layout, delta, None)
    rows = shape.rows(np.frombuffer(encoded.payload, np.uint8))
    assert sketch(rows, shape, layout, np.arange(1)).entries == entries
