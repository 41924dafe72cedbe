"""Frozen networks of several kinds, in 16 and in 4 bits: trained, merged, compared with peft."""

from __future__ import annotations

import json
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

import msgspec
import numpy as np
import pytest
import torch
from click.testing import CliRunner
from msgspec import UNSET, UnsetType
from safetensors.torch import load_file, save_file
from torch import nn
from torch.nn import functional

from tequio_client.__main__ import cli
from tequio_client.checkpoint import layout as checkpoint_layout
from tequio_client.checkpoint import tensors
from tequio_client.checkpoint.tensors import MergedModel
from tequio_client.ipc import trainer
from tequio_client.trainer import adapters, device, frozen, weights
from tequio_client.trainer.frozen import AdaptedLinear, Nf4Matrix
from tequio_shared.errors import UserFacingError
from tequio_shared.head import layout, nf4
from tequio_shared.round.manifest import InnerParams
from tests.client.trainer.conftest import Child
from tests.client.trainer.small_run import Adapters, small_run
from tests.support import architectures
from tests.support.frozen_base import described, first, lora_run

if TYPE_CHECKING:
    from pathlib import Path

    from tequio_client.trainer.model import CausalModel
    from tests.client.trainer.small_run import SmallRun

Bits = Literal[4] | UnsetType
IDS = torch.randint(0, 256, (2, 33), generator=torch.Generator().manual_seed(1))
KINDS = ("llama", "qwen3", "gemma3_text", "gpt_neox", "falcon", "phi3")
LLAMA = architectures.DECODERS["qwen2"] | {"model_type": "llama"}


def written(folder: Path, kind: str, **changes: object) -> Path:
    """A model of this kind in bfloat16."""
    fields = LLAMA if kind == "llama" else architectures.fields_of(kind)
    architectures.write(folder, fields | changes)
    path = folder / "model.safetensors"
    narrow = {name: one.to(torch.bfloat16) for name, one in load_file(path).items()}
    save_file(narrow, path, metadata={"format": "pt"})
    return folder


def stirred(made: CausalModel) -> CausalModel:
    chance = torch.Generator().manual_seed(5)
    with torch.no_grad():
        for one in made.parameters.values():
            one.normal_(0.0, 0.1, generator=chance)
    return made


def in_4_bits(matrix: torch.Tensor) -> torch.Tensor:
    found = nf4.dequantise(*nf4.quantise(matrix.float().numpy()), matrix.shape[1])
    return torch.from_numpy(np.ascontiguousarray(found))


def merged(folder: Path, made: CausalModel, bits: Bits) -> CausalModel:
    """The widened model with the pairs added to its matrices, as an ordinary network."""
    _, plain = weights.load(folder)
    parameters = dict(plain.network.named_parameters(remove_duplicate=False))
    with torch.no_grad():
        for name, one in made.network.named_modules():
            if isinstance(one, AdaptedLinear):
                matrix = parameters[f"{name}.weight"]
                if bits == 4:
                    matrix.copy_(in_4_bits(matrix))
                matrix.add_(one.up @ one.down, alpha=one.scale)
    return plain


@pytest.mark.parametrize("bits", [UNSET, 4], ids=["16 bits", "4 bits"])
@pytest.mark.parametrize("kind", KINDS)
def test_pairs_compute_what_the_merged_model_computes(
    tmp_path: Path, kind: str, bits: Bits
) -> None:
    folder = written(tmp_path, kind)
    made = stirred(first(folder, targets=(), bits=bits).model)
    plain = merged(folder, made, bits)
    with torch.no_grad():
        ours, theirs = made.logits(IDS), plain.logits(IDS)
        _, unmoved = weights.load(folder)
        assert float((ours - unmoved.logits(IDS)).abs().max()) > 0.1
    torch.testing.assert_close(ours, theirs, rtol=1e-5, atol=1e-4)


def recorded(seen: list[int], kept: torch.Tensor) -> torch.Tensor:
    seen.append(kept.numel())
    return kept


@pytest.mark.parametrize("kind", KINDS)
def test_every_pair_gets_a_gradient_also_where_layers_are_computed_again(
    tmp_path: Path, kind: str
) -> None:
    folder = written(tmp_path, kind)
    manifest, paths = lora_run(folder, targets=(), bits=4)
    config, found, kept = (folder / "config.json").read_bytes(), [], []
    for memory_bytes in (1 << 40, 1 << 20):
        made = stirred(adapters.build_from_manifest(config, manifest, paths, memory_bytes))
        made.network.train()
        seen: list[int] = []
        with torch.autograd.graph.saved_tensors_hooks(partial(recorded, seen), lambda one: one):
            logits = made.logits(IDS[:, :-1]).flatten(0, 1)
        kept.append(sum(seen))
        loss = functional.cross_entropy(logits, IDS[:, 1:].flatten())
        loss.backward()  # type: ignore[no-untyped-call]  # torch leaves it untyped
        found.append({name: one.grad for name, one in made.parameters.items()})
    assert kept[1] < 0.5 * kept[0]
    for name, gradient in found[0].items():
        assert gradient is not None
        assert gradient.any(), name
        assert found[1][name] is not None
        torch.testing.assert_close(found[1][name], gradient)


def test_a_base_in_4_bits_takes_the_memory_that_is_estimated(tmp_path: Path) -> None:
    folder = written(tmp_path, "qwen3", hidden_size=256, intermediate_size=512)
    made = first(folder, targets=(), bits=4).model
    base, _ = described(folder, targets=(), bits=4)
    pairs = sum(one.nbytes for one in made.parameters.values())
    held = [one for name, one in made.network.named_buffers() if name.endswith(("codes", "scales"))]
    still = sum(one.nbytes for one in (*made.network.parameters(), *held)) - pairs
    due = layout.held_bytes(base, made.tensors)
    assert abs(still - due) < 0.02 * due
    assert due < 0.4 * base.size_bytes, "embeddings are a fourth of this model"


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("shape", [(3, 65), (700, 64), (5, 4_096)])
def test_every_number_of_threads_gives_the_bytes_of_the_shared_rules(
    monkeypatch: pytest.MonkeyPatch, threads: int, shape: tuple[int, int]
) -> None:
    monkeypatch.setattr(frozen, "_AT_ONCE", 8_192)  # a few rows at a time
    weight = torch.randn(shape, generator=torch.Generator().manual_seed(1)).to(torch.bfloat16)
    before = device.thread_count()
    device.limit_threads(threads)
    try:
        made = Nf4Matrix.of(weight)
    finally:
        device.limit_threads(before)
    codes, scales = nf4.quantise(weight.float().numpy())
    assert (made.codes.numpy() == codes).all()
    assert (made.scales.numpy() == scales).all()
    assert torch.equal(made.widen(torch.float32), in_4_bits(weight))
    assert torch.equal(made.widen(torch.bfloat16), in_4_bits(weight).to(torch.bfloat16))


@pytest.mark.parametrize(
    ("kind", "rules", "named"),
    [
        ("qwen3", {"targets": ("query",)}, "no matrices 'query'; adapters can train: down_proj"),
        ("qwen3", {"targets": ("lm_head",)}, "'lm_head'"),
        (
            "gpt_neox",
            {"targets": ("q_proj",)},
            "'q_proj'; adapters can train: dense, dense_4h_to_h",
        ),
        ("gpt2", {"targets": ("c_attn",)}, "Conv1D, as GPT-2 does; choose a base of another"),
        ("mamba", {"targets": ("in_proj",)}, "cannot read token ids"),
    ],
)
def test_networks_without_these_matrices_are_refused(
    tmp_path: Path, kind: str, rules: dict[str, Any], named: str
) -> None:
    folder = written(tmp_path, kind)
    with pytest.raises(UserFacingError, match=named):
        first(folder, **rules)


def test_a_pair_that_a_network_passes_by_is_refused() -> None:
    pair = torch.zeros(2, 4), torch.zeros(4, 2)
    used, unused = (
        AdaptedLinear(frozen.StoredMatrix(frozen.freeze(torch.eye(4))), None, pair, 1.0)
        for _ in range(2)
    )
    network = nn.ModuleDict({"k_proj": used, "v_proj": unused})
    named = r"leave v_proj out of lora\.targets"
    with pytest.raises(UserFacingError, match=named), frozen.check_used(network):
        used(torch.ones(4))


@pytest.fixture(scope="module", params=["llama", "qwen3"])
def trained(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> SmallRun:
    """A run of adapters beside a base in 4 bits, with head 1 that a trainer process made."""
    home = tmp_path_factory.mktemp("run")
    folder = written(home / "base", request.param)
    rules = InnerParams(steps=8, lr_e9=20_000_000, adam_lr_e9=20_000_000)
    run = small_run(home, inner=rules, adapters=Adapters(folder=folder, bits=4))
    child = Child()
    child.send(run.prepare(1))
    assert child.until(trainer.TrainerReady).parameters == run.origin.layout.parameters
    task = run.train(2, "first", windows=((0, 16),))
    child.send(task)
    report = child.until(trainer.Trained)
    assert report.loss_last < report.loss_first - 0.1
    child.send(
        trainer.Advance(
            command=3,
            round=1,
            run=run.run,
            parent=run.head,
            k=256,
            weights=run.weights,
            weights_out=str(home / "head-1.weights"),
            contributions=(trainer.Contribution(header=report.header, payload=task.payload_out),),
        )
    )
    child.until(trainer.AdvanceReport)
    losses = []
    for number, head in enumerate((run.weights, str(home / "head-1.weights"))):
        child.send(run.evaluate(4 + number, round=number, weights=head))
        losses.append(child.until(trainer.Evaluated))
    assert losses[1].millibits < losses[0].millibits - 50
    assert child.end() == 0
    return run


def head(run: SmallRun) -> np.ndarray[tuple[int], np.dtype[np.int32]]:
    return np.fromfile(run.folder / "head-1.weights", "<i4")


def exports(run: SmallRun, folder: Path) -> tuple[Path, Path]:
    """The head's folder for peft, and the merged model."""
    pairs, whole = folder / "pairs", folder / "whole"
    for one in (pairs, whole):
        (one / checkpoint_layout.TEQUIO_FOLDER).mkdir(parents=True)
    base = run.manifest.frozen
    assert base is not None
    tensors.write_weights(
        run.manifest,
        run.folder / "head-1.weights",
        pairs,
        lambda _: None,
        only=checkpoint_layout.ADAPTER,
    )
    (pairs / checkpoint_layout.ADAPTER_CONFIG).write_bytes(checkpoint_layout.adapter_config(base))
    MergedModel.of(run.manifest, head(run), run.base).write(whole, lambda _: None)
    (whole / "config.json").write_bytes(checkpoint_layout.model_config(run.origin.config))
    return pairs, whole


@pytest.mark.filterwarnings("ignore:.is_gradient_checkpointing. is deprecated:FutureWarning")
def test_a_trained_head_is_what_peft_computes_beside_the_widened_base(
    trained: SmallRun, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from peft import PeftModel  # noqa: PLC0415 - seconds, for this test
    from transformers import AutoModelForCausalLM  # noqa: PLC0415 - as above

    pairs, whole = exports(trained, tmp_path)
    config = trained.origin.config
    made = adapters.build_from_manifest(config, trained.manifest, trained.base)
    made.load(head(trained), trained.manifest.layout)
    library: Any = AutoModelForCausalLM
    wide = library.from_pretrained(trained.base[0].parent, dtype=torch.float32)
    with torch.no_grad():
        for name in layout.adapted_modules(trained.manifest.model.tensors):
            matrix = wide.get_submodule(name).weight
            matrix.copy_(in_4_bits(matrix))
        peft: Any = PeftModel.from_pretrained(wide, str(pairs))
        theirs = peft(input_ids=IDS, use_cache=False).logits
        plain = library.from_pretrained(whole)
        one_model = plain(input_ids=IDS, use_cache=False).logits
        ours = made.logits(IDS)
        with peft.disable_adapter():
            alone = peft(input_ids=IDS, use_cache=False).logits
    apart = [float((ours - other).abs().max()) for other in (theirs, one_model)]
    with capsys.disabled():
        print(f" max difference of logits, peft, merged: {apart[0]:.3g}, {apart[1]:.3g} ", end="")  # noqa: T201
    assert float((ours - alone).abs().max()) > 0.1, "the pairs were trained"
    assert max(apart) <= 5e-5


def test_a_merged_head_gets_a_better_score_than_its_base(trained: SmallRun, tmp_path: Path) -> None:
    _, whole = exports(trained, tmp_path)
    words = ("score", str(whole), str(trained.base[0].parent), "--tokenizer", "bytes")
    data = ("--on", str(trained.folder / "texts"), "--documents", "4", "--device", "cpu")
    result = CliRunner().invoke(cli, (*words, *data, "--json", str(tmp_path / "scores.json")))
    assert result.exit_code == 0, result.output
    ours, base = json.loads((tmp_path / "scores.json").read_bytes())["models"]
    assert ours["bits_per_byte"] < base["bits_per_byte"] - 0.1


def test_another_base_is_another_run(trained: SmallRun) -> None:
    base = trained.manifest.frozen
    assert base is not None
    wide = msgspec.structs.replace(trained.manifest, base=msgspec.structs.replace(base, bits=UNSET))
    assert wide.run_id != trained.manifest.run_id
    assert b'"bits"' not in wide.encode().partition(b'"base":')[2].partition(b'"data"')[0]
